//! Verification of the chunks of a file from which values are read, each when it is first touched.
//!
//! A chunk is read completely and compared before any of its values are returned: bytes that are wanted go to the
//! caller's buffer, and the others are only summed. Part of a chunk therefore costs as much as all of it, once for each
//! opening of the file.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::file::TableFile;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::storage::PIECE_BYTES;

/// The position of the number of bytes per checksum in a file.
const CHUNK_SIZE_AT: u64 = 44;

/// The chunks that have been compared, one bit for each.
#[derive(Debug)]
pub(super) struct Compared(Vec<AtomicU64>);

impl Compared {
    /// Returns a state in which no chunk of a file has been compared.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if the file has values without checksums; [`ErrorKind::OutOfMemory`].
    pub(super) fn none_of(file: &TableFile) -> Result<Self> {
        if !file.has_checksums() && file.payload_length() > 0 {
            let reason = "verification was requested, but the file has no checksums of its values";
            return Err(Error::format(CHUNK_SIZE_AT, reason).in_file(file.path()));
        }
        // The file has 4 bytes for each chunk, and its length has been compared.
        let count = file.preamble().chunk_count().div_ceil(64) as usize;
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| Error::out_of_memory(count.saturating_mul(8)))?;
        words.resize_with(count, AtomicU64::default);
        Ok(Self(words))
    }

    fn has(&self, chunk: u64) -> bool {
        let word = self.0.get((chunk / 64) as usize);
        word.is_some_and(|word| word.load(Relaxed) & (1 << (chunk % 64)) != 0)
    }

    fn add(&self, chunks: Range<u64>) {
        for chunk in chunks {
            if let Some(word) = self.0.get((chunk / 64) as usize) {
                word.fetch_or(1 << (chunk % 64), Relaxed); // it orders nothing: what was compared is in the file
            }
        }
    }

    /// Compares the chunks that contain some of these bytes of the values and have not been compared yet.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first damaged chunk; [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`].
    pub(super) fn compare(&self, file: &TableFile, bytes: Range<u64>) -> Result<()> {
        self.for_each_run(file, bytes, |chunks, is_compared| match is_compared {
            true => Ok(()),
            false => self.read_chunks(file, chunks, 0, &mut []),
        })
    }

    /// Reads bytes of the values from a position on, and compares those of their chunks that have not been compared
    /// yet. After an error, the buffer may hold damaged values.
    ///
    /// # Errors
    /// Those of [`compare`](Self::compare).
    pub(super) fn read(&self, file: &TableFile, buffer: &mut [u8], position: u64) -> Result<()> {
        let size = u64::from(file.chunk_size());
        debug_assert!(position + buffer.len() as u64 <= file.payload_length(), "callers stay inside of the values");
        let mut rest = buffer;
        let mut at = position;
        self.for_each_run(file, position..position + rest.len() as u64, |chunks, is_compared| {
            let count = (chunks.end * size - at).min(rest.len() as u64) as usize;
            let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
            match is_compared {
                true => file.read_unchecked(now, at)?,
                false => self.read_chunks(file, chunks, at, now)?,
            }
            (rest, at) = (later, at + count as u64);
            Ok(())
        })
    }

    /// Calls `work` with the chunks that contain some of these bytes, as runs of chunks that have all been compared or
    /// all have not, and which of the two it is.
    fn for_each_run(
        &self,
        file: &TableFile,
        bytes: Range<u64>,
        mut work: impl FnMut(Range<u64>, bool) -> Result<()>,
    ) -> Result<()> {
        let size = u64::from(file.chunk_size());
        if bytes.is_empty() || size == 0 {
            return Ok(());
        }
        let (mut first, end) = (bytes.start / size, bytes.end.div_ceil(size));
        while first < end {
            let is_compared = self.has(first);
            let last = (first + 1..end).find(|&chunk| self.has(chunk) != is_compared).unwrap_or(end);
            work(first..last, is_compared)?;
            first = last;
        }
        Ok(())
    }

    /// Reads complete chunks, whose bytes from `position` on go to `wanted`, and compares them.
    fn read_chunks(&self, file: &TableFile, chunks: Range<u64>, position: u64, wanted: &mut [u8]) -> Result<()> {
        let size = u64::from(file.chunk_size());
        let (start, end) = (chunks.start * size, (chunks.end * size).min(file.payload_length()));
        let (first, last) = match wanted.len() as u64 {
            0 => (end, end),
            count => (position, position + count),
        };
        let mut run = file.run(start..end, true)?;
        run.skip(first - start, None)?;
        wanted.chunks_mut(PIECE_BYTES).try_for_each(|piece| run.read(piece))?;
        run.skip(end - last, None)?;
        file.check_sums_from(chunks.start, vec![run.into_sums()])?;
        self.add(chunks);
        Ok(())
    }
}
