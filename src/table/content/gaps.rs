//! Missing values in the content of tables: bitmaps, stored as further arrays.
//!
//! If a structure of arrays has missing values, its settings list the columns that have any, each followed by the
//! CRC-32 of its bitmap. The bitmaps follow the columns, as arrays of `u8`: one bit for each row, least significant
//! first, 1 for a present value, and 0 past the last row. Whether a column is nullable is in the dictionary.

use super::{Content, FoundContent, Values, refusal};
use crate::array::{AnyArray, Validity};
use crate::base::element::{ElementType, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::room::with_room;
use crate::base::shape::Shape;
use crate::dictionary::DataDictionary;
use crate::table::{HomogenNumericTable, NumericTable, TableKind};

/// Returns whether a table whose columns have one type must be stored as a structure of arrays: if a column is
/// nullable, unless the table itself is homogeneous and therefore has all its values.
pub(super) fn may_have(table: &(dyn NumericTable + '_), dictionary: &DataDictionary, element: ElementType) -> bool {
    let is_homogeneous = || match_element!(element, T => table.downcast_ref::<HomogenNumericTable<T>>().is_some());
    dictionary.has_nullable() && !is_homogeneous()
}

impl<'t> Content<'t> {
    /// Returns the content with its bitmaps among the settings and the arrays. Bitmaps that begin at the first bit of a
    /// byte are shared.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn with_bitmaps(mut self) -> Result<Self> {
        let (settings, bitmaps) = self.bitmaps()?;
        self.gaps.clear();
        self.settings.extend(settings);
        self.values.extend(bitmaps);
        Ok(self)
    }

    /// Returns the settings and the arrays that store the missing values.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn bitmaps(&self) -> Result<(Vec<u64>, Vec<Values<'t>>)> {
        let (mut settings, mut bitmaps) = (with_room(self.gaps.len() * 2)?, with_room(self.gaps.len())?);
        for (column, validity) in &self.gaps {
            let bits = validity.to_packed()?;
            settings.extend([*column as u64, crc32fast::hash(&bits).into()]);
            bitmaps.push(Values::Array(AnyArray::new(bits)));
        }
        Ok((settings, bitmaps))
    }
}

impl FoundContent {
    /// Moves the bitmaps of a structure of arrays from its settings and arrays to [`gaps`](Self::gaps). Missing values
    /// are counted, since no number in a file is trusted.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first broken rule; [`ErrorKind::OutOfMemory`].
    pub(super) fn take_bitmaps(&mut self) -> Result<()> {
        let Shape { rows, columns } = self.shape;
        let refuse = |reason: std::fmt::Arguments<'_>| refusal(TableKind::STRUCTURE_OF_ARRAYS, reason);
        let settings = std::mem::take(&mut self.settings);
        let (entries, rest) = settings.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(refuse(format_args!("{} settings, but each bitmap has two", settings.len())));
        }
        if entries.is_empty() {
            return Ok(());
        }
        if !self.gaps.is_empty() {
            return Err(refuse(format_args!("it has both bitmaps and values that are null")));
        }
        self.gaps = with_room(entries.len())?;
        let count = self.arrays.len();
        if count.checked_sub(columns) != Some(entries.len()) {
            let bitmaps = entries.len();
            return Err(refuse(format_args!("{count} arrays for {columns} columns and {bitmaps} bitmaps")));
        }
        let mut first = 0; // of the columns that may follow
        for (&[column, checksum], array) in entries.iter().zip(self.arrays.drain(columns..)) {
            let Some(column) = usize::try_from(column).ok().filter(|column| (first..columns).contains(column)) else {
                return Err(refuse(format_args!(
                    "the bitmap of column {column} is not in the order of {columns} columns"
                )));
            };
            first = column + 1;
            if !self.dictionary.is_nullable(column) {
                return Err(refuse(format_args!("column {column} has a bitmap but is not nullable")));
            }
            let bits = array.downcast::<u8>().map_err(|array| {
                refuse(format_args!("the bitmap of column {column} has values of {}", array.element_type()))
            })?;
            let (expected, found) = (rows.div_ceil(8), bits.len());
            if found != expected {
                return Err(refuse(format_args!(
                    "the bitmap of column {column} has {found} bytes, but {rows} rows take {expected}"
                )));
            }
            if u64::from(crc32fast::hash(&bits)) != checksum {
                return Err(refuse(format_args!(
                    "the checksum of the bitmap of column {column} does not match: it is damaged"
                )));
            }
            if let (Some(last), end @ 1..) = (bits.last(), rows % 8)
                && last >> end != 0
            {
                return Err(refuse(format_args!("the bitmap of column {column} has bits past row {rows}")));
            }
            self.gaps.push((column, Validity::new(bits, 0, rows)?));
        }
        Ok(())
    }
}
