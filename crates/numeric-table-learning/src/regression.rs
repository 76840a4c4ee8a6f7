//! Linear regression by normal equations. The model is in `regression_model`.

use std::borrow::Cow;

use numeric_table::internal::{refused, remember};
use numeric_table::{Error, ErrorKind, NumericTable, Partial, Result, statistics::Covariance};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::checks::{not_combinable, parameter};
use crate::cholesky::{Cholesky, condition_of, row_at};
use crate::extended::{self, Extended};
use crate::failure;
use crate::regression_model::{RegressionModel, System};
use numeric_table::internal::same_count;
use numeric_table::internal::with_room;

/// Linear regression by normal equations: fits some columns, the targets, by the others, the features, with least
/// squares.
///
/// The equations are a [`Partial`] result and implement serde's traits: the sums of parts of a table, or of many files,
/// can be merged, and are solved at the end. The last columns of a table are the targets. Reorder columns with
/// `table.select_columns(["x", "y", "target"])`.
///
/// The sums are those of [`Covariance`]: about the means, in one pass, and exact to the last digits. The equations are
/// solved by Cholesky decomposition, `LDL'`. The error of the coefficients grows with the condition number of the
/// correlations of the features, which is the square of that of the centered and scaled table. Of 16 digits, 11 to 13
/// remain for NIST's Longley data, and 6 for its Wampler data, whose coefficients differ by orders of magnitude. If
/// fewer would remain, [`solve`](Self::solve) returns an error with the condition number.
/// [`with_extended_precision`](Self::with_extended_precision) keeps sums of twice the digits, which gives at least 7
/// digits for all linear data sets of NIST, including the polynomial of degree 10 (Filip).
///
/// A NaN or an infinity in a column is an error when the equations are solved, so filter such rows first. Rows with a
/// missing value are left out and [counted](Self::missing_rows). Cost: O(rows * columns²) for the sums, O(features³)
/// for a solution. Memory: `4 n²` bytes for `n` columns.
///
/// Source: DAAL `linear_regression` and `ridge_regression` (`normEq`; `step1Local`, `step2Master`), scikit-learn
/// `LinearRegression` and `Ridge`.
///
/// # Examples
/// ```
/// use numeric_table::{Partial, prelude::*};
/// use numeric_table_learning::LinearRegression;
/// // Two features x and y, and the target 1 + 2 x - y.
/// let table = HomogenNumericTable::from_rows(&[[0.0, 0.0, 1.0], [1.0, 0.0, 3.0], [0.0, 2.0, -1.0], [3.0, 1.0, 6.0]])?;
/// let model = LinearRegression::new(2, 1)?.compute_over(&table)?.solve()?; // in parallel if the table is large
/// let coefficients = model.coefficients()?; // a row for each target
/// assert!((model.intercepts()[0] - 1.0).abs() < 1e-14);
/// assert!((coefficients.value::<f64>(0, 0)? - 2.0).abs() < 1e-14);
/// assert!((coefficients.value::<f64>(0, 1)? + 1.0).abs() < 1e-14);
///
/// let asked = HomogenNumericTable::from_rows(&[[10.0, 1.0]])?; // the features only
/// assert!((model.predict(&asked)?.value::<f64>(0, 0)? - 20.0).abs() < 1e-13);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinearRegression {
    /// The covariance of the features and then of the targets: at least one column.
    covariance: Covariance,
    features: usize,
    /// The sums of products with twice the digits, in extended precision.
    extended: Option<Extended>,
}

/// Options of [`LinearRegression::solve_with`].
///
/// # Examples
/// ```
/// use numeric_table::{Partial, prelude::*};
/// use numeric_table_learning::{LinearRegression, RegressionOptions};
/// let table = HomogenNumericTable::from_rows(&[[1.0, 2.0], [2.0, 4.0], [3.0, 7.0]])?;
/// let model = LinearRegression::new(1, 1)?.compute_over(&table)?.solve_with(RegressionOptions::new().intercept(false))?;
/// assert_eq!(model.intercepts(), [0.0]);
/// assert!((model.coefficients()?.value::<f64>(0, 0)? - 31.0 / 14.0).abs() < 1e-14);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegressionOptions {
    lambda: f64,
    has_intercept: bool,
}

impl RegressionOptions {
    /// Returns the options of [`LinearRegression::solve`]: with an intercept, without a penalty.
    ///
    /// # Examples
    /// See the type.
    pub fn new() -> Self {
        Self { lambda: 0.0, has_intercept: true }
    }

    /// Sets whether there is an intercept. Without one, the fit goes through the origin, and the coefficient of
    /// determination is relative to the squares of the target instead of the squared deviations from its mean.
    ///
    /// # Examples
    /// See the type.
    #[must_use]
    pub fn intercept(self, has_intercept: bool) -> Self {
        Self { has_intercept, ..self }
    }

    /// Sets the penalty of [`LinearRegression::solve_ridge`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::{LinearRegression, RegressionOptions};
    /// let equations = LinearRegression::new(1, 1)?.compute_over(&HomogenNumericTable::from_rows(&[[1, 1], [-1, -1]])?)?;
    /// let model = equations.solve_with(RegressionOptions::new().ridge(2.0).intercept(false))?;
    /// assert_eq!(model.coefficients()?.as_slice()?, [0.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn ridge(self, lambda: f64) -> Self {
        Self { lambda, ..self }
    }
}

impl Default for RegressionOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// The square of the largest condition number that leaves 6 digits with sums in `f64`.
const LIMIT: f64 = 1e9;

impl LinearRegression {
    /// Creates equations without rows, for tables of `features` columns followed by `targets` columns. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `targets` is 0; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_learning::LinearRegression;
    /// let regression = LinearRegression::new(3, 2)?; // of tables of 5 columns
    /// assert_eq!((regression.feature_count(), regression.target_count(), regression.row_count()), (3, 2, 0));
    /// assert!(LinearRegression::new(3, 0).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(features: usize, targets: usize) -> Result<Self> {
        if targets == 0 {
            let allowed = "at least 1 is needed";
            return Err(parameter("the number of targets", 0.0, allowed));
        }
        let columns = features.checked_add(targets).ok_or(Error::out_of_memory(usize::MAX))?;
        Ok(Self { covariance: Covariance::new(columns)?, features, extended: None })
    }

    /// Creates equations whose sums have twice the digits of `f64`, for features that are nearly dependent, such as the
    /// powers of a number. They allow a condition number of up to 1e12 for features scaled to the same length;
    /// [`new`](Self::new) allows up to 3e4. Sums take about five times as long, and 16 bytes more for each pair of
    /// columns. The equations are solved in that precision. Products below 1e-290 have fewer digits.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// // The second feature differs from the first in the sixth digit. The target is their difference.
    /// let rows = (1..40).map(|i| f64::from(i)).map(|x| [x, x + 1e-6 * x * x, 1e-6 * x * x]);
    /// let table = HomogenNumericTable::from_row_iter(rows)?;
    /// let error = LinearRegression::new(2, 1)?.compute_over(&table)?.solve().unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::NotSolvable { .. }));
    /// let model = LinearRegression::with_extended_precision(2, 1)?.compute_over(&table)?.solve()?;
    /// assert!((model.coefficients()?.value::<f64>(0, 1)? - 1.0).abs() < 1e-6);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_extended_precision(features: usize, targets: usize) -> Result<Self> {
        let plain = Self::new(features, targets)?;
        Ok(Self { extended: Some(Extended::new(plain.covariance.column_count())?), ..plain })
    }

    /// Returns whether the sums have twice the digits of `f64`. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_learning::LinearRegression;
    /// assert!(LinearRegression::with_extended_precision(3, 1)?.has_extended_precision());
    /// assert!(!LinearRegression::new(3, 1)?.has_extended_precision());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn has_extended_precision(&self) -> bool {
        self.extended.is_some()
    }

    /// Returns the number of features. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_learning::LinearRegression;
    /// assert_eq!(LinearRegression::new(3, 2)?.feature_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Returns the number of targets. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_learning::LinearRegression;
    /// assert_eq!(LinearRegression::new(3, 2)?.target_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn target_count(&self) -> usize {
        self.covariance.column_count() - self.features
    }

    /// Returns the number of rows that were added, without those that have a missing value. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 7]])?;
    /// assert_eq!(LinearRegression::new(1, 1)?.compute_over(&table)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.covariance.row_count()
    }

    /// Returns the number of rows that were left out because they have a missing value. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, SoaNumericTable, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("x", [Some(1), Some(2), None])?;
    /// table.push_optional("y", [Some(3), Some(5), Some(9)])?;
    /// let equations = LinearRegression::new(1, 1)?.compute_over(&table)?;
    /// assert_eq!((equations.row_count(), equations.missing_rows()), (2, 1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_rows(&self) -> u64 {
        self.covariance.missing_rows()
    }

    /// Returns the sums of the equations: the covariance of the features and then of the targets. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 9]])?;
    /// assert_eq!(LinearRegression::new(1, 1)?.compute_over(&table)?.covariance().means(), [3.0, 5.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn covariance(&self) -> &Covariance {
        &self.covariance
    }

    /// Solves the equations. O(features³ + features² * targets).
    ///
    /// # Errors
    /// [`ErrorKind::TooFewRows`] if there are not more rows than features; [`ErrorKind::NotSolvable`] for a column with
    /// a NaN or an infinity, for the first feature that is constant or a linear combination of the features before it,
    /// to within rounding, or if fewer than six digits of the largest coefficient times the deviation of its feature
    /// would be correct (much smaller coefficients have fewer correct digits); [`ErrorKind::OutOfMemory`]. For
    /// dependent features, either there are many solutions, and [`solve_ridge`](Self::solve_ridge) chooses one, or the
    /// features differ in digits that [extended precision](Self::with_extended_precision) keeps.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [2, 4], [3, 9]])?;
    /// let model = LinearRegression::new(1, 1)?.compute_over(&table)?.solve()?;
    /// assert_eq!((model.intercepts(), model.coefficients()?.as_slice()?), (&[-2.0][..], &[3.5][..]));
    ///
    /// let doubled = HomogenNumericTable::from_rows(&[[1, 2, 5], [2, 4, 5], [4, 8, 6], [3, 6, 1]])?;
    /// let error = LinearRegression::new(2, 1)?.compute_over(&doubled)?.solve().unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::NotSolvable { .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn solve(&self) -> Result<RegressionModel> {
        self.solve_with(RegressionOptions::new())
    }

    /// Solves the equations with a penalty: minimizes the sum of squared residuals plus `lambda` times the sum of
    /// squared coefficients, excluding intercepts. O(features³ + features² * targets). Source: scikit-learn
    /// `Ridge(alpha=lambda)`.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `lambda` is negative or not finite; [`ErrorKind::TooFewRows`] without
    /// rows; those of [`solve`](Self::solve). Dependent columns are not an error, unless `lambda` is negligible
    /// compared with them.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let doubled = HomogenNumericTable::from_rows(&[[-1, -1, 0], [1, 1, 6]])?;
    /// let model = LinearRegression::new(2, 1)?.compute_over(&doubled)?.solve_ridge(2.0)?;
    /// assert_eq!(model.intercepts(), [3.0]);
    /// assert!(model.coefficients()?.as_slice()?.iter().all(|coefficient| (coefficient - 1.0).abs() < 1e-14));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn solve_ridge(&self, lambda: f64) -> Result<RegressionModel> {
        self.solve_with(RegressionOptions::new().ridge(lambda))
    }

    /// Solves the equations with the given options. O(features³ + features² * targets).
    ///
    /// # Errors
    /// Those of [`solve_ridge`](Self::solve_ridge). Without an intercept, the number of rows may equal the number of
    /// features, and a constant feature is not an error.
    ///
    /// # Examples
    /// See [`RegressionOptions`].
    pub fn solve_with(&self, options: RegressionOptions) -> Result<RegressionModel> {
        let RegressionOptions { lambda, has_intercept } = options;
        if !(0.0..f64::INFINITY).contains(&lambda) {
            let allowed = "0 or a finite number above it is needed";
            return Err(parameter("lambda", lambda, allowed));
        }
        let (rows, features) = (self.row_count(), self.features);
        let unknown = features as u64 + u64::from(has_intercept);
        let needed = if lambda > 0.0 { 1 } else { unknown.max(1) };
        if rows < needed {
            return Err(Error::new(ErrorKind::TooFewRows { rows, needed }));
        }
        let (mut means, products) = (self.covariance.means(), self.covariance.cross_product()?);
        let mut sums = Cow::Borrowed(products.packed::<f64>()?);
        let is_finite = |column: usize| means[column].is_finite() && sums[row_at(column) + column].is_finite();
        if let Some(column) = (0..means.len()).find(|&column| !is_finite(column)) {
            return Err(failure::sums_not_finite(column));
        }
        if let Some(extended) = &self.extended {
            let fits = extended.fit(features, lambda, has_intercept)?;
            return RegressionModel::of_fits(features, rows, has_intercept, &fits);
        }
        if !has_intercept {
            sums = Cow::Owned(about_zero(&sums, &means, rows)?);
            means.fill(0.0);
        }
        let system = System { features, rows, has_intercept, means: &means, sums: &sums };
        let at = |i, j| system.sum(i, j) + if i == j { lambda } else { 0.0 };
        let decomposed = Cholesky::new(features, at)?;
        let mut lengths = with_room(features)?;
        lengths.extend((0..features).map(|i| at(i, i).sqrt()));
        let scale = |values: &mut [f64]| values.iter_mut().zip(&lengths).for_each(|(value, length)| *value *= length);
        let condition = condition_of(
            features,
            |i, j| at(i, j) / lengths[i] / lengths[j],
            |values| {
                scale(values);
                decomposed.solve(values);
                scale(values);
            },
        )?;
        let is_solved = condition <= LIMIT; // false if it is NaN
        if !is_solved {
            return Err(failure::ill_conditioned(condition.sqrt(), LIMIT.sqrt(), false));
        }
        RegressionModel::new(&system, &decomposed)
    }
}

/// Converts sums of products about the means to sums of products about zero.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`]; [`ErrorKind::NotSolvable`].
fn about_zero(sums: &[f64], means: &[f64], rows: u64) -> Result<Vec<f64>> {
    let mut all = with_room(sums.len())?;
    for (row, mean) in means.iter().enumerate() {
        let own = &sums[row_at(row)..row_at(row + 1)];
        all.extend(own.iter().zip(means).map(|(sum, other)| sum + mean * other * rows as f64));
        if !all[row_at(row) + row].is_finite() {
            return Err(failure::sums_not_finite(row));
        }
    }
    Ok(all)
}

/// `update` adds a block of rows. For an entire table, call [`compute_over`](Partial::compute_over), which uses all
/// threads; `update` does so only if the block is large, and never with extended precision. `update` and `merge` are
/// those of [`Covariance`]. A different number of columns is [`ErrorKind::LengthMismatch`].
impl Partial for LinearRegression {
    const NAME: &'static str = "linear-regression";
    const VERSION: u32 = 2; // since sums may have extended precision
    const NEWEST_VERSION: u32 = 3; // since values may be missing

    fn version(&self) -> u32 {
        if self.missing_rows() > 0 { Self::NEWEST_VERSION } else { Self::VERSION }
    }

    fn new_like(&self) -> Result<Self> {
        let extended = self.extended.as_ref().map(|_| Extended::new(self.covariance.column_count())).transpose()?;
        Ok(Self { covariance: self.covariance.new_like()?, features: self.features, extended })
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        let columns = self.covariance.column_count();
        let found = self.extended.as_ref().map(|_| Extended::of(rows, columns)).transpose()?;
        self.covariance.update(rows)?;
        if let (Some(mine), Some(found)) = (&mut self.extended, found) {
            mine.merge(&found);
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        same_count(self.features, other.features)?;
        if self.has_extended_precision() != other.has_extended_precision() {
            let reason = "one has extended precision and the other does not";
            return Err(not_combinable(reason.to_owned()));
        }
        self.covariance.merge(&other.covariance)?;
        if let (Some(mine), Some(theirs)) = (&mut self.extended, &other.extended) {
            mine.merge(theirs);
        }
        Ok(())
    }

    fn size_in_bytes(&self) -> usize {
        self.covariance.size_in_bytes() + self.extended.as_ref().map_or(0, Extended::size_in_bytes)
    }
}

/// The serialized form of equations.
#[derive(serde::Serialize)]
#[serde(rename = "LinearRegression")]
struct Written<'a> {
    features: usize,
    covariance: &'a Covariance,
    extended: Option<extended::Parts<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename = "LinearRegression", deny_unknown_fields)]
struct Read<'a> {
    features: usize,
    covariance: Covariance,
    extended: Option<extended::Parts<'a>>,
}

impl Serialize for LinearRegression {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let extended = self.extended.as_ref().map(extended::Parts::of).transpose().map_err(refused)?;
        Written { features: self.features, covariance: &self.covariance, extended }.serialize(serializer)
    }
}

/// Rejects a covariance without targets.
impl<'de> Deserialize<'de> for LinearRegression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Read { features, covariance, extended } = Read::deserialize(deserializer)?;
        let columns = covariance.column_count();
        let extended = extended.map(|parts| parts.join(columns)).transpose().map_err(remember)?;
        match features < columns {
            true => Ok(Self { covariance, features, extended }),
            false => {
                Err(de::Error::custom(format_args!("{features} features and a target are more than {columns} columns")))
            }
        }
    }
}
