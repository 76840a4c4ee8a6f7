//! What oneDAL's own tests of its array say, `test/array.cpp` and `test/array_cast.cpp`, and what its array gets wrong.

use std::sync::Arc;

use numeric_table::{Array, ErrorKind};
use test_support::{DropCount, SmallNumber};

use super::{CONSTANTS, from_raw, from_raw_mut, one_to_four};

// --- Its tests -----------------------------------------------------------------------------------------------------

// oneDAL test/array.cpp: "default array".
#[test]
fn a_default_array_is_empty_and_not_mutable() {
    let array = Array::<f32>::default();
    assert_eq!((array.len(), array.has_mutable_data()), (0, false));
}

// oneDAL test/array.cpp: "zeros(5)".
#[test]
fn five_zeros_are_mutable_zeros() {
    let array = Array::<f32>::zeros(5).unwrap();
    assert_eq!((array.len(), array.has_mutable_data(), array.as_slice()), (5, true, &[0.0; 5][..]));
}

// oneDAL test/array.cpp: "full(5, 1)".
#[test]
fn five_ones_are_mutable_ones() {
    let array = Array::full(5, 1.0_f32).unwrap();
    assert_eq!((array.len(), array.has_mutable_data(), array.as_slice()), (5, true, &[1.0; 5][..]));
}

// oneDAL test/array.cpp: "from owned pointer + deleter (10 values)".
#[test]
fn ten_values_with_a_deleter_are_mutable_and_equal() {
    let drops = DropCount::new();
    let array = from_raw_mut(f32::counting(10), &drops);
    assert_eq!((array.len(), array.has_mutable_data()), (10, true));
    assert_eq!(array.as_slice(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
}

// oneDAL test/array.cpp: "copy of zeros(5)". There both stay mutable; here neither is while there are two.
#[test]
fn a_copy_has_the_same_count_data_mutability_and_values() {
    let array = Array::<f32>::zeros(5).unwrap();
    let copy = array.clone();
    assert_eq!((copy.len(), copy.as_ptr()), (array.len(), array.as_ptr()));
    assert_eq!((copy.has_mutable_data(), array.has_mutable_data()), (false, false));
    assert_eq!(copy, array);
}

// oneDAL test/array.cpp: "reset()".
#[test]
fn a_reset_array_is_empty_and_not_mutable() {
    let mut array = Array::<f32>::zeros(5).unwrap();
    array.reset();
    assert_eq!((array.len(), array.has_mutable_data()), (0, false));
}

// oneDAL test/array.cpp: "reset to 10 from 5".
#[test]
fn reset_to_a_larger_count() {
    let mut array = Array::<f32>::zeros(5).unwrap();
    array.reset_to(10).unwrap();
    assert_eq!((array.len(), array.has_mutable_data()), (10, true));
}

// oneDAL test/array.cpp: "reset to 4 from 5".
#[test]
fn reset_to_a_smaller_count() {
    let mut array = Array::<f32>::zeros(5).unwrap();
    array.reset_to(4).unwrap();
    assert_eq!((array.len(), array.has_mutable_data()), (4, true));
}

// oneDAL test/array.cpp: "reset with owned pointer".
#[test]
fn reset_with_an_owned_pointer_has_both_pointers_equal_to_it() {
    let mut array = Array::<f32>::zeros(5).unwrap();
    assert_eq!(array.len(), 5);
    let data = Box::into_raw(Box::new([0.0_f32; 10])).cast::<f32>();
    // SAFETY: the deleter takes the box back, nothing else does.
    array = unsafe { Array::from_raw_parts_mut(data, 10, |data, _| drop(Box::from_raw(data.cast::<[f32; 10]>()))) };
    assert_eq!((array.len(), array.has_mutable_data()), (10, true));
    assert_eq!((array.as_ptr(), array.mutable_data().unwrap().as_mut_ptr()), (data.cast_const(), data));
}

// oneDAL test/array.cpp: "reset with borrowed const pointer".
#[test]
fn reset_with_a_borrowed_const_pointer_is_not_mutable() {
    let mut array = Array::<f32>::zeros(5).unwrap();
    assert_eq!(array.len(), 5);
    array = Array::from(&CONSTANTS[..]);
    assert_eq!((array.len(), array.as_ptr(), array.has_mutable_data()), (4, CONSTANTS.as_ptr(), false));
}

// oneDAL test/array.cpp: "borrowed read-only then need_mutable_data".
#[test]
fn need_mutable_data_of_borrowed_data_copies_it() {
    let mut array = Array::from(&CONSTANTS[..]);
    array.need_mutable_data().unwrap();
    assert_ne!(array.as_ptr(), CONSTANTS.as_ptr());
    assert_eq!((array.has_mutable_data(), array.as_slice()), (true, &CONSTANTS[..]));
}

// oneDAL test/array.cpp: "borrowed mutable array".
#[test]
fn borrowed_mutable_data_is_written_where_it_is() {
    let data = Box::into_raw(Box::new([1.0_f32, 2.0, 3.0]));
    // SAFETY: the box is reached through this borrow only, which ends with the array, before the box is taken back.
    let borrowed: &'static mut [f32] = unsafe { &mut *data };
    let mut array = Array::from_owner_mut(borrowed);
    array.need_mutable_data().unwrap()[0] = 9.0;
    assert_eq!((array.as_ptr(), array.has_mutable_data(), array[0]), (data.cast_const().cast(), true, 9.0));
    drop(array);
    // SAFETY: the box was leaked above, and nothing borrows it any more.
    assert_eq!(unsafe { *Box::from_raw(data) }, [9.0, 2.0, 3.0]);
}

// oneDAL test/array.cpp: "borrowed read-only by aliasing an empty array".
#[test]
fn data_projected_from_an_empty_array_is_borrowed_and_not_mutable() {
    let array = Array::<f32>::new().project(|_| &CONSTANTS[..]);
    assert_eq!((array.as_ptr(), array.len(), array.has_mutable_data()), (CONSTANTS.as_ptr(), 4, false));
}

// oneDAL test/array.cpp: "wrap const data".
#[test]
fn wrapped_constant_data_is_not_mutable() {
    let array = Array::from(&CONSTANTS[..]);
    assert_eq!((array.len(), array.as_ptr(), array.has_mutable_data()), (4, CONSTANTS.as_ptr(), false));
}

// oneDAL test/array.cpp: "const pointer + deleter, count smaller than the allocation".
#[test]
fn a_count_below_the_allocation_is_what_array_and_deleter_see() {
    let drops = DropCount::new();
    let drops_of_deleter = drops.clone();
    let data = Box::into_raw(Box::new([0.0_f32, 1.0, 2.0]));
    let deleter = move |data: *const f32, count| {
        assert_eq!(count, 2);
        drops_of_deleter.add_one();
        // SAFETY: this is the box of three that was leaked above.
        drop(unsafe { Box::from_raw(data.cast_mut().cast::<[f32; 3]>()) });
    };
    // SAFETY: two of the three values are shown, and nothing but the deleter touches the box.
    let array = unsafe { Array::from_raw_parts(data.cast_const().cast::<f32>(), 2, deleter) };
    assert_eq!((array.len(), array.has_mutable_data(), array.as_slice()), (2, false, &[0.0, 1.0][..]));
    drop(array);
    assert_eq!(drops.get(), 1);
}

// oneDAL test/array.cpp: "from shared pointer to const data".
#[test]
fn an_array_from_a_shared_pointer_to_const_data_shares_it() {
    let shared: Arc<[f32]> = Arc::from([1.0, 2.0, 3.0]);
    let array = Array::from(Arc::clone(&shared));
    assert_eq!((array.as_ptr(), array.as_slice()), (shared.as_ptr(), &shared[..]));
    assert_eq!(Arc::strong_count(&shared), 2);
    drop(array);
    assert_eq!(Arc::strong_count(&shared), 1);
}

// oneDAL test/array.cpp: "from shared pointer to mutable data". A shared pointer that may be written is an array here.
#[test]
fn an_array_of_an_array_shows_its_values() {
    let inner = one_to_four();
    let array = Array::from_owner(inner.clone());
    assert_eq!((array.as_ptr(), array.as_slice()), (inner.as_ptr(), inner.as_slice()));
}

// oneDAL test/array.cpp: "slices [0,512), [512,1024), [256,512) of 1024".
#[test]
fn slices_point_into_the_array() {
    let array = Array::<f32>::zeros(1024).unwrap();
    for (range, count) in [(0..512, 512), (512..1024, 512), (256..512, 256)] {
        let slice = array.slice(range.clone()).unwrap();
        assert_eq!((slice.len(), slice.as_ptr()), (count, array[range.start..].as_ptr()));
    }
}

// oneDAL test/array_cast.cpp: "reinterpret empty array".
#[test]
fn a_reinterpreted_empty_array_is_empty() {
    let bytes = Array::<f32>::new().reinterpret::<u8>().unwrap();
    assert_eq!((bytes.len(), bytes.owner_count(), bytes.has_mutable_data()), (0, 0, false));
}

// oneDAL test/array_cast.cpp: "reinterpret immutable float[2] to bytes".
#[test]
fn immutable_floats_seen_as_bytes_are_the_same_immutable_memory() {
    let array = Array::from(&CONSTANTS[..2]);
    let bytes = array.reinterpret::<u8>().unwrap();
    assert_eq!((bytes.len(), bytes.as_ptr(), bytes.has_mutable_data()), (8, array.as_ptr().cast(), false));
    let expected =
        if cfg!(target_endian = "big") { [0x3F, 0x80, 0, 0, 0x40, 0, 0, 0] } else { [0, 0, 0x80, 0x3F, 0, 0, 0, 0x40] };
    assert_eq!(bytes.as_slice(), expected);
}

// oneDAL test/array_cast.cpp: "reinterpret mutable". There both stay mutable; here the only owner is.
#[test]
fn mutable_floats_seen_as_bytes_are_the_same_mutable_memory() {
    let array = Array::full(2, 1.0_f32).unwrap();
    let data = array.as_ptr();
    let mut bytes = array.reinterpret::<u8>().unwrap();
    assert!(!bytes.has_mutable_data());
    drop(array);
    assert!(bytes.has_mutable_data());
    bytes.mutable_data().unwrap().fill(0);
    assert_eq!((bytes.len(), bytes.as_ptr()), (8, data.cast()));
    assert_eq!(bytes.reinterpret::<f32>().unwrap().as_slice(), [0.0, 0.0]);
}

// oneDAL test/array_cast.cpp: "3 floats to double".
#[test]
fn three_floats_are_no_doubles() {
    let error = Array::<f32>::zeros(3).unwrap().reinterpret::<f64>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::MemoryLayout { reason, .. } if reason.contains("alignment")), "{error}");
}

// oneDAL test/array_cast.cpp: "discard mutability". There the original stays mutable; here once it is the only owner.
#[test]
fn a_view_without_mutability_leaves_the_original_mutable() {
    let array = Array::<f32>::zeros(3).unwrap();
    let mut view = array.project(|all| all);
    assert_eq!((view.as_ptr(), view.len()), (array.as_ptr(), 3));
    assert!(
        view.mutable_data().is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 1 }))
    );
    drop(view);
    assert!(array.has_mutable_data());
}

// --- Its faults, numbered as in `tests/faults` ---------------------------------------------------------------------

/// Fault 54: slicing or reinterpreting an empty array throws `bad_variant_access`.
#[test]
fn a_deserialized_empty_array_can_be_sliced_and_reinterpreted() {
    let array: Array<f32> = serde_json::from_str("[]").unwrap();
    assert_eq!(array.slice(..).unwrap().len(), 0);
    assert_eq!(array.slice(0..0).unwrap().len(), 0);
    assert_eq!(array.reinterpret::<f64>().unwrap().len(), 0);
    assert_eq!(array.project(|all| all).len(), 0);
}

/// Fault 54: slicing or reinterpreting an empty array throws `bad_variant_access`.
#[test]
fn an_empty_array_from_a_null_mutable_pointer_can_be_sliced_and_reinterpreted() {
    // SAFETY: null is allowed for no elements.
    let array = unsafe { Array::<u8>::from_raw_parts_mut(std::ptr::null_mut(), 0, |_, _| ()) };
    assert_eq!(array.slice(..).unwrap().len(), 0);
    assert_eq!(array.reinterpret::<f64>().unwrap().len(), 0);
}

/// Fault 55: a moved-from array dereferences null; move-assignment keeps the old memory alive.
#[test]
fn an_array_that_was_moved_out_of_can_be_used() {
    let mut array = one_to_four();
    let taken = std::mem::take(&mut array);
    assert_eq!((array.len(), array.clone().len(), array.owner_count()), (0, 0, 0));
    array.reset();
    array.reset_to(2).unwrap();
    assert_eq!((array.as_slice(), taken.len()), (&[0.0; 2][..], 4));
}

/// Fault 55: a moved-from array dereferences null; move-assignment keeps the old memory alive.
#[test]
fn an_array_that_was_reset_can_be_used() {
    let mut array = one_to_four();
    array.reset();
    array.reset();
    assert_eq!((array.clone().len(), array.slice(..).unwrap().len()), (0, 0));
    array = Array::from(vec![5.0]);
    assert_eq!(array.as_slice(), [5.0]);
}

/// Fault 55: a moved-from array dereferences null; move-assignment keeps the old memory alive.
#[test]
fn assignment_releases_the_memory_at_once() {
    let drops = DropCount::new();
    let other = from_raw(vec![9.0], &DropCount::new());
    let mut array = from_raw(vec![1.0], &drops);
    assert_eq!(array[0], 1.0);
    array = other;
    assert_eq!((drops.get(), array[0]), (1, 9.0));
}

/// Fault 56: copies alias the same mutable memory, and slices are not checked in release builds.
#[test]
fn two_arrays_never_write_the_same_memory() {
    let mut array = one_to_four();
    let mut copy = array.clone();
    assert!(
        array
            .mutable_data()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 2, .. }))
    );
    assert!(
        copy.mutable_data().is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 2, .. }))
    );
    copy.need_mutable_data().unwrap()[0] = 9.0;
    array.mutable_data().unwrap()[1] = 8.0; // the only owner again
    assert_eq!((array.as_slice(), copy.as_slice()), (&[1.0, 8.0, 3.0, 4.0][..], &[9.0, 2.0, 3.0, 4.0][..]));
}

/// Fault 56: copies alias the same mutable memory, and slices are not checked in release builds.
#[test]
fn slices_are_checked_in_every_build() {
    assert!(
        one_to_four()
            .slice(3..5)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfRange { what: "elements", count: 4, .. }))
    );
}

/// Fault 56: copies alias the same mutable memory, and slices are not checked in release builds.
#[test]
fn an_index_is_checked_in_every_build() {
    assert_eq!(one_to_four().get(4), None);
}

/// Fault 57: `need_mutable_data` of an empty array does not make it mutable.
#[test]
fn need_mutable_data_on_an_empty_array_makes_it_mutable() {
    let wrapped: &'static [f32] = &[];
    // SAFETY: null is allowed for no elements.
    let null = unsafe { Array::from_raw_parts(std::ptr::null(), 0, |_, _| ()) };
    for mut array in [Array::new(), Array::from(wrapped), null, one_to_four().slice(2..2).unwrap()] {
        assert!(array.need_mutable_data().unwrap().is_empty());
        assert!(array.has_mutable_data());
        assert!(array.mutable_data().unwrap().is_empty());
    }
}
