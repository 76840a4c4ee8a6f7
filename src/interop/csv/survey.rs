//! Positions where a file can be divided, and the number of rows between them.
//!
//! The file is scanned in pieces, several in parallel. A *plain* piece has no quotes, comments, blank lines (including
//! lines of spaces, where those are not records) or lone CRs: for any record start before it, every line feed in it
//! ends a row. Other pieces are traversed record by record, on the guess that their first line feed ends a record. The
//! guess is confirmed, on one thread, if the records before the piece end where its first record begins. Otherwise the
//! line feed is in quotes, and the piece is traversed again from the record start that is known by then.

use std::ops::Range;

use super::WEIGHT;
use super::failure::Failure;
use super::input::Input;
use super::syntax::{Syntax, Walked, walk};
use crate::base::error::{Error, Result};
use crate::base::parallel;

/// Number of bytes after a piece in which the last record that begins in it is expected to end.
const RECORD_REST: u64 = 4 << 10;

/// The records of a file, divided into pieces.
#[derive(Debug)]
pub(super) struct Survey {
    /// The start of each piece, which is the start of a record, and the number of rows before it. The last entry is the
    /// end.
    cuts: Vec<(u64, usize)>,
    /// The failure of the record after them, if it is too long. The scan stops there.
    pub(super) failure: Option<Failure>,
}

/// Consecutive records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordRange {
    pub(super) bytes: Range<u64>,
    /// Their rows, counted from the first row of the file.
    pub(super) rows: Range<usize>,
}

impl Survey {
    /// Scans everything from `start`, the start of a record or of blank lines or comments before one.
    pub(super) fn new(syntax: &Syntax, input: &Input, start: u64, step: usize) -> Result<Self> {
        let mut cuts = vec![(start, 0)];
        let mut walker = Walker { syntax, input, step, record: start, rows: 0, failure: None };
        for seen in look(syntax, input, start, step)? {
            let (begin, end) = (seen.bytes.start, seen.bytes.end);
            if walker.failure.is_some() {
                break;
            }
            if walker.record >= end {
                continue; // a record that began before it continues after it
            }
            let cut = match seen.lines {
                // The current record began before the piece, and ends with its first line; or it begins with the piece.
                Some(LineFeeds { count: 0, .. }) if walker.record <= begin => continue,
                Some(LineFeeds { count, first, last }) if walker.record <= begin => {
                    walker.skip(last, count);
                    (first, walker.rows - count + 1)
                }
                // The first line belongs to a record that is already counted.
                Some(LineFeeds { count, first, last }) if walker.record == first => {
                    let cut = (first, walker.rows);
                    walker.skip(last, count - 1);
                    cut
                }
                _ => {
                    // The first cut in the piece: records that begin before it stay together.
                    walker.walk(begin)?;
                    let cut = (walker.record, walker.rows);
                    match seen.records {
                        Some(Records { count, first, next }) if first == walker.record && walker.failure.is_none() => {
                            walker.skip(next, count);
                        }
                        _ => walker.walk(end)?,
                    }
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

    /// Ends the survey before the first record that is too long. Records in plain pieces have been counted, but their
    /// lengths have not been checked: a whole piece may be one record.
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

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.cuts.last().map_or(0, |&(_, rows)| rows)
    }

    /// Returns the pieces, which are consecutive.
    pub(super) fn pieces(&self) -> impl Iterator<Item = RecordRange> {
        self.cuts.windows(2).map(|pair| RecordRange { bytes: pair[0].0..pair[1].0, rows: pair[0].1..pair[1].1 })
    }

    /// Returns the pieces in runs, one per task. Pieces are consecutive within a run, and from one run to the next.
    pub(super) fn runs(&self) -> Vec<Vec<RecordRange>> {
        runs_of(&self.pieces().collect::<Vec<_>>())
    }
}

/// Divides consecutive pieces into runs, one per task.
pub(super) fn runs_of(pieces: &[RecordRange]) -> Vec<Vec<RecordRange>> {
    let [first, ..] = pieces else { return Vec::new() };
    let end = pieces.last().unwrap_or(first).bytes.end;
    let bytes = usize::try_from(end - first.bytes.start).unwrap_or(usize::MAX);
    let tasks = parallel::task_count(bytes.saturating_mul(WEIGHT)).max(1);
    pieces.chunks(pieces.len().div_ceil(tasks).max(1)).map(<[RecordRange]>::to_vec).collect()
}

/// The state of a scan.
struct Walker<'a> {
    syntax: &'a Syntax,
    input: &'a Input,
    step: usize,
    /// Position of the next record, and the number of records before it.
    record: u64,
    rows: usize,
    failure: Option<Failure>,
}

impl Walker<'_> {
    /// Advances to a position, past `rows` records.
    fn skip(&mut self, place: u64, rows: usize) {
        (self.record, self.rows) = (place, self.rows + rows);
    }

    /// Advances record by record until the next one begins at or after a position, or is too long.
    fn walk(&mut self, until: u64) -> Result<()> {
        if self.record < until && self.failure.is_none() {
            let Walked { place, rows, failure } = walk(self.syntax, self.input, self.record, until, self.step)?;
            self.skip(place, rows);
            self.failure = failure;
        }
        Ok(())
    }
}

/// The result of scanning a piece of a file.
struct Seen {
    bytes: Range<u64>,
    /// Its line feeds, if it is plain.
    lines: Option<LineFeeds>,
    /// Its records, if it is not plain and they could be guessed.
    records: Option<Records>,
}

/// The records that begin in a piece.
struct Records {
    count: usize,
    /// The positions of the first of them and of the record after the last.
    first: u64,
    next: u64,
}

struct LineFeeds {
    count: usize,
    /// The positions after the first and the last of them; both 0 if there are none.
    first: u64,
    last: u64,
}

/// Scans all pieces, several in parallel.
fn look(syntax: &Syntax, input: &Input, start: u64, step: usize) -> Result<Vec<Seen>> {
    let length = input.len();
    let count = (length - start).div_ceil(step as u64);
    let bytes = usize::try_from(length - start).unwrap_or(usize::MAX);
    let tasks = parallel::task_count(bytes).max(1) as u64;
    let per_task = count.div_ceil(tasks).max(1);
    let runs: Vec<Range<u64>> =
        (0..tasks).map(|task| (task * per_task).min(count)..((task + 1) * per_task).min(count)).collect();
    let seen = parallel::map(runs, |run| -> Result<_> {
        let (mut seen, mut buffer) = (Vec::new(), Vec::new());
        let pieces = (run.end - run.start) as usize;
        let needed = pieces.saturating_mul(size_of::<Seen>());
        seen.try_reserve_exact(pieces).map_err(|_| Error::out_of_memory(needed))?;
        for index in run {
            let piece = start + index * step as u64..length.min(start + (index + 1) * step as u64);
            // The two bytes before the piece and the one after it show whether the lines at its ends are blank. The
            // last record of the piece ends after it.
            let window = piece.start.saturating_sub(2).max(start)..length.min(piece.end + RECORD_REST);
            let bytes = input.read(window.clone(), &mut buffer)?;
            let inner = (piece.start - window.start) as usize..(piece.end - window.start) as usize;
            let lines = count_lines(syntax, bytes, inner.clone(), piece.start, window.start == start);
            let window = Window { bytes, place: window.start, is_end: window.end == length };
            let records = if lines.is_none() { guess_records(syntax, &window, inner) } else { None };
            seen.push(Seen { bytes: piece, lines, records });
        }
        Ok(seen)
    });
    let mut all = Vec::new();
    for part in seen {
        all.append(&mut part?);
    }
    Ok(all)
}

/// Bytes of a file around a piece, and their position.
struct Window<'a> {
    bytes: &'a [u8],
    place: u64,
    /// Whether the file ends with the window.
    is_end: bool,
}

/// Traverses the records that begin in a piece, `inner` of the window, if its first line feed ends a record. Returns
/// `None` if no record begins in it, or the last one does not end in the window, or one is too long.
fn guess_records(syntax: &Syntax, window: &Window<'_>, inner: Range<usize>) -> Option<Records> {
    let bytes = window.bytes;
    let mut at = match inner.start.checked_sub(1) {
        Some(before) => before + 1 + memchr::memchr(b'\n', &bytes[before..inner.end])?,
        None => 0, // the first piece, since others have bytes before them
    };
    let (mut first, mut count) = (None, 0);
    loop {
        let start = syntax.skip_blank(bytes, at);
        let is_past = start == bytes.len() && !window.is_end; // perhaps in a comment
        if is_past || start - at > syntax.most_bytes {
            return None;
        }
        if start >= inner.end {
            return Some(Records { count, first: first?, next: window.place + start as u64 });
        }
        let end = syntax.record_end(bytes, start, window.is_end)?;
        if end - start > syntax.most_bytes {
            return None;
        }
        first.get_or_insert(window.place + start as u64);
        (at, count) = (end, count + 1);
    }
}

/// Counts the line feeds of a piece, if it is plain. `is_start`: the window begins where the records begin, so that a
/// line feed there would end a blank line.
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
            None => is_start || spaces > 0, // the line may be blank, in a window that begins later
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
