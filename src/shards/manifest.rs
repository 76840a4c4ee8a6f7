//! Manifests list the files of a table. They are written atomically and read without opening the files.
//!
//! `README.md` specifies the bytes. Decoding treats them as untrusted: it allocates at most a few times the size of the
//! manifest, which is limited.

use std::collections::HashSet;
use std::hash::Hash;
use std::io;
use std::path::Path;

use super::Shards;
use super::entry::{Check, Described, Entry};
use super::listed::Listed;
use super::names::{Folder, refused};
use crate::archive::{decode, encode};
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::progress::Hook;
use crate::base::room::with_room;
use crate::base::text::excerpt;
use crate::dictionary::DataDictionary;
use crate::storage::lock::LockFile;
use crate::storage::open::{open_regular, read};
use crate::storage::options::SaveOptions;
use crate::storage::output::Output;
use crate::storage::replace::replace;
use crate::storage::{LOCK_ENDING, zeroed};

/// Like the magic of table files: not valid text, and damaged by a transfer in text mode.
const MAGIC: [u8; 8] = *b"\x89NTM\r\n\x1a\n";
const VERSION: u32 = 1;
/// The version of manifests of tables in which values may be missing.
const VERSION_WITH_GAPS: u32 = 2;

/// Positions of the version, of four zeros, of the number of files, and of the dictionary.
const VERSION_AT: usize = 8;
const ZEROS_AT: usize = 12;
const COUNT_AT: usize = 16;
const DICTIONARY_AT: usize = 24;
const SUM_BYTES: usize = 4;
/// Bytes per file without its path: length of the path, rows, size, two checksums.
const ENTRY_BYTES: usize = 8 + 8 + 8 + 4 + 4;
/// The maximum size of a manifest.
const LIMIT: u64 = 1 << 30;

impl Shards {
    /// Reads the manifest at a path.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], [`ErrorKind::Format`], [`ErrorKind::OutOfMemory`].
    pub(super) fn read_manifest(path: &Path) -> Result<Self> {
        let in_file = |source| Error::io(path, source);
        let (file, length) = open_regular(path).map_err(in_file)?;
        let mut start = [0; MAGIC.len()];
        let start = &mut start[..length.min(MAGIC.len() as u64) as usize];
        read(&file, path, start, 0)?;
        let bytes = check_magic(start).and_then(|()| match length {
            0..=LIMIT => zeroed(length as usize),
            _ => Err(Error::format(0, format!("the manifest has {length} bytes, and the maximum is {LIMIT}"))),
        });
        let mut bytes = bytes.map_err(|error| error.in_file(path))?;
        read(&file, path, &mut bytes, 0)?;
        let folder = Folder::of(path)?;
        let new = decode_manifest(&bytes, &folder).map_err(|error| error.in_file(path))?;
        Ok(Self { manifest: Some(folder.manifest), ..new })
    }

    /// Writes a manifest that lists the files of this table with their numbers of rows, sizes and checksums. The
    /// manifest is replaced atomically; readers find the old one until then. From now on, this table belongs to the
    /// manifest, and [`append`](Self::append) adds files to it.
    ///
    /// Files that the manifest at `path` does not list yet are opened and compared with their recorded data, so a file
    /// that another program has replaced is never listed. Cost: O(shards), and O(columns) for each file that is new to
    /// the manifest.
    ///
    /// Paths in the manifest are relative to its folder, so the folder can be moved. If the manifest is named
    /// [`shards.ntm`](Self::MANIFEST), [`open`](Self::open) finds it when given the folder.
    ///
    /// **No file is lost from an existing manifest.** It is replaced only if this table contains all files that it
    /// lists, in any order; otherwise this is an error, and the manifest stays. Files that other programs have appended
    /// since this table was opened are therefore never dropped. To make a table of fewer or other files, save its
    /// manifest under another name in the same folder, and rename it over the old one ([`std::fs::rename`]).
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`, also if it is a dangling link; with the path of a file that the manifest at
    /// `path` lists and this table does not contain; with the path of a file that is outside of the folder of the
    /// manifest, that is not UTF-8, or that occurs twice. [`ErrorKind::ShardChanged`] or [`ErrorKind::UnequalTables`]
    /// with a file that was replaced since this table was opened. [`ErrorKind::Format`] if the file at `path` is not a
    /// manifest or is damaged, or if the new manifest would exceed 1 GiB; [`ErrorKind::RenameUnsupported`];
    /// [`ErrorKind::OutOfMemory`]. On error, nothing has changed.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2]])?;
    /// let [a, b] = ["a.ntb", "b.ntb"].map(|name| folder.join(name));
    /// [&a, &b].iter().try_for_each(|path| table.save(path))?;
    /// let mut shards = Shards::from_paths([&b])?;
    /// shards.save_manifest(folder.join("shards.ntm"))?;
    /// assert_eq!(Shards::open(folder)?.shard_count(), 1); // the manifest defines the table
    /// shards.append([&a])?; // adds to the manifest
    /// assert_eq!(Shards::open(folder)?.shard_count(), 2);
    /// assert!(Shards::from_paths([&a])?.save_manifest(folder.join("shards.ntm")).is_err()); // it also lists b.ntb
    /// let elsewhere = tempfile::tempdir()?;
    /// assert!(shards.save_manifest(elsewhere.path().join("shards.ntm")).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_manifest(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.save_manifest_with(path, SaveOptions::new())
    }

    /// Writes a manifest like [`save_manifest`](Self::save_manifest), with two options:
    /// [durable](SaveOptions::durable), and [in place](SaveOptions::in_place) for file systems that cannot rename.
    /// Writing in place is not atomic: a program that opens the manifest meanwhile may find it truncated, which is an
    /// error. If the writer is killed, every later call fails, including saving, until the manifest is removed. Other
    /// options are ignored.
    ///
    /// # Errors
    /// The errors of [`save_manifest`](Self::save_manifest).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::SaveOptions, prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save(folder.path().join("a.ntb"))?;
    /// let options = SaveOptions::new().in_place(true); // for file systems that cannot rename
    /// Shards::open(folder.path())?.save_manifest_with(folder.path().join("shards.ntm"), options)?;
    /// assert!(Shards::open(folder.path().join("shards.ntm"))?.verify()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_manifest_with(&mut self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        let path = path.as_ref();
        self.write_if(path, &options, |folder, paths| {
            let listed = Listed::at(path, folder)?;
            listed.check_kept(paths, folder).map(|()| listed)
        })
    }

    /// Writes a manifest if `check` permits it and no new file has changed. `check` receives the folder and the paths
    /// in the manifest, and returns the files that are already listed. It is called twice: before the lock is created,
    /// so that a refusal leaves no trace, and again while the lock excludes changes by others.
    pub(super) fn write_if(
        &mut self,
        path: &Path,
        options: &SaveOptions,
        check: impl Fn(&Folder, &[String]) -> Result<Listed>,
    ) -> Result<()> {
        let folder = Folder::of(path)?;
        let paths = self.paths_in(&folder)?;
        let bytes = encode_manifest(self, &paths).map_err(|error| error.in_file(path))?;
        check(&folder, &paths)?;
        let _locked = lock(&folder.manifest)?;
        check(&folder, &paths)?.check_new(self, &paths)?;
        write(path, options, &bytes)?;
        self.manifest = Some(folder.manifest);
        Ok(())
    }

    /// Returns the paths of all files in the form that a manifest stores.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with a file that cannot be listed or occurs twice; [`ErrorKind::OutOfMemory`].
    fn paths_in(&self, folder: &Folder) -> Result<Vec<String>> {
        let mut paths = with_room(self.entries.len())?;
        for entry in &self.entries {
            paths.push(folder.relative(&entry.path)?);
        }
        let mut known = set_with_room(paths.len())?;
        match paths.iter().position(|path| !known.insert(path)) {
            Some(index) => {
                let path = &self.entries[index].path;
                Err(refused(path, io::ErrorKind::AlreadyExists, "the file is in the manifest already"))
            }
            None => Ok(paths),
        }
    }

    /// Adds files at the end, all or nothing. If the table was opened from a manifest or saved to one, the files are
    /// added to the manifest; otherwise only to this table in memory.
    ///
    /// Files are added to the **current** content of the manifest. Several threads and programs may append at the same
    /// time; their changes are serialized, and none is lost. (They wait for a lock on the file `.shards.ntm.lock`
    /// beside the manifest, which is removed afterwards.) Afterwards, this table contains everything that the manifest
    /// lists.
    ///
    /// Cost: O(files x columns) for the new files, plus reading and writing the manifest.
    ///
    /// # Errors
    /// The errors of [`from_paths`](Self::from_paths) and [`save_manifest`](Self::save_manifest), also if a file is
    /// already in the manifest. On error, the table and the manifest are unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// let [a, b] = ["a.ntb", "b.ntb"].map(|name| folder.join(name));
    /// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save(&a)?;
    /// Shards::from_paths([&a])?.save_manifest(folder.join("shards.ntm"))?;
    /// let mut shards = Shards::open(folder)?;
    /// HomogenNumericTable::from_rows(&[[3_i16, 4]])?.save(&b)?;
    /// shards.append([&b])?;
    /// assert_eq!((shards.shape().rows, Shards::open(folder)?.shape().rows), (2, 2));
    /// assert!(shards.append([&b]).is_err()); // already listed
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(&mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<()> {
        self.append_with(paths, SaveOptions::new())
    }

    /// Adds files like [`append`](Self::append), with the manifest options of
    /// [`save_manifest_with`](Self::save_manifest_with).
    ///
    /// # Errors
    /// The errors of [`append`](Self::append).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::SaveOptions, prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// let [a, b] = ["a.ntb", "b.ntb"].map(|name| folder.path().join(name));
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2]])?;
    /// [&a, &b].iter().try_for_each(|path| table.save(path))?;
    /// let mut shards = Shards::from_paths([&a])?;
    /// shards.save_manifest(folder.path().join("shards.ntm"))?;
    /// shards.append_with([&b], SaveOptions::new().durable(false))?; // does not wait for the disk
    /// assert_eq!(Shards::open(folder.path())?.shape().rows, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_with(
        &mut self,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
        options: SaveOptions,
    ) -> Result<()> {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        let mut new = self.clone();
        Self::describe_all(paths, |found| new.push(found))?;
        if let Some(path) = &self.manifest {
            let folder = Folder::of(path)?;
            let _locked = lock(&folder.manifest)?;
            let (hook, is_verified) = (self.hook.clone(), self.is_verified);
            let mut all = Self { hook, is_verified, ..Self::read_manifest(path)? };
            // The new files have the columns of this table, but another table's manifest may have replaced the old one.
            // From now on no other writer replaces these files, and none has since they were opened.
            for (shard, entry) in new.entries.iter().enumerate().skip(self.entries.len()) {
                new.open_shard(shard, Check::Values)?;
                all.push(Described { entry: entry.clone(), dictionary: new.dictionary.clone() })?;
            }
            let bytes = encode_manifest(&all, &all.paths_in(&folder)?).map_err(|error| error.in_file(path))?;
            write(path, &options, &bytes)?;
            new = all;
        }
        *self = new;
        Ok(())
    }
}

/// Returns whether anything exists at a path, including a dangling link.
///
/// # Errors
/// [`ErrorKind::Io`].
pub(super) fn is_there(path: &Path) -> Result<bool> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(Error::io(path, source)),
    }
}

/// Puts a manifest in place. The caller holds its lock.
fn write(path: &Path, options: &SaveOptions, bytes: &[u8]) -> Result<()> {
    replace(path, options, |new| Output { sink: new, path }.write(bytes, 0))
}

/// Allocates a set with room for the given number of paths.
pub(super) fn set_with_room<S: Eq + Hash>(count: usize) -> Result<HashSet<S>> {
    let mut set = HashSet::new();
    let bytes = count.saturating_mul(size_of::<S>());
    set.try_reserve(count).map_err(|_| Error::out_of_memory(bytes))?;
    Ok(set)
}

/// Waits until no other thread or program writes the manifest. Dropping the lock, or the end of the program, releases
/// it.
///
/// # Errors
/// [`ErrorKind::Io`] with the lock file.
pub(super) fn lock(manifest: &Path) -> Result<LockFile> {
    let name = manifest.file_name().unwrap_or_default().to_string_lossy();
    LockFile::wait(manifest.with_file_name(format!(".{name}{LOCK_ENDING}")))
}

/// Returns the bytes of a manifest that lists the files under these paths.
fn encode_manifest(shards: &Shards, paths: &[String]) -> Result<Vec<u8>> {
    let version = if shards.dictionary.has_nullable() { VERSION_WITH_GAPS } else { VERSION };
    let head = (u64::from_le_bytes(MAGIC), version, 0_u32, paths.len() as u64);
    let mut bytes = encode(DICTIONARY_AT + 256, &(head, &shards.dictionary))?;
    let rest = paths.iter().fold(SUM_BYTES, |room, path| room.saturating_add(ENTRY_BYTES + path.len()));
    if bytes.len().saturating_add(rest) as u64 > LIMIT {
        let reason = format!("the manifest would have {} bytes, and the maximum is {LIMIT}", bytes.len() + rest);
        return Err(Error::format(0, reason));
    }
    bytes.try_reserve_exact(rest).map_err(|_| Error::out_of_memory(rest))?;
    for (path, entry) in paths.iter().zip(&shards.entries) {
        bytes.extend((path.len() as u64).to_le_bytes());
        bytes.extend(path.bytes());
        bytes.extend((entry.rows as u64).to_le_bytes());
        bytes.extend(entry.bytes.to_le_bytes());
        bytes.extend(entry.header_checksum.to_le_bytes());
        bytes.extend(entry.values_checksum.to_le_bytes());
    }
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    Ok(bytes)
}

fn check_magic(start: &[u8]) -> Result<()> {
    if start.starts_with(&MAGIC) {
        return Ok(());
    }
    let reason = match start {
        [0x89, b'N', b'T', b'B', ..] => {
            let error = Error::format(0, "this is a table file, not a manifest of several");
            return Err(error.with_hint(Hint::new("Shards::from_paths", "opens it")));
        }
        _ if MAGIC.starts_with(start) => "the manifest is cut off within its first 8 bytes",
        _ => "this is not a manifest of table files",
    };
    Err(Error::format(0, reason))
}

fn decode_manifest(bytes: &[u8], folder: &Folder) -> Result<Shards> {
    let refusal = |at: usize, reason: String| Err(Error::format(at as u64, reason));
    let sum_at = bytes.len().saturating_sub(SUM_BYTES);
    if sum_at < DICTIONARY_AT {
        return refusal(bytes.len(), "the manifest is cut off".to_owned());
    }
    let mut head = Fields { bytes: &bytes[..sum_at], at: VERSION_AT };
    let (version, zeros, count) = (head.u32()?, head.u32()?, head.u64()?);
    if !(VERSION..=VERSION_WITH_GAPS).contains(&version) {
        let advice = if version > VERSION_WITH_GAPS { "; a newer version of the library reads it" } else { "" };
        return refusal(
            VERSION_AT,
            format!(
                "the manifest has version {version}, and this library reads versions {VERSION} and \
                 {VERSION_WITH_GAPS}{advice}"
            ),
        );
    }
    let sum = Fields { bytes, at: sum_at }.u32()?;
    if crc32fast::hash(&bytes[..sum_at]) != sum {
        return refusal(sum_at, "the checksum does not match: the manifest is damaged or cut off".to_owned());
    }
    if zeros != 0 {
        return refusal(ZEROS_AT, "reserved bytes are not zero".to_owned());
    }
    let (dictionary, consumed): (DataDictionary, _) = decode(&bytes[..sum_at], DICTIONARY_AT)?;
    let mut fields = Fields { bytes: &bytes[..sum_at], at: DICTIONARY_AT + consumed };
    let room = (sum_at - fields.at) / ENTRY_BYTES;
    let count = match usize::try_from(count) {
        Ok(count @ 1..) if count <= room => count,
        _ => return refusal(COUNT_AT, format!("the manifest states {count} files, but has room for 1 to {room}")),
    };
    let (entries, ends, mut known) = (with_room(count)?, with_room(count)?, set_with_room(count)?);
    let mut new = Shards { entries, ends, dictionary, manifest: None, hook: Hook::default(), is_verified: false };
    for _ in 0..count {
        let at = fields.at;
        let (path, entry) = fields.entry(folder)?;
        if !known.insert(path) {
            return refusal(at, format!("the file {:?} is in the manifest already", excerpt(path.as_bytes())));
        }
        new.push_entry(entry).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => error,
            _ => Error::format(at as u64, "the files have more rows than can be counted"),
        })?;
    }
    match sum_at - fields.at {
        0 => Ok(new),
        rest => refusal(fields.at, format!("bytes after the last file: {rest}")),
    }
}

/// The rest of a manifest, starting at position `at`.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let taken = taken.ok_or_else(|| Error::format(self.at as u64, "the manifest ends within a field"))?;
        self.at += taken.len();
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N as u64)?;
        Ok(std::array::from_fn(|i| bytes[i]))
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Returns the next file and its path in the manifest.
    fn entry(&mut self, folder: &Folder) -> Result<(&'a str, Entry)> {
        let start = self.at as u64;
        let length = self.u64()?;
        let relative = str::from_utf8(self.take(length)?).ok();
        let path = relative.and_then(|relative| Some((relative, folder.join(relative)?)));
        let (relative, path) = path.ok_or_else(|| {
            Error::format(start, "the path of a file leads out of the folder of the manifest, or is not a UTF-8 path")
        })?;
        let rows_at = self.at as u64;
        let rows = usize::try_from(self.u64()?)
            .map_err(|_| Error::format(rows_at, "the rows of a file are more than this machine can count"))?;
        let (bytes, header_checksum, values_checksum) = (self.u64()?, self.u32()?, self.u32()?);
        Ok((relative, Entry { path, rows, bytes, header_checksum, values_checksum }))
    }
}
