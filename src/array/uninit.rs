//! Writing into memory that holds nothing yet, for compilers that have no slice methods for it.

use std::mem::MaybeUninit;

/// Declares that every element has been written.
///
/// # Safety
/// Every element must have been written.
pub(crate) unsafe fn assume_init_mut<T>(target: &mut [MaybeUninit<T>]) -> &mut [T] {
    let target: *mut [MaybeUninit<T>] = target;
    // SAFETY: `MaybeUninit<T>` has the layout of `T`; the caller promises that the elements are initialised; the borrow
    // passes from the argument to the result.
    unsafe { &mut *(target as *mut [T]) }
}

/// Copies values into memory, which is then initialised. Panics if the lengths differ: callers have checked.
pub(crate) fn write_copy<'t, T: Copy>(target: &'t mut [MaybeUninit<T>], values: &[T]) -> &'t mut [T] {
    assert_eq!(target.len(), values.len(), "as many values as elements");
    // SAFETY: both are `values.len()` elements long, and a mutable borrow overlaps with no other; the copy writes every
    // element.
    unsafe {
        std::ptr::copy_nonoverlapping(values.as_ptr(), target.as_mut_ptr().cast::<T>(), values.len());
        assume_init_mut(target)
    }
}
