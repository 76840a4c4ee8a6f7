//! Tables in files that are larger than memory: arbitrary rows, and all rows block by block.
//!
//! Several threads can read one file at once. It stays open until the last of them is done, even if another thread
//! closes it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numeric_table::{
    ConversionPolicy, DataDictionary, DataLayout, Element, ElementType, Error, ErrorKind, HomogenNumericTable,
    NumericTable, Result, Shape, TableConversion, files::TableReader,
};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::base::boundary::{function, methods};
use crate::base::element::{self, with_type};
use crate::base::error::{CopyRequiredError, OrRaise, TableError, exception};
use crate::base::numbers;
use crate::base::progress::{Listener, hear, watch};
use crate::files::brackets::{self, Stored};
use crate::table::Table;
use crate::table::blocks;
use crate::table::choose::Columns;
use crate::table::describe;
use crate::table::describe::labels;
use crate::table::reading::{listed, order_of, policy_of};

/// An object that can be closed while others still use it. Threads that hold its lock are not attached to the
/// interpreter, and do nothing else while they hold it.
pub(crate) struct Closable<V>(Mutex<Option<Arc<V>>>);

impl<V> Closable<V> {
    pub(crate) fn new(open: V) -> Self {
        Self(Mutex::new(Some(Arc::new(open))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the object, unless it is closed.
    pub(crate) fn get(&self) -> Result<Arc<V>> {
        self.lock().clone().ok_or_else(|| Error::other("the file is closed"))
    }

    pub(crate) fn close(&self) {
        let open = self.lock().take();
        drop(open); // with no lock held
    }
}

/// A table file that may be larger than memory, read in parts. Returned by :func:`open`.
///
/// Reading rows does not verify checksums, which cover larger parts of the file: call :meth:`verify`. Files of sparse
/// tables, and of tables whose columns have different types, cannot be read in parts: use :func:`load`.
///
/// >>> import numpy as np, numeric_table as nt, tempfile, os
/// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
/// >>> nt.save(nt.Table(np.array([[1, 2], [3, 4], [5, 6]], dtype="int16"), names=["a", "b"]), path)
/// >>> with nt.open(path) as reader:
/// ...     reader.shape, reader.rows(1, 3, dtype="float32"), nt.statistics(reader).mean
/// ((3, 2), array([[3., 4.],
///        [5., 6.]], dtype=float32), array([3., 4.]))
#[pyclass(frozen, module = "numeric_table", name = "TableReader", weakref)]
pub(crate) struct Reader {
    pub(crate) file: Closable<TableReader>,
    shape: Shape,
    element: ElementType,
    layout: DataLayout,
    dictionary: DataDictionary,
    listener: Option<Listener>,
}

/// Opens a table file (``.ntb``) that may be larger than memory, for reading in parts.
///
/// ``progress`` is a function of ``(done, total)`` in bytes, or ``True`` for a progress bar of the package tqdm. It
/// reports each pass over the file: of ``row_blocks``, of ``verify`` and of ``statistics(reader)``.
///
/// >>> import numeric_table as nt, tempfile, os
/// >>> folder = tempfile.mkdtemp()
/// >>> one, two = os.path.join(folder, "one.ntb"), os.path.join(folder, "two.ntb")
/// >>> nt.save(nt.Table([[1.5, 2.0], [3.5, 4.0]], names=["a", "b"]), one)
/// >>> with nt.open(one) as reader, nt.create(two, reader.names, dtype="float32") as writer:
/// ...     for block in reader.row_blocks(4096):
/// ...         writer.append(block)
/// >>> nt.load(two).names
/// ['a', 'b']
#[function]
#[pyo3(signature = (path, *, progress = None))]
pub(crate) fn open(py: Python<'_>, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Reader> {
    let listener = Listener::of(progress, &path)?;
    let file = py.detach(|| TableReader::open(&path)).map_err(|error| match error.kind() {
        ErrorKind::TableKindMismatch { actual: found, .. } => {
            let path = path.display();
            TableError::new_err(format!("{path}: a table of kind {found} cannot be read in parts: use load"))
        }
        _ => exception(error),
    })?;
    let file = file.on_progress(hear);
    let (shape, element, layout) = (file.shape(), file.element_type(), file.data_layout());
    let dictionary = file.dictionary().clone();
    Ok(Reader { file: Closable::new(file), shape, element, layout, dictionary, listener })
}

/// Returns an error with the row of the file, if the work began at row `first`.
pub(crate) fn from_row(first: usize, error: Error) -> Error {
    match error.kind() {
        ErrorKind::ValueNotRepresentable { .. } => error.moved(first, 0),
        _ => error,
    }
}

impl Reader {
    pub(crate) fn element(&self) -> ElementType {
        self.element
    }

    pub(crate) fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn type_or(&self, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<ElementType> {
        dtype.map_or(Ok(self.element), element::of_object)
    }

    fn bytes(&self) -> u64 {
        let Shape { rows, columns } = self.shape;
        (rows as u64).saturating_mul(columns as u64).saturating_mul(self.element.size_in_bytes() as u64)
    }

    /// Reads consecutive rows.
    fn read(
        &self,
        py: Python<'_>,
        rows: Range<usize>,
        element: ElementType,
        policy: ConversionPolicy,
    ) -> PyResult<Table> {
        let read = || {
            let file = self.file.get()?;
            if policy == ConversionPolicy::Saturate || element == file.element_type() {
                return Ok(Table::new(with_type!(element, T => boxed(file.load_rows::<T>(rows)?))));
            }
            let first = rows.start;
            let stored = with_type!(file.element_type(), S => boxed(file.load_rows::<S>(rows)?));
            let converted = with_type!(element, T => stored.convert_with::<T>(policy).map(boxed));
            converted.map(Table::new).map_err(|error| from_row(first, error))
        };
        watch(py, None, None, read)
    }

    /// Computes something from the file, while other Python threads run. Reports the progress of the reader's passes.
    pub(crate) fn compute<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&TableReader) -> Result<R> + Send,
    ) -> PyResult<R> {
        let listener = self.listener.as_ref().map(|listener| listener.again(py));
        watch(py, listener, None, || work(&*self.file.get()?))
    }
}

fn boxed<T: Element>(table: HomogenNumericTable<T>) -> Box<dyn NumericTable> {
    Box::new(table)
}

impl Columns for Reader {
    fn count(&self, _py: Python<'_>) -> PyResult<usize> {
        Ok(self.shape.columns)
    }

    fn named(&self, _py: Python<'_>, name: &str) -> PyResult<usize> {
        self.dictionary.try_index_of(name).or_raise()
    }
}

impl Stored for Reader {
    fn row_count(&self) -> usize {
        self.shape.rows
    }

    fn row_bytes(&self) -> usize {
        self.shape.columns.saturating_mul(self.element.size_in_bytes())
    }

    fn load(&self, rows: Range<usize>) -> Result<Box<dyn NumericTable>> {
        let file = self.file.get()?;
        with_type!(self.element, T => file.load_rows::<T>(rows).map(boxed))
    }
}

#[methods]
impl Reader {
    /// The numbers of rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.shape.rows, self.shape.columns)
    }

    /// The number of dimensions, which is 2.
    #[getter]
    fn ndim(&self) -> usize {
        2
    }

    /// The number of bytes of all values.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.bytes()
    }

    /// The type of the values in the file.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        element::dtype(py, self.element)
    }

    /// The type of each column.
    #[getter]
    fn dtypes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let types = listed(self.dictionary.iter().map(|feature| feature.element_type), "columns")?;
        types.into_iter().map(|element| element::dtype(py, element)).collect()
    }

    /// ``"C"`` if the values are stored row by row, ``"F"`` if they are stored column by column. For ``"F"``, few large
    /// blocks are best.
    #[getter]
    fn order(&self) -> &'static str {
        order_of(self.layout)
    }

    /// The names of the columns, ``None`` for a column without a name.
    #[getter]
    fn names(&self) -> PyResult<Vec<Option<String>>> {
        describe::names(&self.dictionary)
    }

    /// The kind of table: ``"homogeneous"``.
    #[getter]
    fn kind(&self) -> &'static str {
        numeric_table::table::spi::TableKind::HOMOGENEOUS.name()
    }

    fn __len__(&self) -> usize {
        self.shape.rows
    }

    /// Reads rows into a NumPy array of any type, like :meth:`Table.rows`.
    #[pyo3(signature = (start = 0, stop = None, dtype = None, *, policy = "saturate"))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::row)] start: usize,
        #[pyo3(from_py_with = numbers::end)] stop: Option<usize>,
        dtype: Option<&Bound<'py, PyAny>>,
        policy: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (element, policy) = (self.type_or(dtype)?, policy_of(policy)?);
        self.read(py, start..stop.unwrap_or(self.shape.rows), element, policy)?.all(py, element)?.into_numpy(py)
    }

    /// Reads rows into a table, with the names and categories of the columns.
    ///
    /// >>> import numeric_table as nt, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
    /// >>> nt.save(nt.Table([[1.5, 2.0], [3.5, 4.0], [5.5, 6.0]], names=["a", "b"]), path)
    /// >>> nt.open(path).load_rows(1, 3)["b"]
    /// array([4., 6.])
    #[pyo3(signature = (start = 0, stop = None, dtype = None, *, policy = "saturate"))]
    fn load_rows(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::row)] start: usize,
        #[pyo3(from_py_with = numbers::end)] stop: Option<usize>,
        dtype: Option<&Bound<'_, PyAny>>,
        policy: &str,
    ) -> PyResult<Table> {
        let (element, policy) = (self.type_or(dtype)?, policy_of(policy)?);
        self.read(py, start..stop.unwrap_or(self.shape.rows), element, policy)
    }

    /// Returns an iterator that reads all rows in blocks of ``n``, each a new NumPy array; the last may be shorter. One
    /// block is in memory at a time, if the caller keeps none. After an error, the next call reads the same block
    /// again. An exception of ``progress`` ends the iteration.
    #[pyo3(signature = (n, dtype = None, *, policy = "saturate"))]
    fn row_blocks(
        slf: Bound<'_, Self>,
        #[pyo3(from_py_with = numbers::count)] n: usize,
        dtype: Option<&Bound<'_, PyAny>>,
        policy: &str,
    ) -> PyResult<FileBlocks> {
        blocks::check(n)?;
        let (element, policy) = (slf.get().type_or(dtype)?, policy_of(policy)?);
        let listener = slf.get().listener.as_ref().map(|listener| listener.again(slf.py()));
        Ok(FileBlocks { reader: slf.unbind(), next: 0, rows: n, element, policy, listener, is_begun: false })
    }

    /// Reads all values and verifies their checksums. Raises :class:`FormatError` if they are damaged, and returns
    /// whether the file has checksums.
    fn verify(&self, py: Python<'_>) -> PyResult<bool> {
        let listener = self.listener.as_ref().map(|listener| listener.again(py));
        watch(py, listener, None, || self.file.get()?.verify())
    }

    /// The labels of the columns: their names, and the index of a column without a name.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        labels(py, self.names()?)
    }

    /// Reads the first ``n`` rows into a table.
    #[pyo3(signature = (n = 5))]
    fn head(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::count)] n: usize) -> PyResult<Table> {
        self.read(py, 0..n.min(self.shape.rows), self.element, ConversionPolicy::Saturate)
    }

    /// Reads the last ``n`` rows into a table.
    #[pyo3(signature = (n = 5))]
    fn tail(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::count)] n: usize) -> PyResult<Table> {
        let count = self.shape.rows;
        self.read(py, count - n.min(count)..count, self.element, ConversionPolicy::Saturate)
    }

    /// Reads from the file what ``table[key]`` is for a table: ``reader[3]`` is a row, ``reader[2:5]`` and
    /// ``reader[[7, 3]]`` are tables of rows, ``reader["a"]`` is a column, ``reader[["a", "b"]]`` a table of columns,
    /// ``reader[:3, "a"]`` some values of a column. Memory is needed for the result, and a few MiB of the file.
    ///
    /// >>> import numeric_table as nt, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
    /// >>> nt.save(nt.Table([[1.5, 2.0], [3.5, 4.0], [5.5, 6.0]], names=["a", "b"]), path)
    /// >>> with nt.open(path) as reader:
    /// ...     reader["b"], reader[-1], reader[:2, "a"]
    /// (array([2., 4., 6.]), array([5.5, 6. ]), array([1.5, 3.5]))
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        brackets::item(py, self, key)
    }

    /// Reads all rows into a NumPy array: ``np.asarray(reader)``.
    #[pyo3(signature = (dtype = None, *, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(CopyRequiredError::new_err("a copy is required: the values are in a file"));
        }
        let array = self.rows(py, 0, None, dtype, "saturate")?;
        if copy == Some(true) { array.call_method0("copy") } else { Ok(array) }
    }

    /// Closes the file. Reads that other threads have begun complete normally. Values that have been read stay valid.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.file.close());
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let this = slf.get();
        slf.py().detach(|| this.file.get().map(drop)).or_raise()?;
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
        format!("<TableReader: {} values of {}>", self.shape, element::name(self.element))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener.traverse(&visit))
    }
}

/// Blocks of rows of a file, one after another.
#[pyclass(module = "numeric_table")]
pub(crate) struct FileBlocks {
    reader: Py<Reader>,
    /// The first row of the next block; past the end after the last block.
    next: usize,
    rows: usize,
    element: ElementType,
    policy: ConversionPolicy,
    listener: Option<Listener>,
    is_begun: bool,
}

impl FileBlocks {
    /// Reports the progress. An exception ends the iteration.
    fn tell(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(listener) = &self.listener else { return Ok(()) };
        let reader = self.reader.get();
        let row = reader.bytes() / (reader.shape.rows as u64).max(1);
        let told = listener.tell(py, row.saturating_mul(self.next as u64), Some(reader.bytes()));
        let told = told.and_then(|()| if self.next == reader.shape.rows { listener.close(py) } else { Ok(()) });
        if told.is_err() {
            self.next = usize::MAX;
            self.listener = None; // which closes its bar
        }
        told
    }

    fn read<'py>(&self, py: Python<'py>, rows: Range<usize>) -> PyResult<Bound<'py, PyAny>> {
        let block = self.reader.get().read(py, rows, self.element, self.policy);
        let block = block.and_then(|table| table.all(py, self.element)?.into_numpy(py));
        if let (Err(_), Some(listener)) = (&block, &self.listener) {
            let _ = listener.close(py); // the error says more
        }
        block
    }
}

#[methods]
impl FileBlocks {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.tell(py)?;
        }
        let all = self.reader.get().shape.rows;
        if self.next >= all {
            return Ok(None);
        }
        let stop = all.min(self.next.saturating_add(self.rows));
        let block = self.read(py, self.next..stop)?;
        self.next = stop;
        self.tell(py)?;
        Ok(Some(block))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        visit.call(&self.reader)?;
        self.listener.as_ref().map_or(Ok(()), |listener| listener.traverse(&visit))
    }
}
