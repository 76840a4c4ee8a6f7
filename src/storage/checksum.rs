//! CRC-32 of the chunks of a payload that is processed in any number of pieces.
//!
//! Each task computes the checksums of its own run of consecutive bytes. [`merge`] completes chunks that span several
//! runs.

use crc32fast::Hasher;

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// Checksums of the chunks in a run of consecutive bytes.
#[derive(Debug)]
pub struct RunSums {
    /// Bytes per chunk; 0 for no checksums.
    chunk_size: u64,
    /// The position in the payload of the next byte.
    position: u64,
    /// The end of a chunk that began before the run.
    head: Option<Hasher>,
    whole: Vec<u32>,
    /// The start of a chunk that ends after the run, or the middle of a chunk that contains the run.
    open: Hasher,
    is_first_chunk_cut: bool,
}

impl RunSums {
    /// Creates the checksums of a run of `length` bytes that begins at `position` in the payload.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn new(chunk_size: u32, position: u64, length: usize) -> Result<Self> {
        let chunk_size = u64::from(chunk_size);
        let is_first_chunk_cut = chunk_size > 0 && !position.is_multiple_of(chunk_size);
        let mut new =
            Self { chunk_size, position, head: None, whole: Vec::new(), open: Hasher::new(), is_first_chunk_cut };
        if let Some(count) = (length as u64).checked_div(chunk_size) {
            new.whole.try_reserve_exact(count as usize).map_err(|_| Self::out_of_memory(count))?;
        }
        Ok(new)
    }

    /// Reserves memory for the checksums of `length` more bytes.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn reserve(&mut self, length: usize) -> Result<()> {
        match (length as u64).checked_div(self.chunk_size) {
            Some(count) => self.whole.try_reserve(count as usize + 1).map_err(|_| Self::out_of_memory(count)),
            None => Ok(()),
        }
    }

    fn out_of_memory(count: u64) -> Error {
        Error::out_of_memory((count as usize).saturating_mul(4))
    }

    /// Adds the next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while self.chunk_size > 0 && !bytes.is_empty() {
            let room = self.chunk_size - self.position % self.chunk_size;
            let count = usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()));
            let (now, later) = bytes.split_at(count);
            self.open.update(now);
            self.position += count as u64;
            bytes = later;
            if self.position.is_multiple_of(self.chunk_size) {
                self.close();
            }
        }
    }

    /// Adds the next complete chunk, whose checksum is known. Memory must be reserved, and no chunk may be open.
    pub(crate) fn push_known(&mut self, sum: u32) {
        self.whole.push(sum);
        self.position += self.chunk_size;
    }

    /// Appends the checksums of the run that follows this one.
    pub(crate) fn extend(&mut self, next: Self) {
        if let Some(head) = next.head {
            self.open.combine(&head);
            self.close();
        }
        self.whole.extend(next.whole);
        self.open.combine(&next.open);
        self.position = next.position;
    }

    /// Completes the current chunk.
    fn close(&mut self) {
        let sum = std::mem::take(&mut self.open);
        if std::mem::take(&mut self.is_first_chunk_cut) {
            self.head = Some(sum);
        } else {
            self.whole.push(sum.finalize());
        }
    }
}

/// Calls `each(sum)` for every chunk of a payload, in order. The runs must cover the whole payload in order.
pub(crate) fn merge(runs: Vec<RunSums>, mut each: impl FnMut(u32) -> Result<()>) -> Result<()> {
    let (mut open, mut is_cut) = (Hasher::new(), false);
    for run in runs {
        if run.chunk_size == 0 {
            continue;
        }
        if let Some(head) = run.head {
            open.combine(&head);
            each(std::mem::take(&mut open).finalize())?;
        }
        run.whole.into_iter().try_for_each(&mut each)?;
        open.combine(&run.open);
        is_cut = !run.position.is_multiple_of(run.chunk_size);
    }
    if is_cut { each(open.finalize()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(payload: &[u8], chunk_size: u32, cuts: &[usize]) -> Vec<u32> {
        let ends = cuts.iter().copied().chain([payload.len()]);
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let runs = starts.zip(ends).map(|(start, end)| {
            let mut run = RunSums::new(chunk_size, start as u64, end - start).unwrap();
            let (first, second) = payload[start..end].split_at((end - start) / 3);
            run.update(first);
            run.update(second);
            run
        });
        let mut found = Vec::new();
        merge(runs.collect(), |sum| {
            found.push(sum);
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn however_a_payload_is_cut_its_sums_are_the_same() {
        let payload: Vec<u8> = (0..40_u8).map(|i| i.wrapping_mul(77)).collect();
        for chunk_size in [1, 3, 7, 8, 39, 40, 41, u32::MAX] {
            let expected: Vec<u32> = payload.chunks(chunk_size as usize).map(crc32fast::hash).collect();
            for first in 0..=40 {
                for second in first..=40 {
                    assert_eq!(sums(&payload, chunk_size, &[first, second]), expected, "{chunk_size} {first} {second}");
                }
            }
        }
    }

    #[test]
    fn known_sums_of_whole_chunks_stand_for_their_bytes() {
        let payload: Vec<u8> = (0..40_u8).map(|i| i.wrapping_mul(77)).collect();
        let expected: Vec<u32> = payload.chunks(8).map(crc32fast::hash).collect();
        for (start, first, last, end) in [(0, 0, 5, 40), (0, 1, 4, 40), (3, 1, 4, 35), (8, 1, 2, 17), (7, 1, 5, 40)] {
            let mut run = RunSums::new(8, start as u64, end - start).unwrap();
            run.update(&payload[start..first * 8]);
            expected[first..last].iter().for_each(|&sum| run.push_known(sum));
            run.update(&payload[last * 8..end]);
            let mut all = RunSums::new(8, 0, 40).unwrap();
            all.update(&payload[..start]);
            all.extend(run);
            all.update(&payload[end..]);
            let mut found = Vec::new();
            merge(vec![all], |sum| {
                found.push(sum);
                Ok(())
            })
            .unwrap();
            assert_eq!(found, expected, "{start} {first} {last} {end}");
        }
    }

    #[test]
    fn no_bytes_have_no_sums_and_chunk_size_zero_means_none() {
        assert!(sums(&[], 8, &[]).is_empty() && sums(&[1, 2, 3], 0, &[1]).is_empty());
    }
}
