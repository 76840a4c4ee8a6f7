//! The loops over the values of blocks, compiled for each CPU level.
//!
//! A block is summed in eight lanes: lane `i` has rows `i`, `i + 8`, `i + 16` and so on. Every sum of a lane is one
//! chain over its rows. The loops hold in registers the sums of eight values that are beside each other in memory:
//! those of several columns of rows, or of eight rows of a column. Afterwards lanes are combined for all columns
//! together. Vectorized loops need whole arrays, one operation after the other. (Measured: one lane after the other
//! takes four times as long.)

use crate::base::cache::{self, prefetch};
use crate::convert::level::{Level, LongLoop};
use crate::statistics::column::{ColumnStatistics, greater, lesser};
use crate::statistics::double::{Double, add_pairs, quotient_of_pair};

/// Number of rows that are summed in parallel lanes, and of values whose sums are in registers.
const LANES: usize = 8;
/// Minimum number of groups of lanes in a band, and number of values in one if these are more.
const BAND: usize = 4;
const BAND_VALUES: usize = 2048;

type Eight = [f64; LANES];

/// A type whose values the loops widen to `f64` while they read them.
pub(in crate::statistics) trait Widened: Copy + Into<f64> {}

impl Widened for f64 {}
impl Widened for f32 {}

/// The values of blocks of equal numbers of rows.
pub(super) enum Blocks<'a, T> {
    /// One block, row by row.
    Rows(&'a [T]),
    /// One column of several blocks. Each block takes the place of a column in [`Lanes`].
    OfColumn(&'a [T]),
}

/// Sums of the rows of one block, or of several blocks of one column.
///
/// Invariant: each vector of lanes has `columns` elements, which are the values of all columns in the first lane, then
/// those in the next lanes. The other vectors have one element for each column.
pub(super) struct Lanes {
    columns: usize,
    rows: usize,
    sums: Vec<Eight>,
    /// The rounding errors of the sums.
    rests: Vec<Eight>,
    /// Extremes; at the end, the first lane has those of all.
    minima: Vec<Eight>,
    maxima: Vec<Eight>,
    /// Sums and rounding errors of all lanes. Not finite if a sum is too large for `f64`.
    totals: Vec<f64>,
    total_rests: Vec<f64>,
    means: Vec<Eight>,
    /// Sums of deviations from the means.
    deviations: Vec<Eight>,
    /// Sums of the squared deviations; at the end, the first lane has those of all, corrected.
    squares: Vec<Eight>,
    scratch: Vec<Eight>,
}

impl Lanes {
    pub(super) fn new(columns: usize) -> Self {
        let lanes = || vec![[0.0; LANES]; columns];
        let (sums, rests, minima, maxima, means) = (lanes(), lanes(), lanes(), lanes(), lanes());
        let (deviations, squares, scratch) = (lanes(), lanes(), lanes());
        let (totals, total_rests) = (vec![0.0; columns], vec![0.0; columns]);
        Self { columns, rows: 0, sums, rests, minima, maxima, totals, total_rests, means, deviations, squares, scratch }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Computes the sums of blocks of `rows` rows.
    pub(super) fn pass<T: Widened>(&mut self, rows: usize, values: &Blocks<'_, T>) {
        self.rows = rows;
        Level::chosen().run_long(Pass { lanes: self, values });
    }

    /// Returns the statistics of one column. Its sums are not finite if a value is not finite or a lane overflowed
    /// `f64`.
    #[inline(always)]
    pub(super) fn column(&self, column: usize) -> ColumnStatistics {
        let sum = Double::of_sum(self.totals[column], self.total_rests[column]);
        let sum = sum.unwrap_or_else(|| self.large_total(column));
        let at = |lanes: &[Eight]| lanes.as_flattened()[column];
        let (minimum, maximum) = (at(&self.minima), at(&self.maxima));
        let (finite, centered) = (self.rows as u64, Double::from(at(&self.squares)));
        ColumnStatistics { finite, minimum, maximum, sum, centered, ..ColumnStatistics::EMPTY }
    }

    /// Returns the total of the lanes of one column, which may be larger than any `f64`.
    #[cold]
    #[inline(never)]
    fn large_total(&self, column: usize) -> Double {
        let lane = |lanes: &[Eight], lane: usize| Double::from(lanes.as_flattened()[lane * self.columns + column]);
        // Other lanes are empty.
        let all = (0..LANES.min(self.rows)).map(|index| lane(&self.sums, index).add(lane(&self.rests, index)));
        all.fold(Double::ZERO, Double::add)
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.minima.fill([f64::INFINITY; LANES]);
        self.maxima.fill([f64::NEG_INFINITY; LANES]);
        for sums in [&mut self.sums, &mut self.rests, &mut self.deviations, &mut self.squares] {
            sums.fill([0.0; LANES]);
        }
    }

    /// The first pass.
    #[inline(always)]
    fn sum<T: Widened>(&mut self, values: &Blocks<'_, T>) {
        let Self { sums, rests, minima, maxima, scratch, .. } = self;
        match values {
            Blocks::Rows(values) => sum_rows(values, sums, rests, minima, maxima),
            Blocks::OfColumn(values) => {
                let places = sums.chunks_mut(1).zip(rests.chunks_mut(1)).zip(minima.chunks_mut(1));
                let places = places.zip(maxima.chunks_mut(1)).zip(values.chunks_exact(self.rows));
                for ((((sums, rests), minima), maxima), values) in places {
                    sum_rows(values, sums, rests, minima, maxima);
                }
                [sums, rests, minima, maxima].into_iter().for_each(|lanes| order_by_lanes(lanes, scratch));
            }
        }
    }

    /// The second pass.
    #[inline(always)]
    fn deviate<T: Widened>(&mut self, values: &Blocks<'_, T>) {
        let Self { means, deviations, squares, scratch, .. } = self;
        match values {
            Blocks::Rows(values) => deviate_rows(values, means, deviations, squares),
            Blocks::OfColumn(values) => {
                let places = means.as_flattened().iter().zip(deviations.chunks_mut(1)).zip(squares.chunks_mut(1));
                for (((&mean, deviations), squares), values) in places.zip(values.chunks_exact(self.rows)) {
                    deviate_rows(values, &[[mean; LANES]], deviations, squares);
                }
                [deviations, squares].into_iter().for_each(|lanes| order_by_lanes(lanes, scratch));
            }
        }
    }

    /// Computes totals and means from the sums of the lanes. Those beyond the range of `f64` become infinite or NaN.
    #[inline(always)]
    fn total(&mut self) {
        let (columns, rows) = (self.columns, self.rows as f64);
        let (totals, rests) = (&mut self.totals[..columns], &mut self.total_rests[..columns]);
        totals.fill(0.0);
        rests.fill(0.0);
        let lanes = self.sums.as_flattened().chunks_exact(columns).zip(self.rests.as_flattened().chunks_exact(columns));
        // Other lanes are empty.
        for (lane_sums, lane_rests) in lanes.take(self.rows) {
            for column in 0..columns {
                let lane = add_pairs((lane_sums[column], 0.0), (lane_rests[column], 0.0));
                (totals[column], rests[column]) = add_pairs((totals[column], rests[column]), lane);
            }
        }
        let (means, others) = self.means.as_flattened_mut().split_at_mut(columns);
        for column in 0..columns {
            means[column] = quotient_of_pair((totals[column], rests[column]), rows);
        }
        if means.iter().any(|mean| !mean.is_finite()) {
            self.large_means();
            return;
        }
        others.chunks_exact_mut(columns).for_each(|lane| lane.copy_from_slice(means));
    }

    /// Computes all means, even if totals are beyond the range of `f64`.
    #[cold]
    #[inline(never)]
    fn large_means(&mut self) {
        for column in 0..self.columns {
            let total = Double::of_sum(self.totals[column], self.total_rests[column]);
            let total = total.unwrap_or_else(|| self.large_total(column));
            let mean = total.divided_by(self.rows as f64).value();
            let means = self.means.as_flattened_mut();
            (0..LANES).for_each(|lane| means[lane * self.columns + column] = mean);
        }
    }

    /// Combines the lanes.
    #[inline(always)]
    fn combine(&mut self) {
        let (columns, rows) = (self.columns, self.rows as f64);
        reduce(&mut self.minima, columns, lesser);
        reduce(&mut self.maxima, columns, greater);
        reduce(&mut self.deviations, columns, |a, b| a + b);
        reduce(&mut self.squares, columns, |a, b| a + b);
        let extremes = self.minima.as_flattened().iter().zip(self.maxima.as_flattened());
        let sums = self.squares.as_flattened_mut().iter_mut().zip(self.deviations.as_flattened());
        for ((square, deviation), (minimum, maximum)) in sums.zip(extremes).take(columns) {
            let centered = *square - deviation * (deviation / rows);
            // Exactly 0 for equal values, and never negative because of rounding.
            *square = if minimum == maximum || centered < 0.0 { 0.0 } else { centered };
        }
    }
}

/// Both passes over blocks.
struct Pass<'a, T> {
    lanes: &'a mut Lanes,
    values: &'a Blocks<'a, T>,
}

impl<T: Widened> LongLoop for Pass<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { lanes, values } = self;
        lanes.clear();
        lanes.sum(values);
        lanes.total();
        lanes.deviate(values);
        lanes.combine();
    }
}

/// The sums of the first pass.
struct First<const N: usize> {
    sum: [f64; N],
    rest: [f64; N],
    minimum: [f64; N],
    maximum: [f64; N],
}

impl<const N: usize> First<N> {
    /// Adds one value to each sum, and its rounding error to the rest.
    #[inline(always)]
    fn add(&mut self, values: [f64; N]) {
        let old = self.sum;
        let new = each(old, values, |old, value| old + value);
        let part = each(new, old, |new, old| new - old);
        let lost = each(old, each(new, part, |new, part| new - part), |old, kept| old - kept);
        let error = each(lost, each(values, part, |value, part| value - part), |lost, more| lost + more);
        self.rest = each(self.rest, error, |rest, error| rest + error);
        self.sum = new;
        self.minimum = each(values, self.minimum, lesser);
        self.maximum = each(values, self.maximum, greater);
    }
}

/// The sums of the second pass.
struct Second<const N: usize> {
    deviation: [f64; N],
    square: [f64; N],
}

impl<const N: usize> Second<N> {
    /// Adds the deviation of one value to each sum.
    #[inline(always)]
    fn add(&mut self, values: [f64; N], means: [f64; N]) {
        let differences = each(values, means, |value, mean| value - mean);
        self.deviation = each(self.deviation, differences, |sum, difference| sum + difference);
        self.square = each(self.square, differences, |sum, difference| sum + difference * difference);
    }
}

/// Returns the results of a function of two values.
#[inline(always)]
fn each<const N: usize>(a: [f64; N], b: [f64; N], f: impl Fn(f64, f64) -> f64) -> [f64; N] {
    let mut results = [0.0; N];
    for lane in 0..N {
        results[lane] = f(a[lane], b[lane]);
    }
    results
}

#[inline(always)]
fn widened<T: Widened>(values: &[T; LANES]) -> Eight {
    let mut wide = [0.0; LANES];
    for lane in 0..LANES {
        wide[lane] = values[lane].into();
    }
    wide
}

/// Combines the lanes of each column, always in the same order. The first lane receives the results.
#[inline(always)]
fn reduce(lanes: &mut [Eight], columns: usize, with: impl Fn(f64, f64) -> f64) {
    for half in [4, 2, 1] {
        let (low, high) = lanes.as_flattened_mut().split_at_mut(half * columns);
        low.iter_mut().zip(high).for_each(|(low, high)| *low = with(*low, *high));
    }
}

/// The first pass over rows of as many columns as the slices have elements.
#[inline(always)]
fn sum_rows<T: Widened>(
    values: &[T],
    sums: &mut [Eight],
    rests: &mut [Eight],
    minima: &mut [Eight],
    maxima: &mut [Eight],
) {
    let columns = sums.len();
    let (bands, tail) = bands(values, columns);
    for band in bands {
        let places = sums.iter_mut().zip(&mut *rests).zip(&mut *minima).zip(&mut *maxima);
        for (place, (((sums, rests), minima), maxima)) in places.enumerate() {
            let mut first = First { sum: *sums, rest: *rests, minimum: *minima, maximum: *maxima };
            for values in band.iter().skip(place).step_by(columns) {
                // The processor does not foresee these steps. Measured with rows of 16 `f64` in memory: 0.8 ns for each
                // value, and 1.6 ns without this request for a line two bands ahead.
                let ahead = values.as_ptr().cast::<u8>().wrapping_add(2 * size_of_val(band));
                prefetch::<{ cache::SECOND_LEVEL }>(ahead, cache::LINE);
                first.add(widened(values));
            }
            (*sums, *rests, *minima, *maxima) = (first.sum, first.rest, first.minimum, first.maximum);
        }
    }
    let places = sums.as_flattened_mut().iter_mut().zip(rests.as_flattened_mut());
    let places = places.zip(minima.as_flattened_mut()).zip(maxima.as_flattened_mut());
    for ((((sum, rest), minimum), maximum), &value) in places.zip(tail) {
        let mut first = First { sum: [*sum], rest: [*rest], minimum: [*minimum], maximum: [*maximum] };
        first.add([value.into()]);
        ([*sum], [*rest], [*minimum], [*maximum]) = (first.sum, first.rest, first.minimum, first.maximum);
    }
}

/// The second pass over rows of as many columns as the slices have elements.
#[inline(always)]
fn deviate_rows<T: Widened>(values: &[T], means: &[Eight], deviations: &mut [Eight], squares: &mut [Eight]) {
    let columns = means.len();
    let (bands, tail) = bands(values, columns);
    for band in bands {
        for (place, ((deviations, squares), means)) in deviations.iter_mut().zip(&mut *squares).zip(means).enumerate() {
            let mut second = Second { deviation: *deviations, square: *squares };
            for values in band.iter().skip(place).step_by(columns) {
                second.add(widened(values), *means);
            }
            (*deviations, *squares) = (second.deviation, second.square);
        }
    }
    let places = deviations.as_flattened_mut().iter_mut().zip(squares.as_flattened_mut()).zip(means.as_flattened());
    for (((deviation, square), &mean), &value) in places.zip(tail) {
        let mut second = Second { deviation: [*deviation], square: [*square] };
        second.add([value.into()], [mean]);
        ([*deviation], [*square]) = (second.deviation, second.square);
    }
}

/// Orders lanes that are beside each other for each column as [`Lanes`] has them.
#[inline(always)]
fn order_by_lanes(lanes: &mut Vec<Eight>, scratch: &mut Vec<Eight>) {
    let columns = lanes.len();
    let ordered = scratch.as_flattened_mut();
    for (column, values) in lanes.iter().enumerate() {
        (0..LANES).for_each(|lane| ordered[lane * columns + column] = values[lane]);
    }
    std::mem::swap(lanes, scratch);
}

/// Divides rows into bands that stay in the first-level cache, each of complete groups of eight rows, and a tail of
/// fewer values.
#[inline(always)]
fn bands<T>(values: &[T], columns: usize) -> (std::slice::Chunks<'_, [T; LANES]>, &[T]) {
    let width = columns * LANES;
    let (whole, tail) = values.split_at(values.len() / width * width);
    let groups = (BAND_VALUES / width).max(BAND);
    (whole.as_chunks().0.chunks(groups * columns), tail)
}
