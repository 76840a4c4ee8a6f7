//! Appending sparse rows: amortized O(1) per stored value.
//!
//! Before any of the three arrays changes, all indices and values are checked, and all arrays have room.

use super::CsrNumericTable;
use super::check::{INDICES, not_ascending, out_of_range};
use super::columns::ColumnIndex;
use super::index::{Index, match_index};
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::shape::Shape;
use crate::base::value::AnyValue;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::table::MemoryStatus;
use crate::window::{AnySlice, AnyWindow};

impl CsrNumericTable {
    /// Appends one row: the columns of its stored values, in ascending order, and the values, converted if they are of
    /// another type. Amortized O(values of the row).
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if there is not one value for each column index; [`ErrorKind::SparseStructure`],
    /// with the position in the row; [`ErrorKind::ValueNotRepresentable`] under [`ConversionPolicy::Checked`], also if
    /// the type of the offsets or of the indices cannot hold one; [`ErrorKind::SizeOverflow`],
    /// [`ErrorKind::OutOfMemory`]. The table is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 1, columns: 4 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 2], vec![0, 3], vec![1.5_f32, 2.5])?;
    /// table.push_row(&[1, 2], &[7_u8, 8])?;
    /// assert_eq!(table.rows::<f64>(..)?[..], [1.5, 0.0, 0.0, 2.5, 0.0, 7.0, 8.0, 0.0]);
    /// assert!(table.push_row(&[2, 1], &[7, 8]).is_err() && table.push_row(&[4], &[7]).is_err());
    /// assert_eq!((table.row_count(), table.nnz()), (2, 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn push_row<U: Element>(&mut self, columns: &[usize], values: &[U]) -> Result<()> {
        let (row, expected, found) = (self.shape.rows, columns.len(), values.len());
        if expected != found {
            return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
        }
        let mut before = None;
        for (position, &column) in columns.iter().enumerate() {
            let index = AnyValue::from(column as u64);
            if column >= self.shape.columns {
                return Err(out_of_range(INDICES, Some(row), position, index, &(0..self.shape.columns)));
            }
            if let Some(before) = before.replace(column).filter(|&before| before >= column) {
                return Err(not_ascending(row, position, (before as u64).into(), index));
            }
        }
        let place = |index: usize| (row, columns.get(index).copied().unwrap_or_default());
        self.add(&[found], columns.iter().copied(), AnySlice::new(values), place)
    }

    /// Appends the rows of another sparse table. Its offsets, indices and values are converted to the types of this
    /// table. Amortized O(rows + stored values).
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`] if category labels or units of time differ; [`ErrorKind::ValueNotRepresentable`]
    /// under [`ConversionPolicy::Checked`], with the row that the value would have had, also if the type of the offsets
    /// or of the indices cannot hold one; [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`]. The table is
    /// unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 2, columns: 3 };
    /// let mut table = CsrNumericTable::try_new(shape, vec![0, 1, 1], vec![2], vec![1.5])?;
    /// table.append_table(&table.clone())?;
    /// assert_eq!(table.offsets().iter().collect::<Vec<_>>(), [0, 1, 1, 2, 2]);
    /// assert_eq!(table.column::<f64>(2, ..)?[..], [1.5, 0.0, 1.5, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_table(&mut self, table: &Self) -> Result<()> {
        let (rows, theirs) = (self.shape.rows, table.shape);
        if theirs.columns != self.shape.columns {
            return Err(Error::unequal_columns(1, self.shape.columns, theirs.columns));
        }
        self.dictionary.check_follower(1, &table.dictionary)?;
        let mut counts = super::index::zeros(theirs.rows)?;
        for (row, count) in counts.iter_mut().enumerate() {
            *count = table.pattern().positions(&(row..row + 1)).len();
        }
        let place = |index: usize| (rows + table.pattern().row_of(index), table.indices().at(index));
        self.add(&counts, table.indices().iter(), table.values.as_slice(), place)
    }

    /// Appends rows with the given number of values each. `place` returns the row and the column of a value, for
    /// errors.
    fn add(
        &mut self,
        counts: &[usize],
        columns: impl Iterator<Item = usize> + Clone,
        values: AnySlice<'_>,
        place: impl Fn(usize) -> (usize, usize),
    ) -> Result<()> {
        let (rows, stored) = (self.shape.rows.checked_add(counts.len()), self.nnz().checked_add(values.len()));
        let too_large =
            || Error::new(ErrorKind::SizeOverflow { shape: Shape { rows: usize::MAX, ..self.shape }, element: None });
        let (rows, end) = (rows.ok_or_else(too_large)?, stored.ok_or_else(too_large)?);
        check_number(self.offsets.element_type(), end, rows, 0)?;
        if let Some(largest) = columns.clone().max() {
            check_number(self.indices.element_type(), largest, self.shape.rows, largest)?;
        }
        let window = AnyWindow::of_rows(values, values.len(), 1);
        let checked = kernel::check(window, self.values.element_type(), ConversionPolicy::Checked, Origin::default());
        checked.map_err(|error| error.with_value_at(|index, _| place(index)))?;
        self.offsets.reserve(counts.len())?;
        self.indices.reserve(values.len())?;
        self.values.reserve(values.len())?;
        self.columns = ColumnIndex::default();
        let first = self.nnz();
        let ends = counts.iter().scan(first, |end, count| {
            *end += count;
            Some(*end)
        });
        append_numbers(&mut self.offsets, counts.len(), ends)?;
        append_numbers(&mut self.indices, values.len(), columns)?;
        let new = self.values.append_zeros(values.len())?;
        kernel::read_over(window, new, ConversionPolicy::Saturate, Origin::default())?;
        self.shape.rows = rows;
        self.owner = MemoryStatus::InternallyAllocated;
        Ok(())
    }
}

/// Checks that a type holds a number.
fn check_number(target: ElementType, number: usize, row: usize, column: usize) -> Result<()> {
    let holds = match_index!(target, I => I::of(number).is_some(), else false);
    let value = AnyValue::from(number as u64);
    if holds { Ok(()) } else { Err(Error::new(ErrorKind::ValueNotRepresentable { row, column, value, target })) }
}

/// Appends numbers to an array. Its type holds them, and it has room for them.
pub(super) fn append_numbers(array: &mut AnyArray, count: usize, numbers: impl Iterator<Item = usize>) -> Result<()> {
    match_index!(array.element_type(), I => {
        let new = array.append_zeros(count)?.downcast::<I>().unwrap_or_default();
        for (slot, number) in new.iter_mut().zip(numbers) {
            *slot = I::of(number).unwrap_or_default();
        }
    }, else ());
    Ok(())
}
