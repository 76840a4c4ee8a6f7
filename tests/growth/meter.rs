//! What a call costs: requests for memory, their bytes, calls of a table of ours, and the processor's time of the
//! thread.
//!
//! The first three are counted, so that they are the same in every run. Time is for what counting cannot see, with
//! limits that only quadratic work reaches.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Debug;

/// The system's allocator, which also counts the requests of each thread, and their bytes.
struct CountingAllocator;

thread_local! {
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn add(counter: &'static std::thread::LocalKey<Cell<usize>>, count: usize) {
    let _ = counter.try_with(|counter| counter.set(counter.get() + count)); // nothing is counted while the thread ends
}

// SAFETY: every call is passed on to the system's allocator; counting neither allocates nor panics. `realloc` has a
// default that comes here.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(&REQUESTS, 1);
        add(&BYTES, layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(&REQUESTS, 1);
        add(&BYTES, layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        // SAFETY: `data` came from `System` with this layout: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(data, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Counts a call of a table that the tests implement.
pub(crate) fn count_call() {
    add(&CALLS, 1);
}

/// How the cost of a call grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cost {
    /// O(1) or O(log n).
    Fixed,
    /// O(n) or O(n log n).
    Each,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    requests: usize,
    bytes: usize,
    calls: usize,
    micros: usize,
}

/// The sizes are this number of times the first one.
pub(crate) const STEPS: [usize; 3] = [1, 10, 100];

impl Work {
    /// Measures a call twice, and takes the smaller numbers: what happens once is not what is looked for.
    pub(crate) fn of<S>(state: &mut S, mut call: impl FnMut(&mut S)) -> Self {
        let (first, second) = (Self::once(|| call(state)), Self::once(|| call(state)));
        Self {
            requests: first.requests.min(second.requests),
            bytes: first.bytes.min(second.bytes),
            calls: first.calls.min(second.calls),
            micros: first.micros.min(second.micros),
        }
    }

    fn once(call: impl FnOnce()) -> Self {
        let (requests, bytes, calls, micros) = (REQUESTS.get(), BYTES.get(), CALLS.get(), thread_micros());
        call();
        Self {
            requests: REQUESTS.get() - requests,
            bytes: BYTES.get() - bytes,
            calls: CALLS.get() - calls,
            micros: thread_micros() - micros,
        }
    }
}

/// Compares what a call costs at the sizes of [`STEPS`] with how it is to grow.
#[track_caller]
pub(crate) fn assert_growth(what: impl Debug, cost: Cost, works: [Work; 3]) {
    let [first, _, last] = works;
    let grows = |of: fn(&Work) -> usize, least: usize, fixed: usize, each: usize| match cost {
        Cost::Fixed => of(&last) > of(&first).max(least) * fixed,
        Cost::Each => of(&last) > of(&first).max(least) * each,
    };
    // Quadratic work is 10,000 times as much, n log n is 150 times as much.
    let is_more = grows(|work| work.requests, 20, 2, 300)
        || grows(|work| work.bytes, 4096, 3, 1000)
        || grows(|work| work.calls, 10, 3, 300)
        || grows(|work| work.micros, 40, 20, 1000);
    assert!(!is_more, "{what:?} costs more than {cost:?} of 1, 10 and 100 times as much: {works:#?}");
}

/// Measures a call at three sizes, each with a state of its own, and compares.
#[track_caller]
pub(crate) fn check<S>(what: &str, cost: Cost, least: usize, make: impl Fn(usize) -> S, call: impl Fn(&mut S, usize)) {
    let works = STEPS.map(|step| {
        let size = least * step;
        Work::of(&mut make(size), |state| call(state, size))
    });
    assert_growth(what, cost, works);
}

#[cfg(target_os = "linux")]
fn thread_micros() -> usize {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanos: std::ffi::c_long,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: std::ffi::c_int, time: *mut Time) -> std::ffi::c_int;
    }
    const THREAD_CPUTIME: std::ffi::c_int = 3;
    let mut time = Time { seconds: 0, nanos: 0 };
    // SAFETY: the function of the C library that `std` is linked with; it writes one `timespec`, which is these two
    // numbers on Linux of 64 bits.
    unsafe { clock_gettime(THREAD_CPUTIME, &mut time) };
    time.seconds as usize * 1_000_000 + time.nanos as usize / 1000
}

#[cfg(not(target_os = "linux"))]
fn thread_micros() -> usize {
    0 // time is not compared
}
