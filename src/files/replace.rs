//! Putting a file in the place of another, whole or not at all.
//!
//! The new file is written under a name of its own in the same directory, so that renaming it over the target is one
//! step for everybody who looks. Until then the target is untouched; if that step is never reached, the new file goes.
//!
//! Where that cannot be done, a caller may ask for writing over the old file, which is neither whole nor lost at once. It
//! is emptied when the first byte is to be written, so that what is refused before that changes nothing either.

use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::open::not_a_file;
use super::options::SaveOptions;
use super::position::Sink;
use crate::base::error::{Error, Result};

/// How many symbolic links lead on from each other, at most.
const LINK_LIMIT: usize = 40;
/// How many names are tried before giving up.
const NAME_LIMIT: usize = 100;

/// Puts a file that `write` writes in the place of the one at `path`. If that fails, nothing has changed, unless the
/// options ask for writing in place and something has been written.
///
/// # Errors
/// Those of `write`, [`Replacement::create`] and [`Replacement::commit`].
pub(crate) fn replace(
    path: &Path,
    options: &SaveOptions,
    write: impl FnOnce(&Replacement) -> Result<()>,
) -> Result<()> {
    let new = Replacement::create(path, options)?;
    write(&new)?;
    new.commit()
}

/// A new file that is not yet in its place; or, in place, one that is not yet complete. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Replacement {
    /// `None` once it is complete, or closed in order to be removed.
    file: Option<File>,
    /// In place, as long as nothing has been written and the file has its old content: for how many bytes to reserve room
    /// when that goes.
    waiting: Mutex<Option<u64>>,
    way: Way,
    target: PathBuf,
    /// What the caller called the target: for errors.
    path: PathBuf,
    is_durable: bool,
}

/// How the target gets its new content.
#[derive(Debug)]
enum Way {
    /// The file under this name is renamed.
    Rename(PathBuf),
    /// It is written over. If that fails, a file that was there before stays, empty; one that was not, goes.
    InPlace { was_there: bool },
    /// It has got it: nothing is left to be removed.
    Done,
}

impl Replacement {
    /// Creates a file beside `path`, with the permissions of the file that is there, if one is; or opens that one, in
    /// place. Symbolic links are followed: what they lead to is replaced, not the link.
    ///
    /// # Errors
    /// [`Error::Io`] with `path`.
    pub(crate) fn create(path: &Path, options: &SaveOptions) -> Result<Self> {
        let created = if options.is_in_place() { open_in_place(path) } else { create_beside(path) };
        match created {
            Ok((file, way, target)) => Ok(Self {
                file: Some(file),
                waiting: Mutex::new(matches!(way, Way::InPlace { .. }).then_some(0)),
                way,
                target,
                path: path.to_owned(),
                is_durable: options.is_durable(),
            }),
            Err(source) => Err(Error::Io { path: path.to_owned(), source }),
        }
    }

    /// Makes what has been written so long: cuts off what lies behind, or adds zeros. Nothing happens if nothing has been
    /// written.
    pub(crate) fn set_written(&self, length: u64) -> io::Result<()> {
        if self.waiting().is_some() { Ok(()) } else { self.begun()?.set_len(length) }
    }

    fn waiting(&self) -> MutexGuard<'_, Option<u64>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The new file, without the old content: something is to be written now.
    fn begun(&self) -> io::Result<&File> {
        let file = self.file.as_ref().ok_or(ErrorKind::BrokenPipe)?; // it is in its place already
        let mut waiting = self.waiting();
        if let Some(room) = *waiting {
            file.set_len(0)?;
            *waiting = None;
            let _ = file.reserve(room); // the old content is gone: what there is no room for is found out by writing it
        }
        Ok(file)
    }

    /// What the caller called the target.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in its place. If the save is to be durable, its bytes and then its name are on the disk when this
    /// returns.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::RenameUnsupported`]. The target is as it was, unless it is written in place, or its directory
    /// could not be synchronised.
    pub(crate) fn commit(mut self) -> Result<()> {
        self.begun().map_err(|source| self.error(source))?; // the new content may be none at all
        let directory = self.synchronise().map_err(|source| self.error(source))?;
        if let Way::Rename(temporary) = &self.way {
            fs::rename(temporary, &self.target).map_err(|source| match source.kind() {
                // Busy: a single file that is mounted, as into containers.
                ErrorKind::Unsupported | ErrorKind::CrossesDevices | ErrorKind::ResourceBusy => {
                    Error::RenameUnsupported { path: self.path.clone(), source }
                }
                _ => self.error(source),
            })?;
        }
        self.file = None;
        self.way = Way::Done;
        match directory.map(|directory| directory.sync_all()) {
            // Some file systems have no such thing as synchronising a directory.
            Some(Err(source)) if !matches!(source.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
                Err(self.error(source))
            }
            _ => Ok(()),
        }
    }

    /// Brings the bytes to the disk; returns the open directory, where directories can be opened.
    fn synchronise(&self) -> io::Result<Option<File>> {
        match &self.file {
            Some(file) if self.is_durable => file.sync_all()?,
            _ => return Ok(None),
        }
        if cfg!(unix) { File::open(directory_of(&self.target)).map(Some) } else { Ok(None) }
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Io { path: self.path.clone(), source }
    }
}

impl Sink for Replacement {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.begun()?.write_at(bytes, offset)
    }

    fn reserve(&self, length: u64) -> io::Result<()> {
        if let Some(room) = &mut *self.waiting() {
            *room = length;
            return Ok(());
        }
        self.begun()?.reserve(length)
    }
}

/// From the beginning to the end.
impl Write for &Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.begun()?.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        let is_begun = self.waiting().is_none();
        let file = self.file.take();
        let useless = match &self.way {
            Way::Rename(temporary) => temporary,
            Way::InPlace { was_there: false } => &self.target,
            Way::Done => return,
            Way::InPlace { was_there: true } => {
                if let Some(file) = file.filter(|_| is_begun) {
                    let _ = file.set_len(0); // nobody is left to tell
                }
                return;
            }
        };
        drop(file); // some systems do not remove open files
        let _ = fs::remove_file(useless); // nobody is left to tell
    }
}

/// Creates a file under a name of its own.
fn create_beside(path: &Path) -> io::Result<(File, Way, PathBuf)> {
    let (target, permissions) = resolve(path)?;
    for _ in 0..NAME_LIMIT {
        let random = RandomState::new().hash_one(std::process::id());
        let temporary = directory_of(&target).join(format!(".{random:016x}.ntb.tmp"));
        let file = match create_new(&temporary, permissions.is_some()) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        if let Some(Err(error)) = permissions.map(|permissions| file.set_permissions(permissions)) {
            drop(file);
            let _ = fs::remove_file(&temporary); // what failed before it is the error
            return Err(error);
        }
        return Ok((file, Way::Rename(temporary), target));
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "no name is free for the new file"))
}

/// Opens the target itself.
fn open_in_place(path: &Path) -> io::Result<(File, Way, PathBuf)> {
    let (target, permissions) = resolve(path)?;
    let was_there = permissions.is_some();
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&target)?;
    Ok((file, Way::InPlace { was_there }, target))
}

/// Follows symbolic links; returns the file that is to be replaced, and its permissions if it exists.
fn resolve(path: &Path) -> io::Result<(PathBuf, Option<Permissions>)> {
    let mut target = path.to_owned();
    for _ in 0..LINK_LIMIT {
        match fs::symlink_metadata(&target) {
            Ok(found) if found.is_symlink() => target = directory_of(&target).join(fs::read_link(&target)?),
            Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(found) if found.is_file() => return Ok((target, Some(found.permissions()))),
            Ok(_) => return Err(not_a_file()),
            Err(error) if error.kind() == ErrorKind::NotFound && names_a_file(&target) => return Ok((target, None)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Returns whether a file can have this name: there is one, and nothing says that it is a folder's.
fn names_a_file(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    path.file_name().is_some() && last.is_some_and(|&byte| !std::path::is_separator(byte.into()))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates a file that is not there yet; a private one can be read by its owner only.
fn create_new(path: &Path, is_private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = is_private;
    options.open(path)
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
