//! Sums of products of centered columns: one half of the matrix product of a block of rows with itself.
//!
//! The columns of a block are divided into strips of eight, each stored row by row. Two strips make a tile of 8 x 8
//! sums, stored column by column; `tiles` has the order of the tiles. Each sum is one chain of fused multiply-adds over
//! the rows of the block, on every processor and thread, so results are the same bits everywhere. Blocks are centered on
//! their own means before they are multiplied, and corrected for the rounding of these means (the corrected two-pass
//! algorithm of Chan, Golub, LeVeque 1983). They are merged by the formula for merging any two results (Chan, Golub,
//! LeVeque 1979).
//!
//! The loops are plain Rust that the compiler vectorizes at each CPU level. A fused multiply-add takes four cycles, and
//! a core starts two in each: eight chains of vectors suffice only if none is late, and twelve leave room for that.
//! Three tiles are computed together, because the eight columns of one tile are not a multiple of six. With AVX-512,
//! eight chains are as fast as twelve or faster, in the medians of the measured turns.

use super::double::Double;
use super::strips::{Block, Center, Lanes, STRIP};
use super::tiles::{Run, TileOrder};
use crate::base::cache::{FIRST_LEVEL, LINE, prefetch};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::number::plain_nan;
use crate::base::parallel;
use crate::base::range::cut;
use crate::base::room::{filled, with_room};
use crate::convert::level::{Level, LongLoop};

/// Number of sums of a tile.
const TILE: usize = STRIP * STRIP;
/// The largest part of all tiles that one of several threads computes at a time: one in this number. With larger parts,
/// two threads take 5 % longer.
const LARGEST_PART: usize = 32;
/// Number of rows of four strips that stay in the first-level cache, even beside other data: 16 KiB.
const NEAR_ROWS: usize = 64;

/// The change that merging a block makes to the sums.
struct Step {
    /// For each strip, `rests / rows`: the contribution of the rounded means to the sums of a block.
    rests: Vec<Lanes>,
    /// For each strip, the differences between the means of the block and the previous means.
    deltas: Vec<Lanes>,
    /// `rows * before / (rows + before)`.
    weight: f64,
}

/// Means, and the sums of the products of deviations from them, for all pairs of columns. If nothing is subtracted from
/// the columns: their sums, and the sums of their products.
#[derive(Clone, Debug)]
pub(super) struct Products {
    center: Center,
    pub(super) columns: usize,
    pub(super) rows: u64,
    /// Means or sums, one for each column, by strips. Additional columns fill the last strip.
    means: Vec<[Double; STRIP]>,
    order: TileOrder,
    /// The tiles of the lower half. Tiles on the diagonal contain both halves.
    tiles: Vec<f64>,
}

impl Products {
    /// Creates sums without rows.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn new(columns: usize, center: Center) -> Result<Self> {
        let strips = columns.div_ceil(STRIP);
        let order = TileOrder::new(strips);
        let count = order.count().and_then(|tiles| tiles.checked_mul(TILE)).ok_or(Error::out_of_memory(usize::MAX))?;
        let tiles = filled(count, 0.0)?;
        Ok(Self { center, columns, rows: 0, means: filled(strips, [Double::ZERO; STRIP])?, order, tiles })
    }

    pub(super) fn center(&self) -> Center {
        self.center
    }

    /// Returns the number of bytes that the sums of the given number of columns need.
    pub(super) fn bytes(columns: usize) -> usize {
        let tiles = TileOrder::new(columns.div_ceil(STRIP)).count();
        tiles.unwrap_or(usize::MAX).saturating_mul(TILE * size_of::<f64>())
    }

    /// Adds blocks. Several threads compute the tiles if that is faster. The number of rows must not overflow.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]. On error, nothing is added.
    pub(super) fn add(&mut self, blocks: &[Block]) -> Result<()> {
        self.add_beside(blocks, Vec::new(), |()| Ok(()))
    }

    /// Adds blocks, as [`add`](Self::add) does, and calls `other` with each of the other pieces of work, at the same time
    /// if there are several threads.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]: nothing is added, and no other work is done. The first error of `other`: the blocks
    /// are added.
    pub(super) fn add_beside<P: Send>(
        &mut self,
        blocks: &[Block],
        others: Vec<P>,
        other: impl Fn(P) -> Result<()> + Sync,
    ) -> Result<()> {
        enum Piece<'p, P> {
            Other(P),
            Tiles(usize, &'p mut [[f64; TILE]]),
        }
        let (steps, order) = (self.merge_steps(blocks)?, self.order);
        let rows: usize = blocks.iter().map(|block| block.rows).sum();
        let tasks = parallel::task_count(cost(rows, self.columns));
        let (mut rest, mut start) = (self.tiles.as_chunks_mut::<TILE>().0, 0);
        let largest = rest.len().div_ceil(if tasks == 1 { 1 } else { LARGEST_PART });
        let smallest = rest.len().div_ceil(4 * tasks); // the last ones, so that no thread waits long for another
        let (mut others, mut pieces) = (others.into_iter(), Vec::new());
        while !rest.is_empty() {
            let length = (rest.len() / tasks).min(largest).max(smallest).min(rest.len());
            let (part, tail) = rest.split_at_mut(length);
            pieces.extend(others.next().map(Piece::Other));
            pieces.push(Piece::Tiles(start, part));
            (start, rest) = (start + length, tail);
        }
        pieces.extend(others.map(Piece::Other));
        let results = parallel::map(pieces, |piece| match piece {
            Piece::Other(piece) => other(piece),
            Piece::Tiles(start, tiles) => {
                for (block, step) in blocks.iter().zip(&steps) {
                    for Run { tiles: run, row, column } in order.runs(start..start + tiles.len()) {
                        let tiles = &mut tiles[run.start - start..run.end - start];
                        add_tiles(tiles, block, step, row, column);
                    }
                }
                Ok(())
            }
        });
        results.into_iter().collect()
    }

    /// Merges the means of blocks and their numbers of rows, and returns the changes to the sums.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]. On error, nothing is merged.
    fn merge_steps(&mut self, blocks: &[Block]) -> Result<Vec<Step>> {
        let room = |block: &Block| {
            let zeros = || filled(block.rests.len(), [0.0; STRIP]);
            Ok(Step { rests: zeros()?, deltas: zeros()?, weight: 0.0 })
        };
        let mut steps = blocks.iter().map(room).collect::<Result<Vec<Step>>>()?; // nothing fails from here on
        for (Step { rests, deltas, weight }, block) in steps.iter_mut().zip(blocks) {
            let inverse = 1.0 / block.rows as f64;
            for (part, rest) in rests.iter_mut().zip(&block.rests) {
                *part = rest.map(|rest| rest * inverse);
            }
            let means_of = |strip: usize| means_of(&block.shifts[strip], &rests[strip]);
            *weight = self.merge_means(means_of, block.rows as u64, deltas);
            self.rows += block.rows as u64;
        }
        Ok(steps)
    }

    /// Merges the sums of other rows with the same number of columns. The number of rows must not overflow.
    pub(super) fn merge(&mut self, other: &Self) -> Result<()> {
        let mut deltas = filled(self.means.len(), [0.0; STRIP])?;
        let weight = self.merge_means(|strip| other.means[strip], other.rows, &mut deltas);
        self.rows += other.rows;
        let mine = self.tiles.as_chunks_mut::<TILE>().0;
        let theirs = other.tiles.as_chunks::<TILE>().0;
        for Run { tiles, row, column } in self.order.runs(0..mine.len()) {
            for (tile, strip) in tiles.zip(column..) {
                let columns = mine[tile].as_chunks_mut::<STRIP>().0.iter_mut().zip(theirs[tile].as_chunks::<STRIP>().0);
                for ((mine, theirs), delta) in columns.zip(&deltas[strip]) {
                    let places = mine.iter_mut().zip(theirs).zip(&deltas[row]);
                    places.for_each(|((mine, theirs), other)| *mine += theirs + delta * other * weight);
                }
            }
        }
        Ok(())
    }

    /// Merges the means or sums of `added` rows. Stores the differences of the means in `deltas` and returns their
    /// weight, which is zero for the first rows.
    fn merge_means(&mut self, others: impl Fn(usize) -> [Double; STRIP], added: u64, deltas: &mut [Lanes]) -> f64 {
        let strips = self.means.iter_mut().enumerate();
        if self.center == Center::Zero {
            strips.for_each(|(strip, sums)| {
                sums.iter_mut().zip(others(strip)).for_each(|(sum, other)| *sum = sum.add(other));
            });
            return 0.0;
        }
        if added == 0 {
            return 0.0;
        }
        if self.rows == 0 {
            strips.for_each(|(strip, means)| *means = others(strip));
            return 0.0;
        }
        let (before, new) = (self.rows as f64, added as f64);
        let share = new / (before + new);
        for ((strip, means), deltas) in strips.zip(deltas) {
            *deltas = Double::move_towards(means, &others(strip), share);
        }
        before * share
    }

    /// Returns the means. If nothing is subtracted from the columns, returns their sums.
    pub(super) fn means(&self) -> &[Double] {
        &self.means.as_flattened()[..self.columns]
    }

    /// Returns the sum of the squares of a column, which is not negative.
    pub(super) fn sum_of_squares(&self, column: usize) -> f64 {
        not_negative(self.tiles[self.place_of(column, column)])
    }

    /// Calls `of` with each sum of products of column `row` and a column up to it, and with the index of that column.
    /// The last sum is not negative.
    pub(super) fn for_row(&self, row: usize, mut of: impl FnMut(f64, usize)) {
        for first in (0..=row).step_by(STRIP) {
            let lanes =
                self.tiles[self.place_of(row, first)..].iter().step_by(STRIP).zip(first..row.min(first + STRIP));
            lanes.for_each(|(&sum, column)| of(sum, column));
        }
        of(self.sum_of_squares(row), row);
    }

    /// Returns the position of a sum in the tiles.
    fn place_of(&self, row: usize, column: usize) -> usize {
        self.order.index_of(row / STRIP, column / STRIP) * TILE + column % STRIP * STRIP + row % STRIP
    }

    /// Returns the sums of the lower half, row by row. The products of `n` columns are computed from these
    /// `n (n + 1) / 2` numbers.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn packed(&self) -> Result<Vec<f64>> {
        let mut sums = with_room(self.columns * (self.columns + 1) / 2)?; // in range, as are the sums
        sums.extend(lower_half(self.columns).map(|(row, column)| plain_nan(self.tiles[self.place_of(row, column)])));
        Ok(sums)
    }

    /// Assembles the result of [`packed`](Self::packed) and the other fields. The number of sums must match.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn from_packed(rows: u64, means: &[Double], sums: &[f64], center: Center) -> Result<Self> {
        let mut all = Self::new(means.len(), center)?;
        all.rows = rows;
        all.means.as_flattened_mut()[..means.len()].copy_from_slice(means);
        for ((row, column), &sum) in lower_half(means.len()).zip(sums) {
            let place = all.place_of(row, column);
            all.tiles[place] = sum;
            if row / STRIP == column / STRIP {
                let place = all.place_of(column, row);
                all.tiles[place] = sum; // the other half of a tile on the diagonal
            }
        }
        Ok(all)
    }
}

/// Returns a sum of squares, which rounding may have made negative.
fn not_negative(sum: f64) -> f64 {
    if sum < 0.0 { 0.0 } else { sum }
}

/// Returns the row and column of each element of the lower half, row by row.
fn lower_half(columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..columns).flat_map(|row| (0..=row).map(move |column| (row, column)))
}

/// Returns the approximate number of bytes whose conversion takes as long as the products of the given number of rows.
pub(super) fn cost(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns).saturating_mul(size_of::<f64>().max(columns / 4))
}

/// Returns the means of a strip: the subtracted values plus the means of the rest.
fn means_of(shifts: &Lanes, rests: &Lanes) -> [Double; STRIP] {
    Double::sums(shifts, rests).unwrap_or_else(|| {
        // Deviations beyond the range of `f64` spoil the products, but not the mean.
        std::array::from_fn(|lane| match (shifts[lane], rests[lane]) {
            (shift, rest) if shift.is_finite() && !rest.is_finite() => Double::from(shift),
            (shift, rest) => Double::from(shift).add(Double::from(rest)),
        })
    })
}

/// Adds the products of strip `i` of a block with the strips from `j` on, each to its tile.
fn add_tiles(tiles: &mut [[f64; TILE]], block: &Block, step: &Step, i: usize, j: usize) {
    let level = Level::chosen();
    #[cfg(target_arch = "x86_64")]
    if level.has_avx512() {
        return level.run_long(AddTiles::<8, 8> { tiles, block, step, i, j }); // eight chains of vectors
    }
    level.run_long(AddTiles::<6, 4> { tiles, block, step, i, j });
}

/// The work of [`add_tiles`], with the sums of `COLUMNS` columns of three tiles in registers, or of `ONE` columns of a
/// single tile.
struct AddTiles<'a, const COLUMNS: usize, const ONE: usize> {
    tiles: &'a mut [[f64; TILE]],
    block: &'a Block,
    step: &'a Step,
    i: usize,
    j: usize,
}

impl<const COLUMNS: usize, const ONE: usize> LongLoop for AddTiles<'_, COLUMNS, ONE> {
    #[inline(always)]
    fn run(self) {
        let Self { tiles, block, step, i, j } = self;
        let left = block.strip(i);
        let (threes, rest) = tiles.as_chunks_mut::<3>();
        let after = j + 3 * threes.len();
        for (tiles, j) in threes.iter_mut().zip((j..).step_by(3)) {
            let right = [block.strip(j), block.strip(j + 1), block.strip(j + 2)];
            // They are needed after many multiply-adds. The first one may begin inside a line.
            prefetch::<FIRST_LEVEL>(tiles.as_ptr().cast(), size_of_val(tiles) + LINE - 1);
            let products = multiply::<3, COLUMNS>(left, right);
            for ((tile, products), j) in tiles.iter_mut().zip(&products).zip(j..) {
                add_tile(tile, products, block, step, i, j);
            }
        }
        for (tile, j) in rest.iter_mut().zip(after..) {
            let [products] = multiply::<1, ONE>(left, [block.strip(j)]);
            add_tile(tile, &products, block, step, i, j);
        }
    }
}

/// Adds the products of strips `i` and `j` of a block to their tile, column by column.
#[inline(always)]
fn add_tile(tile: &mut [f64; TILE], products: &[Lanes; STRIP], block: &Block, step: &Step, i: usize, j: usize) {
    let (rests, deltas, weight) = (block.rests[i], step.deltas[i], step.weight); // copies, which no store changes
    let (columns, _) = tile.as_chunks_mut::<STRIP>();
    for (column, (sums, products)) in columns.iter_mut().zip(products).enumerate() {
        let (rest, delta) = (step.rests[j][column], step.deltas[j][column]);
        *sums = std::array::from_fn(|lane| {
            let centered = products[lane] - rests[lane] * rest;
            sums[lane] + (centered + deltas[lane] * delta * weight)
        });
    }
}

/// Returns the products of the columns of a strip with those of other strips, summed over the rows. Each time,
/// `COLUMNS` columns are multiplied over some rows, which stay in the first-level cache for the other columns.
#[inline(always)]
fn multiply<const TILES: usize, const COLUMNS: usize>(
    left: &[Lanes],
    right: [&[Lanes]; TILES],
) -> [[Lanes; STRIP]; TILES] {
    const { assert!((TILES * STRIP).is_multiple_of(COLUMNS), "no columns are left over") }
    const { assert!(COLUMNS <= STRIP && COLUMNS.is_multiple_of(2), "columns of two strips, from an even one on") }
    let mut products = [[[0.0; STRIP]; STRIP]; TILES];
    for rows in cut(0..left.len(), NEAR_ROWS) {
        let left = &left[rows.clone()];
        let right = right.map(|strip| &strip[rows.clone()]);
        for (part, sums) in products.as_flattened_mut().as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
            let first = part * COLUMNS;
            let strips = [right[first / STRIP], right[(first / STRIP + 1).min(TILES - 1)]];
            *sums = match first % STRIP {
                0 => add_products::<COLUMNS, 0>(*sums, left, strips),
                2 => add_products::<COLUMNS, 2>(*sums, left, strips),
                4 => add_products::<COLUMNS, 4>(*sums, left, strips),
                _ => add_products::<COLUMNS, 6>(*sums, left, strips),
            };
        }
    }
    products
}

/// Adds the products of the columns of a strip with `COLUMNS` columns of two other strips, starting with column `FIRST`
/// of the first one. The sums of six columns are twelve vectors of AVX2, which has sixteen registers; those of eight
/// columns are eight of AVX-512. (In a loop over twelve columns, the compiler gathers and scatters the sums:
/// measured, about ten times as slow.)
#[inline(always)]
fn add_products<const COLUMNS: usize, const FIRST: usize>(
    mut sums: [Lanes; COLUMNS],
    left: &[Lanes],
    right: [&[Lanes]; 2],
) -> [Lanes; COLUMNS] {
    for ((left, first), second) in left.iter().zip(right[0]).zip(right[1]) {
        let right = [first, second];
        for (column, sums) in sums.iter_mut().enumerate() {
            let at = FIRST + column;
            let factor = right[at / STRIP][at % STRIP];
            for (sum, &left) in sums.iter_mut().zip(left) {
                *sum = factor.mul_add(left, *sum);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_the_same_bits_at_every_level() {
        fn check<const TILES: usize, const COLUMNS: usize>(left: &[Lanes], right: [&[Lanes]; TILES]) {
            let mut chains = [[[0.0_f64; STRIP]; STRIP]; TILES];
            for row in 0..left.len() {
                for (column, chains) in chains.as_flattened_mut().iter_mut().enumerate() {
                    let factor = right[column / STRIP][row][column % STRIP];
                    let lanes = chains.iter_mut().zip(left[row]);
                    lanes.for_each(|(sum, left)| *sum = left.mul_add(factor, *sum));
                }
            }
            for level in Level::available() {
                let found = level.run(|| multiply::<TILES, COLUMNS>(left, right));
                assert_eq!(found, chains, "{TILES} tiles, {COLUMNS} columns, {level:?}");
            }
        }
        let value = |i: usize| ((i * 7919 % 1013) as f64 - 500.0) / 7.0;
        for rows in [1, NEAR_ROWS, NEAR_ROWS + 1, 256] {
            let strip = |which: usize| {
                let line =
                    |row: usize| -> Lanes { std::array::from_fn(|lane| value(row * (8 + which) + 3 * lane + which)) };
                (0..rows).map(line).collect::<Vec<_>>()
            };
            let strips: [_; 4] = std::array::from_fn(strip);
            let (left, right) = (&strips[0], [&strips[1][..], &strips[2], &strips[3]]);
            check::<3, 6>(left, right);
            check::<3, 8>(left, right);
            check::<1, 4>(left, [right[2]]);
            check::<1, 8>(left, [right[0]]);
        }
    }
}
