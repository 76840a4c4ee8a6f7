//! Formatting values as the shortest text that is read back as the same value.

use std::io::Write;

use crate::base::element::{Element, ElementType};
use crate::convert::{ConversionPolicy, cast};

use super::number::value;

/// Appends the text of a value: decimal digits, with an exponent where that is much shorter; `NaN`, `inf`, `-inf`.
pub(in crate::interop) fn push<T: Element>(number: T, text: &mut Vec<u8>) {
    let start = text.len();
    match T::TYPE {
        ElementType::F16 | ElementType::Bf16 => push_half(number, text),
        _ => print(format_args!("{number:?}"), text),
    }
    if text[start..].ends_with(b".0") {
        text.truncate(text.len() - 2);
    }
}

fn print(number: std::fmt::Arguments<'_>, text: &mut Vec<u8>) {
    let _ = text.write_fmt(number); // writing to a vector cannot fail
}

/// Appends the fewest digits that are read back as the same 16-bit float. Five digits are always enough.
fn push_half<T: Element>(number: T, text: &mut Vec<u8>) {
    const MOST_DIGITS: usize = 5;
    let wide: f64 = cast(number);
    for digits in 1..MOST_DIGITS {
        let short = format!("{wide:.*e}", digits - 1);
        if let Ok(back) = value::<T>(short.as_bytes(), ConversionPolicy::Exact)
            && back.is_same(number)
            && let Ok(shorter) = short.parse::<f64>()
        {
            return print(format_args!("{shorter:?}"), text);
        }
    }
    let long = format!("{wide:.*e}", MOST_DIGITS - 1);
    match long.parse::<f64>() {
        Ok(long) => print(format_args!("{long:?}"), text),
        Err(_) => print(format_args!("{wide:?}"), text),
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
