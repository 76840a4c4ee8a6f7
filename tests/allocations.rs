//! A loop over blocks allocates once: a reused descriptor asks for no memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use numeric_table::convert::convert_slice;
use numeric_table::prelude::*;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts what each thread asks for.
struct Counting;

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

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
    let mut table = HomogenNumericTable::full_in(Shape { rows: 95, columns: 4 }, 1.5_f32, layout).unwrap();
    for mode in [ReadWriteMode::ReadOnly, ReadWriteMode::WriteOnly, ReadWriteMode::ReadWrite] {
        let mut block = BlockDescriptor::<U>::new();
        walk(&mut table, mode, &mut block);
        let again = allocations(|| walk(&mut table, mode, &mut block));
        assert_eq!(again, 0, "{} blocks, {mode}, {layout:?}", U::TYPE);
    }
}

#[test]
fn a_reused_descriptor_allocates_nothing() {
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
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
    let again = allocations(|| {
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
        assert_eq!(allocations(|| convert_slice(&source, &mut target, policy).unwrap()), 0);
    }
}
