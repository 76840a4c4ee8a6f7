//! Streaming a table to a device in blocks of rows, while packing, copying and kernels overlap.
//!
//! A ring of slots: while kernels work on one block, the next one is copied and the one after it is packed. Each slot
//! is a handle, so that copies, recycling and counting are those of [`ArrayHandle`]; only the order of the engines is
//! decided here.

mod compact;
#[cfg(test)]
mod counting;
mod options;
mod repeated;
mod results;
mod watch;
mod whole;

use std::fmt;
use std::ops::Range;

pub use options::{Convert, StreamOptions, StreamStats};
pub use repeated::RepeatedRows;
pub use results::ResultStream;
pub(crate) use whole::send_all;

use numeric_table::convert::ConversionPolicy;
use numeric_table::internal::{HasRows, RowSource, match_element};
use numeric_table::table::spi::Region;
use numeric_table::{Array, DataLayout, Element, ElementType, Error, ErrorKind, Shape, array::AnySliceMut};
use watch::Watch;

use super::device_table::is_refused_value;
use super::memory::ExecutionMemory;
use super::transport::{Engine, Event, StageTimes};
use super::{ArrayHandle, Container, DeviceAdapter, HandleError, Kernels, TransferStats, View};

/// Rows that can be streamed to a device: of tables of any kind, and of table files, which may be larger than the
/// memory of both.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice, Launch};
/// use numeric_table_execution::stream::{StreamOptions, StreamRows};
/// let device = EmulatedDevice::new();
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
/// let mut sums = ArrayHandle::from_container(&device, vec![0.0_f32; 2]);
/// let mut stream = table.stream_rows::<f32, _>(&device, StreamOptions { rows: 2, ..Default::default() })?;
/// while let Some(block) = stream.next()? {
///     device.launch([block.view()], sums.prepare_in_place()?, 2, |columns, [values], sums| {
///         for row in values.chunks(2) {
///             sums.iter_mut().zip(&row[columns.clone()]).for_each(|(sum, value)| *sum += value);
///         }
///     })?;
/// }
/// let stats = stream.finish()?;
/// assert_eq!((stats.blocks, sums.read_portal()?), (2, &[9.0, 12.0][..]));
/// assert_eq!(stats.transfers.uploads.bytes, 12 + 8); // the table as `i16`, and the sums
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait StreamRows {
    /// Streams the rows to a device in blocks, as values of `U`.
    ///
    /// [`RowStream::next`] lends each block in turn; kernels that are launched on it run while the next blocks are
    /// packed and copied, on devices that support that. If memory is shared and the type and the layout are the
    /// table's, blocks are the table's own memory. Contiguous rows that need no conversion before the copy are copied
    /// directly from there, without being packed.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`], [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`] in
    /// [`HandleError::Library`].
    ///
    /// # Examples
    /// Of a table file:
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # use numeric_table_execution::HostParallel;
    /// # use numeric_table_execution::stream::{StreamOptions, StreamRows};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("t.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let file = TableReader::open(&path)?;
    /// let mut stream = file.stream_rows::<f32, _>(&HostParallel, StreamOptions { rows: 2, ..Default::default() })?;
    /// assert_eq!(stream.next()?.unwrap().view(), [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn stream_rows<U: Element, D: Kernels>(
        &self,
        device: &D,
        options: StreamOptions,
    ) -> Result<RowStream<'_, U, D>, HandleError>;

    /// Streams the rows at some indices, in the order of the indices, which may repeat rows: for example the points of
    /// cells. Of each block, each row crosses once. Reads rows of a block in their order in the table, runs of
    /// consecutive rows together. A device with kernels of its own, such as a CUDA device, also gets the places of the
    /// rows, 8 bytes for each index; as arguments of kernels, they are not counted in
    /// [`TransferStats`].
    ///
    /// # Errors
    /// Those of [`stream_rows`](Self::stream_rows); [`ErrorKind::RowsOutOfRange`] in [`HandleError::Library`].
    ///
    /// # Examples
    /// See [`RepeatedRows`].
    fn stream_rows_at<'s, U: Element, D: Kernels>(
        &'s self,
        device: &D,
        rows: &'s [usize],
        options: StreamOptions,
    ) -> Result<RepeatedRows<'s, U, D>, HandleError>;
}

/// For tables of every kind, and for table files: [`numeric_table::files::TableReader`].
impl<R: HasRows + ?Sized> StreamRows for R {
    fn stream_rows<U: Element, D: Kernels>(
        &self,
        device: &D,
        options: StreamOptions,
    ) -> Result<RowStream<'_, U, D>, HandleError> {
        let source = self.row_source();
        match source.is_allocated() {
            true => RowStream::new(source, device, options),
            false => Err(Error::new(ErrorKind::NotAllocated).into()),
        }
    }

    fn stream_rows_at<'s, U: Element, D: Kernels>(
        &'s self,
        device: &D,
        rows: &'s [usize],
        options: StreamOptions,
    ) -> Result<RepeatedRows<'s, U, D>, HandleError> {
        let source = self.row_source();
        match source.is_allocated() {
            true => RepeatedRows::new(source, device, rows, options),
            false => Err(Error::new(ErrorKind::NotAllocated).into()),
        }
    }
}

/// Rows that are streamed to a device. Created by [`StreamRows::stream_rows`].
///
/// # Examples
/// See [`StreamRows`].
pub struct RowStream<'t, U: Element, D: DeviceAdapter> {
    source: Box<dyn RowSource + 't>,
    device: D,
    options: StreamOptions,
    /// The type of the values that cross, if a kernel makes the block of them.
    crossing: Option<ElementType>,
    /// Whether that kernel also makes columns of rows.
    turns: bool,
    max_slots: usize,
    /// Slots, created as they are needed.
    slots: Vec<StreamSlot<U, D>>,
    next_row: usize,
    blocks: usize,
    /// The slot whose block the caller may have launched kernels on.
    lent: Option<usize>,
    transfers_before: TransferStats,
    times_before: Option<StageTimes>,
    watch: Watch,
}

/// A slot for one block in flight.
struct StreamSlot<U: Element, D: DeviceAdapter> {
    /// The bytes of the block as it is transferred, if a kernel makes the block of them.
    crossing: ArrayHandle<u8, D>,
    /// The block as kernels see it.
    values: ArrayHandle<U, D>,
    /// The stored values of sparse rows, if the device converts them before it makes the block.
    cells: ArrayHandle<U, D>,
    /// The copy is complete: the memory in which it was packed may be written again.
    copied: Event,
    /// Kernels have read the block: its device memory may be written again.
    free: Event,
}

impl<U: Element, D: DeviceAdapter> StreamSlot<U, D> {
    fn new(device: &D) -> Self {
        let [values, cells] = [(); 2].map(|()| ArrayHandle::empty(device));
        Self { crossing: ArrayHandle::empty(device), values, cells, copied: Event::DONE, free: Event::DONE }
    }
}

/// Some consecutive rows of a table, in a device's memory.
///
/// # Examples
/// See [`StreamRows`].
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
    /// See [`StreamRows`].
    pub fn view(&self) -> View<'s, U, D> {
        self.view.clone()
    }

    /// Returns the rows of the table that are in this block.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::HostSerial;
    /// use numeric_table_execution::stream::{StreamOptions, StreamRows};
    /// let table = HomogenNumericTable::from_rows(&[[1], [2], [3]])?;
    /// let mut stream = table.stream_rows::<i32, _>(&HostSerial, StreamOptions { rows: 2, ..Default::default() })?;
    /// assert_eq!(stream.next()?.unwrap().row_range(), 0..2);
    /// let last = stream.next()?.unwrap();
    /// assert_eq!((last.row_range(), last.shape(), last.view()), (2..3, Shape { rows: 1, columns: 1 }, &[3][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn row_range(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Returns the number of rows and columns of the block.
    ///
    /// # Examples
    /// See [`row_range`](Self::row_range).
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the order of the values.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::HostSerial;
    /// use numeric_table_execution::stream::{StreamOptions, StreamRows};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// let options = StreamOptions { layout: DataLayout::ColumnMajor, ..Default::default() };
    /// let mut stream = table.stream_rows::<i32, _>(&HostSerial, options)?;
    /// let block = stream.next()?.unwrap();
    /// assert_eq!((block.data_layout(), block.view()), (DataLayout::ColumnMajor, &[1, 3, 2, 4][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn data_layout(&self) -> DataLayout {
        self.layout
    }
}

impl<'t, U: Element, D: Kernels> RowStream<'t, U, D> {
    fn new(source: Box<dyn RowSource + 't>, device: &D, options: StreamOptions) -> Result<Self, HandleError> {
        let blocks = source.shape().rows.div_ceil(options.rows.max(1));
        Self::over(source, device, options, blocks)
    }

    /// Creates a stream of the given number of blocks.
    fn over(
        source: Box<dyn RowSource + 't>,
        device: &D,
        options: StreamOptions,
        blocks: usize,
    ) -> Result<Self, HandleError> {
        if options.rows == 0 {
            return Err(Error::new(ErrorKind::ParameterOutOfRange {
                name: "the number of rows of a block".into(),
                value: 0.0,
                allowed: "at least 1 is needed".into(),
            })
            .into());
        }
        let is_converted = |&stored: &ElementType| {
            !D::Memory::IS_SHARED
                && stored != U::TYPE
                && match options.convert {
                    Convert::Auto => stored.size_in_bytes() < size_of::<U>(),
                    Convert::Control => false,
                    Convert::Execution => true,
                }
        };
        let stored = source.uniform_type();
        let turns = !D::Memory::IS_SHARED
            && options.convert != Convert::Control
            && (options.layout, source.data_layout()) == (DataLayout::ColumnMajor, DataLayout::RowMajor)
            && stored.is_some();
        let crossing = stored.filter(is_converted).or(turns.then_some(U::TYPE));
        Ok(Self {
            source,
            device: device.clone(),
            options,
            crossing,
            turns,
            max_slots: options.slots.clamp(1, blocks.max(1)),
            slots: Vec::new(),
            next_row: 0,
            blocks: 0,
            lent: None,
            transfers_before: device.stats(),
            times_before: device.queue().times(),
            watch: Watch::new(),
        })
    }

    /// Packs the next block, starts to copy it, and lends it. Returns `None` after the last one.
    ///
    /// # Errors
    /// [`ErrorKind::ValueNotRepresentable`] in [`HandleError::Library`], at its position in the table;
    /// [`HandleError::HostAlloc`], [`HandleError::DeviceAlloc`]; what the device reports. The block is not skipped: the
    /// next call tries it again.
    ///
    /// # Examples
    /// See [`StreamRows`].
    #[expect(clippy::should_implement_trait, reason = "it lends: the block borrows the stream")]
    pub fn next(&mut self) -> Result<Option<StreamBlock<'_, U, D>>, HandleError> {
        self.take_back();
        let all_rows = self.source.shape().rows;
        if self.next_row >= all_rows {
            return Ok(None);
        }
        let rows = self.next_row..all_rows.min(self.next_row.saturating_add(self.options.rows));
        self.lend(rows).map(Some)
    }

    /// Packs rows, starts to copy them, and lends them as a block.
    fn lend(&mut self, rows: Range<usize>) -> Result<StreamBlock<'_, U, D>, HandleError> {
        let columns = self.source.shape().columns;
        let index = self.blocks % self.max_slots;
        if index == self.slots.len() {
            self.slots.push(StreamSlot::new(&self.device));
        }
        let is_sent = self.send_compact(index, &rows)?;
        match self.crossing {
            _ if is_sent => {}
            Some(crossing) => match_element!(crossing, S => self.send_and_convert::<S>(index, &rows))?,
            None => self.send(index, &rows)?,
        }
        // Allocations of other threads may have freed the copy meanwhile, so this can fail.
        let view = self.slots[index].values.prepare_for_input()?;
        self.next_row = rows.end;
        self.blocks += 1;
        self.lent = Some(index);
        self.watch.lend();
        let shape = Shape { rows: rows.len(), columns };
        Ok(StreamBlock { view, rows, shape, layout: self.options.layout })
    }

    /// Waits for all kernels, and returns counts and times.
    ///
    /// # Errors
    /// [`HandleError::EarlierFault`] if a kernel has failed and that was not reported; [`HandleError::DeviceLost`].
    ///
    /// # Examples
    /// See [`StreamRows`].
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
    fn send(&mut self, index: usize, rows: &Range<usize>) -> Result<(), HandleError> {
        let Self { source, device, options, slots, watch, .. } = self;
        let StreamSlot { values, copied, free, .. } = &mut slots[index];
        watch.pack(|| {
            let staging = values.replace_container(Array::new()).unwrap_or_default();
            let packed = pack::<U, D>(&**source, device, options, staging, *copied, rows);
            packed.map(|packed| drop(values.replace_container(packed)))
        })?;
        watch.copy(|| cross(device, values, copied, *free))
    }

    /// Packs rows as `S`, copies them to the device, and makes the block of them there.
    fn send_and_convert<S: Element>(&mut self, index: usize, rows: &Range<usize>) -> Result<(), HandleError> {
        let Self { source, device, options, slots, watch, turns, .. } = self;
        let StreamSlot { crossing, values, copied, free, .. } = &mut slots[index];
        let packed_options =
            StreamOptions { layout: if *turns { DataLayout::RowMajor } else { options.layout }, ..*options };
        watch.pack(|| {
            let staging = as_values::<S>(crossing.replace_container(Array::new()).unwrap_or_default());
            let packed = pack::<S, D>(&**source, device, &packed_options, staging, *copied, rows)?;
            crossing.replace_container(packed.reinterpret::<u8>()?);
            Ok::<_, HandleError>(())
        })?;
        watch.copy(|| cross(device, crossing, copied, *free))?;
        let shape = Shape { rows: rows.len(), columns: source.shape().columns };
        let output = values.prepare_for_output(shape.element_count()?)?;
        let input = D::Memory::cast::<u8, S>(crossing.prepare_for_input()?).ok_or(HandleError::NoValidData)?;
        let converted = watch.kernel(|| match turns {
            true => {
                let from = (input, shape, DataLayout::RowMajor);
                device.convert_region(from, &Region::whole(shape), (output, options.layout), options.policy)
            }
            false => device.convert(input, output, options.policy),
        });
        match converted {
            Err(HandleError::Library(error)) if is_refused_value(&error) => {
                Err(first_refused::<U>(&**source, rows, options.policy).unwrap_or(error.into()))
            }
            result => result,
        }
    }
}

/// Returns rows in memory from which they can be copied: the source's own if they lie there so, else a packed copy, for
/// which `staging` is used again if it is large enough and nothing else reads it.
fn pack<W: Element, D: Kernels>(
    source: &dyn RowSource,
    device: &D,
    options: &StreamOptions,
    mut staging: Array<W>,
    copied: Event,
    rows: &Range<usize>,
) -> Result<Array<W>, HandleError> {
    if options.layout == DataLayout::RowMajor
        && let Some(shared) = source.shared(rows, W::TYPE)?
        && let Ok(array) = shared.downcast::<W>()
    {
        return Ok(array);
    }
    device.queue().wait(Engine::Control, copied);
    let shape = Shape { rows: rows.len(), columns: source.shape().columns };
    let count = shape.element_count_of(W::TYPE)?;
    if staging.len() < count || !staging.has_mutable_data() {
        drop(staging); // both never exist at once
        staging = device.staging(count)?;
    }
    staging.truncate(count);
    let target = AnySliceMut::new(staging.values_mut()?);
    match source.read_in(rows, options.layout, target, options.policy) {
        Err(error) => return Err(first_refused::<W>(source, rows, options.policy).unwrap_or(error.into())),
        Ok(()) => device.queue().packed(count * size_of::<W>()),
    }
    Ok(staging)
}

/// Returns bytes as values: the only share of them, if this was.
fn as_values<W: Element>(bytes: Array<u8>) -> Array<W> {
    bytes.reinterpret().unwrap_or_default()
}

/// Starts to copy the content of a slot to the device, after kernels have read the previous content.
fn cross<W: Element, D: Kernels>(
    device: &D,
    slot: &ArrayHandle<W, D>,
    copied: &mut Event,
    free: Event,
) -> Result<(), HandleError> {
    device.queue().wait(Engine::Copy, free);
    slot.upload_async()?;
    *copied = device.queue().record(Engine::Copy);
    device.queue().wait(Engine::Compute, *copied);
    Ok(())
}

/// Finds the first value in row-major order that the policy refuses.
fn first_refused<U: Element>(
    source: &dyn RowSource,
    rows: &Range<usize>,
    policy: ConversionPolicy,
) -> Option<HandleError> {
    let shape = Shape { rows: rows.len(), columns: source.shape().columns };
    let mut values = Array::<U>::zeros(shape.element_count().ok()?).ok()?;
    let target = AnySliceMut::new(values.mutable_data().ok()?);
    source.read(rows, target, policy).err().map(HandleError::from)
}

impl<U: Element, D: DeviceAdapter> fmt::Debug for RowStream<'_, U, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { options, next_row, blocks, .. } = self;
        let shape = self.source.shape();
        f.debug_struct("RowStream")
            .field("shape", &shape)
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
