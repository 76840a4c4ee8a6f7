//! Flagged rows, packed into new memory.
//!
//! Large results are stored past the cache, so that the processor does not read their memory before it writes it: rows
//! of entire cache lines one by one, a column from a stage that stays in the first-level cache.

use std::mem::MaybeUninit;

use super::{Filling, copy_rows};
use crate::array::compress::{self, Vectors};
use crate::array::stream::{self, Fence};
use crate::array::uninit::write_copy;
use crate::base::cache::{self, LINE};
use crate::window::Bits;

/// Results of at least this size in bytes are stored past the cache: they do not stay in it.
const STREAMING_BYTES: usize = bytes_of(16 << 20, 16 << 10, 1 << 10);

/// Smaller parts of such results are not: most filters would not be faster.
const STREAMING_PART_BYTES: usize = bytes_of(64 << 10, 4 << 10, 256);

/// Returns the first number; for unit tests the second one, and under Miri the third one.
const fn bytes_of(all: usize, for_tests: usize, under_miri: usize) -> usize {
    if cfg!(miri) {
        under_miri
    } else if cfg!(test) {
        for_tests
    } else {
        all
    }
}

/// The number of flags that are converted to bits at a time, and of bits to positions.
const BATCH: usize = 1024;

/// The number of values that are staged at a time: at most 4 KiB.
const STAGED: usize = 512;

/// A row of a large result is requested from memory while the one this number of rows before it is copied.
const AHEAD: usize = 32;

/// The largest distance between two rows that are requested with those between them.
const GAP: u16 = 5;

/// The largest number of bytes of such a row. Longer ones are fetched well without a request.
const REQUESTED_BYTES: usize = 8 * LINE;

/// The number of rows of a word of a mask: the lowest bit is that of the first row. Bits without a row are zero.
pub(crate) const MASK_ROWS: usize = u64::BITS as usize;

/// Returns the number of words of a mask.
pub(crate) fn mask_words(rows: usize) -> usize {
    rows.div_ceil(MASK_ROWS)
}

impl Filling<'_, u64> {
    /// Adds the mask of the rows whose flags are set. Returns their number. Panics if the mask does not fit; callers
    /// have checked.
    pub(crate) fn add_mask(&mut self, flags: &[bool], vectors: Vectors) -> usize {
        let mut words = [0; BATCH / MASK_ROWS];
        let mut count = 0;
        for flags in flags.chunks(BATCH) {
            let words = &mut words[..mask_words(flags.len())];
            count += compress::mask(flags, words, vectors);
            self.add(words);
        }
        count
    }
}

impl<B: Bits> Filling<'_, B> {
    /// Adds the rows of a mask, of `columns` values each, as long as there is room. A single column is packed by vector
    /// instructions if the processor has them. Panics if `from` does not have a row for each bit; callers have checked.
    pub(crate) fn add_masked(&mut self, from: &[B], columns: usize, words: &[u64], vectors: Vectors) {
        let Some(rows) = from.len().checked_div(columns) else { return };
        assert_eq!((rows * columns, mask_words(rows)), (from.len(), words.len()), "a bit for each row");
        match columns {
            1 => self.add_masked_values(from, words, vectors),
            _ => self.add_masked_rows(from, columns, words, vectors),
        }
    }

    /// Returns whether to store past the cache.
    fn is_streaming(&self) -> bool {
        let is_large = self.bytes_of_all >= STREAMING_BYTES && size_of_val(self.room) >= STREAMING_PART_BYTES;
        cfg!(target_arch = "x86_64") && is_large
    }

    fn add_masked_values(&mut self, from: &[B], words: &[u64], vectors: Vectors) {
        if !self.is_streaming() {
            self.done += pack(from, words, compress::words_ahead::<B>(words, 0), self.place(), vectors);
            return;
        }
        let mut stage = Stage::new();
        for (values, at) in from.chunks(STAGED).zip((0..words.len()).step_by(STAGED / MASK_ROWS)) {
            let (ahead, room) = (compress::words_ahead::<B>(words, at), &mut stage.room.0[stage.waiting..]);
            let words = &words[at..words.len().min(at + STAGED / MASK_ROWS)];
            stage.waiting += pack(values, words, ahead, room, vectors);
            let sent = self.add_lines(stage.waiting(), &stage.fence);
            stage.room.0.copy_within(sent..stage.waiting, 0);
            stage.waiting -= sent;
        }
        self.put_rest(&mut stage);
    }

    fn add_masked_rows(&mut self, from: &[B], columns: usize, words: &[u64], vectors: Vectors) {
        let row_bytes = columns * size_of::<B>();
        let has_lines = row_bytes.is_multiple_of(LINE) && self.place().as_ptr().addr().is_multiple_of(LINE);
        // Every row, or run of rows, ends where a line ends.
        let fence = if has_lines && self.is_streaming() { Some(Fence) } else { None };
        let fills_gaps = vectors == Vectors::Avx512InOrder;
        let mut positions = [0_u16; BATCH];
        for (from, words) in from.chunks(BATCH * columns).zip(words.chunks(BATCH / MASK_ROWS)) {
            let mut count = 0;
            for (first, &word) in (0..BATCH).step_by(MASK_ROWS).zip(words) {
                let mut bits = word;
                while bits != 0 {
                    positions[count % BATCH] = (first + bits.trailing_zeros() as usize) as u16; // below `BATCH`
                    count += 1;
                    bits &= bits - 1;
                }
            }
            let wanted = &positions[..count];
            match &fence {
                _ if count * columns == from.len() => self.add(from),
                Some(fence) => match row_bytes / LINE {
                    1 => self.add_lines_of::<1>(from, columns, wanted, fills_gaps, fence),
                    2 => self.add_lines_of::<2>(from, columns, wanted, fills_gaps, fence),
                    _ => self.add_lines_of::<0>(from, columns, wanted, fills_gaps, fence),
                },
                None => {
                    let rows = wanted.iter().map(|&position| usize::from(position));
                    self.done += copy_rows(self.place(), from, columns, rows).unwrap_or(0); // all of these exist
                }
            }
        }
    }

    /// Adds rows of `LINES` lines, or of any number of lines if that is zero, past the cache, as long as there is room.
    /// The room begins at a line. Requests short rows, with `fills_gaps` also the few rows between two of one or two
    /// lines: a processor that is [faster in order](Vectors::Avx512InOrder) reads these too.
    fn add_lines_of<const LINES: usize>(
        &mut self,
        from: &[B],
        columns: usize,
        wanted: &[u16],
        fills_gaps: bool,
        _fence: &Fence,
    ) {
        let row_bytes = if LINES > 0 { LINES * LINE } else { columns * size_of::<B>() };
        let columns = row_bytes / size_of::<B>();
        let row = |position: u16| &from[usize::from(position) * columns..][..columns];
        let place = self.place();
        assert!(row_bytes.is_multiple_of(LINE) && place.as_ptr().addr().is_multiple_of(LINE), "entire lines");
        let mut count = 0;
        for (index, (&position, to)) in wanted.iter().zip(place.chunks_exact_mut(columns)).enumerate() {
            if row_bytes <= REQUESTED_BYTES
                && let Some(&[before, next]) = wanted.get(index + AHEAD - 1..=index + AHEAD)
            {
                if LINES > 0 && fills_gaps {
                    let first = if next - before <= GAP { before + 1 } else { next };
                    let bytes = row_bytes * usize::from(next + 1 - first);
                    cache::prefetch::<{ cache::SECOND_LEVEL }>(row(first).as_ptr().cast(), bytes);
                } else {
                    cache::prefetch::<{ cache::FIRST_LEVEL }>(row(next).as_ptr().cast(), row_bytes);
                }
            }
            // SAFETY: both are `columns` values, `row_bytes` bytes, which are entire lines; a mutable borrow overlaps
            // with no other. The first target begins at a line, and so do those after it. They are accessed only after
            // the caller has dropped the fence.
            unsafe { stream::copy_lines(row(position).as_ptr().cast(), to.as_mut_ptr().cast(), row_bytes) };
            count += columns;
        }
        self.done += count;
    }

    /// Returns the room that is not filled yet.
    fn place(&mut self) -> &mut [MaybeUninit<B>] {
        self.room.get_mut(self.done..).unwrap_or_default()
    }

    /// Adds the values that wait in a stage, as long as there is room.
    fn put_rest(&mut self, stage: &mut Stage<B>) {
        let count = stage.waiting.min(self.place().len());
        self.add(&stage.waiting()[..count]);
        stage.waiting = 0;
    }

    /// Adds values as far as they fill cache lines, past the cache, as long as there is room. Returns their number.
    fn add_lines(&mut self, values: &[B], _fence: &Fence) -> usize {
        let per_line = LINE / size_of::<B>();
        let room = self.place();
        let head = room.as_ptr().align_offset(LINE);
        let lines = values.len().min(room.len()).saturating_sub(head) / per_line;
        if lines == 0 {
            return 0;
        }
        let count = head + lines * per_line;
        write_copy(&mut room[..head], &values[..head]);
        let (from, to) = (&values[head..count], &mut room[head..count]);
        // SAFETY: both have `lines` lines, and a mutable borrow overlaps with no other. The target begins at a line,
        // `head` elements after the start. It is accessed only after the caller has dropped the fence.
        unsafe { stream::copy_many_lines(from.as_ptr().cast(), to.as_mut_ptr().cast(), size_of_val(from)) };
        self.done += count;
        count
    }
}

/// Values on their way to a large result.
///
/// Invariant: the first `waiting` elements of `room` are initialized.
struct Stage<B> {
    room: Room<B>,
    waiting: usize,
    fence: Fence,
}

/// Room for the values that wait, for those that are staged next, and for a vector after them.
#[repr(align(64))]
struct Room<B>([MaybeUninit<B>; ROOM]);

/// Up to two lines of values wait: one before the first boundary in the target, and one after it.
const ROOM: usize = STAGED + 3 * LINE;

impl<B: Bits> Stage<B> {
    fn new() -> Self {
        Self { room: Room([MaybeUninit::uninit(); ROOM]), waiting: 0, fence: Fence }
    }

    fn waiting(&self) -> &[B] {
        let waiting: *const [MaybeUninit<B>] = &self.room.0[..self.waiting];
        // SAFETY: `MaybeUninit<B>` has the layout of `B`, and these are initialized (invariant).
        unsafe { &*(waiting as *const [B]) }
    }
}

/// Copies the values of a mask to the front of the room, as long as there is room, by vector instructions if they may be
/// used and the processor has them. Meanwhile requests the values of the words [ahead](compress::words_ahead). Returns
/// the number of values written to the front.
fn pack<B: Bits>(values: &[B], words: &[u64], ahead: &[u64], room: &mut [MaybeUninit<B>], vectors: Vectors) -> usize {
    let progress = compress::by_vectors(values, words, ahead, room, vectors);
    let (mut done, words) = (progress.written, &words[progress.words..]);
    for (values, &word) in values[progress.words * MASK_ROWS..].chunks(MASK_ROWS).zip(words) {
        let room = &mut room[done..];
        done += match (values.first_chunk(), room.first_chunk_mut()) {
            _ if word == 0 => 0,
            (Some(values), Some(room)) => pack_word(values, word, room),
            _ => pack_few(values, word, room),
        };
    }
    done
}

/// Copies the values of a word to the front of the room. More places may be overwritten.
fn pack_word<B: Bits>(values: &[B; MASK_ROWS], word: u64, room: &mut [MaybeUninit<B>; MASK_ROWS]) -> usize {
    const FEW: u32 = 16;
    if word == u64::MAX {
        write_copy(room, values);
        return MASK_ROWS;
    }
    if word.count_ones() <= FEW {
        return pack_few(values, word, room);
    }
    let (mut count, mut bits) = (0, word);
    // Without a branch per value, since half of the predictions would be wrong.
    for &value in values {
        room[count % MASK_ROWS] = MaybeUninit::new(value); // a later value overwrites an unwanted one
        count += (bits & 1) as usize;
        bits >>= 1;
    }
    count // the places before it were written before it passed them
}

fn pack_few<B: Bits>(values: &[B], word: u64, room: &mut [MaybeUninit<B>]) -> usize {
    let (mut count, mut bits) = (0, word);
    while bits != 0 {
        let (Some(&value), Some(place)) = (values.get(bits.trailing_zeros() as usize), room.get_mut(count)) else {
            break;
        };
        *place = MaybeUninit::new(value);
        count += 1;
        bits &= bits - 1;
    }
    count
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::array::NewArray;
    use crate::base::element::ElementType;
    use crate::base::random::Random;
    use test_support::sized;

    /// Returns flags: few, half, most or all of them set at random, or runs.
    fn flags(count: usize, kind: usize) -> Vec<bool> {
        let mut random = Random::new(count as u64);
        let mut flag = |row: usize| match kind {
            5 => (row / 300).is_multiple_of(2),
            _ => random.below(100) < [0, 3, 50, 97, 100][kind],
        };
        (0..count).map(&mut flag).collect()
    }

    /// Returns a mask, by the rule.
    pub(in crate::array) fn mask(flags: &[bool]) -> Vec<u64> {
        let word = |flags: &[bool]| flags.iter().rev().fold(0, |word, &flag| word << 1 | u64::from(flag));
        flags.chunks(MASK_ROWS).map(word).collect()
    }

    /// Miri has no vectors: one of these stands for all there.
    const ALL: &[Vectors] = {
        let all = [Vectors::None, Vectors::Avx2, Vectors::Avx512, Vectors::Avx512InOrder].as_slice();
        all.split_at(sized(4, 1)).0
    };

    fn expected<B: Bits>(from: &[B], columns: usize, flags: &[bool]) -> Vec<B> {
        let rows = from.chunks_exact(columns).zip(flags).filter(|(_, flag)| **flag);
        rows.flat_map(|(row, _)| row.iter().copied()).collect()
    }

    #[test]
    fn flagged_rows_of_any_width_are_added_to_arrays_of_any_size() {
        fn check<B: Bits + std::fmt::Debug>(element: ElementType, value: impl Fn(usize) -> B) {
            let narrow = [(0, 3), (1, 1), (sized(700, 70), 1), (sized(70_001, 401), 1), (sized(150, 40), 3)];
            let wide = [(sized(5003, 20), 3), (sized(1500, 30), 16), (sized(170, 2), 100)];
            let staged = [(sized(33, 1), STAGED), (sized(30, 1), STAGED + 1)];
            for (rows, columns) in narrow.into_iter().chain(wide).chain(staged) {
                let from: Vec<B> = (0..rows * columns).map(&value).collect();
                let kinds = (0..6).step_by(sized(1, 2)); // under Miri: none, half and all
                for (kind, vectors) in kinds.flat_map(|kind| ALL.iter().map(move |&vectors| (kind, vectors))) {
                    let flags = flags(rows, kind);
                    let expected = expected(&from, columns, &flags);
                    let mut new = NewArray::new(element, expected.len()).unwrap();
                    let mut rest = new.filling::<B>();
                    // Parts that begin anywhere in a line.
                    for (from, flags) in from.chunks((rows / 3 + 1) * columns).zip(flags.chunks(rows / 3 + 1)) {
                        let count = flags.iter().filter(|flag| **flag).count();
                        let mut part = rest.take(count * columns);
                        part.add_masked(from, columns, &mask(flags), vectors);
                    }
                    drop(rest);
                    let found = new.finish();
                    assert_eq!(found.as_slice().bits::<B>(), expected, "{rows} x {columns}, {kind}");
                }
            }
        }
        check(ElementType::U8, |index| (index * 7) as u8);
        check(ElementType::I16, |index| (index * 257) as u16);
        check(ElementType::F32, |index| (index as u32).wrapping_mul(0x0101_0101));
        check(ElementType::F64, |index| (index as u64).wrapping_mul(0x0101_0101_0101_0101));
    }

    #[test]
    fn nothing_is_written_past_the_room() {
        for (columns, vectors) in ALL.iter().map(|&vectors| (1, vectors)).chain([3, 16].map(|n| (n, Vectors::None))) {
            let from: Vec<u32> = (0..sized(48_000, 1_200) as u32).collect();
            let flags = flags(from.len() / columns, 2);
            let expected = expected(&from, columns, &flags);
            let count = expected.len() / columns;
            for missing in [1, 17, sized(1000, 20), count - 2].map(|rows| rows * columns) {
                let mut new = NewArray::new(ElementType::I32, expected.len()).unwrap();
                let mut rest = new.filling::<u32>();
                let mut room = rest.take(expected.len() - missing);
                rest.add(&vec![77; missing]);
                room.add_masked(&from, columns, &mask(&flags), vectors);
                drop((rest, room));
                let found = new.finish();
                let (found, after) = found.as_slice().bits::<u32>().split_at(expected.len() - missing);
                assert!(found == &expected[..found.len()] && after.iter().all(|&value| value == 77));
            }
        }
    }

    #[test]
    fn flags_become_bits_and_are_counted() {
        for count in [0, 1, 63, 64, 65, 1023, 1024, 1025, sized(70_000, 2_000)] {
            for (kind, vectors) in (0..6).flat_map(|kind| ALL.iter().map(move |&vectors| (kind, vectors))) {
                let flags = flags(count, kind);
                let mut words = NewArray::new(ElementType::U64, mask_words(count)).unwrap();
                let found = words.filling().add_mask(&flags, vectors);
                assert_eq!(found, flags.iter().filter(|flag| **flag).count(), "{count}, {kind}, {vectors:?}");
                assert_eq!(words.finish().as_slice().bits::<u64>(), mask(&flags), "{count}, {kind}, {vectors:?}");
            }
        }
    }
}
