//! Storing the results of conversions through the cache or past it.

use super::pair::Pair;
use super::tiles::Scratch;
use crate::array::stream;
use crate::base::cache::LINE;
use crate::convert::ConversionPolicy;
use crate::convert::level::Level;
use crate::window::{AnyRoom, AnyRows, AnySlice, Geometry};

/// Transposed results of at least this size in bytes are stored past the cache if their rows are at least
/// [`LONG_ROW_BYTES`] long. Unit tests have a smaller limit, which unoptimized code reaches in a second.
pub(super) const STREAMING_BYTES: usize = if cfg!(test) { 4 << 20 } else { 32 << 20 };

/// A transposed result is written to many places in turn. If its rows are at least this long, each place is in a
/// separate page, and its data has left the cache before the next tile returns to it. Storing past the cache is then
/// faster by a sixth (bench `peers`, job `transpose`). For a result that is written sequentially it is slower by a
/// third.
const LONG_ROW_BYTES: usize = 64 << 10;

/// The number of values that are converted and checked at a time, while they are in the first-level cache.
const CHECK_CHUNK: usize = 1024;

/// Rows of fewer elements than this are converted together and then copied to the target.
const NARROW: usize = 8;

/// How the values of one call are converted and stored.
pub(super) struct Store<'p> {
    pub(super) pair: &'p Pair,
    pub(super) policy: ConversionPolicy,
    pub(super) level: Level,
    pub(super) is_streaming: bool,
}

impl Store<'_> {
    /// Returns whether to store a window's result of `result_bytes` bytes past the cache.
    pub(super) fn is_worth_streaming(window: Geometry, result_bytes: usize) -> bool {
        let is_transposed = window.rows > 1 && window.column_stride != 1;
        let has_long_rows = result_bytes / window.rows.max(1) >= LONG_ROW_BYTES;
        cfg!(target_arch = "x86_64") && is_transposed && has_long_rows && result_bytes >= STREAMING_BYTES
    }

    /// Returns whether a window of few columns is best converted value by value, without a pass through the cache.
    pub(super) fn is_by_value(&self, window: Geometry) -> bool {
        let is_narrow = window.columns < NARROW && !self.is_streaming;
        is_narrow && self.policy == ConversionPolicy::Saturate && self.pair.is_simple()
    }

    /// Converts values into consecutive rows with the same number of elements. Returns whether the policy permits every
    /// value.
    pub(super) fn put_rows(&self, values: AnySlice<'_>, rows: &mut AnyRows<'_>) -> bool {
        if rows.is_contiguous() {
            return self.put(values, rows.reborrow().into_room());
        }
        let columns = rows.columns();
        if columns < NARROW {
            return self.put_narrow(values, rows);
        }
        if self.policy == ConversionPolicy::Saturate && !self.is_streaming {
            self.pair.convert_rows(self.level, values, rows);
            return true;
        }
        let mut fits = true;
        for row in 0..rows.rows() {
            fits &= self.put(values.range(row * columns..(row + 1) * columns), rows.row(row));
        }
        fits
    }

    /// Like [`put_rows`](Self::put_rows), for rows that are too short to be converted one by one.
    fn put_narrow(&self, values: AnySlice<'_>, rows: &mut AnyRows<'_>) -> bool {
        let (columns, mut scratch, mut fits) = (rows.columns().max(1), Scratch::new(), true);
        let step = Scratch::capacity(rows.element_type()) / columns;
        for first in (0..rows.rows()).step_by(step) {
            let part = first..rows.rows().min(first + step);
            let values = values.range(part.start * columns..part.end * columns);
            let mut converted = scratch.room(rows.element_type(), values.len());
            fits &= self.put_in_cache(values, converted.reborrow());
            // SAFETY: `put_in_cache` has written every element.
            rows.cut(part, 0..columns).copy_from_slice(unsafe { converted.assume_init() });
        }
        fits
    }

    /// Converts values into memory for the same number of elements. Returns whether the policy permits every value.
    pub(super) fn put(&self, values: AnySlice<'_>, room: AnyRoom<'_>) -> bool {
        if !self.is_streaming || room.size_in_bytes() < 2 * LINE {
            return self.put_in_cache(values, room);
        }
        let size = room.element_type().size_in_bytes();
        let head = room.bytes_to_boundary(LINE) / size;
        let body = (room.len() - head) / (LINE / size) * (LINE / size);
        let (head_room, rest) = room.split_at(head);
        let (mut body_room, tail_room) = rest.split_at(body);
        let mut fits = self.put_in_cache(values.range(0..head), head_room);
        let mut scratch = Scratch::new();
        let chunk = Scratch::capacity(body_room.element_type());
        let mut done = 0;
        while done < body {
            let count = chunk.min(body - done);
            let mut converted = scratch.room(body_room.element_type(), count);
            fits &= self.put_in_cache(values.range(head + done..head + done + count), converted.reborrow());
            let (now, later) = body_room.split_at(count);
            // SAFETY: `put_in_cache` has written every element.
            stream(unsafe { converted.assume_init() }, now);
            body_room = later;
            done += count;
        }
        fits &= self.put_in_cache(values.range(head + body..values.len()), tail_room);
        fits
    }

    fn put_in_cache(&self, values: AnySlice<'_>, mut room: AnyRoom<'_>) -> bool {
        if self.policy == ConversionPolicy::Saturate {
            self.pair.convert(self.level, values, room);
            return true;
        }
        let mut fits = true;
        for start in (0..values.len()).step_by(CHECK_CHUNK) {
            let values = values.range(start..values.len().min(start + CHECK_CHUNK));
            let (now, later) = room.split_at(values.len());
            fits &= self.pair.convert_checked(self.level, self.policy, values, now);
            room = later;
        }
        fits
    }

    /// Orders the stores past the cache before later stores, as other threads see them.
    pub(super) fn finish(&self) {
        if self.is_streaming {
            stream::fence();
        }
    }
}

/// Copies entire cache lines past the cache. Panics if the types or lengths differ, or the target does not consist of
/// entire lines; callers have cut them.
fn stream(values: AnySlice<'_>, mut room: AnyRoom<'_>) {
    let bytes = room.size_in_bytes();
    assert!(values.element_type() == room.element_type() && values.len() == room.len(), "as many elements as values");
    assert!(bytes.is_multiple_of(LINE) && room.bytes_to_boundary(LINE) == 0, "whole lines");
    // SAFETY: both sides have `bytes` bytes, entire lines, and a mutable borrow overlaps with no other; the target is
    // aligned to a line. It is accessed after `finish`.
    unsafe { stream::copy_lines(values.as_ptr(), room.as_mut_ptr(), bytes) };
}
