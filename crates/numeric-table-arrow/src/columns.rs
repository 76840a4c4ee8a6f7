//! Structures of arrays from record batches and struct arrays. Each column is shared or copied by itself.

use std::borrow::Borrow;

use arrow_array::{Array as ArrowArray, RecordBatch, StructArray};
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::internal::match_element;
use numeric_table::{
    AnyArray, Array, DataLayout, Element, MemoryStatus, NumericTable, Result, RowMergedNumericTable, SoaNumericTable,
    array::Validity,
    interop::{CopyPolicy, CopyReason},
};

use crate::chunks::{Chunk, ChunkColumn, assemble};
use crate::gaps::GrowingGaps;
use crate::options::ArrowOptions;
use crate::plan::{Part, Parts, Plan, whole_shape};
use crate::types::{element_type, share};

/// Creates one table from record batches.
pub(crate) fn from_record_batches<B: Borrow<RecordBatch>>(
    batches: impl IntoIterator<Item = B>,
    options: ArrowOptions,
) -> Result<SoaNumericTable> {
    let batches: Vec<B> = batches.into_iter().collect();
    let parts: Vec<Part<'_>> = batches.iter().map(|batch| Part::of_batch(batch.borrow())).collect();
    match parts.first() {
        None => Ok(SoaNumericTable::new()),
        Some(first) => columns_of(&mut Plan::new(first.fields, &options, "batch")?, Parts::all(&parts)),
    }
}

/// Creates one table from struct arrays.
pub(crate) fn from_struct_arrays<A: Borrow<StructArray>>(
    arrays: impl IntoIterator<Item = A>,
    options: ArrowOptions,
) -> Result<SoaNumericTable> {
    let arrays: Vec<A> = arrays.into_iter().collect();
    let parts: Vec<Part<'_>> = arrays.iter().map(|array| Part::of_structs(array.borrow())).collect();
    match parts.first() {
        None => Ok(SoaNumericTable::new()),
        Some(first) => columns_of(&mut Plan::new(first.fields, &options, "array")?, Parts::all(&parts)),
    }
}

/// Creates a table of the rows of record batches, each a table on Arrow's memory.
pub(crate) fn merge_record_batches<'t, B: Borrow<RecordBatch>>(
    batches: impl IntoIterator<Item = B>,
    options: ArrowOptions,
) -> Result<RowMergedNumericTable<'t>> {
    let batches: Vec<B> = batches.into_iter().collect();
    let parts: Vec<Part<'_>> = batches.iter().map(|batch| Part::of_batch(batch.borrow())).collect();
    let Some(first) = parts.first() else {
        return RowMergedNumericTable::new([Box::new(SoaNumericTable::new()) as Box<dyn NumericTable + 't>]);
    };
    let mut plan = Plan::new(first.fields, &options, "batch")?;
    let chunks = plan.chunks(Parts::all(&parts), None)?;
    let mut tables = Vec::new();
    for (part, chunk) in parts.iter().zip(&chunks) {
        let table = table_of(&plan, std::slice::from_ref(part), std::slice::from_ref(chunk))?;
        tables.push(Box::new(table) as Box<dyn NumericTable + 't>);
    }
    RowMergedNumericTable::new(tables)
}

/// Creates one table of all rows of parts, each column of its own type.
///
/// # Errors
/// Those of [`ArrowSoaTable::from_record_batches`](crate::ArrowSoaTable::from_record_batches).
pub(crate) fn columns_of(plan: &mut Plan<'_>, parts: Parts<'_>) -> Result<SoaNumericTable> {
    let chunks = plan.chunks(parts, None)?;
    table_of(plan, parts.parts, &chunks)
}

/// Creates one table of all rows of parts, from the chunks of these parts.
fn table_of(plan: &Plan<'_>, parts: &[Part<'_>], chunks: &[Chunk<'_>]) -> Result<SoaNumericTable> {
    let rows = whole_shape(chunks.iter().map(|chunk| chunk.rows), plan.column_count(), None)?.rows;
    let (mut columns, mut owner) = (Vec::new(), MemoryStatus::InternallyAllocated);
    for (column, index) in plan.indices().enumerate() {
        let source = Source { parts, chunks, index, column };
        let (array, validity, is_shared) =
            match_element!(plan.type_of(column), T => source.values::<T>(rows, plan.options.copy)?);
        columns.push((array, validity));
        if is_shared {
            owner = MemoryStatus::UserAllocated;
        }
    }
    SoaNumericTable::of_nullable_arrays(plan.dictionary(None)?, rows, columns, owner)
}

/// One column of parts, and of their chunks.
struct Source<'a> {
    parts: &'a [Part<'a>],
    chunks: &'a [Chunk<'a>],
    /// Its number in the schema.
    index: usize,
    /// Its number in the table.
    column: usize,
}

impl Source<'_> {
    /// Returns the values with their bitmap, and whether they are shared. The bitmap is shared if the values are.
    fn values<T: Element>(&self, rows: usize, policy: CopyPolicy) -> Result<(AnyArray, Option<Validity>, bool)> {
        let array_of = |part: &Part<'_>| part.column(self.index).cloned();
        let mut filled = self.parts.iter().zip(self.chunks).filter(|(part, _)| part.rows > 0);
        let (first, is_one) = (filled.next(), filled.next().is_none());
        let first = first.map(|(part, chunk)| (array_of(part), chunk));
        let reason = match &first {
            None => None,
            Some((Some(array), _)) if is_one && element_type(array.data_type()) != Some(T::TYPE) => {
                Some(CopyReason::ElementType)
            }
            Some((_, chunk)) if is_one => {
                let is_filled = |column: &ChunkColumn<'_>| column.has_nulls() && column.gaps().is_none();
                chunk.columns.get(self.column).is_some_and(is_filled).then_some(CopyReason::Nulls)
            }
            Some(_) => Some(CopyReason::Layout),
        };
        if policy.copies(reason)? {
            let columns = self.column..self.column + 1;
            let mut gaps = GrowingGaps::with_room(rows);
            gaps.add(0, self.chunks, self.column)?;
            let values = assemble::<T>(self.chunks, columns, rows, DataLayout::ColumnMajor)?;
            return Ok((values.into(), gaps.finish(rows)?, false));
        }
        let gaps = first.as_ref().and_then(|(_, chunk)| chunk.columns.get(self.column)?.gaps().cloned());
        let shared = first.and_then(|(array, _)| share(array?.as_ref()));
        Ok((shared.unwrap_or_else(|| Array::<T>::new().into()), gaps, true))
    }
}
