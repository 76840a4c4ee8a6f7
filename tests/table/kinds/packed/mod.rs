//! Packed symmetric and triangular matrices.

mod values;

use numeric_table::convert::WriteRule;
use numeric_table::table::{
    Rejected, by_ref,
    spi::{Region, TableKind, Target},
};
use numeric_table::{
    AnyArray, AnyValue, CsrNumericTable, MergedNumericTable, PackedSymmetricMatrix, PackedTriangularMatrix,
    SoaNumericTable,
    array::{AnySlice, AnySliceMut},
    prelude::*,
    table::Triangle,
};
use proptest::prelude::*;
use test_support::bits::{Random, bits, special_values};
use test_support::tables::{address, assert_error, shape};
use test_support::{SmallNumber, for_each_element};

use crate::kinds::Boxed;
use crate::kinds::square::{Case, Half, SIDE, square_conformance};

const TRIANGLES: [Triangle; 2] = [Triangle::Upper, Triangle::Lower];
const ORDERS: [DataLayout; 2] = [DataLayout::RowMajor, DataLayout::ColumnMajor];

/// The index of a stored cell, by the formulas of DAAL (by rows) and LAPACK (by columns).
fn index(n: usize, triangle: Triangle, order: DataLayout, i: usize, j: usize) -> Option<usize> {
    match (triangle, order) {
        (Triangle::Upper, DataLayout::RowMajor) => (i <= j).then(|| (2 * n - i) * (i + 1) / 2 - (n - j)),
        (Triangle::Lower, DataLayout::RowMajor) => (j <= i).then(|| i * (i + 1) / 2 + j),
        (Triangle::Upper, DataLayout::ColumnMajor) => (i <= j).then(|| i + j * (j + 1) / 2),
        (Triangle::Lower, DataLayout::ColumnMajor) => (i >= j).then(|| i + j * (2 * n - j - 1) / 2),
    }
}

/// The full matrix of packed values, row by row.
fn full<T: Element>(values: &[T], n: usize, triangle: Triangle, order: DataLayout, half: Half) -> Vec<T> {
    let cell = |i, j| index(n, triangle, order, i, j).map(|index| values[index]);
    let other = |i, j| match half {
        Half::Mirrored => cell(j, i).unwrap(),
        Half::Zero(_) => T::default(),
    };
    (0..n * n).map(|at| (at / n, at % n)).map(|(i, j)| cell(i, j).unwrap_or_else(|| other(i, j))).collect()
}

fn counted<T: SmallNumber>(n: usize) -> Vec<T> {
    (1..=n * (n + 1) / 2).map(|number| T::small(number as u8)).collect()
}

fn case<'c>(make: &'c dyn Fn() -> Boxed, triangle: Triangle, order: DataLayout, half: Half) -> Case<'c> {
    Case { make, numbers: full(&counted::<u8>(SIDE), SIDE, triangle, order, half), half }
}

macro_rules! packed_case {
    (symmetric $T:ty, $triangle:ident, $order:ident) => {
        case(
            &|| Box::new(symmetric(counted::<$T>(SIDE), Triangle::$triangle, DataLayout::$order)),
            Triangle::$triangle,
            DataLayout::$order,
            Half::Mirrored,
        )
    };
    (triangular $T:ty, $triangle:ident, $order:ident) => {
        case(
            &|| Box::new(triangular(counted::<$T>(SIDE), Triangle::$triangle, DataLayout::$order)),
            Triangle::$triangle,
            DataLayout::$order,
            Half::Zero(Triangle::$triangle),
        )
    };
}

fn symmetric(values: impl Into<AnyArray>, triangle: Triangle, order: DataLayout) -> PackedSymmetricMatrix {
    PackedSymmetricMatrix::from_packed(values, triangle, order).unwrap()
}

fn triangular(values: impl Into<AnyArray>, triangle: Triangle, order: DataLayout) -> PackedTriangularMatrix {
    PackedTriangularMatrix::from_packed(values, triangle, order).unwrap()
}

square_conformance!(symmetric_upper_by_rows, packed_case!(symmetric f32, Upper, RowMajor));
square_conformance!(symmetric_lower_by_rows, packed_case!(symmetric f64, Lower, RowMajor));
square_conformance!(symmetric_upper_by_columns, packed_case!(symmetric i16, Upper, ColumnMajor));
square_conformance!(symmetric_lower_by_columns, packed_case!(symmetric u8, Lower, ColumnMajor));
square_conformance!(triangular_upper_by_rows, packed_case!(triangular i64, Upper, RowMajor));
square_conformance!(triangular_lower_by_rows, packed_case!(triangular f64, Lower, RowMajor));
square_conformance!(triangular_upper_by_columns, packed_case!(triangular numeric_table::f16, Upper, ColumnMajor));
square_conformance!(triangular_lower_by_columns, packed_case!(triangular i8, Lower, ColumnMajor));

/// DAAL's case: lower, 5 x 5, 0.0, 0.1 .. 1.4 by rows.
#[test]
fn daals_matrix_is_read_and_written() {
    let values = || (0..15).map(|number| f64::from(number) / 10.0).collect::<Vec<_>>();
    let mut matrix = symmetric(values(), Triangle::Lower, DataLayout::RowMajor);
    assert_eq!(matrix.rows::<f64>(2..3).unwrap()[..], [0.3, 0.4, 0.5, 0.8, 1.2]);
    let mut column = matrix.column_mut::<f64>(2, ..).unwrap();
    (column[1], column[3]) = (-1.0, -2.0);
    column.release().unwrap();
    assert_eq!((matrix.packed::<f64>().unwrap()[4], matrix.packed::<f64>().unwrap()[8]), (-1.0, -2.0));

    let mut matrix = triangular(values(), Triangle::Lower, DataLayout::RowMajor);
    assert_eq!(matrix.rows::<f64>(2..3).unwrap()[..], [0.3, 0.4, 0.5, 0.0, 0.0]);
    let edit = |matrix: &mut PackedTriangularMatrix, changes: &[(usize, f64)]| {
        matrix.update_column::<f64, _>(2, .., |column| {
            changes.iter().for_each(|&(row, value)| column[row] = value);
            Ok(())
        })
    };
    // DAAL drops the first of the two without a word.
    assert_error!(
        edit(&mut matrix, &[(1, -1.0), (3, -2.0)]),
        ErrorKind::NotStored { row: 1, column: 2, value: Some(value), .. } if *value == (-1.0_f64).into()
    );
    assert_eq!(matrix.packed::<f64>().unwrap(), values());
    edit(&mut matrix, &[(3, -2.0)]).unwrap();
    assert_eq!(matrix.packed::<f64>().unwrap()[8], -2.0);
}

/// DAAL keeps the later of two values, and loses a change to the upper copy alone.
#[test]
fn a_change_to_one_of_two_cells_is_an_error_that_names_both_and_a_change_to_both_is_written() {
    for order in ORDERS {
        let mut matrix = symmetric(vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], Triangle::Lower, order);
        let before = matrix.packed::<f32>().unwrap().to_vec();
        for (cell, other) in [((0, 2), (2, 0)), ((2, 0), (0, 2))] {
            let old = matrix.value::<f32>(0, 2).unwrap();
            let refused = matrix.update_rows::<f64, _>(.., |block| {
                block.row_mut(cell.0)[cell.1] = 40.0;
                Ok(())
            });
            let error = refused.unwrap_err();
            let (first, second) = if cell.0 < other.0 { (40.0, old) } else { (old, 40.0) };
            let expected = format!(
                "the value {first} at row 0, column 2 differs from {second} at row 2, column 0: the matrix is symmetric"
            );
            assert_eq!(error.to_string(), expected);
            assert_eq!(matrix.packed::<f32>().unwrap(), before);
        }
        matrix
            .update_rows::<f64, _>(.., |block| {
                block.row_mut(0)[2] = 40.0;
                block.row_mut(2)[0] = 40.0;
                Ok(())
            })
            .unwrap();
        assert_eq!((matrix.get(0, 2).unwrap(), matrix.get(2, 0).unwrap()), (40.0_f32.into(), 40.0_f32.into()));
        // A block without the other cell decides alone.
        matrix
            .update_rows::<f64, _>(..1, |block| {
                block[2] = 41.0;
                Ok(())
            })
            .unwrap();
        assert_eq!(matrix.value::<f32>(2, 0).unwrap(), 41.0);
    }
}

#[test]
fn zeros_of_either_sign_may_be_written_where_all_is_zero_and_nothing_else() {
    for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
        let mut matrix = triangular(vec![1.0_f32, 2.0, 3.0], triangle, order);
        let (row, column) = if triangle == Triangle::Upper { (1, 0) } else { (0, 1) };
        for zero in [0.0, -0.0, f64::MIN_POSITIVE, -f64::MIN_POSITIVE] {
            matrix.set_value(row, column, zero).unwrap();
            matrix.set(row, column, zero).unwrap();
        }
        assert_eq!(matrix.value::<f32>(row, column).unwrap().to_bits(), 0);
        for value in [f64::NAN, f64::from(f32::from_bits(1)), -1.0, f64::INFINITY] {
            assert_error!(
                matrix.set(row, column, value),
                ErrorKind::NotStored { row: at, value: Some(_), .. } if *at == row
            );
        }
        assert_error!(matrix.set(row, column, 1_u8), ErrorKind::NotStored { value: Some(_), .. });
        assert_eq!(matrix.packed::<f32>().unwrap(), [1.0, 2.0, 3.0]);
    }
}

#[test]
fn a_value_that_nobody_changed_keeps_its_digits_in_a_converted_block() {
    for order in ORDERS {
        let values = vec![1.000_000_000_1_f64, f64::from_bits(0x7FF0_0000_0000_0123), -0.0, 16_777_217.0, 0.1, 2.0];
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let mut matrix = symmetric(values.clone(), Triangle::Upper, order);
        matrix
            .update_rows::<f32, _>(.., |block| {
                block.row_mut(2)[2] = 7.0;
                Ok(())
            })
            .unwrap();
        let mut expected = values.clone();
        expected[5] = 7.0;
        assert_eq!(bits(matrix.packed().unwrap()), bits(&expected));
        let mut matrix = triangular(values, Triangle::Upper, order);
        matrix
            .update_rows::<f32, _>(.., |block| {
                block.row_mut(2)[2] = 7.0;
                Ok(())
            })
            .unwrap();
        assert_eq!(bits(matrix.packed().unwrap()), bits(&expected));
        // Without that rule all values are converted.
        let shown = matrix.rows::<f32>(..).unwrap().to_vec();
        let (region, policy) = (Region { rows: 0..3, columns: 0..3 }, ConversionPolicy::Checked);
        matrix.write_region(&region, AnySlice::new(&shown), WriteRule { policy, keep_unchanged: false }).unwrap();
        assert_eq!(matrix.value::<f64>(0, 0).unwrap(), 1.0);
    }
}

/// DAAL's lower is LAPACK's 'U', byte for byte, and its upper LAPACK's 'L'; triangular ones are transposed.
#[test]
fn the_layouts_of_daal_and_lapack_are_each_others_transposes() {
    let values = counted::<u8>(5);
    for triangle in TRIANGLES {
        let by_rows = symmetric(values.clone(), triangle, DataLayout::RowMajor);
        let lapack = PackedSymmetricMatrix::from_lapack(triangle.opposite(), values.clone()).unwrap();
        assert_eq!(by_rows.rows::<u8>(..).unwrap()[..], lapack.rows::<u8>(..).unwrap()[..]);
        assert_eq!((by_rows.uplo(), lapack.uplo()), (triangle.opposite().uplo(), triangle.opposite().uplo()));
        let same = by_rows.to_triangle(triangle.opposite()).unwrap().to_order(DataLayout::ColumnMajor).unwrap();
        assert_eq!(same.packed::<u8>().unwrap(), values);

        let by_rows = triangular(values.clone(), triangle, DataLayout::RowMajor);
        let lapack = PackedTriangularMatrix::from_lapack(triangle.opposite(), values.clone()).unwrap();
        assert_eq!(by_rows.transposed().rows::<u8>(..).unwrap()[..], lapack.rows::<u8>(..).unwrap()[..]);
        assert_eq!(by_rows.uplo_and_trans(), (triangle.opposite().uplo(), b'T'));
        assert_eq!(lapack.uplo_and_trans(), (triangle.opposite().uplo(), b'N'));
        let transposed = by_rows.transposed();
        assert_eq!(address(transposed.packed::<u8>().unwrap()), address(by_rows.packed::<u8>().unwrap()));
    }
}

#[test]
fn a_full_table_of_any_kind_keeps_its_dictionary_when_it_is_packed() {
    let columns = [("a", vec![1_i16, 2, 3]), ("b", vec![2, 4, 5]), ("c", vec![3, 5, 6])];
    let table = SoaNumericTable::from_columns(columns).unwrap();
    let matrix = PackedSymmetricMatrix::from_full(&table, Triangle::Lower, DataLayout::RowMajor).unwrap();
    assert_eq!(matrix.packed::<i16>().unwrap(), [1, 2, 4, 3, 5, 6]);
    assert_eq!((matrix.dictionary().index_of("c"), matrix.kind()), (Some(2), TableKind::PACKED_SYMMETRIC));
    assert_eq!(matrix.data_memory_status(), MemoryStatus::InternallyAllocated);
    let again = PackedSymmetricMatrix::from_full(&matrix, Triangle::Upper, DataLayout::RowMajor).unwrap();
    assert_eq!(again.packed::<i16>().unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(again.to_order(DataLayout::ColumnMajor).unwrap().dictionary().index_of("b"), Some(1));
}

/// DAAL reports a failed allocation as success.
#[test]
fn values_of_another_type_are_an_error_and_no_silent_copy() {
    let mut matrix = symmetric(vec![1_i32, 2, 3], Triangle::Upper, DataLayout::RowMajor);
    assert_error!(
        matrix.packed::<f32>(),
        ErrorKind::ElementTypeMismatch { expected: ElementType::F32, actual: ElementType::I32, .. }
    );
    assert_error!(matrix.packed_mut::<u32>(), ErrorKind::ElementTypeMismatch { .. });
    assert_error!(matrix.get(2, 0), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    assert_error!(matrix.get(0, usize::MAX), ErrorKind::ColumnOutOfRange { column_count: 2, .. });
    assert_error!(matrix.set(usize::MAX, 0, 1), ErrorKind::RowsOutOfRange { .. });
    assert_error!(matrix.set(0, 1, 1e300), ErrorKind::ValueNotRepresentable { row: 0, column: 1, .. });
    assert_eq!(matrix.packed::<i32>().unwrap(), [1, 2, 3]);
}

fn edited(matrix: &mut dyn NumericTable, changes: &[(usize, usize, f64)]) -> Result<(), Error> {
    matrix.update_rows::<f64, _>(.., |block| {
        changes.iter().for_each(|&(row, column, value)| block.row_mut(row)[column] = value);
        Ok(())
    })
}

/// As in a sparse table, into which what is cut to zero may be written anywhere.
#[test]
fn values_that_become_zero_outside_the_triangle_are_written_and_others_refused() {
    for order in ORDERS {
        let mut matrix = triangular(vec![1, 2, 3, 4, 5, 6], Triangle::Upper, order);
        edited(&mut matrix, &[(0, 0, 7.5), (1, 0, 0.3), (2, 1, -0.9)]).unwrap();
        assert_eq!(matrix.get(0, 0).unwrap(), 7.into());
        assert_eq!((matrix.get(1, 0).unwrap(), matrix.get(2, 1).unwrap()), (0.into(), 0.into()));
        let sparse = CsrNumericTable::from_dense::<i32>(&matrix).unwrap();
        let mut sparse: [Boxed; 2] = [Box::new(sparse), Box::new(matrix)];
        for table in &mut sparse {
            table.set_value(2, 0, 0.3).unwrap();
            assert!(table.set_value(2, 0, 1.3).is_err());
        }
    }
    let mut matrix = triangular(vec![1, 2, 3, 4, 5, 6], Triangle::Upper, DataLayout::RowMajor);
    let refused = edited(&mut matrix, &[(1, 0, 0.3), (2, 1, -1.5)]);
    assert_error!(
        refused,
        ErrorKind::NotStored { row: 2, column: 1, value: Some(value), .. } if *value == (-1.5_f64).into()
    );
}

#[test]
fn two_values_for_one_cell_differ_if_they_are_stored_as_values_that_differ() {
    for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
        let mut matrix = symmetric(vec![1, 2, 3, 4, 5, 6], triangle, order);
        edited(&mut matrix, &[(0, 1, 7.0), (1, 0, 7.9), (0, 2, -0.0), (2, 0, 0.5)]).unwrap();
        assert_eq!(
            [(0, 1), (1, 0), (0, 2)].map(|(row, column)| matrix.get(row, column).unwrap()),
            [7, 7, 0].map(AnyValue::from)
        );
        let refused = edited(&mut matrix, &[(0, 1, 8.0), (1, 0, 7.9)]);
        assert_error!(refused, ErrorKind::AsymmetricValue { row: 0, column: 1, .. });
        // 2^63 - 1 shows 1e300, which stays as it is; 2^63 - 2 becomes 2^63.
        let mut matrix = symmetric(vec![1e300; 3], triangle, order);
        let refused = matrix.update_rows::<i64, _>(.., |block| {
            assert_eq!(block[..], [i64::MAX; 4]);
            block.row_mut(1)[0] -= 1;
            Ok(())
        });
        assert_error!(refused, ErrorKind::AsymmetricValue { row: 0, column: 1, .. });
        let mut floats = symmetric(vec![0.0; 3], triangle, order);
        assert_error!(edited(&mut floats, &[(1, 0, -0.0)]), ErrorKind::AsymmetricValue { row: 0, column: 1, .. });
    }
}

#[test]
fn of_a_value_that_does_not_fit_and_a_cell_that_cannot_have_its_value_the_first_one_is_named() {
    for order in ORDERS {
        let mut matrix = triangular(vec![1, 2, 3, 4, 5, 6], Triangle::Lower, order);
        let refused = edited(&mut matrix, &[(0, 0, 1e300), (0, 1, 1.0)]);
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
        let refused = edited(&mut matrix, &[(0, 1, 1e300), (0, 2, 1.0)]); // one cell, two faults
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 0, column: 1, .. });
        let refused = edited(&mut matrix, &[(0, 1, 1.0), (2, 2, 1e300)]);
        assert_error!(refused, ErrorKind::NotStored { row: 0, column: 1, value: Some(_), .. });
        let mut matrix = symmetric(vec![1, 2, 3, 4, 5, 6], Triangle::Lower, order);
        let refused = edited(&mut matrix, &[(0, 0, 1e300), (0, 1, 9.0)]);
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
        let refused = edited(&mut matrix, &[(0, 1, 9.0), (1, 0, 1e300)]);
        assert_error!(refused, ErrorKind::AsymmetricValue { row: 0, column: 1, .. });
        let refused = edited(&mut matrix, &[(0, 1, i32::MAX.into()), (1, 0, 1e300)]);
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 1, column: 0, .. });
    }
}

#[test]
fn clones_share_the_values_until_one_is_written_and_a_refused_write_copies_nothing() {
    let values = Array::from(vec![1_u8, 2, 3]);
    let mut matrix = symmetric(values.clone(), Triangle::Upper, DataLayout::RowMajor);
    let clone = matrix.clone();
    assert_ne!(matrix.id(), clone.id());
    assert_error!(matrix.set(0, 1, 1000), ErrorKind::ValueNotRepresentable { .. });
    let refused = matrix.update_rows::<u8, _>(.., |block| {
        block[1] = 9;
        Ok(())
    });
    assert_error!(refused, ErrorKind::AsymmetricValue { .. });
    assert!(matrix.array().downcast_ref::<u8>().unwrap().shares_memory_with(&values));
    matrix.set(1, 0, 9).unwrap();
    assert_eq!((matrix.packed::<u8>().unwrap(), clone.packed::<u8>().unwrap()), (&[1, 9, 3][..], &[1, 2, 3][..]));
    assert_eq!(values[..], [1, 2, 3]);
}

#[test]
fn a_block_that_is_contiguous_in_the_packed_array_is_borrowed_and_written_in_place() {
    let mut matrix = symmetric(counted::<i32>(4), Triangle::Lower, DataLayout::RowMajor);
    assert!(matrix.rows::<i32>(3..).unwrap().is_zero_copy() && !matrix.rows::<i32>(2..3).unwrap().is_zero_copy());
    let mut block = BlockDescriptor::<i32>::new();
    assert_eq!(matrix.read_rows(3.., &mut block).unwrap(), [7, 8, 9, 10]);
    assert!(block.is_zero_copy());
    drop(block);
    let mut last = matrix.rows_mut::<i32>(3..).unwrap();
    assert!(last.is_zero_copy());
    last[0] = 70;
    last.release().unwrap();
    assert_eq!(matrix.rows::<i32>(..1).unwrap()[..], [1, 2, 4, 70]);
    let matrix = triangular(counted::<i32>(4), Triangle::Upper, DataLayout::ColumnMajor);
    assert!(
        matrix.column::<i32>(2, ..3).unwrap().is_zero_copy() && !matrix.column::<i32>(2, ..).unwrap().is_zero_copy()
    );
    assert_eq!(matrix.column::<i32>(2, ..).unwrap()[..], [4, 5, 6, 0]);
}

#[test]
fn a_packed_matrix_is_read_as_a_part_of_others_and_errors_name_the_whole_tables_cells() {
    let matrix = symmetric(vec![1_u8, 2, 3, 4, 5, 6], Triangle::Lower, DataLayout::RowMajor);
    let labels = HomogenNumericTable::from_rows(&[[0.5_f32], [1.5], [2.5]]).unwrap();
    let joined = MergedNumericTable::new([by_ref(&labels), by_ref(&matrix)]).unwrap();
    let expected = [0.5, 1.0, 2.0, 4.0, 1.5, 2.0, 3.0, 5.0, 2.5, 4.0, 5.0, 6.0];
    assert_eq!(joined.rows::<f64>(..).unwrap()[..], expected);
    drop(joined);
    let mut joined = MergedNumericTable::new([Box::new(labels) as Boxed, Box::new(matrix)]).unwrap();
    joined.set_value(0, 3, 40).unwrap();
    assert_eq!(joined.column::<i32>(1, ..).unwrap()[..], [1, 2, 40]);
    let region = Region { rows: 0..2, columns: 1..3 };
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    assert_error!(
        joined.write_region(&region, AnySlice::new(&[1_u8, 2, 7, 3]), rule),
        ErrorKind::AsymmetricValue { row: 0, column: 2, mirror: (1, 1), .. }
    );
}
