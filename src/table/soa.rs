//! The structure of arrays: one array per column, each with its own element type.
//!
//! Invariant: an array that is set and not lent has one value per row, and the element type in the dictionary. `tiling`
//! gathers rows from the columns, in bands of rows.
//! Semantics: DAAL `SOANumericTable`. Unlike there, nothing is cached about columns that are replaced, and a column
//! without values is an error, not a null pointer.

mod access;
mod gaps;
mod grow;
mod nullable;

use std::fmt;

use self::gaps::Gaps;
pub use self::nullable::NullableColumn;
use super::lease::Memory;
use super::numeric_table::describe;
use super::{AllocationFlag, MemoryStatus, Rejected, Shape, TableId};
use crate::array::{AnyArray, Array};
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::text::excerpt;
use crate::dictionary::{DataDictionary, Feature};

/// A table with one array per column, each with its own element type: the layout of data frames, Arrow and mixed CSV
/// files.
///
/// ```text
///  "length" ── Array<f32>   5.1  4.9  6.2
///  "count"  ── Array<u16>     3    1    2      row 1 as f64: 4.9 1.0 0.2
///  "share"  ── Array<f64>   0.4  0.2  0.1
/// ```
///
/// A column in its own type is borrowed, as a slice ([`column_slice`](Self::column_slice)) or as a block. A block of
/// rows is a converted copy, gathered from the columns in bands of rows. Cloning shares the arrays, O(columns). The
/// first write to a column copies that column if it is shared. A writable block of one column in its own type locks the
/// column until the block is released. Any other block is a copy, and locks nothing: releasing it overwrites values
/// that were written to the table in the meantime, where the block's values differ.
///
/// Files and archives store it unchanged, each column in its own type.
///
/// Source: DAAL `SOANumericTable`.
///
/// # Examples
/// ```
/// use numeric_table::{SoaNumericTable, prelude::*};
/// let mut table = SoaNumericTable::new();
/// table.push_column("length", vec![5.1_f32, 4.9, 6.2])?;
/// table.push_column("count", vec![3_u16, 1, 2])?;
/// assert_eq!(table.shape(), Shape { rows: 3, columns: 2 });
/// assert_eq!(table.column_slice::<u16>(1)?, [3, 1, 2]);
/// assert_eq!(table.rows::<f32>(1..)?[..], [4.9, 1.0, 6.2, 2.0]);
///
/// table.update_rows::<f64, _>(.., |block| {
///     (0..block.row_count()).for_each(|row| block.row_mut(row)[1] += 1.0);
///     Ok(())
/// })?;
/// assert_eq!(table.column_slice::<u16>(1)?, [4, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SoaNumericTable {
    id: TableId,
    /// `None` while the column has no values.
    columns: Vec<Option<Memory<AnyArray>>>,
    /// Which values are missing.
    gaps: Gaps,
    row_count: usize,
    /// Invariant: describes `columns`.
    dictionary: DataDictionary,
    /// The allocator of the columns that are set.
    owner: MemoryStatus,
    /// The number of times that columns have moved. Blocks taken before a move identify columns by their old indices.
    moves: u64,
}

impl SoaNumericTable {
    /// Creates a table without columns and rows. The first column that is pushed sets the number of rows.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// assert_eq!(SoaNumericTable::new().shape(), Shape { rows: 0, columns: 0 });
    /// ```
    pub fn new() -> Self {
        Self::without_values(DataDictionary::from_features([]), 0, Vec::new(), MemoryStatus::UserAllocated)
    }

    fn without_values(
        dictionary: DataDictionary,
        row_count: usize,
        columns: Vec<Option<Memory<AnyArray>>>,
        owner: MemoryStatus,
    ) -> Self {
        Self { id: TableId::new(), columns, gaps: Gaps::default(), row_count, dictionary, owner, moves: 0 }
    }

    /// Creates a table from columns that a dictionary describes, with `row_count` values each.
    #[doc(hidden)]
    pub fn of_arrays(
        dictionary: DataDictionary,
        row_count: usize,
        columns: Vec<AnyArray>,
        owner: MemoryStatus,
    ) -> Self {
        debug_assert!(columns.iter().all(|array| array.len() == row_count));
        let columns = columns.into_iter().map(|array| Some(Memory::new(array))).collect();
        Self::without_values(dictionary, row_count, columns, owner)
    }

    /// Creates a table of the columns that a dictionary describes, filled with zeros or without values.
    /// [`set_column`](Self::set_column) supplies missing values later. Reading a column without values fails with
    /// [`ErrorKind::ColumnNotSet`].
    ///
    /// Source: DAAL `create(dictionary, rows, flag)`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let features = [Feature::new(ElementType::F64).named("x"), Feature::new(ElementType::U8).named("kind")];
    /// let dictionary = features.into_iter().collect();
    /// let mut table = SoaNumericTable::from_dictionary(dictionary, 2, AllocationFlag::DoAllocate)?;
    /// table.column_slice_mut::<u8>(1)?[1] = 7;
    /// assert_eq!(table.rows::<i32>(..)?[..], [0, 0, 0, 7]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_dictionary(dictionary: DataDictionary, row_count: usize, allocation: AllocationFlag) -> Result<Self> {
        let (allocates, count) = (allocation == AllocationFlag::DoAllocate, dictionary.len());
        Shape { rows: row_count, columns: count }.element_count()?;
        let mut columns = Vec::new();
        let bytes = count.saturating_mul(size_of::<Option<Memory<AnyArray>>>());
        columns.try_reserve_exact(count).map_err(|_| Error::out_of_memory(bytes))?;
        for feature in dictionary.iter() {
            columns.push(match allocates {
                true => Some(Memory::new(AnyArray::zeros(feature.element_type, row_count)?)),
                false => None,
            });
        }
        let owner = if allocates { MemoryStatus::InternallyAllocated } else { MemoryStatus::UserAllocated };
        Ok(Self::without_values(dictionary, row_count, columns, owner))
    }

    /// Creates a table from named columns.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalLengths`] for the first column whose length differs from that of the first one;
    /// [`ErrorKind::OutOfMemory`]. The arrays are dropped; [`push_column`](Self::push_column) returns a refused array.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// let table = SoaNumericTable::from_columns([
    ///     ("length", AnyArray::from(vec![5.1_f32, 4.9])),
    ///     ("count", AnyArray::from(vec![3_u16, 1])),
    /// ])?;
    /// assert_eq!(table.dictionary().index_of("count"), Some(1));
    /// let unequal = [("a", vec![1, 2]), ("b", vec![3])];
    /// let error = SoaNumericTable::from_columns(unequal).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::UnequalLengths { what: "column", index: 1, .. }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_columns<N: Into<String>, A: Into<AnyArray>>(columns: impl IntoIterator<Item = (N, A)>) -> Result<Self> {
        let mut table = Self::new();
        for (name, array) in columns {
            table.push_column(name, array)?;
        }
        Ok(table)
    }

    /// Appends a column. The first column of a table without rows sets the number of rows. Amortized O(1), plus the
    /// cost of the name, unless the dictionary is shared.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalLengths`] if the array does not have one value for each row, or
    /// [`ErrorKind::OutOfMemory`], each with the array. The table is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*, table::Rejected};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![1, 2])])?;
    /// let Rejected { value, error } = table.push_column("b", vec![0.5, 1.5, 2.5]).unwrap_err();
    /// assert_eq!(value.len(), 3); // nothing is lost
    /// assert_eq!(error.to_string(), "column 1 (b) has 3 values, but the first has 2");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn push_column(
        &mut self,
        name: impl Into<String>,
        array: impl Into<AnyArray>,
    ) -> Result<(), Rejected<AnyArray>> {
        let array = array.into();
        let feature = Feature::new(array.element_type()).named(name);
        self.push_feature(feature, array)
    }

    /// Like [`push_column`](Self::push_column), with all metadata of the column. Its element type becomes that of the
    /// array.
    ///
    /// # Errors
    /// Those of [`push_column`](Self::push_column).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::new();
    /// table.push_feature(Feature::new(ElementType::U8).named("species").categorical(3), vec![0_u8, 2, 1])?;
    /// assert_eq!(table.category_count(0)?, Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn push_feature(&mut self, feature: Feature, array: impl Into<AnyArray>) -> Result<(), Rejected<AnyArray>> {
        let array = array.into();
        let feature = Feature { element_type: array.element_type(), ..feature };
        let is_first = self.columns.is_empty() && self.row_count == 0;
        let rejected = |error, value| Err(Rejected::new(value, error));
        if !is_first && array.len() != self.row_count {
            return rejected(self.unequal(&feature, array.len()), array);
        }
        let bytes = size_of::<Option<Memory<AnyArray>>>();
        if self.columns.try_reserve(1).is_err() {
            return rejected(Error::out_of_memory(bytes), array);
        }
        if let Err(error) = self.dictionary.append(&DataDictionary::uniform(feature, 1)) {
            return rejected(error, array);
        }
        if is_first {
            self.row_count = array.len();
        }
        self.columns.push(Some(Memory::new(array)));
        self.owner = MemoryStatus::UserAllocated;
        Ok(())
    }

    /// Replaces the values of a column, or supplies them for the first time. The element type of the column becomes
    /// that of the array. Returns the previous values, or `None` if there were none or a writable block holds them.
    ///
    /// Source: DAAL `setArray`.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::LengthMismatch`] or [`ErrorKind::OutOfMemory`], each with the
    /// array. The table is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![1.5_f32, 2.5])])?;
    /// let old = table.set_column(0, vec![7_i64, 8])?.unwrap();
    /// assert_eq!(old.downcast::<f32>().unwrap()[..], [1.5, 2.5]);
    /// assert_eq!((table.column_type(0)?, table.column_slice::<i64>(0)?), (ElementType::I64, &[7, 8][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_column(
        &mut self,
        column: usize,
        array: impl Into<AnyArray>,
    ) -> Result<Option<AnyArray>, Rejected<AnyArray>> {
        let array = array.into();
        if let Err(error) = self.describe_as(column, &array) {
            return Err(Rejected::new(array, error));
        }
        self.gaps.clear(column);
        let old = self.columns[column].replace(Memory::new(array));
        self.owner = MemoryStatus::UserAllocated;
        Ok(old.and_then(|memory| memory.array().ok().cloned()))
    }

    /// Sets the element type of a column to that of an array.
    fn describe_as(&mut self, column: usize, array: &AnyArray) -> Result<()> {
        let feature = self.dictionary.feature(column)?;
        if array.len() != self.row_count {
            let (expected, found) = (self.row_count, array.len());
            return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
        }
        if feature.element_type != array.element_type() {
            let feature = Feature { element_type: array.element_type(), ..feature.clone() };
            self.dictionary.set_feature(column, feature)?;
        }
        Ok(())
    }

    /// Removes a column and returns it with its metadata. Later columns move up by one. O(columns). Releasing a
    /// converted writable block that was taken before fails with [`ErrorKind::WrongTable`].
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::ColumnNotSet`]; [`ErrorKind::BlockOutstanding`] while a writable
    /// block holds the column.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![1, 2]), ("b", vec![3, 4])])?;
    /// let (feature, array) = table.remove_column(0)?;
    /// assert_eq!((feature.name.as_deref(), array.len()), (Some("a"), 2));
    /// assert_eq!(table.rows::<i32>(..)?[..], [3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn remove_column(&mut self, column: usize) -> Result<(Feature, AnyArray)> {
        let feature = self.dictionary.feature(column)?.clone();
        let array = self.array(column)?.clone();
        let mut dictionary = self.dictionary.part(0..column)?;
        dictionary.append(&self.dictionary.part(column + 1..self.dictionary.len())?)?;
        self.dictionary = dictionary;
        self.columns.remove(column);
        self.gaps.remove(column);
        self.moves += 1;
        Ok((feature, array))
    }

    /// Returns all columns with their metadata.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnNotSet`], or [`ErrorKind::BlockOutstanding`] while a writable block holds a column, each
    /// with the table.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::SoaNumericTable;
    /// let table = SoaNumericTable::from_columns([("a", vec![1, 2])])?;
    /// let columns = table.into_columns()?;
    /// assert_eq!((columns[0].0.name.as_deref(), columns[0].1.len()), (Some("a"), 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_columns(self) -> Result<Vec<(Feature, AnyArray)>, Rejected<Self>> {
        let columns = self.dictionary.iter().enumerate();
        let all = columns.map(|(column, feature)| Ok((feature.clone(), self.array(column)?.clone()))).collect();
        match all {
            Ok(all) => Ok(all), // the table is dropped, and its shares with it
            Err(error) => Err(Rejected::new(self, error)),
        }
    }

    /// Borrows the array of a column. Cloning it shares the memory.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::ColumnNotSet`]; [`ErrorKind::BlockOutstanding`] while a writable
    /// block holds the column; [`ErrorKind::MissingValue`] if any value is missing.
    /// [`nullable_column`](Self::nullable_column) returns such columns.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let values = Array::from(vec![1_u8, 2]);
    /// let table = SoaNumericTable::from_columns([("a", values.clone())])?;
    /// assert!(table.array(0)?.downcast_ref::<u8>().unwrap().shares_memory_with(&values));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn array(&self, column: usize) -> Result<&AnyArray> {
        let array = self.stored(column)?;
        match self.gaps.of(column) {
            None => Ok(array),
            Some(_) => Err(self.has_gaps(column)),
        }
    }

    /// Returns the array of a column, with unspecified values where values are missing.
    #[inline]
    fn stored(&self, column: usize) -> Result<&AnyArray> {
        self.check_column(column)?;
        self.columns[column].as_ref().ok_or_else(|| Error::new(ErrorKind::ColumnNotSet { column }))?.array()
    }

    /// Borrows the values of a column.
    ///
    /// # Errors
    /// Those of [`array`](Self::array); [`ErrorKind::ElementTypeMismatch`] if the column has another type.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let table = SoaNumericTable::from_columns([("a", vec![1_u8, 2])])?;
    /// assert_eq!(table.column_slice::<u8>(0)?, [1, 2]);
    /// assert!(table.column_slice::<i8>(0).is_err()); // `column` converts
    /// # Ok::<(), Error>(())
    /// ```
    pub fn column_slice<T: Element>(&self, column: usize) -> Result<&[T]> {
        let array = self.array(column)?;
        let values = array.downcast_ref::<T>().map(Array::as_slice);
        values.ok_or_else(|| other_type(column, T::TYPE, array.element_type()))
    }

    /// Borrows the values of a column for writing. Shared or immutable memory is copied first.
    ///
    /// # Errors
    /// Those of [`column_slice`](Self::column_slice); [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![1_u8, 2])])?;
    /// let before = table.clone();
    /// table.column_slice_mut::<u8>(0)?.fill(9);
    /// assert_eq!((table.column_slice::<u8>(0)?, before.column_slice::<u8>(0)?), (&[9, 9][..], &[1, 2][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn column_slice_mut<T: Element>(&mut self, column: usize) -> Result<&mut [T]> {
        self.array(column)?;
        let array = self.stored_mut(column)?;
        let found = array.element_type();
        let array = array.downcast_mut::<T>().ok_or_else(|| other_type(column, T::TYPE, found))?;
        array.need_mutable_data()
    }

    /// Returns the error for using the values of a column with missing values as if all were present.
    #[cold]
    fn has_gaps(&self, column: usize) -> Error {
        let row = self.gaps.of(column).and_then(|validity| validity.first_missing(0..self.row_count)).unwrap_or(0);
        Error::new(ErrorKind::MissingValue { row, column })
            .with_hint(Hint::new("nullable_column", "borrows the values with their bitmap"))
    }

    /// Returns the error for a new column whose length is not the number of rows.
    #[cold]
    fn unequal(&self, feature: &Feature, found: usize) -> Error {
        let (index, expected) = (self.columns.len(), self.row_count);
        let name = feature.name.as_deref().map(|name| excerpt(name.as_bytes()));
        Error::new(match index {
            0 => ErrorKind::LengthMismatch { expected, actual: found },
            _ => ErrorKind::UnequalLengths { what: "column", index, name, expected, actual: found },
        })
    }

    /// Like [`stored`](Self::stored), for writing.
    fn stored_mut(&mut self, column: usize) -> Result<&mut AnyArray> {
        self.check_column(column)?;
        self.columns[column].as_mut().ok_or_else(|| Error::new(ErrorKind::ColumnNotSet { column }))?.array_mut()
    }

    #[inline]
    fn check_column(&self, column: usize) -> Result<()> {
        let column_count = self.columns.len();
        if column < column_count {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count }))
        }
    }
}

impl Default for SoaNumericTable {
    fn default() -> Self {
        Self::new()
    }
}

/// Shares the arrays: O(columns). The first write to a column through either table copies it.
impl Clone for SoaNumericTable {
    fn clone(&self) -> Self {
        let columns = self.columns.iter().map(|column| column.as_ref().map(Memory::share)).collect();
        let gaps = self.gaps.clone();
        Self { gaps, ..Self::without_values(self.dictionary.clone(), self.row_count, columns, self.owner) }
    }
}

impl fmt::Debug for SoaNumericTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe("SoaNumericTable", self, f)
    }
}

/// Returns the error for borrowing a column's values in a type that is not its own.
#[cold]
fn other_type(column: usize, expected: ElementType, found: ElementType) -> Error {
    Error::new(ErrorKind::ElementTypeMismatch { expected, actual: found, column: Some(column) })
        .with_hint(Hint::new("column", "converts"))
}
