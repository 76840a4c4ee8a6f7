//! Values as exact numbers, and a conversion model that is as plain as can be.
//!
//! Independent of the crate's own rule: integers are clamped as `i128`, and the nearest `f16` is looked up in the list
//! of all of them. Semantics: the table of `ConversionPolicy`.

use std::sync::LazyLock;

use numeric_table::{AnyValue, Element, ElementType, f16};

/// The number that a value is, exactly: integer types hold integers, float types hold floats.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Integer(i128),
    Float(f64),
}

use Number::{Float, Integer};

/// Equal integers, or equal bits.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Integer(mine), Integer(other)) => mine == other,
            (Float(mine), Float(other)) => mine.to_bits() == other.to_bits(),
            _ => false,
        }
    }
}

impl Number {
    /// Numbers that every element type holds.
    pub(crate) const TAME: &'static [Self] = &[Integer(0), Integer(1), Integer(2), Integer(7), Integer(100)];

    /// Numbers at which some conversion saturates, truncates, rounds or is refused.
    pub(crate) const WILD: &'static [Self] = &[
        Integer(-1),
        Integer(-129),
        Integer(255),
        Integer(256),
        Integer(300),
        Integer((1 << 24) + 1),
        Integer((1 << 53) + 1),
        Integer(i32::MAX as i128),
        Integer(i64::MAX as i128),
        Integer(i64::MIN as i128),
        Float(-0.0),
        Float(0.5),
        Float(-0.5),
        Float(2.5),
        Float(255.9),
        Float(-1.5),
        Float(0.1),
        Float(1e-8),
        Float(1.0 + 1.0 / (1 << 11) as f64 + 1.0 / (1_i64 << 40) as f64), // rounded twice, it is another f16
        Float(65504.0),
        Float(65519.99),
        Float(65520.0),
        Float(2147483648.0),
        Float(9223372036854775808.0),
        Float(1e40),
        Float(-1e300),
        Float(f64::INFINITY),
        Float(f64::NEG_INFINITY),
        Float(f64::NAN),
        Float(f64::from_bits(0xFFF8_2468_0000_0001)), // a payload that f32 and f16 hold a part of
    ];

    pub(crate) fn zero(element: ElementType) -> Self {
        Integer(0).saturate(element)
    }

    /// What reading returns: the nearest value, truncated and clamped for integers, NaN to 0.
    pub(crate) fn saturate(self, target: ElementType) -> Self {
        match (integer_limits(target), self) {
            (Some((min, max)), Integer(value)) => Integer(value.clamp(min, max)),
            (Some((min, max)), Float(value)) => Integer((value as i128).clamp(min, max)), // `as` truncates, NaN to 0
            (None, Integer(value)) => Float(match target {
                ElementType::F64 => value as f64,
                ElementType::F32 => f64::from(value as f32),
                _ => nearest_f16(value as f64), // exact as far as f16 is finite
            }),
            (None, Float(value)) => Float(match target {
                ElementType::F64 => value,
                ElementType::F32 => f64::from(value as f32),
                _ => nearest_f16(value),
            }),
        }
    }

    /// Whether `Checked` permits the number in the target type.
    pub(crate) fn fits(self, target: ElementType) -> bool {
        match (integer_limits(target), self) {
            (Some((min, max)), Integer(value)) => (min..=max).contains(&value),
            (Some((min, max)), Float(value)) => !value.is_nan() && (min..=max).contains(&(value as i128)),
            (None, Float(value)) if !value.is_finite() => true,
            (None, _) => matches!(self.saturate(target), Float(rounded) if rounded.is_finite()),
        }
    }
}

fn integer_limits(element: ElementType) -> Option<(i128, i128)> {
    match element {
        ElementType::I64 => Some((i64::MIN.into(), i64::MAX.into())),
        ElementType::I32 => Some((i32::MIN.into(), i32::MAX.into())),
        ElementType::U8 => Some((0, u8::MAX.into())),
        _ => None,
    }
}

/// The nearest `f16`, ties to the even one.
fn nearest_f16(value: f64) -> f64 {
    /// The magnitude of every `f16` by its bits; infinity counts as the power of two that it would be.
    static MAGNITUDES: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let magnitude = |exponent: i32, fraction: i32| match exponent {
            0 => f64::from(fraction) * 2_f64.powi(-24),
            _ => f64::from(1024 + fraction) * 2_f64.powi(exponent - 25),
        };
        (0..=0x7C00).map(|bits| magnitude(bits >> 10, bits & 0x3FF)).collect()
    });
    const INFINITY: usize = 0x7C00;

    let magnitude = value.abs();
    if magnitude.is_nan() {
        return f64::from_bits((value.to_bits() | 1 << 51) >> 42 << 42); // quiet, and ten bits of the fraction stay
    }
    let above = MAGNITUDES.partition_point(|&candidate| candidate < magnitude).min(INFINITY);
    let bits = if above == 0 {
        0
    } else {
        let middle = (MAGNITUDES[above - 1] + MAGNITUDES[above]) / 2.0;
        let is_above = magnitude > middle || (magnitude == middle && above % 2 == 0);
        if is_above { above } else { above - 1 }
    };
    (if bits == INFINITY { f64::INFINITY } else { MAGNITUDES[bits] }).copysign(value)
}

/// The number that an error shows.
pub(crate) fn number_of(value: AnyValue) -> Number {
    match value {
        AnyValue::F64(value) => value.number(),
        AnyValue::F32(value) => value.number(),
        AnyValue::F16(value) => value.number(),
        AnyValue::I64(value) => value.number(),
        AnyValue::I32(value) => value.number(),
        AnyValue::U8(value) => value.number(),
        other => panic!("{other} is of a type that no table here has"),
    }
}

/// The element types that tables and blocks have here.
pub(crate) trait Typed: Element {
    /// Static memory.
    const POOL: &'static [Self];

    fn from_number(number: Number) -> Self;
    fn number(self) -> Number;
}

pub(crate) const ELEMENTS: &[ElementType] =
    &[ElementType::F64, ElementType::F32, ElementType::F16, ElementType::I64, ElementType::I32, ElementType::U8];

/// `with_type!(element, T => body)`: the body, compiled for each of the element types.
macro_rules! with_type {
    ($element:expr, $T:ident => $body:expr) => {
        match $element {
            numeric_table::ElementType::F64 => {
                type $T = f64;
                $body
            }
            numeric_table::ElementType::F32 => {
                type $T = f32;
                $body
            }
            numeric_table::ElementType::F16 => {
                type $T = numeric_table::f16;
                $body
            }
            numeric_table::ElementType::I64 => {
                type $T = i64;
                $body
            }
            numeric_table::ElementType::I32 => {
                type $T = i32;
                $body
            }
            numeric_table::ElementType::U8 => {
                type $T = u8;
                $body
            }
            other => panic!("{other} is of a type that no table here has"),
        }
    };
}
pub(crate) use with_type;

macro_rules! typed {
    ($($native:ty: pool of $zero:expr, |$index:ident| $value:expr; $variant:ident, $make:expr, $exact:ty;)*) => {$(
        impl Typed for $native {
            const POOL: &'static [Self] = &{
                let mut pool = [$zero; 64];
                let mut $index = 0_u16;
                while $index < 64 {
                    pool[$index as usize] = $value;
                    $index += 1;
                }
                pool
            };

            fn from_number(number: Number) -> Self {
                match number {
                    $variant(value) => $make(value),
                    other => panic!("{other:?} is not a value of {}", Self::TYPE),
                }
            }

            fn number(self) -> Number {
                $variant(<$exact>::from(self))
            }
        }
    )*};
}
typed! {
    f64: pool of 0.0, |index| index as f64 * 0.1; Float, |value| value, f64;
    f32: pool of 0.0, |index| index as f32 * 0.1; Float, |value| value as f32, f64;
    f16: pool of f16::ZERO, |index| f16::from_bits(index * 0x1F1); Float, f16::from_f64, f64;
    i64: pool of 0, |index| (index as i64) << 48; Integer, |value| value as i64, i128;
    i32: pool of 0, |index| (index as i32 - 8) * 100; Integer, |value| value as i32, i128;
    u8: pool of 0, |index| index as u8; Integer, |value| value as u8, i128;
}
