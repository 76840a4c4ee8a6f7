//! Columns of tables as Arrow arrays.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, PrimitiveArray};
use datafusion::arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::{ArrowNativeType, ArrowPrimitiveType};
use numeric_table::array::{AnySliceMut, Validity};
use numeric_table::prelude::*;
use numeric_table::table::spi::{Region, Target, array_of};
use numeric_table::{Array, Element, Error, Result};

use crate::types::match_arrow;

/// Returns some rows of a column, at least one. If they are contiguous in memory and Arrow has their type, the result
/// shares that memory and keeps it alive. Otherwise it is a copy. Missing values are null.
///
/// # Errors
/// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`]; [`ErrorKind::OutOfMemory`].
pub(crate) fn column_of(table: &dyn NumericTable, rows: Range<usize>, column: usize) -> Result<ArrayRef> {
    let element = table.column_type(column)?;
    if table.dictionary().feature(column)?.nullable {
        return match_arrow!(element, P => nullable::<P>(table, rows, column));
    }
    let region = Region { rows, columns: column..column + 1 };
    match_arrow!(element, P => primitive::<P>(table, &region))
}

fn primitive<P>(table: &dyn NumericTable, region: &Region) -> Result<ArrayRef>
where
    P: ArrowPrimitiveType<Native: Element>,
{
    let shared = match array_of(table, region, P::Native::TYPE)? {
        Some((array, range)) => array.downcast::<P::Native>().map(|array| array.slice(range)).transpose()?,
        None => None,
    };
    let values = shared.map_or_else(|| copy_of::<P::Native>(table, region), Ok)?;
    Ok(Arc::new(PrimitiveArray::<P>::new(to_scalars(values)?, None)))
}

/// Returns some rows of a column whose values may be missing, as [`column_of`] does.
fn nullable<P>(table: &dyn NumericTable, rows: Range<usize>, column: usize) -> Result<ArrayRef>
where
    P: ArrowPrimitiveType<Native: Element>,
{
    let (array, validity) = table.column_with_validity(column, rows.clone())?;
    let values = match array.downcast::<P::Native>() {
        Ok(values) => values,
        // `bf16`: values under a gap are read as NaN.
        Err(_) => copy_of(table, &Region { rows: rows.clone(), columns: column..column + 1 })?,
    };
    // A user's kind of table is not trusted.
    let (expected, lengths) = (rows.len(), [Some(values.len()), validity.as_ref().map(Validity::len)]);
    if let Some(actual) = lengths.into_iter().flatten().find(|&actual| actual != expected) {
        return Err(Error::new(ErrorKind::LengthMismatch { expected, actual }));
    }
    let nulls = validity.filter(Validity::has_missing).map(|validity| {
        let bits = Buffer::from(Bytes::from_owner(validity.bits().clone())); // shares the bitmap, of the same layout
        NullBuffer::new(BooleanBuffer::new(bits, validity.offset(), validity.len()))
    });
    Ok(Arc::new(PrimitiveArray::<P>::new(to_scalars(values)?, nulls)))
}

/// Returns values as Arrow's, on the same memory.
fn to_scalars<T: Element + ArrowNativeType>(values: Array<T>) -> Result<ScalarBuffer<T>> {
    let count = values.len();
    Ok(ScalarBuffer::new(Buffer::from(Bytes::from_owner(values.reinterpret::<u8>()?)), 0, count))
}

fn copy_of<T: Element>(table: &dyn NumericTable, region: &Region) -> Result<Array<T>> {
    let mut values = Array::zeros(region.rows.len())?;
    let target = AnySliceMut::new(values.mutable_data()?);
    table
        .read_region(region, Target::new(target, region.shape(), ConversionPolicy::Saturate)?.allow_partial_write())?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Array as _, AsArray};
    use datafusion::arrow::datatypes::{DataType, Float32Type, Int16Type, Int64Type, UInt8Type};
    use numeric_table::{SoaNumericTable, bf16};

    use super::*;

    #[test]
    fn columns_that_are_contiguous_are_the_memory_of_the_table() {
        let rows = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]]).unwrap();
        let columns = rows.to_layout(DataLayout::ColumnMajor).unwrap();
        let array = column_of(&columns, 1..3, 1).unwrap();
        let values = array.as_primitive::<Int16Type>().values();
        assert_eq!(values[..], [4, 6]);
        assert_eq!(values.as_ptr(), columns.as_slice().unwrap()[4..].as_ptr());
        drop(columns);
        assert_eq!(values[..], [4, 6]); // kept alive

        let arrays = SoaNumericTable::from_columns([("a", vec![1_i16, 3, 5])]).unwrap();
        let array = column_of(&arrays, 2..3, 0).unwrap();
        let values = array.as_primitive::<Int16Type>().values();
        assert_eq!(values.as_ptr(), arrays.column_slice::<i16>(0).unwrap()[2..].as_ptr());
    }

    #[test]
    fn columns_of_rows_and_of_types_that_arrow_lacks_are_copied() {
        let rows = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]]).unwrap();
        let array = column_of(&rows, 0..2, 1).unwrap();
        assert_eq!(array.as_primitive::<Int16Type>().values()[..], [2, 4]);

        let column = HomogenNumericTable::from_rows(&[[bf16::from_f32(1.5)], [bf16::from_f32(-2.0)]]).unwrap();
        let array = column_of(&column, 0..2, 0).unwrap();
        assert_eq!(*array.data_type(), DataType::Float32);
        assert_eq!(array.as_primitive::<Float32Type>().values()[..], [1.5, -2.0]);
    }

    #[test]
    fn missing_values_are_null_and_share_the_memory_of_the_table() {
        let mut table = SoaNumericTable::new();
        table.push_optional("a", [Some(1_i64), None, Some(3), None]).unwrap();
        table.push_optional("b", [Some(bf16::from_f32(1.5)), Some(bf16::NAN), None, Some(bf16::ZERO)]).unwrap();
        table.push_optional("c", [None, Some(7_u8), Some(8), Some(9)]).unwrap();
        let array = column_of(&table, 1..4, 0).unwrap();
        let array = array.as_primitive::<Int64Type>();
        assert_eq!(array.iter().collect::<Vec<_>>(), [None, Some(3), None]);
        let (values, _) = table.nullable_column(0).unwrap();
        assert_eq!(array.values().as_ptr(), values.downcast_ref::<i64>().unwrap()[1..].as_ptr());

        let array = column_of(&table, 0..4, 1).unwrap();
        let array = array.as_primitive::<Float32Type>();
        assert!(array.value(1).is_nan() && array.is_valid(1) && array.is_null(2) && array.null_count() == 1);
        let array = column_of(&table, 1..3, 2).unwrap(); // only present values
        assert!(array.nulls().is_none() && array.as_primitive::<UInt8Type>().values()[..] == [7, 8]);
    }

    #[test]
    fn rows_and_columns_out_of_range_are_errors() {
        let rows = HomogenNumericTable::from_rows(&[[1_i16, 2]]).unwrap();
        assert!(column_of(&rows, 0..2, 1).is_err_and(|error| matches!(error.kind(), ErrorKind::RowsOutOfRange { .. })));
        let error = column_of(&rows, 0..1, 2).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ColumnOutOfRange { .. }));
    }
}
