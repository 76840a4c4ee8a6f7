//! The methods of every kind of table: traits that are implemented for each kind and for `dyn NumericTable`, so that
//! they are also available on boxes and references.
//!
//! The implementations are functions of `&dyn NumericTable` in the sibling modules, so they are compiled once and not
//! for each kind of table. Blocks, updates and names are in `crate::block`; files and text are in `crate::output`.

mod combination;
mod conversion;
mod description;
mod missing;
mod selection;

pub use combination::TableCombination;
pub use conversion::TableConversion;
pub use description::TableDescription;
pub use missing::MissingValues;
pub use selection::TableSelection;

use super::NumericTable;

/// A table of any kind, borrowed as `dyn NumericTable`.
///
/// Every kind of table implements this trait, and so does `dyn NumericTable`. Only generic code needs it: a function
/// with the bound `N: AsTable + ?Sized` accepts both and can call all methods of tables.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::AsTable};
///
/// fn first_value(table: &(impl AsTable + ?Sized)) -> Result<f64, Error> {
///     table.as_table().value(0, 0)
/// }
///
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
/// let boxed = table.to_table()?;
/// assert_eq!((first_value(&table)?, first_value(&*boxed)?), (1.0, 1.0));
/// # Ok::<(), Error>(())
/// ```
pub trait AsTable: NumericTable {
    /// Borrows the table as a trait object.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::AsTable};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// assert_eq!(table.as_table().column_type(1)?, ElementType::I16);
    /// # Ok::<(), Error>(())
    /// ```
    fn as_table(&self) -> &(dyn NumericTable + '_);

    /// Like [`as_table`](Self::as_table), for writing.
    fn as_table_mut(&mut self) -> &mut (dyn NumericTable + '_);
}

impl<N: NumericTable> AsTable for N {
    fn as_table(&self) -> &(dyn NumericTable + '_) {
        self
    }

    fn as_table_mut(&mut self) -> &mut (dyn NumericTable + '_) {
        self
    }
}

impl AsTable for dyn NumericTable + '_ {
    fn as_table(&self) -> &(dyn NumericTable + '_) {
        self
    }

    fn as_table_mut(&mut self) -> &mut (dyn NumericTable + '_) {
        self
    }
}
