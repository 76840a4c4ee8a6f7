//! DLPack tensors on CUDA devices: those of other libraries for tables, and the memory of tables for other libraries.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use numeric_table::ElementType;
use numeric_table_execution::{HandleError, cuda::DlTensor};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::base::error::TableTypeError;
use crate::base::exit;
use crate::device;
use crate::doors::dlpack::{DataType, IS_COPIED, IS_READ_ONLY, Managed, NAME, Tensor, capsule_of, delete_now};

/// The name of a capsule of DLPack before version 1.0 that no consumer has taken.
const OLD_NAME: &CStr = c"dltensor";
/// The names of capsules whose tensor a consumer has taken.
const USED_NAME: &CStr = c"used_dltensor_versioned";
const OLD_USED_NAME: &CStr = c"used_dltensor";

/// `DLManagedTensor`, of DLPack before version 1.0. A deleter of another library may run Python code.
#[repr(C)]
pub(crate) struct OldManaged {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C-unwind" fn(*mut OldManaged)>,
}

/// A tensor of another library, which this owns: dropping it calls its deleter, attached to the interpreter.
pub(crate) enum Foreign {
    Old(NonNull<OldManaged>),
    Versioned(NonNull<Managed>),
}

// SAFETY: this owns the tensor, whose deleter may be called on any thread, as DLPack says.
unsafe impl Send for Foreign {}

impl Foreign {
    /// Takes the tensor from a capsule, which it renames.
    pub(crate) fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(pointer) = taken(capsule, NAME, USED_NAME)? {
            let tensor = Self::Versioned(pointer.cast());
            // SAFETY: the capsule has this name, and so holds such a tensor; the version is at the same place in all.
            let (major, minor) = unsafe { (*pointer.cast::<Managed>().as_ptr()).version };
            return match major {
                1 => Ok(tensor),
                _ => Err(TableTypeError::new_err(format!("tensors of DLPack {major}.{minor} are not supported"))),
            };
        }
        if let Some(pointer) = taken(capsule, OLD_NAME, OLD_USED_NAME)? {
            return Ok(Self::Old(pointer.cast()));
        }
        // SAFETY: the object is alive, the thread is attached, and both names are static.
        let is_used = [USED_NAME, OLD_USED_NAME]
            .iter()
            .any(|name| unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) } == 1);
        Err(TableTypeError::new_err(match is_used {
            true => "the tensor of the capsule has already been consumed",
            false => "__dlpack__ did not return the capsule of a tensor",
        }))
    }

    fn tensor(&self) -> &Tensor {
        // SAFETY: the tensor is alive until its deleter is called, when this is dropped.
        unsafe {
            match self {
                Self::Old(pointer) => &pointer.as_ref().tensor,
                Self::Versioned(pointer) => &pointer.as_ref().tensor,
            }
        }
    }

    /// Returns whether the values must not be written. Tensors before version 1.0 do not state it.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::Old(_) => false,
            // SAFETY: as in `tensor`.
            Self::Versioned(pointer) => unsafe { pointer.as_ref() }.flags & IS_READ_ONLY != 0,
        }
    }

    /// Returns the type and the index of the device.
    pub(crate) fn device(&self) -> (i32, i32) {
        self.tensor().device
    }

    pub(crate) fn element_type(&self) -> PyResult<ElementType> {
        let DataType { code, bits, lanes } = self.tensor().dtype;
        let is_same = |own: DataType| (own.code, own.bits, own.lanes) == (code, bits, lanes);
        let found = ElementType::ALL.iter().copied().find(|&element| is_same(DataType::of(element)));
        found.ok_or_else(|| {
            let text =
                format!("tables do not support values of DLPack's type code {code} with {bits} bits and {lanes} lanes");
            TableTypeError::new_err(text)
        })
    }

    /// Returns the sizes, and the strides in values, of a tensor of one or two dimensions. The library reports others.
    pub(crate) fn geometry(&self) -> Option<(&[i64], Option<&[i64]>)> {
        let tensor = self.tensor();
        let count = usize::try_from(tensor.dimensions).ok().filter(|count| (1..=2).contains(count))?;
        let numbers = |first: *mut i64| {
            // SAFETY: what is not null has as many numbers, as DLPack says, while the tensor is alive.
            (!first.is_null()).then(|| unsafe { std::slice::from_raw_parts(first.cast_const(), count) })
        };
        Some((numbers(tensor.shape)?, numbers(tensor.strides)))
    }

    /// Converts the tensor to one for the library, which deletes it on any thread.
    pub(crate) fn into_tensor(self) -> Result<DlTensor, HandleError> {
        let (tensor, flags) = (*self.tensor(), if self.is_read_only() { IS_READ_ONLY } else { 0 });
        let managed = Managed::leaked(Box::new(self), flags, tensor);
        // SAFETY: it was leaked, and nothing else has it. What its shape and strides point to lives as long as its
        // context.
        unsafe { DlTensor::from_raw_versioned(managed.cast()) }
    }
}

/// Like [`delete_now`], for a tensor of DLPack before version 1.0.
///
/// # Safety
/// That of [`delete_now`].
unsafe fn delete_old_now(managed: *mut OldManaged) {
    // SAFETY: the caller's promise.
    if let Some(delete) = unsafe { (*managed).deleter } {
        // SAFETY: as above.
        unsafe { delete(managed) }
    }
}

/// Returns the content of a capsule of the given name, and renames it to `used`.
fn taken(capsule: &Bound<'_, PyAny>, name: &CStr, used: &'static CStr) -> PyResult<Option<NonNull<c_void>>> {
    let object = capsule.as_ptr();
    // SAFETY: the object is alive, the thread is attached, and both names are static.
    unsafe {
        if ffi::PyCapsule_IsValid(object, name.as_ptr()) != 1 {
            return Ok(None);
        }
        let pointer = NonNull::new(ffi::PyCapsule_GetPointer(object, name.as_ptr()));
        if pointer.is_none() || ffi::PyCapsule_SetName(object, used.as_ptr()) != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        Ok(pointer)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if device::is_forked() {
            return; // the tensor is that of the parent process
        }
        let delete = || {
            // SAFETY: this owns the tensor, whose deleter is called once.
            unsafe {
                match self {
                    Self::Old(pointer) => delete_old_now(pointer.as_ptr()),
                    Self::Versioned(pointer) => delete_now(pointer.as_ptr()),
                }
            }
        };
        // An error is that of an interpreter that has ended: then the tensor is never deleted.
        let _ = exit::attached(|py| {
            exit::call_foreign(delete);
            drop(PyErr::take(py)); // there is no caller to raise it
            Ok(())
        });
    }
}

/// The memory of a table that other libraries may use: freed when the table and all tensors of it are gone.
pub(crate) struct Owner(NonNull<Managed>);

// SAFETY: nothing changes the tensor, and its deleter, that of the library, may be called on any thread.
unsafe impl Send for Owner {}
// SAFETY: as above.
unsafe impl Sync for Owner {}

impl Owner {
    /// Takes a tensor that the library has made of a table.
    pub(crate) fn new(tensor: DlTensor) -> Option<Arc<Self>> {
        NonNull::new(tensor.into_raw().cast()).map(|pointer| Arc::new(Self(pointer)))
    }

    fn managed(&self) -> &Managed {
        // SAFETY: the library makes tensors of version 1, and the tensor is alive until this is dropped.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn address(&self) -> usize {
        self.managed().tensor.data.addr()
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.managed().flags & IS_READ_ONLY != 0
    }

    /// Makes a tensor of the memory for the library.
    pub(crate) fn tensor(self: &Arc<Self>) -> Result<DlTensor, HandleError> {
        let Managed { flags, tensor, .. } = *self.managed();
        let managed = Managed::leaked(Box::new(self.clone()), flags, tensor);
        // SAFETY: it was leaked, and nothing else has it. Its shape and strides are those of the owner, in its context.
        unsafe { DlTensor::from_raw_versioned(managed.cast()) }
    }

    /// Returns a tensor of the memory for a consumer, which may write its sizes and strides: these are its own.
    fn lent(self: &Arc<Self>) -> (Box<Lent>, Tensor) {
        let Tensor { dimensions, shape, strides, .. } = self.managed().tensor;
        let copy = |numbers: *mut i64| {
            let count = usize::try_from(dimensions).unwrap_or(0);
            let read = |place| {
                // SAFETY: what is not null has as many numbers as there are dimensions, while the owner is alive.
                unsafe { *numbers.add(place) }
            };
            if numbers.is_null() { Vec::new() } else { (0..count).map(read).collect() }
        };
        let mut lent = Box::new(Lent { _owner: self.clone(), shape: copy(shape), strides: copy(strides) });
        let own = |numbers: *mut i64, copy: &mut Vec<i64>| if numbers.is_null() { numbers } else { copy.as_mut_ptr() };
        let (shape, strides) = (own(shape, &mut lent.shape), own(strides, &mut lent.strides));
        (lent, Tensor { shape, strides, ..self.managed().tensor })
    }

    /// Makes a capsule of a tensor of the memory, for a consumer of DLPack 1.0.
    pub(crate) fn capsule<'py>(self: &Arc<Self>, py: Python<'py>, is_copied: bool) -> PyResult<Bound<'py, PyAny>> {
        let flags = self.managed().flags | if is_copied { IS_COPIED } else { 0 };
        let (context, tensor) = self.lent();
        capsule_of(py, Managed::leaked(context, flags, tensor))
    }

    /// Makes a capsule of a tensor of the memory, for a consumer of DLPack before version 1.0.
    pub(crate) fn old_capsule<'py>(self: &Arc<Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (context, tensor) = self.lent();
        let context = Box::into_raw(context).cast();
        let managed = Box::into_raw(Box::new(OldManaged { tensor, context, deleter: Some(delete_old) }));
        // SAFETY: the name is static, the pointer is not null, and the destructor takes it back.
        let made = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(managed.cast(), OLD_NAME.as_ptr(), Some(destroy_old)))
        };
        // SAFETY: without a capsule, nothing else has the pointer.
        made.inspect_err(|_| unsafe { delete_old(managed) })
    }
}

/// The resources that a tensor of a consumer needs as long as it exists.
struct Lent {
    _owner: Arc<Owner>,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if device::is_forked() {
            return; // the memory is that of the parent process
        }
        // SAFETY: this owns the tensor, whose deleter is called once.
        unsafe { delete_now(self.0.as_ptr()) };
    }
}

/// Frees a tensor of `old_capsule`. Its consumer calls this once, on any thread.
unsafe extern "C-unwind" fn delete_old(managed: *mut OldManaged) {
    // SAFETY: both were leaked by `old_capsule`, and this is called once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Lent>()));
    }
}

/// Frees the tensor of a capsule that no consumer has taken: a consumer renames the capsule.
unsafe extern "C" fn destroy_old(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with the capsule; of this name, it holds a tensor of `old_capsule`.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, OLD_NAME.as_ptr()) == 1 {
            delete_old(ffi::PyCapsule_GetPointer(capsule, OLD_NAME.as_ptr()).cast());
        }
    }
}
