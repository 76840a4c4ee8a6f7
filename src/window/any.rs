//! Windows whose element type is known only at run time. Code that uses them is compiled once, not once per type.
//!
//! They are created from typed windows, keep their borrow, and can only shrink.

use std::marker::PhantomData;
use std::ops::Range;

use super::slice::{AnySlice, AnySliceMut};
use super::typed::{Geometry, Window, WindowMut};
use crate::base::element::{Element, ElementType, match_width};
use crate::base::parallel;

/// A [`Window`] of elements of the Rust type of `element`.
#[derive(Clone, Copy)]
pub(crate) struct AnyWindow<'a> {
    start: *const u8,
    geometry: Geometry,
    element: ElementType,
    borrow: PhantomData<&'a [u8]>,
}

/// A [`WindowMut`] of elements of the Rust type of `element`.
pub(crate) struct AnyWindowMut<'a> {
    start: *mut u8,
    geometry: Geometry,
    element: ElementType,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: a `Window`, and every element type is `Sync`.
unsafe impl Send for AnyWindow<'_> {}
// SAFETY: as above.
unsafe impl Sync for AnyWindow<'_> {}
// SAFETY: a `WindowMut`, and every element type is `Send`.
unsafe impl Send for AnyWindowMut<'_> {}
// SAFETY: `&AnyWindowMut` lends an `AnyWindow` only.
unsafe impl Sync for AnyWindowMut<'_> {}

impl<'a> AnyWindow<'a> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new<T: Element>(window: Window<'a, T>) -> Self {
        let (start, geometry) = (window.as_ptr().cast(), window.geometry());
        Self { start, geometry, element: T::TYPE, borrow: PhantomData }
    }

    /// # Safety
    /// All positions, counted from `start`, must refer to initialized elements of the Rust type of `element` that are
    /// aligned and borrowed for `'a`. `start` must be aligned even without positions.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn from_raw_parts(start: *const u8, geometry: Geometry, element: ElementType) -> Self {
        Self { start, geometry, element, borrow: PhantomData }
    }

    /// Returns the window of elements of `T` if that is their type.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn downcast<T: Element>(self) -> Option<Window<'a, T>> {
        // SAFETY: `Element` is sealed and `TYPE` differs from type to type, so that the window was made from one of
        // `T`, or from a slice that was.
        (T::TYPE == self.element).then(|| unsafe { Window::from_raw_parts(self.start.cast(), self.geometry) })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn rows(&self) -> usize {
        self.geometry.rows
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn columns(&self) -> usize {
        self.geometry.columns
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn element_type(&self) -> ElementType {
        self.element
    }

    /// Swaps rows and columns.
    pub(crate) fn transposed(self) -> Self {
        Self { geometry: self.geometry.transposed(), ..self }
    }

    /// Returns a window on values as dense rows. Panics if their number is not `rows * columns`; callers have checked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_rows(values: AnySlice<'a>, rows: usize, columns: usize) -> Self {
        assert_eq!(rows.checked_mul(columns), Some(values.len()), "as many values as positions");
        let geometry = Geometry { rows, columns, row_stride: columns, column_stride: 1 };
        Self { start: values.as_ptr(), geometry, element: values.element_type(), borrow: PhantomData }
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        // Cannot overflow unless a window names elements twice, as that of a broadcast view of `ndarray` does: it has
        // more positions than memory has bytes.
        self.rows().saturating_mul(self.columns()).saturating_mul(self.element.size_in_bytes())
    }

    /// Returns the same elements in the same order as fewer and longer rows, if the strides allow it.
    pub(crate) fn in_long_rows(self) -> Self {
        Self { geometry: self.geometry.in_long_rows(), ..self }
    }

    /// Returns whether there are at least as many rows as columns. The longer side is cut first.
    pub(crate) fn is_tall(&self) -> bool {
        self.rows() >= self.columns()
    }

    /// Returns whether the window is one column whose elements are contiguous.
    pub(crate) fn is_column(&self) -> bool {
        self.columns() == 1 && (self.geometry.row_stride == 1 || self.rows() <= 1)
    }

    /// Returns whether the elements of each row are contiguous.
    pub(crate) fn has_rows(&self) -> bool {
        self.geometry.column_stride == 1
    }

    /// Returns the length of the longer side.
    pub(crate) fn length(&self) -> usize {
        self.rows().max(self.columns())
    }

    /// Splits the window after `length` rows (if `by_rows`) or columns. Panics if there are fewer; callers have
    /// checked.
    pub(crate) fn split_at(self, by_rows: bool, length: usize) -> (Self, Self) {
        let (rows, columns) = (self.rows(), self.columns());
        if by_rows {
            (self.cut(0..length, 0..columns), self.cut(length..rows, 0..columns))
        } else {
            (self.cut(0..rows, 0..length), self.cut(0..rows, length..columns))
        }
    }

    /// Cuts the longer side into about `count` parts.
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

    /// Returns the address of the first element, from which the geometry counts.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.start
    }

    /// Returns the elements as one slice, row by row, if they are contiguous in that order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_slice(&self) -> Option<AnySlice<'a>> {
        let count = self.rows() * self.columns();
        // SAFETY: contiguous means that the first `rows * columns` elements are the window, all borrowed for `'a`.
        self.geometry
            .is_row_major_contiguous()
            .then(|| unsafe { AnySlice::from_raw_parts(self.start, count, self.element) })
    }

    /// Cuts out a smaller window. Panics if it is out of range; callers have checked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn cut(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let (offset, geometry) = self.geometry.cut(&rows, &columns);
        // SAFETY: the offset is that of an element of this window, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        Self { start, geometry, ..self }
    }
}

/// A part of a window, and the position in the window at which it begins.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) window: AnyWindow<'a>,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl<'a> AnyWindowMut<'a> {
    /// Creates a window of values stored row after row.
    pub(crate) fn of_rows(values: AnySliceMut<'a>, rows: usize, columns: usize) -> Self {
        assert_eq!(rows.checked_mul(columns), Some(values.len()), "as many values as positions");
        let (geometry, element) =
            (Geometry { rows, columns, row_stride: columns, column_stride: 1 }, values.element_type());
        Self { start: values.into_room().as_mut_ptr(), geometry, element, borrow: PhantomData }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new<T: Element>(mut window: WindowMut<'a, T>) -> Self {
        let (start, geometry) = (window.as_mut_ptr().cast(), window.geometry());
        Self { start, geometry, element: T::TYPE, borrow: PhantomData }
    }

    /// # Safety
    /// All positions, counted from `start`, must refer to distinct, initialized elements of the Rust type of `element`
    /// that are aligned and mutably borrowed for `'a`. No other window may refer to any of them. `start` must be
    /// aligned even without positions.
    pub(crate) unsafe fn from_raw_parts(start: *mut u8, geometry: Geometry, element: ElementType) -> Self {
        Self { start, geometry, element, borrow: PhantomData }
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
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

    /// Returns the window of elements of `T` if that is their type.
    ///
    /// # Errors
    /// Returns the window unchanged if it is not.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn downcast<T: Element>(self) -> Result<WindowMut<'a, T>, Self> {
        if T::TYPE != self.element {
            return Err(self);
        }
        // SAFETY: `Element` is sealed and `TYPE` differs from type to type, so that the window was made from one of
        // `T`. Its positions are injective, and this window, which names them alone, is consumed.
        Ok(unsafe { WindowMut::from_raw_parts(self.start.cast(), self.geometry) })
    }

    /// Returns the elements as one slice, row by row, if they are contiguous in that order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_slice(self) -> Result<AnySliceMut<'a>, Self> {
        if !self.geometry.is_row_major_contiguous() {
            return Err(self);
        }
        let count = self.geometry.rows * self.geometry.columns;
        // SAFETY: contiguous means that the first `rows * columns` elements are the window, all of the element type,
        // and borrowed for `'a` by this window alone, which is consumed.
        Ok(unsafe { AnySliceMut::from_raw_parts(self.start, count, self.element) })
    }

    /// Cuts out a part. Panics if it is out of range; callers have checked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn cut(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let (offset, geometry) = self.geometry.cut(&rows, &columns);
        // SAFETY: the offset is that of an element of this window, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        Self { start, geometry, ..self }
    }

    /// Splits the window after `length` rows (if `by_rows`) or columns. Panics if there are fewer; callers have
    /// checked.
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

    /// Copies the values of a window of the same type and shape. Panics if either differs; callers have checked.
    pub(crate) fn copy_from(self, other: AnyWindow<'_>) {
        fn copy<Bits: Copy + Send + Sync>(window: AnyWindowMut<'_>, other: AnyWindow<'_>) {
            assert!(
                window.element == other.element && window.element.size_in_bytes() == size_of::<Bits>(),
                "the width"
            );
            // SAFETY: elements of that width, which is their alignment; any bits of an element are an integer.
            // Positions stay those of the two borrows.
            let (window, other) = unsafe {
                let window = WindowMut::from_raw_parts(window.start.cast::<Bits>(), window.geometry);
                (window, Window::from_raw_parts(other.start.cast::<Bits>(), other.geometry))
            };
            window.copy_from(other);
        }
        if let Some(values) = other.as_slice() {
            return self.copy_from_slice(values);
        }
        match_width!(self.element, Bits => copy::<Bits>(self, other))
    }

    /// Copies values of the same type, row by row. Panics if the numbers of values and positions differ; callers have
    /// checked.
    pub(crate) fn copy_from_slice(self, values: AnySlice<'_>) {
        self.write_bits(values, None);
    }

    /// Like [`copy_from_slice`](Self::copy_from_slice), but only for the marked positions.
    pub(crate) fn copy_marked(self, values: AnySlice<'_>, is_marked: &[bool]) {
        self.write_bits(values, Some(is_marked));
    }

    fn write_bits(self, values: AnySlice<'_>, is_marked: Option<&[bool]>) {
        assert_eq!(self.element, values.element_type(), "values of the window's type");
        match_width!(self.element, Bits => write_as::<Bits>(self, values, is_marked))
    }
}

/// Writes values as integers of their width, so that only bits are copied.
fn write_as<Bits: Copy + Send + Sync>(window: AnyWindowMut<'_>, values: AnySlice<'_>, is_marked: Option<&[bool]>) {
    assert!(
        window.element.size_in_bytes() == size_of::<Bits>() && values.element_type() == window.element,
        "the width"
    );
    // SAFETY: elements of that width, which is their alignment; any bits of an element are an integer. The window's
    // positions stay those of the borrow, and those of `values` are `len` elements.
    let (window, values) = unsafe {
        let window = WindowMut::from_raw_parts(window.start.cast::<Bits>(), window.geometry);
        (window, std::slice::from_raw_parts(values.as_ptr().cast::<Bits>(), values.len()))
    };
    match is_marked {
        None => window.copy_from_slice(values),
        Some(is_marked) => window.copy_marked(values, is_marked),
    }
}
