//! Tables from record batches and from fixed-size lists.

use std::borrow::Borrow;

use arrow_array::{Array as ArrowArray, FixedSizeListArray, RecordBatch, RecordBatchReader};
use arrow_buffer::NullBuffer;
use arrow_schema::{Fields, Schema};

use super::chunks::{Chunk, ChunkColumn, assemble};
use super::options::ArrowOptions;
use super::schema::to_dictionary;
use super::types::{element_type, no_element_type, share};
use crate::base::copy::CopyReason;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, Result};
use crate::dictionary::DataDictionary;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, Shape};

impl<T: Element> HomogenNumericTable<T> {
    /// Creates a table from a record batch whose columns all hold `T`, without nulls. A single column is shared;
    /// several are copied into a row-major table, a few rows of all columns at a time. Names and types of columns are
    /// kept.
    ///
    /// # Errors
    /// [`Error::Arrow`] for a column of another type or with nulls: see
    /// [`from_record_batches`](Self::from_record_batches). [`Error::OutOfMemory`].
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
    /// [`Error::Arrow`] with the column, if it holds another type and no conversion was requested, or a type that
    /// tables do not support; if it has nulls and no NaN was requested for them, or the table's type has no NaN; if
    /// batches differ in the number or the names of columns. [`Error::ValueNotRepresentable`] for the first value that
    /// the conversion does not permit. [`Error::CopyRequired`]. [`Error::SizeOverflow`], [`Error::OutOfMemory`].
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
        let batches: Vec<&RecordBatch> = batches.iter().map(Borrow::borrow).collect();
        match &batches[..] {
            [] => Self::from_array_in(Vec::new(), Shape { rows: 0, columns: 0 }, options.layout),
            [first, ..] => from_batches(&first.schema(), &batches, &options),
        }
    }

    /// Creates one table from all batches of a reader, for instance of a file in Arrow's IPC format. All batches are
    /// read before the table is created, so that both are in memory for a moment.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches), and [`Error::ArrowReader`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::{ArrowOptions, prelude::*};
    /// let batch = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone()), Ok(batch.clone())], batch.schema());
    /// assert_eq!(HomogenNumericTable::<i16>::read_record_batches(reader, ArrowOptions::new())?.row_count(), 4);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn read_record_batches(reader: impl RecordBatchReader, options: ArrowOptions) -> Result<Self> {
        let schema = reader.schema();
        let batches: Result<Vec<_>, _> = reader.collect();
        let batches = batches.map_err(|source| Error::ArrowReader { source })?;
        from_batches(&schema, &batches.iter().collect::<Vec<_>>(), &options)
    }

    /// Creates a table from lists of the same length that hold `T`: each is a row. No copy.
    ///
    /// # Errors
    /// [`Error::Arrow`] for values of another type, or nulls: see
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
    /// Those of [`from_record_batches`](Self::from_record_batches); [`Error::Arrow`] for lists of different lengths.
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
            let refused = |reason| Error::Arrow {
                column: 0,
                name: "list".to_owned(),
                reason: in_chunk("array", index, lists.len(), reason),
            };
            if list.value_length() != length {
                let reason = format!("lists of {} values, and those before are of {length}", list.value_length());
                return Err(refused(reason));
            }
            let own = list.nulls().map(|nulls| nulls.expand(columns));
            let nulls = NullBuffer::union(own.as_ref(), list.values().nulls());
            let values = list.values().as_ref();
            let place = |value| format!("list {}, value {}", value / columns, value % columns); // columns > 0
            let column = ChunkColumn::new::<T>(values, nulls, &options, "table", place).map_err(refused)?;
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
        let values = Shape { rows: shape.element_count_of(T::TYPE)?, columns: 1 };
        let array = assemble(&chunks, values, layout, &options).map_err(|error| match error {
            Error::ValueNotRepresentable { row, value, target, .. } => {
                let (row, column) = (row / shape.columns, row % shape.columns);
                Error::ValueNotRepresentable { row, column, value, target }
            }
            error => error,
        })?;
        let table = Self::internal(array, shape, layout);
        if options.layout == layout { Ok(table) } else { table.to_layout(options.layout) }
    }
}

/// Creates one table from record batches, of the element type of their first column; `f64` if there is none.
///
/// # Errors
/// Those of [`HomogenNumericTable::from_record_batches`]. [`Error::Arrow`] for a column of another type than the first,
/// unless a conversion was requested.
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
    let first = batches.first().map(|batch| batch.borrow().schema());
    let found = match first.as_ref().and_then(|schema| schema.fields().first()) {
        None => ElementType::F64, // there are no values
        Some(field) => element_type(field.data_type()).ok_or_else(|| Error::Arrow {
            column: 0,
            name: field.name().clone(),
            reason: no_element_type(field.data_type()),
        })?,
    };
    match_element!(found, T => Ok(Box::new(HomogenNumericTable::<T>::from_record_batches(batches, options)?)))
}

fn from_batches<T: Element>(
    schema: &Schema,
    batches: &[&RecordBatch],
    options: &ArrowOptions,
) -> Result<HomogenNumericTable<T>> {
    let fields = schema.fields();
    let mut chunks = Vec::new();
    for (index, batch) in batches.iter().enumerate() {
        let place = ChunkPlace { fields, kind: "batch", index, count: batches.len() };
        place.check_names(batch.schema_ref().fields())?;
        let columns = batch.columns().iter().enumerate().map(|(column, array)| {
            let row = |row| format!("row {row}");
            ChunkColumn::new::<T>(array.as_ref(), array.nulls().cloned(), options, "table", row)
                .map_err(|reason| place.refused(column, reason))
        });
        chunks.push(Chunk { rows: batch.num_rows(), columns: columns.collect::<Result<_>>()? });
    }
    let shape = whole_shape(chunks.iter().map(|chunk| chunk.rows), fields.len(), Some(T::TYPE))?;
    let whole = match batches {
        [batch] if fields.len() == 1 => Some(batch.column(0).as_ref()),
        _ => None,
    };
    let dictionary: DataDictionary = to_dictionary(fields, |_| T::TYPE);
    let layout = options.layout;
    let table = match shared(whole, &chunks, shape, options)? {
        Some(shared) => shared,
        None => HomogenNumericTable::internal(assemble(&chunks, shape, layout, options)?, shape, layout),
    };
    table.described_by(dictionary)
}

/// One of several chunks, for errors about it.
pub(super) struct ChunkPlace<'a> {
    /// The columns that are expected.
    pub(super) fields: &'a Fields,
    pub(super) kind: &'static str,
    pub(super) index: usize,
    pub(super) count: usize,
}

impl ChunkPlace<'_> {
    /// Creates an error about a column of the chunk; rows in the reason are counted from the beginning of the chunk.
    pub(super) fn refused(&self, column: usize, reason: String) -> Error {
        let name = self.fields.get(column).map_or_else(String::new, |field| field.name().clone());
        Error::Arrow { column, name, reason: in_chunk(self.kind, self.index, self.count, reason) }
    }

    /// Checks that the chunk has the same columns, by their number and names.
    pub(super) fn check_names(&self, found: &Fields) -> Result<()> {
        let (count, expected) = (found.len(), self.fields.len());
        if count != expected {
            let reason = format!("{count} columns, where {expected} are expected");
            return Err(self.refused(count.min(expected), reason));
        }
        let mut names = self.fields.iter().zip(found);
        match names.position(|(expected, found)| expected.name() != found.name()) {
            Some(column) => Err(self.refused(column, format!("its name is {}", found[column].name()))),
            None => Ok(()),
        }
    }
}

/// Adds to a reason which of several chunks it is about; rows are counted from the beginning of the chunk.
fn in_chunk(kind: &str, index: usize, count: usize, reason: String) -> String {
    if count == 1 { reason } else { format!("in {kind} {index}: {reason}") }
}

/// Returns the shape of all chunks together.
pub(super) fn whole_shape(
    mut rows: impl Iterator<Item = usize>,
    columns: usize,
    element: Option<ElementType>,
) -> Result<Shape> {
    let shape = |rows| Shape { rows, columns };
    let sum = rows.try_fold(0_usize, |sum, rows| sum.checked_add(rows));
    sum.map(shape).ok_or(Error::SizeOverflow { shape: shape(usize::MAX), element })
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
