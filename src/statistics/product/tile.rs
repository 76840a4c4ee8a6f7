//! The loops that multiply strips: sums of a few columns of some strips with all columns of another one.
//!
//! The columns of one strip are in vectors, and a value of each other column is repeated in all lanes of another
//! vector. There are as many sums as registers hold, because a fused multiply-add takes four cycles, and two begin in
//! each: six columns have twelve vectors of four lanes. The columns of three strips are four times six.
//!
//! The loops are plain Rust that the compiler vectorizes at each CPU level: `for` loops in functions that are always
//! inlined, because a closure might be called, and would not be compiled for the level.

use super::{Block, Lanes, STRIP, Step, TILE};
use crate::convert::level::{Level, LongLoop};

/// The number of strips that are multiplied with another one together, unless there are fewer.
pub(super) const TOGETHER: usize = 3;

/// Adds the products of strip `i` of a block with the strips from `j` on, each to its tile.
pub(super) fn add_tiles(tiles: &mut [[f64; TILE]], block: &Block, step: &Step, i: usize, j: usize) {
    let level = Level::chosen();
    #[cfg(target_arch = "x86_64")]
    if level.has_avx512() {
        return level.run_long(AddTiles::<true> { tiles, block, step, i, j });
    }
    level.run_long(AddTiles::<false> { tiles, block, step, i, j });
}

/// The work of [`add_tiles`]: with 32 registers of eight lanes, or with 16 of four lanes.
struct AddTiles<'a, const IS_WIDE: bool> {
    tiles: &'a mut [[f64; TILE]],
    block: &'a Block,
    step: &'a Step,
    i: usize,
    j: usize,
}

impl<const IS_WIDE: bool> LongLoop for AddTiles<'_, IS_WIDE> {
    #[inline(always)]
    fn run(self) {
        let Self { tiles, block, step, i, j } = self;
        if IS_WIDE {
            for (tile, j) in tiles.iter_mut().zip(j..) {
                add_tile::<STRIP>(tile, block, step, i, j);
            }
            return;
        }
        let across = block.strip(i);
        let (together, rest) = tiles.as_chunks_mut::<TOGETHER>();
        for (tiles, j) in together.iter_mut().zip((j..).step_by(TOGETHER)) {
            let [one, two, three] = [block.strip(j), block.strip(j + 1), block.strip(j + 2)];
            let (columns, _) = tiles.as_flattened_mut().as_chunks_mut::<STRIP>();
            add_columns(columns, &multiply::<6, 6>(across, one, 0, one), block, step, i, (j, 0));
            add_columns(columns, &multiply::<6, 2>(across, one, 6, two), block, step, i, (j, 6));
            add_columns(columns, &multiply::<6, 4>(across, two, 4, three), block, step, i, (j, 12));
            add_columns(columns, &multiply::<6, 6>(across, three, 2, three), block, step, i, (j, 18));
        }
        for (tile, j) in rest.iter_mut().zip(j + together.len() * TOGETHER..) {
            add_tile::<{ STRIP / 2 }>(tile, block, step, i, j);
        }
    }
}

/// Adds the products of two strips to their tile, those of `COLUMNS` columns at a time.
#[inline(always)]
fn add_tile<const COLUMNS: usize>(tile: &mut [f64; TILE], block: &Block, step: &Step, i: usize, j: usize) {
    let (across, strip) = (block.strip(i), block.strip(j));
    let (columns, _) = tile.as_chunks_mut::<STRIP>();
    for first in (0..STRIP).step_by(COLUMNS) {
        let products = multiply::<COLUMNS, COLUMNS>(across, strip, first, strip);
        add_columns(columns, &products, block, step, i, (j, first));
    }
}

/// Adds the products of some columns with those of strip `i` of a block to the sums of columns from strip `j` on, from
/// the one in place `first`. Corrects them for the rounded means of the block, and merges them with the sums before.
#[inline(always)]
fn add_columns(
    columns: &mut [Lanes],
    products: &[Lanes],
    block: &Block,
    step: &Step,
    i: usize,
    (j, first): (usize, usize),
) {
    let (rests, deltas) = (&block.rests[i], &step.deltas[i]);
    for (place, (sums, products)) in (first..).zip(columns[first..].iter_mut().zip(products)) {
        let (strip, place) = (j + place / STRIP, place % STRIP);
        let (rest, delta) = (step.rests[strip][place], step.deltas[strip][place]);
        for lane in 0..STRIP {
            let centered = products[lane] - rests[lane] * rest;
            sums[lane] += centered + deltas[lane] * delta * step.weight;
        }
    }
}

/// Returns the products of `COLUMNS` columns with those of the strip `across`, summed over the rows. The first `SPLIT` of
/// the columns are those of a strip from `first` on, and the others are the first ones of the next strip.
#[inline(always)]
fn multiply<const COLUMNS: usize, const SPLIT: usize>(
    across: &[Lanes],
    strip: &[Lanes],
    first: usize,
    next: &[Lanes],
) -> [Lanes; COLUMNS] {
    let mut sums = [[0.0; STRIP]; COLUMNS];
    for ((across, strip), next) in across.iter().zip(strip).zip(next) {
        for (column, sums) in sums.iter_mut().enumerate() {
            let factor = if column < SPLIT { strip[first + column] } else { next[column - SPLIT] };
            for (sum, &value) in sums.iter_mut().zip(across) {
                *sum = value.mul_add(factor, *sum);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::Center;
    use super::*;

    fn value(i: usize) -> f64 {
        ((i * 7919 % 1013) as f64 - 500.0) / 7.0
    }

    fn lanes(count: usize, seed: usize) -> Vec<Lanes> {
        (0..count).map(|i| std::array::from_fn(|lane| value(i * STRIP + lane + seed))).collect()
    }

    /// The sum that [`add_tiles`] leaves where `sum` was: column `a` of strip `i` with column `b` of strip `j`.
    fn expected(block: &Block, step: &Step, (i, a): (usize, usize), (j, b): (usize, usize), sum: f64) -> f64 {
        let rows = block.strip(i).iter().zip(block.strip(j));
        let product = rows.fold(0.0_f64, |sum, (left, right)| left[a].mul_add(right[b], sum));
        let centered = product - block.rests[i][a] * step.rests[j][b];
        sum + (centered + step.deltas[i][a] * step.deltas[j][b] * step.weight)
    }

    #[test]
    fn tiles_are_the_same_bits_at_every_level() {
        const STRIPS: usize = 9;
        for rows in [1, 2, 255, 256] {
            let strips = lanes(STRIPS * rows, 0);
            let (shifts, rests) = (lanes(STRIPS, 1), lanes(STRIPS, 2));
            let block = Block { center: Center::Means, rows, strips, shifts, rests };
            let step = Step { rests: lanes(STRIPS, 3), deltas: lanes(STRIPS, 4), weight: 0.3 };
            for (i, js) in [(8, 0..9), (8, 1..9), (7, 2..8), (6, 1..6), (5, 2..5), (1, 0..2), (3, 3..4), (2, 0..0)] {
                let old: Vec<[f64; TILE]> =
                    (0..js.len()).map(|tile| std::array::from_fn(|place| value(tile * TILE + place + 5))).collect();
                let sums = old.iter().zip(js.clone()).flat_map(|(tile, j)| {
                    let (block, step) = (&block, &step);
                    tile.iter().enumerate().map(move |(place, &sum)| {
                        expected(block, step, (i, place % STRIP), (j, place / STRIP), sum).to_bits()
                    })
                });
                let sums: Vec<u64> = sums.collect();
                for level in Level::available() {
                    let mut tiles = old.clone();
                    crate::convert::level::with_level(level, || add_tiles(&mut tiles, &block, &step, i, js.start));
                    let found: Vec<u64> = tiles.as_flattened().iter().map(|sum| sum.to_bits()).collect();
                    assert!(found == sums, "{level:?}, {rows} rows, strip {i} with {js:?}");
                }
            }
        }
    }
}
