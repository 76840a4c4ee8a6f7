//! Errors in a CSV file.

use super::CsvKind;
use super::evidence::Sight;
use super::input::Input;
use super::roles::{ColumnRole, Shown};
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::text::excerpt;
use crate::base::text::label;
use crate::interop::text::number::separator_in_numbers;
use crate::interop::text::numerals::Numerals;

/// An error at a position in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// Position in the file, in bytes.
    pub(super) place: u64,
    /// The column of the file, if the error is about one.
    pub(super) column: Option<usize>,
    pub(super) text: String,
    pub(super) reason: Reason,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It is a word in a column of numbers; the reason why it is one is in [`ColumnRole::shown`].
    Word,
    /// It is a whole number that would be rounded in a column of floats.
    Rounded(Cause),
    /// It is a word or a missing value: in quotes, in a column whose other fields do not show yet which. No error, but
    /// a reason to look at the whole file first.
    Undecided,
    Other(String),
    /// What is wrong, and what helps.
    Advised(String, Vec<Hint>),
}

/// Why a column of whole numbers is one of floats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It has a number that is not written as a whole one.
    Real(Sight),
    /// It has a missing value, at this position, which becomes NaN.
    Gap(u64),
    /// No integer type holds all of its numbers.
    Range,
    /// Some of its rows have decided that it is.
    Sample,
}

impl From<String> for Reason {
    fn from(reason: String) -> Self {
        Self::Other(reason)
    }
}

impl From<&str> for Reason {
    fn from(reason: &str) -> Self {
        Self::Other(reason.to_owned())
    }
}

impl Reason {
    /// Returns a reason with what helps.
    pub(super) fn advised(reason: impl Into<String>, hints: impl Into<Vec<Hint>>) -> Self {
        Self::Advised(reason.into(), hints.into())
    }

    /// Returns what is wrong with a text that should be a number.
    #[cold]
    pub(super) fn not_a_number(text: &[u8], numerals: &Numerals) -> Self {
        let is_own = |separator: u8| separator == b',' || numerals.thousands == Some(char::from(separator));
        match separator_in_numbers(text) {
            None if numerals.is_plain() || !numerals.is_meant(text) => Self::Word,
            Some(b',') if numerals.is_plain() => Self::advised(
                "is not a number, which would have a point and no commas",
                [
                    Hint::new("CsvOptions::decimal", "can take a comma for the decimal point"),
                    Hint::new("CsvOptions::thousands", "can take commas for separators of thousands"),
                    Hint::new("CsvOptions::delimiter", "says what separates fields"),
                    Hint::new("CsvOptions::kind", "can take it for a word or have a function read it"),
                ],
            ),
            separator if separator.is_none_or(is_own) => {
                let decimal = char::from(numerals.decimal);
                let thousands = match numerals.thousands {
                    Some(thousands) => format!("{thousands:?} between groups of three digits"),
                    None => "nothing between its digits".to_owned(),
                };
                format!("is not a number, which would have {decimal:?} before its decimals and {thousands}").into()
            }
            separator => {
                let separator = separator.unwrap_or(b',');
                let separator = char::from(separator);
                Self::advised(
                    format!("is not a number, but several with {separator:?} between them"),
                    [
                        delimiter(separator, "makes fields of them"),
                        Hint::new("CsvOptions::kind", "can take them for a word"),
                    ],
                )
            }
        }
    }

    /// Formats the reason, and says what helps. `column` is that of the text.
    fn in_words(self, input: &Input, column: Option<&ColumnRole>) -> Result<(String, Vec<Hint>)> {
        const STATE: Hint = Hint::new("CsvOptions::column_type", "can state a type, also f64, which rounds");
        let (place, text) = match self {
            Self::Other(reason) => return Ok((reason, Vec::new())),
            Self::Advised(reason, hints) => return Ok((reason, hints)),
            Self::Rounded(Cause::Sample) => {
                let reason =
                    "is a whole number that f64 does not hold, and the rows that were looked at have decided on f64";
                return Ok((reason.to_owned(), vec![STATE]));
            }
            Self::Rounded(Cause::Range) => {
                let reason = "is a whole number that f64 does not hold, and no integer type holds all of the column";
                return Ok((reason.to_owned(), vec![STATE]));
            }
            Self::Rounded(Cause::Real(Sight { place, text })) => (place, format!("{text:?}")),
            Self::Rounded(Cause::Gap(place)) => (place, "the missing value".to_owned()),
            Self::Word | Self::Undecided => return in_numbers(input, column),
        };
        let line = input.line_of(place)?;
        if let Some(CsvKind::Time(unit)) = column.map(|column| &column.kind) {
            let unit = unit.name();
            let hint = Hint::new("CsvOptions::missing_in", "can state a number for that");
            let reason = format!(
                "is a number of {unit} that f64 does not hold, and the column needs f64 for {text} on line {line}"
            );
            return Ok((reason, vec![hint]));
        }
        let reason =
            format!("is a whole number that f64 does not hold, and the column needs f64 for {text} on line {line}");
        Ok((reason, vec![STATE]))
    }
}

/// Says why a word is none in a column of numbers, and what helps.
fn in_numbers(input: &Input, column: Option<&ColumnRole>) -> Result<(String, Vec<Hint>)> {
    Ok(match column.map(|column| &column.shown) {
        Some(Shown::Number { place, text }) => {
            let line = input.line_of(*place)?;
            let hints = vec![
                Hint::new("CsvOptions::missing_texts", "can take the word for a missing value"),
                Hint::new("CsvOptions::missing", "says what becomes of such values"),
                Hint::new("CsvOptions::kind", "can take all of the column for words"),
            ];
            (format!("is not a number, and the column has numbers, the first of them {text:?} on line {line}"), hints)
        }
        Some(Shown::Separated(separator)) => {
            let separator = char::from(*separator);
            let reason = format!("has {separator:?} in it, as all lines of the file have, and the file has one column");
            let kind = Hint::new("CsvOptions::kind", "can take it for words");
            (reason, vec![delimiter(separator, "makes several of it"), kind])
        }
        _ => ("is not a number".to_owned(), Vec::new()),
    })
}

fn delimiter(separator: char, effect: &str) -> Hint {
    Hint::with_effect("CsvOptions::delimiter", format!("with {separator:?} {effect}"))
}

impl Failure {
    /// Converts to an error with the path and the line number. `column` is the one that it is about.
    pub(super) fn into_error(self, input: &Input, column: Option<&ColumnRole>) -> Error {
        let Self { place, column: index, text, reason } = self;
        let in_file = || Ok((input.line_of(place)?, reason.in_words(input, column)?));
        match in_file() {
            Ok((line, (reason, hints))) => {
                let name = column.and_then(|column| column.name.as_deref());
                let name = name.map(|name| excerpt(name.as_bytes()));
                Error::new(ErrorKind::Text { line, column: index, name, text, reason, byte: None })
                    .in_some_file(input.path())
                    .with_hints(hints)
            }
            Err(error) => error,
        }
    }
}

/// Converts the reason of a caller's function, which may contain any text of the file.
pub(super) fn foreign(reason: &str) -> Reason {
    const LIMIT: usize = 200;
    label(reason, LIMIT).into()
}
