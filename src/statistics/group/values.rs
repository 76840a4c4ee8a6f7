//! Categories that stand for other values: the distinct ones of a column, in their order.

use super::GroupStatistics;
use crate::base::error::{Error, ErrorKind, Result};

/// Replaces the statistics of the category column by those of the last column, which has the values that the categories
/// stand for, and which is removed.
///
/// # Errors
/// [`ErrorKind::ColumnOutOfRange`] if the last column has the categories.
pub fn with_values(mut groups: GroupStatistics) -> Result<GroupStatistics> {
    let (by, last) = (groups.by, groups.column_count - 1); // it has a category column
    if by == last {
        return Err(Error::new(ErrorKind::ColumnOutOfRange { column: by, column_count: last }));
    }
    for category in 0..groups.rows.len() {
        let from = category * (last + 1);
        groups.columns.copy_within(from..from + last, category * last);
        // Not overwritten yet: it is at or after the end of what was copied.
        groups.columns[category * last + by] = groups.columns[from + last];
    }
    groups.columns.truncate(groups.rows.len() * last);
    groups.column_count = last;
    groups.dictionary = groups.dictionary.map(|all| all.part(0..last)).transpose()?;
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::element::ElementType;
    use crate::dictionary::Feature;
    use crate::table::HomogenNumericTable;

    #[test]
    fn the_last_column_takes_the_place_of_the_categories_and_the_others_stay() {
        let rows = [[1.0, 0.0, 5.0, 30.0], [2.0, 1.0, 6.0, 70.0], [3.0, 0.0, 8.0, 30.0]];
        let features = ["a", "by", "b", "value"].map(|name| Feature::new(ElementType::F64).named(name));
        let table = HomogenNumericTable::from_rows(&rows).unwrap();
        let table = table.with_dictionary(features.into_iter().collect()).unwrap();
        let all = GroupStatistics::compute(&table, 1, 2).unwrap();
        let found = with_values(all.clone()).unwrap();
        assert_eq!((found.column_count, found.by, found.columns.len()), (3, 1, 6));
        for category in 0..2 {
            for (column, before) in [(0, 0), (1, 3), (2, 2)] {
                assert_eq!(found.column(category, column).unwrap(), all.column(category, before).unwrap());
            }
            assert_eq!(found.row_count_of(category).unwrap(), all.row_count_of(category).unwrap());
        }
        assert_eq!(found.column(1, "by").unwrap().mean(), 70.0);
        assert!(found.column(1, "value").is_err());

        let last = GroupStatistics::compute(&table, 3, 71).unwrap();
        assert!(matches!(with_values(last).unwrap_err().kind(), ErrorKind::ColumnOutOfRange { column: 3, .. }));
    }
}
