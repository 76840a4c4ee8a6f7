//! Quantile sketches: quantiles of streams, in bounded memory with a known error bound. `levels` handles one column;
//! `adding` adds rows, and `serialized` converts sketches to bytes.

mod adding;
mod serialized;

use super::GROUP_ROWS;
use super::blocks::{TableSource, Work, check_addition, check_names, column_by, take_names, with_rows};
use super::levels::Levels;
use super::options::StatisticsOptions;
use super::quantiles::check_probabilities;
use crate::base::count::{rows_after, same_count};
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::room::filled;
use crate::dictionary::DataDictionary;
use crate::table::{ColumnKey, NumericTable, TableDescription};

/// Quantiles of every column of a stream, or of one or several tables, in bounded memory with a known error bound.
///
/// Keeps some of the values, which stand for the others: `capacity` values (2048 by default) on each of about
/// `log2(rows / capacity)` levels, 8 to 16 bytes each.
///
/// # Error bound
///
/// [`rank_error`](Self::rank_error) is the number `e` of ranks that a quantile of a column can be off, counted while
/// the sketch is built. For the quantile `q` of `n` values, with `r = ceil(q * n)`, the sketch returns a value of the
/// column such that at least `r - e` values are not larger, and at most `r - 1 + e` are smaller. This bound is not an
/// estimate: it holds for all data in any order, however sketches are merged. `e` is at most
/// `n * (log2(n / capacity) + 2) / (2 * capacity)`: 0.27 % of a million values, 0.51 % of a billion, and about half of
/// that with twice the capacity. Quantiles are usually much closer. Up to `capacity - 1` values are exact; the smallest
/// and the largest value always are.
///
/// # Reproducibility and special values
///
/// The same rows in the same calls make the same sketch, bit for bit, with any number of threads, because no random
/// numbers are used. Missing values are left out and counted. NaN values are skipped and counted apart. Infinities are
/// ordinary values; -0 is below 0. Values of types other than `f64` are converted, exactly except for 64-bit integers
/// beyond 2^53. Nothing is interpolated. For exact quantiles of tables in memory, use
/// [`Quantiles`](crate::statistics::Quantiles).
///
/// As a [`Partial`](crate::Partial) result, it can be merged, sent between processes and stored as bytes. It can be
/// serialized with serde.
///
/// Source: Manku, Rajagopalan, Lindsay 1998, and a deterministic variant of Karnin, Lang, Liberty 2016 (KLL).
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::QuantileSketch};
/// let mut sketch = QuantileSketch::new(2)?;
/// for block in 0..100 {
///     let rows: Vec<f32> = (0..2000).map(|value| (block * 2000 + value) as f32).collect();
///     sketch.update_values(&rows)?; // 1000 rows
/// }
/// let (median, error) = (sketch.quantile(0, 0.5)?, sketch.rank_error(0)?);
/// assert!(error < 500); // ranks out of 100,000
/// assert!((median / 2.0 - 50_000.0).abs() <= error as f64 + 1.0);
/// assert_eq!(sketch.quantiles(1, &[0.0, 1.0])?, [1.0, 199_999.0]); // the smallest and the largest
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QuantileSketch {
    capacity: usize,
    columns: Vec<Levels>,
    rows: u64,
    /// The names of the columns.
    dictionary: Option<DataDictionary>,
}

impl QuantileSketch {
    /// The default capacity: 2048 values on each level.
    pub const CAPACITY: usize = 2048;

    /// Creates an empty sketch for the given number of columns.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::QuantileSketch;
    /// let sketch = QuantileSketch::new(2)?;
    /// assert_eq!((sketch.row_count(), sketch.column_count()), (0, 2));
    /// assert!(sketch.quantile(1, 0.5)?.is_nan());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize) -> Result<Self> {
        Self::with_capacity(columns, Self::CAPACITY)
    }

    /// Creates an empty sketch for the given number of columns that keeps `capacity` values on each level. Twice the
    /// capacity halves the error. The capacity is made even and at least 2.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::QuantileSketch;
    /// let values: Vec<f64> = (0..100_000).map(f64::from).collect();
    /// let error_of = |capacity| {
    ///     let mut sketch = QuantileSketch::with_capacity(1, capacity)?;
    ///     sketch.update_values(&values)?;
    ///     sketch.rank_error(0)
    /// };
    /// assert!(error_of(1 << 8)? > 4 * error_of(1 << 11)?);
    /// assert_eq!(error_of(1 << 17)?, 0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn with_capacity(columns: usize, capacity: usize) -> Result<Self> {
        let capacity = capacity.max(2).checked_next_multiple_of(2).unwrap_or(usize::MAX - 1);
        Ok(Self { capacity, columns: filled(columns, Levels::new(capacity))?, rows: 0, dictionary: None })
    }

    /// Computes a sketch of a table of any kind.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 30], [2, 10], [3, 20]])?;
    /// assert_eq!(QuantileSketch::compute(&table)?.quantile(1, 0.5)?, 20.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute(table: &dyn NumericTable) -> Result<Self> {
        Self::compute_with(table, StatisticsOptions::new())
    }

    /// Computes a sketch of a table of any kind, with a callback for progress.
    ///
    /// # Errors
    /// The errors of [`compute`](Self::compute).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{QuantileSketch, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 30], [2, 10], [3, 20]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| eprintln!("{} bytes", progress.done));
    /// assert_eq!(QuantileSketch::compute_with(&table, options)?.quantile(0, 1.0)?, 3.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute_with(table: &dyn NumericTable, options: StatisticsOptions) -> Result<Self> {
        let mut all = Self::new(table.column_count())?;
        all.update_with(table, options)?;
        Ok(all)
    }

    /// Adds the rows of a table of any kind.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the numbers of columns differ; [`ErrorKind::UnequalTables`];
    /// [`ErrorKind::LimitExceeded`]; the errors of [`compute`](Self::compute). On error, nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{QuantileSketch, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 30], [2, 10], [3, 20]])?;
    /// let mut sketch = QuantileSketch::with_capacity(2, 10_000)?;
    /// sketch.update_with(&table, StatisticsOptions::new())?;
    /// assert_eq!(sketch.quantile(1, 0.9)?, 30.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn update_with(&mut self, table: &dyn NumericTable, options: StatisticsOptions) -> Result<()> {
        check_names(self.dictionary.as_ref(), table)?;
        let source = TableSource(table);
        self.add_work(&Work::on_columns(self.columns.len(), table, &source, &options)?)?;
        take_names(&mut self.dictionary, table, self.columns.len());
        Ok(())
    }

    /// Adds rows, given as a row block or any other slice of complete, contiguous rows. Also cheap for few rows.
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`]; [`ErrorKind::LimitExceeded`]; [`ErrorKind::OutOfMemory`].
    /// On error, nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::QuantileSketch;
    /// let mut sketch = QuantileSketch::new(2)?;
    /// sketch.update_values(&[1_i16, 7, 3, 9])?; // two rows
    /// sketch.update_values(&[2.5, f64::NAN])?;
    /// assert_eq!((sketch.quantile(0, 0.5)?, sketch.nan_count(1)?), (2.5, 1));
    /// assert!(sketch.update_values(&[1]).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn update_values<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        with_rows(rows, self.columns.len(), |work| match work.shape.rows <= GROUP_ROWS {
            true => self.add_few(work),
            false => self.add_work(work),
        })
    }

    /// Merges the sketch of other tables into this one.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the numbers of columns differ; [`ErrorKind::NotCombinable`] if the capacities
    /// differ; [`ErrorKind::UnequalTables`] if the names of both are known and their order differs;
    /// [`ErrorKind::LimitExceeded`] if the tables together have 2^64 rows or more; [`ErrorKind::OutOfMemory`]. On
    /// error, nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, ErrorKind, statistics::QuantileSketch};
    /// let (mut all, mut other) = (QuantileSketch::new(1)?, QuantileSketch::new(1)?);
    /// all.update_values(&[1.0, 6.0])?;
    /// other.update_values(&[3_u8])?;
    /// all.merge(&other)?;
    /// assert_eq!((all.row_count(), all.quantile(0, 0.5)?), (3, 3.0));
    /// let finer = QuantileSketch::with_capacity(1, 10_000)?;
    /// assert!(matches!(all.merge(&finer).unwrap_err().kind(), ErrorKind::NotCombinable { .. }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same_count(self.columns.len(), other.columns.len())?;
        if self.capacity != other.capacity {
            return Err(Error::not_combinable(format!(
                "cannot merge a sketch of capacity {} into a sketch of capacity {}",
                other.capacity, self.capacity
            )));
        }
        check_addition(self.dictionary.as_ref(), other.dictionary.as_ref())?;
        let rows = rows_after(self.rows, other.rows)?;
        let mut columns = filled(self.columns.len(), Levels::new(self.capacity))?;
        for (column, (mine, theirs)) in columns.iter_mut().zip(self.columns.iter().zip(&other.columns)) {
            *column = mine.merged(theirs)?;
        }
        (self.columns, self.rows) = (columns, rows);
        if self.dictionary.is_none() {
            self.dictionary.clone_from(&other.dictionary);
        }
        Ok(())
    }

    /// Returns the approximate quantile `quantile` of one column: see [error bound](Self#error-bound). NaN without
    /// values.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`]; [`ErrorKind::ParameterOutOfRange`] if `quantile` is
    /// not between 0 and 1.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// let sketch = QuantileSketch::compute(&HomogenNumericTable::from_rows(&[[3.0], [1.0], [2.0], [5.0]])?)?;
    /// assert_eq!((sketch.quantile(0, 0.5)?, sketch.quantile(0, 0.75)?), (2.0, 3.0));
    /// assert!(sketch.quantile(0, 75.0).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn quantile(&self, column: impl ColumnKey, quantile: f64) -> Result<f64> {
        Ok(self.quantiles(column, &[quantile])?[0])
    }

    /// Returns several quantiles of one column, at the cost of one.
    ///
    /// # Errors
    /// The errors of [`quantile`](Self::quantile).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// let sketch = QuantileSketch::compute(&HomogenNumericTable::from_rows(&[[3.0], [1.0], [2.0], [5.0]])?)?;
    /// assert_eq!(sketch.quantiles(0, &[0.25, 0.5, 1.0])?, [1.0, 2.0, 5.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn quantiles(&self, column: impl ColumnKey, quantiles: &[f64]) -> Result<Vec<f64>> {
        check_probabilities(quantiles)?;
        Ok(self.of_column(column)?.quantiles(quantiles))
    }

    /// Returns the approximate number of values of a column that are not above `value`. The error is at most
    /// [`rank_error`](Self::rank_error) in either direction. NaN is above all values, and -0.0 is below 0.0.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// let sketch = QuantileSketch::compute(&HomogenNumericTable::from_rows(&[[3.0], [1.0], [2.0], [5.0]])?)?;
    /// assert_eq!((sketch.rank(0, 3.0)?, sketch.rank(0, 0.5)?), (3, 0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn rank(&self, column: impl ColumnKey, value: f64) -> Result<u64> {
        let column = self.of_column(column)?;
        Ok(if value.is_nan() { column.count } else { column.rank(value) })
    }

    /// Returns the number of ranks that the quantiles of a column can be off: see [error bound](Self#error-bound).
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// let sketch = QuantileSketch::compute(&HomogenNumericTable::from_rows(&[[3.0], [1.0], [2.0], [5.0]])?)?;
    /// assert_eq!(sketch.rank_error(0)?, 0); // a few values are kept exactly
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn rank_error(&self, column: impl ColumnKey) -> Result<u64> {
        Ok(self.of_column(column)?.rank_error())
    }

    /// Returns the exact smallest and largest value of a column; `None` without values.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// let sketch = QuantileSketch::compute(&HomogenNumericTable::from_rows(&[[3.0], [1.0], [2.0], [5.0]])?)?;
    /// assert_eq!(sketch.extremes(0)?, Some((1.0, 5.0)));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn extremes(&self, column: impl ColumnKey) -> Result<Option<(f64, f64)>> {
        Ok(self.of_column(column)?.extremes())
    }

    /// Returns the number of values of a column that are neither missing nor NaN.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// let sketch = QuantileSketch::compute(&HomogenNumericTable::from_rows(&[[3.0], [f64::NAN], [2.0]])?)?;
    /// assert_eq!(sketch.count(0)?, 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn count(&self, column: impl ColumnKey) -> Result<u64> {
        Ok(self.of_column(column)?.count)
    }

    /// Returns the number of NaN values of a column, which are skipped.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// let sketch = QuantileSketch::compute(&HomogenNumericTable::from_rows(&[[3.0], [f64::NAN], [2.0]])?)?;
    /// assert_eq!(sketch.nan_count(0)?, 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nan_count(&self, column: impl ColumnKey) -> Result<u64> {
        Ok(self.of_column(column)?.nan)
    }

    /// Returns the number of missing values of a column, which are left out. NaN is not missing.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*, statistics::QuantileSketch};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(3), None, Some(2)])?;
    /// let sketch = QuantileSketch::compute(&table)?;
    /// assert_eq!((sketch.count("a")?, sketch.missing_count("a")?), (2, 1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_count(&self, column: impl ColumnKey) -> Result<u64> {
        Ok(self.of_column(column)?.missing)
    }

    /// Returns whether values were missing.
    pub(super) fn has_missing(&self) -> bool {
        self.columns.iter().any(|column| column.missing > 0)
    }

    /// Returns the description of the columns, if the tables had one: their names, labels and units.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 0], [3, 1]])?;
    /// table.set_names(["length", "width"])?;
    /// let found = QuantileSketch::compute(&table)?;
    /// assert_eq!(found.dictionary().and_then(|columns| columns.index_of("width")), Some(1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn dictionary(&self) -> Option<&DataDictionary> {
        self.dictionary.as_ref()
    }

    /// Returns the number of rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// assert_eq!(QuantileSketch::compute(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// Returns the number of columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::QuantileSketch};
    /// assert_eq!(QuantileSketch::compute(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.column_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    fn of_column(&self, column: impl ColumnKey) -> Result<&Levels> {
        Ok(&self.columns[column_by(column, self.dictionary.as_ref(), self.columns.len())?])
    }

    /// Returns an empty sketch with the same parameters.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn without_rows(&self) -> Result<Self> {
        Self::with_capacity(self.columns.len(), self.capacity)
    }

    /// Returns the approximate number of bytes of the sketch for many rows: about a dozen levels.
    pub(super) fn size_of_levels(&self) -> usize {
        self.capacity.saturating_mul(12 * size_of::<i64>()).saturating_mul(self.columns.len())
    }
}
