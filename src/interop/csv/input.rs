//! The bytes of a CSV file, on disk or in memory.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::array::Array;
use crate::base::error::{Error, Result};
use crate::files::position::read_at;

/// Bytes that several threads can read at any position.
#[derive(Debug)]
pub(super) enum Input {
    /// Bytes in memory. With a path if they were read from a file that does not support reads at positions.
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

impl Input {
    /// Opens a file. One that does not support reads at positions, such as a pipe, is read to its end.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let in_file = |source| Error::Io { path: path.to_owned(), source };
        let found = fs::metadata(path).map_err(in_file)?;
        if found.is_dir() {
            return Err(in_file(ErrorKind::IsADirectory.into()));
        }
        let file = File::open(path).map_err(in_file)?;
        if !found.is_file() {
            let bytes = read_all(file, path)?;
            return Ok(Self::Memory { bytes, path: Some(path.to_owned()) });
        }
        let length = file.metadata().map_err(in_file)?.len();
        Ok(Self::File { file, path: path.to_owned(), length })
    }

    /// Creates an input of bytes in memory.
    pub(super) fn memory(bytes: impl Into<Array<u8>>) -> Self {
        Self::Memory { bytes: bytes.into(), path: None }
    }

    /// Reads a reader to its end.
    pub(super) fn from_reader(reader: impl Read) -> Result<Self> {
        Ok(Self::memory(read_all(reader, Path::new("(reader)"))?))
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
        match error {
            Error::CsvOption { path: None, reason } => Error::CsvOption { path: self.path().map(Into::into), reason },
            error => error,
        }
    }

    /// Returns the number of bytes.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Memory { bytes, .. } => bytes.len() as u64,
            Self::File { length, .. } => *length,
        }
    }

    /// Returns a range of the bytes, which must not go past the end. `buffer` receives them if they have to be read.
    pub(super) fn read<'a>(&'a self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        match self {
            // Positions in memory fit a `usize`: the casts do not truncate.
            Self::Memory { bytes, .. } => Ok(&bytes[range.start as usize..range.end as usize]),
            Self::File { file, path, .. } => {
                let refused = || Error::OutOfMemory { bytes: usize::MAX };
                let length = usize::try_from(range.end - range.start).map_err(|_| refused())?;
                if buffer.len() < length {
                    let more = length - buffer.len();
                    buffer.try_reserve(more).map_err(|_| Error::OutOfMemory { bytes: length })?;
                    buffer.resize(length, 0);
                }
                let target = &mut buffer[..length];
                read_at(file, target, range.start).map_err(|source| Error::Io { path: path.clone(), source })?;
                Ok(target)
            }
        }
    }

    /// Returns a range of the bytes without reading: those of a file are in `buffer`, which holds them from position
    /// `place`.
    pub(super) fn held<'a>(&'a self, range: Range<u64>, buffer: &'a [u8], place: u64) -> &'a [u8] {
        match self {
            Self::Memory { bytes, .. } => &bytes[range.start as usize..range.end as usize],
            Self::File { .. } => &buffer[(range.start - place) as usize..(range.end - place) as usize],
        }
    }

    /// Returns the number of the line, counted from 1, of a position.
    pub(super) fn line_of(&self, place: u64) -> Result<u64> {
        const STEP: usize = 256 << 10;
        let (mut lines, mut after_return, mut buffer) = (1, false, Vec::new());
        for start in (0..place).step_by(STEP) {
            let bytes = self.read(start..place.min(start + STEP as u64), &mut buffer)?;
            for end in memchr::memchr2_iter(b'\n', b'\r', bytes) {
                let before = if end > 0 { bytes[end - 1] == b'\r' } else { after_return };
                lines += u64::from(bytes[end] == b'\r' || !before);
            }
            after_return = bytes.last() == Some(&b'\r');
        }
        Ok(lines)
    }
}

/// Reads a reader to its end. `name` is its name in errors.
fn read_all(mut reader: impl Read, name: &Path) -> Result<Array<u8>> {
    let mut bytes = Vec::new();
    match reader.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes.into()),
        Err(source) => Err(Error::Io { path: name.to_owned(), source }),
    }
}
