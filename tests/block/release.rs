//! Releasing a block: what is refused, and what the descriptor holds afterwards.

use numeric_table::block::BlockKind;
use numeric_table::prelude::*;
use test_support::tables::*;

use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::{ReadOnly, ReadWrite};

#[test]
fn release_on_another_table_is_an_error_and_the_block_is_still_held() {
    let (mut table, mut other) = (numbered::<f32>(3, 2, RowMajor), numbered::<f32>(3, 2, RowMajor));
    let (mut same, mut converted) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<f64>::new());
    for mode in MODES {
        table.get_block_of_rows(0, 1, mode, &mut same).unwrap();
        assert_error!(other.release_block_of_rows(&mut same), ErrorKind::WrongTable);
        table.release_block_of_rows(&mut same).unwrap();
        table.get_block_of_column_values(0, 0, 1, mode, &mut converted).unwrap();
        assert_error!(other.release_block_of_column_values(&mut converted), ErrorKind::WrongTable);
        table.release_block_of_column_values(&mut converted).unwrap();
    }
    assert_eq!(values_of(&other), numbers::<f32>(2, 0..3));
}

#[test]
fn release_on_a_clone_is_release_on_another_table() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut clone = table.clone();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    assert_error!(clone.release_block_of_rows(&mut block), ErrorKind::WrongTable);
    table.release_block_of_rows(&mut block).unwrap();
}

#[test]
fn release_twice_is_an_error() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    for mode in MODES {
        table.get_block_of_rows(0, 1, mode, &mut block).unwrap();
        table.release_block_of_rows(&mut block).unwrap();
        assert_error!(table.release_block_of_rows(&mut block), ErrorKind::WrongBlockKind { actual: None, .. });
        assert_error!(table.release_block_of_column_values(&mut block), ErrorKind::WrongBlockKind { actual: None, .. });
    }
}

#[test]
fn release_as_the_wrong_kind_is_an_error_and_the_block_is_still_held() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    for mode in MODES {
        table.get_block_of_rows(0, 2, mode, &mut block).unwrap();
        assert_error!(
            table.release_block_of_column_values(&mut block),
            ErrorKind::WrongBlockKind { expected: BlockKind::ColumnValues, actual: Some(BlockKind::Rows), .. }
        );
        table.release_block_of_rows(&mut block).unwrap();
        table.get_block_of_column_values(0, 0, 2, mode, &mut block).unwrap();
        assert_error!(
            table.release_block_of_rows(&mut block),
            ErrorKind::WrongBlockKind { expected: BlockKind::Rows, actual: Some(BlockKind::ColumnValues), .. }
        );
        table.release_block_of_column_values(&mut block).unwrap();
    }
}

#[test]
fn release_after_a_failed_get_is_an_error() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    assert_error!(table.get_block_of_rows(4, 1, ReadWrite, &mut block), ErrorKind::RowsOutOfRange { .. });
    assert_error!(table.release_block_of_rows(&mut block), ErrorKind::WrongBlockKind { actual: None, .. });
    assert_error!(block.as_mut_slice(), ErrorKind::WrongBlockKind { actual: None, .. });
    let mut exact = BlockDescriptor::<i32>::with_policy(ConversionPolicy::Exact);
    table.set_value(1, 1, 0.5).unwrap();
    assert_error!(table.get_block_of_rows(0, 3, ReadWrite, &mut exact), ErrorKind::ValueNotRepresentable { .. });
    assert_error!(table.release_block_of_rows(&mut exact), ErrorKind::WrongBlockKind { actual: None, .. });
    assert!(table.as_slice().is_ok()); // not leased
}

#[test]
fn a_descriptor_that_never_had_a_block_is_empty() {
    let mut block = BlockDescriptor::<f32>::default();
    assert_eq!((block.as_slice().len(), block.row_count(), block.column_count()), (0, 0, 0));
    assert_eq!((block.row_offset(), block.column_offset(), block.mode(), block.capacity()), (0, 0, None, 0));
    assert!(!block.is_zero_copy());
    assert_error!(block.as_mut_slice(), ErrorKind::WrongBlockKind { actual: None, .. });
    assert_error!(
        numbered::<f32>(1, 1, RowMajor).release_block_of_rows(&mut block),
        ErrorKind::WrongBlockKind { actual: None, .. }
    );
}

/// DAAL keeps the counts of the block that was.
#[test]
fn a_released_descriptor_is_empty() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(1, 2, ReadWrite, &mut block).unwrap();
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!((block.as_slice().len(), block.row_range(), block.column_range(), block.mode()), (0, 0..0, 0..0, None));
}

#[test]
fn a_descriptor_that_holds_a_writable_block_takes_no_other() {
    let (mut table, mut other) = (numbered::<f32>(3, 2, RowMajor), numbered::<f32>(3, 2, RowMajor));
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 1, ReadWrite, &mut block).unwrap();
    for mode in MODES {
        assert_error!(
            other.get_block_of_rows(0, 1, mode, &mut block),
            ErrorKind::BlockOutstanding { rows } if *rows == (1..2)
        );
    }
    assert_error!(other.read_rows(0..1, &mut block), ErrorKind::BlockOutstanding { .. });
    assert_eq!(block.as_slice(), [3.0, 4.0]);
    table.release_block_of_rows(&mut block).unwrap();
}

#[test]
fn a_descriptor_that_holds_a_block_for_reading_takes_the_next() {
    let (mut table, mut other) = (numbered::<f32>(3, 2, RowMajor), numbered::<f32>(3, 2, ColumnMajor));
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 1, ReadOnly, &mut block).unwrap();
    other.get_block_of_rows(2, 1, ReadWrite, &mut block).unwrap();
    assert_error!(table.release_block_of_rows(&mut block), ErrorKind::WrongTable);
    assert_eq!(block.as_slice(), [5.0, 6.0]);
}
