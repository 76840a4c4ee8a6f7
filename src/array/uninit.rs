//! Writing into uninitialised memory, for compilers whose slices have no methods for it.

use std::mem::MaybeUninit;

use crate::base::error::{Error, Result};
use crate::base::parallel;

/// Asserts that every element has been written.
///
/// # Safety
/// Every element must have been written.
pub(crate) unsafe fn assume_init_mut<T>(target: &mut [MaybeUninit<T>]) -> &mut [T] {
    let target: *mut [MaybeUninit<T>] = target;
    // SAFETY: `MaybeUninit<T>` has the layout of `T`; the caller promises that the elements are initialised; the borrow
    // passes from the argument to the result.
    unsafe { &mut *(target as *mut [T]) }
}

/// Copies values into uninitialised memory, and returns it initialised. Panics if the lengths differ: callers have
/// checked.
pub(crate) fn write_copy<'t, T: Copy>(target: &'t mut [MaybeUninit<T>], values: &[T]) -> &'t mut [T] {
    assert_eq!(target.len(), values.len(), "as many values as elements");
    // SAFETY: both are `values.len()` elements long, and a mutable borrow overlaps with no other; the copy writes every
    // element.
    unsafe {
        std::ptr::copy_nonoverlapping(values.as_ptr(), target.as_mut_ptr().cast::<T>(), values.len());
        assume_init_mut(target)
    }
}

/// Appends a copy of bytes, made by several threads if there are many; they also touch the pages of a new vector first.
///
/// # Errors
/// [`Error::OutOfMemory`]; the vector is unchanged.
pub(crate) fn append_copy(target: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    target.try_reserve(bytes.len()).map_err(|_| Error::OutOfMemory { bytes: bytes.len() })?;
    let room = &mut target.spare_capacity_mut()[..bytes.len()];
    parallel::for_each_chunk_mut(room, &|offset, chunk| {
        write_copy(chunk, &bytes[offset..offset + chunk.len()]);
    });
    // SAFETY: `room` begins where the vector ends, and is `bytes.len()` bytes of its capacity; the chunks together are
    // all of it, and `write_copy` has written each.
    unsafe { target.set_len(target.len() + bytes.len()) };
    Ok(())
}
