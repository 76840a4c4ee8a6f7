//! Arrays of other libraries by the CUDA array interface, which older libraries have instead of DLPack.
//!
//! Source: <https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html>, version 3.

use numeric_table::{Element, ElementType, Error, ErrorKind, array::MemoryKind};

use super::adopt::{Claim, adopt, check_type};
use super::strided::{extent, geometry};
use super::{Cuda, CudaOrder};
use crate::{DeviceTable, HandleError};

/// The content of an object's `__cuda_array_interface__`, whose `mask` is missing or `None`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_execution::cuda::{Cuda, CudaArrayInterface};
/// use numeric_table_execution::{DeviceArray, DeviceTable};
/// let Ok(device) = Cuda::new(0) else { return Ok(()) };
/// let theirs = DeviceArray::from_slice(&device, &[1.5_f32, 2.5, 3.5])?; // stands for the array of another library
/// theirs.as_raw()?.wait()?;
/// let interface = CudaArrayInterface {
///     address: theirs.as_raw()?.address(),
///     is_read_only: true,
///     typestr: "<f4".into(),
///     shape: vec![3],
///     strides: None,
///     stream: None, // all work on it has ended
/// };
/// // SAFETY: the memory is that of `theirs`, which the deleter drops.
/// let table = unsafe { DeviceTable::<f32, _>::from_array_interface(&device, &interface, move || drop(theirs))? };
/// assert_eq!(table.to_table()?.as_slice()?, [1.5, 2.5, 3.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaArrayInterface {
    /// The address of the first value: the first number of `data`.
    pub address: u64,
    /// Whether the values must not be written: the second entry of `data`.
    pub is_read_only: bool,
    /// The type of the values, as NumPy writes it: `<f4`.
    pub typestr: String,
    /// The sizes of the dimensions.
    pub shape: Vec<i64>,
    /// The strides of the dimensions in bytes; `None` in row-major order.
    pub strides: Option<Vec<i64>>,
    /// The stream in which the values are written: 1 is the legacy default stream, 2 that of the calling thread. `None`
    /// if there is nothing to wait for.
    pub stream: Option<usize>,
}

impl CudaArrayInterface {
    /// Returns the type of the values, or `None` if tables do not have it.
    ///
    /// # Examples
    /// See the type.
    pub fn element_type(&self) -> Option<ElementType> {
        let order = if cfg!(target_endian = "little") { ['<', '=', '|'] } else { ['>', '=', '|'] };
        match self.typestr.strip_prefix(order)? {
            "f2" => Some(ElementType::F16),
            "f4" => Some(ElementType::F32),
            "f8" => Some(ElementType::F64),
            "i1" => Some(ElementType::I8),
            "i2" => Some(ElementType::I16),
            "i4" => Some(ElementType::I32),
            "i8" => Some(ElementType::I64),
            "u1" => Some(ElementType::U8),
            "u2" => Some(ElementType::U16),
            "u4" => Some(ElementType::U32),
            "u8" => Some(ElementType::U64),
            _ => None,
        }
    }
}

fn unsupported(reason: String) -> HandleError {
    let target = "the CUDA array interface";
    Error::new(ErrorKind::Unsupported { target, row: None, column: None, name: None, reason }).into()
}

impl<T: Element> DeviceTable<T, Cuda> {
    /// Creates a table of the array of another library, of one dimension, a column, or of two. Transfers nothing.
    ///
    /// Values stay where they are, or are copied on the device, as in [`from_strided`](Self::from_strided). The memory
    /// may be of any kind that the device can access. The deleter is called once, after the last work that uses it, also
    /// if this call fails.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] in [`HandleError::Library`] for other dimensions, negative strides and strides that are
    /// not multiples of the size of a value, along axes with several places, and for the stream 0;
    /// [`ErrorKind::ElementTypeMismatch`] in it unless the values are of this type; those of
    /// [`DeviceArray::from_raw`](crate::DeviceArray::from_raw) and [`from_strided`](Self::from_strided).
    ///
    /// # Safety
    /// That of [`DeviceArray::from_raw_mut`](crate::DeviceArray::from_raw_mut);
    /// [`DeviceArray::from_raw`](crate::DeviceArray::from_raw) if the array is read-only.
    ///
    /// # Examples
    /// See [`CudaArrayInterface`].
    pub unsafe fn from_array_interface(
        device: &Cuda,
        interface: &CudaArrayInterface,
        deleter: impl FnOnce() + Send + 'static,
    ) -> Result<Self, HandleError> {
        let deleter = super::release::Deleter::new(deleter); // called if this fails
        let other = || unsupported(format!("values of the type {}", interface.typestr));
        check_type::<T>(interface.element_type(), other)?;
        let is_empty = interface.shape.contains(&0);
        let in_values = |(axis, &bytes): (usize, &i64)| match bytes % size_of::<T>() as i64 {
            // The stride of an axis with one place is never used.
            _ if is_empty || interface.shape.get(axis) == Some(&1) => Ok(0),
            0 => Ok(bytes / size_of::<T>() as i64),
            _ => Err(unsupported(format!("a stride of {bytes} bytes for values of {}", size_of::<T>()))),
        };
        let strides = interface.strides.as_deref();
        let strides = strides.map(|strides| strides.iter().enumerate().map(in_values).collect());
        let strides: Option<Vec<i64>> = strides.transpose()?;
        let (shape, strides) = geometry(&interface.shape, strides.as_deref()).map_err(unsupported)?;
        let after = match interface.stream {
            Some(0) => return Err(unsupported("the stream 0, which is ambiguous".into())),
            stream => stream.map(CudaOrder::Stream),
        };
        let &CudaArrayInterface { address, is_read_only, .. } = interface;
        let (kind, is_exact) = (MemoryKind::Device, false); // the interface does not say
        let claim = Claim { address, count: extent(shape, strides)?, kind, is_exact, is_read_only };
        // SAFETY: the caller's promise.
        let array = unsafe { adopt(device, claim, deleter, after.as_slice()) }?;
        Self::from_strided(array, shape, strides)
    }
}
