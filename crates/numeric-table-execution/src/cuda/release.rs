//! Memory of other libraries, given back after its last use.
//!
//! A deleter may take locks of its library, such as Python's, and the memory may be dropped while a lock of this crate
//! is held. So nothing that drops such memory calls its deleter: threads of this crate do, which hold no lock then.
//!
//! One thread looks at the work on the device, and frees memory of this library. Others call the deleters of other
//! libraries, up to [`CALLERS`] at a time, so that a deleter that blocks does not delay the rest. Memory that another
//! library may use in any stream has a thread for each device, which waits for all work of the device; it waits as long
//! as the driver refuses that.

use std::collections::VecDeque;
use std::mem::{forget, take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::driver;
use super::objects::Context;
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
    deleter: Deleter, // dropped first: the device is still open
    uses: Vec<Arc<Mark>>,
    streams: Arc<Streams>,
}

struct Waiting {
    /// Memory whose uses may be going on.
    held: Vec<Held>,
    /// Memory of other libraries whose uses have ended.
    ended: VecDeque<Held>,
    /// Memory that other libraries may use in streams that are not known here.
    exported: Vec<Held>,
    /// Whether there is a thread that looks at the work on the device.
    has_watcher: bool,
    /// The number of threads that call deleters, and of those that have nothing to do.
    callers: usize,
    idle: usize,
    /// The devices that a thread waits for.
    awaited: Vec<Arc<Context>>,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting {
    held: Vec::new(),
    ended: VecDeque::new(),
    exported: Vec::new(),
    has_watcher: false,
    callers: 0,
    idle: 0,
    awaited: Vec::new(),
});
/// Wakes the thread that looks at the device: there is memory to give back.
static CHANGED: Condvar = Condvar::new();
/// Wakes a thread that calls deleters: there is one to call.
static ENDED: Condvar = Condvar::new();

/// The pause between two looks at the device: it gets longer while nothing ends.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(2);
/// The longest pause between two attempts to wait for a device that refuses it.
const LONGEST_REFUSED: Duration = Duration::from_millis(100);
/// The largest number of deleters that are called at a time.
const CALLERS: usize = 32;
/// The time before another thread is started for deleters that no thread has begun to call.
const PATIENCE: Duration = Duration::from_millis(5);
/// The time that a thread waits for another deleter.
const IDLE: Duration = Duration::from_secs(1);

/// Calls a deleter when the uses of its memory have ended, on another thread.
pub(super) fn later(streams: &Arc<Streams>, uses: Uses, deleter: Deleter) {
    let uses = uses.marks().cloned().collect();
    let mut waiting = lock(&WAITING);
    waiting.held.push(Held { deleter, uses, streams: streams.clone() });
    if !waiting.has_watcher {
        // If there cannot be one, calls that wait for the device do its work: see `without_thread`.
        let context = streams.context().clone();
        waiting.has_watcher = start("numeric-table-release", move || {
            let _ = context.relax_capture(); // without it, some captures end with an error
            drop(context);
            watch();
        });
    }
    drop(waiting);
    CHANGED.notify_one();
}

/// Calls a deleter when all work of the device has ended, also that of other libraries, on another thread. While the
/// driver refuses to wait for the device, for instance because a stream of it is being captured, the deleter is not
/// called.
pub(super) fn after_everything(streams: &Arc<Streams>, deleter: Deleter) {
    let mut waiting = lock(&WAITING);
    waiting.exported.push(Held { deleter, uses: Vec::new(), streams: streams.clone() });
    let context = streams.context().clone();
    if !waiting.awaited.iter().any(|awaited| Arc::ptr_eq(awaited, &context)) {
        waiting.awaited.push(context.clone());
        if !start("numeric-table-exports", move || release_exported(&context)) {
            waiting.awaited.pop(); // see `without_thread`
        }
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    thread::Builder::new().name(name.into()).spawn(work).is_ok()
}

/// Does the work of threads that could not be started.
pub(super) fn without_thread() {
    let waiting = lock(&WAITING);
    let (has_watcher, is_exported) = (waiting.has_watcher, !waiting.exported.is_empty());
    drop(waiting);
    if !has_watcher {
        release_own();
        find_ended();
        while let Some(held) = next_ended() {
            drop(held);
        }
    }
    if is_exported {
        let mut waiting = lock(&WAITING);
        let Waiting { exported, awaited, .. } = &mut *waiting;
        let is_left = |held: &mut Held| !awaited.iter().any(|context| Arc::ptr_eq(context, held.streams.context()));
        let left: Vec<_> = exported.extract_if(.., is_left).collect();
        drop(waiting);
        let (ended, refused): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|held| has_ended_everything(held.streams.context()));
        lock(&WAITING).exported.extend(refused);
        drop(ended);
    }
}

/// Frees memory of this library whose uses have ended, before this returns: for an allocation that needs the room.
pub(super) fn release_own() -> bool {
    static FREEING: Mutex<()> = Mutex::new(());
    let _freeing = lock(&FREEING); // waits for another thread that is doing the same
    let ended = take_ended(&mut lock(&WAITING), Deleter::is_own);
    !ended.is_empty() // the memory is freed here
}

/// Finds memory of other libraries whose uses have ended. Returns whether there is any.
fn find_ended() -> bool {
    let mut waiting = lock(&WAITING);
    let ended = take_ended(&mut waiting, |deleter| !deleter.is_own());
    let is_any = !ended.is_empty();
    waiting.ended.extend(ended);
    is_any
}

fn take_ended(waiting: &mut Waiting, is_meant: impl Fn(&Deleter) -> bool) -> Vec<Held> {
    let has_ended =
        |held: &mut Held| is_meant(&held.deleter) && held.uses.iter().all(|mark| held.streams.has_ended(mark));
    waiting.held.extract_if(.., has_ended).collect()
}

fn next_ended() -> Option<Held> {
    lock(&WAITING).ended.pop_front()
}

/// The thread that looks at the work on the device.
fn watch() {
    let (mut pause, mut last_start) = (SHORTEST, None);
    loop {
        let mut waiting = lock(&WAITING);
        while waiting.held.is_empty() && waiting.ended.is_empty() {
            waiting = CHANGED.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            pause = SHORTEST;
        }
        drop(waiting);
        let has_ended = [release_own(), find_ended()].contains(&true);
        call_ended(&mut last_start);
        if has_ended {
            pause = SHORTEST;
        } else {
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}

/// Sees to it that a thread calls the deleters of memory whose uses have ended.
fn call_ended(last_start: &mut Option<Instant>) {
    let mut waiting = lock(&WAITING);
    if waiting.ended.is_empty() {
        return;
    }
    let is_soon = last_start.is_some_and(|last: Instant| last.elapsed() < PATIENCE);
    if waiting.idle > 0 {
        ENDED.notify_one();
    } else if waiting.callers == 0 || waiting.callers < CALLERS && !is_soon {
        *last_start = Some(Instant::now());
        waiting.callers += 1;
        if !start("numeric-table-deleters", call) {
            waiting.callers -= 1;
            if waiting.callers == 0 {
                let ended = take(&mut waiting.ended);
                drop(waiting);
                drop(ended); // the deleters are called here
            }
        }
    }
}

/// A thread that calls deleters of other libraries.
fn call() {
    let mut waiting = lock(&WAITING);
    loop {
        if let Some(held) = waiting.ended.pop_front() {
            drop(waiting);
            drop(held); // its deleter is called here, with no lock held
            waiting = lock(&WAITING);
            continue;
        }
        waiting.idle += 1;
        let (woken, time) = ENDED.wait_timeout(waiting, IDLE).unwrap_or_else(PoisonError::into_inner);
        waiting = woken;
        waiting.idle -= 1;
        if time.timed_out() && waiting.ended.is_empty() {
            waiting.callers -= 1;
            return;
        }
    }
}

/// The thread of exported memory of a device, as long as there is any.
fn release_exported(context: &Arc<Context>) {
    let _ = context.relax_capture(); // as in `later`
    loop {
        let mut waiting = lock(&WAITING);
        let is_its = |held: &mut Held| Arc::ptr_eq(held.streams.context(), context);
        let held: Vec<_> = waiting.exported.extract_if(.., is_its).collect();
        if held.is_empty() {
            waiting.awaited.retain(|awaited| !Arc::ptr_eq(awaited, context));
            return;
        }
        drop(waiting);
        let mut pause = SHORTEST;
        while !has_ended_everything(context) {
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_REFUSED);
        }
        drop(held); // the deleters are called here
    }
}

/// Waits for all work of a device, also that of other libraries. Returns whether it has ended: it has not if the driver
/// refuses to wait. After a fatal error, the device does nothing any more.
fn has_ended_everything(context: &Context) -> bool {
    context.synchronize().err().is_none_or(driver::is_fatal)
}
