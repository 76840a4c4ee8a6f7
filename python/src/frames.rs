//! Frames of pandas': tables of them, and they of tables. What pandas knows of columns is in the module `_pandas`.

use numeric_table::{
    Categories, Error, ErrorKind, Feature, FeatureType, HomogenNumericTable, NumericTable, Shape, SoaNumericTable,
    TableDescription, TimeUnit, table::Refused,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::boundary::methods;
use crate::error::OrRaise;
use crate::reading::listed;
use crate::source;
use crate::table::Table;

/// A name, the values, words, and whether these have an order.
type Column<'py> = (Option<String>, Bound<'py, PyAny>, Option<Vec<String>>, bool);

#[methods]
impl Table {
    /// The words of the columns whose values are indices of them, by the names of the columns, or by their numbers if
    /// they have none, or not alone.
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

    /// Returns a frame of pandas': columns without a name get their number, categories with words become
    /// ``pandas.Categorical``, in which an index without a word, or NaN, is missing. A sparse table becomes a sparse
    /// frame, by SciPy. Dates and times become ``datetime64`` (days in seconds, pandas' coarsest unit), in which NaN is
    /// missing. ``copy=False`` shares the memory of columns that lie by themselves, or have one type: pandas cannot
    /// write these in place.
    #[pyo3(signature = (*, copy = true))]
    fn to_pandas<'py>(slf: &Bound<'py, Self>, copy: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        // One state of the table, while others write it.
        let table = Bound::new(py, Self::new(slf.get().snapshot(py)?))?;
        let features = features(py, table.get())?;
        py.import("numeric_table._pandas")?.call_method1("frame_of", (table, features, copy))
    }
}

type Described = (Option<String>, Option<Vec<String>>, bool, Option<&'static str>);

/// Returns the name and the words of each column, whether the words have an order, and NumPy's name of a unit of times.
fn features(py: Python<'_>, table: &Table) -> PyResult<Vec<Described>> {
    let dictionary = table.read(py).dictionary().clone();
    let described = |feature: &Feature| {
        let categories = feature.categories.as_ref().filter(|categories| categories.has_words());
        let words = categories.map(|categories| categories.words().map(str::to_owned).collect());
        let unit = match feature.feature_type {
            FeatureType::Time(unit) => name_of(unit),
            _ => None,
        };
        (feature.name.clone(), words, feature.feature_type == FeatureType::Ordinal, unit)
    };
    listed(dictionary.iter().map(described), "columns")
}

fn name_of(unit: TimeUnit) -> Option<&'static str> {
    match unit {
        TimeUnit::Days => Some("D"),
        TimeUnit::Seconds => Some("s"),
        TimeUnit::Milliseconds => Some("ms"),
        TimeUnit::Microseconds => Some("us"),
        TimeUnit::Nanoseconds => Some("ns"),
        _ => None, // numbers, of a unit that NumPy may not have
    }
}

/// Returns whether an object is a frame, or a series, an index or an array of pandas', without importing pandas.
fn is_frame(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    let modules = data.py().import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    for (module, name) in [
        ("pandas", "DataFrame"),
        ("pandas", "Series"),
        ("pandas", "Index"),
        ("pandas.api.extensions", "ExtensionArray"),
    ] {
        // While pandas is being imported, it has none of them.
        if let Some(module) = modules.get_item(module)?
            && let Some(class) = module.getattr_opt(name)?
            && data.is_instance(&class)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes a table of the columns of a frame, or of one of a series, an index or an array of pandas'; `None` if it is
/// neither. `copy` is that of [`source::table`], for each column.
pub(crate) fn table(data: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Option<Box<dyn NumericTable>>> {
    if !is_frame(data)? {
        return Ok(None);
    }
    let py = data.py();
    let rows = data.len()?;
    let columns =
        py.import("numeric_table._pandas")?.call_method1("columns_of", (data, copy))?.cast_into::<PyList>()?;
    let mut table = SoaNumericTable::new();
    for column in &columns {
        let (name, values, words, is_ordered): Column<'_> = column.extract()?;
        let values = source::array(&values, copy)?;
        let mut feature = Feature { name, ..Feature::new(values.element_type()) };
        if let Some(words) = words {
            feature = feature.categorical(Categories::from_words(words).or_raise()?);
            feature = if is_ordered { feature.ordinal() } else { feature };
        }
        table.push_feature(feature, values).map_err(Refused::into_error).or_raise()?;
    }
    if columns.is_empty() {
        let empty = HomogenNumericTable::<f64>::zeros(Shape { rows, columns: 0 });
        return Ok(Some(Box::new(empty.or_raise()?)));
    }
    let found = table.row_count();
    if found != rows {
        return Err(Error::new(ErrorKind::LengthMismatch { expected: rows, found })).or_raise();
    }
    Ok(Some(Box::new(table)))
}
