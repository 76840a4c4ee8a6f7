//! The emulated device's memory: bytes that are meaningless without the key of their block.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use numeric_table::Array;
use numeric_table::internal::{UniqueArray, parallel};

use super::clock::{EmulatedSpeed, Timeline};
use super::engine::{CopyEngine, Progress};
use super::faults::Faults;
use crate::control::lock;
use crate::transport::{Engine, Event, Queue, StageTimes, Transport};
use crate::{DeviceError, HandleError};

/// The memory of an [`EmulatedDevice`](super::EmulatedDevice), and the transport of its bytes.
///
/// # Examples
/// ```
/// use numeric_table_execution::emulated::EmulatedTransport;
/// use numeric_table_execution::transport::Transport;
/// let heap = EmulatedTransport::default();
/// let mut buffer = heap.allocate(3)?;
/// heap.upload(&[1, 2, 3], &mut buffer, 0)?;
/// let mut bytes = [0; 2];
/// heap.download(&buffer, 1..3, &mut bytes)?;
/// assert_eq!(bytes, [2, 3]);
/// # Ok::<(), numeric_table_execution::DeviceError>(())
/// ```
#[derive(Debug)]
pub struct EmulatedTransport {
    capacity: usize,
    live_bytes: Arc<AtomicUsize>,
    pub(super) faults: Faults,
    pub(super) times: Timeline,
    copies: CopyEngine,
    /// The last copy that kernels wait for.
    awaited: AtomicU64,
}

impl Default for EmulatedTransport {
    fn default() -> Self {
        Self {
            capacity: usize::MAX,
            live_bytes: Arc::default(),
            faults: Faults::default(),
            times: Timeline::default(),
            copies: CopyEngine::default(),
            awaited: AtomicU64::new(0),
        }
    }
}

/// A block of an [`EmulatedDevice`](super::EmulatedDevice).
///
/// # Examples
/// See [`EmulatedTransport`].
pub struct EmulatedBuffer {
    memory: Arc<Mutex<Memory>>,
    bytes: usize,
    /// The last copy to this block that may still be going on.
    copied: u64,
    progress: Progress,
    live_bytes: Arc<AtomicUsize>,
}

/// The bytes of a block.
pub(super) struct Memory {
    /// Byte `i` is stored as its exclusive or with byte `i` of the key's stream. Fresh memory holds zeros, and so reads
    /// as that stream; recycled memory under another key reads as garbage as well.
    scrambled: UniqueArray<u8>,
    key: u64,
}

impl Memory {
    /// Scrambles and writes bytes. The range is inside the block.
    pub(super) fn hide(&mut self, at: usize, bytes: &[u8]) {
        let key = self.key;
        parallel::for_each_chunk_mut(&mut self.scrambled[at..at + bytes.len()], &|first, target| {
            target.copy_from_slice(&bytes[first..][..target.len()]);
            scramble(key, at + first, target);
        });
    }

    /// Reads unscrambled bytes, by all threads: so pages are touched first as parallel work touches them later. The
    /// range is inside the block.
    fn reveal(&self, at: usize, target: &mut [u8]) {
        parallel::for_each_chunk_mut(target, &|first, target| {
            target.copy_from_slice(&self.scrambled[at + first..][..target.len()]);
            scramble(self.key, at + first, target);
        });
    }
}

impl EmulatedTransport {
    /// Creates another device with the same capacity, clock and delay.
    pub(super) fn like(other: &Self) -> Self {
        let (times, copies) = (Timeline::new(other.times.clock()), CopyEngine::with_delay(other.copies.delay()));
        Self { capacity: other.capacity, times, copies, ..Self::default() }
    }

    pub(super) fn with_copy_delay(self, delay: Duration) -> Self {
        Self { copies: CopyEngine::with_delay(delay), ..self }
    }

    /// Waits for the copies that kernels wait for.
    pub(super) fn before_kernel(&self) {
        self.copies.progress().wait(self.awaited.load(Relaxed));
    }

    pub(super) fn with_capacity(self, capacity: usize) -> Self {
        Self { capacity, ..self }
    }

    pub(super) fn with_speed(self, clock: EmulatedSpeed) -> Self {
        Self { times: Timeline::new(Some(clock)), ..self }
    }

    pub(super) fn live_bytes(&self) -> usize {
        self.live_bytes.load(Relaxed)
    }

    /// Starts a kernel. Returns whether it is to fail, which is reported later.
    pub(super) fn start_kernel(&self) -> Result<bool, DeviceError> {
        self.faults.check()?;
        let fails = self.faults.kernel.blows();
        if fails {
            self.faults.fail_later(DeviceError::Earlier { code: 2, what: "a kernel" });
        }
        Ok(fails)
    }

    fn free(&self) -> Option<usize> {
        (self.capacity < usize::MAX).then(|| self.capacity.saturating_sub(self.live_bytes()))
    }
}

impl Transport for EmulatedTransport {
    type Buffer = EmulatedBuffer;

    fn allocate(&self, bytes: usize) -> Result<EmulatedBuffer, DeviceError> {
        self.faults.check()?;
        let refusal = || DeviceError::OutOfMemory { bytes, free: self.free() };
        if self.faults.allocation.blows() {
            return Err(refusal());
        }
        let fits = |live: usize| live.checked_add(bytes).filter(|&live| live <= self.capacity);
        self.live_bytes.fetch_update(Relaxed, Relaxed, fits).map_err(|_| refusal())?;
        match Array::zeros(bytes).and_then(UniqueArray::from_array) {
            Ok(scrambled) => Ok(EmulatedBuffer {
                memory: Arc::new(Mutex::new(Memory { scrambled, key: new_key() })),
                bytes,
                copied: 0,
                progress: self.copies.progress().clone(),
                live_bytes: self.live_bytes.clone(),
            }),
            Err(_) => {
                self.live_bytes.fetch_sub(bytes, Relaxed);
                Err(refusal())
            }
        }
    }

    fn upload(&self, source: &[u8], target: &mut EmulatedBuffer, at: usize) -> Result<(), DeviceError> {
        self.faults.check()?;
        self.faults.upload.check("an upload")?;
        target.settle();
        target.hide(at, source)?;
        self.times.upload(source.len());
        Ok(())
    }

    fn upload_later(&self, source: Array<u8>, target: &mut EmulatedBuffer) -> Result<(), DeviceError> {
        self.faults.check()?;
        self.faults.upload.check("an upload")?;
        target.check(&(0..source.len()))?;
        self.times.upload_later(source.len());
        let started = match self.times.clock() {
            Some(_) => Err(source),
            None => self.copies.copy(source, target.memory.clone()),
        };
        match started {
            Ok(copy) => target.copied = copy,
            Err(source) => target.hide(0, &source)?,
        }
        Ok(())
    }

    fn download(&self, source: &EmulatedBuffer, range: Range<usize>, target: &mut [u8]) -> Result<(), DeviceError> {
        self.faults.settle()?;
        self.faults.download.check("a download")?;
        source.check(&range)?;
        if range.len() != target.len() {
            return Err(OUTSIDE);
        }
        source.settle();
        lock(&source.memory).reveal(range.start, target);
        self.times.download(range.len());
        Ok(())
    }

    fn duplicate(&self, source: &EmulatedBuffer, bytes: usize) -> Result<EmulatedBuffer, DeviceError> {
        source.check(&(0..bytes))?;
        source.settle();
        let copy = self.allocate(bytes)?;
        {
            let (source, mut copy) = (lock(&source.memory), lock(&copy.memory));
            copy.scrambled.copy_from_slice(&source.scrambled[..bytes]);
            copy.key = source.key;
        }
        self.times.compute(2 * bytes);
        Ok(copy)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        let progress = self.copies.progress();
        progress.wait(progress.asked());
        progress.let_go();
        self.times.synchronize();
        self.faults.settle()
    }

    fn is_lost(&self) -> bool {
        self.faults.is_lost()
    }

    fn recycle(&self, buffer: &mut EmulatedBuffer) {
        buffer.settle();
        lock(&buffer.memory).key = new_key();
    }
}

/// With a clock, events are its times; without one, they are numbers of copies, and kernels are complete on return.
impl Queue for EmulatedTransport {
    fn record(&self, engine: Engine) -> Event {
        match (self.times.clock(), engine) {
            (Some(_), _) => self.times.record(engine),
            (None, Engine::Copy) => {
                self.copies.progress().let_go();
                Event(self.copies.progress().asked())
            }
            (None, _) => Event::DONE,
        }
    }

    fn is_complete(&self, event: Event) -> bool {
        match self.times.clock() {
            Some(_) => self.times.is_complete(event),
            None => self.copies.progress().has_made(event.0),
        }
    }

    fn wait(&self, engine: Engine, event: Event) {
        let progress = self.copies.progress();
        match (self.times.clock(), engine) {
            (Some(_), _) => self.times.wait(engine, event),
            (None, Engine::Control) => {
                progress.wait(event.0);
                progress.let_go();
            }
            (None, Engine::Copy) => {} // its copies are made in their order
            (None, Engine::Compute) if event.0 <= progress.asked() => _ = self.awaited.fetch_max(event.0, Relaxed),
            (None, Engine::Compute) => {} // of another device
        }
    }

    fn packed(&self, bytes: usize) {
        self.times.packed(bytes);
    }

    fn times(&self) -> Option<StageTimes> {
        self.times.times()
    }
}

/// The error for swapped buffers of views of different lengths, or for wrong direct calls of the transport.
const OUTSIDE: DeviceError = DeviceError::Failed { code: 3, what: "an access outside of a block" };

impl EmulatedBuffer {
    fn check(&self, range: &Range<usize>) -> Result<(), DeviceError> {
        if range.start <= range.end && range.end <= self.bytes { Ok(()) } else { Err(OUTSIDE) }
    }

    /// Waits for the copies to this block.
    fn settle(&self) {
        self.progress.wait(self.copied);
    }

    /// Reads unscrambled bytes as they are now, into memory that is aligned for every element type.
    pub(super) fn reveal(&self, range: Range<usize>) -> Result<UniqueArray<u8>, HandleError> {
        self.check(&range)?;
        let mut bytes = UniqueArray::from_array(Array::zeros(range.len())?)?;
        lock(&self.memory).reveal(range.start, &mut bytes);
        Ok(bytes)
    }

    /// Scrambles and writes bytes.
    pub(super) fn hide(&mut self, at: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.check(&(at..at.checked_add(bytes.len()).ok_or(OUTSIDE)?))?;
        lock(&self.memory).hide(at, bytes);
        Ok(())
    }
}

impl Drop for EmulatedBuffer {
    fn drop(&mut self) {
        self.settle();
        self.live_bytes.fetch_sub(self.bytes, Relaxed);
    }
}

impl fmt::Debug for EmulatedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmulatedBuffer").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Returns a key that no other block has.
fn new_key() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    mix(NEXT.fetch_add(1, Relaxed).wrapping_add(0x9E37_79B9_7F4A_7C15))
}

fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

/// Scrambles or unscrambles the bytes of a block from position `at`: exclusive or with the key's stream.
fn scramble(key: u64, at: usize, bytes: &mut [u8]) {
    let word = |index: usize| mix(key.wrapping_add(index as u64)).to_le_bytes();
    let head = at.next_multiple_of(8).saturating_sub(at).min(bytes.len());
    let (head, whole) = bytes.split_at_mut(head);
    for (i, byte) in head.iter_mut().enumerate() {
        *byte ^= word((at + i) / 8)[(at + i) % 8];
    }
    let first = at.div_ceil(8);
    let (words, tail) = whole.as_chunks_mut::<8>();
    for (i, bytes) in words.iter_mut().enumerate() {
        *bytes = (u64::from_le_bytes(*bytes) ^ u64::from_le_bytes(word(first + i))).to_le_bytes();
    }
    let last = word(first + words.len());
    tail.iter_mut().zip(last).for_each(|(byte, key)| *byte ^= key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_can_be_scrambled_and_unscrambled_by_itself() {
        let plain: Vec<u8> = (0..40).collect();
        let mut whole = plain.clone();
        scramble(7, 0, &mut whole);
        assert!(whole.iter().zip(&plain).filter(|(a, b)| a != b).count() > 30);
        for start in 0..40 {
            for end in start..=40 {
                let mut part = whole[start..end].to_vec();
                scramble(7, start, &mut part);
                assert_eq!(part, plain[start..end], "{start}..{end}");
            }
        }
    }

    #[test]
    fn fresh_and_recycled_blocks_hold_nonsense() {
        let heap = EmulatedTransport::default();
        let mut block = heap.allocate(64).unwrap();
        assert_ne!(block.reveal(0..64).unwrap()[..], [0; 64]);
        heap.upload(&[5; 64], &mut block, 0).unwrap();
        assert!(lock(&block.memory).scrambled.iter().filter(|&&byte| byte == 5).count() < 10);
        assert_eq!(block.reveal(0..64).unwrap()[..], [5; 64]);
        heap.recycle(&mut block);
        assert!(block.reveal(0..64).unwrap().iter().filter(|&&byte| byte == 5).count() < 10);
    }
}
