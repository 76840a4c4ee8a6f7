//! Numbers of rows and columns that a caller gives: what is negative, or larger than any, is an error that says so.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::error::{TableError, TableIndexError};

/// Returns a whole number of Python's if a word of memory holds it.
fn natural<N>(value: &Bound<'_, PyAny>, otherwise: impl FnOnce(&Bound<'_, PyAny>) -> PyErr) -> PyResult<N>
where
    N: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    if value.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("a truth value is no number of rows or columns"));
    }
    let is_out_of_range = |error: &PyErr| error.is_instance_of::<pyo3::exceptions::PyOverflowError>(value.py());
    value.extract().map_err(|error| if is_out_of_range(&error) { otherwise(value) } else { error })
}

/// Takes the number of a row, which is counted from 0.
pub(crate) fn row(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    natural(value, |value| TableIndexError::new_err(format!("there is no row {value}: rows are counted from 0")))
}

/// Takes the number of the row before which rows end; `None` is the end.
pub(crate) fn end(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if value.is_none() { Ok(None) } else { row(value).map(Some) }
}

/// Takes the number of a file, a column or a group, which is counted from 0.
pub(crate) fn place(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    natural(value, |value| {
        TableIndexError::new_err(format!(
            "{value} is no number of a file, a column or a group: they are counted from 0"
        ))
    })
}

/// Takes how many there are to be.
pub(crate) fn count(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    natural(value, |value| TableError::new_err(format!("a number of rows, columns or values cannot be {value}")))
}

/// Takes the seed of a random choice.
pub(crate) fn seed(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    natural(value, |value| TableError::new_err(format!("a seed is from 0 to 2^64 - 1, not {value}")))
}
