//! k-means, linear regression and naive Bayes over the tables of [`numeric_table`], as results that are merged.
//!
//! Each result is a [`Partial`](numeric_table::Partial): it is computed from some rows at a time, from blocks or from
//! files, on several threads, processes or machines, and merged. Moments, covariances, Gram matrices and groups are in
//! [`numeric_table`] itself.
//!
//! ```
//! use numeric_table::{Partial, prelude::*};
//! use numeric_table_learning::{KMeansStep, LinearRegression};
//!
//! let table = HomogenNumericTable::from_rows(&[[0.0_f32, 1.0], [9.0, 19.0], [1.0, 3.0], [8.0, 17.0]])?; // 4 x 2
//! let mut step = KMeansStep::new(&table.slice_rows(..2)?)?; // the centroids to begin with: the first two rows
//! loop {
//!     step = step.compute_over(&table)?; // in parallel if the table is large
//!     if step.shift() == 0.0 {
//!         break;
//!     }
//!     step = KMeansStep::new(&step.centroids()?)?;
//! }
//! assert_eq!(step.centroids()?.as_slice()?, [0.5, 2.0, 8.5, 18.0]);
//!
//! let line = LinearRegression::new(1, 1)?.compute_over(&table)?.solve()?; // the last column from the first: y = 2 x + 1
//! assert!((line.intercepts()[0] - 1.0).abs() < 1e-12);
//! # Ok::<(), numeric_table::Error>(())
//! ```
//!
//! | you want | look at |
//! | --- | --- |
//! | k-means, one step at a time | [`KMeansStep`] |
//! | linear regression, with or without a penalty | [`LinearRegression`], [`RegressionOptions`], [`RegressionModel`] |
//! | naive Bayes from counts | [`NaiveBayes`], [`NaiveBayesModel`] |
//! | naive Bayes from any numbers | [`GaussianNaiveBayes`], [`GaussianNaiveBayesModel`] |
//! | whole programs over many files | [`learn_from_many_files`] |
//!
//! # Entire tables, and blocks of rows
//!
//! | call | rows | threads |
//! | --- | --- | --- |
//! | `compute` and [`compute_over`](numeric_table::Partial::compute_over) | an entire table | all threads of the pool |
//! | [`update`](numeric_table::Partial::update) of [`KMeansStep`], [`LinearRegression`] and [`GaussianNaiveBayes`] | one block, which is added to the result | all threads if the block is large |
//! | `update` of [`NaiveBayes`], and of `LinearRegression` with extended precision | one block, which is added to the result | the calling thread |
//! | [`Shards::reduce`](numeric_table::shards::Shards::reduce) | many files | all threads of the pool |
//!
//! Every call that adds rows computes the result of all of them before it adds anything, so a call that fails adds
//! nothing. Results depend on the values and on how the rows are divided among calls. They do not depend on the number
//! of threads, the processor or the layout of the table.
//!
//! # Missing values
//!
//! Rows with a missing value are skipped, and counted apart from rows with NaN: `missing_rows` of each result. Only
//! [`GaussianNaiveBayes`] skips no row but those without a class, and leaves a missing feature out of that feature
//! alone. Predictions take a missing value for NaN: [`KMeansStep::assign`] returns -1, [`RegressionModel::predict`]
//! NaN, [`GaussianNaiveBayesModel`] ignores the feature, and [`NaiveBayesModel`] returns an error with the row and the
//! column.
//!
//! # Features
//!
//! * `rayon` (default): large tables are read by the threads of the caller's rayon pool.

// k-means is in `kmeans`, with the loops in `nearest` and `avx2`; naive Bayes in `naive_bayes` and `gaussian`, with the
// predictions in `classes`; regression in `regression`, solved in `cholesky` or, with twice the digits, in `extended`.
// Tables of any kind are read a block at a time (`rows`). Sums of many rows keep their rounding errors (`sum`).

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[forbid(unsafe_code)]
mod checks;
#[forbid(unsafe_code)]
mod cholesky;
#[forbid(unsafe_code)]
mod classes;
#[forbid(unsafe_code)]
mod extended;
#[forbid(unsafe_code)]
mod failure;
#[forbid(unsafe_code)]
mod gaussian;
#[forbid(unsafe_code)]
mod gaussian_model;
#[forbid(unsafe_code)]
mod kmeans;
#[forbid(unsafe_code)]
mod naive_bayes;
#[forbid(unsafe_code)]
mod naive_bayes_model;
#[forbid(unsafe_code)]
mod nearest;
#[forbid(unsafe_code)]
mod regression;
#[forbid(unsafe_code)]
mod regression_model;
#[forbid(unsafe_code)]
mod rows;
#[forbid(unsafe_code)]
mod sum;

pub use crate::gaussian::GaussianNaiveBayes;
pub use crate::gaussian_model::GaussianNaiveBayesModel;
pub use crate::kmeans::KMeansStep;
pub use crate::naive_bayes::NaiveBayes;
pub use crate::naive_bayes_model::NaiveBayesModel;
pub use crate::regression::{LinearRegression, RegressionOptions};
pub use crate::regression_model::RegressionModel;

#[cfg(any(doc, doctest))]
#[doc = "[compute-statistics]: https://docs.rs/numeric-table/latest/numeric_table/guide/compute_statistics/"]
#[doc = "[many-files]: https://docs.rs/numeric-table/latest/numeric_table/guide/many_files/"]
#[doc = "[distributed mpi]: https://docs.rs/numeric-table/latest/numeric_table/guide/#in-the-repository"]
#[doc = ""]
#[doc = include_str!("../docs/learn-from-many-files.md")]
pub mod learn_from_many_files {}

/// The README's program, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
