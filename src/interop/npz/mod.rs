//! NumPy's files of several arrays, `numpy.savez` and `numpy.savez_compressed`: a zip file of `.npy` files.
//!
//! | member | |
//! | --- | --- |
//! | `x.npy` | the array `x`, what [`load_npy_any`](crate::load_npy_any) reads |
//! | any other | is left out |
//!
//! Written are stored or deflated members, sizes of 8 bytes where they are needed, and names in UTF-8. SciPy's sparse
//! matrices are such files, too: what their arrays mean is in [`super::sparse`].
//!
//! * `reader`, `columns`, `writer`: the public interface; `options`: options;
//! * `source`: what the array of a member is written from;
//! * `zip`: members of a zip file; `archive`: writing them; `names`: what they may be called; `failure`: errors.
//!
//! Invariant: no memory is allocated for a size that a member claims: at most as many bytes as the member has in the
//! file, and then twice the number of bytes that have been read from it. Those may be a thousand times as many as the
//! file has, of which [`NpzOptions::max_bytes`] decides.

pub(super) mod archive;
mod columns;
pub(super) mod failure;
mod names;
mod options;
mod reader;
mod source;
mod writer;
pub(super) mod zip;

pub use columns::{load_npz_columns, save_npz_columns};
pub use options::NpzOptions;
pub use reader::{NpzArray, NpzReader};
pub use writer::{NpzWriter, save_npz, save_npz_with};
