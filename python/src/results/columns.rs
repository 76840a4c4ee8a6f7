//! Statistics of the columns of a table.

use numeric_table::table::ColumnKey;
use numeric_table::{
    DataDictionary,
    statistics::{BasicStatistics, ColumnStatistics, StatisticsOptions},
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::boundary::methods;
use crate::base::error::OrRaise;
use crate::base::numbers;
use crate::base::progress::hear;
use crate::files::reader::Reader;
use crate::results::{Partial, on_table, state, vector};

/// Statistics of each column, in NumPy arrays with one value per column.
///
/// ``Statistics(columns)`` starts without rows; ``nt.statistics(table)`` computes those of a table. Sums are
/// compensated, and certified against NIST's data sets. Missing values and NaN are counted, each by themselves, and
/// skipped; infinities are counted.
/// ``a.merge(b)`` merges statistics of parts of a table.
///
/// >>> import numpy as np, numeric_table as nt
/// >>> found = nt.statistics(nt.Table(np.array([[1.0, 10.0], [3.0, 30.0]])))
/// >>> found.mean
/// array([ 2., 20.])
/// >>> int(found.row_count)
/// 2
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "Statistics")]
pub(crate) struct Statistics;

/// A column of a result: its index, or its name.
pub(crate) enum Key {
    Number(usize),
    Name(String),
}

impl Key {
    pub(crate) fn of(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        match key.extract::<String>() {
            Ok(name) => Ok(Self::Name(name)),
            Err(_) => numbers::place(key).map(Self::Number),
        }
    }
}

impl ColumnKey for Key {
    fn column_in(&self, dictionary: &DataDictionary) -> numeric_table::Result<usize> {
        match self {
            Self::Number(number) => number.column_in(dictionary),
            Self::Name(name) => name.column_in(dictionary),
        }
    }
}

/// Counts and numbers of a column, with their names.
type Named<N> = (&'static str, fn(&ColumnStatistics) -> N);
const COUNTS: [Named<u64>; 4] = [
    ("count", ColumnStatistics::count),
    ("missing_count", ColumnStatistics::missing_count),
    ("nan_count", ColumnStatistics::nan_count),
    ("infinity_count", ColumnStatistics::infinity_count),
];
const NUMBERS: [Named<f64>; 7] = [
    ("minimum", ColumnStatistics::minimum),
    ("maximum", ColumnStatistics::maximum),
    ("sum", ColumnStatistics::sum),
    ("mean", ColumnStatistics::mean),
    ("variance", ColumnStatistics::variance),
    ("population_variance", ColumnStatistics::population_variance),
    ("standard_deviation", ColumnStatistics::standard_deviation),
];

/// Returns a dictionary of arrays, each with one value per element of `found`.
pub(crate) fn of_each<'py>(py: Python<'py>, found: &[ColumnStatistics]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    COUNTS.into_iter().try_for_each(|(name, count)| all.set_item(name, vector(py, found.iter().map(count))?))?;
    NUMBERS.into_iter().try_for_each(|(name, number)| all.set_item(name, vector(py, found.iter().map(number))?))?;
    Ok(all)
}

/// Returns the statistics of a table.
pub(crate) fn of(table: &Bound<'_, PyAny>) -> PyResult<Py<Statistics>> {
    let options = StatisticsOptions::new().on_progress(hear);
    let found = on_table(table, |table| BasicStatistics::compute_with(table, options))?;
    Py::new(table.py(), Partial::new(found).of_class(Statistics))
}

/// Returns the statistics of the rows of a file.
pub(crate) fn of_file(py: Python<'_>, reader: &Reader) -> PyResult<Py<Statistics>> {
    Py::new(py, Partial::new(reader.statistics(py)?).of_class(Statistics))
}

fn each<'py>(slf: &Bound<'py, Statistics>, value: fn(&ColumnStatistics) -> f64) -> PyResult<Bound<'py, PyAny>> {
    vector(slf.py(), state::<BasicStatistics>(slf)?.per_column().iter().map(value))
}

fn count_each<'py>(slf: &Bound<'py, Statistics>, value: fn(&ColumnStatistics) -> u64) -> PyResult<Bound<'py, PyAny>> {
    vector(slf.py(), state::<BasicStatistics>(slf)?.per_column().iter().map(value))
}

#[methods]
impl Statistics {
    #[new]
    fn new(#[pyo3(from_py_with = numbers::count)] columns: usize) -> PyResult<PyClassInitializer<Self>> {
        Ok(Partial::new(BasicStatistics::new(columns).or_raise()?).of_class(Self))
    }

    /// The number of values that are neither missing nor NaN. All other statistics are computed from these values.
    #[getter]
    fn count<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        count_each(slf, ColumnStatistics::count)
    }

    /// The number of missing values. NaN is not one of them.
    #[getter]
    fn missing_count<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        count_each(slf, ColumnStatistics::missing_count)
    }

    /// The number of NaN values.
    #[getter]
    fn nan_count<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        count_each(slf, ColumnStatistics::nan_count)
    }

    /// The number of infinities.
    #[getter]
    fn infinity_count<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        count_each(slf, ColumnStatistics::infinity_count)
    }

    /// The smallest value; NaN for a column without values.
    #[getter]
    fn minimum<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        each(slf, ColumnStatistics::minimum)
    }

    /// The largest value; NaN for a column without values.
    #[getter]
    fn maximum<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        each(slf, ColumnStatistics::maximum)
    }

    /// The sum.
    #[getter]
    fn sum<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        each(slf, ColumnStatistics::sum)
    }

    /// The mean.
    #[getter]
    fn mean<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        each(slf, ColumnStatistics::mean)
    }

    /// The variance, with n - 1 in the denominator, like NumPy's ``var(ddof=1)``.
    #[getter]
    fn variance<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        each(slf, ColumnStatistics::variance)
    }

    /// The variance, with n in the denominator, like NumPy's ``var()``.
    #[getter]
    fn population_variance<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        each(slf, ColumnStatistics::population_variance)
    }

    /// The square root of the variance.
    #[getter]
    fn standard_deviation<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        each(slf, ColumnStatistics::standard_deviation)
    }

    /// Returns the statistics of one column, given its index or name, as a dictionary of numbers.
    fn column<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let found = *state::<BasicStatistics>(slf)?.column(&Key::of(key)?).or_raise()?;
        let all = PyDict::new(slf.py());
        COUNTS.into_iter().try_for_each(|(name, count)| all.set_item(name, count(&found)))?;
        NUMBERS.into_iter().try_for_each(|(name, number)| all.set_item(name, number(&found)))?;
        Ok(all)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(state::<BasicStatistics>(slf)?.to_string())
    }
}
