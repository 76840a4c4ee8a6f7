//! Flags as bits, and the values whose bit is set, packed by vector instructions: the compressing ones of AVX-512, or
//! permutations by AVX2, whose indices are in a table.

use std::mem::MaybeUninit;

use super::filling::{MASK_ROWS, mask_words};
use crate::window::Bits;

/// The vector instructions that may be used, if the processor has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only x86-64 has them"))]
pub(crate) enum Vectors {
    None,
    Avx2,
    Avx512,
    /// AVX-512, on a processor that reads memory fastest in order and without requests.
    Avx512InOrder,
}

impl Vectors {
    /// Returns whether AVX2 may be used, and the processor has it.
    #[cfg(target_arch = "x86_64")]
    fn has_avx2(self) -> bool {
        self != Self::None && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
    }

    /// Returns whether the AVX-512 instructions for values of this width may be used, and the processor has them.
    #[cfg(target_arch = "x86_64")]
    fn has_avx512(self, width: usize) -> bool {
        matches!(self, Self::Avx512 | Self::Avx512InOrder)
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("popcnt")
            && (width >= 4 || is_x86_feature_detected!("avx512vbmi2") && is_x86_feature_detected!("avx512bw"))
    }
}

/// Writes the mask of flags. Returns the number of flags that are set. Panics if the mask has another length; callers
/// have checked.
pub(super) fn mask(flags: &[bool], words: &mut [u64], vectors: Vectors) -> usize {
    assert_eq!(mask_words(flags.len()), words.len(), "a bit for each flag");
    let (entire, rest) = flags.as_chunks::<MASK_ROWS>();
    let (words, last) = words.split_at_mut(entire.len());
    let mut of_rest = 0;
    if let Some(last) = last.first_mut() {
        *last = rest.iter().rev().fold(0, |word, &flag| word << 1 | u64::from(flag));
        of_rest = last.count_ones() as usize;
    }
    #[cfg(target_arch = "x86_64")]
    if vectors.has_avx2() {
        // SAFETY: the processor has the instructions.
        return of_rest + unsafe { x86::mask(entire, words) };
    }
    let _ = vectors;
    let mut count = 0;
    for (flags, word) in entire.iter().zip(words) {
        *word = 0;
        for (index, flags) in flags.as_chunks::<8>().0.iter().enumerate() {
            // Moves the bit of each byte into the highest byte: bit `8 * i` to bit `56 + i`. No two bits meet.
            let bytes = u64::from_le_bytes(flags.map(u8::from)).wrapping_mul(0x0102_0408_1020_4080);
            *word |= bytes >> 56 << (8 * index);
        }
        count += word.count_ones() as usize;
    }
    of_rest + count
}

/// How far vector instructions have come.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    /// The number of words of the mask whose values have been read.
    pub(super) words: usize,
    /// The number of values written to the front of the room. More places may have been overwritten.
    pub(super) written: usize,
}

/// The distance, in bytes of values, from a word whose values are packed to the word whose values are requested.
const AHEAD: usize = 8 << 10;

/// Returns the words whose values are requested while those of the words from `at` on are packed.
pub(super) fn words_ahead<B>(words: &[u64], at: usize) -> &[u64] {
    words.get(at + AHEAD / (MASK_ROWS * size_of::<B>())..).unwrap_or_default()
}

/// Copies the values of a mask to the front of the room, word by word, while there is room for all values of a word.
/// Returns how far it came: nowhere without the instructions. Meanwhile requests the values of the words
/// [ahead](words_ahead) that have a bit, with AVX2 also those of gaps of one word: many processors do so by themselves
/// within a page only. Those that are [faster in order](Vectors::Avx512InOrder) read all values where at least half of
/// eight words have a bit.
pub(super) fn by_vectors<B: Bits>(
    values: &[B],
    words: &[u64],
    ahead: &[u64],
    room: &mut [MaybeUninit<B>],
    vectors: Vectors,
) -> Progress {
    #[cfg(target_arch = "x86_64")]
    {
        let (width, in_order) = (size_of::<B>(), vectors == Vectors::Avx512InOrder);
        if vectors.has_avx512(width) {
            // SAFETY: the processor has the instructions, and the width of `B` is that of the values of each function.
            return unsafe {
                match width {
                    1 => x86::compress_1(values, words, ahead, room, in_order),
                    2 => x86::compress_2(values, words, ahead, room, in_order),
                    4 => x86::compress_4(values, words, ahead, room, in_order),
                    8 => x86::compress_8(values, words, ahead, room, in_order),
                    _ => Progress::default(),
                }
            };
        }
        if vectors.has_avx2() {
            // SAFETY: as above.
            return unsafe {
                match width {
                    1 => x86::permute_1(values, words, ahead, room, false),
                    2 => x86::permute_2(values, words, ahead, room, false),
                    4 => x86::permute_4(values, words, ahead, room, false),
                    8 => x86::permute_8(values, words, ahead, room, false),
                    _ => Progress::default(),
                }
            };
        }
    }
    let _ = (values, words, ahead, room, vectors);
    Progress::default()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::*;
    use crate::array::uninit::write_copy;
    use crate::base::cache;

    /// # Safety
    /// The processor has the features.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn mask(flags: &[[bool; MASK_ROWS]], words: &mut [u64]) -> usize {
        let mut count = 0;
        for (flags, word) in flags.iter().zip(words) {
            let half = |flags: &[bool; 32]| {
                // SAFETY: there are 32 flags of a byte each.
                let flags = unsafe { _mm256_loadu_si256(flags.as_ptr().cast()) };
                // The lowest bit of each byte becomes the highest one, which the mask has.
                u64::from(_mm256_movemask_epi8(_mm256_slli_epi16::<7>(flags)).cast_unsigned())
            };
            let [low, high] = [&flags[..32], &flags[32..]].map(|flags| flags.first_chunk().map_or(0, half));
            *word = low | high << 32;
            count += word.count_ones() as usize;
        }
        count
    }

    /// Returns whether to request the values of the word at `index`: it has a bit, or `fills_gaps` is set and both of
    /// its neighbors have one.
    #[inline(always)]
    pub(super) fn is_requested(words: &[u64], index: usize, fills_gaps: bool) -> bool {
        let has_bits = |index: usize| words.get(index).is_some_and(|&word| word != 0);
        has_bits(index) || fills_gaps && has_bits(index.wrapping_sub(1)) && has_bits(index + 1)
    }

    /// It is decided for this number of words at a time whether they are dense.
    const DECIDED: usize = 8;

    /// Returns whether at least half of the words from a place on have a bit. Looks at [`DECIDED`] words.
    pub(super) fn is_dense(words: &[u64], at: usize) -> bool {
        let words = words.get(at..).unwrap_or_default();
        let words = &words[..words.len().min(DECIDED)];
        words.iter().filter(|&&word| word != 0).count() * 2 >= words.len()
    }

    /// Defines a function that packs values of one width, a vector at a time: `$store` stores the values of a mask of a
    /// vector to the front of a place for an entire vector.
    ///
    /// The functions for AVX2 request the values of gaps of one word: Zen 3 reads memory in order faster than with such
    /// gaps. Those for AVX-512 do not: Intel processors are slower with these requests. With `in_order`, all values of
    /// dense words are read, and none are requested.
    macro_rules! pack {
        ($name:ident, $features:literal, $lanes:literal, $Mask:ty, $store:ident, $fills_gaps:literal) => {
            /// # Safety
            /// The processor has the features, and `B` has the width that the name says.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name<B: Bits>(
                values: &[B],
                words: &[u64],
                ahead: &[u64],
                room: &mut [MaybeUninit<B>],
                in_order: bool,
            ) -> Progress {
                let (mut progress, mut reads_all, mut requests) = (Progress::default(), false, true);
                for (index, (values, &word)) in values.as_chunks::<MASK_ROWS>().0.iter().zip(words).enumerate() {
                    let Some(place) = room[progress.written..].first_chunk_mut::<MASK_ROWS>() else { break };
                    progress.words += 1;
                    if in_order && index % DECIDED == 0 {
                        (reads_all, requests) = (is_dense(words, index), !is_dense(ahead, index));
                    }
                    if requests && is_requested(ahead, index, $fills_gaps) {
                        let later = values.as_ptr().cast::<u8>().wrapping_add(AHEAD);
                        cache::prefetch::<{ cache::SECOND_LEVEL }>(later, size_of_val(values));
                    }
                    if word == 0 && !reads_all {
                        continue;
                    }
                    if word == u64::MAX {
                        write_copy(place, values);
                        progress.written += MASK_ROWS;
                        continue;
                    }
                    let (mut count, mut bits) = (0, word);
                    for values in values.as_chunks::<$lanes>().0 {
                        let mask = bits as $Mask & (<$Mask>::MAX >> (<$Mask>::BITS - $lanes));
                        // SAFETY: `values` are as long as a vector. `place` has as many values as a word has bits, and
                        // `count` is at most the number of bits before this vector's, so that `$lanes` places follow.
                        unsafe { $store(values.as_ptr().cast(), place.as_mut_ptr().add(count).cast(), mask) };
                        count += mask.count_ones() as usize;
                        bits = bits.checked_shr($lanes).unwrap_or(0);
                    }
                    progress.written += count;
                }
                progress
            }
        };
    }
    pack!(compress_1, "avx512f,avx512bw,avx512vbmi2,popcnt", 64, u64, compress_64_of_1, false);
    pack!(compress_2, "avx512f,avx512bw,avx512vbmi2,popcnt", 32, u32, compress_32_of_2, false);
    pack!(compress_4, "avx512f,popcnt", 16, u16, compress_16_of_4, false);
    pack!(compress_8, "avx512f,popcnt", 8, u8, compress_8_of_8, false);
    pack!(permute_1, "avx2,popcnt", 8, u8, permute_8_of_1, true);
    pack!(permute_2, "avx2,popcnt", 8, u8, permute_8_of_2, true);
    pack!(permute_4, "avx2,popcnt", 8, u8, permute_8_of_4, true);
    pack!(permute_8, "avx2,popcnt", 4, u8, permute_4_of_8, true);

    macro_rules! compress {
        ($name:ident, $features:literal, $Mask:ty, $compress:ident) => {
            /// # Safety
            /// The processor has the features; 64 bytes may be read, and 64 bytes written.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn $name(values: *const u8, place: *mut u8, mask: $Mask) {
                // SAFETY: as the caller promises. Any bytes may be copied.
                unsafe { _mm512_storeu_si512(place.cast(), $compress(mask, _mm512_loadu_si512(values.cast()))) };
            }
        };
    }
    compress!(compress_64_of_1, "avx512f,avx512bw,avx512vbmi2", u64, _mm512_maskz_compress_epi8);
    compress!(compress_32_of_2, "avx512f,avx512bw,avx512vbmi2", u32, _mm512_maskz_compress_epi16);
    compress!(compress_16_of_4, "avx512f", u16, _mm512_maskz_compress_epi32);
    compress!(compress_8_of_8, "avx512f", u8, _mm512_maskz_compress_epi64);

    /// For each mask, the numbers of the bits that are set, and zeros.
    static BITS: [[u8; 8]; 256] = {
        let mut bits = [[0; 8]; 256];
        let mut mask = 0;
        while mask < 256 {
            let (mut bit, mut count) = (0, 0);
            while bit < 8 {
                if mask >> bit & 1 == 1 {
                    bits[mask][count] = bit;
                    count += 1;
                }
                bit += 1;
            }
            mask += 1;
        }
        bits
    };

    /// For each mask of four bits, the numbers of the halves of the values whose bit is set, and zeros.
    static HALVES: [[u32; 8]; 16] = {
        let mut halves = [[0; 8]; 16];
        let mut mask = 0;
        while mask < 16 {
            let (mut half, mut count) = (0, 0);
            while half < 8 {
                if mask >> (half / 2) & 1 == 1 {
                    halves[mask][count] = half;
                    count += 1;
                }
                half += 1;
            }
            mask += 1;
        }
        halves
    };

    /// Returns the numbers of the bits that are set, in the lower half of a vector of bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits(mask: u8) -> __m128i {
        // SAFETY: there are eight bytes for each mask.
        unsafe { _mm_loadl_epi64(BITS[usize::from(mask)].as_ptr().cast()) }
    }

    /// # Safety
    /// The processor has AVX2; 8 bytes may be read, and 8 bytes written.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn permute_8_of_1(values: *const u8, place: *mut u8, mask: u8) {
        // SAFETY: as the caller promises. Any bytes may be copied.
        unsafe { _mm_storel_epi64(place.cast(), _mm_shuffle_epi8(_mm_loadl_epi64(values.cast()), bits(mask))) };
    }

    /// # Safety
    /// The processor has AVX2; 16 bytes may be read, and 16 bytes written.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn permute_8_of_2(values: *const u8, place: *mut u8, mask: u8) {
        let low = _mm_add_epi8(bits(mask), bits(mask)); // the number of the lower byte of each value
        let bytes = _mm_unpacklo_epi8(low, _mm_add_epi8(low, _mm_set1_epi8(1)));
        // SAFETY: as the caller promises. Any bytes may be copied.
        unsafe { _mm_storeu_si128(place.cast(), _mm_shuffle_epi8(_mm_loadu_si128(values.cast()), bytes)) };
    }

    /// # Safety
    /// The processor has AVX2; 32 bytes may be read, and 32 bytes written.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn permute_8_of_4(values: *const u8, place: *mut u8, mask: u8) {
        let order = _mm256_cvtepu8_epi32(bits(mask));
        // SAFETY: as the caller promises. Any bytes may be copied.
        unsafe {
            let values = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(values.cast()), order);
            _mm256_storeu_si256(place.cast(), values);
        }
    }

    /// # Safety
    /// The processor has AVX2; 32 bytes may be read, and 32 bytes written.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn permute_4_of_8(values: *const u8, place: *mut u8, mask: u8) {
        let order = &HALVES[usize::from(mask) % HALVES.len()]; // has four bits
        // SAFETY: as the caller promises, and there are eight numbers for each mask. Any bytes may be copied.
        unsafe {
            let order = _mm256_loadu_si256(order.as_ptr().cast());
            let values = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(values.cast()), order);
            _mm256_storeu_si256(place.cast(), values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::sized;

    /// Returns flags by the bits of random numbers: half of them, few, or most; and runs of all.
    fn flags(count: usize, density: u64) -> Vec<bool> {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        (0..count).map(|row| next() % 100 < density || row % 300 > 200).collect()
    }

    #[test]
    fn words_ahead_are_those_of_values_a_fixed_distance_later() {
        let words: Vec<u64> = (0..200).collect();
        assert_eq!(words_ahead::<u64>(&words, 3)[..2], [19, 20]);
        assert_eq!(words_ahead::<u8>(&words, 71), [199]);
        assert_eq!(words_ahead::<u8>(&words, 72), [0; 0]);
        assert_eq!(words_ahead::<u16>(&words, 1000), [0; 0]);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn values_of_words_with_bits_are_requested_and_on_demand_those_between_them() {
        let requested = |words: &[u64], fills_gaps: bool| {
            (0..=words.len()).filter(|&index| x86::is_requested(words, index, fills_gaps)).collect::<Vec<_>>()
        };
        let words = [0, 1, 0, u64::MAX, 0, 0, 1 << 63, 0];
        assert_eq!(requested(&words, false), [1, 3, 6]);
        assert_eq!(requested(&words, true), [1, 2, 3, 6], "a gap of one word");
        assert!(requested(&[], true).is_empty() && requested(&[0, 0], true).is_empty());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn words_are_dense_if_half_of_them_have_a_bit() {
        let words = [0, 0, 0, 0, 1, 2, 1 << 63, 0, 7, 0, 0];
        let dense = (0..=words.len()).map(|at| x86::is_dense(&words, at)).collect::<Vec<_>>();
        assert_eq!(dense, [false, true, true, true, true, true, false, false, false, false, false, true]);
    }

    #[test]
    fn vectors_copy_the_flagged_values_and_stay_in_the_room() {
        fn check<B: Bits + std::fmt::Debug>(of: impl Fn(usize) -> B) {
            for count in
                (0..sized(70, 3)).chain([sized(127, 64), sized(128, 65), 129, sized(500, 70), sized(1000, 130)])
            {
                let densities = [50, 0, 100, 3, 97].into_iter().take(sized(5, 3));
                for (density, vectors) in densities.flat_map(|density| ALL.map(|v| (density, v))) {
                    let (values, flags) = ((0..count).map(&of).collect::<Vec<_>>(), flags(count, density));
                    let mut words = vec![0; mask_words(count)];
                    let kept = |end: usize| {
                        let flagged = values[..end].iter().zip(&flags).filter(|(_, flag)| **flag);
                        flagged.map(|(value, _)| *value).collect::<Vec<B>>()
                    };
                    let all = kept(count).len();
                    assert_eq!(mask(&flags, &mut words, vectors), all);
                    // Requests change nothing, whatever words they are for.
                    let aheads = [&words[..], words_ahead::<B>(&words, 0), &words[words.len() / 2..], &[]];
                    for (turn, length) in [all, all.saturating_sub(1), all + 1, all + 64, 0].into_iter().enumerate() {
                        let ahead = aheads[turn % aheads.len()];
                        let mut room = vec![MaybeUninit::new(of(77)); length + 64];
                        let progress = by_vectors(&values, &words, ahead, &mut room[..length], vectors);
                        let expected = kept(progress.words * MASK_ROWS);
                        assert_eq!((progress.written, progress.written <= length), (expected.len(), true));
                        // SAFETY: all places were initialized before.
                        let found = room.iter().map(|value| unsafe { value.assume_init() }).collect::<Vec<B>>();
                        assert_eq!(found[..progress.written], expected);
                        assert_eq!(found[length..], [of(77); 64], "written past the room");
                    }
                }
            }
        }
        const ALL: [Vectors; 4] = [Vectors::None, Vectors::Avx2, Vectors::Avx512, Vectors::Avx512InOrder];
        check(|index| index as u8);
        check(|index| (index as u16).wrapping_mul(257));
        check(|index| (index as u32).wrapping_mul(0x0101_0101));
        check(|index| (index as u64).wrapping_mul(0x0101_0101_0101_0101));
    }
}
