//! Stores past the cache: for results that are too large to stay in it.
//!
//! The processor does not read the lines first, and they evict nothing.

#[cfg(doc)]
use crate::base::cache::LINE;

/// Copies cache lines past the cache. On other processors than x86-64, copies them through the cache.
///
/// # Safety
/// Both sides must have `bytes` bytes, a multiple of [`LINE`], and must not overlap. The target must be aligned to
/// [`LINE`]. This thread must call [`fence`] before anything else accesses the target.
#[inline]
pub(crate) unsafe fn copy_lines(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..bytes).step_by(16) {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
        // SAFETY: SSE2 is part of x86-64. Both sides have `bytes` bytes, a multiple of 16; the target is aligned to a
        // cache line, and so every multiple of 16 bytes from its start is aligned to 16. Any bytes may be copied.
        unsafe { _mm_stream_si128(to.add(offset).cast(), _mm_loadu_si128(from.add(offset).cast())) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: both sides have `bytes` bytes and do not overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes);
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
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
