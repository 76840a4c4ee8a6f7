//! The words that everything else speaks, and that know nothing else: element types, the exact number that a value is,
//! shapes, positions, errors and the facts that they name, and cutting work into tasks.

pub(crate) mod copy;
pub(crate) mod element;
pub(crate) mod error;
pub(crate) mod mode;
pub(crate) mod number;
pub(crate) mod parallel;
pub(crate) mod shape;
pub(crate) mod text;
pub(crate) mod value;
