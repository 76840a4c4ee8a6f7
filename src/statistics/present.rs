//! Tables with missing values, as the statistics read them: a column as its present values, and a table as its complete
//! rows, as if there were no others.
//!
//! Blocks and groups of rows are therefore those of the present values alone, and results have the same bits. Bitmaps
//! are copied once, so that a bitmap that is changed meanwhile makes no two counts differ.

use std::ops::Range;

use super::blocks::{TableSource, ValueSource, room_for};
use crate::array::{AnyArray, Validity};
use crate::base::count::same_count;
use crate::base::element::ElementType;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::range;
use crate::base::room::with_room;
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::convert::level::{Level, LongLoop};
use crate::table::{NumericTable, Region, Token, missing, record_read};
use crate::window::{AnySlice, AnySliceMut, AnyWindow};

/// Number of rows of a word of a bitmap.
const WORD: usize = u64::BITS as usize;
/// Number of words of a span, whose present rows are counted in advance.
const SPAN: usize = 64;
/// Number of values that are converted together. They stay in the first-level cache.
const CHUNK: usize = 16 * WORD;
/// Number of rows that are read together in search of complete ones.
const SCANNED_ROWS: usize = 256;

/// Which rows are present, and where each of them is.
#[derive(Clone)]
pub(super) struct PresentRows {
    /// The states of 64 rows each, the first in the lowest bit. Bits past the last row are zero.
    words: Vec<u64>,
    /// The number of present rows before each span.
    before: Vec<usize>,
    count: usize,
    /// The number of all rows.
    rows: usize,
}

impl PresentRows {
    /// Copies the bitmap of a column.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    fn new(validity: &Validity) -> Result<Self> {
        let mut words = with_room(validity.len().div_ceil(WORD))?;
        words.extend(validity.words());
        Self::of_words(words, validity.len())
    }

    fn of_words(words: Vec<u64>, rows: usize) -> Result<Self> {
        let mut before = with_room(words.len().div_ceil(SPAN))?;
        let mut count = 0;
        for span in words.chunks(SPAN) {
            before.push(count);
            count += span.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        }
        Ok(Self { words, before, count, rows })
    }

    /// Returns the number of present rows.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of other rows.
    pub(super) fn missing(&self) -> u64 {
        (self.rows - self.count) as u64
    }

    pub(super) fn is_present(&self, row: usize) -> bool {
        self.words.get(row / WORD).is_some_and(|word| word >> (row % WORD) & 1 == 1)
    }

    /// Returns the row of a present row, counted from zero; the number of all rows if there is none.
    fn row_of(&self, place: usize) -> usize {
        let span = self.before.partition_point(|&before| before <= place).saturating_sub(1);
        let mut rest = place.saturating_sub(self.before.get(span).copied().unwrap_or(0));
        for (at, &word) in self.words.iter().enumerate().skip(span * SPAN) {
            let here = word.count_ones() as usize;
            if rest < here {
                let word = (0..rest).fold(word, |word, _| word & (word - 1)); // without the bits before it
                return at * WORD + word.trailing_zeros() as usize;
            }
            rest -= here;
        }
        self.rows
    }

    /// Returns the rows from the first to the last of a range of present rows.
    fn range_of(&self, places: &Range<usize>) -> Range<usize> {
        match places.end.checked_sub(1).filter(|_| !places.is_empty()) {
            Some(last) => {
                let end = self.row_of(last).saturating_add(1).min(self.rows);
                self.row_of(places.start).min(end)..end
            }
            None => 0..0,
        }
    }

    /// Returns the words from that of the first of some rows on. Bits before this row are zero.
    fn words_from(&self, row: usize) -> impl Iterator<Item = u64> + Clone {
        let words = self.words.get(row / WORD..).unwrap_or_default().iter().copied();
        let mut mask = u64::MAX << (row % WORD);
        words.map(move |word| word & std::mem::replace(&mut mask, u64::MAX))
    }
}

/// Returns the columns of a table in which values are missing, with the present ones.
///
/// # Errors
/// Those of [`NumericTable::validity`]; [`ErrorKind::LengthMismatch`] if a user-defined table returns a bitmap of
/// another length; [`ErrorKind::OutOfMemory`].
pub(super) fn columns_with_missing(table: &dyn NumericTable, shape: Shape) -> Result<Vec<PresentValues<'_>>> {
    let mut found = Vec::new();
    for (column, validity) in missing::columns_with_missing(table, shape, table.dictionary())? {
        let rows = PresentRows::new(&validity)?;
        if rows.missing() > 0 {
            found.push(PresentValues { table, column, rows });
        }
    }
    Ok(found)
}

/// Returns the complete rows of a table; `None` if no value is missing.
///
/// # Errors
/// Those of [`columns_with_missing`].
pub(super) fn complete_rows(table: &dyn NumericTable, shape: Shape) -> Result<Option<CompleteRows<'_>>> {
    let Some(words) = missing::complete_rows(table, shape)? else { return Ok(None) };
    let rows = PresentRows::of_words(words, shape.rows)?;
    Ok((rows.missing() > 0).then_some(CompleteRows { table, rows }))
}

/// The present values of one column, as a table of one column.
pub(super) struct PresentValues<'t> {
    table: &'t dyn NumericTable,
    pub(super) column: usize,
    pub(super) rows: PresentRows,
}

impl ValueSource for PresentValues<'_> {
    fn read<'a>(&'a self, region: &Region, buffer: &'a mut Vec<f64>) -> Result<&'a [f64]> {
        let rows = self.rows.range_of(&region.rows);
        // From a row whose bit is the lowest of a word.
        let start = rows.start / WORD * WORD;
        let (array, _) = self.table.column_array(self.column, &(start..rows.end), Token::new())?;
        same_count(rows.end - start, array.len())?;
        let room = room_for(region, buffer)?;
        pack(&array, self.rows.words_from(rows.start), room)?;
        let region = Region { rows, columns: self.column..self.column + 1 };
        record_read(self.table, &region, ElementType::F64);
        Ok(room)
    }

    fn lend(&self, _: &Region, _: ElementType) -> Result<Option<AnySlice<'_>>> {
        Ok(None)
    }
}

/// Converts the values whose bits are set, and writes them one after another.
fn pack(array: &AnyArray, mut words: impl Iterator<Item = u64>, mut room: &mut [f64]) -> Result<()> {
    let mut of_chunk = [0; CHUNK / WORD];
    let mut converted = [0.0; CHUNK];
    let stored = array.as_slice().downcast::<f64>();
    for range in range::cut(0..array.len(), CHUNK) {
        for word in &mut of_chunk[..range.len().div_ceil(WORD)] {
            *word = words.next().unwrap_or_default();
        }
        let values = match stored {
            Some(values) => &values[range],
            None => {
                let values = array.as_slice().range(range);
                let converted = &mut converted[..values.len()];
                let window = AnyWindow::of_rows(values, values.len(), 1);
                let target = AnySliceMut::new(&mut *converted);
                kernel::read_over(window, target, ConversionPolicy::Saturate, Origin::default())?;
                &*converted
            }
        };
        let mut done = 0;
        Level::chosen().run_long(Pack { values, words: &of_chunk, room: &mut *room, done: &mut done });
        room = room.get_mut(done..).unwrap_or_default();
    }
    Ok(())
}

/// The loop that packs the values of a chunk.
struct Pack<'a> {
    values: &'a [f64],
    words: &'a [u64],
    /// Where to write them. Values beyond the room are left out.
    room: &'a mut [f64],
    done: &'a mut usize,
}

impl LongLoop for Pack<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { values, words, room, done } = self;
        let mut stage = [0.0; WORD];
        for (values, &word) in values.chunks(WORD).zip(words) {
            let word = word & (u64::MAX >> (WORD - values.len())); // there is at least one value
            let count = word.count_ones() as usize;
            let Some(room) = room.get_mut(*done..*done + count) else { return };
            *done += count;
            if count == values.len() {
                room.copy_from_slice(values);
                continue;
            }
            // Every value is written, and the next one over it if it is missing: no branch depends on the bits.
            let mut next = 0;
            for (place, &value) in values.iter().enumerate() {
                stage[next % WORD] = value;
                next += (word >> place & 1) as usize;
            }
            room.copy_from_slice(&stage[..count]);
        }
    }
}

/// The rows of a table in which no value is missing, as a table of these rows.
pub(super) struct CompleteRows<'t> {
    table: &'t dyn NumericTable,
    pub(super) rows: PresentRows,
}

impl ValueSource for CompleteRows<'_> {
    fn read<'a>(&'a self, region: &Region, buffer: &'a mut Vec<f64>) -> Result<&'a [f64]> {
        let (rows, width) = (self.rows.range_of(&region.rows), region.columns.len());
        if width == 0 {
            return Ok(&[]);
        }
        let packed = room_for(region, buffer)?;
        let (source, most) = (TableSource(self.table), rows.len().min(SCANNED_ROWS));
        let mut read = Vec::new();
        let mut room = packed.chunks_exact_mut(width);
        let mut start = rows.start;
        while start < rows.end {
            let region = Region { rows: start..rows.end.min(start + most), columns: region.columns.clone() };
            let values = source.read(&region, &mut read)?;
            for (row, values) in region.rows.clone().zip(values.chunks_exact(width)) {
                if self.rows.is_present(row)
                    && let Some(room) = room.next()
                {
                    room.copy_from_slice(values);
                }
            }
            start = region.rows.end;
        }
        Ok(packed)
    }

    fn lend(&self, _: &Region, _: ElementType) -> Result<Option<AnySlice<'_>>> {
        Ok(None)
    }
}

/// Some columns of a table without missing values, from column `first` on.
pub(super) struct ColumnsFrom<'t> {
    pub(super) source: &'t dyn ValueSource,
    pub(super) first: usize,
}

impl ValueSource for ColumnsFrom<'_> {
    fn read<'a>(&'a self, region: &Region, buffer: &'a mut Vec<f64>) -> Result<&'a [f64]> {
        self.source.read(&region.moved(0, self.first), buffer)
    }

    fn lend(&self, region: &Region, element: ElementType) -> Result<Option<AnySlice<'_>>> {
        self.source.lend(&region.moved(0, self.first), element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_of(flags: &[bool]) -> PresentRows {
        PresentRows::new(&Validity::from_flags(flags).unwrap()).unwrap()
    }

    #[test]
    fn each_present_row_is_found() {
        for rows in [0, 1, 63, 64, 65, 4095, 4096, 4097, 20_000] {
            for every in [1, 2, 3, 64, 5000] {
                let flags: Vec<bool> = (0..rows).map(|row| row % every == every - 1).collect();
                let (present, expected) = (rows_of(&flags), (0..rows).filter(|&row| flags[row]));
                let expected: Vec<usize> = expected.collect();
                assert_eq!((present.count(), present.missing()), (expected.len(), (rows - expected.len()) as u64));
                assert!((0..expected.len()).all(|place| present.row_of(place) == expected[place]), "{rows} {every}");
                assert_eq!(present.row_of(expected.len()), rows);
                assert!((0..rows).all(|row| present.is_present(row) == flags[row]));
                assert!(!present.is_present(rows));
            }
        }
    }

    #[test]
    fn present_values_are_packed_as_a_plain_loop_does() {
        for rows in [1, 63, 64, 65, 1000, 1024, 1025, 5000] {
            let flags: Vec<bool> = (0..rows).map(|row| row * 7919 % 10 > 0 && !(200..400).contains(&row)).collect();
            let present = rows_of(&flags);
            let (floats, integers) = ((0..rows).map(|row| row as f64 / 3.0), (0..rows).map(|row| row as i16));
            let arrays = [AnyArray::from(floats.collect::<Vec<_>>()), AnyArray::from(integers.collect::<Vec<_>>())];
            for array in arrays {
                for (first, rows) in [(0, rows), (1, rows), (64, rows), (100, rows), (0, rows / 2), (65, rows - 1)] {
                    let start = first / WORD * WORD;
                    if start >= rows {
                        continue;
                    }
                    let all = array.as_slice().range(start..rows);
                    let mut wide = vec![0.0; rows - start];
                    let (window, room) = (AnyWindow::of_rows(all, all.len(), 1), AnySliceMut::new(&mut wide));
                    kernel::read_over(window, room, ConversionPolicy::Saturate, Origin::default()).unwrap();
                    let expected: Vec<f64> =
                        (first..rows).filter(|&row| flags[row]).map(|row| wide[row - start]).collect();
                    let mut found = vec![-1.0; expected.len()];
                    let part = array.as_ref().slice(start..rows).unwrap();
                    pack(&part, present.words_from(first), &mut found).unwrap();
                    assert_eq!(found, expected, "{rows} from {first}");
                }
            }
        }
    }
}
