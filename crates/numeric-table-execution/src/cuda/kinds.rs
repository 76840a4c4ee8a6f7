//! Blocks of memory that the program and the device access: managed memory, and pinned memory of the program.

use std::sync::Arc;

use numeric_table::{Element, array::MemoryKind};

use super::api::Code;
use super::memory::{CudaBuffer, allocate};
use super::release::Deleter;
use super::streams::{Lane, Streams};
use super::{Cuda, CudaTransport};
use crate::memory::{DeviceView, DeviceViewMut};
use crate::transport::NO_SUCH_MEMORY;
use crate::{DeviceArray, DeviceError, HandleError};

impl CudaBuffer {
    /// Allocates a block of a kind of memory.
    pub(super) fn allocate_kind(streams: &Arc<Streams>, bytes: usize, kind: MemoryKind) -> Result<Self, DeviceError> {
        match kind {
            MemoryKind::Device => Self::allocate(streams, bytes),
            MemoryKind::Shared => Self::allocate_managed(streams, bytes),
            MemoryKind::Pinned => Self::allocate_pinned(streams, bytes),
            _ => Err(NO_SUCH_MEMORY),
        }
    }

    /// Allocates managed memory, if the device has as much free: with more, the driver can move it back and forth
    /// without an end.
    fn allocate_managed(streams: &Arc<Streams>, bytes: usize) -> Result<Self, DeviceError> {
        streams.enter()?;
        let context = streams.context();
        let (has_managed, is_concurrent) = streams.check("asking for managed memory", context.has_managed())?;
        if !has_managed {
            return Err(NO_SUCH_MEMORY);
        }
        let size = bytes.max(1);
        let address = allocate(streams, bytes, || match context.memory_info()? {
            (free, _) if size > free => Err(Code::OUT_OF_MEMORY),
            _ => context.allocate_managed(size),
        })?;
        let freeing = context.clone();
        let deleter = Deleter::own(move || {
            // SAFETY: the block is this one's, and its uses have ended.
            let _ = unsafe { freeing.free(address) };
        });
        if is_concurrent {
            // SAFETY: the memory is managed. It is freed after the work of this lane, which the block waits for; if
            // there is no block, after this work, as the driver waits for it when it frees such memory.
            let moved = unsafe { streams.stream(Lane::Allocate).prefetch(address, size) };
            streams.check("moving managed memory", moved)?;
        }
        let places = (address, is_concurrent.then_some(address as usize));
        // SAFETY: the memory is accessible at both addresses, and freed by the deleter only.
        unsafe { Self::with_deleter(streams, places, bytes, MemoryKind::Shared, deleter, Lane::Allocate) }
    }

    fn allocate_pinned(streams: &Arc<Streams>, bytes: usize) -> Result<Self, DeviceError> {
        streams.enter()?;
        let address = allocate(streams, bytes, || streams.context().allocate_pinned(bytes.max(1)))?;
        let freeing = streams.context().clone();
        let deleter = Deleter::own(move || {
            // SAFETY: the block is this one's, and its uses have ended.
            let _ = unsafe { freeing.free_pinned(address) };
        });
        let places = (address, Some(address as usize));
        // SAFETY: the memory is accessible at both addresses, and freed by the deleter only.
        unsafe { Self::with_deleter(streams, places, bytes, MemoryKind::Pinned, deleter, Lane::Allocate) }
    }

    /// Returns where the program accesses the block.
    fn program_address(&self) -> Result<usize, HandleError> {
        let missing = DeviceError::Unavailable { what: "memory that the program can access" };
        Ok(self.host().ok_or(missing)?)
    }
}

impl<T: Element> DeviceArray<T, Cuda> {
    /// Borrows values that the program can access too: those of [`MemoryKind::Shared`] and [`MemoryKind::Pinned`].
    /// Waits for the work that writes them, and copies nothing. No other call can use the array while they are borrowed:
    /// it could find that the device is lost, and free the memory.
    ///
    /// Source: oneDAL `array::get_data` of memory of `sycl::usm::alloc::shared` and `host`.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`] in [`HandleError::Device`] if the program cannot access the memory: it is of
    /// another kind, or it is managed and the device cannot run kernels while the program accesses it;
    /// [`HandleError::DeviceLost`], [`HandleError::EarlierFault`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::array::MemoryKind;
    /// use numeric_table_execution::DeviceArray;
    /// use numeric_table_execution::cuda::Cuda;
    /// let Ok(device) = Cuda::new(0) else { return Ok(()) };
    /// let mut array = DeviceArray::full_with_kind(&device, 3, 1.5_f32, MemoryKind::Pinned)?;
    /// array.host_slice_mut()?[1] = 7.0;
    /// assert_eq!(array.host_slice()?, [1.5, 7.0, 1.5]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn host_slice(&mut self) -> Result<&[T], HandleError> {
        let view: DeviceView<'_, T, CudaTransport> = self.view()?;
        let (range, count) = (view.byte_range(), view.len());
        if count == 0 {
            return Ok(&[]);
        }
        let address = view.buffer().program_address()?;
        view.buffer().address(&range)?;
        view.buffer().finish(false)?;
        let first = std::ptr::with_exposed_provenance::<T>(address + range.start);
        // SAFETY: the range is inside the block, whose memory the program can access. The array keeps the block while
        // it is borrowed mutably: only its own calls drop the block. Work that writes it is that of another library,
        // which waits for its turn. All earlier writes have ended. The address is aligned: the driver's allocations are, and others
        // were compared. All bits are values.
        Ok(unsafe { std::slice::from_raw_parts(first, count) })
    }

    /// Borrows values that the program can access too, for writing: as [`host_slice`](Self::host_slice). Copies them on
    /// the device first if they are shared or read-only.
    ///
    /// # Errors
    /// Those of [`host_slice`](Self::host_slice) and [`view_mut`](Self::view_mut).
    ///
    /// # Examples
    /// See [`host_slice`](Self::host_slice).
    pub fn host_slice_mut(&mut self) -> Result<&mut [T], HandleError> {
        let mut view: DeviceViewMut<'_, T, CudaTransport> = self.view_mut()?;
        let (range, count) = (view.byte_range(), view.len());
        if count == 0 {
            return Ok(&mut []);
        }
        let address = view.buffer().program_address()?;
        view.buffer().address(&range)?;
        view.buffer().finish(true)?;
        let first = std::ptr::with_exposed_provenance_mut::<T>(address + range.start);
        // SAFETY: as in `host_slice`; the array is borrowed mutably, nothing shares the block, and all work that uses
        // it has ended.
        Ok(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }
}
