//! Slices whose element type is known only at run time: an [`ElementType`], a pointer and a length.
//!
//! `new` erases a type. `downcast` compares one byte and restores it. Neither touches the values. Code that uses such
//! slices is compiled once, in this crate, instead of once per type in each crate that uses it.
//!
//! Invariant: `start` and `count` are those of a slice of the Rust type of `element`, borrowed for `'a`.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::base::cache::{LINE, prefetch};
use crate::base::element::{Element, ElementType, match_element, match_width};

/// A borrowed slice of any element type: a `&[T]` whose `T` is known only at run time.
///
/// # Examples
/// ```
/// use numeric_table::array::AnySlice;
/// let any = AnySlice::new(&[1.5_f32, 2.5]);
/// assert_eq!(any.downcast::<f32>(), Some(&[1.5_f32, 2.5][..]));
/// assert_eq!(any.downcast::<f64>(), None);
/// ```
#[derive(Clone, Copy)]
pub struct AnySlice<'a> {
    start: *const u8,
    count: usize,
    element: ElementType,
    borrow: PhantomData<&'a [u8]>,
}

/// A mutably borrowed slice of any element type: a `&mut [T]` whose `T` is known only at run time.
///
/// # Examples
/// ```
/// use numeric_table::array::AnySliceMut;
/// let mut values = [1_u8, 2];
/// AnySliceMut::new(&mut values).downcast::<u8>().unwrap()[0] = 7;
/// assert_eq!(values, [7, 2]);
/// ```
pub struct AnySliceMut<'a> {
    start: *mut u8,
    count: usize,
    element: ElementType,
    borrow: PhantomData<&'a mut [u8]>,
}

/// Uninitialized memory for values of any element type: a `&mut [MaybeUninit<T>]`. Nothing is ever read through it.
pub(crate) struct AnyRoom<'a> {
    start: *mut u8,
    count: usize,
    element: ElementType,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: a `&[T]`, and every element type is `Sync`.
unsafe impl Send for AnySlice<'_> {}
// SAFETY: as above.
unsafe impl Sync for AnySlice<'_> {}
// SAFETY: a `&mut [T]`, and every element type is `Send`.
unsafe impl Send for AnySliceMut<'_> {}
// SAFETY: `&AnySliceMut` lends an `AnySlice` only, and every element type is `Sync`.
unsafe impl Sync for AnySliceMut<'_> {}
// SAFETY: a `&mut [MaybeUninit<T>]`, and every element type is `Send`.
unsafe impl Send for AnyRoom<'_> {}

/// An integer with the width and alignment of the elements whose bits it can hold.
pub(crate) trait Bits: bytemuck::Pod + Default + PartialEq + Send + Sync {}

impl Bits for u8 {}
impl Bits for u16 {}
impl Bits for i32 {}
impl Bits for u32 {}
impl Bits for u64 {}

impl<'a> AnySlice<'a> {
    /// Erases the element type of a slice.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, array::AnySlice};
    /// let values = vec![1_i8, -2, 3];
    /// assert_eq!(AnySlice::new(&values).element_type(), ElementType::I8);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new<T: Element>(values: &'a [T]) -> Self {
        Self { start: values.as_ptr().cast(), count: values.len(), element: T::TYPE, borrow: PhantomData }
    }

    /// Returns the slice if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::AnySlice;
    /// let any = AnySlice::new(&[1_i8, -2, 3]);
    /// assert_eq!(any.downcast::<i8>(), Some(&[1_i8, -2, 3][..]));
    /// assert_eq!(any.downcast::<u8>(), None); // same size, different type
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn downcast<T: Element>(self) -> Option<&'a [T]> {
        // SAFETY: `Element` is sealed and `TYPE` differs from type to type, so that the slice is one of `T`
        // (invariant).
        (T::TYPE == self.element).then(|| unsafe { std::slice::from_raw_parts(self.start.cast(), self.count) })
    }

    /// Returns the element type of the values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, array::AnySlice};
    /// assert_eq!(AnySlice::new(&[1_i16, 2, 3]).element_type(), ElementType::I16);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Returns the number of values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::AnySlice;
    /// assert_eq!(AnySlice::new(&[1_i16, 2, 3]).len(), 3); // values, not bytes
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the slice is empty.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::AnySlice;
    /// assert!(AnySlice::new::<f32>(&[]).is_empty());
    /// assert!(!AnySlice::new(&[0.0_f32]).is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// # Safety
    /// `start` and `count` must be those of a slice of the Rust type of `element` that is borrowed for `'a`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn from_raw_parts(start: *const u8, count: usize, element: ElementType) -> Self {
        Self { start, count, element, borrow: PhantomData }
    }

    /// Returns the address of the first value, which is valid for reads of `len` values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.start
    }

    /// Returns the values as a slice of their type. Panics if the type is a different one.
    pub(crate) fn as_slice<T: Element>(&self) -> &'a [T] {
        match self.downcast() {
            Some(values) => values,
            None => unreachable!("{} values are not {}", self.element, T::TYPE),
        }
    }

    /// Returns the values as integers of their width. Panics if the width differs; callers have checked.
    pub(crate) fn bits<B: Bits>(self) -> &'a [B] {
        assert_eq!(self.element.size_in_bytes(), size_of::<B>(), "the width");
        // SAFETY: elements of that width, aligned as the integers are; any bits of an element are an integer.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.count) }
    }

    /// Returns the bytes of the values.
    pub(crate) fn bytes(self) -> &'a [u8] {
        match_width!(self.element, B => bytemuck::cast_slice(self.bits::<B>()))
    }

    /// Returns integers as elements of their width. Panics if the width differs; callers have checked.
    pub(crate) fn of_bits<B: Bits>(bits: &'a [B], element: ElementType) -> Self {
        assert_eq!(element.size_in_bytes(), size_of::<B>(), "the width");
        // Any bits are an element of any type (`Pod`), and the integers are aligned as elements are.
        Self { start: bits.as_ptr().cast(), count: bits.len(), element, borrow: PhantomData }
    }

    /// Cuts out a part. Panics if it is out of range; callers have checked.
    #[inline]
    pub(crate) fn range(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.count, "the part is inside");
        // SAFETY: the part begins inside, or one past the end.
        let start = unsafe { self.start.add(range.start * self.element.size_in_bytes()) };
        Self { start, count: range.len(), ..self }
    }

    /// Asks the processor to fetch some values into a cache, as far as they are inside. Does not wait.
    #[inline(always)]
    pub(crate) fn fetch<const LEVEL: i32>(self, range: Range<usize>) {
        let end = range.end.min(self.count);
        if range.start < end {
            let size = self.element.size_in_bytes();
            let start = self.start.wrapping_add(range.start * size);
            let skipped = start.addr() % LINE;
            prefetch::<LEVEL>(start.wrapping_sub(skipped), (end - range.start) * size + skipped);
        }
    }
}

impl<'a> AnySliceMut<'a> {
    /// Erases the element type of a slice.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, array::AnySliceMut};
    /// let mut values = vec![1_u32, 2, 3];
    /// assert_eq!(AnySliceMut::new(&mut values).element_type(), ElementType::U32);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new<T: Element>(values: &'a mut [T]) -> Self {
        Self { start: values.as_mut_ptr().cast(), count: values.len(), element: T::TYPE, borrow: PhantomData }
    }

    /// Returns the slice if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::AnySliceMut;
    /// let mut values = [1_u32, 2, 3];
    /// assert!(AnySliceMut::new(&mut values).downcast::<i32>().is_none());
    /// AnySliceMut::new(&mut values).downcast::<u32>().unwrap()[2] = 30;
    /// assert_eq!(values, [1, 2, 30]);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn downcast<T: Element>(self) -> Option<&'a mut [T]> {
        // SAFETY: as in `AnySlice::downcast`; this borrow of the slice is consumed.
        (T::TYPE == self.element).then(|| unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.count) })
    }

    /// Returns the element type of the values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, array::AnySliceMut};
    /// assert_eq!(AnySliceMut::new(&mut [1_u64, 2]).element_type(), ElementType::U64);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Returns the number of values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::AnySliceMut;
    /// assert_eq!(AnySliceMut::new(&mut [1_u64, 2, 3]).len(), 3); // values, not bytes
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns whether the slice is empty.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::array::AnySliceMut;
    /// assert!(AnySliceMut::new::<f32>(&mut []).is_empty());
    /// assert!(!AnySliceMut::new(&mut [0.0_f32]).is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// # Safety
    /// `start` and `count` must be those of a slice of the type of `element`, mutably borrowed for `'a`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn from_raw_parts(start: *mut u8, count: usize, element: ElementType) -> Self {
        Self { start, count, element, borrow: PhantomData }
    }

    /// Borrows the values for reading.
    pub(crate) fn as_slice(&self) -> AnySlice<'_> {
        AnySlice { start: self.start, count: self.count, element: self.element, borrow: PhantomData }
    }

    /// Returns the values as integers of their width. Panics if the width differs; callers have checked.
    pub(crate) fn into_bits<B: Bits>(self) -> &'a mut [B] {
        assert_eq!(self.element.size_in_bytes(), size_of::<B>(), "the width");
        // SAFETY: elements of that width, aligned as the integers are; any bits of an element are an integer, and any
        // bits of an integer an element (`Pod`). This borrow of the slice is consumed.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.count) }
    }

    /// Returns the bytes of the values.
    pub(crate) fn into_bytes(self) -> &'a mut [u8] {
        match_width!(self.element, B => bytemuck::cast_slice_mut(self.into_bits::<B>()))
    }

    /// Returns integers as elements of their width. Panics if the width differs; callers have checked.
    pub(crate) fn of_bits<B: Bits>(bits: &'a mut [B], element: ElementType) -> Self {
        assert_eq!(element.size_in_bytes(), size_of::<B>(), "the width");
        // As in `AnySlice::of_bits`: any element that is written leaves bits that are an integer.
        Self { start: bits.as_mut_ptr().cast(), count: bits.len(), element, borrow: PhantomData }
    }

    /// Cuts out a part. Panics if it is out of range; callers have checked.
    pub(crate) fn range(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.count, "the part is inside");
        // SAFETY: the part begins inside, or one past the end; this borrow of the slice is consumed.
        let start = unsafe { self.start.add(range.start * self.element.size_in_bytes()) };
        Self { start, count: range.len(), ..self }
    }

    /// Returns the first values and the rest. Panics if there are fewer; callers have checked.
    pub(crate) fn split_at(self, count: usize) -> (Self, Self) {
        assert!(count <= self.count, "the values are there");
        // SAFETY: the rest begins inside, or one past the end; this borrow of the slice is consumed, and its two parts
        // have nothing in common.
        let rest = unsafe { self.start.add(count * self.element.size_in_bytes()) };
        (Self { count, ..self }, Self { start: rest, count: self.count - count, ..self })
    }

    /// Cuts the values into pieces of `length` values. The last piece may be shorter. Returns each piece with the index
    /// of its first value.
    pub(crate) fn pieces(self, length: usize) -> impl Iterator<Item = (usize, AnySliceMut<'a>)> {
        let (length, mut rest, mut at) = (length.max(1), Some(self), 0);
        std::iter::from_fn(move || {
            let values = rest.take().filter(|rest| !rest.is_empty())?;
            let count = values.len().min(length);
            let (piece, tail) = values.split_at(count);
            at += count;
            rest = Some(tail);
            Some((at - count, piece))
        })
    }

    /// Borrows the same values for a shorter lifetime.
    pub(crate) fn reborrow(&mut self) -> AnySliceMut<'_> {
        AnySliceMut { start: self.start, count: self.count, element: self.element, borrow: PhantomData }
    }

    /// Returns the same memory, to be overwritten with complete values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_room(self) -> AnyRoom<'a> {
        AnyRoom { start: self.start, count: self.count, element: self.element, borrow: PhantomData }
    }
}

impl fmt::Debug for AnySlice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match_element!(self.element, T => f.debug_tuple(self.element.name()).field(&self.as_slice::<T>()).finish())
    }
}

impl fmt::Debug for AnySliceMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_slice(), f)
    }
}

impl<'a> AnyRoom<'a> {
    pub(crate) fn new<T: Element>(room: &'a mut [MaybeUninit<T>]) -> Self {
        Self { start: room.as_mut_ptr().cast(), count: room.len(), element: T::TYPE, borrow: PhantomData }
    }

    /// # Safety
    /// `start` and `count` must be those of a slice of the Rust type of `element` that is mutably borrowed for `'a`.
    pub(super) unsafe fn from_raw_parts(start: *mut u8, count: usize, element: ElementType) -> Self {
        Self { start, count, element, borrow: PhantomData }
    }

    /// Returns bytes as memory for `count` values. Panics if there are too few bytes, or they are not aligned for the
    /// element type; callers have checked.
    pub(crate) fn of_bytes(bytes: &'a mut [MaybeUninit<u8>], element: ElementType, count: usize) -> Self {
        let start = bytes.as_mut_ptr().cast::<u8>();
        let fits = count.checked_mul(element.size_in_bytes()).is_some_and(|needed| needed <= bytes.len());
        assert!(fits && start.addr().is_multiple_of(element.size_in_bytes()), "the values fit, aligned");
        Self { start, count, element, borrow: PhantomData }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn element_type(&self) -> ElementType {
        self.element
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.count * self.element.size_in_bytes() // cannot overflow: the memory exists
    }

    /// Returns the number of bytes from the first value to the next multiple of `alignment`, a power of two.
    pub(crate) fn bytes_to_boundary(&self, alignment: usize) -> usize {
        self.start.addr().wrapping_neg() & (alignment - 1)
    }

    /// Returns the address of the first value, which is valid for writes of `len` values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }

    pub(crate) fn reborrow(&mut self) -> AnyRoom<'_> {
        AnyRoom { ..*self }
    }

    /// Declares that every value has been written.
    ///
    /// # Safety
    /// Every value must have been written.
    pub(crate) unsafe fn assume_init(self) -> AnySlice<'a> {
        AnySlice { start: self.start, count: self.count, element: self.element, borrow: PhantomData }
    }

    /// Splits the memory after `count` values. Panics if there are fewer; callers have checked.
    pub(crate) fn split_at(self, count: usize) -> (Self, Self) {
        assert!(count <= self.count, "the cut is inside");
        // SAFETY: the second part begins inside, or one past the end.
        let middle = unsafe { self.start.add(count * self.element.size_in_bytes()) };
        (Self { count, ..self }, Self { start: middle, count: self.count - count, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_of_the_same_size_is_another_type() {
        let mut values = [1_i32, -2];
        assert!(AnySlice::new(&values).downcast::<u32>().is_none());
        assert!(AnySlice::new(&values).downcast::<f32>().is_none());
        assert!(AnySliceMut::new(&mut values).downcast::<u32>().is_none());
        assert_eq!(AnySlice::new(&values).downcast::<i32>(), Some(&[1, -2][..]));
    }

    #[test]
    fn values_are_integers_of_their_width_and_back() {
        let mut values = [1.5_f32, -0.0];
        assert_eq!(AnySlice::new(&values).bits::<u32>(), [0x3FC0_0000, 0x8000_0000]);
        AnySliceMut::new(&mut values).range(1..2).into_bits::<u32>()[0] = 0x4020_0000;
        assert_eq!(values, [1.5, 2.5]);
        let mut bits = [0_u16; 2];
        AnySliceMut::of_bits(&mut bits, ElementType::I16).downcast::<i16>().unwrap()[1] = -1;
        assert_eq!(AnySlice::of_bits(&bits, ElementType::I16).downcast::<i16>(), Some(&[0, -1][..]));
    }

    #[test]
    fn slices_show_their_type_and_their_values() {
        let mut values = [1_u8, 2];
        assert_eq!(format!("{:?}", AnySlice::new(&values)), "u8([1, 2])");
        assert_eq!(format!("{:?}", AnySliceMut::new(&mut values)), "u8([1, 2])");
    }

    #[test]
    fn parts_are_cut_at_elements_not_at_bytes() {
        let values = [1.0_f64, 2.0, 3.0];
        let part = AnySlice::new(&values).range(1..3);
        assert_eq!(part.downcast::<f64>(), Some(&[2.0, 3.0][..]));
        assert!(AnySlice::new(&values).range(3..3).is_empty());
    }
}
