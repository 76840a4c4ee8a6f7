//! Conversions of the two half types to and from `f32` and `f64`.
//!
//! Uses integer arithmetic on `f32` bits, including NaN, which the compiler vectorizes. `f64` is first rounded to odd
//! as an `f32`, so that the second rounding is correct. Some machines have instructions for `f16` and `f32`. They round
//! to nearest even and keep subnormals regardless of the processor's floating-point settings, make a NaN quiet and keep
//! the leading bits of its payload, as the rule requires. (The AVX-512 instruction for `bf16` flushes subnormals to
//! zero and is not used.)

use std::mem::MaybeUninit;

use half::{bf16, f16};

use super::fast::{To, convert_each, rounds_to_finite};
use super::level::Level;
use super::magnitudes::{Magnitudes, numbers_are_below};
use crate::array::assume_init_mut;

/// The smallest numbers that round to infinity: half a unit in the last place above the largest finite one. That is a
/// tie, and its even neighbor is infinity.
const BF16_END: f64 = (((1_u128 << 9) - 1) << (127 - 8)) as f64;
const F16_END: f64 = 65520.0;

/// Sets the bit that makes a NaN quiet.
#[inline(always)]
fn quieted(value: f32) -> f32 {
    f32::from_bits(value.to_bits() | if value.is_nan() { 0x0040_0000 } else { 0 })
}

impl To<f32> for bf16 {
    const ALWAYS_FITS: bool = true;
    const IS_LOSSLESS: bool = true;

    #[inline(always)]
    fn to(self) -> f32 {
        quieted(self.to_unquieted())
    }

    #[inline(always)]
    fn to_unquieted(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    /// Makes NaNs quiet while they have 16 bits, so that a register holds twice as many as in `to`. Otherwise this
    /// would take longer than the rest of the conversion.
    #[inline(always)]
    fn convert_all(level: Level, values: &[Self], room: &mut [MaybeUninit<f32>]) {
        /// The number of values that the compiler keeps in registers. (Measured: half or twice this number is up to
        /// five times slower.)
        const CHUNK: usize = 64;

        level.run_with(values, room, |values, room| {
            let ((chunks, rest), (rooms, rest_room)) = (values.as_chunks::<CHUNK>(), room.as_chunks_mut::<CHUNK>());
            for (room, chunk) in rooms.iter_mut().zip(chunks) {
                let quieted = chunk.map(|value| {
                    let bits = value.to_bits();
                    bits | if bits & 0x7FFF > 0x7F80 { 0x0040 } else { 0 }
                });
                for (room, bits) in room.iter_mut().zip(quieted) {
                    room.write(Self::from_bits(bits).to_unquieted());
                }
            }
            for (room, value) in rest_room.iter_mut().zip(rest) {
                room.write(value.to());
            }
        });
    }
}

impl To<bf16> for f32 {
    const ALWAYS_FITS: bool = false;
    const IS_LOSSLESS: bool = false;

    #[inline(always)]
    fn to(self) -> bf16 {
        let bits = self.to_bits();
        // Add half a unit, minus one if the last bit that is kept is even; a carry goes into the exponent, up to
        // infinity.
        let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
        let quiet_nan = bits >> 16 | 0x0040; // keeps the leading bits of the payload
        bf16::from_bits(if self.is_nan() { quiet_nan } else { rounded } as u16)
    }

    #[inline(always)]
    fn fits(self) -> bool {
        rounds_to_finite!(self, f32, BF16_END)
    }

    #[inline(always)]
    fn surely_fit(values: &[Self]) -> bool {
        f32::are_below(values, BF16_END as f32)
    }

    #[inline(always)]
    fn is_suspect(self, converted: &bf16) -> bool {
        converted.to_bits() & 0x7FFF == 0x7F80 // infinite
    }
}

/// The difference between the exponent biases of `f32` and `f16`, shifted to the exponent field.
const EXPONENT_OFFSET: u32 = (127 - 15) << 23;

impl To<f32> for f16 {
    const ALWAYS_FITS: bool = true;
    const IS_LOSSLESS: bool = true;

    #[inline(always)]
    fn to(self) -> f32 {
        quieted(self.to_unquieted())
    }

    #[inline(always)]
    fn to_unquieted(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let (sign, magnitude) = ((bits & 0x8000) << 16, bits & 0x7FFF);
        let normal = (magnitude << 13) + EXPONENT_OFFSET;
        let infinite_or_nan = normal + EXPONENT_OFFSET;
        // A product of normal numbers: the processor's settings for subnormals cannot change it.
        let subnormal = (magnitude as f32 * f32::from_bits((127 - 24) << 23)).to_bits();
        let finite = if magnitude < 0x0400 { subnormal } else { normal };
        f32::from_bits(sign | if magnitude >= 0x7C00 { infinite_or_nan } else { finite })
    }

    #[inline(always)]
    fn convert_all(level: Level, values: &[Self], room: &mut [MaybeUninit<f32>]) {
        f16_to_f32(level, values, room);
    }
}

impl To<f16> for f32 {
    const ALWAYS_FITS: bool = false;
    const IS_LOSSLESS: bool = false;

    #[inline(always)]
    fn to(self) -> f16 {
        let bits = self.to_bits();
        let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7FFF_FFFF);
        let cut = magnitude >> 13;
        let normal = magnitude.wrapping_add(0xFFF + (cut & 1)).wrapping_sub(EXPONENT_OFFSET) >> 13;
        // From 65520 on, half a unit above the largest f16, everything is infinite.
        let normal = normal.min(0x7C00);
        // The unit in the last place of 0.5 is the smallest subnormal f16: the addition rounds to multiples of it.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
        let number = if magnitude < (127 - 14) << 23 { subnormal } else { normal };
        // The exponent field of a NaN is all ones in both types; the leading bits of the payload are kept.
        let result = if self.is_nan() { cut & 0x7FFF | 0x0200 } else { number };
        f16::from_bits((sign | result) as u16)
    }

    #[inline(always)]
    fn fits(self) -> bool {
        rounds_to_finite!(self, f32, F16_END)
    }

    #[inline(always)]
    fn surely_fit(values: &[Self]) -> bool {
        f32::are_below(values, F16_END as f32)
    }

    #[inline(always)]
    fn convert_all(level: Level, values: &[Self], room: &mut [MaybeUninit<f16>]) {
        f32_to_f16(level, values, room);
    }

    #[inline(always)]
    fn is_suspect(self, converted: &f16) -> bool {
        converted.to_bits() & 0x7FFF == 0x7C00 // infinite
    }

    #[inline(always)]
    fn convert_suspecting(level: Level, values: &[Self], room: &mut [MaybeUninit<f16>]) -> bool {
        f32_to_f16_suspecting(level, values, room)
    }
}

/// Rounds to odd: toward zero, with the last bit set if anything was cut off. A second rounding to at most half as many
/// bits then still knows on which side of a tie the number was.
#[inline(always)]
fn to_odd_f32(value: f64) -> f32 {
    let nearest: f32 = value.to();
    let back = f64::from(nearest);
    let toward_zero = nearest.to_bits().wrapping_sub(u32::from(back.abs() > value.abs()));
    let has_rest = (back < value) | (back > value); // NaN has none
    f32::from_bits(toward_zero | u32::from(has_rest))
}

impl To<f16> for f64 {
    const ALWAYS_FITS: bool = false;
    const IS_LOSSLESS: bool = false;

    #[inline(always)]
    fn to(self) -> f16 {
        to_odd_f32(self).to()
    }

    #[inline(always)]
    fn fits(self) -> bool {
        rounds_to_finite!(self, f64, F16_END)
    }

    #[inline(always)]
    fn surely_fit_at(level: Level, values: &[Self]) -> bool {
        numbers_are_below(level, values, F16_END)
    }

    #[inline(always)]
    fn is_suspect(self, converted: &f16) -> bool {
        converted.to_bits() & 0x7FFF == 0x7C00 // infinite
    }
}

impl To<bf16> for f64 {
    const ALWAYS_FITS: bool = false;
    const IS_LOSSLESS: bool = false;

    #[inline(always)]
    fn to(self) -> bf16 {
        to_odd_f32(self).to()
    }

    #[inline(always)]
    fn fits(self) -> bool {
        rounds_to_finite!(self, f64, BF16_END)
    }

    #[inline(always)]
    fn surely_fit_at(level: Level, values: &[Self]) -> bool {
        numbers_are_below(level, values, BF16_END)
    }

    #[inline(always)]
    fn is_suspect(self, converted: &bf16) -> bool {
        converted.to_bits() & 0x7FFF == 0x7F80 // infinite
    }
}

/// A conversion by machine instructions, if the machine has them.
macro_rules! by_instructions {
    ($name:ident, $S:ty => $D:ty, $by_16:ident, $by_8:ident) => {
        /// Converts `values` into `room`, which has the same length.
        #[inline]
        fn $name(level: Level, values: &[$S], room: &mut [MaybeUninit<$D>]) {
            assert_eq!(values.len(), room.len(), "as many elements as values");
            #[cfg(target_arch = "x86_64")]
            {
                if level.has_avx512() {
                    // SAFETY: the machine has the instructions, and the lengths are the same.
                    return unsafe { x86::$by_16(values, room) };
                }
                if level.has_avx2() {
                    // SAFETY: as above.
                    return unsafe { x86::$by_8(values, room) };
                }
            }
            convert_each(level, values, room);
        }
    };
}

by_instructions!(f16_to_f32, f16 => f32, f16_to_f32_by_16, f16_to_f32_by_8);
by_instructions!(f32_to_f16, f32 => f16, f32_to_f16_by_16, f32_to_f16_by_8);

/// Converts `values` into `room`, which has the same length, and returns whether a result is infinite.
#[inline]
fn f32_to_f16_suspecting(level: Level, values: &[f32], room: &mut [MaybeUninit<f16>]) -> bool {
    const INFINITY: u16 = 0x7C00;
    f32_to_f16(level, values, room);
    // SAFETY: every element has just been written.
    let results: &[f16] = unsafe { assume_init_mut(room) };
    level.run_with(results, (), |results, ()| {
        results.iter().fold(false, |found, result| found | (result.to_bits() & 0x7FFF == INFINITY))
    })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    use half::f16;

    use super::convert_each;
    use crate::convert::level::Level;

    const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;

    /// # Safety
    /// `room` must be as long as `values`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,f16c")]
    pub(super) unsafe fn f16_to_f32_by_16(values: &[f16], room: &mut [MaybeUninit<f32>]) {
        let (count, from, to) = (values.len(), values.as_ptr().cast::<i16>(), room.as_mut_ptr().cast::<f32>());
        let whole = count / 16 * 16;
        // SAFETY: at each step below `whole` sixteen elements are left on both sides, which have the same length; the
        // mask selects only the elements after `whole`.
        unsafe {
            for i in (0..whole).step_by(16) {
                let halves = _mm256_loadu_si256(from.add(i).cast());
                _mm512_storeu_ps(to.add(i), _mm512_cvtph_ps(halves));
            }
            if whole < count {
                let mask = (1_u16 << (count - whole)) - 1;
                let halves = _mm256_maskz_loadu_epi16(mask, from.add(whole));
                _mm512_mask_storeu_ps(to.add(whole), mask, _mm512_cvtph_ps(halves));
            }
        }
    }

    /// # Safety
    /// `room` must be as long as `values`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,f16c")]
    pub(super) unsafe fn f32_to_f16_by_16(values: &[f32], room: &mut [MaybeUninit<f16>]) {
        let (count, from, to) = (values.len(), values.as_ptr(), room.as_mut_ptr().cast::<i16>());
        let whole = count / 16 * 16;
        // SAFETY: as in `f16_to_f32_by_16`.
        unsafe {
            for i in (0..whole).step_by(16) {
                let floats = _mm512_loadu_ps(from.add(i));
                _mm256_storeu_si256(to.add(i).cast(), _mm512_cvtps_ph::<NEAREST>(floats));
            }
            if whole < count {
                let mask = (1_u16 << (count - whole)) - 1;
                let floats = _mm512_maskz_loadu_ps(mask, from.add(whole));
                _mm256_mask_storeu_epi16(to.add(whole), mask, _mm512_cvtps_ph::<NEAREST>(floats));
            }
        }
    }

    /// # Safety
    /// `room` must be as long as `values`.
    #[target_feature(enable = "avx2,f16c")]
    pub(super) unsafe fn f16_to_f32_by_8(values: &[f16], room: &mut [MaybeUninit<f32>]) {
        let whole = values.len() / 8 * 8;
        let (from, to) = (values.as_ptr(), room.as_mut_ptr().cast::<f32>());
        for i in (0..whole).step_by(8) {
            // SAFETY: at each step below `whole` eight elements are left on both sides, which have the same length.
            unsafe { _mm256_storeu_ps(to.add(i), _mm256_cvtph_ps(_mm_loadu_si128(from.add(i).cast()))) };
        }
        convert_each(Level::BASELINE, &values[whole..], &mut room[whole..]);
    }

    /// # Safety
    /// `room` must be as long as `values`.
    #[target_feature(enable = "avx2,f16c")]
    pub(super) unsafe fn f32_to_f16_by_8(values: &[f32], room: &mut [MaybeUninit<f16>]) {
        let whole = values.len() / 8 * 8;
        let (from, to) = (values.as_ptr(), room.as_mut_ptr());
        for i in (0..whole).step_by(8) {
            // SAFETY: as in `f16_to_f32_by_8`.
            unsafe { _mm_storeu_si128(to.add(i).cast(), _mm256_cvtps_ph::<NEAREST>(_mm256_loadu_ps(from.add(i)))) };
        }
        convert_each(Level::BASELINE, &values[whole..], &mut room[whole..]);
    }
}
