//! Table files, `.ntb`: saving, loading and mapping tables, and reading and writing tables that exceed memory.
//!
//! `README.md` beside this file specifies the format byte by byte, and the rules for readers. The modules:
//! * `preamble` and `header`: the description in a file, decoded from untrusted bytes; `file`: a file that has been
//!   checked against its preamble; `kind`: the content of a file by kind; `homogeneous`: the file of a homogeneous
//!   table; `arrays`: the file of any other kind; `plan`: the layout of a file to be written;
//! * `values`: reading many values; `gather`: reading some rows and columns; `compared`: which chunks have been
//!   compared with their checksums;
//! * `opened`: a file that is one of many; `rows`: blocks of rows of tables and of files alike;
//! * `front`, `arriving` and `parts`: a file that is stored elsewhere: its description, its values as they arrive, and
//!   its bytes from first to last for sending;
//! * `save`, `load`, `map`, `reader`, `blocks`, `writer`, `copy`: the public interface.
//!
//! Code shared by all file formats is in [`crate::storage`]: replacing, positions, checksums, options, progress.
//!
//! Invariant: no memory is allocated or mapped for a size from a file before this size has been compared with the real
//! length of the file.

#[forbid(unsafe_code)]
mod arrays;
#[forbid(unsafe_code)]
mod arriving;
#[forbid(unsafe_code)]
mod blocks;
#[forbid(unsafe_code)]
mod compared;
#[forbid(unsafe_code)]
mod copy;
#[forbid(unsafe_code)]
mod file;
#[forbid(unsafe_code)]
mod front;
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
mod parts;
#[forbid(unsafe_code)]
mod plan;
#[forbid(unsafe_code)]
mod preamble;
#[forbid(unsafe_code)]
mod reader;
#[forbid(unsafe_code)]
pub(crate) mod rows;
#[forbid(unsafe_code)]
mod save;
#[cfg(test)]
mod tests;
#[forbid(unsafe_code)]
mod values;
#[forbid(unsafe_code)]
mod writer;

pub use arriving::Arriving;
pub use blocks::FileBlocks;
pub use front::{Front, StoredValues};
pub use load::{load_any, verify};
pub(crate) use opened::{OpenedTable, StoredRows};
pub use parts::FileParts;
pub use reader::TableReader;
pub(crate) use save::save;
pub use writer::TableWriter;
pub(crate) use writer::Written;
