//! Statistics of rows that are on a device: computed there, block by block, and merged in the program.

use std::collections::VecDeque;
use std::fmt;

use numeric_table::{DataLayout, Element, Shape, statistics::BasicStatistics};

use super::stream::StreamBlock;
use super::{ArrayHandle, DeviceError, HandleError, Kernels, View};

/// Statistics of the columns of rows on a device: of one table, or of the blocks of a stream.
///
/// The device computes the moments of each column of a block, and [`update`](Self::update) does not wait for them. The
/// program merges those of the blocks in their order, as [`BasicStatistics::merge`] does. For each column of a block,
/// 160 bytes are copied back.
///
/// Counts and extremes are those of [`BasicStatistics`]. Sums and deviations are compensated in the same way and pass
/// the same certified tests. Their last digits may differ, because a device adds in another order. They depend on the
/// blocks, but not on the number of threads of the device.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_execution::{EmulatedDevice, DeviceStatistics};
/// use numeric_table_execution::stream::{StreamOptions, StreamRows};
/// let device = EmulatedDevice::new();
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 20], [3, 40], [5, 90]])?;
/// let mut statistics = DeviceStatistics::new(&device, 2);
/// let mut stream = table.stream_rows::<f32, _>(&device, StreamOptions { rows: 2, ..Default::default() })?;
/// while let Some(block) = stream.next()? {
///     statistics.update_block(&block)?;
/// }
/// let statistics = statistics.finish()?;
/// assert_eq!((statistics.row_count(), statistics.column(1)?.mean(), statistics.column(0)?.variance()), (3, 50.0, 4.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceStatistics<D: Kernels> {
    device: D,
    columns: usize,
    /// Of blocks that were merged.
    merged: Option<BasicStatistics>,
    /// Moments of the blocks after those, and their numbers of rows.
    waiting: VecDeque<([ArrayHandle<u64, D>; 2], u64)>,
}

/// Blocks that may wait for being merged. Kernels of older ones have long ended.
const MAX_WAITING: usize = 64;

impl<D: Kernels> DeviceStatistics<D> {
    /// Creates statistics without rows.
    ///
    /// # Examples
    /// See the type.
    pub fn new(device: &D, columns: usize) -> Self {
        Self { device: device.clone(), columns, merged: None, waiting: VecDeque::new() }
    }

    /// Adds rows that are on the device.
    ///
    /// # Errors
    /// [`HandleError::LengthMismatch`] if the number of values is not that of the shape, or the number of columns
    /// differs; what the device reports. The rows are not counted then.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::{EmulatedDevice, DeviceStatistics, ToDevice};
    /// let device = EmulatedDevice::new();
    /// let table = HomogenNumericTable::from_rows(&[[1.0, 2.0], [3.0, 4.0]])?.to_device::<f64, _>(&device)?;
    /// let mut statistics = DeviceStatistics::new(&device, 2);
    /// statistics.update(table.view()?, table.shape(), table.data_layout())?;
    /// assert_eq!(statistics.finish()?.column(0)?.sum(), 4.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update<T: Element>(
        &mut self,
        rows: View<'_, T, D>,
        shape: Shape,
        layout: DataLayout,
    ) -> Result<(), HandleError> {
        if shape.columns != self.columns {
            return Err(HandleError::LengthMismatch { have: shape.columns, want: self.columns });
        }
        while self.waiting.len() >= MAX_WAITING {
            self.merge_oldest()?;
        }
        let moments = moments_of(&self.device, shape, layout, || Ok(rows))?;
        self.waiting.push_back((moments, shape.rows as u64));
        Ok(())
    }

    /// Adds the rows of a block of a stream.
    ///
    /// # Errors
    /// Those of [`update`](Self::update).
    ///
    /// # Examples
    /// See the type.
    pub fn update_block<U: Element>(&mut self, block: &StreamBlock<'_, U, D>) -> Result<(), HandleError> {
        self.update(block.view(), block.shape(), block.data_layout())
    }

    /// Waits for the device, and returns the statistics of all rows.
    ///
    /// # Errors
    /// The errors of the device.
    ///
    /// # Examples
    /// See the type.
    pub fn finish(mut self) -> Result<BasicStatistics, HandleError> {
        while !self.waiting.is_empty() {
            self.merge_oldest()?;
        }
        Ok(self.merged.map_or_else(|| BasicStatistics::new(self.columns), Ok)?)
    }

    fn merge_oldest(&mut self) -> Result<(), HandleError> {
        let Some(([plain, scaled], rows)) = self.waiting.front() else { return Ok(()) };
        let wrong = DeviceError::Failed { code: 0, what: "a kernel whose counts are not those of the rows" };
        let found = BasicStatistics::from_words(plain.read_portal()?, scaled.read_portal()?, *rows).ok_or(wrong)?;
        match &mut self.merged {
            Some(merged) => merged.merge(&found)?,
            None => self.merged = Some(found),
        }
        self.waiting.pop_front();
        Ok(())
    }
}

/// Computes the moments of rows on their device: the two outputs of [`Kernels::moments`]. Memory for them comes first.
pub(super) fn moments_of<'v, T: Element, D: Kernels + 'v>(
    device: &D,
    shape: Shape,
    layout: DataLayout,
    rows: impl FnOnce() -> Result<View<'v, T, D>, HandleError>,
) -> Result<[ArrayHandle<u64, D>; 2], HandleError> {
    let words = shape.columns.checked_mul(BasicStatistics::WORDS).ok_or(HandleError::LengthOverflow)?;
    let [mut plain, mut scaled] = [(); 2].map(|()| ArrayHandle::empty(device));
    let outputs = [plain.prepare_for_output(words)?, scaled.prepare_for_output(words)?];
    device.moments(rows()?, shape, layout, outputs)?;
    Ok([plain, scaled])
}

impl<D: Kernels> fmt::Debug for DeviceStatistics<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceStatistics")
            .field("columns", &self.columns)
            .field("waiting", &self.waiting.len())
            .finish()
    }
}
