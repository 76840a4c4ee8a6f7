//! The facade over an array on the control and the execution side.
//!
//! This file has the fields, and the calls that prepare values for kernels and lend them to the program. `copy` copies
//! values out, `ahead` copies them in the background, `release` frees them and takes the container, `clone` clones, and
//! `sequence` has the handles of values that are not one slice.

mod ahead;
mod clone;
mod copy;
mod memory;
mod release;
mod sequence;

use std::fmt;

use ahead::Ahead;
use numeric_table::{Array, Element, Error, ErrorKind};
use sequence::MakeOnDevice;

use super::memory::{ControlSlot, ExecutionMemory};
use super::{Container, DeviceAdapter, HandleError, View, ViewMut};

/// An array in the control environment (the program's own memory) and the execution environment (where kernels run).
///
/// The handle records on which side the values are valid, and copies them only when a call needs them on the other
/// side. On a device that shares the program's memory, nothing is ever copied.
///
/// The table shows what a call copies on a device with memory of its own (**up** to the device or **down** from it),
/// and where the values are valid afterwards, by the state before the call. E: no data, H: control only, D: execution
/// only, B: both.
///
/// | call | E | H | D | B |
/// | --- | --- | --- | --- | --- |
/// | [`prepare_for_input`](Self::prepare_for_input) | `NoValidData` | **up**, B | D | B |
/// | [`prefetch`](Self::prefetch) | `NoValidData` | **up**, in the background, B | D | B |
/// | [`prepare_for_output`](Self::prepare_for_output) | D | D | D | D |
/// | [`prepare_in_place`](Self::prepare_in_place) | `NoValidData` | **up**, D | D | D |
/// | [`read_portal`](Self::read_portal) | `NoValidData` | H | **down**, B | B |
/// | [`write_portal`](Self::write_portal) | `NoValidData` | H | **down**, H | H |
/// | [`set_values`](Self::set_values) | `NoValidData` | H | **up**, those values, D | **up**, those values, D |
/// | [`copy_into`](Self::copy_into) | `NoValidData` | H | **down** into the target, D | B |
/// | [`get_values`](Self::get_values) | `NoValidData` | H | **down**, those values, D | B |
/// | [`release_execution`](Self::release_execution) | E | H | **down**, H | H |
/// | [`release_control`](Self::release_control) | E | **up**, D | D | D |
/// | [`discard`](Self::discard) | E | E | E | E |
///
/// * A clone shares the copy on the device, and clones the container if its values are valid: an [`Array`] or a `&[T]`
///   shares them, so that cloning is O(1); a `Vec` copies them. The first write through either handle detaches what is
///   shared: an output uses new memory, an in-place view copies on the device, a write portal copies in control memory.
///   (In Dax and VTK-m, writes are visible to all copies; for that, wrap the handle in `Arc<RwLock<_>>`.)
/// * Views and portals borrow the handle, so that nothing can be moved or freed while they exist. An output needs no
///   call to complete it: it is valid as soon as it is prepared, and values that a kernel does not write are arbitrary.
/// * Values that are not one slice are a [`Sequence`](crate::sequence::Sequence):
///   [`from_sequence`](Self::from_sequence). Where the table has **up**, the device computes what it can, and only the
///   rest crosses.
/// * After a failure, every copy that was valid is still valid. A copy that control also has may be freed when
///   another array needs the device's memory. The only copy is never freed. Values are never moved to another device
///   implicitly.
///
/// Source: Dax `ArrayHandle`, and VTK-m for `prepare_in_place`.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter, HandleError, Launch};
/// let device = EmulatedDevice::new(); // or `HostParallel`, `HostSerial`
/// let input = ArrayHandle::from_container(&device, vec![1.0_f32, 2.0, 3.0]);
/// let mut squares = ArrayHandle::<f64, _>::empty(&device);
/// device.launch([input.prepare_for_input()?], squares.prepare_for_output(3)?, 3, |items, [x], squares| {
///     squares.iter_mut().zip(&x[items]).for_each(|(square, &x)| *square = f64::from(x).powi(2));
/// })?;
/// assert_eq!(squares.read_portal()?, [1.0, 4.0, 9.0]);
/// assert_eq!((device.stats().uploads.bytes, device.stats().downloads.bytes), (12, 24));
/// # Ok::<(), HandleError>(())
/// ```
///
/// Misuse of views does not compile. An in-place view cannot be used after the handle returned an input view:
/// ```compile_fail,E0502
/// # use numeric_table_execution::*;
/// # let device = EmulatedDevice::new();
/// # let mut handle = ArrayHandle::from_container(&device, vec![1.0_f32]);
/// let in_place = handle.prepare_in_place()?;
/// let input = handle.prepare_for_input()?;
/// device.fill(in_place, 1.0)?;
/// # Ok::<(), HandleError>(())
/// ```
/// nor can any view after its memory is released:
/// ```compile_fail,E0502
/// # use numeric_table_execution::*;
/// # let device = EmulatedDevice::new();
/// # let mut handle = ArrayHandle::from_container(&device, vec![1.0_f32]);
/// # let mut other = ArrayHandle::<f32, _>::empty(&device);
/// let view = handle.prepare_for_input()?;
/// handle.release_execution()?;
/// device.convert(view, other.prepare_for_output(1)?, Default::default())?;
/// # Ok::<(), HandleError>(())
/// ```
/// nor can there be two writers:
/// ```compile_fail,E0499
/// # use numeric_table_execution::*;
/// # let device = EmulatedDevice::new();
/// # let mut handle = ArrayHandle::from_container(&device, vec![1.0_f32]);
/// let one = handle.prepare_for_output(1)?;
/// let other = handle.prepare_for_output(1)?;
/// device.fill(one, 1.0)?;
/// # Ok::<(), HandleError>(())
/// ```
/// A handle cannot outlive the slice that it wraps:
/// ```compile_fail,E0597
/// # use numeric_table_execution::*;
/// # let device = EmulatedDevice::new();
/// let handle = {
///     let values = vec![1.0_f32];
///     ArrayHandle::from_container(&device, &values[..])
/// };
/// handle.read_portal()?;
/// # Ok::<(), HandleError>(())
/// ```
/// and a portal cannot be used after an output is prepared:
/// ```compile_fail,E0502
/// # use numeric_table_execution::*;
/// # let device = EmulatedDevice::new();
/// # let mut handle = ArrayHandle::from_container(&device, vec![1.0_f32]);
/// let values = handle.read_portal()?;
/// handle.prepare_for_output(1)?;
/// assert_eq!(values, [1.0]);
/// # Ok::<(), HandleError>(())
/// ```
pub struct ArrayHandle<T: Element, D: DeviceAdapter, C: Container<T> = Array<T>> {
    device: D,
    /// Number of values; a container or a block may have room for more.
    len: usize,
    control: ControlSlot<C>,
    execution: D::Memory,
    ahead: Ahead,
    /// How a device with memory of its own gets the values of a container that may have no slice of them.
    make: Option<MakeOnDevice<T, D, C>>,
    element: std::marker::PhantomData<T>,
}

impl<T: Element, D: DeviceAdapter, C: Container<T>> ArrayHandle<T, D, C> {
    /// Creates a handle without data, for later output. Its container is empty.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, HostSerial};
    /// let handle = ArrayHandle::<f32, _>::empty(&HostSerial);
    /// assert!(handle.len() == 0 && !handle.is_on_host() && !handle.is_on_device());
    /// let handle = ArrayHandle::<f32, _, Vec<f32>>::empty(&HostSerial); // results are returned as a `Vec`
    /// ```
    pub fn empty(device: &D) -> Self
    where
        C: Default,
    {
        Self::new(device, 0, ControlSlot::invalid(C::default()))
    }

    /// Creates a handle for existing values. Nothing is copied.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Array;
    /// use numeric_table_execution::{ArrayHandle, HostSerial};
    /// let mut values = [1.0_f32, 2.0];
    /// ArrayHandle::from_container(&HostSerial, &values[..]);         // borrowed, read-only
    /// ArrayHandle::from_container(&HostSerial, &mut values[..]);     // borrowed, of fixed size
    /// ArrayHandle::from_container(&HostSerial, values.to_vec());     // owned
    /// ArrayHandle::from_container(&HostSerial, Array::from(values)); // shared
    /// ```
    pub fn from_container(device: &D, container: C) -> Self {
        Self::new(device, container.value_count(), ControlSlot::valid(container))
    }

    fn new(device: &D, len: usize, control: ControlSlot<C>) -> Self {
        let (execution, device) = (device.memory(), device.clone());
        let (ahead, element) = (Ahead::default(), std::marker::PhantomData);
        Self { device, len, control, execution, ahead, make: None, element }
    }

    /// Returns the number of values: 0 without data.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, HostSerial};
    /// assert_eq!(ArrayHandle::from_container(&HostSerial, vec![1_u8, 2]).len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the number of values is 0.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, HostSerial};
    /// assert!(ArrayHandle::<f32, _>::empty(&HostSerial).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Borrows the device.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, DeviceAdapter, HostSerial};
    /// assert_eq!(ArrayHandle::<f32, _>::empty(&HostSerial).device().id(), HostSerial.id());
    /// ```
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Returns whether the control side has a valid copy.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
    /// let mut handle = ArrayHandle::<f32, _>::empty(&EmulatedDevice::new());
    /// handle.prepare_for_output(3)?;
    /// assert!(!handle.is_on_host());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn is_on_host(&self) -> bool {
        self.control.is_valid()
    }

    /// Returns whether the execution side has a valid copy.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
    /// let handle = ArrayHandle::from_container(&EmulatedDevice::new(), vec![1_u8, 2]);
    /// assert!(!handle.is_on_device());
    /// handle.prepare_for_input()?;
    /// assert!(handle.is_on_device());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn is_on_device(&self) -> bool {
        self.execution.is_valid(&self.control)
    }

    /// Makes the values readable by kernels; copies them to the device if they are not there. If several threads call
    /// this at the same time, one of them copies.
    ///
    /// Source: Dax `PrepareForInput`.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`]; what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let handle = ArrayHandle::from_container(&device, vec![1.9_f32, -2.0]);
    /// let mut bytes = ArrayHandle::<u8, _>::empty(&device);
    /// device.convert(handle.prepare_for_input()?, bytes.prepare_for_output(2)?, Default::default())?;
    /// assert_eq!(bytes.read_portal()?, [1, 0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn prepare_for_input(&self) -> Result<View<'_, T, D>, HandleError> {
        let view = match C::IS_SLICE {
            true => self.execution.load_for_input(&self.control, self.len)?,
            false => self.prepare_sequence()?,
        };
        self.ahead.join(&self.device);
        Ok(view)
    }

    /// Prepares memory for `count` values that a kernel will write. The output is valid from now on, and needs no call
    /// to complete it. Old values are discarded. Memory is reused if it is large enough. No page of it is touched (with
    /// the feature `mmap`).
    ///
    /// Source: Dax `PrepareForOutput`.
    ///
    /// # Errors
    /// [`HandleError::ReadOnly`], [`HandleError::FixedSize`] if the container cannot receive `count` values;
    /// [`HandleError::LengthOverflow`], [`HandleError::HostAlloc`], [`HandleError::DeviceAlloc`],
    /// [`HandleError::DeviceLost`]. The handle is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::from_container(&device, vec![1_i16, 2]);
    /// device.fill(handle.prepare_for_output(3)?, 7)?;
    /// assert_eq!(device.stats().uploads.calls, 0);
    /// assert_eq!(handle.read_portal()?, [7, 7, 7]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn prepare_for_output(&mut self, count: usize) -> Result<ViewMut<'_, T, D>, HandleError> {
        let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
        bytes.ok_or(HandleError::LengthOverflow)?;
        if let Some(container) = self.control.container() {
            container.check(count)?;
        }
        let view = self.execution.allocate_for_output(&mut self.control, count)?;
        self.len = count;
        Ok(view)
    }

    /// Makes the values readable and writable by kernels; copies them to the device if they are not there. The control
    /// copy becomes invalid.
    ///
    /// Source: VTK-m `PrepareForInPlace`.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`]; [`HandleError::ReadOnly`]; what the device reports. The handle is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Launch};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::from_container(&device, vec![1_i16, 2]);
    /// device.launch((), handle.prepare_in_place()?, 2, |_, (), values| {
    ///     values.iter_mut().for_each(|value| *value *= 10);
    /// })?;
    /// assert_eq!(handle.read_portal()?, [10, 20]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn prepare_in_place(&mut self) -> Result<ViewMut<'_, T, D>, HandleError> {
        if self.has_data() {
            self.control.check_writable()?;
        }
        let view = self.execution.load_in_place(&mut self.control, self.len)?;
        self.ahead.join(&self.device);
        Ok(view)
    }

    /// Borrows the values in control memory; copies them there first if needed.
    ///
    /// Source: Dax `GetIteratorBegin`, `GetIteratorEnd`.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`], [`HandleError::HostAlloc`]; what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
    /// let handle = ArrayHandle::from_container(&EmulatedDevice::new(), vec![1_i16, 2]);
    /// assert_eq!(handle.read_portal()?, [1, 2]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn read_portal(&self) -> Result<&[T], HandleError> {
        if !C::IS_SLICE {
            self.materialize()?;
        }
        self.execution.download(&self.control, self.len)
    }

    /// Borrows the values in control memory for writing; copies them there first if needed. The execution copy becomes
    /// invalid.
    ///
    /// # Errors
    /// [`HandleError::ReadOnly`], before anything is copied; those of [`read_portal`](Self::read_portal).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Array;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
    /// let array = Array::from(vec![1_i16, 2]);
    /// let mut handle = ArrayHandle::from_container(&EmulatedDevice::new(), array.clone());
    /// handle.write_portal()?[0] = 7; // copies first, because the array is shared
    /// assert_eq!((handle.read_portal()?, &array[..]), (&[7, 2][..], &[1, 2][..]));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn write_portal(&mut self) -> Result<&mut [T], HandleError> {
        if self.has_data() {
            self.control.check_writable()?;
        }
        self.execution.download(&self.control, self.len)?;
        self.ahead.finish(&self.device);
        let container = self.control.container().ok_or(HandleError::NoValidData)?;
        let values = container.values_mut()?.get_mut(..self.len).ok_or(HandleError::NoValidData)?;
        self.execution.invalidate();
        Ok(values)
    }

    fn has_data(&self) -> bool {
        // In this order: values that another thread moves from the device to control meanwhile are found at least
        // once.
        self.is_on_device() || self.is_on_host()
    }

    /// Borrows the container, with all values: they are copied from the device if control has none. A container may
    /// have room for more than [`len`](Self::len) values.
    ///
    /// Source: Dax `GetArrayContainerControl`.
    ///
    /// # Errors
    /// Those of [`read_portal`](Self::read_portal).
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<f32, _, Vec<[f32; 3]>>::empty(&device); // of vectors of three components
    /// device.fill(handle.prepare_for_output(6)?, 1.5)?;
    /// assert_eq!(handle.container()?, &[[1.5; 3]; 2]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn container(&self) -> Result<&C, HandleError> {
        if C::IS_SLICE {
            self.read_portal()?;
        }
        self.control.get().ok_or(HandleError::NoValidData)
    }

    /// Changes some values, starting at index `first`: on the device if it has the values, otherwise in the container.
    /// Other values are not copied.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] in [`HandleError::Library`]; those of [`prepare_in_place`](Self::prepare_in_place).
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<f64, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(1000)?, 2.5)?;
    /// handle.set_values(3, &[7.0])?;
    /// assert_eq!((device.stats().uploads.bytes, handle.get_values(&[2, 3])?), (8, vec![2.5, 7.0]));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn set_values(&mut self, first: usize, values: &[T]) -> Result<(), HandleError> {
        if !self.has_data() {
            return Err(HandleError::NoValidData);
        }
        let end = first.saturating_add(values.len());
        if end > self.len {
            return Err(
                Error::new(ErrorKind::OutOfRange { what: "elements", range: first..end, count: self.len }).into()
            );
        }
        if self.is_on_device() {
            self.control.check_writable()?;
            return self.store(first, values);
        }
        self.write_portal()?[first..end].copy_from_slice(values);
        Ok(())
    }

    /// Borrows the container if its values are valid; it may have room for more.
    pub(super) fn valid_container(&self) -> Option<&C> {
        self.control.get()
    }

    /// Copies `target.len()` values from index `first`; the range must have been checked.
    pub(super) fn copy_part_into(&self, first: usize, target: &mut [T]) -> Result<(), HandleError> {
        self.device.in_program(|| self.execution.copy_into(&self.control, first, target))
    }

    /// Copies values directly to execution memory; the range must have been checked.
    pub(super) fn store(&mut self, first: usize, values: &[T]) -> Result<(), HandleError> {
        self.execution.store(&mut self.control, self.len, first, values)
    }

    /// Replaces the values with those of a container, and returns the old container. Execution memory is kept for
    /// reuse.
    pub(super) fn replace_container(&mut self, container: C) -> Option<C> {
        self.execution.invalidate();
        self.len = container.values().len();
        std::mem::replace(&mut self.control, ControlSlot::valid(container)).into_container()
    }
}

impl<T: Element, D: DeviceAdapter, C: Container<T>> fmt::Debug for ArrayHandle<T, D, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayHandle")
            .field("device", &self.device.id().to_string())
            .field("element_type", &T::TYPE)
            .field("len", &self.len)
            .field("on_host", &self.is_on_host())
            .field("on_device", &self.is_on_device())
            .finish()
    }
}
