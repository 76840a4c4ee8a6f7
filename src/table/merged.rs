//! Tables side by side and tables end to end. What they have in common is in `joined`.

use std::fmt;

use super::borrow::{forwards_reading, forwards_writing};
use super::joined::{Axis, Joined};
use super::numeric_table::describe;
use super::{NumericTable, Refused, TableKind};
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
/// The tables may be of any kind and of any element types, other merged tables and
/// [borrowed](crate::table::by_mut) ones too. They need the same number of rows. Reading and writing goes through to
/// them; what is written is checked as a whole first, so that it is written into all of them or none. The dictionary is
/// that of the tables when they were joined; [`set_dictionary`](NumericTable::set_dictionary) changes this table's
/// only.
///
/// A block of rows is a converted copy, unless its columns are all in one table. Finding the table of a column takes
/// O(log tables). A block that is written in place locks the table that it lies in; a copy locks nothing. Its size
/// cannot be changed. It is saved as what it shows: a homogeneous table if all columns have one type, else a structure
/// of arrays.
///
/// Sparse, packed and other tables without [pieces](NumericTable::pieces_mut) for writing are written where a region
/// lies in one of them alone: single values, and columns. Blocks of rows that have columns of another table too can be
/// read, and edited; what writes them back, and [`fill`](crate::BlockAccess::fill), is [`ErrorKind::ReadOnlyTable`],
/// and nothing is written.
///
/// Source: DAAL `MergedNumericTable`, which cuts the tables that it is given to the fewest rows.
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
/// assert_eq!(features.rows::<f32>(..)?[..], [5.0, 4.0, 5.0, 3.0]); // 3.5 is a tie: away from zero
/// assert_eq!(labels.rows::<u8>(..)?[..], [0, 2]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct MergedNumericTable<'t>(Joined<'t>);

/// Several tables end to end: the rows of the first, then those of the second, and so on. Nothing is copied.
///
/// The tables may be of any kind, other merged tables and [borrowed](crate::table::by_mut) ones too. They need the same
/// number of columns, and the same element type in each. Reading and writing goes through to them; what is written is
/// checked as a whole first, so that it is written into all of them or none. The dictionary is that of the first table;
/// [`set_dictionary`](NumericTable::set_dictionary) changes this table's only.
///
/// A block of rows that lies in one table is what that table makes of it: its own memory, if it is of the type that is
/// asked for and contiguous there. Finding the table of a row takes O(log tables). A block that is written in place
/// locks the table that it lies in; a copy locks nothing. Its size cannot be changed. It is saved as what it shows: a
/// homogeneous table if all columns have one type, else a structure of arrays.
///
/// Sparse, packed and other tables without [pieces](NumericTable::pieces_mut) for writing are written where a region
/// lies in one of them alone: single values, and blocks of rows that are all in one table. Blocks that have rows of
/// another table too can be read, and edited; what writes them back, and [`fill`](crate::BlockAccess::fill), is
/// [`ErrorKind::ReadOnlyTable`], and nothing is written.
///
/// Source: DAAL `RowMergedNumericTable`, which describes all columns as the first table does, whatever the others hold.
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
            /// [`ErrorKind::DictionaryMismatch`] of a kind of table whose dictionary does not describe its columns;
            /// [`ErrorKind::LimitExceeded`], [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`]. The tables are
            /// dropped with the error; [`push`](Self::push) returns what it refuses.
            pub fn new(tables: impl IntoIterator<Item = Box<dyn NumericTable + 't>>) -> Result<Self> {
                let mut tables = tables.into_iter();
                let mut joined = Self(Joined::of($axis, tables.next().ok_or_else(Error::no_tables)?)?);
                tables.try_for_each(|table| joined.push(table).map_err(Refused::into_error))?;
                Ok(joined)
            }

            /// Adds a table after the last one. O(columns).
            ///
            /// # Errors
            /// [`ErrorKind::UnequalTables`]; [`ErrorKind::DictionaryMismatch`] of a kind of table whose dictionary does
            /// not describe its columns; [`ErrorKind::LimitExceeded`], [`ErrorKind::SizeOverflow`],
            /// [`ErrorKind::OutOfMemory`]. The table is returned with the error, and this one is unchanged.
            pub fn push(
                &mut self,
                table: Box<dyn NumericTable + 't>,
            ) -> Result<(), Refused<Box<dyn NumericTable + 't>>> {
                self.0.push(table)
            }

            /// Returns the tables, in order.
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

            /// Returns the tables, in order, as they are now.
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
