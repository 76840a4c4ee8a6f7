//! One test at a time, and a place for its files.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by a test while it runs, since all share the counts.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock of [`alone`], and the name of a file in a folder that goes away.
pub(crate) struct Scratch {
    pub(crate) path: PathBuf,
    _folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let alone = alone();
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().join("file"), _folder: folder, _alone: alone }
    }
}
