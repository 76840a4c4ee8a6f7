//! Results of `learning`, which are merged, and models of them: against plain loops, scikit-learn and exact arithmetic;
//! every type, layout and kind of table; bytes that somebody changed.

mod extremes;
mod gaussian;
mod gram;
mod hostile_bytes;
mod kmeans;
mod naive_bayes;
mod regression;
mod support;
