//! The text format of SVM-light, LIBSVM and scikit-learn's `load_svmlight_file`: a row is a line with a label and the
//! indices and values of what is not zero.
//!
//! * `options`: options for reading; `labels`: the labels of all rows; `parse`: from lines to rows; `read`: from files
//!   to tables; `write`: from tables to files.
//!
//! Source: scikit-learn's `_svmlight_format_fast.pyx`, for what is a comment, a blank line, and counted from one.
//! What it takes for granted is checked here: that all rows or none have a query, and the ranges of numbers.

mod labels;
mod options;
mod parse;
mod read;
mod write;

pub use labels::SvmlightLabels;
pub use options::{SvmlightIndices, SvmlightOptions};
pub use read::Svmlight;
