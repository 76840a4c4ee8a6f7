//! An open file or stream in Arrow's IPC format.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array as ArrowArray, ArrayRef, NullArray, RecordBatch};
use arrow_schema::{DataType, Fields};
use bytes::Bytes;
use numeric_table::{
    DataDictionary, Element, Error, HomogenNumericTable, Result, Shape, SoaNumericTable, files::SaveOptions,
};
#[cfg(doc)]
use numeric_table::{ErrorKind, files::TableWriter};

use super::batches::{Batches, LIBRARY};
use super::check::{MAGIC, check, damaged};
use super::nulls::NullCounts;
use crate::blocks::{FileColumnBlocks, FileRowBlocks, guarded, in_file};
use crate::input::Input;
use crate::options::ArrowOptions;
use crate::plan::Plan;
use crate::steps::Step;
use crate::stream::{read_step_columns, read_steps, save_steps};

/// A file or a stream in Arrow's IPC format: its schema, and what is to be read of it.
///
/// Record batches are dropped when their values were copied. Those of a stream are read one by one. Those of a file are
/// decoded in parallel, in the caller's rayon pool (feature `rayon`): one at a time, or several that have at most 8 MiB
/// together as stored. Columns that are not chosen are read with their batch, but never decompressed. Errors name the
/// row of the table.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::{ArrowOptions, ipc::{IpcSource, save_ipc}};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("table.arrow");
/// save_ipc(&path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?)?;
/// let options = ArrowOptions::new().columns([2, 0]).convert(ConversionPolicy::Exact);
/// let table = IpcSource::open(&path)?.options(options).load::<f64>()?;
/// assert_eq!(table.as_slice()?, [3.0, 1.0, 6.0, 4.0]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct IpcSource {
    input: Input,
    is_file: bool,
    /// The wrong numbers of nulls in the file.
    null_counts: Arc<NullCounts>,
    fields: Fields,
    options: ArrowOptions,
    path: Option<Arc<Path>>,
}

impl IpcSource {
    /// Opens a file: one that begins with `ARROW1`, such as a Feather file, or else a stream, and reads its schema.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; [`ErrorKind::Foreign`] or [`ErrorKind::Format`] for other bytes, or damaged ones. All errors
    /// of the source name the file.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::ipc::{IpcSource, save_ipc};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// save_ipc(&path, &HomogenNumericTable::from_rows(&[[1.5, 2.5]])?)?;
    /// assert_eq!(IpcSource::open(&path)?.load::<f64>()?.as_slice()?, [1.5, 2.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::new(Input::open(path)?, Some(path.into())).map_err(|error| error.in_file(path))
    }

    /// Takes the bytes of a file or a stream, and reads its schema. They are not copied.
    ///
    /// # Errors
    /// Those of [`open`](Self::open) for other bytes.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::ipc::{IpcSource, save_ipc};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// save_ipc(&path, &HomogenNumericTable::from_rows(&[[1_u8, 2]])?)?;
    /// assert_eq!(IpcSource::from_bytes(std::fs::read(&path).unwrap())?.load::<u8>()?.as_slice()?, [1, 2]);
    /// assert!(IpcSource::from_bytes("ARROW1").is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self> {
        Self::new(Input::Bytes(bytes.into()), None)
    }

    fn new(input: Input, path: Option<Arc<Path>>) -> Result<Self> {
        let is_file = input.bytes_at(0, MAGIC.len()).is_ok_and(|bytes| bytes == MAGIC);
        let null_counts = Arc::new(guarded(LIBRARY, || check(&input, is_file))??);
        let reader = Batches::open(&input, is_file, &null_counts, None)?;
        Ok(Self { fields: reader.fields(), input, is_file, null_counts, options: ArrowOptions::new(), path })
    }

    /// Sets what is read, and how: columns, element types, conversions, what nulls become, the layout, and with
    /// [`expected_rows`](ArrowOptions::expected_rows) for how many rows there is room from the beginning.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::{ArrowOptions, ipc::{IpcSource, save_ipc}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// save_ipc(&path, &HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?)?;
    /// let options = ArrowOptions::new().layout(DataLayout::ColumnMajor);
    /// assert_eq!(IpcSource::open(&path)?.options(options).load::<u8>()?.as_slice()?, [1, 3, 2, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn options(self, options: ArrowOptions) -> Self {
        Self { options, ..self }
    }

    /// Returns the descriptions of the chosen columns, with the types that [`load_columns`](Self::load_columns) gives
    /// them. Words are not known before the values were read: columns of words have none here, and the type `u32`, or
    /// `f64` under [`nulls_to_nan`](ArrowOptions::nulls_to_nan). Nor are nulls: only columns that were nullable in the
    /// table which was saved are so here.
    ///
    /// # Errors
    /// Those of a choice of columns, as in [`ArrowOptions::columns`]; [`ErrorKind::Unsupported`] for a chosen column
    /// that does not hold numbers.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::ipc::{IpcSource, save_ipc};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// save_ipc(&path, &SoaNumericTable::from_columns([("age", vec![31_u8])])?)?;
    /// assert_eq!(IpcSource::open(&path)?.dictionary()?.feature(0)?.element_type, ElementType::U8);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn dictionary(&self) -> Result<DataDictionary> {
        let mut plan = self.plan()?;
        plan.grows = true;
        plan.dictionary(None).map_err(|error| self.name_in(error))
    }

    /// Loads the chosen columns as a table of one element type, which grows with the batches.
    ///
    /// # Errors
    /// Those of [`dictionary`](Self::dictionary). [`ErrorKind::Unsupported`] with the column, if it holds another type
    /// and no conversion was requested, or has nulls, with the first row, and nothing was requested for them.
    /// [`ErrorKind::ValueNotRepresentable`]. [`ErrorKind::Foreign`], [`ErrorKind::Format`] for damaged files.
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::ipc::{IpcSource, save_ipc};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// save_ipc(&path, &HomogenNumericTable::from_rows(&[[1_i64, 2], [3, 4]])?)?;
    /// assert_eq!(IpcSource::open(&path)?.load::<i64>()?.as_slice()?, [1, 2, 3, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn load<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        read_steps(&self.fields, self.steps()?, &self.options).map_err(|error| self.name_in(error))
    }

    /// Loads the chosen columns, each of its own type.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), except that a column of another type is converted under
    /// [`column_type`](ArrowOptions::column_type) only.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::ipc::{IpcSource, save_ipc};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// let columns = [("age", AnyArray::from(vec![31_u8, 27])), ("size", AnyArray::from(vec![1.75_f32, 1.5]))];
    /// save_ipc(&path, &SoaNumericTable::from_columns(columns)?)?;
    /// assert_eq!(IpcSource::open(&path)?.load_columns()?.column_slice::<f32>(1)?, [1.75, 1.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn load_columns(&self) -> Result<SoaNumericTable> {
        read_step_columns(&self.fields, self.steps()?, &self.options).map_err(|error| self.name_in(error))
    }

    /// Returns the rows a block at a time, each a table of its own. Besides the block that was returned, the batches of
    /// the next one are in memory, or one.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] for blocks of 0 rows; those of [`dictionary`](Self::dictionary). From the
    /// iterator, those of [`load`](Self::load).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::ipc::{IpcSource, save_ipc};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// save_ipc(&path, &HomogenNumericTable::from_rows(&[[1], [2], [3]])?)?;
    /// let source = IpcSource::open(&path)?;
    /// let rows = source.row_blocks::<i32>(2)?.map(|block| Ok(block?.row_count())).collect::<Result<Vec<_>, Error>>()?;
    /// assert_eq!(rows, [2, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_blocks<T: Element>(&self, rows: usize) -> Result<FileRowBlocks<'_, T>> {
        let steps = self.steps()?.map(|step| step.map_err(|error| self.name_in(error)));
        FileRowBlocks::new(&self.fields, steps, &self.options, rows).map_err(|error| self.name_in(error))
    }

    /// Returns an iterator over blocks of rows, each a separate table whose columns have their own types, as those of
    /// [`load_columns`](Self::load_columns). Memory is that of [`row_blocks`](Self::row_blocks), and all words.
    ///
    /// # Errors
    /// Those of [`row_blocks`](Self::row_blocks).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::ipc::{IpcSource, save_ipc};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// let columns = [("age", AnyArray::from(vec![31_u8, 27])), ("size", AnyArray::from(vec![1.75_f32, 1.5]))];
    /// save_ipc(&path, &SoaNumericTable::from_columns(columns)?)?;
    /// for block in IpcSource::open(&path)?.column_blocks(1)? {
    ///     assert_eq!((block.as_ref().unwrap().row_count(), block?.column_type(1)?), (1, ElementType::F32));
    /// }
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_blocks(&self, rows: usize) -> Result<FileColumnBlocks<'_>> {
        let steps = self.steps()?.map(|step| step.map_err(|error| self.name_in(error)));
        FileColumnBlocks::new(&self.fields, steps, &self.options, rows).map_err(|error| self.name_in(error))
    }

    /// Saves the chosen columns as a table file of `T`, without all of them in memory: some 16 MiB of batches are, or
    /// one. Returns the number of rows and columns.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), of [`TableWriter::create`] and [`TableWriter::finish`];
    /// [`ErrorKind::NotWholeRows`] for rows without columns. The file at the path is then unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::ipc::{IpcSource, save_ipc};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (path, ntb) = (folder.path().join("table.arrow"), folder.path().join("table.ntb"));
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5, 3.5]])?;
    /// save_ipc(&path, &table)?;
    /// assert_eq!(IpcSource::open(&path)?.save_to::<f32>(&ntb)?, Shape { rows: 1, columns: 3 });
    /// assert_eq!(HomogenNumericTable::<f32>::load(&ntb)?, table);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn save_to<T: Element>(&self, path: impl AsRef<Path>) -> Result<Shape> {
        let steps = self.steps()?.map(|step| step.map_err(|error| self.name_in(error)));
        save_steps::<T>(path.as_ref(), &self.fields, steps, &self.options, SaveOptions::new(), |error| {
            self.name_in(error)
        })
    }

    fn plan(&self) -> Result<Plan<'_>> {
        Plan::new(&self.fields, &self.options, "batch").map_err(|error| self.name_in(error))
    }

    fn steps(&self) -> Result<Steps> {
        let mut chosen: Vec<usize> = self.plan()?.indices().collect();
        chosen.sort_unstable();
        chosen.dedup();
        let batches = Batches::open(&self.input, self.is_file, &self.null_counts, Some(chosen.clone()));
        let batches = batches.map_err(|error| self.name_in(error))?;
        let nothing: ArrayRef = Arc::new(NullArray::new(0));
        Ok(Steps {
            batches,
            chosen,
            fields: self.fields.clone(),
            nothing,
            row: 0,
            bytes: self.input.length(),
            path: self.path.clone(),
            is_done: false,
        })
    }

    fn name_in(&self, error: Error) -> Error {
        in_file(error, self.path.as_deref())
    }
}

/// Number of rows that columns of the type `Null` may have in any file, and number for each byte of the file: their
/// values are not stored.
const MIN_NULLS: u64 = 1 << 20;
const NULLS_PER_BYTE: u64 = 1 << 10;

/// The batches, as steps. An error ends the iteration.
struct Steps {
    batches: Batches,
    /// The columns that are read, in their order in the file.
    chosen: Vec<usize>,
    fields: Fields,
    /// Stands for the columns that are not read.
    nothing: ArrayRef,
    row: usize,
    /// The length of the file.
    bytes: u64,
    path: Option<Arc<Path>>,
    is_done: bool,
}

impl Steps {
    /// Checks the number of rows of a batch that has columns without bytes.
    fn check_nulls(&self, batch: Option<RecordBatch>) -> Result<Option<RecordBatch>> {
        let is_null = |batch: &RecordBatch| batch.columns().iter().any(|array| *array.data_type() == DataType::Null);
        let rows = batch.as_ref().filter(|batch| is_null(batch)).map_or(0, |batch| batch.num_rows() as u64);
        if rows > self.bytes.saturating_mul(NULLS_PER_BYTE).max(MIN_NULLS) {
            return Err(damaged(0, format!("a column of nulls claims {rows} rows in a file of {} bytes", self.bytes)));
        }
        Ok(batch)
    }
}

impl Iterator for Steps {
    type Item = Result<Step>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let batch = self.batches.next().and_then(|batch| self.check_nulls(batch));
        self.is_done = !matches!(batch, Ok(Some(_)));
        Some(batch.transpose()?.map(|batch| {
            let rows = batch.num_rows();
            let mut columns = vec![self.nothing.clone(); self.fields.len()];
            for (&index, array) in self.chosen.iter().zip(batch.columns()) {
                columns[index] = array.clone();
            }
            let (fields, path, first_row) = (self.fields.clone(), self.path.clone(), Some(self.row));
            self.row = self.row.saturating_add(rows);
            Step { fields, columns, first_column: 0, rows, first_row, path }
        }))
    }
}
