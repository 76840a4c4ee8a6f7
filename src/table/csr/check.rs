//! Checks of the parts of a sparse table. Offsets and indices from a caller or a file are never trusted.

use std::ops::Range;

use super::index::{Index, Indices, check_type, match_index};
use super::parts::CsrParts;
use super::read::Pattern;
use crate::array::AnyArray;
use crate::base::error::{Error, Result, SparseFault};
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::base::value::AnyValue;

/// The number of row offsets that are read at a time.
const BATCH: usize = 64;

pub(super) const OFFSETS: &str = "row offsets";
pub(super) const INDICES: &str = "column indices";

/// Checks all requirements of a table of this shape, for offsets and indices that are counted from `first`.
/// O(rows + values), in parallel for large tables.
pub(super) fn check(shape: Shape, parts: &CsrParts, first: usize) -> Result<()> {
    check_frame(shape, parts, first)?;
    check_indices(shape, parts, first)
}

/// Checks the types and the row offsets, which begin at `first`.
pub(super) fn check_frame(shape: Shape, parts: &CsrParts, first: usize) -> Result<()> {
    let CsrParts { offsets, indices, values } = parts;
    check_type(OFFSETS, offsets.element_type())?;
    check_type(INDICES, indices.element_type())?;
    if offsets.len().checked_sub(1) != Some(shape.rows) {
        return Err(Error::sparse_structure(
            SparseFault::Count,
            None,
            None,
            format!("{} rows need one row offset each and one more, but {} were given", shape.rows, offsets.len()),
        ));
    }
    let end = match_index!(offsets.element_type(), O => {
        check_offsets(offsets.as_slice().as_slice::<O>(), first)?
    }, else first);
    let end = end.wrapping_sub(first); // it is not less
    if end != indices.len() || end != values.len() {
        return Err(Error::sparse_structure(
            SparseFault::Count,
            None,
            None,
            format!(
                "the row offsets end at {end}, but there are {} column indices and {} values",
                indices.len(),
                values.len()
            ),
        ));
    }
    Ok(())
}

/// Checks that offsets begin at `first` and never descend. Returns the last one.
fn check_offsets<O: Index>(offsets: &[O], first: usize) -> Result<usize> {
    let found = offsets.first().copied().unwrap_or_default();
    if found.checked() != Some(first) {
        return Err(Error::sparse_structure(
            SparseFault::Offsets,
            None,
            None,
            format!("the first row offset is {}, not {first}", AnyValue::from(found)),
        ));
    }
    let rows = offsets.len() - 1;
    let descending = find(rows, size_of_val(offsets), &|rows| {
        let bounds = &offsets[rows.start..=rows.end];
        let is_sorted = bounds.is_sorted();
        if is_sorted { None } else { bounds.windows(2).position(|pair| pair[0] > pair[1]).map(|at| rows.start + at) }
    });
    if let Some(row) = descending {
        return Err(Error::sparse_structure(
            SparseFault::Offsets,
            Some(row),
            None,
            format!(
                "the row offsets descend: row {row} begins at {} and ends at {}",
                AnyValue::from(offsets[row]),
                AnyValue::from(offsets[row + 1])
            ),
        ));
    }
    // A number that does not fit in `usize` exceeds any possible length.
    Ok(offsets[rows].checked().unwrap_or(usize::MAX))
}

/// Checks that the column indices ascend in each row, and lie inside the table. The offsets have been checked.
pub(super) fn check_indices(shape: Shape, parts: &CsrParts, first: usize) -> Result<()> {
    let allowed = first..shape.columns.saturating_add(first);
    let offsets = Indices::new(parts.offsets.as_slice(), first);
    match_index!(parts.indices.element_type(), I => {
        let indices = parts.indices.as_slice().as_slice::<I>();
        let bytes = size_of_val(indices).saturating_add(parts.offsets.len().saturating_mul(8));
        let bad = find(shape.rows, bytes, &|rows| {
            let mut buffer = [0; BATCH + 1];
            for row in rows.clone().step_by(BATCH) {
                let count = BATCH.min(rows.end - row);
                let bounds = offsets.copy_to(row, &mut buffer[..=count]);
                let is_good = |ends: &[usize]| is_ascending(&indices[ends[0]..ends[1]], &allowed);
                if let Some(bad) = bounds.windows(2).position(|ends| !is_good(ends)) {
                    return Some(row + bad);
                }
            }
            None
        });
        match bad {
            Some(row) => Err(fault_of(indices, row, offsets.at(row)..offsets.at(row + 1), &allowed)),
            None => Ok(()),
        }
    }, else Ok(()))
}

/// Checks that the column indices lie inside the table, in any order. The offsets have been checked.
pub(super) fn check_range(shape: Shape, parts: &CsrParts) -> Result<()> {
    let allowed = 0..shape.columns;
    let Some((position, index)) = outside(&parts.indices, &allowed) else { return Ok(()) };
    let pattern = Pattern {
        offsets: Indices::new(parts.offsets.as_slice(), 0),
        indices: parts.indices.as_slice(),
        columns: shape.columns,
    };
    Err(out_of_range(INDICES, Some(pattern.row_of(position)), position, index, &allowed))
}

/// Checks that all indices of an array are in a range; `part` names them in the error.
pub(super) fn first_outside(part: &'static str, indices: &AnyArray, allowed: &Range<usize>) -> Result<()> {
    match outside(indices, allowed) {
        Some((position, index)) => Err(out_of_range(part, None, position, index, allowed)),
        None => Ok(()),
    }
}

/// Returns the first index that is not in a range, and its position.
fn outside(indices: &AnyArray, allowed: &Range<usize>) -> Option<(usize, AnyValue)> {
    match_index!(indices.element_type(), I => {
        let indices = indices.as_slice().as_slice::<I>();
        let is_outside = |index: &I| index.checked().is_none_or(|index| !allowed.contains(&index));
        indices.iter().position(is_outside).map(|position| (position, indices[position].into()))
    }, else None)
}

/// Returns whether the indices of a row ascend and are in a range. Comparing the first and the last one suffices then.
fn is_ascending<I: Index>(row: &[I], allowed: &Range<usize>) -> bool {
    let is_allowed = |index: &I| index.checked().is_some_and(|index| allowed.contains(&index));
    match row {
        [] => true,
        [only] => is_allowed(only),
        [first, .., last] => is_allowed(first) && is_allowed(last) && row.windows(2).all(|pair| pair[0] < pair[1]),
    }
}

/// Returns the error for the first invalid index of a row; there must be one.
#[cold]
fn fault_of<I: Index>(indices: &[I], row: usize, positions: Range<usize>, allowed: &Range<usize>) -> Error {
    let mut before: Option<I> = None;
    for position in positions {
        let index = indices[position];
        if index.checked().is_none_or(|index| !allowed.contains(&index)) {
            return out_of_range(INDICES, Some(row), position, index.into(), allowed);
        }
        if let Some(before) = before.filter(|&before| before >= index) {
            return not_ascending(row, position, before.into(), index.into());
        }
        before = Some(index);
    }
    unreachable!("a row that was refused has a wrong index")
}

/// Returns the error for an index that is not in a range.
#[cold]
pub(super) fn out_of_range(
    part: &'static str,
    row: Option<usize>,
    position: usize,
    index: AnyValue,
    allowed: &Range<usize>,
) -> Error {
    let in_row = row.map_or(String::new(), |row| format!(", in row {row}"));
    let are_allowed = match allowed.len().checked_sub(1) {
        Some(last) => format!("{} to {} are", allowed.start, allowed.start.saturating_add(last)),
        None => "none is".to_owned(),
    };
    let reason = format!("the {part} have {index} at position {position}{in_row}: {are_allowed} allowed");
    Error::sparse_structure(SparseFault::OutOfRange, row, Some(position), reason)
}

/// Returns the error for a column index that is not above the one before it.
#[cold]
pub(super) fn not_ascending(row: usize, position: usize, before: AnyValue, index: AnyValue) -> Error {
    let reason =
        format!("the column indices do not ascend: row {row} has {index} at position {position}, after {before}");
    Error::sparse_structure(SparseFault::NotAscending, Some(row), Some(position), reason)
}

/// Returns the first of `rows` rows that `search` finds in a range of them, in parallel if that pays for work on
/// `bytes` bytes.
fn find(rows: usize, bytes: usize, search: &(dyn Fn(Range<usize>) -> Option<usize> + Sync)) -> Option<usize> {
    let ranges = parallel::cut(0..rows, rows, parallel::task_count(bytes), |rows, count| {
        let middle = rows.start + count;
        (rows.start..middle, middle..rows.end)
    });
    parallel::map(ranges, search).into_iter().flatten().next()
}
