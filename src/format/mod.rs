//! Table files, `.ntb`: saving, loading and mapping tables, and reading and writing tables larger than memory.
//!
//! The format, byte by byte, and the rules for readers are in `README.md` beside this file. Here:
//! * `preamble` and `header`: what a file says about itself, decoded from hostile bytes; `file`: a file that has been
//!   checked by its preamble; `kind`: what a file holds, and `homogeneous`: one of a homogeneous table; `plan`: one that is
//!   to be written;
//! * `values`: reading many values;
//! * `save`, `load`, `map`, `reader`, `writer`: what callers ask for.
//!
//! What any file needs is in [`crate::files`]: replacing, positions, checksums, options, progress.
//!
//! Invariant: no memory is taken, or mapped, for anything that a file claims before it has been compared with the real
//! length of the file.

#[forbid(unsafe_code)]
mod file;
#[forbid(unsafe_code)]
mod header;
#[forbid(unsafe_code)]
mod homogeneous;
#[forbid(unsafe_code)]
mod kind;
#[forbid(unsafe_code)]
mod load;
#[cfg(feature = "mmap")]
mod map;
#[forbid(unsafe_code)]
mod plan;
#[forbid(unsafe_code)]
mod preamble;
#[forbid(unsafe_code)]
mod reader;
#[forbid(unsafe_code)]
mod save;
#[cfg(test)]
mod tests;
#[forbid(unsafe_code)]
mod values;
#[forbid(unsafe_code)]
mod writer;

pub use load::{load_any, verify};
pub use reader::{FileBlocks, TableReader};
pub use writer::TableWriter;
