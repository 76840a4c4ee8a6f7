//! Statistics of sparse tables: of the stored values and the number of other cells, which are zeros.
//!
//! The values of some rows at a time are sorted by column, and `block` processes them like those of any column. The
//! zeros are not read; their number is merged by the formula for merging any two results, so results are equally
//! accurate. Which rows are sorted together depends only on the table, and columns are independent of each other.
//! Results therefore do not depend on the number of threads.

use std::ops::Range;

use super::block::BlockWorkspace;
use super::blocks::Work;
use super::column::ColumnStatistics;
use super::moments::empty;
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::table::NumericTable;
use crate::table::csr::CsrNumericTable;
use crate::table::csr::block::SparseBlock;
use crate::table::csr::index::{Indices, zeros};

/// The minimum number of values that are sorted together, if there are enough.
const GROUP: usize = 256 << 10;

/// Computes the statistics of every column.
pub(super) fn compute(table: &CsrNumericTable, work: &Work<'_>) -> Result<Vec<ColumnStatistics>> {
    let shape = table.shape();
    let mut all = empty(shape.columns)?;
    let mut sorted = Sorted { ends: zeros(shape.columns)?, values: Vec::new() };
    // All columns are visited once for each group, so a group has several values of each.
    let group = GROUP.max(shape.columns.saturating_mul(4));
    let mut first = 0;
    while first < shape.rows && !all.is_empty() {
        let rows = first..end_of_group(table.offsets(), first, group);
        first = rows.end;
        sorted.sort(&table.sparse_rows::<f64>(rows.clone())?)?;
        let columns = (0, &mut all[..]);
        let tasks = parallel::task_count(size_of_val(&sorted.values[..]).saturating_mul(2));
        let columns = parallel::cut(columns, shape.columns, tasks, |(start, columns), count| {
            let (head, tail) = columns.split_at_mut(count);
            ((start, head), (start + count, tail))
        });
        parallel::map(columns, |(start, columns)| sorted.add(start, columns));
        work.rows_done(rows.len());
    }
    for column in &mut all {
        let stored = column.count() + column.nan_count();
        let finite = (shape.rows as u64).saturating_sub(stored);
        if finite > 0 {
            column.merge(&ColumnStatistics { finite, minimum: 0.0, maximum: 0.0, ..ColumnStatistics::EMPTY });
        }
    }
    Ok(all)
}

/// Returns the end of the rows starting at `first`, at least one, that together have `count` values.
fn end_of_group(offsets: Indices<'_>, first: usize, count: usize) -> usize {
    let (rows, at) = (offsets.len() - 1, |row: usize| offsets.get(row).unwrap_or(usize::MAX));
    let limit = at(first).saturating_add(count);
    let (mut low, mut high) = (first + 1, rows);
    while low < high {
        let middle = low.midpoint(high);
        if at(middle) < limit { low = middle + 1 } else { high = middle }
    }
    low
}

/// The values of some rows, sorted by columns.
struct Sorted {
    /// The end of each column.
    ends: Vec<usize>,
    values: Vec<f64>,
}

impl Sorted {
    fn sort(&mut self, block: &SparseBlock<'_, f64>) -> Result<()> {
        let Self { ends: next, values } = self;
        let bytes = block.nnz().saturating_mul(size_of::<f64>());
        values.try_reserve(block.nnz().saturating_sub(values.len())).map_err(|_| Error::out_of_memory(bytes))?;
        values.resize(block.nnz(), 0.0);
        next.fill(0);
        block.indices().for_each(|column| next[column] += 1);
        let mut sum = 0;
        for next in next.iter_mut() {
            sum += std::mem::replace(next, sum);
        }
        let mut source = block.values().iter();
        block.indices().for_each(|column| {
            if let Some(&value) = source.next() {
                values[next[column]] = value;
                next[column] += 1; // at last, where the column ends
            }
        });
        Ok(())
    }

    fn column(&self, column: usize) -> Range<usize> {
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[column]
    }

    /// Adds the values of some columns, starting with column `start`, to their statistics.
    fn add(&self, start: usize, columns: &mut [ColumnStatistics]) {
        let mut workspace = BlockWorkspace::for_columns();
        for (column, statistics) in (start..).zip(columns) {
            workspace.add_column(&self.values[self.column(column)], statistics);
        }
    }
}
