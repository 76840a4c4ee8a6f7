//! Rows of uninitialized elements: the targets of conversions.
//!
//! Nothing is ever read through [`AnyRows`].

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::any::AnyWindow;
use super::lines::copy_lines;
use super::slice::{AnyRoom, AnySlice, Bits};
use super::typed::Geometry;
use crate::base::cache::{FIRST_LEVEL, LINE, SECOND_LEVEL, prefetch};
use crate::base::element::{ElementType, match_width};

/// The average size in bytes of the rows of a window that are copied in turn with those of other windows.
const BESIDE_BYTES: usize = 512;

/// The distances in bytes from rows that are copied to those that are requested: into the second-level cache, which may
/// have more requests at a time, and into the first one.
const FAR: usize = 4 << 10;
const NEAR: usize = 1 << 10;

/// Rows of uninitialized elements. Each row is contiguous, and row starts are `row_stride` elements apart.
pub(crate) struct AnyRows<'a> {
    start: *mut u8,
    rows: usize,
    columns: usize,
    row_stride: usize,
    element: ElementType,
    borrow: PhantomData<&'a mut [u8]>,
}

/// A row that integers can be written to. Initialized memory stays initialized.
pub(crate) struct RowBits<'r, B>(&'r mut [MaybeUninit<B>]);

impl<B> RowBits<'_, B> {
    /// Writes one element. Panics if it is out of range; callers have checked.
    #[inline(always)]
    pub(crate) fn put(&mut self, column: usize, value: B) {
        self.0[column].write(value);
    }

    /// Writes zeros to some elements. Panics if they are out of range; callers have checked.
    #[inline(always)]
    pub(crate) fn zero(&mut self, columns: Range<usize>)
    where
        B: Bits,
    {
        let elements = &mut self.0[columns];
        // SAFETY: they are borrowed exclusively; zero bits are an integer.
        unsafe { elements.as_mut_ptr().write_bytes(0, elements.len()) };
    }
}

// SAFETY: disjoint `&mut [MaybeUninit<T>]`, and every element type is `Send`.
unsafe impl Send for AnyRows<'_> {}

impl<'a> AnyRows<'a> {
    /// Returns a slice as rows of `columns` elements. Panics if the lengths differ; callers have checked.
    #[cfg_attr(not(debug_assertions), inline(always))]
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

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn element_type(&self) -> ElementType {
        self.element
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of elements from the start of one row to the start of the next.
    pub(crate) fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Returns the address of the first element, which is valid for writes of `columns` elements in each of the rows.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }

    /// Returns the size of the elements in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.rows * self.columns * self.element.size_in_bytes() // cannot overflow: the elements exist
    }

    pub(crate) fn reborrow(&mut self) -> AnyRows<'_> {
        AnyRows { borrow: PhantomData, ..*self }
    }

    /// Returns whether the rows follow each other without gaps.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_contiguous(&self) -> bool {
        self.row_stride == self.columns || self.rows <= 1
    }

    /// Borrows a rectangle of the elements. Panics if it is out of range; callers have checked.
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

    /// Returns all elements of contiguous rows. Panics if there are gaps between the rows; callers have checked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_room(self) -> AnyRoom<'a> {
        assert!(self.is_contiguous(), "the rows are contiguous");
        let count = self.rows * self.columns;
        // SAFETY: contiguous rows are one slice, borrowed for `'a` by these rows alone, which are consumed.
        unsafe { AnyRoom::from_raw_parts(self.start, count, self.element) }
    }

    /// Copies values of the same type, row by row. Panics if the numbers of values and elements differ; callers have
    /// checked.
    pub(crate) fn copy_from_slice(&mut self, values: AnySlice<'_>) {
        self.copy_from(AnyWindow::of_rows(values, self.rows, self.columns));
    }

    /// Copies a window of the same type and shape. Panics if either differs; callers have checked.
    pub(crate) fn copy_from(&mut self, window: AnyWindow<'_>) {
        fn copy<Bits: Copy>(rows: &mut AnyRows<'_>, window: AnyWindow<'_>) {
            let Geometry { row_stride, column_stride, .. } = window.geometry();
            assert!(rows.element.size_in_bytes() == size_of::<Bits>(), "the width");
            let (from, to) = (window.as_ptr().cast::<Bits>(), rows.start.cast::<Bits>());
            for row in 0..rows.rows {
                for column in 0..rows.columns {
                    // SAFETY: row and column are inside both, which have the same shape; both pointers are aligned for
                    // elements of this width. Any bits of an element may be copied as an integer.
                    unsafe {
                        *to.add(row * rows.row_stride + column) = *from.add(row * row_stride + column * column_stride);
                    }
                }
            }
        }
        assert_eq!(self.element, window.element_type(), "values of the type of the rows");
        assert!(self.rows == window.rows() && self.columns == window.columns(), "the shapes are the same");
        if window.geometry().is_empty() {
            return; // rows without columns may be too many to count
        }
        if window.has_rows() {
            let (size, stride) = (self.element.size_in_bytes(), window.geometry().row_stride);
            // SAFETY: each of the rows of both sides has as many bytes as `columns` elements, and begins at a multiple
            // of its stride; these rows are borrowed exclusively.
            unsafe {
                copy_lines(
                    window.as_ptr(),
                    stride * size,
                    self.start,
                    self.row_stride * size,
                    self.columns * size,
                    self.rows,
                );
            }
            return;
        }
        match_width!(self.element, Bits => copy::<Bits>(self, window))
    }

    /// Copies rows of windows of the same type, from row `first` on, side by side. Panics if a type differs, if the
    /// windows together have other columns than these rows, or if one of them has fewer rows from there on; callers
    /// have checked.
    ///
    /// Takes a few rows of each window in turn, so that the processor reads all of them at the same time, and requests
    /// the rows that follow.
    pub(crate) fn copy_beside(&mut self, windows: &[AnyWindow<'_>], first: usize) {
        let (rows, size) = (self.rows, self.element.size_in_bytes());
        let mut columns = 0_usize;
        for window in windows {
            assert_eq!(self.element, window.element_type(), "values of the type of the rows");
            assert!(first <= window.rows() && rows <= window.rows() - first, "the rows are in each window");
            columns = columns.saturating_add(window.columns()); // more than memory can hold, if there are no rows
        }
        assert_eq!(columns, self.columns, "as many columns");
        if rows == 0 || columns == 0 {
            return; // rows without columns may be too many to count
        }
        if !windows.iter().all(AnyWindow::has_rows) {
            return self.copy_each(windows.iter().copied(), first);
        }
        let (row_bytes, to_stride) = (columns * size, self.row_stride * size);
        let height = (BESIDE_BYTES * windows.len() / row_bytes).max(1);
        for start in (0..rows).step_by(height) {
            let height = height.min(rows - start);
            let mut offset = 0;
            for window in windows {
                let (length, stride) = (window.columns() * size, window.geometry().row_stride * size);
                if length == 0 {
                    continue;
                }
                // SAFETY: the window has `rows` rows from `first` on, which begin at multiples of its stride, with
                // `length` bytes each; these rows are borrowed exclusively, and the lengths add up to one of them.
                unsafe {
                    let from = window.as_ptr().add((first + start) * stride);
                    if stride <= BESIDE_BYTES && (stride <= length || stride <= LINE) {
                        prefetch::<SECOND_LEVEL>(from.wrapping_add(FAR), height * stride);
                        prefetch::<FIRST_LEVEL>(from.wrapping_add(NEAR), height * stride);
                    }
                    let to = self.start.add(start * to_stride + offset);
                    copy_lines(from, stride, to, to_stride, length, height);
                }
                offset += length;
            }
        }
    }

    /// Copies rows of windows of the same type, from row `first` on, side by side, one window after the other. Panics
    /// where [`copy_beside`](Self::copy_beside) does.
    pub(crate) fn copy_each<'w>(&mut self, windows: impl Iterator<Item = AnyWindow<'w>>, first: usize) {
        let (rows, mut start) = (self.rows, 0);
        for window in windows {
            let end = start + window.columns();
            self.cut(0..rows, start..end).copy_from(window.cut(first..first + rows, 0..end - start));
            start = end;
        }
        assert_eq!(start, self.columns, "as many columns");
    }

    /// Borrows one row. Panics if it is out of range; callers have checked.
    pub(crate) fn row(&mut self, row: usize) -> AnyRoom<'_> {
        assert!(row < self.rows, "the row is inside");
        let offset = if self.columns == 0 { 0 } else { row * self.row_stride }; // an empty row may have any address
        // SAFETY: the offset is that of the first element of a row of these, or zero.
        let start = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        // SAFETY: a row is a slice of `columns` elements, borrowed as long as `self` is.
        unsafe { AnyRoom::from_raw_parts(start, self.columns, self.element) }
    }

    /// Writes zeros to some rows. Panics if they are out of range; callers have checked.
    pub(crate) fn zero_rows(&mut self, rows: Range<usize>) {
        let rows = self.cut(rows, 0..self.columns);
        let (count, length) = match rows.is_contiguous() {
            true => (1, rows.rows * rows.columns),
            false => (rows.rows, rows.columns),
        };
        let size = rows.element.size_in_bytes();
        for row in 0..if rows.columns == 0 { 0 } else { count } {
            // SAFETY: `length` elements from there on are one row, or all contiguous ones; zero bits are an element of
            // any type (`Pod`).
            unsafe { rows.start.add(row * rows.row_stride * size).write_bytes(0, length * size) };
        }
    }

    /// Borrows one row, to be written as integers with the width of its elements. Panics if the width differs or the
    /// row is out of range; callers have checked.
    #[inline(always)]
    pub(crate) fn row_bits<B: Bits>(&mut self, row: usize) -> RowBits<'_, B> {
        assert!(row < self.rows && self.element.size_in_bytes() == size_of::<B>(), "the row is inside, of that width");
        let offset = if self.columns == 0 { 0 } else { row * self.row_stride }; // an empty row may have any address
        // SAFETY: the offset is that of the first element of a row of these, or zero; a row is `columns` elements of
        // that width, aligned as the integers are, and borrowed as long as `self` is. Any bits of an integer are an
        // element, and `RowBits` writes nothing else.
        RowBits(unsafe {
            std::slice::from_raw_parts_mut(self.start.cast::<MaybeUninit<B>>().add(offset), self.columns)
        })
    }

    /// Splits the rows after `length` rows (if `by_rows`) or columns. Panics if there are fewer; callers have checked.
    pub(crate) fn split_at(self, by_rows: bool, length: usize) -> (Self, Self) {
        let (rows, columns) = (self.rows, self.columns);
        assert!(length <= if by_rows { rows } else { columns }, "the cut is inside");
        let (head, tail, offset) = if by_rows {
            ((length, columns), (rows - length, columns), length * self.row_stride)
        } else {
            ((rows, length), (rows, columns - length), length)
        };
        let offset = if tail.0 == 0 || tail.1 == 0 { 0 } else { offset }; // an empty part may have any address
        // SAFETY: the offset is that of an element of these rows, or zero.
        let middle = unsafe { self.start.add(offset * self.element.size_in_bytes()) };
        (Self { rows: head.0, columns: head.1, ..self }, Self { start: middle, rows: tail.0, columns: tail.1, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::super::typed::Window;
    use super::*;
    use crate::base::element::Element;
    use test_support::sized;

    /// Copies columns of tables with the given numbers of columns, and compares each value with its source.
    fn copy_columns<T: Element>(
        widths: &[usize],
        (first, rows): (usize, usize),
        is_by_columns: bool,
        value: fn(usize) -> T,
    ) {
        const GAP: usize = 3;
        let height = first + rows + 2;
        let arrays = widths.iter().enumerate().map(|(index, &columns)| {
            let stride = columns + index % 3; // dense rows, and rows with gaps
            (0..(height * stride).max(1)).map(|place| value(place * 7 + index)).collect::<Vec<T>>()
        });
        let arrays = arrays.collect::<Vec<_>>();
        let windows = arrays.iter().zip(widths).enumerate().map(|(index, (array, &columns))| {
            let (row_stride, column_stride) = match is_by_columns {
                true => (1, height),
                false => (columns + index % 3, 1),
            };
            let geometry = Geometry { rows: height, columns, row_stride, column_stride };
            AnyWindow::new(Window::new(array, geometry).unwrap())
        });
        let (windows, columns) = (windows.collect::<Vec<_>>(), widths.iter().sum::<usize>());
        let mut found = vec![value(1); rows * (columns + GAP)];
        let room = super::super::slice::AnySliceMut::new(&mut found).into_room();
        AnyRows::new(room, rows, columns + GAP).cut(0..rows, 1..1 + columns).copy_beside(&windows, first);
        for row in 0..rows {
            let line = &found[row * (columns + GAP)..(row + 1) * (columns + GAP)];
            let mut place = 1;
            for (index, (array, &columns)) in arrays.iter().zip(widths).enumerate() {
                for column in 0..columns {
                    let at = match is_by_columns {
                        true => first + row + column * height,
                        false => (first + row) * (columns + index % 3) + column,
                    };
                    assert!(line[place] == array[at], "{widths:?}: row {row} of {rows}, column {place}");
                    place += 1;
                }
            }
            let guards = [line[0], line[place], line[place + 1]];
            assert!(guards.iter().all(|&guard| guard == value(1)), "{widths:?}: beside row {row} of {rows}");
        }
    }

    #[test]
    fn rows_of_several_windows_are_copied_side_by_side_and_nothing_beside_them() {
        let widths: [&[usize]; 7] = [
            &[8, 8],
            &[1, 2],
            &[3, 0, 40, 5],
            &[sized(700, 70), 1],
            &[4, 4, 4, 4],
            &[9],
            &[sized(600, 30), sized(2000, 40)],
        ];
        for widths in widths {
            for rows in [(0, 0), (0, 1), (2, 7), (3, 8), (1, 9), (5, sized(130, 9))] {
                copy_columns::<f32>(widths, rows, false, |place| place as f32);
                copy_columns::<u8>(widths, rows, false, |place| place as u8);
                copy_columns::<f64>(widths, rows, false, |place| place as f64);
            }
        }
        copy_columns::<f32>(&[2, 3], (4, 50), true, |place| place as f32);
    }

    #[test]
    #[should_panic = "as many columns"]
    fn windows_that_are_too_wide_are_not_copied() {
        let (values, mut target) = ([1_u8; 8], [0_u8; 6]);
        let window = AnyWindow::of_rows(AnySlice::new(&values), 2, 4);
        let room = super::super::slice::AnySliceMut::new(&mut target).into_room();
        AnyRows::new(room, 2, 3).copy_beside(&[window], 0);
    }

    #[test]
    #[should_panic = "the rows are in each window"]
    fn windows_that_are_too_short_are_not_copied() {
        let (values, mut target) = ([1_u8; 8], [0_u8; 8]);
        let window = AnyWindow::of_rows(AnySlice::new(&values), 2, 4);
        let room = super::super::slice::AnySliceMut::new(&mut target).into_room();
        AnyRows::new(room, 2, 4).copy_beside(&[window], 1);
    }
}
