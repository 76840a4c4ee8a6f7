//! The missing values of a column that is being read: the bitmap of the rows of one sink.

use crate::array::Validity;
use crate::base::error::Result;
use crate::base::room::filled;

/// The missing values among consecutive rows of a column. Takes no memory before the first one.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    /// A bit for each row, which is 1 if its value is present. Empty if none is missing.
    bits: Vec<u8>,
    /// The largest number of rows; 0 if no values are kept.
    rows: usize,
}

impl Gaps {
    pub(super) fn new(rows: usize) -> Self {
        Self { bits: Vec::new(), rows }
    }

    /// Allocates the bits, if values are kept.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn begin(&mut self) -> Result<()> {
        let bytes = self.rows.div_ceil(8);
        if self.bits.is_empty() && bytes > 0 {
            self.bits = filled(bytes, u8::MAX)?;
        }
        Ok(())
    }

    /// Marks a row as missing. Returns `false`, and does nothing, if the bits are not allocated yet.
    #[inline(always)]
    pub(super) fn mark(&mut self, row: usize) -> bool {
        match self.bits.get_mut(row / 8) {
            Some(byte) => {
                *byte &= !(1 << (row % 8));
                true
            }
            None => self.rows == 0,
        }
    }

    /// Marks a row as present.
    pub(super) fn unmark(&mut self, row: usize) {
        if let Some(byte) = self.bits.get_mut(row / 8) {
            *byte |= 1 << (row % 8);
        }
    }

    /// Returns which of the first rows are present; `None` if all are.
    ///
    /// # Errors
    /// [`OutOfRange`](crate::ErrorKind::OutOfRange) if there are more rows than the sink has.
    pub(super) fn into_validity(self, rows: usize) -> Result<Option<Validity>> {
        if self.bits.is_empty() {
            return Ok(None);
        }
        Ok(Some(Validity::new(self.bits, 0, rows)?).filter(Validity::has_missing))
    }
}
