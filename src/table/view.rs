//! Borrowed tables without a dictionary: a slice with a shape and strides.
//!
//! A view never owns or copies values. Pieces of tables are built from views. Pointers are in `crate::window`,
//! conversion loops in [`crate::convert`].

use std::fmt;
use std::ops::RangeBounds;

use super::region::{columns_of, rows_of};
use super::{DataLayout, Region, Shape};
use crate::array::AnyArray;
use crate::base::count::same_count;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::convert::kernel::{self, Origin};
use crate::convert::{ConversionPolicy, ConversionReport};
use crate::window::{AnySliceMut, AnyWindow, Geometry, Window, WindowMut};

/// A table of borrowed values, for reading: a slice with a shape and strides. `Copy`, like `&[T]`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table::table::TableView;
/// let values = [1, 2, 3, 4, 5, 6];
/// let view = TableView::new(&values, Shape { rows: 2, columns: 3 }, DataLayout::RowMajor)?;
/// assert_eq!(view.value(1, 0), Some(4));
/// assert_eq!(view.slice_columns(1..3)?.row(1), Some(&[5, 6][..]));
/// assert_eq!(view.transposed().value(0, 1), Some(4));
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct TableView<'t, T> {
    window: Window<'t, T>,
}

/// A table of borrowed values, for writing.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let mut table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
/// let (mut head, mut tail) = table.view_mut()?.split_at_row(1)?; // disjoint: can be sent to two threads
/// head.set_value(0, 0, 10)?;
/// tail.set_value(1, 1, 60)?;
/// assert_eq!(table.as_slice()?, [10, 2, 3, 4, 5, 60]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct TableViewMut<'t, T> {
    window: WindowMut<'t, T>,
}

impl<T> Clone for TableView<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TableView<'_, T> {}

impl<'t, T: Element> TableView<'t, T> {
    /// Creates a view of a slice as a table.
    ///
    /// # Errors
    /// [`ErrorKind::ArrayLength`] if the length of the slice is not exactly the number of values of the shape;
    /// [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let view = TableView::new(&[1, 2, 3, 4], Shape { rows: 2, columns: 2 }, DataLayout::ColumnMajor)?;
    /// assert_eq!(view.value(0, 1), Some(3));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(values: &'t [T], shape: Shape, layout: DataLayout) -> Result<Self> {
        let (have, need) = (values.len(), shape.check_length::<T>(values.len())?);
        Self::with_geometry(values, dense(shape, layout))
            .ok_or_else(|| Error::new(ErrorKind::ArrayLength { have, need }))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn with_geometry(values: &'t [T], geometry: Geometry) -> Option<Self> {
        Some(Self { window: Window::new(values, geometry)? })
    }

    /// Returns the number of rows and columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2, 3]])?;
    /// assert_eq!(table.view()?.shape(), Shape { rows: 1, columns: 3 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn shape(&self) -> Shape {
        Shape { rows: self.window.rows(), columns: self.window.columns() }
    }

    /// Returns the row stride and the column stride, in number of values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(table.view()?.strides(), (3, 1)); // to the next row, to the next column
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn strides(&self) -> (usize, usize) {
        (self.window.geometry().row_stride, self.window.geometry().column_stride)
    }

    /// Returns one value, or `None` if the position is out of range.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2, 3]])?;
    /// assert_eq!((table.view()?.value(0, 2), table.view()?.value(0, 3)), (Some(3), None));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn value(&self, row: usize, column: usize) -> Option<T> {
        self.window.get(row, column)
    }

    /// Borrows one row. Returns `None` if it is out of range or its values are not contiguous.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// assert_eq!(table.view()?.row(1), Some(&[3, 4][..]));
    /// assert_eq!(table.view()?.transposed().row(1), None);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row(&self, row: usize) -> Option<&'t [T]> {
        self.window.row(row)
    }

    /// Borrows one column. Returns `None` if it is out of range or its values are not contiguous.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.to_layout(DataLayout::ColumnMajor)?;
    /// assert_eq!(table.view()?.column(1), Some(&[2, 4][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column(&self, column: usize) -> Option<&'t [T]> {
        self.window.transposed().row(column)
    }

    /// Borrows all values as one slice. Returns `None` if they are not contiguous in row-major order.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// assert_eq!(table.view()?.as_slice(), Some(&[1, 2, 3, 4][..]));
    /// assert_eq!(table.view()?.slice_columns(0..1)?.as_slice(), None);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn as_slice(&self) -> Option<&'t [T]> {
        self.window.as_slice()
    }

    /// Returns a view of a range of rows.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// assert_eq!(table.view()?.slice_rows(1..2)?.value(0, 0), Some(3));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn slice_rows(&self, rows: impl RangeBounds<usize>) -> Result<Self> {
        let rows = rows_of(self.shape(), rows)?;
        self.region(&Region { rows, columns: 0..self.window.columns() })
    }

    /// Returns a view of a range of columns.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::OutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// assert_eq!(table.view()?.slice_columns(1..2)?.value(1, 0), Some(4));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn slice_columns(&self, columns: impl RangeBounds<usize>) -> Result<Self> {
        let columns = columns_of(self.shape(), columns)?;
        self.region(&Region { rows: 0..self.window.rows(), columns })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn region(&self, region: &Region) -> Result<Self> {
        region.check(self.shape())?;
        Ok(Self { window: self.window.cut(region.rows.clone(), region.columns.clone()) })
    }

    /// Returns the transposed view, with rows and columns exchanged. Cost: O(1), because only the strides are swapped.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2, 3]])?;
    /// assert_eq!(table.view()?.transposed().shape(), Shape { rows: 3, columns: 1 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn transposed(&self) -> Self {
        Self { window: self.window.transposed() }
    }

    /// Counts the losses of reading the values as `U`. Positions are relative to the view.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let table = HomogenNumericTable::from_rows(&[[1.5, 2.0]])?;
    /// assert_eq!(table.view()?.conversion_report::<u8>().inexact, 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn conversion_report<U: Element>(&self) -> ConversionReport {
        kernel::report(AnyWindow::new(self.window), U::TYPE)
    }

    /// Converts the values, row by row, into a slice. On an error, the slice may hold any values.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] unless the slice is as long as the view; [`ErrorKind::ValueNotRepresentable`] for
    /// the first value in row-major order that the policy refuses, at its position in the view.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.5, 2.0, 3.0], [4.0, 300.0, 6.0]])?;
    /// let mut columns = [0_i16; 6];
    /// table.view()?.transposed().convert_into(&mut columns, ConversionPolicy::Saturate)?;
    /// assert_eq!(columns, [1, 4, 2, 300, 3, 6]);
    /// assert!(table.view()?.convert_into(&mut [0_u8; 6], ConversionPolicy::Exact).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn convert_into<U: Element>(&self, target: &mut [U], policy: ConversionPolicy) -> Result<()> {
        same_count(self.shape().element_count()?, target.len())?;
        self.read_over(AnySliceMut::new(target), policy, Origin::default())
    }

    /// Checks that a policy permits every value in another element type.
    ///
    /// # Errors
    /// [`ErrorKind::ValueNotRepresentable`] for the first value in row-major order that the policy refuses, at its
    /// position in the view.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.0, 2.0, 3.0], [4.0, 300.0, 6.0]])?;
    /// assert!(table.view()?.check_conversion::<u8>(ConversionPolicy::Saturate).is_ok());
    /// let error = table.view()?.check_conversion::<u8>(ConversionPolicy::Checked).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn check_conversion<U: Element>(&self, policy: ConversionPolicy) -> Result<()> {
        self.check(U::TYPE, policy)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn window(&self) -> Window<'t, T> {
        self.window
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_window(window: Window<'t, T>) -> Self {
        Self { window }
    }

    /// Reads into memory whose old values are not needed. After an error, the memory may hold any values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn read_over(&self, target: AnySliceMut<'_>, policy: ConversionPolicy, origin: Origin) -> Result<()> {
        kernel::read_over(AnyWindow::new(self.window), target, policy, origin)
    }

    pub(crate) fn to_array(
        self,
        element_type: ElementType,
        policy: ConversionPolicy,
        origin: Origin,
    ) -> Result<AnyArray> {
        kernel::to_array(AnyWindow::new(self.window), element_type, policy, origin)
    }

    /// Checks that the policy permits every value in the target type.
    pub(crate) fn check(&self, element_type: ElementType, policy: ConversionPolicy) -> Result<()> {
        kernel::check(AnyWindow::new(self.window), element_type, policy, Origin::default())
    }
}

impl<'t, T: Element> TableViewMut<'t, T> {
    /// Creates a view of a slice as a table.
    ///
    /// # Errors
    /// [`ErrorKind::ArrayLength`] if the length of the slice is not exactly the number of values of the shape;
    /// [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableViewMut};
    /// let mut values = [1, 2, 3, 4];
    /// TableViewMut::new(&mut values, Shape { rows: 2, columns: 2 }, DataLayout::RowMajor)?.set_value(1, 0, 7)?;
    /// assert_eq!(values, [1, 2, 7, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(values: &'t mut [T], shape: Shape, layout: DataLayout) -> Result<Self> {
        let (have, need) = (values.len(), shape.check_length::<T>(values.len())?);
        Self::with_geometry(values, dense(shape, layout))
            .ok_or_else(|| Error::new(ErrorKind::ArrayLength { have, need }))
    }

    pub(crate) fn with_geometry(values: &'t mut [T], geometry: Geometry) -> Option<Self> {
        Some(Self { window: WindowMut::new(values, geometry)? })
    }

    /// Returns the number of rows and columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2, 3]])?;
    /// assert_eq!(table.view_mut()?.shape(), Shape { rows: 1, columns: 3 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn shape(&self) -> Shape {
        self.as_view().shape()
    }

    /// Returns a view of the same values, for reading.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2, 3]])?;
    /// assert_eq!(table.view_mut()?.as_view().value(0, 1), Some(2));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn as_view(&self) -> TableView<'_, T> {
        TableView { window: self.window.as_window() }
    }

    /// Borrows the same values for a shorter lifetime.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2, 3]])?;
    /// let mut view = table.view_mut()?;
    /// view.reborrow().fill(0);
    /// view.set_value(0, 0, 9)?;
    /// assert_eq!(table.as_slice()?, [9, 0, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn reborrow(&mut self) -> TableViewMut<'_, T> {
        TableViewMut { window: self.window.reborrow() }
    }

    /// Writes one value.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2, 3]])?;
    /// table.view_mut()?.set_value(0, 1, 7)?;
    /// assert!(table.view_mut()?.set_value(0, 3, 7).is_err());
    /// assert_eq!(table.as_slice()?, [1, 7, 3]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn set_value(&mut self, row: usize, column: usize, value: T) -> Result<()> {
        Region::of_value(row, column).check(self.shape())?;
        self.window.reborrow().cut(row..row + 1, column..column + 1).fill(value);
        Ok(())
    }

    /// Sets every value to `value`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2, 3]])?;
    /// table.view_mut()?.slice_columns(1..3)?.fill(0);
    /// assert_eq!(table.as_slice()?, [1, 0, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn fill(&mut self, value: T) {
        self.window.reborrow().fill(value);
    }

    /// Returns a view of a range of rows, for writing.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// table.view_mut()?.slice_rows(1..2)?.fill(0);
    /// assert_eq!(table.as_slice()?, [1, 2, 0, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn slice_rows(self, rows: impl RangeBounds<usize>) -> Result<Self> {
        let rows = rows_of(self.shape(), rows)?;
        let columns = 0..self.window.columns();
        self.region(&Region { rows, columns })
    }

    /// Returns a view of a range of columns, for writing.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::OutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// table.view_mut()?.slice_columns(0..1)?.fill(0);
    /// assert_eq!(table.as_slice()?, [0, 2, 0, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn slice_columns(self, columns: impl RangeBounds<usize>) -> Result<Self> {
        let columns = columns_of(self.shape(), columns)?;
        let rows = 0..self.window.rows();
        self.region(&Region { rows, columns })
    }

    pub(crate) fn region(self, region: &Region) -> Result<Self> {
        region.check(self.shape())?;
        Ok(Self { window: self.window.cut(region.rows.clone(), region.columns.clone()) })
    }

    /// Splits the view into two disjoint views: the first `rows` rows and the rest.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`] if the view has fewer rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// let (head, tail) = table.view_mut()?.split_at_row(2)?;
    /// assert_eq!((head.shape().rows, tail.shape().rows), (2, 0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn split_at_row(self, rows: usize) -> Result<(Self, Self)> {
        Region { rows: 0..rows, columns: 0..0 }.check(self.shape())?;
        Ok(self.cut_at_row(rows))
    }

    /// Like [`split_at_row`](Self::split_at_row), but panics if there are fewer rows. Callers must check the number of
    /// rows.
    pub(super) fn cut_at_row(self, rows: usize) -> (Self, Self) {
        let (head, tail) = self.window.split_at_row(rows);
        (Self { window: head }, Self { window: tail })
    }

    /// Returns a view of the same memory with rows and columns swapped.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
    /// let mut transposed = table.view_mut()?.transposed();
    /// assert_eq!(transposed.shape(), Shape { rows: 3, columns: 2 });
    /// transposed.set_value(2, 0, 30)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 30, 4, 5, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { window: self.window.transposed() }
    }

    /// Returns all values as one slice, for the whole lifetime of the borrow.
    ///
    /// # Errors
    /// Returns the view, unchanged, if its values are not contiguous in row-major order.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// table.view_mut()?.try_into_slice().unwrap().reverse();
    /// assert_eq!(table.as_slice()?, [4, 3, 2, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn try_into_slice(self) -> Result<&'t mut [T], Self> {
        self.window.into_slice().map_err(|window| Self { window })
    }

    /// Copies the values from another view of the same shape.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`]. On an error nothing is copied.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::TableView};
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// let row = TableView::new(&[7, 8], Shape { rows: 1, columns: 2 }, DataLayout::RowMajor)?;
    /// table.view_mut()?.slice_rows(1..2)?.copy_from(row)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 7, 8]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn copy_from(&mut self, other: TableView<'_, T>) -> Result<()> {
        if self.shape() != other.shape() {
            return Err(Error::new(ErrorKind::ShapeMismatch { expected: self.shape(), actual: other.shape() }));
        }
        self.window.reborrow().copy_from(other.window);
        Ok(())
    }

    #[cfg(feature = "ndarray")]
    pub(crate) fn of_window(window: WindowMut<'t, T>) -> Self {
        Self { window }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_window(self) -> WindowMut<'t, T> {
        self.window
    }
}

impl<T> fmt::Debug for TableView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TableView").field(&self.window.geometry()).finish()
    }
}

impl<T> fmt::Debug for TableViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TableViewMut").field(&self.window.geometry()).finish()
    }
}

/// Returns the geometry of a table whose values are contiguous.
fn dense(shape: Shape, layout: DataLayout) -> Geometry {
    let Shape { rows, columns } = shape;
    match layout {
        DataLayout::RowMajor => Geometry { rows, columns, row_stride: columns, column_stride: 1 },
        DataLayout::ColumnMajor => Geometry { rows, columns, row_stride: 1, column_stride: rows },
    }
}
