//! Tables as Parquet files.

use std::path::Path;

use ::parquet::arrow::arrow_writer::ArrowWriter;
use ::parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatch;
use numeric_table::internal::replace_file;
use numeric_table::table::AsTable;
use numeric_table::{Error, ErrorKind, NumericTable, Result};

use crate::blocks::blocks_of;
use crate::export::ArrowTables;
use crate::options::ArrowExportOptions;

/// Number of values that are written at a time, summed over all columns.
const STEP_VALUES: usize = 1 << 20;
/// Maximum number of rows that are written at a time.
const STEP_ROWS: usize = 64 << 10;

/// The compression of the pages of a Parquet file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParquetCompression {
    /// No compression.
    None,
    /// Snappy, the fastest to read.
    #[default]
    Snappy,
    /// Gzip, which every reader supports.
    Gzip,
    /// LZ4, without a frame around each page.
    Lz4,
    /// Zstandard at its fastest level. Files are still smaller than with Snappy.
    Zstd,
    /// Brotli.
    Brotli,
}

impl ParquetCompression {
    fn in_file(self) -> Compression {
        match self {
            Self::None => Compression::UNCOMPRESSED,
            Self::Snappy => Compression::SNAPPY,
            Self::Gzip => Compression::GZIP(GzipLevel::default()),
            Self::Lz4 => Compression::LZ4_RAW,
            Self::Zstd => Compression::ZSTD(ZstdLevel::default()),
            Self::Brotli => Compression::BROTLI(BrotliLevel::default()),
        }
    }
}

/// Options for writing Parquet files.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::parquet::{ParquetCompression, ParquetSource, ParquetWriteOptions, save_parquet_with};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table.parquet");
/// let table = HomogenNumericTable::from_rows(&[[1.5, 2.5], [3.5, 4.5]])?;
/// let options = ParquetWriteOptions::new().compression(ParquetCompression::Zstd).rows_per_row_group(1);
/// save_parquet_with(&path, &table, options)?;
/// assert_eq!(ParquetSource::open(&path)?.load::<f64>()?, table);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ParquetWriteOptions {
    compression: ParquetCompression,
    rows_per_row_group: usize,
    has_dictionaries: bool,
    export: ArrowExportOptions,
}

impl ParquetWriteOptions {
    /// Creates the default options: Snappy, 1 Mi rows in a row group, no dictionaries of numbers, NaN unchanged, and
    /// categories as words.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::parquet::{ParquetWriteOptions, save_parquet_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// save_parquet_with(&path, &HomogenNumericTable::from_rows(&[[1, 2]])?, ParquetWriteOptions::new())?;
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new() -> Self {
        Self {
            compression: ParquetCompression::default(),
            rows_per_row_group: 1 << 20,
            has_dictionaries: false,
            export: ArrowExportOptions::new(),
        }
    }

    /// Sets the compression.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::parquet::{ParquetCompression, ParquetWriteOptions, save_parquet_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let table = HomogenNumericTable::full(Shape { rows: 9999, columns: 2 }, 0.5)?;
    /// let options = ParquetWriteOptions::new();
    /// let length = |compression| {
    ///     save_parquet_with(&path, &table, options.compression(compression))?;
    ///     Ok::<_, Error>(path.metadata().unwrap().len())
    /// };
    /// assert!(length(ParquetCompression::Zstd)? < length(ParquetCompression::None)?);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compression(self, compression: ParquetCompression) -> Self {
        Self { compression, ..self }
    }

    /// Sets the number of rows of a row group. Readers decode several row groups at a time, and need memory for one or
    /// more of them. Each row group takes about 100 bytes per column in the footer. 0 counts as 1.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::parquet::{ParquetSource, ParquetWriteOptions, save_parquet_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// save_parquet_with(&path, &table, ParquetWriteOptions::new().rows_per_row_group(1))?;
    /// assert_eq!(ParquetSource::open(&path)?.row_group_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn rows_per_row_group(self, rows: usize) -> Self {
        Self { rows_per_row_group: rows.max(1), ..self }
    }

    /// Sets whether columns of numbers are stored as indices of their distinct values while these are few. Files of
    /// measurements with few distinct values become smaller, and writing becomes slower. Words are always stored in
    /// this way.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::parquet::{ParquetCompression, ParquetWriteOptions, save_parquet_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let table = HomogenNumericTable::from_fn(Shape { rows: 3333, columns: 3 }, |row, _| (row % 7) as f64)?;
    /// let length = |has_dictionaries| {
    ///     let options = ParquetWriteOptions::new().compression(ParquetCompression::None);
    ///     save_parquet_with(&path, &table, options.dictionaries(has_dictionaries))?;
    ///     Ok::<_, Error>(path.metadata().unwrap().len())
    /// };
    /// assert!(length(true)? < length(false)?);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn dictionaries(self, has_dictionaries: bool) -> Self {
        Self { has_dictionaries, ..self }
    }

    /// Sets whether NaN becomes null, as [`ArrowExportOptions::nan_to_null`] does.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::{ArrowOptions, parquet::{ParquetSource, ParquetWriteOptions, save_parquet_with}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let table = HomogenNumericTable::from_rows(&[[1.5, f64::NAN]])?;
    /// save_parquet_with(&path, &table, ParquetWriteOptions::new().nan_to_null(true))?;
    /// let source = ParquetSource::open(&path)?;
    /// assert!(source.load::<f64>().is_err());
    /// let zeros = source.options(ArrowOptions::new().nulls_to(0));
    /// assert_eq!(zeros.load::<f64>()?.as_slice()?, [1.5, 0.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nan_to_null(self, has_null_for_nan: bool) -> Self {
        Self { export: self.export.nan_to_null(has_null_for_nan), ..self }
    }

    /// Sets whether categories with labels are written as their labels, as [`ArrowExportOptions::labels`] does.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{dictionary::Categories, prelude::*};
    /// # use numeric_table_arrow::parquet::{ParquetSource, ParquetWriteOptions, save_parquet_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let color = Feature::new(ElementType::U8).categorical(Categories::from_labels(["red", "blue"])?);
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [0]])?.with_dictionary([color].into_iter().collect())?;
    /// let has_labels = |options| {
    ///     save_parquet_with(&path, &table, options)?;
    ///     let table = ParquetSource::open(&path)?.load::<u8>()?;
    ///     let categories = table.dictionary().feature(0)?.categories.clone();
    ///     Ok::<_, Error>(categories.is_some_and(|categories| categories.has_labels()))
    /// };
    /// assert!(has_labels(ParquetWriteOptions::new())?);
    /// assert!(!has_labels(ParquetWriteOptions::new().labels(false))?);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn labels(self, has_labels: bool) -> Self {
        Self { export: self.export.labels(has_labels), ..self }
    }
}

impl Default for ParquetWriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes a table of any kind to a Parquet file, some rows at a time. The file is replaced atomically.
///
/// Names, kinds and categories of columns are stored in Arrow's schema in the file. A column without a name gets a
/// placeholder, which is ignored when the file is read. Labels of categories become dictionaries of text. Dates and
/// times become those of Parquet if Arrow has the type. Readers that do not know Arrow's schema see a column of `u8` or
/// `f16` as Parquet stores it.
///
/// # Errors
/// [`ErrorKind::Unsupported`] or [`ErrorKind::UnsupportedElementType`] for columns of `bf16`, which Parquet does not
/// have; [`ErrorKind::Io`]; [`ErrorKind::Foreign`]; those of reading the table. The file at the path is then unchanged.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table.parquet");
/// let table = HomogenNumericTable::from_rows(&[[1_i64, 2, 3], [4, 5, 6]])?;
/// save_parquet(&path, &table)?;
/// assert_eq!(ParquetSource::open(&path)?.load::<i64>()?, table);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn save_parquet(path: impl AsRef<Path>, table: &(impl AsTable + ?Sized)) -> Result<()> {
    save_parquet_with(path, table, ParquetWriteOptions::new())
}

/// Writes a Parquet file as [`save_parquet`] does, with options.
///
/// # Errors
/// Those of [`save_parquet`].
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::parquet::{ParquetCompression, ParquetSource, ParquetWriteOptions, save_parquet_with};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table.parquet");
/// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
/// save_parquet_with(&path, &table, ParquetWriteOptions::new().compression(ParquetCompression::Gzip))?;
/// assert_eq!(ParquetSource::open(&path)?.load::<u8>()?, table);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn save_parquet_with(
    path: impl AsRef<Path>,
    table: &(impl AsTable + ?Sized),
    options: ParquetWriteOptions,
) -> Result<()> {
    let table = table.as_table();
    let step = (STEP_VALUES / table.shape().columns.max(1)).clamp(1, STEP_ROWS).min(options.rows_per_row_group);
    save_parquet_blocks(path, blocks_of(table, step), options)
}

/// Writes the rows of blocks, one block after the other, as one Parquet file. A block at a time is in memory, and the
/// row group that is being written, so the rows may come from a file that is larger than memory. The file at the path
/// is replaced atomically, and stays as it was if a block is an error.
///
/// The first block decides the columns: their names, types and kinds. If values of a later block may be missing, the
/// columns of the first one must be nullable.
///
/// # Errors
/// The first error of the blocks; those of [`save_parquet`]; [`ErrorKind::Foreign`] for blocks with other columns, and
/// if `blocks` is empty.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::parquet::{ParquetSource, ParquetWriteOptions, save_parquet_blocks};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table.parquet");
/// let block = |number| HomogenNumericTable::from_rows(&[[number, 2 * number]]);
/// let blocks = (0..3).map(|number| Ok(Box::new(block(number)?) as Box<dyn NumericTable>));
/// save_parquet_blocks(&path, blocks, ParquetWriteOptions::new())?;
/// assert_eq!(ParquetSource::open(&path)?.load::<i32>()?.as_slice()?, [0, 0, 1, 2, 2, 4]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn save_parquet_blocks<'t>(
    path: impl AsRef<Path>,
    blocks: impl IntoIterator<Item = Result<Box<dyn NumericTable + 't>>>,
    options: ParquetWriteOptions,
) -> Result<()> {
    let (path, mut blocks) = (path.as_ref(), blocks.into_iter());
    let batch = |block: Result<Box<dyn NumericTable + 't>>| -> Result<RecordBatch> {
        let block = block?;
        let shape = block.shape();
        if shape.columns == 0 && shape.rows > 0 {
            return Err(Error::new(ErrorKind::NotWholeRows { values: 0, columns: 0 }).in_file(path));
        }
        block.as_ref().to_record_batch_with(options.export)
    };
    let first = blocks.next().unwrap_or_else(|| Err(foreign("there are no rows".into(), "no block".into())));
    let first = batch(first)?;
    let schema = first.schema();
    let mut properties = WriterProperties::builder()
        .set_compression(options.compression.in_file())
        .set_dictionary_enabled(options.has_dictionaries)
        .set_max_row_group_row_count(Some(options.rows_per_row_group));
    for field in schema.fields().iter().filter(|field| crate::words::is_words(field.data_type())) {
        let column = ::parquet::schema::types::ColumnPath::new(vec![field.name().clone()]);
        properties = properties.set_column_dictionary_enabled(column, true);
    }
    replace_file(path, |file| {
        let failed = |error| write_failed(path, error);
        let mut writer = ArrowWriter::try_new(file, schema, Some(properties.build())).map_err(failed)?;
        writer.write(&first).map_err(failed)?;
        drop(first);
        for block in blocks {
            writer.write(&batch(block)?).map_err(failed)?;
        }
        writer.close().map(drop).map_err(failed)
    })
}

/// Returns the error for a file that cannot be written.
fn write_failed(path: &Path, source: ParquetError) -> Error {
    match source {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => Error::io(path, *source),
            Err(source) => foreign(source.to_string(), source),
        },
        source => foreign(source.to_string(), source.into()),
    }
    .in_file(path)
}

fn foreign(reason: String, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::new(ErrorKind::Foreign { reason: format!("writing Parquet failed: {reason}"), source })
}
