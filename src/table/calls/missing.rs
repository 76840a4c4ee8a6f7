//! Missing values of a table.

use std::ops::RangeBounds;

use super::AsTable;
use crate::array::{AnyArray, Validity};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::table::missing::{self, FillMissing};
use crate::table::region::rows_of;
use crate::table::{ColumnChoice, ColumnKey, NumericTable, Token};

/// Missing values of a table of any kind: finding, filling, dropping and making them.
///
/// A column of a structure of arrays ([`SoaNumericTable`](crate::SoaNumericTable)) may have a bitmap that says which
/// values are present, as in Arrow. Views, selections and merged tables show the missing values of their parts.
/// Floating-point blocks show a missing value as NaN, but NaN in a table is a value and is not missing. Reading a
/// missing value as an integer fails with [`ErrorKind::MissingValue`].
///
/// Source: Arrow's validity bitmaps; pandas `isna`, `fillna` and `dropna`; polars `fill_null` and `drop_nulls`, which
/// treat NaN as a value, too.
///
/// # Examples
/// ```
/// use numeric_table::{SoaNumericTable, prelude::*, table::FillMissing};
/// let mut table = SoaNumericTable::new();
/// table.push_optional("age", [Some(31_u8), None, Some(47)])?;
/// table.push_optional("income", [Some(52.5_f64), Some(61.0), None])?;
/// assert_eq!(table.drop_missing_rows(..)?.row_count(), 1);
/// assert_eq!(table.fill_missing("age", FillMissing::Mean)?, 1);
/// assert_eq!(table.column_slice::<u8>(0)?, [31, 39, 47]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub trait MissingValues: AsTable {
    /// Returns whether any value is missing. O(columns); O(rows / 64) for tables end to end.
    ///
    /// # Errors
    /// Those of [`NumericTable::validity`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// assert!(!SoaNumericTable::from_columns([("a", vec![1, 2])])?.has_missing()?);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn has_missing(&self) -> Result<bool> {
        missing::has_missing(self.as_table())
    }

    /// Returns the number of missing values of a column. O(1) for a structure of arrays.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`]; those of [`NumericTable::validity`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// # let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1_u8), None, None])?;
    /// assert_eq!(table.missing_count("a")?, 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn missing_count(&self, column: impl ColumnKey) -> Result<usize> {
        Ok(self.column_validity(column)?.map_or(0, |validity| validity.missing_count()))
    }

    /// Returns whether a value is missing. NaN is not.
    ///
    /// # Errors
    /// Those of [`missing_count`](Self::missing_count); [`ErrorKind::RowsOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// # let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(f32::NAN), None])?;
    /// assert!(!table.is_missing(0, "a")? && table.is_missing(1, "a")?);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn is_missing(&self, row: usize, column: impl ColumnKey) -> Result<bool> {
        let column = column.column_in(self.dictionary())?;
        let validity = self.validity(column, row..row.saturating_add(1))?;
        Ok(self.dictionary().is_nullable(column) && validity.is_some_and(|validity| validity.has_missing()))
    }

    /// Returns which values of a column are present, with one bit for each row; `None` if all are.
    ///
    /// # Errors
    /// Those of [`missing_count`](Self::missing_count).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// # let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1_u8), None])?;
    /// assert_eq!(table.column_validity("a")?.unwrap().to_flags()?, [true, false]);
    /// assert!(table.select_rows(..1)?.column_validity("a")?.is_none());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn column_validity(&self, column: impl ColumnKey) -> Result<Option<Validity>> {
        missing::validity_of(self.as_table(), column.column_in(self.dictionary())?)
    }

    /// Returns some rows of a column in its own element type, and which of them are present; `None` if all are. Shares
    /// the memory of the column if it has an array of its own, and copies the values otherwise.
    ///
    /// The values of missing rows are unspecified.
    ///
    /// # Errors
    /// Those of [`missing_count`](Self::missing_count) and of reading the table; [`ErrorKind::RowsOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// # let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1_u8), None, Some(3)])?;
    /// let (values, validity) = table.column_with_validity("a", 1..)?;
    /// assert_eq!((values.len(), validity.unwrap().to_flags()?), (2, vec![false, true]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn column_with_validity(
        &self,
        column: impl ColumnKey,
        rows: impl RangeBounds<usize>,
    ) -> Result<(AnyArray, Option<Validity>)> {
        let (column, rows) = (column.column_in(self.dictionary())?, rows_of(self.shape(), rows)?);
        self.column_array(column, &rows, Token::new())
    }

    /// Marks a value as missing, and its column as nullable. O(1) unless a clone shares the bitmap.
    ///
    /// The stored number stays under the gap, in memory and in files, until another value is written over it. No call
    /// of a table reads it, but a program that reads the bytes of a file can.
    ///
    /// # Errors
    /// Those of [`is_missing`](Self::is_missing); [`ErrorKind::ReadOnlyTable`] if the column cannot have missing
    /// values; [`ErrorKind::OutOfMemory`]. The table is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![1, 2])])?;
    /// table.set_missing(1, "a")?;
    /// assert_eq!(table.missing_count("a")?, 1);
    /// table.set_value(1, 0, 5)?; // a number is present again
    /// assert_eq!(table.column_slice::<i32>(0)?, [1, 5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn set_missing(&mut self, row: usize, column: impl ColumnKey) -> Result<()> {
        let column = column.column_in(self.dictionary())?;
        self.write_validity(column, row, &Validity::all_missing(1)?, Token::new())
    }

    /// Marks the values of a column as missing where `is_missing` is true. Other values that are missing stay so.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if there is not one flag for each row; those of
    /// [`set_missing`](Self::set_missing). The table is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::from_columns([("a", vec![-1, 2, -1])])?;
    /// table.set_missing_where("a", &[true, false, true])?; // -1 stood for a missing value
    /// assert_eq!(table.missing_count("a")?, 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn set_missing_where(&mut self, column: impl ColumnKey, is_missing: &[bool]) -> Result<()> {
        let column = column.column_in(self.dictionary())?;
        missing::set_missing_where(self.as_table_mut(), column, is_missing)
    }

    /// Replaces the missing values of columns. Returns the number of values that were replaced. All of it happens, or
    /// nothing.
    ///
    /// NaN is not missing and stays. Values before the first present one stay missing with
    /// [`FillMissing::Previous`], those after the last one with [`FillMissing::Next`], and all of them with the mean or
    /// median of a column without a number. O(rows); [`FillMissing::Median`] sorts the column.
    ///
    /// # Errors
    /// [`ErrorKind::ValueNotRepresentable`] with the first missing value that the column's type cannot hold as the
    /// given value; those of [`is_missing`](Self::is_missing) and of writing.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*, table::FillMissing};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [None, Some(4_i32), None, Some(9)])?;
    /// assert_eq!(table.clone().fill_missing(.., FillMissing::value(-1))?, 2);
    /// assert_eq!(table.fill_missing("a", FillMissing::Previous)?, 1);
    /// assert_eq!(table.fill_missing("a", FillMissing::Next)?, 1);
    /// assert_eq!(table.column_slice::<i32>(0)?, [4, 4, 4, 9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn fill_missing(&mut self, columns: impl ColumnChoice, fill: FillMissing) -> Result<usize> {
        let ranges = columns.ranges_in(self.dictionary())?;
        missing::fill(self.as_table_mut(), &ranges, fill)
    }

    /// Copies the rows in which all of the given columns are present. O(values).
    ///
    /// # Errors
    /// Those of [`missing_count`](Self::missing_count) and of [`filter_rows`](crate::TableSelection::filter_rows).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// # let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1_u8), None, Some(3)])?;
    /// table.push_optional("b", [Some(1_u8), Some(2), None])?;
    /// assert_eq!(table.drop_missing_rows("a")?.row_count(), 2);
    /// assert_eq!(table.drop_missing_rows(..)?.row_count(), 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn drop_missing_rows(&self, columns: impl ColumnChoice) -> Result<Box<dyn NumericTable>> {
        missing::drop_rows(self.as_table(), &columns.ranges_in(self.dictionary())?)
    }
}

impl<N: AsTable + ?Sized> MissingValues for N {}
