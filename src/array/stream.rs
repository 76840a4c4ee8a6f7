//! Stores past the cache: for results that are too large to stay in it.
//!
//! The processor does not read the lines first, and they evict nothing. Miri has no such stores: there, lines are
//! copied through the cache.

#[cfg(any(doc, all(target_arch = "x86_64", not(miri))))]
use crate::base::cache::LINE;

/// Copies cache lines past the cache. On other processors than x86-64, copies them through the cache.
///
/// # Safety
/// Both sides must have `bytes` bytes, a multiple of [`LINE`], and must not overlap. The target must be aligned to
/// [`LINE`]. This thread must call [`fence`] before anything else accesses the target.
#[inline]
pub(crate) unsafe fn copy_lines(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for offset in (0..bytes).step_by(16) {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
        // SAFETY: SSE2 is part of x86-64. Both sides have `bytes` bytes, a multiple of 16; the target is aligned to a
        // cache line, and so every multiple of 16 bytes from its start is aligned to 16. Any bytes may be copied.
        unsafe { _mm_stream_si128(to.add(offset).cast(), _mm_loadu_si128(from.add(offset).cast())) };
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    // SAFETY: both sides have `bytes` bytes and do not overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes);
    }
}

/// Like [`copy_lines`], for many lines: with wider vectors if the processor has them.
///
/// # Safety
/// As of [`copy_lines`].
pub(crate) unsafe fn copy_many_lines(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX; the rest is as the caller promises.
        return unsafe { copy_by_avx(from, to, bytes) };
    }
    // SAFETY: as the caller promises.
    unsafe { copy_lines(from, to, bytes) };
}

/// # Safety
/// The processor has AVX. The rest is as of [`copy_lines`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx")]
unsafe fn copy_by_avx(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_stream_si256};
    for offset in (0..bytes).step_by(LINE) {
        // SAFETY: both sides have `bytes` bytes, entire lines of two vectors each; the target is aligned to a line, and
        // so to a vector. Any bytes may be copied.
        unsafe {
            let (from, to) = (from.add(offset).cast(), to.add(offset).cast());
            let (low, high) = (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)));
            _mm256_stream_si256(to, low);
            _mm256_stream_si256(to.add(1), high);
        }
    }
}

/// Calls [`fence`] when it is dropped.
pub(crate) struct Fence;

impl Drop for Fence {
    fn drop(&mut self) {
        fence();
    }
}

/// Orders the stores past the cache before later accesses, as all threads see them.
#[inline]
pub(crate) fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
