//! `Serialize` and `Deserialize` of statistics of groups.

use std::borrow::Cow;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::{GroupStatistics, MissingCategories};
use crate::dictionary::DataDictionary;
use crate::serde::numbers::{List, Numbers};
use crate::statistics::blocks::fits;
use crate::statistics::column::ColumnStatistics;

/// The serialized form of statistics of groups: all columns, category by category. The number of rows whose category is
/// missing, if there are any, follows the numbers of rows of the groups: older libraries reject it.
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
        let mut rows = Cow::Borrowed(&self.rows[..]);
        if self.missing_rows > 0 {
            rows.to_mut().push(self.missing_rows);
        }
        let rows = Numbers(rows);
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
        let (mut rows, columns) = (rows.0.into_owned(), columns.0.into_owned());
        let size = |size: u64| usize::try_from(size).map_err(de::Error::custom);
        let (column_count, by) = (size(column_count)?, size(by)?);
        let refusal = |reason: &str| Err(de::Error::custom(reason));
        if by >= column_count {
            return refusal("the category column is out of range");
        }
        let has_more = columns.len().checked_div(column_count).is_some_and(|groups| rows.len() > groups);
        let missing_rows = if has_more { rows.pop().unwrap_or(0) } else { 0 };
        if rows.is_empty() && missing == MissingCategories::Group {
            return refusal("there is no group of missing categories");
        }
        if skipped > 0 && missing != MissingCategories::Skip {
            return refusal("rows are skipped although missing categories are not");
        }
        if missing_rows > 0 && missing == MissingCategories::Group {
            return refusal("rows without a category are left out although they have a group");
        }
        if rows.len().checked_mul(column_count) != Some(columns.len()) {
            return refusal("the number of statistics is not the number of categories times the number of columns");
        }
        let others = skipped.checked_add(missing_rows);
        if rows.iter().try_fold(others, |sum, &rows| Some(sum?.checked_add(rows))).flatten().is_none() {
            return refusal("there are more rows than can be counted");
        }
        if columns.iter().enumerate().any(|(place, column)| column.value_count() != Some(rows[place / column_count])) {
            return refusal("a column does not have one value in each row of a category");
        }
        fits(dictionary.as_ref(), column_count).map_err(de::Error::custom)?;
        Ok(Self { column_count, by, missing, rows, skipped, missing_rows, columns, dictionary })
    }
}
