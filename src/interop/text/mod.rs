//! Numbers as text, for all text formats.
//!
//! * `number`: from text to the nearest value of an element type; `digits`: from a value to the shortest text that is
//!   read back as the same value; `numerals`: decimal commas and separators of thousands; `moment`: dates and times.

pub(super) mod digits;
#[cfg(feature = "csv")]
pub(super) mod moment;
pub(super) mod number;
#[cfg(feature = "csv")]
pub(super) mod numerals;
