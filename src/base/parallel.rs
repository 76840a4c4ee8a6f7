//! The division of work into tasks. Only this module and `crew` use rayon.
//!
//! Work runs in the caller's pool (`ThreadPool::install`), never in a separate pool of the library, and loading the
//! library starts no threads. Every call finishes even if only its own thread works. `crew` describes how threads share
//! the work. Without the feature `rayon` everything runs on the calling thread. Results never depend on the number of
//! threads.

use std::cell::Cell;
#[cfg(feature = "rayon")]
use std::sync::OnceLock;
use std::sync::{Mutex, PoisonError};

use super::error::Result;
use super::range;

/// Work on fewer bytes than this, counting bytes read plus bytes written, stays on the calling thread.
///
/// Measured on 2 cores without the limit, `f32` to `f64`: called from outside the pool, two threads are slower than one
/// up to 2 MiB, equally fast at 3 MiB, and 1.4 times as fast at 6 MiB. (Called from a thread of the pool, they are
/// faster from 1 MiB on.) The bench `tables`, group `threads`, shows both sides of the limit. The unit tests go over a
/// smaller limit with every kind of work; the integration tests go over this one.
pub(crate) const MIN_BYTES: usize = if cfg!(test) { 1 << 20 } else { 4 << 20 };

/// The smallest size of a task in bytes.
const TASK_BYTES: usize = 256 << 10;

/// The number of tasks per thread: more than one, because some threads are slower than others.
const TASKS_PER_THREAD: usize = 4;

/// Pieces are cut at multiples of this number of elements: entire cache lines for any element type.
const LINE: usize = 64;

thread_local! {
    /// Whether this thread is inside [`serially`].
    static IS_SERIAL: Cell<bool> = const { Cell::new(false) };
}

/// Calls `work` and keeps all library calls inside it on this thread, regardless of their size.
pub fn serially<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IS_SERIAL.set(self.0);
        }
    }
    let _restore = Restore(IS_SERIAL.replace(true));
    work()
}

/// Returns the number of tasks for work on `bytes` bytes: one if dividing it does not pay, or if there is only one
/// thread.
pub fn task_count(bytes: usize) -> usize {
    if bytes < MIN_BYTES || IS_SERIAL.get() {
        return 1; // before asking rayon for its threads, which would start them
    }
    match threads() {
        1 => 1,
        threads => (threads * TASKS_PER_THREAD).min(bytes / TASK_BYTES),
    }
}

/// Returns the length of pieces, in entire cache lines, for cutting `length` elements into about `parts` pieces.
fn step_of(length: usize, parts: usize) -> usize {
    length.div_ceil(parts.max(1)).next_multiple_of(LINE).max(LINE)
}

/// Cuts `length` elements into about `parts` parts, from front to back. `split` cuts the rest in two after the given
/// number of elements.
pub(crate) fn cut<P>(whole: P, length: usize, parts: usize, split: impl FnMut(P, usize) -> (P, P)) -> Vec<P> {
    cut_by(whole, length, step_of(length, parts), split)
}

/// Cuts `length` elements into parts of `step` elements, from front to back. `split` cuts the rest in two after the given
/// number of elements. A step of zero counts as one.
pub(crate) fn cut_by<P>(whole: P, length: usize, step: usize, mut split: impl FnMut(P, usize) -> (P, P)) -> Vec<P> {
    let (mut pieces, mut rest) = (Vec::with_capacity(length.div_ceil(step.max(1))), whole);
    for piece in range::cut(0..length, step) {
        let (piece, tail) = split(rest, piece.len());
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// Returns the number of rows of each part when `length` rows are cut into at most `tasks` parts. It is a multiple of
/// `height` if there are several tasks, and at least `height` rows for each thread.
pub(crate) fn step_of_height(height: usize, length: usize, tasks: usize) -> usize {
    match tasks > 1 && length / height >= threads() {
        true => length.div_ceil(tasks).next_multiple_of(height),
        false => step_of(length, tasks),
    }
}

/// Returns the number of threads in the caller's pool, or in the global one. Returns one, for the caller, if the system
/// refuses to start the threads of the global pool, and in a fork of the process that started them.
#[cfg(feature = "rayon")]
fn threads() -> usize {
    /// The process that has the global pool, if there is one. A fork of it has none of its threads.
    static GLOBAL_POOL: OnceLock<Option<u32>> = OnceLock::new();
    if rayon::current_thread_index().is_some() {
        return rayon::current_num_threads();
    }
    let process = *GLOBAL_POOL.get_or_init(|| {
        let has_pool = match rayon::ThreadPoolBuilder::new().build_global() {
            Ok(()) => true,
            Err(error) => std::error::Error::source(&error).is_none(), // it was built before
        };
        has_pool.then(std::process::id)
    });
    if process == Some(std::process::id()) { rayon::current_num_threads() } else { 1 }
}

#[cfg(not(feature = "rayon"))]
fn threads() -> usize {
    1
}

/// Calls `work` on every piece, in parallel if there are several. The results are in the order of the pieces.
pub fn map<P: Send, R: Send>(pieces: Vec<P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    map_on(false, pieces, &work)
}

/// Like [`map`], but with `takes_own`, a thread of the pool begins with the piece of its own number.
///
/// Compiled for each type of pieces and results, not for each kind of work: `work` is a `dyn Fn`, and loops fill the
/// lists, because `collect` would be compiled again each time.
#[inline(never)]
fn map_on<P: Send, R: Send>(takes_own: bool, pieces: Vec<P>, work: &(dyn Fn(P) -> R + Sync)) -> Vec<R> {
    let mut results = Vec::with_capacity(pieces.len());
    if pieces.len() < 2 || IS_SERIAL.get() {
        for piece in pieces {
            results.push(work(piece));
        }
        return results;
    }
    let mut slots = Vec::with_capacity(pieces.len());
    for piece in pieces {
        slots.push(Mutex::new((Some(piece), None)));
    }
    let slot = |index: usize| slots[index].lock().unwrap_or_else(PoisonError::into_inner);
    call(slots.len(), takes_own, &|index| {
        let piece = slot(index).0.take();
        let result = piece.map(work);
        slot(index).1 = result;
    });
    for slot in slots {
        // Every slot has a result: a panic of the work does not reach this point.
        if let Some(result) = slot.into_inner().unwrap_or_else(PoisonError::into_inner).1 {
            results.push(result);
        }
    }
    results
}

/// Calls `work` with every index below `count`, in parallel if there are several threads. Callers have checked whether
/// work is serial.
fn call(count: usize, takes_own: bool, work: &(dyn Fn(usize) + Sync)) {
    match threads() {
        1 => (0..count).for_each(work),
        threads => share(count, threads, takes_own, work),
    }
}

#[cfg(feature = "rayon")]
use super::crew::share;

/// Calls `work` with every index on the calling thread, which is the only one.
#[cfg(not(feature = "rayon"))]
fn share(count: usize, _threads: usize, _takes_own: bool, work: &dyn Fn(usize)) {
    (0..count).for_each(work);
}

/// Calls `work(offset, chunk)` for consecutive chunks that together make up `values`, in parallel if that pays.
pub fn for_each_chunk_mut<T: Send>(values: &mut [T], work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let tasks = task_count(size_of_val(values).saturating_mul(2)); // what is written is usually read as well
    if tasks == 1 {
        return work(0, values);
    }
    let (length, mut chunks) = (step_of(values.len(), tasks), Vec::with_capacity(tasks));
    for chunk in values.chunks_mut(length) {
        chunks.push(Mutex::new(chunk));
    }
    call(chunks.len(), false, &|index| {
        work(index * length, &mut chunks[index].lock().unwrap_or_else(PoisonError::into_inner));
    });
}

/// Returns the number of items per thread when `items` items, work on `bytes` bytes, are divided among the threads once
/// and for all. Returns all items if that does not pay.
pub fn fixed_share(items: usize, bytes: usize) -> usize {
    let share = items.div_ceil(if task_count(bytes) > 1 { threads() } else { 1 });
    // Whole cache lines, if there are many.
    if share < LINE { share } else { share.checked_next_multiple_of(LINE).unwrap_or(items) }
}

/// Calls `work` on every piece. Piece `i` goes to thread `i` if that thread is idle, so memory stays with the thread
/// that touched it first. Inside, all work is serial. The results are in the order of the pieces.
pub fn map_fixed<P: Send, R: Send>(pieces: Vec<P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    map_on(true, pieces, &|piece| serially(|| work(piece)))
}

/// Calls `work` with every piece, in parallel if that pays for work on `bytes` bytes. Calls `put` with the results on
/// the calling thread, in the order of the pieces. At most `at_once` pieces are in flight, or fewer if that keeps the
/// threads busy.
///
/// # Errors
/// The error of the first piece in order for which `work` or `put` fails. Nothing after that piece is delivered.
pub fn in_order<P: Send, R: Send>(
    pieces: impl Iterator<Item = P>,
    bytes: usize,
    at_once: usize,
    work: impl Fn(P) -> Result<R> + Sync,
    put: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let threads = if at_once < 2 || task_count(bytes) == 1 { 1 } else { threads() };
    match threads {
        1 => one_by_one(pieces, work, put),
        _ => ahead(pieces, threads, at_once.min(threads.saturating_mul(TASKS_PER_THREAD)), work, put),
    }
}

/// Does the same as [`in_order`] on the calling thread alone.
fn one_by_one<P, R>(
    mut pieces: impl Iterator<Item = P>,
    work: impl Fn(P) -> Result<R>,
    mut put: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    pieces.try_for_each(|piece| put(work(piece)?))
}

#[cfg(feature = "rayon")]
use super::ahead::in_order as ahead;

/// Processes the pieces one by one, because only this thread exists.
#[cfg(not(feature = "rayon"))]
fn ahead<P, R>(
    pieces: impl Iterator<Item = P>,
    _threads: usize,
    _window: usize,
    work: impl Fn(P) -> Result<R>,
    put: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    one_by_one(pieces, work, put)
}

#[cfg(feature = "rayon")]
pub(crate) use pieces::{Pieces, map_indices, map_pieces, try_for_each_piece};
#[cfg(feature = "rayon")]
pub(crate) use rayon::iter::IndexedParallelIterator;

#[cfg(feature = "rayon")]
mod pieces {
    use rayon::iter::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};
    use rayon::prelude::*;

    use crate::base::trace::TraceContext;

    /// Something that can be cut in two at a piece boundary, down to single pieces.
    pub(crate) trait Pieces: Send + Sized {
        fn piece_count(&self) -> usize;
        /// Returns the first `pieces` pieces and the rest.
        fn split_at(self, pieces: usize) -> (Self, Self);
    }

    /// Computes `make(index)` for every index below `count`, in parallel.
    pub(crate) fn map_indices<I: Send>(
        count: usize,
        make: impl Fn(usize) -> I + Sync + Send,
    ) -> impl IndexedParallelIterator<Item = I> {
        let traces = TraceContext::current();
        Measured((0..count).into_par_iter().map(move |index| traces.run(|| make(index))))
    }

    /// Computes `make(piece)` for every single piece, in parallel. Pieces are cut only when tasks take them.
    pub(crate) fn map_pieces<P: Pieces, I: Send>(
        pieces: P,
        make: impl Fn(P) -> I + Sync + Send,
    ) -> impl IndexedParallelIterator<Item = I> {
        let traces = TraceContext::current();
        Measured(ParallelPieces { pieces }.map(move |piece| traces.run(|| make(piece))))
    }

    /// Calls `work` on every single piece, in parallel. When all are done, returns the first error in the order of the
    /// pieces.
    pub(crate) fn try_for_each_piece<P: Pieces, E: Send>(
        pieces: P,
        work: impl Fn(P) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let runs = super::threads().saturating_mul(super::TASKS_PER_THREAD).clamp(1, pieces.piece_count().max(1));
        let step = pieces.piece_count().div_ceil(runs);
        let (mut all, mut rest) = (Vec::with_capacity(runs), pieces);
        while rest.piece_count() > step {
            let (run, tail) = rest.split_at(step);
            all.push(run);
            rest = tail;
        }
        all.push(rest);
        let outcomes = super::map(all, |mut run| {
            let mut outcome = Ok(());
            while run.piece_count() > 0 {
                let (piece, tail) = run.split_at(1);
                outcome = outcome.and(work(piece));
                run = tail;
            }
            outcome
        });
        outcomes.into_iter().fold(Ok(()), Result::and)
    }

    /// An iterator that counts its items without computing them.
    struct Measured<I>(I);

    impl<I: IndexedParallelIterator> ParallelIterator for Measured<I> {
        type Item = I::Item;

        fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
            self.0.drive_unindexed(consumer)
        }

        fn opt_len(&self) -> Option<usize> {
            self.0.opt_len()
        }

        fn count(self) -> usize {
            self.0.len()
        }
    }

    impl<I: IndexedParallelIterator> IndexedParallelIterator for Measured<I> {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn drive<C: Consumer<I::Item>>(self, consumer: C) -> C::Result {
            self.0.drive(consumer)
        }

        fn with_producer<CB: ProducerCallback<I::Item>>(self, callback: CB) -> CB::Output {
            self.0.with_producer(callback)
        }
    }

    struct ParallelPieces<P> {
        pieces: P,
    }

    impl<P: Pieces> ParallelIterator for ParallelPieces<P> {
        type Item = P;

        fn drive_unindexed<C: UnindexedConsumer<P>>(self, consumer: C) -> C::Result {
            bridge(self, consumer)
        }

        fn opt_len(&self) -> Option<usize> {
            Some(self.pieces.piece_count())
        }
    }

    impl<P: Pieces> IndexedParallelIterator for ParallelPieces<P> {
        fn len(&self) -> usize {
            self.pieces.piece_count()
        }

        fn drive<C: Consumer<P>>(self, consumer: C) -> C::Result {
            bridge(self, consumer)
        }

        fn with_producer<CB: ProducerCallback<P>>(self, callback: CB) -> CB::Output {
            callback.callback(PiecesProducer { pieces: Some(self.pieces) })
        }
    }

    struct PiecesProducer<P> {
        pieces: Option<P>,
    }

    impl<P: Pieces> Producer for PiecesProducer<P> {
        type Item = P;
        type IntoIter = Self;

        fn into_iter(self) -> Self {
            self
        }

        fn split_at(self, index: usize) -> (Self, Self) {
            match self.pieces {
                None => (Self { pieces: None }, Self { pieces: None }),
                Some(pieces) => {
                    let (head, tail) = pieces.split_at(index);
                    (Self { pieces: Some(head) }, Self { pieces: Some(tail) })
                }
            }
        }
    }

    impl<P: Pieces> Iterator for PiecesProducer<P> {
        type Item = P;

        fn next(&mut self) -> Option<P> {
            let pieces = self.pieces.take()?;
            match pieces.piece_count() {
                0 => None,
                1 => Some(pieces),
                _ => {
                    let (head, tail) = pieces.split_at(1);
                    self.pieces = Some(tail);
                    Some(head)
                }
            }
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            let count = self.pieces.as_ref().map_or(0, P::piece_count);
            (count, Some(count))
        }
    }

    impl<P: Pieces> ExactSizeIterator for PiecesProducer<P> {}

    impl<P: Pieces> DoubleEndedIterator for PiecesProducer<P> {
        fn next_back(&mut self) -> Option<P> {
            let pieces = self.pieces.take()?;
            match pieces.piece_count() {
                0 => None,
                1 => Some(pieces),
                count => {
                    let (head, tail) = pieces.split_at(count - 1);
                    self.pieces = Some(head);
                    Some(tail)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[test]
    fn parts_have_whole_heights_if_there_is_one_for_each_thread() {
        let lengths = |length: usize, tasks: usize| {
            let step = step_of_height(128, length, tasks);
            let parts = cut_by(0..length, length, step, |rest: Range<usize>, count| {
                let middle = rest.start + count;
                (rest.start..middle, middle..rest.end)
            });
            assert!(parts.len() <= tasks);
            parts.into_iter().map(|part| part.len()).collect::<Vec<_>>()
        };
        let many = 128 * threads();
        let parts = lengths(many + 8, 4 * threads());
        assert_eq!((parts[0], parts.len(), parts[parts.len() - 1]), (128, threads() + 1, 8));
        assert!(lengths(4 * many, 3 * threads()).iter().all(|length| length % 128 == 0));
        assert_eq!(lengths(many + 8, 1), [many + 8]);
        assert_eq!(lengths(100, 1), [100]);
        assert!(lengths(0, 4).is_empty());
        let few = 128 * threads() - 1; // less than a height for each thread
        assert_eq!(lengths(few, 4 * threads())[0], 64);
        let tasks = 4 * threads();
        assert_eq!(lengths(128_000 * tasks + 1, tasks)[0], 128_128, "a multiple of 128, not of a line alone");
    }
}
