//! Rectangles of a table, and exclusive access to one.

use std::ops::Range;

use crate::array::AnyArray;
use crate::base::element::ElementType;
use crate::base::error::{Error, Result};
use crate::base::shape::Shape;
use crate::base::value::AnyValue;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::window::{AnySlice, AnySliceMut};

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
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Shape, table::Region};
    /// assert_eq!(Region { rows: 2..5, columns: 1..2 }.shape(), Shape { rows: 3, columns: 1 });
    /// ```
    #[inline]
    pub fn shape(&self) -> Shape {
        Shape { rows: self.rows.len(), columns: self.columns.len() }
    }

    /// Makes sure that the region lies inside a table of this shape.
    ///
    /// # Errors
    /// [`Error::RowsOutOfRange`]; [`Error::ColumnOutOfRange`] for one column, [`Error::ColumnsOutOfRange`] for several.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, Shape, table::Region};
    /// let region = Region { rows: 0..5, columns: 1..3 };
    /// assert!(region.check(Shape { rows: 5, columns: 3 }).is_ok());
    /// let error = region.check(Shape { rows: 3, columns: 5 }).unwrap_err(); // axes swapped
    /// assert!(matches!(error, Error::RowsOutOfRange { row_count: 3, .. }));
    /// ```
    #[inline]
    pub fn check(&self, table: Shape) -> Result<()> {
        let rows_fit = self.rows.start <= self.rows.end && self.rows.end <= table.rows;
        let columns_fit = self.columns.start <= self.columns.end && self.columns.end <= table.columns;
        if rows_fit && columns_fit { Ok(()) } else { Err(self.refusal(table)) }
    }

    #[cold]
    fn refusal(&self, table: Shape) -> Error {
        if self.rows.start > self.rows.end || self.rows.end > table.rows {
            return Error::RowsOutOfRange { rows: self.rows.clone(), row_count: table.rows };
        }
        match self.columns.len() {
            1 => Error::ColumnOutOfRange { column: self.columns.start, column_count: table.columns },
            _ => Error::ColumnsOutOfRange { columns: self.columns.clone(), column_count: table.columns },
        }
    }
}

/// A region of a table, borrowed for writing: what [`RowBlockMut`](crate::RowBlockMut) writes back through.
///
/// Made by [`NumericTable::region_mut`](super::NumericTable::region_mut). Splitting it gives disjoint regions, which
/// may go to different threads.
pub trait RegionMut<'t>: Send + Sync {
    /// Gives the rows and columns that this covers.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let region = Region { rows: 1..3, columns: 0..1 };
    /// assert_eq!(table.region_mut(&region)?.region(), region);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn region(&self) -> Region;

    /// Gives the type in which values are stored.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let region = table.region_mut(&Region { rows: 1..3, columns: 0..1 })?;
    /// assert_eq!(region.element_type(), ElementType::I16);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn element_type(&self) -> ElementType;

    /// Gives the values as one slice, if they lie in memory one after another, row by row.
    ///
    /// # Errors
    /// The region as it was, if they do not.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut rows = table.region_mut(&Region { rows: 1..3, columns: 0..2 })?.into_slice().ok().unwrap();
    /// rows.downcast::<i16>().unwrap()[0] = 30;
    /// assert!(table.region_mut(&Region { rows: 0..3, columns: 1..2 })?.into_slice().is_err());
    /// assert_eq!(table.as_slice()?, [1, 2, 30, 4, 5, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn into_slice(self: Box<Self>) -> Result<AnySliceMut<'t>, Box<dyn RegionMut<'t> + 't>>;

    /// Converts the values, row by row, into new memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::ValueNotRepresentable`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let column = table.region_mut(&Region { rows: 0..3, columns: 1..2 })?;
    /// let copy = column.copy(ElementType::F32, ConversionPolicy::Exact)?;
    /// assert_eq!(copy.downcast_ref::<f32>().unwrap()[..], [2.0, 4.0, 6.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn copy(&self, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray>;

    /// Converts values, row by row, into the region: all of them or none.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::ValueNotRepresentable`]; nothing is written.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnySlice, convert::WriteRule, prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    /// let mut column = table.region_mut(&Region { rows: 0..3, columns: 1..2 })?;
    /// assert!(column.write(AnySlice::new(&[20.0, 40.0, 1e9]), rule).is_err()); // all or none
    /// column.write(AnySlice::new(&[20.0, 40.0, 60.0]), rule)?;
    /// drop(column);
    /// assert_eq!(table.as_slice()?, [1, 20, 3, 40, 5, 60]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn write(&mut self, values: AnySlice<'_>, rule: WriteRule) -> Result<()>;

    /// Writes one value everywhere.
    ///
    /// # Errors
    /// [`Error::ValueNotRepresentable`]; nothing is written. A region without values takes any value.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyValue, prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let column = Region { rows: 0..3, columns: 1..2 };
    /// table.region_mut(&column)?.fill(AnyValue::from(9.0_f64), ConversionPolicy::Exact)?;
    /// assert_eq!(table.as_slice()?, [1, 9, 3, 9, 5, 9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn fill(&mut self, value: AnyValue, policy: ConversionPolicy) -> Result<()>;

    /// Cuts into the first `rows` rows and the rest; all rows go to the first part if there are not more.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let all = table.region_mut(&Region { rows: 0..3, columns: 0..2 })?;
    /// let (head, tail) = all.split_at_row(1);
    /// assert_eq!((head.region().rows, tail.region().rows), (0..1, 1..3));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn split_at_row(self: Box<Self>, rows: usize) -> (Box<dyn RegionMut<'t> + 't>, Box<dyn RegionMut<'t> + 't>);
}
