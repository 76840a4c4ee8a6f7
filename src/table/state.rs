//! What a table says about itself: its identity, the order of its values, whose memory they are in.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

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

/// The name of a kind of table, as archives and files have it. Open: a kind that this version does not know is an error that
/// names it.
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
}

impl fmt::Display for TableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}
