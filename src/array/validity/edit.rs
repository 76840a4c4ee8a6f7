//! Changes of a bitmap. Shared bytes are copied before the first bit changes, so that errors change nothing.

use std::ops::RangeBounds;

use super::bits::{self, place};
use super::{Count, Validity};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

impl Validity {
    /// Declares that a row has a value, or that it is missing.
    ///
    /// O(1). Copies the bytes of the rows first if they are shared or immutable, unless the row is already so.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`], [`ErrorKind::OutOfMemory`]. Nothing has changed.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let mut validity = Validity::all_present(3)?;
    /// validity.set(1, false)?;
    /// assert_eq!(validity.to_flags()?, [true, false, true]);
    /// assert!(validity.set(3, false).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn set(&mut self, row: usize, is_present: bool) -> Result<()> {
        let Some(was_present) = self.is_present(row) else {
            return Err(Error::index_out_of_range("rows", row, self.len));
        };
        if was_present == is_present {
            return Ok(());
        }
        let (byte, bit) = place(self.offset, row);
        if let Some(byte) = self.bits.need_mutable_data()?.get_mut(byte) {
            *byte = (*byte & !(1 << bit)) | (u8::from(is_present) << bit);
        }
        self.recount(usize::from(!was_present), usize::from(!is_present));
        Ok(())
    }

    /// Declares that all rows of a range have a value, or that all are missing.
    ///
    /// O(rows / 64). Copies the bytes first as [`set`](Self::set) does.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`], [`ErrorKind::OutOfMemory`]. Nothing has changed.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let mut validity = Validity::all_missing(5)?;
    /// validity.fill(1..4, true)?;
    /// assert_eq!(validity.to_flags()?, [false, true, true, true, false]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn fill(&mut self, rows: impl RangeBounds<usize>, is_present: bool) -> Result<()> {
        let rows = self.resolved(rows)?;
        let present = self.view().part(rows.clone()).count_ones();
        let (before, after) = (rows.len() - present, if is_present { 0 } else { rows.len() });
        if before == after {
            return Ok(());
        }
        bits::fill(self.bits.need_mutable_data()?, self.offset, rows, is_present);
        self.recount(before, after);
        Ok(())
    }

    /// Copies the states of all rows of another bitmap to the rows from `first_row` on.
    ///
    /// O(rows / 64), for any two offsets. Copies the bytes first if they are shared or immutable.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`], [`ErrorKind::OutOfMemory`]. Nothing has changed.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::Validity;
    /// let mut validity = Validity::all_present(4)?;
    /// validity.copy_from(1, &Validity::from_flags(&[false, true])?)?;
    /// assert_eq!(validity.to_flags()?, [true, false, true, true]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn copy_from(&mut self, first_row: usize, other: &Self) -> Result<()> {
        let rows = self.resolved(first_row..first_row.saturating_add(other.len))?;
        if rows.is_empty() {
            return Ok(());
        }
        let before = rows.len() - self.view().part(rows.clone()).count_ones();
        bits::copy(self.bits.need_mutable_data()?, self.offset, first_row, other.view());
        let after = rows.len() - self.view().part(rows).count_ones();
        self.recount(before, after);
        Ok(())
    }

    /// Adapts the number of missing rows to a change of some of them. An unknown number stays unknown.
    fn recount(&mut self, before: usize, after: usize) {
        if let Some(missing) = self.missing.get() {
            self.missing = Count::of(missing.saturating_sub(before).saturating_add(after).min(self.len));
        }
    }
}
