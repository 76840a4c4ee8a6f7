//! Work shared by the threads of a pool. Any number of them may join, and none has to.
//!
//! The calling thread works too. When no work is left, it sleeps until the threads that have begun something are done.
//! It never waits for a thread that has not begun: a job that starts late finds the work closed and touches nothing. So
//! a call finishes no matter how busy the pool is, and whether it comes from inside or outside the pool. While it
//! waits, it does not run other tasks of the pool, unlike rayon's own waiting, because a task that needs a lock held by
//! the caller would deadlock. For the same reason helpers never wait: a helper without work leaves, and the caller asks
//! again.
//!
//! Invariant: `help` of a [`Desk`] is called only between [`Desk::enter`] returning `true` and [`Desk::leave`], and
//! [`with_helpers`] does not end while a thread is between the two.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::trace::TraceContext;

/// The number of times that a waiting caller checks before it sleeps.
const LOOKS_BEFORE_SLEEP: usize = 64;

/// Calls `lead`, which may ask up to `most` threads of the pool for help. Each of them calls `help` once, which must
/// not panic, and leaves. After `lead` has ended, no more threads enter, and the call ends when all have left. The copies
/// of the threads count for the traces of this one.
///
/// Compiled only once for all kinds of work.
pub(super) fn with_helpers(most: usize, help: &(dyn Fn() + Sync), lead: &mut dyn FnMut(&Helpers)) {
    let traces = TraceContext::current();
    let help: &(dyn Fn() + Sync) = &|| traces.run(help);
    // SAFETY: only the lifetime changes. Nothing uses it after this call has returned or unwound: `Closing` waits until
    // every thread that entered has left, and none enters afterwards.
    let help = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(help) };
    let state = State { asked: 0, inside: 0, is_closed: false };
    let desk = Arc::new(Desk { help, state: Mutex::new(state), all_left: Condvar::new() });
    let helpers = Helpers { desk: Arc::clone(&desk), most };
    let _closing = Closing(&desk);
    lead(&helpers);
}

/// Calls `work` once with every index below `count`, on at most `threads` threads. With `takes_own`, a thread begins
/// with the index equal to its number in the pool, if that index is not taken.
///
/// If `work` panics, no further index is started, and the panic is resumed here.
pub(super) fn share(count: usize, threads: usize, takes_own: bool, work: &(dyn Fn(usize) + Sync)) {
    let indices = Mutex::new(Indices { is_taken: vec![false; count], next: 0, panics: Vec::new() });
    let lock = || indices.lock().unwrap_or_else(PoisonError::into_inner); // no work is done while it is locked
    let help = || {
        let mut own = if takes_own { rayon::current_thread_index() } else { None };
        loop {
            let taken = lock().take(own.take());
            let Some(index) = taken else { return };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(index))) {
                let mut indices = lock();
                indices.next = count; // the rest is not needed any more
                indices.is_taken.fill(true);
                indices.panics.push(panic);
                return;
            }
        }
    };
    let most = threads.min(count).saturating_sub(1);
    with_helpers(most, &help, &mut |helpers| {
        helpers.ask(most);
        help();
    });
    let mut panics = std::mem::take(&mut lock().panics).into_iter();
    if let Some(first) = panics.next() {
        drop(panics);
        resume_unwind(first);
    }
}

/// The threads that may be asked for help during a call.
pub(super) struct Helpers {
    desk: Arc<Desk>,
    most: usize,
}

impl Helpers {
    /// Asks for up to `count` more threads, within the limit.
    pub(super) fn ask(&self, count: usize) {
        let more = {
            let mut state = self.desk.state();
            let more = count.min(self.most - state.asked);
            state.asked += more;
            more
        };
        for _ in 0..more {
            let desk = Arc::clone(&self.desk);
            rayon::spawn(move || {
                if desk.enter() {
                    let _leaving = Leaving(&desk);
                    (desk.help)();
                }
            });
        }
    }
}

/// The place where helpers enter and leave.
struct Desk {
    help: &'static (dyn Fn() + Sync),
    state: Mutex<State>,
    all_left: Condvar,
}

struct State {
    /// The number of threads that were asked and have not left.
    asked: usize,
    /// The number of threads that may be using `help`: those that have entered and not left.
    inside: usize,
    is_closed: bool,
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // no work is done while it is locked
    }

    /// Registers a thread unless the work is closed. Returns whether the thread may work.
    fn enter(&self) -> bool {
        let mut state = self.state();
        state.inside += usize::from(!state.is_closed);
        !state.is_closed
    }

    fn leave(&self) {
        let mut state = self.state();
        state.inside -= 1;
        state.asked -= 1;
        if state.inside == 0 && state.is_closed {
            self.all_left.notify_one();
        }
    }

    /// Closes the work and waits until every thread has left.
    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        for _ in 0..LOOKS_BEFORE_SLEEP {
            if state.inside == 0 {
                break;
            }
            drop(state);
            thread::yield_now();
            state = self.state();
        }
        while state.inside > 0 {
            state = self.all_left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Lets a thread leave when dropped, even if it unwinds.
struct Leaving<'a>(&'a Desk);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Closes the work when dropped, even if the caller unwinds.
struct Closing<'a>(&'a Desk);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The remaining indices.
struct Indices {
    is_taken: Vec<bool>,
    /// Every index below this one is taken.
    next: usize,
    panics: Vec<Box<dyn Any + Send>>,
}

impl Indices {
    /// Takes the wanted index if it is free, otherwise the next one.
    fn take(&mut self, wanted: Option<usize>) -> Option<usize> {
        if let Some(index) = wanted
            && let Some(is_taken @ false) = self.is_taken.get_mut(index)
        {
            *is_taken = true;
            return Some(index);
        }
        let next = self.next + self.is_taken.get(self.next..)?.iter().position(|is_taken| !is_taken)?;
        self.is_taken[next] = true;
        self.next = next + 1;
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use test_support::sized;

    #[test]
    fn every_index_is_worked_on_once() {
        for count in [1, 2, 7, sized(100, 20)] {
            let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            for threads in [1, 2, 5, sized(200, 30)] {
                share(count, threads, threads == 5, &|index| {
                    done[index].fetch_add(1, Ordering::Relaxed);
                });
            }
            assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == 4));
        }
    }

    #[test]
    fn a_panic_comes_out_when_nobody_uses_what_is_borrowed_any_more() {
        for _ in 0..sized(200, 3) {
            let inside = AtomicUsize::new(0);
            let thrown = catch_unwind(AssertUnwindSafe(|| {
                share(20, 4, false, &|index| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    assert!(index != 5 && index != 6, "index {index}");
                });
            }));
            assert!(thrown.unwrap_err().downcast_ref::<String>().unwrap().starts_with("index "));
            assert_eq!(inside.load(Ordering::SeqCst), 0);
        }
    }

    #[test]
    fn calls_within_calls_end() {
        let sum = AtomicUsize::new(0);
        share(8, 4, false, &|outer| {
            share(8, 4, false, &|inner| {
                sum.fetch_add(outer * inner, Ordering::Relaxed);
            });
        });
        assert_eq!(sum.into_inner(), 28 * 28);
    }
}
