//! What columns of codes and of times show: category labels, and points in time.
//!
//! A table stores numbers. `table["city"]` and rows show the labels of codes, and `datetime64` for counts since 1970;
//! `column`, `rows` and arrays of the table have the stored numbers. The module `_columns` makes the arrays.

use numeric_table::table::spi::Region;
use numeric_table::{
    BlockAccess, ConversionPolicy, Element, ElementType, Feature, FeatureType, MissingValues, NumericTable,
    TableDescription, dictionary::TimeUnit,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::base::boundary::methods;
use crate::base::element::with_type;
use crate::base::error::{OrRaise, TableTypeError, exception_in};
use crate::base::share::Share;
use crate::table::Table;
use crate::table::describe::label;
use crate::table::reading::{listed, read};

#[methods]
impl Table {
    /// The category labels of each column of codes, as a dictionary. Its keys are the names of the columns, or their
    /// indices if a name is missing or ambiguous.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table({"city": ["Rome", "Oslo", "Rome"], "size": [1, 2, 3]}).categories
    /// {'city': ['Rome', 'Oslo']}
    #[getter]
    fn categories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (column, (name, words, ..)) in features(py, self)?.into_iter().enumerate() {
            let Some(words) = words else { continue };
            match name {
                Some(name) if !found.contains(&name)? => found.set_item(name, words)?,
                _ => found.set_item(column, words)?,
            }
        }
        Ok(found)
    }

    /// Returns the stored integers of a column of categories, given its name or index: the positions of its labels in
    /// :attr:`categories`. A missing value is -1, as in pandas; the integers are signed then.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table({"city": ["Rome", None, "Oslo", "Rome"]})
    /// >>> table.codes("city")
    /// array([ 0, -1,  1,  0], dtype=int8)
    /// >>> table["city"]
    /// array(['Rome', None, 'Oslo', 'Rome'], dtype=object)
    fn codes<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let column = self.column_index(py, key)?;
        let whole = Self::new(self.snapshot(py)?);
        let feature = whole.read(py).dictionary().feature(column).or_raise()?.clone();
        let Some(categories) = &feature.categories else {
            let text = format!("column {} has no categories: column({}) has its numbers", key.repr()?, key.repr()?);
            return Err(TableTypeError::new_err(text));
        };
        let (values, mask) = whole.values_and_mask(py, column)?;
        if mask.is_none() && !feature.element_type.is_float() {
            return Ok(values);
        }
        py.import("numeric_table._columns")?.call_method1("signed_codes", (values, mask, categories.len()))
    }
}

/// The values shown in place of the numbers of a column.
enum Shown {
    Numbers,
    Labels,
    Times(&'static str),
}

impl Shown {
    fn of(feature: &Feature) -> Self {
        if has_labels(feature) {
            return Self::Labels;
        }
        unit_name_of(feature).map_or(Self::Numbers, Self::Times)
    }
}

/// Returns whether a column shows words: the labels of categories.
pub(crate) fn has_labels(feature: &Feature) -> bool {
    feature.categories.as_ref().is_some_and(|categories| categories.has_labels())
}

/// Returns the unit of a column of dates and times.
pub(crate) fn unit_of(feature: &Feature) -> Option<TimeUnit> {
    match feature.feature_type {
        FeatureType::Time(unit) => Some(unit),
        _ => None,
    }
}

/// Returns NumPy's name of the unit of a column of dates and times.
pub(crate) fn unit_name_of(feature: &Feature) -> Option<&'static str> {
    unit_of(feature).and_then(name_of)
}

/// Returns whether a column shows its stored numbers, and not labels or points in time.
pub(crate) fn shows_numbers(feature: &Feature) -> bool {
    matches!(Shown::of(feature), Shown::Numbers)
}

impl Table {
    /// Returns a column as `table[key]` shows it: labels, points in time, or the stored numbers.
    pub(crate) fn shown_column<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let column = self.column_index(py, key)?;
        let shown = |table: &Self| Ok::<_, PyErr>(Shown::of(table.read(py).dictionary().feature(column).or_raise()?));
        if matches!(shown(self)?, Shown::Numbers) {
            let table = self.read(py);
            let region = Region { rows: 0..table.row_count(), columns: column..column + 1 };
            let share = shown_numbers(py, &**table, &region, table.column_type(column).or_raise()?)?;
            drop(table);
            return share.into_numpy(py)?.call_method1("reshape", (-1,));
        }
        let whole = Self::new(self.snapshot(py)?); // one state, while other threads write the table
        let feature = whole.read(py).dictionary().feature(column).or_raise()?.clone();
        let labels = feature.categories.as_ref().filter(|categories| categories.has_labels());
        let labels = labels.map(|categories| categories.labels().collect::<Vec<_>>());
        let unit = if let Shown::Times(unit) = Shown::of(&feature) { Some(unit) } else { None };
        let (values, mask) = whole.values_and_mask(py, column)?;
        let name = label(py, column, feature.name.as_deref())?;
        py.import("numeric_table._columns")?.call_method1("values_of", (name, values, mask, labels, unit))
    }

    /// Returns a value as `table[row, column]` shows it. A missing one is `None` among labels, and NaT among times.
    pub(crate) fn shown_value<'py>(&self, py: Python<'py>, row: usize, column: usize) -> PyResult<Bound<'py, PyAny>> {
        let table = self.read(py);
        let feature = table.dictionary().feature(column).or_raise()?;
        let shown = Shown::of(feature);
        if matches!(shown, Shown::Times(_)) {
            drop(table);
            let one = self.sliced(py, row..row + 1)?;
            return one.shown_column(py, column.into_pyobject(py)?.as_any())?.get_item(0);
        }
        if matches!(shown, Shown::Labels) {
            let label = match table.is_missing(row, column).or_raise()? {
                true => None,
                false => with_type!(feature.element_type, T => {
                    let value = table.value::<T>(row, column).map_err(|error| exception_in(error, table.dictionary()))?;
                    index_of(value).and_then(|code| feature.label(code)).map(str::to_owned)
                }),
            };
            drop(table);
            return Ok(label.into_pyobject(py)?);
        }
        let region = Region { rows: row..row + 1, columns: column..column + 1 };
        let element = table.column_type(column).or_raise()?;
        let value = shown_numbers(py, &**table, &region, element)?;
        drop(table);
        value.into_numpy(py)?.get_item((0, 0))
    }

    /// Returns a row of numbers as `table[row]` shows it.
    pub(crate) fn number_row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let wanted = self.wanted(py, None, None)?;
        let table = self.read(py);
        let region = Region { rows: row..row + 1, columns: 0..table.column_count() };
        let share = match !wanted.element.is_float() && lacks_integers(&**table, &region)? {
            true => shown_numbers(py, &**table, &region, wanted.element)?,
            false => wanted.rows(py, &**table, row..row + 1)?,
        };
        drop(table);
        share.into_numpy(py)?.call_method1("reshape", (-1,))
    }

    /// Returns a row of Python values, if some of its columns show labels or times; `None` if all are numbers.
    /// `columns` are some columns of the table, or all.
    pub(crate) fn shown_row<'py>(
        &self,
        py: Python<'py>,
        row: usize,
        columns: Option<&[usize]>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let columns = {
            let table = self.read(py);
            let dictionary = table.dictionary();
            let is_other =
                |column: usize| -> numeric_table::Result<bool> { Ok(!shows_numbers(dictionary.feature(column)?)) };
            let mut has_others = false;
            for column in columns.map_or(0..dictionary.len(), |columns| 0..columns.len()) {
                has_others |= is_other(columns.map_or(column, |columns| columns[column])).or_raise()?;
            }
            if !has_others {
                return Ok(None);
            }
            columns.map_or_else(|| listed(0..dictionary.len(), "columns"), |columns| Ok(columns.to_vec()))?
        };
        let one = self.sliced(py, row..row + 1)?; // one state of the row
        let value = |column: usize| {
            let (is_time, is_missing) = {
                let table = one.read(py);
                let shown = Shown::of(table.dictionary().feature(column).or_raise()?);
                (matches!(shown, Shown::Times(_)), table.is_missing(0, column).or_raise()?)
            };
            if is_missing && !is_time {
                return Ok(py.None().into_bound(py));
            }
            let value = one.shown_value(py, 0, column)?;
            // NumPy's numbers become those of Python; points in time stay, which Python has in microseconds only.
            let is_number = !is_time && value.hasattr("item")?;
            if is_number { value.call_method0("item") } else { Ok(value) }
        };
        let values = columns.into_iter().map(value).collect::<PyResult<Vec<_>>>()?;
        Ok(Some(PyTuple::new(py, values)?.into_any()))
    }
}

/// Returns whether integers of a region are missing.
pub(crate) fn lacks_integers(table: &dyn NumericTable, region: &Region) -> PyResult<bool> {
    for column in region.columns.clone() {
        if table.dictionary().feature(column).is_ok_and(|feature| feature.nullable)
            && !table.column_type(column).or_raise()?.is_float()
            && let Some(validity) = table.column_validity(column).or_raise()?
            && validity.first_missing(region.rows.clone()).is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads numbers in a type, in which brackets show them. If integers are missing, all are float64, and these are NaN:
/// float64 must represent the others exactly.
fn shown_numbers(py: Python<'_>, table: &dyn NumericTable, region: &Region, element: ElementType) -> PyResult<Share> {
    if !element.is_float()
        && lacks_integers(table, region)?
        && let Ok(found) = read::<f64>(py, table, region, ConversionPolicy::Exact)
    {
        return Ok(found);
    }
    // An error names the missing value, and what keeps all digits.
    with_type!(element, T => read::<T>(py, table, region, ConversionPolicy::Saturate))
}

fn index_of<T: Element>(value: T) -> Option<usize> {
    value.exact().index()
}

type Described = (Option<String>, Option<Vec<String>>, bool, Option<&'static str>, bool);

/// Returns the name and the labels of each column, whether the labels are ordered, NumPy's name of a time unit, and
/// whether values may be missing.
pub(crate) fn features(py: Python<'_>, table: &Table) -> PyResult<Vec<Described>> {
    let dictionary = table.read(py).dictionary().clone();
    let described = |feature: &Feature| {
        let categories = feature.categories.as_ref().filter(|categories| categories.has_labels());
        let words = categories.map(|categories| categories.labels().map(str::to_owned).collect());
        let unit = unit_name_of(feature);
        (feature.name.clone(), words, feature.feature_type == FeatureType::Ordinal, unit, feature.nullable)
    };
    listed(dictionary.iter().map(described), "columns")
}

/// The units of time that NumPy has, with its names.
pub(crate) const UNITS: [(TimeUnit, &str); 5] = [
    (TimeUnit::Days, "D"),
    (TimeUnit::Seconds, "s"),
    (TimeUnit::Milliseconds, "ms"),
    (TimeUnit::Microseconds, "us"),
    (TimeUnit::Nanoseconds, "ns"),
];

/// Returns NumPy's name of a unit. Values in other units are numbers.
pub(crate) fn name_of(unit: TimeUnit) -> Option<&'static str> {
    UNITS.iter().find(|(other, _)| *other == unit).map(|&(_, name)| name)
}
