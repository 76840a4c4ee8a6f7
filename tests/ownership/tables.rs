//! Owners of the memory of tables.

use numeric_table::prelude::*;
use test_support::{CountingOwner, DropCount};

use super::{IMMUTABLE, MUTABLE, Owner, SHAPE, VALUES, repeat, repeat_with_all, table};

#[test]
fn a_table_that_outlives_its_array_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array.clone());
        drop(array);
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
        drop(table);
    });
}

#[test]
fn an_array_that_outlives_its_table_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array.clone());
        drop(table);
        owner.assert_alive();
        assert_eq!(array.as_slice(), VALUES);
        drop(array);
    });
}

#[test]
fn a_table_of_some_rows_that_outlives_its_table_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let tail = table.slice_rows(1..3).unwrap();
        drop(table);
        owner.assert_alive();
        assert_eq!(tail.as_slice().unwrap(), [3.0, 4.0, 5.0, 6.0]);
        drop(tail);
    });
}

#[test]
fn a_clone_that_outlives_its_table_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let clone = table.clone();
        drop(table);
        owner.assert_alive();
        assert_eq!(clone.as_slice().unwrap(), VALUES);
        drop(clone);
    });
}

#[test]
fn a_boxed_table_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table: Box<dyn NumericTable> = Box::new(table(array));
        owner.assert_alive();
        drop(table);
    });
}

#[test]
fn an_array_that_is_too_short_for_its_table_is_dropped_once() {
    repeat_with_all(|array, owner| {
        assert!(HomogenNumericTable::from_array(array, Shape { rows: 4, columns: 2 }).is_err());
        owner.assert_dropped();
    });
}

#[test]
fn the_first_write_lets_go_of_an_immutable_owner_at_once() {
    repeat(&IMMUTABLE, |array, owner| {
        let mut table = table(array);
        table.set_value(0, 0, 9.0_f32).unwrap();
        owner.assert_dropped();
        assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
    });
}

#[test]
fn writing_keeps_a_mutable_owner() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        table.set_value(0, 0, 9.0_f32).unwrap();
        owner.assert_alive();
        assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated);
    });
}

#[test]
fn the_first_write_to_a_clone_leaves_the_owner_to_the_other() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let mut clone = table.clone();
        clone.set_value(0, 0, 9.0_f32).unwrap();
        owner.assert_alive();
        drop(table);
        owner.assert_dropped();
        assert_eq!(clone.as_slice().unwrap()[..2], [9.0, 2.0]);
    });
}

#[test]
fn set_array_lets_go_of_the_old_owner_and_keeps_the_new_one() {
    repeat_with_all(|array, owner| {
        let new = Owner { source: "the new array", drops: DropCount::new() };
        let mut table = table(array);
        table.set_array(Array::from_owner(CountingOwner::new([7.0, 8.0], &new.drops)), 1).unwrap();
        owner.assert_dropped();
        new.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [7.0, 8.0]);
        drop(table);
        new.assert_dropped();
    });
}

#[test]
fn a_refused_set_array_keeps_the_old_owner_and_lets_go_of_the_new_one() {
    repeat_with_all(|array, owner| {
        let new = Owner { source: "the refused array", drops: DropCount::new() };
        let mut table = table(array);
        assert!(table.set_array(Array::from_owner(CountingOwner::new([7.0], &new.drops)), 1).is_err());
        new.assert_dropped();
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
    });
}

#[test]
fn free_data_memory_lets_go_of_the_owner_at_once() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        table.free_data_memory().unwrap();
        owner.assert_dropped();
        assert_eq!(table.shape(), SHAPE);
    });
}

#[test]
fn allocate_data_memory_lets_go_of_the_owner_at_once() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        table.allocate_data_memory().unwrap();
        owner.assert_dropped();
        assert_eq!(table.as_slice().unwrap(), [0.0; 6]);
    });
}

#[test]
fn fewer_rows_keep_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        for rows in [3, 1, 0] {
            table.resize(rows).unwrap();
            owner.assert_alive();
        }
    });
}

#[test]
fn rows_that_appear_again_keep_the_owner_of_memory_that_may_be_written() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        table.resize(1).unwrap();
        table.resize(3).unwrap();
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    });
}

#[test]
fn rows_that_appear_again_let_go_of_the_owner_of_memory_that_may_not_be_written() {
    repeat(&IMMUTABLE, |array, owner| {
        let mut table = table(array);
        table.resize(1).unwrap();
        table.resize(3).unwrap();
        owner.assert_dropped();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    });
}

#[test]
fn spare_rows_that_appear_keep_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = HomogenNumericTable::from_array_with_spare_rows(array, Shape { rows: 1, columns: 2 }).unwrap();
        table.resize(3).unwrap();
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
    });
}

#[test]
fn resize_beyond_the_memory_lets_go_of_the_owner_at_once() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        table.resize(4).unwrap();
        owner.assert_dropped();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0]);
    });
}

#[test]
fn a_refused_resize_keeps_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        assert!(table.resize(usize::MAX).is_err());
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
    });
}

#[test]
fn into_array_hands_the_owner_on() {
    repeat_with_all(|array, owner| {
        let array = table(array).into_array().unwrap();
        owner.assert_alive();
        assert_eq!((array.owner_count(), array.as_slice()), (1, &VALUES[..]));
        drop(array);
    });
}

#[test]
fn into_array_of_some_rows_hands_the_owner_on() {
    repeat_with_all(|array, owner| {
        let array = table(array).slice_rows(1..2).unwrap().into_array().unwrap();
        owner.assert_alive();
        assert_eq!((array.owner_count(), array.as_slice()), (1, &[3.0, 4.0][..]));
        drop(array);
    });
}

#[test]
fn a_table_converted_to_its_own_type_shares_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let same = table.convert::<f32>().unwrap();
        drop(table);
        owner.assert_alive();
        assert_eq!(same.as_slice().unwrap(), VALUES);
        drop(same);
    });
}

#[test]
fn a_table_converted_to_another_type_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let other = table.convert::<i64>().unwrap();
        drop(table);
        owner.assert_dropped();
        assert_eq!(other.as_slice().unwrap(), [1, 2, 3, 4, 5, 6]);
    });
}

#[test]
fn a_table_in_another_layout_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let other = table.to_layout(DataLayout::ColumnMajor).unwrap();
        drop(table);
        owner.assert_dropped();
        assert_eq!(other.as_slice().unwrap(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    });
}

#[test]
fn a_compact_copy_of_some_rows_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let row = table.slice_rows(1..2).unwrap();
        let compact = row.to_compact().unwrap();
        drop((table, row));
        owner.assert_dropped();
        assert_eq!(compact.as_slice().unwrap(), [3.0, 4.0]);
    });
}

#[test]
fn a_compact_copy_has_nothing_to_do_with_the_owner_even_if_the_whole_table_went_first() {
    repeat_with_all(|array, owner| {
        let row = table(array).slice_rows(1..2).unwrap(); // the only owner left, of a block three times its size
        let compact = row.to_compact().unwrap();
        drop(row);
        owner.assert_dropped();
        assert_eq!(compact.as_slice().unwrap(), [3.0, 4.0]);
    });
}

#[test]
fn an_archived_table_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let bytes = table.to_bytes().unwrap();
        drop(table);
        owner.assert_dropped();
        let table = HomogenNumericTable::<f32>::from_bytes(&bytes).unwrap();
        assert_eq!(table.as_slice().unwrap(), VALUES);
    });
}
