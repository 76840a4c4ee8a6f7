//! New arrays: memory that is filled from front to back, in disjoint parts, on any thread. `flagged` adds flagged rows.

mod flagged;

pub(crate) use flagged::{MASK_ROWS, mask_words};

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::allocate::Allocation;
use super::construct::bytes_for;
use super::uninit::write_copy;
use super::{AnyArray, Array};
use crate::base::cache::{BEYOND_CACHES, FIRST_LEVEL, LINE, prefetch};
use crate::base::element::{ElementType, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::window::Bits;

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
        Filling { bytes_of_all: size_of_val(room), room, done: 0, filled: &self.filled }
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
    /// The size of the entire array.
    bytes_of_all: usize,
    filled: &'a AtomicUsize,
}

impl<'a, B: Bits> Filling<'a, B> {
    /// Splits off the first `count` elements. Panics if there are fewer, or if filling has begun; callers have checked.
    pub(crate) fn take(&mut self, count: usize) -> Self {
        assert_eq!(self.done, 0, "a part is taken before it is filled");
        let (head, tail) = std::mem::take(&mut self.room).split_at_mut(count);
        self.room = tail;
        Self { room: head, done: 0, bytes_of_all: self.bytes_of_all, filled: self.filled }
    }

    /// Adds a copy of values. Panics if they do not fit; callers have checked.
    pub(crate) fn add(&mut self, values: &[B]) {
        write_copy(&mut self.room[self.done..self.done + values.len()], values);
        self.done += values.len();
    }

    /// Adds copies of the rows with the given numbers, of `columns` values each, until the room is full.
    ///
    /// # Errors
    /// The number of a row that does not exist.
    #[inline]
    pub(crate) fn add_rows(
        &mut self,
        from: &[B],
        columns: usize,
        rows: impl Iterator<Item = usize> + Clone,
    ) -> Result<(), usize> {
        let room = self.room.get_mut(self.done..).unwrap_or_default();
        self.done += copy_rows(room, from, columns, rows)?; // these are written; after an error, none of them counts
        Ok(())
    }
}

impl<B> Drop for Filling<'_, B> {
    fn drop(&mut self) {
        self.filled.fetch_add(self.done, Ordering::Relaxed); // threads are joined before it is read
    }
}

/// The number of rows from one that is copied to the one that is requested from memory meanwhile.
const AHEAD: usize = 16;

/// Copies the rows with the given numbers to the front of the room, until it is full. Returns the number of values
/// written there.
///
/// # Errors
/// The number of a row that does not exist.
#[inline]
fn copy_rows<B: Bits>(
    room: &mut [MaybeUninit<B>],
    from: &[B],
    columns: usize,
    rows: impl Iterator<Item = usize> + Clone,
) -> Result<usize, usize> {
    match columns {
        1 => copy_rows_of::<B, 1>(room, from, rows),
        2 => copy_rows_of::<B, 2>(room, from, rows),
        3 => copy_rows_of::<B, 3>(room, from, rows),
        4 => copy_rows_of::<B, 4>(room, from, rows),
        8 => copy_rows_of::<B, 8>(room, from, rows),
        16 => copy_rows_of::<B, 16>(room, from, rows),
        _ => {
            let (mut count, mut later) = (0, rows.clone().skip(AHEAD));
            for row in rows {
                let Some(place) = room.get_mut(count..).and_then(|room| room.get_mut(..columns)) else { break };
                let start = row.checked_mul(columns).and_then(|start| from.get(start..));
                let Some(values) = start.and_then(|from| from.get(..columns)) else { return Err(row) };
                request_row(from, columns, row, &mut later);
                write_copy(place, values);
                count += columns;
            }
            Ok(count)
        }
    }
}

#[inline]
fn copy_rows_of<B: Bits, const COLUMNS: usize>(
    room: &mut [MaybeUninit<B>],
    from: &[B],
    rows: impl Iterator<Item = usize> + Clone,
) -> Result<usize, usize> {
    let (mut count, mut later) = (0, rows.clone().skip(AHEAD));
    let chunks = from.as_chunks::<COLUMNS>().0;
    for (row, to) in rows.zip(room.as_chunks_mut::<COLUMNS>().0) {
        let values = chunks.get(row).ok_or(row)?;
        request_row(from, COLUMNS, row, &mut later);
        write_copy(to, values); // `map` is a call for each row under some profiles
        count += COLUMNS;
    }
    Ok(count)
}

/// Requests the next of the rows that are copied later. Skips rows shorter than a line, because the processor copies
/// many of them at a time, and all rows of memory that a cache holds. Skips a row close behind the one that is copied
/// now: the processor fetches memory in order by itself.
#[inline(always)]
fn request_row<B>(from: &[B], columns: usize, now: usize, later: &mut impl Iterator<Item = usize>) {
    /// The largest number of bytes that are requested. The processor fetches the rest of a longer row in order.
    const MOST: usize = 4 * LINE;
    let bytes = columns.saturating_mul(size_of::<B>());
    if bytes < LINE || size_of_val(from) < BEYOND_CACHES {
        return;
    }
    let Some(row) = later.next().filter(|later| later.wrapping_sub(now) > 2 * AHEAD) else { return };
    let start = from.as_ptr().wrapping_add(row.wrapping_mul(columns)).cast::<u8>(); // the row may not exist
    let before = start.addr() % LINE;
    prefetch::<FIRST_LEVEL>(start.wrapping_sub(before), before + bytes.min(MOST));
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::flagged::tests::mask;
    use super::*;
    use crate::array::Vectors;

    #[test]
    fn a_new_array_is_filled_in_parts_and_finished_when_all_of_it_is_filled() {
        for vectors in [Vectors::None, Vectors::Avx2, Vectors::Avx512, Vectors::Avx512InOrder] {
            let mut new = NewArray::new(ElementType::F32, 30).unwrap();
            let from: Vec<u32> = (0..40).map(|index| (index as f32).to_bits()).collect();
            let flags: Vec<bool> = (0..40).map(|index| index % 3 == 1 || index > 28).collect();
            let kept: Vec<f32> = (0..40).filter(|&index| flags[index]).map(|index| index as f32).collect();
            let mut all = new.filling::<u32>();
            let (mut copied, mut taken, mut compressed) = (all.take(4), all.take(6), all);
            compressed.add_masked(&from, 1, &mask(&flags), vectors);
            copied.add(&from[..1]);
            copied.add(&from[7..10]);
            assert_eq!(taken.add_rows(&from, 2, [3, 0].into_iter()), Ok(()));
            assert_eq!(taken.add_rows(&from, 2, [19, 20].into_iter()), Ok(())); // there is room for one
            drop((copied, taken, compressed));
            let array = new.finish().downcast::<f32>().unwrap();
            assert_eq!(array[..10], [0.0, 7.0, 8.0, 9.0, 6.0, 7.0, 0.0, 1.0, 38.0, 39.0]);
            assert_eq!(array[10..], kept[..20]);
        }
        assert_eq!(NewArray::new(ElementType::U8, 0).unwrap().finish().len(), 0);
        assert!(NewArray::new(ElementType::F64, usize::MAX).is_err());
    }

    #[test]
    fn rows_far_apart_are_requested_before_they_are_copied_and_found_missing_only_then() {
        for columns in [3, 8, 16, 37, 100] {
            let all: Vec<u64> = (0..1100 * columns as u64).collect();
            let rows: Vec<usize> = (0..100).map(|place| place * 67 % 990).collect();
            for skipped in 0..8 {
                let from = &all[skipped..]; // at every distance from a line
                let taken = rows.iter().flat_map(|row| &from[row * columns..(row + 1) * columns]);
                let expected: Vec<f64> = taken.map(|&bits| f64::from_bits(bits)).collect();
                let mut new = NewArray::new(ElementType::F64, expected.len()).unwrap();
                let missing = [4, usize::MAX, 5].into_iter();
                assert_eq!(
                    new.filling().add_rows(from, columns, rows[..40].iter().copied().chain(missing)),
                    Err(usize::MAX)
                );
                assert_eq!(new.filling().add_rows(from, columns, rows.iter().copied()), Ok(()));
                let found = new.finish().downcast::<f64>().unwrap();
                assert!(found.iter().map(|value| value.to_bits()).eq(expected.iter().map(|value| value.to_bits())));
            }
        }
    }

    #[test]
    fn a_new_array_that_is_not_filled_is_not_finished() {
        let half = || {
            let mut new = NewArray::new(ElementType::I16, 8).unwrap();
            for _ in 0..2 {
                let mut filling = new.filling::<u16>();
                assert_eq!(filling.add_rows(&[1, 2], 1, [0, 1, 5].into_iter()), Err(5));
                filling.add(&[1; 4]); // the same places again
            }
            new.finish()
        };
        assert!(catch_unwind(AssertUnwindSafe(half)).is_err());
    }
}
