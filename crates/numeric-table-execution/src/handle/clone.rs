//! Clones of handles.

use numeric_table::Element;

use super::ArrayHandle;
use crate::memory::{ControlSlot, ExecutionMemory};
use crate::{Container, DeviceAdapter};

/// Shares the copy on the device, O(1), and clones the container if its values are valid: O(1) for an [`Array`](numeric_table::Array) or a
/// `&[T]`, which share them, a copy of all values for a `Vec`. The first write through either handle detaches what is
/// shared.
///
/// # Examples
/// ```
/// use numeric_table::Array;
/// use numeric_table_execution::{ArrayHandle, HostSerial};
/// let shared = ArrayHandle::from_container(&HostSerial, Array::from(vec![1_u8, 2]));
/// assert_eq!(shared.clone().read_portal()?.as_ptr(), shared.read_portal()?.as_ptr());
/// let owned = ArrayHandle::from_container(&HostSerial, vec![1_u8, 2]);
/// assert_ne!(owned.clone().read_portal()?.as_ptr(), owned.read_portal()?.as_ptr());
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
impl<T: Element, D: DeviceAdapter, C: Container<T> + Clone + Default> Clone for ArrayHandle<T, D, C> {
    fn clone(&self) -> Self {
        // In this order: values that another thread moves from the device to control meanwhile are found at least
        // once.
        let execution = self.execution.share();
        let control = match self.control.get() {
            Some(container) => ControlSlot::valid(container.clone()),
            None => ControlSlot::invalid(C::default()),
        };
        let ahead = self.ahead.share(&self.device);
        Self {
            device: self.device.clone(),
            len: self.len,
            control,
            execution,
            ahead,
            make: self.make,
            element: std::marker::PhantomData,
        }
    }
}
