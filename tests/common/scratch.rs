//! A place for the files of tests that count memory. Who uses it compiles it for itself, as the allocator that counts.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time, since all share the counts; and the name of a file in a folder that goes away.
pub(crate) struct Scratch {
    pub(crate) path: PathBuf,
    _folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().join("file"), _folder: folder, _alone: alone }
    }
}
