//! Devices: the primary context of each, and its blocks of memory.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock};

use crate::control::violation;
use crate::host;
use crate::memory::{Block, Form, Place};
use crate::stream::Stream;
use crate::{
    Answer, CAPTURE_UNSUPPORTED, Code, ILLEGAL_ADDRESS, INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, OUT_OF_MEMORY,
    lock, setting,
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
    /// The default streams of the context: the legacy one, and one for all threads.
    defaults: Mutex<[Option<Arc<Stream>>; 2]>,
    /// Number of bytes that were copied to the device, from it, and on it.
    pub(crate) copied: [AtomicUsize; 3],
    /// Whether waiting for the device is refused, as while a stream of it is captured; and how often it was.
    pub(crate) refuses_synchronizing: AtomicBool,
    pub(crate) refused: AtomicUsize,
    /// Number of jobs of all streams, also of those that are destroyed already.
    jobs: Mutex<usize>,
    is_idle: Condvar,
}

struct Blocks {
    /// By their first address.
    live: BTreeMap<u64, Arc<Block>>,
    next: u64,
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
            defaults: Mutex::default(),
            copied: Default::default(),
            refuses_synchronizing: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
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
                *lock(&self.defaults) = Default::default();
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

    pub(crate) fn allow_synchronizing(&self) -> Answer {
        if self.refuses_synchronizing.load(SeqCst) {
            self.refused.fetch_add(1, SeqCst);
            return Err(CAPTURE_UNSUPPORTED);
        }
        Ok(())
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

    /// Returns a default stream: 0 is the legacy one.
    pub(crate) fn default_stream(self: &Arc<Self>, which: usize) -> Arc<Stream> {
        lock(&self.defaults)[which].get_or_insert_with(|| Stream::start_default(self)).clone()
    }

    /// Makes a block, which is not there before [`Block::arrive`].
    pub(crate) fn allocate(&self, count: usize, form: Form) -> Answer<(u64, Arc<Block>)> {
        if count == 0 {
            return Err(INVALID_VALUE);
        }
        let limit = self.limit.load(SeqCst);
        let room = |used: usize| used.checked_add(count).filter(|&sum| sum <= limit);
        match form {
            Form::Pinned => {}
            Form::Managed => {
                // The driver moves it out of the device to make room, which can take forever.
                if self.used.fetch_add(count, SeqCst).saturating_add(count) > limit {
                    violation("more managed memory than the device has room for");
                }
            }
            _ => _ = self.used.fetch_update(SeqCst, SeqCst, room).map_err(|_| OUT_OF_MEMORY)?,
        }
        let block = Arc::new(Block::new(count, form, GRAIN as usize));
        let mut blocks = lock(&self.blocks);
        let address = block.address_in_program().unwrap_or(blocks.next);
        if address == blocks.next {
            let gap = if form == Form::Mapped { 0 } else { GRAIN };
            blocks.next += (count as u64).next_multiple_of(GRAIN) + gap;
        }
        blocks.live.insert(address, block.clone());
        Ok((address, block))
    }

    /// Returns what is known about an address of this device.
    pub(crate) fn place(&self, address: u64) -> Option<Place> {
        let blocks = lock(&self.blocks);
        let (&start, block) = blocks.live.range(..=address).next_back()?;
        let is_inside = address - start < block.count as u64 && !block.is_given_up.load(SeqCst);
        is_inside.then(|| Place { start, count: block.count, form: block.form, device: self.index })
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
        let block = lock(&self.blocks).live.remove(&address);
        if let Some(block) = block {
            block.change(0..block.count, |bytes| bytes.fill(0x5A)); // for work that still goes on in it
            if block.form != Form::Pinned {
                self.used.fetch_sub(block.count, SeqCst);
            }
        }
    }

    /// Finds the block that has all bytes of a range, and the place of the range in it. Of memory that is mapped in
    /// pieces, only the first ones need to be there.
    fn find(&self, address: u64, count: usize) -> Answer<(Arc<Block>, usize)> {
        let found = {
            let blocks = lock(&self.blocks);
            blocks.live.range(..=address).next_back().map(|(&first, block)| ((address - first) as usize, block.clone()))
        };
        if let Some((at, block)) = found
            && block.is_there.load(SeqCst)
            && at <= block.count
            && (count <= block.count - at || block.form == Form::Mapped && at < block.count)
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
            let is_mapped = block.form == Form::Mapped && at < block.count;
            !block.is_given_up.load(SeqCst) && at <= block.count && (count <= block.count - at || is_mapped)
        });
        drop(blocks);
        if is_inside || host::has(address as usize, count) {
            return Ok(());
        }
        violation(&format!("a copy of {count} bytes at {address:#x} of device {}, which are in no block", self.index));
        Err(INVALID_VALUE)
    }

    /// Returns a copy of some bytes.
    pub(crate) fn read(&self, address: u64, count: usize) -> Answer<Vec<u8>> {
        let mut found = host::read(address as usize, count).unwrap_or_default();
        while found.len() < count {
            let (block, at) = self.find(address + found.len() as u64, count - found.len())?;
            let part = (count - found.len()).min(block.count - at);
            block.change(at..at + part, |bytes| found.extend_from_slice(bytes));
        }
        Ok(found)
    }

    /// Lets some bytes be changed.
    pub(crate) fn write(&self, address: u64, count: usize, change: impl FnOnce(&mut [u8])) -> Answer {
        if count == 0 {
            return Ok(());
        }
        if host::has(address as usize, count) {
            let mut bytes = host::read(address as usize, count).unwrap_or_default();
            change(&mut bytes);
            host::write(address as usize, &bytes);
            return Ok(());
        }
        let (block, at) = self.find(address, count)?;
        if count <= block.count - at {
            block.change(at..at + count, change);
            return Ok(());
        }
        let mut bytes = self.read(address, count)?; // in several pieces
        change(&mut bytes);
        let mut done = 0;
        while done < count {
            let (block, at) = self.find(address + done as u64, count - done)?;
            let part = (count - done).min(block.count - at);
            block.change(at..at + part, |place| place.copy_from_slice(&bytes[done..done + part]));
            done += part;
        }
        Ok(())
    }
}

/// Returns what is known about an address of any device.
pub(crate) fn place(address: u64) -> Option<Place> {
    devices().iter().find_map(|device| device.place(address))
}
