//! CSV files: read and written.

use std::path::PathBuf;

use numeric_table::{CsvOptions, CsvSource};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::element::{self, with_type};
use crate::error::OrRaise;
use crate::progress::{Listener, hear, watch};
use crate::table::Table;

fn source(py: Python<'_>, path: &PathBuf, delimiter: Option<char>) -> PyResult<CsvSource> {
    let mut options = CsvOptions::new();
    if let Some(delimiter) = delimiter {
        let byte = u8::try_from(delimiter).map_err(|_| PyTypeError::new_err("a delimiter is one ASCII character"))?;
        options = options.delimiter(byte);
    }
    Ok(py.detach(|| CsvSource::open_with(path, options)).or_raise()?.on_progress(hear))
}

/// Reads a CSV file: into one type, or with ``dtype=None`` into a type for each column, words as categories.
///
/// ``progress``, a function of ``(done, total)`` in bytes, or ``True`` for a bar of the package tqdm, hears of it on the way; an
/// exception that it raises ends the work.
#[pyfunction]
#[pyo3(signature = (path, dtype = None, *, delimiter = None, progress = None))]
pub(crate) fn read_csv(
    py: Python<'_>,
    path: PathBuf,
    dtype: Option<&Bound<'_, PyAny>>,
    delimiter: Option<char>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let listener = Listener::of(progress, &path)?;
    let element = dtype.filter(|dtype| !dtype.is_none()).map(element::of_object).transpose()?;
    let source = source(py, &path, delimiter)?;
    watch(py, listener, None, || {
        Ok(Table::new(match element {
            Some(element) => with_type!(element, T => Box::new(source.load::<T>()?)),
            None => Box::new(source.load_typed()?),
        }))
    })
}

/// Writes a CSV file, with the names of the columns.
#[pyfunction]
pub(crate) fn write_csv(py: Python<'_>, table: &Bound<'_, Table>, path: PathBuf) -> PyResult<()> {
    let table = table.get().read(py);
    let table = &**table;
    py.detach(|| table.write_csv(&path)).or_raise()
}
