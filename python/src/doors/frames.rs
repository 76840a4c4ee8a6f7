//! Conversion from and to pandas frames. The module `_pandas` has the code that knows pandas' columns.

use numeric_table::{Feature, FeatureType};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::base::boundary::methods;
use crate::doors::columns::{name_of, of_columns};
use crate::doors::{Answer, Input};
use crate::table::Table;
use crate::table::reading::listed;

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

    /// Makes ``narwhals.from_native(table)`` a frame. Libraries that use narwhals, such as scikit-learn, take the names
    /// of columns from it, and select columns by name.
    fn __narwhals_dataframe__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("numeric_table._narwhals")?.call_method1("frame_of", (slf,))
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

/// Returns a table of the columns of a pandas frame, series, index or array; declines any other object. `copy` is that
/// of [`doors::table`], for each column.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    let (data, copy) = (input.data, input.copy);
    if !is_frame(data)? {
        return Ok(Answer::Declined);
    }
    let py = data.py();
    let rows = data.len()?;
    let columns =
        py.import("numeric_table._pandas")?.call_method1("columns_of", (data, copy))?.cast_into::<PyList>()?;
    of_columns(py, &columns, rows, copy).map(Answer::Table)
}
