//! An open Parquet file, and the properties that are known without reading its values.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use ::parquet::file::metadata::PageIndexPolicy;
use ::parquet::file::reader::Length;
use arrow_schema::Fields;
use bytes::Bytes;
use numeric_table::{DataDictionary, Error, ErrorKind, Result, Shape};

use super::decode::Decoder;
use super::footer;
use crate::blocks::{guarded, in_file};
use crate::input::Input;
use crate::options::ArrowOptions;
use crate::plan::Plan;

/// A Parquet file: its footer, and the options for reading it.
///
/// Errors in values name their row and column in the file. Threads of the caller's rayon pool decode several columns,
/// or several row groups, at the same time (feature `rayon`).
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::{ArrowOptions, parquet::{ParquetSource, save_parquet}};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("table.parquet");
/// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?)?;
/// let options = ArrowOptions::new().columns([2, 0]).convert(ConversionPolicy::Exact);
/// let source = ParquetSource::open(&path)?.options(options);
/// assert_eq!(source.load::<f64>()?.as_slice()?, [3.0, 1.0, 6.0, 4.0]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone)]
pub struct ParquetSource {
    input: Input,
    metadata: ArrowReaderMetadata,
    /// The metadata with the positions of pages, once they have been needed.
    indexed: OnceLock<ArrowReaderMetadata>,
    /// The first row of each row group, and the number of all rows.
    starts: Arc<[usize]>,
    options: ArrowOptions,
    path: Option<Arc<Path>>,
}

impl ParquetSource {
    /// Opens a file and reads its footer.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; [`ErrorKind::Foreign`] and [`ErrorKind::Format`] for a file that is damaged or not a Parquet
    /// file. All errors of the source name the file.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1.5, 2.5]])?)?;
    /// assert_eq!(ParquetSource::open(&path)?.load::<f64>()?.as_slice()?, [1.5, 2.5]);
    /// std::fs::write(&path, "length,width\n").unwrap();
    /// assert_eq!(ParquetSource::open(&path).unwrap_err().path(), Some(&*path));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::new(Input::open(path)?, Some(path.into())).map_err(|error| error.in_file(path))
    }

    /// Takes the bytes of a file without copying them, and reads its footer.
    ///
    /// # Errors
    /// Those of [`open`](Self::open) for files that are not Parquet files.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?)?;
    /// let source = ParquetSource::from_bytes(std::fs::read(&path).unwrap())?;
    /// assert_eq!(source.load::<u8>()?.as_slice()?, [1, 2, 3, 4]);
    /// assert!(ParquetSource::from_bytes("PAR1").is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self> {
        Self::new(Input::Bytes(bytes.into()), None)
    }

    fn new(input: Input, path: Option<Arc<Path>>) -> Result<Self> {
        let metadata = read_footer(&input, PageIndexPolicy::Skip)?;
        let starts = guarded(LIBRARY, || row_starts(&metadata, input.len()))??.into();
        Ok(Self { input, metadata, indexed: OnceLock::new(), starts, options: ArrowOptions::new(), path })
    }

    /// Sets the options for reading: columns, element types, conversions, replacements for nulls, the layout. Columns
    /// that are not chosen are not read. [`copy`](ArrowOptions::copy) and
    /// [`expected_rows`](ArrowOptions::expected_rows) have no effect: values of a file are always copies, and their
    /// number is known.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::{ArrowOptions, parquet::{ParquetSource, save_parquet}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?)?;
    /// let options = ArrowOptions::new().layout(DataLayout::ColumnMajor);
    /// let table = ParquetSource::open(&path)?.options(options).load::<u8>()?;
    /// assert_eq!(table.as_slice()?, [1, 3, 2, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn options(self, options: ArrowOptions) -> Self {
        Self { options, ..self }
    }

    /// Returns the number of rows and the number of chosen columns.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`], [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::OutOfRange`] if a chosen column does
    /// not exist; [`ErrorKind::Unsupported`] for a chosen column that does not hold numbers.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::{ArrowOptions, parquet::{ParquetSource, save_parquet}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 6]])?)?;
    /// let source = ParquetSource::open(&path)?.options(ArrowOptions::new().columns(1..));
    /// assert_eq!(source.shape()?, Shape { rows: 2, columns: 2 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn shape(&self) -> Result<Shape> {
        Ok(Shape { rows: self.row_count(), columns: self.plan()?.column_count() })
    }

    /// Returns the descriptions of the chosen columns, with the types that they have in
    /// [`load_columns`](Self::load_columns). The words of a column are unknown until its values are read, so columns of
    /// words have no labels here, and the type `u32`, or `f64` under [`nulls_to_nan`](ArrowOptions::nulls_to_nan). So
    /// are nulls: only columns that were nullable in the table which was saved are so here.
    ///
    /// # Errors
    /// Those of [`shape`](Self::shape).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let columns = [("age", AnyArray::from(vec![31_u8])), ("size", AnyArray::from(vec![1.75_f32]))];
    /// save_parquet(&path, &SoaNumericTable::from_columns(columns)?)?;
    /// let dictionary = ParquetSource::open(&path)?.dictionary()?;
    /// assert_eq!(dictionary.index_of("size"), Some(1));
    /// assert_eq!(dictionary.feature(0)?.element_type, ElementType::U8);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn dictionary(&self) -> Result<DataDictionary> {
        let mut plan = self.plan()?;
        plan.grows = true;
        plan.dictionary(None).map_err(|error| self.name_in(error))
    }

    /// Returns the number of row groups: the parts of the file whose rows are stored together.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetSource, ParquetWriteOptions, save_parquet_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let table = HomogenNumericTable::from_rows(&[[1], [2], [3]])?;
    /// save_parquet_with(&path, &table, ParquetWriteOptions::new().rows_per_row_group(2))?;
    /// assert_eq!(ParquetSource::open(&path)?.row_group_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_group_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(super) fn row_count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    pub(super) fn byte_count(&self) -> u64 {
        self.input.length()
    }

    pub(super) fn fields(&self) -> &Fields {
        self.metadata.schema().fields()
    }

    pub(super) fn read_options(&self) -> &ArrowOptions {
        &self.options
    }

    pub(super) fn plan(&self) -> Result<Plan<'_>> {
        Plan::new(self.fields(), &self.options, "batch").map_err(|error| self.name_in(error))
    }

    /// Returns the decoder for all rows.
    pub(super) fn decoder(&self) -> Decoder {
        self.decoder_with(&self.metadata, false)
    }

    fn decoder_with(&self, metadata: &ArrowReaderMetadata, has_index: bool) -> Decoder {
        Decoder { input: self.input.clone(), metadata: metadata.clone(), starts: self.starts.clone(), has_index }
    }

    /// Returns the decoder for some rows. If the file has the positions of its pages, pages before these rows are not
    /// read.
    ///
    /// # Errors
    /// Those of reading the footer.
    pub(super) fn decoder_of_rows(&self) -> Result<Decoder> {
        let metadata = match self.indexed.get() {
            Some(metadata) => metadata,
            None => {
                footer::check_offset_indexes(&self.input, self.metadata.metadata())?;
                let metadata = read_footer(&self.input, PageIndexPolicy::Optional)?;
                // The file may have changed since it was opened.
                if metadata.metadata().file_metadata() != self.metadata.metadata().file_metadata() {
                    return Err(damaged("the footer has changed since the file was opened".to_owned()));
                }
                self.indexed.get_or_init(|| metadata)
            }
        };
        let has_index = metadata.metadata().page_index().is_some();
        Ok(self.decoder_with(metadata, has_index))
    }

    /// Adds the path to an error.
    pub(super) fn name_in(&self, error: Error) -> Error {
        in_file(error, self.path.as_deref())
    }

    pub(super) fn path(&self) -> Option<&Arc<Path>> {
        self.path.as_ref()
    }
}

impl fmt::Debug for ParquetSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetSource")
            .field("path", &self.path)
            .field("rows", &self.row_count())
            .field("row_groups", &self.row_group_count())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The name of the library in errors.
pub(super) const LIBRARY: &str = "the parquet crate";

/// Reads the footer.
fn read_footer(input: &Input, pages: PageIndexPolicy) -> Result<ArrowReaderMetadata> {
    let mut options = ArrowReaderOptions::new().with_offset_index_policy(pages);
    if let Some(schema) = footer::schema_of(input)? {
        options = options.with_parquet_schema(schema);
    }
    guarded(LIBRARY, || ArrowReaderMetadata::load(input, options))?.map_err(failed)
}

/// Returns the first row of each row group, and the number of all rows. Checks positions and numbers in the footer.
///
/// # Errors
/// [`ErrorKind::Format`].
fn row_starts(metadata: &ArrowReaderMetadata, length: u64) -> Result<Vec<usize>> {
    let file = metadata.metadata();
    let (mut starts, mut rows) = (vec![0], 0_usize);
    for (index, group) in file.row_groups().iter().enumerate() {
        let count = usize::try_from(group.num_rows()).ok();
        let sum = count.and_then(|count| rows.checked_add(count));
        rows = sum.ok_or_else(|| damaged(format!("row group {index} claims {} rows", group.num_rows())))?;
        starts.push(rows);
        for column in group.columns() {
            let (start, bytes) = column.byte_range();
            if start.checked_add(bytes).is_none_or(|end| end > length) {
                let name = column.column_path();
                let reason = format!("column {name} of row group {index} is not in the file: {bytes} bytes at {start}");
                return Err(damaged(reason));
            }
        }
    }
    match usize::try_from(file.file_metadata().num_rows()) {
        Ok(claimed) if claimed == rows => Ok(starts),
        _ => {
            let claimed = file.file_metadata().num_rows();
            Err(damaged(format!("the footer claims {claimed} rows, but the row groups have {rows}")))
        }
    }
}

/// Returns the error of a damaged file.
pub(super) fn damaged(reason: String) -> Error {
    Error::new(ErrorKind::Format { offset: 0, reason })
}

/// Returns the error for a failed call of the `parquet` crate.
pub(super) fn failed(source: ::parquet::errors::ParquetError) -> Error {
    Error::new(ErrorKind::Foreign { reason: format!("reading Parquet failed: {source}"), source: source.into() })
}

/// Returns the error of a column that cannot be decoded.
pub(super) fn failed_column(index: usize, name: &str, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    let reason = format!("column {index} ({name}) cannot be decoded: {source}");
    Error::new(ErrorKind::Foreign { reason, source: Box::new(source) })
}
