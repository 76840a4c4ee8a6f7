//! Values that a policy refuses, and tables and slices that cannot be converted.

use numeric_table::ConversionReport;
use numeric_table::convert::convert_slice;
use numeric_table::prelude::*;

use super::{LAYOUTS, POLICIES, Table};

/// Puts `-1` into a large table of zeros at two places and converts it to a type without negative numbers.
fn first_refused_of_two(layout: DataLayout, places: [(usize, usize); 2]) -> (usize, usize) {
    let mut table =
        Table::new_with_layout(Shape { rows: 60_000, columns: 5 }, AllocationFlag::DoAllocate, layout).unwrap();
    let mut view = table.view_mut().unwrap();
    places.iter().for_each(|&(row, column)| view.set_value(row, column, -1.0_f64).unwrap());
    match table.convert_with::<u16>(ConversionPolicy::Checked).map_err(Error::into_kind) {
        Err(ErrorKind::ValueNotRepresentable { row, column, .. }) => (row, column),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_refused_value_in_row_major_order_is_named_in_both_layouts() {
    for layout in LAYOUTS {
        assert_eq!(first_refused_of_two(layout, [(59_999, 0), (3, 4)]), (3, 4));
        assert_eq!(first_refused_of_two(layout, [(30_000, 3), (30_000, 2)]), (30_000, 2));
        assert_eq!(first_refused_of_two(layout, [(59_999, 4), (59_999, 3)]), (59_999, 3));
    }
}

#[cfg(feature = "rayon")]
#[test]
fn the_first_refused_value_does_not_depend_on_the_number_of_threads() {
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for layout in LAYOUTS {
            assert_eq!(pool.install(|| first_refused_of_two(layout, [(59_999, 1), (40_000, 4)])), (40_000, 4));
        }
    }
}

#[test]
fn a_refused_value_is_named_by_its_index_and_the_target_stays_as_it_was() {
    let mut target = [7_u8; 4];
    let error = convert_slice(&[1.0_f32, 2.0, 256.0, f32::NAN], &mut target, ConversionPolicy::Checked).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value 256 at row 2, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it in \
             calls that take a policy"
    );
    assert_eq!(target, [7; 4]);
}

#[test]
fn slices_of_different_lengths_are_refused_and_the_target_stays_as_it_was() {
    let mut target = [7_u8; 3];
    for policy in POLICIES {
        let error = convert_slice(&[1.0_f32, 2.0], &mut target, policy).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::LengthMismatch { expected: 3, actual: 2 }));
        assert!(convert_slice(&[1_u8, 2], &mut target, policy).is_err());
    }
    assert_eq!(target, [7; 3]);
}

#[test]
fn a_refused_value_of_a_slice_of_rows_is_named_by_its_row_in_the_slice() {
    for layout in LAYOUTS {
        let table = Table::from_rows(&[[0_i16, 0], [0, -1], [0, 0], [-2, 0]]).unwrap().to_layout(layout).unwrap();
        let slice = table.slice_rows(2..4).unwrap();
        let error = slice.convert_with::<u8>(ConversionPolicy::Checked).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the value -2 at row 1, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it \
                 in calls that take a policy"
        );
    }
}

#[test]
fn a_refused_value_of_a_block_is_named_by_its_place_in_the_table() {
    for layout in LAYOUTS {
        let table = Table::from_rows(&[[0_i16, 0], [0, 0], [0, -7], [0, 0]]).unwrap().to_layout(layout).unwrap();
        let message = "the value -7 at row 2, column 1 is not representable as u32: `ConversionPolicy::Saturate` \
             accepts it in calls that take a policy";
        let rows = table.rows_with::<u32>(1..4, ConversionPolicy::Checked).unwrap_err();
        assert_eq!(rows.to_string(), message);
        let column = table.column_with::<u32>(1, 1..4, ConversionPolicy::Checked).unwrap_err();
        assert_eq!(column.to_string(), message);
    }
}

#[test]
fn a_table_without_memory_is_not_converted_and_not_reported_on() {
    let table = Table::<f32>::new(Shape { rows: 2, columns: 2 }, AllocationFlag::DoNotAllocate).unwrap();
    assert!(table.convert::<f64>().is_err_and(|error| matches!(error.kind(), ErrorKind::NotAllocated)));
    assert!(table.conversion_report::<f64>().is_err_and(|error| matches!(error.kind(), ErrorKind::NotAllocated)));
}

#[test]
fn a_table_without_values_is_converted_to_its_shape() {
    for (rows, columns) in [(0, 0), (0, 3), (3, 0), (usize::MAX, 0), (0, usize::MAX)] {
        for layout in LAYOUTS {
            let shape = Shape { rows, columns };
            let table = Table::<f32>::new_with_layout(shape, AllocationFlag::DoAllocate, layout).unwrap();
            for policy in POLICIES {
                assert_eq!(table.convert_with::<u8>(policy).unwrap().shape(), shape);
            }
            assert_eq!(table.conversion_report::<u8>().unwrap(), ConversionReport::default());
        }
    }
}
