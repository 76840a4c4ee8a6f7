//! Replacing a file atomically.
//!
//! The new file is written under a temporary name in the same directory and then atomically renamed over the target.
//! Until then the target is untouched; if renaming is never reached, the new file is removed.
//!
//! Where that is impossible, the caller may choose to overwrite the old file, which is not atomic. It is emptied just
//! before the first byte is written, so that earlier failures change nothing.

use std::fmt::{self, Debug, Formatter};
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::lock::{Holder, LockFile, is_at, try_lock, unlock};
use super::memory_file::MemoryFile;
use super::open::not_a_file;
use super::options::SaveOptions;
use super::position::Sink;
#[cfg(target_os = "linux")]
use super::system::is_on_disk_with;
use crate::base::error::{Error, ErrorKind, Result};

/// The maximum number of symbolic links that are followed.
const LINK_LIMIT: usize = 40;
/// The end of temporary names.
const TEMPORARY_ENDING: &str = ".ntb.tmp";
/// Number of temporary names that are tried.
const NAME_LIMIT: usize = 100;
/// The length from which on disk space is reserved for a file that is written sequentially.
const LONG: u64 = 1 << 20;
/// The most disk space that is reserved ahead of what is written.
const MAX_AHEAD: u64 = 64 << 20;
/// Nothing is reserved unless the disk has this number of times as much free space: other files need some.
const SPARE: u64 = 16;

/// Replaces the file at `path` by the output of `write`. On error, nothing has changed, unless the options select
/// writing in place and something has been written.
///
/// # Errors
/// The errors of `write`, [`Replacement::create`] and [`Replacement::commit`].
pub(crate) fn replace(
    path: &Path,
    options: &SaveOptions,
    write: impl FnOnce(&Replacement) -> Result<()>,
) -> Result<()> {
    let new = Replacement::create(path, options)?;
    write(&new)?;
    new.commit()
}

/// Decides whether a file may be replaced, just before it is. The returned lock is held until the file has been
/// replaced.
pub(crate) struct Permit(Box<AskPermit>);

type AskPermit = dyn Fn() -> Result<Option<LockFile>> + Send + Sync;

impl Permit {
    pub(crate) fn new(ask: impl Fn() -> Result<Option<LockFile>> + Send + Sync + 'static) -> Self {
        Self(Box::new(ask))
    }
}

impl Debug for Permit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

/// A new file that has not been renamed yet, or, in place, is not complete yet. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Replacement {
    /// `None` once the file is complete, or closed in order to be removed.
    file: Option<File>,
    /// In place, as long as nothing has been written and the file has its old content: the number of bytes to reserve
    /// when that content is discarded.
    waiting: Mutex<Option<u64>>,
    /// A new in-memory file that several threads write to.
    memory: OnceLock<MemoryFile>,
    sequence: Mutex<Sequence>,
    way: Way,
    target: PathBuf,
    /// The target path as the caller wrote it, for errors.
    path: PathBuf,
    is_durable: bool,
    /// Checked before the target gets its new content or loses its old content.
    permit: Option<Permit>,
}

/// The sequential writes to a file whose length is not known: the bytes written, and the length for which disk space is
/// reserved.
#[derive(Debug, Default)]
struct Sequence {
    written: u64,
    reserved: u64,
}

#[cfg(not(target_os = "linux"))]
fn is_on_disk_with(_: &File, _: u64) -> bool {
    false // nothing is reserved on other systems
}

impl Sequence {
    /// Reserves disk space for `count` more bytes, and in a long file for as many again as it then has, up to
    /// [`MAX_AHEAD`]. Does nothing while an earlier reservation is enough, and stops on a disk that is nearly full.
    fn make_room(&mut self, file: &File, count: usize) {
        let end = self.written.saturating_add(count as u64);
        if end >= LONG && end > self.reserved {
            let room = end.saturating_add(end.min(MAX_AHEAD));
            let is_reserved = is_on_disk_with(file, room.saturating_mul(SPARE)) && file.reserve(room).is_ok();
            self.reserved = if is_reserved { room } else { u64::MAX }; // writing finds a lack of space
        }
    }
}

/// The way in which the target receives its new content.
#[derive(Debug)]
enum Way {
    /// The file with this name is renamed.
    Rename(PathBuf),
    /// The target is overwritten. If that fails, a file that existed before remains, but empty; a new one is removed.
    InPlace { was_there: bool },
    /// The target has its new content: nothing is left to remove.
    Done,
}

impl Replacement {
    /// Creates a file beside `path`, with the permissions of an existing file at `path`; in place, opens that file.
    /// Symbolic links are followed: their target is replaced, not the link.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`.
    pub(crate) fn create(path: &Path, options: &SaveOptions) -> Result<Self> {
        let created = if options.is_in_place() { open_in_place(path) } else { create_beside(path) };
        match created {
            Ok((file, way, target)) => Ok(Self {
                file: Some(file),
                waiting: Mutex::new(matches!(way, Way::InPlace { .. }).then_some(0)),
                memory: OnceLock::new(),
                sequence: Mutex::default(),
                way,
                target,
                path: path.to_owned(),
                is_durable: options.is_durable(),
                permit: None,
            }),
            Err(source) => Err(Error::io(path, source)),
        }
    }

    /// Checks a permit before the target is replaced or, in place, before its old content is discarded. In place, two
    /// replacements with a permit never write to a file at the same time.
    pub(crate) fn with_permit(mut self, permit: Permit) -> Self {
        self.permit = Some(permit);
        self
    }

    /// Truncates or zero-extends the written bytes to `length` bytes. Does nothing if nothing has been written.
    pub(crate) fn set_written(&self, length: u64) -> io::Result<()> {
        if self.waiting().is_some() { Ok(()) } else { self.begun()?.set_len(length) }
    }

    fn waiting(&self) -> MutexGuard<'_, Option<u64>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the target is overwritten in place and still has its old content.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting().is_some()
    }

    /// Returns whether the target is overwritten in place and is the file `other`.
    pub(crate) fn overwrites(&self, other: &File, path: &Path) -> bool {
        match (&self.way, &self.file) {
            (Way::InPlace { .. }, Some(file)) => are_one(file, &self.target, other, path),
            _ => false,
        }
    }

    /// Returns the new file for writing; in place, discards the old content first.
    pub(crate) fn begun(&self) -> io::Result<&File> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::BrokenPipe)?; // committed already
        let mut waiting = self.waiting();
        if let Some(room) = *waiting {
            let _permitted = self.permitted().map_err(|error| self.plain(error))?;
            file.set_len(0)?;
            *waiting = None;
            let _ = file.reserve(room); // the old content is lost anyway: a lack of space is found by writing
        }
        Ok(file)
    }

    /// Returns the target path as the caller wrote it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in place. If the save is durable, its bytes and then its name are on disk when this returns.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; [`ErrorKind::RenameUnsupported`]. The target is unchanged, unless it is written in place, or
    /// its directory could not be synchronized.
    pub(crate) fn commit(mut self) -> Result<()> {
        let file = self.begun().map_err(|source| self.error(source))?; // the new content may be empty
        let Sequence { written, reserved } = *self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
        if reserved > written {
            let _ = file.metadata().and_then(|found| file.set_len(found.len())); // without it, the file takes more room
        }
        let directory = self.synchronise().map_err(|source| self.error(source))?;
        if let Way::Rename(temporary) = &self.way {
            let _permitted = self.permitted()?;
            if let (Some(file), true) = (&self.file, cfg!(windows)) {
                let _ = file.unlock(); // there, a lock would keep others from reading the file
            }
            fs::rename(temporary, &self.target).map_err(|source| match source.kind() {
                // Busy: a single mounted file, as in containers.
                io::ErrorKind::Unsupported | io::ErrorKind::CrossesDevices | io::ErrorKind::ResourceBusy => {
                    Error::new(ErrorKind::RenameUnsupported { source }).in_file(&self.path)
                }
                _ => self.error(source),
            })?;
        }
        self.file.take().iter().for_each(unlock);
        self.way = Way::Done;
        directory.map_or(Ok(()), |directory| synchronise_directory(&directory)).map_err(|source| self.error(source))
    }

    /// Flushes the bytes to disk. Returns the open directory, on systems where directories can be opened.
    fn synchronise(&self) -> io::Result<Option<File>> {
        match &self.file {
            Some(file) if self.is_durable => file.sync_all()?,
            _ => return Ok(None),
        }
        if cfg!(unix) { File::open(directory_of(&self.target)).map(Some) } else { Ok(None) }
    }

    /// Checks whether the target may be replaced.
    ///
    /// # Errors
    /// The errors of the permit; in place, [`ErrorKind::Io`] if another replacement with a permit is writing to the
    /// target.
    fn permitted(&self) -> Result<Option<LockFile>> {
        let (Some(Permit(ask)), Some(file)) = (&self.permit, &self.file) else { return Ok(None) };
        if let (Way::InPlace { .. }, true) = (&self.way, cfg!(unix))
            && matches!(try_lock(file), Holder::Other)
        {
            let reason = "another writer is writing the file";
            return Err(self.error(io::Error::new(io::ErrorKind::AlreadyExists, reason)));
        }
        ask()
    }

    /// Returns an error about the target without its path.
    fn plain(&self, error: Error) -> io::Error {
        match error.path() == Some(self.path.as_path()) && matches!(error.kind(), ErrorKind::Io { .. }) {
            true => match error.into_kind() {
                ErrorKind::Io { source } => source,
                other => io::Error::other(other),
            },
            false => io::Error::other(error),
        }
    }

    fn error(&self, source: io::Error) -> Error {
        Error::io(&self.path, source)
    }
}

impl Sink for Replacement {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let file = self.begun()?;
        match self.memory.get() {
            Some(memory) => memory.write_at(file, bytes, offset),
            None => file.write_at(bytes, offset),
        }
    }

    fn reserve(&self, length: u64) -> io::Result<()> {
        if let Some(room) = &mut *self.waiting() {
            *room = length;
            return Ok(());
        }
        self.begun()?.reserve(length)
    }

    fn begin(&self, length: u64) -> io::Result<()> {
        // A file that is overwritten in place has a name through which another program can find and truncate it.
        if let (Way::Rename(_), Some(file), None) = (&self.way, &self.file, self.memory.get())
            && let Some(memory) = MemoryFile::begin(file, length)?
        {
            self.memory.get_or_init(|| memory);
            return Ok(());
        }
        self.reserve(length)
    }

    fn is_parallel(&self) -> bool {
        self.memory.get().is_some()
    }
}

/// Writes sequentially, from the beginning of the file. Reserves disk space for long files, as [`Sink::begin`] does for
/// those whose length is known.
impl Write for &Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut file = self.begun()?;
        let mut sequence = self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
        sequence.make_room(file, bytes.len());
        let count = file.write(bytes)?;
        sequence.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.begun()?.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        let is_begun = self.waiting().is_none();
        let file = self.file.take().inspect(unlock);
        let useless = match &self.way {
            Way::Rename(temporary) => temporary,
            // The existing file may have become the file of another writer meanwhile.
            Way::InPlace { was_there: false } => {
                let is_empty = |file: &File| file.metadata().is_ok_and(|found| found.len() == 0);
                let is_mine = |file: &File| is_at(file, &self.target).unwrap_or(false) && (is_begun || is_empty(file));
                if !file.as_ref().is_some_and(is_mine) {
                    return;
                }
                &self.target
            }
            Way::Done => return,
            Way::InPlace { was_there: true } => {
                if let Some(file) = file.filter(|_| is_begun) {
                    let _ = file.set_len(0); // there is nowhere to report an error
                }
                return;
            }
        };
        drop(file); // some systems do not remove open files
        let _ = fs::remove_file(useless); // there is nowhere to report an error
    }
}

/// Returns whether a name is the name of a file that has not been renamed yet.
pub(super) fn is_temporary_name(name: &str) -> bool {
    let digits = name.strip_prefix('.').and_then(|name| name.strip_suffix(TEMPORARY_ENDING));
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Creates a file with a temporary name, locked, in the directory of the target.
fn create_beside(path: &Path) -> io::Result<(File, Way, PathBuf)> {
    let (target, permissions) = resolve(path)?;
    for _ in 0..NAME_LIMIT {
        let random = RandomState::new().hash_one(std::process::id());
        let temporary = directory_of(&target).join(format!(".{random:016x}{TEMPORARY_ENDING}"));
        let file = match create_new(&temporary, permissions.is_some()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(without_folder(error, &target)),
            Err(error) => return Err(error),
        };
        // From now on the lock marks the file as in use. Until then it may have been removed as a leftover.
        if matches!(try_lock(&file), Holder::Other) || !is_at(&file, &temporary).unwrap_or(true) {
            let _ = fs::remove_file(&temporary); // it may be there, or not
            continue;
        }
        if let Some(Err(error)) = permissions.map(|permissions| file.set_permissions(permissions)) {
            drop(file);
            let _ = fs::remove_file(&temporary); // the first failure is the error
            return Err(error);
        }
        return Ok((file, Way::Rename(temporary), target));
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no temporary name is free for the new file"))
}

/// Adds the folder to the error if the folder does not exist.
fn without_folder(error: io::Error, target: &Path) -> io::Error {
    let folder = directory_of(target);
    match folder.is_dir() {
        true => error,
        false => io::Error::new(error.kind(), format!("the folder {} does not exist", folder.display())),
    }
}

/// Opens the target itself.
fn open_in_place(path: &Path) -> io::Result<(File, Way, PathBuf)> {
    let (target, permissions) = resolve(path)?;
    let was_there = permissions.is_some();
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&target)?;
    Ok((file, Way::InPlace { was_there }, target))
}

/// Follows symbolic links. Returns the file to replace, and its permissions if it exists.
fn resolve(path: &Path) -> io::Result<(PathBuf, Option<Permissions>)> {
    let mut target = path.to_owned();
    for _ in 0..LINK_LIMIT {
        match fs::symlink_metadata(&target) {
            Ok(found) if found.is_symlink() => target = directory_of(&target).join(fs::read_link(&target)?),
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if found.is_file() => return Ok((target, Some(found.permissions()))),
            Ok(_) => return Err(not_a_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && names_a_file(&target) => {
                return Ok((target, None));
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Returns whether the path can name a file: it has a last component and does not end with a separator.
fn names_a_file(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    path.file_name().is_some() && last.is_some_and(|&byte| !std::path::is_separator(byte.into()))
}

/// Returns whether two open files are the same file.
#[cfg(unix)]
fn are_one(file: &File, _: &Path, other: &File, _: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |file: &File| file.metadata().map(|found| (found.dev(), found.ino()));
    matches!((place(file), place(other)), (Ok(mine), Ok(theirs)) if mine == theirs)
}

#[cfg(not(unix))]
fn are_one(_: &File, path: &Path, _: &File, other: &Path) -> bool {
    matches!((fs::canonicalize(path), fs::canonicalize(other)), (Ok(mine), Ok(theirs)) if mine == theirs)
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Flushes the names in an open directory to disk.
fn synchronise_directory(directory: &File) -> io::Result<()> {
    match directory.sync_all() {
        // Some file systems cannot synchronize a directory.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synchronised => synchronised,
    }
}

/// Creates a folder and those that contain it, if they do not exist. With `is_durable`, their names are on disk when
/// this returns.
pub(crate) fn create_folder(folder: &Path, is_durable: bool) -> io::Result<()> {
    let is_new =
        |folder: &&Path| fs::symlink_metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let new: Vec<&Path> =
        folder.ancestors().filter(|folder| !folder.as_os_str().is_empty()).take_while(is_new).collect();
    match fs::create_dir_all(folder) {
        // If it is there, but its state could not be read, that is the reason.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && fs::metadata(folder)?.is_dir() => {}
        created => created?,
    }
    if is_durable && cfg!(unix) {
        for folder in new {
            synchronise_directory(&File::open(directory_of(folder))?)?;
        }
    }
    Ok(())
}

/// Creates a file that must not exist yet. Only the owner can read a private file.
fn create_new(path: &Path, is_private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true); // a shared mapping needs both
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = is_private;
    options.open(path)
}

/// Replaces the file at `path`, all or nothing, by what is written to a file in the same folder.
///
/// # Errors
/// Those of `write`; [`ErrorKind::Io`](crate::ErrorKind::Io),
/// [`ErrorKind::RenameUnsupported`](crate::ErrorKind::RenameUnsupported).
pub fn replace_file(path: &Path, write: impl FnOnce(&mut (dyn io::Write + Send)) -> Result<()>) -> Result<()> {
    let options = SaveOptions::new();
    replace(path, &options, |new| {
        let mut writer = io::BufWriter::new(new);
        write(&mut writer)?;
        io::Write::flush(&mut writer).map_err(|source| Error::io(path, source))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_while_writing_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.ntb");
        let result = std::panic::catch_unwind(|| replace(&path, &SaveOptions::new(), |_| panic!("half-way")));
        assert!(result.is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
