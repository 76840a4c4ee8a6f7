//! DLPack: values exported to any array library, without NumPy. Version 1.0, which can mark them as read-only. NumPy
//! reads the tensors of others.
//!
//! Tables are in CPU memory. `tensors` exchanges those on CUDA devices.

use std::ffi::{CStr, c_void};

use numeric_table::{ElementType, Error, ErrorKind};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::share::Share;
use crate::doors::{self, Answer, Input, arrays};
use crate::table::Table;

pub(crate) const VERSION: (u32, u32) = (1, 0);
/// The name of a capsule that no consumer has taken.
pub(crate) const NAME: &CStr = c"dltensor_versioned";
pub(crate) const IS_READ_ONLY: u64 = 1;
pub(crate) const IS_COPIED: u64 = 2;
/// The device of all tables.
const CPU: (i32, i32) = (1, 0);

/// Objects with nothing but DLPack; all others convert themselves to an array.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    if !input.data.hasattr("__dlpack__")? || input.data.hasattr("__array__")? {
        return Ok(Answer::Declined);
    }
    let array = doors::array_by(input, "from_dlpack")?;
    arrays::of_array(&array, input.copy).map(Answer::Table)
}

#[methods]
impl Table {
    /// The type and the index of the device, which is the CPU.
    fn __dlpack_device__(&self) -> (i32, i32) {
        CPU
    }

    /// Exports the values, read-only, to array libraries that accept DLPack 1.0: ``np.from_dlpack(table)``.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if stream.is_some() {
            return Err(PyBufferError::new_err("the CPU has no streams"));
        }
        check(max_version, dl_device)?;
        let wanted = self.wanted(py, None, None)?;
        let is_shared = self.is_shared(py, wanted.element)?;
        if copy == Some(false) && !is_shared {
            let reason = self.reason(py);
            return Err(PyBufferError::new_err(Error::new(ErrorKind::CopyRequired { reason }).to_string()));
        }
        if copy == Some(true) && is_shared {
            let copied = Self::new(self.duplicate(py)?);
            return capsule(py, copied.all(py, wanted.element)?, true);
        }
        capsule(py, self.all_by(py, wanted)?, copy == Some(true))
    }
}

/// `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DataType {
    pub(crate) code: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
}

impl DataType {
    pub(crate) fn of(element: ElementType) -> Self {
        let code = match element {
            ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64 => 0,
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => 1,
            ElementType::Bf16 => 4,
            _ => 2,
        };
        Self { code, bits: (element.size_in_bytes() * 8) as u8, lanes: 1 }
    }
}

/// `DLTensor`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Tensor {
    pub(crate) data: *mut c_void,
    pub(crate) device: (i32, i32),
    pub(crate) dimensions: i32,
    pub(crate) dtype: DataType,
    pub(crate) shape: *mut i64,
    pub(crate) strides: *mut i64,
    pub(crate) byte_offset: u64,
}

/// `DLManagedTensorVersioned`. A deleter of another library may run Python code.
#[repr(C)]
pub(crate) struct Managed {
    pub(crate) version: (u32, u32),
    pub(crate) context: *mut c_void,
    pub(crate) deleter: Option<unsafe extern "C-unwind" fn(*mut Managed)>,
    pub(crate) flags: u64,
    pub(crate) tensor: Tensor,
}

impl Managed {
    /// Allocates a tensor that owns a context, and drops it when it is deleted.
    pub(crate) fn leaked<C>(context: Box<C>, flags: u64, tensor: Tensor) -> *mut Self {
        let context = Box::into_raw(context).cast();
        let deleter: unsafe extern "C-unwind" fn(*mut Self) = delete::<C>;
        Box::into_raw(Box::new(Self { version: VERSION, context, deleter: Some(deleter), flags, tensor }))
    }
}

/// Frees a tensor. Its consumer calls this once, on any thread.
unsafe extern "C-unwind" fn delete<C>(managed: *mut Managed) {
    // SAFETY: both were leaked by `Managed::leaked`, and this is called once. Dropping a context that holds an object
    // of Python's attaches to the interpreter by itself.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<C>()));
    }
}

/// Calls the deleter of a tensor. Without one, there is nothing to free.
///
/// # Safety
/// The tensor is alive, and the caller owns it and gives it away.
pub(crate) unsafe fn delete_now(managed: *mut Managed) {
    // SAFETY: the caller's promise.
    if let Some(delete) = unsafe { (*managed).deleter } {
        // SAFETY: as above.
        unsafe { delete(managed) }
    }
}

/// The resources that a tensor needs as long as it exists.
struct Context {
    _share: Share,
    shape: [i64; 2],
    strides: [i64; 2],
}

/// Frees the tensor of a capsule that no consumer has taken: a consumer renames the capsule.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with the capsule; of this name, it holds a tensor of `Managed::leaked`.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            let managed: *mut Managed = ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast();
            delete_now(managed);
        }
    }
}

/// Checks the requests of a consumer.
fn check(max_version: Option<(u32, u32)>, device: Option<(i32, i32)>) -> PyResult<()> {
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

/// Makes a capsule of values.
fn capsule(py: Python<'_>, share: Share, is_copied: bool) -> PyResult<Bound<'_, PyAny>> {
    let element = share.element();
    let size = element.size_in_bytes();
    let (shape, strides) = share.geometry();
    let data = share.address() as *mut c_void;
    let strides = strides.map(|bytes| bytes as i64 / size as i64);
    let mut context = Box::new(Context { _share: share, shape: shape.map(|count| count as i64), strides });
    let tensor = Tensor {
        data,
        device: CPU,
        dimensions: 2,
        dtype: DataType::of(element),
        shape: context.shape.as_mut_ptr(),
        strides: context.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let flags = if is_copied { IS_COPIED } else { IS_READ_ONLY };
    capsule_of(py, Managed::leaked(context, flags, tensor))
}

/// Makes a capsule of a tensor of [`Managed::leaked`], which nothing else has.
pub(crate) fn capsule_of(py: Python<'_>, managed: *mut Managed) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the name is static, the pointer is not null, and the destructor takes it back.
    let made =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(managed.cast(), NAME.as_ptr(), Some(destroy))) };
    // SAFETY: without a capsule, nothing else has the pointer.
    made.inspect_err(|_| unsafe { delete_now(managed) })
}
