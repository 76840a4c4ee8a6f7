//! The spelling of the fields of a CSV file that is written: numbers, words, dates, names, and missing values.
//!
//! Invariant: a string that the default options for reading take for a missing value is in quotes if it is a word, and
//! never in quotes if the value is missing in a column of words or times.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{CsvOptions, CsvWriteOptions, RECORD_BYTES, bad_option};
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::number::Exact;
use crate::base::room::with_room;
use crate::base::shape::Shape;
use crate::base::text::excerpt;
use crate::base::value::AnyValue;
use crate::convert::cast;
use crate::dictionary::{Categories, DataDictionary, Feature, FeatureType, TimeUnit};
use crate::interop::text::digits::{push, push_some};
#[cfg(doc)]
use crate::table::HomogenNumericTable;

/// The text of a category. Short texts lie beside each other, and a copy of all bytes of one is faster than a copy of
/// the given number.
pub(super) enum Word {
    Short { bytes: [u8; SHORT], length: u8 },
    Long(Vec<u8>),
}

/// The most bytes of a short text: a [`Word`] has 32.
const SHORT: usize = 30;

impl Word {
    fn new(text: Vec<u8>) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..text.len()) {
            Some(start) => {
                start.copy_from_slice(&text);
                Self::Short { bytes, length: text.len() as u8 }
            }
            None => Self::Long(text),
        }
    }

    #[inline(always)]
    fn push(&self, text: &mut Vec<u8>) {
        match self {
            Self::Short { bytes, length } => push_some(bytes, usize::from(*length), text),
            Self::Long(bytes) => text.extend_from_slice(bytes),
        }
    }
}

/// The strings of the categories of a column.
type Words = Arc<Vec<Word>>;

/// The spelling of a column's values, if they are not written as numbers.
#[derive(Clone)]
pub(super) enum Spelling {
    Words(Words),
    Times(TimeUnit),
}

/// Returns the strings of words.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
fn texts<'a>(
    words: impl Iterator<Item = &'a str>,
    count: usize,
    quote: impl Fn(&str) -> Result<Vec<u8>>,
) -> Result<Words> {
    let mut texts = with_room(count)?;
    for word in words {
        texts.push(Word::new(quote(word)?));
    }
    Ok(Arc::new(texts))
}

/// Returns the spellings of the columns of words and of times. Columns with the same words share their strings.
fn spellings_of(
    dictionary: &DataDictionary,
    options: &CsvWriteOptions,
    quote: impl Fn(&str) -> Result<Vec<u8>>,
) -> Result<BTreeMap<usize, Spelling>> {
    let (mut spellings, mut last) = (BTreeMap::new(), None::<(&Categories, Words)>);
    for (column, feature) in dictionary.iter().enumerate() {
        if let FeatureType::Time(unit) = feature.feature_type
            && options.writes_times
        {
            spellings.insert(column, Spelling::Times(unit));
        }
        let categories =
            feature.categories.as_ref().filter(|categories| options.writes_words && categories.has_labels());
        let Some(categories) = categories else { continue };
        let texts = match last.take().filter(|(known, _)| *known == categories) {
            Some((_, texts)) => texts,
            None => texts(categories.labels(), categories.len(), &quote)?,
        };
        spellings.insert(column, Spelling::Words(texts.clone()));
        last = Some((categories, texts));
    }
    Ok(spellings)
}

/// The parts that all lines have in common. Invariant: if there are rows, there are columns.
pub(super) struct Form {
    pub(super) shape: Shape,
    /// The line of names; empty if it is not written.
    pub(super) header: Vec<u8>,
    pub(super) delimiter: u8,
    /// The decimal separator, if it is not a point.
    decimal: Option<u8>,
    /// The text of NaN in columns of numbers.
    nan: Vec<u8>,
    /// The text of missing values in columns of numbers.
    missing_number: Vec<u8>,
    /// The text of missing values, and of NaN, in other columns: never in quotes, where it would be a word.
    missing: Vec<u8>,
    /// Columns that are not written as numbers, in ascending order.
    pub(super) spellings: Vec<(usize, Spelling)>,
}

impl Form {
    /// Checks everything that can be checked before any value is read.
    ///
    /// # Errors
    /// As listed for [`TableOutput::write_csv_with`](crate::TableOutput::write_csv_with).
    pub(super) fn new<'a>(shape: Shape, dictionary: &DataDictionary, options: &'a CsvWriteOptions) -> Result<Self> {
        options.check()?;
        let delimiter = options.delimiter;
        if shape.rows > 0 && shape.columns == 0 {
            return Err(Error::unsupported(
                "CSV",
                None,
                None,
                format!("a table of {shape} values cannot be written: rows without columns have no text"),
            ));
        }
        let is_only = shape.columns == 1;
        let given = &options.missing[..];
        // A string that a reader takes for a missing value, pandas included, is a word if it is in quotes.
        let quote = |word: &str| {
            let is_missing = CsvOptions::PANDAS_MISSING_TEXTS.contains(&word) || given == word;
            if is_missing { in_quotes(word) } else { quoted(word, delimiter, false) }
        };
        let is_time = |feature: &Feature| matches!(feature.feature_type, FeatureType::Time(_));
        let mut spellings = match shape.rows > 0 && (dictionary.has_labels() || dictionary.listed().any(is_time)) {
            true => spellings_of(dictionary, options, quote)?,
            false => BTreeMap::new(),
        };
        for (column, names) in &options.categories {
            if *column >= shape.columns {
                return Err(Error::new(ErrorKind::ColumnOutOfRange { column: *column, column_count: shape.columns }));
            }
            let words = texts(names.iter().map(String::as_str), names.len(), quote)?;
            spellings.insert(*column, Spelling::Words(words));
        }
        let is_named = || dictionary.listed().any(|feature| feature.name.is_some());
        let header = match options.header.unwrap_or_else(is_named) {
            true => header(dictionary, delimiter, shape)?,
            false => Vec::new(),
        };
        // A line that is only an empty field is not a row. At the end of a line whose last column has no name, an empty
        // field might be the text after a trailing delimiter.
        let last = shape.columns.checked_sub(1).and_then(|last| dictionary.feature(last).ok());
        let is_lost = is_only || (!header.is_empty() && last.is_some_and(|feature| feature.name.is_none()));
        let visible = |text: &'a str| if text.is_empty() && is_lost { "NA" } else { text };
        let (missing, nan) = (visible(given), quoted(visible(&options.nan), delimiter, false)?);
        let missing_number = quoted(missing, delimiter, false)?;
        if !spellings.is_empty() && missing_number != missing.as_bytes() {
            let missing = excerpt(missing.as_bytes());
            let reason = format!("{missing:?} would be in quotes, so it would be a word and not a missing value");
            return Err(bad_option(reason));
        }
        let (missing, spellings) = (missing.as_bytes().to_vec(), spellings.into_iter().collect());
        let decimal = (options.decimal == ',').then_some(b',');
        Ok(Self { shape, header, delimiter, decimal, nan, missing_number, missing, spellings })
    }

    /// Appends the text of a missing value. `spelling` is that of its column, if it is not a column of numbers.
    #[inline]
    pub(super) fn push_missing(&self, spelling: Option<&Spelling>, text: &mut Vec<u8>) {
        text.extend_from_slice(if spelling.is_some() { &self.missing } else { &self.missing_number });
    }

    /// Appends the text of a value. `spelling` is that of its column, if it is not a column of numbers.
    #[inline]
    pub(super) fn push<T: Element>(
        &self,
        value: T,
        spelling: Option<&Spelling>,
        (row, column): (usize, usize),
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let is_nan = value.partial_cmp(&value).is_none();
        match spelling {
            None if is_nan => text.extend_from_slice(&self.nan),
            Some(_) if is_nan => text.extend_from_slice(&self.missing),
            Some(Spelling::Words(words)) => word_of(words, value, row, column)?.push(text),
            Some(Spelling::Times(unit)) => push_time(*unit, value, (row, column), text)?,
            None => match self.decimal {
                None => push(value, text),
                Some(decimal) => self.push_with(decimal, value, text),
            },
        }
        Ok(())
    }

    /// Appends the text of a number with a decimal separator other than the point, in quotes if that is the delimiter.
    fn push_with<T: Element>(&self, decimal: u8, value: T, text: &mut Vec<u8>) {
        let start = text.len();
        push(value, text);
        if let Some(point) = text[start..].iter().position(|&byte| byte == b'.') {
            text[start + point] = decimal;
            if decimal == self.delimiter {
                text.insert(start, b'"');
                text.push(b'"');
            }
        }
    }
}

/// Formats the line of names; empty without columns.
fn header(dictionary: &DataDictionary, delimiter: u8, shape: Shape) -> Result<Vec<u8>> {
    // There may be more columns than bytes of memory if they share a description and have no rows.
    let repetitions = if dictionary.is_uniform() { shape.columns } else { 1 };
    let (mut names, mut bytes) = (Vec::new(), 0);
    for feature in dictionary.listed() {
        names.extend(quoted(feature.name.as_deref().unwrap_or_default(), delimiter, shape.columns == 1)?);
        names.push(delimiter);
        bytes = names.len().saturating_mul(repetitions);
        if bytes > RECORD_BYTES {
            let reason = format!("the line of names has {bytes} bytes or more, and the limit is {RECORD_BYTES}");
            return Err(Error::unsupported(
                "CSV",
                None,
                None,
                format!("a table of {shape} values cannot be written: {reason}"),
            ));
        }
    }
    let mut line = Vec::new();
    line.try_reserve_exact(bytes).map_err(|_| Error::out_of_memory(bytes))?;
    (0..repetitions).for_each(|_| line.extend_from_slice(&names));
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
    Ok(line)
}

/// Returns the text of a category.
fn word_of<T: Element>(words: &[Word], value: T, row: usize, column: usize) -> Result<&Word> {
    let (number, index) = (cast::<T, f64>(value), cast::<T, u64>(value));
    let word = usize::try_from(index).ok().filter(|&index| index as f64 == number).and_then(|index| words.get(index));
    let (count, value) = (words.len(), AnyValue::from(value));
    let refused = || bad_option(format!("{value} at row {row}, column {column} is not an index of {count} categories"));
    word.ok_or_else(refused)
}

/// Appends the text of a point in time.
fn push_time<T: Element>(unit: TimeUnit, value: T, (row, column): (usize, usize), text: &mut Vec<u8>) -> Result<()> {
    let count = match value.exact() {
        Exact::Integer(count) => i64::try_from(count).ok(),
        // The largest integers that `f64` holds are converted to the nearest `i64`, which is a different number.
        Exact::Float(count) => Some(count as i64).filter(|&whole| whole as f64 == count && whole < i64::MAX),
    };
    let refused = || {
        let (name, value) = (unit.name(), AnyValue::from(value));
        bad_option(format!("{value} at row {row}, column {column} is not a number of {name} that has a date"))
            .with_hint(Hint::new("CsvWriteOptions::times", "writes numbers if set to false"))
    };
    if count.is_some_and(|count| unit.push_field(count, text)) { Ok(()) } else { Err(refused()) }
}

/// Formats a string as a field in quotes.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
fn in_quotes(text: &str) -> Result<Vec<u8>> {
    let quotes = memchr::memchr_iter(b'"', text.as_bytes()).count();
    let mut field = with_room(text.len().saturating_add(quotes).saturating_add(2))?;
    field.push(b'"');
    for &byte in text.as_bytes() {
        if byte == b'"' {
            field.push(b'"');
        }
        field.push(byte);
    }
    field.push(b'"');
    Ok(field)
}

/// Formats a string as a field, in quotes if it would be read as something else without them. An empty line is not a
/// row, so the only field of a line is never left empty.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
fn quoted(text: &str, delimiter: u8, is_only: bool) -> Result<Vec<u8>> {
    let bytes = text.as_bytes();
    let is_special = |byte: &u8| *byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let is_mark = text.starts_with('\u{FEFF}'); // at the beginning of a file, it would not be read as text
    let needs_quotes = bytes.iter().any(is_special) || is_space(bytes.first()) || is_space(bytes.last()) || is_mark;
    if needs_quotes || (is_only && bytes.is_empty()) {
        return in_quotes(text);
    }
    let mut field = with_room(bytes.len())?;
    field.extend_from_slice(bytes);
    Ok(field)
}
