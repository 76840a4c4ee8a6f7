//! Borrowed values as tables: slices, views, arrays of `ndarray`.

use numeric_table::table::{by_mut, spi::TableKind};
use numeric_table::{
    MergedNumericTable,
    prelude::*,
    statistics::BasicStatistics,
    table::{BorrowedTable, BorrowedTableMut, TableViewMut},
};
use test_support::tables::{address, assert_error, shape};
use test_support::{SmallNumber, for_each_element};

/// The guide's third scenario: `float data[nColumns * nRows]; HomogenNumericTable<float> table(data, nColumns, nRows)`.
#[test]
fn a_slice_is_a_table_for_as_long_as_it_is_borrowed() {
    let mut data = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let start = address(&data);
    let table = BorrowedTable::new(&data, shape(2, 3)).unwrap();
    assert_eq!((table.shape(), table.data_memory_status()), (shape(2, 3), MemoryStatus::UserAllocated));
    let rows = table.rows::<f32>(..).unwrap();
    assert!(rows.is_zero_copy() && address(&rows) == start);
    assert_eq!(table.column::<i64>(1, ..).unwrap()[..], [2, 5]);
    assert_eq!(BasicStatistics::compute(&table).unwrap().per_column()[2].mean(), 4.5);
    drop(rows);
    drop(table);

    let mut table = BorrowedTableMut::new(&mut data, shape(2, 3)).unwrap();
    let mut rows = table.rows_mut::<f32>(1..).unwrap();
    assert!(rows.is_zero_copy() && address(&rows) == start + 12);
    rows.fill(7.0);
    rows.release().unwrap();
    table.set_value(0, 0, -1_i8).unwrap();
    assert_error!(table.set_value(0, 0, 1e300), ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
    assert_eq!(data, [-1.0, 2.0, 3.0, 7.0, 7.0, 7.0]);
}

#[test]
fn a_table_that_is_borrowed_for_reading_refuses_every_writer() {
    let data = [1_u8, 2, 3, 4];
    let mut table = BorrowedTable::new(&data, shape(2, 2)).unwrap();
    assert_error!(table.rows_mut::<u8>(..), ErrorKind::ReadOnlyTable);
    assert_error!(table.column_mut::<f64>(0, ..), ErrorKind::ReadOnlyTable);
    assert_error!(table.set_value(0, 0, 9), ErrorKind::ReadOnlyTable);
    assert_error!(table.fill(9), ErrorKind::ReadOnlyTable);
    assert_error!(table.row_blocks_mut::<u8>(1).map(drop), ErrorKind::ReadOnlyTable);
    assert_error!(table.resize(1), ErrorKind::ReadOnlyTable);
    let mut block = BlockDescriptor::<u8>::new();
    assert_error!(table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block), ErrorKind::ReadOnlyTable);
    table.get_block_of_rows(1, 1, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [3, 4]);
    let names = ["a", "b"].map(|name| Feature::new(ElementType::U8).named(name));
    table.set_dictionary(names.into_iter().collect()).unwrap(); // the table's own
    assert_eq!(table.dictionary().index_of("b"), Some(1));
    assert_eq!((table.kind(), table.as_any().is_none()), (TableKind::CUSTOM, true));
    assert_eq!(data, [1, 2, 3, 4]);
}

#[test]
fn every_element_type_is_borrowed_in_every_layout_and_shape() {
    fn check<T: SmallNumber>() {
        let mut values = (1..=12).map(T::small).collect::<Vec<T>>();
        for size in [shape(3, 4), shape(1, 12), shape(12, 1), shape(0, 5), shape(5, 0), shape(0, 0)] {
            let count = size.rows * size.columns;
            let table = BorrowedTable::new(&values[..count], size).unwrap();
            assert_eq!(
                (table.shape(), table.uniform_type(), table.data_layout()),
                (size, Some(T::TYPE), DataLayout::RowMajor)
            );
            assert_eq!(table.rows::<T>(..).unwrap()[..], values[..count]);
            let view = TableView::new(&values[..count], size, DataLayout::ColumnMajor).unwrap();
            let table = BorrowedTable::from(view);
            let expected = (0..size.rows).flat_map(|row| (0..size.columns).map(move |column| (row, column)));
            let expected = expected.map(|(row, column)| view.value(row, column).unwrap()).collect::<Vec<_>>();
            assert_eq!(table.rows::<T>(..).unwrap()[..], expected);
            assert_eq!(table.view().shape(), size);
        }
        let view = TableViewMut::new(&mut values, shape(3, 4), DataLayout::ColumnMajor).unwrap();
        let mut table = BorrowedTableMut::from(view);
        assert_eq!(table.data_layout(), DataLayout::ColumnMajor);
        assert!(table.column::<T>(3, ..).unwrap().is_zero_copy());
        table
            .update_column::<f64, _>(3, .., |column| {
                column.iter_mut().for_each(|value| *value += 1.0);
                Ok(())
            })
            .unwrap();
        assert_eq!(values[9..], [11, 12, 13].map(T::small));
    }
    for_each_element!(T => check::<T>());
}

#[test]
fn a_slice_of_another_length_is_no_table() {
    let mut values = [1_i16; 6];
    assert_error!(BorrowedTable::new(&values, shape(2, 4)), ErrorKind::ArrayLength { have: 6, need: 8, .. });
    assert_error!(BorrowedTable::new(&values, shape(2, 2)), ErrorKind::ArrayLength { have: 6, need: 4, .. });
    assert_error!(BorrowedTable::new(&values, shape(usize::MAX, 2)), ErrorKind::SizeOverflow { .. });
    assert_error!(
        BorrowedTableMut::new(&mut values, shape(4, 2)),
        ErrorKind::ArrayLength { have, need } if have < need
    );
}

#[test]
fn borrowed_values_are_part_of_other_tables_and_written_through_them() {
    let (mut lengths, mut counts) = (vec![1.5_f32, 2.5], [7_u8, 8]);
    let mut first = BorrowedTableMut::new(&mut lengths, shape(2, 1)).unwrap();
    let second = BorrowedTableMut::new(&mut counts, shape(2, 1)).unwrap();
    let mut table = MergedNumericTable::new([by_mut(&mut first), Box::new(second)]).unwrap();
    table
        .update_rows::<f64, _>(.., |block| {
            block.iter_mut().for_each(|value| *value *= 2.0);
            Ok(())
        })
        .unwrap();
    drop(table);
    first.into_view().fill(0.25);
    assert_eq!((lengths, counts), (vec![0.25; 2], [14, 16]));
}

#[cfg(feature = "ndarray")]
mod arrays {
    use super::*;
    use ndarray::{Array2, ArrayView2, array, s};

    #[test]
    fn a_view_of_any_strides_but_negative_ones_is_a_table_without_a_copy() {
        let numbers = Array2::from_shape_fn((6, 8), |(row, column)| (10 * row + column) as i32);
        let slices = [
            numbers.view(),
            numbers.t(),
            numbers.slice(s![1..5, 2..7]),
            numbers.slice(s![..;2, ..;3]),
            numbers.slice(s![2..3, ..;2]),
            numbers.slice(s![.., 4..5]),
            numbers.slice(s![3..4, 3..4]),
            numbers.slice(s![2..2, ..]),
            numbers.slice(s![.., 5..5]),
            numbers.slice(s![..1;-1, ..]), // one row has no direction
            numbers.slice(s![.., 7..8;-1]),
        ];
        for view in slices {
            let table = BorrowedTable::try_from(view).unwrap();
            assert_eq!(table.shape(), shape(view.nrows(), view.ncols()));
            assert!(table.rows::<i32>(..).unwrap().iter().eq(view.iter()));
            assert!(table.rows::<f64>(..).unwrap().iter().copied().eq(view.iter().map(|&number| f64::from(number))));
            for column in 0..view.ncols() {
                assert!(table.column::<i32>(column, ..).unwrap().iter().eq(view.column(column)));
            }
        }
        let table = BorrowedTable::try_from(numbers.slice(s![2.., ..])).unwrap();
        let rows = table.rows::<i32>(1..).unwrap();
        assert!(rows.is_zero_copy() && std::ptr::eq(rows.as_ptr(), numbers.row(3).as_ptr()));
        assert_eq!(TableView::try_from(numbers.t()).unwrap().strides(), (1, 8));
    }

    #[test]
    fn a_view_that_runs_backwards_is_an_error_that_names_its_strides() {
        let mut numbers = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        assert_error!(TableView::try_from(numbers.slice(s![..;-1, ..])), ErrorKind::MemoryLayout { .. }, "strides");
        assert_error!(BorrowedTable::try_from(numbers.slice(s![.., ..;-1])), ErrorKind::MemoryLayout { .. }, "strides");
        let backwards = TableViewMut::try_from(numbers.slice_mut(s![..;-2, ..]));
        assert_error!(backwards, ErrorKind::MemoryLayout { .. }, "strides");
        assert_error!(
            BorrowedTableMut::try_from(numbers.slice_mut(s![..;-1, ..])),
            ErrorKind::MemoryLayout { .. },
            "strides"
        );
    }

    #[test]
    fn a_broadcast_view_repeats_its_values() {
        let row = ndarray::arr1(&[1_u8, 2, 3]);
        let table = BorrowedTable::try_from(row.broadcast((4, 3)).unwrap()).unwrap();
        assert_eq!(table.rows::<u8>(..).unwrap()[..], [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
        assert_eq!(table.rows::<f32>(2..3).unwrap()[..], [1.0, 2.0, 3.0]);
        let one = ndarray::arr0(7_i64);
        let table = BorrowedTable::try_from(one.broadcast((2, 1000)).unwrap()).unwrap();
        assert!(table.rows::<i16>(..).unwrap().iter().all(|&value| value == 7));
        // More positions than memory has bytes: as a table, but not as a copy of it.
        let rows = isize::MAX as usize / 2;
        let table = BorrowedTable::try_from(one.broadcast((rows, 2)).unwrap()).unwrap();
        assert_eq!((table.shape(), table.value::<u8>(rows - 1, 1).unwrap()), (shape(rows, 2), 7));
        assert_error!(table.rows::<f64>(..), ErrorKind::SizeOverflow { .. });
        if usize::BITS > 32 {
            assert!(table.rows::<u8>(..).is_err()); // 2 GiB with 32 bits, which there may be
        }
    }

    #[test]
    fn a_mutable_view_is_written_where_it_is_and_nowhere_else() {
        let mut numbers = Array2::<f32>::zeros((5, 7));
        let view = numbers.slice_mut(s![1..;2, 1..;3]);
        let mut table = BorrowedTableMut::try_from(view).unwrap();
        assert_eq!(table.shape(), shape(2, 2));
        table
            .update_rows::<f64, _>(.., |block| {
                block.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
                Ok(())
            })
            .unwrap();
        table.set_value(1, 1, 40_u8).unwrap();
        for block in table.row_blocks_mut::<f32>(1).unwrap() {
            let mut block = block.unwrap();
            block[0] += 0.5;
            block.release().unwrap();
        }
        let mut expected = Array2::<f32>::zeros((5, 7));
        expected.slice_mut(s![1..;2, 1..;3]).assign(&array![[1.5, 2.0], [3.5, 40.0]]);
        assert_eq!(numbers, expected);
        let mut view = TableViewMut::try_from(numbers.view_mut().reversed_axes()).unwrap();
        view.set_value(0, 4, 9.0).unwrap();
        assert_eq!(numbers[(4, 0)], 9.0);
    }

    #[test]
    fn views_go_to_ndarray_and_back() {
        let numbers = Array2::from_shape_fn((4, 3), |(row, column)| (row * 3 + column) as u16);
        let view = numbers.slice(s![..;2, 1..]);
        let back = ArrayView2::try_from(TableView::try_from(view).unwrap()).unwrap();
        assert_eq!((back, back.strides(), back.as_ptr()), (view, view.strides(), view.as_ptr()));
    }
}
