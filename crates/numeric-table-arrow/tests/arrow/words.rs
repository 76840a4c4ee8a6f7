//! Words: text and dictionaries of text as categories, and back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, UInt16Type};
use arrow_array::{
    Array as ArrowArray, ArrayRef, DictionaryArray, Float32Array, Int8Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, StringArray, StringViewArray, StructArray, UInt16Array,
};
use numeric_table::{
    AnyArray, RowMergedNumericTable, SoaNumericTable, bf16,
    dictionary::Categories,
    files::TableWriter,
    interop::{CopyPolicy, CopyReason},
    prelude::*,
};
use numeric_table_arrow::prelude::*;
use test_support::tables::assert_error;

use super::mixed::batch;

type Table<T> = HomogenNumericTable<T>;

fn colours(array: impl ArrowArray + 'static) -> RecordBatch {
    batch(vec![("colour", Arc::new(array))])
}

fn words(table: &dyn NumericTable, column: usize) -> Vec<String> {
    let feature = table.dictionary().feature(column).unwrap();
    assert_eq!(feature.feature_type, FeatureType::Categorical);
    feature.categories.as_ref().unwrap().labels().map(str::to_owned).collect()
}

fn dictionary(keys: Vec<Option<i8>>, values: Vec<Option<&str>>) -> RecordBatch {
    colours(DictionaryArray::<Int8Type>::new(Int8Array::from(keys), Arc::new(StringArray::from(values))))
}

// --- in ------------------------------------------------------------------------------------------------------------

#[test]
fn text_of_every_kind_becomes_indices_in_the_order_in_which_words_appear() {
    let text = ["red", "blue", "red", "", "green, or so", "blue"];
    let arrays: [ArrayRef; 3] = [
        Arc::new(StringArray::from(text.to_vec())),
        Arc::new(LargeStringArray::from(text.to_vec())),
        Arc::new(StringViewArray::from(text.to_vec())),
    ];
    for array in arrays {
        let batch = batch(vec![("colour", array)]);
        let table = SoaNumericTable::from_record_batch(&batch).unwrap();
        assert_eq!(table.column_slice::<u8>(0).unwrap(), [0, 1, 0, 2, 3, 1]);
        assert_eq!(words(&table, 0), ["red", "blue", "", "green, or so"]);
        let part = SoaNumericTable::from_record_batch(&batch.slice(3, 3)).unwrap();
        assert_eq!((part.column_slice::<u8>(0).unwrap(), words(&part, 0).len()), (&[0, 1, 2][..], 3));
        // Of a table of any type, without a conversion.
        let table = Table::<bf16>::from_record_batch(&batch).unwrap();
        assert_eq!(table.rows::<i32>(..).unwrap()[..], [0, 1, 0, 2, 3, 1]);
        let any = from_record_batches_any([&batch, &batch], ArrowOptions::new()).unwrap();
        assert_eq!((any.uniform_type(), any.row_count(), words(&*any, 0).len()), (Some(ElementType::U8), 12, 4));
    }
}

#[test]
fn dictionaries_keep_all_of_their_words_and_later_ones_are_recoded() {
    let first = dictionary(vec![Some(2), Some(0), Some(2)], vec![Some("red"), Some("never"), Some("blue")]);
    let table = SoaNumericTable::from_record_batch(&first).unwrap();
    assert_eq!(table.column_slice::<u8>(0).unwrap(), [2, 0, 2]);
    assert_eq!(words(&table, 0), ["red", "never", "blue"]);
    // The same words in another order, a new one, one twice.
    let values = vec![Some("blue"), Some("green"), Some("red"), Some("green")];
    let second = dictionary(vec![Some(0), Some(1), Some(2), Some(3)], values);
    let all = [&first, &second, &first];
    let expected = [2, 0, 2, 2, 3, 0, 3, 2, 0, 2];
    let table = SoaNumericTable::from_record_batches(all, ArrowOptions::new()).unwrap();
    assert_eq!(table.column_slice::<u8>(0).unwrap(), expected);
    assert_eq!(words(&table, 0), ["red", "never", "blue", "green"]);
    let rows = RowMergedNumericTable::from_record_batches(all, ArrowOptions::new()).unwrap();
    assert_eq!(
        (rows.column::<u8>(0, ..).unwrap()[..].to_vec(), words(&rows, 0)),
        (expected.to_vec(), words(&table, 0))
    );
    let structs = all.map(|batch| StructArray::from(batch.clone()));
    let same = SoaNumericTable::from_struct_arrays(structs, ArrowOptions::new()).unwrap();
    assert_eq!((same.column_slice::<u8>(0).unwrap(), same.dictionary()), (&expected[..], table.dictionary()));
    let reader = RecordBatchIterator::new(all.map(|batch| Ok(batch.clone())), first.schema());
    let same = Table::<f32>::read_record_batches(reader, ArrowOptions::new()).unwrap();
    assert_eq!((same.rows::<u8>(..).unwrap()[..].to_vec(), words(&same, 0)), (expected.to_vec(), words(&table, 0)));
    // Other keys, other text.
    let keys = UInt16Array::from(vec![1, 0]);
    let wide = DictionaryArray::<UInt16Type>::new(keys, Arc::new(LargeStringArray::from(vec!["b", "a"])));
    assert_eq!(Table::<i64>::from_record_batch(&colours(wide)).unwrap().as_slice().unwrap(), [1, 0]);
}

#[test]
fn a_null_key_and_a_null_word_are_missing_values() {
    let keys = vec![Some(1), None, Some(0), Some(2), Some(0), Some(1), Some(2), Some(1), Some(0), Some(2)];
    let batch = dictionary(keys, vec![Some("red"), None, Some("blue")]);
    let table = SoaNumericTable::from_record_batch(&batch).unwrap();
    let missing = table.column_validity(0).unwrap().unwrap();
    assert_eq!(missing.missing_rows().collect::<Vec<_>>(), [0, 1, 5, 7]);
    let table = SoaNumericTable::from_record_batches([&batch], ArrowOptions::new().nulls_to(255)).unwrap();
    assert_eq!(table.column_slice::<u8>(0).unwrap(), [255, 255, 0, 1, 0, 255, 1, 255, 0, 1]);
    assert_eq!(words(&table, 0), ["red", "blue"]);
    let table = Table::<f32>::from_record_batches([batch.slice(2, 4)], ArrowOptions::new().nulls_to_nan(true)).unwrap();
    let values = table.as_slice().unwrap();
    assert!(values[..3] == [0.0, 1.0, 0.0] && values[3].is_nan());
    // Text has nulls, and no word of them is known; a dictionary may have no words at all.
    let text = colours(StringArray::from(vec![None, Some("x"), None]));
    let table = SoaNumericTable::from_record_batches([text], ArrowOptions::new().nulls_to(9)).unwrap();
    assert_eq!((table.column_slice::<u8>(0).unwrap(), words(&table, 0)), (&[9, 0, 9][..], vec!["x".to_owned()]));
    let none = dictionary(vec![None, None], vec![]);
    let table = SoaNumericTable::from_record_batches([none], ArrowOptions::new().nulls_to(7)).unwrap();
    assert_eq!(table.column_slice::<u8>(0).unwrap(), [7, 7]);
}

#[test]
fn indices_are_as_wide_as_they_have_to_be_and_never_saturate() {
    let many = |count: usize| colours(StringArray::from_iter_values((0..count).map(|index| format!("w{index}"))));
    for (count, element) in [(256, ElementType::U8), (257, ElementType::U16), (65_537, ElementType::U32)] {
        let table = SoaNumericTable::from_record_batch(&many(count)).unwrap();
        assert_eq!((table.column_type(0).unwrap(), words(&table, 0).len()), (element, count));
        assert_eq!(table.value::<u64>(count - 1, 0).unwrap(), count as u64 - 1);
    }
    let saturate = ArrowOptions::new().convert(ConversionPolicy::Saturate);
    assert_error!(
        Table::<u8>::from_record_batches([many(257)], saturate.clone()),
        ErrorKind::ValueNotRepresentable { row: 256, column: 0, .. }
    );
    let asked = saturate.column_type("colour", ElementType::F64);
    assert_eq!(
        SoaNumericTable::from_record_batches([many(2)], asked).unwrap().column_slice::<f64>(0).unwrap(),
        [0.0, 1.0]
    );
    assert_error!(
        SoaNumericTable::from_record_batches([many(2)], ArrowOptions::new().copy(CopyPolicy::Never)),
        ErrorKind::CopyRequired { reason: CopyReason::ElementType }
    );
}

// --- streams -------------------------------------------------------------------------------------------------------

/// Batches of the given numbers of rows, whose word is the number of the batch, or of its beginning.
fn stream(batches: usize, rows: usize) -> impl arrow_array::RecordBatchReader {
    let make = move |index: usize| {
        let text = (0..rows).map(move |row| if row == 0 { "first".to_owned() } else { format!("batch {index}") });
        let number: ArrayRef = Arc::new(Float32Array::from(vec![index as f32; rows]));
        batch(vec![("number", number), ("word", Arc::new(StringArray::from_iter_values(text)))])
    };
    let schema = make(0).schema();
    RecordBatchIterator::new((0..batches).map(move |index| Ok(make(index))), schema)
}

#[test]
fn words_that_come_late_are_words_of_all() {
    let (batches, rows) = (4, 400_000);
    let check = |table: &dyn NumericTable| {
        assert_eq!(table.row_count(), batches * rows);
        assert_eq!(words(table, 1)[..3], ["first", "batch 0", "batch 1"]);
        for batch in 0..batches {
            assert_eq!(table.value::<u8>(batch * rows, 1).unwrap(), 0);
            assert_eq!(table.value::<u8>(batch * rows + rows - 1, 1).unwrap(), batch as u8 + 1);
        }
    };
    let table = SoaNumericTable::read_record_batches(stream(batches, rows), ArrowOptions::new()).unwrap();
    assert_eq!(table.column_type(1).unwrap(), ElementType::U8, "narrowed at the end");
    check(&table);
    check(&Table::<f32>::read_record_batches(stream(batches, rows), ArrowOptions::new()).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    TableWriter::<f32>::save_record_batches(&path, stream(batches, rows), ArrowOptions::new()).unwrap();
    numeric_table::files::verify(&path).unwrap();
    check(&Table::<f32>::load(&path).unwrap());
}

#[test]
fn a_file_has_room_for_some_words_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let save = |count: usize| {
        let text = (0..count).map(|index| format!("{index:0100}"));
        let batch = colours(StringArray::from_iter_values(text));
        let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
        TableWriter::<f64>::save_record_batches(&path, reader, ArrowOptions::new())
    };
    save(9_000).unwrap();
    assert_eq!(words(&Table::<f64>::load(&path).unwrap(), 0).len(), 9_000);
    let error = save(11_000).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Format { .. }) && error.to_string().contains("room for"), "{error}");
    assert_eq!(words(&Table::<f64>::load(&path).unwrap(), 0).len(), 9_000, "the old file stays");
}

#[test]
fn batches_appended_to_a_file_have_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let known =
        Feature::new(ElementType::F32).named("c").categorical(Categories::from_labels(["blue", "red"]).unwrap());
    let mut writer = TableWriter::<f32>::create(&path, 1, DataDictionary::from_features([known])).unwrap();
    let options = ArrowOptions::new();
    writer.append_record_batch(&colours(StringArray::from(vec!["red", "blue"])), &options).unwrap();
    writer.append_record_batch(&dictionary(vec![Some(0)], vec![Some("red")]), &options).unwrap();
    let error = writer.append_record_batch(&colours(StringArray::from(vec!["red", "green"])), &options).unwrap_err();
    assert_eq!(error.to_string(), r#"Arrow column 0 (colour): "green" is none of the 2 words of the column"#);
    writer.finish().unwrap();
    assert_eq!(Table::<f32>::load(&path).unwrap().as_slice().unwrap(), [1.0, 0.0, 1.0]);
    // A file without words has none of them.
    let mut writer = TableWriter::<f32>::create(&path, 1, None).unwrap();
    assert_error!(
        writer.append_record_batch(&colours(StringArray::from(vec!["red"])), &options),
        ErrorKind::Unsupported { target: "Arrow", .. }
    );
}

// --- out -----------------------------------------------------------------------------------------------------------

fn described<T: Element>(values: Vec<T>) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    let categories = Categories::from_labels(["red", "never", "blue"]).unwrap();
    let feature = Feature::new(T::TYPE).named("colour").categorical(categories);
    table.push_feature(feature, values).map_err(|refused| refused.error).unwrap();
    table.push_column("size", AnyArray::from(vec![1_u16; table.row_count()])).unwrap();
    table
}

fn shown(batch: &RecordBatch, column: usize) -> Vec<Option<String>> {
    let dictionary = batch.column(column).as_dictionary::<Int32Type>();
    let words = dictionary.downcast_dict::<StringArray>().unwrap();
    words.into_iter().map(|word| word.map(str::to_owned)).collect()
}

#[test]
fn words_go_out_as_dictionaries_and_come_back_as_they_were() {
    fn check<T: Element>(values: Vec<T>) {
        let table = described(values);
        let batch = table.to_record_batch().unwrap();
        assert_eq!(shown(&batch, 0), [Some("blue".to_owned()), Some("red".to_owned())]);
        assert_eq!(batch.schema().field(0).data_type().to_string(), "Dictionary(Int32, Utf8)");
        let back = SoaNumericTable::from_record_batch(&batch).unwrap();
        assert_eq!(back.dictionary(), table.dictionary(), "the words that no value has, and the type, too");
        assert_eq!(back.column_slice::<T>(0).unwrap(), table.column_slice::<T>(0).unwrap());
        assert_eq!(back.column_slice::<u16>(1).unwrap(), [1, 1]);
    }
    check(vec![2_u8, 0]);
    check(vec![2_i64, 0]);
    check(vec![2.0_f32, 0.0]);
    check(vec![bf16::from_f32(2.0), bf16::ZERO]); // words are words, whatever their indices are
    // Homogeneous tables of both layouts, and ordinal ones.
    let words = Categories::from_labels(["low", "high"]).unwrap();
    let feature = Feature { feature_type: FeatureType::Ordinal, ..Feature::new(ElementType::F64).categorical(words) };
    for layout in test_support::tables::LAYOUTS {
        let mut table = Table::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap().to_layout(layout).unwrap();
        table
            .set_dictionary(DataDictionary::from_features([feature.clone().named("a"), feature.clone().named("b")]))
            .unwrap();
        let batch = table.to_record_batch().unwrap();
        assert_eq!(shown(&batch, 1), [Some("low".to_owned()), Some("high".to_owned())]);
        assert_eq!(batch.schema().field(0).dict_is_ordered(), Some(true));
        let back = Table::<f64>::from_record_batch(&batch).unwrap();
        assert_eq!((back.dictionary(), &back), (table.dictionary(), &table.to_layout(DataLayout::RowMajor).unwrap()));
    }
}

#[test]
fn values_that_are_no_index_are_errors_and_a_missing_word_is_null() {
    let nulls = ArrowExportOptions::new().nan_to_null(true);
    let error = described(vec![0_i8, 3]).to_record_batch().unwrap_err().to_string();
    assert_eq!(error, "Arrow column 0 (colour): 3 in row 1, which is no index of 3 words");
    for wrong in [-1.0, 0.5, f32::INFINITY] {
        assert_error!(
            described(vec![wrong]).to_record_batch_with(nulls),
            ErrorKind::Unsupported { target: "Arrow", column: Some(0), .. }
        );
    }
    let table = described(vec![1.0_f32, f32::NAN, 0.0]);
    let batch = table.to_record_batch().unwrap();
    assert_eq!(shown(&batch, 0), [Some("never".to_owned()), None, Some("red".to_owned())]);
    assert!(batch.schema().field(0).is_nullable() && !batch.schema().field(1).is_nullable());
    let back = SoaNumericTable::from_record_batches([&batch], ArrowOptions::new().nulls_to_nan(true)).unwrap();
    assert!(back.dictionary() == table.dictionary() && back.column_slice::<f32>(0).unwrap()[1].is_nan());
    assert_error!(
        described(vec![0_u8]).to_record_batch_with(CopyPolicy::Never),
        ErrorKind::CopyRequired { reason: CopyReason::ElementType }
    );
    let numbers = ArrowExportOptions::new().labels(false).copy(CopyPolicy::Never);
    let batch = described(vec![9_u8]).to_record_batch_with(numbers).unwrap();
    let back = SoaNumericTable::from_record_batch(&batch).unwrap();
    assert_eq!(
        (back.column_slice::<u8>(0).unwrap(), back.dictionary().feature(0).unwrap().category_count()),
        (&[9][..], Some(3))
    );
}

#[test]
fn missing_words_in_many_batches_are_nan_if_asked() {
    let words = ["red", "green", "blue"];
    for last in [None, Some("red")] {
        let column: ArrayRef = Arc::new((0..3_000_000).map(|row| Some(words[row % 3])).collect::<StringArray>());
        let end: ArrayRef = Arc::new(StringArray::from(vec![last]));
        let batches =
            [column, end].map(|column| RecordBatch::try_from_iter_with_nullable([("w", column, true)]).unwrap());
        let schema = batches[0].schema();
        let read = |options| {
            let reader = RecordBatchIterator::new(batches.clone().map(Ok), schema.clone());
            SoaNumericTable::read_record_batches(reader, options).unwrap()
        };
        let nan = ArrowOptions::new().nulls_to_nan(true);
        let table = read(nan.clone());
        assert_eq!(table.value::<f64>(4, 0).unwrap(), 1.0);
        let found = table.value::<f64>(3_000_000, 0).unwrap();
        match last {
            None => assert!(found.is_nan() && table.dictionary().feature(0).unwrap().element_type == ElementType::F64),
            Some(_) => assert_eq!((found, table.column_slice::<u8>(0).unwrap()[2]), (0.0, 2)),
        }
        let table = read(nan.column_type("w", ElementType::F64));
        assert_eq!(table.column_slice::<f64>(0).unwrap()[3_000_000].is_nan(), last.is_none());
    }
}
