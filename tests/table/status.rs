//! Memory statuses: a table has none, memory of the library, or memory of the user.

use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{CountingOwner, DropCount};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::{ColumnMajor, RowMajor};
use MemoryStatus::{InternallyAllocated, NotAllocated, UserAllocated};

#[test]
fn new_with_do_allocate_is_internally_allocated() {
    let table = HomogenNumericTable::<f32>::new(shape(2, 2), DoAllocate).unwrap();
    assert_eq!(table.data_memory_status(), InternallyAllocated);
}

#[test]
fn full_is_internally_allocated() {
    assert_eq!(HomogenNumericTable::full(shape(2, 2), 1).unwrap().data_memory_status(), InternallyAllocated);
}

#[test]
fn a_resize_that_allocates_makes_it_internally_allocated() {
    let mut unallocated = HomogenNumericTable::<f32>::new(shape(2, 2), DoNotAllocate).unwrap();
    unallocated.resize(2).unwrap();
    assert_eq!(unallocated.data_memory_status(), InternallyAllocated);
    let mut user = numbered::<f32>(2, 2, RowMajor);
    user.resize(3).unwrap();
    assert_eq!(user.data_memory_status(), InternallyAllocated);
}

#[test]
fn allocate_data_memory_makes_it_internally_allocated_and_zero() {
    for layout in LAYOUTS {
        let mut table = numbered::<f32>(2, 2, layout);
        table.allocate_data_memory().unwrap();
        assert_eq!((table.data_memory_status(), values_of(&table)), (InternallyAllocated, vec![0.0; 4]));
    }
}

#[test]
fn a_loaded_table_is_internally_allocated() {
    let bytes = numbered::<f32>(2, 2, RowMajor).to_bytes().unwrap();
    let table = HomogenNumericTable::<f32>::from_bytes(&bytes).unwrap();
    assert_eq!(table.data_memory_status(), InternallyAllocated);
}

#[test]
fn copy_on_write_of_user_memory_makes_it_internally_allocated() {
    static VALUES: [f32; 2] = [1.0, 2.0];
    let mut table = HomogenNumericTable::from_array(&VALUES[..], shape(1, 2)).unwrap();
    assert_eq!(table.data_memory_status(), UserAllocated);
    table.as_mut_slice().unwrap()[0] = 9.0;
    assert_eq!(table.data_memory_status(), InternallyAllocated);
}

#[test]
fn new_default_and_from_dictionary_without_memory_are_not_allocated() {
    let tables = [
        HomogenNumericTable::<f32>::new(shape(2, 2), DoNotAllocate).unwrap(),
        HomogenNumericTable::default(),
        HomogenNumericTable::from_dictionary(DataDictionary::uniform(feature::<f32>(), 3)).unwrap(),
    ];
    for table in tables {
        assert_eq!(table.data_memory_status(), NotAllocated);
        assert_error!(table.array(), ErrorKind::NotAllocated);
    }
}

#[test]
fn free_data_memory_keeps_the_shape_and_lets_go_of_the_memory() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1.0_f32; 4], &drops);
    let mut table = HomogenNumericTable::from_array(Array::from_owner(owner), shape(2, 2)).unwrap();
    table.free_data_memory().unwrap();
    assert_eq!((table.shape(), table.data_memory_status(), drops.get()), (shape(2, 2), NotAllocated, 1));
    assert_error!(table.rows::<f32>(0..2), ErrorKind::NotAllocated);
}

#[test]
fn from_array_and_set_array_are_user_allocated() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    assert_eq!(table.data_memory_status(), UserAllocated);
    table.allocate_data_memory().unwrap();
    table.set_array(vec![1.0; 4], 2).unwrap();
    assert_eq!(table.data_memory_status(), UserAllocated);
}

#[test]
fn from_rows_copies_and_is_internally_allocated() {
    assert_eq!(HomogenNumericTable::from_rows(&[[1, 2]]).unwrap().data_memory_status(), InternallyAllocated);
}

#[test]
fn the_memory_of_the_user_is_freed_once_when_the_table_goes() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1_u8; 6], &drops);
    let table = HomogenNumericTable::from_array(Array::from_owner_mut(owner), shape(3, 2)).unwrap();
    let clone = table.clone();
    let slice = table.slice_rows(1..2).unwrap();
    drop(table);
    drop(clone);
    assert_eq!(drops.get(), 0);
    drop(slice);
    assert_eq!(drops.get(), 1);
}

#[test]
fn statuses_and_layouts_display_as_words() {
    assert_eq!(NotAllocated.to_string(), "not allocated");
    assert_eq!(UserAllocated.to_string(), "user allocated");
    assert_eq!(InternallyAllocated.to_string(), "internally allocated");
    assert_eq!((RowMajor.to_string(), ColumnMajor.to_string()), ("row major".to_owned(), "column major".to_owned()));
}

#[test]
fn debug_output_shows_the_shape_and_never_the_values() {
    let text = format!("{:?}", HomogenNumericTable::from_rows(&[[123_456_u32], [654_321]]).unwrap());
    assert!(text.contains("2 x 1") && text.contains("u32") && !text.contains("123456"), "{text}");
}
