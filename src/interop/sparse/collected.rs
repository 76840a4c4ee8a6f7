//! Indices and offsets read from text, collected in the narrowest type that fits.

use super::pieces::{extend, reserve};
use crate::array::AnyArray;
use crate::base::error::Result;

/// Collected indices: `u32` while all of them fit.
#[derive(Debug)]
pub(super) enum Collected {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Collected {
    pub(super) const fn new() -> Self {
        Self::Narrow(Vec::new())
    }

    /// Appends indices.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::base::error::ErrorKind::OutOfMemory).
    pub(super) fn extend(&mut self, more: &[u64]) -> Result<()> {
        if let Self::Narrow(values) = self {
            if more.iter().all(|&index| u32::try_from(index).is_ok()) {
                reserve(values, more.len())?;
                values.extend(more.iter().map(|&index| index as u32)); // it fits
                return Ok(());
            }
            let mut wide = Vec::new();
            reserve(&mut wide, values.len() + more.len())?;
            wide.extend(values.iter().map(|&index| u64::from(index)));
            *self = Self::Wide(wide);
        }
        match self {
            Self::Wide(values) => extend(values, more),
            Self::Narrow(_) => Ok(()), // it has just become wide
        }
    }

    /// Subtracts 1 from each index. No index may be 0.
    pub(super) fn count_from_zero(&mut self) {
        match self {
            Self::Narrow(values) => values.iter_mut().for_each(|index| *index -= 1),
            Self::Wide(values) => values.iter_mut().for_each(|index| *index -= 1),
        }
    }

    pub(super) fn into_array(self) -> AnyArray {
        match self {
            Self::Narrow(values) => values.into(),
            Self::Wide(values) => values.into(),
        }
    }
}
