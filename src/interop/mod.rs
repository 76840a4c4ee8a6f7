//! Doors to other libraries and formats, one module each.

#[cfg(feature = "csv")]
pub(crate) mod csv;
#[cfg(feature = "ndarray")]
mod ndarray;
