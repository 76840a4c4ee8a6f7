//! Plots. The module `_plots` draws them with matplotlib.

use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::table::Table;

#[methods]
impl Table {
    /// Draws a histogram of each column with matplotlib: of numbers in ``bins``, of words with a bar for each category.
    /// Returns an array with the axes of each column. Missing values and NaN are left out.
    ///
    /// ``columns`` are the columns, by name or index, by default all but those of more than 30 categories. ``bins`` and
    /// ``range`` are those of :func:`numpy.histogram`. ``ax`` are axes to draw on, one for each column.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[1.0, 2.0], [3.0, 5.0], [4.0, 9.0]], names=["a", "b"])
    /// >>> axes = table.hist(bins=3)                         # doctest: +SKIP
    #[pyo3(signature = (columns = None, *, bins = None, range = None, ax = None))]
    fn hist<'py>(
        slf: &Bound<'py, Self>,
        columns: Option<&Bound<'py, PyAny>>,
        bins: Option<&Bound<'py, PyAny>>,
        range: Option<&Bound<'py, PyAny>>,
        ax: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plots = slf.py().import("numeric_table._plots")?;
        match bins {
            Some(bins) => plots.call_method1("hist", (slf, columns, bins, range, ax)),
            None => plots.call_method1("hist", (slf, columns, 10, range, ax)),
        }
    }

    /// Plots with matplotlib: ``table.plot.scatter("a", "b")``, ``table.plot.correlation()``, ``table.plot.hist()``.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table([[1.0, 2.0], [3.0, 5.0], [4.0, 9.0]], names=["a", "b"])
    /// >>> table.plot
    /// <plots of 3 rows, 2 columns: hist, correlation, scatter>
    #[getter]
    fn plot<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("numeric_table._plots")?.getattr("Plot")?.call1((slf,))
    }
}
