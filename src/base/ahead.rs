//! Tasks whose results are delivered in order by the calling thread, while other threads work ahead of it.
//!
//! The caller takes pieces from the iterator, up to a given number ahead of the first missing result, and delivers each
//! result as soon as it is next. If no result is ready, the caller works on a piece itself. Helpers take the pieces
//! that wait and leave when there are none. The caller asks for helpers again with every piece that it adds. No barrier
//! makes all threads wait for each other. Only the caller ever waits, and only for a result that a thread is already
//! computing: see `crew`.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::crew::with_helpers;
use super::error::Result;

/// Calls `work` with every piece on up to `threads` threads, and `put` with the results on the calling thread, in the
/// order of the pieces. At most `window` pieces are in flight: taken, but not yet delivered.
///
/// # Errors
/// The error of the first piece in order for which `work` or `put` fails. A panic counts as a failure and is resumed
/// here. Nothing after that piece is delivered.
pub(super) fn in_order<P: Send, R: Send>(
    mut pieces: impl Iterator<Item = P>,
    threads: usize,
    window: usize,
    work: impl Fn(P) -> Result<R> + Sync,
    mut put: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let desk = Desk { state: Mutex::default(), is_next: Condvar::new() };
    let compute = |(place, piece): (usize, P)| {
        let result = catch_unwind(AssertUnwindSafe(|| work(piece)));
        desk.deposit(place, result);
    };
    let help = || {
        while let Some(task) = desk.take() {
            compute(task);
        }
    };
    let mut outcome = Ok(());
    with_helpers(threads.saturating_sub(1), &help, &mut |helpers| {
        let _clearing = Clearing(&desk);
        let mut may_have_more = true;
        let mut held = 0; // pieces that are taken and not put
        outcome = loop {
            while may_have_more && held < window.max(1) {
                match pieces.next() {
                    Some(piece) => desk.add(piece),
                    None => {
                        may_have_more = false;
                        break;
                    }
                }
                held += 1;
                helpers.ask(1);
            }
            match desk.next() {
                Next::Put(result) => {
                    held -= 1;
                    if let Err(error) = result.unwrap_or_else(|panic| resume_unwind(panic)).and_then(&mut put) {
                        break Err(error);
                    }
                }
                Next::Compute(task) => compute(task),
                Next::End => break Ok(()),
            }
        };
    });
    outcome
}

/// The waiting pieces and the results.
struct Desk<P, R> {
    state: Mutex<State<P, R>>,
    /// Signals that the next result is ready.
    is_next: Condvar,
}

struct State<P, R> {
    /// Pieces that no thread has begun, with their positions among all pieces.
    waiting: VecDeque<(usize, P)>,
    /// The results of the pieces in flight, which begin at position `first`.
    results: VecDeque<Option<Computed<R>>>,
    first: usize,
}

/// A result, or the payload of a panic in its computation.
type Computed<R> = thread::Result<Result<R>>;

/// The next action of the caller.
enum Next<P, R> {
    Put(Computed<R>),
    Compute((usize, P)),
    End,
}

impl<P, R> Default for State<P, R> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), results: VecDeque::new(), first: 0 }
    }
}

impl<P, R> Desk<P, R> {
    fn state(&self) -> MutexGuard<'_, State<P, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // nothing of the caller's runs while it is locked
    }

    fn add(&self, piece: P) {
        let mut state = self.state();
        let place = state.first + state.results.len();
        state.results.push_back(None);
        state.waiting.push_back((place, piece));
    }

    fn take(&self) -> Option<(usize, P)> {
        self.state().waiting.pop_front()
    }

    fn deposit(&self, place: usize, result: Computed<R>) {
        let mut state = self.state();
        let at = place - state.first; // it is not put yet
        state.results[at] = Some(result);
        if at == 0 {
            self.is_next.notify_one();
        }
    }

    /// Waits until the caller has something to do. Delivering a result takes precedence.
    fn next(&self) -> Next<P, R> {
        let mut state = self.state();
        loop {
            match state.results.front_mut().map(Option::take) {
                None => return Next::End,
                Some(Some(result)) => {
                    state.results.pop_front();
                    state.first += 1;
                    return Next::Put(result);
                }
                Some(None) => {}
            }
            if let Some(task) = state.waiting.pop_front() {
                return Next::Compute(task);
            }
            state = self.is_next.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Drops the waiting pieces, so that no more work begins, even if the caller unwinds.
struct Clearing<'a, P, R>(&'a Desk<P, R>);

impl<P, R> Drop for Clearing<'_, P, R> {
    fn drop(&mut self) {
        let rest = std::mem::take(&mut self.0.state().waiting);
        drop(rest); // while nothing is locked
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::base::error::{Error, ErrorKind};

    fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    fn refusal(index: usize) -> Error {
        Error::new(ErrorKind::LengthMismatch { expected: index, actual: 0 })
    }

    /// Work of varying duration.
    fn slow(index: usize) -> usize {
        (0..index * 7919 % 13).for_each(|_| thread::yield_now());
        index
    }

    #[test]
    fn results_are_put_in_order_and_no_more_are_held_than_may_be() {
        for (threads, window, count) in [(1, 1, 20), (2, 1, 20), (2, 3, 0), (2, 3, 200), (4, 2, 200), (4, 16, 500)] {
            let (taken, put) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let pieces = (0..count).inspect(|_| {
                let held = taken.fetch_add(1, Ordering::SeqCst) + 1 - put.load(Ordering::SeqCst);
                assert!(held <= window, "{held} of {window}");
            });
            let mut all = Vec::new();
            let caller = thread::current().id();
            let done = in_order(
                pieces,
                threads,
                window,
                |piece| Ok(slow(piece)),
                |piece| {
                    assert_eq!(thread::current().id(), caller);
                    put.fetch_add(1, Ordering::SeqCst);
                    all.push(piece);
                    Ok(())
                },
            );
            assert!(done.is_ok() && all.into_iter().eq(0..count));
        }
    }

    #[test]
    fn who_works_on_one_piece_does_not_hold_up_the_next_ones() {
        const WINDOW: usize = 4;
        in_pool(2, || {
            let caller = thread::current().id();
            let done: Vec<AtomicBool> = (0..100).map(|_| AtomicBool::new(false)).collect();
            let has_come = AtomicBool::new(false);
            let wait_for = |flag: &AtomicBool| {
                while !flag.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
            };
            let work = |index: usize| {
                if thread::current().id() == caller {
                    wait_for(&has_come);
                } else if !has_come.swap(true, Ordering::SeqCst) {
                    wait_for(&done[index + WINDOW - 1]); // the last one that may be taken before this one is put
                }
                done[index].store(true, Ordering::SeqCst);
                Ok(index)
            };
            let mut sum = 0;
            in_order(0..100, 2, WINDOW, work, |index| {
                sum += index;
                Ok(())
            })
            .unwrap();
            assert_eq!(sum, 4950);
        });
    }

    #[test]
    fn the_first_failure_in_order_is_that_of_the_call() {
        for _ in 0..100 {
            let mut put = 0;
            let work = |index: usize| match slow(index) {
                17 => Err(refusal(17)),
                18 => panic!("index 18"),
                19 => Err(refusal(19)),
                _ => Ok(index),
            };
            let found = in_order(0..1000, 4, 16, work, |_| {
                put += 1;
                Ok(())
            });
            assert!(
                found
                    .as_ref()
                    .is_err_and(|error| matches!(error.kind(), ErrorKind::LengthMismatch { expected: 17, .. }))
                    && put == 17
            );
            let refuse = |index: usize| if index == 5 { Err(refusal(index)) } else { Ok(()) };
            let found = in_order(0..1000, 4, 16, work, refuse);
            assert!(
                found
                    .as_ref()
                    .is_err_and(|error| matches!(error.kind(), ErrorKind::LengthMismatch { expected: 5, .. }))
            );
        }
    }

    #[test]
    fn a_panic_comes_out_wherever_it_happens_when_nobody_works_any_more() {
        for place in 0..3 {
            for _ in 0..50 {
                let inside = AtomicUsize::new(0);
                let stop = |at: usize, index: usize| assert!(at != place || index != 20, "stop at {index}");
                let thrown = catch_unwind(AssertUnwindSafe(|| {
                    let work = |index: usize| {
                        inside.fetch_add(1, Ordering::SeqCst);
                        slow(index);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        stop(0, index);
                        Ok(index)
                    };
                    let put = |index| {
                        stop(1, index);
                        Ok(())
                    };
                    in_order((0..100).inspect(|&index| stop(2, index)), 4, 8, work, put)
                }));
                assert!(thrown.unwrap_err().downcast_ref::<String>().unwrap().ends_with("stop at 20"));
                assert_eq!(inside.load(Ordering::SeqCst), 0);
            }
        }
    }

    #[test]
    fn calls_end_inside_of_each_other_and_of_tasks_of_rayon_in_pools_of_any_size() {
        use rayon::prelude::*;

        fn sum(depth: usize) -> usize {
            let mut all = 0;
            let work = |index: usize| match depth {
                0 => Ok(slow(index)),
                _ => Ok(sum(depth - 1) + (0..8).into_par_iter().map(slow).sum::<usize>()),
            };
            in_order(0..10, 4, 6, work, |found| {
                // Threads that wait for this run other tasks of the pool in the meantime, including tasks of this call.
                all += found + (0..8).into_par_iter().map(slow).sum::<usize>();
                Ok(())
            })
            .unwrap();
            all
        }
        let expected = [325, 10 * (325 + 28 + 28), 10 * (10 * (325 + 28 + 28) + 28 + 28)];
        for threads in [1, 2, 4] {
            in_pool(threads, || {
                (0..4_usize).into_par_iter().for_each(|i| assert_eq!(sum(i % 3), expected[i % 3]));
            });
        }
        assert_eq!(sum(1), expected[1]);
    }
}
