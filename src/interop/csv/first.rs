//! Conclusions from the first records of a file: the names of the columns, whether lines end in a delimiter, and the
//! likely kinds of columns.

use super::batches::Batches;
use super::describe::{Findings, RecordBytes};
use super::failure::Failure;
use super::input::Input;
use super::roles::Roles;
use super::sample;
use super::survey::Survey;
use super::syntax::Syntax;
use super::{CsvColumnKind, CsvOptions, CsvSample, SAMPLE};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::text::excerpt;
use crate::interop::text::moment::Moment;

/// Whether the first record of a CSV file holds the names of the columns.
///
/// # Examples
/// ```
/// use numeric_table::{csv::{CsvHeader, CsvOptions, CsvSource}, prelude::*};
/// let rows = |text: &'static [u8], header| -> Result<usize, Error> {
///     Ok(CsvSource::from_bytes_with(text, CsvOptions::new().header(header))?.load::<f64>()?.row_count())
/// };
/// assert_eq!(rows(b"2023,2024\n1,2\n", CsvHeader::Automatic)?, 2); // numbers are not names,
/// assert_eq!(rows(b"2023,2024\n1,2\n", CsvHeader::Yes)?, 1); // unless the caller says so
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvHeader {
    /// It does if none of its fields is a number, looks like one (such as `1,5` between semicolons), or is a date in a
    /// column of [dates](CsvColumnKind::Time) that the options set by its index.
    #[default]
    Automatic,
    /// It does.
    Yes,
    /// It does not: it is a row like the others.
    No,
}

/// Whether the lines of a CSV file end in a delimiter without a field after it.
///
/// # Examples
/// ```
/// use numeric_table::{csv::{CsvOptions, CsvSource, CsvTrailing}, prelude::*};
/// let columns = |text: &'static [u8], trailing| -> Result<usize, Error> {
///     let options = CsvOptions::new().missing(numeric_table::csv::CsvMissing::Nan).trailing_delimiter(trailing);
///     Ok(CsvSource::from_bytes_with(text, options)?.load::<f64>()?.column_count())
/// };
/// assert_eq!(columns(b"a,b,\n1,2,\n", CsvTrailing::Automatic)?, 2); // the header shows it,
/// assert_eq!(columns(b"a,b\n1,2,\n", CsvTrailing::Yes)?, 2); // or the caller says so
/// assert_eq!(columns(b"a,b,\n1,2,\n", CsvTrailing::No)?, 3); // a column without a name, of missing values
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvTrailing {
    /// They do if the header does, and the first row has nothing after its last delimiter either. Without a header,
    /// they do not.
    #[default]
    Automatic,
    /// They do. The header and the last line need not. Any other line without a delimiter at the end, or with anything
    /// but spaces after it, is an error.
    Yes,
    /// They do not: the text after the last delimiter is a field, which may be missing.
    No,
}

/// Conclusions from the first records.
pub(super) struct Beginning {
    pub(super) syntax: Syntax,
    /// Position of the first row.
    pub(super) start: u64,
    /// The known or guessed properties of the columns.
    pub(super) guess: Roles,
    /// The positions where the file can be divided, if they were needed.
    pub(super) survey: Option<Survey>,
}

/// Examines the first records, or the rows that the options select.
pub(super) fn look_at_first(input: &Input, options: &CsvOptions, step: usize) -> Result<Beginning> {
    let mut syntax = options.syntax()?;
    let mut start = skip_mark(input)?;
    let mut batches = Batches::new(start);
    syntax.skips_spaces = true; // before a header, and until the number of columns is known
    let mut first = First::default();
    if batches.go_to_record(&syntax, input, step)? {
        let place = batches.place();
        let found = First::read(&syntax, batches.bytes(input), options);
        first = found.map_err(|failure| Failure { place: place + failure.place, ..failure }.into_error(input, None))?;
        if let Some(end) = first.header_end {
            batches.advance(end);
            start = batches.place();
        }
    }
    let is_trailing = match options.trailing {
        CsvTrailing::No => false,
        CsvTrailing::Yes => true,
        CsvTrailing::Automatic => {
            let shows_it =
                first.header_end.is_some() && first.is_trailing && batches.go_to_record(&syntax, input, step)?;
            let (fields, is_last_empty) =
                if shows_it { syntax.count_fields(batches.bytes(input), 0) } else { (0, false) };
            // The first row may be the last.
            shows_it && (fields + 1 == first.names.len() || (fields == first.names.len() && is_last_empty))
        }
    };
    if is_trailing && first.is_trailing {
        first.names.pop();
    }
    syntax.is_trailing = is_trailing;
    syntax.skips_spaces = is_trailing || first.names.len() != 1;

    let mut guess = Roles::new(first.names, options)?;
    let mut findings = Findings::default();
    if options.sample != CsvSample::All {
        let survey = match options.sample {
            CsvSample::Spread(_) => Some(Survey::new(&syntax, input, start, step)?),
            _ => None,
        };
        let rows = sample::Rows { sample: options.sample, syntax: &syntax, input, start, step };
        let mut looked = Ok(());
        rows.visit(survey.as_ref(), |bytes, place| {
            let records = RecordBytes { syntax: &syntax, bytes, place };
            let found = findings.look_at(&records, &guess, usize::MAX);
            looked = std::mem::replace(&mut looked, Ok(())).and(found);
        })?;
        looked?;
        findings.decide_by_sample(&mut guess);
        return Ok(Beginning { syntax, start, guess, survey });
    }
    let mut batches = Batches::new(start);
    if batches.fill(&syntax, input, step)? {
        let records = RecordBytes { syntax: &syntax, bytes: batches.bytes(input), place: batches.place() };
        findings.look_at(&records, &guess, SAMPLE)?;
        findings.decide(&mut guess, false);
    }
    Ok(Beginning { syntax, start, guess, survey: None })
}

/// Returns the position of the text: after the UTF-8 byte order mark, if there is one.
fn skip_mark(input: &Input) -> Result<u64> {
    let mut buffer = Vec::new();
    let start = input.read(0..input.len().min(3), &mut buffer)?;
    if start.starts_with(&[0xFF, 0xFE]) || start.starts_with(&[0xFE, 0xFF]) {
        let reason = "begins a file in UTF-16, but only UTF-8 can be read".to_owned();
        return Err(Error::new(ErrorKind::Text {
            line: 1,
            column: None,
            name: None,
            text: "\u{FEFF}".to_owned(),
            reason,
            byte: None,
        })
        .in_some_file(input.path()));
    }
    Ok(if start == [0xEF, 0xBB, 0xBF] { 3 } else { 0 })
}

/// The first record.
#[derive(Default)]
struct First {
    /// A name or `None` for each of its fields.
    names: Vec<Option<String>>,
    /// The end of the header, if the record is one.
    header_end: Option<usize>,
    /// Whether the record ends in a delimiter.
    is_trailing: bool,
}

impl First {
    /// Reads the record at the beginning of the bytes.
    fn read(syntax: &Syntax, bytes: &[u8], options: &CsvOptions) -> Result<Self, Failure> {
        let (mut names, mut at, mut scratch, mut has_numbers) = (Vec::new(), 0, Vec::new(), false);
        let (mut broken, numerals) = (None, options.numerals());
        let are_times = |column: usize| {
            options
                .kinds
                .iter()
                .any(|(columns, kind)| matches!(kind, CsvColumnKind::Time(_)) && columns.has_index(column))
        };
        let is_trailing = loop {
            let field = syntax.field(bytes, at, &mut scratch);
            let fail = |reason: &str| {
                let (column, text) = (Some(names.len()), excerpt(field.text));
                Failure { place: at as u64, column, text, reason: reason.into() }
            };
            if !field.is_closed {
                return Err(fail("begins with a quote that is not closed"));
            }
            let number = field.number_text();
            has_numbers |= numerals.is_meant(number) || (are_times(names.len()) && Moment::read(number).is_ok());
            let name = match std::str::from_utf8(field.text) {
                Ok(name) => Some(name.to_owned()).filter(|name| !name.is_empty()),
                Err(_) => {
                    broken.get_or_insert(fail("is not UTF-8"));
                    None
                }
            };
            names.push(name);
            if names.len() > options.max_columns {
                let most = options.max_columns;
                let reason = format!("begins a record of more than {most} fields, which is the limit").into();
                return Err(Failure { place: 0, column: None, text: excerpt(&bytes[..field.end]), reason });
            }
            if bytes.get(field.end) != Some(&syntax.delimiter) {
                break names.len() > 1 && !field.is_quoted && field.text.is_empty();
            }
            at = field.end + 1;
        };
        let is_header = match options.header {
            CsvHeader::Automatic => !has_numbers,
            CsvHeader::Yes => true,
            CsvHeader::No => false,
        };
        match broken {
            Some(failure) if is_header => Err(failure),
            _ if is_header => {
                let end = syntax.record_end(bytes, 0, true).unwrap_or(bytes.len());
                Ok(Self { names, header_end: Some(end), is_trailing })
            }
            _ => Ok(Self { names: vec![None; names.len()], header_end: None, is_trailing }),
        }
    }
}
