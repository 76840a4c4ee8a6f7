//! What any file needs, whatever its format: bytes, runs of values, and who wants to know how far it has got.
//!
//! * `open`, `position`: opening files that are ones, and reading and writing them at positions, by several threads;
//! * `replace`, `options`: a new file in the place of an old one, whole or not at all, and what a caller can choose there;
//! * `output`: one pass over values into a file, in parallel if there are many; `checksum`: sums of what has passed;
//! * `stored`: values of a file's type on their way to another; `block`: some rows of a file, in a buffer; `byte_order`;
//! * `progress`: how far that has got, and whom to tell; `map`: a file as an array.
//!
//! Nothing here knows a table, or what a format says about itself: that is in [`crate::format`] and
//! [`crate::interop`]; tables as values in the order of a file are in [`crate::lines`].

#[forbid(unsafe_code)]
pub(crate) mod byte_order;
#[forbid(unsafe_code)]
pub(crate) mod checksum;
#[cfg(feature = "mmap")]
pub(crate) mod map;
#[forbid(unsafe_code)]
pub(crate) mod open;
#[forbid(unsafe_code)]
pub(crate) mod options;
#[forbid(unsafe_code)]
pub(crate) mod output;
#[forbid(unsafe_code)]
pub(crate) mod position;
#[forbid(unsafe_code)]
pub(crate) mod progress;
#[forbid(unsafe_code)]
pub(crate) mod replace;
#[forbid(unsafe_code)]
pub(crate) mod stored;

use crate::base::error::{Error, Result};
use crate::base::parallel;

/// Bytes that are read, or gathered to be written, at once; and summed up while they are in the processor's cache.
pub(crate) const PIECE_BYTES: usize = 512 << 10;

/// Runs of bytes that tasks work on begin at multiples of this: chunks of checksums, as long as nobody asks for others.
const RUN_BYTES: usize = options::SaveOptions::CHUNK_SIZE as usize;

/// Into runs of how many bytes to cut work on so many bytes.
pub(crate) fn run_length(bytes: usize) -> usize {
    bytes.div_ceil(parallel::task_count(bytes).max(1)).next_multiple_of(RUN_BYTES)
}

/// Allocates bytes, all zero.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn zeroed(count: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).map_err(|_| Error::OutOfMemory { bytes: count })?;
    bytes.resize(count, 0);
    Ok(bytes)
}
