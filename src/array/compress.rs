//! Flagged values, packed by the vector instructions for it.

use std::mem::MaybeUninit;

use crate::window::Bits;

/// How far vector instructions have come.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    /// The number of values read.
    pub(super) read: usize,
    /// The number of values written to the front of the room. More places may have been overwritten.
    pub(super) written: usize,
}

/// Copies the values whose flags are set to the front of the room, a vector at a time, while there is room for an entire
/// vector. Returns how far it came: nowhere on processors without AVX-512.
pub(super) fn by_vectors<B: Bits>(values: &[B], flags: &[bool], room: &mut [MaybeUninit<B>]) -> Progress {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("popcnt")
    {
        let has_small = is_x86_feature_detected!("avx512vbmi2");
        // SAFETY: the processor has the instructions, and the width of `B` is that of the values of each function.
        return unsafe {
            match size_of::<B>() {
                1 if has_small => x86::compress_1(values, flags, room),
                2 if has_small => x86::compress_2(values, flags, room),
                4 => x86::compress_4(values, flags, room),
                8 => x86::compress_8(values, flags, room),
                _ => Progress::default(),
            }
        };
    }
    let _ = (values, flags, room);
    Progress::default()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::*;

    macro_rules! compress {
        ($name:ident, $features:literal, $lanes:literal, $mask:ident, $compress:ident) => {
            /// # Safety
            /// The processor has the features, and `B` has the width that the name says.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name<B: Bits>(values: &[B], flags: &[bool], room: &mut [MaybeUninit<B>]) -> Progress {
                assert_eq!(size_of::<B>() * $lanes, size_of::<__m512i>(), "the width");
                let mut progress = Progress::default();
                let (values, flags) = (values.as_chunks::<$lanes>().0, flags.as_chunks::<$lanes>().0);
                for (values, flags) in values.iter().zip(flags) {
                    let Some(place) = room[progress.written..].first_chunk_mut::<$lanes>() else { break };
                    let mask = $mask(flags);
                    // SAFETY: both are as long as a vector, by the assertion above. The vector's values are integers of
                    // the width of `B`, any bits of which are a value of `B`; `MaybeUninit` may hold anything.
                    unsafe {
                        let vector = _mm512_loadu_si512(values.as_ptr().cast());
                        _mm512_storeu_si512(place.as_mut_ptr().cast(), $compress(mask, vector));
                    }
                    progress.read += $lanes;
                    progress.written += mask.count_ones() as usize; // at most `$lanes`: `room` is not exceeded
                }
                progress
            }
        };
    }
    compress!(compress_1, "avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt", 64, mask_64, _mm512_maskz_compress_epi8);
    compress!(compress_2, "avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt", 32, mask_32, _mm512_maskz_compress_epi16);
    compress!(compress_4, "avx512f,avx512bw,avx512vl,popcnt", 16, mask_16, _mm512_maskz_compress_epi32);
    compress!(compress_8, "avx512f,avx512bw,avx512vl,popcnt", 8, mask_8, _mm512_maskz_compress_epi64);

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn mask_64(flags: &[bool; 64]) -> u64 {
        // SAFETY: there are 64 flags of a byte each.
        let flags = unsafe { _mm512_loadu_si512(flags.as_ptr().cast()) };
        _mm512_test_epi8_mask(flags, flags)
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn mask_32(flags: &[bool; 32]) -> u32 {
        // SAFETY: there are 32 flags of a byte each.
        let flags = unsafe { _mm256_loadu_si256(flags.as_ptr().cast()) };
        _mm256_test_epi8_mask(flags, flags)
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn mask_16(flags: &[bool; 16]) -> u16 {
        // SAFETY: there are 16 flags of a byte each.
        let flags = unsafe { _mm_loadu_si128(flags.as_ptr().cast()) };
        _mm_test_epi8_mask(flags, flags)
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn mask_8(flags: &[bool; 8]) -> u8 {
        // SAFETY: there are 8 flags of a byte each.
        let flags = unsafe { _mm_loadl_epi64(flags.as_ptr().cast()) };
        _mm_test_epi8_mask(flags, flags) as u8 // the other half is zero
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns flags by the bits of random numbers: half of them, few, or most.
    fn flags(count: usize, density: u64) -> Vec<bool> {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        (0..count).map(|_| next() % 100 < density).collect()
    }

    #[test]
    fn vectors_copy_the_flagged_values_and_stay_in_the_room() {
        fn check<B: Bits + std::fmt::Debug>(of: impl Fn(usize) -> B) {
            for count in (0..70).chain([127, 128, 129, 500]) {
                for density in [0, 3, 50, 97, 100] {
                    let (values, flags) = ((0..count).map(&of).collect::<Vec<_>>(), flags(count, density));
                    let kept = |end: usize| {
                        let flagged = values[..end].iter().zip(&flags).filter(|(_, flag)| **flag);
                        flagged.map(|(value, _)| *value).collect::<Vec<B>>()
                    };
                    let all = kept(count).len();
                    for length in [all, all.saturating_sub(1), all + 1, all + 64, 0] {
                        let mut room = vec![MaybeUninit::new(of(77)); length + 64];
                        let progress = by_vectors(&values, &flags, &mut room[..length]);
                        let expected = kept(progress.read);
                        assert_eq!((progress.written, progress.written <= length), (expected.len(), true));
                        // SAFETY: all places were initialized before.
                        let found = room.iter().map(|value| unsafe { value.assume_init() }).collect::<Vec<B>>();
                        assert_eq!(found[..progress.written], expected);
                        assert_eq!(found[length..], [of(77); 64], "written past the room");
                    }
                }
            }
        }
        check(|index| index as u8);
        check(|index| (index as u16).wrapping_mul(257));
        check(|index| (index as u32).wrapping_mul(0x0101_0101));
        check(|index| (index as u64).wrapping_mul(0x0101_0101_0101_0101));
    }
}
