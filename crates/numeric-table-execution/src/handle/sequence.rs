//! Handles of sequences: values that are not one slice, on their way to a device and from it.

use numeric_table::Element;

use super::ArrayHandle;
use crate::memory::ExecutionMemory;
use crate::sequence::{Lazy, Sequence, SequenceMut};
use crate::{Container, DeviceAdapter, DeviceArray, HandleError, Kernels, View};

/// Makes the first values of a container on a device.
pub(super) type MakeOnDevice<T, D, C> = fn(&C, &D, usize) -> Result<DeviceArray<T, D>, HandleError>;

/// Number of bytes of the pieces in which results are copied to a target that is not one slice.
const PIECE: usize = 4 << 20;

impl<D: Kernels, S: Sequence> ArrayHandle<S::Value, D, Lazy<S>> {
    /// Creates a handle of values that need not be one slice: strided, in chunks, or computed. Nothing is read or
    /// copied. The handle is read-only; [`Sequence`] lists what crosses when a kernel needs the values.
    ///
    /// Source: Dax, construction from begin and end iterators.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice, Kernels};
    /// use numeric_table_execution::sequence::{Cast, Counting};
    /// let device = EmulatedDevice::new();
    /// let handle = ArrayHandle::from_sequence(&device, Cast::<_, f32>::new(Counting::new(0, 10, 3)?));
    /// let mut bytes = ArrayHandle::<u8, _>::empty(&device);
    /// device.convert(handle.prepare_for_input()?, bytes.prepare_for_output(3)?, Default::default())?;
    /// assert_eq!((bytes.read_portal()?, device.stats().uploads.bytes), (&[0, 10, 20][..], 0));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn from_sequence(device: &D, sequence: S) -> Self {
        let mut handle = Self::from_container(device, Lazy::new(sequence));
        handle.make = Some(|lazy, device, count| lazy.sequence().prepare(device, count));
        handle
    }
}

impl<T: Element, D: DeviceAdapter, C: Container<T>> ArrayHandle<T, D, C> {
    /// Makes the values of a container that may have no slice of them readable by kernels.
    pub(super) fn prepare_sequence(&self) -> Result<View<'_, T, D>, HandleError> {
        if !D::Memory::IS_SHARED
            && let (Some(make), Some(container)) = (self.make, self.control.get())
        {
            let make = &mut || {
                let made = make(container, &self.device, self.len)?;
                match made.len() == self.len {
                    true => Ok(made.into_handle().execution),
                    false => Err(HandleError::LengthMismatch { have: made.len(), want: self.len }),
                }
            };
            return self.execution.load_made(self.len, make);
        }
        self.materialize()?;
        self.execution.load_for_input(&self.control, self.len)
    }

    /// Makes a valid container have a slice of the values.
    pub(super) fn materialize(&self) -> Result<(), HandleError> {
        match self.control.get() {
            Some(container) if !C::IS_SLICE => self.device.in_program(|| container.materialize(self.len)),
            _ => Ok(()),
        }
    }

    /// Checks that the container can receive other values.
    ///
    /// # Errors
    /// [`HandleError::ReadOnly`].
    pub(crate) fn check_writable(&mut self) -> Result<(), HandleError> {
        self.control.check_writable()
    }

    /// Copies the values to places that need not be one slice: a column of a table, or several slices end to end. Only
    /// those places are written. Values on a device are copied in pieces, without a control copy.
    ///
    /// Source: Dax `CopyInto`, whose destination is any iterator.
    ///
    /// # Errors
    /// [`HandleError::LengthMismatch`] unless the target has the same number of values; [`HandleError::NoValidData`];
    /// those of the target; what the device reports. After the last two, some values may have been written.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{DataLayout, Shape, table::TableViewMut};
    /// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut results = ArrayHandle::<f32, _>::empty(&device);
    /// device.fill(results.prepare_for_output(2)?, 7.0)?;
    /// let mut table = [1.0_f32, 2.0, 3.0, 4.0]; // 2 x 2, row by row
    /// let view = TableViewMut::new(&mut table, Shape { rows: 2, columns: 2 }, DataLayout::RowMajor)?;
    /// results.copy_to(&mut view.slice_columns(1..2)?)?;
    /// assert_eq!((table, device.stats().downloads.bytes), ([1.0, 7.0, 3.0, 7.0], 8));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn copy_to<S: SequenceMut<Value = T>>(&self, target: &mut S) -> Result<(), HandleError> {
        if !self.has_data() {
            return Err(HandleError::NoValidData);
        }
        if target.count() != self.len {
            return Err(HandleError::LengthMismatch { have: self.len, want: target.count() });
        }
        if let Some(values) = self.control.values(self.len) {
            return target.write(0, values);
        }
        let length = self.len.min(PIECE / size_of::<T>());
        let mut piece = Vec::new();
        piece.try_reserve_exact(length).map_err(|_| HandleError::HostAlloc { bytes: length * size_of::<T>() })?;
        piece.resize(length, T::default());
        let mut first = 0;
        while first < self.len {
            let values = &mut piece[..length.min(self.len - first)];
            self.copy_part_into(first, values)?;
            target.write(first, values)?;
            first += values.len();
        }
        Ok(())
    }
}
