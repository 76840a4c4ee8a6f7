//! Handles of a kind of execution memory, and of values that are there already.

use std::marker::PhantomData;

use numeric_table::{Element, array::MemoryKind};

use super::{Ahead, ArrayHandle};
use crate::memory::{ControlSlot, ExecutionMemory};
use crate::{Container, DeviceAdapter, HandleError};

impl<T: Element, D: DeviceAdapter> ArrayHandle<T, D> {
    /// Creates a handle without values, whose execution memory will be of a kind.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`](crate::DeviceError::Unavailable) in [`HandleError::Device`] if the device does not
    /// have this kind of memory.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::array::MemoryKind;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
    /// let device = EmulatedDevice::new();
    /// let handle = ArrayHandle::<f32, _>::empty_with_kind(&device, MemoryKind::Device)?;
    /// assert_eq!(handle.memory_kind(), MemoryKind::Device);
    /// assert!(ArrayHandle::<f32, _>::empty_with_kind(&device, MemoryKind::Shared).is_err());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn empty_with_kind(device: &D, kind: MemoryKind) -> Result<Self, HandleError> {
        Ok(Self::of_memory(device, device.memory_of_kind(kind)?, 0))
    }

    /// Creates a handle of `len` values in execution memory: the only copy.
    pub(crate) fn of_memory(device: &D, execution: D::Memory, len: usize) -> Self {
        let (device, control) = (device.clone(), ControlSlot::invalid(Default::default()));
        Self { device, len, control, execution, ahead: Ahead::default(), make: None, element: PhantomData }
    }
}

impl<T: Element, D: DeviceAdapter, C: Container<T>> ArrayHandle<T, D, C> {
    /// Returns the kind of the execution memory.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::array::MemoryKind;
    /// use numeric_table_execution::{ArrayHandle, HostSerial};
    /// assert_eq!(ArrayHandle::from_container(&HostSerial, vec![1.0_f32]).memory_kind(), MemoryKind::Shared);
    /// ```
    pub fn memory_kind(&self) -> MemoryKind {
        self.execution.memory_kind()
    }

    /// Checks that a device can write the values where they are.
    ///
    /// # Errors
    /// [`HandleError::WrongDevice`].
    pub(crate) fn check_device(&self, device: &D) -> Result<(), HandleError> {
        if self.execution.is_of_device_of(&device.memory()) { Ok(()) } else { Err(HandleError::WrongDevice) }
    }

    /// Returns whether in-place access copies nothing.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.execution.is_exclusive()
    }

    /// Returns whether results must be copied to the values' memory: the program or another library has it as well. The
    /// answer may become `true` at any time, if another thread drops the last clone that shares the values.
    pub(crate) fn keeps_memory(&self) -> bool {
        self.execution.keeps_memory()
    }

    /// Replaces the values by others, which are on the device only. O(1). The caller has asked
    /// [`keeps_memory`](Self::keeps_memory).
    pub(crate) fn replace_memory(&mut self, other: ArrayHandle<T, D>) {
        self.execution = other.execution;
        self.len = other.len;
        self.control.invalidate();
    }
}
