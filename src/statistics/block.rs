//! Statistics of one block of rows, in two passes over values that stay in the processor's cache.
//!
//! The first pass computes sums together with the rounding error of every addition (Knuth's two-sum). The second pass
//! sums the deviations from the mean and their squares, and corrects for the rounding of the mean (the corrected
//! two-pass algorithm of Chan, Golub, LeVeque 1983). Every row is added to one of eight lanes, for any number of
//! columns. This lets the compiler vectorize the loops, which are in `lanes`, and results depend only on the values and
//! on the positions of the blocks.

mod lanes;

use super::column::ColumnStatistics;
use super::double::Double;
pub(super) use lanes::Widened;
use lanes::{Blocks, Lanes};

/// Number of rows in a block: small enough for the cache, and large enough that merging costs next to nothing.
pub(super) const BLOCK_ROWS: usize = 1024;
/// Number of blocks of a column that are summed together.
const TOGETHER: usize = 16;

/// Reusable buffers for the blocks of some columns.
pub(super) struct BlockWorkspace {
    lanes: Lanes,
    /// The lanes of a single block of a column.
    one: Lanes,
    /// The finite values of a block of a column.
    finite: Vec<f64>,
}

impl BlockWorkspace {
    pub(super) fn new(columns: usize) -> Self {
        Self { lanes: Lanes::new(columns), one: Lanes::new(1), finite: Vec::new() }
    }

    /// Creates a workspace for whole columns.
    pub(super) fn for_columns() -> Self {
        Self::new(TOGETHER)
    }

    pub(super) fn is_for(&self, columns: usize) -> bool {
        self.lanes.columns() == columns
    }

    /// Adds the rows of a block to the statistics of its columns.
    pub(super) fn add<T: Widened>(&mut self, values: &[T], statistics: &mut [ColumnStatistics]) {
        let columns = self.lanes.columns();
        if columns == 0 || values.is_empty() {
            return;
        }
        self.lanes.pass(values.len() / columns, &Blocks::Rows(values));
        for (column, statistics) in statistics.iter_mut().enumerate() {
            let (found, values) = (self.lanes.column(column), values[column..].iter().step_by(columns));
            statistics.merge(&finite_or_sifted(found, values, &mut self.finite, &mut self.one));
        }
    }

    /// Adds the blocks of a column to its statistics. The last block may have fewer rows.
    pub(super) fn add_column<T: Widened>(&mut self, values: &[T], statistics: &mut ColumnStatistics) {
        let together = self.lanes.columns().max(1);
        for values in values.chunks(together * BLOCK_ROWS) {
            let (whole, last) = values.split_at(values.len() / BLOCK_ROWS * BLOCK_ROWS);
            match whole.len() / BLOCK_ROWS {
                0 => {}
                1 => self.add_one(whole, statistics),
                blocks => {
                    self.lanes.pass(BLOCK_ROWS, &Blocks::OfColumn(whole));
                    for (block, values) in (0..blocks).zip(whole.chunks(BLOCK_ROWS)) {
                        let found = self.lanes.column(block);
                        statistics.merge(&finite_or_sifted(found, values.iter(), &mut self.finite, &mut self.one));
                    }
                }
            }
            if !last.is_empty() {
                self.add_one(last, statistics);
            }
        }
    }

    /// Adds a block of a column to its statistics.
    fn add_one<T: Widened>(&mut self, values: &[T], statistics: &mut ColumnStatistics) {
        self.one.pass(values.len(), &Blocks::OfColumn(values));
        let found = self.one.column(0);
        statistics.merge(&finite_or_sifted(found, values.iter(), &mut self.finite, &mut self.one));
    }
}

/// Returns the statistics of a block of a column if they are finite. Otherwise computes them again.
#[inline(always)]
fn finite_or_sifted<'a, T: Widened + 'a>(
    found: ColumnStatistics,
    values: impl Iterator<Item = &'a T>,
    finite: &mut Vec<f64>,
    lanes: &mut Lanes,
) -> ColumnStatistics {
    if found.is_finite() { found } else { sift(values.map(|&value| value.into()), finite, lanes) }
}

/// Computes the statistics of one block of a column with non-finite values or sums.
#[cold]
#[inline(never)]
fn sift(values: impl Iterator<Item = f64>, finite: &mut Vec<f64>, lanes: &mut Lanes) -> ColumnStatistics {
    let mut others = ColumnStatistics::EMPTY;
    finite.clear();
    for value in values {
        match value {
            _ if value.is_nan() => others.nan += 1,
            f64::INFINITY => others.positive_infinities += 1,
            f64::NEG_INFINITY => others.negative_infinities += 1,
            _ => finite.push(value),
        }
    }
    if finite.is_empty() {
        return others;
    }
    lanes.pass(finite.len(), &Blocks::OfColumn(finite));
    let mut all = lanes.column(0);
    if !all.is_finite() {
        finite.iter_mut().for_each(|value| *value *= Double::SMALLER);
        lanes.pass(finite.len(), &Blocks::OfColumn(finite));
        let small = lanes.column(0);
        // Sums that did not overflow are kept: they are at least as exact.
        if !all.sum.is_finite() {
            all.sum = small.sum.scaled_up(1);
        }
        if !all.centered.is_finite() {
            all.centered = small.centered.scaled_up(2);
        }
    }
    all.merge(&others);
    all
}

#[cfg(test)]
mod tests {
    use super::super::column::{greater, lesser};
    use super::*;
    use crate::convert::level::{Level, with_level};

    const LANES: usize = 8;

    /// Returns the statistics of a block of finite values of one column: every lane by itself, and sums with all cases.
    fn plain(values: &[f64]) -> ColumnStatistics {
        let rows = values.len();
        let lane = |lane: usize| values.iter().copied().skip(lane).step_by(LANES);
        let total = (0..LANES.min(rows)).fold(Double::ZERO, |total, index| {
            let (sum, rest) = lane(index).fold((0.0, 0.0), |(sum, rest): (f64, f64), value| {
                let new = sum + value;
                let part = new - sum;
                (new, rest + ((sum - (new - part)) + (value - part)))
            });
            total.add(Double::from(sum).add(Double::from(rest)))
        });
        let mean = total.divided_by(rows as f64).value();
        let combined = |start: f64, one: &dyn Fn(f64, f64) -> f64, two: &dyn Fn(f64, f64) -> f64| {
            let l: [f64; LANES] = std::array::from_fn(|index| lane(index).fold(start, one));
            two(two(two(l[0], l[4]), two(l[2], l[6])), two(two(l[1], l[5]), two(l[3], l[7])))
        };
        let minimum = combined(f64::INFINITY, &|low, value| lesser(value, low), &lesser);
        let maximum = combined(f64::NEG_INFINITY, &|high, value| greater(value, high), &greater);
        let add = |a: f64, b: f64| a + b;
        let deviation = combined(0.0, &|sum, value| sum + (value - mean), &add);
        let squares = combined(0.0, &|sum, value| sum + (value - mean) * (value - mean), &add);
        let centered = squares - deviation * (deviation / rows as f64);
        let centered = if minimum == maximum || centered < 0.0 { 0.0 } else { centered };
        let (finite, centered) = (rows as u64, Double::from(centered));
        ColumnStatistics { finite, minimum, maximum, sum: total, centered, ..ColumnStatistics::EMPTY }
    }

    /// Numbers of several magnitudes, so that sums round and signs of zeros differ.
    fn value(row: usize, column: usize) -> f32 {
        let number = (row * 7919 + column * 104_729) % 10_007;
        match (column % 4, number % 5) {
            (3, 0) => -0.0,
            (2, _) => number as f32 * 1e-42,
            (1, kind) => (number as f32 - 5000.0) * 10_f32.powi(5 * kind as i32 - 10),
            _ => number as f32 / 7.0,
        }
    }

    /// The printed form distinguishes both zeros, and is equal for NaN.
    fn printed(statistics: &[ColumnStatistics]) -> String {
        format!("{statistics:?}")
    }

    #[test]
    fn blocks_of_rows_are_summed_as_plain_loops_sum_them() {
        for columns in [1, 2, 3, 7, 8, 9, 16, 17, 31, 32] {
            for rows in [1, 2, 7, 8, 9, 31, 64, 65, 255, 1023, 1024] {
                let values: Vec<f32> = (0..rows * columns).map(|at| value(at / columns, at % columns)).collect();
                let wide: Vec<f64> = values.iter().map(|&value| value.into()).collect();
                let mut expected = vec![ColumnStatistics::EMPTY; columns];
                for (column, statistics) in expected.iter_mut().enumerate() {
                    let column: Vec<f64> = wide.iter().copied().skip(column).step_by(columns).collect();
                    statistics.merge(&plain(&column));
                }
                for level in Level::available() {
                    let mut found = [vec![ColumnStatistics::EMPTY; columns], vec![ColumnStatistics::EMPTY; columns]];
                    let mut workspace = BlockWorkspace::new(columns);
                    with_level(level, || workspace.add(&values, &mut found[0]));
                    with_level(level, || workspace.add(&wide, &mut found[1]));
                    for found in found {
                        assert_eq!(printed(&found), printed(&expected), "{rows} x {columns}, {level:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_of_a_column_are_summed_as_plain_loops_sum_them() {
        for rows in [0, 1, 7, 9, 1023, 1024, 1025, 2048, 5000, 16 * 1024, 16 * 1024 + 1, 33 * 1024 + 5] {
            for column in 0..4 {
                let values: Vec<f32> = (0..rows).map(|row| value(row, column)).collect();
                let wide: Vec<f64> = values.iter().map(|&value| value.into()).collect();
                let mut expected = ColumnStatistics::EMPTY;
                wide.chunks(BLOCK_ROWS).for_each(|block| expected.merge(&plain(block)));
                for level in Level::available() {
                    let mut found = [ColumnStatistics::EMPTY; 2];
                    let mut workspace = BlockWorkspace::for_columns();
                    with_level(level, || workspace.add_column(&values, &mut found[0]));
                    with_level(level, || workspace.add_column(&wide, &mut found[1]));
                    for found in found {
                        assert_eq!(printed(&[found]), printed(&[expected]), "{rows} of {column}, {level:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn totals_beyond_the_range_are_kept_beside_ordinary_columns() {
        let rows = 24; // three values in each lane: no lane overflows, but their total does
        let huge = |row: usize| if row.is_multiple_of(2) { f64::MAX / 4.0 } else { f64::MAX / 8.0 };
        let values: Vec<f64> = (0..rows).flat_map(|row| [f64::from(value(row, 0)), huge(row)]).collect();
        let columns = [0, 1].map(|column| values.iter().copied().skip(column).step_by(2).collect::<Vec<f64>>());
        for level in Level::available() {
            let mut found = [ColumnStatistics::EMPTY; 2];
            with_level(level, || BlockWorkspace::new(2).add(&values, &mut found));
            assert_eq!(found[0], plain(&columns[0]), "{level:?}");
            assert_eq!(found[1].sum, plain(&columns[1]).sum, "{level:?}");
            assert_eq!((found[1].sum.value(), found[1].sum.is_finite()), (f64::INFINITY, true), "{level:?}");
        }
    }
}
