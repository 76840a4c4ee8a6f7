//! Numbers of twice the precision of `f64`: the sum of a large one and what it rounded away.
//!
//! What sums over blocks are kept in, so that their order of magnitude does not cost digits.
//! Source: Dekker 1971, Knuth's two-sum; Shewchuk 1997.

/// `high + low`, where `low` is less than a unit in the last place of `high`. Not finite: `low` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    pub(super) const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// The nearest `f64`.
    pub(super) fn value(self) -> f64 {
        self.high + self.low
    }

    pub(super) fn add(self, other: Self) -> Self {
        let (high, rest) = two_sum(self.high, other.high);
        if !high.is_finite() {
            return Self { high, low: 0.0 };
        }
        let (low, tail) = two_sum(self.low, other.low);
        let (high, low) = quick_two_sum(high, rest + low);
        let (high, low) = quick_two_sum(high, low + tail);
        Self::finite(high, low)
    }

    pub(super) fn negated(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }

    pub(super) fn divided_by(self, divisor: f64) -> Self {
        let quotient = self.high / divisor;
        let rest = (-quotient).mul_add(divisor, self.high) + self.low;
        let (high, low) = quick_two_sum(quotient, rest / divisor);
        if quotient.is_finite() { Self::finite(high, low) } else { Self { high: quotient, low: 0.0 } }
    }

    /// Times a power of two.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self::finite(self.high * factor, self.low * factor)
    }

    fn finite(high: f64, low: f64) -> Self {
        if high.is_finite() { Self { high, low } } else { Self { high, low: 0.0 } }
    }
}

impl From<f64> for Double {
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }
}

/// The rounded sum, and what it rounded away.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// As [`two_sum`], if `a` is not less than `b`, in absolute value.
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
    fn infinities_and_nan_stay_what_they_are() {
        let huge = Double::from(f64::MAX);
        assert_eq!(huge.add(huge).value(), f64::INFINITY);
        assert_eq!(huge.scaled(-2.0).value(), f64::NEG_INFINITY);
        assert_eq!(Double::from(f64::INFINITY).divided_by(3.0).value(), f64::INFINITY);
        assert!(Double::from(f64::INFINITY).add(Double::from(f64::NEG_INFINITY)).value().is_nan());
    }
}
