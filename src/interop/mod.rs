//! Doors to other libraries, one file each.

#[cfg(feature = "ndarray")]
mod ndarray;
