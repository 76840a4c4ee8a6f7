//! Counts that must be equal or must not overflow, and the errors that several modules return.

use numeric_table::{Error, ErrorKind, Result};

/// Checks that two counts of values, rows or columns are equal.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`].
pub(crate) fn same_count(expected: usize, found: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found })),
    }
}

/// Returns the number of rows after adding `added`. If it does not overflow, no count of a group does.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`].
pub(crate) fn rows_after(rows: u64, added: u64) -> Result<u64> {
    let found = u128::from(rows) + u128::from(added);
    let limit = || Error::new(ErrorKind::LimitExceeded { what: "counted rows", actual: found, limit: u64::MAX });
    rows.checked_add(added).ok_or_else(limit)
}

/// Returns an [`ErrorKind::ParameterOutOfRange`].
pub(crate) fn parameter(name: &'static str, value: f64, allowed: &'static str) -> Error {
    Error::new(ErrorKind::ParameterOutOfRange { name: name.into(), value, allowed: allowed.into() })
}

/// Returns an [`ErrorKind::NotCombinable`].
pub(crate) fn not_combinable(reason: String) -> Error {
    Error::new(ErrorKind::NotCombinable { reason })
}
