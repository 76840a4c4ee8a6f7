//! Names of arrays: valid names for writing, and decoding the names in a file.

use std::borrow::Cow;

/// The suffix that NumPy appends to the name of an array to name the member.
pub(super) const ENDING: &str = ".npy";
/// The suffix of the name of an array of truth values, after the name of the array that it masks.
pub(super) const MASK: &str = ".mask";
/// The longest name of a member, in bytes.
const LIMIT: usize = u16::MAX as usize;
/// The characters from 128 on in a name that is not marked as UTF-8: code page 437, as in Python.
const CODE_PAGE: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
                         αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// Decodes the name of a member. Returns `None` if it is marked as UTF-8 and is not.
pub(super) fn decode(name: &[u8], is_utf8: bool) -> Option<Cow<'_, str>> {
    match std::str::from_utf8(name) {
        Ok(text) if is_utf8 || text.is_ascii() => Some(Cow::Borrowed(text)),
        _ if is_utf8 => None,
        _ => {
            let upper: Vec<char> = CODE_PAGE.chars().collect();
            let character = |&byte: &u8| match byte.checked_sub(128) {
                Some(place) => upper.get(usize::from(place)).copied().unwrap_or(char::REPLACEMENT_CHARACTER),
                None => char::from(byte),
            };
            Some(Cow::Owned(name.iter().map(character).collect()))
        }
    }
}

/// Checks that NumPy finds an array by this name, and that a program which unpacks the file does not write outside its
/// folder.
///
/// # Errors
/// The reason why the name is invalid.
pub(super) fn check(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("it is empty");
    }
    if name.len() + ENDING.len() > LIMIT {
        return Err("it is longer than 65531 bytes");
    }
    if name.ends_with(ENDING) {
        return Err("it ends in .npy, which NumPy removes");
    }
    if name.chars().any(char::is_control) {
        return Err("it has a control character");
    }
    if name.contains('\\') {
        return Err("it has a backslash, which some programs treat as a path separator");
    }
    if name.starts_with('/') || name.as_bytes().get(1..3) == Some(b":/") {
        return Err("it is an absolute path");
    }
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err("one of its parts between slashes is empty or leads to another folder");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_utf_8_are_those_of_code_page_437() {
        assert_eq!(CODE_PAGE.chars().count(), 128);
        assert_eq!(decode(b"a\x84\xE1\xFF", false).unwrap(), "aäß\u{a0}");
        assert_eq!(decode("aä".as_bytes(), true).unwrap(), "aä");
        assert_eq!(decode("aä".as_bytes(), false).unwrap(), "a├ñ"); // as Python reads it
        assert_eq!(decode(b"a\x84", true), None);
    }

    #[test]
    fn names_that_come_back_are_permitted() {
        for name in ["x", "layer/0/kernel", "größe 長さ 🌸", "a.b", "..a", "npy", "it's \"x\"", "w:0"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["", "/x", "../x", "a/../b", "a//b", "a/", ".", "a\\b", "C:/x", "x.npy", "a\0b", "a\n"] {
            assert!(check(name).is_err(), "{name}");
        }
        assert!(check(&"x".repeat(65_531)).is_ok() && check(&"x".repeat(65_532)).is_err());
    }
}
