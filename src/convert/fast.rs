//! Conversion of one value, written so that the compiler vectorizes loops over it.
//!
//! For every pair the result equals that of [`crate::base::number`], which the tests check. The two share no code. How
//! it is made fast:
//! * float to integer is a clamp, an unchecked conversion and two selects, because plain `as` is not vectorized on x86;
//! * no branches, no calls, no 128-bit integers;
//! * NaN between floats: by instructions that follow the rule, on targets known to have them, otherwise by a select;
//! * the two half types are in [`super::half`].

use std::mem::MaybeUninit;

use ::half::{bf16, f16};

use super::level::Level;
use super::magnitudes::{Magnitudes, numbers_are_below};

/// Conversion under `Saturate`, and whether `Checked` permits it.
pub(super) trait To<D>: Copy {
    /// Whether `Checked` permits every value.
    const ALWAYS_FITS: bool;
    /// Whether `Exact` permits every value.
    const IS_LOSSLESS: bool;

    fn to(self) -> D;

    /// Converts as `to` does, but may leave a signaling NaN signaling. For callers that only compare the result or
    /// convert it further.
    #[inline(always)]
    fn to_unquieted(self) -> D {
        self.to()
    }

    /// Returns whether `Checked` permits the conversion. Every pair whose target may be too narrow overrides this
    /// method.
    #[inline(always)]
    fn fits(self) -> bool {
        true
    }

    /// Returns whether all values surely fit. Takes fewer instructions for each value than [`fits`](Self::fits), but
    /// may return `false` for values that fit.
    #[inline(always)]
    fn surely_fit(values: &[Self]) -> bool {
        values.iter().fold(true, |all, value| all & value.fits())
    }

    /// Does the same as [`surely_fit`](Self::surely_fit), compiled for a level.
    #[inline(always)]
    fn surely_fit_at(level: Level, values: &[Self]) -> bool {
        level.run_with(values, (), |values, ()| Self::surely_fit(values))
    }

    /// Returns whether the value might not fit, judging by intermediate results of the conversion. Never `false` for a
    /// value that does not fit.
    #[inline(always)]
    fn is_suspect(self, _converted: &D) -> bool {
        !self.fits()
    }

    /// Converts `values` into `room`, which has the same length.
    #[inline(always)]
    fn convert_all(level: Level, values: &[Self], room: &mut [MaybeUninit<D>]) {
        convert_each(level, values, room);
    }

    /// Converts `values` into `room`, which has the same length, and returns whether one of them is suspect.
    #[inline(always)]
    fn convert_suspecting(level: Level, values: &[Self], room: &mut [MaybeUninit<D>]) -> bool {
        level.run_with(values, room, |values, room| {
            let mut is_suspect = false;
            for (room, &value) in room.iter_mut().zip(values) {
                let converted = room.write(value.to());
                is_suspect |= value.is_suspect(converted);
            }
            is_suspect
        })
    }
}

/// The loop for the compiler to vectorize.
#[inline(always)]
pub(super) fn convert_each<S: To<D>, D>(level: Level, values: &[S], room: &mut [MaybeUninit<D>]) {
    level.run_with(values, room, |values, room| {
        for (room, &value) in room.iter_mut().zip(values) {
            room.write(value.to());
        }
    });
}

/// Properties that distinguish the kinds of losses.
pub(super) trait Sign: Copy {
    fn is_nan(self) -> bool;
    fn is_negative(self) -> bool;
    /// Compares as numbers: NaN differs from itself, and the two zeros are equal.
    fn equals(self, other: Self) -> bool;
}

macro_rules! sign {
    ($($native:ty: $value:ident => $is_nan:expr;)*) => {$(
        impl Sign for $native {
            #[inline(always)]
            fn is_nan(self) -> bool {
                let $value = self;
                $is_nan
            }

            #[inline(always)]
            fn is_negative(self) -> bool {
                self < <$native>::default()
            }

            #[inline(always)]
            fn equals(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}
sign! {
    f32: value => value.is_nan(); f64: value => value.is_nan();
    i8: _value => false; i16: _value => false; i32: _value => false; i64: _value => false;
    u8: _value => false; u16: _value => false; u32: _value => false; u64: _value => false;
}

macro_rules! sign_of_half {
    ($($native:ty)*) => {$(
        impl Sign for $native {
            #[inline(always)]
            fn is_nan(self) -> bool {
                let value: f32 = self.to_unquieted();
                value.is_nan()
            }

            #[inline(always)]
            fn is_negative(self) -> bool {
                let value: f32 = self.to_unquieted();
                value < 0.0
            }

            #[inline(always)]
            fn equals(self, other: Self) -> bool {
                let (value, other): (f32, f32) = (self.to_unquieted(), other.to_unquieted());
                value == other
            }
        }
    )*};
}
sign_of_half! { f16 bf16 }

/// The smallest number that rounds to an infinite `f32`: half a unit in the last place above the largest finite one.
/// That is a tie, and its even neighbor is infinity.
const F32_END: f64 = f32::MAX as f64 + (1_u128 << (127 - 24)) as f64;

/// Returns whether the magnitude of a value is below `$end`, or the value is already infinite or NaN.
macro_rules! rounds_to_finite {
    ($value:expr, $float:ty, $end:expr) => {{
        const END: $float = $end as $float;
        let magnitude = $value.abs();
        !(END..<$float>::INFINITY).contains(&magnitude) // NaN is in no range
    }};
}

pub(super) use rounds_to_finite;

macro_rules! same {
    ($($native:ty)*) => {$(
        impl To<$native> for $native {
            const ALWAYS_FITS: bool = true;
            const IS_LOSSLESS: bool = true;

            #[inline(always)]
            fn to(self) -> $native {
                self
            }
        }
    )*};
}
same!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16);

/// The smallest and the largest integer that both types have, as values of the source type.
macro_rules! range_of_both {
    ($source:ty, $target:ty) => {{
        const LOW: $source = if (<$target>::MIN as i128) < (<$source>::MIN as i128) {
            <$source>::MIN
        } else {
            <$target>::MIN as $source
        };
        const HIGH: $source = if (<$target>::MAX as i128) > (<$source>::MAX as i128) {
            <$source>::MAX
        } else {
            <$target>::MAX as $source
        };
        (LOW, HIGH)
    }};
}

macro_rules! integer_to_integer {
    ($($source:ty: $($target:ty)*;)*) => {$($(
        impl To<$target> for $source {
            const ALWAYS_FITS: bool = <$target>::MIN as i128 <= <$source>::MIN as i128
                && <$source>::MAX as i128 <= <$target>::MAX as i128;
            const IS_LOSSLESS: bool = <Self as To<$target>>::ALWAYS_FITS;

            #[inline(always)]
            fn to(self) -> $target {
                let (low, high) = range_of_both!($source, $target);
                self.clamp(low, high) as $target
            }

            #[inline(always)]
            fn fits(self) -> bool {
                let clamped: $target = self.to();
                clamped as $source == self // casting back changes no number that is in both ranges
            }

            #[inline(always)]
            fn surely_fit(values: &[Self]) -> bool {
                // Counted from the lowest, the values in both ranges are those below a power of two. All others have a
                // higher bit.
                let (low, high) = range_of_both!($source, $target);
                let bits = values.iter().fold(0, |bits: $source, value| bits | value.wrapping_sub(low));
                bits & !high.wrapping_sub(low) == 0
            }
        }
    )*)*};
}
integer_to_integer! {
    i8: i16 i32 i64 u8 u16 u32 u64;
    i16: i8 i32 i64 u8 u16 u32 u64;
    i32: i8 i16 i64 u8 u16 u32 u64;
    i64: i8 i16 i32 u8 u16 u32 u64;
    u8: i8 i16 i32 i64 u16 u32 u64;
    u16: i8 i16 i32 i64 u8 u32 u64;
    u32: i8 i16 i32 i64 u8 u16 u64;
    u64: i8 i16 i32 i64 u8 u16 u32;
}

macro_rules! by_as {
    ($($source:ty: $($target:ty)*;)*) => {$($(
        impl To<$target> for $source {
            const ALWAYS_FITS: bool = true;
            const IS_LOSSLESS: bool = holds_all_bits(<$source>::BITS, <$target>::MANTISSA_DIGITS);

            #[inline(always)]
            fn to(self) -> $target {
                self as $target // rounds once, to nearest even
            }
        }
    )*)*};
}
by_as! {
    i8: f32 f64; i16: f32 f64; i32: f32 f64; i64: f32 f64; u8: f32 f64; u16: f32 f64; u32: f32 f64; u64: f32 f64;
}

/// Returns whether a float holds every integer of `integer_bits` bits.
const fn holds_all_bits(integer_bits: u32, mantissa_digits: u32) -> bool {
    integer_bits <= mantissa_digits
}

/// Whether the instructions that `as` between `f32` and `f64` compiles to treat NaN as the rule requires.
///
/// Rust and LLVM do not specify which NaN `as` returns, and targets differ: RISC-V drops sign and payload. On these two
/// targets, `as` is one scalar or vector instruction (`cvtss2sd`, `cvtsd2ss`; `fcvt`), which makes a NaN quiet and
/// keeps the leading bits of its payload. LLVM's constant folding does the same. The tests compare every level with the
/// rule. Miri picks NaNs at random.
const AS_KEEPS_PAYLOADS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) && !cfg!(miri);

/// Returns the `f64` NaN to which the rule converts an `f32` NaN.
#[inline(always)]
fn widened_nan(value: f32) -> f64 {
    let bits = u64::from(value.to_bits());
    f64::from_bits((bits & 0x8000_0000) << 32 | 0x7FF8_0000_0000_0000 | (bits & 0x007F_FFFF) << 29)
}

/// Returns the `f32` NaN to which the rule converts an `f64` NaN.
#[inline(always)]
fn narrowed_nan(value: f64) -> f32 {
    let bits = value.to_bits();
    f32::from_bits((bits >> 32) as u32 & 0x8000_0000 | 0x7FC0_0000 | (bits >> 29) as u32 & 0x007F_FFFF)
}

impl To<f64> for f32 {
    const ALWAYS_FITS: bool = true;
    const IS_LOSSLESS: bool = true;

    #[inline(always)]
    fn to(self) -> f64 {
        if AS_KEEPS_PAYLOADS || !self.is_nan() { self as f64 } else { widened_nan(self) }
    }
}

impl To<f32> for f64 {
    const ALWAYS_FITS: bool = false;
    const IS_LOSSLESS: bool = false;

    #[inline(always)]
    fn to(self) -> f32 {
        if AS_KEEPS_PAYLOADS || !self.is_nan() { self as f32 } else { narrowed_nan(self) }
    }

    #[inline(always)]
    fn fits(self) -> bool {
        rounds_to_finite!(self, f64, F32_END)
    }

    #[inline(always)]
    fn surely_fit_at(level: Level, values: &[Self]) -> bool {
        numbers_are_below(level, values, F32_END)
    }

    #[inline(always)]
    fn is_suspect(self, converted: &f32) -> bool {
        converted.is_infinite()
    }
}

/// The largest integral float that is in range.
macro_rules! highest_in_range {
    ($source:ty, $target:ty) => {{
        let high = <$target>::MAX as $source;
        if high as i128 > <$target>::MAX as i128 { high.next_down() } else { high }
    }};
}

/// The nearest float in range; the smallest one for NaN.
macro_rules! clamp_in_range {
    ($value:expr, $source:ty, $target:ty) => {{
        const LOW: $source = <$target>::MIN as $source; // zero or a power of two: exact
        const HIGH: $source = highest_in_range!($source, $target);
        $value.max(LOW).min(HIGH)
    }};
}

macro_rules! float_to_integer {
    ($($source:ty: $($target:ty)*;)*) => {$($(
        impl To<$target> for $source {
            const ALWAYS_FITS: bool = false;
            const IS_LOSSLESS: bool = false;

            #[inline(always)]
            fn to(self) -> $target {
                const HIGH: $source = highest_in_range!($source, $target);
                let clamped = clamp_in_range!(self, $source, $target);
                // SAFETY: `clamped` is not NaN, and between the target's smallest value and HIGH, both in range.
                let integer = unsafe { clamped.to_int_unchecked::<$target>() };
                let integer = if self > HIGH { <$target>::MAX } else { integer };
                if self.is_nan() { 0 } else { integer }
            }

            #[inline(always)]
            fn fits(self) -> bool {
                /// The smallest value minus one if that is a float, otherwise the next float below the smallest value.
                /// Anything above truncates to a value in range.
                const BELOW: $source = {
                    let below = <$target>::MIN as i128 - 1;
                    let float = below as $source;
                    if float as i128 == below { float } else { (<$target>::MIN as $source).next_down() }
                };
                const END: $source = (<$target>::MAX as i128 + 1) as $source; // a power of two: exact
                (self > BELOW) & (self < END) // NaN is neither
            }

            #[inline(always)]
            fn surely_fit(values: &[Self]) -> bool {
                const END: $source = (<$target>::MAX as i128 + 1) as $source; // a power of two: exact
                if <$target>::MIN != 0 {
                    return <$source>::are_below(values, END);
                }
                // The bits of a negative number are above those of all others.
                values.iter().fold(0, |greatest, value| value.to_bits().max(greatest)) < END.to_bits()
            }

            #[inline(always)]
            fn is_suspect(self, _converted: &$target) -> bool {
                clamp_in_range!(self, $source, $target) != self // also for NaN, and fractions just outside the range
            }
        }
    )*)*};
}
float_to_integer! {
    f32: i8 i16 i32 i64 u8 u16 u32 u64;
    f64: i8 i16 i32 i64 u8 u16 u32 u64;
}

/// Conversion through a type that holds every value of the source. Only the second step can round or make a NaN quiet.
macro_rules! through {
    ($($source:ty => $middle:ty: $($target:ty)*, $always_fits:literal, $is_lossless:literal;)*) => {$($(
        impl To<$target> for $source {
            const ALWAYS_FITS: bool = $always_fits;
            const IS_LOSSLESS: bool = $is_lossless;

            #[inline(always)]
            fn to(self) -> $target {
                let exact: $middle = self.to_unquieted();
                exact.to()
            }

            #[inline(always)]
            fn fits(self) -> bool {
                let exact: $middle = self.to_unquieted();
                To::<$target>::fits(exact)
            }
        }
    )*)*};
}
through! {
    f16 => f32: f64, true, true;
    f16 => f32: bf16, true, false;
    f16 => f32: i8 i16 i32 i64 u8 u16 u32 u64, false, false;
    bf16 => f32: f64, true, true;
    bf16 => f32: f16 i8 i16 i32 i64 u8 u16 u32 u64, false, false;
    i8 => f32: f16 bf16, true, true;
    u8 => f32: f16 bf16, true, true;
    i16 => f32: f16 bf16, true, false;
    u16 => f32: bf16, true, false;
    u16 => f32: f16, false, false; // 65520 and more become infinite
    i32 => f64: f16, false, false;
    u32 => f64: f16, false, false;
    i32 => f64: bf16, true, false;
    u32 => f64: bf16, true, false;
    i64 => Sticky: bf16, true, false;
    u64 => Sticky: bf16, true, false;
    i64 => Sticky: f16, false, false;
    u64 => Sticky: f16, false, false;
}

/// A 64-bit integer as a float of 53 bits, rounded to odd, so that a second rounding is correct.
#[derive(Clone, Copy)]
struct Sticky(f64);

macro_rules! sticky {
    ($($source:ty)*) => {$(
        impl To<Sticky> for $source {
            const ALWAYS_FITS: bool = true;
            const IS_LOSSLESS: bool = false;

            #[inline(always)]
            fn to(self) -> Sticky {
                const CUT: u32 = 64 - f64::MANTISSA_DIGITS;
                // Round toward minus infinity, and set the last bit if anything was cut off; the conversion of that is
                // exact.
                let has_rest = self & ((1 << CUT) - 1) != 0;
                let high = self >> CUT | has_rest as $source;
                let rounded_to_odd = high as f64 * (1_u64 << CUT) as f64;
                let nearest = self as f64;
                Sticky(if nearest.abs() < (1_u64 << f64::MANTISSA_DIGITS) as f64 { nearest } else { rounded_to_odd })
            }
        }
    )*};
}
sticky! { i64 u64 }

macro_rules! sticky_to_half {
    ($($half:ty)*) => {$(
        impl To<$half> for Sticky {
            const ALWAYS_FITS: bool = false;
            const IS_LOSSLESS: bool = false;

            #[inline(always)]
            fn to(self) -> $half {
                self.0.to()
            }

            #[inline(always)]
            fn fits(self) -> bool {
                To::<$half>::fits(self.0)
            }
        }
    )*};
}
sticky_to_half! { f16 bf16 }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::cast;

    /// The functions for targets whose `as` drops payloads.
    #[test]
    fn every_payload_bit_of_a_nan_is_moved_by_integers_as_the_rule_says() {
        for payload in (0..52).map(|bit| 1_u64 << bit).chain([0, 0x000F_FFFF_FFFF_FFFF, 0x0005_5555_5555_5555]) {
            for sign_and_exponent in [0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000] {
                let wide = f64::from_bits(sign_and_exponent | payload);
                if wide.is_nan() {
                    assert_eq!(narrowed_nan(wide).to_bits(), cast::<f64, f32>(wide).to_bits(), "{payload:x}");
                }
                let narrow = f32::from_bits((sign_and_exponent >> 32) as u32 | 0x7F80_0000 | (payload >> 29) as u32);
                if narrow.is_nan() {
                    assert_eq!(widened_nan(narrow).to_bits(), cast::<f32, f64>(narrow).to_bits(), "{payload:x}");
                }
            }
        }
    }
}
