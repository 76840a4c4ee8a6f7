//! Writing files: one pass over the values, in parallel if there are many.

use std::ops::Range;
use std::path::Path;

use super::checksum::{RunSums, merge};
use super::position::Sink;
use super::preamble::{PREAMBLE_BYTES, Preamble};
use super::progress::{Hook, Meter};
use super::{PIECE_BYTES, WRITE_BYTES, header, run_length, swap_if_big_endian, zeroed};
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::Origin;
use crate::dictionary::DataDictionary;
use crate::table::{DataLayout, NumericTable, Region, Shape, TableView};
use crate::window::{AnySlice, AnySliceMut};

/// Values in the order of a file: rows, or columns in the place of rows if the file's layout has them one after another.
pub(crate) trait Lines<T>: Sync {
    fn shape(&self) -> Shape;
    /// All values, if they lie in memory in this order.
    fn as_slice(&self) -> Option<&[T]>;
    /// Copies a region.
    fn read(&self, region: &Region, target: &mut [T]) -> Result<()>;
    /// Makes sure that what has been read is a table still: that its shape and type are what they were.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], [`Error::ElementTypeMismatch`].
    fn check_unchanged(&self) -> Result<()> {
        Ok(())
    }
}

/// Values of another type are converted.
impl<T: Element, S: Element> Lines<T> for TableView<'_, S> {
    fn shape(&self) -> Shape {
        self.shape()
    }

    fn as_slice(&self) -> Option<&[T]> {
        AnySlice::new(self.as_slice()?).downcast()
    }

    fn read(&self, region: &Region, target: &mut [T]) -> Result<()> {
        self.region(region)?.read_over(AnySliceMut::new(target), ConversionPolicy::Saturate, Origin::default())
    }
}

/// A table of any kind, row by row, in the shape that it had when it was asked. It is asked once: the answers of somebody's
/// own kind of table may differ.
pub(crate) struct AnyLines<'a> {
    table: &'a dyn NumericTable,
    shape: Shape,
}

impl<'a> AnyLines<'a> {
    /// # Errors
    /// Those of a table that cannot be read: nothing is allocated, or a writable block is out.
    pub(crate) fn new(table: &'a dyn NumericTable) -> Result<Self> {
        let shape = table.shape();
        table.borrow_region(&Region { rows: 0..shape.rows, columns: 0..shape.columns })?;
        Ok(Self { table, shape })
    }
}

impl<T: Element> Lines<T> for AnyLines<'_> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn as_slice(&self) -> Option<&[T]> {
        None
    }

    fn read(&self, region: &Region, target: &mut [T]) -> Result<()> {
        self.table.read_region_over(region, AnySliceMut::new(target), ConversionPolicy::Saturate)
    }

    fn check_unchanged(&self) -> Result<()> {
        match (self.table.shape(), self.table.element_type()) {
            (shape, _) if shape != self.shape => Err(Error::ShapeMismatch { expected: self.shape, found: shape }),
            (_, found) if found != T::TYPE => Err(Error::element_type_mismatch(T::TYPE, found)),
            _ => Ok(()),
        }
    }
}

/// What goes into a file.
pub(super) struct Content<'a, T> {
    pub(super) lines: &'a dyn Lines<T>,
    pub(super) layout: DataLayout,
    pub(super) dictionary: &'a DataDictionary,
}

/// A file that is being written, and what the caller calls it.
pub(crate) struct Output<'a, S> {
    pub(crate) sink: &'a S,
    pub(crate) path: &'a Path,
}

impl<S: Sink> Output<'_, S> {
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.sink.write_at(bytes, offset).map_err(|source| Error::Io { path: self.path.to_owned(), source })
    }

    /// Reserves room for the whole file, if it is known how long it will be.
    pub(crate) fn reserve(&self, length: u64) -> Result<()> {
        self.sink.reserve(length).map_err(|source| Error::Io { path: self.path.to_owned(), source })
    }

    /// Writes everything in front of the values.
    pub(super) fn write_front(&self, preamble: &Preamble, header: &[u8]) -> Result<()> {
        let room = PREAMBLE_BYTES + header.len();
        let mut front = zeroed(preamble.payload_offset as usize)?; // the header is short
        front[..PREAMBLE_BYTES].copy_from_slice(&preamble.encode());
        front[PREAMBLE_BYTES..room].copy_from_slice(header);
        self.write(&front, 0)
    }

    /// Writes everything behind the values: the sums of runs that together are all of them.
    pub(super) fn write_checksums(&self, preamble: &Preamble, runs: Vec<RunSums>) -> Result<()> {
        if preamble.chunk_size == 0 {
            return Ok(());
        }
        let count = preamble.chunk_count();
        let padding = (preamble.checksums_offset() - preamble.payload_end()) as usize;
        let room = (count as usize).saturating_mul(4).saturating_add(padding + 8);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(room).map_err(|_| Error::OutOfMemory { bytes: room })?;
        bytes.resize(padding, 0);
        bytes.extend(count.to_le_bytes());
        merge(runs, |sum| {
            bytes.extend(sum.to_le_bytes());
            Ok(())
        })?;
        self.write(&bytes, preamble.payload_end())
    }
}

/// A whole file, laid out: nothing is left to be refused that is known before values are read.
pub(super) struct Plan<'a, T> {
    lines: &'a dyn Lines<T>,
    header: Vec<u8>,
    preamble: Preamble,
}

impl<'a, T: Element> Plan<'a, T> {
    /// # Errors
    /// [`Error::Format`] if the dictionary is too long; [`Error::SizeOverflow`], [`Error::DictionaryMismatch`] if somebody's
    /// own kind of table is wrong about itself; [`Error::OutOfMemory`].
    pub(super) fn new(content: &Content<'a, T>, chunk_size: u32) -> Result<Self> {
        let &Content { lines, layout, dictionary } = content;
        let shape = match layout {
            DataLayout::RowMajor => lines.shape(),
            DataLayout::ColumnMajor => Shape { rows: lines.shape().columns, columns: lines.shape().rows },
        };
        let payload_length = (shape.element_count_of(T::TYPE)? * size_of::<T>()) as u64;
        dictionary.check(shape.columns, T::TYPE)?;
        let header = header::encode(T::TYPE, layout, shape, dictionary)?;
        let preamble = Preamble::new(&header, payload_length, chunk_size)?;
        Ok(Self { lines, header, preamble })
    }

    /// Writes the file. Its first bytes come last: nobody takes a file for a table before it is one.
    pub(super) fn write<S: Sink>(&self, output: &Output<'_, S>, hook: &Hook) -> Result<()> {
        let Self { lines, header, preamble } = self;
        output.reserve(preamble.file_length)?;
        let meter = Meter::start(hook, preamble.payload_length);
        let (offset, chunk_size) = (preamble.payload_offset, preamble.chunk_size);
        let runs = Payload { output, offset, chunk_size, meter: Some(&meter) }.write(*lines, 0)?;
        output.write_checksums(preamble, runs)?;
        lines.check_unchanged()?;
        output.write_front(preamble, header)
    }
}

/// The values of a file that is being written.
pub(crate) struct Payload<'a, S> {
    pub(crate) output: &'a Output<'a, S>,
    /// Where the values begin in the file.
    pub(crate) offset: u64,
    /// Bytes per checksum; 0 for none.
    pub(crate) chunk_size: u32,
    pub(crate) meter: Option<&'a Meter>,
}

impl<S: Sink> Payload<'_, S> {
    /// Writes values from a position in the payload on, in parallel if there are many, and sums them up.
    pub(crate) fn write<T: Element>(&self, lines: &dyn Lines<T>, position: u64) -> Result<Vec<RunSums>> {
        let count = lines.shape().element_count_of(T::TYPE)?;
        let is_only_written = self.chunk_size == 0 && lines.as_slice().is_some();
        let length = match is_only_written {
            true => count, // several threads would only wait for each other
            false => run_length(count * size_of::<T>()) / size_of::<T>(),
        };
        let runs = (0..count).step_by(length.max(1)).map(|start| start..count.min(start + length)).collect();
        parallel::map(runs, |run| self.write_run(lines, run, position)).into_iter().collect()
    }

    /// Writes consecutive values, piece by piece, and sums them up while they are at hand.
    fn write_run<T: Element>(&self, lines: &dyn Lines<T>, run: Range<usize>, position: u64) -> Result<RunSums> {
        let mut position = position + (run.start * size_of::<T>()) as u64;
        let mut sums = RunSums::new(self.chunk_size, position, run.len() * size_of::<T>())?;
        for_each_piece(lines, run, |bytes| {
            sums.update(bytes);
            self.output.write(bytes, self.offset + position)?;
            position += bytes.len() as u64;
            if let Some(meter) = self.meter {
                meter.add(bytes.len() as u64);
            }
            Ok(())
        })?;
        Ok(sums)
    }
}

/// Hands out the bytes of consecutive values, as they are in files, piece by piece.
pub(crate) fn for_each_piece<T: Element>(
    lines: &dyn Lines<T>,
    run: Range<usize>,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let size = size_of::<T>();
    let in_memory = lines.as_slice().filter(|_| cfg!(target_endian = "little") || size == 1);
    let (step, mut buffer) = match in_memory {
        Some(_) => (WRITE_BYTES / size, Array::new()),
        None => (PIECE_BYTES / size, Array::<T>::zeros(run.len().min(PIECE_BYTES / size))?),
    };
    for start in run.clone().step_by(step) {
        let piece = start..run.end.min(start + step);
        match in_memory {
            Some(values) => take(bytemuck::cast_slice(&values[piece]))?,
            None => {
                let target = &mut buffer.mutable_data()?[..piece.len()];
                gather(lines, piece, target)?;
                let bytes = bytemuck::cast_slice_mut(target);
                swap_if_big_endian(bytes, size);
                take(bytes)?;
            }
        }
    }
    Ok(())
}

/// Copies consecutive values: the end of a line, whole lines, and the start of one.
fn gather<T>(lines: &dyn Lines<T>, range: Range<usize>, mut target: &mut [T]) -> Result<()> {
    let columns = lines.shape().columns;
    let mut at = range.start;
    while at < range.end {
        let (row, column, left) = (at / columns, at % columns, range.end - at);
        let region = if column == 0 && left >= columns {
            Region { rows: row..row + left / columns, columns: 0..columns }
        } else {
            Region { rows: row..row + 1, columns: column..columns.min(column + left) }
        };
        let count = region.shape().element_count()?;
        let (now, later) = target.split_at_mut(count);
        lines.read(&region, now)?;
        (target, at) = (later, at + count);
    }
    Ok(())
}
