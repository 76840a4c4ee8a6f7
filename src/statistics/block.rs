//! Statistics of one block of rows, in two passes over values that stay in the processor's cache.
//!
//! The first pass computes sums together with the rounding error of every addition (Knuth's two-sum). The second pass
//! sums the deviations from the mean and their squares, and corrects for the rounding of the mean (the corrected
//! two-pass algorithm of Chan, Golub, LeVeque 1983). Every row is added to one of eight lanes, for any number of
//! columns. This lets the compiler vectorize the loops, and results depend only on the values and on the positions of
//! the blocks.

use super::column::{ColumnStatistics, greater, lesser};
use super::double::Double;
use crate::convert::level::{Level, LongLoop};

/// Number of rows in a block: small enough for the cache, and large enough that merging costs next to nothing.
pub(super) const BLOCK_ROWS: usize = 1024;
/// Number of rows that are summed in parallel lanes.
const LANES: usize = 8;
/// Minimum number of groups of lanes in a band, and number of values in one if these are more.
const BAND: usize = 4;
const BAND_VALUES: usize = 2048;

/// Reusable buffers for the blocks of some columns.
pub(super) struct BlockWorkspace {
    lanes: Lanes,
    /// The lanes of a single column with non-finite values.
    one: Lanes,
    /// The finite values of that column.
    finite: Vec<f64>,
}

impl BlockWorkspace {
    pub(super) fn new(columns: usize) -> Self {
        Self { lanes: Lanes::new(columns), one: Lanes::new(1), finite: Vec::new() }
    }

    pub(super) fn is_for(&self, columns: usize) -> bool {
        self.lanes.columns == columns
    }

    /// Adds the rows of a block to the statistics of its columns.
    pub(super) fn add(&mut self, values: &[f64], statistics: &mut [ColumnStatistics]) {
        let columns = self.lanes.columns;
        if columns == 0 || values.is_empty() {
            return;
        }
        self.lanes.pass(values);
        for (column, statistics) in statistics.iter_mut().enumerate() {
            let mut block = self.lanes.column(column);
            if !block.is_finite() {
                let values = values[column..].iter().step_by(columns);
                block = sift(values.copied(), &mut self.finite, &mut self.one);
            }
            statistics.merge(&block);
        }
    }
}

/// Sums of the rows of one block.
///
/// Invariant: `totals` has one element for each column, and all other vectors have `LANES`.
struct Lanes {
    columns: usize,
    rows: usize,
    sums: Vec<f64>,
    /// The rounding errors of the sums.
    rests: Vec<f64>,
    minima: Vec<f64>,
    maxima: Vec<f64>,
    /// Sums and rounding errors of all lanes.
    totals: Vec<Double>,
    means: Vec<f64>,
    /// Sums of deviations from the means.
    deviations: Vec<f64>,
    /// Sums of the squared deviations.
    squares: Vec<f64>,
}

impl Lanes {
    fn new(columns: usize) -> Self {
        let room = || vec![0.0; LANES * columns];
        let (sums, rests, minima, maxima, means) = (room(), room(), room(), room(), room());
        let (totals, deviations, squares) = (vec![Double::ZERO; columns], room(), room());
        Self { columns, rows: 0, sums, rests, minima, maxima, totals, means, deviations, squares }
    }

    fn pass(&mut self, values: &[f64]) {
        self.rows = values.len() / self.columns;
        Level::chosen().run_long(SumUp { lanes: self, values });
        for column in 0..self.columns {
            let lane = |lanes: &[f64], lane: usize| Double::from(lanes[lane * self.columns + column]);
            // Other lanes are empty.
            let all = (0..LANES.min(self.rows)).map(|index| lane(&self.sums, index).add(lane(&self.rests, index)));
            let total = all.fold(Double::ZERO, Double::add);
            let mean = total.divided_by(self.rows as f64).value();
            self.totals[column] = total;
            (0..LANES).for_each(|lane| self.means[lane * self.columns + column] = mean);
        }
        Level::chosen().run_long(Deviate { lanes: self, values });
    }

    #[inline(always)]
    fn sum_up(&mut self, values: &[f64]) {
        let Self { sums, rests, minima, maxima, .. } = self;
        sums.fill(0.0);
        rests.fill(0.0);
        minima.fill(f64::INFINITY);
        maxima.fill(f64::NEG_INFINITY);
        let (bands, tail) = bands(values, sums.len());
        for band in bands {
            for at in (0..sums.len()).step_by(LANES) {
                let (mut sum, mut rest) = (load(sums, at), load(rests, at));
                let (mut minimum, mut maximum) = (load(minima, at), load(maxima, at));
                for values in lanes_at(band, sums.len(), at) {
                    add_up(*values, &mut sum, &mut rest, &mut minimum, &mut maximum);
                }
                sums[at..at + LANES].copy_from_slice(&sum);
                rests[at..at + LANES].copy_from_slice(&rest);
                minima[at..at + LANES].copy_from_slice(&minimum);
                maxima[at..at + LANES].copy_from_slice(&maximum);
            }
        }
        let lanes = sums.iter_mut().zip(&mut *rests).zip(&mut *minima).zip(&mut *maxima);
        for ((((sum, rest), minimum), maximum), &value) in lanes.zip(tail) {
            let mut lane = [[*sum], [*rest], [*minimum], [*maximum]];
            let [s, r, low, high] = &mut lane;
            add_up([value], s, r, low, high);
            [[*sum], [*rest], [*minimum], [*maximum]] = lane;
        }
    }

    #[inline(always)]
    fn deviate(&mut self, values: &[f64]) {
        let Self { means, deviations, squares, .. } = self;
        deviations.fill(0.0);
        squares.fill(0.0);
        let (bands, tail) = bands(values, means.len());
        for band in bands {
            for at in (0..means.len()).step_by(LANES) {
                let (mean, mut deviation, mut square) = (load(means, at), load(deviations, at), load(squares, at));
                for values in lanes_at(band, means.len(), at) {
                    deviate(*values, mean, &mut deviation, &mut square);
                }
                deviations[at..at + LANES].copy_from_slice(&deviation);
                squares[at..at + LANES].copy_from_slice(&square);
            }
        }
        let lanes = deviations.iter_mut().zip(&mut *squares).zip(&*means);
        for (((deviation, square), &mean), &value) in lanes.zip(tail) {
            let mut lane = [[*deviation], [*square]];
            let [d, s] = &mut lane;
            deviate([value], [mean], d, s);
            [[*deviation], [*square]] = lane;
        }
    }

    /// Returns the statistics of one column. Its sums are not finite if a value is not finite or a lane overflowed
    /// `f64`.
    fn column(&self, column: usize) -> ColumnStatistics {
        let sum = self.totals[column];
        let (minimum, maximum) = self.extremes(column);
        let deviation = self.reduce(&self.deviations, column, |a, b| a + b);
        let squares = self.reduce(&self.squares, column, |a, b| a + b);
        let centered = squares - deviation * (deviation / self.rows as f64);
        // Exactly 0 for equal values, and never negative because of rounding.
        let centered = if minimum == maximum || centered < 0.0 { 0.0 } else { centered };
        let (finite, centered) = (self.rows as u64, Double::from(centered));
        ColumnStatistics { finite, minimum, maximum, sum, centered, ..ColumnStatistics::EMPTY }
    }

    /// Returns the smallest and the largest value of one column.
    fn extremes(&self, column: usize) -> (f64, f64) {
        (self.reduce(&self.minima, column, lesser), self.reduce(&self.maxima, column, greater))
    }

    /// Combines the lanes of one column, always in the same order.
    fn reduce(&self, lanes: &[f64], column: usize, with: impl Fn(f64, f64) -> f64) -> f64 {
        let mut values: [f64; LANES] = std::array::from_fn(|lane| lanes[lane * self.columns + column]);
        for half in [4, 2, 1] {
            (0..half).for_each(|lane| values[lane] = with(values[lane], values[lane + half]));
        }
        values[0]
    }
}

/// The loop of the first pass.
struct SumUp<'a> {
    lanes: &'a mut Lanes,
    values: &'a [f64],
}

impl LongLoop for SumUp<'_> {
    #[inline(always)]
    fn run(self) {
        self.lanes.sum_up(self.values);
    }
}

/// The loop of the second pass.
struct Deviate<'a> {
    lanes: &'a mut Lanes,
    values: &'a [f64],
}

impl LongLoop for Deviate<'_> {
    #[inline(always)]
    fn run(self) {
        self.lanes.deviate(self.values);
    }
}

/// Adds values to their lanes. (Measured: whole arrays, one operation after the other, become vector instructions, and
/// one lane after the other does not; four times as fast.)
#[inline(always)]
fn add_up<const N: usize>(
    values: [f64; N],
    sum: &mut [f64; N],
    rest: &mut [f64; N],
    minimum: &mut [f64; N],
    maximum: &mut [f64; N],
) {
    let old = *sum;
    let new = each(old, values, |old, value| old + value);
    let part = each(new, old, |new, old| new - old);
    let lost = each(old, each(new, part, |new, part| new - part), |old, kept| old - kept);
    let error = each(lost, each(values, part, |value, part| value - part), |lost, more| lost + more);
    *rest = each(*rest, error, |rest, error| rest + error);
    *sum = new;
    *minimum = each(values, *minimum, lesser);
    *maximum = each(values, *maximum, greater);
}

/// Adds the deviations of values to their lanes.
#[inline(always)]
fn deviate<const N: usize>(values: [f64; N], means: [f64; N], deviations: &mut [f64; N], squares: &mut [f64; N]) {
    let differences = each(values, means, |value, mean| value - mean);
    *deviations = each(*deviations, differences, |deviation, difference| deviation + difference);
    *squares = each(*squares, differences, |square, difference| square + difference * difference);
}

/// Returns the results of a function of two values, for every lane.
#[inline(always)]
fn each<const N: usize>(a: [f64; N], b: [f64; N], f: impl Fn(f64, f64) -> f64) -> [f64; N] {
    let mut results = [0.0; N];
    for lane in 0..N {
        results[lane] = f(a[lane], b[lane]);
    }
    results
}

/// Copies some lanes to an array that stays in registers.
#[inline(always)]
fn load(lanes: &[f64], at: usize) -> [f64; LANES] {
    std::array::from_fn(|lane| lanes[at + lane])
}

/// Divides values into bands of rows that stay in the first-level cache, each of complete groups of `width` values, and
/// a tail of fewer values.
#[inline(always)]
fn bands(values: &[f64], width: usize) -> (std::slice::Chunks<'_, f64>, &[f64]) {
    let (whole, tail) = values.split_at(values.len() / width * width);
    (whole.chunks((BAND * width).max(BAND_VALUES / width * width)), tail)
}

/// Returns the values of some lanes in every group of `width` values.
#[inline(always)]
fn lanes_at(band: &[f64], width: usize, at: usize) -> impl Iterator<Item = &[f64; LANES]> {
    band.chunks_exact(width).filter_map(move |values| values.get(at..)?.first_chunk())
}

/// Computes the statistics of one column with non-finite values or sums.
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
    lanes.pass(finite);
    let mut all = lanes.column(0);
    if !all.is_finite() {
        finite.iter_mut().for_each(|value| *value *= Double::SMALLER);
        lanes.pass(finite);
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
