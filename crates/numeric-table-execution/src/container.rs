//! Containers: owners of the array in the program's own memory.
//!
//! Source: Dax `ArrayContainerControl`. A handle never distinguishes kinds of containers; the container reports what it
//! refuses. Whether the values of a container are valid is recorded in [`super::control`].

use numeric_table::{Array, Element};

use super::HandleError;

/// A container of values in the program's own memory: the library's shared array, a `Vec`, a borrowed slice, or a
/// user's own type.
///
/// | container | `values_mut` | [`check`](Self::check)`(n)`: output of `n` values | memory is freed with |
/// | --- | --- | --- | --- |
/// | [`Array<T>`] (the default) | copies first if shared or immutable | any | the last share |
/// | `Vec<T>` | yes | any | the handle |
/// | `&mut [T]` | yes | [`FixedSize`](HandleError::FixedSize) unless it is the length | - (it is borrowed) |
/// | `&[T]` | [`ReadOnly`](HandleError::ReadOnly) | [`ReadOnly`](HandleError::ReadOnly) | - (it is borrowed) |
///
/// Source: Dax `ArrayContainerControl`, whose copies share one allocation, like clones of an [`Array`].
///
/// # Examples
/// A container with additional data of its own, which the handle keeps:
/// ```
/// use numeric_table_execution::{ArrayHandle, Container, EmulatedDevice, HandleError, Kernels};
///
/// #[derive(Default)]
/// struct Tagged { name: String, values: Vec<f32> }
///
/// impl Container<f32> for Tagged {
///     fn values(&self) -> &[f32] { &self.values }
///     fn values_mut(&mut self) -> Result<&mut [f32], HandleError> { Ok(&mut self.values) }
///     fn allocate(&mut self, count: usize) -> Result<(), HandleError> { self.values.allocate(count) }
///     fn truncate(&mut self, count: usize) { self.values.truncate(count) }
///     fn release(&mut self) { self.values = Vec::new() }
/// }
///
/// let device = EmulatedDevice::new();
/// let mut handle = ArrayHandle::from_container(&device, Tagged { name: "pressure".into(), values: vec![1.0, 2.0] });
/// device.fill(handle.prepare_for_output(3)?, 7.0)?;
/// let tagged = handle.into_container()?;
/// assert_eq!((&*tagged.name, &tagged.values[..]), ("pressure", &[7.0; 3][..]));
/// # Ok::<(), HandleError>(())
/// ```
pub trait Container<T: Element>: Send + Sync {
    /// Whether all values are always one slice. Those of a [`Sequence`](crate::sequence::Sequence) need not be.
    #[doc(hidden)]
    const IS_SLICE: bool = true;

    /// Borrows all values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::Container;
    /// assert_eq!(Container::values(&vec![1_u8, 2]), [1, 2]);
    /// ```
    fn values(&self) -> &[T];

    /// Borrows all values mutably.
    ///
    /// # Errors
    /// [`HandleError::ReadOnly`]; [`HandleError::HostAlloc`] if they must be copied first.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Container, HandleError};
    /// let mut wrapped = &[1_u8, 2][..];
    /// assert!(matches!(wrapped.values_mut(), Err(HandleError::ReadOnly)));
    /// ```
    fn values_mut(&mut self) -> Result<&mut [T], HandleError>;

    /// Checks that the container can receive an output of `count` values. Called before anything is prepared, on every
    /// device, so that every result can be copied back. By default, any count is accepted.
    ///
    /// # Errors
    /// [`HandleError::ReadOnly`], [`HandleError::FixedSize`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{Container, HandleError};
    /// let mut values = [1_u8, 2, 3];
    /// let wrapped = &mut values[..];
    /// assert!(wrapped.check(3).is_ok());
    /// assert!(matches!(wrapped.check(2), Err(HandleError::FixedSize { have: 3, want: 2 })));
    /// ```
    fn check(&self, _count: usize) -> Result<(), HandleError> {
        Ok(())
    }

    /// Makes room for at least `count` values, whose old content is not needed: keeps memory that is large enough, else
    /// allocates new memory that holds zeros, without touching a page of it (with the feature `mmap`). Afterwards,
    /// `values_mut` copies nothing.
    ///
    /// The handle is locked while values are copied back from a device: this method and `values_mut` must not call the
    /// handle, nor wait in a thread pool whose other work may (`rayon::join` runs such work while it waits).
    ///
    /// # Errors
    /// [`HandleError::HostAlloc`], [`HandleError::LengthOverflow`], [`HandleError::ReadOnly`],
    /// [`HandleError::FixedSize`]; the container is unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Array;
    /// use numeric_table_execution::Container;
    /// let mut array = Array::<f64>::new();
    /// array.allocate(5)?;
    /// assert_eq!(array[..], [0.0; 5]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn allocate(&mut self, count: usize) -> Result<(), HandleError>;

    /// Keeps the first `count` values, if there are more.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Array;
    /// use numeric_table_execution::Container;
    /// let mut array = Array::from(vec![1_u8, 2, 3]);
    /// array.truncate(2); // still shares the memory
    /// assert_eq!(array[..], [1, 2]);
    /// ```
    fn truncate(&mut self, count: usize);

    /// Frees the memory, if the container owns it.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::Container;
    /// let mut values = vec![1_u8, 2, 3];
    /// Container::<u8>::release(&mut values);
    /// assert_eq!(values.capacity(), 0);
    /// ```
    fn release(&mut self);

    /// Called when the values become invalid because the execution side has newer ones. Unshared memory may be kept for
    /// copying results back. By default, does nothing.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Array;
    /// use numeric_table_execution::Container;
    /// let array = Array::from(vec![1_u8, 2, 3]);
    /// let mut shared = array.clone();
    /// shared.retire(); // releases its share
    /// assert!(array.has_mutable_data());
    /// ```
    fn retire(&mut self) {}

    /// Returns the number of values.
    #[doc(hidden)]
    fn value_count(&self) -> usize {
        self.values().len()
    }

    /// Copies values from index `first` on.
    ///
    /// # Errors
    /// [`HandleError::NoValidData`] if the container has fewer.
    #[doc(hidden)]
    fn copy_values(&self, first: usize, target: &mut [T]) -> Result<(), HandleError> {
        let values = self.values().get(first..).and_then(|values| values.get(..target.len()));
        target.copy_from_slice(values.ok_or(HandleError::NoValidData)?);
        Ok(())
    }

    /// Makes [`values`](Self::values) return the first `count` values.
    ///
    /// # Errors
    /// Those of the sequence; [`HandleError::HostAlloc`].
    #[doc(hidden)]
    fn materialize(&self, _count: usize) -> Result<(), HandleError> {
        Ok(())
    }
}

impl<T: Element> Container<T> for Array<T> {
    fn values(&self) -> &[T] {
        self
    }

    fn values_mut(&mut self) -> Result<&mut [T], HandleError> {
        if self.is_empty() {
            return Ok(&mut []);
        }
        Ok(self.need_mutable_data()?)
    }

    fn allocate(&mut self, count: usize) -> Result<(), HandleError> {
        if self.len() < count || (!self.has_mutable_data() && !self.is_empty()) {
            *self = Array::zeros(count)?;
        }
        Ok(())
    }

    fn truncate(&mut self, count: usize) {
        if count < self.len() {
            *self = self.slice(0..count).unwrap_or_default(); // it is inside
        }
    }

    fn release(&mut self) {
        self.reset();
    }

    fn retire(&mut self) {
        if !self.has_mutable_data() {
            self.reset();
        }
    }
}

impl<T: Element> Container<T> for Vec<T> {
    fn values(&self) -> &[T] {
        self
    }

    fn values_mut(&mut self) -> Result<&mut [T], HandleError> {
        Ok(self)
    }

    fn allocate(&mut self, count: usize) -> Result<(), HandleError> {
        if self.len() < count {
            let bytes = count.checked_mul(size_of::<T>()).ok_or(HandleError::LengthOverflow)?;
            *self = bytemuck::allocation::try_zeroed_vec(count).map_err(|()| HandleError::HostAlloc { bytes })?;
        }
        Ok(())
    }

    fn truncate(&mut self, count: usize) {
        Vec::truncate(self, count);
    }

    fn release(&mut self) {
        *self = Vec::new();
    }
}

impl<T: Element> Container<T> for &mut [T] {
    fn values(&self) -> &[T] {
        self
    }

    fn values_mut(&mut self) -> Result<&mut [T], HandleError> {
        Ok(self)
    }

    fn check(&self, count: usize) -> Result<(), HandleError> {
        if count == self.len() { Ok(()) } else { Err(HandleError::FixedSize { have: self.len(), want: count }) }
    }

    fn allocate(&mut self, count: usize) -> Result<(), HandleError> {
        if count <= self.len() { Ok(()) } else { Err(HandleError::FixedSize { have: self.len(), want: count }) }
    }

    fn truncate(&mut self, count: usize) {
        let count = count.min(self.len());
        *self = std::mem::take(self).split_at_mut(count).0;
    }

    fn release(&mut self) {}
}

/// The methods of a container that cannot be written.
macro_rules! refuse_writes {
    ($value:ty) => {
        fn values_mut(&mut self) -> Result<&mut [$value], HandleError> {
            Err(HandleError::ReadOnly)
        }

        fn check(&self, _count: usize) -> Result<(), HandleError> {
            Err(HandleError::ReadOnly)
        }

        fn allocate(&mut self, _count: usize) -> Result<(), HandleError> {
            Err(HandleError::ReadOnly)
        }
    };
}
pub(super) use refuse_writes;

impl<T: Element> Container<T> for &[T] {
    fn values(&self) -> &[T] {
        self
    }

    refuse_writes! { T }

    fn release(&mut self) {}

    fn truncate(&mut self, count: usize) {
        *self = self.get(..count).unwrap_or(self);
    }
}

/// Vectors of `N` components, whose components are the values of the handle. Counts that are not a multiple of `N` are
/// refused.
impl<T: Element, const N: usize> Container<T> for Vec<[T; N]> {
    fn values(&self) -> &[T] {
        self.as_flattened()
    }

    fn values_mut(&mut self) -> Result<&mut [T], HandleError> {
        Ok(self.as_flattened_mut())
    }

    fn check(&self, count: usize) -> Result<(), HandleError> {
        vectors_of::<N>(count).map(drop)
    }

    fn allocate(&mut self, count: usize) -> Result<(), HandleError> {
        let vectors = vectors_of::<N>(count)?;
        if self.len() < vectors {
            let mut values = Vec::new();
            let bytes = count.checked_mul(size_of::<T>()).ok_or(HandleError::LengthOverflow)?;
            values.try_reserve_exact(vectors).map_err(|_| HandleError::HostAlloc { bytes })?;
            values.resize(vectors, [T::default(); N]);
            *self = values;
        }
        Ok(())
    }

    fn truncate(&mut self, count: usize) {
        Vec::truncate(self, count.div_ceil(N.max(1)));
    }

    fn release(&mut self) {
        *self = Vec::new();
    }
}

/// As a `Vec` of vectors, read-only.
impl<T: Element, const N: usize> Container<T> for &[[T; N]] {
    fn values(&self) -> &[T] {
        self.as_flattened()
    }

    refuse_writes! { T }

    fn release(&mut self) {}

    fn truncate(&mut self, count: usize) {
        *self = self.get(..count.div_ceil(N.max(1))).unwrap_or(self);
    }
}

/// Returns the number of vectors that have `count` components.
fn vectors_of<const N: usize>(components: usize) -> Result<usize, HandleError> {
    let is_whole = if N == 0 { components == 0 } else { components.is_multiple_of(N) };
    if is_whole { Ok(components / N.max(1)) } else { Err(HandleError::LengthMismatch { have: components, want: N }) }
}
