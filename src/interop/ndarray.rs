//! `ndarray` 0.17: views of tables and row blocks without a copy, and tables from owned arrays.
//!
//! The other way round always copies (`view.to_owned()`): `ndarray` can only own a `Vec`.

use ndarray::{Array2, ArrayView2};

use crate::array::Array;
use crate::block::RowBlock;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::table::{DataLayout, HomogenNumericTable, Shape, TableView};

impl<'t, T: Element> TableView<'t, T> {
    /// Looks at the same values as an `ndarray` view, whatever the layout. O(1), no copy.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`] for shapes without values that `ndarray` cannot express.
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
        self.to_ndarray().ok_or_else(|| overflow::<T>(self.shape()))
    }
}

impl<U: Element> RowBlock<'_, U> {
    /// Looks at the same values as an `ndarray` view. O(1), no copy.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`] for shapes without values that `ndarray` cannot express.
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
        let shape = Shape { rows: self.row_count(), columns: self.column_count() };
        ArrayView2::from_shape((shape.rows, shape.columns), self).map_err(|_| overflow::<U>(shape))
    }
}

impl<T: Element> HomogenNumericTable<T> {
    /// Makes a table from an `ndarray` array. No copy if its values lie one after another, by rows (then the table is
    /// row-major) or by columns (then it is column-major); else they are copied, by rows.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if a copy is needed and refused.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let array = ndarray::array![[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
    /// let address = array.as_ptr();
    /// let table = HomogenNumericTable::from_ndarray(array)?;
    /// assert_eq!(table.as_slice()?.as_ptr(), address);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    pub fn from_ndarray(array: Array2<T>) -> Result<Self> {
        let (rows, columns) = array.dim();
        let shape = Shape { rows, columns };
        let layout = if array.is_standard_layout() {
            DataLayout::RowMajor
        } else if array.t().is_standard_layout() {
            DataLayout::ColumnMajor
        } else {
            let mut values = Vec::new();
            let bytes = array.len().saturating_mul(size_of::<T>());
            values.try_reserve_exact(array.len()).map_err(|_| Error::OutOfMemory { bytes })?;
            values.extend(array.iter().copied());
            return Self::from_array(values, shape);
        };
        let count = array.len();
        let (values, offset) = array.into_raw_vec_and_offset();
        let first = offset.unwrap_or(0);
        let values = Array::from(values);
        let values = if values.count() == count { values } else { values.slice(first..first + count)? };
        Self::from_array_in(values, shape, layout)
    }
}

fn overflow<T: Element>(shape: Shape) -> Error {
    Error::SizeOverflow { shape, element: Some(T::TYPE) }
}
