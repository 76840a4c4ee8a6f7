//! Faults 43 to 48, 52, 64 and 68: merged, sparse, record and column tables, read-only memory, and large mixed tables.

use numeric_table::prelude::*;
use numeric_table::table;
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, ElementType, MergedNumericTable, RowMergedNumericTable,
    SoaNumericTable, table::RecordLayout,
};
use test_support::tables::*;

use DataLayout::RowMajor;

/// Fault 43: the column of a row-merged table is read beyond the block unless it begins at row 0.
#[test]
fn columns_of_row_merged_tables_are_read_from_any_row() {
    let parts = [numbered::<f32>(3, 2, RowMajor), numbered::<f32>(4, 2, RowMajor)];
    let expected: Vec<f32> = parts.iter().flat_map(|part| part.column::<f32>(1, ..).unwrap().to_vec()).collect();
    let mut merged = RowMergedNumericTable::new(parts.map(|part| Box::new(part) as Box<dyn NumericTable>)).unwrap();
    for first in 0..7 {
        for end in first..=7 {
            assert_eq!(merged.column::<f32>(1, first..end).unwrap()[..], expected[first..end], "rows {first}..{end}");
        }
        let mut block = BlockDescriptor::<f32>::new();
        merged.get_block_of_column_values(1, first, 7 - first, ReadWriteMode::ReadOnly, &mut block).unwrap();
        assert_eq!(block.as_slice(), &expected[first..]);
        merged.release_block_of_column_values(&mut block).unwrap();
    }
}

/// Fault 44: each table that is added resets the features of those before it, and cuts them to the fewest rows.
#[test]
fn adding_a_table_keeps_the_features_and_the_rows_of_the_others() {
    let named = |name: &str| {
        let mut table = numbered::<f32>(3, 1, RowMajor);
        table.set_names([name]).unwrap();
        Box::new(table) as Box<dyn NumericTable>
    };
    let mut merged = MergedNumericTable::new([named("first"), named("second")]).unwrap();
    merged.push(named("third")).unwrap();
    let names: Vec<_> = merged.dictionary().names().map(|name| name.unwrap().to_owned()).collect();
    assert_eq!(names, ["first", "second", "third"]);

    let refused = merged.push(Box::new(numbered::<f32>(2, 1, RowMajor))).unwrap_err();
    assert!(
        matches!(refused.error.kind(), ErrorKind::UnequalTables { reason, .. } if reason.contains("rows")),
        "{:?}",
        refused.error
    );
    assert_eq!(refused.value.row_count(), 2);
    assert!(merged.tables().iter().all(|table| table.row_count() == 3));
    assert_eq!(merged.column_count(), 3);
}

/// Fault 45: a table that says its indices count from zero is read as if they counted from one.
#[test]
fn indices_count_from_what_the_constructor_says() {
    let shape = Shape { rows: 2, columns: 3 };
    let from_zero = CsrNumericTable::try_new(shape, vec![0, 1, 3], vec![2, 0, 1], vec![7.0, 8.0, 9.0]).unwrap();
    let from_one = CsrNumericTable::from_one_based(shape, vec![1, 2, 4], vec![3, 1, 2], vec![7.0, 8.0, 9.0]).unwrap();
    for mut table in [from_zero, from_one] {
        assert_eq!(table.rows::<f64>(..).unwrap()[..], [0.0, 0.0, 7.0, 8.0, 9.0, 0.0]);
        assert_error!(table.rows::<f64>(1..3), ErrorKind::RowsOutOfRange { .. }); // more rows than there are
        // It is not dropped in silence.
        assert_error!(table.set_value(0, 0, 1.0), ErrorKind::NotStored { row: 0, column: 0, .. });
        let bytes = table.to_bytes().unwrap();
        let copy = CsrNumericTable::from_bytes(&bytes).unwrap();
        assert_eq!(copy.indices().iter().collect::<Vec<_>>(), [2, 0, 1]);
        assert_eq!(copy.rows::<f64>(..).unwrap()[..], table.rows::<f64>(..).unwrap()[..]);
    }
}

/// Fault 46: a table of a user's records counts as not allocated, and a field may reach beyond its record.
#[test]
fn a_table_of_records_has_memory_and_fields_end_inside_the_record() {
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Pair {
        x: f32,
        kind: u32,
    }
    numeric_table::impl_record!(Pair { x, kind });
    let table = AosNumericTable::from_records(vec![Pair { x: 1.5, kind: 7 }; 3]).unwrap();
    assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated);
    assert_eq!(table.rows::<f64>(2..).unwrap()[..], [1.5, 7.0]);
    assert_error!(
        RecordLayout::new(8).field("x", ElementType::F32, 5),
        ErrorKind::RecordLayout { .. },
        "outside its record"
    );
}

/// Fault 47: rows of a table whose columns are not set are read through a null pointer.
#[test]
fn a_column_that_was_not_set_is_an_error_until_it_is_set() {
    let features = [feature::<f64>(), feature::<u8>()];
    let mut soa =
        SoaNumericTable::from_dictionary(features.into_iter().collect(), 2, AllocationFlag::DoNotAllocate).unwrap();
    soa.set_column(0, vec![1.5, 2.5]).unwrap();
    assert_error!(soa.rows::<f64>(..), ErrorKind::ColumnNotSet { column: 1 });
    assert_eq!(soa.column::<f64>(0, ..).unwrap()[..], [1.5, 2.5]);
    soa.set_column(1, vec![3_u8, 4]).unwrap();
    assert_eq!(soa.rows::<f64>(..).unwrap()[..], [1.5, 3.0, 2.5, 4.0]);
}

/// Fault 48: a write request to read-only memory is accepted, and its failed release blocks later reads.
#[test]
fn a_write_request_to_read_only_values_is_refused_and_blocks_nothing() {
    let values = [1.5_f32, 2.5, 3.5, 4.5];
    let view = TableView::new(&values, Shape { rows: 2, columns: 2 }, RowMajor).unwrap();
    let mut lent = numeric_table::table::BorrowedTable::from(view);
    let mut block = BlockDescriptor::<f64>::new();
    let refused = lent.get_block_of_rows(0, 2, ReadWriteMode::ReadWrite, &mut block);
    assert_error!(refused, ErrorKind::ReadOnlyTable);
    lent.get_block_of_rows(0, 2, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [1.5, 2.5, 3.5, 4.5]);
    lent.release_block_of_rows(&mut block).unwrap();
}

/// Fault 52: beyond 10 MB of rows of mixed types, later blocks are written over the first ones.
#[test]
fn rows_of_mixed_types_are_right_beyond_any_size_of_blocks() {
    let rows = 1 << 21; // 12 MiB stored, 32 MiB as f64
    let soa = SoaNumericTable::from_columns([
        ("id", AnyArray::from((0..rows as u32).collect::<Vec<_>>())),
        ("kind", AnyArray::from((0..rows).map(|row| (row % 251) as u16).collect::<Vec<_>>())),
    ])
    .unwrap();
    let values = soa.rows::<f64>(..).unwrap();
    let wrong = values.chunks_exact(2).enumerate().find(|&(row, pair)| pair != [row as f64, (row % 251) as f64]);
    assert_eq!((values.len(), wrong), (2 * rows, None));
}

/// Fault 64: copies share one list of chunks, so that what is appended to one shows in the other.
#[test]
fn a_row_appended_to_a_clone_does_not_show_in_the_original() {
    let table = numbered::<i32>(2, 3, RowMajor);
    let mut longer = table.clone();
    longer.push_row(&[7, 8, 9]).unwrap();
    assert_eq!((table.row_count(), longer.row_count()), (2, 3));
    let shared = table::by_ref(&table);
    let parts: [Box<dyn NumericTable + '_>; 2] = [shared, Box::new(longer.clone())];
    let mut joined = RowMergedNumericTable::new(parts).unwrap();
    joined.push(Box::new(longer)).unwrap();
    assert_eq!((joined.row_count(), table.row_count()), (8, 2));
}

/// Fault 68: a column of another length is compared by an assertion only.
#[test]
fn a_column_of_another_length_is_refused_and_given_back() {
    let mut soa = SoaNumericTable::from_columns([("a", vec![1.5, 2.5])]).unwrap();
    let refused = soa.set_column(0, vec![1.5]).unwrap_err();
    assert!(
        matches!(refused.error.kind(), ErrorKind::LengthMismatch { expected: 2, actual: 1 }),
        "{:?}",
        refused.error
    );
    assert_eq!(refused.value.len(), 1);
    assert_eq!(soa.column::<f64>(0, ..).unwrap()[..], [1.5, 2.5]);
}
