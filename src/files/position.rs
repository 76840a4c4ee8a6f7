//! Reading and writing files at positions, so that several threads can share one.

use std::fs::File;
use std::io;

/// Something that bytes are written to.
pub(crate) trait Sink: Sync {
    /// Writes all bytes at a position, or fails.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Reserves room for a file of so many bytes, where that can be done at once: a full disk is found out before it is
    /// full, and file systems that choose places late need not choose in a hurry when the file is renamed (ext4 then
    /// writes at a third of the speed). Where it cannot be done, nothing happens.
    ///
    /// # Errors
    /// Those that say that there will be no such room.
    fn reserve(&self, length: u64) -> io::Result<()>;
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
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, length) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
        _ => Ok(()), // there are file systems without it, and an empty file has nothing to reserve
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn reserve(_file: &File, _length: u64) -> io::Result<()> {
    Ok(())
}

/// Fills a buffer from a position on. The file ending before that is [`io::ErrorKind::UnexpectedEof`].
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Machines that only have a common position: one thread at a time.
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
