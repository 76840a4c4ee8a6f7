//! Single values, and one value everywhere.

use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::spi::Region;
use numeric_table::{AnyValue, array::AnySlice};
use test_support::tables::*;

use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::ReadWrite;

#[test]
fn values_are_read_and_written_one_by_one() {
    for layout in LAYOUTS {
        let mut table = numbered::<i16>(2, 3, layout);
        assert_eq!(table.value::<f64>(1, 2).unwrap(), 6.0);
        table.set_value(1, 0, -40.9_f32).unwrap();
        assert_eq!(values_of(&table), [1, 2, 3, -40, 5, 6]);
    }
}

/// DAAL `getValue` dereferences null there.
#[test]
fn values_outside_are_errors() {
    let mut table = numbered::<i16>(2, 3, RowMajor);
    for row in [2, usize::MAX] {
        assert_error!(table.value::<f64>(row, 0), ErrorKind::RowsOutOfRange { row_count: 2, .. });
        assert_error!(table.set_value(row, 0, 1.0), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    }
    for column in [3, usize::MAX] {
        assert_error!(table.value::<i16>(0, column), ErrorKind::ColumnOutOfRange { column_count: 3, .. });
        assert_error!(table.set_value(0, column, 1_i16), ErrorKind::ColumnOutOfRange { column_count: 3, .. });
    }
}

#[test]
fn a_single_value_that_does_not_fit_is_named_in_table_coordinates() {
    let mut table = numbered::<u8>(3, 2, ColumnMajor);
    assert_error!(
        table.set_value(2, 1, 256_i64),
        ErrorKind::ValueNotRepresentable { row: 2, column: 1, value: AnyValue::I64(256), target: ElementType::U8 }
    );
    assert_eq!(values_of(&table), numbers::<u8>(2, 0..3));
}

#[test]
fn assign_writes_every_value_or_none() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(3, 2, layout);
        assert_error!(table.fill(f32::NAN), ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
        assert_eq!(values_of(&table), numbers::<u8>(2, 0..3));
        table.fill(7.9_f32).unwrap();
        assert_eq!(values_of(&table), [7; 6]);
    }
}

/// DAAL has `assign` for `double`, `float` and `int` only.
#[test]
fn assign_takes_all_digits_of_64_bits() {
    let mut table = numbered::<u64>(1, 2, RowMajor);
    table.fill(u64::MAX).unwrap();
    assert_eq!(table.as_slice().unwrap(), [u64::MAX; 2]);
    assert_eq!(table.value::<u64>(0, 1).unwrap(), u64::MAX);
}

#[test]
fn assign_leaves_room_past_the_rows_alone() {
    let mut table = HomogenNumericTable::from_array_with_spare_rows(vec![1, 2, 3, 4], shape(1, 2)).unwrap();
    table.fill(9).unwrap();
    assert_eq!(&table.array().unwrap()[..], [9, 9, 3, 4]);
}

#[test]
fn every_value_can_be_assigned_to_a_table_without_values() {
    for layout in LAYOUTS {
        for (rows, columns) in [(0, 3), (3, 0), (0, 0), (usize::MAX, 0)] {
            let flag = AllocationFlag::DoAllocate;
            let mut table = HomogenNumericTable::<u8>::new_with_layout(shape(rows, columns), flag, layout).unwrap();
            for value in [300.0, -1.0, f64::NAN] {
                table.fill(value).unwrap();
                assert_error!(table.set_value(rows, 0, value), ErrorKind::RowsOutOfRange { .. });
            }
            assert_eq!(table.shape(), shape(rows, columns));
        }
    }
}

#[test]
fn a_region_without_values_takes_none_and_no_more() {
    let rule = WriteRule { policy: ConversionPolicy::Exact, keep_unchanged: false };
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(3, 2, layout);
        for (rows, columns) in [(1..1, 0..2), (0..3, 2..2), (3..3, 2..2)] {
            let region = Region { rows, columns };
            table.write_region(&region, AnySlice::new::<f64>(&[]), rule).unwrap();
            let one_too_many = table.write_region(&region, AnySlice::new(&[300.0]), rule);
            assert_error!(one_too_many, ErrorKind::LengthMismatch { expected: 0, actual: 1 });
        }
        assert_eq!(values_of(&table), numbers::<u8>(2, 0..3));
    }
}

#[test]
fn a_table_without_memory_or_with_a_block_out_takes_no_value_at_all() {
    let mut table = HomogenNumericTable::<u8>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(table.fill(300.0), ErrorKind::NotAllocated);
    let mut table = HomogenNumericTable::<u8>::new(shape(0, 2), AllocationFlag::DoAllocate).unwrap();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(0, 0, ReadWrite, &mut block).unwrap();
    assert_error!(table.fill(300.0), ErrorKind::BlockOutstanding { .. });
}

#[test]
fn a_table_without_values_is_converted_under_every_policy() {
    for layout in LAYOUTS {
        for (rows, columns) in [(0, 3), (3, 0), (0, 0)] {
            let flag = AllocationFlag::DoAllocate;
            let mut table = HomogenNumericTable::<f64>::new_with_layout(shape(rows, columns), flag, layout).unwrap();
            for policy in POLICIES {
                assert_eq!(table.convert_with::<u8>(policy).unwrap().shape(), shape(rows, columns));
                assert!(table.rows_with::<u8>(0..rows, policy).unwrap().is_empty());
                let block = table.rows_mut::<u8>(0..rows).unwrap().with_policy(policy);
                block.release().unwrap();
            }
            assert_eq!(table.conversion_report::<u8>().unwrap().first, None);
        }
    }
}
