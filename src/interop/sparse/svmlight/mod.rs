//! The text format of SVM-light, LIBSVM and scikit-learn's `load_svmlight_file`: a row is a line with a label and the
//! indices and values of the non-zero cells.
//!
//! * `options`: options for reading; `labels`: the labels of all rows; `parse`: parsing lines into rows; `read`: from
//!   files to tables; `write`: from tables to files.
//!
//! Source: scikit-learn's `_svmlight_format_fast.pyx`, for comments, blank lines and one-based indices. Two of its
//! assumptions are checked here: that either all rows or none have a query, and the ranges of numbers.

mod labels;
mod options;
mod parse;
mod read;
mod write;

pub use labels::SvmlightLabels;
pub use options::{SvmlightIndices, SvmlightOptions};
pub use read::LabeledRows;
