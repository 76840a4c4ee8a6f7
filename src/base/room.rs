//! Vectors whose memory may be refused.

use super::error::{Error, Result};

/// Allocates a vector with room for exactly so many items.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn with_room<V>(count: usize) -> Result<Vec<V>> {
    let mut vector = Vec::new();
    let bytes = count.saturating_mul(size_of::<V>());
    vector.try_reserve_exact(count).map_err(|_| Error::OutOfMemory { bytes })?;
    Ok(vector)
}

/// Allocates so many copies of a value.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn filled<V: Clone>(count: usize, value: V) -> Result<Vec<V>> {
    let mut vector = with_room(count)?;
    vector.resize(count, value);
    Ok(vector)
}
