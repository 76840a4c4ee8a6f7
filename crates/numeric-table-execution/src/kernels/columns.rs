//! Converting a table into some columns of a larger one: the kernel of devices that run closures.

use numeric_table::convert::{ConversionPolicy, convert_slice};
use numeric_table::table::TableView;
use numeric_table::{DataLayout, Element, Error, ErrorKind, Shape};

use super::{check_count, check_table};
use crate::device_table::is_refused_value;
use crate::{DeviceAdapter, HandleError, Launch, View, ViewMut};

/// Checks the arguments of [`Kernels::convert_into_columns`](super::Kernels::convert_into_columns).
pub(crate) fn check_into_columns<S: Element, T: Element, D: DeviceAdapter>(
    input: &View<'_, S, D>,
    shape: Shape,
    output: &ViewMut<'_, T, D>,
    all: Shape,
    first_column: usize,
) -> Result<(), HandleError> {
    check_table::<S, D>(input, shape)?;
    check_count::<T, D>(output, all.element_count()?)?;
    if shape.rows != all.rows {
        return Err(HandleError::LengthMismatch { have: shape.rows, want: all.rows });
    }
    let (range, count) = (first_column..first_column.saturating_add(shape.columns), all.columns);
    if range.end > count {
        return Err(Error::new(ErrorKind::OutOfRange { what: "columns", range, count }).into());
    }
    Ok(())
}

/// The kernel [`Kernels::convert_into_columns`](super::Kernels::convert_into_columns) of a device that runs closures.
pub(super) fn convert_into_columns<S: Element, T: Element, D: Launch>(
    device: &D,
    (input, shape, layout): (View<'_, S, D>, Shape, DataLayout),
    (output, all, order): (ViewMut<'_, T, D>, Shape, DataLayout),
    first_column: usize,
    policy: ConversionPolicy,
) -> Result<(), HandleError> {
    check_into_columns::<S, T, D>(&input, shape, &output, all, first_column)?;
    if shape.is_empty() {
        return Ok(());
    }
    // A line of the output is a row, or a column.
    let lines = if order == DataLayout::RowMajor { all.rows } else { all.columns };
    let columns = first_column..first_column + shape.columns;
    let converted = device.launch([input.clone()], output, lines, |lines, [values], target| {
        let view = TableView::new(values, shape, layout)?;
        match order {
            DataLayout::RowMajor => {
                for (row, line) in lines.zip(target.chunks_exact_mut(all.columns)) {
                    let from = view.slice_rows(row..row + 1)?;
                    from.convert_into(&mut line[columns.clone()], policy)
                        .map_err(|error| error.moved(row, first_column))?;
                }
            }
            DataLayout::ColumnMajor if layout == DataLayout::ColumnMajor => {
                // Columns lie one after another in both tables.
                let (first, end) = (columns.start.max(lines.start), columns.end.min(lines.end));
                if first < end {
                    let within = |start| (first - start) * all.rows..(end - start) * all.rows;
                    convert_slice(&values[within(columns.start)], &mut target[within(lines.start)], policy)?;
                }
            }
            DataLayout::ColumnMajor => {
                for (column, line) in lines.zip(target.chunks_exact_mut(all.rows)) {
                    if columns.contains(&column) {
                        let at = column - first_column;
                        view.slice_columns(at..at + 1)?.convert_into(line, policy)?;
                    }
                }
            }
        }
        Ok::<_, Error>(())
    });
    match converted {
        Err(HandleError::Library(error)) if order == DataLayout::ColumnMajor && is_refused_value(&error) => {
            // The first column with such a value need not have the first one in row-major order.
            device.launch([input], (), shape.rows, |rows, [values], ()| {
                let view = TableView::new(values, shape, layout)?.slice_rows(rows.clone())?;
                view.check_conversion::<T>(policy).map_err(|error| error.moved(rows.start, first_column))
            })?;
            Err(error.into())
        }
        converted => converted,
    }
}
