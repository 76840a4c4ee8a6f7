//! Pieces of work that the threads of a pool share: as many of them as have time, none of them needed.
//!
//! Who holds a lock and waits as rayon waits, takes up any other task of the pool meanwhile: one that wants the same lock
//! then never ends. So a caller that is itself a thread of the pool works until no piece is left that nobody has begun, and
//! then rests until those are done that others have. Calls of other threads that come later find nothing to do.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::First;

/// A caller that waits looks so many times before it sleeps between two looks.
const LOOKS_BEFORE_SLEEP: usize = 64;
const SLEEP: Duration = Duration::from_micros(100);
/// Times that a caller yields to threads that have nothing left to do but to leave.
const YIELDS_TO_LEAVERS: usize = 8;

/// Works on every piece, on as many threads as come, at most so many; results are in the order of the pieces.
pub(super) fn share<P: Send, R: Send>(
    pieces: Vec<P>,
    first: First,
    threads: usize,
    work: &(impl Fn(P) -> R + Sync),
) -> Vec<R> {
    let desk = Desk::new(pieces);
    let is_in_pool = rayon::current_thread_index().is_some();
    let helpers = threads.min(desk.count) - usize::from(is_in_pool);
    rayon::in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| {
                desk.work(first, work);
            });
        }
        if is_in_pool {
            let own = catch_unwind(AssertUnwindSafe(|| desk.work(first, work)));
            if !matches!(own, Ok(done) if done == desk.count) {
                desk.wait();
            }
            if let Err(panic) = own {
                resume_unwind(panic);
            }
        } // else the scope waits, and a thread that is in no pool takes up nothing meanwhile
    });
    desk.into_results()
}

/// Where pieces lie until somebody takes them, and results afterwards.
struct Desk<P, R> {
    count: usize,
    state: Mutex<State<P, R>>,
}

struct State<P, R> {
    pieces: Vec<Option<P>>,
    /// No piece before this one is left.
    next: usize,
    results: Vec<Option<R>>,
    /// Pieces that are done, or whose work has panicked.
    done: usize,
}

impl<P, R> Desk<P, R> {
    fn new(pieces: Vec<P>) -> Self {
        let count = pieces.len();
        let pieces = pieces.into_iter().map(Some).collect();
        let results = (0..count).map(|_| None).collect();
        Self { count, state: Mutex::new(State { pieces, next: 0, results, done: 0 }) }
    }

    fn state(&self) -> MutexGuard<'_, State<P, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // no piece is worked on while it is locked
    }

    /// Works on pieces until none is left; the number of them.
    fn work(&self, first: First, work: &impl Fn(P) -> R) -> usize {
        let mut wanted = match first {
            First::Next => None,
            First::Own => rayon::current_thread_index(),
        };
        let mut done = 0;
        loop {
            let taken = self.state().take(wanted.take());
            let Some((index, piece)) = taken else { return done };
            let result = catch_unwind(AssertUnwindSafe(|| work(piece)));
            done += 1;
            let mut state = self.state();
            state.done += 1;
            match result {
                Ok(result) => state.results[index] = Some(result),
                Err(panic) => {
                    let left = state.take_all();
                    state.done += left.len();
                    drop(state);
                    resume_unwind(panic); // the scope hands it to the caller
                }
            }
        }
    }

    /// Waits until all pieces are done that others have begun. None is left that nobody has.
    ///
    /// Looks, and is not woken: who wakes another is often put aside for it, and would be still there when the scope ends.
    fn wait(&self) {
        for look in 0.. {
            if self.state().done == self.count {
                break;
            }
            if look < LOOKS_BEFORE_SLEEP { thread::yield_now() } else { thread::sleep(SLEEP) }
        }
        (0..YIELDS_TO_LEAVERS).for_each(|_| thread::yield_now());
    }

    fn into_results(self) -> Vec<R> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.results.into_iter().flatten().collect() // all of them: a panic does not come here
    }
}

impl<P, R> State<P, R> {
    /// Takes the wanted piece if it is there, else the next one.
    fn take(&mut self, wanted: Option<usize>) -> Option<(usize, P)> {
        if let Some(index) = wanted
            && let Some(piece) = self.pieces.get_mut(index).and_then(Option::take)
        {
            return Some((index, piece));
        }
        while let Some(slot) = self.pieces.get_mut(self.next) {
            self.next += 1;
            if let Some(piece) = slot.take() {
                return Some((self.next - 1, piece));
            }
        }
        None
    }

    /// Takes all pieces that are left: nobody needs their results any more.
    fn take_all(&mut self) -> Vec<P> {
        self.pieces.iter_mut().filter_map(Option::take).collect()
    }
}
