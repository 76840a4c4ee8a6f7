//! What a table says about itself: its identity, the order of its values, whose memory they are in.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::text::label;

/// Whether a constructor allocates memory at once. Source: DAAL `NumericTableIface::AllocationFlag`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let shape = Shape { rows: 3, columns: 2 };
/// let mut table = HomogenNumericTable::<f32>::new(shape, AllocationFlag::DoNotAllocate)?;
/// assert_eq!(table.data_memory_status(), MemoryStatus::NotAllocated);
/// table.set_array(vec![1.0; 6], 3)?;
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocationFlag {
    /// Memory is allocated, and zero.
    DoAllocate,
    /// Memory comes later, by `set_array`, `resize` or `allocate_data_memory`.
    DoNotAllocate,
}

/// Whose memory a table uses. Source: DAAL `NumericTableIface::MemoryStatus`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_array(vec![1.0_f32; 6], Shape { rows: 3, columns: 2 })?;
/// assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryStatus {
    /// None yet.
    NotAllocated,
    /// Memory that the user handed over or lent.
    UserAllocated,
    /// Memory that the library allocated.
    InternallyAllocated,
}

impl fmt::Display for MemoryStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NotAllocated => "not allocated",
            Self::UserAllocated => "user allocated",
            Self::InternallyAllocated => "internally allocated",
        })
    }
}

/// In which order the values of a table lie in memory.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?.to_layout(DataLayout::ColumnMajor)?;
/// assert_eq!(table.as_slice()?, [1, 3, 2, 4]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum DataLayout {
    /// One row after another: DAAL's `aos`, oneDAL's `row_major`.
    #[default]
    RowMajor = 0,
    /// One column after another: oneDAL's `column_major`.
    ColumnMajor = 1,
}

impl fmt::Display for DataLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::RowMajor => "row major",
            Self::ColumnMajor => "column major",
        })
    }
}

/// Tells tables apart, so that a block can be released only where it was taken. Every table has its own for life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableId(u64);

impl TableId {
    /// Makes an id that no other table has.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::table::TableId;
    /// assert_ne!(TableId::new(), TableId::new());
    /// ```
    #[expect(clippy::new_without_default, reason = "two defaults should be equal, and two ids never are")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed)) // 2^64 tables outlast every machine
    }
}

/// The name of a kind of table, as archives and files have it: 1 to 64 lower-case ASCII letters, digits and hyphens. Open: a
/// kind that this version does not know is an error that names it.
///
/// # Examples
/// ```
/// use numeric_table::table::TableKind;
/// assert_eq!(TableKind::HOMOGENEOUS.name(), "homogeneous");
/// assert_eq!(TableKind::new("triangle").to_string(), "triangle");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableKind(&'static str);

impl TableKind {
    /// All values of one type, in one block of memory.
    pub const HOMOGENEOUS: Self = Self("homogeneous");

    /// A kind that files do not know: what is saved is read as a homogeneous table.
    pub const CUSTOM: Self = Self("custom");

    /// Makes the kind of a name.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name.
    pub const fn name(&self) -> &'static str {
        self.0
    }

    /// No name takes more bytes in an archive or a file.
    pub(crate) const NAME_LIMIT: usize = 64;

    /// Makes sure that a name may have so many bytes, as somebody's archive or file states at a position.
    ///
    /// # Errors
    /// [`Error::Format`].
    pub(crate) fn check_length(length: u64, at: u64) -> Result<usize> {
        match usize::try_from(length) {
            Ok(0) => Err(Error::format(at, "the name of the table's kind is empty")),
            Ok(length @ 1..=Self::NAME_LIMIT) => Ok(length),
            _ => {
                let limit = Self::NAME_LIMIT;
                let reason =
                    format!("the name of the table's kind has {length} bytes, and at most {limit} are allowed");
                Err(Error::format(at, reason))
            }
        }
    }

    /// Makes sure that somebody's bytes at a position are a name.
    ///
    /// # Errors
    /// [`Error::Format`] at the first byte that is in no name.
    pub(crate) fn check_name(name: &[u8], at: u64) -> Result<&str> {
        let is_allowed = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let valid = name.iter().take_while(|&byte| is_allowed(byte)).count();
        match (name.get(valid), str::from_utf8(name)) {
            (None, Ok(name)) => Ok(name),
            (other, _) => {
                let other = other.copied().unwrap_or_default();
                let reason = format!(
                    "the name of the table's kind has the byte {other:#04x}, which is no lower-case ASCII letter, digit or \
                     hyphen"
                );
                Err(Error::format(at + valid as u64, reason))
            }
        }
    }

    /// The error of a name at a position that is in order, and that nobody here knows.
    pub(crate) fn unknown(name: &str, at: u64) -> Error {
        let name = label(name, Self::NAME_LIMIT);
        Error::format(at, format!("unknown kind of table: {name}; a newer library may know it"))
    }
}

impl fmt::Display for TableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}
