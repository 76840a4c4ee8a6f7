//! Histograms of columns: the number of values in each bin.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::GROUP_ROWS;
use super::bins::HistogramBins;
use super::block::BLOCK_ROWS;
use super::blocks::{TableSource, Work, check_addition, check_names, column_by, fits, take_names, with_rows};
use super::counts::{ColumnHistogram, Columns};
use super::options::StatisticsOptions;
use crate::base::count::{rows_after, same_count};
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::base::range::cut;
use crate::base::room::with_room;
use crate::dictionary::DataDictionary;
use crate::table::{ColumnKey, NumericTable, Region, TableDescription};

/// Number of columns of a row-major table that are counted together.
const PANEL: usize = 32;
/// Approximate number of counts that wait to be merged.
const HELD_COUNTS: usize = 1 << 20;

/// Histograms of every column of one or several tables.
///
/// Counts the values in each bin, below all bins and above all bins, NaN, and missing values, so every row is counted.
/// The caller chooses the bins, the same for all columns or different for each, because the range of a stream is not
/// known in advance. Reads the table once, on several threads if that is faster; counts do not depend on the number of
/// threads. Values of types other than `f64` are converted, exactly except for 64-bit integers beyond 2^53.
///
/// As a [`Partial`](crate::Partial) result, it can be merged, sent between processes and stored as bytes. It can be
/// serialized with serde. The names of the table's columns are kept.
///
/// Source: NumPy `histogram`, which drops values outside of the bins.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
/// let table = HomogenNumericTable::from_rows(&[[0.5, 7.0], [1.0, -1.0], [2.0, 2.5], [f64::NAN, 1.0]])?;
/// let histogram = Histogram::compute(&table, &HistogramBins::uniform(0.0, 2.0, 2)?)?;
/// assert_eq!(histogram.column(0)?.counts(), [1, 2]); // the last bin includes its upper edge
/// assert_eq!(histogram.column(0)?.nan_count(), 1);
/// let second = histogram.column(1)?;
/// assert_eq!((second.below(), second.counts(), second.above()), (1, &[0, 1][..], 2));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    columns: Vec<ColumnHistogram>,
    rows: u64,
    /// The names of the columns, if the tables had names.
    dictionary: Option<DataDictionary>,
}

impl Histogram {
    /// Creates empty histograms for the given number of columns, all with the same bins.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::{Histogram, HistogramBins};
    /// let histogram = Histogram::new(2, &HistogramBins::uniform(0.0, 1.0, 4)?)?;
    /// assert_eq!((histogram.row_count(), histogram.column(1)?.counts()), (0, &[0; 4][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize, bins: &HistogramBins) -> Result<Self> {
        let bins = Arc::new(bins.clone());
        let mut all = with_room(columns)?;
        for _ in 0..columns {
            all.push(ColumnHistogram::new(&bins)?);
        }
        Ok(Self { columns: all, rows: 0, dictionary: None })
    }

    /// Creates empty histograms, with separate bins for each column.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::{Histogram, HistogramBins};
    /// let bins = [HistogramBins::uniform(0.0, 1.0, 4)?, HistogramBins::with_edges([0.0, 10.0, 1000.0])?];
    /// let mut histogram = Histogram::with_bins(bins)?;
    /// histogram.update_values(&[0.3, 20.0, 0.9, 5.0])?; // two rows
    /// assert_eq!(histogram.column(0)?.counts(), [0, 1, 0, 1]);
    /// assert_eq!(histogram.column(1)?.counts(), [1, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn with_bins(bins: impl IntoIterator<Item = HistogramBins>) -> Result<Self> {
        let columns = bins.into_iter().map(|bins| ColumnHistogram::new(&Arc::new(bins)));
        Ok(Self { columns: columns.collect::<Result<_>>()?, rows: 0, dictionary: None })
    }

    /// Computes the histograms of a table of any kind, all with the same bins. For different bins, use
    /// [`with_bins`](Self::with_bins) and [`update_with`](Self::update_with).
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9]])?;
    /// let histogram = Histogram::compute(&table, &HistogramBins::uniform(0.0, 10.0, 5)?)?;
    /// assert_eq!(histogram.column(1)?.counts(), [0, 0, 0, 1, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute(table: &dyn NumericTable, bins: &HistogramBins) -> Result<Self> {
        Self::compute_with(table, bins, StatisticsOptions::new())
    }

    /// Computes the histograms of a table of any kind, with a callback for progress.
    ///
    /// # Errors
    /// The errors of [`compute`](Self::compute).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| eprintln!("{} bytes", progress.done));
    /// let histogram = Histogram::compute_with(&table, &HistogramBins::uniform(0.0, 10.0, 5)?, options)?;
    /// assert_eq!(histogram.column(0)?.counts(), [1, 1, 0, 0, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute_with(table: &dyn NumericTable, bins: &HistogramBins, options: StatisticsOptions) -> Result<Self> {
        let mut all = Self::new(table.column_count(), bins)?;
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
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 90]])?;
    /// let bins = [10.0, 100.0].map(|upper| HistogramBins::uniform(0.0, upper, 2));
    /// let mut histogram = Histogram::with_bins(bins.into_iter().collect::<Result<Vec<_>, _>>()?)?;
    /// histogram.update_with(&table, StatisticsOptions::new())?;
    /// assert_eq!((histogram.column(0)?.counts(), histogram.column(1)?.counts()), (&[2, 0][..], &[1, 1][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn update_with(&mut self, table: &dyn NumericTable, options: StatisticsOptions) -> Result<()> {
        check_names(self.dictionary.as_ref(), table)?;
        let source = TableSource(table);
        self.add_work(&Work::on_columns(self.columns.len(), table, &source, &options)?)?;
        take_names(&mut self.dictionary, table, self.columns.len());
        Ok(())
    }

    /// Adds rows, given as a row block or any other slice of complete, contiguous rows.
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`]; [`ErrorKind::LimitExceeded`]; [`ErrorKind::OutOfMemory`].
    /// On error, nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::{Histogram, HistogramBins};
    /// let mut histogram = Histogram::new(2, &HistogramBins::uniform(0.0, 10.0, 2)?)?;
    /// histogram.update_values(&[1_i16, 7, 3, 9])?; // two rows
    /// assert_eq!(histogram.column(1)?.counts(), [0, 2]);
    /// assert!(histogram.update_values(&[1]).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn update_values<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        with_rows(rows, self.columns.len(), |work| self.add_work(work))
    }

    /// Merges the counts of other tables into these.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the numbers of columns differ; [`ErrorKind::NotCombinable`] if bins differ;
    /// [`ErrorKind::UnequalTables`] if the names of both are known and their order differs;
    /// [`ErrorKind::LimitExceeded`] if the tables together have 2^64 rows or more. On error, nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, ErrorKind, statistics::{Histogram, HistogramBins}};
    /// let mut all = Histogram::new(1, &HistogramBins::uniform(0.0, 10.0, 2)?)?;
    /// let mut other = all.clone();
    /// all.update_values(&[1.0, 6.0])?;
    /// other.update_values(&[7_u8])?;
    /// all.merge(&other)?;
    /// assert_eq!((all.row_count(), all.column(0)?.counts()), (3, &[1, 2][..]));
    /// let finer = Histogram::new(1, &HistogramBins::uniform(0.0, 10.0, 4)?)?;
    /// assert!(matches!(all.merge(&finer).unwrap_err().kind(), ErrorKind::NotCombinable { .. }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same_count(self.columns.len(), other.columns.len())?;
        let mut pairs = self.columns.iter().zip(&other.columns);
        if let Some(column) = pairs.position(|(mine, theirs)| mine.bins.edges() != theirs.bins.edges()) {
            return Err(Error::not_combinable(format!("the bin edges of column {column} differ")));
        }
        check_addition(self.dictionary.as_ref(), other.dictionary.as_ref())?;
        self.rows = rows_after(self.rows, other.rows)?;
        self.add(0, &other.columns);
        if self.dictionary.is_none() {
            self.dictionary.clone_from(&other.dictionary);
        }
        Ok(())
    }

    /// Returns the description of the columns, if the tables had names: their names.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 0], [3, 1]])?;
    /// table.set_names(["length", "width"])?;
    /// let found = Histogram::compute(&table, &HistogramBins::uniform(0.0, 4.0, 2)?)?;
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
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(Histogram::compute(&table, &HistogramBins::uniform(0.0, 1.0, 1)?)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// Returns the histogram of every column.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// let histogram = Histogram::compute(&table, &HistogramBins::uniform(0.0, 4.0, 1)?)?;
    /// assert_eq!(histogram.per_column().iter().map(|column| column.counts()[0]).collect::<Vec<_>>(), [2, 2]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn per_column(&self) -> &[ColumnHistogram] {
        &self.columns
    }

    /// Returns the histogram of one column, given by its index or its name.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Histogram, HistogramBins}};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// let histogram = Histogram::compute(&table, &HistogramBins::uniform(0.0, 4.0, 2)?)?;
    /// assert_eq!(histogram.column(1)?.counts(), [0, 2]);
    /// assert!(histogram.column(2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column(&self, column: impl ColumnKey) -> Result<&ColumnHistogram> {
        Ok(&self.columns[column_by(column, self.dictionary.as_ref(), self.columns.len())?])
    }

    /// Adds the counts of columns, starting with column `start`. Counts do not overflow because the number of rows does
    /// not.
    fn add(&mut self, start: usize, columns: &[ColumnHistogram]) {
        self.columns[start..].iter_mut().zip(columns).for_each(|(mine, theirs)| mine.add(theirs));
    }

    fn add_work(&mut self, work: &Work<'_>) -> Result<()> {
        let rows = rows_after(self.rows, work.shape.rows as u64)?;
        if !work.shape.is_empty() {
            let found = work.by_column(|part| {
                let mut columns = self.count(part)?;
                columns.iter_mut().for_each(|column| column.missing = part.missing);
                Ok(columns)
            })?;
            self.add(0, &found);
        }
        self.rows = rows;
        Ok(())
    }

    /// Adds the rows of a table. Few rows are added directly to the counts, so that many bins are not merged for each
    /// block of rows.
    ///
    /// # Errors
    /// The errors of [`update_with`](Self::update_with).
    pub(super) fn add_block(&mut self, table: &dyn NumericTable) -> Result<()> {
        check_names(self.dictionary.as_ref(), table)?;
        let (source, options) = (TableSource(table), StatisticsOptions::new());
        let work = Work::on_columns(self.columns.len(), table, &source, &options)?;
        match work.shape.is_empty() || work.has_missing() || !work.are_few() {
            true => self.add_work(&work),
            false => self.add_few(&work),
        }?;
        take_names(&mut self.dictionary, table, self.columns.len());
        Ok(())
    }

    /// Adds a few rows without missing values.
    fn add_few(&mut self, work: &Work<'_>) -> Result<()> {
        let rows = rows_after(self.rows, work.shape.rows as u64)?;
        let columns = self.columns.len();
        for values in work.read_all(&mut Vec::new())?.chunks(columns.saturating_mul(BLOCK_ROWS)) {
            for (column, histogram) in self.columns.iter_mut().enumerate() {
                histogram.count(values[column..].iter().step_by(columns).copied());
            }
        }
        self.rows = rows;
        Ok(())
    }

    /// Returns empty histograms with the same bins.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn without_rows(&self) -> Result<Self> {
        self.without_rows_of(0..self.columns.len())
    }

    /// Counts rows group by group.
    fn count(&self, work: &Work<'_>) -> Result<Vec<ColumnHistogram>> {
        let (shape, first) = (work.shape, work.first);
        let mut all = self.without_rows_of(first..first + shape.columns)?;
        if shape.is_empty() {
            return Ok(all.columns);
        }
        let panels = || cut(0..shape.columns, PANEL);
        let pieces = cut(0..shape.rows, GROUP_ROWS).flat_map(|rows| panels().map(move |panel| (rows.clone(), panel)));
        let bytes = shape.element_count()?.saturating_mul(2 * size_of::<f64>());
        let counts: usize = all.columns.iter().map(|column| column.counts().len().saturating_add(4)).sum();
        let at_once = (HELD_COUNTS / counts).max(1) * panels().count();
        let group = |(rows, columns): (Range<usize>, Range<usize>)| {
            let mut found = self.without_rows_of(first + columns.start..first + columns.end)?;
            let mut buffer = Vec::new();
            for rows in cut(rows.clone(), BLOCK_ROWS) {
                let region = Region { rows, columns: columns.clone() };
                let values = work.source.read(&region, &mut buffer)?;
                for (column, histogram) in found.columns.iter_mut().enumerate() {
                    histogram.count(values[column..].iter().step_by(columns.len()).copied());
                }
            }
            work.done(rows.len(), columns.clone());
            Ok((columns.start, found))
        };
        in_order(pieces, bytes, at_once, group, |(start, found): (usize, Self)| {
            all.add(start, &found.columns);
            Ok(())
        })?;
        Ok(all.columns)
    }

    /// Creates empty histograms with the bins of some of these columns.
    fn without_rows_of(&self, columns: Range<usize>) -> Result<Self> {
        let mut all = with_room(columns.len())?;
        for column in &self.columns[columns] {
            all.push(ColumnHistogram::new(&column.bins)?);
        }
        Ok(Self { columns: all, rows: 0, dictionary: None })
    }
}

/// The serialized form of histograms.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Histogram", deny_unknown_fields)]
struct Parts<'a> {
    rows: u64,
    columns: Columns<'a>,
    dictionary: Option<DataDictionary>,
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let columns = Columns(Cow::Borrowed(&self.columns));
        Parts { rows: self.rows, columns, dictionary: self.dictionary.clone() }.serialize(serializer)
    }
}

/// Refuses counts that no table can have.
impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Parts { rows, columns, dictionary } = Parts::deserialize(deserializer)?;
        let columns = columns.0.into_owned();
        fits(dictionary.as_ref(), columns.len()).map_err(de::Error::custom)?;
        match columns.iter().all(|column| column.value_count() == Some(rows)) {
            true => Ok(Self { columns, rows, dictionary }),
            false => Err(de::Error::custom(format_args!("a column does not have one value in each of {rows} rows"))),
        }
    }
}
