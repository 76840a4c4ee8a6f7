//! Conversion of records to rows of values.

use super::batches::Batches;
use super::failure::{Failure, Reason, foreign};
use super::number::{NumberRefusal, glance, value, value_of};
use super::roles::{Action, Gap, RowPlan, largest_index};
use super::syntax::{Field, Fit};
use super::{CsvSource, excerpt};
use crate::base::element::Element;
use crate::base::number::Exact;

/// A failure at a position in the current bytes.
struct Local {
    at: usize,
    column: Option<usize>,
    text: String,
    reason: Reason,
}

/// The progress of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    /// Number of rows written.
    pub(super) rows: usize,
    /// Number of bytes consumed, including blank lines after the last row.
    pub(super) bytes: usize,
}

/// Reads records according to a plan.
pub(super) struct RecordParser<'p, T> {
    source: &'p CsvSource,
    plan: &'p RowPlan<'p, T>,
    largest_index: usize,
    scratch: Vec<u8>,
    /// Position of the current bytes in the file.
    place: u64,
}

/// The outcome for a record, with the position of its end.
enum Record {
    /// Its row is written.
    Written(usize),
    /// It is left out.
    Skipped(usize),
}

impl<'p, T: Element> RecordParser<'p, T> {
    pub(super) fn new(source: &'p CsvSource, plan: &'p RowPlan<'p, T>) -> Self {
        Self { source, plan, largest_index: largest_index::<T>(), scratch: Vec::new(), place: 0 }
    }

    /// Reads whole records into at most `limit` rows, for which `rows` must have room. `place` is the position of the
    /// bytes in the file.
    ///
    /// # Errors
    /// The failure of the first record that does not fit the plan, and the progress before it.
    pub(super) fn parse(
        &mut self,
        bytes: &[u8],
        place: u64,
        rows: &mut [T],
        limit: usize,
    ) -> Result<Parsed, (Failure, Parsed)> {
        self.place = place;
        let width = self.plan.width;
        let mut parsed = Parsed { rows: 0, bytes: self.source.syntax.skip_blank(bytes, 0) };
        while parsed.rows < limit && parsed.bytes < bytes.len() {
            let row = &mut rows[parsed.rows * width..(parsed.rows + 1) * width];
            let end = match self.record(bytes, parsed.bytes, row) {
                Ok(Record::Written(end)) => {
                    parsed.rows += 1;
                    end
                }
                Ok(Record::Skipped(end)) => end,
                Err(Local { at, column, text, reason }) => {
                    return Err((Failure { place: place + at as u64, column, text, reason }, parsed));
                }
            };
            parsed.bytes = self.source.syntax.skip_blank(bytes, end);
        }
        Ok(parsed)
    }

    /// Reads one record. A number is parsed in place by [`glance`] if possible; in all other cases the field is
    /// extracted first.
    #[inline]
    fn record(&mut self, bytes: &[u8], start: usize, row: &mut [T]) -> Result<Record, Local> {
        let (plan, syntax) = (self.plan, &self.source.syntax);
        let mut at = start;
        let Some(last) = plan.columns.len().checked_sub(1) else { return Err(self.wrong_length(bytes, start)) };
        for (column, (action, _)) in plan.columns.iter().enumerate() {
            let end = match action {
                Action::Number { target } => match glance::<T>(&bytes[at..]) {
                    Some((value, length))
                        if self.ends_field(bytes, at + length) && !plan.missing_numbers.contains(&value) =>
                    {
                        row[*target] = value;
                        at + length
                    }
                    _ => match self.field(bytes, start, at, column, row)? {
                        Some(end) => end,
                        None => return self.skip(bytes, start),
                    },
                },
                Action::Ignore => match syntax.field_end(bytes, at) {
                    Some(end) => end,
                    None => return Err(unclosed(bytes, at, column)),
                },
                _ => match self.field(bytes, start, at, column, row)? {
                    Some(end) => end,
                    None => return self.skip(bytes, start),
                },
            };
            let goes_on = bytes.get(end) == Some(&syntax.delimiter);
            let end = match column < last {
                false if goes_on || syntax.is_trailing => self.trailing_end(bytes, start, end)?,
                is_inner if is_inner != goes_on => return Err(self.wrong_length(bytes, start)),
                _ => end,
            };
            at = end + 1;
        }
        Ok(Record::Written(at.min(bytes.len())))
    }

    #[inline(always)]
    fn ends_field(&self, bytes: &[u8], at: usize) -> bool {
        match bytes.get(at) {
            Some(&byte) => byte == self.source.syntax.delimiter || byte == b'\n' || byte == b'\r',
            None => true,
        }
    }

    /// Returns the end of a record whose last field ends at `end`, before a delimiter or a line end.
    fn trailing_end(&self, bytes: &[u8], start: usize, end: usize) -> Result<usize, Local> {
        let syntax = &self.source.syntax;
        let end = match bytes.get(end) == Some(&syntax.delimiter) {
            true if syntax.is_trailing => syntax.trailing_end(bytes, end),
            true => None,
            false => self.is_last(end).then_some(end),
        };
        end.ok_or_else(|| self.wrong_length(bytes, start))
    }

    /// Returns whether no record follows the one that ends at a position; `false` if the file cannot be read.
    #[cold]
    fn is_last(&self, end: usize) -> bool {
        let CsvSource { input, syntax, step, .. } = self.source;
        let mut rest = Batches::new(self.place + end as u64);
        matches!(rest.go_to_record(syntax, input, *step), Ok(false))
    }

    /// Compares a record with the columns, like [`Syntax::fit`](super::syntax::Syntax::fit). Only the last record of
    /// the file may lack the delimiter at its end.
    fn fit(&self, bytes: &[u8], start: usize, ends: &mut Vec<usize>) -> Fit {
        match self.source.syntax.fit(bytes, start, self.plan.columns.len(), ends) {
            Fit::NotTrailing(end) if self.is_last(end) => Fit::Right(end),
            Fit::NotTrailing(_) => Fit::Wrong,
            fit => fit,
        }
    }

    /// Skips a record, if it has the right number of fields.
    #[cold]
    fn skip(&self, bytes: &[u8], start: usize) -> Result<Record, Local> {
        let mut ends = Vec::new();
        match self.fit(bytes, start, &mut ends) {
            Fit::Right(end) => Ok(Record::Skipped(end)),
            Fit::Unclosed(at) => Err(unclosed(bytes, at, ends.len())),
            Fit::Wrong | Fit::NotTrailing(_) => Err(self.wrong_length(bytes, start)),
        }
    }

    /// Decides about a record with an invalid field: returns `None` if it is left out.
    #[cold]
    fn refuse(&self, bytes: &[u8], start: usize, refusal: Local) -> Result<Option<usize>, Local> {
        let (roles, mut ends) = (self.plan.roles, Vec::new());
        match self.fit(bytes, start, &mut ends) {
            // An invalid field does not matter if the row is left out because of another field.
            Fit::Right(_)
                if self.plan.may_skip && roles.skips(&self.source.syntax, bytes, start, &ends, &mut Vec::new()) =>
            {
                Ok(None)
            }
            // With a wrong number of fields, they are in the wrong columns.
            Fit::Wrong => Err(self.wrong_length(bytes, start)),
            _ => Err(refusal),
        }
    }

    /// Reads one field. Returns its end; `None` if the whole record is to be left out.
    #[inline(never)]
    fn field(
        &mut self,
        bytes: &[u8],
        start: usize,
        at: usize,
        column: usize,
        row: &mut [T],
    ) -> Result<Option<usize>, Local> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let field = self.source.syntax.field(bytes, at, &mut scratch);
        let result = if field.is_closed { self.store(field, column, row) } else { Ok(true) };
        let result = match result {
            _ if !field.is_closed => Err(unclosed(bytes, at, column)),
            Ok(true) => Ok(Some(field.end)),
            Ok(false) => Ok(None),
            Err(reason) => {
                let refusal = Local { at, column: Some(column), text: excerpt(field.text), reason };
                self.refuse(bytes, start, refusal)
            }
        };
        self.scratch = scratch;
        result
    }

    /// Converts and stores a field. Returns whether the row is kept.
    fn store(&self, field: Field<'_>, column: usize, row: &mut [T]) -> Result<bool, Reason> {
        let (action, gap) = &self.plan.columns[column];
        let policy = self.source.options.policy;
        if let Action::Custom { target, convert } = action {
            let text = std::str::from_utf8(field.text).map_err(|_| NOT_UTF8)?;
            let number = convert(text).map_err(|reason| foreign(&reason))?;
            row[*target] =
                value_of(number, policy).ok_or_else(|| format!("became {number}, which {} does not hold", T::TYPE))?;
            return Ok(true);
        }
        let targets = match action {
            Action::Number { target } | Action::Category { target, .. } => *target..*target + 1,
            Action::OneHot { target, categories } => *target..*target + categories.names.len(),
            Action::Ignore | Action::Custom { .. } => return Ok(true),
        };
        if self.plan.roles.is_missing(field.text) {
            return match gap {
                Gap::Value(value) => {
                    row[targets].fill(*value);
                    Ok(true)
                }
                Gap::Skip => Ok(false),
                Gap::Error => Err(self.missing(field, column)),
                Gap::NoNan => Err(format!("is missing, and {} has no NaN", T::TYPE).into()),
            };
        }
        match action {
            Action::Number { target } => {
                row[*target] = value(field.number_text(), policy).map_err(|refusal| match refusal {
                    NumberRefusal::NotANumber => Reason::not_a_number(field.number_text()),
                    NumberRefusal::NotRepresentable => format!("is not representable as {}", T::TYPE).into(),
                })?;
            }
            Action::Category { target, categories } => match categories.indices.get(field.text) {
                Some(&index) if index <= self.largest_index => row[*target] = T::nearest(Exact::Integer(index as i128)),
                Some(index) => {
                    return Err(format!("is category {index}, an index that {} does not hold", T::TYPE).into());
                }
                None => return Err(unknown(field.text)),
            },
            Action::OneHot { categories, .. } => match categories.indices.get(field.text) {
                Some(&index) => {
                    let row = &mut row[targets];
                    row.fill(T::nearest(Exact::Integer(0)));
                    row[index] = T::nearest(Exact::Integer(1));
                }
                None => return Err(unknown(field.text)),
            },
            Action::Ignore | Action::Custom { .. } => {}
        }
        Ok(true)
    }

    /// Returns the reason for a missing value. In the last column, there may just be a trailing delimiter.
    #[cold]
    fn missing(&self, field: Field<'_>, column: usize) -> Reason {
        const REASON: &str = "is missing, and nothing is said about what to do then";
        let columns = &self.plan.roles.columns;
        let may_trail = column > 0 && column + 1 == columns.len() && columns[column].name.is_none();
        match may_trail && !field.is_quoted && field.text.is_empty() {
            true => format!("{REASON}; if all lines end in a delimiter, CsvOptions::trailing_delimiter can ignore it")
                .into(),
            false => REASON.into(),
        }
    }

    #[cold]
    fn wrong_length(&self, bytes: &[u8], start: usize) -> Local {
        let (syntax, expected) = (&self.source.syntax, self.plan.columns.len());
        let (found, is_last_empty) = syntax.count_fields(bytes, start);
        let fields = if found == 1 { "1 field".to_owned() } else { format!("{found} fields") };
        let reason = match (syntax.is_trailing, found == expected + 1) {
            (true, _) if found == expected => {
                format!("has {fields} and no delimiter at the end, which only the last line may lack")
            }
            (true, true) => format!(
                "has {fields}, not {expected} and a delimiter at the end: CsvOptions::trailing_delimiter can make a column \
                 of what follows that"
            ),
            (false, true) if is_last_empty => format!(
                "has {fields}, not {expected}; the last is empty: CsvOptions::trailing_delimiter can ignore it on all lines"
            ),
            _ => format!("has {fields}, not {expected}"),
        };
        let length = memchr::memchr2(b'\n', b'\r', &bytes[start..]).unwrap_or(bytes.len() - start);
        Local { at: start, column: None, text: excerpt(&bytes[start..start + length]), reason: reason.into() }
    }
}

const NOT_UTF8: &str = "is not UTF-8";

#[cold]
fn unknown(word: &[u8]) -> Reason {
    if std::str::from_utf8(word).is_ok() { "is none of the categories" } else { NOT_UTF8 }.into()
}

#[cold]
fn unclosed(bytes: &[u8], at: usize, column: usize) -> Local {
    let reason = "begins with a quote that is not closed".into();
    Local { at, column: Some(column), text: excerpt(&bytes[at..]), reason }
}
