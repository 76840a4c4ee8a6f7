//! Memory of other libraries as arrays, and the memory of arrays for other libraries.
//!
//! The kind of the memory, its device, and the range of its allocation are compared with what the driver reports. The
//! caller promises the rest. Streams order the work of both sides: neither waits on the CPU for the other one.

use numeric_table::{Element, ElementType, Error, ErrorKind, array::MemoryKind};

use super::api::{Address, Handle};
use super::memory::CudaBuffer;
use super::objects::Event as RawEvent;
use super::places::Place;
use super::release::Deleter;
use super::streams::{Lane, Streams};
use super::{Cuda, CudaTransport};
use crate::memory::{DeviceView, DeviceViewMut, SeparateMemory};
use crate::transport::Event;
use crate::{ArrayHandle, DeviceArray, HandleError, MemoryMismatch};

/// Work that comes first: that of another library, by a handle of the driver, or work of this crate.
///
/// # Examples
/// ```
/// use numeric_table_execution::cuda::CudaOrder;
/// let work = CudaOrder::Stream(1); // the legacy default stream
/// assert_ne!(work, CudaOrder::Event(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CudaOrder {
    /// All work that a stream has now: a `CUstream`, or `cudaStream_t`. 0 and 1 are the legacy default stream of the
    /// device, and 2 is the default stream of the calling thread.
    Stream(usize),
    /// The work that an event marks: a `CUevent`, or `cudaEvent_t`.
    Event(usize),
    /// Work that was submitted through this crate, to the same [`Cuda`] or a clone of it. An event of another `Cuda`
    /// counts as complete: nothing waits for its work, also if it is of the same GPU.
    Submitted(Event),
}

/// A claim about memory.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub(super) address: Address,
    pub(super) count: usize,
    pub(super) kind: MemoryKind,
    /// Whether the kind is that, or any that the device can access.
    pub(super) is_exact: bool,
    pub(super) is_read_only: bool,
}

/// Checks the type of another library's values. `other` makes the error about a type that tables do not have.
///
/// # Errors
/// [`ErrorKind::ElementTypeMismatch`], or that of `other`.
pub(super) fn check_type<T: Element>(
    actual: Option<ElementType>,
    other: impl FnOnce() -> HandleError,
) -> Result<(), HandleError> {
    match actual.ok_or_else(other)? {
        actual if actual == T::TYPE => Ok(()),
        actual => Err(Error::new(ErrorKind::ElementTypeMismatch { expected: T::TYPE, actual, column: None }).into()),
    }
}

impl<T: Element> DeviceArray<T, Cuda> {
    /// Creates an array of memory that another library has allocated, for reading. Copies nothing, and does not wait.
    ///
    /// The first write through the array copies the values into memory of this crate, on the device.
    ///
    /// `kind` is [`MemoryKind::Device`] for plain memory of this device, [`MemoryKind::Shared`] for managed memory, and
    /// [`MemoryKind::Pinned`] for program memory that is registered with the driver. Kernels and copies that use the
    /// array start after the work in `after`. `deleter` is called exactly once, after the last work that uses the
    /// memory, on any thread and without a lock of this crate; if this call fails, before it returns. Deleters may wait:
    /// up to 32 are called at a time.
    ///
    /// Only CUDA devices have this: for devices that share the program's memory, use
    /// [`Array::from_raw_parts`](numeric_table::Array::from_raw_parts) and [`DeviceArray::from_array`].
    ///
    /// Source: oneDAL `array(queue, data, count, deleter, dependencies)`.
    ///
    /// # Errors
    /// [`HandleError::WrongMemory`] if the driver reports another kind, device or range than the caller claims;
    /// [`HandleError::LengthOverflow`], [`HandleError::DeviceLost`]; what the driver reports.
    ///
    /// # Safety
    /// * Until the deleter is called, the memory stays allocated, and nothing else writes it. After the work in
    ///   `after`, nothing else uses it without the order that [`CudaRaw`] gives.
    /// * Handles in `after` are those of streams and events of the primary context of this device, which are alive
    ///   until this call returns. Events in [`CudaOrder::Submitted`] are those that `device`, or a clone of it, has
    ///   returned.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::array::MemoryKind;
    /// use numeric_table_execution::DeviceArray;
    /// use numeric_table_execution::cuda::{Cuda, CudaOrder};
    /// let Ok(device) = Cuda::new(0) else { return Ok(()) };
    /// let theirs = DeviceArray::full(&device, 3, 1.5_f32)?; // stands for the memory of another library
    /// let (address, stream) = (theirs.as_raw()?.address(), 1);
    /// // SAFETY: the stream waits for the values, which stay where they are until `theirs` is dropped.
    /// let ours = unsafe {
    ///     theirs.as_raw()?.make_wait(stream)?;
    ///     let after = [CudaOrder::Stream(stream)];
    ///     DeviceArray::<f32, _>::from_raw(&device, address, 3, MemoryKind::Device, move || drop(theirs), &after)?
    /// };
    /// assert_eq!(ours.as_raw()?.address(), address);
    /// assert_eq!(ours.to_array()?[..], [1.5; 3]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub unsafe fn from_raw(
        device: &Cuda,
        address: u64,
        count: usize,
        kind: MemoryKind,
        deleter: impl FnOnce() + Send + 'static,
        after: &[CudaOrder],
    ) -> Result<Self, HandleError> {
        let claim = Claim { address, count, kind, is_exact: true, is_read_only: true };
        // SAFETY: the caller's promise.
        unsafe { adopt(device, claim, Deleter::new(deleter), after) }
    }

    /// Creates an array of memory that another library has allocated, for reading and writing: as
    /// [`from_raw`](Self::from_raw), but writes go to the memory, and the other library sees them.
    ///
    /// A write copies the values first only if a clone of the array shares them. After
    /// [`ArrayHandle::write_portal`](crate::ArrayHandle::write_portal) of the array's handle, the values are those of
    /// the program, and the memory is given back.
    ///
    /// # Errors
    /// Those of [`from_raw`](Self::from_raw).
    ///
    /// # Safety
    /// That of [`from_raw`](Self::from_raw); in addition, nothing else reads the memory without that order.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::array::MemoryKind;
    /// use numeric_table_execution::{DeviceArray, Kernels};
    /// use numeric_table_execution::cuda::Cuda;
    /// let Ok(device) = Cuda::new(0) else { return Ok(()) };
    /// let mut theirs = DeviceArray::full(&device, 3, 1.5_f32)?; // stands for the memory of another library
    /// let mut raw = theirs.as_raw_mut()?;
    /// raw.wait()?; // nothing is going on there: no order is needed
    /// // SAFETY: `theirs` is not used before `ours` is dropped, and its last work has ended.
    /// let mut ours =
    ///     unsafe { DeviceArray::<f32, _>::from_raw_mut(&device, raw.address(), 3, MemoryKind::Device, || (), &[])? };
    /// device.fill(ours.view_mut()?, 7.0)?; // in place
    /// ours.as_raw()?.wait()?;
    /// drop(ours);
    /// assert_eq!(theirs.to_array()?[..], [7.0; 3]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub unsafe fn from_raw_mut(
        device: &Cuda,
        address: u64,
        count: usize,
        kind: MemoryKind,
        deleter: impl FnOnce() + Send + 'static,
        after: &[CudaOrder],
    ) -> Result<Self, HandleError> {
        let claim = Claim { address, count, kind, is_exact: true, is_read_only: false };
        // SAFETY: the caller's promise.
        unsafe { adopt(device, claim, Deleter::new(deleter), after) }
    }

    /// Borrows the address of the values, for another library to read. Copies nothing, and does not wait.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`] if the device is lost.
    ///
    /// # Examples
    /// See [`from_raw`](Self::from_raw).
    pub fn as_raw(&self) -> Result<CudaRaw<'_, T>, HandleError> {
        let (view, device) = (self.view()?, self.device().clone());
        let address = view.buffer().address(&view.byte_range())?;
        Ok(CudaRaw { view, address, device })
    }

    /// Borrows the address of the values, for another library to read and write. Copies the values on the device first
    /// if they are shared or read-only. Does not wait.
    ///
    /// # Errors
    /// Those of [`view_mut`](Self::view_mut).
    ///
    /// # Examples
    /// See [`from_raw_mut`](Self::from_raw_mut).
    pub fn as_raw_mut(&mut self) -> Result<CudaRawMut<'_, T>, HandleError> {
        let device = self.device().clone();
        let mut view = self.view_mut()?;
        let range = view.byte_range();
        let address = view.buffer().address(&range)?;
        Ok(CudaRawMut { view, address, device })
    }
}

/// Adopts memory.
///
/// # Safety
/// That of [`DeviceArray::from_raw`], and if the claim is not read-only, of [`DeviceArray::from_raw_mut`].
pub(super) unsafe fn adopt<T: Element>(
    device: &Cuda,
    claim: Claim,
    deleter: Deleter,
    after: &[CudaOrder],
) -> Result<DeviceArray<T, Cuda>, HandleError> {
    let Claim { count, is_read_only, .. } = claim;
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
    let bytes = bytes.ok_or(HandleError::LengthOverflow)?;
    let streams = device.streams();
    streams.enter()?;
    let (kind, places) = match bytes {
        0 => (claim.kind, (0, None)),
        _ => check(device, claim, bytes, size_of::<T>())?,
    };
    // SAFETY: the caller's promise.
    after.iter().try_for_each(|&order| unsafe { wait_for(device.space.transport(), order) })?;
    // SAFETY: the caller's promise; the driver has confirmed the place of the memory and its size.
    let buffer = unsafe { CudaBuffer::with_deleter(streams, places, bytes, kind, deleter, Lane::Other) }?;
    let alignment = 1 << places.0.trailing_zeros().min(8); // of no values, any
    let block = device.space.adopt(buffer, bytes, is_read_only, alignment);
    let memory = SeparateMemory::of_block(&device.space, block);
    Ok(DeviceArray::of_handle(ArrayHandle::of_memory(device, memory, count)))
}

/// Makes [`Lane::Other`] wait for some work.
///
/// # Safety
/// A handle is that of a stream or an event of this device that is alive; a submitted event is one of this transport.
pub(super) unsafe fn wait_for(transport: &CudaTransport, order: CudaOrder) -> Result<(), HandleError> {
    let streams = transport.streams();
    streams.enter()?;
    let lane = streams.stream(Lane::Other);
    let ordered = match order {
        CudaOrder::Stream(stream) => {
            let event = RawEvent::new(streams.context());
            event.and_then(|event| {
                // SAFETY: the caller's promise.
                unsafe { event.record_in_other(Handle::of_other(stream)) }?;
                lane.wait(&event)
            })
        }
        // SAFETY: the caller's promise.
        CudaOrder::Event(event) => unsafe { lane.wait_for_other(Handle::of_other(event)) },
        CudaOrder::Submitted(event) => {
            return transport.mark_of(event).map_or(Ok(()), |mark| Ok(streams.wait(Lane::Other, &mark)?));
        }
    };
    Ok(streams.check("waiting for work of another library", ordered)?)
}

/// The address of memory for kernels, and that for the program if it can access the memory.
type Places = (Address, Option<usize>);

/// Compares a claim about memory with what the driver reports. Returns the kind and the addresses of the memory.
fn check(device: &Cuda, claim: Claim, bytes: usize, alignment: usize) -> Result<(MemoryKind, Places), HandleError> {
    let Claim { address, kind: claimed, .. } = claim;
    let streams = device.streams();
    let wrong = |mismatch| Err(HandleError::WrongMemory(mismatch));
    let place = place_of(streams, address)?;
    let actual = kind_of(&place);
    if actual != claimed && claim.is_exact || actual == MemoryKind::Host {
        return wrong(MemoryMismatch::Kind { address, claimed, actual });
    }
    let owner = u32::try_from(place.ordinal).unwrap_or(u32::MAX);
    if actual == MemoryKind::Device && owner != device.ordinal {
        return wrong(MemoryMismatch::Device { address, claimed: device.ordinal, actual: owner });
    }
    if place.device_address == 0 {
        return wrong(MemoryMismatch::Inaccessible { address, device: device.ordinal });
    }
    let available = available(streams, address, place, bytes)?;
    if available < bytes {
        return wrong(MemoryMismatch::Range { address, bytes, available });
    }
    let is_aligned = |address: Address| address.is_multiple_of(alignment as u64);
    if !is_aligned(place.device_address) || !is_aligned(address) {
        return wrong(MemoryMismatch::Alignment { address, alignment });
    }
    let is_concurrent = streams.check("asking for managed memory", streams.context().has_managed())?.1;
    let is_accessible = actual == MemoryKind::Pinned || actual == MemoryKind::Shared && is_concurrent;
    Ok((actual, (place.device_address, is_accessible.then_some(address as usize))))
}

fn place_of(streams: &Streams, address: Address) -> Result<Place, HandleError> {
    Ok(streams.check("asking for the place of memory", streams.context().place(address))?)
}

/// Returns the kind of memory; [`MemoryKind::Host`] if the driver does not know it.
fn kind_of(place: &Place) -> MemoryKind {
    match place.memory_type {
        1..=4 if place.is_managed => MemoryKind::Shared,
        1 => MemoryKind::Pinned,
        2 => MemoryKind::Device,
        _ => MemoryKind::Host,
    }
}

/// Returns the number of bytes from an address to the end of its allocation, or of a part of it that has `wanted`
/// bytes. An allocation may be mapped in several pieces, which the driver reports one by one.
fn available(streams: &Streams, address: Address, first: Place, wanted: usize) -> Result<usize, HandleError> {
    let mut place = first;
    loop {
        let end = place.start.saturating_add(place.bytes);
        let have = usize::try_from(end.saturating_sub(address)).unwrap_or(usize::MAX);
        if have >= wanted || place.memory_type != 2 {
            return Ok(have);
        }
        let is_mapped = |at| streams.check("asking for the place of memory", streams.context().is_mapped(at));
        if !is_mapped(place.start)? {
            return Ok(have);
        }
        let next = place_of(streams, end)?;
        let follows = next.start == end && next.bytes > 0 && kind_of(&next) == kind_of(&first);
        if !follows || next.ordinal != first.ordinal || !is_mapped(end)? {
            return Ok(have);
        }
        place = next;
    }
}

/// The address of an array's values, which another library may read while this exists.
///
/// Streams order the work of both: [`make_wait`](Self::make_wait) before the work of the other library, and
/// [`wait_for`](Self::wait_for) after it. Neither waits on the CPU. Work of the other library that is not ordered must
/// have ended before this is dropped.
///
/// # Examples
/// See [`DeviceArray::from_raw`].
pub struct CudaRaw<'a, T: Element> {
    view: DeviceView<'a, T, CudaTransport>,
    address: Address,
    device: Cuda,
}

/// The address of an array's values, which another library may read and write while this exists: as [`CudaRaw`].
///
/// # Examples
/// See [`DeviceArray::from_raw_mut`].
pub struct CudaRawMut<'a, T: Element> {
    view: DeviceViewMut<'a, T, CudaTransport>,
    address: Address,
    device: Cuda,
}

/// Implements the calls of both types. Only the second one may write.
macro_rules! raw {
    ($raw:ident, ($($mutable:tt)?), $is_write:literal, $record:ident, $what:literal) => {
        impl<T: Element> $raw<'_, T> {
            /// Returns the address of the first value.
            ///
            /// # Examples
            /// See the type.
            pub fn address(&self) -> u64 {
                self.address
            }

            /// Returns the number of values.
            ///
            /// # Examples
            /// See the type.
            pub fn len(&self) -> usize {
                self.view.len()
            }

            /// Returns whether the number of values is 0.
            ///
            /// # Examples
            /// See the type.
            pub fn is_empty(&self) -> bool {
                self.view.is_empty()
            }

            #[doc = concat!("Waits, on the calling thread, until another library may ", $what, " the values.")]
            ///
            /// # Errors
            /// [`HandleError::DeviceLost`], [`HandleError::EarlierFault`].
            ///
            /// # Examples
            /// See the type.
            pub fn wait(&$($mutable)? self) -> Result<(), HandleError> {
                Ok(self.view.buffer().finish($is_write)?)
            }

            #[doc = concat!("Makes later work of a stream wait until it may ", $what, " the values.")]
            ///
            /// # Errors
            /// [`HandleError::DeviceLost`]; what the driver reports.
            ///
            /// # Safety
            /// The handle is that of a stream of the primary context of the device, as in [`CudaOrder::Stream`], and
            /// the stream is alive.
            ///
            /// # Examples
            /// See the type.
            pub unsafe fn make_wait(&$($mutable)? self, stream: usize) -> Result<(), HandleError> {
                // SAFETY: the caller's promise.
                Ok(unsafe { self.view.buffer().make_wait(Handle::of_other(stream), $is_write) }?)
            }

            #[doc = concat!("Makes later work of this crate that depends on it wait for work that may ", $what)]
            /// the values.
            ///
            /// # Errors
            /// [`HandleError::DeviceLost`]; what the driver reports.
            ///
            /// # Safety
            /// A handle is that of a stream or an event of the primary context of the device that is alive.
            /// An event in [`CudaOrder::Submitted`] is one that the array's [`Cuda`], or a clone of it, has returned.
            ///
            /// # Examples
            /// ```
            /// use numeric_table_execution::cuda::{Cuda, CudaOrder};
            /// use numeric_table_execution::{DeviceArray, Kernels};
            /// let Ok(device) = Cuda::new(0) else { return Ok(()) };
            /// let mut array = DeviceArray::full(&device, 3, 1.5_f32)?;
            #[doc = concat!("let mut raw = array.", stringify!($record), "()?;")]
            /// // SAFETY: the legacy default stream is always alive.
            /// unsafe { raw.make_wait(1) }?;
            /// // Here, another library uses `raw.address()` in that stream.
            /// // SAFETY: as above.
            /// unsafe { raw.wait_for(CudaOrder::Stream(1)) }?;
            /// device.fill(array.view_mut()?, 7.0)?; // after that work
            /// # Ok::<(), numeric_table_execution::HandleError>(())
            /// ```
            pub unsafe fn wait_for(&mut self, order: CudaOrder) -> Result<(), HandleError> {
                // SAFETY: the caller's promise.
                unsafe { wait_for(self.device.space.transport(), order) }?;
                Ok(self.view.buffer().used_by_other($is_write)?)
            }
        }

        impl<T: Element> std::fmt::Debug for $raw<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let address = format_args!("{:#x}", self.address);
                f.debug_struct(stringify!($raw)).field("address", &address).field("len", &self.len()).finish()
            }
        }
    };
}

raw!(CudaRaw, (), false, as_raw, "read");
raw!(CudaRawMut, (mut), true, as_raw_mut, "read and write");
