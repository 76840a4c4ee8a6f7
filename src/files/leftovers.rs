//! Files that programs have left which ended in the middle of writing: listed, and removed.
//!
//! A new file has a temporary name until it is whole, and a manifest that is written has a file beside it that is
//! locked. A program that uses one of them holds its lock, which the system ends with the program; so a file without a
//! lock is not in use.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::lock::{Holder, is_at, try_lock, unlock};
use super::replace::is_temporary_name;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// What the name of the lock of a manifest ends with.
pub(crate) const LOCK_ENDING: &str = ".lock";

/// A file that a program has left in a folder, and no program uses: a table, a manifest, a `.npy` or CSV file that was
/// not completed, or the lock of a manifest. See [`leftovers`].
///
/// # Examples
/// ```
/// use numeric_table::files;
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join(".0123456789abcdef.ntb.tmp"), [0; 100])?; // as a killed program leaves it
/// for left in files::leftovers(folder)? {
///     println!("{}: {} bytes of {:?}", left.path().display(), left.size_in_bytes(), left.modified());
///     assert!(left.remove()?);
/// }
/// assert_eq!(std::fs::read_dir(folder)?.count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "the file stays on the disk until it is removed"]
pub struct Leftover {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Leftover {
    /// Borrows the path of the file: that of the folder, and its name.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join(".0123456789abcdef.ntb.tmp");
    /// std::fs::write(&path, [0; 100])?;
    /// assert_eq!(numeric_table::files::leftovers(folder.path())?[0].path(), path);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of the file in bytes, as it was when it was listed.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join(".0123456789abcdef.ntb.tmp"), [0; 100])?;
    /// assert_eq!(numeric_table::files::leftovers(folder.path())?[0].size_in_bytes(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn size_in_bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns when the file was written to for the last time, if the system knows.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join(".0123456789abcdef.ntb.tmp"), [0; 100])?;
    /// let left = &numeric_table::files::leftovers(folder.path())?[0];
    /// assert!(left.modified().is_some_and(|time| time.elapsed().is_ok_and(|age| age.as_secs() < 3600)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Removes the file, unless a program uses it by now: the lock of a manifest can be taken again. Returns whether it
    /// was removed; `false` also if it was gone.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with the path.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join(".shards.ntm.lock"), "")?;
    /// let left = numeric_table::files::leftovers(folder.path())?.remove(0);
    /// assert!(left.clone().remove()?);
    /// assert!(!left.remove()?); // it is gone
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove(self) -> Result<bool> {
        let removed = unused(&self.path).and_then(|file| match file {
            Some(_unused) => match fs::remove_file(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                removed => removed.map(|()| true),
            },
            None => Ok(false),
        });
        removed.map_err(|source| Error::io(self.path, source))
    }
}

/// Lists what programs have left in a folder that were killed, or lost their machine, while they wrote into it, in the
/// order of the names. Folders in it are not looked into.
///
/// These are new files with temporary names (`.<16 hexadecimal digits>.ntb.tmp`), which a table file, a manifest, and a
/// `.npy`, `.npz`, CSV, svmlight or MatrixMarket file has until it is whole; and locks of manifests
/// (`.<name>.ntm.lock`). They take room, and do no other harm. Files that were completed are not among them, whether a
/// manifest lists them or not: see [`ShardsWriter::resume`](crate::ShardsWriter::resume). Nor are files that were
/// written [in place](crate::SaveOptions::in_place).
///
/// **What a program uses is not listed**, and not removed: as long as it is alive, it holds the system's lock on the
/// file (`flock`), which ends with it. So neither the age of a file nor the number of a process matters, and a program
/// in another container of the same machine counts. A new file can be listed in the moment before its writer locks it;
/// if it is removed then, the writer makes another one. On a network file system this holds among machines whose locks
/// are shared (NFS does so, unless it is mounted with `local_lock`): otherwise call it where the programs run. If a
/// file is removed all the same, the save that was writing it is an error, and nothing is replaced.
///
/// # Errors
/// [`ErrorKind::Io`] with the folder; with a file that cannot be opened; with a file on a file system without locks,
/// where nothing can be known.
///
/// # Examples
/// ```
/// use numeric_table::{TableWriter, files};
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let writer = TableWriter::<f32>::create(folder.join("table.ntb"), 2, None)?;
/// std::fs::write(folder.join(".0123456789abcdef.ntb.tmp"), [0; 100])?; // as a killed program leaves it
/// let left = files::leftovers(folder)?;
/// assert_eq!(left.len(), 1); // not that of `writer`, which is in use
/// assert!(left.into_iter().try_fold(true, |all, left| Ok::<_, numeric_table::Error>(all & left.remove()?))?);
/// writer.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn leftovers(folder: impl AsRef<Path>) -> Result<Vec<Leftover>> {
    let folder = folder.as_ref();
    let in_folder = |source| Error::io(folder, source);
    let mut found = Vec::new();
    for item in fs::read_dir(folder).map_err(in_folder)? {
        let name = item.map_err(in_folder)?.file_name();
        if !name.to_str().is_some_and(|name| is_temporary_name(name) || is_lock_name(name)) {
            continue;
        }
        let path = folder.join(name);
        match look(&path) {
            Ok(Some((bytes, modified))) => {
                found.try_reserve(1).map_err(|_| Error::out_of_memory(size_of::<Leftover>()))?;
                found.push(Leftover { path, bytes, modified });
            }
            Ok(None) => {}
            Err(source) => return Err(Error::io(path, source)),
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn is_lock_name(name: &str) -> bool {
    name.starts_with('.') && name.strip_suffix(LOCK_ENDING).is_some_and(|name| name.ends_with(".ntm"))
}

/// Returns the size of an unused file, and when it was written; `None` if it is in use, gone, or not a file of this
/// library.
fn look(path: &Path) -> io::Result<Option<(u64, Option<SystemTime>)>> {
    let Some(unused) = unused(path)? else { return Ok(None) };
    let found = unused.0.metadata()?;
    Ok(Some((found.len(), found.modified().ok())))
}

/// A file that no program uses, locked until this is dropped.
struct Unused(File);

impl Drop for Unused {
    fn drop(&mut self) {
        unlock(&self.0);
    }
}

/// Opens a file and locks it, if no program uses it.
fn unused(path: &Path) -> io::Result<Option<Unused>> {
    let gone = |error: io::Error| if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) };
    match fs::symlink_metadata(path) {
        // Before opening: opening a pipe would wait for a writer. Locks are empty.
        Ok(found) if found.is_file() && (found.len() == 0 || !path.to_string_lossy().ends_with(LOCK_ENDING)) => {}
        Ok(_) => return Ok(None),
        Err(error) => return gone(error),
    }
    // Network file systems lock files only that are open for writing.
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let file = match opened.or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => File::open(path),
        _ => Err(error),
    }) {
        Ok(file) => file,
        Err(error) => return gone(error),
    };
    match try_lock(&file) {
        // It may have got its name, or have been removed, before it was locked here.
        Holder::Mine => {
            let unused = Unused(file);
            Ok(is_at(&unused.0, path)?.then_some(unused))
        }
        Holder::Other => Ok(None),
        Holder::Unknown(error) => {
            let reason = format!("the file cannot be locked, so that nothing says whether a program uses it: {error}");
            Err(io::Error::new(error.kind(), reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use crate::files::lock::LockFile;

    #[test]
    fn a_lock_is_left_only_if_nobody_holds_it_or_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".shards.ntm.lock");
        fs::write(&path, "").unwrap(); // of a killed program
        let left = leftovers(folder.path()).unwrap();
        assert_eq!((left.len(), left[0].path()), (1, &*path));
        let held = LockFile::wait(path.clone()).unwrap();
        assert!(leftovers(folder.path()).unwrap().is_empty());
        assert!(!left[0].clone().remove().unwrap()); // it is in use again
        assert!(path.exists());
        drop(held);
        assert!(!path.exists() || cfg!(not(unix)));
    }

    #[test]
    #[cfg(unix)]
    fn a_lock_that_is_a_link_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".shards.ntm.lock");
        for target in ["elsewhere", "nothing"] {
            fs::write(folder.path().join("elsewhere"), "").unwrap();
            std::os::unix::fs::symlink(target, &path).unwrap();
            let error = LockFile::wait(path.clone()).unwrap_err();
            assert!(error.path() == Some(path.as_path()) && matches!(error.kind(), ErrorKind::Io { .. }), "{error}");
            assert!(leftovers(folder.path()).unwrap().is_empty());
            fs::remove_file(&path).unwrap();
        }
        assert!(!folder.path().join("nothing").exists());
    }

    #[test]
    fn locks_that_are_removed_while_others_wait_are_held_by_one_at_a_time() {
        use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".shards.ntm.lock");
        let (holders, removed, ended) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let _held = LockFile::wait(path.clone()).unwrap();
                        assert_eq!(holders.fetch_add(1, SeqCst), 0);
                        std::thread::yield_now();
                        holders.fetch_sub(1, SeqCst);
                    }
                    ended.fetch_add(1, SeqCst);
                });
            }
            scope.spawn(|| {
                while ended.load(SeqCst) < 4 {
                    let _ = fs::OpenOptions::new().write(true).create_new(true).open(&path); // as if one was killed
                    for left in leftovers(folder.path()).unwrap() {
                        removed.fetch_add(usize::from(left.remove().unwrap()), SeqCst);
                    }
                }
            });
        });
        assert!(removed.into_inner() > 0, "none was removed while others waited");
    }
}
