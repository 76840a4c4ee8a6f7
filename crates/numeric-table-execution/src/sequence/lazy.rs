//! The container of a handle of a sequence.

use std::fmt;
use std::sync::{Mutex, OnceLock};

use numeric_table::Array;

use super::Sequence;
use super::pack::to_array;
use crate::container::refuse_writes;
use crate::control::lock;
use crate::{Container, HandleError};

/// The container of a [`Sequence`]: read-only, and without a slice of the values until something asks for it.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
/// use numeric_table_execution::sequence::{Constant, Sequence};
/// let handle = ArrayHandle::from_sequence(&EmulatedDevice::new(), Constant::new(1.5_f32, 3));
/// handle.prepare_for_input()?;
/// assert_eq!(handle.container()?.size_in_bytes(), 0);
/// assert_eq!(handle.read_portal()?, [1.5; 3]);
/// assert_eq!(handle.container()?.size_in_bytes(), 12);
/// assert_eq!(handle.into_container()?.into_sequence().count(), 3);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
pub struct Lazy<S: Sequence> {
    sequence: S,
    /// Number of values, at most that of the sequence.
    count: usize,
    /// The first values, as many as were asked for, if the sequence has them nowhere as one slice.
    values: OnceLock<Array<S::Value>>,
    /// Locked while values are read.
    filling: Mutex<()>,
}

impl<S: Sequence> Lazy<S> {
    /// Creates the container of a sequence. Nothing is read.
    ///
    /// A handle that is made of it with [`ArrayHandle::from_container`](crate::ArrayHandle::from_container) packs all
    /// values; one that is made with [`from_sequence`](crate::ArrayHandle::from_sequence) lets the device compute them.
    ///
    /// # Examples
    /// See the type.
    pub fn new(sequence: S) -> Self {
        let count = sequence.count();
        Self { sequence, count, values: OnceLock::new(), filling: Mutex::default() }
    }

    /// Borrows the sequence.
    ///
    /// # Examples
    /// See the type.
    pub fn sequence(&self) -> &S {
        &self.sequence
    }

    /// Returns the sequence; frees the slice of its values.
    ///
    /// # Examples
    /// See the type.
    pub fn into_sequence(self) -> S {
        self.sequence
    }

    /// Returns the number of bytes of the slice that was written because something asked for it: 0 before that.
    ///
    /// # Examples
    /// See the type.
    pub fn size_in_bytes(&self) -> usize {
        self.values.get().map_or(0, Array::size_in_bytes)
    }
}

impl<S: Sequence> Container<S::Value> for Lazy<S> {
    const IS_SLICE: bool = false;

    refuse_writes! { S::Value }

    fn values(&self) -> &[S::Value] {
        match (self.sequence.run(0).get(..self.count), self.values.get()) {
            (Some(values), _) => values,
            (None, Some(values)) => values,
            (None, None) => &[],
        }
    }

    fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
        if let Some(values) = self.values.get_mut() {
            values.truncate(count);
        }
    }

    fn release(&mut self) {
        self.values.take();
    }

    fn value_count(&self) -> usize {
        self.count
    }

    fn copy_values(&self, first: usize, target: &mut [S::Value]) -> Result<(), HandleError> {
        match first.checked_add(target.len()).and_then(|end| self.values().get(first..end)) {
            Some(values) => target.copy_from_slice(values),
            None => super::pack::read_all(&self.sequence, first, target)?,
        }
        Ok(())
    }

    fn materialize(&self, count: usize) -> Result<(), HandleError> {
        if self.values().len() >= count {
            return Ok(());
        }
        let _filling = lock(&self.filling);
        if self.values.get().is_none() {
            let _ = self.values.set(to_array(&self.sequence, count)?); // it is empty: the lock is held
        }
        Ok(())
    }
}

/// Shares the slice of the values, if there is one.
impl<S: Sequence + Clone> Clone for Lazy<S> {
    fn clone(&self) -> Self {
        let (sequence, values) = (self.sequence.clone(), self.values.clone());
        Self { sequence, count: self.count, values, filling: Mutex::default() }
    }
}

impl<S: Sequence + Default> Default for Lazy<S> {
    fn default() -> Self {
        Self::new(S::default())
    }
}

impl<S: Sequence> fmt::Debug for Lazy<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy")
            .field("element_type", &<S::Value as numeric_table::Element>::TYPE)
            .field("count", &self.count)
            .field("size_in_bytes", &self.size_in_bytes())
            .finish_non_exhaustive()
    }
}
