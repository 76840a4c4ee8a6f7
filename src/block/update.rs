//! Editing a block inside a closure: the ways of writing that cannot lose an error.
//!
//! Calls that return a block are in `access`. Invariant: after a call returns an error, or its closure panics, the
//! table contains no edits of a copy.

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
use crate::table::{NumericTable, Region, TableDescription, lend, record_written_back, rows_of};
use crate::window::AnySlice;

/// Writing through a closure, for every kind of table including `dyn NumericTable`. The edits are written back when the
/// closure returns `Ok`, and errors are never lost.
///
/// | call | the closure edits | on `Err`, or a panic | cost |
/// | --- | --- | --- | --- |
/// | `update_rows`, `update_column` | a copy | the table is unchanged | one pass in each direction |
/// | `update_rows_in_place`, `update_column_in_place` | the table's memory if possible, otherwise a copy | edits of the table's memory remain | none for the stored type |
/// | `update_row_blocks`, `par_update_row_blocks` | a copy of each block | the block is unchanged | one pass in each direction |
///
/// Values are written back under [`ConversionPolicy::Checked`]: a value that the table cannot hold is
/// [`ErrorKind::ValueNotRepresentable`], and nothing is written. Unchanged values are not rewritten, so they keep full
/// precision. As `u8`, a block shows NaN as 0 and 300 as 255; assigning the displayed value back therefore counts as
/// unchanged. [`WriteOnly`](crate::ReadWriteMode::WriteOnly) blocks and `fill` assign every value regardless of the old
/// one.
///
/// If the kind of table cannot be written, the error is [`ErrorKind::ReadOnlyTable`]. Calls that edit a copy detect
/// this when they write it back: **they have called the closure by then**, and its other effects remain. Only
/// `update_row_blocks`, `par_update_row_blocks` and the calls that edit in place detect it before.
/// [`check_writable`](Self::check_writable) checks it in advance.
///
/// A closure returns the library's [`Result`], so it needs no type annotations, and `?` works inside it for everything
/// that returns the library's [`Error`]. [`Error::other`] wraps any other error, which becomes the source of the
/// returned [`ErrorKind::Other`].
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
/// // Your own error stops the update, and nothing is written.
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
    /// Edits consecutive rows as one row-major block of `U`, all or nothing. If the closure returns an error or panics,
    /// or a value does not fit, the table is unchanged.
    ///
    /// The closure always edits a copy. Returns the closure's result.
    ///
    /// Cost: memory for the block, one pass to read it, and two to write it back (one if `U` is the stored type).
    ///
    /// # Errors
    /// Before the closure is called: [`ErrorKind::RowsOutOfRange`], [`ErrorKind::NotAllocated`],
    /// [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`]. From the closure: its own error. Afterwards:
    /// [`ErrorKind::ValueNotRepresentable`] with the table's row and column; [`ErrorKind::ReadOnlyTable`];
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

    /// Edits consecutive rows in the table's own memory, without a copy, if they are contiguous there as `U`. Edits
    /// made before an error or a panic remain.
    ///
    /// Otherwise the closure edits a copy, as in [`update_rows`](Self::update_rows). Use this for large blocks of the
    /// stored type whose edits need not be undone.
    ///
    /// # Errors
    /// Those of [`update_rows`](Self::update_rows). The closure is not called if the table is read-only or its shared
    /// memory cannot be copied.
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
    ///     "the value 300 at row 0, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it \
    ///      in calls that take a policy"
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
    /// as `U`. Edits made before an error or a panic remain.
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

    /// Checks that the table is writable: returns the errors of writing that do not depend on the values.
    ///
    /// # Errors
    /// [`ErrorKind::ReadOnlyTable`], [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`];
    /// [`ErrorKind::OutOfMemory`] if your own table kind copies memory for the check.
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

    /// Edits the table in blocks of `rows_per_block` rows, each all or nothing. A block stays unchanged if its closure
    /// returns an error or one of its values does not fit. All other blocks are written.
    ///
    /// Tries all blocks, then returns the first error in the order of rows. The table then holds the same values as
    /// after `par_update_row_blocks`. To stop at the first error, or to write in place, iterate over
    /// [`row_blocks_mut`](BlockAccess::row_blocks_mut) and release each block. A panic ends the call; earlier blocks
    /// are written.
    ///
    /// A table without columns has no values, so the closure is not called.
    ///
    /// Cost: that of [`update_rows`](Self::update_rows), with memory for one block.
    ///
    /// # Errors
    /// Before the closure is called: [`ErrorKind::ParameterOutOfRange`] if `rows_per_block` is 0;
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`], [`ErrorKind::ReadOnlyTable`]. For each block those
    /// of [`update_rows`](Self::update_rows). If one of several merged tables has no pieces,
    /// [`ErrorKind::ReadOnlyTable`] is returned after the closure was called.
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
    /// assert_eq!(table.as_slice()?, [1, 200, 6, 8, 10]); // 400 does not fit u8: its block is unchanged
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

    /// Like [`update_row_blocks`](Self::update_row_blocks), but spreads the blocks over the threads of the caller's
    /// rayon pool. The writers are disjoint and need no locks. Values and error do not depend on the number of threads.
    ///
    /// If a closure panics, other blocks may or may not be written. Memory: one block per thread. Memory that the table
    /// shares is copied first, even if every closure fails.
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
                // The table may override writing and have no pieces. It is then written one block at a time.
                return self.update_row_blocks(rows_per_block, edit);
            }
            blocks => blocks?,
        };
        // A table without columns may have any number of rows.
        if blocks.have_values() { parallel::try_for_each_piece(blocks, |block| block.update(&edit)) } else { Ok(()) }
    }
}

impl<N: NumericTable + ?Sized> BlockUpdate for N {}

/// The rule for writing back edited copies.
pub(super) const WRITE_BACK: WriteRule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: true };

/// Copies a region into `buffer`, calls `edit` with it, and writes it back on success. Until then the table is not
/// touched, not even to copy shared memory.
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
    record_written_back(count, U::TYPE);
    Ok(result)
}

/// Calls `edit` with a block and releases it on success. Otherwise discards everything that is not yet written.
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
