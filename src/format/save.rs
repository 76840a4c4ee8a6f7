//! Saving: one pass over the values, in parallel if there are many.

use std::path::Path;

use super::checksum::{RunSums, merge};
use super::position::Sink;
use super::preamble::{PREAMBLE_BYTES, Preamble};
use super::replace::replace;
use super::{PIECE_BYTES, header, run_length, swap_if_big_endian, zeroed};
use crate::array::{AnySliceMut, Array};
use crate::convert::ConversionPolicy;
use crate::convert::kernel::Origin;
use crate::dictionary::DataDictionary;
use crate::element::{Element, match_element};
use crate::error::{Error, Result};
use crate::parallel;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, Region, Shape, TableView};

/// How a table is saved.
///
/// # Examples
/// ```
/// use numeric_table::{SaveOptions, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scratch.ntb");
/// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
/// table.save_with(&path, SaveOptions::new().durable(false).checksums(None))?; // as fast as can be
/// assert_eq!(HomogenNumericTable::load(&path)?, table);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct SaveOptions {
    is_durable: bool,
    chunk_size: u32,
}

impl SaveOptions {
    /// Bytes of values per checksum, unless another number is asked for: 1 MiB.
    pub const CHUNK_SIZE: u32 = 1 << 20;

    /// Durable, with checksums.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::SaveOptions;
    /// assert_eq!(SaveOptions::new(), SaveOptions::new().durable(true).checksums(Some(SaveOptions::CHUNK_SIZE)));
    /// ```
    pub const fn new() -> Self {
        Self { is_durable: true, chunk_size: Self::CHUNK_SIZE }
    }

    /// Chooses whether saving waits until the file and its name are on the disk, so that they outlast a loss of power.
    ///
    /// Without that, a crash of the program still leaves the old file or the new one, whole; a crash of the machine may not.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::SaveOptions;
    /// let scratch = SaveOptions::new().durable(false);
    /// assert_ne!(scratch, SaveOptions::default());
    /// ```
    pub const fn durable(self, is_durable: bool) -> Self {
        Self { is_durable, ..self }
    }

    /// Chooses how many bytes of values get one checksum of 4 bytes; `None` or 0 for no checksums of values at all. (The
    /// description of the table always has one.)
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::SaveOptions;
    /// assert_eq!(SaveOptions::new().checksums(Some(0)), SaveOptions::new().checksums(None));
    /// ```
    pub const fn checksums(self, chunk_size: Option<u32>) -> Self {
        let chunk_size = match chunk_size {
            Some(chunk_size) => chunk_size,
            None => 0,
        };
        Self { chunk_size, ..self }
    }

    pub(super) const fn chunk_size(self) -> u32 {
        self.chunk_size
    }

    pub(super) const fn is_durable(self) -> bool {
        self.is_durable
    }
}

impl Default for SaveOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Element> HomogenNumericTable<T> {
    /// Saves the table as a file, in place of the one that may be there: shape, layout, dictionary, the values that the
    /// table shows, and checksums. One pass over the values.
    ///
    /// A new file is written beside the old one, brought to the disk, and then renamed. Whatever happens, `path` holds the
    /// old file or the new one, whole; if an error is returned, nothing else is left behind. The new file gets the
    /// old one's permissions; a symbolic link stays, and what it leads to is replaced. A table that is mapped from
    /// `path` can be saved there: the old file lives on under the map.
    ///
    /// Source: DAAL's `serialize` into a file archive, which is neither checked nor replaced at once.
    ///
    /// # Errors
    /// [`Error::Io`] with `path`; [`Error::RenameUnsupported`]; [`Error::NotAllocated`]; [`Error::BlockOutstanding`];
    /// [`Error::OutOfMemory`]; [`Error::Format`] if the names of the columns take more than 16 MiB. The old file is as it
    /// was then, with one exception: if the system fails to bring the directory to the disk in the end, the new file is
    /// there, and may not outlast a loss of power.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, f32::INFINITY], [-0.0, 4.0]])?;
    /// table.save(&path)?;
    /// assert_eq!(HomogenNumericTable::load(&path)?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, SaveOptions::new())
    }

    /// As [`save`](Self::save), with or without waiting for the disk, with or without checksums.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("scratch.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// table.slice_rows(1..2)?.save_with(&path, SaveOptions::new().durable(false))?; // one row
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.as_slice()?, [3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        let layout = self.data_layout();
        let view = self.view()?;
        let lines = match layout {
            DataLayout::RowMajor => view,
            DataLayout::ColumnMajor => view.transposed(),
        };
        save(path.as_ref(), &Content { lines: &lines, layout, dictionary: self.dictionary() }, options)
    }
}

impl dyn NumericTable {
    /// Saves a table of any kind, as [`HomogenNumericTable::save`] does. A table that is not homogeneous is saved as one,
    /// row by row.
    ///
    /// # Errors
    /// As [`HomogenNumericTable::save`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{load_any, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// table.save(&path)?;
    /// assert_eq!(load_any(&path)?.value::<i16>(0, 1)?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, SaveOptions::new())
    }

    /// As [`HomogenNumericTable::save_with`], for a table of any kind.
    ///
    /// # Errors
    /// As [`HomogenNumericTable::save`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SaveOptions, load_any, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// let table: &dyn NumericTable = &HomogenNumericTable::from_rows(&[[1_i16, 2]])?;
    /// table.save_with(&path, SaveOptions::new().durable(false))?;
    /// assert_eq!(load_any(&path)?.shape(), table.shape());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        match_element!(self.element_type(), T => {
            if let Some(table) = self.downcast_ref::<HomogenNumericTable<T>>() {
                return table.save_with(path, options);
            }
            let content: Content<'_, T> =
                Content { lines: &self, layout: DataLayout::RowMajor, dictionary: self.dictionary() };
            save(path.as_ref(), &content, options)
        })
    }
}

/// Values in the order of a file: rows, or columns in the place of rows if the file's layout has them one after another.
pub(super) trait Lines<T>: Sync {
    fn shape(&self) -> Shape;
    /// All values, if they lie in memory in this order.
    fn as_slice(&self) -> Option<&[T]>;
    /// Copies a region.
    fn read(&self, region: &Region, target: &mut [T]) -> Result<()>;
}

impl<T: Element> Lines<T> for TableView<'_, T> {
    fn shape(&self) -> Shape {
        self.shape()
    }

    fn as_slice(&self) -> Option<&[T]> {
        self.as_slice()
    }

    fn read(&self, region: &Region, target: &mut [T]) -> Result<()> {
        self.region(region)?.read_over(AnySliceMut::new(target), ConversionPolicy::Saturate, Origin::default())
    }
}

impl<T: Element> Lines<T> for &dyn NumericTable {
    fn shape(&self) -> Shape {
        NumericTable::shape(*self)
    }

    fn as_slice(&self) -> Option<&[T]> {
        None
    }

    fn read(&self, region: &Region, target: &mut [T]) -> Result<()> {
        self.read_region_over(region, AnySliceMut::new(target), ConversionPolicy::Saturate)
    }
}

/// What goes into a file.
pub(super) struct Content<'a, T> {
    pub(super) lines: &'a dyn Lines<T>,
    pub(super) layout: DataLayout,
    pub(super) dictionary: &'a DataDictionary,
}

fn save<T: Element>(path: &Path, content: &Content<'_, T>, options: SaveOptions) -> Result<()> {
    replace(path, options.is_durable(), |sink| write(&Output { sink, path }, content, options.chunk_size()))
}

/// A file that is being written, and what the caller calls it.
pub(super) struct Output<'a, S> {
    pub(super) sink: &'a S,
    pub(super) path: &'a Path,
}

impl<S: Sink> Output<'_, S> {
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.sink.write_at(bytes, offset).map_err(|source| Error::Io { path: self.path.to_owned(), source })
    }

    /// Writes everything in front of the values.
    pub(super) fn write_front(&self, preamble: &Preamble, header: &[u8]) -> Result<()> {
        let room = PREAMBLE_BYTES + header.len();
        let mut front = zeroed(preamble.payload_offset as usize)?; // the header is short
        front[..PREAMBLE_BYTES].copy_from_slice(&preamble.encode());
        front[PREAMBLE_BYTES..room].copy_from_slice(header);
        self.write(&front, 0)
    }

    /// Writes everything behind the values.
    pub(super) fn write_checksums(&self, preamble: &Preamble, sums: &[u32]) -> Result<()> {
        if preamble.chunk_size == 0 {
            return Ok(());
        }
        let padding = (preamble.checksums_offset() - preamble.payload_end()) as usize;
        let room = padding + 8 + sums.len() * 4;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(room).map_err(|_| Error::OutOfMemory { bytes: room })?;
        bytes.resize(padding, 0);
        bytes.extend((sums.len() as u64).to_le_bytes());
        bytes.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
        self.write(&bytes, preamble.payload_end())
    }
}

/// Writes a whole file.
pub(super) fn write<T: Element, S: Sink>(
    output: &Output<'_, S>,
    content: &Content<'_, T>,
    chunk_size: u32,
) -> Result<()> {
    let &Content { lines, layout, dictionary } = content;
    let shape = match layout {
        DataLayout::RowMajor => lines.shape(),
        DataLayout::ColumnMajor => Shape { rows: lines.shape().columns, columns: lines.shape().rows },
    };
    let count = shape.element_count_of(T::TYPE)?;
    dictionary.check(shape.columns, T::TYPE)?; // a user's kind of table may be wrong about it
    let header = header::encode(T::TYPE, layout, shape, dictionary)?;
    let preamble = Preamble::new(&header, (count * size_of::<T>()) as u64, chunk_size)?;
    output.write_front(&preamble, &header)?;
    let sums = write_values(output, lines, count, &preamble)?;
    output.write_checksums(&preamble, &sums)
}

fn write_values<T: Element, S: Sink>(
    output: &Output<'_, S>,
    lines: &dyn Lines<T>,
    count: usize,
    preamble: &Preamble,
) -> Result<Vec<u32>> {
    let length = run_length(count * size_of::<T>()) / size_of::<T>();
    let runs = (0..count).step_by(length.max(1)).map(|start| start..count.min(start + length)).collect();
    let done = parallel::map(runs, |run| write_run(output, lines, run, preamble));
    let mut sums = Vec::new();
    let room = preamble.chunk_count() as usize;
    sums.try_reserve_exact(room).map_err(|_| Error::OutOfMemory { bytes: room.saturating_mul(4) })?;
    merge(done.into_iter().collect::<Result<_>>()?, |sum| {
        sums.push(sum);
        Ok(())
    })?;
    Ok(sums)
}

/// Writes consecutive values, piece by piece, and sums them up while they are at hand.
fn write_run<T: Element, S: Sink>(
    output: &Output<'_, S>,
    lines: &dyn Lines<T>,
    run: std::ops::Range<usize>,
    preamble: &Preamble,
) -> Result<RunSums> {
    let size = size_of::<T>();
    let mut sums = RunSums::new(preamble.chunk_size, (run.start * size) as u64, run.len() * size)?;
    let in_memory = lines.as_slice().filter(|_| cfg!(target_endian = "little") || size == 1);
    let mut buffer = match in_memory {
        Some(_) => Array::new(),
        None => Array::<T>::zeros(run.len().min(PIECE_BYTES / size))?,
    };
    for start in run.clone().step_by(PIECE_BYTES / size) {
        let piece = start..run.end.min(start + PIECE_BYTES / size);
        let bytes: &[u8] = match in_memory {
            Some(values) => bytemuck::cast_slice(&values[piece]),
            None => {
                let target = &mut buffer.mutable_data()?[..piece.len()];
                gather(lines, piece, target)?;
                let bytes = bytemuck::cast_slice_mut(target);
                swap_if_big_endian(bytes, size);
                bytes
            }
        };
        sums.update(bytes);
        output.write(bytes, preamble.payload_offset + (start * size) as u64)?;
    }
    Ok(sums)
}

/// Copies consecutive values: the end of a line, whole lines, and the start of one.
fn gather<T>(lines: &dyn Lines<T>, range: std::ops::Range<usize>, mut target: &mut [T]) -> Result<()> {
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
