//! Loading and saving.

#[forbid(unsafe_code)]
pub(crate) mod brackets;
#[forbid(unsafe_code)]
pub(crate) mod columns;
#[forbid(unsafe_code)]
pub(crate) mod csv;
#[forbid(unsafe_code)]
pub(crate) mod csv_options;
#[forbid(unsafe_code)]
pub(crate) mod reader;
#[forbid(unsafe_code)]
pub(crate) mod writer;

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use numeric_table::table::spi::TableKind;
use numeric_table::{
    ErrorKind, HomogenNumericTable, TableOutput,
    files::{SaveOptions, TableReader},
};
use pyo3::prelude::*;

use crate::base::boundary::function;
use crate::base::element::with_type;
use crate::base::error::OrRaise;
use crate::base::progress::{Listener, hear, watch};
use crate::table::Table;

/// Returns a reader that reports its progress; `None` if the file holds a kind of table that has no reader.
fn reader(py: Python<'_>, path: &Path) -> PyResult<Option<TableReader>> {
    match py.detach(|| TableReader::open(path)) {
        Err(error) if matches!(error.kind(), ErrorKind::TableKindMismatch { .. }) => Ok(None),
        opened => Ok(Some(opened.or_raise()?.on_progress(hear))),
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// Loads a table file (``.ntb``), and verifies all its checksums.
///
/// ``progress`` is a function of ``(done, total)`` in bytes, called on this thread from time to time, or ``True`` for a
/// progress bar of the package tqdm. An exception that the function raises ends the work, and so does Ctrl-C. For
/// tables of several types, it is called only at the beginning and at the end.
///
/// >>> import numeric_table as nt, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
/// >>> nt.save(nt.Table([[1, 2], [3, 4]], dtype="int8"), path)
/// >>> nt.load(path).shape
/// (2, 2)
#[function]
#[pyo3(signature = (path, *, progress = None))]
pub(crate) fn load(py: Python<'_>, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Table> {
    let listener = Listener::of(progress, &path)?;
    let loaded = match reader(py, &path)? {
        Some(reader) => watch(py, listener, None, || reader.load_any()),
        None => watch(py, listener, Some(length(&path)), || numeric_table::files::load(&path)),
    };
    loaded.map(Table::new)
}

/// Maps a table file of one element type. Reads values only when they are accessed.
///
/// The file must not be changed in place as long as the table, or an array of its values, exists. :func:`save` replaces
/// the file, and is safe.
#[function]
pub(crate) fn map(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    let element = TableReader::open(&path).or_raise()?.element_type();
    with_type!(element, T => {
        // SAFETY: the caller's promise, which the documentation spells out.
        let mapped = py.detach(|| unsafe { HomogenNumericTable::<T>::map(&path) });
        Ok(Table::new(Box::new(mapped.or_raise()?)))
    })
}

/// Saves a table. An existing file stays until the new one is complete. ``durable=False`` does not wait for the disk.
///
/// ``progress`` is that of :func:`load`. If it raises an exception, the existing file stays as well, unless everything
/// has been written.
#[function]
#[pyo3(signature = (table, path, *, durable = true, progress = None))]
pub(crate) fn save(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    path: PathBuf,
    durable: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let listener = Listener::of(progress, &path)?;
    let (table, options) = (table.get(), SaveOptions::new().durable(durable));
    if [TableKind::HOMOGENEOUS, TableKind::STRUCTURE_OF_ARRAYS].contains(&table.read(py).kind()) {
        // With no lock held: the progress function may use the table.
        let table = table.snapshot(py)?;
        return watch(py, listener, None, || table.save_with(&path, options.on_progress(hear)));
    }
    watch(py, listener, Some(table.bytes(py) as u64), || {
        table.0.read().unwrap_or_else(PoisonError::into_inner).save_with(&path, options)
    })
}

/// Verifies all checksums of a table file. Raises :class:`FormatError` if the file is damaged, and returns whether it
/// has checksums. ``progress`` is that of :func:`load`.
#[function]
#[pyo3(signature = (path, *, progress = None))]
pub(crate) fn verify(py: Python<'_>, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    let listener = Listener::of(progress, &path)?;
    match reader(py, &path)? {
        Some(reader) => watch(py, listener, None, || reader.verify()),
        None => watch(py, listener, Some(length(&path)), || numeric_table::files::verify(&path)),
    }
}

/// Lists the temporary files in a folder that were left by programs killed while writing, sorted by name: new files
/// without their final name (``.<16 hexadecimal digits>.ntb.tmp``, of tables, ``.npy``, CSV and any other format) and
/// locks of manifests. Files that a running program uses are not listed: the system reports their locks.
///
/// >>> import numeric_table as nt, tempfile
/// >>> nt.leftovers(tempfile.mkdtemp())
/// []
#[function]
pub(crate) fn leftovers(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
    let found = py.detach(|| numeric_table::files::leftovers(&folder)).or_raise()?;
    Ok(found.iter().map(|left| left.path().to_owned()).collect())
}

/// Removes the files that :func:`leftovers` lists, and returns the removed ones.
#[function]
pub(crate) fn remove_leftovers(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
    let remove = || {
        let mut removed = Vec::new();
        for left in numeric_table::files::leftovers(&folder)? {
            let path = left.path().to_owned();
            if left.remove()? {
                removed.push(path);
            }
        }
        Ok(removed)
    };
    py.detach(remove).or_raise()
}

/// Loads a NumPy array file (``.npy``) as a table.
#[function]
pub(crate) fn load_npy(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| numeric_table::npy::load(&path)).or_raise().map(Table::new)
}

/// Saves a table as a NumPy array file (``.npy``). An existing file stays until the new one is complete, even if Ctrl-C
/// ends the work.
#[function]
pub(crate) fn save_npy(py: Python<'_>, table: &Bound<'_, Table>, path: PathBuf) -> PyResult<()> {
    let table = table.get().steady(py)?;
    let (table, options) = (table.table(), SaveOptions::new().on_progress(hear));
    watch(py, None, None, || table.save_npy_with(&path, options))
}
