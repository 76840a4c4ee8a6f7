//! Formatting the numbers of a column with the same number of decimals, so that they can be compared at a fast_number.

use crate::base::element::{Element, ElementType};
use crate::base::number::Exact;

/// The number of digits of the largest number of a column, if no number of decimals is requested.
const DIGITS: i32 = 6;
/// The number of decimals of the smallest non-zero number. Further decimals are zeros, and formatting does not support
/// very large numbers of them.
pub(super) const DECIMALS_LIMIT: usize = 1074;

/// A number to be displayed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DisplayNumber {
    Integer(i128),
    /// A float; `true` if its shortest digits are those of an `f64`, `false` if they are those of an `f32`.
    Float(f64, bool),
    Missing,
    /// A cell of a sparse table that is not stored, and so is zero.
    NotStored,
}

impl DisplayNumber {
    pub(crate) fn new<T: Element>(value: T) -> Self {
        match value.exact() {
            Exact::Integer(value) => Self::Integer(value),
            Exact::Float(value) => Self::Float(value, T::TYPE == ElementType::F64),
        }
    }
}

impl DisplayNumber {
    /// Returns the number as an index if it is one.
    pub(super) fn index(self) -> Option<usize> {
        match self {
            Self::Integer(value) => Exact::Integer(value).index(),
            Self::Float(value, _) => Exact::Float(value).index(),
            Self::Missing | Self::NotStored => None,
        }
    }
}

/// The notation of the floats of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Fixed(usize),
    Scientific(usize),
}

/// Formats the numbers of one column. Floats have `precision` decimals if it is given. Otherwise they have as many as
/// the shortest digits of each need while the largest number has at most six digits. The limit is `DECIMALS_LIMIT`.
/// Integral floats keep one decimal, unless they are categories.
pub(crate) fn write_all(numbers: &[DisplayNumber], precision: Option<usize>, are_categories: bool) -> Vec<String> {
    let form = choose(numbers, precision.map(|decimals| decimals.min(DECIMALS_LIMIT)), are_categories);
    let write = |number: &DisplayNumber| match (*number, form) {
        (DisplayNumber::Missing, _) => "null".to_owned(),
        (DisplayNumber::NotStored, _) => ".".to_owned(),
        (DisplayNumber::Integer(value), _) => value.to_string(),
        (DisplayNumber::Float(value, _), _) if !value.is_finite() => value.to_string(), // NaN, inf, -inf
        (DisplayNumber::Float(value, _), Form::Fixed(decimals)) => format!("{value:.decimals$}"),
        (DisplayNumber::Float(value, _), Form::Scientific(decimals)) => format!("{value:.decimals$e}"),
    };
    numbers.iter().map(write).collect()
}

fn choose(numbers: &[DisplayNumber], precision: Option<usize>, are_categories: bool) -> Form {
    let (mut largest, mut smallest) = (i32::MIN, i32::MAX);
    let (mut decimals, mut fraction) = (0, 0);
    for number in numbers {
        if let &DisplayNumber::Float(value, is_double) = number
            && value.is_finite()
            && value != 0.0
        {
            let (exponent, digits) = shortest(value, is_double);
            (largest, smallest) = (largest.max(exponent), smallest.min(exponent));
            (decimals, fraction) = (decimals.max(digits - exponent), fraction.max(digits));
        }
    }
    let is_all_zero = largest == i32::MIN;
    let most = if is_all_zero { 0 } else { (DIGITS - 1 - largest).max(1) };
    // If fixed decimals would be long, or show a non-zero number as zero.
    if !is_all_zero && (!(-4..8).contains(&largest) || (smallest < -most && precision.is_none())) {
        return Form::Scientific(precision.unwrap_or(fraction.clamp(0, DIGITS - 1) as usize));
    }
    let least = i32::from(!are_categories);
    Form::Fixed(precision.unwrap_or(decimals.min(most).max(least) as usize))
}

/// Returns the decimal exponent of a number, and the number of digits after the first one in its shortest form.
fn shortest(value: f64, is_double: bool) -> (i32, i32) {
    let text = if is_double { format!("{value:e}") } else { format!("{:e}", value as f32) };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    (exponent.parse().unwrap_or(0), digits as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<T: Element>(values: &[T]) -> Vec<String> {
        write_all(&values.iter().map(|&value| DisplayNumber::new(value)).collect::<Vec<_>>(), None, false)
    }

    #[test]
    fn a_column_has_as_many_decimals_as_its_numbers_need() {
        assert_eq!(written(&[5.1, 4.0, 10.25]), ["5.10", "4.00", "10.25"]);
        assert_eq!(written(&[1.0, 2.0, 0.0]), ["1.0", "2.0", "0.0"]);
        assert_eq!(written(&[0.0, -0.0]), ["0.0", "-0.0"]);
        assert_eq!(written(&[0.1_f32, 0.7]), ["0.1", "0.7"]); // not 0.10000000149
        assert_eq!(written(&[half::f16::from_f32(0.1)]), ["0.0999756"]);
        assert_eq!(written(&[1.0 / 3.0, 100.0 / 3.0]), ["0.3333", "33.3333"]);
        assert_eq!(written(&[123_456.789, 0.5]), ["123456.8", "0.5"]);
        assert_eq!(written(&[u64::MAX, 7]), ["18446744073709551615", "7"]);
    }

    #[test]
    fn numbers_of_far_apart_magnitudes_are_scientific() {
        assert_eq!(written(&[1.0, 1e-12]), ["1e0", "1e-12"]);
        assert_eq!(written(&[1.5e300, -2.0]), ["1.5e300", "-2.0e0"]);
        assert_eq!(written(&[1e8 / 3.0]), ["33333333.3"]);
        assert_eq!(written(&[1e9 / 3.0, f64::NAN]), ["3.33333e8", "NaN"]);
        assert_eq!(written(&[2.5e-5]), ["2.5e-5"]);
        assert_eq!(written(&[f32::MIN_POSITIVE, f32::INFINITY]), ["1.17549e-38", "inf"]);
    }

    #[test]
    fn decimals_are_those_that_are_asked_for() {
        let numbers = [1.0, 2.345, f64::NEG_INFINITY].map(DisplayNumber::new);
        assert_eq!(write_all(&numbers, Some(2), false), ["1.00", "2.35", "-inf"]);
        assert_eq!(write_all(&numbers, Some(0), false), ["1", "2", "-inf"]);
        assert_eq!(write_all(&[DisplayNumber::new(1.25e100)], Some(1), false), ["1.2e100"]);
    }

    #[test]
    fn a_missing_number_does_not_change_how_others_are_written() {
        let numbers = [DisplayNumber::new(1.5), DisplayNumber::Missing, DisplayNumber::new(f64::NAN)];
        assert_eq!(write_all(&numbers, None, false), ["1.5", "null", "NaN"]);
        assert_eq!(write_all(&[DisplayNumber::Missing; 2], None, true), ["null", "null"]);
    }

    #[test]
    fn categories_are_whole() {
        assert_eq!(write_all(&[2.0_f32, 0.0].map(DisplayNumber::new), None, true), ["2", "0"]);
        assert_eq!(write_all(&[2.5_f32, 0.0].map(DisplayNumber::new), None, true), ["2.5", "0.0"]);
    }
}
