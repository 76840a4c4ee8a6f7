//! Files that NumPy has written.

use numeric_table::prelude::*;
use numeric_table::{
    AosNumericTable,
    npz::{self, NpzReader},
};
use test_support::for_each_element;
use test_support::tables::shape;

use super::{golden, names};
use crate::{Table, has_no_bf16, numpy_name};

const NUMBERS: [&str; 11] = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"];

#[test]
fn arrays_of_every_type_order_and_layout_are_loaded_from_stored_and_compressed_files() {
    for name in ["stored", "compressed"] {
        let mut file = NpzReader::open(golden(name)).unwrap();
        let in_order = |ending: &'static str| NUMBERS.map(|number| format!("{number}_{ending}"));
        let mut expected = [in_order("c"), in_order("f"), in_order("big")].concat();
        expected.retain(|name| !name.ends_with("1_big"));
        assert_eq!(names(&file), expected);
        for_each_element!(T => if has_no_bf16::<T>() {
            for ending in ["c", "f", "big"] {
                let array = format!("{}_{ending}", numpy_name::<T>());
                if size_of::<T>() == 1 && ending == "big" {
                    continue;
                }
                let table = file.load::<T>(&array).unwrap();
                let layout = if ending == "f" { DataLayout::ColumnMajor } else { DataLayout::RowMajor };
                let described = file.describe(&array).unwrap();
                assert_eq!((described.shape, described.layout, described.name), (shape(3, 2), layout, array.clone()));
                assert_eq!(described.dictionary, *table.dictionary());
                assert!(!described.is_structured && described.size >= 128 + 6 * size_of::<T>() as u64);
                assert_eq!(described.size == described.compressed_size, name == "stored");
                assert_eq!((table.shape(), table.data_layout()), (shape(3, 2), layout));
                assert_eq!(table.rows::<f64>(..).unwrap()[..], [1.0, 2.0, 3.0, 4.0, 5.0, 100.0]);
                let any = file.load_any(&array).unwrap();
                assert_eq!(any.downcast_ref::<Table<T>>().unwrap(), &table);
                assert_eq!(file.load_cast::<i16>(&array).unwrap().rows::<i16>(2..3).unwrap()[..], [5, 100]);
            }
        });
    }
}

#[test]
fn arrays_without_names_and_files_without_arrays_are_read() {
    let mut file = NpzReader::open(golden("unnamed")).unwrap();
    assert_eq!(names(&file), ["arr_0", "arr_1"]);
    assert_eq!(file.load::<f32>("arr_0").unwrap().shape(), shape(3, 2));
    assert_eq!(file.load::<u8>("arr_1").unwrap().as_slice().unwrap(), [1, 3, 5]);
    let nothing = NpzReader::open(golden("nothing")).unwrap();
    assert!(nothing.is_empty() && names(&nothing).is_empty());
    let mut empty = NpzReader::open(golden("empty")).unwrap();
    assert_eq!(empty.load_any("rows").unwrap().shape(), shape(0, 3));
    assert_eq!(empty.load_any("columns").unwrap().shape(), shape(3, 0));
    assert_eq!(empty.load_any("none").unwrap().shape(), shape(0, 1));
}

#[test]
fn arrays_of_structures_are_tables_of_records() {
    let mut file = NpzReader::open(golden("records")).unwrap();
    let described = file.describe("packed").unwrap();
    assert!(described.is_structured && described.shape == shape(2, 4));
    assert!(described.dictionary.names().eq([Some("x"), Some("kind"), Some("v[0]"), Some("v[1]")]));
    let table = file.load_any("packed").unwrap();
    assert!(table.downcast_ref::<AosNumericTable>().is_some());
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [0.5, 1.0, 7.0, 8.0, 2.5, 2.0, -7.0, -8.0]);
    let aligned = file.load_any("aligned").unwrap();
    assert_eq!(aligned.column::<f64>(2, ..).unwrap()[..], [100.125, 200.25]);
    let error = file.load::<f32>("aligned").unwrap_err().to_string();
    assert!(error.contains("in \"aligned.npy\": a structured array has values of several types"), "{error}");
}

#[test]
fn a_file_of_columns_is_a_table_with_their_names() {
    let table = npz::load_columns(golden("columns")).unwrap();
    assert!(table.dictionary().names().eq([Some("größe"), Some("a/b"), Some("長さ")]));
    assert_eq!(table.column_slice::<f32>(0).unwrap(), [1.5, 2.5, 3.5]);
    assert_eq!(table.column_slice::<i64>(1).unwrap(), [1, 2, 3]);
    assert_eq!(table.column_slice::<u8>(2).unwrap(), [0, 1, 2]);
}

#[test]
fn a_file_that_numpy_has_written_to_a_pipe_is_read() {
    let mut file = NpzReader::open(golden("piped")).unwrap();
    assert_eq!(file.load::<f64>("x").unwrap().rows::<f64>(2..3).unwrap()[..], [5.0, 100.0]);
    assert_eq!(file.load::<i32>("y").unwrap().rows::<i32>(..1).unwrap()[..], [1, 2]);
}

#[test]
fn an_array_that_is_no_table_is_refused_by_its_name_and_the_others_are_loaded() {
    let mut file = NpzReader::open(golden("mixed")).unwrap();
    for (name, reason) in [
        ("truth", "truth values"),
        ("text", "text"),
        ("one", "an array of 0 dimensions"),
        ("cube", "an array of 3 dimensions"),
        ("objects", "never loaded"),
    ] {
        for error in [file.load_any(name).unwrap_err(), file.describe(name).map(drop).unwrap_err()] {
            let message = error.to_string();
            assert!(message.contains(&format!("in \"{name}.npy\": ")) && message.contains(reason), "{message}");
            assert!(matches!(error.kind(), ErrorKind::Format { .. }) && error.path() == Some(&*golden("mixed")));
        }
    }
    assert_eq!(file.load::<f32>("x").unwrap().shape(), shape(3, 2));
}
