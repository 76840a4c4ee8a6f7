//! The rows that decide the kinds and types of columns, if not all rows do.

use super::batches::Batches;
use super::input::Input;
use super::survey::Survey;
use super::syntax::Syntax;
use crate::base::error::Result;

/// Which rows decide the kinds of columns, and the types that suit them: see
/// [`CsvOptions::sample`](super::CsvOptions::sample).
///
/// # Examples
/// ```
/// use numeric_table::{csv::{CsvOptions, CsvSample, CsvSource}, prelude::*};
/// let text = b"1\n2\n3\n4.5\n";
/// let load = |sample| CsvSource::from_bytes_with(&text[..], CsvOptions::new().sample(sample))?.load_typed();
/// assert_eq!(load(CsvSample::All)?.column_type(0)?, ElementType::F64);
/// let error = load(CsvSample::First(2)).unwrap_err();
/// assert!(error.to_string().starts_with("line 4, column 0: \"4.5\" is not representable as i64"));
/// assert_eq!(load(CsvSample::Spread(2))?.column_type(0)?, ElementType::F64); // the first and the last
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvSample {
    /// All rows.
    #[default]
    All,
    /// The given number of rows, from the first on.
    First(usize),
    /// The given number of rows, at equal distances from the first to the last. A scan of the file finds them when the
    /// source is created.
    Spread(usize),
}

/// The rows of a sample.
pub(super) struct Rows<'a> {
    pub(super) sample: CsvSample,
    pub(super) syntax: &'a Syntax,
    pub(super) input: &'a Input,
    /// Position of the first row.
    pub(super) start: u64,
    pub(super) step: usize,
}

impl Rows<'_> {
    /// Calls `visit` with the rows, in file order: complete records, and their position in the file. Rows that are
    /// spread require `survey`.
    pub(super) fn visit(&self, survey: Option<&Survey>, visit: impl FnMut(&[u8], u64)) -> Result<()> {
        match (self.sample, survey) {
            (CsvSample::Spread(count), Some(survey)) => self.visit_spread(count, survey, visit),
            (CsvSample::First(count) | CsvSample::Spread(count), _) => self.visit_first(count, visit),
            (CsvSample::All, _) => self.visit_first(usize::MAX, visit),
        }
    }

    fn visit_first(&self, count: usize, mut visit: impl FnMut(&[u8], u64)) -> Result<()> {
        let (mut batches, mut left) = (Batches::new(self.start), count);
        while left > 0 && batches.fill(self.syntax, self.input, self.step)? {
            let bytes = batches.bytes(self.input);
            let mut at = self.syntax.skip_blank(bytes, 0);
            while left > 0 && at < bytes.len() {
                let end = self.syntax.record_end(bytes, at, true).unwrap_or(bytes.len());
                at = self.syntax.skip_blank(bytes, end);
                left -= 1;
            }
            visit(&bytes[..at], batches.place());
            let length = bytes.len();
            batches.advance(length);
        }
        Ok(())
    }

    fn visit_spread(&self, count: usize, survey: &Survey, mut visit: impl FnMut(&[u8], u64)) -> Result<()> {
        let (rows, mut buffer) = (survey.rows(), Vec::new());
        let Some(last) = rows.checked_sub(1) else { return Ok(()) };
        let count = count.min(rows);
        // Row `i * last / (count - 1)`; the product of two row numbers fits 128 bits.
        let row_of = |index: usize| match count - 1 {
            0 => 0,
            steps => (index as u128 * last as u128 / steps as u128) as usize, // at most `last`
        };
        let mut next = 0;
        for piece in survey.pieces() {
            if next == count || !piece.rows.contains(&row_of(next)) {
                continue;
            }
            let (place, mut row) = (piece.bytes.start, piece.rows.start);
            let bytes = self.input.read(piece.bytes, &mut buffer)?;
            let mut at = self.syntax.skip_blank(bytes, 0);
            while next < count && at < bytes.len() {
                let end = self.syntax.record_end(bytes, at, true).unwrap_or(bytes.len());
                if row == row_of(next) {
                    visit(&bytes[at..end], place + at as u64);
                    next += 1;
                }
                (at, row) = (self.syntax.skip_blank(bytes, end), row + 1);
            }
        }
        Ok(())
    }
}
