//! Leftovers of interrupted programs, for every file format that this library writes.
//!
//! [`leftovers`] lists them. [How to write tables as many files](crate::guide::many_files) shows when to call it.

// Common code for all file formats: opening, replacing, parallel input and output, and checksums.
//
// * `open`, `position`: opening regular files, and reading and writing them at positions, from several threads;
// * `replace`, `options`: replacing a file atomically, and the caller's options; `lock`: whether a file is in use;
//   `leftovers`: unused files;
// * `output`: writing values in one pass, in parallel if there are many; `checksum`: checksums of values that are
//   written or read;
// * `stored`: a buffer for values in a file's element type; `byte_order`: byte order of values;
// * `map`: a file as an array; `memory_file`: a new in-memory file that several threads write to.
//
// Nothing here depends on tables or on a particular format. Formats are in `crate::format` and `crate::interop`; tables
// as values in the order of a file are in `crate::lines`.

#[forbid(unsafe_code)]
pub(crate) mod byte_order;
#[forbid(unsafe_code)]
pub(crate) mod checksum;
#[forbid(unsafe_code)]
mod leftovers;
#[forbid(unsafe_code)]
pub(crate) mod lock;
#[cfg(feature = "mmap")]
pub(crate) mod map;
#[cfg(all(feature = "mmap", target_os = "linux"))]
mod memory_file;
#[cfg(not(all(feature = "mmap", target_os = "linux")))]
#[forbid(unsafe_code)]
mod memory_file {
    //! Other systems have no such files, and `pwrite` is used.

    use std::fs::File;
    use std::io;

    #[derive(Debug)]
    pub(super) enum MemoryFile {}

    impl MemoryFile {
        pub(super) fn begin(_file: &File, _length: u64) -> io::Result<Option<Self>> {
            Ok(None)
        }

        pub(super) fn write_at(&self, _file: &File, _bytes: &[u8], _offset: u64) -> io::Result<()> {
            match *self {}
        }
    }
}
#[forbid(unsafe_code)]
pub(crate) mod open;
#[forbid(unsafe_code)]
pub(crate) mod options;
#[forbid(unsafe_code)]
pub(crate) mod output;
#[forbid(unsafe_code)]
pub(crate) mod position;
#[forbid(unsafe_code)]
pub(crate) mod replace;
#[forbid(unsafe_code)]
pub(crate) mod stored;
#[cfg(target_os = "linux")]
mod system;

pub(crate) use leftovers::LOCK_ENDING;
pub use leftovers::{Leftover, leftovers};

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::parallel;
use crate::base::room::filled;

/// Number of bytes that are read, or gathered for writing, at a time. Their checksum is computed while they are in the
/// processor's cache.
pub(crate) const PIECE_BYTES: usize = 512 << 10;

/// Runs of bytes that tasks process begin at multiples of this, the default chunk size of checksums.
const RUN_BYTES: usize = options::SaveOptions::CHUNK_SIZE as usize;

/// Returns the length in bytes of the runs into which work on `bytes` bytes is divided.
pub(crate) fn run_length(bytes: usize) -> usize {
    bytes.div_ceil(parallel::task_count(bytes).max(1)).next_multiple_of(RUN_BYTES)
}

/// Allocates `count` zero bytes.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(crate) fn zeroed(count: usize) -> Result<Vec<u8>> {
    filled(count, 0)
}
