//! Properties of a table: allocation, memory status, layout, identity and kind.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::text::label;

/// Whether a constructor allocates memory immediately. Source: DAAL `NumericTableIface::AllocationFlag`.
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
    /// Memory is allocated and zero-filled.
    DoAllocate,
    /// Memory is supplied later, by `set_array`, `resize` or `allocate_data_memory`.
    DoNotAllocate,
}

/// The allocation status of a table's memory. Source: DAAL `NumericTableIface::MemoryStatus`.
///
/// # The life cycle of a homogeneous table
///
/// ```text
///   new(.., DoNotAllocate)        from_array          new(.., DoAllocate), full,
///   from_dictionary, default      map                 from_rows, load, from_bytes
///            │                          │                          │
///            ▼                          ▼                          ▼
///     ┌──────────────┐ set_array ┌───────────────┐ (*)  ┌─────────────────────┐
///     │ NotAllocated ├──────────►│ UserAllocated ├─────►│ InternallyAllocated │
///     └───┬────────▲─┘           └────┬─────▲────┘      └─────┬─────┬────▲────┘
///         │        │                  │     │                 │     │    │
///         │        │                  │     └──── set_array ──┘     │    │
///         │        │                  │                             │    │
///         │        └──────────────────┴───── free_data_memory ──────┘    │
///         │                                                              │
///         └───────────────────── resize, allocate_data_memory ───────────┘
///
///   (*) allocate_data_memory
///       resize, to more rows than the memory has room for
///       a write to immutable or shared memory, which copies first; requesting a writable block is a write, and so is
///       a resize that shows truncated rows again
/// ```
///
/// All other calls keep the status: `resize` if the memory has room for the rows or was allocated by the library;
/// `allocate_data_memory` and a copying write if both the old and the new memory belong to the library; `set_array` if
/// it replaces one user array with another; reading. A clone, a slice of rows, and a conversion that shares the memory
/// have the status of their table.
///
/// | status | values |
/// | --- | --- |
/// | `NotAllocated` | none: reading and writing return [`ErrorKind::NotAllocated`], unless the table has zero rows |
/// | `UserAllocated` | in the user's [`Array`](crate::Array); written in place if it is mutable and not shared |
/// | `InternallyAllocated` | in an array that the library allocated; written in place if it is not shared |
///
/// While a writable [`BlockDescriptor`](crate::BlockDescriptor) is outstanding, the status cannot change: `set_array`,
/// `resize`, `allocate_data_memory` and `free_data_memory` return [`ErrorKind::BlockOutstanding`]. A failed call leaves
/// status and values unchanged. Dropping a table, in any state, releases its share of the memory. The memory is freed
/// when its last share is released. The library frees its own memory; user memory is freed by dropping its owner or
/// calling its deleter.
///
/// Source: "Numeric Table Lifecycle" in DAAL's developer guide.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let mut table = HomogenNumericTable::<f32>::new(Shape { rows: 3, columns: 2 }, AllocationFlag::DoNotAllocate)?;
/// table.set_array(vec![1.0; 6], 3)?;
/// assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated);
/// table.resize(4)?; // the array has no room for another row
/// assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
/// table.free_data_memory()?;
/// assert_eq!(table.data_memory_status(), MemoryStatus::NotAllocated);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryStatus {
    /// No memory is allocated yet.
    NotAllocated,
    /// The user passed in or lent the memory.
    UserAllocated,
    /// The library allocated the memory.
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

/// The order in which the values of a table are stored.
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
    /// The values of a row are contiguous: DAAL's `aos`, oneDAL's `row_major`.
    #[default]
    RowMajor = 0,
    /// The values of a column are contiguous: oneDAL's `column_major`.
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

/// The identity of a table. A block can be released only on the table it was taken from. A table never changes its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableId(u64);

impl TableId {
    /// Creates a new, unique id.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::table::spi::TableId;
    /// assert_ne!(TableId::new(), TableId::new());
    /// ```
    #[expect(clippy::new_without_default, reason = "two defaults should be equal, and two ids never are")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed)) // 2^64 tables would take centuries to create
    }
}

/// The name of a kind of table in archives and files: 1 to 64 lower-case ASCII letters, digits and hyphens. Reading an
/// unknown kind returns an error that contains its name.
///
/// # Examples
/// ```
/// use numeric_table::table::spi::TableKind;
/// assert_eq!(TableKind::HOMOGENEOUS.name(), "homogeneous");
/// assert_eq!(TableKind::new("triangle").to_string(), "triangle");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableKind(&'static str);

impl TableKind {
    /// All values have one type and are in one block of memory.
    pub const HOMOGENEOUS: Self = Self("homogeneous");

    /// An array for each column: [`SoaNumericTable`](crate::SoaNumericTable).
    pub const STRUCTURE_OF_ARRAYS: Self = Self("structure-of-arrays");

    /// Records in memory: [`AosNumericTable`](crate::AosNumericTable).
    pub const ARRAY_OF_STRUCTURES: Self = Self("array-of-structures");

    /// Tables side by side: [`MergedNumericTable`](crate::MergedNumericTable). Not used in files.
    pub const MERGED: Self = Self("merged");

    /// Tables end to end: [`RowMergedNumericTable`](crate::RowMergedNumericTable). Not used in files.
    pub const ROW_MERGED: Self = Self("row-merged");

    /// One half of a symmetric matrix: [`PackedSymmetricMatrix`](crate::PackedSymmetricMatrix).
    pub const PACKED_SYMMETRIC: Self = Self("packed-symmetric");

    /// One half of a matrix whose other half is zero: [`PackedTriangularMatrix`](crate::PackedTriangularMatrix).
    pub const PACKED_TRIANGULAR: Self = Self("packed-triangular");

    /// A sparse table that stores only some cells, row by row: [`CsrNumericTable`](crate::CsrNumericTable).
    pub const CSR: Self = Self("csr");

    /// A kind without a name in files. Files store the contents of such a table, as one of the other kinds.
    pub const CUSTOM: Self = Self("custom");

    /// Creates the kind with this name.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name.
    pub const fn name(&self) -> &'static str {
        self.0
    }

    /// The maximum length in bytes of a name in an archive or a file.
    pub(crate) const NAME_LIMIT: usize = 64;

    /// Checks the length in bytes of a name, as stated in an archive or a file at position `at`.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
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

    /// Checks that bytes of an archive or a file at position `at` are a valid name.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] at the first byte that is not allowed in a name.
    pub(crate) fn check_name(name: &[u8], at: u64) -> Result<&str> {
        let is_allowed = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let valid = name.iter().take_while(|&byte| is_allowed(byte)).count();
        match (name.get(valid), str::from_utf8(name)) {
            (None, Ok(name)) => Ok(name),
            (other, _) => {
                let other = other.copied().unwrap_or_default();
                let reason = format!(
                    "the name of the table's kind contains the byte {other:#04x}, which is not a lower-case ASCII \
                     letter, digit or hyphen"
                );
                Err(Error::format(at + valid as u64, reason))
            }
        }
    }

    /// Returns the error for a valid name at position `at` that this version does not know.
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
