//! Parsing the lines of a piece into entries.

use super::header::{Field, Header, Size, Symmetry, is_comment};
use super::mirror::Side;
use super::options::MatrixMarketOptions;
use crate::base::element::Element;
use crate::base::error::Result;
use crate::base::number::Exact;
use crate::convert::ConversionPolicy;
use crate::interop::sparse::pieces::{Local, Piece, Refusal, Words, lines, not_whole, reserve, whole_number};
use crate::interop::text::number::{NumberRefusal, fast_number, value};

/// The entries of a piece, in file order.
#[derive(Debug)]
pub(super) struct Entries<T> {
    /// Counted from zero. Empty for an array, whose entries have their positions in order.
    pub(super) rows: Vec<u64>,
    pub(super) columns: Vec<u64>,
    pub(super) values: Vec<T>,
    /// The first entries below and above the diagonal.
    pub(super) sides: [Option<Local>; 2],
}

/// Parses all lines of a piece.
pub(super) fn entries<T: Element>(
    piece: &Piece,
    size: &Size,
    options: &MatrixMarketOptions,
) -> Result<Entries<T>, Refusal> {
    let mut entries = Entries { rows: Vec::new(), columns: Vec::new(), values: Vec::new(), sides: [None, None] };
    for (number, line) in lines(piece).filter(|(_, line)| !is_comment(line)) {
        let place = |local: Local| local.on_line(number);
        let entry = entry::<T>(line, size, options).map_err(place)?;
        if entries.values.len() == entries.values.capacity() {
            reserve(&mut entries.values, 1)?;
            reserve(&mut entries.rows, 1)?;
            reserve(&mut entries.columns, 1)?;
        }
        entries.values.push(entry.value);
        if let Some((row, column)) = entry.place {
            entries.rows.push(row);
            entries.columns.push(column);
            if let Some(side) = Side::of(row, column) {
                let slot = &mut entries.sides[side as usize];
                slot.get_or_insert_with(|| place(Local::new(0, line, Side::REASON)));
            } else if size.header.symmetry == Symmetry::Skew && !is_zero(entry.value) {
                let reason = "is on the diagonal, which is zero in a skew-symmetric matrix";
                return Err(place(Local::new(0, line, reason)).into());
            }
        }
    }
    Ok(entries)
}

/// Returns the position of an existing entry of a piece, counted without blank lines and comments.
#[cold]
pub(super) fn place_of(piece: &Piece, index: usize, reason: &str) -> Local {
    let entry = lines(piece).filter(|(_, line)| !is_comment(line)).nth(index);
    entry.map_or_else(|| Local::new(0, b"", reason), |(number, line)| Local::new(0, line, reason).on_line(number))
}

/// Returns whether a value is zero.
pub(super) fn is_zero<T: Element>(value: T) -> bool {
    value == T::default()
}

/// An entry, with its row and column unless the order of entries determines them.
struct Entry<T> {
    place: Option<(u64, u64)>,
    value: T,
}

/// Parses the line of an entry.
fn entry<T: Element>(line: &[u8], size: &Size, options: &MatrixMarketOptions) -> Result<Entry<T>, Local> {
    let Header { is_array, field, .. } = size.header;
    let mut words = Words::new(line);
    let mut next = |what: &str| {
        let missing = || Local::new(line.len(), b"", format!("is where the entry should have its {what}"));
        words.next().ok_or_else(missing)
    };
    let place = match is_array {
        true => None,
        false => {
            Some((index(next("row")?, size.shape.rows, "row")?, index(next("column")?, size.shape.columns, "column")?))
        }
    };
    let value = match field {
        Field::Pattern => T::nearest(Exact::Integer(1)),
        _ => {
            let (at, text) = next("value")?;
            number(text, field, options.policy).map_err(|reason| Local::new(at, text, reason))?
        }
    };
    match words.next() {
        None => Ok(Entry { place, value }),
        Some((at, word)) => Err(Local::new(at, word, "is past the end of the entry")),
    }
}

/// Parses a row or column, counted from one.
fn index((at, text): (usize, &[u8]), limit: usize, what: &str) -> Result<u64, Local> {
    match whole_number(text) {
        None => Err(Local::new(at, text, not_whole(text))),
        Some(index) if (1..=limit as u64).contains(&index) => Ok(index - 1),
        Some(_) => Err(Local::new(at, text, format!("is not a {what}: 1 to {limit} are allowed"))),
    }
}

/// Parses a value.
fn number<T: Element>(text: &[u8], field: Field, policy: ConversionPolicy) -> Result<T, String> {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if field == Field::Integer && !digits.iter().all(u8::is_ascii_digit) {
        return Err("is not an integer, but the header declares integers".to_owned());
    }
    if let Some((value, length)) = fast_number::<T>(text)
        && length == text.len()
    {
        return Ok(value);
    }
    value::<T>(text, policy).map_err(|refusal| match refusal {
        NumberRefusal::NotANumber => "is not a number".to_owned(),
        NumberRefusal::NotRepresentable => format!("is not representable as {}", T::TYPE),
    })
}
