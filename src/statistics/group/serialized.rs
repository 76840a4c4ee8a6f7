//! `Serialize` and `Deserialize` of statistics of groups.

use std::borrow::Cow;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::{GroupStatistics, MissingCategories};
use crate::dictionary::DataDictionary;
use crate::serde::numbers::{List, Numbers};
use crate::statistics::blocks::fits;
use crate::statistics::column::ColumnStatistics;

/// The serialized form of statistics of groups: all columns, category by category.
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

/// Refuses statistics that no groups of rows can have.
impl<'de> Deserialize<'de> for GroupStatistics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let Parts { column_count, by, missing, rows, skipped, columns, dictionary } = Parts::deserialize(deserializer)?;
        let (rows, columns) = (rows.0.into_owned(), columns.0.into_owned());
        let size = |size: u64| usize::try_from(size).map_err(de::Error::custom);
        let (column_count, by) = (size(column_count)?, size(by)?);
        let refusal = |reason: &str| Err(de::Error::custom(reason));
        if by >= column_count {
            return refusal("the category column is out of range");
        }
        if rows.is_empty() && missing == MissingCategories::Group {
            return refusal("there is no group of missing categories");
        }
        if skipped > 0 && missing != MissingCategories::Skip {
            return refusal("rows are skipped although missing categories are not");
        }
        if rows.len().checked_mul(column_count) != Some(columns.len()) {
            return refusal("the number of statistics is not the number of categories times the number of columns");
        }
        if rows.iter().try_fold(skipped, |sum, &rows| sum.checked_add(rows)).is_none() {
            return refusal("there are more rows than can be counted");
        }
        if columns.iter().enumerate().any(|(place, column)| column.value_count() != Some(rows[place / column_count])) {
            return refusal("a column does not have one value in each row of a category");
        }
        fits(dictionary.as_ref(), column_count).map_err(de::Error::custom)?;
        Ok(Self { column_count, by, missing, rows, skipped, columns, dictionary })
    }
}
