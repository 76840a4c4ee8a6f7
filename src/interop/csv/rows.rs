//! Conversion of fields to values, and rows of values of one type.

use std::ops::Range;

use super::failure::{Reason, foreign};
use super::parse::{Sink, Taken};
use super::roles::{Action, Gap, Roles, RowPlan, largest_index};
use super::syntax::{Field, Syntax};
use crate::base::element::Element;
use crate::base::error::Hint;
use crate::base::number::{Exact, Loss};
use crate::convert::ConversionPolicy;
use crate::interop::text::number::{NumberRefusal, fast_number, value, value_of};
use crate::interop::text::numerals::Numerals;

/// The values of a field, in the table columns of its file column.
pub(super) enum Cell<T> {
    /// The same value in all of them.
    Value(T),
    /// 1 in the column with this index, and 0 in the others.
    Hot(usize),
    /// The value that replaces a missing one, in all of them.
    Missing(T),
    /// No value: the row is skipped.
    Skip,
}

/// Converts the field of a column that is examined.
pub(super) fn convert<T: Element>(
    roles: &Roles,
    policy: ConversionPolicy,
    column: usize,
    (action, gap): (&Action, Gap<T>),
    field: Field<'_>,
) -> Result<Cell<T>, Reason> {
    if let Action::Custom { convert, .. } = action {
        let text = std::str::from_utf8(field.text).map_err(|_| NOT_UTF8)?;
        let number = convert(text).map_err(|reason| foreign(&reason))?;
        let value = value_of(number, policy);
        return Ok(Cell::Value(value.ok_or_else(|| format!("became {number}, which {} does not hold", T::TYPE))?));
    }
    if roles.is_undecided(column, &field) {
        return Err(Reason::Undecided);
    }
    if roles.is_missing(column, &field) {
        return match gap {
            Gap::Value(value) => Ok(Cell::Missing(value)),
            Gap::Skip => Ok(Cell::Skip),
            Gap::Error => Err(missing(roles, field, column)),
            Gap::NoNan => Err(format!("is missing, and {} has no NaN", T::TYPE).into()),
        };
    }
    match action {
        Action::Category { categories, .. } => match categories.index_of(field.text) {
            Some(index) if index <= largest_index::<T>() => Ok(Cell::Value(T::nearest(Exact::Integer(index as i128)))),
            Some(index) => Err(format!("is category {index}, an index that {} does not hold", T::TYPE).into()),
            None => Err(unknown(field.text)),
        },
        Action::OneHot { categories, .. } => {
            categories.index_of(field.text).map(Cell::Hot).ok_or_else(|| unknown(field.text))
        }
        Action::Time { unit, .. } => match Exact::Integer(i128::from(unit.read(field.number_text())?)) {
            number if T::loss(number) == Loss::None => Ok(Cell::Value(T::nearest(number))),
            number => Err(inexact::<T>(number)),
        },
        _ => {
            let numerals = &roles.numerals;
            let value = numerals.read(field.number_text(), |plain| value(plain, policy));
            let value = value.unwrap_or(Err(NumberRefusal::NotANumber));
            value.map(Cell::Value).map_err(|refusal| refused::<T>(refusal, field, numerals))
        }
    }
}

#[cold]
fn inexact<T: Element>(number: Exact) -> Reason {
    let Exact::Integer(number) = number else { return Reason::Word };
    format!("is {number} since 1970, which {} does not hold exactly", T::TYPE).into()
}

/// Returns the reason why a string is not a number of a type.
#[cold]
pub(super) fn refused<T: Element>(refusal: NumberRefusal, field: Field<'_>, numerals: &Numerals) -> Reason {
    match refusal {
        NumberRefusal::NotANumber => Reason::not_a_number(field.number_text(), numerals),
        NumberRefusal::NotRepresentable => format!("is not representable as {}", T::TYPE).into(),
    }
}

/// Returns the reason for a missing value. In the last column, it may only be a trailing delimiter.
#[cold]
pub(super) fn missing(roles: &Roles, field: Field<'_>, column: usize) -> Reason {
    let decide = Hint::new("CsvOptions::missing", "sets how missing values are treated");
    let columns = &roles.columns;
    let may_trail = column > 0 && column + 1 == columns.len() && columns[column].name.is_none();
    match may_trail && !field.is_quoted && field.text.is_empty() {
        true => {
            let ignore = Hint::new("CsvOptions::trailing_delimiter", "can ignore a delimiter at the end of every line");
            Reason::advised("is missing", [decide, ignore])
        }
        false => Reason::advised("is missing", [decide]),
    }
}

const NOT_UTF8: &str = "is not UTF-8";

#[cold]
fn unknown(word: &[u8]) -> Reason {
    if std::str::from_utf8(word).is_ok() { "is not one of the categories" } else { NOT_UTF8 }.into()
}

/// Consecutive rows of values of one type.
pub(super) struct RowSink<'t, 'p, T> {
    plan: &'p RowPlan<'p, T>,
    policy: ConversionPolicy,
    rows: &'t mut [T],
    /// Where the current row begins.
    at: usize,
    /// Number of missing values of each column of the table, if there are any.
    pub(super) missing: Vec<usize>,
    /// The columns with missing values in the current row.
    pending: Vec<Range<usize>>,
}

impl<'t, 'p, T: Element> RowSink<'t, 'p, T> {
    /// Writes rows from the beginning of `rows`, which must have room for all rows that are kept.
    pub(super) fn new(plan: &'p RowPlan<'p, T>, policy: ConversionPolicy, rows: &'t mut [T]) -> Self {
        Self { plan, policy, rows, at: 0, missing: Vec::new(), pending: Vec::new() }
    }
}

impl<T: Element> Sink for RowSink<'_, '_, T> {
    #[inline(always)]
    fn take(&mut self, column: usize, bytes: &[u8], syntax: &Syntax) -> Taken {
        match &self.plan.columns[column].0 {
            Action::Number { target } => match fast_number::<T>(bytes) {
                Some((value, length))
                    if syntax.ends_field(bytes, length) && !self.plan.missing_numbers.contains(&value) =>
                {
                    self.rows[self.at + target] = value;
                    Taken::Stored(length)
                }
                _ => Taken::Field,
            },
            Action::Category { target, categories, are_plain: true } => match syntax.fast_word(bytes, categories) {
                Some((index, length)) if index <= largest_index::<T>() => {
                    self.rows[self.at + target] = T::nearest(Exact::Integer(index as i128));
                    Taken::Stored(length)
                }
                _ => Taken::Field,
            },
            Action::Ignore => Taken::Ignored,
            _ => Taken::Field,
        }
    }

    fn store(&mut self, column: usize, field: Field<'_>, _: u64) -> Result<bool, Reason> {
        let (action, gap) = &self.plan.columns[column];
        let targets = action.targets();
        let cell = convert(self.plan.roles, self.policy, column, (action, *gap), field)?;
        let row = &mut self.rows[self.at + targets.start..self.at + targets.end];
        match cell {
            Cell::Value(value) => row.fill(value),
            Cell::Missing(value) => {
                row.fill(value);
                self.pending.push(targets);
            }
            Cell::Hot(index) => {
                row.fill(T::nearest(Exact::Integer(0)));
                row[index] = T::nearest(Exact::Integer(1));
            }
            Cell::Skip => return Ok(false),
        }
        Ok(true)
    }

    fn end_row(&mut self, is_kept: bool) {
        if !self.pending.is_empty() {
            self.missing.resize(self.plan.width, 0);
            for columns in self.pending.drain(..).filter(|_| is_kept) {
                self.missing[columns].iter_mut().for_each(|count| *count += 1);
            }
        }
        if is_kept {
            self.at += self.plan.width;
        }
    }
}
