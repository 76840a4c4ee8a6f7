//! A table is leased while a writable block is out: every other access is refused.

use std::ops::Range;

use numeric_table::MergedNumericTable;
use numeric_table::array::{AnySlice, AnySliceMut};
use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::spi::{Lease, Lend, Region, Target};
use test_support::tables::*;

use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::{ReadOnly, ReadWrite, WriteOnly};

fn assert_leased<R>(what: &str, rows: &Range<usize>, result: Result<R, Error>) {
    match result.map_err(Error::into_kind) {
        Err(ErrorKind::BlockOutstanding { rows: found }) => assert_eq!(found, *rows, "{what}"),
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
    assert_error!(table.as_slice(), ErrorKind::BlockOutstanding { .. });
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

#[test]
fn a_table_that_is_leased_is_refused_before_memory_is_taken_for_a_block() {
    for mode in [ReadWrite, WriteOnly] {
        let mut table = numbered::<f32>(4, 2, RowMajor);
        let (mut first, mut second) = (BlockDescriptor::<f64>::new(), BlockDescriptor::<f64>::new());
        table.get_block_of_rows(0, 1, mode, &mut first).unwrap();
        assert_leased("a second block", &(0..1), table.get_block_of_rows(0, 4, mode, &mut second));
        assert_eq!(second.capacity(), 0);
        drop(first);
        table.get_block_of_rows(0, 4, mode, &mut second).unwrap();
    }
}

#[test]
fn a_table_beside_another_says_that_it_is_leased() {
    let mut table = numbered::<f32>(4, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 2, ReadWrite, &mut block).unwrap();
    let mut merged = MergedNumericTable::new(
        [table, numbered::<f32>(4, 1, RowMajor)].map(|it| Box::new(it) as Box<dyn NumericTable>),
    )
    .unwrap();
    let region = Region { rows: 0..1, columns: 0..2 };
    let lender = merged.lender_mut().unwrap();
    for element in [ElementType::F32, ElementType::F64] {
        assert_leased("a loan", &(1..3), lender.lend_region(&region, Some(element), &mut Lease::new()));
    }
}
