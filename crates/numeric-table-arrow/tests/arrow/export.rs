//! Tables as Arrow arrays with nulls for NaN.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type};
use arrow_array::{Array as ArrowArray, RecordBatch};
use numeric_table::{
    AnyArray, MergedNumericTable, SoaNumericTable, f16,
    interop::{CopyPolicy, CopyReason},
    prelude::*,
};
use numeric_table_arrow::prelude::*;
use test_support::tables::{LAYOUTS, assert_error};

use super::mixed::{arrow_address, assert_shared};

fn nulls() -> ArrowExportOptions {
    ArrowExportOptions::new().nan_to_null(true)
}

fn null_rows(batch: &RecordBatch, column: usize) -> Vec<usize> {
    let array = batch.column(column);
    (0..array.len()).filter(|&row| array.is_null(row)).collect()
}

#[test]
fn nan_becomes_null_at_every_bit_of_a_bitmap_and_comes_back() {
    for rows in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
        for every in [1, 2, 3, 10, 64, 1000] {
            let is_nan = |row: usize, column: usize| (row + column + 1).is_multiple_of(every);
            let value = |row, column| if is_nan(row, column) { f64::NAN } else { (row * 2 + column) as f64 };
            let table = HomogenNumericTable::from_fn(Shape { rows, columns: 2 }, value).unwrap();
            for layout in LAYOUTS {
                let batch = table.to_layout(layout).unwrap().to_record_batch_with(nulls()).unwrap();
                for column in 0..2 {
                    let expected: Vec<usize> = (0..rows).filter(|&row| is_nan(row, column)).collect();
                    assert_eq!(null_rows(&batch, column), expected);
                    assert_eq!(batch.column(column).nulls().is_some(), !expected.is_empty());
                }
                let options = ArrowOptions::new().nulls_to_nan(true);
                let back = HomogenNumericTable::<f64>::from_record_batches([batch], options).unwrap();
                for (row, column) in (0..rows).flat_map(|row| [(row, 0), (row, 1)]) {
                    let (found, expected) = (back.value::<f64>(row, column).unwrap(), value(row, column));
                    assert!(found == expected || found.is_nan() && expected.is_nan());
                }
            }
            let lists = table.to_fixed_size_list_with(nulls()).unwrap();
            let expected = (0..2 * rows).filter(|&index| is_nan(index / 2, index % 2)).count();
            assert_eq!(lists.values().null_count(), expected);
        }
    }
}

#[test]
fn values_with_nulls_are_shared_all_the_same() {
    let columns = [
        ("a", AnyArray::from(vec![1.0_f32, -f32::NAN, f32::INFINITY])),
        ("b", AnyArray::from([f16::NAN, f16::ONE, f16::NAN].to_vec())),
        ("c", AnyArray::from(vec![1_i64, 2, 3])),
        ("d", AnyArray::from(vec![1.0_f64, 2.0, 3.0])),
    ];
    let table = SoaNumericTable::from_columns(columns).unwrap();
    let batch = table.to_record_batch_with(nulls().copy(CopyPolicy::Never)).unwrap();
    assert_shared(&table, &batch);
    assert_eq!([0, 1, 2, 3].map(|column| null_rows(&batch, column)), [vec![1], vec![0, 2], vec![], vec![]]);
    let nullable: Vec<bool> = batch.schema().fields().iter().map(|field| field.is_nullable()).collect();
    assert_eq!(nullable, [true, true, false, true], "floats, whether they have a NaN or not");
    assert!(batch.column(0).as_primitive::<Float32Type>().values()[1].is_nan(), "its bits stay");
    assert_eq!(batch.column(1).as_primitive::<Float16Type>().value(1), f16::ONE);
    // By default there are none.
    let plain = table.to_record_batch().unwrap();
    assert!(plain.schema().fields().iter().all(|field| !field.is_nullable()));
    assert!(plain.columns().iter().all(|column| column.null_count() == 0));

    let merged = MergedNumericTable::new([Box::new(table) as Box<dyn NumericTable>]).unwrap();
    let merged: &dyn NumericTable = &merged;
    let same = merged.to_record_batch_with(nulls()).unwrap();
    assert_eq!(same, batch);
    assert_eq!(arrow_address(same.column(3)), arrow_address(batch.column(3)));
}

#[test]
fn a_copy_policy_is_options_and_refuses_as_before() {
    let rows = HomogenNumericTable::from_rows(&[[1.0, f64::NAN], [3.0, 4.0]]).unwrap();
    for options in [ArrowExportOptions::from(CopyPolicy::Never), nulls().copy(CopyPolicy::Never)] {
        assert_error!(rows.to_record_batch_with(options), ErrorKind::CopyRequired { reason: CopyReason::Layout });
        assert!(rows.to_fixed_size_list_with(options).is_ok());
    }
    assert_eq!(rows.to_record_batch_with(CopyPolicy::Always).unwrap().column(1).null_count(), 0);
}
