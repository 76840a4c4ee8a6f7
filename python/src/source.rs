//! Tables of what Python has: arrays of NumPy's, buffers, sequences.

use numeric_table::{
    Array, CopyReason, DataLayout, Element, ElementType, Error, HomogenNumericTable, NumericTable, Shape,
};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrow;
use crate::element::{self, with_type};
use crate::error::{CopyRequiredError, OrRaise, TableError};
use crate::share::Share;
use crate::table::Table;

/// Makes a table of an array, a buffer or a sequence of rows.
///
/// `copy`: `Some(true)` copies, `None` shares what nobody can write, `Some(false)` shares whatever lies right, which the
/// caller promises not to write.
pub(crate) fn table(data: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Box<dyn NumericTable>> {
    let py = data.py();
    let numpy = py.import("numpy")?;
    let is_array = data.is_instance(&numpy.getattr("ndarray")?)?;
    if !is_array && let Some(table) = arrow::table(data, copy)? {
        return Ok(table);
    }
    if !is_array && !is_buffer(data) {
        // Of what has nothing but DLPack; all else is an array by its own means.
        let is_dlpack = data.hasattr("__dlpack__")? && !data.hasattr("__array__")?;
        let array = numpy.call_method1(if is_dlpack { "from_dlpack" } else { "asarray" }, (data,))?;
        return table(&array, copy);
    }
    if is_array {
        let dtype = data.getattr("dtype")?;
        let element = element::of_object(&dtype)?;
        if element == ElementType::Bf16 {
            return of_buffer(&data.call_method1("view", ("uint16",))?, data, copy, Some(element));
        }
    }
    refuse_single_values(data)?;
    of_buffer(data, data, copy, None)
}

/// A value without dimensions has a buffer without a shape.
fn refuse_single_values(data: &Bound<'_, PyAny>) -> PyResult<()> {
    if data.getattr("ndim").is_ok_and(|count| count.extract::<usize>().is_ok_and(|count| count == 0)) {
        return Err(TableError::new_err("a table has two dimensions, and this is a single value"));
    }
    Ok(())
}

fn is_buffer(data: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive, and the interpreter is attached.
    unsafe { pyo3::ffi::PyObject_CheckBuffer(data.as_ptr()) == 1 }
}

/// `owner` is the object that the caller has, of which `data` may be a view with another type.
fn of_buffer(
    data: &Bound<'_, PyAny>,
    owner: &Bound<'_, PyAny>,
    copy: Option<bool>,
    element: Option<ElementType>,
) -> PyResult<Box<dyn NumericTable>> {
    let py = data.py();
    let buffer = PyUntypedBuffer::get(data)?;
    let found = element.or_else(|| element::of_format(buffer.format(), buffer.item_size()));
    let element = found.ok_or_else(|| {
        let text = buffer.format().to_string_lossy().into_owned();
        PyTypeError::new_err(format!("tables have no values of the format {text:?}; astype to a type of numbers first"))
    })?;
    let shape = match *buffer.shape() {
        [rows] => Shape { rows, columns: 1 },
        [rows, columns] => Shape { rows, columns },
        ref shape => {
            return Err(TableError::new_err(format!("a table has two dimensions, and this has {}", shape.len())));
        }
    };
    let layout = match (buffer.is_c_contiguous(), buffer.is_fortran_contiguous()) {
        (true, _) => Some(DataLayout::RowMajor),
        (_, true) => Some(DataLayout::ColumnMajor),
        _ => None,
    };
    let is_aligned = (buffer.buf_ptr() as usize).is_multiple_of(element.size_in_bytes()) || buffer.item_count() == 0;
    let Some(layout) = layout.filter(|_| is_aligned) else {
        if copy == Some(false) {
            let reason = if is_aligned { CopyReason::Layout } else { CopyReason::Alignment };
            return Err(CopyRequiredError::new_err(Error::CopyRequired { reason }.to_string()));
        }
        drop(buffer);
        // A private copy: nobody else can write it.
        let packed = py.import("numpy")?.call_method1("array", (data,))?;
        let packed = py.import("numpy")?.call_method1("ascontiguousarray", (packed,))?;
        return of_buffer(&packed, &packed, Some(false), Some(element));
    };
    let shares = match copy {
        Some(copies) => !copies,
        None => is_immutable(owner)?,
    };
    with_type!(element, T => homogeneous::<T>(buffer, shape, layout, shares))
}

/// Makes a table of bytes: shares them if nobody can write them.
pub(crate) fn of_bytes(
    values: &Bound<'_, PyAny>,
    element: ElementType,
    shape: Shape,
    layout: DataLayout,
) -> PyResult<Box<dyn NumericTable>> {
    let buffer = PyUntypedBuffer::get(values)?;
    let expected = shape.element_count_of(element).or_raise()?.checked_mul(element.size_in_bytes());
    let is_in_order = match layout {
        DataLayout::RowMajor => buffer.is_c_contiguous(),
        DataLayout::ColumnMajor => buffer.is_fortran_contiguous(),
    };
    if Some(buffer.len_bytes()) != expected || !is_in_order {
        let found = buffer.len_bytes();
        return Err(TableError::new_err(format!("{found} bytes are not the {shape} values of a table")));
    }
    let is_aligned = (buffer.buf_ptr() as usize).is_multiple_of(element.size_in_bytes());
    let shares = is_aligned && is_immutable(values)?;
    with_type!(element, T => {
        let array = if shares {
            // SAFETY: as in `homogeneous`: so many bytes, aligned, which nobody can write.
            let count = shape.element_count().or_raise()?;
            let address = buffer.buf_ptr() as *const T;
            unsafe { Array::from_raw_parts(address, count, move |_, _| drop(buffer)) }
        } else {
            let mut array = Array::<T>::zeros(shape.element_count().or_raise()?).or_raise()?;
            let target = array.mutable_data().or_raise()?;
            // SAFETY: the exporter keeps so many bytes at this address while the buffer is held; the target is as long, and
            // not the same memory, since it is new. Any bit pattern is a value.
            unsafe {
                let source = buffer.buf_ptr() as *const u8;
                std::ptr::copy_nonoverlapping(source, target.as_mut_ptr().cast(), size_of_val(target));
            }
            array
        };
        Ok(Box::new(HomogenNumericTable::from_array_in(array, shape, layout).or_raise()?))
    })
}

fn homogeneous<T: Element>(
    buffer: PyUntypedBuffer,
    shape: Shape,
    layout: DataLayout,
    shares: bool,
) -> PyResult<Box<dyn NumericTable>> {
    let (address, count) = (buffer.buf_ptr() as *const T, buffer.item_count());
    let array = match (count, shares) {
        (0, _) => Array::new(),
        // SAFETY: the exporter keeps `count` values at this aligned address while the buffer is held, which the deleter
        // releases. Any bit pattern is a value. Nobody writes them: they are immutable, or the caller has promised it.
        (_, true) => unsafe { Array::from_raw_parts(address, count, move |_, _| drop(buffer)) },
        // SAFETY: as above; the interpreter is attached, so that no other thread of Python's runs meanwhile.
        (_, false) => Array::copy_of(unsafe { std::slice::from_raw_parts(address, count) }).or_raise()?,
    };
    Ok(Box::new(HomogenNumericTable::from_array_in(array, shape, layout).or_raise()?))
}

/// Returns whether nobody can write the values of an object: those of a table, or of `bytes`, seen through any number of
/// read-only views. A read-only array that owns its values can be made writable again, and so does not count.
fn is_immutable(owner: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = owner.py();
    let array_type = py.import("numpy")?.getattr("ndarray")?;
    let view_type = py.import("builtins")?.getattr("memoryview")?;
    let pickle_type = py.import("pickle")?.getattr("PickleBuffer")?;
    let mut object = owner.clone();
    loop {
        if object.is_instance_of::<PyBytes>() || object.is_instance_of::<Share>() || object.is_instance_of::<Table>() {
            return Ok(true);
        }
        let next = if object.is_instance(&array_type)? {
            let is_writable: bool = object.getattr("flags")?.getattr("writeable")?.extract()?;
            if is_writable { None } else { Some(object.getattr("base")?) }
        } else if object.is_instance(&pickle_type)? {
            Some(view_type.call1((&object,))?)
        } else if object.is_instance(&view_type)? {
            let is_read_only: bool = object.getattr("readonly")?.extract()?;
            if is_read_only { Some(object.getattr("obj")?) } else { None }
        } else {
            None
        };
        match next {
            Some(next) if !next.is_none() => object = next,
            _ => return Ok(false),
        }
    }
}
