//! Indices and offsets: read as `u64` whatever their type is, and collected in the narrowest type that fits.

use super::pieces::{extend, reserve};
use crate::array::AnyArray;
use crate::base::error::Result;
use crate::table::csr::index::Indices;

/// Offsets or indices of any of the types that sparse tables have.
#[derive(Clone, Copy)]
pub(super) enum Whole<'a> {
    I32(&'a [i32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
    U64(&'a [u64]),
}

impl<'a> Whole<'a> {
    /// Borrows the offsets or indices of a table, which have one of four types and are counted from zero.
    pub(super) fn new(indices: Indices<'a>) -> Self {
        if let Some(values) = indices.downcast() {
            return Self::I32(values);
        }
        if let Some(values) = indices.downcast() {
            return Self::U32(values);
        }
        match indices.downcast() {
            Some(values) => Self::I64(values),
            None => Self::U64(indices.downcast().unwrap_or_default()),
        }
    }

    /// Returns one of them. A table's are never negative.
    #[inline]
    pub(super) fn at(self, index: usize) -> u64 {
        match self {
            Self::I32(values) => values[index] as u64,
            Self::U32(values) => u64::from(values[index]),
            Self::I64(values) => values[index] as u64,
            Self::U64(values) => values[index],
        }
    }
}

/// Indices that are collected: `u32` while all of them fit.
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
    /// [`Error::OutOfMemory`](crate::base::error::Error::OutOfMemory).
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

    /// Subtracts 1 from each; none of them is 0.
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
