//! Tables from CSV files, whole or block by block, and CSV files from tables.
//!
//! Source: DAAL's `FileDataSource<CSVFeatureManager>` and its modifiers. That one turns bad numbers into 0, leaves the cells
//! of short rows uninitialised, drops further fields, knows no quotes, looks at the first row only to tell numbers from
//! words, and reads everything as `float`. Here each number becomes the nearest value of the type that is asked for, and
//! what cannot be taken is an error with file, line, column and text.
//!
//! * `options`, `columns`: what a caller can ask for; `near`: what a caller may have meant;
//! * `input`: bytes of a file or in memory; `syntax`: where fields and records end; `survey`: where a file can be cut, and
//!   how many rows lie between the cuts; `batches`: records one after another;
//! * `number`: from text to a value; `roles`: what each column is for; `parse`: from records to rows of values;
//!   `first`: the header, and what the first records say; `signs`: what fields say about their column; `describe`: which
//!   columns are words, and which words there are; `failure`: what is wrong where;
//! * `source`, `load`, `blocks`: what callers use;
//! * `write`, `write_options`, `digits`: the other direction.
//!
//! Invariant: results, errors among them, depend on the bytes and the options only: not on where the file was cut, on the
//! size of blocks, or on the number of threads.

mod batches;
mod blocks;
mod columns;
mod describe;
mod digits;
mod failure;
mod first;
mod input;
mod load;
mod near;
mod number;
mod options;
mod parse;
mod roles;
mod signs;
mod source;
mod survey;
mod syntax;
#[cfg(test)]
mod tests;
mod write;
mod write_options;

pub use blocks::CsvBlocks;
pub use columns::{CsvColumns, CsvKind, CsvMissing, CustomKind};
pub use first::{CsvHeader, CsvTrailing};
pub use options::CsvOptions;
pub use source::CsvSource;
pub use write_options::CsvWriteOptions;

use crate::base::error::Error;

/// Bytes that a task reads and works on at once, unless a record is longer.
const PIECE_BYTES: usize = 512 << 10;

/// A byte of text takes about as long as this many bytes of plain values: what work on it is weighed by.
const WEIGHT: usize = 16;

/// No record has more bytes, its line end among them, unless a caller who reads asks for more.
const RECORD_BYTES: usize = 256 << 20;

/// Records that are looked at to guess which columns are words. A wrong guess costs time, nothing else.
const SAMPLE: usize = 100;

/// Says what is wrong with an option.
fn bad_option(reason: impl Into<String>) -> Error {
    Error::CsvOption { path: None, reason: reason.into() }
}

/// Text for an error: at most 40 characters of it.
fn excerpt(text: &[u8]) -> String {
    const LIMIT: usize = 40;
    let start = String::from_utf8_lossy(&text[..text.len().min(4 * LIMIT)]);
    let whole = start.chars().count() <= LIMIT && text.len() <= 4 * LIMIT;
    if whole { start.into_owned() } else { start.chars().take(LIMIT - 3).chain("...".chars()).collect() }
}
