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
//! `read`, `write`: the public interface. The zip file itself, and the options, are in [`crate::interop::npz`].
//!
//! What is transposed takes memory for each row as well, of which [`NpzOptions::max_rows`] decides.

mod read;
mod write;

#[cfg(doc)]
use crate::NpzOptions;
