//! A table file whose preamble has been checked against its real length. This part is the same for all kinds of tables.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::compared::Compared;
use super::preamble::{PREAMBLE_BYTES, Preamble};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::progress::Meter;
use crate::storage::checksum::{RunSums, merge};
use crate::storage::open::{open_regular, read};
use crate::storage::{PIECE_BYTES, zeroed};

/// An open file that follows all rules that do not depend on the kind of its table.
#[derive(Debug)]
pub(super) struct TableFile {
    file: File,
    path: PathBuf,
    preamble: Preamble,
    /// Present if values are compared with their checksums before they are used.
    compared: Option<Compared>,
}

impl TableFile {
    /// Opens a file, reads its header and compares the header's checksum. Allocates only the bytes of the header.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], [`ErrorKind::Format`], [`ErrorKind::OutOfMemory`].
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<u8>)> {
        let in_file = |source| Error::io(path, source);
        let (file, real_length) = open_regular(path).map_err(in_file)?;

        let mut start = [0; PREAMBLE_BYTES];
        let start = &mut start[..real_length.min(PREAMBLE_BYTES as u64) as usize];
        read(&file, path, start, 0)?;
        let preamble = Preamble::decode(start, real_length)?;

        let mut header = zeroed(preamble.header_length as usize)?;
        read(&file, path, &mut header, PREAMBLE_BYTES as u64)?;
        preamble.check_header(&header)?;
        Ok((Self { file, path: path.to_owned(), preamble, compared: None }, header))
    }

    /// Returns whether a file has a newer version than this library reads, and the checksum that all versions have is
    /// valid.
    ///
    /// # Errors
    /// The errors of the system.
    pub(super) fn has_newer_version(path: &Path) -> io::Result<bool> {
        let mut start = [0; PREAMBLE_BYTES];
        open_regular(path)?.0.read_exact(&mut start)?;
        Ok(Preamble::is_newer(&start))
    }

    /// Sets whether all values are compared with their checksums before they are used.
    ///
    /// # Errors
    /// The errors of [`Compared::none_of`].
    pub(super) fn compare_values(&mut self, is_wanted: bool) -> Result<()> {
        self.compared = if is_wanted { Some(Compared::none_of(self)?) } else { None };
        Ok(())
    }

    /// Compares the values at some positions with their checksums, if verification is on and they have not been
    /// compared yet.
    ///
    /// # Errors
    /// The errors of [`Compared::compare`].
    pub(super) fn check_values(&self, bytes: Range<u64>) -> Result<()> {
        self.compared.as_ref().map_or(Ok(()), |compared| compared.compare(self, bytes))
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn preamble(&self) -> &Preamble {
        &self.preamble
    }

    /// Returns the size in bytes of all values in the file, which may be larger than memory.
    pub(super) fn payload_length(&self) -> u64 {
        self.preamble.payload_length
    }

    /// Returns the position of the values in the file.
    pub(super) fn payload(&self) -> Range<u64> {
        self.preamble.payload_offset..self.preamble.payload_end()
    }

    pub(super) fn has_checksums(&self) -> bool {
        self.preamble.chunk_size > 0
    }

    /// Returns the number of bytes of values per checksum; 0 without checksums.
    pub(super) fn chunk_size(&self) -> u32 {
        self.preamble.chunk_size
    }

    /// Reads bytes from a position in the payload, and compares them with their checksums if verification is on. After
    /// an error, the buffer may hold damaged values.
    pub(super) fn read_payload(&self, buffer: &mut [u8], position: u64) -> Result<()> {
        match &self.compared {
            Some(compared) => compared.read(self, buffer, position),
            None => self.read_unchecked(buffer, position),
        }
    }

    /// Reads bytes from a position in the payload without verification.
    pub(super) fn read_unchecked(&self, buffer: &mut [u8], position: u64) -> Result<()> {
        read(&self.file, &self.path, buffer, self.preamble.payload_offset + position)
    }

    /// Starts to read consecutive bytes of the payload, with or without computing their checksums.
    pub(super) fn run(&self, range: Range<u64>, is_summed: bool) -> Result<Run<'_>> {
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let chunk_size = if is_summed { self.preamble.chunk_size } else { 0 };
        let sums = RunSums::new(chunk_size, range.start, length)?;
        Ok(Run { file: self, position: range.start, sums, is_summed })
    }

    /// Compares the checksums of the whole payload with those in the file.
    pub(super) fn check_sums(&self, runs: Vec<RunSums>) -> Result<()> {
        self.check_sums_from(0, runs)
    }

    /// Compares the checksums of complete chunks, starting with the given one, with those in the file. The runs must
    /// begin at the start of that chunk and end at the end of a chunk or of the payload.
    pub(super) fn check_sums_from(&self, chunk: u64, runs: Vec<RunSums>) -> Result<()> {
        self.compare_sums(chunk, runs).map_err(|error| error.in_file(&self.path))
    }

    /// Starts to read the checksums of chunks from the given one on, after checking the number of checksums.
    ///
    /// # Errors
    /// [`ErrorKind::Format`]; [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`].
    pub(super) fn stored_sums(&self, chunk: u64) -> Result<ChecksumReader<'_>> {
        let (offset, count) = (self.preamble.checksums_offset(), self.preamble.chunk_count());
        let mut stated = [0; 8];
        read(&self.file, &self.path, &mut stated, offset)?;
        let known = self.preamble.check_count(u64::from_le_bytes(stated));
        known.map_err(|error| error.in_file(&self.path))?;
        ChecksumReader::new(self, offset + 8 + chunk * 4, (count - chunk) * 4)
    }

    fn compare_sums(&self, first: u64, runs: Vec<RunSums>) -> Result<()> {
        if !self.has_checksums() {
            return Ok(());
        }
        let mut index = first;
        let mut sums = self.stored_sums(first)?;
        merge(runs, |found| {
            let chunk = index;
            index += 1;
            if found.to_le_bytes() == sums.next()? { Ok(()) } else { Err(self.preamble.damaged(chunk)) }
        })
    }
}

/// Reads checksums of 4 bytes, many at a time.
pub(super) struct ChecksumReader<'a> {
    file: &'a TableFile,
    offset: u64,
    left: u64,
    bytes: Vec<u8>,
    used: usize,
}

impl<'a> ChecksumReader<'a> {
    const BYTES: usize = 64 << 10;

    fn new(file: &'a TableFile, offset: u64, left: u64) -> Result<Self> {
        let room = left.min(Self::BYTES as u64) as usize;
        Ok(Self { file, offset, left, bytes: zeroed(room)?, used: room })
    }

    /// Reads the next checksum, in the byte order of the file. There must be one.
    pub(super) fn next(&mut self) -> Result<[u8; 4]> {
        if self.used == self.bytes.len() {
            self.bytes.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
            read(&self.file.file, &self.file.path, &mut self.bytes, self.offset)?;
            self.offset += self.bytes.len() as u64;
            self.left -= self.bytes.len() as u64;
            self.used = 0;
        }
        let bytes = self.bytes[self.used..].first_chunk().copied().unwrap_or_default(); // the length is a multiple of 4
        self.used += 4;
        Ok(bytes)
    }
}

/// A run of consecutive bytes of a payload that is being read, with or without checksums.
pub(super) struct Run<'a> {
    file: &'a TableFile,
    position: u64,
    sums: RunSums,
    is_summed: bool,
}

impl Run<'_> {
    /// Reads the next bytes.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<()> {
        match self.is_summed {
            true => self.file.read_unchecked(buffer, self.position)?, // to be compared by the caller
            false => self.file.read_payload(buffer, self.position)?,
        }
        self.position += buffer.len() as u64;
        self.sums.update(buffer);
        Ok(())
    }

    /// Reads bytes that no value needs, to compute their checksums.
    pub(super) fn skip(&mut self, count: u64, meter: Option<&Meter>) -> Result<()> {
        let mut buffer = zeroed(count.min(PIECE_BYTES as u64) as usize)?;
        let mut left = count;
        while left > 0 {
            let piece = &mut buffer[..left.min(PIECE_BYTES as u64) as usize];
            self.read(piece)?;
            if let Some(meter) = meter {
                meter.add(piece.len() as u64);
            }
            left -= piece.len() as u64;
        }
        Ok(())
    }

    pub(super) fn into_sums(self) -> RunSums {
        self.sums
    }
}
