//! Access to columns by name.

use std::ops::RangeBounds;

use super::{Block, BlockAccess, BlockMut};
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::table::{NumericTable, Token};

/// Access to columns by name, for every kind of table including `dyn NumericTable`.
///
/// If several columns have the same name, it refers to the first one. An unknown name is [`ErrorKind::UnknownName`],
/// which lists similar names.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let mut table = HomogenNumericTable::from_rows(&[[36_u8, 170], [41, 182]])?;
/// table.set_names(["age", "height"])?;
/// assert_eq!(table.column_named::<f64>("height", ..)?[..], [170.0, 182.0]);
/// table.rename("age", "years")?;
/// assert!(table.names().eq([Some("years"), Some("height")]));
/// let error = table.column_named::<f64>("hight", ..).unwrap_err();
/// assert_eq!(error.to_string(), r#"no column has the name "hight"; similar names: "height""#);
/// # Ok::<(), Error>(())
/// ```
pub trait NamedColumns: NumericTable {
    /// Returns the names of the columns, in order; `None` for an unnamed column. Allocates nothing.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// assert!(table.names().eq([None, None]));
    /// # Ok::<(), Error>(())
    /// ```
    fn names(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.dictionary().names()
    }

    /// Returns the index of the first column with the given name. O(columns) for a single lookup, O(1) each for many.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// table.set_names(["a", "b"])?;
    /// assert_eq!(table.column_index("b")?, 1);
    /// # Ok::<(), Error>(())
    /// ```
    fn column_index(&self, name: &str) -> Result<usize> {
        self.dictionary().try_index_of(name)
    }

    /// Borrows the values of a column, as [`BlockAccess::column`] does.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`]; those of [`BlockAccess::column`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// table.set_names(["a", "b"])?;
    /// assert_eq!(table.column_named::<f32>("b", 1..)?[..], [4.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn column_named<U: Element>(&self, name: &str, rows: impl RangeBounds<usize>) -> Result<Block<'_, U>> {
        self.column(self.column_index(name)?, rows)
    }

    /// Borrows the values of a column for writing, as [`BlockAccess::column_mut`] does.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`]; those of [`BlockAccess::column_mut`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// table.set_names(["a", "b"])?;
    /// let mut block = table.column_named_mut::<f32>("b", ..)?;
    /// block.fill(7.0);
    /// block.release()?;
    /// assert_eq!(table.as_slice()?, [1, 7, 3, 7]);
    /// # Ok::<(), Error>(())
    /// ```
    fn column_named_mut<U: Element>(&mut self, name: &str, rows: impl RangeBounds<usize>) -> Result<BlockMut<'_, U>> {
        self.column_mut(self.column_index(name)?, rows)
    }

    /// Sets the names of all columns and keeps the rest of their metadata.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the numbers of names and columns differ; [`ErrorKind::ReadOnlyTable`] if the
    /// table's dictionary cannot be changed. On an error no name is changed.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// table.set_names(["a", "b"])?;
    /// let error = table.set_names(["a"]).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::LengthMismatch { expected: 2, actual: 1 }));
    /// assert!(table.names().eq([Some("a"), Some("b")]));
    /// # Ok::<(), Error>(())
    /// ```
    fn set_names<N: Into<String>>(&mut self, names: impl IntoIterator<Item = N>) -> Result<()> {
        self.set_dictionary(self.dictionary().with_names(names)?)
    }

    /// Renames a column. O(columns) for one. For many, amortized O(1) each in the library's own kinds of tables, unless
    /// a clone of the table or of its dictionary shares the names, which are then copied once.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`]; [`ErrorKind::OutOfMemory`]; [`ErrorKind::ReadOnlyTable`] if the table's dictionary
    /// cannot be changed. On an error no name is changed.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// table.set_names(["a", "b"])?;
    /// table.rename("a", "c")?;
    /// assert!(table.rename("a", "d").is_err() && table.column_index("c")? == 0);
    /// # Ok::<(), Error>(())
    /// ```
    fn rename(&mut self, name: &str, new: impl Into<String>) -> Result<()> {
        let column = self.column_index(name)?;
        if let Some(dictionary) = self.own_dictionary(Token::new()) {
            return dictionary.rename(column, new.into());
        }
        let mut dictionary = self.dictionary().clone();
        dictionary.rename(column, new.into())?;
        self.set_dictionary(dictionary)
    }
}

impl<N: NumericTable + ?Sized> NamedColumns for N {}
