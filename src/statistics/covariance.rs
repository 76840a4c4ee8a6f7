//! Covariances and correlations of all pairs of columns: how a table is divided for the products of `product`.
//!
//! Few columns: groups of rows by several threads, each with sums of its own, which are merged in order. Many columns:
//! the sums are large, so there is one set of them, whose tiles are divided among the threads. Which of the two depends
//! only on the number of columns, and neither on the number of threads: results are the same bits.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::blocks::{TableSource, Work, cut, dictionary_of, fits, names_of, rows_with, with_rows};
use super::double::Double;
use super::options::StatisticsOptions;
use super::product::{BLOCK_ROWS, Block, Centre, Products, cost, lower_half};
use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::base::parallel::{self, in_order};
use crate::base::room::{filled, with_room};
use crate::dictionary::DataDictionary;
use crate::serde::numbers::{List, Numbers};
use crate::serde::{refused, remember};
use crate::table::NumericTable;
use crate::table::packed::{PackedOrder, PackedSymmetricMatrix, Triangle};

/// The largest number of columns of which several sets of sums are computed at a time: 68 KiB each.
const FEW_COLUMNS: usize = 128;
/// Number of rows of a group.
const GROUP_ROWS: usize = 16 * BLOCK_ROWS;
/// Approximate number of bytes of sums that wait for being merged, and of blocks that are multiplied together.
const HELD_BYTES: usize = 16 << 20;

/// Covariance and correlation matrices of the columns of a table, in `f64`; of one table or of several.
///
/// One pass over the table, by several threads if that pays, with `n²/2` multiplications for each row of `n` columns:
/// one half of the matrix is computed, block by block, at the speed of a matrix product. Memory: `4 n²` bytes for the
/// sums, half a MiB for each thread, and one set of sums for each of some groups of rows up to 128 columns. Values of
/// types other than `f64` are converted, exactly except for 64-bit integers beyond 2^53.
///
/// Each block of rows is centred on its own means, and blocks are merged by the formula of Chan, Golub and LeVeque:
/// results are accurate to the last digits even where deviations are small compared to the values. They do not depend
/// on the number of threads, the machine or the layout. (A processor without fused multiplication and addition computes
/// the same bits, slowly.)
///
/// A NaN or an infinity in a column makes all that has to do with this column NaN, its mean included, and nothing else,
/// as in NumPy's `cov`: to leave out rows with missing values, filter them before. Deviations and products beyond the
/// range of `f64` make what is computed of them infinite or NaN.
///
/// It is a [`Partial`](crate::Partial) result: sent between processes and kept as bytes; and can be serialized with serde.
///
/// Source: DAAL `covariance`, NumPy `cov` and `corrcoef`.
///
/// # Examples
/// ```
/// use numeric_table::{Covariance, prelude::*};
/// let names = ["length", "width"].map(|name| Feature::new(ElementType::F32).named(name));
/// let table = Table::from_rows(&[[1.0_f32, 10.0], [2.0, 30.0], [3.0, 20.0]])?.described_by(names.into_iter().collect())?;
/// let covariance = Covariance::of(&table)?;
/// assert_eq!(covariance.means(), [2.0, 20.0]);
/// let matrix = covariance.covariance()?; // symmetric, of which one half is stored; it keeps the names
/// assert_eq!(matrix.rows::<f64>(..)?[..], [1.0, 5.0, 5.0, 100.0]);
/// assert_eq!(matrix.dictionary().index_of("width"), Some(1));
/// assert_eq!(covariance.correlation()?.value::<f64>(0, 1)?, 0.5);
///
/// // Of several tables, or of one that is larger than memory: partial results are merged.
/// let mut all = Covariance::of(&table.slice_rows(0..1)?)?;
/// all.merge(&Covariance::of(&table.slice_rows(1..3)?)?)?;
/// assert_eq!(all.covariance()?.packed::<f64>()?, matrix.packed::<f64>()?);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Covariance {
    products: Products,
    /// Names of the columns.
    dictionary: Option<DataDictionary>,
}

impl Covariance {
    /// Creates the covariance of `columns` columns, without rows. O(columns²).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Covariance;
    /// let covariance = Covariance::new(2)?;
    /// assert_eq!((covariance.row_count(), covariance.column_count()), (0, 2));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize) -> Result<Self> {
        Ok(Self { products: Products::new(columns, Centre::Means)?, dictionary: None })
    }

    /// Computes the covariance of the columns of a table of any kind. O(rows * columns²).
    ///
    /// # Errors
    /// [`Error::NotAllocated`], [`Error::BlockOutstanding`], [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, prelude::*};
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9], [5, 5]])?);
    /// assert_eq!(Covariance::of(&*table)?.covariance()?.packed::<f64>()?, [4.0, -2.0, 4.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn of(table: &dyn NumericTable) -> Result<Self> {
        Self::of_with(table, StatisticsOptions::new())
    }

    /// Computes the covariance of the columns of a table of any kind, with a callback for progress.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, StatisticsOptions, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9], [5, 5]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| eprintln!("{} bytes", progress.done));
    /// assert_eq!(Covariance::of_with(&table, options)?.covariance()?.value::<f64>(1, 1)?, 4.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn of_with(table: &dyn NumericTable, options: StatisticsOptions) -> Result<Self> {
        let source = TableSource(table);
        let products = compute(&Work::on_table(table, &source, &options), Centre::Means)?;
        let dictionary = dictionary_of(table, products.columns);
        Ok(Self { products, dictionary })
    }

    /// Adds rows: a row block, or any other slice of contiguous whole rows. O(rows * columns²), and O(columns²) for
    /// each call. The last digits of the results may depend on the number of rows per call.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the values are not whole rows; [`Error::RowCountOverflow`]; [`Error::OutOfMemory`].
    /// Nothing is added then.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Covariance;
    /// let mut covariance = Covariance::new(2)?;
    /// covariance.update(&[1_i16, 7, 3, 9])?; // two rows
    /// covariance.update(&[5.0, 5.0])?;
    /// assert_eq!(covariance.covariance()?.packed::<f64>()?, [4.0, -2.0, 4.0]);
    /// assert!(covariance.update(&[1.0]).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn update<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        let found = with_rows(rows, self.column_count(), |work| {
            rows_with(self.row_count(), work.shape.rows as u64)?;
            compute(work, Centre::Means)
        })?;
        self.products.merge(&found)
    }

    /// Adds the sums of other tables. O(columns²).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the numbers of columns differ; [`Error::RowCountOverflow`] if the tables have 2^64
    /// rows or more together; [`Error::OutOfMemory`]. Nothing is added then.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, prelude::*};
    /// let mut all = Covariance::of(&HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9]])?)?;
    /// all.merge(&Covariance::of(&HomogenNumericTable::from_rows(&[[5.0_f64, 5.0]])?)?)?;
    /// assert_eq!((all.row_count(), all.covariance()?.value::<f64>(0, 1)?), (3, -2.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.column_count() != other.column_count() {
            return Err(Error::LengthMismatch { expected: self.column_count(), found: other.column_count() });
        }
        rows_with(self.row_count(), other.row_count())?;
        self.products.merge(&other.products)?;
        if self.dictionary.is_none() {
            self.dictionary.clone_from(&other.dictionary);
        }
        Ok(())
    }

    /// Returns the number of rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(Covariance::of(&table)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.products.rows
    }

    /// Returns the number of columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(Covariance::of(&table)?.column_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_count(&self) -> usize {
        self.products.columns
    }

    /// Returns the mean of every column; NaN without rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 9]])?;
    /// assert_eq!(Covariance::of(&table)?.means(), [3.0, 5.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn means(&self) -> Vec<f64> {
        let mean_of = |mean: f64| if self.row_count() == 0 { f64::NAN } else { mean };
        self.products.means().iter().map(|mean| mean_of(mean.value())).collect()
    }

    /// Returns the sums of the products of deviations from the means. O(columns²). Source: DAAL `crossProduct`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9], [5, 5]])?;
    /// assert_eq!(Covariance::of(&table)?.cross_product()?.packed::<f64>()?, [8.0, -4.0, 8.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn cross_product(&self) -> Result<PackedSymmetricMatrix> {
        self.matrix(|sum, _, _| sum)
    }

    /// Returns the covariances of a sample: sums of products, divided by the number of rows less one. NaN without two
    /// rows. O(columns²).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 9], [5, 5]])?;
    /// let matrix = Covariance::of(&table)?.covariance()?;
    /// assert_eq!(matrix.rows::<f64>(1..2)?[..], [-2.0, 4.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn covariance(&self) -> Result<PackedSymmetricMatrix> {
        self.divided_by(self.row_count().saturating_sub(1))
    }

    /// Returns the covariances of a whole population: sums of products, divided by the number of rows. O(columns²).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7], [3, 3]])?;
    /// assert_eq!(Covariance::of(&table)?.population_covariance()?.packed::<f64>()?, [1.0, -2.0, 4.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn population_covariance(&self) -> Result<PackedSymmetricMatrix> {
        self.divided_by(self.row_count())
    }

    /// Returns the correlations, from -1 to 1: covariances, divided by both standard deviations. A column with itself
    /// has 1. NaN for a column without deviations, without two rows, and where a variance is no finite number.
    /// O(columns²). Source: NumPy `corrcoef`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Covariance, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 7, 0], [3, 9, 0], [5, 5, 0]])?;
    /// let matrix = Covariance::of(&table)?.correlation()?;
    /// assert_eq!(matrix.rows::<f64>(0..1)?[..2], [1.0, -0.5]);
    /// assert!(matrix.value::<f64>(0, 2)?.is_nan()); // the last column is constant
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn correlation(&self) -> Result<PackedSymmetricMatrix> {
        let mut sums = filled(self.column_count(), f64::NAN)?;
        for (column, own) in sums.iter_mut().enumerate() {
            let sum = self.products.get(column, column);
            // Of one row, and of a constant column, the sum is zero.
            if sum > 0.0 && sum.is_finite() {
                *own = sum;
            }
        }
        self.matrix(|sum, row, column| {
            let (mine, other) = (sums[row], sums[column]);
            match mine * other {
                _ if row == column => sum / mine, // 1 or NaN
                product if product.is_normal() => (sum / product.sqrt()).clamp(-1.0, 1.0),
                _ => (sum / mine.sqrt() / other.sqrt()).clamp(-1.0, 1.0),
            }
        })
    }

    fn divided_by(&self, degrees: u64) -> Result<PackedSymmetricMatrix> {
        self.matrix(|sum, _, _| if degrees == 0 { f64::NAN } else { sum / degrees as f64 })
    }

    /// Makes a matrix with the names of the columns; `value` is called with a sum of products, its row and its column.
    fn matrix(&self, value: impl Fn(f64, usize, usize) -> f64) -> Result<PackedSymmetricMatrix> {
        matrix_of(&self.products, self.dictionary.as_ref(), value)
    }
}

impl Covariance {
    /// Adds the rows of a table: to the sums that there are if they are few, so that large matrices are not merged for
    /// each block of rows. How it is done depends only on the shape.
    ///
    /// # Errors
    /// Those of the trait's method. Nothing is added then.
    pub(super) fn add_table(&mut self, table: &dyn NumericTable) -> Result<()> {
        let (source, options) = (TableSource(table), StatisticsOptions::new());
        let work = Work::on_columns(self.column_count(), table, &source, &options)?;
        add(&work, &mut self.products)?;
        if self.dictionary.is_none() {
            self.dictionary = dictionary_of(table, self.column_count());
        }
        Ok(())
    }

    /// Returns the number of bytes of the sums.
    pub(super) fn size_of_sums(&self) -> usize {
        Products::bytes(self.column_count())
    }
}

/// A covariance as it is serialized: sums of products of one half of the matrix, row by row.
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
        let products = Numbers(Cow::Owned(self.products.packed().map_err(refused)?));
        let means = List(Cow::Borrowed(self.products.means()));
        Parts { rows: self.row_count(), means, products, dictionary: self.dictionary.clone() }.serialize(serializer)
    }
}

/// Sums that do not fit each other are refused.
impl<'de> Deserialize<'de> for Covariance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Parts { rows, means, products, dictionary } = Parts::deserialize(deserializer)?;
        let (means, sums) = (&means.0, &products.0);
        let (columns, found) = (means.len(), sums.len());
        if columns.checked_add(1).and_then(|next| columns.checked_mul(next)).map(|twice| twice / 2) != Some(found) {
            let reason = format_args!("{found} sums of products are not those of {columns} columns");
            return Err(de::Error::custom(reason));
        }
        if !means.iter().all(|mean| mean.is_sum()) {
            return Err(de::Error::custom("the mean of a column is larger than any mean of values"));
        }
        let is_zero = means.iter().all(|&mean| mean == Double::ZERO) && sums.iter().all(|&sum| sum == 0.0);
        if rows == 0 && !is_zero {
            return Err(de::Error::custom("no rows have sums that are not zero"));
        }
        fits(dictionary.as_ref(), columns).map_err(de::Error::custom)?;
        Ok(Self { products: Products::from_packed(rows, means, sums, Centre::Means).map_err(remember)?, dictionary })
    }
}

/// Makes a matrix with the names of the columns; `value` is called with a sum of products, its row and its column.
pub(super) fn matrix_of(
    products: &Products,
    dictionary: Option<&DataDictionary>,
    value: impl Fn(f64, usize, usize) -> f64,
) -> Result<PackedSymmetricMatrix> {
    let columns = products.columns;
    let mut values = with_room(columns * (columns + 1) / 2)?; // in range, as are the sums
    values.extend(lower_half(columns).map(|(row, column)| value(products.get(row, column), row, column)));
    let matrix = PackedSymmetricMatrix::from_packed(values, Triangle::Lower, PackedOrder::Rows);
    let mut matrix = matrix.map_err(|refused| *refused.error)?;
    matrix.set_dictionary(names_of(dictionary, columns))?;
    Ok(matrix)
}

/// Adds rows to products: at once, if they are few; else merges the products of theirs.
///
/// # Errors
/// [`Error::RowCountOverflow`], and those of reading the rows. Nothing is added then.
pub(super) fn add(work: &Work<'_>, products: &mut Products) -> Result<()> {
    rows_with(products.rows, work.shape.rows as u64)?;
    let centre = products.centre();
    match work.shape {
        shape if shape.is_empty() => products.rows += shape.rows as u64,
        shape if shape.rows <= rows_at_once(shape.columns) => products.add(&read(work, 0..shape.rows, centre)?)?,
        _ => products.merge(&compute(work, centre)?)?,
    }
    Ok(())
}

/// Computes the products of rows.
pub(super) fn compute(work: &Work<'_>, centre: Centre) -> Result<Products> {
    let mut all = Products::new(work.shape.columns, centre)?;
    if work.shape.is_empty() {
        all.rows = work.shape.rows as u64;
        return Ok(all);
    }
    match work.shape.columns <= FEW_COLUMNS {
        true => by_groups(work, &mut all)?,
        false => by_tiles(work, &mut all)?,
    }
    Ok(all)
}

/// Multiplies groups of rows, several at a time, each with sums of its own.
fn by_groups(work: &Work<'_>, all: &mut Products) -> Result<()> {
    let (columns, centre) = (work.shape.columns, all.centre());
    let group = |rows: Range<usize>| {
        let mut products = Products::new(columns, centre)?;
        let mut block = [Block::new(columns, rows.len().min(BLOCK_ROWS), centre)?];
        let mut buffer = Vec::new();
        for rows in cut(rows.clone(), BLOCK_ROWS) {
            block[0].read(rows, columns, work.source, &mut buffer)?;
            products.add(&block)?;
        }
        work.rows_done(rows.len());
        Ok(products)
    };
    let at_once = (HELD_BYTES / Products::bytes(columns)).clamp(1, 1024);
    let groups = cut(0..work.shape.rows, GROUP_ROWS);
    in_order(groups, cost(work.shape.rows, columns), at_once, group, |found| all.merge(&found))
}

/// Multiplies some blocks at a time: each thread some tiles of them all.
fn by_tiles(work: &Work<'_>, all: &mut Products) -> Result<()> {
    for rows in cut(0..work.shape.rows, rows_at_once(work.shape.columns)) {
        all.add(&read(work, rows.clone(), all.centre())?)?;
        work.rows_done(rows.len());
    }
    Ok(())
}

/// Returns the number of rows whose blocks are multiplied together.
fn rows_at_once(columns: usize) -> usize {
    let block_bytes = columns.saturating_mul(BLOCK_ROWS * size_of::<f64>());
    (HELD_BYTES / block_bytes).clamp(1, 16) * BLOCK_ROWS
}

/// Reads some blocks, several at a time if that pays.
fn read(work: &Work<'_>, rows: Range<usize>, centre: Centre) -> Result<Vec<Block>> {
    let columns = work.shape.columns;
    let read = |rows: Range<usize>| {
        let mut block = Block::new(columns, rows.len(), centre)?;
        block.read(rows, columns, work.source, &mut Vec::new())?;
        Ok(block)
    };
    let parts: Vec<_> = cut(rows.clone(), BLOCK_ROWS).collect();
    match parallel::task_count(cost(rows.len(), columns)) {
        1 => parts.into_iter().map(read).collect(),
        _ => parallel::map(parts, read).into_iter().collect(),
    }
}
