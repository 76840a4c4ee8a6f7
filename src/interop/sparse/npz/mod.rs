//! SciPy's files of sparse matrices, `scipy.sparse.save_npz`: a zip file with an array for each part of a matrix.
//!
//! | member | contents |
//! | --- | --- |
//! | `format.npy` | a string: `csr`, or `csc`, whose arrays are read as a matrix that is then transposed; others are rejected |
//! | `shape.npy` | two integers |
//! | `indptr.npy`, `indices.npy`, `data.npy` | row offsets, column indices, values |
//!
//! Other members, such as `_is_array.npy`, are skipped. Pickles are never loaded.
//!
//! `read`, `write`: the public interface. The zip file itself, and the options, are in [`crate::interop::npz`].
//!
//! Transposing takes memory for each row as well. [`NpzOptions::max_rows`] limits it.

mod read;
mod write;

#[cfg(doc)]
use crate::npz::NpzOptions;
