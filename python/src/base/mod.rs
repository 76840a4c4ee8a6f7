//! What all rooms need: errors, element types, numbers and lists as arguments, shared memory, progress, the end of the
//! interpreter.

#[forbid(unsafe_code)]
pub(crate) mod boundary;
pub(crate) mod element;
#[forbid(unsafe_code)]
pub(crate) mod elsewhere;
#[forbid(unsafe_code)]
pub(crate) mod error;
pub(crate) mod exit;
#[forbid(unsafe_code)]
pub(crate) mod lists;
pub(crate) mod memory;
#[forbid(unsafe_code)]
pub(crate) mod numbers;
pub(crate) mod numpy_array;
#[forbid(unsafe_code)]
pub(crate) mod progress;
pub(crate) mod share;
#[forbid(unsafe_code)]
pub(crate) mod trace;
