//! Checks of the parts of a sparse table: nothing is trusted that a caller or a file supplies.

use std::ops::Range;

use super::index::{Index, Indices, check_type, match_index};
use super::parts::CsrParts;
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::base::value::AnyValue;

/// The number of row offsets that are read at a time.
const BATCH: usize = 64;

pub(super) const OFFSETS: &str = "row offsets";
pub(super) const INDICES: &str = "column indices";

/// Checks all that a table of this shape needs. O(rows + values), by several threads if there are many.
pub(super) fn check(shape: Shape, parts: &CsrParts) -> Result<()> {
    check_frame(shape, parts, 0)?;
    check_indices(shape, parts)
}

/// Checks the types and the row offsets, which begin at `first`.
pub(super) fn check_frame(shape: Shape, parts: &CsrParts, first: usize) -> Result<()> {
    let CsrParts { offsets, indices, values } = parts;
    check_type(OFFSETS, offsets.element_type())?;
    check_type(INDICES, indices.element_type())?;
    if offsets.len().checked_sub(1) != Some(shape.rows) {
        return Err(Error::OffsetCount { rows: shape.rows, found: offsets.len() });
    }
    let end = match_index!(offsets.element_type(), O => {
        check_offsets(offsets.as_slice().as_slice::<O>(), first)?
    }, else first);
    let end = end.wrapping_sub(first); // it is not less
    if end != indices.len() || end != values.len() {
        return Err(Error::StoredCount { end, indices: indices.len(), values: values.len() });
    }
    Ok(())
}

/// Checks that offsets begin at `first` and never descend. Returns the last one.
fn check_offsets<O: Index>(offsets: &[O], first: usize) -> Result<usize> {
    let found = offsets.first().copied().unwrap_or_default();
    if found.checked() != Some(first) {
        return Err(Error::FirstOffset { expected: first, found: found.into() });
    }
    let rows = offsets.len() - 1;
    let descending = find(rows, size_of_val(offsets), &|rows| {
        let bounds = &offsets[rows.start..=rows.end];
        let is_sorted = bounds.is_sorted();
        if is_sorted { None } else { bounds.windows(2).position(|pair| pair[0] > pair[1]).map(|at| rows.start + at) }
    });
    if let Some(row) = descending {
        return Err(Error::DescendingOffsets { row, start: offsets[row].into(), end: offsets[row + 1].into() });
    }
    // A number that `usize` does not hold is more than there can be of anything.
    Ok(offsets[rows].checked().unwrap_or(usize::MAX))
}

/// Checks that the column indices ascend in each row, and lie inside the table. The offsets have been checked.
fn check_indices(shape: Shape, parts: &CsrParts) -> Result<()> {
    let offsets = Indices::new(parts.offsets.as_slice(), 0);
    match_index!(parts.indices.element_type(), I => {
        let indices = parts.indices.as_slice().as_slice::<I>();
        let bytes = size_of_val(indices).saturating_add(parts.offsets.len().saturating_mul(8));
        let bad = find(shape.rows, bytes, &|rows| {
            let mut buffer = [0; BATCH + 1];
            for first in rows.clone().step_by(BATCH) {
                let count = BATCH.min(rows.end - first);
                let bounds = offsets.copy_to(first, &mut buffer[..=count]);
                let is_good = |row: &[usize]| is_ascending(&indices[row[0]..row[1]], shape.columns);
                if let Some(row) = bounds.windows(2).position(|row| !is_good(row)) {
                    return Some(first + row);
                }
            }
            None
        });
        match bad {
            Some(row) => Err(fault_of(indices, row, offsets.at(row)..offsets.at(row + 1), shape.columns)),
            None => Ok(()),
        }
    }, else Ok(()))
}

/// Returns whether the indices of a row ascend, and lie below `columns`: then the last one does, and the first one is
/// not negative.
fn is_ascending<I: Index>(row: &[I], columns: usize) -> bool {
    match row {
        [] => true,
        [first, .., last] if *first >= I::default() && last.checked().is_some_and(|last| last < columns) => {
            row.windows(2).all(|pair| pair[0] < pair[1])
        }
        [only] => only.checked().is_some_and(|only| only < columns),
        _ => false,
    }
}

/// Returns the error for the first index of a row that is wrong; there is one.
#[cold]
fn fault_of<I: Index>(indices: &[I], row: usize, positions: Range<usize>, columns: usize) -> Error {
    let mut before: Option<I> = None;
    for position in positions {
        let index = indices[position];
        if index.checked().is_none_or(|index| index >= columns) {
            return out_of_range(INDICES, Some(row), position, index.into(), 0, columns);
        }
        if let Some(before) = before.filter(|&before| before >= index) {
            return Error::IndicesNotAscending { row, position, before: before.into(), index: index.into() };
        }
        before = Some(index);
    }
    unreachable!("a row that was refused has a wrong index")
}

/// Returns the error for an index among `count` that are counted from `first`.
pub(super) fn out_of_range(
    part: &'static str,
    row: Option<usize>,
    position: usize,
    index: AnyValue,
    first: usize,
    count: usize,
) -> Error {
    let last = count as i128 + first as i128 - 1;
    Error::IndexOutOfRange { part, row, position, index, first, last }
}

/// Returns the first of `rows` rows that `search` finds in a range of them; by several threads if that pays for work on
/// `bytes` bytes.
fn find(rows: usize, bytes: usize, search: &(dyn Fn(Range<usize>) -> Option<usize> + Sync)) -> Option<usize> {
    let ranges = parallel::cut(0..rows, rows, parallel::task_count(bytes), |rows, count| {
        let middle = rows.start + count;
        (rows.start..middle, middle..rows.end)
    });
    parallel::map(ranges, search).into_iter().flatten().next()
}
