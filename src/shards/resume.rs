//! Resuming a table of many files after its writer was killed.

use std::path::{Path, PathBuf};

use super::entry::{Entry, check_nullable, check_same};
use super::names::numbered;
use super::writer::{LAST, ShardsWriter, State};
use super::{FILE_BYTES, FILES_AT_ONCE};
use crate::base::element::Element;
use crate::base::error::{ErrorKind, Result};
use crate::base::parallel::in_order;
use crate::dictionary::DataDictionary;
use crate::format::OpenedTable;
use crate::storage::options::SaveOptions;

impl<T: Element> ShardsWriter<T> {
    /// Creates a writer like [`create`](Self::create), which resumes an interrupted one in the same folder. Complete
    /// files count as finished. [`missing`](Self::missing) returns the files that are left to write.
    ///
    /// All files of the folder named `part-000000.ntb` to `part-999999.ntb` are read, and all of their checksums are
    /// compared. A damaged file must be written again; otherwise [`finish`](Self::finish) reports it. (Damage to the
    /// values of files [without checksums](SaveOptions::checksums) cannot be detected.) The values must be those that
    /// this job would write: do not resume the folder of another job, or of one with more files. Leftover temporary
    /// files are not used; [`files::leftovers`](crate::storage::leftovers) lists them so that you can remove them.
    ///
    /// Cost: reads the values of all files once, in parallel.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create), also if the folder has a manifest: then the table is complete, and
    /// [`Shards::open`](crate::shards::Shards::open) opens it. [`ErrorKind::UnequalTables`] with a file of other columns or
    /// from a newer version of the library; [`ErrorKind::Io`] with a file that cannot be read;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, shards::ShardsWriter};
    /// # let folder = tempfile::tempdir()?;
    /// let folder = folder.path().join("table");
    /// let write = |writer: &ShardsWriter<f32>, index: usize| {
    ///     let mut shard = writer.shard(index)?;
    ///     shard.append(&[index as f32, 0.5])?;
    ///     shard.finish()
    /// };
    /// let killed = ShardsWriter::<f32>::create(&folder, 2, None)?;
    /// write(&killed, 0)?;
    /// write(&killed, 2)?;
    /// drop(killed); // without `finish`
    ///
    /// let writer = ShardsWriter::<f32>::resume(&folder, 2, None)?;
    /// assert_eq!(writer.missing(4), [1, 3]);
    /// writer.missing(4).into_iter().try_for_each(|index| write(&writer, index))?;
    /// assert_eq!(writer.finish()?.load::<f32>()?.as_slice()?, [0.0, 0.5, 1.0, 0.5, 2.0, 0.5, 3.0, 0.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resume(
        folder: impl AsRef<Path>,
        columns: usize,
        dictionary: impl Into<Option<DataDictionary>>,
    ) -> Result<Self> {
        Self::resume_with(folder, columns, dictionary, SaveOptions::new())
    }

    /// Creates a writer like [`resume`](Self::resume), with the options of [`create_with`](Self::create_with).
    ///
    /// # Errors
    /// The errors of [`resume`](Self::resume).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::SaveOptions, shards::ShardsWriter};
    /// # let folder = tempfile::tempdir()?;
    /// let options = SaveOptions::new().durable(false);
    /// let writer = ShardsWriter::<f64>::resume_with(folder.path(), 2, None, options)?;
    /// assert_eq!(writer.missing(2), [0, 1]); // no file was started
    /// # let _ = writer;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resume_with(
        folder: impl AsRef<Path>,
        columns: usize,
        dictionary: impl Into<Option<DataDictionary>>,
        options: SaveOptions,
    ) -> Result<Self> {
        let new = Self::create_with(folder, columns, dictionary, options)?;
        let found = numbered(new.folder())?;
        let bytes = found.iter().filter_map(|(_, path)| path.metadata().ok()).map(|found| found.len());
        let bytes = bytes.fold(found.len().saturating_mul(FILE_BYTES) as u64, u64::saturating_add);
        let look = |(index, path): (usize, PathBuf)| Ok((index, whole(index, path, new.dictionary())?));
        let work = usize::try_from(bytes).unwrap_or(usize::MAX);
        in_order(found.into_iter(), work, FILES_AT_ONCE, look, |(index, entry)| {
            new.put(index, entry.map_or(State::Begun { is_dropped: true }, State::Finished));
            Ok(())
        })?;
        Ok(new)
    }

    /// Returns the numbers below `count` and 1,000,000 whose files are neither finished nor being written, in ascending
    /// order. After [`resume`](Self::resume), these files are left to write.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::shards::ShardsWriter;
    /// # let folder = tempfile::tempdir()?;
    /// let writer = ShardsWriter::<f64>::create(folder.path(), 2, None)?;
    /// writer.shard(1)?.finish()?;
    /// assert_eq!(writer.missing(4), [0, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn missing(&self, count: usize) -> Vec<usize> {
        (0..count.min(LAST + 1)).filter(|&index| !self.has(index)).collect()
    }
}

/// Returns the data of a file with these columns; `None` if it is damaged. A file from a newer version of the library
/// is an error because it may be intact.
fn whole(index: usize, path: PathBuf, dictionary: &DataDictionary) -> Result<Option<Entry>> {
    let mut is_newer = false;
    let mut look = || -> Result<_> {
        let opened = OpenedTable::open(&path).inspect_err(|_| is_newer = OpenedTable::is_newer(&path))?;
        check_same(dictionary, index, opened.dictionary())?;
        check_nullable(dictionary, index, opened.dictionary())?;
        opened.verify(None)?;
        Ok((opened.shape().rows, opened.file_length(), opened.header_checksum(), opened.values_checksum()?))
    };
    match look() {
        Ok((rows, bytes, header_checksum, values_checksum)) => {
            Ok(Some(Entry { path, rows, bytes, header_checksum, values_checksum }))
        }
        Err(error) if !is_newer && matches!(error.kind(), ErrorKind::Format { .. }) => Ok(None),
        Err(error) => Err(error.in_file(&path)),
    }
}
