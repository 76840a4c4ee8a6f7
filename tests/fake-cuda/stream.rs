//! Streams, each with a thread that does its work in order, and events.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::control::delays;
use crate::device::Device;
use crate::{Answer, Table, lock};

pub(crate) static STREAMS: Table<Stream> = Table::new();
pub(crate) static EVENTS: Table<Event> = Table::new();

/// A stream.
pub(crate) struct Stream {
    pub(crate) device: Arc<Device>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    is_closed: bool,
    /// Whether the thread has ended, after the last job of a closed stream.
    has_ended: bool,
}

enum Job {
    /// Something to do, unless the device has failed.
    Work(Box<dyn FnOnce(&Device) -> Answer + Send>),
    /// Something to do in any case: whoever asked for it relies on it.
    Always(Box<dyn FnOnce(&Device) + Send>),
    Reach(Arc<Point>),
    Wait(Arc<Point>),
}

/// A point in the work of a stream, which is reached once.
#[derive(Default)]
pub(crate) struct Point {
    is_reached: Mutex<bool>,
    reached: Condvar,
}

impl Point {
    pub(crate) fn is_reached(&self) -> bool {
        *lock(&self.is_reached)
    }

    pub(crate) fn wait(&self) {
        let mut is_reached = lock(&self.is_reached);
        while !*is_reached {
            is_reached = self.reached.wait(is_reached).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn reach(&self) {
        *lock(&self.is_reached) = true;
        self.reached.notify_all();
    }
}

/// An event: the point where it was recorded last.
pub(crate) struct Event {
    pub(crate) device: Arc<Device>,
    pub(crate) point: Mutex<Option<Arc<Point>>>,
}

impl Stream {
    /// Makes a stream, and starts its thread. Returns its handle.
    pub(crate) fn start(device: &Arc<Device>) -> usize {
        let (handle, stream) = STREAMS.add(|_| Self::new(device));
        // A stream in three is slow.
        stream.begin(Chance::new(handle as u64, handle.is_multiple_of(3)));
        handle
    }

    /// Makes a default stream, which has no handle of its own. Other streams do not wait for it, as those that were
    /// made with `CU_STREAM_NON_BLOCKING`.
    pub(crate) fn start_default(device: &Arc<Device>) -> Arc<Self> {
        let stream = Arc::new(Self::new(device));
        stream.begin(Chance::new(device.index as u64, true));
        stream
    }

    fn new(device: &Arc<Device>) -> Self {
        Self { device: device.clone(), queue: Mutex::default(), changed: Condvar::new() }
    }

    fn begin(self: &Arc<Self>, mut chance: Chance) {
        lock(&self.device.streams).push(self.clone());
        let stream = self.clone();
        thread::spawn(move || stream.run(&mut chance));
    }

    fn run(&self, chance: &mut Chance) {
        loop {
            let mut queue = lock(&self.queue);
            while queue.jobs.is_empty() && !queue.is_closed {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let Some(job) = queue.jobs.pop_front() else {
                queue.has_ended = true;
                drop(queue);
                lock(&self.device.streams).retain(|other| !std::ptr::eq(&**other, self));
                return;
            };
            drop(queue);
            match job {
                Job::Work(work) => {
                    chance.delay();
                    self.device.run(work);
                }
                Job::Always(work) => work(&self.device),
                Job::Reach(point) => point.reach(),
                Job::Wait(point) => point.wait(),
            }
            self.device.end_job();
        }
    }

    fn add(&self, job: Job) {
        let mut queue = lock(&self.queue);
        match job {
            Job::Reach(point) if queue.has_ended => return point.reach(),
            job => queue.jobs.push_back(job),
        }
        self.device.begin_job();
        drop(queue);
        self.changed.notify_all();
    }

    pub(crate) fn work(&self, work: impl FnOnce(&Device) -> Answer + Send + 'static) {
        self.add(Job::Work(Box::new(work)));
    }

    pub(crate) fn always(&self, work: impl FnOnce(&Device) + Send + 'static) {
        self.add(Job::Always(Box::new(work)));
    }

    /// Returns a point that is reached when all that the stream has been given is done.
    pub(crate) fn mark(&self) -> Arc<Point> {
        let point = Arc::new(Point::default());
        self.add(Job::Reach(point.clone()));
        point
    }

    pub(crate) fn wait_for(&self, point: Arc<Point>) {
        self.add(Job::Wait(point));
    }

    /// Lets the thread end when it has done what it was given.
    pub(crate) fn close(&self) {
        lock(&self.queue).is_closed = true;
        self.changed.notify_all();
    }
}

/// Pseudo-random delays.
pub(crate) struct Chance {
    state: u64,
    is_slow: bool,
}

impl Chance {
    pub(crate) fn new(number: u64, is_slow: bool) -> Self {
        static SEED: AtomicU64 = AtomicU64::new(0);
        if SEED.load(Relaxed) == 0 {
            SEED.store(crate::setting("FAKE_CUDA_SEED", 1) as u64 | 1 << 63, Relaxed);
        }
        Self { state: (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ SEED.load(Relaxed) | 1, is_slow }
    }

    /// The next number: xorshift64*, of Vigna.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
    }

    /// Waits for a moment, or not.
    pub(crate) fn delay(&mut self) {
        let (most, one_in) = match (delays(), self.is_slow) {
            (0, _) => return,
            (1, false) => (20, 32),
            (1, true) => (150, 6),
            (_, false) => (200, 8),
            (_, true) => (2000, 2),
        };
        match self.next() % one_in {
            0 => thread::sleep(Duration::from_micros(1 + self.next() % most)),
            1 => thread::yield_now(),
            _ => {}
        }
    }
}
