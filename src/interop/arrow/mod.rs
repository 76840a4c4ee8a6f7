//! Arrow: record batches and fixed-size lists from tables, and tables from them.
//!
//! | from | to | without a copy |
//! | --- | --- | --- |
//! | column-major table | `RecordBatch` | always: every column shows the memory of the table |
//! | row-major table | `FixedSizeListArray`, one list for each row | always |
//! | `RecordBatch` of one column | table | if there is one chunk, without nulls, of the table's type |
//! | `FixedSizeListArray` | row-major table | as above |
//! | `RecordBatch` of several columns, several chunks | table | never: their memory is not one block |
//!
//! Arrow has all element types but `bf16`. Names, types and numbers of categories travel in the schema.
//!
//! `types`: which Arrow array holds which element type; `schema`: what columns mean; `export`; `import`, `options`, `chunks`:
//! the way back.
//!
//! Arrow makes a new major version several times a year; which one this is does not belong to what our own version promises.

mod chunks;
mod export;
mod import;
mod options;
mod schema;
mod types;

pub use import::from_record_batches_any;
pub use options::ArrowOptions;
