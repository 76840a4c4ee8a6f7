//! Who owns the memory of an array: the data ownership requirements of oneDAL's `array`.
//!
//! The developer guide 2021.3 of oneDAL lists eight requirements, the oneAPI specification 1.3 seven, and five
//! implementation notes. They are quoted here. The one deliberate difference: two arrays never have mutable
//! access to one block at the same time.

use std::sync::{Arc, Mutex};

use numeric_table::{Array, ErrorKind};
use test_support::{CountingOwner, DropCount};

use super::{CONSTANTS, from_raw, from_raw_mut, one_to_four};

// --- The developer guide -------------------------------------------------------------------------------------------

/// Developer guide, requirement 1: "An array owns two properties representing raw pointers to the data: data,
/// mutable_data."
#[test]
fn an_array_has_data_for_reading_and_data_for_writing() {
    let mut array = one_to_four();
    assert_eq!(array.as_slice(), [1.0, 2.0, 3.0, 4.0]);
    array.mutable_data().unwrap()[3] = 40.0;
    assert_eq!(array.as_slice(), [1.0, 2.0, 3.0, 40.0]);
}

/// Developer guide, requirement 2: "If an array owns mutable data, both properties point to the same memory block."
#[test]
fn both_pointers_of_mutable_data_are_the_same() {
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

/// Developer guide, requirement 3: "If an array owns immutable data, mutable_data is nullptr."
#[test]
fn an_array_of_immutable_data_has_no_mutable_data() {
    let drops = DropCount::new();
    for mut array in [
        Array::from(&CONSTANTS[..]),
        Array::from(Arc::from([1.0, 2.0])),
        Array::from_owner(CountingOwner::new([1.0, 2.0], &drops)),
        from_raw(vec![1.0, 2.0], &drops),
    ] {
        assert!(!array.has_mutable_data());
        assert!(
            array
                .mutable_data()
                .is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 1 }))
        );
    }
}

/// Developer guide, requirement 4: "An array stores the number of elements in the block it owns and updates the count
/// property when a new memory block is assigned to the array."
#[test]
fn the_count_follows_a_newly_assigned_block() {
    let mut array = one_to_four();
    assert_eq!(array.len(), 4);
    array = Array::from(vec![7.0; 9]);
    assert_eq!(array.len(), 9);
    array.reset_to(2).unwrap();
    assert_eq!(array.len(), 2);
    array.reset();
    assert_eq!(array.len(), 0);
}

/// Developer guide, requirement 5: "An array stores a pointer to the ownership structure of the data: the reference
/// count indicating how many array objects refer to the same memory block ..."
#[test]
fn the_reference_count_is_the_number_of_arrays_on_the_block() {
    let array = one_to_four();
    assert_eq!(array.owner_count(), 1);
    let others = [array.clone(), array.slice(1..).unwrap(), array.project(|all| &all[..1])];
    assert_eq!(array.owner_count(), 4);
    drop(others);
    assert_eq!(array.owner_count(), 1);
}

/// Developer guide, requirement 5: "... the deleter object used to free the memory block when reference count is zero."
#[test]
fn the_deleter_frees_the_block_when_the_reference_count_is_zero() {
    let drops = DropCount::new();
    let array = from_raw(vec![1, 2, 3], &drops);
    let clone = array.clone();
    drop(array);
    assert_eq!((drops.get(), clone.owner_count()), (0, 1));
    drop(clone);
    assert_eq!(drops.get(), 1);
}

/// Developer guide, requirement 6: "An array creates the ownership structure for a new memory block not associated with
/// such structure."
#[test]
fn every_new_block_gets_an_ownership_structure_of_its_own() {
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

/// Developer guide, requirement 7: "An array decrements the number of references to the memory block when the array
/// goes out of the scope. If the number of references is zero, the array calls the deleter on this memory block and
/// free the ownership structure."
#[test]
fn an_array_that_goes_out_of_scope_drops_its_reference() {
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

/// Developer guide, requirement 8: "An array stores the pointer to the ownership structure created by another array
/// when they share the data. An array increments the reference count for it to be equal to the number of array objects
/// sharing the same data."
#[test]
fn arrays_that_share_data_share_one_ownership_structure() {
    let array = one_to_four();
    let mut sharing = vec![array];
    for expected in 2..=10 {
        sharing.push(sharing[expected / 3].clone());
        assert!(sharing.iter().all(|array| array.owner_count() == expected));
        assert!(sharing.iter().all(|array| array.shares_memory_with(&sharing[0])));
    }
}

// --- The specification ---------------------------------------------------------------------------------------------

/// Specification, requirement 1: "An array retains: a pointer to the immutable data block of size count; a pointer to
/// the mutable data block of size count."
#[test]
fn data_and_mutable_data_are_of_size_count() {
    let mut array = one_to_four();
    assert_eq!((array.len(), array.as_slice().len()), (4, 4));
    assert_eq!(array.mutable_data().unwrap().len(), 4);
}

/// Specification, requirement 2: "If an array represents mutable data, both pointers must point to the same mutable
/// data block."
#[test]
fn what_is_written_through_one_pointer_is_read_through_the_other() {
    let mut array = Array::<i64>::zeros(3).unwrap();
    let data = array.as_ptr();
    let mutable = array.mutable_data().unwrap();
    assert_eq!(mutable.as_ptr(), data);
    mutable.copy_from_slice(&[5, 6, 7]);
    assert_eq!(array.as_slice(), [5, 6, 7]);
}

/// Specification, requirement 3: "If an array represents immutable data, mutable data must be nullptr."
#[test]
fn immutable_data_stays_immutable_however_often_it_is_shared() {
    let array = Array::from(&CONSTANTS[..]);
    let mut others = [array.clone(), array.slice(..).unwrap(), array.project(|all| all)];
    drop(array);
    for other in &mut others {
        assert!(!other.has_mutable_data());
        assert!(
            other
                .mutable_data()
                .is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 1 }))
        );
    }
}

/// Specification, requirement 4: "Several array objects can own the same data block."
#[test]
fn several_arrays_own_one_block() {
    let array = one_to_four();
    let clone = array.clone();
    assert_eq!(clone.as_ptr(), array.as_ptr());
    drop(array);
    assert_eq!(clone.as_slice(), [1.0, 2.0, 3.0, 4.0]);
}

/// Specification, requirement 4: "An array releases the ownership when: the array is destroyed; ..."
#[test]
fn a_destroyed_array_releases_ownership() {
    let drops = DropCount::new();
    drop(from_raw(vec![1], &drops));
    assert_eq!(drops.get(), 1);
}

/// Specification, requirement 4: "... the array is assigned another memory block via operator= or reset()."
#[test]
fn an_array_that_is_given_another_block_releases_ownership() {
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

/// Specification, requirement 4: "If the array that releases the ownership is the last object owning the data block,
/// the release leads to its deallocation."
#[test]
fn only_the_last_owner_deallocates() {
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

/// Specification, requirement 4: "The data block is deallocated with the deleter object that was provided to the array
/// at construction. ..."
#[test]
fn the_deleter_given_at_construction_is_the_one_that_runs() {
    let (first, second) = (DropCount::new(), DropCount::new());
    let arrays = [from_raw(vec![1], &first), from_raw_mut(vec![1], &second)];
    assert_eq!((first.get(), second.get()), (0, 0));
    let [array, _kept] = arrays;
    drop(array);
    assert_eq!((first.get(), second.get()), (1, 0));
}

/// Specification, requirement 4: "... If no deleter object is provided, the array calls the default deallocating
/// function that corresponds to the internal memory allocation mechanism."
#[test]
fn memory_of_the_library_needs_no_deleter() {
    let array = Array::full(1000, 3_u16).unwrap();
    let tail = array.slice(999..).unwrap();
    drop(array);
    assert_eq!(tail.as_slice(), [3]);
}

/// Specification, requirement 5: "If a managed pointer to the data block is replaced by another pointer via reset(),
/// the array that managed the pointer releases the ownership of it and starts managing the lifetime of the data block
/// represented by the other pointer."
#[test]
fn a_replaced_pointer_is_released_and_the_new_one_managed() {
    let (old, new) = (DropCount::new(), DropCount::new());
    let mut array = from_raw(vec![1, 2], &old);
    assert_eq!(array.as_slice(), [1, 2]);
    array = from_raw(vec![3, 4, 5], &new);
    assert_eq!((old.get(), new.get(), array.as_slice()), (1, 0, &[3, 4, 5][..]));
    drop(array);
    assert_eq!((old.get(), new.get()), (1, 1));
}

/// Specification, requirement 6: "If an array changes its state from immutable to mutable via need_mutable_data(), it
/// releases the ownership of immutable data block and starts managing the lifetime of the mutable data block."
#[test]
fn need_mutable_data_releases_the_immutable_block() {
    let drops = DropCount::new();
    let mut array = from_raw(vec![1, 2, 3], &drops);
    assert_eq!(array.need_mutable_data().unwrap(), [1, 2, 3]);
    assert_eq!(drops.get(), 1);
    assert!(array.has_mutable_data());
    drop(array);
    assert_eq!(drops.get(), 1);
}

/// Specification, requirement 7: "An array object may not own any data. Such an array is called zero-sized: pointers to
/// the immutable and mutable data of the zero-sized array must be nullptr; the data block size count is 0."
#[test]
fn a_zero_sized_array_owns_no_data() {
    for mut array in [Array::<f64>::new(), Array::default()] {
        assert_eq!((array.len(), array.size_in_bytes(), array.as_slice()), (0, 0, &[][..]));
        assert_eq!(array.owner_count(), 0);
        assert!(!array.has_mutable_data());
        assert!(
            array
                .mutable_data()
                .is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 1 }))
        );
        assert!(!array.shares_memory_with(&array));
    }
}

// --- Implementation notes of the specification ---------------------------------------------------------------------

/// Specification, implementation note 1: "The array class contains: a pointer to the immutable data block; a pointer to
/// the mutable data block; a pointer to the ownership structure that implements the shared ownership semantics; the
/// data block size count."
#[test]
fn an_array_is_a_pointer_a_count_and_a_share() {
    let array = one_to_four();
    let window = array.slice(1..3).unwrap();
    assert_eq!(window.as_ptr(), array[1..].as_ptr());
    assert_eq!(window.len(), 2);
    assert!(window.shares_memory_with(&array));
}

/// Specification, implementation note 2: "The ownership structure is an object that stores: a pointer to either
/// immutable or mutable data block; the deleter object; the reference count (the number of array objects that own the
/// associated data block)."
#[test]
fn the_deleter_is_stored_with_the_block_not_with_an_array() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_by_deleter = Arc::clone(&seen);
    let data = CONSTANTS.as_ptr();
    let deleter = move |data: *const f32, count| seen_by_deleter.lock().unwrap().push((data.addr(), count));
    // SAFETY: nobody writes the static.
    let array = unsafe { Array::from_raw_parts(data, 4, deleter) };
    let part = array.slice(2..3).unwrap();
    drop(array);
    drop(part); // the last owner shows a part; the deleter gets the block
    assert_eq!(*seen.lock().unwrap(), [(data.addr(), 4)]);
}

/// Specification, implementation note 3: "If an array starts managing the lifetime of the data block represented by the
/// pointer p and deleter d, it creates the ownership structure object and initialize it with p and d. The reference
/// count of the ownership structure is assigned one."
#[test]
fn a_new_ownership_structure_has_one_reference() {
    let drops = DropCount::new();
    assert_eq!(from_raw(vec![1], &drops).owner_count(), 1);
    assert_eq!(from_raw_mut(vec![1], &drops).owner_count(), 1);
}

/// Specification, implementation note 4: "If an array object releases the ownership, the reference count of the
/// ownership structure is decremented: if that count reaches zero, the ownership structure deallocates the memory block
/// and the array destroys the ownership structure; if that count is greater than zero, the ownership structure is not
/// destroyed."
#[test]
fn the_ownership_structure_lives_as_long_as_one_reference() {
    let drops = DropCount::new();
    let array = Array::from_owner(CountingOwner::new([1_u8, 2, 3], &drops));
    let clone = array.clone();
    drop(array);
    assert_eq!((clone.owner_count(), drops.get(), clone.as_slice()), (1, 0, &[1, 2, 3][..]));
    drop(clone);
    assert_eq!(drops.get(), 1);
}

/// Specification, implementation note 5: "If a copy of the array object is created, the reference count of the
/// ownership structure is incremented and a pointer to the same ownership structure is assigned to the created copy.
/// The other member variables of an array class are copied as is."
#[test]
fn a_copy_has_the_same_pointer_and_count() {
    let array = one_to_four().slice(1..).unwrap();
    let copy = array.clone();
    assert_eq!((copy.as_ptr(), copy.len()), (array.as_ptr(), 3));
    assert_eq!((copy.owner_count(), array.owner_count()), (2, 2));
    assert!(copy.shares_memory_with(&array));
}
