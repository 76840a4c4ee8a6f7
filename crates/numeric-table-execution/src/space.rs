//! One device's memory: its blocks, counts of copies, and the copies that may be freed when memory runs out.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};
use std::{fmt, thread};

use numeric_table::{Array, Element, array::MemoryKind};

use super::control::lock;
use super::stats::Counters;
use super::transport::{Arriving, Transport};
use super::{HandleError, TransferStats};

/// The memory of one device, which all handles on the device share.
///
/// Counts allocations and copies. If the device refuses an allocation, this frees all unused blocks and every copy that
/// the control side also has and that no view refers to, and tries once more.
///
/// # Examples
/// An adapter is little more than this and a way to run kernels:
/// ```
/// # use std::{ops::Range, sync::Arc};
/// # use numeric_table_execution::*;
/// # use numeric_table_execution::memory::{SeparateMemory, SeparateSpace};
/// # use numeric_table_execution::transport::Transport;
/// # struct Elsewhere;
/// # impl Transport for Elsewhere {
/// #     type Buffer = Vec<u8>;
/// #     fn allocate(&self, bytes: usize) -> Result<Vec<u8>, DeviceError> { Ok(vec![0; bytes]) }
/// #     fn upload(&self, source: &[u8], target: &mut Vec<u8>, at: usize) -> Result<(), DeviceError> {
/// #         target[at..at + source.len()].copy_from_slice(source);
/// #         Ok(())
/// #     }
/// #     fn download(&self, source: &Vec<u8>, range: Range<usize>, target: &mut [u8]) -> Result<(), DeviceError> {
/// #         target.copy_from_slice(&source[range]);
/// #         Ok(())
/// #     }
/// #     fn duplicate(&self, source: &Vec<u8>, bytes: usize) -> Result<Vec<u8>, DeviceError> {
/// #         Ok(source[..bytes].to_vec())
/// #     }
/// #     fn synchronize(&self) -> Result<(), DeviceError> { Ok(()) }
/// # }
/// #[derive(Clone)]
/// struct Device(Arc<SeparateSpace<Elsewhere>>); // `Elsewhere` is the transport of the example of `Transport`
///
/// impl DeviceAdapter for Device {
///     type Memory = SeparateMemory<Elsewhere>;
///     fn memory(&self) -> Self::Memory { SeparateMemory::new(&self.0) }
///     fn id(&self) -> DeviceId { DeviceId { kind: "elsewhere", index: 0 } }
///     fn stats(&self) -> TransferStats { self.0.stats() }
/// }
///
/// let device = Device(SeparateSpace::new(Elsewhere));
/// let handle = ArrayHandle::from_container(&device, vec![1.0_f32, 2.0]);
/// handle.prepare_for_input()?;
/// assert_eq!(device.stats().uploads.bytes, 8);
/// # Ok::<(), HandleError>(())
/// ```
pub struct SeparateSpace<X: Transport> {
    id: u64,
    transport: X,
    counters: Counters,
    /// The memory that may be freed, of every live handle.
    caches: Mutex<Vec<Weak<Mutex<Cache<X>>>>>,
}

/// A block of device memory and its size.
pub(super) struct DeviceBlock<X: Transport> {
    buffer: X::Buffer,
    bytes: usize,
    space: u64,
    /// Whether another library owns the memory. Such a block is not freed to make room, and holds no other values than
    /// those that are written through views of it.
    is_adopted: bool,
    is_read_only: bool,
    /// A number that the address of the block is a multiple of.
    alignment: usize,
}

/// The alignment of memory that a device has allocated: that of every element type.
const ALIGNMENT: usize = size_of::<u64>();

impl<X: Transport> DeviceBlock<X> {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_adopted(&self) -> bool {
        self.is_adopted
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.is_read_only
    }
}

/// The memory of a handle that may be freed: a copy of values that the control side has as well, and an unused block.
pub(super) struct Cache<X: Transport> {
    pub(super) copy: Option<Arc<DeviceBlock<X>>>,
    pub(super) spare: Option<DeviceBlock<X>>,
}

impl<X: Transport> Default for Cache<X> {
    fn default() -> Self {
        Self { copy: None, spare: None }
    }
}

impl<X: Transport> SeparateSpace<X> {
    /// Creates the memory of a device from its transport.
    ///
    /// # Examples
    /// See the type.
    pub fn new(transport: X) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { id, transport, counters: Counters::default(), caches: Mutex::default() })
    }

    /// Borrows the transport.
    ///
    /// # Examples
    /// See [`SeparateSpace`]: `device.0.transport()` is the `Elsewhere` from which it was created.
    pub fn transport(&self) -> &X {
        &self.transport
    }

    /// Returns counts of all allocations and copies so far.
    ///
    /// # Examples
    /// See [`SeparateSpace`].
    pub fn stats(&self) -> TransferStats {
        self.counters.get()
    }

    /// Waits for all work on the device.
    ///
    /// # Errors
    /// [`HandleError::EarlierFault`], [`HandleError::DeviceLost`].
    ///
    /// # Examples
    /// See [`DeviceAdapter::synchronize`](super::DeviceAdapter::synchronize), which calls this.
    pub fn synchronize(&self) -> Result<(), HandleError> {
        self.check_alive()?;
        Ok(self.transport.synchronize()?)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.transport.is_lost()
    }

    pub(super) fn check_alive(&self) -> Result<(), HandleError> {
        if self.is_lost() { Err(HandleError::DeviceLost) } else { Ok(()) }
    }

    /// Creates and registers the cache of a new handle.
    pub(super) fn new_cache(&self, cache: Cache<X>) -> Arc<Mutex<Cache<X>>> {
        let cache = Arc::new(Mutex::new(cache));
        let mut caches = lock(&self.caches);
        if caches.len() == caches.capacity() {
            caches.retain(|cache| cache.strong_count() > 0);
        }
        caches.push(Arc::downgrade(&cache));
        cache
    }

    /// Allocates a block; if that is refused, frees idle memory and tries again.
    pub(super) fn allocate(&self, bytes: usize, kind: MemoryKind) -> Result<DeviceBlock<X>, HandleError> {
        self.with_room(bytes, || self.transport.allocate_kind(bytes, kind))
    }

    /// Returns the kind of a block's memory.
    pub(super) fn kind(&self, block: &DeviceBlock<X>) -> MemoryKind {
        self.transport.kind(&block.buffer)
    }

    /// Copies the first bytes of a block into a new block.
    pub(super) fn duplicate(&self, block: &DeviceBlock<X>, bytes: usize) -> Result<DeviceBlock<X>, HandleError> {
        if bytes == 0 {
            return self.allocate(0, MemoryKind::Device);
        }
        let copy = self.with_room(bytes, || self.transport.duplicate(&block.buffer, bytes))?;
        self.counters.duplicated(bytes);
        Ok(copy)
    }

    fn with_room(
        &self,
        bytes: usize,
        allocate: impl Fn() -> Result<X::Buffer, super::DeviceError>,
    ) -> Result<DeviceBlock<X>, HandleError> {
        let buffer = match allocate() {
            Err(super::DeviceError::OutOfMemory { .. }) if self.free_idle() => allocate()?,
            result => result?,
        };
        if bytes > 0 {
            self.counters.allocated(bytes);
        }
        let (is_adopted, is_read_only) = (false, false);
        Ok(DeviceBlock { buffer, bytes, space: self.id, is_adopted, is_read_only, alignment: ALIGNMENT })
    }

    /// Makes a block of memory that another library has allocated, at a multiple of the alignment.
    #[cfg(feature = "cuda")]
    pub(super) fn adopt(
        &self,
        buffer: X::Buffer,
        bytes: usize,
        is_read_only: bool,
        alignment: usize,
    ) -> DeviceBlock<X> {
        DeviceBlock { buffer, bytes, space: self.id, is_adopted: true, is_read_only, alignment }
    }

    /// Copies bytes into a block.
    pub(super) fn upload(&self, source: &[u8], block: &mut DeviceBlock<X>, at: usize) -> Result<(), HandleError> {
        if !source.is_empty() {
            self.transport.upload(source, &mut block.buffer, at)?;
            self.counters.uploaded(source.len());
        }
        Ok(())
    }

    /// Starts to copy bytes into a block.
    pub(super) fn upload_later(&self, source: Array<u8>, block: &mut DeviceBlock<X>) -> Result<(), HandleError> {
        let bytes = source.len();
        if bytes > 0 {
            self.transport.upload_later(source, &mut block.buffer)?;
            self.counters.uploaded(bytes);
        }
        Ok(())
    }

    /// Copies bytes out of a block.
    pub(super) fn download(&self, block: &DeviceBlock<X>, at: usize, target: &mut [u8]) -> Result<(), HandleError> {
        if !target.is_empty() {
            self.transport.download(&block.buffer, at..at + target.len(), target)?;
            self.counters.downloaded(target.len());
        }
        Ok(())
    }

    /// Starts to copy the first bytes of a block into an array.
    pub(super) fn download_later(&self, block: &DeviceBlock<X>, target: Array<u8>) -> Result<Arriving, HandleError> {
        let bytes = target.len();
        if bytes == 0 {
            return Ok(Arriving::new(|| Ok(target)));
        }
        let arriving = self.transport.download_later(&block.buffer, 0..bytes, target)?;
        self.counters.downloaded(bytes);
        Ok(arriving)
    }

    /// Marks the content of a block as no longer needed.
    pub(super) fn recycle(&self, block: &mut DeviceBlock<X>) {
        self.transport.recycle(&mut block.buffer);
    }

    /// Frees all idle memory. Returns whether there was any.
    ///
    /// A cache that stays locked is in use, perhaps by this call, and is skipped, so that no thread waits for long.
    fn free_idle(&self) -> bool {
        let caches: Vec<_> = lock(&self.caches).iter().filter_map(Weak::upgrade).collect();
        let mut open: Vec<MutexGuard<'_, Cache<X>>> = caches.iter().filter_map(|cache| lock_soon(cache)).collect();
        // A copy may be shared by clones of a handle. Any other share belongs to a view.
        let mut holders = HashMap::new();
        for copy in open.iter().filter_map(|cache| cache.copy.as_ref()) {
            *holders.entry(Arc::as_ptr(copy)).or_insert(0) += 1;
        }
        let is_idle = |copy: &Arc<DeviceBlock<X>>| {
            !copy.is_adopted && holders.get(&Arc::as_ptr(copy)) == Some(&Arc::strong_count(copy))
        };
        // All counts are taken before the first copy is.
        let is_idle: Vec<bool> = open.iter().map(|cache| cache.copy.as_ref().is_some_and(is_idle)).collect();
        let copies = open.iter_mut().zip(is_idle).filter_map(|(cache, idle)| cache.copy.take_if(|_| idle));
        let copies: Vec<_> = copies.collect();
        let spares: Vec<_> = open.iter_mut().filter_map(|cache| cache.spare.take()).collect();
        drop(open);
        !copies.is_empty() || !spares.is_empty() // they are freed here
    }
}

/// Locks a mutex if it becomes free within a moment: another thread may hold it only to check something.
fn lock_soon<V>(mutex: &Mutex<V>) -> Option<MutexGuard<'_, V>> {
    const LOOKS: usize = 100;
    (0..LOOKS).find_map(|look| {
        if look > 0 {
            thread::yield_now();
        }
        try_lock(mutex)
    })
}

fn try_lock<V>(mutex: &Mutex<V>) -> Option<MutexGuard<'_, V>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Values in a device's memory, for reading. Shares ownership of the block; cloning is O(1).
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
/// use numeric_table_execution::memory::{ExecutionMemory, SeparateMemory};
/// let handle = ArrayHandle::from_container(&EmulatedDevice::new(), vec![1.0_f32, 2.0, 3.0]);
/// let view = handle.prepare_for_input()?;
/// assert_eq!((view.len(), view.byte_range()), (3, 0..12));
/// assert_eq!(SeparateMemory::part(view, 1..3).byte_range(), 4..12);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
pub struct DeviceView<'a, T, X: Transport> {
    block: Arc<DeviceBlock<X>>,
    first: usize,
    count: usize,
    borrow: PhantomData<&'a [T]>,
}

/// Values in a device's memory, for writing, with exclusive access to the block.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
/// let mut handle = ArrayHandle::<f32, _>::empty(&EmulatedDevice::new());
/// assert_eq!(handle.prepare_for_output(3)?.byte_range(), 0..12);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
pub struct DeviceViewMut<'a, T, X: Transport> {
    block: &'a mut DeviceBlock<X>,
    count: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<T, X: Transport> Clone for DeviceView<'_, T, X> {
    fn clone(&self) -> Self {
        Self { block: self.block.clone(), first: self.first, count: self.count, borrow: PhantomData }
    }
}

impl<'a, T: Element, X: Transport> DeviceView<'a, T, X> {
    pub(super) fn new(block: Arc<DeviceBlock<X>>, count: usize) -> Self {
        Self { block, first: 0, count, borrow: PhantomData }
    }

    pub(super) fn part(self, range: Range<usize>) -> Self {
        let end = range.end.min(self.count);
        let start = range.start.min(end);
        Self { first: self.first + start, count: end - start, ..self }
    }

    pub(super) fn bytes(&self) -> DeviceView<'_, u8, X> {
        let Range { start, end } = self.byte_range();
        DeviceView { block: self.block.clone(), first: start, count: end - start, borrow: PhantomData }
    }

    /// Returns the same bytes as values of another type, or `None` if they are not aligned for it.
    pub(super) fn cast<U: Element>(self) -> Option<DeviceView<'a, U, X>> {
        let Range { start, end } = self.byte_range();
        let first = start / size_of::<U>();
        let count = (end - start) / size_of::<U>();
        let is_whole = start.is_multiple_of(size_of::<U>()) && size_of::<U>() <= self.block.alignment;
        is_whole.then_some(DeviceView { block: self.block, first, count, borrow: PhantomData })
    }

    /// Returns the number of values.
    ///
    /// # Examples
    /// See the type.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the number of values is 0.
    ///
    /// # Examples
    /// See the type.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Borrows the device's block.
    ///
    /// # Examples
    /// An adapter that runs a kernel reads [`byte_range`](Self::byte_range) of this.
    pub fn buffer(&self) -> &X::Buffer {
        &self.block.buffer
    }

    /// Returns the position of the values in the block.
    ///
    /// # Examples
    /// See the type.
    pub fn byte_range(&self) -> Range<usize> {
        self.first * size_of::<T>()..(self.first + self.count) * size_of::<T>()
    }

    /// Checks that the values are in this memory.
    ///
    /// # Errors
    /// [`HandleError::WrongDevice`].
    ///
    /// # Examples
    /// An adapter calls this before it runs a kernel: `view.check(&self.space)?`.
    pub fn check(&self, space: &SeparateSpace<X>) -> Result<(), HandleError> {
        if self.block.space == space.id { Ok(()) } else { Err(HandleError::WrongDevice) }
    }
}

impl<'a, T: Element, X: Transport> DeviceViewMut<'a, T, X> {
    pub(super) fn new(block: &'a mut DeviceBlock<X>, count: usize) -> Self {
        Self { block, count, borrow: PhantomData }
    }

    pub(super) fn bytes(&mut self) -> DeviceViewMut<'_, u8, X> {
        DeviceViewMut { count: self.count * size_of::<T>(), block: self.block, borrow: PhantomData }
    }

    pub(super) fn into_block(self) -> &'a mut DeviceBlock<X> {
        self.block
    }

    /// Returns the number of values.
    ///
    /// # Examples
    /// See the type.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the number of values is 0.
    ///
    /// # Examples
    /// See the type.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Borrows the device's block.
    ///
    /// # Examples
    /// An adapter that runs a kernel writes [`byte_range`](Self::byte_range) of this.
    pub fn buffer(&mut self) -> &mut X::Buffer {
        &mut self.block.buffer
    }

    /// Returns the position of the values in the block.
    ///
    /// # Examples
    /// See the type.
    pub fn byte_range(&self) -> Range<usize> {
        0..self.count * size_of::<T>()
    }

    /// Checks that the values are in this memory.
    ///
    /// # Errors
    /// [`HandleError::WrongDevice`].
    ///
    /// # Examples
    /// An adapter calls this before it runs a kernel: `view.check(&self.space)?`.
    pub fn check(&self, space: &SeparateSpace<X>) -> Result<(), HandleError> {
        if self.block.space == space.id { Ok(()) } else { Err(HandleError::WrongDevice) }
    }
}

impl<T: Element, X: Transport> fmt::Debug for DeviceView<'_, T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceView").field("count", &self.count).field("bytes", &self.byte_range()).finish()
    }
}

impl<T: Element, X: Transport> fmt::Debug for DeviceViewMut<'_, T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceViewMut").field("count", &self.count).field("bytes", &self.byte_range()).finish()
    }
}

impl<X: Transport> fmt::Debug for SeparateSpace<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeparateSpace").field("id", &self.id).field("stats", &self.stats()).finish()
    }
}
