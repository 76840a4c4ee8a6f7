//! `ShardsWriter`: writes a table in many files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use numeric_table::{
    ConversionPolicy, Element, Error, ErrorKind, NumericTable, Result, TableConversion, TableDescription,
    files::SaveOptions,
};
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::element::with_type;
use crate::base::error::OrRaise;
use crate::base::numbers;
use crate::files::columns::{advise, described, policy_of_file};
use crate::results::on_table;
use crate::shards::Shards;
use crate::table::describe;
use crate::table::reading::stated;

/// The largest file number that the library accepts.
const LAST: usize = 999_999;
/// The number of missing files that an error names.
const NAMED: usize = 10;

/// Identifies a file that this writer has written, so that a replacement is detected: its size, its time of writing,
/// and its number on the disk.
type Made = (u64, SystemTime, u64);

fn made(path: &Path) -> Option<Made> {
    let found = fs::symlink_metadata(path).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&found);
    #[cfg(not(unix))]
    let number = 0;
    Some((found.len(), found.modified().ok()?, number))
}

/// A writer of files of an element type that is known at run time.
trait AnyWriter: Send + Sync {
    /// Writes a file of all rows of a table. Fails if the file exists, unless it replaces a damaged one.
    fn write(&self, number: usize, path: &Path, table: &dyn NumericTable, is_damaged: bool) -> Result<()>;
    /// Whether the caller has stated the type of the files.
    fn is_stated(&self) -> bool;
    /// Returns the numbers below a count for which no file exists.
    fn missing(&self, count: usize) -> Vec<usize>;
    /// Writes the manifest. There must be no other reference to the writer.
    fn finish(self: Arc<Self>) -> Result<numeric_table::shards::Shards>;
}

struct Typed<T: Element> {
    writer: numeric_table::shards::ShardsWriter<T>,
    columns: usize,
    is_stated: bool,
}

impl<T: Element> AnyWriter for Typed<T> {
    fn write(&self, number: usize, path: &Path, table: &dyn NumericTable, is_damaged: bool) -> Result<()> {
        let (expected, found) = (self.columns, table.column_count());
        if expected != found {
            return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
        }
        let mut shard = self.writer.shard(number)?;
        match policy_of_file(self.is_stated) {
            ConversionPolicy::Exact if describe::may_lose(table.dictionary(), T::TYPE) => {
                shard.append_table(&table.convert_with::<T>(ConversionPolicy::Exact)?)?
            }
            _ => shard.append_table(table)?,
        }
        if !is_damaged && fs::symlink_metadata(path).is_ok() {
            return Err(refused(path, io::ErrorKind::AlreadyExists, "another writer has written this file"));
        }
        shard.finish()
    }

    fn is_stated(&self) -> bool {
        self.is_stated
    }

    fn missing(&self, count: usize) -> Vec<usize> {
        self.writer.missing(count)
    }

    fn finish(self: Arc<Self>) -> Result<numeric_table::shards::Shards> {
        Arc::into_inner(self).ok_or_else(busy)?.writer.finish()
    }
}

fn refused(path: &Path, kind: io::ErrorKind, reason: &'static str) -> Error {
    Error::io(path, io::Error::new(kind, reason))
}

fn closed() -> Error {
    Error::other("the writer is closed: no file can be added")
}

fn busy() -> Error {
    Error::other("another thread is still writing a file")
}

fn path_of(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("part-{number:06}.ntb"))
}

/// Checks that the folder has no files that would be taken for parts of the table.
fn check_no_files(folder: &Path) -> Result<()> {
    let named = |source| Error::io(folder, source);
    for entry in fs::read_dir(folder).map_err(named)? {
        let entry = entry.map_err(named)?;
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(b"part-") && name.ends_with(b".ntb") {
            let reason = "the folder has files of a writer that has not finished: remove them, or take another folder";
            return Err(refused(&entry.path(), io::ErrorKind::AlreadyExists, reason));
        }
    }
    Ok(())
}

/// Returns the numbers of the files in a folder that are named like parts of a table.
fn numbers_of_files(folder: &Path) -> Result<Vec<usize>> {
    let named = |source| Error::io(folder, source);
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(named)? {
        let name = entry.map_err(named)?.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix("part-")?.strip_suffix(".ntb"));
        let is_number = |digits: &&str| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
        numbers.extend(digits.filter(is_number).and_then(|digits| digits.parse::<usize>().ok()));
    }
    Ok(numbers)
}

/// One file of the table.
enum File {
    Begun,
    /// The identity of the file that this writer has written; `None` if another writer has, or if it is unknown.
    Finished(Option<Made>),
}

/// A file that is being written.
struct Begun {
    number: usize,
    has_to_be: bool,
    is_damaged: bool,
}

/// The writer, until it is finished or abandoned, and its files.
struct State {
    writer: Option<Arc<dyn AnyWriter>>,
    /// The largest number plus one.
    next: usize,
    /// The numbers of files that could not be written, which the next files get. The flag states whether the file is
    /// required, because the rows of a table were meant for it.
    missing: BTreeMap<usize, bool>,
    /// The numbers of damaged files that another writer left.
    damaged: BTreeSet<usize>,
    files: BTreeMap<usize, File>,
}

impl State {
    fn new(writer: Arc<dyn AnyWriter>) -> Self {
        let (missing, damaged, files) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Self { writer: Some(writer), next: 0, missing, damaged, files }
    }

    /// Adopts the files with these numbers, which another writer has left.
    fn take_over(&mut self, mut numbers: Vec<usize>) {
        numbers.sort_unstable();
        self.next = numbers.last().map_or(0, |last| last + 1);
        let missing = self.writer.as_ref().map(|writer| writer.missing(self.next)).unwrap_or_default();
        let (missing, there) = (BTreeSet::from_iter(missing), BTreeSet::from_iter(numbers));
        self.damaged = there.intersection(&missing).copied().collect();
        self.files = there.difference(&missing).map(|&number| (number, File::Finished(None))).collect();
        self.missing = missing.into_iter().map(|number| (number, self.damaged.contains(&number))).collect();
    }

    /// Chooses the number of a file, unless the caller does.
    fn begin(&mut self, wanted: Option<usize>, folder: &Path) -> Result<(Arc<dyn AnyWriter>, Begun)> {
        let writer = self.writer.clone().ok_or_else(closed)?;
        let number = wanted.or_else(|| self.missing.keys().next().copied()).unwrap_or(self.next);
        let refused = |kind, reason| Err(refused(&path_of(folder, number), kind, reason));
        if number > LAST {
            return refused(io::ErrorKind::InvalidInput, "the largest file number is 999999");
        }
        match self.files.get(&number) {
            Some(File::Begun) => return refused(io::ErrorKind::AlreadyExists, "the file is being written"),
            Some(File::Finished(_)) => return refused(io::ErrorKind::AlreadyExists, "the file is finished"),
            None => {}
        }
        let has_to_be = self.missing.remove(&number).unwrap_or(false);
        self.files.insert(number, File::Begun);
        self.next = self.next.max(number + 1);
        Ok((writer, Begun { number, has_to_be, is_damaged: self.damaged.contains(&number) }))
    }

    /// Records the outcome of a file. If there is none, the next append gets its number. Returns whether the writer is
    /// still open.
    fn end(&mut self, Begun { number, has_to_be, .. }: Begun, file: Option<File>) -> bool {
        let is_open = self.writer.is_some();
        match file.filter(|_| is_open) {
            Some(file) => {
                self.files.insert(number, file);
                self.damaged.remove(&number);
            }
            None => {
                self.files.remove(&number);
                self.missing.insert(number, has_to_be);
            }
        }
        is_open
    }

    /// Takes the writer if all files exist.
    fn whole(&mut self) -> Result<Arc<dyn AnyWriter>> {
        if self.writer.is_none() {
            return Err(closed());
        }
        if self.files.values().any(|file| matches!(file, File::Begun)) {
            return Err(busy());
        }
        let mut missing =
            self.missing.iter().filter(|&(_, has_to_be)| *has_to_be).map(|(number, _)| number.to_string());
        let named = missing.by_ref().take(NAMED).collect::<Vec<_>>().join(", ");
        if !named.is_empty() {
            let more = if missing.next().is_some() { ", ..." } else { "" };
            return Err(Error::other(format!(
                "files could not be written but are required: append those with the numbers {named}{more}"
            )));
        }
        if self.files.is_empty() {
            return Err(Error::other("a table has at least one file"));
        }
        self.writer.take().ok_or_else(closed)
    }
}

/// Writes a table in many files in its own folder, ``part-000000.ntb`` and so on, and at the end a manifest, which
/// marks them as one table. :class:`Shards` opens the folder.
///
/// Use it as a context manager. The end of the ``with`` block writes the manifest. If a file is missing then, an
/// exception names it, and the writer stays open. If an exception ends the block, the files that this writer has
/// written are removed, and no table is created. If the process is killed, or no ``with`` block is used, the files
/// stay, and :class:`Shards` opens a folder without a manifest by the files in it. :meth:`resume` continues such a
/// table; :meth:`create` refuses the folder until the files are removed. :func:`remove_leftovers` removes the file that
/// was being written, which has a temporary name. Only one writer at a time can use the folder. Several threads may
/// append at once.
///
/// >>> import numeric_table as nt, tempfile, os
/// >>> folder = os.path.join(tempfile.mkdtemp(), "table")
/// >>> with nt.ShardsWriter.create(folder, ["a", "b"], dtype="float32") as writer:
/// ...     for part in range(3):
/// ...         number = writer.append([[part, 1], [part, 2]])
/// >>> shards = nt.Shards(folder)
/// >>> shards.shape, shards.shard_count, shards.names
/// ((6, 2), 3, ['a', 'b'])
#[pyclass(frozen, module = "numeric_table", name = "ShardsWriter", weakref)]
pub(crate) struct ShardsWriter {
    folder: PathBuf,
    state: Mutex<State>,
}

/// Parses the number of a file, if there is one.
fn number_of(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if value.is_none() { Ok(None) } else { numbers::place(value).map(Some) }
}

impl ShardsWriter {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // nothing panics while it is locked
    }

    fn written(&self) -> Result<numeric_table::shards::Shards> {
        let writer = self.state().whole()?;
        let shards = writer.finish()?;
        self.state().files.clear(); // they are the table's
        Ok(shards)
    }

    /// Ends without a table.
    fn give_up(&self) {
        let (writer, files) = {
            let mut state = self.state();
            (state.writer.take(), std::mem::take(&mut state.files))
        };
        drop(writer);
        self.remove(files);
    }

    /// Removes files that this writer has written, as far as the system permits.
    fn remove(&self, files: impl IntoIterator<Item = (usize, File)>) {
        if fs::symlink_metadata(self.folder.join(numeric_table::shards::Shards::MANIFEST)).is_ok() {
            return; // the files may be parts of that table, and other files do no harm
        }
        for (number, file) in files {
            let path = path_of(&self.folder, number);
            if let File::Finished(Some(own)) = file
                && made(&path) == Some(own)
            {
                let _ = fs::remove_file(path); // the exception that ended the block matters more
            }
        }
    }
}

#[methods]
impl ShardsWriter {
    /// Creates the folder if it does not exist. ``columns`` is a list of names, a number of columns without names, or a
    /// table, a reader from :func:`open` or a CSV source with the same columns. A folder with a manifest is refused,
    /// and so is one with files ``part-*.ntb``, which another writer has left or is writing.
    #[staticmethod]
    #[pyo3(signature = (folder, columns, dtype = None, *, durable = true))]
    fn create(
        py: Python<'_>,
        folder: PathBuf,
        columns: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        durable: bool,
    ) -> PyResult<Self> {
        let stated = stated(dtype)?;
        let (is_stated, (element, dictionary)) = (stated.is_some(), described(columns, stated)?);
        let (columns, options) = (dictionary.len(), SaveOptions::new().durable(durable));
        let writer: Arc<dyn AnyWriter> = with_type!(element, T => {
            let create = || numeric_table::shards::ShardsWriter::<T>::create_with(&folder, columns, dictionary, options);
            Arc::new(Typed { writer: py.detach(create).or_raise()?, columns, is_stated })
        });
        py.detach(|| check_no_files(&folder)).or_raise()?;
        Ok(Self { folder, state: Mutex::new(State::new(writer)) })
    }

    /// Continues a table that a killed process has left incomplete. The existing files ``part-000000.ntb`` and so on
    /// are kept, and :meth:`missing` returns the numbers of the files to write. The parameters are those of
    /// :meth:`create`. All checksums of all files are verified, in one pass over their values; a damaged file must be
    /// written again. A file with other columns or another type raises an exception, and so does a folder with a
    /// manifest. If an exception ends the ``with`` block, the existing files stay.
    ///
    /// The killed process must not be running any more: :func:`leftovers` lists only files that killed processes have
    /// left.
    ///
    /// >>> import numeric_table as nt, tempfile
    /// >>> folder = tempfile.mkdtemp()
    /// >>> killed = nt.ShardsWriter.create(folder, 1)
    /// >>> killed.append([[1]], 1)
    /// 1
    /// >>> with nt.ShardsWriter.resume(folder, 1) as writer:
    /// ...     for number in writer.missing(3):
    /// ...         _ = writer.append([[number]], number)
    /// >>> nt.Shards(folder).shard_count
    /// 3
    #[staticmethod]
    #[pyo3(signature = (folder, columns, dtype = None, *, durable = true))]
    fn resume(
        py: Python<'_>,
        folder: PathBuf,
        columns: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        durable: bool,
    ) -> PyResult<Self> {
        let stated = stated(dtype)?;
        let (is_stated, (element, dictionary)) = (stated.is_some(), described(columns, stated)?);
        let (columns, options) = (dictionary.len(), SaveOptions::new().durable(durable));
        let writer: Arc<dyn AnyWriter> = with_type!(element, T => {
            let resume = || numeric_table::shards::ShardsWriter::<T>::resume_with(&folder, columns, dictionary, options);
            Arc::new(Typed { writer: py.detach(resume).or_raise()?, columns, is_stated })
        });
        let mut state = State::new(writer);
        py.detach(|| numbers_of_files(&folder).map(|numbers| state.take_over(numbers))).or_raise()?;
        Ok(Self { folder, state: Mutex::new(state) })
    }

    /// Returns the numbers below ``count`` whose files are neither finished nor being written, in ascending order.
    fn missing(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::count)] count: usize) -> PyResult<Vec<usize>> {
        py.detach(|| {
            let state = self.state();
            match state.writer {
                Some(_) => Ok((0..count.min(LAST + 1)).filter(|number| !state.files.contains_key(number)).collect()),
                None => Err(closed()),
            }
        })
        .or_raise()
    }

    /// Writes a file of all rows of a table, and returns its number: ``number``, or by default the next one. Files
    /// become parts of the table in the order of their numbers.
    ///
    /// Values that the type cannot represent raise :class:`NotRepresentableError`. If :meth:`create` was called without
    /// ``dtype``, so do values that would lose precision. A file that could not be written is still required: the next
    /// append without a number gets its number, or an append with this number. Data that cannot be converted to a table
    /// raises an exception and changes nothing.
    #[pyo3(signature = (table, number = None))]
    fn append(
        &self,
        table: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number_of)] number: Option<usize>,
    ) -> PyResult<usize> {
        let py = table.py();
        let (writer, mut begun) = py.detach(|| self.state().begin(number, &self.folder)).or_raise()?;
        let (number, is_damaged) = (begun.number, begun.is_damaged);
        let (path, is_stated) = (path_of(&self.folder, number), writer.is_stated());
        let written = on_table(table, |table| {
            begun.has_to_be = true;
            writer.write(number, &path, table, is_damaged)?;
            Ok(made(&path))
        });
        let own = written.as_ref().ok().copied();
        let is_open = py.detach(|| {
            drop(writer); // so that `finish` has the only reference
            let is_open = self.state().end(begun, own.map(File::Finished));
            if let (false, Some(own)) = (is_open, own) {
                self.remove([(number, File::Finished(own))]);
            }
            is_open
        });
        written.map_err(|error| if is_stated { error } else { advise(error) })?;
        if is_open { Ok(number) } else { Err(closed()).or_raise() }
    }

    /// Writes the manifest of all files atomically, and opens the table. While files are missing or being written, or
    /// none exist, it raises an exception that names the reason, and the writer stays open. If the manifest cannot be
    /// written, the writer is closed.
    fn finish(&self, py: Python<'_>) -> PyResult<Shards> {
        Shards::of_folder(py.detach(|| self.written()).or_raise()?, self.folder.clone())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exception: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let is_whole = exception.is_none();
        py.detach(|| {
            let is_finished = {
                let state = self.state();
                state.writer.is_none() && state.files.is_empty()
            };
            let written = if is_whole && !is_finished { self.written().map(drop) } else { Ok(()) };
            if !is_whole {
                self.give_up();
            }
            written
        })
        .or_raise()?;
        Ok(false)
    }
}
