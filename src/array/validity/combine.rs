//! New bitmaps from others.

use super::bits::{ROWS, byte_count, compress, low_bits, write_word};
use super::{Count, Validity};
use crate::array::Array;
use crate::array::compress::{Vectors, mask};
use crate::base::error::{Error, ErrorKind, Result};

impl Validity {
    /// Joins bitmaps end to end; `None` stands for the given number of rows that all have a value. Returns `None` if no
    /// row is missing.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if a bitmap does not have the given number of rows; [`ErrorKind::LimitExceeded`]
    /// if there are more than `usize::MAX`; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let last = Validity::from_flags(&[false, true])?;
    /// let joined = Validity::concat(&[(None, 2), (Some(&last), 2)])?;
    /// assert_eq!(joined, Some(Validity::from_flags(&[true, true, false, true])?));
    /// assert_eq!(Validity::concat(&[(None, 2), (None, 3)])?, None);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn concat(parts: &[(Option<&Self>, usize)]) -> Result<Option<Self>> {
        let mut total = 0_usize;
        let mut has_missing = false;
        for &(part, rows) in parts {
            if let Some(part) = part {
                has_same_length(rows, part.len)?;
                has_missing |= part.has_missing();
            }
            total = total.checked_add(rows).ok_or_else(|| Error::limit("rows", usize::MAX, usize::MAX))?;
        }
        if !has_missing {
            return Ok(None);
        }
        if let Some(&(Some(only), _)) = parts.iter().find(|(_, rows)| *rows == total) {
            return Ok(Some(only.clone()));
        }
        let mut joined = Self::all_present(total)?;
        let mut first = 0;
        for &(part, rows) in parts {
            if let Some(part) = part.filter(|part| part.has_missing()) {
                joined.copy_from(first, part)?;
            }
            first += rows;
        }
        Ok(Some(joined).filter(Self::has_missing))
    }

    /// Returns the states of the rows with the given numbers, in that order.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] with the first row that does not exist; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[true, false, true])?;
    /// assert_eq!(validity.take(&[1, 0, 1])?.to_flags()?, [false, true, false]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn take(&self, rows: &[usize]) -> Result<Self> {
        let view = self.view();
        Self::build(rows.len(), |first, count| {
            let mut word = 0;
            for (index, &row) in rows[first..first + count].iter().enumerate() {
                let is_present = view.get(row).ok_or_else(|| Error::index_out_of_range("rows", row, self.len))?;
                word |= u64::from(is_present) << index;
            }
            Ok(word)
        })
    }

    /// Returns the states of the rows whose flag is set, in order.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] unless there is a flag for each row; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[true, false, true])?;
    /// assert_eq!(validity.filter(&[true, true, false])?.to_flags()?, [true, false]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn filter(&self, is_kept: &[bool]) -> Result<Self> {
        const BATCH: usize = 16 * ROWS;
        has_same_length(self.len, is_kept.len())?;
        let mut masks = [0; BATCH / ROWS];
        let kept = is_kept.chunks(BATCH).map(|flags| mask(flags, mask_of(&mut masks, flags), Vectors::Avx512)).sum();
        let mut bits = Array::<u8>::zeros(byte_count(0, kept))?;
        let mut room = bits.mutable_data()?;
        let mut states = self.view().words();
        let (mut waiting, mut waiting_rows, mut present) = (0_u64, 0, 0);
        for flags in is_kept.chunks(BATCH) {
            let masks = mask_of(&mut masks, flags);
            mask(flags, masks, Vectors::Avx512);
            for (&mask, word) in masks.iter().zip(states.by_ref()) {
                let rows = mask.count_ones() as usize;
                let word = match word & mask {
                    word if rows == ROWS || word == 0 => word,
                    word if word == mask => low_bits(rows),
                    word => compress(word, mask),
                };
                present += word.count_ones() as usize;
                waiting |= word << waiting_rows;
                waiting_rows += rows;
                if waiting_rows >= ROWS {
                    let (bytes, rest) = room.split_at_mut(room.len().min(8));
                    write_word(bytes, waiting);
                    room = rest;
                    waiting_rows -= ROWS;
                    // The bits of `word` that did not fit: none, or its last `waiting_rows`.
                    waiting = word.checked_shr((rows - waiting_rows) as u32).unwrap_or_default();
                }
            }
        }
        write_word(room, waiting);
        Ok(Self { bits, offset: 0, len: kept, missing: Count::of(kept.saturating_sub(present)) })
    }

    /// Returns a bitmap of the given number of rows: the first ones, which share the bytes, or a copy of all with new
    /// rows after them, which have a value or are missing.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let validity = Validity::from_flags(&[false, true])?;
    /// assert_eq!(validity.resized(3, true)?.to_flags()?, [false, true, true]);
    /// assert_eq!(validity.resized(1, true)?.to_flags()?, [false]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn resized(&self, len: usize, is_present: bool) -> Result<Self> {
        if len <= self.len {
            return self.slice(..len);
        }
        let mut resized = if is_present { Self::all_present(len)? } else { Self::all_missing(len)? };
        resized.copy_from(0, self)?;
        Ok(resized)
    }

    /// Returns which rows have a value in both bitmaps. Shares the bytes of one if the other has no missing rows.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let first = Validity::from_flags(&[true, true, false])?;
    /// let second = Validity::from_flags(&[true, false, false])?;
    /// assert_eq!(first.and(&second)?, second);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn and(&self, other: &Self) -> Result<Self> {
        has_same_length(self.len, other.len)?;
        if !other.has_missing() {
            return Ok(self.clone());
        }
        if !self.has_missing() {
            return Ok(other.clone());
        }
        let mut words = self.view().words().zip(other.view().words());
        Self::build(self.len, |_, _| Ok(words.next().map_or(0, |(first, second)| first & second)))
    }
}

/// Returns the words of the mask of flags.
fn mask_of<'m>(masks: &'m mut [u64], flags: &[bool]) -> &'m mut [u64] {
    &mut masks[..flags.len().div_ceil(ROWS)]
}

/// # Errors
/// [`ErrorKind::LengthMismatch`] unless both numbers of rows are equal.
fn has_same_length(expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::new(ErrorKind::LengthMismatch { expected, actual })) }
}
