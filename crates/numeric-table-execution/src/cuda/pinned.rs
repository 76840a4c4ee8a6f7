//! Memory of the program that the device can read and write by itself: registered with the driver.
//!
//! A copy between such memory and the device runs at the speed of the link, in the background. The driver's own
//! allocation of it (`cuMemHostAlloc`) takes six times as long as touching pages in parallel and registering them,
//! which is done here. The flag is that of ordinary, cached memory.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use numeric_table::internal::{UniqueArray, parallel};
use numeric_table::{Array, Element, array::MemoryKind};

use super::objects::Context;
use super::streams::{Lane, Streams};
use crate::container::refuse_writes;
use crate::{Container, DeviceError, HandleError};

/// The ranges of addresses that are registered: their beginning, and their number of bytes.
static RANGES: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());

/// Says that all bytes of a slice are registered, and that they stay so until this is dropped.
pub(super) struct Pin {
    _ranges: RwLockReadGuard<'static, BTreeMap<usize, usize>>,
}

/// Returns whether all bytes of a slice are registered, and keeps them so until a copy has been submitted. Memory is
/// unregistered after the copies that have been submitted.
pub(super) fn pin(bytes: &[u8]) -> Option<Pin> {
    let (start, ranges) = (bytes.as_ptr() as usize, RANGES.read().unwrap_or_else(PoisonError::into_inner));
    let range = ranges.range(..=start).next_back();
    let is_inside =
        range.is_some_and(|(&first, &length)| start - first <= length && bytes.len() <= length - (start - first));
    is_inside.then_some(Pin { _ranges: ranges })
}

/// Bytes that are registered until this is dropped.
#[derive(Debug)]
pub(super) struct Registration {
    address: usize,
    context: Arc<Context>,
    /// Whether others may copy the memory while this is dropped. They may not if this is dropped with its memory.
    is_shared: bool,
}

impl Registration {
    /// Registers memory of the program. Returns `None` if the driver does not take it.
    ///
    /// The registration may be dropped after the memory, or never: then the driver keeps its own share of the pages,
    /// and copies from such an address are those of old values.
    pub(super) fn new(streams: &Streams, bytes: &[u8], is_shared: bool) -> Option<Self> {
        if bytes.is_empty() || streams.enter().is_err() {
            return None;
        }
        let address = bytes.as_ptr() as usize;
        streams.context().register(address, bytes.len()).ok()?;
        RANGES.write().unwrap_or_else(PoisonError::into_inner).insert(address, bytes.len());
        Some(Self { address, context: streams.context().clone(), is_shared })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Waits for whoever is submitting a copy of registered memory.
        RANGES.write().unwrap_or_else(PoisonError::into_inner).remove(&self.address);
        if self.is_shared {
            Streams::end_all(Lane::Up); // of any device: another handle, or a stream of rows, may be copying the same values
        }
        // SAFETY: no copy of the range is going on: those of shared memory have ended, and others have a borrow or a
        // share of the memory, which this is dropped with.
        let _ = unsafe { self.context.unregister(self.address) };
    }
}

/// Values in the library's memory, registered if possible.
pub(super) struct Pinned<T> {
    registration: Option<Registration>, // dropped first
    values: UniqueArray<T>,
}

impl<T: Element> Pinned<T> {
    /// Allocates zeros.
    pub(super) fn zeros(streams: &Streams, count: usize) -> Result<Self, HandleError> {
        let mut values = UniqueArray::from_array(Array::<T>::zeros(count)?)?;
        parallel::for_each_chunk_mut(&mut values[..], &|_, chunk| chunk.fill(T::default())); // touches the pages
        let registration = Registration::new(streams, bytemuck::cast_slice(&values[..]), false);
        Ok(Self { registration, values })
    }
}

impl<T: Element> Pinned<T> {
    /// Returns the values as an array, which says where they lie.
    pub(super) fn into_array(self) -> Array<T> {
        let kind = if self.registration.is_some() { MemoryKind::Pinned } else { MemoryKind::Host };
        Array::from_owner_with_kind(self, kind)
    }
}

impl<T> AsRef<[T]> for Pinned<T> {
    fn as_ref(&self) -> &[T] {
        &self.values
    }
}

impl<T> AsMut<[T]> for Pinned<T> {
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

/// A slice that is registered with the driver of a device for the duration of a borrow: a container for a handle.
///
/// Copies to the device run at the speed of the link, without an intermediate copy. Registering takes about 60 µs for
/// each MiB, so it pays from the second copy on. [`Cuda::pinned`](super::Cuda::pinned) allocates memory that stays
/// registered.
///
/// # Examples
/// ```
/// use numeric_table_execution::ArrayHandle;
/// use numeric_table_execution::cuda::Cuda;
/// let values = vec![1.0_f32; 1000];
/// if let Ok(device) = Cuda::new(0) {
///     let handle = ArrayHandle::from_container(&device, device.register(&values)?);
///     handle.prepare_for_input()?;
/// }
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Debug)]
pub struct PinnedSlice<'a, T> {
    _registration: Option<Registration>, // none of no values
    values: &'a [T],
}

impl<'a, T: Element> PinnedSlice<'a, T> {
    pub(super) fn new(streams: &Streams, values: &'a [T]) -> Result<Self, HandleError> {
        let bytes = bytemuck::cast_slice(values);
        let registration = Registration::new(streams, bytes, true);
        if registration.is_none() && !bytes.is_empty() && pin(bytes).is_none() {
            streams.enter()?;
            return Err(DeviceError::Failed { code: 0, what: "registering memory" }.into());
        }
        Ok(Self { _registration: registration, values })
    }
}

impl<T: Element> Container<T> for PinnedSlice<'_, T> {
    fn values(&self) -> &[T] {
        self.values
    }

    refuse_writes! { T }

    fn release(&mut self) {}

    fn truncate(&mut self, count: usize) {
        self.values = self.values.get(..count).unwrap_or(self.values);
    }
}
