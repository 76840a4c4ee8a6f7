//! Faults 1 to 18: bounds, sizes that overflow, memory that is gone.

use numeric_table::block::BlockKind;
use numeric_table::prelude::*;
use test_support::tables::*;

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::RowMajor;
use ReadWriteMode::{ReadOnly, ReadWrite, WriteOnly};

/// Fault 1: `getValue` out of range dereferences null.
#[test]
fn a_value_out_of_range_is_an_error() {
    let table = numbered::<f32>(3, 2, RowMajor);
    assert_error!(table.value::<f64>(3, 0), ErrorKind::RowsOutOfRange { .. });
    assert_error!(table.value::<f64>(0, 2), ErrorKind::ColumnOutOfRange { .. });
}

/// Fault 2: the column index is not checked: the last row reads and writes past the end.
#[test]
fn a_column_out_of_range_is_an_error() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    for mode in MODES {
        assert_error!(
            table.get_block_of_column_values(2, 0, 3, mode, &mut block),
            ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 }
        );
    }
}

/// Fault 3: `start + count` wraps and passes the clamp.
#[test]
fn a_huge_count_is_cut_and_does_not_wrap() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(2, usize::MAX - 1, ReadOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [5.0, 6.0]);
    table.get_block_of_column_values(1, 1, usize::MAX, ReadOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [4.0, 6.0]);
}

/// Fault 4: `resize` claims rows that the user's buffer does not hold.
#[test]
fn resize_never_outgrows_the_users_buffer() {
    static VALUES: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
    let mut table = HomogenNumericTable::from_array(&VALUES[..], shape(2, 2)).unwrap();
    table.resize(1000).unwrap();
    assert_eq!(table.array().unwrap().len(), 2000);
    assert_eq!((table.data_memory_status(), VALUES), (MemoryStatus::InternallyAllocated, [1.0, 2.0, 3.0, 4.0]));
}

/// Fault 5: `resize` destroys the data, and has changed the row count before it fails.
#[test]
fn resize_keeps_values_and_changes_nothing_if_it_fails() {
    let mut table = HomogenNumericTable::full(shape(2, 2), 7_i32).unwrap();
    table.resize(3).unwrap();
    assert_eq!(values_of(&table), [7, 7, 7, 7, 0, 0]);
    let before = state_of(&table);
    assert!(table.resize(usize::MAX).is_err());
    if usize::BITS > 32 {
        assert!(table.resize(isize::MAX as usize / 8).is_err()); // 2 GiB with 32 bits, which there may be
    }
    assert_eq!(state_of(&table), before);
}

/// Fault 6: `setArray` trusts the sizes. (It accepts null, too, which cannot be written here.)
#[test]
fn set_array_checks_the_size() {
    let mut table = HomogenNumericTable::<f32>::new(shape(0, 2), DoNotAllocate).unwrap();
    assert_error!(table.set_array(vec![1.0; 3], 2), ErrorKind::ArrayLength { have: 3, need: 4, .. });
    assert_eq!((table.shape(), table.data_memory_status()), (shape(0, 2), MemoryStatus::NotAllocated));
}

/// Fault 7: the shared dictionary changes the shape of the table, and the memory stays.
#[test]
fn a_dictionary_cannot_change_the_shape() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let wider = DataDictionary::uniform(feature::<f32>(), 5);
    assert_error!(table.set_dictionary(wider), ErrorKind::DictionaryMismatch { features: 5, columns: 2, .. });
    assert_eq!((table.shape(), table.dictionary().len()), (shape(3, 2), 2));
}

/// Fault 8: a descriptor takes foreign memory for its own larger buffer, and writes into it.
#[test]
fn a_reused_descriptor_never_writes_into_memory_that_it_showed() {
    static LENT: [f32; 8] = [1.0; 8];
    let lender = HomogenNumericTable::from_array(&LENT[..], shape(4, 2)).unwrap();
    let mut other = numbered::<u8>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    lender.read_rows(0..4, &mut block).unwrap();
    assert!(block.is_zero_copy());
    other.get_block_of_rows(0, 3, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap().fill(9.0);
    other.release_block_of_rows(&mut block).unwrap();
    assert_eq!(LENT, [1.0; 8]);
}

/// Fault 9: a zero-copy block dangles when the table goes, is resized or gets another array.
#[test]
fn a_block_outlives_its_table_and_its_memory() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let (mut reader, mut writer) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<f32>::new());
    table.get_block_of_rows(0, 2, ReadOnly, &mut reader).unwrap();
    table.resize(100).unwrap();
    table.set_array(vec![5.0, 6.0], 1).unwrap();
    table.get_block_of_rows(0, 1, ReadWrite, &mut writer).unwrap();
    assert_error!(table.resize(100), ErrorKind::BlockOutstanding { .. });
    drop(table);
    writer.as_mut_slice().unwrap()[0] = 9.0;
    assert_eq!((reader.as_slice(), writer.as_slice()), (&[1.0, 2.0, 3.0, 4.0][..], &[9.0, 6.0][..]));
}

/// Fault 10: release as another kind, or on another table, writes with the wrong stride.
#[test]
fn a_wrong_release_is_an_error_and_writes_nothing() {
    let (mut table, mut other) = (numbered::<f32>(3, 2, RowMajor), numbered::<f32>(2, 3, RowMajor));
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(0, 3, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap().fill(9.0);
    assert_error!(other.release_block_of_rows(&mut block), ErrorKind::WrongTable);
    assert_error!(
        table.release_block_of_column_values(&mut block),
        ErrorKind::WrongBlockKind { expected: BlockKind::ColumnValues, actual: Some(BlockKind::Rows), .. }
    );
    drop(block);
    assert_eq!((values_of(&table), values_of(&other)), (numbers::<f32>(2, 0..3), numbers::<f32>(3, 0..2)));
}

/// Fault 11: release after a failed get reads through null.
#[test]
fn release_after_a_failed_get_is_an_error() {
    let mut table = HomogenNumericTable::<f32>::new(shape(3, 2), DoNotAllocate).unwrap();
    let mut block = BlockDescriptor::<f64>::new();
    assert_error!(table.get_block_of_rows(0, 3, ReadWrite, &mut block), ErrorKind::NotAllocated);
    assert_eq!((block.row_count(), block.column_count(), block.as_slice().len()), (0, 0, 0));
    assert_error!(table.release_block_of_rows(&mut block), ErrorKind::WrongBlockKind { actual: None, .. });
}

/// Fault 12: a block for reading can be written if the types are the same.
#[test]
fn read_only_is_read_only_for_every_type() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let (mut same, mut other) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<f64>::new());
    table.get_block_of_rows(0, 2, ReadOnly, &mut same).unwrap();
    table.get_block_of_rows(0, 2, ReadOnly, &mut other).unwrap();
    assert_error!(same.as_mut_slice(), ErrorKind::NotWritable { mode: ReadOnly });
    assert_error!(other.as_mut_slice(), ErrorKind::NotWritable { mode: ReadOnly });
}

/// Fault 13: a converted block for writing writes back whatever its buffer held before.
#[test]
fn a_converted_write_only_block_never_writes_left_over_values() {
    let (mut table, mut other) = (numbered::<f32>(2, 2, RowMajor), numbered::<i32>(2, 2, RowMajor));
    let mut block = BlockDescriptor::<f64>::new();
    other.get_block_of_rows(0, 2, ReadOnly, &mut block).unwrap();
    table.get_block_of_rows(0, 2, WriteOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [0.0; 4]);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of(&table), [0.0; 4]);
}

/// Fault 14: release rewrites every value through the narrower type, changed or not.
#[test]
fn a_value_nobody_changed_is_not_rewritten() {
    let mut table = HomogenNumericTable::from_rows(&[[0.1_f64, 1e300], [std::f64::consts::PI, 4.0]]).unwrap();
    let mut block = BlockDescriptor::<i32>::new();
    table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[3] = 5;
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(table.as_slice().unwrap(), [0.1, 1e300, std::f64::consts::PI, 5.0]);
}

/// Fault 15: debug builds divide by zero for an empty range.
#[test]
fn an_empty_block_is_an_ordinary_block() {
    for table_shape in [shape(3, 2), shape(0, 2), shape(3, 0), shape(0, 0)] {
        let mut table = HomogenNumericTable::<f32>::new(table_shape, DoAllocate).unwrap();
        let mut block = BlockDescriptor::<f64>::new();
        for mode in MODES {
            table.get_block_of_rows(table_shape.rows, 5, mode, &mut block).unwrap();
            assert_eq!((block.row_count(), block.column_count()), (0, table_shape.columns));
            table.release_block_of_rows(&mut block).unwrap();
        }
    }
}

/// Fault 16: a size that overflows is thrown, where all else returns a status; the old block is freed by then.
#[test]
fn an_overflowing_size_is_an_ordinary_error() {
    let huge = shape(usize::MAX / 2, 3);
    let refused = HomogenNumericTable::<f32>::new(huge, DoAllocate);
    assert_error!(refused, ErrorKind::SizeOverflow { shape, .. } if *shape == huge);
    let mut table = numbered::<f32>(2, 3, RowMajor);
    assert_error!(table.resize(usize::MAX / 2), ErrorKind::SizeOverflow { .. });
    assert_eq!(values_of(&table), numbers::<f32>(3, 0..2));
}

/// Fault 18: checks for null after `new` do not work.
#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "with 32 bits, 2 GiB may be there")]
fn memory_that_is_refused_is_an_error() {
    let rows = isize::MAX as usize / 4;
    assert_error!(HomogenNumericTable::<f32>::new(shape(rows, 1), DoAllocate), ErrorKind::OutOfMemory);
    let mut dictionary = DataDictionary::uniform(feature::<f32>(), rows);
    assert_error!(dictionary.set_feature(0, feature::<f32>().ordinal()), ErrorKind::OutOfMemory);
}
