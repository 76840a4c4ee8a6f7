//! Blocks of a file that several threads read at the same time.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use numeric_table::{
    files::{TableReader, TableWriter},
    prelude::*,
};
use rayon::prelude::*;
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, address, assert_error, numbered, numbers, shape};
use test_support::{SmallNumber, for_each_element};

use crate::support::{Table, fast, scratch};

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn blocks_are_those_of_the_sequential_reader_in_their_order() {
    let (_folder, path) = scratch();
    let mut random = Random::new(7);
    let table = Table::<i32>::from_array(random.values(40_000 * 5), shape(40_000, 5)).unwrap();
    for layout in LAYOUTS {
        table.to_layout(layout).unwrap().save_with(&path, fast()).unwrap();
        let reader = TableReader::open(&path).unwrap();
        for rows_per_block in [999, 39_999, 40_000, usize::MAX] {
            let mut expected = Vec::new();
            let mut blocks = reader.row_blocks::<f64>(rows_per_block).unwrap();
            while let Some(block) = blocks.next_block().unwrap() {
                expected.push((block.row_range(), block.to_vec()));
            }
            for threads in [1, 2, 5] {
                let blocks = reader.par_row_blocks::<f64>(rows_per_block).unwrap();
                assert_eq!(blocks.len(), expected.len());
                let found: Result<Vec<_>, Error> = on_threads(threads, || {
                    blocks.map(|block| block.map(|block| (block.row_range(), block.to_vec()))).collect()
                });
                assert!(found.unwrap() == expected);
            }
        }
    }
}

#[test]
fn blocks_of_any_type_are_read_as_any_type() {
    fn from<S: SmallNumber>() {
        fn to<T: SmallNumber>(reader: &TableReader) {
            let blocks: Result<Vec<_>, Error> = reader.par_row_blocks::<T>(3).unwrap().collect();
            let values: Vec<T> = blocks.unwrap().iter().flat_map(|block| block.to_vec()).collect();
            assert_eq!(values, numbers::<T>(3, 0..7));
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
fn dropped_blocks_leave_their_buffers_to_later_ones() {
    let (_folder, path) = scratch();
    Table::<f32>::full(shape(100_000, 3), 1.5).unwrap().save_with(&path, fast()).unwrap();
    let reader = TableReader::open(&path).unwrap();
    for threads in [1, 3] {
        let places = Mutex::new(BTreeSet::new());
        on_threads(threads, || {
            reader.par_row_blocks::<f64>(1000).unwrap().for_each(|block| {
                let block = block.unwrap();
                assert!(block.iter().all(|&value| value == 1.5));
                places.lock().unwrap().insert(address(&block));
            });
        });
        assert!(places.into_inner().unwrap().len() <= threads);
    }
    // Blocks that are kept have buffers of their own.
    let blocks: Vec<_> = reader.par_row_blocks::<f64>(1000).unwrap().map(Result::unwrap).collect();
    let places: BTreeSet<usize> = blocks.iter().map(|block| address(block)).collect();
    assert_eq!(places.len(), 100);
}

#[test]
fn blocks_can_be_changed_and_nothing_is_written_back() {
    let (folder, path) = scratch();
    let table = numbered::<u8>(7, 3, DataLayout::RowMajor);
    table.save_with(&path, fast()).unwrap();
    let reader = TableReader::open(&path).unwrap();
    // Read and changed on all threads, some blocks at a time, written in order.
    let doubled = folder.path().join("doubled.ntb");
    let mut writer = TableWriter::<u16>::create_with(&doubled, 3, None, fast()).unwrap();
    let blocks = reader.par_row_blocks::<f32>(2).unwrap().map(|block| {
        let mut block = block?;
        assert!(!block.is_zero_copy());
        block.iter_mut().for_each(|value| *value *= 2.0);
        block.write_back()?;
        Ok(block)
    });
    for block in blocks.collect::<Result<Vec<_>, Error>>().unwrap() {
        writer.append(&block).unwrap();
        block.release().unwrap();
    }
    writer.finish().unwrap();
    let expected: Vec<u16> = (1..=21).map(|i| 2 * i).collect();
    assert_eq!(Table::<u16>::load(&doubled).unwrap().as_slice().unwrap(), expected);
    assert_eq!(Table::<u8>::load(&path).unwrap(), table);
}

#[test]
fn the_first_error_in_the_order_of_rows_is_collected_and_the_others_can_be_read() {
    let (_folder, path) = scratch();
    numbered::<u8>(40, 3, DataLayout::RowMajor).save_with(&path, fast()).unwrap();
    let reader = TableReader::open(&path).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096 + 50).unwrap();
    for threads in [1, 2, 5] {
        on_threads(threads, || {
            let all: Result<Vec<_>, Error> = reader.par_row_blocks::<f32>(4).unwrap().collect();
            assert_error!(all, ErrorKind::Format { .. }, "shorter");
            let outcomes: Vec<_> = reader.par_row_blocks::<f32>(4).unwrap().map(|block| block.is_ok()).collect();
            assert_eq!(outcomes, [true, true, true, true, false, false, false, false, false, false]);
        });
    }
}

#[test]
fn blocks_of_no_rows_are_refused_and_empty_files_have_empty_blocks() {
    let (_folder, path) = scratch();
    for layout in LAYOUTS {
        for shape in [shape(0, 0), shape(0, 4), shape(4, 0)] {
            let table = Table::<f32>::new_with_layout(shape, AllocationFlag::DoAllocate, layout).unwrap();
            table.save_with(&path, fast()).unwrap();
            let reader = TableReader::open(&path).unwrap();
            assert_error!(reader.par_row_blocks::<f32>(0), ErrorKind::ParameterOutOfRange { .. }, "rows of a block");
            let rows = reader.par_row_blocks::<u8>(3).unwrap().map(|block| {
                let block = block.unwrap();
                assert!(block.is_empty());
                block.row_count()
            });
            assert_eq!(rows.sum::<usize>(), shape.rows);
        }
    }
}

#[test]
fn progress_ends_at_the_total_and_large_blocks_end_on_one_thread() {
    let (_folder, path) = scratch();
    let table = Table::<u16>::full(shape(3 << 20, 2), 3).unwrap();
    for layout in LAYOUTS {
        table.to_layout(layout).unwrap().save_with(&path, fast()).unwrap();
        let (done, calls) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicUsize::new(0)));
        let (told, called) = (done.clone(), calls.clone());
        let reader = TableReader::open(&path).unwrap().on_progress(move |progress| {
            assert_eq!(progress.total, Some(12 << 20));
            told.store(progress.done, Ordering::SeqCst);
            called.fetch_add(1, Ordering::SeqCst);
        });
        for threads in [1, 2] {
            on_threads(threads, || {
                let sums = reader.par_row_blocks::<f64>(1 << 20).unwrap();
                let sum: f64 = sums.map(|block| block.unwrap().iter().sum::<f64>()).sum();
                assert_eq!(sum, 3.0 * f64::from(6 << 20));
            });
            assert_eq!(done.load(Ordering::SeqCst), 12 << 20);
        }
        assert!(calls.load(Ordering::SeqCst) <= 8);
    }
}
