//! Tables of another element type.

use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::ColumnMajor;

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
        let mut table = HomogenNumericTable::<f32>::new_with_layout(shape(3, 3), DoAllocate, layout).unwrap();
        table.set_value(2, 0, 1000.0_f32).unwrap(); // first in memory if column-major
        table.set_value(1, 2, f32::NAN).unwrap(); // first in row-major order
        assert_error!(
            table.convert_with::<i8>(ConversionPolicy::Checked),
            ErrorKind::ValueNotRepresentable { row: 1, column: 2, target: ElementType::I8, .. }
        );
        assert_eq!(table.conversion_report::<i8>().unwrap().first, Some((1, 2)));
    }
}

#[test]
fn an_unallocated_table_converts_to_an_unallocated_table() {
    let table = HomogenNumericTable::<f32>::new_with_layout(shape(0, 3), DoNotAllocate, ColumnMajor).unwrap();
    let converted = table.convert::<i32>().unwrap();
    assert_eq!((converted.shape(), converted.data_layout()), (shape(0, 3), ColumnMajor));
    let table = HomogenNumericTable::<f32>::new(shape(2, 3), DoNotAllocate).unwrap();
    assert_error!(table.convert::<i32>(), ErrorKind::NotAllocated);
    assert_error!(table.conversion_report::<i32>(), ErrorKind::NotAllocated);
}
