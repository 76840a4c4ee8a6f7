//! Conversions from and to other libraries and their files, each enabled by its feature.
//!
//! No conversion changes an element type unless the caller asks for it. Where a copy can be avoided, a [`CopyPolicy`]
//! decides.

#[cfg(feature = "bincode")]
#[forbid(unsafe_code)]
mod bincode;
#[cfg(feature = "csv")]
#[forbid(unsafe_code)]
pub(crate) mod csv;
#[cfg(feature = "npy")]
#[forbid(unsafe_code)]
mod gaps;
#[cfg(feature = "ndarray")]
#[forbid(unsafe_code)]
mod ndarray;
#[cfg(feature = "npy")]
pub(crate) mod npy; // forbids unsafe code in all of its files except one
#[cfg(feature = "npz")]
#[forbid(unsafe_code)]
pub(crate) mod npz;
#[cfg(any(feature = "sparse-files", feature = "npz"))]
#[forbid(unsafe_code)]
pub(crate) mod sparse;
#[cfg(any(feature = "csv", feature = "sparse-files"))]
#[forbid(unsafe_code)]
mod text;

pub use crate::base::copy::{CopyPolicy, CopyReason};
#[cfg(feature = "ndarray")]
#[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
pub use ndarray::NdarraySource;
