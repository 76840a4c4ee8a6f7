//! The streams of a device, and the order of the work on a block of its memory.
//!
//! Work in one stream is done in its order; streams do not wait for each other. So every use of a block records an
//! event, and a use of the block in another stream waits for the relevant ones: a read for the last write, a write for
//! the last write and for later reads of each stream. Nothing waits for work on other blocks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};

use super::api::Code;
use super::driver;
use super::objects::{Context, Event, Stream};
use crate::DeviceError;
use crate::control::lock;

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Copies to the device.
    Up,
    /// Kernels, and copies on the device.
    Compute,
    /// Copies from the device.
    Down,
    /// Allocations. Nothing waits in it, so that memory is there at once.
    Allocate,
    /// Frees, each after the last use of its block.
    Free,
    /// Work of other libraries: it has none itself, and waits for theirs.
    Other,
}

const LANES: [Lane; 6] = [Lane::Up, Lane::Compute, Lane::Down, Lane::Allocate, Lane::Free, Lane::Other];

/// The streams of a device.
pub(super) struct Streams {
    context: Arc<Context>,
    streams: [Stream; LANES.len()],
    /// Unused events.
    idle: Arc<Mutex<Vec<Event>>>,
    next_mark: AtomicU64,
    is_lost: AtomicBool,
}

/// The streams of all adapters.
static ALL: Mutex<Vec<Weak<Streams>>> = Mutex::new(Vec::new());

/// The end of some work in a stream.
pub(super) struct Mark {
    lane: Lane,
    /// Of two marks of a lane, the one with the greater number is also the end of all work of the other one: see
    /// [`Streams::mark`].
    number: u64,
    /// Taken when the mark is dropped only.
    event: Option<Event>,
    idle: Arc<Mutex<Vec<Event>>>,
}

impl Mark {
    /// Returns the event of the work's end.
    pub(super) fn event(&self) -> Option<&Event> {
        self.event.as_ref()
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        lock(&self.idle).extend(self.event.take());
    }
}

/// The last uses of a block of memory.
#[derive(Clone, Default)]
pub(super) struct Uses {
    write: Option<Arc<Mark>>,
    /// The last read since, of each lane.
    reads: [Option<Arc<Mark>>; LANES.len()],
}

impl Uses {
    pub(super) fn read(&mut self, mark: &Arc<Mark>) {
        let last = &mut self.reads[mark.lane as usize];
        // Two threads that read the same block may come here in another order than their work was submitted in.
        if last.as_ref().is_none_or(|last| last.number < mark.number) {
            *last = Some(mark.clone());
        }
    }

    /// Returns the ends of all uses that a write has to wait for.
    pub(super) fn marks(&self) -> impl Iterator<Item = &Arc<Mark>> {
        self.before(true)
    }

    /// Returns the ends of all uses that a read, or a write, has to wait for.
    pub(super) fn before(&self, is_write: bool) -> impl Iterator<Item = &Arc<Mark>> {
        self.write.iter().chain(self.reads.iter().flatten().filter(move |_| is_write))
    }

    pub(super) fn written(&mut self, mark: &Arc<Mark>) {
        *self = Self { write: Some(mark.clone()), reads: Default::default() };
    }
}

/// Memory of the program, and a copy that may be using it: nothing else does, and it is not freed, before that has
/// ended.
pub(super) struct Busy<M> {
    pub(super) memory: M,
    pub(super) copy: Option<Arc<Mark>>,
    streams: Arc<Streams>,
}

impl<M> Busy<M> {
    pub(super) fn new(memory: M, copy: Option<Arc<Mark>>, streams: &Arc<Streams>) -> Self {
        Self { memory, copy, streams: streams.clone() }
    }

    /// Waits for the copy. It has ended when this returns, with an error too.
    pub(super) fn finish(&mut self) -> Result<(), DeviceError> {
        self.copy.take().map_or(Ok(()), |copy| self.streams.finish(&copy))
    }

    /// Waits for the copy, and returns the memory.
    pub(super) fn into_memory(mut self) -> Result<M, DeviceError>
    where
        M: Default,
    {
        self.finish()?;
        Ok(std::mem::take(&mut self.memory))
    }
}

impl<M> Drop for Busy<M> {
    fn drop(&mut self) {
        let _ = self.finish(); // an error is that of memory that nobody asks for
    }
}

impl Streams {
    pub(super) fn new(context: Arc<Context>) -> Result<Self, DeviceError> {
        let mut streams = Vec::with_capacity(LANES.len());
        for _ in LANES {
            streams.push(Stream::new(&context).map_err(driver::failed("creating streams"))?);
        }
        let streams = streams.try_into().map_err(|_| DeviceError::Failed { code: 0, what: "creating streams" })?;
        let (idle, next_mark, is_lost) = (Arc::default(), AtomicU64::new(0), AtomicBool::new(false));
        Ok(Self { context, streams, idle, next_mark, is_lost })
    }

    /// Makes the streams known to [`end_all`](Self::end_all).
    pub(super) fn announce(self: &Arc<Self>) {
        let mut all = lock(&ALL);
        all.retain(|streams| streams.strong_count() > 0);
        all.push(Arc::downgrade(self));
    }

    /// Waits for all work of a lane, of every adapter.
    pub(super) fn end_all(lane: Lane) {
        let all: Vec<_> = lock(&ALL).iter().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|streams| streams.end(lane));
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn stream(&self, lane: Lane) -> &Stream {
        &self.streams[lane as usize]
    }

    /// Returns whether an error has left the device unusable.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Relaxed)
    }

    /// Makes the device's context that of the calling thread.
    pub(super) fn enter(&self) -> Result<(), DeviceError> {
        if self.is_lost() {
            return Err(DeviceError::Lost);
        }
        self.check("entering a device", self.context.enter())
    }

    /// Names what failed, if it did.
    pub(super) fn check<V>(&self, what: &'static str, result: Result<V, Code>) -> Result<V, DeviceError> {
        result.map_err(|error| {
            let Code(code) = error;
            if driver::is_fatal(error) {
                // Whatever the device was doing has failed, not this call.
                self.is_lost.store(true, Relaxed);
                return DeviceError::Earlier { code, what: "work on the device" };
            }
            DeviceError::Failed { code, what }
        })
    }

    /// Makes a lane wait for what a read of a block depends on.
    pub(super) fn before_read(&self, lane: Lane, uses: &Uses) -> Result<(), DeviceError> {
        uses.write.iter().try_for_each(|mark| self.wait(lane, mark))
    }

    /// Makes a lane wait for what a write of a block depends on.
    pub(super) fn before_write(&self, lane: Lane, uses: &Uses) -> Result<(), DeviceError> {
        uses.marks().try_for_each(|mark| self.wait(lane, mark))
    }

    /// Makes a lane wait for the end of some work.
    pub(super) fn wait(&self, lane: Lane, mark: &Mark) -> Result<(), DeviceError> {
        match &mark.event {
            Some(event) if mark.lane != lane => self.check("waiting in a stream", self.stream(lane).wait(event)),
            _ => Ok(()),
        }
    }

    /// Marks the end of all work in a lane. If that fails, the work has ended when this returns.
    pub(super) fn mark(&self, lane: Lane) -> Result<Arc<Mark>, DeviceError> {
        let idle = lock(&self.idle).pop();
        // Before the event is recorded, and after the work was submitted: so the event of a greater number is recorded
        // after the work of each smaller number.
        let number = self.next_mark.fetch_add(1, SeqCst);
        let marked = idle.map_or_else(|| Event::new(&self.context), Ok).and_then(|event| {
            event.record(self.stream(lane))?;
            Ok(Arc::new(Mark { lane, number, event: Some(event), idle: self.idle.clone() }))
        });
        if marked.is_err() {
            self.end(lane); // an error is that of the mark
        }
        self.check("recording an event", marked)
    }

    /// Waits, on the calling thread, for the end of some work. It has ended when this returns, with an error too.
    pub(super) fn finish(&self, mark: &Mark) -> Result<(), DeviceError> {
        let Some(event) = &mark.event else { return Ok(()) };
        let ended = event.synchronize();
        if ended.is_err() {
            self.end(mark.lane);
        }
        self.check("waiting for the device", ended)
    }

    /// Waits for all work of a lane, although the driver has refused something: the program's memory must not be given
    /// back while a copy goes on. After a fatal error, the device does nothing any more.
    pub(super) fn end(&self, lane: Lane) {
        const ATTEMPTS: usize = 100;
        for _ in 0..ATTEMPTS {
            match self.stream(lane).synchronize() {
                Err(error) if !driver::is_fatal(error) => std::thread::yield_now(),
                result => {
                    let _ = self.check("waiting for the device", result); // an error is that of the work
                    return;
                }
            }
        }
        self.is_lost.store(true, Relaxed); // a driver that does not wait is not asked for anything more
    }

    /// Returns whether some work has ended. All work has when the device is lost.
    pub(super) fn has_ended(&self, mark: &Mark) -> bool {
        let Some(event) = &mark.event else { return true };
        let ended = self.enter().and_then(|()| self.check("looking at the device", event.has_ended()));
        ended.unwrap_or_else(|_| self.is_lost())
    }

    /// Waits, on the calling thread, for all work.
    pub(super) fn synchronize(&self) -> Result<(), DeviceError> {
        self.enter()?;
        LANES.iter().try_for_each(|&lane| self.check("waiting for the device", self.stream(lane).synchronize()))
    }
}
