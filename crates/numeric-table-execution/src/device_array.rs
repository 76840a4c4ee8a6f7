//! An array on one side only: only explicit calls copy.

use std::fmt;
use std::ops::{Range, RangeBounds};

use numeric_table::internal::resolve;
use numeric_table::{Array, Element, Error, ErrorKind, array::MemoryKind};

use super::memory::ExecutionMemory;
use super::{ArrayHandle, DeviceAdapter, HandleError, Kernels, View, ViewMut};

/// An array in a device's memory. Every copy to and from the program's memory is an explicit call; nothing is lazy or
/// cached.
///
/// It is an [`ArrayHandle`] whose values are always on the execution side. Cloning shares the block, O(1); the first
/// write through either array copies it on the device.
///
/// # Examples
/// ```
/// use numeric_table_execution::{EmulatedDevice, DeviceArray, Kernels};
/// let device = EmulatedDevice::new();
/// let mut array = DeviceArray::from_slice(&device, &[1.0_f32, 2.0, 3.0])?;
/// array.copy_from_host(1, &[7.0])?;
/// let mut tail = [0.0; 2];
/// array.copy_to_host(1..3, &mut tail)?;
/// assert_eq!(tail, [7.0, 3.0]);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
pub struct DeviceArray<T: Element, D: DeviceAdapter> {
    /// Invariant: the execution side is valid, and the control side is not unless memory is shared.
    handle: ArrayHandle<T, D>,
}

impl<T: Element, D: DeviceAdapter> DeviceArray<T, D> {
    /// Creates an array of the values of a handle, which are on the execution side.
    #[cfg(feature = "cuda")]
    pub(crate) fn of_handle(handle: ArrayHandle<T, D>) -> Self {
        Self { handle }
    }

    /// Allocates `count` values, whose content is arbitrary.
    ///
    /// # Errors
    /// [`HandleError::DeviceAlloc`], [`HandleError::HostAlloc`], [`HandleError::LengthOverflow`],
    /// [`HandleError::DeviceLost`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceArray, Kernels, HostSerial};
    /// let mut array = DeviceArray::allocate(&HostSerial, 3)?;
    /// HostSerial.fill(array.view_mut()?, 1.5_f32)?;
    /// assert_eq!(array.to_array()?[..], [1.5; 3]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn allocate(device: &D, count: usize) -> Result<Self, HandleError> {
        let mut handle = ArrayHandle::empty(device);
        handle.prepare_for_output(count)?;
        Ok(Self { handle })
    }

    /// Allocates `count` values in a kind of memory. Their content is arbitrary.
    ///
    /// A CUDA device has [`MemoryKind::Device`], the default of all other calls; [`MemoryKind::Shared`], managed
    /// memory, never more than the device has free; and [`MemoryKind::Pinned`] program memory, which kernels access
    /// over the link. The program reads the last two through `DeviceArray::host_slice`.
    ///
    /// Source: oneDAL `array::empty(queue, count, alloc)`.
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate); [`DeviceError::Unavailable`](super::DeviceError::Unavailable) in
    /// [`HandleError::Device`] if the device does not have this kind of memory.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::array::MemoryKind;
    /// use numeric_table_execution::{DeviceArray, HostSerial};
    /// let array = DeviceArray::<f32, _>::allocate_with_kind(&HostSerial, 3, MemoryKind::Shared)?;
    /// assert_eq!(array.memory_kind(), MemoryKind::Shared);
    /// assert!(DeviceArray::<f32, _>::allocate_with_kind(&HostSerial, 3, MemoryKind::Device).is_err());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn allocate_with_kind(device: &D, count: usize, kind: MemoryKind) -> Result<Self, HandleError> {
        let mut handle = ArrayHandle::empty_with_kind(device, kind)?;
        handle.prepare_for_output(count)?;
        Ok(Self { handle })
    }

    /// Creates an array of one value in a kind of memory. Nothing is copied.
    ///
    /// Source: oneDAL `array::full(queue, count, element, alloc)`, and `array::zeros`, which is this with zero.
    ///
    /// # Errors
    /// Those of [`allocate_with_kind`](Self::allocate_with_kind); what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::array::MemoryKind;
    /// use numeric_table_execution::{DeviceArray, EmulatedDevice};
    /// let array = DeviceArray::full_with_kind(&EmulatedDevice::new(), 3, 1.5_f32, MemoryKind::Device)?;
    /// assert_eq!(array.to_array()?[..], [1.5; 3]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    /// After some work, without waiting for it:
    /// ```
    /// use numeric_table::{Array, array::MemoryKind};
    /// use numeric_table_execution::{ArrayHandle, DeviceAdapter, DeviceArray, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let copied = ArrayHandle::from_container(&device, Array::from(vec![1_u8, 2])).prefetch(&[])?;
    /// let mut array = DeviceArray::<f32, _>::allocate_with_kind(&device, 3, MemoryKind::Device)?;
    /// let filled = device.submit(&[copied], |device| device.fill(array.view_mut()?, 1.5))?;
    /// # device.queue().wait(numeric_table_execution::transport::Engine::Control, filled);
    /// # assert_eq!(array.to_array()?[..], [1.5; 3]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn full_with_kind(device: &D, count: usize, value: T, kind: MemoryKind) -> Result<Self, HandleError>
    where
        D: Kernels,
    {
        let mut array = Self::allocate_with_kind(device, count, kind)?;
        device.fill(array.view_mut()?, value)?;
        Ok(array)
    }

    /// Creates an array of zeros on a device. Nothing is copied.
    ///
    /// # Errors
    /// Those of [`full`](Self::full).
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{EmulatedDevice, DeviceArray};
    /// assert_eq!(DeviceArray::<i16, _>::zeros(&EmulatedDevice::new(), 3)?.to_array()?[..], [0; 3]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn zeros(device: &D, count: usize) -> Result<Self, HandleError>
    where
        D: Kernels,
    {
        Self::full(device, count, T::default())
    }

    /// Creates an array of one value on a device. Nothing is copied.
    ///
    /// Source: oneDAL `array::full(queue, count, element)`.
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate); what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{EmulatedDevice, DeviceArray};
    /// assert_eq!(DeviceArray::full(&EmulatedDevice::new(), 3, 1.5_f32)?.to_array()?[..], [1.5; 3]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn full(device: &D, count: usize, value: T) -> Result<Self, HandleError>
    where
        D: Kernels,
    {
        let mut handle = ArrayHandle::empty(device);
        device.fill(handle.prepare_for_output(count)?, value)?;
        Ok(Self { handle })
    }

    /// Copies values to the device.
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate); what the device reports.
    ///
    /// # Examples
    /// See the type.
    pub fn from_slice(device: &D, values: &[T]) -> Result<Self, HandleError> {
        let mut array = Self::allocate(device, values.len())?;
        array.handle.store(0, values)?;
        Ok(array)
    }

    /// Creates an array from the library's shared array: a copy, or, if memory is shared, the array itself.
    ///
    /// # Errors
    /// Those of [`from_slice`](Self::from_slice).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Array;
    /// use numeric_table_execution::{DeviceArray, HostSerial};
    /// let array = Array::from(vec![1_u8, 2]);
    /// assert!(DeviceArray::from_array(&HostSerial, array.clone())?.to_array()?.shares_memory_with(&array));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn from_array(device: &D, array: Array<T>) -> Result<Self, HandleError> {
        if D::Memory::IS_SHARED {
            return Ok(Self { handle: ArrayHandle::from_container(device, array) });
        }
        Self::from_slice(device, &array)
    }

    /// Returns the number of values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceArray, HostSerial};
    /// assert_eq!(DeviceArray::<f32, _>::allocate(&HostSerial, 3)?.len(), 3);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn len(&self) -> usize {
        self.handle.len()
    }

    /// Returns whether the number of values is 0.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceArray, HostSerial};
    /// assert!(!DeviceArray::<f32, _>::allocate(&HostSerial, 3)?.is_empty());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.handle.is_empty()
    }

    /// Returns the device.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceAdapter, DeviceArray, HostSerial};
    /// assert_eq!(DeviceArray::<f32, _>::allocate(&HostSerial, 3)?.device().id(), HostSerial.id());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn device(&self) -> &D {
        self.handle.device()
    }

    /// Returns the kind of the memory: that of the device, or shared with the program.
    ///
    /// # Examples
    /// See [`MemoryKind`].
    pub fn memory_kind(&self) -> MemoryKind {
        self.handle.memory_kind()
    }

    /// Returns whether [`view_mut`](Self::view_mut) copies nothing: no clone shares the values, and they may be
    /// written.
    ///
    /// Source: oneDAL `array::has_mutable_data`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceArray, EmulatedDevice};
    /// let mut array = DeviceArray::from_slice(&EmulatedDevice::new(), &[1_u8, 2])?;
    /// let clone = array.clone();
    /// assert!(!array.has_mutable_data());
    /// array.need_mutable_data()?; // copies
    /// assert!(array.has_mutable_data() && clone.has_mutable_data());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn has_mutable_data(&self) -> bool {
        self.handle.is_exclusive() && self.handle.valid_container().is_none_or(|array| array.has_mutable_data())
    }

    /// Copies the values on the device, if a clone shares them or they are memory of another library that may only be
    /// read.
    ///
    /// Source: oneDAL `array::need_mutable_data(queue)`.
    ///
    /// # Errors
    /// Those of [`view_mut`](Self::view_mut).
    ///
    /// # Examples
    /// See [`has_mutable_data`](Self::has_mutable_data).
    pub fn need_mutable_data(&mut self) -> Result<(), HandleError> {
        self.view_mut().map(|_| ())
    }

    /// Borrows the values for a kernel, for reading and writing. Never copies: writes go to the memory that the array
    /// has, which may be that of another library.
    ///
    /// Source: oneDAL `array::get_mutable_data`.
    ///
    /// # Errors
    /// [`HandleError::ReadOnly`] unless [`has_mutable_data`](Self::has_mutable_data);
    /// [`HandleError::NoValidData`] if the device is lost.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceArray, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut array = DeviceArray::from_slice(&device, &[1_u8, 2])?;
    /// device.fill(array.mutable_view()?, 7)?;
    /// let clone = array.clone();
    /// assert!(array.mutable_view().is_err());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn mutable_view(&mut self) -> Result<ViewMut<'_, T, D>, HandleError> {
        self.view()?;
        if !self.has_mutable_data() {
            return Err(HandleError::ReadOnly);
        }
        self.view_mut()
    }

    /// Borrows the values for a kernel, for reading.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`] if the device is lost.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceArray, HostSerial};
    /// let array = DeviceArray::from_slice(&HostSerial, &[1_u8, 2])?;
    /// assert_eq!(array.view()?, [1, 2]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn view(&self) -> Result<View<'_, T, D>, HandleError> {
        self.handle.prepare_for_input()
    }

    /// Borrows the values for a kernel, for reading and writing; copies them on the device first if a clone shares
    /// them.
    ///
    /// # Errors
    /// Those of [`view`](Self::view); [`HandleError::DeviceAlloc`].
    ///
    /// # Examples
    /// See [`allocate`](Self::allocate).
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T, D>, HandleError> {
        self.handle.prepare_in_place()
    }

    /// Copies values to index `first` on the device.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] in [`HandleError::Library`]; what the device reports.
    ///
    /// # Examples
    /// See the type.
    pub fn copy_from_host(&mut self, first: usize, values: &[T]) -> Result<(), HandleError> {
        self.check(first..first.saturating_add(values.len()))?;
        self.handle.store(first, values)
    }

    /// Copies a range of values to the program's memory, and no others.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] in [`HandleError::Library`]; [`HandleError::LengthMismatch`] unless `target` is as
    /// long as the range; what the device reports.
    ///
    /// # Examples
    /// See the type.
    pub fn copy_to_host(&self, range: impl RangeBounds<usize>, target: &mut [T]) -> Result<(), HandleError> {
        let count = self.len();
        let range =
            resolve(range, count, |range| Error::new(ErrorKind::OutOfRange { what: "elements", range, count }))?;
        self.check(range.clone())?;
        if range.len() != target.len() {
            return Err(HandleError::LengthMismatch { have: range.len(), want: target.len() });
        }
        self.handle.copy_part_into(range.start, target)
    }

    /// Copies all values to the program's memory; shares them if memory is shared.
    ///
    /// # Errors
    /// [`HandleError::HostAlloc`]; what the device reports.
    ///
    /// # Examples
    /// See [`from_array`](Self::from_array).
    pub fn to_array(&self) -> Result<Array<T>, HandleError> {
        self.handle.clone().into_container()
    }

    /// Converts the array to a handle with these values, which copies on demand.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceArray, HostSerial};
    /// let handle = DeviceArray::from_slice(&HostSerial, &[1_u8, 2])?.into_handle();
    /// assert_eq!(handle.read_portal()?, [1, 2]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn into_handle(self) -> ArrayHandle<T, D> {
        self.handle
    }

    fn check(&self, range: Range<usize>) -> Result<(), HandleError> {
        let count = self.len();
        let is_inside = range.start <= range.end && range.end <= count;
        if is_inside {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::OutOfRange { what: "elements", range, count }).into())
        }
    }
}

/// Shares the block: O(1). The first write through either array copies it on the device.
impl<T: Element, D: DeviceAdapter> Clone for DeviceArray<T, D> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone() }
    }
}

impl<T: Element, D: DeviceAdapter> fmt::Debug for DeviceArray<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeviceArray").field(&self.handle).finish()
    }
}
