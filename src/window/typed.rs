//! Strided two-dimensional windows on borrowed memory, on which table views and conversion kernels are built.
//!
//! A checked constructor creates a window from a slice. A window can only shrink, so all of its elements are in that
//! slice. Strides count elements, not bytes. Semantics of reading and writing tables are in
//! [`crate::table::TableView`], loops over windows in [`crate::convert`].

use std::marker::PhantomData;
use std::ops::Range;

use super::lines::copy_lines;
use crate::base::parallel;

/// Counts and strides: the offsets of the elements of a window from its first element.
///
/// Invariant of every `Geometry` inside a window: for all `row < rows`, `column < columns`, the element at `row *
/// row_stride + column * column_stride` is in the borrowed slice, so such an offset cannot overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) row_stride: usize,
    pub(crate) column_stride: usize,
}

impl Geometry {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    /// Returns whether the elements fit into a slice of `len` elements.
    #[inline]
    pub(crate) fn fits(&self, len: usize) -> bool {
        if self.is_empty() {
            return true;
        }
        let last_row = (self.rows - 1).checked_mul(self.row_stride);
        let last_column = (self.columns - 1).checked_mul(self.column_stride);
        let last = last_row.zip(last_column).and_then(|(row, column)| row.checked_add(column));
        last.is_some_and(|last| last < len)
    }

    /// Returns whether different positions are always different elements. May return `false` for geometries where they
    /// are.
    #[inline]
    fn is_injective(&self) -> bool {
        (self.column_stride == 1 && self.row_stride >= self.columns)
            || (self.row_stride == 1 && self.column_stride >= self.rows)
            || self.is_empty()
    }

    /// Returns whether the elements are contiguous in row-major order.
    #[inline]
    pub(crate) fn is_row_major_contiguous(&self) -> bool {
        self.is_empty()
            || ((self.column_stride == 1 || self.columns == 1) && (self.row_stride == self.columns || self.rows == 1))
    }

    /// Swaps rows and columns.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn transposed(self) -> Self {
        let Self { rows, columns, row_stride, column_stride } = self;
        Self { rows: columns, columns: rows, row_stride: column_stride, column_stride: row_stride }
    }

    /// Returns the same elements in the same order as fewer and longer rows, if the strides allow it.
    #[inline]
    pub(crate) fn in_long_rows(self) -> Self {
        let Self { rows, columns, row_stride, .. } = self;
        let one_row = |column_stride| Self { rows: 1, columns: rows * columns, row_stride: 1, column_stride };
        // The offsets are the same: `row * columns + column` of contiguous rows, or `row * row_stride` of one column.
        if self.is_empty() {
            self
        } else if self.is_row_major_contiguous() {
            one_row(1)
        } else if columns == 1 {
            one_row(row_stride)
        } else {
            self
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offset(&self, row: usize, column: usize) -> usize {
        row * self.row_stride + column * self.column_stride
    }

    /// Cuts out rows and columns. Also returns the offset of the new first element.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn cut(&self, rows: &Range<usize>, columns: &Range<usize>) -> (usize, Self) {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "rows lie in the window");
        assert!(columns.start <= columns.end && columns.end <= self.columns, "columns lie in the window");
        let cut = Self { rows: rows.len(), columns: columns.len(), ..*self };
        // An empty window keeps the old address: its own might be past the end of the memory.
        (if cut.is_empty() { 0 } else { self.offset(rows.start, columns.start) }, cut)
    }
}

macro_rules! define_window {
    ($Window:ident, $pointer:ty, $borrow:ty, $doc:literal) => {
        #[doc = $doc]
        pub(crate) struct $Window<'a, T> {
            /// The first element, from which `geometry` counts.
            start: $pointer,
            geometry: Geometry,
            borrow: PhantomData<$borrow>,
        }

        impl<'a, T> $Window<'a, T> {
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

            /// Cuts out a smaller window. Panics if it is out of range; callers have checked.
            #[cfg_attr(not(debug_assertions), inline(always))]
            pub(crate) fn cut(self, rows: Range<usize>, columns: Range<usize>) -> Self {
                let (offset, geometry) = self.geometry.cut(&rows, &columns);
                // SAFETY: the offset is that of an element of this window, or zero.
                Self { start: unsafe { self.start.add(offset) }, geometry, borrow: PhantomData }
            }

            /// Swaps rows and columns.
            pub(crate) fn transposed(self) -> Self {
                Self { start: self.start, geometry: self.geometry.transposed(), borrow: PhantomData }
            }
        }
    };
}
define_window!(Window, *const T, &'a [T], "A window for reading.");
define_window!(WindowMut, *mut T, &'a mut [T], "A window for writing: different positions are different elements.");

impl<T> Clone for Window<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Window<'_, T> {}

// SAFETY: a window is a `&[T]` with strides.
unsafe impl<T: Sync> Send for Window<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Window<'_, T> {}
// SAFETY: a mutable window is a `&mut [T]` with strides; two of them never name the same element.
unsafe impl<T: Send> Send for WindowMut<'_, T> {}
// SAFETY: `&WindowMut` lends `&T` only.
unsafe impl<T: Sync> Sync for WindowMut<'_, T> {}

impl<'a, T: Copy> Window<'a, T> {
    /// # Safety
    /// All positions, counted from `start`, must refer to elements of memory that is borrowed for `'a`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn from_raw_parts(start: *const T, geometry: Geometry) -> Self {
        Self { start, geometry, borrow: PhantomData }
    }

    /// Returns a window on a slice; `None` if the geometry exceeds the slice.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(values: &'a [T], geometry: Geometry) -> Option<Self> {
        geometry.fits(values.len()).then_some(Self { start: values.as_ptr(), geometry, borrow: PhantomData })
    }

    /// Returns a window on a slice as one column.
    pub(crate) fn column(values: &'a [T]) -> Self {
        let geometry = Geometry { rows: values.len(), columns: 1, row_stride: 1, column_stride: 1 };
        Self { start: values.as_ptr(), geometry, borrow: PhantomData }
    }

    /// Returns the address of the first element, from which the geometry counts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_ptr(&self) -> *const T {
        self.start
    }

    pub(crate) fn get(&self, row: usize, column: usize) -> Option<T> {
        // SAFETY: the position is inside, and so the element is in the borrowed slice (invariant of `Geometry`).
        (row < self.rows() && column < self.columns()).then(|| unsafe { self.get_unchecked(row, column) })
    }

    /// # Safety
    /// `row < self.rows()` and `column < self.columns()`.
    pub(crate) unsafe fn get_unchecked(&self, row: usize, column: usize) -> T {
        debug_assert!(row < self.rows() && column < self.columns());
        // SAFETY: the caller promises that the position is inside; then the element lies in the slice that is borrowed
        // for `'a` (invariant of `Geometry`).
        unsafe { *self.start.add(self.geometry.offset(row, column)) }
    }

    /// Returns the elements as one slice, row by row, if they are contiguous in that order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_slice(&self) -> Option<&'a [T]> {
        let count = self.rows() * self.columns();
        // SAFETY: contiguous means that the first `rows * columns` elements are the window, all in the borrowed slice.
        self.geometry.is_row_major_contiguous().then(|| unsafe { std::slice::from_raw_parts(self.start, count) })
    }

    /// Returns one row as a slice, if its elements are contiguous.
    pub(crate) fn row(&self, row: usize) -> Option<&'a [T]> {
        (row < self.rows()).then(|| self.cut(row..row + 1, 0..self.columns()).as_slice()).flatten()
    }
}

impl<'a, T: Copy> WindowMut<'a, T> {
    /// # Safety
    /// All positions, counted from `start`, must refer to distinct elements of memory that is mutably borrowed for
    /// `'a`.
    pub(super) unsafe fn from_raw_parts(start: *mut T, geometry: Geometry) -> Self {
        Self { start, geometry, borrow: PhantomData }
    }

    /// Returns a window on a slice; `None` if the geometry exceeds the slice or may refer to an element twice.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(values: &'a mut [T], geometry: Geometry) -> Option<Self> {
        let fits = geometry.fits(values.len()) && geometry.is_injective();
        fits.then_some(Self { start: values.as_mut_ptr(), geometry, borrow: PhantomData })
    }

    /// Returns the address of the first element, from which the geometry counts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        self.start
    }

    /// Returns a window on the same elements for reading.
    pub(crate) fn as_window(&self) -> Window<'_, T> {
        Window { start: self.start, geometry: self.geometry, borrow: PhantomData }
    }

    /// Borrows the same elements for a shorter lifetime.
    pub(crate) fn reborrow(&mut self) -> WindowMut<'_, T> {
        WindowMut { start: self.start, geometry: self.geometry, borrow: PhantomData }
    }

    /// # Safety
    /// `row < self.rows()` and `column < self.columns()`.
    pub(crate) unsafe fn set_unchecked(&mut self, row: usize, column: usize, value: T) {
        debug_assert!(row < self.rows() && column < self.columns());
        // SAFETY: the caller promises that the position is inside; then the element lies in the slice that is borrowed
        // for `'a`, and no other window names it (cuts and splits are disjoint, positions are injective).
        unsafe { *self.start.add(self.geometry.offset(row, column)) = value }
    }

    /// Copies the elements of a window of the same shape. Panics if the shape differs; callers have checked.
    pub(crate) fn copy_from(mut self, other: Window<'_, T>)
    where
        T: Send + Sync,
    {
        const TILE: usize = 32; // cache lines of both windows, which fit the first-level cache together
        let (rows, columns) = (self.rows(), self.columns());
        assert!(rows == other.rows() && columns == other.columns(), "the shapes are the same");
        if self.geometry.is_empty() {
            return; // rows without columns may be too many to count
        }
        if self.geometry.column_stride > self.geometry.row_stride {
            return self.transposed().copy_from(other.transposed()); // along the memory that is written
        }
        if let (true, Some(values)) = (self.geometry.is_row_major_contiguous(), other.as_slice()) {
            return self.copy_from_slice(values);
        }
        if (self.geometry.column_stride, other.geometry.column_stride) == (1, 1) {
            let size = size_of::<T>();
            let (from_stride, to_stride) = (other.geometry.row_stride * size, self.geometry.row_stride * size);
            let (from, to) = (other.start.cast(), self.start.cast());
            // SAFETY: each row of both windows is `columns` elements, which are plain bytes; this window is exclusive.
            return unsafe { copy_lines(from, from_stride, to, to_stride, columns * size, rows) };
        }
        for first_row in (0..rows).step_by(TILE) {
            for first_column in (0..columns).step_by(TILE) {
                for row in first_row..rows.min(first_row + TILE) {
                    for column in first_column..columns.min(first_column + TILE) {
                        // SAFETY: both loops stay below the counts that both windows have.
                        unsafe { self.set_unchecked(row, column, other.get_unchecked(row, column)) }
                    }
                }
            }
        }
    }

    /// Copies values, row by row. Panics if the numbers of values and elements differ; callers have checked.
    pub(crate) fn copy_from_slice(self, values: &[T])
    where
        T: Send + Sync,
    {
        let Geometry { rows, columns, .. } = self.geometry;
        match self.into_slice() {
            Ok(slice) => {
                assert_eq!(slice.len(), values.len(), "as many values as elements");
                parallel::for_each_chunk_mut(slice, &|offset, chunk| {
                    chunk.copy_from_slice(&values[offset..offset + chunk.len()]);
                });
            }
            Err(window) => {
                let geometry = Geometry { rows, columns, row_stride: columns, column_stride: 1 };
                match Window::new(values, geometry) {
                    Some(values) => window.copy_from(values),
                    None => unreachable!("there are as many values as elements"),
                }
            }
        }
    }

    /// Copies the marked values of a dense row-major slice. Panics if the slice has fewer values than the window;
    /// callers have checked.
    pub(crate) fn copy_marked(mut self, values: &[T], is_marked: &[bool]) {
        let (rows, columns) = (self.rows(), self.columns());
        assert!(rows * columns <= values.len() && rows * columns <= is_marked.len(), "as many values as elements");
        for row in 0..rows {
            let start = row * columns;
            let marked = values[start..start + columns].iter().zip(&is_marked[start..start + columns]);
            for (column, (&value, &is_marked)) in marked.enumerate() {
                if is_marked {
                    // SAFETY: `row` is below `rows`, and `column` below `columns`.
                    unsafe { self.set_unchecked(row, column, value) }
                }
            }
        }
    }

    /// Writes `value` to every position.
    pub(crate) fn fill(self, value: T)
    where
        T: Send + Sync,
    {
        if self.geometry.is_empty() {
            return; // rows without columns may be too many to count
        }
        if self.geometry.column_stride > self.geometry.row_stride {
            return self.transposed().fill(value); // along the memory that is written
        }
        match self.into_slice() {
            Ok(slice) => parallel::for_each_chunk_mut(slice, &|_, chunk| chunk.fill(value)),
            Err(mut window) => {
                for row in 0..window.rows() {
                    for column in 0..window.columns() {
                        // SAFETY: both loops stay below the window's counts.
                        unsafe { window.set_unchecked(row, column, value) }
                    }
                }
            }
        }
    }

    /// Returns the elements as one slice, row by row, if they are contiguous in that order.
    pub(crate) fn into_slice(self) -> Result<&'a mut [T], Self> {
        if !self.geometry.is_row_major_contiguous() {
            return Err(self);
        }
        let count = self.rows() * self.columns();
        // SAFETY: contiguous means that the first `rows * columns` elements are the window; no other window names them,
        // and this one is consumed.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start, count) })
    }

    /// Splits the window into the first `rows` rows and the rest. Panics if there are fewer; callers have checked.
    pub(crate) fn split_at_row(self, rows: usize) -> (Self, Self) {
        let (all_rows, columns) = (self.rows(), self.columns());
        let head = Self { start: self.start, geometry: self.geometry, borrow: PhantomData };
        // The two share no position of the old window, and its positions are injective.
        (head.cut(0..rows, 0..columns), self.cut(rows..all_rows, 0..columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW_MAJOR: Geometry = Geometry { rows: 2, columns: 3, row_stride: 3, column_stride: 1 };

    #[test]
    fn a_window_never_reaches_outside_of_its_slice() {
        let values = [0_u8; 6];
        assert!(Window::new(&values, ROW_MAJOR).is_some());
        assert!(Window::new(&values[..5], ROW_MAJOR).is_none());
        let huge = Geometry { rows: usize::MAX, columns: 2, row_stride: usize::MAX, column_stride: 1 };
        assert!(Window::new(&values, huge).is_none());
        assert!(Window::new(&values[..0], Geometry { rows: 0, ..huge }).is_some());
    }

    #[test]
    fn a_mutable_window_never_names_an_element_twice() {
        let mut values = [0_u8; 6];
        let overlapping = Geometry { rows: 2, columns: 3, row_stride: 2, column_stride: 1 };
        assert!(Window::new(&values, overlapping).is_some());
        assert!(WindowMut::new(&mut values, overlapping).is_none());
        assert!(WindowMut::new(&mut values, ROW_MAJOR).is_some());
    }

    #[test]
    fn cuts_and_transposes_name_the_same_elements() {
        let values = [1, 2, 3, 4, 5, 6];
        let window = Window::new(&values, ROW_MAJOR).unwrap();
        let cut = window.cut(1..2, 1..3);
        assert_eq!((cut.get(0, 0), cut.get(0, 1), cut.get(0, 2)), (Some(5), Some(6), None));
        assert_eq!(cut.as_slice(), Some(&[5, 6][..]));
        let transposed = window.transposed();
        assert_eq!((transposed.get(2, 1), transposed.as_slice()), (Some(6), None));
    }

    #[test]
    fn split_windows_write_disjoint_elements() {
        let mut values = [0; 6];
        let column_major = Geometry { rows: 3, columns: 2, row_stride: 1, column_stride: 3 };
        let (mut head, mut tail) = WindowMut::new(&mut values, column_major).unwrap().split_at_row(1);
        // SAFETY: the head is 1 x 2, the tail 2 x 2.
        unsafe {
            head.set_unchecked(0, 1, 7);
            tail.set_unchecked(1, 0, 8);
        }
        assert!(tail.into_slice().is_err());
        assert_eq!(values, [0, 0, 8, 7, 0, 0]);
    }
}
