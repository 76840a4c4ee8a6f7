//! The order in which the tiles of products are stored and computed.

use std::ops::Range;

use super::strips::NEAR_STRIPS;

/// The order of the tiles of one half of a matrix. A tile belongs to a row strip `i` and a column strip `j <= i`.
///
/// The tiles of [`NEAR_STRIPS`] column strips follow each other, row by row, and then those of the next ones. So a
/// thread that computes some tiles reads the other strips once, while those of the columns stay in its second-level
/// cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileOrder {
    /// The number of strips.
    strips: usize,
}

/// Tiles of one row that follow each other.
pub(super) struct Run {
    /// The indices of the tiles.
    pub(super) tiles: Range<usize>,
    /// The strip of their row.
    pub(super) row: usize,
    /// The strip of the column of the first one.
    pub(super) column: usize,
}

impl TileOrder {
    pub(super) fn new(strips: usize) -> Self {
        Self { strips }
    }

    /// Returns the number of tiles; `None` if it cannot be counted.
    pub(super) fn count(self) -> Option<usize> {
        Some(self.strips.checked_mul(self.strips.checked_add(1)?)? / 2)
    }

    /// Returns the index of a tile.
    pub(super) fn index_of(self, row: usize, column: usize) -> usize {
        let first = column / NEAR_STRIPS * NEAR_STRIPS;
        self.start_of(first) + start_of_row(row - first, self.width_from(first)) + column - first
    }

    /// Divides the tiles of a range into runs, in order.
    pub(super) fn runs(self, range: Range<usize>) -> impl Iterator<Item = Run> {
        (0..self.strips).step_by(NEAR_STRIPS).flat_map(move |first| {
            let (width, start) = (self.width_from(first), self.start_of(first));
            let end = self.start_of(first + width);
            let range = range.start.max(start)..range.end.min(end);
            let rows = if range.is_empty() { 0..0 } else { row_at(range.start - start, width)..self.strips - first };
            let run_of = move |row: usize| {
                let row_start = start + start_of_row(row, width);
                let tiles = range.start.max(row_start)..range.end.min(row_start + width.min(row + 1));
                let column = first + (tiles.start - row_start);
                (!tiles.is_empty()).then_some(Run { tiles, row: first + row, column })
            };
            rows.map_while(run_of)
        })
    }

    /// Returns the number of tiles in the columns before one.
    fn start_of(self, column: usize) -> usize {
        column * self.strips - column * column.saturating_sub(1) / 2
    }

    /// Returns the number of column strips from one of them to the last near it.
    fn width_from(self, first: usize) -> usize {
        NEAR_STRIPS.min(self.strips - first)
    }
}

/// Returns the number of tiles in the rows before one. Row 0 has one tile, each row has one more, up to `width`.
fn start_of_row(row: usize, width: usize) -> usize {
    let short = row.min(width);
    short * (short + 1) / 2 + (row - short) * width
}

/// Returns the row of a tile, as `start_of_row` counts them.
fn row_at(tile: usize, width: usize) -> usize {
    match tile.checked_sub(start_of_row(width, width)) {
        Some(after) => width + after / width,
        None => ((8 * tile + 1).isqrt() - 1) / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tiles in order, as the documentation describes it.
    fn all_tiles(strips: usize) -> Vec<(usize, usize)> {
        let near = |first: usize| {
            (first..strips)
                .flat_map(move |row| (first..strips.min(first + NEAR_STRIPS).min(row + 1)).map(move |j| (row, j)))
        };
        (0..strips).step_by(NEAR_STRIPS).flat_map(near).collect()
    }

    #[test]
    fn each_tile_has_its_place() {
        for strips in [0, 1, 2, NEAR_STRIPS - 1, NEAR_STRIPS, NEAR_STRIPS + 1, 3 * NEAR_STRIPS, 64] {
            let (order, all) = (TileOrder::new(strips), all_tiles(strips));
            assert_eq!(order.count(), Some(all.len()));
            for (place, &(row, column)) in all.iter().enumerate() {
                assert_eq!(order.index_of(row, column), place, "{row}, {column} of {strips}");
            }
        }
        assert_eq!(TileOrder::new(usize::MAX).count(), None);
    }

    #[test]
    fn runs_have_each_tile_once_and_in_order() {
        for strips in [0, 1, 7, NEAR_STRIPS, NEAR_STRIPS + 1, 50] {
            let (order, all) = (TileOrder::new(strips), all_tiles(strips));
            for start in 0..=all.len() {
                for end in [start, start + 1, start + 17, start + 400, all.len()] {
                    let end = end.clamp(start, all.len());
                    let mut next = start;
                    for Run { tiles, row, column } in order.runs(start..end) {
                        assert!(tiles.start == next && tiles.start < tiles.end && tiles.end <= end);
                        next = tiles.end;
                        assert!(tiles.zip(column..).all(|(tile, column)| all[tile] == (row, column)));
                    }
                    assert_eq!(next, end, "{start}..{end} of {strips}");
                }
            }
        }
    }
}
