//! A bitmap that is written by several threads, also where their rows share a byte.

use std::marker::PhantomData;
use std::ops::{Range, RangeBounds};
use std::sync::atomic::{AtomicU8, Ordering};

use super::bits::{ROWS, Span, low_bits, place, span};
use super::{Count, Validity, resolved};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// A borrowed [`Validity`] that several threads may write at once: its copies and parts write the same bits.
///
/// A write changes only the bits of its rows, atomically, so rows that share a byte may be written by different threads.
/// If threads write the same row at the same time, it gets the state of one of them.
///
/// # Examples
/// ```
/// # use numeric_table::array::Validity;
/// let mut validity = Validity::all_present(10)?;
/// let rows = validity.need_mutable()?;
/// std::thread::scope(|scope| {
///     let [first, second] = [rows.part(..5)?, rows.part(5..)?]; // row 4 and row 5 share a byte
///     scope.spawn(move || first.set(4, false));
///     scope.spawn(move || second.fill(1..3, false));
///     Ok::<(), numeric_table::Error>(())
/// })?;
/// assert_eq!(validity.missing_rows().collect::<Vec<_>>(), [4, 6, 7]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct ValidityMut<'t> {
    /// The bytes of the rows.
    bits: &'t [AtomicU8],
    /// The bit of row 0 in the first byte, below 8.
    offset: usize,
    len: usize,
    /// It may write what a `&mut Validity` may.
    borrow: PhantomData<&'t mut Validity>,
}

impl Validity {
    /// Borrows the bitmap for writing by several threads. Copies the bytes first if they are shared or immutable. The
    /// missing rows are counted when their number is next needed.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]. Nothing has changed.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let mut validity = Validity::all_missing(3)?;
    /// validity.need_mutable()?.set(1, true)?;
    /// assert_eq!(validity.missing_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn need_mutable(&mut self) -> Result<ValidityMut<'_>> {
        let bytes: *mut [u8] = self.bits.need_mutable_data()?;
        self.missing = Count::unknown(); // from here on, even if the result is never dropped
        // SAFETY: `AtomicU8` has the size, the alignment and the valid bits of `u8`. The pointer is from a `&mut [u8]`
        // that borrows from `self` for the lifetime of the result; for that long nothing else reads or writes these
        // bytes, and the result accesses them only as atomic bytes.
        let bits = unsafe { &*(bytes as *const [AtomicU8]) };
        Ok(ValidityMut { bits, offset: self.offset, len: self.len, borrow: PhantomData })
    }
}

impl<'t> ValidityMut<'t> {
    /// Returns the number of rows. O(1).
    pub const fn len(self) -> usize {
        self.len
    }

    /// Returns whether the bitmap has 0 rows. O(1).
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns a range of the rows, which are numbered from 0 on. O(1).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`].
    pub fn part(self, rows: impl RangeBounds<usize>) -> Result<Self> {
        let rows = resolved(rows, self.len)?;
        let (first, offset) = place(self.offset, rows.start);
        Ok(Self { bits: self.bits.get(first..).unwrap_or_default(), offset, len: rows.len(), ..self })
    }

    /// Returns whether a row has a value; `None` if the row is out of range. O(1).
    #[inline]
    pub fn is_present(self, row: usize) -> Option<bool> {
        let (byte, bit) = place(self.offset, row);
        (row < self.len).then(|| self.load(byte) >> bit & 1 == 1)
    }

    /// Returns the states of the 64 rows from `row` on, as [`Validity::word_at`] does. O(1).
    pub fn word_at(self, row: usize) -> u64 {
        if row >= self.len {
            return 0;
        }
        let (first, shift) = place(self.offset, row);
        let low = u64::from_le_bytes(std::array::from_fn(|index| self.load(first + index)));
        let word = (low >> shift) | (u64::from(self.load(first + 8)) << 1 << (63 - shift));
        word & low_bits(self.len - row)
    }

    /// Declares that a row has a value, or none. O(1).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`].
    #[inline]
    pub fn set(self, row: usize, is_present: bool) -> Result<()> {
        if row >= self.len {
            return Err(Error::index_out_of_range("rows", row, self.len));
        }
        let (byte, bit) = place(self.offset, row);
        self.write(byte, 1 << bit, if is_present { u8::MAX } else { 0 });
        Ok(())
    }

    /// Declares that all rows of a range have a value, or none.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`].
    pub fn fill(self, rows: impl RangeBounds<usize>, is_present: bool) -> Result<()> {
        let Span { head, middle, tail } = span(self.offset, resolved(rows, self.len)?);
        let byte = if is_present { u8::MAX } else { 0 };
        for (place, mask) in head.into_iter().chain(tail) {
            self.write(place, mask, byte);
        }
        for bits in self.bits.get(middle).unwrap_or_default() {
            bits.store(byte, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Writes the states of at most 64 rows: the lowest bit is that of the first row.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] if a row does not exist; [`ErrorKind::LimitExceeded`] if there are more than 64.
    pub fn write_word(self, rows: Range<usize>, word: u64) -> Result<()> {
        let rows = resolved(rows, self.len)?;
        if rows.len() > ROWS {
            return Err(Error::limit("rows of a word", rows.len(), ROWS));
        }
        let (first, shift) = place(self.offset, rows.start);
        let mask = u128::from(low_bits(rows.len())) << shift;
        let word = u128::from(word) << shift;
        for (index, (mask, bits)) in mask.to_le_bytes().into_iter().zip(word.to_le_bytes()).enumerate().take(9) {
            self.write(first + index, mask, bits);
        }
        Ok(())
    }

    fn load(self, byte: usize) -> u8 {
        self.bits.get(byte).map_or(0, |bits| bits.load(Ordering::Relaxed))
    }

    /// Writes the bits of a byte that are in the mask, and leaves the others as they are.
    #[inline]
    fn write(self, byte: usize, mask: u8, bits: u8) {
        let (ones, zeros) = (bits & mask, !bits & mask);
        let Some(byte) = self.bits.get(byte) else { return };
        match (ones, zeros) {
            (0, 0) => {}
            _ if mask == u8::MAX => byte.store(bits, Ordering::Relaxed),
            (_, 0) => _ = byte.fetch_or(ones, Ordering::Relaxed),
            (0, _) => _ = byte.fetch_and(!zeros, Ordering::Relaxed),
            _ => {
                byte.fetch_or(ones, Ordering::Relaxed);
                byte.fetch_and(!zeros, Ordering::Relaxed);
            }
        }
    }
}
