//! Devices: the primary context of each, and its blocks of memory.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock};

use crate::control::violation;
use crate::stream::Stream;
use crate::{
    Answer, Code, ILLEGAL_ADDRESS, INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, OUT_OF_MEMORY, lock, setting,
};

/// The context of device `n` has the handle `FIRST_CONTEXT + n`.
const FIRST_CONTEXT: usize = 0x100;
/// Blocks begin at multiples of this number of bytes, as the driver's do, and there is at least one between two.
const GRAIN: u64 = 512;

/// A device and its primary context.
pub(crate) struct Device {
    pub(crate) index: usize,
    pub(crate) limit: AtomicUsize,
    pub(crate) used: AtomicUsize,
    pub(crate) retained: AtomicUsize,
    /// The error that every call reports, once something has gone wrong; or 0.
    failed: AtomicU32,
    /// Read by whoever does a piece of work: when a failure is known, all work has stopped.
    running: RwLock<()>,
    /// After how many pieces of work something goes wrong, and what: a test asks for it. Negative: never.
    pub(crate) fails_after: AtomicI64,
    pub(crate) fails_with: AtomicU32,
    blocks: Mutex<Blocks>,
    pub(crate) streams: Mutex<Vec<Arc<Stream>>>,
    /// Number of jobs of all streams, also of those that are destroyed already.
    jobs: Mutex<usize>,
    is_idle: Condvar,
}

struct Blocks {
    /// By their first address.
    live: BTreeMap<u64, Arc<Block>>,
    next: u64,
}

/// A block of a device's memory.
pub(crate) struct Block {
    bytes: Mutex<Vec<u8>>,
    count: usize,
    /// Whether the stream has come to its allocation.
    is_there: AtomicBool,
    /// Whether somebody has asked for it to be freed.
    is_given_up: AtomicBool,
}

pub(crate) fn devices() -> &'static [Arc<Device>] {
    static DEVICES: OnceLock<Vec<Arc<Device>>> = OnceLock::new();
    DEVICES.get_or_init(|| (0..setting("FAKE_CUDA_DEVICES", 2)).map(|index| Arc::new(Device::new(index))).collect())
}

/// Finds a device by its number.
pub(crate) fn device(index: i32) -> Answer<&'static Arc<Device>> {
    usize::try_from(index).ok().and_then(|index| devices().get(index)).ok_or(INVALID_DEVICE)
}

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The handle of the calling thread's context, or 0.
pub(crate) fn current_handle() -> usize {
    CURRENT.get()
}

pub(crate) fn set_current(handle: usize) -> Answer {
    if handle != 0 {
        let device = handle.checked_sub(FIRST_CONTEXT).and_then(|index| devices().get(index)).ok_or(INVALID_CONTEXT)?;
        if device.retained.load(SeqCst) == 0 {
            return Err(INVALID_CONTEXT);
        }
    }
    CURRENT.set(handle);
    Ok(())
}

/// The device of the calling thread's context.
pub(crate) fn current() -> Answer<&'static Arc<Device>> {
    let device = CURRENT.get().checked_sub(FIRST_CONTEXT).and_then(|index| devices().get(index));
    match device {
        Some(device) if device.retained.load(SeqCst) > 0 => Ok(device),
        _ => {
            violation("a call on a thread without a context");
            Err(INVALID_CONTEXT)
        }
    }
}

/// Checks that the calling thread's context is that of an object.
pub(crate) fn check_current(owner: &Device, what: &str) -> Answer {
    if current()?.index == owner.index {
        return Ok(());
    }
    violation(&format!("{what} of another context than the current one"));
    Err(INVALID_CONTEXT)
}

impl Device {
    fn new(index: usize) -> Self {
        Self {
            index,
            limit: AtomicUsize::new(setting("FAKE_CUDA_MEMORY", 1 << 30)),
            used: AtomicUsize::new(0),
            retained: AtomicUsize::new(0),
            failed: AtomicU32::new(0),
            running: RwLock::new(()),
            fails_after: AtomicI64::new(-1),
            fails_with: AtomicU32::new(0),
            // Far above the addresses of any program.
            blocks: Mutex::new(Blocks { live: BTreeMap::new(), next: (index as u64 + 1) << 48 }),
            streams: Mutex::default(),
            jobs: Mutex::new(0),
            is_idle: Condvar::new(),
        }
    }

    pub(crate) fn context(&self) -> usize {
        FIRST_CONTEXT + self.index
    }

    /// Gives back a share of the primary context. The last one destroys it, with all that is in it.
    pub(crate) fn release(&self) -> Answer {
        let before = self.retained.fetch_update(SeqCst, SeqCst, |count| count.checked_sub(1));
        match before {
            Err(_) => return Err(INVALID_CONTEXT),
            Ok(1) => {
                lock(&self.streams).iter().for_each(|stream| stream.close());
                let mut jobs = lock(&self.jobs);
                while *jobs > 0 {
                    jobs = self.is_idle.wait(jobs).unwrap_or_else(PoisonError::into_inner);
                }
                drop(jobs);
                let left = std::mem::take(&mut lock(&self.blocks).live);
                let forgotten = left.values().filter(|block| !block.is_given_up.load(SeqCst)).count();
                if forgotten > 0 && self.check().is_ok() {
                    violation(&format!("{forgotten} blocks of device {} were never freed", self.index));
                }
                self.used.store(0, SeqCst);
                self.failed.store(0, SeqCst);
                self.fails_after.store(-1, SeqCst);
            }
            Ok(_) => {}
        }
        Ok(())
    }

    /// Returns the error that has left the context unusable.
    pub(crate) fn check(&self) -> Answer {
        match self.failed.load(SeqCst) {
            0 => Ok(()),
            code => Err(code),
        }
    }

    fn fail(&self, code: Code) {
        let _stopped = self.running.write().unwrap_or_else(PoisonError::into_inner);
        let _ = self.failed.compare_exchange(0, code, SeqCst, SeqCst); // the first one stays
    }

    /// Waits for all work that has been asked for, also in streams that are destroyed.
    pub(crate) fn finish(&self) {
        let streams = lock(&self.streams).clone();
        let points: Vec<_> = streams.iter().map(|stream| stream.mark()).collect();
        points.iter().for_each(|point| point.wait());
    }

    pub(crate) fn begin_job(&self) {
        *lock(&self.jobs) += 1;
    }

    pub(crate) fn end_job(&self) {
        *lock(&self.jobs) -= 1;
        self.is_idle.notify_all();
    }

    /// Does a piece of work, unless the device has failed.
    pub(crate) fn run(&self, work: impl FnOnce(&Self) -> Answer) {
        let left = self.fails_after.fetch_update(SeqCst, SeqCst, |left| (left >= 0).then(|| left - 1));
        if left == Ok(0) {
            self.fail(self.fails_with.load(SeqCst));
        }
        let running = self.running.read().unwrap_or_else(PoisonError::into_inner);
        let answer = if self.check().is_ok() { work(self) } else { Ok(()) };
        drop(running);
        if let Err(code) = answer {
            self.fail(code);
        }
    }

    pub(crate) fn block_count(&self) -> usize {
        lock(&self.blocks).live.len()
    }

    /// Makes a block, which is not there before [`Block::arrive`].
    pub(crate) fn allocate(&self, count: usize) -> Answer<(u64, Arc<Block>)> {
        if count == 0 {
            return Err(INVALID_VALUE);
        }
        let limit = self.limit.load(SeqCst);
        let room = |used: usize| used.checked_add(count).filter(|&sum| sum <= limit);
        self.used.fetch_update(SeqCst, SeqCst, room).map_err(|_| OUT_OF_MEMORY)?;
        let block = Arc::new(Block {
            bytes: Mutex::new(vec![0xA5; count]),
            count,
            is_there: AtomicBool::new(false),
            is_given_up: AtomicBool::new(false),
        });
        let mut blocks = lock(&self.blocks);
        let address = blocks.next;
        blocks.next += (count as u64).next_multiple_of(GRAIN) + GRAIN;
        blocks.live.insert(address, block.clone());
        Ok((address, block))
    }

    /// Notes that somebody asks for a block to be freed, at its first address.
    pub(crate) fn give_up(&self, address: u64) -> Answer {
        let block = lock(&self.blocks).live.get(&address).cloned();
        match block {
            Some(block) if !block.is_given_up.swap(true, SeqCst) => Ok(()),
            _ => {
                violation("a free of what is no block, or was freed before");
                Err(INVALID_VALUE)
            }
        }
    }

    /// Frees a block.
    pub(crate) fn free(&self, address: u64) {
        if let Some(block) = lock(&self.blocks).live.remove(&address) {
            lock(&block.bytes).fill(0x5A); // for work that still goes on in it
            self.used.fetch_sub(block.count, SeqCst);
        }
    }

    /// Finds the block that has all bytes of a range, and the place of the range in it.
    fn find(&self, address: u64, count: usize) -> Answer<(Arc<Block>, usize)> {
        let found = {
            let blocks = lock(&self.blocks);
            blocks.live.range(..=address).next_back().map(|(&first, block)| ((address - first) as usize, block.clone()))
        };
        if let Some((at, block)) = found
            && block.is_there.load(SeqCst)
            && at <= block.count
            && count <= block.count - at
        {
            return Ok((block, at));
        }
        violation(&format!(
            "an access to {count} bytes at {address:#x} of device {}, which are in no block",
            self.index
        ));
        Err(ILLEGAL_ADDRESS)
    }

    /// Checks, when a copy is asked for, that its range is in a block that nobody has given up.
    pub(crate) fn check_range(&self, address: u64, count: usize) -> Answer {
        let blocks = lock(&self.blocks);
        let is_inside = blocks.live.range(..=address).next_back().is_some_and(|(&first, block)| {
            let at = (address - first) as usize;
            !block.is_given_up.load(SeqCst) && at <= block.count && count <= block.count - at
        });
        drop(blocks);
        if is_inside {
            return Ok(());
        }
        violation(&format!("a copy of {count} bytes at {address:#x} of device {}, which are in no block", self.index));
        Err(INVALID_VALUE)
    }

    /// Returns a copy of some bytes.
    pub(crate) fn read(&self, address: u64, count: usize) -> Answer<Vec<u8>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let (block, at) = self.find(address, count)?;
        let bytes = lock(&block.bytes);
        Ok(bytes[at..at + count].to_vec())
    }

    /// Lets some bytes be changed.
    pub(crate) fn write(&self, address: u64, count: usize, change: impl FnOnce(&mut [u8])) -> Answer {
        if count == 0 {
            return Ok(());
        }
        let (block, at) = self.find(address, count)?;
        change(&mut lock(&block.bytes)[at..at + count]);
        Ok(())
    }
}

impl Block {
    /// The stream has come to the allocation.
    pub(crate) fn arrive(&self) {
        self.is_there.store(true, SeqCst);
    }
}
