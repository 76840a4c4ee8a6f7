//! Values that do not fit, and what the policies make of them.

use numeric_table::AnyValue;
use numeric_table::prelude::*;
use test_support::tables::*;

use DataLayout::RowMajor;
use ReadWriteMode::{ReadOnly, ReadWrite, WriteOnly};

/// Puts 300 at (3, 1) and -1 at (2, 2) of a 5 x 3 table of bytes, through rows 1..4. The latter is the first in
/// row-major order.
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
            ErrorKind::ValueNotRepresentable { row: 2, column: 2, value: AnyValue::I32(-1), target: ElementType::U8 }
        );
        drop(block);
        let mut rows = table.rows_mut::<i32>(1..4).unwrap();
        rows.row_mut(2)[1] = 300;
        rows.row_mut(1)[2] = -1;
        assert_error!(rows.release(), ErrorKind::ValueNotRepresentable { row: 2, column: 2, .. });
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
            ErrorKind::ValueNotRepresentable { row: 3, column: 2, target: ElementType::U8, .. }
        );
        drop(block);
        let mut column = table.column_mut::<f32>(2, 1..5).unwrap();
        column[3] = f32::INFINITY;
        assert_error!(column.release(), ErrorKind::ValueNotRepresentable { row: 4, column: 2, .. });
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
            ErrorKind::ValueNotRepresentable { row: 3, column: 2, value: AnyValue::F64(0.5), target: ElementType::U8 }
        );
        assert_error!(
            table.rows_with::<u8>(1..5, ConversionPolicy::Checked),
            ErrorKind::ValueNotRepresentable { row: 4, column: 0, .. }
        );
        assert_error!(
            table.column_with::<u8>(2, 1..5, ConversionPolicy::Exact),
            ErrorKind::ValueNotRepresentable { row: 3, column: 2, .. }
        );
        let mut block = BlockDescriptor::<u8>::with_policy(ConversionPolicy::Exact);
        assert_error!(table.read_rows(2..5, &mut block), ErrorKind::ValueNotRepresentable { row: 3, column: 2, .. });
    }
}

#[test]
fn a_release_that_fails_writes_nothing_and_can_be_corrected() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(2, 2, layout);
        let mut block = BlockDescriptor::<i32>::new();
        table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap().copy_from_slice(&[50, 51, 52, 256]);
        assert_error!(
            table.release_block_of_rows(&mut block),
            ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. }
        );
        assert_error!(table.as_slice(), ErrorKind::BlockOutstanding { .. }); // still held
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

/// A loop over rows takes a shorter way from the second row on.
#[test]
fn a_release_that_fails_within_a_loop_can_be_corrected_or_given_up() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(6, 3, layout);
        let mut block = BlockDescriptor::<i32>::new();
        for row in 0..6 {
            let first = 3 * row as i32 + 1;
            table.get_block_of_rows(row, 1, ReadWrite, &mut block).unwrap();
            assert_eq!(block.as_slice(), [first, first + 1, first + 2]);
            assert_error!(table.as_slice(), ErrorKind::BlockOutstanding { rows } if *rows == (row..row + 1));
            block.as_mut_slice().unwrap()[1] = [300, -1, i32::MAX][row % 3];
            let refused = table.release_block_of_rows(&mut block);
            assert_error!(refused, ErrorKind::ValueNotRepresentable { row: at, column: 1, .. } if *at == row);
            assert_error!(table.as_slice(), ErrorKind::BlockOutstanding { rows } if *rows == (row..row + 1));
            if row % 2 == 1 {
                block.discard();
                continue;
            }
            block.as_mut_slice().unwrap()[1] = 100 + row as i32;
            table.release_block_of_rows(&mut block).unwrap();
        }
        assert_eq!(values_of(&table), [1, 100, 3, 4, 5, 6, 7, 102, 9, 10, 11, 12, 13, 104, 15, 16, 17, 18]);
    }
}

#[test]
fn a_loop_over_rows_refuses_what_a_single_call_refuses() {
    for layout in LAYOUTS {
        let mut table = HomogenNumericTable::from_rows(&[[1.0_f64, 2.0], [3.0, 0.5], [5.0, 1e300], [7.0, 8.0]])
            .unwrap()
            .to_layout(layout)
            .unwrap();
        let mut block = BlockDescriptor::<f32>::with_policy(ConversionPolicy::Checked);
        for row in [0, 1, 2, 3] {
            let taken = table.get_block_of_rows(row, 1, ReadWrite, &mut block);
            if row == 2 {
                assert_error!(taken, ErrorKind::ValueNotRepresentable { row: 2, column: 1, .. });
                assert!(table.as_slice().is_ok()); // nothing is lent
                continue;
            }
            taken.unwrap();
            let mut clone = table.clone(); // waits, and shares what comes back
            block.as_mut_slice().unwrap()[0] = 10.0 * (row + 1) as f32;
            table.release_block_of_rows(&mut block).unwrap();
            assert_eq!(values_of(&clone), values_of(&table));
            clone.fill(0.0).unwrap();
        }
        assert_error!(table.get_block_of_rows(5, 1, ReadWrite, &mut block), ErrorKind::RowsOutOfRange { .. });
        assert_eq!(values_of(&table), [10.0, 2.0, 20.0, 0.5, 5.0, 1e300, 40.0, 8.0]);
        let mut other = numbered::<f64>(4, 2, layout);
        table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
        assert_error!(other.release_block_of_rows(&mut block), ErrorKind::WrongTable);
        block.as_mut_slice().unwrap().fill(0.0);
        table.release_block_of_rows(&mut block).unwrap();
        other.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap(); // the descriptor has the first table's lease
        assert_eq!(block.as_slice(), [1.0, 2.0]);
        block.as_mut_slice().unwrap()[1] = 9.0;
        other.release_block_of_rows(&mut block).unwrap();
        assert_eq!(values_of(&other)[..3], [1.0, 9.0, 3.0]);
        assert_eq!(values_of(&table)[..3], [0.0, 0.0, 20.0]);
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
    assert_error!(block.release(), ErrorKind::ValueNotRepresentable { row: 150_000, column: 1, .. });
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
    assert_error!(block.release(), ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
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
