//! The conversion rule for one value, for every pair of element types.
//!
//! A source value is first read as the exact number that it represents: an integer of at most 64 bits, or a float that
//! an `f64` represents exactly. The target type then rounds that number **once**. Twelve readings and twelve roundings
//! make 144 pairs, and no pair can round twice. The loss of a conversion is a [`Loss`]. Policies differ only in the
//! losses that they permit.
//!
//! Between different float types, a NaN keeps its sign, becomes quiet, and keeps as many of the leading bits of its
//! payload as fit: a wider payload is filled with zeros, a narrower one is truncated. So `f64` to `f32` to `f16` equals
//! `f64` to `f16`. Rust does not specify the bits of a NaN converted by `as`, so they are moved as integers here.
//!
//! Deliberately slow and simple: every kernel is tested bit for bit against this file. Semantics:
//! [`ConversionPolicy`](crate::convert::ConversionPolicy). Rounding is IEEE 754 `roundTiesToEven`. Float to integer
//! truncates like Rust's `as`. NaN follows IEEE 754-2019, 6.2.3, and the behavior of x86-64 and AArch64.

use half::{bf16, f16};

use crate::base::element::Element;

/// The exact number that a value represents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exact {
    /// An integer that an integer element type can hold.
    Integer(i128),
    /// A float, an infinity or a NaN. The payload of a NaN from a narrower type is in the leading bits.
    Float(f64),
}

impl Exact {
    /// Returns the number as an index, if it is one: an integer that is not negative.
    pub fn index(self) -> Option<usize> {
        match self {
            Self::Integer(value) => usize::try_from(value).ok(),
            // A cast of a float saturates. Comparing the result rejects NaN and numbers that are not integers.
            Self::Float(value) => Some(value as usize).filter(|&index| index as f64 == value),
        }
    }
}

/// The loss of converting one value under `Saturate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// No loss: the result is equal.
    None,
    /// A NaN became the integer 0.
    NanToInteger,
    /// The value was clamped to the smallest integer.
    BelowRange,
    /// The value was clamped to the largest integer.
    AboveRange,
    /// A finite value became infinite.
    OverflowToInfinity,
    /// A value in range was truncated or rounded.
    Inexact,
}

/// Reading a value as an exact number, and rounding an exact number to a value.
pub trait Number: Copy {
    /// Returns the exact number that this value represents.
    fn exact(self) -> Exact;
    /// Converts a number under `Saturate`: truncates or rounds once, clamps, and converts NaN to the integer 0 or to a
    /// quiet NaN.
    fn nearest(number: Exact) -> Self;
    /// Returns the loss of `nearest` for the number.
    fn loss(number: Exact) -> Loss;
    /// Returns whether two values have the same bits, which makes them equal when writing back.
    fn is_same(self, other: Self) -> bool;
}

/// The NaN of results: of operations on numbers, each processor makes another one.
pub const PLAIN_NAN: f64 = f64::from_bits(0x7FF8_0000_0000_0000);

/// Returns the number, with [`PLAIN_NAN`] for any NaN.
pub fn plain_nan(number: f64) -> f64 {
    if number.is_nan() { PLAIN_NAN } else { number }
}

/// Converts one value as [`ConversionPolicy::Saturate`](crate::convert::ConversionPolicy::Saturate) does.
#[inline]
pub(crate) fn convert<S: Element, D: Element>(value: S) -> D {
    D::nearest(value.exact())
}

macro_rules! integer {
    ($($native:ty)*) => {$(
        impl Number for $native {
            #[inline]
            fn exact(self) -> Exact {
                Exact::Integer(self as i128)
            }

            #[inline]
            fn nearest(number: Exact) -> Self {
                match number {
                    Exact::Integer(value) => value.clamp(Self::MIN as i128, Self::MAX as i128) as Self,
                    Exact::Float(value) => value as Self, // truncates, clamps, NaN to 0
                }
            }

            #[inline]
            fn loss(number: Exact) -> Loss {
                match number {
                    Exact::Integer(value) => integer_loss(value, Self::MIN as i128, Self::MAX as i128),
                    // Both limits are powers of two or zero, so they are exact as floats; MAX itself may not be.
                    Exact::Float(value) => {
                        truncation_loss(value, Self::MIN as f64, (Self::MAX as i128 + 1) as f64)
                    }
                }
            }

            #[inline]
            fn is_same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}
integer!(i8 i16 i32 i64 u8 u16 u32 u64);

fn integer_loss(value: i128, min: i128, max: i128) -> Loss {
    if value < min {
        Loss::BelowRange
    } else if value > max {
        Loss::AboveRange
    } else {
        Loss::None
    }
}

/// Returns the loss of truncating a float to an integer in `min..end`.
fn truncation_loss(value: f64, min: f64, end: f64) -> Loss {
    let truncated = value.trunc();
    if value.is_nan() {
        Loss::NanToInteger
    } else if truncated < min {
        Loss::BelowRange
    } else if truncated >= end {
        Loss::AboveRange
    } else if truncated != value {
        Loss::Inexact
    } else {
        Loss::None
    }
}

macro_rules! float {
    ($($native:ty, $bits:ty: $format:expr, $from_integer:expr, $from_float:expr;)*) => {$(
        impl Number for $native {
            #[inline]
            fn exact(self) -> Exact {
                Exact::Float(if self.is_nan() { $format.widen_nan(self.to_bits().into()) } else { f64::from(self) })
            }

            #[inline]
            fn nearest(number: Exact) -> Self {
                match number {
                    Exact::Integer(value) => $from_integer(value),
                    Exact::Float(value) if value.is_nan() => Self::from_bits($format.narrow_nan(value) as $bits),
                    Exact::Float(value) => $from_float(value),
                }
            }

            #[inline]
            fn loss(number: Exact) -> Loss {
                let rounded = f64::from(Self::nearest(number));
                match number {
                    Exact::Float(value) if !value.is_finite() => Loss::None,
                    _ if rounded.is_infinite() => Loss::OverflowToInfinity,
                    Exact::Float(value) if rounded == value => Loss::None,
                    Exact::Integer(value) if rounded as i128 == value => Loss::None,
                    _ => Loss::Inexact,
                }
            }

            #[inline]
            fn is_same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }
        }
    )*};
}
float! {
    f64, u64: F64, |value| value as f64, |value| value;
    f32, u32: F32, |value| value as f32, |value| value as f32;
    f16, u16: F16, |value| f16::from_bits(round_to_16_bits(Exact::Integer(value), F16)),
              |value| f16::from_bits(round_to_16_bits(Exact::Float(value), F16));
    bf16, u16: BF16, |value| bf16::from_bits(round_to_16_bits(Exact::Integer(value), BF16)),
               |value| bf16::from_bits(round_to_16_bits(Exact::Float(value), BF16));
}

/// A binary interchange format: sign, exponent and fraction, from the highest bit down.
#[derive(Clone, Copy)]
struct Format {
    /// The width of the entire value in bits.
    width: u32,
    /// The width of the fraction in bits.
    fraction_bits: u32,
}

const F64: Format = Format { width: 64, fraction_bits: 52 };
const F32: Format = Format { width: 32, fraction_bits: 23 };
const F16: Format = Format { width: 16, fraction_bits: 10 };
const BF16: Format = Format { width: 16, fraction_bits: 7 };

impl Format {
    /// Returns the bits of positive infinity: an exponent of all ones.
    fn infinity(self) -> u64 {
        (1 << (self.width - 1)) - (1 << self.fraction_bits)
    }

    /// Returns the mask of the fraction.
    fn fraction(self) -> u64 {
        (1 << self.fraction_bits) - 1
    }

    /// Returns the leading bit of the fraction, which is set in a quiet NaN.
    fn quiet(self) -> u64 {
        1 << (self.fraction_bits - 1)
    }

    /// Returns the exponent of the smallest normal number.
    fn min_exponent(self) -> i32 {
        let exponent_bits = self.width - 1 - self.fraction_bits;
        2 - (1 << (exponent_bits - 1))
    }

    /// Returns the quiet `f64` NaN with the sign and the payload of a NaN of this format.
    fn widen_nan(self, bits: u64) -> f64 {
        let sign = bits >> (self.width - 1) << 63;
        let fraction = (bits & self.fraction()) << (F64.fraction_bits - self.fraction_bits);
        f64::from_bits(sign | F64.infinity() | F64.quiet() | fraction)
    }

    /// Returns the bits of this format's quiet NaN with the sign of `nan` and as much of its payload as fits.
    fn narrow_nan(self, nan: f64) -> u64 {
        let sign = nan.to_bits() >> 63 << (self.width - 1);
        let fraction = (nan.to_bits() & F64.fraction()) >> (F64.fraction_bits - self.fraction_bits);
        sign | self.infinity() | self.quiet() | fraction
    }
}

/// Rounds a number other than NaN once, to nearest with ties to even, in integer arithmetic.
///
/// The conversions of `half` from `f64` round twice (through `f32`) or drop low bits, depending on the machine.
fn round_to_16_bits(number: Exact, format: Format) -> u16 {
    let infinity = format.infinity() as u16;
    // number = (-1)^sign * significand * 2^exponent
    let (sign, significand, exponent) = match number {
        Exact::Integer(value) => (u16::from(value < 0) << 15, value.unsigned_abs(), 0),
        Exact::Float(value) => {
            let sign = u16::from(value.is_sign_negative()) << 15;
            if value.is_infinite() {
                return sign | infinity;
            }
            let bits = value.to_bits();
            let (field, fraction) = ((bits >> 52 & 0x7FF) as i32, bits & ((1 << 52) - 1));
            // Field 0 is a subnormal: no hidden bit, and the exponent of field 1.
            (sign, u128::from(fraction | u64::from(field != 0) << 52), field.max(1) - 1075)
        }
    };
    if significand == 0 {
        return sign;
    }
    // 2^magnitude <= |number| < 2^(magnitude + 1), and one unit in the last place of the result is 2^unit.
    let magnitude = exponent + significand.ilog2() as i32;
    let unit = magnitude.max(format.min_exponent()) - format.fraction_bits as i32;
    let units = round_shift_right(significand, unit - exponent);
    // The hidden bit of a normal number and the carry of rounding up are added into the exponent field.
    let field = (magnitude.max(format.min_exponent()) - format.min_exponent()) as u128;
    let bits = (field << format.fraction_bits) + units;
    sign | bits.min(u128::from(infinity)) as u16
}

/// Divides by `2^shift` and rounds to nearest even; multiplies if `shift` is negative.
fn round_shift_right(value: u128, shift: i32) -> u128 {
    if shift <= 0 {
        return value << -shift;
    }
    if shift >= 128 {
        return 0; // values have at most 65 bits: less than half a unit
    }
    let (quotient, rest, half) = (value >> shift, value & ((1 << shift) - 1), 1 << (shift - 1));
    quotient + u128::from(rest > half || (rest == half && quotient & 1 == 1))
}

#[cfg(test)]
mod tests;
