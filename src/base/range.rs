//! Ranges as callers write them (`..`, `1..`, `..=3`), and ranges cut into pieces.

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

/// Cuts a range into ranges of the given length. The last one may be shorter. A length of zero counts as one.
#[inline]
pub(crate) fn cut(range: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let (end, length) = (range.end, length.max(1));
    range.step_by(length).map(move |start| start..end.min(start.saturating_add(length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_into_pieces_without_gaps() {
        let pieces = |range: Range<usize>, length: usize| cut(range, length).collect::<Vec<_>>();
        assert_eq!(pieces(3..10, 3), [3..6, 6..9, 9..10]);
        assert_eq!(pieces(3..9, 3), [3..6, 6..9]);
        assert_eq!(pieces(3..5, 0), [3..4, 4..5], "a length of zero is one");
        assert!(pieces(5..5, 3).is_empty());
        let end = usize::MAX;
        assert_eq!(pieces(end - 3..end, usize::MAX).first(), Some(&(end - 3..end)));
        assert_eq!(pieces(end - 3..end, 2), [end - 3..end - 1, end - 1..end]);
    }
}
