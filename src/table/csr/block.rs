//! Sparse blocks: the stored values of consecutive rows of a sparse table.
//!
//! `block_mut` writes them.
//! Offsets and indices are those of the table; reading an offset subtracts the position of the block's first value.
//! Semantics: DAAL `getSparseBlock`, oneDAL `csr_accessor::pull`.

use std::fmt;
use std::ops::{Range, RangeBounds};

use super::CsrNumericTable;
use super::index::Indices;
use super::read::{HERE, Pattern};
use crate::array::{AnyArray, Array};
use crate::base::cache::FIRST_LEVEL;
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::trace::{self, CopyKind};
use crate::convert::ConversionPolicy;
use crate::convert::kernel;
use crate::window::AnySlice;

/// Consecutive rows of a sparse table, for reading: offsets, column indices, and the stored values, converted to `T` if
/// the table stores another type.
///
/// Returned by [`CsrNumericTable::sparse_rows`].
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, prelude::*};
/// let shape = Shape { rows: 3, columns: 4 };
/// let table = CsrNumericTable::try_new(shape, vec![0, 2, 3, 4], vec![0, 3, 1, 2], vec![1_i8, 2, 3, 4])?;
/// let block = table.sparse_rows::<f64>(1..)?;
/// assert_eq!(block.values(), [3.0, 4.0]);
/// let mut sums = [0.0; 4];
/// for (columns, values) in block.iter_rows() {
///     columns.iter().zip(values).for_each(|(column, value)| sums[column] += value);
/// }
/// assert_eq!(sums, [0.0, 3.0, 4.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SparseBlock<'t, T: Element> {
    place: Place<'t>,
    values: Values<'t, T>,
}

/// The rows of a block, and the positions of its values.
pub(super) struct Place<'t> {
    pub(super) pattern: Pattern<'t>,
    pub(super) rows: Range<usize>,
    /// The positions of the values in the table.
    pub(super) positions: Range<usize>,
}

impl<'t> Place<'t> {
    #[inline]
    pub(super) fn new(pattern: Pattern<'t>, rows: Range<usize>) -> Self {
        let positions = pattern.positions(&rows);
        Self { pattern, rows, positions }
    }

    /// Asks the processor for the offset where the next block of as many rows ends.
    #[inline]
    fn fetch_next(&self) {
        let end = self.rows.end.saturating_add(self.rows.len());
        self.pattern.offsets.as_slice().fetch::<FIRST_LEVEL>(end..end.saturating_add(1));
    }

    /// Prints a block with these values.
    pub(super) fn describe<T: Element>(&self, name: &str, values: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut block = f.debug_struct(name);
        block.field("rows", &self.rows).field("columns", &self.pattern.columns).field("offsets", &self.offsets());
        block.field("indices", &self.indices()).field("values", &values).finish()
    }

    #[inline]
    pub(super) fn offsets(&self) -> Indices<'t> {
        let offsets = self.pattern.offsets.range(self.rows.start..self.rows.end + 1);
        Indices::new(offsets.as_slice(), self.positions.start)
    }

    #[inline]
    pub(super) fn indices(&self) -> Indices<'t> {
        Indices::new(self.pattern.indices, 0).range(self.positions.clone())
    }

    /// Returns the range of a row's values among those of the block.
    pub(super) fn row(&self, row: usize) -> Range<usize> {
        let count = self.rows.len();
        assert!(row < count, "row {row} is out of range: the block has {count} rows");
        let offsets = self.offsets();
        offsets.at(row)..offsets.at(row + 1)
    }
}

enum Values<'t, T> {
    Borrowed(&'t [T]),
    Converted(Array<T>),
}

/// The methods that both kinds of block have.
macro_rules! sparse_facts {
    () => {
        /// Returns the number of rows.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 1, 1, 2], vec![3, 1], vec![1.5, 2.5])?;
        /// assert_eq!(table.sparse_rows::<f64>(1..)?.row_count(), 2);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn row_count(&self) -> usize {
            self.place.rows.len()
        }

        /// Returns the number of columns, equal to that of the table.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 1, 1, 2], vec![3, 1], vec![1.5, 2.5])?;
        /// assert_eq!(table.sparse_rows::<f64>(1..)?.column_count(), 4);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn column_count(&self) -> usize {
            self.place.pattern.columns
        }

        /// Returns the block's rows as a range of the table's rows.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 1, 1, 2], vec![3, 1], vec![1.5, 2.5])?;
        /// assert_eq!(table.sparse_rows::<f64>(1..)?.row_range(), 1..3);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn row_range(&self) -> Range<usize> {
            self.place.rows.clone()
        }

        /// Returns the number of stored values in these rows.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 1, 1, 2], vec![3, 1], vec![1.5, 2.5])?;
        /// assert_eq!(table.sparse_rows::<f64>(1..)?.nnz(), 1);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn nnz(&self) -> usize {
            self.place.positions.len()
        }

        /// Returns the row offsets, counted from 0: the position of each row's first value in the block, then the
        /// number of values. Copies nothing. If the block begins at the table's first row, they are the table's memory
        /// ([`Indices::downcast`]).
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 2, 3], vec![0, 3, 1], vec![1.5, 2.5, 3.5])?;
        /// assert_eq!(table.sparse_rows::<f64>(1..)?.offsets().iter().collect::<Vec<_>>(), [0, 0, 1]);
        /// assert_eq!(table.sparse_rows::<f64>(..2)?.offsets().downcast::<i32>(), Some(&[0, 2, 2][..]));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn offsets(&self) -> Indices<'t> {
            self.place.offsets()
        }

        /// Returns the column index of each value, in the table's memory.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 2, 3], vec![0, 3, 1], vec![1.5, 2.5, 3.5])?;
        /// assert_eq!(table.sparse_rows::<f64>(1..)?.indices().downcast::<i32>(), Some(&[1][..]));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn indices(&self) -> Indices<'t> {
            self.place.indices()
        }

        /// Copies the offsets, counted from `first`, and keeps the table's type for them; see also
        /// [`Indices::to_array`].
        ///
        /// # Errors
        /// [`ErrorKind::OutOfMemory`]; [`ErrorKind::ValueNotRepresentable`] if the type cannot hold an offset.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 2, 3], vec![0, 3, 1], vec![1.5, 2.5, 3.5])?;
        /// let block = table.sparse_rows::<f64>(1..)?;
        /// // For code that counts from one.
        /// assert_eq!(block.offsets_from(1)?.downcast::<i32>().unwrap()[..], [1, 1, 2]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn offsets_from(&self, first: usize) -> Result<AnyArray> {
            self.offsets().to_any(self.offsets().element_type(), first)
        }

        /// Copies the column indices, counted from `first`, and keeps the table's type for them.
        ///
        /// # Errors
        /// Those of [`offsets_from`](Self::offsets_from).
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 2, 3], vec![0, 3, 1], vec![1.5, 2.5, 3.5])?;
        /// let block = table.sparse_rows::<f64>(..)?;
        /// assert_eq!(block.indices_from(1)?.downcast::<i32>().unwrap()[..], [1, 4, 2]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn indices_from(&self, first: usize) -> Result<AnyArray> {
            self.indices().to_any(self.indices().element_type(), first)
        }

        /// Borrows the column indices and the values of a row, counted from the block's first row.
        ///
        /// # Panics
        /// If the row is out of range, as indexing a slice does.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 0, 0, 2], vec![1, 3], vec![1.5, 2.5])?;
        /// let block = table.sparse_rows::<f64>(1..)?;
        /// let (columns, values) = block.row(1);
        /// assert_eq!((columns.downcast::<i32>(), values), (Some(&[1, 3][..]), &[1.5, 2.5][..]));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn row(&self, row: usize) -> (Indices<'t>, &[T]) {
            let range = self.place.row(row);
            (self.indices().range(range.clone()), &self.values()[range])
        }

        /// Returns an iterator over the rows: the column indices and the values of each.
        ///
        /// # Examples
        /// ```
        /// # use numeric_table::{CsrNumericTable, prelude::*};
        /// # let shape = Shape { rows: 3, columns: 4 };
        /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 2, 3], vec![0, 3, 1], vec![1.5, 2.5, 3.5])?;
        /// let block = table.sparse_rows::<f64>(..)?;
        /// let sums: Vec<f64> = block.iter_rows().map(|(_, values)| values.iter().sum()).collect();
        /// assert_eq!(sums, [4.0, 0.0, 3.5]);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = (Indices<'t>, &[T])> + DoubleEndedIterator {
            (0..self.row_count()).map(|row| self.row(row))
        }
    };
}

pub(super) use sparse_facts;

impl<'t, T: Element> SparseBlock<'t, T> {
    sparse_facts!();

    /// Borrows the stored values of all rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1_u8, 2])?;
    /// assert_eq!(table.sparse_rows::<f32>(..)?.values(), [1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values(&self) -> &[T] {
        match &self.values {
            Values::Borrowed(values) => values,
            Values::Converted(values) => values,
        }
    }

    /// Returns whether the values are the table's memory.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1_u8, 2])?;
    /// assert!(table.sparse_rows::<u8>(..)?.is_zero_copy() && !table.sparse_rows::<f32>(..)?.is_zero_copy());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_zero_copy(&self) -> bool {
        matches!(self.values, Values::Borrowed(_))
    }
}

impl<T: Element> fmt::Debug for SparseBlock<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.describe("SparseBlock", self.values(), f)
    }
}

impl CsrNumericTable {
    /// Borrows the stored values of consecutive rows as `T`, with their column indices and the row offsets.
    ///
    /// O(1) if `T` is the stored type, else one pass over the values of the rows.
    /// Source: DAAL `getSparseBlock`, for which a start past the end is a success.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 3, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 3, 4], vec![0, 3, 1, 2], vec![1_i8, 2, 3, 4])?;
    /// let block = table.sparse_rows::<f64>(1..3)?;
    /// assert_eq!((block.nnz(), block.values()), (2, &[3.0, 4.0][..]));
    /// assert!(table.sparse_rows::<f64>(1..4).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn sparse_rows<T: Element>(&self, rows: impl RangeBounds<usize>) -> Result<SparseBlock<'_, T>> {
        self.sparse_rows_with(rows, ConversionPolicy::Saturate)
    }

    /// Like [`sparse_rows`](Self::sparse_rows), with the given conversion policy.
    ///
    /// # Errors
    /// Those of [`sparse_rows`](Self::sparse_rows); [`ErrorKind::ValueNotRepresentable`] with the row and the column in
    /// the table.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1_i16, 300])?;
    /// assert!(table.sparse_rows_with::<u8>(..1, ConversionPolicy::Checked).is_ok());
    /// let refused = table.sparse_rows_with::<u8>(.., ConversionPolicy::Checked).map(drop);
    /// assert!(matches!(refused.unwrap_err().kind(), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn sparse_rows_with<T: Element>(
        &self,
        rows: impl RangeBounds<usize>,
        policy: ConversionPolicy,
    ) -> Result<SparseBlock<'_, T>> {
        let place = Place::new(self.pattern(), self.rows_in(rows)?);
        place.fetch_next();
        let values = match self.values.as_slice().range(place.positions.clone()).downcast::<T>() {
            Some(values) => Values::Borrowed(values),
            None => Values::Converted(self.converted_values(place.rows.clone(), policy)?),
        };
        Ok(SparseBlock { place, values })
    }

    /// Converts the values of some rows into new memory.
    #[inline(never)]
    fn converted_values<T: Element>(&self, rows: Range<usize>, policy: ConversionPolicy) -> Result<Array<T>> {
        let place = Place::new(self.pattern(), rows);
        convert(self.values.as_slice(), &place, policy)
    }
}

/// Converts the values of a block, which are among those of the table, into new memory.
pub(super) fn convert<T: Element>(
    stored: AnySlice<'_>,
    place: &Place<'_>,
    policy: ConversionPolicy,
) -> Result<Array<T>> {
    let array = kernel::part_to_array(stored, place.positions.clone(), T::TYPE, policy, HERE);
    let array = array.map_err(|error| place.pattern.placed(error, place.positions.start))?;
    let kind = if stored.element_type() == T::TYPE { CopyKind::Staged } else { CopyKind::Converted };
    trace::record(kind, size_of::<T>() * array.len());
    array.downcast().map_err(|other| Error::element_type_mismatch(T::TYPE, other.element_type()))
}
