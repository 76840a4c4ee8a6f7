//! The vocabulary of all other modules, none of which it uses: element types, the exact number that a value stands for,
//! shapes, errors and the types in them, how work is cut into tasks, and its progress.

#[cfg(feature = "rayon")]
#[forbid(unsafe_code)]
mod ahead;
#[forbid(unsafe_code)]
pub(crate) mod copy;
#[forbid(unsafe_code)]
pub(crate) mod count;
#[cfg(feature = "rayon")]
mod crew;
#[forbid(unsafe_code)]
pub(crate) mod element;
#[forbid(unsafe_code)]
pub(crate) mod error;
#[forbid(unsafe_code)]
pub(crate) mod mode;
#[forbid(unsafe_code)]
pub(crate) mod near;
#[forbid(unsafe_code)]
pub(crate) mod number;
#[forbid(unsafe_code)]
pub(crate) mod parallel;
#[forbid(unsafe_code)]
pub(crate) mod progress;
#[forbid(unsafe_code)]
pub(crate) mod random;
#[forbid(unsafe_code)]
pub(crate) mod range;
#[forbid(unsafe_code)]
pub(crate) mod room;
#[forbid(unsafe_code)]
pub(crate) mod shape;
#[forbid(unsafe_code)]
pub(crate) mod text;
#[forbid(unsafe_code)]
pub(crate) mod value;
