//! Tables and arrays of the memory of Python buffers: NumPy arrays of numbers, `bytes`, views, values of other tables.
//!
//! They share the memory or copy it. `share` is the other direction: values of tables as buffers.

use std::cell::RefCell;

use numeric_table::{
    AnyArray, Array, DataLayout, Element, ElementType, Error, ErrorKind, HomogenNumericTable, NumericTable, Shape,
    internal::record, interop::CopyReason, trace::CopyKind,
};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::base::element::{self, with_type};
use crate::base::error::{OrRaise, TableError, TableTypeError, exception};
use crate::base::share::Share;

/// Creates a table of a NumPy array of numbers, which is of no subclass.
///
/// `copy`: `Some(true)` copies, `None` shares memory that is immutable, `Some(false)` shares any memory with a suitable
/// order, and the caller promises not to write it.
pub(crate) fn of_array(array: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Box<dyn NumericTable>> {
    let element = element::of_object(&array.getattr("dtype")?)?;
    if element == ElementType::Bf16 {
        return of_typed_buffer(&array.call_method1("view", ("uint16",))?, copy, Some(element));
    }
    of_buffer(array, copy)
}

/// Returns whether an object exports its memory as a buffer.
pub(crate) fn is_buffer(data: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive, and the interpreter is attached.
    unsafe { pyo3::ffi::PyObject_CheckBuffer(data.as_ptr()) == 1 }
}

/// Creates a table of a buffer. `copy` is that of [`of_array`].
pub(crate) fn of_buffer(data: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<Box<dyn NumericTable>> {
    refuse_single_values(data)?;
    of_typed_buffer(data, copy, None)
}

/// Refuses a value without dimensions, whose buffer has no shape.
pub(crate) fn refuse_single_values(data: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Some(dimensions) = data.getattr_opt("ndim")?
        && dimensions.eq(0)?
    {
        return Err(TableError::new_err("a table has two dimensions, but this is a single value"));
    }
    Ok(())
}

/// `element` is the type of the values, if the buffer cannot state it.
fn of_typed_buffer(
    data: &Bound<'_, PyAny>,
    copy: Option<bool>,
    element: Option<ElementType>,
) -> PyResult<Box<dyn NumericTable>> {
    let py = data.py();
    let buffer = PyUntypedBuffer::get(data)?;
    let found = element.or_else(|| element::of_format(buffer.format(), buffer.item_size()));
    let element = found.ok_or_else(|| {
        let text = buffer.format().to_string_lossy().into_owned();
        PyTypeError::new_err(format!("tables do not support the format {text:?}; astype to a numeric type first"))
    })?;
    if buffer.item_size() != element.size_in_bytes() {
        return Err(TableTypeError::new_err("the size of the values differs from that of their type"));
    }
    let shape = match *buffer.shape() {
        [rows] => Shape { rows, columns: 1 },
        [rows, columns] => Shape { rows, columns },
        ref shape => {
            return Err(TableError::new_err(format!("a table has two dimensions, but this has {}", shape.len())));
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
            return Err(exception(Error::new(ErrorKind::CopyRequired { reason })));
        }
        drop(buffer);
        // A private copy, which no other code can write.
        let options = PyDict::new(py);
        options.set_item("order", "C")?;
        let packed = py.import("numpy")?.call_method("array", (data,), Some(&options))?;
        record(CopyKind::Exchanged, shape.element_count().or_raise()? * element.size_in_bytes());
        return of_typed_buffer(&packed, Some(false), Some(element).filter(|&element| element == ElementType::Bf16));
    };
    let shares = match copy {
        Some(copies) => !copies,
        None => is_immutable(py, &buffer)?,
    };
    with_type!(element, T => homogeneous::<T>(py, buffer, shape, layout, shares))
}

/// Creates a table from bytes, and shares them if they are immutable.
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
        return Err(TableError::new_err(format!("{found} bytes do not match the {shape} values of a table")));
    }
    let is_aligned = (buffer.buf_ptr() as usize).is_multiple_of(element.size_in_bytes());
    let shares = is_aligned && is_immutable(values.py(), &buffer)?;
    with_type!(element, T => homogeneous::<T>(values.py(), buffer, shape, layout, shares))
}

/// Copies bytes into an object of Python. Memory that is refused is a `MemoryError`, where `PyBytes::new` panics.
pub(crate) fn python_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |target| {
        target.copy_from_slice(bytes);
        Ok(())
    })
}

/// Creates an array from bytes, as [`of_bytes`] does.
pub(crate) fn array_of_bytes(values: &Bound<'_, PyAny>, element: ElementType) -> PyResult<AnyArray> {
    let rows = PyUntypedBuffer::get(values)?.len_bytes() / element.size_in_bytes();
    values_of(&*of_bytes(values, element, Shape { rows, columns: 1 }, DataLayout::RowMajor)?)
}

/// Shares the values of a homogeneous table.
pub(crate) fn values_of(table: &dyn NumericTable) -> PyResult<AnyArray> {
    let element = table.uniform_type().unwrap_or(ElementType::F64);
    with_type!(element, T => match table.downcast_ref::<HomogenNumericTable<T>>() {
        Some(table) => {
            let count = table.shape().element_count().or_raise()?;
            Ok(table.array().or_raise()?.slice(..count).or_raise()?.into())
        }
        None => Err(TableTypeError::new_err("an array of one type is required")),
    })
}

/// Creates a table from the values of a buffer. Their number must be that of the shape, and they must be aligned, and
/// in the order of the layout.
fn homogeneous<T: Element>(
    py: Python<'_>,
    buffer: PyUntypedBuffer,
    shape: Shape,
    layout: DataLayout,
    shares: bool,
) -> PyResult<Box<dyn NumericTable>> {
    let (address, count) = (buffer.buf_ptr() as usize, shape.element_count().or_raise()?);
    let array = match (count, shares) {
        (0, _) => Array::new(),
        // SAFETY: the exporter keeps `count` values at this aligned address while the buffer is held, which the deleter
        // releases. Any bit pattern is a value. Nobody writes them: they are immutable, or the caller has promised it.
        (_, true) => unsafe { Array::from_raw_parts(address as *const T, count, move |_, _| release(buffer)) },
        (_, false) => copied(py, address, count)?,
    };
    Ok(Box::new(HomogenNumericTable::from_array_with_layout(array, shape, layout).or_raise()?))
}

/// Copies the values of a buffer that is held. If another thread writes them meanwhile, which the documentation
/// forbids, the result is unspecified.
fn copied<T: Element>(py: Python<'_>, address: usize, count: usize) -> PyResult<Array<T>> {
    let mut array = Array::<T>::zeros(count).or_raise()?;
    let target = array.mutable_data().or_raise()?;
    let mut copy = || {
        // SAFETY: the exporter keeps so many bytes at this address while the buffer is held; the target is as long, and
        // not the same memory, since it is new. Bytes are copied, of which any pattern is a value.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, target.as_mut_ptr().cast(), size_of_val(target)) }
    };
    if count < 4096 {
        copy()
    } else {
        py.detach(copy)
    }
    record(CopyKind::Exchanged, array.size_in_bytes());
    Ok(array)
}

thread_local! {
    /// Python buffers that this thread has released while it held the lock of a table.
    static RELEASED: RefCell<Option<Vec<PyUntypedBuffer>>> = const { RefCell::new(None) };
}

/// Releases a buffer: at once, or when [`later`] ends.
fn release(buffer: PyUntypedBuffer) {
    let at_once = RELEASED.with_borrow_mut(|released| match released {
        Some(released) => {
            released.push(buffer);
            None
        }
        None => Some(buffer),
    });
    drop(at_once); // may run code of the user's
}

/// Does work with a lock held, which `work` releases at its end. No user code runs before that.
pub(crate) fn later<R>(work: impl FnOnce() -> R) -> R {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            drop(RELEASED.take());
        }
    }
    RELEASED.set(Some(Vec::new()));
    let _end = End;
    work()
}

/// Returns whether the values of a buffer are immutable: those of a table, or of `bytes`, seen through any number of
/// read-only views. A read-only array that owns its values can be made writable again, and so does not count. Neither
/// do subclasses, whose attributes are their own.
fn is_immutable(py: Python<'_>, buffer: &PyUntypedBuffer) -> PyResult<bool> {
    if !buffer.readonly() {
        return Ok(false);
    }
    let array_type = py.import("numpy")?.getattr("ndarray")?;
    let view_type = py.import("builtins")?.getattr("memoryview")?;
    let pickle_type = py.import("pickle")?.getattr("PickleBuffer")?;
    let bytes_type = py.get_type::<PyBytes>();
    let Some(mut object) = buffer.obj(py).cloned() else { return Ok(false) };
    loop {
        let of = object.get_type();
        if of.is(&bytes_type) || of.is(py.get_type::<Share>()) {
            return Ok(true);
        }
        let next = if of.is(&array_type) {
            let is_writable: bool = object.getattr("flags")?.getattr("writeable")?.extract()?;
            if is_writable { None } else { Some(object.getattr("base")?) }
        } else if of.is(&pickle_type) {
            Some(view_type.call1((&object,))?)
        } else if of.is(&view_type) {
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
