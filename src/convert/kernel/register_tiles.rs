//! Tiles of elements that are transposed in registers.

use super::transpose::{Bits, RegisterTile};

macro_rules! small_tiles {
    ($($Tile:ident of $Bits:ty: $side:literal, $transpose:ident;)*) => {$(
        pub(super) struct $Tile;

        impl RegisterTile for $Tile {
            type Bits = $Bits;
            const LENGTH: usize = $side;
            const LINES: usize = $side;

            #[inline(always)]
            unsafe fn transpose(line: impl Fn(usize) -> *const $Bits, to: *mut $Bits, to_stride: usize) {
                // SAFETY: the caller's promise. SSE2 is part of x86-64.
                unsafe {
                    #[cfg(target_arch = "x86_64")]
                    sse2::$transpose(line, to, to_stride);
                    #[cfg(not(target_arch = "x86_64"))]
                    by_value::<Self>(line, to, to_stride);
                }
            }
        }
    )*};
}
small_tiles! {
    Bytes of u8: 8, bytes;
    Words of u16: 8, words;
    DoubleWords of u32: 4, double_words;
    QuadWords of u64: 2, quad_words;
}

macro_rules! bits {
    ($($Bits:ty: $Small:ty, $Large:ty;)*) => {$(
        impl Bits for $Bits {
            type Small = $Small;
            #[cfg(target_arch = "x86_64")]
            type Large = $Large;
        }
    )*};
}
bits! {
    u8: Bytes, Bytes;
    u16: Words, Words;
    u32: DoubleWords, avx2::DoubleWords;
    u64: QuadWords, avx2::QuadWords;
}

/// The transposition for targets without vectors of their own here.
///
/// # Safety
/// The same as for [`RegisterTile::transpose`].
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn by_value<T: RegisterTile>(line: impl Fn(usize) -> *const T::Bits, to: *mut T::Bits, to_stride: usize) {
    for index in 0..T::LINES {
        let from = line(index);
        for place in 0..T::LENGTH {
            // SAFETY: both are inside the tile: the caller's promise.
            unsafe { *to.add(place * to_stride + index) = *from.add(place) }
        }
    }
}

/// The transpositions in vectors of 16 bytes. Elements of the lines are interleaved in pairs, then in fours, and so on.
/// The conditions of safety are those of [`RegisterTile::transpose`].
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

/// The transpositions in vectors of 32 bytes, whose halves are interleaved like vectors of 16 bytes and then exchanged.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        _mm_storeu_si128, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256,
        _mm256_permute2x128_si256, _mm256_storeu_si256, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64,
        _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    };

    use super::RegisterTile;

    /// The first halves of two vectors, and the second ones.
    const FIRST: i32 = 0x20;
    const SECOND: i32 = 0x31;

    /// Four lines only: those of more would not stay in the first-level cache together, where they are in one set.
    pub(in super::super) struct DoubleWords;

    impl RegisterTile for DoubleWords {
        type Bits = u32;
        const LENGTH: usize = 8;
        const LINES: usize = 4;

        #[inline(always)]
        unsafe fn transpose(line: impl Fn(usize) -> *const u32, to: *mut u32, to_stride: usize) {
            // SAFETY: each load is of the eight elements of one line, each store of the four of one place, and the
            // machine has AVX2: the caller's promise.
            unsafe {
                let line = |index: usize| _mm256_loadu_si256(line(index).cast());
                let (a, b, c, d) = (line(0), line(1), line(2), line(3));
                let (ab_low, cd_low) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
                let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
                let places = [
                    _mm256_unpacklo_epi64(ab_low, cd_low),
                    _mm256_unpackhi_epi64(ab_low, cd_low),
                    _mm256_unpacklo_epi64(ab_high, cd_high),
                    _mm256_unpackhi_epi64(ab_high, cd_high),
                ];
                for (index, place) in places.into_iter().enumerate() {
                    _mm_storeu_si128(to.add(index * to_stride).cast(), _mm256_castsi256_si128(place));
                    _mm_storeu_si128(to.add((index + 4) * to_stride).cast(), _mm256_extracti128_si256::<1>(place));
                }
            }
        }
    }

    pub(in super::super) struct QuadWords;

    impl RegisterTile for QuadWords {
        type Bits = u64;
        const LENGTH: usize = 4;
        const LINES: usize = 4;

        #[inline(always)]
        unsafe fn transpose(line: impl Fn(usize) -> *const u64, to: *mut u64, to_stride: usize) {
            // SAFETY: each load and store is of the four elements of one line or place, and the machine has AVX2: the
            // caller's promise.
            unsafe {
                let line = |index: usize| _mm256_loadu_si256(line(index).cast());
                // Elements 0 and 2, or 1 and 3, of two lines.
                let pair = |index: usize| {
                    let (a, b) = (line(index), line(index + 1));
                    [_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)]
                };
                for (index, (first, last)) in pair(0).into_iter().zip(pair(2)).enumerate() {
                    let low = _mm256_permute2x128_si256::<FIRST>(first, last);
                    let high = _mm256_permute2x128_si256::<SECOND>(first, last);
                    _mm256_storeu_si256(to.add(index * to_stride).cast(), low);
                    _mm256_storeu_si256(to.add((index + 2) * to_stride).cast(), high);
                }
            }
        }
    }
}
