//! Vectors whose memory may be refused.

#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::{Error, Result};

/// Allocates a vector with room for `count` items.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(crate) fn with_room<V>(count: usize) -> Result<Vec<V>> {
    let (mut vector, bytes) = (Vec::new(), count.saturating_mul(size_of::<V>()));
    vector.try_reserve_exact(count).map_err(|_| Error::out_of_memory(bytes))?;
    Ok(vector)
}
