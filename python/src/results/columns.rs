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
use crate::results::{Partial, on_table, properties, state, vector};

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

#[methods]
impl Statistics {
    #[new]
    fn new(#[pyo3(from_py_with = numbers::count)] columns: usize) -> PyResult<PyClassInitializer<Self>> {
        Ok(Partial::new(BasicStatistics::new(columns).or_raise()?).of_class(Self))
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

properties! { Statistics: |own: BasicStatistics, py|
    /// The number of values that are neither missing nor NaN. All other statistics are computed from these values.
    count = vector(py, own.per_column().iter().map(ColumnStatistics::count));

    /// The number of missing values. NaN is not one of them.
    missing_count = vector(py, own.per_column().iter().map(ColumnStatistics::missing_count));

    /// The number of NaN values.
    nan_count = vector(py, own.per_column().iter().map(ColumnStatistics::nan_count));

    /// The number of infinities.
    infinity_count = vector(py, own.per_column().iter().map(ColumnStatistics::infinity_count));

    /// The smallest value; NaN for a column without values.
    minimum = vector(py, own.per_column().iter().map(ColumnStatistics::minimum));

    /// The largest value; NaN for a column without values.
    maximum = vector(py, own.per_column().iter().map(ColumnStatistics::maximum));

    /// The sum.
    sum = vector(py, own.per_column().iter().map(ColumnStatistics::sum));

    /// The mean.
    mean = vector(py, own.per_column().iter().map(ColumnStatistics::mean));

    /// The variance, with n - 1 in the denominator, like NumPy's ``var(ddof=1)``.
    variance = vector(py, own.per_column().iter().map(ColumnStatistics::variance));

    /// The variance, with n in the denominator, like NumPy's ``var()``.
    population_variance = vector(py, own.per_column().iter().map(ColumnStatistics::population_variance));

    /// The square root of the variance.
    standard_deviation = vector(py, own.per_column().iter().map(ColumnStatistics::standard_deviation));
}
