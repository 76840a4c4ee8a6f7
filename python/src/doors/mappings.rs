//! Dictionaries of columns.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::doors::columns::of_parts;
use crate::doors::{Answer, Input};

/// A dictionary or another mapping: its keys are the names of columns, and each value is a column of any kind.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    // Sparse arrays of keys are dictionaries, too, in some versions of SciPy.
    let is_mapping = || Ok::<_, PyErr>(input.data.cast::<PyMapping>().is_ok() && !input.data.hasattr("tocsr")?);
    match input.data.is_exact_instance_of::<PyDict>() || is_mapping()? {
        true => of_parts(input.data, input.copy).map(Answer::from),
        false => Ok(Answer::Declined),
    }
}
