//! Boundaries of fields and records.
//!
//! A record is a line, unless one of its fields begins with a quote. Such a field ends at the next quote that is not
//! doubled, and any text after it up to the next delimiter is part of the field as well. Semantics: the `csv` crate,
//! with which a test compares this module, and Python's `csv`.

use super::categories::Categories;
use super::failure::Failure;
use super::input::Input;
use super::masks::{BLOCK, Bits, mask_of_any, parity};
use crate::base::error::Result;
use crate::base::text::excerpt;

/// The special characters.
#[derive(Clone, Debug)]
pub(super) struct Syntax {
    pub(super) delimiter: u8,
    pub(super) quote: Option<u8>,
    pub(super) comment: Option<u8>,
    /// Whether a comment may also follow a field.
    is_inline: bool,
    /// The largest number of bytes of a record or comment.
    pub(super) most_bytes: usize,
    /// Whether lines of spaces and tabs are ignored, like blank lines. Set if there are several columns.
    pub(super) skips_spaces: bool,
    /// Whether every record except the last ends in a delimiter without a field after it.
    pub(super) is_trailing: bool,
    /// The bytes that end a field that is not in quotes. The delimiter occurs twice if comments do not.
    ends: [u8; 4],
}

/// The text of one field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub(super) text: &'a [u8],
    pub(super) is_quoted: bool,
    /// Its end: at a delimiter, a line end, a comment after it, or the end of the bytes.
    pub(super) end: usize,
    /// Whether its quotes are closed.
    pub(super) is_closed: bool,
}

impl<'a> Field<'a> {
    /// Returns the text to parse as a number. In quotes, any kind of white space may surround it.
    pub(super) fn number_text(&self) -> &'a [u8] {
        if self.is_quoted { self.text.trim_ascii() } else { self.text }
    }
}

impl Syntax {
    /// `is_inline`: comments may also follow a field.
    pub(super) fn new(delimiter: u8, quote: Option<u8>, comment: Option<u8>, is_inline: bool) -> Self {
        let ends = [delimiter, b'\n', b'\r', comment.filter(|_| is_inline).unwrap_or(delimiter)];
        let (most_bytes, skips_spaces, is_trailing) = (usize::MAX, false, false);
        Self { delimiter, quote, comment, is_inline, most_bytes, skips_spaces, is_trailing, ends }
    }

    /// Returns the end of a field, outside of quotes. Compares eight bytes at a time.
    #[inline]
    fn plain_end(&self, bytes: &[u8], start: usize) -> usize {
        const LOW_BITS: u64 = 0x0101_0101_0101_0101;
        const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
        // The high bit of the first byte that is zero, if there is one, and perhaps of later ones.
        let zero = |word: u64| word.wrapping_sub(LOW_BITS) & !word & HIGH_BITS;
        let [delimiter, line_feed, carriage_return, comment] = self.ends.map(|byte| LOW_BITS * u64::from(byte));
        let (mut at, mut rest) = (start, &bytes[start..]);
        while let Some((eight, later)) = rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*eight);
            let lines = zero(word ^ line_feed) | zero(word ^ carriage_return);
            let ends = zero(word ^ delimiter) | zero(word ^ comment) | lines;
            if ends != 0 {
                return at + (ends.trailing_zeros() / 8) as usize;
            }
            (at, rest) = (at + 8, later);
        }
        rest.iter().position(|byte| self.ends.contains(byte)).map_or(bytes.len(), |length| at + length)
    }

    /// Calls `visit` with the positions of the bytes outside of quotes that are one of `wanted`, which end fields, from
    /// the beginning of a field on until it returns `false`. Returns `None` if the rest has to be read field by field:
    /// because of a quote within a field, comments after fields, or the end of the bytes.
    ///
    /// Every quote opens quotes or closes them, if each that would open some is the first byte of a field, or follows
    /// another quote, with which it stands for one in quotes.
    #[inline(always)]
    fn visit_ends<const COUNT: usize>(
        &self,
        bytes: &[u8],
        start: usize,
        wanted: [u8; COUNT],
        mut visit: impl FnMut(usize) -> bool,
    ) -> Option<()> {
        let (mut at, mut inside, mut is_start) = (start, 0_u64, 1_u64);
        if self.is_inline {
            return None;
        }
        loop {
            let block = bytes[at..].first_chunk::<BLOCK>()?;
            let quotes = self.quote.map_or(0, |quote| mask_of_any(block, [quote]));
            let mut found = mask_of_any(block, wanted);
            let mut irregular = 0_u64;
            if quotes | inside != 0 {
                inside ^= parity(quotes);
                let ends = quotes | mask_of_any(block, self.ends);
                irregular = quotes & inside & !(ends << 1 | is_start);
                found &= !inside;
                inside = if inside >> (BLOCK - 1) == 1 { u64::MAX } else { 0 };
            }
            let last = block[BLOCK - 1];
            is_start = u64::from(self.quote == Some(last) || self.ends.contains(&last));
            let regular = (irregular & irregular.wrapping_neg()).wrapping_sub(1); // the bits below the lowest one
            for bit in Bits(found & regular) {
                if !visit(at + bit) {
                    return Some(());
                }
            }
            if irregular != 0 {
                return None;
            }
            at += BLOCK;
        }
    }

    /// Returns whether a field can end at a position, without a comment after it.
    #[inline(always)]
    pub(super) fn ends_field(&self, bytes: &[u8], at: usize) -> bool {
        match bytes.get(at) {
            Some(&byte) => byte == self.delimiter || byte == b'\n' || byte == b'\r',
            None => true,
        }
    }

    /// Finds the field at the beginning of the bytes among words. Returns its index and the length of the field; `None`
    /// if it is not one of them, or if it must be extracted first: because of spaces around it, quotes in it, text
    /// after its quotes, or a comment after it.
    #[inline]
    pub(super) fn fast_word(&self, bytes: &[u8], words: &Categories) -> Option<(usize, usize)> {
        let (text, length) = if self.is_quoted(bytes, 0) {
            let length = memchr::memchr(bytes[0], &bytes[1..])?;
            (&bytes[1..=length], length + 2)
        } else {
            let end = self.plain_end(bytes, 0);
            let is_space = |byte: Option<&u8>| byte.is_some_and(|&byte| self.is_space(byte));
            if is_space(bytes[..end].first()) || is_space(bytes[..end].last()) {
                return None;
            }
            (&bytes[..end], end)
        };
        if !self.ends_field(bytes, length) {
            return None;
        }
        words.index_of(text).map(|index| (index, length))
    }

    /// Returns whether a comment after a field begins at a position where a field ends.
    #[inline]
    pub(super) fn is_comment(&self, bytes: &[u8], end: usize) -> bool {
        self.is_inline && bytes.get(end).is_some_and(|byte| self.comment == Some(*byte))
    }

    fn is_quoted(&self, bytes: &[u8], start: usize) -> bool {
        self.quote.is_some_and(|quote| bytes.get(start) == Some(&quote))
    }

    /// Extracts the field that begins at `start`. `scratch` receives its text if that is not contiguous.
    #[inline]
    pub(super) fn field<'a>(&self, bytes: &'a [u8], start: usize, scratch: &'a mut Vec<u8>) -> Field<'a> {
        let end = if self.is_quoted(bytes, start) { start } else { self.plain_end(bytes, start) };
        self.field_between(bytes, start, end, scratch)
    }

    /// Extracts a field as [`field`](Self::field) does, with its end known.
    pub(super) fn field_between<'a>(
        &self,
        bytes: &'a [u8],
        start: usize,
        end: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Field<'a> {
        if self.is_quoted(bytes, start) {
            return self.quoted_field(bytes, start, scratch);
        }
        Field { text: self.trim(&bytes[start..end]), is_quoted: false, end, is_closed: true }
    }

    fn quoted_field<'a>(&self, bytes: &'a [u8], start: usize, scratch: &'a mut Vec<u8>) -> Field<'a> {
        let quote = self.quote.unwrap_or(b'"');
        let mut at = start + 1;
        let mut is_whole = true; // nothing is in the scratch yet
        loop {
            let Some(length) = memchr::memchr(quote, &bytes[at..]) else {
                // Not closed: the rest of the bytes.
                return Field { text: &bytes[start..], is_quoted: true, end: bytes.len(), is_closed: false };
            };
            let close = at + length;
            if bytes.get(close + 1) == Some(&quote) {
                if is_whole {
                    scratch.clear();
                }
                is_whole = false;
                scratch.extend_from_slice(&bytes[at..=close]); // including one of the two quotes
                at = close + 2;
                continue;
            }
            let end = self.plain_end(bytes, close + 1);
            // Spaces between the quotes and a comment belong to neither, as after a field without quotes.
            let after = &bytes[close + 1..end];
            let length = || after.iter().rposition(|&byte| !self.is_space(byte)).map_or(0, |last| last + 1);
            let after = if self.is_comment(bytes, end) { &after[..length()] } else { after };
            if is_whole && after.is_empty() {
                return Field { text: &bytes[at..close], is_quoted: true, end, is_closed: true };
            }
            if is_whole {
                scratch.clear();
            }
            scratch.extend_from_slice(&bytes[at..close]);
            scratch.extend_from_slice(after);
            return Field { text: scratch, is_quoted: true, end, is_closed: true };
        }
    }

    /// Returns the end of a field; `None` if its quotes are not closed.
    #[inline]
    pub(super) fn field_end(&self, bytes: &[u8], start: usize) -> Option<usize> {
        self.bare_start(bytes, start).map(|bare| self.plain_end(bytes, bare))
    }

    /// Returns the beginning of the unquoted part of a field: of the whole field, or of the text after its quotes.
    /// `None` if they are not closed.
    #[inline]
    pub(super) fn bare_start(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let Some(quote) = self.quote.filter(|quote| bytes.get(start) == Some(quote)) else { return Some(start) };
        let mut at = start + 1;
        loop {
            let close = at + memchr::memchr(quote, &bytes[at..])?;
            if bytes.get(close + 1) != Some(&quote) {
                return Some(close + 1);
            }
            at = close + 2;
        }
    }

    /// Returns the position after the line end of the record that begins at `start`; `None` if it continues past the
    /// bytes. `is_all`: the bytes end with the file.
    pub(super) fn record_end(&self, bytes: &[u8], start: usize, is_all: bool) -> Option<usize> {
        let mut at = start;
        let mut first = None;
        self.visit_ends(bytes, start, [b'\n', b'\r'], |end| {
            first = Some(end);
            false
        });
        match first {
            Some(end) if bytes[end] == b'\n' => return Some(end + 1),
            Some(end) if bytes.get(end + 1).is_some() => return Some(end + 1 + usize::from(bytes[end + 1] == b'\n')),
            _ => {}
        }
        while let Some(mut end) = self.field_end(bytes, at) {
            if self.is_comment(bytes, end) {
                end = memchr::memchr2(b'\n', b'\r', &bytes[end..]).map_or(bytes.len(), |length| end + length);
            }
            match (bytes.get(end), bytes.get(end + 1)) {
                (None, _) => break,
                (Some(b'\n'), _) => return Some(end + 1),
                (Some(b'\r'), Some(b'\n')) => return Some(end + 2),
                (Some(b'\r'), Some(_)) => return Some(end + 1),
                (Some(b'\r'), None) => break, // a line feed may follow
                _ => at = end + 1,
            }
        }
        is_all.then_some(bytes.len())
    }

    /// Skips blank lines and comments, and lines of spaces if those are not records. Returns the beginning of the next
    /// record, or the end of the bytes.
    #[inline]
    pub(super) fn skip_blank(&self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(&byte) = bytes.get(at) {
            if byte == b'\n' || byte == b'\r' {
                at += 1;
            } else if self.comment == Some(byte) {
                let length = memchr::memchr2(b'\n', b'\r', &bytes[at..]);
                at = length.map_or(bytes.len(), |length| at + length);
            } else if self.skips_spaces && self.is_space(byte) {
                let end = at + bytes[at..].iter().take_while(|&&byte| self.is_space(byte)).count();
                if !matches!(bytes.get(end), None | Some(b'\n' | b'\r')) && !self.is_comment(bytes, end) {
                    break;
                }
                at = end;
            } else {
                break;
            }
        }
        at
    }

    /// Finds the first line that is too long, among blank lines and comments.
    fn long_blank(&self, bytes: &[u8], blank: std::ops::Range<usize>) -> Option<usize> {
        let mut at = blank.start;
        while blank.end - at > self.most_bytes {
            let length = memchr::memchr2(b'\n', b'\r', &bytes[at..blank.end]).unwrap_or(blank.end - at);
            if length > self.most_bytes {
                return Some(at);
            }
            at += length + 1;
        }
        None
    }

    /// Returns the failure of a record or comment that is too long. Its text is read from the input, so that it does
    /// not depend on the current bytes.
    #[cold]
    fn too_long(&self, input: &Input, place: u64) -> Result<Failure> {
        const SHOWN: u64 = 256;
        let mut buffer = Vec::new();
        let bytes = input.read(place..input.len().min(place + SHOWN), &mut buffer)?;
        let first_line = &bytes[..memchr::memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len())];
        let reason = format!("begins a record of more than {} bytes, which is the limit", self.most_bytes);
        Ok(Failure { place, column: None, text: excerpt(first_line), reason: reason.into() })
    }

    /// Returns whether a byte is a space or a tab and is not the delimiter.
    #[inline]
    pub(super) fn is_space(&self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && byte != self.delimiter
    }

    /// Trims spaces and tabs on both sides, unless they are the delimiter.
    #[inline]
    fn trim<'a>(&self, mut text: &'a [u8]) -> &'a [u8] {
        while let [first, rest @ ..] = text
            && self.is_space(*first)
        {
            text = rest;
        }
        while let [rest @ .., last] = text
            && self.is_space(*last)
        {
            text = rest;
        }
        text
    }

    /// Returns the end of a record with only spaces after the delimiter at `end`; `None` if more follows.
    pub(super) fn trailing_end(&self, bytes: &[u8], end: usize) -> Option<usize> {
        let start = end + 1;
        let end = self.plain_end(bytes, start);
        let is_last = bytes.get(end) != Some(&self.delimiter);
        (is_last && self.trim(&bytes[start..end]).is_empty()).then_some(end)
    }

    /// Compares the number of fields of the record that begins at `start` with the number of columns. Sets `ends` to
    /// the ends of its fields, at most one for each column.
    pub(super) fn fit(&self, bytes: &[u8], start: usize, columns: usize, ends: &mut Vec<usize>) -> Fit {
        ends.clear();
        let visited = self.visit_ends(bytes, start, [self.delimiter, b'\n', b'\r'], |end| {
            ends.push(end);
            ends.len() < columns && bytes[end] == self.delimiter
        });
        let mut at = start;
        let mut known = ends.pop().filter(|_| visited.is_some()); // the last end
        if known.is_none() {
            ends.clear();
        }
        while let Some(end) = known.take().or_else(|| self.field_end(bytes, at)) {
            ends.push(end);
            let (goes_on, is_complete) = (bytes.get(end) == Some(&self.delimiter), ends.len() == columns);
            match (goes_on, is_complete) {
                (true, false) => at = end + 1,
                (true, true) if self.is_trailing => {
                    return self.trailing_end(bytes, end).map_or(Fit::Wrong, Fit::Right);
                }
                (false, true) => return if self.is_trailing { Fit::NotTrailing(end) } else { Fit::Right(end) },
                _ => return Fit::Wrong,
            }
        }
        Fit::Unclosed(at)
    }

    /// Counts the fields of the record that begins at `start`. Returns their number and whether the last one is blank.
    pub(super) fn count_fields(&self, bytes: &[u8], start: usize) -> (usize, bool) {
        let (mut count, mut at) = (1, start);
        while let Some(end) = self.field_end(bytes, at) {
            if bytes.get(end) != Some(&self.delimiter) {
                return (count, self.trim(&bytes[at..end]).is_empty());
            }
            (count, at) = (count + 1, end + 1);
        }
        (count, false)
    }
}

/// How the fields of a record fit the columns.
pub(super) enum Fit {
    /// One for each column. The record ends at this position.
    Right(usize),
    /// One for each column, but without the delimiter at the end, which only the last record may omit. It ends at this
    /// position.
    NotTrailing(usize),
    /// Too few or too many.
    Wrong,
    /// The field that begins at this position has quotes that are not closed.
    Unclosed(usize),
}

/// The result of [`walk`].
pub(super) struct Walked {
    /// Position of the next record.
    pub(super) place: u64,
    pub(super) rows: usize,
    /// Set if that record is too long. The walk stops there.
    pub(super) failure: Option<Failure>,
}

/// Advances record by record, from the beginning of one, until the next one begins at or after `until`.
pub(super) fn walk(syntax: &Syntax, input: &Input, from: u64, until: u64, step: usize) -> Result<Walked> {
    let (mut record, mut rows, mut window, mut buffer) = (from, 0, step as u64, Vec::new());
    while record < until {
        let end = record.saturating_add(window).min(input.len());
        let bytes = input.read(record..end, &mut buffer)?;
        let is_all = end == input.len();
        let mut at = 0;
        while record + (at as u64) < until {
            let start = syntax.skip_blank(bytes, at);
            if let Some(line) = syntax.long_blank(bytes, at..start) {
                let place = record + line as u64;
                return Ok(Walked { place, rows, failure: Some(syntax.too_long(input, place)?) });
            }
            if start == bytes.len() {
                // Perhaps within a comment, whose beginning is needed; otherwise after a line end.
                at = if is_all { start } else { last_line(bytes, at) };
                break;
            }
            if record + start as u64 >= until {
                at = start;
                break;
            }
            let end = syntax.record_end(bytes, start, is_all);
            if end.unwrap_or(bytes.len()) - start > syntax.most_bytes {
                let place = record + start as u64;
                return Ok(Walked { place, rows, failure: Some(syntax.too_long(input, place)?) });
            }
            let Some(next) = end else {
                at = start;
                break;
            };
            (at, rows) = (next, rows + 1);
        }
        // A record longer than the window is read again in a larger one. In the largest window, it either ends, with
        // its line end, or is too long.
        let largest = (syntax.most_bytes as u64).saturating_add(2).max(step as u64);
        window = if at == 0 { window.saturating_mul(2).min(largest) } else { step as u64 };
        record += at as u64;
        if is_all && at == 0 {
            break;
        }
    }
    Ok(Walked { place: record, rows, failure: None })
}

/// Returns the beginning of the last line among blank lines and comments. A line feed may follow a CR at the end of the
/// bytes, so no line begins between the two.
fn last_line(bytes: &[u8], from: usize) -> usize {
    let lines = bytes[from..].strip_suffix(b"\r").unwrap_or(&bytes[from..]);
    memchr::memrchr2(b'\n', b'\r', lines).map_or(from, |length| from + length + 1)
}
