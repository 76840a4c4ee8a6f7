//! DLPack: values exported to any array library, without NumPy. Version 1.0, which can mark them as read-only.

use std::ffi::{CStr, c_void};

use numeric_table::ElementType;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::share::Share;

const VERSION: (u32, u32) = (1, 0);
/// The name of a capsule that no consumer has taken.
const NAME: &CStr = c"dltensor_versioned";
const IS_READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;
const CPU: (i32, i32) = (1, 0);

#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: (i32, i32),
    dimensions: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Managed {
    version: (u32, u32),
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
    flags: u64,
    tensor: Tensor,
}

/// The resources that a tensor needs as long as it exists.
struct Context {
    _share: Share,
    shape: [i64; 2],
    strides: [i64; 2],
}

/// Frees a tensor. Its consumer calls this once, on any thread.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: both were leaked by `capsule`, and this is called once. Dropping a share that holds a buffer of Python's
    // attaches to the interpreter by itself.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Context>()));
    }
}

/// Frees the tensor of a capsule that no consumer has taken: a consumer renames the capsule.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with the capsule; of this name, it holds what `capsule` has put there.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
    }
}

/// Checks the requests of a consumer.
pub(crate) fn check(max_version: Option<(u32, u32)>, device: Option<(i32, i32)>) -> PyResult<()> {
    if device.is_some_and(|device| device != CPU) {
        return Err(PyBufferError::new_err("tables are in CPU memory: request device (1, 0)"));
    }
    if max_version.is_none_or(|(major, _)| major < VERSION.0) {
        return Err(PyBufferError::new_err(
            "values of a table are read-only, which DLPack cannot express before version 1.0: pass max_version=(1, 0)",
        ));
    }
    Ok(())
}

/// The device of all tables: the CPU.
pub(crate) const DEVICE: (i32, i32) = CPU;

/// Makes a capsule of values.
pub(crate) fn capsule(py: Python<'_>, share: Share, is_copied: bool) -> PyResult<Bound<'_, PyAny>> {
    let element = share.element();
    let code = match element {
        ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64 => 0,
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => 1,
        ElementType::Bf16 => 4,
        _ => 2,
    };
    let size = element.size_in_bytes();
    let (shape, strides) = share.geometry();
    let data = share.address() as *mut c_void;
    let strides = strides.map(|bytes| bytes as i64 / size as i64);
    let mut context = Box::new(Context { _share: share, shape: shape.map(|count| count as i64), strides });
    let tensor = Tensor {
        data,
        device: CPU,
        dimensions: 2,
        dtype: DataType { code, bits: (size * 8) as u8, lanes: 1 },
        shape: context.shape.as_mut_ptr(),
        strides: context.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let flags = if is_copied { IS_COPIED } else { IS_READ_ONLY };
    let context = Box::into_raw(context).cast();
    let managed = Box::into_raw(Box::new(Managed { version: VERSION, context, deleter: Some(delete), flags, tensor }));
    // SAFETY: the name is static, the pointer is not null, and the destructor takes it back.
    let made =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(managed.cast(), NAME.as_ptr(), Some(destroy))) };
    // SAFETY: without a capsule, nobody else has the pointer.
    made.inspect_err(|_| unsafe { delete(managed) })
}
