//! Policies for rows without a category: an error, skipping them, or a separate group.

use super::GroupStatistics;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::table::{ColumnKey, NumericTable, TableDescription};

/// What happens to rows whose category is missing, or NaN. See [`GroupStatistics::missing`].
///
/// # Examples
/// ```
/// # use numeric_table::statistics::MissingCategories;
/// assert_eq!(MissingCategories::default(), MissingCategories::Refuse);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum MissingCategories {
    /// NaN is an error with the row and the column. Rows whose category is missing are left out and counted.
    #[default]
    Refuse,
    /// Skips rows with NaN and counts them. Rows whose category is missing are left out, and counted apart.
    Skip,
    /// Puts both into a separate group, after the groups of all categories.
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

    /// Sets what happens to rows whose category is missing, or NaN. Call it before adding rows. By default, rows whose
    /// category is missing are left out and [counted](Self::missing_rows), and NaN is an error.
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
        let rows = self.all_rows();
        if rows > 0 {
            let name = "the number of rows before the policy for missing categories is set";
            return Err(Error::parameter(name, rows as f64, "0 is needed"));
        }
        let groups = self.known_categories() + usize::from(missing == MissingCategories::Group);
        Ok(Self { missing, ..Self::new(self.column_count, self.by, groups)? })
    }

    /// Returns the number of rows that were left out because their category is missing. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, SoaNumericTable, prelude::*, statistics::{GroupStatistics, MissingCategories}};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("species", [Some(0_u8), None, Some(1), None])?;
    /// table.push_optional("length", [Some(5.0), Some(7.0), None, Some(9.0)])?;
    /// let groups = GroupStatistics::compute(&table, "species", 2)?;
    /// assert_eq!((groups.row_count(), groups.missing_rows()), (2, 2));
    /// assert_eq!(groups.column(1, "length")?.missing_count(), 1);
    ///
    /// let groups = GroupStatistics::for_table(&table, "species", 2)?.missing(MissingCategories::Group)?;
    /// let groups = groups.compute_over(&table)?;
    /// assert_eq!((groups.missing_rows(), groups.column(2, "length")?.mean()), (0, 8.0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_rows(&self) -> u64 {
        self.missing_rows
    }

    /// Returns the number of all rows, with those that have no group.
    pub(super) fn all_rows(&self) -> u64 {
        self.row_count() + self.skipped + self.missing_rows
    }

    /// Returns whether a category or a value was missing.
    pub(in crate::statistics) fn has_missing(&self) -> bool {
        self.missing_rows > 0 || self.columns.iter().any(|column| column.missing > 0)
    }

    /// Returns the number of rows whose category is NaN that were skipped. O(1).
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
