//! `Serialize` and `Deserialize` of statistics of groups.

use std::borrow::Cow;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::{GroupStatistics, MissingCategories};
use crate::dictionary::DataDictionary;
use crate::serde::numbers::{List, Numbers};
use crate::statistics::blocks::fits;
use crate::statistics::column::ColumnStatistics;

/// Statistics of groups as they are serialized: those of each column, category by category.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "GroupStatistics", deny_unknown_fields)]
struct Parts<'a> {
    column_count: u64,
    by: u64,
    missing: MissingCategories,
    rows: Numbers<'a, u64>,
    skipped: u64,
    columns: List<'a, ColumnStatistics>,
    dictionary: Option<DataDictionary>,
}

impl Serialize for GroupStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let rows = Numbers(Cow::Borrowed(&self.rows[..]));
        let columns = List(Cow::Borrowed(&self.columns[..]));
        let (column_count, by) = (self.column_count as u64, self.by as u64);
        let (missing, skipped, dictionary) = (self.missing, self.skipped, self.dictionary.clone());
        Parts { column_count, by, missing, rows, skipped, columns, dictionary }.serialize(serializer)
    }
}

/// Statistics that no groups of rows have are refused.
impl<'de> Deserialize<'de> for GroupStatistics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Parts { column_count, by, missing, rows, skipped, columns, dictionary } = Parts::deserialize(deserializer)?;
        let (rows, columns) = (rows.0.into_owned(), columns.0.into_owned());
        let size = |size: u64| usize::try_from(size).map_err(de::Error::custom);
        let (column_count, by) = (size(column_count)?, size(by)?);
        let refusal = |reason: &str| Err(de::Error::custom(reason));
        if by >= column_count {
            return refusal("the column of the categories is none of the columns");
        }
        if rows.is_empty() && missing == MissingCategories::Group {
            return refusal("there is no group of missing categories");
        }
        if skipped > 0 && missing != MissingCategories::Skip {
            return refusal("rows are left out that are not to be");
        }
        if rows.len().checked_mul(column_count) != Some(columns.len()) {
            return refusal("there are not the statistics of each column for each category");
        }
        if rows.iter().try_fold(skipped, |sum, &rows| sum.checked_add(rows)).is_none() {
            return refusal("there are more rows than can be counted");
        }
        if columns.iter().enumerate().any(|(place, column)| column.value_count() != Some(rows[place / column_count])) {
            return refusal("a column has not one value in each row of a category");
        }
        fits(dictionary.as_ref(), column_count).map_err(de::Error::custom)?;
        Ok(Self { column_count, by, missing, rows, skipped, columns, dictionary })
    }
}
