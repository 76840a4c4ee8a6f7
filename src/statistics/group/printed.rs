//! Groups as tables and as text.

use std::borrow::Cow;
use std::fmt;

use super::GroupStatistics;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::shape::Shape;
use crate::dictionary::{Categories, Feature};
use crate::display::{Grid, cut_rows, label_of, name_of};
use crate::statistics::blocks::names_of;
use crate::statistics::column::ColumnStatistics;
use crate::table::homogen::HomogenNumericTable;

impl GroupStatistics {
    /// Returns the means as a table with a row for each category and the columns of the table, including their names.
    /// The category column holds the category's index, with labels if the table has them. A mean is NaN without values;
    /// so is the category of the group of missing categories.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::GroupStatistics};
    /// let table = HomogenNumericTable::from_rows(&[[20, 1, 5], [40, 0, 6], [60, 1, 7]])?;
    /// assert_eq!(GroupStatistics::compute(&table, 1, 2)?.means()?.as_slice()?, [40.0, 0.0, 6.0, 40.0, 1.0, 6.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn means(&self) -> Result<HomogenNumericTable<f64>> {
        self.to_table(ColumnStatistics::mean)
    }

    /// Returns a statistic of your choice as a table with the shape of [`means`](Self::means): a row for each category
    /// and the columns of the table. The category column holds the category's index.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{ColumnStatistics, GroupStatistics}};
    /// let table = HomogenNumericTable::from_rows(&[[20, 1, 5], [40, 0, 6], [60, 1, 7]])?;
    /// let maxima = GroupStatistics::compute(&table, 1, 2)?.to_table(ColumnStatistics::maximum)?;
    /// assert_eq!(maxima.as_slice()?, [40.0, 0.0, 6.0, 60.0, 1.0, 7.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn to_table(&self, number: impl Fn(&ColumnStatistics) -> f64 + Sync) -> Result<HomogenNumericTable<f64>> {
        let shape = Shape { rows: self.rows.len(), columns: self.column_count };
        let value = |row: usize, column: usize| match column == self.by {
            true if row >= self.known_categories() => f64::NAN,
            true => row as f64,
            false => number(&self.columns[row * shape.columns + column]),
        };
        let mut names = names_of(self.dictionary.as_ref(), shape.columns);
        if let Some(categories) = self.key().and_then(|key| key.categories.clone()) {
            let with_words = |(column, feature): (usize, &Feature)| match column == self.by {
                true => feature.clone().categorical(categories.clone()),
                false => feature.clone(),
            };
            names = names.iter().enumerate().map(with_words).collect();
        }
        HomogenNumericTable::from_fn(shape, value)?.with_dictionary(names)
    }

    /// Returns the label of a category: that of the table if it has labels, otherwise the index, and `missing` for the
    /// group of missing categories.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{dictionary::Categories, prelude::*, statistics::GroupStatistics};
    /// let city = Feature::new(ElementType::U8).named("city").categorical(Categories::from_labels(["Rome", "Paris"])?);
    /// let table = Table::from_rows(&[[0_u8], [1]])?.with_dictionary([city].into_iter().collect())?;
    /// assert_eq!(GroupStatistics::compute(&table, "city", None)?.label(1)?, "Paris");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn label(&self, category: usize) -> Result<Cow<'_, str>> {
        self.check(category)?;
        Ok(match self.key().and_then(|key| key.label(category)) {
            _ if category >= self.known_categories() => Cow::Borrowed("missing"),
            Some(label) => Cow::Borrowed(label),
            None => Cow::Owned(category.to_string()),
        })
    }

    /// Returns whether the means of a column are printed: it is not the category column, and not one of words.
    fn has_mean(&self, column: usize) -> bool {
        let feature = self.dictionary.as_ref().and_then(|dictionary| dictionary.feature(column).ok());
        let categories = feature.and_then(|feature| feature.categories.as_ref());
        column != self.by && !categories.is_some_and(Categories::has_labels)
    }

    /// Returns the metadata of the category column.
    fn key(&self) -> Option<&Feature> {
        self.dictionary.as_ref()?.feature(self.by).ok()
    }
}

/// Writes one line for each category: its label or index, the number of its rows, and the means of the other columns,
/// except those of words: categories with labels.
/// `{:.2}` writes two decimals. If there are many categories or columns, the middle ones are omitted; `{:#}` writes all
/// of them.
///
/// # Examples
/// ```
/// use numeric_table::{dictionary::Categories, prelude::*, statistics::GroupStatistics};
/// let species = Feature::new(ElementType::F64).named("species").categorical(Categories::from_labels(["setosa", "virginica"])?);
/// let length = Feature::new(ElementType::F64).named("length");
/// let table = HomogenNumericTable::from_rows(&[[0.0, 5.0], [1.0, 6.5], [0.0, 4.5]])?;
/// let table = table.with_dictionary([species, length].into_iter().collect())?;
/// assert_eq!(GroupStatistics::compute(&table, "species", None)?.to_string(), "
///            rows  length
/// setosa        2    4.75
/// virginica     1    6.50
/// ".trim_matches('\n'));
/// # Ok::<(), Error>(())
/// ```
impl fmt::Display for GroupStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = |few: usize| if f.alternate() { usize::MAX } else { few };
        let (first, last) = cut_rows(self.rows.len(), limit(40));
        let shown: Vec<usize> = first.clone().chain(last).collect();
        let label = |&group: &usize| self.label(group).map(|label| label_of(&label)).unwrap_or_default();
        let mut grid = Grid::new(shown.iter().map(label), (shown.len() < self.rows.len()).then_some(first.len()));
        grid.add_counts("rows", shown.iter().map(|&group| self.rows[group]));
        let columns: Vec<usize> = (0..self.column_count).filter(|&column| self.has_mean(column)).collect();
        let (first, last) = cut_rows(columns.len(), limit(12));
        let middle = last.start;
        for place in first.clone().chain(last) {
            let column = columns[place];
            if place == middle && middle > first.end {
                grid.add_dots();
            }
            let means = shown.iter().map(|&group| self.columns[group * self.column_count + column].mean());
            grid.add_numbers(&name_of(self.dictionary.as_ref(), column), means, f.precision());
        }
        grid.write(f)
    }
}
