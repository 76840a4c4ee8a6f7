//! Truncating a handle, freeing its memory, and taking its container.

use numeric_table::Element;

use super::ArrayHandle;
use crate::memory::{ControlSlot, ExecutionMemory};
use crate::{Container, DeviceAdapter, HandleError, ViewMut};

impl<T: Element, D: DeviceAdapter, C: Container<T>> ArrayHandle<T, D, C> {
    /// Keeps the first `count` values, if there are more. O(1); later copies are shorter.
    ///
    /// For results whose size is known only after they are computed: prepare for the largest size, and truncate.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<u8, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(1000)?, 7)?;
    /// handle.truncate(3);
    /// assert_eq!(handle.read_portal()?, [7; 3]);
    /// assert_eq!(device.stats().downloads.bytes, 3);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn truncate(&mut self, count: usize) {
        self.len = self.len.min(count);
    }

    /// Computes values whose number is not known: calls `compute` with memory for `guess` values. It launches kernels,
    /// and returns how many values there are. If they are more, `compute` is called again with memory for at least that
    /// number, and not for more than `max`. Returns the number of values, which is the new length.
    ///
    /// Source: Dax, results whose "size may be known only in the middle of a scheduling function".
    ///
    /// # Errors
    /// [`HandleError::TooManyValues`] if there are more than `max`; that of `compute`; those of
    /// [`prepare_for_output`](Self::prepare_for_output). The handle may have lost its values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice, HandleError, Launch};
    /// let device = EmulatedDevice::new();
    /// let found = [3_u8, 5, 7]; // three results
    /// let mut handle = ArrayHandle::<u8, _>::empty(&device);
    /// let count = handle.compute_growing(1, 1000, |output| {
    ///     device.launch((), output, 1, |_, (), output| {
    ///         output.iter_mut().zip(&found).for_each(|(output, value)| *output = *value);
    ///     })?;
    ///     Ok(found.len())
    /// })?;
    /// assert_eq!((count, handle.read_portal()?, device.stats().downloads.bytes), (3, &found[..], 3));
    /// let refused = handle.compute_growing(1, 2, |_| Ok(3));
    /// assert!(matches!(refused, Err(HandleError::TooManyValues { have: 3, max: 2 })));
    /// # Ok::<(), HandleError>(())
    /// ```
    pub fn compute_growing(
        &mut self,
        guess: usize,
        max: usize,
        mut compute: impl FnMut(ViewMut<'_, T, D>) -> Result<usize, HandleError>,
    ) -> Result<usize, HandleError> {
        let mut room = guess.min(max);
        loop {
            let found = compute(self.prepare_for_output(room)?);
            let count = found.inspect_err(|_| self.truncate(0))?;
            if count <= room {
                self.truncate(count);
                return Ok(count);
            }
            self.truncate(0);
            if count > max {
                return Err(HandleError::TooManyValues { have: count, max });
            }
            room = count.max(room.saturating_mul(2)).min(max);
        }
    }

    /// Frees execution memory. Values that control does not have are saved to control memory first.
    ///
    /// Source: Dax `ReleaseResourcesExecution`.
    ///
    /// # Errors
    /// Those of [`read_portal`](Self::read_portal); nothing is freed then.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::from_container(&device, vec![1_u8, 2]);
    /// handle.prepare_for_input()?;
    /// handle.release_execution()?;
    /// assert!(device.live_bytes() == 0 && handle.is_on_host());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn release_execution(&mut self) -> Result<(), HandleError> {
        self.ahead.finish(&self.device);
        self.execution.release(&self.control, self.len)?;
        Ok(())
    }

    /// Frees control memory. Values that are not in execution memory are copied there first. Does nothing if memory is
    /// shared.
    ///
    /// Source: Dax `ReleaseResourcesControl`.
    ///
    /// # Errors
    /// [`HandleError::ReadOnly`] if the values could not be copied back; those of
    /// [`prepare_for_input`](Self::prepare_for_input). Nothing is freed then.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Array;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
    /// let array = Array::from(vec![1_u8, 2]);
    /// let mut handle = ArrayHandle::from_container(&EmulatedDevice::new(), array.clone());
    /// handle.release_control()?;
    /// assert_eq!(array.owner_count(), 1);
    /// assert_eq!(handle.read_portal()?, [1, 2]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn release_control(&mut self) -> Result<(), HandleError> {
        if self.has_data() {
            self.control.check_writable()?;
        }
        self.execution.upload_and_free(&mut self.control, self.len)
    }

    /// Frees both sides, and discards the values; a container that only borrows its memory is kept.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, HandleError, HostSerial};
    /// let mut handle = ArrayHandle::from_container(&HostSerial, vec![1_u8, 2]);
    /// handle.discard();
    /// assert!(matches!(handle.read_portal(), Err(HandleError::NoValidData)));
    /// ```
    pub fn discard(&mut self) {
        self.execution.discard();
        self.control.invalidate();
        if let Some(container) = self.control.container() {
            container.release();
        }
        self.len = 0;
    }

    /// Returns the container with the values, which are copied to it if they are only on the device.
    ///
    /// Source: Dax `GetArrayContainerControl`.
    ///
    /// # Errors
    /// Those of [`read_portal`](Self::read_portal); the handle is dropped then. To keep it, call `read_portal` first.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// use numeric_table::prelude::*;
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<f32, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(6)?, 1.5)?;
    /// let array = handle.into_container()?;
    /// let table = HomogenNumericTable::from_array(array, Shape { rows: 3, columns: 2 }).unwrap(); // no copy
    /// assert_eq!(table.as_slice().unwrap(), [1.5; 6]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn into_container(self) -> Result<C, HandleError> {
        if C::IS_SLICE {
            self.read_portal()?;
        }
        self.ahead.finish(&self.device);
        let mut container = self.control.into_container().ok_or(HandleError::NoValidData)?;
        container.truncate(self.len);
        Ok(container)
    }

    /// Takes the container with all values, and leaves the handle without data: as
    /// [`into_container`](Self::into_container) does, of a handle that is needed again.
    ///
    /// Source: Dax `GetArrayContainerControl`, after which the client owns the array.
    ///
    /// # Errors
    /// Those of [`read_portal`](Self::read_portal). The handle keeps its data.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<f32, _, Vec<f32>>::empty(&device);
    /// let mut results = Vec::new();
    /// for step in 0..3 {
    ///     device.fill(handle.prepare_for_output(2)?, step as f32)?; // in the same memory of the device
    ///     results.push(handle.take_container()?);
    /// }
    /// assert_eq!(results, [[0.0; 2], [1.0; 2], [2.0; 2]]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn take_container(&mut self) -> Result<C, HandleError>
    where
        C: Default,
    {
        if C::IS_SLICE {
            self.read_portal()?;
        }
        self.ahead.finish(&self.device);
        self.execution.invalidate();
        let taken = std::mem::replace(&mut self.control, ControlSlot::invalid(C::default()));
        let mut container = taken.into_container().ok_or(HandleError::NoValidData)?;
        container.truncate(self.len);
        self.len = 0;
        Ok(container)
    }
}
