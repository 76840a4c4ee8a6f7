//! Tables side by side and tables end to end. The code that they share is in `joined`.

use std::fmt;

use super::borrow::{forwards_reading, forwards_writing};
use super::joined::{Axis, Joined};
use super::numeric_table::describe;
use super::{NumericTable, Rejected, TableKind};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// Several tables side by side: the columns of the first, then those of the second, and so on. Nothing is copied.
///
/// ```text
///         first        second
///        ┌───────────┬────────┐
///  row 0 │ 5.1   3.5 │ 0      │   rows as f64: 5.1 3.5 0.0
///  row 1 │ 4.9   3.0 │ 2      │
///        └───────────┴────────┘
///           f32          u8
/// ```
///
/// The tables may be of any kind and any element types, including merged and [borrowed](crate::table::by_mut) tables.
/// They need the same number of rows. Reading and writing act on these tables directly. A write is checked first, and
/// changes all of them or none. The dictionary is a copy of their dictionaries at the time of joining;
/// [`set_dictionary`](NumericTable::set_dictionary) changes this table's copy only.
///
/// A block of rows is a converted copy, unless its columns are all in one table. Finding the table of a column takes
/// O(log tables). A block that is written in place locks the table that holds it; a copy locks nothing. The size cannot
/// be changed. Saving writes a homogeneous table if all columns have one type, otherwise a structure of arrays.
///
/// Some tables, such as sparse and packed ones, have no [pieces](NumericTable::pieces_mut) for writing. They can be
/// written by regions that lie in one of them alone: single values, and columns. Blocks of rows that include columns of
/// another table can be read and edited, but writing them back, and [`fill`](crate::BlockAccess::fill), fail with
/// [`ErrorKind::ReadOnlyTable`], and nothing is written.
///
/// Source: DAAL `MergedNumericTable`, which truncates its tables to the smallest number of rows.
///
/// # Examples
/// ```
/// use numeric_table::{MergedNumericTable, prelude::*};
/// let features = HomogenNumericTable::from_rows(&[[5.1_f32, 3.5], [4.9, 3.0]])?;
/// let labels = HomogenNumericTable::from_rows(&[[0_u8], [2]])?;
/// let mut table = MergedNumericTable::new([Box::new(features) as Box<dyn NumericTable>, Box::new(labels)])?;
/// assert_eq!(table.shape(), Shape { rows: 2, columns: 3 });
/// assert_eq!(table.rows::<f32>(1..)?[..], [4.9, 3.0, 2.0]);
/// assert!(table.column::<u8>(2, ..)?.is_zero_copy());
///
/// table.update_rows::<f64, _>(.., |block| {
///     block.iter_mut().for_each(|value| *value = value.round());
///     Ok(())
/// })?;
/// let [features, labels] = &table.into_tables()[..] else { panic!("two tables") };
/// assert_eq!(features.rows::<f32>(..)?[..], [5.0, 4.0, 5.0, 3.0]); // 3.5 is a tie: rounds away from zero
/// assert_eq!(labels.rows::<u8>(..)?[..], [0, 2]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct MergedNumericTable<'t>(Joined<'t>);

/// Several tables end to end: the rows of the first, then those of the second, and so on. Nothing is copied.
///
/// The tables may be of any kind, including merged and [borrowed](crate::table::by_mut) tables. They need the same
/// number of columns, and the same element type in each. Reading and writing act on these tables directly. A write is
/// checked first, and changes all of them or none. The dictionary is a copy of the first table's;
/// [`set_dictionary`](NumericTable::set_dictionary) changes this table's copy only.
///
/// A block of rows that lies in one table is that table's block. It borrows the table's memory if the values there are
/// contiguous and of the requested type. Finding the table of a row takes O(log tables). A block that is written in
/// place locks the table that holds it; a copy locks nothing. The size cannot be changed. Saving writes a homogeneous
/// table if all columns have one type, otherwise a structure of arrays.
///
/// Some tables, such as sparse and packed ones, have no [pieces](NumericTable::pieces_mut) for writing. They can be
/// written by regions that lie in one of them alone: single values, and blocks of rows of one table. Blocks that
/// include rows of another table can be read and edited, but writing them back, and [`fill`](crate::BlockAccess::fill),
/// fail with [`ErrorKind::ReadOnlyTable`], and nothing is written.
///
/// Source: DAAL `RowMergedNumericTable`, which describes all columns as the first table does, even if the others
/// differ.
///
/// # Examples
/// ```
/// use numeric_table::{RowMergedNumericTable, prelude::*};
/// let monday = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.0, 4.0]])?;
/// let tuesday = HomogenNumericTable::from_rows(&[[5.0_f32, 6.0]])?;
/// let table = RowMergedNumericTable::new([Box::new(monday) as Box<dyn NumericTable>, Box::new(tuesday)])?;
/// assert_eq!(table.shape(), Shape { rows: 3, columns: 2 });
/// assert_eq!(table.rows::<f64>(1..)?[..], [3.0, 4.0, 5.0, 6.0]);
/// assert!(table.rows::<f32>(..2)?.is_zero_copy()); // all in one table
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct RowMergedNumericTable<'t>(Joined<'t>);

macro_rules! joined_tables {
    ($Table:ident, $name:literal, $axis:expr, $kind:expr) => {
        impl<'t> $Table<'t> {
            /// Joins tables. O(columns) for each.
            ///
            /// # Errors
            /// [`ErrorKind::ParameterOutOfRange`] without tables; [`ErrorKind::UnequalTables`];
            /// [`ErrorKind::DictionaryMismatch`] for a kind of table whose dictionary does not describe its columns;
            /// [`ErrorKind::LimitExceeded`], [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`]. An error drops
            /// the tables; [`push`](Self::push) returns a refused table.
            pub fn new(tables: impl IntoIterator<Item = Box<dyn NumericTable + 't>>) -> Result<Self> {
                let mut tables = tables.into_iter();
                let mut joined = Self(Joined::of($axis, tables.next().ok_or_else(Error::no_tables)?)?);
                tables.try_for_each(|table| joined.push(table).map_err(Rejected::into_error))?;
                Ok(joined)
            }

            /// Appends a table. O(columns).
            ///
            /// # Errors
            /// [`ErrorKind::UnequalTables`]; [`ErrorKind::DictionaryMismatch`] for a kind of table whose dictionary
            /// does not describe its columns; [`ErrorKind::LimitExceeded`], [`ErrorKind::SizeOverflow`],
            /// [`ErrorKind::OutOfMemory`]. The error returns the table, and this one is unchanged.
            pub fn push(
                &mut self,
                table: Box<dyn NumericTable + 't>,
            ) -> Result<(), Rejected<Box<dyn NumericTable + 't>>> {
                self.0.push(table)
            }

            /// Borrows the tables, in order.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::{prelude::*, table::by_ref};
            /// let part = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
            #[doc = concat!("let mut table = numeric_table::", $name, "::new([by_ref(&part)])?;")]
            /// table.push(by_ref(&part)).unwrap();
            /// assert_eq!((table.tables().len(), table.into_tables()[1].shape()), (2, part.shape()));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn tables(&self) -> &[Box<dyn NumericTable + 't>] {
                self.0.tables()
            }

            /// Returns the tables, in order, with all values written through this table.
            pub fn into_tables(self) -> Vec<Box<dyn NumericTable + 't>> {
                self.0.into_tables()
            }
        }

        impl NumericTable for $Table<'_> {
            fn kind(&self) -> TableKind {
                $kind
            }

            forwards_reading!(self, self.0);
            forwards_writing!(self, self.0);
        }

        impl fmt::Debug for $Table<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                describe($name, self, f)
            }
        }
    };
}

joined_tables!(MergedNumericTable, "MergedNumericTable", Axis::Columns, TableKind::MERGED);
joined_tables!(RowMergedNumericTable, "RowMergedNumericTable", Axis::Rows, TableKind::ROW_MERGED);
