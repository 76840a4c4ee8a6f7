//! Arrow: every element type, both layouts, chunks, slices, nulls, and what cannot be taken.
//!
//! That nothing is copied where nothing must be is in `copy_policy`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryArray, FixedSizeListArray, Float32Array, Float64Array, Int32Array, Int64Array, NullArray,
    RecordBatch, RecordBatchIterator, RecordBatchOptions, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use numeric_table::prelude::*;
use numeric_table_arrow::prelude::*;
use test_support::tables::LAYOUTS;
use test_support::{CountingOwner, DropCount, SmallNumber, for_each_element};

type Table<T> = HomogenNumericTable<T>;

/// Bits of every kind, so that inexact conversions show.
fn odd_bits<T: Element>(shape: Shape, layout: DataLayout) -> Table<T> {
    let count = shape.rows * shape.columns * size_of::<T>();
    let bytes: Vec<u8> =
        (0..count as u64).map(|index| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect();
    let array = Array::copy_of(&bytes).unwrap().reinterpret::<T>().unwrap();
    Table::from_array_with_layout(array, shape, layout).unwrap()
}

fn bits<T: Element>(table: &Table<T>) -> Vec<u8> {
    let rows = table.to_layout(DataLayout::RowMajor).unwrap();
    let values = rows.rows::<T>(0..rows.row_count()).unwrap().to_vec();
    Array::from(values).reinterpret::<u8>().unwrap().to_vec()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

// --- round trips ---------------------------------------------------------------------------------------------------

#[test]
fn round_trips_are_bit_exact_in_every_type_and_layout_and_of_slices() {
    fn check<T: SmallNumber>() {
        if T::TYPE == ElementType::Bf16 {
            return;
        }
        for layout in LAYOUTS {
            for (rows, columns) in [(7, 3), (1, 5), (5, 1), (0, 3), (3, 0), (0, 0), (300, 40)] {
                let whole = odd_bits::<T>(Shape { rows, columns }, layout);
                for table in [whole.clone(), whole.slice_rows(rows / 3..rows).unwrap()] {
                    let (batch, lists) = (table.to_record_batch().unwrap(), table.to_fixed_size_list().unwrap());
                    assert_eq!((batch.num_rows(), batch.num_columns()), (table.row_count(), columns));
                    for target in LAYOUTS {
                        let options = ArrowOptions::new().layout(target);
                        let from_batch = Table::<T>::from_record_batches([&batch], options.clone()).unwrap();
                        let from_lists = Table::<T>::from_fixed_size_lists([&lists], options.clone()).unwrap();
                        for back in [from_batch, from_lists] {
                            assert_eq!(back.shape(), table.shape());
                            assert_eq!(bits(&back), bits(&table));
                        }
                    }
                }
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn chunks_and_slices_of_chunks_are_one_table() {
    for layout in LAYOUTS {
        let table = odd_bits::<i64>(Shape { rows: 1000, columns: 7 }, layout);
        let (batch, lists) = (table.to_record_batch().unwrap(), table.to_fixed_size_list().unwrap());
        let cuts = [(0, 1), (1, 0), (1, 499), (500, 500)];
        let batches = cuts.map(|(start, count)| batch.slice(start, count));
        let lists = cuts.map(|(start, count)| lists.slice(start, count));
        for target in LAYOUTS {
            let options = ArrowOptions::new().layout(target);
            assert_eq!(Table::from_record_batches(&batches, options.clone()).unwrap(), table);
            assert_eq!(Table::from_fixed_size_lists(&lists, options.clone()).unwrap(), table);
        }
    }
}

#[test]
fn large_tables_are_put_together_by_several_threads() {
    let shape = Shape { rows: 200_001, columns: 9 };
    let table = odd_bits::<u16>(shape, DataLayout::ColumnMajor).convert::<f64>().unwrap();
    let batch = table.to_record_batch().unwrap();
    for layout in LAYOUTS {
        let options = ArrowOptions::new().layout(layout);
        let chunks = [batch.slice(0, 77_777), batch.slice(77_777, 122_224)];
        assert_eq!(Table::from_record_batches(&chunks, options.clone()).unwrap(), table);
    }
}

#[test]
fn tables_of_very_many_columns_are_put_together_some_columns_at_a_time() {
    let table = odd_bits::<u8>(Shape { rows: 19, columns: 20_001 }, DataLayout::RowMajor);
    let batch = table.to_record_batch().unwrap();
    assert_eq!(Table::<u8>::from_record_batch(&batch).unwrap(), table);
    let options = ArrowOptions::new().convert(ConversionPolicy::Checked);
    let wider = Table::<f64>::from_record_batches([&batch], options.clone()).unwrap();
    assert_eq!(wider, table.convert().unwrap());
    let found = Table::<i8>::from_record_batches([&batch], options.clone()).unwrap_err();
    assert_eq!(found.to_string(), table.convert_with::<i8>(ConversionPolicy::Checked).unwrap_err().to_string());
}

#[test]
fn names_types_and_categories_come_back() {
    let mut table = Table::from_rows(&[[1_u8, 2, 3, 4]]).unwrap();
    let feature = Feature::new(ElementType::U8);
    let features = [
        feature.clone().named("size"),
        feature.clone(), // no name
        feature.clone().named("").ordinal(),
        feature.named("colour").categorical(7),
    ];
    table.set_dictionary(DataDictionary::from_features(features)).unwrap();
    let batch = table.to_record_batch().unwrap();
    assert_eq!(batch.schema().field(1).name(), "column_1");
    assert!(batch.schema().fields().iter().all(|field| !field.is_nullable()));
    let back = Table::<u8>::from_record_batch(&batch).unwrap();
    assert_eq!(back.dictionary(), table.dictionary());
    let wider = ArrowOptions::new().convert(ConversionPolicy::Exact);
    let wider = Table::<f64>::from_record_batches([batch], wider).unwrap();
    assert_eq!(wider.dictionary(), &table.dictionary().with_element_type(ElementType::F64).unwrap());
}

#[test]
fn a_column_that_had_no_name_keeps_the_one_that_it_is_given() {
    let batch = Table::from_rows(&[[1, 2]]).unwrap().to_record_batch().unwrap();
    let [weight, unnamed] = [0, 1].map(|column| batch.schema().field(column).clone());
    let schema = Schema::new(vec![weight.with_name("weight"), unnamed]);
    let renamed = RecordBatch::try_new(Arc::new(schema), batch.columns().to_vec()).unwrap();
    let table = Table::<i32>::from_record_batch(&renamed).unwrap();
    let names: Vec<Option<&str>> = table.dictionary().iter().map(|feature| feature.name.as_deref()).collect();
    assert_eq!(names, [Some("weight"), None]);
}

#[test]
fn metadata_that_somebody_else_has_written_does_no_harm() {
    let metadata = [("numeric-table.feature_type", "circular"), ("numeric-table.category_count", "-3")];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let field = Field::new("a", DataType::Int32, true).with_metadata(metadata);
    let column: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column]).unwrap();
    let table = Table::<i32>::from_record_batch(&batch).unwrap();
    assert_eq!(table.dictionary().feature(0).unwrap(), &Feature::new(ElementType::I32).named("a"));
}

#[test]
fn what_arrow_shows_does_not_change_when_the_table_is_written() {
    let mut table =
        Table::from_array_with_layout(vec![1, 2, 3, 4], Shape { rows: 2, columns: 2 }, DataLayout::ColumnMajor)
            .unwrap();
    let batch = table.to_record_batch().unwrap();
    table.as_mut_slice().unwrap().fill(9);
    drop(table);
    assert_eq!(batch.column(1).as_primitive::<Int32Type>().values()[..], [3, 4]);

    let mut table =
        Table::<i32>::from_fixed_size_list(&Table::from_rows(&[[1, 2]]).unwrap().to_fixed_size_list().unwrap())
            .unwrap();
    let lists = table.to_fixed_size_list().unwrap();
    table.as_mut_slice().unwrap().fill(9);
    assert_eq!(lists.values().as_primitive::<Int32Type>().values()[..], [1, 2]);
}

#[test]
fn an_owner_is_dropped_once_and_not_before_the_last_array() {
    let drops = DropCount::new();
    let owner = Array::from_owner(CountingOwner::new((0..6).collect::<Vec<i32>>(), &drops));
    let table = Table::from_array_with_layout(owner, Shape { rows: 3, columns: 2 }, DataLayout::ColumnMajor).unwrap();
    let batch = table.to_record_batch().unwrap();
    drop(table);
    let last = batch.column(1).slice(1, 2);
    drop(batch);
    let again = Table::<i32>::from_record_batch(&self::batch(vec![("last", last)])).unwrap();
    let lists = again.to_fixed_size_list().unwrap();
    drop(again);
    assert_eq!(lists.values().as_primitive::<Int32Type>().values()[..], [4, 5]);
    assert_eq!(drops.get(), 0);
    std::thread::spawn(move || drop(lists)).join().unwrap();
    assert_eq!(drops.get(), 1);
}

#[test]
fn lists_come_in_the_layout_that_was_asked_for_in_one_array_or_several() {
    let table = Table::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap();
    let lists = table.to_fixed_size_list().unwrap();
    for layout in LAYOUTS {
        for lists in [vec![lists.clone()], vec![lists.slice(0, 1), lists.slice(1, 1)]] {
            let back = Table::<i32>::from_fixed_size_lists(lists, ArrowOptions::new().layout(layout)).unwrap();
            assert_eq!((back.data_layout(), &back), (layout, &table));
        }
    }
}

#[test]
fn a_table_of_any_kind_has_a_record_batch_and_back() {
    let table = Table::from_rows(&[[1_i16, 2], [3, 4]]).unwrap();
    let any: &dyn NumericTable = &table;
    let batch = any.to_record_batch().unwrap();
    let back = from_record_batches_any([batch], ArrowOptions::new()).unwrap();
    assert_eq!(back.downcast_ref::<Table<i16>>(), Some(&table));
    assert_eq!(
        from_record_batches_any([] as [RecordBatch; 0], ArrowOptions::new()).unwrap().shape(),
        Shape { rows: 0, columns: 0 }
    );
}

#[test]
fn a_reader_returns_one_table_even_without_batches() {
    let table = Table::from_rows(&[[1_i16, 2], [3, 4]]).unwrap();
    let batch = table.to_record_batch().unwrap();
    let empty = RecordBatchIterator::new(Vec::new(), batch.schema());
    assert_eq!(
        Table::<i16>::read_record_batches(empty, ArrowOptions::new()).unwrap().shape(),
        Shape { rows: 0, columns: 2 }
    );
    let broken = [Ok(batch.clone()), Err(ArrowError::ParseError("torn".to_owned()))];
    let broken = RecordBatchIterator::new(broken, batch.schema());
    let error = Table::<i16>::read_record_batches(broken, ArrowOptions::new()).unwrap_err();
    assert!(error.to_string().contains("torn"), "{error}");
}

// --- nulls ---------------------------------------------------------------------------------------------------------

#[test]
fn nulls_are_errors_with_column_count_and_row() {
    let whole: ArrayRef = Arc::new(Float64Array::from(vec![1.0; 4]));
    let holes: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), Some(2.0), None, None]));
    let batch = batch(vec![("whole", whole), ("holes", holes)]);
    let error = Table::<f64>::from_record_batch(&batch).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Arrow column 1 (holes): 2 nulls, the first in row 2, and no NaN was requested for them: `ArrowOptions::nulls_to_nan` reads them as NaN"
    );
    assert!(Table::<f64>::from_record_batch(&batch.slice(0, 2)).is_ok(), "there are none in these rows");
}

#[test]
fn nulls_become_nan_where_they_are_and_nowhere_else() {
    let column = |start: usize| -> ArrayRef {
        let value = |row: usize| (!(row + start).is_multiple_of(3)).then_some((row + start) as f32);
        Arc::new(Float32Array::from_iter((0..1000).map(value)))
    };
    let batch = batch(vec![("a", column(0)), ("b", column(1))]);
    for layout in LAYOUTS {
        let options = ArrowOptions::new().nulls_to_nan(true).layout(layout);
        let chunks = [batch.slice(5, 500), batch.slice(505, 400)];
        let table = Table::<f32>::from_record_batches(&chunks, options.clone()).unwrap();
        for row in 0..900 {
            for column in 0..2 {
                let (value, number) = (table.value::<f32>(row, column).unwrap(), row + 5 + column);
                assert_eq!(value.is_nan(), number.is_multiple_of(3), "row {row}, column {column}");
                assert!(value.is_nan() || value == number as f32);
            }
        }
    }
}

#[test]
fn nulls_are_where_they_are_at_every_bit_of_a_bitmap() {
    let is_valid = |index: usize| 0xDEAD_BEEF_CAFE_1234_u64 >> (index % 61) & 1 == 1;
    let column: ArrayRef = Arc::new(Int32Array::from_iter((0..100).map(|row| is_valid(row).then_some(row as i32))));
    let two = batch(vec![("a", column.clone()), ("b", column)]);
    let values = Int32Array::from_iter((0..300).map(|index| is_valid(index).then_some(index as i32)));
    let nulls = (0..100).map(|row| is_valid(row + 7)).collect::<Vec<_>>().into();
    let field = Arc::new(Field::new_list_field(DataType::Int32, true));
    let lists = FixedSizeListArray::try_new(field, 3, Arc::new(values), Some(nulls)).unwrap();
    let check = |table: Table<f64>, value: &dyn Fn(usize, usize) -> Option<usize>| {
        for row in 0..table.row_count() {
            for column in 0..table.column_count() {
                let (found, expected) = (table.value::<f64>(row, column).unwrap(), value(row, column));
                let is_it = expected.map_or(found.is_nan(), |expected| found == expected as f64);
                assert!(is_it, "row {row}, column {column}: {found}, not {expected:?}");
            }
        }
    };
    for (start, layout) in (0..20).flat_map(|start| LAYOUTS.map(|layout| (start, layout))) {
        for count in [1, 7, 8, 9, 63, 64, 65] {
            let options = ArrowOptions::new().nulls_to_nan(true).convert(ConversionPolicy::Exact).layout(layout);
            let chunk = two.slice(start, count);
            check(Table::from_record_batches([&chunk, &chunk], options.clone()).unwrap(), &|row, _| {
                Some(start + row % count).filter(|&row| is_valid(row))
            });
            let chunk = lists.slice(start, count);
            check(Table::from_fixed_size_lists([&chunk, &chunk], options.clone()).unwrap(), &|row, column| {
                let (row, index) = (start + row % count, (start + row % count) * 3 + column);
                Some(index).filter(|&index| is_valid(index) && is_valid(row + 7))
            });
        }
    }
}

#[test]
fn what_lies_below_a_null_is_not_looked_at() {
    // i64::MAX is no f32, but it is below a null.
    let nulls = vec![true, false, true].into();
    let values = Int64Array::new(vec![1, i64::MAX, 3].into(), Some(nulls));
    let batch = batch(vec![("a", Arc::new(values) as ArrayRef)]);
    let options = ArrowOptions::new().nulls_to_nan(true).convert(ConversionPolicy::Exact);
    let table = Table::<f32>::from_record_batches([&batch], options.clone()).unwrap();
    let values = table.as_slice().unwrap();
    assert!(values[0] == 1.0 && values[1].is_nan() && values[2] == 3.0);
    let error = Table::<i64>::from_record_batches([batch], options.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Arrow column 0 (a): 1 null, the first in row 1, and i64 has no NaN for them: fill them first, or choose a type of \
         floats"
    );
}

#[test]
fn lists_and_their_values_may_be_null() {
    let rows = [Some(vec![Some(1.0), None]), None, Some(vec![Some(3.0), Some(4.0)])];
    let lists = FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>(rows, 2);
    let error = Table::<f64>::from_fixed_size_list(&lists).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Arrow column 0 (list): 3 nulls, the first in list 0, value 1, and no NaN was requested for them: `ArrowOptions::nulls_to_nan` reads them as NaN"
    );
    let error = Table::<f64>::from_fixed_size_lists([lists.slice(2, 1), lists.slice(1, 2)], ArrowOptions::new());
    assert_eq!(
        error.unwrap_err().to_string(),
        "Arrow column 0 (list): in array 1: 2 nulls, the first in list 0, value 0, and no NaN was requested for them: `ArrowOptions::nulls_to_nan` reads them as NaN"
    );
    let options = ArrowOptions::new().nulls_to_nan(true);
    let table = Table::<f64>::from_fixed_size_lists([lists.slice(0, 1), lists.slice(1, 2)], options.clone()).unwrap();
    let is_nan: Vec<bool> = table.as_slice().unwrap().iter().map(|value| value.is_nan()).collect();
    assert_eq!(is_nan, [false, true, true, true, false, false]);
    assert_eq!(Table::<f64>::from_fixed_size_list(&lists.slice(2, 1)).unwrap().as_slice().unwrap(), [3.0, 4.0]);
}

// --- what cannot be taken ------------------------------------------------------------------------------------------

#[test]
fn other_types_are_converted_only_if_asked() {
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.5, 2.5]));
    let mixed = batch(vec![("ints", ints), ("floats", floats)]);
    let error = Table::<f64>::from_record_batch(&mixed).unwrap_err().to_string();
    assert_eq!(
        error,
        "Arrow column 0 (ints): i32 values in a table of f64, and no conversion was requested: `ArrowOptions::convert` converts them"
    );
    let error = from_record_batches_any([&mixed], ArrowOptions::new()).unwrap_err();
    assert!(error.to_string().starts_with("Arrow column 1 (floats)"), "{error}");
    let options = ArrowOptions::new().convert(ConversionPolicy::Exact);
    let table = Table::<f64>::from_record_batches([&mixed], options.clone()).unwrap();
    assert_eq!(table.as_slice().unwrap(), [1.0, 1.5, 2.0, 2.5]);
    let half = Table::<numeric_table::bf16>::from_record_batches([mixed], options.clone()).unwrap();
    assert_eq!(half.convert::<f32>().unwrap().as_slice().unwrap(), [1.0, 1.5, 2.0, 2.5]);
}

#[test]
fn the_first_value_that_does_not_fit_is_named_whatever_the_layout_and_the_threads() {
    for rows in [10, 400_000] {
        let column = |bad: usize| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values((0..rows).map(|row| if row >= bad { 1 << 40 } else { 1 })))
        };
        let columns: Vec<ArrayRef> = [7, 5, 5, 9].map(column).into_iter().collect();
        let batch = batch(["a", "b", "c", "d"].into_iter().zip(columns).collect());
        for layout in LAYOUTS {
            let options = ArrowOptions::new().convert(ConversionPolicy::Checked).layout(layout);
            let chunks = [batch.slice(0, 4), batch.slice(4, rows - 4)];
            let error = Table::<u16>::from_record_batches(&chunks, options.clone()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 5, column: 1, .. }), "{error}");
        }
    }
    let lists = Table::from_rows(&[[1, 2], [3, 70_000]]).unwrap().to_fixed_size_list().unwrap();
    let options = ArrowOptions::new().convert(ConversionPolicy::Checked);
    let error = Table::<u16>::from_fixed_size_lists([lists], options.clone()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. }), "{error}");
}

#[test]
fn arrays_that_hold_no_numbers_are_refused_by_name() {
    let options = ArrowOptions::new().convert(ConversionPolicy::Saturate).nulls_to_nan(true);
    let batch_of = |column: ArrayRef| batch(vec![("what", column)]);
    let batch = batch_of(Arc::new(BinaryArray::from(vec![&b"red"[..]])));
    let expected = "Arrow column 0 (what): Binary is not an element type of tables: `ArrowOptions::columns` chooses other \
                    columns";
    let error = Table::<f32>::from_record_batches([&batch], options.clone()).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(from_record_batches_any([batch], options.clone()).unwrap_err().to_string(), expected);

    let nulls = batch_of(Arc::new(NullArray::new(2)));
    let error = Table::<f32>::from_record_batch(&nulls).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("2 nulls, the first in row 0") && text.contains("`ArrowOptions::nulls_to_nan`"), "{error}");
    let table = Table::<f32>::from_record_batches([&nulls], options.clone()).unwrap();
    assert!(table.as_slice().unwrap().iter().all(|value| value.is_nan()) && table.row_count() == 2);
    let table = numeric_table::SoaNumericTable::from_record_batches([&nulls], options).unwrap();
    assert!(table.column_slice::<f64>(0).unwrap().iter().all(|value| value.is_nan()));
}

#[test]
fn chunks_must_have_the_same_columns() {
    let table = |columns: usize| Table::<i32>::full(Shape { rows: 2, columns }, 1).unwrap();
    let batches = [table(2), table(3)].map(|table| table.to_record_batch().unwrap());
    let error = Table::<i32>::from_record_batches(&batches, ArrowOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "Arrow column 2: in batch 1: 3 columns, where 2 are expected");
    let lists = [table(2), table(3)].map(|table| table.to_fixed_size_list().unwrap());
    assert!(Table::<i32>::from_fixed_size_lists(&lists, ArrowOptions::new()).is_err());
}

#[test]
fn batches_with_the_same_columns_in_another_order_are_not_mixed_up() {
    let column = || Arc::new(Int32Array::from(vec![1])) as ArrayRef;
    let batches = [batch(vec![("a", column()), ("b", column())]), batch(vec![("b", column()), ("a", column())])];
    let expected = "Arrow column 0 (a): in batch 1: its name is b";
    let error = Table::<i32>::from_record_batches(&batches, ArrowOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), expected);
    let reader = RecordBatchIterator::new(batches.clone().map(Ok), batches[0].schema());
    let error = Table::<i32>::read_record_batches(reader, ArrowOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn more_rows_than_can_be_counted_are_an_error() {
    let rows = RecordBatchOptions::new().with_row_count(Some(usize::MAX));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &rows).unwrap();
    assert_eq!(Table::<f32>::from_record_batch(&batch).unwrap().row_count(), usize::MAX);
    let error = Table::<f32>::from_record_batches([&batch, &batch], ArrowOptions::new()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::SizeOverflow { .. }), "{error}");
}

#[test]
fn bf16_has_no_arrow_type() {
    let table = Table::<numeric_table::bf16>::full(Shape { rows: 2, columns: 2 }, numeric_table::bf16::ONE).unwrap();
    for error in [table.to_record_batch().err(), table.to_fixed_size_list().err()] {
        let expected = "Arrow has no element type bf16: convert the table first";
        assert_eq!(error.unwrap().to_string(), expected);
    }
}

#[test]
fn tables_without_memory_and_shapes_that_arrow_has_not_are_errors() {
    let shape = Shape { rows: 2, columns: 2 };
    let table = Table::<f32>::new(shape, AllocationFlag::DoNotAllocate).unwrap();
    assert!(table.to_record_batch().is_err_and(|error| matches!(error.kind(), ErrorKind::NotAllocated)));
    assert!(table.to_fixed_size_list().is_err_and(|error| matches!(error.kind(), ErrorKind::NotAllocated)));
    let wide = Table::<f32>::new(Shape { rows: 0, columns: usize::MAX }, AllocationFlag::DoAllocate).unwrap();
    assert!(wide.to_record_batch().is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfMemory)));
    assert!(wide.to_fixed_size_list().is_err_and(|error| matches!(error.kind(), ErrorKind::SizeOverflow { .. })));
}
