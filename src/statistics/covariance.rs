//! Covariances and correlations of all pairs of columns. `named_products` divides the tables.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::double::Double;
use super::named_products::{Fields, NamedProducts};
use super::options::StatisticsOptions;
use super::strips::Center;
use crate::base::element::Element;
use crate::base::error::Result;
use crate::base::room::filled;
use crate::dictionary::DataDictionary;
use crate::partial::Partial;
use crate::serde::numbers::{List, Numbers};
use crate::serde::refused;
use crate::table::NumericTable;
use crate::table::packed::PackedSymmetricMatrix;

/// Covariance and correlation matrices of the columns of one or several tables, in `f64`.
///
/// Reads the table once, on several threads if that is faster, with `n²/2` multiplications for each row of `n`
/// columns. Only one half of the matrix is computed, block by block, at the speed of a matrix product. Memory: `4 n²`
/// bytes for the sums and half a MiB for each thread; with up to 128 columns, also one set of sums for each of several
/// groups of rows. Values of types other than `f64` are converted, exactly except for 64-bit integers beyond 2^53.
///
/// Each block of rows is centered on its own means, and blocks are merged by the formula of Chan, Golub and LeVeque.
/// Results are accurate to the last digits, even where deviations are small compared to the values. They do not depend
/// on the number of threads, the machine or the layout. (A processor without fused multiply-add computes the same bits,
/// slowly.)
///
/// A NaN or an infinity in a column makes every result that involves this column NaN, including its mean, and no
/// others, as in NumPy's `cov`. Deviations and products beyond the range of `f64` make the results computed from them
/// infinite or NaN; the means stay finite.
///
/// A row with a missing value in any column is left out as a whole and counted (listwise deletion): results are those
/// of the complete rows, and [`row_count`](Self::row_count) is their number. Nothing is computed from pairs of columns
/// separately, which would combine different rows and may give a matrix that no data has. Select the columns that
/// matter first, so that gaps elsewhere leave no rows out.
///
/// As a [`Partial`](crate::Partial) result, it can be merged, sent between processes and stored as bytes. It can be
/// serialized with serde.
///
/// Source: DAAL `covariance`, NumPy `cov` and `corrcoef`.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::Covariance};
/// let names = ["length", "width"].map(|name| Feature::new(ElementType::F32).named(name));
/// let table = Table::from_rows(&[[1.0_f32, 10.0], [2.0, 30.0], [3.0, 20.0]])?;
/// let table = table.with_dictionary(names.into_iter().collect())?;
/// let covariance = Covariance::compute(&table)?;
/// assert_eq!(covariance.means(), [2.0, 20.0]);
/// let matrix = covariance.covariance()?; // symmetric, one half is stored; it keeps the names
/// assert_eq!(matrix.rows::<f64>(..)?[..], [1.0, 5.0, 5.0, 100.0]);
/// assert_eq!(matrix.dictionary().index_of("width"), Some(1));
/// assert_eq!(covariance.correlation()?.value::<f64>(0, 1)?, 0.5);
///
/// // Several tables, or one that is larger than memory: merge partial results.
/// let mut all = Covariance::compute(&table.slice_rows(0..1)?)?;
/// all.merge(&Covariance::compute(&table.slice_rows(1..3)?)?)?;
/// assert_eq!(all.covariance()?.packed::<f64>()?, matrix.packed::<f64>()?);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Covariance {
    /// Sums for the deviations from the means.
    sums: NamedProducts,
}

impl Covariance {
    /// Creates an empty covariance for the given number of columns. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::Covariance;
    /// let covariance = Covariance::new(2)?;
    /// assert_eq!((covariance.row_count(), covariance.column_count()), (0, 2));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize) -> Result<Self> {
        Ok(Self { sums: NamedProducts::new(columns, Center::Means)? })
    }

    /// Computes the covariance of the columns of a table of any kind. O(rows * columns²).
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`](crate::ErrorKind::NotAllocated),
    /// [`ErrorKind::BlockOutstanding`](crate::ErrorKind::BlockOutstanding),
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9], [5, 5]])?);
    /// assert_eq!(Covariance::compute(&*table)?.covariance()?.packed::<f64>()?, [4.0, -2.0, 4.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute(table: &dyn NumericTable) -> Result<Self> {
        Self::compute_with(table, StatisticsOptions::new())
    }

    /// Computes the covariance of the columns of a table of any kind, with a callback for progress.
    ///
    /// # Errors
    /// The errors of [`compute`](Self::compute).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Covariance, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9], [5, 5]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| eprintln!("{} bytes", progress.done));
    /// assert_eq!(Covariance::compute_with(&table, options)?.covariance()?.value::<f64>(1, 1)?, 4.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute_with(table: &dyn NumericTable, options: StatisticsOptions) -> Result<Self> {
        Ok(Self { sums: NamedProducts::compute_with(table, Center::Means, &options)? })
    }

    /// Adds rows, given as a row block or any other slice of complete, contiguous rows. O(rows * columns²), plus
    /// O(columns²) for each call. The last digits of the results may depend on the number of rows per call.
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`](crate::ErrorKind::NotWholeRows);
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded);
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory). On error, nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::Covariance;
    /// let mut covariance = Covariance::new(2)?;
    /// covariance.update_values(&[1_i16, 7, 3, 9])?; // two rows
    /// covariance.update_values(&[5.0, 5.0])?;
    /// assert_eq!(covariance.covariance()?.packed::<f64>()?, [4.0, -2.0, 4.0]);
    /// assert!(covariance.update_values(&[1.0]).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn update_values<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        self.sums.merge_rows(rows)
    }

    /// Merges the sums of other tables into these. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`](crate::ErrorKind::LengthMismatch) if the numbers of columns differ;
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) if the tables together have 2^64 rows or more;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory). On error, nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let mut all = Covariance::compute(&HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9]])?)?;
    /// all.merge(&Covariance::compute(&HomogenNumericTable::from_rows(&[[5.0_f64, 5.0]])?)?)?;
    /// assert_eq!((all.row_count(), all.covariance()?.value::<f64>(0, 1)?), (3, -2.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.sums.merge(&other.sums)
    }

    /// Returns the description of the columns, if the tables had one: their names, labels and units.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 0], [3, 1]])?;
    /// table.set_names(["length", "width"])?;
    /// let found = Covariance::compute(&table)?;
    /// assert_eq!(found.dictionary().and_then(|columns| columns.index_of("width")), Some(1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn dictionary(&self) -> Option<&DataDictionary> {
        self.sums.dictionary.as_ref()
    }

    /// Returns the number of rows, without those that have a missing value.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(Covariance::compute(&table)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.sums.products.rows
    }

    /// Returns the number of rows that were left out because they have a missing value. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*, statistics::Covariance};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1), None, Some(4)])?;
    /// table.push_optional("b", [Some(2.5), Some(0.5), Some(3.5)])?;
    /// let found = Covariance::compute(&table)?;
    /// assert_eq!((found.row_count(), found.missing_rows()), (2, 1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_rows(&self) -> u64 {
        self.sums.missing
    }

    /// Returns the number of columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(Covariance::compute(&table)?.column_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_count(&self) -> usize {
        self.sums.products.columns
    }

    /// Returns the mean of every column; NaN without rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 9]])?;
    /// assert_eq!(Covariance::compute(&table)?.means(), [3.0, 5.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn means(&self) -> Vec<f64> {
        let mean_of = |mean: f64| if self.row_count() == 0 { f64::NAN } else { mean };
        self.sums.products.means().iter().map(|mean| mean_of(mean.value())).collect()
    }

    /// Returns the sums of the products of the deviations from the means. O(columns²). Source: DAAL `crossProduct`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9], [5, 5]])?;
    /// assert_eq!(Covariance::compute(&table)?.cross_product()?.packed::<f64>()?, [8.0, -4.0, 8.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn cross_product(&self) -> Result<PackedSymmetricMatrix> {
        self.sums.matrix(|sum, _, _| sum)
    }

    /// Returns the sample covariances: the sums of products, divided by the number of rows minus one. NaN for fewer
    /// than two rows. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9], [5, 5]])?;
    /// let matrix = Covariance::compute(&table)?.covariance()?;
    /// assert_eq!(matrix.rows::<f64>(1..2)?[..], [-2.0, 4.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn covariance(&self) -> Result<PackedSymmetricMatrix> {
        self.divided_by(self.row_count().saturating_sub(1))
    }

    /// Returns the population covariances: the sums of products, divided by the number of rows. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 3]])?;
    /// assert_eq!(Covariance::compute(&table)?.population_covariance()?.packed::<f64>()?, [1.0, -2.0, 4.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn population_covariance(&self) -> Result<PackedSymmetricMatrix> {
        self.divided_by(self.row_count())
    }

    /// Returns the correlations, from -1 to 1: the covariances, divided by both standard deviations. The correlation of
    /// a column with itself is 1. NaN for a constant column, for fewer than two rows, and where a variance is not
    /// finite. O(columns²). Source: NumPy `corrcoef`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::Covariance};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7, 0], [3, 9, 0], [5, 5, 0]])?;
    /// let matrix = Covariance::compute(&table)?.correlation()?;
    /// assert_eq!(matrix.rows::<f64>(0..1)?[..2], [1.0, -0.5]);
    /// assert!(matrix.value::<f64>(0, 2)?.is_nan()); // the last column is constant
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn correlation(&self) -> Result<PackedSymmetricMatrix> {
        let mut sums = filled(self.column_count(), f64::NAN)?;
        for (column, own) in sums.iter_mut().enumerate() {
            let sum = self.sums.products.sum_of_squares(column);
            // For a single row and for a constant column, the sum is zero.
            if sum > 0.0 && sum.is_finite() {
                *own = sum;
            }
        }
        self.sums.matrix(|sum, row, column| {
            let (mine, other) = (sums[row], sums[column]);
            match mine * other {
                _ if row == column => sum / mine, // 1 or NaN
                product if product.is_normal() => (sum / product.sqrt()).clamp(-1.0, 1.0),
                _ => (sum / mine.sqrt() / other.sqrt()).clamp(-1.0, 1.0),
            }
        })
    }

    fn divided_by(&self, degrees: u64) -> Result<PackedSymmetricMatrix> {
        self.sums.matrix(|sum, _, _| if degrees == 0 { f64::NAN } else { sum / degrees as f64 })
    }
}

impl Partial for Covariance {
    const NAME: &'static str = "covariance";
    const NEWEST_VERSION: u32 = 2; // since values may be missing

    fn version(&self) -> u32 {
        if self.missing_rows() > 0 { Self::NEWEST_VERSION } else { Self::VERSION }
    }

    /// Keeps the number of columns. Names come from the tables.
    fn new_like(&self) -> Result<Self> {
        Self::new(self.column_count())
    }

    /// Adds a few rows directly to the sums, so that large matrices are not merged for each block of rows.
    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.sums.update_with(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        self.sums.size_in_bytes()
    }
}

/// The serialized form of a covariance.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Covariance", deny_unknown_fields)]
struct Parts<'a> {
    rows: u64,
    means: List<'a, Double>,
    products: Numbers<'a, f64>,
    dictionary: Option<DataDictionary>,
}

impl Serialize for Covariance {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Fields { rows, means, products, dictionary } = self.sums.to_fields().map_err(refused)?;
        Parts { rows, means, products, dictionary }.serialize(serializer)
    }
}

/// Refuses sums that contradict each other.
impl<'de> Deserialize<'de> for Covariance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Parts { rows, means, products, dictionary } = Parts::deserialize(deserializer)?;
        let fields = Fields { rows, means, products, dictionary };
        Ok(Self { sums: NamedProducts::from_fields(fields, Center::Means)? })
    }
}
