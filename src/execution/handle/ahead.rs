//! Copies in the background: values that go to the device ahead of the kernel that needs them, and come back while the
//! program goes on.

use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use super::ArrayHandle;
use crate::array::Array;
use crate::base::element::Element;
use crate::execution::{Arriving, DeviceAdapter, Engine, Event, ExecutionMemory, HandleError};

/// The event of a copy to the device that kernels must wait for, if there is one.
#[derive(Default)]
pub(super) struct Ahead(AtomicU64);

impl Ahead {
    fn started(&self, event: Event) {
        self.0.store(event.0, Release);
    }

    /// Makes the kernels that are launched from now on wait for the copy.
    pub(super) fn join(&self, device: &impl DeviceAdapter) {
        let event = self.0.load(Acquire);
        if event != Event::DONE.0 {
            device.queue().wait(Engine::Compute, Event(event));
            // All later kernels wait as well. Whoever reads zero comes after the call.
            let _ = self.0.compare_exchange(event, Event::DONE.0, AcqRel, Relaxed);
        }
    }
}

impl Clone for Ahead {
    fn clone(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Acquire)))
    }
}

impl<T: Element, D: DeviceAdapter> ArrayHandle<T, D> {
    /// Starts to copy the values to the device, after some events, and returns the event of the copy. The program goes on
    /// meanwhile; on devices that do not copy in the background, the copy is complete on return. Kernels that use this
    /// handle wait for it. Does nothing if the device has the values.
    ///
    /// Source: `sycl::queue::memcpy` with its dependencies; `cudaMemPrefetchAsync`.
    ///
    /// # Errors
    /// Those of [`prepare_for_input`](Self::prepare_for_input).
    ///
    /// # Examples
    /// See [`DeviceAdapter::submit`].
    pub fn prefetch(&self, after: &[Event]) -> Result<Event, HandleError> {
        if !self.has_data() {
            return Err(HandleError::NoValidData);
        }
        let queue = self.device.queue();
        after.iter().for_each(|&event| queue.wait(Engine::Copy, event));
        self.load_ahead()?;
        let event = queue.record(Engine::Copy);
        self.ahead.started(event);
        Ok(event)
    }

    /// Starts to copy the values to the device. The caller makes kernels wait.
    pub(in crate::execution) fn load_ahead(&self) -> Result<(), HandleError> {
        self.execution.load_ahead(&self.control, self.len)
    }

    /// Starts to copy the values from the device, which has them, into an array of as many bytes.
    pub(in crate::execution) fn fetch_later(&self, target: Array<u8>) -> Result<Arriving, HandleError> {
        self.execution.fetch_later(&self.control, target)
    }
}
