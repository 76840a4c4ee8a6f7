//! One test per fault that was found and mended, named after what broke.

use std::panic::{AssertUnwindSafe, catch_unwind};

use numeric_table::{ReadWriteMode::*, prelude::*};
use test_support::tables::LAYOUTS;

/// Lends two values, and panics when it is dropped.
struct PanickingOwner([u8; 2]);

impl AsRef<[u8]> for PanickingOwner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for PanickingOwner {
    fn drop(&mut self) {
        panic!("the owner does not want to go");
    }
}

fn table_of_panicking_owner() -> HomogenNumericTable<u8> {
    let array = Array::from_owner(PanickingOwner([1, 2]));
    HomogenNumericTable::from_array(array, Shape { rows: 1, columns: 2 }).unwrap()
}

#[test]
fn a_table_is_whole_after_its_owner_panicked_on_being_freed() {
    let mut table = table_of_panicking_owner();
    assert!(catch_unwind(AssertUnwindSafe(|| table.free_data_memory())).is_err());
    assert_eq!(table.data_memory_status(), MemoryStatus::NotAllocated);
    table.allocate_data_memory().unwrap();
    assert_eq!(table.as_slice().unwrap(), [0, 0]);
}

#[test]
fn a_table_is_whole_after_its_owner_panicked_on_being_replaced() {
    let mut table = table_of_panicking_owner();
    assert!(catch_unwind(AssertUnwindSafe(|| table.set_array(Vec::new(), 0))).is_err());
    assert_eq!((table.row_count(), table.data_memory_status()), (0, MemoryStatus::UserAllocated));
    let mut table = table_of_panicking_owner();
    assert!(catch_unwind(AssertUnwindSafe(|| table.resize(3))).is_err());
    assert_eq!(table.as_slice().unwrap(), [1, 2, 0, 0, 0, 0]);
    assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
}

#[test]
fn a_failed_get_leaves_the_block_that_was_held_for_reading() {
    let mut table = HomogenNumericTable::from_rows(&[[1.0_f64, 2.5]]).unwrap();
    let mut empty =
        HomogenNumericTable::<f64>::new(Shape { rows: 1, columns: 1 }, AllocationFlag::DoNotAllocate).unwrap();
    let mut block = BlockDescriptor::<i32>::with_policy(ConversionPolicy::Exact);
    table.get_block_of_column_values(0, 0, 1, ReadOnly, &mut block).unwrap();
    for mode in [ReadOnly, ReadWrite] {
        assert!(table.get_block_of_rows(0, 1, mode, &mut block).is_err()); // 2.5 is no i32
        assert!(empty.get_block_of_rows(0, 1, mode, &mut block).is_err());
        assert_eq!((block.as_slice(), block.mode(), block.column_range()), (&[1][..], Some(ReadOnly), 0..1));
    }
}

#[test]
fn a_descriptor_whose_table_is_gone_can_be_used_again() {
    let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]]).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    table = HomogenNumericTable::from_rows(&[[3_u8, 4]]).unwrap();
    assert!(table.release_block_of_rows(&mut block).is_err_and(|error| matches!(error.kind(), ErrorKind::WrongTable)));
    block.discard();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    assert_eq!((block.as_slice(), block.capacity()), (&[3.0, 4.0][..], 2));
}

#[test]
fn a_panic_writes_no_half_edited_block_back() {
    let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]]).unwrap();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut block = table.rows_mut::<f64>(0..1).unwrap();
        block[0] = 9.0;
        panic!("half-way");
    }));
    assert!(result.is_err());
    assert_eq!(table.as_slice().unwrap(), [1, 2]);
}

#[test]
fn a_range_of_columns_that_runs_backwards_is_shown_as_it_is() {
    let table = HomogenNumericTable::from_rows(&[[1, 2, 3, 4]]).unwrap();
    #[expect(clippy::reversed_empty_ranges, reason = "that is the fault")]
    let error = table.view().unwrap().slice_columns(3..1).unwrap_err();
    assert_eq!(error.to_string(), "columns 3..1 are out of range: there are 4 columns");
}

#[test]
fn a_range_from_past_the_end_on_does_not_run_backwards_in_the_error() {
    let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]]).unwrap();
    let error = table.rows::<f64>(9..).unwrap_err();
    assert_eq!(error.to_string(), "rows 9..9 are out of range: the table has 2 rows");
    assert_eq!(table.rows::<f64>(2..).unwrap().len(), 0);
}

#[test]
fn copying_between_different_shapes_names_both() {
    let mut table = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap();
    let other = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]]).unwrap();
    let error = table.view_mut().unwrap().copy_from(other.view().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "shapes differ: got 3 x 2, expected 2 x 3");
}

#[test]
fn errors_write_large_floats_with_an_exponent() {
    let table = HomogenNumericTable::from_rows(&[[1e300]]).unwrap();
    let error = table.convert_with::<f32>(ConversionPolicy::Checked).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value 1e300 at row 0, column 0 is not representable as f32: `ConversionPolicy::Saturate` accepts it \
             in calls that take a policy"
    );
    let table = HomogenNumericTable::from_rows(&[[1e38_f32]]).unwrap();
    let error = table.convert_with::<u8>(ConversionPolicy::Checked).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value 1e38 at row 0, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it \
             in calls that take a policy"
    );
}

#[test]
fn counts_of_a_report_do_not_overflow() {
    let mut report = numeric_table::convert::report_slice::<f32, u8>(&[f32::NAN]);
    report.inexact = usize::MAX;
    assert_eq!(report.lost(), usize::MAX);
    report += report;
    assert_eq!(report.inexact, usize::MAX);
}

#[test]
fn writable_blocks_can_be_looked_at_from_several_threads() {
    fn is_sync<T: Sync>() {}
    is_sync::<BlockMut<'_, f32>>();
    is_sync::<BlockMut<'_, f32>>();
}

#[test]
fn a_nan_keeps_its_payload_through_a_strided_block_of_the_stored_type() {
    fn check<T: Element + PartialEq>(quiet: T, other: T, bits: fn(T) -> u64) {
        for layout in LAYOUTS {
            let mut table =
                HomogenNumericTable::full_with_layout(Shape { rows: 3, columns: 2 }, quiet, layout).unwrap();
            let mut column = table.column_mut::<T>(1, 0..3).unwrap();
            column[1] = other;
            column.release().unwrap();
            let mut block = BlockDescriptor::<T>::new();
            table.get_block_of_rows(2, 1, ReadWrite, &mut block).unwrap();
            block.as_mut_slice().unwrap()[0] = other;
            table.release_block_of_rows(&mut block).unwrap();
            let view = table.view().unwrap();
            let found = [(0, 1), (1, 1), (2, 0)].map(|(row, column)| bits(view.value(row, column).unwrap()));
            assert_eq!(found, [quiet, other, other].map(bits), "{}, {layout}", T::TYPE);
        }
    }
    use numeric_table::{bf16, f16};
    for other in [0x7FC0_0123, 0x7F80_0001] {
        check(f32::NAN, f32::from_bits(other), |value| value.to_bits().into());
    }
    check(f64::NAN, f64::from_bits(0x7FF0_0000_0000_0001), f64::to_bits);
    check(f16::NAN, f16::from_bits(0x7C01), |value| value.to_bits().into());
    check(bf16::NAN, bf16::from_bits(0x7F81), |value| value.to_bits().into());
}
