//! The shared array: ownership requirements, constructors, windows, mutability, threads.
//!
//! Semantics: the data ownership requirements of oneDAL's `array`, as the developer guide 2021.3 lists them (seeds 000
//! and 002, eight requirements) and as the oneAPI specification 1.3 does (seed 001, seven requirements and five
//! implementation notes); oneDAL's own tests `test/array.cpp` and `test/array_cast.cpp`. The one deliberate
//! difference: two arrays never have mutable access to one block at the same time.
//! How often owners are dropped, many times over, is in `ownership.rs`.

mod common;

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Bound, Range};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use numeric_table::{Array, Element, ElementType, Error, Shape};

use common::{CountingOwner, DropCount, SmallNumber, for_each_element};

static CONSTANTS: [f32; 4] = [1.0, 2.0, 3.0, 4.0];

/// The smallest alignment in bytes that the library promises for its own memory.
const LIBRARY_ALIGNMENT: usize = 64;

/// From about here on the library's memory comes from maps and is filled in parallel.
const LARGE_BYTES: usize = 4 << 20;

fn one_to_four() -> Array<f32> {
    Array::from(vec![1.0, 2.0, 3.0, 4.0])
}

/// Lends `values` through a raw pointer; `drops` counts the calls of the deleter.
fn from_raw<T: Send + 'static>(values: Vec<T>, drops: &DropCount) -> Array<T> {
    let (data, count, capacity) = leak(values);
    let drops = drops.clone();
    let deleter = move |data: *const T, count: usize| {
        drops.add_one();
        // SAFETY: these are the parts of the leaked `Vec`, put together again once.
        drop(unsafe { Vec::from_raw_parts(data.cast_mut(), count, capacity) });
    };
    // SAFETY: nothing but the deleter touches the leaked `Vec`, and it may run anywhere, since `T: Send`.
    unsafe { Array::from_raw_parts(data, count, deleter) }
}

/// As `from_raw`, for writing as well.
fn from_raw_mut<T: Send + 'static>(values: Vec<T>, drops: &DropCount) -> Array<T> {
    let (data, count, capacity) = leak(values);
    let drops = drops.clone();
    let deleter = move |data: *mut T, count: usize| {
        drops.add_one();
        // SAFETY: these are the parts of the leaked `Vec`, put together again once.
        drop(unsafe { Vec::from_raw_parts(data, count, capacity) });
    };
    // SAFETY: nothing but the deleter touches the leaked `Vec`, and it may run anywhere, since `T: Send`.
    unsafe { Array::from_raw_parts_mut(data, count, deleter) }
}

fn leak<T>(values: Vec<T>) -> (*mut T, usize, usize) {
    let mut values = std::mem::ManuallyDrop::new(values);
    (values.as_mut_ptr(), values.len(), values.capacity())
}

// ---- Data ownership requirements of seeds 000 and 002 --------------------------------------------------------------

/// "An array owns two properties representing raw pointers to the data: data, mutable_data."
#[test]
fn requirement_1_of_seed_000_an_array_has_data_for_reading_and_data_for_writing() {
    let mut array = one_to_four();
    assert_eq!(array.as_slice(), [1.0, 2.0, 3.0, 4.0]);
    array.mutable_data().unwrap()[3] = 40.0;
    assert_eq!(array.as_slice(), [1.0, 2.0, 3.0, 40.0]);
}

/// "If an array owns mutable data, both properties point to the same memory block."
#[test]
fn requirement_2_of_seed_000_both_pointers_of_mutable_data_are_the_same() {
    let drops = DropCount::new();
    for mut array in [
        one_to_four(),
        Array::full(4, 1.0).unwrap(),
        Array::from_owner_mut(CountingOwner::new([1.0, 2.0], &drops)),
        from_raw_mut(vec![1.0, 2.0], &drops),
    ] {
        let data = array.as_ptr();
        assert_eq!(array.mutable_data().unwrap().as_ptr(), data);
    }
}

/// "If an array owns immutable data, mutable_data is nullptr."
#[test]
fn requirement_3_of_seed_000_an_array_of_immutable_data_has_no_mutable_data() {
    let drops = DropCount::new();
    for mut array in [
        Array::from(&CONSTANTS[..]),
        Array::from(Arc::from([1.0, 2.0])),
        Array::from_owner(CountingOwner::new([1.0, 2.0], &drops)),
        from_raw(vec![1.0, 2.0], &drops),
    ] {
        assert!(!array.has_mutable_data());
        assert!(matches!(array.mutable_data(), Err(Error::ImmutableData)));
    }
}

/// "An array stores the number of elements in the block it owns and updates the count property when a new memory block
/// is assigned to the array."
#[test]
fn requirement_4_of_seed_000_the_count_follows_a_newly_assigned_block() {
    let mut array = one_to_four();
    assert_eq!(array.len(), 4);
    array = Array::from(vec![7.0; 9]);
    assert_eq!(array.len(), 9);
    array.reset_to(2).unwrap();
    assert_eq!(array.len(), 2);
    array.reset();
    assert_eq!(array.len(), 0);
}

/// "An array stores a pointer to the ownership structure of the data: the reference count indicating how many array
/// objects refer to the same memory block ..."
#[test]
fn requirement_5_of_seed_000_the_reference_count_is_the_number_of_arrays_on_the_block() {
    let array = one_to_four();
    assert_eq!(array.owner_count(), 1);
    let others = [array.clone(), array.slice(1..).unwrap(), array.project(|all| &all[..1])];
    assert_eq!(array.owner_count(), 4);
    drop(others);
    assert_eq!(array.owner_count(), 1);
}

/// "... the deleter object used to free the memory block when reference count is zero."
#[test]
fn requirement_5_of_seed_000_the_deleter_frees_the_block_when_the_reference_count_is_zero() {
    let drops = DropCount::new();
    let array = from_raw(vec![1, 2, 3], &drops);
    let clone = array.clone();
    drop(array);
    assert_eq!((drops.get(), clone.owner_count()), (0, 1));
    drop(clone);
    assert_eq!(drops.get(), 1);
}

/// "An array creates the ownership structure for a new memory block not associated with such structure."
#[test]
fn requirement_6_of_seed_000_every_new_block_gets_an_ownership_structure_of_its_own() {
    let drops = DropCount::new();
    let arrays = [
        Array::zeros(2).unwrap(),
        Array::full(2, 1.0).unwrap(),
        Array::from_fn(2, |i| i as f32).unwrap(),
        Array::copy_of(&CONSTANTS).unwrap(),
        Array::from(vec![1.0]),
        Array::from(vec![1.0].into_boxed_slice()),
        Array::from(Arc::from([1.0])),
        Array::from(&CONSTANTS[..]),
        Array::from(&CONSTANTS[..]), // the same memory twice: each is told of a new block
        [1.0_f32].into_iter().collect(),
        Array::from_owner(CountingOwner::new([1.0], &drops)),
        Array::from_owner_mut(CountingOwner::new([1.0], &drops)),
        from_raw(vec![1.0], &drops),
        from_raw_mut(vec![1.0], &drops),
    ];
    for (i, array) in arrays.iter().enumerate() {
        assert_eq!(array.owner_count(), 1, "array {i}");
        assert!(arrays[..i].iter().all(|other| !array.shares_memory_with(other)), "array {i}");
    }
}

/// "An array decrements the number of references to the memory block when the array goes out of the scope. If the number
/// of references is zero, the array calls the deleter on this memory block and free the ownership structure."
#[test]
fn requirement_7_of_seed_000_an_array_that_goes_out_of_scope_gives_its_reference_up() {
    let drops = DropCount::new();
    let array = from_raw(vec![1, 2, 3], &drops);
    {
        let _clone = array.clone();
        assert_eq!(array.owner_count(), 2);
    }
    assert_eq!((array.owner_count(), drops.get()), (1, 0));
    {
        let _last = array;
    }
    assert_eq!(drops.get(), 1);
}

/// "An array stores the pointer to the ownership structure created by another array when they share the data. An array
/// increments the reference count for it to be equal to the number of array objects sharing the same data."
#[test]
fn requirement_8_of_seed_000_arrays_that_share_data_share_one_ownership_structure() {
    let array = one_to_four();
    let mut sharing = vec![array];
    for expected in 2..=10 {
        sharing.push(sharing[expected / 3].clone());
        assert!(sharing.iter().all(|array| array.owner_count() == expected));
        assert!(sharing.iter().all(|array| array.shares_memory_with(&sharing[0])));
    }
}

// ---- Data ownership requirements of seed 001 -----------------------------------------------------------------------

/// "An array retains: a pointer to the immutable data block of size count; a pointer to the mutable data block of size
/// count."
#[test]
fn requirement_1_of_seed_001_data_and_mutable_data_are_of_size_count() {
    let mut array = one_to_four();
    assert_eq!((array.len(), array.as_slice().len()), (4, 4));
    assert_eq!(array.mutable_data().unwrap().len(), 4);
}

/// "If an array represents mutable data, both pointers must point to the same mutable data block."
#[test]
fn requirement_2_of_seed_001_what_is_written_through_one_pointer_is_read_through_the_other() {
    let mut array = Array::<i64>::zeros(3).unwrap();
    let data = array.as_ptr();
    let mutable = array.mutable_data().unwrap();
    assert_eq!(mutable.as_ptr(), data);
    mutable.copy_from_slice(&[5, 6, 7]);
    assert_eq!(array.as_slice(), [5, 6, 7]);
}

/// "If an array represents immutable data, mutable data must be nullptr."
#[test]
fn requirement_3_of_seed_001_immutable_data_stays_immutable_however_often_it_is_shared() {
    let array = Array::from(&CONSTANTS[..]);
    let mut others = [array.clone(), array.slice(..).unwrap(), array.project(|all| all)];
    drop(array);
    for other in &mut others {
        assert!(!other.has_mutable_data());
        assert!(matches!(other.mutable_data(), Err(Error::ImmutableData)));
    }
}

/// "Several array objects can own the same data block."
#[test]
fn requirement_4_of_seed_001_several_arrays_own_one_block() {
    let array = one_to_four();
    let clone = array.clone();
    assert_eq!(clone.as_ptr(), array.as_ptr());
    drop(array);
    assert_eq!(clone.as_slice(), [1.0, 2.0, 3.0, 4.0]);
}

/// "An array releases the ownership when: the array is destroyed; ..."
#[test]
fn requirement_4_of_seed_001_a_destroyed_array_releases_ownership() {
    let drops = DropCount::new();
    drop(from_raw(vec![1], &drops));
    assert_eq!(drops.get(), 1);
}

/// "... the array is assigned another memory block via operator= or reset()."
#[test]
fn requirement_4_of_seed_001_an_array_that_is_given_another_block_releases_ownership() {
    let drops = DropCount::new();
    let mut array = from_raw(vec![1], &drops);
    array = from_raw(array.to_vec(), &drops);
    assert_eq!(drops.get(), 1, "assigned");
    array.reset();
    assert_eq!(drops.get(), 2, "reset");
    array = from_raw(vec![1], &drops);
    array.reset_to(1).unwrap();
    assert_eq!((drops.get(), array[0]), (3, 0), "reset to a count");
}

/// "If the array that releases the ownership is the last object owning the data block, the release leads to its
/// deallocation."
#[test]
fn requirement_4_of_seed_001_only_the_last_owner_deallocates() {
    let drops = DropCount::new();
    let array = from_raw(vec![1, 2, 3, 4], &drops);
    let mut owners = vec![array.clone(), array.slice(1..2).unwrap(), array.project(|all| &all[2..])];
    owners.push(array);
    while owners.len() > 1 {
        owners.swap_remove(0);
        assert_eq!(drops.get(), 0);
    }
    owners.clear();
    assert_eq!(drops.get(), 1);
}

/// "The data block is deallocated with the deleter object that was provided to the array at construction. ..."
#[test]
fn requirement_4_of_seed_001_the_deleter_given_at_construction_is_the_one_that_runs() {
    let (first, second) = (DropCount::new(), DropCount::new());
    let arrays = [from_raw(vec![1], &first), from_raw_mut(vec![1], &second)];
    assert_eq!((first.get(), second.get()), (0, 0));
    let [array, _kept] = arrays;
    drop(array);
    assert_eq!((first.get(), second.get()), (1, 0));
}

/// "... If no deleter object is provided, the array calls the default deallocating function that corresponds to the
/// internal memory allocation mechanism."
#[test]
fn requirement_4_of_seed_001_memory_of_the_library_needs_no_deleter() {
    let array = Array::full(1000, 3_u16).unwrap();
    let tail = array.slice(999..).unwrap();
    drop(array);
    assert_eq!(tail.as_slice(), [3]);
}

/// "If a managed pointer to the data block is replaced by another pointer via reset(), the array that managed the pointer
/// releases the ownership of it and starts managing the lifetime of the data block represented by the other pointer."
#[test]
fn requirement_5_of_seed_001_a_replaced_pointer_is_released_and_the_new_one_managed() {
    let (old, new) = (DropCount::new(), DropCount::new());
    let mut array = from_raw(vec![1, 2], &old);
    assert_eq!(array.as_slice(), [1, 2]);
    array = from_raw(vec![3, 4, 5], &new);
    assert_eq!((old.get(), new.get(), array.as_slice()), (1, 0, &[3, 4, 5][..]));
    drop(array);
    assert_eq!((old.get(), new.get()), (1, 1));
}

/// "If an array changes its state from immutable to mutable via need_mutable_data(), it releases the ownership of
/// immutable data block and starts managing the lifetime of the mutable data block."
#[test]
fn requirement_6_of_seed_001_need_mutable_data_releases_the_immutable_block() {
    let drops = DropCount::new();
    let mut array = from_raw(vec![1, 2, 3], &drops);
    assert_eq!(array.need_mutable_data().unwrap(), [1, 2, 3]);
    assert_eq!(drops.get(), 1);
    assert!(array.has_mutable_data());
    drop(array);
    assert_eq!(drops.get(), 1);
}

/// "An array object may not own any data. Such an array is called zero-sized: pointers to the immutable and mutable data
/// of the zero-sized array must be nullptr; the data block size count is 0."
#[test]
fn requirement_7_of_seed_001_a_zero_sized_array_owns_no_data() {
    for mut array in [Array::<f64>::new(), Array::default()] {
        assert_eq!((array.len(), array.size_in_bytes(), array.as_slice()), (0, 0, &[][..]));
        assert_eq!(array.owner_count(), 0);
        assert!(!array.has_mutable_data());
        assert!(matches!(array.mutable_data(), Err(Error::ImmutableData)));
        assert!(!array.shares_memory_with(&array));
    }
}

// ---- Implementation notes of seed 001 ------------------------------------------------------------------------------

/// "The array class contains: a pointer to the immutable data block; a pointer to the mutable data block; a pointer to
/// the ownership structure that implements the shared ownership semantics; the data block size count."
#[test]
fn implementation_note_1_of_seed_001_an_array_is_a_pointer_a_count_and_a_share() {
    let array = one_to_four();
    let window = array.slice(1..3).unwrap();
    assert_eq!(window.as_ptr(), array[1..].as_ptr());
    assert_eq!(window.len(), 2);
    assert!(window.shares_memory_with(&array));
}

/// "The ownership structure is an object that stores: a pointer to either immutable or mutable data block; the deleter
/// object; the reference count (the number of array objects that own the associated data block)."
#[test]
fn implementation_note_2_of_seed_001_the_deleter_is_stored_with_the_block_not_with_an_array() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_by_deleter = Arc::clone(&seen);
    let data = CONSTANTS.as_ptr();
    let deleter = move |data: *const f32, count| seen_by_deleter.lock().unwrap().push((data.addr(), count));
    // SAFETY: the static lives for ever and nobody writes it.
    let array = unsafe { Array::from_raw_parts(data, 4, deleter) };
    let part = array.slice(2..3).unwrap();
    drop(array);
    drop(part); // the last owner shows a part; the deleter gets the block
    assert_eq!(*seen.lock().unwrap(), [(data.addr(), 4)]);
}

/// "If an array starts managing the lifetime of the data block represented by the pointer p and deleter d, it creates the
/// ownership structure object and initialize it with p and d. The reference count of the ownership structure is assigned
/// one."
#[test]
fn implementation_note_3_of_seed_001_a_new_ownership_structure_has_one_reference() {
    let drops = DropCount::new();
    assert_eq!(from_raw(vec![1], &drops).owner_count(), 1);
    assert_eq!(from_raw_mut(vec![1], &drops).owner_count(), 1);
}

/// "If an array object releases the ownership, the reference count of the ownership structure is decremented: if that
/// count reaches zero, the ownership structure deallocates the memory block and the array destroys the ownership
/// structure; if that count is greater than zero, the ownership structure is not destroyed."
#[test]
fn implementation_note_4_of_seed_001_the_ownership_structure_lives_as_long_as_one_reference() {
    let drops = DropCount::new();
    let array = Array::from_owner(CountingOwner::new([1_u8, 2, 3], &drops));
    let clone = array.clone();
    drop(array);
    assert_eq!((clone.owner_count(), drops.get(), clone.as_slice()), (1, 0, &[1, 2, 3][..]));
    drop(clone);
    assert_eq!(drops.get(), 1);
}

/// "If a copy of the array object is created, the reference count of the ownership structure is incremented and a pointer
/// to the same ownership structure is assigned to the created copy. The other member variables of an array class are
/// copied as is."
#[test]
fn implementation_note_5_of_seed_001_a_copy_has_the_same_pointer_and_count() {
    let array = one_to_four().slice(1..).unwrap();
    let copy = array.clone();
    assert_eq!((copy.as_ptr(), copy.len()), (array.as_ptr(), 3));
    assert_eq!((copy.owner_count(), array.owner_count()), (2, 2));
    assert!(copy.shares_memory_with(&array));
}

// ---- The peer's tests ----------------------------------------------------------------------------------------------

// oneDAL test/array.cpp: "default array".
#[test]
fn peer_a_default_array_is_empty_and_not_mutable() {
    let array = Array::<f32>::default();
    assert_eq!((array.len(), array.has_mutable_data()), (0, false));
}

// oneDAL test/array.cpp: "zeros(5)".
#[test]
fn peer_five_zeros_are_mutable_zeros() {
    let array = Array::<f32>::zeros(5).unwrap();
    assert_eq!((array.len(), array.has_mutable_data(), array.as_slice()), (5, true, &[0.0; 5][..]));
}

// oneDAL test/array.cpp: "full(5, 1)".
#[test]
fn peer_five_ones_are_mutable_ones() {
    let array = Array::full(5, 1.0_f32).unwrap();
    assert_eq!((array.len(), array.has_mutable_data(), array.as_slice()), (5, true, &[1.0; 5][..]));
}

// oneDAL test/array.cpp: "from owned pointer + deleter (10 values)".
#[test]
fn peer_ten_values_with_a_deleter_are_mutable_and_equal() {
    let drops = DropCount::new();
    let array = from_raw_mut(f32::counting(10), &drops);
    assert_eq!((array.len(), array.has_mutable_data()), (10, true));
    assert_eq!(array.as_slice(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
}

// oneDAL test/array.cpp: "copy of zeros(5)". There both stay mutable; here neither is while there are two.
#[test]
fn peer_a_copy_has_the_same_count_data_mutability_and_values() {
    let array = Array::<f32>::zeros(5).unwrap();
    let copy = array.clone();
    assert_eq!((copy.len(), copy.as_ptr()), (array.len(), array.as_ptr()));
    assert_eq!((copy.has_mutable_data(), array.has_mutable_data()), (false, false));
    assert_eq!(copy, array);
}

// oneDAL test/array.cpp: "reset()".
#[test]
fn peer_a_reset_array_is_empty_and_not_mutable() {
    let mut array = Array::<f32>::zeros(5).unwrap();
    array.reset();
    assert_eq!((array.len(), array.has_mutable_data()), (0, false));
}

// oneDAL test/array.cpp: "reset to 10 from 5".
#[test]
fn peer_reset_to_a_larger_count() {
    let mut array = Array::<f32>::zeros(5).unwrap();
    array.reset_to(10).unwrap();
    assert_eq!((array.len(), array.has_mutable_data()), (10, true));
}

// oneDAL test/array.cpp: "reset to 4 from 5".
#[test]
fn peer_reset_to_a_smaller_count() {
    let mut array = Array::<f32>::zeros(5).unwrap();
    array.reset_to(4).unwrap();
    assert_eq!((array.len(), array.has_mutable_data()), (4, true));
}

// oneDAL test/array.cpp: "reset with owned pointer".
#[test]
fn peer_reset_with_an_owned_pointer_has_both_pointers_equal_to_it() {
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
fn peer_reset_with_a_borrowed_const_pointer_is_not_mutable() {
    let mut array = Array::<f32>::zeros(5).unwrap();
    assert_eq!(array.len(), 5);
    array = Array::from(&CONSTANTS[..]);
    assert_eq!((array.len(), array.as_ptr(), array.has_mutable_data()), (4, CONSTANTS.as_ptr(), false));
}

// oneDAL test/array.cpp: "borrowed read-only then need_mutable_data".
#[test]
fn peer_need_mutable_data_of_borrowed_data_copies_it() {
    let mut array = Array::from(&CONSTANTS[..]);
    array.need_mutable_data().unwrap();
    assert_ne!(array.as_ptr(), CONSTANTS.as_ptr());
    assert_eq!((array.has_mutable_data(), array.as_slice()), (true, &CONSTANTS[..]));
}

// oneDAL test/array.cpp: "borrowed mutable array".
#[test]
fn peer_borrowed_mutable_data_is_written_where_it_is() {
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
fn peer_data_projected_from_an_empty_array_is_borrowed_and_not_mutable() {
    let array = Array::<f32>::new().project(|_| &CONSTANTS[..]);
    assert_eq!((array.as_ptr(), array.len(), array.has_mutable_data()), (CONSTANTS.as_ptr(), 4, false));
}

// oneDAL test/array.cpp: "wrap const data".
#[test]
fn peer_wrapped_constant_data_is_not_mutable() {
    let array = Array::from(&CONSTANTS[..]);
    assert_eq!((array.len(), array.as_ptr(), array.has_mutable_data()), (4, CONSTANTS.as_ptr(), false));
}

// oneDAL test/array.cpp: "const pointer + deleter, count smaller than the allocation".
#[test]
fn peer_a_count_below_the_allocation_is_what_array_and_deleter_see() {
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
fn peer_an_array_from_a_shared_pointer_to_const_data_shares_it() {
    let shared: Arc<[f32]> = Arc::from([1.0, 2.0, 3.0]);
    let array = Array::from(Arc::clone(&shared));
    assert_eq!((array.as_ptr(), array.as_slice()), (shared.as_ptr(), &shared[..]));
    assert_eq!(Arc::strong_count(&shared), 2);
    drop(array);
    assert_eq!(Arc::strong_count(&shared), 1);
}

// oneDAL test/array.cpp: "from shared pointer to mutable data". A shared pointer that may be written is an array here.
#[test]
fn peer_an_array_of_an_array_shows_its_values() {
    let inner = one_to_four();
    let array = Array::from_owner(inner.clone());
    assert_eq!((array.as_ptr(), array.as_slice()), (inner.as_ptr(), inner.as_slice()));
}

// oneDAL test/array.cpp: "slices [0,512), [512,1024), [256,512) of 1024".
#[test]
fn peer_slices_point_into_the_array() {
    let array = Array::<f32>::zeros(1024).unwrap();
    for (range, count) in [(0..512, 512), (512..1024, 512), (256..512, 256)] {
        let slice = array.slice(range.clone()).unwrap();
        assert_eq!((slice.len(), slice.as_ptr()), (count, array[range.start..].as_ptr()));
    }
}

// oneDAL test/array_cast.cpp: "reinterpret empty array".
#[test]
fn peer_a_reinterpreted_empty_array_is_empty() {
    let bytes = Array::<f32>::new().reinterpret::<u8>().unwrap();
    assert_eq!((bytes.len(), bytes.owner_count(), bytes.has_mutable_data()), (0, 0, false));
}

// oneDAL test/array_cast.cpp: "reinterpret immutable float[2] to bytes".
#[test]
fn peer_immutable_floats_seen_as_bytes_are_the_same_immutable_memory() {
    let array = Array::from(&CONSTANTS[..2]);
    let bytes = array.reinterpret::<u8>().unwrap();
    assert_eq!((bytes.len(), bytes.as_ptr(), bytes.has_mutable_data()), (8, array.as_ptr().cast(), false));
    let expected =
        if cfg!(target_endian = "big") { [0x3F, 0x80, 0, 0, 0x40, 0, 0, 0] } else { [0, 0, 0x80, 0x3F, 0, 0, 0, 0x40] };
    assert_eq!(bytes.as_slice(), expected);
}

// oneDAL test/array_cast.cpp: "reinterpret mutable". There both stay mutable; here the only owner is.
#[test]
fn peer_mutable_floats_seen_as_bytes_are_the_same_mutable_memory() {
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
fn peer_three_floats_are_no_doubles() {
    let error = Array::<f32>::zeros(3).unwrap().reinterpret::<f64>().unwrap_err();
    assert!(matches!(error, Error::NotReinterpretable { bytes: 12, target: ElementType::F64, .. }), "{error}");
}

// oneDAL test/array_cast.cpp: "discard mutability". There the original stays mutable; here once it is the only owner.
#[test]
fn peer_a_view_without_mutability_leaves_the_original_mutable() {
    let array = Array::<f32>::zeros(3).unwrap();
    let mut view = array.project(|all| all);
    assert_eq!((view.as_ptr(), view.len()), (array.as_ptr(), 3));
    assert!(matches!(view.mutable_data(), Err(Error::ImmutableData)));
    drop(view);
    assert!(array.has_mutable_data());
}

// ---- The peer's faults ---------------------------------------------------------------------------------------------

#[test]
fn fault_54_a_deserialized_empty_array_can_be_sliced_and_reinterpreted() {
    let array: Array<f32> = serde_json::from_str("[]").unwrap();
    assert_eq!(array.slice(..).unwrap().len(), 0);
    assert_eq!(array.slice(0..0).unwrap().len(), 0);
    assert_eq!(array.reinterpret::<f64>().unwrap().len(), 0);
    assert_eq!(array.project(|all| all).len(), 0);
}

#[test]
fn fault_54_an_empty_array_from_a_null_mutable_pointer_can_be_sliced_and_reinterpreted() {
    // SAFETY: null is allowed for no elements.
    let array = unsafe { Array::<u8>::from_raw_parts_mut(std::ptr::null_mut(), 0, |_, _| ()) };
    assert_eq!(array.slice(..).unwrap().len(), 0);
    assert_eq!(array.reinterpret::<f64>().unwrap().len(), 0);
}

#[test]
fn fault_55_an_array_that_was_moved_out_of_can_be_used() {
    let mut array = one_to_four();
    let taken = std::mem::take(&mut array);
    assert_eq!((array.len(), array.clone().len(), array.owner_count()), (0, 0, 0));
    array.reset();
    array.reset_to(2).unwrap();
    assert_eq!((array.as_slice(), taken.len()), (&[0.0; 2][..], 4));
}

#[test]
fn fault_55_an_array_that_was_reset_can_be_used() {
    let mut array = one_to_four();
    array.reset();
    array.reset();
    assert_eq!((array.clone().len(), array.slice(..).unwrap().len()), (0, 0));
    array = Array::from(vec![5.0]);
    assert_eq!(array.as_slice(), [5.0]);
}

#[test]
fn fault_55_assignment_releases_the_memory_at_once() {
    let drops = DropCount::new();
    let other = from_raw(vec![9.0], &DropCount::new());
    let mut array = from_raw(vec![1.0], &drops);
    assert_eq!(array[0], 1.0);
    array = other;
    assert_eq!((drops.get(), array[0]), (1, 9.0));
}

#[test]
fn fault_56_two_arrays_never_write_the_same_memory() {
    let mut array = one_to_four();
    let mut copy = array.clone();
    assert!(matches!(array.mutable_data(), Err(Error::SharedData { owner_count: 2 })));
    assert!(matches!(copy.mutable_data(), Err(Error::SharedData { owner_count: 2 })));
    copy.need_mutable_data().unwrap()[0] = 9.0;
    array.mutable_data().unwrap()[1] = 8.0; // the only owner again
    assert_eq!((array.as_slice(), copy.as_slice()), (&[1.0, 8.0, 3.0, 4.0][..], &[9.0, 2.0, 3.0, 4.0][..]));
}

#[test]
fn fault_56_slices_are_checked_in_every_build() {
    assert!(matches!(one_to_four().slice(3..5), Err(Error::ElementsOutOfRange { count: 4, .. })));
}

#[test]
fn fault_56_an_index_is_checked_in_every_build() {
    assert_eq!(one_to_four().get(4), None);
}

#[test]
fn fault_57_need_mutable_data_on_an_empty_array_makes_it_mutable() {
    let wrapped: &'static [f32] = &[];
    // SAFETY: null is allowed for no elements.
    let null = unsafe { Array::from_raw_parts(std::ptr::null(), 0, |_, _| ()) };
    for mut array in [Array::new(), Array::from(wrapped), null, one_to_four().slice(2..2).unwrap()] {
        assert!(array.need_mutable_data().unwrap().is_empty());
        assert!(array.has_mutable_data());
        assert!(array.mutable_data().unwrap().is_empty());
    }
}

// ---- Constructors --------------------------------------------------------------------------------------------------

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

// ---- Counts that no memory can hold --------------------------------------------------------------------------------

#[test]
fn a_count_that_cannot_be_addressed_is_a_size_overflow() {
    fn check<T: SmallNumber>() {
        let limit = isize::MAX as usize / size_of::<T>();
        for count in [limit + 1, usize::MAX / 2 + 1, usize::MAX - 1, usize::MAX] {
            let is_overflow = |error: Error| {
                matches!(error, Error::SizeOverflow { shape, element: Some(element) }
                    if shape == Shape { rows: count, columns: 1 } && element == T::TYPE)
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
fn a_count_that_the_system_refuses_is_out_of_memory() {
    fn check<T: SmallNumber>() {
        let count = isize::MAX as usize / size_of::<T>();
        let expected = count * size_of::<T>();
        let is_refusal = |error: Error| matches!(error, Error::OutOfMemory { bytes } if bytes == expected);
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
    assert!(array.reset_to(isize::MAX as usize / 4).is_err());
    assert_eq!((array.as_ptr(), array.as_slice()), (data, &[1.0, 2.0, 3.0, 4.0][..]));
    assert!(array.has_mutable_data());
}

// ---- Raw parts and deleters ----------------------------------------------------------------------------------------

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
    // SAFETY: the static lives for ever and nobody writes it.
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

// ---- Slices --------------------------------------------------------------------------------------------------------

#[test]
fn slices_take_every_kind_of_range() {
    let array = Array::from(vec![0, 1, 2, 3, 4]);
    let slice = |bounds: (Bound<usize>, Bound<usize>)| array.slice(bounds).unwrap().to_vec();
    assert_eq!(array.slice(..).unwrap().as_slice(), [0, 1, 2, 3, 4]);
    assert_eq!(array.slice(2..).unwrap().as_slice(), [2, 3, 4]);
    assert_eq!(array.slice(..2).unwrap().as_slice(), [0, 1]);
    assert_eq!(array.slice(..=2).unwrap().as_slice(), [0, 1, 2]);
    assert_eq!(array.slice(1..3).unwrap().as_slice(), [1, 2]);
    assert_eq!(array.slice(1..=3).unwrap().as_slice(), [1, 2, 3]);
    assert_eq!(slice((Bound::Excluded(1), Bound::Unbounded)), [2, 3, 4]);
    assert_eq!(slice((Bound::Excluded(1), Bound::Included(3))), [2, 3]);
    assert_eq!(slice((Bound::Excluded(1), Bound::Excluded(3))), [2]);
}

#[test]
fn slices_may_be_empty_anywhere_up_to_the_end() {
    let array = one_to_four();
    for start in 0..=4 {
        assert_eq!(array.slice(start..start).unwrap().len(), 0);
    }
    assert_eq!(array.slice((Bound::Excluded(3), Bound::Unbounded)).unwrap().len(), 0);
    assert_eq!(Array::<f32>::new().slice(..).unwrap().len(), 0);
}

#[test]
fn slices_beyond_the_end_are_errors_that_name_range_and_count() {
    let array = one_to_four();
    for range in [0..5, 4..5, 5..5, 5..6, 0..usize::MAX, usize::MAX..usize::MAX] {
        let error = array.slice(range.clone()).unwrap_err();
        assert!(matches!(&error, Error::ElementsOutOfRange { range: found, count: 4 } if *found == range), "{error}");
    }
    assert!(array.slice(5..).is_err());
    assert!(array.slice(usize::MAX..).is_err());
    assert!(array.slice(..=4).is_err());
}

#[test]
fn slices_that_run_backwards_are_errors() {
    let array = one_to_four();
    for (start, end) in [(3, 2), (4, 0), (1, 0), (usize::MAX, 0)] {
        let error = array.slice(Range { start, end }).unwrap_err();
        assert!(matches!(error, Error::ElementsOutOfRange { count: 4, .. }), "{error}");
    }
}

#[test]
fn ends_at_the_largest_index_do_not_overflow() {
    let array = one_to_four();
    assert!(matches!(array.slice(..=usize::MAX), Err(Error::ElementsOutOfRange { .. })));
    assert!(matches!(array.slice(2..=usize::MAX), Err(Error::ElementsOutOfRange { .. })));
    assert!(matches!(array.slice(usize::MAX..=usize::MAX), Err(Error::ElementsOutOfRange { .. })));
}

#[test]
fn excluded_starts_at_or_beyond_the_end_are_errors() {
    let array = one_to_four();
    for start in [4, 5, usize::MAX - 1, usize::MAX] {
        assert!(array.slice((Bound::Excluded(start), Bound::Unbounded)).is_err(), "{start}");
    }
    assert!(array.slice((Bound::Excluded(usize::MAX), Bound::Included(usize::MAX))).is_err());
    assert!(array.slice((Bound::Excluded(2), Bound::Excluded(2))).is_err(), "from 3 up to 2");
}

#[test]
fn ranges_over_as_many_elements_as_can_be_counted_are_checked() {
    let array = Array::from(vec![(); usize::MAX]); // elements without size: no memory
    assert_eq!(array.slice(usize::MAX..).unwrap().len(), 0);
    assert_eq!(array.slice(..=usize::MAX - 1).unwrap().len(), usize::MAX);
    assert!(array.slice(..=usize::MAX).is_err());
    assert!(array.slice((Bound::Excluded(usize::MAX), Bound::Unbounded)).is_err());
}

#[test]
fn a_failed_slice_takes_no_share() {
    let array = one_to_four();
    assert!(array.slice(2..9).is_err());
    assert!(array.has_mutable_data());
}

#[test]
fn a_slice_of_a_slice_counts_from_the_slice() {
    let array = Array::from(i32::counting(10));
    let slice = array.slice(2..8).unwrap().slice(1..=2).unwrap();
    assert_eq!(slice.as_slice(), [3, 4]);
    assert_eq!(slice.as_ptr(), array[3..].as_ptr());
}

#[test]
fn a_slice_that_is_the_only_owner_writes_its_own_part() {
    let drops = DropCount::new();
    let array = Array::from_owner_mut(CountingOwner::new([1, 2, 3, 4], &drops));
    let mut slice = array.slice(1..3).unwrap();
    assert!(matches!(slice.mutable_data(), Err(Error::SharedData { owner_count: 2 })));
    drop(array);
    assert_eq!(slice.mutable_data().unwrap(), [2, 3]);
}

#[test]
fn disjoint_slices_share_the_block_and_so_neither_is_mutable() {
    let array = one_to_four();
    let (mut low, mut high) = (array.slice(..2).unwrap(), array.slice(2..).unwrap());
    drop(array);
    assert!(low.shares_memory_with(&high));
    assert!(low.mutable_data().is_err() && high.mutable_data().is_err());
}

// ---- Reinterpreting and projecting ---------------------------------------------------------------------------------

#[test]
fn every_element_type_can_be_seen_as_bytes_and_back() {
    fn check<T: SmallNumber>() {
        let array = Array::from(T::counting(6));
        let bytes = array.reinterpret::<u8>().unwrap();
        assert_eq!((bytes.len(), bytes.as_ptr()), (6 * size_of::<T>(), array.as_ptr().cast()));
        let back = bytes.reinterpret::<T>().unwrap();
        assert_eq!(back.as_slice(), T::counting(6));
        assert_eq!(array.owner_count(), 3);
    }
    for_each_element!(check);
}

#[test]
fn bytes_that_are_no_multiple_of_the_size_are_refused_in_every_element_type() {
    fn check<T: SmallNumber>() {
        for bytes in 0..2 * size_of::<T>() {
            let result = Array::<u8>::zeros(bytes).unwrap().reinterpret::<T>();
            match result {
                Ok(array) => assert_eq!(array.size_in_bytes(), bytes),
                Err(Error::NotReinterpretable { bytes: found, target, .. }) => {
                    assert_eq!((found, target, bytes % size_of::<T>() != 0), (bytes, T::TYPE, true));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn bytes_that_are_not_aligned_are_refused_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let bytes = Array::<u8>::zeros(4 * LIBRARY_ALIGNMENT).unwrap();
        for offset in 0..LIBRARY_ALIGNMENT {
            let result = bytes.slice(offset..offset + 2 * size_of::<T>()).unwrap().reinterpret::<T>();
            match result {
                Ok(array) => assert_eq!((offset % align_of::<T>(), array.len()), (0, 2)),
                Err(Error::NotReinterpretable { alignment, .. }) => {
                    assert_ne!(offset % align_of::<T>(), 0);
                    assert_eq!(alignment, 1 << offset.trailing_zeros());
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn an_empty_slice_at_any_offset_is_an_empty_array_of_every_element_type() {
    fn check<T: SmallNumber>() {
        let bytes = Array::<u8>::zeros(9).unwrap();
        for offset in 0..=9 {
            let empty = bytes.slice(offset..offset).unwrap().reinterpret::<T>().unwrap();
            assert_eq!(empty.as_slice(), []);
        }
    }
    for_each_element!(check);
}

#[test]
fn a_reinterpreted_array_keeps_the_memory_alive() {
    let drops = DropCount::new();
    let array = from_raw(vec![0x0102_u16; 3], &drops);
    let bytes = array.reinterpret::<u8>().unwrap();
    drop(array);
    assert_eq!((drops.get(), bytes.len(), bytes[0] + bytes[1]), (0, 6, 3));
    drop(bytes);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_projection_shows_a_field_and_keeps_the_whole_alive() {
    let drops = DropCount::new();
    let records = Array::from_owner(CountingOwner::new([(7_u8, [1.0_f32, 2.0, 3.0])], &drops));
    let field = records.project(|records| &records[0].1[1..]);
    assert!(field.shares_memory_with(&records));
    drop(records);
    assert_eq!((drops.get(), field.as_slice()), (0, &[2.0, 3.0][..]));
    drop(field);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_projection_is_not_mutable_even_as_the_only_owner() {
    let mut flat = Array::from(vec![[1.0_f32, 2.0], [3.0, 4.0]]).project(|rows| rows.as_flattened());
    assert_eq!(flat.owner_count(), 1);
    assert!(matches!(flat.mutable_data(), Err(Error::ImmutableData)));
    flat.need_mutable_data().unwrap()[3] = 9.0;
    assert_eq!(flat.as_slice(), [1.0, 2.0, 3.0, 9.0]);
}

// ---- Writing -------------------------------------------------------------------------------------------------------

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
    assert!(matches!(array.mutable_data(), Err(Error::SharedData { owner_count: 3 })));
    drop(clones);
    assert!(array.has_mutable_data());
    assert_eq!(array.mutable_data().unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn immutable_data_is_reported_as_such_even_while_it_is_shared() {
    let mut array = Array::from(&CONSTANTS[..]);
    let _clone = array.clone();
    assert!(matches!(array.mutable_data(), Err(Error::ImmutableData)));
}

// ---- Giving a `Vec` back -------------------------------------------------------------------------------------------

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
fn an_array_that_cannot_give_its_vec_comes_back_as_it_was() {
    let array = one_to_four();
    let (data, clone) = (array.as_ptr(), array.clone());
    let array = array.try_into_vec().unwrap_err();
    assert_eq!((array.as_ptr(), array.len(), array.owner_count()), (data, 4, 2));
    drop(clone);
    let vec = array.try_into_vec().unwrap();
    assert_eq!(vec.as_ptr(), data);
}

#[test]
fn a_slice_that_cannot_give_its_vec_is_still_mutable() {
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

// ---- Looking -------------------------------------------------------------------------------------------------------

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

// ---- Threads -------------------------------------------------------------------------------------------------------

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
                for round in 0..2000 {
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
    for _ in 0..300 {
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
    for round in 1..=50 {
        let share = array.clone();
        let reader = thread::spawn(move || share.iter().sum::<u64>());
        assert_eq!(reader.join().unwrap(), 1000 * (round - 1));
        array.mutable_data().unwrap().fill(round);
    }
}
