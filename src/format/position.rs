//! Reading and writing files at positions, so that several threads can share one.

use std::fs::File;
use std::io;

/// Something that bytes are written to.
pub(super) trait Sink: Sync {
    /// Writes all bytes at a position, or fails.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

#[cfg(unix)]
impl Sink for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }
}

/// Fills a buffer from a position on. The file ending before that is [`io::ErrorKind::UnexpectedEof`].
#[cfg(unix)]
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
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
    }

    pub(in super::super) fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}
#[cfg(not(unix))]
pub(super) use seeking::read_at;
