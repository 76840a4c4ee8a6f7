//! The times of the stages of a stream.

use std::time::{Duration, Instant};

use crate::transport::StageTimes;

/// Measures the stages in wall-clock time.
pub(super) struct Watch {
    start: Instant,
    lent_at: Option<Instant>,
    times: StageTimes,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), lent_at: None, times: StageTimes::default() }
    }

    pub(super) fn pack<R>(&mut self, work: impl FnOnce() -> R) -> R {
        measure(&mut self.times.pack, work)
    }

    pub(super) fn copy<R>(&mut self, work: impl FnOnce() -> R) -> R {
        measure(&mut self.times.copy, work)
    }

    pub(super) fn kernel<R>(&mut self, work: impl FnOnce() -> R) -> R {
        measure(&mut self.times.kernel, work)
    }

    /// Starts the time in which the caller works on a block.
    pub(super) fn lend(&mut self) {
        self.lent_at = Some(Instant::now());
    }

    pub(super) fn take_back(&mut self) {
        if let Some(lent_at) = self.lent_at.take() {
            self.times.kernel += lent_at.elapsed();
        }
    }

    pub(super) fn times(&self) -> StageTimes {
        StageTimes { total: self.start.elapsed(), ..self.times }
    }
}

fn measure<R>(time: &mut Duration, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *time += start.elapsed();
    result
}
