//! The first lines of a file: its kind and its size.

use crate::base::error::Result;
use crate::base::shape::Shape;
use crate::interop::sparse::pieces::{Local, Piece, Words, lines, not_whole, whole_number};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) is_array: bool,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
}

/// The type of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    /// The file has no values: each is 1.
    Pattern,
}

/// The entries that are missing from the file because others stand for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// The header and the size.
///
/// Invariant: rows and columns are in the range of `usize`, and are equal if the matrix is symmetric.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) header: Header,
    pub(super) shape: Shape,
    /// Number of entries in the file; for an array, the number of values.
    pub(super) entries: u128,
    /// The number of the size line.
    pub(super) line: u64,
}

/// Reads the lines up to the size. They may be in several pieces.
#[derive(Debug, Default)]
pub(super) struct Opening {
    header: Option<Header>,
}

impl Opening {
    /// Reads lines of a piece. Moves its start to the line after the size once that is found.
    pub(super) fn read(&mut self, piece: &mut Piece) -> Result<Option<Size>, Local> {
        let mut found = None;
        for (number, line) in lines(piece) {
            match self.header {
                None => self.header = Some(banner(line).map_err(|local| local.on_line(number))?),
                Some(_) if is_comment(line) => {}
                Some(header) => {
                    let size = size(header, line).map_err(|local| local.on_line(number))?;
                    let end = line.as_ptr().addr() - piece.bytes.as_ptr().addr() + line.len();
                    found = Some((number, size, end));
                    break;
                }
            }
        }
        let Some((number, size, end)) = found else { return Ok(None) };
        let size = Size { line: piece.line + number, ..size };
        piece.start = (end + 1).min(piece.bytes.len());
        piece.line += number + 1;
        Ok(Some(size))
    }

    /// Returns the error for text that ends too early.
    pub(super) fn missing(&self) -> Local {
        let what = if self.header.is_none() {
            "is not a header: the text is empty"
        } else {
            "is where the size should be: the file ends here"
        };
        Local::new(0, b"", what)
    }
}

/// Returns whether a line is blank, or a comment.
pub(super) fn is_comment(line: &[u8]) -> bool {
    Words::new(line).next().is_none_or(|(_, word)| word.starts_with(b"%"))
}

/// Parses the first line.
fn banner(line: &[u8]) -> Result<Header, Local> {
    let mut words = Words::new(line);
    let mut next = |expected: &str| {
        let (at, word) = words.next().unwrap_or((line.len(), b""));
        if word.is_empty() {
            return Err(Local::new(at, word, format!("is where the header should have {expected}")));
        }
        Ok((at, word, word.to_ascii_lowercase()))
    };
    let (at, word, lower) = next("%%MatrixMarket")?;
    if lower != b"%%matrixmarket" {
        return Err(Local::new(at, word, "is not the header of a MatrixMarket file, which is %%MatrixMarket"));
    }
    let (at, word, lower) = next("matrix")?;
    if lower != b"matrix" {
        return Err(Local::new(at, word, "is not supported: only matrix is"));
    }
    let (at, word, lower) = next("coordinate or array")?;
    let is_array = match &lower[..] {
        b"coordinate" => false,
        b"array" => true,
        _ => return Err(Local::new(at, word, "is not a format: expected coordinate or array")),
    };
    let (at, word, lower) = next("real, integer or pattern")?;
    let field = match &lower[..] {
        b"real" | b"double" => Field::Real,
        b"integer" | b"unsigned-integer" => Field::Integer,
        b"pattern" if is_array => {
            return Err(Local::new(at, word, "is only valid for the format coordinate: an array has values"));
        }
        b"pattern" => Field::Pattern,
        b"complex" => {
            return Err(Local::new(
                at,
                word,
                "values are not supported by tables: save the real and the imaginary part",
            ));
        }
        _ => return Err(Local::new(at, word, "is not a type of values: expected real, integer or pattern")),
    };
    let (at, word, lower) = next("general, symmetric or skew-symmetric")?;
    let symmetry = match &lower[..] {
        b"general" => Symmetry::General,
        b"symmetric" => Symmetry::Symmetric,
        b"skew-symmetric" if field == Field::Pattern => {
            return Err(Local::new(at, word, "is not valid for patterns, which have no sign"));
        }
        b"skew-symmetric" => Symmetry::Skew,
        b"hermitian" => return Err(Local::new(at, word, "is for complex values, which a table cannot hold")),
        _ => {
            let reason = "is not a symmetry: expected general, symmetric or skew-symmetric";
            return Err(Local::new(at, word, reason));
        }
    };
    match words.next() {
        None => Ok(Header { is_array, field, symmetry }),
        Some((at, word)) => Err(Local::new(at, word, "is past the end of the header")),
    }
}

/// Parses the line of the size.
fn size(header: Header, line: &[u8]) -> Result<Size, Local> {
    let mut words = Words::new(line);
    let mut next = |what: &str| {
        let (at, word) = words.next().unwrap_or((line.len(), b""));
        if word.is_empty() {
            return Err(Local::new(at, word, format!("is where the size should have the number of {what}")));
        }
        let number = whole_number(word).ok_or_else(|| Local::new(at, word, not_whole(word)))?;
        Ok((at, word, number))
    };
    let count = |(at, word, number): (usize, &[u8], u64)| {
        usize::try_from(number).map_err(|_| Local::new(at, word, "is more than this machine can count"))
    };
    let rows = count(next("rows")?)?;
    let found = next("columns")?;
    let columns = count(found)?;
    if header.symmetry != Symmetry::General && rows != columns {
        return Err(Local::new(found.0, found.1, format!("columns and {rows} rows are not symmetric")));
    }
    let (wide_rows, wide_columns) = (rows as u128, columns as u128);
    let entries = match (header.is_array, header.symmetry) {
        (false, _) => u128::from(next("entries")?.2),
        (true, Symmetry::General) => wide_rows * wide_columns,
        (true, Symmetry::Symmetric) => wide_rows * (wide_rows + 1) / 2,
        (true, Symmetry::Skew) => wide_rows * wide_rows.saturating_sub(1) / 2,
    };
    match words.next() {
        None => Ok(Size { header, shape: Shape { rows, columns }, entries, line: 0 }),
        Some((at, word)) => Err(Local::new(at, word, "is past the end of the size")),
    }
}
