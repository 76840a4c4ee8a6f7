//! The fast path for columns of several types: the values of fields that add nothing to the evidence about their
//! column, found without extracting the field.

use super::categories::Categories;
use super::cells::{Cells, put};
use super::collect::NO_WORD;
use super::evidence::Evidence;
use super::syntax::Syntax;
use super::whole::{EXACT, Whole, fast_whole};
use crate::interop::text::moment::fast_date;
use crate::interop::text::number::fast_number;

/// Which fields of a column the fast path finds.
#[derive(Clone, Copy, Debug)]
pub(super) enum FastPath {
    Never,
    /// Numbers of a type that the options set, or that is known to suit.
    Stated,
    /// Numbers of a guessed type: `i64`, `u64` or `f64`.
    Guessed,
    /// Dates, as days.
    Days,
    /// Words whose text cannot mean a missing value.
    Word,
    /// Words that are collected, from their second occurrence on.
    Collected,
}

impl FastPath {
    /// Returns the fields that it finds once the type is known.
    pub(super) fn of_known_type(self) -> Self {
        if let Self::Guessed = self { Self::Stated } else { self }
    }
}

/// A value that the cells of its column hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum FastValue {
    /// A missing value that becomes NaN.
    Nan,
    /// A missing value that stays missing: it is marked instead of stored.
    Missing,
    Whole {
        is_negative: bool,
        magnitude: u64,
    },
    Float(f64),
    Days(i64),
    /// The index of a word.
    Index(usize),
}

impl FastValue {
    /// Stores the value.
    #[inline(always)]
    pub(super) fn put(self, cells: &mut Cells<'_>, row: usize) {
        match (self, cells) {
            (Self::Nan, Cells::F64(values)) => put(values, row, f64::NAN),
            (Self::Nan, Cells::U32(values)) => put(values, row, NO_WORD),
            (Self::Whole { is_negative, magnitude }, Cells::I64(values)) => {
                let number = magnitude as i64; // in range
                put(values, row, if is_negative { -number } else { number });
            }
            (Self::Whole { magnitude, .. }, Cells::U64(values)) => put(values, row, magnitude),
            (Self::Float(number), Cells::F64(values)) => put(values, row, number),
            (Self::Days(days), Cells::I32(values)) => put(values, row, days as i32), // of years with four digits
            (Self::Days(days), Cells::I64(values)) => put(values, row, days),
            (Self::Days(days), Cells::F64(values)) => put(values, row, days as f64),
            (Self::Index(index), Cells::U8(values)) => put(values, row, index as u8), // in range, as below
            (Self::Index(index), Cells::U16(values)) => put(values, row, index as u16),
            (Self::Index(index), Cells::U32(values)) => put(values, row, index as u32),
            (Self::Index(index), Cells::F64(values)) => put(values, row, index as f64),
            _ => {} // never: the cells hold the value
        }
    }
}

/// Finds a number of a guessed type. The caller must check the text that follows.
#[inline(always)]
pub(super) fn guessed(cells: &Cells<'_>, bytes: &[u8], evidence: &Evidence) -> Option<(FastValue, usize)> {
    if let Cells::F64(_) = cells {
        let (value, length) = fast_number::<f64>(bytes).filter(|_| evidence.is_settled_float())?;
        let is_small = value.abs() < EXACT as f64 || evidence.inexact.is_some(); // 2^53 may be rounded
        let is_new = !is_small && Whole::of(&bytes[..length]).is_some();
        return (!is_new).then_some((FastValue::Float(value), length));
    }
    let (is_negative, magnitude, length) = fast_whole(bytes)?;
    let is_new = !evidence.has_whole
        || (is_negative && !evidence.has_negative)
        || (magnitude > EXACT && evidence.inexact.is_none());
    let is_held = match cells {
        Cells::I64(_) => magnitude <= i64::MAX as u64,
        Cells::U64(_) => !is_negative,
        _ => false,
    };
    (!is_new && is_held).then_some((FastValue::Whole { is_negative, magnitude }, length))
}

/// Finds a date. The caller must check the text that follows.
#[inline(always)]
pub(super) fn days(cells: &Cells<'_>, bytes: &[u8]) -> Option<(FastValue, usize)> {
    let is_held = matches!(cells, Cells::I32(_) | Cells::I64(_) | Cells::F64(_));
    fast_date(bytes).filter(|_| is_held).map(|(days, length)| (FastValue::Days(days), length))
}

/// Finds the index of a word.
#[inline(always)]
pub(super) fn index(
    cells: &Cells<'_>,
    bytes: &[u8],
    syntax: &Syntax,
    categories: &Categories,
) -> Option<(FastValue, usize)> {
    let (index, length) = syntax.fast_word(bytes, categories)?;
    let is_held = match cells {
        Cells::U8(_) => index <= u8::MAX.into(),
        Cells::U16(_) => index <= u16::MAX.into(),
        Cells::U32(_) => u32::try_from(index).is_ok(),
        Cells::F64(_) => index as u64 <= EXACT,
        _ => false,
    };
    is_held.then_some((FastValue::Index(index), length))
}
