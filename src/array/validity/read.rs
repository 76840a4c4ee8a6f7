//! Reading a bitmap: rows, words, runs, flags, bytes.

use std::iter::FusedIterator;
use std::ops::Range;

use super::Validity;
use super::bits::{ROWS, bit_at, low_bits, word_at};
use crate::array::Array;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::room::filled;

/// The flags of each byte.
static FLAGS: [[bool; 8]; 256] = {
    let mut flags = [[false; 8]; 256];
    let mut place = 0;
    while place < 256 * 8 {
        flags[place / 8][place % 8] = (place / 8) >> (place % 8) & 1 == 1;
        place += 1;
    }
    flags
};

impl Validity {
    /// Returns whether a row has a value; `None` if the row is out of range. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[true, false])?;
    /// assert_eq!([0, 1, 2].map(|row| validity.is_present(row)), [Some(true), Some(false), None]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn is_present(&self, row: usize) -> Option<bool> {
        (row < self.len).then(|| bit_at(&self.bits, self.offset, row))
    }

    /// Returns whether a row has no value; `None` if the row is out of range. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[true, false])?;
    /// assert_eq!([0, 1, 2].map(|row| validity.is_missing(row)), [Some(false), Some(true), None]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn is_missing(&self, row: usize) -> Option<bool> {
        self.is_present(row).map(|is_present| !is_present)
    }

    /// Returns the states of 64 rows each, from row 0 on, for any offset: the first row in the lowest bit, 1 for a
    /// value. Bits past the last row are 0.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_fn(70, |row| row % 64 < 2)?;
    /// assert_eq!(validity.words().collect::<Vec<_>>(), [0b11, 0b11]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn words(&self) -> impl ExactSizeIterator<Item = u64> + FusedIterator + Clone {
        self.view().words()
    }

    /// Returns the states of the 64 rows from `row` on: that of `row` in the lowest bit, 1 for a value, and 0 past the
    /// last row. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[false, true, false, true, true])?;
    /// assert_eq!((validity.word_at(1), validity.word_at(5)), (0b1101, 0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn word_at(&self, row: usize) -> u64 {
        if row < self.len { word_at(&self.bits, self.offset, row) & low_bits(self.len - row) } else { 0 }
    }

    /// Returns the runs of rows with a value and without one, in order: each as long as possible, with whether its rows
    /// have a value. Long runs cost a step for every 64 rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_fn(1000, |row| row != 500)?;
    /// assert_eq!(validity.runs().collect::<Vec<_>>(), [(0..500, true), (500..501, false), (501..1000, true)]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn runs(&self) -> impl FusedIterator<Item = (Range<usize>, bool)> + Clone {
        self.view().runs()
    }

    /// Returns the rows without a value, in order. 64 rows that all have one cost one step.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[false, true, false])?;
    /// assert_eq!(validity.missing_rows().collect::<Vec<_>>(), [0, 2]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_rows(&self) -> impl FusedIterator<Item = usize> + Clone {
        self.view().zeros()
    }

    /// Returns the first row without a value in a range of rows; `None` if all have one. Rows that do not exist do not
    /// count.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[false, true, false])?;
    /// assert_eq!((validity.first_missing(1..3), validity.first_missing(1..2)), (Some(2), None));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
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
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// assert_eq!(Validity::new(vec![0b101_u8], 0, 3)?.to_flags()?, [true, false, true]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn to_flags(&self) -> Result<Vec<bool>> {
        let mut flags = filled(self.len, false)?;
        self.write_flags(0, &mut flags);
        Ok(flags)
    }

    /// Writes a flag for each row from `first_row` on: whether it has a value. `false` for rows that do not exist.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let mut flags = [true; 3];
    /// Validity::from_flags(&[true, false, true])?.write_flags(1, &mut flags);
    /// assert_eq!(flags, [false, true, false]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn write_flags(&self, first_row: usize, flags: &mut [bool]) {
        let view = self.view().part(first_row..first_row.saturating_add(flags.len()));
        let (in_rows, past) = flags.split_at_mut(view.len());
        past.fill(false);
        for (flags, word) in in_rows.chunks_mut(ROWS).zip(view.words()) {
            if word == low_bits(flags.len()) || word == 0 {
                flags.fill(word != 0);
                continue;
            }
            let bytes = word.to_le_bytes();
            let (entire, rest) = flags.as_chunks_mut::<8>();
            for (flags, byte) in entire.iter_mut().zip(bytes) {
                *flags = FLAGS[usize::from(byte)];
            }
            let last = bytes.get(entire.len()).map_or([false; 8], |byte| FLAGS[usize::from(*byte)]);
            rest.iter_mut().zip(last).for_each(|(to, flag)| *to = flag);
        }
    }

    /// Returns the bits of the rows from bit 0 of the first byte on, in as few bytes as they need, with zeros past the
    /// last row. Shares the bytes if they are already so.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::new(vec![0b1110_1111_u8], 3, 3)?;
    /// assert_eq!(validity.to_packed()?[..], [0b101]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
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
