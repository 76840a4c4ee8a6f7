//! Solutions of normal equations: coefficients, their fit, and predictions.

use numeric_table::{HomogenNumericTable, NumericTable, Result, Shape};

use crate::cholesky::{Cholesky, dot};
use crate::extended::Fit;
use crate::rows::map_rows;
use numeric_table::internal::{filled, with_room};

/// Normal equations: the sums of the features and then of the targets, about the means, or about zero without an
/// intercept.
pub(crate) struct System<'a> {
    pub(crate) features: usize,
    pub(crate) rows: u64,
    pub(crate) has_intercept: bool,
    /// The means of the features and targets: zeros without an intercept.
    pub(crate) means: &'a [f64],
    /// The lower half, row by row.
    pub(crate) sums: &'a [f64],
}

impl System<'_> {
    /// Returns the sum of the products of two columns.
    pub(crate) fn sum(&self, i: usize, j: usize) -> f64 {
        let (row, column) = (i.max(j), i.min(j));
        self.sums[row * (row + 1) / 2 + column]
    }
}

/// Returns the number of rows minus the number of coefficients of a target.
fn degrees_of(rows: u64, features: usize, has_intercept: bool) -> u64 {
    rows.saturating_sub(features as u64 + u64::from(has_intercept))
}

/// Returns the explained share: NaN if the total is zero.
fn share_of(left: f64, all: f64) -> f64 {
    if all > 0.0 { 1.0 - left / all } else { f64::NAN }
}

fn deviation_of(left: f64, degrees: u64) -> f64 {
    if degrees > 0 { (left / degrees as f64).sqrt() } else { f64::NAN }
}

/// A linear function of the features for each target. Created by
/// [`LinearRegression::solve`](super::LinearRegression::solve), whose type has an example.
///
/// # Examples
/// ```
/// use numeric_table::{Partial, prelude::*};
/// use numeric_table_learning::LinearRegression;
/// let table = HomogenNumericTable::from_rows(&[[1.0, 2.0], [2.0, 4.0], [3.0, 9.0], [4.0, 7.0]])?;
/// let model = LinearRegression::new(1, 1)?.compute_over(&table)?.solve()?;
/// assert!((model.r_squared()[0] - 20.0 / 29.0).abs() < 1e-14);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionModel {
    features: usize,
    intercepts: Vec<f64>,
    /// Target by target, the coefficient of each feature.
    coefficients: Vec<f64>,
    r_squared: Vec<f64>,
    deviations: Vec<f64>,
}

impl RegressionModel {
    pub(crate) fn new(system: &System<'_>, decomposed: &Cholesky) -> Result<Self> {
        let (features, columns) = (system.features, system.means.len());
        let targets = columns - features;
        let room = || with_room(targets);
        let (mut intercepts, mut r_squared, mut deviations) = (room()?, room()?, room()?);
        let mut coefficients = filled(targets.saturating_mul(features), 0.0)?;
        let degrees = degrees_of(system.rows, features, system.has_intercept);
        for target in 0..targets {
            let own = &mut coefficients[target * features..(target + 1) * features];
            let right = |i: usize| system.sum(features + target, i);
            own.iter_mut().enumerate().for_each(|(i, place)| *place = right(i));
            decomposed.solve(own);
            intercepts.push(system.means[features + target] - dot(own, &system.means[..features]));

            // The residual sum of squares, `y'y - 2 b'X'y + b'X'Xb`, is correct for any coefficients, including those
            // of a ridge regression.
            let all = system.sum(features + target, features + target);
            let explained = own.iter().enumerate().map(|(i, coefficient)| {
                let mixed: f64 = own.iter().enumerate().map(|(j, other)| system.sum(i, j) * other).sum();
                coefficient * (2.0 * right(i) - mixed)
            });
            let left = (all - explained.sum::<f64>()).max(0.0);
            r_squared.push(share_of(left, all));
            deviations.push(deviation_of(left, degrees));
        }
        Ok(Self { features, intercepts, coefficients, r_squared, deviations })
    }

    /// Creates the model from fits in extended precision.
    pub(crate) fn of_fits(features: usize, rows: u64, has_intercept: bool, fits: &[Fit]) -> Result<Self> {
        let degrees = degrees_of(rows, features, has_intercept);
        let room = || with_room(fits.len());
        let (mut intercepts, mut r_squared, mut deviations) = (room()?, room()?, room()?);
        let mut coefficients = with_room(fits.len().saturating_mul(features))?;
        for fit in fits {
            intercepts.push(fit.intercept);
            coefficients.extend_from_slice(&fit.coefficients);
            r_squared.push(share_of(fit.left, fit.all));
            deviations.push(deviation_of(fit.left, degrees));
        }
        Ok(Self { features, intercepts, coefficients, r_squared, deviations })
    }

    /// Returns the number of features: the number of columns of tables to predict. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[0.0, 1.0, 9.0], [1.0, 3.0, 8.0], [2.0, 5.5, 7.0]])?;
    /// assert_eq!(LinearRegression::new(1, 2)?.compute_over(&table)?.solve()?.feature_count(), 1);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Returns the number of targets. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[0.0, 1.0, 9.0], [1.0, 3.0, 8.0], [2.0, 5.5, 7.0]])?;
    /// assert_eq!(LinearRegression::new(1, 2)?.compute_over(&table)?.solve()?.target_count(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn target_count(&self) -> usize {
        self.intercepts.len()
    }

    /// Returns the intercept of each target: its value if all features are zero. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[0.0, 1.0, 9.0], [1.0, 3.0, 8.0], [2.0, 5.0, 7.0]])?;
    /// assert_eq!(LinearRegression::new(1, 2)?.compute_over(&table)?.solve()?.intercepts(), [1.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// Returns the coefficients, with a row for each target and a column for each feature. O(targets * features).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](numeric_table::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[0.0, 1.0, 9.0], [1.0, 3.0, 8.0], [2.0, 5.0, 7.0]])?;
    /// let coefficients = LinearRegression::new(1, 2)?.compute_over(&table)?.solve()?.coefficients()?;
    /// assert_eq!((coefficients.shape().rows, coefficients.as_slice()?), (2, &[2.0, -1.0][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn coefficients(&self) -> Result<HomogenNumericTable<f64>> {
        let shape = Shape { rows: self.target_count(), columns: self.features };
        HomogenNumericTable::from_fn(shape, |row, column| self.coefficients[row * shape.columns + column])
    }

    /// Returns the coefficient of determination of each target over the rows of the equations: the share of its
    /// variance that the features explain, at most 1. It is NaN for a constant target. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[-1.0, 1.0], [0.0, 4.0], [1.0, 1.0]])?;
    /// assert_eq!(LinearRegression::new(1, 1)?.compute_over(&table)?.solve()?.r_squared(), [0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn r_squared(&self) -> &[f64] {
        &self.r_squared
    }

    /// Returns the residual standard deviation of each target: the square root of the sum of squared residuals divided
    /// by the number of rows minus the number of features minus one. It is NaN if the divisor is zero. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[-1.0, 1.0], [0.0, 4.0], [1.0, 1.0]])?;
    /// let model = LinearRegression::new(1, 1)?.compute_over(&table)?.solve()?;
    /// assert_eq!(model.residual_standard_deviations(), [6.0_f64.sqrt()]); // of residuals -1, 2, -1
    /// # Ok::<(), Error>(())
    /// ```
    pub fn residual_standard_deviations(&self) -> &[f64] {
        &self.deviations
    }

    /// Computes the targets of each row of a table of features, with a column for each target. Runs in parallel if the
    /// feature `rayon` is on and the table is large. O(rows * targets * features). A NaN or an infinity makes the
    /// targets of its row NaN or infinite, and a missing value makes them NaN.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`](numeric_table::ErrorKind::LengthMismatch) if the number of columns is not the
    /// number of features; those of reading the table;
    /// [`ErrorKind::OutOfMemory`](numeric_table::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::LinearRegression;
    /// let table = HomogenNumericTable::from_rows(&[[0.0, 1.0, 9.0], [1.0, 3.0, 8.0], [2.0, 5.0, 7.0]])?;
    /// let model = LinearRegression::new(1, 2)?.compute_over(&table)?.solve()?;
    /// let predicted = model.predict(&HomogenNumericTable::from_rows(&[[3_u8], [10]])?)?;
    /// assert_eq!(predicted.as_slice()?, [7.0, 6.0, 21.0, -1.0]);
    /// assert!(model.predict(&table).is_err()); // two columns too many
    /// # Ok::<(), Error>(())
    /// ```
    pub fn predict(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<f64>> {
        let features = self.features;
        map_rows(table, features, self.target_count(), 0, |_, values, _, result: &mut [f64]| {
            for (target, place) in result.iter_mut().enumerate() {
                let own = &self.coefficients[target * features..(target + 1) * features];
                *place = self.intercepts[target] + dot(values, own);
            }
            Ok(())
        })
    }
}
