//! Whole records that become rows of `f64`, by permutations of vectors.
//!
//! Loops over single fields read a record several times, and begin several times in each block. With AVX-512, a vector
//! holds one record, or a few short ones. Two permutations bring their fields, those of four bytes and those of eight,
//! to the places of their results, where conversions under a mask replace those of one type.

use std::arch::x86_64::*;

use super::requesting::RESULTS;
use crate::base::cache::{BEYOND_CACHES, LINE, SECOND_LEVEL, prefetch};
use crate::base::element::ElementType;
use crate::convert::ConversionPolicy;
use crate::convert::level::Level;

/// The number of results in a vector.
const LANES: usize = 8;

/// The number of bytes of a short field, and of half of a long one.
const WORD: usize = 4;

/// The number of words in a vector.
const WORDS: usize = LINE / WORD;

/// The distance in bytes from a record that is converted to the one that is requested.
const AHEAD: usize = 8 << 10;

/// How a vector of records becomes one of results.
///
/// Invariant: of records that begin at `first`, the words in `read` are those of fields: of one record in the first
/// mask, of `together` records in the second one. All words in the permutations are below [`WORDS`], and
/// `together * columns` is at most [`LANES`].
#[derive(Debug)]
pub(crate) struct RecordLoop {
    /// The offset of the first field in a record.
    first: usize,
    size: usize,
    columns: usize,
    /// The number of records that are converted at once: 1, 2 or 4.
    together: usize,
    read: [u16; 2],
    /// For each result, the word of a short field. Others are not used.
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
        let mut records = Self { first, size, columns, together, read: [0; 2], short, long, types };
        for index in 0..together {
            for (column, (element, offset)) in fields.clone().enumerate() {
                records.add(element, index * size + offset - first, index * columns + column)?;
            }
            if index == 0 {
                records.read[0] = records.read[1];
            }
        }
        Some(records)
    }

    /// Adds a field that begins at a byte of the vector, for a result at a place in that of results. Returns `None` if it
    /// does not begin at a word, or is of another size.
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
        self.read[1] |= ((1 << words) - 1) << word;
        Some(())
    }

    /// Returns whether the loop may be used at this level for results of this type, given that the policy may refuse
    /// none of the values.
    #[inline]
    pub(crate) fn is_for(&self, level: Level, target: ElementType, policy: ConversionPolicy) -> bool {
        let is_exact = self.types.i64 | self.types.u64 == 0;
        level.has_avx512() && target == ElementType::F64 && (is_exact || policy != ConversionPolicy::Exact)
    }

    /// Converts records into rows of as many results, whose distance is `to_stride` values. If the second-level cache
    /// does not hold the memory that has the records, given its size in bytes, those behind them are requested: later
    /// blocks, most often.
    ///
    /// # Safety
    /// Each field must be valid for a read in each of the `rows` records, whose first one begins at `from`. `to` must be
    /// valid for writes of the results, which must not overlap the records, and must be aligned. The loop must be
    /// [for this machine](Self::is_for).
    #[inline]
    pub(crate) unsafe fn convert(&self, from: *const u8, rows: usize, to: *mut f64, to_stride: usize, memory: usize) {
        let requests = memory >= BEYOND_CACHES && RESULTS.contains(&(rows * self.columns * size_of::<f64>()));
        let is_rare = self.types.u32 | self.types.i64 | self.types.u64 != 0;
        // SAFETY: the caller's promise.
        unsafe {
            match is_rare {
                false => self.convert_with::<false>(from, rows, to, to_stride, requests),
                true => self.convert_with::<true>(from, rows, to, to_stride, requests),
            }
        }
    }

    /// Does the work of [`convert`](Self::convert): with `RARE`, for all types, else for `f32`, `f64` and `i32`.
    ///
    /// # Safety
    /// That of `convert`. The machine must have AVX-512 F, DQ and VL.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    unsafe fn convert_with<const RARE: bool>(
        &self,
        from: *const u8,
        rows: usize,
        to: *mut f64,
        to_stride: usize,
        requests: bool,
    ) {
        let [one, all] = self.read;
        let written = |records: usize| u8::MAX >> (LANES - records * self.columns);
        // SAFETY: each array has the size of a vector.
        let permutations = unsafe { [&self.short, &self.long].map(|words| _mm512_loadu_si512(words.as_ptr().cast())) };
        // Results of one row are beside those of the next one, or rows are converted one by one.
        let whole = if to_stride == self.columns { rows & !(self.together - 1) } else { 0 };
        let is_full = self.together * self.columns == LANES;
        let mut row = 0;
        while row < whole {
            // SAFETY: these rows are below `rows`. The mask selects the words of their fields (invariant), which are
            // valid for reads, and of the results, which follow each other, those of these rows.
            unsafe {
                let from = from.add(row * self.size + self.first);
                if requests {
                    prefetch::<SECOND_LEVEL>(from.wrapping_add(AHEAD), LINE);
                }
                let results = self.results::<RARE>(_mm512_maskz_loadu_epi32(all, from.cast()), permutations);
                let to = to.add(row * self.columns);
                match is_full {
                    true => _mm512_storeu_pd(to, results),
                    false => _mm512_mask_storeu_pd(to, written(self.together), results),
                }
            }
            row += self.together;
        }
        while row < rows {
            // SAFETY: the row is below `rows`; the masks select the words of its fields, and its results.
            unsafe {
                let from = from.add(row * self.size + self.first);
                if requests {
                    prefetch::<SECOND_LEVEL>(from.wrapping_add(AHEAD), LINE);
                }
                let results = self.results::<RARE>(_mm512_maskz_loadu_epi32(one, from.cast()), permutations);
                _mm512_mask_storeu_pd(to.add(row * to_stride), written(1), results);
            }
            row += 1;
        }
    }

    /// Returns the results of the fields of records, each in its place.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn results<const RARE: bool>(&self, records: __m512i, [short, long]: [__m512i; 2]) -> __m512d {
        let types = self.types;
        let long = _mm512_permutexvar_epi32(long, records);
        let short = _mm512_castsi512_si256(_mm512_permutexvar_epi32(short, records));
        let mut results = _mm512_castsi512_pd(long);
        if RARE {
            results = _mm512_mask_cvtepi64_pd(results, types.i64, long);
            results = _mm512_mask_cvtepu64_pd(results, types.u64, long);
            results = _mm512_mask_cvtepu32_pd(results, types.u32, short);
        }
        results = _mm512_mask_cvtps_pd(results, types.f32, _mm256_castsi256_ps(short));
        _mm512_mask_cvtepi32_pd(results, types.i32, short)
    }
}
