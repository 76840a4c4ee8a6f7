//! The bytes of a Parquet file for the `parquet` crate, and the checks of page headers.

use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

use crate::input::{Input, zeroed};

/// Number of bytes of a page header that are read at once. Headers without statistics have about 30 bytes.
const HEADER_BYTES: usize = 256;
/// Decompressed size that every page may have, regardless of its compressed size.
const MIN_PAGE: u64 = 64 << 10;
/// Maximum number of page buffers that are kept for reuse, and of their bytes together.
const MAX_SPARE: usize = 64;
const MAX_SPARE_BYTES: usize = 16 << 20;
/// Maximum number of bytes of a page header, which may hold the minimum and the maximum of texts.
const MAX_HEADER_BYTES: usize = 1 << 20;
/// Number of bytes that are enough for the type and the sizes of a page.
const MIN_HEADER: usize = 33;
/// Maximum number of structures within the structures of a page header; writers use two.
const MAX_NESTED: usize = 8;
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
    /// Number of bytes that the page of the last header has after decompression.
    size: Arc<AtomicUsize>,
}

impl Pages {
    pub(super) fn new(input: &Input, ratio: u64, has_index: bool, spare: &Spare) -> Self {
        Self { input: input.clone(), ratio, has_index, spare: spare.clone(), size: Arc::default() }
    }

    /// Returns where the size after decompression of each page is found, once its header was read.
    pub(super) fn size(&self) -> Arc<AtomicUsize> {
        self.size.clone()
    }
}

impl Pages {
    /// Reads a page, into the buffer of an earlier one if available.
    fn page(&self, start: u64, length: usize) -> io::Result<Bytes> {
        if let Input::Bytes(_) = self.input {
            return self.input.bytes_at(start, length);
        }
        self.input.check(start, length)?;
        let mut bytes = buffer_of(length, &self.spare)?;
        self.input.read_at(start, &mut bytes[..length])?;
        Ok(page_of(bytes, length, &self.spare))
    }
}

/// Returns a buffer of at least `length` bytes: that of an earlier page if available.
///
/// # Errors
/// [`io::ErrorKind::OutOfMemory`].
pub(super) fn buffer_of(length: usize, spare: &Spare) -> io::Result<Vec<u8>> {
    let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(fits) = spare.iter().rposition(|bytes| bytes.len() >= length) {
        return Ok(spare.swap_remove(fits));
    }
    drop(spare);
    zeroed(length)
}

/// Returns the first `length` bytes of a buffer, which is reused when they are dropped.
pub(super) fn page_of(bytes: Vec<u8>, length: usize, spare: &Spare) -> Bytes {
    Bytes::from_owner(Page { bytes, length, spare: spare.clone() })
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
        let bytes = spare.iter().map(Vec::len).sum::<usize>();
        if spare.len() < MAX_SPARE && bytes + self.bytes.len() <= MAX_SPARE_BYTES {
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
            check_header(&bytes, self.ratio, length as u64)?;
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
            let left = self.pages.len().saturating_sub(self.at);
            let mut length = left.min(HEADER_BYTES as u64) as usize;
            self.bytes = self.pages.input.bytes_at(self.at, length)?;
            if !std::mem::replace(&mut self.is_checked, true) && !check_header(&self.bytes, self.pages.ratio, left)? {
                length = left.min(MAX_HEADER_BYTES as u64) as usize;
                self.bytes = self.pages.input.bytes_at(self.at, length)?;
                if !check_header(&self.bytes, self.pages.ratio, left)? {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "the header of a page does not end"));
                }
            }
            self.at += length as u64;
            if let Some([size, _]) = next_sizes(&mut &self.bytes[..]) {
                self.pages.size.store(usize::try_from(size).unwrap_or(usize::MAX), Ordering::Relaxed);
            }
        }
        let count = target.len().min(self.bytes.len());
        target[..count].copy_from_slice(&self.bytes.split_to(count));
        Ok(count)
    }
}

/// Checks the sizes in a header. In Thrift's compact protocol, fields 1, 2 and 3 are its type and its sizes before and
/// after compression. Returns whether the whole header is in `bytes`. `limit` is the number of bytes of the page.
///
/// # Errors
/// For sizes that no page has, and for forms of a header that no writer uses: the parser accepts fields in any order
/// and repeated ones, and allocates the last size that it finds.
fn check_header(bytes: &[u8], ratio: u64, limit: u64) -> io::Result<bool> {
    let refused = |reason: String| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    let mut rest = bytes;
    let Some(sizes) = next_sizes(&mut rest) else {
        return match bytes.len() < MIN_HEADER {
            true => Ok(false),
            false => refused("the header of a page does not begin with its type and sizes".to_owned()),
        };
    };
    let [Ok(size), Ok(compressed)] = sizes.map(u64::try_from) else {
        return refused("the header of a page has negative sizes".to_owned());
    };
    if size > compressed.min(limit).saturating_mul(ratio).max(MIN_PAGE) {
        return refused(format!("the header of a page claims that {compressed} bytes become {size}"));
    }
    match skip_struct(&mut rest, MAX_NESTED) {
        Skipped::Whole => Ok(true),
        Skipped::CutOff => Ok(false),
        Skipped::Unknown => refused("the header of a page has a form that no writer uses".to_owned()),
    }
}

/// Reads the type of a page, which is ignored, and its two sizes.
fn next_sizes(bytes: &mut &[u8]) -> Option<[i64; 2]> {
    next_i32(bytes)?;
    Some([next_i32(bytes)?, next_i32(bytes)?])
}

/// Reads a field that is an `i32`.
fn next_i32(bytes: &mut &[u8]) -> Option<i64> {
    let (&first, mut rest) = bytes.split_first()?;
    if first != NEXT_I32 {
        return None;
    }
    let value = varint(&mut rest)?;
    *bytes = rest;
    Some(zigzag(value))
}

/// Decodes an integer whose sign is in the lowest bit, as Thrift and the encodings of Parquet store it.
pub(super) fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads an integer of variable length: at most 10 bytes.
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// What became of a structure that was skipped.
#[derive(PartialEq)]
enum Skipped {
    Whole,
    /// The bytes end before it does.
    CutOff,
    /// A field has a form that no writer uses.
    Unknown,
}

/// Skips the fields of a structure up to its end. Their numbers increase, as every writer has them.
fn skip_struct(bytes: &mut &[u8], depth: usize) -> Skipped {
    loop {
        let Some((&head, rest)) = bytes.split_first() else { return Skipped::CutOff };
        *bytes = rest;
        if head == 0 {
            return Skipped::Whole;
        }
        if head >> 4 == 0 {
            return Skipped::Unknown; // the number of the field follows: it may be one that was there before
        }
        let skipped = match head & 0x0f {
            1 | 2 => Some(()), // a boolean is in its head
            3 => bytes.split_first().map(|(_, rest)| *bytes = rest),
            4..=6 => varint(bytes).map(|_| ()),
            7 => bytes.split_at_checked(8).map(|(_, rest)| *bytes = rest),
            8 => varint(bytes).and_then(|length| {
                let (_, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
                *bytes = rest;
                Some(())
            }),
            12 if depth > 0 => match skip_struct(bytes, depth - 1) {
                Skipped::Whole => Some(()),
                other => return other,
            },
            _ => return Skipped::Unknown,
        };
        if skipped.is_none() {
            return Skipped::CutOff;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of 1 MiB and 10 bytes, and an empty structure for a page of data.
    const HEADER: [u8; 12] = [0x15, 0x00, 0x15, 0x80, 0x80, 0x80, 0x01, 0x15, 0x14, 0x2c, 0x00, 0x00];

    #[test]
    fn a_header_that_claims_too_much_is_refused() {
        assert!(check_header(&HEADER, 32, u64::MAX).is_err());
        assert!(check_header(&HEADER, 1 << 17, u64::MAX).unwrap());
        assert!(check_header(&HEADER, 1 << 17, 5).is_err()); // the page has fewer bytes than the header claims
        for length in 0..HEADER.len() {
            assert!(!check_header(&HEADER[..length], 1 << 17, u64::MAX).unwrap_or(false), "{length}");
        }
    }

    #[test]
    fn a_header_with_a_repeated_field_is_refused() {
        let mut header = HEADER[..11].to_vec();
        header.extend([0x05, 0x04, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x00]); // field 2 again: 2 GiB
        assert!(check_header(&header, 1 << 17, u64::MAX).is_err());
        let mut header = vec![0x05, 0x02]; // field 1, with its number
        header.extend(&HEADER[1..]);
        assert!(!check_header(&header, 1 << 17, u64::MAX).unwrap_or(false));
        header.extend([0; 40]);
        assert!(check_header(&header, 1 << 17, u64::MAX).is_err());
    }

    #[test]
    fn statistics_in_a_header_are_skipped() {
        // A data page with a count, statistics of two binary values and a count, and a boolean.
        let page = [0x15, 0x02, 0x1c, 0x18, 0x02, 7, 7, 0x18, 0x01, 9, 0x16, 0x04, 0x00, 0x11, 0x00];
        let header = [&HEADER[..10], &page[..], &[0x00]].concat();
        assert!(check_header(&header, 1 << 17, u64::MAX).unwrap());
        let nested = [&HEADER[..9], &[0x1c; 40][..]].concat();
        assert!(check_header(&nested, 1 << 17, u64::MAX).is_err());
    }
}
