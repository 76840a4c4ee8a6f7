//! The Python package `numeric_table`: the library's tables, with NumPy arrays as input and output.
//!
//! Where to find things, in the order of the layers; each folder uses only those before it, which `.ci/layers` checks:
//!
//! * `base`: errors, element types, arguments, progress, the exit of the interpreter. `memory` makes arrays and tables of
//!   Python buffers, `share` lends values to Python. At the `boundary` to Python, panics become exceptions.
//! * `table`: the class `Table`. `mod` has its properties, `reading` its locks, and how regions are read; `choose`,
//!   `surgery`, `together`, `missing` and `blocks` have its methods by subject. It knows no other library.
//! * `doors`: one file for each kind of object that becomes a table, or that a table becomes: `arrays`, `masked`,
//!   `frames`, `mappings`, `scipy`, `arrow`, `dlpack`, `sequences`. `construct` is `Table(...)`, `pickle` its pickles.
//! * `files`: `load`, `save` and `map`; `reader`, `writer` and `csv` work block by block.
//! * `results`: `Partial`, and the results that are merged.
//! * `shards`: tables in many files, and results over them.
//! * `device`: `DeviceTable`, a table on a CUDA device.
//!
//! Passes over values let other Python threads run.

mod base;
mod device;
mod doors;
mod files;
mod results;
mod shards;
mod table;

use pyo3::prelude::*;

use crate::base::boundary::function;

/// Returns the statistics of each column of a table, or of what ``Table(x)`` accepts. Computes them on all threads in
/// one pass.
///
/// A :class:`TableReader`, a :class:`CsvSource`, :class:`Shards`, or the path of a table file is read block by block,
/// and may be larger than memory. Those of a :class:`DeviceTable` are computed on its device.
///
/// >>> import numeric_table as nt
/// >>> nt.statistics([[1.0, 10.0], [3.0, 30.0]]).mean
/// array([ 2., 20.])
/// >>> nt.statistics(nt.Table({"a": [1.0, 3.0]}))["a"]["maximum"]
/// 3.0
#[function]
fn statistics(py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    match table.cast::<device::table::DeviceTable>() {
        Ok(table) => Ok(table.get().statistics(py)?.into_any()),
        Err(_) => results::rows::statistics(table),
    }
}

/// Returns a new table with the rows of several tables that have the same columns, one after another. It is sparse if
/// all of them are. Accepts also what ``Table(x)`` accepts.
///
/// Columns with names are stacked by name, in the order of the first table; columns without names by their order. The
/// labels of categories are joined: those of the first table keep their codes, and new ones follow.
///
/// >>> import numpy as np, numeric_table as nt
/// >>> nt.vstack([np.zeros((2, 3)), np.ones((1, 3))]).shape
/// (3, 3)
/// >>> nt.vstack([{"city": ["Rome"], "size": [3]}, {"size": [1], "city": ["Oslo"]}])["city"]
/// array(['Rome', 'Oslo'], dtype=object)
#[function]
fn vstack<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = base::lists::items)] tables: Vec<Bound<'py, PyAny>>,
) -> PyResult<table::Table> {
    table::together::stack(py, &tables_of(tables)?, true)
}

/// Returns a new table with the columns of several tables that have the same number of rows, side by side. It is sparse
/// if all of them are, and have one type. Accepts also what ``Table(x)`` accepts.
///
/// >>> import numpy as np, numeric_table as nt
/// >>> nt.hstack([nt.Table({"a": [1, 2]}), {"b": [0.5, 1.5]}]).names
/// ['a', 'b']
#[function]
fn hstack<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = base::lists::items)] tables: Vec<Bound<'py, PyAny>>,
) -> PyResult<table::Table> {
    table::together::stack(py, &tables_of(tables)?, false)
}

/// Returns tables of what ``Table(x)`` accepts.
fn tables_of<'py>(items: Vec<Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, table::Table>>> {
    items.iter().map(doors::construct::table_of).collect()
}

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::base::error::{
        _calls_of_hints, CopyRequiredError, DeviceError, FormatError, MissingValueError, NotRepresentableError,
        TableError, TableFileError, TableIndexError, TableTypeError,
    };
    #[pymodule_export]
    use super::base::exit::{_after_fork, _at_exit};
    #[pymodule_export]
    use super::base::progress::_look_for_signals_every;
    #[pymodule_export]
    use super::base::share::Share;
    #[pymodule_export]
    use super::base::trace::{Trace, trace};
    #[pymodule_export]
    use super::device::table::DeviceTable;
    #[pymodule_export]
    use super::files::csv::{Csv, CsvBlocks, open_csv, read_csv, write_csv};
    #[pymodule_export]
    use super::files::reader::{FileBlocks, Reader, open};
    #[pymodule_export]
    use super::files::writer::{Writer, create};
    #[pymodule_export]
    use super::files::{leftovers, load, load_npy, map, remove_leftovers, save, save_npy, verify};
    #[pymodule_export]
    use super::results::Partial;
    #[pymodule_export]
    use super::results::bayes::{GaussianNaiveBayes, GaussianNaiveBayesModel, NaiveBayes, NaiveBayesModel};
    #[pymodule_export]
    use super::results::columns::Statistics;
    #[pymodule_export]
    use super::results::counts::{Histogram, QuantileSketch};
    #[pymodule_export]
    use super::results::group_column::GroupColumn;
    #[pymodule_export]
    use super::results::groups::GroupStatistics;
    #[pymodule_export]
    use super::results::learning::{KMeansStep, LinearRegression, RegressionModel};
    #[pymodule_export]
    use super::results::products::{Covariance, GramMatrix};
    #[pymodule_export]
    use super::shards::writer::ShardsWriter;
    #[pymodule_export]
    use super::shards::{ShardBlocks, Shards};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::table::blocks::{BlockWriter, RowBlocks};
    #[pymodule_export]
    use super::{hstack, statistics, vstack};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("TableFileNotFoundError", super::base::error::not_found(py)?)?;
        module.add("TableFilePermissionError", super::base::error::not_permitted(py)?)?;
        module.add("TableKeyError", super::base::error::no_column(py)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        super::base::error::say(py)?;
        super::base::exit::register(module)
    }
}
