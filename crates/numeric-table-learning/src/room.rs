//! Vectors whose allocation may fail.

use numeric_table::{Error, Result};

/// Allocates a vector with room for exactly `count` items.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`](numeric_table::ErrorKind::OutOfMemory).
pub(crate) fn with_room<V>(count: usize) -> Result<Vec<V>> {
    let mut vector = Vec::new();
    let bytes = count.saturating_mul(size_of::<V>());
    vector.try_reserve_exact(count).map_err(|_| Error::out_of_memory(bytes))?;
    Ok(vector)
}

/// Allocates `count` copies of a value.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`](numeric_table::ErrorKind::OutOfMemory).
pub(crate) fn filled<V: Clone>(count: usize, value: V) -> Result<Vec<V>> {
    let mut vector = with_room(count)?;
    vector.resize(count, value);
    Ok(vector)
}
