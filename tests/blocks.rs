//! Blocks of rows and of column values: what they show, what they write back, when they are the table's own memory, and
//! what is refused.
//!
//! Semantics: DESIGN 5.2 and CONVERSION (policies); seed "Generic Interfaces", `getBlockOfRows` and
//! `getBlockOfColumnValues`. What sharing means for blocks is in `sharing.rs`.

mod common;

use std::ops::Range;

use common::tables::*;
use common::{SmallNumber, for_each_element};
use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::{Lease, Region, Target};
use numeric_table::{AnySlice, AnySliceMut, AnyValue, BlockKind};

use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::{ReadOnly, ReadWrite, WriteOnly};

fn backwards() -> Range<usize> {
    Range { start: 2, end: 1 }
}

// ----------------------------------------------------------------------------------------- get: which rows, which errors

#[test]
fn get_cuts_the_count_at_the_last_row() {
    for layout in LAYOUTS {
        let mut table = numbered::<f32>(5, 2, layout);
        let mut block = BlockDescriptor::<f64>::new();
        for (first, count, rows) in [(3, 2, 3..5), (3, 3, 3..5), (4, 100, 4..5), (1, usize::MAX, 1..5), (0, 5, 0..5)] {
            for mode in MODES {
                table.get_block_of_rows(first, count, mode, &mut block).unwrap();
                assert_eq!((block.rows(), block.row_count(), block.columns()), (rows.clone(), rows.len(), 0..2));
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
        assert_eq!((block.rows(), block.columns(), block.column_count()), (rows, 1..2, 1));
    }
}

/// DAAL: a success without rows.
#[test]
fn get_behind_the_last_row_is_an_error() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    for first in [4, usize::MAX] {
        for count in [0, 1, usize::MAX] {
            for mode in MODES {
                assert_error!(
                    table.get_block_of_rows(first, count, mode, &mut block),
                    Error::RowsOutOfRange { rows, row_count: 3 } if rows.start == first
                );
                assert_error!(
                    table.get_block_of_column_values(0, first, count, mode, &mut block),
                    Error::RowsOutOfRange { rows, row_count: 3 } if rows.start == first
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
            assert_eq!((same.as_slice().len(), same.rows(), same.column_count()), (0, 3..3, 2));
            table.release_block_of_rows(&mut same).unwrap();
            table.get_block_of_column_values(1, 3, 7, mode, &mut other).unwrap();
            assert_eq!((other.as_slice().len(), other.rows(), other.columns()), (0, 3..3, 1..2));
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
                Error::ColumnOutOfRange { column: found, column_count: 2 } if found == column
            );
        }
    }
}

#[test]
fn a_table_without_memory_gives_no_block() {
    let mut table = HomogenNumericTable::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    let (mut same, mut other) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<i32>::new());
    for mode in MODES {
        assert_error!(table.get_block_of_rows(0, 3, mode, &mut same), Error::NotAllocated);
        assert_error!(table.get_block_of_rows(0, 3, mode, &mut other), Error::NotAllocated);
        assert_error!(table.get_block_of_column_values(0, 0, 3, mode, &mut same), Error::NotAllocated);
        assert_error!(table.get_block_of_column_values(0, 0, 3, mode, &mut other), Error::NotAllocated);
    }
    assert_error!(table.rows::<f32>(0..3), Error::NotAllocated);
    assert_error!(table.rows_mut::<i32>(0..3), Error::NotAllocated);
    assert_error!(table.column::<f32>(0, 0..3), Error::NotAllocated);
    assert_error!(table.column_mut::<i32>(0, 0..3), Error::NotAllocated);
    assert_error!(table.value::<f32>(0, 0), Error::NotAllocated);
    assert_error!(table.set_value(0, 0, 1.0), Error::NotAllocated);
    assert_error!(table.fill(1.0), Error::NotAllocated);
}

#[test]
fn a_table_without_rows_and_memory_gives_empty_blocks() {
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

// ------------------------------------------------------------------------- every mode x same or other type x both layouts

/// Takes rows 1..3 of a 4 x 2 table, looks, writes 9 into their second row if it may, and releases.
fn rows_in_mode<T: SmallNumber, U: SmallNumber>(mode: ReadWriteMode, layout: DataLayout) -> (Vec<U>, Vec<T>) {
    let mut table = numbered::<T>(4, 2, layout);
    let mut block = BlockDescriptor::<U>::new();
    table.get_block_of_rows(1, 2, mode, &mut block).unwrap();
    assert_eq!((block.mode(), block.rows(), block.columns()), (Some(mode), 1..3, 0..2));
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
    assert_eq!((block.mode(), block.rows(), block.columns()), (Some(mode), 1..4, 1..2));
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

// ----------------------------------------------------------------------------------------------------- release: errors

#[test]
fn release_on_another_table_is_an_error_and_the_block_is_still_held() {
    let (mut table, mut other) = (numbered::<f32>(3, 2, RowMajor), numbered::<f32>(3, 2, RowMajor));
    let (mut same, mut converted) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<f64>::new());
    for mode in MODES {
        table.get_block_of_rows(0, 1, mode, &mut same).unwrap();
        assert_error!(other.release_block_of_rows(&mut same), Error::WrongTable);
        table.release_block_of_rows(&mut same).unwrap();
        table.get_block_of_column_values(0, 0, 1, mode, &mut converted).unwrap();
        assert_error!(other.release_block_of_column_values(&mut converted), Error::WrongTable);
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
    assert_error!(clone.release_block_of_rows(&mut block), Error::WrongTable);
    table.release_block_of_rows(&mut block).unwrap();
}

#[test]
fn release_twice_is_an_error() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    for mode in MODES {
        table.get_block_of_rows(0, 1, mode, &mut block).unwrap();
        table.release_block_of_rows(&mut block).unwrap();
        assert_error!(table.release_block_of_rows(&mut block), Error::NoBlock);
        assert_error!(table.release_block_of_column_values(&mut block), Error::NoBlock);
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
            Error::WrongBlockKind { expected: BlockKind::ColumnValues, found: BlockKind::Rows }
        );
        table.release_block_of_rows(&mut block).unwrap();
        table.get_block_of_column_values(0, 0, 2, mode, &mut block).unwrap();
        assert_error!(
            table.release_block_of_rows(&mut block),
            Error::WrongBlockKind { expected: BlockKind::Rows, found: BlockKind::ColumnValues }
        );
        table.release_block_of_column_values(&mut block).unwrap();
    }
}

#[test]
fn release_after_a_failed_get_is_an_error() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    assert_error!(table.get_block_of_rows(4, 1, ReadWrite, &mut block), Error::RowsOutOfRange { .. });
    assert_error!(table.release_block_of_rows(&mut block), Error::NoBlock);
    assert_error!(block.as_mut_slice(), Error::NoBlock);
    let mut exact = BlockDescriptor::<i32>::with_policy(ConversionPolicy::Exact);
    table.set_value(1, 1, 0.5).unwrap();
    assert_error!(table.get_block_of_rows(0, 3, ReadWrite, &mut exact), Error::ValueNotRepresentable { .. });
    assert_error!(table.release_block_of_rows(&mut exact), Error::NoBlock);
    assert!(table.as_slice().is_ok()); // not leased
}

#[test]
fn a_descriptor_that_never_had_a_block_is_empty() {
    let mut block = BlockDescriptor::<f32>::default();
    assert_eq!((block.as_slice().len(), block.row_count(), block.column_count()), (0, 0, 0));
    assert_eq!((block.row_offset(), block.column_offset(), block.mode(), block.capacity()), (0, 0, None, 0));
    assert!(!block.is_zero_copy());
    assert_error!(block.as_mut_slice(), Error::NoBlock);
    assert_error!(numbered::<f32>(1, 1, RowMajor).release_block_of_rows(&mut block), Error::NoBlock);
}

/// DAAL keeps the counts of the block that was.
#[test]
fn a_released_descriptor_is_empty() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(1, 2, ReadWrite, &mut block).unwrap();
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!((block.as_slice().len(), block.rows(), block.columns(), block.mode()), (0, 0..0, 0..0, None));
}

#[test]
fn a_descriptor_that_holds_a_writable_block_takes_no_other() {
    let (mut table, mut other) = (numbered::<f32>(3, 2, RowMajor), numbered::<f32>(3, 2, RowMajor));
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 1, ReadWrite, &mut block).unwrap();
    for mode in MODES {
        assert_error!(
            other.get_block_of_rows(0, 1, mode, &mut block),
            Error::BlockOutstanding { rows } if rows == (1..2)
        );
    }
    assert_error!(other.read_rows(0..1, &mut block), Error::BlockOutstanding { .. });
    assert_eq!(block.as_slice(), [3.0, 4.0]);
    table.release_block_of_rows(&mut block).unwrap();
}

#[test]
fn a_descriptor_that_holds_a_block_for_reading_takes_the_next() {
    let (mut table, mut other) = (numbered::<f32>(3, 2, RowMajor), numbered::<f32>(3, 2, ColumnMajor));
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 1, ReadOnly, &mut block).unwrap();
    other.get_block_of_rows(2, 1, ReadWrite, &mut block).unwrap();
    assert_error!(table.release_block_of_rows(&mut block), Error::WrongTable);
    assert_eq!(block.as_slice(), [5.0, 6.0]);
}

// ------------------------------------------------------------------------------------------------------------ the lease

fn assert_leased<R>(what: &str, rows: &Range<usize>, result: Result<R, Error>) {
    match result {
        Err(Error::BlockOutstanding { rows: found }) => assert_eq!(found, *rows, "{what}"),
        Err(other) => panic!("{what}: {other:?}"),
        Ok(_) => panic!("{what} succeeded although a writable block is out"),
    }
}

/// Tries every access to the values or their memory.
fn assert_every_access_is_refused(table: &mut HomogenNumericTable<f32>, rows: Range<usize>) {
    let region = Region { rows: 0..1, columns: 0..2 };
    let mut block = BlockDescriptor::<f32>::new();
    let mut other = BlockDescriptor::<i32>::new();
    let (mut values, rule) = ([0.0_f32; 2], WriteRule { policy: ConversionPolicy::Saturate, keep_unchanged: false });
    macro_rules! leased {
        ($($call:expr;)*) => { $(assert_leased(stringify!($call), &rows, $call.map(drop));)* };
    }
    leased! {
        table.array();
        table.as_slice();
        table.as_mut_slice();
        table.view();
        table.view_mut();
        table.clone().into_array();
        table.set_array(vec![0.0_f32; 8], 4);
        table.allocate_data_memory();
        table.free_data_memory();
        table.resize(0);
        table.resize(4);
        table.resize(5);
        table.slice_rows(0..1);
        table.slice_rows(0..0);
        table.convert::<f32>();
        table.convert::<i32>();
        table.convert_with::<i32>(ConversionPolicy::Checked);
        table.conversion_report::<i32>();
        table.to_layout(RowMajor);
        table.to_layout(ColumnMajor);
        table.to_compact();
        table.to_bytes();
        table.rows::<f32>(0..1);
        table.rows::<i32>(0..1);
        table.rows_with::<i32>(0..1, ConversionPolicy::Exact);
        table.rows_mut::<f32>(0..1);
        table.rows_mut::<i32>(0..1);
        table.column::<f32>(0, 0..1);
        table.column_with::<i32>(0, 0..1, ConversionPolicy::Exact);
        table.column_mut::<f32>(0, 0..1);
        table.read_rows(0..1, &mut block);
        table.read_rows(0..1, &mut other);
        table.row_blocks::<f32>(2).unwrap().next().unwrap();
        table.row_blocks_mut::<f32>(2);
        table.value::<f32>(0, 0);
        table.set_value(0, 0, 1.0_f32);
        table.fill(1.0_f32);
        table.piece(0, 0);
        table.piece(4, 2);
        table.pieces_mut();
        table.piece_mut(0, 0);
        table.check_writable();
        table.read_region(&region, Target::new(AnySliceMut::new(&mut values), region.shape(), rule.policy).unwrap());
        table.write_region(&region, AnySlice::new(&values), rule);
        table.lend_region(&region, Some(ElementType::F32), &mut Lease::new());
        table.lend_region(&region, Some(ElementType::F64), &mut Lease::new());
        table.lend_region(&region, None, &mut Lease::new());
    }
    for mode in MODES {
        leased! {
            table.get_block_of_rows(0, 1, mode, &mut block);
            table.get_block_of_rows(3, 1, mode, &mut other);
            table.get_block_of_column_values(1, 0, 4, mode, &mut block);
            table.get_block_of_column_values(1, 0, 4, mode, &mut other);
        }
    }
    #[cfg(feature = "rayon")]
    {
        use rayon::iter::ParallelIterator;
        leased! {
            table.par_row_blocks::<f32>(2).unwrap().try_for_each(|block| block.map(drop));
            table.par_row_blocks_mut::<f32>(2);
        }
    }
}

#[test]
fn every_other_access_is_refused_while_a_writable_block_is_out() {
    for layout in LAYOUTS {
        for mode in [WriteOnly, ReadWrite] {
            let mut table = numbered::<f32>(4, 2, layout);
            let mut block = BlockDescriptor::<f32>::new();
            table.get_block_of_rows(1, 2, mode, &mut block).unwrap();
            assert_every_access_is_refused(&mut table, 1..3);
            table.release_block_of_rows(&mut block).unwrap();
            let mut block = BlockDescriptor::<f64>::new();
            table.get_block_of_column_values(1, 0, 3, mode, &mut block).unwrap();
            assert_every_access_is_refused(&mut table, 0..3);
            table.release_block_of_column_values(&mut block).unwrap();
            assert!(table.as_slice().is_ok());
        }
    }
}

#[test]
fn sizes_and_metadata_stay_readable_while_a_writable_block_is_out() {
    let mut table = numbered::<f32>(4, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 2, ReadWrite, &mut block).unwrap();
    assert_eq!((table.shape(), table.element_type(), table.data_layout()), (shape(4, 2), ElementType::F32, RowMajor));
    assert_eq!((table.data_memory_status(), table.dictionary().len()), (MemoryStatus::UserAllocated, 2));
    assert_eq!((table.feature_type(1).unwrap(), table.category_count(1).unwrap()), (FeatureType::Continuous, None));
    assert!(format!("{table:?}").contains("4 x 2"));
}

#[test]
fn a_dropped_block_ends_the_lease_and_keeps_what_was_written_in_place() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 9.0;
    drop(block);
    assert_eq!(table.as_slice().unwrap(), [9.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_dropped_block_ends_the_lease_and_drops_converted_values() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 9.0;
    drop(block);
    assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_leaked_block_leaves_the_table_leased_and_nothing_worse() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    let leaked = std::mem::ManuallyDrop::new(block);
    assert_error!(table.as_slice(), Error::BlockOutstanding { .. });
    table = numbered::<f32>(1, 1, RowMajor);
    assert!(table.as_slice().is_ok());
    drop(std::mem::ManuallyDrop::into_inner(leaked)); // for the leak checker's sake
}

#[test]
fn a_block_for_reading_leases_nothing() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let (mut first, mut second) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<i32>::new());
    table.get_block_of_rows(0, 2, ReadOnly, &mut first).unwrap();
    table.get_block_of_rows(0, 2, ReadOnly, &mut second).unwrap();
    assert!(table.as_slice().is_ok());
    table.release_block_of_rows(&mut first).unwrap();
    table.release_block_of_rows(&mut second).unwrap();
}

// -------------------------------------------------------------------------------------- read only, buffers, zero copies

#[test]
fn a_block_taken_for_reading_is_not_writable() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let (mut same, mut other) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<i32>::new());
    table.get_block_of_rows(0, 2, ReadOnly, &mut same).unwrap();
    table.get_block_of_column_values(0, 0, 2, ReadOnly, &mut other).unwrap();
    assert_error!(same.as_mut_slice(), Error::NotWritable { mode: ReadOnly });
    assert_error!(other.as_mut_slice(), Error::NotWritable { mode: ReadOnly });
    table.read_rows(0..1, &mut same).unwrap();
    assert_error!(same.as_mut_slice(), Error::NotWritable { mode: ReadOnly });
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
    assert_eq!((rows.row_offset(), rows.rows(), rows.row_count(), rows.column_count()), (2, 2..4, 2, 3));
    let column = table.column::<f64>(2, 1..4).unwrap();
    assert_eq!((column.row_offset(), column.column_offset(), column.row_count(), column.column_count()), (1, 2, 3, 1));
}

// ----------------------------------------------------------------------------------------- blocks that borrow the table

#[test]
fn ranges_of_borrowing_blocks_are_strict() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    for rows in [2..4, 3..4, 0..usize::MAX, usize::MAX..usize::MAX, backwards()] {
        let mut block = BlockDescriptor::<f32>::new();
        macro_rules! refused {
            ($($call:expr;)*) => { $(assert_error!(
                $call, Error::RowsOutOfRange { rows: found, row_count: 3 } if found == rows
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
    assert_error!(table.column::<f32>(2, 0..3), Error::ColumnOutOfRange { column: 2, column_count: 2 });
    assert_error!(table.column_mut::<f64>(usize::MAX, 0..3), Error::ColumnOutOfRange { column_count: 2, .. });
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
    assert_error!(block.write_back(), Error::ValueNotRepresentable { row: 1, column: 1, .. });
    block[3] = 255;
    block.write_back().unwrap();
    block.release().unwrap();
    let mut column = table.column_mut::<i32>(1, 0..2).unwrap();
    column[0] = -1;
    assert_error!(column.write_back(), Error::ValueNotRepresentable { row: 0, column: 1, .. });
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
fn read_rows_gives_the_rows_and_reuses_the_buffer() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(5, 2, layout);
        let mut block = BlockDescriptor::<f32>::new();
        for row in 0..4 {
            assert_eq!(table.read_rows(row..row + 2, &mut block).unwrap(), numbers::<f32>(2, row..row + 2));
        }
        assert_eq!((block.capacity(), block.rows(), block.mode()), (4, 3..5, Some(ReadOnly)));
    }
}

// ------------------------------------------------------------------------------------------------- blocks one by one

#[test]
fn row_blocks_end_with_a_short_one() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(7, 2, layout);
        for (rows_per_block, starts) in [(3, &[0, 3, 6][..]), (7, &[0]), (8, &[0]), (usize::MAX, &[0])] {
            let blocks: Vec<_> = table.row_blocks::<f32>(rows_per_block).unwrap().map(Result::unwrap).collect();
            let found: Vec<_> = blocks.iter().map(|block| (block.row_offset(), block.row_count())).collect();
            let expected: Vec<_> = starts.iter().map(|&start| (start, rows_per_block.min(7 - start))).collect();
            assert_eq!(found, expected);
            assert_eq!(blocks.iter().flat_map(|block| block.to_vec()).collect::<Vec<_>>(), numbers::<f32>(2, 0..7));
        }
    }
}

#[test]
fn row_blocks_are_counted_and_walked_backwards() {
    let table = numbered::<u8>(7, 2, RowMajor);
    let mut blocks = table.row_blocks::<u8>(3).unwrap();
    assert_eq!(blocks.len(), 3);
    assert_eq!(blocks.next_back().unwrap().unwrap().rows(), 6..7);
    assert_eq!(blocks.len(), 2);
}

#[test]
fn blocks_of_no_rows_are_refused() {
    let mut table = numbered::<u8>(7, 2, RowMajor);
    assert_error!(table.row_blocks::<f32>(0), Error::EmptyBlocks);
    assert_error!(table.row_blocks_mut::<f32>(0), Error::EmptyBlocks);
    #[cfg(feature = "rayon")]
    {
        assert_error!(table.par_row_blocks::<f32>(0), Error::EmptyBlocks);
        assert_error!(table.par_row_blocks_mut::<f32>(0), Error::EmptyBlocks);
    }
    assert_eq!(values_of(&table), numbers::<u8>(2, 0..7));
}

#[test]
fn mutable_row_blocks_cover_every_row_once() {
    for layout in LAYOUTS {
        for rows_per_block in [1, 2, 3, 7, 8, usize::MAX] {
            let mut table = numbered::<u8>(7, 2, layout);
            let mut next_row = 0_usize;
            for block in table.row_blocks_mut::<f32>(rows_per_block).unwrap() {
                let mut block = block.unwrap();
                assert_eq!(block.rows(), next_row..next_row.saturating_add(rows_per_block).min(7));
                next_row = block.rows().end;
                block.iter_mut().for_each(|value| *value += 10.0);
                block.release().unwrap();
            }
            assert_eq!(next_row, 7);
            assert_eq!(values_of(&table), (11..25).collect::<Vec<u8>>());
        }
    }
}

#[test]
fn mutable_row_blocks_are_held_side_by_side() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(4, 2, layout);
        let mut blocks: Vec<_> = table.row_blocks_mut::<u8>(2).unwrap().map(Result::unwrap).collect();
        blocks[1].fill(9);
        let first = blocks[0].to_vec();
        blocks[1][0] = first[0];
        drop(blocks);
        assert_eq!(values_of(&table), [1, 2, 3, 4, 1, 9, 9, 9]);
    }
}

#[test]
fn mutable_row_blocks_of_the_stored_type_are_the_memory() {
    let mut table = numbered::<u8>(5, 2, RowMajor);
    let place = address(table.as_slice().unwrap());
    let places: Vec<usize> =
        table.row_blocks_mut::<u8>(2).unwrap().map(|block| address(&block.unwrap()) - place).collect();
    assert_eq!(places, [0, 4, 8]);
}

#[cfg(feature = "rayon")]
mod parallel {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use rayon::iter::{IndexedParallelIterator, ParallelIterator};

    const ROWS: usize = 1003;

    /// 1003 rows of 3 columns; the value at a position is `(31 * row + 7 * column) % 101`.
    fn table(layout: DataLayout) -> HomogenNumericTable<i32> {
        let array = Array::from_fn(3 * ROWS, |i| match layout {
            RowMajor => value(i / 3, i % 3),
            ColumnMajor => value(i % ROWS, i / ROWS),
        });
        HomogenNumericTable::from_array_in(array.unwrap(), shape(ROWS, 3), layout).unwrap()
    }

    fn value(row: usize, column: usize) -> i32 {
        ((31 * row + 7 * column) % 101) as i32
    }

    fn in_pools(work: impl Fn() + Sync) {
        for threads in [1, 2, 7] {
            ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work);
        }
    }

    #[test]
    fn parallel_row_blocks_show_the_rows_in_order_for_every_number_of_threads() {
        for layout in LAYOUTS {
            let table = table(layout);
            let expected: Vec<f64> =
                (0..ROWS).flat_map(|row| (0..3).map(move |column| f64::from(value(row, column)))).collect();
            in_pools(|| {
                for rows_per_block in [1, 10, 1000, ROWS, usize::MAX] {
                    let blocks = table.par_row_blocks::<f64>(rows_per_block).unwrap();
                    assert_eq!(blocks.len(), ROWS.div_ceil(rows_per_block));
                    let found: Vec<Vec<f64>> = blocks.map(|block| block.unwrap().to_vec()).collect();
                    assert_eq!(found.concat(), expected);
                }
            });
        }
    }

    #[test]
    fn parallel_writers_give_the_same_table_for_every_number_of_threads() {
        for layout in LAYOUTS {
            in_pools(|| {
                for rows_per_block in [1, 10, 1000, ROWS, usize::MAX] {
                    let mut table = table(layout);
                    let blocks = table.par_row_blocks_mut::<f64>(rows_per_block).unwrap();
                    blocks
                        .try_for_each(|block| {
                            let mut block = block?;
                            let first = block.row_offset();
                            block
                                .iter_rows_mut()
                                .enumerate()
                                .for_each(|(row, values)| values[1] += (first + row) as f64);
                            block.release()
                        })
                        .unwrap();
                    let expected = |row, column| value(row, column) + if column == 1 { row as i32 } else { 0 };
                    let view = table.view().unwrap();
                    assert!(
                        (0..ROWS)
                            .all(|row| (0..3).all(|column| view.value(row, column) == Some(expected(row, column))))
                    );
                }
            });
        }
    }

    #[test]
    fn parallel_writers_of_the_stored_type_write_in_place() {
        in_pools(|| {
            let mut table = table(RowMajor);
            let place = address(table.as_slice().unwrap());
            table.par_row_blocks_mut::<i32>(64).unwrap().for_each(|block| {
                let mut block = block.unwrap();
                assert!(block.is_zero_copy());
                block.fill(5);
            });
            assert_eq!((address(table.as_slice().unwrap()), values_of(&table)), (place, vec![5; 3 * ROWS]));
        });
    }

    #[test]
    fn parallel_blocks_know_their_index() {
        let mut table = table(RowMajor);
        in_pools(|| {
            let table = &table;
            let blocks = table.par_row_blocks::<i32>(10).unwrap().enumerate();
            assert!(blocks.map(|(index, block)| block.unwrap().row_offset() == 10 * index).all(|is_right| is_right));
        });
        let blocks = table.par_row_blocks_mut::<i32>(10).unwrap().enumerate().rev();
        assert!(blocks.map(|(index, block)| block.unwrap().row_offset() == 10 * index).all(|is_right| is_right));
    }

    #[test]
    fn an_empty_table_has_no_parallel_blocks() {
        let mut table = HomogenNumericTable::<f32>::default();
        assert_eq!(table.par_row_blocks::<f64>(1).unwrap().count(), 0);
        assert_eq!(table.par_row_blocks_mut::<f64>(1).unwrap().count(), 0);
        assert_eq!(table.par_row_blocks_mut::<f32>(usize::MAX).unwrap().len(), 0);
    }
}

// ---------------------------------------------------------------------------- values that do not fit, and the policies

/// Puts 300 at (3, 1) and -1 at (2, 2) of a 5 x 3 table of bytes, through rows 1..4. First in row-major order is (2, 2).
#[test]
fn the_first_value_that_does_not_fit_is_named_in_table_coordinates() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(5, 3, layout);
        let mut block = BlockDescriptor::<i32>::new();
        table.get_block_of_rows(1, 3, ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap()[2 * 3 + 1] = 300;
        block.as_mut_slice().unwrap()[3 + 2] = -1;
        assert_error!(
            table.release_block_of_rows(&mut block),
            Error::ValueNotRepresentable { row: 2, column: 2, value: AnyValue::I32(-1), target: ElementType::U8 }
        );
        drop(block);
        let mut rows = table.rows_mut::<i32>(1..4).unwrap();
        rows.row_mut(2)[1] = 300;
        rows.row_mut(1)[2] = -1;
        assert_error!(rows.release(), Error::ValueNotRepresentable { row: 2, column: 2, .. });
        assert_eq!(values_of(&table), numbers::<u8>(3, 0..5));
    }
}

#[test]
fn the_first_value_of_a_column_that_does_not_fit_is_named_in_table_coordinates() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(5, 3, layout);
        let mut block = BlockDescriptor::<f32>::new();
        table.get_block_of_column_values(2, 1, 4, WriteOnly, &mut block).unwrap();
        block.as_mut_slice().unwrap()[2..].copy_from_slice(&[f32::NAN, 256.0]);
        assert_error!(
            table.release_block_of_column_values(&mut block),
            Error::ValueNotRepresentable { row: 3, column: 2, target: ElementType::U8, .. }
        );
        drop(block);
        let mut column = table.column_mut::<f32>(2, 1..5).unwrap();
        column[3] = f32::INFINITY;
        assert_error!(column.release(), Error::ValueNotRepresentable { row: 4, column: 2, .. });
        assert_eq!(values_of(&table), numbers::<u8>(3, 0..5));
    }
}

#[test]
fn the_first_value_that_cannot_be_read_is_named_in_table_coordinates() {
    for layout in LAYOUTS {
        let mut table = numbered::<f64>(5, 3, layout);
        table.set_value(4, 0, 1e9).unwrap();
        table.set_value(3, 2, 0.5).unwrap();
        assert_error!(
            table.rows_with::<u8>(1..5, ConversionPolicy::Exact),
            Error::ValueNotRepresentable { row: 3, column: 2, value: AnyValue::F64(0.5), target: ElementType::U8 }
        );
        assert_error!(
            table.rows_with::<u8>(1..5, ConversionPolicy::Checked),
            Error::ValueNotRepresentable { row: 4, column: 0, .. }
        );
        assert_error!(
            table.column_with::<u8>(2, 1..5, ConversionPolicy::Exact),
            Error::ValueNotRepresentable { row: 3, column: 2, .. }
        );
        let mut block = BlockDescriptor::<u8>::with_policy(ConversionPolicy::Exact);
        assert_error!(table.read_rows(2..5, &mut block), Error::ValueNotRepresentable { row: 3, column: 2, .. });
    }
}

#[test]
fn a_release_that_fails_writes_nothing_and_can_be_corrected() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(2, 2, layout);
        let mut block = BlockDescriptor::<i32>::new();
        table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap().copy_from_slice(&[50, 51, 52, 256]);
        assert_error!(table.release_block_of_rows(&mut block), Error::ValueNotRepresentable { row: 1, column: 1, .. });
        assert_error!(table.as_slice(), Error::BlockOutstanding { .. }); // still held
        block.as_mut_slice().unwrap()[3] = 53;
        table.release_block_of_rows(&mut block).unwrap();
        assert_eq!(values_of(&table), [50, 51, 52, 53]);
    }
}

#[test]
fn a_release_that_fails_and_is_given_up_leaves_the_table_as_it_was() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(2, 2, layout);
        let mut block = BlockDescriptor::<i32>::new();
        table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap().copy_from_slice(&[50, 51, 52, 256]);
        assert!(table.release_block_of_rows(&mut block).is_err());
        drop(block);
        assert_eq!(values_of(&table), [1, 2, 3, 4]);
    }
}

#[test]
fn a_large_write_back_is_whole_or_nothing() {
    let rows = 200_000; // far above every threshold for parallel work
    let mut table = HomogenNumericTable::full(shape(rows, 2), 1_u8).unwrap();
    let mut block = table.rows_mut::<i32>(0..rows).unwrap();
    block.fill(7);
    block[2 * 150_000 + 1] = 999;
    block[2 * 199_999] = -1;
    assert_error!(block.release(), Error::ValueNotRepresentable { row: 150_000, column: 1, .. });
    assert!(table.as_slice().unwrap().iter().all(|&value| value == 1));
}

/// What is left of 300.75 and 7.5 in a table of bytes, written through a block of `f32` under each policy.
#[test]
fn the_policy_of_a_descriptor_decides_what_is_written_back() {
    let write = |policy: Option<ConversionPolicy>, value: f32| {
        let mut table = numbered::<u8>(1, 1, RowMajor);
        let mut block = policy.map_or_else(BlockDescriptor::new, BlockDescriptor::with_policy);
        table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap()[0] = value;
        let result = table.release_block_of_rows(&mut block);
        drop(block);
        result.map(|()| table.as_slice().unwrap()[0]).ok()
    };
    let (saturate, checked) = (Some(ConversionPolicy::Saturate), Some(ConversionPolicy::Checked));
    let exact = Some(ConversionPolicy::Exact);
    assert_eq!([None, saturate, checked, exact].map(|policy| write(policy, 300.75)), [None, Some(255), None, None]);
    assert_eq!([None, saturate, checked, exact].map(|policy| write(policy, 7.5)), [Some(7), Some(7), Some(7), None]);
    assert_eq!([None, saturate, checked, exact].map(|policy| write(policy, 8.0)), [Some(8); 4]);
}

#[test]
fn the_policy_of_a_borrowing_block_decides_what_is_written_back() {
    for (policy, expected) in [(ConversionPolicy::Saturate, Some(255)), (ConversionPolicy::Checked, None)] {
        let mut table = numbered::<u8>(1, 1, RowMajor);
        let mut block = table.rows_mut::<f32>(0..1).unwrap().with_policy(policy);
        block[0] = 300.0;
        assert_eq!(block.release().is_ok(), expected.is_some());
        let mut block = table.column_mut::<f32>(0, 0..1).unwrap().with_policy(policy);
        block[0] = 300.0;
        assert_eq!(block.release().is_ok(), expected.is_some());
        assert_eq!(table.as_slice().unwrap(), [expected.unwrap_or(1)]);
    }
    let mut table = numbered::<u8>(1, 1, RowMajor);
    let mut block = table.rows_mut::<f32>(0..1).unwrap().with_policy(ConversionPolicy::Exact);
    block[0] = 7.5;
    assert_error!(block.release(), Error::ValueNotRepresentable { row: 0, column: 0, .. });
}

#[test]
fn reading_saturates_unless_told_otherwise() {
    let mut table = HomogenNumericTable::from_rows(&[[300.7_f64, -1.0, f64::NAN, 7.9]]).unwrap();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(0, 1, ReadOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [255, 0, 0, 7]);
    assert_eq!(&table.rows::<u8>(0..1).unwrap()[..], [255, 0, 0, 7]);
    assert_eq!(table.value::<u8>(0, 0).unwrap(), 255);
}

// ----------------------------------------------------------------------------------------------- single values, assign

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
        assert_error!(table.value::<f64>(row, 0), Error::RowsOutOfRange { row_count: 2, .. });
        assert_error!(table.set_value(row, 0, 1.0), Error::RowsOutOfRange { row_count: 2, .. });
    }
    for column in [3, usize::MAX] {
        assert_error!(table.value::<i16>(0, column), Error::ColumnOutOfRange { column_count: 3, .. });
        assert_error!(table.set_value(0, column, 1_i16), Error::ColumnOutOfRange { column_count: 3, .. });
    }
}

#[test]
fn a_single_value_that_does_not_fit_is_named_in_table_coordinates() {
    let mut table = numbered::<u8>(3, 2, ColumnMajor);
    assert_error!(
        table.set_value(2, 1, 256_i64),
        Error::ValueNotRepresentable { row: 2, column: 1, value: AnyValue::I64(256), target: ElementType::U8 }
    );
    assert_eq!(values_of(&table), numbers::<u8>(2, 0..3));
}

#[test]
fn assign_writes_every_value_or_none() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(3, 2, layout);
        assert_error!(table.fill(f32::NAN), Error::ValueNotRepresentable { row: 0, column: 0, .. });
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
fn assign_leaves_room_behind_the_rows_alone() {
    let mut table = HomogenNumericTable::from_array_with_spare_rows(vec![1, 2, 3, 4], shape(1, 2)).unwrap();
    table.fill(9).unwrap();
    assert_eq!(&table.array().unwrap()[..], [9, 9, 3, 4]);
}

#[test]
fn every_value_can_be_assigned_to_a_table_without_values() {
    for layout in LAYOUTS {
        for (rows, columns) in [(0, 3), (3, 0), (0, 0), (usize::MAX, 0)] {
            let flag = AllocationFlag::DoAllocate;
            let mut table = HomogenNumericTable::<u8>::new_in(shape(rows, columns), flag, layout).unwrap();
            for value in [300.0, -1.0, f64::NAN] {
                table.fill(value).unwrap();
                assert_error!(table.set_value(rows, 0, value), Error::RowsOutOfRange { .. });
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
            assert_error!(one_too_many, Error::LengthMismatch { expected: 0, found: 1 });
        }
        assert_eq!(values_of(&table), numbers::<u8>(2, 0..3));
    }
}

#[test]
fn a_table_without_memory_or_with_a_block_out_takes_no_value_at_all() {
    let mut table = HomogenNumericTable::<u8>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(table.fill(300.0), Error::NotAllocated);
    let mut table = HomogenNumericTable::<u8>::new(shape(0, 2), AllocationFlag::DoAllocate).unwrap();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(0, 0, ReadWrite, &mut block).unwrap();
    assert_error!(table.fill(300.0), Error::BlockOutstanding { .. });
}

#[test]
fn a_table_without_values_is_converted_under_every_policy() {
    for layout in LAYOUTS {
        for (rows, columns) in [(0, 3), (3, 0), (0, 0)] {
            let flag = AllocationFlag::DoAllocate;
            let mut table = HomogenNumericTable::<f64>::new_in(shape(rows, columns), flag, layout).unwrap();
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
