//! Reading a CSV file that is larger than memory, one block of rows at a time.

use super::CsvSource;
use super::batches::Batches;
use super::parse::RecordParser;
use super::roles::{Roles, RowPlan};
use super::rows::RowSink;
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::base::progress::Meter;
use crate::base::room::filled;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::block::BlockMut;
use crate::table::Region;

/// The rows of a CSV file, block by block: see [`CsvSource::row_blocks`].
pub struct CsvBlocks<'s, T> {
    source: &'s CsvSource,
    plan: RowPlan<'s, T>,
    batches: Batches,
    rows_per_block: usize,
    values: Array<T>,
    /// Number of rows before the block.
    first_row: usize,
    /// Number of rows in the block.
    rows: usize,
    /// Whether the block has been returned and the next one is due.
    is_done: bool,
    /// Number of missing values of each column so far.
    missing: Vec<usize>,
    meter: Meter,
}

impl<'s, T: Element> CsvBlocks<'s, T> {
    pub(super) fn new(source: &'s CsvSource, roles: &'s Roles, rows_per_block: usize) -> Result<Self> {
        if rows_per_block == 0 {
            return Err(Error::empty_blocks());
        }
        let plan = RowPlan::<T>::new(roles).map_err(|error| source.input.name_in(error))?;
        // Every field but the last one takes at least a byte, so no file has more rows.
        let most = (source.length() + 1) / roles.columns.len().max(1) as u64;
        let most = source.counted_rows().unwrap_or(usize::try_from(most).unwrap_or(usize::MAX));
        let rows = rows_per_block.min(most).max(1);
        let values = Array::zeros(Shape { rows, columns: plan.width }.element_count_of(T::TYPE)?)?;
        let (batches, meter) = (Batches::new(source.start), source.meter());
        let missing = filled(plan.width, 0)?;
        Ok(Self {
            source,
            plan,
            batches,
            rows_per_block: rows,
            values,
            first_row: 0,
            rows: 0,
            is_done: false,
            missing,
            meter,
        })
    }

    /// Returns the number of missing values of each column in all blocks so far, before they are replaced. Blocks have
    /// NaN or another value in their place, as the options ask for.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvMissing, CsvOptions, CsvSource}, prelude::*};
    /// let options = CsvOptions::new().missing(CsvMissing::Nan);
    /// let source = CsvSource::from_bytes_with(&b"1,\nNA,nan\n,4\n"[..], options)?;
    /// let mut blocks = source.row_blocks::<f64>(2)?;
    /// while blocks.next_block()?.is_some() {}
    /// assert_eq!(blocks.missing_counts(), [2, 1]); // `nan` is a number
    /// # Ok::<(), Error>(())
    /// ```
    pub fn missing_counts(&self) -> &[usize] {
        &self.missing
    }

    /// Reads the next block, which replaces the previous one. Returns `None` after the last block. After an error, the
    /// next call retries the same block, so an error in the file is reported again.
    ///
    /// # Errors
    /// Those of [`CsvSource::load`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let source = CsvSource::from_bytes(&b"1,2\n3,4\n5,6\n"[..])?;
    /// let (mut blocks, mut sum) = (source.row_blocks::<f64>(2)?, 0.0);
    /// while let Some(block) = blocks.next_block()? {
    ///     sum += block.iter().sum::<f64>();
    /// }
    /// assert_eq!(sum, 21.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn next_block(&mut self) -> Result<Option<BlockMut<'_, T>>> {
        if std::mem::take(&mut self.is_done) {
            self.first_row += self.rows;
            self.rows = 0;
        }
        let (source, width) = (self.source, self.plan.width);
        let values: &mut [T] = if self.values.is_empty() { &mut [] } else { self.values.mutable_data()? };
        let mut parser = RecordParser::new(source, self.plan.roles, self.plan.may_skip);
        let mut sink = RowSink::new(&self.plan, source.options.policy, &mut values[self.rows * width..]);
        while self.rows < self.rows_per_block && self.batches.fill(&source.syntax, &source.input, source.step)? {
            let (bytes, place) = (self.batches.bytes(&source.input), self.batches.place());
            let limit = self.rows_per_block - self.rows;
            let result = parser.parse(bytes, place, &mut sink, limit);
            let (Ok(parsed) | Err((_, parsed))) = result;
            self.batches.advance(parsed.bytes);
            self.missing.iter_mut().zip(sink.missing.drain(..)).for_each(|(all, more)| *all += more);
            self.rows += parsed.rows;
            if parsed.bytes > 0 {
                self.meter.add(parsed.bytes as u64);
            }
            if let Err((failure, _)) = result {
                return Err(source.error(failure));
            }
        }
        if self.rows == 0 {
            return Ok(None);
        }
        self.is_done = true;
        trace::record(CopyKind::Loaded, self.rows * width * size_of::<T>());
        let rows = self.first_row..self.first_row + self.rows;
        let region = Region { rows, columns: 0..width };
        Ok(Some(BlockMut::staged(&mut values[..self.rows * width], region)))
    }
}

impl<T> std::fmt::Debug for CsvBlocks<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CsvBlocks").field("source", &self.source).field("first_row", &self.first_row).finish()
    }
}
