//! How each column of a file is read into a table with columns of several element types.

use super::CsvMissing;
use super::evidence::Evidence;
use super::failure::{Failure, Reason};
use super::fast_path::FastPath;
use super::markers::Markers;
use super::roles::{Action, Roles, gap};
use crate::base::element::{ElementType, match_element};
use crate::base::error::Result;
use crate::convert::ConversionPolicy;
use crate::dictionary::TimeUnit;

/// How the fields of a column are processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// They are not processed.
    Ignore,
    /// They can only cause rows to be skipped.
    Watch,
    /// They become values of a type that the options set, or that is known to suit.
    Convert,
    /// They become values of a guessed type, unless it turns out not to suit them.
    Examine,
    /// They are words that are not known before. They become indices among the words of the rows of one sink.
    Collect,
}

/// A column of the file.
pub(super) struct Planned {
    pub(super) action: Action,
    pub(super) usage: Use,
    pub(super) fast_path: FastPath,
    pub(super) missing: CsvMissing,
    /// Whether an empty field is a missing value, or becomes NaN.
    pub(super) is_empty_missing: bool,
}

/// How each column of the file is read into a table with columns of several types.
pub(super) struct ColumnPlan<'r> {
    pub(super) roles: &'r Roles,
    pub(super) policy: ConversionPolicy,
    pub(super) columns: Vec<Planned>,
    pub(super) may_skip: bool,
    /// Whether the words of some columns are collected.
    pub(super) collects: bool,
}

impl<'r> ColumnPlan<'r> {
    /// Plans to read all columns. Columns whose type the options do not set are examined.
    ///
    /// # Errors
    /// [`CsvOption`](crate::ErrorKind::CsvOption) if a type that the options set does not hold the replacement for
    /// missing values.
    pub(super) fn examine(roles: &'r Roles, policy: ConversionPolicy) -> Result<Self> {
        let (actions, _) = roles.actions();
        let mut columns = Vec::new();
        let mut known: Option<(&Markers, bool, bool)> = None; // those of most columns are the same
        for (action, role) in actions.into_iter().zip(&roles.columns) {
            let (_, has_numbers, has_times) = match known.filter(|(markers, ..)| markers.is(&role.markers)) {
                Some(known) => known,
                // The fast path finds neither NaN nor infinity.
                None => *known.insert((&role.markers, role.markers.have_numbers(policy), role.markers.have_times())),
            };
            if let Some(element) = role.element.filter(|_| role.is_kept) {
                match_element!(element, T => gap::<T>(role.missing).map(drop)?);
            }
            let usage = match (role.is_kept, role.element) {
                (false, _) => Use::Ignore,
                (_, None) if !matches!(action, Action::Custom { .. }) => Use::Examine,
                _ => Use::Convert,
            };
            // A string that means a missing value must be recognized as one, even if it is a number.
            let fast_path = match (&action, usage) {
                (Action::Number { .. }, Use::Examine) if !has_numbers => FastPath::Guessed,
                (Action::Number { .. }, Use::Convert) if !has_numbers => FastPath::Stated,
                (Action::Time { unit: TimeUnit::Days, .. }, Use::Convert | Use::Examine) if !has_times => {
                    FastPath::Days
                }
                (Action::Category { are_plain: true, .. }, Use::Convert | Use::Examine) => FastPath::Word,
                _ => FastPath::Never,
            };
            let has_value = matches!(role.missing, CsvMissing::Keep | CsvMissing::Nan);
            let is_empty_missing = has_value && role.markers.has_text(b"");
            columns.push(Planned { action, usage, fast_path, missing: role.missing, is_empty_missing });
        }
        Ok(Self { roles, policy, columns, may_skip: roles.may_skip(), collects: false })
    }

    /// Plans to collect the words of some columns.
    pub(super) fn collect(mut self, is_collected: &[bool]) -> Self {
        for (column, _) in self.columns.iter_mut().zip(is_collected).filter(|(_, is_collected)| **is_collected) {
            (column.usage, column.fast_path) = (Use::Collect, FastPath::Collected);
        }
        self.collects = true;
        self
    }

    /// Plans to reread only some columns, as types that are known to suit them.
    pub(super) fn convert_only(mut self, is_wanted: &[bool]) -> Self {
        for (column, &is_wanted) in self.columns.iter_mut().zip(is_wanted) {
            column.usage = match is_wanted {
                true => Use::Convert,
                false if column.usage != Use::Ignore && column.missing == CsvMissing::SkipRow => Use::Watch,
                false => Use::Ignore,
            };
            column.fast_path = if is_wanted { column.fast_path.of_known_type() } else { FastPath::Never };
        }
        self
    }

    /// Returns [`element`](Self::element) for all columns of the file.
    pub(super) fn elements(&self, evidence: &[Evidence], is_all: bool) -> Vec<ElementType> {
        evidence.iter().enumerate().map(|(column, evidence)| self.element(column, evidence, is_all)).collect()
    }

    /// Returns the first failure: `failure`, or that of a number that its column does not hold. `is_decided`: a sample
    /// of the rows has decided the types.
    pub(super) fn first_failure(
        &self,
        evidence: &[Evidence],
        failure: Option<Failure>,
        is_decided: bool,
    ) -> Option<Failure> {
        if failure.as_ref().is_some_and(|failure| failure.reason == Reason::Undecided) {
            return failure; // the evidence is incomplete
        }
        let rounded = evidence.iter().enumerate().filter(|(column, _)| self.examines(*column));
        let is_number = |column: usize| self.columns[column].action.is_number();
        let rounded =
            rounded.filter_map(|(column, evidence)| evidence.failure(column, is_decided && is_number(column)));
        rounded.chain(failure).min_by_key(|failure| failure.place)
    }

    /// Fixes the types of columns that a sample of the rows has decided. Columns of `f64` are still examined for
    /// integers that `f64` does not hold.
    pub(super) fn fix(mut self, elements: &[ElementType]) -> Self {
        for (column, &element) in self.columns.iter_mut().zip(elements) {
            if column.usage == Use::Examine && element != ElementType::F64 {
                column.usage = Use::Convert;
                column.fast_path = column.fast_path.of_known_type();
            }
        }
        self
    }

    /// Returns whether the type of a column depends on its fields.
    pub(super) fn examines(&self, column: usize) -> bool {
        self.columns[column].usage == Use::Examine
    }

    /// Returns whether the fields of a column have no effect.
    pub(super) fn ignores(&self, column: usize) -> bool {
        self.columns[column].usage == Use::Ignore
    }

    /// Returns how the fields of a column are processed.
    pub(super) fn action(&self, column: usize) -> &Action {
        &self.columns[column].action
    }

    /// Returns the columns of the table that a column of the file is stored in.
    pub(super) fn targets(&self, column: usize) -> std::ops::Range<usize> {
        self.columns[column].action.targets()
    }

    /// Returns the type of a column of the file: the one that the options set, the guess from some of its fields, or
    /// the one that suits all of them.
    pub(super) fn element(&self, column: usize, evidence: &Evidence, is_all: bool) -> ElementType {
        let (Planned { action, usage, missing, .. }, stated) =
            (&self.columns[column], self.roles.columns[column].element);
        if *usage == Use::Collect {
            return ElementType::U32;
        }
        stated.unwrap_or_else(|| match is_all {
            true => evidence.suited(action, *missing),
            false => evidence.guess(action, *missing),
        })
    }
}
