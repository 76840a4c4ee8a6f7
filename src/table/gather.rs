//! Rows of dense values in another order: the loops, and how they are cut into tasks.
//!
//! What is wanted is a list of row numbers, or a flag for each row. A *lane* is a run of memory with as many values for
//! every row: all columns of a row-major table, or one column. Listed rows may lie anywhere, so that a lane is copied
//! before the next one is begun: a column stays in the cache. Flagged rows ascend, so that all lanes are copied side by
//! side, and their positions are looked for once.
//! Invariant: the result does not depend on how the work is cut.

use std::ops::Range;

use crate::base::element::match_width;
use crate::base::parallel;
use crate::window::{AnySlice, AnySliceMut, Bits};

/// The number of flags that are turned into masks at a time: a multiple of eight.
const BATCH: usize = 4096;

/// For each mask of eight flags, the positions of those that are set, ascending.
static POSITIONS: [[u8; 8]; 256] = {
    let (mut all, mut mask) = ([[0; 8]; 256], 0);
    while mask < 256 {
        let (mut position, mut count) = (0, 0);
        while position < 8 {
            if mask >> position & 1 == 1 {
                all[mask][count] = position;
                count += 1;
            }
            position += 1;
        }
        mask += 1;
    }
    all
};

/// Which rows are wanted.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'r> {
    /// Those with these numbers, in this order.
    Listed(&'r [usize]),
    /// The same, in half of the memory.
    Short(&'r [u32]),
    /// Those whose flag is set.
    Flagged(&'r [bool]),
}

/// Some of what is wanted.
pub(super) struct Part<'r> {
    wanted: Wanted<'r>,
    /// The row of the first flag.
    first: usize,
    /// The number of rows that are wanted.
    pub(super) count: usize,
}

/// What is wanted, in parts.
pub(super) struct Chosen<'r> {
    pub(super) parts: Vec<Part<'r>>,
    pub(super) count: usize,
}

impl<'r> Chosen<'r> {
    /// Cuts what is wanted of rows of so many bytes into parts, and counts.
    pub(super) fn new(wanted: Wanted<'r>, row_bytes: usize) -> Self {
        let bytes = |rows: usize| rows.saturating_mul(row_bytes.saturating_mul(2).saturating_add(size_of::<usize>()));
        let parts = match wanted {
            Wanted::Listed(rows) => listed(rows, parallel::task_count(bytes(rows.len())), Wanted::Listed),
            Wanted::Short(rows) => listed(rows, parallel::task_count(bytes(rows.len())), Wanted::Short),
            Wanted::Flagged(flags) => {
                let tasks = parallel::task_count(bytes(flags.len()));
                let parts = parallel::cut((0, flags), flags.len(), tasks, |(first, flags), count| {
                    let (head, tail) = flags.split_at(count);
                    ((first, head), (first + count, tail))
                });
                parallel::map(parts, |(first, flags)| {
                    let count = flags
                        .chunks(64)
                        .map(|flags| usize::from(flags.iter().map(|&flag| u8::from(flag)).sum::<u8>()))
                        .sum();
                    Part { wanted: Wanted::Flagged(flags), first, count }
                })
            }
        };
        let count = parts.iter().map(|part| part.count).sum();
        Self { parts, count }
    }

    /// Copies rows of every lane, which has room for all that is wanted.
    ///
    /// # Errors
    /// A row that a lane does not have.
    pub(super) fn gather(&self, lanes: Vec<Lane<'_>>) -> Result<(), usize> {
        if lanes.len() > 1
            && let Some(short) = self.short()
        {
            // The list is read once for each lane.
            let parts = self.parts.len();
            let parts = listed(&short, parts, Wanted::Short);
            return Chosen { parts, count: self.count }.gather_each(lanes);
        }
        self.gather_each(lanes)
    }

    fn gather_each(&self, lanes: Vec<Lane<'_>>) -> Result<(), usize> {
        let is_flagged = self.parts.iter().any(|part| matches!(part.wanted, Wanted::Flagged(_)));
        let tasks = match is_flagged {
            true => self.cut(lanes),
            false => lanes.into_iter().flat_map(|lane| self.cut(vec![lane])).collect(),
        };
        parallel::map(tasks, |(part, mut lanes)| part.copy(&mut lanes)).into_iter().collect()
    }

    /// Returns the listed rows in half of the memory, if there is some: a row that has no short number does not exist.
    fn short(&self) -> Option<Vec<u32>> {
        let mut short = Vec::new();
        short.try_reserve_exact(self.count).ok()?;
        for part in &self.parts {
            let Wanted::Listed(rows) = part.wanted else { return None };
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

    /// Returns the parts, each with the part of the lanes that it is copied to.
    fn cut<'l, 't>(&'l self, mut lanes: Vec<Lane<'t>>) -> Vec<(&'l Part<'r>, Vec<Lane<'t>>)> {
        let cut = |part: &'l Part<'r>| {
            let here = lanes.iter_mut().map(|lane| lane.take(part.count)).collect();
            (part, here)
        };
        self.parts.iter().map(cut).collect()
    }
}

/// Cuts a list of rows into about so many parts.
fn listed<'r, N>(rows: &'r [N], parts: usize, wanted: impl Fn(&'r [N]) -> Wanted<'r>) -> Vec<Part<'r>> {
    let parts = parallel::cut(rows, rows.len(), parts, |rows, count| rows.split_at(count));
    parts.into_iter().map(|rows| Part { wanted: wanted(rows), first: 0, count: rows.len() }).collect()
}

impl Part<'_> {
    /// Calls `work` with the numbers of the rows, in order, as ranges of consecutive ones.
    pub(super) fn try_for_each_run<E>(&self, mut work: impl FnMut(Range<usize>) -> Result<(), E>) -> Result<(), E> {
        let mut run = 0..0;
        let mut add = |row: usize| {
            if row == run.end && !run.is_empty() {
                run.end += 1;
                return Ok(());
            }
            let done = std::mem::replace(&mut run, row..row + 1);
            if done.is_empty() { Ok(()) } else { work(done) }
        };
        match self.wanted {
            Wanted::Listed(rows) => rows.iter().try_for_each(|&row| add(row))?,
            Wanted::Short(rows) => rows.iter().try_for_each(|&row| add(row as usize))?,
            Wanted::Flagged(flags) => {
                let flagged = flags.iter().enumerate().filter(|(_, is_wanted)| **is_wanted);
                flagged.map(|(row, _)| self.first + row).try_for_each(add)?;
            }
        }
        if run.is_empty() { Ok(()) } else { work(run) }
    }

    fn copy(&self, lanes: &mut [Lane<'_>]) -> Result<(), usize> {
        match self.wanted {
            Wanted::Listed(rows) => {
                lanes.iter_mut().try_for_each(|lane| lane.copy(0, rows.iter().copied(), rows.len()))
            }
            Wanted::Short(rows) => {
                let rows_of = || rows.iter().map(|&row| row as usize);
                lanes.iter_mut().try_for_each(|lane| lane.copy(0, rows_of(), rows.len()))
            }
            Wanted::Flagged(flags) => self.copy_flagged(flags, lanes),
        }
    }

    fn copy_flagged(&self, flags: &[bool], lanes: &mut [Lane<'_>]) -> Result<(), usize> {
        let (mut masks, mut positions, mut done) = ([0; BATCH / 8], [0; BATCH + 8], 0);
        for (index, flags) in flags.chunks(BATCH).enumerate() {
            let (first, mut count) = (self.first + index * BATCH, 0);
            for (at, (mask, flags)) in masks.iter_mut().zip(flags.chunks(8)).enumerate() {
                *mask = mask_of(flags);
                // As many as there can be: the next ones go where those end that are set.
                if let Some(room) = positions.get_mut(count..).and_then(<[u16]>::first_chunk_mut) {
                    *room = POSITIONS[usize::from(*mask)].map(|position| (at * 8) as u16 + u16::from(position));
                }
                count += mask.count_ones() as usize;
            }
            for lane in &mut *lanes {
                match lane.is_column() {
                    _ if count == flags.len() => lane.copy_run(done, first, count)?,
                    true if flags.len() == BATCH => lane.compress(done, first, &masks)?,
                    _ => lane.copy(done, positions[..count].iter().map(|&at| first + usize::from(at)), count)?,
                }
            }
            done += count;
        }
        Ok(())
    }
}

/// Returns at most eight flags as bits.
#[inline]
fn mask_of(flags: &[bool]) -> u8 {
    match bytemuck::cast_slice::<bool, u8>(flags).first_chunk() {
        // A flag is the lowest bit of its byte; the product has that of byte `i` at bit `56 + i`, and carries nothing.
        Some(&bytes) => (u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8,
        None => flags.iter().rev().fold(0, |mask, &flag| mask << 1 | u8::from(flag)),
    }
}

/// A run of memory with as many values for every row, and where wanted rows of it are copied to.
pub(super) enum Lane<'s> {
    One(Values<'s, u8>),
    Two(Values<'s, u16>),
    Four(Values<'s, u32>),
    Eight(Values<'s, u64>),
}

/// The values of a lane, as integers of their width.
pub(super) struct Values<'s, B> {
    from: &'s [B],
    to: &'s mut [B],
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
    /// Creates the lane of values of one type, so many for every row. Panics if the types differ: callers know them.
    pub(super) fn new(from: AnySlice<'s>, to: AnySliceMut<'s>, columns: usize) -> Self {
        match_width!(from.element_type(), B => Values { from: from.bits::<B>(), to: to.into_bits::<B>(), columns }.into())
    }

    /// Returns the lane with room for so many rows only, and leaves the rest of the room.
    fn take(&mut self, rows: usize) -> Self {
        each!(self, values => {
            let (head, tail) = std::mem::take(&mut values.to).split_at_mut(rows * values.columns);
            values.to = tail;
            Values { from: values.from, to: head, columns: values.columns }.into()
        })
    }

    fn is_column(&self) -> bool {
        each!(self, values => values.columns == 1)
    }

    /// Copies the values of a column from a row on whose flags are set, a mask for eight rows.
    fn compress(&mut self, at: usize, first: usize, masks: &[u8]) -> Result<(), usize> {
        each!(self, values => values.compress(at, first, masks))
    }

    /// Copies rows to the room from a row on.
    #[inline]
    fn copy(&mut self, at: usize, rows: impl Iterator<Item = usize>, count: usize) -> Result<(), usize> {
        each!(self, values => values.copy(at, rows, count))
    }

    /// Copies consecutive rows to the room from a row on.
    fn copy_run(&mut self, at: usize, first: usize, count: usize) -> Result<(), usize> {
        each!(self, values => {
            let (from, to) = (values.from, &mut values.to[at * values.columns..(at + count) * values.columns]);
            to.copy_from_slice(from.get(first * values.columns..(first + count) * values.columns).ok_or(first)?);
            Ok(())
        })
    }
}

impl<B: Bits> Values<'_, B> {
    #[inline]
    fn copy(&mut self, at: usize, rows: impl Iterator<Item = usize>, count: usize) -> Result<(), usize> {
        let (from, columns) = (self.from, self.columns);
        let to = &mut self.to[at * columns..(at + count) * columns];
        match columns {
            1 => copy_rows::<B, 1>(from, rows, to),
            2 => copy_rows::<B, 2>(from, rows, to),
            3 => copy_rows::<B, 3>(from, rows, to),
            4 => copy_rows::<B, 4>(from, rows, to),
            8 => copy_rows::<B, 8>(from, rows, to),
            16 => copy_rows::<B, 16>(from, rows, to),
            _ => {
                for (row, to) in rows.zip(to.chunks_exact_mut(columns.max(1))) {
                    let start = row.checked_mul(columns).ok_or(row)?;
                    to.copy_from_slice(from.get(start..).and_then(|from| from.get(..columns)).ok_or(row)?);
                }
                Ok(())
            }
        }
    }

    fn compress(&mut self, mut at: usize, first: usize, masks: &[u8]) -> Result<(), usize> {
        let from = self.from.get(first..).and_then(|from| from.get(..masks.len() * 8)).ok_or(first)?;
        for (from, &mask) in from.as_chunks::<8>().0.iter().zip(masks) {
            let (positions, count) = (&POSITIONS[usize::from(mask)], mask.count_ones() as usize);
            let value = |position: u8| from[usize::from(position % 8)];
            match self.to.get_mut(at..).and_then(<[B]>::first_chunk_mut) {
                // What is written too much is written over by what follows.
                Some(room) => *room = positions.map(value),
                None => {
                    let room = self.to[at..].iter_mut().zip(positions).take(count);
                    room.for_each(|(to, &position)| *to = value(position));
                }
            }
            at += count;
        }
        Ok(())
    }
}

/// Copies rows of so many values each.
fn copy_rows<B: Bits, const COLUMNS: usize>(
    from: &[B],
    rows: impl Iterator<Item = usize>,
    to: &mut [B],
) -> Result<(), usize> {
    let (from, to) = (from.as_chunks::<COLUMNS>().0, to.as_chunks_mut::<COLUMNS>().0);
    for (row, to) in rows.zip(to) {
        *to = *from.get(row).ok_or(row)?;
    }
    Ok(())
}
