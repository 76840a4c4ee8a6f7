//! Allocation of the library's own memory.
//!
//! Small blocks come from the global allocator with 64-byte alignment. With the feature `mmap`, blocks of
//! [`LARGE_BLOCK`] bytes or more are anonymous memory maps: zeroed lazily, page aligned, with huge pages advised.
//! Nothing here depends on an element type. A failed allocation returns [`ErrorKind::OutOfMemory`] and never aborts.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// Alignment in bytes of every block that the library allocates: one cache line, or one AVX-512 register.
pub(super) const ALIGNMENT: usize = 64;

/// A block of at least this size in bytes is a separate memory map.
#[cfg(feature = "mmap")]
pub(super) const LARGE_BLOCK: usize = 4 << 20;

/// Memory that is freed when this value is dropped. It is never shared or resized.
#[derive(Debug)]
pub(super) enum Allocation {
    /// No bytes; the address is merely aligned.
    Empty,
    /// Memory from the global allocator, with its layout.
    Heap { data: NonNull<u8>, layout: Layout },
    /// An anonymous private map.
    #[cfg(feature = "mmap")]
    Map(memmap2::MmapMut),
}

// SAFETY: an allocation is exclusively owned memory; moving the owner or reading its address from another thread
// touches no memory. (Only `NonNull` prevents the automatic implementation.)
unsafe impl Send for Allocation {}
// SAFETY: `&Allocation` allows no access to the bytes.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `bytes` uninitialized bytes.
    pub(super) fn uninit(bytes: usize) -> Result<Self> {
        // SAFETY: `new` calls this only with a layout of more than zero bytes.
        Self::new(bytes, |layout| unsafe { alloc(layout) })
    }

    /// Allocates `bytes` zero bytes without touching the pages of a large block.
    pub(super) fn zeroed(bytes: usize) -> Result<Self> {
        // SAFETY: as in `uninit`.
        Self::new(bytes, |layout| unsafe { alloc_zeroed(layout) })
    }

    fn new(bytes: usize, heap: impl FnOnce(Layout) -> *mut u8) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self::Empty);
        }
        #[cfg(feature = "mmap")]
        if bytes >= LARGE_BLOCK {
            return Self::map(bytes);
        }
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| Error::out_of_memory(bytes))?;
        match NonNull::new(heap(layout)) {
            Some(data) => Ok(Self::Heap { data, layout }),
            None => Err(Error::out_of_memory(bytes)),
        }
    }

    #[cfg(feature = "mmap")]
    fn map(bytes: usize) -> Result<Self> {
        let map = memmap2::MmapOptions::new().len(bytes).map_anon().map_err(|_| Error::out_of_memory(bytes))?;
        // Advice only: a kernel without huge pages refuses it, and the block has ordinary pages.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Self::Map(map))
    }

    /// Returns the address of the first byte, which is aligned to [`ALIGNMENT`] and valid for the allocated number of
    /// bytes.
    pub(super) fn data(&mut self) -> NonNull<u8> {
        match self {
            Self::Empty => NonNull::<CacheLine>::dangling().cast(),
            Self::Heap { data, .. } => *data,
            #[cfg(feature = "mmap")]
            Self::Map(map) => NonNull::from(&mut map[..]).cast(),
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
            #[cfg(feature = "mmap")]
            Self::Map(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    #[test]
    fn every_allocation_is_aligned_and_zeroed_ones_are_zero() {
        for bytes in [0, 1, 63, 64, 65, 4096, (4 << 20) - 1, 4 << 20, (4 << 20) + 1] {
            let mut allocation = Allocation::zeroed(bytes).unwrap();
            let data = allocation.data();
            assert_eq!(data.addr().get() % ALIGNMENT, 0, "{bytes} bytes");
            // SAFETY: the allocation holds `bytes` initialized bytes and lives to the end of the loop body.
            let values = unsafe { std::slice::from_raw_parts(data.as_ptr(), bytes) };
            assert!(values.iter().all(|&byte| byte == 0), "{bytes} bytes");
            assert_eq!(Allocation::uninit(bytes).unwrap().data().addr().get() % ALIGNMENT, 0);
        }
    }

    #[test]
    fn a_refused_allocation_is_an_error() {
        for bytes in [isize::MAX as usize, isize::MAX as usize - 4096, usize::MAX] {
            assert!(Allocation::zeroed(bytes).is_err_and(|error| error.refused_bytes() == Some(bytes)));
            assert!(Allocation::uninit(bytes).is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfMemory)));
        }
    }
}
