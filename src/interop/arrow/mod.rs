//! Conversions between tables and Arrow's record batches and fixed-size lists.
//!
//! | from | to | without a copy |
//! | --- | --- | --- |
//! | column-major table | `RecordBatch` | always: every column shares the memory of the table |
//! | row-major table | `RecordBatch` | if it has one row or one column |
//! | structure of arrays | `RecordBatch` | always: every column shares the memory of its column |
//! | table of another kind | `RecordBatch` | each column that is contiguous in an array |
//! | row-major table | `FixedSizeListArray`, one list for each row | always |
//! | column-major table | `FixedSizeListArray` | if it has one column, or one row that is not a slice of a larger table |
//! | `RecordBatch` of one column | table | if there is one chunk, without nulls, of the table's type |
//! | `FixedSizeListArray` | row-major table | as above |
//! | `RecordBatch` of several columns, several chunks | table | never: their memory is not one block |
//! | `RecordBatch`, `StructArray` of mixed types | structure of arrays | each column without nulls |
//! | several `RecordBatch`es | structure of arrays | if only one has rows; end to end in a `RowMergedNumericTable`, always |
//!
//! Arrow has all element types except `bf16`. Names, kinds and categories of columns are stored in the schema.
//!
//! | Arrow | in a table |
//! | --- | --- |
//! | integers, floats, `Float16` | the same, on Arrow's memory |
//! | `Date32`, `Time32`, `Interval(YearMonth)` | its integers, `i32`, on Arrow's memory |
//! | `Date64`, `Time64`, `Timestamp`, `Duration` | its integers, `i64`, of UTC, on Arrow's memory |
//! | `Boolean` | 0 and 1 |
//! | `Decimal32`, `64`, `128`, `256` | rounded once, if a conversion was requested; 18 digits and no fraction: `i64` |
//! | `Utf8`, `LargeUtf8`, `Utf8View`, dictionaries of them | indices of words; out: `Dictionary(Int32, Utf8)` |
//!
//! `types`: Arrow types of element types; `decimal`: decimals as numbers; `words`: words as categories; `schema`:
//! descriptions of columns; `export`: tables to Arrow; `options`: what is asked of both; `plan`: what is imported of a
//! schema; `chunks`: columns in parts, and their assembly; `import`, `columns`: homogeneous tables and
//! structures of arrays of parts; `stream`: of readers, and table files of readers.
//!
//! Arrow releases a new major version several times a year. The version that this crate uses is not covered by its own
//! semantic versioning.

mod chunks;
mod columns;
mod decimal;
mod export;
mod import;
mod options;
mod plan;
mod schema;
mod stream;
mod types;
mod words;

pub use export::ArrowTables;
pub use import::from_record_batches_any;
pub use options::{ArrowExportOptions, ArrowOptions};
