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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_in_fields_are_short() {
        assert_eq!(excerpt(b"short"), "short");
        assert_eq!(excerpt(&[b'x'; 40]), "x".repeat(40));
        assert_eq!(excerpt(&[b'x'; 41]), "x".repeat(37) + "...");
        assert_eq!(excerpt("ü".repeat(1000).as_bytes()), "ü".repeat(37) + "...");
        assert_eq!(excerpt(b"\xFF"), "\u{FFFD}");
    }
}
