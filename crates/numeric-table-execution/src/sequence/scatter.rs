//! Targets of results that are not one slice.

use numeric_table::table::{TableView, TableViewMut};
use numeric_table::{DataLayout, Element, Shape};

use super::range_of;
use crate::HandleError;

/// Places for values that need not be one slice: the opposite of a [`Sequence`](super::Sequence).
///
/// Implemented for slices, for windows on tables, whose values are in the order of rows, for columns of tables of any
/// kind ([`TableColumnMut`](super::TableColumnMut)), and for several targets end to end.
///
/// # Examples
/// See [`ArrayHandle::copy_to`](crate::ArrayHandle::copy_to).
pub trait SequenceMut: Send {
    /// The type of the values.
    type Value: Element;

    /// Returns the number of values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::sequence::SequenceMut;
    /// assert_eq!(SequenceMut::count(&&mut [0_u8; 3][..]), 3);
    /// ```
    fn count(&self) -> usize;

    /// Replaces the values from index `first` on.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](numeric_table::ErrorKind::OutOfRange) in [`HandleError::Library`]; those of the
    /// target.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::sequence::SequenceMut;
    /// let mut values = [0_u8; 3];
    /// (&mut values[..]).write(1, &[7])?;
    /// assert_eq!(values, [0, 7, 0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn write(&mut self, first: usize, values: &[Self::Value]) -> Result<(), HandleError>;
}

impl<T: Element> SequenceMut for &mut [T] {
    type Value = T;

    fn count(&self) -> usize {
        self.len()
    }

    fn write(&mut self, first: usize, values: &[T]) -> Result<(), HandleError> {
        let range = range_of(first, values.len(), self.len())?;
        self[range].copy_from_slice(values);
        Ok(())
    }
}

/// The values of a window, row by row. Only they are written: of a column of a row-major table, only its own bytes.
impl<T: Element> SequenceMut for TableViewMut<'_, T> {
    type Value = T;

    fn count(&self) -> usize {
        self.shape().element_count().unwrap_or(usize::MAX) // a view that exists has a number of values
    }

    fn write(&mut self, first: usize, values: &[T]) -> Result<(), HandleError> {
        range_of(first, values.len(), SequenceMut::count(self))?;
        let columns = self.shape().columns.max(1);
        let (mut row, mut column, mut rest) = (first / columns, first % columns, values);
        while !rest.is_empty() {
            // Some rows, or a part of one.
            let (rows, width) = match rest.len() / columns {
                rows if column == 0 && rows > 0 => (rows, columns),
                _ => (1, rest.len().min(columns - column)),
            };
            let (part, others) = rest.split_at(rows * width);
            let window = self.reborrow().slice_rows(row..row + rows)?;
            let part = TableView::new(part, Shape { rows, columns: width }, DataLayout::RowMajor)?;
            window.slice_columns(column..column + width)?.copy_from(part)?;
            (row, column) = if column + width == columns { (row + rows, 0) } else { (row, column + width) };
            rest = others;
        }
        Ok(())
    }
}

/// Targets end to end.
impl<S: SequenceMut> SequenceMut for Vec<S> {
    type Value = S::Value;

    fn count(&self) -> usize {
        self.iter().map(S::count).fold(0, usize::saturating_add)
    }

    fn write(&mut self, first: usize, values: &[S::Value]) -> Result<(), HandleError> {
        range_of(first, values.len(), SequenceMut::count(self))?;
        let (mut start, mut rest) = (first, values);
        for part in self {
            if rest.is_empty() {
                break;
            }
            let count = part.count();
            if start >= count {
                start -= count;
                continue;
            }
            let (values, others) = rest.split_at(rest.len().min(count - start));
            part.write(start, values)?;
            (start, rest) = (0, others);
        }
        Ok(())
    }
}
