//! Text in pieces of complete lines, which are parsed in parallel, and errors with a position in it.
//!
//! Invariant: results and errors depend only on the bytes, not on where the pieces end. The text takes at most the
//! memory of one wave of pieces, plus twice the longest line.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::text::excerpt;

/// Number of bytes of a piece, unless a line is longer.
const PIECE_BYTES: usize = 512 << 10;

/// The byte order mark that some editors write at the beginning of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Consecutive complete lines.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// The position of the first unread line.
    pub(super) start: usize,
    /// The number of that line in the file, counted from 1.
    pub(super) line: u64,
}

/// An error at a position in a piece.
#[derive(Debug)]
pub(super) struct Local {
    /// The line, counted from the first one of the piece.
    pub(super) line: u64,
    /// The position in that line.
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) reason: String,
}

impl Local {
    /// Returns the error for a string in a line. The caller must set its line.
    #[cold]
    pub(super) fn new(at: usize, text: &[u8], reason: impl Into<String>) -> Self {
        Self { line: 0, at, text: excerpt(text), reason: reason.into() }
    }

    pub(super) fn on_line(self, line: u64) -> Self {
        Self { line, ..self }
    }

    /// Converts to an error with the file. `first` is the number of the first line of the piece.
    pub(super) fn into_error(self, first: u64, path: Option<&Path>) -> Error {
        let (line, byte) = (first + self.line, self.at as u64 + 1);
        Error::new(ErrorKind::Text {
            line,
            byte: Some(byte),
            text: self.text,
            reason: self.reason,
            column: None,
            name: None,
        })
        .in_some_file(path)
    }
}

/// An error at a position in a piece, or an error without a position.
#[derive(Debug)]
pub(super) enum Refusal {
    Local(Box<Local>),
    Error(Box<Error>),
}

impl Refusal {
    /// Converts to an error with the file. `first` is the number of the first line of the piece.
    pub(super) fn into_error(self, first: u64, path: Option<&Path>) -> Error {
        match self {
            Self::Local(local) => local.into_error(first, path),
            Self::Error(error) => *error,
        }
    }

    /// Sets the line of the position.
    pub(super) fn on_line(self, line: u64) -> Self {
        match self {
            Self::Local(local) => Self::Local(Box::new(local.on_line(line))),
            error => error,
        }
    }
}

impl From<Local> for Refusal {
    fn from(local: Local) -> Self {
        Self::Local(Box::new(local))
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(Box::new(error))
    }
}

/// The text of a file or a reader, read from start to end.
pub(super) struct Text<R> {
    reader: R,
    path: Option<PathBuf>,
    /// The bytes read after the last piece: an incomplete line.
    rest: Vec<u8>,
    /// The number of the line that begins there.
    line: u64,
    /// Number of bytes that have been read.
    read: u64,
    is_at_end: bool,
    piece_bytes: usize,
}

impl Text<File> {
    /// Opens a file, or anything else that can be read, such as a pipe.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let in_file = |source| Error::io(path, source);
        let file = File::open(path).map_err(in_file)?;
        if file.metadata().map_err(in_file)?.is_dir() {
            return Err(in_file(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Self { path: Some(path.to_owned()), ..Text::new(file) })
    }
}

impl<R: Read> Text<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, path: None, rest: Vec::new(), line: 1, read: 0, is_at_end: false, piece_bytes: PIECE_BYTES }
    }

    /// Sets the number of bytes of a piece, for tests.
    #[cfg(test)]
    pub(super) fn with_pieces_of(self, piece_bytes: usize) -> Self {
        Self { piece_bytes, ..self }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the number of bytes that have been read.
    pub(super) fn bytes_read(&self) -> u64 {
        self.read
    }

    /// Returns the number of the line after the last piece.
    pub(super) fn next_line(&self) -> u64 {
        self.line
    }

    /// Reads the next lines; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Piece>> {
        let mut bytes = std::mem::take(&mut self.rest);
        if self.read == 0 {
            self.fill(&mut bytes, BYTE_ORDER_MARK.len())?;
            if bytes == BYTE_ORDER_MARK {
                bytes.clear();
            }
        }
        let (mut wanted, mut searched) = (self.piece_bytes, 0);
        loop {
            self.fill(&mut bytes, wanted)?;
            if self.is_at_end {
                break;
            }
            if let Some(end) = memchr::memrchr(b'\n', &bytes[searched..]) {
                self.rest = copy(&bytes[searched + end + 1..])?;
                bytes.truncate(searched + end + 1);
                break;
            }
            searched = bytes.len();
            wanted = bytes.len().saturating_mul(2).max(self.piece_bytes);
        }
        let line = self.line;
        self.line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        Ok((!bytes.is_empty()).then_some(Piece { bytes, start: 0, line }))
    }

    /// Reads the next pieces: the number that is parsed in parallel. `first` has been read before.
    pub(super) fn wave(&mut self, first: Option<Piece>) -> Result<Vec<Piece>> {
        let mut pieces = Vec::from_iter(first);
        // The number of threads is requested only when there is work for two.
        while pieces.len() < 2 || pieces.len() < parallel::task_count(usize::MAX) {
            match self.next()? {
                Some(piece) => pieces.push(piece),
                None => break,
            }
        }
        Ok(pieces)
    }

    /// Reads until `bytes` has `wanted` bytes, or to the end.
    fn fill(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> Result<()> {
        let missing = wanted.saturating_sub(bytes.len());
        bytes.try_reserve(missing).map_err(|_| Error::out_of_memory(wanted))?;
        let read = (&mut self.reader).take(missing as u64).read_to_end(bytes).map_err(|source| match &self.path {
            Some(path) => Error::io(path, source),
            None => Error::stream(source),
        })?;
        self.read += read as u64;
        self.is_at_end |= read < missing;
        Ok(())
    }
}

fn copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    extend(&mut copy, bytes)?;
    Ok(copy)
}

/// Appends values.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(super) fn extend<T: Copy>(target: &mut Vec<T>, values: &[T]) -> Result<()> {
    reserve(target, values.len())?;
    target.extend_from_slice(values);
    Ok(())
}

/// Reserves room for more values.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(super) fn reserve<T>(target: &mut Vec<T>, more: usize) -> Result<()> {
    let bytes = target.len().saturating_add(more).saturating_mul(size_of::<T>());
    target.try_reserve(more).map_err(|_| Error::out_of_memory(bytes))
}

/// The lines of a piece, without their ends, with their numbers counted from the first one.
pub(super) fn lines(piece: &Piece) -> impl Iterator<Item = (u64, &[u8])> {
    let (bytes, mut start, mut number) = (&piece.bytes[..], piece.start, 0);
    std::iter::from_fn(move || {
        if start == bytes.len() {
            return None;
        }
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let line = (number, &bytes[start..end]);
        (start, number) = ((end + 1).min(bytes.len()), number + 1);
        Some(line)
    })
}

/// The words of a line, separated by spaces.
#[derive(Clone)]
pub(super) struct Words<'a> {
    line: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self { line, at: 0 }
    }

    /// Returns the next word and its position.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(usize, &'a [u8])> {
        let spaces = self.line[self.at..].iter().take_while(|&&byte| is_space(byte)).count();
        let start = self.at + spaces;
        let length = self.line[start..].iter().take_while(|&&byte| !is_space(byte)).count();
        self.at = start + length;
        (length > 0).then(|| (start, &self.line[start..self.at]))
    }
}

/// Returns whether a byte separates words: one that Python's `bytes.split` treats as white space.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

/// Parses an unsigned integer of digits only. Returns `None` if the text is not one or the number is too large.
#[inline]
pub(super) fn whole_number(text: &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    (!text.is_empty()).then_some(number)
}

/// Returns why a string is not such an integer.
#[cold]
pub(super) fn not_whole(text: &[u8]) -> &'static str {
    match !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
        true => "is too large",
        false => "is not a whole number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_the_same_wherever_pieces_end() {
        let text = b"\xEF\xBB\xBFone\n\ntwo three\r\nlong long long long line\nlast";
        for size in 1..60 {
            let mut source = Text::new(&text[..]).with_pieces_of(size);
            let mut found = Vec::new();
            while let Some(piece) = source.next().unwrap() {
                found.extend(lines(&piece).map(|(number, line)| (piece.line + number, line.to_vec())));
            }
            let expected = [&b"one"[..], b"", b"two three\r", b"long long long long line", b"last"];
            let expected: Vec<_> = (1..).zip(expected.map(<[u8]>::to_vec)).collect();
            assert_eq!(found, expected, "pieces of {size}");
        }
    }

    #[test]
    fn whole_numbers_have_digits_only() {
        assert_eq!(whole_number(b"18446744073709551615"), Some(u64::MAX));
        for text in ["", "-1", "+1", "1.0", "18446744073709551616", "1_0", "\u{661}"] {
            assert_eq!(whole_number(text.as_bytes()), None, "{text}");
        }
    }
}
