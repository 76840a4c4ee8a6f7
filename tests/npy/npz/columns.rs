//! Tables of named columns as arrays of one dimension.

use numeric_table::prelude::*;
use numeric_table::{
    AnyArray, SoaNumericTable,
    npz::{self, NpzOptions, NpzReader, NpzWriter},
};
use test_support::bits::special_values;
use test_support::for_each_element;
use test_support::tables::{assert_error, shape};

use super::{by_hand, npy, options, read, zip};
use crate::{Table, bytes_of, has_no_bf16};

#[test]
fn columns_of_every_type_come_back_with_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("columns.npz");
    let (mut table, rows) = (SoaNumericTable::new(), 9);
    for_each_element!(T => if has_no_bf16::<T>() {
        table.push_column(format!("größe/{}", T::TYPE), special_values::<T>()[..rows].to_vec()).unwrap();
    });
    npz::save_columns(&path, &table).unwrap();
    let found = npz::load_columns(&path).unwrap();
    assert_eq!((found.shape(), found.dictionary()), (shape(rows, 11), table.dictionary()));
    for_each_element!(T => for column in 0..11 {
        if table.column_type(column).unwrap() == T::TYPE {
            let [found, expected] = [&found, &table].map(|table| bytes_of(table.column_slice::<T>(column).unwrap()));
            assert_eq!(found, expected);
        }
    });
}

#[test]
fn columns_without_names_are_numbered_and_row_major_ones_are_gathered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("columns.npz");
    let mut table = Table::from_rows(&[[1_i16, 2, 3], [4, 5, 6]]).unwrap();
    let feature = || Feature::new(ElementType::I16);
    table.set_dictionary([feature(), feature().named("b"), feature().named("")].into_iter().collect()).unwrap();
    npz::save_columns(&path, &table).unwrap();
    let found = npz::load_columns(&path).unwrap();
    assert!(found.dictionary().names().eq([Some("f0"), Some("b"), Some("f2")]));
    assert_eq!(found.rows::<i16>(..).unwrap()[..], [1, 2, 3, 4, 5, 6]);
    npz::save_columns(&path, &SoaNumericTable::new()).unwrap();
    assert_eq!(npz::load_columns(&path).unwrap().shape(), shape(0, 0));
}

#[test]
fn some_columns_are_loaded_in_the_order_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("columns.npz");
    let columns = ["a", "b", "c"].map(|name| (name, vec![name.as_bytes()[0]; 4]));
    let mut writer = NpzWriter::create_with(&path, options()).unwrap();
    writer.add_columns(&SoaNumericTable::from_columns(columns).unwrap()).unwrap();
    writer.add("matrix", &Table::from_rows(&[[1_u8, 2]]).unwrap()).unwrap();
    writer.add("one column", &Table::from_rows(&[[1_u8], [2], [3], [4]]).unwrap()).unwrap();
    writer.finish().unwrap();
    let mut file = NpzReader::open(&path).unwrap();
    let table = file.load_columns(["c", "one column", "a"]).unwrap();
    assert!(table.dictionary().names().eq([Some("c"), Some("one column"), Some("a")]));
    assert_eq!(table.rows::<u8>(3..).unwrap()[..], [b'c', 4, b'a']);
    assert_error!(file.load_columns(["a", "B C"]), ErrorKind::UnknownName { what: "array", .. });
    let error = file.load_all_columns().unwrap_err().to_string();
    assert!(error.contains("in \"matrix.npy\": an array of 2 columns is not one column"), "{error}");
    assert_eq!(file.load_columns::<&str>([]).unwrap().shape(), shape(0, 0));
}

#[test]
fn columns_of_unequal_lengths_are_refused_before_values_are_read() {
    let members = [("a", "(2,)", 2), ("b", "(3,)", 3)];
    let members = members.map(|(name, shape, count)| {
        let mut member = by_hand(&format!("{name}.npy"), npy("|u1", shape, &vec![7; count]), 0);
        if name == "b" {
            member.flags = 0;
        }
        member
    });
    let error = read(zip(&members)).unwrap().load_all_columns().unwrap_err().to_string();
    assert!(error.ends_with("in \"b.npy\": it has 3 values, but the array \"a\" has 2"), "{error}");
}

#[test]
fn columns_together_are_not_larger_than_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("columns.npz");
    let columns = [("a", AnyArray::from(vec![0_u8; 1000])), ("b", AnyArray::from(vec![0_u8; 1000]))];
    npz::save_columns(&path, &SoaNumericTable::from_columns(columns).unwrap()).unwrap();
    let limited = |bytes| NpzReader::open_with(&path, NpzOptions::new().max_bytes(bytes)).unwrap();
    assert!(limited(2256).load_all_columns().is_ok());
    let error = limited(2255).load_all_columns().unwrap_err().to_string();
    assert!(error.contains("in \"b.npy\": 1128 bytes are more than are allowed"), "{error}");
    assert!(limited(1128).load::<u8>("b").is_ok() && limited(1127).load_any("b").is_err());
}
