//! The life cycle of a homogeneous table: every way to make one, memory statuses, `resize`, `set_array`, access to the
//! memory, new tables from a table, and a matrix of shapes in which every call gives a value or a typed error.
//!
//! Semantics: seed "Generic Interfaces" (initialise, operate, deinitialise), DESIGN 4.3 and 5.1. Tests that the peer has
//! name their origin in oneDAL's source tree.

mod common;

use std::cmp::Ordering;
use std::sync::Arc;

use common::tables::*;
use common::{CountingOwner, DropCount, SmallNumber, for_each_element};
use numeric_table::prelude::*;
use numeric_table::{TableView, TableViewMut, from_bytes_any};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::{ColumnMajor, RowMajor};
use MemoryStatus::{InternallyAllocated, NotAllocated, UserAllocated};

// ---------------------------------------------------------------------------------------------- constructors

/// Seed: "the constructor with default values and sizes"; DAAL `create()`, which leaves the layout unknown.
#[test]
fn a_default_table_is_empty_row_major_and_not_allocated() {
    let table: HomogenNumericTable = HomogenNumericTable::default(); // the default element type is f32
    assert_eq!((table.shape(), table.data_memory_status()), (shape(0, 0), NotAllocated));
    assert_eq!((table.data_layout(), table.element_type()), (RowMajor, ElementType::F32));
    assert!(table.dictionary().is_empty());
    assert!(table.as_slice().unwrap().is_empty());
}

#[test]
fn the_error_about_missing_memory_names_what_supplies_it() {
    let table = HomogenNumericTable::<f32>::new(shape(2, 3), DoNotAllocate).unwrap();
    let expected = "the table has rows but no memory is allocated for them: `allocate_data_memory` allocates it, `set_array` supplies it";
    assert_eq!(table.as_slice().unwrap_err().to_string(), expected);
}

/// Seed: `table(nColumns, nRows, doNotAllocate); table.setArray(data, nRows)`.
#[test]
fn sizes_first_and_memory_later() {
    let mut table = HomogenNumericTable::<f32>::new(shape(2, 3), DoNotAllocate).unwrap();
    assert_eq!((table.shape(), table.data_memory_status()), (shape(2, 3), NotAllocated));
    assert_error!(table.as_slice(), Error::NotAllocated);
    table.set_array(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2).unwrap();
    assert_eq!(values_of(&table), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

/// Seed: "construct an empty table and change the size and allocate the memory later".
#[test]
fn a_table_of_columns_only_gets_its_rows_by_resize() {
    let mut table = HomogenNumericTable::<i16>::new(shape(0, 3), DoNotAllocate).unwrap();
    table.resize(2).unwrap();
    assert_eq!(values_of(&table), [0; 6]);
}

fn allocated_memory_is_zero<T: SmallNumber>() {
    for layout in LAYOUTS {
        let table = HomogenNumericTable::<T>::new_in(shape(3, 2), DoAllocate, layout).unwrap();
        assert_eq!((table.data_layout(), table.element_type()), (layout, T::TYPE));
        assert_eq!(values_of(&table), [T::small(0); 6]);
    }
}

/// Seed: `table(nColumns, nRows, doAllocate, 0.0)`; DAAL leaves memory uninitialised without a constant.
#[test]
fn memory_that_a_constructor_allocates_is_zero_in_every_type() {
    for_each_element!(allocated_memory_is_zero);
}

fn full_is_one_value<T: SmallNumber>() {
    for layout in LAYOUTS {
        let table = HomogenNumericTable::full_in(shape(2, 3), T::small(7), layout).unwrap();
        assert_eq!((table.data_layout(), values_of(&table)), (layout, vec![T::small(7); 6]));
    }
    assert_eq!(HomogenNumericTable::full(shape(1, 2), T::small(9)).unwrap().as_slice().unwrap(), [T::small(9); 2]);
}

/// DAAL `create(columns, rows, doAllocate, constValue)`.
#[test]
fn full_gives_one_value_everywhere_in_every_type() {
    for_each_element!(full_is_one_value);
}

/// Seed: `table(data, nColumns, nRows)`; DAAL `create(SharedPtr<T>, ...)`.
#[test]
fn a_vec_becomes_a_table_without_a_copy() {
    let values = vec![1, 2, 3, 4, 5, 6];
    let place = address(&values);
    let table = HomogenNumericTable::from_array(values, shape(3, 2)).unwrap();
    assert_eq!(address(table.as_slice().unwrap()), place);
    assert_eq!((table.row_count(), table.column_count()), (3, 2));
}

#[test]
fn a_box_becomes_a_table_without_a_copy() {
    let values: Box<[u8]> = vec![1, 2].into_boxed_slice();
    let place = address(&values);
    let table = HomogenNumericTable::from_array(values, shape(2, 1)).unwrap();
    assert_eq!(address(table.as_slice().unwrap()), place);
}

#[test]
fn an_arc_becomes_a_table_without_a_copy() {
    let values: Arc<[u8]> = Arc::from([1, 2]);
    let table = HomogenNumericTable::from_array(Arc::clone(&values), shape(2, 1)).unwrap();
    assert_eq!(address(table.as_slice().unwrap()), address(&values));
}

#[test]
fn static_memory_becomes_a_table_without_a_copy() {
    static VALUES: [f64; 4] = [1.0, 2.0, 3.0, 4.0];
    let table = HomogenNumericTable::from_array(&VALUES[..], shape(2, 2)).unwrap();
    assert_eq!(address(table.as_slice().unwrap()), address(&VALUES));
}

#[test]
fn a_shared_array_becomes_a_table_without_a_copy() {
    let array = Array::full(6, 1.5_f32).unwrap();
    let table = HomogenNumericTable::from_array(array.clone(), shape(2, 3)).unwrap();
    assert!(table.array().unwrap().shares_memory_with(&array));
}

#[test]
fn a_column_major_array_is_read_column_by_column() {
    let table = HomogenNumericTable::from_array_in(vec![1, 2, 3, 4, 5, 6], shape(2, 3), ColumnMajor).unwrap();
    assert_eq!(values_of(&table), [1, 3, 5, 2, 4, 6]);
}

/// oneDAL gives `domain_error` here, DAAL trusts the sizes.
#[test]
fn an_array_is_as_long_as_the_shape_needs() {
    for layout in LAYOUTS {
        let from = |count: u8| HomogenNumericTable::from_array_in((0..count).collect::<Vec<_>>(), shape(3, 2), layout);
        assert_error!(from(5), Error::ArrayTooShort { have: 5, need: 6 });
        assert_eq!(from(6).unwrap().as_slice().unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_error!(from(7), Error::ArrayTooLong { have: 7, need: 6 });
        assert_error!(from(9), Error::ArrayTooLong { have: 9, need: 6 });
    }
    assert_error!(HomogenNumericTable::from_array(vec![1; 9], shape(3, 2)), Error::ArrayTooLong { have: 9, need: 6 });
}

#[test]
fn no_array_but_an_empty_one_holds_rows_of_no_columns() {
    for (rows, columns) in [(2, 0), (0, 3), (0, 0), (usize::MAX, 0)] {
        for layout in LAYOUTS {
            let from = |values: Vec<i32>| HomogenNumericTable::from_array_in(values, shape(rows, columns), layout);
            assert_eq!(from(Vec::new()).unwrap().shape(), shape(rows, columns));
            assert_error!(from(vec![1]), Error::ArrayTooLong { have: 1, need: 0 });
        }
    }
}

#[test]
fn a_view_of_a_slice_is_as_long_as_the_shape_needs() {
    let mut values = [1, 2, 3, 4, 5];
    for layout in LAYOUTS {
        assert_error!(TableView::new(&values, shape(2, 2), layout), Error::ArrayTooLong { have: 5, need: 4 });
        assert_error!(TableViewMut::new(&mut values, shape(2, 2), layout), Error::ArrayTooLong { have: 5, need: 4 });
        assert_error!(TableView::new(&values, shape(3, 2), layout), Error::ArrayTooShort { have: 5, need: 6 });
        assert_eq!(TableView::new(&values[..4], shape(2, 2), layout).unwrap().value(1, 1), Some(4));
    }
}

/// Where DAAL accepts a null pointer, or an empty one, for any claimed shape.
#[test]
fn an_empty_array_holds_no_rows() {
    assert_error!(
        HomogenNumericTable::from_array(Vec::<f32>::new(), shape(1, 1)),
        Error::ArrayTooShort { have: 0, need: 1 }
    );
    assert!(HomogenNumericTable::from_array(Vec::<f32>::new(), shape(0, 5)).is_ok());
}

#[test]
fn a_table_from_rows_has_their_shape_and_values() {
    let table = HomogenNumericTable::from_rows(&[[1_u16, 2, 3], [4, 5, 6]]).unwrap();
    assert_eq!((table.shape(), table.as_slice().unwrap()), (shape(2, 3), &[1, 2, 3, 4, 5, 6][..]));
}

#[test]
fn rows_without_columns_are_an_ordinary_table() {
    let table = HomogenNumericTable::<f32>::from_rows(&[[], [], []]).unwrap();
    assert_eq!((table.shape(), table.as_slice().unwrap()), (shape(3, 0), &[][..]));
}

/// DAAL `create(dictionaryPtr)`: columns from the dictionary, 0 rows, not allocated.
#[test]
fn a_dictionary_gives_the_columns_and_no_rows() {
    let dictionary = DataDictionary::from_features(["length", "width"].map(|name| feature::<f64>().named(name)));
    let mut table = HomogenNumericTable::<f64>::with_dictionary(dictionary.clone()).unwrap();
    assert_eq!((table.shape(), table.data_memory_status()), (shape(0, 2), NotAllocated));
    assert_eq!((table.data_layout(), table.dictionary()), (RowMajor, &dictionary));
    table.resize(3).unwrap();
    assert_eq!((values_of(&table), table.dictionary()), (vec![0.0; 6], &dictionary));
}

/// DAAL does not check the dictionary's types.
#[test]
fn a_dictionary_of_another_type_makes_no_table() {
    let dictionary = DataDictionary::from_features([feature::<f64>(), feature::<i32>()]);
    assert_error!(
        HomogenNumericTable::<f64>::with_dictionary(dictionary),
        Error::DictionaryMismatch { found: Some((1, ElementType::I32)), .. }
    );
}

/// DAAL allocates nothing and says that it succeeded.
#[test]
fn no_rows_or_no_columns_are_allocated_like_any_others() {
    for empty in [shape(0, 0), shape(0, 4), shape(4, 0)] {
        let table = HomogenNumericTable::<f32>::new(empty, DoAllocate).unwrap();
        assert_eq!((table.shape(), table.data_memory_status()), (empty, InternallyAllocated));
        assert!(table.as_slice().unwrap().is_empty());
        assert!(table.array().is_ok());
    }
}

/// DAAL throws where everything else returns a status.
#[test]
fn a_size_that_cannot_be_addressed_is_an_error_in_every_constructor() {
    let huge = shape(usize::MAX, 2);
    for flag in [DoAllocate, DoNotAllocate] {
        assert_error!(HomogenNumericTable::<u8>::new(huge, flag), Error::SizeOverflow { shape, .. } if shape == huge);
    }
    assert_error!(HomogenNumericTable::full(huge, 1_u8), Error::SizeOverflow { .. });
    assert_error!(HomogenNumericTable::from_array(vec![1_u8], huge), Error::SizeOverflow { .. });
}

#[test]
fn memory_that_the_system_refuses_is_an_error() {
    let columns = isize::MAX as usize / 8;
    assert_error!(HomogenNumericTable::<f64>::new(shape(1, columns), DoAllocate), Error::OutOfMemory { .. });
    assert_error!(HomogenNumericTable::full(shape(columns, 1), 1.0_f64), Error::OutOfMemory { .. });
    assert!(HomogenNumericTable::<f64>::new(shape(1, columns), DoNotAllocate).is_ok());
}

// ---------------------------------------------------------------------------- memory statuses, DESIGN 5.1 row by row

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
fn new_default_and_with_dictionary_without_memory_are_not_allocated() {
    let tables = [
        HomogenNumericTable::<f32>::new(shape(2, 2), DoNotAllocate).unwrap(),
        HomogenNumericTable::default(),
        HomogenNumericTable::with_dictionary(DataDictionary::uniform(feature::<f32>(), 3)).unwrap(),
    ];
    for table in tables {
        assert_eq!(table.data_memory_status(), NotAllocated);
        assert_error!(table.array(), Error::NotAllocated);
    }
}

#[test]
fn free_data_memory_keeps_the_shape_and_lets_go_of_the_memory() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1.0_f32; 4], &drops);
    let mut table = HomogenNumericTable::from_array(Array::from_owner(owner), shape(2, 2)).unwrap();
    table.free_data_memory().unwrap();
    assert_eq!((table.shape(), table.data_memory_status(), drops.get()), (shape(2, 2), NotAllocated, 1));
    assert_error!(table.rows::<f32>(0..2), Error::NotAllocated);
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
fn debug_output_tells_the_shape_and_never_the_values() {
    let text = format!("{:?}", HomogenNumericTable::from_rows(&[[123_456_u32], [654_321]]).unwrap());
    assert!(text.contains("2 x 1") && text.contains("u32") && !text.contains("123456"), "{text}");
}

// ----------------------------------------------------------------------------------------- resize, the four rules

#[test]
fn resize_of_an_unallocated_table_allocates_zeros() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::<i32>::new_in(shape(7, 2), DoNotAllocate, layout).unwrap();
        table.resize(3).unwrap();
        assert_eq!((table.data_memory_status(), table.data_layout()), (InternallyAllocated, layout));
        assert_eq!(values_of(&table), [0; 6]);
    }
}

/// DAAL: error -4 on an unallocated table, success on an allocated one.
#[test]
fn resize_to_no_rows_works_on_every_table() {
    let mut unallocated = HomogenNumericTable::<i32>::new(shape(7, 2), DoNotAllocate).unwrap();
    unallocated.resize(0).unwrap();
    let mut allocated = numbered::<i32>(3, 2, RowMajor);
    allocated.resize(0).unwrap();
    assert_eq!((unallocated.row_count(), allocated.row_count()), (0, 0));
    assert!(allocated.as_slice().unwrap().is_empty());
}

/// DAAL loses the values.
#[test]
fn a_larger_library_buffer_keeps_the_values_and_shows_zeros_behind_them() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::full_in(shape(2, 3), 5_i16, layout).unwrap();
        table.resize(4).unwrap();
        assert_eq!(table.data_memory_status(), InternallyAllocated);
        assert_eq!(values_of(&table), [5, 5, 5, 5, 5, 5, 0, 0, 0, 0, 0, 0]);
    }
}

fn resize_keeps_every_value<T: SmallNumber>() {
    for layout in LAYOUTS {
        let mut table = numbered::<T>(3, 2, layout);
        table.resize(5).unwrap();
        let mut expected = numbers::<T>(2, 0..3);
        expected.extend([T::small(0); 4]);
        assert_eq!(values_of(&table), expected);
    }
}

#[test]
fn resize_keeps_every_value_in_every_type_and_layout() {
    for_each_element!(resize_keeps_every_value);
}

/// DAAL: the table then claims rows that the user's memory does not hold.
#[test]
fn user_memory_that_is_too_small_is_left_alone_and_let_go_of() {
    for layout in LAYOUTS {
        let user: Arc<[i32]> = Arc::from([1, 2, 3, 4]);
        let mut table = HomogenNumericTable::from_array_in(Arc::clone(&user), shape(2, 2), layout).unwrap();
        assert_eq!(Arc::strong_count(&user), 2);
        table.resize(3).unwrap();
        assert_eq!((table.data_memory_status(), Arc::strong_count(&user)), (InternallyAllocated, 1));
        table.fill(9).unwrap();
        assert_eq!(*user, [1, 2, 3, 4]);
    }
}

#[test]
fn static_memory_that_is_too_small_keeps_its_values() {
    static USER: [u8; 2] = [1, 2];
    let mut table = HomogenNumericTable::from_array(&USER[..], shape(2, 1)).unwrap();
    table.resize(3).unwrap();
    assert_eq!((values_of(&table), USER), (vec![1, 2, 0], [1, 2]));
}

#[test]
fn a_vec_that_is_too_small_is_freed() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1_u8, 2], &drops);
    let mut table = HomogenNumericTable::from_array(Array::from_owner_mut(owner), shape(2, 1)).unwrap();
    table.resize(3).unwrap();
    assert_eq!((values_of(&table), drops.get()), (vec![1, 2, 0], 1));
}

#[test]
fn user_memory_with_room_serves_further_rows() {
    let values = vec![1, 2, 3, 4, 5, 6];
    let place = address(&values);
    let mut table = HomogenNumericTable::from_array_with_spare_rows(values, shape(1, 2)).unwrap();
    assert_eq!(table.as_slice().unwrap(), [1, 2]);
    table.resize(3).unwrap();
    assert_eq!((table.data_memory_status(), address(table.as_slice().unwrap())), (UserAllocated, place));
    assert_eq!(table.as_slice().unwrap(), [1, 2, 3, 4, 5, 6]);
    table.resize(4).unwrap(); // no room for this one
    assert_eq!(
        (table.data_memory_status(), table.as_slice().unwrap()[6..].to_vec()),
        (InternallyAllocated, vec![0, 0])
    );
}

#[test]
fn fewer_rows_change_nothing_but_the_count() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(4, 2, layout);
        let place = address(table.array().unwrap());
        table.resize(2).unwrap();
        assert_eq!((table.data_memory_status(), address(table.array().unwrap())), (UserAllocated, place));
        assert_eq!(values_of(&table), [1, 2, 3, 4]);
    }
}

/// DAAL compares row counts: 10 -> 2 -> 5 reallocates there, although there is room.
#[test]
fn capacity_decides_and_not_the_old_row_count() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::full_in(shape(10, 2), 3_u8, layout).unwrap();
        let place = address(table.array().unwrap());
        table.resize(2).unwrap();
        table.resize(5).unwrap();
        assert_eq!(address(table.array().unwrap()), place);
        table.resize(10).unwrap();
        let expected = [vec![3; 4], vec![0; 16]].concat();
        assert_eq!((address(table.array().unwrap()), values_of(&table)), (place, expected));
        table.fill(3_u8).unwrap();
        table.resize(11).unwrap();
        assert_eq!(values_of(&table)[18..], [3, 3, 0, 0]);
    }
}

#[test]
fn a_slice_that_grows_shows_zeros_and_never_the_rows_of_its_table() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(4, 2, layout);
        let mut slice = table.slice_rows(1..2).unwrap();
        slice.resize(3).unwrap();
        assert_eq!(values_of(&slice), [3, 4, 0, 0, 0, 0]);
        assert_eq!(values_of(&table), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn a_slice_that_shrinks_and_grows_leaves_its_table_as_it_was() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(4, 2, layout);
        let mut slice = table.slice_rows(1..3).unwrap();
        slice.resize(1).unwrap();
        assert!(slice.array().unwrap().shares_memory_with(table.array().unwrap()));
        slice.resize(2).unwrap();
        assert_eq!(values_of(&slice), [3, 4, 0, 0]);
        assert_eq!(values_of(&table), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn a_clone_that_is_resized_leaves_the_other_as_it_was() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(3, 2, layout);
        let (mut smaller, mut larger) = (table.clone(), table.clone());
        smaller.resize(1).unwrap();
        larger.resize(4).unwrap();
        assert_eq!(values_of(&smaller), [1, 2]);
        assert_eq!(values_of(&larger), [1, 2, 3, 4, 5, 6, 0, 0]);
        assert_eq!(values_of(&table), [1, 2, 3, 4, 5, 6]);
    }
}

#[test]
fn a_shrunk_column_major_table_is_written_in_its_own_rows_only() {
    let mut table = numbered::<u8>(3, 2, ColumnMajor);
    table.resize(2).unwrap();
    assert_error!(table.as_slice(), Error::NotContiguous);
    assert_error!(table.as_mut_slice(), Error::NotContiguous);
    table.rows_mut::<u8>(0..2).unwrap().fill(9);
    assert_eq!(table.array().unwrap()[..], [9, 9, 5, 9, 9, 6]); // the room in between is left alone
    table.resize(3).unwrap();
    assert_eq!(values_of(&table), [9, 9, 9, 9, 0, 0]);
}

#[test]
fn rows_of_no_columns_need_no_memory() {
    let mut table = HomogenNumericTable::<f64>::new(shape(1, 0), DoAllocate).unwrap();
    table.resize(usize::MAX).unwrap();
    assert_eq!((table.row_count(), table.as_slice().unwrap().len()), (usize::MAX, 0));
}

#[test]
fn a_resize_that_fails_leaves_the_table_as_it_was() {
    for layout in LAYOUTS {
        for mut table in
            [numbered::<f64>(3, 2, layout), HomogenNumericTable::full_in(shape(3, 2), 1.5, layout).unwrap()]
        {
            let before = state_of(&table);
            assert_error!(table.resize(usize::MAX), Error::SizeOverflow { .. });
            assert_error!(table.resize(isize::MAX as usize / 16), Error::OutOfMemory { .. });
            assert_eq!(state_of(&table), before);
        }
    }
}

#[test]
fn a_resize_that_fails_leaves_an_unallocated_table_as_it_was() {
    let mut table = HomogenNumericTable::<f64>::new(shape(3, 2), DoNotAllocate).unwrap();
    assert_error!(table.resize(usize::MAX), Error::SizeOverflow { .. });
    assert_error!(table.resize(isize::MAX as usize / 16), Error::OutOfMemory { .. });
    assert_eq!((table.shape(), table.data_memory_status()), (shape(3, 2), NotAllocated));
}

#[test]
fn a_large_table_keeps_its_values_through_growth() {
    let rows = 600_000; // 2.4 MB grow to 7.2 MB: from a small block to a large one
    let mut table = HomogenNumericTable::from_array((0..rows as u32).collect::<Vec<_>>(), shape(rows, 1)).unwrap();
    table.resize(3 * rows).unwrap();
    let values = table.as_slice().unwrap();
    assert!(values[..rows].iter().enumerate().all(|(i, &value)| value == i as u32));
    assert!(values[rows..].iter().all(|&value| value == 0));
}

// ---------------------------------------------------------------------------------------------------- set_array

#[test]
fn set_array_replaces_memory_and_row_count_and_keeps_the_columns() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::<i32>::new_in(shape(5, 2), DoAllocate, layout).unwrap();
        let values = vec![1, 2, 3, 4, 5, 6];
        let place = address(&values);
        table.set_array(values, 3).unwrap();
        assert_eq!((table.shape(), table.data_layout()), (shape(3, 2), layout));
        assert_eq!(address(table.as_slice().unwrap()), place);
    }
}

#[test]
fn set_array_refuses_an_array_that_is_too_short() {
    let mut table = numbered::<i32>(2, 2, RowMajor);
    let before = state_of(&table);
    assert_error!(table.set_array(vec![1, 2, 3, 4, 5], 3), Error::ArrayTooShort { have: 5, need: 6 });
    assert_error!(table.set_array(Vec::new(), 1), Error::ArrayTooShort { have: 0, need: 2 });
    assert_error!(table.set_array(vec![1], usize::MAX), Error::SizeOverflow { .. });
    assert_eq!(state_of(&table), before);
}

#[test]
fn set_array_refuses_an_array_that_is_too_long() {
    for layout in LAYOUTS {
        let mut table = numbered::<i32>(2, 2, layout);
        let before = state_of(&table);
        assert_error!(table.set_array(vec![1, 2, 3, 4, 5, 6], 2), Error::ArrayTooLong { have: 6, need: 4 });
        assert_error!(table.set_array(vec![1], 0), Error::ArrayTooLong { have: 1, need: 0 });
        assert_eq!(state_of(&table), before);
    }
}

#[test]
fn a_table_of_no_columns_takes_no_array_with_values() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::<i32>::new_in(shape(5, 0), DoAllocate, layout).unwrap();
        assert_error!(table.set_array(vec![1, 2, 3, 4, 5, 6], 2), Error::ArrayTooLong { have: 6, need: 0 });
        assert_error!(table.set_array_with_spare_rows(vec![1, 2], 2), Error::ArrayTooLong { have: 2, need: 0 });
        assert_eq!(table.shape(), shape(5, 0));
        table.set_array(Vec::new(), 2).unwrap();
        assert_eq!(table.shape(), shape(2, 0));
    }
}

#[test]
fn set_array_takes_immutable_memory() {
    static VALUES: [f32; 2] = [1.0, 2.0];
    let mut table = HomogenNumericTable::<f32>::new(shape(0, 1), DoNotAllocate).unwrap();
    table.set_array(&VALUES[..], 2).unwrap();
    assert_eq!(address(table.as_slice().unwrap()), address(&VALUES));
    table.set_array(Arc::<[f32]>::from([3.0]), 1).unwrap();
    assert_eq!(table.as_slice().unwrap(), [3.0]);
}

#[test]
fn set_array_lets_go_of_the_old_memory() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1_u8, 2], &drops);
    let mut table = HomogenNumericTable::from_array(Array::from_owner(owner), shape(1, 2)).unwrap();
    table.set_array(vec![3, 4], 1).unwrap();
    assert_eq!(drops.get(), 1);
}

#[test]
fn set_array_is_refused_while_a_writable_block_is_out() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(table.set_array(vec![9.0; 4], 2), Error::BlockOutstanding { .. });
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of(&table), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn set_array_with_no_rows_empties_the_table() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    table.set_array(Vec::new(), 0).unwrap();
    assert_eq!((table.shape(), table.data_memory_status()), (shape(0, 2), UserAllocated));
}

// ---------------------------------------------------------------------------------- looking at the memory, giving it up

fn memory_is_seen_in_layout_order<T: SmallNumber>() {
    for layout in LAYOUTS {
        let mut table = numbered::<T>(2, 3, layout);
        let order: [u8; 6] = if layout == RowMajor { [1, 2, 3, 4, 5, 6] } else { [1, 4, 2, 5, 3, 6] };
        assert_eq!(table.as_slice().unwrap(), order.map(T::small));
        assert_eq!(&table.array().unwrap()[..], order.map(T::small));
        table.as_mut_slice().unwrap()[1] = T::small(50);
        let (row, column) = if layout == RowMajor { (0, 1) } else { (1, 0) };
        assert_eq!(table.view().unwrap().value(row, column), Some(T::small(50)));
        table.view_mut().unwrap().set_value(1, 2, T::small(60)).unwrap();
        assert_eq!(table.into_array().unwrap()[5], T::small(60));
    }
}

#[test]
fn memory_is_seen_in_the_order_of_the_layout_in_every_type() {
    for_each_element!(memory_is_seen_in_layout_order);
}

#[test]
fn into_array_gives_the_vec_back() {
    let values = vec![1.0_f32, 2.0, 3.0, 4.0];
    let place = address(&values);
    let table = HomogenNumericTable::from_array(values, shape(2, 2)).unwrap();
    let vec = table.into_array().unwrap().try_into_vec().unwrap();
    assert_eq!((address(&vec), vec), (place, vec![1.0, 2.0, 3.0, 4.0]));
}

#[test]
fn into_array_gives_what_the_table_shows() {
    let table = HomogenNumericTable::from_array_with_spare_rows(vec![1, 2, 3, 4, 5, 6], shape(2, 2)).unwrap();
    assert_eq!(&table.into_array().unwrap()[..], [1, 2, 3, 4]);
    let slice = numbered::<u8>(3, 2, ColumnMajor).slice_rows(1..3).unwrap();
    assert_eq!(&slice.into_array().unwrap()[..], [3, 5, 4, 6]);
}

#[test]
fn into_array_without_memory_is_an_error() {
    assert_error!(HomogenNumericTable::<f32>::default().into_array(), Error::NotAllocated);
}

#[test]
fn a_view_shows_strides_rows_columns_and_transposes() {
    let table = numbered::<u8>(2, 3, ColumnMajor);
    let view: TableView<'_, u8> = table.view().unwrap();
    assert_eq!((view.shape(), view.strides()), (shape(2, 3), (1, 2)));
    assert_eq!((view.column(2), view.row(0)), (Some(&[3, 6][..]), None));
    assert_eq!(view.transposed().row(2), Some(&[3, 6][..]));
    assert_eq!((view.value(1, 2), view.value(2, 0), view.value(0, 3)), (Some(6), None, None));
}

#[test]
fn a_view_outside_the_table_is_an_error() {
    let mut table = numbered::<u8>(2, 3, RowMajor);
    let view = table.view().unwrap();
    let backwards = std::ops::Range { start: 2, end: 1 };
    assert_error!(view.rows(1..3), Error::RowsOutOfRange { row_count: 2, .. });
    assert_error!(view.rows(backwards.clone()), Error::RowsOutOfRange { .. });
    assert_error!(
        view.columns(0..4),
        Error::ColumnsOutOfRange { columns: std::ops::Range { start: 0, end: 4 }, column_count: 3 }
    );
    assert_error!(view.columns(backwards), Error::ColumnsOutOfRange { .. });
    assert_error!(table.view_mut().unwrap().set_value(2, 0, 1), Error::RowsOutOfRange { .. });
    assert_error!(table.view_mut().unwrap().set_value(usize::MAX, usize::MAX, 1), Error::RowsOutOfRange { .. });
    assert_error!(table.view_mut().unwrap().split_at_row(3), Error::RowsOutOfRange { .. });
}

#[test]
fn a_mutable_view_writes_the_table_in_place() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(2, 3, layout);
        let place = address(table.array().unwrap());
        let view: TableViewMut<'_, u8> = table.view_mut().unwrap();
        view.columns(1..2).unwrap().fill(0);
        assert_eq!((values_of(&table), address(table.array().unwrap())), (vec![1, 0, 3, 4, 0, 6], place));
    }
}

#[test]
fn slice_rows_shares_the_memory_and_keeps_the_dictionary() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(4, 2, layout);
        let names = ["a", "b"].map(|name| feature::<u8>().named(name));
        table.set_dictionary(DataDictionary::from_features(names)).unwrap();
        let slice = table.slice_rows(1..3).unwrap();
        assert_eq!((slice.shape(), values_of(&slice)), (shape(2, 2), vec![3, 4, 5, 6]));
        assert!(slice.array().unwrap().shares_memory_with(table.array().unwrap()));
        assert_eq!((slice.dictionary(), slice.data_layout()), (table.dictionary(), layout));
        assert_eq!(values_of(&slice.slice_rows(1..2).unwrap()), [5, 6]);
    }
}

#[test]
fn slice_rows_is_strict() {
    let table = numbered::<u8>(4, 2, RowMajor);
    let backwards = std::ops::Range { start: 3, end: 2 };
    assert_error!(table.slice_rows(2..5), Error::RowsOutOfRange { rows, row_count: 4 } if rows == (2..5));
    assert_error!(table.slice_rows(backwards), Error::RowsOutOfRange { .. });
    assert_error!(table.slice_rows(0..usize::MAX), Error::RowsOutOfRange { .. });
    assert_eq!(table.slice_rows(4..4).unwrap().shape(), shape(0, 2));
}

fn to_layout_transposes<T: SmallNumber>() {
    for from in LAYOUTS {
        for to in LAYOUTS {
            let table = numbered::<T>(3, 2, from);
            let moved = table.to_layout(to).unwrap();
            let order: [u8; 6] = if to == RowMajor { [1, 2, 3, 4, 5, 6] } else { [1, 3, 5, 2, 4, 6] };
            assert_eq!((moved.data_layout(), moved.as_slice().unwrap()), (to, &order.map(T::small)[..]));
            assert_eq!(moved.array().unwrap().shares_memory_with(table.array().unwrap()), from == to);
        }
    }
}

#[test]
fn to_layout_moves_every_value_in_every_type_and_shares_if_nothing_moves() {
    for_each_element!(to_layout_transposes);
}

#[test]
fn compact_copies_a_part_and_shares_a_whole() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(4, 2, layout);
        let compact = table.slice_rows(1..3).unwrap().to_compact().unwrap();
        assert_eq!((values_of(&compact), compact.array().unwrap().len()), (vec![3, 4, 5, 6], 4));
        assert!(!compact.array().unwrap().shares_memory_with(table.array().unwrap()));
        let whole = compact.to_compact().unwrap();
        assert!(whole.array().unwrap().shares_memory_with(compact.array().unwrap()));
    }
}

// ------------------------------------------------------------------------------------------------ conversion of tables

fn converts_to_every_type<S: SmallNumber>() {
    for_each_element!(T => converts_to::<S, T>());
}

fn converts_to<S: SmallNumber, T: SmallNumber>() {
    for layout in LAYOUTS {
        let table = numbered::<S>(3, 2, layout);
        for policy in POLICIES {
            let converted = table.convert_with::<T>(policy).unwrap();
            assert_eq!((converted.data_layout(), values_of(&converted)), (layout, numbers::<T>(2, 0..3)));
            assert!(converted.dictionary().iter().all(|feature| feature.element_type == T::TYPE));
        }
        assert!(table.conversion_report::<T>().unwrap().is_lossless());
    }
}

#[test]
fn every_type_converts_to_every_type() {
    for_each_element!(converts_to_every_type);
}

/// DAAL `convertToHomogen` goes through `float`.
#[test]
fn conversion_to_the_same_type_shares_the_memory() {
    let table = HomogenNumericTable::from_rows(&[[(1_i64 << 53) + 1], [i64::MIN]]).unwrap();
    let same = table.convert::<i64>().unwrap();
    assert!(same.array().unwrap().shares_memory_with(table.array().unwrap()));
    assert_eq!(same.as_slice().unwrap(), [9_007_199_254_740_993, i64::MIN]);
}

#[test]
fn conversion_saturates_unless_told_otherwise() {
    let table = HomogenNumericTable::from_rows(&[[300.7_f64, -1.0], [f64::NAN, f64::INFINITY]]).unwrap();
    assert_eq!(table.convert::<u8>().unwrap().as_slice().unwrap(), [255, 0, 0, 255]);
}

#[test]
fn a_refused_value_is_the_first_in_row_major_order_whatever_the_layout() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::<f32>::new_in(shape(3, 3), DoAllocate, layout).unwrap();
        table.set_value(2, 0, 1000.0_f32).unwrap(); // first in memory if column-major
        table.set_value(1, 2, f32::NAN).unwrap(); // first in row-major order
        assert_error!(
            table.convert_with::<i8>(ConversionPolicy::Checked),
            Error::ValueNotRepresentable { row: 1, column: 2, target: ElementType::I8, .. }
        );
        assert_eq!(table.conversion_report::<i8>().unwrap().first, Some((1, 2)));
    }
}

#[test]
fn an_unallocated_table_converts_to_an_unallocated_table() {
    let table = HomogenNumericTable::<f32>::new_in(shape(0, 3), DoNotAllocate, ColumnMajor).unwrap();
    let converted = table.convert::<i32>().unwrap();
    assert_eq!((converted.shape(), converted.data_layout()), (shape(0, 3), ColumnMajor));
    let table = HomogenNumericTable::<f32>::new(shape(2, 3), DoNotAllocate).unwrap();
    assert_error!(table.convert::<i32>(), Error::NotAllocated);
    assert_error!(table.conversion_report::<i32>(), Error::NotAllocated);
}

// --------------------------------------------------------------------------------------------------------- equality

#[test]
fn tables_are_equal_if_shape_values_and_dictionary_are_whatever_the_layout_and_memory() {
    let table = numbered::<i32>(3, 2, RowMajor);
    assert_eq!(table, numbered(3, 2, ColumnMajor));
    assert_eq!(table, HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]]).unwrap());
    let values = vec![1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(table, HomogenNumericTable::from_array_with_spare_rows(values, shape(3, 2)).unwrap());
    assert_eq!(numbered::<i32>(4, 2, ColumnMajor).slice_rows(0..3).unwrap(), table);
}

#[test]
fn tables_that_differ_in_anything_are_not_equal() {
    let table = numbered::<i32>(3, 2, RowMajor);
    let mut other_value = table.clone();
    other_value.set_value(2, 1, 0).unwrap();
    assert_ne!(table, other_value);
    assert_ne!(table, HomogenNumericTable::from_array(vec![1, 2, 3, 4, 5, 6], shape(2, 3)).unwrap());
    let mut other_dictionary = table.clone();
    other_dictionary.set_dictionary(DataDictionary::uniform(feature::<i32>().ordinal(), 2)).unwrap();
    assert_ne!(table, other_dictionary);
    assert_ne!(table, HomogenNumericTable::new(shape(3, 2), DoNotAllocate).unwrap());
    assert_eq!(
        HomogenNumericTable::<i32>::new(shape(3, 2), DoNotAllocate).unwrap(),
        HomogenNumericTable::new(shape(3, 2), DoNotAllocate).unwrap()
    );
}

#[test]
fn a_nan_makes_a_table_unequal_to_its_copy() {
    let table = HomogenNumericTable::from_rows(&[[f32::NAN]]).unwrap();
    assert_ne!(table, table.clone());
}

#[test]
fn tables_go_to_other_threads() {
    fn is_send_and_sync<T: Send + Sync + 'static>() {}
    fn of<T: Element>() {
        is_send_and_sync::<HomogenNumericTable<T>>();
    }
    for_each_element!(of);
    is_send_and_sync::<Box<dyn NumericTable>>();
}

// --------------------------------------------------------------------------------- the matrix: every shape, every call

const EXTENTS: [usize; 6] = [0, 1, 2, 3, isize::MAX as usize, usize::MAX];

/// What the memory of a shape comes to: `None` if it cannot be addressed.
fn bytes_of<T>(shape: Shape) -> Option<usize> {
    let bytes = shape.rows.checked_mul(shape.columns)?.checked_mul(size_of::<T>())?;
    (bytes <= isize::MAX as usize).then_some(bytes)
}

fn constructors_follow_the_size<T: SmallNumber>() {
    for (rows, columns) in EXTENTS.iter().flat_map(|&rows| EXTENTS.map(|columns| (rows, columns))) {
        let shape = shape(rows, columns);
        for layout in LAYOUTS {
            let unallocated = HomogenNumericTable::<T>::new_in(shape, DoNotAllocate, layout);
            let allocated = HomogenNumericTable::<T>::new_in(shape, DoAllocate, layout);
            let full = HomogenNumericTable::<T>::full_in(shape, T::small(1), layout);
            let wrapped = HomogenNumericTable::<T>::from_array_in(vec![T::small(1); 9], shape, layout);
            match bytes_of::<T>(shape) {
                None => {
                    assert_error!(unallocated, Error::SizeOverflow { .. });
                    assert_error!(allocated, Error::SizeOverflow { .. });
                    assert_error!(full, Error::SizeOverflow { .. });
                    assert_error!(wrapped, Error::SizeOverflow { .. });
                }
                Some(bytes) if bytes > 1 << 50 => {
                    every_call_answers(unallocated.unwrap());
                    assert_error!(allocated, Error::OutOfMemory { .. });
                    assert_error!(full, Error::OutOfMemory { .. });
                    assert_error!(wrapped, Error::ArrayTooShort { have: 9, .. });
                }
                Some(bytes) => {
                    for table in [unallocated, allocated, full] {
                        every_call_answers(table.unwrap());
                    }
                    match (bytes / size_of::<T>()).cmp(&9) {
                        Ordering::Less => assert_error!(wrapped, Error::ArrayTooLong { have: 9, .. }),
                        Ordering::Equal => every_call_answers(wrapped.unwrap()),
                        Ordering::Greater => assert_error!(wrapped, Error::ArrayTooShort { have: 9, .. }),
                    }
                }
            }
        }
    }
}

/// Makes every public call with arguments inside, at and behind the limits. It must come back; what it says is proved by
/// the tests of each call.
fn every_call_answers<T: SmallNumber>(table: HomogenNumericTable<T>) {
    let Shape { rows, columns } = table.shape();
    let limits = |extent: usize| [0, 1, extent.saturating_sub(1), extent, extent.saturating_add(1), usize::MAX];
    let _ = (format!("{table:?}"), table == table.clone(), table.array().is_ok(), table.as_slice().is_ok());
    if let Ok(view) = table.view() {
        let _ = (view.strides(), view.as_slice(), view.transposed().shape(), view.conversion_report::<u8>());
        let _ = (
            view.value(0, 0),
            view.value(rows, columns),
            view.row(0),
            view.row(rows),
            view.column(0),
            view.column(columns),
        );
        let _ = (view.rows(0..rows).is_ok(), view.columns(0..columns).is_ok());
        #[cfg(feature = "ndarray")]
        let _ = view.as_ndarray();
    }
    let _ = (table.convert::<T>(), table.convert::<f64>(), table.convert_with::<i8>(ConversionPolicy::Exact));
    let _ = (table.conversion_report::<i8>(), table.to_compact());
    let _ = LAYOUTS.map(|layout| table.to_layout(layout));
    if let Ok(bytes) = table.to_bytes() {
        assert_eq!(HomogenNumericTable::<T>::from_bytes(&bytes).unwrap(), table);
        assert_eq!(from_bytes_any(&bytes).unwrap().shape(), table.shape());
    }
    let mut block = BlockDescriptor::<f64>::new();
    let mut same = BlockDescriptor::<T>::new();
    for first in limits(rows) {
        for last in limits(rows) {
            let _ = (table.rows::<T>(first..last).is_ok(), table.rows::<f64>(first..last).is_ok());
            let _ = (table.column::<T>(0, first..last).is_ok(), table.column::<f64>(columns, first..last).is_ok());
            let _ = (table.read_rows(first..last, &mut block).is_ok(), table.read_rows(first..last, &mut same).is_ok());
            let _ = table.slice_rows(first..last);
        }
        for column in limits(columns) {
            let _ = (table.value::<i64>(first, column), table.feature_type(column), table.category_count(column));
        }
        if let Ok(mut blocks) = table.row_blocks::<f64>(first) {
            let _ = (blocks.next().is_some(), blocks.next_back().is_some());
        }
        #[cfg(feature = "rayon")]
        let _ = table.par_row_blocks::<f64>(first).is_ok();
    }
    let mut table = table;
    for first in limits(rows) {
        for count in limits(rows) {
            for mode in MODES {
                if table.get_block_of_rows(first, count, mode, &mut block).is_ok() {
                    table.release_block_of_rows(&mut block).unwrap();
                }
                if table.get_block_of_column_values(0, first, count, mode, &mut same).is_ok() {
                    table.release_block_of_column_values(&mut same).unwrap();
                }
                let _ = table.get_block_of_column_values(columns, first, count, mode, &mut block);
            }
            let _ = table.rows_mut::<T>(first..count).is_ok();
            let _ = table.rows_mut::<f64>(first..count).is_ok();
            let _ = table.column_mut::<T>(0, first..count).is_ok();
            let _ = table.column_mut::<f64>(0, first..count).is_ok();
            let _ = table.update_rows::<f64, _>(first..count, |_| Ok(()));
            let _ = table.update_column::<T, _>(0, first..=count, |_| Ok(()));
        }
        let _ = table.set_value(first, 0, 1.0);
        if let Ok(mut blocks) = table.row_blocks_mut::<f64>(first) {
            let _ = blocks.next().is_some();
        }
        #[cfg(feature = "rayon")]
        let _ = table.par_row_blocks_mut::<f64>(first).is_ok();
    }
    let _ = (table.fill(1.0), table.as_mut_slice().is_ok());
    if let Ok(mut view) = table.view_mut() {
        view.fill(T::small(3));
        let _ = (
            view.set_value(rows, columns, T::small(1)),
            view.reborrow().split_at_row(rows).is_ok(),
            view.try_into_slice().is_ok(),
        );
    }
    let mut dictionary = table.dictionary().clone();
    let _ = (dictionary.set_feature(0, feature::<T>().named("x")), dictionary.index_of("x"));
    let _ = table.set_dictionary(dictionary);
    let _ = table.reset_dictionary();
    for count in limits(rows) {
        let _ = table.clone().resize(count);
        let _ = table.clone().set_array(vec![T::small(1)], count);
    }
    let _ = (table.clone().free_data_memory(), table.clone().into_array().is_ok());
    let _ = table.allocate_data_memory();
}

#[test]
fn every_call_on_every_shape_gives_a_value_or_a_typed_error() {
    for_each_element!(constructors_follow_the_size);
}

// ---------------------------------------------------------------------------------------------------- the peer's tests

/// oneDAL `table/test/homogen.cpp`: "homogen table can be created empty"; here the layout is known from the start.
#[test]
fn peer_empty_table_has_no_data_and_no_sizes() {
    let table = HomogenNumericTable::<f32>::default();
    assert_eq!((table.row_count(), table.column_count()), (0, 0));
    assert_error!(table.array(), Error::NotAllocated);
}

/// oneDAL `table/test/homogen.cpp`: 3 x 2 row-major float. `Continuous` is oneDAL's ratio (and interval).
#[test]
fn peer_row_major_float_table_keeps_pointer_layout_type_and_metadata() {
    let values = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let place = address(&values);
    let table = HomogenNumericTable::from_array(values, shape(3, 2)).unwrap();
    assert_eq!((table.shape(), table.data_layout(), table.element_type()), (shape(3, 2), RowMajor, ElementType::F32));
    assert!((0..2).all(|column| table.feature_type(column).unwrap() == FeatureType::Continuous));
    assert_eq!(address(table.as_slice().unwrap()), place);
}

/// oneDAL `table/test/homogen.cpp`: 2 x 3 column-major double.
#[test]
fn peer_column_major_double_table_keeps_pointer_layout_type_and_metadata() {
    let values = vec![1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0];
    let place = address(&values);
    let table = HomogenNumericTable::from_array_in(values, shape(2, 3), ColumnMajor).unwrap();
    assert_eq!(
        (table.shape(), table.data_layout(), table.element_type()),
        (shape(2, 3), ColumnMajor, ElementType::F64)
    );
    assert!((0..3).all(|column| table.feature_type(column).unwrap() == FeatureType::Continuous));
    assert_eq!(address(table.as_slice().unwrap()), place);
}

/// oneDAL `table/test/homogen.cpp`: copy.
#[test]
fn peer_copy_has_the_same_shape_pointer_layout_and_metadata() {
    let table = numbered::<f32>(3, 2, ColumnMajor);
    let copy = table.clone();
    assert_eq!((copy.shape(), copy.data_layout(), copy.dictionary()), (shape(3, 2), ColumnMajor, table.dictionary()));
    assert_eq!(address(copy.as_slice().unwrap()), address(table.as_slice().unwrap()));
}

/// oneDAL `table/test/homogen.cpp`: move; the source is empty, the target intact.
#[test]
fn peer_taken_table_leaves_an_empty_one() {
    let mut source = numbered::<f32>(3, 2, RowMajor);
    let target = std::mem::take(&mut source);
    assert_eq!((source.shape(), source.data_memory_status()), (shape(0, 0), NotAllocated));
    assert_eq!(values_of(&target), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

/// oneDAL `table/test/homogen.cpp`: copy- and move-assignment over a table of another shape and type; the type is fixed
/// at compile time here, unless the table is held as `dyn`.
#[test]
fn peer_assigned_table_takes_everything_of_the_new_one() {
    let mut table: Box<dyn NumericTable> = Box::new(numbered::<f32>(3, 2, RowMajor));
    assert_eq!(table.shape(), shape(3, 2));
    table = Box::new(numbered::<i32>(1, 4, ColumnMajor));
    assert_eq!(
        (table.shape(), table.uniform_type(), table.data_layout()),
        (shape(1, 4), Some(ElementType::I32), ColumnMajor)
    );
    let mut assigned = numbered::<f32>(3, 2, RowMajor);
    assert_eq!(assigned.row_count(), 3);
    assigned = numbered::<f32>(2, 4, ColumnMajor);
    assert_eq!((assigned.shape(), assigned.data_layout()), (shape(2, 4), ColumnMajor));
}

/// oneDAL `table/test/homogen.cpp`: upcast to the base table keeps shape, data type and kind.
#[test]
fn peer_upcast_keeps_shape_type_and_layout() {
    let table: Box<dyn NumericTable> = Box::new(numbered::<f64>(3, 2, ColumnMajor));
    assert_eq!(
        (table.shape(), table.uniform_type(), table.data_layout()),
        (shape(3, 2), Some(ElementType::F64), ColumnMajor)
    );
    assert!(format!("{table:?}").contains("3 x 2"));
}

/// oneDAL `table/test/homogen.cpp`: wrong sizes. Negative counts and an unknown layout cannot be written here; what is left
/// of `domain_error` is sizes that do not fit the data, those without columns among them.
#[test]
fn peer_sizes_that_do_not_fit_the_data_are_refused() {
    assert_error!(HomogenNumericTable::from_array(vec![1.0_f32; 6], shape(4, 2)), Error::ArrayTooShort { .. });
    assert_error!(HomogenNumericTable::from_array(vec![1.0_f32; 6], shape(3, 0)), Error::ArrayTooLong { .. });
    assert!(HomogenNumericTable::from_array(vec![1.0_f32; 6], shape(3, 2)).is_ok());
}

/// oneDAL `table/test/homogen.cpp`: wrap, pointer and shape; the array form that the peer prepares and does not use.
#[test]
fn peer_wrapped_data_keeps_pointer_and_shape() {
    static VALUES: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let by_slice = HomogenNumericTable::from_array(&VALUES[..], shape(3, 2)).unwrap();
    let by_array = HomogenNumericTable::from_array(Array::from(&VALUES[..]), shape(3, 2)).unwrap();
    for table in [by_slice, by_array] {
        assert_eq!((address(table.as_slice().unwrap()), table.shape()), (address(&VALUES), shape(3, 2)));
    }
}

/// oneDAL `table/test/table_builder.cpp`: a builder that is reset with an array of 3 x 2. Our table is its own builder.
#[test]
fn peer_table_built_from_an_array_keeps_pointer_layout_and_type() {
    let array = Array::from(vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let place = address(&array);
    let mut table = HomogenNumericTable::<f32>::new(shape(0, 2), DoNotAllocate).unwrap();
    table.set_array(array, 3).unwrap();
    assert_eq!((table.shape(), table.data_layout(), table.element_type()), (shape(3, 2), RowMajor, ElementType::F32));
    assert_eq!(table.feature_type(1).unwrap(), FeatureType::Continuous);
    assert_eq!(address(table.as_slice().unwrap()), place);
}

/// oneDAL `table/test/table_builder.cpp`: modify through the builder, which the peer has commented out.
#[test]
fn peer_table_modified_through_a_block_shows_the_change() {
    let mut table = HomogenNumericTable::<f32>::new(shape(3, 2), DoAllocate).unwrap();
    table.rows_mut::<f32>(1..2).unwrap().copy_from_slice(&[7.0, 8.0]);
    assert_eq!(table.as_slice().unwrap(), [0.0, 0.0, 7.0, 8.0, 0.0, 0.0]);
}

fn round_trips<T: SmallNumber>() {
    for (rows, columns) in [1, 10, 1000].into_iter().flat_map(|rows| [1, 10, 100].map(|columns| (rows, columns))) {
        let values: Vec<T> = (0..rows * columns).map(|i| T::small((i % 101) as u8)).collect();
        let table = HomogenNumericTable::from_array(values.clone(), shape(rows, columns)).unwrap();
        let bytes = table.to_bytes().unwrap();
        let base: Box<dyn NumericTable> = Box::new(table);
        assert_eq!(base.to_bytes().unwrap(), bytes);
        assert_eq!(HomogenNumericTable::<T>::from_bytes(&bytes).unwrap().as_slice().unwrap(), values);
        assert_eq!(&from_bytes_any(&bytes).unwrap().rows::<T>(0..rows).unwrap()[..], values);
    }
}

/// oneDAL `table/test/homogen_serialization.cpp`: sizes and types of the peer, typed and base on both sides.
#[test]
fn peer_tables_round_trip_typed_and_base() {
    for_each_element!(round_trips);
}

/// oneDAL `table/test/homogen_serialization.cpp`, `common_serialization.cpp`: an empty table.
#[test]
fn peer_empty_table_round_trips() {
    let bytes = HomogenNumericTable::<f32>::default().to_bytes().unwrap();
    assert_eq!(HomogenNumericTable::<f32>::from_bytes(&bytes).unwrap().shape(), shape(0, 0));
    assert_eq!(from_bytes_any(&bytes).unwrap().shape(), shape(0, 0));
}

/// DAAL `examples/daal/cpp/source/datasource/datastructures_homogen.cpp`, which prints and asserts nothing. The caller's
/// array is the table's while the table lives, so that the edit goes through the table.
#[test]
fn peer_example_datastructures_homogen() {
    let values: Vec<f32> = (0..110).map(|i| i as f32 / 10.0).collect();
    let mut table = HomogenNumericTable::from_array(values, shape(10, 11)).unwrap();
    let mut block = BlockDescriptor::<f32>::new();

    table.get_block_of_rows(2, 3, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert_eq!((block.row_count(), block.column_count(), block.row(0)[0]), (3, 11, 2.2));
    table.release_block_of_rows(&mut block).unwrap();

    table.get_block_of_column_values(2, 0, 10, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert_eq!((block.row_count(), block.column_count(), block.as_slice()[9]), (10, 1, 10.1));
    table.release_block_of_column_values(&mut block).unwrap();

    table.as_mut_slice().unwrap()[0] = 999.0;
    assert_eq!(table.array().unwrap()[0], 999.0);

    table.set_array((0..33).map(|i| i as f32).collect::<Vec<_>>(), 3).unwrap();
    table.get_block_of_column_values(1, 0, 10, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [1.0, 12.0, 23.0]);
}
