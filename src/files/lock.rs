//! Locks of the system on files: who holds one is alive.
//!
//! A lock belongs to an open file, and ends when that is unlocked or closed, also by a signal that ends the program. (A
//! process that is forked meanwhile keeps it open, too: what its parent locked is in use as long as one of them lives.)
//! So it says whether a program is alive, without its number, and from any container of the machine. Where a file
//! system has no locks, nothing is locked, and nothing is taken for dead.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// A file that exists while it is locked, for others to wait.
#[derive(Debug)]
#[must_use = "the lock ends when this is dropped"]
pub(crate) struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Creates the file, and waits until this holds its lock alone.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`.
    pub(crate) fn wait(path: PathBuf) -> Result<Self> {
        match wait(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(source) => Err(Error::io(path, source)),
        }
    }
}

/// How often the holder before may remove the file that this has waited for.
const ROUNDS: usize = 10_000;

fn wait(path: &Path) -> io::Result<File> {
    for _ in 0..ROUNDS {
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the lock is a link, or no file: remove it"));
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            locked => locked?,
        }
        if is_at(&file, path)? {
            return Ok(file);
        } // who held the lock before has removed the file: others lock a new one
    }
    Err(io::Error::other("the lock is not the file of its name: the file system gives files other numbers each time"))
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Those who wait look whether the file is still there. Elsewhere a file that others have open keeps its name.
        if cfg!(unix) && is_at(&self.file, &self.path).is_ok_and(|is_there| is_there) {
            let _ = fs::remove_file(&self.path); // an empty file that stays does no harm
        }
        unlock(&self.file);
    }
}

/// Who holds the lock of an open file.
#[derive(Debug)]
pub(crate) enum Holder {
    /// This file: no other one did.
    Mine,
    /// Another one, of this program or of any other.
    Other,
    /// The system does not say, for this reason.
    Unknown(io::Error),
}

/// Locks an open file if no other one does, until it is closed.
pub(crate) fn try_lock(file: &File) -> Holder {
    loop {
        return match file.try_lock() {
            Ok(()) => Holder::Mine,
            Err(TryLockError::WouldBlock) => Holder::Other,
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(TryLockError::Error(error)) => Holder::Unknown(error),
        };
    }
}

/// Ends the lock of a file that is about to be closed: a process that was forked meanwhile has it open too.
pub(super) fn unlock(file: &File) {
    let _ = file.unlock(); // closing it is all that is left
}

/// Returns whether an error of locking a file means that the file system has no locks: `ENOSYS` or `EOPNOTSUPP`, and on
/// Linux `ENOLCK`, which NFS returns where no lock server runs.
pub(crate) fn means_no_locks(error: &io::Error) -> bool {
    #[cfg(target_os = "linux")]
    if error.raw_os_error() == Some(libc::ENOLCK) {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

/// Returns whether a path is the name of an open file, and not a link to it.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let mine = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (mine.dev(), mine.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        found => found.map(|_| true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_file_system_without_a_lock_server_has_no_locks() {
        assert!(means_no_locks(&io::Error::from(io::ErrorKind::Unsupported)));
        assert!(!means_no_locks(&io::Error::from(io::ErrorKind::PermissionDenied)));
        #[cfg(target_os = "linux")]
        for (code, expected) in [(37, true), (95, true), (38, true), (13, false), (11, false)] {
            assert_eq!(means_no_locks(&io::Error::from_raw_os_error(code)), expected, "{code}");
        }
    }
}
