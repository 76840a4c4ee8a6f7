//! Numbers as text, for every format that is text.
//!
//! * `number`: from text to the nearest value of an element type; `digits`: from a value to the shortest text that is
//!   read back as the same value.

pub(super) mod digits;
pub(super) mod number;
