//! The positions of a table's stored values, column by column, for tables whose columns are read again and again.
//!
//! At first, a column is searched for in each row. When that has taken about as long as making an index, the index is
//! made, once: 8 bytes for each stored value and each column. Without memory for it, rows are searched as before.
//! Invariant: an index lists all stored values of its pattern. Code that changes offsets or indices drops it.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::index::{Index, match_checked_index};
use super::read::Pattern;
use crate::base::error::Result;
use crate::base::room::filled;
use crate::window::Bits;

/// The number of times that all rows are searched before an index is made: it takes about as long as that many columns.
const SEARCHES: usize = 8;

/// The index of a table, if it has one yet.
#[derive(Default)]
pub(super) struct ColumnIndex {
    /// The number of rows that were searched for a column.
    searched: AtomicUsize,
    /// `None` if there was no memory, or the table is too large.
    lists: OnceLock<Option<Lists>>,
}

/// A stored value: its row and its position. Both are below 2 to the power of 32.
pub(super) type Entry = [u32; 2];

/// The stored values of every column, by row.
struct Lists {
    /// The index of each column's first entry, and the number of all entries.
    starts: Vec<usize>,
    entries: Vec<Entry>,
}

impl ColumnIndex {
    /// Counts rows that will be searched for a column, and makes the index if there have been enough.
    pub(super) fn note(&self, pattern: &Pattern<'_>, rows: usize) {
        let row_count = pattern.offsets.len() - 1;
        if self.lists.get().is_none() {
            // Other memory is published by the lock, and a lost count only delays the index.
            let searched = self.searched.load(Ordering::Relaxed).saturating_add(rows);
            self.searched.store(searched, Ordering::Relaxed);
            if searched / SEARCHES > row_count {
                self.lists.get_or_init(|| Lists::of(pattern).ok().flatten());
            }
        }
    }

    /// Returns the rows and positions of the stored values of a column, in some rows; `None` without an index.
    pub(super) fn entries(&self, column: usize, rows: &Range<usize>) -> Option<&[Entry]> {
        let lists = self.lists.get()?.as_ref()?;
        let entries = &lists.entries[*lists.starts.get(column)?..*lists.starts.get(column + 1)?];
        let before = |row: usize| entries.partition_point(|entry| (entry[0] as usize) < row);
        Some(&entries[before(rows.start)..before(rows.end)])
    }
}

impl Lists {
    /// Makes the index, in one thread: other threads may wait for it, and one of a pool must not begin other work.
    /// `None` if the numbers are too large, or most columns have no values.
    fn of(pattern: &Pattern<'_>) -> Result<Option<Self>> {
        let (count, rows) = (pattern.indices.len(), pattern.offsets.len());
        if pattern.columns > count || u32::try_from(count.max(rows)).is_err() {
            return Ok(None);
        }
        let mut starts = filled(pattern.columns + 1, 0)?;
        let mut entries = filled(count, Entry::default())?;
        match_checked_index!(pattern.indices.element_type(), I => {
            fill::<I>(pattern, &mut starts, &mut entries);
        }, else ());
        Ok(Some(Self { starts, entries }))
    }
}

/// Sorts the stored values by column, by counting.
fn fill<I: Index + Bits>(pattern: &Pattern<'_>, starts: &mut [usize], entries: &mut [Entry]) {
    let indices = pattern.indices.bits::<I>();
    for index in indices {
        starts[index.number() + 1] += 1; // below the number of columns: the table's invariant
    }
    for column in 1..starts.len() {
        starts[column] += starts[column - 1];
    }
    // While a column is filled, its start is the place of the next entry: at the end, the start of the next column.
    for row in 0..pattern.offsets.len() - 1 {
        for position in pattern.positions(&(row..row + 1)) {
            let next = &mut starts[indices[position].number()];
            entries[*next] = [row as u32, position as u32]; // checked in `of`
            *next += 1;
        }
    }
    let columns = starts.len() - 1;
    starts.copy_within(..columns, 1);
    starts[0] = 0;
}
