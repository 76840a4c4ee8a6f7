//! Checks of many floats at once, by comparing their magnitudes with a limit.
//!
//! Written so that the compiler vectorizes the loops with few instructions for each value: values in the cache are
//! checked almost as fast as they are read.

use super::level::{Level, LongLoop};

/// Floats whose magnitudes are compared with a limit.
pub(super) trait Magnitudes: Sized {
    /// Returns whether the magnitudes of all values are below `end`, a positive number. That of NaN is not.
    fn are_below(values: &[Self], end: Self) -> bool;
}

// The bits of magnitudes are in the order of the numbers, and those of a NaN come last.

impl Magnitudes for f32 {
    #[inline(always)]
    fn are_below(values: &[Self], end: Self) -> bool {
        let greatest = values.iter().fold(0, |greatest, value| value.abs().to_bits().cast_signed().max(greatest));
        greatest < end.to_bits().cast_signed()
    }
}

impl Magnitudes for f64 {
    #[inline(always)]
    fn are_below(values: &[Self], end: Self) -> bool {
        // No instruction before AVX-512 finds the greater of two 64-bit integers, but differences are negative.
        let end = end.to_bits().cast_signed();
        values.iter().fold(-1, |all, value| all & (value.abs().to_bits().cast_signed() - end)) < 0
    }
}

/// Returns whether the magnitudes of all values are below `end`, a positive number, or the values are NaN. May return
/// `false` if a value is NaN.
#[inline(always)]
pub(super) fn numbers_are_below(level: Level, values: &[f64], end: f64) -> bool {
    match values.len() < LANES {
        true => level.run_with(values, (), |values, ()| f64::are_below(values, end)),
        false => many_are_below(level, values, end),
    }
}

/// A function of its own, so that the check of a few values does not reserve this much of the stack.
#[inline(never)]
fn many_are_below(level: Level, values: &[f64], end: f64) -> bool {
    let mut are_below = false;
    level.run_long(Numbers { values, end, are_below: &mut are_below });
    are_below
}

/// The loop of [`numbers_are_below`]: the greatest magnitudes are found as floats, in one instruction for each vector.
/// A comparison with NaN is false, so NaN is never the greatest.
struct Numbers<'a> {
    values: &'a [f64],
    end: f64,
    are_below: &'a mut bool,
}

/// The number of greatest magnitudes that are kept side by side: several vectors of any size.
const LANES: usize = 32;

impl LongLoop for Numbers<'_> {
    #[inline(always)]
    fn run(self) {
        let (chunks, rest) = self.values.as_chunks::<LANES>();
        let mut greatest = [0.0; LANES];
        for chunk in chunks {
            // Builds without link-time optimization call the functions of `zip` for each chunk.
            for lane in 0..LANES {
                let magnitude = chunk[lane].abs();
                greatest[lane] = if greatest[lane] < magnitude { magnitude } else { greatest[lane] };
            }
        }
        *self.are_below = f64::are_below(rest, self.end) & f64::are_below(&greatest, self.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the rule for single values: one value of interest at every position of slices of many lengths.
    #[test]
    fn one_value_at_or_above_the_limit_is_found_at_any_position() {
        let check = |values: &[f64], end: f64| {
            let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            let all_below = values.iter().all(|value| value.abs() < end);
            let numbers_below = values.iter().all(|value| value.is_nan() || value.abs() < end);
            for level in Level::available() {
                let found = level.run_with(values, (), |values, ()| f64::are_below(values, end));
                assert_eq!(found, all_below, "{values:?} {level:?}");
                let found = level.run_with(&narrow[..], (), |values, ()| f32::are_below(values, end as f32));
                assert_eq!(found, narrow.iter().all(|value| value.abs() < end as f32), "{narrow:?} {level:?}");
                let found = numbers_are_below(level, values, end);
                assert!(found == numbers_below || !found && values.iter().any(|value| value.is_nan()));
                assert!(found || !all_below, "{values:?} {level:?}");
            }
        };
        for end in [65520.0, 1.5 * 2_f64.powi(126)] {
            let near = [end, end.next_down(), end.next_up(), f64::INFINITY, f64::NAN, f64::MIN_POSITIVE / 2.0, 0.0];
            let special = near.into_iter().flat_map(|value| [value, -value]).collect::<Vec<_>>();
            for count in [0, 1, 2, 31, 32, 33, 63, 64, 65, 100] {
                let ordinary = (0..count).map(|index| index as f64 * 1.25 - 40.0).collect::<Vec<_>>();
                check(&ordinary, end);
                for (position, value) in (0..count).flat_map(|at| special.iter().map(move |&value| (at, value))) {
                    let mut values = ordinary.clone();
                    values[position] = value;
                    check(&values, end);
                }
            }
        }
    }

    #[test]
    fn a_large_number_is_found_beside_nan() {
        for level in Level::available() {
            for (first, second) in (0..96).flat_map(|first| (0..96).map(move |second| (first, second))) {
                let mut values = [1.0; 96];
                values[first] = f64::NAN;
                assert!(!level.run_with(&values[..], (), |values, ()| f64::are_below(values, 8.0)));
                assert!(numbers_are_below(level, &values, 8.0)); // all 96 are in entire chunks
                values[second] = -8.0;
                assert!(!numbers_are_below(level, &values, 8.0));
            }
        }
    }
}
