//! The nearest of many centroids in single precision, and whether that is certain.
//!
//! Of all centroids, the nearest to a row has the largest `xc - |c|²/2`: a matrix product, which in `f32` takes a
//! quarter of the instructions of differences in `f64`. Rows and centroids are shifted first, so that the centroids lie
//! around zero. What rounding can change is bounded for each row; if the best is ahead of the second by more than that,
//! no distance in `f64` is smaller than its own. Otherwise the row is compared with all centroids in `f64`. So this
//! decides how long a search takes, and never what it finds.

use crate::base::error::Result;
use crate::base::room::{filled, with_room};

/// Number of rows that are worked on together: a cache line of `f32`.
pub(super) const LANES: usize = 16;
/// Number of centroids that are compared together.
const GROUP: usize = 4;
/// With fewer centroids, comparing them in `f64` takes as long.
const LEAST_CENTROIDS: usize = 24;
/// Sums of so many squares have 1 % of error at most.
const MOST_COLUMNS: usize = 4096;

type Lanes = [f32; LANES];

/// Centroids in single precision.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SingleCentroids {
    columns: usize,
    /// What is subtracted from every column: about the mean of the centroids.
    shifts: Vec<f32>,
    /// Groups of four centroids, column by column. What the last has too many is zero.
    grouped: Vec<f32>,
    /// Half of the squared length of each.
    halves: Vec<f32>,
    /// The largest squared length.
    reach: f32,
    count: usize,
}

impl SingleCentroids {
    /// Arranges centroids, if searching them like this pays. There is one column at least, and there are only whole
    /// rows of finite values.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(values: &[f64], columns: usize) -> Result<Option<Self>> {
        let count = values.len() / columns;
        if count < LEAST_CENTROIDS || columns > MOST_COLUMNS {
            return Ok(None);
        }
        let mut shifts = with_room(columns)?;
        let share = 1.0 / count as f64; // of each value first: their sum may leave the range
        shifts.extend((0..columns).map(|column| {
            let values = values[column..].iter().step_by(columns);
            values.map(|value| value * share).sum::<f64>() as f32
        }));
        let groups = count.div_ceil(GROUP);
        let (mut grouped, mut halves) = (filled(groups * GROUP * columns, 0.0_f32)?, filled(groups * GROUP, 0.0_f32)?);
        let mut reach = 0.0_f64;
        for (place, centroid) in values.chunks_exact(columns).enumerate() {
            let group = &mut grouped[place / GROUP * GROUP * columns..][..GROUP * columns];
            let mut squares = 0.0;
            for (column, value) in centroid.iter().enumerate() {
                let value = value - f64::from(shifts[column]);
                squares += value * value;
                group[column * GROUP + place % GROUP] = value as f32;
            }
            halves[place] = (squares / 2.0) as f32;
            reach = reach.max(squares);
        }
        let reach = reach as f32;
        let is_in_range = reach.is_finite() && shifts.iter().all(|shift| shift.is_finite());
        Ok(is_in_range.then_some(Self { columns, shifts, grouped, halves, reach, count }))
    }

    /// Finds the nearest centroids of sixteen rows, which are two columns of eight lanes; `lanes` is room for them.
    /// Returns for each of them the index, and whether it is certain.
    #[inline(always)]
    pub(super) fn find(&self, rows: [&[[f64; 8]]; 2], lanes: &mut [Lanes]) -> ([u32; LANES], [bool; LANES]) {
        let mut squares = [0.0_f32; LANES];
        let [low, high] = rows;
        for (((lanes, shift), low), high) in lanes.iter_mut().zip(&self.shifts).zip(low).zip(high) {
            let shift = f64::from(*shift);
            let (first, last) = lanes.split_at_mut(8);
            first.iter_mut().zip(low).for_each(|(lane, value)| *lane = (value - shift) as f32);
            last.iter_mut().zip(high).for_each(|(lane, value)| *lane = (value - shift) as f32);
            squares.iter_mut().zip(&*lanes).for_each(|(square, lane)| *square = lane.mul_add(*lane, *square));
        }
        let (mut best, mut second, mut index) = ([f32::NEG_INFINITY; LANES], [f32::NEG_INFINITY; LANES], [0; LANES]);
        let groups = self.grouped.chunks_exact(GROUP * self.columns).zip(self.halves.as_chunks::<GROUP>().0);
        for (group, (centroids, halves)) in groups.enumerate() {
            let first = group * GROUP;
            for (place, scores) in scores_of(lanes, centroids, halves).iter().enumerate() {
                if first + place < self.count {
                    keep_best(scores, (first + place) as u32, &mut best, &mut second, &mut index);
                }
            }
        }
        let mut are_certain = [false; LANES];
        for lane in 0..LANES {
            are_certain[lane] = best[lane] - second[lane] > self.doubt(squares[lane]);
        }
        (index, are_certain)
    }

    /// Returns a bound of what rounding changes of the difference of two scores, of a row of this squared length.
    ///
    /// With `S = |x|² + |c|²`, the rounding of `x`, `c` and `|c|²/2` to `f32` and the chain of `n` multiplications and
    /// additions change a score by at most `1.01 (n + 2) 2^-24 S`, and by `2^-149 (n + 1)(2 + S)` where numbers are
    /// subnormal; of two scores, twice that. The differences and sums in `f64` change distances by a millionth of that.
    /// The bound is about twice the sum of them. (Higham, Accuracy and Stability of Numerical Algorithms, 3.1.)
    #[inline(always)]
    fn doubt(&self, squares: f32) -> f32 {
        let terms = (self.columns + 4) as f32;
        4.0 * terms * (f32::EPSILON / 2.0) * (squares + self.reach) + terms * f32::MIN_POSITIVE
    }
}

/// Returns the scores of four centroids for sixteen rows.
#[inline(always)]
fn scores_of(lanes: &[Lanes], centroids: &[f32], halves: &[f32; GROUP]) -> [Lanes; GROUP] {
    let mut scores = halves.map(|half| [-half; LANES]);
    for (values, centroids) in lanes.iter().zip(centroids.as_chunks::<GROUP>().0) {
        for (scores, centroid) in scores.iter_mut().zip(centroids) {
            for (score, value) in scores.iter_mut().zip(values) {
                *score = value.mul_add(*centroid, *score);
            }
        }
    }
    scores
}

/// A score that is NaN is not better.
#[inline(always)]
fn keep_best(scores: &Lanes, centroid: u32, best: &mut Lanes, second: &mut Lanes, index: &mut [u32; LANES]) {
    for lane in 0..LANES {
        let score = scores[lane];
        let is_better = score > best[lane];
        let beaten = if is_better { best[lane] } else { score };
        second[lane] = if beaten > second[lane] { beaten } else { second[lane] };
        best[lane] = if is_better { score } else { best[lane] };
        index[lane] = if is_better { centroid } else { index[lane] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of two columns, all of the same values.
    fn rows(values: [f64; 2]) -> [[f64; 8]; 2] {
        values.map(|value| [value; 8])
    }

    #[test]
    fn a_nearest_centroid_is_certain_if_it_is_nearer_than_rounding_can_tell() {
        let mut values: Vec<f64> = (0..24).flat_map(|i| [f64::from(i) * 10.0 + 1e6, -1e6]).collect();
        let find = |values: &[f64], row| {
            let centroids = SingleCentroids::new(values, 2).unwrap().unwrap();
            let mut lanes = [[0.0; LANES]; 2];
            let (indices, are_certain) = centroids.find([&rows(row), &rows(row)], &mut lanes);
            assert!(indices.iter().all(|&index| index == indices[0]));
            are_certain.iter().all(|&certain| certain).then_some(indices[0])
        };
        assert_eq!(find(&values, [1e6 + 31.0, -1e6]), Some(3));
        assert_eq!(find(&values, [1e6 + 234.0, -1e6 - 3.0]), Some(23));
        assert_eq!(find(&values, [1e6 + 35.0, -1e6]), None); // as near to the next one
        assert_eq!(find(&values, [1e6 + 35.0 - 1e-6, -1e6]), None);
        assert_eq!(find(&values, [f64::NAN, -1e6]), None);
        assert_eq!(find(&values, [f64::INFINITY, -1e6]), None);
        assert_eq!(find(&values, [1e300, -1e6]), None);
        values[8] = values[6]; // the fifth is the fourth
        assert_eq!(find(&values, [1e6 + 31.0, -1e6]), None);
    }

    #[test]
    fn few_centroids_many_columns_and_values_out_of_range_are_not_searched() {
        let is_searched = |count: usize, columns: usize, value: f64| {
            SingleCentroids::new(&vec![value; count * columns], columns).unwrap().is_some()
        };
        assert!(is_searched(24, 1, 1.0) && is_searched(24, 4096, 1e20));
        assert!(!is_searched(23, 1, 1.0) && !is_searched(24, 4097, 1.0) && !is_searched(24, 1, 1e39));
    }
}
