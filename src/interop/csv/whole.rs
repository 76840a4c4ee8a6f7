//! Numbers that are written as integers: digits and an optional sign.
//!
//! `1.0` and `1e3` are not: their column is one of measurements. Neither is `-0`, whose sign no integer type holds.

use crate::convert::ConversionPolicy;
use crate::interop::text::number::{leading_digits, value};

/// The largest magnitude up to which `f64` holds all integers.
pub(super) const EXACT: u64 = 1 << 53;

/// A number that is written as an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole<'a> {
    pub(super) is_negative: bool,
    /// `None` if it exceeds `u64`.
    magnitude: Option<u64>,
    /// Its digits, without leading zeros.
    digits: &'a [u8],
}

impl<'a> Whole<'a> {
    pub(super) fn of(text: &'a [u8]) -> Option<Self> {
        let is_negative = text.first() == Some(&b'-');
        let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        let digits = &digits[zeros..];
        if digits.is_empty() && is_negative {
            return None;
        }
        let push = |number: u64, digit: &u8| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
        Some(Self { is_negative, magnitude: digits.iter().try_fold(0, push), digits })
    }

    pub(super) fn as_i64(&self) -> Option<i64> {
        let magnitude = self.magnitude?;
        if self.is_negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        self.magnitude.filter(|_| !self.is_negative)
    }

    /// Returns whether `f64` holds the number.
    pub(super) fn is_float(&self) -> bool {
        match self.magnitude {
            Some(magnitude) => magnitude <= EXACT || magnitude as f64 as u128 == u128::from(magnitude),
            None => value::<f64>(self.digits, ConversionPolicy::Exact)
                .is_ok_and(|nearest| format!("{nearest:.0}").as_bytes() == self.digits),
        }
    }
}

/// Parses the integer at the beginning of the bytes. Returns whether it is negative, its magnitude, and the number of
/// bytes; `None` without an integer, or if the fast path cannot parse it. The caller must check the text that follows.
#[inline(always)]
pub(super) fn fast_whole(bytes: &[u8]) -> Option<(bool, u64, usize)> {
    const MAX_DIGITS: usize = 19; // any number of 19 digits is below 2^64
    let is_negative = bytes.first() == Some(&b'-');
    let start = usize::from(is_negative);
    let (magnitude, count) = leading_digits(&bytes[start..], MAX_DIGITS)?;
    (!is_negative || magnitude != 0).then_some((is_negative, magnitude, start + count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_known_exactly() {
        let whole = |text: &'static str| Whole::of(text.as_bytes());
        for text in ["", "-", "+", "1.0", "1e3", "-0", "-00", "nan", "1 ", " 1", "--1", "+-1", "0x1"] {
            assert_eq!(whole(text), None, "{text}");
        }
        let check = |text, signed: Option<i64>, unsigned: Option<u64>, is_float: bool| {
            let whole = whole(text).unwrap();
            assert_eq!((whole.as_i64(), whole.as_u64(), whole.is_float()), (signed, unsigned, is_float), "{text}");
        };
        check("0", Some(0), Some(0), true);
        check("+000", Some(0), Some(0), true);
        check("-7", Some(-7), None, true);
        check("0009007199254740992", Some(1 << 53), Some(1 << 53), true);
        check("9007199254740993", Some((1 << 53) + 1), Some((1 << 53) + 1), false);
        check("9223372036854775807", Some(i64::MAX), Some(i64::MAX as u64), false);
        check("9223372036854775808", None, Some(1 << 63), true);
        check("-9223372036854775808", Some(i64::MIN), None, true);
        check("-9223372036854775809", None, None, false);
        check("18446744073709551615", None, Some(u64::MAX), false);
        check("18446744073709551616", None, None, true);
        check("36893488147419103232", None, None, true); // 2^65
        check("36893488147419103233", None, None, false);
        let large = format!("{:.0}", f64::MAX);
        assert!(Whole::of(large.as_bytes()).unwrap().is_float());
        assert!(!Whole::of("9".repeat(400).as_bytes()).unwrap().is_float());
    }

    #[test]
    fn the_short_look_and_the_long_one_agree() {
        for text in
            ["0", "7", "-7", "-0", "9999999999999999999", "99999999999999999999", "-9223372036854775808", "x", ""]
        {
            let whole = Whole::of(text.as_bytes());
            if let Some((is_negative, magnitude, length)) = fast_whole(text.as_bytes()) {
                let whole = whole.unwrap();
                assert_eq!((whole.is_negative, whole.magnitude, text.len()), (is_negative, Some(magnitude), length));
            }
        }
        assert_eq!(fast_whole(b"12.5"), Some((false, 12, 2))); // the caller sees the point
        assert_eq!(fast_whole(b"-0"), None);
    }
}
