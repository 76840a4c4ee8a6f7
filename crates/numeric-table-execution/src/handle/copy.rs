//! Copying values out of a handle.

use numeric_table::{Element, Error, ErrorKind};

use super::ArrayHandle;
use crate::{Container, DeviceAdapter, HandleError};

impl<T: Element, D: DeviceAdapter, C: Container<T>> ArrayHandle<T, D, C> {
    /// Copies the values to a slice, directly from the side that has them: no control copy is created.
    ///
    /// Source: Dax `CopyInto`.
    ///
    /// # Errors
    /// [`HandleError::LengthMismatch`] unless `target` has the same length; [`HandleError::NoValidData`]; what the
    /// device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<f32, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(2)?, 1.5)?;
    /// let mut values = [0.0; 2];
    /// handle.copy_into(&mut values)?;
    /// assert!(values == [1.5; 2] && !handle.is_on_host());
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn copy_into(&self, target: &mut [T]) -> Result<(), HandleError> {
        if !self.has_data() {
            return Err(HandleError::NoValidData);
        }
        if target.len() != self.len {
            return Err(HandleError::LengthMismatch { have: self.len, want: target.len() });
        }
        self.copy_part_into(0, target)
    }

    /// Returns the values at some indices, in the order of the indices; copies no others. Runs of consecutive indices
    /// are copied in one call.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] in [`HandleError::Library`]; those of [`copy_into`](Self::copy_into).
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter, Kernels, TransferTotals};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<f64, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(1000)?, 2.5)?;
    /// assert_eq!(handle.get_values(&[999, 3, 4])?, [2.5; 3]);
    /// assert_eq!(device.stats().downloads, TransferTotals { calls: 2, bytes: 24 });
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn get_values(&self, at: &[usize]) -> Result<Vec<T>, HandleError> {
        if !self.has_data() {
            return Err(HandleError::NoValidData);
        }
        if let Some(&index) = at.iter().find(|&&index| index >= self.len) {
            let range = index..index.saturating_add(1);
            return Err(Error::new(ErrorKind::OutOfRange { what: "elements", range, count: self.len }).into());
        }
        let mut values = Vec::new();
        let bytes = at.len() * size_of::<T>(); // cannot overflow: the indices take at least as much
        values.try_reserve_exact(at.len()).map_err(|_| HandleError::HostAlloc { bytes })?;
        values.resize(at.len(), T::default());
        let mut targets = &mut values[..];
        for run in at.chunk_by(|&index, &next| index + 1 == next) {
            let (target, rest) = targets.split_at_mut(run.len());
            self.copy_part_into(run[0], target)?;
            targets = rest;
        }
        Ok(values)
    }
}
