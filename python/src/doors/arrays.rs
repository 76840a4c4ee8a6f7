//! NumPy's arrays and other buffers, and tables as arrays.

use numeric_table::{Error, ErrorKind, NumericTable};
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::error::{TableTypeError, exception};
use crate::base::memory;
use crate::doors::columns::of_objects;
use crate::doors::{Answer, Input};
use crate::table::Table;

/// NumPy's arrays. One of a subclass, whose attributes are its own, is first converted to one with NumPy's attributes.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    if !input.is_array {
        return Ok(Answer::Declined);
    }
    if input.is_plain_array {
        return of_array(input.data, input.copy).map(Answer::Table);
    }
    let numpy = input.data.py().import("numpy")?;
    let plain = numpy.call_method1("asarray", (input.data,))?;
    if !plain.get_type().is(&numpy.getattr("ndarray")?) {
        return Err(TableTypeError::new_err("NumPy cannot convert this object to an array"));
    }
    of_array(&plain, input.copy).map(Answer::Table)
}

/// Any other object that exports its memory as a buffer.
pub(crate) fn from_buffer(input: &Input<'_, '_>) -> PyResult<Answer> {
    if !memory::is_buffer(input.data) {
        return Ok(Answer::Declined);
    }
    memory::of_buffer(input.data, input.copy).map(Answer::Table)
}

/// Creates a table of an array whose class is `numpy.ndarray`. Doors that obtain one continue here.
pub(crate) fn of_array(array: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Box<dyn NumericTable>> {
    match of_objects(array, copy)? {
        Some(table) => Ok(table),
        None => memory::of_array(array, copy),
    }
}

#[methods]
impl Table {
    /// Returns a read-only NumPy array, which shares the table's memory if possible. ``copy=True`` returns a writable
    /// array, ``copy=False`` raises :class:`ValueError` if a copy is required. For a sparse table, all values are
    /// copied, including the zeros; :meth:`to_scipy` shares the stored values.
    #[pyo3(signature = (dtype = None, *, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = self.wanted(py, dtype, None)?;
        if copy == Some(false) && !self.is_shared(py, wanted.element)? {
            return Err(exception(Error::new(ErrorKind::CopyRequired { reason: self.reason(py) })));
        }
        let array = self.all_by(py, wanted)?.into_numpy(py)?;
        if copy == Some(true) { array.call_method0("copy") } else { Ok(array) }
    }

    /// Returns a NumPy array, like ``np.asarray(table, dtype)``.
    #[pyo3(signature = (dtype = None, *, copy = None))]
    fn to_numpy<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.__array__(py, dtype, copy)
    }
}
