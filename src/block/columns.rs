//! Blocks of values of one column, borrowing the table.
//!
//! A block is the table's memory if the asked type is the stored one and the values lie one after another: a column of
//! a column-major table, or of a table with one column. Otherwise it is a converted copy.
//! Semantics: DAAL `getBlockOfColumnValues`.

use std::fmt;
use std::ops::{Deref, DerefMut, Range};

use super::rows::block_facts;
use super::values::{Values, ValuesMut};
use crate::base::element::Element;
use crate::base::error::Result;
use crate::convert::ConversionPolicy;
use crate::table::{NumericTable, Region};

/// Consecutive values of one column of a table, for reading, as `U`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
/// let column = table.column::<f32>(1, 0..3)?;
/// assert_eq!(&column[..], [2.0, 4.0, 6.0]);
/// assert!(table.to_layout(DataLayout::ColumnMajor)?.column::<i16>(1, 0..3)?.is_zero_copy());
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct ColumnBlock<'t, U: Element> {
    values: Values<'t, U>,
    region: Region,
}

/// Consecutive values of one column of a table, for reading and writing, as `U`. End it with [`release`](Self::release):
/// a converted block that is just dropped writes back if all of its values fit, and otherwise leaves the table unchanged
/// **and the error unseen**, as `BufWriter` does. A closure, with
/// [`update_column`](super::BlockUpdate::update_column), cannot lose the error.
///
/// What is written when follows the rules of [`RowBlockMut`](super::RowBlockMut).
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
/// let mut column = table.column_mut::<f64>(0, 0..3)?;
/// column.iter_mut().for_each(|value| *value *= 10.0);
/// column.release()?;
/// assert_eq!(table.as_slice()?, [10, 2, 30, 4, 50, 6]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[must_use = "a converted block that is dropped hides the error of writing back: `release` it, or use `update_rows` or `update_column`"]
pub struct ColumnBlockMut<'t, U: Element> {
    values: ValuesMut<'t, U>,
    region: Region,
}

impl<'t, U: Element> ColumnBlock<'t, U> {
    pub(super) fn new<N: NumericTable + ?Sized>(
        table: &'t N,
        region: Region,
        policy: ConversionPolicy,
    ) -> Result<Self> {
        let values = match Values::borrow(table, &region)? {
            Some(values) => Values::Borrowed(values),
            None => Values::convert(table, &region, policy)?,
        };
        Ok(Self { values, region })
    }

    block_facts!();

    /// Gives the column of the table that this shows. Source: DAAL `getColumnsOffset`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let column = table.column::<f32>(1, 2..3)?;
    /// assert_eq!((column.column_offset(), column.row_offset()), (1, 2));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_offset(&self) -> usize {
        self.region.columns.start
    }

    /// Tells whether the values are the table's own memory.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert!(!table.column::<i16>(1, 0..3)?.is_zero_copy()); // the rows lie between
    /// assert!(table.to_layout(DataLayout::ColumnMajor)?.column::<i16>(1, 0..3)?.is_zero_copy());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn is_zero_copy(&self) -> bool {
        matches!(self.values, Values::Borrowed(_))
    }
}

impl<U: Element> Deref for ColumnBlock<'_, U> {
    type Target = [U];

    fn deref(&self) -> &[U] {
        self.values.as_slice()
    }
}

impl<U: Element> AsRef<[U]> for ColumnBlock<'_, U> {
    fn as_ref(&self) -> &[U] {
        self
    }
}

impl<'b, U: Element> IntoIterator for &'b ColumnBlock<'_, U> {
    type Item = &'b U;
    type IntoIter = std::slice::Iter<'b, U>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<U: Element> fmt::Debug for ColumnBlock<'_, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnBlock").field("region", &self.region).field("values", &&self[..]).finish()
    }
}

impl<'t, U: Element> ColumnBlockMut<'t, U> {
    #[inline(always)]
    pub(super) fn new(values: ValuesMut<'t, U>, region: Region) -> Self {
        Self { values, region }
    }

    /// A block on a copy of a region, which whoever made it writes back.
    pub(super) fn staged(values: &'t mut [U], region: Region) -> Self {
        Self { values: ValuesMut::Staged(values), region }
    }

    block_facts!();

    /// Gives the column of the table that this shows. Source: DAAL `getColumnsOffset`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let column = table.column_mut::<f32>(1, 2..3)?;
    /// assert_eq!((column.column_offset(), column.row_offset()), (1, 2));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_offset(&self) -> usize {
        self.region.columns.start
    }

    /// Tells whether the values are the table's own memory.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut table = table.to_layout(DataLayout::ColumnMajor)?;
    /// assert!(table.column_mut::<i16>(1, 0..3)?.is_zero_copy());
    /// assert!(!table.column_mut::<f32>(1, 0..3)?.is_zero_copy()); // converted
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn is_zero_copy(&self) -> bool {
        self.values.is_borrowed()
    }

    /// Sets the policy of writing back; it is [`ConversionPolicy::Checked`] if not set.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
    /// let mut column = table.column_mut::<f32>(1, 1..3)?.with_policy(ConversionPolicy::Saturate);
    /// column[0] = 1000.0;
    /// column.release()?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 255, 5, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn with_policy(mut self, policy: ConversionPolicy) -> Self {
        self.values.set_policy(policy);
        self
    }

    /// Writes what was changed into the table, all of it or nothing, and keeps the block. The copy that
    /// [`update_column`](super::BlockUpdate::update_column) hands to its closure is written when that has returned, and not
    /// before.
    ///
    /// # Errors
    /// [`Error::ValueNotRepresentable`](crate::Error::ValueNotRepresentable) with the table's row and column.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
    /// let mut column = table.column_mut::<f32>(1, 1..3)?;
    /// column[1] = 300.0;
    /// assert!(column.write_back().is_err());
    /// column[1] = 200.0;
    /// column.release()?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4, 5, 200]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn write_back(&mut self) -> Result<()> {
        self.values.write_back()
    }

    /// Writes what was changed into the table, all of it or nothing, and ends the block.
    ///
    /// # Errors
    /// [`Error::ValueNotRepresentable`](crate::Error::ValueNotRepresentable) with the table's row and column; the table
    /// is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
    /// let mut column = table.column_mut::<f32>(1, 1..3)?;
    /// column.fill(9.0);
    /// column.release()?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 9, 5, 9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn release(self) -> Result<()> {
        self.values.release()
    }

    /// Ends the block without writing back. What was written in place, where the block is the table's memory, stays.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
    /// let mut column = table.column_mut::<f32>(1, 1..3)?;
    /// column.fill(9.0);
    /// column.discard();
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn discard(self) {
        self.values.discard();
    }
}

impl<U: Element> Deref for ColumnBlockMut<'_, U> {
    type Target = [U];

    fn deref(&self) -> &[U] {
        self.values.as_slice()
    }
}

impl<U: Element> DerefMut for ColumnBlockMut<'_, U> {
    fn deref_mut(&mut self) -> &mut [U] {
        self.values.as_mut_slice()
    }
}

impl<U: Element> fmt::Debug for ColumnBlockMut<'_, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnBlockMut").field("region", &self.region).field("values", &&self[..]).finish()
    }
}
