//! The place in a table that an error refers to.

use std::ops::Range;

use super::{Error, ErrorKind, Report};

/// A row, a column, or both.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
/// let place = table.set_value(1, 0, 300).unwrap_err().place().unwrap();
/// assert_eq!((place.row, place.column), (Some(1), Some(0)));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The row in the table, or among the rows being added.
    pub row: Option<usize>,
    /// The column; for a text file, the column of the file.
    pub column: Option<usize>,
}

impl Error {
    /// Returns the row or the column that the error is about, or both.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        let (row, column) = match self.kind() {
            ErrorKind::ValueNotRepresentable { row, column, .. }
            | ErrorKind::MissingValue { row, column }
            | ErrorKind::NotInMemory { row, column }
            | ErrorKind::MisplacedPiece { row, column, .. }
            | ErrorKind::ValueNotAllowed { row, column, .. }
            | ErrorKind::AsymmetricValue { row, column, .. }
            | ErrorKind::NotStored { row, column, .. } => (Some(*row), Some(*column)),
            ErrorKind::UnequalLengths { what: "row", index, .. } => (Some(*index), None),
            ErrorKind::UnequalLengths { index: column, .. }
            | ErrorKind::ColumnOutOfRange { column, .. }
            | ErrorKind::MixedElementTypes { column, .. }
            | ErrorKind::OverlappingFields { first: column, .. }
            | ErrorKind::ColumnNotSet { column } => (None, Some(*column)),
            ErrorKind::UnequalTables { column, .. }
            | ErrorKind::NotSolvable { column, .. }
            | ErrorKind::RecordLayout { column, .. }
            | ErrorKind::ElementTypeMismatch { column, .. }
            | ErrorKind::Text { column, .. } => (None, *column),
            ErrorKind::Unsupported { row, column, .. } => (*row, *column),
            ErrorKind::DictionaryMismatch { actual: Some((column, _)), .. } => (None, Some(*column)),
            ErrorKind::SparseStructure { row, .. } => (*row, None),
            _ => (None, None),
        };
        (row.is_some() || column.is_some()).then_some(Place { row, column })
    }

    /// Translates an error of a table into one of a larger table that contains it `down` rows further down and `right`
    /// columns further right. Changes the places of values and cells, the rows of a block, and the columns without
    /// values. Rows and columns that the caller named stay the same.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Error, ErrorKind};
    /// let error = Error::new(ErrorKind::NotInMemory { row: 1, column: 0 }).moved(10, 2);
    /// assert_eq!(error.to_string(), "the value at row 11, column 2 is not stored in memory");
    /// ```
    #[must_use]
    pub fn moved(self, down: usize, right: usize) -> Self {
        self.placed(&|row| row.saturating_add(down), &|column| column.saturating_add(right))
    }

    /// Changes the row and the column of a value that a conversion rejects. Other errors stay the same.
    pub(crate) fn with_value_at(mut self, place: impl FnOnce(usize, usize) -> (usize, usize)) -> Self {
        if let Report::Boxed(facts) = &mut self.report
            && let ErrorKind::ValueNotRepresentable { row, column, .. } | ErrorKind::MissingValue { row, column } =
                &mut facts.kind
        {
            (*row, *column) = place(*row, *column);
        }
        self
    }

    /// Moves a rejected value down by `rows` rows. Other errors stay the same.
    pub(crate) fn with_value_below(self, rows: usize) -> Self {
        self.with_value_at(|row, column| (row.saturating_add(rows), column))
    }

    /// Translates an error of a table into one of a part of it that begins at row `down` and column `right`.
    pub(crate) fn moved_back(self, down: usize, right: usize) -> Self {
        self.placed(&|row| row.saturating_sub(down), &|column| column.saturating_sub(right))
    }

    /// Remaps the row and column indices in an error.
    pub(crate) fn placed(mut self, row_of: &dyn Fn(usize) -> usize, column_of: &dyn Fn(usize) -> usize) -> Self {
        let Report::Boxed(facts) = &mut self.report else { return self };
        let along = |range: &mut Range<usize>, place: &dyn Fn(usize) -> usize| {
            *range = place(range.start)..place(range.end);
        };
        match &mut facts.kind {
            ErrorKind::BlockOutstanding { rows } => along(rows, row_of),
            ErrorKind::ValueNotRepresentable { row, column, .. }
            | ErrorKind::MissingValue { row, column }
            | ErrorKind::NotInMemory { row, column }
            | ErrorKind::ValueNotAllowed { row, column, .. }
            | ErrorKind::NotStored { row, column, .. } => (*row, *column) = (row_of(*row), column_of(*column)),
            ErrorKind::AsymmetricValue { row, column, mirror, .. } => {
                (*row, *column) = (row_of(*row), column_of(*column));
                *mirror = (row_of(mirror.0), column_of(mirror.1));
            }
            ErrorKind::MisplacedPiece { row, column, rows, columns } => {
                (*row, *column) = (row_of(*row), column_of(*column));
                along(rows, row_of);
                along(columns, column_of);
            }
            ErrorKind::ColumnNotSet { column } => *column = column_of(*column),
            ErrorKind::OverlappingFields { first, second } => {
                (*first, *second) = (column_of(*first), column_of(*second));
            }
            _ => {}
        }
        self
    }
}
