//! The sink for columns of several element types: it stores values, marks missing ones, and notes what fields show
//! about the types that suit their columns.

use super::CsvMissing;
use super::categories::Categories;
use super::cells::{Cells, fill, put};
use super::collect::{NO_WORD, collect};
use super::evidence::{Evidence, Seen};
use super::failure::Reason;
use super::fast_path::{FastPath, FastValue, days, guessed, index};
use super::gaps::Gaps;
use super::parse::{Sink, Taken};
use super::plan::{ColumnPlan, Planned, Use};
use super::roles::{Action, Gap, gap};
use super::rows::{Cell, convert, missing, refused};
use super::syntax::{Field, Syntax};
use super::whole::Whole;
use crate::base::element::{ElementType, match_element};
use crate::base::number::{Exact, Loss, Number};
use crate::convert::ConversionPolicy;
use crate::dictionary::TimeUnit;
use crate::interop::text::number::{NumberRefusal, value, value_of};

/// Consecutive rows of columns of several types.
pub(super) struct ColumnSink<'t, 'p> {
    plan: &'p ColumnPlan<'p>,
    /// The columns of the table.
    cells: Vec<Cells<'t>>,
    row: usize,
    /// The evidence from the fields in the columns of the file.
    pub(super) evidence: Vec<Evidence>,
    /// The missing values of the columns of the file.
    pub(super) gaps: Vec<Gaps>,
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
        let rows = cells.iter().map(Cells::len).max().unwrap_or(0);
        let gaps = vec![Gaps::new(rows); plan.columns.len()];
        Self { plan, cells, row: 0, evidence, gaps, words, pending: Vec::new(), written: Vec::new() }
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
            _ if planned.is_empty_missing && syntax.ends_field(bytes, 0) => {
                if planned.missing == CsvMissing::Keep {
                    return evidence.has_missing().then_some((FastValue::Missing, 0));
                }
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

    /// Returns whether the bytes begin with an empty field that is a missing value, and not the first one of its
    /// column.
    fn is_known_missing(&self, column: usize, bytes: &[u8], syntax: &Syntax) -> bool {
        let Planned { missing, is_empty_missing, .. } = self.plan.columns[column];
        let is_kept = is_empty_missing && missing == CsvMissing::Keep && self.evidence[column].has_missing();
        is_kept && syntax.ends_field(bytes, 0)
    }

    /// Stores a field of a column whose type is guessed.
    fn examine(&mut self, column: usize, field: Field<'_>, place: u64) -> Result<bool, Reason> {
        let plan = self.plan;
        let Planned { action, missing: policy, .. } = &plan.columns[column];
        let is_number = action.is_number();
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
                _ => self.convert(column, field, place),
            };
        }
        match *policy {
            CsvMissing::Keep => return self.keep_missing(column, field, place),
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
            CsvMissing::Keep => return self.keep_missing(column, field, place),
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

    /// Marks the value of a field as missing.
    #[cold]
    fn keep_missing(&mut self, column: usize, field: Field<'_>, place: u64) -> Result<bool, Reason> {
        self.gaps[column].begin().map_err(|error| Reason::from(error.to_string()))?;
        self.see(column, Seen::Missing, place, field.text);
        self.mark(column);
        Ok(true)
    }

    /// Marks the value of a column in the current row as missing. Returns `false`, and does nothing, if that takes
    /// memory first.
    #[inline(always)]
    fn mark(&mut self, column: usize) -> bool {
        let plan = self.plan;
        let Planned { action, usage, .. } = &plan.columns[column];
        let is_marked = self.gaps[column].mark(self.row);
        if is_marked && (plan.may_skip || *usage == Use::Collect) {
            self.blank(action, *usage);
        }
        is_marked
    }

    /// Overwrites the cells of a missing value, which may hold the value of a skipped row.
    #[inline(never)]
    fn blank(&mut self, action: &Action, usage: Use) {
        let row = self.row;
        for cells in &mut self.cells[action.targets()] {
            match cells {
                Cells::U32(values) if usage == Use::Collect => put(values, row, NO_WORD),
                cells => match_element!(cells.element_type(), T => {
                    fill(std::slice::from_mut(cells), row, T::nearest(Exact::Integer(0)));
                }),
            }
        }
    }

    /// Stores a field as the type of its cells.
    fn convert(&mut self, column: usize, field: Field<'_>, place: u64) -> Result<bool, Reason> {
        let (plan, row) = (self.plan, self.row);
        let Planned { action, missing, .. } = &plan.columns[column];
        let is_kept = *missing == CsvMissing::Keep && !matches!(action, Action::Custom { .. });
        if is_kept && plan.roles.is_missing(column, &field) && !plan.roles.is_undecided(column, &field) {
            return self.keep_missing(column, field, place);
        }
        self.note_written(column);
        let cells = &mut self.cells[action.targets()];
        let element = cells.first().map_or(ElementType::F64, Cells::element_type);
        match_element!(element, T => {
            let gap = match plan.roles.is_missing(column, &field) {
                true => gap::<T>(*missing).map_err(|error| Reason::from(error.to_string()))?, // the type holds it
                false => Gap::Error,
            };
            match convert::<T>(plan.roles, plan.policy, column, (action, gap), field)? {
                Cell::Value(value) | Cell::Missing(value) => fill(cells, row, value),
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
                match self.cells[*target].take(row, bytes, syntax) {
                    Taken::Field if self.is_known_missing(column, bytes, syntax) && self.mark(column) => {
                        Taken::Stored(0)
                    }
                    taken => taken,
                }
            }
            _ => match self.fast_value(column, bytes, syntax) {
                Some((FastValue::Missing, length)) => {
                    if self.mark(column) {
                        Taken::Stored(length)
                    } else {
                        Taken::Field
                    }
                }
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
            Use::Convert => self.convert(column, field, place),
            Use::Examine => self.examine(column, field, place),
            Use::Collect => self.collect(column, field, place),
        }
    }

    fn end_row(&mut self, is_kept: bool) {
        if self.plan.may_skip {
            for (column, evidence) in self.pending.drain(..).filter(|_| is_kept) {
                self.evidence[column].append(evidence);
            }
            if !is_kept {
                self.gaps.iter_mut().for_each(|gaps| gaps.unmark(self.row));
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
