//! The limits of the machine: copying, writing or reading the same number of bytes with the same number of threads.
//!
//! A copy reads and writes its length, so the limit of a conversion is a copy of half its bytes. A conversion that
//! widens values from memory into a cached block can be faster than that, since it reads less than half.

use numeric_table::prelude::*;

use crate::support::{values_mut, written};

/// The number of threads of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    One,
    /// All threads of the rayon pool.
    All,
}

impl Threads {
    /// Returns the threads that the library uses to read and write `bytes` in all.
    pub(crate) fn for_bytes(bytes: usize) -> Self {
        if bytes < 4 << 20 { Self::One } else { Self::All }
    }

    /// Returns the number of bytes per thread.
    fn share(self, bytes: usize) -> usize {
        let threads = if self == Self::One { 1 } else { rayon::current_num_threads() };
        bytes.div_ceil(threads).next_multiple_of(64).max(64)
    }
}

/// Copies.
pub(crate) fn memcpy(source: &[u8], target: &mut [u8], threads: Threads) {
    use rayon::prelude::*;
    if threads == Threads::One {
        return target.copy_from_slice(source);
    }
    let share = threads.share(source.len());
    let copy = |(target, source): (&mut [u8], &[u8])| target.copy_from_slice(source);
    target.par_chunks_mut(share).zip(source.par_chunks(share)).for_each(copy);
}

/// Copies into newly allocated memory.
pub(crate) fn memcpy_fresh(source: &[u8], threads: Threads) -> Array<u8> {
    let mut target = Array::zeros(source.len()).expect("there is memory"); // large memory is not touched yet
    memcpy(source, values_mut(&mut target), threads);
    target
}

/// Writes.
pub(crate) fn write(target: &mut [u8], threads: Threads) {
    use rayon::prelude::*;
    if threads == Threads::One {
        return target.fill(1);
    }
    target.par_chunks_mut(threads.share(target.len())).for_each(|target| target.fill(1));
}

/// Only reads: returns the sum of the words.
pub(crate) fn read(source: &[u64], threads: Threads) -> u64 {
    use rayon::prelude::*;
    if threads == Threads::One {
        return sum(source);
    }
    source.par_chunks(threads.share(size_of_val(source)) / 8).map(sum).reduce(|| 0, u64::wrapping_add)
}

fn sum(source: &[u64]) -> u64 {
    source.iter().fold(0, |sum, &word| sum.wrapping_add(word))
}

/// Two buffers to copy between, whose total size is the number of bytes that a conversion reads and writes.
pub(crate) struct Copied {
    pub(crate) source: Array<u8>,
    pub(crate) target: Array<u8>,
    pub(crate) threads: Threads,
}

impl Copied {
    /// Creates buffers for a conversion of `values` values from `S` to `D`.
    pub(crate) fn like<S: Element, D: Element>(values: usize) -> Self {
        Self::in_blocks::<S, D>(values, values)
    }

    /// Creates buffers for a conversion of `values` values from `S` to `D` in blocks that reuse memory for `block`
    /// values.
    pub(crate) fn in_blocks<S: Element, D: Element>(values: usize, block: usize) -> Self {
        let half = |values: usize| (values * (size_of::<S>() + size_of::<D>()) / 2).max(1);
        let threads = Threads::for_bytes(block * (size_of::<S>() + size_of::<D>()));
        Self { source: written(half(values)), target: written(half(block)), threads }
    }

    /// Copies everything, in blocks.
    pub(crate) fn copy(&mut self) {
        let target = values_mut(&mut self.target);
        for source in self.source.chunks(target.len()) {
            memcpy(source, &mut target[..source.len()], self.threads);
            std::hint::black_box(&mut *target);
        }
    }

    /// Copies everything into newly allocated memory.
    pub(crate) fn copy_fresh(&self) -> Array<u8> {
        memcpy_fresh(&self.source, self.threads)
    }
}
