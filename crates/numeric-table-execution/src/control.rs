//! The control container of a handle, valid or not.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use numeric_table::Element;

use super::{Container, HandleError};

/// The slot of a handle for its container, whose values are valid or not. Handles pass it to their
/// [`ExecutionMemory`](crate::memory::ExecutionMemory) only; it has no public methods.
///
/// Presence is validity: `valid` is filled exactly if the control copy is valid. Through `&self` it can only be filled,
/// so that a borrowed `&[T]` stays valid; only `&mut self` empties it.
#[derive(Debug)]
pub struct ControlSlot<C> {
    /// The container, while its values are valid.
    valid: OnceLock<C>,
    /// The container, while they are not: memory for copying results back. Exactly one of the two fields holds it.
    spare: Mutex<Option<C>>,
}

impl<C> ControlSlot<C> {
    pub(super) fn valid(container: C) -> Self {
        Self { valid: OnceLock::from(container), spare: Mutex::new(None) }
    }

    pub(super) fn invalid(container: C) -> Self {
        Self { valid: OnceLock::new(), spare: Mutex::new(Some(container)) }
    }

    /// Returns whether the control copy is valid.
    pub(super) fn is_valid(&self) -> bool {
        self.valid.get().is_some()
    }

    /// Borrows the container if its values are valid.
    pub(super) fn get(&self) -> Option<&C> {
        self.valid.get()
    }

    /// Borrows the first `count` values if they are valid.
    pub(super) fn values<T: Element>(&self, count: usize) -> Option<&[T]>
    where
        C: Container<T>,
    {
        self.valid.get()?.values().get(..count)
    }

    /// Borrows the container, valid or not.
    pub(super) fn container(&mut self) -> Option<&mut C> {
        match self.valid.get_mut() {
            Some(container) => Some(container),
            None => self.spare.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut(),
        }
    }

    /// Checks that values can be copied back into the container.
    pub(super) fn check_writable<T: Element>(&mut self) -> Result<(), HandleError>
    where
        C: Container<T>,
    {
        self.container().map_or(Ok(()), |container| container.check(container.values().len()))
    }

    /// Fills the container with `count` values and marks them valid. Does nothing if they are valid already, so only
    /// one of several threads fills it. An error changes nothing.
    pub(super) fn fill<T: Element>(
        &self,
        count: usize,
        fill: impl FnOnce(&mut [T]) -> Result<(), HandleError>,
    ) -> Result<&[T], HandleError>
    where
        C: Container<T>,
    {
        let mut spare = lock(&self.spare);
        if let Some(container) = spare.as_mut()
            && !self.is_valid()
        {
            container.allocate(count)?;
            let have = container.values().len();
            let too_short = HandleError::FixedSize { have, want: count };
            fill(container.values_mut()?.get_mut(..count).ok_or(too_short)?)?;
        }
        if let Some(container) = spare.take() {
            let _ = self.valid.set(container); // it is empty: the lock is held, and the container was in `spare`
        }
        self.values(count).ok_or(HandleError::NoValidData)
    }

    /// Marks the container's current values valid.
    pub(super) fn validate(&mut self) {
        let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(container) = spare.take() {
            self.valid = OnceLock::from(container);
        }
    }

    /// Marks the values invalid.
    pub(super) fn invalidate<T: Element>(&mut self)
    where
        C: Container<T>,
    {
        if let Some(container) = self.valid.take() {
            // Stored before its method is called, so that it is not lost if that panics.
            self.spare.get_mut().unwrap_or_else(PoisonError::into_inner).insert(container).retire();
        }
    }

    /// Takes the container, valid or not.
    pub(super) fn into_container(self) -> Option<C> {
        let Self { valid, spare } = self;
        valid.into_inner().or(spare.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Locks a mutex, even after a panic in a user's container or device: the guarded values change only by whole
/// assignments.
pub(super) fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
