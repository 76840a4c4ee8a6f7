//! Errors in a CSV file.

use super::CsvColumnKind;
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
    /// The column of the file, if the error concerns one.
    pub(super) column: Option<usize>,
    pub(super) text: String,
    pub(super) reason: Reason,
}

/// The reason why a string is not a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It is a word in a column of numbers; [`ColumnRole::shown`] has the reason why the column is one.
    Word,
    /// It is an integer that would be rounded in a column of floats.
    Rounded(Cause),
    /// It may be a word or a missing value: it is in quotes, and the other fields of its column do not decide between
    /// the two. Not an error, but a reason to scan the whole file first.
    Undecided,
    Other(String),
    /// The reason, with hints.
    Advised(String, Vec<Hint>),
}

/// Why a column of integers is one of floats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It has a number that is not written as an integer.
    Real(Sight),
    /// It has a missing value, at this position, which becomes NaN.
    Gap(u64),
    /// No integer type holds all of its numbers.
    Range,
    /// The sampled rows have decided so.
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
    /// Returns a reason with hints.
    pub(super) fn advised(reason: impl Into<String>, hints: impl Into<Vec<Hint>>) -> Self {
        Self::Advised(reason.into(), hints.into())
    }

    /// Returns why a string that should be a number is not one.
    #[cold]
    pub(super) fn not_a_number(text: &[u8], numerals: &Numerals) -> Self {
        let is_own = |separator: u8| separator == b',' || numerals.thousands == Some(char::from(separator));
        match separator_in_numbers(text) {
            None if numerals.is_plain() || !numerals.is_meant(text) => Self::Word,
            Some(b',') if numerals.is_plain() => Self::advised(
                "is not a number: expected a decimal point and no commas",
                [
                    Hint::new("CsvOptions::decimal", "can set a decimal comma"),
                    Hint::new("CsvOptions::thousands", "can set commas as thousands separators"),
                    Hint::new("CsvOptions::delimiter", "sets what separates fields"),
                    Hint::new("CsvOptions::kind", "can read it as a word or by a function"),
                ],
            ),
            separator if separator.is_none_or(is_own) => {
                let decimal = char::from(numerals.decimal);
                let thousands = match numerals.thousands {
                    Some(thousands) => format!("{thousands:?} between groups of three digits"),
                    None => "nothing between the digits".to_owned(),
                };
                format!("is not a number: expected {decimal:?} before the decimals and {thousands}").into()
            }
            separator => {
                let separator = separator.unwrap_or(b',');
                let separator = char::from(separator);
                Self::advised(
                    format!("is not a number but several, separated by {separator:?}"),
                    [
                        delimiter(separator, "splits them into fields"),
                        Hint::new("CsvOptions::kind", "can read them as a word"),
                    ],
                )
            }
        }
    }

    /// Formats the reason and returns it with its hints. `column` is the column of the text.
    fn in_words(self, input: &Input, column: Option<&ColumnRole>) -> Result<(String, Vec<Hint>)> {
        const STATE: Hint = Hint::new("CsvOptions::column_type", "can set a type, such as f64, which rounds");
        let (place, text) = match self {
            Self::Other(reason) => return Ok((reason, Vec::new())),
            Self::Advised(reason, hints) => return Ok((reason, hints)),
            Self::Rounded(Cause::Sample) => {
                let reason = "is an integer that f64 does not hold, but the sampled rows made the column f64";
                return Ok((reason.to_owned(), vec![STATE]));
            }
            Self::Rounded(Cause::Range) => {
                let reason = "is an integer that f64 does not hold, and no integer type holds the whole column";
                return Ok((reason.to_owned(), vec![STATE]));
            }
            Self::Rounded(Cause::Real(Sight { place, text })) => (place, format!("{text:?}")),
            Self::Rounded(Cause::Gap(place)) => (place, "the missing value".to_owned()),
            Self::Word | Self::Undecided => return in_numbers(input, column),
        };
        let line = input.line_of(place)?;
        if let Some(CsvColumnKind::Time(unit)) = column.map(|column| &column.kind) {
            let unit = unit.name();
            let hint = Hint::new("CsvOptions::missing_in", "can replace missing values by a number");
            let reason = format!(
                "is a number of {unit} that f64 does not hold, and the column needs f64 for {text} on line {line}"
            );
            return Ok((reason, vec![hint]));
        }
        let reason =
            format!("is an integer that f64 does not hold, and the column needs f64 for {text} on line {line}");
        Ok((reason, vec![STATE]))
    }
}

/// Returns why a word is an error in a column of numbers, with hints.
fn in_numbers(input: &Input, column: Option<&ColumnRole>) -> Result<(String, Vec<Hint>)> {
    Ok(match column.map(|column| &column.shown) {
        Some(Shown::Number { place, text }) => {
            let line = input.line_of(*place)?;
            let hints = vec![
                Hint::new("CsvOptions::missing_texts", "can make the word mean a missing value"),
                Hint::new("CsvOptions::missing", "sets how missing values are treated"),
                Hint::new("CsvOptions::kind", "can read the whole column as words"),
            ];
            (format!("is not a number in a column of numbers, the first being {text:?} on line {line}"), hints)
        }
        Some(Shown::Separated(separator)) => {
            let separator = char::from(*separator);
            let reason = format!("contains {separator:?}, like every line of the file, which has one column");
            let kind = Hint::new("CsvOptions::kind", "can read it as words");
            (reason, vec![delimiter(separator, "makes several columns"), kind])
        }
        _ => ("is not a number".to_owned(), Vec::new()),
    })
}

fn delimiter(separator: char, effect: &str) -> Hint {
    Hint::with_effect("CsvOptions::delimiter", format!("with {separator:?} {effect}"))
}

/// Returns the failure of a guess about the whole file from the given position on.
pub(super) fn undecided(place: u64) -> Failure {
    Failure { place, column: None, text: String::new(), reason: Reason::Undecided }
}

impl Failure {
    /// Converts to an error with the path and the line number. `column` is the column that it concerns.
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
