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
//! Arrow has all element types except `bf16`. Names, types and numbers of categories are stored in the schema.
//!
//! `types`: Arrow types of element types; `schema`: descriptions of columns; `export`: tables to Arrow; `import`,
//! `options`, `chunks`: Arrow to tables; `columns`: Arrow to structures of arrays.
//!
//! Arrow releases a new major version several times a year. The version that this crate uses is not covered by its own
//! semantic versioning.

mod chunks;
mod columns;
mod export;
mod import;
mod options;
mod schema;
mod types;

pub use import::from_record_batches_any;
pub use options::ArrowOptions;
