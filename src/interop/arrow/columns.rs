//! Structures of arrays from record batches and struct arrays: each column by itself, shared where it can be.

use std::borrow::Borrow;

use arrow_array::{Array as ArrowArray, ArrayRef, RecordBatch, RecordBatchReader, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::Fields;

use super::chunks::{Chunk, ChunkColumn, assemble};
use super::import::{ChunkPlace, whole_shape};
use super::options::ArrowOptions;
use super::schema::to_dictionary;
use super::types::{element_type, no_element_type, share};
use crate::array::{AnyArray, Array};
use crate::base::copy::CopyReason;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, Result};
use crate::table::merged::RowMergedNumericTable;
use crate::table::soa::SoaNumericTable;
use crate::table::{DataLayout, MemoryStatus, NumericTable, Shape};

impl SoaNumericTable {
    /// Creates a table of the columns of a record batch, each of its own type. No copy: every column shares Arrow's
    /// memory, from the beginning of the batch, which may be a slice of a larger one.
    ///
    /// Shared memory belongs to Arrow: the whole buffer is kept alive, and it is never written: the first write to a
    /// column copies that column. Names, types and numbers of categories are kept.
    ///
    /// # Errors
    /// [`Error::Arrow`] with the first column whose type is none of tables, such as `Utf8` or `Boolean`, or that has
    /// nulls: [`from_record_batches`](Self::from_record_batches) can replace them.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};
    /// use numeric_table::{SoaNumericTable, prelude::*};
    /// let age: ArrayRef = Arc::new(Int32Array::from(vec![31, 27]));
    /// let size = Float64Array::from(vec![1.75, 1.6]);
    /// let address = size.values().as_ptr();
    /// let batch = RecordBatch::try_from_iter([("age", age), ("size", Arc::new(size))]).unwrap();
    ///
    /// let table = SoaNumericTable::from_record_batch(&batch)?;
    /// assert_eq!((table.column_type(0)?, table.column_type(1)?), (ElementType::I32, ElementType::F64));
    /// assert_eq!(table.column_as::<f64>(1)?.as_ptr(), address); // Arrow's memory
    /// assert_eq!(table.rows::<f64>(..)?[..], [31.0, 1.75, 27.0, 1.6]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn from_record_batch(batch: &RecordBatch) -> Result<Self> {
        Self::from_record_batches([batch], ArrowOptions::new())
    }

    /// Creates one table from record batches with the same columns in the same order: their rows in the order of the
    /// batches.
    ///
    /// A column has the type that it has in the first batch. It is shared if only one batch has rows, in which it has
    /// no nulls; otherwise it is copied. [`RowMergedNumericTable::from_record_batches`] copies nothing but columns with
    /// nulls.
    ///
    /// # Errors
    /// [`Error::Arrow`] with the column, if its type is none of tables, or another one in a later batch and no
    /// conversion was requested; if it has nulls and nothing was requested for them, or a value that its type does not
    /// hold; if batches differ in the number or the names of columns. [`Error::ValueNotRepresentable`] for the first
    /// value of a column that the conversion does not permit. [`Error::CopyRequired`]. [`Error::SizeOverflow`],
    /// [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Float32Array, RecordBatch, UInt8Array};
    /// use numeric_table::{ArrowOptions, SoaNumericTable, prelude::*};
    /// let columns: [(&str, ArrayRef); 2] = [
    ///     ("count", Arc::new(UInt8Array::from(vec![1, 2]))),
    ///     ("share", Arc::new(Float32Array::from(vec![Some(0.5), None]))),
    /// ];
    /// let batch = RecordBatch::try_from_iter(columns).unwrap();
    /// let options = ArrowOptions::new().nulls_to_nan(true);
    /// let table = SoaNumericTable::from_record_batches([&batch, &batch.slice(0, 1)], options)?;
    /// assert_eq!(table.column_as::<u8>(0)?, [1, 2, 1]);
    /// assert!(table.column_as::<f32>(1)?[1].is_nan());
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn from_record_batches<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
        options: ArrowOptions,
    ) -> Result<Self> {
        let batches: Vec<B> = batches.into_iter().collect();
        let parts: Vec<Part<'_>> = batches.iter().map(|batch| Part::of_batch(batch.borrow())).collect();
        Chunks::of_parts("batch", &parts, &options).map_or_else(|| Ok(Self::new()), |chunks| chunks.table())
    }

    /// Creates one table from all batches of a reader, as [`from_record_batches`](Self::from_record_batches) does. All
    /// batches are read before the table is created, so that both are in memory for a moment.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches), and [`Error::ArrowReader`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatchIterator;
    /// use numeric_table::{ArrowOptions, SoaNumericTable, prelude::*};
    /// let batch = SoaNumericTable::from_columns([("a", vec![1_u8, 2])])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone()), Ok(batch.clone())], batch.schema());
    /// let table = SoaNumericTable::read_record_batches(reader, ArrowOptions::new())?;
    /// assert_eq!(table.column_as::<u8>(0)?, [1, 2, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn read_record_batches(reader: impl RecordBatchReader, options: ArrowOptions) -> Result<Self> {
        let schema = reader.schema();
        let batches: Result<Vec<_>, _> = reader.collect();
        let batches = batches.map_err(|source| Error::ArrowReader { source })?;
        let parts: Vec<Part<'_>> = batches.iter().map(Part::of_batch).collect();
        Chunks {
            fields: schema.fields(),
            kind: "batch",
            first: 0,
            count: parts.len(),
            parts: &parts,
            options: &options,
        }
        .table()
    }

    /// Creates a table of the fields of a struct array, each of its own type, as
    /// [`from_record_batch`](Self::from_record_batch) does. No copy.
    ///
    /// # Errors
    /// Those of [`from_record_batch`](Self::from_record_batch). Where a struct is null, all of its fields are.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::StructArray;
    /// use numeric_table::SoaNumericTable;
    /// let table = SoaNumericTable::from_columns([("a", vec![1_u8, 2])])?;
    /// let array = StructArray::from(table.to_record_batch()?);
    /// let same = SoaNumericTable::from_struct_array(&array)?;
    /// assert_eq!(same.column_as::<u8>(0)?.as_ptr(), table.column_as::<u8>(0)?.as_ptr());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn from_struct_array(array: &StructArray) -> Result<Self> {
        Self::from_struct_arrays([array], ArrowOptions::new())
    }

    /// Creates one table from struct arrays with the same fields in the same order, as
    /// [`from_record_batches`](Self::from_record_batches) does from batches.
    ///
    /// # Errors
    /// Those of [`from_record_batches`](Self::from_record_batches). Where a struct is null, all of its fields are.
    ///
    /// # Examples
    /// ```
    /// use arrow_array::{ArrayRef, Int16Array, StructArray};
    /// use numeric_table::{ArrowOptions, SoaNumericTable};
    /// let values: ArrayRef = std::sync::Arc::new(Int16Array::from(vec![Some(1), None, Some(3)]));
    /// let (fields, values, _) = StructArray::try_from(vec![("a", values)]).unwrap().into_parts();
    /// let array = StructArray::new(fields, values, Some(vec![true, true, false].into()));
    /// let table = SoaNumericTable::from_struct_arrays([array], ArrowOptions::new().nulls_to(-1))?;
    /// assert_eq!(table.column_as::<i16>(0)?, [1, -1, -1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn from_struct_arrays<A: Borrow<StructArray>>(
        arrays: impl IntoIterator<Item = A>,
        options: ArrowOptions,
    ) -> Result<Self> {
        let arrays: Vec<A> = arrays.into_iter().collect();
        let parts: Vec<Part<'_>> = arrays.iter().map(|array| Part::of_structs(array.borrow())).collect();
        Chunks::of_parts("array", &parts, &options).map_or_else(|| Ok(Self::new()), |chunks| chunks.table())
    }
}

impl<'t> RowMergedNumericTable<'t> {
    /// Creates a table of the rows of record batches with the same columns in the same order, each batch a
    /// [`SoaNumericTable`] on Arrow's memory. Nothing is copied, however many batches there are, except for columns
    /// with nulls that the options replace, and columns of another type than in the first batch that they convert.
    ///
    /// A column of such a table is contiguous only within a batch; one that is used often is better copied once, by
    /// [`SoaNumericTable::from_record_batches`].
    ///
    /// # Errors
    /// Those of [`SoaNumericTable::from_record_batches`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, ArrowOptions, RowMergedNumericTable, SoaNumericTable, prelude::*};
    /// let columns = [("a", AnyArray::from(vec![1_u8, 2])), ("b", AnyArray::from(vec![0.5_f64, 1.5]))];
    /// let batch = SoaNumericTable::from_columns(columns)?.to_record_batch()?;
    /// let table = RowMergedNumericTable::from_record_batches([&batch, &batch], ArrowOptions::new())?;
    /// assert_eq!(table.column::<f64>(1, ..)?[..], [0.5, 1.5, 0.5, 1.5]);
    /// assert!(table.column::<f64>(1, 2..)?.is_zero_copy()); // within a batch
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    pub fn from_record_batches<B: Borrow<RecordBatch>>(
        batches: impl IntoIterator<Item = B>,
        options: ArrowOptions,
    ) -> Result<Self> {
        let batches: Vec<B> = batches.into_iter().collect();
        let parts: Vec<Part<'_>> = batches.iter().map(|batch| Part::of_batch(batch.borrow())).collect();
        let Some(all) = Chunks::of_parts("batch", &parts, &options) else {
            return Self::new([Box::new(SoaNumericTable::new()) as Box<dyn NumericTable + 't>]);
        };
        let mut tables = Vec::new();
        for (first, part) in parts.iter().enumerate() {
            let table = Chunks { first, parts: std::slice::from_ref(part), ..all }.table()?;
            tables.push(Box::new(table) as Box<dyn NumericTable + 't>);
        }
        Self::new(tables)
    }
}

/// Rows of all columns that are in memory together: a record batch, or a struct array.
struct Part<'a> {
    fields: &'a Fields,
    columns: &'a [ArrayRef],
    /// The rows that are null in all columns.
    nulls: Option<&'a NullBuffer>,
    rows: usize,
}

impl<'a> Part<'a> {
    fn of_batch(batch: &'a RecordBatch) -> Self {
        let fields = batch.schema_ref().fields();
        Self { fields, columns: batch.columns(), nulls: None, rows: batch.num_rows() }
    }

    fn of_structs(array: &'a StructArray) -> Self {
        Self { fields: array.fields(), columns: array.columns(), nulls: array.nulls(), rows: array.len() }
    }
}

/// Consecutive parts of a table.
#[derive(Clone, Copy)]
struct Chunks<'a> {
    /// The columns of the table.
    fields: &'a Fields,
    /// What a part is called in errors.
    kind: &'static str,
    /// The number of parts before these, and of all.
    first: usize,
    count: usize,
    parts: &'a [Part<'a>],
    options: &'a ArrowOptions,
}

impl<'a> Chunks<'a> {
    /// Takes the columns from the first part. `None` if there is none.
    fn of_parts(kind: &'static str, parts: &'a [Part<'a>], options: &'a ArrowOptions) -> Option<Self> {
        Some(Self { fields: parts.first()?.fields, kind, first: 0, count: parts.len(), parts, options })
    }

    fn place(&self, index: usize) -> ChunkPlace<'a> {
        ChunkPlace { fields: self.fields, kind: self.kind, index: self.first + index, count: self.count }
    }

    fn table(&self) -> Result<SoaNumericTable> {
        let mut types = Vec::new();
        for (column, field) in self.fields.iter().enumerate() {
            let found = element_type(field.data_type());
            types.push(found.ok_or_else(|| Error::Arrow {
                column,
                name: field.name().clone(),
                reason: no_element_type(field.data_type()),
            })?);
        }
        for (index, part) in self.parts.iter().enumerate() {
            self.place(index).check_names(part.fields)?;
        }
        let rows = whole_shape(self.parts.iter().map(|part| part.rows), types.len(), None)?.rows;
        let (mut columns, mut owner) = (Vec::new(), MemoryStatus::InternallyAllocated);
        for (column, &found) in types.iter().enumerate() {
            let (array, is_shared) = match_element!(found, T => self.column::<T>(column, rows)?);
            columns.push(array);
            if is_shared {
                owner = MemoryStatus::UserAllocated;
            }
        }
        let dictionary = to_dictionary(self.fields, |column| types.get(column).copied().unwrap_or(ElementType::F64));
        Ok(SoaNumericTable::of_arrays(dictionary, rows, columns, owner))
    }

    /// Returns the values of a column, and whether they are shared.
    fn column<T: Element>(&self, column: usize, rows: usize) -> Result<(AnyArray, bool)> {
        let mut chunks = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let array = &part.columns[column];
            let nulls = NullBuffer::union(part.nulls, array.nulls());
            let values =
                ChunkColumn::new::<T>(array.as_ref(), nulls, self.options, "column", |row| format!("row {row}"))
                    .map_err(|reason| self.place(index).refused(column, reason))?;
            chunks.push(Chunk { rows: part.rows, columns: vec![values] });
        }
        let mut filled = self.parts.iter().zip(&chunks).filter(|(part, _)| part.rows > 0);
        let (first, is_one) = (filled.next(), filled.next().is_none());
        let reason = match first {
            None => None,
            Some((part, _)) if is_one && element_type(part.columns[column].data_type()) != Some(T::TYPE) => {
                Some(CopyReason::ElementType)
            }
            Some((_, chunk)) if is_one => chunk.columns.iter().any(ChunkColumn::has_nulls).then_some(CopyReason::Nulls),
            Some(_) => Some(CopyReason::Layout),
        };
        if self.options.copy.copies(reason)? {
            let shape = Shape { rows, columns: 1 };
            let array = assemble::<T>(&chunks, shape, DataLayout::ColumnMajor, self.options);
            return Ok((array.map_err(|error| error.moved(0, column))?.into(), false));
        }
        let shared = first.and_then(|(part, _)| share(part.columns[column].as_ref()));
        Ok((shared.unwrap_or_else(|| Array::<T>::new().into()), true))
    }
}
