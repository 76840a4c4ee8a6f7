//! Categories that stand for other values: the distinct ones of a column, in their order.

use super::GroupStatistics;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::shape::Shape;

/// Replaces the statistics of the category column by those of the values that the categories stand for. `values` groups
/// the same rows: its first column has the values, and its second one the category.
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`] if the numbers of categories differ, or `values` does not have two columns.
pub fn with_values(mut groups: GroupStatistics, values: &GroupStatistics) -> Result<GroupStatistics> {
    let expected = Shape { rows: groups.rows.len(), columns: 2 };
    let actual = Shape { rows: values.rows.len(), columns: values.column_count };
    if expected != actual {
        return Err(Error::new(ErrorKind::ShapeMismatch { expected, actual }));
    }
    let (by, count) = (groups.by, groups.column_count);
    let own = groups.columns.iter_mut().skip(by).step_by(count);
    own.zip(values.columns.iter().step_by(2)).for_each(|(own, value)| own.clone_from(value));
    Ok(groups)
}
