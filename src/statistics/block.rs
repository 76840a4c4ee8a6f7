//! Statistics of one block of rows: two passes over values that stay in the processor's cache.
//!
//! The first pass adds up, and keeps what every addition rounds away (Knuth's two-sum); the second sums up the deviations from
//! the mean, and their squares, and takes out what the mean has lost by rounding (the corrected two-pass algorithm of Chan,
//! Golub, LeVeque 1983). Every row goes to one of eight lanes, whatever the number of columns, so that loops are packed code,
//! and results depend on nothing but the values and where blocks begin.

use super::column::ColumnStatistics;
use super::double::Double;
use crate::convert::level::Level;

/// Rows of a block: few enough for the cache, many enough that putting blocks together costs nothing.
pub(super) const BLOCK_ROWS: usize = 1024;
/// Rows that are added up side by side.
const LANES: usize = 8;
/// Brings values whose sum leaves the range of `f64` back into it.
const SMALLER: f64 = 1.0 / (1_u128 << 100) as f64;

/// Room for working on blocks of some columns, used again and again.
pub(super) struct Block {
    lanes: Lanes,
    /// For a column in which not all is finite,
    one: Lanes,
    /// and those of its values that are.
    finite: Vec<f64>,
}

impl Block {
    pub(super) fn new(columns: usize) -> Self {
        Self { lanes: Lanes::new(columns), one: Lanes::new(1), finite: Vec::new() }
    }

    pub(super) fn is_for(&self, columns: usize) -> bool {
        self.lanes.columns == columns
    }

    /// Adds the rows of a block to what is known of its columns.
    pub(super) fn add(&mut self, values: &[f64], statistics: &mut [ColumnStatistics]) {
        let columns = self.lanes.columns;
        if columns == 0 || values.is_empty() {
            return;
        }
        self.lanes.pass(values);
        for (column, statistics) in statistics.iter_mut().enumerate() {
            let block = self.lanes.column(column).unwrap_or_else(|| {
                let values = values[column..].iter().step_by(columns);
                sift(values.copied(), &mut self.finite, &mut self.one)
            });
            statistics.merge(&block);
        }
    }
}

/// Sums of the rows of one block.
///
/// Invariant: all vectors have `LANES` times as many elements as there are columns.
struct Lanes {
    columns: usize,
    rows: f64,
    sums: Vec<f64>,
    /// What the sums have rounded away.
    rests: Vec<f64>,
    minima: Vec<f64>,
    maxima: Vec<f64>,
    means: Vec<f64>,
    /// Sums of deviations from the means.
    deviations: Vec<f64>,
    /// Sums of their squares.
    squares: Vec<f64>,
}

impl Lanes {
    fn new(columns: usize) -> Self {
        let room = || vec![0.0; LANES * columns];
        let (sums, rests, minima, maxima) = (room(), room(), room(), room());
        Self { columns, rows: 0.0, sums, rests, minima, maxima, means: room(), deviations: room(), squares: room() }
    }

    fn pass(&mut self, values: &[f64]) {
        self.rows = (values.len() / self.columns) as f64;
        Level::chosen().run(|| self.sum_up(values));
        for column in 0..self.columns {
            let mean = self.sum(column).divided_by(self.rows).value();
            (0..LANES).for_each(|lane| self.means[lane * self.columns + column] = mean);
        }
        Level::chosen().run(|| self.deviate(values));
    }

    #[inline(always)]
    fn sum_up(&mut self, values: &[f64]) {
        let Self { sums, rests, minima, maxima, .. } = self;
        sums.fill(0.0);
        rests.fill(0.0);
        minima.fill(f64::INFINITY);
        maxima.fill(f64::NEG_INFINITY);
        for chunk in values.chunks(sums.len()) {
            let lanes = sums.iter_mut().zip(&mut *rests).zip(&mut *minima).zip(&mut *maxima);
            for ((((sum, rest), minimum), maximum), &value) in lanes.zip(chunk) {
                let (old, new) = (*sum, *sum + value);
                let part = new - old;
                *rest += (old - (new - part)) + (value - part);
                *sum = new;
                *minimum = if value < *minimum { value } else { *minimum };
                *maximum = if value > *maximum { value } else { *maximum };
            }
        }
    }

    #[inline(always)]
    fn deviate(&mut self, values: &[f64]) {
        let Self { means, deviations, squares, .. } = self;
        deviations.fill(0.0);
        squares.fill(0.0);
        for chunk in values.chunks(means.len()) {
            let lanes = deviations.iter_mut().zip(&mut *squares).zip(&*means);
            for (((deviation, square), mean), value) in lanes.zip(chunk) {
                let difference = value - mean;
                *deviation += difference;
                *square += difference * difference;
            }
        }
    }

    /// What is known of one column; `None` if its sum is not finite.
    fn column(&self, column: usize) -> Option<ColumnStatistics> {
        let sum = self.sum(column);
        if !sum.value().is_finite() {
            return None;
        }
        let minimum = self.reduce(&self.minima, column, f64::min);
        let maximum = self.reduce(&self.maxima, column, f64::max);
        let deviation = self.reduce(&self.deviations, column, |a, b| a + b);
        let centered = self.reduce(&self.squares, column, |a, b| a + b) - deviation * (deviation / self.rows);
        // Equal values do not deviate, and roundings do not make squares negative.
        let centered = if minimum == maximum || centered < 0.0 { 0.0 } else { centered };
        let (finite, centered) = (self.rows as u64, Double::from(centered));
        Some(ColumnStatistics { finite, minimum, maximum, sum, centered, ..ColumnStatistics::EMPTY })
    }

    fn sum(&self, column: usize) -> Double {
        let lane = |lanes: &[f64], lane: usize| Double::from(lanes[lane * self.columns + column]);
        let all = (0..LANES).map(|index| lane(&self.sums, index).add(lane(&self.rests, index)));
        all.fold(Double::ZERO, Double::add)
    }

    /// Puts the lanes of one column together, always in the same order.
    fn reduce(&self, lanes: &[f64], column: usize, with: impl Fn(f64, f64) -> f64) -> f64 {
        let mut values: [f64; LANES] = std::array::from_fn(|lane| lanes[lane * self.columns + column]);
        for half in [4, 2, 1] {
            (0..half).for_each(|lane| values[lane] = with(values[lane], values[lane + half]));
        }
        values[0]
    }
}

/// Statistics of one column in which not all is finite, or whose sum is not.
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
    let mut all = lanes.column(0).unwrap_or_else(|| {
        finite.iter_mut().for_each(|value| *value *= SMALLER);
        lanes.pass(finite);
        let small = lanes.column(0).unwrap_or(ColumnStatistics::EMPTY); // finite by now
        let (minimum, maximum) = (small.minimum / SMALLER, small.maximum / SMALLER);
        let (sum, centered) = (small.sum.scaled(1.0 / SMALLER), small.centered.scaled(1.0 / SMALLER / SMALLER));
        ColumnStatistics { minimum, maximum, sum, centered, ..small }
    });
    all.merge(&others);
    all
}
