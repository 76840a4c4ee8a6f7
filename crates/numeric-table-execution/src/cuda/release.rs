//! Memory of other libraries, given back after its last use.
//!
//! A deleter may take locks of its library, such as Python's, and the memory may be dropped while a lock of this crate
//! is held. So nothing that drops such memory calls its deleter: a thread of this crate does, which holds no lock then.

use std::mem::{forget, take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::streams::{Mark, Streams, Uses};
use crate::control::lock;

/// Gives memory back to its owner: called exactly once, when this is dropped.
pub(super) struct Deleter {
    delete: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    is_own: bool,
}

impl Deleter {
    /// Makes the deleter of memory of another library.
    pub(super) fn new(delete: impl FnOnce() + Send + 'static) -> Self {
        Self { delete: Mutex::new(Some(Box::new(delete))), is_own: false }
    }

    /// Makes a deleter of memory of this library, which calls the driver only.
    pub(super) fn own(delete: impl FnOnce() + Send + 'static) -> Self {
        Self { delete: Mutex::new(Some(Box::new(delete))), is_own: true }
    }

    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }
}

impl Drop for Deleter {
    fn drop(&mut self) {
        if let Some(delete) = take(self.delete.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            // A panic is that of the owner, who has printed it; the other owners get their memory all the same.
            // Dropping its payload could panic again.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(delete)) {
                forget(panic);
            }
        }
    }
}

/// Memory that is not used by new work any more.
struct Held {
    /// Whether another library may use the memory, in streams that are not known here.
    is_exported: bool,
    deleter: Deleter, // dropped first: the device is still open
    uses: Vec<Arc<Mark>>,
    streams: Arc<Streams>,
}

struct Waiting {
    held: Vec<Held>,
    has_thread: bool,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { held: Vec::new(), has_thread: false });
static CHANGED: Condvar = Condvar::new();

/// The pause between two looks at the device: it gets longer while nothing ends.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(2);

/// Calls a deleter when the uses of its memory have ended, on another thread.
pub(super) fn later(streams: &Arc<Streams>, uses: Uses, deleter: Deleter) {
    let uses = uses.marks().cloned().collect();
    hold(Held { is_exported: false, deleter, uses, streams: streams.clone() });
}

/// Calls a deleter when all work of the device has ended, also that of other libraries, on another thread.
pub(super) fn after_everything(streams: &Arc<Streams>, deleter: Deleter) {
    hold(Held { is_exported: true, deleter, uses: Vec::new(), streams: streams.clone() });
}

fn hold(held: Held) {
    let mut waiting = lock(&WAITING);
    waiting.held.push(held);
    if !waiting.has_thread {
        // If there cannot be one, calls that wait for the device do its work: see `without_thread`.
        let thread = thread::Builder::new().name("numeric-table-release".into());
        waiting.has_thread = thread.spawn(run).is_ok();
    }
    drop(waiting);
    CHANGED.notify_one();
}

/// Does the work of the thread, if it could not be started.
pub(super) fn without_thread() {
    if !lock(&WAITING).has_thread {
        release_ended();
    }
}

/// Frees memory of this library whose uses have ended, before this returns: for an allocation that needs the room.
pub(super) fn release_own() -> bool {
    static FREEING: Mutex<()> = Mutex::new(());
    let _freeing = lock(&FREEING); // waits for another thread that is doing the same
    release(Deleter::is_own)
}

/// Calls the deleters of all memory whose uses have ended. Returns whether there was any.
fn release_ended() -> bool {
    let [own, others] = [release_own(), release(|deleter| !deleter.is_own())];
    own || others
}

fn release(is_meant: impl Fn(&Deleter) -> bool) -> bool {
    let has_ended =
        |held: &mut Held| is_meant(&held.deleter) && held.uses.iter().all(|mark| held.streams.has_ended(mark));
    let ended: Vec<_> = lock(&WAITING).held.extract_if(.., has_ended).collect();
    for held in ended.iter().filter(|held| held.is_exported) {
        // An error is that of the work. After a fatal one, there is none any more.
        let _ = held.streams.context().synchronize();
    }
    !ended.is_empty() // the deleters are called here: those of others with no lock held
}

fn run() {
    let mut pause = SHORTEST;
    loop {
        let mut waiting = lock(&WAITING);
        while waiting.held.is_empty() {
            waiting = CHANGED.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            pause = SHORTEST;
        }
        drop(waiting);
        if release_ended() {
            pause = SHORTEST;
        } else {
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}
