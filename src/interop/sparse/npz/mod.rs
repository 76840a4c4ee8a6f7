//! SciPy's files of sparse matrices, `scipy.sparse.save_npz`: a zip file with an array for each part of a matrix.
//!
//! | member | |
//! | --- | --- |
//! | `format.npy` | a text: `csr`, or `csc`, which is read as the transposed matrix of its arrays; others are refused |
//! | `shape.npy` | two integers |
//! | `indptr.npy`, `indices.npy`, `data.npy` | row offsets, column indices, values |
//!
//! Other members, such as `_is_array.npy`, are skipped. Pickles are never loaded.
//!
//! * `zip`: members of a zip file; `archive`: writing them; `read`, `write`: the public interface; `options`: options.
//!
//! Invariant: no memory is allocated for a size that a member claims: at most twice the number of bytes that have been
//! read from it. Those may be a thousand times as many as the file has, of which [`NpzOptions::max_bytes`] decides.
//! What is transposed takes memory for each row as well, of which [`NpzOptions::max_rows`] decides.

mod archive;
mod options;
mod read;
mod write;
mod zip;

pub use options::NpzOptions;
