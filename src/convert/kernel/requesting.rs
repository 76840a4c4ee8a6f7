//! Conversions that request values long before these are loaded.
//!
//! A processor fetches memory ahead by itself. While results stay in the second-level cache, Zen 4 fetches so few values
//! that a conversion takes twice as long as one with requests. Where results leave that cache, requests delay the
//! stores; and values that are in a cache are converted faster without (`benches/logs/rows-again.md`).

use std::ops::Range;

use super::pair::{Pair, typed};
use crate::base::cache::{BEYOND_CACHES, FIRST_LEVEL, LINE, SECOND_LEVEL, prefetch};
use crate::base::element::{Element, ElementType};
use crate::convert::ConversionPolicy;
use crate::convert::fast::To;
use crate::convert::level::Level;
use crate::window::{AnyRoom, AnySlice};

/// A loop over values that follow each other: the values, where to, and how many.
pub(super) type Contiguous = unsafe fn(Level, *const u8, *mut u8, usize);

/// The sizes in bytes of results whose values are requested.
pub(super) const RESULTS: Range<usize> = 8 << 10..(512 << 10) + 1;

/// The distances in bytes from values that are converted to those that are requested: into the second-level cache,
/// which may have more requests at a time, and into the first one.
pub(super) const FAR: usize = 8 << 10;
const NEAR: usize = 1 << 10;

/// Returns whether requests may save time, given the sizes in bytes of the results, and of the memory that has the
/// values: the results stay in the second-level cache, and the values do not.
#[inline(always)]
pub(super) fn may_save_time(result: usize, memory: impl FnOnce() -> usize) -> bool {
    RESULTS.contains(&result) && memory() >= BEYOND_CACHES // most calls are for a few values
}

impl Pair {
    /// Returns whether values are converted without a check, and in less time if they are requested, given the sizes in
    /// bytes of the results, and of the memory that has the values.
    #[inline(always)]
    pub(super) fn is_requested(&self, policy: ConversionPolicy, result: usize, memory: impl FnOnce() -> usize) -> bool {
        may_save_time(result, memory) && self.requesting.is_some() && !self.needs_check(policy)
    }

    /// Converts values, and meanwhile requests those behind them, a line or a few at a time: requests for many lines at
    /// once delay other accesses. The last requests are for memory behind all of them: that of the next block, most
    /// often. Panics if the types differ from those of the pair, or the lengths differ; callers have checked.
    #[inline(never)]
    pub(super) fn convert_requesting(&self, level: Level, values: AnySlice<'_>, mut room: AnyRoom<'_>) {
        /// The number of lines that are converted, and requested, at a time.
        const LINES: usize = 4;
        self.check_ends(values, &room);
        if let Some(convert) = self.requesting {
            // SAFETY: the types are those that the loop was compiled for, both addresses are aligned for them, and the
            // lengths are the same (`check_ends`). `room` is borrowed exclusively, so that they do not overlap.
            unsafe { convert(level, values.as_ptr(), room.as_mut_ptr(), values.len()) };
            return;
        }
        let (size, target_size) = (self.source.size_in_bytes(), self.target.size_in_bytes());
        let step = LINES * LINE / size;
        let (from, to) = (values.as_ptr(), room.as_mut_ptr());
        for start in (0..values.len()).step_by(step) {
            // SAFETY: the types are those that the loop was compiled for, both addresses are aligned for them, and both
            // sides have the elements from `start` on, as many as the count. `room` is borrowed exclusively, so that
            // they do not overlap.
            unsafe {
                let (from, to) = (from.add(start * size), to.add(start * target_size));
                prefetch::<SECOND_LEVEL>(from.wrapping_add(FAR), LINES * LINE);
                prefetch::<FIRST_LEVEL>(from.wrapping_add(NEAR), LINES * LINE);
                (self.convert)(level, from, to, step.min(values.len() - start));
            }
        }
    }
}

/// Returns the loop that requests a line of values when it converts another one, for the pairs that are limited by
/// memory: those from short values to floating-point numbers, which take few instructions.
pub(super) const fn loop_of<S: Element + To<D>, D: Element>() -> Option<Contiguous> {
    use ElementType::{F32, F64, I8, I16, I32, U8, U16, U32};
    match (S::TYPE, D::TYPE) {
        _ if cfg!(not(target_arch = "x86_64")) => None, // `prefetch` does nothing there
        (I8 | U8 | I16 | U16 | I32 | U32, F32) | (I8 | U8 | I16 | U16 | I32 | U32 | F32, F64) => Some(convert::<S, D>),
        _ => None,
    }
}

/// # Safety
/// `source` must be valid for reads of `count` values of `S`, and `target` for writes of `count` values of `D`; both
/// must be aligned, and must not overlap.
unsafe fn convert<S: Element + To<D>, D: Element>(level: Level, source: *const u8, target: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    let (values, room) = unsafe { typed::<S, D>(source, target, count) };
    level.run_with(values, room, |values, room| {
        let in_line = LINE / size_of::<S>();
        let (lines, rooms) = (values.chunks_exact(in_line), room.chunks_exact_mut(in_line));
        let rest = lines.remainder();
        let done = values.len() - rest.len();
        for (values, room) in lines.zip(rooms) {
            request(values);
            for (room, &value) in room.iter_mut().zip(values) {
                room.write(value.to());
            }
        }
        if !rest.is_empty() {
            request(rest);
        }
        for (room, &value) in room[done..].iter_mut().zip(rest) {
            room.write(value.to());
        }
    });
}

/// Requests the lines at both distances from the first of some values.
#[inline(always)]
fn request<S>(values: &[S]) {
    let start = values.as_ptr().cast::<u8>();
    prefetch::<SECOND_LEVEL>(start.wrapping_add(FAR), LINE);
    prefetch::<FIRST_LEVEL>(start.wrapping_add(NEAR), LINE);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn values_are_requested_from_large_memory_for_results_that_stay_in_a_cache() {
        let (pair, saturate) = (Pair::of(ElementType::F32, ElementType::F64), ConversionPolicy::Saturate);
        let is_requested = |result, memory| pair.is_requested(saturate, result, || memory);
        for result in [8 << 10, 512 << 10] {
            assert!(is_requested(result, BEYOND_CACHES) && !is_requested(result, BEYOND_CACHES - 1));
        }
        assert!(!is_requested((8 << 10) - 1, usize::MAX) && !is_requested((512 << 10) + 1, usize::MAX));
        for (source, target) in [(ElementType::F64, ElementType::F32), (ElementType::F32, ElementType::F32)] {
            assert!(!Pair::of(source, target).is_requested(saturate, 8 << 10, || usize::MAX), "{source} to {target}");
        }
        let pair = Pair::of(ElementType::I32, ElementType::F32);
        let is_requested = |policy| pair.is_requested(policy, 8 << 10, || usize::MAX);
        assert!(is_requested(ConversionPolicy::Checked) && !is_requested(ConversionPolicy::Exact));
    }
}
