//! Copies in the background: to the device before a kernel needs the values, and back while the program continues.

use std::sync::atomic::{
    AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use numeric_table::{Array, Element};

use super::ArrayHandle;
use crate::memory::ExecutionMemory;
use crate::transport::{Arriving, Engine, Event};
use crate::{DeviceAdapter, HandleError};

/// Copies to the device that were started ahead. Numbers are those of events.
#[derive(Default)]
pub(super) struct Ahead {
    /// The copy that kernels must wait for, until one has.
    copy: AtomicU64,
    /// The last copy, which may still read the container.
    last: AtomicU64,
    /// The number of copies that are being started and may not have an event yet.
    starting: AtomicUsize,
}

/// Says that a copy is being started.
struct Starting<'a>(&'a AtomicUsize);

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Release);
    }
}

impl Ahead {
    fn begin(&self) -> Starting<'_> {
        self.starting.fetch_add(1, AcqRel);
        Starting(&self.starting)
    }

    fn started(&self, event: Event) {
        self.last.store(event.0, Release);
        self.copy.store(event.0, Release);
    }

    /// Returns the copy that kernels must wait for. Called after the copy was found on the device, so it has been
    /// announced before.
    fn pending(&self, device: &impl DeviceAdapter) -> Event {
        match self.starting.load(Acquire) {
            0 => Event(self.copy.load(Acquire)),
            _ => device.queue().record(Engine::Copy),
        }
    }

    /// Makes the kernels that are launched from now on wait for the copy.
    pub(super) fn join(&self, device: &impl DeviceAdapter) {
        let event = self.pending(device);
        if event != Event::DONE {
            device.queue().wait(Engine::Compute, event);
            // All later kernels wait as well. Whoever reads zero comes after the call.
            let _ = self.copy.compare_exchange(event.0, Event::DONE.0, AcqRel, Relaxed);
        }
    }

    /// Waits until no copy reads the container, because a write would detach it otherwise.
    pub(super) fn finish(&self, device: &impl DeviceAdapter) {
        let last = Event(self.last.swap(Event::DONE.0, AcqRel));
        if last != Event::DONE {
            device.queue().wait(Engine::Control, last);
        }
    }

    /// Returns the state for a clone of the handle.
    pub(super) fn share(&self, device: &impl DeviceAdapter) -> Self {
        let last = AtomicU64::new(self.last.load(Acquire));
        Self { copy: AtomicU64::new(self.pending(device).0), last, starting: AtomicUsize::new(0) }
    }
}

impl<T: Element, D: DeviceAdapter> ArrayHandle<T, D> {
    /// Starts to copy the values to the device, after some events, and returns the event of the copy. The program
    /// continues meanwhile. On devices that do not copy in the background, the copy is complete on return. Kernels that
    /// use this handle and calls that write the values in control memory wait for it. Does nothing if the device has
    /// the values.
    ///
    /// For handles of an [`Array`]. The copy keeps a share of it until the copy is complete and a later call on the
    /// device releases the share.
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
        let _starting = self.ahead.begin();
        self.upload_async()?;
        let event = queue.record(Engine::Copy);
        self.ahead.started(event);
        Ok(event)
    }

    /// Starts to copy the values to the device. The caller makes kernels wait.
    pub(crate) fn upload_async(&self) -> Result<(), HandleError> {
        self.execution.upload_async(&self.control, self.len)
    }

    /// Starts to copy the values from the device, which has them, into an array of as many bytes.
    pub(crate) fn download_async(&self, target: Array<u8>) -> Result<Arriving, HandleError> {
        self.execution.download_async(&self.control, target)
    }
}
