//! Reading a table that is larger than memory, some rows at a time.

use std::ops::{Range, RangeBounds};
use std::path::Path;

use super::homogeneous::HomogeneousFile;
use super::kind::FileContent;
use super::load::{load, load_stored};
use super::values::verify;
use crate::array::Array;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, Result};
use crate::base::shape::Shape;
use crate::block::BlockMut;
use crate::dictionary::DataDictionary;
use crate::files::progress::{Hook, Meter, Progress};
use crate::files::stored::Stored;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, Region, rows_of};
use crate::window::AnySliceMut;

/// Number of bytes of a column-major file that are gathered at a time: pieces of all columns, or of as many as fit.
const COLUMNS_BYTES: usize = 2 << 20;

/// Least number of bytes of one column that are read at a time, if that many rows are requested: with many columns,
/// fewer of them are gathered at a time. Reading one byte costs as much as reading some thousand.
const COLUMN_BYTES: usize = 16 << 10;

/// Reads rows of a table file in any element type, without loading the rest: the table may be larger than memory.
///
/// Opening reads and checks only the file's description of itself. Checksums of values are checked only by
/// [`verify`](Self::verify) and by loading the whole table, since blocks of rows are only parts of chunks.
///
/// In a row-major file, rows are contiguous. In a column-major file every read gathers a piece of each column: few
/// blocks of many rows, as many as memory permits, are best.
///
/// # Examples
/// ```
/// use numeric_table::{TableReader, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("table.ntb");
/// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
///
/// let reader = TableReader::open(&path)?;
/// assert_eq!((reader.shape(), reader.element_type()), (Shape { rows: 3, columns: 2 }, ElementType::I16));
/// let mut sums = [0.0; 2];
/// let mut blocks = reader.row_blocks::<f64>(2)?; // as f64, two rows at a time, in one buffer
/// while let Some(block) = blocks.next_block()? {
///     for row in block.iter_rows() {
///         sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
///     }
/// }
/// assert_eq!(sums, [9.0, 12.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TableReader {
    file: HomogeneousFile,
    dictionary: DataDictionary,
    hook: Hook,
}

impl TableReader {
    /// Opens a file: O(columns), whatever the number of rows.
    ///
    /// # Errors
    /// [`Error::Io`] with `path`; [`Error::Format`] with what is wrong, and where; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// std::fs::write(&path, "5.1,3.5,1.4,0.2,setosa\n")?;
    /// assert!(matches!(TableReader::open(&path), Err(Error::Format { offset: 0, .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (file, header) = FileContent::open(path.as_ref())?.homogeneous()?;
        let dictionary = header.dictionary(file.element_type)?;
        Ok(Self { file, dictionary, hook: Hook::default() })
    }

    /// Sets a callback for the progress of each of the calls below. It is called at the beginning, after every piece of
    /// at most 4 MiB (in [`row_blocks`](Self::row_blocks) after every block), and at the end, on any of the threads
    /// that do the work, but for one call by one thread at a time. Progress that other threads make while it runs is
    /// reported in the next call. It may read and save tables itself.
    ///
    /// # Examples
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = done.clone();
    /// let reader = TableReader::open(&path)?
    ///     .on_progress(move |progress| seen.store(progress.done, Ordering::Relaxed));
    /// let table = reader.load::<i16>()?;
    /// assert_eq!(done.load(Ordering::Relaxed), 12); // bytes
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { hook: Hook::new(hook), ..self }
    }

    /// Returns the numbers of rows and columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.shape(), Shape { rows: 2, columns: 3 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape(&self) -> Shape {
        self.file.shape
    }

    /// Returns the element type of the values in the file.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.element_type(), ElementType::I16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn element_type(&self) -> ElementType {
        self.file.element_type
    }

    /// Returns the order of the values in the file.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.to_layout(DataLayout::ColumnMajor)?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.data_layout(), DataLayout::ColumnMajor);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn data_layout(&self) -> DataLayout {
        self.file.layout
    }

    /// Borrows the description of the columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.dictionary().len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    /// Reads all values and verifies their checksums. Returns whether the file has checksums of values.
    ///
    /// # Errors
    /// [`Error::Format`] with the first damaged chunk; [`Error::Io`]; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SaveOptions, TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?;
    /// table.save(&path)?;
    /// assert!(TableReader::open(&path)?.verify()?);
    /// table.save_with(&path, SaveOptions::new().checksums(None))?;
    /// assert!(!TableReader::open(&path)?.verify()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify(&self) -> Result<bool> {
        let meter = self.whole_meter();
        verify(&self.file.parts, Some(&meter))
    }

    /// Loads the whole table, as [`HomogenNumericTable::load`] does.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::load`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// let reader = TableReader::open(&path)?;
    /// assert_eq!(reader.load::<i16>()?.shape(), reader.shape());
    /// assert!(reader.load::<f32>().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        self.file.check_type(T::TYPE)?;
        self.load_as()
    }

    /// Loads the whole table converted to `T`, as [`HomogenNumericTable::load_as`] does.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::load_as`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.load_as::<f32>()?.as_slice()?[5], 6.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_as<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        load(&self.file, |element_type| self.dictionary.with_element_type(element_type), Some(&self.whole_meter()))
    }

    /// Loads the whole table in the element type of the file, as [`load_any`](crate::load_any) does.
    ///
    /// # Errors
    /// Those of [`load_any`](crate::load_any).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?.save(&path)?;
    /// assert_eq!(TableReader::open(&path)?.load_any()?.uniform_type(), Some(ElementType::I16));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_any(&self) -> Result<Box<dyn NumericTable>> {
        load_stored(&self.file, |_| Ok(self.dictionary.clone()), Some(&self.whole_meter()))
    }

    /// Reads consecutive rows into a new row-major table of `U`, converted under
    /// [`ConversionPolicy::Saturate`](crate::ConversionPolicy::Saturate) if the file holds another type.
    ///
    /// # Errors
    /// [`Error::RowsOutOfRange`]; [`Error::SizeOverflow`]; [`Error::OutOfMemory`]; [`Error::Io`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6], [7, 8, 9]])?.save(&path)?;
    /// let rows = TableReader::open(&path)?.load_rows::<f32>(1..3)?;
    /// assert_eq!(rows.as_slice()?, [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_rows<U: Element>(&self, rows: impl RangeBounds<usize>) -> Result<HomogenNumericTable<U>> {
        let (row_count, rows) = (self.file.shape.rows, rows_of(self.file.shape, rows)?);
        if rows.start > rows.end || rows.end > row_count {
            return Err(Error::RowsOutOfRange { rows, row_count });
        }
        let shape = Shape { rows: rows.len(), ..self.file.shape };
        let mut array = Array::<U>::zeros(shape.element_count_of(U::TYPE)?)?;
        let meter = Meter::start(&self.hook, self.file.size_of_rows(rows.len()));
        self.read_into(rows, array.mutable_data()?, &mut Stored::new(self.file.element_type), Some(&meter))?;
        let dictionary = self.dictionary.with_element_type(U::TYPE)?;
        HomogenNumericTable::internal(array, shape, DataLayout::RowMajor).described_by(dictionary)
    }

    /// Iterates over all rows in blocks of `rows_per_block`, in one buffer that is reused for every block. The last
    /// block may be shorter.
    ///
    /// # Errors
    /// [`Error::EmptyBlocks`] for blocks of no rows; [`Error::SizeOverflow`]; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let reader = TableReader::open(&path)?;
    /// let mut blocks = reader.row_blocks::<f32>(2)?;
    /// assert_eq!(blocks.next_block()?.unwrap()[..], [1.0, 2.0, 3.0, 4.0]);
    /// assert_eq!(blocks.next_block()?.unwrap().rows(), 2..3);
    /// assert!(blocks.next_block()?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn row_blocks<U: Element>(&self, rows_per_block: usize) -> Result<FileBlocks<'_, U>> {
        if rows_per_block == 0 {
            return Err(Error::EmptyBlocks);
        }
        let Shape { rows, columns } = self.file.shape;
        let largest = Shape { rows: rows_per_block.min(rows), columns };
        let values = Array::zeros(largest.element_count_of(U::TYPE)?)?;
        Ok(FileBlocks {
            reader: self,
            rows_per_block,
            next_row: 0,
            values,
            stored: Stored::new(self.file.element_type),
            meter: self.whole_meter(),
        })
    }

    fn whole_meter(&self) -> Meter {
        Meter::start(&self.hook, self.file.parts.payload_length())
    }

    /// Reads rows, which must be in range, into a target of as many values; `stored` is a buffer for the file's values.
    fn read_into<U: Element>(
        &self,
        rows: Range<usize>,
        target: &mut [U],
        stored: &mut Stored,
        meter: Option<&Meter>,
    ) -> Result<()> {
        let columns = self.file.shape.columns;
        if target.is_empty() {
            return Ok(());
        }
        if self.file.layout == DataLayout::RowMajor {
            return self.file.values(meter).read(rows.start * columns, target, stored);
        }
        self.read_of_columns(rows, target, stored, meter)
    }

    /// Gathers rows of a column-major file, which must be in range, tile by tile: as few and as long pieces of columns
    /// as the buffer has room for.
    fn read_of_columns<U: Element>(
        &self,
        rows: Range<usize>,
        target: &mut [U],
        stored: &mut Stored,
        meter: Option<&Meter>,
    ) -> Result<()> {
        let columns = self.file.shape.columns;
        let size = self.file.element_type.size_in_bytes().max(size_of::<U>());
        let height = (COLUMNS_BYTES / size / columns).max(COLUMN_BYTES / size).min(rows.len());
        let width = (COLUMNS_BYTES / size / height).min(columns);
        let mut tile = Array::<U>::zeros(if width < columns { height * width } else { 0 })?;
        for (lines, start) in target.chunks_mut(height * columns).zip(rows.clone().step_by(height)) {
            for first in (0..columns).step_by(width) {
                let columns = first..columns.min(first + width);
                let region = Region { rows: start..rows.end.min(start + height), columns };
                if width == self.file.shape.columns {
                    self.read_tile(&region, lines, stored)?;
                } else {
                    let tile = &mut tile.mutable_data()?[..region.shape().element_count()?];
                    self.read_tile(&region, tile, stored)?;
                    let pieces = tile.chunks_exact(region.columns.len());
                    let lines = lines.chunks_exact_mut(self.file.shape.columns);
                    lines.zip(pieces).for_each(|(line, piece)| line[region.columns.clone()].copy_from_slice(piece));
                }
                if let Some(meter) = meter {
                    meter.add((region.shape().element_count()? * self.file.element_type.size_in_bytes()) as u64);
                }
            }
        }
        Ok(())
    }

    /// Reads some rows of some columns of a column-major file into contiguous rows.
    fn read_tile<U: Element>(&self, region: &Region, target: &mut [U], stored: &mut Stored) -> Result<()> {
        let (shape, row_count) = (region.shape(), self.file.shape.rows);
        let size = self.file.element_type.size_in_bytes();
        let room = stored.room(shape.element_count()?)?;
        // Whole columns are contiguous.
        let piece = if shape.rows == row_count { room.len() } else { shape.rows * size };
        for (column, values) in region.columns.clone().zip(room.chunks_exact_mut(piece)) {
            let first = column * row_count + region.rows.start;
            self.file.parts.read_payload(values, (first * size) as u64)?;
        }
        stored.convert(shape, AnySliceMut::new(target))
    }
}

/// The rows of a file, block by block: see [`TableReader::row_blocks`].
#[derive(Debug)]
pub struct FileBlocks<'r, U> {
    reader: &'r TableReader,
    rows_per_block: usize,
    next_row: usize,
    values: Array<U>,
    stored: Stored,
    meter: Meter,
}

impl<U: Element> FileBlocks<'_, U> {
    /// Reads the next block, which replaces the previous one; returns `None` after the last one. After an error, the
    /// next call tries the same block again.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::OutOfMemory`]; [`Error::Format`] if the file has become shorter since it was opened.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let (reader, mut rows) = (TableReader::open(&path)?, 0);
    /// let mut blocks = reader.row_blocks::<i16>(2)?;
    /// while let Some(block) = blocks.next_block()? {
    ///     rows += block.rows().len();
    /// }
    /// assert_eq!(rows, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_block(&mut self) -> Result<Option<BlockMut<'_, U>>> {
        let Shape { rows: row_count, columns } = self.reader.shape();
        if self.next_row == row_count {
            return Ok(None);
        }
        let end = self.next_row.saturating_add(self.rows_per_block).min(row_count);
        let rows = self.next_row..end;
        let values = &mut self.values.mutable_data()?[..rows.len() * columns];
        self.reader.read_into(rows.clone(), values, &mut self.stored, None)?;
        self.next_row = end;
        self.meter.add(self.reader.file.size_of_rows(rows.len()));
        Ok(Some(BlockMut::staged(values, Region { rows, columns: 0..columns })))
    }
}
