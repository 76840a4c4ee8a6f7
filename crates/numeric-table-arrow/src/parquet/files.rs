//! Many Parquet files with the same columns as one table.

use std::ops::Range;
use std::path::{Path, PathBuf};

use numeric_table::internal::parallel::{map, serially, task_count};
use numeric_table::{
    AllocationFlag, DataDictionary, DataLayout, Element, Error, ErrorKind, HomogenNumericTable, Partial, Result, Shape,
    error::Difference,
};

use super::load::fill_rows;
use super::source::ParquetSource;
use crate::blocks::FileRowBlocks;
use crate::error::unequal;
use crate::options::ArrowOptions;
use crate::steps::Step;

/// Approximate number of values that one task reduces.
const UNIT_VALUES: usize = 4 << 20;
/// Number of values that are passed to a result at a time.
const BLOCK_VALUES: usize = 128 << 10;

/// Parquet files with the same columns, as one table. Its rows are those of the files, in the order of the files.
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
/// assert_eq!((files.file_count(), files.shape()?), (2, Shape { rows: 3, columns: 2 }));
/// assert_eq!(files.load::<i32>()?.as_slice()?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParquetFiles {
    sources: Vec<ParquetSource>,
}

impl ParquetFiles {
    /// Opens all files of a folder whose names end with `.parquet`, in the order of their names, and reads their
    /// footers. Ignores subfolders, and files whose names begin with a dot or an underscore.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; those of [`ParquetSource::open`]; [`ErrorKind::UnequalTables`] with the first file whose
    /// columns differ from those of the first file.
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
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
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

    /// Opens files, in the given order, and reads their footers.
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
        let sources = paths.into_iter().map(ParquetSource::open).collect::<Result<Vec<_>>>()?;
        if let Some(first) = sources.first() {
            for (table, source) in sources.iter().enumerate() {
                check_columns(table, source, first).map_err(|error| source.name_in(error))?;
            }
        }
        Ok(Self { sources })
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
        Self { sources: self.sources.into_iter().map(|source| source.options(options.clone())).collect() }
    }

    /// Returns the number of files.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_arrow::parquet::ParquetFiles;
    /// # let folder = tempfile::tempdir().unwrap();
    /// assert_eq!(ParquetFiles::open(folder.path())?.file_count(), 0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn file_count(&self) -> usize {
        self.sources.len()
    }

    /// Returns the total number of rows, and the number of chosen columns.
    ///
    /// # Errors
    /// Those of [`ParquetSource::shape`]; [`ErrorKind::SizeOverflow`].
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
        let columns = self.sources.first().map_or(Ok(0), |first| first.shape().map(|shape| shape.columns))?;
        let mut counts = self.sources.iter().map(ParquetSource::row_count);
        let overflow =
            || Error::new(ErrorKind::SizeOverflow { shape: Shape { rows: usize::MAX, columns }, element: None });
        let rows = counts.try_fold(0_usize, |rows, count| rows.checked_add(count)).ok_or_else(overflow)?;
        Ok(Shape { rows, columns })
    }

    /// Returns the descriptions of the chosen columns: those that [`ParquetSource::dictionary`] returns for the first
    /// file.
    ///
    /// # Errors
    /// Those of [`ParquetSource::shape`].
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
        self.sources.first().map_or_else(|| Ok(DataDictionary::from_features([])), ParquetSource::dictionary)
    }

    /// Loads all rows as a table of one element type. A word has the same index in all files. A column-major table is
    /// created as a row-major one and then copied.
    ///
    /// # Errors
    /// Those of [`ParquetSource::load`], with the path and the row in the file.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &HomogenNumericTable::from_rows(&[[1.5], [2.5]])?)?;
    /// save_parquet(folder.path().join("b.parquet"), &HomogenNumericTable::from_rows(&[[3.5]])?)?;
    /// assert_eq!(ParquetFiles::open(folder.path())?.load::<f64>()?.as_slice()?, [1.5, 2.5, 3.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn load<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        let shape = self.shape()?;
        let allocate =
            || HomogenNumericTable::<T>::new_with_layout(shape, AllocationFlag::DoAllocate, DataLayout::RowMajor);
        let Some(first) = self.sources.first() else { return allocate() };
        let mut plan = first.plan()?;
        self.sources.iter().try_for_each(|source| source.check_claims::<T>(&plan))?;
        let mut table = allocate()?;
        let mut target = if shape.is_empty() { &mut [][..] } else { table.as_mut_slice()? };
        for source in &self.sources {
            let (own, rest) = target.split_at_mut(source.row_count() * shape.columns);
            let lane = source.decoder().lane(plan.indices(), 0..source.row_count());
            let filled = lane.and_then(|lane| fill_rows(&mut plan, lane, own));
            filled.map_err(|error| source.name_in(error))?;
            target = rest;
        }
        let table = table.with_dictionary(plan.dictionary(|_| T::TYPE)?)?;
        match first.read_options().layout {
            DataLayout::RowMajor => Ok(table),
            layout => table.to_layout(layout),
        }
    }

    /// Returns an iterator over blocks of rows, as [`ParquetSource::row_blocks`] does. A block may contain rows of
    /// several files.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] for blocks of 0 rows; those of [`shape`](Self::shape). From the iterator, those
    /// of [`load`](Self::load).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &HomogenNumericTable::from_rows(&[[1.5]])?)?;
    /// save_parquet(folder.path().join("b.parquet"), &HomogenNumericTable::from_rows(&[[3.5], [4.5]])?)?;
    /// let files = ParquetFiles::open(folder.path())?;
    /// let rows = files.row_blocks::<f64>(2)?.map(|block| Ok(block?.row_count())).collect::<Result<Vec<_>, Error>>()?;
    /// assert_eq!(rows, [2, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_blocks<T: Element>(&self, rows: usize) -> Result<FileRowBlocks<'_, T>> {
        let Some(first) = self.sources.first() else {
            static DEFAULT: std::sync::LazyLock<ArrowOptions> = std::sync::LazyLock::new(ArrowOptions::new);
            return FileRowBlocks::new(&arrow_schema::Fields::empty(), std::iter::empty(), &DEFAULT, rows);
        };
        let columns: Vec<usize> = first.plan()?.indices().collect();
        let steps = self.sources.iter().flat_map(move |source| -> Box<dyn Iterator<Item = Result<Step>> + Send + '_> {
            match source.steps(&columns) {
                Ok(steps) => Box::new(steps),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        });
        FileRowBlocks::new(first.fields(), steps, first.read_options(), rows)
    }

    /// Computes a result over all rows: starts with [`new_like`](Partial::new_like) of the prototype, and adds blocks
    /// of rows that are read as `T`. Parts of files are processed in parallel (feature `rayon`).
    ///
    /// The division of files into parts, at row groups, does not depend on the number of threads. The results of the
    /// parts are merged in row order, so the result has the same bits for any number of threads.
    ///
    /// # Errors
    /// The first error in the order of the rows: those of [`load`](Self::load), with the path; those of
    /// [`Partial::update`] and [`Partial::merge`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &HomogenNumericTable::from_rows(&[[1.0, 2.0], [3.0, 4.0]])?)?;
    /// save_parquet(folder.path().join("b.parquet"), &HomogenNumericTable::from_rows(&[[5.0, 9.0]])?)?;
    /// let files = ParquetFiles::open(folder.path())?;
    /// let statistics = files.reduce::<f64, _>(&BasicStatistics::new(2)?)?;
    /// assert_eq!(statistics.per_column()[1].mean(), 5.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn reduce<T: Element, P: Partial>(&self, prototype: &P) -> Result<P> {
        let columns = self.shape()?.columns;
        let block = (BLOCK_VALUES / columns.max(1)).max(1);
        let mut units: Vec<(&ParquetSource, Range<usize>)> = Vec::new();
        for source in &self.sources {
            let rows = 0..source.row_count();
            let count = rows.len().saturating_mul(columns).div_ceil(UNIT_VALUES).max(1);
            units.extend(source.decoder().cuts(&rows, count).into_iter().map(|rows| (source, rows)));
        }
        let mut all = prototype.new_like()?;
        for some in units.chunks(task_count(usize::MAX)) {
            let found = map(some.to_vec(), |(source, rows)| {
                let unit = || -> Result<P> {
                    let mut result = prototype.new_like()?;
                    for table in source.blocks_of::<T>(rows.clone(), block)? {
                        result.update(&table?).map_err(|error| source.name_in(error))?;
                    }
                    Ok(result)
                };
                serially(unit)
            });
            for part in found {
                all.merge(&part?)?;
            }
        }
        Ok(all)
    }
}

/// Checks that a file has the columns of the first one.
fn check_columns(table: usize, source: &ParquetSource, first: &ParquetSource) -> Result<()> {
    let (found, expected) = (source.fields(), first.fields());
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
