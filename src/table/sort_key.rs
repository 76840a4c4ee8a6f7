//! The columns that rows are sorted by.

use super::ColumnKey;
#[cfg(doc)]
use super::TableSelection;
use super::order::Order;
use crate::base::error::Result;
use crate::dictionary::DataDictionary;

/// A column that rows are sorted by, given by number or name, and the order of its values. See
/// [`TableSelection::sort_by_keys`].
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::SortKey};
/// let table = Table::from_rows(&[[1, 5], [2, 7], [1, 6]])?;
/// let sorted = table.sort_by_keys(&[SortKey::new(0), SortKey::new(1).descending(true)])?;
/// assert_eq!(sorted.rows::<i32>(..)?[..], [1, 6, 1, 5, 2, 7]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SortKey<C> {
    column: C,
    order: Order,
}

impl<C: ColumnKey> SortKey<C> {
    /// Creates a key: the values of a column, in ascending order. Categories are in the order of their indices.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::SortKey};
    /// let table = Table::from_rows(&[[2], [1]])?;
    /// assert_eq!(table.sort_by_keys(&[SortKey::new(0)])?.column::<u8>(0, ..)?[..], [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(column: C) -> Self {
        Self { column, order: Order::default() }
    }

    /// Sets whether values are in descending order. NaN and missing values come last in both orders.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, table::SortKey};
    /// let table = Table::from_rows(&[[1.0], [f64::NAN], [3.0]])?;
    /// let sorted = table.sort_by_keys(&[SortKey::new(0).descending(true)])?;
    /// assert_eq!(sorted.column::<f64>(0, ..2)?[..], [3.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn descending(self, is_descending: bool) -> Self {
        Self { order: Order { is_descending, ..self.order }, ..self }
    }

    /// Sets whether categories with labels are in the order of the labels, which is that of `str`. Values that are not
    /// categories come after them.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, dictionary::Categories, prelude::*, table::SortKey};
    /// let city = Feature::new(ElementType::U8).named("city").categorical(Categories::from_labels(["Rome", "Paris"])?);
    /// let mut table = Table::from_rows(&[[0_u8], [1]])?;
    /// table.set_dictionary([city].into_iter().collect())?;
    /// let sorted = table.sort_by_keys(&[SortKey::new("city").by_label(true)])?;
    /// assert_eq!(sorted.column::<u8>(0, ..)?[..], [1, 0]); // Paris, Rome
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn by_label(self, is_by_label: bool) -> Self {
        Self { order: Order { is_by_label, ..self.order }, ..self }
    }

    pub(super) fn in_columns_of(&self, dictionary: &DataDictionary) -> Result<(usize, Order)> {
        Ok((self.column.column_in(dictionary)?, self.order))
    }
}
