//! Where the memory of an array lies.

use super::Array;
use super::block::MemoryBlock;

/// Where the memory of an array lies, and who can reach it.
///
/// Source: `sycl::usm::alloc`, whose `unknown` is [`Host`](Self::Host) and whose `host` is [`Pinned`](Self::Pinned);
/// `cudaMemoryType`.
///
/// # Examples
/// ```
/// use numeric_table::{Array, MemoryKind, execution::{Detached, DeviceArray, Rayon}};
/// assert_eq!(Array::from(vec![1.0]).memory_kind(), MemoryKind::Host);
/// assert_eq!(DeviceArray::full(&Detached::new(), 3, 1.0)?.memory_kind(), MemoryKind::Device);
/// assert_eq!(DeviceArray::full(&Rayon, 3, 1.0)?.memory_kind(), MemoryKind::Shared);
/// # Ok::<(), numeric_table::execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Memory of the program. A device reaches it by copies only.
    Host,
    /// Memory of the program that is registered with a device's driver: the device copies it at the speed of the link.
    Pinned,
    /// Memory of a device. The program reaches it by copies only.
    Device,
    /// Memory that the program and the device both work on.
    Shared,
}

impl<T> Array<T> {
    /// Returns where the memory lies: [`Pinned`](MemoryKind::Pinned) if a device's adapter has allocated it so, and otherwise
    /// [`Host`](MemoryKind::Host), also while it is registered for a borrow. O(1).
    ///
    /// Source: `sycl::get_pointer_type`.
    ///
    /// # Examples
    /// See [`MemoryKind`].
    pub fn memory_kind(&self) -> MemoryKind {
        self.block.as_deref().map_or(MemoryKind::Host, MemoryBlock::kind)
    }
}
