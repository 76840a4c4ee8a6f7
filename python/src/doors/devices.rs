//! Arrays in the memory of CUDA devices, which are refused: `DeviceTable` makes tables of them. And what DLPack and the
//! CUDA array interface say about an array, before its memory is touched.

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

use crate::base::error::TableTypeError;
use crate::base::exit;
use crate::doors::{Answer, Input};

/// DLPack's numbers of kinds of memory.
pub(crate) const CPU: i32 = 1;
/// Plain memory of a CUDA device.
pub(crate) const PLAIN: i32 = 2;
pub(crate) const PINNED: i32 = 3;
pub(crate) const MANAGED: i32 = 13;

/// Refuses an array in the memory of a device, and says how to read it.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    let array = input.data;
    let is_there = match place(array)? {
        Some((device_type, _)) => matches!(device_type, PLAIN | MANAGED),
        None => attribute(array, "__cuda_array_interface__")?.is_some(),
    };
    if !is_there {
        return Ok(Answer::Declined);
    }
    if array.get_type().fully_qualified_name()?.to_str()? == "numeric_table.DeviceTable" {
        return Err(TableTypeError::new_err("the values are in the memory of a CUDA device: to_table() copies them"));
    }
    Err(TableTypeError::new_err(
        "the values are in the memory of a CUDA device: DeviceTable.from_dlpack(x) is a table of them there, \
         and its to_table() copies them",
    ))
}

/// Returns an attribute, if the object has it. User code that runs here may be on a daemon thread, which stops when the
/// interpreter exits.
pub(crate) fn attribute<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    match exit::attribute(object, name) {
        Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => Ok(None),
        result => result.map(Some),
    }
}

/// Returns the type and the number of the device of an array that exports DLPack tensors.
pub(crate) fn place(array: &Bound<'_, PyAny>) -> PyResult<Option<(i32, i32)>> {
    if attribute(array, "__dlpack__")?.is_none() {
        return Ok(None);
    }
    let Some(device) = attribute(array, "__dlpack_device__")? else { return Ok(None) };
    let found = exit::call(&device, ())?.extract();
    let (device_type, number): (i64, i64) = found.map_err(|error| wrong("the result of __dlpack_device__", &error))?;
    Ok(Some((i32::try_from(device_type).unwrap_or(0), i32::try_from(number).unwrap_or(-1))))
}

/// Returns the error for what a protocol does not allow.
pub(crate) fn wrong(what: &str, error: &PyErr) -> PyErr {
    TableTypeError::new_err(format!("{what} is wrong: {error}"))
}
