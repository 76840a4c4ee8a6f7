//! Tables of numbers: rows are observations, columns are features, in shared blocks of memory, handed to
//! algorithms a block of rows at a time **in the element type that the algorithm asks for**.
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
//! | you want | look at |
//! | --- | --- |
//! | an answer to "how do I ..." | [`guide`] |
//! | shared memory: who owns it, who may write it, how it is freed | [`Array`] |
//! | a table | [`HomogenNumericTable`], for short [`Table`]; its life cycle: [`MemoryStatus`] |
//! | to know which kind of table is for what | [`guide::choose_a_kind_of_table`] |
//! | columns of several types, an array each | [`SoaNumericTable`] |
//! | records as they lie in memory: a `Vec` of structures | [`AosNumericTable`], [`impl_record!`] |
//! | mostly zeros, of which only the others are stored | [`CsrNumericTable`] |
//! | symmetric and triangular matrices, half of their values stored | [`PackedSymmetricMatrix`], [`PackedTriangularMatrix`] |
//! | tables side by side, tables end to end, as one | [`MergedNumericTable`], [`RowMergedNumericTable`] |
//! | values of yours, borrowed, as a table | [`BorrowedTable`], [`BorrowedTableMut`] |
//! | any kind of table | [`NumericTable`]; what one of your own is made of: [`mod@table`] |
//! | blocks of rows or columns in any element type | [`BlockAccess`], [`BlockDescriptor`], [`Block`], [`BlockMut`] |
//! | writing them, without losing an error | [`BlockUpdate`] |
//! | columns by their names | [`NamedColumns`] |
//! | some columns or rows; rows sorted, filtered, sampled, split | [`TableSelection`] |
//! | a column more; tables side by side or end to end | [`TableCombination`]; [`guide::cut_and_combine_tables`] |
//! | one element type for all columns; a table that owns its values | [`TableConversion`] |
//! | the element types | [`Element`], [`ElementType`] |
//! | what the columns mean | [`TableDescription`], [`DataDictionary`], [`Feature`] |
//! | what a conversion does, and what it loses | [`convert`], [`ConversionPolicy`], [`ConversionReport`] |
//! | a table as bytes | [`to_bytes`](TableOutput::to_bytes), [`from_bytes`](HomogenNumericTable::from_bytes) |
//! | table files | [`save`](TableOutput::save), [`load`](HomogenNumericTable::load), [`verify`] |
//! | files larger than memory | [`TableReader`], [`TableWriter`]; changed in one loop: [`FileBlocks`] |
//! | a table as many files, written by several programs | [`Shards`], [`ShardsWriter`] |
//! | to compute over them, over machines | [`Partial`]; [`Shards::reduce`] |
//! | table files in object stores | `RemoteTable`, `save_to_store` of the crate `numeric-table-object-store` |
#![cfg_attr(
    feature = "mmap",
    doc = "| a file as a table's memory | [`map`](HomogenNumericTable::map) (feature `mmap`) |"
)]
#![cfg_attr(not(feature = "mmap"), doc = "| a file as a table's memory | `map` (feature `mmap`) |")]
//! | arrays that live in memory and on a device; tables there | the crate `numeric-table-execution` |
#![cfg_attr(
    feature = "csv",
    doc = "| CSV files | [`CsvSource`], [`write_csv`](TableOutput::write_csv) (feature `csv`) |"
)]
#![cfg_attr(not(feature = "csv"), doc = "| CSV files | `CsvSource`, `write_csv` (feature `csv`) |")]
#![cfg_attr(
    feature = "npy",
    doc = "| NumPy's files | [`load_npy`](HomogenNumericTable::load_npy), [`save_npy`](TableOutput::save_npy), \
        [`load_npy_any`] ... (feature `npy`) |"
)]
#![cfg_attr(
    not(feature = "npy"),
    doc = "| NumPy's files | `load_npy`, `save_npy`, `load_npy_any` ... (feature `npy`) |"
)]
#![cfg_attr(
    feature = "sparse-files",
    doc = "| svmlight and MatrixMarket files | [`Svmlight`], [`load_mtx`](CsrNumericTable::load_mtx), \
        [`save_mtx`](CsrNumericTable::save_mtx) ... (feature `sparse-files`) |"
)]
#![cfg_attr(
    not(feature = "sparse-files"),
    doc = "| svmlight and MatrixMarket files | `Svmlight`, `load_mtx`, `save_mtx` ... (feature `sparse-files`) |"
)]
#![cfg_attr(
    feature = "npz",
    doc = "| NumPy's files of several arrays, SciPy's sparse matrices | [`NpzReader`], [`NpzWriter`], [`save_npz`] ...; \
        [`load_npz`](CsrNumericTable::load_npz), [`save_npz`](CsrNumericTable::save_npz) (feature `npz`) |"
)]
#![cfg_attr(
    not(feature = "npz"),
    doc = "| NumPy's files of several arrays, SciPy's sparse matrices | `NpzReader`, `NpzWriter`, `save_npz` ...; \
        `load_npz`, `save_npz` (feature `npz`) |"
)]
#![cfg_attr(
    feature = "sprs",
    doc = "| `sprs` matrices | `try_from` in both directions, [`SprsIndex`] (feature `sprs`) |"
)]
#![cfg_attr(not(feature = "sprs"), doc = "| `sprs` matrices | `try_from` in both directions (feature `sprs`) |")]
#![cfg_attr(
    feature = "ndarray",
    doc = "| `ndarray` arrays | [`as_ndarray`](TableView::as_ndarray), \
        [`from_ndarray`](HomogenNumericTable::from_ndarray), \
        [`to_ndarray`](HomogenNumericTable::to_ndarray) (features `ndarray`, `ndarray-016`) |"
)]
#![cfg_attr(
    all(feature = "ndarray-016", not(feature = "ndarray")),
    doc = "| `ndarray` arrays | `as_ndarray`, [`from_ndarray`](HomogenNumericTable::from_ndarray), `to_ndarray` \
        (features `ndarray`, `ndarray-016`) |"
)]
#![cfg_attr(
    not(any(feature = "ndarray", feature = "ndarray-016")),
    doc = "| `ndarray` arrays | `as_ndarray`, `from_ndarray`, `to_ndarray` (features `ndarray`, `ndarray-016`) |"
)]
//! | Arrow | `to_record_batch`, `to_fixed_size_list`, `from_record_batches` ... of the crate `numeric-table-arrow` |
//! | whether one of these copies | [`CopyPolicy`], [`CopyReason`] |
#![cfg_attr(
    feature = "rayon",
    doc = "| several threads | [`par_row_blocks`](BlockAccess::par_row_blocks), \
        [`par_update_row_blocks`](BlockUpdate::par_update_row_blocks), of a file \
        [`par_row_blocks`](TableReader::par_row_blocks) ... (feature `rayon`) |"
)]
#![cfg_attr(
    not(feature = "rayon"),
    doc = "| several threads | `par_row_blocks`, `par_update_row_blocks` ... (feature `rayon`) |"
)]
//! | minimum, mean, variance ... of each column, of a file, of groups of rows | [`BasicStatistics`], [`GroupStatistics`] |
//! | covariances and correlations; `X'X` | [`Covariance`]; [`GramMatrix`] |
//! | k-means, linear regression, naive Bayes | the crate `numeric-table-learning` |
//! | quantiles, histograms | [`Quantiles`]; of streams [`QuantileSketch`]; [`Histogram`] |
//! | to know how far long work is | [`StatisticsOptions`], [`SaveOptions`] |
//! | a table in a terminal | `println!("{table}")`, [`TableDisplay`] |
//! | everything that can go wrong | [`Error`] |
//!
//! Modelled on Intel DAAL's `HomogenNumericTable` and oneDAL's `array`; where it differs on purpose, the item's page
//! says so. What each promise rests on is written in [`guide::guarantees`], how the source is built in
//! `ARCHITECTURE.md`.
//!
//! # Programs that are built without optimization
//!
//! The loops of this crate are compiled with the profile of the program. In Cargo's `dev` profile they are slow:
//! statistics take about 28 times as long as in `release`. These lines in the program's `Cargo.toml` have this crate
//! optimized there and in tests as well:
//! ```toml
//! [profile.dev.package.numeric-table]
//! opt-level = 3
//! ```
//!
//! # Features
//!
//! * `rayon` (default): parallel row blocks, and fills, copies and conversions from 4 MiB on, in the caller's pool.
//! * `ndarray` (default): views of tables and row blocks as `ndarray` 0.17 arrays, tables from arrays, arrays from tables.
//! * `ndarray-016`: the same for `ndarray` 0.16, by `TryFrom` and `from_ndarray`.
//! * `npy` (default): NumPy's `.npy` files are read, mapped (with `mmap`) and written.
//! * `mmap` (default): large blocks come from anonymous memory maps, lazily zero, with huge pages advised; table files can
//!   be mapped.
//! * `csv` (default): tables from CSV files, whole or block by block, and CSV files from tables.
//! * `csv-compressed`: CSV files that are compressed with gzip or zstd are read. Both decoders are written in Rust.
//! * `sparse-files`: sparse tables from svmlight (LIBSVM) and MatrixMarket files, and such files from them.
//! * `npz`: NumPy's `.npz` files of several arrays, and SciPy's of sparse matrices, are read and written.
//! * `sprs`: sparse tables from matrices of `sprs` and back, without a copy where that is possible.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

// `unsafe` is confined to the files that ARCHITECTURE.md lists, which `.ci/layers` compares with the source. A module
// without any forbids it here; `window`, `array` and `convert` forbid it in those of their modules that have none, and so do the modules with the comment "in some files".
#[forbid(unsafe_code)]
mod archive;
mod array;
mod base; // in some files
#[forbid(unsafe_code)]
mod block;
pub mod convert;
#[forbid(unsafe_code)]
mod dictionary;
#[forbid(unsafe_code)]
mod display;
pub mod files; // in some files
mod format; // in some files
#[doc(hidden)]
pub mod internal;
mod interop; // in some files
#[forbid(unsafe_code)]
mod lines;
#[forbid(unsafe_code)]
mod output;
#[forbid(unsafe_code)]
mod partial;
#[forbid(unsafe_code)]
mod serde;
mod shards; // in some files
#[forbid(unsafe_code)]
mod statistics;
pub mod table; // in some files
mod window;

pub use crate::archive::from_bytes_any;
pub use crate::array::{AnyArray, AnyArrayRef, Array, MemoryKind};
pub use crate::base::copy::{CopyPolicy, CopyReason};
pub use crate::base::element::{Element, ElementType};
pub use crate::base::error::{Difference, Error, ErrorKind, Hint, Place, Result, SparseFault, Unsolvable};
pub use crate::base::mode::{BlockKind, ReadWriteMode};
pub use crate::base::progress::Progress;
pub use crate::base::shape::Shape;
pub use crate::base::value::AnyValue;
pub use crate::block::{Block, BlockAccess, BlockDescriptor, BlockMut, BlockUpdate, NamedColumns};
pub use crate::convert::{ConversionPolicy, ConversionReport};
pub use crate::dictionary::{Categories, DataDictionary, Feature, FeatureType, PmmlType, TimeUnit};
pub use crate::display::TableDisplay;
pub use crate::files::options::SaveOptions;
pub use crate::format::{FileBlocks, TableReader, TableWriter, load_any, verify};
#[cfg(any(feature = "ndarray", feature = "ndarray-016"))]
#[cfg_attr(docsrs, doc(cfg(any(feature = "ndarray", feature = "ndarray-016"))))]
pub use crate::interop::NdarraySource;
#[cfg(feature = "csv")]
#[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
pub use crate::interop::csv::{
    CsvBlocks, CsvColumnDescription, CsvColumns, CsvDescription, CsvHeader, CsvKind, CsvMissing, CsvOptions, CsvSample,
    CsvSource, CsvTrailing, CsvWriteOptions, CustomKind,
};
#[cfg(feature = "sprs")]
#[cfg_attr(docsrs, doc(cfg(feature = "sprs")))]
pub use crate::interop::sparse::SprsIndex;
#[cfg(feature = "sparse-files")]
#[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
pub use crate::interop::sparse::{MatrixMarketOptions, Svmlight, SvmlightIndices, SvmlightLabels, SvmlightOptions};
#[cfg(feature = "npz")]
#[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
pub use crate::interop::{
    NpzArray, NpzOptions, NpzReader, NpzWriter, load_npz_columns, save_npz, save_npz_columns, save_npz_with,
};
#[cfg(feature = "npy")]
#[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
pub use crate::interop::{load_npy_any, read_npy_any};
pub use crate::output::TableOutput;
pub use crate::partial::Partial;
pub use crate::shards::{ShardBlocks, ShardInfo, ShardWriter, Shards, ShardsWriter};
pub use crate::statistics::{
    BasicStatistics, ColumnHistogram, ColumnStatistics, Covariance, GramMatrix, GroupStatistics, Histogram,
    HistogramBins, MissingCategories, QuantileMethod, QuantileSketch, Quantiles, StatisticsOptions,
};
pub use crate::table::aos::{AosNumericTable, Record, RecordLayout};
pub use crate::table::borrowed::{BorrowedTable, BorrowedTableMut};
pub use crate::table::calls::{TableCombination, TableConversion, TableDescription, TableSelection};
pub use crate::table::csr::CsrNumericTable;
pub use crate::table::csr::block::SparseBlock;
pub use crate::table::csr::block_mut::SparseBlockMut;
pub use crate::table::csr::index::{Indices, IndicesIter};
pub use crate::table::homogen::{FloatTable, HomogenNumericTable, Table};
pub use crate::table::merged::{MergedNumericTable, RowMergedNumericTable};
pub use crate::table::numeric_table::NumericTable;
pub use crate::table::packed::{PackedOrder, PackedSymmetricMatrix, PackedTriangularMatrix, Triangle};
pub use crate::table::soa::SoaNumericTable;
pub use crate::table::state::{AllocationFlag, DataLayout, MemoryStatus};
pub use crate::table::view::{TableView, TableViewMut};
pub use crate::window::{AnySlice, AnySliceMut};
/// What macros of this crate expand to, whatever the user's crate calls `core`.
#[doc(hidden)]
pub use ::core as __core;
pub use half::{bf16, f16};

// The pages of `docs`, to be read; their programs are compiled and run where they have what they use.
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
    pub use crate::{
        AllocationFlag, Array, Block, BlockAccess, BlockDescriptor, BlockMut, BlockUpdate, ConversionPolicy,
        ConversionReport, DataDictionary, DataLayout, Element, ElementType, Error, ErrorKind, Feature, FeatureType,
        HomogenNumericTable, MemoryStatus, NamedColumns, NumericTable, ReadWriteMode, SaveOptions, Shape, Table,
        TableCombination, TableConversion, TableDescription, TableOutput, TableSelection, TableView, TableViewMut,
        load_any,
    };
}
