//! The caller's options for the text of a CSV file.

use numeric_table::csv::{CsvColumnKind, CsvColumns, CsvHeader, CsvMissing, CsvOptions, CsvTrailing};
use numeric_table::dictionary::TimeUnit;
use numeric_table::{DataDictionary, FeatureType};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyMapping, PyString};

use crate::base::element;
use crate::base::error::{TableError, TableTypeError};
use crate::base::lists;
use crate::base::numbers;
use crate::table::labels::{UNITS, has_labels};

/// Returns the value of an option that has two names.
pub(crate) fn one_of<V>(name: &str, value: Option<V>, other_name: &str, other: Option<V>) -> PyResult<Option<V>> {
    match (value, other) {
        (Some(_), Some(_)) => Err(PyTypeError::new_err(format!("{name}= and {other_name}= are one option: pass one"))),
        (value, other) => Ok(value.or(other)),
    }
}

/// A type of all columns, and types of some.
type Types<'a, 'py> = (Option<&'a Bound<'py, PyAny>>, Option<&'a Bound<'py, PyMapping>>);

/// Returns the type of all columns, and those of some. As in pandas, `dtype` may have types of columns.
pub(crate) fn by_column<'a, 'py>(
    dtype: Option<&'a Bound<'py, PyAny>>,
    dtypes: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<Types<'a, 'py>> {
    let mapping = |types: &'a Bound<'py, PyAny>| types.cast::<PyMapping>();
    if let Some(types) = dtype
        && let Ok(types) = mapping(types)
    {
        return one_of("dtypes", dtypes.map(mapping).transpose()?, "dtype", Some(types)).map(|types| (None, types));
    }
    Ok((dtype, dtypes.map(mapping).transpose()?))
}

/// Whether the first line has names: as the option `header` of pandas says it, and `"auto"`.
#[derive(Clone, Copy)]
pub(crate) struct Header(CsvHeader);

impl Header {
    /// The file is looked at.
    pub(crate) const AUTOMATIC: Self = Self(CsvHeader::Automatic);
}

impl<'py> FromPyObject<'_, 'py> for Header {
    type Error = PyErr;

    fn extract(header: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if header.is_none() {
            return Ok(Self(CsvHeader::No));
        }
        if let Ok(is_there) = header.cast::<PyBool>() {
            return Ok(Self(if is_there.is_true() { CsvHeader::Yes } else { CsvHeader::No }));
        }
        if let Ok(word) = header.cast::<PyString>() {
            match &*word.to_string_lossy() {
                "infer" => return Ok(Self(CsvHeader::Yes)),
                "auto" => return Ok(Self::AUTOMATIC),
                _ => {}
            }
        } else if header.hasattr("__index__")? && header.eq(0)? {
            return Ok(Self(CsvHeader::Yes));
        }
        Err(TableTypeError::new_err(format!(
            "header= must be \"auto\", None, 0, \"infer\", True or False, not {}: only the first line can have names; \
             None and False state that it has values",
            header.repr()?
        )))
    }
}

/// A character with a meaning: a delimiter, the decimal separator and so on.
#[derive(Clone, Copy)]
pub(crate) struct Character(char);

impl<'py> FromPyObject<'_, 'py> for Character {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        value.extract().map(Self).or_else(|_| {
            Err(TableTypeError::new_err(format!(
                "{} is not one character, as \";\", \"\\t\" and \" \" are: \
                 nt.Table(pandas.read_csv(path, sep=...)) reads files with other separators",
                value.repr()?
            )))
        })
    }
}

/// Returns the unit of time that a type of NumPy names: `"datetime64[D]"`; `None` for another type.
fn unit_of(dtype: &Bound<'_, PyAny>) -> PyResult<Option<TimeUnit>> {
    let numpy = dtype.py().import("numpy")?;
    let Ok(dtype) = numpy.call_method1("dtype", (dtype,)) else { return Ok(None) }; // bfloat16 is not NumPy's
    if dtype.getattr("kind")?.ne("M")? {
        return Ok(None);
    }
    let (name, step): (String, i64) = numpy.call_method1("datetime_data", (&dtype,))?.extract()?;
    let found = UNITS.iter().find(|(_, unit)| *unit == name && step == 1);
    found.map(|&(unit, _)| Some(unit)).ok_or_else(|| {
        TableTypeError::new_err(format!("dtypes= has {dtype}: dates and times are \"datetime64[D]\", s, ms, us and ns"))
    })
}

/// The caller's options. Nothing is derived from the content.
#[derive(Clone, Copy)]
pub(crate) struct Said<'a, 'py> {
    pub(crate) delimiter: Option<Character>,
    pub(crate) decimal: Option<Character>,
    pub(crate) thousands: Option<Character>,
    pub(crate) comment: Option<Character>,
    pub(crate) header: Header,
    pub(crate) trailing_delimiter: Option<bool>,
    pub(crate) columns: Option<&'a Bound<'py, PyAny>>,
    pub(crate) categorical: Option<&'a Bound<'py, PyAny>>,
    pub(crate) missing: Option<&'a Bound<'py, PyAny>>,
    pub(crate) na_values: Option<&'a Bound<'py, PyAny>>,
    pub(crate) keep_default_na: bool,
    /// Whether the table has one type: see [`Said::default_texts`].
    pub(crate) has_one_type: bool,
    pub(crate) quoted_missing: Option<bool>,
    pub(crate) dtypes: Option<&'a Bound<'py, PyMapping>>,
    pub(crate) max_columns: Option<&'a Bound<'py, PyAny>>,
    pub(crate) max_categories: Option<&'a Bound<'py, PyAny>>,
    pub(crate) max_record_bytes: Option<&'a Bound<'py, PyAny>>,
    pub(crate) max_buffered_bytes: Option<&'a Bound<'py, PyAny>>,
}

impl Said<'_, '_> {
    pub(crate) fn options(&self) -> PyResult<CsvOptions> {
        let mut options = CsvOptions::new();
        if let Some(delimiter) = self.delimiter {
            options = options.delimiter(ascii("a delimiter", delimiter.0)?);
        }
        if let Some(decimal) = self.decimal {
            options = options.decimal(decimal.0);
        }
        if let Some(thousands) = self.thousands {
            options = options.thousands(thousands.0);
        }
        if let Some(is_there) = self.trailing_delimiter {
            options = options.trailing_delimiter(if is_there { CsvTrailing::Yes } else { CsvTrailing::No });
        }
        if let Some(comment) = self.comment {
            options = options.inline_comment(ascii("what begins a comment", comment.0)?);
        }
        options = options.header(self.header.0);
        if let Some(columns) = self.columns {
            options = options.columns(chosen(columns)?);
        }
        if let Some(categorical) = self.categorical {
            options = options.kind(chosen(categorical)?, CsvColumnKind::Categorical);
        }
        options = self.with_markers(options)?;
        if let Some(is_missing) = self.quoted_missing {
            options = options.quoted_missing(is_missing);
        }
        if let Some(missing) = self.missing {
            options = options.missing(treatment(missing)?);
        }
        for item in self.dtypes.map(|types| types.items()).transpose()?.iter().flatten() {
            let (column, dtype): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            options = match unit_of(&dtype)? {
                Some(unit) => options.kind(one(&column)?, CsvColumnKind::Time(unit)),
                None => options.column_type(one(&column)?, element::of_object(&dtype)?),
            };
        }
        if let Some(limit) = self.max_columns {
            options = options.max_columns(numbers::count(limit)?);
        }
        if let Some(limit) = self.max_categories {
            options = options.max_categories(numbers::count(limit)?);
        }
        if let Some(limit) = self.max_record_bytes {
            options = options.max_record_bytes(numbers::count(limit)?);
        }
        if let Some(limit) = self.max_buffered_bytes {
            options = options.max_buffered_bytes(numbers::count(limit)? as u64);
        }
        Ok(options)
    }

    /// Returns whether a number replaces missing values.
    pub(crate) fn fills(&self) -> PyResult<bool> {
        let treatment = self.missing.map(treatment).transpose()?;
        Ok(matches!(treatment, Some(CsvMissing::Value(_))))
    }

    /// Returns options under which missing words and dates stay missing, which a number does not replace; `None` if the
    /// file has none of these columns.
    pub(crate) fn without_fills(&self, found: &DataDictionary) -> PyResult<Option<CsvOptions>> {
        let mut options = None;
        for (column, feature) in found.iter().enumerate() {
            if !has_labels(feature) && !matches!(feature.feature_type, FeatureType::Time(_)) {
                continue;
            }
            let key = match (&feature.name, self.columns) {
                (_, None) => column.into(),
                (Some(name), Some(_)) => CsvColumns::from(name.as_str()),
                (None, Some(_)) => {
                    let text = "a number for missing values cannot replace words and dates, and a chosen column of \
                                these has no name: pass missing=\"keep\", and fillna(0) replaces missing numbers";
                    return Err(TableError::new_err(text));
                }
            };
            let before = options.map_or_else(|| self.options(), Ok)?;
            options = Some(before.missing_in(key, CsvMissing::Keep));
        }
        Ok(options)
    }

    /// Returns the texts that mean a missing value by default. A table of one type refuses missing values, unless the
    /// caller states how to treat them: there, the spellings of NaN are NaN by default, and not missing.
    fn default_texts(&self) -> impl Iterator<Item = String> {
        let is_nan = |text: &str| text.trim_start_matches('-').eq_ignore_ascii_case("nan");
        let (are_there, are_values) = (self.keep_default_na, self.has_one_type && self.missing.is_none());
        let texts = CsvOptions::PANDAS_MISSING_TEXTS.into_iter();
        texts.filter(move |text| are_there && (!are_values || !is_nan(text))).map(str::to_owned)
    }

    /// Adds the texts and the numbers that mean a missing value, in all columns or in those that are the keys of a
    /// dictionary.
    fn with_markers(&self, options: CsvOptions) -> PyResult<CsvOptions> {
        let by_column = self.na_values.and_then(|given| given.cast::<PyMapping>().ok());
        let (texts, numbers) = match self.na_values.filter(|_| by_column.is_none()) {
            Some(given) => markers(given)?,
            None => (Vec::new(), Vec::new()),
        };
        let mut options = options.missing_texts(self.default_texts().chain(texts)).missing_numbers(numbers);
        for item in by_column.map(|given| given.items()).transpose()?.iter().flatten() {
            let (column, given): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let (column, (texts, numbers)) = (one(&column)?, markers(&given)?);
            options = options.missing_texts_in(column.clone(), texts).missing_numbers_in(column, numbers);
        }
        Ok(options)
    }
}

/// Parses the texts and the numbers that mean a missing value: one, or a list.
fn markers(given: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, Vec<f64>)> {
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    if given.cast::<PyMapping>().is_ok() {
        return Err(not_a_marker(given));
    }
    let is_text = given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>();
    let is_one = is_text || !given.hasattr("__iter__")?;
    let given = if is_one { vec![given.clone()] } else { lists::items::<Bound<'_, PyAny>>(given)? };
    for marker in given {
        let number = match marker.cast::<PyString>() {
            Ok(text) => text.to_string().parse().ok(),
            Err(_) if marker.is_instance_of::<PyBool>() => return Err(not_a_marker(&marker)),
            Err(_) => Some(marker.extract::<f64>().map_err(|_| not_a_marker(&marker))?),
        };
        texts.push(marker.str()?.to_string());
        numbers.extend(number.filter(|number| number.abs() < EXACT)); // not NaN
    }
    Ok((texts, numbers))
}

/// Below this, no integer in a file is rounded to another number.
const EXACT: f64 = (1_u64 << 53) as f64;

fn not_a_marker(marker: &Bound<'_, PyAny>) -> PyErr {
    match marker.repr() {
        Ok(marker) => TableTypeError::new_err(format!("na_values= are texts and numbers, not {marker}")),
        Err(error) => error,
    }
}

fn ascii(what: &str, character: char) -> PyResult<u8> {
    if character.is_ascii() {
        return Ok(character as u8);
    }
    Err(TableError::new_err(format!("{what} is one ASCII character, not {character:?}")))
}

/// Parses a column: its name, or its index.
fn one(column: &Bound<'_, PyAny>) -> PyResult<CsvColumns> {
    match column.cast::<PyString>() {
        Ok(name) => Ok(name.to_string().into()),
        Err(_) => numbers::place(column).map(CsvColumns::from),
    }
}

/// Parses a column, or a list of columns, by names or by indices.
fn chosen(columns: &Bound<'_, PyAny>) -> PyResult<CsvColumns> {
    if columns.is_instance_of::<PyString>() || !columns.hasattr("__len__")? {
        return one(columns);
    }
    let columns = lists::items::<Bound<'_, PyAny>>(columns)?;
    if columns.iter().all(|column| column.is_instance_of::<PyString>()) {
        return Ok(columns.iter().map(|name| name.extract()).collect::<PyResult<Vec<String>>>()?.into());
    }
    Ok(columns.iter().map(numbers::place).collect::<PyResult<Vec<usize>>>()?.into())
}

/// Parses the treatment of missing values.
fn treatment(missing: &Bound<'_, PyAny>) -> PyResult<CsvMissing> {
    if let Ok(word) = missing.cast::<PyString>() {
        return match &*word.to_string() {
            "keep" => Ok(CsvMissing::Keep),
            "error" => Ok(CsvMissing::Error),
            "nan" => Ok(CsvMissing::Nan),
            "skip" => Ok(CsvMissing::SkipRow),
            word => Err(TableError::new_err(format!(
                "missing= must be 'keep', 'error', 'nan', 'skip' or a number, not {word:?}"
            ))),
        };
    }
    if missing.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("missing= must be 'keep', 'error', 'nan', 'skip' or a number, not a boolean"));
    }
    missing.extract().map(CsvMissing::Value)
}
