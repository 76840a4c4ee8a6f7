//! Tables as record batches and as fixed-size lists.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Schema};
use numeric_table::internal::{match_element, record};
use numeric_table::table::{
    AsTable,
    spi::{Region, Target, array_of},
};
use numeric_table::{
    Array, ConversionPolicy, DataDictionary, DataLayout, Element, Error, ErrorKind, HomogenNumericTable, MissingValues,
    NumericTable, Result, Shape, TableDescription,
    array::{AnySliceMut, Validity},
    dictionary::Categories,
    interop::{CopyPolicy, CopyReason},
    table::{TableView, TableViewMut},
    trace::CopyKind,
};

use crate::error::{failed, type_mismatch, unsupported};
use crate::gaps::{self, to_nulls};
use crate::options::ArrowExportOptions;
use crate::schema::{to_schema, words_of};
use crate::types::{data_type, nulls_of_nans, of_type, to_arrow};
use crate::words::{Refusal, to_words};

/// Returns the columns of a homogeneous table as a record batch.
fn homogeneous_record_batch<T: Element>(
    table: &HomogenNumericTable<T>,
    options: ArrowExportOptions,
) -> Result<RecordBatch> {
    if table.column_count() == 0 {
        data_type(T::TYPE)?; // of columns, the schema asks
    }
    let schema = to_schema(table.dictionary(), table.column_count(), options)?;
    let (values, stride) = lines(table, table.view()?.transposed(), options.copy)?;
    let rows = table.row_count();
    batch(schema, rows, |column| {
        let start = column * stride;
        let values = if rows == 0 { Array::new() } else { values.slice(start..start + rows)? };
        match words_of(table.dictionary().feature(column)?, options) {
            Some(words) => words_column(&values, None, column, table.dictionary(), words, options),
            None => values_of(values, None, options),
        }
    })
}

/// Returns the rows of a table as lists.
pub(crate) fn to_fixed_size_list_with<T: Element>(
    table: &HomogenNumericTable<T>,
    options: impl Into<ArrowExportOptions>,
) -> Result<FixedSizeListArray> {
    let options = options.into();
    let (data_type, shape, view) = (data_type(T::TYPE)?, table.shape(), table.view()?);
    let overflow = || Error::new(ErrorKind::SizeOverflow { shape, element: Some(T::TYPE) });
    let length = i32::try_from(shape.columns).map_err(|_| overflow())?;
    let (values, _) = lines(table, view, options.copy)?; // rows of row-major tables are contiguous
    let values = values.slice(..shape.element_count()?)?;
    let field = Arc::new(Field::new_list_field(data_type, options.has_null_for_nan && T::TYPE.is_float()));
    FixedSizeListArray::try_new_with_length(field, length, values_of(values, None, options)?, None, shape.rows)
        .map_err(|_| overflow())
}

/// Returns an array in which each row of a view of the whole table is contiguous, and the stride of the rows.
fn lines<T: Element>(
    table: &HomogenNumericTable<T>,
    view: TableView<'_, T>,
    policy: CopyPolicy,
) -> Result<(Array<T>, usize)> {
    let (columns, (stride, step)) = (view.shape().columns, view.strides());
    if view.shape().is_empty() {
        return Ok((Array::new(), columns));
    }
    let reason = (step != 1 && columns > 1).then_some(CopyReason::Layout);
    match policy.copies(reason)? {
        true => Ok((copy_of_view(view)?, columns)),
        false => Ok((table.array()?.clone(), stride)),
    }
}

/// Converts a table of any kind to Arrow's columns.
pub trait ArrowTables: AsTable {
    /// Returns the columns of a table as a record batch, each of its own type. Where possible, columns share the memory
    /// of the table: the batch keeps all of it alive, and the next write to the table copies it.
    ///
    /// | table | copied |
    /// | --- | --- |
    /// | homogeneous, column-major | never |
    /// | homogeneous, row-major | once, if it has several rows and columns |
    /// | structure of arrays | never; a later write copies only its column |
    /// | any other kind | each column that is not contiguous in one [`Array`] |
    ///
    /// A column of another kind of table is contiguous if it lies, without gaps, in one piece that
    /// [`Piece::of_array`](numeric_table::table::spi::Piece::of_array) made. Columns of words are always copied.
    ///
    /// The schema stores names, types and categories. Columns without a name are named by their index and marked in
    /// the schema, so that they are read back without a name. Only columns of words can have nulls: NaN stands for a
    /// missing word. Dates and times in the units of Arrow become `Date32` and `Timestamp`, in UTC without a time zone.
    /// `StructArray::from` converts the batch to a struct array.
    ///
    /// Missing values are null. A column that is [nullable](numeric_table::Feature::nullable) has a nullable field, and
    /// its bitmap is shared with its values. As long as others read the batch, writing to the table copies first.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedElementType`] if all columns are of `bf16`, [`ErrorKind::Unsupported`] with the first
    /// such column if only some are; [`ErrorKind::NotAllocated`], [`ErrorKind::ColumnNotSet`];
    /// [`ErrorKind::BlockOutstanding`]; [`ErrorKind::OutOfMemory`]; those of reading a column.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::{UInt16Array, cast::AsArray};
    /// use numeric_table::{AnyArray, MergedNumericTable, SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// let table = SoaNumericTable::from_columns([
    ///     ("length", AnyArray::from(vec![5.1_f32, 4.9])),
    ///     ("count", AnyArray::from(vec![3_u16, 1])),
    /// ])?;
    /// let batch = table.to_record_batch()?;
    /// let count: &UInt16Array = batch.column(1).as_primitive();
    /// assert_eq!(count.values()[..], [3, 1]);
    /// assert_eq!(count.values().as_ptr(), table.column_slice::<u16>(1)?.as_ptr()); // the memory of the table
    ///
    /// let labels = HomogenNumericTable::from_rows(&[[0_u8], [2]])?;
    /// let table = MergedNumericTable::new([Box::new(table) as Box<dyn NumericTable>, Box::new(labels)])?;
    /// assert_eq!(table.to_record_batch()?.column(2).data_type().to_string(), "UInt8");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn to_record_batch(&self) -> Result<RecordBatch> {
        self.to_record_batch_with(ArrowExportOptions::new())
    }

    /// Returns a record batch as [`to_record_batch`](Self::to_record_batch) does, with options, or with a
    /// [`CopyPolicy`] alone.
    ///
    /// # Errors
    /// Those of [`to_record_batch`](Self::to_record_batch); [`ErrorKind::CopyRequired`] under [`CopyPolicy::Never`] if
    /// a column cannot be shared.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::Array;
    /// use numeric_table::{interop::CopyPolicy, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.5, f64::NAN], [2.5, 3.5]])?;
    /// let error = table.to_record_batch_with(CopyPolicy::Never).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::CopyRequired { .. }));
    /// let batch = table.to_record_batch_with(ArrowExportOptions::new().nan_to_null(true))?;
    /// assert!(batch.column(1).is_null(0) && batch.column(1).is_valid(1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn to_record_batch_with(&self, options: impl Into<ArrowExportOptions>) -> Result<RecordBatch> {
        to_record_batch(self.as_table(), options.into())
    }
}

impl<N: AsTable + ?Sized> ArrowTables for N {}

/// Returns the columns of a table of any kind as a record batch.
fn to_record_batch(table: &(dyn NumericTable + '_), options: ArrowExportOptions) -> Result<RecordBatch> {
    if let Some(element) = table.uniform_type() {
        let homogeneous = match_element!(element, T => {
            table.downcast_ref::<HomogenNumericTable<T>>().map(|table| homogeneous_record_batch(table, options))
        });
        if let Some(batch) = homogeneous {
            return batch;
        }
    }
    let Shape { rows, columns } = table.shape();
    let schema = to_schema(table.dictionary(), columns, options)?;
    batch(
        schema,
        rows,
        |column| match_element!(table.column_type(column)?, T => column_of::<T>(table, column, options)),
    )
}

/// Returns a column of a table, which shares the table's memory if possible and permitted.
fn column_of<T: Element>(
    table: &(dyn NumericTable + '_),
    column: usize,
    options: ArrowExportOptions,
) -> Result<ArrayRef> {
    if table.dictionary().feature(column)?.nullable {
        return nullable_column_of::<T>(table, column, options);
    }
    let region = Region { rows: 0..table.row_count(), columns: column..column + 1 };
    let shared = match array_of(table, &region, T::TYPE)? {
        Some((array, range)) => array.downcast::<T>().map(|array| array.slice(range)).transpose()?,
        None => None,
    };
    if let Some(words) = words_of(table.dictionary().feature(column)?, options) {
        let copy = || copy_of(table, &region);
        let values = shared.map_or_else(copy, Ok)?;
        return words_column::<T>(&values, None, column, table.dictionary(), words, options);
    }
    let copies = options.copy.copies(shared.is_none().then_some(CopyReason::Layout))?;
    match shared.filter(|_| !copies) {
        Some(values) => values_of(values, None, options),
        None => values_of::<T>(copy_of(table, &region)?, None, options),
    }
}

/// Returns a column whose values may be missing, as [`column_of`] does.
///
/// # Errors
/// Those of reading the column; [`ErrorKind::LengthMismatch`] if a bitmap does not have one bit for each value.
fn nullable_column_of<T: Element>(
    table: &(dyn NumericTable + '_),
    column: usize,
    options: ArrowExportOptions,
) -> Result<ArrayRef> {
    let (array, validity) = table.column_with_validity(column, ..)?;
    let mut values = array.downcast::<T>().map_err(|array| type_mismatch(T::TYPE, array.element_type()))?;
    let expected = values.len();
    if let Some(actual) = validity.as_ref().map(Validity::len).filter(|&actual| actual != expected) {
        return Err(Error::new(ErrorKind::LengthMismatch { expected, actual }));
    }
    let mut validity = validity.filter(Validity::has_missing);
    if let Some(words) = words_of(table.dictionary().feature(column)?, options) {
        return words_column::<T>(&values, validity.as_ref(), column, table.dictionary(), words, options);
    }
    // A copy that was made just now has no other owner.
    let is_shared = values.is_empty() || values.owner_count() > 1;
    if options.copy.copies((!is_shared).then_some(CopyReason::Layout))? && is_shared {
        let mut copy = Array::zeros(values.len())?;
        copy.mutable_data()?.copy_from_slice(&values);
        record(CopyKind::Exchanged, copy.size_in_bytes());
        validity = validity.as_ref().map(gaps::copy_of).transpose()?;
        values = copy;
    }
    values_of(values, validity.as_ref(), options)
}

/// Creates an Arrow dictionary of the words of a column, whose values are their indices.
fn words_column<T: Element>(
    values: &[T],
    validity: Option<&Validity>,
    column: usize,
    dictionary: &DataDictionary,
    words: &Categories,
    options: ArrowExportOptions,
) -> Result<ArrayRef> {
    options.copy.copies(Some(CopyReason::ElementType))?;
    to_words(values, validity, words).map_err(|refusal| match refusal {
        Refusal::Error(error) => error,
        Refusal::Reason(reason) | Refusal::Hinted(reason, _) => {
            let name = dictionary.feature(column).ok().and_then(|feature| feature.name.clone()).unwrap_or_default();
            unsupported(Some(column), Some(name), reason)
        }
    })
}

/// Creates an Arrow array of values and their bitmap without a copy. NaNs become null if the options require it.
fn values_of<T: Element>(
    values: Array<T>,
    validity: Option<&Validity>,
    options: ArrowExportOptions,
) -> Result<ArrayRef> {
    let nans = if options.has_null_for_nan { nulls_of_nans(&values)? } else { None };
    to_arrow(values, NullBuffer::union(validity.map(to_nulls).as_ref(), nans.as_ref()))
}

/// Creates a record batch of columns, which must have the types of the schema and `rows` values.
fn batch(schema: Schema, rows: usize, column: impl Fn(usize) -> Result<ArrayRef>) -> Result<RecordBatch> {
    let column = |index| Ok(of_type(column(index)?, schema.field(index).data_type()));
    let columns = (0..schema.fields().len()).map(column).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options).map_err(failed)
}

/// Copies the values of a view row by row.
fn copy_of_view<T: Element>(view: TableView<'_, T>) -> Result<Array<T>> {
    let mut values = Array::zeros(view.shape().element_count_of(T::TYPE)?)?;
    TableViewMut::new(values.mutable_data()?, view.shape(), DataLayout::RowMajor)?.copy_from(view)?;
    record(CopyKind::Exchanged, values.size_in_bytes());
    Ok(values)
}

/// Copies a region of a table row by row.
fn copy_of<T: Element>(table: &(dyn NumericTable + '_), region: &Region) -> Result<Array<T>> {
    let mut values = Array::zeros(region.shape().element_count_of(T::TYPE)?)?;
    let target = AnySliceMut::new(values.mutable_data()?);
    table
        .read_region(region, Target::new(target, region.shape(), ConversionPolicy::Saturate)?.allow_partial_write())?;
    record(CopyKind::Exchanged, values.size_in_bytes());
    Ok(values)
}
