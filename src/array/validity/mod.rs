//! Which rows have a value: one bit per row, in shared bytes.
//!
//! Reading and writing of bits is in `bits`, changes and new bitmaps from others in `edit`, writing on several threads
//! in `threads`, and marking missing values among values in `overlay`.

mod bits;
mod edit;
mod overlay;
mod threads;

use std::fmt;
use std::iter::FusedIterator;
use std::ops::{Range, RangeBounds};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Array;
use super::compress::{self, Vectors};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::range::resolve;
use crate::base::room::filled;
use bits::{Bits, ROWS, byte_count, low_bits, write_word};
pub use overlay::{overlay_nan, overlay_nan_strided};
pub use threads::ValidityMut;

/// Which of a number of rows have a value: Arrow's validity bitmap.
pub struct Validity {
    /// The bytes of the rows, and no others: [`byte_count`] of them. Bits before `offset` and past the last row may have
    /// any value.
    bits: Array<u8>,
    /// The bit of row 0 in the first byte, below 8.
    offset: usize,
    len: usize,
    missing: Count,
}

/// A number of missing rows that is counted when it is needed.
struct Count(AtomicUsize);

impl Count {
    /// Also a possible number on 32-bit systems, which is then counted each time.
    const UNKNOWN: usize = usize::MAX;

    fn of(missing: usize) -> Self {
        Self(AtomicUsize::new(missing))
    }

    fn unknown() -> Self {
        Self::of(Self::UNKNOWN)
    }

    /// Returns the number if it is known. Relaxed: the bits are changed only through `&mut`, which orders the accesses.
    fn get(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&count| count != Self::UNKNOWN)
    }
}

impl Validity {
    /// Creates a bitmap of `len` rows from Arrow's: row 0 has bit `offset`, least significant first.
    ///
    /// # Errors
    /// [`ErrorKind::ArrayLength`] if there are fewer bytes than `offset + len` bits need.
    pub fn new(bits: impl Into<Array<u8>>, offset: usize, len: usize) -> Result<Self> {
        let bits = bits.into();
        let (first, offset_in_byte) = (offset / 8, offset % 8);
        let count = byte_count(offset_in_byte, len);
        let end = first.saturating_add(count); // the number of bytes of that many bits is less than half of it
        if end > bits.len() {
            return Err(Error::new(ErrorKind::ArrayLength { have: bits.len(), need: end }));
        }
        let validity = Self { bits: bits.slice(first..end)?, offset: offset_in_byte, len, missing: Count::unknown() };
        validity.missing_count();
        Ok(validity)
    }

    /// Creates a bitmap of rows that all have a value.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn all_present(len: usize) -> Result<Self> {
        let mut bits = Array::full(byte_count(0, len), u8::MAX)?;
        if let (Some(last), 1..) = (bits.mutable_data()?.last_mut(), len % 8) {
            *last = !(u8::MAX << (len % 8));
        }
        Ok(Self { bits, offset: 0, len, missing: Count::of(0) })
    }

    /// Creates a bitmap of rows without a value.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn all_missing(len: usize) -> Result<Self> {
        Ok(Self { bits: Array::zeros(byte_count(0, len))?, offset: 0, len, missing: Count::of(len) })
    }

    /// Creates a bitmap from a flag for each row: whether it has a value.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn from_flags(is_present: &[bool]) -> Result<Self> {
        const BATCH: usize = 16 * ROWS;
        let mut bits = Array::<u8>::zeros(byte_count(0, is_present.len()))?;
        let mut present = 0;
        for (bytes, flags) in bits.mutable_data()?.chunks_mut(BATCH / 8).zip(is_present.chunks(BATCH)) {
            let mut words = [0; BATCH / ROWS];
            let words = &mut words[..flags.len().div_ceil(ROWS)];
            present += compress::mask(flags, words, Vectors::Avx512);
            bytes.chunks_mut(8).zip(words).for_each(|(bytes, word)| write_word(bytes, *word));
        }
        let missing = Count::of(is_present.len() - present);
        Ok(Self { bits, offset: 0, len: is_present.len(), missing })
    }

    /// Creates a bitmap by calling a function for each row, in order: whether it has a value.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn from_fn(len: usize, mut is_present: impl FnMut(usize) -> bool) -> Result<Self> {
        Self::build(len, |first, rows| {
            Ok((0..rows).fold(0, |word, row| word | u64::from(is_present(first + row)) << row))
        })
    }

    /// Creates a bitmap by calling a function with the first row and the number of rows of each word.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], and those of the function.
    fn build(len: usize, mut word: impl FnMut(usize, usize) -> Result<u64>) -> Result<Self> {
        let mut bits = Array::<u8>::zeros(byte_count(0, len))?;
        let mut present = 0;
        for (index, bytes) in bits.mutable_data()?.chunks_mut(8).enumerate() {
            let first = index * ROWS; // below `len`
            let rows = (len - first).min(ROWS);
            let word = word(first, rows)? & low_bits(rows);
            present += word.count_ones() as usize;
            write_word(bytes, word);
        }
        Ok(Self { bits, offset: 0, len, missing: Count::of(len - present) })
    }

    /// Returns the number of rows. O(1).
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no rows. O(1).
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of rows without a value. O(1), unless a slice or a writer has to be counted first.
    pub fn missing_count(&self) -> usize {
        self.missing.get().unwrap_or_else(|| {
            let count = self.len - self.view().count_ones();
            self.missing.0.store(count, Ordering::Relaxed);
            count
        })
    }

    /// Returns whether a row has no value. Costs what [`missing_count`](Self::missing_count) does.
    pub fn has_missing(&self) -> bool {
        self.missing_count() > 0
    }

    /// Returns whether a row has a value; `None` if there is no such row. O(1).
    #[inline]
    pub fn is_present(&self, row: usize) -> Option<bool> {
        self.view().get(row)
    }

    /// Returns whether a row has no value; `None` if there is no such row. O(1).
    #[inline]
    pub fn is_missing(&self, row: usize) -> Option<bool> {
        self.is_present(row).map(|is_present| !is_present)
    }

    /// Returns a range of the rows. O(1), shares the bytes. Its missing rows are counted when they are asked for.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`].
    pub fn slice(&self, rows: impl RangeBounds<usize>) -> Result<Self> {
        let rows = self.resolved(rows)?;
        let (first, offset) = bits::place(self.offset, rows.start);
        let len = rows.len();
        let bits = self.bits.slice(first..first + byte_count(offset, len))?;
        let missing = match self.missing.get() {
            Some(0) => Count::of(0),
            Some(missing) if missing == self.len => Count::of(len),
            _ => Count::unknown(),
        };
        Ok(Self { bits, offset, len, missing })
    }

    /// Resolves a range of rows.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] if it does not lie inside or runs backwards.
    fn resolved(&self, rows: impl RangeBounds<usize>) -> Result<Range<usize>> {
        resolved(rows, self.len)
    }

    /// Borrows the bytes. Row 0 has bit [`offset`](Self::offset) of the first one, least significant first. O(1).
    pub const fn bits(&self) -> &Array<u8> {
        &self.bits
    }

    /// Returns the bit of row 0 in the first byte, below 8. O(1).
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// The bits to read.
    #[inline(always)]
    fn view(&self) -> Bits<'_> {
        // The bytes are as many as needed (field invariant).
        Bits::new(self.bits.as_slice(), self.offset, self.len).unwrap_or(Bits::EMPTY)
    }

    /// Returns the states of 64 rows each, from row 0 on: the first in the lowest bit, 1 for a value.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u64> + FusedIterator + Clone {
        self.view().words()
    }

    /// Returns the states of the 64 rows from `row` on. O(1).
    #[inline]
    pub fn word_at(&self, row: usize) -> u64 {
        self.view().word_at(row)
    }

    /// Returns the runs of rows with a value and without one, in order.
    pub fn runs(&self) -> impl FusedIterator<Item = (Range<usize>, bool)> + Clone {
        self.view().runs()
    }

    /// Returns the rows without a value, in order.
    pub fn missing_rows(&self) -> impl FusedIterator<Item = usize> + Clone {
        self.view().zeros()
    }

    /// Returns the first row without a value in a range of rows. Rows that do not exist are not missing.
    pub fn first_missing(&self, rows: Range<usize>) -> Option<usize> {
        if self.missing.get() == Some(0) {
            return None;
        }
        let first = self.view().part(rows.clone()).zeros().next()?;
        Some(rows.start + first)
    }

    /// Returns a flag for each row: whether it has a value.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn to_flags(&self) -> Result<Vec<bool>> {
        let mut flags = filled(self.len, false)?;
        self.write_flags(0, &mut flags);
        Ok(flags)
    }

    /// Writes a flag for each row from `first_row` on: whether it has a value. `false` for rows that do not exist.
    pub fn write_flags(&self, first_row: usize, flags: &mut [bool]) {
        let view = self.view().part(first_row..first_row.saturating_add(flags.len()));
        let (in_rows, past) = flags.split_at_mut(view.len());
        past.fill(false);
        for (flags, word) in in_rows.chunks_mut(ROWS).zip(view.words()) {
            if word == low_bits(flags.len()) || word == 0 {
                flags.fill(word != 0);
                continue;
            }
            for (flags, byte) in flags.chunks_mut(8).zip(word.to_le_bytes()) {
                // A byte for each bit, which is not zero if the bit is set; then 1 for these bytes.
                let bits = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
                let ones = ((bits + 0x7F7F_7F7F_7F7F_7F7F) >> 7) & 0x0101_0101_0101_0101;
                let ones = ones.to_le_bytes().map(|one| one != 0);
                match flags.first_chunk_mut() {
                    Some(flags) => *flags = ones,
                    None => flags.copy_from_slice(&ones[..flags.len()]),
                }
            }
        }
    }

    /// Returns the bits from bit 0 on in as few bytes as they need, with zeros past the end. Shares if it is already so.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn to_packed(&self) -> Result<Array<u8>> {
        let has_zeros_past_end = match (self.bits.last(), self.len % 8) {
            (Some(last), end @ 1..) => last >> end == 0,
            _ => true,
        };
        if self.offset == 0 && has_zeros_past_end {
            return Ok(self.bits.clone());
        }
        self.repacked().map(|packed| packed.bits)
    }

    /// Copies to new bytes, from bit 0 on, with zeros past the end.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    fn repacked(&self) -> Result<Self> {
        let mut words = self.view().words();
        Self::build(self.len, |_, _| Ok(words.next().unwrap_or_default()))
    }
}

/// Resolves a range of `count` rows.
///
/// # Errors
/// [`ErrorKind::OutOfRange`] if it does not lie inside or runs backwards.
fn resolved(rows: impl RangeBounds<usize>, count: usize) -> Result<Range<usize>> {
    let refusal = |range| Error::new(ErrorKind::OutOfRange { what: "rows", range, count });
    let rows = resolve(rows, count, refusal)?;
    if rows.start > rows.end || rows.end > count { Err(refusal(rows)) } else { Ok(rows) }
}

/// Shares the bytes in O(1).
impl Clone for Validity {
    fn clone(&self) -> Self {
        let missing = Count::of(self.missing.0.load(Ordering::Relaxed));
        Self { bits: self.bits.clone(), offset: self.offset, len: self.len, missing }
    }
}

/// Compares the states of the rows. Other bits do not matter.
impl PartialEq for Validity {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.words().eq(other.words())
    }
}

impl Eq for Validity {}

impl fmt::Debug for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Missing<'a>(&'a Validity);
        impl fmt::Debug for Missing<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.0.missing_rows()).finish()
            }
        }
        f.debug_struct("Validity").field("len", &self.len).field("missing", &Missing(self)).finish()
    }
}
