//! When two tables are equal.

use numeric_table::prelude::*;
use test_support::for_each_element;
use test_support::tables::*;

use AllocationFlag::DoNotAllocate;
use DataLayout::{ColumnMajor, RowMajor};

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
