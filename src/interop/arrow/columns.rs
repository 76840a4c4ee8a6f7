//! Structures of arrays from record batches and struct arrays: each column by itself, shared where it can be.

use std::borrow::Borrow;

use arrow_array::{Array as ArrowArray, RecordBatch, StructArray};

use super::chunks::{Chunk, ChunkColumn, assemble};
use super::options::ArrowOptions;
use super::plan::{Part, Parts, Plan, whole_shape};
use super::types::{element_type, share};
use crate::array::{AnyArray, Array};
use crate::base::copy::{CopyPolicy, CopyReason};
use crate::base::element::{Element, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::table::merged::RowMergedNumericTable;
use crate::table::soa::SoaNumericTable;
use crate::table::{DataLayout, MemoryStatus, NumericTable};

impl SoaNumericTable {
    /// Creates a table of the columns of a record batch, each of its own type. No copy: every column shares Arrow's
    /// memory, from the beginning of the batch, which may be a slice of a larger one.
    ///
    /// Shared memory belongs to Arrow: the whole buffer is kept alive, and it is never written: the first write to a
    /// column copies that column. Names, types and numbers of categories are kept.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with the first column whose type is none of tables, such as `Utf8` or `Boolean`, or
    /// that has nulls: [`from_record_batches`](Self::from_record_batches) can replace them.
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
    /// [`ErrorKind::Unsupported`] with the column, if its type is none of tables, or another one in a later batch and
    /// no conversion was requested; if it has nulls and nothing was requested for them, or a value that its type does
    /// not hold; if batches differ in the number or the names of columns. [`ErrorKind::ValueNotRepresentable`] for the
    /// first value of a column that the conversion does not permit. [`ErrorKind::CopyRequired`].
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
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
        match parts.first() {
            None => Ok(Self::new()),
            Some(first) => columns_of(&mut Plan::new(first.fields, &options, "batch")?, Parts::all(&parts)),
        }
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
        match parts.first() {
            None => Ok(Self::new()),
            Some(first) => columns_of(&mut Plan::new(first.fields, &options, "array")?, Parts::all(&parts)),
        }
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
        let Some(first) = parts.first() else {
            return Self::new([Box::new(SoaNumericTable::new()) as Box<dyn NumericTable + 't>]);
        };
        let mut plan = Plan::new(first.fields, &options, "batch")?;
        let chunks = plan.chunks(Parts::all(&parts), None)?;
        let mut tables = Vec::new();
        for (part, chunk) in parts.iter().zip(&chunks) {
            let table = table_of(&plan, std::slice::from_ref(part), std::slice::from_ref(chunk))?;
            tables.push(Box::new(table) as Box<dyn NumericTable + 't>);
        }
        Self::new(tables)
    }
}

/// Creates one table of all rows of parts, each column of its own type.
///
/// # Errors
/// Those of [`SoaNumericTable::from_record_batches`].
pub(super) fn columns_of(plan: &mut Plan<'_>, parts: Parts<'_>) -> Result<SoaNumericTable> {
    let chunks = plan.chunks(parts, None)?;
    table_of(plan, parts.parts, &chunks)
}

/// Creates one table of all rows of parts, of which chunks have been made.
fn table_of(plan: &Plan<'_>, parts: &[Part<'_>], chunks: &[Chunk<'_>]) -> Result<SoaNumericTable> {
    let rows = whole_shape(chunks.iter().map(|chunk| chunk.rows), plan.column_count(), None)?.rows;
    let (mut columns, mut owner) = (Vec::new(), MemoryStatus::InternallyAllocated);
    for (column, index) in plan.indices().enumerate() {
        let source = Source { parts, chunks, index, column };
        let (array, is_shared) =
            match_element!(plan.type_of(column), T => source.values::<T>(rows, plan.options.copy)?);
        columns.push(array);
        if is_shared {
            owner = MemoryStatus::UserAllocated;
        }
    }
    Ok(SoaNumericTable::of_arrays(plan.dictionary(|column| plan.type_of(column))?, rows, columns, owner))
}

/// One column of parts, and of the chunks made of them.
struct Source<'a> {
    parts: &'a [Part<'a>],
    chunks: &'a [Chunk<'a>],
    /// Its number in the schema.
    index: usize,
    /// Its number in the table.
    column: usize,
}

impl Source<'_> {
    /// Returns the values, and whether they are shared.
    fn values<T: Element>(&self, rows: usize, policy: CopyPolicy) -> Result<(AnyArray, bool)> {
        let array_of = |part: &Part<'_>| part.columns.get(self.index).cloned();
        let mut filled = self.parts.iter().zip(self.chunks).filter(|(part, _)| part.rows > 0);
        let (first, is_one) = (filled.next(), filled.next().is_none());
        let first = first.map(|(part, chunk)| (array_of(part), chunk));
        let reason = match &first {
            None => None,
            Some((Some(array), _)) if is_one && element_type(array.data_type()) != Some(T::TYPE) => {
                Some(CopyReason::ElementType)
            }
            Some((_, chunk)) if is_one => {
                chunk.columns.get(self.column).is_some_and(ChunkColumn::has_nulls).then_some(CopyReason::Nulls)
            }
            Some(_) => Some(CopyReason::Layout),
        };
        if policy.copies(reason)? {
            let columns = self.column..self.column + 1;
            return Ok((assemble::<T>(self.chunks, columns, rows, DataLayout::ColumnMajor)?.into(), false));
        }
        let shared = first.and_then(|(array, _)| share(array?.as_ref()));
        Ok((shared.unwrap_or_else(|| Array::<T>::new().into()), true))
    }
}
