//! Columns of tables of any kind.

use std::fmt;

use numeric_table::array::AnySliceMut;
use numeric_table::convert::ConversionPolicy;
use numeric_table::internal::match_element;
use numeric_table::prelude::{BlockAccess, TableDescription};
use numeric_table::table::spi::{Region, Target};
use numeric_table::{BlockDescriptor, Element, Error, ErrorKind, NumericTable, ReadWriteMode, Shape};

use super::{Sequence, SequenceMut, pack, packed_bytes, range_of};
use crate::device_table::is_refused_value;
use crate::memory::ExecutionMemory;
use crate::{DeviceArray, HandleError, Kernels};

fn check_column(table: &dyn NumericTable, column: usize) -> Result<(), HandleError> {
    let column_count = table.shape().columns;
    match column < column_count {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count }).into()),
    }
}

/// A column of a table of any kind, as values of any element type. Only its own bytes cross, in the narrower of both
/// types.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice};
/// use numeric_table_execution::sequence::TableColumn;
/// let device = EmulatedDevice::new();
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?;
/// let column = ArrayHandle::from_sequence(&device, TableColumn::<f32>::new(&table, 1)?);
/// column.prepare_for_input()?;
/// assert_eq!((device.stats().uploads.bytes, column.read_portal()?), (4, &[2.0, 5.0][..])); // as `i16`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct TableColumn<'t, T> {
    table: &'t dyn NumericTable,
    column: usize,
    policy: ConversionPolicy,
    value: std::marker::PhantomData<fn() -> T>,
}

impl<'t, T: Element> TableColumn<'t, T> {
    /// Creates the sequence of the values of a column, under [`ConversionPolicy::Saturate`].
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// See the type.
    pub fn new(table: &'t dyn NumericTable, column: usize) -> Result<Self, HandleError> {
        Self::with_policy(table, column, ConversionPolicy::Saturate)
    }

    /// Creates the sequence of the values of a column, converted under a policy.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, HostSerial};
    /// use numeric_table_execution::sequence::TableColumn;
    /// let table = HomogenNumericTable::from_rows(&[[1.0_f64, 2.0], [3.0, 300.0]])?;
    /// let column = TableColumn::<u8>::with_policy(&table, 1, ConversionPolicy::Checked)?;
    /// let error = ArrayHandle::from_sequence(&HostSerial, column).prepare_for_input().unwrap_err();
    /// assert!(error.to_string().starts_with("the value 300 at row 1, column 1 is not representable as u8"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_policy(
        table: &'t dyn NumericTable,
        column: usize,
        policy: ConversionPolicy,
    ) -> Result<Self, HandleError> {
        check_column(table, column)?;
        Ok(Self { table, column, policy, value: std::marker::PhantomData })
    }

    /// Copies the values to a device as they are stored, and converts them there.
    fn prepare_stored<S: Element, D: Kernels>(
        &self,
        device: &D,
        count: usize,
    ) -> Result<DeviceArray<T, D>, HandleError> {
        let stored = TableColumn::<S>::new(self.table, self.column)?.prepare(device, count)?;
        let mut values = DeviceArray::allocate(device, count)?;
        device.convert(stored.view()?, values.view_mut()?, self.policy).map_err(|error| match error {
            HandleError::Library(error) if is_refused_value(&error) => error.moved(0, self.column).into(),
            error => error,
        })?;
        Ok(values)
    }
}

impl<T: Element> Sequence for TableColumn<'_, T> {
    type Value = T;

    fn count(&self) -> usize {
        self.table.shape().rows
    }

    fn read(&self, first: usize, target: &mut [T]) -> Result<(), HandleError> {
        let rows = range_of(first, target.len(), self.count())?;
        let shape = Shape { rows: rows.len(), columns: 1 };
        let target = Target::new(AnySliceMut::new(target), shape, self.policy)?.allow_partial_write();
        Ok(self.table.read_region(&Region { rows, columns: self.column..self.column + 1 }, target)?)
    }

    fn bytes_to_copy<D: Kernels>(&self, count: usize) -> usize {
        match self.table.column_type(self.column) {
            Ok(stored) if stored.size_in_bytes() < size_of::<T>() && !<D::Memory as ExecutionMemory>::IS_SHARED => {
                count.saturating_mul(stored.size_in_bytes())
            }
            _ => packed_bytes::<T, D>(count),
        }
    }

    fn prepare<D: Kernels>(&self, device: &D, count: usize) -> Result<DeviceArray<T, D>, HandleError> {
        if self.bytes_to_copy::<D>(count) == packed_bytes::<T, D>(count) {
            return pack(self, device, count);
        }
        let stored = self.table.column_type(self.column)?;
        match_element!(stored, S => self.prepare_stored::<S, D>(device, count))
    }
}

impl<T: Element> fmt::Debug for TableColumn<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, column, policy) = (self.table.shape(), self.column, self.policy);
        f.debug_struct("TableColumn")
            .field("shape", &shape)
            .field("column", &column)
            .field("element_type", &T::TYPE)
            .field("policy", &policy)
            .finish()
    }
}

/// A column of a table of any kind as the target of results of any element type. Only its own values are written.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice, Kernels};
/// use numeric_table_execution::sequence::TableColumnMut;
/// let device = EmulatedDevice::new();
/// let mut results = ArrayHandle::<f32, _>::empty(&device);
/// device.fill(results.prepare_for_output(2)?, 7.0)?;
/// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
/// results.copy_to(&mut TableColumnMut::new(&mut table, 1)?)?;
/// assert_eq!((table.as_slice()?, device.stats().downloads.bytes), (&[1, 7, 3, 7][..], 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableColumnMut<'t, T: Element> {
    table: &'t mut dyn NumericTable,
    column: usize,
    block: BlockDescriptor<T>,
}

impl<'t, T: Element> TableColumnMut<'t, T> {
    /// Creates the target. A value that the type of the column cannot hold is refused: [`ConversionPolicy::Checked`].
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// See the type.
    pub fn new(table: &'t mut dyn NumericTable, column: usize) -> Result<Self, HandleError> {
        Self::with_policy(table, column, ConversionPolicy::Checked)
    }

    /// Creates the target, with a policy for conversions.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::sequence::{SequenceMut, TableColumnMut};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8], [2]])?;
    /// let refused = TableColumnMut::new(&mut table, 0)?.write(0, &[300.0_f32]);
    /// assert!(refused.unwrap_err().to_string().starts_with("the value 300 at row 0, column 0 is not representable as u8"));
    /// TableColumnMut::with_policy(&mut table, 0, ConversionPolicy::Saturate)?.write(1, &[300.0_f32])?;
    /// assert_eq!(table.as_slice()?, [1, 255]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_policy(
        table: &'t mut dyn NumericTable,
        column: usize,
        policy: ConversionPolicy,
    ) -> Result<Self, HandleError> {
        check_column(table, column)?;
        Ok(Self { table, column, block: BlockDescriptor::with_policy(policy) })
    }
}

impl<T: Element> SequenceMut for TableColumnMut<'_, T> {
    type Value = T;

    fn count(&self) -> usize {
        self.table.shape().rows
    }

    fn write(&mut self, first: usize, values: &[T]) -> Result<(), HandleError> {
        range_of(first, values.len(), self.table.shape().rows)?;
        if values.is_empty() {
            return Ok(());
        }
        let Self { table, column, block } = self;
        table.get_block_of_column_values(*column, first, values.len(), ReadWriteMode::WriteOnly, block)?;
        block.as_mut_slice()?.copy_from_slice(values);
        let released = table.release_block_of_column_values(block);
        if released.is_err() {
            block.discard();
        }
        Ok(released?)
    }
}

impl<T: Element> fmt::Debug for TableColumnMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, column) = (self.table.shape(), self.column);
        f.debug_struct("TableColumnMut").field("shape", &shape).field("column", &column).finish_non_exhaustive()
    }
}
