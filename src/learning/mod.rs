//! What DAAL's distributed algorithms compute of some rows at a time: results that are merged, and models of them.
//!
//! Each is a [`Partial`](crate::Partial): k-means (`kmeans`, with the loops in `nearest` and `avx2`), naive Bayes
//! (`naive_bayes` of counts, `gaussian` of any numbers; predictions in `classes`), and linear regression by normal
//! equations (`regression`, solved in `cholesky`, or with twice the digits in `extended`). Moments, covariances, Gram
//! matrices and groups are in
//! [`crate::statistics`].
//!
//! Tables of any kind are read a block at a time (`rows`). Whatever is added is computed of all rows of a call first,
//! and then added, so that a call that fails adds nothing. Sums of many rows keep what rounding takes from them
//! (`sum`). Results depend on the values and on how rows are dealt out to calls, not on threads, the processor or the
//! layout.

#[cfg(target_arch = "x86_64")]
mod avx2;
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

pub use gaussian::GaussianNaiveBayes;
pub use gaussian_model::GaussianNaiveBayesModel;
pub use kmeans::KMeansStep;
pub use naive_bayes::NaiveBayes;
pub use naive_bayes_model::NaiveBayesModel;
pub use regression::{LinearRegression, RegressionOptions};
pub use regression_model::RegressionModel;
