//! Traversal of records and delivery of their fields to a sink: `rows` has the sink for rows of one type, `cells` the
//! one for columns of several types.

use super::CsvSource;
use super::batches::Batches;
use super::failure::{Failure, Reason};
use super::roles::{Roles, Skips};
use super::syntax::{Field, Fit, Syntax};
use crate::base::error::Hint;
use crate::base::text::excerpt;

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

/// The destination of the fields' values.
pub(super) trait Sink {
    /// Stores the value at the beginning of the bytes if it is a whole field and the fast path can parse it.
    fn take(&mut self, column: usize, bytes: &[u8], syntax: &Syntax) -> Taken;
    /// Converts and stores the field at a position in the file. Returns whether its row is kept.
    fn store(&mut self, column: usize, field: Field<'_>, place: u64) -> Result<bool, Reason>;
    /// Ends a row. A row that is not kept is skipped, as if it were not in the file.
    fn end_row(&mut self, is_kept: bool);
}

/// The result of [`Sink::take`].
pub(super) enum Taken {
    /// Its value is stored. It has this number of bytes.
    Stored(usize),
    /// It is not examined.
    Ignored,
    /// Nothing was done: the field must be extracted first.
    Field,
}

/// Reads records whose fields have roles.
pub(super) struct RecordParser<'p> {
    source: &'p CsvSource,
    roles: &'p Roles,
    may_skip: bool,
    scratch: Vec<u8>,
    /// Position of the current bytes in the file.
    place: u64,
}

/// The outcome for a record, with the position of its end.
enum Record {
    /// Its row is written.
    Written(usize),
    /// It is skipped.
    Skipped(usize),
}

impl<'p> RecordParser<'p> {
    /// `may_skip` is [`Roles::may_skip`].
    pub(super) fn new(source: &'p CsvSource, roles: &'p Roles, may_skip: bool) -> Self {
        Self { source, roles, may_skip, scratch: Vec::new(), place: 0 }
    }

    /// Reads complete records until `limit` rows have been kept. `place` is the position of the bytes in the file.
    ///
    /// # Errors
    /// The failure of the first record that does not fit the roles, and the progress before it.
    pub(super) fn parse<S: Sink>(
        &mut self,
        bytes: &[u8],
        place: u64,
        sink: &mut S,
        limit: usize,
    ) -> Result<Parsed, (Failure, Parsed)> {
        self.place = place;
        let mut parsed = Parsed { rows: 0, bytes: self.source.syntax.skip_blank(bytes, 0) };
        while parsed.rows < limit && parsed.bytes < bytes.len() {
            let end = match self.record(bytes, parsed.bytes, sink) {
                Ok(Record::Written(end)) => {
                    sink.end_row(true);
                    parsed.rows += 1;
                    end
                }
                Ok(Record::Skipped(end)) => {
                    sink.end_row(false);
                    end
                }
                Err(Local { at, column, text, reason }) => {
                    return Err((Failure { place: place + at as u64, column, text, reason }, parsed));
                }
            };
            parsed.bytes = self.source.syntax.skip_blank(bytes, end);
        }
        Ok(parsed)
    }

    /// Reads one record. Parses numbers in place if possible; extracts all other fields first.
    #[inline]
    fn record<S: Sink>(&mut self, bytes: &[u8], start: usize, sink: &mut S) -> Result<Record, Local> {
        let (syntax, columns) = (&self.source.syntax, self.roles.columns.len());
        let mut at = start;
        let Some(last) = columns.checked_sub(1) else { return Err(self.wrong_length(bytes, start)) };
        for column in 0..columns {
            let end = match sink.take(column, &bytes[at..], syntax) {
                Taken::Stored(length) => at + length,
                Taken::Ignored => match syntax.field_end(bytes, at) {
                    Some(end) => end,
                    None => return Err(unclosed(bytes, at, column)),
                },
                Taken::Field => match self.field(bytes, start, at, column, sink)? {
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
        let end = at - 1;
        if syntax.is_comment(bytes, end) {
            return Ok(Record::Written(end)); // the comment is skipped like one at the beginning of a line
        }
        Ok(Record::Written(at.min(bytes.len())))
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

    /// Returns whether the record that ends at a position is the last one; `false` if the file cannot be read.
    #[cold]
    fn is_last(&self, end: usize) -> bool {
        let CsvSource { input, syntax, step, .. } = self.source;
        let mut rest = Batches::new(self.place + end as u64);
        matches!(rest.go_to_record(syntax, input, *step), Ok(false))
    }

    /// Compares a record with the columns, like [`Syntax::fit`](super::syntax::Syntax::fit). Only the last record of
    /// the file may lack the delimiter at its end.
    fn fit(&self, bytes: &[u8], start: usize, ends: &mut Vec<usize>) -> Fit {
        match self.source.syntax.fit(bytes, start, self.roles.columns.len(), ends) {
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

    /// Decides about a record with an invalid field: returns `None` if the record is skipped.
    #[cold]
    fn refuse(&self, bytes: &[u8], start: usize, refusal: Local) -> Result<Option<usize>, Local> {
        let (roles, mut ends) = (self.roles, Vec::new());
        match self.fit(bytes, start, &mut ends) {
            // An invalid field does not matter if the row is skipped because of another field.
            Fit::Right(_) if self.may_skip => {
                match roles.skips(&self.source.syntax, bytes, start, &ends, &mut Vec::new()) {
                    Skips::Yes => Ok(None),
                    Skips::Undecided => Err(Local { reason: Reason::Undecided, ..refusal }),
                    Skips::No => Err(refusal),
                }
            }
            // With a wrong number of fields, they are in the wrong columns.
            Fit::Wrong => Err(self.wrong_length(bytes, start)),
            _ => Err(refusal),
        }
    }

    /// Reads one field. Returns its end; `None` if the whole record is skipped.
    #[inline(never)]
    fn field<S: Sink>(
        &mut self,
        bytes: &[u8],
        start: usize,
        at: usize,
        column: usize,
        sink: &mut S,
    ) -> Result<Option<usize>, Local> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let field = self.source.syntax.field(bytes, at, &mut scratch);
        let place = self.place + at as u64;
        let result = if field.is_closed { sink.store(column, field, place) } else { Ok(true) };
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

    #[cold]
    fn wrong_length(&self, bytes: &[u8], start: usize) -> Local {
        let (syntax, expected) = (&self.source.syntax, self.roles.columns.len());
        let (found, is_last_empty) = syntax.count_fields(bytes, start);
        let fields = if found == 1 { "1 field".to_owned() } else { format!("{found} fields") };
        let reason = match (syntax.is_trailing, found == expected + 1) {
            (true, _) if found == expected => {
                format!("has {fields} and no delimiter at the end, which only the last line may omit").into()
            }
            (true, true) => Reason::advised(
                format!("has {fields} instead of {expected} and a delimiter at the end"),
                [Hint::new("CsvOptions::trailing_delimiter", "can make the text after it a column")],
            ),
            (false, true) if is_last_empty => Reason::advised(
                format!("has {fields}, not {expected}; the last is empty"),
                [Hint::new("CsvOptions::trailing_delimiter", "can ignore it on every line")],
            ),
            _ => format!("has {fields}, not {expected}").into(),
        };
        let length = memchr::memchr2(b'\n', b'\r', &bytes[start..]).unwrap_or(bytes.len() - start);
        Local { at: start, column: None, text: excerpt(&bytes[start..start + length]), reason }
    }
}

#[cold]
fn unclosed(bytes: &[u8], at: usize, column: usize) -> Local {
    let reason = "begins with a quote that is not closed".into();
    Local { at, column: Some(column), text: excerpt(&bytes[at..]), reason }
}
