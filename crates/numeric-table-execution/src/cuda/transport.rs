//! What a CUDA device does with bytes, and the order of its engines.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use numeric_table::{Array, array::MemoryKind};

use super::memory::{CudaBuffer, OUTSIDE};
use super::pinned::pin;
use super::release;
use super::staging::Ring;
use super::streams::{Busy, Lane, Mark, Streams};
use crate::DeviceError;
use crate::control::lock;
use crate::transport::{Arriving, Engine, Event, Queue, Transport, writable};

/// The numbers of events, and the ends of work that they are.
type Events = VecDeque<(u64, Arc<Mark>)>;

/// The memory of a [`Cuda`](super::Cuda) device, and the transport of its bytes.
///
/// # Examples
/// See [`Cuda`](super::Cuda), which has one.
pub struct CudaTransport {
    /// Copies that are going on, and the memory that they read.
    held: Mutex<Vec<(Arc<Mark>, Array<u8>)>>,
    up: Ring,
    down: Ring,
    /// Of each engine that works by itself, its events that may not have ended, in their order.
    events: Mutex<[Events; 2]>,
    streams: Arc<Streams>,
}

impl CudaTransport {
    pub(super) fn new(streams: Arc<Streams>) -> Self {
        streams.announce();
        let (up, down) = (Ring::new(&streams), Ring::new(&streams));
        Self { held: Mutex::default(), up, down, events: Mutex::default(), streams }
    }

    pub(super) fn streams(&self) -> &Arc<Streams> {
        &self.streams
    }

    /// Returns the end of the work of an event; `None` if it has ended.
    pub(super) fn mark_of(&self, event: Event) -> Option<Arc<Mark>> {
        let events = &lock(&self.events)[(event.0 % 2) as usize];
        let place = events.binary_search_by_key(&event.0, |&(number, _)| number).ok()?;
        Some(events[place].1.clone())
    }

    /// Gives back the memory of copies that have ended.
    fn let_go(&self) {
        let ended: Vec<_> = lock(&self.held).extract_if(.., |(mark, _)| self.streams.has_ended(mark)).collect();
        drop(ended); // with no lock held: the last share of memory may be that of a user, with a deleter
        release::without_thread();
    }
}

impl Drop for CudaTransport {
    fn drop(&mut self) {
        for (mark, _) in lock(&self.held).iter() {
            let _ = self.streams.finish(mark); // an error means that the device does nothing any more
        }
    }
}

impl Transport for CudaTransport {
    type Buffer = CudaBuffer;

    fn allocate(&self, bytes: usize) -> Result<CudaBuffer, DeviceError> {
        CudaBuffer::allocate(&self.streams, bytes)
    }

    fn allocate_kind(&self, bytes: usize, kind: MemoryKind) -> Result<CudaBuffer, DeviceError> {
        CudaBuffer::allocate_kind(&self.streams, bytes, kind)
    }

    fn kind(&self, buffer: &CudaBuffer) -> MemoryKind {
        buffer.kind()
    }

    fn upload(&self, source: &[u8], target: &mut CudaBuffer, at: usize) -> Result<(), DeviceError> {
        let Some(pin) = pin(source) else { return self.up.send(source, target, at) };
        // SAFETY: the source is borrowed until the call returns, and the copy has ended then.
        let mark = unsafe { target.start_upload(at, source) }?;
        drop(pin);
        self.streams.finish(&mark)
    }

    fn upload_later(&self, source: Array<u8>, target: &mut CudaBuffer) -> Result<(), DeviceError> {
        let Some(pin) = pin(&source) else { return self.up.send(&source, target, 0) };
        // SAFETY: a share of the source is held until the copy has ended; a write to it by another owner copies first.
        let mark = unsafe { target.start_upload(0, &source) }?;
        drop(pin);
        lock(&self.held).push((mark, source));
        Ok(())
    }

    fn download(&self, source: &CudaBuffer, range: Range<usize>, target: &mut [u8]) -> Result<(), DeviceError> {
        if range.len() != target.len() {
            return Err(OUTSIDE);
        }
        let Some(pin) = pin(target) else { return self.down.receive(source, range.start, target) };
        // SAFETY: the target is borrowed until the call returns, and the copy has ended then.
        let mark = unsafe { source.start_download(range.start, target) }?;
        drop(pin);
        self.streams.finish(&mark)
    }

    fn download_later(
        &self,
        source: &CudaBuffer,
        range: Range<usize>,
        mut target: Array<u8>,
    ) -> Result<Arriving, DeviceError> {
        let bytes = writable(&mut target)?;
        if range.len() != bytes.len() {
            return Err(OUTSIDE);
        }
        let Some(pin) = pin(bytes) else {
            self.down.receive(source, range.start, bytes)?;
            return Ok(Arriving::new(|| Ok(target)));
        };
        // SAFETY: the target is nobody else's: it is kept, and not used, until the copy has ended.
        let mark = unsafe { source.start_download(range.start, bytes) }?;
        drop(pin);
        let arriving = Busy::new(target, Some(mark), &self.streams);
        Ok(Arriving::new(|| arriving.into_memory()))
    }

    fn duplicate(&self, source: &CudaBuffer, bytes: usize) -> Result<CudaBuffer, DeviceError> {
        // A copy of memory of another library is plain memory.
        let kind = if source.is_adopted() { MemoryKind::Device } else { source.kind() };
        let mut copy = self.allocate_kind(bytes, kind)?;
        copy.start_copy(source, &(0..bytes))?;
        Ok(copy)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.streams.synchronize()?;
        self.let_go();
        Ok(())
    }

    fn is_lost(&self) -> bool {
        self.streams.is_lost()
    }
}

/// Returns the lane of an engine, and its place; `None` for the program, which is never ahead of itself.
fn lane_of(engine: Engine) -> Option<(Lane, usize)> {
    match engine {
        Engine::Control => None,
        Engine::Copy => Some((Lane::Up, 0)),
        Engine::Compute => Some((Lane::Compute, 1)),
    }
}

/// The number of an event is twice its place in the order, and one more for that of a kernel. Errors of the driver are
/// those of the next call: the order of work on a block does not depend on these events.
impl Queue for CudaTransport {
    fn record(&self, engine: Engine) -> Event {
        let Some((lane, place)) = lane_of(engine) else { return Event::DONE };
        self.let_go();
        let Ok(mark) = self.streams.enter().and_then(|()| self.streams.mark(lane)) else { return Event::DONE };
        let events = &mut lock(&self.events)[place];
        while events.front().is_some_and(|(_, mark)| self.streams.has_ended(mark)) {
            events.pop_front();
        }
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed) * 2 + place as u64;
        events.push_back((number, mark));
        Event(number)
    }

    fn is_complete(&self, event: Event) -> bool {
        self.mark_of(event).is_none_or(|mark| self.streams.has_ended(&mark))
    }

    fn wait(&self, engine: Engine, event: Event) {
        if let Some(mark) = self.mark_of(event) {
            let _ = match lane_of(engine) {
                Some((lane, _)) => self.streams.enter().and_then(|()| self.streams.wait(lane, &mark)),
                None => self.streams.finish(&mark),
            };
        } // else it has ended
        if engine == Engine::Control {
            self.let_go();
        }
    }
}

/// The place of the next event. The first is not that of [`Event::DONE`].
static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
