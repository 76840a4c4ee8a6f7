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
//! All Parquet compressions but LZO are read. Columns of numbers, truth values, dates, times, decimals and words become
//! columns by the rules of the [guide](crate::guide) for Arrow's types. Nested columns are errors if they are chosen.
//!
//! # Memory
//!
//! Columns are decoded in steps of 1 Mi values of all columns together, and at most 64 Ki and at least 1024 rows, which
//! are copied into the table and dropped. While a column is decoded, one of its pages is in memory, compressed and not,
//! and its dictionary: some 3 MiB for each column with the settings of most writers, however many rows a row group has.
//!
//! # Files that are not trusted
//!
//! Sizes in the footer are compared with the length of the file, and those of pages with the bytes that they are made
//! of, before memory is allocated. A file that claims many more rows than its bytes usually hold is loaded only after
//! the rows of its pages were counted. A panic of the `parquet` crate becomes an [`ErrorKind::Foreign`], unless the
//! program is built to abort at panics; the panic hook reports it first.

mod decode;
mod files;
mod input;
mod load;
mod rows;
mod source;
mod write;

#[cfg(doc)]
use numeric_table::ErrorKind;

pub use self::files::ParquetFiles;
pub use self::source::ParquetSource;
pub use self::write::{ParquetCompression, ParquetWriteOptions, save_parquet, save_parquet_with};
