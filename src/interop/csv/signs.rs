//! The kind of a column without an explicit kind, from its fields.
//!
//! It is a column of words if all of its fields are words. A single number makes it a column of numbers and its first
//! word an error, which the parser reports: a typo or a decimal comma in one number must not turn all numbers into
//! category indices.

use super::CsvColumnKind;
use super::roles::{ColumnRole, Shown};
use super::syntax::Field;
use crate::base::text::excerpt;
use crate::interop::text::numerals::Numerals;

/// The usual delimiters.
const SEPARATORS: [u8; 4] = [b';', b'\t', b'|', b','];

/// The kinds of a column's fields, except those that are missing.
#[derive(Debug)]
pub(super) struct Signs {
    has_words: bool,
    /// The first number, or text that looks like one: its position and text.
    number: Option<(u64, String)>,
    /// Which of [`SEPARATORS`] occur in all words outside of quotes. Only determined for the only column of a file.
    are_everywhere: [bool; SEPARATORS.len()],
}

impl Default for Signs {
    fn default() -> Self {
        Self { has_words: false, number: None, are_everywhere: [true; SEPARATORS.len()] }
    }
}

impl Signs {
    /// Adds a field. `bare` is its unquoted part, if it is the only field of its record. `numerals` is `None` if it is
    /// not a number, however it looks: in quotes, `nan` may mean a missing value or be a word.
    pub(super) fn add(&mut self, field: &Field<'_>, place: u64, bare: Option<&[u8]>, numerals: Option<&Numerals>) {
        if self.number.is_some() {
            return; // the kind is decided
        }
        if numerals.is_some_and(|numerals| numerals.is_meant(field.number_text())) {
            self.number = Some((place, excerpt(field.text)));
            return;
        }
        self.has_words = true;
        if let Some(bare) = bare {
            self.keep_separators_of(bare);
        }
    }

    fn keep_separators_of(&mut self, text: &[u8]) {
        for (is_everywhere, separator) in self.are_everywhere.iter_mut().zip(SEPARATORS) {
            *is_everywhere &= memchr::memchr(separator, text).is_some();
        }
    }

    /// Adds the signs from later fields.
    pub(super) fn append(&mut self, later: Self) {
        self.has_words |= later.has_words;
        self.number = self.number.take().or(later.number);
        self.are_everywhere.iter_mut().zip(later.are_everywhere).for_each(|(mine, theirs)| *mine &= theirs);
    }

    /// Sets the kind of an open column, as far as these fields decide it. `is_all`: no other fields exist; `is_only`:
    /// no other column exists.
    pub(super) fn decide(mut self, column: &mut ColumnRole, is_only: bool, is_all: bool) {
        if let Some(name) = column.name.as_ref().filter(|_| is_only) {
            self.keep_separators_of(name.as_bytes());
        }
        let separator = SEPARATORS.into_iter().zip(self.are_everywhere).find(|&(_, is_everywhere)| is_everywhere);
        let (shown, kind) = match (self.number, separator) {
            (Some((place, text)), _) => {
                (column.shown, column.kind) = (Shown::Number { place, text }, CsvColumnKind::Continuous);
                return;
            }
            _ if !self.has_words => (Shown::Nothing, CsvColumnKind::Continuous),
            (_, Some((separator, _))) if is_only && is_all => (Shown::Separated(separator), CsvColumnKind::Continuous),
            _ => (Shown::Words, CsvColumnKind::Categorical),
        };
        column.shown = shown;
        if is_all {
            column.kind = kind;
        }
    }
}
