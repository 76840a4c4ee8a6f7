//! Writing into uninitialized memory, for compilers whose slices lack such methods. Arrays that grow within their
//! block.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use super::allocate::Allocation;
use super::compress::{self, Progress};
use super::construct::bytes_for;
use super::{AnyArray, Array};
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::window::{AnySliceMut, Bits};

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

/// Memory for a new array, which is filled through [`Filling`]s and then becomes the array.
pub(crate) struct NewArray {
    allocation: Allocation,
    element: ElementType,
    count: usize,
    /// The number of elements that were filled. The fillings are disjoint, so each element is counted once.
    filled: AtomicUsize,
}

impl NewArray {
    /// Allocates memory for `count` values.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    pub(crate) fn new(element: ElementType, count: usize) -> Result<Self> {
        let bytes = match_element!(element, T => bytes_for::<T>(count)?);
        Ok(Self { allocation: Allocation::uninit(bytes)?, element, count, filled: AtomicUsize::new(0) })
    }

    pub(crate) fn element_type(&self) -> ElementType {
        self.element
    }

    /// Begins to fill the memory with the bits of values. Panics if the width differs; callers have checked.
    pub(crate) fn filling<B: Bits>(&mut self) -> Filling<'_, B> {
        assert_eq!(self.element.size_in_bytes(), size_of::<B>(), "the width");
        *self.filled.get_mut() = 0; // an earlier filling has ended, and does not count
        let start = self.allocation.data().cast::<MaybeUninit<B>>();
        // SAFETY: the allocation has the bytes of `count` elements of this width, aligned to a cache line; `&mut self`
        // proves that nothing else points there; and `MaybeUninit` may hold anything.
        let room = unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.count) };
        Filling { room, done: 0, filled: &self.filled }
    }

    /// Returns the array. Panics if not all of it was filled: callers have copied a value to every place.
    pub(crate) fn finish(mut self) -> AnyArray {
        assert_eq!(*self.filled.get_mut(), self.count, "every element is filled");
        match_element!(self.element, T => {
            // SAFETY: the allocation has the bytes of `count` elements. All are initialized: that number was counted,
            // each element at most once, and any bits are a value of an element type (`Pod`).
            AnyArray::new(unsafe { Array::<T>::from_allocation(self.allocation, self.count) })
        })
    }
}

/// A part of a [`NewArray`] that is filled from front to back.
///
/// Invariant: the first `done` elements of `room` are initialized, and no other filling has any of `room`.
pub(crate) struct Filling<'a, B> {
    room: &'a mut [MaybeUninit<B>],
    done: usize,
    filled: &'a AtomicUsize,
}

impl<'a, B: Bits> Filling<'a, B> {
    /// Splits off the first `count` elements. Panics if there are fewer, or if filling has begun; callers have checked.
    pub(crate) fn take(&mut self, count: usize) -> Self {
        assert_eq!(self.done, 0, "a part is taken before it is filled");
        let (head, tail) = std::mem::take(&mut self.room).split_at_mut(count);
        self.room = tail;
        Self { room: head, done: 0, filled: self.filled }
    }

    /// Adds a copy of values. Panics if they do not fit; callers have checked.
    pub(crate) fn add(&mut self, values: &[B]) {
        write_copy(&mut self.room[self.done..self.done + values.len()], values);
        self.done += values.len();
    }

    /// Adds copies of the rows with the given numbers, of `COLUMNS` values each, until the room is full.
    ///
    /// # Errors
    /// The number of a row that does not exist.
    #[inline]
    pub(crate) fn add_rows<const COLUMNS: usize>(
        &mut self,
        from: &[B],
        rows: impl Iterator<Item = usize>,
    ) -> Result<(), usize> {
        let from = from.as_chunks::<COLUMNS>().0;
        let room = self.room.get_mut(self.done..).unwrap_or_default();
        let mut count = 0;
        for (row, to) in rows.zip(room.as_chunks_mut::<COLUMNS>().0) {
            *to = from.get(row).ok_or(row)?.map(MaybeUninit::new);
            count += COLUMNS;
        }
        self.done += count; // these are written; after an error, those before it do not count
        Ok(())
    }

    /// Adds the values whose flags are set, as long as there is room, by vector instructions if `by_vectors` is set and
    /// the processor has them. Otherwise without a branch per value, since half of the predictions would be wrong.
    pub(crate) fn compress(&mut self, values: &[B], flags: &[bool], by_vectors: bool) {
        const STEP: usize = 8;
        let room = self.room.get_mut(self.done..).unwrap_or_default();
        let compressed = if by_vectors { compress::by_vectors(values, flags, room) } else { Progress::default() };
        self.done += compressed.written;
        let (values, flags) = (&values[compressed.read..], &flags[compressed.read..]);
        let ((steps, rest), (flags, flags_of_rest)) = (values.as_chunks::<STEP>(), flags.as_chunks::<STEP>());
        for (values, flags) in steps.iter().zip(flags) {
            if *flags == [false; STEP] {
                continue;
            }
            match self.room.get_mut(self.done..).and_then(<[_]>::first_chunk_mut::<STEP>) {
                Some(room) => {
                    let mut count = 0;
                    for (&value, &is_wanted) in values.iter().zip(flags) {
                        room[count % STEP] = MaybeUninit::new(value); // a later value overwrites an unwanted one
                        count += usize::from(is_wanted);
                    }
                    self.done += count; // the places before `count` were written before it passed them
                }
                None => self.compress_few(values, flags),
            }
        }
        self.compress_few(rest, flags_of_rest);
    }

    fn compress_few(&mut self, values: &[B], flags: &[bool]) {
        for (value, _) in values.iter().zip(flags).filter(|(_, is_wanted)| **is_wanted) {
            if let Some(place) = self.room.get_mut(self.done) {
                *place = MaybeUninit::new(*value);
                self.done += 1;
            }
        }
    }
}

impl<B> Drop for Filling<'_, B> {
    fn drop(&mut self) {
        self.filled.fetch_add(self.done, Ordering::Relaxed); // threads are joined before it is read
    }
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
            fence(Ordering::Acquire); // as in `mutable_data`: this is the only owner
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
        fence(Ordering::Acquire); // as in `mutable_data`: this is the only owner
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
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_new_array_is_filled_in_parts_and_finished_when_all_of_it_is_filled() {
        for by_vectors in [false, true] {
            let mut new = NewArray::new(ElementType::F32, 30).unwrap();
            let from: Vec<u32> = (0..40).map(|index| (index as f32).to_bits()).collect();
            let flags: Vec<bool> = (0..40).map(|index| index % 3 == 1 || index > 28).collect();
            let kept: Vec<f32> = (0..40).filter(|&index| flags[index]).map(|index| index as f32).collect();
            let mut all = new.filling::<u32>();
            let (mut copied, mut taken, mut compressed) = (all.take(4), all.take(6), all);
            compressed.compress(&from, &flags, by_vectors);
            copied.add(&from[..1]);
            copied.add(&from[7..10]);
            assert_eq!(taken.add_rows::<2>(&from, [3, 0].into_iter()), Ok(()));
            assert_eq!(taken.add_rows::<2>(&from, [19, 20].into_iter()), Ok(())); // there is room for one
            drop((copied, taken, compressed));
            let array = new.finish().downcast::<f32>().unwrap();
            assert_eq!(array[..10], [0.0, 7.0, 8.0, 9.0, 6.0, 7.0, 0.0, 1.0, 38.0, 39.0]);
            assert_eq!(array[10..], kept[..20]);
        }
        assert_eq!(NewArray::new(ElementType::U8, 0).unwrap().finish().len(), 0);
        assert!(NewArray::new(ElementType::F64, usize::MAX).is_err());
    }

    #[test]
    fn a_new_array_that_is_not_filled_is_not_finished() {
        let half = || {
            let mut new = NewArray::new(ElementType::I16, 8).unwrap();
            for _ in 0..2 {
                let mut filling = new.filling::<u16>();
                assert_eq!(filling.add_rows::<1>(&[1, 2], [0, 1, 5].into_iter()), Err(5));
                filling.add(&[1; 4]); // the same places again
            }
            new.finish()
        };
        assert!(catch_unwind(AssertUnwindSafe(half)).is_err());
    }

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
