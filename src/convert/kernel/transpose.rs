//! Transposition in tiles that fit in registers, and columns in separate memory that it combines into rows.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::tiles::Scratch;
use crate::base::cache::LINE;
use crate::base::element::{ElementType, match_width};
#[cfg(target_arch = "x86_64")]
use crate::convert::level::Level;
use crate::window::{AnyRows, AnySlice};

/// An integer with the width of an element, and its tiles.
pub(super) trait Transposable: Copy {
    /// The tile for every machine.
    type BaselineTile: RegisterTile<Element = Self>;
    /// The tile for AVX2. Where AVX2 gains nothing, it is the same one.
    #[cfg(target_arch = "x86_64")]
    type Avx2Tile: RegisterTile<Element = Self>;
}

/// The transposition of a few elements of a few lines.
pub(super) trait RegisterTile {
    /// The elements.
    type Element: Copy;
    /// The number of elements of each line. A cache line holds a multiple of it.
    const LENGTH: usize;
    /// The number of lines.
    const LINES: usize;

    /// Transposes `LINES` lines of `LENGTH` elements.
    ///
    /// # Safety
    /// `line` must return addresses that are valid for reads of `LENGTH` elements, for the numbers below `LINES`. `to`
    /// must be valid for writes of `LINES` elements at each of the first `LENGTH` multiples of `to_stride`. All must be
    /// aligned, and what is read and what is written must not overlap. The machine must have the instructions.
    unsafe fn transpose(line: impl Fn(usize) -> *const Self::Element, to: *mut Self::Element, to_stride: usize);
}

/// Rows of the target that are at least this many bytes apart are written a few at a time. Many of them would be in the
/// same set of the first-level cache.
const FAR: usize = 1 << 10;

/// The number of rows of the target that are written at a time if tiles of two kinds write a part of each.
const BAND: usize = 64;

/// Transposes `lines` lines of `length` elements: element `i` of line `j` is copied to element `j` of line `i`.
///
/// # Safety
/// For the numbers below `lines`, `line` must return addresses that are valid for reads of `length` elements. `to` must
/// be valid for writes of `lines` elements at each of the first `length` multiples of `to_stride`. All must be aligned,
/// and what is read and what is written must not overlap.
#[inline(always)]
pub(super) unsafe fn transpose<B: Transposable>(
    line: impl Fn(usize) -> *const B,
    to: *mut B,
    to_stride: usize,
    length: usize,
    lines: usize,
) {
    let first = lines_for_avx2::<B>(length, lines);
    let height = if first == 0 || first == lines { length.max(1) } else { BAND };
    for start in (0..length).step_by(height) {
        let here = height.min(length - start);
        // SAFETY: `start + here` is at most `length`, and `first` at most `lines`: the elements of both calls are those
        // of the caller's promise. There are lines for AVX2 only if the level has it, which `Level` has detected.
        unsafe {
            let to = to.add(start * to_stride);
            #[cfg(target_arch = "x86_64")]
            if first > 0 {
                in_tiles_with_avx2::<B::Avx2Tile>(|index| line(index).add(start), to, to_stride, here, first);
            }
            if first < lines {
                let rest = |index: usize| line(first + index).add(start);
                in_tiles::<B::BaselineTile>(rest, to.add(first), to_stride, here, lines - first);
            }
        }
    }
}

/// Returns the number of lines, from the first one on, that are transposed in tiles for AVX2: none if the level or the
/// width has no such tile, or if the lines are shorter than one.
#[inline]
fn lines_for_avx2<B: Transposable>(length: usize, lines: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let (tile_length, tile_lines) = (B::Avx2Tile::LENGTH, B::Avx2Tile::LINES);
        if tile_length > B::BaselineTile::LENGTH && length >= tile_length && Level::chosen().has_avx2() {
            return lines / tile_lines * tile_lines;
        }
    }
    let _ = (length, lines);
    0
}

/// Runs [`in_tiles`], compiled for AVX2. `Level::run_long` would compile the same tiles for AVX-512 as well.
///
/// # Safety
/// That of [`transpose`]. The machine must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn in_tiles_with_avx2<T: RegisterTile>(
    line: impl Fn(usize) -> *const T::Element,
    to: *mut T::Element,
    to_stride: usize,
    length: usize,
    lines: usize,
) {
    // SAFETY: the caller's promise.
    unsafe { in_tiles::<T>(line, to, to_stride, length, lines) };
}

/// Does the work of [`transpose`] in tiles of one size. Elements beside whole tiles are copied one by one.
///
/// Lines often begin at the same offset of their pages, as columns of one length do, and so are in the same set of the
/// cache, which has fewer places. So a cache line of each is used completely before the next one. Where that holds for
/// the rows of the target, and not for the lines, a few rows are written from left to right.
///
/// # Safety
/// That of [`transpose`]. The machine must have the instructions of the tiles.
#[inline(always)]
unsafe fn in_tiles<T: RegisterTile>(
    line: impl Fn(usize) -> *const T::Element,
    to: *mut T::Element,
    to_stride: usize,
    length: usize,
    lines: usize,
) {
    const { assert!((LINE / size_of::<T::Element>()).is_multiple_of(T::LENGTH)) };
    let (whole_length, whole_lines) = (length / T::LENGTH * T::LENGTH, lines / T::LINES * T::LINES);
    let line_of_cache = LINE / size_of::<T::Element>();
    let is_far = to_stride >= FAR / size_of::<T::Element>() && lines > line_of_cache;
    let height = if is_far { T::LENGTH } else { line_of_cache };
    // SAFETY: `block` and `start` are multiples of `T::LENGTH`, because the height is one (asserted), and so is
    // `whole_length`. So a tile ends at `whole_length` at the latest, which is at most `length`. In the same way, its
    // lines end at `whole_lines` at the latest. Elements that are copied one by one are below `length` and `lines`.
    unsafe {
        for block in (0..whole_length).step_by(height) {
            let end = whole_length.min(block + height);
            for first in (0..whole_lines).step_by(T::LINES) {
                for start in (block..end).step_by(T::LENGTH) {
                    T::transpose(|index| line(first + index).add(start), to.add(start * to_stride + first), to_stride);
                }
            }
        }
        let copy = |index: usize, places: Range<usize>| {
            let from = line(index);
            places.for_each(|place| *to.add(place * to_stride + index) = *from.add(place));
        };
        (0..whole_lines).for_each(|index| copy(index, whole_length..length));
        (whole_lines..lines).for_each(|index| copy(index, 0..length));
    }
}

/// The largest number of columns that are processed together: entire cache lines of the rows and of the columns.
pub(crate) const TOGETHER: usize = 64;

/// At most [`TOGETHER`] contiguous columns of one element type and one length.
///
/// Invariant: the first `count` addresses are initialized, aligned, and valid for reads of `length` elements of the
/// Rust type of `element` that are borrowed for `'c`.
pub(crate) struct Columns<'c> {
    starts: [MaybeUninit<*const u8>; TOGETHER],
    count: usize,
    length: usize,
    element: ElementType,
    borrow: PhantomData<&'c [u8]>,
}

impl<'c> Columns<'c> {
    /// Starts without columns.
    pub(crate) fn new(element: ElementType, length: usize) -> Self {
        let starts = [const { MaybeUninit::uninit() }; TOGETHER];
        Self { starts, count: 0, length, element, borrow: PhantomData }
    }

    /// Returns the type of the columns.
    pub(super) fn element_type(&self) -> ElementType {
        self.element
    }

    /// Appends a column. Panics if its type or its length differs, or if there are [`TOGETHER`] already; callers
    /// have checked.
    #[inline]
    pub(crate) fn push(&mut self, column: AnySlice<'c>) {
        assert!(column.element_type() == self.element && column.len() == self.length, "a column like the others");
        self.starts[self.count].write(column.as_ptr());
        self.count += 1;
    }

    /// Copies some rows to rows of the same type. Panics if the shapes or types differ; callers have checked.
    pub(super) fn put_rows(&self, rows: Range<usize>, target: AnyRows<'_>) {
        assert!(rows.start <= rows.end && rows.end <= self.length, "the rows are inside");
        assert!(target.rows() == rows.len() && target.columns() == self.count, "the shapes are the same");
        assert!(target.element_type() == self.element, "the type of the columns");
        match_width!(self.element, Width => self.put_bits::<Width>(rows, target))
    }

    fn put_bits<B: Transposable>(&self, rows: Range<usize>, mut target: AnyRows<'_>) {
        assert!(self.element.size_in_bytes() == size_of::<B>(), "the width");
        assert!(rows.end <= self.length && rows.len() == target.rows() && target.columns() == self.count, "the shape");
        if rows.is_empty() || self.count == 0 {
            return; // an empty window may have any address
        }
        let (starts, to_stride) = (&self.starts[..self.count], target.row_stride());
        // SAFETY: the first `count` addresses are initialized, each of a column with the elements `rows`, all of the
        // width of `B`, which is their alignment (invariant of `Columns`). The target has `count` elements of that
        // width in each of as many rows, and is borrowed exclusively. Any bits of an element may be copied as an
        // integer.
        unsafe {
            let line = |index: usize| starts.get_unchecked(index).assume_init().cast::<B>().add(rows.start);
            transpose(line, target.as_mut_ptr().cast(), to_stride, rows.len(), self.count);
        }
    }

    /// Copies some rows to a scratch buffer, as dense rows. Panics if they do not fit; callers have cut them.
    pub(super) fn dense_rows<'s>(&self, rows: Range<usize>, scratch: &'s mut Scratch) -> AnySlice<'s> {
        let count = rows.len();
        let mut room = scratch.room(self.element, count * self.count);
        self.put_rows(rows, AnyRows::new(room.reborrow(), count, self.count));
        // SAFETY: every element of the rows has been written.
        unsafe { room.assume_init() }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use test_support::sized;

    use super::*;
    use crate::convert::level::{Level, with_level};

    /// Compares with a copy of one value at a time, which must also leave the places beside the target as they are.
    fn check<B: Transposable + PartialEq + Debug>(of: fn(u64) -> B, length: usize, lines: usize, to_stride: usize) {
        let (from_stride, unset) = (length + 3, of(0));
        let value = |index: usize| of((index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)); // in all bytes
        let from: Vec<B> = (0..from_stride * lines).map(value).collect();
        let room = to_stride * length.max(1);
        let mut expected = vec![unset; room];
        for (place, index) in (0..length).flat_map(|place| (0..lines).map(move |index| (place, index))) {
            expected[place * to_stride + index] = from[index * from_stride + place];
        }
        let mut to = vec![unset; room];
        let start = from.as_ptr();
        // SAFETY: each line has `length` elements from its start on, and each row of the target `lines`.
        unsafe {
            transpose(|index| start.wrapping_add(index * from_stride), to.as_mut_ptr(), to_stride, length, lines);
        }
        assert!(to == expected, "{length} elements of {lines} lines of {} bytes", size_of::<B>());
    }

    fn check_every_width(length: usize, lines: usize, to_stride: usize) {
        check(|bits| (bits >> 56) as u8, length, lines, to_stride);
        check(|bits| (bits >> 48) as u16, length, lines, to_stride);
        check(|bits| (bits >> 32) as u32, length, lines, to_stride);
        check(|bits| bits, length, lines, to_stride);
    }

    #[test]
    fn tiles_of_every_width_and_what_is_beside_them_are_transposed_at_every_level() {
        for level in Level::available() {
            with_level(level, || {
                let end = sized(20, 10);
                for (length, lines) in (0..end).flat_map(|length| (0..end).map(move |lines| (length, lines))) {
                    check_every_width(length, lines, lines);
                    check_every_width(length, lines, lines + 1);
                }
                // Several cache lines of each line, and bands; near and far rows of the target.
                for lines in [64, 67] {
                    check_every_width(150, lines, lines);
                    check_every_width(150, lines, FAR);
                }
            });
        }
    }
}
