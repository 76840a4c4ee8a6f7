//! Slices and windows whose element type is a value: what goes over them is compiled once, not once per type.
//!
//! They are made from typed ones, keep their borrow, and only ever get smaller. What is written through an
//! [`ErasedSliceMut`] may be uninitialised before; nothing is ever read through one.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::array::{AnySliceMut, Geometry, Window};
use crate::element::{Element, ElementType};
use crate::parallel;

/// A `&[T]`, where `T` is the Rust type of `element`.
#[derive(Clone, Copy)]
pub(super) struct ErasedSlice<'a> {
    start: *const u8,
    count: usize,
    element: ElementType,
    borrow: PhantomData<&'a [u8]>,
}

/// A `&mut [MaybeUninit<T>]`, where `T` is the Rust type of `element`.
pub(super) struct ErasedSliceMut<'a> {
    start: *mut u8,
    count: usize,
    element: ElementType,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: a `&[T]`, and every element type is `Sync`.
unsafe impl Send for ErasedSlice<'_> {}
// SAFETY: as above.
unsafe impl Sync for ErasedSlice<'_> {}
// SAFETY: a `&mut [MaybeUninit<T>]`, and every element type is `Send`.
unsafe impl Send for ErasedSliceMut<'_> {}

impl<'a> ErasedSlice<'a> {
    pub(super) fn new<T: Element>(values: &'a [T]) -> Self {
        Self { start: values.as_ptr().cast(), count: values.len(), element: T::TYPE, borrow: PhantomData }
    }

    pub(super) fn element(&self) -> ElementType {
        self.element
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The address of the first element; valid for reads of `count` elements.
    pub(super) fn as_ptr(&self) -> *const u8 {
        self.start
    }

    /// Remembers the type. Panics if it is another: callers know it.
    pub(super) fn as_slice<T: Element>(&self) -> &'a [T] {
        assert_eq!(T::TYPE, self.element, "the type that was forgotten");
        // SAFETY: made from a `&'a [T]` of at least `count` elements.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.count) }
    }

    /// Cuts a part out. Panics if it is not inside: callers have checked.
    pub(super) fn range(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.count, "the part is inside");
        // SAFETY: the part begins inside, or one behind the end.
        let start = unsafe { self.start.add(range.start * self.element.size_in_bytes()) };
        Self { start, count: range.len(), ..self }
    }
}

impl<'a> ErasedSliceMut<'a> {
    pub(super) fn new<T: Element>(room: &'a mut [MaybeUninit<T>]) -> Self {
        Self { start: room.as_mut_ptr().cast(), count: room.len(), element: T::TYPE, borrow: PhantomData }
    }

    /// Lends memory that is aligned for every element type. Panics if it is not, or too small: callers know it.
    pub(super) fn scratch(bytes: &'a mut [MaybeUninit<u8>], element: ElementType, count: usize) -> Self {
        let start = bytes.as_mut_ptr().cast::<u8>();
        let fits = count.checked_mul(element.size_in_bytes()).is_some_and(|needed| needed <= bytes.len());
        assert!(fits && start.addr().is_multiple_of(element.size_in_bytes()), "the elements fit, aligned");
        Self { start, count, element, borrow: PhantomData }
    }

    /// Lends initialised elements, to be overwritten by whole elements only.
    #[inline]
    pub(super) fn over_any(mut values: AnySliceMut<'a>) -> Self {
        let (count, element) = (values.len(), values.element_type());
        Self { start: values.as_mut_ptr(), count, element, borrow: PhantomData }
    }

    /// Lends initialised elements, to be overwritten by whole elements only.
    pub(super) fn over<T: Element>(values: &'a mut [T]) -> Self {
        Self { start: values.as_mut_ptr().cast(), count: values.len(), element: T::TYPE, borrow: PhantomData }
    }

    pub(super) fn element(&self) -> ElementType {
        self.element
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.count * self.element.size_in_bytes() // cannot overflow: the elements exist
    }

    /// How many bytes behind the first element memory is aligned to `alignment`, a power of two.
    pub(super) fn bytes_to_boundary(&self, alignment: usize) -> usize {
        self.start.addr().wrapping_neg() & (alignment - 1)
    }

    /// The address of the first element; valid for writes of `count` elements.
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }

    pub(super) fn reborrow(&mut self) -> ErasedSliceMut<'_> {
        ErasedSliceMut { ..*self }
    }

    /// Declares that every element has been written.
    ///
    /// # Safety
    /// Every element must have been written.
    pub(super) unsafe fn assume_init(self) -> ErasedSlice<'a> {
        ErasedSlice { start: self.start, count: self.count, element: self.element, borrow: PhantomData }
    }

    /// Cuts in two after `count` elements. Panics if there are fewer: callers have checked.
    pub(super) fn split_at(self, count: usize) -> (Self, Self) {
        assert!(count <= self.count, "the cut is inside");
        // SAFETY: the second part begins inside, or one behind the end.
        let middle = unsafe { self.start.add(count * self.element.size_in_bytes()) };
        (Self { count, ..self }, Self { start: middle, count: self.count - count, ..self })
    }
}

/// A [`Window`] of the Rust type of `element`.
#[derive(Clone, Copy)]
pub(super) struct ErasedWindow<'a> {
    start: *const u8,
    geometry: Geometry,
    element: ElementType,
    borrow: PhantomData<&'a [u8]>,
}

/// Rows of uninitialised elements, each a slice, `row_stride` elements from one to the next.
pub(super) struct ErasedRowsMut<'a> {
    start: *mut u8,
    rows: usize,
    columns: usize,
    row_stride: usize,
    element: ElementType,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: a `Window`, and every element type is `Sync`.
unsafe impl Send for ErasedWindow<'_> {}
// SAFETY: as above.
unsafe impl Sync for ErasedWindow<'_> {}
// SAFETY: disjoint `&mut [MaybeUninit<T>]`, and every element type is `Send`.
unsafe impl Send for ErasedRowsMut<'_> {}

impl<'a> ErasedWindow<'a> {
    pub(super) fn new<T: Element>(window: Window<'a, T>) -> Self {
        let (start, geometry) = (window.as_ptr().cast(), window.geometry());
        Self { start, geometry, element: T::TYPE, borrow: PhantomData }
    }

    pub(super) fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub(super) fn rows(&self) -> usize {
        self.geometry.rows
    }

    pub(super) fn columns(&self) -> usize {
        self.geometry.columns
    }

    pub(super) fn element(&self) -> ElementType {
        self.element
    }

    /// Sees values as dense rows. Panics if there are not as many as positions: callers have checked.
    pub(super) fn of_rows(values: ErasedSlice<'a>, rows: usize, columns: usize) -> Self {
        assert_eq!(rows.checked_mul(columns), Some(values.count), "as many values as positions");
        let geometry = Geometry { rows, columns, row_stride: columns, column_stride: 1 };
        Self { start: values.start, geometry, element: values.element, borrow: PhantomData }
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        // Cannot overflow, unless a window names an element twice; none that callers can make does.
        self.rows().saturating_mul(self.columns()).saturating_mul(self.element.size_in_bytes())
    }

    /// Sees the same elements in the same order as fewer and longer rows, where their places in memory allow it.
    pub(super) fn in_long_rows(self) -> Self {
        Self { geometry: self.geometry.in_long_rows(), ..self }
    }

    /// Tells whether there are more rows than columns: the longer side is the one to cut.
    pub(super) fn is_tall(&self) -> bool {
        self.rows() >= self.columns()
    }

    /// The length of the longer side.
    pub(super) fn length(&self) -> usize {
        self.rows().max(self.columns())
    }

    /// Cuts in two after so many rows (`by_rows`), or columns. Panics if there are fewer: callers have checked.
    pub(super) fn split_at(self, by_rows: bool, length: usize) -> (Self, Self) {
        let (rows, columns) = (self.rows(), self.columns());
        if by_rows {
            (self.cut(0..length, 0..columns), self.cut(length..rows, 0..columns))
        } else {
            (self.cut(0..rows, 0..length), self.cut(0..rows, length..columns))
        }
    }

    /// Cuts the longer side into about as many parts.
    pub(super) fn parts(self, count: usize) -> Vec<Part<'a>> {
        let whole = Part { window: self, row: 0, column: 0 };
        if count <= 1 {
            return vec![whole];
        }
        let is_tall = self.is_tall();
        parallel::cut(whole, self.length(), count, |rest, length| {
            let (window, window_rest) = rest.window.split_at(is_tall, length);
            let (row, column) = if is_tall { (rest.row + length, 0) } else { (0, rest.column + length) };
            (Part { window, ..rest }, Part { window: window_rest, row, column })
        })
    }

    /// The address of the first element; the geometry holds from here.
    pub(super) fn as_ptr(&self) -> *const u8 {
        self.start
    }

    /// Gives the elements as one slice, row by row, if that is how they lie in memory.
    pub(super) fn as_slice(&self) -> Option<ErasedSlice<'a>> {
        let count = self.rows() * self.columns();
        let slice = ErasedSlice { start: self.start, count, element: self.element, borrow: PhantomData };
        self.geometry.is_row_major_contiguous().then_some(slice)
    }

    /// Cuts a smaller window out. Panics if it is not inside: callers have checked.
    pub(super) fn cut(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let (offset, geometry) = self.geometry.cut(&rows, &columns);
        // SAFETY: the offset is that of an element of this window, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        Self { start, geometry, ..self }
    }
}

/// A part of a window, and where in the window it begins.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) window: ErasedWindow<'a>,
    pub(super) row: usize,
    pub(super) column: usize,
}

impl<'a> ErasedRowsMut<'a> {
    /// Sees a slice as rows of `columns` elements. Panics if it is not as long as they are: callers have checked.
    pub(super) fn new(room: ErasedSliceMut<'a>, rows: usize, columns: usize) -> Self {
        assert_eq!(rows.checked_mul(columns), Some(room.count), "as many elements as positions");
        Self { start: room.start, rows, columns, row_stride: columns, element: room.element, borrow: PhantomData }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Tells whether the rows lie one after another without gaps.
    pub(super) fn is_contiguous(&self) -> bool {
        self.row_stride == self.columns || self.rows <= 1
    }

    /// Lends some elements of consecutive rows. Panics if they are not inside: callers have checked.
    pub(super) fn cut(&mut self, rows: Range<usize>, columns: Range<usize>) -> ErasedRowsMut<'_> {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "the rows are inside");
        assert!(columns.start <= columns.end && columns.end <= self.columns, "the columns are inside");
        let (rows_left, columns_left) = (rows.len(), columns.len());
        let is_empty = rows_left == 0 || columns_left == 0;
        let offset = if is_empty { 0 } else { rows.start * self.row_stride + columns.start };
        // SAFETY: the offset is that of an element of these rows, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        ErasedRowsMut { start, rows: rows_left, columns: columns_left, borrow: PhantomData, ..*self }
    }

    /// Lends all elements of rows that lie one after another. Panics if they do not: callers have checked.
    pub(super) fn as_slice_mut(&mut self) -> ErasedSliceMut<'_> {
        assert!(self.is_contiguous(), "the rows lie one after another");
        let count = self.rows * self.columns;
        ErasedSliceMut { start: self.start, count, element: self.element, borrow: PhantomData }
    }

    /// Lends one row. Panics if there is no such row: callers have checked.
    pub(super) fn row(&mut self, row: usize) -> ErasedSliceMut<'_> {
        assert!(row < self.rows, "the row is inside");
        let offset = if self.columns == 0 { 0 } else { row * self.row_stride }; // an empty row may lie anywhere
        // SAFETY: the offset is that of the first element of a row of these, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        ErasedSliceMut { start, count: self.columns, element: self.element, borrow: PhantomData }
    }

    /// Cuts in two after so many rows (`by_rows`), or columns. Panics if there are fewer: callers have checked.
    pub(super) fn split_at(self, by_rows: bool, length: usize) -> (Self, Self) {
        let (rows, columns) = (self.rows, self.columns);
        assert!(length <= if by_rows { rows } else { columns }, "the cut is inside");
        let (head, tail, offset) = if by_rows {
            ((length, columns), (rows - length, columns), length * self.row_stride)
        } else {
            ((rows, length), (rows, columns - length), length)
        };
        let offset = if tail.0 == 0 || tail.1 == 0 { 0 } else { offset }; // an empty part may lie anywhere
        // SAFETY: the offset is that of an element of these rows, or zero.
        let middle = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        (Self { rows: head.0, columns: head.1, ..self }, Self { start: middle, rows: tail.0, columns: tail.1, ..self })
    }
}
