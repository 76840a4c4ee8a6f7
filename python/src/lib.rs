//! The Python package `numeric_table`: the library's tables, with NumPy arrays as input and output.
//!
//! `table` is the class. `surgery` selects and adds rows and columns, `missing` and `gaps` find and fill missing
//! values, `reading` has its locks and reads it, `choose` implements indexing, `blocks` its blocks, `files` loads and
//! saves it. `source` makes tables from Python objects. `share`, `dlpack`, `arrow`, `scipy` and `frames` exchange
//! memory with other libraries; `capsules` reads and checks Arrow's C interface; `sparse` keeps sparse tables sparse.
//! `reader`, `writer` and `csv` are files that are larger than memory; `progress` reports the work on them. `partial`
//! is the class of mergeable results; `columns`, `products`, `counts`, `groups`, `learning` and `bayes` are its kinds.
//! `shards` is the class of tables in many files, `reduce` computes results over them, `shards_writer` writes them.
//! `device_table` is the class of tables on a CUDA device, `device_methods` has its methods; `device` opens devices,
//! `device_values` has tables of any type there, `tensors` and `foreign` exchange their memory with other libraries.
//! `element`, `numbers`, `lists` and `error` translate types, numbers, lists and exceptions; at the `boundary` to
//! Python, panics become exceptions. `exit` stops threads when the interpreter exits. Passes over values let other
//! Python threads run.

#[forbid(unsafe_code)]
mod arrow;
#[forbid(unsafe_code)]
mod bayes;
#[forbid(unsafe_code)]
mod blocks;
#[forbid(unsafe_code)]
mod boundary;
mod capsules;
#[forbid(unsafe_code)]
mod choose;
#[forbid(unsafe_code)]
mod columns;
#[forbid(unsafe_code)]
mod counts;
#[forbid(unsafe_code)]
mod csv;
#[forbid(unsafe_code)]
mod csv_options;
#[forbid(unsafe_code)]
mod describe;
#[forbid(unsafe_code)]
mod device;
#[forbid(unsafe_code)]
mod device_methods;
mod device_table;
mod device_values;
mod dlpack;
mod element;
#[forbid(unsafe_code)]
mod error;
mod exit;
mod files;
mod foreign;
#[forbid(unsafe_code)]
mod frames;
#[forbid(unsafe_code)]
mod gaps;
#[forbid(unsafe_code)]
mod groups;
#[forbid(unsafe_code)]
mod html;
#[forbid(unsafe_code)]
mod learning;
#[forbid(unsafe_code)]
mod lists;
#[forbid(unsafe_code)]
mod missing;
#[forbid(unsafe_code)]
mod numbers;
mod numpy_array;
#[forbid(unsafe_code)]
mod partial;
#[forbid(unsafe_code)]
mod products;
#[forbid(unsafe_code)]
mod progress;
#[forbid(unsafe_code)]
mod reader;
#[forbid(unsafe_code)]
mod reading;
#[forbid(unsafe_code)]
mod reduce;
#[forbid(unsafe_code)]
mod scipy;
#[forbid(unsafe_code)]
mod sequences;
mod shards;
#[forbid(unsafe_code)]
mod shards_writer;
mod share;
mod source;
#[forbid(unsafe_code)]
mod sparse;
#[forbid(unsafe_code)]
mod surgery;
mod table;
mod tensors;
#[forbid(unsafe_code)]
mod together;
#[forbid(unsafe_code)]
mod trace;
#[forbid(unsafe_code)]
mod writer;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::boundary::function;

/// Returns the statistics of each column of a table, or of the file of a :class:`TableReader`, which may be larger than
/// memory, or of a :class:`DeviceTable`, on its device. Computes them on all threads in one pass.
#[function]
fn statistics(py: Python<'_>, table: &Bound<'_, PyAny>) -> PyResult<Py<columns::Statistics>> {
    if let Ok(reader) = table.cast::<reader::Reader>() {
        return columns::of_file(py, reader.get());
    }
    if let Ok(table) = table.cast::<device_table::DeviceTable>() {
        return table.get().statistics(py);
    }
    if !table.is_instance_of::<table::Table>() {
        return Err(PyTypeError::new_err("statistics requires a Table, a TableReader or a DeviceTable"));
    }
    columns::of(table)
}

/// Returns a new table with the rows of several tables that have the same columns, one after another. It is sparse if
/// all of them are.
#[function]
fn vstack<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = lists::items)] tables: Vec<Bound<'py, table::Table>>,
) -> PyResult<table::Table> {
    together::stack(py, &tables, true)
}

/// Returns a new table with the columns of several tables that have the same number of rows, side by side. It is sparse
/// if all of them are, and have one type.
#[function]
fn hstack<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = lists::items)] tables: Vec<Bound<'py, table::Table>>,
) -> PyResult<table::Table> {
    together::stack(py, &tables, false)
}

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::bayes::{GaussianNaiveBayes, GaussianNaiveBayesModel, NaiveBayes, NaiveBayesModel};
    #[pymodule_export]
    use super::blocks::{BlockWriter, RowBlocks};
    #[pymodule_export]
    use super::columns::Statistics;
    #[pymodule_export]
    use super::counts::{Histogram, QuantileSketch};
    #[pymodule_export]
    use super::csv::{Csv, CsvBlocks, open_csv, read_csv, write_csv};
    #[pymodule_export]
    use super::device_table::DeviceTable;
    #[pymodule_export]
    use super::error::{
        _calls_of_hints, CopyRequiredError, DeviceError, FormatError, MissingValueError, NotRepresentableError,
        TableError, TableFileError, TableIndexError, TableTypeError,
    };
    #[pymodule_export]
    use super::exit::{_after_fork, _at_exit};
    #[pymodule_export]
    use super::files::{leftovers, load, load_npy, map, remove_leftovers, save, save_npy, verify};
    #[pymodule_export]
    use super::groups::GroupStatistics;
    #[pymodule_export]
    use super::learning::{KMeansStep, LinearRegression, RegressionModel};
    #[pymodule_export]
    use super::partial::Partial;
    #[pymodule_export]
    use super::products::{Covariance, GramMatrix};
    #[pymodule_export]
    use super::progress::_look_for_signals_every;
    #[pymodule_export]
    use super::reader::{FileBlocks, Reader, open};
    #[pymodule_export]
    use super::shards::{ShardBlocks, Shards};
    #[pymodule_export]
    use super::shards_writer::ShardsWriter;
    #[pymodule_export]
    use super::share::Share;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::trace::{Trace, trace};
    #[pymodule_export]
    use super::writer::{Writer, create};
    #[pymodule_export]
    use super::{hstack, statistics, vstack};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("TableFileNotFoundError", super::error::not_found(py)?)?;
        module.add("TableFilePermissionError", super::error::not_permitted(py)?)?;
        super::error::say(py)?;
        super::exit::register(module)
    }
}
