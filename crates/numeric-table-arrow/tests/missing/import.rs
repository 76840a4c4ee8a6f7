//! Arrow arrays with nulls as columns with gaps.

use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array as ArrowArray, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, FixedSizeListArray,
    Int8Array, Int16Array, Int32Array, Int64Array, NullArray, RecordBatchIterator, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::{DataType, Field, Fields};
use numeric_table::dictionary::TimeUnit;
use numeric_table::interop::CopyPolicy;
use numeric_table::trace::copies_of;
use numeric_table::{SoaNumericTable, prelude::*};
use numeric_table_arrow::prelude::*;
use test_support::bits::{Random, bits};

use crate::{Cell, KINDS, array_of, arrow_addresses, batch_of, cells_of, column_cells, random_cells, table_addresses};

fn table_of(column: ArrayRef) -> SoaNumericTable {
    SoaNumericTable::from_record_batch(&batch_of(vec![column])).unwrap()
}

fn numbers<T: Element>(cells: &[Option<T>]) -> Vec<Cell> {
    cells.iter().map(|cell| cell.map(bits)).collect()
}

#[test]
fn every_type_comes_and_goes_on_the_same_memory_at_every_bit_offset() {
    let mut random = Random::new(81);
    for kind in 0..KINDS {
        for offset in 0..=9 {
            for rows in [0, 1, 7, 8, 9, 63, 64, 65, 130] {
                for gaps in [0, 1, 4, 8] {
                    let cells = random_cells(&mut random, kind, offset + rows + 3, gaps);
                    let array = array_of(kind, &cells).slice(offset, rows);
                    let expected = &cells[offset..offset + rows];
                    let table = table_of(array.clone());
                    assert_eq!(column_cells(&table, 0), expected);
                    let missing = expected.iter().filter(|cell| cell.is_none()).count();
                    assert_eq!(table.missing_count(0).unwrap(), missing);
                    assert_eq!(table.dictionary().has_nullable(), missing > 0, "a bitmap without gaps is none");
                    let back = table.to_record_batch_with(CopyPolicy::Never).unwrap();
                    assert_eq!(cells_of(back.column(0)), expected);
                    assert_eq!(back.column(0).null_count(), missing);
                    assert_eq!(back.schema().field(0).is_nullable(), missing > 0);
                    if rows > 0 {
                        let addresses = table_addresses(&table, 0);
                        assert_eq!(addresses, arrow_addresses(&array));
                        assert_eq!(addresses, arrow_addresses(back.column(0)));
                    }
                }
            }
        }
    }
}

#[test]
fn a_million_rows_come_and_go_without_a_byte_copied() {
    let cells: Vec<Option<i64>> = (0..1_000_000).map(|row| (row % 10 != 3).then_some(row)).collect();
    let batch = batch_of(vec![Arc::new(Int64Array::from(cells))]);
    let (table, report) = copies_of(|| SoaNumericTable::from_record_batch(&batch).unwrap());
    assert!(report.is_empty(), "{report}");
    assert_eq!(table.missing_count(0).unwrap(), 100_000);
    let (back, report) = copies_of(|| table.to_record_batch().unwrap());
    assert!(report.is_empty(), "{report}");
    assert_eq!(back.columns(), batch.columns());
    assert_eq!(arrow_addresses(back.column(0)), arrow_addresses(batch.column(0)));
}

#[test]
fn the_c_data_interface_shares_values_with_gaps_both_ways() {
    let mut random = Random::new(89);
    for kind in 0..KINDS {
        for offset in 0..=9 {
            let cells = random_cells(&mut random, kind, 100, 3);
            let batch = batch_of(vec![array_of(kind, &cells).slice(offset, 80)]);
            let out = SoaNumericTable::from_record_batch(&batch).unwrap().to_record_batch().unwrap();
            let reader = RecordBatchIterator::new([Ok(out.clone())], out.schema());
            let stream = FFI_ArrowArrayStream::new(Box::new(reader));
            let reader = RecordBatchStreamReader::try_new(stream).unwrap();
            let back = SoaNumericTable::read_record_batches(reader, ArrowOptions::new()).unwrap();
            assert_eq!(column_cells(&back, 0), cells[offset..offset + 80]);
            let (before, after) = (arrow_addresses(batch.column(0)), table_addresses(&back, 0));
            assert_eq!(before.0, after.0);
            // The interface has one offset for values and bits; Arrow's crate copies bits that have another one.
            assert!(offset % 8 != 0 || before.1 == after.1);
        }
    }
}

#[test]
fn a_policy_copies_the_bitmap_with_the_values_or_neither() {
    let batch = batch_of(vec![Arc::new(Int16Array::from(vec![Some(1), None, Some(3)]))]);
    let before = arrow_addresses(batch.column(0));
    let load = |copy| SoaNumericTable::from_record_batches([&batch], ArrowOptions::new().copy(copy)).unwrap();
    assert_eq!(table_addresses(&load(CopyPolicy::Never), 0), before);
    let copied = load(CopyPolicy::Always);
    let (values, bits) = table_addresses(&copied, 0);
    assert!(values != before.0 && bits.is_some() && bits != before.1);
    assert_eq!(column_cells(&copied, 0), column_cells(&load(CopyPolicy::IfNeeded), 0));
    let (values, bits) = table_addresses(&copied, 0);
    let out = arrow_addresses(copied.to_record_batch_with(CopyPolicy::Always).unwrap().column(0));
    assert!(values != out.0 && bits != out.1);
}

#[test]
fn words_truths_dates_and_decimals_keep_their_gaps() {
    let truths = table_of(Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])));
    assert_eq!(column_cells(&truths, 0), numbers(&[Some(1_u8), None, Some(0)]));

    let days = table_of(Arc::new(Date32Array::from(vec![None, Some(19_000)])));
    assert_eq!(column_cells(&days, 0), numbers(&[None, Some(19_000_i32)]));
    assert_eq!(days.dictionary().feature(0).unwrap().feature_type, FeatureType::Time(TimeUnit::Days));
    assert_eq!(*days.to_record_batch().unwrap().column(0).data_type(), DataType::Date32);
    let stamps: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(i64::MAX), None]));
    let table = table_of(stamps.clone());
    assert_eq!(column_cells(&table, 0), numbers(&[Some(i64::MAX), None]));
    assert_eq!(table.to_record_batch().unwrap().column(0), &stamps);

    let prices = Decimal128Array::from(vec![Some(150), None]).with_precision_and_scale(10, 2).unwrap();
    assert_eq!(column_cells(&table_of(Arc::new(prices)), 0), numbers(&[Some(1.5_f64), None]));

    let text: ArrayRef = Arc::new(StringArray::from(vec![None, Some("red"), Some(""), Some("NaN"), None, Some("red")]));
    let table = table_of(text);
    assert_eq!(column_cells(&table, 0), numbers(&[None, Some(0_u8), Some(1), Some(2), None, Some(0)]));
    assert_eq!(table.dictionary().feature(0).unwrap().label(2), Some("NaN"));
    let back = SoaNumericTable::from_record_batch(&table.to_record_batch().unwrap()).unwrap();
    assert_eq!(column_cells(&back, 0), column_cells(&table, 0));
    assert_eq!(back.dictionary(), table.dictionary());

    // Null keys and null words, with an offset.
    let keys = Int8Array::from(vec![Some(0), Some(1), None, Some(2), Some(1), Some(0)]);
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    let words = DictionaryArray::<Int8Type>::try_new(keys, words).unwrap();
    let table = table_of(Arc::new(words.slice(1, 5)));
    assert_eq!(column_cells(&table, 0), numbers(&[None, None, Some(1_u8), None, Some(0)]));
    let no_words: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
    let none = DictionaryArray::<Int32Type>::try_new(Int32Array::from(vec![None, None]), no_words).unwrap();
    assert_eq!(column_cells(&table_of(Arc::new(none)), 0), [None, None]);
}

#[test]
fn columns_of_nulls_alone_are_floats_that_are_all_missing() {
    for rows in [0, 1, 64, 65] {
        let table = table_of(Arc::new(NullArray::new(rows)));
        assert_eq!(table.dictionary().feature(0).unwrap().element_type, ElementType::F64);
        assert_eq!((table.row_count(), table.missing_count(0).unwrap()), (rows, rows));
        let table = table_of(Arc::new(Int16Array::new_null(rows)));
        assert_eq!(table.dictionary().feature(0).unwrap().element_type, ElementType::I16);
        assert_eq!(table.missing_count(0).unwrap(), rows);
        assert_eq!(table.to_record_batch().unwrap().column(0).null_count(), rows);
    }
}

#[test]
fn a_nullable_field_alone_makes_no_nullable_column_but_an_exported_one_does() {
    let foreign = table_of(Arc::new(Int16Array::from(vec![1, 2])));
    assert!(!foreign.dictionary().has_nullable());
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1_i16), Some(2)]).unwrap();
    assert!(table.dictionary().has_nullable() && !table.has_missing().unwrap());
    let batch = table.to_record_batch().unwrap();
    assert!(batch.schema().field(0).is_nullable() && batch.column(0).nulls().is_none());
    let back = SoaNumericTable::from_record_batch(&batch).unwrap();
    assert_eq!(back.dictionary(), table.dictionary());
    let filled = SoaNumericTable::from_record_batches([&batch], ArrowOptions::new().nulls_to(0)).unwrap();
    assert!(!filled.dictionary().has_nullable(), "nothing is ever missing if a value replaces it");
    let one_type = HomogenNumericTable::<i16>::from_record_batch(&batch).unwrap();
    assert!(!one_type.dictionary().has_nullable());
}

#[test]
fn tables_of_one_type_refuse_nulls_or_ask_for_nan() {
    let batch = batch_of(vec![Arc::new(Int32Array::from(vec![1, 2])), Arc::new(Int32Array::from(vec![Some(1), None]))]);
    let error = HomogenNumericTable::<i32>::from_record_batch(&batch).unwrap_err();
    assert!(error.to_string().contains("column 1 (1): 1 null, the first in row 1"), "{error}");
    let options = || ArrowOptions::new().convert(ConversionPolicy::Exact).nulls_to_nan(true);
    let error = HomogenNumericTable::<i32>::from_record_batches([&batch], options()).unwrap_err();
    assert!(error.to_string().contains("i32 has no NaN"), "{error}");
    let floats = HomogenNumericTable::<f64>::from_record_batches([&batch], options()).unwrap();
    assert!(floats.value::<f64>(1, 1).unwrap().is_nan() && !floats.dictionary().has_nullable());
    assert!(from_record_batches_any([&batch], ArrowOptions::new()).is_err());
    let field = Arc::new(Field::new_list_field(DataType::Int32, true));
    let lists = FixedSizeListArray::try_new(field, 2, batch.column(1).clone(), None).unwrap();
    assert!(HomogenNumericTable::<i32>::from_fixed_size_lists([lists], ArrowOptions::new()).is_err());
}

#[test]
fn a_null_struct_is_a_gap_in_each_field() {
    let (mut random, rows) = (Random::new(5), 70);
    for offset in 0..=9 {
        let cells = random_cells(&mut random, 6, rows + offset, 2);
        let own = random_cells(&mut random, 6, rows + offset, 2);
        let fields = Fields::from(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Int8, false)]);
        let plain: ArrayRef = Arc::new(Int8Array::from(vec![7; rows + offset]));
        let nulls = NullBuffer::from(own.iter().map(Option::is_some).collect::<Vec<_>>());
        let structs = StructArray::new(fields, vec![array_of(6, &cells), plain], Some(nulls)).slice(offset, rows);
        let table = SoaNumericTable::from_struct_array(&structs).unwrap();
        let both = |row: usize| cells[row].filter(|_| own[row].is_some());
        assert_eq!(column_cells(&table, 0), (offset..offset + rows).map(both).collect::<Vec<_>>());
        let sevens = own[offset..].iter().map(|cell| cell.map(|_| 7)).collect::<Vec<_>>();
        assert_eq!(column_cells(&table, 1), sevens);
    }
}

#[test]
fn conversions_do_not_look_under_gaps() {
    let values = vec![1, i64::MAX, 3].into();
    let array = Int64Array::new(values, Some(NullBuffer::from(vec![true, false, true])));
    let batch = batch_of(vec![Arc::new(array)]);
    let options = |policy| ArrowOptions::new().column_type("0", ElementType::I8).convert(policy);
    for policy in [ConversionPolicy::Exact, ConversionPolicy::Checked, ConversionPolicy::Saturate] {
        let table = SoaNumericTable::from_record_batches([&batch], options(policy)).unwrap();
        assert_eq!(column_cells(&table, 0), numbers(&[Some(1_i8), None, Some(3)]));
    }
    let wrong = batch_of(vec![Arc::new(Int64Array::from(vec![None, Some(300)]))]);
    let error = SoaNumericTable::from_record_batches([&wrong], options(ConversionPolicy::Checked)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 1, column: 0, .. }), "{error}");
}

#[test]
fn bits_past_the_end_and_before_the_offset_do_not_count() {
    for byte in [0b0110_1011_u8, 0b1110_1010, 0b0010_1001] {
        let bits = BooleanBuffer::new(Buffer::from(vec![byte]), 1, 4); // 1, 0, 1, 0 or 0, 0, 1, 0
        let array = Int16Array::new(vec![1, 2, 3, 4].into(), Some(NullBuffer::new(bits)));
        let expected = [1, 2, 3, 4].map(|value| (byte >> value & 1 == 1).then_some(value as u64));
        let table = table_of(Arc::new(array));
        assert_eq!(column_cells(&table, 0), expected);
        assert_eq!(table.missing_count(0).unwrap(), expected.iter().filter(|cell| cell.is_none()).count());
        // Writing changes bits of a copy: Arrow's memory stays as it is.
        let (mut changed, before) = (table.clone(), table_addresses(&table, 0));
        changed.set_missing(0, 0).unwrap();
        assert!(changed.is_missing(0, 0).unwrap());
        assert_eq!((column_cells(&table, 0), table_addresses(&table, 0)), (expected.to_vec(), before));
    }
}
