//! What the policies of copies do with record batches and lists, by addresses.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, Float64Array, RecordBatch};
use numeric_table::{interop::CopyReason, prelude::*};
use numeric_table_arrow::prelude::*;
use test_support::copies::{check, outcome, outcome_of_table, table};

fn first_of_batch(batch: &RecordBatch) -> *const f32 {
    batch.column(0).as_primitive::<Float32Type>().values().as_ptr()
}

fn first_of_lists(lists: &FixedSizeListArray) -> *const f32 {
    lists.values().as_primitive::<Float32Type>().values().as_ptr()
}

#[test]
fn tables_as_record_batches() {
    let pass = |table: HomogenNumericTable<f32>| {
        move |policy| outcome(table.to_record_batch_with(policy), first(&table), first_of_batch)
    };
    let (rows, columns) = (table(DataLayout::RowMajor), table(DataLayout::ColumnMajor));
    check("column-major", None, pass(columns.clone()));
    check("column-major, some rows", None, pass(columns.slice_rows(1..3).unwrap()));
    check("row-major", Some(CopyReason::Layout), pass(rows.clone()));
    check("row-major, one row", None, pass(rows.slice_rows(2..3).unwrap()));
    check("row-major, one column", None, pass(one_column(DataLayout::RowMajor)));
}

#[test]
fn tables_as_lists() {
    let pass = |table: HomogenNumericTable<f32>| {
        move |policy| outcome(table.to_fixed_size_list_with(policy), first(&table), first_of_lists)
    };
    let (rows, columns) = (table(DataLayout::RowMajor), table(DataLayout::ColumnMajor));
    check("row-major", None, pass(rows.clone()));
    check("row-major, some rows", None, pass(rows.slice_rows(1..3).unwrap()));
    check("column-major", Some(CopyReason::Layout), pass(columns.clone()));
    check("column-major, one column", None, pass(one_column(DataLayout::ColumnMajor)));
}

#[test]
fn record_batches_as_tables() {
    let pass = |batches: Vec<RecordBatch>, options: ArrowOptions| {
        move |policy| {
            let table = HomogenNumericTable::from_record_batches(&batches, options.clone().copy(policy));
            let first = batches[0].column(0).to_data().buffers()[0].as_ptr().cast();
            outcome_of_table(table, first)
        }
    };
    let batch = |columns: Vec<ArrayRef>| {
        RecordBatch::try_from_iter(columns.into_iter().enumerate().map(|(index, column)| (index.to_string(), column)))
            .unwrap()
    };
    let column = || Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0])) as ArrayRef;
    let options = ArrowOptions::new();
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        let options = options.clone().layout(layout);
        check("one column", None, pass(vec![batch(vec![column()])], options.clone()));
        check("some rows of one column", None, pass(vec![batch(vec![column()]).slice(1, 2)], options.clone()));
        let (some, all) = (batch(vec![column(), column()]), batch(vec![column()]));
        check("two columns", Some(CopyReason::Layout), pass(vec![some], options.clone()));
        check("two chunks", Some(CopyReason::Layout), pass(vec![all.clone(), all], options.clone()));
    }
    let nulls: ArrayRef = Arc::new(Float32Array::from(vec![Some(1.0), None]));
    let (nulls, with_nan) = (vec![batch(vec![nulls])], options.clone().nulls_to_nan(true));
    check("nulls", Some(CopyReason::Nulls), pass(nulls.clone(), with_nan.clone()));
    check("no nulls in these rows", None, pass(vec![nulls[0].slice(0, 1)], options.clone()));
    let other = vec![batch(vec![Arc::new(Float64Array::from(vec![1.0, 2.0]))])];
    check("another type", Some(CopyReason::ElementType), pass(other, options.clone().convert(ConversionPolicy::Exact)));
}

#[test]
fn lists_as_tables() {
    let lists = table(DataLayout::RowMajor).to_fixed_size_list().unwrap();
    let pass = |lists: Vec<FixedSizeListArray>, layout: DataLayout| {
        move |policy| {
            let options = ArrowOptions::new().copy(policy).layout(layout);
            outcome_of_table(HomogenNumericTable::from_fixed_size_lists(&lists, options), first_of_lists(&lists[0]))
        }
    };
    check("all", None, pass(vec![lists.clone()], DataLayout::RowMajor));
    check("some", None, pass(vec![lists.slice(1, 2)], DataLayout::RowMajor));
    check("two chunks", Some(CopyReason::Layout), pass(vec![lists.clone(), lists.clone()], DataLayout::RowMajor));
}

fn first(table: &HomogenNumericTable<f32>) -> *const f32 {
    let view = table.view().unwrap();
    view.row(0).map_or_else(|| view.column(0).unwrap().as_ptr(), <[f32]>::as_ptr)
}

fn one_column(layout: DataLayout) -> HomogenNumericTable<f32> {
    HomogenNumericTable::from_array_with_layout(vec![1.0, 2.0, 3.0], Shape { rows: 3, columns: 1 }, layout).unwrap()
}
