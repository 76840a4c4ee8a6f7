//! Memory-mapped files as arrays.

use std::fs::File;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use crate::array::Array;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// A memory-mapped file that owns the memory of an array of bytes.
struct Mapped(Mmap);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Maps the first `length` bytes of a file for reading. The array begins at a page boundary, so bytes have the same
/// alignment in memory as in the file.
///
/// # Errors
/// [`ErrorKind::Io`] with `path`.
///
/// # Safety
/// The file has at least `length` bytes, and is neither written to nor truncated while the array, or any array that
/// shares its memory, is alive.
pub(crate) unsafe fn map_file(file: &File, path: &Path, length: usize) -> Result<Array<u8>> {
    // SAFETY: the caller's promise.
    match unsafe { MmapOptions::new().len(length).map(file) } {
        Ok(map) => Ok(Array::from_owner(Mapped(map))),
        Err(source) => Err(Error::io(path, source)),
    }
}
