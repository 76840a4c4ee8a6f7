//! Readers of record batches: tables and table files of all rows, without holding all batches.
//!
//! Readers are consumed in groups of batches of some megabytes, so that several threads can convert small batches. A
//! group is dropped once its values are copied. The number of rows is unknown, so tables grow as rows arrive.

use std::path::Path;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::Fields;
use numeric_table::internal::match_element;
use numeric_table::{
    AllocationFlag, AnyArray, DataLayout, Element, Error, ErrorKind, HomogenNumericTable, MemoryStatus, NumericTable,
    Result, Shape, SoaNumericTable,
    array::Validity,
    error::Difference,
    files::{SaveOptions, TableWriter},
    interop::CopyReason,
};

use crate::chunks::{Chunk, ChunkColumn, Room, assemble, fill};
use crate::columns::columns_of;
use crate::error::unequal;
use crate::gaps::GrowingGaps;
use crate::import::from_parts;
use crate::options::ArrowOptions;
use crate::plan::{Part, Parts, Plan, whole_shape};
use crate::steps::{Step, steps_of};

/// Number of values, of all columns together, in a group of batches.
const GROUP_VALUES: usize = 1 << 21;
/// Room for the words of columns in a table file, which are known only at the end: 1 MiB.
const WORD_BYTES: u64 = 1 << 20;
/// Largest number of batches in a group.
const GROUP_BATCHES: usize = 1 << 10;

/// Creates one table from all batches of a reader.
pub(crate) fn read_record_batches<T: Element>(
    reader: impl RecordBatchReader,
    options: ArrowOptions,
) -> Result<HomogenNumericTable<T>> {
    let schema = reader.schema();
    read_steps(schema.fields(), steps_of(reader), &options)
}

/// Creates one table of all steps, which have some fields.
pub(crate) fn read_steps<T: Element>(
    fields: &Fields,
    steps: impl Iterator<Item = Result<Step>>,
    options: &ArrowOptions,
) -> Result<HomogenNumericTable<T>> {
    let mut plan = Plan::new(fields, options, "batch")?;
    let mut growing: Option<HomogenNumericTable<T>> = None;
    let columns = plan.column_count();
    in_groups(steps, columns, |parts, is_last| {
        let mut table = match growing.take() {
            None if is_last => {
                growing = Some(from_parts(&mut plan, parts)?);
                return Ok(());
            }
            None => {
                options.copy.copies(Some(CopyReason::Layout))?;
                plan.grows = true;
                let mut table = HomogenNumericTable::<T>::new_with_layout(
                    Shape { rows: 0, columns },
                    AllocationFlag::DoAllocate,
                    options.layout,
                )?;
                table.reserve_rows(options.expected_rows)?;
                table
            }
            Some(table) => table,
        };
        append(&mut table, &plan.chunks(parts, Some(T::TYPE))?)?;
        growing = Some(table);
        Ok(())
    })?;
    match growing {
        Some(table) if plan.grows => table.with_dictionary(plan.dictionary(Some(T::TYPE))?),
        Some(table) => Ok(table),
        None => from_parts(&mut plan, Parts::all(&[])), // never: the last group is passed on if it is empty
    }
}

pub(crate) fn read_columns(reader: impl RecordBatchReader, options: ArrowOptions) -> Result<SoaNumericTable> {
    let schema = reader.schema();
    read_step_columns(schema.fields(), steps_of(reader), &options)
}

/// Creates a table of all steps, which have some fields, each column of its own type.
pub(crate) fn read_step_columns(
    fields: &Fields,
    steps: impl Iterator<Item = Result<Step>>,
    options: &ArrowOptions,
) -> Result<SoaNumericTable> {
    let mut plan = Plan::new(fields, options, "batch")?;
    let (mut whole, mut growing) = (None, Growing::default());
    let columns = plan.column_count();
    in_groups(steps, columns, |parts, is_last| {
        if !plan.grows && is_last {
            whole = Some(columns_of(&mut plan, parts)?);
            return Ok(());
        }
        if !plan.grows {
            options.copy.copies(Some(CopyReason::Layout))?;
            plan.grows = true;
        }
        let chunks = plan.chunks(parts, None)?;
        growing.append(&plan, &chunks)
    })?;
    match whole {
        Some(table) => Ok(table),
        None => growing.into_table(plan),
    }
}

/// Saves all batches of a reader as a table file.
pub(crate) fn save_record_batches_with<T: Element>(
    path: impl AsRef<Path>,
    reader: impl RecordBatchReader,
    options: ArrowOptions,
    save: SaveOptions,
) -> Result<Shape> {
    let schema = reader.schema();
    save_steps::<T>(path.as_ref(), schema.fields(), steps_of(reader), &options, save, |error| error)
}

/// Saves all steps, which have some fields, as a table file. `named` adds their file to errors about the values.
pub(crate) fn save_steps<T: Element>(
    path: &Path,
    fields: &Fields,
    steps: impl Iterator<Item = Result<Step>>,
    options: &ArrowOptions,
    save: SaveOptions,
    named: impl Fn(Error) -> Error,
) -> Result<Shape> {
    let mut plan = Plan::new(fields, options, "batch").map_err(&named)?;
    let columns = plan.column_count();
    let mut writer = TableWriter::<T>::create_with(path, columns, plan.dictionary(Some(T::TYPE))?, save)?;
    if plan.has_labels() {
        writer.reserve_labels(WORD_BYTES)?;
    }
    in_groups(steps, columns, |parts, _| {
        let chunks = plan.chunks(parts, Some(T::TYPE)).map_err(&named)?;
        write(&mut writer, &chunks, &named)?;
        if plan.has_labels() { writer.describe(plan.dictionary(Some(T::TYPE))?) } else { Ok(()) }
    })?;
    let shape = writer.shape();
    writer.finish()?;
    Ok(shape)
}

/// Appends the rows of a record batch.
pub(crate) fn append_record_batch<T: Element>(
    writer: &mut TableWriter<T>,
    batch: &RecordBatch,
    options: &ArrowOptions,
) -> Result<()> {
    let parts = [Part::of_batch(batch)];
    let mut plan = Plan::new(parts[0].fields, options, "batch")?;
    let (expected, found) = (writer.shape().columns, plan.column_count());
    if expected != found {
        return Err(unequal(1, None, Difference::Columns, format!("expected {expected} columns, found {found}")));
    }
    plan.check_times(writer.dictionary())?;
    plan.set_words(writer.dictionary())?;
    write(writer, &plan.chunks(Parts::all(&parts), Some(T::TYPE))?, |error| error)
}

/// Reads all batches and calls `take` with groups of them, and with whether a group is the last. A group is the last if
/// no rows follow it.
///
/// # Errors
/// Those of the steps and of `take`.
fn in_groups(
    steps: impl Iterator<Item = Result<Step>>,
    columns: usize,
    mut take: impl FnMut(Parts<'_>, bool) -> Result<()>,
) -> Result<()> {
    let (mut group, mut rows, mut first) = (Vec::<Step>::new(), 0_usize, 0_usize);
    let most = GROUP_VALUES / columns.max(1);
    for step in steps {
        let step = step?;
        let is_full = rows > 0 && (rows >= most || group.len() >= GROUP_BATCHES);
        if is_full && step.rows > 0 {
            let parts: Vec<Part<'_>> = group.iter().map(Step::part).collect();
            take(Parts { parts: &parts, first, count: count_of(&group, usize::MAX) }, false)?;
            first = first.saturating_add(group.len());
            (rows, group) = (0, Vec::new());
        }
        rows = rows.saturating_add(step.rows);
        group.push(step);
    }
    let parts: Vec<Part<'_>> = group.iter().map(Step::part).collect();
    let count = if first == 0 { parts.len() } else { usize::MAX };
    take(Parts { parts: &parts, first, count: count_of(&group, count) }, true)
}

/// Returns the number of steps, for errors: those of steps that count their rows from the beginning of the table do not
/// number the steps.
fn count_of(group: &[Step], count: usize) -> usize {
    match group.first() {
        Some(step) if step.first_row.is_some() => 1,
        _ => count,
    }
}

/// Adds all rows of chunks to a table.
///
/// # Errors
/// Those of [`fill`]; [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
fn append<T: Element>(table: &mut HomogenNumericTable<T>, chunks: &[Chunk<'_>]) -> Result<()> {
    let Shape { rows: first, columns } = table.shape();
    let new = whole_shape(chunks.iter().map(|chunk| chunk.rows), columns, Some(T::TYPE))?.rows;
    table.reserve_rows(new)?;
    table.resize(first + new)?; // `reserve_rows` has checked the sum
    if columns == 0 || new == 0 {
        return Ok(());
    }
    let layout = table.data_layout();
    let rows = table.view_mut()?.slice_rows(first..)?;
    let room = match layout {
        DataLayout::RowMajor => {
            // They are contiguous.
            Room::Rows(rows.try_into_slice().map_err(|_| Error::new(ErrorKind::NotAllocated))?)
        }
        DataLayout::ColumnMajor => {
            let (mut lanes, mut rest) = (Vec::new(), rows.transposed());
            for _ in 0..columns {
                let (lane, tail) = rest.split_at_row(1)?;
                // Columns are contiguous.
                lanes.push(lane.try_into_slice().map_err(|_| Error::new(ErrorKind::NotAllocated))?);
                rest = tail;
            }
            Room::Columns(lanes)
        }
    };
    fill(chunks, 0..columns, room, first)
}

/// Adds all rows of chunks to a file.
fn write<T: Element>(writer: &mut TableWriter<T>, chunks: &[Chunk<'_>], named: impl Fn(Error) -> Error) -> Result<()> {
    let Shape { rows: first, columns } = writer.shape();
    let rows = whole_shape(chunks.iter().map(|chunk| chunk.rows), columns, Some(T::TYPE))?.rows;
    if columns == 0 && rows > 0 {
        return Err(named(Error::new(ErrorKind::NotWholeRows { values: 0, columns }))); // a file counts rows by their values
    }
    let values =
        assemble::<T>(chunks, 0..columns, rows, DataLayout::RowMajor).map_err(|error| named(error.moved(first, 0)))?;
    writer.append(&values[..])
}

/// Columns of a structure of arrays, each in memory that has room for more rows.
#[derive(Default)]
pub(crate) struct Growing {
    columns: Vec<GrowingColumn>,
    rows: usize,
    capacity: usize,
    /// Number of rows that there is room for, at least.
    least: usize,
}

/// One column, and its missing values.
struct GrowingColumn {
    array: AnyArray,
    gaps: GrowingGaps,
}

impl Growing {
    /// Creates columns without rows, which have room for some as soon as there is one.
    #[cfg(feature = "parquet")]
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self { least: rows, ..Self::default() }
    }

    /// Adds all rows of chunks.
    ///
    /// # Errors
    /// Those of [`fill`]; [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    pub(crate) fn append(&mut self, plan: &Plan<'_>, chunks: &[Chunk<'_>]) -> Result<()> {
        let (first, counts) = (self.rows, chunks.iter().map(|chunk| chunk.rows));
        let rows = whole_shape([first].into_iter().chain(counts), plan.column_count(), None)?.rows;
        if rows > self.capacity {
            let capacity = rows.max(plan.options.expected_rows).max(self.least).max(first.saturating_add(first / 2));
            for column in 0..plan.column_count() {
                match self.columns.get_mut(column) {
                    Some(GrowingColumn { array, gaps }) => {
                        *array = array.resized(capacity)?;
                        gaps.reserve(capacity)?;
                    }
                    None => {
                        let array = AnyArray::zeros(plan.type_of(column), capacity)?;
                        self.columns.push(GrowingColumn { array, gaps: GrowingGaps::with_room(capacity) });
                    }
                }
            }
            self.capacity = capacity;
        }
        for (column, GrowingColumn { array, gaps }) in self.columns.iter_mut().enumerate() {
            gaps.add(first, chunks, column)?;
            match_element!(plan.type_of(column), T => {
                let Some(array) = array.downcast_mut::<T>() else { continue }; // never: it was made of that type
                let room = Room::Columns(vec![&mut array.mutable_data()?[first..rows]]);
                fill(chunks, column..column + 1, room, first)?;
            });
        }
        self.rows = rows;
        Ok(())
    }

    /// Returns the table. Indices of words get the smallest type that holds them, now that all words are known.
    pub(crate) fn into_table(self, mut plan: Plan<'_>) -> Result<SoaNumericTable> {
        plan.grows = false;
        let rows = self.rows;
        let columns = self.into_columns(&plan)?;
        SoaNumericTable::of_nullable_arrays(plan.dictionary(None)?, rows, columns, MemoryStatus::InternallyAllocated)
    }

    /// Returns the columns, with the types that they have in a plan which knows all words.
    pub(crate) fn into_columns(self, plan: &Plan<'_>) -> Result<Vec<(AnyArray, Option<Validity>)>> {
        let mut columns = Vec::new();
        for (column, GrowingColumn { array, gaps }) in self.columns.into_iter().enumerate() {
            let array = array.resized(self.rows)?;
            let array = match plan.type_of(column) {
                found if found == array.element_type() => array,
                narrow => match_element!(narrow, T => {
                    let all = [Chunk { rows: self.rows, columns: vec![ChunkColumn::of_indices(&array)] }];
                    let narrow = assemble::<T>(&all, 0..1, self.rows, DataLayout::ColumnMajor);
                    narrow.map_err(|error| error.moved(0, column))?.into()
                }),
            };
            columns.push((array, gaps.finish(self.rows)?));
        }
        Ok(columns)
    }
}
