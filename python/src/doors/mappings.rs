//! Dictionaries of columns.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::doors::columns::of_parts;
use crate::doors::{Answer, Input};

/// A dictionary: its keys are the names of columns, and each value is a column of any kind.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    match input.data.is_exact_instance_of::<PyDict>() {
        true => of_parts(input.data, input.copy).map(Answer::from),
        false => Ok(Answer::Declined),
    }
}
