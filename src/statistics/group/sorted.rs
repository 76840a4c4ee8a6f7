//! Sorting rows by category, and the statistics of the rows of each.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{GroupStatistics, MissingCategories};
use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::base::radix;
use crate::base::range::cut;
use crate::base::room::{filled, first_of, with_room};
use crate::statistics::block::{self, BlockWorkspace};
use crate::statistics::blocks::Work;
use crate::statistics::column::ColumnStatistics;
use crate::table::Region;

/// Number of rows that are sorted together; the minimum if there are many columns.
const GROUP_ROWS: usize = 16 * block::BLOCK_ROWS;
const MIN_ROWS: usize = 256;
/// Approximate number of values that are sorted together, chosen to fit into a cache.
const GROUP_VALUES: usize = 128 << 10;
/// Number of results of groups of rows that wait to be merged.
const HELD: usize = 64;

/// Bits for the number of a row among those that are sorted together.
const ROW_BITS: u32 = GROUP_ROWS.ilog2() + 1;

/// Results for some rows: the number of rows and the statistics of each category that occurs.
pub(super) type Found = BTreeMap<usize, (u64, Vec<ColumnStatistics>)>;

/// Copies a row, which most often has few values, without a call of `memcpy`.
#[inline]
fn copy_row(from: &[f64], to: &mut [f64]) {
    let ((from, last), (to, rest)) = (from.as_chunks::<4>(), to.as_chunks_mut());
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    rest.iter_mut().zip(last).for_each(|(to, from)| *to = *from);
}

fn row_of(item: u64) -> usize {
    (item & ((1 << ROW_BITS) - 1)) as usize
}

impl GroupStatistics {
    /// Adds results. The caller has checked that counts do not overflow.
    pub(super) fn add(&mut self, found: Found) {
        let count = self.column_count;
        for (category, (rows, columns)) in found {
            if category == self.skipped_place() {
                self.skipped += rows;
                continue;
            }
            if category == self.missing_place() {
                self.missing_rows += rows;
                continue;
            }
            self.rows[category] += rows;
            let mine = &mut self.columns[category * count..(category + 1) * count];
            mine.iter_mut().zip(&columns).for_each(|(mine, theirs)| mine.merge(theirs));
        }
    }

    /// Computes the statistics of all rows.
    ///
    /// # Errors
    /// The errors of reading the table, and of a value that is not a category.
    pub(super) fn found_in(&self, work: &Work<'_>) -> Result<Found> {
        let shape = work.shape;
        let mut all = Found::new();
        let rows = (GROUP_VALUES / shape.columns).clamp(MIN_ROWS, GROUP_ROWS);
        let bytes = shape.element_count()?.saturating_mul(2 * size_of::<f64>());
        let group = |rows: Range<usize>| self.sort(rows, work);
        in_order(cut(0..shape.rows, rows), bytes, HELD, group, |found: Found| {
            for (category, (rows, columns)) in found {
                let Some((all_rows, all_columns)) = all.get_mut(&category) else {
                    all.insert(category, (rows, columns));
                    continue;
                };
                *all_rows += rows;
                all_columns.iter_mut().zip(&columns).for_each(|(mine, theirs)| mine.merge(theirs));
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Sorts rows by category and computes the statistics of each category.
    fn sort(&self, rows: Range<usize>, work: &Work<'_>) -> Result<Found> {
        let (by, columns) = (self.by, self.column_count);
        let region = Region { rows: rows.clone(), columns: 0..columns };
        let mut buffer = Vec::new();
        let values = work.source.read(&region, &mut buffer)?;
        // Each row, and its category in the bits above it; the rows of a category stay in order.
        let mut order = filled(rows.len(), 0)?;
        let missing = work.gaps().find(|(column, _)| *column == by).map(|(_, present)| present);
        for (row, (values, item)) in values.chunks_exact(columns).zip(&mut order).enumerate() {
            let is_missing = missing.is_some_and(|present| !present.is_present(rows.start + row));
            let category = self.category(values[by], is_missing, rows.start + row)?;
            *item = ((category as u64) << ROW_BITS) | row as u64;
        }
        let bits = usize::BITS - self.missing_place().leading_zeros();
        radix::sort(&mut order, &mut filled(rows.len(), 0)?, ROW_BITS, ROW_BITS + bits);
        let mut found = Found::new();
        let mut room = Vec::new();
        let mut workspace = BlockWorkspace::new(columns);
        for group in order.chunk_by(|one, next| one >> ROW_BITS == next >> ROW_BITS) {
            let category = (group[0] >> ROW_BITS) as usize; // was one
            if category >= self.skipped_place() {
                found.insert(category, (group.len() as u64, Vec::new()));
                continue;
            }
            if work.has_missing() {
                let statistics = self.with_gaps(values, group, rows.start, work)?;
                found.insert(category, (group.len() as u64, statistics));
                continue;
            }
            let mut statistics = filled(columns, ColumnStatistics::EMPTY)?;
            for some in group.chunks(block::BLOCK_ROWS) {
                let sorted = first_of(&mut room, some.len() * columns)?;
                for (row, to) in some.iter().copied().map(row_of).zip(sorted.chunks_exact_mut(columns)) {
                    copy_row(&values[row * columns..(row + 1) * columns], to);
                }
                workspace.add(sorted, &mut statistics);
            }
            found.insert(category, (group.len() as u64, statistics));
        }
        work.rows_done(rows.len());
        Ok(found)
    }

    /// Computes the statistics of some rows of a table with missing values, column by column.
    fn with_gaps(
        &self,
        values: &[f64],
        group: &[u64],
        first_row: usize,
        work: &Work<'_>,
    ) -> Result<Vec<ColumnStatistics>> {
        let mut statistics = filled(self.column_count, ColumnStatistics::EMPTY)?;
        let mut present = with_room(group.len())?;
        let mut workspace = BlockWorkspace::for_columns();
        let mut gaps = work.gaps().peekable();
        let rows = || group.iter().copied().map(row_of);
        for (column, statistics) in statistics.iter_mut().enumerate() {
            let gap = gaps.next_if(|(of, _)| *of == column).map(|(_, present)| present);
            present.clear();
            let of_column = rows().filter(|row| gap.is_none_or(|present| present.is_present(first_row + row)));
            present.extend(of_column.map(|row| values[row * self.column_count + column]));
            workspace.add_column(&present, statistics);
            statistics.missing = (group.len() - present.len()) as u64;
        }
        Ok(statistics)
    }

    /// Stands for the category of rows whose category is NaN and skipped.
    fn skipped_place(&self) -> usize {
        self.rows.len()
    }

    /// Stands for the category of rows whose category is missing.
    fn missing_place(&self) -> usize {
        self.rows.len() + 1
    }

    fn category(&self, value: f64, is_missing: bool, row: usize) -> Result<usize> {
        let categories = self.known_categories();
        match self.missing {
            MissingCategories::Group if is_missing => return Ok(categories),
            _ if is_missing => return Ok(self.missing_place()),
            MissingCategories::Skip if value.is_nan() => return Ok(self.skipped_place()),
            MissingCategories::Group if value.is_nan() => return Ok(categories),
            _ => {}
        }
        let category = value as usize; // 0 for NaN and negative numbers, the largest integer for too large ones
        match category as f64 == value && category < categories {
            true => Ok(category),
            false => Err(Error::not_a_category(row, self.by, value, categories)),
        }
    }
}
