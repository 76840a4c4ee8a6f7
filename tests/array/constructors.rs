//! Every way to make an array, and counts that no memory can hold.

use std::mem::MaybeUninit;
use std::sync::Arc;

use numeric_table::{Array, Error, ErrorKind, Shape};
use test_support::{CountingOwner, DropCount, SmallNumber, for_each_element};

use super::{LARGE_BYTES, LIBRARY_ALIGNMENT, from_raw, from_raw_mut, one_to_four};

// --- Constructors --------------------------------------------------------------------------------------------------

#[test]
fn zeros_are_zero_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let array = Array::<T>::zeros(5).unwrap();
        assert_eq!(array.as_slice(), [T::small(0); 5]);
        assert_eq!(array.size_in_bytes(), 5 * size_of::<T>());
        assert!(array.has_mutable_data());
    }
    for_each_element!(check);
}

#[test]
fn full_repeats_the_value_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let array = Array::full(5, T::small(7)).unwrap();
        assert_eq!(array.as_slice(), [T::small(7); 5]);
        assert!(array.has_mutable_data());
    }
    for_each_element!(check);
}

#[test]
fn from_fn_gets_each_index_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let array = Array::from_fn(100, |i| T::small(i as u8)).unwrap();
        assert_eq!(array.as_slice(), T::counting(100));
        assert!(array.has_mutable_data());
    }
    for_each_element!(check);
}

#[test]
fn copy_of_copies_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let values = T::counting(9);
        let array = Array::copy_of(&values).unwrap();
        assert_eq!(array.as_slice(), values);
        assert_ne!(array.as_ptr(), values.as_ptr());
        assert!(array.has_mutable_data());
    }
    for_each_element!(check);
}

#[test]
fn uninit_memory_can_be_written_and_then_used_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let mut array: Array<MaybeUninit<T>> = Array::<T>::uninit(6).unwrap();
        for (i, element) in array.mutable_data().unwrap().iter_mut().enumerate() {
            element.write(T::small(i as u8));
        }
        let data = array.as_ptr();
        // SAFETY: the loop has written every element.
        let array = unsafe { array.assume_init() };
        assert_eq!((array.as_slice(), array.as_ptr()), (&T::counting(6)[..], data.cast()));
        assert!(array.has_mutable_data());
    }
    for_each_element!(check);
}

#[test]
fn a_vec_is_taken_over_without_a_copy_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let vec = T::counting(6);
        let data = vec.as_ptr();
        let array = Array::from(vec);
        assert_eq!((array.as_ptr(), array.as_slice()), (data, &T::counting(6)[..]));
        assert!(array.has_mutable_data());
    }
    for_each_element!(check);
}

#[test]
fn a_boxed_slice_is_taken_over_without_a_copy_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let slice = T::counting(6).into_boxed_slice();
        let data = slice.as_ptr();
        let array = Array::from(slice);
        assert_eq!((array.as_ptr(), array.as_slice()), (data, &T::counting(6)[..]));
        assert!(array.has_mutable_data());
    }
    for_each_element!(check);
}

#[test]
fn an_arc_is_shared_without_a_copy_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let shared: Arc<[T]> = Arc::from(T::counting(6));
        let array = Array::from(Arc::clone(&shared));
        assert_eq!((array.as_ptr(), array.as_slice()), (shared.as_ptr(), &shared[..]));
        assert!(!array.has_mutable_data());
    }
    for_each_element!(check);
}

#[test]
fn a_static_slice_is_wrapped_without_a_copy_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let leaked = Box::into_raw(T::counting(6).into_boxed_slice());
        // SAFETY: the box is taken back below, when the only borrow has ended with the array.
        let slice: &'static [T] = unsafe { &*leaked };
        let array = Array::from(slice);
        assert_eq!((array.as_ptr(), array.as_slice()), (slice.as_ptr(), slice));
        assert!(!array.has_mutable_data());
        drop(array);
        // SAFETY: the box was leaked above.
        drop(unsafe { Box::from_raw(leaked) });
    }
    for_each_element!(check);
}

#[test]
fn an_iterator_is_collected_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let array: Array<T> = (0..6).map(T::small).collect();
        assert_eq!(array.as_slice(), T::counting(6));
        assert!(array.has_mutable_data());
    }
    for_each_element!(check);
}

#[test]
fn an_owner_lends_its_memory_for_reading_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let drops = DropCount::new();
        let owner = CountingOwner::new(T::counting(6), &drops);
        let data = owner.values.as_ptr();
        let array = Array::from_owner(owner);
        assert_eq!((array.as_ptr(), array.as_slice()), (data, &T::counting(6)[..]));
        assert!(!array.has_mutable_data());
        drop(array);
        assert_eq!(drops.get(), 1);
    }
    for_each_element!(check);
}

#[test]
fn an_owner_lends_its_memory_for_writing_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let drops = DropCount::new();
        let owner = CountingOwner::new(T::counting(6), &drops);
        let data = owner.values.as_ptr();
        let mut array = Array::from_owner_mut(owner);
        array.mutable_data().unwrap()[0] = T::small(9);
        assert_eq!((array.as_ptr(), array[0], array[5]), (data, T::small(9), T::small(5)));
        drop(array);
        assert_eq!(drops.get(), 1);
    }
    for_each_element!(check);
}

#[test]
fn raw_parts_are_read_and_deleted_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let drops = DropCount::new();
        let array = from_raw(T::counting(6), &drops);
        assert_eq!(array.as_slice(), T::counting(6));
        assert!(!array.has_mutable_data());
        drop(array);
        assert_eq!(drops.get(), 1);
    }
    for_each_element!(check);
}

#[test]
fn raw_parts_are_written_and_deleted_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let drops = DropCount::new();
        let mut array = from_raw_mut(T::counting(6), &drops);
        array.mutable_data().unwrap()[0] = T::small(9);
        assert_eq!((array[0], array[5]), (T::small(9), T::small(5)));
        drop(array);
        assert_eq!(drops.get(), 1);
    }
    for_each_element!(check);
}

#[test]
fn memory_of_the_library_is_aligned_to_a_cache_line() {
    fn check<T: SmallNumber>() {
        for count in [0, 1, 3, 1000, LARGE_BYTES / size_of::<T>() + 1] {
            assert_eq!(Array::<T>::zeros(count).unwrap().as_ptr().addr() % LIBRARY_ALIGNMENT, 0, "zeros({count})");
            assert_eq!(Array::<T>::uninit(count).unwrap().as_ptr().addr() % LIBRARY_ALIGNMENT, 0, "uninit({count})");
        }
    }
    for_each_element!(check);
}

#[test]
fn a_large_array_is_filled_completely() {
    let count = 2 * LARGE_BYTES / size_of::<u32>() + 3;
    let array = Array::from_fn(count, |i| i as u32).unwrap();
    assert_eq!(array.len(), count);
    assert!(array.iter().enumerate().all(|(i, &value)| value == i as u32));
    assert!(Array::<u32>::zeros(count).unwrap().iter().all(|&value| value == 0));
    assert!(Array::full(count, 7_u32).unwrap().iter().all(|&value| value == 7));
}

#[test]
fn elements_need_not_be_numbers() {
    let array: Array<String> = ["one", "two", "three"].map(String::from).into_iter().collect();
    assert_eq!(array.slice(1..).unwrap().as_slice(), ["two", "three"]);
}

#[test]
fn elements_of_a_vec_are_dropped_once_with_the_last_share() {
    struct Counted(DropCount);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.add_one();
        }
    }
    let drops = DropCount::new();
    let array: Array<Counted> = (0..3).map(|_| Counted(drops.clone())).collect();
    let part = array.slice(..1).unwrap();
    drop(array);
    assert_eq!(drops.get(), 0);
    drop(part);
    assert_eq!(drops.get(), 3);
}

// --- Counts that no memory can hold --------------------------------------------------------------------------------

#[test]
fn a_count_that_cannot_be_addressed_is_a_size_overflow() {
    fn check<T: SmallNumber>() {
        let limit = isize::MAX as usize / size_of::<T>();
        for count in [limit + 1, usize::MAX / 2 + 1, usize::MAX - 1, usize::MAX] {
            let is_overflow = |error: Error| {
                matches!(
                    error.kind(),
                    ErrorKind::SizeOverflow { shape, element: Some(element) }
                        if *shape == Shape { rows: count, columns: 1 } && *element == T::TYPE
                )
            };
            assert!(is_overflow(Array::<T>::zeros(count).unwrap_err()), "zeros({count})");
            assert!(is_overflow(Array::full(count, T::small(1)).unwrap_err()), "full({count})");
            assert!(is_overflow(Array::from_fn(count, |_| T::small(1)).unwrap_err()), "from_fn({count})");
            assert!(is_overflow(Array::<T>::uninit(count).err().unwrap()), "uninit({count})");
        }
    }
    for_each_element!(check);
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "with 32 bits, the most are 2 GiB, which may be there")]
fn a_count_that_the_system_refuses_is_out_of_memory() {
    fn check<T: SmallNumber>() {
        let count = isize::MAX as usize / size_of::<T>();
        let expected = count * size_of::<T>();
        let is_refusal =
            |error: Error| matches!(error.kind(), ErrorKind::OutOfMemory) && error.refused_bytes().unwrap() == expected;
        assert!(is_refusal(Array::<T>::zeros(count).unwrap_err()));
        assert!(is_refusal(Array::full(count, T::small(1)).unwrap_err()));
        assert!(is_refusal(Array::<T>::uninit(count).err().unwrap()));
    }
    for_each_element!(check);
}

#[test]
fn a_refused_reset_leaves_the_array_unchanged() {
    let mut array = one_to_four();
    let data = array.as_ptr();
    assert!(array.reset_to(usize::MAX).is_err());
    assert!(usize::BITS < 64 || array.reset_to(isize::MAX as usize / 4).is_err());
    assert_eq!((array.as_ptr(), array.as_slice()), (data, &[1.0, 2.0, 3.0, 4.0][..]));
    assert!(array.has_mutable_data());
}
