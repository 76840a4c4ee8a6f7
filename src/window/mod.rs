//! Windows on memory: slices and strided two-dimensional windows, with the element type known at compile time or run
//! time.
//!
//! `typed` has windows of a Rust type. `slice`, `any` and `rows` erase the type, and are the only type erasure of this
//! crate. Reading, converting and writing windows is in [`crate::convert`], ownership of the memory in
//! [`crate::array`].

mod any;
mod lines;
#[cfg(feature = "ndarray")]
mod ndarray;
mod rows;
mod slice;
mod typed;

pub(crate) use any::{AnyWindow, AnyWindowMut, Part};
pub(crate) use rows::{AnyRows, RowBits};
pub(crate) use slice::{AnyRoom, Bits};
pub use slice::{AnySlice, AnySliceMut};
pub(crate) use typed::{Geometry, Window, WindowMut};
