//! Several writers at once, of files that become one table when all are finished.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::fs;
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
use crate::files::options::SaveOptions;
use crate::files::replace::Permit;
use crate::format::{TableWriter, Written};

/// The largest number of a file: their names have six digits, so that their order is that of their numbers.
pub(super) const LAST: usize = 999_999;

/// Writes a table as many files, several at a time, in a folder of their own: `part-000000.ntb` and so on, and when all
/// are finished, the manifest.
///
/// Each [`shard`](Self::shard) is a [`TableWriter`] of its own, for any thread. **There is no table until
/// [`finish`](Self::finish) has returned**: it writes the manifest, in one step. A program that ends before that leaves
/// files, and no manifest; started again, it replaces those that it writes again, and `finish` lists what this writer
/// has written only.
///
/// **A file that the manifest lists is never replaced.** Of a job that was started twice, one gets the table: the other
/// one gets an error from the first [`shard`](Self::shard), [`ShardWriter::finish`] or `finish` after that. If they
/// have replaced files of each other before there was a manifest, `finish` finds that: a table never has files of both.
///
/// **Several programs** write into one folder with a writer each, of other numbers, and do not call `finish`: when all
/// have ended, one writes the manifest, `Shards::matching("folder/part-*.ntb")?.save_manifest("folder/shards.ntm")`. To
/// a table that exists, files are added by [`Shards::append`].
///
/// **Files that a killed attempt has left** have the names of whole ones, and are whole. Until there is a manifest,
/// [`Shards::open`] of the folder and [`Shards::matching`] take them for parts of the table, also those with numbers
/// that the next attempt does not use. So remove `part-*.ntb` before another attempt, or give each a folder of its own;
/// and where several programs have written, open the files that they say they have finished
/// ([`Shards::of_files`]) rather than a pattern. Only the manifest says what belongs to the table. Or
/// [`resume`](Self::resume) the attempt: its whole files stay, and only the missing ones are written.
///
/// # Examples
/// ```
/// use numeric_table::{Shards, ShardsWriter, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let folder = folder.path().join("table");
/// let writer = ShardsWriter::<f32>::create(&folder, 2, None)?;
/// std::thread::scope(|scope| {
///     let write = |index: usize| {
///         let mut shard = writer.shard(index)?;
///         shard.append(&[index as f64, 0.5])?; // as `TableWriter` does
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

/// What has become of a file.
#[derive(Debug)]
pub(super) enum State {
    /// It is being written, or its writer was dropped.
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
    /// Creates the folder, if there is none, for files of `columns` columns, described by a dictionary; without one,
    /// they are continuous and have no names.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `folder`, also if the folder has a manifest: its table stays as it is;
    /// [`ErrorKind::DictionaryMismatch`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ShardsWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let names = DataDictionary::from_features(["a", "b"].map(|name| Feature::new(ElementType::U8).named(name)));
    /// let writer = ShardsWriter::<u8>::create(folder.path(), 2, names.clone())?;
    /// writer.shard(0)?.finish()?; // no rows
    /// assert_eq!(writer.finish()?.dictionary(), &names);
    /// assert!(ShardsWriter::<u8>::create(folder.path(), 2, names).is_err()); // the folder has a table
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(
        folder: impl AsRef<Path>,
        columns: usize,
        dictionary: impl Into<Option<DataDictionary>>,
    ) -> Result<Self> {
        Self::create_with(folder, columns, dictionary, SaveOptions::new())
    }

    /// Creates a writer as [`create`](Self::create) does, with options for each of the files, and for the manifest
    /// ([`Shards::save_manifest_with`]).
    ///
    /// # Errors
    /// Those of [`create`](Self::create).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SaveOptions, ShardsWriter};
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
        fs::create_dir_all(&folder).map_err(|source| Error::io(&folder, source))?;
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

    /// Sets what has become of a file.
    pub(super) fn put(&self, index: usize, state: State) {
        locked(&self.state).insert(index, state);
    }

    /// Returns whether a file is finished, or is being written.
    pub(super) fn has(&self, index: usize) -> bool {
        !matches!(locked(&self.state).get(&index), None | Some(State::Begun { is_dropped: true }))
    }

    /// Creates the file of a number, `part-000007.ntb`, on any thread. Files become parts of the table in the order of
    /// their numbers, of which some may be left out.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with the path, also if the number is being written or is finished already, or is larger than
    /// 999,999, or if the manifest of the folder lists the file by now; [`ErrorKind::Format`] if the names of the
    /// columns take more than 16 MiB; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::ShardsWriter;
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

    /// Writes the manifest of all files that have been finished, whole or not at all, and opens the table.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with the path of a file that was begun and not finished, or if the folder has a manifest by
    /// now; [`ErrorKind::ShardChanged`] with a file that another writer has replaced since it was finished;
    /// [`ErrorKind::ParameterOutOfRange`] if there are no files; those of [`Shards::save_manifest`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::ShardsWriter;
    /// # let folder = tempfile::tempdir()?;
    /// let writer = ShardsWriter::<u8>::create(folder.path(), 2, None)?;
    /// drop(writer.shard(0)?);
    /// let error = writer.finish().unwrap_err().to_string();
    /// assert!(error.ends_with("part-000000.ntb: the file was begun and is not finished"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish(self) -> Result<Shards> {
        let mut all = Shards::without_files(self.dictionary);
        for (index, state) in std::mem::take(&mut *locked(&self.state)) {
            let State::Finished(entry) = state else {
                let path = self.folder.join(name_of(index));
                return Err(refused(&path, io::ErrorKind::NotFound, "the file was begun and is not finished"));
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
            let error = refused(path, io::ErrorKind::AlreadyExists, "the folder has a table");
            Err(error.with_hint(Hint::new("Shards::append", "adds files")))
        }
    }
}

/// A number that is being written. Dropping it says that it no longer is.
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

/// The writer of one file of a [`ShardsWriter`]: a [`TableWriter`], which it can be used as.
///
/// Dropped before [`finish`](Self::finish), it discards what was appended; the file can be begun again.
///
/// # Examples
/// ```
/// # use numeric_table::{ShardsWriter, prelude::*};
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
    /// Completes the file and puts it in place. It is part of the table when [`ShardsWriter::finish`] is called.
    ///
    /// # Errors
    /// Those of [`TableWriter::finish`]; [`ErrorKind::Io`] with the path if the manifest of the folder lists the file
    /// by now: another writer has finished the table, whose file stays.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::ShardsWriter;
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
