//! The calls that create blocks, written once for every [`NumericTable`].

use std::ops::{Range, RangeBounds};

use super::cuts::{BlocksMut, Cuts, Made};
use super::fill::fill;
use super::values::ValuesMut;
use super::{Block, BlockDescriptor, BlockMut};
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::mode::{BlockKind, ReadWriteMode};
#[cfg(feature = "rayon")]
use crate::base::parallel::{self, IndexedParallelIterator};
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::table::{NumericTable, Region, TableDescription, Target, lend, rows_of};
use crate::window::AnySliceMut;

/// Block access to every kind of table, including `dyn NumericTable`.
///
/// All calls with `U` return values of that element type, regardless of how the table stores them. They copy nothing if
/// it is the stored type and the values are contiguous. Otherwise they convert with [`ConversionPolicy::Saturate`] when
/// reading and [`ConversionPolicy::Checked`] when writing back. Blocks of rows are row-major for any layout of the
/// table.
///
/// Every call, or every item of its iterator, fails with [`ErrorKind::NotAllocated`] if the table has rows but no
/// memory, and with [`ErrorKind::OutOfMemory`] if a converted copy cannot be allocated. It fails with
/// [`ErrorKind::BlockOutstanding`] while a writable [`BlockDescriptor`] is outstanding, if the table lends its memory
/// to it, as the homogeneous one does. Calls that write fail with [`ErrorKind::ReadOnlyTable`] if the kind of table
/// cannot be written. A call that fails changes nothing.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?; // 2 x 3
/// assert_eq!(&table.rows::<f64>(1..2)?[..], [4.0, 5.0, 6.0]);
/// let table: Box<dyn NumericTable> = Box::new(table);
/// assert_eq!(&table.column::<f32>(2, 0..2)?[..], [3.0, 6.0]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub trait BlockAccess: NumericTable {
    /// Takes a block of consecutive rows into a descriptor. `row_count` is limited to the rows that exist, so a loop
    /// with a fixed step needs no special last step.
    ///
    /// Replaces a block that the descriptor still holds for reading. On an error that block is kept, unless an
    /// allocation failed. Takes `&mut self` in every mode because the mode is a value; [`read_rows`](Self::read_rows)
    /// reads with `&self`. Source: DAAL `getBlockOfRows`, where a start past the end succeeds and returns no rows.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`] if `first_row` is past the end of the table; [`ErrorKind::BlockOutstanding`] also
    /// if the descriptor holds a writable block; [`ErrorKind::ReadOnlyTable`] if the mode is for writing and the table
    /// cannot be written; [`ErrorKind::ValueNotRepresentable`] under the descriptor's policy.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8], [2], [3]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// let mut sum = 0.0;
    /// for first_row in (0..table.row_count()).step_by(2) {
    ///     table.get_block_of_rows(first_row, 2, ReadWriteMode::ReadOnly, &mut block)?;
    ///     sum += block.as_slice().iter().sum::<f32>();
    ///     table.release_block_of_rows(&mut block)?;
    /// }
    /// assert_eq!((sum, block.capacity()), (6.0, 2)); // allocated once
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn get_block_of_rows<U: Element>(
        &mut self,
        first_row: usize,
        row_count: usize,
        mode: ReadWriteMode,
        block: &mut BlockDescriptor<U>,
    ) -> Result<()> {
        let shape = self.shape();
        block.get(self, (cut_rows(shape, first_row, row_count)?, 0..shape.columns), BlockKind::Rows, mode)
    }

    /// Releases a block of rows. If it is a writable copy, its changed values are written back, all or nothing.
    ///
    /// Source: DAAL `releaseBlockOfRows`.
    ///
    /// # Errors
    /// [`ErrorKind::WrongBlockKind`], also if the descriptor holds no block; [`ErrorKind::WrongTable`];
    /// [`ErrorKind::ValueNotRepresentable`] with the table's row and column; [`ErrorKind::ReadOnlyTable`] if the kind
    /// of table is writable but does not accept these values. The descriptor keeps the block, so the caller can correct
    /// a value.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8], [2]])?;
    /// let mut block = BlockDescriptor::<i32>::new();
    /// table.get_block_of_rows(0, 2, ReadWriteMode::ReadWrite, &mut block)?;
    /// block.as_mut_slice()?[1] = 256;
    /// let error = table.release_block_of_rows(&mut block).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 1, .. }));
    /// block.as_mut_slice()?[1] = 255;
    /// table.release_block_of_rows(&mut block)?;
    /// assert_eq!(table.as_slice()?, [1, 255]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn release_block_of_rows<U: Element>(&mut self, block: &mut BlockDescriptor<U>) -> Result<()> {
        block.release(self, BlockKind::Rows)
    }

    /// Takes a block of consecutive values of one column into a descriptor. `row_count` is limited to the rows that
    /// exist.
    ///
    /// Takes `&mut self` in every mode, as [`get_block_of_rows`](Self::get_block_of_rows) does;
    /// [`read_column`](Self::read_column) takes `&self`. Source: DAAL `getBlockOfColumnValues`, which does not check
    /// the column.
    ///
    /// # Errors
    /// Those of [`get_block_of_rows`](Self::get_block_of_rows), including [`ErrorKind::ReadOnlyTable`];
    /// [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_column_values(1, 0, 2, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!(block.as_slice(), [2.0, 4.0]);
    /// table.release_block_of_column_values(&mut block)?;
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn get_block_of_column_values<U: Element>(
        &mut self,
        column: usize,
        first_row: usize,
        row_count: usize,
        mode: ReadWriteMode,
        block: &mut BlockDescriptor<U>,
    ) -> Result<()> {
        let region = (cut_rows(self.shape(), first_row, row_count)?, one_column(self, column)?);
        block.get(self, region, BlockKind::ColumnValues, mode)
    }

    /// Releases a block of column values, like [`release_block_of_rows`](Self::release_block_of_rows).
    ///
    /// Source: DAAL `releaseBlockOfColumnValues`.
    ///
    /// # Errors
    /// Those of [`release_block_of_rows`](Self::release_block_of_rows).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_column_values(0, 1, 1, ReadWriteMode::WriteOnly, &mut block)?;
    /// block.as_mut_slice()?[0] = 7.0;
    /// table.release_block_of_column_values(&mut block)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 7, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn release_block_of_column_values<U: Element>(&mut self, block: &mut BlockDescriptor<U>) -> Result<()> {
        block.release(self, BlockKind::ColumnValues)
    }

    /// Borrows consecutive rows as one row-major block of `U`.
    ///
    /// Shape: `rows.len()` x `column_count()`, in values. O(1) if `U` is the stored type and the rows are contiguous,
    /// otherwise one pass.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`] if `rows` is outside the table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?; // 2 x 3
    /// assert_eq!(&table.rows::<f64>(1..2)?[..], [4.0, 5.0, 6.0]);
    /// assert!(table.rows::<f64>(1..3).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn rows<U: Element>(&self, rows: impl RangeBounds<usize>) -> Result<Block<'_, U>> {
        self.rows_with(rows, ConversionPolicy::Saturate)
    }

    /// Like [`rows`](Self::rows), but converts under the given policy.
    ///
    /// # Errors
    /// Those of [`rows`](Self::rows); [`ErrorKind::ValueNotRepresentable`] with the table's row and column.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16], [-4]])?;
    /// assert!(table.rows_with::<u8>(0..1, ConversionPolicy::Checked).is_ok());
    /// assert!(table.rows_with::<u8>(0..2, ConversionPolicy::Checked).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn rows_with<U: Element>(&self, rows: impl RangeBounds<usize>, policy: ConversionPolicy) -> Result<Block<'_, U>> {
        let shape = self.shape();
        Block::new(self, (rows_of(shape, rows)?, 0..shape.columns), policy)
    }

    /// Borrows consecutive rows as one row-major block of `U`, for reading and writing. `release` it to get the error
    /// of writing back, or use [`update_rows`](super::BlockUpdate::update_rows).
    ///
    /// # Errors
    /// Those of [`rows`](Self::rows); [`ErrorKind::ReadOnlyTable`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// let mut block = table.rows_mut::<f64>(1..2)?;
    /// block[0] = 30.9;
    /// block.release()?;
    /// assert_eq!(table.as_slice()?, [1, 2, 30, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn rows_mut<U: Element>(&mut self, rows: impl RangeBounds<usize>) -> Result<BlockMut<'_, U>> {
        let shape = self.shape();
        let region = Region { rows: rows_of(shape, rows)?, columns: 0..shape.columns };
        Ok(BlockMut::new(ValuesMut::of_table(self, &region)?, region))
    }

    /// Borrows consecutive values of one column as `U`.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::RowsOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// assert_eq!(&table.column::<f64>(1, 0..2)?[..], [2.0, 4.0]);
    /// assert!(table.column::<f64>(2, 0..2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn column<U: Element>(&self, column: usize, rows: impl RangeBounds<usize>) -> Result<Block<'_, U>> {
        self.column_with(column, rows, ConversionPolicy::Saturate)
    }

    /// Like [`column`](Self::column), but converts under the given policy.
    ///
    /// # Errors
    /// Those of [`column`](Self::column); [`ErrorKind::ValueNotRepresentable`] with the table's row and column.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0]])?;
    /// assert!(table.column_with::<i32>(0, 0..1, ConversionPolicy::Exact).is_err());
    /// assert!(table.column_with::<i32>(1, 0..1, ConversionPolicy::Exact).is_ok());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn column_with<U: Element>(
        &self,
        column: usize,
        rows: impl RangeBounds<usize>,
        policy: ConversionPolicy,
    ) -> Result<Block<'_, U>> {
        Block::new(self, (rows_of(self.shape(), rows)?, one_column(self, column)?), policy)
    }

    /// Borrows consecutive values of one column as `U`, for reading and writing. `release` it to get the error of
    /// writing back, or use [`update_column`](super::BlockUpdate::update_column).
    ///
    /// # Errors
    /// Those of [`column`](Self::column); [`ErrorKind::ReadOnlyTable`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// let mut column = table.column_mut::<f64>(1, 0..2)?;
    /// column.fill(9.0);
    /// column.release()?;
    /// assert_eq!(table.as_slice()?, [1, 9, 3, 9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn column_mut<U: Element>(&mut self, column: usize, rows: impl RangeBounds<usize>) -> Result<BlockMut<'_, U>> {
        let region = Region { rows: rows_of(self.shape(), rows)?, columns: one_column(self, column)? };
        Ok(BlockMut::new(ValuesMut::of_table(self, &region)?, region))
    }

    /// Reads consecutive rows through a descriptor that reuses its buffer. Use it for reading in a loop, or on several
    /// threads with one descriptor each.
    ///
    /// The descriptor then holds the block for reading, as after `get_block_of_rows`. Releasing it is optional. While
    /// it holds a block of the stored type, however, it shares the table's memory, and the first write to the table
    /// copies. To write in place, [`discard`](BlockDescriptor::discard) the block first.
    ///
    /// # Errors
    /// Those of [`rows`](Self::rows); [`ErrorKind::BlockOutstanding`] also if the descriptor holds a writable block;
    /// [`ErrorKind::ValueNotRepresentable`] under the descriptor's policy.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// let mut block = BlockDescriptor::<f64>::new();
    /// for row in 0..2 {
    ///     assert_eq!(table.read_rows(row..row + 1, &mut block)?.len(), 2);
    /// }
    /// assert_eq!(block.capacity(), 2); // allocated once
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_rows<'b, U: Element>(
        &self,
        rows: impl RangeBounds<usize>,
        block: &'b mut BlockDescriptor<U>,
    ) -> Result<&'b [U]> {
        let shape = self.shape();
        block.read(self, (rows_of(shape, rows)?, 0..shape.columns), BlockKind::Rows)?;
        Ok(block.as_slice())
    }

    /// Reads consecutive values of one column through a descriptor that reuses its buffer.
    ///
    /// The descriptor then holds the block for reading, as after `get_block_of_column_values`. See
    /// [`read_rows`](Self::read_rows).
    ///
    /// # Errors
    /// Those of [`column`](Self::column) and [`read_rows`](Self::read_rows).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f64>::new();
    /// assert_eq!(table.read_column(0, .., &mut block)?, [1.0, 3.0, 5.0]);
    /// assert_eq!(table.read_column(1, 1.., &mut block)?, [4.0, 6.0]); // in the same buffer
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_column<'b, U: Element>(
        &self,
        column: usize,
        rows: impl RangeBounds<usize>,
        block: &'b mut BlockDescriptor<U>,
    ) -> Result<&'b [U]> {
        let region = (rows_of(self.shape(), rows)?, one_column(self, column)?);
        block.read(self, region, BlockKind::ColumnValues)?;
        Ok(block.as_slice())
    }

    /// Returns an iterator over the table in blocks of `rows_per_block` rows. The last block may be shorter.
    ///
    /// Skipped blocks (`nth`, `skip`, `step_by`, `last`, `count`) are not read: skipping any number of them is O(1).
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `rows_per_block` is 0. Each item can fail with the errors of
    /// [`rows`](Self::rows).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16], [2], [3]])?;
    /// let lengths: Vec<usize> = table.row_blocks::<f32>(2)?.map(|block| Ok(block?.row_count())).collect::<Result<_, Error>>()?;
    /// assert_eq!(lengths, [2, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn row_blocks<U: Element>(
        &self,
        rows_per_block: usize,
    ) -> Result<impl ExactSizeIterator<Item = Result<Block<'_, U>>> + DoubleEndedIterator> {
        let cuts = Cuts::new(self.row_count(), rows_per_block)?;
        Ok(Made::new(0..cuts.count(), move |index| self.rows(cuts.block(index))))
    }

    /// Returns an iterator over the table in disjoint writable blocks of `rows_per_block` rows. The last block may be
    /// shorter. Release each block to get the error of writing back, or use
    /// [`update_row_blocks`](super::BlockUpdate::update_row_blocks). Skipped blocks are not read.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `rows_per_block` is 0; those of [`rows_mut`](Self::rows_mut).
    /// [`ErrorKind::ReadOnlyTable`] also if the kind of table overrides writing and has no
    /// [pieces](NumericTable::pieces_mut), because only pieces can be lent disjointly. Each item can fail if its
    /// converted copy cannot be allocated.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16], [2], [3]])?;
    /// for block in table.row_blocks_mut::<f32>(2)? {
    ///     let mut block = block?;
    ///     block.iter_mut().for_each(|value| *value *= 2.0);
    ///     block.release()?;
    /// }
    /// assert_eq!(table.as_slice()?, [2, 4, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn row_blocks_mut<U: Element>(
        &mut self,
        rows_per_block: usize,
    ) -> Result<impl ExactSizeIterator<Item = Result<BlockMut<'_, U>>>> {
        Ok(Made::new(BlocksMut::new(self, rows_per_block)?, BlocksMut::into_block))
    }

    /// Returns a parallel iterator over the blocks of [`row_blocks`](Self::row_blocks), on the caller's rayon pool.
    /// Counting the blocks reads none of them. Rayon's `skip` reads the blocks that it skips.
    ///
    /// # Errors
    /// Those of [`row_blocks`](Self::row_blocks).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// use rayon::iter::ParallelIterator;
    /// let table = HomogenNumericTable::full(Shape { rows: 1000, columns: 3 }, 2_u8)?;
    /// let sums: Result<Vec<f64>, Error> =
    ///     table.par_row_blocks::<f64>(64)?.map(|block| Ok(block?.iter().sum())).collect();
    /// assert_eq!(sums?.iter().sum::<f64>(), 6000.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg(feature = "rayon")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rayon")))]
    fn par_row_blocks<U: Element>(
        &self,
        rows_per_block: usize,
    ) -> Result<impl IndexedParallelIterator<Item = Result<Block<'_, U>>>> {
        let cuts = Cuts::new(self.row_count(), rows_per_block)?;
        Ok(parallel::map_indices(cuts.count(), move |index| self.rows(cuts.block(index))))
    }

    /// Returns a parallel iterator over the blocks of [`row_blocks_mut`](Self::row_blocks_mut), on the caller's rayon
    /// pool. The writers are disjoint and need no locks. Release each block to get the error of writing back, or use
    /// [`par_update_row_blocks`](super::BlockUpdate::par_update_row_blocks).
    ///
    /// # Errors
    /// Those of [`row_blocks_mut`](Self::row_blocks_mut), including [`ErrorKind::ReadOnlyTable`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// use rayon::iter::ParallelIterator;
    /// let mut table = HomogenNumericTable::full(Shape { rows: 1000, columns: 3 }, 2_u8)?;
    /// table.par_row_blocks_mut::<f64>(64)?.try_for_each(|block| {
    ///     let mut block = block?;
    ///     block.iter_mut().for_each(|value| *value += 1.0);
    ///     block.release()
    /// })?;
    /// assert!(table.as_slice()?.iter().all(|&value| value == 3));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg(feature = "rayon")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rayon")))]
    fn par_row_blocks_mut<U: Element>(
        &mut self,
        rows_per_block: usize,
    ) -> Result<impl IndexedParallelIterator<Item = Result<BlockMut<'_, U>>>> {
        let blocks = BlocksMut::new(self, rows_per_block)?;
        // Every single piece has rows, so each has a block.
        Ok(parallel::map_pieces(blocks, BlocksMut::into_block))
    }

    /// Reads one value as `U`, saturating. Blocks are faster for many values. Source: DAAL `getValue`.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// assert_eq!(table.value::<f64>(1, 0)?, 3.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn value<U: Element>(&self, row: usize, column: usize) -> Result<U> {
        let mut value = [U::default()];
        let region = Region::of_cell(self.shape(), row, column)?;
        let target = Target::new(AnySliceMut::new(&mut value), region.shape(), ConversionPolicy::Saturate)?;
        self.read_region(&region, target.allow_partial_write())?;
        Ok(value[0])
    }

    /// Writes one value under [`ConversionPolicy::Checked`].
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::ValueNotRepresentable`],
    /// [`ErrorKind::ReadOnlyTable`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// table.set_value(1, 0, 30.0)?;
    /// assert!(table.set_value(1, 0, 1e9).is_err());
    /// assert_eq!(table.as_slice()?, [1, 2, 30, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn set_value<U: Element>(&mut self, row: usize, column: usize, value: U) -> Result<()> {
        let region = Region::of_cell(self.shape(), row, column)?;
        if let Some(values) = lend::slice_of_mut(self, &region, U::TYPE)?
            && let Some([target]) = values.downcast::<U>()
        {
            *target = value;
            return Ok(());
        }
        fill(self, &region, value)
    }

    /// Writes one value to every position under [`ConversionPolicy::Checked`], all or nothing. Source: DAAL `assign`.
    ///
    /// # Errors
    /// [`ErrorKind::ValueNotRepresentable`] at row 0 of the first column whose type cannot hold the value, which is
    /// column 0 if all columns have the same type; [`ErrorKind::ReadOnlyTable`]. A table without values accepts any
    /// value, even if it is read-only.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// table.fill(7.0)?;
    /// assert_eq!(table.as_slice()?, [7; 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn fill<U: Element>(&mut self, value: U) -> Result<()> {
        let region = Region::whole(self.shape());
        fill(self, &region, value)
    }
}

impl<N: NumericTable + ?Sized> BlockAccess for N {}

/// Returns at most `row_count` rows starting at `first_row`, limited to the rows that exist.
#[cfg_attr(not(debug_assertions), inline(always))]
fn cut_rows(table: Shape, first_row: usize, row_count: usize) -> Result<Range<usize>> {
    let end = first_row.saturating_add(row_count);
    if first_row > table.rows {
        return Err(Error::new(ErrorKind::RowsOutOfRange { rows: first_row..end, row_count: table.rows }));
    }
    Ok(first_row..end.min(table.rows))
}

pub(super) fn one_column(table: &(impl NumericTable + ?Sized), column: usize) -> Result<Range<usize>> {
    let column_count = table.column_count();
    if column < column_count {
        Ok(column..column + 1)
    } else {
        Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count }))
    }
}
