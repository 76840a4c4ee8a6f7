//! Putting a file in the place of another, whole or not at all.
//!
//! The new file is written under a name of its own in the same directory, so that renaming it over the target is one
//! step for everybody who looks. Until then the target is untouched; if that step is never reached, the new file goes.

use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// How many symbolic links lead on from each other, at most.
const LINK_LIMIT: usize = 40;
/// How many names are tried before giving up.
const NAME_LIMIT: usize = 100;

/// Puts a file that `write` writes in the place of the one at `path`. If that fails, nothing has changed.
///
/// # Errors
/// Those of `write`, [`Replacement::create`] and [`Replacement::commit`].
pub(super) fn replace(path: &Path, is_durable: bool, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    let new = Replacement::create(path)?;
    write(new.file()?)?;
    new.commit(is_durable)
}

/// A new file that is not yet in its place. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Replacement {
    /// `None` once it is in its place, or closed in order to be removed.
    file: Option<File>,
    temporary: PathBuf,
    target: PathBuf,
    /// What the caller called the target: for errors.
    path: PathBuf,
}

impl Replacement {
    /// Creates a file beside `path`, with the permissions of the file that is there, if one is. Symbolic links are
    /// followed: what they lead to is replaced, not the link.
    ///
    /// # Errors
    /// [`Error::Io`] with `path`.
    pub(super) fn create(path: &Path) -> Result<Self> {
        Self::try_create(path).map_err(|source| Error::Io { path: path.to_owned(), source })
    }

    fn try_create(path: &Path) -> io::Result<Self> {
        let (target, permissions) = resolve(path)?;
        for _ in 0..NAME_LIMIT {
            let random = RandomState::new().hash_one(std::process::id());
            let temporary = directory_of(&target).join(format!(".{random:016x}.ntb.tmp"));
            match create_new(&temporary, permissions.is_some()) {
                Ok(file) => {
                    let new = Self { file: Some(file), temporary, target, path: path.to_owned() };
                    if let (Some(file), Some(permissions)) = (&new.file, permissions) {
                        file.set_permissions(permissions)?;
                    }
                    return Ok(new);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(ErrorKind::AlreadyExists, "no name is free for the new file"))
    }

    /// The new file; fails only if it was put in its place already.
    pub(super) fn file(&self) -> Result<&File> {
        self.file.as_ref().ok_or_else(|| self.error(ErrorKind::BrokenPipe.into()))
    }

    /// What the caller called the target.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in its place. If `is_durable`, its bytes and then its name are on the disk when this returns.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::RenameUnsupported`]. The target is as it was, unless its directory could not be synchronised.
    pub(super) fn commit(mut self, is_durable: bool) -> Result<()> {
        let directory = self.synchronise(is_durable).map_err(|source| self.error(source))?;
        fs::rename(&self.temporary, &self.target).map_err(|source| match source.kind() {
            ErrorKind::Unsupported | ErrorKind::CrossesDevices => {
                Error::RenameUnsupported { path: self.path.clone(), source }
            }
            _ => self.error(source),
        })?;
        self.file = None;
        self.temporary.clear();
        match directory.map(|directory| directory.sync_all()) {
            // Some file systems have no such thing as synchronising a directory.
            Some(Err(source)) if !matches!(source.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
                Err(self.error(source))
            }
            _ => Ok(()),
        }
    }

    /// Brings the bytes to the disk; gives the open directory, where directories can be opened.
    fn synchronise(&self, is_durable: bool) -> io::Result<Option<File>> {
        match &self.file {
            Some(file) if is_durable => file.sync_all()?,
            _ => return Ok(None),
        }
        if cfg!(unix) { File::open(directory_of(&self.target)).map(Some) } else { Ok(None) }
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Io { path: self.path.clone(), source }
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            self.file = None; // some systems do not remove open files
            let _ = fs::remove_file(&self.temporary); // nobody is left to tell
        }
    }
}

/// Follows symbolic links; gives the file that is to be replaced, and its permissions if it exists.
fn resolve(path: &Path) -> io::Result<(PathBuf, Option<Permissions>)> {
    let mut target = path.to_owned();
    for _ in 0..LINK_LIMIT {
        match fs::symlink_metadata(&target) {
            Ok(found) if found.is_symlink() => target = directory_of(&target).join(fs::read_link(&target)?),
            Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(found) if found.is_file() => return Ok((target, Some(found.permissions()))),
            Ok(_) => return Err(not_a_file()),
            Err(error) if error.kind() == ErrorKind::NotFound && target.file_name().is_some() => {
                return Ok((target, None));
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

pub(super) fn not_a_file() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "this is not a regular file")
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
