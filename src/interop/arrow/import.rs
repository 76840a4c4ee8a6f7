//! Tables from record batches and from fixed-size lists.

use std::borrow::Borrow;

use arrow_array::{Array as ArrowArray, FixedSizeListArray, RecordBatch};
use arrow_buffer::NullBuffer;

use super::chunks::{Chunk, ChunkColumn, assemble};
use super::options::ArrowOptions;
use super::plan::{Part, Parts, Plan, in_chunk, whole_shape};
use super::types::{element_type, share};
use super::words::Refusal;
use crate::base::copy::CopyReason;
use crate::base::element::{Element, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::dictionary::DataDictionary;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, Shape};

impl<T: Element> HomogenNumericTable<T> {
    /// Creates a table from a record batch whose columns all hold `T`, without nulls. A single column is shared;
    /// several are copied into a row-major table, a few rows of all columns at a time. Names and types of columns are
    /// kept.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a column of another type or with nulls: see
    /// [`from_record_batches`](Self::from_record_batches). [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    /// use numeric_table::prelude::*;
    /// let column = |values: [f64; 2]| Arc::new(Float64Array::from(values.to_vec())) as ArrayRef;
    /// let [length, width] = [[1.5, 2.5], [10.0, 20.0]].map(column);
    /// let batch = RecordBatch::try_from_iter([("length", length), ("width", width)]).unwrap();
    /// let table = HomogenNumericTable::<f64>::from_record_batch(&batch)?;
    /// assert_eq!(table.as_slice()?, [1.5, 10.0, 2.5, 20.0]);
    /// assert_eq!(table.dictionary().index_of("width"), Some(1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn from_record_batch(batch: &RecordBatch) -> Result<Self> {
        Self::from_record_batches([batch], ArrowOptions::new())
    }

    /// Creates one table from record batches with the same columns in the same order: their rows in the order of the
    /// batches.
    ///
    /// Values are shared if there is one batch of one column, of the table's type and without nulls; otherwise they are
    /// copied. Shared memory belongs to Arrow: the whole buffer is kept alive, and it is never written: the first write
    /// copies.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with the column, if it holds another type and no conversion was requested, or a type
    /// that tables do not support; if it has nulls and no NaN was requested for them, or the table's type has no NaN;
    /// if batches differ in the number or the names of columns. [`ErrorKind::ValueNotRepresentable`] for the first
    /// value that the conversion does not permit. [`ErrorKind::CopyRequired`]. [`ErrorKind::SizeOverflow`],
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{ArrowOptions, prelude::*};
    /// let all = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let batch = all.to_record_batch()?;
    /// let (head, tail) = (batch.slice(0, 1), batch.slice(1, 2));
    /// let options = ArrowOptions::new().convert(ConversionPolicy::Exact);
    /// assert_eq!(HomogenNumericTable::<f32>::from_record_batches([head, tail], options)?, all.convert()?);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn from_record_batches<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
        options: ArrowOptions,
    ) -> Result<Self> {
        let batches: Vec<B> = batches.into_iter().collect();
        let parts: Vec<Part<'_>> = batches.iter().map(|batch| Part::of_batch(batch.borrow())).collect();
        match parts.first() {
            None => Self::from_array_in(Vec::new(), Shape { rows: 0, columns: 0 }, options.layout),
            Some(first) => from_parts(&mut Plan::new(first.fields, &options, "batch")?, Parts::all(&parts)),
        }
    }

    /// Creates a table from lists of the same length that hold `T`: each is a row. No copy.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for values of another type, or nulls: see
    /// [`from_fixed_size_lists`](Self::from_fixed_size_lists).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 6]])?;
    /// let same = HomogenNumericTable::<u8>::from_fixed_size_list(&table.to_fixed_size_list()?)?;
    /// assert_eq!((same.as_slice()?.as_ptr(), &same), (table.as_slice()?.as_ptr(), &table));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn from_fixed_size_list(lists: &FixedSizeListArray) -> Result<Self> {
        Self::from_fixed_size_lists([lists], ArrowOptions::new())
    }

    /// Creates one table from several arrays of lists of the same length: their rows in the order of the arrays.
    ///
    /// Values are shared if there is one array, of the table's type and without nulls, and the table is row-major;
    /// otherwise they are copied. A list that is null is a row of nulls.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches); [`ErrorKind::Unsupported`] for lists of different
    /// lengths.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::{FixedSizeListArray, types::Float32Type};
    /// use numeric_table::{ArrowOptions, prelude::*};
    /// let rows = [Some([Some(1.0), None]), None];
    /// let lists = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows, 2);
    /// let options = ArrowOptions::new().nulls_to_nan(true);
    /// let table = HomogenNumericTable::<f32>::from_fixed_size_lists([lists], options)?;
    /// assert_eq!(table.as_slice()?.iter().filter(|value| value.is_nan()).count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn from_fixed_size_lists<L: Borrow<FixedSizeListArray>>(
        lists: impl IntoIterator<Item = L>,
        options: ArrowOptions,
    ) -> Result<Self> {
        let lists: Vec<L> = lists.into_iter().collect();
        let lists: Vec<&FixedSizeListArray> = lists.iter().map(Borrow::borrow).collect();
        let length = lists.first().map_or(0, |list| list.value_length());
        let columns = length as usize; // not negative
        let mut chunks = Vec::new();
        for (index, list) in lists.iter().enumerate() {
            let refused = |reason| {
                Error::unsupported(
                    "Arrow",
                    Some(0),
                    Some("list".to_owned()),
                    in_chunk("array", index, lists.len(), reason),
                )
            };
            if list.value_length() != length {
                let reason = format!("lists of {} values, and those before are of {length}", list.value_length());
                return Err(refused(reason));
            }
            let own = list.nulls().map(|nulls| nulls.expand(columns));
            let nulls = NullBuffer::union(own.as_ref(), list.values().nulls());
            let values = list.values().as_ref();
            let place = |value| format!("list {}, value {}", value / columns, value % columns); // columns > 0
            let mut column = ChunkColumn::new(values, nulls, None).map_err(|refusal| match refusal {
                Refusal::Reason(reason) => refused(reason),
                Refusal::Error(error) => error,
            })?;
            let fits = column.fit::<T>(values.data_type(), options.conversion, options.null, "table", place);
            fits.map_err(refused)?;
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
        let array = assemble(&chunks, 0..1, shape.element_count_of(T::TYPE)?, layout)
            .map_err(|error| error.with_value_at(|index, _| (index / shape.columns, index % shape.columns)))?;
        let table = Self::internal(array, shape, layout);
        if options.layout == layout { Ok(table) } else { table.to_layout(options.layout) }
    }
}

/// Creates one table from record batches, of the element type of their first column; `f64` if there is none.
///
/// # Errors
/// Those of [`HomogenNumericTable::from_record_batches`]. [`ErrorKind::Unsupported`] for a column of another type than
/// the first, unless a conversion was requested.
///
/// # Examples
/// ```
/// use numeric_table::{ArrowOptions, from_record_batches_any, prelude::*};
/// let batch = HomogenNumericTable::from_rows(&[[1_i16, 2]])?.to_record_batch()?;
/// let table = from_record_batches_any([batch], ArrowOptions::new())?;
/// assert_eq!(table.uniform_type(), Some(ElementType::I16));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
pub fn from_record_batches_any<B: Borrow<RecordBatch>>(
    batches: impl IntoIterator<Item = B>,
    options: ArrowOptions,
) -> Result<Box<dyn NumericTable>> {
    let batches: Vec<B> = batches.into_iter().collect();
    let parts: Vec<Part<'_>> = batches.iter().map(|batch| Part::of_batch(batch.borrow())).collect();
    let Some(first) = parts.first() else {
        return Ok(HomogenNumericTable::<f64>::from_record_batches(batches, options)?.into_dyn()); // there are no values
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
/// Those of [`HomogenNumericTable::from_record_batches`].
pub(super) fn from_parts<T: Element>(plan: &mut Plan<'_>, parts: Parts<'_>) -> Result<HomogenNumericTable<T>> {
    let chunks = plan.chunks(parts, Some(T::TYPE))?;
    let (columns, options) = (plan.column_count(), plan.options);
    let shape = whole_shape(chunks.iter().map(|chunk| chunk.rows), columns, Some(T::TYPE))?;
    let mut indices = plan.indices();
    let whole = match (parts.parts, indices.next(), indices.next()) {
        ([part], Some(only), None) => part.columns.get(only).map(AsRef::as_ref),
        _ => None,
    };
    let dictionary: DataDictionary = plan.dictionary(|_| T::TYPE)?;
    let layout = options.layout;
    let table = match shared(whole, &chunks, shape, options)? {
        Some(shared) => shared,
        None => HomogenNumericTable::internal(assemble(&chunks, 0..columns, shape.rows, layout)?, shape, layout),
    };
    table.described_by(dictionary)
}

/// Returns a table that shares the memory of an Arrow array with all values in the right layout, if that is possible
/// and permitted.
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
        _ => crate::array::Array::new(),
    };
    Ok(Some(HomogenNumericTable::from_array_in(values, shape, options.layout)?))
}
