//! Dense writing into the stored cells. Any other cell must remain zero.
//!
//! A write is atomic, in two passes over tiles of the region. The first computes the new values of each tile, and
//! refuses values that the policy does not permit, and nonzero values where nothing is stored. The second stores the
//! tile.
//! A cell gets the value that it would get in a homogeneous table. So 0.3 in a table of integers, which is truncated to
//! zero, may be written anywhere, and -0.0 counts as zero.

use super::CsrNumericTable;
use super::index::{Index, Indices, match_checked_index};
use super::read::{Cells, Pattern, TILE, in_bands, tiles};
use crate::base::element::{match_element, match_width};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::value::AnyValue;
use crate::convert::kernel;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::table::{Region, tiling};
use crate::window::{AnySlice, AnySliceMut, AnyWindow, AnyWindowMut, Bits};

/// The update: row-major values of a region.
struct Update<'u> {
    cells: Cells<'u>,
    region: &'u Region,
    new: AnyWindow<'u>,
    rule: WriteRule,
}

/// Buffers for one tile: the old values, replaced by the new ones, and a flag for each stored cell.
struct Buffers<B> {
    values: [B; TILE],
    is_stored: [bool; TILE],
}

impl<B: Bits> Buffers<B> {
    fn new() -> Self {
        Self { values: [B::default(); TILE], is_stored: [false; TILE] }
    }
}

impl Update<'_> {
    fn new_values(&self, tile: &Region) -> AnyWindow<'_> {
        let place = self.region.place_of(tile).unwrap_or_default(); // tiles are inside
        self.new.cut(place.rows, place.columns)
    }

    /// Computes the new values of a tile, in the stored type. Values that the policy refuses are saturated.
    fn compute<B: Bits>(&self, tile: &Region, values: &mut [B; TILE]) {
        let (element, shape) = (self.cells.values.element_type(), tile.shape());
        self.cells.read_tile(tile, values);
        let window = AnySliceMut::of_bits(&mut values[..shape.rows * shape.columns], element);
        let window = AnyWindowMut::of_rows(window, shape.rows, shape.columns);
        kernel::write_checked(window, self.new_values(tile), self.rule);
    }

    /// Checks a tile.
    fn check_tile<B: Bits>(&self, tile: &Region, buffers: &mut Buffers<B>) -> Result<()> {
        let (element, width) = (self.cells.values.element_type(), tile.columns.len());
        let old = self.cells.read_tile(tile, &mut buffers.values);
        let permitted = kernel::check_write(old, self.new_values(tile), self.rule, tile.origin());
        self.compute(tile, &mut buffers.values);
        let count = tile.rows.len() * width;
        let is_stored = &mut buffers.is_stored[..count];
        is_stored.fill(false);
        self.cells.pattern.mark(tile, is_stored);
        let missing = first_missing(AnySlice::of_bits(&buffers.values[..count], element), is_stored);
        let missing = missing.map(|at| (tile.rows.start + at / width, tile.columns.start + at % width));
        let Some((row, column)) = missing else { return permitted };
        let is_earlier = match permitted.as_ref().map_err(Error::kind) {
            Ok(()) => true,
            Err(&ErrorKind::ValueNotRepresentable { row: at, column: beside, .. }) => (row, column) < (at, beside),
            Err(_) => false,
        };
        if is_earlier { Err(Error::new(ErrorKind::NotStored { row, column, value: None })) } else { permitted }
    }

    fn check(&self, band: &Region) -> Result<()> {
        match_width!(self.cells.values.element_type(), B => {
            let mut buffers = Buffers::<B>::new();
            tiles(band).try_for_each(|tile| self.check_tile(&tile, &mut buffers))
        })
    }
}

impl Pattern<'_> {
    /// Returns the first cell of a region that is not stored.
    fn first_missing(&self, region: &Region) -> Option<(usize, usize)> {
        let (columns, mut missing) = (region.columns.clone(), None);
        match_checked_index!(self.indices.element_type(), I => {
            self.for_each_row::<I>(region, |row, indices, _| {
                if missing.is_none() && indices.len() < columns.len() {
                    let is_there = |&(column, index): &(usize, &I)| index.number() == column;
                    let stored = columns.clone().zip(indices).take_while(is_there).count();
                    missing = Some((region.rows.start + row, columns.start + stored));
                }
            });
        }, else ());
        missing
    }

    /// Calls `work` with the place of each stored cell in a tile, row by row, and the position of its value.
    fn for_each_cell(&self, tile: &Region, mut work: impl FnMut(usize, usize)) {
        let (first, width) = (tile.columns.start, tile.columns.len());
        match_checked_index!(self.indices.element_type(), I => {
            self.for_each_row::<I>(tile, |row, indices, positions| {
                for (&index, position) in indices.iter().zip(positions) {
                    work(row * width + index.number() - first, position);
                }
            });
        }, else ());
    }

    /// Marks the stored cells of a tile.
    fn mark(&self, tile: &Region, is_stored: &mut [bool]) {
        self.for_each_cell(tile, |at, _| is_stored[at] = true);
    }

    /// Writes a value to all stored cells of a region. `value` has one element, of the stored type.
    fn fill(&self, region: &Region, stored: AnySliceMut<'_>, value: AnySlice<'_>) {
        match_width!(value.element_type(), B => {
            let (stored, value) = (stored.into_bits::<B>(), value.bits::<B>()[0]);
            match_checked_index!(self.indices.element_type(), I => {
                self.for_each_row::<I>(region, |_, _, positions| stored[positions].fill(value));
            }, else ());
        });
    }
}

/// Returns the index of the first value that is not zero and not stored.
fn first_missing(values: AnySlice<'_>, is_stored: &[bool]) -> Option<usize> {
    match_element!(values.element_type(), T => {
        let mut cells = values.as_slice::<T>().iter().zip(is_stored);
        cells.position(|(&value, &is_stored)| value != T::default() && !is_stored)
    })
}

impl CsrNumericTable {
    /// Writes one value to every cell of a region that lies inside, all or nothing, as [`write`](Self::write) does with
    /// an array of equal values, but without allocating it. O(rows + values).
    ///
    /// # Errors
    /// [`ErrorKind::ValueNotRepresentable`]; [`ErrorKind::NotStored`] for the first cell that would not remain zero.
    pub(crate) fn fill_stored(&mut self, region: &Region, value: AnyValue, policy: ConversionPolicy) -> Result<()> {
        region.check(self.shape)?;
        let (offsets, indices) = (Indices::new(self.offsets.as_slice(), 0), self.indices.as_slice());
        let pattern = Pattern { offsets, indices, columns: self.shape.columns };
        match_element!(self.values.element_type(), T => {
            let value = kernel::value_as::<T>(value, policy, region.origin())?;
            if value != T::default()
                && let Some((row, column)) = pattern.first_missing(region)
            {
                return Err(Error::new(ErrorKind::NotStored { row, column, value: None }));
            }
            pattern.fill(region, self.values.need_mutable_data()?, AnySlice::new(&[value]));
        });
        Ok(())
    }

    /// Writes a region, all or nothing.
    pub(super) fn write(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        region.check(self.shape)?;
        let new = tiling::new_values(region, values)?;
        if region.shape().is_empty() {
            return Ok(());
        }
        let update = Update { cells: Cells::of(self), region, new, rule };
        let bytes = new.size_in_bytes().saturating_mul(2);
        let size = update.cells.values.element_type().size_in_bytes();
        let tasks = update.cells.pattern.task_count(&region.rows, size, bytes);
        in_bands(region, tasks, |band| update.check(&band))?;
        let positions = update.cells.pattern.positions(&region.rows);
        if positions.is_empty() {
            return Ok(());
        }
        let (offsets, indices) = (Indices::new(self.offsets.as_slice(), 0), self.indices.as_slice());
        let pattern = Pattern { offsets, indices, columns: self.shape.columns };
        let stored = self.values.need_mutable_data()?;
        let element = stored.element_type();
        match_width!(element, B => {
            // Each task owns the values of its rows, and computes the new ones from them.
            let whole = (region.clone(), &mut stored.into_bits::<B>()[positions]);
            let bands = parallel::cut(whole, region.rows.len(), tasks, |(region, stored), rows| {
                let middle = region.rows.start + rows;
                let (head, tail) = stored.split_at_mut(offsets.at(middle) - offsets.at(region.rows.start));
                let (first, rest) = region.split_at_row(middle);
                ((first, head), (rest, tail))
            });
            parallel::map(bands, |(band, stored)| {
                let (mut buffer, first) = ([B::default(); TILE], offsets.at(band.rows.start));
                for tile in tiles(&band) {
                    let cells = Cells { pattern, values: AnySlice::of_bits(stored, element), first, columns: None };
                    Update { cells, region, new, rule }.compute(&tile, &mut buffer);
                    pattern.for_each_cell(&tile, |at, position| stored[position - first] = buffer[at]);
                }
            });
        });
        Ok(())
    }
}
