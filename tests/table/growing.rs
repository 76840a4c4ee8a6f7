//! Rows that are added at the end.

use numeric_table::prelude::*;
use numeric_table::{CsrNumericTable, SoaNumericTable};
use test_support::tables::{LAYOUTS, assert_error, numbered, numbers, shape};
use test_support::{SmallNumber, for_each_element};

fn empty<T: Element>(columns: usize, layout: DataLayout) -> Table<T> {
    HomogenNumericTable::from_array_with_layout(Vec::new(), shape(0, columns), layout).unwrap()
}

#[test]
fn rows_are_pushed_one_after_the_other_in_any_type_and_layout() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            let mut table = empty::<f32>(3, layout);
            for row in 0..12 {
                table.push_row(&numbers::<T>(3, row..row + 1)).unwrap();
                assert_eq!(table.rows::<f32>(..).unwrap()[..], numbers::<f32>(3, 0..row + 1));
            }
            let mut typed = empty::<T>(3, layout);
            typed.append(&numbers::<f64>(3, 0..5)).unwrap();
            typed.append(&numbers::<T>(3, 5..6)).unwrap();
            typed.append_table(&table.slice_rows(6..9).unwrap()).unwrap();
            assert_eq!(typed.rows::<f64>(..).unwrap()[..], numbers::<f64>(3, 0..9));
        }
    }
    for_each_element!(check);
}

#[test]
fn memory_grows_seldom() {
    let (mut table, mut moves, mut before) = (empty::<f64>(2, DataLayout::RowMajor), 0, std::ptr::null());
    for row in 0..33_000 {
        table.push_row(&[row, -row]).unwrap();
        let now = table.as_slice().unwrap().as_ptr();
        moves += usize::from(now != before);
        before = now;
    }
    assert!(moves < 40, "{moves}");
    assert_eq!(table.rows::<i32>(32_999..).unwrap()[..], [32_999, -32_999]);
    table.reserve_rows(1 << 20).unwrap();
    let reserved = table.as_slice().unwrap().as_ptr();
    table.append(&vec![1.0_f32; 2 << 20]).unwrap();
    assert_eq!((table.as_slice().unwrap().as_ptr(), table.row_count()), (reserved, 33_000 + (1 << 20)));
}

#[test]
fn what_is_refused_leaves_the_table_and_its_memory_as_they_were() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(2, 3, layout);
        let share = table.clone();
        let memory = table.array().unwrap().as_ptr();
        assert_error!(table.push_row(&[1.0, 2.0]), ErrorKind::LengthMismatch { expected: 3, actual: 2 });
        assert_error!(table.append(&[1_u8; 7]), ErrorKind::NotWholeRows { values: 7, columns: 3 });
        assert_error!(
            table.append(&[1.0, 2.0, 3.0, 4.0, 256.0, 6.0]),
            ErrorKind::ValueNotRepresentable { row: 3, column: 1, .. }
        );
        assert_error!(
            table.push_row(&[1.0, f64::NAN, 2.0]),
            ErrorKind::ValueNotRepresentable { row: 2, column: 1, .. }
        );
        assert_error!(table.reserve_rows(usize::MAX), ErrorKind::SizeOverflow { .. });
        assert_error!(table.reserve_rows(usize::MAX / 6), ErrorKind::SizeOverflow { .. } | ErrorKind::OutOfMemory);
        assert!(table == share && table.array().unwrap().as_ptr() == memory);

        let wide = SoaNumericTable::from_columns([("a", vec![1, 2]), ("b", vec![3, 4])]).unwrap();
        assert_error!(table.append_table(&wide), ErrorKind::UnequalTables { .. }, "columns");
        let large = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 300]]).unwrap();
        assert_error!(table.append_table(&large), ErrorKind::ValueNotRepresentable { row: 3, column: 2, .. });
        assert!(table == share);
    }
}

#[test]
fn a_share_and_what_was_cut_off_are_not_seen_in_new_rows() {
    for layout in LAYOUTS {
        let mut table = numbered::<i16>(4, 2, layout);
        let share = table.clone();
        table.resize(1).unwrap();
        table.push_row(&[70_i16, 80]).unwrap();
        assert_eq!(table.rows::<i16>(..).unwrap()[..], [1, 2, 70, 80]);
        table.resize(4).unwrap();
        assert_eq!(table.rows::<i16>(2..).unwrap()[..], [0; 4]);
        assert_eq!(share.rows::<i16>(..).unwrap()[..], numbers::<i16>(2, 0..4));
    }
}

#[test]
fn a_table_that_is_lent_or_has_no_memory_is_not_extended() {
    let mut table = numbered::<f32>(2, 2, DataLayout::RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(table.push_row(&[1.0_f32, 2.0]), ErrorKind::BlockOutstanding { .. });
    table.release_block_of_rows(&mut block).unwrap();
    let mut none = Table::<f32>::new(shape(2, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(none.push_row(&[1.0_f32, 2.0]), ErrorKind::NotAllocated);
    let mut columns = empty::<u8>(0, DataLayout::RowMajor);
    columns.push_row::<u8>(&[]).unwrap();
    assert_eq!(columns.shape(), shape(1, 0));
}

#[test]
fn rows_of_other_kinds_are_appended() {
    for layout in LAYOUTS {
        let mut table = numbered::<f64>(1, 3, layout);
        let sparse = CsrNumericTable::try_new(shape(2, 3), vec![0, 1, 2], vec![2, 0], vec![7_u8, 9]).unwrap();
        table.append_table(&sparse).unwrap();
        table.append_table(&empty::<u8>(3, DataLayout::RowMajor)).unwrap();
        assert_eq!(table.rows::<i32>(..).unwrap()[..], [1, 2, 3, 0, 0, 7, 9, 0, 0]);
    }
}
