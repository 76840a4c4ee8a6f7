//! Verification of the chunks of a file from which values are read, each when it is first touched.
//!
//! A chunk is read completely and compared before any of its values are used. The values are then read again, which the
//! system serves from memory. Part of a chunk therefore costs as much as all of it, once for each opening of the file.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::file::TableFile;
use super::values::skip;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

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
        let size = u64::from(file.chunk_size());
        if bytes.is_empty() || size == 0 {
            return Ok(());
        }
        let end = bytes.end.div_ceil(size);
        let mut first = bytes.start / size;
        while first < end {
            if self.has(first) {
                first += 1;
                continue;
            }
            let last = (first + 1..end).find(|&chunk| self.has(chunk)).unwrap_or(end);
            let sums = skip(file, first * size..(last * size).min(file.payload_length()), None)?;
            file.check_sums_from(first, vec![sums])?;
            self.add(first..last);
            first = last;
        }
        Ok(())
    }
}
