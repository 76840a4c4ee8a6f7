//! Partial results: computed from some rows at a time, merged, and sent or stored as bytes.
//!
//! Contains the trait, the bytes, and computations over a table in pieces that do not depend on the number of threads.
//! The results themselves are in [`crate::statistics`].

use std::ops::{Range, RangeInclusive};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::archive::{cut_off, decode, encode};
use crate::base::element::match_element;
use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::base::progress::{Hook, Meter, Progress};
use crate::base::shape::Shape;
use crate::format::TableReader;
use crate::table::{NumericTable, TableSelection, row_bytes};

/// A result that is computed from some rows at a time and merged: from blocks or files, on several threads, processes
/// or machines. It can be sent between them and stored as bytes.
///
/// Implementors: [`BasicStatistics`](crate::statistics::BasicStatistics),
/// [`Covariance`](crate::statistics::Covariance), [`Histogram`](crate::statistics::Histogram),
/// [`QuantileSketch`](crate::statistics::QuantileSketch), [`GroupStatistics`](crate::statistics::GroupStatistics) and
/// [`GramMatrix`](crate::statistics::GramMatrix). The crate `numeric-table-learning` has k-means, linear regression and
/// naive Bayes. For your own result, derive serde's traits and define how rows are added and how two results are
/// merged:
///
/// ```
/// use numeric_table::{Partial, Result, prelude::*};
/// use serde::{Deserialize, Serialize};
///
/// /// The number of negative values.
/// #[derive(Default, Serialize, Deserialize)]
/// struct Negative(u64);
///
/// impl Partial for Negative {
///     const NAME: &'static str = "negative-values";
///
///     fn new_like(&self) -> Result<Self> {
///         Ok(Self(0))
///     }
///
///     fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
///         for block in rows.row_blocks::<f32>(1024)? {
///             self.0 += block?.iter().filter(|&&value| value < 0.0).count() as u64;
///         }
///         Ok(())
///     }
///
///     fn merge(&mut self, other: &Self) -> Result<()> {
///         self.0 += other.0;
///         Ok(())
///     }
/// }
///
/// let table = HomogenNumericTable::from_rows(&[[1_i16, -2], [3, 4], [-5, 6]])?;
/// let mut first = Negative::default();
/// first.update(&table.slice_rows(0..2)?)?;
/// let mut last = first.new_like()?;
/// last.update(&table.slice_rows(2..3)?)?;
/// first.merge(&Negative::from_bytes(&last.to_bytes()?)?)?; // as if it came from another process
/// assert_eq!(first.0, 2);
/// assert_eq!(first.compute_over(&table)?.0, 2); // the same in one call, in parallel if the table is large
/// # Ok::<(), numeric_table::Error>(())
/// ```
///
/// Source: DAAL's distributed algorithms. `update` is `compute` of step 1 (`step1Local`), `merge` is step 2
/// (`step2Master`), and the bytes are its serialized partial results.
pub trait Partial: Send + Sync + Serialize + DeserializeOwned {
    /// The name of the kind of result, stored in its bytes: 1 to 64 bytes.
    const NAME: &'static str;
    /// The version of the serde representation. Bytes of other versions are refused.
    const VERSION: u32 = 1;
    /// The newest version that [`from_bytes`](Self::from_bytes) reads. The default is [`VERSION`](Self::VERSION).
    const NEWEST_VERSION: u32 = Self::VERSION;

    /// Returns the version of this result's serde representation: the oldest one that has everything in the result.
    /// Results of this library that count missing values have another version than those without any, whose bytes older
    /// libraries read. The default is [`VERSION`](Self::VERSION).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Partial, SoaNumericTable, prelude::*, statistics::BasicStatistics};
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1_i64), None])?;
    /// assert_eq!(BasicStatistics::compute(&*table.select_rows(..1)?)?.version(), 1);
    /// assert_eq!(BasicStatistics::compute(&table)?.version(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn version(&self) -> u32 {
        Self::VERSION
    }

    /// Returns an empty result with the same parameters: number of columns, bins, centroids.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    fn new_like(&self) -> Result<Self>;

    /// Adds a block of rows. For an entire table, call [`compute_over`](Self::compute_over), which uses all threads.
    ///
    /// `rows` may be a table of any size, but `update` may process it on the calling thread alone. On error, the caller
    /// discards the result.
    ///
    /// # Errors
    /// The errors of reading the table, and those of the result itself:
    /// [`ErrorKind::LengthMismatch`](crate::ErrorKind::LengthMismatch) if the numbers of columns differ. An error of
    /// another type is [`Error::other`](crate::Error::other).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Partial, prelude::*, statistics::Covariance};
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.5, 9.0], [5.5, 1.0]])?;
    /// let whole = Covariance::new(2)?.compute_over(&table)?; // an entire table: all threads
    ///
    /// let mut stream = Covariance::new(2)?;
    /// for block in [table.slice_rows(..2)?, table.slice_rows(2..)?] {
    ///     stream.update(&block)?; // blocks, as they arrive
    /// }
    /// assert_eq!((stream.row_count(), stream.means()), (whole.row_count(), whole.means()));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn update(&mut self, rows: &dyn NumericTable) -> Result<()>;

    /// Adds the rows of another result, which follow the rows of this one.
    ///
    /// # Errors
    /// The errors of the result itself: [`ErrorKind::LengthMismatch`](crate::ErrorKind::LengthMismatch) if the numbers
    /// of columns differ.
    fn merge(&mut self, other: &Self) -> Result<()>;

    /// Returns the approximate memory size of a result with these parameters, in bytes. Up to four results for each
    /// thread are held at a time; large ones are limited to 256 MiB in total, but at least one is held. The default
    /// is the size of the type itself.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Partial, statistics::Covariance};
    /// assert!((4 << 20..5 << 20).contains(&Covariance::new(1024)?.size_in_bytes())); // one half of the matrix
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn size_in_bytes(&self) -> usize {
        size_of::<Self>()
    }

    /// Computes the result of a table: starts with [`new_like`](Self::new_like) of `self` and adds all of the table's
    /// rows. With the feature `rayon`, it runs in parallel: the rows are divided into parts of about 4 million values,
    /// whose results are merged in order. Each part is computed in blocks of about 128 thousand values, with at least
    /// 256 rows if the part has them. This division depends only on the shape, so the result does not depend on the
    /// number of threads.
    ///
    /// A sparse table is read as if it were dense, a block at a time, in O(rows * columns). Only
    /// [`BasicStatistics`](crate::statistics::BasicStatistics) reads just the stored values, as
    /// [`BasicStatistics::compute`](crate::statistics::BasicStatistics::compute) does.
    ///
    /// # Errors
    /// The errors of [`update`](Self::update) and [`merge`](Self::merge).
    fn compute_over(&self, table: &dyn NumericTable) -> Result<Self> {
        in_units(self, table, &Hook::default())
    }

    /// Computes the result of a table like [`compute_over`](Self::compute_over), with a callback for progress.
    ///
    /// The callback is called at the beginning, after every block, and at the end. It receives the number of bytes
    /// processed and the total, measured in the types of the table's columns. Any thread that does the work may call
    /// it, but only one at a time. If it panics, this function panics too and does not call it again, so a program can
    /// cancel a computation this way.
    ///
    /// # Errors
    /// The errors of [`compute_over`](Self::compute_over).
    ///
    /// # Examples
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use numeric_table::{Partial, prelude::*, statistics::Covariance};
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.5, 9.0], [5.5, 1.0]])?;
    /// let done = Arc::new(AtomicU64::new(0));
    /// let seen = done.clone();
    /// let found = Covariance::new(2)?.compute_over_with_progress(&table, move |progress| {
    ///     seen.store(progress.done, Ordering::Relaxed);
    /// })?;
    /// assert_eq!((found.row_count(), done.load(Ordering::Relaxed)), (3, 24)); // bytes of values
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn compute_over_with_progress(
        &self,
        table: &dyn NumericTable,
        hook: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Result<Self> {
        in_units(self, table, &Hook::new(hook))
    }

    /// Computes the result of a table file without loading it, starting with [`new_like`](Self::new_like). The file may
    /// be larger than memory: each thread reads about a megabyte at a time. The result has the same bits as that of
    /// [`compute_over`](Self::compute_over) on the loaded table. Calls the reader's progress callback. Checksums of
    /// values are compared only with [verification](TableReader::with_verification).
    ///
    /// # Errors
    /// Those of [`update`](Self::update), [`merge`](Self::merge), and
    /// [`TableReader::load_rows`](TableReader::load_rows).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Partial, files::TableReader, prelude::*, statistics::Covariance};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.5, 9.0], [5.5, 1.0]])?.save(&path)?;
    /// let found = Covariance::new(2)?.compute_over_file(&TableReader::open(&path)?)?;
    /// assert_eq!((found.row_count(), found.means()), (3, vec![3.5, 4.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn compute_over_file(&self, reader: &TableReader) -> Result<Self> {
        let (shape, meter) = (reader.shape(), reader.whole_meter());
        let row_bytes = shape.columns.saturating_mul(reader.element_type().size_in_bytes()) as u64;
        let done = |rows: usize| meter.add((rows as u64).saturating_mul(row_bytes));
        let rows_of = |rows: Range<usize>| -> Result<Box<dyn NumericTable>> {
            match_element!(reader.element_type(), T => Ok(Box::new(reader.load_rows::<T>(rows)?)))
        };
        in_units_by(self, shape, |rows| of_unit(self, rows, shape.columns, rows_of, done))
    }

    /// Serializes the result to bytes, with its name, its version and a checksum.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](crate::ErrorKind::Format) if its `Serialize` fails, or if its name is empty or too long;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    fn to_bytes(&self) -> Result<Vec<u8>> {
        let name = Self::NAME.as_bytes();
        if name.is_empty() || name.len() > NAME_LIMIT {
            let reason = format!("the name of a partial result has {} bytes, not 1 to {NAME_LIMIT}", name.len());
            return Err(Error::format(NAME_AT as u64, reason));
        }
        let head = (MAGIC, FORMAT, self.version(), Self::NAME);
        let mut bytes = encode(256, &(head, self))?;
        let sum = crc32fast::hash(&bytes);
        bytes.try_reserve_exact(SUM_BYTES).map_err(|_| Error::out_of_memory(bytes.len() + SUM_BYTES))?;
        bytes.extend(sum.to_le_bytes());
        Ok(bytes)
    }

    /// Reads a result from bytes that [`to_bytes`](Self::to_bytes) of the same type has written.
    ///
    /// Safe with untrusted bytes if the type validates deserialized data, as all types of this library do. These
    /// allocate at most 4 times the size of the bytes, plus 1 MiB.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](crate::ErrorKind::Format) with the reason: foreign bytes, another kind of result, another
    /// version, or damage; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (body, version) = checked_body(bytes, Self::NAME, Self::VERSION..=Self::NEWEST_VERSION)?;
        let all = bytes.len() - SUM_BYTES;
        let (result, consumed): (Self, _) = decode(&bytes[..all], body)?;
        if result.version() > version {
            let reason = format!("the result needs version {}, but its bytes have {version}", result.version());
            return Err(Error::format(VERSION_AT as u64, reason));
        }
        match all - body - consumed {
            0 => Ok(result),
            rest => Err(Error::format((body + consumed) as u64, format!("bytes after the partial result: {rest}"))),
        }
    }
}

/// `NUMPART` and a line feed: the first eight bytes.
const MAGIC: u64 = u64::from_le_bytes(*b"NUMPART\n");
/// The version of the bytes that precede the serialized result.
const FORMAT: u32 = 1;
const FORMAT_AT: usize = 8;
const VERSION_AT: usize = 12;
const LENGTH_AT: usize = 16;
const NAME_AT: usize = 24;
const NAME_LIMIT: usize = 64;
const SUM_BYTES: usize = 4;

/// Checks everything except the serialized result, and returns the position where it begins, and its version.
fn checked_body(bytes: &[u8], name: &str, versions: RangeInclusive<u32>) -> Result<(usize, u32)> {
    let refusal = |at: usize, reason: String| Err(Error::format(at as u64, reason));
    if bytes.get(..FORMAT_AT) != Some(&MAGIC.to_le_bytes()) {
        return refusal(0, "these are not the bytes of a partial result".to_owned());
    }
    let number = |at: usize| match bytes.get(at..at + 4).and_then(<[u8]>::first_chunk) {
        Some(bytes) => Ok(u32::from_le_bytes(*bytes)),
        None => Err(cut_off(bytes, at + 4 - bytes.len())),
    };
    match number(FORMAT_AT)? {
        FORMAT => {}
        other => return refusal(FORMAT_AT, format!("the format is {other}, and this library reads {FORMAT}")),
    }
    let found_version = number(VERSION_AT)?;
    let end = match (number(LENGTH_AT)? as usize, number(LENGTH_AT + 4)?) {
        (length @ 1..=NAME_LIMIT, 0) => NAME_AT + length,
        _ => return refusal(LENGTH_AT, format!("the name of a partial result has 1 to {NAME_LIMIT} bytes")),
    };
    let found = bytes.get(NAME_AT..end).ok_or_else(|| cut_off(bytes, end - bytes.len()))?;
    let sum_at = bytes.len().saturating_sub(SUM_BYTES).max(end);
    let sum = number(sum_at)?;
    if crc32fast::hash(&bytes[..sum_at]) != sum {
        return refusal(sum_at, "the checksum does not match: the bytes are damaged or cut off".to_owned());
    }
    if found != name.as_bytes() {
        let found = String::from_utf8_lossy(found);
        return refusal(NAME_AT, format!("this is a partial result {found:?}, not {name:?}"));
    }
    if !versions.contains(&found_version) {
        let (first, last) = versions.into_inner();
        let read = if first == last { format!("version {first}") } else { format!("versions {first} to {last}") };
        let reason = format!("the partial result {name:?} has version {found_version}, but this program reads {read}");
        return refusal(VERSION_AT, reason);
    }
    Ok((end, found_version))
}

/// Approximate number of bytes of results that are held.
const HELD_BYTES: usize = 256 << 20;
/// Number of values that one task processes.
const UNIT_VALUES: usize = 4 << 20;
/// Number of values that are passed to a result at a time.
const BLOCK_VALUES: usize = 128 << 10;
/// Minimum number of rows that are passed to a result at a time, if a task has them. Adding a block has a cost for each
/// column, and for covariances for each pair of columns, however few rows it has.
const BLOCK_ROWS: usize = 256;

/// Computes the result of a table by tasks, as [`Partial::compute_over`] specifies.
///
/// # Errors
/// The errors of [`Partial::update`] and [`Partial::merge`].
pub(crate) fn in_units<P: Partial>(empty: &P, table: &dyn NumericTable, hook: &Hook) -> Result<P> {
    let shape = table.shape();
    let row_bytes = row_bytes(table);
    let in_bytes = |rows: usize| (rows as u64).saturating_mul(row_bytes);
    let meter = Meter::start(hook, in_bytes(shape.rows));
    let done = |rows| meter.add(in_bytes(rows));
    in_units_by(empty, shape, |rows| of_unit(empty, rows, shape.columns, |rows| table.select_rows(rows), done))
}

/// Computes the results of all units, several in parallel, and merges them in order.
fn in_units_by<P: Partial>(empty: &P, shape: Shape, unit: impl Fn(Range<usize>) -> Result<P> + Sync) -> Result<P> {
    let mut all = empty.new_like()?;
    let bytes = shape.element_count()?.saturating_mul(size_of::<f64>());
    in_order(units(shape), bytes, at_once(&all), unit, |found| all.merge(&found))?;
    Ok(all)
}

/// Returns how many results of tasks may be held before they are merged: more than the threads need if results are
/// small.
pub(crate) fn at_once<P: Partial>(empty: &P) -> usize {
    (HELD_BYTES / empty.size_in_bytes().max(1)).max(1)
}

/// Divides the rows of a table into tasks, depending on its shape only. There is at least one task.
pub(crate) fn units(shape: Shape) -> impl Iterator<Item = Range<usize>> {
    pieces(0..shape.rows, shape.columns, UNIT_VALUES)
}

/// Computes the result of the rows of one task. `rows_of` returns the rows of a block; `done` is called with the number
/// of rows of each block.
///
/// # Errors
/// The errors of `rows_of`, and of [`Partial::update`] with row indices in the whole table.
pub(crate) fn of_unit<'t, P: Partial>(
    empty: &P,
    rows: Range<usize>,
    columns: usize,
    mut rows_of: impl FnMut(Range<usize>) -> Result<Box<dyn NumericTable + 't>>,
    done: impl Fn(usize),
) -> Result<P> {
    let mut result = empty.new_like()?;
    let values = BLOCK_VALUES.max(BLOCK_ROWS.saturating_mul(columns)).min(UNIT_VALUES);
    for block in pieces(rows, columns, values) {
        let (start, count) = (block.start, block.len());
        result.update(&*rows_of(block)?).map_err(|error| error.moved(start, 0))?;
        done(count);
    }
    Ok(result)
}

/// Divides rows into pieces of about `values` values, with a power of two of rows each. Zero rows make one piece, and
/// so do rows without columns.
fn pieces(rows: Range<usize>, columns: usize, values: usize) -> impl Iterator<Item = Range<usize>> {
    let step = match values.checked_div(columns) {
        Some(step) => step.max(1).next_power_of_two(),
        None => rows.len().max(1),
    };
    let (start, end) = (rows.start, rows.end);
    let count = rows.len().div_ceil(step).max(1);
    (0..count).map(move |piece| start + piece * step..end.min((start + piece * step).saturating_add(step)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_consecutive_and_there_is_always_one() {
        for (rows, columns) in
            [(0, 0), (0, 3), (1, 0), (5, 1), (1 << 20, 16), (3_000_001, 7), (70, usize::MAX), (usize::MAX - 2, 0)]
        {
            let all: Vec<_> = pieces(2..2 + rows, columns, 1000).collect();
            assert!(!all.is_empty() && (all[0].start, all[all.len() - 1].end) == (2, 2 + rows));
            assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start && !pair[0].is_empty()));
        }
    }
}
