//! Conversion from and to pandas frames. The module `_pandas` has the code that knows pandas' columns.

use numeric_table::{
    Error, ErrorKind, Feature, FeatureType, HomogenNumericTable, MissingValues, NumericTable, Shape, SoaNumericTable,
    TableDescription,
    array::Validity,
    dictionary::{Categories, TimeUnit},
    table::Rejected,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableError, TableTypeError};
use crate::base::lists;
use crate::doors::source;
use crate::table::Table;
use crate::table::reading::listed;

/// A name, the values, a mask of the missing ones, category labels, whether these are ordered, and NumPy's name of a
/// unit of time. The values are an array, or a table of one column, which has all of this but the name.
type Column<'py> =
    (Option<String>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<Vec<String>>, bool, Option<String>);

#[methods]
impl Table {
    /// The category labels of each column of codes, as a dictionary. Its keys are the names of the columns, or their
    /// indices if a name is missing or ambiguous.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1], [0]]).categories
    /// {}
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

    /// Returns a pandas frame. Columns without a name are labeled with their index. Categories with labels become
    /// ``pandas.Categorical``, in which a code without a label, or NaN, is missing. A sparse table becomes a sparse
    /// frame, through SciPy. Dates and times become ``datetime64`` (days as seconds, the coarsest unit in pandas), in
    /// which NaN is missing. ``copy=False`` shares the memory of columns that are stored contiguously or have one type:
    /// pandas cannot write these in place.
    #[pyo3(signature = (*, copy = true))]
    fn to_pandas<'py>(slf: &Bound<'py, Self>, copy: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        // One state of the table, while other threads write it.
        let table = Bound::new(py, Self::new(slf.get().snapshot(py)?))?;
        let features = features(py, table.get())?;
        py.import("numeric_table._pandas")?.call_method1("frame_of", (table, features, copy))
    }
}

type Described = (Option<String>, Option<Vec<String>>, bool, Option<&'static str>, bool);

/// Returns the name and the labels of each column, whether the labels are ordered, NumPy's name of a time unit, and
/// whether values may be missing.
fn features(py: Python<'_>, table: &Table) -> PyResult<Vec<Described>> {
    let dictionary = table.read(py).dictionary().clone();
    let described = |feature: &Feature| {
        let categories = feature.categories.as_ref().filter(|categories| categories.has_labels());
        let words = categories.map(|categories| categories.labels().map(str::to_owned).collect());
        let unit = match feature.feature_type {
            FeatureType::Time(unit) => name_of(unit),
            _ => None,
        };
        (feature.name.clone(), words, feature.feature_type == FeatureType::Ordinal, unit, feature.nullable)
    };
    listed(dictionary.iter().map(described), "columns")
}

/// The units of time that NumPy has, with its names.
const UNITS: [(TimeUnit, &str); 5] = [
    (TimeUnit::Days, "D"),
    (TimeUnit::Seconds, "s"),
    (TimeUnit::Milliseconds, "ms"),
    (TimeUnit::Microseconds, "us"),
    (TimeUnit::Nanoseconds, "ns"),
];

/// Returns NumPy's name of a unit. Values in other units are numbers.
fn name_of(unit: TimeUnit) -> Option<&'static str> {
    UNITS.iter().find(|(other, _)| *other == unit).map(|&(_, name)| name)
}

/// Returns whether an object is a pandas frame, series, index or array, without importing pandas.
fn is_frame(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    let modules = data.py().import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    for (module, name) in [
        ("pandas", "DataFrame"),
        ("pandas", "Series"),
        ("pandas", "Index"),
        ("pandas.api.extensions", "ExtensionArray"),
    ] {
        // While pandas is being imported, its classes do not exist yet.
        if let Some(module) = modules.get_item(module)?
            && let Some(class) = module.getattr_opt(name)?
            && data.is_instance(&class)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns a table of the columns of a pandas frame, series, index or array; `None` for any other object. `copy` is
/// that of [`source::table`], for each column.
pub(crate) fn table(data: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Option<Box<dyn NumericTable>>> {
    if !is_frame(data)? {
        return Ok(None);
    }
    let py = data.py();
    let rows = data.len()?;
    let columns =
        py.import("numeric_table._pandas")?.call_method1("columns_of", (data, copy))?.cast_into::<PyList>()?;
    of_columns(py, &columns, rows, copy).map(Some)
}

/// Returns a table of columns that Python code has prepared. `copy` is that of [`source::table`], for each column.
fn of_columns(
    py: Python<'_>,
    columns: &Bound<'_, PyList>,
    rows: usize,
    copy: Option<bool>,
) -> PyResult<Box<dyn NumericTable>> {
    let mut table = SoaNumericTable::new();
    for column in columns {
        let (name, values, mask, words, is_ordered, unit): Column<'_> = column.extract()?;
        if let Ok(one) = values.cast::<Table>() {
            let one = one.get().snapshot(py)?;
            let (values, validity) = one.column_with_validity(0, ..).or_raise()?;
            let feature = Feature { name, ..one.dictionary().feature(0).or_raise()?.clone() };
            table.push_nullable(feature, values, validity).map_err(Rejected::into_error).or_raise()?;
            continue;
        }
        let values = source::array(&values, copy)?;
        let mut feature = Feature { name, ..Feature::new(values.element_type()) };
        if let Some(words) = words {
            feature = feature.categorical(Categories::from_labels(words).or_raise()?);
            feature = if is_ordered { feature.ordinal() } else { feature };
        }
        if let Some(unit) = unit {
            let found = UNITS.iter().find(|(_, name)| *name == unit).map(|&(unit, _)| FeatureType::Time(unit));
            let wrong = || TableTypeError::new_err(format!("tables do not support times in the unit {unit:?}"));
            feature.feature_type = found.ok_or_else(wrong)?;
        }
        let validity = mask.map(|mask| validity_of(&mask)).transpose()?;
        table.push_nullable(feature, values, validity).map_err(Rejected::into_error).or_raise()?;
    }
    if columns.is_empty() {
        let empty = HomogenNumericTable::<f64>::zeros(Shape { rows, columns: 0 });
        return Ok(Box::new(empty.or_raise()?));
    }
    let found = table.row_count();
    if found != rows {
        return Err(Error::new(ErrorKind::LengthMismatch { expected: rows, actual: found })).or_raise();
    }
    Ok(Box::new(table))
}

/// Returns the bitmap of a mask, a vector of booleans that are true where a value is missing.
fn validity_of(mask: &Bound<'_, PyAny>) -> PyResult<Validity> {
    let dimensions: usize = mask.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        return Err(TableError::new_err(format!("a mask of one dimension is required, but this has {dimensions}")));
    }
    let is_missing = lists::truths(mask)?;
    Validity::from_fn(is_missing.len(), |row| is_missing.get(row) == Some(&false)).or_raise()
}

/// Returns a table of a masked array with masked values, of an array of dates, of objects with `None` among them, or of
/// a dictionary of columns; `None` for anything else. The module `_columns` prepares them.
pub(crate) fn of_parts(data: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Option<Box<dyn NumericTable>>> {
    let py = data.py();
    let found = py.import("numeric_table._columns")?.call_method1("columns_of", (data, copy))?;
    let Some((columns, rows)) = found.extract::<Option<(Bound<'_, PyList>, usize)>>()? else { return Ok(None) };
    of_columns(py, &columns, rows, copy).map(Some)
}
