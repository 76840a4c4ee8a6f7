//! Files that NumPy has made, and the same bytes written here.

use std::fs;
use std::path::{Path, PathBuf};

use numeric_table::prelude::*;
use numeric_table::{interop::CopyPolicy, npy};
use test_support::bits::{from_bits, is_same};
use test_support::tables::{LAYOUTS, assert_error, numbered, shape, values_of};
use test_support::{SmallNumber, for_each_element};

use super::{Table, bytes_of, has_no_bf16, numpy_name, write};

pub(super) fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/golden/npy/{name}.npy"))
}

/// The six values of every golden file, row by row.
fn golden_values<T: Element>() -> Vec<T> {
    let top = 1_u64 << (8 * size_of::<T>() - 1);
    [0, 1, top - 1, top, top + 1, (top - 1) + top].map(from_bits).to_vec()
}

#[test]
fn golden_files_of_every_type_order_and_byte_order_are_read() {
    fn check<T: SmallNumber>() {
        if !has_no_bf16::<T>() {
            return;
        }
        let name = numpy_name::<T>();
        let mut files = vec![(format!("{name}_c_v1"), LAYOUTS[0]), (format!("{name}_f_v1"), LAYOUTS[1])];
        if size_of::<T>() > 1 {
            files.push((format!("{name}_c_v1_big_endian"), LAYOUTS[0]));
        }
        if name == "i2" {
            files.extend(
                [("i2_c_v2", 0), ("i2_f_v2", 1), ("i2_c_v3", 0), ("i2_f_v3", 1)].map(|(f, l)| (f.into(), LAYOUTS[l])),
            );
        }
        if name == "f8" {
            files.push(("f8_f_v1_big_endian".to_owned(), LAYOUTS[1]));
        }
        for (name, layout) in files {
            let path = golden_path(&name);
            let bytes = fs::read(&path).unwrap();
            let tables = [
                Table::<T>::load_npy(&path).unwrap(),
                Table::<T>::load_npy_cast(&path).unwrap(),
                Table::<T>::read_npy(&bytes[..]).unwrap(),
                Table::<T>::from_npy(bytes.clone(), CopyPolicy::IfNeeded).unwrap(),
            ];
            for table in tables {
                assert_eq!((table.shape(), table.data_layout()), (shape(3, 2), layout), "{name}");
                assert_eq!(bytes_of(&values_of(&table)), bytes_of(&golden_values::<T>()), "{name}");
            }
            for any in [npy::load(&path).unwrap(), npy::read(&bytes[..]).unwrap()] {
                assert_eq!((any.uniform_type(), any.data_layout()), (Some(T::TYPE), layout));
            }
            let converted = Table::<f64>::load_npy_cast(&path).unwrap();
            let expected = Table::from_array(golden_values::<T>(), shape(3, 2)).unwrap();
            let expected = expected.convert::<f64>().unwrap();
            let pairs = values_of(&converted).into_iter().zip(expected.as_slice().unwrap().to_vec());
            pairs.for_each(|(found, expected)| assert!(is_same(found, expected), "{name}: {found} is not {expected}"));
        }
    }
    for_each_element!(check);
}

#[test]
fn one_dimension_is_a_column_and_tables_may_be_empty() {
    let column = Table::<f32>::load_npy(golden_path("f4_one_dimension")).unwrap();
    assert_eq!(column.shape(), shape(3, 1));
    let expected: Vec<f32> = golden_values().into_iter().step_by(2).collect();
    assert_eq!(bytes_of(column.as_slice().unwrap()), bytes_of(&expected));
    for (name, expected) in [("f4_no_rows", shape(0, 2)), ("f4_no_columns", shape(3, 0))] {
        let path = golden_path(name);
        assert_eq!(Table::<f32>::load_npy(&path).unwrap().shape(), expected);
        assert_eq!(Table::<f32>::read_npy(&fs::read(&path).unwrap()[..]).unwrap().shape(), expected);
        for order in [b"'<f4'", b"'>f4'"] {
            let mut bytes = fs::read(&path).unwrap();
            let place = bytes.windows(order.len()).position(|bytes| bytes == b"'<f4'").unwrap();
            bytes[place..][..order.len()].copy_from_slice(order);
            assert_eq!(Table::<f32>::from_npy(bytes, CopyPolicy::Never).unwrap().shape(), expected);
        }
    }
}

#[test]
fn what_tables_do_not_hold_is_refused_with_a_reason() {
    let files = [
        ("refused_bool", "'|b1' is not supported by tables: truth values; in Python: a.astype('u1')"),
        ("refused_complex", "'<c8' is not supported by tables: complex numbers"),
        ("refused_text", "'<U1' is not supported by tables: text"),
        ("refused_dates", "'<M8[s]' is not supported by tables: dates or durations"),
        ("refused_no_dimension", "0 dimensions is one number, not a table; in Python: a.reshape(1, 1)"),
        ("refused_three_dimensions", "an array of 3 dimensions is not a table"),
        ("refused_objects", "'|O' is not supported by tables: Python objects, which are never loaded"),
    ];
    for (name, words) in files {
        let path = golden_path(name);
        let bytes = fs::read(&path).unwrap();
        let errors = [
            npy::load(&path).map(drop),
            Table::<f32>::load_npy(&path).map(drop),
            Table::<f32>::load_npy_cast(&path).map(drop),
            npy::read(&bytes[..]).map(drop),
            Table::<f32>::from_npy(bytes.clone(), CopyPolicy::IfNeeded).map(drop),
        ];
        for error in errors {
            assert_error!(error, ErrorKind::Format { offset: 10..200, reason, .. } if reason.contains(words));
        }
    }
}

#[test]
fn an_error_about_a_file_begins_with_its_path_and_one_about_its_type_names_the_call_that_converts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    numbered::<f32>(2, 2, DataLayout::RowMajor).save_npy(&path).unwrap();
    let expected = format!("{}: the element type is f32, not f64: `load_npy_cast` converts", path.display());
    assert_eq!(Table::<f64>::load_npy(&path).unwrap_err().to_string(), expected);
    assert_eq!(Table::<f64>::load_npy_cast(&path).unwrap().as_slice().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    let bytes = fs::read(&path).unwrap();
    let in_memory = "the element type is f32, not f64";
    assert_eq!(Table::<f64>::read_npy(&bytes[..]).unwrap_err().to_string(), in_memory);
    assert_eq!(Table::<f64>::from_npy(bytes, CopyPolicy::IfNeeded).unwrap_err().to_string(), in_memory);

    fs::write(&path, "1,2\n").unwrap();
    let expected = format!("{}: bad format at byte 0: this is not a .npy file", path.display());
    assert_eq!(Table::<f64>::load_npy(&path).unwrap_err().to_string(), expected);
    assert_eq!(Table::<f64>::load_npy_cast(&path).unwrap_err().to_string(), expected);
    assert_eq!(npy::load(&path).unwrap_err().to_string(), expected);
    #[cfg(feature = "mmap")]
    {
        // SAFETY: nobody else knows the file.
        let mapped = unsafe { Table::<f64>::map_npy(&path) };
        assert_eq!(mapped.unwrap_err().to_string(), expected);
    }
    let words = "bad format at byte 0: this is not a .npy file";
    assert_eq!(npy::read(&b"1,2,3,4,\n"[..]).unwrap_err().to_string(), words);
}

#[test]
fn what_is_written_is_what_numpy_writes_byte_for_byte() {
    fn check<T: SmallNumber>() {
        if !has_no_bf16::<T>() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.npy");
        let table = Table::from_array(golden_values::<T>(), shape(3, 2)).unwrap();
        for (layout, letter) in LAYOUTS.into_iter().zip(["c", "f"]) {
            let table = table.to_layout(layout).unwrap();
            let expected = fs::read(golden_path(&format!("{}_{letter}_v1", numpy_name::<T>()))).unwrap();
            assert_eq!(write(&table), expected);
            let any: &dyn NumericTable = &table;
            table.save_npy(&path).unwrap();
            assert_eq!(fs::read(&path).unwrap(), expected);
            any.save_npy(&path).unwrap();
            assert_eq!(fs::read(&path).unwrap(), expected);
            let mut bytes = Vec::new();
            any.write_npy(&mut bytes).unwrap();
            assert_eq!(bytes, expected);
        }
        let golden = fs::read(golden_path("f4_no_rows")).unwrap();
        assert_eq!(write(&Table::<f32>::full(shape(0, 2), 0.0).unwrap()), golden);
    }
    for_each_element!(check);
}

#[test]
fn what_is_in_both_orders_is_in_c_order_as_numpy_has_it() {
    let header = |order: &str, shape: &str| {
        let text = format!("{{'descr': '|u1', 'fortran_order': {order}, 'shape': {shape}, }}");
        format!("{text:<117}\n")
    };
    for layout in LAYOUTS {
        let table = |rows: usize, columns: usize| numbered::<u8>(rows, columns, layout);
        let in_layout = if layout == DataLayout::RowMajor { "False" } else { "True" };
        let cases = [
            (table(1, 3), "False", "(1, 3)", vec![1, 2, 3]),
            (table(3, 1), "False", "(3, 1)", vec![1, 2, 3]),
            (table(1, 1), "False", "(1, 1)", vec![1]),
            (table(0, 3), "False", "(0, 3)", vec![]),
            (table(3, 0), "False", "(3, 0)", vec![]),
            (table(0, 0), "False", "(0, 0)", vec![]),
            (table(3, 2).slice_rows(1..2).unwrap(), "False", "(1, 2)", vec![3, 4]),
            (
                table(2, 2),
                in_layout,
                "(2, 2)",
                if layout == DataLayout::RowMajor { vec![1, 2, 3, 4] } else { vec![1, 3, 2, 4] },
            ),
        ];
        for (table, order, shape, values) in cases {
            let expected = [b"\x93NUMPY\x01\0\x76\0", header(order, shape).as_bytes(), &values].concat();
            assert_eq!(write(&table), expected, "{layout} {shape}");
        }
    }
}
