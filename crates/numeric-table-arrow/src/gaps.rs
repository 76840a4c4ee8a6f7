//! Validity bitmaps of tables and of Arrow. Both have the same layout, so bits are shared in either direction.
//!
//! Numbers of nulls that others claim are never used: the bits are counted.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use bytes::Bytes;
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::array::Validity;
use numeric_table::{Array, Result};

use crate::chunks::{Chunk, ChunkColumn};

/// Returns the bitmap of an Arrow array, on the same memory; `None` if no value is null.
///
/// # Errors
/// [`ErrorKind::ArrayLength`] if the buffer is too short, which Arrow does not permit.
pub(crate) fn of_nulls(nulls: &NullBuffer) -> Result<Option<Validity>> {
    let bits = nulls.inner();
    let validity = Validity::new(Array::from_owner(bits.inner().clone()), bits.offset(), bits.len())?;
    Ok(Some(validity).filter(Validity::has_missing))
}

/// Returns a bitmap as Arrow's, on the same memory.
pub(crate) fn to_nulls(validity: &Validity) -> NullBuffer {
    let bytes = Buffer::from(Bytes::from_owner(validity.bits().clone()));
    NullBuffer::new(BooleanBuffer::new(bytes, validity.offset(), validity.len()))
}

/// Copies a bitmap to memory of its own.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(crate) fn copy_of(validity: &Validity) -> Result<Validity> {
    let mut copy = Validity::all_present(validity.len())?;
    copy.copy_from(0, validity)?;
    Ok(copy)
}

/// The bitmap of a column whose rows arrive in parts. It takes no memory until the first value is missing.
#[derive(Default)]
pub(crate) struct GrowingGaps {
    validity: Option<Validity>,
    /// Number of rows that there is room for.
    room: usize,
}

impl GrowingGaps {
    pub(crate) fn with_room(rows: usize) -> Self {
        Self { validity: None, room: rows }
    }

    /// Makes room for a larger number of rows.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn reserve(&mut self, rows: usize) -> Result<()> {
        self.validity = self.validity.take().map(|validity| validity.resized(rows, true)).transpose()?;
        self.room = rows;
        Ok(())
    }

    /// Copies the missing values of a column of chunks, whose first row is `first` here.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]; [`ErrorKind::OutOfRange`] if there is not enough room.
    pub(crate) fn add(&mut self, mut first: usize, chunks: &[Chunk<'_>], column: usize) -> Result<()> {
        for chunk in chunks {
            if let Some(validity) = chunk.columns.get(column).and_then(ChunkColumn::gaps) {
                let all = match &mut self.validity {
                    Some(all) => all,
                    none => none.insert(Validity::all_present(self.room)?),
                };
                all.copy_from(first, validity)?;
            }
            first = first.saturating_add(chunk.rows);
        }
        Ok(())
    }

    /// Returns the bitmap of the first `rows` rows; `None` if none of them is missing.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] if there is less room.
    pub(crate) fn finish(self, rows: usize) -> Result<Option<Validity>> {
        let validity = self.validity.map(|validity| validity.slice(..rows)).transpose()?;
        Ok(validity.filter(Validity::has_missing))
    }
}
