//! Traces and threads: work that the library divides counts for the trace of the caller, and for no other.

use std::thread;

use numeric_table::prelude::*;
use numeric_table::trace::{CopyKind, Trace, TraceContext, copies_of};
use test_support::tables::*;

use super::{NOTHING, copies, set};
use CopyKind::{Converted, Gathered, Requested, Selected};

#[test]
fn concurrent_traces_do_not_see_each_other() {
    let work = |width: usize| {
        move || {
            let table = HomogenNumericTable::full(shape(64, width), 1.0_f32).unwrap();
            for round in 1..50_u64 {
                let row = (width * 8) as u64;
                let (_, report) = copies_of(|| {
                    for row in 0..round as usize {
                        table.rows::<f64>(row..row + 1).unwrap();
                        table.rows::<f32>(row..row + 1).unwrap();
                    }
                });
                assert_eq!((report.total().count, report.of(Converted).bytes), (round, round * row));
            }
        }
    };
    thread::scope(|scope| {
        (1..6).for_each(|width| drop(scope.spawn(work(width)))); // the scope panics if one of them does
    });
    assert_eq!(copies(|| thread::spawn(|| Array::copy_of(&[1_u8]).unwrap().len()).join().unwrap()), NOTHING);
}

#[test]
fn divided_work_is_one_copy_of_the_caller() {
    const ROWS: usize = 1 << 20; // over the limit for several threads
    let table = HomogenNumericTable::full(shape(ROWS, 2), 1.0_f32).unwrap();
    let bytes = (ROWS * 2 * 4) as u64;
    assert_eq!(copies(|| table.convert::<f64>().unwrap()), [(Converted, 1, 2 * bytes)]);
    assert_eq!(copies(|| table.to_layout(DataLayout::ColumnMajor).unwrap()), [(Gathered, 1, bytes)]);
    assert_eq!(copies(|| table.filter_rows(&vec![true; ROWS]).unwrap()), [(Selected, 1, bytes)]);
    assert_eq!(copies(|| table.rows::<i32>(..).unwrap().len()), [(Converted, 1, bytes)]);
    assert_eq!(copies(|| Array::copy_of(table.as_slice().unwrap()).unwrap()), [(Requested, 1, bytes)]);
    // The rows are read by several threads, in blocks.
    let (_, report) = copies_of(|| table.filter_rows_by(|row: &[f64]| row[0] > 0.0).unwrap());
    assert_eq!((report.of(Converted).bytes, report.of(Selected).bytes), (2 * bytes, bytes));
    assert_eq!(report.total().bytes, 3 * bytes);
}

#[test]
fn a_thread_of_the_program_works_for_the_trace_that_is_handed_to_it() {
    let table = numbered::<f32>(8, 3, DataLayout::RowMajor);
    let (_, report) = copies_of(|| {
        let context = TraceContext::current();
        thread::scope(|scope| {
            for half in [0..4, 4..8] {
                let (table, context) = (&table, &context);
                scope.spawn(move || context.run(|| table.rows::<f64>(half).unwrap().len()));
            }
        });
    });
    assert_eq!((report.total().count, report.of(Converted).bytes), (2, 8 * 3 * 8));
}

#[test]
fn a_trace_that_is_started_for_another_thread_goes_on() {
    let copy = || Array::copy_of(&[1_u8, 2, 3]).unwrap();
    let outer = Trace::start();
    let context = TraceContext::current();
    thread::scope(|scope| {
        let work = || {
            let own = Trace::start();
            let inner = context.run(|| {
                let inner = Trace::start();
                copy();
                inner
            });
            copy(); // of this thread: for both of its traces
            assert_eq!((inner.finish().total().bytes, own.report().total().bytes), (6, 3));
            copy();
            context.run(|| drop(Trace::start())); // one that ends is forgotten
            copy();
            assert_eq!(own.finish().total().bytes, 9);
            assert_eq!(copies(copy), [(Requested, 1, 3)]);
        };
        scope.spawn(work);
    });
    assert_eq!(outer.finish().total().bytes, 3);
}

#[cfg(feature = "rayon")]
mod pools {
    use rayon::iter::{IndexedParallelIterator, ParallelIterator};
    use rayon::{ThreadPool, ThreadPoolBuilder};

    use super::*;
    use CopyKind::{Staged, WrittenBack};

    fn pool(threads: usize) -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn parallel_blocks_count_for_the_thread_that_requests_them() {
        let mut table = HomogenNumericTable::full(shape(1000, 3), 1_i16).unwrap();
        let bytes = 1000 * 3 * 8;
        let pool = pool(3);
        for _ in 0..20 {
            let read = copies(|| {
                let blocks = table.par_row_blocks::<f64>(64).unwrap();
                pool.install(|| blocks.for_each(|block| assert!(!block.unwrap().is_zero_copy())));
            });
            assert_eq!(read, [(Converted, 16, bytes)]);
            let in_place = copies(|| table.par_row_blocks::<i16>(64).unwrap().for_each(|block| drop(block.unwrap())));
            assert_eq!(in_place, NOTHING);
            let written = copies(|| {
                let blocks = table.par_row_blocks_mut::<f64>(64).unwrap();
                pool.install(|| blocks.with_min_len(2).for_each(|block| block.unwrap().release().unwrap()));
            });
            assert_eq!(written, [(Converted, 16, bytes), (WrittenBack, 16, bytes)]);
            let updated = copies(|| table.par_update_row_blocks::<f64>(64, set(1.0)).unwrap());
            assert_eq!(updated, [(Converted, 16, bytes), (WrittenBack, 16, bytes)]);
            let staged = copies(|| table.par_update_row_blocks::<i16>(64, set(1)).unwrap());
            assert_eq!(staged, [(Staged, 16, 6000), (WrittenBack, 16, 6000)]);
        }
    }

    #[test]
    fn threads_that_share_a_pool_keep_their_traces_apart() {
        let pool = pool(2);
        thread::scope(|scope| {
            for width in 1..5_usize {
                let pool = &pool;
                scope.spawn(move || {
                    let table = HomogenNumericTable::full(shape(1 << 18, width), 1.0_f32).unwrap();
                    let bytes = (width << 18) as u64;
                    for _ in 0..5 {
                        let (_, report) =
                            pool.install(|| copies_of(|| table.filter_rows_by(|row: &[f64]| row[0] > 1.0)));
                        assert_eq!((report.of(Converted).bytes, report.total().bytes), (bytes * 8, bytes * 8));
                        let (_, report) = copies_of(|| table.convert::<f64>().unwrap());
                        assert_eq!((report.of(Converted).bytes, report.total().count), (bytes * 8, 1));
                    }
                });
            }
        });
    }
}
