//! The trait that every kind of table implements.

use std::any::{Any, TypeId};
use std::fmt;
use std::ops::Range;

use super::csr::cells::StoredCells;
use super::downcast::Token;
use super::{DataLayout, Lease, Lend, MemoryStatus, Piece, PieceMut, Region, TableId, TableKind, Target};
use super::{lend, missing, region_mut, tiling};
use crate::array::{AnyArray, AnyArrayRef, Validity};
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::shape::Shape;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::dictionary::DataDictionary;
use crate::window::{AnySlice, AnySliceMut};

/// A numeric table of any kind.
///
/// Dyn-compatible: a pipeline holds `Box<dyn NumericTable>` and never names the element type. Most methods of tables
/// are in extension traits, which are implemented for every kind of table and for `dyn NumericTable`, and are therefore
/// available on boxes and references. `use numeric_table::prelude::*` imports them all:
///
/// | methods | trait |
/// | --- | --- |
/// | blocks of rows and columns, single values | [`BlockAccess`](crate::BlockAccess) |
/// | transactional updates in a closure | [`BlockUpdate`](crate::BlockUpdate) |
/// | columns by name | [`NamedColumns`](crate::NamedColumns) |
/// | selecting, sorting, filtering, sampling and splitting | [`TableSelection`](crate::TableSelection) |
/// | stacking tables and columns, side by side or end to end | [`TableCombination`](crate::TableCombination) |
/// | conversion to another element type; copies that own their values | [`TableConversion`](crate::TableConversion) |
/// | number of rows and columns, column types | [`TableDescription`](crate::TableDescription) |
/// | text, archives, files | [`TableOutput`](crate::TableOutput) |
/// | Arrow record batches | `ArrowTables` in the crate `numeric-table-arrow` |
///
/// `downcast_ref`, `downcast_mut` and `downcast` of `dyn NumericTable` downcast a table to its concrete type.
///
/// # Implementing your own kind of table
///
/// A table is made up of [`Piece`]s: typed windows on memory that cover it like tiles. A kind of table either returns
/// its pieces or computes its values. The default methods of this trait, and code built on them, provide everything
/// else: blocks of rows and columns in any element type, descriptors, write-back, parallel readers and writers,
/// conversion, statistics, printing, saving.
///
/// | table | methods to implement |
/// | --- | --- |
/// | read-only, in memory | [`shape`], [`dictionary`], [`id`], [`piece`](Self::piece) |
/// | read-only, with computed values | [`shape`], [`dictionary`], [`id`], [`read_region`] |
/// | writable | also [`pieces_mut`] |
/// | writable, without pieces | [`write_region`], `check_block_writable` of [`Lend`]; [`lender`] and [`lender_mut`], which return the table itself |
/// | with a variable size or dictionary | [`resize`](Self::resize) or [`set_dictionary`](Self::set_dictionary), which return an error by default |
/// | lends its memory to descriptors, which then write in place | [`Lend`]; [`lender`] and [`lender_mut`], which return the table itself |
///
/// [`shape`]: Self::shape
/// [`dictionary`]: Self::dictionary
/// [`id`]: Self::id
/// [`read_region`]: Self::read_region
/// [`pieces_mut`]: Self::pieces_mut
/// [`write_region`]: Self::write_region
/// [`lender`]: Self::lender
/// [`lender_mut`]: Self::lender_mut
///
/// A kind of table may borrow its values: `impl NumericTable for Columns<'_>`.
///
/// ```
/// use numeric_table::{prelude::*, statistics::BasicStatistics, table::spi::{Piece, TableId}};
///
/// /// Borrowed columns of two types.
/// struct Columns<'c> {
///     id: TableId,
///     dictionary: DataDictionary,
///     lengths: &'c [f32],
///     counts: &'c [u8],
/// }
///
/// impl NumericTable for Columns<'_> {
///     fn shape(&self) -> Shape {
///         Shape { rows: self.lengths.len().min(self.counts.len()), columns: 2 }
///     }
///
///     fn dictionary(&self) -> &DataDictionary {
///         &self.dictionary
///     }
///
///     fn id(&self) -> TableId {
///         self.id
///     }
///
///     fn piece(&self, _row: usize, column: usize) -> Result<Option<Piece<'_>>, Error> {
///         let rows = self.shape().rows;
///         let shape = Shape { rows, columns: 1 };
///         Ok(match column {
///             0 => Some(Piece::new(0, 0, TableView::new(&self.lengths[..rows], shape, DataLayout::ColumnMajor)?)),
///             1 => Some(Piece::new(0, 1, TableView::new(&self.counts[..rows], shape, DataLayout::ColumnMajor)?)),
///             _ => None, // past the end
///         })
///     }
/// }
///
/// let (lengths, counts) = (vec![1.5, 2.5, 3.5], vec![1, 2, 3]);
/// let types = [ElementType::F32, ElementType::U8]; // the types of the pieces
/// let dictionary = types.map(Feature::new).into_iter().collect();
/// let columns = Columns { id: TableId::new(), dictionary, lengths: &lengths, counts: &counts };
/// assert_eq!(&columns.rows::<f64>(1..)?[..], [2.5, 2.0, 3.5, 3.0]);
/// assert!(columns.column::<u8>(1, ..)?.is_zero_copy());
///
/// assert_eq!(BasicStatistics::compute(&columns)?.per_column()[0].mean(), 2.5);
/// let copy: Table<f32> = columns.convert()?; // one type for all columns
/// assert_eq!(copy.as_slice()?, [1.5, 1.0, 2.5, 2.0, 3.5, 3.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// Source: DAAL `NumericTable`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
///
/// fn column_sums(table: &dyn NumericTable) -> Result<Vec<f64>, numeric_table::Error> {
///     let mut sums = vec![0.0; table.column_count()];
///     for block in table.row_blocks::<f64>(256)? {
///         for row in block?.iter_rows() {
///             sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
///         }
///     }
///     Ok(sums)
/// }
///
/// let tables: [Box<dyn NumericTable>; 2] = [
///     Box::new(HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?),
///     Box::new(HomogenNumericTable::from_rows(&[[0.5_f32, 0.25]])?),
/// ];
/// assert_eq!(column_sums(&*tables[0])?, [4.0, 6.0]);
/// assert_eq!(column_sums(&*tables[1])?, [0.5, 0.25]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a numeric table",
    note = "all kinds of tables and `dyn NumericTable` are; for `table: Box<dyn NumericTable>`, pass `&*table`"
)]
pub trait NumericTable: Send + Sync {
    /// Returns the number of rows and columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.shape(), Shape { rows: 3, columns: 2 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn shape(&self) -> Shape;

    /// Returns the description of the columns, including their element types. Source: DAAL `getDictionary`, which
    /// returns a mutable dictionary.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.dictionary().len(), 2); // one feature for each column
    /// assert_eq!(table.dictionary().feature(1)?.element_type, ElementType::I16);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn dictionary(&self) -> &DataDictionary;

    /// Returns the id of this table, which is unique and never changes. A block can be released only on the table it
    /// was taken from. [`TableId::new`] creates the id, once for each table; a clone has its own.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let id = table.id();
    /// table.resize(5)?;
    /// assert_eq!(table.id(), id);
    /// assert_ne!(table.clone().id(), id); // a clone is another table
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn id(&self) -> TableId;

    /// Returns the name of this kind of table, for archives and files.
    ///
    /// The default is [`TableKind::CUSTOM`]. Files and archives preserve the kind of the library's own tables, except
    /// tables that show other tables. Those, and your own kinds, are saved as their contents: a homogeneous table if
    /// all columns have one type, otherwise a structure of arrays.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::TableKind};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2]])?;
    /// assert_eq!(table.kind(), TableKind::HOMOGENEOUS);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn kind(&self) -> TableKind {
        TableKind::CUSTOM
    }

    /// Returns the element type of the columns, if all have the same type.
    ///
    /// Cost of the default: O(distinct features).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table: &dyn NumericTable = &HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.uniform_type(), Some(ElementType::I16));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn uniform_type(&self) -> Option<ElementType> {
        self.dictionary().uniform_type()
    }

    /// Returns the order in which values are stored. It determines whether blocks of rows or of columns are cheaper to
    /// read. Source: DAAL `getDataLayout`.
    ///
    /// The default is row-major.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.data_layout(), DataLayout::RowMajor);
    /// assert_eq!(table.to_layout(DataLayout::ColumnMajor)?.data_layout(), DataLayout::ColumnMajor);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn data_layout(&self) -> DataLayout {
        DataLayout::RowMajor
    }

    /// Returns whether the table has memory, and whether the user or the library allocated it. Source: DAAL
    /// `getDataMemoryStatus`.
    ///
    /// The default is [`MemoryStatus::UserAllocated`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let shape = Shape { rows: 3, columns: 2 };
    /// let table = HomogenNumericTable::<f32>::new(shape, AllocationFlag::DoAllocate)?;
    /// assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn data_memory_status(&self) -> MemoryStatus {
        MemoryStatus::UserAllocated
    }

    /// Replaces the description of the columns, but not their number or their element types.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`] if the dictionary does not describe these columns.
    /// [`ErrorKind::ReadOnlyTable`] by default. On an error the table is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let feature = Feature::new(ElementType::I16);
    /// table.set_dictionary(DataDictionary::from_features([feature.clone().named("a"), feature.clone().named("b")]))?;
    /// assert_eq!(table.dictionary().index_of("b"), Some(1));
    /// assert!(table.set_dictionary(DataDictionary::uniform(feature, 3)).is_err()); // three columns
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn set_dictionary(&mut self, dictionary: DataDictionary) -> Result<()> {
        let own = self.own_dictionary(Token::new()).ok_or_else(|| Error::new(ErrorKind::ReadOnlyTable))?;
        own.check_types(&dictionary)?;
        let mut dictionary = dictionary;
        dictionary.add_nullable(own)?;
        *own = dictionary;
        Ok(())
    }

    /// Changes the number of rows. Values of the remaining rows are kept.
    ///
    /// | before the call | effect |
    /// | --- | --- |
    /// | no memory is allocated | zero-filled rows are allocated |
    /// | the memory has room for the rows | no copy, unless truncated rows reappear in shared or immutable memory |
    /// | the library's memory is too small | new memory for these rows; at least 1.5 times the old rows if the table has grown before |
    /// | the user's memory is too small | new memory from the library for these rows; the user's is released unchanged |
    ///
    /// The values of new rows depend only on the table's own history. They do not depend on the layout, or on whether
    /// the memory is shared. New rows are zero, even if an earlier call truncated them. The only exception is spare
    /// rows ([`from_array_with_spare_rows`](crate::HomogenNumericTable::from_array_with_spare_rows)), which first
    /// appear with the values that the user stored there.
    ///
    /// Cost: O(1) for removing rows. Adding rows costs O(new rows), or a copy of the table if new memory is allocated;
    /// adding them one by one costs amortized O(1) per row. Source: DAAL `resize`, which loses the values and does not
    /// check the size of the user's memory.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`], [`ErrorKind::BlockOutstanding`];
    /// [`ErrorKind::ReadOnlyTable`] by default. On an error the table is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?;
    /// table.resize(3)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4, 5, 6, 0, 0, 0]);
    /// table.resize(1)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3]);
    /// table.resize(2)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 0, 0, 0]); // the truncated rows are lost
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn resize(&mut self, rows: usize) -> Result<()> {
        let _ = rows;
        Err(Error::new(ErrorKind::ReadOnlyTable))
    }

    /// Returns the largest piece that contains a value: a rectangle of values of one type in memory, with constant row
    /// and column strides. Returns `None` if the value is not in memory.
    ///
    /// A smaller piece is also correct, but slower. Its type must be that of its columns in the dictionary.
    ///
    /// The library also calls this method for positions past the end, when it reads empty regions. Return `None` there;
    /// an error means that the table cannot be read now. Cost: the method must not allocate.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`] if the values cannot be read.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let piece = table.piece(2, 0)?.unwrap();
    /// assert_eq!(piece.region().rows, 0..3);
    /// assert_eq!(piece.view::<i16>().unwrap().value(2, 0), Some(5));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        let _ = (row, column);
        Ok(None)
    }

    /// Returns all pieces for writing, in any order. They must cover the table without overlapping, and have the types
    /// of the [pieces](Self::piece) for reading; otherwise writes fail. Copies shared or immutable memory first.
    ///
    /// # Errors
    /// Those of [`piece`](Self::piece); [`ErrorKind::OutOfMemory`]; [`ErrorKind::ReadOnlyTable`] by default.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let pieces = table.pieces_mut()?;
    /// assert_eq!((pieces.len(), pieces[0].region().rows.clone()), (1, 0..3));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        Err(Error::new(ErrorKind::ReadOnlyTable))
    }

    /// Returns the piece of [`pieces_mut`](Self::pieces_mut) that contains a value.
    ///
    /// The default creates all pieces and searches them.
    ///
    /// # Errors
    /// Those of [`pieces_mut`](Self::pieces_mut).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.piece_mut(2, 0)?.unwrap().region().rows, 0..3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn piece_mut(&mut self, row: usize, column: usize) -> Result<Option<PieceMut<'_>>> {
        let value = Region::of_value(row, column);
        Ok(self.pieces_mut()?.into_iter().find(|piece| piece.region().place_of(&value).is_some()))
    }

    /// Reads a region: converts its values, row by row, into a target of the same shape.
    ///
    /// A table that computes its values overrides this method, and calls [`Region::check`] first.
    ///
    /// The default reads the pieces that the region covers. It reads adjacent pieces in bands of rows that fit in the
    /// first-level cache, and large regions in several threads.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::OutOfRange`],
    /// [`ErrorKind::ShapeMismatch`]; those of [`piece`](Self::piece); [`ErrorKind::NotInMemory`] if no piece exists;
    /// [`ErrorKind::ValueNotRepresentable`] under a checking policy, for the first such value in row-major order. On an
    /// error the target is unchanged, except after [`Target::allow_partial_write`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{array::AnySliceMut, prelude::*, table::spi::{Region, Target}};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let (column, mut values) = (Region { rows: 0..3, columns: 1..2 }, [0.0_f32; 3]);
    /// table.read_region(&column, Target::new(AnySliceMut::new(&mut values), column.shape(), ConversionPolicy::Exact)?)?;
    /// assert_eq!(values, [2.0, 4.0, 6.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        tiling::read(self, region, target)
    }

    /// Writes a region: converts row-major values into it, all or nothing.
    ///
    /// The default writes the pieces that the region covers. A refused write does not copy shared memory.
    ///
    /// # Errors
    /// Those of [`read_region`](Self::read_region) and [`pieces_mut`](Self::pieces_mut); [`ErrorKind::ReadOnlyTable`]
    /// if a value is not in any piece; [`ErrorKind::LengthMismatch`]; [`ErrorKind::ElementTypeMismatch`] if the types
    /// of a piece for writing and of the [piece](Self::piece) for reading differ. On an error nothing is written.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{array::AnySlice, convert::WriteRule, prelude::*, table::spi::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let (column, values) = (Region { rows: 0..3, columns: 1..2 }, [20.0_f32, 40.0, 60.0]);
    /// let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    /// table.write_region(&column, AnySlice::new(&values), rule)?;
    /// assert_eq!(table.as_slice()?, [1, 20, 3, 40, 5, 60]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        region_mut::write(self, region, values, rule)
    }

    /// Returns which of some rows of a column have a value, with one bit for each row; `None` if all have one.
    ///
    /// [`read_region`](Self::read_region) reads missing values as NaN into floating-point types, and fails with
    /// [`ErrorKind::MissingValue`] for other types. Only columns whose [`Feature`](crate::Feature) is nullable are
    /// asked. The default is `None`. Source: Arrow's validity bitmaps.
    ///
    /// # Errors
    /// Those of [`piece`](Self::piece); [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::RowsOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("count", [Some(3_u16), None, Some(2)])?;
    /// let validity = table.validity(0, 0..3)?.unwrap();
    /// assert_eq!(validity.missing_rows().collect::<Vec<_>>(), [1]);
    /// assert!(table.validity(0, 2..3)?.is_none());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn validity(&self, column: usize, rows: Range<usize>) -> Result<Option<Validity>> {
        Region { rows, columns: column..column.saturating_add(1) }.check(self.shape()).map(|()| None)
    }

    /// Returns `Some(self)` if this table lends its memory. A table that shows all cells of another table at the same
    /// rows and columns, and reads and writes them unchanged, returns that table's lender. The default is `None`:
    /// zero-copy blocks then borrow [pieces](Self::piece), and a descriptor for writing holds a copy.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::Region};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let rows = Region { rows: 1..3, columns: 0..2 };
    /// assert!(table.lender().unwrap().slice_of(&rows, ElementType::I16)?.is_some());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lender(&self) -> Option<&dyn Lend> {
        None
    }

    /// Like [`lender`](Self::lender), for writing.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::{Lease, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let (mut lease, rows) = (Lease::new(), Region { rows: 1..3, columns: 0..2 });
    /// assert!(table.lender_mut().unwrap().lend_region(&rows, Some(ElementType::I16), &mut lease)?);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        None
    }

    /// Returns `Some(self)` if this kind of table can be downcast from `dyn NumericTable` (`downcast_ref`). The default
    /// is `None`, for kinds that borrow their values and therefore cannot be downcast.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// assert!(HomogenNumericTable::from_rows(&[[1_i16, 2]])?.as_any().is_some());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// Like [`as_any`](Self::as_any), for writing.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// assert!(HomogenNumericTable::from_rows(&[[1_i16, 2]])?.as_any_mut().is_some());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn as_any_mut(&mut self) -> Option<&mut dyn Any> {
        None
    }

    /// Returns the number of levels of tables below this one. Reading nested tables takes nested calls.
    #[doc(hidden)]
    fn depth(&self) -> usize {
        0
    }

    /// Like [`pieces_mut`](Self::pieces_mut), but only for the inner tables that have values in a region. More pieces
    /// are correct too. Other crates cannot name the argument, so they cannot override this method.
    #[doc(hidden)]
    fn pieces_around(&mut self, region: &Region, _: Token) -> Result<Vec<PieceMut<'_>>> {
        let _ = region;
        self.pieces_mut()
    }

    /// Checks that the inner tables that have values in a region can be written. Other crates cannot name the argument,
    /// so they cannot override this method.
    #[doc(hidden)]
    fn check_region_writable(&mut self, region: &Region, _: Token) -> Result<()> {
        let _ = region;
        if let Some(lender) = self.lender_mut() {
            return lender.check_block_writable();
        }
        self.pieces_mut().map(drop)
    }

    /// Does what [`Lend::slice_of`] does, for a table of any kind. This method and those below with a `Token` are
    /// shortcuts past [`lender`](Self::lender): the homogeneous table overrides them, so that reading or writing a row
    /// costs no virtual call where the table's type is known. Other crates cannot name the argument, so they cannot
    /// override these methods.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slice_in_place(&self, region: &Region, element: ElementType, _: Token) -> Result<Option<AnySlice<'_>>> {
        lend::slice_by_lender(self, region, element)
    }

    /// Converts the values of a region, row by row, if they are few and easily found. Returns whether it did. If not,
    /// the target's values are unspecified, and [`read_region`](Self::read_region) reads the region or finds the error.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_few(&self, region: &Region, target: AnySliceMut<'_>, policy: ConversionPolicy, _: Token) -> bool {
        let _ = (region, target, policy);
        false
    }

    /// Returns the stored cells of some rows, if the kind of table stores only some cells and the others are zero. Such
    /// rows are sent to devices as they are stored.
    #[doc(hidden)]
    fn stored_cells(&self, rows: &Range<usize>, _: Token) -> Option<StoredCells<'_>> {
        let _ = rows;
        None
    }

    /// Returns whether [`slice_in_place`](Self::slice_in_place) would return a slice with values. `false` if it takes
    /// longer to find out.
    #[doc(hidden)]
    fn has_slice(&self, region: &Region, element: ElementType, _: Token) -> bool {
        let _ = (region, element);
        false
    }

    /// Does what [`Lend::slice_of_mut`] does.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slice_in_place_mut(
        &mut self,
        region: &Region,
        element: ElementType,
        _: Token,
    ) -> Result<Option<AnySliceMut<'_>>> {
        lend::slice_by_lender_mut(self, region, element)
    }

    /// Does what [`Lend::array_of`] does.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn array_in_place(
        &self,
        region: &Region,
        element: ElementType,
        _: Token,
    ) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        lend::array_by_lender(self, region, element)
    }

    /// Does what [`Lend::lend_region`] does.
    #[doc(hidden)]
    fn lend_in_place(
        &mut self,
        region: &Region,
        in_place: Option<ElementType>,
        lease: &mut Lease,
        _: Token,
    ) -> Result<bool> {
        lend::lend_by_lender(self, region, in_place, lease)
    }

    /// Returns whether the memory that this table lends in place always has as many values as the region, so that
    /// callers need not count them.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lends_exactly(&self, _: Token) -> bool {
        false
    }

    /// Lends a region that is not written in place, and converts its values as [`read_few`](Self::read_few) does, if
    /// the lease has held this table's memory before. Returns whether it did. If not, nothing is lent.
    #[doc(hidden)]
    fn lend_few(
        &mut self,
        region: &Region,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
        lease: &mut Lease,
        _: Token,
    ) -> bool {
        let _ = (region, target, policy, lease);
        false
    }

    /// Does what [`Lend::write_lent`] does. Returns whether it has also done what [`Lend::take_back`] does.
    #[doc(hidden)]
    fn write_lease(&mut self, lease: &mut Lease, values: AnySlice<'_>, rule: WriteRule, _: Token) -> Result<bool> {
        if let Some(lender) = self.lender_mut() {
            return lender.write_lent(lease, values, rule).map(|()| false);
        }
        lease.check_empty()?;
        self.write_region(lease.region(), values, rule).map(|()| false)
    }

    /// Does what [`Lend::take_back`] does.
    #[doc(hidden)]
    fn end_lease(&mut self, lease: &mut Lease, _: Token) -> Result<()> {
        match self.lender_mut() {
            Some(lender) => lender.take_back(lease),
            None => lease.check_empty(),
        }
    }

    /// Returns some rows of a column in its own type, shared if possible, and which of them have a value. The values of
    /// the others are unspecified.
    #[doc(hidden)]
    fn column_array(&self, column: usize, rows: &Range<usize>, _: Token) -> Result<(AnyArray, Option<Validity>)> {
        missing::read_column(self, column, rows)
    }

    /// Sets which of some consecutive rows of a column have a value, from `first_row` on.
    #[doc(hidden)]
    fn write_validity(&mut self, column: usize, first_row: usize, validity: &Validity, _: Token) -> Result<()> {
        let rows = first_row..first_row.saturating_add(validity.len());
        Region { rows, columns: column..column.saturating_add(1) }.check(self.shape())?;
        if validity.has_missing() { Err(missing::has_no_bitmaps()) } else { Ok(()) }
    }

    /// Returns whether [`write_validity`](Self::write_validity) can mark values of a column as missing.
    #[doc(hidden)]
    fn takes_gaps(&self, column: usize, _: Token) -> bool {
        let _ = column;
        false
    }

    /// Checks that values may be written into a region, and makes its memory exclusive, so that a
    /// [`write_region`](Self::write_region) of the same values does not fail.
    #[doc(hidden)]
    fn prepare_write(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule, _: Token) -> Result<()> {
        tiling::check_write(&|row, column| self.piece(row, column), region, values, rule)?;
        self.pieces_around(region, Token::new()).map(drop)
    }

    /// Borrows the table's own dictionary for changing names without a copy; `None` if the table has no dictionary of
    /// its own. Other crates cannot name the argument, so they cannot override this method.
    #[doc(hidden)]
    fn own_dictionary(&mut self, _: Token) -> Option<&mut DataDictionary> {
        None
    }

    /// Returns the table that this one *is*, borrowed for reading. Other crates cannot name the argument, so they
    /// cannot override this method.
    #[doc(hidden)]
    fn borrowed(&self, _: Token) -> Option<&dyn NumericTable> {
        None
    }

    /// Returns the table that this one *is*, borrowed for writing. Other crates cannot name the argument, so they
    /// cannot override this method.
    #[doc(hidden)]
    fn borrowed_mut(&mut self, _: Token) -> Option<&mut dyn NumericTable> {
        None
    }

    /// Returns the Rust type of the table. Other crates cannot name the argument, so they cannot override this method.
    #[doc(hidden)]
    fn concrete_type(&self, _: Token) -> TypeId
    where
        Self: 'static,
    {
        TypeId::of::<Self>()
    }
}

impl dyn NumericTable + '_ {
    /// Returns the element type of all columns.
    ///
    /// # Errors
    /// [`ErrorKind::MixedElementTypes`] if the types of the columns differ.
    pub(crate) fn one_type(&self) -> Result<ElementType> {
        self.uniform_type().map_or_else(|| self.dictionary().one_type(), Ok)
    }
}

impl fmt::Debug for dyn NumericTable + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe("dyn NumericTable", self, f)
    }
}

/// Writes the properties of a table, never its values.
pub(super) fn describe(name: &str, table: &(impl NumericTable + ?Sized), f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_struct(name)
        .field("shape", &format_args!("{}", table.shape()))
        .field("element_type", &format_args!("{}", table.uniform_type().map_or("mixed", ElementType::name)))
        .field("data_layout", &table.data_layout())
        .field("data_memory_status", &table.data_memory_status())
        .finish_non_exhaustive()
}
