//! The vocabulary of all other modules, which depends on none of them: element types, the exact number that a value
//! represents, shapes, errors and the types in them, the division of work into tasks, its progress, and a record of copies.

#[cfg(feature = "rayon")]
#[forbid(unsafe_code)]
mod ahead;
pub(crate) mod cache;
#[forbid(unsafe_code)]
pub(crate) mod calendar;
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
pub(crate) mod radix;
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
pub(crate) mod trace;
#[forbid(unsafe_code)]
pub(crate) mod value;
