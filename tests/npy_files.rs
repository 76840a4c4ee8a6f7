//! NumPy's files: golden ones are read, what is written is what NumPy writes, and nothing is copied that need not be.
//!
//! The golden files in `data/golden/npy` were made by NumPy, with the script that lies there.

#![cfg(feature = "npy")]

mod common;
#[path = "common/python.rs"]
mod python;

use std::fs;
use std::path::{Path, PathBuf};

use common::bits::{Random, from_bits, is_same, special_values};
use common::tables::{LAYOUTS, assert_error, numbered, shape, values_of};
use common::{SmallNumber, for_each_element};
use numeric_table::{CopyPolicy, CopyReason, SaveOptions, load_npy_any, prelude::*, read_npy_any};

type Table<T> = HomogenNumericTable<T>;

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/golden/npy/{name}.npy"))
}

/// What NumPy calls the type.
fn numpy_name<T: Element>() -> String {
    let kind = if T::TYPE.is_float() {
        "f"
    } else if T::TYPE.is_signed() {
        "i"
    } else {
        "u"
    };
    format!("{kind}{}", size_of::<T>())
}

/// The six values of every golden file, row by row.
fn golden_values<T: Element>() -> Vec<T> {
    let top = 1_u64 << (8 * size_of::<T>() - 1);
    [0, 1, top - 1, top, top + 1, (top - 1) + top].map(from_bits).to_vec()
}

fn bytes_of<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn has_no_bf16<T: Element>() -> bool {
    T::TYPE != ElementType::Bf16
}

fn write<T: Element>(table: &Table<T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write_npy(&mut bytes).unwrap();
    bytes
}

/// The bytes of a file of one row, with a header that says so.
fn by_hand(descr: &str, fortran: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let header = format!("{text:<117}\n");
    [b"\x93NUMPY\x01\0\x76\0", header.as_bytes(), values].concat()
}

// --- golden files -------------------------------------------------------------------------------------------------

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
                Table::<T>::load_npy_as(&path).unwrap(),
                Table::<T>::read_npy(&bytes[..]).unwrap(),
                Table::<T>::from_npy(bytes.clone(), CopyPolicy::IfNeeded).unwrap(),
            ];
            for table in tables {
                assert_eq!((table.shape(), table.data_layout()), (shape(3, 2), layout), "{name}");
                assert_eq!(bytes_of(&values_of(&table)), bytes_of(&golden_values::<T>()), "{name}");
            }
            for any in [load_npy_any(&path).unwrap(), read_npy_any(&bytes[..]).unwrap()] {
                assert_eq!((any.uniform_type(), any.data_layout()), (Some(T::TYPE), layout));
            }
            let converted = Table::<f64>::load_npy_as(&path).unwrap();
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
        assert_eq!(Table::<f32>::from_npy(fs::read(&path).unwrap(), CopyPolicy::Never).unwrap().shape(), expected);
    }
}

#[test]
fn what_tables_do_not_hold_is_refused_with_a_reason() {
    let files = [
        ("refused_bool", "'|b1' is not one of a table: truth values; in Python: a.astype('u1')"),
        ("refused_complex", "'<c8' is not one of a table: complex numbers"),
        ("refused_text", "'<U1' is not one of a table: text"),
        ("refused_structure", "a structured array has values of several types"),
        ("refused_dates", "'<M8[s]' is not one of a table: dates or durations"),
        ("refused_no_dimension", "0 dimensions is one number, not a table; in Python: a.reshape(1, 1)"),
        ("refused_three_dimensions", "an array of 3 dimensions is no table"),
        ("refused_objects", "'|O' is not one of a table: Python objects, which would run code"),
    ];
    for (name, words) in files {
        let path = golden_path(name);
        let bytes = fs::read(&path).unwrap();
        let errors = [
            load_npy_any(&path).map(drop),
            Table::<f32>::load_npy(&path).map(drop),
            Table::<f32>::load_npy_as(&path).map(drop),
            read_npy_any(&bytes[..]).map(drop),
            Table::<f32>::from_npy(bytes.clone(), CopyPolicy::IfNeeded).map(drop),
        ];
        for error in errors {
            assert_error!(error, Error::Format { offset: 10..200, reason, .. } if reason.contains(words));
        }
    }
}

#[test]
fn an_error_about_a_file_begins_with_its_path_and_one_about_its_type_names_the_call_that_converts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    numbered::<f32>(2, 2, DataLayout::RowMajor).save_npy(&path).unwrap();
    let expected = format!("{}: the element type is f32, not f64; `load_npy_as` converts", path.display());
    assert_eq!(Table::<f64>::load_npy(&path).unwrap_err().to_string(), expected);
    assert_eq!(Table::<f64>::load_npy_as(&path).unwrap().as_slice().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    let bytes = fs::read(&path).unwrap();
    let in_memory = "the element type is f32, not f64";
    assert_eq!(Table::<f64>::read_npy(&bytes[..]).unwrap_err().to_string(), in_memory);
    assert_eq!(Table::<f64>::from_npy(bytes, CopyPolicy::IfNeeded).unwrap_err().to_string(), in_memory);

    fs::write(&path, "1,2\n").unwrap();
    let expected = format!("{}: bad format at byte 0: this is not a .npy file", path.display());
    assert_eq!(Table::<f64>::load_npy(&path).unwrap_err().to_string(), expected);
    assert_eq!(Table::<f64>::load_npy_as(&path).unwrap_err().to_string(), expected);
    assert_eq!(load_npy_any(&path).unwrap_err().to_string(), expected);
    #[cfg(feature = "mmap")]
    {
        // SAFETY: nobody else knows the file.
        let mapped = unsafe { Table::<f64>::map_npy(&path) };
        assert_eq!(mapped.unwrap_err().to_string(), expected);
    }
    let words = "bad format at byte 0: this is not a .npy file";
    assert_eq!(read_npy_any(&b"1,2,3,4,\n"[..]).unwrap_err().to_string(), words);
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

/// What is in both orders is read as row-major.
fn layout_in_file<T: Element>(table: &Table<T>) -> DataLayout {
    let is_in_both_orders = table.row_count() < 2 || table.column_count() < 2;
    if is_in_both_orders { DataLayout::RowMajor } else { table.data_layout() }
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

// --- round trips --------------------------------------------------------------------------------------------------

#[test]
fn every_value_layout_slice_and_empty_table_comes_back_bit_for_bit() {
    fn check<T: SmallNumber>() {
        if !has_no_bf16::<T>() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.npy");
        let values = special_values::<T>();
        let whole = Table::from_array(values.clone(), shape(values.len(), 1)).unwrap();
        let mut tables = vec![whole];
        for layout in LAYOUTS {
            let counted = numbered::<T>(7, 5, layout);
            tables.extend([0..7, 2..5, 6..7, 3..3].map(|rows| counted.slice_rows(rows).unwrap()));
            tables.push(Table::full_in(shape(4, 0), T::small(1), layout).unwrap());
            tables.push(counted);
        }
        for table in tables {
            table.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
            let bytes = write(&table);
            assert_eq!(fs::read(&path).unwrap(), bytes);
            let copies = [
                Table::<T>::load_npy(&path).unwrap(),
                Table::<T>::read_npy(&bytes[..]).unwrap(),
                Table::<T>::from_npy(bytes.clone(), CopyPolicy::Always).unwrap(),
                Table::<T>::from_npy(bytes, CopyPolicy::IfNeeded).unwrap(),
            ];
            for copy in copies {
                assert_eq!((copy.shape(), copy.data_layout()), (table.shape(), layout_in_file(&table)));
                assert_eq!(bytes_of(&values_of(&copy)), bytes_of(&values_of(&table)));
            }
        }
    }
    for_each_element!(check);
}

/// Long enough for several threads, pieces and parts of a stream.
#[test]
fn large_tables_come_back_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    let values = Random::new(1).values::<u16>(3_000_001 * 3);
    for layout in LAYOUTS {
        let table = Table::from_array_in(values.clone(), shape(3_000_001, 3), layout).unwrap();
        let table = table.slice_rows(1..3_000_000).unwrap();
        table.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        assert_eq!(write(&table), bytes);
        let expected = values_of(&table);
        assert_eq!(values_of(&Table::<u16>::load_npy(&path).unwrap()), expected);
        assert_eq!(values_of(&Table::<u16>::read_npy(&bytes[..]).unwrap()), expected);
        let wide = Table::<f64>::load_npy_as(&path).unwrap();
        assert!(values_of(&wide).iter().zip(&expected).all(|(&wide, &narrow)| wide == f64::from(narrow)));
        // The same, big-endian.
        let at = bytes.iter().position(|&byte| byte == b'<').unwrap();
        bytes[at] = b'>';
        bytes[128..].chunks_exact_mut(2).for_each(<[u8]>::reverse);
        assert_eq!(values_of(&Table::<u16>::from_npy(bytes.clone(), CopyPolicy::IfNeeded).unwrap()), expected);
        assert_eq!(values_of(&Table::<u16>::read_npy(&bytes[..]).unwrap()), expected);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(values_of(&Table::<u16>::load_npy(&path).unwrap()), expected);
        assert_eq!(values_of(&Table::<f64>::load_npy_as(&path).unwrap()), values_of(&wide));
    }
}

#[test]
fn several_arrays_follow_each_other_in_a_stream_but_not_in_a_file() {
    let tables = [numbered::<i16>(2, 3, DataLayout::RowMajor), numbered::<i16>(4, 1, DataLayout::ColumnMajor)];
    let bytes = [write(&tables[0]), write(&tables[1])].concat();
    let mut stream = &bytes[..];
    for table in &tables {
        assert_eq!(&Table::<i16>::read_npy(&mut stream).unwrap(), table);
    }
    assert_error!(read_npy_any(&mut stream), Error::Format { offset: 0, reason, .. } if reason == "there is nothing");
    let words =
        "bytes behind the array: 136; 2 x 3 i16 values end at byte 140; arrays that were saved one after another";
    let refused = Table::<i16>::from_npy(bytes, CopyPolicy::Always);
    assert_error!(refused, Error::Format { offset: 140, reason, .. } if reason.starts_with(words));
}

#[test]
fn a_stream_that_gives_one_byte_at_a_time_or_is_interrupted_is_read() {
    struct Slow<'a>(&'a [u8], usize);
    impl std::io::Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(3) {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let count = buffer.len().min(1);
            self.0.read(&mut buffer[..count])
        }
    }
    let table = numbered::<f64>(5, 4, DataLayout::ColumnMajor);
    assert_eq!(Table::<f64>::read_npy(Slow(&write(&table), 0)).unwrap(), table);
}

#[test]
fn what_a_stream_fails_with_is_handed_on() {
    struct Failing(usize);
    impl std::io::Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let bytes = by_hand("<i2", "False", "(9, 1)", &[]);
            let Some(&byte) = bytes.get(self.0) else { return Err(std::io::Error::other("gone")) };
            (self.0, buffer[0]) = (self.0 + 1, byte);
            Ok(1)
        }
    }
    impl std::io::Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let count = bytes.len().min(self.0);
            self.0 -= count;
            if count == 0 { Err(std::io::Error::other("full")) } else { Ok(count) }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::Error::other("not flushed"))
        }
    }
    assert_error!(Table::<i16>::read_npy(Failing(0)), Error::Stream { source } if source.to_string() == "gone");
    let table = numbered::<i16>(3, 2, DataLayout::RowMajor);
    for (room, words) in [(0, "full"), (127, "full"), (139, "full"), (140, "not flushed")] {
        assert_error!(table.write_npy(Failing(room)), Error::Stream { source } if source.to_string() == words);
    }
}

#[test]
fn a_save_that_fails_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    let table = numbered::<i16>(3, 2, DataLayout::RowMajor);
    table.save_npy(&path).unwrap();
    let refused = numbered::<numeric_table::bf16>(3, 2, DataLayout::RowMajor);
    let words = "NumPy has no element type bf16: convert the table first";
    for error in
        [refused.save_npy(&path), (&refused as &dyn NumericTable).save_npy(&path), refused.write_npy(Vec::new())]
    {
        assert_eq!(error.unwrap_err().to_string(), words);
    }
    let empty = Table::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(empty.save_npy(&path), Error::NotAllocated);
    assert_error!(empty.write_npy(Vec::new()), Error::NotAllocated);
    let wrong = folder.path().join("missing/array.npy");
    assert_error!(table.save_npy(&wrong), Error::Io { path, .. } if path == wrong);
    assert_eq!(Table::<i16>::load_npy(&path).unwrap(), table);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_error!(Table::<i16>::load_npy(&wrong), Error::Io { path, .. } if path == wrong);
    assert_error!(Table::<i16>::load_npy(folder.path()), Error::Io { .. });
}

#[test]
fn the_hook_of_the_options_is_told_of_progress() {
    use std::sync::{Arc, Mutex};
    let folder = tempfile::tempdir().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let options = SaveOptions::new().durable(false).on_progress(move |progress| told.lock().unwrap().push(progress));
    numbered::<i16>(3, 2, DataLayout::RowMajor).save_npy_with(folder.path().join("array.npy"), options).unwrap();
    let seen: Vec<_> = seen.lock().unwrap().iter().map(|progress| (progress.done, progress.total)).collect();
    assert_eq!(seen, [(0, Some(12)), (12, Some(12))]);
}

// --- copies -------------------------------------------------------------------------------------------------------

/// Bytes of a file whose values lie at an address that is so many bytes off the best alignment.
fn placed(bytes: &[u8], off: usize) -> Array<u8> {
    let mut room = Array::<u8>::zeros(bytes.len() + 64).unwrap(); // aligned to 64 bytes
    let range = off..off + bytes.len();
    room.mutable_data().unwrap()[range.clone()].copy_from_slice(bytes);
    room.slice(range).unwrap()
}

#[test]
fn what_is_copied_is_what_the_policy_says() {
    fn check<T: SmallNumber>() {
        if !has_no_bf16::<T>() {
            return;
        }
        let (native, other) = if cfg!(target_endian = "little") { ("<", ">") } else { (">", "<") };
        let values = T::counting(6);
        let swapped: Vec<u8> =
            values.iter().flat_map(|value| bytes_of(&[*value]).iter().rev().copied().collect::<Vec<_>>()).collect();
        for fortran in ["False", "True"] {
            for off in 0..16 {
                for (order, bytes) in [(native, bytes_of(&values)), (other, &swapped)] {
                    let file = by_hand(&format!("{order}{}", numpy_name::<T>()), fortran, "(2, 3)", bytes);
                    let file = placed(&file, off);
                    let reason = match () {
                        () if order == other && size_of::<T>() > 1 => Some(CopyReason::ByteOrder),
                        () if off % size_of::<T>() != 0 => Some(CopyReason::Alignment),
                        () => None,
                    };
                    for policy in [CopyPolicy::Never, CopyPolicy::IfNeeded, CopyPolicy::Always] {
                        let table = match (Table::<T>::from_npy(file.clone(), policy), reason) {
                            (Err(Error::CopyRequired { reason: found }), Some(reason)) => {
                                assert_eq!((policy, found), (CopyPolicy::Never, reason));
                                continue;
                            }
                            (table, _) => table.unwrap(),
                        };
                        assert_eq!(table.as_slice().unwrap(), values);
                        let is_shared = table.array().unwrap().shares_memory_with(&file);
                        assert_eq!(is_shared, policy != CopyPolicy::Always && reason.is_none());
                        let in_file = table.as_slice().unwrap().as_ptr().addr() == file[128..].as_ptr().addr();
                        assert_eq!(in_file, is_shared);
                        let status = table.data_memory_status();
                        assert_eq!(is_shared, status == MemoryStatus::UserAllocated);
                    }
                }
            }
        }
    }
    for_each_element!(check);
}

#[cfg(feature = "mmap")]
#[test]
fn a_map_is_the_file_and_a_write_copies_it() {
    fn check<T: SmallNumber>() {
        if !has_no_bf16::<T>() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.npy");
        for layout in LAYOUTS {
            for rows in [0, 5] {
                let table = numbered::<T>(rows, 3, layout);
                table.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
                // SAFETY: nobody else knows the file, and it is only ever replaced.
                let mut mapped = unsafe { Table::<T>::map_npy_with(&path, CopyPolicy::Never) }.unwrap();
                assert_eq!((&mapped, mapped.data_layout()), (&table, layout_in_file(&table)));
                assert_eq!(mapped.data_memory_status(), MemoryStatus::UserAllocated);
                assert!(!mapped.array().unwrap().has_mutable_data());
                mapped.fill(T::small(9)).unwrap();
                assert_eq!(mapped.data_memory_status() == MemoryStatus::InternallyAllocated, rows > 0);
                mapped.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
                // SAFETY: as above.
                let loaded = unsafe { Table::<T>::map_npy_with(&path, CopyPolicy::Always) }.unwrap();
                assert_eq!((&loaded, loaded.data_memory_status()), (&mapped, MemoryStatus::InternallyAllocated));
            }
        }
    }
    for_each_element!(check);
}

#[cfg(feature = "mmap")]
#[test]
fn a_file_that_cannot_be_mapped_is_loaded_or_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    let other = if cfg!(target_endian = "little") { ">" } else { "<" };
    let swapped = by_hand(&format!("{other}i2"), "False", "(2, 1)", &[1, 2, 3, 4]);
    let text = format!("{:<60}\n", "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1)}");
    let unaligned = [b"\x93NUMPY\x01\0\x3d\0", text.as_bytes(), &[2, 1, 4, 3]].concat(); // values at byte 71
    for (bytes, reason) in [(swapped, CopyReason::ByteOrder), (unaligned, CopyReason::Alignment)] {
        let reason = if cfg!(target_endian = "big") { CopyReason::ByteOrder } else { reason };
        fs::write(&path, bytes).unwrap();
        // SAFETY: nobody else knows the file.
        let map = |policy| unsafe { Table::<i16>::map_npy_with(&path, policy) };
        assert_error!(map(CopyPolicy::Never), Error::CopyRequired { reason: found } if found == reason);
        // SAFETY: as above.
        for table in [map(CopyPolicy::IfNeeded), map(CopyPolicy::Always), unsafe { Table::map_npy(&path) }] {
            let table = table.unwrap();
            assert_eq!(
                (table.as_slice().unwrap(), table.data_memory_status()),
                (&[258, 772][..], MemoryStatus::InternallyAllocated)
            );
        }
        // SAFETY: as above.
        assert_error!(unsafe { Table::<u16>::map_npy(&path) }, Error::ElementTypeMismatch { .. });
    }
}

// --- Python -------------------------------------------------------------------------------------------------------

#[test]
fn numpy_loads_what_is_written_bit_for_bit() {
    const SCRIPT: &str = "
import sys, numpy as np
for path in sys.argv[1:]:
    a, m = np.load(path), np.load(path, mmap_mode='r')
    assert a.tobytes() == m.tobytes() and a.dtype == m.dtype and a.flags.aligned and m.flags.aligned
    print(a.dtype.str, a.flags.c_contiguous, a.flags.f_contiguous, *a.shape, 'x' + a.tobytes('C').hex())
";
    let folder = tempfile::tempdir().unwrap();
    let (mut paths, mut expected) = (Vec::new(), Vec::new());
    let mut save = |bytes: Vec<u8>, line: String| {
        let path = folder.path().join(format!("{}.npy", paths.len()));
        fs::write(&path, bytes).unwrap();
        paths.push(path.to_str().unwrap().to_owned());
        expected.push(line);
    };
    for_each_element!(T => {
        if has_no_bf16::<T>() {
            for layout in LAYOUTS {
                let values = special_values::<T>()[..9].to_vec();
                let table = Table::from_array_in(values, shape(3, 3), layout).unwrap();
                let order = if size_of::<T>() == 1 { "|" } else { "<" };
                let name = format!("{order}{}", numpy_name::<T>());
                let is_c = layout == DataLayout::RowMajor;
                for rows in [0..3, 1..3, 0..0] {
                    let slice = table.slice_rows(rows.clone()).unwrap();
                    let hex: String = bytes_of(&values_of(&slice)).iter().map(|byte| format!("{byte:02x}")).collect();
                    let both = rows.is_empty();
                    let [c, f] = [is_c || both, !is_c || both].map(|is| if is { "True" } else { "False" });
                    save(write(&slice), format!("{name} {c} {f} {} 3 x{hex}", rows.len()));
                }
            }
        }
    });
    let arguments: Vec<&str> = paths.iter().map(String::as_str).collect();
    if let Some(printed) = python::run_numpy(SCRIPT, &arguments) {
        assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn what_numpy_saves_is_loaded_bit_for_bit() {
    const SCRIPT: &str = "
import os, sys, numpy as np
random = np.random.default_rng(7)
for name in 'f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8'.split():
    for order in '<>':
        dtype = np.dtype(order + name)
        a = np.frombuffer(random.bytes(40 * dtype.itemsize), dtype).reshape(8, 5)
        kinds = [a, a.T, a[2:7, 1:4], a[::2, ::-1], a[3], a[:, :1], a[:0], a[:, 4]]
        for kind, b in enumerate(kinds):
            path = os.path.join(sys.argv[1], f'{name}{ord(order)}{kind}.npy')
            np.save(path, b)
            rows, columns = b.shape if b.ndim == 2 else (len(b), 1)
            big = b.astype(b.dtype.newbyteorder('<')) if name[0] != 'f' else b.view('V' + name[1]) if order == '<' \\
                else np.ascontiguousarray(b).view(dtype.str.replace('f', 'u')).astype('<u' + name[1])
            print(path, rows, columns, 'x' + big.tobytes('C').hex())
";
    let folder = tempfile::tempdir().unwrap();
    let Some(printed) = python::run_numpy(SCRIPT, &[folder.path().to_str().unwrap()]) else { return };
    let mut count = 0;
    for line in printed.lines() {
        let [path, rows, columns, hex] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let table = load_npy_any(path).unwrap();
        assert_eq!(table.shape(), shape(rows.parse().unwrap(), columns.parse().unwrap()), "{path}");
        let found: String = for_each_value_hex(&*table);
        assert_eq!(format!("x{found}"), hex, "{path}");
        count += 1;
    }
    assert_eq!(count, 11 * 2 * 8);
}

/// The little-endian bytes of all values, row by row.
fn for_each_value_hex(table: &dyn NumericTable) -> String {
    let mut hex = String::new();
    for_each_element!(T => {
        if let Some(table) = table.downcast_ref::<Table<T>>() {
            for value in values_of(table) {
                let mut bytes = bytes_of(&[value]).to_vec();
                if cfg!(target_endian = "big") {
                    bytes.reverse();
                }
                hex.extend(bytes.iter().map(|byte| format!("{byte:02x}")));
            }
        }
    });
    hex
}
