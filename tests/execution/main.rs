//! Arrays and tables on devices: what every device must do, what becomes of failures, and how rows are streamed.

mod conformance;
#[cfg(feature = "cuda")]
mod cuda;
mod failures;
mod hostile;
#[cfg(feature = "cuda")]
mod patterns;
mod streams;
