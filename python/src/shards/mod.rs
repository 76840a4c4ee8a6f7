//! `Shards`: a table in many table files.

#[forbid(unsafe_code)]
pub(crate) mod known;
#[forbid(unsafe_code)]
pub(crate) mod reduce;
#[forbid(unsafe_code)]
pub(crate) mod selection;
#[forbid(unsafe_code)]
pub(crate) mod writer;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use numeric_table::{
    Array, BlockAccess, ConversionPolicy, DataLayout, Element, ElementType, Error, ErrorKind, HomogenNumericTable,
    Shape,
};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::base::boundary::methods;
use crate::base::element::{self, with_type};
use crate::base::error::{OrRaise, exception};
use crate::base::numbers;
use crate::base::progress::{hear, look, watch};
use crate::files::reader::from_row;
use crate::results::{Part, Pickled};
use crate::shards::known::{Known, LastFile, change, known_of, load_known};
use crate::table::Table;
use crate::table::blocks;
use crate::table::describe;
use crate::table::reading::{Wanted, check_shape, common_type, share_of, stated};

/// The content of a pickle: the manifest, the known properties of each file, and whether values are verified.
type ShardsState = (Option<PathBuf>, Vec<Known>, bool);

/// A table in many table files (``.ntb``), end to end, which may be larger than memory.
///
/// ``Shards(path)`` opens a folder by its manifest, ``shards.ntm``. Without a manifest, it opens all ``.ntb`` files of
/// the folder, sorted by name. It also accepts a manifest, a pattern (``"data/part-*.ntb"``), or a list of files. All
/// files have the same columns.
///
/// Files are opened when their rows are needed, and compared with their known properties. A file that is missing, or
/// whose size, number of rows or header has changed, raises an error that names it. ``reduce`` and its parts also
/// compare the checksums of the values that the file states, and so detect any file that was replaced. ``load``,
/// ``load_shard`` and ``verify`` also verify the values against these checksums, and so detect damage. ``rows``,
/// ``row_blocks`` and
/// ``map`` do not verify checksums of values: they read changed values of the same shape, type and names without an
/// error.
///
/// ``Shards(paths, verify=True)`` verifies the values against their checksums in all of these calls before they are
/// used, and reads some of them twice. A damaged value raises a :class:`FormatError` that names the file, and never
/// becomes part of a result. Files without checksums are refused then.
///
/// ``reduce(partial)`` computes a partial result over all rows: one of the package's kinds on all threads, or an object
/// with the methods ``new_like()``, ``update(table)`` and ``merge(other)``, on the calling thread. Results are merged
/// in an order that depends only on the files, and so have the same bits anywhere.
///
/// >>> import numeric_table as nt, tempfile, os
/// >>> folder = tempfile.mkdtemp()
/// >>> nt.save(nt.Table([[1, 2], [3, 4]]), os.path.join(folder, "part-0.ntb"))
/// >>> nt.save(nt.Table([[5, 6]]), os.path.join(folder, "part-1.ntb"))
/// >>> shards = nt.Shards(folder)
/// >>> shards.shape, shards.shard_count
/// ((3, 2), 2)
/// >>> shards.rows(1, 3, dtype="float32")
/// array([[3., 4.],
///        [5., 6.]], dtype=float32)
/// >>> shards.reduce(nt.Statistics(2)).mean
/// array([3., 4.])
#[pyclass(frozen, module = "numeric_table", name = "Shards", weakref)]
pub(crate) struct Shards {
    /// The files as of now: appending replaces them.
    shards: RwLock<Arc<numeric_table::shards::Shards>>,
    /// Held while files are appended.
    appends: Mutex<()>,
    /// The folder or the manifest that lists the files.
    listed_by: Option<PathBuf>,
    /// Whether values are verified against their checksums before they are used.
    is_verified: bool,
}

impl Shards {
    fn of_path(path: PathBuf) -> numeric_table::Result<Self> {
        let is_pattern = path.file_name().is_some_and(|name| {
            let name = name.as_encoded_bytes();
            name.contains(&b'*') || name.contains(&b'?')
        });
        if is_pattern && !path.exists() {
            let shards = numeric_table::shards::Shards::from_glob(&path)?;
            return Ok(Self::new_of(shards, None));
        }
        let shards = numeric_table::shards::Shards::open(&path)?;
        Ok(Self::new_of(shards, Some(path)))
    }

    /// Creates the table of a folder.
    pub(crate) fn of_folder(shards: numeric_table::shards::Shards, folder: PathBuf) -> PyResult<Self> {
        Self::new_of(shards, Some(folder)).checked()
    }

    fn new_of(shards: numeric_table::shards::Shards, listed_by: Option<PathBuf>) -> Self {
        Self { shards: RwLock::new(Arc::new(shards)), appends: Mutex::default(), listed_by, is_verified: false }
    }

    /// Returns the files as of now. The lock is held for a moment only.
    fn files_now(&self) -> Arc<numeric_table::shards::Shards> {
        self.shards.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn verified(self, is_verified: bool) -> Self {
        let shards = (*self.files_now()).clone().with_verification(is_verified);
        Self { is_verified, ..Self::new_of(shards, self.listed_by) }
    }

    fn checked(self) -> PyResult<Self> {
        let shards = self.files_now();
        check_shape(shards.shape())?;
        let is_verified = self.is_verified;
        Ok(Self { is_verified, ..Self::new_of((*shards).clone().on_progress(hear), self.listed_by) })
    }

    fn known(&self) -> Vec<Known> {
        known_of(&self.files_now())
    }

    fn common_type(&self, py: Python<'_>) -> PyResult<ElementType> {
        common_type(py, self.files_now().dictionary())
    }

    fn wanted(&self, py: Python<'_>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Wanted> {
        let is_uniform = self.files_now().dictionary().uniform_type().is_some();
        let wanted = Wanted::new(stated(dtype)?, None, || self.common_type(py), is_uniform)?;
        Ok(wanted.of_columns(self.files_now().dictionary()))
    }

    fn array<'py>(
        &self,
        py: Python<'py>,
        rows: Range<usize>,
        wanted: Wanted,
        last: &LastFile,
    ) -> PyResult<Bound<'py, PyAny>> {
        let share = with_type!(wanted.element, T => {
            let load = || match wanted.policy {
                ConversionPolicy::Saturate => self.files_now().load_rows::<T>(rows),
                policy => self.load_by::<T>(rows, policy, last),
            };
            share_of(&watch(py, None, None, load).map_err(|error| wanted.advise(error))?)?
        });
        share.into_numpy(py)
    }

    /// Loads rows with a policy: the full table of each file that has some of them. The last table is kept for later
    /// rows.
    fn load_by<T: Element>(
        &self,
        rows: Range<usize>,
        policy: ConversionPolicy,
        last: &LastFile,
    ) -> numeric_table::Result<HomogenNumericTable<T>> {
        let shards = self.files_now();
        let Shape { rows: row_count, columns } = shards.shape();
        if rows.start > rows.end || rows.end > row_count {
            return Err(Error::new(ErrorKind::RowsOutOfRange { rows, row_count }));
        }
        let (shape, is_all) = (Shape { rows: rows.len(), columns }, rows == (0..row_count));
        let mut array = Array::<T>::zeros(shape.element_count_of(T::TYPE)?)?;
        let mut rest = array.mutable_data()?;
        for (place, (known, file)) in known_of(&shards).into_iter().zip(shards.files()).enumerate() {
            let (first, part) = (file.rows.start, file.rows.start.max(rows.start)..file.rows.end.min(rows.end));
            if part.is_empty() && !is_all {
                continue;
            }
            look();
            let table = last.table(place, &known)?;
            let (target, others) = rest.split_at_mut(part.len() * columns);
            if !target.is_empty() {
                let block = table.rows_with::<T>(part.start - first..part.end - first, policy);
                target.copy_from_slice(&block.map_err(|error| from_row(first, error))?);
            }
            rest = others;
        }
        let dictionary = shards.dictionary().with_element_type(T::TYPE)?;
        HomogenNumericTable::from_array_with_layout(array, shape, DataLayout::RowMajor)?.with_dictionary(dictionary)
    }
}

#[methods]
impl Shards {
    #[new]
    #[pyo3(signature = (paths, *, verify = false))]
    fn new(paths: &Bound<'_, PyAny>, verify: bool) -> PyResult<Self> {
        let py = paths.py();
        if paths.is_instance_of::<PyString>() || paths.hasattr("__fspath__")? {
            let path: PathBuf = paths.extract()?;
            return py.detach(|| Self::of_path(path)).or_raise()?.verified(verify).checked();
        }
        let paths = paths.try_iter()?.map(|path| path?.extract()).collect::<PyResult<Vec<PathBuf>>>()?;
        let shards = py.detach(|| numeric_table::shards::Shards::from_paths(&paths)).or_raise()?;
        Self::new_of(shards, None).verified(verify).checked()
    }

    /// The number of rows in all files, and the number of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let Shape { rows, columns } = self.files_now().shape();
        (rows, columns)
    }

    /// The type of the values, a NumPy ``dtype``. For columns of several types, one that can represent them all.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        element::dtype(py, self.common_type(py)?)
    }

    /// The names of the columns, ``None`` for a column without a name.
    #[getter]
    fn names(&self) -> PyResult<Vec<Option<String>>> {
        describe::names(self.files_now().dictionary())
    }

    /// The number of files.
    #[getter]
    fn shard_count(&self) -> usize {
        self.files_now().shard_count()
    }

    /// The files, in the order of their rows.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.files_now().files().map(|file| file.path.to_owned()).collect()
    }

    /// The number of rows of each file.
    #[getter]
    fn row_counts(&self) -> Vec<usize> {
        self.files_now().files().map(|file| file.rows.len()).collect()
    }

    fn __len__(&self) -> usize {
        self.files_now().shape().rows
    }

    /// Returns rows as a read-only NumPy array of any type. The rows may span several files. Checksums of values are
    /// verified if the table was opened with ``verify=True``. For columns of several types without a stated ``dtype``,
    /// a value that the type of the array cannot represent raises :class:`NotRepresentableError`, also in
    /// ``row_blocks`` and ``load``. To find such values, these calls load complete files and verify all checksums,
    /// unless the type of the array can represent all values of the columns' types.
    #[pyo3(signature = (start = 0, stop = None, dtype = None))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::row)] start: usize,
        #[pyo3(from_py_with = numbers::end)] stop: Option<usize>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = self.wanted(py, dtype)?;
        self.array(py, start..stop.unwrap_or(self.files_now().shape().rows), wanted, &LastFile::default())
    }

    /// Returns an iterator over the rows in blocks of ``n``, each a NumPy array. Blocks may span several files; the
    /// last may be shorter. Checksums of values are verified if the table was opened with ``verify=True``. Then each
    /// block verifies all chunks that it touches, by default of 1 MiB: larger blocks are better.
    #[pyo3(signature = (n, dtype = None))]
    fn row_blocks(
        slf: Bound<'_, Self>,
        #[pyo3(from_py_with = numbers::count)] n: usize,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<ShardBlocks> {
        let wanted = slf.get().wanted(slf.py(), dtype)?;
        blocks::check(n)?;
        Ok(ShardBlocks { shards: slf.unbind(), next: AtomicUsize::new(0), rows: n, wanted, last: LastFile::default() })
    }

    /// Loads the full table into memory, in one type, and verifies all checksums.
    #[pyo3(signature = (dtype = None))]
    fn load(&self, py: Python<'_>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Table> {
        let wanted = self.wanted(py, dtype)?;
        with_type!(wanted.element, T => {
            let load = || match wanted.policy {
                ConversionPolicy::Saturate => self.files_now().load_cast::<T>(),
                policy => self.load_by::<T>(0..self.files_now().shape().rows, policy, &LastFile::default()),
            };
            let loaded = watch(py, None, None, load).map_err(|error| wanted.advise(error))?;
            Ok(Table::new(Box::new(loaded)))
        })
    }

    /// Loads the table of one file, given its index, unchanged, and verifies all checksums.
    ///
    /// >>> import numeric_table as nt, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "part-0.ntb")
    /// >>> nt.save(nt.Table([[1, 2], [3, 4]], names=["a", "b"]), path)
    /// >>> nt.Shards([path]).load_shard(0).names
    /// ['a', 'b']
    fn load_shard(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::place)] shard: usize) -> PyResult<Table> {
        let Some(known) = self.known().into_iter().nth(shard) else {
            return Err(exception(Error::new(ErrorKind::OutOfRange {
                what: "shards",
                range: shard..shard.saturating_add(1),
                count: self.files_now().shard_count(),
            })));
        };
        py.detach(|| load_known(&known)).or_raise().map(Table::new)
    }

    /// Maps all files as one table. Reads values only when they are accessed, and does not verify their checksums,
    /// unless the table was opened with ``verify=True``: then this call reads all files once.
    ///
    /// The files must not be changed in place as long as the table, or an array of its values, exists. :func:`save`
    /// replaces files, and is safe.
    fn map(&self, py: Python<'_>) -> PyResult<Table> {
        // SAFETY: the caller's promise, which the documentation spells out.
        let mapped = py.detach(|| unsafe { self.files_now().map() });
        Ok(Table::new(Box::new(mapped.or_raise()?)))
    }

    /// Compares all files with their known properties, and verifies all checksums. An error names the first file that
    /// is damaged or replaced. Returns whether all files have checksums of their values.
    fn verify(&self, py: Python<'_>) -> PyResult<bool> {
        watch(py, None, None, || self.files_now().verify())
    }

    /// Returns a new result over all rows, with the parameters of ``partial``. Merges the results of the files in
    /// order, first within each of the ``runs``.
    ///
    /// ``partial`` is one of the package's kinds, computed on all threads, or any object with these methods, called on
    /// the calling thread: ``new_like()`` returns a result with the same parameters and without rows, ``update(table)``
    /// adds the rows of a table, which is a block of a file, and ``merge(other)`` adds those of another result, which
    /// come after its own. Their exceptions end the call, with a note that names the file. They may compute results
    /// themselves, nested up to 32 levels deep.
    ///
    /// >>> import numpy as np, numeric_table as nt, tempfile, os
    /// >>> class Largest:
    /// ...     def __init__(self):
    /// ...         self.value = -np.inf
    /// ...     def new_like(self):
    /// ...         return Largest()
    /// ...     def update(self, table):
    /// ...         self.value = max(self.value, table.rows(dtype="float64").max(initial=-np.inf))
    /// ...     def merge(self, other):
    /// ...         self.value = max(self.value, other.value)
    /// >>> path = os.path.join(tempfile.mkdtemp(), "part-0.ntb")
    /// >>> nt.save(nt.Table([[1, 2], [9, 4]]), path)
    /// >>> int(nt.Shards([path]).reduce(Largest()).value)
    /// 9
    fn reduce(&self, partial: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        reduce::reduce(&self.files_now(), partial, Part::All)
    }

    /// Returns a new result over the rows of one file, given its index.
    fn reduce_shard(
        &self,
        #[pyo3(from_py_with = numbers::place)] shard: usize,
        partial: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        reduce::reduce(&self.files_now(), partial, Part::One(shard))
    }

    /// Returns a new result over the rows of the files from ``start`` to before ``stop``. For a run, it is a part of
    /// the work of ``reduce``.
    fn reduce_shards(
        &self,
        #[pyo3(from_py_with = numbers::place)] start: usize,
        #[pyo3(from_py_with = numbers::place)] stop: usize,
        partial: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        reduce::reduce(&self.files_now(), partial, Part::Some(start..stop))
    }

    /// Divides the files into runs, ``(start, stop)``. ``reduce`` merges the results within a run before it merges the
    /// runs. Merging the results of the runs in order into ``partial.new_like()`` gives the bits of
    /// ``reduce(partial)``.
    ///
    /// Each of up to 4,096 files is a separate run. If there are more, a run has several files. Their number depends on
    /// the number of files, and on whether ``partial.nbytes`` is above 65,536. Objects without ``nbytes`` count as
    /// small.
    fn runs(&self, partial: &Bound<'_, PyAny>) -> PyResult<Vec<(usize, usize)>> {
        Ok(reduce::runs(&self.files_now(), partial)?.into_iter().map(|run| (run.start, run.end)).collect())
    }

    /// Pickles the known properties of the files, not their content. The files must be reachable where it is unpickled.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py, ShardsState>> {
        let listed_by = slf.get().listed_by.as_deref().map(|path| std::path::absolute(path).unwrap_or(path.to_owned()));
        let arguments = (listed_by, slf.get().known(), slf.get().is_verified);
        Ok((slf.get_type().getattr("_open")?, arguments))
    }

    /// Opens files that must have the known properties.
    #[staticmethod]
    #[pyo3(signature = (listed_by, files, verify = false))]
    fn _open(py: Python<'_>, listed_by: Option<PathBuf>, files: Vec<Known>, verify: bool) -> PyResult<Self> {
        let opened = py.detach(|| {
            // A manifest lists all files. If it lists others by now, the files are opened one by one.
            let is_known = |found: &Self| found.known() == files;
            match listed_by.map(Self::of_path) {
                Some(Ok(found)) if is_known(&found) => Ok(found),
                _ => {
                    let paths = files.iter().map(|(path, ..)| path);
                    let shards = numeric_table::shards::Shards::from_paths(paths)?;
                    Ok(Self::new_of(shards, None))
                }
            }
        });
        let opened: Self = opened.or_raise()?;
        if let Some(error) = opened.known().into_iter().zip(&files).find_map(|(found, known)| change(known, &found)) {
            return Err(exception(error));
        }
        opened.verified(verify).checked()
    }

    fn __repr__(&self) -> String {
        let (shape, count) = (self.files_now().shape(), self.files_now().shard_count());
        let first =
            self.files_now().files().next().map(|file| Path::display(file.path).to_string()).unwrap_or_default();
        format!("<Shards of {shape}, in {count} file{}, {first}>", if count == 1 { "" } else { "s, the first" })
    }
}

/// An iterator over the rows of a table in many files, block by block.
#[pyclass(frozen, module = "numeric_table")]
pub(crate) struct ShardBlocks {
    shards: Py<Shards>,
    next: AtomicUsize,
    rows: usize,
    wanted: Wanted,
    last: LastFile,
}

#[methods]
impl ShardBlocks {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let shards = self.shards.get();
        let all = shards.files_now().shape().rows;
        loop {
            let start = self.next.load(Relaxed);
            if start >= all {
                return Ok(None);
            }
            let stop = all.min(start.saturating_add(self.rows));
            let block = shards.array(py, start..stop, self.wanted, &self.last)?;
            // Unless another thread has taken this block meanwhile.
            if self.next.compare_exchange(start, stop, Relaxed, Relaxed).is_ok() {
                return Ok(Some(block));
            }
        }
    }
}
