//! The methods of a source that read values.

use std::ops::{Range, RangeBounds};
use std::path::Path;

#[cfg(doc)]
use numeric_table::files::TableWriter;
use numeric_table::internal::resolve;
use numeric_table::{
    Element, Error, ErrorKind, HomogenNumericTable, Result, Shape, SoaNumericTable, files::SaveOptions,
};

use super::decode::Lane;
use super::load;
use super::source::ParquetSource;
use crate::blocks::{FileColumnBlocks, FileRowBlocks, in_file};
use crate::steps::Step;
use crate::stream::save_steps;

impl ParquetSource {
    /// Loads the chosen columns as a table of one element type, in the layout of the options. Rows are decoded directly
    /// into its memory.
    ///
    /// # Errors
    /// Those of [`shape`](Self::shape). [`ErrorKind::Unsupported`] with the column, if it holds another type and no
    /// conversion was requested; also with the row of the first null, if the options do not state how to treat nulls.
    /// [`ErrorKind::ValueNotRepresentable`] for the first value that the conversion does not permit.
    /// [`ErrorKind::Foreign`], [`ErrorKind::Format`] for damaged files. [`ErrorKind::SizeOverflow`],
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::{ArrowOptions, parquet::{ParquetSource, save_parquet}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let columns = [("age", AnyArray::from(vec![31_u8, 27])), ("size", AnyArray::from(vec![1.75_f32, 1.5]))];
    /// save_parquet(&path, &SoaNumericTable::from_columns(columns)?)?;
    /// let options = ArrowOptions::new().convert(ConversionPolicy::Exact);
    /// let table = ParquetSource::open(&path)?.options(options).load::<f64>()?;
    /// assert_eq!(table.as_slice()?, [31.0, 1.75, 27.0, 1.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn load<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        load::load(self, &self.decoder(), 0..self.row_count()).map_err(|error| self.name_in(error))
    }

    /// Loads the chosen columns, each in its own type. Columns of words become indices, in the smallest type that holds
    /// them. Nulls are missing values, unless the options replace them.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), except that only columns with a [`column_type`](crate::ArrowOptions::column_type)
    /// are converted.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let columns = [("age", AnyArray::from(vec![31_u8, 27])), ("size", AnyArray::from(vec![1.75_f32, 1.5]))];
    /// save_parquet(&path, &SoaNumericTable::from_columns(columns)?)?;
    /// let table = ParquetSource::open(&path)?.load_columns()?;
    /// assert_eq!((table.column_slice::<u8>(0)?, table.column_slice::<f32>(1)?), (&[31, 27][..], &[1.75, 1.5][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn load_columns(&self) -> Result<SoaNumericTable> {
        load::load_columns(self, &self.decoder(), 0..self.row_count()).map_err(|error| self.name_in(error))
    }

    /// Loads some rows. Row groups without any of these rows are not read. If the file has a page index, pages without
    /// any of them are not read either; otherwise the headers of these pages are read. Errors name the row in the file.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`]; those of [`load`](Self::load).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6], [7, 8]])?)?;
    /// assert_eq!(ParquetSource::open(&path)?.load_rows::<i32>(1..3)?.as_slice()?, [3, 4, 5, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn load_rows<T: Element>(&self, rows: impl RangeBounds<usize>) -> Result<HomogenNumericTable<T>> {
        let work = || load::load(self, &self.decoder_of_rows()?, self.range_of(rows)?);
        work().map_err(|error| self.name_in(error))
    }

    /// Returns an iterator over blocks of rows, each a separate table. Besides the returned block, memory holds about 8
    /// MiB of decoded columns (or those of the next block, if these are larger) and the pages that the
    /// [module](super#memory) describes. Memory does not depend on the size of the file or its row groups.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] for blocks of 0 rows; those of [`shape`](Self::shape). From the iterator, those
    /// of [`load`](Self::load).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]])?)?;
    /// let mut sums = Vec::new();
    /// for block in ParquetSource::open(&path)?.row_blocks::<f64>(2)? {
    ///     sums.push(block?.as_slice()?.iter().sum::<f64>());
    /// }
    /// assert_eq!(sums, [12.0, 12.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_blocks<T: Element>(&self, rows: usize) -> Result<FileRowBlocks<'_, T>> {
        self.blocks_of(0..self.row_count(), rows)
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
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// let columns = [("age", AnyArray::from(vec![31_u8, 27])), ("size", AnyArray::from(vec![1.75_f32, 1.5]))];
    /// save_parquet(&path, &SoaNumericTable::from_columns(columns)?)?;
    /// for block in ParquetSource::open(&path)?.column_blocks(1)? {
    ///     assert_eq!((block.as_ref().unwrap().row_count(), block?.column_type(1)?), (1, ElementType::F32));
    /// }
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_blocks(&self, rows: usize) -> Result<FileColumnBlocks<'_>> {
        self.column_blocks_of(.., rows)
    }

    /// Returns an iterator over blocks of some rows, each a separate table whose columns have their own types. Row
    /// groups without any of these rows are not read.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`]; those of [`row_blocks`](Self::row_blocks).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("table.parquet");
    /// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?;
    /// let rows = ParquetSource::open(&path)?.column_blocks_of(1.., 2)?.next().unwrap()?;
    /// assert_eq!(rows.column_slice::<i32>(0)?, [3, 5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_blocks_of(&self, rows: impl RangeBounds<usize>, step: usize) -> Result<FileColumnBlocks<'_>> {
        let open = || {
            let rows = self.range_of(rows)?;
            let decoder = if rows.len() == self.row_count() { self.decoder() } else { self.decoder_of_rows()? };
            decoder.lane(self.plan()?.indices(), rows)
        };
        let steps = open().map_err(|error| self.name_in(error))?;
        let steps = self.named(steps);
        FileColumnBlocks::new(self.fields(), steps, self.read_options(), step).map_err(|error| self.name_in(error))
    }

    fn range_of(&self, rows: impl RangeBounds<usize>) -> Result<Range<usize>> {
        range_in(rows, self.row_count())
    }

    /// Returns the steps of all rows. Their errors name the file.
    pub(super) fn into_steps(self, columns: &[usize]) -> Result<impl Iterator<Item = Result<Step>> + Send + use<>> {
        let lane = self.decoder().lane(columns.iter().copied(), 0..self.row_count());
        Ok(self.named(lane.map_err(|error| self.name_in(error))?))
    }

    fn named(&self, lane: Lane) -> impl Iterator<Item = Result<Step>> + Send + use<> {
        let path = self.path().cloned();
        lane.map(move |step| match step {
            Ok(step) => Ok(Step { path: path.clone(), ..step }),
            Err(error) => Err(in_file(error, path.as_deref())),
        })
    }

    /// Returns an iterator over blocks of some rows.
    pub(super) fn blocks_of<T: Element>(&self, rows: Range<usize>, step: usize) -> Result<FileRowBlocks<'_, T>> {
        let decoder = if rows.len() == self.row_count() { Ok(self.decoder()) } else { self.decoder_of_rows() };
        let open = || decoder?.lane(self.plan()?.indices(), rows);
        let steps = open().map_err(|error| self.name_in(error))?;
        let name = |error| self.name_in(error);
        let steps = self.named(steps);
        FileRowBlocks::new(self.fields(), steps, self.read_options(), step).map_err(name)
    }

    /// Saves the chosen columns as a table file of `T`, without loading them all into memory. Memory holds about 16 MiB
    /// of decoded columns and the pages that the [module](super#memory) describes. The table file is row-major
    /// regardless of the options. Returns its number of rows and columns.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), of [`TableWriter::create`] and [`TableWriter::finish`];
    /// [`ErrorKind::NotWholeRows`] for rows without columns. The file at the path is then unchanged.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (path, ntb) = (folder.path().join("table.parquet"), folder.path().join("table.ntb"));
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5, 3.5], [4.5, 5.5, 6.5]])?;
    /// save_parquet(&path, &table)?;
    /// assert_eq!(ParquetSource::open(&path)?.save_to::<f32>(&ntb)?, Shape { rows: 2, columns: 3 });
    /// assert_eq!(HomogenNumericTable::<f32>::load(&ntb)?, table);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn save_to<T: Element>(&self, path: impl AsRef<Path>) -> Result<Shape> {
        self.save_to_with::<T>(path, SaveOptions::new())
    }

    /// Saves a table file as [`save_to`](Self::save_to) does, with options for the file.
    ///
    /// # Errors
    /// Those of [`save_to`](Self::save_to).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::SaveOptions, prelude::*};
    /// use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (path, ntb) = (folder.path().join("table.parquet"), folder.path().join("table.ntb"));
    /// save_parquet(&path, &HomogenNumericTable::from_rows(&[[1_u8, 2, 3]])?)?;
    /// let shape = ParquetSource::open(&path)?.save_to_with::<u8>(&ntb, SaveOptions::new().durable(false))?;
    /// assert_eq!((shape.rows, shape.columns), (1, 3));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn save_to_with<T: Element>(&self, path: impl AsRef<Path>, save: SaveOptions) -> Result<Shape> {
        let open = || self.decoder().lane(self.plan()?.indices(), 0..self.row_count());
        let steps = open().map_err(|error| self.name_in(error))?;
        let steps = steps.map(|step| step.map_err(|error| self.name_in(error)));
        save_steps::<T>(path.as_ref(), self.fields(), steps, self.read_options(), save, |error| self.name_in(error))
    }
}

/// Returns the given rows of `row_count`.
///
/// # Errors
/// [`ErrorKind::RowsOutOfRange`].
pub(super) fn range_in(rows: impl RangeBounds<usize>, row_count: usize) -> Result<Range<usize>> {
    let refusal = |rows| Error::new(ErrorKind::RowsOutOfRange { rows, row_count });
    let rows = resolve(rows, row_count, refusal)?;
    if rows.start <= rows.end && rows.end <= row_count { Ok(rows) } else { Err(refusal(rows)) }
}
