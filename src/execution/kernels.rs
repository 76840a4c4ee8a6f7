//! Kernels that every device has, and closures for devices that run Rust code.

use std::ops::Range;
use std::sync::Mutex;

use super::control::lock;
use super::{DeviceAdapter, ExecutionMemory, HandleError, View, ViewMut};
use crate::base::element::Element;
use crate::base::error::{Error, Result as LibraryResult};
use crate::convert::kernel::Origin;
use crate::convert::{ConversionPolicy, convert_slice};
use crate::table::{DataLayout, Region, Shape, TableView};
use crate::window::AnySliceMut;

/// The kernels that tables need on a device. Results are the same on every device, bit for bit.
///
/// Tables are views of `rows * columns` values in a layout. A device that runs Rust closures has these kernels through
/// [`Launch`]; any other device implements them.
///
/// # Errors
/// [`HandleError::LengthMismatch`] if the lengths of views do not match, before anything is written;
/// [`HandleError::WrongDevice`] if a view belongs to another device; what the device reports. After any other error,
/// the output is arbitrary.
///
/// # Examples
/// ```
/// use numeric_table::{Shape, execution::{ArrayHandle, Detached, HandleError, Kernels}};
/// let device = Detached::new();
/// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]); // 2 x 3, row by row
/// let mut columns = ArrayHandle::<i16, _>::empty(&device);
/// device.transpose(table.prepare_for_input()?, Shape { rows: 2, columns: 3 }, columns.prepare_for_output(6)?)?;
/// assert_eq!(columns.read_portal()?, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), HandleError>(())
/// ```
pub trait Kernels: DeviceAdapter {
    /// Sets all values of the output to one value.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::execution::{ArrayHandle, Detached, Kernels};
    /// let device = Detached::new();
    /// let mut handle = ArrayHandle::<f32, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(2)?, 7.0)?;
    /// assert_eq!(handle.read_portal()?, [7.0, 7.0]);
    /// # Ok::<(), numeric_table::execution::HandleError>(())
    /// ```
    fn fill<T: Element>(&self, output: ViewMut<'_, T, Self>, value: T) -> Result<(), HandleError>;

    /// Converts values from any element type to any other, as [`convert_slice`] does.
    ///
    /// # Errors
    /// Those of the trait; [`Error::ValueNotRepresentable`] in [`HandleError::Library`], with the index of the first
    /// refused value as its row.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::execution::{ArrayHandle, Detached, Kernels};
    /// let device = Detached::new();
    /// let input = ArrayHandle::from_container(&device, vec![1.9_f32, -7.0, 1e9]);
    /// let mut bytes = ArrayHandle::<u8, _>::empty(&device);
    /// device.convert(input.prepare_for_input()?, bytes.prepare_for_output(3)?, Default::default())?;
    /// assert_eq!(bytes.read_portal()?, [1, 0, 255]);
    /// # Ok::<(), numeric_table::execution::HandleError>(())
    /// ```
    fn convert<S: Element, T: Element>(
        &self,
        input: View<'_, S, Self>,
        output: ViewMut<'_, T, Self>,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError>;

    /// Converts a row-major table to column-major order. (A column-major table is the row-major table of the swapped
    /// shape.)
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// See the trait.
    fn transpose<T: Element>(
        &self,
        input: View<'_, T, Self>,
        shape: Shape,
        output: ViewMut<'_, T, Self>,
    ) -> Result<(), HandleError>;

    /// Copies columns of a table into a table of those columns, in the same layout. A column may be selected more than
    /// once.
    ///
    /// # Errors
    /// Those of the trait; [`Error::ColumnOutOfRange`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, execution::{ArrayHandle, Detached, Kernels}};
    /// let device = Detached::new();
    /// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]);
    /// let mut chosen = ArrayHandle::<i16, _>::empty(&device);
    /// let (shape, output) = (Shape { rows: 2, columns: 3 }, chosen.prepare_for_output(4)?);
    /// device.gather_columns(table.prepare_for_input()?, shape, DataLayout::RowMajor, &[2, 0], output)?;
    /// assert_eq!(chosen.read_portal()?, [3, 1, 6, 4]);
    /// # Ok::<(), numeric_table::execution::HandleError>(())
    /// ```
    fn gather_columns<T: Element>(
        &self,
        input: View<'_, T, Self>,
        shape: Shape,
        layout: DataLayout,
        columns: &[usize],
        output: ViewMut<'_, T, Self>,
    ) -> Result<(), HandleError>;

    /// Copies rows of a table into a table of those rows, in the same layout.
    ///
    /// # Errors
    /// Those of the trait; [`Error::RowsOutOfRange`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, execution::{ArrayHandle, Detached, Kernels}};
    /// let device = Detached::new();
    /// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]); // 3 x 2, column by column
    /// let mut chosen = ArrayHandle::<i16, _>::empty(&device);
    /// let (shape, output) = (Shape { rows: 3, columns: 2 }, chosen.prepare_for_output(4)?);
    /// device.gather_rows(table.prepare_for_input()?, shape, DataLayout::ColumnMajor, 1..3, output)?;
    /// assert_eq!(chosen.read_portal()?, [2, 3, 5, 6]);
    /// # Ok::<(), numeric_table::execution::HandleError>(())
    /// ```
    fn gather_rows<T: Element>(
        &self,
        input: View<'_, T, Self>,
        shape: Shape,
        layout: DataLayout,
        rows: Range<usize>,
        output: ViewMut<'_, T, Self>,
    ) -> Result<(), HandleError>;
}

/// Runs Rust closures on a device's memory.
///
/// # Examples
/// See [`ArrayHandle`](super::ArrayHandle).
pub trait Launch: DeviceAdapter {
    /// Calls `kernel(first, inputs, chunk)` for chunks that together are the output, on as many threads as the device
    /// has.
    ///
    /// `inputs` are whole; `chunk` holds the values of the output from index `first`, with their old content. The
    /// length of a chunk is a multiple of `grain`: 1, or the number of columns for whole rows. The division into chunks
    /// must not change the result.
    ///
    /// # Errors
    /// [`HandleError::WrongDevice`]; what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::execution::{ArrayHandle, Launch, Rayon};
    /// let (rows, columns) = (3, 2);
    /// let table = ArrayHandle::from_container(&Rayon, vec![1_i16, 2, 3, 4, 5, 6]);
    /// let mut sums = ArrayHandle::<i32, _>::empty(&Rayon);
    /// Rayon.launch([table.prepare_for_input()?], sums.prepare_for_output(rows)?, 1, |first, [values], sums| {
    ///     for (sum, row) in sums.iter_mut().zip(values.chunks(columns).skip(first)) {
    ///         *sum = row.iter().map(|&value| i32::from(value)).sum();
    ///     }
    /// })?;
    /// assert_eq!(sums.read_portal()?, [3, 7, 11]);
    /// # Ok::<(), numeric_table::execution::HandleError>(())
    /// ```
    fn launch<S: Element, T: Element, const INPUTS: usize>(
        &self,
        inputs: [View<'_, S, Self>; INPUTS],
        output: ViewMut<'_, T, Self>,
        grain: usize,
        kernel: impl Fn(usize, [&[S]; INPUTS], &mut [T]) + Sync,
    ) -> Result<(), HandleError>;
}

impl<D: Launch> Kernels for D {
    fn fill<T: Element>(&self, output: ViewMut<'_, T, D>, value: T) -> Result<(), HandleError> {
        self.launch([], output, 1, |_, []: [&[T]; 0], chunk| chunk.fill(value))
    }

    fn convert<S: Element, T: Element>(
        &self,
        input: View<'_, S, D>,
        output: ViewMut<'_, T, D>,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError> {
        let have = <D::Memory as ExecutionMemory>::count(&input);
        check_count::<T, D>(&output, have)?;
        let refused = FirstRefused::default();
        self.launch([input], output, 1, |first, [input], chunk| {
            let result = convert_slice(&input[first..first + chunk.len()], chunk, policy);
            refused.record(first, result);
        })?;
        refused.into_result()
    }

    fn transpose<T: Element>(
        &self,
        input: View<'_, T, D>,
        shape: Shape,
        output: ViewMut<'_, T, D>,
    ) -> Result<(), HandleError> {
        let count = check_table::<T, D>(&input, shape)?;
        check_count::<T, D>(&output, count)?;
        let refused = FirstRefused::default();
        self.launch([input], output, shape.rows, |first, [input], chunk| {
            let Some(first) = first.checked_div(shape.rows) else { return };
            let columns = first..first + chunk.len() / shape.rows;
            let copy = || {
                let view = TableView::new(input, shape, DataLayout::RowMajor)?.columns(columns)?;
                view.transposed().read_over(AnySliceMut::new(chunk), ConversionPolicy::Saturate, Origin::default())
            };
            refused.record(first, copy());
        })?;
        refused.into_result()
    }

    fn gather_columns<T: Element>(
        &self,
        input: View<'_, T, D>,
        shape: Shape,
        layout: DataLayout,
        columns: &[usize],
        output: ViewMut<'_, T, D>,
    ) -> Result<(), HandleError> {
        check_columns::<T, D>(&input, shape, columns, &output)?;
        // A line of the output is a row, or a column.
        let grain = match layout {
            DataLayout::RowMajor => columns.len(),
            DataLayout::ColumnMajor => shape.rows,
        };
        self.launch([input], output, grain, |first, [input], chunk| {
            if grain == 0 {
                return;
            }
            for (i, line) in chunk.chunks_exact_mut(grain).enumerate() {
                let line_index = first / grain + i;
                match layout {
                    DataLayout::RowMajor => {
                        let row = &input[line_index * shape.columns..][..shape.columns];
                        line.iter_mut().zip(columns).for_each(|(value, &column)| *value = row[column]);
                    }
                    DataLayout::ColumnMajor => line.copy_from_slice(&input[columns[line_index] * grain..][..grain]),
                }
            }
        })
    }

    fn gather_rows<T: Element>(
        &self,
        input: View<'_, T, D>,
        shape: Shape,
        layout: DataLayout,
        rows: Range<usize>,
        output: ViewMut<'_, T, D>,
    ) -> Result<(), HandleError> {
        check_rows::<T, D>(&input, shape, &rows, &output)?;
        let grain = match layout {
            DataLayout::RowMajor => shape.columns,
            DataLayout::ColumnMajor => rows.len(),
        };
        self.launch([input], output, grain, |first, [input], chunk| match layout {
            DataLayout::RowMajor => {
                let start = rows.start * shape.columns + first;
                chunk.copy_from_slice(&input[start..start + chunk.len()]);
            }
            DataLayout::ColumnMajor if grain > 0 => {
                for (i, line) in chunk.chunks_exact_mut(grain).enumerate() {
                    let start = (first / grain + i) * shape.rows + rows.start;
                    line.copy_from_slice(&input[start..start + grain]);
                }
            }
            DataLayout::ColumnMajor => {}
        })
    }
}

/// Returns the number of values of a table, and checks that a view has that number.
pub(super) fn check_table<T: Element, D: DeviceAdapter>(
    view: &View<'_, T, D>,
    shape: Shape,
) -> Result<usize, HandleError> {
    let (have, want) = (<D::Memory as ExecutionMemory>::count(view), shape.element_count()?);
    if have == want { Ok(want) } else { Err(HandleError::LengthMismatch { have, want }) }
}

pub(super) fn check_count<T: Element, D: DeviceAdapter>(
    view: &ViewMut<'_, T, D>,
    want: usize,
) -> Result<(), HandleError> {
    let have = <D::Memory as ExecutionMemory>::count_mut(view);
    if have == want { Ok(()) } else { Err(HandleError::LengthMismatch { have, want }) }
}

/// Checks the arguments of [`Kernels::gather_columns`].
pub(super) fn check_columns<T: Element, D: DeviceAdapter>(
    input: &View<'_, T, D>,
    shape: Shape,
    columns: &[usize],
    output: &ViewMut<'_, T, D>,
) -> Result<(), HandleError> {
    check_table::<T, D>(input, shape)?;
    if let Some(&column) = columns.iter().find(|&&column| column >= shape.columns) {
        return Err(Error::ColumnOutOfRange { column, column_count: shape.columns }.into());
    }
    check_count::<T, D>(output, Shape { columns: columns.len(), ..shape }.element_count()?)
}

/// Checks the arguments of [`Kernels::gather_rows`].
pub(super) fn check_rows<T: Element, D: DeviceAdapter>(
    input: &View<'_, T, D>,
    shape: Shape,
    rows: &Range<usize>,
    output: &ViewMut<'_, T, D>,
) -> Result<(), HandleError> {
    check_table::<T, D>(input, shape)?;
    Region { rows: rows.clone(), columns: 0..shape.columns }.check(shape)?;
    check_count::<T, D>(output, rows.len() * shape.columns)
}

/// The first refusal among several chunks, by the position in the output.
#[derive(Default)]
struct FirstRefused(Mutex<Option<(usize, Error)>>);

impl FirstRefused {
    /// Records the refusal of the chunk that begins at `first`, unless an earlier chunk has one.
    fn record(&self, first: usize, result: LibraryResult<()>) {
        let Err(mut error) = result else { return };
        if let Error::ValueNotRepresentable { row, .. } = &mut error {
            *row += first;
        }
        let mut refused = lock(&self.0);
        if refused.as_ref().is_none_or(|&(place, _)| first < place) {
            *refused = Some((first, error));
        }
    }

    fn into_result(self) -> Result<(), HandleError> {
        match self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some((_, error)) => Err(error.into()),
            None => Ok(()),
        }
    }
}
