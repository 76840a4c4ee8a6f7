//! Parquet files as tables, and tables as Parquet files (feature `parquet`).
//!
//! ```
//! use numeric_table::prelude::*;
//! use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
//! # let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("table.parquet");
//! let table = HomogenNumericTable::from_rows(&[[1.5_f32, 10.0], [2.5, 20.0], [3.5, 30.0]])?;
//! save_parquet(&path, &table)?;
//!
//! let source = ParquetSource::open(&path)?; // reads the footer only
//! assert_eq!(source.shape()?, Shape { rows: 3, columns: 2 });
//! assert_eq!(source.load::<f32>()?, table);
//! assert_eq!(source.load_rows::<f32>(1..)?.as_slice()?, [2.5, 20.0, 3.5, 30.0]);
//! # Ok::<(), numeric_table::Error>(())
//! ```
//!
//! | you want | call |
//! | --- | --- |
//! | a table of one element type | [`ParquetSource::load`] |
//! | columns of their own types | [`ParquetSource::load_columns`] |
//! | some columns, conversions, values for nulls, a layout | [`ParquetSource::options`] |
//! | some rows | [`ParquetSource::load_rows`] |
//! | a file larger than memory | [`ParquetSource::row_blocks`], [`ParquetSource::save_to`] |
//! | many files as one table | [`ParquetFiles`] |
//! | to write a file | [`save_parquet`], [`save_parquet_with`] |
//!
//! All Parquet compressions except LZO can be read. Columns of numbers, truth values, dates, times, decimals and words
//! become columns by the rules of the [guide](crate::guide) for Arrow's types. Nulls are missing values of
//! [`load_columns`](ParquetSource::load_columns). Choosing a nested column is an error.
//!
//! # Speed
//!
//! The `parquet` crate reads pages. This crate decompresses Snappy and Zstandard, and decodes integers and floats
//! without nulls that are plain or in a dictionary: the values of a dictionary replace its indices directly, and plain
//! pages are not copied before their values go into the table. All other columns (with nulls, of other types, in other
//! encodings) are decoded by the `parquet` crate, from the first row on that needs it. The values are the same.
//!
//! # Memory
//!
//! Columns are decoded in steps of 1 Mi values, summed over all columns, but at least 1024 and at most 64 Ki rows. Each
//! step is copied into the table and dropped. While a column is decoded, its dictionary and at most two of its pages,
//! compressed and decompressed, are in memory. With the settings of most writers, that is about 3 MiB per column,
//! regardless of the number of rows in a row group. Each group of columns that is decoded together keeps at most 16 MiB
//! of buffers for later pages.
//!
//! # Untrusted files
//!
//! Before memory is allocated, sizes in the footer are compared with the length of the file, and the decompressed sizes
//! of pages with their compressed sizes. If a file claims far more rows than its size suggests, the rows of its pages
//! are counted before it is loaded. A panic of the `parquet` crate becomes an [`ErrorKind::Foreign`], unless the
//! program is built with `panic = "abort"`; the panic hook reports it first.

mod checked;
mod decode;
mod files;
mod flat;
mod footer;
mod gather;
mod input;
mod load;
mod reduce;
mod rows;
mod runs;
mod source;
mod unpack;
mod write;

#[cfg(doc)]
use numeric_table::ErrorKind;

pub use self::files::{ParquetFileInfo, ParquetFiles};
pub use self::source::ParquetSource;
pub use self::write::{ParquetCompression, ParquetWriteOptions, save_parquet, save_parquet_blocks, save_parquet_with};
