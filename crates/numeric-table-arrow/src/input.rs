//! The bytes of a file, read at any position by several threads.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use numeric_table::{Error, Result};

/// The bytes of a file.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    File { file: Arc<File>, length: u64 },
    Bytes(Bytes),
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](numeric_table::ErrorKind::Io).
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = |source| Error::io(path, source);
        let check = |found: std::fs::Metadata| match found.is_file() {
            true => Ok(found.len()),
            false => Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))),
        };
        // Opening a pipe would wait for another program.
        check(std::fs::metadata(path).map_err(failed)?)?;
        let file = File::open(path).map_err(failed)?;
        let length = check(file.metadata().map_err(failed)?)?;
        Ok(Self::File { file: Arc::new(file), length })
    }

    /// Returns the number of bytes.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::File { length, .. } => *length,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Reads `length` bytes.
    pub(crate) fn bytes_at(&self, start: u64, length: usize) -> io::Result<Bytes> {
        self.check(start, length)?;
        match self {
            Self::Bytes(bytes) => Ok(bytes.slice(start as usize..start as usize + length)),
            Self::File { file, .. } => {
                let mut bytes = zeroed(length)?;
                read_exact_at(file, &mut bytes, start)?;
                Ok(bytes.into())
            }
        }
    }

    /// Reads bytes into memory of the caller.
    pub(crate) fn read_at(&self, start: u64, target: &mut [u8]) -> io::Result<()> {
        self.check(start, target.len())?;
        match self {
            Self::Bytes(bytes) => target.copy_from_slice(&bytes[start as usize..start as usize + target.len()]),
            Self::File { file, .. } => read_exact_at(file, target, start)?,
        }
        Ok(())
    }

    /// Checks that bytes are in the file.
    pub(crate) fn check(&self, start: u64, length: usize) -> io::Result<()> {
        let end = start.checked_add(length as u64).filter(|&end| end <= self.length());
        if end.is_none() {
            let reason = format!("{length} bytes at {start} are expected in a file of {} bytes", self.length());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
        }
        Ok(())
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

/// Reads one at a time: threads share the position of a file.
#[cfg(not(unix))]
fn read_exact_at(mut file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    use std::sync::{Mutex, PoisonError};
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

/// Returns `length` zero bytes.
///
/// # Errors
/// [`io::ErrorKind::OutOfMemory`].
pub(crate) fn zeroed(length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(length, 0);
    Ok(bytes)
}
