//! The parts in which a region of a packed matrix is read and written.

use std::ops::Range;

use super::packing::{Packing, SIDE, TILE, common};
use crate::base::range;
use crate::table::Region;

/// Shorter runs of contiguous values are copied into tiles with their neighbors.
const MIN_RUN: usize = 32;

/// Contiguous columns are copied into tiles with their neighbors if there are fewer, or if they have fewer rows.
const MIN_SQUARE: usize = 8;

/// The number of values of four bytes in a cache line.
const LINE: usize = 16;

/// The number of rows of columns that are read by one call: 512 bytes of each where elements have four bytes. Shorter
/// pieces of lines that are far from each other take longer to fetch, and share more cache lines with the next ones.
pub(super) const TALL: usize = 128;

/// A part of a region, processed by one call.
pub(super) enum Part {
    /// Cells of one row that are contiguous in the packed array.
    Run(Region),
    /// Cells of at most [`SIDE`] columns, each contiguous in the packed array: at most [`TILE`] cells, or [`TALL`] rows
    /// where they are read.
    Columns(Region),
    /// Other cells: at most [`TILE`], or those of the region if it has fewer.
    Tile(Region),
}

impl Part {
    pub(super) fn region(&self) -> &Region {
        let (Self::Run(region) | Self::Columns(region) | Self::Tile(region)) = self;
        region
    }
}

impl Packing {
    /// Returns the columns whose cells are in row lines, for all rows of a band.
    fn run_of(&self, band: &Range<usize>) -> Range<usize> {
        match self.has_row_lines() {
            false => 0..0,
            true if self.begins_at_zero() => 0..band.start + 1,
            true => band.end - 1..self.dimension(),
        }
    }

    /// Returns those of some columns whose cells are in column lines, for all rows of a band, if they are worth a
    /// [`Part::Columns`]. They begin and end at cache lines of the matrix or where the columns do.
    fn lines_of(&self, band: &Range<usize>, columns: &Range<usize>) -> Range<usize> {
        let lines = match self.has_column_lines() {
            false => 0..0,
            true if self.begins_at_zero() => (band.end - 1).next_multiple_of(LINE)..self.dimension(),
            true => 0..(band.start + 1) / LINE * LINE,
        };
        let lines = common(&lines, columns);
        if lines.len() < MIN_SQUARE || band.len() < MIN_SQUARE { columns.end..columns.end } else { lines }
    }

    /// Calls `work` with the parts of a region: bands of rows from top to bottom, each split into runs, columns and
    /// tiles such that every cache line is used completely. A part has at most [`TILE`] cells, or is a run.
    pub(super) fn for_each_part(&self, region: &Region, mut work: impl FnMut(Part)) {
        let Region { rows, columns } = region;
        let height = height_of(columns);
        for band in range::cut(rows.clone(), height) {
            self.for_each_part_of_band(&band, columns, &mut work);
        }
    }

    /// Like [`for_each_part`](Self::for_each_part), but columns that are contiguous in the rows of several bands are
    /// parts with up to [`TALL`] rows. They come before the other parts of these bands.
    pub(super) fn for_each_part_to_read(&self, region: &Region, mut work: impl FnMut(Part)) {
        let Region { rows, columns } = region;
        let height = height_of(columns);
        for tall in range::cut(rows.clone(), TALL.max(height)) {
            let mut rest = columns.clone();
            if tall.len() > height {
                let lines = self.lines_of(&tall, columns);
                cut(&tall, lines.clone(), SIDE, Part::Columns, &mut work);
                if !lines.is_empty() {
                    rest = if self.begins_at_zero() { rest.start..lines.start } else { lines.end..rest.end };
                }
            }
            for band in range::cut(tall.clone(), height) {
                self.for_each_part_of_band(&band, &rest, &mut work);
            }
        }
    }

    /// Calls `work` with the parts of one band that have some columns.
    fn for_each_part_of_band(&self, band: &Range<usize>, columns: &Range<usize>, work: &mut impl FnMut(Part)) {
        if columns.is_empty() {
            return;
        }
        let run = common(&self.run_of(band), columns);
        let run = if run.len() < MIN_RUN { columns.end..columns.end } else { run };
        if !run.is_empty() {
            band.clone().for_each(|row| work(Part::Run(Region { rows: row..row + 1, columns: run.clone() })));
        }
        for side in [columns.start..run.start, run.end..columns.end] {
            let lines = self.lines_of(band, &side);
            cut(band, side.start..lines.start, TILE / band.len(), Part::Tile, work);
            cut(band, lines.clone(), SIDE, Part::Columns, work);
            cut(band, lines.end..side.end, TILE / band.len(), Part::Tile, work);
        }
    }

    /// Returns the indices of a [`Part::Run`].
    pub(super) fn span_of_run(&self, run: &Region) -> Range<usize> {
        self.span(run.rows.start, &run.columns)
    }

    /// Returns the columns right of a [`Part::Columns`] that are also contiguous in its rows.
    pub(super) fn columns_after(&self, part: &Region) -> Range<usize> {
        let end = if self.begins_at_zero() { self.dimension() } else { part.rows.start + 1 };
        part.columns.end..end.max(part.columns.end)
    }
}

/// Returns the number of rows of a band.
fn height_of(columns: &Range<usize>) -> usize {
    TILE / columns.len().clamp(1, SIDE)
}

/// Calls `work` with the parts of a band that have some columns, `width` of them each.
fn cut(
    band: &Range<usize>,
    columns: Range<usize>,
    width: usize,
    part: fn(Region) -> Part,
    work: &mut impl FnMut(Part),
) {
    for columns in range::cut(columns, width) {
        work(part(Region { rows: band.clone(), columns }));
    }
}
