//! Blocks of a device's memory, and copies to, from and between them.
//!
//! This is the file that hands addresses to the driver. Every copy checks that its range is inside the block; work that
//! is still going on when a call returns is known to the block ([`Uses`]), which is freed after it.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use numeric_table::array::MemoryKind;

use super::api::{Address, Code, Handle};
use super::release::{self, Deleter};
use super::streams::{Lane, Mark, Streams, Uses};
use crate::DeviceError;
use crate::control::lock;

/// A block of the memory of a CUDA device. Dropping it frees it after its last use, without waiting. Memory of another
/// library is given back instead, by a thread of this crate.
///
/// # Examples
/// Kernels get it from views: [`DeviceView::buffer`](crate::memory::DeviceView::buffer).
pub struct CudaBuffer {
    address: Address,
    bytes: usize,
    streams: Arc<Streams>,
    uses: Mutex<Uses>,
    kind: MemoryKind,
    /// Where the program accesses the block, if it can.
    host: Option<usize>,
    /// How the block is given back, unless it is freed in the order of a stream, or of the device.
    deleter: Option<Deleter>,
}

/// An access outside of a block: of a kernel's arguments, or of a wrong direct call of the transport.
pub(super) const OUTSIDE: DeviceError = DeviceError::Failed { code: 0, what: "an access outside of a block" };

/// The number of bytes from which on an allocation is compared with the memory of the device. (Driver 580 reported
/// success for 2^63 - 8 bytes of a pool with free memory, and kernels then failed.)
const LARGE: usize = 1 << 30;

impl CudaBuffer {
    /// Allocates a block, whose content is arbitrary.
    pub(super) fn allocate(streams: &Arc<Streams>, bytes: usize) -> Result<Self, DeviceError> {
        streams.enter()?;
        let block = |address| {
            let (streams, uses, kind) = (streams.clone(), Mutex::default(), MemoryKind::Device);
            Self { address, bytes, streams, uses, kind, host: None, deleter: None }
        };
        if bytes == 0 {
            return Ok(block(0));
        }
        let attempt = || match streams.context().has_pools() {
            _ if bytes >= LARGE && bytes > streams.context().memory_info()?.1 => Err(Code::OUT_OF_MEMORY),
            true => streams.stream(Lane::Allocate).allocate(bytes),
            false => streams.context().allocate(bytes),
        };
        let block = block(allocate(streams, bytes, attempt)?);
        let mark = streams.mark(Lane::Allocate)?;
        lock(&block.uses).written(&mark);
        Ok(block)
    }

    /// Makes a block of memory that has a deleter, which is used after all work that a lane has now.
    ///
    /// # Safety
    /// The bytes at the address are memory that this device can access, and at `host` the program, until the deleter is
    /// called. Nothing else writes them, or reads what is written through this block, without the order of
    /// [`Lane::Other`] and [`make_wait`](Self::make_wait).
    pub(super) unsafe fn with_deleter(
        streams: &Arc<Streams>,
        (address, host): (Address, Option<usize>),
        bytes: usize,
        kind: MemoryKind,
        deleter: Deleter,
        after: Lane,
    ) -> Result<Self, DeviceError> {
        let mark = streams.mark(after)?; // before there is a block: else the deleter is called here
        let mut uses = Uses::default();
        uses.written(&mark);
        let (streams, uses) = (streams.clone(), Mutex::new(uses));
        Ok(Self { address, bytes, streams, uses, kind, host, deleter: Some(deleter) })
    }

    pub(super) fn kind(&self) -> MemoryKind {
        self.kind
    }

    /// Returns whether another library owns the memory.
    pub(super) fn is_adopted(&self) -> bool {
        self.deleter.as_ref().is_some_and(|deleter| !deleter.is_own())
    }

    /// Returns where the program accesses the block, if it can.
    pub(super) fn host(&self) -> Option<usize> {
        self.host
    }

    /// Makes a stream of another library wait until the block can be read, or written.
    ///
    /// # Safety
    /// The handle is that of a stream of this device that is alive.
    pub(super) unsafe fn make_wait(&self, stream: Handle, is_write: bool) -> Result<(), DeviceError> {
        self.streams.enter()?;
        let uses = lock(&self.uses).clone();
        uses.before(is_write).filter_map(|mark| mark.event()).try_for_each(|event| {
            // SAFETY: the caller's promise.
            let held = unsafe { event.hold_other(stream) };
            self.streams.check("making a stream of another library wait", held)
        })
    }

    /// Waits, on the calling thread, until the block can be read, or written.
    pub(super) fn finish(&self, is_write: bool) -> Result<(), DeviceError> {
        self.streams.enter()?;
        let uses = lock(&self.uses).clone();
        uses.before(is_write).try_for_each(|mark| self.streams.finish(mark))
    }

    /// Returns the address of a range, which is inside the block.
    pub(super) fn address(&self, range: &Range<usize>) -> Result<Address, DeviceError> {
        let is_inside = range.start <= range.end && range.end <= self.bytes;
        if is_inside { Ok(self.address + range.start as u64) } else { Err(OUTSIDE) }
    }

    /// Makes a lane wait until the block can be read.
    pub(super) fn before_read(&self, lane: Lane) -> Result<(), DeviceError> {
        let uses = lock(&self.uses).clone();
        self.streams.before_read(lane, &uses)
    }

    /// Makes a lane wait until the block can be written.
    pub(super) fn before_write(&mut self, lane: Lane) -> Result<(), DeviceError> {
        let uses = lock(&self.uses).clone();
        self.streams.before_write(lane, &uses)
    }

    /// Records a read, which ends with a mark.
    pub(super) fn read_until(&self, mark: &Arc<Mark>) {
        lock(&self.uses).read(mark);
    }

    /// Records a write, which ends with a mark.
    pub(super) fn written_until(&mut self, mark: &Arc<Mark>) {
        lock(&self.uses).written(mark);
    }

    /// Records a use by another library, which ends with all work that [`Lane::Other`] has now.
    pub(super) fn used_by_other(&self, is_write: bool) -> Result<(), DeviceError> {
        if is_write {
            // This use takes the place of all earlier ones.
            let uses = lock(&self.uses).clone();
            self.streams.before_write(Lane::Other, &uses)?;
        }
        let mark = self.streams.mark(Lane::Other)?;
        match is_write {
            true => lock(&self.uses).written(&mark),
            false => lock(&self.uses).read(&mark),
        }
        Ok(())
    }

    /// Starts to copy bytes to the block, and returns the end of it.
    ///
    /// # Safety
    /// The source stays where it is, and is not written, until the mark's work has ended.
    pub(super) unsafe fn start_upload(&mut self, at: usize, source: &[u8]) -> Result<Arc<Mark>, DeviceError> {
        let end = at.checked_add(source.len()).ok_or(OUTSIDE)?;
        let address = self.address(&(at..end))?;
        self.streams.enter()?;
        self.before_write(Lane::Up)?;
        let stream = self.streams.stream(Lane::Up);
        // SAFETY: the target is inside the block, which is alive until its uses have ended; the caller keeps the
        // source.
        let copied = unsafe { stream.upload(address, source) };
        self.streams.check("an upload", copied)?;
        let mark = self.streams.mark(Lane::Up)?;
        self.written_until(&mark);
        Ok(mark)
    }

    /// Starts to copy bytes from the block, and returns the end of it.
    ///
    /// # Safety
    /// The target stays where it is, and is neither read nor written, until the mark's work has ended.
    pub(super) unsafe fn start_download(&self, at: usize, target: &mut [u8]) -> Result<Arc<Mark>, DeviceError> {
        let end = at.checked_add(target.len()).ok_or(OUTSIDE)?;
        let address = self.address(&(at..end))?;
        self.streams.enter()?;
        self.before_read(Lane::Down)?;
        let stream = self.streams.stream(Lane::Down);
        // SAFETY: the source is inside the block, which is alive until its uses have ended; the caller keeps the
        // target.
        let copied = unsafe { stream.download(target, address) };
        self.streams.check("a download", copied)?;
        let mark = self.streams.mark(Lane::Down)?;
        self.read_until(&mark);
        Ok(mark)
    }

    /// Starts to copy a range of another block of the same device to the beginning of this one.
    pub(super) fn start_copy(&mut self, source: &Self, range: &Range<usize>) -> Result<(), DeviceError> {
        let (from, to) = (source.address(range)?, self.address(&(0..range.len()))?);
        if range.is_empty() {
            return Ok(());
        }
        self.streams.enter()?;
        source.before_read(Lane::Compute)?;
        self.before_write(Lane::Compute)?;
        let stream = self.streams.stream(Lane::Compute);
        // SAFETY: both ranges are inside their blocks, which are alive until their uses have ended.
        let copied = unsafe { stream.copy(to, from, range.len()) };
        self.streams.check("a copy on the device", copied)?;
        let mark = self.streams.mark(Lane::Compute)?;
        source.read_until(&mark);
        self.written_until(&mark);
        Ok(())
    }
}

/// Allocates memory, and tries again when blocks that were dropped are free.
pub(super) fn allocate(
    streams: &Streams,
    bytes: usize,
    attempt: impl Fn() -> Result<Address, Code>,
) -> Result<Address, DeviceError> {
    let mut found = attempt();
    if found == Err(Code::OUT_OF_MEMORY) {
        streams.synchronize()?;
        release::release_own();
        found = attempt();
    }
    match found {
        Err(Code::OUT_OF_MEMORY) => Err(DeviceError::OutOfMemory { bytes, free: free_bytes(streams) }),
        found => streams.check("an allocation", found),
    }
}

/// Returns the number of free bytes of a device, if it says so.
fn free_bytes(streams: &Streams) -> Option<usize> {
    streams.context().memory_info().ok().map(|(free, _)| free)
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter.take() {
            let uses = std::mem::take(self.uses.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner));
            return release::later(&self.streams, uses, deleter);
        }
        // After a loss there is nothing to free; other errors were, or will be, those of the calls that they belong to.
        if self.bytes == 0 || self.streams.enter().is_err() {
            return;
        }
        let uses = std::mem::take(self.uses.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner));
        let is_ordered = match self.streams.context().has_pools() {
            true => self.streams.before_write(Lane::Free, &uses),
            false => self.streams.synchronize(),
        };
        if is_ordered.is_err() {
            // An error means that the driver refused to order the work, or that the work failed: it has ended.
            uses.marks().for_each(|mark| _ = self.streams.finish(mark));
            if self.streams.is_lost() {
                return;
            }
        }
        let freed = match self.streams.context().has_pools() {
            // SAFETY: the block is this one's, and freed once; in that stream, all uses of it have ended.
            true => unsafe { self.streams.stream(Lane::Free).free(self.address) },
            // SAFETY: the block is this one's, and freed once; the device has nothing to do.
            false => unsafe { self.streams.context().free(self.address) },
        };
        let _ = self.streams.check("freeing a block", freed);
    }
}

impl std::fmt::Debug for CudaBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CudaBuffer").field("bytes", &self.bytes).finish()
    }
}
