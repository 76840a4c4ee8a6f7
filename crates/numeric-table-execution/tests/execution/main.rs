//! Arrays and tables on devices: what every device must do, what becomes of failures, and how rows are streamed.

mod compact;
mod conformance;
#[cfg(feature = "cuda")]
mod cuda;
mod failures;
mod hostile;
mod missing;
#[cfg(all(feature = "cuda", feature = "rayon"))]
mod patterns;
mod sequences;
mod streams;
