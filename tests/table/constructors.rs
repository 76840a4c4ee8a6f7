//! Every way to make a table.

use std::sync::Arc;

use numeric_table::prelude::*;
use numeric_table::{TableView, TableViewMut};
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::{ColumnMajor, RowMajor};
use MemoryStatus::{InternallyAllocated, NotAllocated};

/// DAAL's guide: "the constructor with default values and sizes"; DAAL `create()`, which leaves the layout unknown.
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
    let expected = "the table has rows but no memory is allocated for them: `allocate_data_memory` allocates it, \
                    `set_array` supplies it";
    assert_eq!(table.as_slice().unwrap_err().to_string(), expected);
}

/// DAAL's guide: `table(nColumns, nRows, doNotAllocate); table.setArray(data, nRows)`.
#[test]
fn sizes_first_and_memory_later() {
    let mut table = HomogenNumericTable::<f32>::new(shape(2, 3), DoNotAllocate).unwrap();
    assert_eq!((table.shape(), table.data_memory_status()), (shape(2, 3), NotAllocated));
    assert_error!(table.as_slice(), Error::NotAllocated);
    table.set_array(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2).unwrap();
    assert_eq!(values_of(&table), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

/// DAAL's guide: "construct an empty table and change the size and allocate the memory later".
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

/// DAAL's guide: `table(nColumns, nRows, doAllocate, 0.0)`; DAAL leaves memory uninitialised without a constant.
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
fn full_is_one_value_everywhere_in_every_type() {
    for_each_element!(full_is_one_value);
}

/// DAAL's guide: `table(data, nColumns, nRows)`; DAAL `create(SharedPtr<T>, ...)`.
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

/// oneDAL throws `domain_error` here, DAAL trusts the sizes.
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
fn a_dictionary_has_the_columns_of_a_table_and_no_rows() {
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
