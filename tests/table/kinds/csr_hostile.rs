//! Sparse parts that are wrong, and shapes that no dense table could have.

use numeric_table::table::{
    CooParts, CsrParts, Rejected,
    spi::{Region, Target},
};
use numeric_table::{
    AnyArray, AnyValue, CsrNumericTable, array::AnySliceMut, error::SparseFault, prelude::*,
    statistics::BasicStatistics,
};
use test_support::tables::{assert_error, huge, shape};

fn made(
    size: (usize, usize),
    offsets: impl Into<AnyArray>,
    indices: impl Into<AnyArray>,
    count: usize,
) -> Result<CsrNumericTable, Error> {
    let (offsets, indices) = (offsets.into(), indices.into());
    let given = format!("{offsets:?} {indices:?}");
    CsrNumericTable::try_new(shape(size.0, size.1), offsets, indices, vec![1.5; count]).map_err(|refused| {
        let Rejected { value: CsrParts { offsets, indices, values }, error } = refused;
        assert_eq!((format!("{offsets:?} {indices:?}"), values.len()), (given, count)); // nothing is lost
        error
    })
}

#[track_caller]
fn assert_message(made: Result<CsrNumericTable, Error>, message: &str) {
    assert_eq!(made.map(|table| table.shape()).unwrap_err().to_string(), message);
}

#[test]
fn every_wrong_part_is_named() {
    made((2, 4), vec![0, 2, 3], vec![0, 3, 1], 3).unwrap();
    let ok = || vec![0, 3, 1];
    assert_message(made((2, 4), vec![0_u8, 2, 3], ok(), 3), "the row offsets are u8: expected i32, u32, i64 or u64");
    assert_message(
        made((2, 4), vec![0, 2, 3], vec![0.0, 3.0, 1.0], 3),
        "the column indices are f64: expected i32, u32, i64 or u64",
    );
    for offsets in [vec![0, 3], vec![0, 2, 3, 3], vec![]] {
        let count = offsets.len();
        assert_message(
            made((2, 4), offsets, ok(), 3),
            &format!("2 rows need one row offset each and one more, but {count} were given"),
        );
    }
    // DAAL reads rows of a larger table well, saves wrong values of them, and crashes.
    assert_message(made((2, 4), vec![4, 6, 7], ok(), 3), "the first row offset is 4, not 0");
    assert_message(made((2, 4), vec![-1, 2, 3], ok(), 3), "the first row offset is -1, not 0");
    assert_message(made((3, 4), vec![0, 2, 1, 3], ok(), 3), "the row offsets descend: row 1 begins at 2 and ends at 1");
    assert_message(made((2, 4), vec![0, -2, 3], ok(), 3), "the row offsets descend: row 0 begins at 0 and ends at -2");
    assert_message(
        made((1, 4), vec![0, i64::MIN], ok(), 3),
        "the row offsets descend: row 0 begins at 0 and ends at -9223372036854775808",
    );
    // Offsets 0 2 5 over 3 values, values or indices that are too few.
    let counts = |end: &str, indices, values| {
        format!("the row offsets end at {end}, but there are {indices} column indices and {values} values")
    };
    assert_message(made((2, 4), vec![0, 2, 5], ok(), 3), &counts("5", 3, 3));
    assert_message(made((2, 4), vec![0, 2, 2], ok(), 3), &counts("2", 3, 3));
    assert_message(made((2, 4), vec![0, 2, 3], ok(), 2), &counts("3", 3, 2));
    assert_message(made((2, 4), vec![0, 2, 3], vec![0, 3], 3), &counts("3", 2, 3));
    assert_message(made((2, 4), vec![0, 2, u64::MAX], ok(), 3), &counts(&usize::MAX.to_string(), 3, 3));
    assert_message(made((2, 4), vec![0, 2, i32::MAX], ok(), 3), &counts("2147483647", 3, 3));
    assert_message(
        made((2, 4), vec![0, 2, 3], vec![0, 4, 1], 3),
        "the column indices have 4 at position 1, in row 0: 0 to 3 are allowed",
    );
    assert_message(
        made((2, 4), vec![0, 2, 3], vec![0, 3, -1], 3),
        "the column indices have -1 at position 2, in row 1: 0 to 3 are allowed",
    );
    assert_message(
        made((2, 4), vec![0, 2, 3], vec![-5, 3, 1], 3),
        "the column indices have -5 at position 0, in row 0: 0 to 3 are allowed",
    );
    assert_message(
        made((2, 4), vec![0, 2, 3], vec![0, u64::MAX, 1], 3),
        "the column indices have 18446744073709551615 at position 1, in row 0: 0 to 3 are allowed",
    );
    assert_message(
        made((1, 0), vec![0, 1], vec![0], 1),
        "the column indices have 0 at position 0, in row 0: none is allowed",
    );
    // DAAL's last duplicate wins in dense blocks, and it is in all sparse ones.
    assert_message(
        made((2, 4), vec![0, 2, 3], vec![3, 3, 1], 3),
        "the column indices do not ascend: row 0 has 3 at position 1, after 3",
    );
    assert_message(
        made((2, 4), vec![0, 1, 3], vec![3, 2, 0], 3),
        "the column indices do not ascend: row 1 has 0 at position 2, after 2",
    );
    assert_error!(
        made((2, 4), vec![0, 1, 3], vec![3_u32, 2, 0], 3),
        ErrorKind::SparseStructure { row: Some(1), position: Some(2), .. },
        "not ascend"
    );
}

/// DAAL takes offsets from zero for offsets from one, and reads from before the array.
#[test]
fn offsets_from_one_are_their_own_constructor() {
    assert_message(made((2, 4), vec![1, 3, 4], vec![1, 4, 2], 3), "the first row offset is 1, not 0");
    let one = |offsets: Vec<i32>, indices: Vec<i32>| {
        let table = CsrNumericTable::from_one_based(shape(2, 4), offsets, indices, vec![1.5; 3]);
        table.map_err(|refused| {
            assert_eq!(refused.value.values.len(), 3);
            refused.error
        })
    };
    assert_eq!(
        one(vec![1, 3, 4], vec![1, 4, 2]).unwrap().rows::<f64>(..).unwrap()[..],
        [1.5, 0., 0., 1.5, 0., 1.5, 0., 0.]
    );
    assert_message(one(vec![0, 2, 3], vec![1, 4, 2]), "the first row offset is 0, not 1");
    assert_message(
        one(vec![1, 3, 3], vec![1, 4, 2]),
        "the row offsets end at 2, but there are 3 column indices and 3 values",
    );
    assert_message(
        one(vec![1, 3, 4], vec![0, 4, 2]),
        "the column indices have 0 at position 0, in row 0: 1 to 4 are allowed",
    );
    assert_message(
        one(vec![1, 3, 4], vec![1, 4, 5]),
        "the column indices have 5 at position 2, in row 1: 1 to 4 are allowed",
    );
    assert_message(
        one(vec![1, 3, 4], vec![4, 4, 2]),
        "the column indices do not ascend: row 0 has 4 at position 1, after 4",
    );
    assert_message(one(vec![1, 0, 4], vec![1, 4, 2]), "the row offsets descend: row 0 begins at 1 and ends at 0");
    for (offsets, columns) in
        [(vec![0, 4, 5, 7, 8], vec![1; 7]), (vec![1, 4, 9, 7, 8], vec![1; 7]), (vec![1, 4, 7, 5, 8], vec![1; 7])]
    {
        let table = CsrNumericTable::from_one_based(shape(4, 4), offsets, columns, vec![1.5; 7]);
        assert_error!(
            table.map_err(Rejected::into_error),
            ErrorKind::SparseStructure { fault: SparseFault::Offsets, .. }
        );
    }
}

#[test]
fn other_constructors_give_back_what_they_refuse() {
    let unsorted = |offsets: Vec<i32>, indices: Vec<i32>| {
        let table = CsrNumericTable::from_unsorted(shape(2, 4), offsets, indices, vec![1.5; 3]);
        table.map_err(|refused| {
            assert_eq!(
                (refused.value.offsets.len(), refused.value.indices.len(), refused.value.values.len()),
                (3, 3, 3)
            );
            refused.error
        })
    };
    assert_message(
        unsorted(vec![0, 2, 3], vec![3, 0, 4]),
        "the column indices have 4 at position 2, in row 1: 0 to 3 are allowed",
    );
    assert_message(
        unsorted(vec![0, 2, 3], vec![3, -1, 3]),
        "the column indices have -1 at position 1, in row 0: 0 to 3 are allowed",
    );
    assert_message(unsorted(vec![0, 4, 3], vec![3, 0, 1]), "the row offsets descend: row 1 begins at 4 and ends at 3");
    let triplets = |rows: AnyArray, columns: AnyArray| {
        let lengths = (rows.len(), columns.len(), 3);
        let table = CsrNumericTable::from_triplets(shape(2, 4), rows, columns, vec![1.5; 3]);
        table.map_err(|Rejected { value: CooParts { rows, columns, values }, error }| {
            assert_eq!((rows.len(), columns.len(), values.len()), lengths);
            error
        })
    };
    triplets(vec![1, 0, 1].into(), vec![0, 3, 0].into()).unwrap();
    assert_message(
        triplets(vec![1, 0, 2].into(), vec![0, 3, 0].into()),
        "the row indices have 2 at position 2: 0 to 1 are allowed",
    );
    assert_message(
        triplets(vec![-1, 0, 1].into(), vec![0, 3, 0].into()),
        "the row indices have -1 at position 0: 0 to 1 are allowed",
    );
    assert_message(
        triplets(vec![1, 0, 1].into(), vec![0, 4_u64, 0].into()),
        "the column indices have 4 at position 1: 0 to 3 are allowed",
    );
    assert_error!(
        triplets(vec![1, 0].into(), vec![0, 3, 0].into()),
        ErrorKind::LengthMismatch { expected: 3, actual: 2 }
    );
    assert_error!(
        triplets(vec![1, 0, 1].into(), vec![0; 4].into()),
        ErrorKind::LengthMismatch { expected: 3, actual: 4 }
    );
    assert_error!(
        triplets(vec![1.0; 3].into(), vec![0; 3].into()),
        ErrorKind::SparseStructure { .. },
        "expected i32, u32, i64 or u64"
    );
    assert_error!(
        triplets(vec![1; 3].into(), vec![0_i16; 3].into()),
        ErrorKind::SparseStructure { .. },
        "expected i32, u32, i64 or u64"
    );
}

/// Only the first fault of a table large enough for several threads is reported.
#[test]
fn the_first_fault_of_a_large_table_is_found() {
    const ROWS: usize = 700_000;
    let offsets = || (0..=ROWS as i64).map(|row| 2 * row).collect::<Vec<_>>();
    let indices = || (0..2 * ROWS as i64).map(|at| at % 2).collect::<Vec<_>>();
    let with = |change: &dyn Fn(&mut Vec<i64>, &mut Vec<i64>)| {
        let (mut offsets, mut indices) = (offsets(), indices());
        change(&mut offsets, &mut indices);
        made((ROWS, 2), offsets, indices, 2 * ROWS)
    };
    with(&|_, _| ()).unwrap();
    assert_error!(
        with(&|_, indices| {
            indices[900_001] = 2;
            indices[1_200_000] = 9;
        }),
        ErrorKind::SparseStructure { row: Some(450_000), position: Some(900_001), .. },
        "at position"
    );
    assert_error!(
        with(&|_, indices| { indices[1_399_999] = 0 }),
        ErrorKind::SparseStructure { row: Some(699_999), position: Some(1_399_999), .. },
        "not ascend"
    );
    assert_error!(
        with(&|offsets, _| {
            offsets[650_000] = 5;
            offsets[3] = 7
        }),
        ErrorKind::SparseStructure { row: Some(649_999), .. },
        "descend"
    );
}

/// DAAL reads past its offsets, or succeeds with the counts of the block before.
#[test]
fn rows_past_the_end_are_errors() {
    let mut table = made((2, 4), vec![0, 2, 3], vec![0, 3, 1], 3).unwrap();
    assert_error!(table.rows::<f64>(1..3), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    assert_error!(table.sparse_rows::<f64>(1..3).map(drop), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    assert_error!(table.sparse_rows::<f32>(3..).map(drop), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    assert_error!(table.sparse_rows::<f64>(..=usize::MAX).map(drop), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    #[expect(clippy::reversed_empty_ranges, reason = "what is refused")]
    let backwards = 2..1;
    assert_error!(
        table.sparse_rows_mut::<f64>(backwards.clone()).map(drop),
        ErrorKind::RowsOutOfRange { row_count: 2, .. }
    );
    assert_error!(table.slice_rows(backwards).map(drop), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    assert_error!(table.get(2, 0), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    assert_error!(table.get(usize::MAX, 0), ErrorKind::RowsOutOfRange { row_count: 2, .. });
    assert_error!(table.get(0, 4), ErrorKind::ColumnOutOfRange { column: 4, column_count: 4 });
    assert_eq!(table.sparse_rows::<f32>(2..).unwrap().nnz(), 0);
    assert_eq!(table.sparse_rows::<f64>(2..2).unwrap().offsets().iter().collect::<Vec<_>>(), [0]);
    assert!(std::panic::catch_unwind(|| table.sparse_rows::<f64>(..).unwrap().row(2).0.len()).is_err());
    // Values of another type than the table's are its type from then on.
    assert_error!(table.values_slice::<f32>(), ErrorKind::ElementTypeMismatch { .. });
    assert_error!(table.values_slice_mut::<i64>(), ErrorKind::ElementTypeMismatch { .. });
}

#[test]
fn tables_without_rows_columns_or_values_are_tables() {
    for (rows, columns) in [(0, 0), (0, 5), (5, 0), (3, 4)] {
        let none = Vec::<i32>::new();
        let table = CsrNumericTable::try_new(shape(rows, columns), vec![0; rows + 1], none, Vec::<u8>::new()).unwrap();
        assert_eq!((table.shape(), table.nnz()), (shape(rows, columns), 0));
        assert_eq!(table.rows::<f64>(..).unwrap()[..], vec![0.0; rows * columns]);
        assert_eq!(table.transpose().unwrap().shape(), shape(columns, rows));
        assert_eq!(table.slice_rows(..).unwrap().shape(), shape(rows, columns));
        assert_eq!(table.sparse_rows::<f32>(..).unwrap().values(), [0.0; 0]);
        assert_eq!(BasicStatistics::compute(&table).unwrap().per_column().len(), columns);
        let mut table = table;
        assert!(table.sparse_rows_mut::<u8>(..).unwrap().values_mut().is_empty());
        table.sparse_rows_mut::<f64>(..).unwrap().release().unwrap();
        table.fill(0).unwrap();
        let none = || Vec::<i64>::new();
        CsrNumericTable::from_triplets(shape(rows, columns), none(), none(), none()).unwrap();
        CsrNumericTable::from_dense::<f32>(&table).unwrap();
        CsrNumericTable::from_one_based(shape(rows, columns), vec![1_u32; rows + 1], none(), none()).unwrap();
    }
    assert_error!(
        made((usize::MAX, 1), vec![0], Vec::<i32>::new(), 0),
        ErrorKind::SparseStructure { .. },
        "row offset each"
    );
    let none = || Vec::<i64>::new();
    let endless = CsrNumericTable::from_triplets(shape(usize::MAX, 1), none(), none(), none());
    assert_error!(endless.map_err(Rejected::into_error), ErrorKind::OutOfMemory | ErrorKind::SizeOverflow { .. });
}

/// 2^40 and more columns: what is stored is all that it costs.
#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn a_table_of_more_columns_than_memory_costs_its_values_only() {
    for columns in [huge(40), usize::MAX] {
        let last = columns as u64 - 1;
        let indices = vec![7, 1 << 39, 3, last];
        let table =
            CsrNumericTable::try_new(shape(3, columns), vec![0, 2, 2, 4], indices, vec![1.5_f32, 2.5, 3.5, 4.5]);
        let mut table = table.unwrap();
        assert_eq!(table.get(2, columns - 1).unwrap(), Some(AnyValue::F32(4.5)));
        assert_eq!(table.value::<f64>(0, huge(39)).unwrap(), 2.5);
        assert_eq!(table.column::<i8>(columns - 1, ..).unwrap()[..], [0, 0, 4]);
        let region = Region { rows: 0..3, columns: columns - 3..columns };
        let mut values = [9_u16; 9];
        let target = Target::new(AnySliceMut::new(&mut values), region.shape(), ConversionPolicy::Saturate).unwrap();
        table.read_region(&region, target).unwrap();
        assert_eq!(values, [0, 0, 0, 0, 0, 0, 0, 0, 4]);
        table.set_value(2, columns - 1, 5).unwrap();
        assert_error!(table.set_value(1, columns - 1, 5), ErrorKind::NotStored { row: 1, .. });
        assert_eq!(table.sparse_rows::<f64>(1..).unwrap().values(), [3.5, 5.0]);
        let clone = table.slice_rows(1..).unwrap();
        assert_eq!(clone.shape(), shape(2, columns));
        table.resize(5).unwrap();
        table.resize(2).unwrap();
        assert_eq!(table.nnz(), 2);
        assert_error!(table.rows::<f64>(..), ErrorKind::SizeOverflow { .. } | ErrorKind::OutOfMemory);
        assert_error!(table.to_dense::<f32>(), ErrorKind::SizeOverflow { .. } | ErrorKind::OutOfMemory);
        assert_error!(table.transpose(), ErrorKind::SizeOverflow { .. } | ErrorKind::OutOfMemory);
        assert_error!(
            BasicStatistics::compute(&table).map(drop),
            ErrorKind::SizeOverflow { .. } | ErrorKind::OutOfMemory
        );
        assert_error!(table.fill(1), ErrorKind::NotStored { row: 0, column: 0, .. });
        table.fill(0).unwrap();
        assert_eq!((table.nnz(), table.values_slice::<f32>().unwrap()), (2, &[0.0; 2][..]));
        assert!((&table as &dyn NumericTable).to_string().starts_with("2 x "));
        assert!(format!("{table:?}").contains("CsrNumericTable"));
    }
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn indices_that_a_type_cannot_hold_are_errors() {
    let table = made((1, huge(40)), vec![0, 2], vec![5_u64, huge(35) as u64], 2).unwrap();
    assert_error!(
        table.indices().to_array::<i32>(0),
        ErrorKind::SparseStructure { fault: SparseFault::OutOfRange, position: Some(1), .. },
        "is not representable as i32"
    );
    assert_error!(
        table.indices().to_array::<f64>(0),
        ErrorKind::SparseStructure { .. },
        "expected i32, u32, i64 or u64"
    );
    assert_eq!(table.indices().to_array::<i64>(1).unwrap()[..], [6, (1 << 35) + 1]);
    assert_error!(
        table.indices().to_array::<u64>(usize::MAX),
        ErrorKind::SparseStructure { .. },
        "the index 5 at position 0 is more than"
    );
    let table = made((1, 1 << 31), vec![0, 1], vec![i32::MAX], 1).unwrap();
    let block = table.sparse_rows::<f64>(..).unwrap();
    assert_error!(
        block.indices_from(1),
        ErrorKind::SparseStructure { fault: SparseFault::OutOfRange, position: Some(0), .. },
        "is not representable as i32"
    );
    // Rows that the type of the indices cannot hold.
    let rows = (1 << 31) + 10;
    assert_error!(made((rows, 2), vec![0, 1], vec![0], 1), ErrorKind::SparseStructure { .. }, "row offset each");
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn columns_that_the_type_of_the_indices_cannot_name_are_zero() {
    let shape = Shape { rows: 2, columns: huge(40) };
    let mut table = CsrNumericTable::try_new(shape, vec![0_i32, 1, 2], vec![0_i32, 0], vec![1.0, 2.0]).unwrap();
    for column in [1, i32::MAX as usize, 1 << 31, (huge(40)) - 1] {
        for row in 0..2 {
            assert_eq!(table.value::<f32>(row, column).unwrap(), 0.0);
            assert_eq!(table.column::<f64>(column, row..2).unwrap()[0], 0.0);
            assert_error!(table.set_value(row, column, 9.0), ErrorKind::NotStored { row: found, .. } if *found == row);
            table.set_value(row, column, 0.0).unwrap();
        }
    }
    assert_eq!(table.values_slice::<f64>().unwrap(), [1.0, 2.0]);
}
