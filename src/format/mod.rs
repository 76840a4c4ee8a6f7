//! Table files, `.ntb`: saving, loading and mapping tables, and reading and writing tables larger than memory.
//!
//! The format, byte by byte, and the rules for readers are in `README.md` beside this file. The modules:
//! * `preamble` and `header`: a file's description of itself, decoded from untrusted bytes; `file`: a file that has
//!   been checked against its preamble; `kind`: the content of a file by kind; `homogeneous`: the file of a
//!   homogeneous table; `arrays`: that of any other; `plan`: the layout of a file to be written;
//! * `values`: reading many values; `gather`: reading some rows and columns;
//! * `opened`: a file that is one of many;
//! * `save`, `load`, `map`, `reader`, `blocks`, `writer`, `copy`: the public interface.
//!
//! Code that is common to all file formats is in [`crate::files`]: replacing, positions, checksums, options, progress.
//!
//! Invariant: no memory is allocated or mapped for a size that a file claims before it has been compared with the real
//! length of the file.

#[forbid(unsafe_code)]
mod arrays;
#[forbid(unsafe_code)]
mod blocks;
#[forbid(unsafe_code)]
mod copy;
#[forbid(unsafe_code)]
mod file;
#[forbid(unsafe_code)]
mod gather;
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
mod opened;
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

pub use blocks::FileBlocks;
pub use load::{load_any, verify};
pub(crate) use opened::{OpenedTable, StoredRows};
pub use reader::TableReader;
pub use writer::TableWriter;
