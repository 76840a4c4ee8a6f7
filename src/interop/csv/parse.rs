//! From records to rows of values.

use super::excerpt;
use super::number::{Refusal, glance, value, value_of};
use super::roles::{Action, Gap, Plan, largest_index};
use super::syntax::{Field, Syntax};
use crate::convert::ConversionPolicy;
use crate::convert::rule::Exact;
use crate::element::Element;

/// What is wrong where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// The byte of the file.
    pub(super) place: u64,
    /// The column of the file, if it is one.
    pub(super) column: Option<usize>,
    pub(super) text: String,
    pub(super) reason: String,
}

/// A failure inside of the bytes at hand.
struct Local {
    at: usize,
    column: Option<usize>,
    text: String,
    reason: String,
}

/// How far the parser has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    /// Rows that have been written.
    pub(super) rows: usize,
    /// Bytes that have been used up, blank lines behind the last row included.
    pub(super) bytes: usize,
}

/// Reads records as a plan says.
pub(super) struct Parser<'p, T> {
    syntax: &'p Syntax,
    plan: &'p Plan<'p, T>,
    policy: ConversionPolicy,
    largest_index: usize,
    scratch: Vec<u8>,
}

/// What became of a record.
enum Record {
    /// It ends here, and its row is written.
    Written(usize),
    /// It ends here, and is left out.
    Skipped(usize),
}

impl<'p, T: Element> Parser<'p, T> {
    pub(super) fn new(syntax: &'p Syntax, plan: &'p Plan<'p, T>, policy: ConversionPolicy) -> Self {
        Self { syntax, plan, policy, largest_index: largest_index::<T>(), scratch: Vec::new() }
    }

    /// Reads whole records into rows, `limit` rows at most, for which there is room. `place` is where the bytes lie in the
    /// file.
    ///
    /// # Errors
    /// The first record that is not what the plan needs, and how far everything in front of it got.
    pub(super) fn parse(
        &mut self,
        bytes: &[u8],
        place: u64,
        rows: &mut [T],
        limit: usize,
    ) -> Result<Parsed, (Failure, Parsed)> {
        let width = self.plan.width;
        let mut parsed = Parsed { rows: 0, bytes: self.syntax.skip_blank(bytes, 0) };
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
            parsed.bytes = self.syntax.skip_blank(bytes, end);
        }
        Ok(parsed)
    }

    /// Reads one record. A column of numbers is read where it lies, if a glance is enough; all else takes a field apart first.
    #[inline]
    fn record(&mut self, bytes: &[u8], start: usize, row: &mut [T]) -> Result<Record, Local> {
        let (plan, syntax) = (self.plan, self.syntax);
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
                        None => return self.skip(bytes, start, at),
                    },
                },
                Action::Ignore => match syntax.field_end(bytes, at) {
                    Some(end) => end,
                    None => return Err(unclosed(bytes, at, column)),
                },
                _ => match self.field(bytes, start, at, column, row)? {
                    Some(end) => end,
                    None => return self.skip(bytes, start, at),
                },
            };
            if (column < last) != (bytes.get(end) == Some(&syntax.delimiter)) {
                return Err(self.wrong_length(bytes, start));
            }
            at = end + 1;
        }
        Ok(Record::Written(at.min(bytes.len())))
    }

    #[inline(always)]
    fn ends_field(&self, bytes: &[u8], at: usize) -> bool {
        match bytes.get(at) {
            Some(&byte) => byte == self.syntax.delimiter || byte == b'\n' || byte == b'\r',
            None => true,
        }
    }

    /// Leaves a record out, if it has the right number of fields.
    #[cold]
    fn skip(&mut self, bytes: &[u8], start: usize, at: usize) -> Result<Record, Local> {
        let mut at = at;
        while let Some(end) = self.syntax.field_end(bytes, at) {
            if bytes.get(end) != Some(&self.syntax.delimiter) {
                let is_right = self.syntax.count_fields(bytes, start) == self.plan.columns.len();
                return if is_right { Ok(Record::Skipped(end)) } else { Err(self.wrong_length(bytes, start)) };
            }
            at = end + 1;
        }
        Err(unclosed(bytes, at, self.plan.columns.len().saturating_sub(1)))
    }

    /// Reads one field. Gives where it ends; `None` if the whole record is to be left out.
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
        let field = self.syntax.field(bytes, at, &mut scratch);
        let (end, is_closed) = (field.end, field.is_closed);
        let result = if is_closed { self.store(field, column, row) } else { Ok(true) };
        let result = match result {
            _ if !is_closed => Err(unclosed(bytes, at, column)),
            Ok(true) => Ok(Some(end)),
            Ok(false) => Ok(None),
            Err(reason) => {
                let text = excerpt(field.text);
                // What is wrong with a row does not matter if it is left out for another reason.
                let is_skipped =
                    self.plan.may_skip && self.plan.roles.skips(self.syntax, bytes, start, &mut Vec::new());
                if is_skipped { Ok(None) } else { Err(Local { at, column: Some(column), text, reason }) }
            }
        };
        self.scratch = scratch;
        result
    }

    /// Stores what becomes of a field. Gives whether the row stays.
    fn store(&self, field: Field<'_>, column: usize, row: &mut [T]) -> Result<bool, String> {
        let (action, gap) = &self.plan.columns[column];
        if let Action::Custom { target, convert } = action {
            let text = std::str::from_utf8(field.text).map_err(|_| NOT_UTF8.to_owned())?;
            let number = convert(text)?;
            row[*target] = value_of(number, self.policy)
                .ok_or_else(|| format!("became {number}, which {} does not hold", T::TYPE))?;
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
                Gap::Error => Err("is missing, and nothing is said about what to do then".to_owned()),
                Gap::NoNan => Err(format!("is missing, and {} has no NaN", T::TYPE)),
            };
        }
        match action {
            Action::Number { target } => {
                row[*target] = value(field.number_text(), self.policy).map_err(|refusal| match refusal {
                    Refusal::NotANumber => "is not a number".to_owned(),
                    Refusal::NotRepresentable => format!("is not representable as {}", T::TYPE),
                })?;
            }
            Action::Category { target, categories } => match categories.indices.get(field.text) {
                Some(&index) if index <= self.largest_index => row[*target] = T::nearest(Exact::Integer(index as i128)),
                Some(index) => return Err(format!("is category {index}, an index that {} does not hold", T::TYPE)),
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

    #[cold]
    fn wrong_length(&self, bytes: &[u8], start: usize) -> Local {
        let (found, expected) = (self.syntax.count_fields(bytes, start), self.plan.columns.len());
        let length = memchr::memchr2(b'\n', b'\r', &bytes[start..]).unwrap_or(bytes.len() - start);
        let fields = if found == 1 { "1 field".to_owned() } else { format!("{found} fields") };
        let reason = format!("has {fields}, not {expected}");
        Local { at: start, column: None, text: excerpt(&bytes[start..start + length]), reason }
    }
}

const NOT_UTF8: &str = "is not UTF-8";

#[cold]
fn unknown(word: &[u8]) -> String {
    let reason = if std::str::from_utf8(word).is_ok() { "is none of the categories" } else { NOT_UTF8 };
    reason.to_owned()
}

#[cold]
fn unclosed(bytes: &[u8], at: usize, column: usize) -> Local {
    let reason = "begins with a quote that is not closed".to_owned();
    Local { at, column: Some(column), text: excerpt(&bytes[at..]), reason }
}
