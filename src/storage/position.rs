//! Reading and writing at positions of a file, which several threads can share.

use std::fs::File;
use std::io;

/// A destination of bytes.
pub(crate) trait Sink: Sync {
    /// Writes all bytes at a position.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Reserves disk space for a file of `length` bytes, on systems that can do that in one step. A lack of space is
    /// found before anything is written, and file systems with delayed allocation need not allocate hastily when the
    /// file is renamed (ext4 then writes at a third of the speed). On other systems, nothing happens.
    ///
    /// # Errors
    /// An error if there is not enough space.
    fn reserve(&self, length: u64) -> io::Result<()>;

    /// Begins a file that will have `length` bytes, all of them written, some by several threads at a time. Reserves
    /// disk space, or does another preparation that makes this fast.
    ///
    /// # Errors
    /// The errors of [`reserve`](Self::reserve).
    fn begin(&self, length: u64) -> io::Result<()> {
        self.reserve(length)
    }

    /// Returns whether several threads write faster than one. Most systems serialize writes to a file.
    fn is_parallel(&self) -> bool {
        false
    }
}

#[cfg(unix)]
impl Sink for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    fn reserve(&self, length: u64) -> io::Result<()> {
        reserve(self, length)
    }
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, length: u64) -> io::Result<()> {
    match super::system::allocate(file, length) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG)) => Err(error),
        _ => Ok(()), // some file systems do not support it, and an empty file has nothing to reserve
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn reserve(_file: &File, _length: u64) -> io::Result<()> {
    Ok(())
}

/// Copies bytes from one file to another inside the system. They do not pass through this program's memory, and some
/// file systems do not copy them either. Returns the number of bytes copied from the beginning: 0 if the system cannot
/// do it or the source ends.
///
/// # Errors
/// The errors of the system. Some systems and file systems refuse all such calls, or calls between two file systems.
#[cfg(target_os = "linux")]
pub(crate) fn copy_in_system(source: &File, from: u64, target: &File, to: u64, count: usize) -> io::Result<usize> {
    super::system::copy_file_range(source, from, target, to, count)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn copy_in_system(_: &File, _: u64, _: &File, _: u64, _: usize) -> io::Result<usize> {
    Ok(0)
}

/// Fills a buffer from a position. Fails with [`io::ErrorKind::UnexpectedEof`] if the file ends too early.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// For systems where a file has a single, shared position: one thread at a time.
#[cfg(not(unix))]
mod seeking {
    use std::io::{Read, Seek, SeekFrom, Write};
    use std::sync::{Mutex, PoisonError};

    use super::*;

    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    impl Sink for File {
        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
            let mut file = self;
            file.seek(SeekFrom::Start(offset))?;
            file.write_all(bytes)
        }

        fn reserve(&self, _length: u64) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}
#[cfg(not(unix))]
pub(crate) use seeking::read_at;
