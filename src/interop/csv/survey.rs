//! Where a file can be cut, and how many rows lie between the cuts.
//!
//! The file is looked at in pieces, several at a time. A *plain* piece has no quotes, comments, blank lines (lines of spaces
//! among them, where those are no records) or lone CRs:
//! wherever a record begins in front of it, every line feed in it ends a row. What is not plain is walked over record by
//! record, from the record on that is known to begin there, on one thread.

use std::ops::Range;

use super::WEIGHT;
use super::failure::Failure;
use super::input::Input;
use super::syntax::{Syntax, Walked, walk};
use crate::base::error::{Error, Result};
use crate::base::parallel;

/// The records of a file, cut into pieces.
#[derive(Debug)]
pub(super) struct Survey {
    /// Where pieces begin, each with a record, and how many rows lie in front of it. The last one is the end.
    cuts: Vec<(u64, usize)>,
    /// The record behind them, if it is too long: nobody looks further.
    pub(super) failure: Option<Failure>,
}

/// Some consecutive records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordRange {
    pub(super) bytes: Range<u64>,
    /// Their rows, counted from the first one of the file.
    pub(super) rows: Range<usize>,
}

impl Survey {
    /// Looks at everything from `start` on, where a record begins, or blank lines or comments in front of one.
    pub(super) fn new(syntax: &Syntax, input: &Input, start: u64, step: usize) -> Result<Self> {
        let mut cuts = vec![(start, 0)];
        let mut walker = Walker { syntax, input, step, record: start, rows: 0, failure: None };
        for seen in look(syntax, input, start, step)? {
            let (begin, end) = (seen.bytes.start, seen.bytes.end);
            if walker.failure.is_some() {
                break;
            }
            if walker.record >= end {
                continue; // a record that began before goes on behind it
            }
            let cut = match seen.lines {
                // The record in progress began in front of the piece, and ends with its first line; or it begins with it.
                Some(LineFeeds { count: 0, .. }) if walker.record <= begin => continue,
                Some(LineFeeds { count, first, last }) if walker.record <= begin => {
                    walker.skip(last, count);
                    (first, walker.rows - count + 1)
                }
                // The first line belongs to a record that has been counted.
                Some(LineFeeds { count, first, last }) if walker.record == first => {
                    let cut = (first, walker.rows);
                    walker.skip(last, count - 1);
                    cut
                }
                _ => {
                    // The first cut in the piece: what begins in front of it stays together.
                    walker.walk(begin)?;
                    let cut = (walker.record, walker.rows);
                    walker.walk(end)?;
                    cut
                }
            };
            if cuts.last() != Some(&cut) {
                cuts.push(cut);
            }
        }
        walker.walk(input.len())?;
        let (end, failure) = (if walker.failure.is_some() { walker.record } else { input.len() }, walker.failure);
        cuts.push((end, walker.rows));
        let mut survey = Self { cuts, failure };
        survey.end_before_long_records(syntax, input, step)?;
        Ok(survey)
    }

    /// Records in plain pieces have been counted, but not measured: a piece may be one of them.
    fn end_before_long_records(&mut self, syntax: &Syntax, input: &Input, step: usize) -> Result<()> {
        for index in 1..self.cuts.len() {
            let ((start, rows), (end, _)) = (self.cuts[index - 1], self.cuts[index]);
            if end - start <= syntax.most_bytes as u64 {
                continue;
            }
            let walked = walk(syntax, input, start, end, step)?;
            if walked.failure.is_some() {
                self.cuts.truncate(index);
                self.cuts.push((walked.place, rows + walked.rows));
                self.failure = walked.failure;
                break;
            }
        }
        Ok(())
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.cuts.last().map_or(0, |&(_, rows)| rows)
    }

    /// The pieces, in as many runs as there should be tasks: consecutive in each, and from one to the next.
    pub(super) fn runs(&self) -> Vec<Vec<RecordRange>> {
        let [(first, _), .., (end, _)] = self.cuts[..] else { return Vec::new() };
        let bytes = usize::try_from(end - first).unwrap_or(usize::MAX);
        let tasks = parallel::task_count(bytes.saturating_mul(WEIGHT)).max(1);
        let pieces =
            self.cuts.windows(2).map(|pair| RecordRange { bytes: pair[0].0..pair[1].0, rows: pair[0].1..pair[1].1 });
        let pieces: Vec<RecordRange> = pieces.collect();
        pieces.chunks(pieces.len().div_ceil(tasks).max(1)).map(<[RecordRange]>::to_vec).collect()
    }
}

/// Where a survey is.
struct Walker<'a> {
    syntax: &'a Syntax,
    input: &'a Input,
    step: usize,
    /// Where the next record begins, and how many there are in front of it.
    record: u64,
    rows: usize,
    failure: Option<Failure>,
}

impl Walker<'_> {
    /// Goes to a place, over so many records.
    fn skip(&mut self, place: u64, rows: usize) {
        (self.record, self.rows) = (place, self.rows + rows);
    }

    /// Walks over records until the next one begins at a place, or behind it, or is too long.
    fn walk(&mut self, until: u64) -> Result<()> {
        if self.record < until && self.failure.is_none() {
            let Walked { place, rows, failure } = walk(self.syntax, self.input, self.record, until, self.step)?;
            self.skip(place, rows);
            self.failure = failure;
        }
        Ok(())
    }
}

/// What is in a piece of a file.
struct Seen {
    bytes: Range<u64>,
    /// Its line feeds, if it is plain.
    lines: Option<LineFeeds>,
}

struct LineFeeds {
    count: usize,
    /// Behind the first and the last of them; both 0 if there are none.
    first: u64,
    last: u64,
}

/// Looks at all pieces, several at a time.
fn look(syntax: &Syntax, input: &Input, start: u64, step: usize) -> Result<Vec<Seen>> {
    let length = input.len();
    let count = (length - start).div_ceil(step as u64);
    let bytes = usize::try_from(length - start).unwrap_or(usize::MAX);
    let tasks = parallel::task_count(bytes).max(1) as u64;
    let per_task = count.div_ceil(tasks).max(1);
    let runs: Vec<Range<u64>> =
        (0..tasks).map(|task| (task * per_task).min(count)..((task + 1) * per_task).min(count)).collect();
    let seen = parallel::map(runs, |run| {
        let (mut seen, mut buffer) = (Vec::new(), Vec::new());
        let pieces = (run.end - run.start) as usize;
        let needed = pieces.saturating_mul(size_of::<Seen>());
        seen.try_reserve_exact(pieces).map_err(|_| Error::OutOfMemory { bytes: needed })?;
        for index in run {
            let piece = start + index * step as u64..length.min(start + (index + 1) * step as u64);
            // Two bytes in front of it, and one behind it, tell what lines at its ends are.
            let window = piece.start.saturating_sub(2).max(start)..length.min(piece.end + 1);
            let bytes = input.read(window.clone(), &mut buffer)?;
            let inner = (piece.start - window.start) as usize..(piece.end - window.start) as usize;
            let lines = count_lines(syntax, bytes, inner, piece.start, window.start == start);
            seen.push(Seen { bytes: piece, lines });
        }
        Ok(seen)
    });
    let mut all = Vec::new();
    for part in seen {
        all.append(&mut part?);
    }
    Ok(all)
}

/// Counts the line feeds of a piece, if it is plain. `is_start` says that the window begins where the records begin, so
/// that a line feed there would end a blank line.
fn count_lines(syntax: &Syntax, window: &[u8], inner: Range<usize>, offset: u64, is_start: bool) -> Option<LineFeeds> {
    let piece = &window[inner.clone()];
    let holds = |byte: Option<u8>| byte.is_some_and(|byte| memchr::memchr(byte, piece).is_some());
    if holds(syntax.quote) || holds(syntax.comment) {
        return None;
    }
    for at in memchr::memchr_iter(b'\r', piece) {
        if window.get(inner.start + at + 1) != Some(&b'\n') {
            return None;
        }
    }
    let mut lines = LineFeeds { count: 0, first: 0, last: 0 };
    for at in memchr::memchr_iter(b'\n', piece) {
        let place = inner.start + at;
        let line = window[..place].strip_suffix(b"\r").unwrap_or(&window[..place]);
        let spaces = line.iter().rev().take_while(|&&byte| syntax.skips_spaces && syntax.is_space(byte)).count();
        let is_blank = match line.iter().nth_back(spaces) {
            Some(byte) => matches!(byte, b'\n' | b'\r'),
            None => is_start || spaces > 0, // in a window that begins later, it may be
        };
        if is_blank {
            return None;
        }
        lines.last = offset + at as u64 + 1;
        if lines.count == 0 {
            lines.first = lines.last;
        }
        lines.count += 1;
    }
    Some(lines)
}
