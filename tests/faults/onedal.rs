//! Faults 50 to 67, but for those of arrays and archives: oneDAL's tables.

use std::ops::Range;

use numeric_table::prelude::*;
use test_support::SmallNumber;
use test_support::tables::*;

use DataLayout::{ColumnMajor, RowMajor};

/// Fault 50: the builder's `copy_data` copies the allocated size, not the source's.
#[test]
fn copying_checks_both_sizes() {
    let (source, mut table) = (numbered::<f32>(1, 2, RowMajor), numbered::<f32>(2, 2, RowMajor));
    let mut target = table.view_mut().unwrap();
    assert_error!(target.copy_from(source.view().unwrap()), ErrorKind::ShapeMismatch { .. });
    assert_eq!(values_of(&table), numbers::<f32>(2, 0..2));
}

/// Fault 51: row ranges that run backwards, and negative starts, pass the check.
#[test]
fn a_range_that_runs_backwards_is_an_error() {
    let backwards = Range { start: 2, end: 1 };
    let mut table = numbered::<f32>(3, 2, RowMajor);
    assert_error!(table.rows::<f32>(backwards.clone()), ErrorKind::RowsOutOfRange { .. });
    assert_error!(table.rows::<f64>(backwards.clone()), ErrorKind::RowsOutOfRange { .. });
    assert_error!(table.column_mut::<f64>(0, backwards.clone()), ErrorKind::RowsOutOfRange { .. });
    assert_error!(table.slice_rows(backwards), ErrorKind::RowsOutOfRange { .. });
}

/// Fault 58: a larger block that is used again keeps its old count.
#[test]
fn a_reused_block_has_the_count_of_what_it_shows() {
    let table = numbered::<u8>(5, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    assert_eq!(table.read_rows(0..5, &mut block).unwrap().len(), 10);
    assert_eq!(table.read_rows(1..2, &mut block).unwrap(), [3.0, 4.0]);
    assert_eq!((block.as_slice().len(), block.row_count(), block.capacity()), (2, 1, 10));
}

/// Fault 59: 8- and 16-bit tables can be built and not read.
#[test]
fn tables_of_small_types_are_read() {
    fn read<T: SmallNumber>() {
        let table = numbered::<T>(2, 2, RowMajor);
        assert_eq!(&table.rows::<f32>(1..2).unwrap()[..], [3.0, 4.0]);
        assert_eq!(&table.column::<i32>(1, 0..2).unwrap()[..], [2, 4]);
    }
    read::<i8>();
    read::<u8>();
    read::<i16>();
    read::<u16>();
    read::<numeric_table::f16>();
    read::<numeric_table::bf16>();
}

/// Fault 63: arrays that are too short are one kind of exception, those that are too long another.
#[test]
fn an_array_is_neither_too_long_nor_too_short() {
    let from = |count| HomogenNumericTable::from_array(vec![1.0_f32; count], shape(3, 2));
    assert_error!(from(5), ErrorKind::ArrayLength { have: 5, need: 6, .. });
    assert_error!(from(7), ErrorKind::ArrayLength { have: 7, need: 6, .. });
    assert_eq!(values_of(&from(6).unwrap()), [1.0; 6]);
}

/// Fault 66: a table of another kind is cast all the same, and so is a moved-from one.
#[test]
fn a_table_is_never_taken_for_another_kind() {
    let mut source = numbered::<f32>(2, 2, RowMajor);
    let taken: Box<dyn NumericTable> = Box::new(std::mem::take(&mut source));
    assert_error!(source.array(), ErrorKind::NotAllocated);
    let piece = taken.piece(0, 0).unwrap().unwrap();
    assert_eq!(piece.view::<f32>().unwrap().row(0), Some(&[1.0, 2.0][..]));
    assert!(piece.view::<u32>().is_none());
}

/// Fault 67: a builder that is reset with a column-major table makes a row-major one with scrambled values.
#[test]
fn the_layout_goes_where_the_values_go() {
    let table = numbered::<f32>(3, 2, ColumnMajor);
    let read = HomogenNumericTable::<f32>::from_bytes(&table.to_bytes().unwrap()).unwrap();
    assert_eq!((read.data_layout(), values_of(&read)), (ColumnMajor, numbers::<f32>(2, 0..3)));
    let layout = table.data_layout();
    let rebuilt =
        HomogenNumericTable::from_array_with_layout(table.into_array().unwrap(), shape(3, 2), layout).unwrap();
    assert_eq!((rebuilt.data_layout(), values_of(&rebuilt)), (ColumnMajor, numbers::<f32>(2, 0..3)));
}
