//! The width of a text in terminal columns: some characters take two, some take none.
//!
//! Works by blocks of characters instead of single ones, which is enough to keep columns aligned. Source: Unicode, UAX
//! #11 (wide and full-width characters) and the blocks of combining marks.

use std::ops::RangeInclusive;

/// Marks an omission.
pub(crate) const DOTS: &str = "...";

/// Combining marks.
const COMBINING: [RangeInclusive<char>; 7] = [
    '\u{0300}'..='\u{036F}',
    '\u{0483}'..='\u{0489}',
    '\u{1AB0}'..='\u{1AFF}',
    '\u{1DC0}'..='\u{1DFF}',
    '\u{20D0}'..='\u{20FF}',
    '\u{FE00}'..='\u{FE0F}',
    '\u{FE20}'..='\u{FE2F}',
];

/// Chinese, Japanese and Korean characters, and pictographs.
const WIDE: [RangeInclusive<char>; 11] = [
    '\u{1100}'..='\u{115F}',
    '\u{2E80}'..='\u{303E}',
    '\u{3041}'..='\u{A4CF}',
    '\u{A960}'..='\u{A97F}',
    '\u{AC00}'..='\u{D7A3}',
    '\u{F900}'..='\u{FAFF}',
    '\u{FE30}'..='\u{FE6F}',
    '\u{FF00}'..='\u{FF60}',
    '\u{FFE0}'..='\u{FFE6}',
    '\u{1F300}'..='\u{1FAFF}',
    '\u{20000}'..='\u{3FFFD}',
];

/// Returns the width of a text in terminal columns.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(width_of).sum()
}

fn width_of(character: char) -> usize {
    let is_in = |blocks: &[RangeInclusive<char>]| blocks.iter().any(|block| block.contains(&character));
    match character {
        '\0'..'\u{0300}' => 1,
        _ if is_in(&COMBINING) => 0,
        _ if is_in(&WIDE) => 2,
        _ => 1,
    }
}

/// Returns whether a character is harmful in a terminal: control characters, characters that change the writing
/// direction, and invisible characters.
pub(crate) fn is_harmful(character: char) -> bool {
    let is_hidden = matches!(
        character,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E0FFF}'
    );
    character.is_control() || is_hidden
}

/// Returns the characters on one line, with harmful ones escaped for display in a terminal.
pub(crate) fn escaped(characters: impl Iterator<Item = char>) -> String {
    let mut text = String::new();
    for character in characters {
        if is_harmful(character) { text.extend(character.escape_default()) } else { text.push(character) }
    }
    text
}

/// Returns a text of unknown origin, made safe to print to a terminal: harmful characters are escaped, and it is
/// truncated to `limit` terminal columns and `limit` characters.
pub(crate) fn label(name: &str, limit: usize) -> String {
    let mut text = escaped(name.chars().take(limit + 1));
    let is_in = |text: &str, limit: usize| text.chars().count() <= limit && width(text) <= limit;
    if !is_in(&text, limit) {
        while !is_in(&text, limit.saturating_sub(DOTS.len())) && text.pop().is_some() {}
        text.push_str(DOTS);
    }
    text
}

/// Truncates a text to 40 characters for an error message.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const LIMIT: usize = 40;
    let start = String::from_utf8_lossy(&text[..text.len().min(4 * LIMIT)]);
    let whole = start.chars().count() <= LIMIT && text.len() <= 4 * LIMIT;
    if whole { start.into_owned() } else { start.chars().take(LIMIT - 3).chain("...".chars()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_places_and_combining_marks_none() {
        let texts =
            [("", 0), ("abc", 3), ("länge", 5), ("e\u{301}t", 2), ("身長", 4), ("한글 x", 6), ("ﾊﾝ", 2), ("📏", 2)];
        for (text, expected) in texts {
            assert_eq!(width(text), expected, "{text}");
        }
    }

    #[test]
    fn excerpts_are_short() {
        assert_eq!(excerpt(b"short"), "short");
        assert_eq!(excerpt(&[b'x'; 40]), "x".repeat(40));
        assert_eq!(excerpt(&[b'x'; 41]), "x".repeat(37) + "...");
        assert_eq!(excerpt("ü".repeat(1000).as_bytes()), "ü".repeat(37) + "...");
        assert_eq!(excerpt(b"\xFF"), "\u{FFFD}");
    }
}
