//! Sparse blocks for writing: the stored values change, the set of stored cells does not.
//!
//! Invariant: a converted block is written back all or nothing, and values that the caller did not change keep their
//! bits.
//! Semantics: DAAL `releaseSparseBlock`.

use std::fmt;
use std::ops::{Range, RangeBounds};

use super::CsrNumericTable;
use super::block::{Place, convert, sparse_facts};
use super::index::Indices;
use super::read::{HERE, Pattern, column};
use crate::array::{AnyArray, UniqueArray};
use crate::base::element::Element;
#[expect(unused_imports, reason = "only the pages name it")]
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::convert::kernel;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::table::record_written_back;
use crate::window::{AnySlice, AnyWindowMut};

/// Consecutive rows of a sparse table, for reading and writing their stored values as `T`. The set of stored cells
/// cannot be changed.
///
/// Returned by [`CsrNumericTable::sparse_rows_mut`]. If the values are the table's own memory
/// ([`is_zero_copy`](Self::is_zero_copy)), writing them writes the table. Otherwise [`release`](Self::release) converts
/// changed values back, all or nothing; unchanged values keep their full precision in the table. Dropping a converted
/// block writes it back if all of its values fit, and otherwise leaves the table unchanged **and ignores the error**.
/// A drop during a panic writes nothing. [`CsrNumericTable::update_sparse_rows`] reports every error, and undoes the
/// changes of a closure that fails.
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, prelude::*};
/// let shape = Shape { rows: 2, columns: 4 };
/// let mut table = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 3, 1], vec![10_u8, 20, 30])?;
/// let mut block = table.sparse_rows_mut::<f64>(..)?;
/// block.values_mut().iter_mut().for_each(|value| *value *= 1.5);
/// block.release()?;
/// assert_eq!(table.values_slice::<u8>()?, [15, 30, 45]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a converted block that is dropped hides the error of writing back: `release` it"]
pub struct SparseBlockMut<'t, T: Element> {
    place: Place<'t>,
    values: ValuesMut<'t, T>,
    policy: ConversionPolicy,
}

enum ValuesMut<'t, T: Element> {
    Borrowed(&'t mut [T]),
    Converted { copy: UniqueArray<T>, stored: &'t mut AnyArray, is_pending: bool },
}

impl<'t, T: Element> SparseBlockMut<'t, T> {
    sparse_facts!();

    /// Borrows the stored values of all rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1_u8, 2])?;
    /// assert_eq!(table.sparse_rows_mut::<u8>(1..)?.values(), [2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values(&self) -> &[T] {
        match &self.values {
            ValuesMut::Borrowed(values) => values,
            ValuesMut::Converted { copy, .. } => copy,
        }
    }

    /// Borrows the stored values of all rows for writing.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1_u8, 2])?;
    /// table.sparse_rows_mut::<u8>(1..)?.values_mut().fill(9);
    /// assert_eq!(table.values_slice::<u8>()?, [1, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values_mut(&mut self) -> &mut [T] {
        match &mut self.values {
            ValuesMut::Borrowed(values) => values,
            ValuesMut::Converted { copy, .. } => copy,
        }
    }

    /// Borrows the column indices of a row, and its values for writing. Rows are counted from the block's first one.
    ///
    /// # Panics
    /// If the row is out of range, as indexing a slice does.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 1, 3], vec![3, 0, 1], vec![1.5, 2.5, 3.5])?;
    /// let mut block = table.sparse_rows_mut::<f64>(..)?;
    /// let (columns, values) = block.row_mut(1);
    /// columns.iter().zip(values).filter(|(column, _)| *column == 1).for_each(|(_, value)| *value = 9.0);
    /// block.release()?;
    /// assert_eq!(table.values_slice::<f64>()?, [1.5, 2.5, 9.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn row_mut(&mut self, row: usize) -> (Indices<'t>, &mut [T]) {
        let range = self.place.row(row);
        (self.indices().range(range.clone()), &mut self.values_mut()[range])
    }

    /// Returns whether the values are the table's memory.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1_u8, 2])?;
    /// assert!(table.sparse_rows_mut::<u8>(..)?.is_zero_copy());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_zero_copy(&self) -> bool {
        matches!(self.values, ValuesMut::Borrowed(_))
    }

    /// Sets the policy for converting changed values back. The default is [`ConversionPolicy::Checked`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1_u8, 2])?;
    /// let mut block = table.sparse_rows_mut::<i32>(..)?.with_policy(ConversionPolicy::Saturate);
    /// block.values_mut()[0] = 1000;
    /// block.release()?;
    /// assert_eq!(table.values_slice::<u8>()?, [255, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_policy(mut self, policy: ConversionPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Ends the block, and converts changed values back, all or nothing.
    ///
    /// # Errors
    /// [`ErrorKind::ValueNotRepresentable`] with the row and the column in the table; [`ErrorKind::OutOfMemory`] if
    /// memory that the table shares cannot be copied. The table is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1_u8, 2])?;
    /// let mut block = table.sparse_rows_mut::<i32>(..)?;
    /// block.values_mut().copy_from_slice(&[7, 256]);
    /// let error = block.release().unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. }));
    /// assert_eq!(table.values_slice::<u8>()?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn release(mut self) -> Result<()> {
        let result = self.write_back();
        self.discard();
        result
    }

    /// Ends the block without writing a converted copy back. Values written to the table's own memory remain.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{CsrNumericTable, prelude::*};
    /// # let shape = Shape { rows: 2, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 1, 2], vec![3, 1], vec![1_u8, 2])?;
    /// let mut block = table.sparse_rows_mut::<i32>(..)?;
    /// block.values_mut().fill(7);
    /// block.discard();
    /// assert_eq!(table.values_slice::<u8>()?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn discard(mut self) {
        if let ValuesMut::Converted { is_pending, .. } = &mut self.values {
            *is_pending = false;
        }
    }

    /// Creates a block of copied values. If it `is_pending`, dropping it writes it back.
    fn converted(place: Place<'t>, stored: &'t mut AnyArray, is_pending: bool) -> Result<Self> {
        let copy = UniqueArray::from_array(convert(stored.as_slice(), &place, ConversionPolicy::Saturate)?)?;
        let values = ValuesMut::Converted { copy, stored, is_pending };
        Ok(Self { place, values, policy: ConversionPolicy::Checked })
    }

    fn write_back(&mut self) -> Result<()> {
        let ValuesMut::Converted { copy, stored, .. } = &mut self.values else { return Ok(()) };
        let Place { pattern, positions, .. } = &self.place;
        let (new, rule) = (column(AnySlice::new(copy)), WriteRule { policy: self.policy, keep_unchanged: true });
        let old = column(stored.as_slice().range(positions.clone()));
        kernel::check_write(old, new, rule, HERE).map_err(|error| pattern.placed(error, positions.start))?;
        if positions.is_empty() {
            return Ok(());
        }
        let values = stored.need_mutable_data()?.range(positions.clone());
        kernel::write_checked(AnyWindowMut::of_rows(values, positions.len(), 1), new, rule);
        record_written_back(positions.len(), T::TYPE);
        Ok(())
    }
}

impl<T: Element> fmt::Debug for SparseBlockMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.describe("SparseBlockMut", self.values(), f)
    }
}

/// Writes a converted block back, and ignores errors. `release` reports them.
impl<T: Element> Drop for SparseBlockMut<'_, T> {
    fn drop(&mut self) {
        let is_pending = matches!(self.values, ValuesMut::Converted { is_pending: true, .. });
        if is_pending && !std::thread::panicking() {
            let _ = self.write_back();
        }
    }
}

impl CsrNumericTable {
    /// Borrows the stored values of consecutive rows as `T`, for reading and writing. If `T` is the stored type, they
    /// are the table's memory; shared or immutable memory is copied first.
    ///
    /// # Errors
    /// Those of [`sparse_rows`](Self::sparse_rows).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 3, 1], vec![1.5_f32, 2.5, 3.5])?;
    /// let mut block = table.sparse_rows_mut::<f32>(1..)?;
    /// block.values_mut()[0] = 35.0;
    /// block.release()?;
    /// assert_eq!(table.values_slice::<f32>()?, [1.5, 2.5, 35.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sparse_rows_mut<T: Element>(&mut self, rows: impl RangeBounds<usize>) -> Result<SparseBlockMut<'_, T>> {
        let (place, array) = self.place_mut(rows)?;
        if array.element_type() != T::TYPE {
            return SparseBlockMut::converted(place, array, true);
        }
        let values = array.need_mutable_data()?.range(place.positions.clone());
        let values = ValuesMut::Borrowed(values.downcast::<T>().unwrap_or_default());
        Ok(SparseBlockMut { place, values, policy: ConversionPolicy::Checked })
    }

    /// Edits the stored values of consecutive rows as `T`, all or nothing: if the closure returns an error or panics,
    /// or a value does not fit, the table is unchanged.
    ///
    /// The closure always edits a copy, like that of [`update_rows`](crate::BlockUpdate::update_rows). Returns the
    /// closure's result.
    ///
    /// Cost: memory for the values of the rows, one pass to read them, two to write them back.
    ///
    /// # Errors
    /// Before the closure is called, those of [`sparse_rows`](Self::sparse_rows). Then the closure's error. After it,
    /// those of [`SparseBlockMut::release`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 3, 1], vec![10_u8, 20, 30])?;
    /// let sum = table.update_sparse_rows::<f64, _>(.., |block| {
    ///     block.values_mut().iter_mut().for_each(|value| *value *= 1.5);
    ///     Ok(block.values().iter().sum::<f64>())
    /// })?;
    /// assert_eq!((sum, table.values_slice::<u8>()?), (90.0, &[15, 30, 45][..]));
    ///
    /// let result = table.update_sparse_rows::<f64, _>(1.., |block| {
    ///     block.values_mut().fill(300.0);
    ///     Ok(())
    /// });
    /// assert_eq!(
    ///     result.unwrap_err().to_string(),
    ///     "the value 300 at row 1, column 1 is not representable as u8: `ConversionPolicy::Saturate` accepts it \
    ///      in calls that take a policy"
    /// );
    /// assert_eq!(table.values_slice::<u8>()?, [15, 30, 45]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update_sparse_rows<T: Element, R>(
        &mut self,
        rows: impl RangeBounds<usize>,
        edit: impl FnOnce(&mut SparseBlockMut<'_, T>) -> Result<R>,
    ) -> Result<R> {
        let (place, array) = self.place_mut(rows)?;
        let mut block = SparseBlockMut::converted(place, array, false)?;
        let result = edit(&mut block)?;
        block.write_back()?;
        Ok(result)
    }

    /// Finds consecutive rows, and borrows the array of all values besides.
    fn place_mut(&mut self, rows: impl RangeBounds<usize>) -> Result<(Place<'_>, &mut AnyArray)> {
        let rows = self.rows_in(rows)?;
        let (offsets, indices) = (Indices::new(self.offsets.as_slice(), 0), self.indices.as_slice());
        let pattern = Pattern { offsets, indices, columns: self.shape.columns };
        Ok((Place::new(pattern, rows), &mut self.values))
    }
}
