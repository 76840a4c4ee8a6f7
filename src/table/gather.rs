//! Rows of dense values in another order: the loops, and how they are split into tasks.
//!
//! A request is a list of row numbers, or a flag for each row. A *lane* is a run of memory with the same number of
//! values per row: all columns of a row-major table, or one column. Listed rows are in any order, so a lane is copied
//! before the next one begins: a column stays in the cache. Flagged rows ascend, and are copied part by part. Flags are
//! read once, when they are counted: from then on, each is a bit.
//! Invariant: the result does not depend on how the work is split.

use std::ops::Range;

use crate::array::{Array, Filling, MASK_ROWS, NewArray, mask_words};
use crate::base::element::{ElementType, match_width};
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::convert::level::Level;
use crate::window::AnySlice;

/// The requested rows.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'r> {
    /// The rows with these numbers, in this order.
    Listed(&'r [usize]),
    /// Like `Listed`, in half of the memory.
    Short(&'r [u32]),
    /// The rows whose flag is set.
    Flagged(&'r [bool]),
}

/// A part of the requested rows.
pub(super) struct Part<'r> {
    rows: Rows<'r>,
    /// The number of requested rows.
    pub(super) count: usize,
}

enum Rows<'r> {
    Listed(&'r [usize]),
    Short(&'r [u32]),
    /// Of the given rows, those whose bit is set. The lowest bit of the first word is that of the first row.
    Masked(Range<usize>, Array<u64>),
}

/// The requested rows, in parts.
pub(super) struct Chosen<'r> {
    pub(super) parts: Vec<Part<'r>>,
    pub(super) count: usize,
}

impl<'r> Chosen<'r> {
    /// Splits a request for rows of the given size into parts, and counts the rows.
    pub(super) fn new(wanted: Wanted<'r>, row_bytes: usize) -> Result<Self> {
        let bytes = |rows: usize| rows.saturating_mul(row_bytes.saturating_mul(2).saturating_add(size_of::<usize>()));
        let parts = match wanted {
            Wanted::Listed(rows) => listed(rows, parallel::task_count(bytes(rows.len())), Rows::Listed),
            Wanted::Short(rows) => listed(rows, parallel::task_count(bytes(rows.len())), Rows::Short),
            Wanted::Flagged(flags) => masked(flags, parallel::task_count(bytes(flags.len())))?,
        };
        let count = parts.iter().map(|part| part.count).sum();
        Ok(Self { parts, count })
    }

    /// Copies the requested rows of every lane. Each lane must have room for all of them.
    ///
    /// # Errors
    /// The number of a row that a lane does not have.
    pub(super) fn gather(&self, lanes: Vec<Lane<'_>>) -> Result<(), usize> {
        if lanes.len() > 1
            && let Some(short) = self.short()
        {
            // The list is read once for each lane.
            let parts = self.parts.len();
            let parts = listed(&short, parts, Rows::Short);
            return Chosen { parts, count: self.count }.gather_each(lanes);
        }
        self.gather_each(lanes)
    }

    fn gather_each(&self, lanes: Vec<Lane<'_>>) -> Result<(), usize> {
        let is_masked = self.parts.iter().any(|part| matches!(part.rows, Rows::Masked(..)));
        let tasks = match is_masked {
            true => self.cut(lanes),
            false => lanes.into_iter().flat_map(|lane| self.cut(vec![lane])).collect(),
        };
        parallel::map(tasks, |(part, mut lanes)| part.copy(&mut lanes)).into_iter().collect()
    }

    /// Returns the listed rows in half of the memory, if it can be allocated. A row whose number does not fit does not
    /// exist.
    fn short(&self) -> Option<Vec<u32>> {
        let mut short = Vec::new();
        short.try_reserve_exact(self.count).ok()?;
        for part in &self.parts {
            let Rows::Listed(rows) = part.rows else { return None };
            for &row in rows {
                short.push(u32::try_from(row).ok()?);
            }
        }
        Some(short)
    }

    /// Calls `work` with the numbers of the rows, in order, as ranges of consecutive ones.
    pub(super) fn try_for_each_run<E>(&self, mut work: impl FnMut(Range<usize>) -> Result<(), E>) -> Result<(), E> {
        self.parts.iter().try_for_each(|part| part.try_for_each_run(&mut work))
    }

    /// Returns the parts, each with the part of the lanes that receives its rows.
    fn cut<'l, 't>(&'l self, mut lanes: Vec<Lane<'t>>) -> Vec<(&'l Part<'r>, Vec<Lane<'t>>)> {
        let cut = |part: &'l Part<'r>| {
            let here = lanes.iter_mut().map(|lane| lane.take(part.count)).collect();
            (part, here)
        };
        self.parts.iter().map(cut).collect()
    }
}

/// Splits a list of rows into approximately the given number of parts.
fn listed<'r, N>(rows: &'r [N], parts: usize, of: impl Fn(&'r [N]) -> Rows<'r>) -> Vec<Part<'r>> {
    let parts = parallel::cut(rows, rows.len(), parts, |rows, count| rows.split_at(count));
    parts.into_iter().map(|rows| Part { rows: of(rows), count: rows.len() }).collect()
}

/// Reads flags, a row each, in approximately the given number of parts. Every part but the last one has entire words.
fn masked<'r>(flags: &[bool], parts: usize) -> Result<Vec<Part<'r>>> {
    let mut words = NewArray::new(ElementType::U64, mask_words(flags.len()))?;
    let rest = (0, flags, words.filling::<u64>());
    let parts = parallel::cut(rest, flags.len(), parts, |(first, flags, mut words), count| {
        let (head, tail) = flags.split_at(count);
        let here = words.take(mask_words(count));
        ((first, head, here), (first + count, tail, words))
    });
    let vectors = Level::chosen().vectors();
    let counts = parallel::map(parts, |(first, flags, mut words)| {
        let count = words.add_mask(flags, vectors);
        (first..first + flags.len(), count)
    });
    let words = words.finish().downcast::<u64>();
    let words = words.map_err(|other| Error::element_type_mismatch(ElementType::U64, other.element_type()))?;
    let part = |(rows, count): (Range<usize>, usize)| {
        let first = rows.start / MASK_ROWS;
        let words = words.part(first..first + mask_words(rows.len()));
        Part { rows: Rows::Masked(rows, words), count }
    };
    Ok(counts.into_iter().map(part).collect())
}

impl Part<'_> {
    /// Calls `work` with the numbers of the rows, in order, as ranges of consecutive ones.
    pub(super) fn try_for_each_run<E>(&self, mut work: impl FnMut(Range<usize>) -> Result<(), E>) -> Result<(), E> {
        let mut run = 0..0;
        let mut add = |rows: Range<usize>| {
            if rows.start == run.end && !run.is_empty() {
                run.end = rows.end;
                return Ok(());
            }
            let done = std::mem::replace(&mut run, rows);
            if done.is_empty() { Ok(()) } else { work(done) }
        };
        match &self.rows {
            Rows::Listed(rows) => rows.iter().try_for_each(|&row| add(row..row + 1))?,
            Rows::Short(rows) => rows.iter().try_for_each(|&row| add(row as usize..row as usize + 1))?,
            Rows::Masked(rows, words) => {
                for (first, &word) in rows.clone().step_by(MASK_ROWS).zip(&words[..]) {
                    let mut bits = word;
                    while bits != 0 {
                        let start = bits.trailing_zeros();
                        let end = start + (bits >> start).trailing_ones();
                        bits &= u64::MAX.checked_shl(end).unwrap_or(0);
                        add(first + start as usize..first + end as usize)?;
                    }
                }
            }
        }
        if run.is_empty() { Ok(()) } else { work(run) }
    }

    fn copy(&self, lanes: &mut [Lane<'_>]) -> Result<(), usize> {
        match &self.rows {
            Rows::Listed(rows) => lanes.iter_mut().try_for_each(|lane| lane.copy(rows.iter().copied())),
            Rows::Short(rows) => lanes.iter_mut().try_for_each(|lane| lane.copy(rows.iter().map(|&row| row as usize))),
            Rows::Masked(rows, words) => lanes.iter_mut().try_for_each(|lane| lane.copy_masked(rows, words)),
        }
    }
}

/// A run of memory with the same number of values per row, and the target of the requested rows.
pub(super) enum Lane<'s> {
    One(Values<'s, u8>),
    Two(Values<'s, u16>),
    Four(Values<'s, u32>),
    Eight(Values<'s, u64>),
}

/// The values of a lane, as integers of their width.
pub(super) struct Values<'s, B> {
    from: &'s [B],
    to: Filling<'s, B>,
    columns: usize,
}

macro_rules! each {
    ($lane:expr, $values:ident => $body:expr) => {
        match $lane {
            Lane::One($values) => $body,
            Lane::Two($values) => $body,
            Lane::Four($values) => $body,
            Lane::Eight($values) => $body,
        }
    };
}

macro_rules! lanes {
    ($($Lane:ident $Bits:ty)*) => {$(
        impl<'s> From<Values<'s, $Bits>> for Lane<'s> {
            fn from(values: Values<'s, $Bits>) -> Self {
                Self::$Lane(values)
            }
        }
    )*};
}
lanes!(One u8 Two u16 Four u32 Eight u64);

impl<'s> Lane<'s> {
    /// Creates the lanes of values of one type, from slices with the given number of values per row, to a new array:
    /// `rows` rows from each slice, one slice after the other. Panics if the widths differ: the callers ensure that
    /// they do not.
    pub(super) fn of(from: Vec<AnySlice<'s>>, to: &'s mut NewArray, rows: usize, columns: usize) -> Vec<Self> {
        match_width!(to.element_type(), B => {
            let mut room = to.filling::<B>();
            let lane = |from: AnySlice<'s>| Values { from: from.bits::<B>(), to: room.take(rows * columns), columns };
            from.into_iter().map(lane).map(Self::from).collect()
        })
    }

    /// Splits off a lane with room for the given number of rows. `self` keeps the rest of the room.
    fn take(&mut self, rows: usize) -> Self {
        each!(self, values => {
            let to = values.to.take(rows * values.columns);
            Values { from: values.from, to, columns: values.columns }.into()
        })
    }

    /// Copies those of the given rows whose bit is set.
    fn copy_masked(&mut self, rows: &Range<usize>, words: &[u64]) -> Result<(), usize> {
        each!(self, values => {
            let columns = values.columns;
            let from = values.from.get(rows.start * columns..rows.end * columns).ok_or(rows.start)?;
            values.to.add_masked(from, columns, words, Level::chosen().vectors());
            Ok(())
        })
    }

    /// Copies rows to the next places.
    #[inline]
    fn copy(&mut self, rows: impl Iterator<Item = usize> + Clone) -> Result<(), usize> {
        each!(self, values => values.to.add_rows(values.from, values.columns, rows))
    }
}
