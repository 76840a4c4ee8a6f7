//! Copy on write: who sees a write, and whose memory is written. Memory that is shared, or that the user lent for
//! reading, is copied before the first write.

use std::sync::Arc;

use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{CountingOwner, DropCount};

use DataLayout::RowMajor;
use MemoryStatus::{InternallyAllocated, UserAllocated};
use ReadWriteMode::{ReadOnly, ReadWrite};

// --- clones: copy on write -----------------------------------------------------------------------------------------

type Writer = fn(&mut HomogenNumericTable<f32>);

/// Every way to write, each as a function that makes the first value 9.
fn writers() -> [(&'static str, Writer); 9] {
    [
        ("as_mut_slice", |table| table.as_mut_slice().unwrap()[0] = 9.0),
        ("view_mut", |table| table.view_mut().unwrap().set_value(0, 0, 9.0).unwrap()),
        ("set_value", |table| table.set_value(0, 0, 9).unwrap()),
        ("rows_mut", |table| table.rows_mut::<f32>(0..1).unwrap()[0] = 9.0),
        ("rows_mut, converted", |table| table.rows_mut::<i32>(0..1).unwrap()[0] = 9),
        ("column_mut", |table| table.column_mut::<f32>(0, 0..1).unwrap()[0] = 9.0),
        ("row_blocks_mut", |table| table.row_blocks_mut::<f32>(1).unwrap().next().unwrap().unwrap()[0] = 9.0),
        ("get_block_of_rows", |table| write_block::<f32>(table, 9.0)),
        ("get_block_of_rows, converted", |table| write_block::<i32>(table, 9)),
    ]
}

fn write_block<U: Element>(table: &mut HomogenNumericTable<f32>, value: U) {
    let mut block = BlockDescriptor::<U>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = value;
    table.release_block_of_rows(&mut block).unwrap();
}

#[test]
fn a_clone_shares_until_the_first_write_and_keeps_its_values() {
    for layout in LAYOUTS {
        for (name, write) in writers() {
            let mut table = numbered::<f32>(2, 2, layout);
            let clone = table.clone();
            assert!(clone.array().unwrap().shares_memory_with(table.array().unwrap()));
            write(&mut table);
            assert_eq!(values_of(&table), [9.0, 2.0, 3.0, 4.0], "{name}");
            assert_eq!(values_of(&clone), [1.0, 2.0, 3.0, 4.0], "{name}");
            assert!(!clone.array().unwrap().shares_memory_with(table.array().unwrap()), "{name}");
        }
    }
}

#[test]
fn a_write_through_a_clone_leaves_the_original() {
    for (name, write) in writers() {
        let table = numbered::<f32>(2, 2, RowMajor);
        let mut clone = table.clone();
        write(&mut clone);
        assert_eq!((values_of(&table)[0], values_of(&clone)[0]), (1.0, 9.0), "{name}");
    }
}

#[test]
fn a_slice_and_its_table_do_not_see_each_others_writes() {
    for layout in LAYOUTS {
        let mut table = numbered::<f32>(3, 2, layout);
        let mut slice = table.slice_rows(1..3).unwrap();
        slice.fill(9.0).unwrap();
        assert_eq!(values_of(&table), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let slice = table.slice_rows(1..3).unwrap();
        table.fill(7.0).unwrap();
        assert_eq!(values_of(&slice), [3.0, 4.0, 5.0, 6.0]);
    }
}

#[test]
fn the_last_owner_writes_in_place_again() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let place = address(table.as_slice().unwrap());
    drop(table.clone());
    drop(table.slice_rows(0..1).unwrap());
    table.as_mut_slice().unwrap()[0] = 9.0;
    assert_eq!((address(table.as_slice().unwrap()), table.data_memory_status()), (place, UserAllocated));
}

#[test]
fn only_the_copy_becomes_internally_allocated() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let clone = table.clone();
    assert_eq!(clone.data_memory_status(), UserAllocated);
    table.set_value(0, 0, 9.0).unwrap();
    assert_eq!((table.data_memory_status(), clone.data_memory_status()), (InternallyAllocated, UserAllocated));
}

#[test]
fn an_array_taken_from_a_table_keeps_its_values() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut array = table.array().unwrap().clone();
    assert_error!(array.mutable_data(), ErrorKind::ImmutableData { owner_count: 2, .. });
    table.set_value(0, 0, 9.0).unwrap();
    assert_eq!(&array[..], [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn reading_never_copies_shared_memory() {
    let table = numbered::<f32>(2, 2, RowMajor);
    let mut clone = table.clone();
    let mut block = BlockDescriptor::<f32>::new();
    clone.get_block_of_rows(0, 2, ReadOnly, &mut block).unwrap();
    assert_eq!(address(block.as_slice()), address(table.as_slice().unwrap()));
    assert_eq!(address(&clone.rows::<f32>(0..2).unwrap()), address(table.as_slice().unwrap()));
}

// --- memory of the user --------------------------------------------------------------------------------------------

#[test]
fn immutable_memory_of_the_user_is_never_written() {
    static VALUES: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
    for (name, write) in writers() {
        let mut table = HomogenNumericTable::from_array(&VALUES[..], shape(2, 2)).unwrap();
        write(&mut table);
        assert_eq!(values_of(&table), [9.0, 2.0, 3.0, 4.0], "{name}");
        assert_eq!(VALUES, [1.0, 2.0, 3.0, 4.0], "{name}");
        assert_ne!(address(table.as_slice().unwrap()), address(&VALUES), "{name}");
        assert_eq!(table.data_memory_status(), InternallyAllocated, "{name}");
    }
}

#[test]
fn an_arc_of_the_user_is_never_written_and_is_let_go_of_at_the_first_write() {
    let user: Arc<[f32]> = Arc::from([1.0, 2.0, 3.0, 4.0]);
    for (name, write) in writers() {
        let mut table = HomogenNumericTable::from_array(Arc::clone(&user), shape(2, 2)).unwrap();
        write(&mut table);
        assert_eq!((Arc::strong_count(&user), &user[..]), (1, &[1.0, 2.0, 3.0, 4.0][..]), "{name}");
    }
}

#[test]
fn mutable_memory_of_the_user_is_written_in_place() {
    for (name, write) in writers() {
        let values = vec![1.0_f32, 2.0, 3.0, 4.0];
        let place = address(&values);
        let mut table = HomogenNumericTable::from_array(values, shape(2, 2)).unwrap();
        write(&mut table);
        assert_eq!((address(table.as_slice().unwrap()), table.data_memory_status()), (place, UserAllocated), "{name}");
        let values = table.into_array().unwrap().try_into_vec().unwrap();
        assert_eq!((address(&values), values), (place, vec![9.0, 2.0, 3.0, 4.0]), "{name}");
    }
}

#[test]
fn a_mutable_owner_is_written_in_place_and_dropped_once() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1.0_f32, 2.0], &drops);
    let place = address(&owner.values);
    let mut table = HomogenNumericTable::from_array(Array::from_owner_mut(owner), shape(1, 2)).unwrap();
    table.set_value(0, 0, 9).unwrap();
    assert_eq!((address(table.as_slice().unwrap()), table.as_slice().unwrap()), (place, &[9.0, 2.0][..]));
    drop(table);
    assert_eq!(drops.get(), 1);
}

/// Whether memory is copied decides nothing that a table shows later.
#[test]
fn a_copy_on_write_has_the_spare_rows_as_well() {
    static VALUES: [u8; 6] = [1, 2, 3, 4, 5, 6];
    let mut table = HomogenNumericTable::from_array_with_spare_rows(&VALUES[..], shape(1, 2)).unwrap();
    table.fill(9).unwrap();
    table.resize(3).unwrap();
    assert_eq!(values_of(&table), [9, 9, 3, 4, 5, 6]);
}

/// Rows that were cut off are not copied: nobody will ever see them.
#[test]
fn a_copy_on_write_has_no_rows_that_were_cut_off() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(3, 2, layout);
        let _shared = table.clone();
        table.resize(1).unwrap();
        table.fill(9).unwrap();
        assert_eq!(table.array().unwrap()[..], [9, 9]);
    }
}

/// "Whenever a call returns an error, everything is as it was before the call": no copy, no new status either.
#[test]
fn a_write_that_fails_leaves_immutable_memory_in_place() {
    static VALUES: [u8; 2] = [1, 2];
    let mut table = HomogenNumericTable::from_array(&VALUES[..], shape(1, 2)).unwrap();
    let before = state_of(&table);
    assert_error!(table.set_value(0, 2, 1), ErrorKind::ColumnOutOfRange { .. });
    assert_error!(table.rows_mut::<u8>(0..2), ErrorKind::RowsOutOfRange { .. });
    assert_error!(table.row_blocks_mut::<u8>(0), ErrorKind::ParameterOutOfRange { .. }, "rows of a block");
    assert_eq!(state_of(&table), before);
    assert_error!(table.set_value(0, 0, 256), ErrorKind::ValueNotRepresentable { .. });
    assert_eq!(state_of(&table), before);
    assert_error!(table.fill(-1), ErrorKind::ValueNotRepresentable { .. });
    assert_eq!(state_of(&table), before);
}

#[test]
fn a_write_that_fails_leaves_a_clone_shared() {
    let table = numbered::<u8>(2, 2, RowMajor);
    let mut clone = table.clone();
    assert_error!(clone.set_value(0, 0, 256), ErrorKind::ValueNotRepresentable { .. });
    assert_error!(clone.fill(f32::NAN), ErrorKind::ValueNotRepresentable { .. });
    assert!(clone.array().unwrap().shares_memory_with(table.array().unwrap()));
}
