//! Results that are merged, and models of them: against plain loops, scikit-learn and exact arithmetic; every type,
//! layout and kind of table; and changed bytes.

mod extremes;
mod gaussian;
mod golden;
mod hostile_bytes;
mod kmeans;
mod missing;
mod naive_bayes;
mod regression;
