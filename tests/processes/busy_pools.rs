//! Parallel calls in pools whose threads are busy, wait for something else, or never come: every call ends.
//!
//! Each test runs in a process of its own with a time limit, so that a call that never ends fails its test and no more.

use std::cell::Cell;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use numeric_table::prelude::*;
use rayon::ThreadPoolBuilder;
use test_support::test_name;

use crate::ends::ends;

/// Values that are cut into tasks in every call here.
const COUNT: usize = 1 << 20;

#[test]
fn a_call_from_outside_of_the_pool_ends_while_every_thread_of_it_waits_for_the_caller() {
    ends(&test_name!("a_call_from_outside_of_the_pool_ends_while_every_thread_of_it_waits_for_the_caller"), || {
        ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
        let table =
            Arc::new(Mutex::new(HomogenNumericTable::full(Shape { rows: COUNT, columns: 1 }, 1.0_f64).unwrap()));
        let mut held = table.lock().unwrap();
        let (begin, has_begun) = channel();
        let (end, has_ended) = channel();
        for _ in 0..2 {
            let (table, begin, end) = (Arc::clone(&table), begin.clone(), end.clone());
            rayon::spawn(move || {
                begin.send(()).unwrap();
                end.send(table.lock().unwrap().as_slice().unwrap()[0]).unwrap();
            });
        }
        has_begun.iter().take(2).for_each(drop);
        held.fill(3.0).unwrap();
        assert_eq!(Array::full(COUNT, 2.0_f64).unwrap()[COUNT - 1], 2.0);
        assert_eq!(held.convert::<f32>().unwrap().as_slice().unwrap()[5], 3.0);
        drop(held);
        assert!(has_ended.iter().take(2).all(|seen| seen == 3.0));
    });
}

#[test]
fn no_call_under_a_lock_takes_up_another_task_of_a_large_pool() {
    ends(&test_name!("no_call_under_a_lock_takes_up_another_task_of_a_large_pool"), || {
        let pool = ThreadPoolBuilder::new().num_threads(32).build().unwrap();
        let shape = Shape { rows: 600_000, columns: 1 };
        let table = Arc::new(Mutex::new(HomogenNumericTable::full(shape, 1.5_f64).unwrap()));
        thread_local!(static HAS_LOCK: Cell<bool> = const { Cell::new(false) });
        let (send, receive) = channel();
        for task in 0..300 {
            let (table, send) = (Arc::clone(&table), send.clone());
            pool.spawn(move || {
                assert!(!HAS_LOCK.get(), "a thread that waits under the lock has begun another task");
                let mut table = table.lock().unwrap();
                HAS_LOCK.set(true);
                match task % 3 {
                    0 => table.fill(f64::from(task)).unwrap(),
                    1 => drop(Array::full(600_000, 1.5_f64).unwrap()),
                    _ => table
                        .par_update_row_blocks::<f64>(1000, |block| {
                            block[0] += 1.0;
                            Ok(())
                        })
                        .unwrap(),
                }
                HAS_LOCK.set(false);
                drop(table);
                send.send(()).unwrap();
            });
        }
        drop(send);
        assert_eq!(receive.iter().count(), 300);
    });
}
