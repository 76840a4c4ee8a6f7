//! What the manifest at a path lists by now, and what that forbids: a file that is listed is not replaced, none is
//! dropped from the list, and none is added that is not the one that was looked at.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use super::entry::Check;
use super::manifest::{is_there, lock, set_with_room};
use super::names::{Folder, refused};
use super::{FILES_AT_ONCE, Shards};
use crate::base::error::{ErrorKind, Result};
use crate::base::parallel::in_order;
use crate::files::lock::{LockFile, means_no_locks};

/// The paths in a manifest, relative to its folder.
#[derive(Default)]
pub(super) struct Listed {
    manifest: Option<Shards>,
    paths: HashSet<String>,
}

impl Listed {
    /// Reads what the manifest at a path lists; without a manifest, nothing.
    ///
    /// # Errors
    /// Those of [`Shards::read_manifest`].
    pub(super) fn at(path: &Path, folder: &Folder) -> Result<Self> {
        let manifest = if is_there(path)? { Some(Shards::read_manifest(path)?) } else { None };
        let entries = manifest.iter().flat_map(|manifest| &manifest.entries);
        let mut paths = set_with_room(entries.clone().count())?;
        for entry in entries {
            paths.insert(folder.relative(&entry.path)?);
        }
        Ok(Self { manifest, paths })
    }

    /// Checks that all files that are listed are among others.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with the first one that is not.
    pub(super) fn check_kept(&self, paths: &[String], folder: &Folder) -> Result<()> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let mut known = set_with_room(paths.len())?;
        known.extend(paths.iter().map(String::as_str));
        for entry in &manifest.entries {
            if !known.contains(&*folder.relative(&entry.path)?) {
                let reason = "the manifest lists the file, and the table to be saved does not have it";
                return Err(refused(&entry.path, io::ErrorKind::AlreadyExists, reason));
            }
        }
        Ok(())
    }

    /// Compares those files of a table that are not listed yet with what is known of them. Those that are may be
    /// missing.
    ///
    /// # Errors
    /// Those of [`Shards::open_shard`].
    pub(super) fn check_new(&self, shards: &Shards, paths: &[String]) -> Result<()> {
        let new = paths.iter().enumerate().filter(|(_, path)| !self.paths.contains(*path)).map(|(shard, _)| shard);
        let work = shards.work_of(paths.len().saturating_sub(self.paths.len()), 0);
        in_order(new, work, FILES_AT_ONCE, |shard| shards.open_shard(shard, Check::Values), |_| Ok(()))
    }
}

/// Checks that the manifest at a path, if there is one, does not list a file beside it, and keeps manifests from being
/// written as long as what is returned exists.
///
/// A file system without locks cannot have a manifest written, so that there is nothing to keep back.
///
/// # Errors
/// [`ErrorKind::Io`] with the file, if it is listed; those of reading the manifest.
pub(super) fn keep_unlisted(manifest: &Path, file: &Path) -> Result<Option<LockFile>> {
    let folder = Folder::of(manifest)?;
    let locked = match lock(&folder.manifest) {
        Err(error) if matches!(error.kind(), ErrorKind::Io { source } if means_no_locks(source)) => None,
        locked => Some(locked?),
    };
    check_unlisted(manifest, &folder, file)?;
    Ok(locked)
}

/// Checks that the manifest at a path, if there is one, does not list a file.
///
/// # Errors
/// Those of [`keep_unlisted`].
pub(super) fn check_unlisted(manifest: &Path, folder: &Folder, file: &Path) -> Result<()> {
    match is_there(manifest)? && Listed::at(manifest, folder)?.paths.contains(&folder.relative(file)?) {
        true => Err(refused(file, io::ErrorKind::AlreadyExists, "the manifest lists the file, which is not replaced")),
        false => Ok(()),
    }
}
