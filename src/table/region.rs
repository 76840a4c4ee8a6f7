//! Rectangular regions of a table.

use std::ops::{Range, RangeBounds};

use super::{NumericTable, TableDescription};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::range::resolve;
use crate::base::shape::Shape;
use crate::convert::kernel::Origin;

/// A range of rows and a range of columns of a table.
///
/// # Examples
/// ```
/// use numeric_table::{Shape, table::spi::Region};
/// let region = Region { rows: 2..5, columns: 0..4 };
/// assert_eq!(region.shape(), Shape { rows: 3, columns: 4 });
/// assert!(region.check(Shape { rows: 5, columns: 4 }).is_ok());
/// assert!(region.check(Shape { rows: 4, columns: 4 }).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The rows.
    pub rows: Range<usize>,
    /// The columns.
    pub columns: Range<usize>,
}

impl Region {
    /// Returns the number of rows and columns. An inverted range has none.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Shape, table::spi::Region};
    /// assert_eq!(Region { rows: 2..5, columns: 1..2 }.shape(), Shape { rows: 3, columns: 1 });
    /// ```
    #[inline]
    pub fn shape(&self) -> Shape {
        Shape { rows: self.rows.len(), columns: self.columns.len() }
    }

    /// Checks that the region lies inside a table of this shape.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`]; [`ErrorKind::ColumnOutOfRange`] for one column, [`ErrorKind::OutOfRange`] for
    /// several.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ErrorKind, Shape, table::spi::Region};
    /// let region = Region { rows: 0..5, columns: 1..3 };
    /// assert!(region.check(Shape { rows: 5, columns: 3 }).is_ok());
    /// let error = region.check(Shape { rows: 3, columns: 5 }).unwrap_err(); // axes swapped
    /// assert!(matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 3, .. }));
    /// ```
    #[inline]
    pub fn check(&self, table: Shape) -> Result<()> {
        if self.is_inside(table) { Ok(()) } else { Err(self.refusal(table)) }
    }

    /// Returns whether [`check`](Self::check) succeeds.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_inside(&self, table: Shape) -> bool {
        let rows_fit = self.rows.start <= self.rows.end && self.rows.end <= table.rows;
        let columns_fit = self.columns.start <= self.columns.end && self.columns.end <= table.columns;
        rows_fit && columns_fit
    }

    /// Returns the region with the given shape whose first value is at a row and a column.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn at(row: usize, column: usize, shape: Shape) -> Self {
        // Saturation is correct: a region past `usize::MAX` is outside every table.
        Self { rows: row..row.saturating_add(shape.rows), columns: column..column.saturating_add(shape.columns) }
    }

    /// Returns the region of one value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_value(row: usize, column: usize) -> Self {
        Self::at(row, column, Shape { rows: 1, columns: 1 })
    }

    /// Returns the region of one value of a table.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_cell(table: Shape, row: usize, column: usize) -> Result<Self> {
        if row >= table.rows {
            return Err(Error::new(ErrorKind::RowsOutOfRange {
                rows: row..row.saturating_add(1),
                row_count: table.rows,
            }));
        }
        if column >= table.columns {
            return Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count: table.columns }));
        }
        Ok(Self::of_value(row, column))
    }

    /// Returns the region of an entire table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Shape, table::spi::Region};
    /// assert_eq!(Region::whole(Shape { rows: 3, columns: 2 }), Region { rows: 0..3, columns: 0..2 });
    /// ```
    pub fn whole(shape: Shape) -> Self {
        Self { rows: 0..shape.rows, columns: 0..shape.columns }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn origin(&self) -> Origin {
        Origin { row: self.rows.start, column: self.columns.start }
    }

    /// Returns the region moved down and to the right.
    pub(crate) fn moved(&self, rows: usize, columns: usize) -> Self {
        let along = |range: &Range<usize>, by: usize| range.start.saturating_add(by)..range.end.saturating_add(by);
        Self { rows: along(&self.rows, rows), columns: along(&self.columns, columns) }
    }

    /// Returns the region in the coordinates of a part of a table, which begins `rows` rows down and `columns` columns
    /// to the right.
    pub(crate) fn moved_back(&self, rows: usize, columns: usize) -> Self {
        let along = |range: &Range<usize>, by: usize| range.start.saturating_sub(by)..range.end.saturating_sub(by);
        Self { rows: along(&self.rows, rows), columns: along(&self.columns, columns) }
    }

    /// Splits the region into the rows before `row` and the rest. `row` is a row of the table inside the region or at
    /// its end.
    pub(crate) fn split_at_row(&self, row: usize) -> (Self, Self) {
        let rows = |rows: Range<usize>| Self { rows, columns: self.columns.clone() };
        (rows(self.rows.start..row), rows(row..self.rows.end))
    }

    /// Returns the intersection of two regions, which may be empty.
    pub(crate) fn common(&self, other: &Self) -> Self {
        fn both(mine: &Range<usize>, theirs: &Range<usize>) -> Range<usize> {
            let start = mine.start.max(theirs.start);
            start..mine.end.min(theirs.end).max(start)
        }
        Self { rows: both(&self.rows, &other.rows), columns: both(&self.columns, &other.columns) }
    }

    /// Returns another region relative to this one, if it lies inside.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn place_of(&self, other: &Self) -> Option<Self> {
        let is_inside = self.rows.start <= other.rows.start
            && other.rows.start <= other.rows.end
            && other.rows.end <= self.rows.end
            && self.columns.start <= other.columns.start
            && other.columns.start <= other.columns.end
            && other.columns.end <= self.columns.end;
        is_inside.then(|| Self {
            rows: other.rows.start - self.rows.start..other.rows.end - self.rows.start,
            columns: other.columns.start - self.columns.start..other.columns.end - self.columns.start,
        })
    }

    #[cold]
    fn refusal(&self, table: Shape) -> Error {
        if self.rows.start > self.rows.end || self.rows.end > table.rows {
            return Error::new(ErrorKind::RowsOutOfRange { rows: self.rows.clone(), row_count: table.rows });
        }
        match self.columns.len() {
            1 => Error::new(ErrorKind::ColumnOutOfRange { column: self.columns.start, column_count: table.columns }),
            _ => {
                Error::new(ErrorKind::OutOfRange { what: "columns", range: self.columns.clone(), count: table.columns })
            }
        }
    }
}

/// Resolves a range of rows of a table. The caller checks whether the rows exist.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn rows_of(table: Shape, rows: impl RangeBounds<usize>) -> Result<Range<usize>> {
    resolve(rows, table.rows, |rows| Error::new(ErrorKind::RowsOutOfRange { rows, row_count: table.rows }))
}

/// Like [`rows_of`], for columns.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn columns_of(table: Shape, columns: impl RangeBounds<usize>) -> Result<Range<usize>> {
    resolve(columns, table.columns, |columns| {
        Error::new(ErrorKind::OutOfRange { what: "columns", range: columns, count: table.columns })
    })
}

/// Returns the size in bytes of a row, in the types of its columns. Progress is counted in these bytes.
pub(crate) fn row_bytes(table: &dyn NumericTable) -> u64 {
    if let Some(element) = table.uniform_type() {
        return (table.column_count() as u64).saturating_mul(element.size_in_bytes() as u64);
    }
    let sizes = table.dictionary().iter().map(|feature| feature.element_type.size_in_bytes() as u64);
    sizes.fold(0, u64::saturating_add)
}
