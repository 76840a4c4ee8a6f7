//! Tables as record batches and as fixed-size lists.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};

use super::options::ArrowExportOptions;
use super::schema::{to_schema, words_of};
use super::types::{data_type, nulls_of_nans, of_type, to_arrow};
use super::words::{Refusal, to_words};
use crate::array::{AnyArray, Array};
use crate::base::copy::{CopyPolicy, CopyReason};
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::convert::ConversionPolicy;
use crate::convert::kernel::Origin;
use crate::dictionary::{Categories, DataDictionary};
use crate::table::soa::SoaNumericTable;
use crate::table::{
    AsTable, HomogenNumericTable, NumericTable, Region, Shape, TableDescription, TableView, array_of, copy_of,
};

impl<T: Element> HomogenNumericTable<T> {
    /// Returns the columns of the table as a record batch. A column-major table is not copied: every column shares its
    /// memory, and keeps all of it alive; the first later write to the table copies the memory. A row-major table of
    /// several rows and columns is copied once; a table of one row or one column is shared as well.
    ///
    /// Columns without a name are named by their index and marked in the schema, so that they are read back without a
    /// name. Of the columns, only those of words can have nulls: where the word is missing, the value being NaN. Dates
    /// and times that are counted as Arrow counts them become `Date32` and `Timestamp`, in UTC without a zone.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedElementType`] for `bf16`; [`ErrorKind::NotAllocated`]; [`ErrorKind::BlockOutstanding`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::{Float32Array, cast::AsArray};
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 10.0], [2.5, 20.0]])?;
    /// let table = table.to_layout(DataLayout::ColumnMajor)?;
    /// let batch = table.to_record_batch()?;
    /// let last: &Float32Array = batch.column(1).as_primitive();
    /// assert_eq!(last.values()[..], [10.0, 20.0]);
    /// assert_eq!(last.values().as_ptr(), table.as_slice()?[2..].as_ptr()); // the memory of the table
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn to_record_batch(&self) -> Result<RecordBatch> {
        self.to_record_batch_with(ArrowExportOptions::new())
    }

    /// Returns a record batch as [`to_record_batch`](Self::to_record_batch) does, with a choice of whether values are
    /// copied ([`CopyPolicy`]) or with other options: whether NaN becomes null.
    ///
    /// # Errors
    /// Those of [`to_record_batch`](Self::to_record_batch); [`ErrorKind::CopyRequired`] under [`CopyPolicy::Never`] for
    /// a row-major table of several rows and columns.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CopyPolicy, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// let error = table.to_record_batch_with(CopyPolicy::Never).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::CopyRequired { .. }));
    /// assert_eq!(table.to_record_batch_with(CopyPolicy::Always)?.num_rows(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn to_record_batch_with(&self, options: impl Into<ArrowExportOptions>) -> Result<RecordBatch> {
        let options = options.into();
        let has_words = self.dictionary().listed().any(|feature| words_of(feature, options).is_some());
        if !has_words {
            data_type(T::TYPE)?; // without columns, too
        }
        let schema = to_schema(self.dictionary(), self.column_count(), options)?;
        let (values, stride) = lines(self, self.view()?.transposed(), options.copy)?;
        let rows = self.row_count();
        batch(schema, rows, |column| {
            let start = column * stride;
            let values = if rows == 0 { Array::new() } else { values.slice(start..start + rows)? };
            match words_of(self.dictionary().feature(column)?, options) {
                Some(words) => words_column(&values, column, self.dictionary(), words, options),
                None => values_of(values, options),
            }
        })
    }

    /// Returns the rows of the table as lists, whose length is the number of columns. A row-major table is not copied:
    /// the lists share its memory, and keep it alive. A column-major table of several rows and columns is copied once.
    /// Names and types of columns are lost.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedElementType`] for `bf16`; [`ErrorKind::SizeOverflow`] for more than 2,147,483,647
    /// columns; [`ErrorKind::NotAllocated`]; [`ErrorKind::BlockOutstanding`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::{Array, cast::AsArray, types::Int32Type};
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
    /// let lists = table.to_fixed_size_list()?;
    /// assert_eq!((lists.len(), lists.value_length()), (2, 3));
    /// assert_eq!(lists.values().as_primitive::<Int32Type>().values().as_ptr(), table.as_slice()?.as_ptr());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn to_fixed_size_list(&self) -> Result<FixedSizeListArray> {
        self.to_fixed_size_list_with(ArrowExportOptions::new())
    }

    /// Returns lists as [`to_fixed_size_list`](Self::to_fixed_size_list) does, with a choice of whether values are
    /// copied ([`CopyPolicy`]) or with other options: whether NaN becomes null.
    ///
    /// # Errors
    /// Those of [`to_fixed_size_list`](Self::to_fixed_size_list); [`ErrorKind::CopyRequired`] under
    /// [`CopyPolicy::Never`] for a column-major table of several rows and columns.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CopyPolicy, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// assert!(table.to_fixed_size_list_with(CopyPolicy::Never).is_ok());
    /// let columns = table.to_layout(DataLayout::ColumnMajor)?;
    /// let error = columns.to_fixed_size_list_with(CopyPolicy::Never).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::CopyRequired { .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn to_fixed_size_list_with(&self, options: impl Into<ArrowExportOptions>) -> Result<FixedSizeListArray> {
        let options = options.into();
        let (data_type, shape, view) = (data_type(T::TYPE)?, self.shape(), self.view()?);
        let overflow = || Error::new(ErrorKind::SizeOverflow { shape, element: Some(T::TYPE) });
        let length = i32::try_from(shape.columns).map_err(|_| overflow())?;
        let (values, _) = lines(self, view, options.copy)?; // rows of row-major tables are contiguous
        let values = values.slice(..shape.element_count()?)?;
        let field = Arc::new(Field::new_list_field(data_type, options.has_null_for_nan && T::TYPE.is_float()));
        FixedSizeListArray::try_new_with_length(field, length, values_of(values, options)?, None, shape.rows)
            .map_err(|_| overflow())
    }
}

/// Returns the values such that each row of a view of the whole table is a slice, and the stride of the rows.
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
        true => Ok((downcast(view.to_array(T::TYPE, ConversionPolicy::Saturate, Origin::default())?)?, columns)),
        false => Ok((table.array()?.clone(), stride)),
    }
}

impl SoaNumericTable {
    /// Returns the columns of the table as a record batch, each of its own type. No copy: every column shares the
    /// memory of the table's column, and keeps it alive; the first later write to that column copies it.
    ///
    /// Names, types and categories are stored in the schema, as by [`HomogenNumericTable::to_record_batch`], and so are
    /// missing words and dates. `StructArray::from` makes a struct array of the batch.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedElementType`] if all columns are of `bf16`, [`ErrorKind::Unsupported`] with the first
    /// such column if only some are; [`ErrorKind::ColumnNotSet`]; [`ErrorKind::BlockOutstanding`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::{UInt16Array, cast::AsArray};
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// let table = SoaNumericTable::from_columns([
    ///     ("length", AnyArray::from(vec![5.1_f32, 4.9])),
    ///     ("count", AnyArray::from(vec![3_u16, 1])),
    /// ])?;
    /// let batch = table.to_record_batch()?;
    /// let count: &UInt16Array = batch.column(1).as_primitive();
    /// assert_eq!(count.values()[..], [3, 1]);
    /// assert_eq!(count.values().as_ptr(), table.column_as::<u16>(1)?.as_ptr()); // the memory of the table
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn to_record_batch(&self) -> Result<RecordBatch> {
        let table: &dyn NumericTable = self;
        table.to_record_batch()
    }

    /// Returns a record batch as [`to_record_batch`](Self::to_record_batch) does, with a choice of whether values are
    /// copied ([`CopyPolicy`]) or with other options: whether NaN becomes null.
    ///
    /// # Errors
    /// Those of [`to_record_batch`](Self::to_record_batch).
    ///
    /// # Examples
    /// ```
    /// use arrow_array::Array;
    /// use numeric_table::{ArrowExportOptions, SoaNumericTable};
    /// let table = SoaNumericTable::from_columns([("a", vec![f32::NAN, 1.0])])?;
    /// let batch = table.to_record_batch_with(ArrowExportOptions::new().nan_to_null(true))?;
    /// assert!(batch.column(0).is_null(0) && batch.column(0).is_valid(1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn to_record_batch_with(&self, options: impl Into<ArrowExportOptions>) -> Result<RecordBatch> {
        let table: &dyn NumericTable = self;
        table.to_record_batch_with(options)
    }
}

/// A table of any kind as Arrow's columns.
#[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
pub trait ArrowTables: AsTable {
    /// Returns the columns of a table of any kind as a record batch, each of its own type, as
    /// [`HomogenNumericTable::to_record_batch`] and [`SoaNumericTable::to_record_batch`] do.
    ///
    /// For kinds of tables other than the homogeneous one, each column is shared or copied by itself. It is shared if
    /// its values are contiguous in one [`Array`]: if they lie in one piece that was made by
    /// [`Piece::of_array`](crate::table::Piece::of_array), without gaps. Any other column is copied.
    ///
    /// # Errors
    /// Those of [`SoaNumericTable::to_record_batch`]; those of reading a column.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{MergedNumericTable, prelude::*};
    /// let features = HomogenNumericTable::from_rows(&[[5.1_f32, 3.5], [4.9, 3.0]])?;
    /// let labels = HomogenNumericTable::from_rows(&[[0_u8], [2]])?;
    /// let table = MergedNumericTable::new([Box::new(features) as Box<dyn NumericTable>, Box::new(labels)])?;
    /// let batch = table.to_record_batch()?;
    /// assert_eq!(batch.column(2).data_type().to_string(), "UInt8");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn to_record_batch(&self) -> Result<RecordBatch> {
        self.to_record_batch_with(ArrowExportOptions::new())
    }

    /// Returns a record batch as `to_record_batch` does, with a choice of whether values are copied ([`CopyPolicy`]) or
    /// with other options: whether NaN becomes null.
    ///
    /// # Errors
    /// Those of `to_record_batch`; [`ErrorKind::CopyRequired`] under [`CopyPolicy::Never`] if a column cannot be
    /// shared.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CopyPolicy, SoaNumericTable, prelude::*};
    /// let table = SoaNumericTable::from_columns([("a", vec![1, 2]), ("b", vec![3, 4])])?;
    /// assert!(table.to_record_batch_with(CopyPolicy::Never).is_ok());
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
            table.downcast_ref::<HomogenNumericTable<T>>().map(|table| table.to_record_batch_with(options))
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

/// Returns a column of a table, which shares its memory if possible and permitted.
fn column_of<T: Element>(
    table: &(dyn NumericTable + '_),
    column: usize,
    options: ArrowExportOptions,
) -> Result<ArrayRef> {
    let region = Region { rows: 0..table.row_count(), columns: column..column + 1 };
    let shared = match array_of(table, &region, T::TYPE)? {
        Some((array, range)) => array.downcast::<T>().map(|array| array.slice(range)).transpose()?,
        None => None,
    };
    if let Some(words) = words_of(table.dictionary().feature(column)?, options) {
        let copy = || downcast(copy_of(table, &region, T::TYPE, ConversionPolicy::Saturate)?);
        let values = shared.map_or_else(copy, Ok)?;
        return words_column::<T>(&values, column, table.dictionary(), words, options);
    }
    let copies = options.copy.copies(shared.is_none().then_some(CopyReason::Layout))?;
    match shared.filter(|_| !copies) {
        Some(values) => values_of(values, options),
        None => values_of::<T>(downcast(copy_of(table, &region, T::TYPE, ConversionPolicy::Saturate)?)?, options),
    }
}

/// Creates an Arrow dictionary of the words of a column, whose values are their indices.
fn words_column<T: Element>(
    values: &[T],
    column: usize,
    dictionary: &DataDictionary,
    words: &Categories,
    options: ArrowExportOptions,
) -> Result<ArrayRef> {
    options.copy.copies(Some(CopyReason::ElementType))?;
    to_words(values, words).map_err(|refusal| match refusal {
        Refusal::Error(error) => error,
        Refusal::Reason(reason) => {
            let name = dictionary.feature(column).ok().and_then(|feature| feature.name.clone()).unwrap_or_default();
            Error::unsupported("Arrow", Some(column), Some(name), reason)
        }
    })
}

/// Creates an Arrow array of values, without a copy; NaNs are null if the options say so.
fn values_of<T: Element>(values: Array<T>, options: ArrowExportOptions) -> Result<ArrayRef> {
    let nulls = if options.has_null_for_nan { nulls_of_nans(&values)? } else { None };
    to_arrow(values, nulls)
}

/// Creates a record batch of columns, which must have the types of the schema and `rows` values.
fn batch(schema: Schema, rows: usize, column: impl Fn(usize) -> Result<ArrayRef>) -> Result<RecordBatch> {
    let column = |index| Ok(of_type(column(index)?, schema.field(index).data_type()));
    let columns = (0..schema.fields().len()).map(column).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
        .map_err(|source| Error::foreign(format!("Arrow failed: {source}"), source))
}

/// Downcasts an array, which succeeds unless a user's own kind of table reported a wrong element type.
fn downcast<T: Element>(array: AnyArray) -> Result<Array<T>> {
    array.downcast().map_err(|other| Error::element_type_mismatch(T::TYPE, other.element_type()))
}
