//! Which rows have a value: one bit per row, in shared bytes.
//!
//! Bits of borrowed bytes are in `bits`, calls that read in `read`, calls that change in `edit`, and new bitmaps from
//! others in `combine`.
//! Invariant: the bytes are those of the rows and no others, so a copy never costs more than the rows do.
//! Semantics: Arrow's validity bitmap. The number of missing rows is never taken from a caller.

mod bits;
mod combine;
mod edit;
mod read;

use std::fmt;
use std::ops::{Range, RangeBounds};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Array;
use super::compress::{self, Vectors};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::range::resolve;
use bits::{Bits, ROWS, byte_count, low_bits, write_word};

/// Which of a number of rows have a value, and which are missing: one bit per row, 1 for a value.
///
/// ```text
///   bits    [ . . 1 0 1 1 0 1 ] [ 1 1 . . . . . .]    least significant bit first
///   row           0 1 2 3 4 5     6 7                 offset 2, 8 rows, rows 1 and 4 are missing
/// ```
///
/// The bytes are shared like those of an [`Array`]: a clone or a slice copies nothing, and a change copies the bytes of
/// its rows first, unless they are writable and nothing else shares them. Bits that belong to no row, before the first
/// and after the last one, are never read as states, and keep their values.
///
/// The library counts the missing rows itself. If another owner of the bytes changes them meanwhile, answers may be out
/// of date, but every call remains safe.
///
/// Source: validity bitmaps in the columnar format of Arrow.
///
/// # Examples
/// ```
/// use numeric_table::array::Validity;
/// let mut validity = Validity::new(vec![0b1011_0100_u8, 0b0000_0011], 2, 8)?; // as Arrow has it: no copy
/// assert_eq!(validity.missing_rows().collect::<Vec<_>>(), [1, 4]);
/// let first_half = validity.slice(..4)?; // shares the bytes
/// validity.set(1, true)?; // copies them first
/// assert_eq!((validity.missing_count(), first_half.missing_count()), (1, 1));
/// assert_eq!(first_half.to_flags()?, [true, false, true, true]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct Validity {
    /// The bytes of the rows, and no others: [`byte_count`] of them. Bits before `offset` and past the last row may
    /// have any value.
    bits: Array<u8>,
    /// The bit of row 0 in the first byte, below 8.
    offset: usize,
    len: usize,
    missing: Count,
}

/// A number of missing rows. After a change that nothing counted, it is unknown until it is needed.
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
    /// Creates a bitmap of `len` rows from bits, least significant first: row 0 has bit number `offset`, which may be
    /// beyond the first byte.
    ///
    /// Shares the bytes, and counts the missing rows: O(`len` / 64). Other bits may have any value.
    ///
    /// # Errors
    /// [`ErrorKind::ArrayLength`] if there are fewer bytes than `offset + len` bits need.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::new(vec![0xFF_u8, 0b0000_1011], 8, 4)?;
    /// assert_eq!(validity.to_flags()?, [true, true, false, true]);
    /// assert!(Validity::new(vec![0xFF_u8], 6, 3).is_err()); // one bit too few
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(bits: impl Into<Array<u8>>, offset: usize, len: usize) -> Result<Self> {
        let bits = bits.into();
        let (first, offset_in_byte) = (offset / 8, offset % 8);
        let count = byte_count(offset_in_byte, len);
        let end = first + count; // cannot overflow: each is about an eighth of a number of bits
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
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// assert!(!Validity::all_present(100)?.has_missing());
    /// assert!(Validity::all_present(usize::MAX).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn all_present(len: usize) -> Result<Self> {
        let mut bits = Array::full(byte_count(0, len), u8::MAX)?;
        if let (Some(last), 1..) = (bits.mutable_data()?.last_mut(), len % 8) {
            *last = !(u8::MAX << (len % 8));
        }
        Ok(Self { bits, offset: 0, len, missing: Count::of(0) })
    }

    /// Creates a bitmap of rows without a value. Large bitmaps are zeroed lazily, without touching their pages.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// assert_eq!(Validity::all_missing(100)?.missing_count(), 100);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn all_missing(len: usize) -> Result<Self> {
        Ok(Self { bits: Array::zeros(byte_count(0, len))?, offset: 0, len, missing: Count::of(len) })
    }

    /// Creates a bitmap from a flag for each row: whether it has a value. One pass, by vector instructions if the
    /// processor has them.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[true, false, true])?;
    /// assert_eq!(validity.to_packed()?[..], [0b101]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
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
    /// [`ErrorKind::OutOfMemory`]; the function is then not called.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let values = [1.0, f64::NAN, 3.0];
    /// let validity = Validity::from_fn(3, |row| !values[row].is_nan())?;
    /// assert_eq!(validity.is_missing(1), Some(true));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
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
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// assert_eq!(Validity::all_present(3)?.len(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the bitmap has 0 rows. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// assert!(Validity::all_present(0)?.is_empty());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of rows without a value.
    ///
    /// O(1). Only the first call after [`slice`](Self::slice) counts them, in O(`len` / 64).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// assert_eq!(Validity::from_flags(&[true, false, false])?.missing_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_count(&self) -> usize {
        self.missing.get().unwrap_or_else(|| {
            let count = self.len - self.view().count_ones();
            self.missing.0.store(count, Ordering::Relaxed);
            count
        })
    }

    /// Returns whether any row has no value. Costs as much as [`missing_count`](Self::missing_count).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// assert!(Validity::from_flags(&[true, false])?.has_missing());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn has_missing(&self) -> bool {
        self.missing_count() > 0
    }

    /// Returns a range of the rows. O(1), shares the bytes. Missing rows of a part are counted when they are needed.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] if the range does not lie inside or runs backwards.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[true, false, true, false])?;
    /// let slice = validity.slice(1..3)?;
    /// assert_eq!((slice.len(), slice.missing_count()), (2, 1));
    /// assert!(slice.bits().shares_memory_with(validity.bits()));
    /// assert!(validity.slice(3..5).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
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

    /// Borrows the bytes of the rows. Row 0 has bit [`offset`](Self::offset) of the first one, least significant first.
    /// O(1).
    ///
    /// Bits before that one and past the last row may have any value. [`to_packed`](Self::to_packed) returns bytes
    /// without such bits.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::new(vec![0_u8, 0, 0b0000_1100], 18, 2)?;
    /// assert_eq!((&validity.bits()[..], validity.offset()), (&[0b0000_1100][..], 2)); // without the bytes before it
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub const fn bits(&self) -> &Array<u8> {
        &self.bits
    }

    /// Returns the number of the bit of row 0 in the first byte, below 8. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// assert_eq!(Validity::all_present(20)?.slice(11..)?.offset(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the bits for reading.
    #[inline(always)]
    fn view(&self) -> Bits<'_> {
        // The bytes are exactly as many as needed (field invariant).
        Bits::new(self.bits.as_slice(), self.offset, self.len).unwrap_or(Bits::EMPTY)
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
