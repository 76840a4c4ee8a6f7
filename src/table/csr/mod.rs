//! Compressed sparse rows: only some cells are stored, row by row, and all others are zero.
//!
//! `check`: the requirements on the parts; `build`: other constructors; `index`: offsets and indices of four types;
//! `read`, `groups`, `write`: dense regions; `columns`: the positions of each column's values; `grow`: appending rows;
//! `block`, `block_mut`: sparse blocks; `cells`: the stored cells of rows; `transform`: tables made from another; `life`:
//! tables without memory.
//! Invariant: `shape` and the three arrays meet the requirements of `check`, and the dictionary describes the columns.
//! So the rows are ranges of `indices` and `values`, and the indices of a row ascend and are below the number of
//! columns.
//! Semantics: DAAL `CSRNumericTable`, oneDAL `csr_table`; offsets and indices are counted from zero.

pub(crate) mod block;
pub(crate) mod block_mut;
mod build;
pub(crate) mod cells;
mod check;
mod columns;
mod groups;
mod grow;
pub(crate) mod index;
mod life;
pub(crate) mod parts;
mod read;
mod stored;
mod transform;
mod write;

use std::fmt;
use std::ops::Range;

use super::numeric_table::describe;
use super::{MemoryStatus, NumericTable, Region, Rejected, Shape, TableId, TableKind, Target, Token};
use crate::array::{AnyArray, Array};
use crate::base::element::{Element, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::value::AnyValue;
use crate::convert::WriteRule;
use crate::dictionary::{DataDictionary, Feature};
use crate::window::AnySlice;
use cells::StoredCells;
use columns::ColumnIndex;
use index::Indices;
use parts::CsrParts;

/// A sparse table: only some cells are stored, row by row, and all others are zero. Suits one-hot columns, word counts
/// and files in svmlight format.
///
/// ```text
///   1.5   .    .   2.5      offsets  0       2    3       5      where each row begins, and the end
///    .   3.5   .    .       indices  0   3   1    0   2          the column of each value
///   4.5   .   5.5   .       values  1.5 2.5 3.5  4.5 5.5
/// ```
///
/// The values have any of the element types; the offsets and the indices are `i32`, `u32`, `i64` or `u64`, and keep the
/// type that the caller supplies: no array is copied. They are counted from zero. The indices of a row ascend, without
/// duplicates. The table checks this once, when it is created. A stored value may be zero.
///
/// Dense blocks of rows and columns are copies. They can be written back if every cell that is not stored stays zero.
/// So [`row_blocks_mut`](crate::BlockAccess::row_blocks_mut), which borrows disjoint blocks, fails with
/// [`ErrorKind::ReadOnlyTable`]; [`update_row_blocks`](crate::BlockUpdate::update_row_blocks) writes one block after
/// another. [`sparse_rows_mut`](Self::sparse_rows_mut) borrows the stored values, without a copy.
///
/// To read a column, the table searches each row for it. After about eight columns, the calling thread builds an index
/// of all columns, once: 8 bytes for each stored value and each column. Without that memory, the table keeps searching.
/// With it, a column costs as much as clearing the block and copying its values. The index is dropped when rows are
/// added or removed. Clones do not share it.
///
/// Source: DAAL `CSRNumericTable`, whose offsets and indices are `size_t` and counted from one; oneDAL `csr_table`.
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, prelude::*};
/// let shape = Shape { rows: 3, columns: 4 };
/// let (offsets, indices) = (vec![0, 2, 3, 5], vec![0, 3, 1, 0, 2]);
/// let table = CsrNumericTable::try_new(shape, offsets, indices, vec![1.5_f32, 2.5, 3.5, 4.5, 5.5])?;
/// assert_eq!(table.nnz(), 5);
/// assert_eq!((table.get(0, 3)?, table.get(1, 3)?), (Some(2.5_f32.into()), None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CsrNumericTable {
    id: TableId,
    shape: Shape,
    offsets: AnyArray,
    indices: AnyArray,
    values: AnyArray,
    dictionary: DataDictionary,
    /// The allocator of the values.
    owner: MemoryStatus,
    /// Invariant: if it has been made, it is that of `offsets` and `indices`.
    columns: ColumnIndex,
}

impl CsrNumericTable {
    /// Creates a table from row offsets, column indices and values, without a copy.
    ///
    /// Cost: O(rows + values) for the checks, in parallel for large tables.
    ///
    /// # Errors
    /// [`ErrorKind::SparseStructure`], together with the arrays: if offsets or indices are not `i32`, `u32`, `i64` or
    /// `u64`; if the number of offsets is not the number of rows plus one; if the first offset is not 0; if the offsets
    /// descend; if the last offset is not the number of indices and of values; if the indices of a row do not ascend,
    /// or are not below the number of columns.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*, table::Rejected};
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0_u64, 2, 3], vec![0_u32, 3, 1], vec![1_i8, 2, 3])?;
    /// assert_eq!(table.shape(), shape);
    ///
    /// let refused = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 4, 1], vec![1.5, 2.5, 3.5]);
    /// let Rejected { value, error } = refused.unwrap_err();
    /// assert_eq!(error.to_string(), "the column indices have 4 at position 1, in row 0: 0 to 3 are allowed");
    /// assert_eq!(value.values.len(), 3); // nothing is lost
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "a table is larger than what is given back")]
    pub fn try_new(
        shape: Shape,
        offsets: impl Into<AnyArray>,
        indices: impl Into<AnyArray>,
        values: impl Into<AnyArray>,
    ) -> Result<Self, Rejected<CsrParts>> {
        let parts = CsrParts { offsets: offsets.into(), indices: indices.into(), values: values.into() };
        match check::check(shape, &parts, 0) {
            Ok(()) => Ok(Self::from_checked(shape, parts, MemoryStatus::UserAllocated)),
            Err(error) => Err(Rejected::new(parts, error)),
        }
    }

    /// Creates a table from parts that have been checked, or that the library has made.
    fn from_checked(shape: Shape, parts: CsrParts, owner: MemoryStatus) -> Self {
        let CsrParts { offsets, indices, values } = parts;
        let dictionary = DataDictionary::uniform(Feature::new(values.element_type()), shape.columns);
        Self { id: TableId::new(), shape, offsets, indices, values, dictionary, owner, columns: ColumnIndex::default() }
    }

    /// Returns the number of stored values, called `nnz` in other libraries. Some of them may be zero.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 1, columns: 1 << 40 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![7_u64, 1 << 39], vec![1.5, 0.0])?;
    /// assert_eq!(table.nnz(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// Borrows the row offsets: the position of each row's first value, then the number of values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 3, 1], vec![1.5, 2.5, 3.5])?;
    /// assert_eq!(table.offsets().iter().collect::<Vec<_>>(), [0, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn offsets(&self) -> Indices<'_> {
        Indices::new(self.offsets.as_slice(), 0)
    }

    /// Borrows the column indices of all values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0_i32, 3, 1], vec![1.5, 2.5, 3.5])?;
    /// assert_eq!(table.indices().downcast::<i32>(), Some(&[0, 3, 1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn indices(&self) -> Indices<'_> {
        Indices::new(self.indices.as_slice(), 0)
    }

    /// Borrows the arrays of the row offsets and the column indices.
    #[doc(hidden)] // for the crates of this workspace, as the module `internal`
    pub fn index_arrays(&self) -> (&AnyArray, &AnyArray) {
        (&self.offsets, &self.indices)
    }

    /// Borrows the array of the values. Cloning it shares the memory.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let values = Array::from(vec![1.5_f32, 2.5]);
    /// let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1, 3], values.clone())?;
    /// assert!(table.values().downcast_ref::<f32>().unwrap().shares_memory_with(&values));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values(&self) -> &AnyArray {
        &self.values
    }

    /// Borrows the values.
    ///
    /// # Errors
    /// [`ErrorKind::ElementTypeMismatch`] if they have another type.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1, 3], vec![1.5_f32, 2.5])?;
    /// assert_eq!(table.values_slice::<f32>()?, [1.5, 2.5]);
    /// assert!(table.values_slice::<f64>().is_err()); // `sparse_rows` converts
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values_slice<T: Element>(&self) -> Result<&[T]> {
        let values = self.values.downcast_ref::<T>().map(Array::as_slice);
        values.ok_or_else(|| Error::element_type_mismatch(T::TYPE, self.values.element_type()))
    }

    /// Borrows the values for writing. Shared or immutable memory is copied first. The set of stored cells does not
    /// change.
    ///
    /// # Errors
    /// Those of [`values_slice`](Self::values_slice); [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 1, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1, 3], vec![1.5_f32, 2.5])?;
    /// let before = table.clone();
    /// table.values_slice_mut::<f32>()?.iter_mut().for_each(|value| *value *= 2.0);
    /// assert_eq!((table.values_slice::<f32>()?, before.values_slice::<f32>()?), (&[3.0, 5.0][..], &[1.5, 2.5][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values_slice_mut<T: Element>(&mut self) -> Result<&mut [T]> {
        let found = self.values.element_type();
        let array = self.values.downcast_mut::<T>().ok_or_else(|| Error::element_type_mismatch(T::TYPE, found))?;
        if array.is_empty() { Ok(&mut []) } else { array.need_mutable_data() }
    }

    /// Returns the three arrays, without a copy.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*, table::CsrParts};
    /// let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1, 3], vec![1.5_f32, 2.5])?;
    /// let CsrParts { values, .. } = table.into_parts();
    /// assert_eq!(values.downcast::<f32>().unwrap().try_into_vec().unwrap(), [1.5, 2.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_parts(self) -> CsrParts {
        let Self { offsets, indices, values, .. } = self;
        CsrParts { offsets, indices, values }
    }

    /// Returns the stored value of a cell, or `None` if it is not stored and therefore zero. O(log values of the row).
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyValue, CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 1, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2], vec![1, 3], vec![1.5_f32, 0.0])?;
    /// assert_eq!(table.get(0, 1)?, Some(AnyValue::F32(1.5)));
    /// assert_eq!(table.get(0, 3)?, Some(AnyValue::F32(0.0)));
    /// assert_eq!(table.get(0, 2)?, None);
    /// assert!(table.get(0, 4).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get(&self, row: usize, column: usize) -> Result<Option<AnyValue>> {
        Region::of_cell(self.shape, row, column)?;
        Ok(self.position(row, column).map(|position| {
            match_element!(self.values.element_type(), T => {
                AnyValue::from(self.values.as_slice().as_slice::<T>()[position])
            })
        }))
    }

    /// Returns the position of a cell among the values, if it is stored.
    fn position(&self, row: usize, column: usize) -> Option<usize> {
        let (start, end) = (self.offsets().get(row)?, self.offsets().get(row + 1)?);
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low.midpoint(high);
            if self.indices().at(middle) < column { low = middle + 1 } else { high = middle }
        }
        (low < end && self.indices().at(low) == column).then_some(low)
    }
}

/// Shares the arrays: O(1). The first write to either table copies the values.
impl Clone for CsrNumericTable {
    fn clone(&self) -> Self {
        Self {
            id: TableId::new(),
            shape: self.shape,
            offsets: self.offsets.clone(),
            indices: self.indices.clone(),
            values: self.values.clone(),
            dictionary: self.dictionary.clone(),
            owner: self.owner,
            columns: ColumnIndex::default(),
        }
    }
}

impl fmt::Debug for CsrNumericTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe("CsrNumericTable", self, f)
    }
}

impl NumericTable for CsrNumericTable {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn kind(&self) -> TableKind {
        TableKind::CSR
    }

    fn data_memory_status(&self) -> MemoryStatus {
        self.owner
    }

    fn own_dictionary(&mut self, _: Token) -> Option<&mut DataDictionary> {
        Some(&mut self.dictionary)
    }

    fn resize(&mut self, rows: usize) -> Result<()> {
        self.set_rows(rows)
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        self.read(region, target)
    }

    /// Writes the cells that are stored. Any other cell must remain zero: otherwise [`ErrorKind::NotStored`], and
    /// nothing is written.
    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        self.write(region, values, rule)
    }

    fn check_region_writable(&mut self, _: &Region, _: Token) -> Result<()> {
        Ok(())
    }

    fn stored_cells(&self, rows: &Range<usize>, _: Token) -> Option<StoredCells<'_>> {
        self.cells_of(rows)
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn as_any_mut(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}
