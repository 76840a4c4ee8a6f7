//! Tables of numbers in shared blocks of memory: rows are observations, columns are features. Algorithms read and write
//! them a block of rows at a time, **in the element type of their choice**.
//!
//! ```
//! use numeric_table::prelude::*;
//!
//! let mut table = HomogenNumericTable::from_rows(&[[5.1_f32, 3.5], [4.9, 3.0], [6.2, 3.4]])?; // 3 x 2, stored as f32
//! let mut sums = [0.0_f64; 2];
//! for block in table.row_blocks::<f64>(2)? {                          // read as f64, two rows at a time
//!     for row in block?.iter_rows() {
//!         sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
//!     }
//! }
//! table.update_rows::<f64, _>(.., |block| {                           // write as f64: converted back, all or nothing
//!     block.iter_mut().enumerate().for_each(|(i, value)| *value -= sums[i % 2] / 3.0);
//!     Ok(())
//! })?;
//! let copy = HomogenNumericTable::<f32>::from_bytes(&table.to_bytes()?)?;
//! assert_eq!(copy, table);
//! # Ok::<(), numeric_table::Error>(())
//! ```
//!
//! Common items are in the root and in the [`prelude`]. All others are in modules by topic.
//!
//! | task | where |
//! | --- | --- |
//! | answers to "how do I ..." | [`guide`] |
//! | a table in one block of memory | [`HomogenNumericTable`], for short [`Table`]; its life cycle: [`MemoryStatus`] |
//! | other kinds of tables, and which to choose | [`guide::choose_a_kind_of_table`] |
//! | columns of several types, one array for each | [`SoaNumericTable`] |
//! | records: a `Vec` of structures as a table | [`AosNumericTable`], [`impl_record!`] |
//! | mostly zeros | [`CsrNumericTable`], [`sparse`] |
//! | symmetric and triangular matrices, half stored | [`PackedSymmetricMatrix`], [`PackedTriangularMatrix`] |
//! | several tables as one | [`MergedNumericTable`], [`RowMergedNumericTable`] |
//! | borrowed values as a table | [`table::BorrowedTable`], [`table::BorrowedTableMut`] |
//! | tables of any kind | [`NumericTable`]; for your own kind, [`table::spi`] |
//! | blocks of rows or columns in any element type | [`BlockAccess`], [`BlockDescriptor`], [`Block`], [`BlockMut`] |
//! | transactional updates | [`BlockUpdate`] |
//! | columns by name | [`NamedColumns`] |
//! | selecting, sorting, filtering, sampling, splitting | [`TableSelection`] |
//! | adding columns and rows | [`TableCombination`]; [`guide::cut_and_combine_tables`] |
//! | missing values | [`MissingValues`]; [`guide::missing_values`] |
//! | converting tables | [`TableConversion`]; the rule for each value: [`convert`] |
//! | the meaning of columns | [`TableDescription`], [`DataDictionary`], [`Feature`], [`dictionary`] |
//! | shared memory: ownership, writing, freeing | [`Array`], [`mod@array`] |
//! | tables as bytes | [`to_bytes`](TableOutput::to_bytes), [`from_bytes`](HomogenNumericTable::from_bytes) |
//! | table files, also larger than memory | [`files`] |
//! | a table in many files, written concurrently | [`shards`] |
//! | statistics, quantiles, histograms, groups | [`statistics`] |
//! | your own mergeable results | [`Partial`] |
//! | CSV files | `csv` (feature `csv`) |
//! | NumPy files | `npy` (feature `npy`), `npz` (feature `npz`) |
//! | svmlight and MatrixMarket files | [`sparse`] (feature `sparse-files`) |
//! | `ndarray` arrays | `as_ndarray`, `from_ndarray`, `to_ndarray` (feature `ndarray`); [`interop`] |
//! | several threads | `par_row_blocks`, `par_update_row_blocks` ... (feature `rayon`) |
//! | printing | `println!("{table}")`, [`TableDisplay`] |
//! | finding copies, and the reasons for them | [`trace`] |
//! | errors | [`Error`], [`ErrorKind`], [`error`] |
//!
//! Other crates of this project build on this one: `numeric-table-arrow` (Arrow, Parquet), `numeric-table-object-store`
//! (S3 and other stores), `numeric-table-execution` (devices, CUDA), `numeric-table-learning` (k-means, naive Bayes,
//! linear regression) and `numeric-table-sprs` (`sprs` matrices).
//!
//! The crate is modeled on Intel DAAL's `HomogenNumericTable` and oneDAL's `array`. The page of an item lists its
//! intentional differences. [`guide::guarantees`] lists what you can rely on, and `ARCHITECTURE.md` describes the
//! source.
//!
//! # Debug builds
//!
//! The loops of this crate are compiled with the profile of your program, and are slow in Cargo's `dev` profile:
//! statistics take about 28 times as long as in `release`. Add these lines to the program's `Cargo.toml` to optimize
//! this crate in debug and test builds:
//! ```toml
//! [profile.dev.package.numeric-table]
//! opt-level = 3
//! ```
//!
//! # Features
//!
//! * `rayon` (default): parallel row blocks, and parallel fills, copies and conversions from 4 MiB on, in the caller's
//!   pool.
//! * `ndarray` (default): views of tables and row blocks as `ndarray` 0.17 arrays, and tables from arrays.
//! * `npy` (default): reading, mapping (with `mmap`) and writing NumPy's `.npy` files.
//! * `mmap` (default): large blocks are anonymous memory maps, lazily zeroed, for which the library requests huge
//!   pages. Table files can be mapped.
//! * `csv` (default): reading CSV files, at once or block by block, and writing them.
//! * `csv-compressed`: reading CSV files compressed with gzip or zstd. Both decoders are written in Rust.
//! * `sparse-files`: reading and writing svmlight (LIBSVM) and MatrixMarket files.
//! * `npz`: reading and writing NumPy's `.npz` files of several arrays, and SciPy's files of sparse matrices.
//! * `bincode`: `Encode` and `Decode` of bincode 2 for arrays, dictionaries and tables. Decode untrusted bytes with a
//!   limit, or borrow from them: bincode allocates the lengths that it reads.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

// `unsafe` is confined to the files that ARCHITECTURE.md lists, which `.ci/layers` compares with the source. Modules
// without any `unsafe` code forbid it here. Modules with the comment "in some files" forbid it in their other files.
#[forbid(unsafe_code)]
mod archive;
pub mod array;
mod base; // in some files
#[forbid(unsafe_code)]
pub mod block;
pub mod convert;
#[forbid(unsafe_code)]
pub mod dictionary;
#[forbid(unsafe_code)]
mod display;
mod format; // in some files
#[doc(hidden)]
pub mod internal;
pub mod interop; // in some files
#[forbid(unsafe_code)]
mod lines;
#[forbid(unsafe_code)]
mod output;
#[forbid(unsafe_code)]
mod partial;
#[forbid(unsafe_code)]
mod serde;
pub mod shards; // in some files
#[forbid(unsafe_code)]
pub mod statistics;
mod storage; // in some files
pub mod table; // in some files
mod window;

#[doc(inline)]
pub use crate::array::{AnyArray, Array};
pub use crate::base::element::{Element, ElementType};
pub use crate::base::error::{Error, ErrorKind, Result};
pub use crate::base::mode::ReadWriteMode;
pub use crate::base::shape::Shape;
pub use crate::base::value::AnyValue;
#[doc(inline)]
pub use crate::block::{Block, BlockAccess, BlockDescriptor, BlockMut, BlockUpdate, NamedColumns};
#[doc(inline)]
pub use crate::convert::{ConversionPolicy, ConversionReport};
#[doc(inline)]
pub use crate::dictionary::{DataDictionary, Feature, FeatureType};
#[doc(inline)]
pub use crate::display::TableDisplay;
#[doc(inline)]
pub use crate::output::TableOutput;
#[doc(inline)]
pub use crate::partial::Partial;
#[doc(inline)]
pub use crate::table::aos::AosNumericTable;
#[doc(inline)]
pub use crate::table::calls::{MissingValues, TableCombination, TableConversion, TableDescription, TableSelection};
#[doc(inline)]
pub use crate::table::csr::CsrNumericTable;
#[doc(inline)]
pub use crate::table::homogen::{HomogenNumericTable, Table};
#[doc(inline)]
pub use crate::table::merged::{MergedNumericTable, RowMergedNumericTable};
#[doc(inline)]
pub use crate::table::numeric_table::NumericTable;
#[doc(inline)]
pub use crate::table::packed::{PackedSymmetricMatrix, PackedTriangularMatrix};
#[doc(inline)]
pub use crate::table::soa::SoaNumericTable;
#[doc(inline)]
pub use crate::table::state::{AllocationFlag, DataLayout, MemoryStatus};
/// The standard `core`, under a name that macros of this crate can rely on.
#[doc(hidden)]
pub use ::core as __core;
pub use half::{bf16, f16};

pub mod error {
    //! Facts about errors: where, why, and what helps. [`Error`] and [`ErrorKind`] are in the root.

    pub use crate::base::error::{Difference, Error, ErrorKind, Hint, Place, Result, SparseFault, Unsolvable};
}

pub mod files {
    //! Table files (`.ntb`) and archives in memory: loading, verifying, streaming.
    //!
    //! Tables have their own calls for writing: [`save`](crate::TableOutput::save) and
    //! [`to_bytes`](crate::TableOutput::to_bytes). The page [`table_files`](crate::guide::table_files) describes the
    //! guarantees of the format.
    //!
    //! | task | items |
    //! | --- | --- |
    //! | read a table of any kind | [`load`]; from memory, [`from_bytes`] |
    //! | check a file without loading it | [`verify`] |
    //! | read a file larger than memory | [`TableReader`] |
    //! | write a file larger than memory | [`TableWriter`] |
    //! | change a file in one pass | [`FileBlocks`] |
    //! | choose checksums, durability, progress callbacks | [`SaveOptions`], [`Progress`] |
    //! | find files that interrupted programs left | [`leftovers`] |

    pub use crate::archive::from_bytes;
    pub use crate::base::progress::Progress;
    pub use crate::format::{FileBlocks, TableReader, TableWriter, load_any as load, verify};
    pub use crate::storage::options::SaveOptions;
    pub use crate::storage::{Leftover, leftovers};
}

#[cfg(feature = "csv")]
#[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
pub mod csv {
    //! CSV files: reading them at once or block by block, with types, words, dates and missing values; writing them.
    //!
    //! [`CsvSource`] reads. [`write_csv`](crate::TableOutput::write_csv) of a table writes. The page
    //! [`read_a_csv`](crate::guide::read_a_csv) has programs.

    pub use crate::interop::csv::{
        CsvBlocks, CsvColumnBlocks, CsvColumnDescription, CsvColumnKind, CsvColumns, CsvCustomKind, CsvDescription,
        CsvHeader, CsvMissing, CsvOptions, CsvSample, CsvSource, CsvTrailing, CsvWriteOptions,
    };
}

#[cfg(feature = "npy")]
#[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
pub mod npy {
    //! NumPy's `.npy` files: reading tables of any element type. Tables have their own calls for one type and for
    //! writing.
    //!
    //! [`load_npy`](crate::HomogenNumericTable::load_npy) reads a file of a known element type, and
    //! [`save_npy`](crate::TableOutput::save_npy) writes one.

    pub use crate::interop::npy::{load_any as load, read_any as read};
}

#[cfg(feature = "npz")]
#[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
pub mod npz {
    //! NumPy's `.npz` files of several arrays. SciPy's files of sparse matrices are in
    //! [`CsrNumericTable::load_npz`](crate::CsrNumericTable::load_npz).

    pub use crate::interop::npz::{
        NpzArray, NpzOptions, NpzReader, NpzWriter, load_columns, save, save_columns, save_with,
    };
}

pub mod sparse {
    //! Sparse blocks and indices, and files of sparse tables. The table is [`CsrNumericTable`](crate::CsrNumericTable).

    #[cfg(feature = "sparse-files")]
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    pub use crate::interop::sparse::{
        LabeledRows, MatrixMarketOptions, SvmlightIndices, SvmlightLabels, SvmlightOptions,
    };
    pub use crate::table::csr::block::SparseBlock;
    pub use crate::table::csr::block_mut::SparseBlockMut;
    pub use crate::table::csr::index::{Indices, IndicesIter};
}

pub mod trace {
    //! A record of copies: how many bytes of values a program copies, and why.
    //!
    //! A [`Trace`] shows why a pipeline is slow, and [`copies_of`] lets a test assert that a call copies nothing.
    //! [`CopyKind`] lists the reasons, and how to avoid each.

    pub use crate::base::trace::{CopyCount, CopyEvent, CopyKind, Trace, TraceContext, TraceReport, copies_of};
}

// The pages of `docs` as documentation. Their programs are compiled and run if the features that they use are enabled.
#[cfg(any(
    all(doc, not(doctest)),
    all(doctest, feature = "csv", feature = "ndarray", feature = "npy", feature = "rayon", feature = "mmap")
))]
pub mod guide;

/// The README's code blocks, compiled and run.
#[cfg(all(doctest, feature = "csv", feature = "ndarray"))]
#[doc = include_str!("../README.md")]
mod readme {}

/// What most programs need: `use numeric_table::prelude::*`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// assert_eq!(HomogenNumericTable::<f32>::default().shape(), Shape { rows: 0, columns: 0 });
/// ```
pub mod prelude {
    pub use crate::files::SaveOptions;
    pub use crate::table::{TableView, TableViewMut};
    pub use crate::{
        AllocationFlag, Array, Block, BlockAccess, BlockDescriptor, BlockMut, BlockUpdate, ConversionPolicy,
        ConversionReport, DataDictionary, DataLayout, Element, ElementType, Error, ErrorKind, Feature, FeatureType,
        HomogenNumericTable, MemoryStatus, MissingValues, NamedColumns, NumericTable, ReadWriteMode, Shape, Table,
        TableCombination, TableConversion, TableDescription, TableOutput, TableSelection, files,
    };
}
