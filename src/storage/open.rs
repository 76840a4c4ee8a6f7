//! Opening regular files for reading, and errors with the file's path.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::position::read_at;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// Opens a regular file for reading. Returns the file and its length in bytes.
pub(crate) fn open_regular(path: &Path) -> io::Result<(File, u64)> {
    // Checked before opening, because opening a pipe would wait for a writer.
    let found = fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(not_a_file());
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

pub(super) fn not_a_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file")
}

/// Fills a buffer from `offset` in a file whose length has been checked before.
///
/// # Errors
/// [`ErrorKind::Io`]; [`ErrorKind::Format`] if the file has become shorter since then.
pub(crate) fn read(file: &File, path: &Path, buffer: &mut [u8], offset: u64) -> Result<()> {
    read_at(file, buffer, offset).map_err(|source| match source.kind() {
        io::ErrorKind::UnexpectedEof => {
            Error::format(offset, "the file became shorter while it was read").in_file(path)
        }
        _ => Error::io(path, source),
    })
}
