//! Compensated sums of many numbers. Source: Knuth's two-sum; Neumaier 1974.

use std::borrow::Cow;

use numeric_table::internal::Numbers;
use numeric_table::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use numeric_table::internal::same_count;
use numeric_table::internal::with_room;

/// A sum, and the sum of the rounding errors of its additions. If the sum leaves the range of `f64`, all terms are
/// scaled by 2^-600, so that means and ratios of sums are finite wherever possible.
///
/// The statistics use another type, `Double`, which is normalized by each addition. Here an addition takes six
/// operations and a comparison, and the results differ in their last bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    high: f64,
    low: f64,
    /// Whether both must be multiplied by 2^600: set by the first addition that leaves the range.
    is_scaled: bool,
}

/// 2^-600 and its inverse: sums of 2^64 scaled values are far from the end of the range.
pub(crate) const DOWN: f64 = f64::from_bits((1023 - 600) << 52);
pub(crate) const UP: f64 = f64::from_bits((1023 + 600) << 52);

impl Sum {
    #[inline(always)]
    pub(crate) fn add(&mut self, value: f64) {
        let (high, low) = if self.is_scaled { (f64::NAN, f64::NAN) } else { two_sum(self.high, value) };
        if high.is_finite() {
            (self.high, self.low) = (high, self.low + low);
        } else {
            self.add_scaled(value * DOWN);
        }
    }

    /// Adds a value that has been multiplied by 2^-600.
    #[cold]
    pub(crate) fn add_scaled(&mut self, value: f64) {
        let before = self.scaled();
        let (high, low) = two_sum(before.high, value);
        *self = Self { high, low: before.low + low, is_scaled: true };
    }

    #[inline(always)]
    pub(crate) fn merge(&mut self, other: Self) {
        if other.is_scaled {
            self.add_scaled(other.high);
        } else {
            self.add(other.high);
        }
        self.low += if self.is_scaled { other.scaled().low } else { other.low };
    }

    /// Returns the sum: infinite beyond the range of `f64`, NaN if infinities of both signs were added.
    pub(crate) fn value(self) -> f64 {
        match self.high.is_finite() && self.low.is_finite() {
            true if self.is_scaled => (self.high + self.low) * UP,
            true => self.high + self.low,
            false => self.high,
        }
    }

    /// Returns the sum times 2^-600.
    pub(crate) fn scaled_value(self) -> f64 {
        Self { is_scaled: false, ..self.scaled() }.value()
    }

    /// Returns the sum divided by the number of terms, which can be finite even if the sum is not.
    pub(crate) fn mean(self, count: u64) -> f64 {
        match self.value() {
            sum if sum.is_finite() => sum / count as f64,
            _ => {
                let (sum, count) = (self.scaled(), count as f64);
                let mean = (sum.high + sum.low) / count;
                let rest = (-mean).mul_add(count, sum.high) + sum.low;
                if rest.is_finite() { (mean + rest / count) * UP } else { self.high } // infinite, or NaN
            }
        }
    }

    /// Returns the same sum with both parts multiplied by 2^-600.
    fn scaled(self) -> Self {
        match self.is_scaled {
            true => self,
            false => Self { high: self.high * DOWN, low: self.low * DOWN, is_scaled: true },
        }
    }
}

/// Returns the rounded sum and its rounding error.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The serialized form of sums.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parts<'a> {
    sums: Numbers<'a, f64>,
    rests: Numbers<'a, f64>,
    /// The positions of scaled sums, without duplicates.
    scaled: Numbers<'a, u64>,
}

impl Parts<'_> {
    /// Splits sums into their parts.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn of(all: &[Sum]) -> Result<Self> {
        let (mut sums, mut rests) = (with_room(all.len())?, with_room(all.len())?);
        sums.extend(all.iter().map(|sum| sum.high));
        rests.extend(all.iter().map(|sum| sum.low));
        let places = || all.iter().zip(0_u64..).filter(|(sum, _)| sum.is_scaled).map(|(_, place)| place);
        let mut scaled = with_room(places().count())?;
        scaled.extend(places());
        let (sums, rests) = (Numbers(Cow::Owned(sums)), Numbers(Cow::Owned(rests)));
        Ok(Self { sums, rests, scaled: Numbers(Cow::Owned(scaled)) })
    }

    /// Combines the parts of `expected` sums.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`]; [`ErrorKind::OutOfRange`] for the position of a scaled sum that does not exist or
    /// is repeated; [`ErrorKind::OutOfMemory`].
    pub(crate) fn join(&self, expected: usize) -> Result<Vec<Sum>> {
        for found in [self.sums.0.len(), self.rests.0.len()] {
            same_count(expected, found)?;
        }
        let mut all = with_room(expected)?;
        let pairs = self.sums.0.iter().zip(&*self.rests.0);
        all.extend(pairs.map(|(&high, &low)| Sum { high, low, is_scaled: false }));
        for &place in &*self.scaled.0 {
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            match all.get_mut(place..).and_then(<[Sum]>::first_mut) {
                Some(sum) if !sum.is_scaled => sum.is_scaled = true,
                _ => {
                    return Err(Error::new(ErrorKind::OutOfRange {
                        what: "elements",
                        range: place..place.saturating_add(1),
                        count: expected,
                    }));
                }
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use numeric_table::ErrorKind;

    use super::*;

    #[test]
    fn what_rounding_takes_is_kept_and_infinities_stay_what_they_are() {
        let mut sum = Sum::default();
        [1e16, 1.0, 1.0, 1.0, -1e16].into_iter().for_each(|value| sum.add(value));
        assert_eq!(sum.value(), 3.0);
        let mut other = Sum::default();
        [1e17, -3.0, 0.5, -1e17].into_iter().for_each(|value| other.add(value));
        sum.merge(other);
        assert_eq!(sum.value(), 0.5);
        [f64::MAX, f64::MAX].into_iter().for_each(|value| sum.add(value));
        assert_eq!(sum.value(), f64::INFINITY);
        sum.add(f64::INFINITY);
        assert_eq!((sum.value(), sum.mean(7)), (f64::INFINITY, f64::INFINITY));
        sum.add(f64::NEG_INFINITY);
        assert!(sum.value().is_nan());
    }

    #[test]
    fn a_sum_that_leaves_the_range_has_a_mean_and_comes_back() {
        let max = f64::MAX;
        let sum_of = |values: &[f64]| {
            let mut sum = Sum::default();
            values.iter().for_each(|&value| sum.add(value));
            sum
        };
        let mut sum = sum_of(&[max, max, max]);
        assert_eq!((sum.value(), sum.mean(3), sum.scaled_value()), (f64::INFINITY, max, 3.0 * (max * DOWN)));
        let few = sum_of(&[1e300, 7.0]);
        for (mut left, right) in [(sum, few), (few, sum), (sum, sum_of(&[-max, -max, -max, -max]))] {
            let expected = (left.scaled_value() + right.scaled_value()) / 5.0 / DOWN;
            left.merge(right);
            assert!((left.mean(5) / expected - 1.0).abs() < 1e-15);
        }
        sum.add(-max);
        sum.add(-max);
        assert_eq!(sum.value(), max);
        let join = |parts: &Parts<'_>| parts.join(3);
        let sums = [few, sum, few];
        let parts = Parts::of(&sums).unwrap();
        assert_eq!((&*parts.scaled.0, join(&parts).unwrap()), (&[1_u64][..], sums.to_vec()));
        for scaled in [vec![3], vec![1, 1], vec![u64::MAX]] {
            let parts = Parts { scaled: Numbers(Cow::Owned(scaled)), ..Parts::of(&sums).unwrap() };
            assert!(join(&parts).is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfRange { count: 3, .. })));
        }
    }
}
