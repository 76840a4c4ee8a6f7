//! A virtual clock: the time that each engine would take, from bytes and bandwidths.

use std::sync::Mutex;
use std::time::Duration;

use crate::control::lock;
use crate::transport::{Engine, Event, Queue, StageTimes};

/// The bandwidth of each engine of a device, in bytes per second.
///
/// # Examples
/// ```
/// use numeric_table_execution::emulated::EmulatedSpeed;
/// let card = EmulatedSpeed { control: 10_000_000_000, copy: 25_000_000_000, compute: 900_000_000_000 };
/// assert!(card.copy < card.compute);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmulatedSpeed {
    /// The program, packing a block.
    pub control: u64,
    /// The link, in either direction.
    pub copy: u64,
    /// Kernels: bytes that they read and write, and copies on the device.
    pub compute: u64,
}

/// The time of each engine, in nanoseconds: when it will have finished all its work.
#[derive(Debug, Default)]
struct Now {
    control: u64,
    copy: u64,
    compute: u64,
    worked: [u64; 3],
}

impl Now {
    fn of(&mut self, engine: Engine) -> &mut u64 {
        match engine {
            Engine::Control => &mut self.control,
            Engine::Copy => &mut self.copy,
            Engine::Compute => &mut self.compute,
        }
    }

    /// Adds work to an engine, which begins no earlier than the program's current time. Returns the time of its end.
    fn work(&mut self, engine: Engine, nanoseconds: u64) -> u64 {
        let asked = self.control;
        let now = self.of(engine);
        *now = (*now).max(asked).saturating_add(nanoseconds);
        let done = *now;
        let worked = &mut self.worked[engine as usize];
        *worked = worked.saturating_add(nanoseconds);
        done
    }

    /// Returns the time when all engines will have finished.
    fn last(&self) -> u64 {
        self.control.max(self.copy).max(self.compute)
    }

    fn wait_for_all(&mut self) {
        self.control = self.last();
    }
}

/// The engines of a device and their times; without a clock, the time is always zero.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    clock: Option<EmulatedSpeed>,
    now: Mutex<Now>,
}

impl Timeline {
    pub(super) fn new(clock: Option<EmulatedSpeed>) -> Self {
        Self { clock, now: Mutex::default() }
    }

    pub(super) fn clock(&self) -> Option<EmulatedSpeed> {
        self.clock
    }

    fn nanoseconds(&self, engine: Engine, bytes: usize) -> u64 {
        let Some(clock) = self.clock else { return 0 };
        let rate = match engine {
            Engine::Control => clock.control,
            Engine::Copy => clock.copy,
            Engine::Compute => clock.compute,
        };
        let nanoseconds = (bytes as u128 * 1_000_000_000).div_ceil(u128::from(rate.max(1)));
        u64::try_from(nanoseconds).unwrap_or(u64::MAX)
    }

    /// Records a copy to the device for which the program waits.
    pub(super) fn upload(&self, bytes: usize) {
        let nanoseconds = self.nanoseconds(Engine::Copy, bytes);
        let mut now = lock(&self.now);
        now.control = now.work(Engine::Copy, nanoseconds);
    }

    /// Records a copy to the device for which the program does not wait.
    pub(super) fn upload_later(&self, bytes: usize) {
        let nanoseconds = self.nanoseconds(Engine::Copy, bytes);
        lock(&self.now).work(Engine::Copy, nanoseconds);
    }

    /// Records that the program waits for all kernels, and copies from the device.
    pub(super) fn download(&self, bytes: usize) {
        let nanoseconds = self.nanoseconds(Engine::Copy, bytes);
        let mut now = lock(&self.now);
        now.wait_for_all();
        now.control = now.work(Engine::Copy, nanoseconds);
    }

    /// Records the start of a kernel.
    pub(super) fn compute(&self, bytes: usize) {
        let nanoseconds = self.nanoseconds(Engine::Compute, bytes);
        lock(&self.now).work(Engine::Compute, nanoseconds);
    }

    pub(super) fn synchronize(&self) {
        lock(&self.now).wait_for_all();
    }
}

impl Queue for Timeline {
    fn record(&self, engine: Engine) -> Event {
        Event(*lock(&self.now).of(engine))
    }

    fn wait(&self, engine: Engine, event: Event) {
        let mut now = lock(&self.now);
        if event.0 > now.last() {
            return; // of another device
        }
        let time = now.of(engine);
        *time = (*time).max(event.0);
    }

    fn is_complete(&self, event: Event) -> bool {
        let now = lock(&self.now);
        now.control >= event.0 || event.0 > now.last()
    }

    fn packed(&self, bytes: usize) {
        let nanoseconds = self.nanoseconds(Engine::Control, bytes);
        lock(&self.now).work(Engine::Control, nanoseconds);
    }

    fn times(&self) -> Option<StageTimes> {
        self.clock?;
        let now = lock(&self.now);
        let [pack, copy, kernel] = now.worked.map(Duration::from_nanos);
        Some(StageTimes { pack, copy, kernel, total: Duration::from_nanos(now.last()) })
    }
}
