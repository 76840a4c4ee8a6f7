//! Writing a zip file of arrays.
//!
//! The header of a member is written after its bytes, when their number and their checksum are known; the directory
//! comes last, so that an incomplete file is never taken for an archive.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::base::error::{Error, Result};
use crate::files::output::Output;
use crate::files::position::Sink;

/// A member of at least this many bytes has sizes of 8 bytes: compression may add a little.
const WIDE: u64 = 0xF000_0000;
/// The oldest date that there is, 1980-01-01: what NumPy writes.
const DATE: u16 = 0x0021;
const VERSION: u16 = 20;
const WIDE_VERSION: u16 = 45;

/// A zip file that is being written.
pub(super) struct Archive<'a, S> {
    output: &'a Output<'a, S>,
    /// The end of what has been written.
    end: u64,
    directory: Vec<u8>,
    count: u16,
}

impl<'a, S: Sink> Archive<'a, S> {
    pub(super) fn new(output: &'a Output<'a, S>) -> Self {
        Self { output, end: 0, directory: Vec::new(), count: 0 }
    }

    /// Writes a member of `size` bytes, which `write` writes.
    ///
    /// # Errors
    /// [`Error::Io`]; those of `write`.
    pub(super) fn member(
        &mut self,
        name: &str,
        size: u64,
        is_compressed: bool,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let (start, is_wide) = (self.end, size >= WIDE);
        let head = 30 + name.len() as u64 + if is_wide { 20 } else { 0 };
        let failed = |source| Error::Io { path: self.output.path.to_owned(), source };
        let mut body = Body { output: self.output, at: start + head };
        let mut counted = Counted { inner: &mut body, hasher: crc32fast::Hasher::new() };
        let checksum = if is_compressed {
            let encoder = DeflateEncoder::new(counted.inner, Compression::default());
            let mut counted = Counted { inner: encoder, hasher: counted.hasher };
            write(&mut counted).map_err(failed)?;
            counted.inner.finish().map_err(failed)?;
            counted.hasher.finalize()
        } else {
            write(&mut counted).map_err(failed)?;
            counted.hasher.finalize()
        };
        let compressed = body.at - start - head;
        let method = if is_compressed { 8_u16 } else { 0 };
        let version = if is_wide { WIDE_VERSION } else { VERSION };
        let narrow = |size: u64| if is_wide { u32::MAX } else { size as u32 }; // below `WIDE`, or little more
        let mut common = Vec::new();
        for word in [version, 0, method, 0, DATE] {
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
        self.output.write(&local, start)?;

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

    /// Writes the directory.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn finish(self) -> Result<()> {
        let (start, size, count) = (self.end, self.directory.len() as u64, self.count);
        let mut bytes = self.directory;
        let is_wide = start >= WIDE;
        if is_wide {
            bytes.extend(b"PK\x06\x06");
            bytes.extend(44_u64.to_le_bytes()); // the bytes that follow
            bytes.extend([WIDE_VERSION.to_le_bytes(), WIDE_VERSION.to_le_bytes()].concat());
            bytes.extend([0; 8]); // disks
            for word in [u64::from(count), u64::from(count), size, start] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(b"PK\x06\x07\0\0\0\0");
            bytes.extend((start + size).to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
        }
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
        bytes.extend((size as u32).to_le_bytes()); // a few members
        bytes.extend(if is_wide { u32::MAX } else { start as u32 }.to_le_bytes());
        bytes.extend([0; 2]); // no comment
        self.output.write(&bytes, start)
    }
}

/// Appends the length of the extra field, `between`, the name, and the extra field with the sizes of 8 bytes.
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

/// Computes the checksum of what is written.
struct Counted<W> {
    inner: W,
    hasher: crc32fast::Hasher,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
