//! Statistics of the columns of a table.

use numeric_table::{BasicStatistics, ColumnStatistics, Partial};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::OrRaise;
use crate::share::Share;
use crate::table::Table;

/// Statistics of each column, in arrays of NumPy's with a value for each column.
///
/// Sums are compensated, and certified against NIST's data sets. NaN are counted and left out, infinities counted. Statistics of
/// parts of a table merge: ``a.merge(b)``.
///
/// >>> import numpy as np, numeric_table as nt
/// >>> found = nt.statistics(nt.Table(np.array([[1.0, 10.0], [3.0, 30.0]])))
/// >>> found.mean
/// array([ 2., 20.])
/// >>> int(found.row_count)
/// 2
#[pyclass(module = "numeric_table", name = "Statistics")]
pub(crate) struct Statistics(BasicStatistics);

impl Statistics {
    pub(crate) fn of(py: Python<'_>, table: &Table) -> PyResult<Self> {
        let table = table.read(py);
        let table = &**table;
        py.detach(|| BasicStatistics::of(table)).or_raise().map(Self)
    }

    fn each<'py>(&self, py: Python<'py>, value: fn(&ColumnStatistics) -> f64) -> PyResult<Bound<'py, PyAny>> {
        Share::vector(self.0.columns().iter().map(value).collect()).into_numpy(py)
    }

    fn count_each<'py>(&self, py: Python<'py>, value: fn(&ColumnStatistics) -> u64) -> PyResult<Bound<'py, PyAny>> {
        Share::vector(self.0.columns().iter().map(value).collect()).into_numpy(py)
    }
}

#[pymethods]
impl Statistics {
    /// The number of rows.
    #[getter]
    fn row_count(&self) -> u64 {
        self.0.row_count()
    }

    /// The number of values that are not NaN, of which all else is computed.
    #[getter]
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.count_each(py, ColumnStatistics::count)
    }

    /// The number of NaN.
    #[getter]
    fn nan_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.count_each(py, ColumnStatistics::nan_count)
    }

    /// The number of infinities.
    #[getter]
    fn infinity_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.count_each(py, ColumnStatistics::infinity_count)
    }

    /// The smallest value; NaN if there is none.
    #[getter]
    fn minimum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::minimum)
    }

    /// The largest value; NaN if there is none.
    #[getter]
    fn maximum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::maximum)
    }

    /// The sum.
    #[getter]
    fn sum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::sum)
    }

    /// The mean.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::mean)
    }

    /// The variance, with n - 1 in the denominator: NumPy's ``var(ddof=1)``.
    #[getter]
    fn variance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::variance)
    }

    /// The variance, with n in the denominator: NumPy's ``var()``.
    #[getter]
    fn population_variance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::population_variance)
    }

    /// The square root of the variance.
    #[getter]
    fn standard_deviation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::standard_deviation)
    }

    /// Adds the statistics of other rows.
    fn merge(&mut self, other: &Self) -> PyResult<()> {
        self.0.merge(&other.0).or_raise()
    }

    fn __reduce__<'py>(slf: Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let bytes = slf.borrow().0.to_bytes().or_raise()?;
        Ok((py.get_type::<Self>().getattr("_from_bytes")?, (PyBytes::new(py, &bytes),)))
    }

    #[staticmethod]
    fn _from_bytes(bytes: &[u8]) -> PyResult<Self> {
        BasicStatistics::from_bytes(bytes).or_raise().map(Self)
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}
