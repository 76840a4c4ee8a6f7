//! Saving tables into memory and getting them back: archives, and serde with bincode and JSON.
//!
//! Whatever a table shows comes back: values, shape, layout and dictionary; binary formats keep every bit, JSON keeps
//! every number and NaN as NaN. What cannot be meant is refused. Damaged archives are in `tests/memory_limits`.
//! What is asked for is what DAAL asks of `serialize` and `deserialize`.

mod archives;
mod binary;
mod buffered;
mod dictionaries;
mod json;
mod onedal;
mod round_trips;

use numeric_table::prelude::*;
use serde::de::DeserializeOwned;
use serde::ser::Serialize;
use test_support::bits::{Random, bits, special_values};
use test_support::tables::LAYOUTS;

type Table<T> = HomogenNumericTable<T>;

/// Rows of five columns, as many as there are values for.
fn five_columns<T: Element>(mut values: Vec<T>, layout: DataLayout) -> Table<T> {
    let rows = values.len() / 5;
    values.truncate(rows * 5);
    Table::from_array_with_layout(values, Shape { rows, columns: 5 }, layout).unwrap()
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
