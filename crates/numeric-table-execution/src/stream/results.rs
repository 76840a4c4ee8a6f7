//! Streaming results back: kernels write one block of rows while the one before it is copied to the program.
//!
//! A ring of slots, as on the way to the device. Each has a handle, in whose block kernels write, and memory that is
//! filled from it. Results reach the program in the order of their blocks.

use std::fmt;
use std::ops::Range;

use numeric_table::{Array, Element, Shape};

use crate::memory::ExecutionMemory;
use crate::transport::Arriving;
use crate::{ArrayHandle, Container, DeviceAdapter, HandleError, ViewMut};

/// Rows of values of `U` that kernels compute block by block. A closure of the program receives each block while the
/// next one is computed.
///
/// [`push`](Self::push) launches kernels for a block and returns; the closure gets its rows during a later call, at the
/// latest during [`finish`](Self::finish). The number of waiting blocks is at most the number of slots. Each slot has a
/// block of device memory and [staging](DeviceAdapter::staging) memory of the same size. If memory is shared, nothing
/// is copied, and one block waits.
///
/// # Examples
/// A table of any size is scaled by a device, block by block:
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_execution::{EmulatedDevice, Launch};
/// use numeric_table_execution::stream::{ResultStream, StreamOptions, StreamRows};
/// let device = EmulatedDevice::new();
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
/// let mut scaled = Vec::new();
/// let options = StreamOptions { rows: 2, ..Default::default() };
/// let mut results = ResultStream::<f32, _, _>::new(&device, 2, 3, |rows, values| {
///     assert_eq!(scaled.len(), rows.start * 2);
///     scaled.extend_from_slice(values);
///     Ok(())
/// });
/// let mut stream = table.stream_rows::<f32, _>(&device, options)?;
/// while let Some(block) = stream.next()? {
///     results.push(block.row_range(), |output| {
///         device.launch([block.view()], output, block.row_range().len(), |rows, [values], output| {
///             let values = &values[rows.start * 2..rows.end * 2];
///             output.iter_mut().zip(values).for_each(|(output, value)| *output = value * 0.5);
///         })
///     })?;
/// }
/// assert_eq!(results.finish()?, 3);
/// drop(results);
/// assert_eq!(scaled, [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "results may wait until `finish`"]
pub struct ResultStream<U: Element, D: DeviceAdapter, F> {
    device: D,
    columns: usize,
    max_slots: usize,
    slots: Vec<ResultSlot<U, D>>,
    /// Number of blocks that were computed.
    pushed: usize,
    /// Number of blocks, and of rows, that the closure has taken.
    taken: usize,
    rows: usize,
    /// The row after those that were pushed last.
    next_row: usize,
    take: F,
}

/// A slot for one block of results.
struct ResultSlot<U: Element, D: DeviceAdapter> {
    values: ArrayHandle<U, D>,
    rows: Range<usize>,
    progress: Progress,
}

/// Where the results of a block are. Those that are not on the way to the program are still on the device.
enum Progress {
    Nowhere {
        room: Array<u8>,
    },
    Computed,
    Crossing(Arriving),
    Arrived(Array<u8>),
    /// On the device, after an error that has not been reported yet and may be the only report of a failed kernel.
    Failed(HandleError),
}

impl<U: Element, D: DeviceAdapter, F> ResultStream<U, D, F>
where
    F: FnMut(Range<usize>, &[U]) -> Result<(), HandleError>,
{
    /// Creates a stream of rows of `columns` columns to a closure, which gets the rows of each block and their values,
    /// row by row. With two or more slots, a block is computed while earlier blocks are transferred. 0 slots count as
    /// 1.
    ///
    /// # Examples
    /// See the type.
    pub fn new(device: &D, columns: usize, slots: usize, take: F) -> Self {
        let max_slots = if D::Memory::IS_SHARED { 1 } else { slots.max(1) };
        let device = device.clone();
        Self { device, columns, max_slots, slots: Vec::new(), pushed: 0, taken: 0, rows: 0, next_row: 0, take }
    }

    /// Calls `compute` with memory for the values of these rows. It launches kernels that write all of them. The
    /// closure receives the range, and the ranges of blocks need not be consecutive.
    ///
    /// # Shape
    /// `rows.len()` x the stream's columns, row by row; an inverted range has no rows.
    ///
    /// # Errors
    /// That of `compute`: the rows are not taken then. Before it is called, what the closure returns about the rows of
    /// an earlier block, and what the device reports; they are kept for the next call.
    /// [`HandleError::DeviceAlloc`], [`HandleError::HostAlloc`], [`HandleError::LengthOverflow`].
    ///
    /// # Examples
    /// See the type.
    pub fn push(
        &mut self,
        rows: Range<usize>,
        compute: impl FnOnce(ViewMut<'_, U, D>) -> Result<(), HandleError>,
    ) -> Result<(), HandleError> {
        let count = Shape { rows: rows.len(), columns: self.columns }.element_count_of(U::TYPE)?;
        self.push_computed(|slot| {
            slot.rows = rows;
            compute(slot.values.prepare_for_output(count)?)
        })
    }

    /// Calls `compute` with memory for a block whose number of rows is not known, which returns it: see
    /// [`ArrayHandle::compute_growing`](crate::ArrayHandle::compute_growing). The rows are those after the last ones
    /// that were pushed.
    ///
    /// # Errors
    /// Those of [`push`](Self::push); [`HandleError::TooManyValues`], which counts values, if there are more than `max`
    /// rows.
    ///
    /// # Examples
    /// The rows of a table with a positive first value:
    /// ```
    /// use numeric_table_execution::{EmulatedDevice, Launch};
    /// use numeric_table_execution::stream::ResultStream;
    /// let device = EmulatedDevice::new();
    /// let mut positive = Vec::new();
    /// let mut results = ResultStream::<f32, _, _>::new(&device, 2, 3, |rows, values| {
    ///     assert_eq!(rows.len() * 2, values.len());
    ///     positive.extend_from_slice(values);
    ///     Ok(())
    /// });
    /// for block in [[1.0, 2.0, -3.0, 4.0], [5.0, 6.0, 7.0, 8.0]] {
    ///     let chosen: Vec<f32> = block.chunks(2).filter(|row| row[0] > 0.0).flatten().copied().collect();
    ///     results.push_growing(1, 2, |output| {
    ///         device.launch((), output, 1, |_, (), output| {
    ///             output.iter_mut().zip(&chosen).for_each(|(output, value)| *output = *value);
    ///         })?;
    ///         Ok(chosen.len() / 2)
    ///     })?;
    /// }
    /// assert_eq!(results.finish()?, 3);
    /// drop(results);
    /// assert_eq!(positive, [1.0, 2.0, 5.0, 6.0, 7.0, 8.0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn push_growing(
        &mut self,
        guess: usize,
        max: usize,
        mut compute: impl FnMut(ViewMut<'_, U, D>) -> Result<usize, HandleError>,
    ) -> Result<(), HandleError> {
        let (columns, first) = (self.columns, self.next_row);
        let values = |rows: usize| rows.checked_mul(columns).ok_or(HandleError::LengthOverflow);
        let (guess, max) = (values(guess)?, values(max)?);
        self.push_computed(|slot| {
            let mut rows = 0;
            slot.values.compute_growing(guess, max, |output| {
                rows = compute(output)?;
                values(rows)
            })?;
            slot.rows = first..first.saturating_add(rows);
            Ok(())
        })
    }

    fn push_computed(
        &mut self,
        compute: impl FnOnce(&mut ResultSlot<U, D>) -> Result<(), HandleError>,
    ) -> Result<(), HandleError> {
        if self.pushed - self.taken >= self.max_slots {
            self.deliver()?;
        }
        let index = self.pushed % self.max_slots;
        if index == self.slots.len() {
            self.slots.push(ResultSlot::new(&self.device));
        }
        let slot = &mut self.slots[index];
        compute(slot)?;
        self.pushed += 1;
        self.next_row = slot.rows.end;
        if D::Memory::IS_SHARED {
            return Ok(());
        }
        let room = match std::mem::replace(&mut slot.progress, Progress::Computed) {
            Progress::Nowhere { room } => room,
            _ => Array::new(),
        };
        if let Err(error) = slot.send(&self.device, room) {
            slot.progress = Progress::Failed(error); // the rows have been computed: who delivers them says it
        }
        Ok(())
    }

    /// Waits for the results of all blocks, and returns how many rows the closure has taken. More blocks may follow.
    ///
    /// # Errors
    /// The errors of the closure, and those of the device. The rows of the block, and those after it, are kept for
    /// the next call.
    ///
    /// # Examples
    /// See the type.
    pub fn finish(&mut self) -> Result<usize, HandleError> {
        while self.taken < self.pushed {
            self.deliver()?;
        }
        Ok(self.rows)
    }

    /// Gives the oldest block to the closure.
    fn deliver(&mut self) -> Result<(), HandleError> {
        let slot = &mut self.slots[self.taken % self.max_slots];
        if D::Memory::IS_SHARED {
            (self.take)(slot.rows.clone(), slot.values.read_portal()?)?;
        } else {
            let values = slot.arrive(&self.device)?.reinterpret::<U>()?;
            (self.take)(slot.rows.clone(), &values)?;
        }
        slot.progress = match std::mem::replace(&mut slot.progress, Progress::Computed) {
            Progress::Arrived(room) => Progress::Nowhere { room },
            other => other,
        };
        self.rows = self.rows.saturating_add(slot.rows.len());
        self.taken += 1;
        Ok(())
    }
}

impl<U: Element, D: DeviceAdapter> ResultSlot<U, D> {
    fn new(device: &D) -> Self {
        let progress = Progress::Nowhere { room: Array::new() };
        Self { values: ArrayHandle::empty(device), rows: 0..0, progress }
    }

    /// Starts to copy the results to the program.
    fn send(&mut self, device: &D, mut room: Array<u8>) -> Result<(), HandleError> {
        let bytes = self.values.len() * size_of::<U>();
        if room.len() < bytes || !room.has_mutable_data() {
            drop(room); // both never exist at once
            room = device.staging::<U>(self.values.len())?.reinterpret::<u8>()?;
        }
        Container::truncate(&mut room, bytes);
        self.progress = Progress::Crossing(self.values.download_async(room)?);
        Ok(())
    }

    /// Waits for the results.
    fn arrive(&mut self, device: &D) -> Result<&Array<u8>, HandleError> {
        match std::mem::replace(&mut self.progress, Progress::Computed) {
            Progress::Failed(error) => return Err(error),
            Progress::Computed => self.send(device, Array::new())?,
            progress => self.progress = progress,
        }
        if matches!(self.progress, Progress::Crossing(_))
            && let Progress::Crossing(arriving) = std::mem::replace(&mut self.progress, Progress::Computed)
        {
            self.progress = Progress::Arrived(arriving.wait()?);
        }
        match &self.progress {
            Progress::Arrived(bytes) => Ok(bytes),
            _ => Err(HandleError::NoValidData),
        }
    }
}

impl<U: Element, D: DeviceAdapter, F> fmt::Debug for ResultStream<U, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { columns, pushed, taken, rows, .. } = self;
        f.debug_struct("ResultStream")
            .field("columns", columns)
            .field("pushed", pushed)
            .field("taken", taken)
            .field("rows", rows)
            .finish()
    }
}
