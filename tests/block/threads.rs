//! Blocks and tables on several threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use numeric_table::prelude::*;
use test_support::sized;
use test_support::tables::*;

use DataLayout::RowMajor;
use MemoryStatus::UserAllocated;
use ReadWriteMode::ReadWrite;

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
fn a_panic_of_the_thread_that_has_the_block_returns_the_memory() {
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
                    for step in 0..sized(200, 4) {
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
            scope.spawn(move || assert!((0..sized(1000, 10)).all(|_| block.as_slice() == numbers::<i16>(3, 0..10))));
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
    for _ in 0..sized(50, 3) {
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
                        match table.rows::<i32>(0..2).map_err(Error::into_kind) {
                            Ok(rows) => break assert_eq!(&rows[..], [9, 2, 3, 4]),
                            Err(ErrorKind::BlockOutstanding { .. }) if !was_dropped => thread::yield_now(),
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
