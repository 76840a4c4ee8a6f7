//! The calls of this crate on the types of `numeric-table`: a trait for each type, with the bodies in other modules.

use std::borrow::Borrow;
use std::path::Path;

use arrow_array::{FixedSizeListArray, RecordBatch, RecordBatchReader, StructArray};
use numeric_table::{
    Element, HomogenNumericTable, Result, RowMergedNumericTable, Shape, SoaNumericTable,
    files::{SaveOptions, TableWriter},
};
#[cfg(doc)]
use numeric_table::{ErrorKind, interop::CopyPolicy};

use crate::options::{ArrowExportOptions, ArrowOptions};
use crate::{columns, export, import, stream};

/// Reserves the traits for the types of `numeric-table`, so that adding methods to them is not a breaking change.
mod sealed {
    use super::*;

    pub trait Sealed {}
    impl<T: Element> Sealed for HomogenNumericTable<T> {}
    impl Sealed for SoaNumericTable {}
    impl Sealed for RowMergedNumericTable<'_> {}
    impl<T: Element> Sealed for TableWriter<T> {}
}

/// Converts homogeneous tables from record batches, readers of batches and lists, and to lists.
/// [`ArrowTables`](crate::ArrowTables) converts any table to a record batch.
pub trait ArrowHomogenTable: sealed::Sealed + Sized {
    /// Creates a table from a record batch whose columns all hold `T`, without nulls. A single column is shared;
    /// several columns are copied into a row-major table. The table keeps the names and the types of the columns.
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
    /// use numeric_table_arrow::prelude::*;
    /// let column = |values: [f64; 2]| Arc::new(Float64Array::from(values.to_vec())) as ArrayRef;
    /// let [length, width] = [[1.5, 2.5], [10.0, 20.0]].map(column);
    /// let batch = RecordBatch::try_from_iter([("length", length), ("width", width)]).unwrap();
    /// let table = HomogenNumericTable::<f64>::from_record_batch(&batch)?;
    /// assert_eq!(table.as_slice()?, [1.5, 10.0, 2.5, 20.0]);
    /// assert_eq!(table.dictionary().index_of("width"), Some(1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn from_record_batch(batch: &RecordBatch) -> Result<Self> {
        Self::from_record_batches([batch], ArrowOptions::new())
    }

    /// Creates one table from record batches with the same columns in the same order. The rows follow the order of the
    /// batches.
    ///
    /// The table shares Arrow's memory if there is one batch of one column, of the table's type and without nulls.
    /// Otherwise it copies. Shared memory stays Arrow's: the table keeps the whole buffer alive and never writes to it;
    /// the first write to the table copies.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with the column, if it holds another type and the options set no conversion, or a
    /// type that tables do not support; if it has nulls and the options do not replace them, or the table's type has no
    /// NaN; if batches differ in the number or the names of columns. [`ErrorKind::ValueNotRepresentable`] for the first
    /// value that the conversion does not permit. [`ErrorKind::CopyRequired`]. [`ErrorKind::SizeOverflow`],
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::prelude::*;
    /// let all = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let batch = all.to_record_batch()?;
    /// let (head, tail) = (batch.slice(0, 1), batch.slice(1, 2));
    /// let options = ArrowOptions::new().convert(ConversionPolicy::Exact);
    /// assert_eq!(HomogenNumericTable::<f32>::from_record_batches([head, tail], options)?, all.convert()?);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn from_record_batches<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
        options: ArrowOptions,
    ) -> Result<Self>;

    /// Creates a table from lists of the same length that hold `T`. Each list is a row. No copy.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for values of another type, or nulls: see
    /// [`from_fixed_size_lists`](Self::from_fixed_size_lists).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 6]])?;
    /// let same = HomogenNumericTable::<u8>::from_fixed_size_list(&table.to_fixed_size_list()?)?;
    /// assert_eq!((same.as_slice()?.as_ptr(), &same), (table.as_slice()?.as_ptr(), &table));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn from_fixed_size_list(lists: &FixedSizeListArray) -> Result<Self> {
        Self::from_fixed_size_lists([lists], ArrowOptions::new())
    }

    /// Creates one table from several arrays of lists of the same length. The rows follow the order of the arrays.
    ///
    /// The table shares Arrow's memory if it is row-major and there is one array, of the table's type and without
    /// nulls. Otherwise it copies. A null list is a row of nulls.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches); [`ErrorKind::Unsupported`] for lists of different
    /// lengths.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::{FixedSizeListArray, types::Float32Type};
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::prelude::*;
    /// let rows = [Some([Some(1.0), None]), None];
    /// let lists = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows, 2);
    /// let options = ArrowOptions::new().nulls_to_nan(true);
    /// let table = HomogenNumericTable::<f32>::from_fixed_size_lists([lists], options)?;
    /// assert_eq!(table.as_slice()?.iter().filter(|value| value.is_nan()).count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn from_fixed_size_lists<L: Borrow<FixedSizeListArray>>(
        lists: impl IntoIterator<Item = L>,
        options: ArrowOptions,
    ) -> Result<Self>;

    /// Creates one table from all batches of a reader, such as a reader of a Parquet file or of a file in Arrow's IPC
    /// format. Each batch is dropped once its values are copied: besides the table, memory holds about 16 MiB of
    /// batches, or one batch if that is larger.
    ///
    /// The table grows with the rows, which may briefly need memory for a second, smaller copy of it.
    /// [`expected_rows`](ArrowOptions::expected_rows) avoids this. If only one batch has rows, its values are shared
    /// where [`from_record_batches`](Self::from_record_batches) would share them.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches), and [`ErrorKind::Foreign`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::prelude::*;
    /// let batch = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone()), Ok(batch.clone())], batch.schema());
    /// assert_eq!(HomogenNumericTable::<i16>::read_record_batches(reader, ArrowOptions::new())?.row_count(), 4);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn read_record_batches(reader: impl RecordBatchReader, options: ArrowOptions) -> Result<Self>;

    /// Returns the rows of the table as lists, whose length is the number of columns. The lists share the memory of a
    /// row-major table and keep it alive. A column-major table of several rows and columns is copied once. The lists do
    /// not keep the names and the types of the columns.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedElementType`] for `bf16`; [`ErrorKind::SizeOverflow`] for more than 2,147,483,647
    /// columns; [`ErrorKind::NotAllocated`]; [`ErrorKind::BlockOutstanding`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::{Array, cast::AsArray, types::Int32Type};
    /// use numeric_table::prelude::*;
    /// use numeric_table_arrow::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
    /// let lists = table.to_fixed_size_list()?;
    /// assert_eq!((lists.len(), lists.value_length()), (2, 3));
    /// assert_eq!(lists.values().as_primitive::<Int32Type>().values().as_ptr(), table.as_slice()?.as_ptr());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn to_fixed_size_list(&self) -> Result<FixedSizeListArray> {
        self.to_fixed_size_list_with(ArrowExportOptions::new())
    }

    /// Returns lists as [`to_fixed_size_list`](Self::to_fixed_size_list) does, with options, or with a [`CopyPolicy`]
    /// alone.
    ///
    /// # Errors
    /// Those of [`to_fixed_size_list`](Self::to_fixed_size_list); [`ErrorKind::CopyRequired`] under
    /// [`CopyPolicy::Never`] for a column-major table of several rows and columns.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{interop::CopyPolicy, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// assert!(table.to_fixed_size_list_with(CopyPolicy::Never).is_ok());
    /// let columns = table.to_layout(DataLayout::ColumnMajor)?;
    /// let error = columns.to_fixed_size_list_with(CopyPolicy::Never).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::CopyRequired { .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn to_fixed_size_list_with(&self, options: impl Into<ArrowExportOptions>) -> Result<FixedSizeListArray>;
}

impl<T: Element> ArrowHomogenTable for HomogenNumericTable<T> {
    fn from_record_batches<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
        options: ArrowOptions,
    ) -> Result<Self> {
        import::from_record_batches(batches, options)
    }

    fn from_fixed_size_lists<L: Borrow<FixedSizeListArray>>(
        lists: impl IntoIterator<Item = L>,
        options: ArrowOptions,
    ) -> Result<Self> {
        import::from_fixed_size_lists(lists, options)
    }

    fn read_record_batches(reader: impl RecordBatchReader, options: ArrowOptions) -> Result<Self> {
        stream::read_record_batches(reader, options)
    }

    fn to_fixed_size_list_with(&self, options: impl Into<ArrowExportOptions>) -> Result<FixedSizeListArray> {
        export::to_fixed_size_list_with(self, options)
    }
}

/// Converts record batches, readers of batches and struct arrays to structures of arrays.
/// [`ArrowTables`](crate::ArrowTables) converts any table to a record batch.
pub trait ArrowSoaTable: sealed::Sealed + Sized {
    /// Creates a table of the columns of a record batch, each of its own type. Columns of numbers share Arrow's memory.
    /// The batch may be a slice of a larger one. Nulls are missing values: the table shares the validity bitmap, too.
    ///
    /// Shared memory stays Arrow's: the table keeps the whole buffer alive and never writes to it; the first write to a
    /// column copies that column. The table keeps names, types and numbers of categories.
    ///
    /// A column is [nullable](numeric_table::Feature::nullable) if it has nulls, which are counted, or if the batch was
    /// made from a table in which it was. A field that is nullable says nothing: most programs make all of them so.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with the first column whose type tables do not support.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// let age: ArrayRef = Arc::new(Int32Array::from(vec![31, 27]));
    /// let size = Float64Array::from(vec![1.75, 1.6]);
    /// let address = size.values().as_ptr();
    /// let batch = RecordBatch::try_from_iter([("age", age), ("size", Arc::new(size))]).unwrap();
    ///
    /// let table = SoaNumericTable::from_record_batch(&batch)?;
    /// assert_eq!((table.column_type(0)?, table.column_type(1)?), (ElementType::I32, ElementType::F64));
    /// assert_eq!(table.column_slice::<f64>(1)?.as_ptr(), address); // Arrow's memory
    /// assert_eq!(table.rows::<f64>(..)?[..], [31.0, 1.75, 27.0, 1.6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn from_record_batch(batch: &RecordBatch) -> Result<Self> {
        Self::from_record_batches([batch], ArrowOptions::new())
    }

    /// Creates one table from record batches with the same columns in the same order. The rows follow the order of the
    /// batches.
    ///
    /// A column has its type of the first batch. It is shared, with its bitmap, if only one batch has rows and the
    /// options replace no nulls in it; otherwise both are copied. [`ArrowRowMergedTable::from_record_batches`] shares
    /// those of several batches. Nulls are missing values, unless the options replace them.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with the column, if tables do not support its type, or if its type differs in a later
    /// batch and the options set no conversion; if it has nulls and the options replace them by a value that its type
    /// does not hold; if batches differ in the number or the names of columns.
    /// [`ErrorKind::ValueNotRepresentable`] for the first value of a column that the conversion does not permit.
    /// [`ErrorKind::CopyRequired`].
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Float32Array, RecordBatch, UInt8Array};
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// let columns: [(&str, ArrayRef); 2] = [
    ///     ("count", Arc::new(UInt8Array::from(vec![1, 2]))),
    ///     ("share", Arc::new(Float32Array::from(vec![Some(0.5), None]))),
    /// ];
    /// let batch = RecordBatch::try_from_iter(columns).unwrap();
    /// let table = SoaNumericTable::from_record_batches([&batch, &batch.slice(0, 1)], ArrowOptions::new())?;
    /// assert_eq!(table.column_slice::<u8>(0)?, [1, 2, 1]);
    /// assert!(table.is_missing(1, "share")? && table.missing_count("share")? == 1);
    ///
    /// let options = ArrowOptions::new().nulls_to_nan(true);
    /// let table = SoaNumericTable::from_record_batches([&batch], options)?;
    /// assert!(table.column_slice::<f32>(1)?[1].is_nan());
    /// # Ok::<(), Error>(())
    /// ```
    fn from_record_batches<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
        options: ArrowOptions,
    ) -> Result<Self>;

    /// Creates a table of the fields of a struct array, each of its own type, as
    /// [`from_record_batch`](Self::from_record_batch) does. No copy.
    ///
    /// # Errors
    /// Those of [`from_record_batch`](Self::from_record_batch). All fields of a null struct are null.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::StructArray;
    /// use numeric_table::SoaNumericTable;
    /// use numeric_table_arrow::prelude::*;
    /// let table = SoaNumericTable::from_columns([("a", vec![1_u8, 2])])?;
    /// let array = StructArray::from(table.to_record_batch()?);
    /// let same = SoaNumericTable::from_struct_array(&array)?;
    /// assert_eq!(same.column_slice::<u8>(0)?.as_ptr(), table.column_slice::<u8>(0)?.as_ptr());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn from_struct_array(array: &StructArray) -> Result<Self> {
        Self::from_struct_arrays([array], ArrowOptions::new())
    }

    /// Creates one table from struct arrays with the same fields in the same order, as
    /// [`from_record_batches`](Self::from_record_batches) does from batches.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches). All fields of a null struct are null.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::{ArrayRef, Int16Array, StructArray};
    /// use numeric_table::SoaNumericTable;
    /// use numeric_table_arrow::prelude::*;
    /// let values: ArrayRef = std::sync::Arc::new(Int16Array::from(vec![Some(1), None, Some(3)]));
    /// let (fields, values, _) = StructArray::try_from(vec![("a", values)]).unwrap().into_parts();
    /// let array = StructArray::new(fields, values, Some(vec![true, true, false].into()));
    /// let table = SoaNumericTable::from_struct_arrays([array], ArrowOptions::new().nulls_to(-1))?;
    /// assert_eq!(table.column_slice::<i16>(0)?, [1, -1, -1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn from_struct_arrays<A: Borrow<StructArray>>(
        arrays: impl IntoIterator<Item = A>,
        options: ArrowOptions,
    ) -> Result<Self>;

    /// Creates one table from all batches of a reader, each column of its own type. Each batch is dropped once its
    /// values are copied: besides the table, memory holds about 16 MiB of batches, or one batch if that is larger.
    ///
    /// Columns grow as in [`ArrowHomogenTable::read_record_batches`]. If only one batch has rows, its columns are
    /// shared where [`from_record_batches`](Self::from_record_batches) would share them.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches), and [`ErrorKind::Foreign`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// let batch = SoaNumericTable::from_columns([("a", vec![1_u8, 2])])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone()), Ok(batch.clone())], batch.schema());
    /// let table = SoaNumericTable::read_record_batches(reader, ArrowOptions::new())?;
    /// assert_eq!(table.column_slice::<u8>(0)?, [1, 2, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn read_record_batches(reader: impl RecordBatchReader, options: ArrowOptions) -> Result<Self>;
}

impl ArrowSoaTable for SoaNumericTable {
    fn from_record_batches<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
        options: ArrowOptions,
    ) -> Result<Self> {
        columns::from_record_batches(batches, options)
    }

    fn from_struct_arrays<A: Borrow<StructArray>>(
        arrays: impl IntoIterator<Item = A>,
        options: ArrowOptions,
    ) -> Result<Self> {
        columns::from_struct_arrays(arrays, options)
    }

    fn read_record_batches(reader: impl RecordBatchReader, options: ArrowOptions) -> Result<Self> {
        stream::read_columns(reader, options)
    }
}

/// Stacks record batches into a table, end to end.
pub trait ArrowRowMergedTable: sealed::Sealed + Sized {
    /// Creates a table of the rows of record batches with the same columns in the same order. Each batch is a
    /// [`SoaNumericTable`] on Arrow's memory, bitmaps of nulls included. The only copies are columns whose nulls the
    /// options replace, and columns that the options convert to their type in the first batch.
    ///
    /// A column of such a table is contiguous only within a batch. To use a column often, copy it once with
    /// [`ArrowSoaTable::from_record_batches`].
    ///
    /// # Errors
    /// Those of [`ArrowSoaTable::from_record_batches`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, RowMergedNumericTable, SoaNumericTable, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// let columns = [("a", AnyArray::from(vec![1_u8, 2])), ("b", AnyArray::from(vec![0.5_f64, 1.5]))];
    /// let batch = SoaNumericTable::from_columns(columns)?.to_record_batch()?;
    /// let table = RowMergedNumericTable::from_record_batches([&batch, &batch], ArrowOptions::new())?;
    /// assert_eq!(table.column::<f64>(1, ..)?[..], [0.5, 1.5, 0.5, 1.5]);
    /// assert!(table.column::<f64>(1, 2..)?.is_zero_copy()); // within a batch
    /// # Ok::<(), Error>(())
    /// ```
    fn from_record_batches<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
        options: ArrowOptions,
    ) -> Result<Self>;
}

impl ArrowRowMergedTable for RowMergedNumericTable<'_> {
    fn from_record_batches<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
        options: ArrowOptions,
    ) -> Result<Self> {
        columns::merge_record_batches(batches, options)
    }
}

/// Writes record batches to table files.
pub trait ArrowTableWriter: sealed::Sealed + Sized {
    /// Saves all batches of a reader as a table file of `T`, which may be larger than memory: about 16 MiB of batches
    /// are in memory at a time, or one batch if that is larger. Returns the number of rows and columns of the table.
    ///
    /// Columns, nulls, words and conversions are as for [`ArrowHomogenTable::read_record_batches`]. The file is always
    /// row-major, and its values are always copies. If columns have words, the file has room for 1 MiB of them.
    ///
    /// # Errors
    /// Those of [`ArrowHomogenTable::read_record_batches`], [`create`](TableWriter::create) and
    /// [`finish`](TableWriter::finish); [`ErrorKind::NotWholeRows`] for rows without columns; [`ErrorKind::Format`] if
    /// the words need more room. The file at the path is then unchanged.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::{files::TableWriter, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let batch = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone()), Ok(batch.clone())], batch.schema());
    /// let options = ArrowOptions::new().convert(ConversionPolicy::Exact);
    /// assert_eq!(TableWriter::<f32>::save_record_batches(&path, reader, options)?, Shape { rows: 4, columns: 2 });
    /// assert_eq!(HomogenNumericTable::<f32>::load(&path)?.rows::<f32>(2..)?[..], [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn save_record_batches(
        path: impl AsRef<Path>,
        reader: impl RecordBatchReader,
        options: ArrowOptions,
    ) -> Result<Shape> {
        Self::save_record_batches_with(path, reader, options, SaveOptions::new())
    }

    /// Saves all batches of a reader as [`save_record_batches`](Self::save_record_batches) does, with options for the
    /// file.
    ///
    /// # Errors
    /// Those of [`save_record_batches`](Self::save_record_batches).
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::{files::{SaveOptions, TableWriter}, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let batch = HomogenNumericTable::from_rows(&[[1.5_f32], [2.5]])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    /// let save = SaveOptions::new().durable(false);
    /// let shape = TableWriter::<f32>::save_record_batches_with(&path, reader, ArrowOptions::new(), save)?;
    /// assert_eq!((shape.rows, shape.columns), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn save_record_batches_with(
        path: impl AsRef<Path>,
        reader: impl RecordBatchReader,
        options: ArrowOptions,
        save: SaveOptions,
    ) -> Result<Shape>;

    /// Appends the rows of a record batch, as [`append`](TableWriter::append) does: its columns, or those that the
    /// options choose, in that order. Their names do not matter. Words become their indices in the dictionary of the
    /// file. Allocates the memory that the rows take in the file.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`] if the number of columns differs from that of the file, or for times of another
    /// unit; [`ErrorKind::NotWholeRows`] for rows without columns; those of [`ArrowHomogenTable::from_record_batches`],
    /// with the row in the file; those of [`append`](TableWriter::append). On an error, nothing is appended, and the
    /// writer remains usable.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::TableWriter, prelude::*};
    /// use numeric_table_arrow::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// let batch = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 400]])?.to_record_batch()?;
    /// let mut writer = TableWriter::<u8>::create(&path, 1, None)?;
    /// let first = ArrowOptions::new().convert(ConversionPolicy::Checked).columns([0]);
    /// writer.append_record_batch(&batch, &first)?;
    /// let error = writer.append_record_batch(&batch, &first.columns([1])).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the value 400 at row 3, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it \
    ///      in calls that take a policy"
    /// );
    /// writer.finish()?;
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.as_slice()?, [1, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn append_record_batch(&mut self, batch: &RecordBatch, options: &ArrowOptions) -> Result<()>;
}

impl<T: Element> ArrowTableWriter for TableWriter<T> {
    fn save_record_batches_with(
        path: impl AsRef<Path>,
        reader: impl RecordBatchReader,
        options: ArrowOptions,
        save: SaveOptions,
    ) -> Result<Shape> {
        stream::save_record_batches_with::<T>(path, reader, options, save)
    }

    fn append_record_batch(&mut self, batch: &RecordBatch, options: &ArrowOptions) -> Result<()> {
        stream::append_record_batch(self, batch, options)
    }
}
