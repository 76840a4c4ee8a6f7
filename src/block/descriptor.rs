//! The block descriptor: a block that the caller owns and reuses. Taking and releasing blocks is in `taking`.

mod taking;

use std::fmt;
use std::ops::Range;

use super::borrowed::row_range;
use super::values::Buffer;
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::mode::{BlockKind, ReadWriteMode};
use crate::convert::ConversionPolicy;
use crate::table::{Lease, Region, TableId};

/// A block of rows or column values that the caller owns and reuses. Source: DAAL `BlockDescriptor`.
///
/// [`get_block_of_rows`] and [`get_block_of_column_values`] take a block, as do [`read_rows`] and [`read_column`] for
/// reading. A block is either in place, in the table's own memory, or a copy in the descriptor's own buffer, converted
/// if the table stores another element type. [`is_zero_copy`](Self::is_zero_copy) distinguishes the two.
///
/// | | in place | a copy |
/// | --- | --- | --- |
/// | taken for reading | `U` values, contiguous in row-major order, in an [`Array`] that the block then shares | all other cases |
/// | taken for writing | `U` values, contiguous in row-major order, of a table that lends its memory | all other cases |
/// | released after writing | the table already has the values | values are converted back, all or nothing |
///
/// A [`HomogenNumericTable`](crate::HomogenNumericTable) stores its values in an array and lends it. Other kinds of
/// tables have in-place blocks for reading if they create their pieces with
/// [`Piece::of_array`](crate::table::spi::Piece::of_array), and in-place blocks for writing if they implement
/// [`Lend`](crate::table::spi::Lend).
///
/// The buffer is kept for reuse: a loop over blocks allocates once.
///
/// # While a writable block is outstanding
///
/// A table that lends its memory is leased to the block, in place or not. Every other access to its values returns
/// [`ErrorKind::BlockOutstanding`] until the block is released, discarded or dropped. So only one writable descriptor
/// can be outstanding, even for disjoint rows: the table's entire array moves into the descriptor, which rules out
/// aliasing. Lending only some of its rows would need a check on the fast path of every access. For disjoint writers
/// use [`row_blocks_mut`] and `par_row_blocks_mut`, which borrow the table once and cut it.
///
/// A table of a kind that does not lend its memory can still be used and written, and several of its writable blocks
/// can be outstanding at once. The last release wins. A `ReadWrite` block is compared with the table's values **at the
/// time of its release**. If the table's value changed after the block was taken, the block's value counts as changed
/// and overwrites it.
///
/// # Why taking a block borrows the table mutably
///
/// DAAL's mode is a value, not a type, so one signature covers both reading and writing: `get_block_of_rows` and
/// `get_block_of_column_values` take `&mut self` in every mode. [`read_rows`] and [`read_column`] take `&self`, so
/// several threads can read one table with one descriptor each.
///
/// # Differences from DAAL
///
/// * A `ReadOnly` block can only be read, and never changes. A copy belongs to the descriptor. A shared array cannot be
///   written while it is shared: the table copies the array before its next write.
/// * A writable block has exclusive access to the table if the table lends its memory.
/// * A `WriteOnly` block that is a copy is zeroed and never contains old bytes.
/// * Unchanged values of a `ReadWrite` block are not written back, so numbers keep full precision and NaNs their
///   payload.
/// * Releasing on another table, twice, or as the wrong kind is an error and changes nothing.
/// * Dropping an unreleased block discards the values of a copy and returns the memory that the table lent.
///
/// [`get_block_of_rows`]: super::BlockAccess::get_block_of_rows
/// [`get_block_of_column_values`]: super::BlockAccess::get_block_of_column_values
/// [`read_rows`]: super::BlockAccess::read_rows
/// [`read_column`]: super::BlockAccess::read_column
/// [`row_blocks_mut`]: super::BlockAccess::row_blocks_mut
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let mut table = HomogenNumericTable::from_rows(&[[1.0_f64, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
/// let mut block = BlockDescriptor::<f32>::new();
/// table.get_block_of_rows(1, 10, ReadWriteMode::ReadWrite, &mut block)?; // limited to the last row
/// assert_eq!((block.row_count(), block.as_slice()), (2, &[3.0, 4.0, 5.0, 6.0][..]));
/// block.as_mut_slice()?[0] = 30.0;
/// assert!(table.as_slice().is_err()); // leased
/// table.release_block_of_rows(&mut block)?;
/// assert_eq!(table.as_slice()?, [1.0, 2.0, 30.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct BlockDescriptor<U: Element> {
    held: Option<Held<U>>,
    /// The first values are those of a converted block.
    buffer: Buffer<U>,
    /// Holds the table's memory while a writable block is held. Kept from one block to the next.
    lease: Lease,
    /// The policy for both directions, if the caller chose one.
    policy: Option<ConversionPolicy>,
}

/// The block that a descriptor holds.
struct Held<U> {
    table: TableId,
    kind: BlockKind,
    mode: ReadWriteMode,
    region: Region,
    place: Place<U>,
}

/// The location of the block's values.
enum Place<U> {
    /// The table's memory, shared by the descriptor.
    Shared(Array<U>),
    /// The buffer, with the given number of values.
    Buffer(usize),
    /// The table's memory, held by the lease.
    Leased,
}

impl<U: Element> BlockDescriptor<U> {
    /// Creates a descriptor without a block. Allocates nothing. Reading saturates; writing back is checked.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::BlockDescriptor;
    /// assert!(BlockDescriptor::<f32>::new().as_slice().is_empty());
    /// ```
    pub const fn new() -> Self {
        Self { held: None, buffer: Buffer::new(), lease: Lease::new(), policy: None }
    }

    /// Creates a descriptor that converts under the given policy in both directions.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1.5_f64]])?;
    /// let mut block = BlockDescriptor::<i32>::with_policy(ConversionPolicy::Exact);
    /// assert!(table.get_block_of_rows(0, 1, ReadWriteMode::ReadOnly, &mut block).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub const fn with_policy(policy: ConversionPolicy) -> Self {
        Self { held: None, buffer: Buffer::new(), lease: Lease::new(), policy: Some(policy) }
    }

    /// Borrows the values in row-major order; an empty slice without a block. Source: DAAL `getBlockPtr`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_rows(1, 2, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!(block.as_slice(), [3.0, 4.0, 5.0, 6.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn as_slice(&self) -> &[U] {
        match self.held.as_ref().map(|held| &held.place) {
            None => &[],
            Some(Place::Shared(array)) => array,
            Some(Place::Buffer(count)) => &self.buffer.as_slice()[..*count],
            Some(Place::Leased) => self.lease.values().unwrap_or_default(),
        }
    }

    /// Borrows the values mutably, in row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::NotWritable`] if the block was taken for reading; [`ErrorKind::WrongBlockKind`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1.5_f64]])?;
    /// let mut block = BlockDescriptor::<f64>::new();
    /// table.get_block_of_rows(0, 1, ReadWriteMode::ReadOnly, &mut block)?;
    /// let error = block.as_mut_slice().unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::NotWritable { mode: ReadWriteMode::ReadOnly }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn as_mut_slice(&mut self) -> Result<&mut [U]> {
        let immutable = || Error::new(ErrorKind::ImmutableData { owner_count: 1 });
        if let Some(Held { place: Place::Leased, .. }) = self.held {
            return self.lease.values_mut().ok_or_else(immutable); // it is writable
        }
        match &self.held {
            Some(Held { place: Place::Buffer(count), mode, .. }) if mode.is_writable() => {
                Ok(&mut self.buffer.as_mut_slice()[..*count])
            }
            Some(held) if !held.mode.is_writable() => Err(Error::new(ErrorKind::NotWritable { mode: held.mode })),
            Some(_) => Err(immutable()),
            None => Err(Error::new(ErrorKind::WrongBlockKind { expected: BlockKind::Rows, actual: None })),
        }
    }

    /// Borrows one row; `row` counts from the first row of the block.
    ///
    /// # Panics
    /// If `row` is out of range, as when indexing a slice.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_rows(1, 2, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!(block.row(1), [5.0, 6.0]); // the table's row 2
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row(&self, row: usize) -> &[U] {
        let none = Region::default();
        let region = self.held.as_ref().map_or(&none, |held| &held.region);
        &self.as_slice()[row_range(region, row)]
    }

    /// Returns the rows of the table that the block covers; an empty range without a block.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_rows(1, 2, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!((block.row_range(), BlockDescriptor::<f32>::new().row_range()), (1..3, 0..0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_range(&self) -> Range<usize> {
        self.held.as_ref().map_or(0..0, |held| held.region.rows.clone())
    }

    /// Returns the columns of the table that the block covers; an empty range without a block.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_column_values(1, 0, 3, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!((block.column_range(), BlockDescriptor::<f32>::new().column_range()), (1..2, 0..0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_range(&self) -> Range<usize> {
        self.held.as_ref().map_or(0..0, |held| held.region.columns.clone())
    }

    /// Returns the number of rows of the block. Source: DAAL `getNumberOfRows`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_column_values(1, 0, 3, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!(block.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> usize {
        self.row_range().len()
    }

    /// Returns the number of columns of the block. Source: DAAL `getNumberOfColumns`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_rows(1, 2, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!(block.column_count(), 2);
    /// table.get_block_of_column_values(1, 0, 3, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!(block.column_count(), 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_count(&self) -> usize {
        self.column_range().len()
    }

    /// Returns the first row of the table that the block covers. Source: DAAL `getRowsOffset`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_rows(2, 1, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!(block.row_offset(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_offset(&self) -> usize {
        self.row_range().start
    }

    /// Returns the first column of the table that the block covers. Source: DAAL `getColumnsOffset`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_column_values(1, 0, 3, ReadWriteMode::ReadOnly, &mut block)?;
    /// assert_eq!((block.column_offset(), block.row_offset()), (1, 0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_offset(&self) -> usize {
        self.column_range().start
    }

    /// Returns the mode of the block; `None` without a block. Source: DAAL `getRWFlag`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// assert_eq!(block.mode(), None);
    /// table.get_block_of_rows(1, 2, ReadWriteMode::ReadWrite, &mut block)?;
    /// assert_eq!(block.mode(), Some(ReadWriteMode::ReadWrite));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn mode(&self) -> Option<ReadWriteMode> {
        self.held.as_ref().map(|held| held.mode)
    }

    /// Returns whether the values are in the table's own memory instead of the descriptor's buffer.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let (mut stored, mut converted) = (BlockDescriptor::<i16>::new(), BlockDescriptor::<f32>::new());
    /// table.get_block_of_rows(1, 2, ReadWriteMode::ReadOnly, &mut stored)?;
    /// table.get_block_of_rows(1, 2, ReadWriteMode::ReadOnly, &mut converted)?;
    /// assert!(stored.is_zero_copy() && !converted.is_zero_copy());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn is_zero_copy(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !matches!(held.place, Place::Buffer(_)))
    }

    /// Returns the largest number of values of a copied block that needs no new allocation.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.read_rows(0..3, &mut block)?;
    /// table.read_rows(2..3, &mut block)?; // smaller: the buffer is kept
    /// assert!(block.as_slice().len() == 2 && block.capacity() >= 6);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Ends the block without writing back and keeps the buffer. Values written in place stay written.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// let mut block = BlockDescriptor::<f32>::new();
    /// table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block)?;
    /// block.as_mut_slice()?[0] = f32::NAN; // cannot be released
    /// block.discard();
    /// assert_eq!((table.as_slice()?, block.capacity()), (&[1, 2][..], 2));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn discard(&mut self) {
        self.held = None;
        self.lease.end();
    }
}

impl<U: Element> Default for BlockDescriptor<U> {
    fn default() -> Self {
        Self::new()
    }
}

impl<U: Element> fmt::Debug for BlockDescriptor<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockDescriptor")
            .field("mode", &self.mode())
            .field("rows", &self.row_range())
            .field("columns", &self.column_range())
            .field("is_zero_copy", &self.is_zero_copy())
            .finish_non_exhaustive()
    }
}
