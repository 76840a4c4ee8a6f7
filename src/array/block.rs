//! Ownership of memory: the owner of one memory block, and how the block is freed.
//!
//! An [`Array`](super::Array) holds a block in an `Arc`, which is the reference count. A block has neither an element
//! type nor an address. Each array keeps its own typed window, so different windows on one block are possible.
//! Invariant: the bytes of a block stay valid at the same address until the block is dropped. Dropping it frees them
//! exactly once. Semantics: the data ownership of oneDAL `array`.

use std::any::Any;
use std::ptr::NonNull;

use super::allocate::Allocation;
use super::kind::MemoryKind;

/// One contiguous block of memory, and how it is freed.
pub(super) struct MemoryBlock {
    owner: Owner,
    size_in_bytes: usize,
}

enum Owner {
    /// Memory that the library allocated, with its start address. The allocation is held only to be dropped.
    Library { _allocation: Allocation, start: usize },
    /// A `Vec<T>`, which can be taken out again.
    Vec(Box<dyn Any + Send + Sync>),
    /// Any other value that lends its bytes, with the kind of memory they are in.
    Lender { _lender: PinnedOwner, kind: MemoryKind },
    /// Memory behind a raw pointer. The closure calls the user's deleter with its arguments.
    Raw { deleter: Option<Box<dyn FnOnce() + Send + Sync>> },
    /// Memory that is never freed.
    Static,
}

impl MemoryBlock {
    pub(super) fn library(allocation: Allocation, start: usize, size_in_bytes: usize) -> Self {
        Self { owner: Owner::Library { _allocation: allocation, start }, size_in_bytes }
    }

    pub(super) fn vec<T: Send + Sync + 'static>(vec: Vec<T>) -> Self {
        let size_in_bytes = size_of_val(&vec[..]);
        Self { owner: Owner::Vec(Box::new(vec)), size_in_bytes }
    }

    pub(super) fn lender(lender: PinnedOwner, size_in_bytes: usize, kind: MemoryKind) -> Self {
        Self { owner: Owner::Lender { _lender: lender, kind }, size_in_bytes }
    }

    pub(super) fn kind(&self) -> MemoryKind {
        match self.owner {
            Owner::Lender { kind, .. } => kind,
            _ => MemoryKind::Host,
        }
    }

    pub(super) fn raw(deleter: Box<dyn FnOnce() + Send + Sync>, size_in_bytes: usize) -> Self {
        Self { owner: Owner::Raw { deleter: Some(deleter) }, size_in_bytes }
    }

    pub(super) const fn never_freed(size_in_bytes: usize) -> Self {
        Self { owner: Owner::Static, size_in_bytes }
    }

    /// Returns the size in bytes of the first array created on this block.
    pub(super) fn size_in_bytes(&self) -> usize {
        self.size_in_bytes
    }

    /// Returns the number of bytes from an address inside the block to its end; 0 if the library did not allocate the
    /// block.
    pub(super) fn bytes_from(&self, address: usize) -> usize {
        match &self.owner {
            Owner::Library { start, .. } => (start + self.size_in_bytes).saturating_sub(address),
            _ => 0,
        }
    }

    /// Borrows the `Vec<T>` that owns the bytes, if one does.
    pub(super) fn as_vec<T: 'static>(&self) -> Option<&Vec<T>> {
        match &self.owner {
            Owner::Vec(vec) => vec.downcast_ref(),
            _ => None,
        }
    }

    /// Takes out the `Vec<T>` that owns the bytes, which leaves the block without memory. Returns an empty vector if
    /// the bytes do not belong to a `Vec<T>`.
    pub(super) fn take_vec<T: 'static>(&mut self) -> Vec<T> {
        match &mut self.owner {
            Owner::Vec(vec) => vec.downcast_mut().map(std::mem::take).unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}

impl Drop for MemoryBlock {
    fn drop(&mut self) {
        if let Owner::Raw { deleter } = &mut self.owner
            && let Some(delete) = deleter.take()
        {
            delete();
        }
    }
}

/// A boxed value at a fixed address, accessed through a raw pointer.
///
/// It is not a `Box`, because moving a `Box` asserts that no other pointer into it exists. The array's window is one.
pub(super) struct PinnedOwner {
    value: NonNull<dyn Send + Sync>,
}

// SAFETY: the value is `Send` by its bound and is owned exclusively.
unsafe impl Send for PinnedOwner {}
// SAFETY: `&PinnedOwner` allows no access to the value; and the value is `Sync` by its bound.
unsafe impl Sync for PinnedOwner {}

impl PinnedOwner {
    /// Boxes a value and calls `window` with it at its final address, where it stays until the owner is dropped.
    pub(super) fn new<O: Send + Sync + 'static, W>(owner: O, window: impl FnOnce(&mut O) -> W) -> (Self, W) {
        let value: *mut O = Box::into_raw(Box::new(owner));
        // SAFETY: `into_raw` never returns null.
        let pinned = Self { value: unsafe { NonNull::new_unchecked(value as *mut (dyn Send + Sync)) } };
        // SAFETY: the box was just made, is alive, and nothing else points to it; the borrow ends with the call. Should
        // `window` panic, `pinned` frees the box.
        let window = window(unsafe { &mut *value });
        (pinned, window)
    }
}

impl Drop for PinnedOwner {
    fn drop(&mut self) {
        // SAFETY: `value` came from `Box::into_raw`, and this is the only place that frees it.
        drop(unsafe { Box::from_raw(self.value.as_ptr()) });
    }
}
