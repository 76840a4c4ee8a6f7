//! Covariances, and sums of products.

use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::error::OrRaise;
use crate::base::numbers;
use crate::results::{Partial, matrix, number, properties, tables, vector};

/// Covariances and correlations of all pairs of columns.
///
/// >>> import numeric_table as nt
/// >>> found = nt.Covariance(2)
/// >>> found.update([[1, 7], [3, 9], [5, 5]])
/// >>> found.covariance
/// array([[ 4., -2.],
///        [-2.,  4.]])
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "Covariance")]
pub(crate) struct Covariance;

#[methods]
impl Covariance {
    #[new]
    fn new(#[pyo3(from_py_with = numbers::count)] columns: usize) -> PyResult<PyClassInitializer<Self>> {
        Ok(Partial::new(numeric_table::statistics::Covariance::new(columns).or_raise()?).of_class(Self))
    }
}

properties! { Covariance: |own: numeric_table::statistics::Covariance, py|
    /// The names of the columns, ``None`` for a column without a name.
    names = number(py, tables::names(own.dictionary(), own.column_count())?);

    /// The number of columns.
    column_count = number(py, own.column_count());

    /// The number of rows with a missing value, which are left out.
    missing_rows = number(py, own.missing_rows());

    /// The mean of each column.
    means = vector(py, own.means());

    /// The sums of the products of deviations from the means.
    cross_product = matrix::<f64>(py, &own.cross_product().or_raise()?);

    /// The covariances, with n - 1 in the denominator, like NumPy's ``cov``.
    covariance = matrix::<f64>(py, &own.covariance().or_raise()?);

    /// The covariances, with n in the denominator, like NumPy's ``cov(ddof=0)``.
    population_covariance = matrix::<f64>(py, &own.population_covariance().or_raise()?);

    /// The correlations, like NumPy's ``corrcoef``. NaN for a constant column.
    correlation = matrix::<f64>(py, &own.correlation().or_raise()?);
}

/// The sums of the products of all pairs of columns: ``X.T @ X``.
///
/// >>> import numeric_table as nt
/// >>> found = nt.GramMatrix(2)
/// >>> found.update([[1, 2], [3, 4]])
/// >>> found.matrix
/// array([[10., 14.],
///        [14., 20.]])
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "GramMatrix")]
pub(crate) struct GramMatrix;

#[methods]
impl GramMatrix {
    #[new]
    fn new(#[pyo3(from_py_with = numbers::count)] columns: usize) -> PyResult<PyClassInitializer<Self>> {
        Ok(Partial::new(numeric_table::statistics::GramMatrix::new(columns).or_raise()?).of_class(Self))
    }
}

properties! { GramMatrix: |own: numeric_table::statistics::GramMatrix, py|
    /// The names of the columns, ``None`` for a column without a name.
    names = number(py, tables::names(own.dictionary(), own.column_count())?);

    /// The number of columns.
    column_count = number(py, own.column_count());

    /// The number of rows with a missing value, which are left out.
    missing_rows = number(py, own.missing_rows());

    /// The sum of each column.
    sums = vector(py, own.sums().or_raise()?);

    /// The sums of products.
    matrix = matrix::<f64>(py, &own.matrix().or_raise()?);
}
