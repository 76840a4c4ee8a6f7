//! Conversion of tables.

use super::AsTable;
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::convert::ConversionPolicy;
use crate::table::{HomogenNumericTable, NumericTable, SoaNumericTable, beside};

/// Converts a table of any kind to one element type, or to a table that owns its values.
pub trait TableConversion: AsTable {
    /// Converts a table of any kind, with columns of any types, to a homogeneous table under
    /// [`ConversionPolicy::Saturate`].
    ///
    /// Shares the memory if it is one array of `T`; otherwise the new table is row-major. Keeps the dictionary except
    /// for the element types. Source: DAAL `convertToHomogen`, which converts through `float`.
    ///
    /// # Errors
    /// Errors from reading the entire table; [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1.9_f64, -7.0]])?);
    /// assert_eq!(table.convert::<u8>()?.as_slice()?, [1, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn convert<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        self.convert_with(ConversionPolicy::Saturate)
    }

    /// Like `convert`, under the given policy.
    ///
    /// # Errors
    /// Those of `convert`; [`ErrorKind::ValueNotRepresentable`] for the first refused value in row-major order.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1.5_f64, -7.0]])?);
    /// assert!(table.convert_with::<u8>(ConversionPolicy::Exact).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn convert_with<T: Element>(&self, policy: ConversionPolicy) -> Result<HomogenNumericTable<T>> {
        HomogenNumericTable::of_table(self.as_table(), policy)
    }

    /// Copies the contents into a table that owns its values: a homogeneous, row-major one if all columns have one
    /// type and none is nullable, otherwise a structure of arrays. Keeps the dictionary, and missing values. Cost:
    /// O(values), in several threads for large tables.
    ///
    /// If the memory is already one array, or one array per column, the result shares it, as clones do.
    ///
    /// # Errors
    /// Errors from reading the entire table; [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 6]])?;
    /// let corner: Box<dyn NumericTable> = table.tail(1)?.select_columns([2, 0])?.to_table()?;
    /// drop(table);
    /// assert_eq!(corner.rows::<u8>(..)?[..], [6, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn to_table(&self) -> Result<Box<dyn NumericTable>> {
        beside::to_table(self.as_table())
    }

    /// Copies the columns into a structure of arrays, each in its own type. Keeps the dictionary, and missing values.
    /// Cost: O(values), in several threads for large tables. A column that is already an array is shared, as clones
    /// share it, and so is its bitmap.
    ///
    /// # Errors
    /// Errors from reading the entire table; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let mut columns = table.to_columns()?;
    /// columns.push_column("sum", vec![3_u16, 7])?;
    /// assert_eq!((columns.column_slice::<u8>(1)?, columns.column_type(2)?), (&[2, 4][..], ElementType::U16));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn to_columns(&self) -> Result<SoaNumericTable> {
        beside::to_columns(self.as_table())
    }
}

impl<N: AsTable + ?Sized> TableConversion for N {}
