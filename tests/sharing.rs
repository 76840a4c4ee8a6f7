//! Sharing: what survives a write-back, who sees a write, whose memory is written, and what other threads may do.
//!
//! Semantics: DESIGN 5.2 (a value that nobody changed is not rewritten; leases) and 5.3 (copy on write, user memory).

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::tables::*;
use common::{CountingOwner, DropCount, SmallNumber, for_each_element};
use numeric_table::AnySlice;
use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::{Lease, Region};

use DataLayout::{ColumnMajor, RowMajor};
use MemoryStatus::{InternallyAllocated, UserAllocated};
use ReadWriteMode::{ReadOnly, ReadWrite, WriteOnly};

// -------------------------------------------------------------------------------------- values that nobody changed survive

/// Takes every row of a two-row table as `U`, changes the last value to 5, releases; three ways, both layouts.
/// Gives the other values as they are then.
fn untouched_after_a_converted_write<T: SmallNumber, U: SmallNumber>(first: T) -> Vec<T> {
    let mut found = Vec::new();
    for layout in LAYOUTS {
        let fresh = || HomogenNumericTable::from_array_in(vec![first, T::small(1)], shape(2, 1), layout).unwrap();

        let mut table = fresh();
        let mut block = BlockDescriptor::<U>::new();
        table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap()[1] = U::small(5);
        table.release_block_of_rows(&mut block).unwrap();
        assert_eq!(values_of(&table)[1], T::small(5));
        found.push(table.as_slice().unwrap()[0]);

        let mut table = fresh();
        let mut block = table.rows_mut::<U>(0..2).unwrap();
        block[1] = U::small(5);
        block.release().unwrap();
        assert_eq!(values_of(&table)[1], T::small(5));
        found.push(table.as_slice().unwrap()[0]);

        let mut table = fresh();
        table.column_mut::<U>(0, 0..2).unwrap()[1] = U::small(5);
        assert_eq!(values_of(&table)[1], T::small(5));
        found.push(table.as_slice().unwrap()[0]);
    }
    found
}

#[test]
fn an_i64_that_f64_cannot_hold_survives() {
    for value in [(1_i64 << 53) + 1, i64::MAX, i64::MIN + 1] {
        assert_eq!(untouched_after_a_converted_write::<i64, f64>(value), [value; 6]);
        assert_eq!(untouched_after_a_converted_write::<i64, i32>(value), [value; 6]);
    }
}

#[test]
fn an_f64_that_f32_cannot_hold_survives() {
    for value in [0.1, 1.0 + f64::EPSILON, 1e300, -1e-300, f64::MAX, f64::INFINITY] {
        assert_eq!(untouched_after_a_converted_write::<f64, f32>(value), [value; 6]);
        assert_eq!(untouched_after_a_converted_write::<f64, i32>(value), [value; 6]);
    }
}

#[test]
fn the_largest_u64_survives_through_f32() {
    assert_eq!(untouched_after_a_converted_write::<u64, f32>(u64::MAX), [u64::MAX; 6]);
    assert_eq!(untouched_after_a_converted_write::<u64, u8>(u64::MAX), [u64::MAX; 6]);
}

#[test]
fn a_signalling_nan_survives_with_its_payload() {
    let signalling = f32::from_bits(0x7FA0_1234);
    let found = untouched_after_a_converted_write::<f32, f64>(signalling);
    assert_eq!(found.into_iter().map(f32::to_bits).collect::<Vec<_>>(), [0x7FA0_1234; 6]);
    let found = untouched_after_a_converted_write::<f32, i32>(signalling); // shows 0, and stays NaN
    assert_eq!(found.into_iter().map(f32::to_bits).collect::<Vec<_>>(), [0x7FA0_1234; 6]);
}

#[test]
fn a_signalling_nan_survives_in_a_block_of_its_own_type() {
    let mut table = HomogenNumericTable::from_rows(&[[f32::from_bits(0x7FA0_1234), 1.0]]).unwrap();
    let columns = table.to_layout(ColumnMajor).unwrap().convert::<f32>().unwrap();
    table.rows_mut::<f32>(0..1).unwrap()[1] = 2.0;
    assert_eq!(table.as_slice().unwrap()[0].to_bits(), 0x7FA0_1234);
    assert_eq!(columns.rows::<f32>(0..1).unwrap()[0].to_bits(), 0x7FA0_1234);
}

#[test]
fn a_negative_zero_survives() {
    let found = untouched_after_a_converted_write::<f64, i32>(-0.0);
    assert!(found.into_iter().all(|value| value.to_bits() == (-0.0_f64).to_bits()));
    let found = untouched_after_a_converted_write::<f32, f64>(-0.0);
    assert!(found.into_iter().all(|value| value.to_bits() == (-0.0_f32).to_bits()));
}

#[test]
fn a_zero_that_is_changed_to_negative_zero_is_written() {
    let mut table = HomogenNumericTable::from_rows(&[[0.0_f64]]).unwrap();
    table.rows_mut::<f32>(0..1).unwrap()[0] = -0.0;
    assert!(table.as_slice().unwrap()[0].is_sign_negative());
}

#[test]
fn a_value_that_is_changed_is_written_even_if_it_is_close() {
    let mut table = HomogenNumericTable::from_rows(&[[0.1_f64]]).unwrap();
    let mut block = table.rows_mut::<f32>(0..1).unwrap();
    block[0] = block[0].next_up();
    block.release().unwrap();
    assert_eq!(table.as_slice().unwrap(), [f64::from(0.1_f32.next_up())]);
}

/// A value that does not fit back, and was never changed, is no reason to refuse the block.
#[test]
fn values_nobody_changed_are_not_checked() {
    let mut table = HomogenNumericTable::from_rows(&[[200_u8, 1], [3, 4]]).unwrap();
    let mut block = BlockDescriptor::<i8>::with_policy(ConversionPolicy::Saturate);
    table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
    assert_eq!(block.as_slice(), [127, 1, 3, 4]);
    block.as_mut_slice().unwrap()[3] = 5;
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(table.as_slice().unwrap(), [200, 1, 3, 5]);
    let mut table = HomogenNumericTable::from_rows(&[[u64::MAX, 1]]).unwrap();
    table.rows_mut::<f32>(0..1).unwrap().release().unwrap(); // 2^64 as f32 does not fit in u64
    assert_eq!(table.as_slice().unwrap(), [u64::MAX, 1]);
}

#[test]
fn a_write_only_block_writes_what_it_holds_whatever_was_there() {
    let mut table = HomogenNumericTable::from_rows(&[[0.1_f64, 0.2]]).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, WriteOnly, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 0.1;
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(table.as_slice().unwrap(), [f64::from(0.1_f32), 0.0]);
}

fn untouched_tables_stay<T: SmallNumber>() {
    for layout in LAYOUTS {
        let (mut table, expected) = (numbered::<T>(3, 2, layout), numbers::<T>(2, 0..3));
        for_each_element!(U => table.rows_mut::<U>(0..3).unwrap().release().unwrap());
        assert_eq!(values_of(&table), expected);
    }
}

#[test]
fn a_block_that_nobody_changed_changes_nothing_in_any_pair_of_types() {
    for_each_element!(untouched_tables_stay);
}

// ------------------------------------------------------------------------------------------------- clones: copy on write

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
    assert_error!(array.mutable_data(), Error::SharedData { owner_count: 2 });
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

// --------------------------------------------------------------------------------------------------- memory of the user

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
    assert_error!(table.set_value(0, 2, 1), Error::ColumnOutOfRange { .. });
    assert_error!(table.rows_mut::<u8>(0..2), Error::RowsOutOfRange { .. });
    assert_error!(table.row_blocks_mut::<u8>(0), Error::EmptyBlocks);
    assert_eq!(state_of(&table), before);
    assert_error!(table.set_value(0, 0, 256), Error::ValueNotRepresentable { .. });
    assert_eq!(state_of(&table), before);
    assert_error!(table.fill(-1), Error::ValueNotRepresentable { .. });
    assert_eq!(state_of(&table), before);
}

#[test]
fn a_write_that_fails_leaves_a_clone_shared() {
    let table = numbered::<u8>(2, 2, RowMajor);
    let mut clone = table.clone();
    assert_error!(clone.set_value(0, 0, 256), Error::ValueNotRepresentable { .. });
    assert_error!(clone.fill(f32::NAN), Error::ValueNotRepresentable { .. });
    assert!(clone.array().unwrap().shares_memory_with(table.array().unwrap()));
}

// ----------------------------------------------------------------------------------------------------- clones and leases

#[test]
fn a_clone_made_before_a_lease_is_not_leased() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let clone = table.clone();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 9.0;
    assert_eq!(values_of(&clone), [1.0, 2.0, 3.0, 4.0]);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!((values_of(&table)[0], values_of(&clone)[0]), (9.0, 1.0));
}

#[test]
fn a_clone_made_while_leased_waits_and_then_shares_what_comes_back() {
    for layout in LAYOUTS {
        let mut table = numbered::<f32>(2, 2, layout);
        let mut block = BlockDescriptor::<f64>::new();
        table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
        let mut clone = table.clone();
        assert_error!(clone.as_slice(), Error::BlockOutstanding { rows } if rows == (0..1));
        block.as_mut_slice().unwrap()[0] = 9.0;
        table.release_block_of_rows(&mut block).unwrap();
        assert_eq!((values_of(&table), values_of(&clone)), (vec![9.0, 2.0, 3.0, 4.0], vec![9.0, 2.0, 3.0, 4.0]));
        assert!(clone.array().unwrap().shares_memory_with(table.array().unwrap()));
        clone.fill(0).unwrap();
        assert_eq!(values_of(&table), [9.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn a_clone_made_while_leased_outlives_the_table() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 9.0;
    let mut clone = table.clone();
    drop(table);
    assert_error!(clone.as_slice(), Error::BlockOutstanding { .. });
    assert_error!(clone.release_block_of_rows(&mut block), Error::WrongTable);
    drop(block);
    assert_eq!(values_of(&clone), [9.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_clone_that_has_not_looked_yet_does_not_see_the_next_lease() {
    let mut table = numbered::<f32>(1, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    let clone = table.clone();
    block.as_mut_slice().unwrap()[0] = 8.0;
    table.release_block_of_rows(&mut block).unwrap();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 9.0;
    assert_eq!(values_of(&clone), [8.0, 2.0]);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!((values_of(&table), values_of(&clone)), (vec![9.0, 2.0], vec![8.0, 2.0]));
}

#[test]
fn a_block_outlives_its_table_and_frees_the_memory() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1.0_f32, 2.0], &drops);
    let mut table = HomogenNumericTable::from_array(Array::from_owner_mut(owner), shape(2, 1)).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
    drop(table);
    block.as_mut_slice().unwrap()[1] = 9.0;
    assert_eq!((block.as_slice(), drops.get()), (&[1.0, 9.0][..], 0));
    drop(block);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_lease_of_shared_or_immutable_memory_is_of_a_copy() {
    static VALUES: [f32; 2] = [1.0, 2.0];
    let mut table = HomogenNumericTable::from_array(&VALUES[..], shape(2, 1)).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 1, ReadWrite, &mut block).unwrap();
    assert_eq!(block.as_slice(), [2.0]);
    block.as_mut_slice().unwrap()[0] = 9.0;
    assert!(block.is_zero_copy());
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!((values_of(&table), VALUES), (vec![1.0, 9.0], [1.0, 2.0]));
    assert_eq!(table.data_memory_status(), InternallyAllocated);
}

#[test]
fn a_lease_of_mutable_user_memory_keeps_place_and_status() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let place = address(table.as_slice().unwrap());
    for mode in [ReadWrite, WriteOnly] {
        let mut block = BlockDescriptor::<f32>::new();
        table.get_block_of_rows(0, 2, mode, &mut block).unwrap();
        assert_eq!(address(block.as_slice()), place);
        table.release_block_of_rows(&mut block).unwrap();
    }
    assert_eq!((address(table.as_slice().unwrap()), table.data_memory_status()), (place, UserAllocated));
}

// --------------------------------------------------------------------------------------------------------------- threads

#[test]
fn descriptors_are_dropped_and_released_on_other_threads() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    thread::spawn(move || {
        block.as_mut_slice().unwrap()[0] = 9.0;
        drop(block);
    })
    .join()
    .unwrap();
    assert_eq!(values_of(&table), [9.0, 2.0, 3.0, 4.0]);

    let mut block = BlockDescriptor::<i32>::new();
    table.get_block_of_rows(1, 1, ReadWrite, &mut block).unwrap();
    let table = thread::spawn(move || {
        block.as_mut_slice().unwrap()[0] = 7;
        table.release_block_of_rows(&mut block).unwrap();
        table
    })
    .join()
    .unwrap();
    assert_eq!(values_of(&table), [9.0, 2.0, 7.0, 4.0]);
}

#[test]
fn a_panic_of_the_thread_that_has_the_block_gives_the_memory_back() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    let result = thread::spawn(move || {
        block.as_mut_slice().unwrap()[0] = 9.0;
        panic!("the thread that has the block panics, on purpose");
    })
    .join();
    assert!(result.is_err());
    assert_eq!(values_of(&table), [9.0, 2.0, 3.0, 4.0]);
}

#[test]
fn many_threads_read_while_others_hold_blocks() {
    for layout in LAYOUTS {
        let table = numbered::<i16>(40, 3, layout);
        let held = (table.rows::<i16>(0..40).unwrap(), table.rows::<f64>(3..9).unwrap());
        thread::scope(|scope| {
            for reader in 0..8 {
                let table = &table;
                scope.spawn(move || {
                    let (mut same, mut other) = (BlockDescriptor::<i16>::new(), BlockDescriptor::<f32>::new());
                    for step in 0..200 {
                        let first = (reader * 5 + step) % 38;
                        let rows = first..first + 2;
                        assert_eq!(table.read_rows(rows.clone(), &mut same).unwrap(), numbers::<i16>(3, rows.clone()));
                        assert_eq!(table.read_rows(rows.clone(), &mut other).unwrap(), numbers::<f32>(3, rows));
                    }
                });
            }
        });
        assert_eq!((held.0.to_vec(), held.1.to_vec()), (numbers::<i16>(3, 0..40), numbers::<f64>(3, 3..9)));
    }
}

#[test]
fn readers_on_other_threads_keep_what_they_read_while_the_table_is_written() {
    let mut table = numbered::<i16>(10, 3, RowMajor);
    let mut blocks: Vec<BlockDescriptor<i16>> = (0..4).map(|_| BlockDescriptor::new()).collect();
    for block in &mut blocks {
        table.read_rows(0..10, block).unwrap();
    }
    thread::scope(|scope| {
        for block in &blocks {
            scope.spawn(move || assert!((0..1000).all(|_| block.as_slice() == numbers::<i16>(3, 0..10))));
        }
        for value in 0..100_i16 {
            table.fill(value).unwrap();
        }
    });
    assert_eq!(table.value::<i16>(9, 2).unwrap(), 99);
}

/// Many tables wait for one block; whoever looks first collects the memory, and each gets its share.
#[test]
fn threads_that_wait_for_a_block_all_get_what_comes_back() {
    for _ in 0..50 {
        let mut table = numbered::<i32>(2, 2, RowMajor);
        let mut block = BlockDescriptor::<i32>::new();
        table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
        let clones = [table.clone(), table.clone()];
        let is_dropped = AtomicBool::new(false);
        thread::scope(|scope| {
            for table in [&table, &table, &clones[0], &clones[0], &clones[1]] {
                scope.spawn(|| {
                    loop {
                        let was_dropped = is_dropped.load(Ordering::SeqCst);
                        match table.rows::<i32>(0..2) {
                            Ok(rows) => break assert_eq!(&rows[..], [9, 2, 3, 4]),
                            Err(Error::BlockOutstanding { .. }) if !was_dropped => thread::yield_now(),
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                    let copy = table.clone();
                    assert_eq!(values_of(&copy), [9, 2, 3, 4]);
                });
            }
            block.as_mut_slice().unwrap()[0] = 9;
            drop(block);
            is_dropped.store(true, Ordering::SeqCst);
        });
        drop(clones);
        table.as_mut_slice().unwrap()[0] = 1;
        assert_eq!(table.data_memory_status(), UserAllocated); // nobody else is left: written in place
    }
}

// -------------------------------------------------------------------------------------------- leases, without a descriptor

#[test]
fn a_lease_is_written_only_through_the_table_that_made_it() {
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    for layout in LAYOUTS {
        for in_place in [None, Some(ElementType::U8)] {
            let mut table = numbered::<u8>(2, 1, layout);
            let mut lease = Lease::new();
            let is_in_place = table.lend_region(&Region { rows: 0..2, columns: 0..1 }, in_place, &mut lease).unwrap();
            assert_eq!(is_in_place, in_place.is_some());
            let (mut clone, mut other) = (table.clone(), numbered::<u8>(2, 1, layout));
            let mut clone_of_clone = clone.clone();
            for stranger in [&mut clone, &mut clone_of_clone, &mut other] {
                let written = stranger.write_lent(&mut lease, AnySlice::new(&[7_u8, 8]), rule);
                assert_error!(written, Error::WrongTable);
                assert_error!(stranger.take_back(&mut lease), Error::WrongTable);
            }
            table.write_lent(&mut lease, AnySlice::new(&[5_u8, 6]), rule).unwrap();
            if is_in_place {
                drop(lease);
            } else {
                table.take_back(&mut lease).unwrap();
                assert_error!(table.take_back(&mut lease), Error::WrongTable); // it holds nothing any more
            }
            assert_eq!((values_of(&table), values_of(&clone), values_of(&other)), (vec![5, 6], vec![5, 6], vec![1, 2]));
        }
    }
}

#[test]
fn a_lease_whose_table_is_gone_is_written_by_no_clone() {
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    let mut table = numbered::<u8>(2, 1, RowMajor);
    let mut lease = Lease::new();
    table.lend_region(&Region { rows: 0..2, columns: 0..1 }, None, &mut lease).unwrap();
    let mut clone = table.clone();
    drop(table);
    assert_error!(clone.write_lent(&mut lease, AnySlice::new(&[7_u8, 8]), rule), Error::WrongTable);
    drop(lease);
    assert_eq!(values_of(&clone), [1, 2]);
    // What comes back to the clone is its own, to be lent again.
    let mut lease = Lease::new();
    clone.lend_region(&Region { rows: 0..2, columns: 0..1 }, None, &mut lease).unwrap();
    clone.write_lent(&mut lease, AnySlice::new(&[7_u8, 8]), rule).unwrap();
    drop(lease);
    assert_eq!(values_of(&clone), [7, 8]);
}
