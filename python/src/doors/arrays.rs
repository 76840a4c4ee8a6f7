//! NumPy's arrays and other buffers, and tables as arrays.

use numeric_table::{Error, ErrorKind, NumericTable, internal::record, trace::CopyKind};
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::error::{TableError, TableTypeError, exception};
use crate::base::memory;
use crate::doors::columns::of_parts;
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

/// Creates a table of an array whose class is `numpy.ndarray`: of numbers, or of objects, strings, dates, booleans,
/// fields, or numbers in another byte order. Doors that obtain one continue here.
pub(crate) fn of_array(array: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Box<dyn NumericTable>> {
    let dtype = array.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if kind != "O" || dimensions != 0 {
        memory::refuse_single_values(array)?; // a single object is of a type that tables do not have
    }
    if dimensions > 2 {
        return Err(TableError::new_err(format!("a table has two dimensions, but this has {dimensions}")));
    }
    let has_fields = kind == "V" && !dtype.getattr("names")?.is_none();
    if has_fields || matches!(&*kind, "O" | "M" | "U" | "T") {
        let found = of_parts(array, copy)?;
        return found.ok_or_else(|| TableTypeError::new_err(format!("tables do not support the type {dtype}")));
    }
    let is_native: bool = dtype.getattr("isnative")?.extract()?;
    if is_native && !matches!(&*kind, "b" | "c" | "m" | "S") {
        return memory::of_array(array, copy);
    }
    let numbers = array.py().import("numeric_table._columns")?.call_method1("array_of", (array, copy))?;
    if is_native {
        return memory::of_array(&numbers, copy);
    }
    let bytes: usize = numbers.getattr("nbytes")?.extract()?;
    record(CopyKind::Exchanged, bytes);
    memory::of_array(&numbers, Some(false)) // a private copy, which no other code can write
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
