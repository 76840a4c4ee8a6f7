//! Table files that are written block by block, and so may be larger than memory.
//!
//! The file appears when it is whole. The writer's lock is held by threads that are not attached to the interpreter only.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use numeric_table::{
    ConversionPolicy, DataDictionary, Element, ElementType, Error, NumericTable, Result, SaveOptions, TableReader,
    TableWriter,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::describe::described;
use crate::element::{self, with_type};
use crate::error::OrRaise;
use crate::progress::Listener;
use crate::reader::{Reader, from_row};
use crate::reading::policy_of;
use crate::source;
use crate::table::Table;

/// A writer of any element type.
trait Rows: Send {
    fn append_rows(&mut self, table: &dyn NumericTable, policy: ConversionPolicy) -> Result<()>;
    fn append_file(&mut self, file: &TableReader) -> Result<()>;
    fn row_count(&self) -> usize;
    fn finish(self: Box<Self>) -> Result<()>;
}

impl<T: Element> Rows for TableWriter<T> {
    fn append_rows(&mut self, table: &dyn NumericTable, policy: ConversionPolicy) -> Result<()> {
        let shape = self.shape();
        let converts = policy != ConversionPolicy::Checked && table.uniform_type() != Some(T::TYPE);
        if !converts || table.column_count() != shape.columns {
            return self.append_table(table);
        }
        let converted = table.convert_with::<T>(policy).map_err(|error| from_row(shape.rows, error))?;
        self.append_table(&converted)
    }

    fn append_file(&mut self, file: &TableReader) -> Result<()> {
        self.copy_rows(file, ..)
    }

    fn row_count(&self) -> usize {
        self.shape().rows
    }

    fn finish(self: Box<Self>) -> Result<()> {
        TableWriter::finish(*self)
    }
}

/// A table file that is written block by block: what :func:`create` returns.
#[pyclass(frozen, module = "numeric_table", name = "TableWriter", weakref)]
pub(crate) struct Writer {
    /// `None` when the file is written or given up.
    file: Mutex<Option<Box<dyn Rows>>>,
    rows: AtomicUsize,
    element: ElementType,
    dictionary: DataDictionary,
    listener: Option<Listener>,
}

/// Creates a table file (``.ntb``) that is written block by block, and so may be larger than memory.
///
/// ``columns``: the number of columns, their names, or what has such columns, with names and categories: a :class:`Table`, a
/// :class:`TableReader`, a :class:`CsvSource`. ``dtype`` is that of all values, by default that of such columns, or float64.
///
/// The file appears when the ``with`` block ends, whole. An exception that leaves the block leaves no file, and an older one of
/// this name as it is. ``durable=False`` does not wait for the disk.
///
/// ``progress``, a function of ``(done, None)`` in bytes, or ``True`` for a counter of the package tqdm, hears of each append.
///
/// >>> import numpy as np, numeric_table as nt, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
/// >>> with nt.create(path, ["a", "b"], dtype="float32") as writer:
/// ...     for day in range(3):
/// ...         writer.append(np.full((1000, 2), day))
/// >>> nt.load(path).shape
/// (3000, 2)
#[pyfunction]
#[pyo3(signature = (path, columns, *, dtype = None, durable = true, progress = None))]
pub(crate) fn create(
    py: Python<'_>,
    path: PathBuf,
    columns: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    durable: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Writer> {
    let listener = Listener::of(progress, &path)?;
    let element = dtype.filter(|dtype| !dtype.is_none()).map(element::of_object).transpose()?;
    let (element, dictionary) = described(columns, element)?;
    let (count, options) = (dictionary.len(), SaveOptions::new().durable(durable));
    let file: Box<dyn Rows> = with_type!(element, T => {
        let create = || TableWriter::<T>::create_with(&path, count, dictionary.clone(), options);
        Box::new(py.detach(create).or_raise()?)
    });
    Ok(Writer { file: Mutex::new(Some(file)), rows: AtomicUsize::new(0), element, dictionary, listener })
}

/// Returns an error that speaks of the rows that are appended, and of the file.
fn of_append(error: Error) -> Error {
    match error {
        Error::UnequalColumns { expected, found, .. } => {
            Error::other(format!("the file has {expected} columns, and these rows have {found}"))
        }
        Error::NamesInAnotherOrder { column, name, .. } => {
            Error::other(format!("column {column} of these rows is {name:?}, which is another column of the file"))
        }
        Error::UnequalCategories { column, .. } => Error::other(format!(
            "column {column} has categories of other words than the file: create it with the table, the reader or the source \
             that they come from, instead of names"
        )),
        other => other,
    }
}

fn closed() -> Error {
    Error::other("the file is closed")
}

impl Writer {
    fn lock(&self) -> MutexGuard<'_, Option<Box<dyn Rows>>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the file out of the writer, which nobody uses any more.
    fn take(&self) -> Option<Box<dyn Rows>> {
        self.lock().take()
    }

    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener.close(py))
    }
}

#[pymethods]
impl Writer {
    /// The number of rows that have been appended.
    #[getter]
    fn row_count(&self) -> usize {
        self.rows.load(Relaxed)
    }

    /// The type of the values in the file.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        element::dtype(py, self.element)
    }

    /// The names of the columns, ``None`` where there is none.
    #[getter]
    fn names(&self) -> Vec<Option<String>> {
        self.dictionary.names().map(|name| name.map(str::to_owned)).collect()
    }

    /// Appends rows: an array, a :class:`Table`, rows of numbers, or a :class:`TableReader`, which stands for all rows of its
    /// file. All of them are appended, or an exception is raised and none is.
    ///
    /// ``policy`` says what becomes of values that the file's type does not have: ``"checked"`` and ``"exact"`` raise
    /// :class:`NotRepresentableError`, the latter also where digits are lost; ``"saturate"`` takes the nearest one.
    ///
    /// >>> import numeric_table as nt, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
    /// >>> with nt.create(path, 2, dtype="uint8") as writer:
    /// ...     writer.append([[1, 2], [3, 4]])
    /// ...     writer.append([[5, 300]], policy="saturate")
    /// >>> nt.load(path).rows().tolist()
    /// [[1, 2], [3, 4], [5, 255]]
    #[pyo3(signature = (rows, *, policy = "checked"))]
    fn append(&self, py: Python<'_>, rows: &Bound<'_, PyAny>, policy: &str) -> PyResult<()> {
        let policy = policy_of(policy)?;
        let count = if let Ok(reader) = rows.cast::<Reader>() {
            let reader = reader.get();
            if policy != ConversionPolicy::Checked && reader.element() != self.element {
                return Err(PyTypeError::new_err("rows of a file are converted with policy='checked'"));
            }
            py.detach(|| {
                let from = reader.file.get()?;
                self.append_by(|file| file.append_file(&from))
            })
        } else {
            let table = match rows.cast::<Table>() {
                Ok(table) => table.get().snapshot(py)?,
                Err(_) => source::table(rows, None)?,
            };
            let table = &*table;
            py.detach(|| self.append_by(|file| file.append_rows(table, policy)))
        };
        let count = count.or_raise()?;
        let Some(listener) = &self.listener else { return Ok(()) };
        let row = self.dictionary.len() as u64 * self.element.size_in_bytes() as u64;
        listener.tell(py, row.saturating_mul(count as u64), None)
    }

    /// Writes the file, as the end of a ``with`` block does.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let written = py.detach(|| self.take().map_or(Ok(()), |file| file.finish())).or_raise();
        let ended = self.end(py);
        written.and(ended)
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let this = slf.get();
        let is_open = slf.py().detach(|| this.lock().is_some());
        if is_open { Ok(slf) } else { Err(closed()).or_raise() }
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exception: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if exception.is_none() {
            return self.close(py);
        }
        py.detach(|| drop(self.take())); // without a file
        self.end(py)
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = (self.row_count(), self.dictionary.len());
        format!("<TableWriter: {rows} x {columns} values of {}>", element::name(self.element))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener.traverse(&visit))
    }
}

impl Writer {
    /// Appends rows to the file; returns how many it has then.
    fn append_by(&self, append: impl FnOnce(&mut dyn Rows) -> Result<()>) -> Result<usize> {
        let mut file = self.lock();
        let file = file.as_mut().ok_or_else(closed)?;
        append(&mut **file).map_err(of_append)?;
        self.rows.store(file.row_count(), Relaxed);
        Ok(file.row_count())
    }
}
