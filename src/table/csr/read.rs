//! Dense reading: regions of a sparse table in any element type.
//!
//! Rows are zeroed, and the stored values are written into them. For complete rows of another type, the stored values
//! are converted first, in batches, so that zeros are never converted; `groups` reads most of them. For some columns of
//! another type, the region is read in the stored type, tile by tile, and the tiles are converted.
//! Invariant: under a checking policy all stored values of the region are checked before any is written, unless the
//! target's old values may be lost. Zero fits every type.

use std::ops::Range;

use super::CsrNumericTable;
use super::columns::{ColumnIndex, Entry};
use super::index::{Index, Indices, match_checked_index};
use crate::base::element::{ElementType, match_width};
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, OldValues, Origin};
use crate::table::{Region, Target};
use crate::window::{AnyRows, AnySlice, AnySliceMut, AnyWindow, Bits, RowBits};

/// The number of rows whose offsets are read at a time.
pub(super) const BATCH: usize = 64;

/// The number of values that are converted at a time, and of cells in a tile.
pub(super) const TILE: usize = 1024;

/// The number of values for which a small buffer suffices: most often one row.
const FEW: usize = 64;

/// The number of bytes that are zeroed at a time, and then written: a part of a small first-level cache.
const ZEROED_BYTES: usize = 8 << 10;

/// The smallest number of rows that are read in groups. Fewer do not need a buffer for converted values.
const MIN_ROWS: usize = 8;

/// The longest row in which a column is found by comparing with all indices.
const SHORT_ROW: usize = 32;

/// Which cells of a table are stored.
#[derive(Clone, Copy)]
pub(super) struct Pattern<'t> {
    pub(super) offsets: Indices<'t>,
    pub(super) indices: AnySlice<'t>,
    /// The number of columns of the table.
    pub(super) columns: usize,
}

/// Which cells of a table are stored, and the values from position `first` on.
#[derive(Clone, Copy)]
pub(super) struct Cells<'t> {
    pub(super) pattern: Pattern<'t>,
    pub(super) values: AnySlice<'t>,
    pub(super) first: usize,
    /// The positions of each column's values, if they are known.
    pub(super) columns: Option<&'t ColumnIndex>,
}

/// A range of columns, in an index type. `None`: all indices of the type are below.
struct Bounds<I> {
    start: Option<I>,
    end: Option<I>,
    width: usize,
    is_whole: bool,
}

impl<I: Index> Bounds<I> {
    fn new(columns: &Range<usize>, column_count: usize) -> Self {
        let is_whole = *columns == (0..column_count);
        Self { start: I::of(columns.start), end: I::of(columns.end), width: columns.len(), is_whole }
    }

    /// Restricts the positions of a row to those of the columns.
    #[inline(always)]
    fn cut(&self, indices: &[I], positions: Range<usize>) -> Range<usize> {
        if self.is_whole {
            return positions;
        }
        let row = &indices[positions.clone()];
        let start = count_below(row, self.start);
        let rest = &row[start..];
        let count = match self.width {
            1 => usize::from(self.start.is_some() && rest.first().copied() == self.start),
            _ => count_below(rest, self.end),
        };
        positions.start + start..positions.start + start + count
    }
}

/// Returns the number of ascending indices below a limit.
#[inline(always)]
fn count_below<I: Index>(row: &[I], limit: Option<I>) -> usize {
    match limit {
        None => row.len(),
        Some(limit) if row.len() <= SHORT_ROW => {
            row.iter().map(|&index| u32::from(index < limit)).sum::<u32>() as usize
        }
        Some(limit) => row.partition_point(|&index| index < limit),
    }
}

impl Pattern<'_> {
    /// Returns whether a region consists of complete rows.
    fn is_whole(&self, region: &Region) -> bool {
        region.columns == (0..self.columns)
    }

    /// Returns the positions of all values of a range of rows.
    #[inline]
    pub(super) fn positions(&self, rows: &Range<usize>) -> Range<usize> {
        self.offsets.at(rows.start)..self.offsets.at(rows.end)
    }

    /// Converts an error for one of the values from position `first` on into the error for its cell.
    pub(super) fn placed(&self, error: Error, first: usize) -> Error {
        error.with_value_at(|index, _| {
            let position = first + index;
            (self.row_of(position), Indices::new(self.indices, 0).at(position))
        })
    }

    /// Returns the row of a stored value.
    pub(super) fn row_of(&self, position: usize) -> usize {
        let (mut low, mut high) = (0, self.offsets.len() - 1);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if self.offsets.at(middle) <= position { low = middle } else { high = middle }
        }
        low
    }

    /// Returns the number of tasks for work on the values of a range of rows and on `bytes` other bytes, if each value
    /// has `size`.
    pub(super) fn task_count(&self, rows: &Range<usize>, size: usize, bytes: usize) -> usize {
        let size = size + self.indices.element_type().size_in_bytes();
        parallel::task_count(bytes.saturating_add(self.positions(rows).len().saturating_mul(size)))
    }

    /// Calls `work` with each row of a region, counted from its first one, its column indices in the region, and the
    /// positions of their values.
    #[inline(always)]
    pub(super) fn for_each_row<I: Index + Bits>(
        &self,
        region: &Region,
        mut work: impl FnMut(usize, &[I], Range<usize>),
    ) {
        let indices = self.indices.bits::<I>();
        let bounds = Bounds::new(&region.columns, self.columns);
        let (mut few, mut many) = ([0; 2], None);
        let buffer = match region.rows.len() {
            0 | 1 => &mut few[..],
            _ => many.insert([0; BATCH + 1]),
        };
        for first in region.rows.clone().step_by(BATCH) {
            let count = BATCH.min(region.rows.end - first);
            let ends = self.offsets.copy_to(first, &mut buffer[..=count]);
            for (row, ends) in ends.windows(2).enumerate() {
                let positions = bounds.cut(indices, ends[0]..ends[1]);
                work(first - region.rows.start + row, &indices[positions.clone()], positions);
            }
        }
    }
}

impl<'t> Cells<'t> {
    pub(super) fn of(table: &'t CsrNumericTable) -> Self {
        Self { pattern: table.pattern(), values: table.values.as_slice(), first: 0, columns: Some(&table.columns) }
    }

    pub(super) fn values_at(&self, positions: Range<usize>) -> AnySlice<'t> {
        self.values.range(positions.start - self.first..positions.end - self.first)
    }

    /// Reads a region in the stored type into rows of its shape.
    pub(super) fn read_stored(&self, region: &Region, target: AnyRows<'_>) {
        match_width!(self.values.element_type(), B => match_checked_index!(self.pattern.indices.element_type(), I => {
            if region.columns.len() == 1 && region.rows.len() > 1 {
                return match self.columns.and_then(|index| index.entries(region.columns.start, &region.rows)) {
                    Some(entries) => self.read_entries::<B>(entries, region.rows.start, target),
                    None => self.read_stored_column::<I, B>(region, target),
                };
            }
            let (values, mut target) = (self.values.bits::<B>(), ZeroedRows::new(target));
            self.pattern.for_each_row::<I>(region, |row, indices, positions| {
                let values = &values[positions.start - self.first..positions.end - self.first];
                put(&mut target.row::<B>(row), indices, values, region.columns.start);
            });
        }, else ()))
    }

    /// Reads one column in the stored type. Finds the positions of the values first, so that the values, scattered in
    /// memory, are fetched together: that is twice as fast.
    fn read_stored_column<I: Index + Bits, B: Bits>(&self, region: &Region, mut target: AnyRows<'_>) {
        let (values, indices) = (self.values.bits::<B>(), self.pattern.indices.bits::<I>());
        target.zero_rows(0..region.rows.len());
        let Some(column) = I::of(region.columns.start) else { return }; // no index is as large
        let (mut buffer, mut found) = ([0; BATCH + 1], [(0, 0); BATCH]);
        for first in region.rows.clone().step_by(BATCH) {
            let last = BATCH.min(region.rows.end - first);
            let ends = self.pattern.offsets.copy_to(first, &mut buffer[..=last]);
            let mut count = 0;
            for (row, ends) in ends.windows(2).enumerate() {
                let row_indices = &indices[ends[0]..ends[1]];
                let place = count_below(row_indices, Some(column));
                found[count] = (first - region.rows.start + row, ends[0] + place);
                count += usize::from(row_indices.get(place) == Some(&column));
            }
            for &(row, position) in &found[..count] {
                target.row_bits::<B>(row).put(0, values[position - self.first]);
            }
        }
    }

    /// Reads one column, whose stored values are listed: `first` is the row of the region's first value.
    fn read_entries<B: Bits>(&self, entries: &[Entry], first: usize, mut target: AnyRows<'_>) {
        /// The number of rows that are zeroed and written at a time, so that they are in the first-level cache.
        const ROWS: usize = 2048;
        let (values, count, mut rest) = (self.values.bits::<B>(), target.rows(), entries);
        for start in (0..count).step_by(ROWS) {
            let rows = start..count.min(start + ROWS);
            target.zero_rows(rows.clone());
            let (now, later) = rest.split_at(rest.partition_point(|&[row, _]| (row as usize) < first + rows.end));
            for &[row, position] in now {
                target.row_bits::<B>(row as usize - first).put(0, values[position as usize - self.first]);
            }
            rest = later;
        }
    }

    /// Reads complete rows in another type.
    fn read_converted(&self, region: &Region, target: AnyRows<'_>, policy: ConversionPolicy) -> Result<()> {
        match_width!(target.element_type(), B => match_checked_index!(self.pattern.indices.element_type(), I => {
            if self.pattern.positions(&region.rows).len() <= FEW {
                self.convert_rows::<I, B>(region, target, policy, &mut [B::default(); FEW])
            } else {
                self.convert_rows::<I, B>(region, target, policy, &mut [B::default(); TILE])
            }
        }, else Ok(())))
    }

    fn convert_rows<I: Index + Bits, B: Bits>(
        &self,
        region: &Region,
        target: AnyRows<'_>,
        policy: ConversionPolicy,
        buffer: &mut [B],
    ) -> Result<()> {
        let (element, last) = (target.element_type(), self.pattern.offsets.at(region.rows.end));
        let (mut converted, mut target, mut outcome) = (0..0, ZeroedRows::new(target), Ok(()));
        self.pattern.for_each_row::<I>(region, |row, indices, positions| {
            let mut room = target.row::<B>(row);
            let (first, mut at) = (positions.start, positions.start);
            while at < positions.end {
                if at >= converted.end {
                    converted = at..last.min(at + buffer.len());
                    let room = AnySliceMut::of_bits(&mut buffer[..converted.len()], element);
                    let read = kernel::read_over(column(self.values_at(converted.clone())), room, policy, HERE);
                    if let (Err(error), Ok(())) = (read, &outcome) {
                        outcome = Err(self.pattern.placed(error, at)); // the target's values are lost then
                    }
                }
                let end = positions.end.min(converted.end);
                let values = &buffer[at - converted.start..end - converted.start];
                put(&mut room, &indices[at - first..end - first], values, 0);
                at = end;
            }
        });
        outcome
    }

    /// Calls `work` for the tiles of a region in order, with the values of each in the stored type, row by row.
    fn for_each_tile(&self, region: &Region, work: &mut dyn FnMut(&Region, AnyWindow<'_>) -> Result<()>) -> Result<()> {
        let element = self.values.element_type();
        match_width!(element, B => {
            let mut buffer = [B::default(); TILE];
            tiles(region).try_for_each(|tile| work(&tile, self.read_tile(&tile, &mut buffer)))
        })
    }

    /// Reads a tile in the stored type into a buffer.
    pub(super) fn read_tile<'b, B: Bits>(&self, tile: &Region, buffer: &'b mut [B; TILE]) -> AnyWindow<'b> {
        let (element, shape) = (self.values.element_type(), tile.shape());
        let values = &mut buffer[..shape.rows * shape.columns];
        let room = AnySliceMut::of_bits(values, element).into_room();
        self.read_stored(tile, AnyRows::new(room, shape.rows, shape.columns));
        AnyWindow::of_rows(AnySlice::of_bits(values, element), shape.rows, shape.columns)
    }

    /// Checks that a policy permits all values of a region in a type.
    fn check(&self, region: &Region, target: ElementType, policy: ConversionPolicy) -> Result<()> {
        if self.pattern.is_whole(region) {
            let positions = self.pattern.positions(&region.rows);
            let check = kernel::check(column(self.values_at(positions.clone())), target, policy, HERE);
            return check.map_err(|error| self.pattern.placed(error, positions.start));
        }
        self.for_each_tile(region, &mut |tile, values| kernel::check(values, target, policy, tile.origin()))
    }

    /// Reads a region into rows of its shape, whose old values are lost.
    fn read(&self, region: &Region, mut target: AnyRows<'_>, policy: ConversionPolicy) -> Result<()> {
        let columns = target.columns();
        let is_narrow = columns <= TILE && columns * target.element_type().size_in_bytes() <= ZEROED_BYTES;
        if self.pattern.is_whole(region) && is_narrow && region.rows.len() >= MIN_ROWS && target.is_contiguous() {
            return match_width!(target.element_type(), B => {
                match_checked_index!(self.pattern.indices.element_type(), I => {
                    self.read_groups::<I, B>(region, target, policy)
                }, else Ok(()))
            });
        }
        if target.element_type() == self.values.element_type() {
            self.read_stored(region, target);
            return Ok(());
        }
        if self.pattern.is_whole(region) {
            return self.read_converted(region, target, policy);
        }
        self.for_each_tile(region, &mut |tile, values| {
            let Some(place) = region.place_of(tile) else { return Ok(()) }; // never: it is inside
            let target = target.cut(place.rows, place.columns);
            kernel::read_rows(values, target, policy, tile.origin(), OldValues::Lost)
        })
    }
}

/// Rows that are zeroed in batches before they are written. A batch is small enough to stay in the first-level cache.
struct ZeroedRows<'t> {
    rows: AnyRows<'t>,
    /// The number of rows that are zeroed at a time.
    step: usize,
    /// The number of rows that have been zeroed.
    zeroed: usize,
}

impl<'t> ZeroedRows<'t> {
    fn new(rows: AnyRows<'t>) -> Self {
        let row_bytes = rows.columns() * rows.element_type().size_in_bytes();
        Self { rows, step: (ZEROED_BYTES / row_bytes.max(1)).max(1), zeroed: 0 }
    }

    /// Borrows a row. The caller asks for rows in order.
    #[inline(always)]
    fn row<B: Bits>(&mut self, row: usize) -> RowBits<'_, B> {
        if row >= self.zeroed {
            let end = self.rows.rows().min(row + self.step);
            self.rows.zero_rows(row..end);
            self.zeroed = end;
        }
        self.rows.row_bits::<B>(row)
    }
}

/// The origin of values that are identified by their position alone.
pub(super) const HERE: Origin = Origin { row: 0, column: 0 };

/// Returns values as one column.
pub(super) fn column(values: AnySlice<'_>) -> AnyWindow<'_> {
    AnyWindow::of_rows(values, values.len(), 1)
}

/// Writes values of one row into it, from column `first` on.
#[inline(always)]
fn put<I: Index, B: Bits>(room: &mut RowBits<'_, B>, indices: &[I], values: &[B], first: usize) {
    for (&index, &value) in indices.iter().zip(values) {
        room.put(index.number() - first, value);
    }
}

/// Splits a region into tiles of at most [`TILE`] cells, in row-major order.
pub(super) fn tiles(region: &Region) -> impl Iterator<Item = Region> + use<> {
    let Region { rows, columns } = region.clone();
    let width = columns.len().clamp(1, TILE);
    let height = TILE / width;
    rows.clone().step_by(height).flat_map(move |row| {
        let (rows, end) = (row..rows.end.min(row + height), columns.end);
        columns
            .clone()
            .step_by(width)
            .map(move |column| Region { rows: rows.clone(), columns: column..end.min(column + width) })
    })
}

impl CsrNumericTable {
    /// Returns which cells are stored.
    #[inline]
    pub(super) fn pattern(&self) -> Pattern<'_> {
        Pattern { offsets: self.offsets(), indices: self.indices.as_slice(), columns: self.shape.columns }
    }

    /// Reads a region into a target.
    pub(super) fn read(&self, region: &Region, target: Target<'_>) -> Result<()> {
        target.check(region, self.shape)?;
        if region.shape().is_empty() {
            return Ok(());
        }
        let Target { values, mut policy, old } = target;
        let cells = Cells::of(self);
        if region.columns.len() == 1 && region.rows.len() > 1 {
            self.columns.note(&cells.pattern, region.rows.len());
        }
        let size = cells.values.element_type().size_in_bytes();
        let tasks = cells.pattern.task_count(&region.rows, size, values.size_in_bytes().saturating_mul(2));
        let element = values.element_type();
        if old == OldValues::Kept && policy != ConversionPolicy::Saturate {
            in_bands(region, tasks, |band| cells.check(&band, element, policy))?;
            policy = ConversionPolicy::Saturate;
        }
        if tasks == 1 {
            return cells.read(region, values, policy);
        }
        let bands = parallel::cut((region.clone(), values), region.rows.len(), tasks, |(region, values), rows| {
            let (first, rest) = region.split_at_row(region.rows.start + rows);
            let (head, tail) = values.split_at(true, rows);
            ((first, head), (rest, tail))
        });
        let outcomes = parallel::map(bands, |(band, values)| cells.read(&band, values, policy));
        outcomes.into_iter().fold(Ok(()), Result::and)
    }
}

/// Calls `work` with bands of a region, in parallel if there are several tasks. Returns the first error in the order of
/// rows.
pub(super) fn in_bands(region: &Region, tasks: usize, work: impl Fn(Region) -> Result<()> + Sync) -> Result<()> {
    if tasks == 1 {
        return work(region.clone());
    }
    let bands = parallel::cut(region.clone(), region.rows.len(), tasks, |region, rows| {
        region.split_at_row(region.rows.start + rows)
    });
    parallel::map(bands, work).into_iter().fold(Ok(()), Result::and)
}
