//! The conversion rule against oracles that share no code with it: Rust's `as`, `TryFrom`, and a search over all 65,536
//! values.

use super::*;
use crate::convert::{ConversionPolicy, cast, try_cast};
use ConversionPolicy::{Checked, Exact as ExactPolicy};

/// Returns the bits of the nearest finite value or infinity, ties to the even bit pattern, by searching `positives`.
fn nearest_by_search(value: f64, positives: &[f64], largest_gap: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    let above = positives.partition_point(|&candidate| candidate < magnitude);
    if above == positives.len() {
        // Above the largest finite value IEEE 754 rounds as if the next value existed, and returns infinity for it.
        let largest = positives[above - 1];
        let bits = if magnitude - largest < largest_gap / 2.0 { above - 1 } else { above };
        return sign | bits as u16;
    }
    if above == 0 || positives[above] == magnitude {
        return sign | above as u16;
    }
    let (down, up) = (magnitude - positives[above - 1], positives[above] - magnitude); // exact (Sterbenz)
    let even = above - 1 + (above - 1) % 2;
    let bits = if down < up {
        above - 1
    } else if up < down {
        above
    } else {
        even
    };
    sign | bits as u16
}

/// Returns every finite value from zero up, and the gap between the last two.
fn positives(from_bits: impl Fn(u16) -> f64) -> (Vec<f64>, f64) {
    let values: Vec<f64> = (0..0x8000).map(from_bits).take_while(|value| value.is_finite()).collect();
    let gap = values[values.len() - 1] - values[values.len() - 2];
    (values, gap)
}

/// Returns every midpoint and every value with their neighbors, and the extremes.
fn interesting(positives: &[f64], gap: f64) -> Vec<f64> {
    let mut values = vec![0.0, f64::MIN_POSITIVE, f64::from_bits(1), f64::MAX, f64::INFINITY];
    let next = positives[positives.len() - 1] + gap;
    for pair in positives.windows(2).map(|pair| (pair[0], pair[1])).chain([(next - gap, next)]) {
        for value in [pair.0, pair.0 + (pair.1 - pair.0) / 2.0] {
            values.extend([value.next_down(), value, value.next_up()]);
        }
    }
    values.iter().flat_map(|&value| [value, -value]).collect()
}

#[test]
fn f64_to_f16_is_the_nearest_of_all_values() {
    let (positives, gap) = positives(|bits| f16::from_bits(bits).to_f64());
    for value in interesting(&positives, gap) {
        let found = cast::<f64, f16>(value).to_bits();
        assert_eq!(found, nearest_by_search(value, &positives, gap), "{value:e}");
    }
}

#[test]
fn f64_to_bf16_is_the_nearest_of_all_values() {
    let (positives, gap) = positives(|bits| bf16::from_bits(bits).to_f64());
    for value in interesting(&positives, gap) {
        let found = cast::<f64, bf16>(value).to_bits();
        assert_eq!(found, nearest_by_search(value, &positives, gap), "{value:e}");
    }
}

#[test]
fn half_types_are_rounded_once_from_every_wider_source() {
    let above_midpoint = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    assert_eq!(cast::<f64, f16>(above_midpoint).to_f64(), 1.0009765625);
    assert_eq!(cast::<f64, bf16>(1.0 + 2f64.powi(-8) + 2f64.powi(-40)).to_f64(), 1.0078125);
    // 2^40 + 2^32 + 1: rounding to f32 first drops the 1, and the tie then goes to even.
    assert_eq!(cast::<i64, bf16>((1 << 40) + (1 << 32) + 1).to_f64(), 2f64.powi(40) + 2f64.powi(33));
    assert_eq!(cast::<u64, f16>(2049), f16::from_f64(2048.0));
    assert_eq!(cast::<u64, f16>(65_519).to_f64(), 65_504.0);
    assert_eq!(cast::<u64, f16>(65_520), f16::INFINITY);
    // Just above a tie: rounding to f64 first drops the 1, and the tie then goes to even.
    assert_eq!(cast::<i64, f32>((1 << 60) + (1 << 36) + 1), 2f32.powi(60) + 2f32.powi(37));
    assert_eq!(cast::<u64, f64>(u64::MAX), 2f64.powi(64));
}

#[test]
fn the_limits_of_64_bit_integers_are_powers_of_two() {
    let two_to_63 = 2f64.powi(63);
    assert_eq!(cast::<f64, i64>(two_to_63), i64::MAX);
    assert!(try_cast::<f64, i64>(two_to_63, Checked).is_err());
    assert_eq!(try_cast::<f64, i64>(two_to_63.next_down(), Checked).unwrap(), i64::MAX - 1023);
    assert_eq!(try_cast::<f64, i64>(-two_to_63, ExactPolicy).unwrap(), i64::MIN);
    assert!(try_cast::<f64, i64>((-two_to_63).next_down(), Checked).is_err());
    assert!(try_cast::<f32, u64>(2f32.powi(64), Checked).is_err());
    assert_eq!(try_cast::<f32, u64>(2f32.powi(63), Checked).unwrap(), 1 << 63);
    assert!(try_cast::<f32, i32>(2f32.powi(31), Checked).is_err());
    assert!(try_cast::<f32, u32>(2f32.powi(32), Checked).is_err());
    assert!(try_cast::<bf16, i64>(bf16::from_f32(2f32.powi(63)), Checked).is_err());
}

#[test]
fn truncation_decides_the_range_and_not_the_fraction() {
    assert_eq!(try_cast::<f64, i8>(127.9, Checked).unwrap(), 127);
    assert_eq!(try_cast::<f64, i8>(-128.9, Checked).unwrap(), -128);
    assert!(try_cast::<f64, i8>(128.0, Checked).is_err());
    assert!(try_cast::<f64, i8>(-129.0, Checked).is_err());
    assert_eq!(try_cast::<f64, u8>(-0.9, Checked).unwrap(), 0);
    assert!(try_cast::<f64, u8>(-1.0, Checked).is_err());
    assert_eq!(cast::<f64, u8>(-0.0), 0);
    assert_eq!(try_cast::<f64, u8>(-0.0, ExactPolicy).unwrap(), 0);
    assert!(try_cast::<f64, u8>(-0.9, ExactPolicy).is_err());
}

/// The bits of NaNs converted from every float type to every other, written out.
#[test]
fn a_nan_becomes_quiet_and_keeps_its_sign_and_the_leading_bits_of_its_payload() {
    let bits = |value: f64| {
        let [f32, f16, bf16] = [
            cast::<f64, f32>(value).to_bits(),
            cast::<f64, f16>(value).to_bits().into(),
            cast::<f64, bf16>(value).to_bits().into(),
        ];
        (f32, f16, bf16)
    };
    for (wide, narrow) in [
        (0x7FF8_0000_0000_0000, (0x7FC0_0000, 0x7E00, 0x7FC0)),
        (0xFFF8_0000_0000_0000, (0xFFC0_0000, 0xFE00, 0xFFC0)),
        (0x7FF0_0000_0000_0001, (0x7FC0_0000, 0x7E00, 0x7FC0)), // signaling; no bit of its payload fits
        (0xFFF7_FFFF_FFFF_FFFF, (0xFFFF_FFFF, 0xFFFF, 0xFFFF)),
        (0x7FF0_0000_2000_0000, (0x7FC0_0001, 0x7E00, 0x7FC0)), // the last bit that fits f32
        (0x7FF0_0000_1FFF_FFFF, (0x7FC0_0000, 0x7E00, 0x7FC0)),
        (0x7FF0_0400_0000_0000, (0x7FC0_2000, 0x7E01, 0x7FC0)), // f16
        (0x7FF0_2000_0000_0000, (0x7FC1_0000, 0x7E08, 0x7FC1)), // bf16
        (0x7FF8_2468_A000_0000, (0x7FC1_2345, 0x7E09, 0x7FC1)),
        (0x7FF4_0000_0000_0000, (0x7FE0_0000, 0x7F00, 0x7FE0)),
    ] {
        assert_eq!(bits(f64::from_bits(wide)), narrow, "{wide:#x}");
    }
    assert_eq!(cast::<f32, f16>(f32::from_bits(0x7FC1_2345)).to_bits(), 0x7E09);
    assert_eq!(cast::<f32, bf16>(f32::from_bits(0xFF81_2345)).to_bits(), 0xFFC1);
    assert_eq!(cast::<f32, f64>(f32::from_bits(0xFF81_2345)).to_bits(), 0xFFF8_2468_A000_0000);
    assert_eq!(cast::<f16, f32>(f16::from_bits(0x7C01)).to_bits(), 0x7FC0_2000);
    assert_eq!(cast::<f16, f64>(f16::from_bits(0xFC01)).to_bits(), 0xFFF8_0400_0000_0000);
    assert_eq!(cast::<f16, bf16>(f16::from_bits(0x7C0F)).to_bits(), 0x7FC1);
    assert_eq!(cast::<bf16, f32>(bf16::from_bits(0xFF81)).to_bits(), 0xFFC1_0000);
    assert_eq!(cast::<bf16, f16>(bf16::from_bits(0x7F81)).to_bits(), 0x7E08);
}

#[test]
fn nans_may_be_narrowed_in_steps() {
    for payload in (0..52).map(|bit| 1_u64 << bit).chain([0x0008_0000_0000_0000, 0x000F_FFFF_FFFF_FFFF]) {
        for sign_and_exponent in [0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000] {
            let nan = f64::from_bits(sign_and_exponent | payload);
            let step: f32 = cast(nan);
            assert_eq!(cast::<f32, f16>(step).to_bits(), cast::<f64, f16>(nan).to_bits(), "{payload:#x}");
            assert_eq!(cast::<f32, bf16>(step).to_bits(), cast::<f64, bf16>(nan).to_bits(), "{payload:#x}");
            let step: f16 = cast(nan);
            assert_eq!(cast::<f16, bf16>(step).to_bits(), cast::<f64, bf16>(nan).to_bits(), "{payload:#x}");
        }
    }
}

#[test]
fn nan_is_zero_as_an_integer_and_nan_as_a_float() {
    assert_eq!((cast::<f64, i64>(f64::NAN), cast::<f32, u8>(f32::NAN)), (0, 0));
    assert!(try_cast::<f64, i64>(f64::NAN, Checked).is_err());
    assert!(try_cast::<f64, f16>(f64::NAN, ExactPolicy).unwrap().is_nan());
    assert!(try_cast::<bf16, f64>(bf16::NAN, ExactPolicy).unwrap().is_nan());
}

#[test]
fn a_signalling_nan_of_the_same_type_keeps_its_bits() {
    let signalling = f32::from_bits(0x7F80_0001);
    assert_eq!(cast::<f32, f32>(signalling).to_bits(), 0x7F80_0001);
    let mut target = [0.0_f32];
    crate::convert::convert_slice(&[signalling], &mut target, ExactPolicy).unwrap();
    assert_eq!(target[0].to_bits(), 0x7F80_0001);
}

#[test]
fn subnormals_are_results_and_not_zeros() {
    let tiny = 3.0 * 2f64.powi(-24);
    assert_eq!(cast::<f64, f16>(tiny).to_f64(), tiny);
    let tiny = 5.0 * 2f64.powi(-133);
    assert_eq!(cast::<f64, bf16>(tiny).to_f64(), tiny);
    assert_eq!(cast::<f32, bf16>(tiny as f32).to_f64(), tiny);
    assert!(try_cast::<f64, f16>(2f64.powi(-25), ExactPolicy).is_err());
    assert_eq!(cast::<f64, f16>(-2f64.powi(-25)).to_bits(), 0x8000); // a tie: to even, with the sign kept
}

#[test]
fn exact_wants_integers_back_equal() {
    assert!(try_cast::<i64, f64>((1 << 53) + 1, ExactPolicy).is_err());
    assert_eq!(try_cast::<i64, f64>((1 << 53) + 1, Checked).unwrap(), 2f64.powi(53));
    assert!(try_cast::<i64, f64>(i64::MAX, ExactPolicy).is_err()); // 2^63 does not convert back to MAX
    assert!(try_cast::<i64, f64>(i64::MIN, ExactPolicy).is_ok());
    assert!(try_cast::<u64, f32>(u64::MAX, ExactPolicy).is_err());
    assert!(try_cast::<u32, f16>(2049, ExactPolicy).is_err());
}

#[test]
fn a_finite_value_that_becomes_infinite_is_refused_by_checked() {
    assert!(try_cast::<f64, f32>(1e39, Checked).is_err());
    assert_eq!(cast::<f64, f32>(1e39), f32::INFINITY);
    assert_eq!(try_cast::<f64, f32>(f64::INFINITY, ExactPolicy).unwrap(), f32::INFINITY);
    assert!(try_cast::<f32, f16>(65_520.0, Checked).is_err());
    assert!(try_cast::<f32, f16>(65_519.0, Checked).is_ok());
    assert!(try_cast::<i32, f16>(70_000, Checked).is_err());
}

/// All values of all 8- and 16-bit types, as `f64` and as integers, against `as`, `TryFrom` and the definition of
/// `Exact`.
#[test]
fn eight_and_sixteen_bit_sources_agree_with_rust_for_every_target() {
    macro_rules! to_integers {
        ($source:ty, $value:expr, $wide:expr; $($target:ty)*) => {$({
            let wide: f64 = $wide;
            let expected = wide as $target;
            assert_eq!(cast::<$source, $target>($value), expected, "{wide} to {}", stringify!($target));
            let fits = wide.trunc() >= <$target>::MIN as f64 && wide.trunc() as i128 <= <$target>::MAX as i128
                && wide.is_finite();
            assert_eq!(try_cast::<$source, $target>($value, Checked).is_ok(), fits, "{wide}");
            assert_eq!(try_cast::<$source, $target>($value, ExactPolicy).is_ok(), fits && wide == wide.trunc());
        })*};
    }
    macro_rules! to_floats {
        ($source:ty, $value:expr, $wide:expr; $($target:ty)*) => {$({
            let wide: f64 = $wide;
            // Every such source is exact as an f32, and `half` rounds f32 correctly.
            let expected = <$target>::from(Narrow(wide as f32));
            let found = cast::<$source, $target>($value);
            assert!(expected.is_same(found) || wide.is_nan(), "{wide} to {}", stringify!($target));
            let back = f64::from(found);
            assert_eq!(
                try_cast::<$source, $target>($value, Checked).is_ok(),
                !(wide.is_finite() && back.is_infinite())
            );
            assert_eq!(try_cast::<$source, $target>($value, ExactPolicy).is_ok(), back == wide || wide.is_nan());
        })*};
    }
    macro_rules! sources {
        ($($source:ty: $values:expr, $widen:expr;)*) => {$(
            for value in $values {
                let wide: f64 = $widen(value);
                to_integers!($source, value, wide; i8 u8 i16 u16 i32 u32 i64 u64);
                to_floats!($source, value, wide; f32 f64 f16 bf16);
            }
        )*};
    }
    struct Narrow(f32);
    impl From<Narrow> for f32 {
        fn from(value: Narrow) -> f32 {
            value.0
        }
    }
    impl From<Narrow> for f64 {
        fn from(value: Narrow) -> f64 {
            value.0.into()
        }
    }
    impl From<Narrow> for f16 {
        fn from(value: Narrow) -> f16 {
            f16::from_f32_const(value.0)
        }
    }
    impl From<Narrow> for bf16 {
        fn from(value: Narrow) -> bf16 {
            bf16::from_f32_const(value.0)
        }
    }
    sources! {
        i8: i8::MIN..=i8::MAX, f64::from;
        u8: u8::MIN..=u8::MAX, f64::from;
        i16: i16::MIN..=i16::MAX, f64::from;
        u16: u16::MIN..=u16::MAX, f64::from;
        f16: (0..=u16::MAX).map(f16::from_bits), f64::from;
        bf16: (0..=u16::MAX).map(bf16::from_bits), f64::from;
    }
}

/// Powers of two and their neighbors, from 32- and 64-bit sources, against `as` and `TryFrom`.
#[test]
fn wide_sources_agree_with_rust_around_every_limit() {
    macro_rules! integer_pairs {
        ($source:ty: $($target:ty)*) => {$(
            for value in edges_of(<$source>::MIN as i128, <$source>::MAX as i128) {
                let value = value as $source;
                let fits = <$target>::try_from(value);
                assert_eq!(try_cast::<$source, $target>(value, Checked).ok(), fits.ok());
                assert_eq!(try_cast::<$source, $target>(value, ExactPolicy).ok(), fits.ok());
                let clamped = (value as i128).clamp(<$target>::MIN as i128, <$target>::MAX as i128) as $target;
                assert_eq!(cast::<$source, $target>(value), clamped);
            }
        )*};
    }
    macro_rules! integers_to_floats {
        ($($source:ty)*) => {$(
            for value in edges_of(<$source>::MIN as i128, <$source>::MAX as i128) {
                let value = value as $source;
                assert_eq!(cast::<$source, f64>(value), value as f64);
                assert_eq!(cast::<$source, f32>(value), value as f32);
                let f16_back = cast::<$source, f16>(value).to_f64();
                let exact = f16_back.is_finite() && f16_back as i128 == value as i128;
                assert_eq!(try_cast::<$source, f16>(value, ExactPolicy).is_ok(), exact);
            }
        )*};
    }
    macro_rules! floats_to_integers {
        ($source:ty: $($target:ty)*) => {$(
            for value in edges_of(i128::MIN >> 62, i128::MAX >> 62) {
                let near = value as $source;
                for value in [near.next_down(), near, near.next_up(), near + 0.5, near - 0.5] {
                    assert_eq!(cast::<$source, $target>(value), value as $target, "{value:e}");
                    let whole = value.trunc() as i128;
                    let fits = <$target>::try_from(whole);
                    assert_eq!(try_cast::<$source, $target>(value, Checked).ok(), fits.ok(), "{value:e}");
                }
            }
        )*};
    }
    integer_pairs!(i32: i8 u8 i16 u16 i32 u32 i64 u64);
    integer_pairs!(u32: i8 u8 i16 u16 i32 u32 i64 u64);
    integer_pairs!(i64: i8 u8 i16 u16 i32 u32 i64 u64);
    integer_pairs!(u64: i8 u8 i16 u16 i32 u32 i64 u64);
    integers_to_floats!(i32 u32 i64 u64);
    floats_to_integers!(f32: i8 u8 i16 u16 i32 u32 i64 u64);
    floats_to_integers!(f64: i8 u8 i16 u16 i32 u32 i64 u64);
}

/// Returns `±2^k` and the integers around them, within the limits.
fn edges_of(min: i128, max: i128) -> Vec<i128> {
    let powers = (0..66).flat_map(|power| [1_i128 << power, -(1_i128 << power)]);
    let near = powers.flat_map(|power| [power - 1, power, power + 1]).chain([min, max]);
    near.filter(|value| (min..=max).contains(value)).collect()
}
