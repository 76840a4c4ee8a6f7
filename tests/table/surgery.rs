//! Tables cut, filtered, sampled and put beside each other, compared with rows in plain vectors.

use numeric_table::prelude::*;
use numeric_table::table::{Rejected, by_ref, spi::TableKind};
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, MergedNumericTable, PackedSymmetricMatrix, RowMergedNumericTable,
    SoaNumericTable,
    table::{BorrowedTable, RecordLayout, Triangle},
};
use proptest::prelude::*;
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, assert_error, huge, numbered, shape};
use test_support::{SmallNumber, for_each_element};

type Rows = Vec<Vec<f64>>;

fn rows_of(table: &dyn NumericTable) -> Rows {
    (0..table.row_count()).map(|row| table.rows::<f64>(row..row + 1).unwrap().to_vec()).collect()
}

/// A table of every kind with seven rows and at least two columns, of values that differ from row to row.
fn every_kind(check: &dyn Fn(&dyn NumericTable)) {
    for layout in LAYOUTS {
        let table = numbered::<i16>(7, 3, layout);
        check(&table);
        check(&table.slice_rows(..).unwrap());
        check(&*table.select_rows(..).unwrap());
        check(&table.select_columns([2, 0]).unwrap());
        check(&MergedNumericTable::new([by_ref(&table), by_ref(&numbered::<f64>(7, 2, layout))]).unwrap());
        let (head, tail) = (table.head(4).unwrap(), table.tail(3).unwrap());
        check(&RowMergedNumericTable::new([head, tail]).unwrap());
    }
    let columns = [("a", AnyArray::from(vec![1_u8, 2, 3, 4, 5, 6, 7])), ("b", vec![1_i64, -1, 7, 8, 9, 10, 11].into())];
    check(&SoaNumericTable::from_columns(columns).unwrap());
    check(&SoaNumericTable::from_columns([("a", vec![7.5; 7]), ("b", (0..7).map(f64::from).collect())]).unwrap());
    let layout =
        RecordLayout::new(16).field("x", ElementType::F64, 8).unwrap().field("n", ElementType::U16, 2).unwrap();
    let mut records = AosNumericTable::zeros(&layout, 7).unwrap();
    (0..7).for_each(|row| records.set_value(row, 0, row as f64 + 0.5).unwrap());
    check(&records);
    let (offsets, indices) = (vec![0_u32, 1, 1, 3, 3, 4, 5, 5], vec![3_i64, 0, 2, 1, 3]);
    check(&CsrNumericTable::try_new(shape(7, 4), offsets, indices, vec![1.5_f32, 2.5, 3.5, 4.5, 5.5]).unwrap());
    let packed = (1..=28).collect::<Vec<i32>>();
    check(&PackedSymmetricMatrix::from_packed(packed, Triangle::Lower, DataLayout::ColumnMajor).unwrap());
    let values = (0_u16..14).collect::<Vec<_>>();
    check(&BorrowedTable::new(&values, shape(7, 2)).unwrap());
}

#[test]
fn rows_of_every_kind_are_those_of_a_vector_of_rows() {
    let strategy = (prop::collection::vec(0..7_usize, 0..12), prop::collection::vec(any::<bool>(), 7), any::<u64>());
    let mut runner = prop::test_runner::TestRunner::new(ProptestConfig { cases: 24, ..ProptestConfig::default() });
    let result = runner.run(&strategy, |(numbers, flags, seed)| {
        every_kind(&|table| {
            let all = rows_of(table);
            let same = |found: &dyn NumericTable, expected: Vec<&Vec<f64>>| {
                assert_eq!(rows_of(found).iter().collect::<Vec<_>>(), expected);
                assert_eq!(found.dictionary(), table.dictionary());
            };
            let kept =
                |is_kept: &dyn Fn(usize) -> bool| (0..7).filter(|&row| is_kept(row)).map(|row| &all[row]).collect();
            same(&*table.take_rows(&numbers).unwrap(), numbers.iter().map(|&row| &all[row]).collect());
            same(&*table.filter_rows(&flags).unwrap(), kept(&|row| flags[row]));
            let mean = all.iter().map(|row| row[1]).sum::<f64>() / 7.0;
            let by_row = table.filter_rows_by(|row: &[f64]| row[1] > mean).unwrap();
            same(&*by_row, kept(&|row| all[row][1] > mean));
            let by_column = table.filter_by_column(1, |value: f32| f64::from(value) > mean).unwrap();
            assert_eq!(rows_of(&*by_column), rows_of(&*by_row));

            let count = numbers.len() % 8;
            let sample = rows_of(&*table.sample_rows(count, seed).unwrap());
            let mut rest = all.iter();
            assert!(sample.len() == count && sample.iter().all(|row| rest.any(|other| other == row)), "in order");
            let (training, test) = table.split_rows(0.5, seed).unwrap();
            assert_eq!((training.row_count(), test.row_count()), (4, 3)); // 3.5 is rounded up
            let sorted = |mut rows: Rows| {
                rows.sort_by(|one, other| one.partial_cmp(other).unwrap());
                rows
            };
            assert_eq!(sorted([rows_of(&*training), rows_of(&*test)].concat()), sorted(all.clone()));
            assert_eq!(sorted(rows_of(&*table.shuffle_rows(seed).unwrap())), sorted(all.clone()));
        });
        Ok(())
    });
    result.unwrap();
}

#[test]
fn columns_beside_every_kind_are_those_of_both() {
    every_kind(&|table| {
        let (all, columns) = (rows_of(table), table.column_count());
        let more = (0..7_u8).map(|row| 100 + row).collect::<Vec<_>>();
        let expected = all.iter().zip(&more).map(|(row, &new)| [row.as_slice(), &[f64::from(new)]].concat());
        let expected = expected.collect::<Rows>();
        let wider = table.with_column("new", more.clone()).unwrap();
        assert_eq!(rows_of(&wider), expected);
        assert_eq!(
            (wider.column_type(columns).unwrap(), wider.column_index("new").unwrap()),
            (ElementType::U8, columns)
        );
        assert!(wider.column::<u8>(columns, ..).unwrap().is_zero_copy());
        let again = wider.with_column("new", vec![0.5_f32; 7]).unwrap();
        assert_eq!((again.column_count(), again.value::<f64>(6, columns).unwrap()), (columns + 1, 0.5));

        let label = SoaNumericTable::from_columns([("new", more)]).unwrap();
        let both = table.hstack(&[&label, table]).unwrap();
        assert_eq!(both.column_count(), 2 * columns + 1);
        assert_eq!(rows_of(&both.select_columns(..=columns).unwrap()), expected);
        for owned in [both.to_table().unwrap(), Box::new(both.to_columns().unwrap())] {
            assert_eq!((rows_of(&*owned), owned.dictionary()), (rows_of(&both), both.dictionary()));
        }
    });
}

#[test]
fn a_column_takes_the_place_of_the_first_one_of_its_name() {
    let mut table = numbered::<i32>(3, 4, DataLayout::ColumnMajor);
    table.set_names(["a", "b", "a", "c"]).unwrap();
    for (name, place, count) in [("a", 0, 4), ("b", 1, 4), ("c", 3, 4), ("d", 4, 5)] {
        let new = table.with_column(name, vec![70_i8, 80, 90]).unwrap();
        assert_eq!((new.column_count(), new.column::<i64>(place, ..).unwrap().to_vec()), (count, vec![70, 80, 90]));
        let old = (0..4).filter(|&column| column != place);
        assert!(old.into_iter().all(|column| {
            new.column::<i32>(column, ..).unwrap()[..] == table.column::<i32>(column, ..).unwrap()[..]
        }));
    }
    let unnamed = table.with_feature(Feature::new(ElementType::F64).ordinal(), vec![1_u16, 2, 3]).unwrap();
    assert_eq!((unnamed.names().nth(4).unwrap(), unnamed.column_type(4).unwrap()), (None, ElementType::U16));
    let given = AnyArray::from(vec![1.5_f32, 2.5]);
    let Rejected { value, error } = table.with_column("a", given).unwrap_err();
    assert!(matches!(*error.kind(), ErrorKind::LengthMismatch { expected: 3, actual: 2 }) && value.len() == 2);
    let short = numbered::<i32>(2, 1, DataLayout::RowMajor);
    assert_error!(table.hstack(&[&short]), ErrorKind::UnequalTables { table: 1, .. }, "rows");
    let none = HomogenNumericTable::<f32>::zeros(shape(2, 0)).unwrap();
    assert_eq!(none.with_column("only", vec![1, 2]).unwrap().rows::<u8>(..).unwrap()[..], [1, 2]);
}

#[test]
fn columns_are_shared_where_they_are_arrays() {
    let values = Array::from(vec![1_u8, 2, 3]);
    let columns = [("a", AnyArray::from(values.clone())), ("b", vec![0.5_f32; 3].into())];
    let table = SoaNumericTable::from_columns(columns).unwrap();
    let shares = |table: &SoaNumericTable, column: usize| {
        table.array(column).unwrap().downcast_ref::<u8>().unwrap().shares_memory_with(&values)
    };
    assert!(shares(&table.to_columns().unwrap(), 0));
    let beside = table.hstack(&[&table]).unwrap();
    assert!(shares(&beside.to_columns().unwrap(), 2));
    let one = numbered::<f64>(3, 2, DataLayout::RowMajor);
    let copy = one.to_table().unwrap();
    assert_eq!(
        (copy.kind(), copy.rows::<f64>(..).unwrap()[..] == one.as_slice().unwrap()[..]),
        (TableKind::HOMOGENEOUS, true)
    );
}

#[test]
fn many_rows_of_any_type_and_number_of_columns_are_kept_by_several_threads() {
    fn check<T: SmallNumber>() {
        for (columns, rows) in [(1, 600_000), (2, 70_001), (3, 70_001), (5, 50_003), (16, 20_011)] {
            for layout in LAYOUTS {
                let value = |row: usize, column: usize| T::small(((row * 31 + column * 7) % 127) as u8);
                let table =
                    HomogenNumericTable::from_fn(shape(rows, columns), value).unwrap().to_layout(layout).unwrap();
                for period in [2, 37, 5000] {
                    let flags = (0..rows).map(|row| row / (period / 2) % 2 == 0 || row % 11 == 0).collect::<Vec<_>>();
                    let kept = table.filter_rows(&flags).unwrap();
                    let mut found = 0;
                    let block = kept.rows::<T>(..).unwrap();
                    for (row, _) in flags.iter().enumerate().filter(|(_, is_kept)| **is_kept) {
                        assert!((0..columns).all(|column| block[found * columns + column] == value(row, column)));
                        found += 1;
                    }
                    assert_eq!(kept.shape(), shape(found, columns));
                }
            }
        }
    }
    check::<u8>();
    check::<i16>();
    check::<f32>();
    check::<f64>();
    fn few<T: SmallNumber>() {
        let table = numbered::<T>(9, 3, DataLayout::ColumnMajor);
        let kept = table.filter_rows(&[false, true, true, false, true, false, false, false, true]).unwrap();
        assert_eq!(kept.column::<u8>(0, ..).unwrap()[..], [4, 7, 13, 25]);
    }
    for_each_element!(few);
}

#[test]
fn rows_that_are_too_many_for_the_cache_are_kept() {
    for (rows, columns) in [(4_400_003, 1), (1_460_001, 3), (280_001, 16)] {
        let mut random = Random::new(rows as u64);
        let flags: Vec<bool> = (0..rows).map(|row| random.next().is_multiple_of(2) || row < 3000).collect();
        let value = |row: usize, column: usize| (row * columns + column) as f64;
        let table = HomogenNumericTable::from_fn(shape(rows, columns), value).unwrap();
        for layout in LAYOUTS {
            let kept = table.to_layout(layout).unwrap().filter_rows(&flags).unwrap();
            assert!(kept.row_count() * columns * size_of::<f64>() > 16 << 20, "stored past the cache");
            let block = kept.rows::<f64>(..).unwrap();
            let numbers = (0..rows).filter(|&row| flags[row]);
            let expected = numbers.flat_map(|row| (0..columns).map(move |column| value(row, column)));
            assert!(block.iter().copied().eq(expected), "{rows} x {columns}, {layout:?}");
        }
    }
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn a_sparse_table_stays_sparse() {
    let wide = Shape { rows: 3, columns: huge(60) };
    let table =
        CsrNumericTable::try_new(wide, vec![0, 1, 1, 3], vec![1_u64 << 40, 5, 6], vec![1.5_f32, 2.5, 3.5]).unwrap();
    let taken = table.take_rows(&[2, 0, 2, 1]).unwrap();
    let taken = taken.downcast_ref::<CsrNumericTable>().unwrap();
    assert_eq!(taken.offsets().iter().collect::<Vec<_>>(), [0, 2, 3, 5, 5]);
    assert_eq!(taken.indices().iter().collect::<Vec<_>>(), [5, 6, huge(40), 5, 6]);
    assert_eq!(taken.values_slice::<f32>().unwrap(), [2.5, 3.5, 1.5, 2.5, 3.5]);
    let (training, test) = table.split_rows(1.0, 1).unwrap();
    assert_eq!((training.kind(), training.shape(), test.row_count()), (TableKind::CSR, wide, 0));
    assert_error!(table.take_rows(&[1, 3]), ErrorKind::RowsOutOfRange { rows, row_count: 3 } if *rows == (3..4));
}

#[test]
fn a_seed_chooses_the_same_rows_for_ever() {
    let table = HomogenNumericTable::from_fn(shape(20, 1), |row, _| row as u8).unwrap();
    let chosen = |table: Box<dyn NumericTable>| table.column::<u8>(0, ..).unwrap().to_vec();
    assert_eq!(chosen(table.sample_rows(5, 1).unwrap()), chosen(table.sample_rows(5, 1).unwrap()));
    assert_ne!(chosen(table.sample_rows(5, 1).unwrap()), chosen(table.sample_rows(5, 2).unwrap()));
    assert_eq!(chosen(table.sample_rows(20, 3).unwrap()), (0..20).collect::<Vec<_>>());
    assert!(chosen(table.sample_rows(0, 3).unwrap()).is_empty());
    assert_eq!(chosen(table.sample_rows(5, 1).unwrap()), SAMPLE);
    assert_eq!(chosen(table.shuffle_rows(1).unwrap()), SHUFFLED);
    assert_error!(table.sample_rows(21, 1), ErrorKind::RowsOutOfRange { row_count: 20, .. });
}

/// Computed by a second implementation, in Python.
const SAMPLE: [u8; 5] = [1, 3, 12, 14, 16];
const SHUFFLED: [u8; 20] = [4, 18, 10, 19, 5, 7, 15, 0, 3, 9, 11, 17, 6, 13, 8, 2, 12, 1, 14, 16];

#[test]
fn every_row_is_sampled_as_often() {
    let table = HomogenNumericTable::from_fn(shape(10, 1), |row, _| row as u8).unwrap();
    let mut counts = [0; 10];
    for seed in 0..4000 {
        let sample = table.sample_rows(3, seed).unwrap();
        sample.column::<u8>(0, ..).unwrap().iter().for_each(|&row| counts[usize::from(row)] += 1);
    }
    assert!(counts.iter().all(|&count| (1080..1320).contains(&count)), "{counts:?}");
}

#[test]
fn fractions_are_of_all_rows_or_of_each_class() {
    let class = |row: usize| [f32::NAN, 1.0, -0.0, 0.0][row % 4];
    let columns =
        [("row", (0..100).map(|row| row as f32).collect()), ("class", (0..100).map(class).collect::<Vec<_>>())];
    let table = SoaNumericTable::from_columns(columns).unwrap();
    for (fraction, rows) in [(0.0, 0), (0.004, 0), (0.005, 1), (0.5, 50), (0.999, 100), (1.0, 100)] {
        let (training, test) = table.split_rows(fraction, 9).unwrap();
        assert_eq!((training.row_count(), test.row_count()), (rows, 100 - rows), "{fraction}");
    }
    let (training, test) = table.split_rows_by("class", 0.8, 9).unwrap();
    assert_eq!((training.row_count(), test.row_count()), (80, 20));
    let of = |table: &dyn NumericTable, is: &(dyn Fn(f32) -> bool + Sync)| {
        table.filter_by_column("class", is).unwrap().row_count()
    };
    assert_eq!((of(&*test, &|class| class.is_nan()), of(&*test, &|class| class == 0.0)), (5, 10));
    assert!(training.column::<u32>(0, ..).unwrap().is_sorted());
    for fraction in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_error!(table.split_rows(fraction, 1), ErrorKind::ParameterOutOfRange { .. }, "fraction");
        assert_error!(table.split_rows_by(0, fraction, 1), ErrorKind::ParameterOutOfRange { .. }, "fraction");
    }
    assert_error!(table.split_rows_by("klass", 0.5, 1), ErrorKind::UnknownName { what: "column", .. });
    let none = HomogenNumericTable::<f32>::zeros(shape(0, 2)).unwrap();
    let (training, test) = none.split_rows_by(1, 0.5, 1).unwrap();
    assert_eq!((training.shape(), test.shape()), (shape(0, 2), shape(0, 2)));
}

#[test]
fn closures_see_each_row_in_their_type_and_errors_come_out() {
    let table = HomogenNumericTable::from_fn(shape(300_000, 3), |row, column| (row * 3 + column) as u32).unwrap();
    let odd = table.filter_rows_by(|row: &[i64]| row[2] % 2 == 1 && row.len() == 3).unwrap();
    assert_eq!((odd.row_count(), odd.rows::<u32>(1..2).unwrap().to_vec()), (150_000, vec![9, 10, 11]));
    let wide = table.filter_by_column(1, |value: f64| value < 100.0).unwrap();
    assert_eq!(wide.row_count(), 33);
    let none = HomogenNumericTable::<f32>::zeros(shape(4, 0)).unwrap();
    assert_eq!(none.filter_rows_by(|row: &[f32]| row.is_empty()).unwrap().shape(), shape(4, 0));
    let unset = Table::<f32>::new(shape(2, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(unset.filter_rows_by(|_: &[f64]| true), ErrorKind::NotAllocated);
    assert_error!(table.filter_by_column(3, |_: u8| true), ErrorKind::ColumnOutOfRange { .. });
    assert_error!(table.filter_by_column("x", |_: u8| true), ErrorKind::UnknownName { what: "column", .. });
    let endless = HomogenNumericTable::<f32>::zeros(shape(usize::MAX, 0)).unwrap();
    assert_error!(endless.filter_rows_by(|_: &[f32]| true), ErrorKind::OutOfMemory);
    assert_error!(endless.sample_rows(1, 1), ErrorKind::OutOfMemory);
    assert_error!(endless.shuffle_rows(1), ErrorKind::OutOfMemory);
}

#[test]
fn a_column_of_another_length_is_given_back_and_columns_without_memory_are_not_copied() {
    let table = HomogenNumericTable::from_rows(&[[1_u8], [2]]).unwrap();
    let feature = Feature::new(ElementType::F32).named("b");
    let refused = table.with_feature(feature, vec![1.5_f32]).unwrap_err();
    assert!(matches!(refused.error.kind(), ErrorKind::LengthMismatch { expected: 2, actual: 1 }), "{refused:?}");
    assert_eq!(refused.value.as_slice().downcast::<f32>(), Some(&[1.5][..]));
    let none = HomogenNumericTable::<u8>::new(Shape { rows: 2, columns: 1 }, AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(none.to_columns(), ErrorKind::NotAllocated);
    assert_error!(none.to_table(), ErrorKind::NotAllocated);
}

#[test]
fn generic_functions_take_kinds_and_trait_objects_and_have_every_call() {
    fn first<N: numeric_table::table::AsTable + ?Sized>(table: &mut N) -> Result<f64, Error> {
        table.set_value(0, 0, 7.0)?;
        Ok(table.head(1)?.value::<f64>(0, 0)? + table.rows::<f64>(..)?[0])
    }
    let mut table = numbered::<f32>(3, 2, DataLayout::RowMajor);
    assert_eq!(first(&mut table).unwrap(), 14.0);
    let mut boxed: Box<dyn NumericTable> = Box::new(table);
    assert_eq!(first(&mut *boxed).unwrap(), 14.0);
}
