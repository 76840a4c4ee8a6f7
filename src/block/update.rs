//! Editing a block inside a closure: the forms of writing that cannot lose an error.
//!
//! Calls that return a block are in `access`.
//! Invariant: when a call returns an error, or its closure panics, no edit of a copy is in the table.

use std::ops::RangeBounds;

use super::access::one_column;
#[cfg(feature = "rayon")]
use super::cuts::BlocksMut;
use super::cuts::Cuts;
use super::values::Buffer;
use super::{BlockAccess, BlockMut};
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::Error;
#[cfg_attr(not(feature = "rayon"), expect(unused_imports, reason = "only the pages name errors then"))]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
#[cfg(feature = "rayon")]
use crate::base::parallel;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::table::{NumericTable, Region, TableDescription, lend, rows_of};
use crate::window::AnySlice;

/// Writing through a closure, on every kind of table, `dyn NumericTable` included: the edits are written back when the
/// closure returns `Ok`, and no error is lost.
///
/// | call | the closure edits | on `Err`, or a panic | cost |
/// | --- | --- | --- | --- |
/// | `update_rows`, `update_column` | a copy | the table is unchanged | one pass each way |
/// | `update_rows_in_place`, `update_column_in_place` | the table's memory if possible, else a copy | edits of the table's memory are kept | none for the stored type |
/// | `update_row_blocks`, `par_update_row_blocks` | a copy of each block | that block is unchanged | one pass each way |
///
/// Values are written back under [`ConversionPolicy::Checked`]: a value that the table cannot hold is
/// [`ErrorKind::ValueNotRepresentable`], and nothing is written. An unchanged value keeps every digit that the table
/// holds: what a block shows of NaN or 300 as `u8`, 0 or 255, is no change when it is assigned. A block that is only
/// written ([`WriteOnly`](crate::ReadWriteMode::WriteOnly)) and `fill` assign whatever was there.
///
/// For a kind of table that cannot be written the error is [`ErrorKind::ReadOnlyTable`]. Calls that edit a copy detect
/// that when they write it back: **the closure has been called by then**, and its other effects remain. Only
/// `update_row_blocks`, `par_update_row_blocks` and the calls that edit in place detect it before.
/// [`check_writable`](Self::check_writable) checks it in advance.
///
/// A closure returns the library's [`Result`], so it needs no type annotations; `?` works inside it for everything that
/// returns the library's [`Error`]. Any other error is wrapped by [`Error::other`], and is the source of the returned
/// [`ErrorKind::Other`].
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
///
/// fn halve(table: &mut dyn NumericTable) -> Result<(), Box<dyn std::error::Error>> {
///     table.update_rows::<f64, _>(.., |block| {
///         for value in block.iter_mut() {
///             *value /= 2.0;
///         }
///         Ok(())
///     })?;
///     Ok(())
/// }
///
/// let mut table = HomogenNumericTable::from_rows(&[[2_u8, 4], [6, 8]])?;
/// halve(&mut table)?;
/// assert_eq!(table.as_slice()?, [1, 2, 3, 4]);
///
/// // An error of your own stops the update, and nothing is written.
/// let result = table.update_rows::<f64, _>(.., |block| {
///     block.fill(0.0);
///     let factor: f64 = "three".parse().map_err(Error::other)?;
///     block.iter_mut().for_each(|value| *value *= factor);
///     Ok(())
/// });
/// assert_eq!(result.unwrap_err().to_string(), "invalid float literal");
/// assert_eq!(table.as_slice()?, [1, 2, 3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait BlockUpdate: NumericTable {
    /// Edits consecutive rows as one row-major block of `U`, all or nothing: if the closure returns an error or panics,
    /// or a value does not fit, the table is unchanged.
    ///
    /// The closure edits a copy, whatever the table stores. Returns what the closure returns.
    ///
    /// Cost: memory for the block, one pass to read it, two to write it back (one if `U` is the stored type).
    ///
    /// # Errors
    /// Before the closure is called: [`ErrorKind::RowsOutOfRange`], [`ErrorKind::NotAllocated`],
    /// [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`]. The error of the closure. After the closure has
    /// been called: [`ErrorKind::ValueNotRepresentable`] with the table's row and column; [`ErrorKind::ReadOnlyTable`];
    /// [`ErrorKind::OutOfMemory`] if memory that the table shares cannot be copied.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
    /// let sum = table.update_rows::<f64, _>(1.., |block| {
    ///     block.row_mut(0)[0] = 30.0;
    ///     Ok(block.iter().sum::<f64>())
    /// })?;
    /// assert_eq!((sum, table.as_slice()?), (45.0, &[1, 2, 30, 4, 5, 6][..]));
    ///
    /// let result = table.update_rows::<f64, _>(0..1, |block| {
    ///     block.copy_from_slice(&[7.0, 300.0]);
    ///     Ok(())
    /// });
    /// assert!(matches!(result.unwrap_err().kind(), ErrorKind::ValueNotRepresentable { row: 0, column: 1, .. }));
    /// assert_eq!(table.as_slice()?, [1, 2, 30, 4, 5, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn update_rows<U: Element, R>(
        &mut self,
        rows: impl RangeBounds<usize>,
        edit: impl FnOnce(&mut BlockMut<'_, U>) -> Result<R>,
    ) -> Result<R> {
        let region = Region { rows: rows_of(self.shape(), rows)?, columns: 0..self.column_count() };
        update_copy(self, &mut Buffer::new(), region, edit)
    }

    /// Edits consecutive rows in the table's own memory, without a copy, if they are contiguous there as `U`: edits
    /// that were made before an error or a panic are kept.
    ///
    /// Otherwise the closure edits a copy, as in [`update_rows`](Self::update_rows). Use this for large blocks of the
    /// stored type that need not be undone.
    ///
    /// # Errors
    /// Those of [`update_rows`](Self::update_rows); if the table is read-only, or its shared memory cannot be copied,
    /// the closure is not called.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let result = table.update_rows_in_place::<u8, ()>(.., |block| {
    ///     block[0] = 10;
    ///     Err(Error::other("given up"))
    /// });
    /// assert!(result.is_err());
    /// assert_eq!(table.as_slice()?, [10, 2, 3, 4]); // the memory of the table
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn update_rows_in_place<U: Element, R>(
        &mut self,
        rows: impl RangeBounds<usize>,
        edit: impl FnOnce(&mut BlockMut<'_, U>) -> Result<R>,
    ) -> Result<R> {
        edit_in_place(self.rows_mut(rows)?, edit)
    }

    /// Edits consecutive values of one column as `U`, all or nothing, like [`update_rows`](Self::update_rows).
    ///
    /// # Errors
    /// Those of [`update_rows`](Self::update_rows), including [`ErrorKind::ReadOnlyTable`] after the closure has been
    /// called; [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let result = table.update_column::<f64, _>(0, .., |column| {
    ///     column.fill(300.0);
    ///     Ok(())
    /// });
    /// assert_eq!(
    ///     result.unwrap_err().to_string(),
    ///     "the value 300 at row 0, column 0 is not representable as u8: `ConversionPolicy::Saturate` allows it \
    ///      where a call takes a policy"
    /// );
    /// table.update_column::<f64, _>(1, .., |column| {
    ///     column.fill(9.0);
    ///     Ok(())
    /// })?;
    /// assert_eq!(table.as_slice()?, [1, 9, 3, 9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn update_column<U: Element, R>(
        &mut self,
        column: usize,
        rows: impl RangeBounds<usize>,
        edit: impl FnOnce(&mut BlockMut<'_, U>) -> Result<R>,
    ) -> Result<R> {
        let region = Region { rows: rows_of(self.shape(), rows)?, columns: one_column(self, column)? };
        update_copy(self, &mut Buffer::new(), region, edit)
    }

    /// Edits consecutive values of one column in the table's own memory, without a copy, if they are contiguous there
    /// as `U`: edits that were made before an error or a panic are kept.
    ///
    /// Otherwise the closure edits a copy, as in [`update_column`](Self::update_column).
    ///
    /// # Errors
    /// Those of [`update_rows_in_place`](Self::update_rows_in_place); [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let mut table = table.to_layout(DataLayout::ColumnMajor)?;
    /// table.update_column_in_place::<u8, _>(1, .., |column| {
    ///     assert!(column.is_zero_copy());
    ///     column.fill(9);
    ///     Ok(())
    /// })?;
    /// assert_eq!(table.as_slice()?, [1, 3, 9, 9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn update_column_in_place<U: Element, R>(
        &mut self,
        column: usize,
        rows: impl RangeBounds<usize>,
        edit: impl FnOnce(&mut BlockMut<'_, U>) -> Result<R>,
    ) -> Result<R> {
        edit_in_place(self.column_mut(column, rows)?, edit)
    }

    /// Checks that the table can be written at all: returns the errors of writing that do not depend on the values.
    ///
    /// # Errors
    /// [`ErrorKind::ReadOnlyTable`], [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`];
    /// [`ErrorKind::OutOfMemory`] if a kind of your own copies memory to find out.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let shape = Shape { rows: 3, columns: 2 };
    /// let mut table = HomogenNumericTable::<f32>::new(shape, AllocationFlag::DoNotAllocate)?;
    /// assert!(matches!(table.check_writable().unwrap_err().kind(), ErrorKind::NotAllocated));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn check_writable(&mut self) -> Result<()> {
        lend::check_writable(self)
    }

    /// Edits the table in blocks of `rows_per_block` rows, each all or nothing: a block whose closure returns an error,
    /// or that has a value that does not fit, is unchanged; every other one is written.
    ///
    /// Returns the first error in the order of rows, when all blocks have been tried: the table then holds the same
    /// values as after `par_update_row_blocks`. To stop at the first error, or to write in place, iterate over
    /// [`row_blocks_mut`](BlockAccess::row_blocks_mut) and release each block. A panic ends the call; the blocks before
    /// are written.
    ///
    /// A table without columns has no values to edit: the closure is not called.
    ///
    /// Cost: that of [`update_rows`](Self::update_rows), with memory for one block.
    ///
    /// # Errors
    /// Before the closure is called: [`ErrorKind::ParameterOutOfRange`] if `rows_per_block` is 0;
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`], [`ErrorKind::ReadOnlyTable`]. For each block those
    /// of
    /// [`update_rows`](Self::update_rows); one of several merged tables that has no pieces refuses
    /// ([`ErrorKind::ReadOnlyTable`]) when the closure has been called.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8], [200], [3], [4], [5]])?;
    /// let result = table.update_row_blocks::<f32>(2, |block| {
    ///     block.iter_mut().for_each(|value| *value *= 2.0);
    ///     Ok(())
    /// });
    /// assert!(matches!(result.unwrap_err().kind(), ErrorKind::ValueNotRepresentable { row: 1, .. }));
    /// assert_eq!(table.as_slice()?, [1, 200, 6, 8, 10]); // 400 is no u8, and its block as it was
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn update_row_blocks<U: Element>(
        &mut self,
        rows_per_block: usize,
        mut edit: impl FnMut(&mut BlockMut<'_, U>) -> Result<()>,
    ) -> Result<()> {
        let whole = Region::whole(self.shape());
        let cuts = Cuts::new(whole.rows.len(), rows_per_block)?;
        self.piece(0, 0)?; // a table that cannot be read is one error, not one for each block
        if whole.columns.is_empty() {
            return Ok(()); // rows without values may be too many to count
        }
        if cuts.count() > 0 {
            self.check_writable()?; // before the closure has changed anything else
        }
        let (mut buffer, mut outcome) = (Buffer::new(), Ok(()));
        for index in 0..cuts.count() {
            let region = Region { rows: cuts.block(index), ..whole.clone() };
            outcome = outcome.and(update_copy(self, &mut buffer, region, &mut edit));
        }
        outcome
    }

    /// Like [`update_row_blocks`](Self::update_row_blocks), with the blocks spread over the threads of the caller's
    /// rayon pool: disjoint writers, no locks. Values and error do not depend on the number of threads.
    ///
    /// If a closure panics, other blocks may or may not have been written. Memory: one block for each thread. Memory
    /// that the table shares is copied first, even if every closure fails.
    ///
    /// # Errors
    /// Those of [`update_row_blocks`](Self::update_row_blocks).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::full(Shape { rows: 1000, columns: 3 }, 2_u8)?;
    /// table.par_update_row_blocks::<f64>(64, |block| {
    ///     block.iter_mut().for_each(|value| *value += 1.0);
    ///     Ok(())
    /// })?;
    /// assert!(table.as_slice()?.iter().all(|&value| value == 3));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg(feature = "rayon")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rayon")))]
    fn par_update_row_blocks<U: Element>(
        &mut self,
        rows_per_block: usize,
        edit: impl Fn(&mut BlockMut<'_, U>) -> Result<()> + Send + Sync,
    ) -> Result<()> {
        let blocks = match BlocksMut::new(self, rows_per_block) {
            Err(error) if matches!(error.kind(), ErrorKind::ReadOnlyTable) => {
                // It may be a table without pieces that overrides writing: one block at a time.
                return self.update_row_blocks(rows_per_block, edit);
            }
            blocks => blocks?,
        };
        // A table without columns may have any number of rows.
        if blocks.have_values() { parallel::try_for_each_piece(blocks, |block| block.update(&edit)) } else { Ok(()) }
    }
}

impl<N: NumericTable + ?Sized> BlockUpdate for N {}

/// The rule by which every edited copy is written back.
pub(super) const WRITE_BACK: WriteRule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: true };

/// Calls `edit` with a copy of a region, made in `buffer`, and writes it back if that succeeds. The table is not
/// touched before, not even to copy memory that it shares.
fn update_copy<U: Element, R>(
    table: &mut (impl NumericTable + ?Sized),
    buffer: &mut Buffer<U>,
    region: Region,
    edit: impl FnOnce(&mut BlockMut<'_, U>) -> Result<R>,
) -> Result<R> {
    region.check(table.shape())?;
    let count = region.shape().element_count_of(U::TYPE)?;
    buffer.read(table, &region, count, ConversionPolicy::Saturate, false)?;
    let values = &mut buffer.as_mut_slice()[..count];
    let result = edit(&mut BlockMut::staged(values, region.clone()))?;
    table.write_region(&region, AnySlice::new(values), WRITE_BACK)?;
    Ok(result)
}

/// Calls `edit` with a block and releases it if that succeeds; otherwise discards what has not been written yet.
fn edit_in_place<U: Element, R>(
    mut block: BlockMut<'_, U>,
    edit: impl FnOnce(&mut BlockMut<'_, U>) -> Result<R>,
) -> Result<R> {
    match edit(&mut block) {
        Ok(result) => block.release().map(|()| result),
        Err(error) => {
            block.discard();
            Err(error)
        }
    }
}
