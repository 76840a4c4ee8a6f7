//! Copies records whose fields are not aligned into records whose fields are.

use super::RecordLayout;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::parallel;

/// Copies records from one layout into another with the same columns.
#[derive(Debug)]
pub(crate) struct Repacking {
    from_size: usize,
    to_size: usize,
    /// Ranges of bytes: their offset in either record, and their length. Sorted by the first offset.
    moves: Vec<(usize, usize, usize)>,
}

impl Repacking {
    /// Prepares copying from one layout to another. Panics if the columns differ: the callers derive one layout from
    /// the other.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn new(from: &RecordLayout, to: &RecordLayout) -> Result<Self> {
        let mut moves: Vec<(usize, usize, usize)> = Vec::new();
        let bytes = from.len().saturating_mul(size_of::<(usize, usize, usize)>());
        moves.try_reserve_exact(from.len()).map_err(|_| Error::out_of_memory(bytes))?;
        assert_eq!(from.len(), to.len(), "the same columns");
        moves.extend(from.fields().zip(to.fields()).map(|((feature, from), (other, to))| {
            assert_eq!(feature.element_type, other.element_type, "the same columns");
            (from, to, feature.element_type.size_in_bytes())
        }));
        moves.sort_unstable();
        moves.dedup_by(|next, last| {
            let is_next = last.0 + last.2 == next.0 && last.1 + last.2 == next.1;
            last.2 += if is_next { next.2 } else { 0 };
            is_next
        });
        Ok(Self { from_size: from.size(), to_size: to.size(), moves })
    }

    /// Copies complete records until either side ends. Bytes between the fields are unchanged.
    pub(crate) fn copy(&self, from: &[u8], to: &mut [u8]) {
        if self.from_size == 0 || self.to_size == 0 {
            return;
        }
        let records = from.chunks_exact(self.from_size).zip(to.chunks_exact_mut(self.to_size));
        for (from, to) in records {
            for &(start, target, length) in &self.moves {
                to[target..target + length].copy_from_slice(&from[start..start + length]);
            }
        }
    }

    /// Like [`copy`](Self::copy), in parallel for large inputs.
    pub(crate) fn par_copy(&self, from: &[u8], to: &mut [u8]) {
        let (rows, tasks) = (to.len() / self.to_size.max(1), parallel::task_count(from.len() + to.len()));
        let parts = parallel::cut((from, to), rows, tasks, |(from, to), rows| {
            let (from, later_from) = from.split_at(rows * self.from_size);
            let (to, later_to) = to.split_at_mut(rows * self.to_size);
            ((from, to), (later_from, later_to))
        });
        parallel::map(parts, |(from, to)| self.copy(from, to));
    }
}
