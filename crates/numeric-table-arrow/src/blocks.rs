//! Blocks of rows made of steps, and calls of libraries that may panic.

use std::collections::VecDeque;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow_array::Array as ArrowArray;
use arrow_schema::Fields;
use numeric_table::{
    AllocationFlag, DataLayout, Element, Error, ErrorKind, HomogenNumericTable, NumericTable, Result, SoaNumericTable,
    TableSelection,
};

use crate::chunks::{Room, fill};
use crate::columns::columns_of;
use crate::options::ArrowOptions;
use crate::plan::{Parts, Plan, whole_shape};
use crate::steps::Step;

impl Step {
    /// Returns the first `rows` rows, and the others if there are more.
    fn split(self, rows: usize) -> (Self, Option<Self>) {
        if rows >= self.rows {
            return (self, None);
        }
        let slice = |first: usize, count: usize| {
            // Columns that are not chosen may be empty.
            let columns = self.columns.iter().map(|array| match array.len() {
                length if length == self.rows => array.slice(first, count),
                _ => array.clone(),
            });
            let first_row = self.first_row.map(|row| row + first);
            let (fields, path, first_column) = (self.fields.clone(), self.path.clone(), self.first_column);
            Self { fields, columns: columns.collect(), first_column, rows: count, first_row, path }
        };
        (slice(0, rows), Some(slice(rows, self.rows - rows)))
    }
}

/// The rows of a file, a block at a time: see `row_blocks` of the sources. Each block is a table of its own, with
/// the requested number of rows; the last one has the rest. Rows without columns are one block. An error ends the
/// iteration.
///
/// # Examples
/// ```
/// # #[cfg(feature = "ipc")] {
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::{FileRowBlocks, ipc::IpcSource, ipc::save_ipc};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("table.arrow");
/// save_ipc(&path, &HomogenNumericTable::from_rows(&[[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]])?)?;
/// let source = IpcSource::open(&path)?;
/// let blocks: FileRowBlocks<'_, f64> = source.row_blocks(2)?;
/// let sums = blocks.map(|block| Ok(block?.as_slice()?.iter().sum())).collect::<Result<Vec<f64>, Error>>()?;
/// assert_eq!(sums, [12.0, 12.0]);
/// # }
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct FileRowBlocks<'s, T> {
    rows: StepBlocks<'s>,
    values: PhantomData<fn() -> T>,
}

/// The rows of a file, a block at a time, each column in its own type: see `column_blocks` of the sources. Each block
/// is a table of its own, with the requested number of rows; the last one has the rest. An error ends the iteration.
///
/// Words are numbered over all blocks, so a number means the same word in each of them: the dictionary of a block has
/// the words of this block and of those before.
///
/// # Examples
/// ```
/// # #[cfg(feature = "ipc")] {
/// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
/// use numeric_table_arrow::{FileColumnBlocks, ipc::IpcSource, ipc::save_ipc};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("table.arrow");
/// let columns = [("age", AnyArray::from(vec![31_u8, 27, 5])), ("size", AnyArray::from(vec![1.75_f32, 1.5, 1.0]))];
/// save_ipc(&path, &SoaNumericTable::from_columns(columns)?)?;
/// let source = IpcSource::open(&path)?;
/// let mut blocks: FileColumnBlocks<'_> = source.column_blocks(2)?;
/// assert_eq!(blocks.next().unwrap()?.column_slice::<u8>(0)?, [31, 27]);
/// assert_eq!(blocks.next().unwrap()?.column_slice::<f32>(1)?, [1.0]);
/// assert!(blocks.next().is_none());
/// # }
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct FileColumnBlocks<'s> {
    rows: StepBlocks<'s>,
}

/// Steps, divided into blocks.
struct StepBlocks<'s> {
    steps: Box<dyn Iterator<Item = Result<Step>> + Send + 's>,
    plan: Plan<'s>,
    /// Steps that were read and belong to the next blocks.
    pending: VecDeque<Step>,
    pending_rows: usize,
    rows_per_block: usize,
    is_done: bool,
}

impl<'s> StepBlocks<'s> {
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] for blocks without rows; those of a choice of columns.
    fn new(
        fields: &Fields,
        steps: impl Iterator<Item = Result<Step>> + Send + 's,
        options: &'s ArrowOptions,
        rows_per_block: usize,
    ) -> Result<Self> {
        if rows_per_block == 0 {
            return Err(empty_blocks());
        }
        let plan = Plan::new(fields, options, "batch")?;
        // A file of a few bytes may have 2^62 rows without columns.
        let rows_per_block = if plan.column_count() == 0 { usize::MAX } else { rows_per_block };
        let (steps, pending) = (Box::new(steps), VecDeque::new());
        Ok(Self { steps, plan, pending, pending_rows: 0, rows_per_block, is_done: false })
    }

    /// Returns what `next` makes of the next block. An error ends the blocks.
    fn advance<B>(&mut self, next: impl FnOnce(&mut Self) -> Result<Option<B>>) -> Option<Result<B>> {
        if self.is_done {
            return None;
        }
        let block = next(self).transpose();
        self.is_done = !matches!(block, Some(Ok(_)));
        block
    }

    /// Returns the steps of the next block, if there is one, and its number of rows.
    fn next_steps(&mut self) -> Result<Option<(Vec<Step>, usize)>> {
        while self.pending_rows < self.rows_per_block {
            let Some(step) = self.steps.next() else { break };
            let step = step?;
            if step.rows > 0 {
                self.pending_rows = self.pending_rows.saturating_add(step.rows);
                self.pending.push_back(step);
            }
        }
        let rows = self.pending_rows.min(self.rows_per_block);
        if rows == 0 {
            return Ok(None);
        }
        let (mut block, mut missing) = (Vec::new(), rows);
        while missing > 0 {
            let Some(step) = self.pending.pop_front() else { break };
            let (now, later) = step.split(missing);
            missing -= now.rows;
            block.push(now);
            if let Some(later) = later {
                self.pending.push_front(later); // what is left of the last step begins the next block
            }
        }
        self.pending_rows -= rows;
        Ok(Some((block, rows)))
    }
}

impl<'s> FileColumnBlocks<'s> {
    /// Divides steps into blocks.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] for blocks without rows; those of a choice of columns.
    pub(crate) fn new(
        fields: &Fields,
        steps: impl Iterator<Item = Result<Step>> + Send + 's,
        options: &'s ArrowOptions,
        rows_per_block: usize,
    ) -> Result<Self> {
        Ok(Self { rows: StepBlocks::new(fields, steps, options, rows_per_block)? })
    }
}

fn next_columns(rows: &mut StepBlocks<'_>) -> Result<Option<SoaNumericTable>> {
    let Some((block, _)) = rows.next_steps()? else { return Ok(None) };
    let parts: Vec<_> = block.iter().map(Step::part).collect();
    let path = block.first().and_then(|step| step.path.as_deref());
    columns_of(&mut rows.plan, Parts::all(&parts)).map(Some).map_err(|error| in_file(error, path))
}

impl Iterator for FileColumnBlocks<'_> {
    type Item = Result<SoaNumericTable>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.advance(next_columns)
    }
}

impl FusedIterator for FileColumnBlocks<'_> {}

impl fmt::Debug for FileColumnBlocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileColumnBlocks").field("rows_per_block", &self.rows.rows_per_block).finish_non_exhaustive()
    }
}

impl<'s, T: Element> FileRowBlocks<'s, T> {
    /// Divides steps into blocks.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] for blocks without rows; those of a choice of columns.
    pub(crate) fn new(
        fields: &Fields,
        steps: impl Iterator<Item = Result<Step>> + Send + 's,
        options: &'s ArrowOptions,
        rows_per_block: usize,
    ) -> Result<Self> {
        let rows = StepBlocks::new(fields, steps, options, rows_per_block)?;
        Ok(Self { rows, values: PhantomData })
    }
}

fn next_rows<T: Element>(rows: &mut StepBlocks<'_>) -> Result<Option<HomogenNumericTable<T>>> {
    let Some((block, count)) = rows.next_steps()? else { return Ok(None) };
    let plan = &mut rows.plan;
    let columns = plan.column_count();
    let shape = whole_shape([count].into_iter(), columns, Some(T::TYPE))?;
    let layout = plan.options.layout;
    let mut table = HomogenNumericTable::<T>::new_with_layout(shape, AllocationFlag::DoAllocate, layout)?;
    let mut values = if shape.is_empty() { &mut [][..] } else { table.as_mut_slice()? };
    let mut lanes: Vec<&mut [T]> = Vec::new();
    if layout == DataLayout::ColumnMajor && !shape.is_empty() {
        lanes = std::mem::take(&mut values).chunks_exact_mut(count).collect();
    }
    for step in &block {
        let room = match layout {
            DataLayout::RowMajor => Room::Rows(split_off(&mut values, step.rows * columns)),
            DataLayout::ColumnMajor => Room::Columns(lanes.iter_mut().map(|lane| split_off(lane, step.rows)).collect()),
        };
        let parts = [step.part()];
        let fills = plan
            .chunks(Parts::all(&parts), Some(T::TYPE))
            .and_then(|chunks| fill(&chunks, 0..columns, room, step.first_row.unwrap_or(0)));
        fills.map_err(|error| in_file(error, step.path.as_deref()))?;
    }
    table.with_dictionary(plan.dictionary(Some(T::TYPE))?).map(Some)
}

/// Takes the first values of a slice out of it.
fn split_off<'t, T>(values: &mut &'t mut [T], count: usize) -> &'t mut [T] {
    let all = std::mem::take(values);
    let (first, rest) = all.split_at_mut(count.min(all.len()));
    *values = rest;
    first
}

impl<T: Element> Iterator for FileRowBlocks<'_, T> {
    type Item = Result<HomogenNumericTable<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.advance(next_rows)
    }
}

impl<T: Element> FusedIterator for FileRowBlocks<'_, T> {}

impl<T> fmt::Debug for FileRowBlocks<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileRowBlocks").field("rows_per_block", &self.rows.rows_per_block).finish_non_exhaustive()
    }
}

/// Returns the rows of a table as tables of `rows` rows, at least one; the last one has the rest. A table without rows is
/// one block.
pub(crate) fn blocks_of<'t>(
    table: &'t (dyn NumericTable + 't),
    rows: usize,
) -> impl Iterator<Item = Result<Box<dyn NumericTable + 't>>> {
    let (count, step) = (table.shape().rows, rows.max(1));
    let rest = (step..count).step_by(step).map(move |start| start..count.min(start.saturating_add(step)));
    std::iter::once(0..step.min(count)).chain(rest).map(|rows| table.select_rows(rows))
}

/// Adds a path to an error, if there is one.
pub(crate) fn in_file(error: Error, path: Option<&Path>) -> Error {
    match path {
        Some(path) => error.in_file(path),
        None => error,
    }
}

/// Returns the error of blocks without rows.
pub(crate) fn empty_blocks() -> Error {
    let (name, allowed) = ("the number of rows of a block".into(), "at least 1 is needed".into());
    Error::new(ErrorKind::ParameterOutOfRange { name, value: 0.0, allowed })
}

/// Calls a library that may panic on damaged files, and makes an error of a panic. Nothing that the call has changed
/// may be used after that.
///
/// # Errors
/// [`ErrorKind::Foreign`].
pub(crate) fn guarded<R>(library: &'static str, call: impl FnOnce() -> R) -> Result<R> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let what = panic.downcast_ref::<String>().map(String::as_str);
        let what = what.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned();
        let reason = format!("{library} panicked, as damaged files make it: {what}");
        Error::new(ErrorKind::Foreign { reason, source: what.into() })
    })
}
