//! An allocator that counts the bytes of all threads.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Counts the bytes that are allocated now, their peak, and the largest request.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(LIVE.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(data, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs something that must return. Returns its result, its peak of memory, and its largest request, in bytes.
pub(crate) fn measured<R>(name: &dyn Fn() -> String, run: impl FnOnce() -> R) -> (R, usize, usize) {
    let start = LIVE.load(Relaxed);
    PEAK.store(start, Relaxed);
    LARGEST.store(0, Relaxed);
    let result = catch_unwind(AssertUnwindSafe(run));
    let (peak, largest) = (PEAK.load(Relaxed) - start, LARGEST.load(Relaxed));
    (result.unwrap_or_else(|_| panic!("{} made it panic", name())), peak, largest)
}
