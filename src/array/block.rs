//! The ownership structure of the seeds: who owns the bytes of one memory block, and how they are freed.
//!
//! An [`Array`](super::Array) holds it in an `Arc`, which is the reference count. A block knows neither an element
//! type nor an address: each array keeps its own typed window, so that aliases of one block can differ.
//! Invariant: the bytes that a constructor described stay valid, and at the same address, until the block is dropped;
//! dropping it frees them exactly once.
//! Semantics: oneDAL array, data ownership requirements 5 to 8; spec 1.3, implementation notes 2 to 4.

use std::any::Any;
use std::ptr::NonNull;

use super::allocate::Allocation;

/// One contiguous block of memory, and how it is given back.
pub(super) struct MemoryBlock {
    owner: Owner,
    size_in_bytes: usize,
}

enum Owner {
    /// The library allocated the bytes. Held only to be dropped.
    Library { _allocation: Allocation },
    /// A `Vec<T>`, which can be given back whole.
    Vec(Box<dyn Any + Send + Sync>),
    /// Any other value that lends out its bytes.
    Lender { _lender: PinnedOwner },
    /// Memory behind a raw pointer; the closure is the user's deleter with its arguments.
    Raw { deleter: Option<Box<dyn FnOnce() + Send + Sync>> },
    /// Memory that is never freed.
    Static,
}

impl MemoryBlock {
    pub(super) fn library(allocation: Allocation, size_in_bytes: usize) -> Self {
        Self { owner: Owner::Library { _allocation: allocation }, size_in_bytes }
    }

    pub(super) fn vec<T: Send + Sync + 'static>(vec: Vec<T>) -> Self {
        let size_in_bytes = size_of_val(&vec[..]);
        Self { owner: Owner::Vec(Box::new(vec)), size_in_bytes }
    }

    pub(super) fn lender(lender: PinnedOwner, size_in_bytes: usize) -> Self {
        Self { owner: Owner::Lender { _lender: lender }, size_in_bytes }
    }

    pub(super) fn raw(deleter: Box<dyn FnOnce() + Send + Sync>, size_in_bytes: usize) -> Self {
        Self { owner: Owner::Raw { deleter: Some(deleter) }, size_in_bytes }
    }

    pub(super) const fn never_freed(size_in_bytes: usize) -> Self {
        Self { owner: Owner::Static, size_in_bytes }
    }

    /// Returns the size of what the first array on this block shows.
    pub(super) fn size_in_bytes(&self) -> usize {
        self.size_in_bytes
    }

    /// Borrows the `Vec<T>` that owns the bytes, if that is what owns them.
    pub(super) fn as_vec<T: 'static>(&self) -> Option<&Vec<T>> {
        match &self.owner {
            Owner::Vec(vec) => vec.downcast_ref(),
            _ => None,
        }
    }

    /// Takes the `Vec<T>` out; the block owns nothing afterwards. Empty if it is owned by anything else.
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

/// A boxed value at an address that does not change, reached through a raw pointer.
///
/// A `Box` would not do: moving a `Box` asserts that nothing else points into it, and the array's window does.
pub(super) struct PinnedOwner {
    value: NonNull<dyn Send + Sync>,
}

// SAFETY: the value is `Send` by its bound and is owned exclusively.
unsafe impl Send for PinnedOwner {}
// SAFETY: `&PinnedOwner` gives no access to the value; and the value is `Sync` by its bound.
unsafe impl Sync for PinnedOwner {}

impl PinnedOwner {
    /// Boxes a value, and lets `window` look at it at the address that it keeps until the owner is dropped.
    pub(super) fn new<O: Send + Sync + 'static, W>(owner: O, window: impl FnOnce(&mut O) -> W) -> (Self, W) {
        let value: *mut O = Box::into_raw(Box::new(owner));
        // SAFETY: `into_raw` never gives null.
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
