//! Vectors whose allocation can fail.

use super::error::{Error, Result};
#[cfg(doc)]
use crate::base::error::ErrorKind;

/// Allocates a vector with a capacity of exactly `count` items.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub fn with_room<V>(count: usize) -> Result<Vec<V>> {
    let mut vector = Vec::new();
    let bytes = count.saturating_mul(size_of::<V>());
    vector.try_reserve_exact(count).map_err(|_| Error::out_of_memory(bytes))?;
    Ok(vector)
}

/// Allocates `count` copies of a value.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub fn filled<V: Clone>(count: usize, value: V) -> Result<Vec<V>> {
    let mut vector = with_room(count)?;
    vector.resize(count, value);
    Ok(vector)
}

/// Returns the first `count` items of a buffer. A buffer with fewer items is replaced by a longer one, without keeping
/// its contents.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(crate) fn first_of<V: Clone + Default>(buffer: &mut Vec<V>, count: usize) -> Result<&mut [V]> {
    if buffer.len() < count {
        *buffer = filled(count, V::default())?;
    }
    Ok(&mut buffer[..count])
}
