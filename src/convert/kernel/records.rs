//! Whole records that become rows of `f64`, by permutations of vectors.
//!
//! Loops over single fields read a record several times, and begin several times in each block. With AVX-512, a vector
//! holds one record, or a few short ones. Two permutations bring their fields, those of four bytes and those of eight,
//! to the places of their results, where conversions under a mask replace those of one type.

use std::arch::x86_64::*;

use super::pair::Pair;
use super::requesting::{FAR, may_save_time};
use crate::base::cache::{LINE, SECOND_LEVEL, prefetch};
use crate::base::element::ElementType;
use crate::convert::ConversionPolicy;
use crate::convert::level::Level;

/// The number of results in a vector.
const LANES: usize = 8;

/// The number of bytes of a short field, and of half of a long one.
const WORD: usize = 4;

/// The number of words in a vector.
const WORDS: usize = LINE / WORD;

/// How a vector of records becomes one of results.
///
/// Invariant: from the first field of a record on, the mask `of_one` has the words of its fields, and `of_all` those of
/// `together` records, the next ones included. Neither has others. All words in the permutations are below [`WORDS`],
/// and `together * columns` is at most [`LANES`].
#[derive(Debug)]
pub(crate) struct RecordLoop {
    /// The offset of the first field in a record.
    first: usize,
    size: usize,
    columns: usize,
    /// The number of records that are converted at once: 1, 2 or 4.
    together: usize,
    of_one: u16,
    of_all: u16,
    /// The distance in bytes to the record that is requested.
    ahead: usize,
    /// Whether `Exact` may refuse a value. `Checked` permits all as `f64`.
    may_lose: bool,
    /// For each result, the word of a short field. The places of long ones are unused.
    short: [u32; WORDS],
    /// For each result, both words of a long field.
    long: [u32; WORDS],
    types: Types,
}

/// The results whose fields have a type. Those of `f64` are as the permutation leaves them.
#[derive(Clone, Copy, Debug, Default)]
struct Types {
    f32: u8,
    i32: u8,
    u32: u8,
    i64: u8,
    u64: u8,
}

impl RecordLoop {
    /// Returns the loop over records of a size in bytes with these fields, each a type and an offset in bytes, if there
    /// is one: for two to eight fields of 32 or 64 bits, in 64 bytes.
    pub(crate) fn new(
        fields: impl ExactSizeIterator<Item = (ElementType, usize)> + Clone,
        size: usize,
    ) -> Option<Self> {
        let columns = fields.len();
        let first = fields.clone().map(|(_, offset)| offset).min()?;
        let last = fields.clone().map(|(element, offset)| offset - first + element.size_in_bytes()).max()?;
        let end = |together: usize| size.saturating_mul(together - 1).saturating_add(last);
        let fits = |together: &usize| together * columns <= LANES && end(*together) <= LINE;
        let together = [4, 2, 1].into_iter().find(fits).filter(|_| columns >= 2)?;
        let (short, long, types) = ([0; WORDS], [0; WORDS], Types::default());
        let may_lose = fields.clone().any(|(element, _)| {
            let pair = Pair::of(element, ElementType::F64);
            pair.needs_check(ConversionPolicy::Exact)
        });
        let (of_one, of_all, ahead) = (0, 0, FAR.next_multiple_of(size.max(1)));
        let mut records = Self { first, size, columns, together, of_one, of_all, ahead, may_lose, short, long, types };
        for index in 0..together {
            for (column, (element, offset)) in fields.clone().enumerate() {
                records.add(element, index * size + offset - first, index * columns + column)?;
            }
            if index == 0 {
                records.of_one = records.of_all;
            }
        }
        Some(records)
    }

    /// Adds a field that begins at a byte of the vector, for a result at a place in that of results. Returns `None` if
    /// it does not begin at a word, or is of another size.
    fn add(&mut self, element: ElementType, byte: usize, place: usize) -> Option<()> {
        let types = &mut self.types;
        let (places, words) = match element {
            ElementType::F32 => (Some(&mut types.f32), 1),
            ElementType::I32 => (Some(&mut types.i32), 1),
            ElementType::U32 => (Some(&mut types.u32), 1),
            ElementType::I64 => (Some(&mut types.i64), 2),
            ElementType::U64 => (Some(&mut types.u64), 2),
            ElementType::F64 => (None, 2),
            _ => return None,
        };
        if !byte.is_multiple_of(WORD) {
            return None;
        }
        places.into_iter().for_each(|places| *places |= 1 << place);
        let word = (byte / WORD) as u32; // below `WORDS`
        match words {
            1 => self.short[place] = word,
            _ => (self.long[2 * place], self.long[2 * place + 1]) = (word, word + 1),
        }
        self.of_all |= ((1 << words) - 1) << word;
        Some(())
    }

    /// Returns whether the loop can be used at a level, for results of a type, and the policy permits every value.
    #[inline]
    pub(crate) fn is_for(&self, level: Level, target: ElementType, policy: ConversionPolicy) -> bool {
        let is_permitted = !self.may_lose || policy != ConversionPolicy::Exact;
        level.has_avx512() && target == ElementType::F64 && is_permitted
    }

    /// Converts records into rows, whose distance is `to_stride` values. `memory` is the size in bytes of all records
    /// of the table. If the second-level cache does not hold them, later ones are requested.
    ///
    /// # Safety
    /// Each field must be an initialized value that is valid for reads, in each of the `rows` records from `from` on.
    /// `to` must be aligned, and valid for writes of the results, which must not overlap the records. The loop must be
    /// [for this machine](Self::is_for).
    #[inline]
    pub(crate) unsafe fn convert(&self, from: *const u8, rows: usize, to: *mut f64, to_stride: usize, memory: usize) {
        let requests = may_save_time(rows * self.columns * size_of::<f64>(), || memory);
        let has_all_types = self.types.u32 | self.types.i64 | self.types.u64 != 0;
        // SAFETY: the caller's promise.
        unsafe {
            match has_all_types {
                false => self.convert_with::<false>(from, rows, to, to_stride, requests),
                true => self.convert_with::<true>(from, rows, to, to_stride, requests),
            }
        }
    }

    /// Does the work of [`convert`](Self::convert), for all types or for `f32`, `f64` and `i32` only.
    ///
    /// # Safety
    /// That of `convert`. The machine must have AVX-512 F, DQ and VL.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    unsafe fn convert_with<const ALL_TYPES: bool>(
        &self,
        from: *const u8,
        rows: usize,
        to: *mut f64,
        to_stride: usize,
        requests: bool,
    ) {
        // SAFETY: each array has the size of a vector.
        let permutations = unsafe { [&self.short, &self.long].map(|words| _mm512_loadu_si512(words.as_ptr().cast())) };
        // Several records at a time, if the results of one follow those of the one before. Then the rest, one by one.
        let whole = if to_stride == self.columns { rows & !(self.together - 1) } else { 0 };
        for (rows, count, fields) in [(0..whole, self.together, self.of_all), (whole..rows, 1, self.of_one)] {
            let results = u8::MAX >> (LANES - count * self.columns);
            let mut row = rows.start;
            while row < rows.end {
                // SAFETY: the next `count` rows are there. The mask selects the words of their fields (invariant), and
                // a masked load touches no other. Their results follow each other, and the mask selects just them.
                unsafe {
                    let from = from.add(row * self.size + self.first);
                    if requests {
                        prefetch::<SECOND_LEVEL>(from.wrapping_add(self.ahead), LINE);
                    }
                    let records = _mm512_maskz_loadu_epi32(fields, from.cast());
                    let (to, values) = (to.add(row * to_stride), self.results::<ALL_TYPES>(records, permutations));
                    match results {
                        u8::MAX => _mm512_storeu_pd(to, values),
                        _ => _mm512_mask_storeu_pd(to, results, values),
                    }
                }
                row += count;
            }
        }
    }

    /// Returns the results of the fields of records, each in its place.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn results<const ALL_TYPES: bool>(&self, records: __m512i, [short, long]: [__m512i; 2]) -> __m512d {
        let types = self.types;
        let long = _mm512_permutexvar_epi32(long, records);
        let short = _mm512_castsi512_si256(_mm512_permutexvar_epi32(short, records));
        let mut results = _mm512_castsi512_pd(long);
        if ALL_TYPES {
            results = _mm512_mask_cvtepi64_pd(results, types.i64, long);
            results = _mm512_mask_cvtepu64_pd(results, types.u64, long);
            results = _mm512_mask_cvtepu32_pd(results, types.u32, short);
        }
        results = _mm512_mask_cvtps_pd(results, types.f32, _mm256_castsi256_ps(short));
        _mm512_mask_cvtepi32_pd(results, types.i32, short)
    }
}
