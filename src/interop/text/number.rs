//! Conversion of the text of a number to the nearest value of an element type.
//!
//! `fast-float2` decides which strings are numbers, and parses `f64` and `f32`. Integers are parsed digit by digit,
//! without a detour through a float. Both 16-bit floats are rounded from the `f64`. If rounding to `f64` would decide a
//! tie, that value is corrected first.

use std::cmp::Ordering;

use crate::base::element::{Element, ElementType};
use crate::base::number::{Exact, Loss};
use crate::convert::{ConversionPolicy, cast};

/// Why a string cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::interop) enum NumberRefusal {
    NotANumber,
    NotRepresentable,
}

/// Returns whether a string is a number, a NaN or an infinity.
#[cfg(feature = "csv")]
pub(in crate::interop) fn is_number(text: &[u8]) -> bool {
    fast_float2::parse::<f64, _>(text).is_ok()
}

/// Returns the separator in a string that consists only of numbers and separators, such as `1,5` and `1;2`. Such a
/// string is neither a number nor a word.
#[cfg(feature = "csv")]
pub(in crate::interop) fn separator_in_numbers(text: &[u8]) -> Option<u8> {
    const SEPARATORS: [u8; 5] = [b';', b'\t', b'|', b' ', b','];
    let mut parts = text.split(|byte| SEPARATORS.contains(byte)).filter(|part| !part.is_empty()).peekable();
    let are_numbers = parts.peek().is_some() && parts.all(is_number);
    SEPARATORS.into_iter().find(|separator| are_numbers && text.contains(separator))
}

/// Parses the number at the beginning of the bytes on a fast path. Returns its value and the number of bytes, or `None`
/// if the slow path is needed. The caller must check the text that follows, because a longer number may begin with a
/// shorter one.
#[inline(always)]
pub(in crate::interop) fn fast_number<T: Element>(bytes: &[u8]) -> Option<(T, usize)> {
    match T::TYPE {
        ElementType::F64 => {
            let (value, length) = fast_float2::parse_partial::<f64, _>(bytes).ok()?;
            value.is_finite().then(|| (cast(value), length))
        }
        ElementType::F32 => {
            let (value, length) = fast_float2::parse_partial::<f32, _>(bytes).ok()?;
            value.is_finite().then(|| (cast(value), length))
        }
        ElementType::F16 | ElementType::Bf16 => {
            let (value, length) = fast_float2::parse_partial::<f64, _>(bytes).ok()?;
            let rounded: T = cast(value);
            let is_finite = cast::<T, f64>(rounded).is_finite();
            (is_finite && !may_be_tie::<T>(value)).then_some((rounded, length))
        }
        _ => fast_integer(bytes),
    }
}

#[inline(always)]
fn fast_integer<T: Element>(bytes: &[u8]) -> Option<(T, usize)> {
    const MAX_DIGITS: usize = 18; // any number of 18 digits is below 2^63
    let is_negative = bytes.first() == Some(&b'-');
    let start = usize::from(is_negative);
    let (magnitude, count) = leading_digits(&bytes[start..], MAX_DIGITS)?;
    let magnitude = i128::from(magnitude);
    let number = Exact::Integer(if is_negative { -magnitude } else { magnitude });
    (T::loss(number) == Loss::None).then(|| (T::nearest(number), start + count))
}

/// Parses the digits at the beginning of the bytes, eight at a time. Returns their number and their count; `None`
/// without digits, or with more than `most`, which is at most 19: any number of 19 digits is below 2^64.
#[inline(always)]
pub(in crate::interop) fn leading_digits(bytes: &[u8], most: usize) -> Option<(u64, usize)> {
    const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    let (mut number, mut count, mut rest) = (0_u64, 0, bytes);
    while let Some((eight, later)) = rest.split_first_chunk::<8>() {
        let (value, digits) = eight_digits(u64::from_le_bytes(*eight));
        count += digits;
        if count > most {
            return None;
        }
        number = number * POWERS[digits] + value;
        if digits < 8 {
            return (count > 0).then_some((number, count));
        }
        rest = later;
    }
    for digit in rest.iter().map(|byte| byte.wrapping_sub(b'0')).take_while(|&digit| digit < 10) {
        if count == most {
            return None;
        }
        (number, count) = (number * 10 + u64::from(digit), count + 1);
    }
    (count > 0).then_some((number, count))
}

/// Parses the digits at the beginning of eight characters, with the first one in the lowest byte. Returns their number
/// and their count.
#[inline(always)]
fn eight_digits(characters: u64) -> (u64, usize) {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let digits = characters ^ 0x3030_3030_3030_3030;
    // The high bit of each byte up to the first one above 9. A carry out of a byte is one out of a byte above 9.
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & HIGH_BITS;
    let count = others.trailing_zeros() / 8; // 8 if all are digits
    if count == 0 {
        return (0, 0);
    }
    // As many zeros come before the digits as other characters came after them.
    let digits = digits << (64 - 8 * count);
    let pairs = (digits * 10).wrapping_add(digits >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs * 100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    let eight = (fours * 10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF;
    (eight, count as usize)
}

/// Converts a string that consists of a number only.
pub(in crate::interop) fn value<T: Element>(text: &[u8], policy: ConversionPolicy) -> Result<T, NumberRefusal> {
    let value = fast_float2::parse::<f64, _>(text).map_err(|_| NumberRefusal::NotANumber)?;
    let is_spelled = text.iter().any(|byte| matches!(byte, b'n' | b'N')); // like `inf` and `nan`
    if !T::TYPE.is_float() {
        return if is_spelled { spelled_integer(value, policy) } else { integer(text, policy) };
    }
    let nearest: T = match T::TYPE {
        ElementType::F64 => cast(value),
        ElementType::F32 => cast(fast_float2::parse::<f32, _>(text).map_err(|_| NumberRefusal::NotANumber)?),
        _ => cast(away_from_tie::<T>(text, value)),
    };
    let overflows = !is_spelled && cast::<T, f64>(nearest).is_infinite();
    if overflows && policy != ConversionPolicy::Saturate { Err(NumberRefusal::NotRepresentable) } else { Ok(nearest) }
}

/// Converts the caller's number under a policy for strings: floats may be rounded.
#[cfg(feature = "csv")]
pub(in crate::interop) fn value_of<T: Element>(number: f64, policy: ConversionPolicy) -> Option<T> {
    let loss = T::loss(Exact::Float(number));
    let is_permitted = match policy {
        ConversionPolicy::Saturate => true,
        ConversionPolicy::Exact if !T::TYPE.is_float() => loss == Loss::None,
        _ => matches!(loss, Loss::None | Loss::Inexact),
    };
    is_permitted.then(|| cast(number))
}

fn spelled_integer<T: Element>(value: f64, policy: ConversionPolicy) -> Result<T, NumberRefusal> {
    if policy == ConversionPolicy::Saturate { Ok(cast(value)) } else { Err(NumberRefusal::NotRepresentable) }
}

fn integer<T: Element>(text: &[u8], policy: ConversionPolicy) -> Result<T, NumberRefusal> {
    let decimal = Decimal::of(text);
    let (whole, has_fraction) = decimal.truncate();
    let number = Exact::Integer(if decimal.is_negative { -whole } else { whole });
    let is_permitted = match policy {
        ConversionPolicy::Saturate => true,
        ConversionPolicy::Checked => T::loss(number) == Loss::None,
        ConversionPolicy::Exact => T::loss(number) == Loss::None && !has_fraction,
    };
    if is_permitted { Ok(T::nearest(number)) } else { Err(NumberRefusal::NotRepresentable) }
}

/// The digits of a number as written.
struct Decimal<'a> {
    is_negative: bool,
    /// The digits before and after the point.
    digits: [&'a [u8]; 2],
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Splits the text of a finite number into its parts.
    fn of(text: &'a [u8]) -> Self {
        let is_negative = text.first() == Some(&b'-');
        let text = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        let (mantissa, exponent) = split(text, |byte| matches!(byte, b'e' | b'E'));
        let (whole, fraction) = split(mantissa, |byte| byte == b'.');
        Self { is_negative, digits: [whole, fraction], exponent: small(exponent) }
    }

    /// Returns the digits without leading zeros, and the power of ten of the first one.
    fn significant(&self) -> (impl Iterator<Item = u8> + 'a, i64) {
        let [whole, fraction] = self.digits;
        let all = || whole.iter().chain(fraction).map(|digit| digit - b'0');
        let zeros = all().take_while(|&digit| digit == 0).count();
        (all().skip(zeros), self.exponent.saturating_add(whole.len() as i64 - 1 - zeros as i64))
    }

    /// Returns the integer part, without the sign, and whether the fraction is non-zero. For numbers outside the range
    /// of all integer types, the result is an arbitrary number that is also outside it.
    fn truncate(&self) -> (i128, bool) {
        const BEYOND: i128 = 1 << 100;
        let (mut digits, first) = self.significant();
        let mut whole = 0;
        for _ in 0..first.saturating_add(1) {
            match digits.next() {
                None if whole == 0 => break,
                digit => whole = whole * 10 + i128::from(digit.unwrap_or(0)),
            }
            if whole > BEYOND {
                return (whole, false);
            }
        }
        (whole, digits.any(|digit| digit != 0))
    }
}

fn split(text: &[u8], is_separator: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    match text.iter().position(|&byte| is_separator(byte)) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    }
}

/// Parses an exponent. Clamps it to a range that does not change the result.
fn small(text: &[u8]) -> i64 {
    const BEYOND: i64 = 1 << 60;
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let push = |number: i64, digit: &u8| number.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(BEYOND);
    let magnitude = digits.iter().fold(0, push);
    if text.first() == Some(&b'-') { -magnitude } else { magnitude }
}

/// Returns whether a value may be the midpoint of two 16-bit floats. Those have at most 11 bits, and midpoints one
/// more.
#[inline(always)]
fn may_be_tie<T: Element>(value: f64) -> bool {
    const LOW_BITS: u64 = (1 << 40) - 1;
    value.to_bits() & LOW_BITS == 0 && cast::<T, f64>(cast(value)) != value
}

/// Returns a number on the same side of every midpoint of 16-bit floats as the string's number. The nearest `f64` may
/// be such a midpoint while the string's number is slightly larger or smaller.
fn away_from_tie<T: Element>(text: &[u8], value: f64) -> f64 {
    if !value.is_finite() || !may_be_tie::<T>(value) {
        return value;
    }
    let (further, nearer) =
        if value > 0.0 { (value.next_up(), value.next_down()) } else { (value.next_down(), value.next_up()) };
    match compare_magnitudes(text, value) {
        Ordering::Greater => further,
        Ordering::Equal => value,
        Ordering::Less => nearer,
    }
}

/// Compares the magnitude of a string's number exactly with that of a value of few bits.
fn compare_magnitudes(text: &[u8], value: f64) -> Ordering {
    // The smallest relevant values have 2^-140 as their last bit, and all have fewer than 16 bits, so
    // this number of digits is exact. Others are rounded to the same 16-bit float on either side.
    let exact = format!("{:.160e}", value.abs());
    let (exact, decimal) = (Decimal::of(exact.as_bytes()), Decimal::of(text));
    let ((ours, our_power), (theirs, their_power)) = (exact.significant(), decimal.significant());
    let (mut ours, mut theirs) = (ours, theirs);
    if our_power != their_power {
        return their_power.cmp(&our_power);
    }
    loop {
        match (theirs.next(), ours.next()) {
            (None, None) => return Ordering::Equal,
            (their, our) => match their.unwrap_or(0).cmp(&our.unwrap_or(0)) {
                Ordering::Equal => {}
                order => return order,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    fn exact<T: Element>(text: &str) -> Result<T, NumberRefusal> {
        value(text.as_bytes(), ConversionPolicy::Exact)
    }

    #[test]
    fn halves_are_rounded_once() {
        // The midpoint of 1 and the next f16 is 1 + 2^-11.
        assert_eq!(exact::<f16>("1.00048828125"), Ok(f16::from_bits(0x3C00)));
        assert_eq!(exact::<f16>("1.00048828125000000000000000000000000000001"), Ok(f16::from_bits(0x3C01)));
        assert_eq!(exact::<f16>("-1.00048828125000000000000000000000000000001"), Ok(f16::from_bits(0xBC01)));
        assert_eq!(exact::<f16>("1.00146484374999999999999999999999999999999"), Ok(f16::from_bits(0x3C01)));
        assert_eq!(exact::<f16>("1.00146484375"), Ok(f16::from_bits(0x3C02)));
        assert_eq!(exact::<bf16>("100390625000000000000000000001e-29"), Ok(bf16::from_bits(0x3F81)));
        assert_eq!(exact::<bf16>("1.00390625"), Ok(bf16::from_bits(0x3F80)));
        // The end of the range, and half the smallest value.
        assert_eq!(exact::<f16>("65519.99999999999999999999999999"), Ok(f16::MAX));
        assert_eq!(exact::<f16>("65520"), Err(NumberRefusal::NotRepresentable));
        let half = "2.98023223876953125e-8";
        assert_eq!(exact::<f16>(half), Ok(f16::from_bits(0)));
        assert_eq!(exact::<f16>(&half.replace("e-8", "0000000000000000000001e-8")), Ok(f16::from_bits(1)));
    }

    #[test]
    fn every_half_and_every_middle_is_read_back() {
        fn check<T: Element>(make: impl Fn(u16) -> T) {
            let finite = |bits: u16| Some(cast::<T, f64>(make(bits))).filter(|value| value.is_finite());
            for bits in 0..0x7FFF_u16 {
                let (Some(low), Some(high)) = (finite(bits), finite(bits + 1)) else { continue };
                assert_eq!(exact::<T>(&format!("{low:e}")), Ok(make(bits)));
                let even = make(bits + (bits & 1));
                let middle = format!("{:.170e}", (low + high) / 2.0);
                assert_eq!(exact::<T>(&middle), Ok(even), "{middle}");
                let more = middle.replace('e', "00001e");
                assert_eq!(exact::<T>(&more), Ok(make(bits + 1)), "{more}");
                let less = format!("-{:.170e}", (low + high) / 2.0 * (1.0 - f64::EPSILON));
                assert_eq!(exact::<T>(&less), Ok(make(bits | 0x8000)), "{less}");
            }
        }
        check(f16::from_bits);
        check(bf16::from_bits);
    }

    #[test]
    fn integers_do_not_go_through_floats() {
        assert_eq!(exact::<u64>("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(exact::<u64>("18446744073709551616"), Err(NumberRefusal::NotRepresentable));
        assert_eq!(exact::<i64>("-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(exact::<i64>("-9223372036854775809"), Err(NumberRefusal::NotRepresentable));
        assert_eq!(exact::<i64>("9007199254740993.000"), Ok(9_007_199_254_740_993));
        assert_eq!(exact::<i64>("9007199254740993000e-3"), Ok(9_007_199_254_740_993));
        assert_eq!(exact::<i64>(".9007199254740993e16"), Ok(9_007_199_254_740_993));
        assert_eq!(exact::<u8>("2.55e+2"), Ok(255));
        assert_eq!(exact::<u8>("0e99999999999999999999"), Ok(0));
        assert_eq!(exact::<u8>("1e99999999999999999999"), Err(NumberRefusal::NotRepresentable));
        assert_eq!(exact::<u8>("1e-99999999999999999999"), Err(NumberRefusal::NotRepresentable));
        assert_eq!(exact::<u8>("-0.0"), Ok(0));
        assert_eq!(exact::<u8>("1.5"), Err(NumberRefusal::NotRepresentable));
        assert_eq!(exact::<u8>("inf"), Err(NumberRefusal::NotRepresentable));
        assert_eq!(exact::<u8>("one"), Err(NumberRefusal::NotANumber));
    }

    #[test]
    fn policies_decide_about_what_does_not_fit() {
        let value = |text: &str, policy| value::<i8>(text.as_bytes(), policy);
        assert_eq!(value("-128.9", ConversionPolicy::Checked), Ok(-128));
        assert_eq!(value("-129", ConversionPolicy::Checked), Err(NumberRefusal::NotRepresentable));
        assert_eq!(value("-1e400", ConversionPolicy::Saturate), Ok(-128));
        assert_eq!(value("inf", ConversionPolicy::Saturate), Ok(127));
        assert_eq!(value("nan", ConversionPolicy::Saturate), Ok(0));
        assert_eq!(exact::<f64>("1e400"), Err(NumberRefusal::NotRepresentable));
        assert_eq!(exact::<f32>("1e39"), Err(NumberRefusal::NotRepresentable));
        assert_eq!(exact::<f64>("-Infinity"), Ok(f64::NEG_INFINITY));
    }

    #[test]
    fn digits_read_eight_at_a_time_are_those_read_one_by_one() {
        let one_by_one = |bytes: &[u8], most: usize| {
            let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let text = std::str::from_utf8(&bytes[..count]).unwrap();
            (1..=most).contains(&count).then(|| (text.parse().unwrap(), count))
        };
        let digits = b"98765432109876543210";
        for length in 0..=digits.len() {
            for start in 0..=digits.len() - length {
                for next in 0..=u8::MAX {
                    let mut text = digits[start..start + length].to_vec();
                    text.push(next);
                    text.extend_from_slice(b"7:\xFF0\x00/91");
                    for most in [18, 19] {
                        for end in [length, length + 1, text.len()] {
                            let text = &text[..end];
                            assert_eq!(leading_digits(text, most), one_by_one(text, most), "{text:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_short_way_and_the_long_way_agree() {
        fn check<T: Element>() {
            for text in ["0", "-0", "7", "-7", "12.5", "1e2", ".5", "5.", "300", "65520", "1e400", "-129", "x", "", "-"]
            {
                let Some((found, length)) = fast_number::<T>(text.as_bytes()) else { continue };
                if length == text.len() {
                    assert_eq!(exact::<T>(text), Ok(found), "{text} as {}", T::TYPE);
                }
            }
        }
        check::<f64>();
        check::<f32>();
        check::<f16>();
        check::<bf16>();
        check::<u8>();
        check::<i64>();
    }
}
