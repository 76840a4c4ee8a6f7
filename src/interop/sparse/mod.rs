//! Sparse tables from files and matrices of other programs, and back.
//!
//! * `svmlight`: the text format of SVM-light, LIBSVM and scikit-learn; `matrix_market`: the MatrixMarket format;
//!   `pieces`: parallel reading for both, and `chunks`: parallel writing; `collected`: indices read from text;
//! * `npz`: the files of `scipy.sparse.save_npz`;
//! * `row_limit`: the limit of empty rows in a file;

#[cfg(feature = "sparse-files")]
mod chunks;
#[cfg(feature = "sparse-files")]
mod collected;
#[cfg(feature = "sparse-files")]
mod matrix_market;
#[cfg(feature = "npz")]
mod npz;
#[cfg(feature = "sparse-files")]
mod pieces;
#[cfg(any(feature = "npz", feature = "sparse-files"))]
mod row_limit;
#[cfg(feature = "sparse-files")]
mod svmlight;

#[cfg(feature = "sparse-files")]
pub use matrix_market::MatrixMarketOptions;
#[cfg(feature = "sparse-files")]
pub use svmlight::{LabeledRows, SvmlightIndices, SvmlightLabels, SvmlightOptions};
