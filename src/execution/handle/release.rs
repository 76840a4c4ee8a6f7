//! Fewer values, less memory, and the end of a handle.

use super::ArrayHandle;
use crate::base::element::Element;
use crate::execution::{Container, DeviceAdapter, ExecutionMemory, HandleError};

impl<T: Element, D: DeviceAdapter, C: Container<T>> ArrayHandle<T, D, C> {
    /// Keeps the first `count` values, if there are more. O(1): what is copied later is so much less.
    ///
    /// For results whose size shows while they are computed: prepare for the largest, and truncate.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::execution::{ArrayHandle, Detached, DeviceAdapter, Kernels};
    /// let device = Detached::new();
    /// let mut handle = ArrayHandle::<u8, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(1000)?, 7)?;
    /// handle.truncate(3);
    /// assert_eq!(handle.read_portal()?, [7; 3]);
    /// assert_eq!(device.stats().downloads.bytes, 3);
    /// # Ok::<(), numeric_table::execution::HandleError>(())
    /// ```
    pub fn truncate(&mut self, count: usize) {
        self.len = self.len.min(count);
    }

    /// Frees execution memory. Values that are nowhere else are saved to control memory first.
    ///
    /// Source: Dax `ReleaseResourcesExecution`.
    ///
    /// # Errors
    /// As [`read_portal`](Self::read_portal); nothing is freed.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::execution::{ArrayHandle, Detached};
    /// let device = Detached::new();
    /// let mut handle = ArrayHandle::from_container(&device, vec![1_u8, 2]);
    /// handle.prepare_for_input()?;
    /// handle.release_execution()?;
    /// assert!(device.live_bytes() == 0 && handle.is_on_host());
    /// # Ok::<(), numeric_table::execution::HandleError>(())
    /// ```
    pub fn release_execution(&mut self) -> Result<(), HandleError> {
        self.execution.release(&self.control, self.len)?;
        Ok(())
    }

    /// Frees control memory. Values that are nowhere else are saved to execution memory first. Does nothing if memory is
    /// shared.
    ///
    /// Source: Dax `ReleaseResourcesControl`.
    ///
    /// # Errors
    /// [`HandleError::ReadOnly`] if the values could not come back; as
    /// [`prepare_for_input`](Self::prepare_for_input). Nothing is freed.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Array, execution::{ArrayHandle, Detached}};
    /// let array = Array::from(vec![1_u8, 2]);
    /// let mut handle = ArrayHandle::from_container(&Detached::new(), array.clone());
    /// handle.release_control()?;
    /// assert_eq!(array.owner_count(), 1);
    /// assert_eq!(handle.read_portal()?, [1, 2]);
    /// # Ok::<(), numeric_table::execution::HandleError>(())
    /// ```
    pub fn release_control(&mut self) -> Result<(), HandleError> {
        if self.has_data() {
            self.control.check_writable()?;
        }
        self.execution.take_over(&mut self.control, self.len)
    }

    /// Frees both sides. The values are gone; a container that only borrows its memory stays.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::execution::{ArrayHandle, HandleError, Serial};
    /// let mut handle = ArrayHandle::from_container(&Serial, vec![1_u8, 2]);
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

    /// Hands the container over, with the values in it: they are copied to it if they are on the device only.
    ///
    /// Source: Dax `GetArrayContainerControl`.
    ///
    /// # Errors
    /// As [`read_portal`](Self::read_portal); the handle is gone then. Call that first if it matters.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::execution::{ArrayHandle, Detached, Kernels};
    /// use numeric_table::prelude::*;
    /// let device = Detached::new();
    /// let mut handle = ArrayHandle::<f32, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(6)?, 1.5)?;
    /// let array = handle.into_container()?;
    /// let table = HomogenNumericTable::from_array(array, Shape { rows: 3, columns: 2 }).unwrap(); // no copy
    /// assert_eq!(table.as_slice().unwrap(), [1.5; 6]);
    /// # Ok::<(), numeric_table::execution::HandleError>(())
    /// ```
    pub fn into_container(self) -> Result<C, HandleError> {
        self.read_portal()?;
        let mut container = self.control.into_container().ok_or(HandleError::NoValidData)?;
        container.truncate(self.len);
        Ok(container)
    }
}
