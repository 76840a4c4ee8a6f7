//! Numbers of rows and columns from a caller. A negative or too large number is an error with a clear message.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::base::error::{TableError, TableIndexError};

/// Converts a Python integer, if a machine word holds it.
fn natural<N>(value: &Bound<'_, PyAny>, otherwise: impl FnOnce(&Bound<'_, PyAny>) -> PyErr) -> PyResult<N>
where
    N: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    if value.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("a boolean is not a number of rows or columns"));
    }
    let is_out_of_range = |error: &PyErr| error.is_instance_of::<pyo3::exceptions::PyOverflowError>(value.py());
    value.extract().map_err(|error| if is_out_of_range(&error) { otherwise(value) } else { error })
}

/// Parses the index of a row, which is counted from 0.
pub(crate) fn row(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    natural(value, |value| TableIndexError::new_err(format!("there is no row {value}: rows are counted from 0")))
}

/// Parses the index after the last row; `None` is the end.
pub(crate) fn end(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if value.is_none() { Ok(None) } else { row(value).map(Some) }
}

/// Parses the index of a file, a column or a group, which is counted from 0.
pub(crate) fn place(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    natural(value, |value| {
        TableIndexError::new_err(format!(
            "{value} is not the index of a file, a column or a group: these are counted from 0"
        ))
    })
}

/// Parses a number of rows, columns or values.
pub(crate) fn count(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    natural(value, |value| TableError::new_err(format!("a number of rows, columns or values cannot be {value}")))
}

/// Parses the seed of a random choice.
pub(crate) fn seed(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    natural(value, |value| TableError::new_err(format!("a seed is from 0 to 2^64 - 1, not {value}")))
}

/// Returns a random number that the system draws.
pub(crate) fn drawn(py: Python<'_>) -> PyResult<u64> {
    Ok(u64::from_ne_bytes(py.import("os")?.call_method1("urandom", (8,))?.extract()?))
}
