//! Other memory for a table that is there.

use std::sync::Arc;

use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{CountingOwner, DropCount};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::RowMajor;
use MemoryStatus::UserAllocated;

#[test]
fn set_array_replaces_memory_and_row_count_and_keeps_the_columns() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::<i32>::new_with_layout(shape(5, 2), DoAllocate, layout).unwrap();
        let values = vec![1, 2, 3, 4, 5, 6];
        let place = address(&values);
        table.set_array(values, 3).unwrap();
        assert_eq!((table.shape(), table.data_layout()), (shape(3, 2), layout));
        assert_eq!(address(table.as_slice().unwrap()), place);
    }
}

#[test]
fn set_array_refuses_an_array_that_is_too_short() {
    let mut table = numbered::<i32>(2, 2, RowMajor);
    let before = state_of(&table);
    assert_error!(table.set_array(vec![1, 2, 3, 4, 5], 3), ErrorKind::ArrayLength { have: 5, need: 6, .. });
    assert_error!(table.set_array(Vec::new(), 1), ErrorKind::ArrayLength { have: 0, need: 2, .. });
    assert_error!(table.set_array(vec![1], usize::MAX), ErrorKind::SizeOverflow { .. });
    assert_eq!(state_of(&table), before);
}

#[test]
fn set_array_refuses_an_array_that_is_too_long() {
    for layout in LAYOUTS {
        let mut table = numbered::<i32>(2, 2, layout);
        let before = state_of(&table);
        assert_error!(table.set_array(vec![1, 2, 3, 4, 5, 6], 2), ErrorKind::ArrayLength { have: 6, need: 4, .. });
        assert_error!(table.set_array(vec![1], 0), ErrorKind::ArrayLength { have: 1, need: 0, .. });
        assert_eq!(state_of(&table), before);
    }
}

#[test]
fn a_table_of_no_columns_takes_no_array_with_values() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::<i32>::new_with_layout(shape(5, 0), DoAllocate, layout).unwrap();
        assert_error!(table.set_array(vec![1, 2, 3, 4, 5, 6], 2), ErrorKind::ArrayLength { have: 6, need: 0, .. });
        assert_error!(table.set_array_with_spare_rows(vec![1, 2], 2), ErrorKind::ArrayLength { have: 2, need: 0, .. });
        assert_eq!(table.shape(), shape(5, 0));
        table.set_array(Vec::new(), 2).unwrap();
        assert_eq!(table.shape(), shape(2, 0));
    }
}

#[test]
fn set_array_takes_immutable_memory() {
    static VALUES: [f32; 2] = [1.0, 2.0];
    let mut table = HomogenNumericTable::<f32>::new(shape(0, 1), DoNotAllocate).unwrap();
    table.set_array(&VALUES[..], 2).unwrap();
    assert_eq!(address(table.as_slice().unwrap()), address(&VALUES));
    table.set_array(Arc::<[f32]>::from([3.0]), 1).unwrap();
    assert_eq!(table.as_slice().unwrap(), [3.0]);
}

#[test]
fn set_array_lets_go_of_the_old_memory() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1_u8, 2], &drops);
    let mut table = HomogenNumericTable::from_array(Array::from_owner(owner), shape(1, 2)).unwrap();
    table.set_array(vec![3, 4], 1).unwrap();
    assert_eq!(drops.get(), 1);
}

#[test]
fn set_array_is_refused_while_a_writable_block_is_out() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(table.set_array(vec![9.0; 4], 2), ErrorKind::BlockOutstanding { .. });
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of(&table), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn set_array_with_no_rows_empties_the_table() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    table.set_array(Vec::new(), 0).unwrap();
    assert_eq!((table.shape(), table.data_memory_status()), (shape(0, 2), UserAllocated));
}
