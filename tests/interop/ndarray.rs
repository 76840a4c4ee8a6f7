//! Tables as `ndarray` arrays and back: the right values at the right places, and no copy where none is needed.
//!
//! That nothing was copied is proved by addresses; where values are copied, by their order. "Strided" below is a table
//! whose values have gaps between them.
//! Semantics: `src/interop/ndarray`; `ndarray`'s own indexing is what values are compared with.

use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, Slice, arr2, s};
use numeric_table::{
    interop::{CopyPolicy, NdarraySource},
    prelude::*,
    table::TableView,
};
use proptest::prelude::*;
use test_support::tables::LAYOUTS;
use test_support::{SmallNumber, for_each_element};

type Table<T> = HomogenNumericTable<T>;

/// `rows x 3`, counting in memory order.
fn three_columns<T: SmallNumber>(rows: u8, layout: DataLayout) -> Table<T> {
    Table::from_array_with_layout(T::counting(rows * 3), Shape { rows: rows.into(), columns: 3 }, layout).unwrap()
}

/// Compares a table with an array, value by value.
fn assert_same_values<T: Element>(table: &TableView<'_, T>, array: &ArrayView2<'_, T>) {
    let shape = table.shape();
    assert_eq!((shape.rows, shape.columns), array.dim());
    for ((row, column), &value) in array.indexed_iter() {
        assert_eq!(table.value(row, column), Some(value), "at row {row}, column {column}");
    }
}

/// Makes a table of an array, compares its values with the array's. Returns whether they were copied.
fn is_copied<T: Element>(array: Array2<T>, layout: DataLayout) -> bool {
    let (expected, address) = (array.to_owned(), array.as_ptr());
    let table = Table::from_ndarray(array).unwrap();
    assert_eq!(table.data_layout(), layout);
    assert_same_values(&table.view().unwrap(), &expected.view());
    let is_copied = table.as_slice().unwrap().as_ptr() != address;
    assert_eq!(table.data_memory_status() == MemoryStatus::InternallyAllocated, is_copied);
    is_copied
}

// --- tables as arrays ----------------------------------------------------------------------------------------------

#[test]
fn a_view_as_an_array_shows_the_memory_of_the_table_in_both_layouts() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            let table = three_columns::<T>(4, layout);
            let view = table.view().unwrap();
            let array = view.as_ndarray().unwrap();
            assert_same_values(&view, &array);
            assert_eq!(array.as_ptr(), table.as_slice().unwrap().as_ptr());
        }
    }
    for_each_element!(check);
}

#[test]
fn the_values_of_an_array_stand_in_their_rows_and_columns() {
    let by_rows = three_columns::<i32>(2, DataLayout::RowMajor);
    assert_eq!(by_rows.view().unwrap().as_ndarray().unwrap(), arr2(&[[0, 1, 2], [3, 4, 5]]));
    let by_columns = three_columns::<i32>(2, DataLayout::ColumnMajor);
    assert_eq!(by_columns.view().unwrap().as_ndarray().unwrap(), arr2(&[[0, 2, 4], [1, 3, 5]]));
}

#[test]
fn a_slice_of_rows_is_an_array_inside_the_memory_of_the_table() {
    for (layout, offset) in LAYOUTS.into_iter().zip([6, 2]) {
        let table = three_columns::<f32>(5, layout);
        let slice = table.slice_rows(2..4).unwrap();
        let view = slice.view().unwrap();
        let array = view.as_ndarray().unwrap();
        assert_same_values(&view, &array);
        assert_eq!(array.as_ptr(), table.as_slice().unwrap()[offset..].as_ptr());
    }
}

#[test]
fn some_columns_of_a_table_are_a_strided_array() {
    for (layout, offset) in LAYOUTS.into_iter().zip([1, 4]) {
        let table = three_columns::<u16>(4, layout);
        let view = table.view().unwrap().slice_columns(1..3).unwrap();
        let array = view.as_ndarray().unwrap();
        assert_same_values(&view, &array);
        assert_eq!(array.as_ptr(), table.as_slice().unwrap()[offset..].as_ptr());
    }
}

#[test]
fn a_transposed_view_is_the_transposed_array() {
    for layout in LAYOUTS {
        let table = three_columns::<i64>(4, layout);
        let view = table.view().unwrap();
        assert_eq!(view.transposed().as_ndarray().unwrap(), view.as_ndarray().unwrap().t());
    }
}

#[test]
fn a_table_with_spare_capacity_is_an_array_of_the_rows_that_it_has() {
    for layout in LAYOUTS {
        let mut table = three_columns::<u8>(5, layout);
        table.resize(2).unwrap();
        let view = table.view().unwrap();
        assert_same_values(&view, &view.as_ndarray().unwrap());
    }
}

#[test]
fn tables_without_values_are_arrays_of_their_shape() {
    for (rows, columns) in [(0, 0), (0, 3), (3, 0)] {
        for layout in LAYOUTS {
            let table =
                Table::<f64>::new_with_layout(Shape { rows, columns }, AllocationFlag::DoAllocate, layout).unwrap();
            assert_eq!(table.view().unwrap().as_ndarray().unwrap().dim(), (rows, columns));
            assert_eq!(table.rows::<f32>(0..rows).unwrap().as_ndarray().unwrap().dim(), (rows, columns));
        }
    }
    let none = three_columns::<f64>(4, DataLayout::ColumnMajor).slice_rows(4..4).unwrap();
    assert_eq!(none.view().unwrap().as_ndarray().unwrap().dim(), (0, 3));
    assert_eq!(Table::<f64>::default().view().unwrap().as_ndarray().unwrap().dim(), (0, 0));
}

#[test]
fn a_shape_that_an_array_cannot_have_is_an_error() {
    let shape = Shape { rows: usize::MAX, columns: 0 };
    let table = Table::<f32>::new(shape, AllocationFlag::DoAllocate).unwrap();
    assert!(
        table.view().unwrap().as_ndarray().is_err_and(|error| matches!(error.kind(), ErrorKind::SizeOverflow { .. }))
    );
}

#[test]
fn one_row_and_one_column_are_arrays_in_both_layouts() {
    for layout in LAYOUTS {
        for shape in [Shape { rows: 1, columns: 4 }, Shape { rows: 4, columns: 1 }, Shape { rows: 1, columns: 1 }] {
            let values = [1_u32, 2, 3, 4][..shape.element_count().unwrap()].to_vec();
            let table = Table::from_array_with_layout(values, shape, layout).unwrap();
            let view = table.view().unwrap();
            let array = view.as_ndarray().unwrap();
            assert_same_values(&view, &array);
            assert_eq!(array.as_ptr(), table.as_slice().unwrap().as_ptr());
        }
    }
}

#[test]
fn an_array_lives_as_long_as_the_table_and_not_only_as_its_view() {
    let table = three_columns::<f32>(2, DataLayout::RowMajor);
    let array = {
        let view = table.view().unwrap();
        view.as_ndarray().unwrap()
    };
    assert_eq!(array.sum_axis(Axis(0)).to_vec(), [3.0, 5.0, 7.0]);
}

#[test]
fn a_zero_copy_block_of_rows_is_an_array_on_the_memory_of_the_table() {
    let table = three_columns::<f32>(4, DataLayout::RowMajor);
    let block = table.rows::<f32>(1..3).unwrap();
    let array = block.as_ndarray().unwrap();
    assert_eq!(array, arr2(&[[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]));
    assert_eq!(array.as_ptr(), table.as_slice().unwrap()[3..].as_ptr());
}

#[test]
fn a_converted_block_of_rows_is_an_array_of_the_type_that_was_asked_for() {
    for (layout, expected) in LAYOUTS.into_iter().zip([[[3.0, 4.0, 5.0]], [[1.0, 4.0, 7.0]]]) {
        let table = three_columns::<u8>(3, layout);
        let block = table.rows::<f64>(1..2).unwrap();
        assert_eq!(block.as_ndarray().unwrap(), arr2(&expected));
    }
}

// --- arrays as tables ----------------------------------------------------------------------------------------------

#[test]
fn a_standard_array_becomes_a_row_major_table_without_a_copy() {
    fn check<T: SmallNumber>() {
        let array = Array2::from_shape_vec((4, 3), T::counting(12)).unwrap();
        assert!(!is_copied(array, DataLayout::RowMajor));
    }
    for_each_element!(check);
}

#[test]
fn a_fortran_array_becomes_a_column_major_table_without_a_copy() {
    fn check<T: SmallNumber>() {
        let array = Array2::from_shape_vec((4, 3).f(), T::counting(12)).unwrap();
        assert!(!is_copied(array, DataLayout::ColumnMajor));
    }
    for_each_element!(check);
}

#[test]
fn a_transposed_array_becomes_a_table_of_the_other_layout_without_a_copy() {
    let array = Array2::from_shape_vec((4, 3), u8::counting(12)).unwrap();
    assert!(!is_copied(array.reversed_axes(), DataLayout::ColumnMajor));
}

#[test]
fn whole_rows_or_columns_inside_of_an_array_are_not_copied() {
    let by_rows = || Array2::from_shape_vec((5, 3), i16::counting(15)).unwrap();
    let by_columns = || Array2::from_shape_vec((3, 5).f(), i16::counting(15)).unwrap();
    assert!(!is_copied(by_rows().slice_move(s![2..4, ..]), DataLayout::RowMajor));
    assert!(!is_copied(by_rows().slice_move(s![..2, ..]), DataLayout::RowMajor));
    assert!(!is_copied(by_columns().slice_move(s![.., 2..4]), DataLayout::ColumnMajor));
    assert!(!is_copied(by_columns().slice_move(s![.., ..2]), DataLayout::ColumnMajor));
}

#[test]
fn an_array_with_gaps_is_copied_by_rows() {
    fn check<T: SmallNumber>() {
        let array = || Array2::from_shape_vec((6, 4), T::counting(24)).unwrap();
        assert!(is_copied(array().slice_move(s![1..5, 1..3]), DataLayout::RowMajor));
        assert!(is_copied(array().slice_move(s![..;2, ..]), DataLayout::RowMajor));
        assert!(is_copied(array().slice_move(s![.., ..;3]), DataLayout::RowMajor));
        let by_columns = Array2::from_shape_vec((6, 4).f(), T::counting(24)).unwrap();
        assert!(is_copied(by_columns.slice_move(s![1..5, 1..3]), DataLayout::RowMajor));
    }
    for_each_element!(check);
}

#[test]
fn an_array_with_negative_strides_is_copied_in_the_order_that_it_shows() {
    let array = || Array2::from_shape_vec((3, 2), vec![1, 2, 3, 4, 5, 6]).unwrap();
    let upside_down = Table::from_ndarray(array().slice_move(s![..;-1, ..])).unwrap();
    assert_eq!(upside_down.as_slice().unwrap(), [5, 6, 3, 4, 1, 2]);
    let mirrored = Table::from_ndarray(array().slice_move(s![.., ..;-1])).unwrap();
    assert_eq!(mirrored.as_slice().unwrap(), [2, 1, 4, 3, 6, 5]);
    let both = Table::from_ndarray(array().slice_move(s![..;-1, ..;-1])).unwrap();
    assert_eq!(both.as_slice().unwrap(), [6, 5, 4, 3, 2, 1]);
    let strided = Table::from_ndarray(array().slice_move(s![..;-2, ..])).unwrap();
    assert_eq!(strided.as_slice().unwrap(), [5, 6, 1, 2]);
    let transposed = Table::from_ndarray(array().slice_move(s![..;-1, ..]).reversed_axes()).unwrap();
    assert_eq!(transposed.rows::<i32>(0..2).unwrap()[..], [5, 3, 1, 6, 4, 2]);
}

#[test]
fn one_value_of_an_array_with_any_strides_is_that_value() {
    let array = || Array2::from_shape_vec((3, 4), (0..12).collect()).unwrap();
    for value in [
        array().slice_move(s![1..2, 2..3]),
        array().slice_move(s![1..2;-1, 2..3;-1]),
        array().slice_move(s![1..;5, 2..;7]),
        array().reversed_axes().slice_move(s![2..3;-1, 1..2]),
    ] {
        assert_eq!(Table::from_ndarray(value).unwrap().as_slice().unwrap(), [6]);
    }
}

#[test]
fn one_row_or_column_of_an_array_has_its_own_values() {
    let array = || Array2::from_shape_vec((3, 4), (0..12).collect::<Vec<i8>>()).unwrap();
    let row = Table::from_ndarray(array().slice_move(s![1..2, ..])).unwrap();
    assert_eq!(row.rows::<i8>(0..1).unwrap()[..], [4, 5, 6, 7]);
    let column = Table::from_ndarray(array().slice_move(s![.., 3..4])).unwrap();
    assert_eq!(column.rows::<i8>(0..3).unwrap()[..], [3, 7, 11]);
    let reversed = Table::from_ndarray(array().slice_move(s![1..2, ..;-1])).unwrap();
    assert_eq!(reversed.rows::<i8>(0..1).unwrap()[..], [7, 6, 5, 4]);
}

#[test]
fn arrays_without_values_become_tables_of_their_shape() {
    for (rows, columns) in [(0, 0), (0, 3), (3, 0)] {
        for array in [Array2::<f32>::zeros((rows, columns)), Array2::zeros((rows, columns).f())] {
            let table = Table::from_ndarray(array).unwrap();
            assert_eq!(table.shape(), Shape { rows, columns });
            assert!(table.as_slice().unwrap().is_empty());
        }
    }
    let array = || Array2::from_shape_vec((3, 4), u16::counting(12)).unwrap();
    for (cut, shape) in [
        (array().slice_move(s![3..3, ..]), Shape { rows: 0, columns: 4 }),
        (array().slice_move(s![.., 4..4]), Shape { rows: 3, columns: 0 }),
        (array().slice_move(s![1..1;-1, 2..2]), Shape { rows: 0, columns: 0 }),
    ] {
        assert_eq!(Table::from_ndarray(cut).unwrap().shape(), shape);
    }
}

#[test]
fn a_table_from_an_array_is_written_in_place() {
    let array = arr2(&[[1_i32, 2], [3, 4]]);
    let address = array.as_ptr();
    let mut table = Table::from_ndarray(array).unwrap();
    table.as_mut_slice().unwrap()[3] = 9;
    assert_eq!((table.as_slice().unwrap(), table.as_slice().unwrap().as_ptr()), (&[1, 2, 3, 9][..], address));
}

#[test]
fn the_vec_of_an_array_comes_back_out_of_its_table() {
    let array = Array2::from_shape_vec((2, 3), f64::counting(6)).unwrap();
    let address = array.as_ptr();
    let values = Table::from_ndarray(array).unwrap().into_array().unwrap().try_into_vec().unwrap();
    assert_eq!((values.as_ptr(), values), (address, f64::counting(6)));
}

#[test]
fn an_array_that_was_a_table_is_the_same_table_again() {
    for layout in LAYOUTS {
        let table = three_columns::<f32>(4, layout);
        let owned = table.view().unwrap().as_ndarray().unwrap().to_owned();
        assert_eq!(Table::from_ndarray(owned).unwrap(), table);
    }
}

// --- writing through arrays ----------------------------------------------------------------------------------------

#[test]
fn an_array_that_lends_some_columns_for_writing_writes_those_only() {
    for layout in LAYOUTS {
        let mut table = three_columns::<i16>(4, layout);
        let mut expected = table.view().unwrap().as_ndarray().unwrap().to_owned();
        let view = table.view_mut().unwrap().slice_rows(1..3).unwrap().slice_columns(1..2).unwrap();
        view.into_ndarray().unwrap().fill(-1);
        expected.slice_mut(s![1..3, 1..2]).fill(-1);
        assert_eq!(table.view().unwrap().as_ndarray().unwrap(), expected);
    }
}

#[test]
fn two_halves_of_a_table_are_written_as_two_arrays_at_once() {
    for layout in LAYOUTS {
        let mut table = three_columns::<f64>(5, layout);
        let (head, tail) = table.view_mut().unwrap().split_at_row(2).unwrap();
        let (mut head, mut tail) = (head.into_ndarray().unwrap(), tail.into_ndarray().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| head.fill(1.0));
            scope.spawn(|| tail.fill(2.0));
        });
        let sums = table.view().unwrap().as_ndarray().unwrap().sum_axis(Axis(1));
        assert_eq!(sums.to_vec(), [3.0, 3.0, 6.0, 6.0, 6.0]);
    }
}

#[test]
fn what_is_written_through_the_array_of_a_block_goes_into_the_table() {
    let mut table = three_columns::<u8>(4, DataLayout::ColumnMajor);
    let mut block = table.rows_mut::<f32>(1..3).unwrap();
    block.as_ndarray_mut().unwrap().row_mut(1).fill(100.0);
    assert_eq!(block.as_ndarray().unwrap().row(1).to_vec(), [100.0; 3]);
    block.release().unwrap();
    assert_eq!(table.rows::<u8>(2..4).unwrap()[..], [100, 100, 100, 3, 7, 11]);
}

#[test]
fn writing_a_table_on_shared_values_leaves_the_array_alone() {
    let shared = Array2::from_shape_vec((2, 2), vec![1, 2, 3, 4]).unwrap().into_shared();
    let mut table = Table::from_ndarray(shared.clone()).unwrap();
    table.as_mut_slice().unwrap().fill(0);
    assert_eq!(shared, arr2(&[[1, 2], [3, 4]]));
    let mut other = shared.clone();
    let table = Table::from_ndarray(shared).unwrap();
    other.fill(9); // copies, because the table has a share
    assert_eq!(table.as_slice().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn values_keep_their_bits_on_the_way_in_and_out() {
    // A signalling NaN, a NaN, -0.0, a subnormal.
    let odd = [0x7FA0_0001, 0xFFC0_1234, 0x8000_0000, 1].map(f32::from_bits);
    let array = Array2::from_shape_vec((2, 2), odd.to_vec()).unwrap();
    for array in [array.clone(), array.clone().reversed_axes(), array.clone().slice_move(s![..;-1, ..])] {
        let expected: Vec<u32> = array.iter().map(|value| value.to_bits()).collect();
        let table = Table::from_ndarray(&array).unwrap();
        let back = table.to_ndarray().unwrap();
        assert_eq!(back.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn tables_without_rows_or_columns_are_lent_for_writing() {
    for layout in LAYOUTS {
        for (rows, columns) in [(0, 0), (0, 1), (0, 3), (1, 0), (3, 0)] {
            let mut table = Table::from_array_with_layout(Vec::<u16>::new(), Shape { rows, columns }, layout).unwrap();
            assert_eq!(table.view_mut().unwrap().into_ndarray().unwrap().dim(), (rows, columns));
        }
        let mut table = three_columns::<u16>(4, layout);
        for (rows, columns) in [(0..4, 1..1), (2..2, 0..3), (1..4, 3..3), (4..4, 3..3)] {
            let lengths = (rows.len(), columns.len());
            let view = table.view_mut().unwrap().slice_rows(rows).unwrap().slice_columns(columns).unwrap();
            assert_eq!(view.into_ndarray().unwrap().dim(), lengths);
        }
    }
}

#[test]
fn a_table_of_whole_rows_of_an_array_is_written_in_place() {
    let array = Array2::from_shape_vec((4, 3), (0..12).collect()).unwrap().slice_move(s![1..3, ..]);
    let address = array.as_ptr();
    let mut table = Table::<i32>::from_ndarray(array).unwrap();
    table.as_mut_slice().unwrap()[0] = -1;
    assert_eq!((table.as_slice().unwrap().as_ptr(), table.value::<i32>(0, 0).unwrap()), (address, -1));
}

// --- any strides ---------------------------------------------------------------------------------------------------

/// Cuts, steps over, turns round: what becomes of one axis.
fn any_slice(length: usize) -> impl Strategy<Value = Slice> {
    (0..=length, 0..=length, prop_oneof![-3_isize..=-1, 1_isize..=3])
        .prop_map(|(one, other, step)| Slice::new(one.min(other) as isize, Some(one.max(other) as isize), step))
}

fn any_array() -> impl Strategy<Value = Array2<i32>> {
    (0_usize..7, 0_usize..7).prop_flat_map(|(rows, columns)| {
        (any_slice(rows), any_slice(columns), any::<[bool; 2]>()).prop_map(
            move |(row_slice, column_slice, [is_fortran, is_turned])| {
                let values = (0..(rows * columns) as i32).collect();
                let mut array = Array2::from_shape_vec((rows, columns).set_f(is_fortran), values).unwrap();
                array.slice_axis_inplace(Axis(0), row_slice);
                array.slice_axis_inplace(Axis(1), column_slice);
                if is_turned { array.reversed_axes() } else { array }
            },
        )
    })
}

proptest! {
    #[test]
    fn arrays_with_any_strides_become_tables_of_the_same_values(array in any_array()) {
        fn check<A: NdarraySource<i32> + Clone>(array: &A, expected: &Array2<i32>) -> Result<(), TestCaseError> {
            for policy in [CopyPolicy::Never, CopyPolicy::IfNeeded, CopyPolicy::Always] {
                match (Table::from_ndarray_with(array.clone(), policy).map_err(Error::into_kind), array.copy_reason()) {
                    (Err(ErrorKind::CopyRequired { reason }), expected) if policy == CopyPolicy::Never => {
                        prop_assert_eq!(Some(reason), expected);
                    }
                    (table, reason) => {
                        let table = table.unwrap();
                        prop_assert!(policy != CopyPolicy::Never || reason.is_none());
                        let back = table.view().unwrap();
                        prop_assert_eq!(back.as_ndarray().unwrap(), expected);
                        prop_assert_eq!(&table.to_ndarray().unwrap(), expected);
                    }
                }
            }
            Ok(())
        }
        let shared = array.clone().into_shared();
        check(&array, &array)?;
        check(&shared, &array)?;
        check(&array.view(), &array)?;
        check(&&array, &array)?;
    }

    #[test]
    fn parts_of_tables_as_arrays_read_and_write_their_own_values(
        cuts in any::<[proptest::sample::Index; 4]>(), (rows, columns) in (0_usize..7, 0_usize..7), is_by_rows: bool,
    ) {
        let layout = if is_by_rows { DataLayout::RowMajor } else { DataLayout::ColumnMajor };
        let shape = Shape { rows, columns };
        let mut table = Table::from_array_with_layout((0..(rows * columns) as i32).collect::<Vec<_>>(), shape, layout).unwrap();
        let range = |one: usize, other: usize, length: usize| {
            let (one, other) = (cuts[one].index(length + 1), cuts[other].index(length + 1));
            one.min(other)..one.max(other)
        };
        let (row_range, column_range) = (range(0, 1, rows), range(2, 3, columns));
        let mut expected = table.to_ndarray().unwrap();
        let view = table.view().unwrap().slice_rows(row_range.clone()).unwrap().slice_columns(column_range.clone()).unwrap();
        prop_assert_eq!(view.as_ndarray().unwrap(), expected.slice(s![row_range.clone(), column_range.clone()]));
        let view = table.view_mut().unwrap().slice_rows(row_range.clone()).unwrap().slice_columns(column_range.clone()).unwrap();
        view.into_ndarray().unwrap().mapv_inplace(|value| -1 - value);
        expected.slice_mut(s![row_range, column_range]).mapv_inplace(|value| -1 - value);
        prop_assert_eq!(table.to_ndarray().unwrap(), expected);
    }
}
