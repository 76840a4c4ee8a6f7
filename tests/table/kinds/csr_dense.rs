//! Sparse rows beside a homogeneous table with the same cells, which is the oracle of everything dense.

use std::ops::Range;

use numeric_table::convert::{WriteRule, cast};
use numeric_table::table::spi::{Region, Target};
use numeric_table::{
    AnyArray, CsrNumericTable,
    array::{AnySlice, AnySliceMut},
    prelude::*,
    statistics::BasicStatistics,
};
use test_support::bits::{Random, bits, special_values};
use test_support::for_each_element;
use test_support::tables::{LAYOUTS, POLICIES, assert_error, shape};

/// A random table, and a homogeneous one with the same cells.
fn twins<T: Element>(random: &mut Random, rows: usize, columns: usize) -> (CsrNumericTable, HomogenNumericTable<T>) {
    let pool = special_values::<T>();
    let density = [1, 3, 10][random.below(3)];
    let (mut dense, mut offsets) = (vec![T::default(); rows * columns], vec![0]);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for row in 0..rows {
        for column in 0..columns {
            if random.below(density) == 0 {
                let value = if random.below(2) == 0 { pool[random.below(pool.len())] } else { random.values(1)[0] };
                dense[row * columns + column] = value;
                indices.push(column);
                values.push(value);
            }
        }
        offsets.push(indices.len());
    }
    let kind = |random: &mut Random, numbers: &[usize]| match random.below(4) {
        0 => AnyArray::from(numbers.iter().map(|&number| number as i32).collect::<Vec<_>>()),
        1 => AnyArray::from(numbers.iter().map(|&number| number as u32).collect::<Vec<_>>()),
        2 => AnyArray::from(numbers.iter().map(|&number| number as i64).collect::<Vec<_>>()),
        _ => AnyArray::from(numbers.iter().map(|&number| number as u64).collect::<Vec<_>>()),
    };
    let (offsets, indices) = (kind(random, &offsets), kind(random, &indices));
    let dense = HomogenNumericTable::from_array(dense, shape(rows, columns)).unwrap();
    (CsrNumericTable::try_new(shape(rows, columns), offsets, indices, values).unwrap(), dense)
}

fn some_range(random: &mut Random, count: usize) -> std::ops::Range<usize> {
    match random.below(4) {
        0 => 0..count,
        _ => {
            let (one, other) = (random.below(count + 1), random.below(count + 1));
            one.min(other)..one.max(other)
        }
    }
}

fn same_bits<U: Element>(mine: &[U], theirs: &[U]) -> bool {
    mine.len() == theirs.len() && mine.iter().zip(theirs).all(|(mine, theirs)| bits(*mine) == bits(*theirs))
}

/// Sizes that end inside and at the ends of tiles and of batches of rows.
const SIZES: [(usize, usize); 11] =
    [(0, 0), (0, 3), (4, 0), (1, 1), (7, 5), (130, 3), (65, 40), (20, 300), (9, 1024), (3, 1025), (2, 3000)];

#[test]
fn every_region_is_read_as_from_a_dense_table() {
    fn check<T: Element, U: Element>(random: &mut Random) {
        for (rows, columns) in SIZES {
            let (sparse, dense) = twins::<T>(random, rows, columns);
            for policy in POLICIES {
                let region = Region { rows: some_range(random, rows), columns: some_range(random, columns) };
                for is_over in [false, true] {
                    let old = vec![U::default(); region.shape().element_count().unwrap()];
                    let read = |table: &dyn NumericTable| {
                        let mut values = old.clone();
                        let target = Target::new(AnySliceMut::new(&mut values), region.shape(), policy).unwrap();
                        let read =
                            table.read_region(&region, if is_over { target.allow_partial_write() } else { target });
                        (read.map_err(|error| error.to_string()), values)
                    };
                    let ((mine, values), (theirs, expected)) = (read(&sparse), read(&dense));
                    assert_eq!(mine, theirs, "{rows} x {columns} {region:?} {policy}");
                    if mine.is_ok() || !is_over {
                        assert!(same_bits(&values, &expected), "{rows} x {columns} {region:?} {policy}");
                    }
                }
            }
        }
    }
    let mut random = Random::new(5);
    for_each_element!(T => for_each_element!(U => check::<T, U>(&mut random)));
}

#[test]
fn values_of_sparse_blocks_are_converted_one_by_one() {
    fn check<T: Element, U: Element>(sparse: &CsrNumericTable, random: &mut Random) {
        let values = sparse.values_slice::<T>().unwrap();
        let expected = values.iter().map(|&value| cast::<T, U>(value)).collect::<Vec<_>>();
        let rows = sparse.row_count();
        for range in [0..rows, 1..rows - 1, some_range(random, rows), some_range(random, rows)] {
            let positions = sparse.offsets().get(range.start).unwrap()..sparse.offsets().get(range.end).unwrap();
            let block = sparse.sparse_rows::<U>(range.clone()).unwrap();
            assert!(same_bits(block.values(), &expected[positions]), "rows {range:?}");
        }
    }
    let mut random = Random::new(14);
    for_each_element!(T => {
        for (rows, columns) in [(2, 3), (60, 7), (200, 130)] {
            let (sparse, _) = twins::<T>(&mut random, rows, columns);
            for_each_element!(U => check::<T, U>(&sparse, &mut random));
        }
    });
}

#[test]
fn every_region_is_written_as_in_a_dense_table_or_refused() {
    fn check<T: Element, U: Element>(random: &mut Random) {
        for (rows, columns) in SIZES {
            let (mut sparse, mut dense) = twins::<T>(random, rows, columns);
            let is_stored = |table: &CsrNumericTable, row, column| table.get(row, column).unwrap().is_some();
            for policy in POLICIES {
                let region = Region { rows: some_range(random, rows), columns: some_range(random, columns) };
                let rule = WriteRule { policy, keep_unchanged: random.below(2) == 0 };
                let mut values = vec![U::default(); region.shape().element_count().unwrap()];
                let target = Target::new(AnySliceMut::new(&mut values), region.shape(), ConversionPolicy::Saturate);
                sparse.read_region(&region, target.unwrap()).unwrap();
                // Changes: rarely where nothing is stored.
                let (pool, width) = (special_values::<U>(), region.columns.len());
                for (at, value) in values.iter_mut().enumerate() {
                    let place = (region.rows.start + at / width, region.columns.start + at % width);
                    let odds = if is_stored(&sparse, place.0, place.1) { 2 } else { 5000 };
                    if random.below(odds) == 0 {
                        *value = pool[random.below(pool.len())];
                    }
                }
                let (before, dense_before) = (sparse.clone(), dense.clone());
                let mine = sparse.write_region(&region, AnySlice::new(&values), rule);
                let theirs = dense.write_region(&region, AnySlice::new(&values), rule);
                let missing =
                    region.rows.clone().flat_map(|row| region.columns.clone().map(move |column| (row, column)));
                let missing = missing.filter(|&(row, column)| !is_stored(&sparse, row, column));
                let view = dense.view().unwrap();
                let lost = |&(row, column): &(usize, usize)| view.value(row, column).unwrap() != T::default();
                let refused = match (&theirs, missing.clone().find(|place| theirs.is_ok() && lost(place))) {
                    (Ok(()), Some((row, column))) => {
                        Some(Error::new(ErrorKind::NotStored { row, column, value: None }).to_string())
                    }
                    (Err(error), _) => Some(error.to_string()),
                    _ => None,
                };
                match (mine, refused) {
                    (Ok(()), None) => {
                        let (mine, theirs) = (sparse.to_dense::<T>().unwrap(), dense.view().unwrap());
                        let is_same = |row, column| {
                            let (mine, theirs) = (mine.view().unwrap(), theirs.value(row, column).unwrap());
                            let mine = mine.value(row, column).unwrap();
                            bits(mine) == bits(theirs) || (mine == T::default() && theirs == T::default())
                        };
                        assert!((0..rows).all(|row| (0..columns).all(|column| is_same(row, column))));
                        dense = sparse.to_dense::<T>().unwrap(); // without negative zeros that are not stored
                    }
                    (Err(error), Some(refused)) => {
                        let is_missing = matches!(
                            error.kind(),
                            ErrorKind::NotStored { row, column, .. }
                                if missing.clone().any(|place| place == (*row, *column))
                        );
                        assert!(error.to_string() == refused || (is_missing && theirs.is_err()), "{error} {refused}");
                        let (mine, old) = (sparse.values_slice::<T>().unwrap(), before.values_slice::<T>().unwrap());
                        assert!(same_bits(mine, old));
                        dense = dense_before;
                    }
                    (mine, refused) => panic!("{mine:?} {refused:?}"),
                }
            }
        }
    }
    let mut random = Random::new(6);
    for_each_element!(T => {
        check::<T, f32>(&mut random);
        check::<T, f64>(&mut random);
        check::<T, i16>(&mut random);
        check::<T, u64>(&mut random);
        check::<T, T>(&mut random);
    });
}

#[test]
fn tables_made_from_another_have_its_cells() {
    fn check<T: Element>(random: &mut Random) {
        for (rows, columns) in SIZES {
            let (sparse, dense) = twins::<T>(random, rows, columns);
            let cells = |table: &dyn NumericTable| table.rows::<T>(..).unwrap().to_vec();
            assert!(same_bits(&cells(&sparse), &cells(&dense)));
            assert!(same_bits(&cells(&sparse.to_dense::<T>().unwrap()), &cells(&dense)));
            let back = CsrNumericTable::from_dense::<T>(&dense).unwrap();
            let zeros = sparse.values_slice::<T>().unwrap().iter().filter(|&&value| value == T::default()).count();
            assert_eq!(back.nnz(), sparse.nnz() - zeros);
            assert!(cells(&back).iter().zip(cells(&dense)).all(|(mine, theirs)| {
                bits(*mine) == bits(theirs) || (*mine == T::default() && theirs == T::default())
            }));
            let transposed = sparse.transpose().unwrap();
            assert_eq!((transposed.shape(), transposed.nnz()), (shape(columns, rows), sparse.nnz()));
            for column in 0..columns {
                let (mine, theirs) = (transposed.rows::<T>(column..=column), dense.column::<T>(column, ..));
                assert!(same_bits(&mine.unwrap(), &theirs.unwrap()));
            }
            let again = transposed.transpose().unwrap();
            assert_eq!(again.indices().iter().collect::<Vec<_>>(), sparse.indices().iter().collect::<Vec<_>>());
            assert_eq!(again.offsets().iter().collect::<Vec<_>>(), sparse.offsets().iter().collect::<Vec<_>>());
            assert!(same_bits(again.values_slice::<T>().unwrap(), sparse.values_slice::<T>().unwrap()));

            let rows = some_range(random, rows);
            let slice = sparse.slice_rows(rows.clone()).unwrap();
            assert!(same_bits(&cells(&slice), &dense.rows::<T>(rows.clone()).unwrap()));
            let block = sparse.sparse_rows::<T>(rows.clone()).unwrap();
            assert!(block.is_zero_copy() && same_bits(block.values(), slice.values_slice::<T>().unwrap()));
            assert_eq!(block.iter_rows().len(), rows.len());
            for (index, (places, values)) in block.iter_rows().enumerate() {
                for (column, value) in places.iter().zip(values) {
                    assert!(same_bits(
                        &dense.rows::<T>(rows.start + index..=rows.start + index).unwrap()[column..=column],
                        &[*value]
                    ));
                }
            }
            let parts = slice.clone().into_parts();
            // Checked again.
            CsrNumericTable::try_new(slice.shape(), parts.offsets, parts.indices, parts.values).unwrap();
        }
    }
    let mut random = Random::new(7);
    for_each_element!(T => check::<T>(&mut random));
}

/// Large enough for several threads, in both directions and in every way of reading.
#[test]
fn a_large_table_is_read_and_written_whole() {
    const ROWS: usize = 200_000;
    let columns = |row: usize| [row % 7, 7 + row % 5, 12 + row % 8];
    let value = |row: usize, column: usize| (row % 100 + column) as f32;
    let offsets = (0..=ROWS as u32).map(|row| 3 * row).collect::<Vec<_>>();
    let indices = (0..ROWS).flat_map(columns).map(|column| column as u32).collect::<Vec<_>>();
    let values = (0..ROWS).flat_map(|row| columns(row).map(|column| value(row, column))).collect::<Vec<_>>();
    let mut table = CsrNumericTable::try_new(shape(ROWS, 20), offsets, indices, values).unwrap();
    let cell = |row: usize, column: usize| if columns(row).contains(&column) { value(row, column) } else { 0.0 };
    fn check<U: Element + From<f32>>(table: &CsrNumericTable, cell: impl Fn(usize, usize) -> f32) {
        let rows = table.rows::<U>(..).unwrap();
        let is_right = |(at, &value): (usize, &U)| value == U::from(cell(at / 20, at % 20));
        assert!(rows.iter().enumerate().all(is_right));
        let strict = table.rows_with::<U>(.., ConversionPolicy::Exact).unwrap();
        assert!(strict[..] == rows[..]);
        for column in [0, 9, 19] {
            let values = table.column_with::<U>(column, .., ConversionPolicy::Exact).unwrap();
            assert!(values.iter().enumerate().all(|(row, &value)| value == U::from(cell(row, column))));
        }
    }
    check::<f32>(&table, cell);
    check::<f64>(&table, cell);
    table
        .update_rows::<f64, _>(.., |block| {
            block.iter_mut().for_each(|value| *value *= 2.0);
            Ok(())
        })
        .unwrap();
    check::<f64>(&table, |row, column| 2.0 * cell(row, column));
    let refused = table.update_rows::<f64, _>(.., |block| {
        block[(ROWS - 1) * 20 + 6] = 1.0;
        block[(ROWS - 2) * 20 + 5] = 1.0;
        Ok(())
    });
    assert_error!(refused, ErrorKind::NotStored { row, column, .. } if (*row, *column) == (ROWS - 2, 5));
    check::<f32>(&table, |row, column| 2.0 * cell(row, column));
    table.sparse_rows_mut::<f32>(ROWS - 1..).unwrap().values_mut()[0] = 1e30;
    let refused = table.rows_with::<i32>(.., ConversionPolicy::Checked).map(drop);
    let place = (ROWS - 1, columns(ROWS - 1)[0]);
    assert_error!(refused, ErrorKind::ValueNotRepresentable { row, column, .. } if (*row, *column) == place);
    let transposed = table.transpose().unwrap();
    assert_eq!(transposed.rows::<f32>(12..13).unwrap()[..], table.column::<f32>(12, ..).unwrap()[..]);
}

#[test]
fn statistics_of_sparse_tables_are_those_of_dense_ones() {
    let mut random = Random::new(9);
    for size in [(1, 1), (40, 3), (3000, 17), (5, 400)] {
        let (mut sparse, _) = twins::<f64>(&mut random, size.0, size.1);
        sparse.values_slice_mut::<f64>().unwrap().iter_mut().for_each(|value| {
            *value = if random.below(50) == 0 { f64::NAN } else { random.below(1000) as f64 / 8.0 - 20.0 };
        });
        for layout in LAYOUTS {
            let dense = sparse.to_dense::<f64>().unwrap().to_layout(layout).unwrap();
            let (mine, theirs) =
                (BasicStatistics::compute(&sparse).unwrap(), BasicStatistics::compute(&dense).unwrap());
            assert_eq!(mine.row_count(), theirs.row_count());
            for (mine, theirs) in mine.per_column().iter().zip(theirs.per_column()) {
                assert_eq!((mine.count(), mine.nan_count()), (theirs.count(), theirs.nan_count()));
                let exact = |column: &numeric_table::statistics::ColumnStatistics| {
                    [column.minimum(), column.maximum(), column.sum(), column.mean()].map(f64::to_bits)
                };
                assert_eq!(exact(mine), exact(theirs), "{mine:?} {theirs:?}");
                assert!(mine.variance().is_nan() == theirs.variance().is_nan());
            }
        }
        // All values are multiples of an eighth: sums of integers are exact.
        for (index, column) in BasicStatistics::compute(&sparse).unwrap().per_column().iter().enumerate() {
            let values = sparse.column::<f64>(index, ..).unwrap();
            let eighths = values.iter().filter(|value| !value.is_nan()).map(|value| (value * 8.0) as i128);
            let (count, sum) = (eighths.clone().count() as i128, eighths.clone().sum::<i128>());
            let squares = eighths.map(|value| value * value).sum::<i128>();
            let close = |mine: f64, exact: f64| (mine - exact).abs() <= 1e-15 * exact.abs();
            assert!(close(column.sum_squares(), squares as f64 / 64.0));
            let centered = (count * squares - sum * sum) as f64 / (64 * count.max(1)) as f64;
            let found = column.sum_squares_centered();
            assert!(close(found, centered), "{found} {centered}");
        }
    }
}

#[test]
fn one_value_is_written_to_all_cells_or_to_none() {
    fn check<T: Element>(random: &mut Random) {
        for (rows, columns) in [(3, 4), (70, 2), (1, 1)] {
            for value in [0.0, -1.5, 7.0, 1e300] {
                let (mut sparse, mut dense) = twins::<T>(random, rows, columns);
                let (before, is_full) = (sparse.clone(), sparse.nnz() == rows * columns);
                let (mine, theirs) = (sparse.fill(value), dense.fill(value));
                let is_zero = theirs.is_ok() && dense.value::<T>(0, 0).unwrap() == T::default();
                match (mine.map_err(Error::into_kind), theirs.map_err(Error::into_kind)) {
                    (Ok(()), Ok(())) if is_zero || is_full => {
                        assert_eq!(sparse.rows::<f64>(..).unwrap()[..], dense.rows::<f64>(..).unwrap()[..]);
                        continue;
                    }
                    (Err(ErrorKind::NotStored { row, column, .. }), Ok(())) => {
                        let missing = (0..rows * columns).map(|at| (at / columns, at % columns));
                        let mut missing = missing.filter(|&(row, column)| before.get(row, column).unwrap().is_none());
                        assert_eq!(missing.next(), Some((row, column)));
                        assert!(!is_zero);
                    }
                    (Err(mine), Err(theirs)) => assert_eq!(mine.to_string(), theirs.to_string()),
                    other => panic!("{other:?}"),
                }
                assert!(same_bits(sparse.values_slice::<T>().unwrap(), before.values_slice::<T>().unwrap()));
            }
        }
    }
    let mut random = Random::new(10);
    for_each_element!(T => check::<T>(&mut random));
}

/// Compares every column, whole and in part, as several types.
fn assert_equal_columns<T: Element>(random: &mut Random, sparse: &CsrNumericTable, dense: &HomogenNumericTable<T>) {
    fn check<U: Element>(sparse: &dyn NumericTable, dense: &dyn NumericTable, column: usize, rows: Range<usize>) {
        let (mine, theirs) = (sparse.column::<U>(column, rows.clone()), dense.column::<U>(column, rows.clone()));
        assert!(same_bits(&mine.unwrap(), &theirs.unwrap()), "column {column}, rows {rows:?}, {}", U::TYPE);
    }
    let shape = dense.shape();
    for column in 0..shape.columns {
        check::<T>(sparse, dense, column, 0..shape.rows);
        check::<T>(sparse, dense, column, some_range(random, shape.rows));
        check::<f64>(sparse, dense, column, some_range(random, shape.rows));
        check::<i16>(sparse, dense, column, 0..shape.rows);
    }
}

#[test]
fn columns_that_are_read_again_and_again_stay_those_of_a_dense_table() {
    fn check<T: Element>(random: &mut Random) {
        for (rows, columns) in [(0, 3), (1, 2), (7, 5), (130, 30), (5000, 3)] {
            let (mut sparse, mut dense) = twins::<T>(random, rows, columns);
            for _ in 0..3 {
                (0..4).for_each(|_| assert_equal_columns(random, &sparse, &dense)); // rows are searched, then listed
                if let Some(value) = sparse.values_slice_mut::<T>().unwrap().first_mut() {
                    *value = T::default();
                    dense = sparse.to_dense::<T>().unwrap();
                }
                assert_equal_columns(random, &sparse, &dense);
                // Other rows: fewer, more, and those of another table.
                let kept = random.below(rows + 1);
                sparse.resize(kept).unwrap();
                dense.resize(kept).unwrap();
                assert_equal_columns(random, &sparse, &dense);
                sparse.append_table(&sparse.clone()).unwrap();
                dense = sparse.to_dense::<T>().unwrap();
                sparse.resize(rows).unwrap();
                dense.resize(rows).unwrap();
            }
            assert_equal_columns(random, &sparse.clone(), &dense);
        }
    }
    let mut random = Random::new(11);
    for_each_element!(T => check::<T>(&mut random));
}

#[test]
fn threads_that_read_columns_at_the_same_time_find_the_same_values() {
    let (sparse, dense) = twins::<f32>(&mut Random::new(12), 300, 20);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (sparse, dense) = (&sparse, &dense);
            scope.spawn(move || (0..5).for_each(|_| assert_equal_columns(&mut Random::new(seed), sparse, dense)));
        }
    });
}
