//! The limit of rows for files that have no data for each row: memory is allocated for empty rows too.

/// The largest number of rows of a file: set by the caller, or derived from the file's length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowLimit(Option<usize>);

impl RowLimit {
    /// Rows that any file may have.
    const FREE_ROWS: u64 = 1 << 20;
    /// Additional rows that a file may have for each of its bytes.
    const ROWS_PER_BYTE: u64 = 8;

    /// Creates the limit set by the caller.
    pub(super) fn new(rows: usize) -> Self {
        Self(Some(rows))
    }

    /// Returns the limit set by the caller, if any.
    #[cfg(feature = "npz")]
    pub(super) fn set(self) -> Option<u64> {
        self.0.map(|rows| rows as u64)
    }

    /// Returns the largest number of rows of a file with the given number of bytes.
    pub(super) fn of(self, bytes: u64) -> u64 {
        let by_length = || bytes.saturating_mul(Self::ROWS_PER_BYTE).saturating_add(Self::FREE_ROWS);
        self.0.map_or_else(by_length, |rows| rows as u64)
    }
}
