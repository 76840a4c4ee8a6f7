//! The limit: parallel memcpy.

use std::hint::black_box;

use numeric_table::{Array, Error};

/// A pair of buffers for copying.
///
/// Both come from the library's allocator, like the buffers of our own contenders, so that large ones are in the same
/// kind of pages, which are huge if the machine has them. Both have been written before, so that all pages are mapped.
pub(crate) struct MemoryCopy {
    source: Array<u8>,
    target: Array<u8>,
}

impl MemoryCopy {
    /// Creates buffers for a copy that reads and writes `bytes` bytes in total. Each buffer has half of that size.
    pub(crate) fn moving(bytes: usize) -> Result<Self, Error> {
        let mut target = Array::full(bytes / 2, 1_u8)?;
        target.mutable_data()?.fill(2);
        Ok(Self { source: Array::full(bytes / 2, 3_u8)?, target })
    }

    /// Returns a function that copies `times` times, each time in `parts` equal parts in parallel.
    pub(crate) fn contender(&mut self, times: usize, parts: usize) -> Result<impl FnMut(), Error> {
        let (source, target) = (&self.source[..], self.target.mutable_data()?);
        let part = source.len().div_ceil(parts).max(1);
        Ok(move || {
            for _ in 0..times {
                copy(black_box(source), black_box(&mut *target), part);
            }
        })
    }
}

/// Returns the number of parts that keep every thread busy.
pub(crate) fn parallel_parts() -> usize {
    rayon::current_num_threads()
}

fn copy(source: &[u8], target: &mut [u8], part: usize) {
    if part < source.len() {
        return rayon::scope(|scope| {
            for (source, target) in source.chunks(part).zip(target.chunks_mut(part)) {
                scope.spawn(move |_| target.copy_from_slice(source));
            }
        });
    }
    source.chunks(part).zip(target.chunks_mut(part)).for_each(|(source, target)| target.copy_from_slice(source));
}
