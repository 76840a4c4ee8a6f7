//! Kernels that are Rust closures, over any number of views of any element types.
//!
//! A device implements [`Launch`]. [`Inputs`] and [`Outputs`] define which slices a closure sees. A device handles
//! bytes only: it takes the bytes of each view and divides those of the outputs, and the closure gets slices of the
//! right types.

use std::ops::Range;

use numeric_table::Element;

use super::memory::{DeviceView, DeviceViewMut, ExecutionMemory, SeparateMemory, SharedMemory};
use super::transport::Transport;
use super::{DeviceAdapter, HandleError, View, ViewMut};

/// Runs Rust closures on a device's memory.
///
/// # Examples
/// Two inputs of different types, and two results:
/// ```
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice, HandleError, Launch};
/// fn divide<D: Launch>(device: &D, values: &[f64], by: &[u8]) -> Result<(Vec<f64>, Vec<bool>), HandleError> {
///     let (count, values) = (values.len(), ArrayHandle::from_container(device, values));
///     let by = ArrayHandle::from_container(device, by);
///     let mut quotients = ArrayHandle::<f64, _, Vec<f64>>::empty(device);
///     let mut are_finite = ArrayHandle::<u8, _>::empty(device);
///     let outputs = (quotients.prepare_for_output(count)?, are_finite.prepare_for_output(count)?);
///     let inputs = (values.prepare_for_input()?, by.prepare_for_input()?);
///     device.launch(inputs, outputs, count, |items, (values, by), (quotients, are_finite)| {
///         for (place, item) in items.enumerate() {
///             quotients[place] = values[item] / f64::from(by[item]);
///             are_finite[place] = u8::from(quotients[place].is_finite());
///         }
///     })?;
///     let are_finite = are_finite.read_portal()?.iter().map(|&is_finite| is_finite == 1).collect();
///     Ok((quotients.into_container()?, are_finite))
/// }
/// assert_eq!(divide(&EmulatedDevice::new(), &[1.0, 2.0], &[4, 0])?, (vec![0.25, f64::INFINITY], vec![true, false]));
/// # Ok::<(), HandleError>(())
/// ```
pub trait Launch: DeviceAdapter {
    /// Calls `kernel(items, inputs, outputs)` for ranges that together are all of `items`, on as many threads as the
    /// device has.
    ///
    /// Each call sees all of the inputs. Of each output, it sees the values of its items, with their old content. All
    /// items of an output have the same number of values, which may differ between outputs: items may be values, or
    /// rows of several values. The division of items among calls must not change the result.
    ///
    /// A kernel may return nothing, or a `Result` whose error becomes a [`HandleError`].
    ///
    /// # Errors
    /// The error of a kernel: if several calls fail, that of the first items. The outputs are arbitrary then.
    /// [`HandleError::LengthMismatch`] if the length of an output is not a multiple of the number of items;
    /// [`HandleError::WrongDevice`]; what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, HandleError, Launch, HostParallel};
    /// let (rows, columns) = (3, 2);
    /// let table = ArrayHandle::from_container(&HostParallel, vec![1_i16, 2, 3, 4, 5, 6]);
    /// let mut sums = ArrayHandle::<i32, _>::empty(&HostParallel);
    /// HostParallel.launch([table.prepare_for_input()?], sums.prepare_for_output(rows)?, rows, |rows, [values], sums| {
    ///     for (sum, row) in sums.iter_mut().zip(values.chunks(columns).skip(rows.start)) {
    ///         *sum = row.iter().map(|&value| i32::from(value)).sum();
    ///     }
    /// })?;
    /// assert_eq!(sums.read_portal()?, [3, 7, 11]);
    ///
    /// let result = HostParallel.launch((), sums.prepare_in_place()?, rows, |rows, (), sums| match sums.contains(&7) {
    ///     true => Err(numeric_table::Error::other("seven")),
    ///     false => Ok(()),
    /// });
    /// assert_eq!(result.unwrap_err().to_string(), "seven");
    /// # Ok::<(), HandleError>(())
    /// ```
    fn launch<I: Inputs<Self::Memory>, O: Outputs<Self::Memory>, R: KernelResult>(
        &self,
        inputs: I,
        mut outputs: O,
        items: usize,
        kernel: impl for<'s> Fn(Range<usize>, I::Slices<'s>, O::Slices<'s>) -> R + Sync,
    ) -> Result<(), HandleError> {
        let (sources, targets) = (inputs.bytes(), outputs.bytes());
        let mut parts = Vec::with_capacity(targets.len());
        for (target, size) in targets {
            let bytes = <Self::Memory as ExecutionMemory>::count_mut(&target);
            parts.push((target, bytes_per_item(bytes, items, size)?));
        }
        let call = |items: Range<usize>, sources: &[&[u8]], targets: Vec<&mut [u8]>| {
            kernel(items, I::slices(sources), O::slices(targets)).into_result()
        };
        self.launch_bytes(&sources, parts, items, &call)
    }

    /// Does what [`launch`](Self::launch) does with bytes: those of each input, and those of each output with the
    /// number of bytes of an item. Devices implement this method. The slices that the kernel gets are aligned for every
    /// element type that they can have.
    ///
    /// # Errors
    /// Those of [`launch`](Self::launch); lengths have been compared.
    ///
    /// # Examples
    /// See [`launch`](Self::launch), which calls this.
    fn launch_bytes(
        &self,
        inputs: &[View<'_, u8, Self>],
        outputs: Vec<(ViewMut<'_, u8, Self>, usize)>,
        items: usize,
        kernel: &BytesKernel<'_>,
    ) -> Result<(), HandleError>;
}

/// A kernel as a device sees it: called with items, the bytes of each input, and the bytes of each output that belong
/// to the items.
pub type BytesKernel<'k> = dyn Fn(Range<usize>, &[&[u8]], Vec<&mut [u8]>) -> Result<(), HandleError> + Sync + 'k;

/// What a kernel may return: nothing, or a `Result`.
///
/// # Examples
/// See [`Launch::launch`].
pub trait KernelResult {
    /// Returns the error, if there is one.
    ///
    /// # Errors
    /// The error of the kernel.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::closures::KernelResult;
    /// assert!(().into_result().is_ok());
    /// ```
    fn into_result(self) -> Result<(), HandleError>;
}

impl KernelResult for () {
    fn into_result(self) -> Result<(), HandleError> {
        Ok(())
    }
}

impl<E: Into<HandleError>> KernelResult for Result<(), E> {
    fn into_result(self) -> Result<(), HandleError> {
        self.map_err(Into::into)
    }
}

/// A view that a kernel reads. Implemented for the views of both kinds of memory.
///
/// # Examples
/// See [`Launch`].
pub trait Input<M: ExecutionMemory> {
    /// The type of its values.
    type Value: Element;

    /// Returns the bytes.
    #[doc(hidden)]
    fn bytes(&self) -> M::View<'_, u8>;
}

/// A view that a kernel writes. Implemented for the views of both kinds of memory.
///
/// # Examples
/// See [`Launch`].
pub trait Output<M: ExecutionMemory> {
    /// The type of its values.
    type Value: Element;

    /// Returns the bytes.
    #[doc(hidden)]
    fn bytes(&mut self) -> M::ViewMut<'_, u8>;
}

/// What a kernel reads: nothing `()`, an array of views of one type, or a tuple of up to six views of any types.
///
/// # Examples
/// See [`Launch`].
pub trait Inputs<M: ExecutionMemory> {
    /// The same form with slices, as the kernel sees it.
    type Slices<'s>;

    /// Returns the bytes of each view.
    #[doc(hidden)]
    fn bytes(&self) -> Vec<M::View<'_, u8>>;

    /// Makes slices of their bytes, which are aligned for every element type.
    #[doc(hidden)]
    fn slices<'s>(bytes: &[&'s [u8]]) -> Self::Slices<'s>;
}

/// What a kernel writes: a view, or a tuple of up to six views of any types.
///
/// # Examples
/// See [`Launch`].
pub trait Outputs<M: ExecutionMemory> {
    /// The same form with slices, as the kernel sees it.
    type Slices<'s>;

    /// Returns the bytes of each view, and the size of one value.
    #[doc(hidden)]
    fn bytes(&mut self) -> Vec<(M::ViewMut<'_, u8>, usize)>;

    /// Makes slices of their bytes, which are aligned for every element type.
    #[doc(hidden)]
    fn slices<'s>(bytes: Vec<&'s mut [u8]>) -> Self::Slices<'s>;
}

/// Returns bytes as values. A slice of no bytes may not be aligned.
fn values_of<T: Element>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::cast_slice(bytes) }
}

/// Returns bytes as values. A slice of no bytes may not be aligned.
fn values_of_mut<T: Element>(bytes: &mut [u8]) -> &mut [T] {
    if bytes.is_empty() { &mut [] } else { bytemuck::cast_slice_mut(bytes) }
}

impl<M: ExecutionMemory, V: Input<M>, const INPUTS: usize> Inputs<M> for [V; INPUTS] {
    type Slices<'s> = [&'s [V::Value]; INPUTS];

    fn bytes(&self) -> Vec<M::View<'_, u8>> {
        self.iter().map(V::bytes).collect()
    }

    fn slices<'s>(bytes: &[&'s [u8]]) -> Self::Slices<'s> {
        std::array::from_fn(|index| values_of(bytes[index]))
    }
}

/// Returns the next slice of an iterator, or an empty one. The caller takes one slice for each view.
fn next<'s, T: Element>(bytes: &mut impl Iterator<Item = &'s mut [u8]>) -> &'s mut [T] {
    bytes.next().map_or(&mut [], values_of_mut)
}

macro_rules! tuples {
    ($($($name:ident $place:tt),*;)*) => {$(
        impl<M: ExecutionMemory, $($name: Input<M>),*> Inputs<M> for ($($name,)*) {
            type Slices<'s> = ($(&'s [$name::Value],)*);

            fn bytes(&self) -> Vec<M::View<'_, u8>> {
                vec![$(self.$place.bytes()),*]
            }

            #[allow(unused_variables, clippy::unused_unit, reason = "of no views")]
            fn slices<'s>(bytes: &[&'s [u8]]) -> Self::Slices<'s> {
                ($(values_of(bytes[$place]),)*)
            }
        }

        impl<M: ExecutionMemory, $($name: Output<M>),*> Outputs<M> for ($($name,)*) {
            type Slices<'s> = ($(&'s mut [$name::Value],)*);

            fn bytes(&mut self) -> Vec<(M::ViewMut<'_, u8>, usize)> {
                vec![$((self.$place.bytes(), size_of::<$name::Value>())),*]
            }

            #[allow(unused_variables, unused_mut, clippy::unused_unit, reason = "of no views")]
            fn slices<'s>(bytes: Vec<&'s mut [u8]>) -> Self::Slices<'s> {
                let mut bytes = bytes.into_iter();
                ($(next::<$name::Value>(&mut bytes),)*)
            }
        }
    )*};
}

tuples! {
    ;
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}

/// Implements the traits of views for the two kinds of memory.
macro_rules! views {
    ($([$($bounds:tt)*] $memory:ty: $input:ty, |$view:ident| $bytes:expr; $output:ty, |$out:ident| $out_bytes:expr;)*) => {$(
        impl<'v, T: Element, $($bounds)*> Input<$memory> for $input {
            type Value = T;

            fn bytes(&self) -> <$memory as ExecutionMemory>::View<'_, u8> {
                let $view = self;
                $bytes
            }
        }

        impl<'v, T: Element, $($bounds)*> Output<$memory> for $output {
            type Value = T;

            fn bytes(&mut self) -> <$memory as ExecutionMemory>::ViewMut<'_, u8> {
                let $out = self;
                $out_bytes
            }
        }

        impl<'v, T: Element, $($bounds)*> Outputs<$memory> for $output {
            type Slices<'s> = &'s mut [T];

            fn bytes(&mut self) -> Vec<(<$memory as ExecutionMemory>::ViewMut<'_, u8>, usize)> {
                vec![(Output::bytes(self), size_of::<T>())]
            }

            fn slices(bytes: Vec<&mut [u8]>) -> &mut [T] {
                next(&mut bytes.into_iter())
            }
        }
    )*};
}

views! {
    [] SharedMemory: &'v [T], |view| bytemuck::cast_slice(view); &'v mut [T], |view| bytemuck::cast_slice_mut(view);
    [X: Transport] SeparateMemory<X>: DeviceView<'v, T, X>, |view| view.bytes();
        DeviceViewMut<'v, T, X>, |view| view.bytes();
}

/// Returns the number of bytes of an item of an output.
///
/// # Errors
/// [`HandleError::LengthMismatch`].
fn bytes_per_item(bytes: usize, items: usize, size: usize) -> Result<usize, HandleError> {
    let have = bytes / size;
    let is_whole = if items == 0 { have == 0 } else { have.is_multiple_of(items) };
    if is_whole { Ok(bytes / items.max(1)) } else { Err(HandleError::LengthMismatch { have, want: items }) }
}
