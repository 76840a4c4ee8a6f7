//! Concurrent writers of files that become one table when all of them are finished.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Shards;
use super::entry::Entry;
use super::listed::{Listed, check_unlisted, keep_unlisted};
use super::manifest::is_there;
use super::names::{Folder, name_of, refused};
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Hint, Result};
use crate::dictionary::{DataDictionary, Feature};
use crate::format::{TableWriter, Written};
use crate::storage::options::SaveOptions;
use crate::storage::replace::{Permit, create_folder};

/// The largest number of a file. Names have six digits, so that they sort by number.
pub(super) const LAST: usize = 999_999;

/// Writes a table as many files, several at a time, into a separate folder: `part-000000.ntb` and so on, followed by
/// the manifest.
///
/// Each [`shard`](Self::shard) is a separate [`TableWriter`] that any thread can use. **The table does not exist until
/// [`finish`](Self::finish) has returned**, which writes the manifest in one step. A program that ends earlier leaves
/// files without a manifest. When started again, it replaces the files that it writes again, and `finish` lists only
/// files that this writer has written.
///
/// **A file that the manifest lists is never replaced.** If a job is started twice, one instance gets the table; the
/// other gets an error from its next [`shard`](Self::shard), [`ShardWriter::finish`] or `finish`. If they replaced each
/// other's files before there was a manifest, `finish` detects this: a table never contains files of both.
///
/// **Several programs** can write into one folder, each with a writer and different file numbers, without calling
/// `finish`. When all of them have ended, one writes the manifest:
/// `Shards::from_glob("folder/part-*.ntb")?.save_manifest("folder/shards.ntm")`. [`Shards::append`] adds files to an
/// existing table.
///
/// **Files left by a killed attempt** are complete and have the names of shards. Until there is a manifest,
/// [`Shards::open`] of the folder and [`Shards::from_glob`] use them as parts of the table, even those with numbers
/// that the next attempt does not use. Remove `part-*.ntb` before another attempt, or use a new folder for each
/// attempt. If several programs have written, open the files that they report as finished ([`Shards::from_paths`])
/// instead of a pattern, because only the manifest defines which files belong to the table. Or [`resume`](Self::resume)
/// the attempt, which keeps complete files and writes only the missing ones.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, shards::{Shards, ShardsWriter}};
/// # let folder = tempfile::tempdir()?;
/// let folder = folder.path().join("table");
/// let writer = ShardsWriter::<f32>::create(&folder, 2, None)?;
/// std::thread::scope(|scope| {
///     let write = |index: usize| {
///         let mut shard = writer.shard(index)?;
///         shard.append(&[index as f64, 0.5])?; // like `TableWriter`
///         shard.finish()
///     };
///     let threads = [1, 0].map(|index| scope.spawn(move || write(index)));
///     threads.into_iter().try_for_each(|thread| thread.join().unwrap())
/// })?;
/// let shards = writer.finish()?;
/// assert_eq!(shards.load::<f32>()?.as_slice()?, [0.0, 0.5, 1.0, 0.5]); // in the order of the numbers
/// assert_eq!(Shards::open(&folder)?.shape(), shards.shape());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "there is no table before `finish`"]
pub struct ShardsWriter<T: Element = f32> {
    folder: PathBuf,
    columns: usize,
    dictionary: DataDictionary,
    options: SaveOptions,
    state: Arc<Mutex<BTreeMap<usize, State>>>,
    element: PhantomData<T>,
}

/// The state of a file.
#[derive(Debug)]
pub(super) enum State {
    /// The file is being written, or its writer was dropped.
    Begun {
        is_dropped: bool,
    },
    Finished(Entry),
}

type States = Mutex<BTreeMap<usize, State>>;

fn locked(states: &States) -> MutexGuard<'_, BTreeMap<usize, State>> {
    states.lock().unwrap_or_else(PoisonError::into_inner) // nothing panics while it is locked
}

impl<T: Element> ShardsWriter<T> {
    /// Creates the folder if it does not exist, for files of `columns` columns that a dictionary describes. Without a
    /// dictionary, columns are continuous and have no names.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `folder`, also if the folder has a manifest, whose table is not changed;
    /// [`ErrorKind::DictionaryMismatch`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::ShardsWriter};
    /// # let folder = tempfile::tempdir()?;
    /// let names = DataDictionary::from_features(["a", "b"].map(|name| Feature::new(ElementType::U8).named(name)));
    /// let writer = ShardsWriter::<u8>::create(folder.path(), 2, names.clone())?;
    /// writer.shard(0)?.finish()?; // no rows
    /// assert_eq!(writer.finish()?.dictionary(), &names);
    /// assert!(ShardsWriter::<u8>::create(folder.path(), 2, names).is_err()); // the folder already has a table
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(
        folder: impl AsRef<Path>,
        columns: usize,
        dictionary: impl Into<Option<DataDictionary>>,
    ) -> Result<Self> {
        Self::create_with(folder, columns, dictionary, SaveOptions::new())
    }

    /// Creates a writer like [`create`](Self::create), with options for the files and for the manifest
    /// ([`Shards::save_manifest_with`]).
    ///
    /// # Errors
    /// The errors of [`create`](Self::create).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::SaveOptions, shards::ShardsWriter};
    /// # let folder = tempfile::tempdir()?;
    /// let options = SaveOptions::new().durable(false);
    /// let writer = ShardsWriter::<f64>::create_with(folder.path(), 2, None, options)?;
    /// writer.shard(0)?.finish()?;
    /// assert_eq!(writer.finish()?.shape().columns, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_with(
        folder: impl AsRef<Path>,
        columns: usize,
        dictionary: impl Into<Option<DataDictionary>>,
        options: SaveOptions,
    ) -> Result<Self> {
        let folder = folder.as_ref().to_owned();
        let dictionary = dictionary.into().unwrap_or_else(|| DataDictionary::uniform(Feature::new(T::TYPE), columns));
        dictionary.check(columns, T::TYPE)?;
        create_folder(&folder, options.is_durable()).map_err(|source| Error::io(&folder, source))?;
        check_no_manifest(&folder.join(Shards::MANIFEST))?;
        let state = Arc::default();
        Ok(Self { folder, columns, dictionary, options, state, element: PhantomData })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    /// Sets the state of a file.
    pub(super) fn put(&self, index: usize, state: State) {
        locked(&self.state).insert(index, state);
    }

    /// Returns whether a file is finished or being written.
    pub(super) fn has(&self, index: usize) -> bool {
        !matches!(locked(&self.state).get(&index), None | Some(State::Begun { is_dropped: true }))
    }

    /// Creates the file with a number, such as `part-000007.ntb`, on any thread. Files become parts of the table in the
    /// order of their numbers, which may have gaps.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with the path, also if the file is already being written or finished, if the number exceeds
    /// 999,999, or if the manifest of the folder lists the file; [`ErrorKind::Format`] if the names of the columns take
    /// more than 16 MiB; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::shards::ShardsWriter;
    /// # let folder = tempfile::tempdir()?;
    /// let writer = ShardsWriter::<u8>::create(folder.path(), 2, None)?;
    /// let mut shard = writer.shard(7)?;
    /// shard.append(&[1_u8, 2])?;
    /// assert!(writer.shard(7).is_err());
    /// shard.finish()?;
    /// assert!(folder.path().join("part-000007.ntb").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shard(&self, index: usize) -> Result<ShardWriter<T>> {
        let path = self.folder.join(name_of(index));
        if index > LAST {
            return Err(refused(&path, io::ErrorKind::InvalidInput, "the largest number of a file is 999999"));
        }
        match locked(&self.state).entry(index) {
            Slot::Vacant(slot) => drop(slot.insert(State::Begun { is_dropped: false })),
            Slot::Occupied(mut slot) => match slot.get_mut() {
                State::Begun { is_dropped } if *is_dropped => *is_dropped = false,
                State::Begun { .. } => {
                    return Err(refused(&path, io::ErrorKind::AlreadyExists, "the file is being written"));
                }
                State::Finished(_) => return Err(refused(&path, io::ErrorKind::AlreadyExists, "the file is finished")),
            },
        }
        let begun = Begun { states: Arc::clone(&self.state), index };
        let manifest = self.folder.join(Shards::MANIFEST);
        check_unlisted(&manifest, &Folder::of(&manifest)?, &path)?;
        let writer = TableWriter::create_with(&path, self.columns, self.dictionary.clone(), self.options.clone())?;
        let file = path.clone();
        let writer = writer.with_permit(Permit::new(move || keep_unlisted(&manifest, &file)));
        Ok(ShardWriter { writer, path, begun })
    }

    /// Atomically writes the manifest of all finished files, and opens the table.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with the path of a file that was started but not finished, or if the folder has a manifest by
    /// now; [`ErrorKind::ShardChanged`] with a file that another writer has replaced since it was finished;
    /// [`ErrorKind::ParameterOutOfRange`] without files; the errors of [`Shards::save_manifest`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::shards::ShardsWriter;
    /// # let folder = tempfile::tempdir()?;
    /// let writer = ShardsWriter::<u8>::create(folder.path(), 2, None)?;
    /// drop(writer.shard(0)?);
    /// let error = writer.finish().unwrap_err().to_string();
    /// assert!(error.ends_with("part-000000.ntb: the file was started but not finished"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish(self) -> Result<Shards> {
        let mut all = Shards::without_files(self.dictionary);
        for (index, state) in std::mem::take(&mut *locked(&self.state)) {
            let State::Finished(entry) = state else {
                let path = self.folder.join(name_of(index));
                return Err(refused(&path, io::ErrorKind::NotFound, "the file was started but not finished"));
            };
            all.push_entry(entry)?;
        }
        if all.entries.is_empty() {
            return Err(Error::no_tables());
        }
        let path = self.folder.join(Shards::MANIFEST);
        all.write_if(&path, &self.options, |_, _| check_no_manifest(&path).map(|()| Listed::default()))?;
        Ok(all)
    }
}

fn check_no_manifest(path: &Path) -> Result<()> {
    match is_there(path)? {
        false => Ok(()),
        true => {
            let error = refused(path, io::ErrorKind::AlreadyExists, "the folder already has a table");
            Err(error.with_hint(Hint::new("Shards::append", "adds files")))
        }
    }
}

/// A file number that is being written. Dropping it ends this state.
#[derive(Debug)]
struct Begun {
    states: Arc<States>,
    index: usize,
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(State::Begun { is_dropped }) = locked(&self.states).get_mut(&self.index) {
            *is_dropped = true;
        }
    }
}

/// Writes one file of a [`ShardsWriter`]. It dereferences to a [`TableWriter`].
///
/// If it is dropped before [`finish`](Self::finish), its rows are discarded, and the file can be started again.
///
/// # Examples
/// ```
/// # use numeric_table::{prelude::*, shards::ShardsWriter};
/// # let folder = tempfile::tempdir()?;
/// let writer = ShardsWriter::<f32>::create(folder.path(), 2, None)?;
/// let mut shard = writer.shard(0)?;
/// shard.append_table(&HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?)?;
/// assert_eq!(shard.shape().rows, 2);
/// shard.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "there is no file before `finish`"]
pub struct ShardWriter<T: Element = f32> {
    writer: TableWriter<T>,
    path: PathBuf,
    begun: Begun,
}

impl<T: Element> ShardWriter<T> {
    /// Completes the file and puts it in place. It becomes part of the table when [`ShardsWriter::finish`] is called.
    ///
    /// # Errors
    /// The errors of [`TableWriter::finish`]; [`ErrorKind::Io`] with the path if the manifest of the folder lists the
    /// file by now: another writer has finished the table, and its file stays.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::shards::ShardsWriter;
    /// # let folder = tempfile::tempdir()?;
    /// let writer = ShardsWriter::<u8>::create(folder.path(), 2, None)?;
    /// writer.shard(0)?.finish()?;
    /// assert_eq!(writer.finish()?.shard_count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish(self) -> Result<()> {
        let Self { writer, path, begun } = self;
        let Written { rows, file_length, header_checksum, values_checksum } = writer.finish_known()?;
        let entry = Entry { path, rows, bytes: file_length, header_checksum, values_checksum };
        locked(&begun.states).insert(begun.index, State::Finished(entry));
        Ok(())
    }
}

impl<T: Element> Deref for ShardWriter<T> {
    type Target = TableWriter<T>;

    fn deref(&self) -> &TableWriter<T> {
        &self.writer
    }
}

impl<T: Element> DerefMut for ShardWriter<T> {
    fn deref_mut(&mut self) -> &mut TableWriter<T> {
        &mut self.writer
    }
}
