//! An allocator that counts what each thread takes and frees.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which also counts the requests of this thread, and the bytes and blocks that it took and did
/// not free.
struct CountingAllocator;

thread_local! {
    static LIVE: Cell<Live> = const { Cell::new(Live { blocks: 0, bytes: 0 }) };
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

/// What a thread took and did not free; negative if it frees what others took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Live {
    pub(crate) blocks: i64,
    pub(crate) bytes: i64,
}

impl Live {
    fn count(sign: i64, layout: Layout) {
        // Nothing is counted while the thread ends.
        let _ = LIVE.try_with(|live| {
            let Live { blocks, bytes } = live.get();
            live.set(Live { blocks: blocks + sign, bytes: bytes + sign * layout.size() as i64 });
        });
    }

    pub(crate) fn now() -> Self {
        LIVE.get()
    }
}

/// How often a call asks for memory, on the thread that makes it.
pub(crate) fn requests(call: impl FnOnce()) -> usize {
    let before = REQUESTS.get();
    call();
    REQUESTS.get() - before
}

// SAFETY: every call is passed on to the system's allocator; counting neither allocates nor panics. `realloc` and
// `alloc_zeroed` have defaults that come here.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = REQUESTS.try_with(|requests| requests.set(requests.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        let data = unsafe { System.alloc(layout) };
        if !data.is_null() {
            Live::count(1, layout);
        }
        data
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        Live::count(-1, layout);
        // SAFETY: `data` came from `alloc` above with this layout: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(data, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
