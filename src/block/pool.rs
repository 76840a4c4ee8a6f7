//! Buffers of blocks that several threads read at the same time: that of a dropped block is used for a later one.

use std::sync::{Arc, Mutex, PoisonError};

use super::values::Buffer;
use crate::base::element::Element;
use crate::base::error::Result;

/// Things that are used again, by any thread.
#[derive(Debug)]
pub(crate) struct Pool<B>(Mutex<Vec<B>>);

impl<B> Pool<B> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns the thing that was put back last.
    pub(crate) fn take(&self) -> Option<B> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(crate) fn put(&self, thing: B) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(thing);
    }
}

/// The values of a block, in a buffer that goes back to its pool.
///
/// Invariant: the buffer has at least `count` values.
#[derive(Debug)]
pub(crate) struct Pooled<U: Element> {
    buffer: Buffer<U>,
    count: usize,
    home: Arc<Pool<Buffer<U>>>,
}

impl<U: Element> Pooled<U> {
    /// Takes a buffer from a pool, or makes one of `room` values, at least `count`; the values are any.
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
