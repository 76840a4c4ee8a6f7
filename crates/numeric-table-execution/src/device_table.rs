//! Tables on a device: converting them there, and copying ranges of rows back. `kinds` copies tables there.

mod kinds;
mod missing;

use std::fmt;
use std::ops::{Range, RangeBounds};

pub use kinds::ToDevice;
use missing::Missing;
use numeric_table::convert::ConversionPolicy;
use numeric_table::internal::resolve;
use numeric_table::table::spi::Region;
use numeric_table::{Array, DataDictionary, DataLayout, Element, Error, ErrorKind, HomogenNumericTable, Shape};

use super::memory::ExecutionMemory;
use super::{ArrayHandle, DeviceAdapter, HandleError, Kernels, View, ViewMut};

/// A numeric table in a device's memory: an array, a shape, a layout, and the dictionary.
///
/// Values are converted on the side where fewer bytes are transferred: `i16` is transferred and becomes `f32` on the
/// device, `f64` becomes `f32` before it is transferred, in both directions. Results are the same bit for bit.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_execution::{EmulatedDevice, DeviceAdapter, ToDevice};
/// let device = EmulatedDevice::new();
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
/// let there = table.to_device::<f32, _>(&device)?;
/// assert_eq!(device.stats().uploads.bytes, 12); // as `i16`
/// let rows = there.download_rows::<f64>(1..3)?;
/// assert_eq!(rows.as_slice()?, [3.0, 4.0, 5.0, 6.0]);
/// assert_eq!(device.stats().downloads.bytes, 16); // these rows, as `f32`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceTable<T: Element, D: DeviceAdapter> {
    /// Invariant: the number of values is that of the shape, and they are valid on the execution side.
    values: ArrayHandle<T, D>,
    shape: Shape,
    layout: DataLayout,
    /// Invariant: describes `shape.columns` columns of type `T`.
    dictionary: DataDictionary,
    /// Which values are missing.
    missing: Missing,
}

impl<T: Element, D: Kernels> DeviceTable<T, D> {
    /// Creates a table from values on a device, with a dictionary without names.
    ///
    /// # Errors
    /// [`HandleError::LengthMismatch`] if the number of values is not that of the shape; the handle is dropped then.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceTable, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<f32, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(6)?, 1.5)?;
    /// let table = DeviceTable::from_handle(handle, Shape { rows: 3, columns: 2 }, DataLayout::RowMajor)?;
    /// assert_eq!(table.download_rows::<f32>(0..1)?.as_slice()?, [1.5, 1.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_handle(values: ArrayHandle<T, D>, shape: Shape, layout: DataLayout) -> Result<Self, HandleError> {
        let (have, want) = (values.len(), shape.element_count_of(T::TYPE)?);
        if have != want {
            return Err(HandleError::LengthMismatch { have, want });
        }
        values.prepare_for_input()?;
        let dictionary = DataDictionary::uniform(numeric_table::Feature::new(T::TYPE), shape.columns);
        Ok(Self { values, shape, layout, dictionary, missing: Missing::default() })
    }

    /// Returns the device.
    ///
    /// # Examples
    /// As [`DeviceArray::device`](super::DeviceArray::device).
    pub fn device(&self) -> &D {
        self.values.device()
    }

    /// Returns the number of rows and columns.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{HostSerial, ToDevice};
    /// let there = HomogenNumericTable::from_rows(&[[1, 2, 3]])?.to_device::<i32, _>(&HostSerial)?;
    /// assert_eq!(there.shape(), Shape { rows: 1, columns: 3 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the order of the values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{HostSerial, ToDevice};
    /// let there = HomogenNumericTable::from_rows(&[[1, 2, 3]])?.to_device::<i32, _>(&HostSerial)?;
    /// assert_eq!(there.data_layout(), DataLayout::RowMajor);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn data_layout(&self) -> DataLayout {
        self.layout
    }

    /// Borrows the dictionary, which describes the columns.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{HostSerial, ToDevice};
    /// let there = HomogenNumericTable::from_rows(&[[1, 2, 3]])?.to_device::<f64, _>(&HostSerial)?;
    /// assert_eq!(there.dictionary().feature(2)?.element_type, ElementType::F64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    /// Borrows the values for a kernel, for reading, in the order of the layout.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`] if the device is lost.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{HostSerial, ToDevice};
    /// let there = HomogenNumericTable::from_rows(&[[1, 2, 3]])?.to_device::<i32, _>(&HostSerial)?;
    /// assert_eq!(there.view()?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn view(&self) -> Result<View<'_, T, D>, HandleError> {
        self.values.prepare_for_input()
    }

    /// Borrows the values for a kernel, for reading and writing.
    ///
    /// # Errors
    /// Those of [`view`](Self::view); [`HandleError::DeviceAlloc`], [`HandleError::HostAlloc`] if they must be copied
    /// first, because they are shared.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{EmulatedDevice, Kernels, ToDevice};
    /// let device = EmulatedDevice::new();
    /// let mut there = HomogenNumericTable::from_rows(&[[1, 2, 3]])?.to_device::<i32, _>(&device)?;
    /// device.fill(there.view_mut()?, 7)?;
    /// assert_eq!(there.to_table()?.as_slice()?, [7, 7, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T, D>, HandleError> {
        self.values.prepare_in_place()
    }

    /// Converts the table to a handle of its values, in the order of the layout.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{EmulatedDevice, ToDevice};
    /// let there = HomogenNumericTable::from_rows(&[[1, 2, 3]])?.to_device::<i32, _>(&EmulatedDevice::new())?;
    /// assert_eq!(there.into_handle().get_values(&[2])?, [3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_handle(self) -> ArrayHandle<T, D> {
        self.values
    }

    /// Copies all rows back to the program's memory. Shares the memory, if the device does.
    ///
    /// # Errors
    /// Those of [`download_rows`](Self::download_rows).
    ///
    /// # Examples
    /// See [`to_device`](HomogenNumericTable::to_device).
    pub fn to_table(&self) -> Result<HomogenNumericTable<T>, HandleError> {
        self.download_rows(0..self.shape.rows)
    }

    /// Copies some of the rows back, in this layout, as any element type, under [`ConversionPolicy::Saturate`]. No
    /// other rows are transferred.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`] in [`HandleError::Library`]; [`HandleError::HostAlloc`]; what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{EmulatedDevice, DeviceAdapter, ToDevice};
    /// let device = EmulatedDevice::new();
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f64, 2.5], [3.5, 4.5], [5.5, 6.5]])?;
    /// let there = table.to_device::<f64, _>(&device)?;
    /// assert_eq!(there.download_rows::<u8>(1..2)?.as_slice()?, [3, 4]);
    /// assert_eq!(device.stats().downloads.bytes, 2); // converted on the device
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn download_rows<U: Element>(
        &self,
        rows: impl RangeBounds<usize>,
    ) -> Result<HomogenNumericTable<U>, HandleError> {
        self.download_rows_with(rows, ConversionPolicy::Saturate)
    }

    /// Copies some of the rows back under a policy.
    ///
    /// # Errors
    /// Those of [`download_rows`](Self::download_rows); [`ErrorKind::ValueNotRepresentable`] in
    /// [`HandleError::Library`] with the first refused value in row-major order, at its position in this table.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{EmulatedDevice, ToDevice};
    /// let table = HomogenNumericTable::from_rows(&[[1.0_f64], [2.0], [300.0]])?;
    /// let there = table.to_device::<f64, _>(&EmulatedDevice::new())?;
    /// let error = there.download_rows_with::<u8>(1..3, ConversionPolicy::Checked).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the value 300 at row 2, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it \
    ///      in calls that take a policy"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn download_rows_with<U: Element>(
        &self,
        rows: impl RangeBounds<usize>,
        policy: ConversionPolicy,
    ) -> Result<HomogenNumericTable<U>, HandleError> {
        let row_count = self.shape.rows;
        let rows = resolve(rows, row_count, |rows| Error::new(ErrorKind::RowsOutOfRange { rows, row_count }))?;
        let region = Region { rows: rows.clone(), columns: 0..self.shape.columns };
        region.check(self.shape)?;
        self.missing.check::<U>(&rows)?;
        let shape = region.shape();
        if !D::Memory::IS_SHARED && size_of::<U>() < size_of::<T>() {
            return self.pull_converted(&region, policy);
        }
        let array = match self.values.valid_container() {
            Some(array) => {
                let table = HomogenNumericTable::internal(array.clone(), self.shape, self.layout);
                table.slice_rows(rows.clone())?.into_array()?
            }
            None => {
                let mut array = Array::zeros(shape.element_count()?)?;
                if !shape.is_empty() {
                    self.with_rows(&rows, |values, first| values.copy_part_into(first, array.mutable_data()?))?;
                }
                array
            }
        };
        let dictionary = self.dictionary.with_element_type(T::TYPE)?; // of a table without missing values
        let table = HomogenNumericTable::internal(array, shape, self.layout).with_dictionary(dictionary)?;
        table.convert_with(policy).map_err(|error| in_rows_from(rows.start, error))
    }

    /// Converts a region on the device, and copies the result back.
    fn pull_converted<U: Element>(
        &self,
        region: &Region,
        policy: ConversionPolicy,
    ) -> Result<HomogenNumericTable<U>, HandleError> {
        let values = self.convert_region(region, self.layout, policy)?;
        let table = HomogenNumericTable::internal(values.into_container()?, region.shape(), self.layout);
        Ok(table.with_dictionary(self.dictionary.with_element_type(U::TYPE)?)?)
    }

    fn convert_region<U: Element>(
        &self,
        region: &Region,
        layout: DataLayout,
        policy: ConversionPolicy,
    ) -> Result<ArrayHandle<U, D>, HandleError> {
        let device = self.values.device();
        let mut values = ArrayHandle::empty(device);
        let output = values.prepare_for_output(region.shape().element_count_of(U::TYPE)?)?;
        device.convert_region((self.view()?, self.shape, self.layout), region, (output, layout), policy)?;
        Ok(values)
    }

    /// Calls `work` with a handle in which the rows are contiguous from index `first`: this one, or a copy on the
    /// device.
    fn with_rows<R>(
        &self,
        rows: &Range<usize>,
        work: impl FnOnce(&ArrayHandle<T, D>, usize) -> Result<R, HandleError>,
    ) -> Result<R, HandleError> {
        let Shape { rows: all_rows, columns } = self.shape;
        let is_whole = rows.len() == all_rows || columns <= 1;
        if self.layout == DataLayout::RowMajor || is_whole {
            let step = if self.layout == DataLayout::RowMajor { columns } else { 1 };
            return work(&self.values, rows.start * step);
        }
        let device = self.values.device();
        let mut dense = ArrayHandle::empty(device);
        let output = dense.prepare_for_output(rows.len() * columns)?;
        device.gather_rows(self.view()?, self.shape, self.layout, rows.clone(), output)?;
        work(&dense, 0)
    }

    /// Converts the table on the device under a policy.
    ///
    /// # Errors
    /// [`HandleError::DeviceAlloc`]; what the device reports; [`ErrorKind::ValueNotRepresentable`] in
    /// [`HandleError::Library`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{EmulatedDevice, DeviceAdapter, ToDevice};
    /// let device = EmulatedDevice::new();
    /// let there = HomogenNumericTable::from_rows(&[[1.9_f64, -7.0]])?.to_device::<f64, _>(&device)?;
    /// let bytes = there.convert::<u8>(ConversionPolicy::Saturate)?;
    /// assert_eq!(device.stats().downloads.calls, 0);
    /// assert_eq!(bytes.to_table()?.as_slice()?, [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convert<U: Element>(&self, policy: ConversionPolicy) -> Result<DeviceTable<U, D>, HandleError> {
        self.convert_with_layout(self.layout, policy)
    }

    /// Converts the table on the device under a policy, into a layout: in one pass.
    ///
    /// # Errors
    /// Those of [`convert`](Self::convert).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{EmulatedDevice, ToDevice};
    /// let there = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.to_device::<i16, _>(&EmulatedDevice::new())?;
    /// let columns = there.convert_with_layout::<f64>(DataLayout::ColumnMajor, ConversionPolicy::Exact)?;
    /// assert_eq!(columns.to_table()?.as_slice()?, [1.0, 3.0, 2.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convert_with_layout<U: Element>(
        &self,
        layout: DataLayout,
        policy: ConversionPolicy,
    ) -> Result<DeviceTable<U, D>, HandleError> {
        let dictionary = self.missing.described::<U>(&self.dictionary, self.shape.rows)?;
        let values = self.convert_region(&Region::whole(self.shape), layout, policy)?;
        Ok(DeviceTable { values, shape: self.shape, layout, dictionary, missing: self.missing.clone() })
    }

    /// Returns the table in another layout, converted on the device; shares the values if the layout is the same.
    ///
    /// # Errors
    /// [`HandleError::DeviceAlloc`]; what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{HostSerial, ToDevice};
    /// let there = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.to_device::<i32, _>(&HostSerial)?;
    /// assert_eq!(there.to_layout(DataLayout::ColumnMajor)?.view()?, [1, 3, 2, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_layout(&self, layout: DataLayout) -> Result<Self, HandleError> {
        if layout == self.layout {
            return Ok(self.clone());
        }
        self.convert_with_layout(layout, ConversionPolicy::Saturate)
    }

    /// Returns a table of some of the columns, copied on the device; a column may be selected more than once.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`] in [`HandleError::Library`]; [`HandleError::DeviceAlloc`]; what the device
    /// reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{EmulatedDevice, ToDevice};
    /// let there = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6]])?.to_device::<i32, _>(&EmulatedDevice::new())?;
    /// assert_eq!(there.select_columns(&[2, 0])?.to_table()?.as_slice()?, [3, 1, 6, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn select_columns(&self, columns: &[usize]) -> Result<Self, HandleError> {
        let features = columns.iter().map(|&column| self.dictionary.feature(column).cloned());
        let dictionary: DataDictionary = features.collect::<Result<_, _>>()?;
        let shape = Shape { columns: columns.len(), ..self.shape };
        let device = self.values.device();
        let mut values = ArrayHandle::empty(device);
        let output = values.prepare_for_output(shape.element_count_of(T::TYPE)?)?;
        device.gather_columns(self.view()?, self.shape, self.layout, columns, output)?;
        Ok(Self { values, shape, layout: self.layout, dictionary, missing: self.missing.select(columns) })
    }
}

/// Returns whether an error is about a value that a conversion refuses.
pub(super) fn is_refused_value(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::ValueNotRepresentable { .. })
}

/// Converts the row of an error to one that is counted from the start of the table.
pub(super) fn in_rows_from(first_row: usize, error: Error) -> HandleError {
    if is_refused_value(&error) { error.moved(first_row, 0).into() } else { error.into() }
}

/// Shares the values: O(1). The first write through either table copies them.
impl<T: Element, D: DeviceAdapter> Clone for DeviceTable<T, D> {
    fn clone(&self) -> Self {
        let Self { values, shape, layout, dictionary, missing } = self;
        let (dictionary, missing) = (dictionary.clone(), missing.clone());
        Self { values: values.clone(), shape: *shape, layout: *layout, dictionary, missing }
    }
}

impl<T: Element, D: DeviceAdapter> fmt::Debug for DeviceTable<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { values, shape, layout, .. } = self;
        f.debug_struct("DeviceTable").field("shape", shape).field("layout", layout).field("values", values).finish()
    }
}
