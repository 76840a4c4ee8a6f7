//! Columns of several element types, and what their fields show about the types that suit them.

use super::CsvMissing;
use super::categories::Categories;
use super::collect::{NO_WORD, collect};
use super::evidence::{Evidence, Seen};
use super::failure::{Failure, Reason};
use super::fast_path::{FastPath, FastValue, days, guessed, index};
use super::parse::{Sink, Taken};
use super::roles::{Action, Gap, Roles, gap};
use super::rows::{Cell, convert, missing, refused};
use super::syntax::{Field, Syntax};
use super::whole::Whole;
use crate::base::element::{Element, ElementType, match_element, with_elements};
use crate::base::error::Result as LibraryResult;
use crate::base::number::{Exact, Loss, Number};
use crate::convert::ConversionPolicy;
use crate::dictionary::TimeUnit;
use crate::interop::text::moment::Moment;
use crate::interop::text::number::{NumberRefusal, fast_number, is_number, value, value_of};
use crate::window::AnySliceMut;

macro_rules! define_cells {
    (() [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        /// Consecutive values of one column of the table.
        pub(super) enum Cells<'t> {
            $($variant(&'t mut [$native]),)*
        }

        impl<'t> Cells<'t> {
            pub(super) fn new(values: AnySliceMut<'t>) -> Self {
                match values.element_type() {
                    $(ElementType::$variant => Self::$variant(values.downcast().unwrap_or_default()),)*
                }
            }

            /// Returns an empty sequence of cells.
            pub(super) fn none(element: ElementType) -> Self {
                match element { $(ElementType::$variant => Self::$variant(&mut []),)* }
            }

            fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }

            /// Returns the first `count` cells and the rest.
            pub(super) fn split_at(self, count: usize) -> (Self, Self) {
                match self {
                    $(Self::$variant(values) => {
                        let (head, tail) = values.split_at_mut(count);
                        (Self::$variant(head), Self::$variant(tail))
                    })*
                }
            }

            fn as_mut<T: Element>(&mut self) -> Option<&mut [T]> {
                match self { $(Self::$variant(values) => AnySliceMut::new(values).downcast(),)* }
            }

            /// Stores a number of the cells' type if the fast path can parse the field.
            #[inline(never)]
            fn take(&mut self, row: usize, bytes: &[u8], syntax: &Syntax) -> Taken {
                match self { $(Self::$variant(values) => take::<$native>(values, row, bytes, syntax),)* }
            }
        }
    };
}
with_elements! { define_cells () }

fn take<T: Element>(values: &mut [T], row: usize, bytes: &[u8], syntax: &Syntax) -> Taken {
    match fast_number::<T>(bytes) {
        Some((value, length)) if syntax.ends_field(bytes, length) => {
            put(values, row, value);
            Taken::Stored(length)
        }
        _ => Taken::Field,
    }
}

/// Stores a value if there is a cell for it. The first records are also examined without cells.
#[inline(always)]
pub(super) fn put<T>(values: &mut [T], row: usize, value: T) {
    if let Some(cell) = values.get_mut(row) {
        *cell = value;
    }
}

/// Stores a value in all columns, which have the type `T`.
fn fill<T: Element>(cells: &mut [Cells<'_>], row: usize, value: T) {
    for cells in cells {
        put(cells.as_mut::<T>().unwrap_or_default(), row, value);
    }
}

/// How the fields of a column are processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
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
struct Planned {
    action: Action,
    usage: Use,
    fast_path: FastPath,
    missing: CsvMissing,
    /// Whether an empty field becomes NaN.
    is_empty_nan: bool,
}

/// How each column of the file is read into a table with columns of several types.
pub(super) struct ColumnPlan<'r> {
    pub(super) roles: &'r Roles,
    policy: ConversionPolicy,
    columns: Vec<Planned>,
    pub(super) may_skip: bool,
    /// Whether the words of some columns are collected.
    collects: bool,
}

impl<'r> ColumnPlan<'r> {
    /// Plans to read all columns. Columns whose type the options do not set are examined.
    ///
    /// # Errors
    /// [`CsvOption`](crate::ErrorKind::CsvOption) if a type that the options set does not hold the replacement for
    /// missing values.
    pub(super) fn examine(roles: &'r Roles, policy: ConversionPolicy) -> LibraryResult<Self> {
        let (actions, _) = roles.actions();
        let has_numbers = roles.missing_texts.iter().any(|text| is_number(text.as_bytes()));
        let has_times = roles.missing_texts.iter().any(|text| Moment::read(text.as_bytes()).is_ok());
        let mut columns = Vec::new();
        for (action, role) in actions.into_iter().zip(&roles.columns) {
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
            let is_empty_nan = role.missing == CsvMissing::Nan && roles.is_missing_text(b"");
            columns.push(Planned { action, usage, fast_path, missing: role.missing, is_empty_nan });
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
        let is_number =
            |column: usize| matches!(self.columns[column].action, Action::Number { .. } | Action::Numeral { .. });
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

/// Consecutive rows of columns of several types.
pub(super) struct ColumnSink<'t, 'p> {
    plan: &'p ColumnPlan<'p>,
    /// The columns of the table.
    cells: Vec<Cells<'t>>,
    row: usize,
    /// The evidence from the fields in the columns of the file.
    pub(super) evidence: Vec<Evidence>,
    /// The words of the columns of the file, if some of them are collected.
    pub(super) words: Vec<Categories>,
    /// The evidence from the current row, if that row may be skipped.
    pending: Vec<(usize, Evidence)>,
    /// The one-hot columns of the file written in the current row, if that row may be skipped.
    written: Vec<usize>,
}

impl<'t, 'p> ColumnSink<'t, 'p> {
    /// Writes into cells from their beginning. `evidence` is what earlier records have shown.
    pub(super) fn new(plan: &'p ColumnPlan<'p>, cells: Vec<Cells<'t>>, evidence: Vec<Evidence>) -> Self {
        let mut words = Vec::new();
        if plan.collects {
            words.resize_with(plan.columns.len(), Categories::default);
        }
        Self { plan, cells, row: 0, evidence, words, pending: Vec::new(), written: Vec::new() }
    }

    /// Adds a field to the evidence of its column.
    fn see(&mut self, column: usize, seen: Seen<'_>, place: u64, text: &[u8]) {
        if self.plan.may_skip {
            let mut evidence = Evidence::default();
            evidence.add(seen, place, text);
            self.pending.push((column, evidence));
        } else {
            self.evidence[column].add(seen, place, text);
        }
    }

    /// Finds the field at the beginning of the bytes. Returns its value and length, if it adds nothing to the evidence.
    #[inline(always)]
    pub(super) fn fast_value(&self, column: usize, bytes: &[u8], syntax: &Syntax) -> Option<(FastValue, usize)> {
        let (planned, evidence) = (&self.plan.columns[column], &self.evidence[column]);
        let (Action::Number { target } | Action::Time { target, .. } | Action::Category { target, .. }) =
            &planned.action
        else {
            return None;
        };
        let cells = &self.cells[*target];
        let found = match (planned.fast_path, &planned.action) {
            (FastPath::Never | FastPath::Stated, _) => None,
            _ if matches!(planned.usage, Use::Ignore | Use::Watch) => None,
            _ if planned.is_empty_nan && syntax.ends_field(bytes, 0) => {
                let is_float = planned.usage == Use::Examine && matches!(cells, Cells::F64(_));
                let is_known = evidence.has_gap() && (is_float || planned.usage == Use::Collect);
                is_known.then_some((FastValue::Nan, 0))
            }
            (FastPath::Guessed, _) => guessed(cells, bytes, evidence),
            (FastPath::Days, _) => days(cells, bytes),
            (FastPath::Word, Action::Category { categories, .. }) => return index(cells, bytes, syntax, categories),
            (FastPath::Word, _) => None,
            (FastPath::Collected, _) => return index(cells, bytes, syntax, &self.words[column]),
        };
        found.filter(|&(_, length)| syntax.ends_field(bytes, length))
    }

    /// Stores a field of a column whose type is guessed.
    fn examine(&mut self, column: usize, field: Field<'_>, place: u64) -> Result<bool, Reason> {
        let plan = self.plan;
        let Planned { action, missing: policy, .. } = &plan.columns[column];
        let is_number = matches!(action, Action::Number { .. } | Action::Numeral { .. });
        if plan.roles.is_undecided(column, &field) {
            return Err(Reason::Undecided);
        }
        if !plan.roles.is_missing(column, &field) {
            let numerals = &plan.roles.numerals;
            return match action {
                Action::Number { .. } => self.examine_number(column, field.number_text(), field, place),
                Action::Numeral { .. } => numerals
                    .read(field.number_text(), |plain| self.examine_number(column, plain, field, place))
                    .unwrap_or_else(|| Err(refused::<f64>(NumberRefusal::NotANumber, field, numerals))),
                Action::Time { unit, .. } => self.examine_time(column, *unit, field, place),
                _ => self.convert(column, field),
            };
        }
        match *policy {
            CsvMissing::Error => return Err(missing(plan.roles, field, column)),
            CsvMissing::SkipRow => return Ok(false),
            CsvMissing::Value(value) if is_number => {
                let text = value.to_string();
                return self.examine_number(column, text.as_bytes(), field, place);
            }
            CsvMissing::Value(value) if is_held_by_times(action, value) => {}
            CsvMissing::Nan | CsvMissing::Value(_) => self.see(column, Seen::Gap, place, field.text),
        }
        let value = if let CsvMissing::Value(value) = *policy { value } else { f64::NAN };
        self.note_written(column);
        let (row, cells) = (self.row, &mut self.cells[action.targets()]);
        match_element!(cells.first().map_or(ElementType::F64, Cells::element_type), T => {
            if let Some(value) = value_of::<T>(value, ConversionPolicy::Exact) {
                fill(cells, row, value);
            }
        });
        Ok(true)
    }

    /// Stores a number if the guessed type holds it.
    fn examine_number(&mut self, column: usize, text: &[u8], field: Field<'_>, place: u64) -> Result<bool, Reason> {
        let numerals = &self.plan.roles.numerals;
        let number =
            value::<f64>(text, self.plan.policy).map_err(|refusal| refused::<f64>(refusal, field, numerals))?;
        let whole = Whole::of(text);
        let row = self.row;
        for cells in &mut self.cells[self.plan.targets(column)] {
            match (cells, whole) {
                (Cells::I64(values), Some(whole)) => put(values, row, whole.as_i64().unwrap_or_default()),
                (Cells::U64(values), Some(whole)) => put(values, row, whole.as_u64().unwrap_or_default()),
                (Cells::F64(values), _) => put(values, row, number),
                _ => {}
            }
        }
        let shown =
            if numerals.is_plain() || self.plan.roles.is_missing(column, &field) { text } else { field.number_text() };
        self.see(column, whole.map_or(Seen::Real, Seen::Whole), place, shown);
        Ok(true)
    }

    /// Stores a time if the guessed type holds it.
    fn examine_time(&mut self, column: usize, unit: TimeUnit, field: Field<'_>, place: u64) -> Result<bool, Reason> {
        let count = unit.read(field.number_text())?;
        let row = self.row;
        for cells in &mut self.cells[self.plan.targets(column)] {
            match cells {
                Cells::I32(values) => put(values, row, i32::try_from(count).unwrap_or_default()), // days are in range
                Cells::I64(values) => put(values, row, count),
                Cells::F64(values) => put(values, row, count as f64),
                _ => {}
            }
        }
        if <f64 as Number>::loss(Exact::Integer(i128::from(count))) != Loss::None {
            self.see(column, Seen::Inexact, place, field.number_text());
        }
        Ok(true)
    }

    /// Stores the index of a word among those of the column in these rows. Fails at everything that needs a scan of the
    /// whole file: what looks like a number, one word too many, and what is not UTF-8.
    fn collect(&mut self, column: usize, field: Field<'_>, place: u64) -> Result<bool, Reason> {
        let (roles, row) = (self.plan.roles, self.row);
        let Planned { action, missing, .. } = &self.plan.columns[column];
        let index = match missing {
            _ if !roles.is_missing(column, &field) => collect(&mut self.words[column], roles, column, field.text)?,
            CsvMissing::Nan | CsvMissing::Value(_) => {
                self.see(column, Seen::Gap, place, field.text);
                NO_WORD
            }
            CsvMissing::Error | CsvMissing::SkipRow => return Err(Reason::Undecided),
        };
        if let Cells::U32(values) = &mut self.cells[action.targets().start] {
            put(values, row, index);
        }
        Ok(true)
    }

    /// Records that the cells of a one-hot column of the file are about to be written.
    fn note_written(&mut self, column: usize) {
        if self.plan.may_skip && matches!(self.plan.columns[column].action, Action::OneHot { .. }) {
            self.written.push(column);
        }
    }

    /// Stores a field as the type of its cells.
    fn convert(&mut self, column: usize, field: Field<'_>) -> Result<bool, Reason> {
        let (plan, row) = (self.plan, self.row);
        let Planned { action, missing, .. } = &plan.columns[column];
        self.note_written(column);
        let cells = &mut self.cells[action.targets()];
        let element = cells.first().map_or(ElementType::F64, Cells::element_type);
        match_element!(element, T => {
            let gap = match plan.roles.is_missing(column, &field) {
                true => gap::<T>(*missing).map_err(|error| Reason::from(error.to_string()))?, // the type holds it
                false => Gap::Error,
            };
            match convert::<T>(plan.roles, plan.policy, column, (action, gap), field)? {
                Cell::Value(value) => fill(cells, row, value),
                Cell::Hot(index) => fill(&mut cells[index..=index], row, T::nearest(Exact::Integer(1))), // among zeros
                Cell::Skip => return Ok(false),
            }
            Ok(true)
        })
    }
}

impl Sink for ColumnSink<'_, '_> {
    #[inline(always)]
    fn take(&mut self, column: usize, bytes: &[u8], syntax: &Syntax) -> Taken {
        let (planned, row) = (&self.plan.columns[column], self.row);
        match (planned.usage, planned.fast_path, &planned.action) {
            (Use::Ignore, ..) => Taken::Ignored,
            (Use::Convert | Use::Examine, FastPath::Stated, Action::Number { target }) => {
                self.cells[*target].take(row, bytes, syntax)
            }
            _ => match self.fast_value(column, bytes, syntax) {
                Some((value, length)) => {
                    value.put(&mut self.cells[planned.action.targets().start], row);
                    Taken::Stored(length)
                }
                None => Taken::Field,
            },
        }
    }

    fn store(&mut self, column: usize, field: Field<'_>, place: u64) -> Result<bool, Reason> {
        let planned = &self.plan.columns[column];
        match planned.usage {
            Use::Ignore => Ok(true),
            Use::Watch if self.plan.roles.is_undecided(column, &field) => Err(Reason::Undecided),
            Use::Watch => Ok(!self.plan.roles.is_missing(column, &field)),
            Use::Convert => self.convert(column, field),
            Use::Examine => self.examine(column, field, place),
            Use::Collect => self.collect(column, field, place),
        }
    }

    fn end_row(&mut self, is_kept: bool) {
        if self.plan.may_skip {
            for (column, evidence) in self.pending.drain(..).filter(|_| is_kept) {
                self.evidence[column].append(evidence);
            }
            for column in self.written.drain(..).filter(|_| !is_kept) {
                let cells = &mut self.cells[self.plan.columns[column].action.targets()];
                match_element!(cells.first().map_or(ElementType::F64, Cells::element_type), T => {
                    fill(cells, self.row, T::nearest(Exact::Integer(0)));
                });
            }
        }
        self.row += usize::from(is_kept);
    }
}

/// Returns whether the type of a column of times holds the number that replaces missing ones.
fn is_held_by_times(action: &Action, value: f64) -> bool {
    let Action::Time { unit, .. } = action else { return false };
    match_element!(unit.element_type(), T => T::loss(Exact::Float(value)) == Loss::None)
}
