//! Table files, `.ntb`: saving, loading and mapping tables, and reading and writing tables larger than memory.
//!
//! The format, byte by byte, and the rules for readers are in `README.md` beside this file. Here:
//! * `preamble` and `header`: what a file says about itself, decoded from hostile bytes; `file`: a file that has been
//!   checked by it;
//! * `checksum`: sums of the values; `stored`: values of the file's type on their way to another; `position`: reading and
//!   writing by several threads; `replace`: a new file in the place of an old one, whole or not at all;
//! * `values` and `output`: reading and writing many of them; `progress`: how far that has got;
//! * `options`: how a table is saved;
//! * `save`, `load`, `map`, `reader`, `writer`: what callers ask for.
//!
//! Invariant: no memory is taken, or mapped, for anything that a file claims before it has been compared with the real
//! length of the file.

#[forbid(unsafe_code)]
mod checksum;
#[forbid(unsafe_code)]
mod file;
#[forbid(unsafe_code)]
mod header;
#[forbid(unsafe_code)]
mod load;
#[cfg(feature = "mmap")]
mod map;
#[forbid(unsafe_code)]
mod options;
#[forbid(unsafe_code)]
mod output;
#[forbid(unsafe_code)]
mod position;
#[forbid(unsafe_code)]
mod preamble;
#[forbid(unsafe_code)]
mod progress;
#[forbid(unsafe_code)]
mod reader;
#[forbid(unsafe_code)]
mod replace;
#[forbid(unsafe_code)]
mod save;
#[forbid(unsafe_code)]
mod stored;
#[cfg(test)]
mod tests;
#[forbid(unsafe_code)]
mod values;
#[forbid(unsafe_code)]
mod writer;

pub use load::{load_any, verify};
pub use options::SaveOptions;
pub use progress::Progress;
pub use reader::{FileBlock, FileBlocks, TableReader};
pub use writer::TableWriter;

// What other formats of whole tables are read and written with.
#[cfg(all(feature = "npy", feature = "mmap"))]
pub(crate) use map::map_file;
#[cfg(feature = "npy")]
pub(crate) use {
    file::{open_regular, read},
    output::{Output, Payload, for_each_piece},
    stored::Stored,
};
#[cfg(any(feature = "csv", feature = "npy"))]
pub(crate) use {
    output::{AnyLines, Lines},
    progress::Meter,
    replace::replace,
};
#[cfg(feature = "csv")]
pub(crate) use {position::read_at, progress::Hook};

/// Bytes that are read, or gathered to be written, at once; and summed up while they are in the processor's cache.
pub(crate) const PIECE_BYTES: usize = 512 << 10;

/// Bytes that are written at once if they lie in memory as the file has them: calls of the system take turns at a file, and
/// a few long ones are faster than many short ones.
const WRITE_BYTES: usize = 4 << 20;

/// Bytes of a column-major file that are gathered at once: pieces of all columns, or of as many as there is room for.
const COLUMNS_BYTES: usize = 2 << 20;

/// Bytes of one column that are read at once, at least, if so many rows are wanted: where columns are many, fewer are
/// gathered at once. Reading costs as much for one byte as for some thousand.
const COLUMN_BYTES: usize = 16 << 10;

/// Runs of bytes that tasks work on begin at multiples of this: chunks of checksums, as long as nobody asks for others.
const RUN_BYTES: usize = SaveOptions::CHUNK_SIZE as usize;

/// Into runs of how many bytes to cut work on so many bytes.
pub(crate) fn run_length(bytes: usize) -> usize {
    bytes.div_ceil(crate::base::parallel::task_count(bytes).max(1)).next_multiple_of(RUN_BYTES)
}

/// Allocates bytes, all zero.
fn zeroed(count: usize) -> crate::base::error::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).map_err(|_| crate::base::error::Error::OutOfMemory { bytes: count })?;
    bytes.resize(count, 0);
    Ok(bytes)
}

/// Turns the bytes of values from this machine's order into that of files, or back. Nothing to do on most machines.
pub(crate) fn swap_if_big_endian(bytes: &mut [u8], element_size: usize) {
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(element_size).for_each(<[u8]>::reverse);
    }
}
