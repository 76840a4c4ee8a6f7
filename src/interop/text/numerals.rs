//! The spelling of numbers: with a decimal point or a decimal comma, with or without thousands separators.
//!
//! A string in another spelling is rewritten to the plain one, with a point and no separators, which [`super::number`]
//! reads. Thousands separators are valid only between groups of three digits. `1.5` is not a spelling of 15, and
//! `12.34.567` is not one of 1234567, so a file in another spelling is rejected instead of misread.

use super::number::{is_number, separator_in_numbers};

/// The characters that may separate thousands.
pub(in crate::interop) const THOUSANDS: [char; 7] = ['.', ',', ' ', '\'', '\u{2019}', '\u{A0}', '\u{202F}'];

/// The spelling of numbers. Invariant: the two separators differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::interop) struct Numerals {
    /// The byte before the decimals: a point or a comma.
    pub(in crate::interop) decimal: u8,
    /// One of [`THOUSANDS`].
    pub(in crate::interop) thousands: Option<char>,
}

impl Numerals {
    /// A decimal point and no thousands separators.
    pub(in crate::interop) const PLAIN: Self = Self { decimal: b'.', thousands: None };

    /// Returns whether this spelling needs no rewriting.
    pub(in crate::interop) fn is_plain(&self) -> bool {
        *self == Self::PLAIN
    }

    /// Calls `read` with the plain spelling of a string. Returns `None` if it is not in this spelling. Strings
    /// without digits, such as `nan`, are passed on unchanged, even if they are not numbers.
    #[inline]
    pub(in crate::interop) fn read<R>(&self, text: &[u8], read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        const SHORT: usize = 48;
        if self.is_plain() {
            return Some(read(text));
        }
        if text.len() <= SHORT {
            let mut plain = [0; SHORT];
            return self.rewrite(text, &mut plain).map(|length| read(&plain[..length]));
        }
        let mut plain = vec![0; text.len()];
        self.rewrite(text, &mut plain).map(|length| read(&plain[..length]))
    }

    /// Writes the plain spelling, which is never longer than the string. Returns its length.
    fn rewrite(&self, text: &[u8], plain: &mut [u8]) -> Option<usize> {
        let mut encoded = [0; 4];
        let separator = self.thousands.map_or(&b""[..], |thousands| thousands.encode_utf8(&mut encoded).as_bytes());
        let (mut at, mut length) = (0, 0);
        let mut push = |byte: u8, length: &mut usize| {
            plain[*length] = byte;
            *length += 1;
        };
        if let Some(&sign @ (b'-' | b'+')) = text.first() {
            push(sign, &mut length);
            at = 1;
        }
        // Digits of the current group, and whether there is a group before it.
        let (mut group, mut is_grouped) = (0, false);
        loop {
            match text.get(at) {
                Some(digit @ b'0'..=b'9') => {
                    push(*digit, &mut length);
                    (at, group) = (at + 1, group + 1);
                }
                Some(_) if !separator.is_empty() && text[at..].starts_with(separator) => {
                    // `0.123` is a fraction in another spelling.
                    let first = text[at - group];
                    let is_full = if is_grouped { group == 3 } else { (1..=3).contains(&group) && first != b'0' };
                    if !is_full {
                        return None;
                    }
                    (at, group, is_grouped) = (at + separator.len(), 0, true);
                }
                _ => break,
            }
        }
        if is_grouped && group != 3 {
            return None;
        }
        let has_whole = group > 0;
        if text.get(at) == Some(&self.decimal) {
            push(b'.', &mut length);
            at += 1;
            while let Some(digit @ b'0'..=b'9') = text.get(at) {
                push(*digit, &mut length);
                at += 1;
            }
            if !matches!(text.get(at), None | Some(b'e' | b'E')) {
                return None;
            }
        } else if has_whole && !matches!(text.get(at), None | Some(b'e' | b'E')) {
            return None;
        }
        let rest = &text[at..];
        if rest.contains(&b'.') {
            return None;
        }
        rest.iter().for_each(|&byte| push(byte, &mut length));
        Some(length)
    }

    /// Returns whether a string is a number or looks like one, perhaps in another spelling.
    pub(in crate::interop) fn is_meant(&self, text: &[u8]) -> bool {
        let is_here = !self.is_plain() && self.read(text, is_number) == Some(true);
        is_here || is_number(text) || separator_in_numbers(text).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(numerals: Numerals, text: &str) -> Option<String> {
        numerals.read(text.as_bytes(), |plain| String::from_utf8(plain.to_vec()).unwrap())
    }

    #[test]
    fn numbers_are_rewritten_and_what_is_misgrouped_is_refused() {
        let german = Numerals { decimal: b',', thousands: Some('.') };
        for (text, expected) in [
            ("1", "1"),
            ("1,5", "1.5"),
            (",5", ".5"),
            ("-1.234,5", "-1234.5"),
            ("+12.345.678", "+12345678"),
            ("1234567,25", "1234567.25"),
            ("1.234e-3", "1234e-3"),
            ("1,5E+3", "1.5E+3"),
            ("nan", "nan"),
            ("-inf", "-inf"),
        ] {
            assert_eq!(plain(german, text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "1.5", "12.34", "1.2345", "1234.567", "1.234.56", ".123", "0.123", "1..234", "1,5.000", "1,5,5", "1.",
            "e.5",
        ] {
            assert_eq!(plain(german, text), None, "{text}");
        }
        let narrow = Numerals { decimal: b',', thousands: Some('\u{202F}') };
        assert_eq!(plain(narrow, "1\u{202F}234\u{202F}567,5").as_deref(), Some("1234567.5"));
        assert_eq!(plain(narrow, "1 234"), None);
        let comma = Numerals { decimal: b',', thousands: None };
        assert_eq!((plain(comma, "1,5").as_deref(), plain(comma, "1.5")), (Some("1.5"), None));
        let long = format!("{},5", "1".repeat(100));
        assert_eq!(plain(comma, &long), Some(long.replace(',', ".")));
    }
}
