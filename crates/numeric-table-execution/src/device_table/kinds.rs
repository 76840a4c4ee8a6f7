//! Copying tables of every kind to a device.

use numeric_table::convert::ConversionPolicy;
use numeric_table::internal::HasRows;
use numeric_table::table::{BorrowedTable, BorrowedTableMut};
use numeric_table::{
    AosNumericTable, CsrNumericTable, Element, Error, ErrorKind, HomogenNumericTable, MergedNumericTable, NumericTable,
    PackedSymmetricMatrix, PackedTriangularMatrix, RowMergedNumericTable, SoaNumericTable,
};

use super::missing::Missing;
use super::{DeviceTable, is_refused_value};
use crate::memory::ExecutionMemory;
use crate::stream::send_all;
use crate::{ArrayHandle, DeviceArray, HandleError, Kernels};

/// Tables that are copied to a device: those of every kind of the library, and `dyn NumericTable`.
///
/// Rows of a sparse table cross as their stored cells, and columns of several types each in its own type, if that is
/// fewer bytes: the device makes the dense table. Selected columns of a sparse table, and sparse tables in a merged one,
/// cross as dense rows; rows of a merged table have the types of the part that has them.
///
/// On a device with memory of its own, a homogeneous table crosses from where it lies, at once; if its values are
/// narrower than those there, both exist on the device for a while. If they are wider, the program converts a copy
/// first. Tables of other kinds are packed and cross in blocks of rows, of 64 MiB as values of the device (or of one
/// row, if that is more). Beside the table there, this takes the memory of a few such blocks on each side: of two that
/// are packed, and on the device of two as they cross, as they are converted and as they become dense. A table that is
/// no larger than one block crosses at once, and the device makes it in its place.
pub trait ToDevice {
    /// Copies the table to a device, in its layout, under [`ConversionPolicy::Saturate`].
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`] in [`HandleError::Library`];
    /// [`HandleError::DeviceAlloc`],
    /// [`HandleError::HostAlloc`]; what the device reports.
    ///
    /// # Examples
    /// If memory is shared and the type is the same, nothing is copied:
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{HostParallel, ToDevice};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// let there = table.to_device::<i16, _>(&HostParallel)?;
    /// assert!(there.to_table()?.array()?.shares_memory_with(table.array()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn to_device<U: Element, D: Kernels>(&self, device: &D) -> Result<DeviceTable<U, D>, HandleError> {
        self.to_device_with(device, ConversionPolicy::Saturate)
    }

    /// Copies the table to a device under a policy.
    ///
    /// # Errors
    /// Those of [`to_device`](Self::to_device); [`ErrorKind::ValueNotRepresentable`] in [`HandleError::Library`] with
    /// the first refused value in row-major order.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{EmulatedDevice, ToDevice};
    /// let table = HomogenNumericTable::from_rows(&[[1.0_f64, 2.0], [300.0, 4.0]])?;
    /// let error = table.to_device_with::<u8, _>(&EmulatedDevice::new(), ConversionPolicy::Checked).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the value 300 at row 1, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it \
    ///      in calls that take a policy"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn to_device_with<U: Element, D: Kernels>(
        &self,
        device: &D,
        policy: ConversionPolicy,
    ) -> Result<DeviceTable<U, D>, HandleError>;
}

impl<T: Element> ToDevice for HomogenNumericTable<T> {
    fn to_device_with<U: Element, D: Kernels>(
        &self,
        device: &D,
        policy: ConversionPolicy,
    ) -> Result<DeviceTable<U, D>, HandleError> {
        let (shape, layout) = (self.shape(), self.data_layout());
        let dictionary = self.dictionary().with_element_type(U::TYPE)?;
        self.view()?;
        if shape.is_empty() {
            let values = DeviceArray::allocate(device, 0)?.into_handle();
            return Ok(DeviceTable { values, shape, layout, dictionary, missing: Missing::default() });
        }
        if !D::Memory::IS_SHARED && size_of::<T>() < size_of::<U>() {
            let narrow = DeviceArray::from_array(device, self.clone().into_array()?)?;
            let mut values = ArrayHandle::empty(device);
            let output = values.prepare_for_output(narrow.len())?;
            match device.convert(narrow.view()?, output, policy) {
                Err(HandleError::Library(error)) if is_refused_value(&error) => {} // found below
                result => {
                    let missing = Missing::default();
                    return result.map(|()| DeviceTable { values, shape, layout, dictionary, missing });
                }
            }
        }
        let array = self.convert_with::<U>(policy)?.into_array()?;
        let values = DeviceArray::from_array(device, array)?.into_handle();
        Ok(DeviceTable { values, shape, layout, dictionary, missing: Missing::default() })
    }
}

/// Copies a table of any kind to a device, unless it is homogeneous.
fn send<N: NumericTable + ?Sized, U: Element, D: Kernels>(
    table: &N,
    device: &D,
    policy: ConversionPolicy,
) -> Result<DeviceTable<U, D>, HandleError> {
    let (shape, source) = (table.shape(), table.row_source());
    let layout = source.data_layout();
    if !source.is_allocated() {
        return Err(Error::new(ErrorKind::NotAllocated).into());
    }
    let missing = Missing::of(table)?;
    let dictionary = missing.described::<U>(table.dictionary(), shape.rows)?;
    let values = match shape.is_empty() {
        true => DeviceArray::allocate(device, 0)?.into_handle(),
        false => send_all(source, device, policy)?,
    };
    Ok(DeviceTable { values, shape, layout, dictionary, missing })
}

macro_rules! kinds {
    ($([$($parameters:tt)*] $Kind:ty;)*) => {$(
        impl<$($parameters)*> ToDevice for $Kind {
            fn to_device_with<U: Element, D: Kernels>(
                &self,
                device: &D,
                policy: ConversionPolicy,
            ) -> Result<DeviceTable<U, D>, HandleError> {
                send(self, device, policy)
            }
        }
    )*};
}

kinds! {
    [] CsrNumericTable;
    [] SoaNumericTable;
    [] AosNumericTable;
    [] PackedSymmetricMatrix;
    [] PackedTriangularMatrix;
    [] MergedNumericTable<'_>;
    [] RowMergedNumericTable<'_>;
    [T: Element] BorrowedTable<'_, T>;
    [T: Element] BorrowedTableMut<'_, T>;
    [] dyn NumericTable + '_;
}
