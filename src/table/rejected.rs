//! Arguments returned by calls that reject them.

use std::fmt;

use crate::base::error::Error;

/// The argument of a failed call, returned together with the error, so that nothing is lost. `?` extracts the error in
/// functions that return the library's `Result`. With any other error type, the error is the
/// [`source`](std::error::Error::source) of this value.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table::{MergedNumericTable, table::Rejected};
/// let mut table = MergedNumericTable::new([Box::new(HomogenNumericTable::from_rows(&[[1.5_f64], [2.5]])?) as _])?;
/// let Rejected { value, error } = table.push(Box::new(HomogenNumericTable::<u8>::default())).unwrap_err();
/// assert_eq!(value.row_count(), 0);
/// assert_eq!(error.to_string(), "table 1 does not match table 0: expected 2 rows, found 0");
///
/// let three_rows = Box::new(HomogenNumericTable::full(Shape { rows: 3, columns: 1 }, 1.0_f32)?);
/// let error = table.push(three_rows).map_err(Rejected::into_error).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::UnequalTables { .. }));
/// # Ok::<(), Error>(())
/// ```
pub struct Rejected<V> {
    /// The rejected argument.
    pub value: V,
    /// The reason for the rejection.
    pub error: Error,
}

impl<V> Rejected<V> {
    pub(super) fn new(value: V, error: Error) -> Self {
        Self { value, error }
    }

    /// Returns the error and drops the argument.
    pub fn into_error(self) -> Error {
        self.error
    }
}

/// Drops the argument, so that `?` works in functions that return the library's `Result`.
impl<V> From<Rejected<V>> for Error {
    fn from(rejected: Rejected<V>) -> Self {
        rejected.error
    }
}

impl<V> fmt::Debug for Rejected<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<V> fmt::Display for Rejected<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<V> std::error::Error for Rejected<V> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
