//! Sums of many numbers that keep what rounding takes from them. Source: Knuth's two-sum; Neumaier 1974.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::base::count::same_count;
use crate::base::error::Result;
use crate::base::room::with_room;
use crate::serde::numbers::Numbers;

/// A sum, and the rounding errors of its additions, added up.
///
/// Not the `Double` of the statistics, which goes on beyond the range of `f64`, makes infinite sums NaN, and is
/// normalized by each addition: here sums leave the range as those of plain additions do, at six operations for each
/// value. The bits of results would differ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

/// Sums as they are serialized.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parts<'a> {
    sums: Numbers<'a, f64>,
    rests: Numbers<'a, f64>,
}

impl Parts<'_> {
    /// Takes sums apart.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn of(all: &[Sum]) -> Result<Self> {
        let (mut sums, mut rests) = (with_room(all.len())?, with_room(all.len())?);
        sums.extend(all.iter().map(|sum| sum.high));
        rests.extend(all.iter().map(|sum| sum.low));
        Ok(Self { sums: Numbers(Cow::Owned(sums)), rests: Numbers(Cow::Owned(rests)) })
    }

    /// Puts sums together, of which so many must be there.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::OutOfMemory`].
    pub(super) fn join(&self, expected: usize) -> Result<Vec<Sum>> {
        for found in [self.sums.0.len(), self.rests.0.len()] {
            same_count(expected, found)?;
        }
        let mut all = with_room(expected)?;
        all.extend(self.sums.0.iter().zip(&*self.rests.0).map(|(&high, &low)| Sum { high, low }));
        Ok(all)
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
        [1e17, -3.0, 0.5, -1e17].into_iter().for_each(|value| other.add(value));
        sum.merge(other);
        assert_eq!(sum.value(), 0.5);
        [f64::MAX, f64::MAX].into_iter().for_each(|value| sum.add(value));
        assert_eq!(sum.value(), f64::INFINITY);
    }
}
