//! Errors in a CSV file.

use super::CsvKind;
use super::evidence::Sight;
use super::input::Input;
use super::roles::{ColumnRole, Shown};
use crate::base::error::{Error, Result};
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
    /// Returns what is wrong with a text that should be a number.
    #[cold]
    pub(super) fn not_a_number(text: &[u8], numerals: &Numerals) -> Self {
        let is_own = |separator: u8| separator == b',' || numerals.thousands == Some(char::from(separator));
        match separator_in_numbers(text) {
            None if numerals.is_plain() || !numerals.is_meant(text) => Self::Word,
            Some(b',') if numerals.is_plain() => {
                "is not a number, which would have a point and no commas: CsvOptions::decimal and \
                 CsvOptions::thousands can give them a meaning, CsvOptions::delimiter says what separates fields, \
                 CsvOptions::kind can take it for a word or have a function read it"
                    .into()
            }
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
                format!(
                    "is not a number, but several with {separator:?} between them: \
                     CsvOptions::delimiter(b{separator:?}) makes fields of them, CsvOptions::kind can take them for a word"
                )
                .into()
            }
        }
    }

    /// Formats the reason. `column` is that of the text.
    fn in_words(self, input: &Input, column: Option<&ColumnRole>) -> Result<String> {
        const STATE: &str = "CsvOptions::column_type can state a type, also f64, which rounds";
        let cause = match self {
            Self::Other(reason) => return Ok(reason),
            Self::Rounded(Cause::Sample) => {
                return Ok(format!(
                    "is a whole number that f64 does not hold, and CsvOptions::sample has decided on f64: {STATE}"
                ));
            }
            Self::Rounded(Cause::Range) => {
                return Ok(format!(
                    "is a whole number that f64 does not hold, and no integer type holds all of the column: {STATE}"
                ));
            }
            Self::Rounded(Cause::Real(Sight { place, text })) => Some((place, format!("{text:?}"))),
            Self::Rounded(Cause::Gap(place)) => Some((place, "the missing value".to_owned())),
            Self::Word | Self::Undecided => None,
        };
        if let Some((place, text)) = cause {
            let line = input.line_of(place)?;
            if let Some(CsvKind::Time(unit)) = column.map(|column| &column.kind) {
                let unit = unit.name();
                return Ok(format!(
                    "is a number of {unit} that f64 does not hold, and the column needs f64 for {text} on line {line}: \
                     CsvOptions::missing_in can state a number for that"
                ));
            }
            return Ok(format!(
                "is a whole number that f64 does not hold, and the column needs f64 for {text} on line {line}: {STATE}"
            ));
        }
        Ok(match column.map(|column| &column.shown) {
            Some(Shown::Number { place, text }) => format!(
                "is not a number, and the column has numbers, the first of them {text:?} on line {}: \
                 CsvOptions::missing_texts can take the word for a missing value, of which CsvOptions::missing decides, and \
                 CsvOptions::kind can take all of the column for words",
                input.line_of(*place)?
            ),
            Some(Shown::Separated(separator)) => {
                let separator = char::from(*separator);
                format!(
                    "has {separator:?} in it, as all lines of the file have, and the file has one column: \
                     CsvOptions::delimiter(b{separator:?}) makes several of it, CsvOptions::kind can take it for words"
                )
            }
            _ => "is not a number".to_owned(),
        })
    }
}

impl Failure {
    /// Converts to an error with the path and the line number. `column` is the one that it is about.
    pub(super) fn into_error(self, input: &Input, column: Option<&ColumnRole>) -> Error {
        let Self { place, column: index, text, reason } = self;
        let in_file = || Ok((input.line_of(place)?, reason.in_words(input, column)?));
        match in_file() {
            Ok((line, reason)) => {
                let name = column.and_then(|column| column.name.as_deref());
                let name = name.map(|name| excerpt(name.as_bytes()));
                Error::Csv { path: input.path().map(Into::into), line, column: index, name, text, reason }
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
