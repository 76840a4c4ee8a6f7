//! Parallel calls in pools whose threads are busy, wait for something else, or never come: every call ends.
//!
//! Each test runs in a process of its own with a time limit, so that a call that never ends fails its test and no more.

use std::cell::Cell;
use std::io::Read;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use numeric_table::BasicStatistics;
use numeric_table::convert::{ConversionPolicy, convert_slice};
use numeric_table::execution::*;
use numeric_table::prelude::*;
use rayon::ThreadPoolBuilder;
use test_support::test_name;

/// Set in the process that a test runs in.
const CHILD: &str = "NUMERIC_TABLE_BUSY_POOLS_TEST";
const LIMIT: Duration = Duration::from_secs(60);
/// Values that are cut into tasks in every call here.
const COUNT: usize = 1 << 20;

fn ends(name: &str, test: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return test();
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &test_name!(name), "--nocapture", "--test-threads=1"])
        .envs([(CHILD, "1"), ("RUST_BACKTRACE", "0")])
        // A pool that counts the thread which made it is never freed by rayon.
        .env("ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=0")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("a call has not ended within {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert!(status.success() && printed.contains("1 passed"), "{status}: {printed}");
}

fn fill(handle: &mut ArrayHandle<f64, Rayon>, value: f64) {
    Rayon.fill(handle.prepare_for_output(COUNT).unwrap(), value).unwrap();
}

fn is_filled(handle: &ArrayHandle<f64, Rayon>, value: f64) -> bool {
    handle.len() == COUNT && handle.read_portal().unwrap().iter().all(|&found| found == value)
}

#[test]
fn two_tasks_that_share_a_locked_handle_both_end() {
    ends("two_tasks_that_share_a_locked_handle_both_end", || {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let handle = Mutex::new(ArrayHandle::empty(&Rayon));
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
    ends("a_call_under_a_lock_takes_up_no_other_task_that_wants_the_lock", || {
        let pool = Arc::new(ThreadPoolBuilder::new().num_threads(4).build().unwrap());
        let handle = Arc::new(Mutex::new(ArrayHandle::empty(&Rayon)));
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
                        BasicStatistics::of(&HomogenNumericTable::<f64>::full(shape, 1.5).unwrap()).unwrap();
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
    ends("a_thread_of_the_pool_that_waits_for_a_message_is_not_waited_for", || {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let ((send, receive), (is_waiting, begin)) = (channel(), channel());
        pool.spawn(move || {
            is_waiting.send(()).unwrap();
            receive.recv().unwrap();
        });
        begin.recv().unwrap();
        let mut handle = ArrayHandle::empty(&Rayon);
        pool.install(|| fill(&mut handle, 3.0));
        assert!(is_filled(&handle, 3.0));
        send.send(()).unwrap();
    });
}

#[test]
fn a_pool_that_counts_the_thread_that_made_it_is_used_from_another_thread() {
    ends("a_pool_that_counts_the_thread_that_made_it_is_used_from_another_thread", || {
        let pool = ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
        let mut handle = ArrayHandle::empty(&Rayon);
        thread::scope(|scope| {
            // This thread, which the pool counts, waits for the other one.
            scope.spawn(|| pool.install(|| fill(&mut handle, 4.0))).join().unwrap();
        });
        assert!(is_filled(&handle, 4.0));
    });
}

#[test]
fn threads_that_have_time_get_the_part_of_their_own_number() {
    ends("threads_that_have_time_get_the_part_of_their_own_number", || {
        let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let seen = Mutex::new(Vec::new());
        let all = Barrier::new(4); // nobody gets a second part before all have one
        let mut handle = ArrayHandle::<f64, _>::empty(&Rayon);
        pool.install(|| {
            let output = handle.prepare_for_output(COUNT).unwrap();
            let kernel = |items: Range<usize>, (), _: &mut [f64]| {
                all.wait();
                seen.lock().unwrap().push((items.start * 4 / COUNT, rayon::current_thread_index().unwrap()));
            };
            Rayon.launch((), output, COUNT, kernel).unwrap();
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [(0, 0), (1, 1), (2, 2), (3, 3)]);
    });
}

#[test]
fn a_call_from_outside_of_the_pool_ends_while_every_thread_of_it_waits_for_the_caller() {
    ends("a_call_from_outside_of_the_pool_ends_while_every_thread_of_it_waits_for_the_caller", || {
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
    ends("no_call_under_a_lock_takes_up_another_task_of_a_large_pool", || {
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

#[test]
fn a_panic_in_one_part_comes_to_the_caller_and_the_pool_goes_on() {
    ends("a_panic_in_one_part_comes_to_the_caller_and_the_pool_goes_on", || {
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for bad in 0..3 {
            let launch = || {
                let mut handle = ArrayHandle::<f64, _>::empty(&Rayon);
                let output = handle.prepare_for_output(COUNT).unwrap();
                let kernel = |items: Range<usize>, (), _: &mut [f64]| {
                    assert!(!items.contains(&(COUNT * bad / 3 + 100)), "part {bad}");
                };
                Rayon.launch((), output, COUNT, kernel)
            };
            let panic = catch_unwind(AssertUnwindSafe(|| pool.install(launch))).unwrap_err();
            assert_eq!(panic.downcast_ref::<String>(), Some(&format!("part {bad}")));
            let array = pool.install(|| Array::full(COUNT, 1.5)).unwrap();
            assert!(array.iter().all(|&value| value == 1.5));
        }
    });
}
