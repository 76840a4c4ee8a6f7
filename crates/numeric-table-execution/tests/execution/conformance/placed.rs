//! Kernels that write into dense tables: columns, and sparse rows.

use numeric_table::bf16;
use numeric_table::error::SparseFault;
use numeric_table::prelude::*;
use numeric_table_execution::*;
use test_support::SmallNumber;
use test_support::bits::bits;
use test_support::tables::{LAYOUTS, POLICIES, assert_fault};

use super::compact::rows_of;

pub(crate) fn columns_are_converted_into_a_larger_table<D: Kernels>(device: &D) {
    fn check<S: SmallNumber, T: SmallNumber, D: Kernels>(device: &D, shape: Shape, all: Shape, first: usize) {
        let value = |row: usize, column: usize| S::small((row * shape.columns + column + 1) as u8);
        for (layout, order) in LAYOUTS.into_iter().flat_map(|layout| LAYOUTS.map(|order| (layout, order))) {
            let table = HomogenNumericTable::from_array_with_layout(
                match layout {
                    DataLayout::RowMajor => (0..shape.rows)
                        .flat_map(|row| (0..shape.columns).map(move |c| value(row, c)))
                        .collect::<Vec<S>>(),
                    _ => (0..shape.columns).flat_map(|c| (0..shape.rows).map(move |row| value(row, c))).collect(),
                },
                shape,
                layout,
            );
            let input = ArrayHandle::from_container(device, table.unwrap().into_array().unwrap());
            let mut output =
                ArrayHandle::from_container(device, Array::from(vec![T::small(99); all.rows * all.columns]));
            for policy in POLICIES {
                let from = (input.prepare_for_input().unwrap(), shape, layout);
                let to = (output.prepare_in_place().unwrap(), all, order);
                device.convert_into_columns(from, to, first, policy).unwrap();
            }
            let found = rows_of(device, output.prepare_for_input().unwrap(), all, order);
            for (place, found) in found.into_iter().enumerate() {
                let (row, column) = (place / all.columns, place % all.columns);
                let number = match column.checked_sub(first) {
                    Some(at) if at < shape.columns => row * shape.columns + at + 1,
                    _ => 99,
                };
                assert_eq!(found, bits(T::small(number as u8)), "{layout} to {order}: {row}, {column}");
            }
        }
    }
    let shape = |rows, columns| Shape { rows, columns };
    check::<i16, f32, D>(device, shape(7, 3), shape(7, 9), 4);
    check::<f32, f32, D>(device, shape(5, 1), shape(5, 4), 0);
    check::<f64, u8, D>(device, shape(1, 4), shape(1, 4), 0);
    check::<u8, bf16, D>(device, shape(9, 2), shape(9, 3), 1);
    check::<u8, i64, D>(device, shape(4, 0), shape(4, 3), 3);

    // The first refused value in row-major order, at its place.
    let input = ArrayHandle::from_container(device, vec![1_i16, -5, 2, 3, 4, -6]); // (-5) at 1, 0 by columns
    let mut output = ArrayHandle::<u16, D>::empty(device);
    for (layout, place) in
        [(DataLayout::ColumnMajor, "-5 at row 1, column 2"), (DataLayout::RowMajor, "-5 at row 0, column 3")]
    {
        for order in LAYOUTS {
            let from = (input.prepare_for_input().unwrap(), shape(3, 2), layout);
            let to = (output.prepare_for_output(15).unwrap(), shape(3, 5), order);
            let error = device.convert_into_columns(from, to, 2, ConversionPolicy::Checked).unwrap_err();
            assert!(error.to_string().contains(place), "{error}");
        }
    }
    let mut call = |small, large: Shape, first, count| {
        let from = (input.prepare_for_input().unwrap(), small, DataLayout::RowMajor);
        let to = (output.prepare_for_output(count).unwrap(), large, DataLayout::RowMajor);
        device.convert_into_columns(from, to, first, ConversionPolicy::Saturate)
    };
    assert_fault!(call(shape(3, 2), shape(3, 4), 3, 12), HandleError::Library(error) if matches!(error.kind(), ErrorKind::OutOfRange { .. }));
    assert_fault!(call(shape(3, 2), shape(3, 4), usize::MAX, 12), HandleError::Library(_));
    assert_fault!(call(shape(3, 2), shape(2, 4), 0, 8), HandleError::LengthMismatch { .. });
    assert_fault!(call(shape(3, 2), shape(3, 4), 0, 11), HandleError::LengthMismatch { .. });
    assert_fault!(call(shape(2, 2), shape(2, 4), 0, 8), HandleError::LengthMismatch { .. });
}

pub(crate) fn sparse_rows_on_a_device_become_dense_ones<D: Kernels>(device: &D) {
    fn call<T: Element, O: Element, I: Element, D: Kernels>(
        device: &D,
        (offsets, indices, values): (&[O], &[I], &[T]),
        (shape, layout): (Shape, DataLayout),
        count: usize,
    ) -> Result<Vec<u64>, HandleError> {
        let offsets = ArrayHandle::from_container(device, offsets);
        let indices = ArrayHandle::from_container(device, indices);
        let values = ArrayHandle::from_container(device, values);
        let (offsets, indices) = (offsets.prepare_for_input()?, indices.prepare_for_input()?);
        let from = SparseRows::<T, D>::new::<O, I>(offsets, indices, values.prepare_for_input()?)?;
        let mut dense = ArrayHandle::<T, D>::empty(device);
        device.sparse_to_dense(from, (dense.prepare_for_output(count)?, shape, layout))?;
        Ok(rows_of(device, dense.prepare_for_input()?, shape, layout))
    }
    let shape = Shape { rows: 4, columns: 5 };
    let mut expected = vec![bits(0_i16); 20];
    for (place, value) in [(1, 10), (4, 11), (15, 12), (17, 13)] {
        expected[place] = bits(value as i16);
    }
    for layout in LAYOUTS {
        let values = [10_i16, 11, 12, 13];
        let to = (shape, layout);
        assert_eq!(call(device, (&[0_u8, 2, 2, 2, 4], &[1_u64, 4, 0, 2], &values), to, 20).unwrap(), expected);
        assert_eq!(call(device, (&[0_i32, 2, 2, 2, 4], &[1_i16, 4, 0, 2], &values), to, 20).unwrap(), expected);
        // Wrong rows are refused: the first one is named, and what is wrong with it.
        let refused = |offsets: &[u16], indices: &[u32], row: usize, fault: SparseFault| {
            let error = call(device, (offsets, indices, &values), to, 20).unwrap_err();
            let HandleError::Library(error) = error else { panic!("{error}") };
            let ErrorKind::SparseStructure { fault: found, row: at, .. } = error.kind() else { panic!("{error}") };
            assert_eq!((*found, *at), (fault, Some(row)), "{error}");
        };
        refused(&[0, 2, 1, 2, 4], &[1, 4, 0, 2], 1, SparseFault::Offsets);
        refused(&[0, 2, 2, 2, 5], &[1, 4, 0, 2], 3, SparseFault::Offsets);
        refused(&[9, 2, 2, 2, 4], &[1, 4, 0, 2], 0, SparseFault::Offsets);
        refused(&[0, 2, 2, 2, 4], &[1, 4, 0, 5], 3, SparseFault::OutOfRange);
        refused(&[0, 2, 2, 2, 4], &[1, u32::MAX, 2, 0], 0, SparseFault::OutOfRange);
        refused(&[0, 2, 2, 2, 4], &[1, 4, 2, 2], 3, SparseFault::NotAscending);
        refused(&[0, 2, 2, 2, 4], &[1, 4, 2, 0], 3, SparseFault::NotAscending);
        refused(&[0, 2, 2, 4, 9], &[4, 1, 9, 1], 0, SparseFault::NotAscending);

        let fault =
            call(device, (&[0.0_f32, 2.0], &[0_u8, 1], &[1.0_f32, 2.0]), (Shape { rows: 1, columns: 2 }, layout), 2);
        assert_fault!(fault, HandleError::Library(error) if matches!(error.kind(), ErrorKind::SparseStructure { fault: SparseFault::Type, .. }));
        assert_fault!(call::<i16, u8, u8, D>(device, (&[], &[], &[]), to, 20), HandleError::LengthMismatch { .. });
        assert_fault!(call(device, (&[0_u8, 1], &[0_u8], &values), to, 20), HandleError::LengthMismatch { .. });
        assert_fault!(
            call(device, (&[0_u8, 4], &[0_u8, 1, 2, 3], &values), to, 20),
            HandleError::LengthMismatch { have: 2, want: 5 }
        );
        assert_fault!(
            call(device, (&[0_u8, 2, 2, 2, 4], &[1_u8, 4, 0, 2], &values), to, 19),
            HandleError::LengthMismatch { .. }
        );
    }
    // Long rows, by several threads each.
    let indices: Vec<u32> = (0..3).flat_map(|row| (0..5000).map(move |at| at * 2 + row % 2)).collect();
    let values: Vec<f64> = (0..15_000).map(f64::from).collect();
    let shape = Shape { rows: 3, columns: 10_001 };
    for layout in LAYOUTS {
        let found = call(device, (&[0_u64, 5000, 10_000, 15_000], &indices, &values), (shape, layout), 30_003).unwrap();
        let mut expected = vec![bits(0.0_f64); 30_003];
        for (at, &value) in values.iter().enumerate() {
            expected[at / 5000 * 10_001 + indices[at] as usize] = bits(value);
        }
        assert!(found == expected, "{layout}");
    }
}
