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
        if self.columns == 1 {
            let (mut sum, mut rest) = (load(sums), load(rests));
            let (mut minimum, mut maximum) = (load(minima), load(maxima));
            for_each_lane(values, |lane, value| {
                add_up(value, &mut sum[lane], &mut rest[lane], &mut minimum[lane], &mut maximum[lane]);
            });
            sums.copy_from_slice(&sum);
            rests.copy_from_slice(&rest);
            minima.copy_from_slice(&minimum);
            maxima.copy_from_slice(&maximum);
            return;
        }
        for chunk in values.chunks(sums.len()) {
            let lanes = sums.iter_mut().zip(&mut *rests).zip(&mut *minima).zip(&mut *maxima);
            for ((((sum, rest), minimum), maximum), &value) in lanes.zip(chunk) {
                add_up(value, sum, rest, minimum, maximum);
            }
        }
    }

    #[inline(always)]
    fn deviate(&mut self, values: &[f64]) {
        let Self { means, deviations, squares, .. } = self;
        deviations.fill(0.0);
        squares.fill(0.0);
        if self.columns == 1 {
            let (mean, mut deviation, mut square) = (load(means), load(deviations), load(squares));
            for_each_lane(values, |lane, value| {
                deviate(value, mean[lane], &mut deviation[lane], &mut square[lane]);
            });
            deviations.copy_from_slice(&deviation);
            squares.copy_from_slice(&square);
            return;
        }
        for chunk in values.chunks(means.len()) {
            let lanes = deviations.iter_mut().zip(&mut *squares).zip(&*means);
            for (((deviation, square), &mean), &value) in lanes.zip(chunk) {
                deviate(value, mean, deviation, square);
            }
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

/// Adds a value to its lane.
#[inline(always)]
fn add_up(value: f64, sum: &mut f64, rest: &mut f64, minimum: &mut f64, maximum: &mut f64) {
    let (old, new) = (*sum, *sum + value);
    let part = new - old;
    *rest += (old - (new - part)) + (value - part);
    *sum = new;
    *minimum = lesser(value, *minimum);
    *maximum = greater(value, *maximum);
}

/// Adds the deviation of a value to its lane.
#[inline(always)]
fn deviate(value: f64, mean: f64, deviation: &mut f64, square: &mut f64) {
    let difference = value - mean;
    *deviation += difference;
    *square += difference * difference;
}

/// Copies the lanes of one column to an array that stays in registers: more than twice as fast as in memory.
#[inline(always)]
fn load(lanes: &[f64]) -> [f64; LANES] {
    std::array::from_fn(|lane| lanes[lane])
}

/// Calls `take` with the values of one column and their lanes. (Measured: iterators over chunks take 1.5 times as
/// long.)
#[inline(always)]
fn for_each_lane(values: &[f64], mut take: impl FnMut(usize, f64)) {
    let mut at = 0;
    while let Some(chunk) = values.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
        (0..LANES).for_each(|lane| take(lane, chunk[lane]));
        at += LANES;
    }
    let rest = values.get(at..).unwrap_or_default();
    rest.iter().enumerate().for_each(|(lane, &value)| take(lane, value));
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
