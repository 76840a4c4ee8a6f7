//! The words that everything else speaks, and that know nothing else: element types, the exact number that a value is,
//! shapes, positions, errors and the facts that they name, and cutting work into tasks.

#[forbid(unsafe_code)]
pub(crate) mod copy;
#[cfg(feature = "rayon")]
mod crew;
#[forbid(unsafe_code)]
pub(crate) mod element;
#[forbid(unsafe_code)]
pub(crate) mod error;
#[forbid(unsafe_code)]
pub(crate) mod mode;
#[forbid(unsafe_code)]
pub(crate) mod number;
#[forbid(unsafe_code)]
pub(crate) mod parallel;
#[forbid(unsafe_code)]
pub(crate) mod range;
#[forbid(unsafe_code)]
pub(crate) mod shape;
#[forbid(unsafe_code)]
pub(crate) mod text;
#[forbid(unsafe_code)]
pub(crate) mod value;
