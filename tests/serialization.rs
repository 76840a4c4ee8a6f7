//! Saving tables into memory and getting them back: archives, and serde with bincode and JSON.
//!
//! Whatever a table shows comes back: values, shape, layout and dictionary; binary formats keep every bit, JSON keeps
//! every number and NaN as NaN. What cannot be meant is refused. Damaged archives are in `hostile_archives.rs`.
//! Semantics: DAAL `serialize` and `deserialize`; tests that the peer has as well name the peer's file.

mod common;

use std::fmt;

use common::bits::{Random, bits, from_bits, is_nan, is_same, special_values};
use common::for_each_element;
use numeric_table::{bf16, f16, from_bytes_any, prelude::*};
use serde::de::DeserializeOwned;
use serde::ser::{Impossible, Serialize, SerializeStruct, Serializer};

type Table<T> = HomogenNumericTable<T>;

const LAYOUTS: [DataLayout; 2] = [DataLayout::RowMajor, DataLayout::ColumnMajor];

/// Rows of five columns, as many as there are values for.
fn five_columns<T: Element>(mut values: Vec<T>, layout: DataLayout) -> Table<T> {
    let rows = values.len() / 5;
    values.truncate(rows * 5);
    Table::from_array_in(values, Shape { rows, columns: 5 }, layout).unwrap()
}

/// Special and random values, in both layouts.
fn tables_with_every_kind_of_value<T: Element>() -> [Table<T>; 2] {
    let mut values = special_values::<T>();
    values.extend(Random::new(41).values::<T>(500));
    LAYOUTS.map(|layout| five_columns(values.clone(), layout))
}

fn through_archive<T: Element>(table: &Table<T>) -> Table<T> {
    Table::from_bytes(&table.to_bytes().unwrap()).unwrap()
}

fn through_bincode<V: Serialize + DeserializeOwned>(value: &V) -> V {
    let bytes = bincode::serde::encode_to_vec(value, bincode::config::standard()).unwrap();
    let (found, consumed) = bincode::serde::borrow_decode_from_slice(&bytes, bincode::config::standard()).unwrap();
    assert_eq!(consumed, bytes.len());
    found
}

/// A reader cannot lend its bytes, so that this takes another way than [`through_bincode`].
fn through_bincode_reader<V: Serialize + DeserializeOwned>(value: &V) -> V {
    let bytes = bincode::serde::encode_to_vec(value, bincode::config::legacy()).unwrap();
    bincode::serde::decode_from_std_read(&mut &bytes[..], bincode::config::legacy()).unwrap()
}

fn through_json<V: Serialize + DeserializeOwned>(value: &V) -> V {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

fn through_json_reader<V: Serialize + DeserializeOwned>(value: &V) -> V {
    serde_json::from_reader(&serde_json::to_vec(value).unwrap()[..]).unwrap()
}

fn through_json_value<V: Serialize + DeserializeOwned>(value: &V) -> V {
    serde_json::from_value(serde_json::to_value(value).unwrap()).unwrap()
}

/// Every format and way of reading that a table must survive.
fn formats<V: Serialize + DeserializeOwned>() -> [fn(&V) -> V; 5] {
    [through_bincode, through_bincode_reader, through_json, through_json_reader, through_json_value]
}

/// Compares shape, layout, dictionary and values; the values by `same`.
fn assert_same<T: Element>(found: &Table<T>, expected: &Table<T>, same: fn(T, T) -> bool) {
    assert_eq!((found.shape(), found.data_layout()), (expected.shape(), expected.data_layout()));
    assert_eq!(found.dictionary(), expected.dictionary());
    let (found, expected) = (found.view().unwrap(), expected.view().unwrap());
    if expected.shape().is_empty() {
        return;
    }
    for row in 0..expected.shape().rows {
        for column in 0..expected.shape().columns {
            let (found, expected) = (found.value(row, column).unwrap(), expected.value(row, column).unwrap());
            assert!(same(found, expected), "{found:?} was {expected:?} at row {row}, column {column}");
        }
    }
}

fn is_bitwise_same<T: Element>(left: T, right: T) -> bool {
    bits(left) == bits(right)
}

fn from_json<V: DeserializeOwned>(text: &str) -> Result<V, serde_json::Error> {
    serde_json::from_str(text)
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

// --- round trips --------------------------------------------------------------------------------------------------

#[test]
fn an_archive_keeps_every_bit_of_every_element_type() {
    fn check<T: Element>() {
        for table in tables_with_every_kind_of_value::<T>() {
            assert_same(&through_archive(&table), &table, is_bitwise_same);
        }
    }
    for_each_element!(check);
}

#[test]
fn an_archive_of_unknown_type_is_read_as_a_table_of_that_type() {
    fn check<T: Element>() {
        for table in tables_with_every_kind_of_value::<T>() {
            let found = from_bytes_any(&table.to_bytes().unwrap()).unwrap();
            assert_eq!((found.uniform_type(), found.data_layout()), (Some(T::TYPE), table.data_layout()));
            let (found, expected) =
                (found.rows::<T>(0..found.row_count()).unwrap(), table.rows::<T>(0..table.row_count()).unwrap());
            assert!(found.iter().map(|&value| bits(value)).eq(expected.iter().map(|&value| bits(value))));
        }
    }
    for_each_element!(check);
}

#[test]
fn bincode_through_serde_keeps_every_bit_of_every_element_type() {
    fn check<T: Element>() {
        for table in tables_with_every_kind_of_value::<T>() {
            assert_same(&through_bincode(&table), &table, is_bitwise_same);
            assert_same(&through_bincode_reader(&table), &table, is_bitwise_same);
        }
    }
    for_each_element!(check);
}

#[test]
fn json_keeps_every_number_of_every_element_type_and_nan_as_nan() {
    fn check<T: Element>() {
        for table in tables_with_every_kind_of_value::<T>() {
            assert_same(&through_json(&table), &table, is_same);
            assert_same(&through_json_reader(&table), &table, is_same);
            assert_same(&through_json_value(&table), &table, is_same);
        }
    }
    for_each_element!(check);
}

#[test]
fn arrays_of_every_element_type_survive_every_format() {
    fn check<T: Element>() {
        let array = Array::from(special_values::<T>());
        for through in formats::<Array<T>>() {
            let found = through(&array);
            assert_eq!(found.len(), array.len());
            assert!(found.iter().zip(&array).all(|(&found, &expected)| is_same(found, expected)));
        }
    }
    for_each_element!(check);
}

#[test]
fn json_keeps_all_values_of_the_16_bit_floats() {
    fn check<T: Element>() {
        let array = Array::from((0..=0xFFFF).map(from_bits::<T>).collect::<Vec<_>>());
        assert!(through_json(&array).iter().zip(&array).all(|(&found, &expected)| is_same(found, expected)));
    }
    check::<f16>();
    check::<bf16>();
}

/// The decimal lies so near to the middle between two `f32` that the nearest `f64` is that middle.
#[test]
fn json_rounds_a_decimal_to_f32_once() {
    let value = 7.038_531e-26_f32;
    assert_eq!(value.to_bits(), 0x15AE_43FD);
    assert_eq!(from_json::<Array<f32>>("[7.038531e-26]").unwrap()[0].to_bits(), value.to_bits());
    assert_eq!(through_json(&Array::from(vec![value]))[0].to_bits(), value.to_bits());
}

// --- what is shown is what is written -----------------------------------------------------------------------------

#[test]
fn an_archive_of_one_row_of_a_large_table_is_small() {
    let large = Table::full(Shape { rows: 100_000, columns: 4 }, 1.5_f32).unwrap();
    let row = large.slice_rows(70_000..70_001).unwrap();
    assert!(row.to_bytes().unwrap().len() <= 4 * 4 + 256);
    assert!(serde_json::to_string(&row).unwrap().len() < 400);
    assert!(bincode::serde::encode_to_vec(&row, bincode::config::standard()).unwrap().len() <= 4 * 4 + 256);
}

/// So many values that several threads copy them, each of its own value, at an odd address.
#[test]
fn a_large_archive_holds_every_value_in_its_place() {
    let rows = (8 << 20) / 20 + 7;
    let table = five_columns((0..rows as u32 * 5).collect(), DataLayout::RowMajor);
    let expected: Vec<u8> = table.as_slice().unwrap().iter().flat_map(|value| value.to_le_bytes()).collect();
    let archive = table.to_bytes().unwrap();
    assert!(archive.ends_with(&expected));
    for shift in 0..4 {
        let shifted = [&vec![0; shift], &archive[..]].concat();
        assert!(Table::<u32>::from_bytes(&shifted[shift..]).unwrap() == table, "{shift}");
    }
}

#[test]
fn a_slice_of_rows_comes_back_alone_in_both_layouts() {
    for layout in LAYOUTS {
        let table = five_columns((0..50_i16).collect(), layout);
        let slice = table.slice_rows(3..6).unwrap();
        let found = through_archive(&slice);
        assert_same(&found, &slice, is_bitwise_same);
        let expected: [i16; 5] = match layout {
            DataLayout::RowMajor => [20, 21, 22, 23, 24],
            DataLayout::ColumnMajor => [4, 14, 24, 34, 44],
        };
        assert_eq!(&found.rows::<i16>(1..2).unwrap()[..], expected);
    }
}

#[test]
fn rows_of_a_column_major_table_are_written_without_the_gaps_between_them() {
    let table =
        Table::from_array_in((0..12_u8).collect::<Vec<_>>(), Shape { rows: 4, columns: 3 }, LAYOUTS[1]).unwrap();
    let slice = table.slice_rows(1..3).unwrap();
    assert!(slice.as_slice().is_err(), "the values do not lie one after another");
    assert_eq!(through_archive(&slice).as_slice().unwrap(), [1, 2, 5, 6, 9, 10]);
    for through in formats::<Table<u8>>() {
        assert_eq!(through(&slice).as_slice().unwrap(), [1, 2, 5, 6, 9, 10]);
    }
}

#[test]
fn spare_capacity_is_not_written() {
    for layout in LAYOUTS {
        let mut table = five_columns((0..500_i32).collect(), layout);
        table.resize(2).unwrap();
        assert!(table.to_bytes().unwrap().len() <= 2 * 5 * 4 + 256);
        let found = through_archive(&table);
        assert_same(&found, &table, is_bitwise_same);
        assert_eq!(found.array().unwrap().len(), 10);
    }
}

#[test]
fn a_longer_array_than_the_table_needs_is_not_written_whole() {
    let table = Table::from_array_with_spare_rows(vec![7_u16; 999], Shape { rows: 1, columns: 3 }).unwrap();
    assert_eq!(through_archive(&table).as_slice().unwrap(), [7, 7, 7]);
    assert_eq!(through_json(&table).as_slice().unwrap(), [7, 7, 7]);
}

#[test]
fn an_array_window_is_written_without_the_rest_of_its_block() {
    let window = Array::from((0..100_u32).collect::<Vec<_>>()).slice(40..43).unwrap();
    for through in formats::<Array<u32>>() {
        assert_eq!(&through(&window)[..], [40, 41, 42]);
    }
}

// --- empty and missing --------------------------------------------------------------------------------------------

#[test]
fn shapes_without_values_keep_their_rows_and_columns() {
    fn check<T: Element>() {
        for (rows, columns) in [(0, 0), (0, 7), (7, 0), (0, usize::MAX), (usize::MAX, 0)] {
            for layout in LAYOUTS {
                let shape = Shape { rows, columns };
                let table = Table::<T>::new_in(shape, AllocationFlag::DoAllocate, layout).unwrap();
                assert_same(&through_archive(&table), &table, is_bitwise_same);
                for through in formats::<Table<T>>() {
                    assert_same(&through(&table), &table, is_bitwise_same);
                }
            }
        }
    }
    check::<f32>();
    check::<u8>();
    check::<bf16>();
}

#[test]
fn a_table_that_never_had_rows_needs_no_memory_to_be_written() {
    let described = DataDictionary::from_features([Feature::new(ElementType::F32).named("width")]);
    for table in [Table::<f32>::default(), Table::with_dictionary(described).unwrap()] {
        assert_eq!(table.data_memory_status(), MemoryStatus::NotAllocated);
        assert_same(&through_archive(&table), &table, is_bitwise_same);
        assert_same(&through_json(&table), &table, is_bitwise_same);
    }
}

#[test]
fn rows_without_memory_cannot_be_written() {
    let shape = Shape { rows: 2, columns: 3 };
    let table = Table::<f64>::new(shape, AllocationFlag::DoNotAllocate).unwrap();
    assert!(matches!(table.to_bytes(), Err(Error::NotAllocated)));
    assert!(serde_json::to_string(&table).is_err());
    assert!(bincode::serde::encode_to_vec(&table, bincode::config::standard()).is_err());
}

#[test]
fn a_table_that_is_lent_to_a_writable_block_cannot_be_written() {
    let mut table = Table::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0]]).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(matches!(table.to_bytes(), Err(Error::BlockOutstanding { .. })));
    assert!(serde_json::to_string(&table).is_err());
    table.release_block_of_rows(&mut block).unwrap();
    assert!(table.to_bytes().is_ok());
}

// --- what comes back ----------------------------------------------------------------------------------------------

#[test]
fn a_table_that_was_read_owns_internally_allocated_memory_that_can_be_written() {
    let table = Table::from_array(vec![1_i64, 2, 3, 4], Shape { rows: 2, columns: 2 }).unwrap();
    let reads = formats::<Table<i64>>();
    for mut found in reads.iter().map(|through| through(&table)).chain([through_archive(&table)]) {
        assert_eq!(found.data_memory_status(), MemoryStatus::InternallyAllocated);
        let array = found.array().unwrap();
        assert!(array.has_mutable_data() && !array.shares_memory_with(table.array().unwrap()));
        let address = array.as_ptr();
        found.as_mut_slice().unwrap()[0] = 9;
        assert_eq!(found.array().unwrap().as_ptr(), address, "written in place");
    }
}

#[test]
fn an_archive_may_start_at_any_address() {
    let table = Table::from_rows(&[[1.5_f64, -2.5], [0.0, f64::INFINITY]]).unwrap();
    let bytes = table.to_bytes().unwrap();
    for shift in 0..16 {
        let mut shifted = vec![0xAA; shift];
        shifted.extend(&bytes);
        assert_eq!(Table::<f64>::from_bytes(&shifted[shift..]).unwrap(), table);
    }
}

// --- dictionaries -------------------------------------------------------------------------------------------------

fn dictionaries() -> Vec<DataDictionary> {
    let plain = || Feature::new(ElementType::F32);
    vec![
        DataDictionary::uniform(plain(), 3),
        DataDictionary::uniform(plain().named("pixel").categorical(256), 3),
        DataDictionary::from_features([plain().named("length"), plain(), plain().named("width")]),
        DataDictionary::from_features([
            plain().named(""),
            plain().named("Größe (µm) 長さ 🌸"),
            plain().named("\0\"\\\n"),
        ]),
        DataDictionary::from_features([plain().categorical(0), plain().categorical(usize::MAX), plain().ordinal()]),
        DataDictionary::from_features([
            plain().named("same").categorical(3),
            plain().named("same").ordinal(),
            Feature { category_count: Some(5), ..plain().named("n".repeat(10_000)).ordinal() },
        ]),
    ]
}

#[test]
fn the_dictionary_of_a_table_survives_every_format() {
    for dictionary in dictionaries() {
        let mut table = Table::from_rows(&[[1.0_f32, 2.0, 3.0]]).unwrap();
        table.set_dictionary(dictionary.clone()).unwrap();
        assert_eq!(through_archive(&table).dictionary(), &dictionary);
        for through in formats::<Table<f32>>() {
            assert_eq!(through(&table).dictionary(), &dictionary);
        }
    }
}

#[test]
fn a_dictionary_survives_every_format_by_itself() {
    for dictionary in dictionaries() {
        for through in formats::<DataDictionary>() {
            let found = through(&dictionary);
            assert_eq!(found, dictionary);
            assert_eq!(found.is_uniform(), dictionary.is_uniform());
        }
    }
}

#[test]
fn a_uniform_dictionary_of_any_number_of_columns_stays_one_feature() {
    let mut table = Table::<f32>::new(Shape { rows: 0, columns: 1 << 60 }, AllocationFlag::DoAllocate).unwrap();
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32).named("pixel"), 1 << 60);
    table.set_dictionary(dictionary.clone()).unwrap();
    assert!(table.to_bytes().unwrap().len() <= 256);
    let found = through_archive(&table);
    assert!(found.dictionary().is_uniform());
    assert_eq!(found.dictionary(), &dictionary);
}

#[test]
fn a_feature_that_json_does_not_describe_further_is_continuous_and_without_a_name() {
    let found: Feature = from_json(r#"{"element_type": "bf16"}"#).unwrap();
    assert_eq!(found, Feature::new(ElementType::Bf16));
}

#[test]
fn element_types_are_written_by_name() {
    for &element in ElementType::ALL {
        let text = serde_json::to_string(&element).unwrap();
        assert_eq!(text, format!("\"{element}\""));
        assert_eq!(from_json::<ElementType>(&text).unwrap(), element);
    }
    assert!(from_json::<ElementType>("\"f80\"").is_err());
    assert!(from_json::<ElementType>("1").is_err());
}

// --- size and form of binary data ---------------------------------------------------------------------------------

#[test]
fn an_archive_of_a_uniform_table_without_names_is_at_most_256_bytes_larger_than_its_values() {
    fn check<T: Element>() {
        for (rows, columns) in [(1, 1), (100, 3), (3, 10_000)] {
            for layout in LAYOUTS {
                let table = Table::<T>::new_in(Shape { rows, columns }, AllocationFlag::DoAllocate, layout).unwrap();
                let size = table.to_bytes().unwrap().len();
                assert!(size <= rows * columns * size_of::<T>() + 256, "{size} bytes for {rows} x {columns}");
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn binary_formats_get_the_values_of_a_table_in_one_call_as_little_endian_bytes() {
    let table = Table::from_rows(&[[0x0102_u16, 0x0304, 0x0506], [7, 8, 0xFFFE]]).unwrap();
    let mut calls = Calls::default();
    table.serialize(&mut calls).unwrap();
    let payload = [2, 1, 4, 3, 6, 5, 7, 0, 8, 0, 0xFE, 0xFF];
    assert_eq!(calls.bytes.iter().filter(|bytes| bytes[..] == payload).count(), 1);
    assert!(calls.scalars < 10, "{} calls for single values", calls.scalars);
}

#[test]
fn the_number_of_calls_does_not_grow_with_the_table() {
    fn calls(table: &impl Serialize) -> (usize, usize) {
        let mut calls = Calls::default();
        table.serialize(&mut calls).unwrap();
        (calls.bytes.len(), calls.scalars)
    }
    let small = Table::from_rows(&[[1_i32]]).unwrap();
    let dictionary = (0..200).map(|column| Feature::new(ElementType::I32).named(column.to_string())).collect();
    let mut large = Table::full_in(Shape { rows: 300, columns: 200 }, 1_i32, LAYOUTS[1]).unwrap();
    large.set_dictionary(dictionary).unwrap();
    assert_eq!(calls(&large), calls(&small));
    assert_eq!(calls(&large.slice_rows(5..9).unwrap()), calls(&small));
}

#[test]
fn binary_formats_get_the_name_of_the_element_type_and_all_values_of_an_array_in_one_call() {
    fn check<T: Element>() {
        let values = special_values::<T>();
        let mut calls = Calls::default();
        Array::from(values.clone()).serialize(&mut calls).unwrap();
        let payload: Vec<u8> =
            values.iter().flat_map(|&value| bits(value).to_le_bytes()[..size_of::<T>()].to_vec()).collect();
        assert_eq!((calls.bytes, calls.scalars), (vec![payload], 1));
    }
    for_each_element!(check);
}

#[test]
fn an_array_as_bincode_has_these_very_bytes() {
    let golden = hex(concat!(
        "0300000000000000 693136",         // i16
        "0600000000000000 0100 feff ff7f", // 6 bytes of values
    ));
    let array = Array::from(vec![1_i16, -2, i16::MAX]);
    assert_eq!(bincode::serde::encode_to_vec(&array, bincode::config::legacy()).unwrap(), golden);
    let (found, _) = bincode::serde::borrow_decode_from_slice(&golden, bincode::config::legacy()).unwrap();
    assert_eq!(Array::<i16>::as_slice(&found), &array[..]);
}

#[test]
fn an_array_of_one_element_type_is_not_read_as_one_of_another() {
    fn check<S: Element, T: Element>() {
        for values in [special_values::<S>(), Vec::new()] {
            let bytes = bincode::serde::encode_to_vec(Array::from(values), bincode::config::standard()).unwrap();
            let config = bincode::config::standard();
            let borrowed = bincode::serde::borrow_decode_from_slice::<Array<T>, _>(&bytes, config).map(|found| found.0);
            let read = bincode::serde::decode_from_std_read::<Array<T>, _, _>(&mut &bytes[..], config);
            for found in [borrowed, read] {
                if S::TYPE == T::TYPE {
                    assert!(found.is_ok());
                } else {
                    let text = format!("the element type is {}, not {}", S::TYPE, T::TYPE);
                    assert!(found.unwrap_err().to_string().contains(&text));
                }
            }
        }
    }
    for_each_element!(S => for_each_element!(T => check::<S, T>()));
}

#[test]
fn bytes_that_are_no_whole_number_of_values_are_refused() {
    let bytes = hex("0300000000000000 663634 0c00000000000000 0000803f 0000803f 0000803f"); // f64: 12 bytes
    let read = bincode::serde::borrow_decode_from_slice::<Array<f64>, _>(&bytes, bincode::config::legacy());
    assert!(read.unwrap_err().to_string().contains("12 bytes are not a whole number of f64 values"));
}

#[test]
fn an_archive_has_these_very_bytes() {
    let golden = hex(concat!(
        "4e554d5441424c45 02000000",               // NUMTABLE, version 2
        "0b00000000000000 686f6d6f67656e656f7573", // homogeneous
        "0300000000000000 693136",                 // i16
        "0300000000000000 693136",                 // the table's own element type
        "01000000",                                // column-major
        "0200000000000000 0300000000000000",       // 2 rows, 3 columns
        "00 0300000000000000",                     // not uniform, 3 features
        "6000000000000000",                        // 96 bytes of records
        "08 02 01 0000000000 0000000000000000 0000000000000000 0200000000000000", // i16, continuous, named
        "08 00 02 0000000000 0300000000000000 0200000000000000 0000000000000000", // categorical, 3 categories
        "08 01 03 0000000000 0700000000000000 0200000000000000 0200000000000000", // ordinal, 7 categories, named
        "0400000000000000 7831 c3a9",              // names: x1, é
        "0c00000000000000 0100 feff 0201 0400 0000 ff7f", // values, one column after another
    ));
    let values = vec![1_i16, -2, 0x0102, 4, 0, i16::MAX];
    let mut table = Table::from_array_in(values, Shape { rows: 2, columns: 3 }, DataLayout::ColumnMajor).unwrap();
    let feature = || Feature::new(ElementType::I16);
    let last = Feature { category_count: Some(7), ..feature().named("é").ordinal() };
    table.set_dictionary([feature().named("x1"), feature().categorical(3), last].into_iter().collect()).unwrap();
    assert_eq!(table.to_bytes().unwrap(), golden);
    assert_same(&Table::from_bytes(&golden).unwrap(), &table, is_bitwise_same);
    // Version 1 says no kind, and is read for ever.
    let version_1 = [&b"NUMTABLE\x01\0\0\0"[..], &golden[31..]].concat();
    assert_same(&Table::from_bytes(&version_1).unwrap(), &table, is_bitwise_same);
    assert_eq!(from_bytes_any(&version_1).unwrap().to_bytes().unwrap(), golden);
}

// --- JSON ---------------------------------------------------------------------------------------------------------

#[test]
fn a_table_as_json_is_this_very_text() {
    let mut table = Table::from_rows(&[[0.1_f32, f32::NAN], [f32::NEG_INFINITY, -0.0], [f32::INFINITY, 3.0]]).unwrap();
    let uniform = concat!(
        r#"{"element_type":"f32","layout":"row_major","rows":3,"columns":2,"#,
        r#""dictionary":{"uniform":{"feature":{"name":null,"element_type":"f32","feature_type":"continuous","#,
        r#""category_count":null},"count":2}},"#,
        r#""values":[0.1,"NaN","-Infinity",-0.0,"Infinity",3.0]}"#,
    );
    assert_eq!(serde_json::to_string(&table).unwrap(), uniform);

    let feature = || Feature::new(ElementType::F32);
    let named = [feature().named("é"), feature().categorical(3)].into_iter().collect();
    table.set_dictionary(named).unwrap();
    table.resize(1).unwrap();
    let each = concat!(
        r#"{"element_type":"f32","layout":"row_major","rows":1,"columns":2,"dictionary":{"each":["#,
        r#"{"name":"é","element_type":"f32","feature_type":"continuous","category_count":null},"#,
        r#"{"name":null,"element_type":"f32","feature_type":"categorical","category_count":3}]},"#,
        r#""values":[0.1,"NaN"]}"#,
    );
    assert_eq!(serde_json::to_string(&table).unwrap(), each);
}

#[test]
fn the_members_of_a_json_table_may_come_in_any_order() {
    let text = concat!(
        r#"{"values":[1,2],"dictionary":{"each":[{"element_type":"u8"},{"element_type":"u8"}]},"#,
        r#""columns":2,"rows":1,"layout":"column_major","element_type":"u8"}"#,
    );
    assert_eq!(from_json::<Table<u8>>(text).unwrap().as_slice().unwrap(), [1, 2]);
}

#[test]
fn json_has_integers_with_all_their_digits_and_floats_with_the_fewest() {
    fn text<T: Element>(values: &[T]) -> String {
        serde_json::to_string(&Array::from(values.to_vec())).unwrap()
    }
    assert_eq!(text(&[u64::MAX, 0]), "[18446744073709551615,0]");
    assert_eq!(text(&[i64::MIN, i64::MAX]), "[-9223372036854775808,9223372036854775807]");
    assert_eq!(text(&[i8::MIN, i8::MAX]), "[-128,127]");
    assert_eq!(text(&[0.1_f64, -0.0]), "[0.1,-0.0]");
    assert_eq!(text(&[0.1_f32]), "[0.1]");
    assert_eq!(text(&[f16::from_bits(0x2E66)]), "[0.099975586]");
}

#[test]
fn null_is_read_as_nan_by_floats_and_refused_by_integers() {
    fn check<T: Element>() {
        match from_json::<Array<T>>("[null]") {
            Ok(array) => assert!(T::TYPE.is_float() && is_nan(array[0])),
            Err(_) => assert!(!T::TYPE.is_float()),
        }
    }
    for_each_element!(check);
}

#[test]
fn names_of_non_finite_floats_are_refused_by_integers() {
    fn check<T: Element>() {
        for name in ["NaN", "Infinity", "-Infinity"] {
            let read = from_json::<Array<T>>(&format!("[\"{name}\"]"));
            assert_eq!(read.is_ok(), T::TYPE.is_float(), "{name} as {}", T::TYPE);
        }
    }
    for_each_element!(check);
}

#[test]
fn json_numbers_that_the_type_does_not_have_are_refused() {
    fn refuses<T: Element>(numbers: &[&str]) {
        for number in numbers {
            assert!(from_json::<Array<T>>(&format!("[{number}]")).is_err(), "{number} was read as {}", T::TYPE);
        }
    }
    refuses::<i8>(&["128", "-129", "0.5"]);
    refuses::<u8>(&["300", "-1", "1.5", "-0.5"]);
    refuses::<i16>(&["32768", "-32769"]);
    refuses::<u16>(&["65536", "-1"]);
    refuses::<i32>(&["1.5", "2147483648", "-2147483649", "1e10"]);
    refuses::<u32>(&["4294967296", "-1"]);
    refuses::<i64>(&["9223372036854775808", "1e19", "-1e19", "0.1"]);
    refuses::<u64>(&["18446744073709551616", "-1"]);
    refuses::<f16>(&["65520", "1e6", "-65520.0"]);
    refuses::<bf16>(&["3.4e38", "-1e39"]);
    refuses::<f32>(&["1e39", "-1e39", "3.4028236e38"]);
    refuses::<f64>(&["1e309", "-1e999"]);
}

/// JSON readers hand on as `f64` what has a fraction or does not fit in 64 bits: the integer meant is gone by then.
#[test]
fn json_integers_that_went_through_a_rounded_float_are_refused() {
    for number in ["-9223372036854775809", "9007199254740993.0"] {
        assert!(from_json::<Array<i64>>(&format!("[{number}]")).is_err(), "{number} was read as another number");
    }
}

#[test]
fn json_values_that_are_no_numbers_are_refused() {
    fn check<T: Element>() {
        for text in
            ["[\"1\"]", "[\"\"]", "[\"nan\"]", "[\"inf\"]", "[true]", "[[1]]", "[{}]", "{}", "1", "\"NaN\"", "null"]
        {
            assert!(from_json::<Array<T>>(text).is_err(), "{text} was read as {}", T::TYPE);
        }
    }
    for_each_element!(check);
}

#[test]
fn a_json_decimal_is_rounded_to_the_nearest_float() {
    assert_eq!(from_json::<Array<f32>>("[16777217, 0.1]").unwrap()[..], [16_777_216.0, 0.1]);
    assert_eq!(from_json::<Array<f64>>("[9007199254740993]").unwrap()[0], 9_007_199_254_740_992.0);
    assert_eq!(from_json::<Array<f16>>("[0.1, 65519.9]").unwrap()[..], [f16::from_bits(0x2E66), f16::MAX]);
}

#[test]
fn a_json_table_that_contradicts_itself_is_refused() {
    let good = serde_json::to_string(&Table::from_rows(&[[1.5_f32, 2.0], [3.0, 4.0]]).unwrap()).unwrap();
    assert!(from_json::<Table<f32>>(&good).is_ok());
    let damages = [
        ("\"rows\":2", "\"rows\":3"),
        ("\"rows\":2", "\"rows\":-2"),
        ("\"rows\":2", "\"rows\":1152921504606846976"),
        ("\"rows\":2,\"columns\":2", "\"rows\":4294967296,\"columns\":4294967297"),
        ("\"columns\":2", "\"columns\":1"),
        ("\"rows\":2,", ""),
        ("\"rows\":2", "\"rows\":2,\"rows\":2"),
        ("\"rows\":2", "\"rows\":2,\"stride\":2"),
        ("row_major", "diagonal"),
        ("\"layout\":\"row_major\",", ""),
        ("\"count\":2", "\"count\":3"),
        ("continuous", "circular"),
        ("\"element_type\":\"f32\",\"layout\"", "\"element_type\":\"f64\",\"layout\""),
        ("\"element_type\":\"f32\",\"feature_type\"", "\"element_type\":\"f64\",\"feature_type\""),
        ("1.5", "1.5,1.5"),
        ("[1.5,", "["),
        ("1.5", "\"one\""),
    ];
    for (from, to) in damages {
        let damaged = good.replacen(from, to, 1);
        assert_ne!(damaged, good);
        assert!(from_json::<Table<f32>>(&damaged).is_err(), "{damaged}");
    }
}

#[test]
fn a_json_table_of_another_element_type_is_refused_by_naming_both() {
    let text = serde_json::to_string(&Table::from_rows(&[[1_u8, 2]]).unwrap()).unwrap();
    let error = from_json::<Table<f32>>(&text).unwrap_err().to_string();
    assert!(error.contains("u8") && error.contains("f32"), "{error}");
}

// --- errors of archives -------------------------------------------------------------------------------------------

#[test]
fn an_archive_of_another_element_type_is_refused_by_naming_both() {
    fn check<Stored: Element, Asked: Element>() {
        let bytes = Table::<Stored>::new(Shape { rows: 2, columns: 2 }, AllocationFlag::DoAllocate).unwrap().to_bytes();
        match Table::<Asked>::from_bytes(&bytes.unwrap()) {
            Ok(_) => assert_eq!(Stored::TYPE, Asked::TYPE),
            Err(Error::ElementTypeMismatch { expected, found, .. }) => {
                assert_eq!((expected, found), (Asked::TYPE, Stored::TYPE));
                assert_ne!(expected, found);
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    for_each_element!(Stored => for_each_element!(Asked => check::<Stored, Asked>()));
}

#[test]
fn an_archive_of_another_version_is_refused_by_naming_it_and_those_that_are_read() {
    let mut bytes = Table::from_rows(&[[1_u8]]).unwrap().to_bytes().unwrap();
    for (version, advice) in [(3, "; a newer version of the library reads it"), (0, "")] {
        bytes[8] = version;
        let expected = format!("the archive has version {version}, and this library reads versions 1 to 2{advice}");
        for error in [from_bytes_any(&bytes).map(drop), Table::<u8>::from_bytes(&bytes).map(drop)] {
            assert!(matches!(error, Err(Error::Format { offset: 8, reason, .. }) if reason == expected));
        }
    }
}

#[test]
fn bytes_behind_the_table_are_an_error_at_their_position() {
    let mut bytes = Table::from_rows(&[[1_u8]]).unwrap().to_bytes().unwrap();
    let end = bytes.len() as u64;
    bytes.push(0);
    assert!(matches!(Table::<u8>::from_bytes(&bytes), Err(Error::Format { offset, .. }) if offset == end));
}

// --- the peer's own tests -----------------------------------------------------------------------------------------

/// oneDAL `array_serialization.cpp`: empty array; 1, 10 and 1000 values of int32, float and double.
#[test]
fn peer_arrays_of_several_lengths_come_back_equal_and_mutable() {
    fn check<T: Element>() {
        for count in [0, 1, 10, 1000] {
            // Integers as a source of floats would not be the peer's values; bits that are NaN would not be equal.
            let values: Vec<T> = Random::new(count as u64).values(count);
            let values: Vec<T> = values.into_iter().filter(|&value| !is_nan(value)).collect();
            let array = Array::from(values);
            let mut found = through_bincode(&array);
            assert_eq!(found, array);
            let address = found.as_ptr();
            assert_eq!(found.mutable_data().unwrap().as_ptr(), address);
        }
    }
    check::<i32>();
    check::<f32>();
    check::<f64>();
}

/// oneDAL `array_serialization.cpp`: a float or double archive read as int32. Bare arrays carry a type in JSON only, so
/// that this is about tables.
#[test]
fn peer_a_float_archive_is_not_read_as_int32() {
    let single = Table::from_rows(&[[1.5_f32]]).unwrap().to_bytes().unwrap();
    let double = Table::from_rows(&[[1.5_f64]]).unwrap().to_bytes().unwrap();
    assert!(matches!(Table::<i32>::from_bytes(&single), Err(Error::ElementTypeMismatch { .. })));
    assert!(matches!(Table::<i32>::from_bytes(&double), Err(Error::ElementTypeMismatch { .. })));
}

/// oneDAL `homogen_serialization.cpp`: empty table; 1/10/1000 x 1/10/100 of float, double and int32, with the typed and
/// the base class on either side.
#[test]
fn peer_homogeneous_tables_come_back_whether_their_type_is_known_or_not() {
    fn check<T: Element>() {
        for (rows, columns) in [(0, 0), (1, 1), (10, 10), (1000, 100), (1, 100), (1000, 1)] {
            let values: Vec<T> = Random::new(7).values(rows * columns);
            let typed = Table::from_array(values.clone(), Shape { rows, columns }).unwrap();
            let base: &dyn NumericTable = &typed;
            for bytes in [typed.to_bytes().unwrap(), base.to_bytes().unwrap()] {
                let found = Table::<T>::from_bytes(&bytes).unwrap();
                assert_eq!(found.shape(), Shape { rows, columns });
                assert!(
                    found.as_slice().unwrap().iter().zip(&values).all(|(&found, &value)| bits(found) == bits(value))
                );
                let found = from_bytes_any(&bytes).unwrap();
                let found = found.rows::<T>(0..rows).unwrap();
                assert_eq!(found.len(), values.len());
                assert!(found.iter().zip(&values).all(|(&found, &value)| bits(found) == bits(value)));
            }
        }
    }
    check::<f32>();
    check::<f64>();
    check::<i32>();
}

/// oneDAL `common_serialization.cpp`: empty metadata; five columns of mixed data types and feature types.
#[test]
fn peer_metadata_comes_back_exactly() {
    let mixed = DataDictionary::from_features([
        Feature::new(ElementType::F32).ordinal(),
        Feature::new(ElementType::F64).categorical(4),
        Feature::new(ElementType::I32),
        Feature::new(ElementType::I64).ordinal(),
        Feature::new(ElementType::F32).named("ratio"),
    ]);
    for dictionary in [DataDictionary::from_features([]), mixed] {
        for through in formats::<DataDictionary>() {
            assert_eq!(through(&dictionary), dictionary);
        }
    }
}

/// oneDAL `archives.cpp`: an array of 100 values; an archive that is cut in half.
#[test]
fn peer_half_an_archive_is_an_error() {
    let array = Array::from((0..100).collect::<Vec<i32>>());
    assert_eq!(through_bincode_reader(&array), array);
    let bytes = Table::from_array(array, Shape { rows: 10, columns: 10 }).unwrap().to_bytes().unwrap();
    assert!(matches!(Table::<i32>::from_bytes(&bytes[..bytes.len() / 2]), Err(Error::Format { .. })));
}

/// DAAL `examples/.../serialization.cpp`: text to table to bytes to fresh table, which prints the same.
#[test]
fn peer_a_table_from_text_prints_the_same_after_it_was_in_an_archive() {
    fn print(table: &dyn NumericTable) -> String {
        let mut text = String::new();
        for block in table.row_blocks::<f64>(2).unwrap() {
            for row in block.unwrap().iter_rows() {
                text += &format!("{row:?}\n");
            }
        }
        text
    }
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_reader("5.1,-3.5,0\n1e-3,4,7.25\n8,9,1e300\n".as_bytes());
    let rows: Vec<[f64; 3]> = reader.deserialize().collect::<Result<_, _>>().unwrap();
    let table = Table::from_rows(&rows).unwrap();
    let fresh = Table::<f64>::from_bytes(&table.to_bytes().unwrap()).unwrap();
    assert_eq!(print(&fresh), "[5.1, -3.5, 0.0]\n[0.001, 4.0, 7.25]\n[8.0, 9.0, 1e300]\n");
}

// --- a binary serde format that only notes how it is called ---------------------------------------------------------

#[derive(Debug, Default)]
struct Calls {
    bytes: Vec<Vec<u8>>,
    scalars: usize,
}

macro_rules! count_scalars {
    ($($method:ident: $value:ty;)*) => {
        $(fn $method(self, _: $value) -> Result<(), fmt::Error> {
            self.scalars += 1;
            Ok(())
        })*
    };
}

type Never = Impossible<(), fmt::Error>;

/// Structs, scalars and bytes; whatever a bulk format should not be asked for is an error.
impl Serializer for &mut Calls {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Self;
    type SerializeStructVariant = Never;

    count_scalars! {
        serialize_bool: bool; serialize_char: char; serialize_str: &str;
        serialize_i8: i8; serialize_i16: i16; serialize_i32: i32; serialize_i64: i64;
        serialize_u8: u8; serialize_u16: u16; serialize_u32: u32; serialize_u64: u64;
        serialize_f32: f32; serialize_f64: f64; serialize_unit_struct: &'static str;
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), fmt::Error> {
        self.bytes.push(bytes.to_vec());
        Ok(())
    }

    fn serialize_none(self) -> Result<(), fmt::Error> {
        self.serialize_bool(false)
    }

    fn serialize_some<V: Serialize + ?Sized>(self, value: &V) -> Result<(), fmt::Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), fmt::Error> {
        self.serialize_bool(false)
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), fmt::Error> {
        self.serialize_u32(index)
    }

    fn serialize_newtype_struct<V: Serialize + ?Sized>(self, _: &'static str, value: &V) -> Result<(), fmt::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<V: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &V,
    ) -> Result<(), fmt::Error> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_tuple(self, _: usize) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Never, fmt::Error> {
        Err(fmt::Error)
    }
}

impl SerializeStruct for &mut Calls {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_field<V: Serialize + ?Sized>(&mut self, _: &'static str, value: &V) -> Result<(), fmt::Error> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), fmt::Error> {
        Ok(())
    }
}
