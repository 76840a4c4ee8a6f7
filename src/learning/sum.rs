//! Sums of many numbers that keep what rounding takes from them. Source: Knuth's two-sum; Neumaier 1974.

use serde::{Deserialize, Serialize};

/// A sum, and the rounding errors of its additions, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    #[inline(always)]
    pub(super) fn add(&mut self, value: f64) {
        let (old, new) = (self.high, self.high + value);
        let part = new - old;
        self.low += (old - (new - part)) + (value - part);
        self.high = new;
    }

    #[inline(always)]
    pub(super) fn merge(&mut self, other: Self) {
        self.add(other.high);
        self.low += other.low;
    }

    /// Returns the sum; infinite or NaN if it left the range of `f64`.
    pub(super) fn value(self) -> f64 {
        match self.high.is_finite() && self.low.is_finite() {
            true => self.high + self.low,
            false => self.high,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_takes_is_kept_and_infinities_stay_what_they_are() {
        let mut sum = Sum::default();
        [1e16, 1.0, 1.0, 1.0, -1e16].into_iter().for_each(|value| sum.add(value));
        assert_eq!(sum.value(), 3.0);
        let mut other = Sum::default();
        [-3.0, f64::EPSILON / 4.0, 1.0, -1.0].into_iter().for_each(|value| other.add(value));
        sum.merge(other);
        assert_eq!(sum.value(), f64::EPSILON / 4.0);
        [f64::MAX, f64::MAX].into_iter().for_each(|value| sum.add(value));
        assert_eq!(sum.value(), f64::INFINITY);
    }
}
