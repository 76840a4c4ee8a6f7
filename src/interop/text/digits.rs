//! Formatting values as the shortest text that is read back as the same value.
//!
//! The standard library chooses the digits. Integers, and floats of few decimals, whose shortest text is known from one
//! division, are formatted without it: in a fraction of the time, as the same text.

use std::io::Write;

use crate::base::element::{Element, ElementType};
use crate::base::number::Exact;
use crate::convert::{ConversionPolicy, cast};

use super::number::value;

/// Appends the text of a value: decimal digits, with an exponent where that is much shorter; `NaN`, `inf`, `-inf`.
#[inline]
pub(in crate::interop) fn push<T: Element>(number: T, text: &mut Vec<u8>) {
    match T::TYPE {
        ElementType::F16 | ElementType::Bf16 => push_half(number, text),
        ElementType::F32 => {
            if !push_short(cast(number), &SHORT_F32, text) {
                push_float(number, text);
            }
        }
        ElementType::F64 => {
            if !push_short(cast(number), &SHORT_F64, text) {
                push_float(number, text);
            }
        }
        _ => match number.exact() {
            Exact::Integer(number) => push_integer(number < 0, number.unsigned_abs() as u64, text), // at most 64 bits
            Exact::Float(number) => push_float(number, text),
        },
    }
}

fn push_float<T: std::fmt::Debug>(number: T, text: &mut Vec<u8>) {
    let start = text.len();
    print(format_args!("{number:?}"), text);
    without_zero(start, text);
}

fn without_zero(start: usize, text: &mut Vec<u8>) {
    if text[start..].ends_with(b".0") {
        text.truncate(text.len() - 2);
    }
}

/// The pairs of digits from `00` to `99`.
#[cfg(feature = "csv")]
const PAIRS: [[u8; 2]; 100] = {
    let (mut pairs, mut number) = ([[0; 2]; 100], 0);
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Returns the last two digits of a number.
#[cfg(feature = "csv")]
#[inline(always)]
pub(in crate::interop) fn pair(number: u32) -> [u8; 2] {
    PAIRS[number as usize % 100]
}

/// 10 to the number of digits that are found at a time.
const EIGHT: u64 = 100_000_000;

/// Eight zeros as text.
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// Returns the eight digits of a number below [`EIGHT`], the first one in the lowest byte: its halves, then their pairs
/// of digits, then the digits themselves are found all at the same time.
#[inline(always)]
fn eight_digits(number: u64) -> u64 {
    let fours = (number / 10_000) | (number % 10_000) << 32;
    // Both quotients are exact: below 10,000, division by 100, and below 100, division by 10.
    let hundreds = ((fours * 5243) >> 19) & 0x0000_007F_0000_007F;
    let pairs = hundreds | (fours - hundreds * 100) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | (pairs - tens * 10) << 8
}

/// Appends a number below [`EIGHT`], without zeros before it.
#[inline(always)]
fn push_first(number: u64, text: &mut Vec<u8>) {
    let digits = eight_digits(number);
    let zeros = ((digits | 1 << 56).trailing_zeros() / 8) as usize; // the last digit, in the highest byte, stays
    push_some(&((digits | ZEROS) >> (8 * zeros)).to_le_bytes(), 8 - zeros, text);
}

/// Appends a number below [`EIGHT`], with zeros before it.
#[inline(always)]
fn push_eight(number: u64, text: &mut Vec<u8>) {
    text.extend_from_slice(&(eight_digits(number) | ZEROS).to_le_bytes());
}

/// Appends an integer. Neither its sign nor its number of digits is a branch, unless it is large: they would be
/// predicted wrongly in columns of numbers that differ.
#[inline]
fn push_integer(is_negative: bool, magnitude: u64, text: &mut Vec<u8>) {
    push_some(b"-", is_negative.into(), text);
    let (first, last) = (magnitude / EIGHT, magnitude % EIGHT);
    match first {
        0 => push_first(last, text),
        1..EIGHT => {
            push_first(first, text);
            push_eight(last, text);
        }
        _ => {
            push_first(first / EIGHT, text);
            push_eight(first % EIGHT, text);
            push_eight(last, text);
        }
    }
}

/// Appends the first `count` bytes of a field: all of them, which takes fewer instructions, before the rest is removed.
#[inline(always)]
pub(in crate::interop) fn push_some<const MOST: usize>(field: &[u8; MOST], count: usize, text: &mut Vec<u8>) {
    let end = text.len() + count;
    text.extend_from_slice(field);
    text.truncate(end);
}

/// The numbers of few decimals among the values of a type.
struct Short {
    /// The magnitude up to which the type holds all integers.
    exact: f64,
    /// The powers of ten that are tried: 10 to the number of decimals.
    tried: &'static [u64],
    /// 10 to the number of digits with which different decimal numbers are read as different values.
    end: i64,
    /// Rounds to the type.
    round: fn(f64) -> f64,
}

const SHORT_F64: Short = Short {
    exact: (1_u64 << 53) as f64,
    tried: &[100, 10_000, EIGHT],
    end: 1_000_000_000_000_000,
    round: |value| value,
};
const SHORT_F32: Short =
    Short { exact: (1_u64 << 24) as f64, tried: &[100, 10_000], end: 1_000_000, round: |value| value as f32 as f64 };

/// Appends the text of a float if it is an integer or the nearest value to a number of few decimals. Returns whether it
/// is one.
///
/// No other number of as few digits is read as the same value, so that one is the shortest. Both `scaled` and the power
/// of ten are exact, so the nearest value to their ratio is their quotient. (For `f32` too, which rounds twice: a ratio
/// of such small numbers is equal to the middle of two values of `f32`, or further from it than an `f64` rounds.)
#[inline(always)]
fn push_short(value: f64, short: &Short, text: &mut Vec<u8>) -> bool {
    const LEAST: f64 = 1e-4; // smaller numbers are written with an exponent
    let magnitude = value.abs();
    let is_zero = magnitude == 0.0 && value.is_sign_positive();
    if !(is_zero || (magnitude >= LEAST && magnitude < short.exact)) {
        return false; // also NaN
    }
    let whole = magnitude as i64;
    if whole as f64 == magnitude {
        push_integer(value < 0.0, whole as u64, text);
        return true;
    }
    for &power in short.tried {
        let scaled = (magnitude * power as f64 + 0.5) as i64;
        if scaled >= short.end {
            return false;
        }
        if (short.round)(scaled as f64 / power as f64) == magnitude {
            push_decimal(value < 0.0, scaled as u64, power, text);
            return true;
        }
    }
    false
}

/// Appends the number `scaled / power`, which is not an integer, without zeros at its end.
#[inline(always)]
fn push_decimal(is_negative: bool, scaled: u64, power: u64, text: &mut Vec<u8>) {
    let (whole, fraction) = match power {
        100 => split::<100>(scaled),
        10_000 => split::<10_000>(scaled),
        _ => split::<EIGHT>(scaled),
    };
    push_integer(is_negative, whole, text);
    let digits = eight_digits(fraction);
    let zeros = (digits.leading_zeros() / 8) as usize; // the last digit is in the highest byte
    let mut field = [b'.'; 9];
    field[1..].copy_from_slice(&(digits | ZEROS).to_le_bytes());
    push_some(&field, field.len() - zeros, text);
}

/// Returns the integer part of `scaled / POWER` and its first eight decimals.
#[inline(always)]
fn split<const POWER: u64>(scaled: u64) -> (u64, u64) {
    (scaled / POWER, scaled % POWER * (EIGHT / POWER))
}

fn print(number: std::fmt::Arguments<'_>, text: &mut Vec<u8>) {
    let _ = text.write_fmt(number); // writing to a vector cannot fail
}

/// Appends the fewest digits that are read back as the same 16-bit float. Five digits are always enough.
fn push_half<T: Element>(number: T, text: &mut Vec<u8>) {
    const MAX_DIGITS: usize = 5;
    let wide: f64 = cast(number);
    for digits in 1..MAX_DIGITS {
        let short = format!("{wide:.*e}", digits - 1);
        if let Ok(back) = value::<T>(short.as_bytes(), ConversionPolicy::Exact)
            && back.is_same(number)
            && let Ok(shorter) = short.parse::<f64>()
        {
            return push_float(shorter, text);
        }
    }
    let long = format!("{wide:.*e}", MAX_DIGITS - 1);
    match long.parse::<f64>() {
        Ok(long) => push_float(long, text),
        Err(_) => push_float(wide, text),
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    fn text<T: Element>(number: T) -> String {
        let mut text = Vec::new();
        push(number, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(text(0.1_f64), "0.1");
        assert_eq!(text(5.0_f32), "5");
        assert_eq!(text(-0.0_f64), "-0");
        assert_eq!(text(1e300_f64), "1e300");
        assert_eq!(text(f16::from_f32(0.1)), "0.1");
        assert_eq!(text(bf16::from_f32(3.0)), "3");
        assert_eq!(text(f16::MAX), "65500");
        assert_eq!(text(i64::MIN), "-9223372036854775808");
        assert_eq!([text(f32::NAN), text(f64::NEG_INFINITY), text(f16::INFINITY)], ["NaN", "-inf", "inf"]);
    }

    /// Formats a value by the rule alone.
    fn slow_text(number: impl std::fmt::Debug) -> String {
        let text = format!("{number:?}");
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    }

    #[test]
    fn numbers_formatted_on_the_short_way_have_the_text_of_the_standard_library() {
        let check = |number: f64| {
            for number in [number, -number] {
                for number in [number, number.next_up(), number.next_down()] {
                    assert_eq!(text(number), slow_text(number));
                    let number = number as f32;
                    for number in [number, number.next_up(), number.next_down()] {
                        assert_eq!(text(number), slow_text(number));
                    }
                }
            }
        };
        for number in [0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 5e-324, f64::MAX, 1e-4, 9.999e-5, 0.5, 1e23] {
            check(number);
        }
        for power in -30..40 {
            for digits in [1.0, 9.0, 99.0, 1.5, 123.0, 999_999.0, 1_234_567.0, 999_999_999_999_999.0] {
                check(digits * 10_f64.powi(power));
            }
        }
        (0..1100).for_each(|power| check(2_f64.powi(power - 550)));
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 29)
        };
        for _ in 0..20_000 {
            check(f64::from_bits(random()));
            let (digits, power) = (random() % 10_u64.pow((random() % 18) as u32 + 1), random() % 12);
            check(digits as f64 / 10_f64.powi(power as i32));
            let number = f32::from_bits(random() as u32);
            assert_eq!(text(number), slow_text(number));
        }
    }

    #[test]
    fn integers_have_the_text_of_the_standard_library() {
        for power in 0..64 {
            for number in [1_u64 << power, (1 << power) - 1, 10_u64.pow(power % 20), 10_u64.pow(power % 20) - 1] {
                assert_eq!(text(number), number.to_string());
                let signed = number as i64;
                let signed = [signed, signed.wrapping_neg()];
                signed.iter().for_each(|&number| assert_eq!(text(number), number.to_string()));
                assert_eq!(text(number as u8), (number as u8).to_string());
                assert_eq!(text(number as i16), (number as i16).to_string());
            }
        }
        assert_eq!([text(i8::MIN), text(0_u32), text(-1_i32)], ["-128", "0", "-1"]);
        for four in 0..10_000_u64 {
            for number in [four, four * 10_000 + 9_999 - four, four * 1_000_000_007, four * 1_844_674_407_370_955] {
                assert_eq!(text(number), number.to_string());
            }
        }
    }

    #[test]
    fn every_half_is_read_back() {
        for bits in 0..=u16::MAX {
            let [half, brain] = [text(f16::from_bits(bits)), text(bf16::from_bits(bits))];
            let half = value::<f16>(half.as_bytes(), ConversionPolicy::Exact).unwrap();
            let brain = value::<bf16>(brain.as_bytes(), ConversionPolicy::Exact).unwrap();
            // The text of a NaN does not contain its payload.
            assert!(half.to_bits() == bits || (half.is_nan() && f16::from_bits(bits).is_nan()));
            assert!(brain.to_bits() == bits || (brain.is_nan() && bf16::from_bits(bits).is_nan()));
        }
    }
}
