//! Sums of products of columns from which nothing is subtracted. How a table is divided is in `named_products`.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::double::Double;
use super::named_products::{Fields, NamedProducts};
use super::options::StatisticsOptions;
use super::product::Centre;
use crate::base::element::Element;
use crate::base::error::Result;
use crate::base::room::with_room;
use crate::dictionary::DataDictionary;
use crate::partial::Partial;
use crate::serde::numbers::{List, Numbers};
use crate::serde::refused;
use crate::table::NumericTable;
use crate::table::packed::PackedSymmetricMatrix;

/// The Gram matrix of the columns of a table, `X'X`, and the sums of the columns, in `f64`; of one table or of several.
///
/// Nothing is subtracted from the columns, unlike in [`Covariance`](crate::Covariance), whose
/// [`cross_product`](crate::Covariance::cross_product) is about the means: this is what NumPy computes as `X.T @ X`.
/// For variances, correlations and regression use `Covariance`, which loses no digits where values are large beside
/// their deviations.
///
/// One pass over the table, by several threads if that pays, with `n²/2` multiplications for each row of `n` columns:
/// one half of the matrix is computed. Memory: `4 n²` bytes for the sums, half a MiB for each thread, and one set of
/// sums for each of some groups of rows up to 128 columns. Values of types other than `f64` are converted, exactly
/// except for 64-bit integers beyond 2^53.
///
/// Products are added up in `f64`, 256 rows in a chain of multiplications and additions that are rounded once, and then
/// block by block: the error of a sum is at most half of 2^-52 times the number of rows of a block and the number of
/// blocks, together, of the sum of the products' absolute values; that of a loop grows with the number of rows. Whole
/// numbers are exact while no sum exceeds 2^53. Sums of columns are added up in `f64` within such a block, and blocks
/// with twice its precision: their error is below 2^-46 of the sum of the absolute values, however many rows there are.
/// Results do not depend on the number of threads, the machine or the layout. Cells of sparse tables are read as what
/// they are, zeros included, a block of rows at a time.
///
/// A NaN in a column makes all that has to do with this column NaN, and nothing else; so does an infinity, or makes it
/// infinite.
///
/// It is a [`Partial`](crate::Partial) result: sent between processes and kept as bytes; and can be serialized with
/// serde.
///
/// Source: NumPy `X.T @ X`; BLAS `syrk`; the uncentred cross product of DAAL's `linear_regression` (normal equations).
///
/// # Examples
/// ```
/// use numeric_table::{GramMatrix, prelude::*};
/// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?;
/// let gram = GramMatrix::of(&table)?;
/// assert_eq!(gram.matrix()?.rows::<f64>(..)?[..], [35.0, 44.0, 44.0, 56.0]); // symmetric; one half is stored
/// assert_eq!((gram.sums()?, gram.row_count()), (vec![9.0, 12.0], 3));
///
/// let mut all = GramMatrix::of(&table.slice_rows(..1)?)?;
/// all.merge(&GramMatrix::of(&table.slice_rows(1..)?)?)?;
/// assert_eq!(all.matrix()?.packed::<f64>()?, gram.matrix()?.packed::<f64>()?);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GramMatrix {
    /// Of the values, whose "means" are the sums of columns.
    sums: NamedProducts,
}

impl GramMatrix {
    /// Creates the matrix of `columns` columns, without rows: of zeros. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::GramMatrix;
    /// let gram = GramMatrix::new(2)?;
    /// assert_eq!((gram.row_count(), gram.matrix()?.packed::<f64>()?), (0, &[0.0; 3][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize) -> Result<Self> {
        Ok(Self { sums: NamedProducts::new(columns, Centre::Zero)? })
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
    /// # use numeric_table::{GramMatrix, prelude::*};
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 7], [3, -9]])?);
    /// assert_eq!(GramMatrix::of(&*table)?.matrix()?.packed::<f64>()?, [10.0, -20.0, 130.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn of(table: &dyn NumericTable) -> Result<Self> {
        Self::of_with(table, StatisticsOptions::new())
    }

    /// Computes the matrix of the columns of a table of any kind, with a callback for progress.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{GramMatrix, StatisticsOptions, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| eprintln!("{} bytes", progress.done));
    /// assert_eq!(GramMatrix::of_with(&table, options)?.matrix()?.value::<f64>(0, 1)?, 34.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn of_with(table: &dyn NumericTable, options: StatisticsOptions) -> Result<Self> {
        Ok(Self { sums: NamedProducts::of_with(table, Centre::Zero, &options)? })
    }

    /// Adds rows: a row block, or any other slice of contiguous whole rows. O(rows * columns²), and O(columns²) for
    /// each call. The last digits of the results may depend on the number of rows per call.
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`](crate::ErrorKind::NotWholeRows);
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded);
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory). Nothing is added then.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::GramMatrix;
    /// let mut gram = GramMatrix::new(2)?;
    /// gram.update(&[1_i16, 7, 3, 9])?; // two rows
    /// gram.update(&[0.5, 0.0])?;
    /// assert_eq!(gram.matrix()?.packed::<f64>()?, [10.25, 34.0, 130.0]);
    /// assert!(gram.update(&[1.0]).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn update<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        self.sums.add_rows(rows)
    }

    /// Adds the sums of other tables. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`](crate::ErrorKind::LengthMismatch) if the numbers of columns differ;
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) if the tables have 2^64 rows or more together;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory). Nothing is added then.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{GramMatrix, prelude::*};
    /// let mut all = GramMatrix::of(&HomogenNumericTable::from_rows(&[[1_u8, 7]])?)?;
    /// all.merge(&GramMatrix::of(&HomogenNumericTable::from_rows(&[[2.0, 0.5]])?)?)?;
    /// assert_eq!((all.row_count(), all.matrix()?.packed::<f64>()?), (2, &[5.0, 8.0, 49.25][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.sums.merge(&other.sums)
    }

    /// Returns the number of rows. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{GramMatrix, prelude::*};
    /// assert_eq!(GramMatrix::of(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.sums.products.rows
    }

    /// Returns the number of columns. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{GramMatrix, prelude::*};
    /// assert_eq!(GramMatrix::of(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.column_count(), 2);
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
    /// # use numeric_table::{GramMatrix, prelude::*};
    /// assert_eq!(GramMatrix::of(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.sums()?, [9.0, 12.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sums(&self) -> Result<Vec<f64>> {
        let mut sums = with_room(self.column_count())?;
        sums.extend(self.sums.products.means().iter().map(|sum| sum.value()));
        Ok(sums)
    }

    /// Returns the matrix: the sums of the products of all pairs of columns, with their names. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{GramMatrix, prelude::*};
    /// let matrix = GramMatrix::of(&HomogenNumericTable::from_rows(&[[1, 2, 0], [3, 4, 1]])?)?.matrix()?;
    /// assert_eq!(matrix.rows::<f64>(1..2)?[..], [14.0, 20.0, 4.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn matrix(&self) -> Result<PackedSymmetricMatrix> {
        self.sums.matrix(|sum, _, _| sum)
    }
}

impl Partial for GramMatrix {
    const NAME: &'static str = "gram-matrix";

    /// As many columns; names are those of the tables.
    fn empty(&self) -> Result<Self> {
        Self::new(self.column_count())
    }

    /// To the sums that there are if the rows are few, so that large matrices are not merged for each block of rows.
    fn update_table(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.sums.add_table(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        self.sums.size_in_bytes()
    }
}

/// A Gram matrix as it is serialized.
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

/// Sums that do not fit each other are refused.
impl<'de> Deserialize<'de> for GramMatrix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Parts { rows, sums: means, products, dictionary } = Parts::deserialize(deserializer)?;
        let fields = Fields { rows, means, products, dictionary };
        Ok(Self { sums: NamedProducts::from_fields(fields, Centre::Zero)? })
    }
}
