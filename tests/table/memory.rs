//! Looking at the memory of a table, giving it up, and new tables from a table.

use numeric_table::prelude::*;
use numeric_table::table::{TableView, TableViewMut};
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use DataLayout::{ColumnMajor, RowMajor};

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
fn into_array_returns_the_vec() {
    let values = vec![1.0_f32, 2.0, 3.0, 4.0];
    let place = address(&values);
    let table = HomogenNumericTable::from_array(values, shape(2, 2)).unwrap();
    let vec = table.into_array().unwrap().try_into_vec().unwrap();
    assert_eq!((address(&vec), vec), (place, vec![1.0, 2.0, 3.0, 4.0]));
}

#[test]
fn into_array_returns_what_the_table_shows() {
    let table = HomogenNumericTable::from_array_with_spare_rows(vec![1, 2, 3, 4, 5, 6], shape(2, 2)).unwrap();
    assert_eq!(&table.into_array().unwrap()[..], [1, 2, 3, 4]);
    let slice = numbered::<u8>(3, 2, ColumnMajor).slice_rows(1..3).unwrap();
    assert_eq!(&slice.into_array().unwrap()[..], [3, 5, 4, 6]);
}

#[test]
fn into_array_without_memory_is_an_error() {
    assert_error!(HomogenNumericTable::<f32>::default().into_array(), ErrorKind::NotAllocated);
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
    assert_error!(view.slice_rows(1..3), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    assert_error!(view.slice_rows(backwards.clone()), ErrorKind::RowsOutOfRange { .. });
    assert_error!(
        view.slice_columns(0..4),
        ErrorKind::OutOfRange { what: "columns", range: std::ops::Range { start: 0, end: 4 }, count: 3, .. }
    );
    assert_error!(view.slice_columns(backwards), ErrorKind::OutOfRange { what: "columns", .. });
    assert_error!(table.view_mut().unwrap().set_value(2, 0, 1), ErrorKind::RowsOutOfRange { .. });
    assert_error!(table.view_mut().unwrap().set_value(usize::MAX, usize::MAX, 1), ErrorKind::RowsOutOfRange { .. });
    assert_error!(table.view_mut().unwrap().split_at_row(3), ErrorKind::RowsOutOfRange { .. });
}

#[test]
fn a_mutable_view_writes_the_table_in_place() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(2, 3, layout);
        let place = address(table.array().unwrap());
        let view: TableViewMut<'_, u8> = table.view_mut().unwrap();
        view.slice_columns(1..2).unwrap().fill(0);
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
    assert_error!(table.slice_rows(2..5), ErrorKind::RowsOutOfRange { rows, row_count: 4 } if *rows == (2..5));
    assert_error!(table.slice_rows(backwards), ErrorKind::RowsOutOfRange { .. });
    assert_error!(table.slice_rows(0..usize::MAX), ErrorKind::RowsOutOfRange { .. });
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
