//! Table files that are written block by block, and so may be larger than memory.
//!
//! The file appears when it is complete. A thread that works on it takes it out of the writer, and others wait. The
//! lock is held only for a moment and not during the work, since the work checks for signals, whose handlers are user
//! code.

use std::mem::{forget, replace};
use std::ops::Range;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use numeric_table::table::spi::{Region, TableId, Target};
use numeric_table::{
    ConversionPolicy, DataDictionary, DataLayout, Element, ElementType, Error, ErrorKind, NumericTable, Result, Shape,
    TableConversion, TableDescription,
    array::Validity,
    error::Difference,
    files::{SaveOptions, TableReader, TableWriter},
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::base::boundary::{function, methods};
use crate::base::element::{self, with_type};
use crate::base::error::OrRaise;
use crate::base::progress::{Listener, interval, look, watch};
use crate::doors;
use crate::files::columns::{advise, described, policy_of_file};
use crate::files::reader::{Reader, from_row};
use crate::table::Table;
use crate::table::describe;
use crate::table::reading::{policy_of, stated};

/// The number of bytes of a file that are copied between two checks for signals.
const PART: usize = 64 << 20;

/// Larger tables, in bytes, are read piece by piece, with checks for signals in between.
const SHORT: usize = 16 << 20;

/// A writer of any element type.
trait Rows: Send {
    fn append_rows(&mut self, table: &dyn NumericTable, policy: ConversionPolicy) -> Result<()>;
    fn append_file(&mut self, file: &TableReader, rows: Range<usize>, policy: ConversionPolicy) -> Result<()>;
    fn row_count(&self) -> usize;
    fn finish(self: Box<Self>) -> Result<()>;
}

impl<T: Element> Rows for TableWriter<T> {
    fn append_rows(&mut self, table: &dyn NumericTable, policy: ConversionPolicy) -> Result<()> {
        let shape = self.shape();
        let converts = match policy {
            ConversionPolicy::Checked => false,
            ConversionPolicy::Exact => describe::may_lose(table.dictionary(), T::TYPE),
            _ => table.uniform_type() != Some(T::TYPE),
        };
        if !converts || table.column_count() != shape.columns {
            return self.append_table(table);
        }
        let converted = table.convert_with::<T>(policy).map_err(|error| from_row(shape.rows, error))?;
        self.append_table(&converted)
    }

    fn append_file(&mut self, file: &TableReader, rows: Range<usize>, policy: ConversionPolicy) -> Result<()> {
        if policy == ConversionPolicy::Checked || element::has_all(T::TYPE, file.element_type()) {
            return self.copy_rows(file, rows);
        }
        with_type!(file.element_type(), S => self.append_rows(&file.load_rows::<S>(rows)?, policy))
    }

    fn row_count(&self) -> usize {
        self.shape().rows
    }

    fn finish(self: Box<Self>) -> Result<()> {
        TableWriter::finish(*self)
    }
}

/// A table that is read piece by piece, never as one piece of memory: an interrupt ends reading it.
struct Watched<'t> {
    table: &'t dyn NumericTable,
    id: TableId,
}

impl NumericTable for Watched<'_> {
    fn shape(&self) -> Shape {
        self.table.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        self.table.dictionary()
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn data_layout(&self) -> DataLayout {
        self.table.data_layout()
    }

    fn validity(&self, column: usize, rows: Range<usize>) -> Result<Option<Validity>> {
        self.table.validity(column, rows)
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        look();
        self.table.read_region(region, target)
    }
}

/// The state of the file.
enum State {
    Open(Box<dyn Rows>),
    /// A thread works on it.
    Lent(ThreadId),
    /// The file is written, or an exception has ended the `with` block.
    Closed,
    /// An exception has ended an append after some or all of its rows were written.
    GivenUp,
}

/// The file, while a thread works on it.
struct Lent<'w> {
    writer: &'w Writer,
    /// `None` if the file is closed afterwards.
    file: Option<Box<dyn Rows>>,
    is_given_up: bool,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let state = match self.file.take() {
            file if self.is_given_up => {
                drop(file); // deletes what there is of it
                State::GivenUp
            }
            Some(file) => State::Open(file),
            None => State::Closed,
        };
        *self.writer.lock() = state;
        self.writer.returned.notify_all();
    }
}

impl Lent<'_> {
    /// Appends rows by a function. Returns the number of rows that the file has then.
    fn append(&mut self, append: impl FnOnce(&mut dyn Rows, &mut bool) -> Result<()>) -> Result<usize> {
        let file = self.file.as_mut().ok_or_else(closed)?;
        append(&mut **file, &mut self.is_given_up).map_err(of_append)?;
        self.writer.rows.store(file.row_count(), Relaxed);
        Ok(file.row_count())
    }
}

/// Appends all rows of a file in parts. `is_partial` states whether some of them are written and others are not.
fn append_parts(to: &mut dyn Rows, from: &TableReader, policy: ConversionPolicy, is_partial: &mut bool) -> Result<()> {
    let Shape { rows, columns } = from.shape();
    let row = columns.saturating_mul(from.element_type().size_in_bytes());
    let (step, mut start) = (PART.checked_div(row).unwrap_or(rows).max(1), 0);
    loop {
        look();
        let end = rows.min(start + step.min(rows));
        to.append_file(from, start..end, policy)?;
        *is_partial = end < rows;
        if !*is_partial {
            return Ok(());
        }
        start = end;
    }
}

fn append_table(to: &mut dyn Rows, table: &dyn NumericTable, policy: ConversionPolicy) -> Result<()> {
    let Shape { rows, columns } = table.shape();
    if rows.saturating_mul(columns) <= SHORT / 8 {
        return to.append_rows(table, policy);
    }
    look();
    to.append_rows(&Watched { table, id: TableId::new() }, policy) // an interrupt leaves the file as it was
}

/// A table file that is written block by block. Returned by :func:`create`.
#[pyclass(frozen, module = "numeric_table", name = "TableWriter", weakref)]
pub(crate) struct Writer {
    file: Mutex<State>,
    /// Wakes the threads that wait for the file.
    returned: Condvar,
    rows: AtomicUsize,
    element: ElementType,
    /// Whether the caller has stated the type.
    is_stated: bool,
    dictionary: DataDictionary,
    listener: Option<Listener>,
    /// The process that has created the file. Processes forked from it must not remove the file.
    process: u32,
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.process != process::id() {
            forget(replace(&mut *self.lock(), State::Closed));
        }
    }
}

/// Creates a table file (``.ntb``) that is written block by block, and so may be larger than memory.
///
/// ``columns`` is the number of columns, their names, or a :class:`Table`, :class:`TableReader` or :class:`CsvSource`
/// with the same columns, including names and categories. ``dtype`` is the type of all values. By default it is the
/// type of such a source, or float64, and values that would lose precision in it are refused.
///
/// The file appears, complete, when the ``with`` block ends. An exception from the block leaves no new file, and does
/// not change an existing file of this name. The same holds for an exception that ends :meth:`TableWriter.append`
/// midway.
/// ``durable=False`` does not wait for the disk.
///
/// ``progress`` is a function of ``(done, None)`` in bytes, or ``True`` for a counter of the package tqdm. It reports
/// each append.
///
/// >>> import numpy as np, numeric_table as nt, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
/// >>> with nt.create(path, ["a", "b"], dtype="float32") as writer:
/// ...     for day in range(3):
/// ...         writer.append(np.full((1000, 2), day))
/// >>> nt.load(path).shape
/// (3000, 2)
#[function]
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
    let stated = stated(dtype)?;
    let (is_stated, (element, dictionary)) = (stated.is_some(), described(columns, stated)?);
    let (count, options) = (dictionary.len(), SaveOptions::new().durable(durable));
    let file: Box<dyn Rows> = with_type!(element, T => {
        let create = || TableWriter::<T>::create_with(&path, count, dictionary.clone(), options);
        Box::new(py.detach(create).or_raise()?)
    });
    let (file, returned, rows) = (Mutex::new(State::Open(file)), Condvar::new(), AtomicUsize::new(0));
    Ok(Writer { file, returned, rows, element, is_stated, dictionary, listener, process: process::id() })
}

/// Converts an error to one about the appended rows and the file.
fn of_append(error: Error) -> Error {
    match error.kind() {
        ErrorKind::UnequalTables { difference, reason, .. } => {
            let advice = match difference {
                Difference::Categories => {
                    "; create the file with the table, the reader or the source that they come from, instead of names"
                }
                _ => "",
            };
            Error::other(format!("these rows do not fit the file: {reason}{advice}"))
        }
        _ => error,
    }
}

fn closed() -> Error {
    Error::other("the file is closed")
}

impl Writer {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner) // nothing panics while it is locked
    }

    /// Takes the file, unless it is closed. Calls `wait` from time to time while another thread works on it.
    fn lend(&self, wait: impl Fn()) -> Result<Option<Lent<'_>>> {
        if self.process != process::id() {
            return Err(Error::other("only the process that created the file can write it, not a fork"));
        }
        let me = thread::current().id();
        loop {
            let mut state = self.lock();
            match replace(&mut *state, State::Lent(me)) {
                State::Open(file) => return Ok(Some(Lent { writer: self, file: Some(file), is_given_up: false })),
                State::Closed => {
                    *state = State::Closed;
                    return Ok(None);
                }
                State::GivenUp => {
                    *state = State::GivenUp;
                    return Err(Error::other("the file was given up because an append raised an exception"));
                }
                State::Lent(other) => {
                    *state = State::Lent(other);
                    if other == me {
                        return Err(Error::other("rows are being appended by the call that this one has interrupted"));
                    }
                    drop(self.returned.wait_timeout(state, interval().max(std::time::Duration::from_millis(1))));
                    wait();
                }
            }
        }
    }

    /// Abandons the file: no more rows can be appended, and no file appears.
    fn give_up(&self) {
        if let Ok(Some(mut lent)) = self.lend(|| ()) {
            lent.is_given_up = true;
        }
    }

    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener.close(py))
    }
}

#[methods]
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

    /// The names of the columns, ``None`` for a column without a name.
    #[getter]
    fn names(&self) -> PyResult<Vec<Option<String>>> {
        describe::names(&self.dictionary)
    }

    /// Appends rows, all or nothing: an array, a :class:`Table`, rows of numbers, or a :class:`TableReader` for all
    /// rows of its file. If an exception is raised, no rows are appended, and the writer remains usable.
    ///
    /// There are two exceptions to this: one that ``progress`` raises after the rows are written, and one in the middle
    /// of a large file (an interrupt, a value that does not fit, damage). They abandon the writer. It accepts no more
    /// rows, and no file appears, even if the caller catches the exception. :meth:`close`, or the end of the ``with``
    /// block, then raises :class:`TableError`.
    ///
    /// ``policy`` states how to treat values that the file's type cannot represent: ``"checked"`` and ``"exact"`` raise
    /// :class:`NotRepresentableError`, the latter also where precision is lost; ``"saturate"`` takes the nearest value.
    /// The default is ``"checked"`` if :func:`create` was called with a ``dtype``, otherwise ``"exact"``.
    ///
    /// >>> import numeric_table as nt, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
    /// >>> with nt.create(path, 2, dtype="uint8") as writer:
    /// ...     writer.append([[1, 2], [3, 4]])
    /// ...     writer.append([[5, 300]], policy="saturate")
    /// >>> nt.load(path).rows().tolist()
    /// [[1, 2], [3, 4], [5, 255]]
    #[pyo3(signature = (rows, *, policy = None))]
    fn append(&self, py: Python<'_>, rows: &Bound<'_, PyAny>, policy: Option<&str>) -> PyResult<()> {
        let asked = policy.map(policy_of).transpose()?;
        let policy = asked.unwrap_or(policy_of_file(self.is_stated));
        let count = if let Ok(reader) = rows.cast::<Reader>() {
            let reader = reader.get();
            if asked == Some(ConversionPolicy::Saturate) && reader.element() != self.element {
                let text = "rows of a file are converted with policy='checked' or policy='exact'";
                return Err(PyTypeError::new_err(text));
            }
            watch(py, None, None, || {
                let from = reader.file.get()?;
                let mut lent = self.lend(look)?.ok_or_else(closed)?;
                lent.append(|file, is_partial| append_parts(file, &from, policy, is_partial))
            })
        } else {
            let table = match rows.cast::<Table>() {
                Ok(table) => table.get().snapshot(py)?,
                Err(_) => {
                    let rounds = self.element.is_float() && policy != ConversionPolicy::Exact;
                    doors::table_of(rows, None, rounds)?
                }
            };
            let table = &*table;
            watch(py, None, None, || {
                let mut lent = self.lend(look)?.ok_or_else(closed)?;
                lent.append(|file, _| append_table(file, table, policy))
            })
        };
        let is_silent = asked.is_none() && !self.is_stated;
        let count = count.map_err(|error| if is_silent { advise(error) } else { error })?;
        let Some(listener) = &self.listener else { return Ok(()) };
        let row = (self.dictionary.len() as u64).saturating_mul(self.element.size_in_bytes() as u64);
        let told = listener.tell(py, row.saturating_mul(count as u64), None);
        if told.is_err() {
            py.detach(|| self.give_up()); // a second try would append the rows twice
            let _ = listener.close(py); // the exception says more
        }
        told
    }

    /// Writes the file, as the end of a ``with`` block does.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let finish = || match self.lend(|| ())? {
            Some(mut lent) => lent.file.take().map_or(Ok(()), |file| file.finish()),
            None => Ok(()),
        };
        let written = py.detach(finish).or_raise();
        let ended = self.end(py);
        written.and(ended)
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let this = slf.get();
        slf.py().detach(|| this.lend(|| ())?.map(drop).ok_or_else(closed)).or_raise()?;
        Ok(slf)
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
        py.detach(|| {
            if let Ok(Some(mut lent)) = self.lend(|| ()) {
                drop(lent.file.take()); // without a file
            }
        });
        self.end(py)
    }

    fn __repr__(&self) -> PyResult<String> {
        let (rows, columns) = (self.row_count()?, self.dictionary.len());
        Ok(format!("<TableWriter: {rows} x {columns} values of {}>", element::name(self.element)))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener.traverse(&visit))
    }
}
