//! System locks on files: the holder of a lock is alive.
//!
//! A lock belongs to an open file and ends when the file is unlocked or closed, also if a signal ends the program. (A
//! process that is forked meanwhile keeps the file open too: the lock lasts as long as either process lives.) The lock
//! shows whether a program is alive, without a process id, and in any container of the machine. On a file system
//! without locks, nothing is locked, and no file is considered unused.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// A file that exists while it is locked, so that others wait for it.
#[derive(Debug)]
#[must_use = "the lock ends when this is dropped"]
pub(crate) struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Creates the file and waits for its exclusive lock.
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

/// The maximum number of times that the previous holder removes the file that this thread has waited for.
const ROUNDS: usize = 10_000;

fn wait(path: &Path) -> io::Result<File> {
    for _ in 0..ROUNDS {
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the lock is a link or not a regular file: remove it",
            ));
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
    Err(io::Error::other("the lock file does not match its name: the file system does not keep the numbers of files"))
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Waiting programs check that the file still exists. On other systems, a file that is open elsewhere keeps its
        // name.
        if cfg!(unix) && is_at(&self.file, &self.path).is_ok_and(|is_there| is_there) {
            let _ = fs::remove_file(&self.path); // an empty file that stays does no harm
        }
        unlock(&self.file);
    }
}

/// The holder of the lock of an open file.
#[derive(Debug)]
pub(crate) enum Holder {
    /// This file has taken the lock.
    Mine,
    /// Another open file of this or another program holds it.
    Other,
    /// The system does not report it, for this reason.
    Unknown(io::Error),
}

/// Locks an open file until it is closed, unless another one holds the lock.
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

/// Unlocks a file that is about to be closed, because a process that was forked meanwhile has it open too.
pub(super) fn unlock(file: &File) {
    let _ = file.unlock(); // closing it is all that is left
}

/// Returns whether an error of locking a file means that the file system has no locks: `ENOSYS`, `EOPNOTSUPP`, or on
/// Linux `ENOLCK`, which NFS returns without a lock server.
pub(crate) fn means_no_locks(error: &io::Error) -> bool {
    #[cfg(target_os = "linux")]
    if error.raw_os_error() == Some(libc::ENOLCK) {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

/// Returns whether a path names an open file directly, not through a link.
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
