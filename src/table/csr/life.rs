//! The life cycle of a sparse table: without memory, with the user's arrays, without memory again.

use super::CsrNumericTable;
use super::check;
use super::columns::ColumnIndex;
use super::parts::CsrParts;
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, Result};
use crate::base::shape::Shape;
use crate::dictionary::DataDictionary;
use crate::table::{MemoryStatus, Rejected};

impl CsrNumericTable {
    /// Creates a table without rows and without memory, with the columns that a dictionary describes and values of `T`.
    ///
    /// A sparse table that is not allocated has zero rows, so it has no values that could not be read.
    /// [`set_arrays`](Self::set_arrays) supplies rows; [`resize`](crate::NumericTable::resize),
    /// [`push_row`](Self::push_row) and [`append_table`](Self::append_table) allocate memory.
    ///
    /// Source: DAAL `CSRNumericTable::create(dictionary)`.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`](crate::ErrorKind::DictionaryMismatch) if a feature's type is not `T`;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 4);
    /// let mut table = CsrNumericTable::from_dictionary::<f32>(dictionary)?;
    /// assert_eq!((table.row_count(), table.data_memory_status()), (0, MemoryStatus::NotAllocated));
    /// table.set_arrays(2, vec![0, 1, 2], vec![3, 0], vec![1.5_f32, 2.5])?;
    /// assert_eq!((table.row_count(), table.data_memory_status()), (2, MemoryStatus::UserAllocated));
    /// table.free_data_memory()?;
    /// assert_eq!((table.row_count(), table.column_count()), (0, 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_dictionary<T: Element>(dictionary: DataDictionary) -> Result<Self> {
        dictionary.check(dictionary.len(), T::TYPE)?;
        let parts = CsrParts {
            offsets: AnyArray::zeros(ElementType::U64, 1)?,
            indices: AnyArray::zeros(ElementType::U64, 0)?,
            values: AnyArray::zeros(T::TYPE, 0)?,
        };
        let shape = Shape { rows: 0, columns: dictionary.len() };
        Ok(Self { dictionary, ..Self::from_checked(shape, parts, MemoryStatus::NotAllocated) })
    }

    /// Replaces all rows with those of the user's arrays, without a copy. The dictionary and the type of the values
    /// remain; the types of the offsets and of the indices are those of the arrays.
    ///
    /// Source: DAAL `CSRNumericTable::setArrays`.
    ///
    /// # Errors
    /// Each error returns the arrays, and the table is unchanged: the errors of [`try_new`](Self::try_new);
    /// [`ErrorKind::ElementTypeMismatch`](crate::ErrorKind::ElementTypeMismatch) for values of another type.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*, table::Rejected};
    /// let shape = Shape { rows: 1, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 2], vec![0, 3], vec![1.5_f32, 2.5])?;
    /// table.set_arrays(2, vec![0, 0, 1], vec![2], vec![7.5_f32])?;
    /// assert_eq!(table.rows::<f32>(..)?[..], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.5, 0.0]);
    /// let refused = table.set_arrays(2, vec![0, 0, 1], vec![4], vec![7.5_f32]).map_err(Rejected::into_error);
    /// assert_eq!(refused.unwrap_err().to_string(), "the column indices have 4 at position 0, in row 1: 0 to 3 are allowed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "what is given back is as large as the arrays")]
    pub fn set_arrays(
        &mut self,
        rows: usize,
        offsets: impl Into<AnyArray>,
        indices: impl Into<AnyArray>,
        values: impl Into<AnyArray>,
    ) -> std::result::Result<(), Rejected<CsrParts>> {
        let parts = CsrParts { offsets: offsets.into(), indices: indices.into(), values: values.into() };
        let (expected, found) = (self.values.element_type(), parts.values.element_type());
        if expected != found {
            return Err(Rejected::new(parts, Error::element_type_mismatch(expected, found)));
        }
        let shape = Shape { rows, ..self.shape };
        match check::check(shape, &parts, 0) {
            Ok(()) => self.replace(shape, parts, MemoryStatus::UserAllocated),
            Err(error) => return Err(Rejected::new(parts, error)),
        }
        Ok(())
    }

    /// Removes all rows, and releases the memory. The dictionary and the type of the values remain.
    ///
    /// Source: DAAL `freeDataMemory`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) for the offset of a table without rows. The table is
    /// unchanged.
    ///
    /// # Examples
    /// See [`from_dictionary`](Self::from_dictionary).
    pub fn free_data_memory(&mut self) -> Result<()> {
        let parts = CsrParts {
            offsets: AnyArray::zeros(self.offsets.element_type(), 1)?,
            indices: AnyArray::zeros(self.indices.element_type(), 0)?,
            values: AnyArray::zeros(self.values.element_type(), 0)?,
        };
        self.replace(Shape { rows: 0, ..self.shape }, parts, MemoryStatus::NotAllocated);
        Ok(())
    }

    fn replace(&mut self, shape: Shape, parts: CsrParts, owner: MemoryStatus) {
        let CsrParts { offsets, indices, values } = parts;
        (self.offsets, self.indices, self.values) = (offsets, indices, values);
        (self.shape, self.owner, self.columns) = (shape, owner, ColumnIndex::default());
    }
}
