//! `f16` to and from `f32` by the instructions that some machines have for it.
//!
//! They round to nearest even and keep subnormals whatever the processor's floating-point settings are, as the rule
//! wants. (There is none for `bf16`: AVX-512's makes subnormals zero. Its integer form is packed as it is.)

use std::mem::MaybeUninit;

use half::f16;

use super::fast::convert_each;
use super::level::Level;
use crate::array::assume_init_mut;

/// Converts as many values as there are elements.
#[inline]
pub(super) fn f16_to_f32(level: Level, values: &[f16], room: &mut [MaybeUninit<f32>]) {
    assert_eq!(values.len(), room.len(), "as many elements as values");
    #[cfg(target_arch = "x86_64")]
    {
        if level.has_avx512() {
            // SAFETY: the machine has the instructions, and the lengths are the same.
            return unsafe { x86::f16_to_f32_by_16(values, room) };
        }
        if level.has_avx2() {
            // SAFETY: as above.
            return unsafe { x86::f16_to_f32_by_8(values, room) };
        }
    }
    convert_each(level, values, room);
}

/// Converts as many values as there are elements.
#[inline]
pub(super) fn f32_to_f16(level: Level, values: &[f32], room: &mut [MaybeUninit<f16>]) {
    assert_eq!(values.len(), room.len(), "as many elements as values");
    #[cfg(target_arch = "x86_64")]
    {
        if level.has_avx512() {
            // SAFETY: the machine has the instructions, and the lengths are the same.
            return unsafe { x86::f32_to_f16_by_16(values, room) };
        }
        if level.has_avx2() {
            // SAFETY: as above.
            return unsafe { x86::f32_to_f16_by_8(values, room) };
        }
    }
    convert_each(level, values, room);
}

/// Converts as many values as there are elements, and tells whether a result is infinite.
#[inline]
pub(super) fn f32_to_f16_suspecting(level: Level, values: &[f32], room: &mut [MaybeUninit<f16>]) -> bool {
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
        // SAFETY: below `whole` sixteen elements are left on both sides, the length is the same; the mask names only those
        // that are left behind it.
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
            // SAFETY: below `whole` eight elements are left on both sides: the length is the same.
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
