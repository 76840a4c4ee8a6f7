//! Tables from CSV files, read at once or block by block, and CSV files from tables.
//!
//! Source: DAAL's `FileDataSource<CSVFeatureManager>` and its modifiers. They turn bad numbers into 0, leave the cells
//! of short rows uninitialized, drop excess fields, do not support quotes, distinguish numbers from words by the first
//! row only, and read everything as `float`. Here, each number becomes the nearest value of the requested type, and a
//! field that cannot be converted is an error with file, line, column and text.
//!
//! * `options`, `dialect`, `markers`, `columns`, `times`: options for reading; `near`: suggestions for misspelled names;
//! * `input`: bytes of a file or in memory; `compressed`: gzip and zstd; `syntax`: ends of fields and records; `masks`:
//!   bytes compared together; `survey`: positions where a file can be divided, and the number of rows between them;
//!   `batches`: sequential reading of records;
//! * `roles`: the use of each column; `categories`: its words; `parse`: from records to fields; `rows`: from fields to
//!   rows of values; `first`: the header and the first records; `signs`: what fields reveal about their column;
//!   `describe`: kinds and categories from the whole file; `sample`: rows that decide for all; `failure`: errors and
//!   their positions;
//! * `whole`: integers; `evidence`: the element type that suits a column; `plan`, `sink`: from fields to columns of
//!   several types, whose values are `cells` and whose missing values are `gaps`; `fast_path`: their fast path;
//!   `collect`: words that are collected while rows are read;
//! * `source`, `load`, `typed`, `blocks`, `column_blocks`: the public interface for reading; `summary`, `description`:
//!   the decisions for each column;
//! * `write`, `write_options`: writing; `form`: the spelling of fields. Numbers, their spellings, and times are in
//!   [`crate::interop::text`].
//!
//! Invariant: results, including errors, depend only on the bytes and the options. They do not depend on where the file
//! was divided, on the size of blocks, or on the number of threads.

mod batches;
mod blocks;
mod categories;
mod cells;
mod collect;
mod column_blocks;
mod columns;
mod compressed;
mod describe;
mod description;
mod dialect;
mod evidence;
mod failure;
mod fast_path;
mod first;
mod form;
mod gaps;
mod input;
mod load;
mod markers;
mod masks;
mod options;
mod parse;
mod plan;
mod roles;
mod rows;
mod sample;
mod signs;
mod sink;
mod source;
mod summary;
mod survey;
mod syntax;
#[cfg(test)]
mod tests;
mod times;
mod typed;
mod whole;
mod write;
mod write_options;

pub use blocks::CsvBlocks;
pub use column_blocks::CsvColumnBlocks;
pub use columns::{CsvColumnKind, CsvColumns, CsvCustomKind, CsvMissing};
pub use description::{CsvColumnDescription, CsvDescription};
pub use first::{CsvHeader, CsvTrailing};
pub use options::CsvOptions;
pub use sample::CsvSample;
pub use source::CsvSource;
pub(crate) use write::{write_csv, write_csv_to};
pub use write_options::CsvWriteOptions;

use crate::base::error::{Error, ErrorKind};

/// Number of bytes that a task reads and processes at a time, unless a record is longer.
const PIECE_BYTES: usize = 512 << 10;

/// A byte of text takes about as much work as this many bytes of plain values. This is the weight for dividing work
/// into tasks.
const WEIGHT: usize = 16;

/// The default limit of the bytes of a record, including its line end.
const RECORD_BYTES: usize = 256 << 20;

/// Number of records that are examined to guess which columns are words. A wrong guess only costs time.
const SAMPLE: usize = 100;

/// Returns the error of an invalid option.
fn bad_option(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::CsvOption { reason: reason.into() })
}
