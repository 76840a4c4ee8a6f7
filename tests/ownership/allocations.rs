//! A loop over blocks allocates once: a reused descriptor asks for no memory.

use numeric_table::convert::convert_slice;
use numeric_table::prelude::*;
use test_support::tables::LAYOUTS;

use super::counting::requests;

/// Goes over a table block by block, and changes a value of each if the mode permits.
fn walk<U: Element>(table: &mut HomogenNumericTable<f32>, mode: ReadWriteMode, block: &mut BlockDescriptor<U>) {
    for first in (0..table.row_count()).step_by(10) {
        table.get_block_of_rows(first, 10, mode, block).unwrap();
        if mode.is_writable() {
            block.as_mut_slice().unwrap()[0] = U::default();
        }
        table.release_block_of_rows(block).unwrap();
    }
    for column in 0..table.column_count() {
        table.get_block_of_column_values(column, 5, 10, mode, block).unwrap();
        if mode.is_writable() {
            block.as_mut_slice().unwrap()[0] = U::default();
        }
        table.release_block_of_column_values(block).unwrap();
    }
}

fn never_allocates_again<U: Element>(layout: DataLayout) {
    let mut table = HomogenNumericTable::full_with_layout(Shape { rows: 95, columns: 4 }, 1.5_f32, layout).unwrap();
    for mode in [ReadWriteMode::ReadOnly, ReadWriteMode::WriteOnly, ReadWriteMode::ReadWrite] {
        let mut block = BlockDescriptor::<U>::new();
        walk(&mut table, mode, &mut block);
        let again = requests(|| walk(&mut table, mode, &mut block));
        assert_eq!(again, 0, "{} blocks, {mode}, {layout:?}", U::TYPE);
    }
}

#[test]
fn a_reused_descriptor_allocates_nothing() {
    for layout in LAYOUTS {
        never_allocates_again::<f32>(layout);
        never_allocates_again::<f64>(layout);
        never_allocates_again::<i16>(layout);
    }
}

#[test]
fn reading_rows_again_allocates_nothing() {
    let table = HomogenNumericTable::full(Shape { rows: 100, columns: 4 }, 1.5_f32).unwrap();
    let mut block = BlockDescriptor::<f64>::with_policy(ConversionPolicy::Exact);
    let mut same = BlockDescriptor::<f32>::new();
    table.read_rows(0..10, &mut block).unwrap();
    let again = requests(|| {
        for row in 0..90 {
            table.read_rows(row..row + 10, &mut block).unwrap();
            table.read_rows(row..row + 10, &mut same).unwrap();
            assert!(table.rows::<f32>(row..row + 10).unwrap().is_zero_copy());
        }
    });
    assert_eq!(again, 0);
}

#[test]
fn converting_a_slice_allocates_nothing() {
    let (source, mut target) = (vec![1.5_f32; 10_000], vec![0_i32; 10_000]);
    convert_slice(&source, &mut target, ConversionPolicy::Saturate).unwrap(); // finds out what the machine has, once
    for policy in [ConversionPolicy::Saturate, ConversionPolicy::Checked] {
        assert_eq!(requests(|| convert_slice(&source, &mut target, policy).unwrap()), 0);
    }
}
