//! Transposition in squares that fit in registers.

/// An integer with the width of an element, and the transposition of squares of it.
pub(super) trait Square: Copy {
    /// The number of rows and columns of a square.
    const SIDE: usize;

    /// Transposes `SIDE` lines of `SIDE` elements.
    ///
    /// # Safety
    /// `from` must be valid for reads of `SIDE` elements at each of the first `SIDE` multiples of `from_stride`, and
    /// `to` for writes of `SIDE` elements at each of the first `SIDE` multiples of `to_stride`. Both must be aligned
    /// and must not overlap.
    unsafe fn transpose(from: *const Self, from_stride: usize, to: *mut Self, to_stride: usize) {
        for line in 0..Self::SIDE {
            for place in 0..Self::SIDE {
                // SAFETY: both are below `SIDE`: the caller's promise.
                unsafe { *to.add(place * to_stride + line) = *from.add(line * from_stride + place) }
            }
        }
    }
}

impl Square for u8 {
    const SIDE: usize = 8;
}

impl Square for u16 {
    const SIDE: usize = 8;
}

impl Square for u32 {
    const SIDE: usize = 4;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn transpose(from: *const Self, from_stride: usize, to: *mut Self, to_stride: usize) {
        use std::arch::x86_64::{
            _mm_loadu_si128, _mm_storeu_si128, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32,
            _mm_unpacklo_epi64,
        };
        // SAFETY: SSE2 is part of x86-64; each load and store is of the four elements of one line: the caller's
        // promise.
        unsafe {
            let line = |line: usize| _mm_loadu_si128(from.add(line * from_stride).cast());
            let (a, b, c, d) = (line(0), line(1), line(2), line(3));
            let (ab_low, cd_low) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
            _mm_storeu_si128(to.cast(), _mm_unpacklo_epi64(ab_low, cd_low));
            _mm_storeu_si128(to.add(to_stride).cast(), _mm_unpackhi_epi64(ab_low, cd_low));
            _mm_storeu_si128(to.add(2 * to_stride).cast(), _mm_unpacklo_epi64(ab_high, cd_high));
            _mm_storeu_si128(to.add(3 * to_stride).cast(), _mm_unpackhi_epi64(ab_high, cd_high));
        }
    }
}

impl Square for u64 {
    const SIDE: usize = 2;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn transpose(from: *const Self, from_stride: usize, to: *mut Self, to_stride: usize) {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_storeu_si128, _mm_unpackhi_epi64, _mm_unpacklo_epi64};
        // SAFETY: SSE2 is part of x86-64; each load and store is of the two elements of one line: the caller's promise.
        unsafe {
            let (a, b) = (_mm_loadu_si128(from.cast()), _mm_loadu_si128(from.add(from_stride).cast()));
            _mm_storeu_si128(to.cast(), _mm_unpacklo_epi64(a, b));
            _mm_storeu_si128(to.add(to_stride).cast(), _mm_unpackhi_epi64(a, b));
        }
    }
}

/// Transposes `lines` lines of `length` elements: element `i` of line `j` is copied to element `j` of line `i`.
///
/// # Safety
/// `from` must be valid for reads of `length` elements at each of the first `lines` multiples of `from_stride`, and
/// `to` for writes of `lines` elements at each of the first `length` multiples of `to_stride`. Both must be aligned and
/// must not overlap.
pub(super) unsafe fn transpose<Bits: Square>(
    from: *const Bits,
    from_stride: usize,
    to: *mut Bits,
    to_stride: usize,
    length: usize,
    lines: usize,
) {
    let (whole_length, whole_lines) = (length / Bits::SIDE * Bits::SIDE, lines / Bits::SIDE * Bits::SIDE);
    // SAFETY: every index of an element is below `length`, and every index of a line below `lines`; those of a square
    // are so because the whole parts are multiples of its side.
    unsafe {
        for start in (0..whole_length).step_by(Bits::SIDE) {
            for line in (0..whole_lines).step_by(Bits::SIDE) {
                let (from, to) = (from.add(line * from_stride + start), to.add(start * to_stride + line));
                Bits::transpose(from, from_stride, to, to_stride);
            }
        }
        let copy =
            |line: usize, place: usize| *to.add(place * to_stride + line) = *from.add(line * from_stride + place);
        for line in 0..whole_lines {
            (whole_length..length).for_each(|place| copy(line, place));
        }
        for line in whole_lines..lines {
            (0..length).for_each(|place| copy(line, place));
        }
    }
}
