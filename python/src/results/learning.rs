//! Clustering and regression: steps of k-means, linear regression.

use std::sync::Arc;

use numeric_table_learning::RegressionOptions;
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableError};
use crate::base::numbers;
use crate::results::{Partial, Pickled, labels, matrix, number, object, on_table, properties, state, vector};

/// A step of k-means: assigns each row to its nearest centroid, and computes the centroids of the next step from the
/// rows of each cluster.
///
/// ``KMeansStep(centroids)`` takes a table, or rows of numbers, with a row for each cluster.
///
/// >>> import numeric_table as nt
/// >>> table = nt.Table([[0.0, 1.0], [0.0, 3.0], [9.0, 9.0], [11.0, 9.0]])
/// >>> step = nt.KMeansStep(table[1:3])  # any two rows, to begin with
/// >>> step.update(table)
/// >>> while step.shift > 0:
/// ...     step = step.next_step()
/// ...     step.update(table)
/// >>> step.centroids
/// array([[ 0.,  2.],
///        [10.,  9.]])
/// >>> step.assign(table)
/// array([0, 0, 1, 1], dtype=int32)
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "KMeansStep")]
pub(crate) struct KMeansStep;

type Step = numeric_table_learning::KMeansStep;

#[methods]
impl KMeansStep {
    #[new]
    fn new(centroids: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        Ok(Partial::new(on_table(centroids, Step::new)?).of_class(Self))
    }

    /// Returns the next step, without rows.
    fn next_step(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let centroids = state::<Step>(slf)?.centroids().or_raise()?;
        object(slf.py(), Arc::new(Step::new(&centroids).or_raise()?))
    }

    /// Returns the index of the nearest centroid of each row, among those with which the step was created; -1 for rows
    /// with a NaN or an infinity.
    fn assign<'py>(slf: &Bound<'py, Self>, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let own = state::<Step>(slf)?;
        labels(slf.py(), &on_table(table, |table| own.assign(table))?)
    }
}

properties! { KMeansStep: |own: Step, py|
    /// The number of clusters.
    cluster_count = number(py, own.cluster_count());

    /// The number of columns.
    column_count = number(py, own.column_count());

    /// The number of rows of each cluster.
    counts = vector(py, own.counts().iter().copied());

    /// The number of rows with a NaN or an infinity, which belong to no cluster.
    non_finite_rows = number(py, own.non_finite_rows());

    /// The sums of the rows of each cluster.
    sums = matrix::<f64>(py, &own.sums().or_raise()?);

    /// The sum of the squared distances of rows from their nearest centroids.
    inertia = number(py, own.inertia());

    /// The centroids of the next step: the mean of each cluster, or the old centroid of a cluster without rows.
    centroids = matrix::<f64>(py, &own.centroids().or_raise()?);

    /// The sum of the squared distances between the centroids of this step and the next: zero if another step would
    /// change nothing.
    shift = number(py, own.shift());
}

/// The equations of a linear regression by least squares. The tables have the columns of the features, then those of
/// the targets. ``extended_precision`` doubles the precision of the sums, which takes about five times as long. Use it
/// for features that are nearly dependent, such as the powers of a number.
///
/// >>> import numeric_table as nt
/// >>> regression = nt.LinearRegression(1, 2)
/// >>> regression.update([[0.0, 1.0, 9.0], [1.0, 3.0, 8.0], [2.0, 5.0, 7.0]])
/// >>> model = regression.solve()
/// >>> model.coefficients, model.intercepts
/// (array([[ 2.],
///        [-1.]]), array([1., 9.]))
/// >>> model.predict([[3.0], [10.0]])
/// array([[ 7.,  6.],
///        [21., -1.]])
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "LinearRegression")]
pub(crate) struct LinearRegression;

type Regression = numeric_table_learning::LinearRegression;

#[methods]
impl LinearRegression {
    #[new]
    #[pyo3(signature = (features, targets = 1, extended_precision = false))]
    fn new(
        #[pyo3(from_py_with = numbers::count)] features: usize,
        #[pyo3(from_py_with = numbers::count)] targets: usize,
        extended_precision: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let equations = match extended_precision {
            true => Regression::with_extended_precision(features, targets),
            false => Regression::new(features, targets),
        };
        Ok(Partial::new(equations.or_raise()?).of_class(Self))
    }

    /// The covariances of features and targets.
    #[getter]
    fn covariance(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let own = state::<Regression>(slf)?;
        object(slf.py(), Arc::new(own.covariance().clone()))
    }

    /// Solves the equations. ``alpha`` is a penalty: the solution minimizes the sum of squared residuals plus ``alpha``
    /// times the sum of squared coefficients, as in scikit-learn's ``Ridge``. Without an ``intercept``, the fit goes
    /// through the origin.
    #[pyo3(signature = (alpha = 0.0, intercept = true))]
    fn solve(slf: &Bound<'_, Self>, alpha: f64, intercept: bool) -> PyResult<RegressionModel> {
        if !(0.0..f64::INFINITY).contains(&alpha) {
            return Err(TableError::new_err(format!("alpha is {alpha}: a finite number of at least 0 is required")));
        }
        let own = state::<Regression>(slf)?;
        let options = RegressionOptions::new().ridge(alpha).intercept(intercept);
        let model = slf.py().detach(|| own.solve_with(options)).or_raise()?;
        Ok(RegressionModel { own, alpha, intercept, model })
    }
}

properties! { LinearRegression: |own: Regression, py|
    /// Whether the sums have twice the precision of float64.
    extended_precision = number(py, own.has_extended_precision());

    /// The number of features.
    feature_count = number(py, own.feature_count());

    /// The number of targets.
    target_count = number(py, own.target_count());
}

/// A fitted linear regression, returned by ``LinearRegression.solve()``.
#[pyclass(frozen, module = "numeric_table", name = "RegressionModel")]
pub(crate) struct RegressionModel {
    own: Arc<Regression>,
    alpha: f64,
    intercept: bool,
    model: numeric_table_learning::RegressionModel,
}

#[methods]
impl RegressionModel {
    /// The coefficients: a row for each target, and a column for each feature.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(py, &self.model.coefficients().or_raise()?)
    }

    /// The value of each target where all features are zero.
    #[getter]
    fn intercepts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        vector(py, self.model.intercepts().iter().copied())
    }

    /// The share of the variance of each target that the features explain; NaN for a constant target.
    #[getter]
    fn r_squared<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        vector(py, self.model.r_squared().iter().copied())
    }

    /// The residual standard deviation of each target.
    #[getter]
    fn residual_standard_deviations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        vector(py, self.model.residual_standard_deviations().iter().copied())
    }

    /// Returns the predicted targets for a table of features: a row for each row, and a column for each target.
    fn predict<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(table.py(), &on_table(table, |table| self.model.predict(table))?)
    }

    /// Pickles the equations. Solving them again gives the same bits.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (f64, bool)>> {
        let own = object(py, self.own.clone())?;
        Ok((own.bind(py).getattr("solve")?, (self.alpha, self.intercept)))
    }
}
