//! Partial results of all rows of many Parquet files.
//!
//! The rows of a file are divided at row groups, by numbers of rows and columns alone. The results of these parts are
//! merged in order into the result of the file, and the results of the files likewise. The result therefore does not
//! depend on which thread computes which part, or when.

use std::ops::Range;
use std::sync::Arc;

use numeric_table::internal::match_element;
use numeric_table::internal::parallel::{in_order, serially};
use numeric_table::{Error, ErrorKind, NumericTable, Partial, Result, error::Hint};

use super::files::ParquetFiles;
use super::source::ParquetSource;
use crate::columns::columns_of;
use crate::error::unsupported;
use crate::plan::Parts;

/// Approximate number of values that one task reduces.
const UNIT_VALUES: usize = 4 << 20;
/// Number of values that are passed to a result at a time.
const BLOCK_VALUES: usize = 128 << 10;
/// Maximum number of bytes of results that wait for others.
const HELD_BYTES: usize = 256 << 20;

/// The rows of one task.
struct Unit {
    file: usize,
    rows: Range<usize>,
    /// The file, if other tasks process rows of it too.
    source: Option<Arc<ParquetSource>>,
}

impl ParquetFiles {
    /// Computes a result of all rows: starts with [`new_like`](Partial::new_like) of the prototype `empty`, and adds
    /// the rows of every file, in blocks. With the feature `rayon`, large files and many small files are processed in
    /// parallel; each task has one file open.
    ///
    /// Columns of one element type arrive as homogeneous tables of that type, others as tables whose columns have their
    /// own types, converted by [`column_type`](crate::ArrowOptions::column_type) if you request it. Row groups that may
    /// have nulls, by the statistics in the footer, arrive as the latter, unless the options replace nulls.
    ///
    /// The result of each file, as computed by [`reduce_shard`](Self::reduce_shard), is merged in the order of the
    /// files. The result has **the same bits for any number of threads**. (With the same rows in other files, or in
    /// other row groups, the numbers are added in another order, and the last digits may differ.)
    ///
    /// # Errors
    /// The first error in the order of the rows: those of [`load`](Self::load), with the path; those of
    /// [`Partial::update`] and [`Partial::merge`]. [`ErrorKind::Unsupported`] with the first column of words, whose
    /// indices are known only if all rows are read in order: choose [other columns](crate::ArrowOptions::columns), or
    /// [`load`](Self::load) the words.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &HomogenNumericTable::from_rows(&[[1.0, 2.0], [3.0, 4.0]])?)?;
    /// save_parquet(folder.path().join("b.parquet"), &HomogenNumericTable::from_rows(&[[5.0, 9.0]])?)?;
    /// let files = ParquetFiles::open(folder.path())?;
    /// let statistics = files.reduce(&BasicStatistics::new(2)?)?;
    /// assert_eq!(statistics.per_column()[1].mean(), 5.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn reduce<P: Partial>(&self, empty: &P) -> Result<P> {
        let mut all = empty.new_like()?;
        self.fold(0..self.shard_count(), empty, |file, own| {
            all.merge(&own).map_err(|error| error.in_file(self.path_of(file)))
        })?;
        Ok(all)
    }

    /// Computes the result of the rows of one file, so that several programs can share the files.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] with `shards`; the errors of [`reduce`](Self::reduce).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, statistics::BasicStatistics};
    /// use numeric_table_arrow::parquet::{ParquetFiles, save_parquet};
    /// # let folder = tempfile::tempdir().unwrap();
    /// save_parquet(folder.path().join("a.parquet"), &HomogenNumericTable::from_rows(&[[1.0, 2.0], [3.0, 4.0]])?)?;
    /// save_parquet(folder.path().join("b.parquet"), &HomogenNumericTable::from_rows(&[[5.0, 9.0]])?)?;
    /// let (files, empty) = (ParquetFiles::open(folder.path())?, BasicStatistics::new(2)?);
    /// let mut statistics = files.reduce_shard(0, &empty)?;
    /// assert_eq!(statistics.row_count(), 2);
    /// statistics.merge(&files.reduce_shard(1, &empty)?)?;
    /// assert_eq!(statistics.per_column()[1].mean(), 5.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn reduce_shard<P: Partial>(&self, shard: usize, empty: &P) -> Result<P> {
        let count = self.shard_count();
        if shard >= count {
            let range = shard..shard.saturating_add(1);
            return Err(Error::new(ErrorKind::OutOfRange { what: "shards", range, count }));
        }
        let mut own = None;
        self.fold(shard..shard + 1, empty, |_, found| {
            own = Some(found);
            Ok(())
        })?;
        own.map_or_else(|| empty.new_like(), Ok)
    }

    /// Computes the results of files in parallel, and passes each to `put`, in order.
    fn fold<P: Partial>(
        &self,
        files: Range<usize>,
        empty: &P,
        mut put: impl FnMut(usize, P) -> Result<()>,
    ) -> Result<()> {
        let plan = self.plan()?;
        if let Some((column, name)) = plan.first_words() {
            let reason = "its words have indices only if all rows are read in order";
            let error = unsupported(Some(column), Some(name.to_owned()), reason);
            let error = error.with_hint(Hint::new("ArrowOptions::columns", "chooses other columns"));
            return Err(if files.is_empty() { error } else { error.in_file(self.path_of(files.start)) });
        }
        let columns = plan.column_count();
        let values = |file| self.rows_of(file).saturating_mul(columns.max(1)).saturating_mul(size_of::<f64>());
        let bytes = files.clone().fold(0_usize, |bytes, file| bytes.saturating_add(values(file)));
        let at_once = (HELD_BYTES / empty.size_in_bytes().max(1)).max(1);
        let units = files.flat_map(|file| self.units_of(file, columns));
        let compute = |unit: Result<Unit>| {
            let Unit { file, rows, source } = unit?;
            let source = source.map_or_else(|| self.source(file).map(Arc::new), Ok)?;
            let found = serially(|| unit_of(&source, rows, empty));
            Ok((file, found.map_err(|error| source.name_in(error))?))
        };
        let mut current: Option<(usize, P)> = None;
        in_order(units, bytes, at_once, compute, |(file, found)| {
            let named = |error: Error| error.in_file(self.path_of(file));
            if let Some((at, own)) = &mut current
                && *at == file
            {
                return own.merge(&found).map_err(named);
            }
            let mut own = empty.new_like()?;
            own.merge(&found).map_err(named)?;
            match current.replace((file, own)) {
                Some((before, done)) => put(before, done),
                None => Ok(()),
            }
        })?;
        current.map_or(Ok(()), |(file, done)| put(file, done))
    }

    /// Divides a file into tasks. It is opened if there are several.
    fn units_of(&self, file: usize, columns: usize) -> Vec<Result<Unit>> {
        let rows = 0..self.rows_of(file);
        let count = rows.len().saturating_mul(columns).div_ceil(UNIT_VALUES).max(1);
        if count == 1 {
            return vec![Ok(Unit { file, rows, source: None })];
        }
        match self.source(file).map(Arc::new) {
            Err(error) => vec![Err(error)],
            Ok(source) => {
                let unit = |rows| Ok(Unit { file, rows, source: Some(source.clone()) });
                source.decoder().cuts(&rows, count).into_iter().map(unit).collect()
            }
        }
    }
}

/// Computes the result of some rows of a file.
fn unit_of<P: Partial>(source: &ParquetSource, rows: Range<usize>, empty: &P) -> Result<P> {
    let mut result = empty.new_like()?;
    let mut plan = source.plan()?;
    let dictionary = plan.dictionary(None)?;
    let update = |result: &mut P, first: usize, table: &dyn NumericTable| {
        result.update(table).map_err(|error| error.moved(first, 0))
    };
    let mut first = rows.start;
    let options = source.read_options();
    let may_be_missing = options.null.is_none() && source.decoder().may_be_missing(plan.indices(), &rows);
    let is_uniform = options.types.is_empty() && !may_be_missing;
    if let Some(element) = dictionary.uniform_type().filter(|_| is_uniform) {
        let step = (BLOCK_VALUES / dictionary.len().max(1)).max(1);
        match_element!(element, T => {
            for table in source.blocks_of::<T>(rows, step)? {
                let table = table?;
                update(&mut result, first, &table)?;
                first += table.shape().rows;
            }
        });
        return Ok(result);
    }
    for step in source.decoder().lane(plan.indices(), rows)? {
        let step = step?;
        let parts = [step.part()];
        let table = columns_of(&mut plan, Parts::all(&parts))?;
        update(&mut result, first, &table)?;
        first += step.rows;
    }
    Ok(result)
}
