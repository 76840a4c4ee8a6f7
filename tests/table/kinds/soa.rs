//! The structure of arrays.

use numeric_table::table::{Rejected, spi::TableKind};
use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
use test_support::tables::{assert_error, shape};

/// DAAL's case: 4 columns x 10, `i32`, `f32`, `f64`, `i32`.
fn daals_table() -> SoaNumericTable {
    let count = |f: fn(usize) -> f64| (0..10).map(f).collect::<Vec<_>>();
    SoaNumericTable::from_columns([
        ("a", AnyArray::from((0..10).map(|row| row % 5 + 1).collect::<Vec<i32>>())),
        ("b", AnyArray::from((0..10).map(|row| (31 + row) as f32 / 10.0).collect::<Vec<_>>())),
        ("c", AnyArray::from(count(|row| (10 + 2 * row) as f64 / 10.0))),
        ("d", AnyArray::from((1..=10).map(|row| -10 * row).collect::<Vec<i32>>())),
    ])
    .unwrap()
}

#[test]
fn columns_of_three_types_are_read_as_rows_of_another() {
    let table = daals_table();
    assert_eq!((table.kind(), table.uniform_type()), (TableKind::STRUCTURE_OF_ARRAYS, None));
    let f = |value: f32| f64::from(value);
    let expected = [1.0, f(3.1), 1.0, -10.0, 2.0, f(3.2), 1.2, -20.0, 3.0, f(3.3), 1.4, -30.0];
    assert_eq!(table.rows::<f64>(0..3).unwrap()[..], expected);
    assert_eq!(table.column::<i32>(2, 7..).unwrap()[..], [2, 2, 2]);
    assert!(table.column::<f32>(1, 2..5).unwrap().is_zero_copy());
}

/// DAAL keeps offsets of arrays that are gone, and calls null when all types have changed.
#[test]
fn a_replaced_column_of_another_type_is_read_at_once() {
    let mut table = SoaNumericTable::from_columns([("a", vec![1.0_f32, 2.0]), ("b", vec![3.0, 4.0])]).unwrap();
    assert_eq!(table.rows::<f32>(..).unwrap()[..], [1.0, 3.0, 2.0, 4.0]);
    table.set_column(1, vec![30.0_f64, 40.0]).unwrap();
    assert_eq!(table.rows::<f32>(..).unwrap()[..], [1.0, 30.0, 2.0, 40.0]);
    assert_eq!((table.column_type(1).unwrap(), table.dictionary().index_of("b")), (ElementType::F64, Some(1)));
    for column in 0..2 {
        table.set_column(column, vec![5_i32, 6]).unwrap();
    }
    assert_eq!(table.rows::<i32>(..).unwrap()[..], [5, 5, 6, 6]);
    assert_eq!(table.uniform_type(), Some(ElementType::I32));
}

/// DAAL reads through null.
#[test]
fn a_column_without_values_is_an_error_that_names_it() {
    let features = [ElementType::F32, ElementType::U8].map(Feature::new);
    let dictionary = features.into_iter().collect::<DataDictionary>();
    let mut table = SoaNumericTable::from_dictionary(dictionary, 2, AllocationFlag::DoNotAllocate).unwrap();
    assert_eq!((table.data_memory_status(), table.shape()), (MemoryStatus::NotAllocated, shape(2, 2)));
    assert!(table.set_column(0, vec![1.5_f32, 2.5]).unwrap().is_none());
    assert_error!(table.rows::<f64>(..), ErrorKind::ColumnNotSet { column: 1 });
    assert_error!(table.rows_mut::<f64>(..), ErrorKind::ColumnNotSet { column: 1 });
    assert_error!(table.fill(1), ErrorKind::ColumnNotSet { column: 1 });
    assert_error!(table.remove_column(1), ErrorKind::ColumnNotSet { column: 1 });
    assert_eq!(table.column::<f64>(0, ..).unwrap()[..], [1.5, 2.5]);
    let refused = table.set_column(1, vec![1_u8]).map_err(Rejected::into_error);
    assert_error!(refused, ErrorKind::LengthMismatch { expected: 2, actual: 1 });
    assert_eq!(table.data_memory_status(), MemoryStatus::NotAllocated);
    table.set_column(1, vec![1_u8, 2]).unwrap();
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [1.5, 1.0, 2.5, 2.0]);
    assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated);
    assert_error!(table.set_column(2, vec![1_u8, 2]).map_err(Rejected::into_error), ErrorKind::ColumnOutOfRange { .. });
}

#[test]
fn columns_are_shared_until_one_is_written() {
    let values = Array::from(vec![1_i32, 2, 3]);
    let mut table = SoaNumericTable::from_columns([("a", values.clone()), ("b", values.clone())]).unwrap();
    let clone = table.clone();
    table.set_value(1, 1, 20).unwrap();
    assert_eq!(table.rows::<i32>(..).unwrap()[..], [1, 1, 2, 20, 3, 3]);
    assert_eq!(clone.rows::<i32>(..).unwrap()[..], [1, 1, 2, 2, 3, 3]);
    assert_eq!(values[..], [1, 2, 3]);
    let array = |table: &SoaNumericTable, column| table.array(column).unwrap().downcast_ref::<i32>().unwrap().clone();
    assert!(array(&table, 0).shares_memory_with(&values) && !array(&table, 1).shares_memory_with(&values));
    table
        .update_rows::<f64, _>(.., |block| {
            block.iter_mut().for_each(|value| *value += 1.0);
            Ok(())
        })
        .unwrap();
    assert!(!array(&table, 0).shares_memory_with(&values));
    assert_eq!(table.column_slice::<i32>(0).unwrap(), [2, 3, 4]);
}

#[test]
fn a_column_that_is_lent_is_out_and_comes_back_to_its_table_only() {
    let mut table = SoaNumericTable::from_columns([("a", vec![1_i32, 2]), ("b", vec![3, 4])]).unwrap();
    let mut block = BlockDescriptor::<i32>::new();
    table.get_block_of_column_values(1, 0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(block.is_zero_copy());
    assert_error!(table.column_slice::<i32>(1), ErrorKind::BlockOutstanding { .. });
    assert_error!(table.resize(5), ErrorKind::BlockOutstanding { .. });
    assert_error!(table.remove_column(1), ErrorKind::BlockOutstanding { .. });
    assert_eq!(table.column_slice::<i32>(0).unwrap(), [1, 2]);
    let waiting = table.clone();
    block.as_mut_slice().unwrap()[1] = 40;
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(
        (table.column_slice::<i32>(1).unwrap(), waiting.column_slice::<i32>(1).unwrap()),
        (&[3, 40][..], &[3, 40][..])
    );

    // A column that is replaced, or leaves, while its values are lent.
    table.get_block_of_column_values(1, 0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(table.set_column(1, vec![7_i32, 8]).unwrap().is_none());
    assert_error!(table.release_block_of_column_values(&mut block), ErrorKind::WrongTable);
    block.discard();
    assert_eq!(table.column_slice::<i32>(1).unwrap(), [7, 8]);
    table.get_block_of_column_values(1, 0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    table.remove_column(0).unwrap(); // the lent one is the first now
    block.as_mut_slice().unwrap()[0] = 70;
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(table.column_slice::<i32>(0).unwrap(), [70, 8]);
}

/// DAAL reads all columns as the last type that one shared feature had.
#[test]
fn columns_of_one_shared_feature_may_become_of_different_types() {
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 3);
    let mut table = SoaNumericTable::from_dictionary(dictionary, 1, AllocationFlag::DoNotAllocate).unwrap();
    table.set_column(0, vec![1.5_f32]).unwrap();
    table.set_column(1, vec![2_i32]).unwrap();
    table.set_column(2, vec![3.5_f32]).unwrap();
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [1.5, 2.0, 3.5]);
    assert_eq!([0, 1, 2].map(|column| table.column_type(column).unwrap().name()), ["f32", "i32", "f32"]);
}

#[test]
fn the_status_says_who_has_allocated_what_there_is() {
    let dictionary = || DataDictionary::uniform(Feature::new(ElementType::F32), 2);
    let mut table = SoaNumericTable::from_dictionary(dictionary(), 2, AllocationFlag::DoAllocate).unwrap();
    assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
    table.set_column(0, vec![1.5_f32, 2.5]).unwrap();
    assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated);
    table.resize(3).unwrap();
    assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
    let mut table = SoaNumericTable::from_dictionary(dictionary(), 2, AllocationFlag::DoNotAllocate).unwrap();
    table.resize(3).unwrap();
    assert_eq!(table.rows::<f32>(..).unwrap()[..], [0.0; 6]);
    assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
    let none = DataDictionary::from_features([]);
    let mut table = SoaNumericTable::from_dictionary(none, 2, AllocationFlag::DoNotAllocate).unwrap();
    table.push_column("a", vec![1_u8, 2]).unwrap();
    let copy = (&table as &dyn NumericTable).convert::<u8>().unwrap();
    assert_eq!(copy.as_slice().unwrap(), [1, 2]);
}

#[test]
fn a_dictionary_too_large_for_memory_is_an_error() {
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::U8), usize::MAX);
    let refused = SoaNumericTable::from_dictionary(dictionary, 0, AllocationFlag::DoNotAllocate);
    assert_error!(refused, ErrorKind::OutOfMemory);
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::U8), 1);
    let refused = SoaNumericTable::from_dictionary(dictionary.clone(), usize::MAX, AllocationFlag::DoAllocate);
    assert!(
        refused
            .as_ref()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfMemory | ErrorKind::SizeOverflow { .. })),
        "{refused:?}"
    );
    let mut table = SoaNumericTable::from_dictionary(dictionary, 3, AllocationFlag::DoAllocate).unwrap();
    assert!(table.resize(usize::MAX).is_err());
    assert_eq!(table.rows::<u8>(..).unwrap()[..], [0, 0, 0]);
}

#[test]
fn rows_that_were_cut_off_reappear_as_zeros() {
    let mut table = daals_table();
    table.resize(2).unwrap();
    table.resize(4).unwrap();
    assert_eq!(table.rows::<i32>(1..).unwrap()[..], [2, 3, 1, -20, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_error!(table.rows::<i32>(4..5), ErrorKind::RowsOutOfRange { row_count: 4, .. });
}

#[test]
fn a_large_table_of_several_types_is_read_and_written_whole() {
    const ROWS: usize = 300_000;
    let whole = |row: usize| (row % 251) as u8;
    let mut table = SoaNumericTable::from_columns([
        ("a", AnyArray::from((0..ROWS).map(|row| f32::from(whole(row))).collect::<Vec<_>>())),
        ("b", AnyArray::from((0..ROWS).map(whole).collect::<Vec<_>>())),
        ("c", AnyArray::from((0..ROWS).map(|row| i64::from(whole(row))).collect::<Vec<_>>())),
    ])
    .unwrap();
    let rows = table.rows::<f64>(..).unwrap().to_vec();
    assert!(rows.chunks(3).enumerate().all(|(row, values)| values.iter().all(|&value| value == f64::from(whole(row)))));
    table
        .update_rows::<f64, _>(.., |block| {
            block.iter_mut().for_each(|value| *value = 250.0 - *value);
            Ok(())
        })
        .unwrap();
    for column in 0..3 {
        let values = table.column::<u8>(column, ..).unwrap();
        assert!(values.iter().enumerate().all(|(row, &value)| value == 250 - whole(row)));
    }
}

/// Up to 64 columns of one type are read together.
#[test]
fn any_number_of_columns_of_one_type_is_read_in_blocks_of_any_size() {
    for (columns, rows) in [2, 3, 16, 63, 64, 65, 130].into_iter().flat_map(|columns| [(columns, 1), (columns, 37)]) {
        let whole = |row: usize, column: usize| (row * 7 + column) as u16;
        let column = |column: usize| ("", (0..rows).map(|row| whole(row, column)).collect::<Vec<_>>());
        let table = SoaNumericTable::from_columns((0..columns).map(column)).unwrap();
        for size in [1, 5, rows] {
            let (mut wide, mut same) = (BlockDescriptor::<f64>::new(), BlockDescriptor::<u16>::new());
            let mut narrow = BlockDescriptor::<u8>::with_policy(ConversionPolicy::Saturate);
            for first in (0..rows).step_by(size) {
                let range = first..rows.min(first + size);
                let places = range.clone().flat_map(|row| (0..columns).map(move |column| (row, column)));
                let expected: Vec<u16> = places.map(|(row, column)| whole(row, column)).collect();
                assert_eq!(table.read_rows(range.clone(), &mut same).unwrap(), expected);
                let values = table.read_rows(range.clone(), &mut wide).unwrap();
                assert!(values.iter().zip(&expected).all(|(&found, &expected)| found == f64::from(expected)));
                let values = table.read_rows(range, &mut narrow).unwrap();
                assert!(values.iter().zip(&expected).all(|(&found, &expected)| u16::from(found) == expected.min(255)));
            }
        }
    }
    let columns = [("a", vec![1.5_f32, 1e9]), ("b", vec![2.5, 3.5])];
    let table = SoaNumericTable::from_columns(columns).unwrap();
    let mut block = BlockDescriptor::<i32>::with_policy(ConversionPolicy::Exact);
    let refused = table.read_rows(.., &mut block);
    assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
    let mut block = BlockDescriptor::<i16>::with_policy(ConversionPolicy::Checked);
    let refused = table.read_rows(.., &mut block);
    assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 1, column: 0, .. });
}

#[test]
fn a_converted_block_that_was_taken_before_columns_moved_is_refused() {
    for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
        let columns = [("a", vec![1.0_f32, 2.0]), ("b", vec![10.0, 20.0]), ("c", vec![100.0, 200.0])];
        let mut table = SoaNumericTable::from_columns(columns).unwrap();
        let mut block = BlockDescriptor::<f64>::new();
        table.get_block_of_column_values(1, 0, 2, mode, &mut block).unwrap();
        block.as_mut_slice().unwrap().fill(11.0);
        table.remove_column(0).unwrap();
        assert_error!(table.release_block_of_column_values(&mut block), ErrorKind::WrongTable);
        drop(block);
        assert_eq!(table.rows::<f32>(..).unwrap()[..], [10.0, 100.0, 20.0, 200.0]);
        table.set_value(0, 0, 5.0).unwrap();
    }
}
