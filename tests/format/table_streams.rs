//! Files that are read some rows at a time, and written block by block.

use std::fs;

use numeric_table::{
    files::{TableReader, TableWriter, verify},
    prelude::*,
};
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, assert_error, feature, numbered, numbers, shape};
use test_support::{SmallNumber, for_each_element, test_name};

use crate::support::{Table, fast, scratch};

// --- reading -------------------------------------------------------------------------------------------------------

#[test]
fn a_reader_knows_what_the_file_says() {
    let (_folder, path) = scratch();
    for layout in LAYOUTS {
        let mut table = numbered::<u16>(5, 3, layout);
        let features = ["a", "b", "c"].map(|name| feature::<u16>().named(name));
        table.set_dictionary(DataDictionary::from_features(features)).unwrap();
        table.save_with(&path, fast()).unwrap();
        let reader = TableReader::open(&path).unwrap();
        assert_eq!((reader.shape(), reader.element_type()), (shape(5, 3), ElementType::U16));
        assert_eq!((reader.data_layout(), reader.dictionary()), (layout, table.dictionary()));
        assert!(reader.verify().unwrap());
        let rows = reader.load_rows::<f32>(1..2).unwrap();
        assert_eq!(rows, table.slice_rows(1..2).unwrap().convert().unwrap());
    }
}

#[test]
fn any_rows_are_read_in_any_type_from_either_layout() {
    fn from<S: SmallNumber>() {
        fn to<T: SmallNumber>(reader: &TableReader) {
            for rows in [0..7, 2..5, 6..7, 3..3, 7..7] {
                let table = reader.load_rows::<T>(rows.clone()).unwrap();
                assert_eq!(table.as_slice().unwrap(), numbers::<T>(3, rows));
                assert_eq!(table.data_layout(), DataLayout::RowMajor);
            }
        }
        let (_folder, path) = scratch();
        for layout in LAYOUTS {
            numbered::<S>(7, 3, layout).save_with(&path, fast()).unwrap();
            let reader = TableReader::open(&path).unwrap();
            for_each_element!(T => to::<T>(&reader));
        }
    }
    for_each_element!(from);
}

#[test]
fn blocks_of_a_file_are_the_blocks_of_the_table() {
    let (_folder, path) = scratch();
    let mut random = Random::new(3);
    let table = Table::<i32>::from_array(random.values(40_000 * 5), shape(40_000, 5)).unwrap();
    for layout in LAYOUTS {
        table.to_layout(layout).unwrap().save_with(&path, fast()).unwrap();
        let reader = TableReader::open(&path).unwrap();
        for rows_per_block in [1000, 39_999, 40_000, usize::MAX] {
            let mut blocks = reader.row_blocks::<f64>(rows_per_block).unwrap();
            let mut expected = table.row_blocks::<f64>(rows_per_block.min(40_000)).unwrap();
            let mut addresses = Vec::new();
            while let Some(block) = blocks.next_block().unwrap() {
                let expected = expected.next().unwrap().unwrap();
                assert_eq!((block.row_range(), &block[..]), (expected.row_range(), &expected[..]));
                assert!(block.iter_rows().eq(expected.iter_rows()));
                addresses.push(block.as_ptr());
            }
            assert!(expected.next().is_none());
            addresses.dedup();
            assert_eq!(addresses.len(), 1); // one buffer
            assert!(blocks.next_block().unwrap().is_none());
        }
    }
}

#[test]
fn rows_of_many_columns_are_gathered_in_tiles() {
    let (_folder, path) = scratch();
    let mut random = Random::new(13);
    for (rows, columns) in [(300, 10_001), (5000, 201), (3, 400_000)] {
        let table = Table::<i16>::from_array(random.values(rows * columns), shape(rows, columns)).unwrap();
        table.to_layout(DataLayout::ColumnMajor).unwrap().save_with(&path, fast()).unwrap();
        let reader = TableReader::open(&path).unwrap();
        for part in [0..rows, 1..rows, 0..rows - 1, rows - 2..rows - 1] {
            let expected = table.slice_rows(part.clone()).unwrap();
            assert_eq!(reader.load_rows::<i16>(part.clone()).unwrap(), expected);
            assert_eq!(reader.load_rows::<f64>(part).unwrap(), expected.convert().unwrap());
        }
    }
}

/// Each call costs as much as some thousand values do.
#[cfg(target_os = "linux")]
#[test]
fn a_block_of_many_columns_takes_one_read_of_each_and_whole_columns_fewer() {
    fn reads() -> usize {
        let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
        counts.lines().find_map(|line| line.strip_prefix("syscr: ")).unwrap().parse().unwrap()
    }
    let (_folder, path) = scratch();
    let (rows, columns) = (250, 20_000);
    let table = Table::<u8>::new_with_layout(shape(rows, columns), AllocationFlag::DoAllocate, DataLayout::ColumnMajor)
        .unwrap();
    table.save_with(&path, fast()).unwrap();
    let reader = TableReader::open(&path).unwrap();
    for (rows, most) in [(0..rows, 100), (0..rows - 1, columns + 100)] {
        let before = reads();
        reader.load_rows::<f32>(rows).unwrap();
        assert!(reads() - before <= most, "{} reads", reads() - before);
    }
}

#[test]
fn rows_outside_and_empty_blocks_are_refused() {
    let (_folder, path) = scratch();
    numbered::<u8>(4, 2, DataLayout::RowMajor).save_with(&path, fast()).unwrap();
    let reader = TableReader::open(&path).unwrap();
    #[expect(clippy::reversed_empty_ranges, reason = "it is to be refused")]
    for rows in [3..5, 5..5, 2..1, 0..usize::MAX] {
        let refused = reader.load_rows::<u8>(rows.clone());
        assert_error!(refused, ErrorKind::RowsOutOfRange { rows: r, row_count: 4 } if *r == rows);
    }
    assert_error!(reader.row_blocks::<u8>(0), ErrorKind::ParameterOutOfRange { .. }, "rows of a block");
}

#[test]
fn empty_files_have_no_blocks() {
    let (_folder, path) = scratch();
    for layout in LAYOUTS {
        for shape in [shape(0, 0), shape(0, 4), shape(4, 0)] {
            let table = Table::<f32>::new_with_layout(shape, AllocationFlag::DoAllocate, layout).unwrap();
            table.save_with(&path, fast()).unwrap();
            let reader = TableReader::open(&path).unwrap();
            assert_eq!(reader.load_rows::<f64>(0..shape.rows).unwrap().shape(), shape);
            let (mut blocks, mut rows) = (reader.row_blocks::<f64>(3).unwrap(), 0);
            while let Some(block) = blocks.next_block().unwrap() {
                assert!(block.is_empty() && block.iter_rows().len() == block.row_range().len());
                rows += block.row_range().len();
            }
            assert_eq!(rows, shape.rows);
        }
    }
}

#[test]
fn a_file_that_becomes_shorter_while_it_is_read_is_an_error() {
    let (_folder, path) = scratch();
    numbered::<u8>(4, 2, DataLayout::RowMajor).save_with(&path, fast()).unwrap();
    let reader = TableReader::open(&path).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4098).unwrap();
    assert_error!(reader.load_rows::<u8>(0..4), ErrorKind::Format { .. }, "shorter");
    assert_error!(reader.load_rows::<f32>(0..4), ErrorKind::Format { .. });
    assert_error!(reader.verify(), ErrorKind::Format { .. });
    assert_eq!(reader.load_rows::<u8>(0..1).unwrap().as_slice().unwrap(), [1, 2]);
}

#[test]
fn after_an_error_the_same_block_is_next() {
    let (_folder, path) = scratch();
    numbered::<u8>(4, 2, DataLayout::RowMajor).save_with(&path, fast()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let reader = TableReader::open(&path).unwrap();
    let mut blocks = reader.row_blocks::<f32>(2).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(4098).unwrap();
    assert_error!(blocks.next_block(), ErrorKind::Format { .. });
    fs::write(&path, bytes).unwrap(); // the same file, whole again
    assert_eq!(blocks.next_block().unwrap().unwrap()[..], [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn damage_is_seen_by_the_readers_verify() {
    let (_folder, path) = scratch();
    numbered::<u8>(4, 2, DataLayout::RowMajor).save_with(&path, fast()).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[4100] ^= 0x40;
    fs::write(&path, bytes).unwrap();
    let reader = TableReader::open(&path).unwrap();
    assert_error!(reader.verify(), ErrorKind::Format { offset: 4096, .. });
}

// --- writing -------------------------------------------------------------------------------------------------------

#[test]
fn what_is_appended_is_the_file_that_save_writes() {
    fn check<T: SmallNumber>() {
        let (folder, path) = scratch();
        let saved = folder.path().join("saved.ntb");
        let mut table = numbered::<T>(9, 3, DataLayout::RowMajor);
        let features = ["a", "b", "c"].map(|name| feature::<T>().named(name).categorical(5));
        table.set_dictionary(DataDictionary::from_features(features)).unwrap();
        for chunk_size in [None, Some(5), Some(16), Some(1 << 20)] {
            table.save_with(&saved, fast().checksums(chunk_size)).unwrap();
            for rows_per_block in [1, 2, 9] {
                let dictionary = table.dictionary().clone();
                let options = fast().checksums(chunk_size);
                let mut writer = TableWriter::<T>::create_with(&path, 3, dictionary, options).unwrap();
                for block in table.row_blocks::<T>(rows_per_block).unwrap() {
                    writer.append(&block.unwrap()).unwrap();
                }
                assert_eq!(writer.shape(), table.shape());
                writer.finish().unwrap();
                assert_eq!(fs::read(&path).unwrap(), fs::read(&saved).unwrap());
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn large_blocks_are_appended_and_read_in_pieces() {
    let (_folder, path) = scratch();
    let rows = 400_000;
    let values: Vec<u32> = (0..rows as u32 * 7).map(|i| i % 65_521).collect();
    let table = Table::from_array(values, shape(rows, 7)).unwrap();
    let as_u16 = table.convert::<u16>().unwrap();
    for chunk_size in [1 << 20, 1_000_003] {
        let options = fast().checksums(Some(chunk_size));
        let mut writer = TableWriter::<u16>::create_with(&path, 7, None, options).unwrap();
        for rows in [0..1, 1..300_000, 300_000..rows] {
            writer.append(table.slice_rows(rows).unwrap().as_slice().unwrap()).unwrap();
        }
        writer.finish().unwrap();
        assert!(verify(&path).unwrap());
        assert_eq!(Table::<u16>::load(&path).unwrap(), as_u16);
    }
    for layout in LAYOUTS {
        as_u16.to_layout(layout).unwrap().save_with(&path, fast()).unwrap();
        let reader = TableReader::open(&path).unwrap();
        assert_eq!(reader.load_rows::<u16>(0..rows).unwrap().as_slice().unwrap(), as_u16.as_slice().unwrap());
        assert_eq!(reader.load_rows::<u32>(1..rows).unwrap(), table.slice_rows(1..rows).unwrap());
    }
}

#[test]
fn a_refused_value_in_a_large_block_leaves_nothing_of_the_block() {
    let (_folder, path) = scratch();
    let mut block = vec![1.0_f64; 3_000_000];
    block[2_999_998] = 300.0;
    let mut writer = TableWriter::<u8>::create_with(&path, 3, None, fast()).unwrap();
    writer.append(&[7_u8; 3]).unwrap();
    assert_error!(writer.append(&block), ErrorKind::ValueNotRepresentable { row: 1_000_000, column: 1, .. });
    writer.append(&[8_u8; 3]).unwrap();
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [7, 7, 7, 8, 8, 8]);
}

#[test]
fn other_element_types_are_converted_and_checked() {
    let (_folder, path) = scratch();
    let mut writer = TableWriter::<u8>::create_with(&path, 2, None, fast()).unwrap();
    writer.append(&[1.0_f64, 2.5]).unwrap();
    writer.append::<i64>(&[]).unwrap();
    assert_error!(
        writer.append(&[3_i64, 4, 5, -6]),
        ErrorKind::ValueNotRepresentable { row: 2, column: 1, target: ElementType::U8, .. }
    );
    writer.append(&[7_i64, 8, 9, 10]).unwrap();
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [1, 2, 7, 8, 9, 10]);
}

#[test]
fn values_that_are_not_whole_rows_are_refused() {
    let (_folder, path) = scratch();
    let mut writer = TableWriter::<u8>::create_with(&path, 3, None, fast()).unwrap();
    assert_error!(writer.append(&[1_u8, 2, 3, 4]), ErrorKind::NotWholeRows { values: 4, columns: 3 });
    let error = writer.append(&[1_u8, 2]).unwrap_err();
    assert_eq!(error.to_string(), "2 values do not form complete rows of 3 columns");
    writer.append(&[1_u8, 2, 3]).unwrap();
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [1, 2, 3]);
    let mut writer = TableWriter::<u8>::create_with(&path, 0, None, fast()).unwrap();
    assert_error!(writer.append(&[1_u8]), ErrorKind::NotWholeRows { values: 1, columns: 0 });
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().shape(), shape(0, 0));
}

#[test]
fn nothing_appears_before_the_end_and_nothing_is_left_without_it() {
    let (folder, path) = scratch();
    let old = numbered::<u8>(2, 2, DataLayout::RowMajor);
    old.save_with(&path, fast()).unwrap();
    let mut writer = TableWriter::<f32>::create_with(&path, 2, None, fast()).unwrap();
    writer.append(&[1.0_f32, 2.0]).unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap(), old);
    drop(writer);
    assert_eq!(Table::<u8>::load(&path).unwrap(), old);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let wrong = DataDictionary::uniform(feature::<u8>(), 2);
    assert_error!(TableWriter::<f32>::create(&path, 2, wrong), ErrorKind::DictionaryMismatch { .. });
    assert_error!(TableWriter::<f32>::create(folder.path(), 2, None), ErrorKind::Io { .. });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_can_be_rewritten_while_it_is_read() {
    let (_folder, path) = scratch();
    let mut random = Random::new(9);
    let table = Table::<f32>::from_array(random.values(100_000 * 4), shape(100_000, 4)).unwrap();
    table.save_with(&path, fast()).unwrap();
    let reader = TableReader::open(&path).unwrap();
    let mut writer = TableWriter::<f32>::create_with(&path, 4, reader.dictionary().clone(), fast()).unwrap();
    let mut blocks = reader.row_blocks::<f32>(777).unwrap();
    while let Some(block) = blocks.next_block().unwrap() {
        writer.append(&block).unwrap();
    }
    writer.finish().unwrap();
    assert!(verify(&path).unwrap());
    let bits = |table: &Table<f32>| bytemuck::cast_slice::<f32, u8>(table.as_slice().unwrap()).to_vec();
    assert_eq!(bits(&Table::load(&path).unwrap()), bits(&table));
    let rows = reader.load_rows::<f32>(99_999..100_000).unwrap(); // of the old file
    assert_eq!(bits(&rows), bits(&table)[99_999 * 16..]);
}

/// In a process of its own, which the system lets write files of 4 MiB at most.
#[cfg(unix)]
#[test]
fn a_block_that_the_disk_has_no_room_for_leaves_the_file_as_long_as_it_was() {
    use std::process::Command;

    let test = test_name!("a_block_that_the_disk_has_no_room_for_leaves_the_file_as_long_as_it_was");
    if std::env::var_os("NUMERIC_TABLE_STREAM_TEST").is_none() {
        let output = Command::new("sh")
            .args(["-c", r#"trap '' XFSZ && ulimit -f 8192 && exec "$0" "$@""#]) // in units of 512 bytes
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &test, "--nocapture"])
            .env("NUMERIC_TABLE_STREAM_TEST", "1")
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(output.status.success() && printed[0].contains("1 passed"), "{}", printed.concat());
        return;
    }
    let (folder, path) = scratch();
    let length = || fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().metadata().unwrap().len();
    let mut writer = TableWriter::<u8>::create_with(&path, 2, None, fast()).unwrap();
    writer.append(&[7_u8; 6]).unwrap();
    for size in [5 << 20, 40 << 20] {
        let refused = writer.append(&vec![1_u8; size]); // one task, and several
        assert!(
            refused
                .as_ref()
                .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == path)
        );
        assert_eq!((writer.shape(), length()), (shape(3, 2), 4096 + 6));
    }
    writer.append(&[8_u8; 2]).unwrap();
    writer.finish().unwrap();
    assert!(verify(&path).unwrap());
    assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [7, 7, 7, 7, 7, 7, 8, 8]);
}
