//! Sparse tables from files and matrices of other programs, and back.
//!
//! * `svmlight`: the text format of SVM-light, LIBSVM and scikit-learn; `matrix_market`: that of the MatrixMarket;
//!   `pieces`: what both need for reading, in parallel, and `chunks` for writing; `collected`: indices that are read;
//! * `npz`: the files of `scipy.sparse.save_npz`;
//! * `row_limit`: how many empty rows a file may ask for;
//! * `sprs`: the matrices of that crate.

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
#[cfg(feature = "sprs")]
mod sprs;
#[cfg(feature = "sparse-files")]
mod svmlight;

#[cfg(feature = "sprs")]
pub use self::sprs::SprsIndex;
#[cfg(feature = "sparse-files")]
pub use matrix_market::MatrixMarketOptions;
#[cfg(feature = "sparse-files")]
pub use svmlight::{Svmlight, SvmlightIndices, SvmlightLabels, SvmlightOptions};
