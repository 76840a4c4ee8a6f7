//! Access modes and kinds of blocks.

use std::fmt;

/// Whether a block is taken for reading, writing or both. Source: DAAL `ReadWriteMode`.
///
/// | mode | the block shows | release |
/// | --- | --- | --- |
/// | `ReadOnly` | the table's values | writes nothing |
/// | `WriteOnly` | zeros if converted, otherwise the table's memory | writes every value |
/// | `ReadWrite` | the table's values | writes changed values |
///
/// # Examples
/// ```
/// use numeric_table::ReadWriteMode;
/// assert!(ReadWriteMode::WriteOnly.is_writable() && !ReadWriteMode::WriteOnly.is_readable());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ReadWriteMode {
    /// DAAL `readOnly`.
    ReadOnly = 1,
    /// DAAL `writeOnly`.
    WriteOnly = 2,
    /// DAAL `readWrite`.
    ReadWrite = 3,
}

impl ReadWriteMode {
    /// Returns whether the block shows the table's values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::ReadWriteMode;
    /// assert!(ReadWriteMode::ReadOnly.is_readable() && ReadWriteMode::ReadWrite.is_readable());
    /// assert!(!ReadWriteMode::WriteOnly.is_readable());
    /// ```
    pub const fn is_readable(self) -> bool {
        !matches!(self, Self::WriteOnly)
    }

    /// Returns whether the block is writable.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::ReadWriteMode;
    /// assert!(ReadWriteMode::WriteOnly.is_writable() && ReadWriteMode::ReadWrite.is_writable());
    /// assert!(!ReadWriteMode::ReadOnly.is_writable());
    /// ```
    pub const fn is_writable(self) -> bool {
        !matches!(self, Self::ReadOnly)
    }
}

impl fmt::Display for ReadWriteMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ReadOnly => "read only",
            Self::WriteOnly => "write only",
            Self::ReadWrite => "read write",
        })
    }
}

/// The kind of block that a descriptor holds, which determines the call that releases it.
///
/// # Examples
/// ```
/// use numeric_table::block::BlockKind;
/// assert_eq!(BlockKind::Rows.to_string(), "a block of rows");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockKind {
    /// Taken by `get_block_of_rows`.
    Rows,
    /// Taken by `get_block_of_column_values`.
    ColumnValues,
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Rows => "a block of rows",
            Self::ColumnValues => "a block of column values",
        })
    }
}
