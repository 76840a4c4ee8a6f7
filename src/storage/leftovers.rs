//! Incomplete files left by interrupted programs: listing and removing them.
//!
//! A new file has a temporary name until it is complete, and a program that writes a manifest locks a file beside it. A
//! program that uses one of these files holds its lock, which the system releases when the program ends. A file without
//! a lock is therefore unused.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::lock::{Holder, is_at, try_lock, unlock};
use super::replace::is_temporary_name;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// The end of the name of a manifest's lock.
pub(crate) const LOCK_ENDING: &str = ".lock";

/// An unused file that a program has left in a folder: an incomplete table, manifest, `.npy` or CSV file, or the lock
/// of a manifest. See [`leftovers`].
///
/// # Examples
/// ```
/// use numeric_table::files;
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join(".0123456789abcdef.ntb.tmp"), [0; 100])?; // as left by a killed program
/// for left in files::leftovers(folder)? {
///     println!("{}: {} bytes of {:?}", left.path().display(), left.size_in_bytes(), left.modified());
///     assert!(left.remove()?);
/// }
/// assert_eq!(std::fs::read_dir(folder)?.count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "the file stays on disk until it is removed"]
pub struct Leftover {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Leftover {
    /// Borrows the path of the file: the path of the folder, followed by the name.
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

    /// Returns the size of the file in bytes at the time of listing.
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

    /// Returns the time of the last write, if the system knows it.
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

    /// Removes the file, unless a program has started to use it: a program can take the lock of a manifest again.
    /// Returns whether the file was removed; `false` also if it no longer existed.
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
    /// assert!(!left.remove()?); // already removed
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

/// Lists the files that were left in a folder by programs that were killed, or whose machine failed, while they wrote
/// into it. The list is sorted by name. Subfolders are not searched.
///
/// Leftovers are new files with temporary names (`.<16 hexadecimal digits>.ntb.tmp`) and locks of manifests
/// (`.<name>.ntm.lock`). Table files, manifests, and `.npy`, `.npz`, CSV, svmlight and MatrixMarket files have a
/// temporary name until they are complete. Leftovers take space but do no other harm. Completed files are not listed,
/// even if no manifest lists them: see [`ShardsWriter::resume`](crate::shards::ShardsWriter::resume). Neither are files
/// that were written [in place](crate::files::SaveOptions::in_place).
///
/// **Files in use are neither listed nor removed.** A program holds the system's lock on the file (`flock`) as long as
/// it is alive. Neither the age of a file nor process ids matter, and programs in other containers on the same machine
/// are recognized. A new file may be listed in the moment before its writer locks it; if it is removed then, the writer
/// creates another one. On a network file system, this holds among machines that share locks. NFS shares them unless it
/// is mounted with `local_lock`. Without shared locks, call this function on the machine where the programs run. If a
/// file in use is removed anyway, its save fails, and nothing is replaced.
///
/// # Errors
/// [`ErrorKind::Io`] with the folder; with a file that cannot be opened; with a file on a file system without locks,
/// where its use cannot be determined.
///
/// # Examples
/// ```
/// use numeric_table::files::{self, TableWriter};
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let writer = TableWriter::<f32>::create(folder.join("table.ntb"), 2, None)?;
/// std::fs::write(folder.join(".0123456789abcdef.ntb.tmp"), [0; 100])?; // as left by a killed program
/// let left = files::leftovers(folder)?;
/// assert_eq!(left.len(), 1); // the file of `writer` is in use
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

/// Returns the size of an unused file and the time of the last write; `None` if the file is in use, does not exist, or
/// does not belong to this library.
fn look(path: &Path) -> io::Result<Option<(u64, Option<SystemTime>)>> {
    let Some(unused) = unused(path)? else { return Ok(None) };
    let found = unused.0.metadata()?;
    Ok(Some((found.len(), found.modified().ok())))
}

/// An unused file. It is locked until this is dropped.
struct Unused(File);

impl Drop for Unused {
    fn drop(&mut self) {
        unlock(&self.0);
    }
}

/// Opens and locks a file if it is unused.
fn unused(path: &Path) -> io::Result<Option<Unused>> {
    let gone = |error: io::Error| if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) };
    match fs::symlink_metadata(path) {
        // Checked before opening, because opening a pipe would wait for a writer. Locks are empty.
        Ok(found) if found.is_file() && (found.len() == 0 || !path.to_string_lossy().ends_with(LOCK_ENDING)) => {}
        Ok(_) => return Ok(None),
        Err(error) => return gone(error),
    }
    // Network file systems lock only files that are open for writing.
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let file = match opened.or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => File::open(path),
        _ => Err(error),
    }) {
        Ok(file) => file,
        Err(error) => return gone(error),
    };
    match try_lock(&file) {
        // The file may have been renamed or removed before it was locked here.
        Holder::Mine => {
            let unused = Unused(file);
            Ok(is_at(&unused.0, path)?.then_some(unused))
        }
        Holder::Other => Ok(None),
        Holder::Unknown(error) => {
            let reason = format!("the file cannot be locked, so it is unknown whether a program uses it: {error}");
            Err(io::Error::new(error.kind(), reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use crate::storage::lock::LockFile;

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
                    for round in 0..20_000 {
                        if round >= 500 {
                            if removed.load(SeqCst) > 0 {
                                break;
                            }
                            // The system has not yet run the remover while the lock was free.
                            std::thread::sleep(std::time::Duration::from_millis(1));
                        }
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
