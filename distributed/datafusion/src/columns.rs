//! Columns of tables as Arrow arrays.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, PrimitiveArray};
use datafusion::arrow::buffer::{Buffer, ScalarBuffer};
use datafusion::arrow::datatypes::ArrowPrimitiveType;
use numeric_table::prelude::*;
use numeric_table::table::spi::{Region, Target, array_of};
use numeric_table::{Array, Element, Result, array::AnySliceMut};

use crate::types::match_arrow;

/// Returns some rows of a column, at least one. If they are contiguous in memory and Arrow has their type, the result
/// shares that memory and keeps it alive. Otherwise it is a copy.
///
/// # Errors
/// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`]; [`ErrorKind::OutOfMemory`].
pub(crate) fn column_of(table: &dyn NumericTable, rows: Range<usize>, column: usize) -> Result<ArrayRef> {
    let region = Region { rows, columns: column..column + 1 };
    match_arrow!(table.column_type(column)?, P => primitive::<P>(table, &region))
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
    let count = values.len();
    let buffer = Buffer::from(Bytes::from_owner(values.reinterpret::<u8>()?)); // shares the array
    Ok(Arc::new(PrimitiveArray::<P>::new(ScalarBuffer::new(buffer, 0, count), None)))
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
    use datafusion::arrow::datatypes::{DataType, Float32Type, Int16Type};
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
    fn rows_and_columns_out_of_range_are_errors() {
        let rows = HomogenNumericTable::from_rows(&[[1_i16, 2]]).unwrap();
        assert!(column_of(&rows, 0..2, 1).is_err_and(|error| matches!(error.kind(), ErrorKind::RowsOutOfRange { .. })));
        let error = column_of(&rows, 0..1, 2).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ColumnOutOfRange { .. }));
    }
}
