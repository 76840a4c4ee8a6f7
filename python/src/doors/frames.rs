//! Conversion from and to pandas frames. The module `_pandas` has the code that knows pandas' columns.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::base::boundary::methods;
use crate::doors::columns::of_columns;
use crate::doors::{Answer, Input};
use crate::table::Table;
use crate::table::labels::features;

#[methods]
impl Table {
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
