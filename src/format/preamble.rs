//! The first 64 bytes of a table file: magic number, version, positions of the parts, length of the file.
//!
//! Decoding treats input as untrusted: sums of the fields of a [`Preamble`] from [`Preamble::decode`] cannot overflow.
//! The rules are in `README.md`, "Rules for readers".

use super::header::EncodedHeader;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Hint, Result};
use crate::table::TableKind;

/// Not valid text; the line ends reveal a transfer that converted them.
pub(super) const MAGIC: [u8; 8] = *b"\x89NTB\r\n\x1a\n";
/// The newest minor version of every major version.
const MINOR: u16 = 0;

/// The major versions. All of them can be read. A file is written in the lowest version that can represent it, except
/// for version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u16)]
pub(super) enum Major {
    /// Every table is homogeneous.
    Homogeneous = 1,
    /// A header begins with the name of the table's kind.
    WithKind = 2,
    /// Categories may have labels.
    WithWords = 3,
    /// Features state whether values of a column may be missing.
    WithGaps = 4,
}

impl Major {
    const OLDEST: u16 = Self::Homogeneous as u16;
    const NEWEST: u16 = Self::WithGaps as u16;

    fn from_number(number: u16) -> Option<Self> {
        let all = [Self::Homogeneous, Self::WithKind, Self::WithWords, Self::WithGaps];
        all.into_iter().find(|&major| major as u16 == number)
    }

    pub(super) fn has_words(self) -> bool {
        self >= Self::WithWords
    }

    pub(super) fn has_gaps(self) -> bool {
        self >= Self::WithGaps
    }
}

/// Size of the preamble in bytes, and position of the header.
pub(super) const PREAMBLE_BYTES: usize = 64;
/// Maximum size of a header in bytes, without the name of the table's kind.
pub(super) const HEADER_LIMIT: usize = 16 << 20;
/// Maximum size in bytes of the name of the table's kind, including its length.
pub(super) const KIND_LIMIT: usize = 1 + TableKind::NAME_LIMIT;
/// Values begin at a multiple of this.
const PAYLOAD_ALIGNMENT: u64 = 4096;
/// Checksums begin at a multiple of this.
const CHECKSUM_ALIGNMENT: u64 = 8;

/// The positions of the parts of a file.
///
/// Invariant: the parts are in order, do not overlap, and end at the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Preamble {
    pub(super) major: Major,
    pub(super) header_length: u32,
    pub(super) payload_offset: u64,
    pub(super) payload_length: u64,
    pub(super) file_length: u64,
    pub(super) header_checksum: u32,
    /// Bytes of payload per checksum; 0 without checksums.
    pub(super) chunk_size: u32,
}

impl Preamble {
    /// Lays out a file, with a header of at most [`HEADER_LIMIT`] + [`KIND_LIMIT`] bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if the file would exceed the maximum length of a file.
    pub(super) fn new(header: &EncodedHeader, payload_length: u64, chunk_size: u32) -> Result<Self> {
        Self::with_room(header, 0, payload_length, chunk_size)
    }

    /// Lays out a file like [`new`](Self::new), with values that begin at byte `start` or later.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub(super) fn with_room(header: &EncodedHeader, start: u64, payload_length: u64, chunk_size: u32) -> Result<Self> {
        let payload_offset = ((PREAMBLE_BYTES + header.len()) as u64).max(start).next_multiple_of(PAYLOAD_ALIGNMENT);
        let file_length = end_of_file(payload_offset, payload_length, chunk_size).ok_or_else(|| {
            Error::format(payload_offset, format!("{payload_length} bytes of values are more than a file can hold"))
        })?;
        Ok(Self {
            major: header.major,
            header_length: header.len() as u32, // at most the limits
            payload_offset,
            payload_length,
            file_length,
            header_checksum: crc32fast::hash(header),
            chunk_size,
        })
    }

    /// Returns whether the header begins with the name of the table's kind. Otherwise, the table is homogeneous.
    pub(super) fn names_kind(&self) -> bool {
        self.major >= Major::WithKind
    }

    pub(super) fn payload_end(&self) -> u64 {
        self.payload_offset + self.payload_length
    }

    /// Returns the position of the checksums, starting with their number.
    pub(super) fn checksums_offset(&self) -> u64 {
        self.payload_end().next_multiple_of(CHECKSUM_ALIGNMENT)
    }

    /// Returns the number of checksums.
    pub(super) fn chunk_count(&self) -> u64 {
        chunk_count(self.payload_length, self.chunk_size)
    }

    pub(super) fn encode(&self) -> [u8; PREAMBLE_BYTES] {
        let mut bytes = [0; PREAMBLE_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&(self.major as u16).to_le_bytes());
        bytes[10..12].copy_from_slice(&MINOR.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.header_length.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.payload_offset.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.payload_length.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.file_length.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.header_checksum.to_le_bytes());
        bytes[44..48].copy_from_slice(&self.chunk_size.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..60]);
        bytes[60..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Decodes the start of a file of `real_length` bytes: at least the first 64 bytes, or the complete file if it is
    /// shorter.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first broken rule.
    pub(super) fn decode(start: &[u8], real_length: u64) -> Result<Self> {
        check_magic(start)?;
        let Some(bytes) = start.first_chunk::<PREAMBLE_BYTES>() else {
            let reason = format!("the file is cut off: it has {real_length} bytes of at least {PREAMBLE_BYTES}");
            return Err(Error::format(real_length, reason));
        };
        let (major, minor) = (u16_at(bytes, 8), u16_at(bytes, 10));
        let major = Major::from_number(major).ok_or_else(|| unknown_version(major, minor))?;
        if u32_at(bytes, 60) != crc32fast::hash(&bytes[..60]) {
            return Err(Error::format(60, "the checksum of the first 60 bytes does not match: they are damaged"));
        }
        let found = Self {
            major,
            header_length: u32_at(bytes, 12),
            payload_offset: u64_at(bytes, 16),
            payload_length: u64_at(bytes, 24),
            file_length: u64_at(bytes, 32),
            header_checksum: u32_at(bytes, 40),
            chunk_size: u32_at(bytes, 44),
        };
        found.check_length(real_length)?;
        found.check_parts()?;
        if minor == MINOR && bytes[48..60] != [0; 12] {
            return Err(Error::format(48, "reserved bytes are not zero"));
        }
        Ok(found)
    }

    /// Returns whether these bytes begin a file of a version newer than this library reads.
    pub(super) fn is_newer(bytes: &[u8; PREAMBLE_BYTES]) -> bool {
        let is_whole = u32_at(bytes, 60) == crc32fast::hash(&bytes[..60]);
        bytes.starts_with(&MAGIC) && is_whole && u16_at(bytes, 8) > Major::NEWEST
    }

    /// Checks the checksum of the header.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
    pub(super) fn check_header(&self, header: &[u8]) -> Result<()> {
        match crc32fast::hash(header) == self.header_checksum {
            true => Ok(()),
            false => {
                let reason = "the checksum of the header does not match: it is damaged";
                Err(Error::format(PREAMBLE_BYTES as u64, reason))
            }
        }
    }

    /// Checks that the number of checksums in a file matches the number of chunks of its values.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
    pub(super) fn check_count(&self, stated: u64) -> Result<()> {
        let count = self.chunk_count();
        match stated == count {
            true => Ok(()),
            false => {
                let reason = format!("the file states {stated} checksums, but its values have {count} chunks");
                Err(Error::format(self.checksums_offset(), reason))
            }
        }
    }

    /// Returns the error for a chunk whose checksum differs from the one in the file.
    pub(super) fn damaged(&self, chunk: u64) -> Error {
        let (count, size) = (self.chunk_count(), u64::from(self.chunk_size));
        let start = self.payload_offset + chunk * size;
        let end = self.payload_end().min(start + size);
        let reason =
            format!("the checksum of chunk {chunk} (of {count}) does not match: bytes {start}..{end} are damaged");
        Error::format(start, reason)
    }

    fn check_length(&self, real_length: u64) -> Result<()> {
        let stated = self.file_length;
        if real_length < stated {
            let reason = format!("the file is cut off: it has {real_length} bytes and should have {stated}");
            return Err(Error::format(real_length, reason));
        }
        if real_length > stated {
            let extra = real_length - stated;
            let reason =
                format!("bytes past the end: {extra}; the file has {real_length} bytes and should have {stated}");
            return Err(Error::format(stated, reason));
        }
        Ok(())
    }

    fn check_parts(&self) -> Result<()> {
        let &Self { payload_offset, payload_length, file_length, .. } = self;
        let header_length = u64::from(self.header_length);
        let limit = HEADER_LIMIT + if self.names_kind() { KIND_LIMIT } else { 0 };
        if header_length > limit as u64 {
            return Err(Error::format(12, format!("a header of {header_length} bytes is longer than {limit}")));
        }
        if !payload_offset.is_multiple_of(PAYLOAD_ALIGNMENT) {
            return Err(Error::format(
                16,
                format!("the values begin at byte {payload_offset}, which is not a multiple of 4096"),
            ));
        }
        let header_end = PREAMBLE_BYTES as u64 + header_length;
        if payload_offset < header_end {
            let reason =
                format!("the values begin at byte {payload_offset}, inside the header, which ends at {header_end}");
            return Err(Error::format(16, reason));
        }
        match end_of_file(payload_offset, payload_length, self.chunk_size) {
            Some(end) if end == file_length => Ok(()),
            Some(end) => {
                let reason = format!("values and checksums end at byte {end}, but the file at {file_length}");
                Err(Error::format(24, reason))
            }
            None => {
                let reason =
                    format!("{payload_length} bytes of values at byte {payload_offset} are more than a file can hold");
                Err(Error::format(24, reason))
            }
        }
    }
}

/// Returns the length of a file; `None` if it exceeds `i64::MAX`, the largest length in file systems.
fn end_of_file(payload_offset: u64, payload_length: u64, chunk_size: u32) -> Option<u64> {
    let payload_end = payload_offset.checked_add(payload_length)?;
    let end = match chunk_size {
        0 => payload_end,
        _ => {
            let checksums = chunk_count(payload_length, chunk_size).checked_mul(4)?.checked_add(8)?;
            payload_end.checked_next_multiple_of(CHECKSUM_ALIGNMENT)?.checked_add(checksums)?
        }
    };
    (end <= i64::MAX as u64).then_some(end)
}

fn chunk_count(payload_length: u64, chunk_size: u32) -> u64 {
    match chunk_size {
        0 => 0,
        _ => payload_length.div_ceil(chunk_size.into()),
    }
}

fn unknown_version(major: u16, minor: u16) -> Error {
    let (oldest, newest) = (Major::OLDEST, Major::NEWEST);
    let advice = if major > newest { "; a newer version of the library reads it" } else { "" };
    let reason = format!(
        "the file has format version {major}.{minor}, and this library reads versions {oldest}.{MINOR} to \
         {newest}.{MINOR}{advice}"
    );
    Error::format(8, reason)
}

/// Checks that a file begins with [`MAGIC`]. Otherwise, the error suggests the actual type of the file.
fn check_magic(start: &[u8]) -> Result<()> {
    if start.starts_with(&MAGIC) {
        return Ok(());
    }
    let reason = match start {
        [] => "the file is empty",
        _ if MAGIC.starts_with(start) => "the file is cut off within its first 8 bytes",
        [0x89, b'N', b'T', b'B', ..] | [0x09, b'N', b'T', b'B', ..] => {
            "the file was changed by a transfer as text (line ends or the eighth bit); transfer it as binary"
        }
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => "this is a NumPy .npy file, not a table file",
        [0x1f, 0x8b, ..] => "this is compressed with gzip; decompress it first",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "this is compressed with zstd; decompress it first",
        [b'P', b'K', 3, 4, ..] => "this is a zip file (or .npz), not a table file",
        [b'N', b'U', b'M', b'T', b'A', b'B', b'L', b'E', ..] => {
            let error = Error::format(0, "this is an archive of a table, not a table file");
            return Err(error.with_hint(Hint::new("files::from_bytes", "reads it")));
        }
        _ => "this is not a table file",
    };
    Err(Error::format(0, reason))
}

fn bytes_at<const N: usize>(bytes: &[u8; PREAMBLE_BYTES], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

fn u16_at(bytes: &[u8; PREAMBLE_BYTES], at: usize) -> u16 {
    u16::from_le_bytes(bytes_at(bytes, at))
}

fn u32_at(bytes: &[u8; PREAMBLE_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(bytes, at))
}

fn u64_at(bytes: &[u8; PREAMBLE_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(bytes, at))
}
