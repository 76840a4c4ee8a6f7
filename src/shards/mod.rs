//! Tables stored in many table files: shards, end to end.
//!
//! * this file: the type, opening, and its properties; `entry`: one of the files, and how two files differ; `names`:
//!   files of a folder or a pattern, and paths in manifests;
//! * `manifest`: the file that lists the others, specified in `README.md` beside this file; `listed`: the rules for
//!   listed files;
//! * `read`: rows across files; `reduce`: partial results of all rows; `verify`: checksums; `map`: memory-mapping;
//! * `writer`: concurrent writers; `resume`: resuming an interrupted writer.
//!
//! Invariant: all files have the columns of the first file: types, names and categories. Whenever a file is opened, it
//! is compared with its recorded data. No file stays open between calls.

#[forbid(unsafe_code)]
mod entry;
#[forbid(unsafe_code)]
mod listed;
#[forbid(unsafe_code)]
mod manifest;
#[cfg(feature = "mmap")]
mod map;
#[forbid(unsafe_code)]
mod names;
#[forbid(unsafe_code)]
mod read;
#[forbid(unsafe_code)]
mod reduce;
#[forbid(unsafe_code)]
mod resume;
#[forbid(unsafe_code)]
mod verify;
#[forbid(unsafe_code)]
mod writer;

pub use read::ShardBlocks;
pub use writer::{ShardWriter, ShardsWriter};

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use self::entry::{Described, Entry, check_same};
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel::in_order;
use crate::base::progress::{Hook, Progress};
use crate::base::shape::Shape;
use crate::dictionary::DataDictionary;

/// Work for one file, besides its values, counts as this number of bytes in the decision whether to use threads.
const FILE_BYTES: usize = 64 << 10;
/// Number of files that are opened and described before they are compared.
const FILES_AT_ONCE: usize = 64;

/// A table stored in many table files ([`.ntb`](crate::files::TableWriter)), end to end: for tables that exceed memory,
/// are written by several programs at once, or are too large for a single file.
///
/// All files have the same columns: element types, names, feature types and categories. They may differ in the number
/// of rows, which may be 0, in layout, and in the kind of table. The files come from a folder, a pattern, the caller,
/// or a **manifest**: a file that lists the table's files and their properties. With a manifest, opening a table of
/// 10,000 files reads a single file, errors name replaced files, and many files can be added atomically.
/// `src/shards/README.md` specifies its bytes.
///
/// Opening keeps no file open. A file is opened when its rows are needed, and compared with its recorded data. Files of
/// homogeneous tables are read in pieces; other [kinds](crate::guide::choose_a_kind_of_table) are loaded completely
/// when their rows are needed.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, shards::Shards};
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
/// HomogenNumericTable::from_rows(&[[5_i16, 6]])?.save(folder.join("part-1.ntb"))?;
/// let mut shards = Shards::open(folder)?;
/// assert_eq!((shards.shape(), shards.shard_count()), (Shape { rows: 3, columns: 2 }, 2));
/// assert_eq!(shards.load_rows::<f64>(1..3)?.as_slice()?, [3.0, 4.0, 5.0, 6.0]); // across files
///
/// shards.save_manifest(folder.join("shards.ntm"))?; // from now on, `open` reads this, and `append` adds to it
/// HomogenNumericTable::from_rows(&[[7_i16, 8]])?.save(folder.join("part-2.ntb"))?; // not yet part of the table
/// assert_eq!(Shards::open(folder)?.shape().rows, 3);
/// shards.append([folder.join("part-2.ntb")])?;
/// assert_eq!(Shards::open(folder)?.load::<i16>()?.as_slice()?, [1, 2, 3, 4, 5, 6, 7, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shards {
    /// Invariant: not empty.
    entries: Vec<Entry>,
    /// The end of the rows of each file, in ascending order; empty files repeat the previous end.
    ends: Vec<usize>,
    /// The description of the columns of every file.
    dictionary: DataDictionary,
    /// The manifest that lists the files, with symbolic links resolved; `None` without one.
    manifest: Option<PathBuf>,
    hook: Hook,
    /// Whether all values are compared with their checksums before they are used.
    is_verified: bool,
}

/// One file of a table of many files.
///
/// # Examples
/// ```
/// # use numeric_table::{prelude::*, shards::Shards};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("part-0.ntb");
/// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(&path)?;
/// let shards = Shards::from_paths([&path, &path])?;
/// let last = shards.files().last().unwrap();
/// assert_eq!((last.path, last.rows, last.bytes), (&*path, 2..4, std::fs::metadata(&path)?.len()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardInfo<'s> {
    /// The path of the file.
    pub path: &'s Path,
    /// The rows of the file, counted in the whole table.
    pub rows: Range<usize>,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// Checksums that distinguish the file from others of the same table: CRC-32 of its header, and of the checksums of
    /// its values (0 if it has none).
    pub checksums: [u32; 2],
}

impl Shards {
    /// The name of the manifest of a folder: `shards.ntm`.
    pub const MANIFEST: &'static str = "shards.ntm";

    /// Opens a manifest or a folder. A folder is opened through its manifest, named [`shards.ntm`](Self::MANIFEST).
    /// Without a manifest, all files whose names end with `.ntb` and do not begin with a dot are opened, sorted by the
    /// bytes of their names.
    ///
    /// Opening a manifest reads no other file: O(shards). Opening a folder without a manifest reads every file:
    /// O(shards x columns), in parallel if there are many. Files left by interrupted saves are not used as shards. All
    /// completed files are, including those of a [`ShardsWriter`] that was never [finished](ShardsWriter::finish): only
    /// a manifest defines which files belong together.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`, also if no such file exists; [`ErrorKind::Format`] if the file is damaged or
    /// not a manifest; [`ErrorKind::OutOfMemory`]; for a folder, the errors of [`from_paths`](Self::from_paths).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// assert!(matches!(Shards::open(folder).unwrap_err().kind(), ErrorKind::Io { .. })); // no files yet
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
    /// Shards::open(folder)?.save_manifest(folder.join("shards.ntm"))?;
    /// assert_eq!(Shards::open(folder.join("shards.ntm"))?.shape(), Shards::open(folder)?.shape());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        match path.metadata() {
            Ok(found) if found.is_dir() => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io(path, error)),
            _ => return Self::read_manifest(path), // where nothing is, this is the error
        }
        let manifest = path.join(Self::MANIFEST);
        match manifest::is_there(&manifest)? {
            false => Self::of_paths(names::in_folder(path)?),
            true => Self::read_manifest(&manifest), // a dangling link is an error
        }
    }

    /// Opens files in the given order. A file may occur twice.
    ///
    /// Cost: O(shards x columns). Reads the beginning of each file, in parallel if there are many.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] without files; [`ErrorKind::Io`] and [`ErrorKind::Format`] of a file. With
    /// the path of the first such file: [`ErrorKind::UnequalTables`] if its columns differ from those of the first
    /// file, and [`ErrorKind::SizeOverflow`] if there are too many rows. [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// let [narrow, wide] = ["narrow.ntb", "wide.ntb"].map(|name| folder.path().join(name));
    /// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save(&narrow)?;
    /// HomogenNumericTable::from_rows(&[[3_i16, 4, 5]])?.save(&wide)?;
    /// assert_eq!(Shards::from_paths([&narrow])?.shape(), Shape { rows: 1, columns: 2 });
    /// let error = Shards::from_paths([&narrow, &wide]).unwrap_err().to_string();
    /// assert!(error.ends_with("wide.ntb: table 1 does not match table 0: expected 2 columns, found 3"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_paths(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self> {
        Self::of_paths(paths.into_iter().map(|path| path.as_ref().to_owned()).collect())
    }

    /// Opens all files whose names match a pattern, sorted by the bytes of their names. In the last component of the
    /// path, `*` matches any number of characters and `?` matches one. Names that begin with a dot match only if the
    /// pattern begins with one.
    ///
    /// Every file with a matching name is part of the table, including complete files left by an earlier attempt of a
    /// killed program. If that can happen, write each attempt into a new folder, or list the files explicitly
    /// ([`from_paths`](Self::from_paths)).
    ///
    /// # Errors
    /// The errors of [`from_paths`](Self::from_paths); [`ErrorKind::Io`] if no file matches, or if the pattern has no
    /// last component.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2]])?;
    /// ["part-7.ntb", "part-8.ntb", "other.ntb"].iter().try_for_each(|name| table.save(folder.path().join(name)))?;
    /// let shards = Shards::from_glob(folder.path().join("part-*.ntb"))?;
    /// assert!(shards.files().map(|file| file.path.file_name().unwrap()).eq(["part-7.ntb", "part-8.ntb"]));
    /// assert!(Shards::from_glob(folder.path().join("part-?.csv")).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_glob(pattern: impl AsRef<Path>) -> Result<Self> {
        Self::of_paths(names::matching(pattern.as_ref())?)
    }

    fn of_paths(paths: Vec<PathBuf>) -> Result<Self> {
        let mut all = None;
        Self::describe_all(paths, |found| match &mut all {
            None => Self::of_first(found).map(|first| all = Some(first)),
            Some(all) => all.push(found),
        })?;
        all.ok_or_else(Error::no_tables)
    }

    /// Opens and describes files, several at a time if there are many. Calls `put` with them in order.
    fn describe_all(paths: Vec<PathBuf>, put: impl FnMut(Described) -> Result<()>) -> Result<()> {
        let bytes = paths.len().saturating_mul(FILE_BYTES);
        in_order(paths.into_iter(), bytes, FILES_AT_ONCE, Described::open, put)
    }

    fn of_first(first: Described) -> Result<Self> {
        let Described { entry, dictionary } = first;
        let mut new = Self::without_files(dictionary);
        new.push_entry(entry)?;
        Ok(new)
    }

    /// Returns a table without files, to which at least one must be added.
    fn without_files(dictionary: DataDictionary) -> Self {
        Self {
            entries: Vec::new(),
            ends: Vec::new(),
            dictionary,
            manifest: None,
            hook: Hook::default(),
            is_verified: false,
        }
    }

    /// Adds a file at the end.
    ///
    /// # Errors
    /// The errors of [`from_paths`](Self::from_paths). On error, nothing has changed.
    fn push(&mut self, next: Described) -> Result<()> {
        let Described { entry, dictionary } = next;
        let same = check_same(&self.dictionary, self.entries.len(), &dictionary);
        same.map_err(|error| error.in_file(&entry.path))?;
        let mut all = self.dictionary.clone();
        all.add_nullable(&dictionary).map_err(|error| error.in_file(&entry.path))?;
        self.push_entry(entry)?;
        self.dictionary = all;
        Ok(())
    }

    /// Adds a file whose columns are known to match.
    fn push_entry(&mut self, entry: Entry) -> Result<()> {
        let shape = Shape { rows: usize::MAX, columns: self.dictionary.len() };
        let too_many = || Error::new(ErrorKind::SizeOverflow { shape, element: None }).in_file(&entry.path);
        let end = self.row_count().checked_add(entry.rows).ok_or_else(too_many)?;
        let refused = |_| Error::out_of_memory(size_of::<Entry>());
        self.entries.try_reserve(1).map_err(refused)?;
        self.ends.try_reserve(1).map_err(refused)?;
        self.entries.push(entry);
        self.ends.push(end);
        Ok(())
    }

    /// Sets a progress callback for each call that reads values. It is called at the beginning, after every piece of at
    /// most 4 MiB, and at the end. Any thread that does the work may call it, but only one at a time.
    ///
    /// # Examples
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(folder.path().join("part-0.ntb"))?;
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = done.clone();
    /// let hook = move |progress: numeric_table::files::Progress| seen.store(progress.done, Ordering::Relaxed);
    /// Shards::open(folder.path())?.on_progress(hook).verify()?;
    /// assert_eq!(done.load(Ordering::Relaxed), 12); // bytes of values
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { hook: Hook::new(hook), ..self }
    }

    /// Sets whether [`load_rows`](Self::load_rows), [`row_blocks`](Self::row_blocks), [`reduce`](Self::reduce) and its
    /// parts, and `map` compare all values with their checksums before use. By default, only [`load`](Self::load),
    /// [`load_cast`](Self::load_cast) and [`verify`](Self::verify) do; the others return damaged values as they are
    /// stored. [A table][many-files] lists which call compares what.
    ///
    /// In each opened file, chunks of values (1 MiB each, unless [another size](crate::files::SaveOptions::checksums)
    /// was chosen) are compared when one of their values is first needed, as by
    /// [`TableReader::with_verification`](crate::files::TableReader::with_verification). Mapping reads and compares all
    /// files completely. The checksums are themselves compared with those in the manifest, so a file with the same
    /// columns and different values is also an error.
    ///
    /// Cost: the checksums, and reading entire chunks, some of their bytes twice. Files must have checksums of values.
    ///
    /// # Errors
    /// None. The calls above may then also return [`ErrorKind::Format`], with the file and its damaged chunk, or with a
    /// file whose values have no checksums.
    ///
    /// [many-files]: crate::guide::many_files#what-is-compared-when
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("part-0.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// let mut bytes = std::fs::read(&path)?;
    /// bytes[4096 + 6] ^= 1; // a bit of the 4
    /// std::fs::write(&path, bytes)?;
    /// let shards = Shards::open(folder.path())?;
    /// assert_eq!(shards.load_rows::<i16>(1..)?.as_slice()?, [5, 5, 6]);
    /// let error = shards.with_verification(true).load_rows::<i16>(1..).unwrap_err().to_string();
    /// assert!(error.contains("part-0.ntb: bad format at byte 4096: the checksum of chunk 0 (of 1)"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_verification(self, is_wanted: bool) -> Self {
        Self { is_verified: is_wanted, ..self }
    }

    /// Returns the total number of rows and the number of columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("part-0.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(Shards::from_paths([&path, &path])?.shape(), Shape { rows: 4, columns: 3 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape(&self) -> Shape {
        Shape { rows: self.row_count(), columns: self.dictionary.len() }
    }

    fn row_count(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the element type of the values if all columns have the same type.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(folder.path().join("part-0.ntb"))?;
    /// assert_eq!(Shards::open(folder.path())?.uniform_type(), Some(ElementType::I16));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn uniform_type(&self) -> Option<ElementType> {
        self.dictionary.uniform_type()
    }

    /// Borrows the description of the columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(folder.path().join("part-0.ntb"))?;
    /// assert_eq!(Shards::open(folder.path())?.dictionary().len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    /// Returns the number of files, which is at least 1.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(folder.path().join("part-0.ntb"))?;
    /// assert_eq!(Shards::open(folder.path())?.shard_count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shard_count(&self) -> usize {
        self.entries.len()
    }

    /// Returns the files, in the order of their rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("part-0.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// let shards = Shards::from_paths([&path, &path])?;
    /// assert!(shards.files().map(|file| file.rows).eq([0..2, 2..4]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn files(&self) -> impl ExactSizeIterator<Item = ShardInfo<'_>> {
        self.entries.iter().enumerate().map(|(shard, entry)| ShardInfo {
            path: &entry.path,
            rows: self.rows_of(shard),
            bytes: entry.bytes,
            checksums: [entry.header_checksum, entry.values_checksum],
        })
    }

    /// Returns the rows of a file, counted in the whole table.
    fn rows_of(&self, shard: usize) -> Range<usize> {
        shard.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[shard]
    }

    /// Returns the size in bytes of the values of the given number of rows, in the types of the columns.
    fn size_of_rows(&self, rows: usize) -> u64 {
        let size = |element: ElementType| element.size_in_bytes() as u64;
        let row = match self.dictionary.uniform_type() {
            Some(element) => (self.dictionary.len() as u64).saturating_mul(size(element)),
            None => self.dictionary.iter().map(|feature| size(feature.element_type)).sum(),
        };
        row.saturating_mul(rows as u64)
    }

    /// Returns the amount of work on the given numbers of files and rows, for the decision whether to use threads.
    fn work_of(&self, shards: usize, rows: usize) -> usize {
        let bytes = usize::try_from(self.size_of_rows(rows)).unwrap_or(usize::MAX);
        bytes.saturating_add(shards.saturating_mul(FILE_BYTES))
    }
}
