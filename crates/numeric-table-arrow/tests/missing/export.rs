//! Tables with gaps as record batches: every kind of table, every option.

use arrow_array::types::Int32Type;
use arrow_array::{Array as ArrowArray, DictionaryArray};
use numeric_table::dictionary::Categories;
use numeric_table::interop::CopyPolicy;
use numeric_table::table::by_ref;
use numeric_table::{MergedNumericTable, RowMergedNumericTable, SoaNumericTable, prelude::*};
use numeric_table_arrow::prelude::*;
use test_support::bits::Random;

use crate::{KINDS, array_of, batch_of, cells_of, column_cells, random_cells};

fn example(random: &mut Random, rows: usize) -> SoaNumericTable {
    let columns = (0..KINDS).map(|kind| array_of(kind, &random_cells(random, kind, rows, kind % 3)));
    SoaNumericTable::from_record_batch(&batch_of(columns.collect())).unwrap()
}

fn check(table: &dyn NumericTable) {
    let batch = table.to_record_batch().unwrap();
    let back = SoaNumericTable::from_record_batch(&batch).unwrap();
    for column in 0..table.column_count() {
        let cells = column_cells(table, column);
        assert_eq!(cells_of(batch.column(column)), cells, "column {column}");
        let is_nullable = table.dictionary().feature(column).unwrap().nullable;
        assert_eq!(batch.schema().field(column).is_nullable(), is_nullable);
        assert_eq!(column_cells(&back, column), cells);
        assert_eq!(back.dictionary().feature(column).unwrap().nullable, is_nullable);
    }
}

#[test]
fn every_kind_of_table_exports_its_gaps() {
    let mut random = Random::new(82);
    for rows in [0, 1, 9, 64, 131] {
        let table = example(&mut random, rows);
        check(&table);
        check(&*table.select_rows(rows / 3..rows - rows / 4).unwrap());
        check(&table.select_columns([3, 1, 10]).unwrap());
        check(&*by_ref(&table));
        let boxed: Box<dyn NumericTable> = Box::new(table.clone());
        check(&*boxed);
        let second = example(&mut random, rows);
        let merged = MergedNumericTable::new(
            [table.clone(), second.clone()].map(|table| Box::new(table) as Box<dyn NumericTable>),
        );
        check(&merged.unwrap());
        let joined = RowMergedNumericTable::new([table, second].map(|table| Box::new(table) as Box<dyn NumericTable>));
        check(&joined.unwrap());
    }
}

#[test]
fn a_policy_tells_shared_columns_from_copied_ones() {
    let mut random = Random::new(83);
    let table = example(&mut random, 40);
    let rows = table.select_rows(5..30).unwrap();
    assert!(table.to_record_batch_with(CopyPolicy::Never).is_ok());
    assert!(rows.to_record_batch_with(CopyPolicy::Never).is_ok(), "rows of a column are a slice of it");
    let joined = RowMergedNumericTable::new(
        [table.clone(), table.clone()].map(|table| Box::new(table) as Box<dyn NumericTable>),
    )
    .unwrap();
    let error = joined.to_record_batch_with(CopyPolicy::Never).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::CopyRequired { .. }), "{error}");
}

#[test]
fn nan_becomes_null_beside_the_gaps() {
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(f64::NAN), None, Some(1.5), None]).unwrap();
    let nulls = |options: ArrowExportOptions| {
        let batch = table.to_record_batch_with(options).unwrap();
        (0..4).map(|row| batch.column(0).is_null(row)).collect::<Vec<_>>()
    };
    assert_eq!(nulls(ArrowExportOptions::new()), [false, true, false, true]);
    assert_eq!(nulls(ArrowExportOptions::new().nan_to_null(true)), [true, true, false, true]);
}

#[test]
fn missing_words_are_null_keys_whatever_lies_under_them() {
    let labels = Feature::new(ElementType::U8).named("color").categorical(Categories::from_labels(["a", "b"]).unwrap());
    let mut table = SoaNumericTable::new();
    // 200 is no index, but it is missing.
    let validity = numeric_table::array::Validity::from_flags(&[true, false, true, false]).unwrap();
    table.push_nullable(labels, vec![1_u8, 200, 0, 0], Some(validity)).unwrap();
    let batch = table.to_record_batch().unwrap();
    let words = batch.column(0).as_any().downcast_ref::<DictionaryArray<Int32Type>>().unwrap();
    assert_eq!(words.keys().iter().collect::<Vec<_>>(), [Some(1), None, Some(0), None]);
    assert!(batch.schema().field(0).is_nullable());
    let back = SoaNumericTable::from_record_batch(&batch).unwrap();
    assert_eq!(back.dictionary(), table.dictionary());
    assert_eq!(column_cells(&back, 0), column_cells(&table, 0));
    let numbers = table.to_record_batch_with(ArrowExportOptions::new().labels(false)).unwrap();
    assert_eq!(cells_of(numbers.column(0)), [Some(1), None, Some(0), None]);
}

#[test]
fn bf16_with_gaps_is_refused_by_name() {
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1_u8), None]).unwrap();
    table.push_optional("half", [None, Some(numeric_table::bf16::ONE)]).unwrap();
    let error = table.to_record_batch().unwrap_err();
    assert!(error.to_string().contains("half"), "{error}");
}
