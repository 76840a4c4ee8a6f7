//! Mergeable statistics of a table's columns, computed in one parallel pass over blocks of rows.
//!
//! [`BasicStatistics`] is in this file. Its parts: `moments` divides a table into blocks of rows; `block` computes the
//! statistics of one block; `column` holds and merges the statistics of one column; `double` is the number type of the
//! sums; `sparse` handles sparse tables, whose zeros are counted without being read; `stream` handles table files
//! without loading them. [`Covariance`] (`covariance`) and [`GramMatrix`] (`gram`) share `named_products` and the loops
//! of `product`. [`Quantiles`] is in `quantiles` and `brackets`, [`QuantileSketch`] in `sketch` and `levels`,
//! [`Histogram`] in `histogram`, `counts` and `bins`, and [`GroupStatistics`] in `group`. All except `Quantiles` are
//! [`Partial`](crate::Partial) results, most of them implemented in `partial`. `blocks` divides a table into groups of
//! rows and merges their results in order; `present` reads tables with missing values as if only the present ones
//! existed. `options` holds the options.
//!
//! Semantics: DAAL `low_order_moments`, `covariance`, `quantiles`; oneDAL `basic_statistics`; NumPy.

mod bins;
mod block;
mod blocks;
mod brackets;
mod column;
mod counts;
mod covariance;
mod double;
mod gram;
pub(crate) mod group;
mod histogram;
mod levels;
mod moments;
mod named_products;
mod options;
mod partial;
mod present;
mod product;
mod quantiles;
mod sketch;
mod sparse;
mod stream;
mod strips;
mod tiles;

pub use bins::HistogramBins;
pub use column::ColumnStatistics;
pub use counts::ColumnHistogram;
pub use covariance::Covariance;
pub use gram::GramMatrix;
pub use group::{GroupStatistics, MissingCategories};
pub use histogram::Histogram;
pub use options::StatisticsOptions;
pub use quantiles::{QuantileMethod, Quantiles};
pub use sketch::QuantileSketch;

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::base::count::{rows_after, same_count};
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::dictionary::DataDictionary;
use crate::display::{Grid, cut_rows, name_of};
use crate::serde::numbers::List;
#[cfg(doc)]
use crate::table::csr::CsrNumericTable;
use crate::table::{ColumnKey, DataLayout, NumericTable};
use blocks::{TableSource, Work, check_addition, column_by, dictionary_of, fits, with_rows};
use moments::{GROUP_ROWS, PANEL, compute, empty, sparse_of};

/// Minimum, maximum, sum, mean, variance and more of every column of one or several tables, in `f64`.
///
/// Reads the table once, in parallel from 4 MiB on, with memory for one block per thread. In a [`CsrNumericTable`],
/// only the stored values are read, and the zeros are counted. Values of types other than `f64` are converted, exactly
/// except for 64-bit integers beyond 2^53. Means and deviations are accurate to the last digits, even where deviations
/// are small compared to the values; they are tested against the certified values from NIST. Results do not depend on
/// the number of threads, the machine or the layout. Missing values are left out and counted: results are the same bits
/// as those of the present values alone. See [`ColumnStatistics`] for NaN, infinities and cancellation.
///
/// [`compute_file`](Self::compute_file) computes the statistics of a table file without loading it. Statistics are a
/// [`Partial`](crate::Partial) result: they can be merged, sent between processes, and stored as bytes or with serde.
///
/// Source: DAAL `low_order_moments`, oneDAL `basic_statistics`.
///
/// # Debug builds
///
/// The loops are compiled with the profile of the program. In Cargo's `dev` profile they are about 28 times slower than
/// in `release`. Add these lines to the program's `Cargo.toml` to optimize this crate in debug and test builds:
/// ```toml
/// [profile.dev.package.numeric-table]
/// opt-level = 3
/// ```
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::BasicStatistics};
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 10], [2, 20], [3, 60]])?;
/// let statistics = BasicStatistics::compute(&table)?;
/// assert_eq!(statistics.per_column().iter().map(|column| column.mean()).collect::<Vec<_>>(), [2.0, 30.0]);
///
/// // Several tables: merge partial results.
/// let mut all = BasicStatistics::compute(&table.slice_rows(0..1)?)?;
/// all.merge(&BasicStatistics::compute(&table.slice_rows(1..3)?)?)?;
/// assert_eq!(all.column(1)?.variance(), statistics.column(1)?.variance());
/// # Ok::<(), numeric_table::Error>(())
/// ```
///
/// `Display` prints the statistics as a table:
/// ```
/// # use numeric_table::{prelude::*, statistics::BasicStatistics};
/// let mut table = HomogenNumericTable::from_rows(&[[1.5, 10.0], [2.0, f64::NAN], [4.0, 60.0]])?;
/// let names = ["size", "weight"].map(|name| Feature::new(ElementType::F64).named(name));
/// table.set_dictionary(DataDictionary::from_features(names))?;
/// assert_eq!(BasicStatistics::compute(&table)?.to_string(), "
///         count  NaN  inf  minimum  maximum  mean  standard deviation
/// size        3    0    0      1.5      4.0   2.5              1.3229
/// weight      2    1    0     10.0     60.0  35.0             35.3553
/// ".trim_matches('\n'));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BasicStatistics {
    columns: Vec<ColumnStatistics>,
    rows: u64,
    /// The names of the columns.
    dictionary: Option<DataDictionary>,
}

impl BasicStatistics {
    /// Creates empty statistics for the given number of columns.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::BasicStatistics;
    /// let statistics = BasicStatistics::new(2)?;
    /// assert_eq!((statistics.row_count(), statistics.column(1)?.count()), (0, 0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize) -> Result<Self> {
        Ok(Self { columns: empty(columns)?, rows: 0, dictionary: None })
    }

    /// Computes the statistics of a table of any kind.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9]])?);
    /// assert_eq!(BasicStatistics::compute(&*table)?.column(1)?.mean(), 8.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute(table: &dyn NumericTable) -> Result<Self> {
        Self::compute_with(table, StatisticsOptions::new())
    }

    /// Computes the statistics of a table of any kind, with a callback for progress.
    ///
    /// # Errors
    /// The errors of [`compute`](Self::compute).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{BasicStatistics, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| eprintln!("{} bytes", progress.done));
    /// assert_eq!(BasicStatistics::compute_with(&table, options)?.column(1)?.mean(), 8.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute_with(table: &dyn NumericTable, options: StatisticsOptions) -> Result<Self> {
        let panel = match table.data_layout() {
            DataLayout::RowMajor => PANEL,
            DataLayout::ColumnMajor => 1, // values of a column are contiguous
        };
        let source = TableSource(table);
        let work = Work::on_table(table, &source, &options)?;
        let columns = match sparse_of(table) {
            Some(sparse) => sparse::compute(sparse, &work)?,
            None => work.by_column(|part| {
                let mut columns = compute(if part.missing > 0 { 1 } else { panel }, part)?;
                columns.iter_mut().for_each(|column| column.missing = part.missing);
                Ok(columns)
            })?,
        };
        Ok(Self { columns, rows: work.shape.rows as u64, dictionary: dictionary_of(table, work.shape.columns) })
    }

    /// Adds rows, given as a row block or any other slice of complete, contiguous rows. The last digits of the results
    /// may depend on the number of rows per call.
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`]; [`ErrorKind::LimitExceeded`]; [`ErrorKind::OutOfMemory`]. On error, nothing is
    /// added.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::TableReader, prelude::*, statistics::BasicStatistics};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let reader = TableReader::open(&path)?; // `compute_file` is shorter if you need the blocks for nothing else
    /// let mut statistics = BasicStatistics::new(reader.shape().columns)?;
    /// let mut blocks = reader.row_blocks::<i16>(2)?;
    /// while let Some(block) = blocks.next_block()? {
    ///     statistics.update_values(&block)?;
    /// }
    /// assert_eq!((statistics.row_count(), statistics.column(0)?.mean()), (3, 3.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update_values<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        let found = with_rows(rows, self.columns.len(), |work| {
            Ok((compute(PANEL, work)?, rows_after(self.rows, work.shape.rows as u64)?))
        })?;
        self.add(&found.0, found.1);
        Ok(())
    }

    /// Number of words that devices write for a column.
    #[doc(hidden)] // for the crates of this workspace, as the module `internal`
    pub const WORDS: usize = column::MOMENTS;

    /// Returns the statistics as the words that devices write, with sums of the values or of the values times 2^-600.
    #[doc(hidden)] // as `WORDS`
    pub fn to_words(&self, is_scaled: bool) -> impl Iterator<Item = u64> + '_ {
        self.columns.iter().flat_map(move |&column| column.to_words(i32::from(is_scaled)))
    }

    /// Returns the statistics of `rows` rows from such words; `None` if the words do not describe that number of rows.
    #[doc(hidden)] // as `WORDS`
    #[must_use]
    pub fn from_words(plain: &[u64], scaled: &[u64], rows: u64) -> Option<Self> {
        let ((plain, _), (scaled, _)) = (plain.as_chunks(), scaled.as_chunks());
        let columns = plain.iter().zip(scaled).map(|(plain, scaled)| ColumnStatistics::from_words(plain, scaled, rows));
        Some(Self { columns: columns.collect::<Option<_>>()?, rows, dictionary: None })
    }

    /// Merges the statistics of other tables into these.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the numbers of columns differ; [`ErrorKind::UnequalTables`] if the columns of
    /// both are known and differ; [`ErrorKind::LimitExceeded`] if the tables together have 2^64 rows or more. On error,
    /// nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let mut all = BasicStatistics::compute(&HomogenNumericTable::from_rows(&[[1_u8], [2]])?)?;
    /// all.merge(&BasicStatistics::compute(&HomogenNumericTable::from_rows(&[[0.5_f64]])?)?)?;
    /// assert_eq!((all.row_count(), all.column(0)?.minimum(), all.column(0)?.sum()), (3, 0.5, 3.5));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same_count(self.columns.len(), other.columns.len())?;
        check_addition(self.dictionary.as_ref(), other.dictionary.as_ref())?;
        self.add(&other.columns, rows_after(self.rows, other.rows)?);
        if self.dictionary.is_none() {
            self.dictionary.clone_from(&other.dictionary);
        }
        Ok(())
    }

    /// Sets whether columns that contain NaN report NaN for everything except counts, like NumPy's functions. By
    /// default, NaN is ignored.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1.0, 1.0], [f64::NAN, 3.0]])?;
    /// let statistics = BasicStatistics::compute(&table)?.propagate_nan(true);
    /// assert!(statistics.column(0)?.mean().is_nan());
    /// assert_eq!(statistics.column(1)?.mean(), 2.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn propagate_nan(mut self, propagates: bool) -> Self {
        self.columns.iter_mut().for_each(|column| column.propagates_nan = propagates);
        self
    }

    /// Returns the description of the columns, if the tables had one: their names, labels and units.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 0], [3, 1]])?;
    /// table.set_names(["length", "width"])?;
    /// let found = BasicStatistics::compute(&table)?;
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
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(BasicStatistics::compute(&table)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// Returns the statistics of every column.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// let maxima: Vec<f64> = BasicStatistics::compute(&table)?.per_column().iter().map(|column| column.maximum()).collect();
    /// assert_eq!(maxima, [5.0, 6.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn per_column(&self) -> &[ColumnStatistics] {
        &self.columns
    }

    /// Returns the statistics of one column, by number or name.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`]; [`ErrorKind::UnknownName`], also if the rows were added without column names.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// let names = ["length", "width"].map(|name| Feature::new(ElementType::I32).named(name));
    /// let table = Table::from_rows(&[[1, 2], [3, 4], [5, 6]])?.with_dictionary(names.into_iter().collect())?;
    /// let statistics = BasicStatistics::compute(&table)?;
    /// assert_eq!((statistics.column(1)?.sum(), statistics.column("length")?.sum()), (12.0, 9.0));
    /// assert!(matches!(statistics.column("height").unwrap_err().kind(), ErrorKind::UnknownName { .. }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn column(&self, column: impl ColumnKey) -> Result<&ColumnStatistics> {
        Ok(&self.columns[column_by(column, self.dictionary.as_ref(), self.columns.len())?])
    }

    fn add(&mut self, columns: &[ColumnStatistics], rows: u64) {
        self.columns.iter_mut().zip(columns).for_each(|(mine, theirs)| mine.merge(theirs));
        self.rows = rows;
    }
}

/// The serialized form of the statistics of a table.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "BasicStatistics", deny_unknown_fields)]
struct Parts<'a> {
    rows: u64,
    columns: List<'a, ColumnStatistics>,
    dictionary: Option<DataDictionary>,
}

impl Serialize for BasicStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let columns = List(Cow::Borrowed(&self.columns[..]));
        Parts { rows: self.rows, columns, dictionary: self.dictionary.clone() }.serialize(serializer)
    }
}

/// Refuses statistics that no table can have.
impl<'de> Deserialize<'de> for BasicStatistics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Parts { rows, columns, dictionary } = Parts::deserialize(deserializer)?;
        let columns = columns.0.into_owned();
        if columns.iter().any(|column| column.value_count() != Some(rows)) {
            return Err(de::Error::custom(format_args!("a column does not have one value in each of {rows} rows")));
        }
        fits(dictionary.as_ref(), columns.len()).map_err(de::Error::custom)?;
        Ok(Self { columns, rows, dictionary })
    }
}

/// A number to display and its heading.
type Named<N> = (&'static str, fn(&ColumnStatistics) -> N);

/// Writes one line for each column. `{:.2}` writes two decimals. If there are many columns, the middle ones are
/// omitted; `{:#}` writes all of them. Missing values are shown if there are any.
impl fmt::Display for BasicStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = if f.alternate() { usize::MAX } else { 40 };
        let (first, last) = cut_rows(self.columns.len(), limit);
        let shown: Vec<usize> = first.clone().chain(last).collect();
        let names = shown.iter().map(|&column| name_of(self.dictionary.as_ref(), column));
        let mut grid = Grid::new(names, (shown.len() < self.columns.len()).then_some(first.len()));
        let counts: [Named<u64>; 4] = [
            ("count", ColumnStatistics::count),
            ("missing", ColumnStatistics::missing_count),
            ("NaN", ColumnStatistics::nan_count),
            ("inf", ColumnStatistics::infinity_count),
        ];
        let is_shown = |heading: &str| heading != "missing" || self.columns.iter().any(|column| column.missing > 0);
        for (heading, count) in counts.into_iter().filter(|(heading, _)| is_shown(heading)) {
            grid.add_counts(heading, shown.iter().map(|&column| count(&self.columns[column])));
        }
        let numbers: [Named<f64>; 4] = [
            ("minimum", ColumnStatistics::minimum),
            ("maximum", ColumnStatistics::maximum),
            ("mean", ColumnStatistics::mean),
            ("standard deviation", ColumnStatistics::standard_deviation),
        ];
        for (heading, number) in numbers {
            grid.add_numbers(heading, shown.iter().map(|&column| number(&self.columns[column])), f.precision());
        }
        grid.write(f)
    }
}
