//! Pieces: the rectangles of memory that make up a table.
//!
//! A table in memory is a tiling of windows, each of one element type with a row stride and a column stride. `tiling`
//! implements operations on tables once, over their pieces.

use std::ops::Range;

use super::{DataLayout, Region, Shape, TableView, TableViewMut};
use crate::array::{AnyArrayRef, Array};
use crate::base::element::{Element, ElementType};
use crate::window::{AnySlice, AnySliceMut, AnyWindow, AnyWindowMut, Geometry};

/// A rectangle of a table: values of one type in memory, for reading.
///
/// Returned by [`NumericTable::piece`](super::NumericTable::piece). A descriptor can share the memory of a piece made
/// by [`of_array`](Self::of_array), and copies any other.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::spi::Piece};
/// let values = [1.0_f32, 2.0, 3.0, 4.0];
/// let view = TableView::new(&values, Shape { rows: 2, columns: 2 }, DataLayout::ColumnMajor)?;
/// let piece = Piece::new(10, 0, view); // rows 10 and 11 of a table
/// assert_eq!((piece.region().rows.clone(), piece.element_type()), (10..12, ElementType::F32));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone)]
pub struct Piece<'t> {
    region: Region,
    window: AnyWindow<'t>,
    /// The array that holds the window's values, and the index of the first one.
    array: Option<(AnyArrayRef<'t>, usize)>,
}

impl<'t> Piece<'t> {
    /// Creates a piece with the shape of a view, whose first value is at the given row and column of the table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::Piece};
    /// let column = TableView::new(&[1_u8, 2, 3], Shape { rows: 3, columns: 1 }, DataLayout::RowMajor)?;
    /// assert_eq!(Piece::new(0, 4, column).region().columns, 4..5);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new<T: Element>(row: usize, column: usize, values: TableView<'t, T>) -> Self {
        let window = AnyWindow::new(values.window());
        Self { region: Region::at(row, column, values.shape()), window, array: None }
    }

    /// Like [`new`](Self::new), for a view of an array's values from index `first` on. Descriptors may share the array.
    ///
    /// If the view is not of this array, the piece is not shared.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::Piece};
    /// let array = Array::from(vec![1_i16, 2, 3, 4]);
    /// let view = TableView::new(&array[2..], Shape { rows: 1, columns: 2 }, DataLayout::RowMajor)?;
    /// assert_eq!(Piece::of_array(0, 0, view, &array, 2).element_type(), ElementType::I16);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn of_array<T: Element>(
        row: usize,
        column: usize,
        values: TableView<'t, T>,
        array: &'t Array<T>,
        first: usize,
    ) -> Self {
        let window = values.window();
        let is_of = |rest: &[T]| rest.as_ptr() == window.as_ptr() && window.geometry().fits(rest.len());
        let array = array.get(first..).is_some_and(is_of).then(|| (AnyArrayRef::new(array), first));
        Self { array, ..Self::new(row, column, values) }
    }

    /// Restricts the piece to its intersection with a region of the table, since a piece may cover more than its table.
    /// `None` if the intersection is empty.
    pub(super) fn within(self, extent: &Region) -> Option<Self> {
        let region = self.region.common(extent);
        if region == self.region {
            return Some(self);
        }
        let place = self.region.place_of(&region).filter(|place| !place.shape().is_empty())?;
        let (offset, _) = self.window.geometry().cut(&place.rows, &place.columns);
        let array = self.array.map(|(array, first)| (array, first + offset));
        Some(Self { region, window: self.window.cut(place.rows, place.columns), array })
    }

    /// Creates a piece with the shape of a window, whose first value is at row 0 and the given column of the table.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of_window(column: usize, window: AnyWindow<'t>) -> Self {
        let shape = Shape { rows: window.rows(), columns: window.columns() };
        Self { region: Region::at(0, column, shape), window, array: None }
    }

    /// Returns the same piece, relative to a part of its table that begins the given number of rows down and columns to
    /// the right. The piece must lie in the part.
    pub(super) fn moved_back(self, rows: usize, columns: usize) -> Self {
        Self { region: self.region.moved_back(rows, columns), ..self }
    }

    /// Creates the piece of a column that is stored in a separate array.
    pub(super) fn of_column(column: usize, array: AnyArrayRef<'t>) -> Self {
        let values = array.as_slice();
        let shape = Shape { rows: values.len(), columns: 1 };
        let window = AnyWindow::of_rows(values, shape.rows, 1);
        Self { region: Region::at(0, column, shape), window, array: Some((array, 0)) }
    }

    /// Returns the same piece, moved down and to the right by the given numbers of rows and columns. For tables that
    /// contain another table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::Piece};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let piece = table.piece(0, 0)?.unwrap().moved(100, 7);
    /// assert_eq!((piece.region().rows.clone(), piece.region().columns.clone()), (100..102, 7..9));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn moved(self, rows: usize, columns: usize) -> Self {
        Self { region: self.region.moved(rows, columns), ..self }
    }

    /// Returns the rows and columns of the table that the piece covers.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::Region};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// assert_eq!(table.piece(1, 1)?.unwrap().region(), &Region { rows: 0..2, columns: 0..2 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Returns the type of the values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// assert_eq!(table.piece(0, 0)?.unwrap().element_type(), ElementType::U8);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn element_type(&self) -> ElementType {
        self.window.element_type()
    }

    /// Borrows the values, if they are of type `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let piece = table.piece(0, 0)?.unwrap();
    /// assert_eq!(piece.view::<u8>().unwrap().row(1), Some(&[3, 4][..]));
    /// assert!(piece.view::<i8>().is_none());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn view<T: Element>(&self) -> Option<TableView<'t, T>> {
        self.window.downcast().map(TableView::of_window)
    }

    /// Returns the window of a region, if the piece covers all of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn window_of(&self, region: &Region) -> Option<AnyWindow<'t>> {
        let place = self.region.place_of(region)?;
        Some(self.window.cut(place.rows, place.columns))
    }

    /// Returns the size of the values in bytes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn size_in_bytes(&self) -> usize {
        self.window.size_in_bytes()
    }

    /// Returns the values of a region, if the piece covers all of it, and they are of type `element` and contiguous in
    /// row-major order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn any_slice_of(&self, region: &Region, element: ElementType) -> Option<AnySlice<'t>> {
        self.window_of(region).filter(|window| window.element_type() == element)?.as_slice()
    }

    /// Returns the array that holds the values of a region, and their range in it, if the piece covers the region, and
    /// the values are of type `element` and contiguous in the order of the layout.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn any_array_of(
        &self,
        region: &Region,
        element: ElementType,
        layout: DataLayout,
    ) -> Option<(AnyArrayRef<'t>, Range<usize>)> {
        let (array, first) = self.array?;
        let place = self.region.place_of(region)?;
        let (offset, geometry) = self.window.geometry().cut(&place.rows, &place.columns);
        let ordered = match layout {
            DataLayout::RowMajor => geometry,
            DataLayout::ColumnMajor => geometry.transposed(),
        };
        let (start, end) = (first + offset, first + offset + geometry.rows * geometry.columns);
        let is_one = ordered.is_row_major_contiguous() && array.element_type() == element;
        is_one.then_some((array, start..end))
    }
}

/// A rectangle of a table: values of one type in memory, for writing.
///
/// Returned by [`NumericTable::pieces_mut`](super::NumericTable::pieces_mut).
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::spi::PieceMut};
/// let mut values = [1.0_f32, 2.0, 3.0, 4.0];
/// let view = TableViewMut::new(&mut values, Shape { rows: 2, columns: 2 }, DataLayout::ColumnMajor)?;
/// assert_eq!(PieceMut::new(10, 0, view).region().rows, 10..12);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct PieceMut<'t> {
    region: Region,
    window: AnyWindowMut<'t>,
}

impl<'t> PieceMut<'t> {
    /// Creates a piece with the shape of a view, whose first value is at the given row and column of the table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::PieceMut};
    /// let mut values = [1_u8, 2, 3];
    /// let column = TableViewMut::new(&mut values, Shape { rows: 3, columns: 1 }, DataLayout::RowMajor)?;
    /// assert_eq!(PieceMut::new(0, 4, column).region().columns, 4..5);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new<T: Element>(row: usize, column: usize, values: TableViewMut<'t, T>) -> Self {
        Self { region: Region::at(row, column, values.shape()), window: AnyWindowMut::new(values.into_window()) }
    }

    /// Restricts the piece to its intersection with a region of the table, as [`Piece::within`] does.
    pub(super) fn within(self, extent: &Region) -> Option<Self> {
        let region = self.region.common(extent);
        if region == self.region {
            return Some(self);
        }
        let place = self.region.place_of(&region).filter(|place| !place.shape().is_empty())?;
        Some(Self { region, window: self.window.cut(place.rows, place.columns) })
    }

    /// Creates a piece with the shape of a window, whose first value is at row 0 and the given column of the table.
    pub(super) fn of_window(column: usize, window: AnyWindowMut<'t>) -> Self {
        let Geometry { rows, columns, .. } = window.geometry();
        Self { region: Region::at(0, column, Shape { rows, columns }), window }
    }

    /// Creates the piece of a column that is stored in a separate array.
    pub(super) fn of_column(column: usize, values: AnySliceMut<'t>) -> Self {
        let shape = Shape { rows: values.len(), columns: 1 };
        Self { region: Region::at(0, column, shape), window: AnyWindowMut::of_rows(values, shape.rows, 1) }
    }

    /// Returns the same piece, moved down and to the right by the given numbers of rows and columns. For tables that
    /// contain another table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::PieceMut};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let pieces: Vec<PieceMut> = table.pieces_mut()?.into_iter().map(|piece| piece.moved(100, 7)).collect();
    /// assert_eq!(pieces[0].region().rows, 100..102);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn moved(self, rows: usize, columns: usize) -> Self {
        Self { region: self.region.moved(rows, columns), ..self }
    }

    /// Returns the rows and columns of the table that the piece covers.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// assert_eq!(table.pieces_mut()?[0].region().columns, 0..2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Returns the type of the values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// assert_eq!(table.pieces_mut()?[0].element_type(), ElementType::U8);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn element_type(&self) -> ElementType {
        self.window.element_type()
    }

    /// Returns the window of a region, if the piece covers all of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_window_of(self, region: &Region) -> Option<AnyWindowMut<'t>> {
        let place = self.region.place_of(region)?;
        Some(self.window.cut(place.rows, place.columns))
    }

    /// Returns the values of a region, if the piece covers all of it, and they are of type `element` and contiguous in
    /// row-major order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn into_any_slice_of(self, region: &Region, element: ElementType) -> Option<AnySliceMut<'t>> {
        self.into_window_of(region).filter(|window| window.element_type() == element)?.into_slice().ok()
    }
}
