//! Numbers with twice the precision of `f64` and a larger range: an unevaluated sum of two `f64`, times a power of two
//! when the range of `f64` is exceeded.
//!
//! Used for sums over blocks, so that neither their magnitude nor intermediate sums cost precision.
//! Source: Dekker 1971, Knuth's two-sum; Shewchuk 1997.

use std::array::from_fn;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::base::number::plain_nan;
use crate::serde::numbers::Number;

/// `(high + low) * 2^(600 * scale)`, where `low` is less than a unit in the last place of `high`. If `high` is not
/// finite, `low` is 0.
///
/// Invariant: `scale` is the smallest that makes `high` finite. Equal numbers therefore have equal fields, and numbers
/// within the range of `f64` have scale 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Double {
    high: f64,
    low: f64,
    scale: i32,
}

/// 2^600: squares of values that are scaled down once are far from overflow.
const UP: f64 = f64::from_bits((1023 + 600) << 52);
const DOWN: f64 = f64::from_bits((1023 - 600) << 52);
const HALF_UP: f64 = f64::from_bits((1023 + 300) << 52);
/// The largest scale: sums of 2^64 squares of differences of `f64` are well within its range.
const LAST: i32 = 3;

impl Double {
    pub(super) const ZERO: Self = Self { high: 0.0, low: 0.0, scale: 0 };

    /// The factor for scaling values down. [`Self::scaled_up`] undoes it: once for values, twice for squares.
    pub(super) const SMALLER: f64 = DOWN;

    /// Returns the parts of the number as multiples of `2^(600 * scale)`. The first part is infinite if it is too
    /// large.
    pub(super) fn parts_at(self, scale: i32) -> [f64; 2] {
        let Self { high, low, .. } = self.at(scale);
        [high, low]
    }

    /// Returns the number whose parts are multiples of `2^(600 * scale)`.
    pub(super) fn of_parts([high, low]: [f64; 2], scale: i32) -> Self {
        let (high, low) = quick_two_sum(high, low);
        Self { high, low, scale }.normal()
    }

    /// Returns the number of a pair that [`add_pairs`] returned; `None` if it is beyond the range of `f64`.
    #[inline(always)]
    pub(super) fn of_sum(high: f64, low: f64) -> Option<Self> {
        (high.is_finite() && low.is_finite()).then_some(Self { high, low, scale: 0 })
    }

    /// Returns the nearest `f64`, with one NaN.
    pub(super) fn value(self) -> f64 {
        plain_nan(scaled(self.high + self.low, self.scale))
    }

    pub(super) fn is_negative(self) -> bool {
        self.high < 0.0
    }

    pub(super) fn is_finite(self) -> bool {
        self.high.is_finite()
    }

    pub(super) fn add(self, other: Self) -> Self {
        if self.scale == 0 && other.scale == 0 {
            let (high, low) = add_pairs((self.high, self.low), (other.high, other.low));
            if let Some(sum) = Self::of_sum(high, low) {
                return sum;
            }
        }
        let scale = self.scale.max(other.scale);
        within_range(scale, |scale| {
            let (mine, theirs) = (self.at(scale), other.at(scale));
            let (high, rest) = two_sum(mine.high, theirs.high);
            let (low, tail) = two_sum(mine.low, theirs.low);
            let (high, low) = quick_two_sum(high, rest + low);
            quick_two_sum(high, low + tail)
        })
    }

    pub(super) fn negated(self) -> Self {
        Self { high: -self.high, low: -self.low, ..self }
    }

    pub(super) fn divided_by(self, divisor: f64) -> Self {
        let quotient = self.high / divisor;
        if !quotient.is_finite() {
            return Self::from(quotient);
        }
        let rest = (-quotient).mul_add(divisor, self.high) + self.low;
        let (high, low) = quick_two_sum(quotient, rest / divisor);
        Self { high, low, scale: self.scale }.normal()
    }

    /// Returns the product of the nearest `f64`s, rounded once more.
    pub(super) fn times(self, other: Self) -> Self {
        let (mine, theirs) = (self.high + self.low, other.high + other.low);
        let scale = self.scale + other.scale;
        within_range(scale, |at| {
            let downs = scale - at; // for products above the range: neither factor becomes too small
            (scaled(mine, downs / 2) * scaled(theirs, downs - downs / 2), 0.0)
        })
    }

    /// Returns the square root of the nearest `f64`.
    pub(super) fn square_root(self) -> Self {
        let root = (self.high + self.low).sqrt();
        let high = if self.scale % 2 == 0 { root } else { root * HALF_UP };
        Self { high, low: 0.0, scale: self.scale / 2 }.normal()
    }

    /// Returns the number times `2^(600 * times)`.
    pub(super) fn scaled_up(self, times: i32) -> Self {
        Self { scale: self.scale + times, ..self }.normal()
    }

    /// Returns the same number at a larger scale.
    fn at(self, scale: i32) -> Self {
        let downs = self.scale - scale;
        Self { high: scaled(self.high, downs), low: scaled(self.low, downs), scale }
    }

    /// Returns the same number at the smallest scale.
    fn normal(mut self) -> Self {
        while self.scale > 0 && (self.high * UP).is_finite() {
            self = Self { high: self.high * UP, low: self.low * UP, scale: self.scale - 1 };
        }
        match self.high.is_finite() {
            true => self,
            false => Self { low: 0.0, scale: 0, ..self },
        }
    }
}

/// Computes at the first scale, starting from `scale`, that gives a finite result.
fn within_range(scale: i32, compute: impl Fn(i32) -> (f64, f64)) -> Double {
    let mut at = scale;
    loop {
        let (high, low) = compute(at);
        if (high.is_finite() && low.is_finite()) || at >= LAST {
            return Double { high, low, scale: at }.normal();
        }
        at += 1;
    }
}

/// Returns `value * 2^(600 * times)`; `times` may be negative.
fn scaled(value: f64, times: i32) -> f64 {
    let factor = if times < 0 { DOWN } else { UP };
    (0..times.abs()).fold(value, |value, _| value * factor)
}

/// Operations on several numbers at a time, for means that are merged. The compiler makes vectors of them. The results
/// are those of the operations on one number.
impl Double {
    /// Adds numbers lane by lane. Returns `None` if a sum is beyond the range of `f64`.
    #[inline]
    pub(super) fn sums<const N: usize>(some: &[f64; N], others: &[f64; N]) -> Option<[Self; N]> {
        let sums: [_; N] = from_fn(|lane| add_pairs((some[lane], 0.0), (others[lane], 0.0)));
        are_finite(&sums).then(|| sums.map(|(high, low)| Self { high, low, scale: 0 }))
    }

    /// Moves means by a share of their distances to other means, and returns these distances.
    #[inline]
    pub(super) fn move_towards<const N: usize>(means: &mut [Self; N], others: &[Self; N], share: f64) -> [f64; N] {
        if means.iter().chain(others).all(|number| number.scale == 0) {
            let apart: [_; N] = from_fn(|lane| {
                let (mean, other) = (&means[lane], &others[lane]);
                add_pairs((other.high, other.low), (-mean.high, -mean.low))
            });
            let distances = apart.map(|(high, low)| high + low);
            let moved: [_; N] =
                from_fn(|lane| add_pairs((means[lane].high, means[lane].low), (distances[lane] * share, 0.0)));
            if are_finite(&moved) {
                *means = moved.map(|(high, low)| Self { high, low, scale: 0 });
                return distances;
            }
        }
        from_fn(|lane| {
            let apart = others[lane].add(means[lane].negated());
            means[lane] = means[lane].add(apart.times(Self::from(share)));
            apart.value()
        })
    }
}

/// Returns whether all pairs are within the range of `f64`.
#[inline(always)]
fn are_finite(pairs: &[(f64, f64)]) -> bool {
    pairs.iter().fold(true, |all, (high, low)| all & high.is_finite() & low.is_finite())
}

impl Double {
    /// Returns whether a sum can be this number, which may be deserialized: the scale that `add` returns never exceeds
    /// the larger of both scales and [`LAST`].
    pub(super) fn is_sum(self) -> bool {
        self.scale <= LAST
    }

    /// Returns whether the scale is within that of a product of two sums, and the fields are those that a calculation
    /// produces.
    fn is_normal(self) -> bool {
        match self.high.is_finite() {
            true if self.scale > 0 && (self.high * UP).is_finite() => false,
            true => (0..=2 * LAST).contains(&self.scale) && self.low.abs() <= self.high.abs(),
            false => self.low == 0.0 && self.scale == 0,
        }
    }
}

/// Three numbers: `high`, `low` and `scale`.
impl Serialize for Double {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (Number(plain_nan(self.high)), Number(plain_nan(self.low)), self.scale).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Double {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (Number(high), Number(low), scale) = Deserialize::deserialize(deserializer)?;
        let found = Self { high, low, scale };
        match found.is_normal() {
            true => Ok(found),
            false => Err(de::Error::custom(format_args!("({high} + {low}) * 2^(600 * {scale}) is not a valid sum"))),
        }
    }
}

impl From<f64> for Double {
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0, scale: 0 }
    }
}

/// Returns the sum of two pairs, each a number and its rounding error: the result of [`Double::add`] within the range
/// of `f64`. Once a sum is not finite, every later sum is not finite, because the rounding error of infinity is NaN.
#[inline(always)]
pub(super) fn add_pairs(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let (high, rest) = two_sum(a.0, b.0);
    let (low, tail) = two_sum(a.1, b.1);
    let (high, low) = ordered_two_sum(high, rest + low);
    ordered_two_sum(high, low + tail)
}

/// Returns the nearest `f64` of the quotient of a pair and a divisor: the result of [`Double::divided_by`] within the
/// range of `f64`. Not finite if the pair or the quotient is not finite.
#[inline(always)]
pub(super) fn quotient_of_pair((high, low): (f64, f64), divisor: f64) -> f64 {
    let quotient = high / divisor;
    let rest = (-quotient).mul_add(divisor, high) + low;
    let (high, low) = ordered_two_sum(quotient, rest / divisor);
    high + low
}

/// Returns the same as [`quick_two_sum`] if the sum is finite.
#[inline(always)]
fn ordered_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// Returns the rounded sum and its rounding error.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// Returns the same as [`two_sum`]. The magnitude of `a` must not be less than that of `b`.
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    if sum.is_finite() { (sum, b - (sum - a)) } else { (a + b, 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sum_rounds_away_is_kept() {
        let sum = [1e16, 1.0, -1e16, 1e-3, 1e16, 1.0, -1e16]
            .map(Double::from)
            .into_iter()
            .fold(Double::default(), Double::add);
        assert_eq!(sum.value(), 2.001);
    }

    #[test]
    fn means_move_together_as_they_do_alone() {
        let alone = |mean: Double, other: Double, share: f64| {
            let apart = other.add(mean.negated());
            (mean.add(apart.times(Double::from(share))), apart.value())
        };
        let bits = |number: Double| (number.high.to_bits(), number.low.to_bits(), number.scale);
        let ends = [0.0, -0.0, 1e-320, 0.1, -3e200, f64::MAX, -f64::MAX, f64::INFINITY, f64::NAN];
        let third = Double::from(1.0).divided_by(3.0);
        let above = Double::from(f64::MAX).add(Double::from(f64::MAX));
        let all: Vec<Double> = ends.map(Double::from).into_iter().chain([third, third.negated(), above]).collect();
        for (&mean, &other) in all.iter().flat_map(|mean| all.iter().map(move |other| (mean, other))) {
            for share in [0.5, 1.0 / 3.0, 1e-300] {
                // Beside numbers of any kind, and beside those that become vectors.
                for (beside, next) in [(mean, other), (third, Double::from(7.0))] {
                    let (mut means, others) = ([mean, beside, mean], [other, next, other]);
                    let distances = Double::move_towards(&mut means, &others, share);
                    for (lane, (before, other)) in
                        [(mean, other), (beside, next), (mean, other)].into_iter().enumerate()
                    {
                        let (expected, distance) = alone(before, other, share);
                        assert_eq!(bits(means[lane]), bits(expected), "{before:?} to {other:?}");
                        assert_eq!(distances[lane].to_bits(), distance.to_bits(), "{before:?} to {other:?}");
                    }
                }
            }
        }
        for (&a, &b) in ends.iter().flat_map(|a| ends.iter().map(move |b| (a, b))) {
            let expected = Double::from(a).add(Double::from(b));
            match Double::sums(&[a, 0.1], &[b, 0.2]) {
                Some([sum, _]) => assert_eq!(bits(sum), bits(expected), "{a:e} + {b:e}"),
                None => assert!(expected.scale > 0 || !expected.is_finite(), "{a:e} + {b:e}"),
            }
        }
    }

    #[test]
    fn quotients_are_exact_to_twice_the_digits() {
        let third = Double::from(1.0).divided_by(3.0);
        let rest = third.add(third).add(third).add(Double::from(-1.0)).value();
        assert!(rest.abs() < 1e-31, "{rest:e}");
        for (value, count) in [(0.1, 1000), (1e7 + 0.2, 1001), (-7e-300, 3), (f64::MIN_POSITIVE / 4.0, 99)] {
            let sum = (0..count).map(|_| Double::from(value)).fold(Double::ZERO, Double::add);
            assert_eq!(sum.divided_by(f64::from(count)).value(), value);
        }
    }

    #[test]
    fn a_sum_that_leaves_the_range_comes_back_exactly() {
        let max = Double::from(f64::MAX);
        let four = max.add(max).add(max).add(max);
        assert_eq!((four.value(), four.divided_by(4.0)), (f64::INFINITY, max));
        let back = four.add(Double::from(1.5)).add(max.negated()).add(max.negated()).add(max.negated());
        assert_eq!(back, max); // 1.5 is beyond 106 bits
        assert_eq!(back.add(max.negated()), Double::ZERO);
        // Half a unit in the last place above the largest number rounds to infinity; less does not.
        let half = f64::from_bits((1023 + 970) << 52);
        assert_eq!(max.add(Double::from(half)).value(), f64::INFINITY);
        assert_eq!(max.add(Double::from(half.next_down())).value(), f64::MAX);
    }

    #[test]
    fn products_and_roots_leave_the_range_and_come_back() {
        let (large, max) = (Double::from(1e200), Double::from(f64::MAX));
        assert_eq!((large.times(large).value(), large.times(large).square_root().value()), (f64::INFINITY, 1e200));
        assert_eq!(large.times(Double::from(1e100)).value(), 1e200 * 1e100);
        assert_eq!(large.times(Double::from(-1e-200)).value(), 1e200 * -1e-200);
        let square = max.times(max);
        assert_eq!(square.square_root(), max);
        assert_eq!(square.add(square).divided_by(2.0).square_root(), max);
        let twice = max.add(max);
        assert_eq!(twice.times(twice).square_root().divided_by(2.0), max);
        assert_eq!(twice.times(Double::from(f64::MIN_POSITIVE)).value(), f64::MAX * f64::MIN_POSITIVE * 2.0);
    }

    #[test]
    fn infinities_and_nan_stay_what_they_are() {
        let huge = Double::from(f64::MAX);
        assert_eq!(huge.add(huge).value(), f64::INFINITY);
        assert_eq!(huge.add(huge).negated().value(), f64::NEG_INFINITY);
        assert_eq!(Double::from(f64::INFINITY).divided_by(3.0).value(), f64::INFINITY);
        assert_eq!(Double::from(2.0).divided_by(0.0).value(), f64::INFINITY);
        assert!(Double::from(f64::INFINITY).add(Double::from(f64::NEG_INFINITY)).value().is_nan());
        assert!(Double::from(f64::NAN).times(huge).square_root().value().is_nan());
    }
}
