//! The shared array: a typed window on one contiguous block of memory, with a share in its ownership.
//!
//! Ownership of blocks is in `block`, allocation in `allocate`. Arrays whose element type is known only at run time are
//! in `any`. Semantics: oneDAL `array`, with one deliberate difference: two arrays never have mutable access to one
//! block.

mod allocate;
mod any;
mod block;
mod compress;
mod construct;
mod filling;
mod kind;
pub(crate) mod stream;
mod uninit;
pub(crate) mod unique;
pub(crate) mod validity;

pub use crate::window::{AnySlice, AnySliceMut};
pub(crate) use allocate::vector_with_room;
pub use any::{AnyArray, AnyArrayRef};
pub(crate) use compress::Vectors;
pub(crate) use filling::{Filling, MASK_ROWS, NewArray, mask_words};
pub use kind::MemoryKind;
pub(crate) use uninit::{append_copy, assume_init_mut, write_copy};
pub(crate) use unique::UniqueArray;
pub use validity::Validity;

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, Range, RangeBounds};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::range::resolve;
use crate::base::trace::CopyKind;
use block::MemoryBlock;
use kind::Access;

/// A shared array: a data pointer, an element count, and a share in the ownership of one contiguous block.
///
/// ```text
///   a  Array { data ────┐       count: 6, mutable, block } ───┐
///   b  Array { data ────┤       count: 6, mutable, block } ───┤   b = a.clone()
///   s  Array { data ────│─────┐ count: 3, mutable, block } ───┤   s = a.slice(3..)?
///                       ▼     ▼                               ▼
///              block: [ 1 2 3 4 5 6 ]      ownership: reference count 3, how to free
/// ```
///
/// A clone or a slice has its own window and one more share in the same block. A write is never visible through another
/// array. While the block is shared, `a.mutable_data()` returns [`ErrorKind::ImmutableData`], and
/// `a.need_mutable_data()?[0] = 9` copies first.
///
/// ```text
///   a     ────► [ 9 2 3 4 5 6 ]   1 share: written in place from now on
///   b, s  ────► [ 1 2 3 4 5 6 ]   2 shares; once b is dropped, s is the only one, and written in place
/// ```
///
/// * Cloning and slicing share the block and never copy: O(1).
/// * The block is freed exactly once, when the last array that shares it is dropped. The library frees it, drops the
///   owner that lent it, or calls the deleter that was passed with a raw pointer.
/// * It is writable only through its **only** owner ([`has_mutable_data`](Self::has_mutable_data)). oneDAL lets copies
///   alias mutable memory. Here a clone makes both arrays read-only until one of them is dropped or detached with
///   [`need_mutable_data`](Self::need_mutable_data).
///
/// Source: oneDAL `array`.
///
/// # Examples
/// ```
/// use numeric_table::Array;
/// let mut array = Array::from(vec![1.0_f32, 2.0, 3.0, 4.0]); // no copy
/// array.mutable_data()?[0] = 9.0;
/// let shared = array.clone();
/// assert!(!array.has_mutable_data() && array.shares_memory_with(&shared));
/// array.need_mutable_data()?[0] = 1.0; // copies, because it is shared
/// assert_eq!((array[0], shared[0]), (1.0, 9.0));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[repr(C)] // so that an `AnyArray` can hold one with `T` erased
pub struct Array<T> {
    /// The owner of the memory. `None` only in an array created by [`Array::new`].
    block: Option<Arc<MemoryBlock>>,
    /// The first element. Valid for reads of `count` initialized elements of at most `isize::MAX` bytes while `block`
    /// is alive, and for writes too if `access` is [`Access::Mutable`].
    data: NonNull<T>,
    count: usize,
    /// Whether `data` may be written once this array is the only owner.
    access: Access,
    /// Invariant in `T`: otherwise an `Array<Owner<'static>>` could be coerced to an `Array<Owner<'short>>`, be
    /// assigned a short-lived value, and drop it in the `Vec` of the long-lived ones after its lifetime has ended.
    invariant: PhantomData<*mut T>,
}

// SAFETY: an array lends `&[T]` to any thread that has it, and `&mut [T]` to its only owner, so it can be sent where an
// `Arc<[T]>` can. What frees the block is `Send + Sync` by the bounds of every constructor.
unsafe impl<T: Send + Sync> Send for Array<T> {}
// SAFETY: as above; `&Array<T>` lends only `&[T]`, and makes more shares of the block.
unsafe impl<T: Send + Sync> Sync for Array<T> {}

impl<T> Array<T> {
    /// Creates an empty array: no block, no elements, not mutable. O(1), allocates nothing.
    ///
    /// Source: oneDAL `array()`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let array = Array::<f32>::new();
    /// assert_eq!((array.len(), array.has_mutable_data(), array.owner_count()), (0, false, 0));
    /// ```
    pub const fn new() -> Self {
        Self { block: None, data: NonNull::dangling(), count: 0, access: Access::Immutable, invariant: PhantomData }
    }

    /// Returns the number of elements. O(1). Source: oneDAL `get_count`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// assert_eq!(Array::from(vec![1_i8, 2]).len(), 2);
    /// ```
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the array is empty. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// assert!(Array::<f32>::new().is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the size of the elements in bytes. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// assert_eq!(Array::from(vec![1_f64, 2.0]).size_in_bytes(), 16);
    /// ```
    pub const fn size_in_bytes(&self) -> usize {
        self.count * size_of::<T>() // cannot overflow: the elements exist
    }

    /// Borrows the elements. O(1).
    ///
    /// Source: oneDAL `get_data`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// assert_eq!(Array::from(vec![1_i8, 2]).as_slice(), [1, 2]);
    /// ```
    pub const fn as_slice(&self) -> &[T] {
        // SAFETY: `data` is valid for reads of `count` values of `T` while the block lives (field invariant), and the
        // block lives as long as `self`. Nothing writes meanwhile: writing needs `&mut` to the only owner.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.count) }
    }

    /// Returns whether [`mutable_data`](Self::mutable_data) would succeed: the memory is writable, and this array is
    /// its only owner. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// assert!(Array::from(vec![1_u8]).has_mutable_data());
    /// assert!(!Array::from(&[1_u8][..]).has_mutable_data()); // wrapped: immutable
    /// ```
    pub fn has_mutable_data(&self) -> bool {
        self.access == Access::Mutable && self.owner_count() == 1
    }

    /// Returns the number of arrays that share the block, including this one; 0 for an array without a block.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let array = Array::from(vec![1_u8, 2, 3]);
    /// let slice = array.slice(1..)?;
    /// assert_eq!((array.owner_count(), slice.owner_count()), (2, 2));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn owner_count(&self) -> usize {
        self.block.as_ref().map_or(0, Arc::strong_count)
    }

    /// Returns whether both arrays are windows on the same block, even if the windows do not overlap. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let array = Array::from(vec![1_u8, 2, 3]);
    /// assert!(array.slice(..1)?.shares_memory_with(&array.slice(2..)?));
    /// assert!(!array.shares_memory_with(&Array::from(vec![1_u8, 2, 3])));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn shares_memory_with<U>(&self, other: &Array<U>) -> bool {
        match (&self.block, &other.block) {
            (Some(mine), Some(theirs)) => Arc::ptr_eq(mine, theirs),
            _ => false,
        }
    }

    /// Returns whether this window covers the entire block, so that the array keeps no other memory alive.
    pub(crate) fn is_whole_block(&self) -> bool {
        self.size_in_bytes() == self.block.as_ref().map_or(0, |block| block.size_in_bytes())
    }

    /// Borrows the elements mutably; never copies. O(1).
    ///
    /// Source: oneDAL `get_mutable_data`, which throws where this returns an error.
    ///
    /// # Errors
    /// [`ErrorKind::ImmutableData`] if the memory is read-only, the array has no block, or another array shares it.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Array, ErrorKind};
    /// let mut array = Array::from(vec![1_u8, 2]);
    /// array.mutable_data()?[1] = 7;
    /// let clone = array.clone();
    /// assert!(matches!(array.mutable_data().unwrap_err().kind(), ErrorKind::ImmutableData { owner_count: 2 }));
    /// drop(clone);
    /// assert_eq!(array.mutable_data()?, [1, 7]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn mutable_data(&mut self) -> Result<&mut [T]> {
        if self.has_mutable_data() {
            // SAFETY: checked in the line above.
            return Ok(unsafe { self.data_mut() });
        }
        let owner_count = if self.access == Access::Immutable { 1 } else { self.owner_count().max(1) };
        Err(Error::new(ErrorKind::ImmutableData { owner_count }))
    }

    /// Like [`mutable_data`](Self::mutable_data), without the error.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn own_data(&mut self) -> Option<&mut [T]> {
        // SAFETY: the closure runs only if the check succeeds.
        self.has_mutable_data().then(|| unsafe { self.data_mut() })
    }

    /// Must be called between the check that this is the only owner and a write: everything that other owners did happened
    /// before, as they decremented the count with release ordering.
    #[inline(always)]
    fn follow_other_owners(&mut self) {
        // ThreadSanitizer knows no fences. This loads the count with acquire ordering.
        #[cfg(numeric_table_sanitized)]
        self.block.as_mut().map(Arc::get_mut);
        fence(Ordering::Acquire);
    }

    /// # Safety
    /// [`has_mutable_data`](Self::has_mutable_data) must have returned `true` for this borrow of the array.
    #[inline(always)]
    unsafe fn data_mut(&mut self) -> &mut [T] {
        self.follow_other_owners();
        // SAFETY: `access` says that `data` may be written for `count` elements (field invariant). This array is the
        // only owner of the block, of which no weak reference is ever made, and `&mut self` proves that nothing borrows
        // from it or makes another owner of it.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.count) }
    }

    /// Returns another window on the same block. O(1), shares ownership, keeps mutability.
    ///
    /// Source: oneDAL `array(ref, ptr, count)` and `get_slice`, with the range checked.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] if the range does not lie inside the array or runs backwards.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let array = Array::from(vec![1.0_f32, 2.0, 3.0]);
    /// assert_eq!(&array.slice(1..=2)?[..], [2.0, 3.0]);
    /// assert!(array.slice(2..5).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let Range { start, end } = resolve(range, self.count, |range| self.out_of_range(range))?;
        if start > end || end > self.count {
            return Err(self.out_of_range(start..end));
        }
        Ok(self.part(start..end))
    }

    /// Returns a window on a range of the elements. Panics if the range is outside the array; callers have checked it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.count, "the range is inside");
        // SAFETY: the pointer stays within the block, or one past its end; the window is a part of this one.
        unsafe { self.alias(self.data.add(range.start), range.len(), self.access) }
    }

    /// Returns another window on the same block.
    ///
    /// # Safety
    /// `data` must be aligned and valid for reads of `count` initialized elements of at most `isize::MAX` bytes while
    /// the block lives. If it may be written, it must also be valid for writes.
    #[inline]
    unsafe fn alias<U>(&self, data: NonNull<U>, count: usize, access: Access) -> Array<U> {
        Array { block: self.block.clone(), data, count, access, invariant: PhantomData }
    }

    fn out_of_range(&self, range: Range<usize>) -> Error {
        Error::new(ErrorKind::OutOfRange { what: "elements", range, count: self.count })
    }

    /// Releases the share in the block, which leaves the array empty. O(1), plus freeing if it was the last share.
    ///
    /// Source: oneDAL `reset()`. Its other overloads are assignments here: `array = Array::from(vec)`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let mut array = Array::from(vec![1_u8]);
    /// array.reset();
    /// assert_eq!((array.len(), array.has_mutable_data()), (0, false));
    /// ```
    pub fn reset(&mut self) {
        *self = Self::new();
    }
}

impl<T: 'static> Array<T> {
    /// Returns a window on a part of the elements, possibly of another type: a field, or the inside of a wrapper.
    ///
    /// O(1), shares ownership. The result is immutable because it was reached through a shared reference.
    /// [`need_mutable_data`](Self::need_mutable_data) copies it.
    ///
    /// Source: oneDAL's aliasing constructor `array(ref, ptr, count)`, whose pointer may lie outside `ref`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let points = Array::from(vec![[1.0_f32, 2.0], [3.0, 4.0]]);
    /// let flat: Array<f32> = points.project(|points| points.as_flattened());
    /// assert_eq!(&flat[..], [1.0, 2.0, 3.0, 4.0]);
    /// assert!(flat.shares_memory_with(&points));
    /// ```
    ///
    /// The part cannot borrow from anything that may be freed before the block:
    /// ```compile_fail
    /// # use numeric_table::Array;
    /// fn smuggle<'short>(local: &'short [u8]) -> Array<u8> {
    ///     Array::<&'short u8>::new().project(|_| local) // the elements must be 'static
    /// }
    /// ```
    pub fn project<U: 'static>(&self, part: impl for<'a> FnOnce(&'a [T]) -> &'a [U]) -> Array<U> {
        let part = part(self.as_slice());
        // SAFETY: `for<'a>` makes the part borrow from the elements, or be static: it lives as long as the block does.
        // If `T` or `U` were not static, `'a` would be known to end before they do, and the part could borrow from
        // elsewhere.
        unsafe { self.alias(NonNull::from(part).cast(), part.len(), Access::Immutable) }
    }
}

impl<T: Element> Array<T> {
    /// Borrows the elements mutably. Copies them first if the memory is immutable or shared.
    ///
    /// Other arrays keep the old block. O(1) if [`has_mutable_data`](Self::has_mutable_data), otherwise one copy of the
    /// elements into memory that the library allocates.
    ///
    /// Source: oneDAL `need_mutable_data`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] if the copy cannot be allocated. The array is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// static DATA: [f32; 2] = [1.0, 2.0];
    /// let mut array = Array::from(&DATA[..]);
    /// array.need_mutable_data()?[0] += 1.0;
    /// assert_eq!((array[0], DATA[0]), (2.0, 1.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn need_mutable_data(&mut self) -> Result<&mut [T]> {
        if self.mutable_data().is_err() {
            *self = Self::copied(self.as_slice(), CopyKind::Unshared)?;
        }
        self.mutable_data()
    }

    /// Returns the same bytes as elements of another type. O(1), shares ownership, keeps mutability.
    ///
    /// Source: oneDAL `reinterpret_array_cast`, with an additional alignment check.
    ///
    /// # Errors
    /// [`ErrorKind::MemoryLayout`] if the size in bytes is not a multiple of `U`'s size, or the memory is not aligned
    /// for `U`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let array = Array::full(2, 1.0_f32)?;
    /// assert_eq!(&array.reinterpret::<u32>()?[..], [0x3F80_0000, 0x3F80_0000]);
    /// assert!(Array::full(3, 1.0_f32)?.reinterpret::<f64>().is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn reinterpret<U: Element>(&self) -> Result<Array<U>> {
        let bytes = self.size_in_bytes();
        let data = self.data.cast::<U>();
        if !bytes.is_multiple_of(size_of::<U>()) || (bytes > 0 && !data.is_aligned()) {
            let alignment = 1 << self.data.addr().trailing_zeros();
            return Err(Error::new(ErrorKind::MemoryLayout {
                reason: format!("{bytes} bytes at {alignment}-byte alignment cannot be viewed as {}", U::TYPE),
            }));
        }
        // An empty array may have any address.
        let data = if bytes == 0 { NonNull::dangling() } else { data };
        // SAFETY: the same bytes, aligned for `U`; any bits are a value of any element type (`Pod`), in both
        // directions.
        Ok(unsafe { self.alias(data, bytes / size_of::<U>(), self.access) })
    }

    /// Replaces the block by a new one of `count` zeros and releases the old share.
    ///
    /// Source: oneDAL `reset(count)`, whose new elements are uninitialized.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`]. The array is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let mut array = Array::full(5, 1.0_f32)?;
    /// array.reset_to(10)?;
    /// assert_eq!((array.len(), array.has_mutable_data(), array[9]), (10, true, 0.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn reset_to(&mut self, count: usize) -> Result<()> {
        *self = Self::zeros(count)?;
        Ok(())
    }
}

impl<T> Array<MaybeUninit<T>> {
    /// Declares that every element has been written. O(1), shares ownership, keeps mutability.
    ///
    /// # Safety
    /// Every element must hold a valid `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let mut array = Array::<u16>::uninit(3)?;
    /// for element in array.mutable_data()? {
    ///     element.write(7);
    /// }
    /// // SAFETY: the loop has written every element.
    /// assert_eq!(&unsafe { array.assume_init() }[..], [7, 7, 7]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub unsafe fn assume_init(self) -> Array<T> {
        // SAFETY: the same elements; the caller promises that they are values.
        unsafe { self.alias(self.data.cast(), self.count, self.access) }
    }
}

// A panic cannot leave an array half-changed: its fields change only by assignment of whole arrays.
impl<T: RefUnwindSafe> UnwindSafe for Array<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for Array<T> {}

/// Shares the block in O(1) without copying elements.
impl<T> Clone for Array<T> {
    fn clone(&self) -> Self {
        // SAFETY: the same window.
        unsafe { self.alias(self.data, self.count, self.access) }
    }
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T> AsRef<[T]> for Array<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<'a, T> IntoIterator for &'a Array<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Eq> Eq for Array<T> {}
