//! Windows whose element type is a value: what goes over them is compiled once, not once for each type.
//!
//! They are made from typed ones, keep their borrow, and only ever get smaller. Nothing is ever read through [`AnyRows`],
//! which may be uninitialised.

use std::marker::PhantomData;
use std::ops::Range;

use super::slice::{AnyRoom, AnySlice};
use super::typed::{Geometry, Window, WindowMut};
use crate::base::element::{Element, ElementType};
use crate::base::parallel;

/// A [`Window`] of the Rust type of `element`.
#[derive(Clone, Copy)]
pub(crate) struct AnyWindow<'a> {
    start: *const u8,
    geometry: Geometry,
    element: ElementType,
    borrow: PhantomData<&'a [u8]>,
}

/// A [`WindowMut`] of the Rust type of `element`.
pub(crate) struct AnyWindowMut<'a> {
    start: *mut u8,
    geometry: Geometry,
    element: ElementType,
    borrow: PhantomData<&'a mut [u8]>,
}

/// Rows of uninitialised elements, each a slice, `row_stride` elements from one to the next.
pub(crate) struct AnyRows<'a> {
    start: *mut u8,
    rows: usize,
    columns: usize,
    row_stride: usize,
    element: ElementType,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: a `Window`, and every element type is `Sync`.
unsafe impl Send for AnyWindow<'_> {}
// SAFETY: as above.
unsafe impl Sync for AnyWindow<'_> {}
// SAFETY: a `WindowMut`, and every element type is `Send`.
unsafe impl Send for AnyWindowMut<'_> {}
// SAFETY: disjoint `&mut [MaybeUninit<T>]`, and every element type is `Send`.
unsafe impl Send for AnyRows<'_> {}

impl<'a> AnyWindow<'a> {
    pub(crate) fn new<T: Element>(window: Window<'a, T>) -> Self {
        let (start, geometry) = (window.as_ptr().cast(), window.geometry());
        Self { start, geometry, element: T::TYPE, borrow: PhantomData }
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub(crate) fn rows(&self) -> usize {
        self.geometry.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.geometry.columns
    }

    pub(crate) fn element_type(&self) -> ElementType {
        self.element
    }

    /// Sees values as dense rows. Panics if there are not as many as positions: callers have checked.
    pub(crate) fn of_rows(values: AnySlice<'a>, rows: usize, columns: usize) -> Self {
        assert_eq!(rows.checked_mul(columns), Some(values.len()), "as many values as positions");
        let geometry = Geometry { rows, columns, row_stride: columns, column_stride: 1 };
        Self { start: values.as_ptr(), geometry, element: values.element_type(), borrow: PhantomData }
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        // Cannot overflow, unless a window names an element twice; none that callers can make does.
        self.rows().saturating_mul(self.columns()).saturating_mul(self.element.size_in_bytes())
    }

    /// Sees the same elements in the same order as fewer and longer rows, where their places in memory allow it.
    pub(crate) fn in_long_rows(self) -> Self {
        Self { geometry: self.geometry.in_long_rows(), ..self }
    }

    /// Tells whether there are more rows than columns: the longer side is the one to cut.
    pub(crate) fn is_tall(&self) -> bool {
        self.rows() >= self.columns()
    }

    /// The length of the longer side.
    pub(crate) fn length(&self) -> usize {
        self.rows().max(self.columns())
    }

    /// Cuts in two after so many rows (`by_rows`), or columns. Panics if there are fewer: callers have checked.
    pub(crate) fn split_at(self, by_rows: bool, length: usize) -> (Self, Self) {
        let (rows, columns) = (self.rows(), self.columns());
        if by_rows {
            (self.cut(0..length, 0..columns), self.cut(length..rows, 0..columns))
        } else {
            (self.cut(0..rows, 0..length), self.cut(0..rows, length..columns))
        }
    }

    /// Cuts the longer side into about as many parts.
    pub(crate) fn parts(self, count: usize) -> Vec<Part<'a>> {
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
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.start
    }

    /// Gives the elements as one slice, row by row, if that is how they lie in memory.
    pub(crate) fn as_slice(&self) -> Option<AnySlice<'a>> {
        let count = self.rows() * self.columns();
        // SAFETY: contiguous means that the first `rows * columns` elements are the window, all borrowed for `'a`.
        self.geometry
            .is_row_major_contiguous()
            .then(|| unsafe { AnySlice::from_raw_parts(self.start, count, self.element) })
    }

    /// Cuts a smaller window out. Panics if it is not inside: callers have checked.
    pub(crate) fn cut(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let (offset, geometry) = self.geometry.cut(&rows, &columns);
        // SAFETY: the offset is that of an element of this window, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        Self { start, geometry, ..self }
    }
}

/// A part of a window, and where in the window it begins.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) window: AnyWindow<'a>,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl<'a> AnyWindowMut<'a> {
    #[inline]
    pub(crate) fn new<T: Element>(mut window: WindowMut<'a, T>) -> Self {
        let (start, geometry) = (window.as_mut_ptr().cast(), window.geometry());
        Self { start, geometry, element: T::TYPE, borrow: PhantomData }
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub(crate) fn element_type(&self) -> ElementType {
        self.element
    }

    pub(crate) fn as_window(&self) -> AnyWindow<'_> {
        AnyWindow { start: self.start, geometry: self.geometry, element: self.element, borrow: PhantomData }
    }

    pub(crate) fn reborrow(&mut self) -> AnyWindowMut<'_> {
        AnyWindowMut { ..*self }
    }

    pub(crate) fn in_long_rows(self) -> Self {
        Self { geometry: self.geometry.in_long_rows(), ..self }
    }

    /// Cuts a part out. Panics if it is not inside: callers have checked.
    pub(crate) fn cut(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let (offset, geometry) = self.geometry.cut(&rows, &columns);
        // SAFETY: the offset is that of an element of this window, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        Self { start, geometry, ..self }
    }

    /// Cuts in two, after so many rows or columns. Panics if there are fewer: callers have checked.
    pub(crate) fn split_at(self, by_rows: bool, length: usize) -> (Self, Self) {
        let Geometry { rows, columns, .. } = self.geometry;
        // The two parts share no position, and positions are injective.
        let head = Self { ..self };
        if by_rows {
            (head.cut(0..length, 0..columns), self.cut(length..rows, 0..columns))
        } else {
            (head.cut(0..rows, 0..length), self.cut(0..rows, length..columns))
        }
    }

    /// Writes a value of the same type to each position, row by row. Panics if there are not as many: callers have checked.
    pub(crate) fn copy_from_slice(self, values: AnySlice<'_>) {
        self.write_bits(values, None);
    }

    /// As [`copy_from_slice`](Self::copy_from_slice), for the positions that are marked.
    pub(crate) fn copy_marked(self, values: AnySlice<'_>, is_marked: &[bool]) {
        self.write_bits(values, Some(is_marked));
    }

    fn write_bits(self, values: AnySlice<'_>, is_marked: Option<&[bool]>) {
        assert_eq!(self.element, values.element_type(), "values of the window's type");
        match self.element.size_in_bytes() {
            1 => write_as::<u8>(self, values, is_marked),
            2 => write_as::<u16>(self, values, is_marked),
            4 => write_as::<u32>(self, values, is_marked),
            8 => write_as::<u64>(self, values, is_marked),
            size => unreachable!("no element type has {size} bytes"),
        }
    }
}

/// Writes values as integers of their width: their bits are copied, whatever they mean.
fn write_as<Bits: Copy + Send + Sync>(window: AnyWindowMut<'_>, values: AnySlice<'_>, is_marked: Option<&[bool]>) {
    assert!(
        window.element.size_in_bytes() == size_of::<Bits>() && values.element_type() == window.element,
        "the width"
    );
    // SAFETY: elements of that width, which is their alignment; any bits of an element are an integer. The window's positions
    // stay those of the borrow, and those of `values` are `len` elements.
    let (window, values) = unsafe {
        let window = WindowMut::from_raw_parts(window.start.cast::<Bits>(), window.geometry);
        (window, std::slice::from_raw_parts(values.as_ptr().cast::<Bits>(), values.len()))
    };
    match is_marked {
        None => window.copy_from_slice(values),
        Some(is_marked) => window.copy_marked(values, is_marked),
    }
}

impl<'a> AnyRows<'a> {
    /// Sees a slice as rows of `columns` elements. Panics if it is not as long as they are: callers have checked.
    pub(crate) fn new(mut room: AnyRoom<'a>, rows: usize, columns: usize) -> Self {
        assert_eq!(rows.checked_mul(columns), Some(room.len()), "as many elements as positions");
        Self {
            start: room.as_mut_ptr(),
            rows,
            columns,
            row_stride: columns,
            element: room.element_type(),
            borrow: PhantomData,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Tells whether the rows lie one after another without gaps.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.row_stride == self.columns || self.rows <= 1
    }

    /// Lends some elements of consecutive rows. Panics if they are not inside: callers have checked.
    pub(crate) fn cut(&mut self, rows: Range<usize>, columns: Range<usize>) -> AnyRows<'_> {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "the rows are inside");
        assert!(columns.start <= columns.end && columns.end <= self.columns, "the columns are inside");
        let (rows_left, columns_left) = (rows.len(), columns.len());
        let is_empty = rows_left == 0 || columns_left == 0;
        let offset = if is_empty { 0 } else { rows.start * self.row_stride + columns.start };
        // SAFETY: the offset is that of an element of these rows, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        AnyRows { start, rows: rows_left, columns: columns_left, borrow: PhantomData, ..*self }
    }

    /// Lends all elements of rows that lie one after another. Panics if they do not: callers have checked.
    pub(crate) fn as_slice_mut(&mut self) -> AnyRoom<'_> {
        assert!(self.is_contiguous(), "the rows lie one after another");
        let count = self.rows * self.columns;
        // SAFETY: contiguous rows are one slice, borrowed as long as `self` is.
        unsafe { AnyRoom::from_raw_parts(self.start, count, self.element) }
    }

    /// Lends one row. Panics if there is no such row: callers have checked.
    pub(crate) fn row(&mut self, row: usize) -> AnyRoom<'_> {
        assert!(row < self.rows, "the row is inside");
        let offset = if self.columns == 0 { 0 } else { row * self.row_stride }; // an empty row may lie anywhere
        // SAFETY: the offset is that of the first element of a row of these, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        // SAFETY: a row is a slice of so many elements, borrowed as long as `self` is.
        unsafe { AnyRoom::from_raw_parts(start, self.columns, self.element) }
    }

    /// Cuts in two after so many rows (`by_rows`), or columns. Panics if there are fewer: callers have checked.
    pub(crate) fn split_at(self, by_rows: bool, length: usize) -> (Self, Self) {
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
