//! Tables of every kind that are appended to a file.

use std::fs;

use numeric_table::{
    SoaNumericTable,
    files::{TableWriter, verify},
    prelude::*,
};
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, assert_error, feature, numbered, numbers, shape};
use test_support::{SmallNumber, for_each_element};

use crate::support::{Table, fast, scratch};

#[test]
fn tables_of_every_type_and_layout_are_appended_row_by_row() {
    fn to<T: SmallNumber>() {
        fn from<S: SmallNumber>(tables: &mut Vec<Box<dyn NumericTable>>) {
            for layout in LAYOUTS {
                tables.push(Box::new(numbered::<S>(7, 3, layout)));
            }
        }
        let mut tables = Vec::new();
        for_each_element!(S => from::<S>(&mut tables));
        let (_folder, path) = scratch();
        let mut writer = TableWriter::<T>::create_with(&path, 3, None, fast().checksums(Some(16))).unwrap();
        for table in &tables {
            writer.append_table(&**table).unwrap();
        }
        assert_eq!(writer.shape(), shape(24 * 7, 3));
        writer.finish().unwrap();
        assert!(verify(&path).unwrap());
        assert_eq!(Table::<T>::load(&path).unwrap().as_slice().unwrap(), numbers::<T>(3, 0..7).repeat(24));
    }
    for_each_element!(to);
}

#[test]
fn every_kind_of_table_is_appended_as_what_it_shows() {
    let (_folder, path) = scratch();
    let mut mixed = SoaNumericTable::from_columns([("a", vec![1_i64, 2, 3])]).unwrap();
    mixed.push_column("b", vec![1.5_f32, 2.5, 3.5]).unwrap();
    let table = Table::from_rows(&[[10_u8, 11], [12, 13], [14, 15]]).unwrap();
    let slice = table.slice_rows(1..2).unwrap();
    let mut writer = TableWriter::<f32>::create_with(&path, 2, None, fast()).unwrap();
    for table in [&mixed as &dyn NumericTable, &table, &slice, &mixed] {
        writer.append_table(table).unwrap();
    }
    writer.append(&table.rows::<f64>(2..).unwrap()).unwrap(); // a block
    writer.append(&table.column::<i8>(1, 0..2).unwrap()).unwrap(); // the values of a column, as a row
    writer.finish().unwrap();
    let of_mixed = [1.0_f32, 1.5, 2.0, 2.5, 3.0, 3.5];
    let expected =
        [&of_mixed[..], &[10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 12.0, 13.0], &of_mixed, &[14.0, 15.0, 11.0, 13.0]];
    assert_eq!(Table::<f32>::load(&path).unwrap().as_slice().unwrap(), expected.concat());
}

#[test]
fn a_table_with_a_refused_value_leaves_nothing_of_itself_and_its_row_is_the_files() {
    let (_folder, path) = scratch();
    let rows = 700_000;
    let mut table = Table::<f64>::full(shape(rows, 3), 1.0).unwrap();
    table.set_value(rows - 2, 1, 300.0).unwrap();
    table.set_value(rows - 1, 0, -300.0).unwrap();
    for layout in LAYOUTS {
        let table = table.to_layout(layout).unwrap();
        let mut writer = TableWriter::<u8>::create_with(&path, 3, None, fast()).unwrap();
        writer.append(&[7_u8; 3]).unwrap();
        let refused = writer.append_table(&table);
        assert_error!(
            refused,
            ErrorKind::ValueNotRepresentable { row, column: 1, target: ElementType::U8, .. } if *row == rows - 1
        );
        assert_eq!(writer.shape(), shape(1, 3));
        writer.append_table(&table.slice_rows(0..1).unwrap()).unwrap();
        writer.finish().unwrap();
        assert!(verify(&path).unwrap());
        assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [7, 7, 7, 1, 1, 1]);
    }
}

#[test]
fn large_tables_are_appended_as_save_writes_them() {
    let (folder, path) = scratch();
    let saved = folder.path().join("saved.ntb");
    let mut random = Random::new(21);
    let table = Table::<i32>::from_array(random.values(500_000 * 5), shape(500_000, 5)).unwrap();
    for layout in LAYOUTS {
        let source = table.to_layout(layout).unwrap();
        for chunk_size in [Some(1 << 20), Some(1_000_003), None] {
            table.save_with(&saved, fast().checksums(chunk_size)).unwrap();
            let mut writer = TableWriter::<i32>::create_with(&path, 5, None, fast().checksums(chunk_size)).unwrap();
            writer.append_table(&source.slice_rows(0..3).unwrap()).unwrap();
            writer.append_table(&source.slice_rows(3..500_000).unwrap()).unwrap();
            writer.finish().unwrap();
            assert!(fs::read(&path).unwrap() == fs::read(&saved).unwrap());
        }
    }
}

#[test]
fn names_are_those_of_the_writer() {
    let (_folder, path) = scratch();
    let names = DataDictionary::from_features(["a", "b"].map(|name| feature::<u8>().named(name)));
    let mut table = numbered::<u8>(2, 2, DataLayout::RowMajor);
    let others = DataDictionary::from_features(["x", "y"].map(|name| feature::<u8>().named(name).categorical(9)));
    table.set_dictionary(others).unwrap();
    let mut writer = TableWriter::<u8>::create_with(&path, 2, names.clone(), fast()).unwrap();
    writer.append_table(&table).unwrap();
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().dictionary(), &names);
}

#[test]
fn tables_without_rows_or_columns_are_appended_and_others_must_have_as_many_columns() {
    let (_folder, path) = scratch();
    let empty = |rows, columns| Table::<f32>::new(shape(rows, columns), AllocationFlag::DoAllocate).unwrap();
    let mut writer = TableWriter::<u8>::create_with(&path, 2, None, fast()).unwrap();
    writer.append_table(&empty(0, 2)).unwrap();
    for columns in [0, 1, 3] {
        let refused = writer.append_table(&empty(0, columns));
        assert_error!(
            refused,
            ErrorKind::UnequalTables { table: 1, reason, .. }
                if reason.contains(&format!("expected 2 columns, found {columns}"))
        );
    }
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().shape(), shape(0, 2));

    let mut writer = TableWriter::<u8>::create_with(&path, 0, None, fast()).unwrap();
    writer.append_table(&empty(5, 0)).unwrap();
    writer.append_table(&empty(usize::MAX - 5, 0)).unwrap();
    assert_error!(writer.append_table(&empty(1, 0)), ErrorKind::SizeOverflow { .. });
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().shape(), shape(usize::MAX, 0));
}

#[test]
fn a_table_that_cannot_be_read_is_an_error_and_the_writer_can_still_be_used() {
    let (_folder, path) = scratch();
    let mut table = numbered::<u8>(4, 2, DataLayout::RowMajor);
    let mut writer = TableWriter::<f32>::create_with(&path, 2, None, fast()).unwrap();
    let none = Table::<u8>::new(shape(4, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(writer.append_table(&none), ErrorKind::NotAllocated);
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(1, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(writer.append_table(&table), ErrorKind::BlockOutstanding { rows } if *rows == (1..3));
    table.release_block_of_rows(&mut block).unwrap();
    writer.append_table(&table).unwrap();
    writer.finish().unwrap();
    assert_eq!(Table::<f32>::load(&path).unwrap().as_slice().unwrap(), numbers::<f32>(2, 0..4));
}

#[test]
fn a_refused_first_table_leaves_a_file_that_is_written_in_place() {
    let (_folder, path) = scratch();
    let old = numbered::<u8>(3, 2, DataLayout::RowMajor);
    old.save_with(&path, fast()).unwrap();
    let mut writer = TableWriter::<u8>::create_with(&path, 2, None, fast().in_place(true)).unwrap();
    let wrong = Table::from_rows(&[[1.0, 2.0], [3.0, 256.0]]).unwrap();
    assert_error!(writer.append_table(&wrong), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. });
    assert_eq!(Table::<u8>::load(&path).unwrap(), old);
    writer.append_table(&wrong.slice_rows(0..1).unwrap()).unwrap();
    assert_error!(writer.append_table(&wrong), ErrorKind::ValueNotRepresentable { row: 2, column: 1, .. });
    writer.finish().unwrap();
    assert_eq!(Table::<u8>::load(&path).unwrap().as_slice().unwrap(), [1, 2]);
}
