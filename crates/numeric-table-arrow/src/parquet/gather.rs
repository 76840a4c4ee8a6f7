//! Reading rows of many Parquet files: a range, all rows, columns, or block by block.

use std::ops::{Range, RangeBounds};

#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::internal::parallel::{map, serially, task_count};
use numeric_table::{Array, DataLayout, Element, HomogenNumericTable, Result, Shape, SoaNumericTable};

use super::files::ParquetFiles;
use super::load::{check_claims, fill_rows, is_trusted};
use super::rows::range_in;
use crate::blocks::FileRowBlocks;
use crate::columns::columns_of;
use crate::plan::{Parts, Plan};
use crate::steps::Step;
use crate::stream::Growing;

impl ParquetFiles {
    /// Loads all rows as a table of one element type. A word has the same index in all files. Many files are decoded in
    /// parallel. If there are few, their columns are. A column-major table is created as a row-major one and then
    /// copied.
    ///
    /// # Errors
    /// Those of [`ParquetSource::load`](super::ParquetSource::load), with the path and the row in the file.
    /// [`ErrorKind::Format`] if a file has changed since it was opened.
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
        self.gather(0..self.row_count())
    }

    /// Loads some rows as [`load`](Self::load) does. Files without any of these rows are not opened.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`]; those of [`load`](Self::load).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &HomogenNumericTable::from_rows(&[[1.5], [2.5]])?)?;
    /// save_parquet(folder.path().join("b.parquet"), &HomogenNumericTable::from_rows(&[[3.5]])?)?;
    /// assert_eq!(ParquetFiles::open(folder.path())?.load_rows::<f64>(1..)?.as_slice()?, [2.5, 3.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn load_rows<T: Element>(&self, rows: impl RangeBounds<usize>) -> Result<HomogenNumericTable<T>> {
        self.gather(range_in(rows, self.row_count())?)
    }

    /// Loads all rows, each column in its own type, as
    /// [`ParquetSource::load_columns`](super::ParquetSource::load_columns) does. One file is open at a time, and its
    /// columns are decoded in parallel.
    ///
    /// # Errors
    /// Those of [`ParquetSource::load_columns`](super::ParquetSource::load_columns), with the path and the row in the
    /// file. [`ErrorKind::Format`] if a file has changed since it was opened.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// for (name, age, size) in [("a.parquet", 31_u8, 1.75_f32), ("b.parquet", 27, 1.5)] {
    ///     let columns = [("age", AnyArray::from(vec![age])), ("size", AnyArray::from(vec![size]))];
    ///     save_parquet(folder.path().join(name), &SoaNumericTable::from_columns(columns)?)?;
    /// }
    /// let table = ParquetFiles::open(folder.path())?.load_columns()?;
    /// assert_eq!((table.column_slice::<u8>(0)?, table.column_slice::<f32>(1)?), (&[31, 27][..], &[1.75, 1.5][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn load_columns(&self) -> Result<SoaNumericTable> {
        let mut plan = self.plan()?;
        let sizes = (0..plan.column_count()).map(|column| plan.type_of(column).size_in_bytes());
        let row_bytes = sizes.sum();
        for file in 0..self.shard_count() {
            self.check_file(&plan, file, 0..self.rows_of(file), row_bytes)?;
        }
        if self.row_count() == 0 {
            return columns_of(&mut plan, Parts::all(&[]));
        }
        plan.grows = true;
        let mut growing = Growing::with_capacity(self.row_count());
        for file in 0..self.shard_count() {
            let source = self.source(file)?;
            let mut append = || {
                for step in source.decoder().lane(plan.indices(), 0..self.rows_of(file))? {
                    let step = step?;
                    let parts = [step.part()];
                    let chunks = plan.chunks(Parts::all(&parts), None)?;
                    growing.append(&plan, &chunks)?;
                }
                Ok(())
            };
            append().map_err(|error| source.name_in(error))?;
        }
        growing.into_table(plan)
    }

    /// Returns an iterator over blocks of rows, as [`ParquetSource::row_blocks`](super::ParquetSource::row_blocks)
    /// does. A block may contain rows of several files. One file is open at a time.
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
        let columns: Vec<usize> = self.plan()?.indices().collect();
        let steps = (0..self.shard_count()).flat_map(move |file| -> Box<dyn Iterator<Item = Result<Step>> + Send> {
            match self.source(file).and_then(|source| source.into_steps(&columns)) {
                Ok(steps) => Box::new(steps),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        });
        FileRowBlocks::new(self.fields(), steps, self.read_options(), rows)
    }

    fn gather<T: Element>(&self, rows: Range<usize>) -> Result<HomogenNumericTable<T>> {
        let mut plan = self.plan()?;
        let shape = Shape { rows: rows.len(), columns: plan.column_count() };
        let count = shape.element_count_of(T::TYPE)?;
        let row_bytes = shape.columns.saturating_mul(size_of::<T>());
        for (file, rows) in self.parts_of(rows.clone()) {
            self.check_file(&plan, file, rows, row_bytes)?;
        }
        let mut array = Array::<T>::zeros(count)?;
        let mut rest = if count == 0 { &mut [][..] } else { array.mutable_data()? };
        let mut parts = Vec::new();
        for (file, rows) in self.parts_of(rows) {
            let (target, tail) = rest.split_at_mut(rows.len() * shape.columns);
            parts.push((file, rows, target));
            rest = tail;
        }
        // Words are numbered in row order.
        if parts.len() < task_count(count.saturating_mul(size_of::<T>())) || plan.has_labels() {
            parts.into_iter().try_for_each(|(file, rows, target)| self.fill(&mut plan, file, rows, target))?;
        } else {
            let fill = |(file, rows, target)| serially(|| self.fill(&mut self.plan()?, file, rows, target));
            map(parts, fill).into_iter().collect::<Result<()>>()?;
        }
        let dictionary = plan.dictionary(Some(T::TYPE))?;
        let table = HomogenNumericTable::from_array_with_layout(array, shape, DataLayout::RowMajor)?;
        let table = table.with_dictionary(dictionary)?;
        match self.read_options().layout {
            DataLayout::RowMajor => Ok(table),
            layout => table.to_layout(layout),
        }
    }

    /// Decodes rows of a file into a row-major table.
    fn fill<T: Element>(&self, plan: &mut Plan<'_>, file: usize, rows: Range<usize>, target: &mut [T]) -> Result<()> {
        let source = self.source(file)?;
        let fill = || {
            let decoder = match rows.len() == self.rows_of(file) {
                true => source.decoder(),
                false => source.decoder_of_rows()?,
            };
            fill_rows(plan, decoder.lane(plan.indices(), rows)?, target)
        };
        fill().map_err(|error| source.name_in(error))
    }

    /// Checks the number of rows of a file that is too small for them, before memory is allocated.
    fn check_file(&self, plan: &Plan<'_>, file: usize, rows: Range<usize>, row_bytes: usize) -> Result<()> {
        let bytes = rows.len().saturating_mul(row_bytes);
        if is_trusted(bytes, usize::try_from(self.bytes_of(file)).unwrap_or(usize::MAX)) {
            return Ok(());
        }
        let source = self.source(file)?;
        let checked = check_claims(&source.decoder(), plan.indices(), &rows, bytes);
        checked.map_err(|error| source.name_in(error))
    }
}
