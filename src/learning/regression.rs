//! Linear regression by normal equations. What is made of them is in `regression_model`.

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::cholesky::Cholesky;
use super::regression_model::{RegressionModel, System};
use crate::base::count::same_count;
use crate::base::error::{Error, Result};
use crate::partial::Partial;
use crate::statistics::Covariance;
use crate::table::NumericTable;

/// Linear regression with an intercept, by normal equations: the least squares fit of some columns, the targets, by the
/// others, the features.
///
/// A [`Partial`] result, which serde can serialize as well: the sums of parts of a table, or of many files, are merged,
/// and the equations are solved at the end. The last columns of a table are the targets; put others there with
/// `table.select_columns(["x", "y", "target"])`.
///
/// The sums are those of [`Covariance`]: about the means, in one pass, exact to the last digits. The equations are
/// solved by Cholesky's decomposition, `LDL'`. The error of coefficients grows with the condition of the correlations
/// of the features, which is the square of that of the centred and scaled table: of 16 digits, 11 to 13 are left of
/// NIST's Longley data. A method that keeps the table, such as QR, loses half as many.
///
/// A NaN or an infinity in a column is an error when the equations are solved; filter such rows before. Cost:
/// O(rows * columns²) for the sums, O(features³) for a solution; memory: `4 n²` bytes for `n` columns.
///
/// Source: DAAL `linear_regression` and `ridge_regression` (`normEq`; `step1Local`, `step2Master`), scikit-learn
/// `LinearRegression` and `Ridge`.
///
/// # Examples
/// ```
/// use numeric_table::{LinearRegression, Partial, prelude::*};
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
}

impl LinearRegression {
    /// Creates equations without rows, of tables of `features` columns, followed by `targets` columns. O(columns²).
    ///
    /// # Errors
    /// [`Error::ParameterOutOfRange`] if there are no targets; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::LinearRegression;
    /// let regression = LinearRegression::new(3, 2)?; // of tables of 5 columns
    /// assert_eq!((regression.feature_count(), regression.target_count(), regression.row_count()), (3, 2, 0));
    /// assert!(LinearRegression::new(3, 0).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(features: usize, targets: usize) -> Result<Self> {
        if targets == 0 {
            let allowed = "at least 1 is needed";
            return Err(Error::ParameterOutOfRange { name: "the number of targets", value: 0.0, allowed });
        }
        let columns = features.checked_add(targets).ok_or(Error::OutOfMemory { bytes: usize::MAX })?;
        Ok(Self { covariance: Covariance::new(columns)?, features })
    }

    /// Returns the number of features. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::LinearRegression;
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
    /// # use numeric_table::LinearRegression;
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
    /// # use numeric_table::{LinearRegression, Partial, prelude::*};
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
    /// # use numeric_table::{LinearRegression, Partial, prelude::*};
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
    /// [`Error::TooFewRows`] if there are not more rows than features; [`Error::SumsNotFinite`] for a column with a NaN
    /// or an infinity; [`Error::DependentColumn`] for the first feature that is constant, or a linear combination of
    /// the features before it, but for rounding: there are many solutions then, of which
    /// [`solve_ridge`](Self::solve_ridge) chooses one; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{LinearRegression, Partial, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [2, 4], [3, 9]])?;
    /// let model = LinearRegression::new(1, 1)?.compute(&table)?.solve()?;
    /// assert_eq!((model.intercepts(), model.coefficients()?.as_slice()?), (&[-2.0][..], &[3.5][..]));
    ///
    /// let doubled = HomogenNumericTable::from_rows(&[[1, 2, 5], [2, 4, 5], [4, 8, 6], [3, 6, 1]])?;
    /// let error = LinearRegression::new(2, 1)?.compute(&doubled)?.solve().unwrap_err();
    /// assert!(matches!(error, Error::DependentColumn { column: 1 }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn solve(&self) -> Result<RegressionModel> {
        self.solve_with(0.0)
    }

    /// Solves the equations with a penalty: minimizes the sum of squared residuals plus `lambda` times the sum of
    /// squared coefficients, intercepts left out. O(features³ + features² * targets). Source: scikit-learn
    /// `Ridge(alpha=lambda)`.
    ///
    /// # Errors
    /// [`Error::ParameterOutOfRange`] if `lambda` is negative or not finite; [`Error::TooFewRows`] without rows; those
    /// of [`solve`](Self::solve). Columns that depend on each other are none, unless `lambda` is next to nothing beside
    /// them.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{LinearRegression, Partial, prelude::*};
    /// let doubled = HomogenNumericTable::from_rows(&[[-1, -1, 0], [1, 1, 6]])?;
    /// let model = LinearRegression::new(2, 1)?.compute(&doubled)?.solve_ridge(2.0)?;
    /// assert_eq!(model.intercepts(), [3.0]);
    /// assert!(model.coefficients()?.as_slice()?.iter().all(|coefficient| (coefficient - 1.0).abs() < 1e-14));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn solve_ridge(&self, lambda: f64) -> Result<RegressionModel> {
        if !(0.0..f64::INFINITY).contains(&lambda) {
            let allowed = "0 or a finite number above it is needed";
            return Err(Error::ParameterOutOfRange { name: "lambda", value: lambda, allowed });
        }
        self.solve_with(lambda)
    }

    fn solve_with(&self, lambda: f64) -> Result<RegressionModel> {
        let needed = if lambda > 0.0 { 1 } else { self.features as u64 + 1 };
        if self.row_count() < needed {
            return Err(Error::TooFewRows { rows: self.row_count(), needed });
        }
        let (means, products) = (self.covariance.means(), self.covariance.cross_product()?);
        let system =
            System { features: self.features, rows: self.row_count(), means: &means, sums: products.packed()? };
        let is_finite = |column: usize| means[column].is_finite() && system.sum(column, column).is_finite();
        if let Some(column) = (0..means.len()).find(|&column| !is_finite(column)) {
            return Err(Error::SumsNotFinite { column });
        }
        let decomposed = Cholesky::new(self.features, |i, j| system.sum(i, j) + if i == j { lambda } else { 0.0 })?;
        RegressionModel::new(&system, &decomposed)
    }
}

/// `update_table` and `merge` are those of [`Covariance`]; other numbers of columns are [`Error::LengthMismatch`].
impl Partial for LinearRegression {
    const NAME: &'static str = "linear-regression";

    fn empty(&self) -> Result<Self> {
        Ok(Self { covariance: self.covariance.empty()?, features: self.features })
    }

    fn update_table(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.covariance.update_table(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        same_count(self.features, other.features)?;
        self.covariance.merge(&other.covariance)
    }

    fn size_in_bytes(&self) -> usize {
        self.covariance.size_in_bytes()
    }
}

/// Equations as they are serialized.
#[derive(serde::Serialize)]
#[serde(rename = "LinearRegression")]
struct Written<'a> {
    features: usize,
    covariance: &'a Covariance,
}

#[derive(serde::Deserialize)]
#[serde(rename = "LinearRegression", deny_unknown_fields)]
struct Read {
    features: usize,
    covariance: Covariance,
}

impl Serialize for LinearRegression {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Written { features: self.features, covariance: &self.covariance }.serialize(serializer)
    }
}

/// A covariance without targets is refused.
impl<'de> Deserialize<'de> for LinearRegression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Read { features, covariance } = Read::deserialize(deserializer)?;
        match features < covariance.column_count() {
            true => Ok(Self { covariance, features }),
            false => {
                let columns = covariance.column_count();
                Err(de::Error::custom(format_args!("{features} features and a target are more than {columns} columns")))
            }
        }
    }
}
