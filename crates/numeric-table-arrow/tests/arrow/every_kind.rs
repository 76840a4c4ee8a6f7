//! Record batches of every kind of table: by value, borrowed, boxed and as a trait object.

use numeric_table::table::{by_mut, by_ref};
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, MergedNumericTable, PackedSymmetricMatrix, PackedTriangularMatrix,
    RowMergedNumericTable, SoaNumericTable, impl_record,
    interop::CopyPolicy,
    prelude::*,
    table::{BorrowedTable, BorrowedTableMut, Triangle},
};
use numeric_table_arrow::prelude::*;

/// The values of most tables here: symmetric, so that a packed matrix can have them.
const VALUES: [f64; 9] = [1.0, 2.0, 3.0, 2.0, 5.0, 6.0, 3.0, 6.0, 9.0];
/// Those of a triangular matrix.
const LOWER: [f64; 9] = [1.0, 0.0, 0.0, 2.0, 5.0, 0.0, 3.0, 6.0, 9.0];
const SHAPE: Shape = Shape { rows: 3, columns: 3 };

#[derive(Clone, Copy)]
#[repr(C, align(8))] // 32 bits align `f64` to 4
struct Record {
    b: f64,
    a: u8,
    c: i16,
}
impl_record!(Record { a: u8, b: f64, c: i16 });

/// Makes both calls, and reads the values back.
macro_rules! check {
    ($table:expr, $values:expr) => {{
        let table = $table;
        let batch = table.to_record_batch().unwrap();
        assert_eq!((batch.num_rows(), batch.num_columns()), (3, 3));
        let back = SoaNumericTable::from_record_batch(&batch).unwrap();
        assert_eq!(back.rows::<f64>(..).unwrap()[..], $values);
        let copy = table.to_record_batch_with(CopyPolicy::Always).unwrap();
        assert_eq!(copy, batch);
    }};
}

#[test]
fn every_kind_of_table_becomes_a_record_batch() {
    let integers = VALUES.map(|value| value as i16);
    let mut rows = HomogenNumericTable::from_array(integers.to_vec(), SHAPE).unwrap();
    let columns = rows.to_layout(DataLayout::ColumnMajor).unwrap();
    let arrays = || {
        SoaNumericTable::from_columns([
            ("a", AnyArray::from(vec![1_u8, 2, 3])),
            ("b", AnyArray::from(vec![2_f32, 5.0, 6.0])),
            ("c", AnyArray::from(vec![3_i64, 6, 9])),
        ])
        .unwrap()
    };
    check!(&columns, VALUES);
    check!(Box::new(columns.clone()), VALUES);
    check!(arrays(), VALUES);
    let records = vec![Record { a: 1, b: 2.0, c: 3 }, Record { a: 2, b: 5.0, c: 6 }, Record { a: 3, b: 6.0, c: 9 }];
    check!(AosNumericTable::from_records(records).unwrap(), VALUES);
    let floats = VALUES.map(|value| value as f32).to_vec();
    check!(CsrNumericTable::try_new(SHAPE, vec![0_u32, 3, 6, 9], [0_u32, 1, 2].repeat(3), floats).unwrap(), VALUES);
    check!(PackedSymmetricMatrix::from_full(&rows, Triangle::Lower, DataLayout::RowMajor).unwrap(), VALUES);
    let full = HomogenNumericTable::from_array(LOWER.to_vec(), SHAPE).unwrap();
    check!(PackedTriangularMatrix::from_full(&full, Triangle::Lower, DataLayout::ColumnMajor).unwrap(), LOWER);
    let left = SoaNumericTable::from_columns([("a", vec![1_u64, 2, 3])]).unwrap();
    let right = columns.select_columns(1..).unwrap().to_table().unwrap();
    check!(MergedNumericTable::new([Box::new(left) as Box<dyn NumericTable>, right]).unwrap(), VALUES);
    let parts = [rows.head(1).unwrap().to_table().unwrap(), rows.tail(2).unwrap().to_table().unwrap()];
    check!(RowMergedNumericTable::new(parts).unwrap(), VALUES);
    check!(BorrowedTable::new(&VALUES, SHAPE).unwrap(), VALUES);
    let mut values = VALUES;
    check!(BorrowedTableMut::new(&mut values, SHAPE).unwrap(), VALUES);
    check!(by_ref(&rows), VALUES);
    check!(by_mut(&mut rows), VALUES);
    let any: &dyn NumericTable = &rows;
    check!(any, VALUES);
}

#[test]
fn columns_of_any_table_that_are_in_an_array_are_shared_with_arrow() {
    let table = HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 6], [7, 8, 9]]).unwrap();
    let table = table.to_layout(DataLayout::ColumnMajor).unwrap();
    let any: &dyn NumericTable = &table.slice_rows(1..).unwrap();
    let batch = any.to_record_batch().unwrap();
    let address = batch.column(1).to_data().buffers()[0].as_ptr();
    assert_eq!(address, std::ptr::from_ref(&table.as_slice().unwrap()[4]));
}
