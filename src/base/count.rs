//! Numbers of rows and columns: checks that they are equal, and sums that do not overflow.

use super::error::{Error, ErrorKind, Result};

/// Checks that the number of values, rows or columns found is the expected one.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`].
pub fn same_count(expected: usize, found: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found })),
    }
}

/// Returns the number of rows after adding `added`. If this sum does not overflow, neither does any count of a column
/// or of a group, because every row has one value of each column and is in one group.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`].
pub fn rows_after(rows: u64, added: u64) -> Result<u64> {
    rows.checked_add(added).ok_or_else(|| {
        Error::new(ErrorKind::LimitExceeded {
            what: "counted rows",
            actual: u128::from(rows) + u128::from(added),
            limit: u64::MAX,
        })
    })
}
