//! Linear regression by normal equations. What is made of them is in `regression_model`.

use std::borrow::Cow;

use numeric_table::internal::{refused, remember};
use numeric_table::{Error, ErrorKind, NumericTable, Partial, Result, statistics::Covariance};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::checks::{not_combinable, parameter, same_count};
use crate::cholesky::{Cholesky, condition_of, row_at};
use crate::extended::{self, Extended};
use crate::failure;
use crate::regression_model::{RegressionModel, System};
use crate::room::with_room;

/// Linear regression, by normal equations: the least squares fit of some columns, the targets, by the
/// others, the features.
///
/// A [`Partial`] result, which serde can serialize as well: the sums of parts of a table, or of many files, are merged,
/// and the equations are solved at the end. The last columns of a table are the targets; put others there with
/// `table.select_columns(["x", "y", "target"])`.
///
/// The sums are those of [`Covariance`]: about the means, in one pass, exact to the last digits. The equations are
/// solved by Cholesky's decomposition, `LDL'`. The error of coefficients grows with the condition of the correlations
/// of the features, which is the square of that of the centred and scaled table: of 16 digits, 11 to 13 are left of
/// NIST's Longley data, and 6 of its Wampler data, whose coefficients are small beside each other. Where less would be,
/// [`solve`](Self::solve) is an error with the condition number, and
/// [`with_extended_precision`](Self::with_extended_precision) keeps sums of twice the digits: 7 digits and more of all
/// of NIST's linear data sets, the polynomial of degree 10 (Filip) included.
///
/// A NaN or an infinity in a column is an error when the equations are solved; filter such rows before. Cost:
/// O(rows * columns²) for the sums, O(features³) for a solution; memory: `4 n²` bytes for `n` columns.
///
/// Source: DAAL `linear_regression` and `ridge_regression` (`normEq`; `step1Local`, `step2Master`), scikit-learn
/// `LinearRegression` and `Ridge`.
///
/// # Examples
/// ```
/// use numeric_table::{Partial, prelude::*};
/// use numeric_table_learning::LinearRegression;
/// // Two features and a target, which is 1 + 2 x - y.
/// let table = HomogenNumericTable::from_rows(&[[0.0, 0.0, 1.0], [1.0, 0.0, 3.0], [0.0, 2.0, -1.0], [3.0, 1.0, 6.0]])?;
/// let model = LinearRegression::new(2, 1)?.compute(&table)?.solve()?; // in parallel if the table is large
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
    /// Of the features, and then the targets: one at least.
    covariance: Covariance,
    features: usize,
    /// The sums of products with twice the digits, if they are asked for.
    extended: Option<Extended>,
}

/// How equations are solved: [`LinearRegression::solve_with`].
///
/// # Examples
/// ```
/// use numeric_table::{Partial, prelude::*};
/// use numeric_table_learning::{LinearRegression, RegressionOptions};
/// let table = HomogenNumericTable::from_rows(&[[1.0, 2.0], [2.0, 4.0], [3.0, 7.0]])?;
/// let model = LinearRegression::new(1, 1)?.compute(&table)?.solve_with(RegressionOptions::new().intercept(false))?;
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
    /// Returns the options of [`LinearRegression::solve`]: an intercept, and no penalty.
    ///
    /// # Examples
    /// See the type.
    pub fn new() -> Self {
        Self { lambda: 0.0, has_intercept: true }
    }

    /// Sets whether there is an intercept. Without one, the fit goes through the origin, and the coefficient of
    /// determination is the share of the squares of the target, not of their deviations from its mean.
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
    /// let equations = LinearRegression::new(1, 1)?.compute(&HomogenNumericTable::from_rows(&[[1, 1], [-1, -1]])?)?;
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

/// The largest square of a condition number that leaves 6 digits of sums in `f64`.
const LIMIT: f64 = 1e9;

impl LinearRegression {
    /// Creates equations without rows, of tables of `features` columns, followed by `targets` columns. O(columns²).
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if there are no targets; [`ErrorKind::OutOfMemory`].
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

    /// Creates equations whose sums have twice the digits of `f64`, for features that nearly depend on each other, such
    /// as the powers of a number: up to a condition number of 1e12 of the features, each scaled to the same length,
    /// where
    /// [`new`](Self::new) ends at 3e4. Sums take about five times as long, and 16 bytes more for each pair of columns. The
    /// equations are solved in that precision. Products below 1e-290 have fewer digits.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// // A second feature that differs from the first one in the sixth digit; the target is their difference.
    /// let rows = (1..40).map(|i| f64::from(i)).map(|x| [x, x + 1e-6 * x * x, 1e-6 * x * x]);
    /// let table = HomogenNumericTable::from_row_iter(rows)?;
    /// let error = LinearRegression::new(2, 1)?.compute(&table)?.solve().unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::NotSolvable { .. }));
    /// let model = LinearRegression::with_extended_precision(2, 1)?.compute(&table)?.solve()?;
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

    /// Returns the number of rows that were added. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 7]])?;
    /// assert_eq!(LinearRegression::new(1, 1)?.compute(&table)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.covariance.row_count()
    }

    /// Returns the sums that the equations consist of: the covariance of the features and then the targets. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 9]])?;
    /// assert_eq!(LinearRegression::new(1, 1)?.compute(&table)?.covariance().means(), [3.0, 5.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn covariance(&self) -> &Covariance {
        &self.covariance
    }

    /// Solves the equations. O(features³ + features² * targets).
    ///
    /// # Errors
    /// [`ErrorKind::TooFewRows`] if there are not more rows than features; [`ErrorKind::NotSolvable`] for a column with
    /// a NaN or an infinity, or for the first feature that is constant, or a linear combination of the features before
    /// it, to within rounding: either there are many solutions, and [`solve_ridge`](Self::solve_ridge) chooses one, or
    /// the features differ in digits that [extended precision](Self::with_extended_precision) keeps, or if fewer than
    /// six digits of the largest coefficient would be right, each coefficient times the deviation of its feature (of
    /// much smaller ones, fewer digits are right); [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [2, 4], [3, 9]])?;
    /// let model = LinearRegression::new(1, 1)?.compute(&table)?.solve()?;
    /// assert_eq!((model.intercepts(), model.coefficients()?.as_slice()?), (&[-2.0][..], &[3.5][..]));
    ///
    /// let doubled = HomogenNumericTable::from_rows(&[[1, 2, 5], [2, 4, 5], [4, 8, 6], [3, 6, 1]])?;
    /// let error = LinearRegression::new(2, 1)?.compute(&doubled)?.solve().unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::NotSolvable { .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn solve(&self) -> Result<RegressionModel> {
        self.solve_with(RegressionOptions::new())
    }

    /// Solves the equations with a penalty: minimizes the sum of squared residuals plus `lambda` times the sum of
    /// squared coefficients, intercepts left out. O(features³ + features² * targets). Source: scikit-learn
    /// `Ridge(alpha=lambda)`.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `lambda` is negative or not finite; [`ErrorKind::TooFewRows`] without
    /// rows; those of [`solve`](Self::solve). Columns that depend on each other are none, unless `lambda` is next to
    /// nothing beside them.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let doubled = HomogenNumericTable::from_rows(&[[-1, -1, 0], [1, 1, 6]])?;
    /// let model = LinearRegression::new(2, 1)?.compute(&doubled)?.solve_ridge(2.0)?;
    /// assert_eq!(model.intercepts(), [3.0]);
    /// assert!(model.coefficients()?.as_slice()?.iter().all(|coefficient| (coefficient - 1.0).abs() < 1e-14));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn solve_ridge(&self, lambda: f64) -> Result<RegressionModel> {
        self.solve_with(RegressionOptions::new().ridge(lambda))
    }

    /// Solves the equations, with an intercept or without one, and with a penalty or without one. O(features³ +
    /// features² * targets).
    ///
    /// # Errors
    /// Those of [`solve_ridge`](Self::solve_ridge); without an intercept, as many rows as features are enough, and a
    /// constant feature is like others.
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
        let is_solved = condition <= LIMIT; // not if it is NaN
        if !is_solved {
            return Err(failure::ill_conditioned(condition.sqrt(), LIMIT.sqrt(), false));
        }
        RegressionModel::new(&system, &decomposed)
    }
}

/// Returns the sums of products of columns, from those about their means.
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

/// `update_table` and `merge` are those of [`Covariance`]; other numbers of columns are [`ErrorKind::LengthMismatch`].
impl Partial for LinearRegression {
    const NAME: &'static str = "linear-regression";
    const VERSION: u32 = 2; // since sums may have extended precision

    fn empty(&self) -> Result<Self> {
        let extended = self.extended.as_ref().map(|_| Extended::new(self.covariance.column_count())).transpose()?;
        Ok(Self { covariance: self.covariance.empty()?, features: self.features, extended })
    }

    fn update_table(&mut self, rows: &dyn NumericTable) -> Result<()> {
        let columns = self.covariance.column_count();
        let found = self.extended.as_ref().map(|_| Extended::of(rows, columns)).transpose()?;
        self.covariance.update_table(rows)?;
        if let (Some(mine), Some(found)) = (&mut self.extended, found) {
            mine.merge(&found);
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        same_count(self.features, other.features)?;
        if self.has_extended_precision() != other.has_extended_precision() {
            let reason = "one of them has extended precision, and the other has not";
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

/// Equations as they are serialized.
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

/// A covariance without targets is refused.
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
