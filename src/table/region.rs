//! Rectangles of a table, and exclusive access to one.

use std::ops::Range;

use crate::array::{AnyArray, AnySlice, AnySliceMut, AnyValue};
use crate::convert::{ConversionPolicy, WriteRule};
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::shape::Shape;

/// Some consecutive rows and columns of a table: what a block shows.
///
/// # Examples
/// ```
/// use numeric_table::{Shape, table::Region};
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
    /// Gives the numbers of rows and columns; an inverted range has none.
    pub fn shape(&self) -> Shape {
        Shape { rows: self.rows.len(), columns: self.columns.len() }
    }

    /// Makes sure that the region lies inside a table of this shape.
    ///
    /// # Errors
    /// [`Error::RowsOutOfRange`]; [`Error::ColumnOutOfRange`] for one column, [`Error::ColumnsOutOfRange`] for several.
    pub fn check(&self, table: Shape) -> Result<()> {
        if self.rows.start > self.rows.end || self.rows.end > table.rows {
            return Err(Error::RowsOutOfRange { rows: self.rows.clone(), row_count: table.rows });
        }
        if self.columns.start > self.columns.end || self.columns.end > table.columns {
            return Err(match self.columns.len() {
                1 => Error::ColumnOutOfRange { column: self.columns.start, column_count: table.columns },
                _ => Error::ColumnsOutOfRange { columns: self.columns.clone(), column_count: table.columns },
            });
        }
        Ok(())
    }
}

/// A region of a table, borrowed for writing: what [`RowBlockMut`](crate::RowBlockMut) writes back through.
///
/// Made by [`NumericTable::region_mut`](super::NumericTable::region_mut). Splitting it gives disjoint regions, which
/// may go to different threads.
pub trait RegionMut<'t>: Send + Sync {
    /// Gives the rows and columns that this covers.
    fn region(&self) -> Region;

    /// Gives the type in which values are stored.
    fn element_type(&self) -> ElementType;

    /// Gives the values as one slice, if they lie in memory one after another, row by row.
    ///
    /// # Errors
    /// The region as it was, if they do not.
    fn into_slice(self: Box<Self>) -> Result<AnySliceMut<'t>, Box<dyn RegionMut<'t> + 't>>;

    /// Converts the values, row by row, into new memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::ValueNotRepresentable`].
    fn copy(&self, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray>;

    /// Converts values, row by row, into the region: all of them or none.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::ValueNotRepresentable`]; nothing is written.
    fn write(&mut self, values: AnySlice<'_>, rule: WriteRule) -> Result<()>;

    /// Writes one value everywhere.
    ///
    /// # Errors
    /// [`Error::ValueNotRepresentable`]; nothing is written.
    fn fill(&mut self, value: AnyValue, policy: ConversionPolicy) -> Result<()>;

    /// Cuts into the first `rows` rows and the rest; all rows go to the first part if there are not more.
    fn split_at_row(self: Box<Self>, rows: usize) -> (Box<dyn RegionMut<'t> + 't>, Box<dyn RegionMut<'t> + 't>);
}
