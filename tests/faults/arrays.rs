//! Faults 54 to 57 and 61: oneDAL's arrays.

use std::sync::Arc;

use numeric_table::prelude::*;
use test_support::tables::*;

/// Fault 54: slicing or reinterpreting an empty array throws `bad_variant_access`.
#[test]
fn an_empty_array_can_be_sliced_and_reinterpreted() {
    let read: Array<f32> = serde_json::from_str(&serde_json::to_string(&Array::<f32>::new()).unwrap()).unwrap();
    for array in [Array::<f32>::new(), Array::zeros(0).unwrap(), Array::from(Vec::new()), read] {
        assert_eq!(array.slice(0..0).unwrap().len(), 0);
        assert_eq!(array.reinterpret::<u64>().unwrap().len(), 0);
        assert_error!(array.slice(0..1), ErrorKind::OutOfRange { what: "elements", count: 0, .. });
    }
}

/// Fault 55: a moved-from array dereferences null; move-assignment keeps the old memory alive.
#[test]
fn a_taken_array_is_an_ordinary_empty_one() {
    let owner: Arc<[f32]> = Arc::from([1.0, 2.0]);
    let mut array = Array::from(Arc::clone(&owner));
    let taken = std::mem::take(&mut array);
    assert_eq!((array.clone().len(), taken.len()), (0, 2));
    array.reset();
    array = taken;
    assert_eq!(&array[..], [1.0, 2.0]);
    array = Array::new();
    assert_eq!((array.len(), Arc::strong_count(&owner)), (0, 1));
}

/// Fault 56: copies alias the same mutable memory, and slices are not checked in release builds.
#[test]
fn two_arrays_never_write_one_block() {
    let mut array = Array::from(vec![1.0_f32, 2.0]);
    let mut copy = array.clone();
    assert_error!(array.mutable_data(), ErrorKind::ImmutableData { owner_count: 2, .. });
    assert_error!(copy.mutable_data(), ErrorKind::ImmutableData { owner_count: 2, .. });
    copy.need_mutable_data().unwrap()[0] = 9.0;
    assert_eq!((array[0], copy[0]), (1.0, 9.0));
    assert_error!(array.slice(1..3), ErrorKind::OutOfRange { what: "elements", count: 2, .. });
}

/// Fault 57: `need_mutable_data` of an empty array does not make it mutable.
#[test]
fn an_empty_array_becomes_mutable_like_any_other() {
    let mut array = Array::<f32>::new();
    assert!(array.need_mutable_data().unwrap().is_empty());
    assert!(array.has_mutable_data() && array.mutable_data().unwrap().is_empty());
}

/// Fault 61: an "immutable" table shares its memory with arrays that stay mutable.
#[test]
fn an_array_outside_cannot_write_the_table() {
    let mut outside = Array::from(vec![1.0_f32, 2.0]);
    let table = HomogenNumericTable::from_array(outside.clone(), shape(1, 2)).unwrap();
    assert_error!(outside.mutable_data(), ErrorKind::ImmutableData { .. });
    outside.need_mutable_data().unwrap()[0] = 9.0;
    assert_eq!(values_of(&table), [1.0, 2.0]);
}
