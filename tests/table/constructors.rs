//! Every way to make a table.

use std::sync::Arc;

use numeric_table::prelude::*;
use numeric_table::table::{TableView, TableViewMut};
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
    assert_error!(table.as_slice(), ErrorKind::NotAllocated);
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
        let table = HomogenNumericTable::<T>::new_with_layout(shape(3, 2), DoAllocate, layout).unwrap();
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
        let table = HomogenNumericTable::full_with_layout(shape(2, 3), T::small(7), layout).unwrap();
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
    let table = HomogenNumericTable::from_array_with_layout(vec![1, 2, 3, 4, 5, 6], shape(2, 3), ColumnMajor).unwrap();
    assert_eq!(values_of(&table), [1, 3, 5, 2, 4, 6]);
}

/// oneDAL throws `domain_error` here, DAAL trusts the sizes.
#[test]
fn an_array_is_as_long_as_the_shape_needs() {
    for layout in LAYOUTS {
        let from = |count: u8| {
            HomogenNumericTable::from_array_with_layout((0..count).collect::<Vec<_>>(), shape(3, 2), layout)
        };
        assert_error!(from(5), ErrorKind::ArrayLength { have: 5, need: 6, .. });
        assert_eq!(from(6).unwrap().as_slice().unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_error!(from(7), ErrorKind::ArrayLength { have: 7, need: 6, .. });
        assert_error!(from(9), ErrorKind::ArrayLength { have: 9, need: 6, .. });
    }
    assert_error!(
        HomogenNumericTable::from_array(vec![1; 9], shape(3, 2)),
        ErrorKind::ArrayLength { have: 9, need: 6, .. }
    );
}

#[test]
fn no_array_but_an_empty_one_holds_rows_of_no_columns() {
    for (rows, columns) in [(2, 0), (0, 3), (0, 0), (usize::MAX, 0)] {
        for layout in LAYOUTS {
            let from =
                |values: Vec<i32>| HomogenNumericTable::from_array_with_layout(values, shape(rows, columns), layout);
            assert_eq!(from(Vec::new()).unwrap().shape(), shape(rows, columns));
            assert_error!(from(vec![1]), ErrorKind::ArrayLength { have: 1, need: 0, .. });
        }
    }
}

#[test]
fn a_view_of_a_slice_is_as_long_as_the_shape_needs() {
    let mut values = [1, 2, 3, 4, 5];
    for layout in LAYOUTS {
        assert_error!(TableView::new(&values, shape(2, 2), layout), ErrorKind::ArrayLength { have: 5, need: 4, .. });
        assert_error!(
            TableViewMut::new(&mut values, shape(2, 2), layout),
            ErrorKind::ArrayLength { have: 5, need: 4, .. }
        );
        assert_error!(TableView::new(&values, shape(3, 2), layout), ErrorKind::ArrayLength { have: 5, need: 6, .. });
        assert_eq!(TableView::new(&values[..4], shape(2, 2), layout).unwrap().value(1, 1), Some(4));
    }
}

/// Where DAAL accepts a null pointer, or an empty one, for any claimed shape.
#[test]
fn an_empty_array_holds_no_rows() {
    assert_error!(
        HomogenNumericTable::from_array(Vec::<f32>::new(), shape(1, 1)),
        ErrorKind::ArrayLength { have: 0, need: 1, .. }
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
    let mut table = HomogenNumericTable::<f64>::from_dictionary(dictionary.clone()).unwrap();
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
        HomogenNumericTable::<f64>::from_dictionary(dictionary),
        ErrorKind::DictionaryMismatch { actual: Some((1, ElementType::I32)), .. }
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
        assert_error!(
            HomogenNumericTable::<u8>::new(huge, flag),
            ErrorKind::SizeOverflow { shape, .. } if *shape == huge
        );
    }
    assert_error!(HomogenNumericTable::full(huge, 1_u8), ErrorKind::SizeOverflow { .. });
    assert_error!(HomogenNumericTable::from_array(vec![1_u8], huge), ErrorKind::SizeOverflow { .. });
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn memory_that_the_system_refuses_is_an_error() {
    let columns = isize::MAX as usize / 8;
    assert_error!(HomogenNumericTable::<f64>::new(shape(1, columns), DoAllocate), ErrorKind::OutOfMemory);
    assert_error!(HomogenNumericTable::full(shape(columns, 1), 1.0_f64), ErrorKind::OutOfMemory);
    assert!(HomogenNumericTable::<f64>::new(shape(1, columns), DoNotAllocate).is_ok());
}

/// DAAL `create(dictionary, rows, flag)`, in any layout.
#[test]
fn a_dictionary_comes_with_rows_memory_and_layout_in_one_call() {
    let named =
        |element| ["a", "b"].map(|name| Feature::new(element).named(name)).into_iter().collect::<DataDictionary>();
    for layout in LAYOUTS {
        let make = |dictionary, rows, allocation| {
            HomogenNumericTable::<i16>::from_dictionary_with_layout(dictionary, rows, allocation, layout)
        };
        let mut table = make(named(ElementType::I16), 3, DoAllocate).unwrap();
        assert_eq!((table.shape(), table.data_layout()), (shape(3, 2), layout));
        assert_eq!((table.data_memory_status(), table.dictionary().index_of("b")), (InternallyAllocated, Some(1)));
        assert_eq!(values_of(&table), [0; 6]);
        table.set_value(2, 1, 7).unwrap();
        let table = make(named(ElementType::I16), 3, DoNotAllocate).unwrap();
        assert_eq!((table.shape(), table.data_memory_status()), (shape(3, 2), NotAllocated));
        assert_eq!(table.dictionary().index_of("a"), Some(0));
        assert_error!(
            make(named(ElementType::U16), 3, DoAllocate),
            ErrorKind::DictionaryMismatch { actual: Some((0, _)), .. }
        );
        assert_error!(make(named(ElementType::I16), usize::MAX, DoAllocate), ErrorKind::SizeOverflow { .. });
        let wide = DataDictionary::uniform(feature::<i16>(), usize::MAX);
        assert_error!(make(wide, 2, DoNotAllocate), ErrorKind::SizeOverflow { .. });

        let array = Array::from(vec![1_i16, 2, 3, 4, 5, 6]);
        let from = |dictionary, rows| HomogenNumericTable::from_array_with(dictionary, array.clone(), rows, layout);
        let table = from(named(ElementType::I16), 3).unwrap();
        assert!(table.array().unwrap().shares_memory_with(&array));
        assert_eq!((table.data_layout(), table.dictionary().index_of("b")), (layout, Some(1)));
        assert_eq!(table.value::<i32>(2, 1).unwrap(), 6);
        assert_error!(from(named(ElementType::I16), 4), ErrorKind::ArrayLength { have: 6, need: 8, .. });
        assert_error!(from(named(ElementType::I16), 2), ErrorKind::ArrayLength { have: 6, need: 4, .. });
        assert_error!(from(named(ElementType::F32), 3), ErrorKind::DictionaryMismatch { .. });
        assert_error!(from(DataDictionary::from_features([]), 3), ErrorKind::ArrayLength { have: 6, need: 0, .. });
    }
    let table =
        HomogenNumericTable::full(shape(2, 2), 1.5_f32).unwrap().with_dictionary(named(ElementType::F32)).unwrap();
    assert_eq!(table.dictionary().index_of("b"), Some(1));
    assert_error!(table.with_dictionary(named(ElementType::F64)), ErrorKind::DictionaryMismatch { .. });
}

/// DAAL's guide: "the constructor with default values and sizes"; the columns and the memory come later.
#[test]
fn a_table_without_memory_gets_its_columns_later() {
    let named = |count: usize| (0..count).map(|i| feature::<f32>().named(format!("n{i}"))).collect::<DataDictionary>();
    let mut table = HomogenNumericTable::<f32>::default();
    table.set_dictionary_and_allocate(named(3)).unwrap();
    assert_eq!((table.shape(), table.data_memory_status()), (shape(0, 3), NotAllocated));
    table.set_dictionary_and_allocate(named(2)).unwrap(); // still without memory
    table.set_array(vec![1.0, 2.0, 3.0, 4.0], 2).unwrap();
    assert_eq!((values_of(&table), table.dictionary().index_of("n1")), (vec![1.0, 2.0, 3.0, 4.0], Some(1)));
    let before = state_of(&table);
    assert_error!(
        table.set_dictionary_and_allocate(named(3)),
        ErrorKind::DictionaryMismatch { features: 3, columns: 2, .. }
    );
    assert_error!(table.set_dictionary_and_allocate(named(0)), ErrorKind::DictionaryMismatch { .. });
    assert_eq!(state_of(&table), before);
    table.set_dictionary_and_allocate(DataDictionary::uniform(feature::<f32>(), 2)).unwrap(); // as many: only the description
    assert_eq!((state_of(&table), table.dictionary().index_of("n1")), (before, None));
    table.free_data_memory().unwrap();
    table.set_dictionary_and_allocate(named(1)).unwrap();
    assert_eq!(table.shape(), shape(2, 1));
    table.allocate_data_memory().unwrap();
    assert_eq!(values_of(&table), [0.0; 2]);

    let mut table = HomogenNumericTable::<f32>::new_with_layout(shape(4, 0), DoNotAllocate, ColumnMajor).unwrap();
    assert_error!(
        table.set_dictionary_and_allocate(DataDictionary::uniform(feature::<f64>(), 2)),
        ErrorKind::DictionaryMismatch { .. }
    );
    assert_error!(
        table.set_dictionary_and_allocate(DataDictionary::uniform(feature::<f32>(), usize::MAX)),
        ErrorKind::SizeOverflow { .. }
    );
    assert_eq!(table.shape(), shape(4, 0));
    table.set_dictionary_and_allocate(named(2)).unwrap();
    table.resize(4).unwrap();
    assert_eq!((table.shape(), table.data_layout(), values_of(&table)), (shape(4, 2), ColumnMajor, vec![0.0; 8]));

    let mut table = HomogenNumericTable::<f32>::new(shape(2, 2), DoAllocate).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(table.set_dictionary_and_allocate(named(2)), ErrorKind::BlockOutstanding { .. });
}

#[test]
fn rows_of_any_kind_are_copied_and_a_ragged_one_is_named() {
    fn check<T: SmallNumber>() {
        let rows = [[1, 2, 3], [4, 5, 6]].map(|row| row.map(T::small).to_vec());
        let expected = (1..=6).map(T::small).collect::<Vec<T>>();
        let slices = rows.iter().map(Vec::as_slice);
        let arrays = rows.iter().map(|row| <[T; 3]>::try_from(&row[..]).unwrap());
        for table in [
            HomogenNumericTable::<T>::from_row_iter(&rows),
            HomogenNumericTable::from_row_iter(rows.to_vec()),
            HomogenNumericTable::from_row_iter(slices),
            HomogenNumericTable::from_row_iter(arrays),
        ] {
            let table = table.unwrap();
            assert_eq!((table.shape(), table.data_memory_status()), (shape(2, 3), InternallyAllocated));
            assert_eq!(values_of(&table), expected);
        }
    }
    for_each_element!(T => check::<T>());
    let ragged = [vec![1, 2], vec![3, 4], vec![5], vec![6, 7, 8]];
    let refused = HomogenNumericTable::<i32>::from_row_iter(&ragged);
    assert_error!(refused, ErrorKind::UnequalLengths { what: "row", index: 2, expected: 2, actual: 1, .. });
    let refused = HomogenNumericTable::<i32>::from_row_iter([&[][..], &[1]]);
    assert_error!(refused, ErrorKind::UnequalLengths { what: "row", index: 1, expected: 0, actual: 1, .. });
    let none = HomogenNumericTable::<f64>::from_row_iter(Vec::<Vec<f64>>::new()).unwrap();
    assert_eq!((none.shape(), none.data_memory_status()), (shape(0, 0), InternallyAllocated));
    assert_eq!(HomogenNumericTable::<f64>::from_row_iter([[]; 3]).unwrap().shape(), shape(3, 0));
    // A length that an iterator claims is not believed.
    struct Boastful(u8);
    impl Iterator for Boastful {
        type Item = [u8; 2];
        fn next(&mut self) -> Option<[u8; 2]> {
            self.0 = self.0.checked_sub(1)?;
            Some([self.0; 2])
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (usize::MAX, None)
        }
    }
    assert_eq!(values_of(&HomogenNumericTable::from_row_iter(Boastful(2)).unwrap()), [1, 1, 0, 0]);
    let mut table = HomogenNumericTable::from_row_iter((0..1000_u32).map(|row| [row; 5])).unwrap();
    table.resize(1001).unwrap();
    assert_eq!((table.value::<u32>(999, 4).unwrap(), table.value::<u32>(1000, 0).unwrap()), (999, 0));
}

/// DAAL: "The default data type for a homogeneous numeric table is float".
#[test]
fn the_default_type_needs_no_annotation() {
    let table = numeric_table::table::FloatTable::new(shape(2, 3), DoAllocate).unwrap();
    let same: HomogenNumericTable = HomogenNumericTable::new(shape(2, 3), DoAllocate).unwrap();
    let short = <Table>::new(shape(2, 3), DoAllocate).unwrap();
    assert_eq!((&table, table.element_type()), (&same, ElementType::F32));
    assert_eq!(table, short);
}
