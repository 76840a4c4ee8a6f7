//! Selecting rows and columns of a table.

use std::ops::RangeBounds;

use super::AsTable;
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
#[cfg(doc)]
use crate::convert::ConversionPolicy;
use crate::table::{
    ColumnChoice, ColumnKey, MergedNumericTable, NumericTable, SoaNumericTable, SortKey, distinct, part, sample, take,
};

/// Selects rows or columns of a table of any kind as a new table.
///
/// [`select_columns`](Self::select_columns), [`drop_columns`](Self::drop_columns), [`select_rows`](Self::select_rows),
/// [`head`](Self::head) and [`tail`](Self::tail) borrow the table, read-only and without a copy. All other methods copy
/// rows into a table that owns them. The copy is sparse if the table is sparse, homogeneous if all columns have one
/// type and none is nullable, and otherwise a structure of arrays. Missing values stay missing.
pub trait TableSelection: AsTable {
    /// Returns the given columns as a table, by number or by name, in any order. A column may be repeated. The result
    /// is read-only and borrows the table; nothing is copied.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`], [`ErrorKind::LimitExceeded`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 6]])?;
    /// table.set_names(["a", "b", "c"])?;
    /// assert_eq!(table.select_columns(["c", "a"])?.rows::<f64>(..)?[..], [3.0, 1.0, 6.0, 4.0]);
    /// assert!(table.select_columns(1..)?.names().eq([Some("b"), Some("c")]));
    /// # Ok::<(), Error>(())
    /// ```
    fn select_columns(&self, columns: impl ColumnChoice) -> Result<MergedNumericTable<'_>> {
        part::select_columns(self.as_table(), columns)
    }

    /// Returns all columns except the given ones as a table. The result is read-only and borrows the table; nothing is
    /// copied.
    ///
    /// # Errors
    /// Those of `select_columns`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(table.drop_columns([1])?.rows::<u8>(..)?[..], [1, 3, 4, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn drop_columns(&self, columns: impl ColumnChoice) -> Result<MergedNumericTable<'_>> {
        part::drop_columns(self.as_table(), columns)
    }

    /// Returns a range of rows as a table. The result is read-only and borrows the table; nothing is copied. Its blocks
    /// in the stored type are zero-copy wherever the table's own blocks are.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`]; [`ErrorKind::LimitExceeded`] if tables are nested more than 64 deep.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
    /// let middle = table.select_rows(1..2)?;
    /// assert_eq!(middle.rows::<u8>(..)?[..], [3, 4]);
    /// assert!(middle.rows::<u8>(..)?.is_zero_copy());
    /// # Ok::<(), Error>(())
    /// ```
    fn select_rows(&self, rows: impl RangeBounds<usize>) -> Result<Box<dyn NumericTable + '_>> {
        part::select_rows(self.as_table(), rows)
    }

    /// Returns the first `rows` rows as a table, like `select_rows`; all rows if the table has fewer.
    ///
    /// # Errors
    /// Those of `select_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [2], [3]])?;
    /// assert_eq!(table.head(2)?.rows::<u8>(..)?[..], [1, 2]);
    /// assert_eq!(table.head(9)?.row_count(), 3);
    /// # Ok::<(), Error>(())
    /// ```
    fn head(&self, rows: usize) -> Result<Box<dyn NumericTable + '_>> {
        part::head(self.as_table(), rows)
    }

    /// Returns the last `rows` rows as a table, like `select_rows`; all rows if the table has fewer.
    ///
    /// # Errors
    /// Those of `select_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [2], [3]])?;
    /// assert_eq!(table.tail(2)?.rows::<u8>(..)?[..], [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn tail(&self, rows: usize) -> Result<Box<dyn NumericTable + '_>> {
        part::tail(self.as_table(), rows)
    }

    /// Copies the rows with the given numbers, in the given order. A row may be repeated. The new table is sparse if
    /// this one is sparse. It is homogeneous if all columns have one type and none is nullable, and then column-major
    /// if each column is contiguous in memory. Otherwise it is a structure of arrays. Keeps the dictionary, and missing
    /// values. Cost: O(values of the result), in several threads if the result is large.
    ///
    /// Source: NumPy `take`, along the first axis.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`] for the first row that does not exist; errors from reading the table;
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
    /// let taken = table.take_rows(&[2, 0, 2])?;
    /// assert_eq!(taken.rows::<u8>(..)?[..], [5, 6, 1, 2, 5, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn take_rows(&self, rows: &[usize]) -> Result<Box<dyn NumericTable>> {
        take::take_rows(self.as_table(), rows)
    }

    /// Copies the rows whose flag is set, in order, like `take_rows`.
    ///
    /// Source: NumPy's boolean indexing.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the number of flags is not the number of rows; those of `take_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
    /// assert_eq!(table.filter_rows(&[false, true, true])?.rows::<f32>(..)?[..], [3.0, 4.0, 5.0, 6.0]);
    /// assert!(table.filter_rows(&[true]).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    fn filter_rows(&self, is_kept: &[bool]) -> Result<Box<dyn NumericTable>> {
        take::filter_rows(self.as_table(), is_kept)
    }

    /// Copies the rows for which a closure returns `true`, like `filter_rows`. The closure sees each row once,
    /// converted to its argument type like a block ([`ConversionPolicy::Saturate`]). Large tables are filtered in
    /// several threads. Cost: O(values), and one byte of memory per row.
    ///
    /// A closure with a floating-point argument sees a missing value as NaN. [`column_validity`] and [`filter_rows`]
    /// distinguish the two.
    ///
    /// [`column_validity`]: crate::MissingValues::column_validity
    /// [`filter_rows`]: Self::filter_rows
    ///
    /// # Errors
    /// [`ErrorKind::MissingValue`] if the closure's argument is of an integer type, and a value is missing; errors from
    /// reading the table; those of `take_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [4, 3], [5, 6]])?;
    /// let ascending = table.filter_rows_by(|row: &[f64]| row[0] < row[1])?;
    /// assert_eq!(ascending.rows::<i16>(..)?[..], [1, 2, 5, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn filter_rows_by<U: Element>(&self, is_kept: impl Fn(&[U]) -> bool + Sync) -> Result<Box<dyn NumericTable>> {
        take::filter_rows_by(self.as_table(), is_kept)
    }

    /// Copies the rows for which a closure returns `true` for the value in a column, like `filter_rows_by`. Selecting
    /// the rows reads only this column.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`]; those of `filter_rows_by`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let table = SoaNumericTable::from_columns([("age", vec![36_u8, 12, 41]), ("height", vec![170, 150, 182])])?;
    /// let adults = table.filter_by_column("age", |age: u8| age >= 18)?;
    /// assert_eq!(adults.column_named::<f64>("height", ..)?[..], [170.0, 182.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn filter_by_column<U: Element>(
        &self,
        column: impl ColumnKey,
        is_kept: impl Fn(U) -> bool + Sync,
    ) -> Result<Box<dyn NumericTable>> {
        take::filter_by_column(self.as_table(), column, is_kept)
    }

    /// Copies all rows, sorted by a column in ascending order. The sort is stable. NaN comes last, then missing values;
    /// -0.0 equals 0.0. Compares stored values, so 64-bit integers are not rounded. Cost: O(values), in several threads
    /// if the table is large, and 16 to 24 bytes of memory per row besides the result.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`]; those of `take_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[3.0, 0.0], [f64::NAN, 1.0], [1.0, 2.0], [3.0, 3.0]])?;
    /// let sorted = table.sort_by(0)?;
    /// assert_eq!(sorted.column::<i32>(1, ..)?[..], [2, 0, 3, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sort_by(&self, column: impl ColumnKey) -> Result<Box<dyn NumericTable>> {
        take::sort_by(self.as_table(), column)
    }

    /// Copies all rows in the order of several columns, each in ascending or descending order: the first one decides,
    /// the next ones among equal rows. Rows with equal values keep their order. NaN and then missing values come last
    /// in both orders. Without keys, copies the rows in their order. Cost: that of `sort_by` for each key.
    ///
    /// Source: pandas `sort_values(kind="stable")`.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`]; those of `take_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::SortKey};
    /// let table = Table::from_rows(&[[1, 5], [2, 7], [1, 6]])?;
    /// let sorted = table.sort_by_keys(&[SortKey::new(0).descending(true), SortKey::new(1)])?;
    /// assert_eq!(sorted.rows::<i32>(..)?[..], [2, 7, 1, 5, 1, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sort_by_keys<C: ColumnKey>(&self, keys: &[SortKey<C>]) -> Result<Box<dyn NumericTable>> {
        let table = self.as_table();
        let keys = keys.iter().map(|key| key.in_columns_of(table.dictionary()));
        take::sort_by_columns(table, &keys.collect::<Result<Vec<_>>>()?)
    }

    /// Returns the distinct values of a column and the number of rows with each, as a table of two columns: the values,
    /// with their name, labels and unit, and `count` (`counts` if the column has that name). The most frequent value is
    /// first; equally frequent ones are in ascending order, labels in that of `str`. NaN and missing values are left
    /// out. Cost: O(rows) for up to 8,192 distinct values, else that of `sort_by`.
    ///
    /// Source: pandas `value_counts`.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`]; those of `take_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = Table::from_rows(&[[7.5], [1.5], [7.5], [f64::NAN]])?;
    /// let counts = table.value_counts(0)?;
    /// assert_eq!(counts.column::<f64>(0, ..)?[..], [7.5, 1.5]);
    /// assert_eq!(counts.column_named::<i64>("count", ..)?[..], [2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn value_counts(&self, column: impl ColumnKey) -> Result<SoaNumericTable> {
        distinct::value_counts(self.as_table(), column, false)
    }

    /// Like [`value_counts`](Self::value_counts), with NaN and the missing value among the values, if there are any.
    ///
    /// # Errors
    /// Those of `value_counts`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1), None, Some(3), None])?;
    /// let counts = table.value_counts_with_missing("a")?;
    /// assert_eq!(counts.column_named::<i64>("count", ..)?[..], [2, 1, 1]);
    /// assert!(counts.is_missing(0, 0)?);
    /// # Ok::<(), Error>(())
    /// ```
    fn value_counts_with_missing(&self, column: impl ColumnKey) -> Result<SoaNumericTable> {
        distinct::value_counts(self.as_table(), column, true)
    }

    /// Copies `count` random rows without replacement, in the order of the table (use `shuffle_rows` for a random
    /// order), like `filter_rows`. For a given number of rows, the same seed always selects the same rows, on every
    /// machine and in every version. For sampling with replacement, pass random numbers to `take_rows`. Cost: O(rows +
    /// values of the result).
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`] if the table has fewer rows; those of `filter_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_fn(Shape { rows: 99, columns: 2 }, |row, column| (row + column) as f64)?;
    /// let sample = table.sample_rows(10, 42)?;
    /// assert_eq!(sample.shape(), Shape { rows: 10, columns: 2 });
    /// assert!(sample.column::<u64>(0, ..)?.is_sorted());
    /// assert!(table.sample_rows(100, 42).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    fn sample_rows(&self, count: usize, seed: u64) -> Result<Box<dyn NumericTable>> {
        sample::sample_rows(self.as_table(), count, seed)
    }

    /// Copies all rows in a random order, like `take_rows`. Every order is equally likely. For a given number of rows,
    /// the same seed always gives the same order, on every machine and in every version. Cost: O(values), and memory
    /// for one number per row.
    ///
    /// # Errors
    /// Those of `take_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 10], [2, 20], [3, 30], [4, 40]])?;
    /// let shuffled = table.shuffle_rows(1)?;
    /// assert_eq!(shuffled.column::<u8>(0, ..)?[..], [2, 1, 3, 4]);
    /// assert_eq!(shuffled.column::<u8>(1, ..)?[..], [20, 10, 30, 40]);
    /// # Ok::<(), Error>(())
    /// ```
    fn shuffle_rows(&self, seed: u64) -> Result<Box<dyn NumericTable>> {
        sample::shuffle_rows(self.as_table(), seed)
    }

    /// Splits the rows at random into a training and a test table. Copies the rows, in the order of the table. The
    /// first table has `fraction * rows` rows, rounded to the nearest number, halves up. For a given number of rows,
    /// the same seed always gives the same split, on every machine and in every version. Cost: O(values).
    ///
    /// Source: scikit-learn `train_test_split`, which also shuffles, and rounds the test rows up.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`]; those of `filter_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_fn(Shape { rows: 10, columns: 2 }, |row, column| (row + column) as f64)?;
    /// let (training, test) = table.split_rows(0.75, 42)?;
    /// assert_eq!((training.row_count(), test.row_count()), (8, 2));
    /// assert!(table.split_rows(75.0, 42).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    fn split_rows(&self, fraction: f64, seed: u64) -> Result<(Box<dyn NumericTable>, Box<dyn NumericTable>)> {
        sample::split_rows(self.as_table(), fraction, seed)
    }

    /// Like `split_rows`, but stratified: splits the rows of each value of a column separately, so that each class has
    /// the same fraction in both tables, as nearly as its size allows. The first table has `fraction * n` rows of a
    /// class of `n` rows, rounded to the nearest number, halves up. All NaNs are one class, and all missing values are
    /// another. Cost: O(values).
    ///
    /// Source: scikit-learn `train_test_split(stratify=..)`.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`]; [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`]; those of
    /// `filter_rows`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let species = (0..60_u8).map(|row| u8::from(row >= 40)).collect::<Vec<_>>(); // 40 and 20
    /// let table = SoaNumericTable::from_columns([("species", species)])?;
    /// let (training, test) = table.split_rows_by("species", 0.75, 42)?;
    /// assert_eq!((training.row_count(), test.row_count()), (45, 15));
    /// assert_eq!(test.column::<u32>(0, ..)?.iter().sum::<u32>(), 5);
    /// # Ok::<(), Error>(())
    /// ```
    fn split_rows_by(
        &self,
        column: impl ColumnKey,
        fraction: f64,
        seed: u64,
    ) -> Result<(Box<dyn NumericTable>, Box<dyn NumericTable>)> {
        sample::split_rows_by(self.as_table(), column, fraction, seed)
    }
}

impl<N: AsTable + ?Sized> TableSelection for N {}
