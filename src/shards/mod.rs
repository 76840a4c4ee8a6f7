//! A table as many table files: shards, end to end.
//!
//! * this file: the type, opening, and what it says of itself; `entry`: one file among them, and how two files differ;
//!   `names`: files of a folder or of a pattern, and paths in manifests;
//! * `manifest`: the file that lists the others, described in `README.md` beside this file; `listed`: what may become
//!   of a file because one lists it;
//! * `read`: rows across files; `reduce`: partial results of all rows; `verify`: checksums; `map`: mapping;
//! * `writer`: several writers at once; `resume`: going on where one was interrupted.
//!
//! Invariant: all files have the columns of the first, in types, names and categories; each is compared with what is
//! known of it whenever it is opened. Nothing stays open between calls.

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

use std::ops::Range;
use std::path::{Path, PathBuf};

use self::entry::{Described, Entry, check_same};
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel::in_order;
use crate::base::progress::{Hook, Progress};
use crate::base::shape::Shape;
use crate::dictionary::DataDictionary;

/// Work for one file, besides its values, counts as that on so many bytes when it is decided whether threads pay.
const FILE_BYTES: usize = 64 << 10;
/// Number of files that are opened, and described, before they are compared.
const FILES_AT_ONCE: usize = 64;

/// A table as many table files, [`.ntb`](crate::TableWriter), end to end: for tables larger than memory, written by
/// several programs at once, or larger than a file should be.
///
/// The files have the same columns: element types, names, feature types and categories. They may differ in the number
/// of rows, which may be 0, in layout, and in the kind of table. They are listed by a folder, a pattern, the caller, or
/// a **manifest**: a file that says which files the table consists of, and what each of them is, so that a table of
/// 10,000 files opens by reading one, a file that was replaced is an error that names it, and rows are added by many
/// files at once or not at all. `src/shards/README.md` describes it byte by byte.
///
/// Opening keeps no file open. A file is opened when its rows are wanted, and compared with what is known of it. Files
/// of homogeneous tables are read in pieces; one of [another kind](crate::guide::choose_a_kind_of_table) is loaded
/// whole, when its turn comes.
///
/// # Examples
/// ```
/// use numeric_table::{Shards, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
/// HomogenNumericTable::from_rows(&[[5_i16, 6]])?.save(folder.join("part-1.ntb"))?;
/// let mut shards = Shards::open(folder)?;
/// assert_eq!((shards.shape(), shards.shard_count()), (Shape { rows: 3, columns: 2 }, 2));
/// assert_eq!(shards.load_rows::<f64>(1..3)?.as_slice()?, [3.0, 4.0, 5.0, 6.0]); // across files
///
/// shards.save_manifest(folder.join("shards.ntm"))?; // from now on, `open` reads this, and `append` adds to it
/// HomogenNumericTable::from_rows(&[[7_i16, 8]])?.save(folder.join("part-2.ntb"))?; // of no table yet
/// assert_eq!(Shards::open(folder)?.shape().rows, 3);
/// shards.append([folder.join("part-2.ntb")])?;
/// assert_eq!(Shards::open(folder)?.load::<i16>()?.as_slice()?, [1, 2, 3, 4, 5, 6, 7, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shards {
    /// Invariant: not empty.
    entries: Vec<Entry>,
    /// Where the rows of each file end: not descending.
    ends: Vec<usize>,
    /// The description of the columns of every file.
    dictionary: DataDictionary,
    /// The manifest that lists them, symbolic links followed; `None` if none does.
    manifest: Option<PathBuf>,
    hook: Hook,
    /// Whether all values are compared with their checksums before they are read.
    is_verified: bool,
}

/// One file of a table of many.
///
/// # Examples
/// ```
/// # use numeric_table::{Shards, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("part-0.ntb");
/// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(&path)?;
/// let shards = Shards::of_files([&path, &path])?;
/// let last = shards.files().last().unwrap();
/// assert_eq!((last.path, last.rows, last.bytes), (&*path, 2..4, std::fs::metadata(&path)?.len()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardInfo<'s> {
    /// The file.
    pub path: &'s Path,
    /// Its rows among those of the whole table.
    pub rows: Range<usize>,
    /// Its size in bytes.
    pub bytes: u64,
    /// What tells it from other files of the same table: CRC-32 of its header, and of the checksums of its values (0 if
    /// it has none).
    pub checksums: [u32; 2],
}

impl Shards {
    /// The name of the manifest of a folder: `shards.ntm`.
    pub const MANIFEST: &'static str = "shards.ntm";

    /// Opens a manifest, or a folder: by its manifest, which is named [`shards.ntm`](Self::MANIFEST), and if there is
    /// none, all of its files whose names end with `.ntb` and do not begin with a dot, in the order of the bytes of
    /// their names.
    ///
    /// From a manifest no other file is opened: O(shards). From a folder, every file is: O(shards x columns), in
    /// parallel if there are many. Saves that were interrupted leave files in a folder that are not taken for shards.
    /// Files that were completed are, all of them, also those of a [`ShardsWriter`] that was never
    /// [finished](ShardsWriter::finish): only a manifest says what belongs together.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`, also if there are no such files; [`ErrorKind::Format`] if the manifest is damaged
    /// or none; [`ErrorKind::OutOfMemory`]; of a folder those of [`of_files`](Self::of_files).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Shards, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// assert!(matches!(Shards::open(folder).unwrap_err().kind(), ErrorKind::Io { .. })); // no files are here
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
    /// Shards::open(folder)?.save_manifest(folder.join("shards.ntm"))?;
    /// assert_eq!(Shards::open(folder.join("shards.ntm"))?.shape(), Shards::open(folder)?.shape());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if !path.is_dir() {
            return Self::read_manifest(path);
        }
        let manifest = path.join(Self::MANIFEST);
        match manifest::is_there(&manifest)? {
            false => Self::of_paths(names::in_folder(path)?),
            true => Self::read_manifest(&manifest), // a link that leads nowhere is an error
        }
    }

    /// Opens files, in this order. A file may be there twice.
    ///
    /// Cost: O(shards x columns): the beginning of each file is read, in parallel if there are many.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`]; [`ErrorKind::Io`] and [`ErrorKind::Format`] of a file; with the path of
    /// the first such file, [`ErrorKind::UnequalTables`] if it has other columns than the first one, and
    /// [`ErrorKind::SizeOverflow`] if there are too many rows; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Shards, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let [narrow, wide] = ["narrow.ntb", "wide.ntb"].map(|name| folder.path().join(name));
    /// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save(&narrow)?;
    /// HomogenNumericTable::from_rows(&[[3_i16, 4, 5]])?.save(&wide)?;
    /// assert_eq!(Shards::of_files([&narrow])?.shape(), Shape { rows: 1, columns: 2 });
    /// let error = Shards::of_files([&narrow, &wide]).unwrap_err().to_string();
    /// assert!(error.ends_with("wide.ntb: table 1 does not fit the first: 3 columns instead of 2"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_files(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self> {
        Self::of_paths(paths.into_iter().map(|path| path.as_ref().to_owned()).collect())
    }

    /// Opens all files whose names match a pattern, in the order of the bytes of their names. In the last component of
    /// the path, `*` stands for any characters, also none, and `?` for one. Names that begin with a dot are matched
    /// only if the pattern does.
    ///
    /// Whatever has a name that matches is part of the table: also whole files of an earlier attempt to write it, by a
    /// program that was killed. Where that can be, write into a folder that is new for each attempt, or name the files
    /// one by one ([`of_files`](Self::of_files)).
    ///
    /// # Errors
    /// Those of [`of_files`](Self::of_files); [`ErrorKind::Io`] if no file matches, or the pattern has no last
    /// component.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Shards, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2]])?;
    /// ["part-7.ntb", "part-8.ntb", "other.ntb"].iter().try_for_each(|name| table.save(folder.path().join(name)))?;
    /// let shards = Shards::matching(folder.path().join("part-*.ntb"))?;
    /// assert!(shards.files().map(|file| file.path.file_name().unwrap()).eq(["part-7.ntb", "part-8.ntb"]));
    /// assert!(Shards::matching(folder.path().join("part-?.csv")).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn matching(pattern: impl AsRef<Path>) -> Result<Self> {
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

    /// Opens files and describes them, several at a time if there are many; `put` gets them in order.
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

    /// Returns a table to which at least one file is to be added.
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
    /// Those of [`of_files`](Self::of_files). Nothing has changed.
    fn push(&mut self, next: Described) -> Result<()> {
        let Described { entry, dictionary } = next;
        let same = check_same(&self.dictionary, self.entries.len(), &dictionary);
        same.map_err(|error| error.in_file(&entry.path))?;
        self.push_entry(entry)
    }

    /// Adds a file whose columns are known to be those of the others.
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

    /// Sets a callback for the progress of each call that reads values. It is called at the beginning, after every
    /// piece of at most 4 MiB, and at the end, on any of the threads that do the work, but for one call by one thread
    /// at a time.
    ///
    /// # Examples
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use numeric_table::{Shards, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(folder.path().join("part-0.ntb"))?;
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = done.clone();
    /// let hook = move |progress: numeric_table::Progress| seen.store(progress.done, Ordering::Relaxed);
    /// Shards::open(folder.path())?.on_progress(hook).verify()?;
    /// assert_eq!(done.load(Ordering::Relaxed), 12); // bytes of values
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { hook: Hook::new(hook), ..self }
    }

    /// Sets whether all values are compared with their checksums before they are read: those of
    /// [`load_rows`](Self::load_rows), [`row_blocks`](Self::row_blocks), [`reduce`](Self::reduce) and its parts, and
    /// `map`. Otherwise [`load`](Self::load), [`load_as`](Self::load_as) and [`verify`](Self::verify) do, and the
    /// others return a value that is damaged on the disk as it is. [A table][many-files] says which call compares what.
    ///
    /// In each file that is opened, the chunks of values (1 MiB each, unless [another
    /// size](crate::SaveOptions::checksums) was chosen) that have any of the values are compared, when the first of
    /// them is wanted, as [`TableReader::with_verification`](crate::TableReader::with_verification) does. Mapping reads
    /// and compares all of all files. The checksums themselves are compared with those that the manifest knows, so that
    /// a file of the same columns and other values is an error as well.
    ///
    /// Cost: each chunk is read once more, whole. Files must have checksums of values.
    ///
    /// # Errors
    /// None here. Of those calls, in addition: [`ErrorKind::Format`] with the file and the chunk that is damaged, or
    /// with a file that has values and no checksums of them.
    ///
    /// [many-files]: crate::guide::many_files#what-is-compared-when
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Shards, prelude::*};
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

    /// Returns the numbers of rows, of all files, and of columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Shards, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("part-0.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(Shards::of_files([&path, &path])?.shape(), Shape { rows: 4, columns: 3 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape(&self) -> Shape {
        Shape { rows: self.row_count(), columns: self.dictionary.len() }
    }

    fn row_count(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the element type of the values, if all columns have the same.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Shards, prelude::*};
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
    /// # use numeric_table::{Shards, prelude::*};
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
    /// # use numeric_table::{Shards, prelude::*};
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
    /// # use numeric_table::{Shards, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("part-0.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// let shards = Shards::of_files([&path, &path])?;
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

    /// Returns the rows of a file among those of the whole table.
    fn rows_of(&self, shard: usize) -> Range<usize> {
        shard.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[shard]
    }

    /// Returns the size in bytes of the values of some rows, in the types of the columns.
    fn size_of_rows(&self, rows: usize) -> u64 {
        let size = |element: ElementType| element.size_in_bytes() as u64;
        let row = match self.dictionary.uniform_type() {
            Some(element) => (self.dictionary.len() as u64).saturating_mul(size(element)),
            None => self.dictionary.iter().map(|feature| size(feature.element_type)).sum(),
        };
        row.saturating_mul(rows as u64)
    }

    /// Returns the amount of work on the values of some rows of some files, by which it is decided whether threads pay.
    fn work_of(&self, shards: usize, rows: usize) -> usize {
        let bytes = usize::try_from(self.size_of_rows(rows)).unwrap_or(usize::MAX);
        bytes.saturating_add(shards.saturating_mul(FILE_BYTES))
    }
}
