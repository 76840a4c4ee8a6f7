//! Sums of products in twice the precision of `f64`, and systems of linear equations solved in that precision: for
//! tables with nearly dependent columns, where sums in `f64` have lost the decisive digits.
//!
//! Each product is exact: the rounded product plus its rounding error, from a fused multiplication. Both are added to a
//! compensated sum, one for each pair of columns over the rows of a block, and blocks are added in order. So the bits
//! are the same on every processor. The columns are not centered. A column of ones precedes them, so that the sums of
//! two parts of a table can be added. Source: Dekker 1971; Ogita, Rump, Oishi 2005 (`Dot2`); Higham, "Accuracy and
//! Stability", chapters 10 and 15.

use std::borrow::Cow;

#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::internal::{Level, LongLoop, Numbers};
use numeric_table::{Error, NumericTable, Result};
use serde::{Deserialize, Serialize};

use crate::cholesky::{condition_of, row_at};
use crate::failure;
use crate::rows::{CompleteRows, Reader, blocks, shape_with};
use numeric_table::internal::same_count;
use numeric_table::internal::{filled, with_room};

/// An unevaluated sum of two `f64`. The second is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pair {
    high: f64,
    low: f64,
}

impl Pair {
    fn new(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self { high: sum, low: low - (sum - high) }
    }

    fn value(self) -> f64 {
        self.high + self.low
    }

    fn plus(self, other: Self) -> Self {
        let (high, rest) = two_sum(self.high, other.high);
        let (low, tail) = two_sum(self.low, other.low);
        let sum = Self::new(high, rest + low);
        Self::new(sum.high, sum.low + tail)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self { high: -other.high, low: -other.low })
    }

    fn times(self, other: Self) -> Self {
        let high = self.high * other.high;
        let rest = self.high.mul_add(other.high, -high);
        Self::new(high, rest + (self.high * other.low + self.low * other.high))
    }

    fn over(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self.minus(other.times(Self::from(first)));
        let second = rest.high / other.high;
        let rest = rest.minus(other.times(Self::from(second)));
        Self::new(first, second).plus(Self::from(rest.high / other.high))
    }

    /// Returns the number times a power of two.
    fn scaled(self, factor: f64) -> Self {
        Self { high: self.high * factor, low: self.low * factor }
    }
}

impl From<f64> for Pair {
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }
}

/// Returns the rounded sum and its rounding error.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The sums of the products of all pairs of columns, and of the columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Extended {
    columns: usize,
    /// The lower half of the matrix, row by row; the first column is of ones.
    sums: Vec<Pair>,
}

/// The least squares fit of one target.
pub(crate) struct Fit {
    pub(crate) intercept: f64,
    pub(crate) coefficients: Vec<f64>,
    /// The sum of the squared residuals, and the sum of the squares of the target, of its deviations from the mean with
    /// an intercept.
    pub(crate) left: f64,
    pub(crate) all: f64,
}

/// The square of the largest condition number that leaves 7 digits.
const LIMIT: f64 = 1e24;

impl Extended {
    /// Creates sums without rows.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn new(columns: usize) -> Result<Self> {
        let count = columns.checked_add(1).and_then(|n| n.checked_add(1)?.checked_mul(n)).map(|twice| twice / 2);
        let count = count.ok_or(Error::out_of_memory(usize::MAX))?;
        Ok(Self { columns, sums: filled(count, Pair::default())? })
    }

    /// Computes the sums of the rows of a table that have no missing value.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`]; [`ErrorKind::OutOfMemory`]; those of reading the table.
    pub(crate) fn of(table: &dyn NumericTable, columns: usize) -> Result<Self> {
        let shape = shape_with(table, columns)?;
        let mut all = Self::new(columns)?;
        let complete = CompleteRows::of(table, shape)?;
        let (mut reader, mut buffer) = (Reader::<f64>::new(table, columns), Vec::new());
        let mut row = filled(columns + 1, 1.0)?;
        let (mut highs, mut lows) = (filled(all.sums.len(), 0.0)?, filled(all.sums.len(), 0.0)?);
        for rows in blocks(0..shape.rows, columns) {
            let values = if columns == 0 { &[] } else { reader.read(rows.clone())? };
            if columns == 0 {
                all.sums[0] = all.sums[0].plus(Pair::from(rows.len() as f64));
                continue;
            }
            let values = complete.only(rows.start, values, columns, &mut buffer);
            let add = AddRows { values, row: &mut row, highs: &mut highs, lows: &mut lows };
            Level::chosen().run_long(add);
            for ((sum, high), low) in all.sums.iter_mut().zip(&mut highs).zip(&mut lows) {
                *sum = sum.plus(Pair::new(std::mem::take(high), std::mem::take(low)));
            }
        }
        Ok(all)
    }

    /// Adds the sums of other rows.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(mine, theirs)| *mine = mine.plus(*theirs));
    }

    /// Returns the number of bytes of the sums.
    pub(crate) fn size_in_bytes(&self) -> usize {
        size_of_val(&self.sums[..])
    }

    /// Returns the sum of the products of two columns. Column 0 is the column of ones.
    fn sum(&self, i: usize, j: usize) -> Pair {
        self.sums[row_at(i.max(j)) + i.min(j)]
    }

    /// Fits each target, a column after the features, with a penalty and with or without an intercept.
    ///
    /// # Errors
    /// [`ErrorKind::NotSolvable`]; [`ErrorKind::OutOfMemory`].
    pub(crate) fn fit(&self, features: usize, lambda: f64, has_intercept: bool) -> Result<Vec<Fit>> {
        if let Some(column) = (0..self.columns).find(|&column| !self.sum(column + 1, column + 1).value().is_finite()) {
            return Err(failure::sums_not_finite(column));
        }
        // The regressors: the features, and with an intercept the ones.
        let first = usize::from(!has_intercept);
        let count = features + 1 - first;
        let at = |i: usize, j: usize| {
            let penalty = if i == j && i + first > 0 { lambda } else { 0.0 };
            self.sum(i + first, j + first).plus(Pair::from(penalty))
        };
        let mut scales = with_room(count)?;
        scales.extend((0..count).map(|i| power_below(1.0 / at(i, i).value().sqrt())));
        let scaled = |i: usize, j: usize| at(i, j).scaled(scales[i]).scaled(scales[j]);
        let lower = decompose(count, &scaled, |i| (i + first).saturating_sub(1))?;
        let condition = condition_of(
            count,
            |i, j| scaled(i, j).value(),
            |values| {
                let mut pairs: Vec<Pair> = values.iter().copied().map(Pair::from).collect();
                solve(&lower, &mut pairs);
                values.iter_mut().zip(pairs).for_each(|(value, pair)| *value = pair.value());
            },
        )?;
        let is_solved = condition <= LIMIT; // false if it is NaN
        if !is_solved {
            return Err(failure::ill_conditioned(condition.sqrt(), LIMIT.sqrt(), true));
        }
        let targets = features + 1..self.columns + 1;
        targets.map(|target| self.fit_one(target, first, &scales, &lower, &at)).collect()
    }

    fn fit_one(
        &self,
        target: usize,
        first: usize,
        scales: &[f64],
        lower: &[Pair],
        at: &dyn Fn(usize, usize) -> Pair,
    ) -> Result<Fit> {
        let count = scales.len();
        let right = |i: usize| self.sum(target, i + first);
        let mut found = filled(count, Pair::default())?;
        found.iter_mut().zip(scales).enumerate().for_each(|(i, (place, scale))| *place = right(i).scaled(*scale));
        solve(lower, &mut found);
        found.iter_mut().zip(scales).for_each(|(place, scale)| *place = place.scaled(*scale));

        // The residual sum of squares, `y'y - 2 b'X'y + b'X'Xb`, is correct for any coefficients, including those of a
        // ridge regression. The penalty is not part of it.
        let mut left = self.sum(target, target);
        for (i, coefficient) in found.iter().enumerate() {
            let mut mixed = Pair::default();
            for (j, other) in found.iter().enumerate() {
                let sum = if i == j { self.sum(i + first, i + first) } else { at(i, j) };
                mixed = mixed.plus(sum.times(*other));
            }
            left = left.minus(coefficient.times(right(i).scaled(2.0).minus(mixed)));
        }
        let mut all = self.sum(target, target);
        if first == 0 {
            all = all.minus(self.sum(target, 0).times(self.sum(target, 0)).over(self.sum(0, 0)));
        }
        let mut coefficients = with_room(count)?;
        coefficients.extend(found.iter().skip(1 - first).map(|pair| pair.value()));
        let intercept = if first == 0 { found[0].value() } else { 0.0 };
        Ok(Fit { intercept, coefficients, left: left.value().max(0.0), all: all.value().max(0.0) })
    }
}

/// Returns the largest power of two that is not above a number, or 1 if it is outside the range of `f64`.
fn power_below(value: f64) -> f64 {
    let power = f64::from_bits(value.to_bits() & f64::INFINITY.to_bits());
    if power.is_normal() { power } else { 1.0 }
}

/// Decomposes a symmetric matrix as `LDL'`, row by row, with `D` in the place of the ones. `column_of` returns the
/// column of the table that a row of the matrix stands for.
///
/// # Errors
/// [`ErrorKind::NotSolvable`]; [`ErrorKind::OutOfMemory`].
fn decompose(count: usize, at: &dyn Fn(usize, usize) -> Pair, column_of: impl Fn(usize) -> usize) -> Result<Vec<Pair>> {
    let least = 64.0 * f64::EPSILON * f64::EPSILON * count as f64;
    let mut lower = filled(row_at(count), Pair::default())?;
    for i in 0..count {
        let (above, rest) = lower.split_at_mut(row_at(i));
        let row = &mut rest[..=i];
        for j in 0..i {
            let done = &above[row_at(j)..row_at(j) + j];
            row[j] = done.iter().zip(&*row).fold(at(i, j), |sum, (left, right)| sum.minus(left.times(*right)));
        }
        let mut pivot = at(i, i);
        for (j, value) in row[..i].iter_mut().enumerate() {
            let product = *value;
            *value = value.over(above[row_at(j) + j]);
            pivot = pivot.minus(product.times(*value));
        }
        let is_independent = pivot.high > least * at(i, i).high && pivot.high.is_finite();
        if !is_independent {
            return Err(failure::dependent_column(column_of(i), least.recip().sqrt()));
        }
        row[i] = pivot;
    }
    Ok(lower)
}

/// Replaces a right-hand side by the solution.
fn solve(lower: &[Pair], values: &mut [Pair]) {
    for i in 0..values.len() {
        let (before, rest) = values.split_at_mut(i);
        let row = &lower[row_at(i)..row_at(i) + i];
        rest[0] = row.iter().zip(&*before).fold(rest[0], |sum, (left, right)| sum.minus(left.times(*right)));
    }
    values.iter_mut().enumerate().for_each(|(i, value)| *value = value.over(lower[row_at(i) + i]));
    for i in (0..values.len()).rev() {
        let (before, rest) = values.split_at_mut(i);
        let row = &lower[row_at(i)..row_at(i) + i];
        before.iter_mut().zip(row).for_each(|(place, factor)| *place = place.minus(factor.times(rest[0])));
    }
}

/// Adds the products of rows to sums, and their rounding errors to other sums.
struct AddRows<'a> {
    values: &'a [f64],
    /// A buffer for a one and a row.
    row: &'a mut [f64],
    highs: &'a mut [f64],
    lows: &'a mut [f64],
}

impl LongLoop for AddRows<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { values, row, highs, lows } = self;
        let columns = row.len() - 1;
        for values in values.chunks_exact(columns) {
            row[1..].copy_from_slice(values);
            let (mut highs, mut lows) = (&mut *highs, &mut *lows);
            for (i, &factor) in row.iter().enumerate() {
                let (high, more) = highs.split_at_mut(i + 1);
                let (low, rest) = lows.split_at_mut(i + 1);
                for ((high, low), &value) in high.iter_mut().zip(low).zip(&row[..=i]) {
                    let product = factor * value;
                    let error = factor.mul_add(value, -product);
                    let (sum, lost) = two_sum(*high, product);
                    (*high, *low) = (sum, *low + (lost + error));
                }
                (highs, lows) = (more, rest);
            }
        }
    }
}

/// The serialized form of sums.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Extended", deny_unknown_fields)]
pub(crate) struct Parts<'a> {
    sums: Numbers<'a, f64>,
    rests: Numbers<'a, f64>,
}

impl Parts<'_> {
    /// Splits sums into their parts.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn of(all: &Extended) -> Result<Self> {
        let (mut sums, mut rests) = (with_room(all.sums.len())?, with_room(all.sums.len())?);
        sums.extend(all.sums.iter().map(|sum| sum.high));
        rests.extend(all.sums.iter().map(|sum| sum.low));
        Ok(Self { sums: Numbers(Cow::Owned(sums)), rests: Numbers(Cow::Owned(rests)) })
    }

    /// Combines the sums of `columns` columns.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`]; [`ErrorKind::OutOfMemory`].
    pub(crate) fn join(&self, columns: usize) -> Result<Extended> {
        let mut all = Extended::new(columns)?;
        same_count(all.sums.len(), self.sums.0.len())?;
        same_count(all.sums.len(), self.rests.0.len())?;
        for (place, (&high, &low)) in all.sums.iter_mut().zip(self.sums.0.iter().zip(&*self.rests.0)) {
            *place = Pair { high, low };
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_and_products_have_twice_the_digits() {
        let third = Pair::from(1.0).over(Pair::from(3.0));
        assert!(third.times(Pair::from(3.0)).minus(Pair::from(1.0)).value().abs() < 1e-31);
        let near = Pair::new(1.0, 1e-17);
        assert!((near.times(near).minus(Pair::from(1.0)).value() - 2e-17).abs() < 1e-31);
    }

    #[test]
    fn sums_are_the_same_bits_at_every_level() {
        let value = |i: usize| ((i * 7919 % 1013) as f64 - 500.0) / 7.0;
        let values: Vec<f64> = (0..37 * 19).map(value).collect();
        let sums_of = |level: Level| {
            let (mut row, mut highs, mut lows) = (vec![1.0; 20], vec![0.0; 210], vec![0.0; 210]);
            level.run_long(AddRows { values: &values, row: &mut row, highs: &mut highs, lows: &mut lows });
            (highs, lows)
        };
        let levels = Level::available();
        let expected = sums_of(levels[0]);
        levels.into_iter().for_each(|level| assert_eq!(sums_of(level), expected, "{level:?}"));
    }
}
