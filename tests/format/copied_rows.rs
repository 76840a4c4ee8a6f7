//! Rows that go from file to file.

use std::fs;
use std::path::Path;

use numeric_table::{
    files::{SaveOptions, TableReader, TableWriter, verify},
    prelude::*,
};
use test_support::bits::{Random, bits};
use test_support::tables::{LAYOUTS, assert_error, numbered, numbers, shape};
use test_support::{SmallNumber, for_each_element, test_name};

use crate::support::{Table, fast, scratch};

/// Saves a table, and opens the file.
fn file_of<T: Element>(folder: &Path, name: &str, table: &Table<T>, options: SaveOptions) -> TableReader {
    let path = folder.join(name);
    table.save_with(&path, options).unwrap();
    TableReader::open(&path).unwrap()
}

#[test]
fn rows_of_any_type_and_layout_are_copied_into_any_type() {
    let (folder, path) = scratch();
    let mut readers = Vec::new();
    fn save<S: SmallNumber>(folder: &Path, readers: &mut Vec<TableReader>) {
        for layout in LAYOUTS {
            let name = format!("{:?}{layout:?}", S::TYPE);
            readers.push(file_of(folder, &name, &numbered::<S>(7, 3, layout), fast().checksums(Some(16))));
        }
    }
    for_each_element!(S => save::<S>(folder.path(), &mut readers));
    fn copy<T: SmallNumber>(path: &Path, readers: &[TableReader]) {
        let mut writer = TableWriter::<T>::create_with(path, 3, None, fast().checksums(Some(16))).unwrap();
        let mut expected = Vec::new();
        for reader in readers {
            for rows in [0..7, 2..5, 3..3, 7..7, 6..7] {
                writer.copy_rows(reader, rows.clone()).unwrap();
                expected.extend(numbers::<T>(3, rows));
            }
        }
        assert_eq!(writer.shape(), shape(expected.len() / 3, 3));
        writer.finish().unwrap();
        assert!(verify(path).unwrap());
        assert_eq!(Table::<T>::load(path).unwrap().as_slice().unwrap(), expected);
    }
    for_each_element!(T => copy::<T>(&path, &readers));
}

#[test]
fn large_copies_are_the_files_that_save_writes() {
    let (folder, path) = scratch();
    let saved = folder.path().join("saved.ntb");
    let mut random = Random::new(33);
    let (rows, columns) = (600_000, 5);
    let table = Table::<i32>::from_array(random.values(rows * columns), shape(rows, columns)).unwrap(); // 12 MB
    let by_columns = table.to_layout(DataLayout::ColumnMajor).unwrap();
    let wide = table.convert::<f64>().unwrap();
    for source_chunks in [Some(1 << 20), None] {
        let readers = [
            file_of(folder.path(), "rows.ntb", &table, fast().checksums(source_chunks)),
            file_of(folder.path(), "columns.ntb", &by_columns, fast().checksums(source_chunks)),
            file_of(folder.path(), "wide.ntb", &wide, fast().checksums(source_chunks)),
        ];
        for chunk_size in [Some(1 << 20), Some(300_001), None] {
            table.save_with(&saved, fast().checksums(chunk_size)).unwrap();
            let saved = fs::read(&saved).unwrap();
            for (index, reader) in readers.iter().enumerate() {
                for cuts in [vec![], vec![1, 262_144, 300_000]] {
                    let options = fast().checksums(chunk_size);
                    let mut writer = TableWriter::<i32>::create_with(&path, columns, None, options).unwrap();
                    let starts = [0].into_iter().chain(cuts.iter().copied());
                    for (start, end) in starts.zip(cuts.iter().copied().chain([rows])) {
                        writer.copy_rows(reader, start..end).unwrap();
                    }
                    writer.finish().unwrap();
                    assert!(fs::read(&path).unwrap() == saved, "{source_chunks:?} {chunk_size:?} {index} {cuts:?}");
                }
            }
        }
    }
}

#[test]
fn every_bit_of_a_nan_is_copied() {
    let (folder, path) = scratch();
    let values: Vec<f32> = [0x7F81_2345, 0xFFC0_0001, 0x7F80_0001, 0x8000_0000_u32].map(f32::from_bits).into();
    let table = Table::from_array(values.clone(), shape(2, 2)).unwrap();
    for layout in LAYOUTS {
        let reader = file_of(folder.path(), "nan.ntb", &table.to_layout(layout).unwrap(), fast());
        let mut writer = TableWriter::<f32>::create_with(&path, 2, None, fast()).unwrap();
        writer.copy_rows(&reader, ..).unwrap();
        writer.finish().unwrap();
        let copied = Table::<f32>::load(&path).unwrap();
        assert!(copied.as_slice().unwrap().iter().map(|&value| bits(value)).eq(values.iter().map(|&v| bits(v))));
    }
}

#[test]
fn a_refused_value_leaves_nothing_of_the_rows_and_its_row_is_the_files() {
    let (folder, path) = scratch();
    let rows = 900_000;
    let mut table = Table::<f64>::full(shape(rows, 2), 1.0).unwrap();
    table.set_value(rows - 2, 1, f64::NAN).unwrap();
    for layout in LAYOUTS {
        let reader = file_of(folder.path(), "source.ntb", &table.to_layout(layout).unwrap(), fast());
        let mut writer = TableWriter::<u8>::create_with(&path, 2, None, fast()).unwrap();
        writer.append(&[7_u8; 4]).unwrap();
        let refused = writer.copy_rows(&reader, 10..);
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row, column: 1, .. } if *row == rows - 2 - 10 + 2);
        assert_eq!(writer.shape(), shape(2, 2));
        writer.copy_rows(&reader, ..1).unwrap();
        writer.finish().unwrap();
        assert!(verify(&path).unwrap());
        assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [7, 7, 7, 7, 1, 1]);
    }
}

#[test]
fn rows_outside_and_other_numbers_of_columns_are_refused() {
    let (folder, path) = scratch();
    let reader = file_of(folder.path(), "source.ntb", &numbered::<u8>(4, 2, DataLayout::RowMajor), fast());
    let mut writer = TableWriter::<u8>::create_with(&path, 2, None, fast()).unwrap();
    #[expect(clippy::reversed_empty_ranges, reason = "it is to be refused")]
    for rows in [3..5, 5..5, 2..1, 0..usize::MAX] {
        let refused = writer.copy_rows(&reader, rows.clone());
        assert_error!(refused, ErrorKind::RowsOutOfRange { rows: r, row_count: 4 } if *r == rows);
    }
    let mut other = TableWriter::<f32>::create_with(folder.path().join("other.ntb"), 3, None, fast()).unwrap();
    assert_error!(other.copy_rows(&reader, ..), ErrorKind::UnequalTables { table: 1, .. }, "columns");
    writer.copy_rows(&reader, 1..=1).unwrap();
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [3, 4]);
}

#[test]
fn rows_of_empty_files_are_copied() {
    let (folder, path) = scratch();
    for (rows, columns) in [(0, 0), (0, 4), (5, 0), (usize::MAX, 0)] {
        for layout in LAYOUTS {
            let table =
                Table::<f32>::new_with_layout(shape(rows, columns), AllocationFlag::DoAllocate, layout).unwrap();
            let reader = file_of(folder.path(), "source.ntb", &table, fast());
            let mut writer = TableWriter::<u8>::create_with(&path, columns, None, fast()).unwrap();
            writer.copy_rows(&reader, ..).unwrap();
            if rows == usize::MAX {
                assert_error!(writer.copy_rows(&reader, 1..2), ErrorKind::SizeOverflow { .. });
            }
            writer.finish().unwrap();
            assert_eq!(Table::<u8>::load(&path).unwrap().shape(), shape(rows, columns));
        }
    }
}

#[test]
fn a_source_that_has_become_shorter_is_an_error_and_the_writer_can_still_be_used() {
    let (folder, path) = scratch();
    let table = numbered::<u8>(40, 3, DataLayout::RowMajor);
    let source = folder.path().join("source.ntb");
    for layout in LAYOUTS {
        for chunk_size in [Some(16), Some(1 << 20), None] {
            table.to_layout(layout).unwrap().save_with(&source, fast().checksums(chunk_size)).unwrap();
            let (reader, bytes) = (TableReader::open(&source).unwrap(), fs::read(&source).unwrap());
            let mut as_it_is = TableWriter::<u8>::create_with(&path, 3, None, fast().checksums(chunk_size)).unwrap();
            let other = folder.path().join("other.ntb");
            let mut converted = TableWriter::<f32>::create_with(&other, 3, None, fast()).unwrap();
            fs::OpenOptions::new().write(true).open(&source).unwrap().set_len(4096 + 50).unwrap();
            assert_error!(as_it_is.copy_rows(&reader, ..), ErrorKind::Format { .. }, "shorter");
            assert_error!(converted.copy_rows(&reader, ..), ErrorKind::Format { .. }, "shorter");
            assert_eq!((as_it_is.shape(), converted.shape()), (shape(0, 3), shape(0, 3)));
            fs::write(&source, bytes).unwrap(); // the same file, whole again
            as_it_is.copy_rows(&reader, 1..).unwrap();
            converted.copy_rows(&reader, 1..).unwrap();
            as_it_is.finish().unwrap();
            converted.finish().unwrap();
            assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), numbers::<u8>(3, 1..40));
            assert_eq!(Table::<f32>::load(&other).unwrap().as_slice().unwrap(), numbers::<f32>(3, 1..40));
        }
    }
}

#[test]
fn a_file_may_be_replaced_by_a_copy_of_its_rows_but_not_overwritten_while_they_are_in_it() {
    let (_folder, path) = scratch();
    let table = numbered::<u8>(40, 3, DataLayout::RowMajor);
    table.save_with(&path, fast()).unwrap();
    let reader = TableReader::open(&path).unwrap();
    let mut writer = TableWriter::<u8>::create_with(&path, 3, None, fast().in_place(true)).unwrap();
    assert!(
        writer
            .copy_rows(&reader, 1..)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == path)
    );
    drop(writer);
    assert_eq!(Table::<u8>::load(&path).unwrap(), table);

    let mut writer = TableWriter::<u8>::create_with(&path, 3, None, fast()).unwrap();
    writer.copy_rows(&reader, 30..).unwrap();
    writer.copy_rows(&reader, ..10).unwrap();
    writer.finish().unwrap();
    let expected = [numbers::<u8>(3, 30..40), numbers::<u8>(3, 0..10)].concat();
    assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), expected);
}

#[test]
fn refused_first_rows_leave_a_file_that_is_written_in_place() {
    let (folder, path) = scratch();
    let old = numbered::<u8>(3, 2, DataLayout::RowMajor);
    old.save_with(&path, fast()).unwrap();
    let wrong = Table::from_rows(&[[1.0, 2.0], [3.0, 256.0]]).unwrap();
    let wrong = file_of(folder.path(), "wrong.ntb", &wrong, fast());
    let damaged = numbered::<u8>(40, 2, DataLayout::RowMajor);
    let damaged = file_of(folder.path(), "damaged.ntb", &damaged, fast().checksums(Some(16)));
    let mut bytes = fs::read(folder.path().join("damaged.ntb")).unwrap();
    bytes[4096 + 20] ^= 1;
    fs::write(folder.path().join("damaged.ntb"), bytes).unwrap();

    let mut writer = TableWriter::<u8>::create_with(&path, 2, None, fast().in_place(true)).unwrap();
    assert_error!(writer.copy_rows(&wrong, ..), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. });
    assert_error!(writer.copy_rows(&damaged, ..), ErrorKind::Format { offset: 4112, .. });
    assert_eq!(Table::<u8>::load(&path).unwrap(), old);
    writer.copy_rows(&wrong, ..1).unwrap();
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [1, 2]);
}

/// In a process of its own, which the system lets write files of 4 MiB at most.
#[cfg(unix)]
#[test]
fn rows_that_the_disk_has_no_room_for_leave_the_file_as_long_as_it_was() {
    use std::process::Command;

    let test = test_name!("rows_that_the_disk_has_no_room_for_leave_the_file_as_long_as_it_was");
    let Some(source) = std::env::var_os("NUMERIC_TABLE_COPY_TEST") else {
        let (_folder, path) = scratch();
        Table::<u8>::full(shape(10 << 20, 2), 1).unwrap().save_with(&path, fast()).unwrap();
        let output = Command::new("sh")
            .args(["-c", r#"trap '' XFSZ && ulimit -f 8192 && exec "$0" "$@""#]) // in units of 512 bytes
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &test, "--nocapture"])
            .env("NUMERIC_TABLE_COPY_TEST", &path)
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(output.status.success() && printed[0].contains("1 passed"), "{}", printed.concat());
        return;
    };
    let reader = TableReader::open(source).unwrap();
    let table = Table::<i16>::full(shape(5 << 20, 2), 1).unwrap();
    for chunk_size in [Some(SaveOptions::CHUNK_SIZE), Some(1000), None] {
        let (folder, path) = scratch();
        let length = || fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().metadata().unwrap().len();
        let mut writer = TableWriter::<u8>::create_with(&path, 2, None, fast().checksums(chunk_size)).unwrap();
        assert!(
            writer
                .copy_rows(&reader, ..)
                .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == path)
        );
        assert_eq!((writer.shape(), length()), (shape(0, 2), 4096));
        writer.append(&[7_u8; 6]).unwrap();
        assert!(
            writer
                .copy_rows(&reader, ..)
                .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == path)
        );
        assert!(
            writer
                .append_table(&table)
                .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == path)
        );
        assert_eq!((writer.shape(), length()), (shape(3, 2), 4096 + 6));
        writer.copy_rows(&reader, ..1).unwrap();
        writer.finish().unwrap();
        assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [7, 7, 7, 7, 7, 7, 1, 1]);
    }
}
