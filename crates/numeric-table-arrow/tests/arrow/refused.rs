//! Arrow and tables of columns of several types: nulls, and what cannot be taken.

use std::sync::Arc;

use arrow_array::types::{Float32Type, IntervalMonthDayNano};
use arrow_array::{
    ArrayRef, BinaryArray, FixedSizeListArray, Float32Array, Float64Array, Int32Array, Int64Array,
    IntervalMonthDayNanoArray, RecordBatch, StructArray, UInt8Array,
};
use numeric_table::{AnyArray, RowMergedNumericTable, SoaNumericTable, bf16, prelude::*};
use numeric_table_arrow::prelude::*;
use test_support::bits::is_same;
use test_support::tables::assert_error;

use super::mixed::{arrow_address, assert_shared, batch, table_address};

#[test]
fn nulls_are_missing_values_or_what_the_caller_names() {
    let whole: ArrayRef = Arc::new(UInt8Array::from(vec![1, 2, 3]));
    let holes: ArrayRef = Arc::new(Int64Array::from(vec![Some(i64::MAX), None, Some(3)]));
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![None, Some(0.5), None]));
    let batch = batch(vec![("whole", whole), ("holes", holes), ("floats", floats)]);
    let load = |options| SoaNumericTable::from_record_batches([&batch], options);
    let table = SoaNumericTable::from_record_batch(&batch).unwrap();
    assert_eq!([0, 1, 2].map(|column| table.missing_count(column).unwrap()), [0, 1, 2]);
    assert!(table.is_missing(1, 1).unwrap() && table.value::<i64>(0, 1).unwrap() == i64::MAX);
    let error = load(ArrowOptions::new().nulls_to_nan(true)).unwrap_err().to_string();
    assert_eq!(
        error,
        "Arrow column 1 (holes): 1 null, the first in row 1, and i64 has no NaN for them: fill them first, or choose \
         a type of floats"
    );
    for (value, shown) in [(0.5, "0.5"), (1e30, "1e30"), (f64::INFINITY, "inf")] {
        let error = load(ArrowOptions::new().nulls_to(value)).unwrap_err().to_string();
        let expected = format!(
            "Arrow column 1 (holes): 1 null, the first in row 1, and i64 does not hold {shown}, which stands for them"
        );
        assert_eq!(error, expected);
    }
    let table = load(ArrowOptions::new().nulls_to(i64::MIN)).unwrap();
    assert_eq!(table.column_slice::<i64>(1).unwrap(), [i64::MAX, i64::MIN, 3]);
    assert_eq!(table.column_slice::<f32>(2).unwrap(), [i64::MIN as f32, 0.5, i64::MIN as f32]);
    assert_eq!(table_address(&table, 0), arrow_address(batch.column(0)), "the column without nulls is shared");
    assert_ne!(table_address(&table, 1), arrow_address(batch.column(1)));
    assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated);
    // Where there are none, there is nothing to refuse or to copy.
    let part = batch.slice(1, 1).project(&[0, 2]).unwrap();
    assert_shared(&SoaNumericTable::from_record_batch(&part).unwrap(), &part);
    let floats = batch.project(&[2]).unwrap();
    let table = SoaNumericTable::from_record_batches([floats], ArrowOptions::new().nulls_to_nan(true)).unwrap();
    assert!(
        is_same(table.column_slice::<f32>(0).unwrap()[2], f32::NAN) && table.column_slice::<f32>(0).unwrap()[1] == 0.5
    );
    // Of homogeneous tables as well.
    let option = ArrowOptions::new().nulls_to(9).convert(ConversionPolicy::Saturate);
    let table = HomogenNumericTable::<u8>::from_record_batches([&batch], option).unwrap();
    assert_eq!(table.as_slice().unwrap(), [1, 255, 9, 2, 9, 0, 3, 3, 9]);
}

#[test]
fn nulls_are_where_they_are_at_every_bit_of_a_bitmap() {
    let is_valid = |index: usize| 0xDEAD_BEEF_CAFE_1234_u64 >> (index % 61) & 1 == 1;
    let column: ArrayRef = Arc::new(Int32Array::from_iter((0..100).map(|row| is_valid(row).then_some(row as i32))));
    let batch = batch(vec![("a", column)]);
    for start in 0..20 {
        for count in [1, 7, 8, 9, 63, 64, 65] {
            let part = batch.slice(start, count);
            let options = ArrowOptions::new().nulls_to(-1);
            let table = SoaNumericTable::from_record_batches([&part, &part], options).unwrap();
            let expected: Vec<i32> = (0..2 * count)
                .map(|row| start + row % count)
                .map(|row| if is_valid(row) { row as i32 } else { -1 })
                .collect();
            assert_eq!(table.column_slice::<i32>(0).unwrap(), expected);
        }
    }
}

// --- what cannot be taken ------------------------------------------------------------------------------------------

#[test]
fn columns_that_hold_no_numbers_are_refused_by_name_and_type() {
    let lists = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>([Some([Some(1.0)]), None], 1);
    let months = IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::ZERO; 2]);
    let others: [(ArrayRef, &str); 3] = [
        (Arc::new(BinaryArray::from(vec![&b"red"[..], b"blue"])), "Binary"),
        (Arc::new(lists), "FixedSizeList(1 x Float32)"),
        (Arc::new(months), "Interval(MonthDayNano)"),
    ];
    for (column, name) in others {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
        let batch = batch(vec![("n", numbers), ("what", column)]);
        let expected = format!(
            "Arrow column 1 (what): {name} is not an element type of tables: `ArrowOptions::columns` chooses other columns"
        );
        let options = ArrowOptions::new().convert(ConversionPolicy::Saturate).nulls_to(0);
        assert_error!(
            SoaNumericTable::from_record_batch(&batch),
            ErrorKind::Unsupported { target: "Arrow", column: Some(1), .. }
        );
        for error in [
            SoaNumericTable::from_record_batches([&batch], options.clone()).err(),
            SoaNumericTable::from_struct_array(&StructArray::from(batch.clone())).err(),
            RowMergedNumericTable::from_record_batches([&batch, &batch], options).err(),
        ] {
            assert_eq!(error.unwrap().to_string(), expected);
        }
    }
}

#[test]
fn bf16_has_no_arrow_type() {
    let brain = || AnyArray::from(vec![bf16::ONE, bf16::ZERO]);
    let all = SoaNumericTable::from_columns([("a", brain()), ("b", brain())]).unwrap();
    assert_error!(all.to_record_batch(), ErrorKind::UnsupportedElementType { element: ElementType::Bf16, .. });
    let some = SoaNumericTable::from_columns([("a", AnyArray::from(vec![1_u8, 2])), ("b", brain())]).unwrap();
    assert_eq!(some.to_record_batch().unwrap_err().to_string(), "Arrow column 1 (b): bf16 is not a type of Arrow");
}

#[test]
fn batches_must_have_the_same_columns() {
    let ints = |name| (name, Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef);
    let floats = |name| (name, Arc::new(Float64Array::from(vec![1.5, 2.0])) as ArrayRef);
    let first = batch(vec![ints("a"), floats("b")]);
    let refused = |other: RecordBatch| {
        let errors = [
            SoaNumericTable::from_record_batches([&first, &other], ArrowOptions::new()).err(),
            RowMergedNumericTable::from_record_batches([&first, &other], ArrowOptions::new()).err(),
        ];
        let [one, two] = errors.map(|error| error.unwrap().to_string());
        assert_eq!(one, two);
        one
    };
    assert_eq!(refused(batch(vec![floats("b"), ints("a")])), "Arrow column 0 (a): in batch 1: its name is b");
    assert_eq!(refused(batch(vec![ints("a")])), "Arrow column 1 (b): in batch 1: 1 columns, where 2 are expected");
    let other = batch(vec![floats("a"), floats("b")]);
    assert_eq!(
        refused(other.clone()),
        "Arrow column 0 (a): in batch 1: f64 values in a column of i32, and no conversion was requested: `ArrowOptions::convert` converts them"
    );
    let convert = |policy| SoaNumericTable::from_record_batches([&first, &other], ArrowOptions::new().convert(policy));
    assert_eq!(convert(ConversionPolicy::Checked).unwrap().column_slice::<i32>(0).unwrap(), [1, 2, 1, 2]);
    assert_error!(convert(ConversionPolicy::Exact), ErrorKind::ValueNotRepresentable { row: 2, column: 0, .. });
    let options = ArrowOptions::new().convert(ConversionPolicy::Checked);
    let joined = RowMergedNumericTable::from_record_batches([&first, &other], options).unwrap();
    assert_eq!(joined.column::<i32>(0, ..).unwrap()[..], [1, 2, 1, 2]);
}
