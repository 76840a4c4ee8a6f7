//! Windows on memory: slices and two-dimensional windows with strides, of a known element type and of any.
//!
//! `typed` has windows of a Rust type, `slice`, `any` and `rows` the same without it: the one type erasure of this crate. Reading,
//! converting and writing them is in [`crate::convert`]; who owns the memory in [`crate::array`].

mod any;
#[cfg(any(feature = "ndarray", feature = "ndarray-016"))]
mod ndarray;
mod rows;
mod slice;
mod typed;

pub(crate) use any::{AnyWindow, AnyWindowMut, Part};
pub(crate) use rows::AnyRows;
pub(crate) use slice::AnyRoom;
pub use slice::{AnySlice, AnySliceMut};
pub(crate) use typed::{Geometry, Window, WindowMut};
