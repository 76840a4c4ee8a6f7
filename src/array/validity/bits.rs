//! Bits of rows in borrowed bytes: reading 64 at a time from any bit on, runs, counting, copying and filling.
//!
//! Nothing here trusts what it has read before: bytes that change meanwhile make results stale, and nothing else.

use std::iter::FusedIterator;
use std::ops::Range;

/// The number of rows of a word.
pub(super) const ROWS: usize = u64::BITS as usize;

/// Returns the number of the byte of a row, and of its bit there, if row 0 has the given bit of the first byte.
#[inline(always)]
pub(super) fn place(offset: usize, row: usize) -> (usize, usize) {
    let bit = row % 8 + offset; // without a sum of rows and bits, which may overflow
    (row / 8 + bit / 8, bit % 8)
}

/// Returns the number of bytes that `rows` bits need, if the first one has the given bit of the first byte.
pub(super) fn byte_count(offset: usize, rows: usize) -> usize {
    let (bytes, bits) = place(offset, rows);
    if rows == 0 { 0 } else { bytes + usize::from(bits > 0) }
}

/// Returns a word whose lowest bits are set, for at most 64 rows.
#[inline(always)]
pub(super) fn low_bits(rows: usize) -> u64 {
    if rows >= ROWS { u64::MAX } else { !(u64::MAX << rows) }
}

/// Moves the bits whose bit of `mask` is set to the low end, in their order; the others become zero.
///
/// Source: Warren, Hacker's Delight, 7-4: each step moves bits by a power of two, if that is in the number of clear
/// bits of the mask below them.
pub(super) fn compress(word: u64, mut mask: u64) -> u64 {
    let mut word = word & mask;
    let mut clear_below = !mask << 1;
    for step in 0..6 {
        let mut is_odd = clear_below;
        for shift in [1, 2, 4, 8, 16, 32] {
            is_odd ^= is_odd << shift;
        }
        let distance = 1 << step;
        let moved = is_odd & mask;
        mask = (mask ^ moved) | (moved >> distance);
        let bits = word & moved;
        word = (word ^ bits) | (bits >> distance);
        clear_below &= !is_odd;
    }
    word
}

/// The bytes of a range of rows: a part of the first one, entire ones, and a part of the last one. Each part is the
/// number of a byte, and a mask of its bits.
pub(super) struct Span {
    pub(super) head: Option<(usize, u8)>,
    pub(super) middle: Range<usize>,
    pub(super) tail: Option<(usize, u8)>,
}

/// Returns the bytes of a range of rows. A range within a byte is a head.
pub(super) fn span(offset: usize, rows: Range<usize>) -> Span {
    let (first, start) = place(offset, rows.start);
    let (last, end) = place(offset, rows.end);
    let from_start = u8::MAX << start;
    let to_end = !(u8::MAX << end);
    if rows.is_empty() {
        return Span { head: None, middle: first..first, tail: None };
    }
    if first == last {
        return Span { head: Some((first, from_start & to_end)), middle: first..first, tail: None };
    }
    Span {
        head: (start > 0).then_some((first, from_start)),
        middle: first + usize::from(start > 0)..last,
        tail: (end > 0).then_some((last, to_end)),
    }
}

/// The bits of rows in borrowed bytes.
///
/// Invariant: `offset < 8`, and `bytes` has exactly [`byte_count`] bytes.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    offset: usize,
    len: usize,
}

impl<'a> Bits<'a> {
    pub(super) const EMPTY: Self = Self { bytes: &[], offset: 0, len: 0 };

    /// Borrows the bytes that the rows need. `None` if there are too few, or if the offset is 8 or more.
    pub(super) fn new(bytes: &'a [u8], offset: usize, len: usize) -> Option<Self> {
        let bytes = bytes.get(..byte_count(offset, len)).filter(|_| offset < 8)?;
        Some(Self { bytes, offset, len })
    }

    pub(super) fn len(self) -> usize {
        self.len
    }

    /// Returns a part of the rows, or as many of them as exist.
    pub(super) fn part(self, rows: Range<usize>) -> Self {
        let end = rows.end.min(self.len);
        let len = end.saturating_sub(rows.start);
        let (first, offset) = place(self.offset, rows.start.min(end));
        let bytes = self.bytes.get(first..).unwrap_or_default();
        Self { bytes: bytes.get(..byte_count(offset, len)).unwrap_or_default(), offset, len }
    }

    /// Returns the bit of a row.
    #[inline(always)]
    pub(super) fn get(self, row: usize) -> Option<bool> {
        (row < self.len).then(|| bit_at(self.bytes, self.offset, row))
    }

    /// Returns the bits of 64 rows from `row` on; those past the end are zero.
    #[inline(always)]
    pub(super) fn word_at(self, row: usize) -> u64 {
        if row < self.len { word_at(self.bytes, self.offset, row) & low_bits(self.len - row) } else { 0 }
    }

    /// Returns the bits of 64 rows each.
    #[inline]
    pub(super) fn words(self) -> Words<'a> {
        Words { bytes: self.bytes, shift: self.offset, rows: self.len }
    }

    /// Returns the runs of equal bits.
    pub(super) fn runs(self) -> Runs<'a> {
        let mut words = self.words();
        Runs { word: words.next().unwrap_or_default(), words, bit: 0, row: 0, len: self.len }
    }

    /// Returns the rows whose bit is not set.
    pub(super) fn zeros(self) -> Zeros<'a> {
        Zeros { word: 0, words: self.words(), first: 0, next: 0, len: self.len }
    }

    /// Returns the number of bits that are set.
    pub(super) fn count_ones(self) -> usize {
        let (words, rest) = self.bytes.as_chunks::<8>();
        let in_words = words.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum::<u64>();
        let in_rest = rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
        // The bits beside those of rows, in the first and in the last byte.
        let (_, end) = place(self.offset, self.len);
        let before = self.bytes.first().map_or(0, |byte| (byte & !(u8::MAX << self.offset)).count_ones());
        let after = self.bytes.last().map_or(0, |byte| if end > 0 { (byte >> end).count_ones() } else { 0 });
        let ones = (in_words + in_rest).saturating_sub(u64::from(before + after));
        usize::try_from(ones).unwrap_or(usize::MAX).min(self.len)
    }
}

/// Returns the bit of a row; not set if its byte does not exist.
#[inline(always)]
pub(super) fn bit_at(bytes: &[u8], offset: usize, row: usize) -> bool {
    let (byte, bit) = place(offset, row);
    bytes.get(byte).is_some_and(|byte| byte >> bit & 1 == 1)
}

/// Returns the bits of 64 rows from `row` on; those whose byte does not exist are zero.
#[inline(always)]
pub(super) fn word_at(bytes: &[u8], offset: usize, row: usize) -> u64 {
    let (first, shift) = place(offset, row);
    load(bytes.get(first..).unwrap_or_default(), shift)
}

/// Reads 64 bits from bit `shift` of the first byte on; those past the end of the bytes are zero.
#[inline(always)]
fn load(bytes: &[u8], shift: usize) -> u64 {
    if let Some(&[a, b, c, d, e, f, g, h, next]) = bytes.first_chunk() {
        let low = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        return (low >> shift) | (u64::from(next) << 1 << (63 - shift));
    }
    load_last(bytes, shift)
}

/// The same for at most eight bytes.
fn load_last(bytes: &[u8], shift: usize) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(word) >> shift
}

/// The bits of 64 rows each.
#[derive(Clone)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    shift: usize,
    rows: usize,
}

impl Iterator for Words<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.rows == 0 {
            return None;
        }
        let word = load(self.bytes, self.shift) & low_bits(self.rows);
        self.bytes = self.bytes.get(8..).unwrap_or_default();
        self.rows = self.rows.saturating_sub(ROWS);
        Some(word)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.rows.div_ceil(ROWS);
        (count, Some(count))
    }
}

impl ExactSizeIterator for Words<'_> {}
impl FusedIterator for Words<'_> {}
impl FusedIterator for Runs<'_> {}
impl FusedIterator for Zeros<'_> {}

/// Runs of equal bits: each as long as it can be, together all rows.
#[derive(Clone)]
pub(super) struct Runs<'a> {
    /// The word of `row`, whose bit there is `bit`. The bits past the end are zero.
    word: u64,
    words: Words<'a>,
    bit: usize,
    row: usize,
    len: usize,
}

impl Iterator for Runs<'_> {
    type Item = (Range<usize>, bool);

    #[inline]
    fn next(&mut self) -> Option<(Range<usize>, bool)> {
        let start = self.row;
        if start >= self.len {
            return None;
        }
        let is_set = self.word >> self.bit & 1 == 1;
        loop {
            let differing = (if is_set { !self.word } else { self.word }) >> self.bit;
            if differing != 0 {
                let rows = differing.trailing_zeros() as usize;
                self.bit += rows;
                self.row += rows;
                break;
            }
            self.row = self.row.saturating_add(ROWS - self.bit);
            self.bit = 0;
            if self.row >= self.len {
                break;
            }
            self.word = self.words.next().unwrap_or_default();
        }
        self.row = self.row.min(self.len);
        Some((start..self.row, is_set))
    }
}

/// The rows whose bit is not set.
#[derive(Clone)]
pub(super) struct Zeros<'a> {
    /// The bits that are not set, of the rows from `first` on, without those that were returned.
    word: u64,
    words: Words<'a>,
    first: usize,
    /// The first row of the next word.
    next: usize,
    len: usize,
}

impl Zeros<'_> {
    /// Goes to the next word that has such a row. `None` if there is none.
    fn advance(&mut self) -> Option<()> {
        while self.word == 0 {
            let word = self.words.next()?;
            self.first = self.next;
            self.word = !word & low_bits(self.len - self.first);
            self.next = self.first.saturating_add(ROWS);
        }
        Some(())
    }
}

impl Iterator for Zeros<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.word == 0 {
            self.advance()?;
        }
        let row = self.first + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(row)
    }
}

/// Sets or clears the bits of rows. Rows without a byte are left out; callers have checked.
pub(super) fn fill(bytes: &mut [u8], offset: usize, rows: Range<usize>, is_set: bool) {
    let Span { head, middle, tail } = span(offset, rows);
    let byte = if is_set { u8::MAX } else { 0 };
    for (place, mask) in head.into_iter().chain(tail) {
        if let Some(to) = bytes.get_mut(place) {
            *to = (*to & !mask) | (byte & mask);
        }
    }
    bytes.get_mut(middle).unwrap_or_default().fill(byte);
}

/// Copies bits to rows from `first_row` on. Rows without a byte are left out; callers have checked.
pub(super) fn copy(bytes: &mut [u8], offset: usize, first_row: usize, from: Bits<'_>) {
    let Span { head, middle, tail } = span(offset, first_row..first_row + from.len());
    let mut done = 0;
    if let Some((place, mask)) = head {
        let bits = (from.word_at(0) << mask.trailing_zeros()) as u8; // the low byte
        if let Some(to) = bytes.get_mut(place) {
            *to = (*to & !mask) | (bits & mask);
        }
        done = mask.count_ones() as usize;
    }
    if let Some((place, mask)) = tail {
        let bits = from.word_at(done + 8 * middle.len()) as u8; // fewer than eight are left
        if let Some(to) = bytes.get_mut(place) {
            *to = (*to & !mask) | (bits & mask);
        }
    }
    let middle = bytes.get_mut(middle).unwrap_or_default();
    for (bytes, word) in middle.chunks_mut(8).zip(from.part(done..usize::MAX).words()) {
        write_word(bytes, word);
    }
}

/// Writes the first bytes of a word: eight, or fewer if there is less room.
#[inline(always)]
pub(super) fn write_word(bytes: &mut [u8], word: u64) {
    let word = word.to_le_bytes();
    match bytes.first_chunk_mut() {
        Some(bytes) => *bytes = word,
        None => bytes.iter_mut().zip(word).for_each(|(to, from)| *to = from),
    }
}
