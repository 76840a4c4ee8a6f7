//! Loading: columns or row groups are decoded in parallel, directly into the table's memory.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::column::page::PageReader;
use ::parquet::file::reader::SerializedPageReader;
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::internal::match_element;
use numeric_table::internal::parallel::{map, serially, task_count};
use numeric_table::{
    AnyArray, Array, DataDictionary, DataLayout, Element, Feature, HomogenNumericTable, MemoryStatus, Result, Shape,
    SoaNumericTable, array::Validity,
};

use super::decode::{Decoder, Lane, leaf_of};
use super::input::{Pages, ratio_of};
use super::source::{LIBRARY, ParquetSource, damaged, failed};
use crate::blocks::guarded;
use crate::chunks::{Room, fill_by};
use crate::gaps::GrowingGaps;
use crate::plan::{Parts, Plan};
use crate::stream::Growing;

/// Number of tasks that [`task_count`] creates per thread.
const TASKS_PER_THREAD: usize = 4;
/// Size of a table, in bytes, that any file may claim without further checks.
const TRUSTED_BYTES: usize = 4 << 20;
/// Maximum ratio of a table's bytes to its file's bytes without further checks.
const TRUSTED_RATIO: usize = 256;

/// Loads rows as a table of one element type.
pub(super) fn load<T: Element>(
    source: &ParquetSource,
    decoder: &Decoder,
    rows: Range<usize>,
) -> Result<HomogenNumericTable<T>> {
    let mut plan = source.plan()?;
    let shape = Shape { rows: rows.len(), columns: plan.column_count() };
    let count = shape.element_count_of(T::TYPE)?;
    check_claims(decoder, plan.indices(), &rows, count.saturating_mul(size_of::<T>()))?;
    let mut array = Array::<T>::zeros(count)?;
    let target = if count == 0 { &mut [][..] } else { array.mutable_data()? };
    let layout = source.read_options().layout;
    let dictionary = match layout {
        DataLayout::RowMajor => {
            let lanes = lanes(decoder, &plan, &rows)?;
            if let [_] = lanes[..] {
                for lane in lanes {
                    fill_rows(&mut plan, lane, &mut *target)?;
                }
            } else {
                let (mut tasks, mut rest) = (Vec::new(), target);
                for lane in lanes {
                    let (own, tail) = rest.split_at_mut(lane.rows() * shape.columns);
                    tasks.push((lane, own));
                    rest = tail;
                }
                let done = map(tasks, |(lane, target)| serially(|| fill_rows(&mut source.plan()?, lane, target)));
                done.into_iter().collect::<Result<()>>()?;
            }
            plan.dictionary(Some(T::TYPE))?
        }
        DataLayout::ColumnMajor => {
            let mut lanes: Vec<&mut [T]> = match shape.rows {
                0 => (0..shape.columns).map(|_| &mut [][..]).collect(),
                rows => target.chunks_exact_mut(rows).collect(),
            };
            lanes.resize_with(shape.columns, Default::default);
            let tasks: Vec<_> = plan.indices().zip(lanes).enumerate().collect();
            features(map(tasks, |(column, (index, target))| {
                let mut plan = plan.only(column);
                let lane = decoder.lane([index], rows.clone())?;
                serially(|| fill_column(&mut plan, lane, target)).map_err(|error| error.moved(0, column))?;
                Ok(((), plan.dictionary(Some(T::TYPE))?.feature(0)?.clone()))
            }))?
            .1
        }
    };
    HomogenNumericTable::from_array_with_layout(array, shape, layout)?.with_dictionary(dictionary)
}

/// Loads rows as a table whose columns have their own types.
pub(super) fn load_columns(source: &ParquetSource, decoder: &Decoder, rows: Range<usize>) -> Result<SoaNumericTable> {
    let plan = source.plan()?;
    let types = (0..plan.column_count()).map(|column| plan.type_of(column).size_in_bytes());
    check_claims(decoder, plan.indices(), &rows, types.sum::<usize>().saturating_mul(rows.len()))?;
    let tasks: Vec<_> = plan.indices().enumerate().collect();
    let (columns, dictionary) = features(map(tasks, |(column, index)| {
        let mut plan = plan.only(column);
        let lane = decoder.lane([index], rows.clone())?;
        let read = || match plan.has_labels() {
            true => words_column(&mut plan, lane, rows.len()),
            false => match_element!(plan.type_of(0), T => {
                let mut array = Array::<T>::zeros(rows.len())?;
                let target = if rows.is_empty() { &mut [][..] } else { array.mutable_data()? };
                let validity = fill_lane(&mut plan, lane, target, false)?;
                Ok((AnyArray::from(array), validity))
            }),
        };
        let column = serially(read).map_err(|error| error.moved(0, column))?;
        Ok((column, plan.dictionary(None)?.feature(0)?.clone()))
    }))?;
    SoaNumericTable::of_nullable_arrays(dictionary, rows.len(), columns, MemoryStatus::InternallyAllocated)
}

/// Collects columns and their descriptions. Returns the first error in column order.
fn features<V>(columns: Vec<Result<(V, Feature)>>) -> Result<(Vec<V>, DataDictionary)> {
    let columns = columns.into_iter().collect::<Result<Vec<_>>>()?;
    let (values, features): (Vec<V>, Vec<Feature>) = columns.into_iter().unzip();
    Ok((values, DataDictionary::from_features(features)))
}

/// Divides rows for a row-major table: several row groups at a time if the columns are too few for all threads, and
/// otherwise all of them together, with columns in parallel. Rows with columns of words are not divided either, because
/// words are numbered in row order.
fn lanes(decoder: &Decoder, plan: &Plan<'_>, rows: &Range<usize>) -> Result<Vec<Lane>> {
    let threads = task_count(usize::MAX).div_ceil(TASKS_PER_THREAD);
    let columns = plan.column_count();
    if threads < 2 || columns == 0 || columns >= 2 * threads || plan.has_labels() {
        return Ok(vec![decoder.lane(plan.indices(), rows.clone())?]);
    }
    decoder.cuts(rows, threads * 2).into_iter().map(|rows| decoder.lane(plan.indices(), rows)).collect()
}

/// Decodes rows into a row-major table.
pub(super) fn fill_rows<T: Element>(plan: &mut Plan<'_>, mut lane: Lane, mut target: &mut [T]) -> Result<()> {
    let columns = plan.column_count();
    let is_parallel = task_count(usize::MAX) > 1;
    while let Some(step) = lane.next_step()? {
        let parts = [step.part()];
        let chunks = plan.chunks(Parts::all(&parts), Some(T::TYPE))?;
        let (now, rest) = target.split_at_mut(step.rows * columns);
        fill_by(is_parallel, &chunks, 0..columns, Room::Rows(now), step.first_row.unwrap_or(0))?;
        target = rest;
    }
    Ok(())
}

/// Decodes the only column of a plan, for a table of one type.
fn fill_column<T: Element>(plan: &mut Plan<'_>, lane: Lane, target: &mut [T]) -> Result<()> {
    fill_lane(plan, lane, target, true).map(drop) // nothing is missing, or it would have failed
}

/// Decodes the only column of a plan, for a table of one type or for one whose columns have their own types, and
/// returns its bitmap.
fn fill_lane<T: Element>(
    plan: &mut Plan<'_>,
    mut lane: Lane,
    mut target: &mut [T],
    is_one: bool,
) -> Result<Option<Validity>> {
    let (rows, mut first) = (target.len(), 0);
    let mut gaps = GrowingGaps::with_room(rows);
    while let Some(step) = lane.next_step()? {
        let parts = [step.part()];
        let chunks = plan.chunks(Parts::all(&parts), is_one.then_some(T::TYPE))?;
        let (now, rest) = target.split_at_mut(step.rows);
        fill_by(false, &chunks, 0..1, Room::Columns(vec![now]), step.first_row.unwrap_or(0))?;
        gaps.add(first, &chunks, 0)?;
        (target, first) = (rest, first + step.rows);
    }
    gaps.finish(rows)
}

/// Decodes a column of words. Its type depends on the number of different words.
fn words_column(plan: &mut Plan<'_>, mut lane: Lane, rows: usize) -> Result<(AnyArray, Option<Validity>)> {
    plan.grows = true;
    let mut growing = Growing::with_capacity(rows);
    while let Some(step) = lane.next_step()? {
        let parts = [step.part()];
        let chunks = plan.chunks(Parts::all(&parts), None)?;
        growing.append(plan, &chunks)?;
    }
    plan.grows = false;
    Ok(growing.into_columns(plan)?.pop().unwrap_or_else(|| (AnyArray::from(Array::<u8>::new()), None)))
}

/// Returns whether a table of `bytes` bytes is not suspiciously large for `stored` bytes of a file.
pub(super) fn is_trusted(bytes: usize, stored: usize) -> bool {
    bytes <= TRUSTED_BYTES || bytes / TRUSTED_RATIO <= stored
}

/// Counts the rows in the pages of row groups that claim a table much larger than their bytes.
///
/// # Errors
/// [`ErrorKind::Format`]; [`ErrorKind::Foreign`].
pub(super) fn check_claims(
    decoder: &Decoder,
    mut columns: impl Iterator<Item = usize>,
    rows: &Range<usize>,
    bytes: usize,
) -> Result<()> {
    let Some(first) = columns.next().filter(|_| bytes > TRUSTED_BYTES) else { return Ok(()) };
    let Some(leaf) = leaf_of(&decoder.metadata, first) else { return Ok(()) }; // an error of opening the column
    let row_bytes = bytes / rows.len().max(1);
    for group in decoder.groups(rows) {
        let group = decoder.metadata.metadata().row_group(group);
        let claimed = group.num_rows();
        let stored = usize::try_from(group.compressed_size()).unwrap_or(0);
        if usize::try_from(claimed).unwrap_or(usize::MAX).saturating_mul(row_bytes) / TRUSTED_RATIO <= stored {
            continue;
        }
        let Some(chunk) = group.columns().get(leaf) else { continue };
        let pages = Arc::new(Pages::new(&decoder.input, ratio_of(chunk.compression()), false, &Default::default()));
        let count = || {
            let mut reader = SerializedPageReader::new(pages, chunk, claimed as usize, None)?;
            let mut values = 0_usize;
            while let Some(page) = reader.peek_next_page()? {
                if !page.is_dict {
                    values = values.saturating_add(page.num_levels.or(page.num_rows).unwrap_or(0));
                }
                reader.skip_next_page()?;
            }
            Ok(values)
        };
        let found = guarded(LIBRARY, count)?.map_err(failed)?;
        if found as u64 != claimed as u64 {
            return Err(damaged(format!("a row group claims {claimed} rows, and its pages have {found}")));
        }
    }
    Ok(())
}
