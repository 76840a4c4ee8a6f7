//! Standardizing a table on its device.

use numeric_table::{Array, Element, statistics::BasicStatistics};

use super::kernels::{check_standardized, mean_and_deviation};
use super::statistics::moments_of;
use super::{ArrayHandle, DeviceTable, HandleError, Kernels};

impl<T: Element, D: Kernels> DeviceTable<T, D> {
    /// Standardizes every column in place, to mean 0 and deviation 1: subtracts its mean, and divides by its population
    /// standard deviation, as scikit-learn's `StandardScaler` does. Nothing is transferred, not even the statistics. On
    /// a CUDA device, the call returns while the device is still computing.
    ///
    /// The mean and the deviation are those of [`DeviceStatistics`](super::DeviceStatistics) on the same device. Values
    /// are computed in `f64`, and rounded once. Values of the same mean and deviation give the same bits on every
    /// device.
    ///
    /// | column | result |
    /// | --- | --- |
    /// | all values equal, or one row | 0 |
    /// | with NaN | NaN stays as it is, and does not count |
    /// | with infinite values | NaN, since it has no deviation |
    ///
    /// All columns are standardized, also those that hold categories. Shared values, and memory of another library that
    /// must not be written, are copied on the device first, as by [`view_mut`](Self::view_mut). Cost: the values are
    /// read twice, those of `f64` three times, and written once.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedElementType`](numeric_table::ErrorKind::UnsupportedElementType) in
    /// [`HandleError::Library`] unless `T` is `f32`, `f64`, `f16` or `bf16`; [`HandleError::DeviceAlloc`],
    /// [`HandleError::HostAlloc`]; what the device reports. The values are unchanged then, unless the device failed while
    /// it wrote them.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{DeviceAdapter, EmulatedDevice, ToDevice};
    /// let device = EmulatedDevice::new();
    /// let mut there = HomogenNumericTable::from_rows(&[[1.0_f32, 7.0], [3.0, 7.0]])?.to_device::<f32, _>(&device)?;
    /// let before = device.stats();
    /// there.standardize()?;
    /// let crossed = device.stats() - before;
    /// assert_eq!((crossed.uploads.bytes, crossed.downloads.bytes), (0, 0));
    /// assert_eq!(there.to_table()?.as_slice()?, [-1.0, 0.0, 1.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn standardize(&mut self) -> Result<(), HandleError> {
        check_standardized(T::TYPE)?;
        let (shape, layout) = (self.shape(), self.data_layout());
        if shape.is_empty() {
            return Ok(());
        }
        let device = self.device().clone();
        let [plain, scaled] = moments_of(&device, shape, layout, || self.view())?;
        let mut found = ArrayHandle::<f64, D>::empty(&device);
        let moments = [plain.prepare_for_input()?, scaled.prepare_for_input()?];
        device.means_and_deviations(moments, found.prepare_for_output(2 * shape.columns)?)?;
        device.standardize(self.view_mut()?, shape, layout, found.prepare_for_input()?)
    }

    /// Standardizes every column in place by the statistics of other rows: those that a model was fitted on. A mean and
    /// a deviation of each column are transferred, 16 bytes. Otherwise as [`standardize`](Self::standardize); of the
    /// statistics of a column with infinite values, or without values, every value becomes NaN.
    ///
    /// # Errors
    /// [`HandleError::LengthMismatch`] if the statistics are those of another number of columns; the errors of
    /// [`standardize`](Self::standardize).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// use numeric_table_execution::{EmulatedDevice, ToDevice};
    /// let fitted = BasicStatistics::compute(&HomogenNumericTable::from_rows(&[[1.0_f64, 7.0], [3.0, 7.0]])?)?;
    /// let table = HomogenNumericTable::from_rows(&[[4.0_f32, 9.0]])?;
    /// let mut there = table.to_device::<f32, _>(&EmulatedDevice::new())?;
    /// there.standardize_with(&fitted)?;
    /// assert_eq!(there.to_table()?.as_slice()?, [2.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn standardize_with(&mut self, statistics: &BasicStatistics) -> Result<(), HandleError> {
        check_standardized(T::TYPE)?;
        let (shape, layout, columns) = (self.shape(), self.data_layout(), statistics.per_column());
        if columns.len() != shape.columns {
            return Err(HandleError::LengthMismatch { have: columns.len(), want: shape.columns });
        }
        if shape.is_empty() {
            return Ok(());
        }
        let device = self.device().clone();
        let mut found = Array::zeros(columns.len().checked_mul(2).ok_or(HandleError::LengthOverflow)?)?;
        for (pair, column) in found.mutable_data()?.chunks_exact_mut(2).zip(columns) {
            pair.copy_from_slice(&mean_and_deviation(column));
        }
        let found = ArrayHandle::from_container(&device, found);
        device.standardize(self.view_mut()?, shape, layout, found.prepare_for_input()?)
    }
}
