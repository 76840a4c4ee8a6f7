//! Blocks, columns and values of a table that is two tables: what lies in one of them, and what runs across the seam.

use numeric_table::array::AnySlice;
use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::spi::Region;

use super::{Result, Stacked, stacked, values_of};

#[test]
fn rows_across_the_seam_come_from_both_parts() {
    let table = stacked::<i16>();
    assert_eq!(&table.rows::<f64>(1..4).unwrap()[..], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
}

#[test]
fn rows_across_the_seam_are_a_copy_even_if_the_type_is_the_stored_one() {
    let table = stacked::<i16>();
    let block = table.rows::<i16>(1..3).unwrap();
    assert_eq!((&block[..], block.is_zero_copy()), (&[3, 4, 5, 6][..], false));
}

#[test]
fn rows_of_one_part_are_its_memory() {
    let table = stacked::<i16>();
    for (rows, address) in [(0..2, table.head.as_slice().unwrap()), (3..5, &table.tail.as_slice().unwrap()[2..])] {
        let block = table.rows::<i16>(rows).unwrap();
        assert!(block.is_zero_copy());
        assert_eq!(block.as_ptr(), address.as_ptr());
    }
}

#[test]
fn columns_run_across_the_seam() {
    let table = stacked::<i16>();
    assert_eq!(&table.column::<f32>(1, 0..5).unwrap()[..], [2.0, 4.0, 6.0, 8.0, 10.0]);
}

#[test]
fn row_blocks_walk_across_the_seam() {
    let table = stacked::<u8>();
    let blocks: Vec<Vec<f32>> = table.row_blocks(2).unwrap().map(|block| block.unwrap().to_vec()).collect();
    assert_eq!(blocks, [vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0], vec![9.0, 10.0]]);
}

#[test]
fn rows_that_the_table_does_not_have_are_refused() {
    let table = stacked::<u8>();
    assert!(
        table
            .rows::<u8>(4..6)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 5, .. }))
    );
}

#[test]
fn a_converted_block_is_written_back_into_both_parts() {
    let mut table = stacked::<i32>();
    let mut block = table.rows_mut::<f64>(1..3).unwrap();
    block.iter_mut().for_each(|value| *value *= 10.0);
    block.release().unwrap();
    assert_eq!(table.head.as_slice().unwrap(), [1, 2, 30, 40]);
    assert_eq!(table.tail.as_slice().unwrap(), [50, 60, 7, 8, 9, 10]);
}

#[test]
fn a_block_of_one_part_is_written_in_place() {
    let mut table = stacked::<i32>();
    let mut block = table.rows_mut::<i32>(2..3).unwrap();
    assert!(block.is_zero_copy());
    block.fill(0);
    block.discard(); // nothing to write back
    assert_eq!(values_of::<i32>(&table), [1, 2, 3, 4, 0, 0, 7, 8, 9, 10]);
}

#[test]
fn a_column_is_written_back_into_both_parts() {
    let mut table = stacked::<u8>();
    table.column_mut::<i64>(0, 1..4).unwrap().fill(0);
    assert_eq!(values_of::<u8>(&table), [1, 2, 0, 4, 0, 6, 0, 8, 9, 10]);
}

#[test]
fn an_update_across_the_seam_writes_both_parts_or_neither() {
    let mut table = stacked::<u8>();
    let double = |block: &mut BlockMut<'_, i32>| {
        block.iter_mut().for_each(|value| *value *= 2);
        Ok(block.row_count())
    };
    assert_eq!(table.update_rows(1..4, double).unwrap(), 3);
    assert_eq!(values_of::<u8>(&table), [1, 2, 6, 8, 10, 12, 14, 16, 9, 10]);
    for value in [256_i64, -1] {
        let refused = table.update_column::<i64, _>(1, .., |column| {
            column.fill(7);
            column[3] = value;
            Ok(())
        });
        assert!(
            refused
                .as_ref()
                .is_err_and(|error| matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 3, column: 1, .. })),
            "{refused:?}"
        );
    }
    let given_up = table.update_rows::<u8, ()>(0..2, |block| {
        block.fill(0); // rows of one part, which could be written in place
        Err(Error::other("given up"))
    });
    assert!(given_up.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Other { .. })), "{given_up:?}");
    assert_eq!(values_of::<u8>(&table), [1, 2, 6, 8, 10, 12, 14, 16, 9, 10]);
}

#[test]
fn a_refused_value_in_the_second_part_leaves_the_first_unchanged() {
    let mut table = stacked::<u8>();
    let mut block = table.rows_mut::<i32>(1..4).unwrap();
    block.fill(100);
    block[5] = 256;
    let refused = block.release();
    assert!(
        refused
            .as_ref()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 3, column: 1, .. })),
        "{refused:?}"
    );
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn what_is_refused_copies_no_shared_memory() {
    let mut table = stacked::<u8>();
    let (head, tail) = (table.head.clone(), table.tail.clone());
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    let region = Region { rows: 0..5, columns: 1..2 };
    assert!(table.write_region(&region, AnySlice::new(&[1, 2, 3, 4, -5]), rule).is_err());
    assert!(table.write_region(&Region { rows: 4..5, columns: 0..2 }, AnySlice::new(&[1, -5]), rule).is_err());
    assert!(table.set_value(3, 1, 256).is_err());
    assert!(table.fill(256).is_err());
    let updated = table.update_rows::<i32, _>(.., |block| {
        block.fill(-1);
        Ok(())
    });
    assert!(updated.is_err());
    assert_eq!(table.head.as_slice().unwrap().as_ptr(), head.as_slice().unwrap().as_ptr());
    assert_eq!(table.tail.as_slice().unwrap().as_ptr(), tail.as_slice().unwrap().as_ptr());
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn a_value_nobody_changed_survives_in_both_parts() {
    let big = (1_i64 << 53) + 1; // no f64 holds this
    let rows = HomogenNumericTable::from_rows(&[[big, 1]]).unwrap();
    let mut table = Stacked::new(rows.clone(), rows);
    let mut block = table.rows_mut::<f64>(0..2).unwrap();
    (block[1], block[3]) = (7.0, 8.0);
    block.release().unwrap();
    assert_eq!(values_of::<i64>(&table), [big, 7, big, 8]);
}

#[test]
fn writable_row_blocks_are_disjoint_across_the_seam() {
    let mut table = stacked::<i16>();
    let blocks: Vec<_> = table.row_blocks_mut::<f32>(3).unwrap().map(Result::unwrap).collect();
    for (i, mut block) in blocks.into_iter().enumerate() {
        block.iter_mut().for_each(|value| *value += 100.0 * (i + 1) as f32);
        block.release().unwrap();
    }
    assert_eq!(values_of::<i16>(&table), [101, 102, 103, 104, 105, 106, 207, 208, 209, 210]);
}

#[cfg(feature = "rayon")]
#[test]
fn parallel_writers_write_both_parts() {
    use rayon::iter::ParallelIterator;
    let mut table = stacked::<i16>();
    let blocks = table.par_row_blocks_mut::<i64>(1).unwrap();
    let written = blocks.try_for_each(|block| {
        let mut block = block?;
        block.iter_mut().for_each(|value| *value = -*value);
        block.release()
    });
    assert!(written.is_ok());
    assert_eq!(values_of::<i16>(&table), [-1, -2, -3, -4, -5, -6, -7, -8, -9, -10]);
}

#[cfg(feature = "rayon")]
#[test]
fn parallel_readers_read_both_parts() {
    use rayon::iter::ParallelIterator;
    let table = stacked::<u8>();
    let sums = table.par_row_blocks::<f64>(2).unwrap().map(|block| block.map(|block| block.iter().sum::<f64>()));
    assert_eq!(sums.collect::<Result<Vec<_>>>().unwrap(), [10.0, 26.0, 19.0]);
}

#[test]
fn a_descriptor_reads_across_the_seam_into_a_buffer_that_it_keeps() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<f32>::new();
    let mut values = Vec::new();
    for first_row in (0..5).step_by(3) {
        table.get_block_of_rows(first_row, 3, ReadWriteMode::ReadOnly, &mut block).unwrap();
        values.extend_from_slice(block.as_slice());
        table.release_block_of_rows(&mut block).unwrap();
    }
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    assert_eq!(block.capacity(), 6);
}

#[test]
fn a_block_taken_for_reading_keeps_what_it_showed() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(2, 1, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert!(block.is_zero_copy());
    table.fill(0).unwrap();
    assert_eq!(block.as_slice(), [5, 6]);
    assert_eq!(values_of::<u8>(&table), [0; 10]);
}

#[test]
fn a_converted_descriptor_is_written_back_into_both_parts() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(1, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap().copy_from_slice(&[30.0, 40.0, 50.0, 60.0]);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 30, 40, 50, 60, 7, 8, 9, 10]);
}

#[test]
fn a_descriptor_can_be_corrected_after_a_refused_value() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<i32>::new();
    table.get_block_of_column_values(1, 1, 3, ReadWriteMode::WriteOnly, &mut block).unwrap();
    block.as_mut_slice().unwrap().copy_from_slice(&[40, 60, -1]);
    let refused = table.release_block_of_column_values(&mut block);
    assert!(
        refused
            .as_ref()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 3, column: 1, .. })),
        "{refused:?}"
    );
    block.as_mut_slice().unwrap()[2] = 80;
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 40, 5, 60, 7, 80, 9, 10]);
}

#[test]
fn a_descriptor_writes_one_part_in_place() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(3, 9, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(block.is_zero_copy());
    block.as_mut_slice().unwrap().fill(0);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 4, 5, 6, 0, 0, 0, 0]);
}

#[test]
fn a_table_that_lends_nothing_is_used_while_a_converted_block_is_out() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(1, 3, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 30.0;
    table.set_value(4, 1, 100).unwrap();
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 30, 4, 5, 6, 7, 8, 9, 100]);
}

#[test]
fn every_other_access_is_refused_while_a_part_is_written_in_place() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(3, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(
        table
            .rows::<u8>(0..1)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::BlockOutstanding { rows } if *rows == (3..4)))
    );
    drop(block);
    assert_eq!(&table.rows::<u8>(0..1).unwrap()[..], [1, 2]);
}

#[test]
fn a_block_is_released_only_where_it_was_taken() {
    let (mut table, mut other) = (stacked::<u8>(), stacked::<u8>());
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 5, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(other.release_block_of_rows(&mut block).is_err_and(|error| matches!(error.kind(), ErrorKind::WrongTable)));
    assert!(
        table
            .release_block_of_column_values(&mut block)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::WrongBlockKind { .. }))
    );
    table.release_block_of_rows(&mut block).unwrap();
}

#[test]
fn single_values_are_read_and_written_on_either_side_of_the_seam() {
    let mut table = stacked::<u8>();
    table.set_value(1, 1, 40.0).unwrap();
    table.set_value(2, 0, 50_i64).unwrap();
    assert_eq!((table.value::<f64>(1, 1).unwrap(), table.value::<u16>(2, 0).unwrap()), (40.0, 50));
}

#[test]
fn a_value_that_does_not_fit_names_its_position_in_the_table() {
    let mut table = stacked::<u8>();
    let refused = table.set_value(3, 1, 300);
    assert!(
        refused
            .as_ref()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 3, column: 1, .. })),
        "{refused:?}"
    );
}

#[test]
fn a_value_that_cannot_be_read_names_its_position_in_the_table() {
    let table = Stacked::new(
        HomogenNumericTable::from_rows(&[[1.0], [2.0]]).unwrap(),
        HomogenNumericTable::from_rows(&[[3.0], [f64::NAN]]).unwrap(),
    );
    let refused = table.rows_with::<i32>(1..4, ConversionPolicy::Checked);
    assert!(
        refused
            .as_ref()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 3, column: 0, .. })),
        "{refused:?}"
    );
}
