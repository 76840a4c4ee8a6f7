//! Many Parquet files with the same columns as one table. `gather` reads rows of them, `reduce` computes results.

use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_schema::Fields;
use numeric_table::internal::parallel::in_order;
use numeric_table::{DataDictionary, Error, ErrorKind, Result, Shape, error::Difference, interop::CopyPolicy};

use super::source::{ParquetSource, damaged};
use crate::error::unequal;
use crate::options::ArrowOptions;
use crate::plan::Plan;

/// Cost of opening a file, in bytes read in the same time.
const FILE_BYTES: usize = 64 << 10;
/// Maximum number of files that are open at once while their footers are read.
const FILES_AT_ONCE: usize = 64;

/// Parquet files with the same columns, as one table. Its rows are those of the files, in the order of the files.
///
/// It stores the number of rows of each file, and keeps no file open between calls. A call opens files one after
/// another, at most a few per thread, and fails if the number of rows or the columns of a file have changed.
///
/// The calls are those of [`Shards`], which has table files: a program for one runs with the other after these changes.
///
/// | call | [`Shards`] | `ParquetFiles` |
/// | --- | --- | --- |
/// | `open` | a folder or a manifest | a folder or one file |
/// | `shape`, `dictionary` | known after opening | `Result`: they depend on the [`options`](Self::options) |
/// | `load` | the element type of the files | that type, or one that the options permit: there is no `load_cast` |
/// | `row_blocks` | a loop over `next_block`, with one buffer | an iterator over tables |
/// | `reduce_shards`, `runs`, `verify`, `on_progress` | available | not available: Parquet has no checksums of values |
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// save_parquet(folder.join("part-0.parquet"), &HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?)?;
/// save_parquet(folder.join("part-1.parquet"), &HomogenNumericTable::from_rows(&[[5, 6]])?)?;
/// let files = ParquetFiles::open(folder)?;
/// assert_eq!((files.shard_count(), files.shape()?), (2, Shape { rows: 3, columns: 2 }));
/// assert_eq!(files.load::<i32>()?.as_slice()?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
///
/// [`Shards`]: numeric_table::shards::Shards
#[derive(Clone, Debug)]
pub struct ParquetFiles {
    files: Vec<FileEntry>,
    /// The columns of every file.
    fields: Fields,
    options: ArrowOptions,
}

/// The known properties of a file that is not open.
#[derive(Clone, Debug)]
struct FileEntry {
    path: PathBuf,
    /// Number of rows of the files before it.
    first_row: usize,
    rows: usize,
    bytes: u64,
}

/// One of the files of a [`ParquetFiles`].
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::parquet::{ParquetFileInfo, ParquetFiles, save_parquet};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("a.parquet");
/// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?)?;
/// let files = ParquetFiles::open(&path)?;
/// let first: ParquetFileInfo<'_> = files.files().next().unwrap();
/// assert_eq!((first.path, first.rows), (&*path, 0..2));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParquetFileInfo<'f> {
    /// The path of the file.
    pub path: &'f Path,
    /// The rows of the whole table that are in the file.
    pub rows: Range<usize>,
    /// The size of the file in bytes.
    pub bytes: u64,
}

impl ParquetFiles {
    /// Opens all files of a folder whose names end with `.parquet`, in the order of their names, and reads their
    /// footers. Ignores subfolders, and files whose names begin with a dot or an underscore. The path of a file opens
    /// that file alone.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; those of [`ParquetSource::open`]; [`ErrorKind::UnequalTables`] with the first file whose
    /// columns differ from those of the first file; [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path();
    /// save_parquet(folder.join("b.parquet"), &HomogenNumericTable::from_rows(&[[3, 4]])?)?;
    /// save_parquet(folder.join("a.parquet"), &HomogenNumericTable::from_rows(&[[1, 2]])?)?;
    /// assert_eq!(ParquetFiles::open(folder)?.load::<i32>()?.as_slice()?, [1, 2, 3, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let folder = path.as_ref();
        if folder.is_file() {
            return Self::from_paths([folder]);
        }
        let failed = |source| Error::io(folder, source);
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.ends_with(".parquet") && !name.starts_with(['.', '_']) && path.is_file() {
                paths.push(path);
            }
        }
        paths.sort();
        Self::from_paths(paths)
    }

    /// Opens files, in the given order, and reads their footers. Many footers are read in parallel.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// let [first, second] = ["a.parquet", "b.parquet"].map(|name| folder.path().join(name));
    /// save_parquet(&first, &HomogenNumericTable::from_rows(&[[1, 2]])?)?;
    /// save_parquet(&second, &HomogenNumericTable::from_rows(&[[3, 4]])?)?;
    /// let files = ParquetFiles::from_paths([&second, &first])?;
    /// assert_eq!(files.load::<i32>()?.as_slice()?, [3, 4, 1, 2]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_paths<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        let paths: Vec<PathBuf> = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        let bytes = paths.len().saturating_mul(FILE_BYTES);
        let mut all = Self { files: Vec::new(), fields: Fields::empty(), options: ArrowOptions::new() };
        let read = |path: PathBuf| {
            let source = ParquetSource::open(&path)?;
            Ok((path, source.row_count(), source.byte_count(), source.fields().clone()))
        };
        in_order(paths.into_iter(), bytes, FILES_AT_ONCE, read, |(path, rows, bytes, fields)| {
            if all.files.is_empty() {
                all.fields = fields;
            } else {
                let same = check_columns(all.files.len(), &fields, &all.fields);
                same.map_err(|error| error.in_file(&path))?;
            }
            let first_row = all.row_count();
            let shape = Shape { rows: usize::MAX, columns: all.fields.len() };
            let overflow = || Error::new(ErrorKind::SizeOverflow { shape, element: None }).in_file(&path);
            first_row.checked_add(rows).ok_or_else(overflow)?;
            all.files.try_reserve(1).map_err(|_| Error::out_of_memory(size_of::<FileEntry>()))?;
            all.files.push(FileEntry { path, first_row, rows, bytes });
            Ok(())
        })?;
        Ok(all)
    }

    /// Sets the options for reading every file, as [`ParquetSource::options`] does.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::{ArrowOptions, parquet::{ParquetFiles, save_parquet}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?)?;
    /// let files = ParquetFiles::open(folder.path())?.options(ArrowOptions::new().columns([1]));
    /// assert_eq!(files.load::<i32>()?.as_slice()?, [2, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn options(self, options: ArrowOptions) -> Self {
        Self { options: options.copy(CopyPolicy::IfNeeded), ..self }
    }

    /// Returns the number of files.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_arrow::parquet::ParquetFiles;
    /// # let folder = tempfile::tempdir().unwrap();
    /// assert_eq!(ParquetFiles::open(folder.path())?.shard_count(), 0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn shard_count(&self) -> usize {
        self.files.len()
    }

    /// Returns the files, in order, with their rows.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &HomogenNumericTable::from_rows(&[[1.5], [2.5]])?)?;
    /// save_parquet(folder.path().join("b.parquet"), &HomogenNumericTable::from_rows(&[[3.5]])?)?;
    /// let rows: Vec<_> = ParquetFiles::open(folder.path())?.files().map(|file| file.rows).collect();
    /// assert_eq!(rows, [0..2, 2..3]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn files(&self) -> impl ExactSizeIterator<Item = ParquetFileInfo<'_>> {
        self.files.iter().map(|file| {
            let FileEntry { path, first_row, rows, bytes } = file;
            ParquetFileInfo { path, rows: *first_row..first_row + rows, bytes: *bytes }
        })
    }

    /// Returns the total number of rows, and the number of chosen columns.
    ///
    /// # Errors
    /// Those of [`ParquetSource::shape`], except the path.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &HomogenNumericTable::from_rows(&[[1, 2, 3]])?)?;
    /// assert_eq!(ParquetFiles::open(folder.path())?.shape()?, Shape { rows: 1, columns: 3 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn shape(&self) -> Result<Shape> {
        Ok(Shape { rows: self.row_count(), columns: self.plan()?.column_count() })
    }

    /// Returns the descriptions of the chosen columns, as [`ParquetSource::dictionary`] does.
    ///
    /// # Errors
    /// Those of [`shape`](Self::shape).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &SoaNumericTable::from_columns([("age", vec![31_u8])])?)?;
    /// assert_eq!(ParquetFiles::open(folder.path())?.dictionary()?.index_of("age"), Some(0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn dictionary(&self) -> Result<DataDictionary> {
        let mut plan = self.plan()?;
        plan.grows = true;
        plan.dictionary(None)
    }

    pub(super) fn plan(&self) -> Result<Plan<'_>> {
        // With no file there is no column to choose.
        static ALL: std::sync::LazyLock<ArrowOptions> = std::sync::LazyLock::new(ArrowOptions::new);
        Plan::new(&self.fields, if self.files.is_empty() { &ALL } else { &self.options }, "batch")
    }

    pub(super) fn fields(&self) -> &Fields {
        &self.fields
    }

    pub(super) fn read_options(&self) -> &ArrowOptions {
        &self.options
    }

    pub(super) fn row_count(&self) -> usize {
        self.files.last().map_or(0, |last| last.first_row + last.rows)
    }

    pub(super) fn path_of(&self, file: usize) -> &Path {
        &self.files[file].path
    }

    pub(super) fn rows_of(&self, file: usize) -> usize {
        self.files[file].rows
    }

    pub(super) fn bytes_of(&self, file: usize) -> u64 {
        self.files[file].bytes
    }

    /// Returns the files that have some of the rows, with their own numbers of these rows.
    pub(super) fn parts_of(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let first = self.files.partition_point(|file| file.first_row + file.rows <= rows.start);
        let files = self.files.iter().enumerate().skip(first).take_while(move |(_, file)| file.first_row < rows.end);
        let parts = files.map(move |(index, file)| {
            let start = rows.start.saturating_sub(file.first_row);
            (index, start..file.rows.min(rows.end - file.first_row))
        });
        parts.filter(|(_, rows)| !rows.is_empty())
    }

    /// Opens a file again.
    ///
    /// # Errors
    /// Those of [`ParquetSource::open`]; [`ErrorKind::Format`] if its rows or columns have changed.
    pub(super) fn source(&self, file: usize) -> Result<ParquetSource> {
        let FileEntry { path, rows, .. } = &self.files[file];
        let source = ParquetSource::open(path)?;
        if source.row_count() != *rows || check_columns(file, source.fields(), &self.fields).is_err() {
            return Err(damaged("the file has changed since it was opened".to_owned()).in_file(path));
        }
        Ok(source.options(self.options.clone()))
    }
}

/// Checks that a file has the columns of the first one.
fn check_columns(table: usize, found: &Fields, expected: &Fields) -> Result<()> {
    let refused = |column, difference, reason| Err(unequal(table, column, difference, reason));
    if found.len() != expected.len() {
        let reason = format!("expected {} columns, found {}", expected.len(), found.len());
        return refused(None, Difference::Columns, reason);
    }
    for (column, (found, expected)) in found.iter().zip(expected).enumerate() {
        if found.name() != expected.name() {
            let reason = format!("the name {:?} instead of {:?}", found.name(), expected.name());
            return refused(Some(column), Difference::Description, reason);
        }
        if found.data_type() != expected.data_type() {
            let reason = format!("{} instead of {}", found.data_type(), expected.data_type());
            return refused(Some(column), Difference::Description, reason);
        }
    }
    Ok(())
}
