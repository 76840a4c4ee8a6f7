//! Kernels that every device has.

use std::ops::Range;

use numeric_table::convert::{ConversionPolicy, convert_slice};
use numeric_table::table::spi::Region;
use numeric_table::{
    DataLayout, Element, Error, ErrorKind, Shape,
    statistics::BasicStatistics,
    table::{BorrowedTable, TableView},
};

use super::device_table::{in_rows_from, is_refused_value};
use super::memory::ExecutionMemory;
use super::{DeviceAdapter, HandleError, Launch, View, ViewMut};

/// The kernels that tables need on a device. Results are the same on every device, bit for bit. The exception is the
/// sums of [`moments`](Self::moments), whose last digits may differ: each device adds in another order.
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
/// use numeric_table::Shape;
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice, HandleError, Kernels};
/// let device = EmulatedDevice::new();
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
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<f32, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(2)?, 7.0)?;
    /// assert_eq!(handle.read_portal()?, [7.0, 7.0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn fill<T: Element>(&self, output: ViewMut<'_, T, Self>, value: T) -> Result<(), HandleError>;

    /// Converts values from any element type to any other, as [`convert_slice`] does.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::ValueNotRepresentable`] in [`HandleError::Library`], with the index of the
    /// first refused value as its row.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let input = ArrayHandle::from_container(&device, vec![1.9_f32, -7.0, 1e9]);
    /// let mut bytes = ArrayHandle::<u8, _>::empty(&device);
    /// device.convert(input.prepare_for_input()?, bytes.prepare_for_output(3)?, Default::default())?;
    /// assert_eq!(bytes.read_portal()?, [1, 0, 255]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn convert<S: Element, T: Element>(
        &self,
        input: View<'_, S, Self>,
        output: ViewMut<'_, T, Self>,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError>;

    /// Converts a region of a table into a table of its shape, in a layout, of any element type: rows and columns are
    /// cut, turned and converted in one pass.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::RowsOutOfRange`], [`ErrorKind::OutOfRange`], [`ErrorKind::ColumnOutOfRange`] in
    /// [`HandleError::Library`]; [`ErrorKind::ValueNotRepresentable`] in it, with the first refused value in row-major
    /// order, at its position in the table.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::spi::Region};
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]); // 2 x 3, row by row
    /// let mut part = ArrayHandle::<f32, _>::empty(&device);
    /// let from = (table.prepare_for_input()?, Shape { rows: 2, columns: 3 }, DataLayout::RowMajor);
    /// let to = (part.prepare_for_output(4)?, DataLayout::ColumnMajor);
    /// device.convert_region(from, &Region { rows: 0..2, columns: 1..3 }, to, ConversionPolicy::Saturate)?;
    /// assert_eq!(part.read_portal()?, [2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn convert_region<S: Element, T: Element>(
        &self,
        from: (View<'_, S, Self>, Shape, DataLayout),
        region: &Region,
        to: (ViewMut<'_, T, Self>, DataLayout),
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
    ) -> Result<(), HandleError> {
        let (from, to) = ((input, shape, DataLayout::RowMajor), (output, DataLayout::ColumnMajor));
        self.convert_region(from, &Region::whole(shape), to, ConversionPolicy::Saturate)
    }

    /// Copies columns of a table into a table of those columns, in the same layout. A column may be selected more than
    /// once.
    ///
    /// # Errors
    /// Those of the trait; [`ErrorKind::ColumnOutOfRange`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]);
    /// let mut chosen = ArrayHandle::<i16, _>::empty(&device);
    /// let (shape, output) = (Shape { rows: 2, columns: 3 }, chosen.prepare_for_output(4)?);
    /// device.gather_columns(table.prepare_for_input()?, shape, DataLayout::RowMajor, &[2, 0], output)?;
    /// assert_eq!(chosen.read_portal()?, [3, 1, 6, 4]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
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
    /// Those of the trait; [`ErrorKind::RowsOutOfRange`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let table = ArrayHandle::from_container(&device, vec![1_i16, 2, 3, 4, 5, 6]); // 3 x 2, column by column
    /// let mut chosen = ArrayHandle::<i16, _>::empty(&device);
    /// let (shape, output) = (Shape { rows: 3, columns: 2 }, chosen.prepare_for_output(4)?);
    /// device.gather_rows(table.prepare_for_input()?, shape, DataLayout::ColumnMajor, 1..3, output)?;
    /// assert_eq!(chosen.read_portal()?, [2, 3, 5, 6]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn gather_rows<T: Element>(
        &self,
        input: View<'_, T, Self>,
        shape: Shape,
        layout: DataLayout,
        rows: Range<usize>,
        output: ViewMut<'_, T, Self>,
    ) -> Result<(), HandleError>;

    /// Computes the moments of each column of a table: for [`DeviceStatistics`](super::DeviceStatistics), which says
    /// what they are good for. Of each column, ten words are written to each output: the number of finite values, of
    /// NaN, of infinities, and of negative infinities; then, as bits of `f64`, the minimum and maximum of the finite
    /// values, their sum, and the sum of their squared deviations from their mean, each sum in two parts. In the second
    /// output, sums are those of the values times 2^-600; they count where those of the first one overflow, and
    /// otherwise are arbitrary.
    ///
    /// # Errors
    /// Those of the trait.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let column = ArrayHandle::from_container(&device, vec![1.0_f32, f32::NAN, 5.0]);
    /// let mut plain = ArrayHandle::<u64, _>::empty(&device);
    /// let mut scaled = ArrayHandle::<u64, _>::empty(&device);
    /// let (shape, outputs) = (Shape { rows: 3, columns: 1 }, [plain.prepare_for_output(10)?, scaled.prepare_for_output(10)?]);
    /// device.moments(column.prepare_for_input()?, shape, DataLayout::RowMajor, outputs)?;
    /// let words = plain.read_portal()?;
    /// assert_eq!((words[0], words[1], f64::from_bits(words[6])), (2, 1, 6.0));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn moments<T: Element>(
        &self,
        input: View<'_, T, Self>,
        shape: Shape,
        layout: DataLayout,
        outputs: [ViewMut<'_, u64, Self>; 2],
    ) -> Result<(), HandleError>;
}

impl<D: Launch> Kernels for D {
    fn fill<T: Element>(&self, output: ViewMut<'_, T, D>, value: T) -> Result<(), HandleError> {
        let count = <D::Memory as ExecutionMemory>::count_mut(&output);
        self.launch((), output, count, |_, (), values| values.fill(value))
    }

    fn convert<S: Element, T: Element>(
        &self,
        input: View<'_, S, D>,
        output: ViewMut<'_, T, D>,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError> {
        let have = <D::Memory as ExecutionMemory>::count(&input);
        check_count::<T, D>(&output, have)?;
        self.launch([input], output, have, |items, [input], values| {
            let first = items.start;
            convert_slice(&input[items], values, policy).map_err(|error| in_rows_from(first, error))
        })
    }

    fn convert_region<S: Element, T: Element>(
        &self,
        (input, shape, layout): (View<'_, S, D>, Shape, DataLayout),
        region: &Region,
        (output, order): (ViewMut<'_, T, D>, DataLayout),
        policy: ConversionPolicy,
    ) -> Result<(), HandleError> {
        check_region::<S, T, D>(&input, shape, region, &output)?;
        let Shape { rows, columns } = region.shape();
        // A line of the output is a row, or a column.
        let lines = if order == DataLayout::RowMajor { rows } else { columns };
        let moved = |error: Error, row: usize| error.moved(region.rows.start + row, region.columns.start);
        let converted = self.launch([input.clone()], output, lines, |lines, [values], target| {
            let view = part_of(TableView::new(values, shape, layout)?, region)?;
            match order {
                DataLayout::RowMajor => view
                    .slice_rows(lines.clone())?
                    .convert_into(target, policy)
                    .map_err(|error| moved(error, lines.start)),
                DataLayout::ColumnMajor => view.slice_columns(lines)?.transposed().convert_into(target, policy),
            }
        });
        match converted {
            Err(HandleError::Library(error)) if order == DataLayout::ColumnMajor && is_refused_value(&error) => {
                // The first column with such a value need not have the first one in row-major order.
                self.launch([input], (), rows, |rows, [values], ()| {
                    let view = part_of(TableView::new(values, shape, layout)?, region)?.slice_rows(rows.clone())?;
                    view.check_conversion::<T>(policy).map_err(|error| moved(error, rows.start))
                })?;
                Err(error.into())
            }
            converted => converted,
        }
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
        let (lines, length) = match layout {
            DataLayout::RowMajor => (shape.rows, columns.len()),
            DataLayout::ColumnMajor => (columns.len(), shape.rows),
        };
        self.launch([input], output, lines, |lines, [input], values| {
            for (line, values) in lines.zip(values.chunks_exact_mut(length.max(1))) {
                match layout {
                    DataLayout::RowMajor => {
                        let row = &input[line * shape.columns..][..shape.columns];
                        values.iter_mut().zip(columns).for_each(|(value, &column)| *value = row[column]);
                    }
                    DataLayout::ColumnMajor => values.copy_from_slice(&input[columns[line] * length..][..length]),
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
        match layout {
            DataLayout::RowMajor => self.launch([input], output, rows.len(), |items, [input], values| {
                let start = (rows.start + items.start) * shape.columns;
                values.copy_from_slice(&input[start..start + values.len()]);
            }),
            DataLayout::ColumnMajor => self.launch([input], output, shape.columns, |columns, [input], values| {
                for (column, values) in columns.zip(values.chunks_exact_mut(rows.len().max(1))) {
                    let start = column * shape.rows + rows.start;
                    values.copy_from_slice(&input[start..start + rows.len()]);
                }
            }),
        }
    }

    fn moments<T: Element>(
        &self,
        input: View<'_, T, D>,
        shape: Shape,
        layout: DataLayout,
        outputs: [ViewMut<'_, u64, D>; 2],
    ) -> Result<(), HandleError> {
        check_moments::<T, D>(&input, shape, &outputs)?;
        let [plain, scaled] = outputs;
        self.launch([input], (plain, scaled), shape.columns, |columns, [values], (plain, scaled)| {
            let view = TableView::new(values, shape, layout)?.slice_columns(columns)?;
            let found = BasicStatistics::compute(&BorrowedTable::from(view))?;
            plain.iter_mut().zip(found.to_words(false)).for_each(|(word, found)| *word = found);
            scaled.iter_mut().zip(found.to_words(true)).for_each(|(word, found)| *word = found);
            Ok::<_, Error>(())
        })
    }
}

/// Returns a region of a view.
fn part_of<'t, T: Element>(view: TableView<'t, T>, region: &Region) -> Result<TableView<'t, T>, Error> {
    view.slice_rows(region.rows.clone())?.slice_columns(region.columns.clone())
}

/// Checks the arguments of [`Kernels::moments`].
pub(super) fn check_moments<T: Element, D: DeviceAdapter>(
    input: &View<'_, T, D>,
    shape: Shape,
    outputs: &[ViewMut<'_, u64, D>; 2],
) -> Result<(), HandleError> {
    check_table::<T, D>(input, shape)?;
    let words = shape.columns.checked_mul(BasicStatistics::WORDS).ok_or(HandleError::LengthOverflow)?;
    outputs.iter().try_for_each(|output| check_count::<u64, D>(output, words))
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
        return Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count: shape.columns }).into());
    }
    check_count::<T, D>(output, Shape { columns: columns.len(), ..shape }.element_count()?)
}

/// Checks the arguments of [`Kernels::convert_region`].
pub(super) fn check_region<S: Element, T: Element, D: DeviceAdapter>(
    input: &View<'_, S, D>,
    shape: Shape,
    region: &Region,
    output: &ViewMut<'_, T, D>,
) -> Result<(), HandleError> {
    check_table::<S, D>(input, shape)?;
    region.check(shape)?;
    check_count::<T, D>(output, region.shape().element_count()?)
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
