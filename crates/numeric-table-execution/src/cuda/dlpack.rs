//! Tensors of other libraries, by DLPack: the types of its C interface, and tables from and to them.
//!
//! Source: DLPack 1.0, <https://dmlc.github.io/dlpack/latest/c_api.html>.

use std::ffi::c_void;
use std::ptr::NonNull;

use numeric_table::{DataLayout, Element, ElementType, Error, ErrorKind, Shape, array::MemoryKind};

use super::adopt::{self, Claim, adopt, check_type};
use super::release::{self, Deleter};
use super::strided::{extent, geometry};
use super::{Cuda, CudaOrder};
use crate::{ArrayHandle, DeviceError, DeviceTable, HandleError, MemoryMismatch};

/// `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Device {
    kind: i32,
    index: i32,
}

/// `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    dimensions: i32,
    dtype: DataType,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

const VERSION: (u32, u32) = (1, 0);
const IS_READ_ONLY: u64 = 1;
const CUDA: i32 = 2;
const CUDA_PINNED: i32 = 3;
const CUDA_MANAGED: i32 = 13;

/// A tensor of DLPack, which this owns: dropping it calls its deleter.
///
/// A Python capsule named `dltensor_versioned` holds one of [`from_raw_versioned`](Self::from_raw_versioned), and a
/// capsule named `dltensor` one of [`from_raw`](Self::from_raw). The consumer renames the capsule, with `used_` before
/// its name.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_execution::cuda::{Cuda, DlTensor};
/// use numeric_table_execution::{DeviceTable, ToDevice};
/// let Ok(device) = Cuda::new(0) else { return Ok(()) };
/// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5], [3.5, 4.5]])?.to_device::<f32, _>(&device)?;
/// // SAFETY: the stream is alive as long as the device.
/// unsafe { table.make_wait(device.exchange_stream()) }?; // until the values are there
/// let tensor = table.into_dlpack()?;
/// assert_eq!(tensor.element_type(), Some(ElementType::F32));
///
/// let pointer = tensor.into_raw(); // another library, or a capsule, has it now
/// // SAFETY: the pointer is that of a tensor that nothing else owns. Work on it comes after that of the exchange stream.
/// let table = unsafe { DeviceTable::<f32, _>::from_dlpack(&device, DlTensor::from_raw_versioned(pointer)?, &[])? };
/// assert_eq!(table.to_table()?.as_slice()?, [1.5, 2.5, 3.5, 4.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DlTensor(Pointer);

enum Pointer {
    Plain(NonNull<Managed>),
    Versioned(NonNull<Versioned>),
}

// SAFETY: this owns the tensor, whose deleter may be called on any thread, as DLPack says.
unsafe impl Send for DlTensor {}

impl DlTensor {
    /// Takes a tensor of DLPack before version 1.0: a `DLManagedTensor`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] in [`HandleError::Library`] if the pointer is null.
    ///
    /// # Safety
    /// The pointer is null, or that of such a tensor, which the caller owns and gives away.
    ///
    /// # Examples
    /// See the type.
    pub unsafe fn from_raw(pointer: *mut c_void) -> Result<Self, HandleError> {
        NonNull::new(pointer.cast()).map(|pointer| Self(Pointer::Plain(pointer))).ok_or_else(no_tensor)
    }

    /// Takes a tensor of DLPack 1.0 or newer: a `DLManagedTensorVersioned`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] in [`HandleError::Library`] if the pointer is null, or the tensor is of another major
    /// version: then its deleter is called.
    ///
    /// # Safety
    /// That of [`from_raw`](Self::from_raw).
    ///
    /// # Examples
    /// See the type.
    pub unsafe fn from_raw_versioned(pointer: *mut c_void) -> Result<Self, HandleError> {
        let pointer = NonNull::new(pointer.cast::<Versioned>()).ok_or_else(no_tensor)?;
        let tensor = Self(Pointer::Versioned(pointer));
        // SAFETY: the caller's promise; versions and deleters are at the same place in every version.
        let major = unsafe { (*pointer.as_ptr()).major };
        match major {
            1 => Ok(tensor),
            major => Err(unsupported(format!("tensors of version {major}"))),
        }
    }

    /// Gives the tensor away: a pointer to a `DLManagedTensorVersioned` if it was made by [`DeviceTable::into_dlpack`]
    /// or [`from_raw_versioned`](Self::from_raw_versioned), and to a `DLManagedTensor` otherwise. The receiver calls
    /// its deleter.
    ///
    /// # Examples
    /// See the type.
    pub fn into_raw(self) -> *mut c_void {
        let pointer = match &self.0 {
            Pointer::Plain(pointer) => pointer.as_ptr().cast(),
            Pointer::Versioned(pointer) => pointer.as_ptr().cast(),
        };
        std::mem::forget(self);
        pointer
    }

    fn tensor(&self) -> &Tensor {
        // SAFETY: the tensor is alive until its deleter is called, when this is dropped.
        unsafe {
            match &self.0 {
                Pointer::Plain(pointer) => &pointer.as_ref().tensor,
                Pointer::Versioned(pointer) => &pointer.as_ref().tensor,
            }
        }
    }

    /// Returns whether the values must not be written. Tensors before version 1.0 do not say so.
    ///
    /// # Examples
    /// See the type.
    pub fn is_read_only(&self) -> bool {
        match &self.0 {
            Pointer::Plain(_) => false,
            // SAFETY: as in `tensor`.
            Pointer::Versioned(pointer) => unsafe { pointer.as_ref() }.flags & IS_READ_ONLY != 0,
        }
    }

    /// Returns the type of the values, or `None` if tables do not have it.
    ///
    /// # Examples
    /// See the type.
    pub fn element_type(&self) -> Option<ElementType> {
        let dtype = self.tensor().dtype;
        ElementType::ALL.iter().copied().find(|&element| dtype_of(element) == dtype)
    }

    /// Returns the number of rows and columns, and their strides in values.
    fn geometry(&self) -> Result<(Shape, [usize; 2]), HandleError> {
        let tensor = self.tensor();
        let count = match tensor.dimensions {
            count @ 1..=2 => count as usize,
            other => return Err(unsupported(format!("tensors of {other} dimensions"))),
        };
        let numbers = |first: *const i64| {
            // SAFETY: what is not null has as many numbers, as DLPack says, while the tensor is alive.
            (!first.is_null()).then(|| unsafe { std::slice::from_raw_parts(first, count) })
        };
        let shape = numbers(tensor.shape).ok_or_else(|| unsupported("tensors without a shape".into()))?;
        geometry(shape, numbers(tensor.strides)).map_err(unsupported)
    }

    /// Returns the kind of memory that the producer names. [`MemoryKind::Device`] may be any memory of a device.
    fn kind(&self) -> Result<MemoryKind, HandleError> {
        match self.tensor().device.kind {
            CUDA => Ok(MemoryKind::Device),
            CUDA_PINNED => Ok(MemoryKind::Pinned),
            CUDA_MANAGED => Ok(MemoryKind::Shared),
            other => Err(unsupported(format!("memory of the device type {other}"))),
        }
    }
}

impl Drop for DlTensor {
    fn drop(&mut self) {
        // SAFETY: this owns the tensor, whose deleter is called once. A tensor without a deleter has nothing to free.
        unsafe {
            match &self.0 {
                Pointer::Plain(pointer) => pointer.as_ref().deleter.map(|delete| delete(pointer.as_ptr())),
                Pointer::Versioned(pointer) => (*pointer.as_ptr()).deleter.map(|delete| delete(pointer.as_ptr())),
            }
        };
    }
}

impl std::fmt::Debug for DlTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tensor = self.tensor();
        let address = (tensor.data.addr() as u64).wrapping_add(tensor.byte_offset);
        let (device, dtype) = (&tensor.device, &tensor.dtype);
        let mut tensor = f.debug_struct("DlTensor");
        tensor
            .field("address", &format_args!("{address:#x}"))
            .field("device", device)
            .field("dtype", dtype)
            .finish_non_exhaustive()
    }
}

fn unsupported(reason: String) -> HandleError {
    Error::new(ErrorKind::Unsupported { target: "DLPack", row: None, column: None, name: None, reason }).into()
}

fn no_tensor() -> HandleError {
    unsupported("no tensor".into())
}

/// Returns sizes or strides as numbers of DLPack.
fn numbers(counts: [usize; 2]) -> Result<[i64; 2], HandleError> {
    let number = |count| i64::try_from(count).map_err(|_| HandleError::LengthOverflow);
    Ok([number(counts[0])?, number(counts[1])?])
}

fn dtype_of(element: ElementType) -> DataType {
    let code = match element {
        ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64 => 0,
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => 1,
        ElementType::Bf16 => 4,
        _ => 2,
    };
    DataType { code, bits: (element.size_in_bytes() * 8) as u8, lanes: 1 }
}

/// What an exported tensor needs as long as it exists.
struct Exported<T: Element> {
    /// Invariant: the control side has no copy, so that the device never frees this one.
    values: ArrayHandle<T, Cuda>,
    shape: [i64; 2],
    strides: [i64; 2],
}

/// Frees an exported tensor. Work of its consumer may still be going on in any stream.
unsafe extern "C" fn delete<T: Element>(managed: *mut Versioned) {
    // SAFETY: both were leaked by `into_dlpack`, and this is called once.
    let exported = unsafe {
        let managed = Box::from_raw(managed);
        Box::from_raw(managed.context.cast::<Exported<T>>())
    };
    let streams = exported.values.device().streams().clone();
    release::after_everything(&streams, Deleter::new(move || drop(exported)));
}

impl<T: Element> DeviceTable<T, Cuda> {
    /// Creates a table of a tensor: of one dimension, a column, or of two. Transfers nothing.
    ///
    /// Values in row-major or column-major order, without gaps, stay where they are. Unless the tensor is read-only,
    /// writes go to its memory. Values at other strides are copied on the device. The deleter of the tensor is called
    /// once, after the last work that uses it, also if this call fails. Memory that is labelled as that of the device
    /// may also be managed or pinned, which not every producer says: the driver knows.
    ///
    /// Ask the producer for a tensor that [`Cuda::exchange_stream`] may use (`__dlpack__(stream=...)`); then `after` is
    /// empty.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] in [`HandleError::Library`] for other dimensions, other devices than CUDA's, and
    /// negative strides; [`ErrorKind::ElementTypeMismatch`] in it unless the values are of this type; those of
    /// [`DeviceArray::from_raw`](crate::DeviceArray::from_raw) and [`from_strided`](Self::from_strided).
    ///
    /// # Safety
    /// That of [`DeviceArray::from_raw_mut`](crate::DeviceArray::from_raw_mut);
    /// [`DeviceArray::from_raw`](crate::DeviceArray::from_raw) if the tensor is read-only.
    ///
    /// # Examples
    /// See [`DlTensor`].
    pub unsafe fn from_dlpack(device: &Cuda, tensor: DlTensor, after: &[CudaOrder]) -> Result<Self, HandleError> {
        let (shape, strides) = tensor.geometry()?;
        let kind = tensor.kind()?;
        check_type::<T>(tensor.element_type(), || unsupported(format!("values of {:?}", tensor.tensor().dtype)))?;
        let Tensor { data, byte_offset, device: Device { index, .. }, .. } = *tensor.tensor();
        let address = (data.expose_provenance() as u64).checked_add(byte_offset).ok_or(HandleError::LengthOverflow)?;
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        if kind == MemoryKind::Device && index != device.ordinal() {
            let (claimed, actual) = (device.ordinal(), index);
            return Err(HandleError::WrongMemory(MemoryMismatch::Device { address, claimed, actual }));
        }
        let (is_exact, is_read_only) = (kind != MemoryKind::Device, tensor.is_read_only());
        let claim = Claim { address, count: extent(shape, strides)?, kind, is_exact, is_read_only };
        // SAFETY: the caller's promise; the memory is the tensor's until its deleter is called.
        let array = unsafe { adopt(device, claim, Deleter::new(move || drop(tensor)), after) }?;
        Self::from_strided(array, shape, strides)
    }

    /// Converts the table to a tensor for other libraries. Transfers nothing, and does not wait: first make the
    /// consumer's stream wait, with [`make_wait`](Self::make_wait).
    ///
    /// The tensor is marked as read-only if the values are shared with a clone of the table, or memory that must not be
    /// written. When the consumer deletes it, its memory is used again after all work of the device. A thread of this
    /// crate waits for that work. The driver refuses to wait while a stream of the device is being captured for a graph,
    /// and may end that capture with an error, so consumers should delete tensors before a capture or after it.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`] if the device is lost; [`HandleError::LengthOverflow`] if the number of rows or
    /// columns is not an `i64`.
    ///
    /// # Examples
    /// See [`DlTensor`].
    pub fn into_dlpack(self) -> Result<DlTensor, HandleError> {
        let (shape, layout) = (self.shape(), self.data_layout());
        let strides = match layout {
            DataLayout::RowMajor => [shape.columns, 1],
            DataLayout::ColumnMajor => [1, shape.rows],
        };
        // Only a table without values can have more.
        let [sizes, strides] = [numbers([shape.rows, shape.columns])?, numbers(strides)?];
        let mut values = self.into_handle();
        values.release_control()?;
        let view = values.prepare_for_input()?;
        let address = view.buffer().address(&view.byte_range())?;
        let kind = match view.buffer().kind() {
            MemoryKind::Pinned => CUDA_PINNED,
            MemoryKind::Shared => CUDA_MANAGED,
            _ => CUDA,
        };
        drop(view);
        let index = i32::try_from(values.device().ordinal());
        let index = index.map_err(|_| DeviceError::Failed { code: 0, what: "numbering a device" })?;
        let flags = if values.is_exclusive() { 0 } else { IS_READ_ONLY };
        let exported = Exported { values, shape: sizes, strides };
        let exported = NonNull::from(Box::leak(Box::new(exported)));
        // SAFETY: it was leaked, and stays where it is until the deleter is called.
        let Exported { shape, strides, .. } = unsafe { exported.as_ref() };
        let tensor = Tensor {
            data: std::ptr::with_exposed_provenance_mut(address as usize),
            device: Device { kind, index },
            dimensions: 2,
            dtype: dtype_of(T::TYPE),
            shape: shape.as_ptr(),
            strides: strides.as_ptr(),
            byte_offset: 0,
        };
        let (major, minor) = VERSION;
        let (context, deleter) = (exported.as_ptr().cast(), Some(delete::<T> as unsafe extern "C" fn(*mut Versioned)));
        let managed = Versioned { major, minor, context, deleter, flags, tensor };
        Ok(DlTensor(Pointer::Versioned(NonNull::from(Box::leak(Box::new(managed))))))
    }

    /// Makes later work of a stream of another library wait until it may read and write the values.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`] if the device is lost; what the driver reports.
    ///
    /// # Safety
    /// The handle is that of a stream of the primary context of the device, as in [`CudaOrder::Stream`], which
    /// is alive.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::cuda::Cuda;
    /// use numeric_table_execution::ToDevice;
    /// let Ok(device) = Cuda::new(0) else { return Ok(()) };
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?.to_device::<f32, _>(&device)?;
    /// // SAFETY: the legacy default stream is always alive.
    /// unsafe { table.make_wait(1) }?;
    /// let tensor = table.into_dlpack()?; // for work in that stream
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn make_wait(&self, stream: usize) -> Result<(), HandleError> {
        let view = self.view()?;
        // SAFETY: the caller's promise.
        Ok(unsafe { view.buffer().make_wait(super::api::Handle::of_other(stream), true) }?)
    }

    /// Makes later work on the values wait for work of another library, which may read and write them: that of the
    /// owner of the memory, or of the consumer of a tensor. Does not wait on the CPU.
    ///
    /// Only the values on the device are those that the work has written. A copy of them that the program's memory has
    /// already, as of a handle that [`is_on_host`](ArrayHandle::is_on_host), is not refreshed, and this table still reads
    /// it; [`ArrayHandle::release_control`] frees it before the work.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`], [`HandleError::DeviceLost`]; what the driver reports.
    ///
    /// # Safety
    /// * A handle is that of a stream or an event of the primary context of the device that is alive. An event in
    ///   [`CudaOrder::Submitted`] is one that the table's [`Cuda`], or a clone of it, has returned.
    /// * If the work writes, nothing but this table has the values: no clone of it or of its handle, which would change
    ///   too, and no view or slice of them.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::cuda::{Cuda, CudaOrder};
    /// use numeric_table_execution::ToDevice;
    /// let Ok(device) = Cuda::new(0) else { return Ok(()) };
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?.to_device::<f32, _>(&device)?;
    /// // SAFETY: the legacy default stream is always alive.
    /// unsafe { table.make_wait(1) }?;
    /// // Here, another library uses the values in that stream.
    /// // SAFETY: as above.
    /// unsafe { table.wait_for(CudaOrder::Stream(1)) }?;
    /// assert_eq!(table.to_table()?.as_slice()?, [1.5, 2.5]); // after that work
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn wait_for(&self, order: CudaOrder) -> Result<(), HandleError> {
        let view = self.view()?;
        // SAFETY: the caller's promise.
        unsafe { adopt::wait_for(self.device().space.transport(), order) }?;
        Ok(view.buffer().used_by_other(true)?)
    }
}

impl Cuda {
    /// Returns the handle of a stream of this crate for another library, which makes it wait until values can be used:
    /// the argument `stream` of `__dlpack__`. All memory that is adopted later is used after that. The stream is alive
    /// as long as the device.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_execution::cuda::Cuda;
    /// if let Ok(device) = Cuda::new(0) {
    ///     assert!(device.exchange_stream() > 2); // none of the default streams
    /// }
    /// ```
    pub fn exchange_stream(&self) -> usize {
        self.streams().stream(super::streams::Lane::Other).number()
    }
}
