//! Reads the rows of a table of any kind block by block, and creates tables with one row of results per row.

use std::ops::Range;

#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::internal::{complete_rows, filled, lent_or_read, parallel, same_count};
use numeric_table::table::spi::Region;
use numeric_table::{Element, ElementType, HomogenNumericTable, NumericTable, Result, Shape};

/// The approximate number of values of a block, which fit into the second-level cache.
const BLOCK_VALUES: usize = 32 << 10;
/// The smallest and the largest number of rows of a block, powers of two.
const MIN_ROWS: usize = 8;
const MAX_ROWS: usize = 1024;
/// The number of rows of a task.
const TASK_ROWS: usize = 16 * MAX_ROWS;

/// Returns the number of rows of a block: a power of two that depends only on the number of columns.
pub(crate) fn block_rows(columns: usize) -> usize {
    let rows = BLOCK_VALUES / columns.max(1);
    (rows + 1).next_power_of_two().div_euclid(2).clamp(MIN_ROWS, MAX_ROWS)
}

/// Divides a range of rows into blocks.
pub(crate) fn blocks(rows: Range<usize>, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let (end, step) = (rows.end, block_rows(columns));
    rows.step_by(step).map(move |start| start..end.min(start.saturating_add(step)))
}

/// Returns whether `f32` holds every value of the table. Such tables are read as `f32`, which is faster and gives the
/// same results.
pub(crate) fn fits_f32(table: &dyn NumericTable) -> bool {
    use ElementType::{Bf16, F16, F32, I8, I16, U8, U16};
    matches!(table.uniform_type(), Some(F32 | F16 | Bf16 | I8 | U8 | I16 | U16))
}

/// Checks the number of columns, and returns the shape of the table. It is asked once, because a user's kind of table
/// may return a different shape each time.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`].
pub(crate) fn shape_with(table: &dyn NumericTable, columns: usize) -> Result<Shape> {
    let shape = table.shape();
    same_count(columns, shape.columns)?;
    Ok(shape)
}

/// Reads blocks of a table: borrows the table's own memory where possible, and otherwise converts into one buffer.
pub(crate) struct Reader<'t, T> {
    table: &'t dyn NumericTable,
    columns: usize,
    buffer: Vec<T>,
}

impl<'t, T: Element> Reader<'t, T> {
    pub(crate) fn new(table: &'t dyn NumericTable, columns: usize) -> Self {
        Self { table, columns, buffer: Vec::new() }
    }

    /// Returns contiguous rows. 64-bit integers beyond 2^53 are rounded.
    ///
    /// # Errors
    /// Those of reading the table.
    pub(crate) fn read(&mut self, rows: Range<usize>) -> Result<&[T]> {
        let region = Region { rows, columns: 0..self.columns };
        let buffer = &mut self.buffer;
        lent_or_read(self.table, &region, || {
            let count = region.shape().element_count()?;
            if buffer.len() < count {
                *buffer = filled(count, T::default())?;
            }
            Ok(&mut buffer[..count])
        })
    }
}

/// Which rows of a table have no missing value: a copy of its bitmaps.
pub(crate) struct CompleteRows {
    /// The states of 64 rows each, the first in the lowest bit. Empty if no value is missing.
    words: Vec<u64>,
}

impl CompleteRows {
    /// Finds the rows of a table of the given shape.
    ///
    /// # Errors
    /// Those of [`NumericTable::validity`]; [`ErrorKind::LengthMismatch`] if a user's kind of table returns a bitmap of
    /// another length; [`ErrorKind::OutOfMemory`].
    pub(crate) fn of(table: &dyn NumericTable, shape: Shape) -> Result<Self> {
        Ok(Self { words: complete_rows(table, shape)?.unwrap_or_default() })
    }

    pub(crate) fn contains(&self, row: usize) -> bool {
        self.words.get(row / 64).is_none_or(|word| word >> (row % 64) & 1 == 1)
    }

    /// Returns the number of other rows in a range.
    pub(crate) fn missing_in(&self, rows: Range<usize>) -> u64 {
        if self.words.is_empty() {
            return 0;
        }
        rows.map(|row| u64::from(!self.contains(row))).sum()
    }

    /// Returns the complete rows among contiguous ones that begin with row `first`. Copies them to a buffer if others
    /// are left out.
    pub(crate) fn only<'v>(
        &self,
        first: usize,
        values: &'v [f64],
        columns: usize,
        buffer: &'v mut Vec<f64>,
    ) -> &'v [f64] {
        if self.words.is_empty() {
            return values;
        }
        buffer.clear();
        let rows = values.chunks_exact(columns).zip(first..).filter(|(_, row)| self.contains(*row));
        rows.for_each(|(values, _)| buffer.extend_from_slice(values));
        buffer
    }
}

/// Creates a table with one row of `width` values per row of a table. `fill` is called with ranges of rows and their
/// part of the result, on several threads if the table is large.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`], [`ErrorKind::SizeOverflow`]; the first error of `fill`, in the order of the rows.
pub(crate) fn for_each_row<R: Element>(
    shape: Shape,
    width: usize,
    fill: impl Fn(Range<usize>, &mut [R]) -> Result<()> + Sync,
) -> Result<HomogenNumericTable<R>> {
    let result = Shape { rows: shape.rows, columns: width };
    let mut all = filled(result.element_count()?, R::default())?;
    if !all.is_empty() {
        let bytes = shape.element_count()?.saturating_mul(size_of::<f64>());
        let step = match parallel::task_count(bytes) {
            1 => shape.rows,
            tasks => shape.rows.div_ceil(tasks).clamp(MAX_ROWS, TASK_ROWS).next_multiple_of(MAX_ROWS),
        };
        let tasks = all.chunks_mut(step.saturating_mul(width)).enumerate().map(|(task, part)| (task * step, part));
        let done = parallel::map(tasks.collect(), |(start, part): (usize, &mut [R])| {
            let end = start + part.len() / width;
            fill(start..end, part)
        });
        done.into_iter().collect::<Result<()>>()?;
    }
    HomogenNumericTable::from_array(all, result)
}

/// Creates a table with one row of `width` values per row of a table of `columns` columns. `fill` is called with the
/// index of a row, its values, a scratch buffer of `room` numbers, and its row of the result, on several threads if the
/// table is large.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`](numeric_table::ErrorKind::LengthMismatch); those of reading the table; those of
/// [`for_each_row`].
pub(crate) fn map_rows<R: Element>(
    table: &dyn NumericTable,
    columns: usize,
    width: usize,
    room: usize,
    fill: impl Fn(usize, &[f64], &mut [f64], &mut [R]) -> Result<()> + Sync,
) -> Result<HomogenNumericTable<R>> {
    for_each_row(shape_with(table, columns)?, width, |rows, results: &mut [R]| {
        let mut reader = Reader::<f64>::new(table, columns);
        let mut numbers = filled(room, 0.0)?;
        let mut results = results.chunks_exact_mut(width);
        for rows in blocks(rows, columns) {
            let (start, values) = (rows.start, reader.read(rows.clone())?);
            for (row, result) in rows.zip(&mut results) {
                let at = (row - start) * columns;
                fill(row, &values[at..at + columns], &mut numbers, result)?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_powers_of_two_of_rows_and_cover_a_range() {
        for (columns, rows) in [(0, 1024), (1, 1024), (16, 1024), (32, 1024), (33, 512), (5000, 8), (usize::MAX, 8)] {
            assert_eq!(block_rows(columns), rows, "{columns}");
            let all: Vec<_> = blocks(5..2500, columns).collect();
            assert_eq!((all[0].start, all[all.len() - 1].end), (5, 2500));
            assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].len() == rows));
        }
        assert_eq!(blocks(3..3, 2).count(), 0);
    }
}
