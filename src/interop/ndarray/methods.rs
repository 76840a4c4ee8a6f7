//! Methods that convert to `ndarray` 0.17.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use crate::base::element::Element;
use crate::base::error::Result;
use crate::block::{Block, BlockMut};
use crate::table::{HomogenNumericTable, TableView, TableViewMut};

impl<'t, T: Element> TableView<'t, T> {
    /// Returns an `ndarray` view of the same values, in any layout. O(1), no copy.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow) for shapes without values that `ndarray` cannot
    /// represent.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.0_f64, 2.0], [3.0, 4.0]])?;
    /// let means = table.view()?.as_ndarray()?.mean_axis(ndarray::Axis(0)).unwrap();
    /// assert_eq!(means.to_vec(), [2.0, 3.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    pub fn as_ndarray(&self) -> Result<ArrayView2<'t, T>> {
        (*self).try_into()
    }
}

impl<'t, T: Element> TableViewMut<'t, T> {
    /// Converts the view to a mutable `ndarray` view of the same values, in any layout. O(1), no copy.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow) for shapes without values that `ndarray` cannot
    /// represent.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// let mut array = table.view_mut()?.into_ndarray()?;
    /// array.column_mut(1).fill(7);
    /// array += 1;
    /// assert_eq!(table.as_slice()?, [2, 8, 4, 8]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    pub fn into_ndarray(self) -> Result<ArrayViewMut2<'t, T>> {
        self.try_into()
    }
}

impl<U: Element> Block<'_, U> {
    /// Returns an `ndarray` view of the same values. O(1), no copy.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow) for shapes without values that `ndarray` cannot
    /// represent.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// assert_eq!(table.rows::<f32>(0..2)?.as_ndarray()?[(1, 0)], 3.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    pub fn as_ndarray(&self) -> Result<ArrayView2<'_, U>> {
        self.try_into()
    }
}

impl<U: Element> BlockMut<'_, U> {
    /// Returns an `ndarray` view of the same values. O(1), no copy.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow) for shapes without values that `ndarray` cannot
    /// represent.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// assert_eq!(table.rows_mut::<f32>(0..2)?.as_ndarray()?.sum(), 10.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    pub fn as_ndarray(&self) -> Result<ArrayView2<'_, U>> {
        self.try_into()
    }

    /// Returns a mutable `ndarray` view of the same values. O(1), no copy. Changes are written back when the block is
    /// released.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow) for shapes without values that `ndarray` cannot
    /// represent.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let mut block = table.rows_mut::<f32>(0..2)?;
    /// block.as_ndarray_mut()?.mapv_inplace(|value| value * 10.0);
    /// block.release()?;
    /// assert_eq!(table.as_slice()?, [10, 20, 30, 40]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    pub fn as_ndarray_mut(&mut self) -> Result<ArrayViewMut2<'_, U>> {
        self.try_into()
    }
}

impl<T: Element> HomogenNumericTable<T> {
    /// Copies the values to an array: in standard layout if the table is row-major, in Fortran layout if it is
    /// column-major.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`](crate::ErrorKind::NotAllocated),
    /// [`ErrorKind::BlockOutstanding`](crate::ErrorKind::BlockOutstanding),
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory);
    /// [`ErrorKind::SizeOverflow`](crate::ErrorKind::SizeOverflow) for shapes without values that `ndarray` cannot
    /// represent.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// assert_eq!(table.to_ndarray()?, ndarray::array![[1, 2], [3, 4]]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    pub fn to_ndarray(&self) -> Result<Array2<T>> {
        self.try_into()
    }

    /// Converts the table to an array without a copy. This requires that its memory is an unshared `Vec`, because the
    /// table was created from a `Vec` or an array.
    ///
    /// # Errors
    /// Returns the table unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_array(vec![1, 2, 3, 4], Shape { rows: 2, columns: 2 })?;
    /// let address = table.as_slice()?.as_ptr();
    /// assert_eq!(table.try_into_ndarray().unwrap().as_ptr(), address);
    ///
    /// let table = HomogenNumericTable::full(Shape { rows: 2, columns: 2 }, 7)?; // memory of the library
    /// let table = table.try_into_ndarray().unwrap_err();
    /// assert_eq!(table.to_ndarray()?[(1, 0)], 7);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    #[expect(clippy::result_large_err)] // the error holds the table
    pub fn try_into_ndarray(self) -> Result<Array2<T>, Self> {
        self.try_into()
    }
}
