//! Cutting work into tasks; the only file that names rayon.
//!
//! Work runs in the caller's pool (`ThreadPool::install`), never in one of our own, and nothing is started at load.
//! Without the feature `rayon` everything runs on the calling thread. Results never depend on the number of threads.

/// Work on fewer bytes than this stays on the calling thread.
#[cfg(feature = "rayon")]
const PARALLEL_BYTES: usize = 4 << 20;

/// No task gets fewer bytes than this.
#[cfg(feature = "rayon")]
const TASK_BYTES: usize = 256 << 10;

/// Calls `work(offset, chunk)` for consecutive chunks that together are `values`, several at a time if that pays.
#[cfg(feature = "rayon")]
pub(crate) fn for_each_chunk_mut<T: Send>(values: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    if size_of_val(values) < PARALLEL_BYTES {
        return work(0, values); // before rayon is asked anything: asking starts its threads
    }
    share_out(values, &work);
}

/// Compiled once per `T`, and not once per closure.
#[cfg(feature = "rayon")]
fn share_out<T: Send>(values: &mut [T], work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    use rayon::prelude::*;
    let threads = rayon::current_num_threads();
    if threads <= 1 {
        return work(0, values);
    }
    let least = (TASK_BYTES / size_of::<T>().max(1)).max(1);
    let chunk = values.len().div_ceil(threads * 4).max(least);
    values.par_chunks_mut(chunk).enumerate().for_each(|(index, values)| work(index * chunk, values));
}

/// Calls `work(0, values)`: without the feature `rayon` all work stays on the calling thread.
#[cfg(not(feature = "rayon"))]
pub(crate) fn for_each_chunk_mut<T: Send>(values: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    work(0, values);
}

#[cfg(feature = "rayon")]
pub(crate) use pieces::{Pieces, map_indices, map_pieces};
#[cfg(feature = "rayon")]
pub(crate) use rayon::iter::IndexedParallelIterator;

#[cfg(feature = "rayon")]
mod pieces {
    use rayon::iter::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};
    use rayon::prelude::*;

    /// Something that can be cut in two at a piece boundary, down to single pieces.
    pub(crate) trait Pieces: Send + Sized {
        fn piece_count(&self) -> usize;
        /// The first `pieces` pieces and the rest.
        fn split_at(self, pieces: usize) -> (Self, Self);
    }

    /// Produces `make(index)` for every index below `count`, in parallel.
    pub(crate) fn map_indices<I: Send>(
        count: usize,
        make: impl Fn(usize) -> I + Sync + Send,
    ) -> impl IndexedParallelIterator<Item = I> {
        (0..count).into_par_iter().map(make)
    }

    /// Produces `make(piece)` for every single piece, in parallel; nothing is cut before a task asks for it.
    pub(crate) fn map_pieces<P: Pieces, I: Send>(
        pieces: P,
        make: impl Fn(P) -> I + Sync + Send,
    ) -> impl IndexedParallelIterator<Item = I> {
        ParallelPieces { pieces }.map(make)
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
