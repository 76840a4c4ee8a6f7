//! Partial results of all rows: each file is processed in pieces, and results are merged in the order of the rows.
//!
//! The rows of a file are divided by their number alone, as [`Partial::compute_over`] divides those of a table. The
//! results of these parts are merged in order into the result of the file, and the results of the files likewise. The
//! result therefore does not depend on which thread or machine computes which part, or when.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Shards;
use super::entry::Check;
use crate::array::{AnyArray, Array};
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel::in_order;
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::format::{OpenedTable, StoredRows, TableReader};
use crate::partial::{Partial, at_once, of_unit, units};
use crate::storage::stored::Stored;
use crate::table::{DataLayout, HomogenNumericTable, TableSelection};
use crate::window::AnySliceMut;

/// Gives access to the rows of an open file.
pub(super) type RowsOf<'a> = dyn Fn(OpenedTable) -> Result<StoredRows> + Sync + 'a;

/// Maximum number of runs of files, and the maximum for large results.
const MAX_RUNS: usize = 16 << 10;
const MAX_LARGE_RUNS: usize = 4 << 10;
/// Number of bytes above which a result is large.
const LARGE_RESULT: usize = 64 << 10;

/// The rows of one task.
struct Unit {
    shard: usize,
    rows: Range<usize>,
    /// The file, if other tasks process rows of it too.
    opened: Option<Arc<StoredRows>>,
}

/// The data shared by the tasks of a call.
struct Work<'a, P> {
    shards: &'a Shards,
    empty: &'a P,
    rows_of: &'a RowsOf<'a>,
    meter: Meter,
    /// Buffers for values, which later tasks reuse.
    buffers: Mutex<Vec<AnyArray>>,
}

impl Shards {
    /// Computes a result of all rows: starts with [`new_like`](Partial::new_like) of the prototype `empty`, and adds
    /// the rows of every file. With the feature `rayon`, large files and many small files are processed in parallel.
    ///
    /// The result of each file, as computed by [`reduce_shard`](Self::reduce_shard), is merged in the order of the
    /// files, first within each of the [`runs`](Self::runs). The result has **the same bits for any number of
    /// threads**, and for any number of programs that share the files. (With the same rows in other files or in one
    /// table, the numbers are added in another order, and the last digits may differ.)
    ///
    /// Rows are read about a megabyte at a time, in the type of the files, into a buffer for each thread. Files that
    /// are not homogeneous are loaded completely. Checksums of values are not compared, unless you request
    /// [verification](Self::with_verification): values that are damaged on disk become part of the result.
    ///
    /// # Errors
    /// The first error in the order of the rows: those of [`verify`](Self::verify) except for damaged values; those of
    /// [`Partial::update`] and [`Partial::merge`], with the path of the file.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Partial, Result, prelude::*, shards::Shards};
    /// use serde::{Deserialize, Serialize};
    ///
    /// /// The largest value.
    /// #[derive(Serialize, Deserialize)]
    /// struct Largest(f64);
    ///
    /// impl Partial for Largest {
    ///     const NAME: &'static str = "largest-value";
    ///
    ///     fn new_like(&self) -> Result<Self> {
    ///         Ok(Self(f64::NEG_INFINITY))
    ///     }
    ///
    ///     fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
    ///         self.0 = rows.rows::<f64>(..)?.iter().copied().fold(self.0, f64::max);
    ///         Ok(())
    ///     }
    ///
    ///     fn merge(&mut self, other: &Self) -> Result<()> {
    ///         self.0 = self.0.max(other.0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
    /// HomogenNumericTable::from_rows(&[[9_i16, 6]])?.save(folder.join("part-1.ntb"))?;
    /// let shards = Shards::open(folder)?;
    /// assert_eq!(shards.reduce(&Largest(0.0))?.0, 9.0);
    ///
    /// // The same on two machines: each processes some files, and one merges the result of the other.
    /// let mut all = shards.reduce_shard(0, &Largest(0.0))?;
    /// let sent = shards.reduce_shard(1, &Largest(0.0))?.to_bytes()?;
    /// all.merge(&Largest::from_bytes(&sent)?)?;
    /// assert_eq!(all.0, 9.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reduce<P: Partial>(&self, empty: &P) -> Result<P> {
        self.reduce_by(empty, &OpenedTable::into_rows)
    }

    /// Computes the result of the rows of one file, the same as [`Partial::compute_over`] computes from its table, in
    /// the same parts. ([`BasicStatistics`](crate::statistics::BasicStatistics) divides sparse tables differently
    /// there, and may differ in the last digits.)
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`]; the errors of [`reduce`](Self::reduce).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, Result, prelude::*, shards::Shards};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Rows(u64);
    /// # impl Partial for Rows {
    /// #     const NAME: &'static str = "rows";
    /// #     fn new_like(&self) -> Result<Self> { Ok(Self(0)) }
    /// #     fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
    /// #         self.0 += rows.shape().rows as u64;
    /// #         Ok(())
    /// #     }
    /// #     fn merge(&mut self, other: &Self) -> Result<()> { self.0 += other.0; Ok(()) }
    /// # }
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.path().join("part-0.ntb"))?;
    /// let shards = Shards::open(folder.path())?;
    /// assert_eq!(shards.reduce_shard(0, &Rows(0))?.0, 2);
    /// let error = shards.reduce_shard(1, &Rows(0)).map(drop).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::OutOfRange { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reduce_shard<P: Partial>(&self, shard: usize, empty: &P) -> Result<P> {
        let shard_count = self.entries.len();
        if shard >= shard_count {
            return Err(Error::index_out_of_range("shards", shard, shard_count));
        }
        let mut own = None;
        self.fold(shard..shard + 1, empty, &OpenedTable::into_rows, |_, found| {
            own = Some(found);
            Ok(())
        })?;
        own.map_or_else(|| empty.new_like(), Ok)
    }

    /// Computes the result of consecutive files by merging the results of the files in order. For all files of one of
    /// the [`runs`](Self::runs), this is one part of the work of [`reduce`](Self::reduce).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`]; the errors of [`reduce`](Self::reduce).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Partial, prelude::*, shards::Shards, statistics::BasicStatistics};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
    /// HomogenNumericTable::from_rows(&[[5_i16, 6]])?.save(folder.join("part-1.ntb"))?;
    /// let (shards, empty) = (Shards::open(folder)?, BasicStatistics::new(2)?);
    /// let mut all = empty.new_like()?;
    /// for run in shards.runs(&empty) {
    ///     all.merge(&shards.reduce_shards(run, &empty)?)?; // on any machine
    /// }
    /// assert_eq!(all.to_bytes()?, shards.reduce(&empty)?.to_bytes()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reduce_shards<P: Partial>(&self, shards: Range<usize>, empty: &P) -> Result<P> {
        let shard_count = self.entries.len();
        if shards.start > shards.end || shards.end > shard_count {
            return Err(Error::new(ErrorKind::OutOfRange { what: "shards", range: shards, count: shard_count }));
        }
        let mut run = None;
        self.fold(shards, empty, &OpenedTable::into_rows, |shard, own| self.extend(&mut run, shard, own))?;
        run.map_or_else(|| empty.new_like(), Ok)
    }

    /// Divides the files into runs of consecutive files. The results within a run are merged before those of different
    /// runs, so that merging the results of all runs does not become the bottleneck.
    ///
    /// All runs except the last have the same number of files: the smallest power of two that makes at most 16,384
    /// runs, or at most 4,096 if a result is large, meaning that [`Partial::size_in_bytes`] of `empty` exceeds 65,536.
    /// Each of up to 4,096 files is therefore a separate run for any result; 10,000 files make runs of 1 file, or of 4
    /// with large results. The runs depend on nothing else, in particular not on the number of threads or processes.
    ///
    /// Programs that share more than 4,096 files must agree on whether results are large. Builds of one program do if
    /// all of them have the same pointer width, because the size of some results in memory depends on it.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards, statistics::BasicStatistics};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
    /// HomogenNumericTable::from_rows(&[[5_i16, 6]])?.save(folder.join("part-1.ntb"))?;
    /// let runs = Shards::open(folder)?.runs(&BasicStatistics::new(2)?);
    /// assert_eq!(runs.collect::<Vec<_>>(), [0..1, 1..2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn runs<P: Partial>(&self, empty: &P) -> impl ExactSizeIterator<Item = Range<usize>> + use<P> {
        let (count, length) = (self.entries.len(), self.run_length(empty));
        (0..count.div_ceil(length)).map(move |run| run * length..count.min((run + 1) * length))
    }

    fn run_length<P: Partial>(&self, empty: &P) -> usize {
        let most = if empty.size_in_bytes() > LARGE_RESULT { MAX_LARGE_RUNS } else { MAX_RUNS };
        self.entries.len().div_ceil(most).next_power_of_two()
    }

    /// Merges the result of the next file into the result of its run.
    fn extend<P: Partial>(&self, run: &mut Option<P>, shard: usize, own: P) -> Result<()> {
        match run {
            Some(run) => run.merge(&own).map_err(|error| error.in_file(&self.entries[shard].path)),
            None => {
                *run = Some(own);
                Ok(())
            }
        }
    }

    /// Computes a result of all rows. `rows_of` gives access to the rows of each file.
    pub(super) fn reduce_by<P: Partial>(&self, empty: &P, rows_of: &RowsOf<'_>) -> Result<P> {
        let (mut all, mut run) = (empty.new_like()?, None);
        let (count, length) = (self.entries.len(), self.run_length(empty));
        self.fold(0..count, empty, rows_of, |shard, own| {
            self.extend(&mut run, shard, own)?;
            match run.take_if(|_| (shard + 1).is_multiple_of(length) || shard + 1 == count) {
                Some(run) => all.merge(&run).map_err(|error| error.in_file(&self.entries[shard].path)),
                None => Ok(()),
            }
        })?;
        Ok(all)
    }

    /// Computes the result of each of some files, and calls `put` with the results in order.
    fn fold<P: Partial>(
        &self,
        shards: Range<usize>,
        empty: &P,
        rows_of: &RowsOf<'_>,
        mut put: impl FnMut(usize, P) -> Result<()>,
    ) -> Result<()> {
        let rows = shards.clone().map(|shard| self.entries[shard].rows).sum(); // at most that of all
        let meter = Meter::start(&self.hook, self.size_of_rows(rows));
        let work = Work { shards: self, empty, rows_of, meter, buffers: Mutex::default() };
        let mut current: Option<(usize, P)> = None;
        let bytes = self.work_of(shards.len(), rows);
        let all_units = shards.flat_map(|shard| work.units_of(shard));
        let compute = |unit: Result<Unit>| unit.and_then(|unit| Ok((unit.shard, work.compute(unit)?)));
        in_order(all_units, bytes, at_once(empty), compute, |(shard, found)| {
            let named = |error: Error| error.in_file(&self.entries[shard].path);
            if let Some((at, own)) = &mut current
                && *at == shard
            {
                return own.merge(&found).map_err(named);
            }
            let mut own = empty.new_like()?;
            own.merge(&found).map_err(named)?;
            match current.replace((shard, own)) {
                Some((before, done)) => put(before, done),
                None => Ok(()),
            }
        })?;
        current.map_or(Ok(()), |(shard, done)| put(shard, done))
    }
}

impl<P: Partial> Work<'_, P> {
    /// Divides a file into tasks. If there are several, opens the file once, here. A file that must be loaded is loaded
    /// in parallel.
    fn units_of(&self, shard: usize) -> impl Iterator<Item = Result<Unit>> + use<P> {
        let shape = Shape { rows: self.shards.entries[shard].rows, ..self.shards.shape() };
        let mut all = units(shape).peekable();
        let first = all.next();
        let opened = match all.peek() {
            Some(_) => self.open(shard).map(|rows| Some(Arc::new(rows))),
            None => Ok(None),
        };
        let (opened, error, limit) = match opened {
            Ok(opened) => (opened, None, usize::MAX),
            Err(error) => (None, Some(Err(error)), 0),
        };
        let all = first.into_iter().chain(all).take(limit);
        error.into_iter().chain(all.map(move |rows| Ok(Unit { shard, rows, opened: opened.clone() })))
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<AnyArray>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner) // nothing panics while it is locked
    }

    fn open(&self, shard: usize) -> Result<StoredRows> {
        let opened = self.shards.open_shard(shard, Check::Values)?;
        (self.rows_of)(opened).map_err(|error| error.in_file(&self.shards.entries[shard].path))
    }

    fn compute(&self, unit: Unit) -> Result<P> {
        let Unit { shard, rows, opened } = unit;
        let opened = match opened {
            Some(opened) => opened,
            None => Arc::new(self.open(shard)?),
        };
        let found = match &*opened {
            StoredRows::File(reader) => match_element!(reader.element_type(), T => self.of_file::<T>(reader, rows)),
            StoredRows::Table(table) => {
                let done = |rows| self.meter.add(self.shards.size_of_rows(rows));
                of_unit(self.empty, rows, table.shape().columns, |rows| table.select_rows(rows), done)
            }
        };
        found.map_err(|error| error.in_file(&self.shards.entries[shard].path))
    }

    /// Computes the result of some rows of a file, block by block in one buffer.
    fn of_file<T: Element>(&self, reader: &TableReader, rows: Range<usize>) -> Result<P> {
        let columns = reader.shape().columns;
        let pooled = self.buffers().pop().and_then(|buffer| buffer.downcast::<T>().ok());
        let (mut buffer, mut stored) = (pooled.unwrap_or_default(), Stored::new(T::TYPE));
        let rows_of = |rows: Range<usize>| {
            let shape = Shape { rows: rows.len(), columns };
            let count = shape.element_count_of(T::TYPE)?;
            // A result may keep a reference to the memory that it received.
            if buffer.len() < count || buffer.mutable_data().is_err() {
                buffer = Array::new();
                buffer = Array::zeros(count)?;
            }
            let target = AnySliceMut::new(&mut buffer.mutable_data()?[..count]);
            reader.read_into(rows, target, &mut stored, None)?;
            let block = HomogenNumericTable::internal(buffer.slice(..count)?, shape, DataLayout::RowMajor);
            Ok(block.with_dictionary(reader.dictionary().clone())?.into_dyn())
        };
        let done = |rows: usize| self.meter.add((rows * columns * size_of::<T>()) as u64);
        let found = of_unit(self.empty, rows, columns, rows_of, done);
        self.buffers().push(AnyArray::new(buffer));
        found
    }
}
