//! The kind of memory that an array uses, and whether the array may write it.

use super::Array;
use super::block::MemoryBlock;

/// The kind of memory that an array uses, and who can access it.
///
/// Source: `sycl::usm::alloc`, whose `unknown` is [`Host`](Self::Host) and whose `host` is [`Pinned`](Self::Pinned);
/// `cudaMemoryType`.
///
/// # Examples
/// ```
/// use numeric_table::{Array, array::MemoryKind};
/// assert_eq!(Array::from(vec![1.0]).memory_kind(), MemoryKind::Host);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Memory of the program. A device can access it only through copies.
    Host,
    /// Memory of the program that is registered with a device's driver. The device copies it at the full speed of the
    /// link.
    Pinned,
    /// Memory of a device. The program can access it only through copies.
    Device,
    /// Memory that both the program and the device access directly.
    Shared,
}

/// Whether the owner of the memory permits writing.
///
/// As large as a pointer, so that arrays have no padding. Padding is moved in pieces, and a wider load of them shortly
/// afterwards waits until they are stored, which made it a third of the time of writing one row through a descriptor.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Access {
    Immutable,
    Mutable,
}

impl<T> Array<T> {
    /// Returns the kind of memory: [`Pinned`](MemoryKind::Pinned) if a device's adapter allocated it as such, otherwise
    /// [`Host`](MemoryKind::Host), even while it is registered for a borrow. O(1).
    ///
    /// Source: `sycl::get_pointer_type`.
    ///
    /// # Examples
    /// See [`MemoryKind`].
    pub fn memory_kind(&self) -> MemoryKind {
        self.block.as_deref().map_or(MemoryKind::Host, MemoryBlock::kind)
    }
}
