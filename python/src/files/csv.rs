//! CSV files: read at once, written, and read block by block where they are larger than memory.
//!
//! Blocks borrow the source that they are read from. So a separate thread owns both, and sends the rows. It reads the
//! next block in the meantime, and never attaches to the interpreter.

use std::mem::forget;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use numeric_table::{
    Array, DataDictionary, DataLayout, Element, ElementType, HomogenNumericTable, NumericTable, Result, Shape,
    TableOutput,
    csv::{CsvSource, CsvWriteOptions},
    files::Progress,
    trace::TraceContext,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};

use crate::base::boundary::{function, methods};
use crate::base::element::{self, with_type};
use crate::base::elsewhere::refuse_options;
use crate::base::error::{OrRaise, TableError, TableFileError};
use crate::base::numbers;
use crate::base::progress::{Listener, hear, heard, watch};
use crate::files::csv_options::{Character, Header, Said, by_column, one_of};
use crate::files::reader::Closable;
use crate::table::Table;
use crate::table::blocks;
use crate::table::reading::listed;

/// The interval at which a thread that waits for a block checks for signals.
const LOOK: Duration = Duration::from_millis(50);

fn source(py: Python<'_>, path: &PathBuf, said: &Said<'_, '_>) -> PyResult<CsvSource> {
    let open = |options| py.detach(|| CsvSource::open_with(path, options)).or_raise();
    let source = open(said.options()?)?.on_progress(hear);
    if !said.fills()? {
        return Ok(source);
    }
    // A number replaces missing numbers, and neither words nor dates: the file is read once more for their columns.
    let found = watch(py, None, None, || source.dictionary(ElementType::F64))?;
    match said.without_fills(&found)? {
        None => Ok(source),
        Some(options) if path.is_file() => Ok(open(options)?.on_progress(hear)),
        Some(_) => Err(TableError::new_err(
            "missing= is a number, which cannot replace words and dates: pass missing=\"keep\", and fillna(0) replaces \
             missing numbers",
        )),
    }
}

/// Reads a CSV file and converts it to one type, or with ``dtype=None`` infers a type for each column, with categories
/// for columns of words.
///
/// ``comment`` begins a comment, at the beginning of a line or after a field; the rest of the line is ignored.
/// ``header`` states whether the first line has names: ``None`` or ``False`` if it has not, as in pandas; ``0``,
/// ``"infer"`` or ``True`` if it has; ``"auto"``, the default, detects it. ``columns`` are the columns to read, by name
/// or index; ``categorical`` names columns to read as categories even if their values look like numbers.
/// ``trailing_delimiter`` states whether lines end in a delimiter that no field follows; ``None`` detects it.
/// ``thousands`` is the separator of digits in groups of three. ``dtypes`` maps some columns to types: ``"float32"``,
/// or ``"datetime64[D]"`` for dates and times in ISO 8601. ``sep`` and ``usecols`` are other names of ``delimiter`` and
/// ``columns``. The texts that mean a missing value are those of pandas: the empty text, ``NA``, ``N/A``, ``NaN``,
/// ``null``, ``None`` and so on. ``na_values`` are further ones, as a text, a number or a list; a number in any
/// spelling; or a dictionary with those of some columns. ``keep_default_na=False`` leaves only these. ``missing``
/// states how to treat missing values: ``"keep"``, the default, keeps them in columns of their own type; ``"error"``,
/// ``"nan"``, ``"skip"`` to omit the row, or a number, which replaces missing numbers, but not missing words and dates.
/// In a table of one type they are errors by default, and ``NaN`` is a value. In a categorical column, a quoted string
/// is a category, unless ``quoted_missing=True`` makes it missing there too, for files with quotes around every field.
/// ``max_columns`` (65,536), ``max_categories`` of a column (1,048,576), ``max_record_bytes`` (256 MiB) and
/// ``max_buffered_bytes`` (1 GiB, for a source without a size) are limits, so that a small file cannot take much
/// memory.
///
/// >>> import numeric_table as nt, pathlib, tempfile
/// >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
/// >>> _ = path.write_text("size;colour\n1,5;red\n;blue\n")
/// >>> table = nt.read_csv(path, delimiter=";", decimal=",", missing="nan")
/// >>> table["size"], table.categories
/// (array([1.5, nan]), {'colour': ['red', 'blue']})
///
/// ``progress`` is a function of ``(done, total)`` in bytes, called during the work, or ``True`` for a progress bar of
/// the package tqdm. An exception that the function raises ends the work.
#[function]
#[pyo3(signature = (path, dtype = None, *, delimiter = None, decimal = None, thousands = None, comment = None,
    header = Header::AUTOMATIC, trailing_delimiter = None, columns = None, categorical = None, missing = None,
    na_values = None, keep_default_na = true, quoted_missing = None, dtypes = None, max_columns = None,
    max_categories = None, max_record_bytes = None, max_buffered_bytes = None, progress = None, sep = None,
    usecols = None, **others))]
#[expect(clippy::too_many_arguments, reason = "they are named, in Python")]
pub(crate) fn read_csv(
    py: Python<'_>,
    path: PathBuf,
    dtype: Option<&Bound<'_, PyAny>>,
    delimiter: Option<Character>,
    decimal: Option<Character>,
    thousands: Option<Character>,
    comment: Option<Character>,
    header: Header,
    trailing_delimiter: Option<bool>,
    columns: Option<&Bound<'_, PyAny>>,
    categorical: Option<&Bound<'_, PyAny>>,
    missing: Option<&Bound<'_, PyAny>>,
    na_values: Option<&Bound<'_, PyAny>>,
    keep_default_na: bool,
    quoted_missing: Option<bool>,
    dtypes: Option<&Bound<'_, PyAny>>,
    max_columns: Option<&Bound<'_, PyAny>>,
    max_categories: Option<&Bound<'_, PyAny>>,
    max_record_bytes: Option<&Bound<'_, PyAny>>,
    max_buffered_bytes: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    sep: Option<Character>,
    usecols: Option<&Bound<'_, PyAny>>,
    others: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    refuse_options("read_csv", others)?;
    let delimiter = one_of("delimiter", delimiter, "sep", sep)?;
    let columns = one_of("columns", columns, "usecols", usecols)?;
    let (dtype, dtypes) = by_column(dtype, dtypes)?;
    let listener = Listener::of(progress, &path)?;
    let element = dtype.map(element::of_object).transpose()?;
    let said = Said {
        delimiter,
        decimal,
        thousands,
        comment,
        header,
        trailing_delimiter,
        columns,
        categorical,
        missing,
        na_values,
        keep_default_na,
        has_one_type: element.is_some(),
        quoted_missing,
        dtypes,
        max_columns,
        max_categories,
        max_record_bytes,
        max_buffered_bytes,
    };
    let source = source(py, &path, &said)?;
    watch(py, listener, None, || {
        Ok(Table::new(match element {
            Some(element) => with_type!(element, T => Box::new(source.load::<T>()?)),
            None => Box::new(source.load_typed()?),
        }))
    })
}

/// Writes a CSV file, with the names of the columns. An existing file stays until the new one is complete, even if
/// Ctrl-C ends the work.
#[function]
pub(crate) fn write_csv(py: Python<'_>, table: &Bound<'_, Table>, path: PathBuf) -> PyResult<()> {
    let table = table.get().steady(py)?;
    let (table, options) = (table.table(), CsvWriteOptions::new().on_progress(hear));
    watch(py, None, None, || table.write_csv_with(&path, options))
}

/// A CSV file that may be larger than memory, read block by block. Returned by :func:`open_csv`.
#[pyclass(frozen, module = "numeric_table", name = "CsvSource", weakref)]
pub(crate) struct Csv {
    source: Closable<CsvSource>,
    names: Vec<Option<String>>,
    element: ElementType,
    listener: Option<Listener>,
    process: u32,
    /// Whether a thread has read the file. After a fork, locks of that thread may be held for ever in the child.
    has_thread: AtomicBool,
}

/// Opens a CSV file that may be larger than memory, for reading block by block. Values are converted to ``dtype``, by
/// default float64, which rounds integers beyond 2^53. The options are those of :func:`read_csv`.
///
/// ``progress`` is a function of ``(done, total)`` in bytes, called by ``row_blocks``, or ``True`` for a progress bar
/// of the package tqdm.
///
/// >>> import numeric_table as nt, tempfile, pathlib
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> text, path = folder / "table.csv", folder / "table.ntb"
/// >>> _ = text.write_text("length,colour\n1.5,red\n2.5,blue\n3.5,red\n")
/// >>> with nt.open_csv(text) as source, nt.create(path, source) as writer:
/// ...     for block in source.row_blocks(2):
/// ...         writer.append(block)
/// >>> nt.load(path)["length"]
/// array([1.5, 2.5, 3.5])
#[function]
#[pyo3(signature = (path, dtype = None, *, delimiter = None, decimal = None, thousands = None, comment = None,
    header = Header::AUTOMATIC, trailing_delimiter = None, columns = None, categorical = None, missing = None,
    na_values = None, keep_default_na = true, quoted_missing = None, dtypes = None, max_columns = None,
    max_categories = None, max_record_bytes = None, max_buffered_bytes = None, progress = None, sep = None,
    usecols = None, **others))]
#[expect(clippy::too_many_arguments, reason = "they are named, in Python")]
pub(crate) fn open_csv(
    py: Python<'_>,
    path: PathBuf,
    dtype: Option<&Bound<'_, PyAny>>,
    delimiter: Option<Character>,
    decimal: Option<Character>,
    thousands: Option<Character>,
    comment: Option<Character>,
    header: Header,
    trailing_delimiter: Option<bool>,
    columns: Option<&Bound<'_, PyAny>>,
    categorical: Option<&Bound<'_, PyAny>>,
    missing: Option<&Bound<'_, PyAny>>,
    na_values: Option<&Bound<'_, PyAny>>,
    keep_default_na: bool,
    quoted_missing: Option<bool>,
    dtypes: Option<&Bound<'_, PyAny>>,
    max_columns: Option<&Bound<'_, PyAny>>,
    max_categories: Option<&Bound<'_, PyAny>>,
    max_record_bytes: Option<&Bound<'_, PyAny>>,
    max_buffered_bytes: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    sep: Option<Character>,
    usecols: Option<&Bound<'_, PyAny>>,
    others: Option<&Bound<'_, PyDict>>,
) -> PyResult<Csv> {
    refuse_options("open_csv", others)?;
    let delimiter = one_of("delimiter", delimiter, "sep", sep)?;
    let columns = one_of("columns", columns, "usecols", usecols)?;
    let (dtype, dtypes) = by_column(dtype, dtypes)?;
    let listener = Listener::of(progress, &path)?;
    let element = dtype.map_or(Ok(ElementType::F64), element::of_object)?;
    let said = Said {
        delimiter,
        decimal,
        thousands,
        comment,
        header,
        trailing_delimiter,
        columns,
        categorical,
        missing,
        na_values,
        keep_default_na,
        has_one_type: true,
        quoted_missing,
        dtypes,
        max_columns,
        max_categories,
        max_record_bytes,
        max_buffered_bytes,
    };
    let source = source(py, &path, &said)?;
    let names = listed(source.names().map(|name| name.map(str::to_owned)), "columns")?;
    let (process, has_thread) = (process::id(), AtomicBool::new(false));
    Ok(Csv { source: Closable::new(source), names, element, listener, process, has_thread })
}

impl Csv {
    pub(crate) fn element(&self) -> ElementType {
        self.element
    }

    /// Returns the description of the columns. May have to read the entire file.
    pub(crate) fn dictionary(&self, py: Python<'_>) -> PyResult<DataDictionary> {
        self.check_process()?;
        watch(py, None, None, || self.source.get()?.dictionary(self.element))
    }

    /// Calls `work` with all rows in blocks of about `values` values, while other Python threads run.
    pub(crate) fn for_each_block(
        &self,
        py: Python<'_>,
        values: usize,
        mut work: impl FnMut(&dyn NumericTable) -> Result<()> + Send,
    ) -> PyResult<()> {
        self.check_process()?;
        let rows = (values / self.names.len().max(1)).max(1);
        let listener = self.listener.as_ref().map(|listener| listener.again(py));
        watch(py, listener, None, || {
            let source = self.source.get()?;
            with_type!(self.element, T => each_block::<T>(&source, rows, |table| work(&table).map(|()| true)))
        })
    }

    fn check_process(&self) -> PyResult<()> {
        if self.process == process::id() || !self.has_thread.load(Relaxed) {
            return Ok(());
        }
        Err(PyRuntimeError::new_err(
            "the file was being read when the process was forked: open it again after the fork",
        ))
    }
}

#[methods]
impl Csv {
    /// The names of the columns, ``None`` for a column without a name.
    #[getter]
    fn names(&self) -> PyResult<Vec<Option<String>>> {
        listed(self.names.iter().cloned(), "columns")
    }

    /// The type of the values in the blocks.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        element::dtype(py, self.element)
    }

    /// Returns an iterator over all rows in blocks of ``n``. Each block is a table with the names and categories of the
    /// columns; the last may be shorter.
    ///
    /// Scans the file first if a column holds words, or if its first rows do not reveal its type. Reads the next block
    /// while the caller works on one. So three blocks are in memory at a time, if the caller keeps none.
    fn row_blocks(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::count)] n: usize) -> PyResult<CsvBlocks> {
        blocks::check(n)?;
        self.check_process()?;
        let source = py.detach(|| self.source.get()).or_raise()?;
        let (sender, receiver) = sync_channel(0);
        let element = self.element;
        let traces = TraceContext::current();
        let work = move || traces.run(|| with_type!(element, T => send::<T>(&source, n, &sender)));
        self.has_thread.store(true, Relaxed);
        Builder::new()
            .name(String::from("numeric_table.csv"))
            .spawn(work)
            .map_err(|error| TableFileError::new_err(format!("cannot start a thread to read the file: {error}")))?;
        let listener = self.listener.as_ref().map(|listener| listener.again(py));
        Ok(CsvBlocks { parts: Some(Mutex::new(receiver)), listener, told: None, process: process::id() })
    }

    /// Closes the file. Iterators that have begun still return their blocks.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.source.close());
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let this = slf.get();
        slf.py().detach(|| this.source.get().map(drop)).or_raise()?;
        Ok(slf)
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _exception: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        format!("<CsvSource: {} columns as {}>", self.names.len(), element::name(self.element))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener.traverse(&visit))
    }
}

/// A message of the reading thread: rows, and at the end the outcome.
enum Part {
    Rows(Box<dyn NumericTable>, Option<Progress>),
    End(Result<()>),
}

fn send<T: Element>(source: &CsvSource, rows: usize, to: &SyncSender<Part>) {
    let outcome = send_rows::<T>(source, rows, to);
    let _ = to.send(Part::End(outcome)); // fails if the receiver is gone
}

fn send_rows<T: Element>(source: &CsvSource, rows: usize, to: &SyncSender<Part>) -> Result<()> {
    // An error in sending: the receiver is gone.
    each_block::<T>(source, rows, |table| Ok(to.send(Part::Rows(Box::new(table), heard())).is_ok()))
}

/// Calls `work` with the rows in blocks, until it returns `false`.
fn each_block<T: Element>(
    source: &CsvSource,
    rows: usize,
    mut work: impl FnMut(HomogenNumericTable<T>) -> Result<bool>,
) -> Result<()> {
    let dictionary = source.dictionary(T::TYPE)?;
    let mut blocks = source.row_blocks::<T>(rows)?;
    while let Some(block) = blocks.next_block()? {
        let shape = Shape { rows: block.row_range().len(), columns: dictionary.len() };
        let values = Array::copy_of(&block)?;
        let table = HomogenNumericTable::from_array_with_layout(values, shape, DataLayout::RowMajor)?;
        if !work(table.with_dictionary(dictionary.clone())?)? {
            break;
        }
    }
    Ok(())
}

/// Blocks of rows of a CSV file, one after another.
#[pyclass(module = "numeric_table")]
pub(crate) struct CsvBlocks {
    /// The channel from the reading thread; `None` after the last block.
    parts: Option<Mutex<Receiver<Part>>>,
    listener: Option<Listener>,
    told: Option<Progress>,
    /// The process of the reading thread, which a fork does not have.
    process: u32,
}

impl Drop for CsvBlocks {
    fn drop(&mut self) {
        self.leave_to_parent();
    }
}

impl CsvBlocks {
    /// Returns whether this is a fork of the process that reads. If so, abandons the objects of the parent, whose locks
    /// may be held for ever.
    fn leave_to_parent(&mut self) -> bool {
        let is_fork = self.process != process::id();
        if is_fork {
            forget(self.parts.take());
        }
        is_fork
    }

    fn tell(&mut self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        let Some(listener) = &self.listener else { return Ok(()) };
        if self.told.replace(progress).is_none() {
            listener.tell(py, 0, progress.total)?;
        }
        listener.tell(py, progress.done, progress.total)
    }

    /// Ends the iteration: stops the thread, and closes the progress bar.
    fn end(&mut self) {
        self.parts = None;
        self.listener = None;
    }
}

fn receive(parts: &mut Receiver<Part>) -> std::result::Result<Part, RecvTimeoutError> {
    parts.recv_timeout(LOOK)
}

#[methods]
impl CsvBlocks {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Table>> {
        if self.leave_to_parent() {
            return Err(PyRuntimeError::new_err(
                "the blocks are read by a thread of the process that began them, which its forks do not have: call \
                 open_csv again, after the fork",
            ));
        }
        let Some(parts) = &mut self.parts else { return Ok(None) };
        let parts = parts.get_mut().unwrap_or_else(PoisonError::into_inner);
        let part = loop {
            match py.detach(|| receive(parts)) {
                Ok(part) => break part,
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    self.end();
                    return Err(PyRuntimeError::new_err("the thread that reads the file has ended"));
                }
            }
        };
        match part {
            Part::Rows(table, progress) => {
                let told = progress.map_or(Ok(()), |progress| self.tell(py, progress));
                if told.is_err() {
                    self.end();
                }
                told.map(|()| Some(Table::new(table)))
            }
            Part::End(outcome) => {
                let mut ended = outcome.or_raise();
                if let (Ok(()), Some(Progress { done, total: Some(total) })) = (&ended, self.told)
                    && done != total
                {
                    ended = self.tell(py, Progress { done: total, total: Some(total) });
                }
                if let (Ok(()), Some(listener)) = (&ended, &self.listener) {
                    ended = listener.close(py);
                }
                self.end();
                ended.map(|()| None)
            }
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener.traverse(&visit))
    }
}
