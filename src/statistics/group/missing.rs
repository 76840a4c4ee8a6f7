//! Policies for rows whose category is missing: an error, skipping them, or a separate group.

use super::GroupStatistics;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::table::{ColumnKey, NumericTable, TableDescription};

/// What happens to rows whose category is missing (NaN). See [`GroupStatistics::missing`].
///
/// # Examples
/// ```
/// # use numeric_table::statistics::MissingCategories;
/// assert_eq!(MissingCategories::default(), MissingCategories::Refuse);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum MissingCategories {
    /// Reports an error with the row and the column.
    #[default]
    Refuse,
    /// Skips the rows and counts them.
    Skip,
    /// Puts the rows into a separate group, after the groups of all categories.
    Group,
}

impl GroupStatistics {
    /// Creates empty statistics for the groups of a table, to be combined with [`missing`](Self::missing). With `None`,
    /// the dictionary gives the number of categories.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`] for `by`; [`ErrorKind::NotSolvable`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// See [`missing`](Self::missing).
    pub fn for_table(
        table: &dyn NumericTable,
        by: impl ColumnKey,
        categories: impl Into<Option<usize>>,
    ) -> Result<Self> {
        let (by, categories) = Self::categories_of(table, by, categories.into())?;
        Self::new(table.column_count(), by, categories)
    }

    /// Sets what happens to rows whose category is missing. Call it before adding rows. By default, they are an error.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if rows were added before; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*, statistics::{GroupStatistics, MissingCategories}};
    /// let table = HomogenNumericTable::from_rows(&[[0.0, 5.0], [f64::NAN, 7.0], [1.0, 6.0], [f64::NAN, 9.0]])?;
    /// let error = GroupStatistics::compute(&table, 0, 2).unwrap_err();
    /// assert!(error.to_string().starts_with("the value NaN at row 1, column 0 is missing: expected an integer"));
    ///
    /// let groups = GroupStatistics::for_table(&table, 0, 2)?;
    /// let skipped = groups.clone().missing(MissingCategories::Skip)?.compute_over(&table)?;
    /// assert_eq!((skipped.category_count(), skipped.row_count(), skipped.skipped_rows()), (2, 2, 2));
    /// let grouped = groups.missing(MissingCategories::Group)?.compute_over(&table)?;
    /// assert_eq!((grouped.category_count(), grouped.column(2, 1)?.mean()), (3, 8.0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn missing(self, missing: MissingCategories) -> Result<Self> {
        let rows = self.row_count() + self.skipped;
        if rows > 0 {
            let name = "the number of rows before the policy for missing categories is set";
            return Err(Error::parameter(name, rows as f64, "0 is needed"));
        }
        let groups = self.known_categories() + usize::from(missing == MissingCategories::Group);
        Ok(Self { missing, ..Self::new(self.column_count, self.by, groups)? })
    }

    /// Returns the number of rows without a category that were skipped. O(1).
    ///
    /// # Examples
    /// See [`missing`](Self::missing).
    pub fn skipped_rows(&self) -> u64 {
        self.skipped
    }

    /// Returns the number of categories, without the group of missing categories.
    pub(super) fn known_categories(&self) -> usize {
        self.rows.len() - usize::from(self.missing == MissingCategories::Group)
    }
}
