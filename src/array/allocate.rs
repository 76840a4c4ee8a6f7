//! Allocation of the library's own memory.
//!
//! Small blocks come from the global allocator with 64-byte alignment. With the feature `mmap`, blocks of
//! [`LARGE_BLOCK`] bytes or more are anonymous memory maps: zeroed lazily, page aligned, with huge pages advised.
//! On Linux, blocks of [`MEDIUM_BLOCK`] bytes or more that need no zeros are maps too, and some freed maps are kept for
//! them, because the system clears every page that it gives: an allocator that returns a block when it is freed, as
//! glibc does at the end of its heap, makes a loop over blocks several times slower. The large maps that were freed last
//! and all smaller ones stay in memory, up to a limit. The system may take the pages of the other ones back at any time.
//! Nothing here depends on an element type. A failed allocation returns [`ErrorKind::OutOfMemory`] and never aborts.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;
#[cfg(all(feature = "mmap", target_os = "linux"))]
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[cfg(all(feature = "mmap", target_os = "linux"))]
mod kept;

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// Alignment in bytes of every block that the library allocates: one cache line, or one AVX-512 register.
pub(super) const ALIGNMENT: usize = 64;

/// A block of at least this size in bytes is a separate memory map.
#[cfg(any(feature = "mmap", test))]
pub(super) const LARGE_BLOCK: usize = 4 << 20;

/// A block of at least this size in bytes that needs no zeros is a separate memory map, except under AddressSanitizer,
/// which sees errors in blocks of the allocator only.
#[cfg(all(feature = "mmap", target_os = "linux"))]
const MEDIUM_BLOCK: usize = if cfg!(numeric_table_sanitized) { LARGE_BLOCK } else { 256 << 10 };

/// The largest number of blocks below [`LARGE_BLOCK`] that are maps at a time. The system limits the number of maps of a
/// process, usually to 65,530, and threads need some too.
#[cfg(all(feature = "mmap", target_os = "linux"))]
const MAX_MEDIUM_BLOCKS: usize = 4096;

/// The number of these blocks.
#[cfg(all(feature = "mmap", target_os = "linux"))]
static MEDIUM_BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// Memory that is freed when this value is dropped. It is never shared or resized.
#[derive(Debug)]
pub(super) enum Allocation {
    /// No bytes; the address is merely aligned.
    Empty,
    /// Memory from the global allocator, with its layout.
    Heap { data: NonNull<u8>, layout: Layout },
    /// An anonymous private map, at least as long as the block. `None` only while it is dropped.
    #[cfg(feature = "mmap")]
    Map(Option<memmap2::MmapMut>),
}

// SAFETY: an allocation is exclusively owned memory; moving the owner or reading its address from another thread
// touches no memory. (Only `NonNull` prevents the automatic implementation.)
unsafe impl Send for Allocation {}
// SAFETY: `&Allocation` allows no access to the bytes.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `bytes` uninitialized bytes.
    pub(super) fn uninit(bytes: usize) -> Result<Self> {
        #[cfg(all(feature = "mmap", target_os = "linux"))]
        if bytes >= MEDIUM_BLOCK {
            let map = kept::take(bytes).or_else(|| Self::medium_map(bytes));
            if let Some(map) = map {
                if map.len() < LARGE_BLOCK {
                    MEDIUM_BLOCKS.fetch_add(1, Relaxed);
                }
                return Ok(Self::Map(Some(map)));
            }
        }
        // SAFETY: `new` calls this only with a layout of more than zero bytes.
        Self::new(bytes, |layout| unsafe { alloc(layout) })
    }

    /// Allocates `bytes` zero bytes without touching the pages of a large block.
    pub(super) fn zeroed(bytes: usize) -> Result<Self> {
        // SAFETY: as in `uninit`.
        Self::new(bytes, |layout| unsafe { alloc_zeroed(layout) })
    }

    fn new(bytes: usize, heap: impl Fn(Layout) -> *mut u8) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self::Empty);
        }
        #[cfg(feature = "mmap")]
        if bytes >= LARGE_BLOCK {
            return Self::map(bytes);
        }
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| Error::out_of_memory(bytes))?;
        let data = NonNull::new(heap(layout));
        #[cfg(all(feature = "mmap", target_os = "linux"))]
        let data = data.or_else(|| if kept::clear() { NonNull::new(heap(layout)) } else { None });
        match data {
            Some(data) => Ok(Self::Heap { data, layout }),
            None => Err(Error::out_of_memory(bytes)),
        }
    }

    /// Returns a map for a block below [`LARGE_BLOCK`]; `None` if the block should be one of the allocator.
    #[cfg(all(feature = "mmap", target_os = "linux"))]
    fn medium_map(bytes: usize) -> Option<memmap2::MmapMut> {
        if bytes >= LARGE_BLOCK || MEDIUM_BLOCKS.load(Relaxed) >= MAX_MEDIUM_BLOCKS {
            return None;
        }
        if kept::is_limited() {
            kept::clear(); // those that were kept before the limit
            return None;
        }
        memmap2::MmapOptions::new().len(bytes).map_anon().ok()
    }

    #[cfg(feature = "mmap")]
    fn map(bytes: usize) -> Result<Self> {
        let new = || memmap2::MmapOptions::new().len(bytes).map_anon();
        #[cfg(target_os = "linux")]
        kept::offer_all();
        let map = new();
        #[cfg(target_os = "linux")]
        let map = map.or_else(|error| if kept::clear() { new() } else { Err(error) });
        let map = map.map_err(|_| Error::out_of_memory(bytes))?;
        // Advice only: a kernel without huge pages refuses it, and the block has ordinary pages.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Self::Map(Some(map)))
    }

    /// Returns the address of the first byte, which is aligned to [`ALIGNMENT`] and valid for the allocated number of
    /// bytes.
    pub(super) fn data(&mut self) -> NonNull<u8> {
        match self {
            Self::Empty => NonNull::<CacheLine>::dangling().cast(),
            Self::Heap { data, .. } => *data,
            #[cfg(feature = "mmap")]
            Self::Map(Some(map)) => NonNull::from(&mut map[..]).cast(),
            #[cfg(feature = "mmap")]
            Self::Map(None) => unreachable!("a block is not used after it is dropped"),
        }
    }
}

/// Returns a vector with a capacity of `bytes` bytes, with huge pages advised if it is large. Used for bytes that are
/// returned to the caller.
pub(crate) fn vector_with_room(bytes: usize) -> Result<Vec<u8>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(bytes).map_err(|_| Error::out_of_memory(bytes))?;
    #[cfg(target_os = "linux")]
    advise_huge_pages(&mut vector);
    Ok(vector)
}

/// Advises huge pages for the spare capacity. A kernel without huge pages rejects the advice, which does no harm.
#[cfg(target_os = "linux")]
fn advise_huge_pages(vector: &mut Vec<u8>) {
    const HUGE_PAGE: usize = 2 << 20;
    let room = vector.spare_capacity_mut();
    let skipped = room.as_ptr().addr().next_multiple_of(HUGE_PAGE) - room.as_ptr().addr();
    if let Some(whole) = room.get_mut(skipped..).filter(|whole| whole.len() >= HUGE_PAGE) {
        let length = whole.len() / HUGE_PAGE * HUGE_PAGE;
        // SAFETY: the range lies inside the vector's own memory, and begins at a page. The size of pages does not
        // change their contents.
        let _ = unsafe { libc::madvise(whole.as_mut_ptr().cast(), length, libc::MADV_HUGEPAGE) };
    }
}

/// A type with the alignment of a cache line, for the address of an empty allocation.
#[repr(align(64))]
struct CacheLine;

const _: () = assert!(align_of::<CacheLine>() == ALIGNMENT);

impl Drop for Allocation {
    fn drop(&mut self) {
        match self {
            Self::Empty => {}
            // SAFETY: `data` was allocated with `layout` by the global allocator and is freed here only.
            Self::Heap { data, layout } => unsafe { dealloc(data.as_ptr(), *layout) },
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Self::Map(map) => {
                if let Some(map) = map.take() {
                    if map.len() < LARGE_BLOCK {
                        MEDIUM_BLOCKS.fetch_sub(1, Relaxed);
                    }
                    kept::put(map);
                }
            }
            #[cfg(all(feature = "mmap", not(target_os = "linux")))]
            Self::Map(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use test_support::sized;

    #[test]
    fn every_allocation_is_aligned_and_zeroed_ones_are_zero() {
        let large = sized(LARGE_BLOCK, 8 << 10); // from this size on, all memory is mapped
        for bytes in [0, 1, 63, 64, 65, 4096, large - 1, large, large + 1] {
            let mut allocation = Allocation::zeroed(bytes).unwrap();
            let data = allocation.data();
            assert_eq!(data.addr().get() % ALIGNMENT, 0, "{bytes} bytes");
            // SAFETY: the allocation holds `bytes` initialized bytes and lives to the end of the loop body.
            let values = unsafe { std::slice::from_raw_parts(data.as_ptr(), bytes) };
            assert!(values.iter().all(|&byte| byte == 0), "{bytes} bytes");
            assert_eq!(Allocation::uninit(bytes).unwrap().data().addr().get() % ALIGNMENT, 0);
        }
    }

    #[cfg(all(feature = "mmap", target_os = "linux"))]
    #[test]
    fn a_freed_map_is_used_again_unless_zeros_are_needed() {
        for bytes in [37 << 20, 300 << 10] {
            check_reuse(bytes);
        }
        drop(Allocation::uninit(kept::max_bytes() + 1).unwrap()); // not kept
        kept::clear();
    }

    #[cfg(all(feature = "mmap", target_os = "linux", not(numeric_table_sanitized)))]
    const LIMITED: &str = "NUMERIC_TABLE_TEST_OF_LIMITED_MEMORY";

    /// The test below runs this in a separate process, whose other tests would be limited too.
    #[cfg(all(feature = "mmap", target_os = "linux", not(numeric_table_sanitized)))]
    #[test]
    fn kept_maps_are_given_back_when_memory_is_limited_if_this_process_is_for_that() {
        if std::env::var_os(LIMITED).is_none() || kept::is_limited() {
            return;
        }
        let is_map = |allocation: &Allocation| matches!(allocation, Allocation::Map(_));
        let (first, other) = (Allocation::uninit(1 << 20).unwrap(), Allocation::uninit(1 << 20).unwrap());
        assert!(is_map(&first) && is_map(&other));
        drop(first);
        let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY - 1, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the call reads a local variable.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        drop(other);
        assert!(is_map(&Allocation::uninit(1 << 20).unwrap()), "a kept one");
        let new = Allocation::uninit(3 << 20).unwrap();
        assert!(!is_map(&new) && !kept::clear(), "none is kept any more");
    }

    #[cfg(all(feature = "mmap", target_os = "linux", not(numeric_table_sanitized), not(miri)))]
    #[test]
    fn kept_maps_are_given_back_when_memory_is_limited() {
        run_alone("kept_maps_are_given_back_when_memory_is_limited_if_this_process_is_for_that", LIMITED);
    }

    #[cfg(all(feature = "mmap", target_os = "linux", not(numeric_table_sanitized)))]
    const ALONE: &str = "NUMERIC_TABLE_TEST_OF_KEPT_MEMORY";

    /// The test below runs this in a separate process: other tests would use the kept maps too.
    #[cfg(all(feature = "mmap", target_os = "linux", not(numeric_table_sanitized)))]
    #[test]
    fn a_freed_map_stays_until_a_new_one_is_needed_if_this_process_is_for_that() {
        if std::env::var_os(ALONE).is_none() || kept::is_limited() {
            return;
        }
        // The bytes that the system may take back.
        let offered = || {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let sizes = maps.lines().filter_map(|line| line.strip_prefix("LazyFree:"));
            sizes.map(|size| size.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10).sum::<usize>()
        };
        let fill = |allocation: &mut Allocation, bytes| {
            // SAFETY: the allocation has that many bytes.
            unsafe { std::ptr::write_bytes(allocation.data().as_ptr(), 7, bytes) };
            allocation.data()
        };
        let bytes = LARGE_BLOCK + 4096;
        let mut first = Allocation::uninit(bytes).unwrap();
        let place = fill(&mut first, bytes);
        drop(first);
        let stays = bytes <= kept::max_resident_bytes();
        assert_eq!(offered() > 0, !stays, "bytes are offered at once only if the machine has little memory");
        let mut again = Allocation::uninit(bytes).unwrap();
        assert_eq!(fill(&mut again, bytes), place);
        drop(again);
        let _new = Allocation::zeroed(bytes).unwrap();
        assert!(offered() > LARGE_BLOCK / 2);
        assert_eq!(Allocation::uninit(bytes).unwrap().data(), place);
        // Larger ones are offered at once, and kept too.
        let large = kept::max_resident_bytes() + LARGE_BLOCK;
        let place = Allocation::uninit(large).unwrap().data();
        assert_eq!(Allocation::uninit(large).unwrap().data(), place);
    }

    #[cfg(all(feature = "mmap", target_os = "linux", not(numeric_table_sanitized), not(miri)))]
    #[test]
    fn a_freed_map_stays_until_a_new_one_is_needed() {
        run_alone("a_freed_map_stays_until_a_new_one_is_needed_if_this_process_is_for_that", ALONE);
    }

    /// Runs a test of this module in a process of its own, with a variable.
    #[cfg(all(feature = "mmap", target_os = "linux", not(numeric_table_sanitized), not(miri)))]
    fn run_alone(test: &str, variable: &str) {
        let result = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("array::allocate::tests::{test}")])
            .env(variable, "1")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&result.stdout);
        assert!(result.status.success() && printed.contains("1 passed"), "{printed}");
    }

    #[cfg(all(feature = "mmap", target_os = "linux"))]
    fn check_reuse(bytes: usize) {
        let fill = |allocation: &mut Allocation| {
            // SAFETY: the allocation has that many bytes.
            unsafe { std::ptr::write_bytes(allocation.data().as_ptr(), 7, bytes) };
        };
        for _ in 0..4 {
            let mut first = Allocation::uninit(bytes).unwrap();
            fill(&mut first);
            drop(first);
            let mut zeros = Allocation::zeroed(bytes).unwrap();
            // SAFETY: as above, and they are initialized.
            let values = unsafe { std::slice::from_raw_parts(zeros.data().as_ptr(), bytes) };
            assert!(values.iter().all(|&byte| byte == 0));
            let mut again = Allocation::uninit(bytes - 5).unwrap();
            fill(&mut Allocation::uninit(bytes).unwrap());
            assert_ne!(again.data(), zeros.data());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri aborts when an allocation fails")]
    fn a_refused_allocation_is_an_error() {
        let most = isize::MAX as usize;
        // 2 GiB, the most with 32 bits, may be there.
        for bytes in [most, most - 4096, usize::MAX].into_iter().skip(if usize::BITS < 64 { 2 } else { 0 }) {
            assert!(Allocation::zeroed(bytes).is_err_and(|error| error.refused_bytes() == Some(bytes)));
            assert!(Allocation::uninit(bytes).is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfMemory)));
        }
    }
}
