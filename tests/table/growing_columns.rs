//! Rows that are added at the end of columns, and of sparse rows.

use numeric_table::prelude::*;
use numeric_table::{AnyArray, CsrNumericTable, SoaNumericTable};
use test_support::tables::{assert_error, huge, numbered, numbers, shape};
use test_support::{SmallNumber, for_each_element};

fn mixed() -> SoaNumericTable {
    let columns = [("a", AnyArray::from(vec![1.5_f32])), ("b", vec![2_u8].into()), ("c", vec![3_i64].into())];
    SoaNumericTable::from_columns(columns).unwrap()
}

#[test]
fn rows_are_added_to_columns_of_any_type() {
    fn check<T: SmallNumber>() {
        let columns = ["a", "b", "c"].map(|name| (name, Vec::<T>::new()));
        let mut table = SoaNumericTable::from_columns(columns).unwrap();
        for row in 0..4 {
            table.push_row(&numbers::<f64>(3, row..row + 1)).unwrap();
        }
        table.append(&numbers::<T>(3, 4..9)).unwrap();
        table.append_table(&numbered::<i16>(9, 3, DataLayout::ColumnMajor)).unwrap();
        let all = [numbers::<f64>(3, 0..9), numbers(3, 0..9)].concat();
        assert_eq!((table.rows::<f64>(..).unwrap().to_vec(), table.uniform_type()), (all, Some(T::TYPE)));
    }
    for_each_element!(check);
    let mut table = mixed();
    table.push_row(&[0.25, 7.0, -9.0]).unwrap();
    table.append_table(&mixed()).unwrap();
    assert_eq!(table.column_slice::<f32>(0).unwrap(), [1.5, 0.25, 1.5]);
    assert_eq!(table.column_slice::<i64>(2).unwrap(), [3, -9, 3]);
    assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
}

#[test]
fn columns_move_seldom() {
    let (mut table, mut moves, mut before) = (mixed(), 0, [std::ptr::null(); 2]);
    for row in 0..33_000 {
        table.push_row(&[f64::from(row), 1.0, f64::from(-row)]).unwrap();
        let now =
            [table.column_slice::<u8>(1).unwrap().as_ptr(), table.column_slice::<i64>(2).unwrap().as_ptr().cast()];
        moves += usize::from(now != before);
        before = now;
    }
    assert!(moves < 60, "{moves}");
    assert_eq!(table.rows::<i32>(33_000..).unwrap()[..], [32_999, 1, -32_999]);
    table.reserve_rows(10_000).unwrap();
    let reserved = table.column_slice::<i64>(2).unwrap().as_ptr();
    table.append(&vec![1_u8; 30_000]).unwrap();
    assert_eq!((table.column_slice::<i64>(2).unwrap().as_ptr(), table.row_count()), (reserved, 43_001));
}

#[test]
fn what_one_column_refuses_changes_none() {
    let mut table = mixed();
    let share = table.clone();
    let same = |table: &SoaNumericTable| {
        assert_eq!((table.shape(), table.rows::<f64>(..).unwrap().to_vec()), (shape(1, 3), vec![1.5, 2.0, 3.0]));
    };
    assert_error!(
        table.push_row(&[0.5, 256.0, f64::NAN]),
        ErrorKind::ValueNotRepresentable { row: 1, column: 1, target: ElementType::U8, .. }
    );
    same(&table);
    // The first one in the order of the rows, which is not the first column that is looked at.
    let values = [1.0, 2.0, f64::INFINITY, 4.0, -1.0, 6.0];
    assert_error!(table.append(&values), ErrorKind::ValueNotRepresentable { row: 1, column: 2, .. });
    let theirs = HomogenNumericTable::from_array(values.to_vec(), shape(2, 3)).unwrap();
    assert_error!(table.append_table(&theirs), ErrorKind::ValueNotRepresentable { row: 1, column: 2, .. });
    assert_error!(table.push_row(&[1, 2]), ErrorKind::LengthMismatch { expected: 3, actual: 2 });
    assert_error!(table.append(&[1, 2]), ErrorKind::NotWholeRows { values: 2, columns: 3 });
    assert_error!(table.reserve_rows(usize::MAX), ErrorKind::SizeOverflow { .. });
    assert_error!(table.reserve_rows(usize::MAX / 16), ErrorKind::SizeOverflow { .. } | ErrorKind::OutOfMemory);
    let narrow = numbered::<u8>(1, 2, DataLayout::RowMajor);
    assert_error!(table.append_table(&narrow), ErrorKind::UnequalTables { .. }, "columns");
    same(&table);
    table.push_row(&[4, 5, 6]).unwrap();
    same(&share);

    let mut block = BlockDescriptor::<i64>::new();
    table.get_block_of_column_values(2, 0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(table.push_row(&[1, 2, 3]), ErrorKind::BlockOutstanding { .. });
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(table.column_slice::<f32>(0).unwrap(), [1.5, 4.0]);
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 2);
    let mut unset = SoaNumericTable::from_dictionary(dictionary, 1, AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(unset.push_row(&[1, 2]), ErrorKind::ColumnNotSet { column: 0 });
    let mut none = SoaNumericTable::new();
    none.push_row::<f32>(&[]).unwrap();
    assert_eq!(none.shape(), shape(1, 0));
}

#[test]
fn rows_that_were_cut_off_and_shares_do_not_come_back() {
    let mut table = mixed();
    table.append(&[4, 5, 6, 7, 8, 9]).unwrap();
    let share = table.clone();
    table.resize(1).unwrap();
    table.push_row(&[70, 80, 90]).unwrap();
    drop(share);
    table.resize(1).unwrap();
    table.push_row(&[71, 81, 91]).unwrap();
    table.resize(4).unwrap();
    assert_eq!(table.rows::<i32>(1..).unwrap()[..], [71, 81, 91, 0, 0, 0, 0, 0, 0]);
    let mut slices = mixed();
    slices.set_column(0, Array::from(vec![1.5_f32, 2.5, 3.5]).slice(1..2).unwrap()).unwrap();
    slices.push_row(&[9, 9, 9]).unwrap();
    assert_eq!(slices.column_slice::<f32>(0).unwrap(), [2.5, 9.0]);
}

fn sparse() -> CsrNumericTable {
    CsrNumericTable::try_new(shape(2, 4), vec![0_i32, 2, 2], vec![0_u32, 3], vec![1_i16, 2]).unwrap()
}

#[test]
fn sparse_rows_are_added() {
    let mut table = sparse();
    table.push_row::<f64>(&[], &[]).unwrap();
    table.push_row(&[1, 3], &[-7.0, 8.0]).unwrap();
    table.append_table(&sparse()).unwrap();
    let wide = CsrNumericTable::try_new(shape(1, 4), vec![0_u64, 1], vec![2_i64], vec![4e4_f32]).unwrap();
    assert_error!(
        table.append_table(&wide),
        ErrorKind::ValueNotRepresentable { row: 6, column: 2, target: ElementType::I16, .. }
    );
    let expected = [1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, -7, 0, 8, 1, 0, 0, 2, 0, 0, 0, 0];
    assert_eq!(table.rows::<i32>(..).unwrap()[..], expected);
    assert_eq!(table.offsets().downcast::<i32>(), Some(&[0, 2, 2, 2, 4, 6, 6][..]));
    assert_eq!((table.indices().element_type(), table.shape()), (ElementType::U32, shape(6, 4)));
    let count = 20_000;
    for row in 0..count {
        table.push_row(&[row % 4], &[1_u8]).unwrap();
    }
    assert_eq!((table.nnz(), table.row_count()), (6 + count, 6 + count));
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn a_sparse_row_that_is_refused_changes_nothing() {
    let mut table = sparse();
    let same = |table: &CsrNumericTable| {
        assert_eq!((table.shape(), table.nnz(), table.offsets().len(), table.indices().len()), (shape(2, 4), 2, 3, 2));
    };
    assert_error!(table.push_row(&[0, 1], &[1]), ErrorKind::LengthMismatch { expected: 2, actual: 1 });
    assert_error!(
        table.push_row(&[1, 4], &[1, 2]),
        ErrorKind::SparseStructure { row: Some(2), position: Some(1), .. },
        "at position"
    );
    assert_error!(
        table.push_row(&[3, 3], &[1, 2]),
        ErrorKind::SparseStructure { row: Some(2), position: Some(1), .. },
        "not ascend"
    );
    assert_error!(table.push_row(&[1, 2], &[1, 40_000]), ErrorKind::ValueNotRepresentable { row: 2, column: 2, .. });
    let narrow = CsrNumericTable::try_new(shape(0, 3), vec![0], Vec::<i32>::new(), Vec::<i16>::new()).unwrap();
    assert_error!(table.append_table(&narrow), ErrorKind::UnequalTables { .. }, "columns");
    same(&table);
    let wide = Shape { rows: 0, columns: huge(40) };
    let mut wide = CsrNumericTable::try_new(wide, vec![0], Vec::<u32>::new(), Vec::<f32>::new()).unwrap();
    assert_error!(
        wide.push_row(&[huge(35)], &[1.0]),
        ErrorKind::ValueNotRepresentable { row: 0, target: ElementType::U32, .. }
    );
    wide.push_row(&[1 << 31], &[1.0]).unwrap();
    let share = wide.clone();
    wide.push_row(&[5], &[2.0]).unwrap();
    assert_eq!((share.nnz(), wide.nnz()), (1, 2));
}
