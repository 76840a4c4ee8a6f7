//! Decoding consecutive rows: one reader per column. All readers advance together, one step at a time.
//!
//! Columns of numbers without nulls are decoded by [`flat`](super::flat), and others by the `parquet` crate.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, RowSelection, RowSelector};
use ::parquet::file::statistics::Statistics;
use arrow_array::{Array as ArrowArray, ArrayRef, NullArray};
use arrow_schema::Fields;
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::internal::parallel::map;
use numeric_table::{Error, Result};

use super::checked::OneColumn;
use super::flat::{self, FlatColumn};
use super::input::{Pages, Spare, ratio_of};
use super::source::{LIBRARY, damaged, failed_column};
use crate::blocks::guarded;
use crate::input::Input;
use crate::steps::Step;

/// Number of values in a step, summed over all columns.
const STEP_VALUES: usize = 1 << 20;
/// Maximum and minimum number of rows in a step.
const MAX_ROWS: usize = 64 << 10;
const MIN_ROWS: usize = 1 << 10;

/// The parts of an open file from which column readers are created.
#[derive(Clone)]
pub(super) struct Decoder {
    pub(super) input: Input,
    pub(super) metadata: ArrowReaderMetadata,
    /// The first row of each row group, and the number of all rows.
    pub(super) starts: Arc<[usize]>,
    /// Whether the metadata has the positions of pages.
    pub(super) has_index: bool,
}

/// Consecutive rows of some columns, which are decoded together.
pub(super) struct Lane {
    columns: Vec<ColumnReader>,
    decoder: Decoder,
    spare: Spare,
    /// Stands for the columns that are not decoded.
    nothing: ArrayRef,
    /// The next row of the file.
    row: usize,
    /// Number of remaining rows.
    left: usize,
    step: usize,
}

/// One column.
struct ColumnReader {
    /// Its number in the file.
    index: usize,
    name: String,
    reader: Reader,
}

enum Reader {
    Flat(Box<dyn FlatColumn>),
    Arrow(ParquetRecordBatchReader),
}

impl Decoder {
    /// Opens columns of the file for rows. The same column may be requested several times.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`]; [`ErrorKind::Format`].
    pub(super) fn lane(&self, columns: impl IntoIterator<Item = usize>, rows: Range<usize>) -> Result<Lane> {
        let count = self.fields().len();
        let mut readers: Vec<usize> = columns.into_iter().filter(|&index| index < count).collect();
        if readers.len() > 1 {
            let mut is_open = vec![false; count];
            readers.retain(|&index| !std::mem::replace(&mut is_open[index], true));
        }
        let step = (STEP_VALUES / readers.len().max(1)).clamp(MIN_ROWS, MAX_ROWS).min(rows.len().max(1));
        let spare = Spare::default();
        let open = |&index: &usize| {
            let name = self.check(index, &rows)?;
            let reader = match flat::open(self, index, &rows, &spare) {
                Some(flat) => Reader::Flat(flat),
                None => Reader::Arrow(self.open(index, &name, &rows, step, &spare)?),
            };
            Ok(ColumnReader { index, name, reader })
        };
        let columns = if rows.is_empty() { Vec::new() } else { readers.iter().map(open).collect::<Result<_>>()? };
        Ok(Lane {
            columns,
            decoder: self.clone(),
            spare,
            nothing: Arc::new(NullArray::new(0)),
            row: rows.start,
            left: rows.len(),
            step,
        })
    }

    fn fields(&self) -> &Fields {
        self.metadata.schema().fields()
    }

    /// Cuts rows at row groups into at most `count` parts of about equal size.
    pub(super) fn cuts(&self, rows: &Range<usize>, count: usize) -> Vec<Range<usize>> {
        let (mut cuts, mut start, least) = (Vec::new(), rows.start, rows.len().div_ceil(count.max(1)));
        for &end in self.starts.iter().filter(|&&end| rows.start < end && end < rows.end) {
            if end - start >= least {
                cuts.push(start..end);
                start = end;
            }
        }
        cuts.push(start..rows.end);
        cuts
    }

    /// Returns the row groups that contain any of the rows.
    pub(super) fn groups(&self, rows: &Range<usize>) -> Range<usize> {
        let first = self.starts.partition_point(|&start| start <= rows.start).saturating_sub(1);
        let end = self.starts.partition_point(|&start| start < rows.end);
        first..end.min(self.starts.len().saturating_sub(1)).max(first)
    }

    /// Returns whether values of some columns may be null in some rows, as the footer says: no column with a count of 0
    /// in each row group, and no required one.
    pub(super) fn may_be_missing(&self, mut columns: impl Iterator<Item = usize>, rows: &Range<usize>) -> bool {
        let file = self.metadata.metadata();
        columns.any(|index| {
            let Some(leaf) = leaf_of(&self.metadata, index) else { return true }; // opening it is an error
            let nulls = |group| {
                let chunk = file.row_group(group).columns().get(leaf)?;
                chunk.statistics().and_then(Statistics::null_count_opt)
            };
            let is_optional = self.metadata.parquet_schema().column(leaf).max_def_level() > 0;
            is_optional && self.groups(rows).any(|group| nulls(group) != Some(0))
        })
    }

    /// Returns the name of a column, if all row groups of some rows have it, with a value for each row.
    fn check(&self, index: usize, rows: &Range<usize>) -> Result<String> {
        let name = self.fields().get(index).map_or_else(String::new, |field| field.name().clone());
        let leaf = leaf_of(&self.metadata, index);
        for number in self.groups(rows) {
            let group = self.metadata.metadata().row_group(number);
            let (rows, chunk) = (group.num_rows(), leaf.and_then(|leaf| group.columns().get(leaf)));
            let chunk = chunk.ok_or_else(|| damaged(format!("row group {number} has no column {index} ({name})")))?;
            if chunk.num_values() != rows {
                let values = chunk.num_values();
                let reason =
                    format!("column {index} ({name}) has {values} values in row group {number} of {rows} rows");
                return Err(damaged(reason));
            }
        }
        Ok(name)
    }

    /// Opens a column that was [checked](Self::check) with the `parquet` crate.
    fn open(
        &self,
        index: usize,
        name: &str,
        rows: &Range<usize>,
        step: usize,
        spare: &Spare,
    ) -> Result<ParquetRecordBatchReader> {
        let (file, groups) = (self.metadata.metadata(), self.groups(rows));
        let leaf = leaf_of(&self.metadata, index);
        let (mut ratio, mut has_index) = (1, self.has_index);
        for group in groups.clone() {
            let chunk = leaf.and_then(|leaf| file.row_group(group).columns().get(leaf));
            ratio = chunk.map_or(ratio, |chunk| ratio.max(ratio_of(chunk.compression())));
            let index = file.page_index_for_row_group(group);
            has_index &= leaf.is_some_and(|leaf| index.page_locations(leaf).is_some());
        }
        let pages = Pages::new(&self.input, ratio, has_index, spare);
        let start = self.starts.get(groups.start).copied().unwrap_or(0);
        let end = self.starts.get(groups.end).copied().unwrap_or(rows.end);
        let is_all = (start, end) == (rows.start, rows.end);
        let selection = (!is_all).then(|| {
            RowSelection::from(vec![
                RowSelector::skip(rows.start - start),
                RowSelector::select(rows.len()),
                RowSelector::skip(end - rows.end),
            ])
        });
        let column = OneColumn { metadata: self.metadata.clone(), pages, groups, leaf: leaf.unwrap_or(usize::MAX) };
        let build = || column.open(index, step, selection);
        guarded(LIBRARY, build)?.map_err(|error| failed_column(index, name, error))
    }
}

/// Returns the number of a column among those that are not nested.
pub(super) fn leaf_of(metadata: &ArrowReaderMetadata, index: usize) -> Option<usize> {
    let schema = metadata.parquet_schema();
    let (mut first, mut end) = (index, schema.num_columns()); // the columns before it have at least one each
    while first < end {
        let middle = first.midpoint(end);
        match schema.get_column_root_idx(middle) {
            root if root < index => first = middle + 1,
            _ => end = middle,
        }
    }
    (first < schema.num_columns() && schema.get_column_root_idx(first) == index).then_some(first)
}

impl ColumnReader {
    /// Decodes the next rows: `rows`, or fewer if the file does not have as many.
    fn next(
        &mut self,
        rows: usize,
        reopen: impl FnOnce(&Self) -> Result<ParquetRecordBatchReader>,
    ) -> Result<Option<ArrayRef>> {
        if let Reader::Flat(flat) = &mut self.reader {
            // The crate that reads the pages may panic.
            if let Ok(array) = guarded(LIBRARY, || flat.next(rows))
                && let Some(array) = array?
            {
                return Ok(Some(array));
            }
            self.reader = Reader::Arrow(reopen(self)?);
        }
        self.next_batch()
    }

    /// Decodes the next rows with the `parquet` crate, if there are any.
    fn next_batch(&mut self) -> Result<Option<ArrayRef>> {
        let Reader::Arrow(reader) = &mut self.reader else { return Ok(None) };
        let batch = guarded(LIBRARY, || reader.next())?;
        let batch = batch.transpose().map_err(|error| failed_column(self.index, &self.name, error))?;
        Ok(batch.and_then(|batch| batch.columns().first().cloned()))
    }
}

impl Lane {
    pub(super) fn rows(&self) -> usize {
        self.left
    }

    /// Returns whether the number of rows may differ between steps: the `parquet` crate decodes a fixed number.
    fn is_flat(&self) -> bool {
        self.columns.iter().all(|column| matches!(column.reader, Reader::Flat(_)))
    }

    /// Returns the number of rows of the next step. It ends with a row group if that is more than half a step away:
    /// pages then begin with a step, and need not be put together.
    fn flat_rows(&self) -> usize {
        if self.columns.is_empty() || self.left <= self.step {
            return self.left;
        }
        let starts = &self.decoder.starts;
        let last = starts.partition_point(|&start| start <= self.row + self.step).saturating_sub(1);
        let rows = starts.get(last).map_or(0, |start| start.saturating_sub(self.row));
        if rows > self.step / 2 { rows } else { self.step }
    }

    /// Decodes the next step. Columns are decoded in parallel.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`] with the first column that cannot be decoded; [`ErrorKind::Format`] if the number of rows
    /// of a column differs from the footer.
    pub(super) fn next_step(&mut self) -> Result<Option<Step>> {
        if self.left == 0 {
            return Ok(None);
        }
        let is_flat = self.is_flat();
        let rows = if is_flat { self.flat_rows() } else { self.step.min(self.left) };
        let fields = self.decoder.fields().clone();
        // The only column stands for itself, so that lanes of one column each take time with their number.
        let first_column = if let [column] = &self.columns[..] { column.index } else { 0 };
        let places = if self.columns.len() == 1 { 1 } else { fields.len() };
        let mut columns = vec![self.nothing.clone(); places];
        let readers: Vec<&mut ColumnReader> = self.columns.iter_mut().collect();
        let (all, is_last) = (self.row..self.row + self.left, rows == self.left);
        let decoded = map(readers, |column| {
            let reopen = |column: &ColumnReader| self.decoder.open(column.index, &column.name, &all, rows, &self.spare);
            let array = column.next(rows, reopen)?.filter(|array| array.len() == rows);
            let array = array.ok_or_else(|| column.unequal())?;
            match is_last && column.next_batch()?.is_some() {
                true => Err(column.unequal()),
                false => Ok((column.index, array)),
            }
        });
        for found in decoded {
            let (index, array) = found?;
            columns[index - first_column] = array;
        }
        if is_flat && !self.is_flat() {
            self.step = rows; // that of the columns that were opened again
        }
        let step = Step { fields, columns, first_column, rows, first_row: Some(self.row), path: None };
        self.row += rows;
        self.left -= rows;
        Ok(Some(step))
    }
}

impl ColumnReader {
    fn unequal(&self) -> Error {
        let Self { index, name, .. } = self;
        damaged(format!("column {index} ({name}) does not have as many rows as the footer claims"))
    }
}

/// The steps of a lane. An error ends the iteration.
impl Iterator for Lane {
    type Item = Result<Step>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.next_step().transpose();
        if !matches!(step, Some(Ok(_))) {
            self.left = 0;
        }
        step
    }
}
