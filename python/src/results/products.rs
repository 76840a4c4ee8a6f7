//! Covariances, and sums of products.

use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::error::OrRaise;
use crate::base::numbers;
use crate::results::{Partial, matrix, state, vector};

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

    /// The number of columns.
    #[getter]
    fn column_count(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(state::<numeric_table::statistics::Covariance>(slf)?.column_count())
    }

    /// The number of rows with a missing value, which are left out.
    #[getter]
    fn missing_rows(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(state::<numeric_table::statistics::Covariance>(slf)?.missing_rows())
    }

    /// The mean of each column.
    #[getter]
    fn means<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        vector(slf.py(), state::<numeric_table::statistics::Covariance>(slf)?.means())
    }

    /// The sums of the products of deviations from the means.
    #[getter]
    fn cross_product<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(slf.py(), &state::<numeric_table::statistics::Covariance>(slf)?.cross_product().or_raise()?)
    }

    /// The covariances, with n - 1 in the denominator, like NumPy's ``cov``.
    #[getter]
    fn covariance<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(slf.py(), &state::<numeric_table::statistics::Covariance>(slf)?.covariance().or_raise()?)
    }

    /// The covariances, with n in the denominator, like NumPy's ``cov(ddof=0)``.
    #[getter]
    fn population_covariance<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(
            slf.py(),
            &state::<numeric_table::statistics::Covariance>(slf)?.population_covariance().or_raise()?,
        )
    }

    /// The correlations, like NumPy's ``corrcoef``. NaN for a constant column.
    #[getter]
    fn correlation<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(slf.py(), &state::<numeric_table::statistics::Covariance>(slf)?.correlation().or_raise()?)
    }
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

    /// The number of columns.
    #[getter]
    fn column_count(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(state::<numeric_table::statistics::GramMatrix>(slf)?.column_count())
    }

    /// The number of rows with a missing value, which are left out.
    #[getter]
    fn missing_rows(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(state::<numeric_table::statistics::GramMatrix>(slf)?.missing_rows())
    }

    /// The sum of each column.
    #[getter]
    fn sums<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        vector(slf.py(), state::<numeric_table::statistics::GramMatrix>(slf)?.sums().or_raise()?)
    }

    /// The sums of products.
    #[getter]
    fn matrix<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(slf.py(), &state::<numeric_table::statistics::GramMatrix>(slf)?.matrix().or_raise()?)
    }
}
