//! Lists and arrays from a caller. There may be too little memory for them, and their reported lengths may be wrong.

use std::collections::TryReserveError;

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

fn too_long(_: TryReserveError) -> PyErr {
    PyMemoryError::new_err("the list is too long")
}

/// Returns the items of a list, or of another sequence that is indexed from 0.
pub(crate) fn items<'py, V>(list: &Bound<'py, PyAny>) -> PyResult<Vec<V>>
where
    V: for<'a> FromPyObject<'a, 'py>,
{
    let is_list = list.hasattr("__getitem__")? && !list.hasattr("keys")? && !list.is_instance_of::<PyString>();
    if !is_list {
        return Err(PyTypeError::new_err(format!("{} is not a list", list.get_type().name()?)));
    }
    let mut found = Vec::new();
    found.try_reserve_exact(list.len().unwrap_or(0)).map_err(too_long)?;
    for item in list.try_iter()? {
        let item = item?.extract().map_err(Into::into)?;
        found.try_reserve(1).map_err(too_long)?;
        found.push(item);
    }
    Ok(found)
}

/// Returns the items of a list, if there is one.
pub(crate) fn items_or_none<'py, V>(list: &Bound<'py, PyAny>) -> PyResult<Option<Vec<V>>>
where
    V: for<'a> FromPyObject<'a, 'py>,
{
    if list.is_none() { Ok(None) } else { items(list).map(Some) }
}

/// Converts a NumPy vector to the given type, such as `"int64"`, and copies its values.
fn copied<T: Element + Default>(array: &Bound<'_, PyAny>, dtype: &str) -> PyResult<Vec<T>> {
    let py = array.py();
    let array = py.import("numpy")?.call_method1("ascontiguousarray", (array, dtype))?;
    let buffer = PyBuffer::<T>::get(&array)?;
    let mut values = Vec::new();
    values.try_reserve_exact(buffer.item_count()).map_err(too_long)?;
    values.resize(buffer.item_count(), T::default());
    buffer.copy_to_slice(py, &mut values)?;
    Ok(values)
}

/// Returns the values of a NumPy vector of booleans.
pub(crate) fn truths(array: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    let bytes: Vec<u8> = copied(&array.call_method1("astype", ("bool",))?.call_method1("view", ("uint8",))?, "uint8")?;
    let mut truths = Vec::new();
    truths.try_reserve_exact(bytes.len()).map_err(too_long)?;
    truths.extend(bytes.into_iter().map(|byte| byte != 0));
    Ok(truths)
}

/// Converts the values of a NumPy vector of integers to positions, by `find`.
pub(crate) fn places(array: &Bound<'_, PyAny>, find: impl Fn(isize) -> PyResult<usize>) -> PyResult<Vec<usize>> {
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let mut places = Vec::new();
    if kind == "u" {
        let numbers: Vec<u64> = copied(array, "uint64")?;
        places.try_reserve_exact(numbers.len()).map_err(too_long)?;
        for number in numbers {
            places.push(find(isize::try_from(number).unwrap_or(isize::MAX))?);
        }
    } else {
        let numbers: Vec<i64> = copied(array, "int64")?;
        places.try_reserve_exact(numbers.len()).map_err(too_long)?;
        for number in numbers {
            places.push(find(number as isize)?);
        }
    }
    Ok(places)
}
