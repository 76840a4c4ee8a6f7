//! Owners of the memory of tables whose blocks are held by descriptors.

use std::thread;

use numeric_table::prelude::*;
use test_support::DropCount;

use super::{IMMUTABLE, MUTABLE, Owner, VALUES, repeat, repeat_with_all, rows_of, table};

#[test]
fn a_zero_copy_reading_block_that_outlives_its_table_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        assert!(block.is_zero_copy());
        drop(table);
        owner.assert_alive();
        assert_eq!(block.as_slice(), [3.0, 4.0, 5.0, 6.0]);
        drop(block);
    });
}

#[test]
fn a_table_that_outlives_its_zero_copy_reading_block_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        drop(block);
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
        drop(table);
    });
}

#[test]
fn a_released_reading_block_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let mut block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        table.release_block_of_rows(&mut block).unwrap();
        drop(table);
        owner.assert_dropped();
        assert!(block.as_slice().is_empty());
    });
}

#[test]
fn a_converted_reading_block_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f64>(&mut table, ReadWriteMode::ReadOnly);
        assert!(!block.is_zero_copy());
        drop(table);
        owner.assert_dropped();
        assert_eq!(block.as_slice(), [3.0, 4.0, 5.0, 6.0]);
    });
}

#[test]
fn a_reading_block_lets_go_of_the_owner_when_its_descriptor_gets_another_block() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let mut block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        drop(table);
        owner.assert_alive();
        let mut other = HomogenNumericTable::from_rows(&[[7.0_f32, 8.0]]).unwrap();
        other.get_block_of_rows(0, 1, ReadWriteMode::ReadOnly, &mut block).unwrap();
        owner.assert_dropped();
        assert_eq!(block.as_slice(), [7.0, 8.0]);
    });
}

#[test]
fn a_reading_block_keeps_the_owner_of_the_array_that_was_replaced() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        table.set_array(vec![0.0; 6], 3).unwrap();
        owner.assert_alive();
        assert_eq!(block.as_slice(), [3.0, 4.0, 5.0, 6.0]);
        drop(block);
        owner.assert_dropped();
    });
}

#[test]
fn a_table_that_is_written_while_a_reading_block_is_out_leaves_the_owner_to_the_block() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        table.fill(9.0_f32).unwrap();
        owner.assert_alive();
        assert_eq!(block.as_slice(), [3.0, 4.0, 5.0, 6.0]);
        drop(block);
        owner.assert_dropped();
        assert_eq!(table.as_slice().unwrap(), [9.0; 6]);
    });
}

#[test]
fn a_writable_block_lets_go_of_an_immutable_owner_when_it_is_got() {
    for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
        repeat(&IMMUTABLE, |array, owner| {
            let mut table = table(array);
            let _block = rows_of::<f32>(&mut table, mode);
            owner.assert_dropped();
        });
        repeat(&IMMUTABLE, |array, owner| {
            let mut table = table(array);
            let _block = rows_of::<f64>(&mut table, mode);
            owner.assert_dropped();
        });
    }
}

#[test]
fn a_zero_copy_writable_block_that_outlives_its_table_drops_the_owner() {
    for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
        repeat(&MUTABLE, |array, owner| {
            let mut table = table(array);
            let mut block = rows_of::<f32>(&mut table, mode);
            assert!(block.is_zero_copy());
            drop(table);
            owner.assert_alive();
            block.as_mut_slice().unwrap()[0] = 30.0;
            assert_eq!(block.as_slice(), [30.0, 4.0, 5.0, 6.0]);
            drop(block);
        });
    }
}

#[test]
fn a_converted_writable_block_that_outlives_its_table_drops_the_owner() {
    for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
        repeat(&MUTABLE, |array, owner| {
            let mut table = table(array);
            let mut block = rows_of::<f64>(&mut table, mode);
            assert!(!block.is_zero_copy());
            drop(table);
            owner.assert_alive();
            block.as_mut_slice().unwrap().fill(30.0);
            drop(block);
        });
    }
}

#[test]
fn a_table_that_outlives_its_dropped_writable_block_has_its_owner_back() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let in_place = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        drop(in_place);
        let converted = rows_of::<f64>(&mut table, ReadWriteMode::ReadWrite);
        drop(converted);
        owner.assert_alive();
        assert_eq!(table.array().unwrap().owner_count(), 1);
        drop(table);
    });
}

#[test]
fn a_table_that_never_looked_again_after_its_writable_block_still_drops_the_owner() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        drop(block);
        owner.assert_alive();
        drop(table);
    });
}

#[test]
fn released_writable_blocks_leave_the_owner_to_the_table() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let mut in_place = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        in_place.as_mut_slice().unwrap()[0] = 30.0;
        table.release_block_of_rows(&mut in_place).unwrap();
        let mut converted = rows_of::<f64>(&mut table, ReadWriteMode::ReadWrite);
        converted.as_mut_slice().unwrap()[1] = 40.0;
        table.release_block_of_rows(&mut converted).unwrap();
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 30.0, 40.0, 5.0, 6.0]);
        drop(table);
        owner.assert_dropped();
        drop((in_place, converted));
    });
}

#[test]
fn column_blocks_drop_the_owner_once_in_both_orders() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let mut block = BlockDescriptor::<f32>::new();
        table.get_block_of_column_values(1, 0, 3, ReadWriteMode::ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap()[0] = 20.0;
        table.release_block_of_column_values(&mut block).unwrap();
        assert_eq!(table.as_slice().unwrap()[1], 20.0);
        table.get_block_of_column_values(1, 0, 3, ReadWriteMode::ReadWrite, &mut block).unwrap();
        drop(table);
        owner.assert_alive();
        drop(block);
    });
}

#[test]
fn a_writable_block_dropped_on_another_thread_drops_the_owner() {
    for (source, make) in MUTABLE {
        let owner = Owner { source, drops: DropCount::new() };
        let mut table = table(make(&owner.drops));
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        drop(table);
        thread::spawn(move || drop(block)).join().unwrap();
        owner.assert_dropped();
    }
}

#[test]
fn calls_that_a_leased_table_refuses_keep_the_owner() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        assert!(
            table.free_data_memory().is_err_and(|error| matches!(error.kind(), ErrorKind::BlockOutstanding { .. }))
        );
        assert!(
            table
                .set_array(vec![0.0; 6], 3)
                .is_err_and(|error| matches!(error.kind(), ErrorKind::BlockOutstanding { .. }))
        );
        assert!(table.resize(9).is_err_and(|error| matches!(error.kind(), ErrorKind::BlockOutstanding { .. })));
        assert!(table.into_array().is_err_and(|error| matches!(error.kind(), ErrorKind::BlockOutstanding { .. })));
        owner.assert_alive();
        drop(block);
    });
}

#[test]
fn a_leased_table_its_clone_and_the_block_drop_the_owner_in_every_order() {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in ORDERS {
        repeat(&MUTABLE, |array, owner| {
            let mut original = table(array);
            let block = rows_of::<f32>(&mut original, ReadWriteMode::ReadWrite);
            let clone = original.clone();
            assert!(clone.as_slice().is_err_and(|error| matches!(error.kind(), ErrorKind::BlockOutstanding { .. })));
            let (mut tables, mut block) = ([Some(original), Some(clone)], Some(block));
            for (step, &part) in order.iter().enumerate() {
                owner.assert_alive();
                match part {
                    2 => drop(block.take()),
                    part => drop(tables[part].take()),
                }
                assert_eq!(owner.drops.get(), usize::from(step == 2), "{}: step {step} of {order:?}", owner.source);
            }
        });
    }
}

#[test]
fn a_clone_of_a_leased_table_shares_what_comes_back() {
    repeat(&MUTABLE, |array, owner| {
        let mut original = table(array);
        let mut block = rows_of::<f32>(&mut original, ReadWriteMode::ReadWrite);
        let mut clone = original.clone();
        block.as_mut_slice().unwrap()[0] = 30.0;
        original.release_block_of_rows(&mut block).unwrap();
        assert!(clone.array().unwrap().shares_memory_with(original.array().unwrap()));
        assert_eq!(clone.array().unwrap().owner_count(), 2);
        clone.set_value(0, 0, 9.0_f32).unwrap(); // copies: the owner stays with the original
        owner.assert_alive();
        assert_eq!(original.as_slice().unwrap(), [1.0, 2.0, 30.0, 4.0, 5.0, 6.0]);
        drop(original);
        owner.assert_dropped();
        assert_eq!(clone.as_slice().unwrap(), [9.0, 2.0, 30.0, 4.0, 5.0, 6.0]);
    });
}

#[test]
fn a_chain_of_clones_of_a_leased_table_drops_the_owner() {
    repeat(&MUTABLE, |array, owner| {
        let mut original = table(array);
        let block = rows_of::<f64>(&mut original, ReadWriteMode::ReadWrite);
        let first = original.clone();
        let second = first.clone();
        drop(first);
        drop(block);
        assert_eq!(second.as_slice().unwrap(), VALUES);
        let third = second.clone();
        drop(original);
        drop(second);
        owner.assert_alive();
        assert_eq!(third.array().unwrap().owner_count(), 1);
        drop(third);
    });
}
