//! Statistics of groups of rows, where each group has one category.
//!
//! A few thousand rows at a time are sorted by category, and `block` processes the rows of each category like a
//! separate table. Which rows are sorted together depends only on the numbers of rows and columns, and results are
//! merged in order.

mod missing;
mod printed;
mod serialized;
mod sorted;
pub(crate) mod values;

pub use missing::MissingCategories;

use super::BasicStatistics;
use super::blocks::{TableSource, Work, check_addition, column_by, dictionary_of, with_rows};
use super::column::ColumnStatistics;
use super::options::StatisticsOptions;
use crate::base::count::rows_after;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result, Unsolvable};
use crate::base::room::filled;
use crate::base::shape::Shape;
use crate::dictionary::{DataDictionary, Feature};
use crate::table::{ColumnKey, NumericTable, TableDescription};

/// The statistics of every column for each category of rows, in one or several tables: means by group, and everything
/// else in [`BasicStatistics`].
///
/// One column holds each row's category as an index, an integer below the number of categories. Reads the table once,
/// on several threads if that is faster. Memory: 112 bytes for each category and column. Results do not depend on the
/// number of threads, the machine or the layout. Missing values in the other columns are left out of their column and
/// counted, and NaN is ignored and counted, as in [`ColumnStatistics`]. Rows whose category is missing are left out and
/// [counted](Self::missing_rows), unless you [request a group of their own](Self::missing). NaN in the category column
/// is an error unless you choose another policy. Columns keep the indices and names that they have in the table.
/// `Display` prints a table of means, with the labels of the categories if the table has them.
///
/// As a [`Partial`](crate::Partial) result, they can be merged, sent between processes and stored as bytes. They can be
/// serialized with serde.
///
/// Source: `groupby(..).agg(..)` of pandas, `group_by(..).agg(..)` of polars.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::GroupStatistics};
/// let names = ["species", "length", "width"].map(|name| Feature::new(ElementType::F32).named(name));
/// let table = Table::from_rows(&[[1.0_f32, 5.0, 2.0], [0.0, 3.0, 1.0], [1.0, 7.0, 4.0]])?;
/// let table = table.with_dictionary(names.into_iter().collect())?;
/// let groups = GroupStatistics::compute(&table, "species", 3)?;
/// assert_eq!((groups.row_count_of(1)?, groups.column(1, "width")?.mean()), (2, 3.0));
///
/// let means = groups.means()?; // a row for each category, with the columns of the table
/// assert_eq!(means.as_slice()?[..6], [0.0, 3.0, 1.0, 1.0, 6.0, 3.0]);
/// assert!(means.as_slice()?[7..].iter().all(|mean| mean.is_nan())); // no row has category 2
/// assert_eq!(means.dictionary().index_of("width"), Some(2));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupStatistics {
    /// Number of columns, including the category column.
    column_count: usize,
    /// The column that holds the category.
    by: usize,
    missing: MissingCategories,
    /// Number of rows of each category, followed by the group of missing categories if there is one.
    rows: Vec<u64>,
    /// Number of skipped rows, which have no category.
    skipped: u64,
    /// Number of rows that are left out because their category is missing.
    missing_rows: u64,
    /// The statistics of all columns, category by category.
    columns: Vec<ColumnStatistics>,
    /// Names of the columns.
    dictionary: Option<DataDictionary>,
}

impl GroupStatistics {
    /// Creates empty statistics of `categories` categories for rows of `columns` columns. The column `by` holds the
    /// category.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`] for `by`; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::GroupStatistics;
    /// let groups = GroupStatistics::new(3, 0, 5)?;
    /// assert_eq!((groups.category_count(), groups.row_count_of(4)?), (5, 0));
    /// assert!(GroupStatistics::new(3, 3, 5).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize, by: usize, categories: usize) -> Result<Self> {
        if by >= columns {
            return Err(Error::new(ErrorKind::ColumnOutOfRange { column: by, column_count: columns }));
        }
        let statistics = filled(categories.saturating_mul(columns), ColumnStatistics::EMPTY)?;
        let (missing, rows) = (MissingCategories::Refuse, filled(categories, 0)?);
        let (skipped, missing_rows) = (0, 0);
        let dictionary = None;
        Ok(Self { column_count: columns, by, missing, rows, skipped, missing_rows, columns: statistics, dictionary })
    }

    /// Computes the statistics of a table of any kind. The column `by`, given by number or name, holds the category of
    /// each row. With `None`, the dictionary gives the number of categories.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`] for `by`; [`ErrorKind::NotSolvable`] if the number
    /// of categories is unknown; [`ErrorKind::ValueNotAllowed`] for the first value of that column that is not an
    /// integer from 0 to `categories` - 1; [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`],
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[7.0, 0.0], [9.0, 2.0], [5.0, 0.0], [3.0, 1.5]])?;
    /// let groups = GroupStatistics::compute(&table.slice_rows(..3)?, 1, 3)?;
    /// assert_eq!((groups.column(0, 0)?.mean(), groups.column(2, 0)?.maximum()), (6.0, 9.0));
    /// let error = GroupStatistics::compute(&table, 1, 3).unwrap_err();
    /// assert!(error.to_string().starts_with("the value 1.5 at row 3, column 1 is not a valid category: "));
    ///
    /// let answer = Feature::new(ElementType::F64).named("answer").categorical(3);
    /// let features = [Feature::new(ElementType::F64), answer].into_iter().collect();
    /// let described = table.slice_rows(..3)?.with_dictionary(features)?;
    /// assert_eq!(GroupStatistics::compute(&described, "answer", None)?.column(2, 0)?.mean(), 9.0);
    /// assert!(matches!(GroupStatistics::compute(&described, 0, None).unwrap_err().kind(), ErrorKind::NotSolvable { .. }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compute(table: &dyn NumericTable, by: impl ColumnKey, categories: impl Into<Option<usize>>) -> Result<Self> {
        Self::compute_with(table, by, categories, StatisticsOptions::new())
    }

    /// Computes the statistics of a table of any kind, with a callback for progress.
    ///
    /// # Errors
    /// The errors of [`compute`](Self::compute).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{GroupStatistics, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[0_u8, 7], [1, 9], [0, 5]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| eprintln!("{} bytes", progress.done));
    /// assert_eq!(GroupStatistics::compute_with(&table, 0, 2, options)?.column(0, 1)?.mean(), 6.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compute_with(
        table: &dyn NumericTable,
        by: impl ColumnKey,
        categories: impl Into<Option<usize>>,
        options: StatisticsOptions,
    ) -> Result<Self> {
        let (by, categories) = Self::categories_of(table, by, categories.into())?;
        let mut all = Self::new(table.column_count(), by, categories)?;
        all.update_with(table, &options)?;
        Ok(all)
    }

    /// Returns the column that holds the category, and the number of categories, taken from the dictionary by default.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`]; [`ErrorKind::NotSolvable`].
    pub(super) fn categories_of(
        table: &dyn NumericTable,
        by: impl ColumnKey,
        categories: Option<usize>,
    ) -> Result<(usize, usize)> {
        let by = by.column_in(table.dictionary())?;
        let known = || table.dictionary().feature(by).ok().and_then(Feature::category_count);
        Ok((
            by,
            categories.or_else(known).ok_or_else(|| {
                Error::new(ErrorKind::NotSolvable {
                    cause: Unsolvable::UnknownCategories,
                    column: Some(by),
                    condition: None,
                    reason: format!(
 "the number of categories of column {by} is unknown: pass it, or describe the column as categorical"
 ),
                })
            })?,
        ))
    }

    /// Adds the rows of a table.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the numbers of columns differ; the errors of [`merge`](Self::merge) about
    /// columns; the errors of [`update_values`](Self::update_values) and of reading. On error, nothing is added.
    pub(super) fn update_with(&mut self, table: &dyn NumericTable, options: &StatisticsOptions) -> Result<()> {
        let source = TableSource(table);
        let work = Work::on_columns(self.column_count, table, &source, options)?;
        check_addition(self.dictionary.as_ref(), Some(table.dictionary()))?;
        rows_after(self.all_rows(), work.shape.rows as u64)?;
        let found = self.found_in(&work)?;
        self.add(found);
        if self.dictionary.is_none() {
            self.dictionary = dictionary_of(table, self.column_count);
        }
        Ok(())
    }

    /// Returns the same groups without rows.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn without_rows(&self) -> Result<Self> {
        let empty = Self::new(self.column_count, self.by, self.rows.len())?;
        Ok(Self { missing: self.missing, ..empty })
    }

    /// Returns the number of bytes of the statistics.
    pub(super) fn size_of_statistics(&self) -> usize {
        size_of_val(&self.columns[..])
    }

    /// Adds rows, given as a row block or any other slice of complete, contiguous rows.
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`]; [`ErrorKind::ValueNotAllowed`] with the index of the row within `rows`;
    /// [`ErrorKind::LimitExceeded`]; [`ErrorKind::OutOfMemory`]. On error, nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, ErrorKind, statistics::GroupStatistics};
    /// let mut groups = GroupStatistics::new(2, 0, 2)?;
    /// groups.update_values(&[1_i16, 7, 0, 9])?; // two rows
    /// groups.update_values(&[1.0, 9.0])?;
    /// assert_eq!(groups.column(1, 1)?.mean(), 8.0);
    /// assert!(matches!(groups.update_values(&[0, 1, 2, 1]).unwrap_err().kind(), ErrorKind::ValueNotAllowed { .. }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn update_values<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        let found = with_rows(rows, self.column_count, |work| {
            rows_after(self.all_rows(), work.shape.rows as u64)?;
            self.found_in(work)
        })?;
        self.add(found);
        Ok(())
    }

    /// Merges the statistics of other tables into these.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if the numbers of categories or of columns differ; [`ErrorKind::NotCombinable`] if
    /// another column holds the categories; [`ErrorKind::UnequalTables`] if the columns of both are known and differ;
    /// [`ErrorKind::LimitExceeded`] if the tables together have 2^64 rows or more. On error, nothing is added.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let mut all = GroupStatistics::compute(&HomogenNumericTable::from_rows(&[[0_u8, 1], [1, 4]])?, 0, 2)?;
    /// all.merge(&GroupStatistics::compute(&HomogenNumericTable::from_rows(&[[0.0, 3.0]])?, 0, 2)?)?;
    /// assert_eq!((all.row_count(), all.column(0, 1)?.mean()), (3, 2.0));
    /// assert!(all.merge(&GroupStatistics::new(2, 0, 3)?).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let shape = |groups: &Self| Shape { rows: groups.rows.len(), columns: groups.column_count };
        if shape(self) != shape(other) {
            return Err(Error::new(ErrorKind::ShapeMismatch { expected: shape(self), actual: shape(other) }));
        }
        if self.by != other.by {
            return Err(Error::not_combinable(format!(
                "rows are grouped by column {}, not by column {}",
                other.by, self.by
            )));
        }
        if self.missing != other.missing {
            let reason = "the other groups treat missing categories differently";
            return Err(Error::not_combinable(reason.to_owned()));
        }
        check_addition(self.dictionary.as_ref(), other.dictionary.as_ref())?;
        rows_after(self.all_rows(), other.all_rows())?;
        self.skipped += other.skipped;
        self.missing_rows += other.missing_rows;
        self.rows.iter_mut().zip(&other.rows).for_each(|(mine, theirs)| *mine += theirs);
        self.columns.iter_mut().zip(&other.columns).for_each(|(mine, theirs)| mine.merge(theirs));
        if self.dictionary.is_none() {
            self.dictionary.clone_from(&other.dictionary);
        }
        Ok(())
    }

    /// Returns the description of the columns, if the tables had one: their names, labels and units.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 0], [3, 1]])?;
    /// table.set_names(["length", "width"])?;
    /// let found = GroupStatistics::compute(&table, 1, 2)?;
    /// assert_eq!(found.dictionary().and_then(|columns| columns.index_of("width")), Some(1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn dictionary(&self) -> Option<&DataDictionary> {
        self.dictionary.as_ref()
    }

    /// Returns the number of categories, including the group of missing categories.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::GroupStatistics;
    /// assert_eq!(GroupStatistics::new(3, 0, 5)?.category_count(), 5);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn category_count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the total number of rows in all categories.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[0, 2], [3, 4], [0, 6]])?;
    /// assert_eq!(GroupStatistics::compute(&table, 0, 4)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// Returns the number of rows of one category.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[0, 2], [3, 4], [0, 6]])?;
    /// assert_eq!(GroupStatistics::compute(&table, 0, 4)?.row_count_of(0)?, 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count_of(&self, category: usize) -> Result<u64> {
        self.check(category)?;
        Ok(self.rows[category])
    }

    /// Returns the number of rows of each category.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[0, 2], [3, 4], [0, 6]])?;
    /// assert_eq!(GroupStatistics::compute(&table, 0, 4)?.row_counts(), [2, 0, 0, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_counts(&self) -> &[u64] {
        &self.rows
    }

    /// Returns the number of columns of the tables, including the column with the category.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::GroupStatistics;
    /// assert_eq!(GroupStatistics::new(3, 0, 5)?.column_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_count(&self) -> usize {
        self.column_count
    }

    /// Returns the number of the column with the category.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::statistics::GroupStatistics;
    /// assert_eq!(GroupStatistics::new(3, 1, 5)?.category_column(), 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn category_column(&self) -> usize {
        self.by
    }

    /// Returns the statistics of one column over the rows of all categories. `column` is the number that it has in the
    /// table. O(categories).
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[0, 2], [3, 4], [0, 9]])?;
    /// let groups = GroupStatistics::compute(&table, 0, 4)?;
    /// assert_eq!(groups.column_of_all(1)?.mean(), 5.0);
    /// assert!(groups.column_of_all(2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_of_all(&self, column: usize) -> Result<ColumnStatistics> {
        if column >= self.column_count {
            return Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count: self.column_count }));
        }
        let mut all = ColumnStatistics::EMPTY;
        let own = self.columns.iter().skip(column).step_by(self.column_count);
        own.for_each(|column| all.merge(column));
        Ok(all)
    }

    /// Returns the statistics of one column, given by its number in the table or by name, over the rows of one
    /// category.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`]; [`ErrorKind::ColumnOutOfRange`]; [`ErrorKind::UnknownName`], also if the rows were
    /// added without column names.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[20, 1, 5], [40, 0, 6], [60, 1, 7]])?;
    /// let groups = GroupStatistics::compute(&table, 1, 2)?;
    /// assert_eq!((groups.column(1, 0)?.mean(), groups.column(1, 2)?.maximum()), (40.0, 7.0));
    /// assert!(groups.column(1, 3).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column(&self, category: usize, column: impl ColumnKey) -> Result<&ColumnStatistics> {
        Ok(&self.columns_of(category)?[column_by(column, self.dictionary.as_ref(), self.column_count)?])
    }

    /// Returns the statistics of the rows of one category, with the names of the columns. O(columns).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[20, 1, 5], [40, 0, 6], [60, 1, 7]])?;
    /// let group = GroupStatistics::compute(&table, 1, 2)?.group(1)?;
    /// assert_eq!((group.row_count(), group.column(0)?.standard_deviation()), (2, 800.0_f64.sqrt()));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn group(&self, category: usize) -> Result<BasicStatistics> {
        let columns = self.columns_of(category)?;
        let mut own = filled(columns.len(), ColumnStatistics::EMPTY)?;
        own.copy_from_slice(columns);
        Ok(BasicStatistics { columns: own, rows: self.rows[category], dictionary: self.dictionary.clone() })
    }

    fn check(&self, category: usize) -> Result<()> {
        match category < self.rows.len() {
            true => Ok(()),
            false => Err(Error::index_out_of_range("categories", category, self.rows.len())),
        }
    }

    fn columns_of(&self, category: usize) -> Result<&[ColumnStatistics]> {
        self.check(category)?;
        let count = self.column_count;
        Ok(&self.columns[category * count..(category + 1) * count])
    }
}
