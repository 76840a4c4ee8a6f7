//! Blocks that borrow the table.

use numeric_table::prelude::*;
use test_support::tables::*;

use super::backwards;

use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::ReadOnly;

#[test]
fn ranges_of_borrowing_blocks_are_strict() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    for rows in [2..4, 3..4, 0..usize::MAX, usize::MAX..usize::MAX, backwards()] {
        let mut block = BlockDescriptor::<f32>::new();
        macro_rules! refused {
            ($($call:expr;)*) => { $(assert_error!(
                $call,
                ErrorKind::RowsOutOfRange { rows: found, row_count: 3 } if *found == rows
            );)* };
        }
        refused! {
            table.rows::<f32>(rows.clone());
            table.rows::<f64>(rows.clone());
            table.rows_with::<f64>(rows.clone(), ConversionPolicy::Exact);
            table.rows_mut::<f32>(rows.clone());
            table.rows_mut::<f64>(rows.clone());
            table.column::<f32>(0, rows.clone());
            table.column::<f64>(0, rows.clone());
            table.column_mut::<f32>(0, rows.clone());
            table.column_mut::<f64>(0, rows.clone());
            table.read_rows(rows.clone(), &mut block);
        }
    }
    assert_error!(table.column::<f32>(2, 0..3), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
    assert_error!(table.column_mut::<f64>(usize::MAX, 0..3), ErrorKind::ColumnOutOfRange { column_count: 2, .. });
}

#[test]
fn an_empty_range_anywhere_inside_is_an_empty_block() {
    let mut table = numbered::<f32>(3, 2, ColumnMajor);
    for at in 0..=3 {
        assert!(table.rows::<f32>(at..at).unwrap().is_empty());
        assert!(table.column::<f64>(1, at..at).unwrap().is_empty());
        table.rows_mut::<f64>(at..at).unwrap().release().unwrap();
        table.column_mut::<f32>(1, at..at).unwrap().release().unwrap();
    }
}

#[test]
fn a_dropped_block_writes_back() {
    for layout in LAYOUTS {
        let mut table = numbered::<i32>(2, 2, layout);
        table.rows_mut::<f64>(0..1).unwrap()[1] = 20.0;
        table.rows_mut::<i32>(1..2).unwrap()[0] = 30;
        table.column_mut::<f64>(0, 0..1).unwrap()[0] = 10.0;
        table.column_mut::<i32>(1, 1..2).unwrap()[0] = 40;
        assert_eq!(values_of(&table), [10, 20, 30, 40]);
    }
}

#[test]
fn a_dropped_block_that_does_not_fit_writes_nothing() {
    let mut table = numbered::<u8>(2, 2, RowMajor);
    table.rows_mut::<i32>(0..2).unwrap().copy_from_slice(&[50, 256, 51, 52]);
    table.column_mut::<i32>(0, 0..2).unwrap().copy_from_slice(&[50, -1]);
    assert_eq!(values_of(&table), [1, 2, 3, 4]);
}

#[test]
fn a_discarded_block_writes_nothing_back() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(2, 2, layout);
        let mut block = table.rows_mut::<i32>(0..2).unwrap();
        block.fill(9);
        block.discard();
        let mut block = table.column_mut::<i32>(0, 0..2).unwrap();
        block.fill(9);
        block.discard();
        assert_eq!(values_of(&table), [1, 2, 3, 4]);
    }
}

#[test]
fn write_back_that_fails_can_be_corrected() {
    let mut table = numbered::<u8>(2, 2, RowMajor);
    let mut block = table.rows_mut::<i32>(0..2).unwrap();
    block[0] = 50;
    block[3] = 256;
    assert_error!(block.write_back(), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. });
    block[3] = 255;
    block.write_back().unwrap();
    block.release().unwrap();
    let mut column = table.column_mut::<i32>(1, 0..2).unwrap();
    column[0] = -1;
    assert_error!(column.write_back(), ErrorKind::ValueNotRepresentable { row: 0, column: 1, .. });
    column[0] = 60;
    column.release().unwrap();
    assert_eq!(values_of(&table), [50, 60, 3, 255]);
}

#[test]
fn a_block_written_back_in_between_goes_on_from_there() {
    let mut table = numbered::<f64>(1, 2, RowMajor);
    let mut block = table.rows_mut::<f32>(0..1).unwrap();
    block[0] = 7.0;
    block.write_back().unwrap();
    block[0] = 1.0; // back to what it was at first
    block.release().unwrap();
    assert_eq!(values_of(&table), [1.0, 2.0]);
}

#[test]
fn rows_of_a_block_are_walked_and_written_one_by_one() {
    let mut table = numbered::<u8>(3, 2, ColumnMajor);
    let block = table.rows::<i16>(1..3).unwrap();
    assert_eq!(block.iter_rows().map(<[i16]>::to_vec).collect::<Vec<_>>(), [[3, 4], [5, 6]]);
    assert_eq!(block.iter_rows().next_back().unwrap(), block.row(1));
    let mut block = table.rows_mut::<i16>(1..3).unwrap();
    block.row_mut(1)[0] = 50;
    block.iter_rows_mut().for_each(|row| row[1] += 10);
    assert_eq!(block.iter_rows().len(), 2);
    block.release().unwrap();
    assert_eq!(values_of(&table), [1, 2, 3, 14, 50, 16]);
}

#[test]
fn read_rows_returns_the_rows_and_reuses_the_buffer() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(5, 2, layout);
        let mut block = BlockDescriptor::<f32>::new();
        for row in 0..4 {
            assert_eq!(table.read_rows(row..row + 2, &mut block).unwrap(), numbers::<f32>(2, row..row + 2));
        }
        assert_eq!((block.capacity(), block.row_range(), block.mode()), (4, 3..5, Some(ReadOnly)));
    }
}
