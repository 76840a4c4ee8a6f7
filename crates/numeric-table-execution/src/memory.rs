//! The execution side of a handle: what each call does with memory, if it is shared and if it is separate.
//!
//! Source: Dax `ArrayManagerExecution`. As in Dax, an adapter chooses one of two implementations: [`SharedMemory`] and
//! [`SeparateMemory`]. Other crates cannot add a third.

use std::fmt;
use std::ops::Range;

use numeric_table::{Array, Element, array::MemoryKind};

use super::closures::{Input, Output, Outputs};
use super::transport::Arriving;
use super::{Container, HandleError};
pub use crate::control::ControlSlot;
pub use crate::separate::SeparateMemory;
pub use crate::space::{DeviceView, DeviceViewMut, SeparateSpace};

/// The execution side of one handle: [`SharedMemory`] or [`SeparateMemory`], as chosen by a
/// [`DeviceAdapter`](super::DeviceAdapter).
///
/// Sealed: the validity of copies is internal to the handle and these two. A device with memory of its own implements
/// [`Transport`](crate::transport::Transport), through which [`SeparateMemory`] moves bytes; one that works
/// on the program's memory needs nothing; a special kind of memory on the control side is a [`Container`].
///
/// | method | Dax | separate memory | shared memory |
/// | --- | --- | --- | --- |
/// | [`load_for_input`](Self::load_for_input) | `LoadDataForInput`, `GetIteratorBegin` | allocates and copies in, if absent | the control values |
/// | [`load_in_place`](Self::load_in_place) | (VTK-m `PrepareForInPlace`) | the same; control becomes invalid | the control values |
/// | [`allocate_for_output`](Self::allocate_for_output) | `AllocateArrayForOutput` | allocates or recycles; control is ignored | allocates in control |
/// | [`download`](Self::download) | `RetrieveOutputData` | allocates control and copies to it | nothing |
/// | [`copy_into`](Self::copy_into) | `CopyInto` | device directly to the target; control is ignored | copies from control |
/// | [`store`](Self::store) | | host values directly to the device | copies into control |
/// | [`upload_and_free`](Self::upload_and_free) | `ReleaseResourcesControl` | copies in if it has no copy, frees control | nothing |
/// | [`release`](Self::release) | `ReleaseResources` | saves to control if it has the only copy, then frees | nothing |
///
/// `len` is the number of values of the handle; containers and blocks may have room for more. Ranges must have been
/// checked.
///
/// # Errors
/// After a failure, every copy that was valid is still valid. Every method that returns or copies values may return
/// [`HandleError::NoValidData`]; those of separate memory also return what the device reports.
pub trait ExecutionMemory: sealed::Sealed + Send + Sync + Sized + 'static {
    /// Whether both sides use the same memory.
    const IS_SHARED: bool;

    /// Values in execution memory, for reading.
    type View<'a, T: Element>: Clone + fmt::Debug + Send + Sync + Input<Self, Value = T>;

    /// Values in execution memory, for writing.
    type ViewMut<'a, T: Element>: fmt::Debug
        + Send
        + Output<Self, Value = T>
        + for<'s> Outputs<Self, Slices<'s> = &'s mut [T]>;

    /// Returns the number of values of a view.
    fn count<T: Element>(view: &Self::View<'_, T>) -> usize;

    /// Returns the number of values of a view.
    fn count_mut<T: Element>(view: &Self::ViewMut<'_, T>) -> usize;

    /// Returns a part of a view; the range is clamped to the view.
    fn part<'a, T: Element>(view: Self::View<'a, T>, range: Range<usize>) -> Self::View<'a, T>;

    /// Returns the same bytes as values of another type: as many as there are whole ones. `None` if they are not
    /// aligned for it.
    fn cast<'a, T: Element, U: Element>(view: Self::View<'a, T>) -> Option<Self::View<'a, U>>;

    /// Makes the values readable in execution memory.
    ///
    /// # Errors
    /// Those of the trait.
    fn load_for_input<'a, T: Element, C: Container<T>>(
        &'a self,
        control: &'a ControlSlot<C>,
        len: usize,
    ) -> Result<Self::View<'a, T>, HandleError>;

    /// Makes values readable in execution memory that no slice of the control side has. If they are absent, `make`
    /// returns the execution side of a handle that has them. Only one of several threads calls it, while the others
    /// wait. It must not use the handle.
    ///
    /// # Errors
    /// Those of the trait, and of `make`; [`HandleError::WrongDevice`] and [`HandleError::LengthMismatch`] if what it
    /// returns is not the memory of this device, or too short.
    fn load_made<'a, T: Element>(
        &'a self,
        len: usize,
        make: &mut dyn FnMut() -> Result<Self, HandleError>,
    ) -> Result<Self::View<'a, T>, HandleError>;

    /// Makes the values readable and writable in execution memory; the control copy becomes invalid.
    ///
    /// # Errors
    /// Those of the trait.
    fn load_in_place<'a, T: Element, C: Container<T>>(
        &'a mut self,
        control: &'a mut ControlSlot<C>,
        len: usize,
    ) -> Result<Self::ViewMut<'a, T>, HandleError>;

    /// Prepares memory for `len` values. The control copy becomes invalid.
    ///
    /// # Errors
    /// Those of the trait.
    fn allocate_for_output<'a, T: Element, C: Container<T>>(
        &'a mut self,
        control: &'a mut ControlSlot<C>,
        len: usize,
    ) -> Result<Self::ViewMut<'a, T>, HandleError>;

    /// Makes the values readable on the control side.
    ///
    /// # Errors
    /// Those of the trait.
    fn download<'a, T: Element, C: Container<T>>(
        &self,
        control: &'a ControlSlot<C>,
        len: usize,
    ) -> Result<&'a [T], HandleError>;

    /// Copies `target.len()` values from index `first` to control memory, without creating a control copy of the whole.
    ///
    /// # Errors
    /// Those of the trait.
    fn copy_into<T: Element, C: Container<T>>(
        &self,
        control: &ControlSlot<C>,
        first: usize,
        target: &mut [T],
    ) -> Result<(), HandleError>;

    /// Copies values from control memory to index `first` in execution memory; the control copy becomes invalid.
    ///
    /// # Errors
    /// Those of the trait.
    fn store<T: Element, C: Container<T>>(
        &mut self,
        control: &mut ControlSlot<C>,
        len: usize,
        first: usize,
        values: &[T],
    ) -> Result<(), HandleError>;

    /// Starts to copy a shared array in, for a later [`load_for_input`](Self::load_for_input). Devices with a copy
    /// engine return before the copy is complete, and keep a share of the array until then.
    ///
    /// # Errors
    /// Those of the trait.
    fn upload_async<T: Element>(&self, control: &ControlSlot<Array<T>>, len: usize) -> Result<(), HandleError>;

    /// Starts to copy the first values from execution memory into an array of as many bytes.
    ///
    /// # Errors
    /// Those of the trait.
    fn download_async<T: Element>(
        &self,
        control: &ControlSlot<Array<T>>,
        target: Array<u8>,
    ) -> Result<Arriving, HandleError>;

    /// Frees control memory, after copying the values in if control has the only copy.
    ///
    /// # Errors
    /// Those of the trait.
    fn upload_and_free<T: Element, C: Container<T>>(
        &mut self,
        control: &mut ControlSlot<C>,
        len: usize,
    ) -> Result<(), HandleError>;

    /// Frees execution memory, after saving the values to control if this is the only copy. Returns the number of bytes
    /// freed.
    ///
    /// # Errors
    /// Those of the trait.
    fn release<T: Element, C: Container<T>>(
        &mut self,
        control: &ControlSlot<C>,
        len: usize,
    ) -> Result<usize, HandleError>;

    /// Marks the execution copy invalid, because control has newer values. Memory may be kept for later use.
    fn invalidate(&mut self);

    /// Frees execution memory; the only copy of values is lost.
    fn discard(&mut self);

    /// Creates the execution side of a clone of the handle, which shares the values.
    fn share(&self) -> Self;

    /// Returns the kind of the memory.
    fn memory_kind(&self) -> MemoryKind;

    /// Returns whether the execution side has a copy that may be written, and that nothing else shares.
    fn is_exclusive(&self) -> bool;

    /// Returns whether results must be written to the memory that the values have: the program or another library uses
    /// it too.
    fn keeps_memory(&self) -> bool;

    /// Returns whether both are memory of the same device.
    fn is_of_device_of(&self, other: &Self) -> bool;

    /// Returns whether the execution side has a valid copy.
    fn is_valid<C>(&self, control: &ControlSlot<C>) -> bool;
}

pub(super) mod sealed {
    /// Implemented by this crate's execution memories only.
    pub trait Sealed {}
}

/// Execution on the control side's own memory: views are slices, nothing is ever copied between the two sides.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, HostSerial};
/// let values = vec![1.0_f32, 2.0];
/// let address = values.as_ptr();
/// let handle = ArrayHandle::from_container(&HostSerial, values);
/// let view: &[f32] = handle.prepare_for_input()?;
/// assert_eq!(view.as_ptr(), address);
/// assert_eq!(HostSerial.stats(), Default::default());
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SharedMemory;

/// Borrows the first `len` values of a valid container for writing.
fn writable<T: Element, C: Container<T>>(control: &mut ControlSlot<C>, len: usize) -> Result<&mut [T], HandleError> {
    if !control.is_valid() {
        return Err(HandleError::NoValidData);
    }
    let container = control.container().ok_or(HandleError::NoValidData)?;
    container.values_mut()?.get_mut(..len).ok_or(HandleError::NoValidData)
}

impl sealed::Sealed for SharedMemory {}

impl ExecutionMemory for SharedMemory {
    const IS_SHARED: bool = true;

    type View<'a, T: Element> = &'a [T];
    type ViewMut<'a, T: Element> = &'a mut [T];

    fn count<T: Element>(view: &Self::View<'_, T>) -> usize {
        view.len()
    }

    fn count_mut<T: Element>(view: &Self::ViewMut<'_, T>) -> usize {
        view.len()
    }

    fn part<'a, T: Element>(view: Self::View<'a, T>, range: Range<usize>) -> Self::View<'a, T> {
        let end = range.end.min(view.len());
        &view[range.start.min(end)..end]
    }

    fn cast<'a, T: Element, U: Element>(view: Self::View<'a, T>) -> Option<Self::View<'a, U>> {
        let bytes: &[u8] = bytemuck::cast_slice(view);
        bytemuck::try_cast_slice(&bytes[..bytes.len() / size_of::<U>() * size_of::<U>()]).ok()
    }

    fn load_for_input<'a, T: Element, C: Container<T>>(
        &'a self,
        control: &'a ControlSlot<C>,
        len: usize,
    ) -> Result<&'a [T], HandleError> {
        control.values(len).ok_or(HandleError::NoValidData)
    }

    fn load_made<'a, T: Element>(
        &'a self,
        _len: usize,
        _make: &mut dyn FnMut() -> Result<Self, HandleError>,
    ) -> Result<&'a [T], HandleError> {
        Err(HandleError::NoValidData) // a handle makes a slice of the values instead
    }

    fn load_in_place<'a, T: Element, C: Container<T>>(
        &'a mut self,
        control: &'a mut ControlSlot<C>,
        len: usize,
    ) -> Result<&'a mut [T], HandleError> {
        writable(control, len)
    }

    fn allocate_for_output<'a, T: Element, C: Container<T>>(
        &'a mut self,
        control: &'a mut ControlSlot<C>,
        len: usize,
    ) -> Result<&'a mut [T], HandleError> {
        control.container().ok_or(HandleError::NoValidData)?.allocate(len)?;
        control.validate();
        writable(control, len)
    }

    fn download<'a, T: Element, C: Container<T>>(
        &self,
        control: &'a ControlSlot<C>,
        len: usize,
    ) -> Result<&'a [T], HandleError> {
        control.values(len).ok_or(HandleError::NoValidData)
    }

    fn copy_into<T: Element, C: Container<T>>(
        &self,
        control: &ControlSlot<C>,
        first: usize,
        target: &mut [T],
    ) -> Result<(), HandleError> {
        copy_from_control(control, first, target)
    }

    fn store<T: Element, C: Container<T>>(
        &mut self,
        control: &mut ControlSlot<C>,
        len: usize,
        first: usize,
        values: &[T],
    ) -> Result<(), HandleError> {
        writable(control, len)?[first..first + values.len()].copy_from_slice(values);
        Ok(())
    }

    fn upload_async<T: Element>(&self, _control: &ControlSlot<Array<T>>, _len: usize) -> Result<(), HandleError> {
        Ok(())
    }

    fn download_async<T: Element>(
        &self,
        control: &ControlSlot<Array<T>>,
        mut target: Array<u8>,
    ) -> Result<Arriving, HandleError> {
        copy_from_control(control, 0, bytemuck::cast_slice_mut::<u8, T>(target.mutable_data()?))?;
        Ok(Arriving::new(|| Ok(target)))
    }

    fn upload_and_free<T: Element, C: Container<T>>(
        &mut self,
        _control: &mut ControlSlot<C>,
        _len: usize,
    ) -> Result<(), HandleError> {
        Ok(())
    }

    fn release<T: Element, C: Container<T>>(
        &mut self,
        _control: &ControlSlot<C>,
        _len: usize,
    ) -> Result<usize, HandleError> {
        Ok(0)
    }

    fn invalidate(&mut self) {}

    fn discard(&mut self) {}

    fn share(&self) -> Self {
        Self
    }

    fn memory_kind(&self) -> MemoryKind {
        MemoryKind::Shared
    }

    fn is_exclusive(&self) -> bool {
        true // for the container to say
    }

    fn keeps_memory(&self) -> bool {
        true
    }

    fn is_of_device_of(&self, _other: &Self) -> bool {
        true
    }

    fn is_valid<C>(&self, control: &ControlSlot<C>) -> bool {
        control.is_valid()
    }
}

/// Copies values from index `first` of a valid control copy.
///
/// # Errors
/// [`HandleError::NoValidData`] if there is none; those of a sequence.
pub(super) fn copy_from_control<T: Element, C: Container<T>>(
    control: &ControlSlot<C>,
    first: usize,
    target: &mut [T],
) -> Result<(), HandleError> {
    control.get().ok_or(HandleError::NoValidData)?.copy_values(first, target)
}
