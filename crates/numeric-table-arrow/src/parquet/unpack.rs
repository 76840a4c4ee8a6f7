//! Decompression of pages into buffers that are reused.

use ::parquet::basic::Compression;
use bytes::Bytes;

use super::input::{Spare, buffer_of, page_of};

/// Decompresses Snappy and Zstandard. Other compressions are left to the `parquet` crate, which allocates memory for
/// each page.
pub(super) enum Decompressor {
    Snappy(snap::raw::Decoder),
    Zstd(zstd::bulk::Decompressor<'static>),
}

impl Decompressor {
    /// Creates a decompressor, if this module has it.
    fn new(compression: Compression) -> Option<Self> {
        match compression {
            Compression::SNAPPY => Some(Self::Snappy(snap::raw::Decoder::new())),
            Compression::ZSTD(_) => zstd::bulk::Decompressor::new().ok().map(Self::Zstd),
            _ => None,
        }
    }

    /// Returns an earlier decompressor, if it is for the same compression, or else a new one.
    pub(super) fn again(earlier: Option<Self>, compression: Compression) -> Option<Self> {
        match (&earlier, compression) {
            (Some(Self::Snappy(_)), Compression::SNAPPY) | (Some(Self::Zstd(_)), Compression::ZSTD(_)) => earlier,
            _ => Self::new(compression),
        }
    }

    /// Decompresses a page of `size` bytes, whose first `head` bytes are not compressed. Returns `None` if it does not
    /// have that size, or is damaged. The caller has checked that a page of as many bytes can have that size.
    pub(super) fn page(&mut self, bytes: &[u8], head: usize, size: usize, spare: &Spare) -> Option<Bytes> {
        let (head, compressed) = bytes.split_at_checked(head)?;
        let count = size.checked_sub(head.len())?;
        let mut buffer = buffer_of(size, spare).ok()?;
        let (start, target) = buffer[..size].split_at_mut(head.len());
        start.copy_from_slice(head);
        // Pages without values may have no compressed bytes.
        let found = match self {
            _ if count == 0 => 0,
            Self::Snappy(snappy) => snappy.decompress(compressed, target).ok()?,
            Self::Zstd(zstd) => zstd.decompress_to_buffer(compressed, target).ok()?,
        };
        (found == count).then(|| page_of(buffer, size, spare))
    }
}
