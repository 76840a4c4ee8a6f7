//! The members of a zip file: stored or deflated, with or without zip64.
//!
//! Source: PKWARE's APPNOTE 6.3.10, sections 4.3 and 4.5.3. Encrypted files and files in several parts are rejected.
//!
//! Everything in a file is untrusted. Reads check the positions at which they read. The directory is at most as long as
//! the file. A member has exactly the number of bytes given in the directory, and their checksum is verified. No two
//! members share a name or a byte of the file, and no member is larger than its compressed bytes can become. The local
//! headers are used only to find where the bytes of a member begin.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};

use flate2::bufread::DeflateDecoder;

use super::names::decode;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::text::excerpt;
use crate::storage::PIECE_BYTES;

const END_MARK: [u8; 4] = *b"PK\x05\x06";
const END_BYTES: usize = 22;
const WIDE_LOCATOR_MARK: [u8; 4] = *b"PK\x06\x07";
const WIDE_LOCATOR_BYTES: usize = 20;
const WIDE_END_MARK: [u8; 4] = *b"PK\x06\x06";
const WIDE_END_BYTES: usize = 56;
const ENTRY_MARK: [u8; 4] = *b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
const LOCAL_MARK: [u8; 4] = *b"PK\x03\x04";
const LOCAL_BYTES: u64 = 30;
/// The ID of the extra field with 8-byte sizes.
const WIDE_EXTRA: u16 = 1;
/// The longest comment at the end of a file.
const COMMENT_BYTES: u64 = u16::MAX as u64;
/// The longest directory that is read, enough for a hundred thousand members.
pub(super) const DIRECTORY_LIMIT: u64 = 16 << 20;
/// The largest expansion factor: a deflated copy of 258 bytes takes at least two bits.
const GROWTH: u64 = 1032;
/// Number of bytes that are read from the file at a time.
const BUFFER: usize = 64 << 10;

/// A member as described by the directory.
#[derive(Clone, Debug)]
pub(in crate::interop) struct Entry {
    name: Vec<u8>,
    is_utf8: bool,
    is_encrypted: bool,
    method: u16,
    checksum: u32,
    /// Number of bytes in the file.
    pub(super) compressed: u64,
    /// Number of bytes when decompressed.
    pub(in crate::interop) size: u64,
    /// Position of the local header.
    start: u64,
}

/// An open zip file.
#[derive(Debug)]
pub(in crate::interop) struct Zip<R> {
    source: R,
    length: u64,
    entries: Vec<Entry>,
    failed: fn(std::io::Error) -> Error,
}

impl<R: Read + Seek> Zip<R> {
    /// Reads the directory. `failed` converts errors of the source.
    ///
    /// # Errors
    /// [`ErrorKind::Format`]; those of `failed`; [`ErrorKind::OutOfMemory`].
    pub(in crate::interop) fn open(mut source: R, failed: fn(std::io::Error) -> Error) -> Result<Self> {
        let length = source.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut new = Self { source, length, entries: Vec::new(), failed };
        let (start, size, count) = new.find_directory()?;
        if size > DIRECTORY_LIMIT {
            let reason = format!("a directory of {size} bytes is longer than {DIRECTORY_LIMIT}");
            return Err(Error::format(start, reason));
        }
        let directory = new.read_at(start, size, "the directory")?;
        let mut rest = &directory[..];
        for _ in 0..count {
            let at = start + (directory.len() - rest.len()) as u64;
            let (entry, length) = Entry::parse(rest).map_err(|reason| Error::format(at, reason))?;
            rest = &rest[length..];
            new.entries.try_reserve(1).map_err(|_| Error::out_of_memory(size_of::<Entry>()))?;
            new.entries.push(entry);
        }
        if !rest.is_empty() {
            let at = start + (directory.len() - rest.len()) as u64;
            return Err(Error::format(at, format!("{} bytes follow the last entry of the directory", rest.len())));
        }
        new.check_entries(start)?;
        Ok(new)
    }

    /// Checks that no two members have the same name or share bytes, and that all end before the directory, which
    /// begins at `end`.
    fn check_entries(&self, end: u64) -> Result<()> {
        let mut names = HashSet::new();
        if let Some(entry) = self.entries.iter().find(|entry| !names.insert(&entry.name)) {
            return Err(Error::format(entry.start, format!("two members have the name {}", entry.described())));
        }
        let mut order: Vec<&Entry> = self.entries.iter().collect();
        order.sort_unstable_by_key(|entry| entry.start);
        let ends = order.iter().skip(1).map(|next| next.start).chain([end]);
        for (entry, end) in order.iter().zip(ends) {
            let least = (LOCAL_BYTES + entry.name.len() as u64).checked_add(entry.compressed);
            if least.and_then(|least| least.checked_add(entry.start)).is_none_or(|least| least > end) {
                let reason =
                    format!("the member {} goes past byte {end}, where another part begins", entry.described());
                return Err(Error::format(entry.start, reason));
            }
        }
        Ok(())
    }

    /// Returns the position, the size and the number of entries of the directory.
    fn find_directory(&mut self) -> Result<(u64, u64, u64)> {
        let tail = self.length.min(COMMENT_BYTES + (END_BYTES + WIDE_LOCATOR_BYTES) as u64);
        let first = self.length - tail;
        let bytes = self.read_at(first, tail, "the end")?;
        let ends = |at: &usize| {
            let comment = bytes.get(at + 20..at + 22).map(number);
            bytes[*at..].starts_with(&END_MARK) && comment == Some((bytes.len() - at - END_BYTES) as u64)
        };
        let Some(at) =
            (0..=bytes.len().saturating_sub(END_BYTES)).rev().filter(|at| at + END_BYTES <= bytes.len()).find(ends)
        else {
            return Err(Error::format(
                0,
                "this is not a zip file, or it is cut off: the signature of its end is missing",
            ));
        };
        let end = &bytes[at..at + END_BYTES];
        let (size, start, count) = (number(&end[12..16]), number(&end[16..20]), number(&end[10..12]));
        let locator = at.checked_sub(WIDE_LOCATOR_BYTES).map(|start| &bytes[start..at]);
        match locator.filter(|locator| locator.starts_with(&WIDE_LOCATOR_MARK)) {
            Some(locator) => {
                let place = number(&locator[8..16]);
                let end = self.read_at(place, WIDE_END_BYTES as u64, "the end")?;
                if !end.starts_with(&WIDE_END_MARK) {
                    return Err(Error::format(place, "the signature of the directory's end is missing"));
                }
                Ok((number(&end[48..56]), number(&end[40..48]), number(&end[32..40])))
            }
            None => Ok((start, size, count)),
        }
    }

    /// Reads the given number of bytes at a position, after checking that the file has them.
    fn read_at(&mut self, start: u64, count: u64, what: &str) -> Result<Vec<u8>> {
        let outside = || Error::format(start, format!("{what} lies outside the file, which has {} bytes", self.length));
        if start.checked_add(count).is_none_or(|end| end > self.length) {
            return Err(outside());
        }
        let count = usize::try_from(count).map_err(|_| outside())?;
        let mut bytes = crate::storage::zeroed(count)?;
        self.source.seek(SeekFrom::Start(start)).map_err(self.failed)?;
        self.source.read_exact(&mut bytes).map_err(self.failed)?;
        Ok(bytes)
    }

    /// Returns the members, in the order of the directory.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the number of bytes of the file.
    pub(in crate::interop) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the entry of a member.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if it does not exist.
    pub(in crate::interop) fn entry(&self, name: &str) -> Result<Entry> {
        let found = self.entries.iter().find(|entry| entry.name == name.as_bytes());
        found.cloned().ok_or_else(|| Error::format(0, format!("the member {name:?} is missing")))
    }

    /// Opens a member.
    ///
    /// # Errors
    /// [`ErrorKind::Format`]; those of the source.
    pub(in crate::interop) fn member(&mut self, entry: &Entry) -> Result<Member<'_, R>> {
        let local = self.read_at(entry.start, LOCAL_BYTES, "a member")?;
        let refuse = |reason: String| Err(Error::format(entry.start, reason));
        if !local.starts_with(&LOCAL_MARK) {
            return refuse("the signature of a member is missing".to_owned());
        }
        let name = entry.described();
        if entry.is_encrypted {
            return refuse(format!("the member {name} is encrypted"));
        }
        let start = entry.start + LOCAL_BYTES + number(&local[26..28]) + number(&local[28..30]); // inside the file
        if start.checked_add(entry.compressed).is_none_or(|end| end > self.length) {
            return refuse(format!("the member {name} goes past the end of the file, which has {} bytes", self.length));
        }
        self.source.seek(SeekFrom::Start(start)).map_err(self.failed)?;
        let bytes = BufReader::with_capacity(BUFFER, (&mut self.source).take(entry.compressed));
        let bytes = match entry.method {
            0 if entry.compressed == entry.size => Bytes::Stored(bytes),
            0 => return refuse(format!("the member {name} is stored, but has two different sizes")),
            8 if entry.size > entry.compressed.saturating_add(1).saturating_mul(GROWTH) => {
                let Entry { compressed, size, .. } = entry;
                let reason = format!("the member {name} has {compressed} bytes, which cannot become {size}");
                return refuse(reason);
            }
            8 => Bytes::Deflated(DeflateDecoder::new(bytes)),
            method => return refuse(format!("the member {name} is compressed by method {method}, not 0 or 8")),
        };
        let hasher = crc32fast::Hasher::new();
        Ok(Member { bytes, left: entry.size, hasher, checksum: entry.checksum, start: entry.start })
    }
}

impl Entry {
    /// Returns the name, decoded as in Python.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if it is marked as UTF-8 and is not.
    pub(super) fn name(&self) -> Result<Cow<'_, str>> {
        let refused = || Error::format(self.start, format!("the name {} is not UTF-8", self.described()));
        decode(&self.name, self.is_utf8).ok_or_else(refused)
    }

    /// Returns the name for messages.
    fn described(&self) -> String {
        format!("{:?}", excerpt(&self.name))
    }

    /// Parses the first entry of a directory. Returns it with its length.
    fn parse(bytes: &[u8]) -> Result<(Self, usize), &'static str> {
        const CUT_OFF: &str = "the directory is cut off";
        let fixed = bytes.get(..ENTRY_BYTES).ok_or(CUT_OFF)?;
        if !fixed.starts_with(&ENTRY_MARK) {
            return Err("the signature of a directory entry is missing");
        }
        let [name, extra, comment] = [28, 30, 32].map(|at| number(&fixed[at..at + 2]) as usize);
        let length = ENTRY_BYTES + name + extra + comment;
        let variable = bytes.get(ENTRY_BYTES..length).ok_or(CUT_OFF)?;
        let wide = wide_sizes(&variable[name..name + extra]);
        let mut wide = wide.chunks_exact(8).map(number);
        let mut size = |at: usize| match number(&fixed[at..at + 4]) {
            narrow if narrow == u64::from(u32::MAX) => wide.next().unwrap_or(narrow),
            narrow => narrow,
        };
        // The order of the wide sizes: decompressed, compressed, position.
        let (decompressed, compressed, start) = (size(24), size(20), size(42));
        let entry = Self {
            name: variable[..name].to_vec(),
            is_utf8: fixed[9] & 8 != 0,
            is_encrypted: fixed[8] & 1 == 1,
            method: number(&fixed[10..12]) as u16,
            checksum: number(&fixed[16..20]) as u32,
            compressed,
            size: decompressed,
            start,
        };
        Ok((entry, length))
    }
}

/// Returns the extra field with 8-byte sizes; empty if it is missing.
fn wide_sizes(mut extra: &[u8]) -> &[u8] {
    while let Some((head, rest)) = extra.split_at_checked(4) {
        let Some((field, rest)) = rest.split_at_checked(number(&head[2..4]) as usize) else { break };
        if number(&head[..2]) == u64::from(WIDE_EXTRA) {
            return field;
        }
        extra = rest;
    }
    &[]
}

/// Returns the little-endian number in at most 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The bytes of a member, decompressed while they are read. Never more than the directory declares.
pub(in crate::interop) struct Member<'a, R> {
    bytes: Bytes<'a, R>,
    left: u64,
    hasher: crc32fast::Hasher,
    checksum: u32,
    /// Its position in the file, for errors.
    start: u64,
}

type Compressed<'a, R> = BufReader<Take<&'a mut R>>;

enum Bytes<'a, R> {
    Stored(Compressed<'a, R>),
    Deflated(DeflateDecoder<Compressed<'a, R>>),
}

impl<R: Read> Member<'_, R> {
    /// Returns whether all bytes declared by the directory have been read.
    pub(super) fn is_read(&self) -> bool {
        self.left == 0
    }

    /// Checks that no bytes are left and that the checksum matches.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
    pub(in crate::interop) fn finish(mut self) -> Result<()> {
        if self.left > 0 {
            let reason = format!("{} bytes of a member follow its array", self.left);
            return Err(Error::format(self.start, reason));
        }
        let more = match &mut self.bytes {
            Bytes::Stored(bytes) => bytes.read(&mut [0]),
            Bytes::Deflated(bytes) => bytes.read(&mut [0]),
        };
        if !matches!(more, Ok(0)) {
            return Err(Error::format(self.start, "a member is damaged, or larger than the directory declares"));
        }
        if self.hasher.finalize() != self.checksum {
            return Err(Error::format(self.start, "a member is damaged: its checksum differs"));
        }
        Ok(())
    }
}

impl<R: Read> Read for Member<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let limit = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let buffer = &mut buffer[..limit.min(PIECE_BYTES)]; // the checksum is computed from bytes in the cache
        let count = match &mut self.bytes {
            Bytes::Stored(bytes) => bytes.read(buffer)?,
            Bytes::Deflated(bytes) => bytes.read(buffer)?,
        };
        if count == 0 && limit > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.hasher.update(&buffer[..count]);
        self.left -= count as u64;
        Ok(count)
    }
}
