//! Decimals as element types: an integer, divided by a power of ten and rounded **once**.
//!
//! A decimal is a significand and a scale, and stands for the exact number `significand / 10^scale`. Integers truncate
//! it; floats round it to nearest, ties to even. The loss decides which policies permit the conversion.
//!
//! Short decimals take one division of exact floats. For longer ones, integer arithmetic computes 64 bits of the
//! quotient; the last bit is set if there is a remainder. Types narrower than `f64` are rounded from an `f64` that was
//! rounded to odd (Boldo and Melquiond, *Emulation of FMA and correctly rounded sums*, 2008), so that the two roundings
//! have the effect of one.

use std::ops::{BitOr, Div, Range, Rem, Shl, Sub};

use arrow_array::Array as ArrowArray;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_buffer::i256;
use arrow_schema::DataType;
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::internal::{Exact, Loss};
use numeric_table::{AnyValue, ConversionPolicy, Element, ElementType, Result};

use crate::chunks::Origin;
use crate::error::not_representable;

/// Largest power of ten that is an `f64`.
const EXACT_SCALE: i8 = 22;
/// Largest integer up to which an `f64` holds all integers.
const EXACT_INTEGER: u128 = 1 << 53;
/// Largest number of digits before or after the point: all powers of ten up to this one are less than 2^253.
const MAX_DIGITS: i16 = 76;
/// Largest precision whose integers an `i64` holds.
const I64_DIGITS: u8 = 18;

/// The decimals of an Arrow array.
#[derive(Clone, Copy)]
pub(crate) struct Decimals<'a> {
    significands: Significands<'a>,
    scale: i8,
}

#[derive(Clone, Copy)]
enum Significands<'a> {
    I32(&'a [i32]),
    I64(&'a [i64]),
    I128(&'a [i128]),
    I256(&'a [i256]),
}

/// Returns whether an Arrow type is a decimal type of integers that an `i64` holds.
pub(crate) fn is_integer(data_type: &DataType) -> bool {
    matches!(digits(data_type), Some((precision, 0)) if precision <= I64_DIGITS)
}

/// Returns whether an Arrow type is a decimal type.
pub(crate) fn is_decimal(data_type: &DataType) -> bool {
    digits(data_type).is_some()
}

/// Returns the precision and the scale of a decimal type.
fn digits(data_type: &DataType) -> Option<(u8, i8)> {
    match *data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some((precision, scale)),
        _ => None,
    }
}

impl<'a> Decimals<'a> {
    /// Borrows the values of an array of decimals. Returns `None` for any other array.
    ///
    /// # Errors
    /// The reason why a table cannot hold them.
    pub(crate) fn of(array: &'a dyn ArrowArray) -> Result<Option<Self>, String> {
        let data_type = array.data_type();
        let Some((precision, scale)) = digits(data_type) else { return Ok(None) };
        if i16::from(precision) - i16::from(scale) > MAX_DIGITS || i16::from(scale) > MAX_DIGITS {
            return Err(format!("{data_type} has more than {MAX_DIGITS} digits before or after the point"));
        }
        let significands = match data_type {
            DataType::Decimal32(..) => {
                array.as_primitive_opt::<Decimal32Type>().map(|array| Significands::I32(array.values()))
            }
            DataType::Decimal64(..) => {
                array.as_primitive_opt::<Decimal64Type>().map(|array| Significands::I64(array.values()))
            }
            DataType::Decimal128(..) => {
                array.as_primitive_opt::<Decimal128Type>().map(|array| Significands::I128(array.values()))
            }
            _ => array.as_primitive_opt::<Decimal256Type>().map(|array| Significands::I256(array.values())),
        };
        Ok(significands.map(|significands| Self { significands, scale }))
    }

    /// Converts some values.
    ///
    /// # Errors
    /// [`ErrorKind::ValueNotRepresentable`] with the first value that the policy refuses, as the nearest `f64`.
    pub(crate) fn read<T: Element>(
        &self,
        rows: Range<usize>,
        target: &mut [T],
        policy: ConversionPolicy,
        origin: Origin,
    ) -> Result<()> {
        let (scale, first) = (self.scale, rows.start);
        let refused = match self.significands {
            Significands::I32(values) => read(&values[rows], target, |value| short(value.into(), scale, policy)),
            Significands::I64(values) => read(&values[rows], target, |value| short(value.into(), scale, policy)),
            Significands::I128(values) => read(&values[rows], target, |value| short(value, scale, policy)),
            Significands::I256(values) => read(&values[rows], target, |value| match value.to_i128() {
                Some(value) => short(value, scale, policy),
                None => passed(long::<T>(value, scale), policy),
            }),
        };
        let Some(index) = refused else { return Ok(()) };
        let significand = match self.significands {
            Significands::I32(values) => i256::from(values[first + index]),
            Significands::I64(values) => i256::from(values[first + index]),
            Significands::I128(values) => i256::from(values[first + index]),
            Significands::I256(values) => values[first + index],
        };
        let value = AnyValue::from(long::<f64>(significand, scale).0);
        let row = origin.row.saturating_add(index);
        Err(not_representable(row, origin.column, value, T::TYPE))
    }
}

/// Converts values until one is refused, and returns its index.
fn read<S: Copy, T>(values: &[S], target: &mut [T], convert: impl Fn(S) -> Option<T>) -> Option<usize> {
    for (index, (&value, target)) in values.iter().zip(target).enumerate() {
        match convert(value) {
            Some(converted) => *target = converted,
            None => return Some(index),
        }
    }
    None
}

fn passed<T>((value, loss): (T, Loss), policy: ConversionPolicy) -> Option<T> {
    let is_permitted = match policy {
        ConversionPolicy::Saturate => true,
        ConversionPolicy::Checked => matches!(loss, Loss::None | Loss::Inexact),
        _ => loss == Loss::None,
    };
    is_permitted.then_some(value)
}

/// Converts a decimal whose significand fits an `i128`. Returns `None` if the policy refuses it.
#[inline]
fn short<T: Element>(significand: i128, scale: i8, policy: ConversionPolicy) -> Option<T> {
    if scale == 0 {
        let number = Exact::Integer(significand);
        return passed((T::nearest(number), T::loss(number)), policy);
    }
    if !T::TYPE.is_float()
        && let (Ok(significand), Some(&power)) =
            (i64::try_from(significand), usize::try_from(scale).ok().and_then(|scale| INTEGER_POWERS.get(scale)))
    {
        return passed(truncated(Exact::Integer((significand / power).into()), significand % power != 0), policy);
    }
    if T::TYPE.is_float() && significand.unsigned_abs() <= EXACT_INTEGER && (0..=EXACT_SCALE).contains(&scale) {
        let (value, power) = (significand as i64 as f64, POWERS[scale as usize]);
        let quotient = value / power;
        if T::TYPE == ElementType::F64 && policy != ConversionPolicy::Exact {
            return Some(T::nearest(Exact::Float(quotient)));
        }
        let error = quotient.mul_add(power, -value); // exact: the rest of a division is a float
        if T::TYPE == ElementType::F64 {
            return (error == 0.0).then_some(T::nearest(Exact::Float(quotient)));
        }
        let number = Exact::Float(to_odd(quotient, error));
        return passed((T::nearest(number), T::loss(number)), policy);
    }
    passed(long(significand.into(), scale), policy)
}

/// The powers of ten that an `f64` holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

const INTEGER_POWERS: [i64; 19] = {
    let mut powers = [1; 19];
    let mut scale = 1;
    while scale < powers.len() {
        powers[scale] = 10 * powers[scale - 1];
        scale += 1;
    }
    powers
};

/// Rounds a number to odd: returns the number if it is a float, else the neighboring float whose last bit is 1.
/// `error` is positive if `nearest` is larger than the number.
fn to_odd(nearest: f64, error: f64) -> f64 {
    if error == 0.0 || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    // An even float has odd neighbors. The next bit pattern is further from zero.
    let is_too_large_in_size = (error > 0.0) == (nearest > 0.0);
    f64::from_bits(if is_too_large_in_size { nearest.to_bits() - 1 } else { nearest.to_bits() + 1 })
}

/// Converts any decimal.
fn long<T: Element>(significand: i256, scale: i8) -> (T, Loss) {
    if T::TYPE.is_float() { long_to_float(significand, scale) } else { long_to_integer(significand, scale) }
}

fn long_to_integer<T: Element>(significand: i256, scale: i8) -> (T, Loss) {
    let power = i256::from_i128(10).checked_pow(scale.unsigned_abs().into());
    let power = power.unwrap_or(i256::MAX); // never: there are no more than 76 digits
    let (whole, has_rest) = match scale {
        0.. => (Some(significand.wrapping_div(power)), significand.wrapping_rem(power) != i256::ZERO),
        _ => (significand.checked_mul(power), false),
    };
    // A number that no `i128` holds is out of range of every element type.
    let limit = if significand.is_negative() { i128::MIN } else { i128::MAX };
    truncated(Exact::Integer(whole.and_then(i256::to_i128).unwrap_or(limit)), has_rest)
}

/// Converts the integer part of a number, which may have a remainder.
fn truncated<T: Element>(whole: Exact, has_rest: bool) -> (T, Loss) {
    let loss = match T::loss(whole) {
        Loss::None if has_rest => Loss::Inexact,
        loss => loss,
    };
    (T::nearest(whole), loss)
}

fn long_to_float<T: Element>(significand: i256, scale: i8) -> (T, Loss) {
    let is_negative = significand.is_negative();
    // -2^255 is not a valid decimal, and cannot be negated: use the next number instead.
    let size = significand.checked_abs().unwrap_or(i256::MAX);
    let power = i256::from_i128(10).checked_pow(scale.unsigned_abs().into()).unwrap_or(i256::MAX);
    let (bits, exponent) = match scale {
        _ if size == i256::ZERO => return (T::nearest(Exact::Float(0.0)), Loss::None),
        1.. => match (size.to_i128(), power.to_i128()) {
            (Some(size), Some(power)) => {
                let (size, power) = (size.unsigned_abs(), power.unsigned_abs());
                let (quotient, exponent, has_rest) = divide(size, power, [0, 1], |value| 128 - value.leading_zeros());
                leading_bits(i256::from_parts(quotient, 0), exponent, has_rest)
            }
            _ => {
                let (quotient, exponent, has_rest) =
                    divide(size, power, [i256::ZERO, i256::ONE], |value| 256 - value.leading_zeros());
                leading_bits(quotient, exponent, has_rest)
            }
        },
        _ => match size.checked_mul(power) {
            Some(product) => leading_bits(product, 0, false),
            None => {
                // The significand has more digits than its type permits.
                let infinity = if is_negative { f64::NEG_INFINITY } else { f64::INFINITY };
                return (T::nearest(Exact::Float(infinity)), Loss::OverflowToInfinity);
            }
        },
    };
    let unit = f64::from_bits(((exponent + 1023) as u64) << 52); // a normal number: -318 <= exponent <= 191
    let scaled = |bits: u64| if is_negative { -(bits as f64) * unit } else { bits as f64 * unit };
    let is_exact = bits.trailing_zeros() >= 11;
    if T::TYPE == ElementType::F64 {
        // Rounds once: the last of 64 bits stands for the remainder.
        return (T::nearest(Exact::Float(scaled(bits))), if is_exact { Loss::None } else { Loss::Inexact });
    }
    let odd = ((bits >> 11) | u64::from(!is_exact)) << 11; // 53 bits
    let number = Exact::Float(scaled(odd));
    (T::nearest(number), T::loss(number))
}

/// Divides until the quotient has 65 bits. Returns the quotient, its exponent, and whether there is a remainder.
///
/// Twice the divisor must not overflow.
fn divide<W>(size: W, power: W, [zero, one]: [W; 2], length: impl Fn(W) -> u32) -> (W, i32, bool)
where
    W: Copy + Ord + Shl<u8, Output = W> + Div<Output = W> + Rem<Output = W> + Sub<Output = W> + BitOr<Output = W>,
{
    let (mut quotient, mut rest, mut exponent) = (size / power, size % power, 0);
    while length(quotient) < 65 {
        (quotient, rest, exponent) = (quotient << 1, rest << 1, exponent - 1);
        if rest >= power {
            (quotient, rest) = (quotient | one, rest - power);
        }
    }
    (quotient, exponent, rest != zero)
}

/// Returns the first 64 bits of `size * 2^exponent`, which is positive, and the exponent of the last bit. The last bit
/// is 1 if any bit after it is, or if there is a remainder.
fn leading_bits(size: i256, exponent: i32, has_rest: bool) -> (u64, i32) {
    let shift = 192 - size.leading_zeros() as i32;
    let low = |value: i256| value.to_parts().0 as u64;
    if shift <= 0 {
        return (low(size) << -shift | u64::from(has_rest), exponent + shift);
    }
    let is_cut = has_rest || size.trailing_zeros() < shift as u32;
    (low(size >> shift as u8) | u64::from(is_cut), exponent + shift)
}
