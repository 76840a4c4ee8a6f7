//! Blocks that borrow their table.
//!
//! A block is the table's memory if the requested type is the stored one and the values are contiguous in row-major
//! order. Otherwise it is a converted copy. A block of rows has all columns of the table, a block of column values has
//! one. Invariant: a block has `rows * columns` values, in row-major order. Semantics: DAAL `getBlockOfRows` and
//! `getBlockOfColumnValues`, with the borrow checker instead of rules for releasing.

use std::fmt;
use std::ops::{Deref, DerefMut, Range};

#[cfg(feature = "rayon")]
use super::pool::Pooled;
use super::values::{Values, ValuesMut};
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::Result;
use crate::convert::ConversionPolicy;
use crate::table::{NumericTable, Region, Shape};

/// Consecutive rows of a table, or values of one column, for reading. The values are row-major and of type `U`,
/// regardless of how the table stores them.
///
/// Returned by [`BlockAccess::rows`](super::BlockAccess::rows), [`BlockAccess::column`](super::BlockAccess::column) and
/// the iterators over blocks of rows. Dereferences to a slice.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6], [7, 8, 9]])?;
/// let block = table.rows::<f64>(1..3)?;
/// assert_eq!(&block[..], [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
/// assert_eq!((block.row(1), block.row_offset(), block.is_zero_copy()), (&[7.0, 8.0, 9.0][..], 1, false));
/// let column = table.column::<i16>(2, ..)?;
/// assert_eq!((&column[..], column.column_range()), (&[3, 6, 9][..], 2..3));
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct Block<'t, U: Element> {
    values: Values<'t, U>,
    region: Region,
}

/// Consecutive rows of a table, or values of one column, for reading and writing. The values are row-major and of type
/// `U`, regardless of how the table stores them.
///
/// End it with [`release`](Self::release). Dropping a converted block writes it back if all of its values fit.
/// Otherwise the table stays unchanged **and the error is ignored**, as `BufWriter` does.
/// [`update_rows`](super::BlockUpdate::update_rows), which takes a closure, cannot lose the error.
///
/// If the values are the table's own memory ([`is_zero_copy`](Self::is_zero_copy)), writing them writes the table and
/// cannot be undone. Otherwise [`release`](Self::release) converts changed values back, all or nothing. Unchanged
/// values are not rewritten, so they keep full precision. [`discard`](Self::discard) writes nothing, and neither does a
/// panic that drops a converted block.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let big = (1_i64 << 53) + 1; // not representable as f64
/// let mut table = HomogenNumericTable::from_rows(&[[big, 2], [3, 4]])?;
/// let mut block = table.rows_mut::<f64>(0..2)?;
/// block.row_mut(1)[0] = 30.0;
/// block.release()?;
/// assert_eq!(table.as_slice()?, [big, 2, 30, 4]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
///
/// The values of a block of a file ([`FileBlocks::next_block`](crate::files::FileBlocks::next_block),
/// `TableReader::par_row_blocks`, `CsvBlocks::next_block`) are in a buffer that a later block reuses. A pipeline may
/// change them there before it writes them elsewhere. Nothing is written back to the file, and releasing or dropping
/// such a block has no effect.
///
/// Two writable blocks at once do not compile, and a block cannot outlive its table:
/// ```compile_fail,E0499
/// # use numeric_table::prelude::*;
/// let mut table = HomogenNumericTable::from_rows(&[[1.0_f32], [2.0]]).unwrap();
/// let first = table.rows_mut::<f32>(0..1);
/// let second = table.rows_mut::<f32>(1..2); // use `row_blocks_mut` for disjoint ones
/// drop((first, second));
/// ```
/// ```compile_fail,E0597
/// # use numeric_table::prelude::*;
/// let block = {
///     let mut table = HomogenNumericTable::from_rows(&[[1.0_f32], [2.0]]).unwrap();
///     table.rows_mut::<f32>(0..1).unwrap()
/// };
/// drop(block);
/// ```
#[must_use = "a converted block that is dropped hides the error of writing back: `release` it, or use `update_rows` or `update_column`"]
pub struct BlockMut<'t, U: Element> {
    values: ValuesMut<'t, U>,
    region: Region,
}

/// Returns the range that row `row` occupies in row-major values.
///
/// # Panics
/// If `row` is out of range, as when indexing a slice.
#[inline]
pub(super) fn row_range(region: &Region, row: usize) -> Range<usize> {
    let shape = region.shape();
    assert!(row < shape.rows, "row {row} is out of range: the block has {} rows", shape.rows);
    row * shape.columns..(row + 1) * shape.columns
}

macro_rules! block_facts {
    () => {
        /// Returns the number of rows.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// assert_eq!(table.rows::<f32>(1..3)?.row_count(), 2);
        /// assert_eq!(table.column::<f32>(1, 0..3)?.row_count(), 3);
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[inline]
        pub fn row_count(&self) -> usize {
            self.region.rows.len()
        }

        /// Returns the number of columns.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// assert_eq!(table.rows::<f32>(0..3)?.column_count(), 2);
        /// assert_eq!(table.column::<f32>(1, ..)?.column_count(), 1);
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[inline]
        pub fn column_count(&self) -> usize {
            self.region.columns.len()
        }

        /// Returns the rows of the table that the block covers.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// assert_eq!(table.rows::<f32>(1..3)?.row_range(), 1..3);
        /// assert_eq!(table.column::<f32>(1, 0..2)?.row_range(), 0..2);
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[inline]
        pub fn row_range(&self) -> Range<usize> {
            self.region.rows.clone()
        }

        /// Returns the first row of the table that the block covers. Source: DAAL `getRowsOffset`.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// assert_eq!(table.rows::<f32>(2..3)?.row_offset(), 2);
        /// assert_eq!(table.column::<f32>(0, 1..3)?.row_offset(), 1);
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[inline]
        pub fn row_offset(&self) -> usize {
            self.region.rows.start
        }

        /// Returns the columns of the table that the block covers.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// assert_eq!(table.rows::<f32>(1..3)?.column_range(), 0..2);
        /// assert_eq!(table.column::<f32>(1, ..)?.column_range(), 1..2);
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[inline]
        pub fn column_range(&self) -> Range<usize> {
            self.region.columns.clone()
        }

        /// Returns the first column of the table that the block covers. Source: DAAL `getColumnsOffset`.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// assert_eq!(table.column::<f32>(1, ..)?.column_offset(), 1);
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[inline]
        pub fn column_offset(&self) -> usize {
            self.region.columns.start
        }

        /// Returns the shape of the block.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// assert_eq!(table.rows::<f32>(1..)?.shape(), Shape { rows: 2, columns: 2 });
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[inline]
        pub fn shape(&self) -> Shape {
            self.region.shape()
        }

        /// Borrows one row; `row` counts from the first row of the block.
        ///
        /// # Panics
        /// If `row` is out of range, as when indexing a slice.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// assert_eq!(table.rows::<f32>(1..3)?.row(0), [3.0, 4.0]); // the table's row 1
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[inline]
        pub fn row(&self, row: usize) -> &[U] {
            &self[row_range(&self.region, row)]
        }

        /// Returns an iterator over the rows.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// let block = table.rows::<i32>(1..3)?;
        /// let sums: Vec<i32> = block.iter_rows().map(|row| row.iter().sum()).collect();
        /// assert_eq!(sums, [7, 11]);
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[inline]
        pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = &[U]> + DoubleEndedIterator {
            (0..self.row_count()).map(|row| self.row(row))
        }

        /// Copies the values into an array.
        ///
        /// # Errors
        /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::prelude::*;
        /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
        /// assert_eq!(table.rows::<f32>(2..)?.to_array()?[..], [5.0, 6.0]);
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        pub fn to_array(&self) -> Result<Array<U>> {
            Array::copy_of(self)
        }
    };
}

impl<'t, U: Element> Block<'t, U> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new<N: NumericTable + ?Sized>(
        table: &'t N,
        (rows, columns): (Range<usize>, Range<usize>),
        policy: ConversionPolicy,
    ) -> Result<Self> {
        let region = Region { rows: rows.clone(), columns: columns.clone() };
        if let Some(values) = Values::borrow(table, &region)? {
            // Ranges are passed in registers; loading a `Region` that was just stored would stall.
            return Ok(Self { values: Values::Borrowed(values), region: Region { rows, columns } });
        }
        Ok(Self { values: Values::convert(table, &region, policy)?, region })
    }

    block_facts!();

    /// Returns whether the values are the table's own memory.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert!(table.rows::<i16>(1..3)?.is_zero_copy());
    /// assert!(!table.rows::<f32>(1..3)?.is_zero_copy()); // converted
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn is_zero_copy(&self) -> bool {
        matches!(self.values, Values::Borrowed(_))
    }

    /// Returns the values as an array. Copies them only if they are the table's own memory.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let column: Array<f64> = table.column::<f64>(0, ..)?.into_array()?;
    /// assert_eq!(column[..], [1.0, 3.0, 5.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn into_array(self) -> Result<Array<U>> {
        match self.values {
            Values::Borrowed(values) => Array::copy_of(values),
            Values::Converted(buffer) => Ok(buffer.into_array()),
        }
    }
}

impl<U: Element> Deref for Block<'_, U> {
    type Target = [U];

    #[inline]
    fn deref(&self) -> &[U] {
        self.values.as_slice()
    }
}

impl<U: Element> AsRef<[U]> for Block<'_, U> {
    fn as_ref(&self) -> &[U] {
        self
    }
}

impl<'b, U: Element> IntoIterator for &'b Block<'_, U> {
    type Item = &'b U;
    type IntoIter = std::slice::Iter<'b, U>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<U: Element> fmt::Debug for Block<'_, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("region", &self.region).field("values", &&self[..]).finish()
    }
}

impl<'t, U: Element> BlockMut<'t, U> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(values: ValuesMut<'t, U>, region: Region) -> Self {
        Self { values, region }
    }

    /// Creates a block on a copy of a region. The caller writes the copy back.
    #[doc(hidden)]
    pub fn staged(values: &'t mut [U], region: Region) -> Self {
        Self { values: ValuesMut::Staged(values), region }
    }

    /// Creates a block that owns a copy, which is never written back.
    #[cfg(feature = "rayon")]
    pub(crate) fn pooled(values: Pooled<U>, region: Region) -> Self {
        Self { values: ValuesMut::Pooled(Box::new(values)), region }
    }

    block_facts!();

    /// Borrows one row mutably; `row` counts from the first row of the block.
    ///
    /// # Panics
    /// If `row` is out of range, as when indexing a slice.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = table.rows_mut::<f32>(1..3)?;
    /// block.row_mut(1).fill(9.0);
    /// block.release()?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4, 9, 9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_mut(&mut self, row: usize) -> &mut [U] {
        let range = row_range(&self.region, row);
        &mut self[range]
    }

    /// Returns an iterator over the rows, for writing. A block without columns yields no rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = table.rows_mut::<f32>(1..3)?;
    /// block.iter_rows_mut().for_each(|row| row.swap(0, 1));
    /// block.release()?;
    /// assert_eq!(table.as_slice()?, [1, 2, 4, 3, 6, 5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn iter_rows_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [U]> + DoubleEndedIterator {
        let columns = self.column_count().max(1);
        self.chunks_exact_mut(columns)
    }

    /// Returns whether the values are the table's own memory.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert!(table.rows_mut::<i16>(1..3)?.is_zero_copy());
    /// assert!(!table.rows_mut::<f32>(1..3)?.is_zero_copy()); // converted
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn is_zero_copy(&self) -> bool {
        self.values.is_borrowed()
    }

    /// Returns the block with a policy for writing back; the default is [`ConversionPolicy::Checked`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// let mut block = table.rows_mut::<f32>(0..1)?.with_policy(ConversionPolicy::Saturate);
    /// block[0] = 1000.0;
    /// block.release()?;
    /// assert_eq!(table.as_slice()?, [255, 2]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn with_policy(mut self, policy: ConversionPolicy) -> Self {
        self.values.set_policy(policy);
        self
    }

    /// Writes the changed values into the table, all or nothing, and keeps the block. A block that
    /// [`update_rows`](super::BlockUpdate::update_rows) passes to its closure is not written by this call, but after
    /// the closure returns.
    ///
    /// # Errors
    /// [`ErrorKind::ValueNotRepresentable`](crate::ErrorKind::ValueNotRepresentable) with the table's row and column;
    /// correct the value and try again. [`ErrorKind::ReadOnlyTable`](crate::ErrorKind::ReadOnlyTable) if the kind of
    /// table is writable but does not accept these values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// let mut block = table.rows_mut::<f32>(0..1)?;
    /// block[1] = 300.0;
    /// assert!(block.write_back().is_err());
    /// block[1] = 200.0;
    /// block.release()?;
    /// assert_eq!(table.as_slice()?, [1, 200]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn write_back(&mut self) -> Result<()> {
        self.values.write_back()
    }

    /// Writes the changed values into the table, all or nothing, and ends the block.
    ///
    /// # Errors
    /// Those of [`write_back`](Self::write_back), which keeps the values. The table is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// let mut block = table.rows_mut::<f32>(0..1)?;
    /// block[1] = f32::NAN;
    /// assert!(block.release().is_err());
    /// assert_eq!(table.as_slice()?, [1, 2]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn release(self) -> Result<()> {
        self.values.release()
    }

    /// Ends the block without writing back. Values already written to the table's memory stay written.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// let mut block = table.rows_mut::<f32>(0..1)?;
    /// block[0] = 9.0;
    /// block.discard();
    /// assert_eq!(table.as_slice()?, [1, 2]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn discard(self) {
        self.values.discard();
    }
}

impl<U: Element> Deref for BlockMut<'_, U> {
    type Target = [U];

    #[inline]
    fn deref(&self) -> &[U] {
        self.values.as_slice()
    }
}

impl<U: Element> DerefMut for BlockMut<'_, U> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [U] {
        self.values.as_mut_slice()
    }
}

impl<U: Element> fmt::Debug for BlockMut<'_, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockMut").field("region", &self.region).field("values", &&self[..]).finish()
    }
}
