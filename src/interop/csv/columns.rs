//! The selection of columns, their kinds, and the treatment of missing values.

use std::collections::HashMap;
use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull};
use std::sync::Arc;

use super::bad_option;
use crate::base::error::Result;
use crate::base::near::{first, near};
use crate::base::text::excerpt;
use crate::dictionary::TimeUnit;

/// A selection of columns of a CSV file: by name, by index, or as a range.
///
/// Functions with a parameter of this type accept a name, an index, an array or a vector of either, or a range.
///
/// # Examples
/// ```
/// use numeric_table::{csv::{CsvOptions, CsvSource}, prelude::*};
/// let text = b"id,width,height\n7,1.5,2.5\n";
/// let select = |options| CsvSource::from_bytes_with(&text[..], options)?.load::<f64>();
/// assert_eq!(select(CsvOptions::new().columns(["height", "id"]))?.as_slice()?, [2.5, 7.0]); // in this order
/// assert_eq!(select(CsvOptions::new().columns(1..))?.as_slice()?, [1.5, 2.5]);
/// assert_eq!(select(CsvOptions::new().columns((0..3).step_by(2).collect::<Vec<usize>>()))?.as_slice()?, [7.0, 2.5]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvColumns {
    /// All columns, in the order of the file.
    All,
    /// The columns with these names.
    Names(Vec<String>),
    /// The columns with these indices, counted from 0.
    Indices(Vec<usize>),
    /// Consecutive columns.
    Range(Range<usize>),
    /// This column and all later ones.
    From(usize),
}

impl CsvColumns {
    /// Returns whether the selection contains a column, as far as that does not depend on names.
    pub(super) fn has_index(&self, column: usize) -> bool {
        match self {
            Self::All => true,
            Self::Names(_) => false,
            Self::Indices(indices) => indices.contains(&column),
            Self::Range(range) => range.contains(&column),
            Self::From(start) => column >= *start,
        }
    }

    /// Finds the columns in a file.
    pub(super) fn resolve(&self, names: &Names<'_>) -> Result<Vec<usize>> {
        let count = names.names.len();
        let in_range = |range: Range<usize>| {
            if range.start > range.end || range.end > count {
                let Range { start, end } = range;
                return Err(bad_option(format!("columns {start}..{end} were requested, but the file has {count}")));
            }
            Ok(range.collect())
        };
        match self {
            Self::All => Ok((0..count).collect()),
            Self::Range(range) => in_range(range.clone()),
            Self::From(start) => in_range(*start..count.max(*start)),
            Self::Indices(indices) => match indices.iter().find(|&&index| index >= count) {
                Some(index) => Err(bad_option(format!("column {index} was requested, but the file has {count}"))),
                None => Ok(indices.clone()),
            },
            Self::Names(wanted) => wanted.iter().map(|name| names.find(name)).collect(),
        }
    }
}

/// The names of a file's columns, for look-ups. There may be a million of either.
pub(super) struct Names<'a> {
    names: &'a [Option<String>],
    /// The first column with each name, and the second, if there is one.
    columns: HashMap<&'a str, (usize, Option<usize>)>,
}

impl<'a> Names<'a> {
    pub(super) fn new(names: &'a [Option<String>]) -> Self {
        let mut columns = HashMap::new();
        for (column, name) in names.iter().enumerate() {
            if let Some(name) = name {
                columns
                    .entry(name.as_str())
                    .and_modify(|(_, second): &mut (usize, Option<usize>)| *second = second.or(Some(column)))
                    .or_insert((column, None));
            }
        }
        Self { names, columns }
    }

    fn find(&self, name: &str) -> Result<usize> {
        match self.columns.get(name) {
            Some(&(column, None)) => Ok(column),
            None if self.columns.is_empty() => {
                Err(bad_option(format!("no column has the name {:?}: no column is named", excerpt(name.as_bytes()))))
            }
            None => {
                let names = || self.names.iter().flatten().map(String::as_str);
                let near = Some(near(name, names())).filter(|near| !near.is_empty()).unwrap_or_else(|| first(names()));
                Err(bad_option(format!("no column has the name {:?}{near}", excerpt(name.as_bytes()))))
            }
            Some((first, Some(second))) => {
                let name = excerpt(name.as_bytes());
                Err(bad_option(format!("columns {first} and {second} both have the name {name:?}: give an index")))
            }
        }
    }
}

impl From<RangeFull> for CsvColumns {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

impl From<Range<usize>> for CsvColumns {
    fn from(range: Range<usize>) -> Self {
        Self::Range(range)
    }
}

impl From<RangeFrom<usize>> for CsvColumns {
    fn from(range: RangeFrom<usize>) -> Self {
        Self::From(range.start)
    }
}

impl From<usize> for CsvColumns {
    fn from(index: usize) -> Self {
        Self::Indices(vec![index])
    }
}

impl From<Vec<usize>> for CsvColumns {
    fn from(indices: Vec<usize>) -> Self {
        Self::Indices(indices)
    }
}

impl<const N: usize> From<[usize; N]> for CsvColumns {
    fn from(indices: [usize; N]) -> Self {
        Self::Indices(indices.into())
    }
}

impl From<&str> for CsvColumns {
    fn from(name: &str) -> Self {
        Self::Names(vec![name.to_owned()])
    }
}

impl From<String> for CsvColumns {
    fn from(name: String) -> Self {
        Self::Names(vec![name])
    }
}

impl From<Vec<String>> for CsvColumns {
    fn from(names: Vec<String>) -> Self {
        Self::Names(names)
    }
}

impl From<&[&str]> for CsvColumns {
    fn from(names: &[&str]) -> Self {
        Self::Names(names.iter().map(|&name| name.to_owned()).collect())
    }
}

impl<const N: usize> From<[&str; N]> for CsvColumns {
    fn from(names: [&str; N]) -> Self {
        names[..].into()
    }
}

/// The kind of the fields of a column, and how they become values. Source: DAAL's modifiers.
///
/// # Examples
/// ```
/// use numeric_table::{csv::{CsvColumnKind, CsvOptions, CsvSource}, prelude::*};
/// let text = b"size,day,colour\nS,2024-05-17,red\nL,2024-06-01,blue\n";
/// let options = CsvOptions::new()
///     .kind("size", CsvColumnKind::Categorical)
///     .kind("day", CsvColumnKind::custom(|text| text[..4].parse().map_err(|_| "has no year".to_owned())))
///     .kind("colour", CsvColumnKind::OneHot);
/// let source = CsvSource::from_bytes_with(&text[..], options)?;
/// let table = source.load::<f32>()?;
/// assert_eq!(table.as_slice()?, [0.0, 2024.0, 1.0, 0.0, 1.0, 2024.0, 0.0, 1.0]);
/// assert_eq!(table.dictionary().feature(2)?.name.as_deref(), Some("colour=red"));
/// assert_eq!(source.categories(0)?, Some(&["S".to_owned(), "L".to_owned()][..]));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum CsvColumnKind {
    /// `Continuous` if every field that is not missing is a number, `Categorical` if every one is a word. The whole
    /// file is considered.
    ///
    /// A column that mixes the two is an error, reported at the position of its first word: a typo must not turn all
    /// numbers into words. Use [`CsvOptions::missing_texts`](super::CsvOptions::missing_texts) for words that mean a
    /// missing value, or [`Categorical`](Self::Categorical) if the numbers are words too. A field that consists of
    /// several numbers separated by commas, semicolons, bars, tabs or spaces is not a word, so it is an error as well:
    /// `1,5` has a comma instead of a decimal point, and `1;2` has another delimiter. The same error is reported for a
    /// file of one column if all its lines, including the header, contain the same comma, semicolon, bar or tab.
    #[default]
    Automatic,
    /// Numbers.
    Continuous,
    /// Numbers whose order is meaningful, but not their differences.
    Ordinal,
    /// Words, which may look like numbers. Each becomes the index of its category. Categories are numbered in order of
    /// first appearance.
    Categorical,
    /// Words as under `Categorical`. The column becomes one column per category, with 1 in the rows of that category
    /// and 0 in the others.
    OneHot,
    /// Dates, or dates and times, in ISO 8601: `2024-02-29`, `2024-02-29T12:34:56.789Z`, `2024-02-29 12:34+01:00`. They
    /// become integers: the number of units since 1970-01-01T00:00:00 UTC. Times without an offset are in UTC, and
    /// dates without a time are midnight. The calendar is Gregorian, even for dates before its introduction. Years have
    /// four digits, or a sign and six.
    ///
    /// A time is never rounded, under any [policy](super::CsvOptions::policy). A time that is not a multiple of the
    /// unit is an error, and so are a time that the element type of the table does not hold exactly and a leap second.
    /// In tables of [`load_typed`](super::CsvSource::load_typed), days are `i32` and all other units `i64`.
    Time(TimeUnit),
    /// Numbers that a function computes from each field: see [`custom`](Self::custom).
    Custom(CsvCustomKind),
}

pub(super) type Custom = dyn Fn(&str) -> Result<f64, String> + Send + Sync;

/// The caller's function.
#[derive(Clone)]
pub struct CsvCustomKind(pub(super) Arc<Custom>);

impl CsvColumnKind {
    /// Creates a kind whose fields are converted to numbers by `convert`. It is called with each field's text,
    /// including missing ones, and returns the number or the reason why it rejects the text. The numbers become values
    /// of the table under the [policy](super::CsvOptions::policy) of the options. `convert` may be called for any row,
    /// in any order, more than once, on several threads.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{csv::{CsvColumnKind, CsvOptions, CsvSource}, prelude::*};
    /// let percent = CsvColumnKind::custom(|text| match text.strip_suffix('%').map(str::parse::<f64>) {
    ///     Some(Ok(number)) => Ok(number / 100.0),
    ///     _ => Err("is not a percentage".to_owned()),
    /// });
    /// let source = CsvSource::from_bytes_with(&b"share\n50%\nhalf\n"[..], CsvOptions::new().kind("share", percent))?;
    /// let error = source.load::<f64>().unwrap_err();
    /// assert_eq!(error.to_string(), "line 3, column 0 (share): \"half\" is not a percentage");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn custom(convert: impl Fn(&str) -> Result<f64, String> + Send + Sync + 'static) -> Self {
        Self::Custom(CsvCustomKind(Arc::new(convert)))
    }
}

impl fmt::Debug for CsvColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time(unit) => return f.debug_tuple("Time").field(unit).finish(),
            Self::Automatic => "Automatic",
            Self::Continuous => "Continuous",
            Self::Ordinal => "Ordinal",
            Self::Categorical => "Categorical",
            Self::OneHot => "OneHot",
            Self::Custom(_) => "Custom",
        })
    }
}

impl fmt::Debug for CsvCustomKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CsvCustomKind")
    }
}

/// How missing values are treated. By default, they stay missing in tables that can have missing values, and are errors
/// in others.
///
/// # Examples
/// ```
/// use numeric_table::{csv::{CsvMissing, CsvOptions, CsvSource}, prelude::*};
/// let text = b"a,b\n1,2\n,4\n5,NA\n";
/// let table = CsvSource::from_bytes(&text[..])?.load_typed()?;
/// assert_eq!((table.column_type(0)?, table.missing_count(0)?, table.missing_count(1)?), (ElementType::I64, 1, 1));
///
/// let load = |missing| CsvSource::from_bytes_with(&text[..], CsvOptions::new().missing(missing))?.load::<f64>();
/// assert_eq!(load(CsvMissing::SkipRow)?.as_slice()?, [1.0, 2.0]);
/// assert_eq!(load(CsvMissing::Value(-1.0))?.as_slice()?, [1.0, 2.0, -1.0, 4.0, 5.0, -1.0]);
/// assert!(load(CsvMissing::Nan)?.value::<f64>(1, 0)?.is_nan());
/// assert!(load(CsvMissing::Error).unwrap_err().to_string().starts_with("line 3, column 0 (a): \"\" is missing"));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum CsvMissing {
    /// In columns of [`load_typed`](super::CsvSource::load_typed), it is a [missing value](crate::MissingValues), and
    /// the type of the column does not depend on it. In a one-hot encoding, it is missing in all columns. Tables of one
    /// type and blocks of rows cannot have missing values: there, it is an error.
    #[default]
    Keep,
    /// It is an error.
    Error,
    /// It becomes NaN, in a column of floating-point numbers; an error if the table holds integers.
    Nan,
    /// The whole row is skipped as if it were not in the file: its words are not categories, and its fields do not
    /// influence the kinds of their columns.
    SkipRow,
    /// It becomes this value, which must be representable in the type of the table. This applies to categorical columns
    /// too, and to all columns of a one-hot encoding.
    Value(f64),
}
