//! `resize`: without memory, it allocates zeros; memory with room serves further rows; memory of the library that is
//! too small is replaced, with its values; memory of the user that is too small is left alone and let go of.

use std::sync::Arc;

use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{CountingOwner, DropCount, SmallNumber, for_each_element};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::{ColumnMajor, RowMajor};
use MemoryStatus::{InternallyAllocated, NotAllocated, UserAllocated};

#[test]
fn resize_of_an_unallocated_table_allocates_zeros() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::<i32>::new_with_layout(shape(7, 2), DoNotAllocate, layout).unwrap();
        table.resize(3).unwrap();
        assert_eq!((table.data_memory_status(), table.data_layout()), (InternallyAllocated, layout));
        assert_eq!(values_of(&table), [0; 6]);
    }
}

/// DAAL: error -4 on an unallocated table, success on an allocated one.
#[test]
fn resize_to_no_rows_works_on_every_table() {
    let mut unallocated = HomogenNumericTable::<i32>::new(shape(7, 2), DoNotAllocate).unwrap();
    unallocated.resize(0).unwrap();
    let mut allocated = numbered::<i32>(3, 2, RowMajor);
    allocated.resize(0).unwrap();
    assert_eq!((unallocated.row_count(), allocated.row_count()), (0, 0));
    assert!(allocated.as_slice().unwrap().is_empty());
}

/// DAAL loses the values.
#[test]
fn a_larger_library_buffer_keeps_the_values_and_shows_zeros_after_them() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::full_with_layout(shape(2, 3), 5_i16, layout).unwrap();
        table.resize(4).unwrap();
        assert_eq!(table.data_memory_status(), InternallyAllocated);
        assert_eq!(values_of(&table), [5, 5, 5, 5, 5, 5, 0, 0, 0, 0, 0, 0]);
    }
}

fn resize_keeps_every_value<T: SmallNumber>() {
    for layout in LAYOUTS {
        let mut table = numbered::<T>(3, 2, layout);
        table.resize(5).unwrap();
        let mut expected = numbers::<T>(2, 0..3);
        expected.extend([T::small(0); 4]);
        assert_eq!(values_of(&table), expected);
    }
}

#[test]
fn resize_keeps_every_value_in_every_type_and_layout() {
    for_each_element!(resize_keeps_every_value);
}

/// DAAL: the table then claims rows that the user's memory does not hold.
#[test]
fn user_memory_that_is_too_small_is_left_alone_and_let_go_of() {
    for layout in LAYOUTS {
        let user: Arc<[i32]> = Arc::from([1, 2, 3, 4]);
        let mut table = HomogenNumericTable::from_array_with_layout(Arc::clone(&user), shape(2, 2), layout).unwrap();
        assert_eq!(Arc::strong_count(&user), 2);
        table.resize(3).unwrap();
        assert_eq!((table.data_memory_status(), Arc::strong_count(&user)), (InternallyAllocated, 1));
        table.fill(9).unwrap();
        assert_eq!(*user, [1, 2, 3, 4]);
    }
}

#[test]
fn static_memory_that_is_too_small_keeps_its_values() {
    static USER: [u8; 2] = [1, 2];
    let mut table = HomogenNumericTable::from_array(&USER[..], shape(2, 1)).unwrap();
    table.resize(3).unwrap();
    assert_eq!((values_of(&table), USER), (vec![1, 2, 0], [1, 2]));
}

#[test]
fn a_vec_that_is_too_small_is_freed() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1_u8, 2], &drops);
    let mut table = HomogenNumericTable::from_array(Array::from_owner_mut(owner), shape(2, 1)).unwrap();
    table.resize(3).unwrap();
    assert_eq!((values_of(&table), drops.get()), (vec![1, 2, 0], 1));
}

#[test]
fn user_memory_with_room_serves_further_rows() {
    let values = vec![1, 2, 3, 4, 5, 6];
    let place = address(&values);
    let mut table = HomogenNumericTable::from_array_with_spare_rows(values, shape(1, 2)).unwrap();
    assert_eq!(table.as_slice().unwrap(), [1, 2]);
    table.resize(3).unwrap();
    assert_eq!((table.data_memory_status(), address(table.as_slice().unwrap())), (UserAllocated, place));
    assert_eq!(table.as_slice().unwrap(), [1, 2, 3, 4, 5, 6]);
    table.resize(4).unwrap(); // no room for this one
    assert_eq!(
        (table.data_memory_status(), table.as_slice().unwrap()[6..].to_vec()),
        (InternallyAllocated, vec![0, 0])
    );
}

#[test]
fn fewer_rows_change_nothing_but_the_count() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(4, 2, layout);
        let place = address(table.array().unwrap());
        table.resize(2).unwrap();
        assert_eq!((table.data_memory_status(), address(table.array().unwrap())), (UserAllocated, place));
        assert_eq!(values_of(&table), [1, 2, 3, 4]);
    }
}

/// DAAL compares row counts: 10 -> 2 -> 5 reallocates there, although there is room.
#[test]
fn capacity_decides_and_not_the_old_row_count() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::full_with_layout(shape(10, 2), 3_u8, layout).unwrap();
        let place = address(table.array().unwrap());
        table.resize(2).unwrap();
        table.resize(5).unwrap();
        assert_eq!(address(table.array().unwrap()), place);
        table.resize(10).unwrap();
        let expected = [vec![3; 4], vec![0; 16]].concat();
        assert_eq!((address(table.array().unwrap()), values_of(&table)), (place, expected));
        table.fill(3_u8).unwrap();
        table.resize(11).unwrap();
        assert_eq!(values_of(&table)[18..], [3, 3, 0, 0]);
    }
}

#[test]
fn a_slice_that_grows_shows_zeros_and_never_the_rows_of_its_table() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(4, 2, layout);
        let mut slice = table.slice_rows(1..2).unwrap();
        slice.resize(3).unwrap();
        assert_eq!(values_of(&slice), [3, 4, 0, 0, 0, 0]);
        assert_eq!(values_of(&table), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn a_slice_that_shrinks_and_grows_leaves_its_table_as_it_was() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(4, 2, layout);
        let mut slice = table.slice_rows(1..3).unwrap();
        slice.resize(1).unwrap();
        assert!(slice.array().unwrap().shares_memory_with(table.array().unwrap()));
        slice.resize(2).unwrap();
        assert_eq!(values_of(&slice), [3, 4, 0, 0]);
        assert_eq!(values_of(&table), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn a_clone_that_is_resized_leaves_the_other_as_it_was() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(3, 2, layout);
        let (mut smaller, mut larger) = (table.clone(), table.clone());
        smaller.resize(1).unwrap();
        larger.resize(4).unwrap();
        assert_eq!(values_of(&smaller), [1, 2]);
        assert_eq!(values_of(&larger), [1, 2, 3, 4, 5, 6, 0, 0]);
        assert_eq!(values_of(&table), [1, 2, 3, 4, 5, 6]);
    }
}

#[test]
fn a_shrunk_column_major_table_is_written_in_its_own_rows_only() {
    let mut table = numbered::<u8>(3, 2, ColumnMajor);
    table.resize(2).unwrap();
    assert_error!(table.as_slice(), ErrorKind::MemoryLayout { .. }, "contiguous");
    assert_error!(table.as_mut_slice(), ErrorKind::MemoryLayout { .. }, "contiguous");
    table.rows_mut::<u8>(0..2).unwrap().fill(9);
    assert_eq!(table.array().unwrap()[..], [9, 9, 5, 9, 9, 6]); // the room in between is left alone
    table.resize(3).unwrap();
    assert_eq!(values_of(&table), [9, 9, 9, 9, 0, 0]);
}

#[test]
fn rows_of_no_columns_need_no_memory() {
    let mut table = HomogenNumericTable::<f64>::new(shape(1, 0), DoAllocate).unwrap();
    table.resize(usize::MAX).unwrap();
    assert_eq!((table.row_count(), table.as_slice().unwrap().len()), (usize::MAX, 0));
}

#[test]
fn a_resize_that_fails_leaves_the_table_as_it_was() {
    for layout in LAYOUTS {
        for mut table in
            [numbered::<f64>(3, 2, layout), HomogenNumericTable::full_with_layout(shape(3, 2), 1.5, layout).unwrap()]
        {
            let before = state_of(&table);
            assert_error!(table.resize(usize::MAX), ErrorKind::SizeOverflow { .. });
            if usize::BITS > 32 {
                assert_error!(table.resize(isize::MAX as usize / 16), ErrorKind::OutOfMemory); // or 2 GiB, which there may be
            }
            assert_eq!(state_of(&table), before);
        }
    }
}

#[test]
fn a_resize_that_fails_leaves_an_unallocated_table_as_it_was() {
    let mut table = HomogenNumericTable::<f64>::new(shape(3, 2), DoNotAllocate).unwrap();
    assert_error!(table.resize(usize::MAX), ErrorKind::SizeOverflow { .. });
    if usize::BITS > 32 {
        assert_error!(table.resize(isize::MAX as usize / 16), ErrorKind::OutOfMemory); // or 2 GiB, which there may be
    }
    assert_eq!((table.shape(), table.data_memory_status()), (shape(3, 2), NotAllocated));
}

#[test]
fn a_large_table_keeps_its_values_through_growth() {
    let rows = 600_000; // 2.4 MB grow to 7.2 MB: from a small block to a large one
    let mut table = HomogenNumericTable::from_array((0..rows as u32).collect::<Vec<_>>(), shape(rows, 1)).unwrap();
    table.resize(3 * rows).unwrap();
    let values = table.as_slice().unwrap();
    assert!(values[..rows].iter().enumerate().all(|(i, &value)| value == i as u32));
    assert!(values[rows..].iter().all(|&value| value == 0));
}

#[test]
fn a_table_that_grows_row_by_row_keeps_its_values_and_moves_seldom() {
    for layout in LAYOUTS {
        let (mut table, mut moves, mut place) = (numbered::<u16>(1, 2, layout), 0, 0);
        for rows in 2..3000 {
            table.resize(rows).unwrap();
            assert_eq!(table.rows::<u16>(rows - 1..).unwrap()[..], [0, 0], "{rows}");
            table.rows_mut::<u16>(rows - 1..).unwrap().fill(rows as u16);
            moves += usize::from(place != address(table.array().unwrap()));
            place = address(table.array().unwrap());
        }
        assert!(moves < 25, "{moves}");
        assert_eq!((table.shape(), table.data_memory_status()), (shape(2999, 2), InternallyAllocated));
        let column = table.column::<u32>(1, 1..).unwrap();
        assert!(column.iter().enumerate().all(|(index, &value)| value == index as u32 + 2));
        drop(column);
        assert_eq!(values_of(&table.to_compact().unwrap()).len(), 2 * 2999);
        // What was cut off is gone, whether or not there is room.
        table.resize(1).unwrap();
        table.resize(5000).unwrap();
        let rows = table.rows::<u16>(..).unwrap();
        assert!(rows[..2] == [1, 2] && rows[2..].iter().all(|&value| value == 0));
    }
}

#[test]
fn a_table_that_grows_once_takes_no_more_memory_than_it_needs() {
    for layout in LAYOUTS {
        let mut table = numbered::<u16>(50, 2, layout);
        table.resize(51).unwrap();
        assert_eq!(table.array().unwrap().len(), 102);
        assert!(table.as_slice().is_ok());
    }
}

#[test]
fn reserved_memory_keeps_spare_rows() {
    let values = Array::from_owner(vec![1_u8, 2, 3, 4, 5, 6]); // which is copied to be written
    let mut table = HomogenNumericTable::from_array_with_spare_rows(values, shape(1, 2)).unwrap();
    table.reserve_rows(5).unwrap();
    table.resize(4).unwrap();
    assert_eq!(table.as_slice().unwrap(), [1, 2, 3, 4, 5, 6, 0, 0]);
}

#[test]
fn columns_records_and_sparse_rows_that_grow_row_by_row_show_zeros() {
    use numeric_table::{AosNumericTable, CsrNumericTable, SoaNumericTable, table::RecordLayout};

    let layout = RecordLayout::new(6).field("a", ElementType::U16, 4).unwrap().field("b", ElementType::U8, 1).unwrap();
    let offsets = vec![0_i32];
    let tables: [Box<dyn NumericTable>; 3] = [
        Box::new(SoaNumericTable::from_columns([("a", vec![0_u16; 0]), ("b", vec![0_u16; 0])]).unwrap()),
        Box::new(AosNumericTable::zeros(&layout, 0).unwrap()),
        Box::new(CsrNumericTable::try_new(shape(0, 2), offsets, vec![0_i32; 0], vec![0_u16; 0]).unwrap()),
    ];
    for mut table in tables {
        let can_be_filled = table.kind() != numeric_table::table::spi::TableKind::CSR;
        for rows in 1..200 {
            table.resize(rows).unwrap();
            assert_eq!(table.rows::<u8>(rows - 1..).unwrap()[..], [0, 0], "{rows}");
            if can_be_filled {
                let mut block = table.rows_mut::<u8>(rows - 1..).unwrap();
                block.fill(rows as u8);
                block.release().unwrap();
            }
        }
        let expected: Vec<u8> = (1..200).map(|row| if can_be_filled { row } else { 0 }).collect();
        assert_eq!(table.column::<u8>(0, ..).unwrap()[..], expected);
        for (rows, more) in [(5, 9), (3, 250), (249, 251)] {
            table.resize(rows).unwrap();
            table.resize(more).unwrap();
            assert_eq!(table.rows::<u8>(rows..).unwrap().iter().find(|&&value| value != 0), None);
        }
        assert_eq!(table.column::<u8>(1, ..3).unwrap()[..], expected[..3]);
    }
}

#[test]
fn a_clone_of_a_table_that_grows_in_place_sees_nothing_of_it() {
    use numeric_table::SoaNumericTable;

    let mut table = SoaNumericTable::from_columns([("a", vec![1_u16, 2])]).unwrap();
    table.resize(3).unwrap(); // with room
    let clone = table.clone();
    table.resize(2).unwrap();
    table.resize(4).unwrap();
    table.fill(9_u8).unwrap();
    assert_eq!(clone.column_slice::<u16>(0).unwrap(), [1, 2, 0]);
}
