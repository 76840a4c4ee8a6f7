//! Parallel calls in pools whose threads are busy, wait for something else, or never come: every call ends.
//!
//! Each test runs in a process of its own with a time limit, so that a call that never ends fails its test and no more.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use numeric_table::convert::{ConversionPolicy, convert_slice};
use numeric_table::prelude::*;
use numeric_table::statistics::BasicStatistics;
use numeric_table_execution::*;
use rayon::ThreadPoolBuilder;
use test_support::test_name;

use crate::ends::ends;

/// Values that are cut into tasks in every call here.
const COUNT: usize = 1 << 20;

fn fill(handle: &mut ArrayHandle<f64, HostParallel>, value: f64) {
    HostParallel.fill(handle.prepare_for_output(COUNT).unwrap(), value).unwrap();
}

fn is_filled(handle: &ArrayHandle<f64, HostParallel>, value: f64) -> bool {
    handle.len() == COUNT && handle.read_portal().unwrap().iter().all(|&found| found == value)
}

#[test]
fn two_tasks_that_share_a_locked_handle_both_end() {
    ends(&test_name!("two_tasks_that_share_a_locked_handle_both_end"), || {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let handle = Mutex::new(ArrayHandle::empty(&HostParallel));
        for _ in 0..20 {
            pool.scope(|scope| {
                for value in [1.0, 2.0] {
                    let handle = &handle;
                    scope.spawn(move |_| {
                        let mut handle = handle.lock().unwrap();
                        fill(&mut handle, value);
                        assert!(is_filled(&handle, value));
                    });
                }
            });
        }
    });
}

#[test]
fn a_call_under_a_lock_takes_up_no_other_task_that_wants_the_lock() {
    ends(&test_name!("a_call_under_a_lock_takes_up_no_other_task_that_wants_the_lock"), || {
        let pool = Arc::new(ThreadPoolBuilder::new().num_threads(4).build().unwrap());
        let handle = Arc::new(Mutex::new(ArrayHandle::empty(&HostParallel)));
        let (send, receive) = channel();
        for task in 0..60 {
            let (handle, send) = (handle.clone(), send.clone());
            pool.spawn(move || {
                let mut handle = handle.lock().unwrap();
                match task % 4 {
                    0 => fill(&mut handle, 1.5),
                    1 => drop(Array::full(COUNT, 1.5).unwrap()),
                    2 => {
                        let mut target = vec![0.0_f32; COUNT];
                        convert_slice(&vec![1.5_f64; COUNT], &mut target, ConversionPolicy::Checked).unwrap();
                    }
                    _ => {
                        let shape = Shape { rows: COUNT / 2, columns: 2 };
                        BasicStatistics::compute(&HomogenNumericTable::<f64>::full(shape, 1.5).unwrap()).unwrap();
                    }
                }
                send.send(()).unwrap();
            });
        }
        drop(send);
        assert_eq!(receive.iter().count(), 60);
    });
}

#[test]
fn a_thread_of_the_pool_that_waits_for_a_message_is_not_waited_for() {
    ends(&test_name!("a_thread_of_the_pool_that_waits_for_a_message_is_not_waited_for"), || {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let ((send, receive), (is_waiting, begin)) = (channel(), channel());
        pool.spawn(move || {
            is_waiting.send(()).unwrap();
            receive.recv().unwrap();
        });
        begin.recv().unwrap();
        let mut handle = ArrayHandle::empty(&HostParallel);
        pool.install(|| fill(&mut handle, 3.0));
        assert!(is_filled(&handle, 3.0));
        send.send(()).unwrap();
    });
}

#[test]
fn a_pool_that_counts_the_thread_that_made_it_is_used_from_another_thread() {
    ends(&test_name!("a_pool_that_counts_the_thread_that_made_it_is_used_from_another_thread"), || {
        let pool = ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
        let mut handle = ArrayHandle::empty(&HostParallel);
        thread::scope(|scope| {
            // This thread, which the pool counts, waits for the other one.
            scope.spawn(|| pool.install(|| fill(&mut handle, 4.0))).join().unwrap();
        });
        assert!(is_filled(&handle, 4.0));
    });
}

#[test]
fn threads_that_have_time_get_the_part_of_their_own_number() {
    ends(&test_name!("threads_that_have_time_get_the_part_of_their_own_number"), || {
        let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let seen = Mutex::new(Vec::new());
        let all = Barrier::new(4); // nobody gets a second part before all have one
        let mut handle = ArrayHandle::<f64, _>::empty(&HostParallel);
        pool.install(|| {
            let output = handle.prepare_for_output(COUNT).unwrap();
            let kernel = |items: Range<usize>, (), _: &mut [f64]| {
                all.wait();
                seen.lock().unwrap().push((items.start * 4 / COUNT, rayon::current_thread_index().unwrap()));
            };
            HostParallel.launch((), output, COUNT, kernel).unwrap();
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [(0, 0), (1, 1), (2, 2), (3, 3)]);
    });
}

#[test]
fn a_panic_in_one_part_comes_to_the_caller_and_the_pool_goes_on() {
    ends(&test_name!("a_panic_in_one_part_comes_to_the_caller_and_the_pool_goes_on"), || {
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for bad in 0..3 {
            let launch = || {
                let mut handle = ArrayHandle::<f64, _>::empty(&HostParallel);
                let output = handle.prepare_for_output(COUNT).unwrap();
                let kernel = |items: Range<usize>, (), _: &mut [f64]| {
                    assert!(!items.contains(&(COUNT * bad / 3 + 100)), "part {bad}");
                };
                HostParallel.launch((), output, COUNT, kernel)
            };
            let panic = catch_unwind(AssertUnwindSafe(|| pool.install(launch))).unwrap_err();
            assert_eq!(panic.downcast_ref::<String>(), Some(&format!("part {bad}")));
            let array = pool.install(|| Array::full(COUNT, 1.5)).unwrap();
            assert!(array.iter().all(|&value| value == 1.5));
        }
    });
}
