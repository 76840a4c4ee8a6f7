//! Distributions of values: histograms and quantiles.

use numeric_table::statistics::{ColumnHistogram, HistogramBins};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableError};
use crate::base::lists;
use crate::base::numbers;
use crate::results::columns::Key;
use crate::results::{Partial, number, properties, state, tables, vector};

/// Counts the values of each column in bins.
///
/// ``Histogram(columns, bins, range)`` uses the bins of ``numpy.histogram``: if ``bins`` is a number, that many bins
/// of equal width in ``range``, a lower and an upper limit. Otherwise ``bins`` are the edges for all columns, or a list
/// of edges for each column.
///
/// >>> import numeric_table as nt
/// >>> found = nt.Histogram(2, 2, range=(0, 4))
/// >>> found.update([[1, 2], [3, 4], [5, -6]])
/// >>> found.counts[1], found.edges[1]
/// (array([0, 2], dtype=uint64), array([0., 2., 4.]))
/// >>> found.below, found.above
/// (array([0, 1], dtype=uint64), array([1, 0], dtype=uint64))
///
/// ``found["a"]`` has the counts of a column by its name:
///
/// >>> found = nt.Histogram(2, 2, range=(0, 4))
/// >>> found.update(nt.Table({"a": [1, 2], "b": [3, 4]}))
/// >>> found["b"]["counts"]
/// array([0, 2], dtype=uint64)
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "Histogram")]
pub(crate) struct Histogram;

impl Histogram {
    fn each<'py, R>(slf: &Bound<'py, Self>, value: impl Fn(&ColumnHistogram) -> PyResult<R>) -> PyResult<Vec<R>> {
        state::<numeric_table::statistics::Histogram>(slf)?.per_column().iter().map(value).collect()
    }
}

#[methods]
impl Histogram {
    #[new]
    #[pyo3(signature = (columns, bins, range = None))]
    fn new(
        #[pyo3(from_py_with = numbers::count)] columns: usize,
        bins: &Bound<'_, PyAny>,
        range: Option<(f64, f64)>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let all = if let Ok(count) = bins.extract::<usize>() {
            let (lower, upper) = range.ok_or_else(|| TableError::new_err("a number of bins needs a range"))?;
            let bins = HistogramBins::uniform(lower, upper, count).or_raise()?;
            numeric_table::statistics::Histogram::new(columns, &bins)
        } else {
            if range.is_some() {
                return Err(TableError::new_err("a range needs a number of bins, not edges"));
            }
            let edges = |edges: &Bound<'_, PyAny>| -> PyResult<HistogramBins> {
                let edges = lists::items::<f64>(edges)?;
                HistogramBins::with_edges(edges).or_raise()
            };
            let is_list = bins.get_item(0).is_ok_and(|first| first.len().is_ok());
            if is_list {
                let bins = bins.try_iter()?.map(|one| edges(&one?)).collect::<PyResult<Vec<_>>>()?;
                if bins.len() != columns {
                    let found = bins.len();
                    return Err(TableError::new_err(format!(
                        "there are edges for {found} columns, but {columns} columns"
                    )));
                }
                numeric_table::statistics::Histogram::with_bins(bins)
            } else {
                numeric_table::statistics::Histogram::new(columns, &edges(bins)?)
            }
        };
        Ok(Partial::new(all.or_raise()?).of_class(Self))
    }

    /// Returns the counts of one column, given its name or index: those of :meth:`column`.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        Self::column(slf, key)
    }

    /// Returns the counts of one column, given its index or name, as a dictionary: the arrays ``counts`` and ``edges``,
    /// and the numbers ``below``, ``above``, ``nan_count`` and ``missing_count``.
    fn column<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let (py, own) = (slf.py(), state::<numeric_table::statistics::Histogram>(slf)?);
        let column = own.column(&Key::of(key)?).or_raise()?;
        let found = PyDict::new(py);
        found.set_item("counts", vector(py, column.counts().iter().copied())?)?;
        found.set_item("edges", vector(py, column.bins().edges().iter().copied())?)?;
        found.set_item("below", column.below())?;
        found.set_item("above", column.above())?;
        found.set_item("nan_count", column.nan_count())?;
        found.set_item("missing_count", column.missing_count())?;
        Ok(found)
    }

    /// The counts: an array for each column.
    #[getter]
    fn counts<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        Self::each(slf, |column| vector(slf.py(), column.counts().iter().copied()))
    }

    /// The edges of the bins: an array for each column, with one more element than there are bins.
    #[getter]
    fn edges<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        Self::each(slf, |column| vector(slf.py(), column.bins().edges().iter().copied()))
    }
}

properties! { Histogram: |own: numeric_table::statistics::Histogram, py|
    /// The names of the columns, ``None`` for a column without a name.
    names = number(py, tables::names(own.dictionary(), own.per_column().len())?);

    /// The number of columns.
    column_count = number(py, own.per_column().len());

    /// The number of values of each column below all bins.
    below = vector(py, own.per_column().iter().map(ColumnHistogram::below));

    /// The number of values of each column above all bins.
    above = vector(py, own.per_column().iter().map(ColumnHistogram::above));

    /// The number of NaN values of each column.
    nan_count = vector(py, own.per_column().iter().map(ColumnHistogram::nan_count));

    /// The number of missing values of each column. NaN is not one of them.
    missing_count = vector(py, own.per_column().iter().map(ColumnHistogram::missing_count));
}

/// Approximates the quantiles of each column, in one pass and little memory. Exact for few values; otherwise the rank
/// error is at most ``rank_error``. A larger ``capacity`` reduces it.
///
/// >>> import numeric_table as nt
/// >>> found = nt.QuantileSketch(1)
/// >>> found.update([[3.0], [1.0], [2.0], [5.0]])
/// >>> found.quantile(0.5), found.quantile([0.25, 1])
/// (array([2.]), array([[1.],
///        [5.]]))
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "QuantileSketch")]
pub(crate) struct QuantileSketch;

type Sketch = numeric_table::statistics::QuantileSketch;

impl QuantileSketch {
    fn each<'py, T: numeric_table::Element>(
        py: Python<'py>,
        own: &Sketch,
        value: impl Fn(&Sketch, usize) -> numeric_table::Result<T>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values: Vec<T> =
            (0..own.column_count()).map(|column| value(own, column)).collect::<Result<_, _>>().or_raise()?;
        vector(py, values)
    }
}

#[methods]
impl QuantileSketch {
    #[new]
    #[pyo3(signature = (columns, capacity = Sketch::CAPACITY))]
    fn new(
        #[pyo3(from_py_with = numbers::count)] columns: usize,
        #[pyo3(from_py_with = numbers::count)] capacity: usize,
    ) -> PyResult<PyClassInitializer<Self>> {
        Ok(Partial::new(Sketch::with_capacity(columns, capacity).or_raise()?).of_class(Self))
    }

    /// Returns a quantile of each column, for ``q`` from 0 to 1. For a list of ``q``, returns a row for each. NaN
    /// without values. Like NumPy's ``quantile(axis=0, method="inverted_cdf")``.
    ///
    /// With ``column``, an index or a name, returns the quantile of this column only.
    #[pyo3(signature = (q, column = None))]
    fn quantile<'py>(
        slf: &Bound<'py, Self>,
        q: &Bound<'py, PyAny>,
        column: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Some(column) = column {
            let (own, key) = (state::<Sketch>(slf)?, Key::of(column)?);
            return match q.extract::<f64>() {
                Ok(q) => Ok(own.quantile(&key, q).or_raise()?.into_pyobject(py)?.into_any()),
                Err(_) => vector(py, own.quantiles(&key, &lists::items::<f64>(q)?).or_raise()?),
            };
        }
        if let Ok(q) = q.extract::<f64>() {
            return Self::each(py, &*state::<Sketch>(slf)?, |own, column| own.quantile(column, q));
        }
        let q = lists::items::<f64>(q)?;
        let own = state::<Sketch>(slf)?;
        let columns = (0..own.column_count()).map(|column| own.quantiles(column, &q));
        let columns: Vec<Vec<f64>> = columns.collect::<Result<_, _>>().or_raise()?;
        let values = (0..q.len()).flat_map(|place| columns.iter().map(move |column| column[place]));
        vector(py, values)?.call_method1("reshape", (q.len(), columns.len()))
    }

    /// Returns the approximate number of values of a column that are less than or equal to a value.
    fn rank(slf: &Bound<'_, Self>, column: &Bound<'_, PyAny>, value: f64) -> PyResult<u64> {
        state::<Sketch>(slf)?.rank(&Key::of(column)?, value).or_raise()
    }
}

properties! { QuantileSketch: |own: Sketch, py|
    /// The names of the columns, ``None`` for a column without a name.
    names = number(py, tables::names(own.dictionary(), own.column_count())?);

    /// The number of columns.
    column_count = number(py, own.column_count());

    /// The maximal rank error of quantiles, for each column.
    rank_error = Self::each(py, &own, Sketch::rank_error);

    /// The exact smallest value of each column; NaN for a column without values.
    minimum = Self::each(py, &own, |own, column| Ok(own.extremes(column)?.map_or(f64::NAN, |(least, _)| least)));

    /// The exact largest value of each column; NaN for a column without values.
    maximum = Self::each(py, &own, |own, column| Ok(own.extremes(column)?.map_or(f64::NAN, |(_, most)| most)));

    /// The number of values of each column that are not NaN.
    count = Self::each(py, &own, Sketch::count);

    /// The number of NaN values of each column.
    nan_count = Self::each(py, &own, Sketch::nan_count);

    /// The number of missing values of each column. NaN is not one of them.
    missing_count = Self::each(py, &own, Sketch::missing_count);
}
