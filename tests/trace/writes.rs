//! Blocks for writing: staged, converted, written back; and copies of shared memory.

use numeric_table::prelude::*;
use numeric_table::trace::{CopyKind, copies_of};
use numeric_table::{AnyArray, CsrNumericTable, SoaNumericTable};
use test_support::tables::*;

use super::{NOTHING, copies, set};
use CopyKind::{Converted, Gathered, Grown, Requested, Staged, Unshared, WrittenBack};
use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::{ReadWrite, WriteOnly};

#[test]
fn blocks_of_the_stored_type_are_written_in_place() {
    let mut table = numbered::<f32>(4, 3, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    let written = copies(|| {
        table.rows_mut::<f32>(1..3).unwrap()[0] = 9.0;
        table.set_value(0, 0, 7.0_f32).unwrap();
        table.fill(1.0_f32).unwrap();
        table.update_rows_in_place::<f32, _>(.., set(3.0)).unwrap();
        for mode in [ReadWrite, WriteOnly] {
            table.get_block_of_rows(0, 2, mode, &mut block).unwrap();
            block.as_mut_slice().unwrap()[0] = 5.0;
            table.release_block_of_rows(&mut block).unwrap();
        }
        table.row_blocks_mut::<f32>(2).unwrap().for_each(|block| block.unwrap().fill(2.0));
    });
    assert_eq!(written, NOTHING);
    assert_eq!(copies(|| table.set_value(0, 0, 7_i64).unwrap()), NOTHING); // a single value
}

#[test]
fn a_block_of_another_type_is_converted_and_written_back() {
    let mut table = numbered::<f32>(4, 3, RowMajor);
    let both = [(Converted, 1, 48), (WrittenBack, 1, 48)];
    assert_eq!(copies(|| table.rows_mut::<f64>(1..3).unwrap().release().unwrap()), both);
    assert_eq!(copies(|| drop(table.rows_mut::<f64>(1..3).unwrap())), both);
    assert_eq!(copies(|| table.rows_mut::<f64>(1..3).unwrap().discard()), [(Converted, 1, 48)]);
    assert_eq!(copies(|| table.update_rows::<f64, _>(1..3, set(2.0)).unwrap()), both);
    assert_eq!(
        copies(|| table.update_column::<f64, _>(1, 1.., |_| Ok(())).unwrap()),
        [(Converted, 1, 24), (WrittenBack, 1, 24)]
    );
    let refused = |block: &mut BlockMut<'_, f64>| {
        block[0] = f64::MAX;
        Ok(())
    };
    assert_eq!(copies(|| assert!(table.update_rows(1..3, refused).is_err())), [(Converted, 1, 48)]);
    let mut block = BlockDescriptor::<f64>::new();
    for (mode, expected) in [(ReadWrite, &both[..]), (WriteOnly, &both[1..])] {
        let written = copies(|| {
            table.get_block_of_rows(0, 2, mode, &mut block).unwrap();
            table.release_block_of_rows(&mut block).unwrap();
        });
        assert_eq!(written, expected, "{mode:?}");
    }
    assert_eq!(
        copies(|| table.update_row_blocks::<f64>(2, |_| Ok(())).unwrap()),
        [(Converted, 2, 96), (WrittenBack, 2, 96)]
    );
}

#[test]
fn an_edit_that_may_fail_is_staged() {
    let mut table = numbered::<f32>(4, 3, RowMajor);
    let staged = [(Staged, 1, 24), (WrittenBack, 1, 24)];
    assert_eq!(copies(|| table.update_rows::<f32, _>(1..3, set(2.0)).unwrap()), staged);
    let gathered = [(Gathered, 1, 24), (WrittenBack, 1, 24)];
    let mut table = numbered::<f32>(4, 3, ColumnMajor);
    assert_eq!(copies(|| table.update_rows::<f32, _>(1..3, set(2.0)).unwrap()), gathered);
    assert_eq!(copies(|| table.rows_mut::<f32>(1..3).unwrap().release().unwrap()), gathered);
    assert_eq!(copies(|| drop(table.column_mut::<f32>(1, 1..3).unwrap())), NOTHING);
}

#[test]
fn sparse_blocks_are_staged_converted_and_written_back() {
    let new = || CsrNumericTable::try_new(shape(2, 4), vec![0, 1, 3], vec![3, 0, 1], vec![1_i16, 2, 3]).unwrap();
    let mut table = new();
    assert_eq!(copies(|| table.sparse_rows::<i16>(..).unwrap().values().len()), NOTHING);
    assert_eq!(copies(|| table.sparse_rows::<f64>(1..).unwrap().values().len()), [(Converted, 1, 16)]);
    assert_eq!(copies(|| table.sparse_rows_mut::<i16>(..).unwrap().release().unwrap()), NOTHING);
    let both = [(Converted, 1, 24), (WrittenBack, 1, 24)];
    assert_eq!(copies(|| table.sparse_rows_mut::<f64>(..).unwrap().release().unwrap()), both);
    let staged = [(Staged, 1, 4), (WrittenBack, 1, 4)];
    assert_eq!(copies(|| table.update_sparse_rows::<i16, _>(1.., |_| Ok(())).unwrap()), staged);
}

#[test]
fn shared_and_immutable_memory_is_copied_before_the_first_write() {
    let mut table = numbered::<f32>(4, 3, RowMajor);
    let clone = table.clone();
    assert_eq!(copies(|| table.set_value(0, 0, 1.0_f32).unwrap()), [(Unshared, 1, 48)]);
    assert_eq!(copies(|| table.set_value(0, 0, 2.0_f32).unwrap()), NOTHING);
    drop(clone);
    let clone = table.clone();
    let mut block = BlockDescriptor::<f32>::new();
    let lease = copies(|| table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap());
    assert_eq!(lease, [(Unshared, 1, 48)]);
    table.release_block_of_rows(&mut block).unwrap();
    drop(clone);

    let mut array = Array::from(vec![1_u16, 2, 3]);
    assert_eq!(copies(|| array.need_mutable_data().unwrap().len()), NOTHING);
    let shared = array.clone();
    assert_eq!(copies(|| array.need_mutable_data().unwrap().len()), [(Unshared, 1, 6)]);
    assert_eq!(shared.owner_count(), 1);
    let mut lent = Array::from(&[1_u8, 2, 3][..]);
    assert_eq!(copies(|| lent.need_mutable_data().unwrap().len()), [(Unshared, 1, 3)]);

    let mut columns = SoaNumericTable::new();
    columns.push_column("a", Array::from(vec![1_i8, 2])).unwrap();
    columns.push_column("b", Array::from(vec![1_i64, 2])).unwrap();
    let clone = columns.clone();
    assert_eq!(copies(|| columns.set_value(0, 1, 5_i64).unwrap()), [(Unshared, 1, 16)]); // the other column stays shared
    assert_eq!(clone.value::<i64>(0, 1).unwrap(), 1);
}

#[test]
fn growing_moves_the_values_that_were_there() {
    let mut table = numbered::<f32>(2, 3, RowMajor);
    assert_eq!(copies(|| table.push_row(&[1.0_f32, 2.0, 3.0]).unwrap()), [(Grown, 1, 24)]);
    table.reserve_rows(10).unwrap();
    assert_eq!(copies(|| table.append(&[1.0_f32; 6]).unwrap()), NOTHING); // values of the caller, in reserved memory
    let other = numbered::<f32>(2, 3, RowMajor);
    assert_eq!(copies(|| table.append_table(&other).unwrap()), [(Grown, 1, 24)]);
    assert_eq!(copies(|| table.resize(4).unwrap()), NOTHING);
    let mut array = AnyArray::from(vec![1_i32, 2]);
    assert_eq!(copies(|| array = array.resized(3).unwrap()), [(Grown, 1, 8)]);
    assert_eq!(copies(|| array = array.resized(1).unwrap()), NOTHING);
}

#[test]
fn copies_that_a_caller_requests_are_named_so() {
    let table = numbered::<f32>(2, 3, RowMajor);
    assert_eq!(copies(|| Array::copy_of(&[1_i64, 2]).unwrap()), [(Requested, 1, 16)]);
    assert_eq!(copies(|| HomogenNumericTable::from_rows(&[[1_i16, 2]]).unwrap()), [(Requested, 1, 4)]);
    assert_eq!(copies(|| table.rows::<f32>(..).unwrap().to_array().unwrap()), [(Requested, 1, 24)]);
    let (_, report) = copies_of(|| table.rows::<f64>(..).unwrap().into_array().unwrap());
    assert_eq!((report.total().count, report.of(Converted).bytes), (1, 48)); // the converted copy itself
    let (part, report) =
        copies_of(|| table.array().unwrap().slice(0..3).map(|part| HomogenNumericTable::from_array(part, shape(1, 3))));
    assert!(report.is_empty());
    assert_eq!(copies(|| part.unwrap().unwrap().to_compact().unwrap()), [(Requested, 1, 12)]);
}
