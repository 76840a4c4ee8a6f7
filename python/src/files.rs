//! Loading and saving.

use std::path::PathBuf;

use numeric_table::{CsvOptions, CsvSource, HomogenNumericTable, SaveOptions, TableReader};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::element::{self, with_type};
use crate::error::OrRaise;
use crate::table::Table;

/// Loads a table file (``.ntb``), with all its checksums compared.
///
/// >>> import numeric_table as nt, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
/// >>> nt.save(nt.Table([[1, 2], [3, 4]], dtype="int8"), path)
/// >>> nt.load(path).shape
/// (2, 2)
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| numeric_table::load_any(&path)).or_raise().map(Table::new)
}

/// Maps a table file of one element type: nothing is read before it is asked for.
///
/// The file must not be changed in place as long as the table, or an array of its values, exists: :func:`save` replaces
/// files, and so does no harm.
#[pyfunction]
pub(crate) fn map(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    let element = TableReader::open(&path).or_raise()?.element_type();
    with_type!(element, T => {
        // SAFETY: the caller's promise, which the documentation spells out.
        let mapped = py.detach(|| unsafe { HomogenNumericTable::<T>::map(&path) });
        Ok(Table::new(Box::new(mapped.or_raise()?)))
    })
}

/// Saves a table: the old file stays until the new one is whole. ``durable=False`` does not wait for the disk.
#[pyfunction]
#[pyo3(signature = (table, path, *, durable = true))]
pub(crate) fn save(py: Python<'_>, table: &Bound<'_, Table>, path: PathBuf, durable: bool) -> PyResult<()> {
    let table = table.get().read(py);
    let table = &**table;
    py.detach(|| table.save_with(&path, SaveOptions::new().durable(durable))).or_raise()
}

/// Compares all checksums of a table file: raises :class:`FormatError` if it is damaged, and returns whether it has any.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, path: PathBuf) -> PyResult<bool> {
    py.detach(|| numeric_table::verify(&path)).or_raise()
}

/// Reads a CSV file: into one type, or with ``dtype=None`` into a type for each column, words as categories.
#[pyfunction]
#[pyo3(signature = (path, dtype = None, *, delimiter = None))]
pub(crate) fn read_csv(
    py: Python<'_>,
    path: PathBuf,
    dtype: Option<&Bound<'_, PyAny>>,
    delimiter: Option<char>,
) -> PyResult<Table> {
    let mut options = CsvOptions::new();
    if let Some(delimiter) = delimiter {
        let byte = u8::try_from(delimiter).map_err(|_| PyTypeError::new_err("a delimiter is one ASCII character"))?;
        options = options.delimiter(byte);
    }
    let element = match dtype {
        Some(dtype) if !dtype.is_none() => Some(element::of_object(dtype)?),
        _ => None,
    };
    let source = py.detach(|| CsvSource::open_with(&path, options)).or_raise()?;
    match element {
        Some(element) => with_type!(element, T => {
            Ok(Table::new(Box::new(py.detach(|| source.load::<T>()).or_raise()?)))
        }),
        None => Ok(Table::new(Box::new(py.detach(|| source.load_typed()).or_raise()?))),
    }
}

/// Writes a CSV file, with the names of the columns.
#[pyfunction]
pub(crate) fn write_csv(py: Python<'_>, table: &Bound<'_, Table>, path: PathBuf) -> PyResult<()> {
    let table = table.get().read(py);
    let table = &**table;
    py.detach(|| table.write_csv(&path)).or_raise()
}

/// Loads an array of NumPy's (``.npy``) as a table.
#[pyfunction]
pub(crate) fn load_npy(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| numeric_table::load_npy_any(&path)).or_raise().map(Table::new)
}

/// Saves a table as an array of NumPy's (``.npy``).
#[pyfunction]
pub(crate) fn save_npy(py: Python<'_>, table: &Bound<'_, Table>, path: PathBuf) -> PyResult<()> {
    let table = table.get().read(py);
    let table = &**table;
    py.detach(|| table.save_npy(&path)).or_raise()
}
