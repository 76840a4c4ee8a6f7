//! Transposition in squares that fit in registers, and columns in separate memory that it combines into rows.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::tiles::Scratch;
use crate::base::cache::LINE;
use crate::base::element::{ElementType, match_width};
use crate::window::{AnyRows, AnySlice};

/// An integer with the width of an element, and the transposition of squares of it.
pub(super) trait Square: Copy {
    /// The number of rows and columns of a square.
    const SIDE: usize;

    /// Transposes `SIDE` lines of `SIDE` elements.
    ///
    /// # Safety
    /// `line` must return addresses that are valid for reads of `SIDE` elements, for the numbers below `SIDE`. `to`
    /// must be valid for writes of `SIDE` elements at each of the first `SIDE` multiples of `to_stride`. All must be
    /// aligned, and what is read and what is written must not overlap.
    unsafe fn transpose(line: impl Fn(usize) -> *const Self, to: *mut Self, to_stride: usize);
}

/// The transposition for targets without vectors of their own here.
///
/// # Safety
/// The same as for [`Square::transpose`].
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn transpose_by_value<Bits: Square>(line: impl Fn(usize) -> *const Bits, to: *mut Bits, to_stride: usize) {
    for index in 0..Bits::SIDE {
        let from = line(index);
        for place in 0..Bits::SIDE {
            // SAFETY: both are below `SIDE`: the caller's promise.
            unsafe { *to.add(place * to_stride + index) = *from.add(place) }
        }
    }
}

macro_rules! squares {
    ($($Bits:ty: $side:literal, $transpose:ident;)*) => {$(
        impl Square for $Bits {
            const SIDE: usize = $side;

            #[inline(always)]
            unsafe fn transpose(line: impl Fn(usize) -> *const Self, to: *mut Self, to_stride: usize) {
                // SAFETY: the caller's promise. SSE2 is part of x86-64.
                unsafe {
                    #[cfg(target_arch = "x86_64")]
                    sse2::$transpose(line, to, to_stride);
                    #[cfg(not(target_arch = "x86_64"))]
                    transpose_by_value(line, to, to_stride);
                }
            }
        }
    )*};
}
squares! {
    u8: 8, bytes;
    u16: 8, words;
    u32: 4, double_words;
    u64: 2, quad_words;
}

/// The transpositions in vectors of 16 bytes. Elements of the lines are interleaved in pairs, then in fours, and so on.
/// The conditions of safety are those of [`Square::transpose`].
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        _mm_loadl_epi64, _mm_loadu_si128, _mm_storel_epi64, _mm_storeu_si128, _mm_unpackhi_epi16, _mm_unpackhi_epi32,
        _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_unpacklo_epi16, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
    };

    #[inline(always)]
    pub(super) unsafe fn bytes(line: impl Fn(usize) -> *const u8, to: *mut u8, to_stride: usize) {
        // SAFETY: each load and store is of the eight elements of one line or place: the caller's promise.
        unsafe {
            let line = |index: usize| _mm_loadl_epi64(line(index).cast());
            let pair = |index: usize| _mm_unpacklo_epi8(line(index), line(index + 1));
            let (ab, cd, ef, gh) = (pair(0), pair(2), pair(4), pair(6));
            let four = [_mm_unpacklo_epi16(ab, cd), _mm_unpackhi_epi16(ab, cd)];
            let last_four = [_mm_unpacklo_epi16(ef, gh), _mm_unpackhi_epi16(ef, gh)];
            for (index, (first, last)) in four.into_iter().zip(last_four).enumerate() {
                let (low, high) = (_mm_unpacklo_epi32(first, last), _mm_unpackhi_epi32(first, last));
                let to = to.add(4 * index * to_stride);
                _mm_storel_epi64(to.cast(), low);
                _mm_storel_epi64(to.add(to_stride).cast(), _mm_unpackhi_epi64(low, low));
                _mm_storel_epi64(to.add(2 * to_stride).cast(), high);
                _mm_storel_epi64(to.add(3 * to_stride).cast(), _mm_unpackhi_epi64(high, high));
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn words(line: impl Fn(usize) -> *const u16, to: *mut u16, to_stride: usize) {
        // SAFETY: each load and store is of the eight elements of one line or place: the caller's promise.
        unsafe {
            let line = |index: usize| _mm_loadu_si128(line(index).cast());
            let pair = |index: usize| {
                let (a, b) = (line(index), line(index + 1));
                [_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)]
            };
            let (ab, cd, ef, gh) = (pair(0), pair(2), pair(4), pair(6));
            for half in 0..2 {
                let four = [_mm_unpacklo_epi32(ab[half], cd[half]), _mm_unpackhi_epi32(ab[half], cd[half])];
                let last_four = [_mm_unpacklo_epi32(ef[half], gh[half]), _mm_unpackhi_epi32(ef[half], gh[half])];
                for (index, (first, last)) in four.into_iter().zip(last_four).enumerate() {
                    let to = to.add((4 * half + 2 * index) * to_stride);
                    _mm_storeu_si128(to.cast(), _mm_unpacklo_epi64(first, last));
                    _mm_storeu_si128(to.add(to_stride).cast(), _mm_unpackhi_epi64(first, last));
                }
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn double_words(line: impl Fn(usize) -> *const u32, to: *mut u32, to_stride: usize) {
        // SAFETY: each load and store is of the four elements of one line or place: the caller's promise.
        unsafe {
            let line = |index: usize| _mm_loadu_si128(line(index).cast());
            let (a, b, c, d) = (line(0), line(1), line(2), line(3));
            let (ab_low, cd_low) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
            _mm_storeu_si128(to.cast(), _mm_unpacklo_epi64(ab_low, cd_low));
            _mm_storeu_si128(to.add(to_stride).cast(), _mm_unpackhi_epi64(ab_low, cd_low));
            _mm_storeu_si128(to.add(2 * to_stride).cast(), _mm_unpacklo_epi64(ab_high, cd_high));
            _mm_storeu_si128(to.add(3 * to_stride).cast(), _mm_unpackhi_epi64(ab_high, cd_high));
        }
    }

    #[inline(always)]
    pub(super) unsafe fn quad_words(line: impl Fn(usize) -> *const u64, to: *mut u64, to_stride: usize) {
        // SAFETY: each load and store is of the two elements of one line or place: the caller's promise.
        unsafe {
            let (a, b) = (_mm_loadu_si128(line(0).cast()), _mm_loadu_si128(line(1).cast()));
            _mm_storeu_si128(to.cast(), _mm_unpacklo_epi64(a, b));
            _mm_storeu_si128(to.add(to_stride).cast(), _mm_unpackhi_epi64(a, b));
        }
    }
}

/// Rows of the target that are at least this many bytes apart are written a few at a time. Many of them would be in the
/// same set of the first-level cache.
const FAR: usize = 1 << 10;

/// Transposes `lines` lines of `length` elements: element `i` of line `j` is copied to element `j` of line `i`.
///
/// Lines often begin at the same offset of their pages, as columns of one length do, and so are in the same set of the
/// cache, which has fewer places. So a cache line of each is used completely before the next one. Where that holds for
/// the rows of the target, and not for the lines, a few rows are written from left to right.
///
/// # Safety
/// For the numbers below `lines`, `line` must return addresses that are valid for reads of `length` elements. `to` must
/// be valid for writes of `lines` elements at each of the first `length` multiples of `to_stride`. All must be aligned,
/// and what is read and what is written must not overlap.
#[inline(always)]
pub(super) unsafe fn transpose<Bits: Square>(
    line: impl Fn(usize) -> *const Bits,
    to: *mut Bits,
    to_stride: usize,
    length: usize,
    lines: usize,
) {
    let side = Bits::SIDE;
    let (whole_length, whole_lines) = (length / side * side, lines / side * side);
    let line_of_cache = LINE / size_of::<Bits>();
    let is_far = to_stride >= FAR / size_of::<Bits>() && lines > line_of_cache;
    let height = if is_far { side } else { line_of_cache };
    // SAFETY: every index of an element is below `length`, and every index of a line below `lines`; those of a square
    // are so because the whole parts are multiples of its side.
    unsafe {
        for block in (0..whole_length).step_by(height) {
            let end = whole_length.min(block + height);
            for first in (0..whole_lines).step_by(side) {
                for start in (block..end).step_by(side) {
                    Bits::transpose(
                        |index| line(first + index).add(start),
                        to.add(start * to_stride + first),
                        to_stride,
                    );
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
        match_width!(self.element, Bits => self.put_bits::<Bits>(rows, target))
    }

    fn put_bits<Bits: Square>(&self, rows: Range<usize>, mut target: AnyRows<'_>) {
        assert!(self.element.size_in_bytes() == size_of::<Bits>(), "the width");
        assert!(rows.end <= self.length && rows.len() == target.rows() && target.columns() == self.count, "the shape");
        if rows.is_empty() || self.count == 0 {
            return; // an empty window may have any address
        }
        let (starts, to_stride) = (&self.starts[..self.count], target.row_stride());
        // SAFETY: the first `count` addresses are initialized, each of a column with the elements `rows`, all of the
        // width of `Bits`, which is their alignment (invariant of `Columns`). The target has `count` elements of that
        // width in each of as many rows, and is borrowed exclusively. Any bits of an element may be copied as an
        // integer.
        unsafe {
            let line = |index: usize| starts.get_unchecked(index).assume_init().cast::<Bits>().add(rows.start);
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
