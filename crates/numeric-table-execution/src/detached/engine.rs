//! The copy engine: a thread of the device that copies to its memory in the background.
//!
//! Copies are numbered from 1 and made in order. Only explicit calls wait for a copy: a kernel that reads a block too
//! early reads its previous content.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use numeric_table::Array;

use super::heap::Memory;
use crate::control::lock;

/// A copy to the start of a block.
struct Copy {
    source: Array<u8>,
    target: Arc<Mutex<Memory>>,
}

/// The state that the program and the thread share.
#[derive(Default)]
struct State {
    waiting: VecDeque<Copy>,
    /// The number of requested copies.
    asked: u64,
    /// The number of completed copies.
    made: u64,
    /// Sources of completed copies. The program drops them, because a source may be the last share of an array with a
    /// user's deleter.
    read: Vec<Array<u8>>,
    is_closed: bool,
}

#[derive(Default)]
struct Shared {
    delay: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn wait_while<'s>(&self, state: MutexGuard<'s, State>, is_early: impl Fn(&State) -> bool) -> MutexGuard<'s, State> {
        self.changed.wait_while(state, |state| is_early(state)).unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the requested copies until the engine is closed.
    fn run(&self) {
        let mut state = lock(&self.state);
        loop {
            state = self.wait_while(state, |state| state.waiting.is_empty() && !state.is_closed);
            let Some(Copy { source, target }) = state.waiting.pop_front() else { return };
            let waited = self.changed.wait_timeout_while(state, self.delay, |state| !state.is_closed);
            drop(waited);
            lock(&target).hide(0, &source);
            state = lock(&self.state);
            state.read.push(source);
            state.made += 1;
            self.changed.notify_all();
        }
    }
}

/// The copies of a device that are made in the background.
#[derive(Clone, Default)]
pub(super) struct Progress(Arc<Shared>);

impl Progress {
    /// Returns the number of the last requested copy.
    pub(super) fn asked(&self) -> u64 {
        lock(&self.0.state).asked
    }

    /// Returns whether a copy and all earlier ones are complete. A copy that was never requested counts as complete.
    pub(super) fn has_made(&self, number: u64) -> bool {
        let state = lock(&self.0.state);
        number > state.asked || state.made >= number
    }

    /// Waits until a requested copy and all earlier ones are complete.
    pub(super) fn wait(&self, number: u64) {
        let state = lock(&self.0.state);
        if number <= state.asked {
            drop(self.0.wait_while(state, |state| state.made < number));
        }
    }

    /// Releases the sources of completed copies.
    pub(super) fn let_go(&self) {
        let read = std::mem::take(&mut lock(&self.0.state).read);
        drop(read); // with no lock held
    }
}

/// The thread, which starts with the first copy, and ends with the device.
#[derive(Default)]
pub(super) struct CopyEngine {
    progress: Progress,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl CopyEngine {
    pub(super) fn with_delay(delay: Duration) -> Self {
        let shared = Shared { delay, ..Shared::default() };
        Self { progress: Progress(Arc::new(shared)), thread: Mutex::default() }
    }

    pub(super) fn delay(&self) -> Duration {
        self.progress.0.delay
    }

    pub(super) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Requests a copy and returns its number, or returns the source if the system refuses to start the thread.
    pub(super) fn copy(&self, source: Array<u8>, target: Arc<Mutex<Memory>>) -> Result<u64, Array<u8>> {
        let shared = &self.progress.0;
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            let worker = shared.clone();
            match Builder::new().name("detached-copy".into()).spawn(move || worker.run()) {
                Ok(started) => *thread = Some(started),
                Err(_) => return Err(source),
            }
        }
        let mut state = lock(&shared.state);
        state.waiting.push_back(Copy { source, target });
        state.asked += 1;
        shared.changed.notify_all();
        Ok(state.asked)
    }
}

impl Drop for CopyEngine {
    fn drop(&mut self) {
        lock(&self.progress.0.state).is_closed = true;
        self.progress.0.changed.notify_all();
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let _ = thread.map(JoinHandle::join); // it does not panic
        self.progress.let_go();
    }
}

impl std::fmt::Debug for CopyEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyEngine").field("delay", &self.delay()).finish_non_exhaustive()
    }
}
