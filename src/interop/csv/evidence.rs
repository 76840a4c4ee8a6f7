//! Evidence from the fields of a column about the element type that suits it.
//!
//! Invariant: it depends only on the fields of the rows that are kept, up to the first record that fails, and not on
//! the type that was guessed when they were read.

use super::CsvMissing;
use super::failure::{Cause, Failure, Reason};
use super::roles::Action;
use super::whole::Whole;
use crate::base::element::{ElementType, match_element};
use crate::base::number::{Exact, Loss, Number};
use crate::base::text::excerpt;

/// A field, by its position in the file and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    pub(super) place: u64,
    pub(super) text: String,
}

/// Findings from the fields of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    pub(super) has_whole: bool,
    pub(super) has_negative: bool,
    /// Whether some integer fits `u64` but not `i64`.
    exceeds_signed: bool,
    /// Whether some integer fits neither of them.
    exceeds_both: bool,
    /// The first number that is not written as an integer.
    real: Option<Box<Sight>>,
    /// The first missing value that becomes NaN; in a column of words, the first one that becomes NaN or a number.
    gap: Option<Box<Sight>>,
    /// The first missing value that stays missing, which has no influence on the type.
    missing: Option<Box<Sight>>,
    /// The first integer that `f64` does not hold.
    pub(super) inexact: Option<Box<Sight>>,
}

/// The class of a field.
#[derive(Clone, Copy)]
pub(super) enum Seen<'a> {
    Whole(Whole<'a>),
    Real,
    /// A missing value that becomes NaN or a number.
    Gap,
    /// A missing value that stays missing.
    Missing,
    /// A time, as an integer that `f64` does not hold.
    Inexact,
}

/// What decides the type of a column of numbers.
pub(super) enum Ground<'a> {
    Gap(&'a Sight),
    Real(&'a Sight),
    /// No integer type holds all of its numbers.
    Range,
    /// Only `u64` holds all of its numbers.
    Unsigned,
    Whole,
    Nothing,
}

impl Evidence {
    /// Adds a field at a position in the file.
    pub(super) fn add(&mut self, seen: Seen<'_>, place: u64, text: &[u8]) {
        let first = |known: &mut Option<Box<Sight>>| {
            if known.is_none() {
                *known = Some(Box::new(Sight { place, text: excerpt(text) }));
            }
        };
        match seen {
            Seen::Whole(whole) => {
                let (is_signed, is_unsigned) = (whole.as_i64().is_some(), whole.as_u64().is_some());
                self.has_whole = true;
                self.has_negative |= whole.is_negative;
                self.exceeds_signed |= is_unsigned && !is_signed;
                self.exceeds_both |= !is_unsigned && !is_signed;
                if !whole.is_float() {
                    first(&mut self.inexact);
                }
            }
            Seen::Real => first(&mut self.real),
            Seen::Gap => first(&mut self.gap),
            Seen::Missing => first(&mut self.missing),
            Seen::Inexact => first(&mut self.inexact),
        }
    }

    /// Adds the findings from later records.
    pub(super) fn append(&mut self, later: Self) {
        self.has_whole |= later.has_whole;
        self.has_negative |= later.has_negative;
        self.exceeds_signed |= later.exceeds_signed;
        self.exceeds_both |= later.exceeds_both;
        self.real = self.real.take().or(later.real);
        self.gap = self.gap.take().or(later.gap);
        self.missing = self.missing.take().or(later.missing);
        self.inexact = self.inexact.take().or(later.inexact);
    }

    /// Returns whether no later field can change the reason why the column needs a float.
    pub(super) fn is_settled_float(&self) -> bool {
        self.gap.is_some() || self.real.is_some() // every gap is seen, for any guessed type
    }

    pub(super) fn has_gap(&self) -> bool {
        self.gap.is_some()
    }

    /// Returns whether a missing value stays missing.
    pub(super) fn has_missing(&self) -> bool {
        self.missing.is_some()
    }

    /// Returns the first missing value that stays missing.
    pub(super) fn missing(&self) -> Option<&Sight> {
        self.missing.as_deref()
    }

    /// Returns whether all values of a column of numbers are missing.
    pub(super) fn are_all_missing(&self, action: &Action) -> bool {
        action.is_number() && self.missing.is_some() && !self.has_whole && self.real.is_none() && self.gap.is_none()
    }

    fn needs_float(&self) -> bool {
        let has_range = self.exceeds_both || (self.exceeds_signed && self.has_negative);
        self.real.is_some() || self.gap.is_some() || has_range
    }

    /// Returns the type that suits the column, if these are all of its fields.
    pub(super) fn suited(&self, action: &Action, missing: CsvMissing) -> ElementType {
        match action {
            Action::Category { categories, .. } => self.index_type(categories.names.len().saturating_sub(1), missing),
            Action::OneHot { .. } => self.index_type(1, missing),
            Action::Time { .. } if self.gap.is_some() => ElementType::F64,
            Action::Time { unit, .. } => unit.element_type(),
            Action::Number { .. } | Action::Numeral { .. } => match () {
                () if self.needs_float() || !self.has_whole => ElementType::F64,
                () if self.exceeds_signed => ElementType::U64,
                () => ElementType::I64,
            },
            Action::Custom { .. } | Action::Ignore => ElementType::F64,
        }
    }

    /// Returns what decides the type of a column of numbers: the first field that requires a float, or a property of
    /// all fields.
    pub(super) fn ground(&self) -> Ground<'_> {
        match (&self.gap, &self.real) {
            (Some(gap), Some(real)) if real.place < gap.place => Ground::Real(real),
            (Some(gap), _) => Ground::Gap(gap),
            (None, Some(real)) => Ground::Real(real),
            (None, None) if self.needs_float() => Ground::Range,
            (None, None) if self.exceeds_signed => Ground::Unsigned,
            (None, None) if self.has_whole => Ground::Whole,
            (None, None) => Ground::Nothing,
        }
    }

    /// Returns the position of the field that [`ground`](Self::ground) names.
    pub(super) fn place(&self) -> Option<u64> {
        match self.ground() {
            Ground::Gap(sight) | Ground::Real(sight) => Some(sight.place),
            _ => None,
        }
    }

    /// Returns the type for reading the other fields of the column after some of them: one that still lets
    /// [`suited`](Self::suited) find the right type.
    pub(super) fn guess(&self, action: &Action, missing: CsvMissing) -> ElementType {
        match action {
            Action::Number { .. } | Action::Numeral { .. } if !self.has_whole && !self.needs_float() => {
                ElementType::I64
            }
            _ => self.suited(action, missing),
        }
    }

    /// Returns the smallest type that holds indices up to `largest` and the replacement for missing values, if there
    /// are any. Prefers unsigned types.
    fn index_type(&self, largest: usize, missing: CsvMissing) -> ElementType {
        let gap = match missing {
            CsvMissing::Value(value) if self.gap.is_some() => Some(value),
            _ if self.gap.is_some() => return ElementType::F64, // NaN
            _ => None,
        };
        const TYPES: [ElementType; 5] =
            [ElementType::U8, ElementType::U16, ElementType::U32, ElementType::U64, ElementType::I64];
        let is_held = |element: &ElementType| {
            let all = [Some(Exact::Integer(largest as i128)), gap.map(Exact::Float)];
            match_element!(*element, T => all.into_iter().flatten().all(|number| T::loss(number) == Loss::None))
        };
        TYPES.into_iter().find(is_held).unwrap_or(ElementType::F64)
    }

    /// Returns the failure of the first integer that would be rounded, if the column is one of floats: because of its
    /// fields, or because the sampled rows have decided so (`is_decided`).
    pub(super) fn failure(&self, column: usize, is_decided: bool) -> Option<Failure> {
        let inexact = self.inexact.as_ref().filter(|_| is_decided || self.needs_float())?;
        let cause = match (&self.gap, &self.real) {
            (Some(gap), _) => Cause::Gap(gap.place),
            (None, Some(real)) => Cause::Real(*real.clone()),
            (None, None) if is_decided => Cause::Sample,
            (None, None) => Cause::Range,
        };
        let Sight { place, text } = *inexact.clone();
        Some(Failure { place, column: Some(column), text, reason: Reason::Rounded(cause) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::categories::Categories;
    use super::*;

    fn evidence(texts: &[&str]) -> Evidence {
        let mut evidence = Evidence::default();
        for (place, text) in texts.iter().enumerate() {
            let seen = match Whole::of(text.as_bytes()) {
                Some(whole) => Seen::Whole(whole),
                None if text.is_empty() => Seen::Gap,
                None => Seen::Real,
            };
            evidence.add(seen, place as u64, text.as_bytes());
        }
        evidence
    }

    #[test]
    fn all_fields_decide_in_any_parts() {
        const NUMBER: Action = Action::Number { target: 0 };
        let cases: [(&[&str], ElementType, Option<u64>); 12] = [
            (&[], ElementType::F64, None),
            (&["1", "-2"], ElementType::I64, None),
            (&["9223372036854775807", "-1"], ElementType::I64, None),
            (&["9223372036854775808", "1"], ElementType::U64, None),
            (&["9223372036854775808", "-1"], ElementType::F64, None), // 2^63, which f64 holds
            (&["9223372036854775809", "-1"], ElementType::F64, Some(0)),
            (&["18446744073709551616", "1"], ElementType::F64, None),
            (&["1", "9007199254740993", "0.5"], ElementType::F64, Some(1)),
            (&["9007199254740992", ""], ElementType::F64, None),
            (&["", "9007199254740993"], ElementType::F64, Some(1)),
            (&[""], ElementType::F64, None),
            (&["5", "-0"], ElementType::F64, None),
        ];
        for (texts, element, failure) in cases {
            for cut in 0..=texts.len() {
                let mut whole = evidence(&texts[..cut]);
                let mut later = evidence(&texts[cut..]);
                if let Some(inexact) = &mut later.inexact {
                    inexact.place += cut as u64;
                }
                whole.append(later);
                assert_eq!(whole.suited(&NUMBER, CsvMissing::Nan), element, "{texts:?}");
                assert_eq!(whole.failure(7, false).map(|failure| failure.place), failure, "{texts:?}");
            }
        }
    }

    #[test]
    fn indices_have_the_smallest_type_that_holds_them_and_what_is_missing() {
        let action = |count: usize| Action::Category {
            target: 0,
            categories: Arc::new(Categories::of(&(0..count).map(|word| word.to_string()).collect::<Vec<_>>()).unwrap()),
            are_plain: true,
        };
        let (none, gap) = (evidence(&[]), evidence(&[""]));
        for (count, element) in
            [(0, ElementType::U8), (256, ElementType::U8), (257, ElementType::U16), (65_537, ElementType::U32)]
        {
            assert_eq!(none.suited(&action(count), CsvMissing::Nan), element);
            assert_eq!(none.suited(&action(count), CsvMissing::Value(-1.0)), element);
            assert_eq!(gap.suited(&action(count), CsvMissing::Nan), ElementType::F64);
            assert_eq!(gap.suited(&action(count), CsvMissing::Value(0.0)), element);
            assert_eq!(gap.suited(&action(count), CsvMissing::Value(-1.0)), ElementType::I64);
            assert_eq!(gap.suited(&action(count), CsvMissing::Value(0.5)), ElementType::F64);
        }
        assert_eq!(gap.suited(&action(2), CsvMissing::Value(300.0)), ElementType::U16);
    }
}
