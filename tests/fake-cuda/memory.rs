//! Blocks of memory: of a device, managed, or pinned memory of the program.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::lock;

/// How a block was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `cuMemAlloc`.
    Plain,
    /// `cuMemAllocAsync`.
    Pool,
    /// `cuMemAllocManaged`.
    Managed,
    /// `cuMemHostAlloc`.
    Pinned,
    /// `cuMemCreate` and `cuMemMap`: a piece of memory, whose neighbors may belong to the same allocation.
    Mapped,
}

/// A block of memory.
pub(crate) struct Block {
    bytes: Mutex<Vec<u8>>,
    /// Where the block begins in `bytes`: at a multiple of what blocks begin at.
    first: usize,
    pub(crate) count: usize,
    pub(crate) form: Form,
    /// Whether the stream has come to its allocation.
    pub(crate) is_there: AtomicBool,
    /// Whether a call has requested to free it.
    pub(crate) is_given_up: AtomicBool,
}

/// What is known about an address.
pub(crate) struct Place {
    pub(crate) start: u64,
    pub(crate) count: usize,
    pub(crate) form: Form,
    pub(crate) device: usize,
}

impl Block {
    pub(crate) fn new(count: usize, form: Form, grain: usize) -> Self {
        let bytes = vec![0xA5; count + grain];
        let first = bytes.as_ptr().align_offset(grain);
        let (is_there, is_given_up) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { bytes: Mutex::new(bytes), first, count, form, is_there, is_given_up }
    }

    /// The stream has come to the allocation.
    pub(crate) fn arrive(&self) {
        self.is_there.store(true, SeqCst);
    }

    /// Returns the address of memory that the program can access too.
    pub(crate) fn address_in_program(&self) -> Option<u64> {
        let is_shared = matches!(self.form, Form::Managed | Form::Pinned);
        is_shared.then(|| (lock(&self.bytes).as_mut_ptr().expose_provenance() + self.first) as u64)
    }

    /// Lets some bytes be read and changed.
    pub(crate) fn change(&self, range: Range<usize>, change: impl FnOnce(&mut [u8])) {
        change(&mut lock(&self.bytes)[self.first..][range]);
    }
}
