//! Writing a zip file of arrays.
//!
//! The header of a member is written after its bytes, when their number and checksum are known. The directory comes
//! last, so that an incomplete file is never taken for an archive.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::zip::DIRECTORY_LIMIT;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::progress::Meter;
use crate::storage::output::Output;
use crate::storage::position::Sink;

/// A member of at least this many bytes has 8-byte sizes, because compression may add a few bytes.
const WIDE: u64 = 0xF000_0000;
/// With at least this many members, their number takes 8 bytes.
const MANY: u64 = 0xFFFF;
/// The oldest valid date, 1980-01-01, which NumPy writes.
const DATE: u16 = 0x0021;
const VERSION: u16 = 20;
const WIDE_VERSION: u16 = 45;
/// The flag for a name in UTF-8.
const UTF_8: u16 = 1 << 11;
/// The largest number of bytes of a directory entry, without its name.
const ENTRY_BYTES: usize = 46 + 28;

/// A zip file that is being written.
#[derive(Debug)]
pub(in crate::interop) struct Archive {
    /// The end of the bytes written so far.
    end: u64,
    directory: Vec<u8>,
    count: u64,
    meter: Meter,
}

/// The state of a partly written archive, to return to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    end: u64,
    directory: usize,
    count: u64,
}

impl Archive {
    /// Creates an archive without members. `meter` counts the bytes of values.
    pub(in crate::interop) fn new(meter: Meter) -> Self {
        Self { end: 0, directory: Vec::new(), count: 0, meter }
    }

    /// Returns the current state.
    pub(super) fn mark(&self) -> Mark {
        Mark { end: self.end, directory: self.directory.len(), count: self.count }
    }

    /// Discards the members written since; the next one overwrites their bytes.
    pub(super) fn go_back(&mut self, mark: Mark) {
        self.directory.truncate(mark.directory);
        (self.end, self.count) = (mark.end, mark.count);
    }

    /// Writes a member of `size` bytes with the function `write`. If that fails, the archive is unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; [`ErrorKind::LimitExceeded`]; those of `write`.
    pub(in crate::interop) fn member<S: Sink>(
        &mut self,
        output: &Output<'_, S>,
        name: &str,
        size: u64,
        is_compressed: bool,
        write: impl FnOnce(&mut Member<'_>) -> Result<()>,
    ) -> Result<()> {
        let (start, is_wide) = (self.end, size >= WIDE);
        let head = 30 + name.len() as u64 + if is_wide { 20 } else { 0 };
        let length = self.directory.len() + ENTRY_BYTES + name.len();
        if length as u64 > DIRECTORY_LIMIT {
            return Err(Error::limit(
                "bytes of the list of arrays (use shorter names)",
                length,
                DIRECTORY_LIMIT as usize,
            ));
        }
        let room = ENTRY_BYTES + name.len();
        self.directory.try_reserve(room).map_err(|_| Error::out_of_memory(room))?;
        if !is_compressed {
            output.reserve(start + head + size)?;
        }
        let mut body = Body { output, at: start + head };
        let bytes = match is_compressed {
            true => Bytes::Deflated(DeflateEncoder::new(&mut body, Compression::default())),
            false => Bytes::Stored(&mut body),
        };
        let (meter, path) = (&self.meter, output.path);
        let mut member = Member { bytes, hasher: crc32fast::Hasher::new(), meter, path };
        write(&mut member)?;
        let checksum = member.finish()?;
        let compressed = body.at - start - head;
        let method = if is_compressed { 8_u16 } else { 0 };
        let version = if is_wide { WIDE_VERSION } else { VERSION };
        let flags = if name.is_ascii() { 0 } else { UTF_8 };
        let narrow = |size: u64| if is_wide { u32::MAX } else { size as u32 }; // below `WIDE`, or slightly more
        let mut common = Vec::new();
        for word in [version, flags, method, 0, DATE] {
            common.extend(word.to_le_bytes());
        }
        for word in [checksum, narrow(compressed), narrow(size)] {
            common.extend(word.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        let sizes = if is_wide { [size.to_le_bytes(), compressed.to_le_bytes()].concat() } else { Vec::new() };

        let mut local = b"PK\x03\x04".to_vec();
        local.extend(&common);
        push_extra(&mut local, name, &sizes, &[]);
        output.write(&local, start)?;

        let start_is_wide = is_wide || start >= WIDE;
        let mut sizes = sizes;
        if start_is_wide {
            sizes.extend(start.to_le_bytes());
        }
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(version.to_le_bytes()); // made by: MS-DOS, which has no permissions
        self.directory.extend(&common);
        let start = if start_is_wide { u32::MAX } else { start as u32 };
        let place = [&[0; 10][..], &start.to_le_bytes()].concat(); // no comment, disk 0, no attributes
        push_extra(&mut self.directory, name, &sizes, &place);
        (self.end, self.count) = (body.at, self.count + 1);
        Ok(())
    }

    /// Writes the directory. Returns the length of the file.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub(in crate::interop) fn finish<S: Sink>(self, output: &Output<'_, S>) -> Result<u64> {
        let (start, size, count) = (self.end, self.directory.len() as u64, self.count);
        let mut bytes = self.directory;
        let is_wide = start >= WIDE || count >= MANY;
        if is_wide {
            bytes.extend(b"PK\x06\x06");
            bytes.extend(44_u64.to_le_bytes()); // the bytes that follow
            bytes.extend([WIDE_VERSION.to_le_bytes(), WIDE_VERSION.to_le_bytes()].concat());
            bytes.extend([0; 8]); // disks
            for word in [count, count, size, start] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(b"PK\x06\x07\0\0\0\0");
            bytes.extend((start + size).to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
        }
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        let narrow = count.min(MANY) as u16;
        bytes.extend([narrow.to_le_bytes(), narrow.to_le_bytes()].concat());
        bytes.extend((size as u32).to_le_bytes()); // at most `DIRECTORY_LIMIT`
        bytes.extend(if is_wide { u32::MAX } else { start as u32 }.to_le_bytes());
        bytes.extend([0; 2]); // no comment
        output.write(&bytes, start)?;
        Ok(start + bytes.len() as u64)
    }
}

/// Appends the length of the extra field, `between`, the name, and the extra field with the 8-byte sizes.
fn push_extra(bytes: &mut Vec<u8>, name: &str, sizes: &[u8], between: &[u8]) {
    let length = if sizes.is_empty() { 0 } else { sizes.len() as u16 + 4 };
    bytes.extend(length.to_le_bytes());
    bytes.extend(between);
    bytes.extend(name.as_bytes());
    if length > 0 {
        bytes.extend([1_u16.to_le_bytes(), (sizes.len() as u16).to_le_bytes()].concat());
        bytes.extend(sizes);
    }
}

/// A member that is being written: header and values of an array.
pub(in crate::interop) struct Member<'a> {
    bytes: Bytes<'a>,
    hasher: crc32fast::Hasher,
    meter: &'a Meter,
    path: &'a Path,
}

enum Bytes<'a> {
    Stored(&'a mut dyn Write),
    Deflated(DeflateEncoder<&'a mut dyn Write>),
}

impl Member<'_> {
    /// Writes bytes that are not values.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub(in crate::interop) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.hasher.update(bytes);
        let written = match &mut self.bytes {
            Bytes::Stored(body) => body.write_all(bytes),
            Bytes::Deflated(encoder) => encoder.write_all(bytes),
        };
        written.map_err(|source| Error::io(self.path, source))
    }

    /// Writes the bytes of values and reports them as progress.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub(in crate::interop) fn write_values(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes)?;
        self.meter.add(bytes.len() as u64);
        Ok(())
    }

    /// Returns the checksum of all bytes.
    fn finish(self) -> Result<u32> {
        if let Bytes::Deflated(encoder) = self.bytes {
            encoder.finish().map_err(|source| Error::io(self.path, source))?;
        }
        Ok(self.hasher.finalize())
    }
}

/// The bytes of a member in the file.
struct Body<'a, S> {
    output: &'a Output<'a, S>,
    at: u64,
}

impl<S: Sink> Write for Body<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.sink.write_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
