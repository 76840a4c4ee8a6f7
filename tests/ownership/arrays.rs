//! Owners of the memory of arrays.

use std::thread;

use numeric_table::prelude::*;
use test_support::DropCount;

use super::{Counted, IMMUTABLE, MUTABLE, Owner, REPEATS, VALUES, repeat, repeat_with_all};

#[test]
fn an_array_alone_drops_its_owner() {
    repeat_with_all(|array, owner| {
        assert_eq!(array.as_slice(), VALUES);
        owner.assert_alive();
        drop(array);
    });
}

#[test]
fn a_slice_that_outlives_its_array_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let slice = array.slice(1..3).unwrap();
        drop(array);
        owner.assert_alive();
        assert_eq!(slice.as_slice(), [2.0, 3.0]);
        drop(slice);
    });
}

#[test]
fn an_array_that_outlives_its_slice_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let slice = array.slice(1..3).unwrap();
        drop(slice);
        owner.assert_alive();
        assert_eq!(array.as_slice(), VALUES);
        drop(array);
    });
}

#[test]
fn an_empty_slice_is_an_owner_too() {
    repeat_with_all(|array, owner| {
        let empty = array.slice(6..).unwrap();
        drop(array);
        owner.assert_alive();
        drop(empty);
    });
}

#[test]
fn windows_of_other_types_that_outlive_their_array_drop_the_owner() {
    repeat_with_all(|array, owner| {
        let bytes = array.reinterpret::<u8>().unwrap();
        let part = bytes.project(|bytes| &bytes[4..8]);
        drop(array);
        drop(bytes);
        owner.assert_alive();
        assert_eq!(part.as_slice(), 2.0_f32.to_ne_bytes());
        drop(part);
    });
}

#[test]
fn reset_lets_go_of_the_owner_at_once() {
    repeat_with_all(|mut array, owner| {
        array.reset();
        owner.assert_dropped();
        drop(array);
    });
}

#[test]
fn reset_to_a_count_lets_go_of_the_owner_at_once() {
    repeat_with_all(|mut array, owner| {
        array.reset_to(2).unwrap();
        owner.assert_dropped();
        drop(array);
    });
}

#[test]
fn a_refused_reset_keeps_the_owner() {
    repeat_with_all(|mut array, owner| {
        assert!(array.reset_to(usize::MAX).is_err());
        owner.assert_alive();
        drop(array);
    });
}

#[test]
fn assignment_lets_go_of_the_owner_at_once() {
    repeat_with_all(|mut array, owner| {
        assert_eq!(array[0], 1.0);
        array = Array::from(vec![7.0]);
        owner.assert_dropped();
        assert_eq!(array[0], 7.0);
    });
}

#[test]
fn need_mutable_data_lets_go_of_an_immutable_owner_at_once() {
    repeat(&IMMUTABLE, |mut array, owner| {
        array.need_mutable_data().unwrap()[0] = 9.0;
        owner.assert_dropped();
        assert_eq!(array.as_slice(), [9.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    });
}

#[test]
fn need_mutable_data_keeps_a_mutable_owner() {
    repeat(&MUTABLE, |mut array, owner| {
        array.need_mutable_data().unwrap()[0] = 9.0;
        owner.assert_alive();
        drop(array);
    });
}

#[test]
fn need_mutable_data_of_a_sharer_leaves_the_owner_to_the_others() {
    repeat_with_all(|array, owner| {
        let mut sharer = array.clone();
        sharer.need_mutable_data().unwrap()[0] = 9.0;
        owner.assert_alive();
        drop(array);
        owner.assert_dropped();
        assert_eq!(sharer.as_slice(), [9.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    });
}

#[test]
fn an_array_that_cannot_become_a_vec_still_drops_its_owner() {
    repeat_with_all(|array, owner| {
        let array = array.try_into_vec().unwrap_err();
        owner.assert_alive();
        drop(array);
    });
}

#[test]
fn elements_that_went_back_into_a_vec_are_dropped_with_the_vec() {
    for _ in 0..REPEATS {
        let drops = DropCount::new();
        let array = Array::from(vec![Counted::new(&drops), Counted::new(&drops)]);
        let vec = array.try_into_vec().unwrap_or_else(|_| panic!("a whole and unshared Vec"));
        assert_eq!(drops.get(), 0);
        drop(vec);
        assert_eq!(drops.get(), 2);
    }
}

#[test]
fn an_array_on_another_thread_drops_its_owner() {
    for (source, make) in IMMUTABLE.into_iter().chain(MUTABLE) {
        let owner = Owner { source, drops: DropCount::new() };
        let array = make(&owner.drops);
        let slice = array.slice(2..).unwrap();
        thread::spawn(move || drop(array)).join().unwrap();
        owner.assert_alive();
        thread::spawn(move || drop(slice)).join().unwrap();
        owner.assert_dropped();
    }
}
