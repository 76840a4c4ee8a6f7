//! Tables of values that lie at any strides in an array.

use numeric_table::{DataLayout, Element, Error, ErrorKind, Shape};

use super::Cuda;
use crate::{ArrayHandle, DeviceArray, DeviceTable, HandleError};

/// Returns the layout of a table whose values lie at strides, if there are none between and behind them.
pub(super) fn layout_of(shape: Shape, [row_stride, column_stride]: [usize; 2]) -> Option<DataLayout> {
    let Shape { rows, columns } = shape;
    // The stride of an axis with one place does not matter.
    let is = |stride, expected, count| stride == expected || count <= 1;
    if shape.is_empty() || is(row_stride, columns, rows) && is(column_stride, 1, columns) {
        return Some(DataLayout::RowMajor);
    }
    let is_by_columns = is(row_stride, 1, rows) && is(column_stride, rows, columns);
    is_by_columns.then_some(DataLayout::ColumnMajor)
}

/// Returns the number of rows and columns of an array of another library, of one dimension, a column, or of two; and
/// the strides of rows and columns. Without strides, the array is in row-major order. An error is what cannot be a
/// table.
pub(super) fn geometry(shape: &[i64], strides: Option<&[i64]>) -> Result<(Shape, [usize; 2]), String> {
    let number = |number: i64, what: &str| usize::try_from(number).map_err(|_| format!("the {what} {number}"));
    let (rows, columns) = match *shape {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => return Err(format!("arrays of {} dimensions", shape.len())),
    };
    let shape = Shape { rows: number(rows, "size")?, columns: number(columns, "size")? };
    let (down, right) = match strides {
        None => return Ok((shape, [shape.columns, 1])),
        Some(&[down]) if columns == 1 => (down, 1),
        Some(&[down, right]) => (down, right),
        Some(strides) => return Err(format!("{} strides", strides.len())),
    };
    // The stride of an axis with one place does not matter.
    let stride = |stride, count| if shape.is_empty() || count == 1 { Ok(0) } else { number(stride, "stride") };
    Ok((shape, [stride(down, shape.rows)?, stride(right, shape.columns)?]))
}

/// Returns the number of values from the first one of a table to its last one.
pub(super) fn extent(shape: Shape, [row_stride, column_stride]: [usize; 2]) -> Result<usize, HandleError> {
    let Shape { rows, columns } = shape;
    if shape.is_empty() {
        return Ok(0);
    }
    let steps = (rows - 1).checked_mul(row_stride).zip((columns - 1).checked_mul(column_stride));
    let last = steps.and_then(|(down, right)| down.checked_add(right)?.checked_add(1));
    last.ok_or(HandleError::LengthOverflow)
}

impl<T: Element> DeviceTable<T, Cuda> {
    /// Creates a table of the values of an array at strides, which are counted in values: those of rows and of columns.
    ///
    /// Values in row-major or column-major order, without gaps, stay where they are, so that writes to the table go to
    /// the memory of the array. Others are copied on the device, into row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] in [`HandleError::Library`] if the array is too short;
    /// [`HandleError::LengthOverflow`], [`HandleError::DeviceAlloc`]; what the driver reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::cuda::Cuda;
    /// use numeric_table_execution::{DeviceArray, DeviceTable};
    /// let Ok(device) = Cuda::new(0) else { return Ok(()) };
    /// let array = DeviceArray::from_slice(&device, &[1, 2, 0, 3, 4, 0])?; // each row has a gap behind it
    /// let table = DeviceTable::from_strided(array, Shape { rows: 2, columns: 2 }, [3, 1])?;
    /// assert_eq!(table.to_table()?.as_slice()?, [1, 2, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_strided(array: DeviceArray<T, Cuda>, shape: Shape, strides: [usize; 2]) -> Result<Self, HandleError> {
        shape.element_count_of(T::TYPE)?;
        let (count, want) = (array.len(), extent(shape, strides)?);
        if want > count {
            return Err(Error::new(ErrorKind::OutOfRange { what: "elements", range: 0..want, count }).into());
        }
        if let Some(layout) = layout_of(shape, strides) {
            let mut handle = array.into_handle();
            handle.truncate(want);
            return Self::from_handle(handle, shape, layout);
        }
        let device = array.device();
        let mut values = ArrayHandle::empty(device);
        let output = values.prepare_for_output(shape.element_count()?)?;
        device.gather_strided(&array.view()?, shape, strides, output)?;
        Self::from_handle(values, shape, DataLayout::RowMajor)
    }
}
