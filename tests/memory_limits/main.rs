//! How much memory a call takes, above all one that reads damaged or invented files and archives.
//!
//! This program has an allocator that counts for all threads together, since a call may share its work with others. So
//! one test runs at a time: each holds the lock of `alone`, or starts this program again for itself.

mod counting;
#[cfg(feature = "npy")]
mod damaged_npy_files;
#[cfg(feature = "npz")]
mod damaged_npz_files;
#[cfg(all(feature = "sparse-files", feature = "npz"))]
mod damaged_sparse_files;
mod damaged_table_files;
mod dictionary_memory;
mod hostile_archives;
#[cfg(feature = "csv")]
mod hostile_csv;
mod hostile_manifests;
mod hostile_partials;
mod partial_bytes;
mod scratch;
#[cfg(all(feature = "ndarray", feature = "npy"))]
mod shared_values;
