//! The execution side's delegate: what each call of a handle does with memory, when it is shared and when it is separate.
//!
//! Source: Dax `ArrayManagerExecution`. As Dax expected there are two implementations, and adapters name one of them:
//! [`SharedMemory`] here, and [`SeparateMemory`](super::SeparateMemory). No other crate can write a third.

use std::fmt;
use std::ops::Range;

use super::{Container, ControlSlot, HandleError};
use crate::array::Array;
use crate::base::element::Element;

/// The execution side of one handle: [`SharedMemory`] or [`SeparateMemory`](super::SeparateMemory), one of which a
/// [`DeviceAdapter`](super::DeviceAdapter) names.
///
/// Sealed: which copy is valid when is a matter between the handle and these two. A device with memory of its own brings a
/// [`Transport`](super::Transport), which [`SeparateMemory`](super::SeparateMemory) asks to move bytes; one that works on the
/// program's memory needs nothing; memory that the program sees in a way of its own is a [`Container`].
///
/// | method | Dax | separate memory | shared memory |
/// | --- | --- | --- | --- |
/// | [`load_for_input`](Self::load_for_input) | `LoadDataForInput`, `GetIteratorBegin` | allocates and copies in, if not there | the control values |
/// | [`load_in_place`](Self::load_in_place) | (VTK-m `PrepareForInPlace`) | the same; control is out of date then | the control values |
/// | [`allocate_for_output`](Self::allocate_for_output) | `AllocateArrayForOutput` | allocates or recycles; control is ignored | allocates in control |
/// | [`retrieve`](Self::retrieve) | `RetrieveOutputData` | allocates control and copies to it | nothing |
/// | [`copy_into`](Self::copy_into) | `CopyInto` | device straight to the target; control is ignored | copies from control |
/// | [`store`](Self::store) | | host values straight to the device | copies into control |
/// | [`take_over`](Self::take_over) | `ReleaseResourcesControl` | makes sure that it has a copy, frees control | nothing |
/// | [`release`](Self::release) | `ReleaseResources` | saves to control if it has the only copy, then frees | nothing |
///
/// `len` is the number of values of the handle; containers and blocks may have room for more. Ranges have been checked.
///
/// # Errors
/// Whatever fails leaves every copy valid that was valid. Every method with data to give may return
/// [`HandleError::NoValidData`]; those of separate memory also what the device reports.
pub trait ExecutionMemory: sealed::Sealed + Send + Sync + Sized + 'static {
    /// Whether the control side's memory is the execution side's.
    const IS_SHARED: bool;

    /// Values in execution memory, for reading.
    type View<'a, T: Element>: Clone + fmt::Debug + Send + Sync;

    /// Values in execution memory, for writing.
    type ViewMut<'a, T: Element>: fmt::Debug + Send;

    /// Counts the values of a view.
    fn count<T: Element>(view: &Self::View<'_, T>) -> usize;

    /// Counts the values of a view.
    fn count_mut<T: Element>(view: &Self::ViewMut<'_, T>) -> usize;

    /// Cuts a part out of a view; what is not inside is left out.
    fn part<'a, T: Element>(view: Self::View<'a, T>, range: Range<usize>) -> Self::View<'a, T>;

    /// Makes the values readable here.
    ///
    /// # Errors
    /// As the trait says.
    fn load_for_input<'a, T: Element, C: Container<T>>(
        &'a self,
        control: &'a ControlSlot<C>,
        len: usize,
    ) -> Result<Self::View<'a, T>, HandleError>;

    /// Makes the values readable and writable here; control is out of date at once.
    ///
    /// # Errors
    /// As the trait says.
    fn load_in_place<'a, T: Element, C: Container<T>>(
        &'a mut self,
        control: &'a mut ControlSlot<C>,
        len: usize,
    ) -> Result<Self::ViewMut<'a, T>, HandleError>;

    /// Makes room for `len` values; control is out of date at once.
    ///
    /// # Errors
    /// As the trait says.
    fn allocate_for_output<'a, T: Element, C: Container<T>>(
        &'a mut self,
        control: &'a mut ControlSlot<C>,
        len: usize,
    ) -> Result<Self::ViewMut<'a, T>, HandleError>;

    /// Makes the values readable on the control side.
    ///
    /// # Errors
    /// As the trait says.
    fn retrieve<'a, T: Element, C: Container<T>>(
        &self,
        control: &'a ControlSlot<C>,
        len: usize,
    ) -> Result<&'a [T], HandleError>;

    /// Copies `target.len()` values from `first` on to control memory, without a control copy of the whole.
    ///
    /// # Errors
    /// As the trait says.
    fn copy_into<T: Element, C: Container<T>>(
        &self,
        control: &ControlSlot<C>,
        first: usize,
        target: &mut [T],
    ) -> Result<(), HandleError>;

    /// Copies values from control memory to the place `first` here; control is out of date then.
    ///
    /// # Errors
    /// As the trait says.
    fn store<T: Element, C: Container<T>>(
        &mut self,
        control: &mut ControlSlot<C>,
        len: usize,
        first: usize,
        values: &[T],
    ) -> Result<(), HandleError>;

    /// Begins to copy a shared array in, for a later [`load_for_input`](Self::load_for_input). Devices with a copy engine
    /// return before it is there, and keep a share of the array until then.
    ///
    /// # Errors
    /// As the trait says.
    fn load_ahead<T: Element>(&self, control: &ControlSlot<Array<T>>, len: usize) -> Result<(), HandleError>;

    /// Frees control memory, after taking the values over if control has the only copy.
    ///
    /// # Errors
    /// As the trait says.
    fn take_over<T: Element, C: Container<T>>(
        &mut self,
        control: &mut ControlSlot<C>,
        len: usize,
    ) -> Result<(), HandleError>;

    /// Frees execution memory, after saving the values to control if this is the only copy. Returns the bytes freed.
    ///
    /// # Errors
    /// As the trait says.
    fn release<T: Element, C: Container<T>>(
        &mut self,
        control: &ControlSlot<C>,
        len: usize,
    ) -> Result<usize, HandleError>;

    /// Control has newer values: those here are out of date. Memory may be kept for the next time.
    fn invalidate(&mut self);

    /// Frees execution memory; values that are nowhere else are gone.
    fn discard(&mut self);

    /// Makes the execution side of a clone of the handle: shares the values.
    fn share(&self) -> Self;

    /// Returns whether the execution side has a valid copy.
    fn is_valid<C>(&self, control: &ControlSlot<C>) -> bool;
}

pub(super) mod sealed {
    /// What only this crate's execution memories are.
    pub trait Sealed {}
}

/// Execution on the control side's own memory: views are slices, nothing is ever copied between the two.
///
/// # Examples
/// ```
/// use numeric_table::execution::{ArrayHandle, DeviceAdapter, Serial};
/// let values = vec![1.0_f32, 2.0];
/// let address = values.as_ptr();
/// let handle = ArrayHandle::from_container(&Serial, values);
/// let view: &[f32] = handle.prepare_for_input()?;
/// assert_eq!(view.as_ptr(), address);
/// assert_eq!(Serial.stats(), Default::default());
/// # Ok::<(), numeric_table::execution::HandleError>(())
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

    fn load_for_input<'a, T: Element, C: Container<T>>(
        &'a self,
        control: &'a ControlSlot<C>,
        len: usize,
    ) -> Result<&'a [T], HandleError> {
        control.values(len).ok_or(HandleError::NoValidData)
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

    fn retrieve<'a, T: Element, C: Container<T>>(
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
        copy_from_control(control, first, target).ok_or(HandleError::NoValidData)
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

    fn load_ahead<T: Element>(&self, _control: &ControlSlot<Array<T>>, _len: usize) -> Result<(), HandleError> {
        Ok(())
    }

    fn take_over<T: Element, C: Container<T>>(
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

    fn is_valid<C>(&self, control: &ControlSlot<C>) -> bool {
        control.is_valid()
    }
}

/// Copies values from `first` on out of a valid control copy; `None` if there is none.
pub(super) fn copy_from_control<T: Element, C: Container<T>>(
    control: &ControlSlot<C>,
    first: usize,
    target: &mut [T],
) -> Option<()> {
    let values = control.get()?.values().get(first..)?.get(..target.len())?;
    target.copy_from_slice(values);
    Some(())
}
