//! Tables with missing values, for formats that cannot hold them.

use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::text::excerpt;
use crate::table::NumericTable;
use crate::table::missing::first_missing;

/// Checks that a table has no missing value, or only ones that may become NaN: in columns of floating-point numbers, if
/// `to_nan` is set.
///
/// # Errors
/// [`ErrorKind::Unsupported`] with the first missing value of the first column that has one; those of a table that
/// cannot be read.
pub(super) fn refuse_missing(table: &(dyn NumericTable + '_), target: &'static str, to_nan: bool) -> Result<()> {
    let dictionary = table.dictionary();
    if !dictionary.has_nullable() {
        return Ok(());
    }
    let rows = 0..table.shape().rows;
    let is_float = |column| dictionary.feature(column).is_ok_and(|feature| feature.element_type.is_float());
    let columns = dictionary.nullable_columns().filter(|&column| !(to_nan && is_float(column)));
    let Some((row, column)) = first_missing(table, columns, &rows)? else { return Ok(()) };
    let name = dictionary.feature(column)?.name.as_ref().map(|name| excerpt(name.as_bytes()));
    let reason = format!("the value in row {row} is missing, and the format has no missing values");
    let error = Error::new(ErrorKind::Unsupported { target, row: Some(row), column: Some(column), name, reason })
        .with_hint(Hint::new("fill_missing", "replaces missing values"))
        .with_hint(Hint::new("drop_missing_rows", "leaves such rows out"));
    Err(match is_float(column) {
        true => error.with_hint(Hint::new("SaveOptions::missing_to_nan", "writes NaN instead")),
        false => error,
    })
}
