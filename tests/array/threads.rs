//! Arrays that several threads share.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Barrier;
use std::thread;

use numeric_table::{Array, Element};
use test_support::{DropCount, SmallNumber, for_each_element, sized};

use super::from_raw;

#[test]
fn arrays_of_every_element_type_are_send_and_sync() {
    const fn assert_send_sync<T: Send + Sync + 'static>() {}
    fn check<T: Element>() {
        const { assert_send_sync::<Array<T>>() };
        const { assert_send_sync::<Array<MaybeUninit<T>>>() };
    }
    for_each_element!(check);
    const { assert_send_sync::<Array<String>>() };
}

#[test]
fn an_array_of_cells_is_not_sync() {
    /// `IS_SYNC` is the inherent constant if `T: Sync`, and that of the trait otherwise.
    struct Probe<T>(PhantomData<T>);
    impl<T: Sync> Probe<T> {
        const IS_SYNC: bool = true;
    }
    trait Otherwise {
        const IS_SYNC: bool = false;
    }
    impl<T> Otherwise for Probe<T> {}
    const { assert!(Probe::<Array<u8>>::IS_SYNC) };
    const { assert!(!Probe::<Array<Cell<u8>>>::IS_SYNC) };
}

#[test]
fn an_array_of_cells_is_not_send() {
    /// `IS_SEND` is the inherent constant if `T: Send`, and that of the trait otherwise.
    struct Probe<T>(PhantomData<T>);
    impl<T: Send> Probe<T> {
        const IS_SEND: bool = true;
    }
    trait Otherwise {
        const IS_SEND: bool = false;
    }
    impl<T> Otherwise for Probe<T> {}
    const { assert!(Probe::<Array<u8>>::IS_SEND) };
    const { assert!(!Probe::<Array<Cell<u8>>>::IS_SEND) }; // a clone in another thread would share the cells
}

#[test]
fn after_many_threads_have_shared_it_the_one_owner_left_can_write() {
    let mut array = Array::from(i32::counting(100));
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for thread in 0..8 {
            let (array, start) = (&array, &start);
            scope.spawn(move || {
                start.wait();
                let mut kept = Vec::new();
                for round in 0..sized(2000, 40) {
                    let first = (thread * 7 + round) % 90;
                    let slice = array.clone().slice(first..first + 10).unwrap();
                    assert_eq!(slice[9], first as i32 + 9);
                    kept.push(slice);
                    if kept.len() > 5 {
                        kept.swap_remove(round % 6);
                    }
                }
            });
        }
    });
    assert_eq!(array.owner_count(), 1);
    array.mutable_data().unwrap()[0] = 7;
    assert_eq!(array[0], 7);
}

#[test]
fn threads_that_detach_at_the_same_time_each_get_their_own_values() {
    let original = Array::from(vec![0_u64; 500]);
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for thread in 1..=8_u64 {
            let (mut mine, start) = (original.clone(), &start);
            scope.spawn(move || {
                start.wait();
                mine.need_mutable_data().unwrap().fill(thread);
                assert!(mine.iter().all(|&value| value == thread));
            });
        }
    });
    assert!(original.iter().all(|&value| value == 0));
    assert_eq!(original.owner_count(), 1);
}

#[test]
fn threads_that_race_to_drop_the_last_share_run_the_deleter_once() {
    for _ in 0..sized(300, 10) {
        let drops = DropCount::new();
        let array = from_raw(vec![1_u8, 2, 3], &drops);
        let start = Barrier::new(4);
        thread::scope(|scope| {
            for _ in 0..4 {
                let (share, start) = (array.clone(), &start);
                scope.spawn(move || {
                    start.wait();
                    drop(share);
                });
            }
            drop(array);
        });
        assert_eq!(drops.get(), 1);
    }
}

#[test]
fn what_one_thread_wrote_the_next_only_owner_reads() {
    let mut array = Array::<u64>::zeros(1000).unwrap();
    for round in 1..=sized(50, 5) as u64 {
        let share = array.clone();
        let reader = thread::spawn(move || share.iter().sum::<u64>());
        assert_eq!(reader.join().unwrap(), 1000 * (round - 1));
        array.mutable_data().unwrap().fill(round);
    }
}
