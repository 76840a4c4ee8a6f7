//! Which rows a descriptor receives, and which requests are errors.

use numeric_table::prelude::*;
use test_support::tables::*;

use DataLayout::RowMajor;
use ReadWriteMode::{ReadOnly, ReadWrite};

#[test]
fn get_cuts_the_count_at_the_last_row() {
    for layout in LAYOUTS {
        let mut table = numbered::<f32>(5, 2, layout);
        let mut block = BlockDescriptor::<f64>::new();
        for (first, count, rows) in [(3, 2, 3..5), (3, 3, 3..5), (4, 100, 4..5), (1, usize::MAX, 1..5), (0, 5, 0..5)] {
            for mode in MODES {
                table.get_block_of_rows(first, count, mode, &mut block).unwrap();
                assert_eq!(
                    (block.row_range(), block.row_count(), block.column_range()),
                    (rows.clone(), rows.len(), 0..2)
                );
                table.release_block_of_rows(&mut block).unwrap();
                table.set_array(vec![1.0; 10], 5).unwrap();
            }
        }
    }
}

#[test]
fn get_of_column_values_cuts_the_count_at_the_last_row() {
    let mut table = numbered::<f32>(5, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    for (first, count, rows) in [(3, 3, 3..5), (1, usize::MAX, 1..5), (2, 2, 2..4)] {
        table.get_block_of_column_values(1, first, count, ReadOnly, &mut block).unwrap();
        assert_eq!((block.row_range(), block.column_range(), block.column_count()), (rows, 1..2, 1));
    }
}

/// DAAL: a success without rows.
#[test]
fn get_past_the_last_row_is_an_error() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    for first in [4, usize::MAX] {
        for count in [0, 1, usize::MAX] {
            for mode in MODES {
                assert_error!(
                    table.get_block_of_rows(first, count, mode, &mut block),
                    ErrorKind::RowsOutOfRange { rows, row_count: 3 } if rows.start == first
                );
                assert_error!(
                    table.get_block_of_column_values(0, first, count, mode, &mut block),
                    ErrorKind::RowsOutOfRange { rows, row_count: 3 } if rows.start == first
                );
            }
        }
    }
    assert_eq!(values_of(&table), numbers::<f32>(2, 0..3)); // and nothing is leased
}

#[test]
fn get_from_the_last_row_on_is_an_empty_block() {
    for layout in LAYOUTS {
        let mut table = numbered::<f32>(3, 2, layout);
        let (mut same, mut other) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<f64>::new());
        for mode in MODES {
            table.get_block_of_rows(3, usize::MAX, mode, &mut same).unwrap();
            assert_eq!((same.as_slice().len(), same.row_range(), same.column_count()), (0, 3..3, 2));
            table.release_block_of_rows(&mut same).unwrap();
            table.get_block_of_column_values(1, 3, 7, mode, &mut other).unwrap();
            assert_eq!((other.as_slice().len(), other.row_range(), other.column_range()), (0, 3..3, 1..2));
            table.release_block_of_column_values(&mut other).unwrap();
        }
        assert_eq!(values_of(&table), numbers::<f32>(2, 0..3));
    }
}

#[test]
fn an_empty_writable_block_can_be_borrowed_mutably() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(3, 1, ReadWrite, &mut block).unwrap();
    assert!(block.as_mut_slice().unwrap().is_empty());
}

#[test]
fn get_of_a_column_outside_is_an_error() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    for column in [2, usize::MAX] {
        for mode in MODES {
            assert_error!(
                table.get_block_of_column_values(column, 0, 3, mode, &mut block),
                ErrorKind::ColumnOutOfRange { column: found, column_count: 2 } if *found == column
            );
        }
    }
}

#[test]
fn a_table_without_memory_lends_no_block() {
    let mut table = HomogenNumericTable::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    let (mut same, mut other) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<i32>::new());
    for mode in MODES {
        assert_error!(table.get_block_of_rows(0, 3, mode, &mut same), ErrorKind::NotAllocated);
        assert_error!(table.get_block_of_rows(0, 3, mode, &mut other), ErrorKind::NotAllocated);
        assert_error!(table.get_block_of_column_values(0, 0, 3, mode, &mut same), ErrorKind::NotAllocated);
        assert_error!(table.get_block_of_column_values(0, 0, 3, mode, &mut other), ErrorKind::NotAllocated);
    }
    assert_error!(table.rows::<f32>(0..3), ErrorKind::NotAllocated);
    assert_error!(table.rows_mut::<i32>(0..3), ErrorKind::NotAllocated);
    assert_error!(table.column::<f32>(0, 0..3), ErrorKind::NotAllocated);
    assert_error!(table.column_mut::<i32>(0, 0..3), ErrorKind::NotAllocated);
    assert_error!(table.value::<f32>(0, 0), ErrorKind::NotAllocated);
    assert_error!(table.set_value(0, 0, 1.0), ErrorKind::NotAllocated);
    assert_error!(table.fill(1.0), ErrorKind::NotAllocated);
}

#[test]
fn a_table_without_rows_and_memory_lends_empty_blocks() {
    let mut table = HomogenNumericTable::<f32>::new(shape(0, 2), AllocationFlag::DoNotAllocate).unwrap();
    let mut block = BlockDescriptor::<f64>::new();
    for mode in MODES {
        table.get_block_of_rows(0, 3, mode, &mut block).unwrap();
        assert_eq!((block.row_count(), block.column_count()), (0, 2));
        table.release_block_of_rows(&mut block).unwrap();
    }
    assert_eq!(table.rows::<f64>(0..0).unwrap().len(), 0);
    assert_eq!(table.row_blocks::<f64>(4).unwrap().count(), 0);
    assert_eq!(table.row_blocks_mut::<f32>(4).unwrap().count(), 0);
}
