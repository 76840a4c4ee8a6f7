//! A value that nobody changed is not rewritten when its block is written back.

use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use DataLayout::ColumnMajor;
use ReadWriteMode::{ReadWrite, WriteOnly};

/// Takes every row of a two-row table as `U`, changes the last value to 5, releases; three ways, both layouts.
/// Returns the other values as they are then.
fn untouched_after_a_converted_write<T: SmallNumber, U: SmallNumber>(first: T) -> Vec<T> {
    let mut found = Vec::new();
    for layout in LAYOUTS {
        let fresh =
            || HomogenNumericTable::from_array_with_layout(vec![first, T::small(1)], shape(2, 1), layout).unwrap();

        let mut table = fresh();
        let mut block = BlockDescriptor::<U>::new();
        table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap()[1] = U::small(5);
        table.release_block_of_rows(&mut block).unwrap();
        assert_eq!(values_of(&table)[1], T::small(5));
        found.push(table.as_slice().unwrap()[0]);

        let mut table = fresh();
        let mut block = table.rows_mut::<U>(0..2).unwrap();
        block[1] = U::small(5);
        block.release().unwrap();
        assert_eq!(values_of(&table)[1], T::small(5));
        found.push(table.as_slice().unwrap()[0]);

        let mut table = fresh();
        table.column_mut::<U>(0, 0..2).unwrap()[1] = U::small(5);
        assert_eq!(values_of(&table)[1], T::small(5));
        found.push(table.as_slice().unwrap()[0]);
    }
    found
}

#[test]
fn an_i64_that_f64_cannot_hold_survives() {
    for value in [(1_i64 << 53) + 1, i64::MAX, i64::MIN + 1] {
        assert_eq!(untouched_after_a_converted_write::<i64, f64>(value), [value; 6]);
        assert_eq!(untouched_after_a_converted_write::<i64, i32>(value), [value; 6]);
    }
}

#[test]
fn an_f64_that_f32_cannot_hold_survives() {
    for value in [0.1, 1.0 + f64::EPSILON, 1e300, -1e-300, f64::MAX, f64::INFINITY] {
        assert_eq!(untouched_after_a_converted_write::<f64, f32>(value), [value; 6]);
        assert_eq!(untouched_after_a_converted_write::<f64, i32>(value), [value; 6]);
    }
}

#[test]
fn the_largest_u64_survives_through_f32() {
    assert_eq!(untouched_after_a_converted_write::<u64, f32>(u64::MAX), [u64::MAX; 6]);
    assert_eq!(untouched_after_a_converted_write::<u64, u8>(u64::MAX), [u64::MAX; 6]);
}

#[test]
fn a_signalling_nan_survives_with_its_payload() {
    let signalling = f32::from_bits(0x7FA0_1234);
    let found = untouched_after_a_converted_write::<f32, f64>(signalling);
    assert_eq!(found.into_iter().map(f32::to_bits).collect::<Vec<_>>(), [0x7FA0_1234; 6]);
    let found = untouched_after_a_converted_write::<f32, i32>(signalling); // shows 0, and stays NaN
    assert_eq!(found.into_iter().map(f32::to_bits).collect::<Vec<_>>(), [0x7FA0_1234; 6]);
}

#[test]
fn a_signalling_nan_survives_in_a_block_of_its_own_type() {
    let mut table = HomogenNumericTable::from_rows(&[[f32::from_bits(0x7FA0_1234), 1.0]]).unwrap();
    let columns = table.to_layout(ColumnMajor).unwrap().convert::<f32>().unwrap();
    table.rows_mut::<f32>(0..1).unwrap()[1] = 2.0;
    assert_eq!(table.as_slice().unwrap()[0].to_bits(), 0x7FA0_1234);
    assert_eq!(columns.rows::<f32>(0..1).unwrap()[0].to_bits(), 0x7FA0_1234);
}

#[test]
fn a_negative_zero_survives() {
    let found = untouched_after_a_converted_write::<f64, i32>(-0.0);
    assert!(found.into_iter().all(|value| value.to_bits() == (-0.0_f64).to_bits()));
    let found = untouched_after_a_converted_write::<f32, f64>(-0.0);
    assert!(found.into_iter().all(|value| value.to_bits() == (-0.0_f32).to_bits()));
}

#[test]
fn a_zero_that_is_changed_to_negative_zero_is_written() {
    let mut table = HomogenNumericTable::from_rows(&[[0.0_f64]]).unwrap();
    table.rows_mut::<f32>(0..1).unwrap()[0] = -0.0;
    assert!(table.as_slice().unwrap()[0].is_sign_negative());
}

#[test]
fn a_value_that_is_changed_is_written_even_if_it_is_close() {
    let mut table = HomogenNumericTable::from_rows(&[[0.1_f64]]).unwrap();
    let mut block = table.rows_mut::<f32>(0..1).unwrap();
    block[0] = block[0].next_up();
    block.release().unwrap();
    assert_eq!(table.as_slice().unwrap(), [f64::from(0.1_f32.next_up())]);
}

/// A value that does not fit back, and was never changed, is no reason to refuse the block.
#[test]
fn values_nobody_changed_are_not_checked() {
    let mut table = HomogenNumericTable::from_rows(&[[200_u8, 1], [3, 4]]).unwrap();
    let mut block = BlockDescriptor::<i8>::with_policy(ConversionPolicy::Saturate);
    table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
    assert_eq!(block.as_slice(), [127, 1, 3, 4]);
    block.as_mut_slice().unwrap()[3] = 5;
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(table.as_slice().unwrap(), [200, 1, 3, 5]);
    let mut table = HomogenNumericTable::from_rows(&[[u64::MAX, 1]]).unwrap();
    table.rows_mut::<f32>(0..1).unwrap().release().unwrap(); // 2^64 as f32 does not fit in u64
    assert_eq!(table.as_slice().unwrap(), [u64::MAX, 1]);
}

#[test]
fn a_write_only_block_writes_what_it_holds_whatever_was_there() {
    let mut table = HomogenNumericTable::from_rows(&[[0.1_f64, 0.2]]).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, WriteOnly, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 0.1;
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(table.as_slice().unwrap(), [f64::from(0.1_f32), 0.0]);
}

fn untouched_tables_stay<T: SmallNumber>() {
    for layout in LAYOUTS {
        let (mut table, expected) = (numbered::<T>(3, 2, layout), numbers::<T>(2, 0..3));
        for_each_element!(U => table.rows_mut::<U>(0..3).unwrap().release().unwrap());
        assert_eq!(values_of(&table), expected);
    }
}

#[test]
fn a_block_that_nobody_changed_changes_nothing_in_any_pair_of_types() {
    for_each_element!(untouched_tables_stay);
}
