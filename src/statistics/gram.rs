//! Sums of products of uncentered columns. `named_products` divides the tables.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::double::Double;
use super::named_products::{Fields, NamedProducts};
use super::options::StatisticsOptions;
use super::strips::Center;
use crate::base::element::Element;
use crate::base::error::Result;
use crate::base::room::with_room;
use crate::dictionary::DataDictionary;
use crate::partial::Partial;
use crate::serde::numbers::{List, Numbers};
use crate::serde::refused;
use crate::table::NumericTable;
use crate::table::packed::PackedSymmetricMatrix;

/// The Gram matrix `X'X` of the columns of one or several tables, and the sums of the columns, in `f64`.
///
/// Columns are not centered, unlike the [`cross_product`](crate::statistics::Covariance::cross_product) of
/// [`Covariance`](crate::statistics::Covariance), which subtracts the means. NumPy computes the Gram matrix as
/// `X.T @ X`. For variances, correlations and regression use `Covariance`, which loses no digits where values are large
/// compared to their deviations.
///
/// Reads the table once, on several threads if that is faster, with `n²/2` multiplications for each row of `n`
/// columns. Only one half of the matrix is computed. Memory: `4 n²` bytes for the sums and half a MiB for each thread;
/// with up to 128 columns, also one set of sums for each of several groups of rows. Values of types other than `f64`
/// are converted, exactly except for 64-bit integers beyond 2^53.
///
/// Products are added up in `f64`: 256 rows in a chain of fused multiply-adds, then block by block. The error of a sum
/// is at most `2^-53 * (rows of a block + number of blocks)` times the sum of the products' absolute values. (The error
/// of a simple loop grows with the number of rows.) Integers are exact while no sum exceeds 2^53. The sums of columns
/// are added up in `f64` within a block and with twice that precision between blocks. Their error is below 2^-46 of the
/// sum of the absolute values for any number of rows. Results do not depend on the number of threads, the machine or
/// the layout. Sparse tables are read a block of rows at a time, including their zeros.
///
/// A NaN in a column makes every result that involves this column NaN; an infinity makes it infinite or NaN. Other
/// results are not affected. A row with a missing value in any column is left out as a whole and counted.
///
/// As a [`Partial`](crate::Partial) result, it can be merged, sent between processes and stored as bytes. It can be
/// serialized with serde.
///
/// Source: NumPy `X.T @ X`; BLAS `syrk`; the uncentered cross product in DAAL `linear_regression` (normal equations).
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::GramMatrix};
/// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
/// let gram = GramMatrix::compute(&table)?;
/// assert_eq!(gram.matrix()?.rows::<f64>(..)?[..], [35.0, 44.0, 44.0, 56.0]); // symmetric; one half is stored
/// assert_eq!((gram.sums()?, gram.row_count()), (vec![9.0, 12.0], 3));
///
/// let mut all = GramMatrix::compute(&table.slice_rows(..1)?)?;
/// all.merge(&GramMatrix::compute(&table.slice_rows(1..)?)?)?;
/// assert_eq!(all.matrix()?.packed::<f64>()?, gram.matrix()?.packed::<f64>()?);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GramMatrix {
    /// Sums for the values; their "means" are the sums of the columns.
    sums: NamedProducts,
}

impl GramMatrix {
    /// Creates the zero matrix of the given number of columns, without rows. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::GramMatrix;
    /// let gram = GramMatrix::new(2)?;
    /// assert_eq!((gram.row_count(), gram.matrix()?.packed::<f64>()?), (0, &[0.0; 3][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize) -> Result<Self> {
        Ok(Self { sums: NamedProducts::new(columns, Center::Zero)? })
    }

    /// Computes the matrix of the columns of a table of any kind. O(rows * columns²).
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`](crate::ErrorKind::NotAllocated),
    /// [`ErrorKind::BlockOutstanding`](crate::ErrorKind::BlockOutstanding),
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GramMatrix};
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 7], [3, -9]])?);
    /// assert_eq!(GramMatrix::compute(&*table)?.matrix()?.packed::<f64>()?, [10.0, -20.0, 130.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute(table: &dyn NumericTable) -> Result<Self> {
        Self::compute_with(table, StatisticsOptions::new())
    }

    /// Computes the matrix of the columns of a table of any kind, with a callback for progress.
    ///
    /// # Errors
    /// The errors of [`compute`](Self::compute).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{GramMatrix, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| eprintln!("{} bytes", progress.done));
    /// assert_eq!(GramMatrix::compute_with(&table, options)?.matrix()?.value::<f64>(0, 1)?, 34.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute_with(table: &dyn NumericTable, options: StatisticsOptions) -> Result<Self> {
        Ok(Self { sums: NamedProducts::compute_with(table, Center::Zero, &options)? })
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
    /// # use numeric_table::statistics::GramMatrix;
    /// let mut gram = GramMatrix::new(2)?;
    /// gram.update_values(&[1_i16, 7, 3, 9])?; // two rows
    /// gram.update_values(&[0.5, 0.0])?;
    /// assert_eq!(gram.matrix()?.packed::<f64>()?, [10.25, 34.0, 130.0]);
    /// assert!(gram.update_values(&[1.0]).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn update_values<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        self.sums.add_rows(rows)
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
    /// # use numeric_table::{prelude::*, statistics::GramMatrix};
    /// let mut all = GramMatrix::compute(&HomogenNumericTable::from_rows(&[[1_u8, 7]])?)?;
    /// all.merge(&GramMatrix::compute(&HomogenNumericTable::from_rows(&[[2.0, 0.5]])?)?)?;
    /// assert_eq!((all.row_count(), all.matrix()?.packed::<f64>()?), (2, &[5.0, 8.0, 49.25][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.sums.merge(&other.sums)
    }

    /// Returns the description of the columns, if the tables had one: their names, labels and units.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GramMatrix};
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 0], [3, 1]])?;
    /// table.set_names(["length", "width"])?;
    /// let found = GramMatrix::compute(&table)?;
    /// assert_eq!(found.dictionary().and_then(|columns| columns.index_of("width")), Some(1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn dictionary(&self) -> Option<&DataDictionary> {
        self.sums.dictionary.as_ref()
    }

    /// Returns the number of rows, without those that have a missing value. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GramMatrix};
    /// assert_eq!(GramMatrix::compute(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.sums.products.rows
    }

    /// Returns the number of rows that were left out because they have a missing value. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*, statistics::GramMatrix};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1), None, Some(4)])?;
    /// table.push_optional("b", [Some(2.5), Some(0.5), Some(3.5)])?;
    /// let found = GramMatrix::compute(&table)?;
    /// assert_eq!((found.row_count(), found.missing_rows()), (2, 1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_rows(&self) -> u64 {
        self.sums.missing
    }

    /// Returns the number of columns. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GramMatrix};
    /// assert_eq!(GramMatrix::compute(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.column_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_count(&self) -> usize {
        self.sums.products.columns
    }

    /// Returns the sum of every column. O(columns).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GramMatrix};
    /// assert_eq!(GramMatrix::compute(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.sums()?, [9.0, 12.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sums(&self) -> Result<Vec<f64>> {
        let mut sums = with_room(self.column_count())?;
        sums.extend(self.sums.products.means().iter().map(|sum| sum.value()));
        Ok(sums)
    }

    /// Returns the matrix with the names of the columns: the sums of the products of all pairs of columns. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GramMatrix};
    /// let matrix = GramMatrix::compute(&HomogenNumericTable::from_rows(&[[1, 2, 0], [3, 4, 1]])?)?.matrix()?;
    /// assert_eq!(matrix.rows::<f64>(1..2)?[..], [14.0, 20.0, 4.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn matrix(&self) -> Result<PackedSymmetricMatrix> {
        self.sums.matrix(|sum, _, _| sum)
    }
}

impl Partial for GramMatrix {
    const NAME: &'static str = "gram-matrix";
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

/// The serialized form of a Gram matrix.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "GramMatrix", deny_unknown_fields)]
struct Parts<'a> {
    rows: u64,
    sums: List<'a, Double>,
    products: Numbers<'a, f64>,
    dictionary: Option<DataDictionary>,
}

impl Serialize for GramMatrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Fields { rows, means: sums, products, dictionary } = self.sums.to_fields().map_err(refused)?;
        Parts { rows, sums, products, dictionary }.serialize(serializer)
    }
}

/// Refuses sums that contradict each other.
impl<'de> Deserialize<'de> for GramMatrix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Parts { rows, sums: means, products, dictionary } = Parts::deserialize(deserializer)?;
        let fields = Fields { rows, means, products, dictionary };
        Ok(Self { sums: NamedProducts::from_fields(fields, Center::Zero)? })
    }
}
