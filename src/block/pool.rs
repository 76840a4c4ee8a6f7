//! Buffers for blocks that several threads read at once. A later block reuses the buffer of a dropped one.

use std::sync::{Arc, Mutex, PoisonError};

use super::values::Buffer;
use crate::base::element::Element;
use crate::base::error::Result;

/// Objects that any thread can reuse.
#[derive(Debug)]
pub(crate) struct Pool<B>(Mutex<Vec<B>>);

impl<B> Pool<B> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns the object that was put back last.
    pub(crate) fn take(&self) -> Option<B> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(crate) fn put(&self, thing: B) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(thing);
    }
}

/// The values of a block, in a buffer that returns to its pool.
///
/// Invariant: the buffer has at least `count` values.
#[derive(Debug)]
pub(crate) struct Pooled<U: Element> {
    buffer: Buffer<U>,
    count: usize,
    home: Arc<Pool<Buffer<U>>>,
}

impl<U: Element> Pooled<U> {
    /// Takes a buffer from a pool, or creates one of `room` values. `room` is at least `count`. The values are
    /// unspecified.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(crate) fn new(home: &Arc<Pool<Buffer<U>>>, room: usize, count: usize) -> Result<Self> {
        let mut buffer = home.take().unwrap_or_else(Buffer::new);
        if buffer.capacity() < count {
            buffer.clear(room.max(count))?;
        }
        Ok(Self { buffer, count, home: Arc::clone(home) })
    }

    pub(crate) fn as_slice(&self) -> &[U] {
        &self.buffer.as_slice()[..self.count]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [U] {
        &mut self.buffer.as_mut_slice()[..self.count]
    }
}

impl<U: Element> Drop for Pooled<U> {
    fn drop(&mut self) {
        self.home.put(std::mem::replace(&mut self.buffer, Buffer::new()));
    }
}
