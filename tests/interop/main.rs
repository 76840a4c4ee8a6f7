//! Tables as arrays of other libraries, and tables of their arrays.

#[cfg(feature = "bincode")]
mod bincode;
#[cfg(any(feature = "ndarray", feature = "npy"))]
mod copy_policy;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(any(feature = "sparse-files", feature = "npz"))]
mod sparse;
