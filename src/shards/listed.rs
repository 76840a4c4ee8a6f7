//! The current content of a manifest, and the rules that follow from it: listed files are not replaced, no file is
//! dropped from the list, and a file is only added if it is the one that was opened.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use super::entry::Check;
use super::manifest::{is_there, lock, set_with_room};
use super::names::{Folder, refused};
use super::{FILES_AT_ONCE, Shards};
use crate::base::error::{ErrorKind, Result};
use crate::base::parallel::in_order;
use crate::storage::lock::{LockFile, means_no_locks};

/// The paths in a manifest, relative to its folder.
#[derive(Default)]
pub(super) struct Listed {
    manifest: Option<Shards>,
    paths: HashSet<String>,
}

impl Listed {
    /// Reads the paths that the manifest at `path` lists; none without a manifest.
    ///
    /// # Errors
    /// The errors of [`Shards::read_manifest`].
    pub(super) fn at(path: &Path, folder: &Folder) -> Result<Self> {
        let manifest = if is_there(path)? { Some(Shards::read_manifest(path)?) } else { None };
        let entries = manifest.iter().flat_map(|manifest| &manifest.entries);
        let mut paths = set_with_room(entries.clone().count())?;
        for entry in entries {
            paths.insert(folder.relative(&entry.path)?);
        }
        Ok(Self { manifest, paths })
    }

    /// Checks that `paths` contains all listed files.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with the first file that is missing.
    pub(super) fn check_kept(&self, paths: &[String], folder: &Folder) -> Result<()> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let mut known = set_with_room(paths.len())?;
        known.extend(paths.iter().map(String::as_str));
        for entry in &manifest.entries {
            if !known.contains(&*folder.relative(&entry.path)?) {
                let reason = "the manifest lists the file, but the table to save does not contain it";
                return Err(refused(&entry.path, io::ErrorKind::AlreadyExists, reason));
            }
        }
        Ok(())
    }

    /// Compares the files of a table that are not yet listed with their recorded data. Files that are listed may be
    /// missing.
    ///
    /// # Errors
    /// The errors of [`Shards::open_shard`].
    pub(super) fn check_new(&self, shards: &Shards, paths: &[String]) -> Result<()> {
        let new = paths.iter().enumerate().filter(|(_, path)| !self.paths.contains(*path)).map(|(shard, _)| shard);
        let work = shards.work_of(paths.len().saturating_sub(self.paths.len()), 0);
        in_order(new, work, FILES_AT_ONCE, |shard| shards.open_shard(shard, Check::Values), |_| Ok(()))
    }
}

/// Checks that the manifest, if it exists, does not list a file beside it. As long as the returned lock exists, no
/// manifest can be written.
///
/// On a file system without locks no manifest can be written, so no lock is needed.
///
/// # Errors
/// [`ErrorKind::Io`] with the file if it is listed; the errors of reading the manifest.
pub(super) fn keep_unlisted(manifest: &Path, file: &Path) -> Result<Option<LockFile>> {
    let folder = Folder::of(manifest)?;
    let locked = match lock(&folder.manifest) {
        Err(error) if matches!(error.kind(), ErrorKind::Io { source } if means_no_locks(source)) => None,
        locked => Some(locked?),
    };
    check_unlisted(manifest, &folder, file)?;
    Ok(locked)
}

/// Checks that the manifest at a path, if it exists, does not list a file.
///
/// # Errors
/// The errors of [`keep_unlisted`].
pub(super) fn check_unlisted(manifest: &Path, folder: &Folder, file: &Path) -> Result<()> {
    match is_there(manifest)? && Listed::at(manifest, folder)?.paths.contains(&folder.relative(file)?) {
        true => Err(refused(file, io::ErrorKind::AlreadyExists, "the manifest lists the file, so it is not replaced")),
        false => Ok(()),
    }
}
