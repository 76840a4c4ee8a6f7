//! The bytes of a CSV file, on disk or in memory.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::compressed::{Compression, MAGIC};
use crate::array::Array;
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::storage::position::read_at;

/// Bytes that several threads can read at any position.
#[derive(Debug)]
pub(super) enum Input {
    /// Bytes in memory. They have a path if they were read from a file that does not support reads at positions, or
    /// were decompressed.
    Memory {
        bytes: Array<u8>,
        path: Option<PathBuf>,
    },
    File {
        file: File,
        path: PathBuf,
        length: u64,
    },
}

/// Limits of the text kept in memory, for sources that cannot be read piece by piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryLimits {
    /// The largest number of bytes of a source that cannot be read at positions, before decompression.
    pub(super) buffered: u64,
    /// The largest number of bytes of decompressed text.
    #[cfg_attr(not(feature = "csv-compressed"), expect(dead_code))]
    pub(super) decompressed: u64,
    /// The largest number of bytes of decompressed text per byte of the compressed source.
    #[cfg_attr(not(feature = "csv-compressed"), expect(dead_code))]
    pub(super) ratio: u64,
}

impl Input {
    /// Opens a file. Reads it to its end if it does not support reads at positions, such as a pipe, if the system
    /// reports its size as 0, as it does for all files of `/proc`, or if it is compressed.
    pub(super) fn open(path: &Path, limits: MemoryLimits) -> Result<Self> {
        let in_file = |source| Error::io(path, source);
        let found = fs::metadata(path).map_err(in_file)?;
        if found.is_dir() {
            return Err(in_file(io::ErrorKind::IsADirectory.into()));
        }
        let file = File::open(path).map_err(in_file)?;
        let length = file.metadata().map_err(in_file)?.len();
        if !found.is_file() || length == 0 {
            let bytes = read_all(file, limits, Some(path))?;
            return Ok(Self::Memory { bytes, path: Some(path.to_owned()) });
        }
        let mut start = [0; MAGIC];
        let start = &mut start[..(MAGIC as u64).min(length) as usize];
        read_at(&file, start, 0).map_err(in_file)?;
        if let Some(compression) = Compression::of(start) {
            let bytes = compression.read(BufReader::new(file), length, limits, Some(path))?;
            return Ok(Self::Memory { bytes, path: Some(path.to_owned()) });
        }
        Ok(Self::File { file, path: path.to_owned(), length })
    }

    /// Creates an input of bytes in memory. Decompresses them if they are compressed.
    pub(super) fn memory(bytes: impl Into<Array<u8>>, limits: MemoryLimits) -> Result<Self> {
        let mut bytes = bytes.into();
        if let Some(compression) = Compression::of(&bytes) {
            bytes = compression.read(&bytes[..], bytes.len() as u64, limits, None)?;
        }
        Ok(Self::Memory { bytes, path: None })
    }

    /// Reads a reader to its end.
    pub(super) fn from_reader(reader: impl Read, limits: MemoryLimits) -> Result<Self> {
        Ok(Self::Memory { bytes: read_all(reader, limits, None)?, path: None })
    }

    /// Returns the caller's path of the file.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Memory { path, .. } => path.as_deref(),
            Self::File { path, .. } => Some(path),
        }
    }

    /// Adds the path of the file to an error about its options.
    pub(super) fn name_in(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::CsvOption { .. } => error.in_some_file(self.path()),
            _ => error,
        }
    }

    /// Returns the number of bytes.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Memory { bytes, .. } => bytes.len() as u64,
            Self::File { length, .. } => *length,
        }
    }

    /// Returns a range of the bytes, which must not go past the end. `buffer` receives them if they must be read first.
    pub(super) fn read<'a>(&'a self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        match self {
            // Positions in memory fit a `usize`: the casts do not truncate.
            Self::Memory { bytes, .. } => Ok(&bytes[range.start as usize..range.end as usize]),
            Self::File { file, path, .. } => {
                let refused = || Error::out_of_memory(usize::MAX);
                let length = usize::try_from(range.end - range.start).map_err(|_| refused())?;
                if buffer.len() < length {
                    let more = length - buffer.len();
                    buffer.try_reserve(more).map_err(|_| Error::out_of_memory(length))?;
                    buffer.resize(length, 0);
                }
                let target = &mut buffer[..length];
                read_at(file, target, range.start).map_err(|source| Error::io(path, source))?;
                Ok(target)
            }
        }
    }

    /// Returns a range of the bytes without reading. The bytes of a file are in `buffer`, which holds them from
    /// position `place` on.
    pub(super) fn held<'a>(&'a self, range: Range<u64>, buffer: &'a [u8], place: u64) -> &'a [u8] {
        match self {
            Self::Memory { bytes, .. } => &bytes[range.start as usize..range.end as usize],
            Self::File { .. } => &buffer[(range.start - place) as usize..(range.end - place) as usize],
        }
    }

    /// Returns the number of the line, counted from 1, of a position.
    pub(super) fn line_of(&self, place: u64) -> Result<u64> {
        let mut lines = LineCount { place: 0, lines: 1, after_return: false };
        lines.advance(self, place)?;
        Ok(lines.lines)
    }

    /// Returns the numbers of the lines of positions in ascending order, in one pass.
    pub(super) fn lines_of(&self, places: &[u64]) -> Result<Vec<u64>> {
        let mut lines = LineCount { place: 0, lines: 1, after_return: false };
        places.iter().map(|&place| lines.advance(self, place).map(|()| lines.lines)).collect()
    }
}

/// The line number of a position.
struct LineCount {
    place: u64,
    lines: u64,
    /// Whether the byte before the position is a CR.
    after_return: bool,
}

impl LineCount {
    fn advance(&mut self, input: &Input, place: u64) -> Result<()> {
        const STEP: usize = 256 << 10;
        let mut buffer = Vec::new();
        for start in (self.place..place).step_by(STEP) {
            let bytes = input.read(start..place.min(start + STEP as u64), &mut buffer)?;
            for end in memchr::memchr2_iter(b'\n', b'\r', bytes) {
                let before = if end > 0 { bytes[end - 1] == b'\r' } else { self.after_return };
                self.lines += u64::from(bytes[end] == b'\r' || !before);
            }
            self.after_return = bytes.last() == Some(&b'\r');
        }
        self.place = self.place.max(place);
        Ok(())
    }
}

/// Reads a reader to its end. Decompresses the bytes if they are compressed. `path` is the path in errors.
fn read_all(reader: impl Read, limits: MemoryLimits, path: Option<&Path>) -> Result<Array<u8>> {
    let failed = |source| Error::stream(source).in_some_file(path);
    let mut bytes = Vec::new();
    reader.take(limits.buffered.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limits.buffered {
        let most = limits.buffered;
        let reason =
            format!("the input, read into memory because its size is unknown, is more than the limit of {most} bytes");
        let hint = Hint::new("CsvOptions::max_buffered_bytes", "permits more");
        return Err(Error::new(ErrorKind::CsvOption { reason }).in_some_file(path).with_hint(hint));
    }
    match Compression::of(&bytes) {
        Some(compression) => compression.read(&bytes[..], bytes.len() as u64, limits, path),
        None => Ok(bytes.into()),
    }
}
