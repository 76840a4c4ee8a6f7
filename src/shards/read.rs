//! Reading rows of a table of many files: a range, all rows, or block by block.

use std::ops::{Range, RangeBounds};

use super::Shards;
use super::entry::Check;
use crate::array::Array;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::parallel::{map, task_count};
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::block::BlockMut;
use crate::convert::ConversionPolicy;
use crate::format::StoredRows;
use crate::storage::stored::Stored;
use crate::table::missing::check_none_missing;
use crate::table::{DataLayout, HomogenNumericTable, Region, Target, record_read, rows_of};
use crate::window::AnySliceMut;

/// An open file and a buffer for its values.
struct Open {
    shard: usize,
    rows: StoredRows,
    stored: Stored,
}

impl Open {
    /// Reads rows of the file into a target of the same size. `rows` must be in range.
    fn read(&mut self, rows: Range<usize>, target: AnySliceMut<'_>, meter: Option<&Meter>) -> Result<()> {
        match &self.rows {
            StoredRows::File(reader) => reader.read_into(rows, target, &mut self.stored, meter),
            StoredRows::Table(table) => {
                let region = Region { rows, columns: 0..table.shape().columns };
                let target = Target::new(target, region.shape(), ConversionPolicy::Saturate)?;
                let element = target.element_type();
                table.read_region(&region, target.allow_partial_write())?;
                record_read(&**table, &region, element);
                Ok(())
            }
        }
    }
}

/// How missing values are read into a homogeneous table, which has no bitmaps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MissingAs {
    /// As NaN in floating-point numbers; an error in integers.
    Nan,
    Error,
}

impl Shards {
    /// Reads consecutive rows, of one or several files, into a new row-major table of `U`. If the files hold another
    /// type, values are converted under [`ConversionPolicy::Saturate`]. Checksums of values are not compared, unless
    /// you request [verification](Self::with_verification). Missing values are NaN.
    ///
    /// Cost: O(values read), plus O(columns) for each file that has any of the rows. Several files are read in
    /// parallel.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`]; [`ErrorKind::SizeOverflow`]; [`ErrorKind::OutOfMemory`]. Of the first file that
    /// cannot be read: [`ErrorKind::MissingValue`], with the row in that file, if `U` is an integer type;
    /// [`ErrorKind::ShardChanged`] if it was replaced, [`ErrorKind::UnequalTables`], [`ErrorKind::Io`],
    /// [`ErrorKind::Format`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
    /// HomogenNumericTable::from_rows(&[[5_i16, 6]])?.save(folder.join("part-1.ntb"))?;
    /// let shards = Shards::open(folder)?;
    /// assert_eq!(shards.load_rows::<f32>(1..)?.as_slice()?, [3.0, 4.0, 5.0, 6.0]);
    /// let error = shards.load_rows::<f32>(1..4).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 3, .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_rows<U: Element>(&self, rows: impl RangeBounds<usize>) -> Result<HomogenNumericTable<U>> {
        let (row_count, rows) = (self.row_count(), rows_of(self.shape(), rows)?);
        match rows.start > rows.end || rows.end > row_count {
            true => Err(Error::new(ErrorKind::RowsOutOfRange { rows, row_count })),
            false => self.gather(rows, Check::Description, MissingAs::Nan),
        }
    }

    /// Loads the whole table from files that hold `T`, and compares the checksums of the values in the same pass.
    ///
    /// # Errors
    /// The errors of [`load_cast`](Self::load_cast); [`ErrorKind::ElementTypeMismatch`];
    /// [`ErrorKind::MixedElementTypes`]; [`ErrorKind::MissingValue`], with the row in its file, for every `T`:
    /// homogeneous tables have no missing values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.path().join("part-0.ntb"))?;
    /// let shards = Shards::open(folder.path())?;
    /// assert_eq!(shards.load::<i16>()?.as_slice()?, [1, 2, 3, 4]);
    /// assert!(matches!(shards.load::<f32>().unwrap_err().kind(), ErrorKind::ElementTypeMismatch { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        match self.dictionary.one_type()? {
            found if found != T::TYPE && !self.dictionary.is_empty() => {
                let (expected, path) = (T::TYPE, Some(self.entries[0].path.clone()));
                Err(Error::element_type_mismatch(expected, found)
                    .with_hint(Hint::new("load_cast", "converts"))
                    .in_some_file(path))
            }
            _ => self.gather(0..self.row_count(), Check::Values, MissingAs::Error),
        }
    }

    /// Loads the whole table, converted to `U` and row-major, and compares the checksums of the values in the same
    /// pass. Missing values are NaN.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`]; [`ErrorKind::OutOfMemory`]. Of the first file that cannot be read or is damaged:
    /// [`ErrorKind::MissingValue`], with the row in that file, if `U` is an integer type;
    /// [`ErrorKind::ShardChanged`] if it was replaced, [`ErrorKind::UnequalTables`], [`ErrorKind::Io`],
    /// [`ErrorKind::Format`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.path().join("part-0.ntb"))?;
    /// assert_eq!(Shards::open(folder.path())?.load_cast::<f32>()?.as_slice()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_cast<U: Element>(&self) -> Result<HomogenNumericTable<U>> {
        self.gather(0..self.row_count(), Check::Values, MissingAs::Nan)
    }

    /// Iterates over all rows in blocks of `rows_per_block`. Blocks may span files. One buffer is reused for every
    /// block, and the last block may be shorter. Checksums of values are not compared, unless you request
    /// [verification](Self::with_verification).
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `rows_per_block` is 0; [`ErrorKind::SizeOverflow`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(folder.join("part-0.ntb"))?;
    /// HomogenNumericTable::from_rows(&[[7_i16, 8]])?.save(folder.join("part-1.ntb"))?;
    /// let shards = Shards::open(folder)?;
    /// let mut blocks = shards.row_blocks::<f64>(2)?;
    /// assert_eq!(blocks.next_block()?.unwrap()[..], [1.0, 2.0, 3.0, 4.0]);
    /// assert_eq!(blocks.next_block()?.unwrap()[..], [5.0, 6.0, 7.0, 8.0]);
    /// assert!(blocks.next_block()?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn row_blocks<U: Element>(&self, rows_per_block: usize) -> Result<ShardBlocks<'_, U>> {
        if rows_per_block == 0 {
            return Err(Error::empty_blocks());
        }
        let Shape { rows, columns } = self.shape();
        let largest = Shape { rows: rows_per_block.min(rows), columns };
        let values = Array::zeros(largest.element_count_of(U::TYPE)?)?;
        let meter = Meter::start(&self.hook, self.size_of_rows(rows));
        Ok(ShardBlocks { shards: self, rows_per_block, next_row: 0, values, open: None, meter })
    }

    /// Reads rows, which must be in range, into a new table. Files that are read completely are compared with their
    /// checksums if `check` requests it.
    fn gather<U: Element>(
        &self,
        rows: Range<usize>,
        check: Check,
        missing: MissingAs,
    ) -> Result<HomogenNumericTable<U>> {
        let shape = Shape { rows: rows.len(), ..self.shape() };
        let mut array = Array::<U>::zeros(shape.element_count_of(U::TYPE)?)?;
        let meter = Meter::start(&self.hook, self.size_of_rows(rows.len()));
        let (mut parts, mut rest) = (Vec::new(), AnySliceMut::new(array.mutable_data()?));
        for (shard, rows) in self.parts_of(rows.clone(), check == Check::Values) {
            let (target, tail) = rest.split_at(rows.len() * shape.columns);
            parts.try_reserve(1).map_err(|_| Error::out_of_memory(size_of_val(&parts)))?;
            parts.push((shard, rows, target));
            rest = tail;
        }
        let read = |(shard, rows, target)| self.read_part(shard, rows, target, (check, missing), &meter);
        let outcomes = match task_count(self.work_of(parts.len(), rows.len())) {
            1 => parts.into_iter().try_for_each(read),
            _ => map(parts, read).into_iter().collect(),
        };
        outcomes?;
        let dictionary = self.dictionary.with_element_type(U::TYPE)?;
        HomogenNumericTable::internal(array, shape, DataLayout::RowMajor).with_dictionary(dictionary)
    }

    /// Returns the files that contain some of these rows, and the rows within each file; with `all`, also files without
    /// rows.
    fn parts_of(&self, rows: Range<usize>, all: bool) -> impl Iterator<Item = (usize, Range<usize>)> {
        let first = if all { 0 } else { self.ends.partition_point(|&end| end <= rows.start) };
        let end = rows.end;
        let shards = (first..self.entries.len()).take_while(move |&shard| all || self.rows_of(shard).start < end);
        let parts = shards.map(move |shard| {
            let own = self.rows_of(shard);
            let within = own.start.max(rows.start)..own.end.min(rows.end);
            (shard, within.start.saturating_sub(own.start)..within.end.saturating_sub(own.start))
        });
        parts.filter(move |(_, rows)| all || !rows.is_empty())
    }

    fn read_part(
        &self,
        shard: usize,
        rows: Range<usize>,
        target: AnySliceMut<'_>,
        (check, missing): (Check, MissingAs),
        meter: &Meter,
    ) -> Result<()> {
        let mut open = self.open_rows(shard, check)?;
        let outcome = match (&open.rows, check) {
            (StoredRows::File(reader), Check::Values) => reader.read_verified(target, &mut open.stored, Some(meter)),
            (StoredRows::File(_), _) => open.read(rows, target, Some(meter)),
            (StoredRows::Table(table), _) => {
                if missing == MissingAs::Error {
                    let checked = check_none_missing(&**table, &rows);
                    let hint = Hint::new("load_cast", "shows them as NaN");
                    checked.map_err(|error| error.with_hint(hint).in_file(&self.entries[shard].path))?;
                }
                meter.add(self.size_of_rows(rows.len()));
                open.read(rows, target, None)
            }
        };
        outcome.map_err(|error| error.in_file(&self.entries[shard].path))
    }

    fn open_rows(&self, shard: usize, check: Check) -> Result<Open> {
        let opened = self.open_shard(shard, check)?;
        let rows = opened.into_rows().map_err(|error| error.in_file(&self.entries[shard].path))?;
        let element = match &rows {
            StoredRows::File(reader) => reader.element_type(),
            StoredRows::Table(_) => ElementType::U8, // which needs no buffer
        };
        Ok(Open { shard, rows, stored: Stored::new(element) })
    }
}

/// The rows of a table of many files, block by block: see [`Shards::row_blocks`].
///
/// A block is writable: it is the buffer itself, and changes are not written to the files.
///
/// # Examples
/// ```
/// # use numeric_table::{prelude::*, shards::Shards};
/// # let folder = tempfile::tempdir()?;
/// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.path().join("part-0.ntb"))?;
/// let shards = Shards::open(folder.path())?;
/// let (mut blocks, mut sum) = (shards.row_blocks::<f64>(64)?, 0.0);
/// while let Some(block) = blocks.next_block()? {
///     sum += block.iter().sum::<f64>();
/// }
/// assert_eq!(sum, 10.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ShardBlocks<'s, U> {
    shards: &'s Shards,
    rows_per_block: usize,
    next_row: usize,
    values: Array<U>,
    /// The file that was read last.
    open: Option<Open>,
    meter: Meter,
}

impl<U: Element> ShardBlocks<'_, U> {
    /// Reads the next block, which replaces the previous one. Returns `None` after the last one. After an error, the
    /// next call tries the same block again.
    ///
    /// # Errors
    /// The errors of [`Shards::load_rows`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("part-0.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let shards = Shards::from_paths([&path, &path])?;
    /// let (mut blocks, mut ranges) = (shards.row_blocks::<f32>(4)?, Vec::new());
    /// while let Some(block) = blocks.next_block()? {
    ///     ranges.push(block.row_range());
    /// }
    /// assert_eq!(ranges, [0..4, 4..6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_block(&mut self) -> Result<Option<BlockMut<'_, U>>> {
        let Shape { rows: row_count, columns } = self.shards.shape();
        if self.next_row == row_count {
            return Ok(None);
        }
        let rows = self.next_row..self.next_row.saturating_add(self.rows_per_block).min(row_count);
        let values = &mut self.values.mutable_data()?[..rows.len() * columns];
        let mut rest = &mut values[..];
        for (shard, part) in self.shards.parts_of(rows.clone(), false) {
            let (target, tail) = rest.split_at_mut(part.len() * columns);
            let mut open = match self.open.take() {
                Some(open) if open.shard == shard => open,
                _ => self.shards.open_rows(shard, Check::Description)?,
            };
            let outcome = open.read(part, AnySliceMut::new(target), None);
            outcome.map_err(|error| error.in_file(&self.shards.entries[shard].path))?;
            self.open = Some(open);
            rest = tail;
        }
        self.next_row = rows.end;
        self.meter.add(self.shards.size_of_rows(rows.len()));
        Ok(Some(BlockMut::staged(values, Region { rows, columns: 0..columns })))
    }
}
