//! Borrowed values as tables: a view that implements [`NumericTable`].
//!
//! The views themselves are in `view`. They are `Copy`, and have neither a dictionary nor an identity. Borrowed
//! *tables* are in `borrow`. Semantics: DAAL `HomogenNumericTable::create(ptr, columns, rows)`, which does not check
//! the pointer's lifetime.

use std::fmt;

use super::numeric_table::describe;
use super::{DataLayout, NumericTable, Piece, PieceMut, Shape, TableId, TableView, TableViewMut, Token};
use crate::base::element::{Element, ElementType};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::dictionary::{DataDictionary, Feature};

/// A read-only table on borrowed values: a slice, a [`TableView`] or an `ndarray` view. Copies nothing. The compiler
/// ensures that the values outlive the table.
///
/// Blocks in the values' own type borrow them where their rows are contiguous. Descriptors outlive the borrow of the
/// table, so they hold copies. Like any other table, this one can be passed as `&dyn NumericTable`, joined with other
/// tables, described, saved and printed. Writing and resizing return errors.
///
/// Source: the third scenario in DAAL's developer guide, "the data is already available in memory".
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::BasicStatistics, table::BorrowedTable};
/// let values = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let table = BorrowedTable::new(&values, Shape { rows: 3, columns: 2 })?;
/// assert!(table.rows::<f32>(1..)?.is_zero_copy());
/// assert_eq!(table.rows::<f64>(1..)?[..], [3.0, 4.0, 5.0, 6.0]);
/// assert_eq!(BasicStatistics::compute(&table)?.per_column()[1].mean(), 4.0);
/// # Ok::<(), Error>(())
/// ```
pub struct BorrowedTable<'t, T> {
    id: TableId,
    view: TableView<'t, T>,
    /// Invariant: describes the columns of the view.
    dictionary: DataDictionary,
}

/// A writable table on mutably borrowed values: a slice, a [`TableViewMut`] or an `ndarray` view. Writing to the table
/// writes to these values.
///
/// Blocks in the values' own type borrow them, and write in place, where their rows are contiguous. Descriptors outlive
/// the borrow of the table, so they hold copies and write them back when released. Resizing returns an error.
///
/// Source: the third scenario in DAAL's developer guide, "the data is already available in memory".
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::BorrowedTableMut};
/// let mut values = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let mut table = BorrowedTableMut::new(&mut values, Shape { rows: 3, columns: 2 })?;
/// table.update_rows::<f64, _>(1.., |block| {
///     block.iter_mut().for_each(|value| *value *= 10.0);
///     Ok(())
/// })?;
/// assert_eq!(values, [1.0, 2.0, 30.0, 40.0, 50.0, 60.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct BorrowedTableMut<'t, T> {
    id: TableId,
    view: TableViewMut<'t, T>,
    /// Invariant: describes the columns of the view.
    dictionary: DataDictionary,
}

fn plain<T: Element>(shape: Shape) -> DataDictionary {
    DataDictionary::uniform(Feature::new(T::TYPE), shape.columns)
}

impl<'t, T: Element> BorrowedTable<'t, T> {
    /// Creates a row-major table on a slice. For other layouts and strides, see
    /// [`From<TableView>`](#trait-implementations).
    ///
    /// # Errors
    /// [`ErrorKind::ArrayLength`] if the length of the slice is not exactly the number of values of the shape;
    /// [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::BorrowedTable};
    /// let table = BorrowedTable::new(&[1_u8, 2, 3, 4], Shape { rows: 2, columns: 2 })?;
    /// assert_eq!(table.value::<i32>(1, 0)?, 3);
    /// assert!(BorrowedTable::new(&[1_u8, 2, 3], Shape { rows: 2, columns: 2 }).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(values: &'t [T], shape: Shape) -> Result<Self> {
        TableView::new(values, shape, DataLayout::RowMajor).map(Self::from)
    }

    /// Returns a view of the values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::BorrowedTable};
    /// let table = BorrowedTable::new(&[1_u8, 2, 3, 4], Shape { rows: 2, columns: 2 })?;
    /// assert_eq!(table.view().row(1), Some(&[3, 4][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn view(&self) -> TableView<'t, T> {
        self.view
    }
}

impl<'t, T: Element> BorrowedTableMut<'t, T> {
    /// Creates a row-major table on a slice. For other layouts and strides, see
    /// [`From<TableViewMut>`](#trait-implementations).
    ///
    /// # Errors
    /// [`ErrorKind::ArrayLength`] if the length of the slice is not exactly the number of values of the shape;
    /// [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::BorrowedTableMut};
    /// let mut values = [1_u8, 2, 3, 4];
    /// BorrowedTableMut::new(&mut values, Shape { rows: 2, columns: 2 })?.set_value(1, 0, 30)?;
    /// assert_eq!(values, [1, 2, 30, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(values: &'t mut [T], shape: Shape) -> Result<Self> {
        TableViewMut::new(values, shape, DataLayout::RowMajor).map(Self::from)
    }

    /// Consumes the table and returns the view of its values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::BorrowedTableMut};
    /// let mut values = [1_u8, 2, 3, 4];
    /// let table = BorrowedTableMut::new(&mut values, Shape { rows: 2, columns: 2 })?;
    /// table.into_view().fill(7);
    /// assert_eq!(values, [7; 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_view(self) -> TableViewMut<'t, T> {
        self.view
    }
}

/// Creates a table on the values of a view, with any strides.
impl<'t, T: Element> From<TableView<'t, T>> for BorrowedTable<'t, T> {
    fn from(view: TableView<'t, T>) -> Self {
        Self { id: TableId::new(), view, dictionary: plain::<T>(view.shape()) }
    }
}

/// Creates a table on the values of a view, with any strides.
impl<'t, T: Element> From<TableViewMut<'t, T>> for BorrowedTableMut<'t, T> {
    fn from(view: TableViewMut<'t, T>) -> Self {
        Self { id: TableId::new(), dictionary: plain::<T>(view.shape()), view }
    }
}

macro_rules! borrowed_table {
    ($Table:ident, $name:literal, $self:ident => $view:expr; $($writing:tt)*) => {
        impl<T: Element> NumericTable for $Table<'_, T> {
            fn shape(&$self) -> Shape {
                $view.shape()
            }

            fn dictionary(&self) -> &DataDictionary {
                &self.dictionary
            }

            fn id(&self) -> TableId {
                self.id
            }

            fn uniform_type(&self) -> Option<ElementType> {
                Some(T::TYPE)
            }

            fn data_layout(&$self) -> DataLayout {
                match $view.strides() {
                    (1, columns) if columns != 1 => DataLayout::ColumnMajor,
                    _ => DataLayout::RowMajor,
                }
            }

            fn own_dictionary(&mut self, _: Token) -> Option<&mut DataDictionary> {
                Some(&mut self.dictionary)
            }

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn piece(&$self, _: usize, _: usize) -> Result<Option<Piece<'_>>> {
                Ok(Some(Piece::new(0, 0, $view)))
            }

            $($writing)*
        }

        impl<T: Element> fmt::Debug for $Table<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                describe($name, self, f)
            }
        }
    };
}

borrowed_table!(BorrowedTable, "BorrowedTable", self => self.view;);
borrowed_table!(BorrowedTableMut, "BorrowedTableMut", self => self.view.as_view();
    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        Ok(vec![PieceMut::new(0, 0, self.view.reborrow())])
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn piece_mut(&mut self, _: usize, _: usize) -> Result<Option<PieceMut<'_>>> {
        Ok(Some(PieceMut::new(0, 0, self.view.reborrow())))
    }
);
