//! Cache lines, and requests for them.

/// The size of a cache line in bytes.
pub(crate) const LINE: usize = 64;

/// From this size in bytes on, memory is treated as larger than the second-level cache. In unit tests it is smaller, so
/// that small tables reach the loops for large ones.
pub(crate) const BEYOND_CACHES: usize = if cfg!(test) { 64 << 10 } else { 2 << 20 };

/// The first-level cache, for [`prefetch`].
pub(crate) const FIRST_LEVEL: i32 = 3; // `_MM_HINT_T0`

/// The second-level cache, for [`prefetch`].
pub(crate) const SECOND_LEVEL: i32 = 2; // `_MM_HINT_T1`

/// Asks the processor to fetch memory into a cache, for a later read. Does not wait. Requests a line for each multiple
/// of [`LINE`] from `start` on, below `bytes`. Does nothing on other processors than x86-64.
#[inline(always)]
pub(crate) fn prefetch<const LEVEL: i32>(start: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..bytes).step_by(LINE) {
        // SAFETY: SSE is part of x86-64. To fetch memory is not an access: any address is permitted.
        unsafe { std::arch::x86_64::_mm_prefetch::<LEVEL>(start.wrapping_add(offset).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, bytes);
}
