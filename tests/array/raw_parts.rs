//! Arrays from raw pointers, with deleters, and what becomes of them when a closure panics.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use numeric_table::Array;
use test_support::{DropCount, SmallNumber, for_each_element};

use super::{CONSTANTS, LARGE_BYTES};

#[test]
fn null_with_count_zero_is_an_empty_array_in_every_element_type() {
    fn check<T: SmallNumber>() {
        // SAFETY: null is allowed for no elements.
        let array = unsafe { Array::<T>::from_raw_parts(std::ptr::null(), 0, |_, _| ()) };
        assert_eq!((array.len(), array.as_slice(), array.owner_count()), (0, &[][..], 1));
        // SAFETY: as above.
        let mut array = unsafe { Array::<T>::from_raw_parts_mut(std::ptr::null_mut(), 0, |_, _| ()) };
        assert!(array.mutable_data().unwrap().is_empty());
    }
    for_each_element!(check);
}

#[test]
fn the_deleter_of_a_null_pointer_gets_null_and_runs_once() {
    let drops = DropCount::new();
    let drops_of_deleter = drops.clone();
    let deleter = move |data: *const f64, count| {
        assert_eq!((data, count), (std::ptr::null(), 0));
        drops_of_deleter.add_one();
    };
    // SAFETY: null is allowed for no elements.
    let array = unsafe { Array::from_raw_parts(std::ptr::null(), 0, deleter) };
    let clone = array.clone();
    drop(array);
    assert_eq!(drops.get(), 0);
    drop(clone);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_deleter_gets_the_pointer_and_count_that_were_given_and_not_those_of_the_last_window() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_by_deleter = Arc::clone(&seen);
    let data = Box::into_raw(Box::new([1_i16, 2, 3, 4, 5])).cast::<i16>();
    let deleter = move |data: *mut i16, count| {
        seen_by_deleter.lock().unwrap().push((data.addr(), count));
        // SAFETY: this is the box that was leaked above.
        drop(unsafe { Box::from_raw(data.cast::<[i16; 5]>()) });
    };
    // SAFETY: nothing but the deleter takes the box back, and only the array knows it.
    let array = unsafe { Array::from_raw_parts_mut(data, 5, deleter) };
    let window = array.slice(2..4).unwrap().reinterpret::<u8>().unwrap().project(|bytes| &bytes[1..2]);
    drop(array);
    assert!(seen.lock().unwrap().is_empty());
    drop(window);
    assert_eq!(*seen.lock().unwrap(), [(data.addr(), 5)]);
}

#[test]
fn a_deleter_runs_once_on_the_thread_that_drops_the_last_share() {
    let threads = Arc::new(Mutex::new(Vec::new()));
    let threads_of_deleter = Arc::clone(&threads);
    let deleter = move |_: *const f32, _| threads_of_deleter.lock().unwrap().push(thread::current().id());
    // SAFETY: nobody writes the static.
    let array = unsafe { Array::from_raw_parts(CONSTANTS.as_ptr(), 4, deleter) };
    let worker = thread::spawn(move || {
        assert_eq!(array.as_slice(), CONSTANTS);
        drop(array);
        thread::current().id()
    });
    let worker = worker.join().unwrap();
    assert_eq!(*threads.lock().unwrap(), [worker]);
}

#[test]
fn a_panicking_closure_leaves_no_array_and_no_harm() {
    for count in [8, LARGE_BYTES / size_of::<u64>()] {
        let result = catch_unwind(AssertUnwindSafe(|| {
            Array::from_fn(count, |i| if i == count / 2 { resume_unwind(Box::new("half-way")) } else { i as u64 })
        }));
        assert_eq!(result.err().unwrap().downcast_ref::<&str>(), Some(&"half-way"));
    }
    assert_eq!(Array::from_fn(8, |i| i as u64).unwrap().as_slice(), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn an_owner_whose_lending_panics_is_dropped_once() {
    struct Refusing(DropCount);
    impl AsRef<[f32]> for Refusing {
        fn as_ref(&self) -> &[f32] {
            resume_unwind(Box::new("refused"))
        }
    }
    impl Drop for Refusing {
        fn drop(&mut self) {
            self.0.add_one();
        }
    }
    let drops = DropCount::new();
    let owner = Refusing(drops.clone());
    assert!(catch_unwind(AssertUnwindSafe(|| Array::from_owner(owner))).is_err());
    assert_eq!(drops.get(), 1);
}
