//! Statistics of the columns of a table.

use numeric_table::table::ColumnKey;
use numeric_table::{
    DataDictionary,
    statistics::{BasicStatistics, ColumnStatistics},
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::boundary::methods;
use crate::base::error::OrRaise;
use crate::base::numbers;
use crate::results::{Partial, properties, state, tables, vector};
use crate::table::Table;

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
///
/// ``found["a"]`` has the statistics of a column by its name, ``print(found)`` shows a line for each column:
///
/// >>> found = nt.statistics(nt.Table({"a": [1.0, 3.0], "b": [10, 30]}))
/// >>> found["b"]["mean"], found.names
/// (20.0, ['a', 'b'])
/// >>> print(found)
///    count  NaN  inf  minimum  maximum  mean  standard deviation
/// a      2    0    0      1.0      3.0   2.0              1.4142
/// b      2    0    0     10.0     30.0  20.0             14.1421
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
pub(crate) type Named<N> = (&'static str, fn(&ColumnStatistics) -> N);
pub(crate) const COUNTS: [Named<u64>; 4] = [
    ("count", ColumnStatistics::count),
    ("missing_count", ColumnStatistics::missing_count),
    ("nan_count", ColumnStatistics::nan_count),
    ("infinity_count", ColumnStatistics::infinity_count),
];
pub(crate) static NUMBERS: [Named<f64>; 7] = [
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

/// Returns a dictionary of counts and of other statistics.
pub(crate) fn of_one<'py>(
    py: Python<'py>,
    found: &ColumnStatistics,
    others: &[Named<f64>],
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    COUNTS.into_iter().try_for_each(|(name, count)| all.set_item(name, count(found)))?;
    others.iter().try_for_each(|(name, number)| all.set_item(name, number(found)))?;
    Ok(all)
}

#[methods]
impl Statistics {
    #[new]
    fn new(#[pyo3(from_py_with = numbers::count)] columns: usize) -> PyResult<PyClassInitializer<Self>> {
        Ok(Partial::new(BasicStatistics::new(columns).or_raise()?).of_class(Self))
    }

    /// The names of the columns, ``None`` for a column without a name.
    #[getter]
    fn names(slf: &Bound<'_, Self>) -> PyResult<Vec<Option<String>>> {
        let own = state::<BasicStatistics>(slf)?;
        tables::names(own.dictionary(), own.per_column().len())
    }

    /// Returns the statistics as a table with a row for each column: ``column``, its name, or its index if it has none,
    /// and the statistics under the names of their properties.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.statistics(nt.Table({"a": [1.0, 3.0], "b": [10.0, 30.0]})).to_table()
    /// >>> table.names[:2], table["mean"]
    /// (['column', 'count'], array([ 2., 20.]))
    fn to_table(slf: &Bound<'_, Self>) -> PyResult<Table> {
        let own = state::<BasicStatistics>(slf)?;
        let labels = tables::labels(own.dictionary(), own.per_column().len());
        tables::of("column", &labels, own.per_column(), &NUMBERS).or_raise().map(Table::new)
    }

    /// Returns the statistics of one column, given its name or index: those of :meth:`column`.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        Self::column(slf, key)
    }

    /// Returns the statistics of one column, given its index or name, as a dictionary of numbers.
    fn column<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        of_one(slf.py(), state::<BasicStatistics>(slf)?.column(&Key::of(key)?).or_raise()?, &NUMBERS)
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
