//! Writing, `Vec`s that come back, comparison.

use std::sync::Arc;

use numeric_table::{Array, Error, ErrorKind};
use test_support::{DropCount, SmallNumber, for_each_element};

use super::{CONSTANTS, from_raw_mut, one_to_four};

// --- Writing -------------------------------------------------------------------------------------------------------

#[test]
fn need_mutable_data_does_not_copy_what_is_mutable_already() {
    let mut array = one_to_four();
    let data = array.as_ptr();
    assert_eq!(array.need_mutable_data().unwrap().as_ptr(), data);
}

#[test]
fn need_mutable_data_copies_only_the_window_and_leaves_the_others_the_old_block() {
    let array = one_to_four();
    let mut slice = array.slice(1..3).unwrap();
    slice.need_mutable_data().unwrap()[0] = 20.0;
    assert_eq!((slice.as_slice(), slice.owner_count()), (&[20.0, 3.0][..], 1));
    assert_eq!((array.as_slice(), array.has_mutable_data()), (&[1.0, 2.0, 3.0, 4.0][..], true));
}

#[test]
fn need_mutable_data_works_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let shared: Arc<[T]> = Arc::from(T::counting(3));
        let mut array = Array::from(Arc::clone(&shared));
        array.need_mutable_data().unwrap()[1] = T::small(9);
        assert_eq!(array.as_slice(), [T::small(0), T::small(9), T::small(2)]);
        assert_eq!(shared[..], T::counting(3)[..]);
    }
    for_each_element!(check);
}

#[test]
fn a_mutable_array_is_mutable_again_when_its_clones_are_gone() {
    let mut array = one_to_four();
    let clones = [array.clone(), array.clone()];
    assert!(
        array
            .mutable_data()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 3, .. }))
    );
    drop(clones);
    assert!(array.has_mutable_data());
    assert_eq!(array.mutable_data().unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn immutable_data_is_reported_as_such_even_while_it_is_shared() {
    let mut array = Array::from(&CONSTANTS[..]);
    let _clone = array.clone();
    assert!(
        array.mutable_data().is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 1 }))
    );
}

// --- Giving a `Vec` back -------------------------------------------------------------------------------------------

#[test]
fn the_vec_itself_comes_back_with_its_spare_capacity() {
    let mut vec = Vec::with_capacity(100);
    vec.extend([1.0_f32, 2.0]);
    let data = vec.as_ptr();
    let vec = Array::from(vec).try_into_vec().unwrap();
    assert_eq!((vec.as_ptr(), vec.capacity(), vec.as_slice()), (data, 100, &[1.0, 2.0][..]));
}

#[test]
fn writes_are_in_the_vec_that_comes_back() {
    let mut array = one_to_four();
    array.mutable_data().unwrap()[0] = 9.0;
    assert_eq!(array.try_into_vec().unwrap(), [9.0, 2.0, 3.0, 4.0]);
}

#[test]
fn an_array_is_given_back_as_a_vec_only_if_it_is_unique_whole_and_was_made_from_one() {
    fn is_given<T: Send + Sync + 'static>(array: Array<T>) -> bool {
        array.try_into_vec().is_ok()
    }
    /// A window on an array that is gone: the only owner.
    fn window<U>(window: impl FnOnce(&Array<f32>) -> Result<Array<U>, Error>) -> Array<U> {
        let window = window(&one_to_four()).unwrap();
        assert_eq!(window.owner_count(), 1);
        window
    }
    let shared = one_to_four();
    let drops = DropCount::new();

    assert!(is_given(one_to_four()), "a Vec");
    assert!(is_given(Array::<f32>::from(Vec::new())), "an empty Vec");
    assert!(is_given(Array::from(vec![1.0].into_boxed_slice())), "a boxed slice");
    assert!(is_given((0..3).collect::<Array<_>>()), "a collected iterator");
    assert!(is_given(window(|array| array.slice(..))), "a slice that is the whole");
    assert!(is_given(window(|array| array.reinterpret::<u32>()?.reinterpret::<f32>())), "there and back");

    assert!(!is_given(shared.clone()), "shared");
    assert!(!is_given(window(|array| array.slice(1..))), "a tail");
    assert!(!is_given(window(|array| array.slice(..3))), "a head");
    assert!(!is_given(window(|array| array.slice(..0))), "nothing of a Vec");
    assert!(!is_given(window(|array| array.reinterpret::<u32>())), "a Vec of another type");
    assert!(!is_given(Array::<f32>::zeros(4).unwrap()), "memory of the library");
    assert!(!is_given(Array::<f32>::from(Arc::from([1.0]))), "an Arc");
    assert!(!is_given(Array::from(&CONSTANTS[..])), "static memory");
    assert!(!is_given(from_raw_mut(vec![1.0], &drops)), "raw parts");
    assert!(!is_given(Array::<f32>::new()), "no block");
}

#[test]
fn an_array_that_cannot_return_its_vec_comes_back_as_it_was() {
    let array = one_to_four();
    let (data, clone) = (array.as_ptr(), array.clone());
    let array = array.try_into_vec().unwrap_err();
    assert_eq!((array.as_ptr(), array.len(), array.owner_count()), (data, 4, 2));
    drop(clone);
    let vec = array.try_into_vec().unwrap();
    assert_eq!(vec.as_ptr(), data);
}

#[test]
fn a_slice_that_cannot_return_its_vec_is_still_mutable() {
    let slice = one_to_four().slice(1..).unwrap();
    let mut slice = slice.try_into_vec().unwrap_err();
    assert_eq!(slice.mutable_data().unwrap(), [2.0, 3.0, 4.0]);
}

#[test]
fn a_vec_given_back_is_not_freed_by_the_array() {
    let strings: Array<String> = (0..100).map(|i| i.to_string()).collect();
    let strings = strings.try_into_vec().unwrap();
    assert_eq!(strings.concat().len(), 190);
}

// --- Looking -------------------------------------------------------------------------------------------------------

#[test]
fn arrays_are_equal_if_their_elements_are_wherever_they_lie() {
    assert_eq!(one_to_four(), Array::from(&CONSTANTS[..]));
    assert_ne!(one_to_four(), one_to_four().slice(..3).unwrap());
    assert_ne!(Array::full(1, f32::NAN).unwrap(), Array::full(1, f32::NAN).unwrap());
    assert_eq!(Array::<f32>::new(), Array::zeros(0).unwrap());
}

#[test]
fn an_array_is_a_slice_to_code_that_wants_one() {
    let array = Array::from(vec![3, 1, 2]);
    let as_ref: &[i32] = array.as_ref();
    assert_eq!((array[2], array.iter().max(), as_ref.len()), (2, Some(&3), 3));
    assert_eq!((&array).into_iter().sum::<i32>(), 6);
    assert_eq!(format!("{array:?}"), "[3, 1, 2]");
}

#[test]
fn only_windows_on_one_block_share_memory() {
    let array = one_to_four();
    let (low, high) = (array.slice(..1).unwrap(), array.slice(3..).unwrap());
    assert!(low.shares_memory_with(&high));
    assert!(low.shares_memory_with(&high.reinterpret::<u8>().unwrap()));
    assert!(!low.shares_memory_with(&one_to_four()));
}
