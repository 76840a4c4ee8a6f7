//! Streaming a table to a device in blocks of rows, while packing, copying and kernels overlap.
//!
//! A ring of slots: while kernels work on one block, the next one is copied and the one after it is packed. Each slot
//! is a handle, so that copies, recycling and counting are those of [`ArrayHandle`]; only the order of the engines is
//! decided here.

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::device_table::in_rows_from;
use super::{
    ArrayHandle, Container, DeviceAdapter, Engine, Event, ExecutionMemory, HandleError, Kernels, StageTimes,
    TransferStats, View,
};
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::Error;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::Origin;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, Region, Shape};
use crate::window::AnySliceMut;

/// The side on which a stream converts values.
///
/// # Examples
/// ```
/// use numeric_table::execution::Convert;
/// assert_eq!(Convert::default(), Convert::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Convert {
    /// On the side where fewer bytes are transferred: on the device if the requested type is wider.
    #[default]
    Auto,
    /// In the program, while a block is packed.
    Control,
    /// On the device, after a block has been copied. If memory is shared, this is in the program too.
    Execution,
}

/// Options for streaming a table.
///
/// # Examples
/// ```
/// use numeric_table::execution::StreamOptions;
/// let options = StreamOptions { rows: 1000, ..StreamOptions::default() };
/// assert_eq!(options.slots, 3); // one is packed, one is copied, one is processed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// Number of rows in a block; the last one may have fewer.
    pub rows: usize,
    /// Number of blocks in flight; at least one. With three, all stages can work at the same time.
    pub slots: usize,
    /// The side on which values are converted.
    pub convert: Convert,
    /// The order of the values in a block.
    pub layout: DataLayout,
    /// The conversion policy.
    pub policy: ConversionPolicy,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            rows: 65_536,
            slots: 3,
            convert: Convert::default(),
            layout: DataLayout::RowMajor,
            policy: ConversionPolicy::Saturate,
        }
    }
}

/// Counts and times of a stream.
///
/// # Examples
/// See [`HomogenNumericTable::stream_rows`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamStats {
    /// Number of blocks.
    pub blocks: usize,
    /// Number of rows.
    pub rows: usize,
    /// What the device has allocated and copied meanwhile, including work for others.
    pub transfers: TransferStats,
    /// The time of each stage: on the device's own clock, or wall-clock time.
    pub times: StageTimes,
}

impl fmt::Display for StreamStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { blocks, rows, transfers, times: StageTimes { pack, copy, kernel, total } } = self;
        write!(f, "{blocks} blocks, {rows} rows, {} bytes up; ", transfers.uploads.bytes)?;
        write!(f, "pack {pack:.2?}, copy {copy:.2?}, kernel {kernel:.2?}, in all {total:.2?}")
    }
}

impl<T: Element> HomogenNumericTable<T> {
    /// Streams the table to a device in blocks of rows, as values of `U`.
    ///
    /// [`RowStream::next`] lends each block in turn; kernels that are launched on it run while the next blocks are
    /// packed and copied, on devices that support that. If memory is shared and the type and the layout are the
    /// table's, blocks are the table's own memory. Contiguous rows that need no conversion before the copy are copied
    /// directly from there, without being packed.
    ///
    /// # Errors
    /// [`Error::EmptyBlocks`], [`Error::NotAllocated`], [`Error::BlockOutstanding`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table::execution::{ArrayHandle, Detached, Launch, StreamOptions};
    /// let device = Detached::new();
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut sums = ArrayHandle::from_container(&device, vec![0.0_f32; 2]);
    /// let mut stream = table.stream_rows::<f32, _>(&device, StreamOptions { rows: 2, ..Default::default() })?;
    /// while let Some(block) = stream.next()? {
    ///     device.launch([block.view()], sums.prepare_in_place()?, 1, |first, [values], sums| {
    ///         for row in values.chunks(2) {
    ///             sums.iter_mut().zip(&row[first..]).for_each(|(sum, value)| *sum += value);
    ///         }
    ///     })?;
    /// }
    /// let stats = stream.finish()?;
    /// assert_eq!((stats.blocks, sums.read_portal()?), (2, &[9.0, 12.0][..]));
    /// assert_eq!(stats.transfers.uploads.bytes, 12 + 8); // the table as `i16`, and the sums
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stream_rows<U: Element, D: Kernels>(
        &self,
        device: &D,
        options: StreamOptions,
    ) -> Result<RowStream<'_, T, U, D>, HandleError> {
        if options.rows == 0 {
            return Err(Error::EmptyBlocks.into());
        }
        self.view()?;
        let is_separate = !D::Memory::IS_SHARED;
        let converts_there = is_separate
            && T::TYPE != U::TYPE
            && match options.convert {
                Convert::Auto => size_of::<T>() < size_of::<U>(),
                Convert::Control => false,
                Convert::Execution => true,
            };
        let blocks = self.shape().rows.div_ceil(options.rows);
        let most_slots = options.slots.clamp(1, blocks.max(1));
        Ok(RowStream {
            table: self,
            device: device.clone(),
            options,
            converts_there,
            most_slots,
            slots: Vec::new(),
            next_row: 0,
            blocks: 0,
            lent: None,
            transfers_before: device.stats(),
            times_before: device.queue().times(),
            watch: Watch::new(),
        })
    }
}

/// A table that is streamed to a device. Created by [`HomogenNumericTable::stream_rows`].
///
/// # Examples
/// See [`HomogenNumericTable::stream_rows`].
pub struct RowStream<'t, T: Element, U: Element, D: DeviceAdapter> {
    table: &'t HomogenNumericTable<T>,
    device: D,
    options: StreamOptions,
    converts_there: bool,
    most_slots: usize,
    /// Slots, created as they are needed.
    slots: Vec<StreamSlot<T, U, D>>,
    next_row: usize,
    blocks: usize,
    /// The slot whose block the caller may have launched kernels on.
    lent: Option<usize>,
    transfers_before: TransferStats,
    times_before: Option<StageTimes>,
    watch: Watch,
}

/// A slot for one block in flight.
struct StreamSlot<T: Element, U: Element, D: DeviceAdapter> {
    /// The block as it is transferred, if it is converted on the device.
    narrow: ArrayHandle<T, D>,
    /// The block as kernels see it.
    values: ArrayHandle<U, D>,
    /// The copy is complete: the memory in which it was packed may be written again.
    copied: Event,
    /// Kernels have read the block: its device memory may be written again.
    free: Event,
}

impl<T: Element, U: Element, D: DeviceAdapter> StreamSlot<T, U, D> {
    fn new(device: &D) -> Self {
        let (narrow, values) = (ArrayHandle::empty(device), ArrayHandle::empty(device));
        Self { narrow, values, copied: Event::DONE, free: Event::DONE }
    }
}

/// Some consecutive rows of a table, in a device's memory.
///
/// # Examples
/// See [`HomogenNumericTable::stream_rows`].
pub struct StreamBlock<'s, U: Element, D: DeviceAdapter> {
    view: View<'s, U, D>,
    rows: Range<usize>,
    shape: Shape,
    layout: DataLayout,
}

impl<'s, U: Element, D: DeviceAdapter> StreamBlock<'s, U, D> {
    /// Borrows the values for a kernel.
    ///
    /// # Examples
    /// See [`HomogenNumericTable::stream_rows`].
    pub fn view(&self) -> View<'s, U, D> {
        self.view.clone()
    }

    /// Returns the rows of the table that are in this block.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, execution::{Serial, StreamOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1], [2], [3]])?;
    /// let mut stream = table.stream_rows::<i32, _>(&Serial, StreamOptions { rows: 2, ..Default::default() })?;
    /// assert_eq!(stream.next()?.unwrap().rows(), 0..2);
    /// let last = stream.next()?.unwrap();
    /// assert_eq!((last.rows(), last.shape(), last.view()), (2..3, Shape { rows: 1, columns: 1 }, &[3][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Returns the number of rows and columns of the block.
    ///
    /// # Examples
    /// See [`rows`](Self::rows).
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the order of the values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, execution::{Serial, StreamOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// let options = StreamOptions { layout: DataLayout::ColumnMajor, ..Default::default() };
    /// let mut stream = table.stream_rows::<i32, _>(&Serial, options)?;
    /// let block = stream.next()?.unwrap();
    /// assert_eq!((block.data_layout(), block.view()), (DataLayout::ColumnMajor, &[1, 3, 2, 4][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn data_layout(&self) -> DataLayout {
        self.layout
    }
}

impl<T: Element, U: Element, D: Kernels> RowStream<'_, T, U, D> {
    /// Packs the next block, starts to copy it, and lends it. Returns `None` after the last one.
    ///
    /// # Errors
    /// [`Error::ValueNotRepresentable`] in [`HandleError::Library`], at its position in the table;
    /// [`HandleError::HostAlloc`], [`HandleError::DeviceAlloc`]; what the device reports. The block is not skipped: the
    /// next call tries it again.
    ///
    /// # Examples
    /// See [`HomogenNumericTable::stream_rows`].
    #[expect(clippy::should_implement_trait, reason = "it lends: the block borrows the stream")]
    pub fn next(&mut self) -> Result<Option<StreamBlock<'_, U, D>>, HandleError> {
        self.take_back();
        let Shape { rows: all_rows, columns } = self.table.shape();
        if self.next_row >= all_rows {
            return Ok(None);
        }
        let rows = self.next_row..all_rows.min(self.next_row.saturating_add(self.options.rows));
        let index = self.blocks % self.most_slots;
        if index == self.slots.len() {
            self.slots.push(StreamSlot::new(&self.device));
        }
        if self.converts_there {
            self.send_narrow(index, rows.clone())?;
        } else {
            self.send(index, rows.clone())?;
        }
        // Allocations of other threads may have freed the copy meanwhile, so this can fail.
        let view = self.slots[index].values.prepare_for_input()?;
        self.next_row = rows.end;
        self.blocks += 1;
        self.lent = Some(index);
        self.watch.lend();
        let shape = Shape { rows: rows.len(), columns };
        Ok(Some(StreamBlock { view, rows, shape, layout: self.options.layout }))
    }

    /// Waits for all kernels, and returns counts and times.
    ///
    /// # Errors
    /// [`HandleError::EarlierFault`] if a kernel has failed and that was not reported; [`HandleError::DeviceLost`].
    ///
    /// # Examples
    /// See [`HomogenNumericTable::stream_rows`].
    pub fn finish(mut self) -> Result<StreamStats, HandleError> {
        self.take_back();
        self.device.synchronize()?;
        let times = match (self.device.queue().times(), self.times_before) {
            (Some(now), Some(before)) => StageTimes {
                pack: now.pack.saturating_sub(before.pack),
                copy: now.copy.saturating_sub(before.copy),
                kernel: now.kernel.saturating_sub(before.kernel),
                total: now.total.saturating_sub(before.total),
            },
            _ => self.watch.times(),
        };
        let transfers = self.device.stats() - self.transfers_before;
        Ok(StreamStats { blocks: self.blocks, rows: self.next_row, transfers, times })
    }

    /// Ends the loan of a block: the caller has launched all kernels on it.
    fn take_back(&mut self) {
        if let Some(index) = self.lent.take() {
            self.slots[index].free = self.device.queue().record(Engine::Compute);
            self.watch.take_back();
        }
    }

    /// Packs rows as `U`, and copies them to the device.
    fn send(&mut self, index: usize, rows: Range<usize>) -> Result<(), HandleError> {
        let Self { table, device, options, slots, watch, .. } = self;
        let StreamSlot { values, copied, free, .. } = &mut slots[index];
        watch.pack(|| pack(table, device, options, values, *copied, rows))?;
        watch.copy(|| cross(device, values, copied, *free))
    }

    /// Packs rows as `T`, copies them to the device, and converts them there.
    fn send_narrow(&mut self, index: usize, rows: Range<usize>) -> Result<(), HandleError> {
        let Self { table, device, options, slots, watch, .. } = self;
        let StreamSlot { narrow, values, copied, free } = &mut slots[index];
        watch.pack(|| pack(table, device, options, narrow, *copied, rows.clone()))?;
        watch.copy(|| cross(device, narrow, copied, *free))?;
        let output = values.prepare_for_output(narrow.len())?;
        let result = watch.kernel(|| device.convert(narrow.prepare_for_input()?, output, options.policy));
        match result {
            Err(error @ HandleError::Library(Error::ValueNotRepresentable { .. })) => {
                Err(first_refused::<T, U>(table, rows, options.policy).unwrap_or(error))
            }
            result => result,
        }
    }
}

/// Puts rows into a slot: the table's own memory if they have the right type and are contiguous, else a packed copy.
fn pack<T: Element, W: Element, D: Kernels>(
    table: &HomogenNumericTable<T>,
    device: &D,
    options: &StreamOptions,
    slot: &mut ArrayHandle<W, D>,
    copied: Event,
    rows: Range<usize>,
) -> Result<(), HandleError> {
    let region = Region { rows: rows.clone(), columns: 0..table.column_count() };
    if options.layout == DataLayout::RowMajor
        && let Some((array, range)) = table.array_of(&region, W::TYPE)?
        && let Some(array) = array.downcast::<W>()
    {
        slot.replace_container(array.slice(range)?);
        return Ok(());
    }
    device.queue().wait(Engine::Control, copied);
    let mut staging = slot.replace_container(Array::new()).unwrap_or_default();
    let count = region.shape().element_count_of(W::TYPE)?;
    staging.allocate(count)?;
    staging.truncate(count);
    let view = table.view()?.rows(rows.clone())?;
    let ordered = match options.layout {
        DataLayout::RowMajor => view,
        DataLayout::ColumnMajor => view.transposed(),
    };
    let target = staging.values_mut()?;
    let result = ordered.read_over(AnySliceMut::new(target), options.policy, Origin::default());
    let refused = |error: Error| first_refused::<T, W>(table, rows, options.policy).unwrap_or(error.into());
    let result = result.map_err(refused);
    slot.replace_container(staging); // even after an error: for the next try
    result?;
    device.queue().packed(count * size_of::<W>());
    Ok(())
}

/// Starts to copy the content of a slot to the device, after kernels have read the previous content.
fn cross<W: Element, D: Kernels>(
    device: &D,
    slot: &ArrayHandle<W, D>,
    copied: &mut Event,
    free: Event,
) -> Result<(), HandleError> {
    device.queue().wait(Engine::Copy, free);
    slot.load_ahead()?;
    *copied = device.queue().record(Engine::Copy);
    device.queue().wait(Engine::Compute, *copied);
    Ok(())
}

/// Finds the first value in row-major order that the policy refuses.
fn first_refused<T: Element, U: Element>(
    table: &HomogenNumericTable<T>,
    rows: Range<usize>,
    policy: ConversionPolicy,
) -> Option<HandleError> {
    let first_row = rows.start;
    let refusal = table.slice_rows(rows).and_then(|rows| rows.convert_with::<U>(policy)).err()?;
    Some(in_rows_from(first_row, refusal))
}

/// Measures the stages in wall-clock time.
struct Watch {
    start: Instant,
    lent_at: Option<Instant>,
    times: StageTimes,
}

impl Watch {
    fn new() -> Self {
        Self { start: Instant::now(), lent_at: None, times: StageTimes::default() }
    }

    fn pack<R>(&mut self, work: impl FnOnce() -> R) -> R {
        measure(&mut self.times.pack, work)
    }

    fn copy<R>(&mut self, work: impl FnOnce() -> R) -> R {
        measure(&mut self.times.copy, work)
    }

    fn kernel<R>(&mut self, work: impl FnOnce() -> R) -> R {
        measure(&mut self.times.kernel, work)
    }

    /// Starts the time in which the caller works on a block.
    fn lend(&mut self) {
        self.lent_at = Some(Instant::now());
    }

    fn take_back(&mut self) {
        if let Some(lent_at) = self.lent_at.take() {
            self.times.kernel += lent_at.elapsed();
        }
    }

    fn times(&self) -> StageTimes {
        StageTimes { total: self.start.elapsed(), ..self.times }
    }
}

fn measure<R>(time: &mut Duration, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *time += start.elapsed();
    result
}

impl<T: Element, U: Element, D: DeviceAdapter> fmt::Debug for RowStream<'_, T, U, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { options, next_row, blocks, .. } = self;
        let shape = self.table.shape();
        f.debug_struct("RowStream")
            .field("table", &shape)
            .field("options", options)
            .field("next_row", next_row)
            .field("blocks", blocks)
            .finish()
    }
}

impl<U: Element, D: DeviceAdapter> fmt::Debug for StreamBlock<'_, U, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, shape, layout, .. } = self;
        f.debug_struct("StreamBlock").field("rows", rows).field("shape", shape).field("layout", layout).finish()
    }
}
