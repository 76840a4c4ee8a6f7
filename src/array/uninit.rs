//! Writing into uninitialized memory, for compilers whose slices lack such methods. Arrays that grow within their
//! block.

use std::mem::MaybeUninit;

use super::{AnyArray, Array};
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::window::AnySliceMut;

/// Asserts that every element has been written.
///
/// # Safety
/// Every element must have been written.
pub(crate) unsafe fn assume_init_mut<T>(target: &mut [MaybeUninit<T>]) -> &mut [T] {
    let target: *mut [MaybeUninit<T>] = target;
    // SAFETY: `MaybeUninit<T>` has the layout of `T`; the caller promises that the elements are initialized; the borrow
    // passes from the argument to the result.
    unsafe { &mut *(target as *mut [T]) }
}

/// Copies values into uninitialized memory and returns it initialized. Panics if the lengths differ; callers have
/// checked them.
pub(crate) fn write_copy<'t, T: Copy>(target: &'t mut [MaybeUninit<T>], values: &[T]) -> &'t mut [T] {
    assert_eq!(target.len(), values.len(), "as many values as elements");
    // SAFETY: both are `values.len()` elements long, and a mutable borrow overlaps with no other; the copy writes every
    // element.
    unsafe {
        std::ptr::copy_nonoverlapping(values.as_ptr(), target.as_mut_ptr().cast::<T>(), values.len());
        assume_init_mut(target)
    }
}

/// Appends a copy of bytes. Large copies use several threads, which then also touch the pages of a new vector first.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`]. The vector is unchanged.
pub(crate) fn append_copy(target: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    target.try_reserve(bytes.len()).map_err(|_| Error::out_of_memory(bytes.len()))?;
    let room = &mut target.spare_capacity_mut()[..bytes.len()];
    parallel::for_each_chunk_mut(room, &|offset, chunk| {
        write_copy(chunk, &bytes[offset..offset + chunk.len()]);
    });
    // SAFETY: `room` begins where the vector ends, and is `bytes.len()` bytes of its capacity; the chunks together are
    // all of it, and `write_copy` has written each.
    unsafe { target.set_len(target.len() + bytes.len()) };
    Ok(())
}

/// Arrays that grow. A block that the library allocated may be larger than its only array, because more memory was
/// reserved or because the array was shortened.
impl<T> Array<T> {
    /// Returns the number of values that can be added without a copy.
    fn room(&self) -> usize {
        match &self.block {
            Some(block) if self.has_mutable_data() => {
                let bytes = block.bytes_from(self.data.addr().get() + self.size_in_bytes());
                bytes.checked_div(size_of::<T>()).unwrap_or(0)
            }
            _ => 0,
        }
    }
}

impl Array<MaybeUninit<u8>> {
    /// Adds zero bytes at the end if there is room for them. Returns whether there was.
    pub(crate) fn append_zero_bytes(&mut self, additional: usize) -> bool {
        if additional > self.room() {
            return false;
        }
        let count = self.len();
        if additional > 0 {
            self.follow_other_owners(); // as in `mutable_data`: this is the only owner
            // SAFETY: `room` says that this array is mutable, and the only owner of a block of the library's, which has
            // `additional` bytes after the last one; so nothing else points there, and `data` may, as it was made for
            // the whole block. `&mut self` proves that nothing borrows from the array.
            let new = unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr().add(count), additional) };
            new.fill(MaybeUninit::new(0));
            self.count = count + additional; // bytes of any kind are values of this type
        }
        true
    }
}

impl<T: Element> Array<T> {
    /// Makes room for more values, for at least half the current number, so that appending one by one is amortized.
    /// Copies shared or immutable memory, and memory that the library did not allocate.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`]. The array is unchanged.
    pub(crate) fn reserve(&mut self, additional: usize) -> Result<()> {
        if let Some(copy) = self.with_room(additional)? {
            *self = copy;
        }
        Ok(())
    }

    /// Returns the copy that [`reserve`](Self::reserve) needs; `None` if there is room.
    ///
    /// # Errors
    /// Those of [`reserve`](Self::reserve).
    pub(crate) fn with_room(&self, additional: usize) -> Result<Option<Self>> {
        if additional <= self.room() {
            return Ok(None);
        }
        let too_large = || {
            Error::new(ErrorKind::SizeOverflow {
                shape: Shape { rows: usize::MAX, columns: 1 },
                element: Some(T::TYPE),
            })
        };
        let wanted = self.len().checked_add(additional).ok_or_else(too_large)?;
        // There may be room for what is wanted, and not for more.
        let grown = wanted.max(self.len().saturating_add(self.len() / 2));
        let mut new = Self::zeros(grown).or_else(|_| Self::zeros(wanted))?;
        let old = self.as_slice();
        parallel::for_each_chunk_mut(&mut new.mutable_data()?[..old.len()], &|offset, chunk| {
            chunk.copy_from_slice(&old[offset..offset + chunk.len()]);
        });
        trace::record(CopyKind::Grown, size_of_val(old));
        Ok(Some(new.part(0..old.len()))) // the only one, as soon as `new` is dropped
    }

    /// Adds zeros at the end and borrows them for writing. Amortized O(values added).
    ///
    /// # Errors
    /// Those of [`reserve`](Self::reserve).
    pub(crate) fn append_zeros(&mut self, additional: usize) -> Result<&mut [T]> {
        self.reserve(additional)?;
        let count = self.len();
        if additional == 0 {
            return Ok(&mut []);
        }
        self.follow_other_owners(); // as in `mutable_data`: this is the only owner
        // SAFETY: after `reserve` this array is mutable, the only owner of a block of the library's, and that has bytes
        // for `additional` values after the last one; so nothing else points there, and `data` may, as it was made for
        // the whole block. `&mut self` proves that nothing borrows from the array.
        let new = unsafe {
            let end = self.data.as_ptr().add(count).cast::<MaybeUninit<T>>();
            std::slice::from_raw_parts_mut(end, additional)
        };
        new.fill(MaybeUninit::new(T::default()));
        self.count = count + additional; // all of which are initialized now
        Ok(&mut self.mutable_data()?[count..])
    }
}

impl AnyArray {
    /// Makes room for more values, as [`Array::reserve`] does.
    ///
    /// # Errors
    /// Those of [`Array::reserve`].
    pub(crate) fn reserve(&mut self, additional: usize) -> Result<()> {
        match_element!(self.element_type(), T => match self.downcast_mut::<T>() {
            Some(array) => array.reserve(additional),
            None => Ok(()), // never: `T` is its type
        })
    }

    /// Returns the copy that [`reserve`](Self::reserve) needs; `None` if there is room.
    ///
    /// # Errors
    /// Those of [`Array::reserve`].
    pub(crate) fn with_room(&self, additional: usize) -> Result<Option<Self>> {
        match_element!(self.element_type(), T => match self.downcast_ref::<T>() {
            Some(array) => Ok(array.with_room(additional)?.map(Self::new)),
            None => Ok(None), // never: `T` is its type
        })
    }

    /// Adds zeros at the end and borrows them for writing. Amortized O(values added).
    ///
    /// # Errors
    /// Those of [`Array::reserve`].
    pub(crate) fn append_zeros(&mut self, additional: usize) -> Result<AnySliceMut<'_>> {
        match_element!(self.element_type(), T => match self.downcast_mut::<T>() {
            Some(array) => array.append_zeros(additional).map(AnySliceMut::new),
            None => Ok(AnySliceMut::new::<T>(&mut [])), // never: `T` is its type
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_grows_in_its_block_and_leaves_shares_alone() {
        let mut array = Array::from(vec![1_u16, 2]);
        array.append_zeros(1).unwrap()[0] = 3;
        array.reserve(5).unwrap();
        let address = array.as_ptr();
        for value in 4..9 {
            array.append_zeros(1).unwrap()[0] = value;
        }
        assert_eq!((&array[..], array.as_ptr()), (&[1, 2, 3, 4, 5, 6, 7, 8][..], address));
        let share = array.clone();
        array.append_zeros(1).unwrap()[0] = 9;
        assert_eq!((share[..] == [1, 2, 3, 4, 5, 6, 7, 8], array[8]), (true, 9));
        assert!(!array.shares_memory_with(&share));
        drop(array);
        let mut cut = share.slice(2..4).unwrap();
        cut.append_zeros(1).unwrap();
        assert_eq!((&cut[..], share[4]), (&[3, 4, 0][..], 5)); // another array has what follows
        let mut cut = share.slice(2..4).unwrap();
        drop(share);
        let address = cut.as_ptr();
        assert_eq!(cut.append_zeros(2).unwrap(), [0, 0]); // what was there is gone
        assert_eq!((&cut[..], cut.as_ptr()), (&[3, 4, 0, 0][..], address));
        assert!(cut.reserve(usize::MAX).is_err() && cut.reserve(usize::MAX / 4).is_err());
        assert_eq!(cut[..], [3, 4, 0, 0]);
    }

    #[test]
    fn any_array_grows_from_nothing() {
        let mut any = AnyArray::default();
        assert_eq!(any.append_zeros(0).unwrap().len(), 0);
        any.append_zeros(2).unwrap().downcast::<f32>().unwrap().copy_from_slice(&[1.5, 2.5]);
        assert_eq!(any.as_slice().downcast::<f32>(), Some(&[1.5, 2.5][..]));
        let mut lent = Array::from_owner(vec![1_i8, 2]);
        lent.append_zeros(1).unwrap()[0] = 7;
        assert_eq!(lent[..], [1, 2, 7]);
    }
}
