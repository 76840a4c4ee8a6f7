//! Ranges as written by callers: `..`, `1..`, `..=3`.

use std::ops::{Bound, Range, RangeBounds};

use crate::base::error::{Error, Result};

/// Resolves the bounds of a range over `count` elements. The caller checks that the range is inside and does not run
/// backwards.
///
/// # Errors
/// `refusal` of the range, if a bound overflows `usize`.
#[inline(always)]
pub fn resolve(
    range: impl RangeBounds<usize>,
    count: usize,
    refusal: impl Fn(Range<usize>) -> Error,
) -> Result<Range<usize>> {
    let start = match range.start_bound() {
        Bound::Unbounded => 0,
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.checked_add(1).ok_or_else(|| refusal(before..before))?,
    };
    let end = match range.end_bound() {
        Bound::Unbounded => count.max(start), // a range from past the end on is empty there, and does not run backwards
        Bound::Included(&last) => last.checked_add(1).ok_or_else(|| refusal(start..last))?,
        Bound::Excluded(&end) => end,
    };
    Ok(start..end)
}
