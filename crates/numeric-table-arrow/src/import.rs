//! Tables from record batches and from fixed-size lists.

use std::borrow::Borrow;

use arrow_array::{Array as ArrowArray, FixedSizeListArray, RecordBatch};
use arrow_buffer::NullBuffer;
use numeric_table::internal::match_element;
use numeric_table::{
    DataDictionary, DataLayout, Element, ErrorKind, HomogenNumericTable, NumericTable, Result, Shape,
    interop::CopyReason,
};

use crate::chunks::{Chunk, ChunkColumn, Whole, assemble_table, counted};
use crate::error::{not_representable, unsupported};
use crate::options::ArrowOptions;
use crate::plan::{Part, Parts, Plan, in_chunk, whole_shape};
use crate::types::{element_type, share};
use crate::words::Refusal;

/// Creates one table from record batches.
pub(crate) fn from_record_batches<T: Element, B: Borrow<RecordBatch>>(
    batches: impl IntoIterator<Item = B>,
    options: ArrowOptions,
) -> Result<HomogenNumericTable<T>> {
    let batches: Vec<B> = batches.into_iter().collect();
    let parts: Vec<Part<'_>> = batches.iter().map(|batch| Part::of_batch(batch.borrow())).collect();
    match parts.first() {
        None => {
            HomogenNumericTable::<T>::from_array_with_layout(Vec::new(), Shape { rows: 0, columns: 0 }, options.layout)
        }
        Some(first) => from_parts(&mut Plan::new(first.fields, &options, "batch")?, Parts::all(&parts)),
    }
}

/// Creates one table from arrays of lists.
pub(crate) fn from_fixed_size_lists<T: Element, L: Borrow<FixedSizeListArray>>(
    lists: impl IntoIterator<Item = L>,
    options: ArrowOptions,
) -> Result<HomogenNumericTable<T>> {
    let lists: Vec<L> = lists.into_iter().collect();
    let lists: Vec<&FixedSizeListArray> = lists.iter().map(Borrow::borrow).collect();
    let length = lists.first().map_or(0, |list| list.value_length());
    let columns = length as usize; // not negative
    let mut chunks = Vec::new();
    for (index, list) in lists.iter().enumerate() {
        let refused =
            |reason| unsupported(Some(0), Some("list".to_owned()), in_chunk("array", index, lists.len(), reason));
        if list.value_length() != length {
            let reason = format!("lists of {} values, and those before are of {length}", list.value_length());
            return Err(refused(reason));
        }
        let own = list.nulls().map(|nulls| nulls.expand(columns));
        let nulls = NullBuffer::union(own.as_ref(), list.values().nulls());
        let values = list.values().as_ref();
        let nulls_in = |count, first: usize| {
            format!("{}, the first in list {}, value {}", counted(count), first / columns, first % columns) // columns > 0
        };
        let placed = |refusal| match refusal {
            Refusal::Reason(reason) => refused(reason),
            Refusal::Hinted(reason, hint) => refused(reason).with_hint(hint),
            Refusal::Error(error) => error,
        };
        let mut column = ChunkColumn::new(values, nulls, None).map_err(|refusal| match refusal {
            Refusal::Hinted(reason, _) => refused(reason), // it has no other columns
            refusal => placed(refusal),
        })?;
        let fits = column.fit::<T>(values.data_type(), options.conversion, options.null, Whole::Table, nulls_in);
        fits.map_err(placed)?;
        chunks.push(Chunk { rows: values.len(), columns: vec![column] });
    }
    let shape = whole_shape(lists.iter().map(|list| list.len()), columns, Some(T::TYPE))?;
    // Lists are rows; a single row or column has any layout.
    let is_in_layout = options.layout == DataLayout::RowMajor || shape.rows == 1 || shape.columns == 1;
    let whole = match &lists[..] {
        [list] if is_in_layout => Some(list.values().as_ref()),
        _ => None,
    };
    if let Some(shared) = shared(whole, &chunks, shape, &options)? {
        return Ok(shared);
    }
    // Contiguous lists are one column.
    let layout = DataLayout::RowMajor;
    let table = assemble_table(&chunks, 1, shape, layout).map_err(|error| match *error.kind() {
        ErrorKind::ValueNotRepresentable { row: index, value, target, .. } => {
            not_representable(index / shape.columns, index % shape.columns, value, target)
        }
        _ => error,
    })?;
    if options.layout == layout { Ok(table) } else { table.to_layout(options.layout) }
}

/// Creates one table from record batches, of the element type of their first column, or of `f64` without columns.
///
/// # Errors
/// Those of [`ArrowHomogenTable::from_record_batches`](crate::ArrowHomogenTable::from_record_batches).
/// [`ErrorKind::Unsupported`] for a column of another type than the first, unless the options set a conversion.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::prelude::*;
/// let batch = HomogenNumericTable::from_rows(&[[1_i16, 2]])?.to_record_batch()?;
/// let table = from_record_batches_any([batch], ArrowOptions::new())?;
/// assert_eq!(table.uniform_type(), Some(ElementType::I16));
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn from_record_batches_any<B: Borrow<RecordBatch>>(
    batches: impl IntoIterator<Item = B>,
    options: ArrowOptions,
) -> Result<Box<dyn NumericTable>> {
    let batches: Vec<B> = batches.into_iter().collect();
    let parts: Vec<Part<'_>> = batches.iter().map(|batch| Part::of_batch(batch.borrow())).collect();
    let Some(first) = parts.first() else {
        return Ok(from_record_batches::<f64, _>(batches, options)?.into_dyn()); // there are no values
    };
    let mut plan = Plan::new(first.fields, &options, "batch")?;
    if plan.starts_with_words() {
        plan.chunks(Parts::all(&parts), None)?; // the type depends on how many there are
    }
    match_element!(plan.type_of(0), T => Ok(from_parts::<T>(&mut plan, Parts::all(&parts))?.into_dyn()))
}

/// Creates one table of all rows of parts.
///
/// # Errors
/// Those of [`ArrowHomogenTable::from_record_batches`](crate::ArrowHomogenTable::from_record_batches).
pub(crate) fn from_parts<T: Element>(plan: &mut Plan<'_>, parts: Parts<'_>) -> Result<HomogenNumericTable<T>> {
    let chunks = plan.chunks(parts, Some(T::TYPE))?;
    let (columns, options) = (plan.column_count(), plan.options);
    let shape = whole_shape(chunks.iter().map(|chunk| chunk.rows), columns, Some(T::TYPE))?;
    let mut indices = plan.indices();
    let whole = match (parts.parts, indices.next(), indices.next()) {
        ([part], Some(only), None) => part.column(only).map(AsRef::as_ref),
        _ => None,
    };
    let dictionary: DataDictionary = plan.dictionary(Some(T::TYPE))?;
    let layout = options.layout;
    let table = match shared(whole, &chunks, shape, options)? {
        Some(shared) => shared,
        None => assemble_table(&chunks, columns, shape, layout)?,
    };
    table.with_dictionary(dictionary)
}

/// Returns a table that shares the memory of an Arrow array, if that is possible and permitted.
fn shared<T: Element>(
    whole: Option<&dyn ArrowArray>,
    chunks: &[Chunk<'_>],
    shape: Shape,
    options: &ArrowOptions,
) -> Result<Option<HomogenNumericTable<T>>> {
    let is_other = |array: &dyn ArrowArray| element_type(array.data_type()) != Some(T::TYPE);
    let has_nulls = chunks.iter().flat_map(|chunk| &chunk.columns).any(ChunkColumn::has_nulls);
    let reason = match whole {
        _ if shape.is_empty() => None,
        Some(array) if is_other(array) => Some(CopyReason::ElementType),
        Some(_) if has_nulls => Some(CopyReason::Nulls),
        Some(_) => None,
        None => Some(CopyReason::Layout),
    };
    if options.copy.copies(reason)? {
        return Ok(None);
    }
    let values = match whole {
        Some(array) if !shape.is_empty() => {
            share(array).and_then(|values| values.downcast::<T>().ok()).unwrap_or_default()
        }
        _ => numeric_table::Array::new(),
    };
    Ok(Some(HomogenNumericTable::from_array_with_layout(values, shape, options.layout)?))
}
