//! `Shards`: a table as many table files.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use numeric_table::{
    Array, BlockAccess, ConversionPolicy, DataLayout, Element, ElementType, Error, ErrorKind, HomogenNumericTable,
    NumericTable, Shape,
};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::methods;
use crate::element::{self, with_type};
use crate::error::{OrRaise, exception};
use crate::numbers;
use crate::partial::Pickled;
use crate::progress::{hear, look, watch};
use crate::reader::from_row;
use crate::reading::{Wanted, check_shape, common_type, share_of, stated};
use crate::reduce::{self, Part};
use crate::table::Table;
use crate::{blocks, describe};

/// What is pickled: the manifest, what is known of each file, and whether values are verified.
type ShardsState = (Option<PathBuf>, Vec<Known>, bool);

/// A table as many table files (``.ntb``), end to end, which may be larger than memory.
///
/// ``Shards(path)`` opens a folder: by its manifest, ``shards.ntm``, or without one all of its ``.ntb`` files, in the
/// order of their names. It also opens a manifest, a pattern (``"data/part-*.ntb"``), and a list of files. All have the
/// same columns.
///
/// Files are opened when their rows are wanted, and compared with what is known of them: one that is missing, or has
/// another size, number of rows or header by now, is an error that names it. ``reduce`` and its parts also compare the
/// checksums of the values that the file states, so that any file that was replaced is an error; ``load``,
/// ``load_shard`` and ``verify`` also the values with them, so that a damaged one is. ``rows``, ``row_blocks`` and
/// ``map`` compare no checksums of values: other values of the same shape, type and names are read without an error.
///
/// ``Shards(paths, verify=True)`` compares the values with their checksums in all of these calls before they are used,
/// at the price of reading them once more: a damaged value is a :class:`FormatError` that names the file, never a part
/// of a result. Files without checksums are refused then.
///
/// ``reduce(partial)`` computes a partial result of all rows: one of the package's kinds on all threads, or an object
/// with the methods ``empty()``, ``update(table)`` and ``merge(other)``, of the thread that asks. Results are merged in
/// an order that depends on the files only, and so have the same bits anywhere.
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
    shards: numeric_table::Shards,
    /// The folder or the manifest that lists the files.
    listed_by: Option<PathBuf>,
    /// Whether values are compared with their checksums before they are used.
    is_verified: bool,
}

/// What is known of a file: its path, its rows, its bytes, its checksums.
type Known = (PathBuf, usize, u64, [u32; 2]);

/// Says how a file differs from what was known of it.
fn change(known: &Known, found: &Known) -> Option<Error> {
    let (_, rows, bytes, [header, values]) = *known;
    let parts = [
        ("size in bytes", bytes, found.2),
        ("number of rows", rows as u64, found.1 as u64),
        ("checksum of the header", header.into(), found.3[0].into()),
        ("checksum of the values", values.into(), found.3[1].into()),
    ];
    let (part, expected, found) = parts.into_iter().find(|(_, expected, found)| expected != found)?;
    Some(Error::new(ErrorKind::ShardChanged { part, expected, found }).in_file(&known.0))
}

impl Shards {
    fn of_path(path: PathBuf) -> numeric_table::Result<Self> {
        let is_pattern = path.file_name().is_some_and(|name| {
            let name = name.as_encoded_bytes();
            name.contains(&b'*') || name.contains(&b'?')
        });
        if is_pattern && !path.exists() {
            let shards = numeric_table::Shards::matching(&path)?;
            return Ok(Self { shards, listed_by: None, is_verified: false });
        }
        Ok(Self { shards: numeric_table::Shards::open(&path)?, listed_by: Some(path), is_verified: false })
    }

    /// Makes the table that a folder has.
    pub(crate) fn of_folder(shards: numeric_table::Shards, folder: PathBuf) -> PyResult<Self> {
        Self { shards, listed_by: Some(folder), is_verified: false }.checked()
    }

    fn verified(self, is_verified: bool) -> Self {
        Self { shards: self.shards.with_verification(is_verified), is_verified, ..self }
    }

    fn checked(self) -> PyResult<Self> {
        check_shape(self.shards.shape())?;
        Ok(Self { shards: self.shards.on_progress(hear), ..self })
    }

    fn known(&self) -> impl Iterator<Item = Known> {
        self.shards.files().map(|file| {
            // From anywhere else, the same file.
            let path = std::path::absolute(file.path).unwrap_or_else(|_| file.path.to_owned());
            (path, file.rows.len(), file.bytes, file.checksums)
        })
    }

    fn common_type(&self, py: Python<'_>) -> PyResult<ElementType> {
        common_type(py, self.shards.dictionary())
    }

    fn wanted(&self, py: Python<'_>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Wanted> {
        let is_uniform = self.shards.dictionary().uniform_type().is_some();
        let wanted = Wanted::new(stated(dtype)?, None, || self.common_type(py), is_uniform)?;
        Ok(wanted.of_columns(self.shards.dictionary()))
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
                ConversionPolicy::Saturate => self.shards.load_rows::<T>(rows),
                policy => self.load_by::<T>(rows, policy, last),
            };
            share_of(&watch(py, None, None, load).map_err(|error| wanted.advise(py, error))?)?
        });
        share.into_numpy(py)
    }

    /// Loads rows by a policy: of each file that has some, all of its table. The last one stays, for the next rows.
    fn load_by<T: Element>(
        &self,
        rows: Range<usize>,
        policy: ConversionPolicy,
        last: &LastFile,
    ) -> numeric_table::Result<HomogenNumericTable<T>> {
        let Shape { rows: row_count, columns } = self.shards.shape();
        if rows.start > rows.end || rows.end > row_count {
            return Err(Error::new(ErrorKind::RowsOutOfRange { rows, row_count }));
        }
        let (shape, is_all) = (Shape { rows: rows.len(), columns }, rows == (0..row_count));
        let mut array = Array::<T>::zeros(shape.element_count_of(T::TYPE)?)?;
        let mut rest = array.mutable_data()?;
        for (place, (known, file)) in self.known().zip(self.shards.files()).enumerate() {
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
        let dictionary = self.shards.dictionary().with_element_type(T::TYPE)?;
        HomogenNumericTable::from_array_in(array, shape, DataLayout::RowMajor)?.described_by(dictionary)
    }
}

/// The table of the file that was read last, with its number.
#[derive(Default)]
struct LastFile(Mutex<Option<(usize, Arc<dyn NumericTable>)>>);

impl LastFile {
    fn table(&self, place: usize, known: &Known) -> numeric_table::Result<Arc<dyn NumericTable>> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, table)) = &*kept()
            && *of == place
        {
            return Ok(table.clone());
        }
        *kept() = None; // frees it before more is allocated
        let table: Arc<dyn NumericTable> = Arc::from(load_known(known)?);
        *kept() = Some((place, table.clone()));
        Ok(table)
    }
}

/// Loads a file, with all checksums compared, if it is the one that is known.
fn load_known(known: &Known) -> numeric_table::Result<Box<dyn NumericTable>> {
    let shards = numeric_table::Shards::of_files([&known.0])?;
    let found = Shards { shards, listed_by: None, is_verified: false };
    match found.known().find_map(|found| change(known, &found)) {
        Some(error) => Err(error),
        None => numeric_table::load_any(&known.0),
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
        let shards = py.detach(|| numeric_table::Shards::of_files(&paths)).or_raise()?;
        Self { shards, listed_by: None, is_verified: false }.verified(verify).checked()
    }

    /// The numbers of rows, of all files, and of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let Shape { rows, columns } = self.shards.shape();
        (rows, columns)
    }

    /// The type of the values: NumPy's ``dtype``. Of columns of several types, one that holds them all.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        element::dtype(py, self.common_type(py)?)
    }

    /// The names of the columns, ``None`` where there is none.
    #[getter]
    fn names(&self) -> PyResult<Vec<Option<String>>> {
        describe::names(self.shards.dictionary())
    }

    /// The number of files.
    #[getter]
    fn shard_count(&self) -> usize {
        self.shards.shard_count()
    }

    /// The files, in the order of their rows.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.shards.files().map(|file| file.path.to_owned()).collect()
    }

    /// The number of rows of each file.
    #[getter]
    fn row_counts(&self) -> Vec<usize> {
        self.shards.files().map(|file| file.rows.len()).collect()
    }

    fn __len__(&self) -> usize {
        self.shards.shape().rows
    }

    /// Returns rows as a NumPy array of any type, read-only: of one file or of several. Checksums of values are
    /// compared if the table was opened with ``verify=True``. Of columns of several types, if no ``dtype`` is stated, a
    /// value that the type of the array does not have raises :class:`NotRepresentableError`, also in ``row_blocks`` and
    /// ``load``. To find such values, these calls load whole files and compare all checksums, unless the type of the
    /// array holds all values of the types of the columns.
    #[pyo3(signature = (start = 0, stop = None, dtype = None))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::row)] start: usize,
        #[pyo3(from_py_with = numbers::end)] stop: Option<usize>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = self.wanted(py, dtype)?;
        self.array(py, start..stop.unwrap_or(self.shards.shape().rows), wanted, &LastFile::default())
    }

    /// Goes through the rows in blocks of ``n``, each an array of NumPy's, also across the ends of files; the last may
    /// be shorter. Checksums of values are compared if the table was opened with ``verify=True``; then each block
    /// compares all chunks that it touches, 1 MiB each unless they were saved otherwise: larger blocks are better.
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

    /// Loads the whole table into memory, in one type, with all checksums compared.
    #[pyo3(signature = (dtype = None))]
    fn load(&self, py: Python<'_>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Table> {
        let wanted = self.wanted(py, dtype)?;
        with_type!(wanted.element, T => {
            let load = || match wanted.policy {
                ConversionPolicy::Saturate => self.shards.load_as::<T>(),
                policy => self.load_by::<T>(0..self.shards.shape().rows, policy, &LastFile::default()),
            };
            let loaded = watch(py, None, None, load).map_err(|error| wanted.advise(py, error))?;
            Ok(Table::new(Box::new(loaded)))
        })
    }

    /// Loads the table of one file, by its number, as it is stored, with all checksums compared.
    ///
    /// >>> import numeric_table as nt, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "part-0.ntb")
    /// >>> nt.save(nt.Table([[1, 2], [3, 4]], names=["a", "b"]), path)
    /// >>> nt.Shards([path]).load_shard(0).names
    /// ['a', 'b']
    fn load_shard(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::place)] shard: usize) -> PyResult<Table> {
        let Some(known) = self.known().nth(shard) else {
            return Err(exception(Error::new(ErrorKind::OutOfRange {
                what: "shards",
                range: shard..shard.saturating_add(1),
                count: self.shards.shard_count(),
            })));
        };
        py.detach(|| load_known(&known)).or_raise().map(Table::new)
    }

    /// Maps all files as one table: nothing is read before it is asked for, and checksums of values are not compared,
    /// unless the table was opened with ``verify=True``: then all files are read once, here.
    ///
    /// The files must not be changed in place as long as the table, or an array of its values, exists: :func:`save`
    /// replaces files, and so does no harm.
    fn map(&self, py: Python<'_>) -> PyResult<Table> {
        // SAFETY: the caller's promise, which the documentation spells out.
        let mapped = py.detach(|| unsafe { self.shards.map() });
        Ok(Table::new(Box::new(mapped.or_raise()?)))
    }

    /// Compares all files with what is known of them, and all checksums: an error names the first file that is damaged
    /// or replaced. Returns whether all files have checksums of their values.
    fn verify(&self, py: Python<'_>) -> PyResult<bool> {
        watch(py, None, None, || self.shards.verify())
    }

    /// Returns a new result of the same question as ``partial``, of all rows: that of each file, merged in their order,
    /// those of each of the ``runs`` first.
    ///
    /// ``partial`` is one of the package's kinds, computed on all threads, or any object with these methods, of the
    /// thread that asks: ``empty()`` returns the same question without rows, ``update(table)`` adds the rows of a
    /// table, a block of a file, and ``merge(other)`` those of another result, which come after its own. Their
    /// exceptions end the call, with a note that names the file. They may ask for results of their own, not more than
    /// 32 deep.
    ///
    /// >>> import numpy as np, numeric_table as nt, tempfile, os
    /// >>> class Largest:
    /// ...     def __init__(self):
    /// ...         self.value = -np.inf
    /// ...     def empty(self):
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
        reduce::reduce(&self.shards, partial, Part::All)
    }

    /// Returns a new result of the rows of one file, by its number.
    fn reduce_shard(
        &self,
        #[pyo3(from_py_with = numbers::place)] shard: usize,
        partial: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        reduce::reduce(&self.shards, partial, Part::One(shard))
    }

    /// Returns a new result of the rows of the files from ``start`` to before ``stop``. Of a run, it is a part of the
    /// work of ``reduce``.
    fn reduce_shards(
        &self,
        #[pyo3(from_py_with = numbers::place)] start: usize,
        #[pyo3(from_py_with = numbers::place)] stop: usize,
        partial: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        reduce::reduce(&self.shards, partial, Part::Some(start..stop))
    }

    /// Divides the files into runs, ``(start, stop)``, whose results are merged before those of different runs are:
    /// merged in their order into ``partial.empty()``, they have the bits of ``reduce(partial)``.
    ///
    /// Each of up to 4,096 files is a run of its own; of more there are some to a run, depending on their number, and
    /// on whether ``partial.nbytes`` is above 65,536. Objects without ``nbytes`` count as small.
    fn runs(&self, partial: &Bound<'_, PyAny>) -> PyResult<Vec<(usize, usize)>> {
        Ok(reduce::runs(&self.shards, partial)?.into_iter().map(|run| (run.start, run.end)).collect())
    }

    /// Pickles what is known of the files, not their content: whoever unpickles it must reach the same files.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py, ShardsState>> {
        let listed_by = slf.get().listed_by.as_deref().map(|path| std::path::absolute(path).unwrap_or(path.to_owned()));
        let arguments = (listed_by, slf.get().known().collect(), slf.get().is_verified);
        Ok((slf.get_type().getattr("_open")?, arguments))
    }

    /// Opens files that are to be the ones that are known.
    #[staticmethod]
    #[pyo3(signature = (listed_by, files, verify = false))]
    fn _open(py: Python<'_>, listed_by: Option<PathBuf>, files: Vec<Known>, verify: bool) -> PyResult<Self> {
        let opened = py.detach(|| {
            // A manifest says what all files are; if it lists others by now, they are opened one by one.
            let is_known = |found: &Self| found.known().eq(files.iter().cloned());
            match listed_by.map(Self::of_path) {
                Some(Ok(found)) if is_known(&found) => Ok(found),
                _ => {
                    let paths = files.iter().map(|(path, ..)| path);
                    let shards = numeric_table::Shards::of_files(paths)?;
                    Ok(Self { shards, listed_by: None, is_verified: false })
                }
            }
        });
        let opened: Self = opened.or_raise()?;
        if let Some(error) = opened.known().zip(&files).find_map(|(found, known)| change(known, &found)) {
            return Err(exception(error));
        }
        opened.verified(verify).checked()
    }

    fn __repr__(&self) -> String {
        let (shape, count) = (self.shards.shape(), self.shards.shard_count());
        let first = self.shards.files().next().map(|file| Path::display(file.path).to_string()).unwrap_or_default();
        format!("<Shards of {shape}, in {count} file{}, {first}>", if count == 1 { "" } else { "s, the first" })
    }
}

/// Blocks of rows of a table of many files, one after another.
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
        let all = shards.shards.shape().rows;
        loop {
            let start = self.next.load(Relaxed);
            if start >= all {
                return Ok(None);
            }
            let stop = all.min(start.saturating_add(self.rows));
            let block = shards.array(py, start..stop, self.wanted, &self.last)?;
            // Unless another thread has got this block meanwhile.
            if self.next.compare_exchange(start, stop, Relaxed, Relaxed).is_ok() {
                return Ok(Some(block));
            }
        }
    }
}
