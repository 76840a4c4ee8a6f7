//! Tables as arrays of other libraries, and tables of their arrays.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_export;
#[cfg(feature = "arrow")]
mod arrow_mixed;
#[cfg(feature = "arrow")]
mod arrow_refused;
#[cfg(feature = "arrow")]
mod arrow_stream;
#[cfg(feature = "arrow")]
mod arrow_types;
#[cfg(feature = "arrow")]
mod arrow_words;
#[cfg(feature = "bincode")]
mod bincode;
#[cfg(any(feature = "arrow", feature = "ndarray", feature = "ndarray-016", feature = "npy"))]
mod copy_policy;
#[cfg(all(feature = "arrow", feature = "csv", feature = "npy", feature = "npz"))]
mod doors;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(any(feature = "sparse-files", feature = "npz", feature = "sprs"))]
mod sparse;
