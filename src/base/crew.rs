//! Work shared by the threads of a pool: any number of them may join, and none of them has to.
//!
//! The calling thread works as well, until no index is left, and then sleeps until the threads that have begun
//! something are done. It never waits for a thread that has not begun: a job that starts late finds the work closed,
//! and touches nothing. So a call ends however busy the pool is, whether it comes from inside the pool or from outside.
//! While it waits, it runs no other task of the pool, unlike rayon's own waiting: a task that needs a lock which the
//! caller holds would deadlock.
//!
//! Invariant: `work` of a [`Desk`] is dereferenced only between [`Desk::enter`] that returned `true` and
//! [`Desk::leave`], and [`share`] does not return while any thread is between the two.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of times that a waiting caller checks before it sleeps.
const LOOKS_BEFORE_SLEEP: usize = 64;

/// Calls `work` with every index below `count`, each once, on at most `threads` threads. With `takes_own`, a thread
/// begins with the index equal to its number in the pool, if that is not taken.
///
/// Compiled once, whatever the work is. If `work` panics, no further index is begun, and the panic is resumed here.
pub(super) fn share(count: usize, threads: usize, takes_own: bool, work: &(dyn Fn(usize) + Sync)) {
    // SAFETY: only the lifetime changes. Nothing uses it after this call has returned or unwound: see the end of this
    // function.
    let work = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work) };
    let desk = Arc::new(Desk {
        work,
        takes_own,
        state: Mutex::new(State {
            is_taken: vec![false; count],
            next: 0,
            inside: 1,
            is_closed: false,
            panics: Vec::new(),
        }),
        all_left: Condvar::new(),
    });
    for _ in 1..threads.min(count) {
        let desk = Arc::clone(&desk);
        rayon::spawn(move || {
            if desk.enter() {
                desk.work();
                desk.leave();
            }
        });
    }
    desk.work(); // catches panics of the work
    // From here on no thread enters, and all that are inside leave. Only then may what `work` borrows end.
    let mut panics = desk.close().into_iter();
    if let Some(first) = panics.next() {
        drop(panics);
        resume_unwind(first);
    }
}

/// The indices that are left, and the threads that work on them.
struct Desk {
    work: &'static (dyn Fn(usize) + Sync),
    takes_own: bool,
    state: Mutex<State>,
    all_left: Condvar,
}

struct State {
    is_taken: Vec<bool>,
    /// Every index before this one is taken.
    next: usize,
    /// Threads that may be using `work`: the caller, and those that have entered and not left.
    inside: usize,
    is_closed: bool,
    panics: Vec<Box<dyn Any + Send>>,
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // no work is done while it is locked
    }

    /// Counts a thread in, unless the work is closed. Returns whether it may work.
    fn enter(&self) -> bool {
        let mut state = self.state();
        state.inside += usize::from(!state.is_closed);
        !state.is_closed
    }

    fn leave(&self) {
        let mut state = self.state();
        state.inside -= 1;
        if state.inside == 0 {
            self.all_left.notify_one();
        }
    }

    /// Works until no index is left. Panics are kept for the caller.
    fn work(&self) {
        let mut own = if self.takes_own { rayon::current_thread_index() } else { None };
        loop {
            let taken = self.state().take(own.take());
            let Some(index) = taken else { return };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.work)(index))) {
                let mut state = self.state();
                state.next = state.is_taken.len(); // the rest is not needed any more
                state.is_taken.fill(true);
                state.panics.push(panic);
                return;
            }
        }
    }

    /// Closes the work and waits until every thread has left. Returns the panics.
    fn close(&self) -> Vec<Box<dyn Any + Send>> {
        let mut state = self.state();
        state.is_closed = true;
        state.inside -= 1; // the caller
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
        std::mem::take(&mut state.panics)
    }
}

impl State {
    /// Takes the wanted index if it is left, else the next one.
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

    #[test]
    fn every_index_is_worked_on_once() {
        for count in [1, 2, 7, 100] {
            let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            for threads in [1, 2, 5, 200] {
                share(count, threads, threads == 5, &|index| {
                    done[index].fetch_add(1, Ordering::Relaxed);
                });
            }
            assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == 4));
        }
    }

    #[test]
    fn a_panic_comes_out_when_nobody_uses_what_is_borrowed_any_more() {
        for _ in 0..200 {
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
