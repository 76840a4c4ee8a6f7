//! The bytes of a Parquet file for the `parquet` crate, and the checks of page headers.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

use crate::input::Input;

/// Number of bytes of a page header that are read at once. Headers without statistics have about 30 bytes.
const HEADER_BYTES: usize = 256;
/// Decompressed size that every page may have, regardless of its compressed size.
const LEAST_PAGE: u64 = 64 << 10;
/// Maximum number of page buffers that are kept for reuse.
const MOST_SPARE: usize = 4;
/// The header byte, in Thrift's compact protocol, of an `i32` field whose number is one more than the previous one.
const NEXT_I32: u8 = 0x15;

impl Length for Input {
    fn len(&self) -> u64 {
        self.length()
    }
}

/// Reads the footer.
impl ChunkReader for Input {
    type T = io::Cursor<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let length = self.len().saturating_sub(start).min(HEADER_BYTES as u64) as usize;
        Ok(io::Cursor::new(self.bytes_at(start, length)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.bytes_at(start, length)?)
    }
}

/// Page buffers, shared by columns that are decoded together. Compressed bytes are needed only briefly.
pub(super) type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

/// The pages of a column. A header that claims more bytes than its page can hold is an error before memory is
/// allocated.
#[derive(Clone)]
pub(super) struct Pages {
    input: Input,
    /// Maximum number of bytes to which one byte of a page can be decompressed.
    ratio: u64,
    /// Whether an index gives the positions of pages. Each page is then read together with its header.
    has_index: bool,
    /// Buffers of pages that were already decoded, for reuse.
    spare: Spare,
}

impl Pages {
    pub(super) fn new(input: &Input, ratio: u64, has_index: bool, spare: &Spare) -> Self {
        Self { input: input.clone(), ratio, has_index, spare: spare.clone() }
    }
}

impl Pages {
    /// Reads a page, into the buffer of an earlier one if available.
    fn page(&self, start: u64, length: usize) -> io::Result<Bytes> {
        if let Input::Bytes(_) = self.input {
            return self.input.bytes_at(start, length);
        }
        self.input.check(start, length)?;
        let mut bytes = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        if bytes.len() < length {
            bytes = vec![0; length];
        }
        self.input.read_at(start, &mut bytes[..length])?;
        Ok(Bytes::from_owner(Page { bytes, length, spare: self.spare.clone() }))
    }
}

/// The bytes of a page, in a buffer that is reused.
struct Page {
    bytes: Vec<u8>,
    length: usize,
    spare: Spare,
}

impl AsRef<[u8]> for Page {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE {
            spare.push(std::mem::take(&mut self.bytes));
        }
    }
}

/// Returns the maximum number of bytes to which one byte can be decompressed.
pub(super) fn ratio_of(compression: Compression) -> u64 {
    match compression {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => 32,
        Compression::LZ4 | Compression::LZ4_RAW => 256,
        Compression::GZIP(_) => 1040,
        Compression::ZSTD(_) => 1 << 16,
        _ => 1 << 20,
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.input.len()
    }
}

impl ChunkReader for Pages {
    type T = HeaderReader;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(HeaderReader { pages: self.clone(), at: start, bytes: Bytes::new(), is_checked: false })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.page(start, length)?;
        if self.has_index {
            check_header(&bytes, self.ratio)?;
        }
        Ok(bytes)
    }
}

/// Reads the header of a page, some bytes at a time.
pub(super) struct HeaderReader {
    pages: Pages,
    at: u64,
    bytes: Bytes,
    is_checked: bool,
}

impl Read for HeaderReader {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_empty() {
            let length = self.pages.len().saturating_sub(self.at).min(HEADER_BYTES as u64) as usize;
            self.bytes = self.pages.input.bytes_at(self.at, length)?;
            self.at += length as u64;
            if !std::mem::replace(&mut self.is_checked, true) {
                check_header(&self.bytes, self.pages.ratio)?;
            }
        }
        let count = target.len().min(self.bytes.len());
        target[..count].copy_from_slice(&self.bytes.split_to(count));
        Ok(count)
    }
}

/// Checks the sizes in a header: Thrift's fields 1, 2 and 3, its type and its sizes before and after compression.
/// Headers of any other form are left to the parser.
fn check_header(bytes: &[u8], ratio: u64) -> io::Result<()> {
    let mut rest = bytes;
    let sizes = (next_i32(&mut rest), next_i32(&mut rest), next_i32(&mut rest));
    let (Some(_), Some(size), Some(compressed)) = sizes else { return Ok(()) };
    let (Ok(size), Ok(compressed)) = (u64::try_from(size), u64::try_from(compressed)) else { return Ok(()) };
    if size <= compressed.saturating_mul(ratio).max(LEAST_PAGE) {
        return Ok(());
    }
    let reason = format!("the header of a page claims that {compressed} bytes become {size}");
    Err(io::Error::new(io::ErrorKind::InvalidData, reason))
}

/// Reads a field that is an `i32`.
fn next_i32(bytes: &mut &[u8]) -> Option<i64> {
    let (&first, mut rest) = bytes.split_first()?;
    if first != NEXT_I32 {
        return None;
    }
    let mut value = 0_u64;
    for shift in (0..35).step_by(7) {
        let (&byte, tail) = rest.split_first()?;
        rest = tail;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            *bytes = rest;
            return Some((value >> 1) as i64 ^ -((value & 1) as i64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_claims_too_much_is_refused() {
        let header = [0x15, 0x00, 0x15, 0x80, 0x80, 0x80, 0x01, 0x15, 0x14, 0x2c]; // 0, 1 MiB, 10
        assert!(check_header(&header, 32).is_err());
        assert!(check_header(&header, 1 << 17).is_ok());
        assert!(check_header(&header[1..], 32).is_ok());
        assert!(check_header(&header[..5], 32).is_ok());
    }
}
