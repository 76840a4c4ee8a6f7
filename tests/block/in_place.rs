//! Blocks that are the table's own memory, buffers that are used again, and blocks that are read only.

use std::ops::Range;

use numeric_table::prelude::*;
use test_support::tables::*;

use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::{ReadOnly, ReadWrite};

#[test]
fn a_block_taken_for_reading_is_not_writable() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let (mut same, mut other) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<i32>::new());
    table.get_block_of_rows(0, 2, ReadOnly, &mut same).unwrap();
    table.get_block_of_column_values(0, 0, 2, ReadOnly, &mut other).unwrap();
    assert_error!(same.as_mut_slice(), ErrorKind::NotWritable { mode: ReadOnly });
    assert_error!(other.as_mut_slice(), ErrorKind::NotWritable { mode: ReadOnly });
    table.read_rows(0..1, &mut same).unwrap();
    assert_error!(same.as_mut_slice(), ErrorKind::NotWritable { mode: ReadOnly });
}

#[test]
fn a_block_taken_for_reading_keeps_what_it_showed() {
    for layout in LAYOUTS {
        let mut table = numbered::<f32>(2, 2, layout);
        let (mut same, mut other) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<i32>::new());
        table.get_block_of_rows(0, 2, ReadOnly, &mut same).unwrap();
        table.get_block_of_rows(0, 2, ReadOnly, &mut other).unwrap();
        table.fill(9.0).unwrap();
        table.resize(100).unwrap();
        assert_eq!((same.as_slice(), other.as_slice()), (&[1.0, 2.0, 3.0, 4.0][..], &[1, 2, 3, 4][..]));
        drop(table);
        assert_eq!(same.as_slice(), [1.0, 2.0, 3.0, 4.0]);
    }
}

/// The descriptor lets go of what it read first, so that the memory has one owner again.
#[test]
fn a_descriptor_that_reads_and_then_writes_makes_no_copy() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let place = address(table.as_slice().unwrap());
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 2, ReadOnly, &mut block).unwrap();
    table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
    assert_eq!(address(block.as_slice()), place);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated);
}

#[test]
fn a_loop_over_blocks_allocates_once() {
    let mut table = numbered::<u8>(11, 3, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    let mut place = None;
    for first_row in (0..11).step_by(4) {
        for mode in MODES {
            table.get_block_of_rows(first_row, 4, mode, &mut block).unwrap();
            assert_eq!(
                (block.capacity(), *place.get_or_insert(address(block.as_slice()))),
                (12, address(block.as_slice()))
            );
            table.release_block_of_rows(&mut block).unwrap();
        }
    }
}

#[test]
fn the_buffer_survives_zero_copy_blocks_in_between() {
    let (mut bytes, mut floats) = (numbered::<u8>(4, 2, RowMajor), numbered::<f32>(4, 2, RowMajor));
    let mut block = BlockDescriptor::<f32>::new();
    bytes.get_block_of_rows(0, 4, ReadOnly, &mut block).unwrap();
    floats.get_block_of_rows(0, 4, ReadOnly, &mut block).unwrap();
    assert!(block.is_zero_copy());
    bytes.get_block_of_rows(0, 3, ReadOnly, &mut block).unwrap();
    assert_eq!((block.capacity(), block.as_slice()), (8, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));
}

#[test]
fn zero_copy_blocks_allocate_nothing() {
    let mut table = numbered::<f32>(4, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    for mode in MODES {
        table.get_block_of_rows(1, 3, mode, &mut block).unwrap();
        table.release_block_of_rows(&mut block).unwrap();
    }
    assert_eq!(block.capacity(), 0);
}

/// Rows and columns of a table.
type Sizes = (usize, usize);

/// Layout, sizes, and rows: is a block of rows the memory, if the type is the stored one?
const ROWS_IN_PLACE: [(DataLayout, Sizes, Range<usize>, bool); 10] = [
    (RowMajor, (4, 3), 0..4, true),
    (RowMajor, (4, 3), 1..3, true),
    (RowMajor, (4, 3), 3..4, true),
    (RowMajor, (4, 1), 1..3, true),
    (ColumnMajor, (4, 3), 0..4, false),
    (ColumnMajor, (4, 3), 1..3, false),
    (ColumnMajor, (4, 3), 2..3, false), // the values of one row lie 4 apart
    (ColumnMajor, (1, 3), 0..1, true),
    (ColumnMajor, (4, 1), 0..4, true),
    (ColumnMajor, (4, 1), 1..3, true),
];

/// Layout, sizes, column and rows: is a block of column values the memory?
const COLUMN_IN_PLACE: [(DataLayout, Sizes, usize, Range<usize>, bool); 8] = [
    (RowMajor, (4, 3), 1, 0..4, false),
    (RowMajor, (4, 3), 1, 1..3, false),
    (RowMajor, (4, 3), 2, 3..4, true), // one value
    (RowMajor, (4, 1), 0, 1..3, true),
    (ColumnMajor, (4, 3), 1, 0..4, true),
    (ColumnMajor, (4, 3), 2, 1..3, true),
    (ColumnMajor, (1, 3), 2, 0..1, true),
    (ColumnMajor, (4, 1), 0, 0..4, true),
];

/// Where the value at a position is in memory.
fn place_of(table: &HomogenNumericTable<f32>, row: usize, column: usize) -> usize {
    let Shape { rows, columns } = table.shape();
    let index = if table.data_layout() == RowMajor { row * columns + column } else { column * rows + row };
    address(table.array().unwrap()) + index * size_of::<f32>()
}

#[test]
fn blocks_of_rows_are_the_memory_wherever_they_can_be() {
    for (layout, (row_count, columns), rows, in_place) in ROWS_IN_PLACE {
        let mut table = numbered::<f32>(row_count, columns, layout);
        let place = place_of(&table, rows.start, 0);
        let is_memory = |values: &[f32]| address(values) == place;
        for mode in MODES {
            let mut block = BlockDescriptor::<f32>::new();
            table.get_block_of_rows(rows.start, rows.len(), mode, &mut block).unwrap();
            let found = (block.is_zero_copy(), is_memory(block.as_slice()));
            assert_eq!(found, (in_place, in_place), "{layout} {row_count} x {columns} {rows:?} {mode}");
        }
        let block = table.rows::<f32>(rows.clone()).unwrap();
        assert_eq!((block.is_zero_copy(), is_memory(&block)), (in_place, in_place));
        assert!(!table.rows::<f64>(rows.clone()).unwrap().is_zero_copy());
        assert!(!table.rows_mut::<f64>(rows.clone()).unwrap().is_zero_copy());
        let block = table.rows_mut::<f32>(rows.clone()).unwrap();
        assert_eq!((block.is_zero_copy(), is_memory(&block)), (in_place, in_place));
    }
}

#[test]
fn blocks_of_column_values_are_the_memory_wherever_they_can_be() {
    for (layout, (row_count, columns), column, rows, in_place) in COLUMN_IN_PLACE {
        let mut table = numbered::<f32>(row_count, columns, layout);
        let place = place_of(&table, rows.start, column);
        let is_memory = |values: &[f32]| address(values) == place;
        for mode in MODES {
            let mut block = BlockDescriptor::<f32>::new();
            table.get_block_of_column_values(column, rows.start, rows.len(), mode, &mut block).unwrap();
            let found = (block.is_zero_copy(), is_memory(block.as_slice()));
            assert_eq!(found, (in_place, in_place), "{layout} {row_count} x {columns} {column} {rows:?} {mode}");
        }
        let block = table.column::<f32>(column, rows.clone()).unwrap();
        assert_eq!((block.is_zero_copy(), is_memory(&block)), (in_place, in_place));
        assert!(!table.column::<f64>(column, rows.clone()).unwrap().is_zero_copy());
        assert!(!table.column_mut::<f64>(column, rows.clone()).unwrap().is_zero_copy());
        let block = table.column_mut::<f32>(column, rows.clone()).unwrap();
        assert_eq!((block.is_zero_copy(), is_memory(&block)), (in_place, in_place));
    }
}

#[test]
fn a_row_of_a_shrunk_column_major_table_is_not_the_memory() {
    let mut table = numbered::<f32>(3, 2, ColumnMajor);
    table.resize(1).unwrap();
    let block = table.rows::<f32>(0..1).unwrap();
    assert_eq!((&block[..], block.is_zero_copy()), (&[1.0, 2.0][..], false));
}

#[test]
fn offsets_and_counts_are_those_of_the_table() {
    let mut table = numbered::<f32>(5, 3, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(2, 2, ReadOnly, &mut block).unwrap();
    assert_eq!((block.row_offset(), block.column_offset(), block.row_count(), block.column_count()), (2, 0, 2, 3));
    assert_eq!(block.row(1), [10.0, 11.0, 12.0]);
    table.get_block_of_column_values(2, 1, 3, ReadOnly, &mut block).unwrap();
    assert_eq!((block.row_offset(), block.column_offset(), block.row_count(), block.column_count()), (1, 2, 3, 1));
    assert_eq!(block.row(2), [12.0]);
    let rows = table.rows::<f64>(2..4).unwrap();
    assert_eq!((rows.row_offset(), rows.row_range(), rows.row_count(), rows.column_count()), (2, 2..4, 2, 3));
    let column = table.column::<f64>(2, 1..4).unwrap();
    assert_eq!((column.row_offset(), column.column_offset(), column.row_count(), column.column_count()), (1, 2, 3, 1));
}
