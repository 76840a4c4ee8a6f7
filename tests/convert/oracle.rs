//! What conversions must return, without a line of the code under test.
//!
//! A value is seen as an exact integer or `f64`. `f32` and `f64` use Rust's `as`, the nearest `f16` and `bf16` are
//! found by a search of all of them, and the payloads of NaN are moved as integers.

use std::sync::LazyLock;

use numeric_table::prelude::*;
use test_support::bits::float_format;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Loss {
    None,
    NanToInteger,
    BelowRange,
    AboveRange,
    OverflowToInfinity,
    Inexact,
}

pub(crate) fn permits(policy: ConversionPolicy, loss: Loss) -> bool {
    match policy {
        ConversionPolicy::Saturate => true,
        ConversionPolicy::Checked => loss == Loss::None || loss == Loss::Inexact,
        _ => loss == Loss::None,
    }
}

/// The bits of the value under `Saturate`, and what it loses.
pub(crate) fn expected(source: ElementType, target: ElementType, bits: u64) -> (u64, Loss) {
    if source == target {
        return (bits, Loss::None);
    }
    if let Some(nan) = nan(source, target, bits) {
        return (nan, Loss::None);
    }
    let number = number(source, bits);
    match range(target) {
        Some(range) => integer(number, range),
        None => float(number, target),
    }
}

/// What becomes of a NaN in another float type: the sign, all ones, the quiet bit, and the payload aligned on the left.
fn nan(source: ElementType, target: ElementType, bits: u64) -> Option<u64> {
    let ((from_exponent, from_fraction), (to_exponent, to_fraction)) = (float_format(source)?, float_format(target)?);
    let exponent = bits >> from_fraction & ((1 << from_exponent) - 1);
    let aligned = bits << (64 - from_fraction);
    if exponent != (1 << from_exponent) - 1 || aligned == 0 {
        return None;
    }
    let negative = bits >> (from_exponent + from_fraction) & 1;
    let fraction = (aligned | 1 << 63) >> (64 - to_fraction);
    Some((negative << to_exponent | ((1 << to_exponent) - 1)) << to_fraction | fraction)
}

/// The limits of an integer type.
pub(crate) fn range(element: ElementType) -> Option<(i128, i128)> {
    match element {
        ElementType::I8 => Some((i8::MIN.into(), i8::MAX.into())),
        ElementType::I16 => Some((i16::MIN.into(), i16::MAX.into())),
        ElementType::I32 => Some((i32::MIN.into(), i32::MAX.into())),
        ElementType::I64 => Some((i64::MIN.into(), i64::MAX.into())),
        ElementType::U8 => Some((0, u8::MAX.into())),
        ElementType::U16 => Some((0, u16::MAX.into())),
        ElementType::U32 => Some((0, u32::MAX.into())),
        ElementType::U64 => Some((0, u64::MAX.into())),
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Number {
    Integer(i128),
    Float(f64),
}

fn number(element: ElementType, bits: u64) -> Number {
    match element {
        ElementType::I8 => Number::Integer((bits as i8).into()),
        ElementType::I16 => Number::Integer((bits as i16).into()),
        ElementType::I32 => Number::Integer((bits as i32).into()),
        ElementType::I64 => Number::Integer((bits as i64).into()),
        ElementType::F64 => Number::Float(f64::from_bits(bits)),
        ElementType::F32 => Number::Float(f32::from_bits(bits as u32).into()),
        ElementType::F16 | ElementType::Bf16 => Number::Float(decode(element, bits as u16)),
        _ => Number::Integer(bits.into()),
    }
}

/// A 16-bit float from its sign, exponent and fraction.
fn decode(element: ElementType, bits: u16) -> f64 {
    let (exponent_bits, fraction_bits) = float_format(element).unwrap();
    let largest = (1 << exponent_bits) - 1;
    let (exponent, fraction) = (i32::from(bits >> fraction_bits & largest), bits & ((1 << fraction_bits) - 1));
    let bias = i32::from(largest >> 1);
    let magnitude = if exponent == i32::from(largest) {
        if fraction == 0 { f64::INFINITY } else { f64::NAN }
    } else {
        let hidden = if exponent == 0 { 0 } else { 1 << fraction_bits };
        f64::from(hidden + u32::from(fraction)) * 2f64.powi(exponent.max(1) - bias - fraction_bits as i32)
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

fn integer(number: Number, (min, max): (i128, i128)) -> (u64, Loss) {
    let (whole, has_fraction) = match number {
        Number::Integer(value) => (value, false),
        Number::Float(value) if value.is_nan() => return (0, Loss::NanToInteger),
        Number::Float(value) => (value as i128, value.is_finite() && value.fract() != 0.0), // `as` truncates, clamps
    };
    let loss = match whole {
        _ if whole < min => Loss::BelowRange,
        _ if whole > max => Loss::AboveRange,
        _ if has_fraction => Loss::Inexact,
        _ => Loss::None,
    };
    (whole.clamp(min, max) as u64, loss)
}

fn float(number: Number, target: ElementType) -> (u64, Loss) {
    let (bits, result) = match (target, number) {
        (ElementType::F64, Number::Integer(value)) => ((value as f64).to_bits(), value as f64),
        (ElementType::F64, Number::Float(value)) => (value.to_bits(), value),
        (ElementType::F32, Number::Integer(value)) => ((value as f32).to_bits().into(), (value as f32).into()),
        (ElementType::F32, Number::Float(value)) => ((value as f32).to_bits().into(), (value as f32).into()),
        (_, Number::Integer(value)) => nearest(target, round_to_odd(value)),
        (_, Number::Float(value)) => nearest(target, value),
    };
    let loss = match number {
        Number::Float(value) if !value.is_finite() => Loss::None,
        _ if result.is_infinite() => Loss::OverflowToInfinity,
        Number::Float(value) if result == value => Loss::None,
        Number::Integer(value) if result as i128 == value => Loss::None, // floats near integers are integers
        _ => Loss::Inexact,
    };
    (bits, loss)
}

/// An `f64` that lies on the same side of every 16-bit float, and of every middle of two, as the integer.
fn round_to_odd(value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let rest = magnitude & ((1 << excess) - 1);
    let kept = ((magnitude >> excess | u128::from(rest != 0)) << excess) as f64;
    if value < 0 { -kept } else { kept }
}

/// Finite values from zero up; the bits are the index.
fn positives(element: ElementType) -> &'static [f64] {
    fn list(element: ElementType) -> Vec<f64> {
        (0..0x8000).map(|bits| decode(element, bits)).take_while(|value| value.is_finite()).collect()
    }
    static F16: LazyLock<Vec<f64>> = LazyLock::new(|| list(ElementType::F16));
    static BF16: LazyLock<Vec<f64>> = LazyLock::new(|| list(ElementType::Bf16));
    if element == ElementType::F16 { &F16 } else { &BF16 }
}

/// The nearest 16-bit float, of two the one with even bits, found by search.
fn nearest(target: ElementType, value: f64) -> (u64, f64) {
    let (positives, magnitude) = (positives(target), value.abs());
    let above = positives.partition_point(|&candidate| candidate < magnitude);
    let index = if above == 0 || positives.get(above) == Some(&magnitude) {
        above
    } else {
        // Behind the largest value IEEE 754 sees the next one, and calls it infinity.
        let below = positives[above - 1];
        let next = positives.get(above).copied().unwrap_or_else(|| below + (below - positives[above - 2]));
        let (down, up) = (magnitude - below, next - magnitude); // exact where they are nearly equal
        if down < up || (down == up && above % 2 == 1) { above - 1 } else { above }
    };
    let bits = index as u16 | if value.is_sign_negative() { 0x8000 } else { 0 };
    (bits.into(), decode(target, bits))
}
