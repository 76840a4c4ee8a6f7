//! Streaming chosen rows, in any order and repeated: of each block, its different rows cross once.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use numeric_table::array::{AnyArray, AnySliceMut};
use numeric_table::convert::ConversionPolicy;
use numeric_table::internal::{RowSource, match_element};
use numeric_table::{DataLayout, Element, ElementType, Error, ErrorKind, Shape};

use super::{RowStream, StreamBlock, StreamOptions, StreamStats};
use crate::{ArrayHandle, DeviceAdapter, HandleError, Kernels};

/// Rows of a table at some indices that are streamed to a device: in any order, and repeated, as the points of cells
/// are. Created by [`StreamRows::stream_rows_at`](super::StreamRows::stream_rows_at).
///
/// Of each block, each row crosses once, however often the block has it; the device repeats it. So a block of the
/// corners of cells that share their points is as long as all corners, and what crosses is the points.
///
/// Source: Dax, "streaming may transform data", with point values by cell as its example.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice, Kernels};
/// use numeric_table_execution::stream::{StreamOptions, StreamRows};
/// let points = HomogenNumericTable::from_rows(&[[0.0_f32, 0.5], [1.0, 1.5], [2.0, 2.5]])?;
/// let cells = [0, 1, 1, 2, 2, 0]; // three edges of a triangle
/// let device = EmulatedDevice::new();
/// let options = StreamOptions { rows: 4, ..Default::default() }; // two cells
/// let mut stream = points.stream_rows_at::<f32, _>(&device, &cells, options)?;
/// let mut copy = ArrayHandle::<f32, _>::empty(&device);
/// let block = stream.next()?.unwrap();
/// device.convert(block.view(), copy.prepare_for_output(8)?, Default::default())?;
/// assert_eq!(copy.read_portal()?, [0.0, 0.5, 1.0, 1.5, 1.0, 1.5, 2.0, 2.5]);
/// assert_eq!(device.stats().uploads.bytes, 3 * 8); // three points
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RepeatedRows<'t, U: Element, D: DeviceAdapter> {
    /// Streams the different rows of each block.
    stream: RowStream<'t, U, D>,
    chosen: Rc<Chosen>,
    indices: &'t [usize],
    device: D,
    options: StreamOptions,
    next_row: usize,
    /// Of each row of the block, its place among the different rows.
    places: Vec<usize>,
    block: ArrayHandle<U, D>,
}

/// The different rows of the current block, in their order in the table.
#[derive(Default)]
struct Chosen(RefCell<Vec<usize>>);

/// The rows of a source that are chosen at the moment.
struct ChosenRows<'t> {
    source: Box<dyn RowSource + 't>,
    chosen: Rc<Chosen>,
}

impl ChosenRows<'_> {
    /// Reads chosen rows, runs of consecutive ones together.
    fn read_runs<T: Element>(
        &self,
        rows: &Range<usize>,
        target: &mut [T],
        policy: ConversionPolicy,
    ) -> Result<(), Error> {
        let columns = self.source.shape().columns;
        let (chosen, mut rest) = (self.chosen.0.borrow(), target);
        for run in chosen.get(rows.clone()).unwrap_or(&[]).chunk_by(|&row, &next| row + 1 == next) {
            let (part, others) = rest.split_at_mut(run.len() * columns);
            self.source.read(&(run[0]..run[0] + run.len()), AnySliceMut::new(part), policy)?;
            rest = others;
        }
        Ok(())
    }
}

impl RowSource for ChosenRows<'_> {
    fn is_allocated(&self) -> bool {
        self.source.is_allocated()
    }

    fn shape(&self) -> Shape {
        Shape { rows: self.chosen.0.borrow().len(), columns: self.source.shape().columns }
    }

    fn uniform_type(&self) -> Option<ElementType> {
        self.source.uniform_type()
    }

    fn data_layout(&self) -> DataLayout {
        self.source.data_layout()
    }

    fn shared(&self, rows: &Range<usize>, element: ElementType) -> Result<Option<AnyArray>, Error> {
        let chosen = self.chosen.0.borrow();
        match chosen.get(rows.clone()) {
            Some(&[first, .., last]) if last - first + 1 == rows.len() => {
                self.source.shared(&(first..last + 1), element)
            }
            Some(&[row]) => self.source.shared(&(row..row + 1), element),
            _ => Ok(None),
        }
    }

    fn read(&self, rows: &Range<usize>, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<(), Error> {
        match_element!(target.element_type(), T => match target.downcast::<T>() {
            Some(target) => self.read_runs(rows, target, policy),
            None => Ok(()), // it has this type
        })
    }

    fn read_in(
        &self,
        rows: &Range<usize>,
        _layout: DataLayout,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
    ) -> Result<(), Error> {
        self.read(rows, target, policy) // blocks of this source are always row by row
    }
}

impl<'t, U: Element, D: Kernels> RepeatedRows<'t, U, D> {
    pub(super) fn new(
        source: Box<dyn RowSource + 't>,
        device: &D,
        indices: &'t [usize],
        options: StreamOptions,
    ) -> Result<Self, HandleError> {
        let row_count = source.shape().rows;
        if let Some(&row) = indices.iter().find(|&&row| row >= row_count) {
            let rows = row..row.saturating_add(1);
            return Err(Error::new(ErrorKind::RowsOutOfRange { rows, row_count }).into());
        }
        let chosen = Rc::<Chosen>::default();
        let blocks = indices.len().div_ceil(options.rows.max(1));
        let source = Box::new(ChosenRows { source, chosen: chosen.clone() });
        let plain = StreamOptions { layout: DataLayout::RowMajor, ..options };
        let stream = RowStream::over(source, device, plain, blocks)?;
        let (device, block) = (device.clone(), ArrayHandle::empty(device));
        Ok(Self { stream, chosen, indices, device, options, next_row: 0, places: Vec::new(), block })
    }

    /// Packs the different rows of the next block, starts to copy them, and lends the block. Returns `None` after the
    /// last one. [`StreamBlock::row_range`] counts the indices.
    ///
    /// # Errors
    /// Those of [`RowStream::next`]. The block is not skipped: the next call tries it again.
    ///
    /// # Examples
    /// See the type.
    #[expect(clippy::should_implement_trait, reason = "it lends: the block borrows the stream")]
    pub fn next(&mut self) -> Result<Option<StreamBlock<'_, U, D>>, HandleError> {
        self.stream.take_back();
        if self.next_row >= self.indices.len() {
            return Ok(None);
        }
        let rows = self.next_row..self.indices.len().min(self.next_row.saturating_add(self.options.rows));
        let indices = &self.indices[rows.clone()];
        let different = {
            let mut chosen = self.chosen.0.borrow_mut();
            chosen.clear();
            chosen.extend_from_slice(indices);
            chosen.sort_unstable();
            chosen.dedup();
            self.places.clear();
            self.places.extend(indices.iter().map(|row| chosen.binary_search(row).unwrap_or(0))); // it is there
            chosen.len()
        };
        let columns = self.stream.source.shape().columns;
        let shape = Shape { rows: rows.len(), columns };
        let output = self.block.prepare_for_output(shape.element_count_of(U::TYPE)?)?;
        let block = self.stream.lend(0..different)?;
        // Rows that lie one after another are columns of a column-major table of the swapped shape.
        let swapped = Shape { rows: columns, columns: different };
        if self.options.layout == DataLayout::RowMajor {
            self.device.gather_columns(block.view(), swapped, DataLayout::ColumnMajor, &self.places, output)?;
        } else {
            let mut turned = ArrayHandle::<U, D>::empty(&self.device);
            let flat = turned.prepare_for_output(shape.element_count()?)?;
            self.device.gather_columns(block.view(), swapped, DataLayout::ColumnMajor, &self.places, flat)?;
            self.device.transpose(turned.prepare_for_input()?, shape, output)?;
        }
        self.next_row = rows.end;
        let view = self.block.prepare_for_input()?;
        Ok(Some(StreamBlock { view, rows, shape, layout: self.options.layout }))
    }

    /// Waits for all kernels, and returns counts and times. Rows are those of the blocks.
    ///
    /// # Errors
    /// Those of [`RowStream::finish`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_execution::EmulatedDevice;
    /// use numeric_table_execution::stream::{StreamOptions, StreamRows};
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [2]])?;
    /// let mut stream = table.stream_rows_at::<u8, _>(&EmulatedDevice::new(), &[1, 1, 1], StreamOptions::default())?;
    /// while stream.next()?.is_some() {}
    /// let stats = stream.finish()?;
    /// assert_eq!((stats.rows, stats.transfers.uploads.bytes), (3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish(self) -> Result<StreamStats, HandleError> {
        let stats = self.stream.finish()?;
        Ok(StreamStats { rows: self.next_row, ..stats })
    }
}

impl<U: Element, D: DeviceAdapter> fmt::Debug for RepeatedRows<'_, U, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, options, next_row, .. } = self;
        f.debug_struct("RepeatedRows")
            .field("stream", stream)
            .field("rows", &self.indices.len())
            .field("options", options)
            .field("next_row", next_row)
            .finish()
    }
}
