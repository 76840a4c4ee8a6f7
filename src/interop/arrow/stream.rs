//! Readers of record batches: tables and table files of all rows, without holding all batches.
//!
//! Batches are taken in groups of some megabytes, so that small ones are converted by several threads too, and dropped
//! after their values were copied. The number of rows is not known: tables grow, as pushed rows make them grow.

use std::path::Path;

use arrow_array::{RecordBatch, RecordBatchReader};

use super::chunks::{Chunk, ChunkColumn, Room, assemble, fill};
use super::columns::columns_of;
use super::import::from_parts;
use super::options::ArrowOptions;
use super::plan::{Part, Parts, Plan, whole_shape};
use crate::array::{AnyArray, Array};
use crate::base::copy::CopyReason;
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::files::options::SaveOptions;
use crate::format::TableWriter;
use crate::table::soa::SoaNumericTable;
use crate::table::{DataLayout, HomogenNumericTable, MemoryStatus, NumericTable, Shape};

/// Number of values, of all columns together, in batches that are taken together.
const GROUP_VALUES: usize = 1 << 21;
/// Room for the words of columns in a table file, which are known at the end only: 1 MiB.
const WORD_BYTES: u64 = 1 << 20;
/// Largest number of batches that are taken together.
const GROUP_BATCHES: usize = 1 << 10;

impl<T: Element> HomogenNumericTable<T> {
    /// Creates one table from all batches of a reader, for instance of a Parquet file or of a file in Arrow's IPC
    /// format. The reader's batches are dropped as their values have been copied: beside the table there are some 16
    /// MiB of them, or one.
    ///
    /// The table grows with the rows, so that for a moment there may be a second, smaller copy of it, unless
    /// [`expected_rows`](ArrowOptions::expected_rows) says how many there will be. If there is only one batch with
    /// rows, its values are shared where [`from_record_batches`](Self::from_record_batches) would share them.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches), and [`ErrorKind::Foreign`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::{ArrowOptions, prelude::*};
    /// let batch = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone()), Ok(batch.clone())], batch.schema());
    /// assert_eq!(HomogenNumericTable::<i16>::read_record_batches(reader, ArrowOptions::new())?.row_count(), 4);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn read_record_batches(reader: impl RecordBatchReader, options: ArrowOptions) -> Result<Self> {
        let mut plan = Plan::new(reader.schema().fields(), &options, "batch")?;
        let mut growing: Option<Self> = None;
        let columns = plan.column_count();
        in_groups(reader, columns, |parts, is_last| {
            let mut table = match growing.take() {
                None if is_last => {
                    growing = Some(from_parts(&mut plan, parts)?);
                    return Ok(());
                }
                None => {
                    options.copy.copies(Some(CopyReason::Layout))?;
                    plan.grows = true;
                    let mut table = Self::internal(Array::new(), Shape { rows: 0, columns }, options.layout);
                    table.reserve_rows(options.expected_rows)?;
                    table
                }
                Some(table) => table,
            };
            append(&mut table, &plan.chunks(parts, Some(T::TYPE))?)?;
            growing = Some(table);
            Ok(())
        })?;
        match growing {
            Some(table) if plan.grows => table.described_by(plan.dictionary(|_| T::TYPE)?),
            Some(table) => Ok(table),
            None => from_parts(&mut plan, Parts::all(&[])), // never: the last group is passed on if it is empty
        }
    }
}

impl SoaNumericTable {
    /// Creates one table from all batches of a reader, each column of its own type. The reader's batches are dropped as
    /// their values have been copied: beside the table there are some 16 MiB of them, or one.
    ///
    /// Columns grow as those of [`HomogenNumericTable::read_record_batches`] do. If there is only one batch with rows,
    /// its columns are shared where [`from_record_batches`](Self::from_record_batches) would share them.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches), and [`ErrorKind::Foreign`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::{ArrowOptions, SoaNumericTable, prelude::*};
    /// let batch = SoaNumericTable::from_columns([("a", vec![1_u8, 2])])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone()), Ok(batch.clone())], batch.schema());
    /// let table = SoaNumericTable::read_record_batches(reader, ArrowOptions::new())?;
    /// assert_eq!(table.column_as::<u8>(0)?, [1, 2, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn read_record_batches(reader: impl RecordBatchReader, options: ArrowOptions) -> Result<Self> {
        let mut plan = Plan::new(reader.schema().fields(), &options, "batch")?;
        let (mut whole, mut growing) = (None, Growing::default());
        let columns = plan.column_count();
        in_groups(reader, columns, |parts, is_last| {
            if !plan.grows && is_last {
                whole = Some(columns_of(&mut plan, parts)?);
                return Ok(());
            }
            if !plan.grows {
                options.copy.copies(Some(CopyReason::Layout))?;
                plan.grows = true;
            }
            let chunks = plan.chunks(parts, None)?;
            growing.append(&plan, &chunks)
        })?;
        match whole {
            Some(table) => Ok(table),
            None => growing.into_table(plan),
        }
    }
}

impl<T: Element> TableWriter<T> {
    /// Saves all batches of a reader as a table file of `T`, which may be larger than memory: only some 16 MiB of
    /// batches, or one, are there at a time. Returns the number of rows and columns of the table.
    ///
    /// Columns, nulls, words and conversions are as for [`HomogenNumericTable::read_record_batches`]; the file is
    /// row-major, whatever the options say, and its values are always copies. If columns have words, there is room in
    /// the file for 1 MiB of them.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::read_record_batches`], [`create`](Self::create) and [`finish`](Self::finish);
    /// [`ErrorKind::NotWholeRows`] for rows without columns; [`ErrorKind::Format`] if there is no room for more words.
    /// The file at the path is then unchanged.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::{ArrowOptions, TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let batch = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone()), Ok(batch.clone())], batch.schema());
    /// let options = ArrowOptions::new().convert(ConversionPolicy::Exact);
    /// assert_eq!(TableWriter::<f32>::save_record_batches(&path, reader, options)?, Shape { rows: 4, columns: 2 });
    /// assert_eq!(HomogenNumericTable::<f32>::load(&path)?.rows::<f32>(2..)?[..], [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn save_record_batches(
        path: impl AsRef<Path>,
        reader: impl RecordBatchReader,
        options: ArrowOptions,
    ) -> Result<Shape> {
        Self::save_record_batches_with(path, reader, options, SaveOptions::new())
    }

    /// Saves all batches of a reader as [`save_record_batches`](Self::save_record_batches) does, with options for the
    /// file.
    ///
    /// # Errors
    /// Those of [`save_record_batches`](Self::save_record_batches).
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::{ArrowOptions, SaveOptions, TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let batch = HomogenNumericTable::from_rows(&[[1.5_f32], [2.5]])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    /// let save = SaveOptions::new().durable(false);
    /// let shape = TableWriter::<f32>::save_record_batches_with(&path, reader, ArrowOptions::new(), save)?;
    /// assert_eq!((shape.rows, shape.columns), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn save_record_batches_with(
        path: impl AsRef<Path>,
        reader: impl RecordBatchReader,
        options: ArrowOptions,
        save: SaveOptions,
    ) -> Result<Shape> {
        let mut plan = Plan::new(reader.schema().fields(), &options, "batch")?;
        let columns = plan.column_count();
        let mut writer = Self::create_with(path, columns, plan.dictionary(|_| T::TYPE)?, save)?;
        if plan.has_words() {
            writer.reserve_words(WORD_BYTES)?;
        }
        in_groups(reader, columns, |parts, _| {
            write(&mut writer, &plan.chunks(parts, Some(T::TYPE))?)?;
            if plan.has_words() { writer.describe(plan.dictionary(|_| T::TYPE)?) } else { Ok(()) }
        })?;
        let shape = writer.shape();
        writer.finish()?;
        Ok(shape)
    }

    /// Appends the rows of a record batch, as [`append`](Self::append) does: its columns, or those that the options
    /// choose, in that order, whatever their names. Words become the indices that they have in the dictionary of the
    /// file. Allocates as much as the rows take in the file.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`] if there are not as many columns as in the file, or for times of another unit;
    /// [`ErrorKind::NotWholeRows`] for rows without columns; those of [`HomogenNumericTable::from_record_batches`],
    /// with the row in the file; those of [`append`](Self::append). Nothing is appended then, and the writer can still
    /// be used.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{ArrowOptions, TableWriter, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let batch = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 400]])?.to_record_batch()?;
    /// let mut writer = TableWriter::<u8>::create(&path, 1, None)?;
    /// let first = ArrowOptions::new().convert(ConversionPolicy::Checked).columns([0]);
    /// writer.append_record_batch(&batch, &first)?;
    /// let error = writer.append_record_batch(&batch, &first.columns([1])).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the value 400 at row 3, column 0 is not representable as u8: `ConversionPolicy::Saturate` allows it \
    ///      where a call takes a policy"
    /// );
    /// writer.finish()?;
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.as_slice()?, [1, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn append_record_batch(&mut self, batch: &RecordBatch, options: &ArrowOptions) -> Result<()> {
        let parts = [Part::of_batch(batch)];
        let mut plan = Plan::new(parts[0].fields, options, "batch")?;
        let (expected, found) = (self.shape().columns, plan.column_count());
        if expected != found {
            return Err(Error::unequal_columns(1, expected, found));
        }
        plan.check_times(self.dictionary())?;
        plan.set_words(self.dictionary())?;
        write(self, &plan.chunks(Parts::all(&parts), Some(T::TYPE))?)
    }
}

/// Reads all batches, and passes them on in groups, the last of which says that it is. Only a group after which there
/// are more rows is not the last.
///
/// # Errors
/// [`ErrorKind::Foreign`]; those of `take`.
fn in_groups(
    reader: impl RecordBatchReader,
    columns: usize,
    mut take: impl FnMut(Parts<'_>, bool) -> Result<()>,
) -> Result<()> {
    let (mut group, mut rows, mut first) = (Vec::<RecordBatch>::new(), 0_usize, 0_usize);
    let most = GROUP_VALUES / columns.max(1);
    for batch in reader {
        let batch = batch.map_err(|source| Error::foreign(format!("Arrow failed: {source}"), source))?;
        let is_full = rows > 0 && (rows >= most || group.len() >= GROUP_BATCHES);
        if is_full && batch.num_rows() > 0 {
            let parts: Vec<Part<'_>> = group.iter().map(Part::of_batch).collect();
            take(Parts { parts: &parts, first, count: usize::MAX }, false)?;
            first = first.saturating_add(group.len());
            (rows, group) = (0, Vec::new());
        }
        rows = rows.saturating_add(batch.num_rows());
        group.push(batch);
    }
    let parts: Vec<Part<'_>> = group.iter().map(Part::of_batch).collect();
    let count = if first == 0 { parts.len() } else { usize::MAX };
    take(Parts { parts: &parts, first, count }, true)
}

/// Adds all rows of chunks to a table.
///
/// # Errors
/// Those of [`fill`]; [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
fn append<T: Element>(table: &mut HomogenNumericTable<T>, chunks: &[Chunk<'_>]) -> Result<()> {
    let Shape { rows: first, columns } = table.shape();
    let new = whole_shape(chunks.iter().map(|chunk| chunk.rows), columns, Some(T::TYPE))?.rows;
    table.reserve_rows(new)?;
    table.resize(first + new)?; // `reserve_rows` has checked the sum
    if columns == 0 || new == 0 {
        return Ok(());
    }
    let layout = table.data_layout();
    let rows = table.view_mut()?.rows(first..)?;
    let room = match layout {
        DataLayout::RowMajor => {
            // They are contiguous.
            Room::Rows(rows.try_into_slice().map_err(|_| Error::new(ErrorKind::NotAllocated))?)
        }
        DataLayout::ColumnMajor => {
            let (mut lanes, mut rest) = (Vec::new(), rows.into_window().transposed());
            for _ in 0..columns {
                let (lane, tail) = rest.split_at_row(1);
                // Columns are contiguous.
                lanes.push(lane.into_slice().map_err(|_| Error::new(ErrorKind::NotAllocated))?);
                rest = tail;
            }
            Room::Columns(lanes)
        }
    };
    fill(chunks, 0..columns, room, first)
}

/// Adds all rows of chunks to a file.
fn write<T: Element>(writer: &mut TableWriter<T>, chunks: &[Chunk<'_>]) -> Result<()> {
    let Shape { rows: first, columns } = writer.shape();
    let rows = whole_shape(chunks.iter().map(|chunk| chunk.rows), columns, Some(T::TYPE))?.rows;
    if columns == 0 && rows > 0 {
        return Err(Error::new(ErrorKind::NotWholeRows { values: 0, columns })); // a file counts rows by their values
    }
    let values =
        assemble::<T>(chunks, 0..columns, rows, DataLayout::RowMajor).map_err(|error| error.moved(first, 0))?;
    writer.append(&values[..])
}

/// Columns of a structure of arrays, each in memory that has room for more rows.
#[derive(Default)]
struct Growing {
    columns: Vec<AnyArray>,
    rows: usize,
    capacity: usize,
}

impl Growing {
    /// Adds all rows of chunks.
    ///
    /// # Errors
    /// Those of [`fill`]; [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    fn append(&mut self, plan: &Plan<'_>, chunks: &[Chunk<'_>]) -> Result<()> {
        let (first, counts) = (self.rows, chunks.iter().map(|chunk| chunk.rows));
        let rows = whole_shape([first].into_iter().chain(counts), plan.column_count(), None)?.rows;
        if rows > self.capacity {
            let capacity = rows.max(plan.options.expected_rows).max(first.saturating_add(first / 2));
            for column in 0..plan.column_count() {
                match self.columns.get_mut(column) {
                    Some(array) => *array = array.resized(capacity)?,
                    None => self.columns.push(AnyArray::zeros(plan.type_of(column), capacity)?),
                }
            }
            self.capacity = capacity;
        }
        for (column, array) in self.columns.iter_mut().enumerate() {
            match_element!(plan.type_of(column), T => {
                let Some(array) = array.downcast_mut::<T>() else { continue }; // never: it was made of that type
                let room = Room::Columns(vec![&mut array.mutable_data()?[first..rows]]);
                fill(chunks, column..column + 1, room, first)?;
            });
        }
        self.rows = rows;
        Ok(())
    }

    /// Returns the table. Indices of words become as small as they can be, now that all words are known.
    fn into_table(self, mut plan: Plan<'_>) -> Result<SoaNumericTable> {
        plan.grows = false;
        let mut columns = Vec::new();
        for (column, array) in self.columns.iter().enumerate() {
            let array = array.as_ref().slice(0..self.rows)?;
            columns.push(match plan.type_of(column) {
                found if found == array.element_type() => array,
                narrow => match_element!(narrow, T => {
                    let all = [Chunk { rows: self.rows, columns: vec![ChunkColumn::of_indices(&array)] }];
                    let narrow = assemble::<T>(&all, 0..1, self.rows, DataLayout::ColumnMajor);
                    narrow.map_err(|error| error.moved(0, column))?.into()
                }),
            });
        }
        let dictionary = plan.dictionary(|column| plan.type_of(column))?;
        Ok(SoaNumericTable::of_arrays(dictionary, self.rows, columns, MemoryStatus::InternallyAllocated))
    }
}
