//! Tables of [`numeric_table`] as Arrow's record batches and fixed-size lists, and back, without a copy where possible.
//!
//! ```
//! use arrow_array::{Float32Array, cast::AsArray};
//! use numeric_table::prelude::*;
//! use numeric_table_arrow::prelude::*;
//!
//! let table = HomogenNumericTable::from_rows(&[[1.5_f32, 10.0], [2.5, 20.0]])?.to_layout(DataLayout::ColumnMajor)?;
//! let batch = table.to_record_batch()?; // each column shares the memory of the table
//! let last: &Float32Array = batch.column(1).as_primitive();
//! assert_eq!(last.values()[..], [10.0, 20.0]);
//!
//! let options = ArrowOptions::new().convert(ConversionPolicy::Exact);
//! let copy = HomogenNumericTable::<f64>::from_record_batches([batch], options)?;
//! assert_eq!(copy.as_slice()?, [1.5, 10.0, 2.5, 20.0]);
//! # Ok::<(), numeric_table::Error>(())
//! ```
//!
//! The calls are traits on the types of `numeric_table`; [`prelude`] has all of them. The page [`guide`] says what
//! becomes of each Arrow type.
//!
//! | on | trait |
//! | --- | --- |
//! | any table | [`ArrowTables`] |
//! | [`HomogenNumericTable`] | [`ArrowHomogenTable`] |
//! | [`SoaNumericTable`] | [`ArrowSoaTable`] |
//! | [`RowMergedNumericTable`] | [`ArrowRowMergedTable`] |
//! | [`TableWriter`] | [`ArrowTableWriter`] |
//!
//! Files have modules of their own, which are features: `parquet` has Parquet files, `ipc` files and streams in Arrow's
//! IPC format.
//!
//! # Which of these copy
//!
//! | from | to | without a copy |
//! | --- | --- | --- |
//! | column-major table | `RecordBatch` | always: every column shares the memory of the table |
//! | row-major table | `RecordBatch` | if it has one row or one column |
//! | structure of arrays | `RecordBatch` | always: every column shares the memory of its column and its bitmap |
//! | table of another kind | `RecordBatch` | each column that is contiguous in an array |
//! | row-major table | `FixedSizeListArray`, one list for each row | always |
//! | column-major table | `FixedSizeListArray` | if it has one column, or one row that is not a slice of a larger table |
//! | `RecordBatch` of one column | table | if there is one chunk, without nulls, of the table's type |
//! | `FixedSizeListArray` | row-major table | as above |
//! | `RecordBatch` of several columns, several chunks | table | never: their memory is not one block |
//! | `RecordBatch`, `StructArray` of mixed types | structure of arrays | each column, with its validity bitmap |
//! | several `RecordBatch`es | structure of arrays | if only one has rows; end to end in a `RowMergedNumericTable`, always |
//!
//! Arrow has all element types except `bf16`. Names, kinds and categories of columns are stored in the schema.
//!
//! Nulls of a structure of arrays are missing values, in both directions. Tables of one element type have none: nulls
//! are errors there, or become what [`ArrowOptions`] names.
//!
//! # Versions
//!
//! Arrow releases a new major version several times a year. This crate follows with a new version of its own;
//! `numeric_table` stays as it is.

// `traits`: the calls, a trait for each type of table; `types`: Arrow types of element types; `decimal`: decimals as
// numbers; `words`: words as categories; `schema`: descriptions of columns; `export`: tables to Arrow; `options`: the
// caller's options for both; `plan`: what is imported of a schema; `chunks`: columns in parts, and their assembly;
// `gaps`: validity bitmaps; `import`, `columns`: homogeneous tables and structures of arrays of parts; `steps`,
// `stream`: of readers, and table files of readers; `error`: errors with the facts of Arrow; `input`, `blocks`: files,
// and rows of them a block at a time; `parquet`, `ipc`: the formats of files.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(any(feature = "ipc", feature = "parquet"))]
mod blocks;
mod chunks;
mod columns;
mod decimal;
mod error;
mod export;
mod gaps;
mod import;
#[cfg(any(feature = "ipc", feature = "parquet"))]
mod input;
#[cfg(feature = "ipc")]
pub mod ipc;
mod options;
#[cfg(feature = "parquet")]
pub mod parquet;
mod plan;
mod schema;
mod steps;
mod stream;
mod traits;
mod types;
mod words;

#[cfg(doc)]
use numeric_table::{HomogenNumericTable, RowMergedNumericTable, SoaNumericTable, files::TableWriter};

#[cfg(any(feature = "ipc", feature = "parquet"))]
pub use crate::blocks::{FileColumnBlocks, FileRowBlocks};
pub use crate::export::ArrowTables;
pub use crate::import::from_record_batches_any;
pub use crate::options::{ArrowExportOptions, ArrowOptions};
pub use crate::traits::{ArrowHomogenTable, ArrowRowMergedTable, ArrowSoaTable, ArrowTableWriter};

#[doc = include_str!("../docs/arrow.md")]
#[cfg(any(doc, doctest))]
pub mod guide {}

/// The README's code blocks, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// What programs that use Arrow need: `use numeric_table_arrow::prelude::*`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::prelude::*;
/// let batch = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.to_record_batch()?;
/// assert_eq!((batch.num_rows(), batch.num_columns()), (2, 2));
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub mod prelude {
    pub use crate::{
        ArrowExportOptions, ArrowHomogenTable, ArrowOptions, ArrowRowMergedTable, ArrowSoaTable, ArrowTableWriter,
        ArrowTables, from_record_batches_any,
    };
}
