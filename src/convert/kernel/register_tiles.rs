//! Tiles of elements that are transposed in registers.

use super::transpose::{RegisterTile, Transposable};

macro_rules! baseline_tiles {
    ($($Tile:ident of $Element:ty: $side:literal, $transpose:ident;)*) => {$(
        pub(super) struct $Tile;

        impl RegisterTile for $Tile {
            type Element = $Element;
            const LENGTH: usize = $side;
            const LINES: usize = $side;

            #[inline(always)]
            unsafe fn transpose(line: impl Fn(usize) -> *const $Element, to: *mut $Element, to_stride: usize) {
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
baseline_tiles! {
    TileOfU8 of u8: 8, bytes;
    TileOfU16 of u16: 8, words;
    TileOfU32 of u32: 4, double_words;
    TileOfU64 of u64: 2, quad_words;
}

macro_rules! transposable {
    ($($Element:ty: $Baseline:ty, $Avx2:ty;)*) => {$(
        impl Transposable for $Element {
            type BaselineTile = $Baseline;
            #[cfg(target_arch = "x86_64")]
            type Avx2Tile = $Avx2;
        }
    )*};
}
transposable! {
    u8: TileOfU8, TileOfU8;
    u16: TileOfU16, TileOfU16;
    u32: TileOfU32, avx2::TileOfU32;
    u64: TileOfU64, avx2::TileOfU64;
}

/// The transposition for targets without vectors of their own here.
///
/// # Safety
/// The same as for [`RegisterTile::transpose`].
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn by_value<T: RegisterTile>(line: impl Fn(usize) -> *const T::Element, to: *mut T::Element, to_stride: usize) {
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

/// The transpositions in vectors of 32 bytes. Each half of a vector is interleaved like a vector of 16 bytes. Then the
/// halves are stored separately, or combined with those of another vector. The conditions of safety are those of
/// [`RegisterTile::transpose`].
///
/// Without closures around the intrinsics: one that is not inlined has no AVX2, and calls them as functions.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_storeu_si128, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256,
        _mm256_permute2x128_si256, _mm256_storeu_si256, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64,
        _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    };

    use super::RegisterTile;

    /// The selector of the first halves of two vectors.
    const FIRST_HALVES: i32 = 0x20;
    /// The selector of their second halves.
    const SECOND_HALVES: i32 = 0x31;

    /// Takes four lines, not eight: columns of one length share a set of the first-level cache, where eight of them and
    /// the target evict each other.
    pub(in super::super) struct TileOfU32;

    impl RegisterTile for TileOfU32 {
        type Element = u32;
        const LENGTH: usize = 8;
        const LINES: usize = 4;

        #[inline(always)]
        unsafe fn transpose(line: impl Fn(usize) -> *const u32, to: *mut u32, to_stride: usize) {
            // SAFETY: each load is of the eight elements of one line, each store of the four of one place, and the
            // machine has AVX2: the caller's promise.
            unsafe {
                let (a, b) = (_mm256_loadu_si256(line(0).cast()), _mm256_loadu_si256(line(1).cast()));
                let (c, d) = (_mm256_loadu_si256(line(2).cast()), _mm256_loadu_si256(line(3).cast()));
                let (ab_low, cd_low) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
                let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
                // Place `index` of the lines, and place `index + 4`.
                let places: [__m256i; 4] = [
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

    pub(in super::super) struct TileOfU64;

    impl RegisterTile for TileOfU64 {
        type Element = u64;
        const LENGTH: usize = 4;
        const LINES: usize = 4;

        #[inline(always)]
        unsafe fn transpose(line: impl Fn(usize) -> *const u64, to: *mut u64, to_stride: usize) {
            // SAFETY: each load and store is of the four elements of one line or place, and the machine has AVX2: the
            // caller's promise.
            unsafe {
                let (a, b) = (_mm256_loadu_si256(line(0).cast()), _mm256_loadu_si256(line(1).cast()));
                let (c, d) = (_mm256_loadu_si256(line(2).cast()), _mm256_loadu_si256(line(3).cast()));
                // Places 0 and 2 of two lines, and places 1 and 3.
                let (ab_even, cd_even) = (_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d));
                let (ab_odd, cd_odd) = (_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d));
                let places: [__m256i; 4] = [
                    _mm256_permute2x128_si256::<FIRST_HALVES>(ab_even, cd_even),
                    _mm256_permute2x128_si256::<FIRST_HALVES>(ab_odd, cd_odd),
                    _mm256_permute2x128_si256::<SECOND_HALVES>(ab_even, cd_even),
                    _mm256_permute2x128_si256::<SECOND_HALVES>(ab_odd, cd_odd),
                ];
                for (index, place) in places.into_iter().enumerate() {
                    _mm256_storeu_si256(to.add(index * to_stride).cast(), place);
                }
            }
        }
    }
}
