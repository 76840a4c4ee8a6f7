//! The kernels of devices that run closures.

use std::ops::Range;

use numeric_table::convert::{ConversionPolicy, convert_slice};
use numeric_table::table::spi::Region;
use numeric_table::{
    DataLayout, Element, Error, Shape,
    statistics::BasicStatistics,
    table::{BorrowedTable, TableView},
    trace::TraceContext,
};

use super::standardize::{mean_and_deviation_of_words, standardize_part};
use super::{Kernels, SparseRows, check_columns, check_count, check_moments, check_region, check_rows, no_element};
use super::{check_deviations, check_standardize};
use crate::device_table::{in_rows_from, is_refused_value};
use crate::memory::ExecutionMemory;
use crate::sequence::count_up;
use crate::{HandleError, Launch, View, ViewMut};

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

    fn convert_into_columns<S: Element, T: Element>(
        &self,
        from: (View<'_, S, D>, Shape, DataLayout),
        to: (ViewMut<'_, T, D>, Shape, DataLayout),
        first_column: usize,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError> {
        super::columns::convert_into_columns(self, from, to, first_column, policy)
    }

    fn sparse_to_dense<T: Element>(
        &self,
        from: SparseRows<'_, T, D>,
        to: (ViewMut<'_, T, D>, Shape, DataLayout),
    ) -> Result<(), HandleError> {
        super::sparse::sparse_to_dense(self, from, to)
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

    fn count_up(&self, output: ViewMut<'_, i64, D>, start: i64, step: i64) -> Result<(), HandleError> {
        let count = <D::Memory as ExecutionMemory>::count_mut(&output);
        self.launch((), output, count, |items, (), values| count_up(values, items.start, start, step))
    }

    fn gather<T: Element>(
        &self,
        input: View<'_, T, D>,
        indices: View<'_, u64, D>,
        output: ViewMut<'_, T, D>,
    ) -> Result<(), HandleError> {
        let count = <D::Memory as ExecutionMemory>::count(&indices);
        check_count::<T, D>(&output, count)?;
        self.launch((input, indices), output, count, |items, (input, indices), values| {
            for (value, &index) in values.iter_mut().zip(&indices[items]) {
                let found = usize::try_from(index).ok().and_then(|index| input.get(index));
                *value = *found.ok_or_else(|| no_element(index, input.len()))?;
            }
            Ok::<_, Error>(())
        })
    }

    const RUNS_CLOSURES: bool = true;

    fn map<S: Element, T: Element>(
        &self,
        input: View<'_, S, D>,
        output: ViewMut<'_, T, D>,
        change: &(dyn Fn(&[S], &mut [T]) + Sync),
    ) -> Result<(), HandleError> {
        let count = <D::Memory as ExecutionMemory>::count(&input);
        check_count::<T, D>(&output, count)?;
        self.launch([input], output, count, |items, [input], values| change(&input[items], values))
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
            let unrecorded = TraceContext::default(); // this is the device's work, not a copy that the caller could avoid
            let found = unrecorded.run(|| BasicStatistics::compute(&BorrowedTable::from(view)))?;
            plain.iter_mut().zip(found.to_words(false)).for_each(|(word, found)| *word = found);
            scaled.iter_mut().zip(found.to_words(true)).for_each(|(word, found)| *word = found);
            Ok::<_, Error>(())
        })
    }

    fn means_and_deviations(
        &self,
        moments: [View<'_, u64, D>; 2],
        output: ViewMut<'_, f64, D>,
    ) -> Result<(), HandleError> {
        let columns = check_deviations::<D>(&moments, &output)?;
        self.launch(moments, output, columns, |columns, [plain, scaled], output| {
            let words = [plain, scaled].map(|words| words.chunks_exact(BasicStatistics::WORDS).skip(columns.start));
            let [plain, scaled] = words;
            for (output, (plain, scaled)) in output.chunks_exact_mut(2).zip(plain.zip(scaled)) {
                output.copy_from_slice(&mean_and_deviation_of_words(plain, scaled));
            }
        })
    }

    fn standardize<T: Element>(
        &self,
        values: ViewMut<'_, T, D>,
        shape: Shape,
        layout: DataLayout,
        means_and_deviations: View<'_, f64, D>,
    ) -> Result<(), HandleError> {
        let count = check_standardize::<T, D>(&values, shape, &means_and_deviations)?;
        self.launch([means_and_deviations], values, count, |places, [means_and_deviations], values| {
            standardize_part(values, places.start, shape, layout, means_and_deviations)
        })
    }
}

/// Returns a region of a view.
fn part_of<'t, T: Element>(view: TableView<'t, T>, region: &Region) -> Result<TableView<'t, T>, Error> {
    view.slice_rows(region.rows.clone())?.slice_columns(region.columns.clone())
}
