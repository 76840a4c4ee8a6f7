//! Tables as objects of other libraries, by calls that name them: pyarrow, polars, the interchange protocol of frames.

use pyo3::exceptions::{PyAttributeError, PyImportError};
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::doors::arrow::check_seconds;
use crate::table::Table;

#[methods]
impl Table {
    /// Returns a ``pyarrow.Table``, as ``pyarrow.table(table)`` does. Columns that are stored contiguously share their
    /// memory; category labels become dictionaries.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table({"a": [1, 2], "b": ["x", "y"]}).to_arrow().num_rows  # doctest: +SKIP
    /// 2
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        module(slf.py(), "pyarrow", "to_arrow")?.call_method1("table", (slf,))
    }

    /// Returns a ``polars.DataFrame``, as ``polars.DataFrame(table)`` does. Columns that are stored contiguously share
    /// their memory; category labels become categories. polars stores seconds as milliseconds: a point in time beyond
    /// its range is an error.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table({"a": [1, 2], "b": ["x", "y"]}).to_polars().height  # doctest: +SKIP
    /// 2
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let polars = module(py, "polars", "to_polars")?;
        let table = Bound::new(py, Self::new(slf.get().snapshot(py)?))?; // one state, which is checked
        check_seconds(table.get(), py)?;
        polars.call_method1("DataFrame", (table,))
    }

    /// Returns the module ``numpy``: libraries of the array API, such as scikit-learn with ``array_api_dispatch=True``,
    /// convert the table to an array of it. The table itself is not an array.
    #[pyo3(signature = (*, api_version = None))]
    fn __array_namespace__<'py>(
        &self,
        py: Python<'py>,
        api_version: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyModule>> {
        let _ = api_version; // NumPy has one version of it
        py.import("numpy")
    }

    /// The call of the interchange protocol of frames, through pyarrow. Only tables whose columns all have names have
    /// it, as frames have.
    #[getter]
    fn __dataframe__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if slf.get().read(py).dictionary().names().any(|name| name.is_none()) {
            return Err(PyAttributeError::new_err(())); // __getattr__ has the sentence
        }
        let protocol = py.import("numeric_table._interchange")?.getattr("Protocol")?;
        protocol.call1((slf,))
    }
}

/// Imports the library that a call requires.
fn module<'py>(py: Python<'py>, name: &str, call: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(|error| match error.is_instance_of::<PyImportError>(py) {
        true => {
            let missing = PyImportError::new_err(format!("{call} requires the package {name}: {}", error.value(py)));
            missing.set_cause(py, Some(error));
            missing
        }
        false => error,
    })
}
