//! Blocks in every mode, of the stored type and of another, in both layouts.

use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::{ReadOnly, ReadWrite, WriteOnly};

/// Takes rows 1..3 of a 4 x 2 table, looks, writes 9 into their second row if it may, and releases.
fn rows_in_mode<T: SmallNumber, U: SmallNumber>(mode: ReadWriteMode, layout: DataLayout) -> (Vec<U>, Vec<T>) {
    let mut table = numbered::<T>(4, 2, layout);
    let mut block = BlockDescriptor::<U>::new();
    table.get_block_of_rows(1, 2, mode, &mut block).unwrap();
    assert_eq!((block.mode(), block.row_range(), block.column_range()), (Some(mode), 1..3, 0..2));
    let shown = block.as_slice().to_vec();
    if mode.is_writable() {
        block.as_mut_slice().unwrap()[2..].fill(U::small(9));
    }
    table.release_block_of_rows(&mut block).unwrap();
    (shown, values_of(&table))
}

#[test]
fn a_read_only_block_shows_and_changes_nothing() {
    for layout in LAYOUTS {
        assert_eq!(rows_in_mode::<i32, i32>(ReadOnly, layout), (vec![3, 4, 5, 6], vec![1, 2, 3, 4, 5, 6, 7, 8]));
        let converted = rows_in_mode::<i32, f64>(ReadOnly, layout);
        assert_eq!(converted, (vec![3.0, 4.0, 5.0, 6.0], vec![1, 2, 3, 4, 5, 6, 7, 8]));
    }
}

#[test]
fn a_read_write_block_shows_and_writes() {
    for layout in LAYOUTS {
        assert_eq!(rows_in_mode::<i32, i32>(ReadWrite, layout), (vec![3, 4, 5, 6], vec![1, 2, 3, 4, 9, 9, 7, 8]));
        let converted = rows_in_mode::<i32, f64>(ReadWrite, layout);
        assert_eq!(converted, (vec![3.0, 4.0, 5.0, 6.0], vec![1, 2, 3, 4, 9, 9, 7, 8]));
    }
}

#[test]
fn a_write_only_block_of_the_same_type_and_layout_is_the_memory() {
    assert_eq!(rows_in_mode::<i32, i32>(WriteOnly, RowMajor), (vec![3, 4, 5, 6], vec![1, 2, 3, 4, 9, 9, 7, 8]));
}

#[test]
fn a_write_only_block_that_is_converted_begins_as_zeros_and_writes_every_value() {
    let zeros_written = vec![1, 2, 0, 0, 9, 9, 7, 8];
    assert_eq!(rows_in_mode::<i32, i32>(WriteOnly, ColumnMajor), (vec![0; 4], zeros_written.clone()));
    for layout in LAYOUTS {
        assert_eq!(rows_in_mode::<i32, f64>(WriteOnly, layout), (vec![0.0; 4], zeros_written.clone()));
    }
}

#[test]
fn a_write_only_block_never_shows_what_the_buffer_held_before() {
    let mut table = numbered::<i32>(4, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(0, 4, ReadOnly, &mut block).unwrap();
    table.release_block_of_rows(&mut block).unwrap();
    table.get_block_of_rows(1, 2, WriteOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [0.0; 4]);
}

/// Takes rows 1..4 of column 1 of a 4 x 2 table, looks, writes 9 into its last row if it may, and releases.
fn column_in_mode<T: SmallNumber, U: SmallNumber>(mode: ReadWriteMode, layout: DataLayout) -> (Vec<U>, Vec<T>) {
    let mut table = numbered::<T>(4, 2, layout);
    let mut block = BlockDescriptor::<U>::new();
    table.get_block_of_column_values(1, 1, 3, mode, &mut block).unwrap();
    assert_eq!((block.mode(), block.row_range(), block.column_range()), (Some(mode), 1..4, 1..2));
    let shown = block.as_slice().to_vec();
    if mode.is_writable() {
        block.as_mut_slice().unwrap()[2] = U::small(9);
    }
    table.release_block_of_column_values(&mut block).unwrap();
    (shown, values_of(&table))
}

#[test]
fn column_values_in_every_mode_type_and_layout() {
    let (before, written) = (vec![1, 2, 3, 4, 5, 6, 7, 8], vec![1, 2, 3, 4, 5, 6, 7, 9]);
    let zeros_written = vec![1, 2, 3, 0, 5, 0, 7, 9];
    for layout in LAYOUTS {
        assert_eq!(column_in_mode::<u8, u8>(ReadOnly, layout), (vec![4, 6, 8], before.clone()));
        assert_eq!(column_in_mode::<u8, f32>(ReadOnly, layout), (vec![4.0, 6.0, 8.0], before.clone()));
        assert_eq!(column_in_mode::<u8, u8>(ReadWrite, layout), (vec![4, 6, 8], written.clone()));
        assert_eq!(column_in_mode::<u8, f32>(ReadWrite, layout), (vec![4.0, 6.0, 8.0], written.clone()));
        assert_eq!(column_in_mode::<u8, f32>(WriteOnly, layout), (vec![0.0; 3], zeros_written.clone()));
    }
    assert_eq!(column_in_mode::<u8, u8>(WriteOnly, RowMajor), (vec![0; 3], zeros_written));
    assert_eq!(column_in_mode::<u8, u8>(WriteOnly, ColumnMajor), (vec![4, 6, 8], written));
}

/// Every pair reads and writes small numbers exactly, through `dyn` as a pipeline does.
fn pair_reads_and_writes<T: SmallNumber, U: SmallNumber>() {
    for layout in LAYOUTS {
        let mut table = numbered::<T>(3, 4, layout);
        let any: &mut dyn NumericTable = &mut table;
        assert_eq!(&any.rows::<U>(1..3).unwrap()[..], numbers::<U>(4, 1..3));
        assert_eq!(&any.column::<U>(2, 0..3).unwrap()[..], [3, 7, 11].map(U::small));
        assert_eq!(any.value::<U>(2, 1).unwrap(), U::small(10));

        let mut block = any.rows_mut::<U>(1..2).unwrap();
        block.copy_from_slice(&[50, 51, 52, 53].map(U::small));
        block.release().unwrap();
        let mut block = any.column_mut::<U>(3, 1..3).unwrap();
        block.copy_from_slice(&[60, 61].map(U::small));
        block.release().unwrap();
        any.set_value(0, 0, U::small(70)).unwrap();
        assert_eq!(values_of(&table), [70, 2, 3, 4, 50, 51, 52, 60, 9, 10, 11, 61].map(T::small));
        table.fill(U::small(0)).unwrap();
        assert_eq!(values_of(&table), [T::small(0); 12]);
    }
}

#[test]
fn all_pairs_of_types_read_and_write_small_numbers() {
    fn with_every_type<T: SmallNumber>() {
        for_each_element!(U => pair_reads_and_writes::<T, U>());
    }
    for_each_element!(with_every_type);
}

#[test]
fn tables_of_every_type_go_through_one_pipeline() {
    /// Doubles each value in blocks of two rows, and sums the last column.
    fn pipeline(table: &mut dyn NumericTable) -> Result<f64, Error> {
        let mut block = BlockDescriptor::<f64>::new();
        for first_row in (0..table.row_count()).step_by(2) {
            table.get_block_of_rows(first_row, 2, ReadWrite, &mut block)?;
            block.as_mut_slice()?.iter_mut().for_each(|value| *value *= 2.0);
            table.release_block_of_rows(&mut block)?;
        }
        Ok(table.column::<f64>(table.column_count() - 1, 0..table.row_count())?.iter().sum())
    }
    fn of<T: SmallNumber>() {
        for layout in LAYOUTS {
            let mut table: Box<dyn NumericTable> = Box::new(numbered::<T>(5, 3, layout));
            assert_eq!(pipeline(&mut *table).unwrap(), 2.0 * (3 + 6 + 9 + 12 + 15) as f64);
            assert_eq!(table.value::<i32>(4, 0).unwrap(), 26);
        }
    }
    for_each_element!(of);
}
