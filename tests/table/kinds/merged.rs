//! Tables side by side and end to end.

use numeric_table::table::{
    Rejected, by_mut, by_ref,
    spi::{Piece, PieceMut, Region, TableId, TableKind, Target, array_of},
};
use numeric_table::{
    CsrNumericTable, MergedNumericTable, PackedSymmetricMatrix, PackedTriangularMatrix, RowMergedNumericTable,
    array::AnySliceMut, prelude::*, table::Triangle,
};
use test_support::tables::{assert_error, shape};

use super::{Boxed, Ramp};

fn square(value: &mut f64) {
    *value *= *value;
}

/// DAAL's case: 5 x 5 of `r + c / 10` beside 5 x 6 of `r + .5 + c / 10`, row 3 squared through the merged table.
#[test]
fn what_is_written_side_by_side_is_in_the_tables() {
    let of = |columns: usize, add: f64| {
        HomogenNumericTable::from_fn(shape(5, columns), |row, column| row as f64 + add + column as f64 / 10.0).unwrap()
    };
    let (mut left, mut right) = (of(5, 0.0), of(6, 0.5));
    let mut table = MergedNumericTable::new([by_mut(&mut left), by_mut(&mut right)]).unwrap();
    assert_eq!(table.shape(), shape(5, 11));
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(3, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap().iter_mut().for_each(square);
    table.release_block_of_rows(&mut block).unwrap();
    let rounded = |table: &Table<f64>| {
        table.rows::<f64>(3..4).unwrap().iter().map(|value| (value * 100.0).round() / 100.0).collect::<Vec<_>>()
    };
    drop(table);
    assert_eq!(rounded(&left), [9.0, 9.61, 10.24, 10.89, 11.56]);
    assert_eq!(rounded(&right), [12.25, 12.96, 13.69, 14.44, 15.21, 16.0]);
}

/// DAAL's case: 5 x 5 over 6 x 5, column 2 squared in all 11 rows. (There it writes past the end of a buffer.)
#[test]
fn a_column_end_to_end_is_written_in_all_tables() {
    let of = |rows: usize, add: f64| {
        HomogenNumericTable::from_fn(shape(rows, 5), |row, column| row as f64 + add + column as f64 / 10.0).unwrap()
    };
    let (upper, lower) = (of(5, 0.0), of(6, 0.5));
    let expected = [&upper, &lower].map(|part| part.column::<f64>(2, ..).unwrap().to_vec()).concat();
    let mut table = RowMergedNumericTable::new([Box::new(upper) as Boxed, Box::new(lower)]).unwrap();
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_column_values(2, 0, 11, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap().iter_mut().for_each(square);
    table.release_block_of_column_values(&mut block).unwrap();
    let expected = expected.iter().map(|value| value * value).collect::<Vec<_>>();
    assert_eq!(table.column::<f64>(2, ..).unwrap()[..], expected);
    let tables = table.into_tables();
    assert_eq!(tables[1].column::<f64>(2, 4..).unwrap()[..], expected[9..]);
    assert_eq!(tables[0].value::<f64>(3, 1).unwrap(), 3.1); // and nothing else
}

#[test]
fn tables_that_do_not_fit_are_returned_and_unchanged() {
    let five = || Box::new(HomogenNumericTable::full(shape(5, 2), 1.5_f32).unwrap()) as Boxed;
    let three = || Box::new(HomogenNumericTable::full(shape(3, 2), 2.5_f32).unwrap()) as Boxed;
    let mut table = MergedNumericTable::new([five()]).unwrap();
    let Rejected { value, error } = table.push(three()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnequalTables { table: 1, reason, .. } if reason.contains("rows")));
    assert_eq!((value.shape(), table.shape(), table.tables().len()), (shape(3, 2), shape(5, 2), 1));
    assert_eq!(table.tables()[0].row_count(), 5); // DAAL has cut it to 3

    let mut table = RowMergedNumericTable::new([five()]).unwrap();
    table.push(three()).unwrap();
    let narrow = Box::new(HomogenNumericTable::full(shape(3, 1), 2.5_f32).unwrap());
    assert_error!(
        table.push(narrow).map_err(Rejected::into_error),
        ErrorKind::UnequalTables { table: 2, .. },
        "columns"
    );
    let wide = Box::new(HomogenNumericTable::full(shape(3, 2), 2.5_f64).unwrap());
    assert_error!(
        table.push(wide).map_err(Rejected::into_error),
        ErrorKind::UnequalTables { table: 2, column: Some(0), .. },
        "values of"
    );
    assert_eq!(table.shape(), shape(8, 2));

    assert_error!(MergedNumericTable::new([]), ErrorKind::ParameterOutOfRange { .. }, "number of tables");
    assert_error!(RowMergedNumericTable::new([]), ErrorKind::ParameterOutOfRange { .. }, "number of tables");
    let endless = || Box::new(HomogenNumericTable::<u8>::full(shape(usize::MAX, 0), 0).unwrap()) as Boxed;
    assert_error!(RowMergedNumericTable::new([endless(), endless()]), ErrorKind::SizeOverflow { .. });
    let endless = || Box::new(HomogenNumericTable::<u8>::full(shape(0, usize::MAX), 0).unwrap()) as Boxed;
    assert_error!(MergedNumericTable::new([endless(), endless()]), ErrorKind::SizeOverflow { .. });
    let other = Box::new(HomogenNumericTable::<i8>::full(shape(0, 1), 0).unwrap()) as Boxed;
    assert!(
        MergedNumericTable::new([
            Box::new(HomogenNumericTable::<u8>::full(shape(0, usize::MAX / 2), 0).unwrap()),
            other
        ])
        .is_err()
    );
}

#[test]
fn dictionaries_are_joined_and_the_tables_keep_theirs() {
    let named = |name: &str, element: ElementType| Feature::new(element).named(name);
    let mut left = HomogenNumericTable::from_rows(&[[1_u8, 2]]).unwrap();
    left.set_dictionary(["a", "b"].map(|name| named(name, ElementType::U8)).into_iter().collect()).unwrap();
    let mut right = HomogenNumericTable::from_rows(&[[0.5_f32]]).unwrap();
    right.set_dictionary(DataDictionary::uniform(named("c", ElementType::F32).categorical(4), 1)).unwrap();
    let mut table = MergedNumericTable::new([by_ref(&left), by_ref(&right), by_ref(&left)]).unwrap();
    let names = table.dictionary().iter().map(|feature| feature.name.clone().unwrap()).collect::<Vec<_>>();
    assert_eq!(names, ["a", "b", "c", "a", "b"]);
    assert_eq!(
        (table.category_count(2).unwrap(), table.uniform_type(), table.kind()),
        (Some(4), None, TableKind::MERGED)
    );
    table.reset_dictionary().unwrap();
    assert_eq!((table.dictionary().index_of("a"), table.tables()[0].dictionary().index_of("a")), (None, Some(0)));
}

#[test]
fn a_block_in_one_table_is_that_tables_memory_and_a_lease_locks_only_that() {
    let part = |value: i32| Box::new(HomogenNumericTable::full(shape(4, 2), value).unwrap()) as Boxed;
    let mut table = RowMergedNumericTable::new([part(1), part(2), part(3)]).unwrap();
    assert!(table.rows::<i32>(4..8).unwrap().is_zero_copy() && !table.rows::<i32>(3..5).unwrap().is_zero_copy());
    let (mut first, mut second) = (BlockDescriptor::<i32>::new(), BlockDescriptor::<i32>::new());
    table.get_block_of_rows(5, 2, ReadWriteMode::ReadWrite, &mut first).unwrap();
    table.get_block_of_rows(9, 1, ReadWriteMode::ReadWrite, &mut second).unwrap();
    assert!(first.is_zero_copy() && second.is_zero_copy());
    assert_error!(table.rows::<i32>(..), ErrorKind::BlockOutstanding { rows } if *rows == (5..7));
    assert_eq!(table.rows::<f64>(1..3).unwrap()[..], [1.0; 4]);
    first.as_mut_slice().unwrap()[0] = 20;
    second.as_mut_slice().unwrap()[1] = 30;
    table.release_block_of_rows(&mut first).unwrap(); // not in the order in which they were taken
    table.release_block_of_rows(&mut second).unwrap();
    assert_eq!(table.rows::<i32>(5..10).unwrap()[..], [20, 2, 2, 2, 2, 2, 3, 3, 3, 30]);
}

/// A write in some of the tables copies the memory of those only, and a refused one of none.
#[test]
fn memory_that_is_not_written_stays_shared() {
    let parts = [1_i16, 2, 3].map(|value| HomogenNumericTable::full(shape(2, 2), value).unwrap());
    let mut table = RowMergedNumericTable::new(parts.iter().map(|part| Box::new(part.clone()) as Boxed)).unwrap();
    let shares = |table: &RowMergedNumericTable<'_>| {
        [0, 1, 2].map(|index| {
            let part = table.tables()[index].downcast_ref::<Table<i16>>().unwrap();
            part.array().unwrap().shares_memory_with(parts[index].array().unwrap())
        })
    };
    let refused = table.update_rows::<f64, _>(1..3, |block| {
        block.iter_mut().for_each(|value| *value = 1e9);
        Ok(())
    });
    assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 1, column: 0, .. });
    assert_eq!(shares(&table), [true; 3]);
    table
        .update_rows::<f64, _>(1..3, |block| {
            block.fill(9.0);
            Ok(())
        })
        .unwrap();
    assert_eq!(shares(&table), [false, false, true]);
    assert_eq!(table.rows::<i16>(..).unwrap()[..], [1, 1, 9, 9, 9, 9, 2, 2, 3, 3, 3, 3]);
    assert_eq!(parts[0].as_slice().unwrap(), [1; 4]);
}

#[test]
fn a_row_among_very_many_tables_is_found() {
    let part = |index: usize| Box::new(HomogenNumericTable::from_rows(&[[index as i32, 7]]).unwrap()) as Boxed;
    let mut table = RowMergedNumericTable::new((0..5_000).map(part)).unwrap();
    for row in [0, 1, 2_499, 4_998, 4_999] {
        assert_eq!(table.rows::<f64>(row..row + 1).unwrap()[..], [row as f64, 7.0]);
    }
    table
        .update_column::<i64, _>(0, .., |block| {
            block.iter_mut().for_each(|value| *value *= 2);
            Ok(())
        })
        .unwrap();
    assert_eq!(table.column::<i32>(0, 4_997..).unwrap()[..], [9_994, 9_996, 9_998]);
}

/// A table whose piece shows more rows and columns than it has.
struct Wide(HomogenNumericTable<f64>, Shape);

impl NumericTable for Wide {
    fn shape(&self) -> Shape {
        self.1
    }

    fn dictionary(&self) -> &DataDictionary {
        static TWO: std::sync::LazyLock<DataDictionary> =
            std::sync::LazyLock::new(|| DataDictionary::uniform(Feature::new(ElementType::F64), 2));
        &TWO
    }

    fn id(&self) -> TableId {
        self.0.id()
    }

    fn piece(&self, row: usize, column: usize) -> numeric_table::Result<Option<Piece<'_>>> {
        self.0.piece(row, column)
    }

    fn pieces_mut(&mut self) -> numeric_table::Result<Vec<PieceMut<'_>>> {
        self.0.pieces_mut()
    }
}

#[test]
fn a_piece_beyond_its_table_shows_nothing_of_the_next() {
    let wide = || {
        let all = HomogenNumericTable::from_fn(shape(5, 4), |row, column| (10 * row + column) as f64).unwrap();
        Box::new(Wide(all, shape(3, 2))) as Boxed
    };
    let part = || Box::new(HomogenNumericTable::full(shape(3, 2), -1.0_f64).unwrap()) as Boxed;
    let mut table = RowMergedNumericTable::new([wide(), part()]).unwrap();
    assert_eq!(table.rows::<f64>(2..5).unwrap()[..], [20.0, 21.0, -1.0, -1.0, -1.0, -1.0]);
    let copy = (&table as &dyn NumericTable).convert::<f64>().unwrap();
    assert_eq!(copy.as_slice().unwrap()[..8], [0.0, 1.0, 10.0, 11.0, 20.0, 21.0, -1.0, -1.0]);
    table.fill(7.0).unwrap();
    let mut rows = table.rows_mut::<f32>(1..5).unwrap();
    rows.fill(8.0);
    rows.release().unwrap();
    let tables = table.into_tables();
    assert_eq!(tables[0].rows::<f64>(..).unwrap()[..], [7.0, 7.0, 8.0, 8.0, 8.0, 8.0]);
    assert_eq!(tables[1].rows::<f64>(..).unwrap()[..], [8.0, 8.0, 8.0, 8.0, 7.0, 7.0]);

    let mut table = MergedNumericTable::new([wide(), part()]).unwrap();
    assert_eq!(table.rows::<f64>(1..2).unwrap()[..], [10.0, 11.0, -1.0, -1.0]);
    table
        .update_rows::<f32, _>(.., |block| {
            block.fill(7.0);
            Ok(())
        })
        .unwrap();
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [7.0; 12]);
    assert_eq!(table.into_tables()[1].rows::<f64>(..).unwrap()[..], [7.0; 6]);
}

/// One of the tables cannot be written, or has no memory: nothing is read or written in part, and none is copied.
#[test]
fn a_call_that_one_table_refuses_leaves_the_others_alone() {
    let (left, right) = (
        HomogenNumericTable::full(shape(2, 2), 1_i32).unwrap(),
        HomogenNumericTable::full(shape(2, 1), 2_i32).unwrap(),
    );
    let mut table =
        MergedNumericTable::new([Box::new(left.clone()) as Box<dyn NumericTable + '_>, by_ref(&right)]).unwrap();
    let is_shared = |table: &MergedNumericTable<'_>| {
        let region = Region { rows: 0..2, columns: 0..2 };
        let array = array_of(&*table.tables()[0], &region, ElementType::I32).unwrap().unwrap().0;
        array.downcast::<i32>().unwrap().shares_memory_with(left.array().unwrap())
    };
    assert_error!(
        table.update_rows::<i32, _>(.., |block| {
            block.fill(9);
            Ok(())
        }),
        ErrorKind::ReadOnlyTable
    );
    assert_error!(table.fill(9), ErrorKind::ReadOnlyTable);
    assert!(table.row_blocks_mut::<i32>(1).is_err() && table.rows_mut::<f64>(..).is_err());
    assert!(is_shared(&table));
    assert_eq!(table.rows::<i32>(..).unwrap()[..], [1, 1, 2, 1, 1, 2]);

    let ramp = Ramp::new(shape(2, 2));
    let empty = HomogenNumericTable::<f32>::new(shape(2, 1), AllocationFlag::DoNotAllocate).unwrap();
    let table = MergedNumericTable::new([by_ref(&ramp), by_ref(&empty)]).unwrap();
    let mut values = [7.0_f64; 6];
    let whole = Region { rows: 0..2, columns: 0..3 };
    let target = Target::new(AnySliceMut::new(&mut values), shape(2, 3), ConversionPolicy::Saturate).unwrap();
    assert_error!(table.read_region(&whole, target), ErrorKind::NotAllocated);
    assert_eq!(values, [7.0; 6]);
    assert_eq!(table.data_memory_status(), MemoryStatus::NotAllocated);
}

#[test]
fn endless_shapes_without_values_are_described_at_once() {
    let wide = HomogenNumericTable::<u8>::full(shape(0, usize::MAX), 0).unwrap();
    let mut table = MergedNumericTable::new([Box::new(wide) as Boxed]).unwrap();
    table.reset_dictionary().unwrap();
    assert_eq!(table.rows::<f64>(..).unwrap().len(), 0);
    let tall = || Box::new(HomogenNumericTable::<u8>::full(shape(usize::MAX / 2, 0), 0).unwrap()) as Boxed;
    let mut table = RowMergedNumericTable::new([tall(), tall()]).unwrap();
    assert_eq!(table.rows::<f64>(5..).unwrap().len(), 0);
    table.fill(1).unwrap();
    table.update_rows::<f64, _>(.., |_| Ok(())).unwrap();
}

/// Sparse and packed tables have no pieces for writing.
#[test]
fn tables_without_pieces_are_written_alone_and_not_together_with_others() {
    let numbers = || HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6], [7, 8, 9]]).unwrap();
    let packed = || vec![1, 2, 3, 4, 5, 6];
    let (upper, rows) = (Triangle::Upper, DataLayout::RowMajor);
    let makers: [&dyn Fn() -> Boxed; 3] = [
        &|| Box::new(CsrNumericTable::from_dense::<i32>(&numbers()).unwrap()),
        &|| Box::new(PackedSymmetricMatrix::from_packed(packed(), upper, rows).unwrap()),
        &|| Box::new(PackedTriangularMatrix::from_packed(packed(), upper, rows).unwrap()),
    ];
    let refuses = |table: &mut dyn NumericTable, rows: std::ops::Range<usize>| {
        let before = table.rows::<i32>(..).unwrap().to_vec();
        let refused = table.update_rows::<f64, _>(rows.clone(), |block| {
            block[0] = 50.0;
            Ok(())
        });
        assert_error!(refused, ErrorKind::ReadOnlyTable);
        let mut block = table.rows_mut::<i32>(rows.clone()).unwrap();
        block[0] = 50;
        assert_error!(block.release(), ErrorKind::ReadOnlyTable);
        let mut block = BlockDescriptor::<i32>::new();
        table.get_block_of_rows(rows.start, rows.len(), ReadWriteMode::WriteOnly, &mut block).unwrap();
        block.as_mut_slice().unwrap().fill(50);
        assert_error!(table.release_block_of_rows(&mut block), ErrorKind::ReadOnlyTable);
        block.discard();
        assert_error!(table.fill(0), ErrorKind::ReadOnlyTable);
        assert_eq!(table.rows::<i32>(..).unwrap()[..], before);
    };
    for (make, first) in makers.into_iter().flat_map(|make| [(make, true), (make, false)]) {
        let both = || if first { [make(), Box::new(numbers())] } else { [Box::new(numbers()) as Boxed, make()] };
        let mut side_by_side = MergedNumericTable::new(both()).unwrap();
        refuses(&mut side_by_side, 0..3);
        refuses(&mut side_by_side, 1..2);
        let own = if first { 1 } else { 4 };
        side_by_side.set_value(0, own, 20).unwrap();
        side_by_side
            .update_column::<f64, _>(own, ..2, |column| {
                column[1] = 30.0;
                Ok(())
            })
            .unwrap();
        assert_eq!(side_by_side.column::<i32>(own, ..2).unwrap()[..], [20, 30]);

        let mut end_to_end = RowMergedNumericTable::new(both()).unwrap();
        refuses(&mut end_to_end, 0..6);
        refuses(&mut end_to_end, 2..4);
        let own = if first { 0 } else { 3 };
        end_to_end
            .update_rows::<f64, _>(own..own + 1, |row| {
                row.copy_from_slice(&[10.0, 20.0, 30.0]);
                Ok(())
            })
            .unwrap();
        assert_eq!(end_to_end.rows::<i32>(own..own + 1).unwrap()[..], [10, 20, 30]);
    }
}

#[test]
fn tables_within_tables_are_refused_when_they_are_too_deep() {
    let mut table: Boxed = Box::new(HomogenNumericTable::from_rows(&[[1_u8, 2]]).unwrap());
    for level in 0..64 {
        table = match level % 2 {
            0 => Box::new(RowMergedNumericTable::new([table]).unwrap()),
            _ => Box::new(MergedNumericTable::new([table]).unwrap()),
        };
    }
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [1.0, 2.0]);
    assert_error!(
        RowMergedNumericTable::new([by_ref(&*table)]),
        ErrorKind::LimitExceeded { what: "levels of tables within tables", limit: 64, .. }
    );
    let one = HomogenNumericTable::from_rows(&[[3_u8]]).unwrap();
    let mut flat = MergedNumericTable::new([by_ref(&one)]).unwrap();
    assert_error!(
        flat.push(by_ref(&*table)).map_err(Rejected::into_error),
        ErrorKind::LimitExceeded { what: "levels of tables within tables", .. }
    );
}
