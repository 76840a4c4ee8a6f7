//! Numbers as text, for every format that is text.
//!
//! * `number`: from text to the nearest value of an element type; `digits`: from a value to the shortest text that is
//!   read back as the same value.

pub(super) mod digits;
pub(super) mod number;

/// Shortens a text for an error to at most 40 characters.
pub(super) fn excerpt(text: &[u8]) -> String {
    const LIMIT: usize = 40;
    let start = String::from_utf8_lossy(&text[..text.len().min(4 * LIMIT)]);
    let whole = start.chars().count() <= LIMIT && text.len() <= 4 * LIMIT;
    if whole { start.into_owned() } else { start.chars().take(LIMIT - 3).chain("...".chars()).collect() }
}
