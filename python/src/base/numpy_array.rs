//! NumPy arrays over memory of the library.
//!
//! `numpy.asarray` of a buffer gives the same arrays, but reads the format of the items as text and creates a
//! `memoryview`, which takes longer than reading a row.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use ::numpy::npyffi::{NpyTypes, PY_ARRAY_API, get_type_object};
use pyo3::prelude::*;

/// Values in memory: their type (an object of `numpy.dtype`), address, and for each dimension the length, and the
/// distance between neighbors in bytes.
pub(crate) struct Values<'py, 'a> {
    pub(crate) dtype: Bound<'py, PyAny>,
    pub(crate) address: usize,
    pub(crate) shape: &'a [isize],
    pub(crate) strides: &'a [isize],
}

/// Creates a read-only array over values.
///
/// # Safety
/// `dtype` is a `numpy.dtype`. There are values of this type at the address, with the shape and the strides; they are
/// aligned, and stay in place and unchanged while `owner` lives.
pub(crate) unsafe fn read_only<'py>(values: Values<'py, '_>, owner: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Values { dtype, address, shape, strides } = values;
    let py = dtype.py();
    assert!(shape.len() == strides.len() && shape.len() <= 2, "one or two dimensions");
    let (count, data) = (shape.len() as c_int, address as *mut c_void);
    let (shape, strides) = (shape.as_ptr().cast_mut(), strides.as_ptr().cast_mut());
    // SAFETY: `dtype` is a type of values, whose ownership is passed. There are `count` lengths and strides, which are
    // only read. Without flags, the array is read-only and does not own its memory.
    let array = unsafe {
        let class = get_type_object(py, NpyTypes::PyArray_Type);
        let dtype = dtype.into_ptr().cast();
        let array = PY_ARRAY_API.PyArray_NewFromDescr(py, class, dtype, count, shape, strides, data, 0, null_mut());
        Bound::from_owned_ptr_or_err(py, array)?
    };
    // SAFETY: this array has no base object yet. The owner keeps the values alive as long as the array, as the caller
    // promises; if this fails, the array is dropped here, and it does not own the values.
    match unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), owner.into_ptr()) } {
        0 => Ok(array),
        _ => Err(PyErr::fetch(py)),
    }
}
