//! Tables as files and streams in Arrow's IPC format.

use std::io::Write;
use std::path::Path;

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions as ArrowIpcOptions, StreamWriter};
use arrow_schema::ArrowError;
use numeric_table::internal::replace_file;
use numeric_table::table::AsTable;
use numeric_table::{Error, ErrorKind, NumericTable, Result};

use crate::blocks::blocks_of;
use crate::error::failed;
use crate::export::ArrowTables;
use crate::options::ArrowExportOptions;

/// Number of values, of all columns together, in a record batch.
const BATCH_VALUES: usize = 1 << 21;
/// Largest number of rows of a record batch.
const BATCH_ROWS: usize = 128 << 10;

/// How the buffers of an IPC file are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IpcCompression {
    /// Not at all.
    #[default]
    None,
    /// LZ4, in frames.
    Lz4,
    /// Zstandard.
    Zstd,
}

/// Options for writing files in Arrow's IPC format.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::ipc::{IpcCompression, IpcSource, IpcWriteOptions, save_ipc_with};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table.arrows");
/// let table = HomogenNumericTable::from_rows(&[[1.5, 2.5], [3.5, 4.5]])?;
/// save_ipc_with(&path, &table, IpcWriteOptions::new().compression(IpcCompression::Zstd).stream(true))?;
/// assert_eq!(IpcSource::open(&path)?.load::<f64>()?, table);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct IpcWriteOptions {
    compression: IpcCompression,
    is_stream: bool,
    export: ArrowExportOptions,
}

impl IpcWriteOptions {
    /// Creates the default options: a file, not compressed, NaN as it is, and categories as words.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::ipc::{IpcWriteOptions, save_ipc_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// save_ipc_with(&path, &HomogenNumericTable::from_rows(&[[1, 2]])?, IpcWriteOptions::new())?;
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new() -> Self {
        Self { compression: IpcCompression::None, is_stream: false, export: ArrowExportOptions::new() }
    }

    /// Sets the compression.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::ipc::{IpcCompression, IpcSource, IpcWriteOptions, save_ipc_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// let table = HomogenNumericTable::full(Shape { rows: 9999, columns: 2 }, 0.5)?;
    /// save_ipc_with(&path, &table, IpcWriteOptions::new().compression(IpcCompression::Lz4))?;
    /// assert!(path.metadata().unwrap().len() < 16 * 9999);
    /// assert_eq!(IpcSource::open(&path)?.load::<f64>()?, table);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn compression(self, compression: IpcCompression) -> Self {
        Self { compression, ..self }
    }

    /// Sets whether the format is that of streams, which have no footer.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::ipc::{IpcSource, IpcWriteOptions, save_ipc_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrows");
    /// let table = HomogenNumericTable::from_rows(&[[1, 2]])?;
    /// save_ipc_with(&path, &table, IpcWriteOptions::new().stream(true))?;
    /// assert_ne!(std::fs::read(&path).unwrap()[..6], *b"ARROW1");
    /// assert_eq!(IpcSource::open(&path)?.load::<i32>()?, table);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn stream(self, is_stream: bool) -> Self {
        Self { is_stream, ..self }
    }

    /// Sets whether NaN becomes null, as [`ArrowExportOptions::nan_to_null`] does.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::ipc::{IpcSource, IpcWriteOptions, save_ipc_with};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.arrow");
    /// let table = HomogenNumericTable::from_rows(&[[1.5, f64::NAN]])?;
    /// save_ipc_with(&path, &table, IpcWriteOptions::new().nan_to_null(true))?;
    /// assert!(IpcSource::open(&path)?.load::<f64>().is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nan_to_null(self, has_null_for_nan: bool) -> Self {
        Self { export: self.export.nan_to_null(has_null_for_nan), ..self }
    }
}

impl Default for IpcWriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes a table of any kind to a file in Arrow's IPC format, some rows at a time. The file is replaced all or
/// nothing. Names, kinds and categories of columns are stored in the schema, as those of record batches.
///
/// # Errors
/// [`ErrorKind::Unsupported`] or [`ErrorKind::UnsupportedElementType`] for columns of `bf16`; [`ErrorKind::Io`];
/// [`ErrorKind::Foreign`]; those of reading the table. The file at the path is then unchanged.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::ipc::{IpcSource, save_ipc};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table.arrow");
/// let table = HomogenNumericTable::from_rows(&[[1_i64, 2, 3], [4, 5, 6]])?;
/// save_ipc(&path, &table)?;
/// assert_eq!(IpcSource::open(&path)?.load::<i64>()?, table);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn save_ipc(path: impl AsRef<Path>, table: &(impl AsTable + ?Sized)) -> Result<()> {
    save_ipc_with(path, table, IpcWriteOptions::new())
}

/// Writes a file as [`save_ipc`] does, with options.
///
/// # Errors
/// Those of [`save_ipc`].
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::ipc::{IpcCompression, IpcSource, IpcWriteOptions, save_ipc_with};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table.arrow");
/// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
/// save_ipc_with(&path, &table, IpcWriteOptions::new().compression(IpcCompression::Lz4))?;
/// assert_eq!(IpcSource::open(&path)?.load::<u8>()?, table);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn save_ipc_with(path: impl AsRef<Path>, table: &(impl AsTable + ?Sized), options: IpcWriteOptions) -> Result<()> {
    let table = table.as_table();
    let step = (BATCH_VALUES / table.shape().columns.max(1)).clamp(1, BATCH_ROWS);
    save_ipc_blocks(path, blocks_of(table, step), options)
}

/// Writes the rows of blocks, a batch of each, as one file. A block at a time is in memory, so the rows may come from a
/// file that is larger than memory. The file at the path is replaced atomically, and stays as it was if a block is an
/// error.
///
/// The first block decides the columns: their names, types and kinds.
///
/// # Errors
/// The first error of the blocks; those of [`save_ipc`]; [`ErrorKind::Foreign`] for blocks with other columns, and if
/// `blocks` is empty.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::ipc::{IpcSource, IpcWriteOptions, save_ipc_blocks};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("table.arrow");
/// let block = |number| HomogenNumericTable::from_rows(&[[number, 2 * number]]);
/// let blocks = (0..3).map(|number| Ok(Box::new(block(number)?) as Box<dyn NumericTable>));
/// save_ipc_blocks(&path, blocks, IpcWriteOptions::new())?;
/// assert_eq!(IpcSource::open(&path)?.load::<i32>()?.as_slice()?, [0, 0, 1, 2, 2, 4]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn save_ipc_blocks<'t>(
    path: impl AsRef<Path>,
    blocks: impl IntoIterator<Item = Result<Box<dyn NumericTable + 't>>>,
    options: IpcWriteOptions,
) -> Result<()> {
    let (path, mut blocks) = (path.as_ref(), blocks.into_iter());
    let compression = match options.compression {
        IpcCompression::None => None,
        IpcCompression::Lz4 => Some(CompressionType::LZ4_FRAME),
        IpcCompression::Zstd => Some(CompressionType::ZSTD),
    };
    let format = ArrowIpcOptions::default().try_with_compression(compression).map_err(failed)?;
    let no_rows = || Err(failed(ArrowError::InvalidArgumentError("there are no rows".into())));
    let first = blocks.next().unwrap_or_else(no_rows)?.as_ref().to_record_batch_with(options.export)?;
    let schema = first.schema();
    replace_file(path, |file| {
        let failed = |error| write_failed(path, error);
        let mut writer: Box<dyn BatchWriter + '_> = match options.is_stream {
            true => Box::new(StreamWriter::try_new_with_options(file, &schema, format).map_err(failed)?),
            false => Box::new(FileWriter::try_new_with_options(file, &schema, format).map_err(failed)?),
        };
        writer.put(&first).map_err(failed)?;
        drop(first);
        for block in blocks {
            let batch = block?.as_ref().to_record_batch_with(options.export)?;
            // The writer of the format does not compare them.
            if batch
                .schema()
                .fields()
                .iter()
                .map(|field| field.data_type())
                .ne(schema.fields().iter().map(|field| field.data_type()))
            {
                return Err(failed(ArrowError::SchemaError("the columns of a block have other types".into())));
            }
            writer.put(&batch).map_err(failed)?;
        }
        writer.end().map_err(failed)
    })
}

/// Writers of both formats.
trait BatchWriter {
    fn put(&mut self, batch: &arrow_array::RecordBatch) -> Result<(), ArrowError>;
    fn end(&mut self) -> Result<(), ArrowError>;
}

impl<W: Write> BatchWriter for FileWriter<W> {
    fn put(&mut self, batch: &arrow_array::RecordBatch) -> Result<(), ArrowError> {
        self.write(batch)
    }

    fn end(&mut self) -> Result<(), ArrowError> {
        self.finish()
    }
}

impl<W: Write> BatchWriter for StreamWriter<W> {
    fn put(&mut self, batch: &arrow_array::RecordBatch) -> Result<(), ArrowError> {
        self.write(batch)
    }

    fn end(&mut self) -> Result<(), ArrowError> {
        self.finish()
    }
}

/// Returns the error of a file that cannot be written.
fn write_failed(path: &Path, source: ArrowError) -> Error {
    match source {
        ArrowError::IoError(_, source) => Error::io(path, source),
        source => {
            let reason = format!("writing Arrow's IPC format failed: {source}");
            Error::new(ErrorKind::Foreign { reason, source: source.into() }).in_file(path)
        }
    }
}
