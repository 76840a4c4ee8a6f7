//! NumPy's files of several arrays, `numpy.savez` and `numpy.savez_compressed`: a zip file of `.npy` files.
//!
//! | member | treatment |
//! | --- | --- |
//! | `x.npy` | the array `x`, of any kind that [`npy::load`](crate::npy::load) reads |
//! | `x.mask.npy`, of truth values | the missing values of the array `x` |
//! | any other | skipped |
//!
//! The writer creates stored or deflated members, with 8-byte sizes where needed and names in UTF-8. SciPy's sparse
//! matrices are such files, too: the meaning of their arrays is in [`super::sparse`].
//!
//! * `reader`, `columns`, `writer`: the public interface; `options`: options; `masks`: columns and arrays with masks;
//! * `source`: the data from which the array of a member is written;
//! * `zip`: members of a zip file; `archive`: writing them; `names`: valid names; `failure`: errors.
//!
//! Invariant: memory is never allocated for the size that a member claims. It is at most the number of bytes that the
//! member takes in the file, and later twice the number of bytes read from it. Decompression may multiply the size by a
//! thousand; [`NpzOptions::max_bytes`] limits the result.

pub(super) mod archive;
mod columns;
pub(super) mod failure;
mod masks;
mod names;
mod options;
mod reader;
mod source;
mod writer;
pub(super) mod zip;

pub use columns::{load_columns, save_columns};
pub use options::NpzOptions;
pub use reader::{NpzArray, NpzReader};
pub use writer::{NpzWriter, save, save_with};
