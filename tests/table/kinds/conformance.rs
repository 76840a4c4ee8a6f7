//! What every kind of table does alike. A kind passes if each call does on it what it does on a plain list of numbers.
//!
//! The suite asks for a table of [`ROWS`] x [`COLUMNS`] values that count 1, 2, 3 ... row by row, in any element types.

use numeric_table::prelude::*;
use numeric_table::statistics::BasicStatistics;
use numeric_table::table::spi::TableKind;
use test_support::tables::{MODES, assert_error, number, numbers, shape};
use test_support::{SmallNumber, for_each_element};

use super::Boxed;

pub(super) const ROWS: usize = 7;
pub(super) const COLUMNS: usize = 5;

const RANGES: [std::ops::Range<usize>; 7] = [0..ROWS, 0..1, 2..3, 3..ROWS, 1..5, 4..4, ROWS..ROWS];

/// One test for each promise, of the kind of table that `$make` makes; `saved` is another kind that it is saved as.
macro_rules! conformance {
    ($name:ident: unsaved, resizes: $resizes:literal, $make:expr) => {
        conformance!(@suite $name, $resizes, $make);
    };
    ($name:ident: $kind:ident, resizes: $resizes:literal, $make:expr) => {
        conformance!($name: $kind, saved: $kind, resizes: $resizes, $make);
    };
    ($name:ident: $kind:ident, saved: $saved:ident, resizes: $resizes:literal, $make:expr) => {
        conformance!(@suite $name, $resizes, $make;
            #[test]
            fn is_saved_as_the_kind_that_it_is() {
                let [kind, saved] = [TableKind::$kind, TableKind::$saved];
                suite::is_saved_as_the_kind_that_it_is(&$make, kind, saved);
            }
        );
    };
    (@suite $name:ident, $resizes:literal, $make:expr $(; $($more:item)*)?) => {
        mod $name {
            #[allow(unused_imports, reason = "what some of the makers use")]
            use super::*;
            use crate::kinds::conformance as suite;

            conformance!(@tests $make; is_read_by_rows is_read_by_columns is_read_through_descriptors
                is_written_through_blocks is_written_through_descriptors is_written_in_closures
                is_walked_in_blocks keeps_everything_when_a_value_is_refused refuses_what_is_out_of_range
                keeps_what_a_block_showed comes_back_from_a_dropped_block is_converted_and_measured
                describes_its_columns);

            $($($more)*)?

            #[test]
            fn is_cut_and_extended_or_refuses() {
                suite::is_cut_and_extended_or_refuses(&$make, $resizes);
            }
        }
    };
    (@tests $make:expr; $($test:ident)*) => {
        $(#[test]
        fn $test() {
            suite::$test(&$make);
        })*
    };
}
pub(super) use conformance;

/// All values, whatever kind of table it is.
fn values_of<U: Element>(table: &dyn NumericTable) -> Vec<U> {
    table.rows::<U>(..).unwrap().to_vec()
}

fn column_of<U: SmallNumber>(column: usize, rows: std::ops::Range<usize>) -> Vec<U> {
    rows.map(|row| number(COLUMNS, row, column)).collect()
}

pub(super) fn is_read_by_rows(make: &dyn Fn() -> Boxed) {
    fn check<U: SmallNumber>(table: &dyn NumericTable) {
        for rows in RANGES {
            let block = table.rows::<U>(rows.clone()).unwrap();
            assert_eq!(block[..], numbers::<U>(COLUMNS, rows.clone()), "{rows:?}");
            assert_eq!((block.row_count(), block.column_count()), (rows.len(), COLUMNS));
            let strict = table.rows_with::<U>(rows.clone(), ConversionPolicy::Exact).unwrap();
            assert_eq!(strict[..], block[..]);
        }
        for (row, column) in [(0, 0), (ROWS - 1, COLUMNS - 1), (3, 1), (4, 4)] {
            assert!(table.value::<U>(row, column).unwrap() == number(COLUMNS, row, column));
        }
    }
    let table = make();
    assert_eq!((table.shape(), table.row_count(), table.column_count()), (shape(ROWS, COLUMNS), ROWS, COLUMNS));
    for_each_element!(T => check::<T>(&*table));
}

pub(super) fn is_read_by_columns(make: &dyn Fn() -> Boxed) {
    fn check<U: SmallNumber>(table: &dyn NumericTable) {
        for rows in RANGES {
            for column in 0..COLUMNS {
                let block = table.column::<U>(column, rows.clone()).unwrap();
                assert_eq!(block[..], column_of::<U>(column, rows.clone()), "{column}, {rows:?}");
            }
        }
    }
    let table = make();
    for_each_element!(T => check::<T>(&*table));
}

pub(super) fn is_read_through_descriptors(make: &dyn Fn() -> Boxed) {
    fn check<U: SmallNumber>(table: &mut dyn NumericTable) {
        let mut block = BlockDescriptor::<U>::new();
        for rows in RANGES {
            assert_eq!(table.read_rows(rows.clone(), &mut block).unwrap(), numbers::<U>(COLUMNS, rows.clone()));
            assert_eq!(table.read_column(2, rows.clone(), &mut block).unwrap(), column_of::<U>(2, rows.clone()));
            table.get_block_of_rows(rows.start, rows.len(), ReadWriteMode::ReadOnly, &mut block).unwrap();
            assert_eq!((block.row_range(), block.column_range()), (rows.clone(), 0..COLUMNS));
            assert_eq!(block.as_slice(), numbers::<U>(COLUMNS, rows.clone()));
            table.release_block_of_rows(&mut block).unwrap();
        }
        // A count past the end is cut, as in DAAL.
        table.get_block_of_rows(ROWS - 2, usize::MAX, ReadWriteMode::ReadOnly, &mut block).unwrap();
        assert_eq!(block.as_slice(), numbers::<U>(COLUMNS, ROWS - 2..ROWS));
        table.release_block_of_rows(&mut block).unwrap();
    }
    let mut table = make();
    for_each_element!(T => check::<T>(&mut *table));
}

/// Adds one in place, in every type: numbers up to 36 are exact in all of them.
pub(super) fn is_written_through_blocks(make: &dyn Fn() -> Boxed) {
    fn check<U: SmallNumber>(make: &dyn Fn() -> Boxed) {
        for rows in RANGES {
            let mut table = make();
            let mut expected = numbers::<U>(COLUMNS, 0..ROWS);
            let mut block = table.rows_mut::<U>(rows.clone()).unwrap();
            assert_eq!(block[..], numbers::<U>(COLUMNS, rows.clone()));
            block.reverse();
            block.release().unwrap();
            expected[rows.start * COLUMNS..rows.end * COLUMNS].reverse();
            assert_eq!(values_of::<U>(&*table), expected);

            let mut table = make();
            let mut expected = numbers::<U>(COLUMNS, 0..ROWS);
            let mut block = table.column_mut::<U>(3, rows.clone()).unwrap();
            block.fill(U::small(99));
            block.release().unwrap();
            rows.for_each(|row| expected[row * COLUMNS + 3] = U::small(99));
            assert_eq!(values_of::<U>(&*table), expected);
        }
        let mut table = make();
        table.set_value(4, 2, U::small(77)).unwrap();
        assert!(table.value::<U>(4, 2).unwrap() == U::small(77));
        assert!(table.value::<U>(4, 1).unwrap() == number(COLUMNS, 4, 1));
        table.fill(U::small(5)).unwrap();
        assert!(values_of::<U>(&*table).iter().all(|&value| value == U::small(5)));
    }
    for_each_element!(T => check::<T>(make));
}

pub(super) fn is_written_through_descriptors(make: &dyn Fn() -> Boxed) {
    fn check<U: SmallNumber>(make: &dyn Fn() -> Boxed) {
        let mut block = BlockDescriptor::<U>::new();
        for (rows, mode) in RANGES.into_iter().flat_map(|rows| MODES.map(|mode| (rows.clone(), mode))) {
            let (mut table, mut expected) = (make(), numbers::<U>(COLUMNS, 0..ROWS));
            table.get_block_of_rows(rows.start, rows.len(), mode, &mut block).unwrap();
            if mode != ReadWriteMode::ReadOnly {
                block.as_mut_slice().unwrap().fill(U::small(100));
                expected[rows.start * COLUMNS..rows.end * COLUMNS].fill(U::small(100));
            }
            table.release_block_of_rows(&mut block).unwrap();
            assert_eq!(values_of::<U>(&*table), expected, "{rows:?} {mode:?}");

            let (mut table, mut expected) = (make(), numbers::<U>(COLUMNS, 0..ROWS));
            table.get_block_of_column_values(1, rows.start, rows.len(), mode, &mut block).unwrap();
            if mode != ReadWriteMode::ReadOnly {
                block.as_mut_slice().unwrap().fill(U::small(100));
                rows.clone().for_each(|row| expected[row * COLUMNS + 1] = U::small(100));
            }
            table.release_block_of_column_values(&mut block).unwrap();
            assert_eq!(values_of::<U>(&*table), expected, "{rows:?} {mode:?}");
        }
        let (mut table, mut other) = (make(), make());
        table.get_block_of_rows(0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
        assert_error!(other.release_block_of_rows(&mut block), ErrorKind::WrongTable);
        assert_error!(table.release_block_of_column_values(&mut block), ErrorKind::WrongBlockKind { .. });
        block.as_mut_slice().unwrap()[0] = U::small(9);
        table.release_block_of_rows(&mut block).unwrap();
        assert!(table.value::<U>(0, 0).unwrap() == U::small(9));
    }
    for_each_element!(T => check::<T>(make));
}

pub(super) fn is_written_in_closures(make: &dyn Fn() -> Boxed) {
    fn check<U: SmallNumber>(make: &dyn Fn() -> Boxed) {
        let mut table = make();
        let last = table.update_rows::<U, _>(2..5, |block| {
            block.iter_mut().for_each(|value| *value = U::small(1));
            Ok(block.row_count())
        });
        assert_eq!(last.unwrap(), 3);
        table
            .update_column::<U, _>(0, .., |block| {
                block.fill(U::small(2));
                Ok(())
            })
            .unwrap();
        let mut expected = numbers::<U>(COLUMNS, 0..ROWS);
        expected[2 * COLUMNS..5 * COLUMNS].fill(U::small(1));
        (0..ROWS).for_each(|row| expected[row * COLUMNS] = U::small(2));
        assert_eq!(values_of::<U>(&*table), expected);
        let refused = table.update_rows::<U, ()>(.., |block| {
            block.fill(U::small(3));
            Err(Error::other("no"))
        });
        assert_error!(refused, ErrorKind::Other { .. });
        assert_eq!(values_of::<U>(&*table), expected);
        table
            .update_row_blocks::<U>(2, |block| {
                block.fill(U::small(4));
                Ok(())
            })
            .unwrap();
        assert!(values_of::<U>(&*table).iter().all(|&value| value == U::small(4)));
    }
    for_each_element!(T => check::<T>(make));
}

pub(super) fn is_walked_in_blocks(make: &dyn Fn() -> Boxed) {
    fn check<U: SmallNumber>(make: &dyn Fn() -> Boxed) {
        let mut table = make();
        let all = table.row_blocks::<U>(3).unwrap().flat_map(|block| block.unwrap().to_vec()).collect::<Vec<_>>();
        assert_eq!(all, numbers::<U>(COLUMNS, 0..ROWS));
        if table.piece(0, 0).unwrap().is_some() {
            is_lent_in_blocks::<U>(&mut *table);
        } else {
            // Only pieces can be lent disjointly; the calls with closures write one block at a time.
            assert_error!(table.row_blocks_mut::<U>(3).map(drop), ErrorKind::ReadOnlyTable);
            #[cfg(feature = "rayon")]
            assert_error!(table.par_row_blocks_mut::<U>(3).map(drop), ErrorKind::ReadOnlyTable);
        }
        #[cfg(feature = "rayon")]
        {
            use rayon::iter::ParallelIterator;
            let before = values_of::<U>(&*table);
            let blocks = table.par_row_blocks::<U>(2).unwrap().map(|block| block.unwrap().to_vec()).collect::<Vec<_>>();
            assert_eq!(blocks.concat(), before);
            table
                .par_update_row_blocks::<U>(2, |block| {
                    block.fill(U::small(60));
                    Ok(())
                })
                .unwrap();
            assert!(values_of::<U>(&*table).iter().all(|&value| value == U::small(60)));
        }
    }
    for_each_element!(T => check::<T>(make));
}

fn is_lent_in_blocks<U: SmallNumber>(table: &mut dyn NumericTable) {
    for (index, block) in table.row_blocks_mut::<U>(3).unwrap().enumerate() {
        let mut block = block.unwrap();
        block.fill(U::small(index as u8));
        block.release().unwrap();
    }
    let expected = (0..ROWS * COLUMNS).map(|i| U::small((i / COLUMNS / 3) as u8)).collect::<Vec<_>>();
    assert_eq!(values_of::<U>(table), expected);
    #[cfg(feature = "rayon")]
    {
        use rayon::iter::ParallelIterator;
        table.par_row_blocks_mut::<U>(2).unwrap().for_each(|block| block.unwrap().fill(U::small(50)));
        assert!(values_of::<U>(table).iter().all(|&value| value == U::small(50)));
    }
}

/// In each column in turn, the last row gets a value that does not fit.
pub(super) fn keeps_everything_when_a_value_is_refused(make: &dyn Fn() -> Boxed) {
    for bad in 0..COLUMNS {
        let mut table = make();
        if table.column_type(bad).unwrap() == ElementType::F64 {
            continue; // it holds any `f64`
        }
        let before = values_of::<f64>(&*table);
        let put = |values: &mut [f64]| {
            values.fill(7.0);
            values[(ROWS - 1) * COLUMNS + bad] = 1e300;
        };
        let refused = table.update_rows::<f64, _>(.., |block| {
            put(block);
            Ok(())
        });
        assert_error!(
            refused,
            ErrorKind::ValueNotRepresentable { row, column, .. } if *row == ROWS - 1 && *column == bad
        );
        assert_eq!(values_of::<f64>(&*table), before);
        let mut block = table.rows_mut::<f64>(..).unwrap();
        put(&mut block);
        let refused = block.release();
        assert_error!(
            refused,
            ErrorKind::ValueNotRepresentable { row, column, .. } if *row == ROWS - 1 && *column == bad
        );
        assert_eq!(values_of::<f64>(&*table), before);
        let mut block = BlockDescriptor::<f64>::new();
        table.get_block_of_rows(0, ROWS, ReadWriteMode::ReadWrite, &mut block).unwrap();
        put(block.as_mut_slice().unwrap());
        assert_error!(table.release_block_of_rows(&mut block), ErrorKind::ValueNotRepresentable { .. });
        block.discard();
        assert_eq!(values_of::<f64>(&*table), before);
        let refused = table.set_value(ROWS - 1, bad, 1e300);
        assert_error!(
            refused,
            ErrorKind::ValueNotRepresentable { row, column, .. } if *row == ROWS - 1 && *column == bad
        );
        assert_error!(table.fill(1e300), ErrorKind::ValueNotRepresentable { row: 0, .. });
        assert_eq!(values_of::<f64>(&*table), before);
    }
    // On reading: a value that the target does not have, named in the whole table's coordinates.
    let mut table = make();
    table.fill(1).unwrap();
    table.set_value(ROWS - 2, 1, 127).unwrap();
    let Err(ErrorKind::ValueNotRepresentable { row, column, .. }) = ({
        table
            .update_rows::<f64, _>(.., |block| {
                block.iter_mut().for_each(|value| *value *= 2.0);
                Ok(())
            })
            .and_then(|()| table.rows_with::<i8>(.., ConversionPolicy::Exact).map(drop))
            .map_err(Error::into_kind)
    }) else {
        panic!("254 is no i8")
    };
    assert_eq!((row, column), (ROWS - 2, 1));
}

pub(super) fn refuses_what_is_out_of_range(make: &dyn Fn() -> Boxed) {
    let mut table = make();
    assert_error!(table.rows::<f64>(0..ROWS + 1), ErrorKind::RowsOutOfRange { row_count: ROWS, .. });
    assert_error!(table.rows_mut::<f64>(ROWS + 1..ROWS + 1), ErrorKind::RowsOutOfRange { row_count: ROWS, .. });
    assert_error!(
        table.column::<f64>(COLUMNS, ..),
        ErrorKind::ColumnOutOfRange { column: COLUMNS, column_count: COLUMNS }
    );
    assert_error!(table.column_mut::<f64>(usize::MAX, ..), ErrorKind::ColumnOutOfRange { column_count: COLUMNS, .. });
    assert_error!(table.value::<f64>(ROWS, 0), ErrorKind::RowsOutOfRange { row_count: ROWS, .. });
    assert_error!(table.set_value(0, COLUMNS, 1), ErrorKind::ColumnOutOfRange { column: COLUMNS, .. });
    let mut block = BlockDescriptor::<f64>::new();
    for mode in MODES {
        assert_error!(table.get_block_of_rows(ROWS + 1, 1, mode, &mut block), ErrorKind::RowsOutOfRange { .. });
        assert_error!(
            table.get_block_of_column_values(COLUMNS, 0, 1, mode, &mut block),
            ErrorKind::ColumnOutOfRange { .. }
        );
    }
    assert_error!(table.column_type(COLUMNS), ErrorKind::ColumnOutOfRange { .. });
    assert_eq!(values_of::<f64>(&*table), numbers::<f64>(COLUMNS, 0..ROWS));
}

/// A block for reading shows what it showed, whatever becomes of the table.
pub(super) fn keeps_what_a_block_showed(make: &dyn Fn() -> Boxed) {
    fn check<U: SmallNumber>(make: &dyn Fn() -> Boxed) {
        let mut table = make();
        let (mut rows, mut column) = (BlockDescriptor::<U>::new(), BlockDescriptor::<U>::new());
        table.get_block_of_rows(1, 4, ReadWriteMode::ReadOnly, &mut rows).unwrap();
        table.get_block_of_column_values(2, 0, ROWS, ReadWriteMode::ReadOnly, &mut column).unwrap();
        table.fill(U::small(0)).unwrap();
        assert_eq!(rows.as_slice(), numbers::<U>(COLUMNS, 1..5));
        assert_eq!(column.as_slice(), column_of::<U>(2, 0..ROWS));
        drop(table);
        assert_eq!(rows.as_slice(), numbers::<U>(COLUMNS, 1..5));
        assert_eq!(column.as_slice(), column_of::<U>(2, 0..ROWS));
    }
    for_each_element!(T => check::<T>(make));
}

/// A writable block that is dropped gives back what it was lent, and discards a converted copy.
pub(super) fn comes_back_from_a_dropped_block(make: &dyn Fn() -> Boxed) {
    fn check<U: SmallNumber>(make: &dyn Fn() -> Boxed) {
        let mut table = make();
        let writable = [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly];
        for (mode, is_column) in writable.into_iter().flat_map(|mode| [(mode, false), (mode, true)]) {
            let mut block = BlockDescriptor::<U>::new();
            match is_column {
                false => table.get_block_of_rows(1, 2, mode, &mut block).unwrap(),
                true => table.get_block_of_column_values(3, 1, 2, mode, &mut block).unwrap(),
            }
            // Nobody reads what is lent: the values are there, or the error says that they are out.
            match table.rows::<U>(..).map_err(Error::into_kind) {
                Ok(rows) => assert_eq!(rows[..], numbers::<U>(COLUMNS, 0..ROWS)),
                Err(ErrorKind::BlockOutstanding { rows }) => assert!(rows.start <= 1 && rows.end >= 3, "{rows:?}"),
                Err(other) => panic!("{other:?}"),
            }
            drop(block);
            assert_eq!(values_of::<U>(&*table), numbers::<U>(COLUMNS, 0..ROWS));
        }
        table.set_value(0, 0, U::small(9)).unwrap();
    }
    for_each_element!(T => check::<T>(make));
}

pub(super) fn is_converted_and_measured(make: &dyn Fn() -> Boxed) {
    let table = make();
    let copy = table.convert::<f64>().unwrap();
    assert_eq!(copy.as_slice().unwrap(), numbers::<f64>(COLUMNS, 0..ROWS));
    let statistics = BasicStatistics::compute(&*table).unwrap();
    for (index, column) in statistics.per_column().iter().enumerate() {
        let values = column_of::<f64>(index, 0..ROWS);
        assert_eq!((column.minimum(), column.maximum()), (values[0], values[ROWS - 1]));
        assert_eq!(column.mean(), values[ROWS / 2]);
    }
    assert!(table.to_string().starts_with(&format!("{} ", table.shape())), "{table}");
}

pub(super) fn is_saved_as_the_kind_that_it_is(make: &dyn Fn() -> Boxed, kind: TableKind, saved: TableKind) {
    super::saving::check(&mut *make(), &numbers::<f64>(COLUMNS, 0..ROWS), kind, saved);
}

/// Resizing keeps the rows that stay, and adds zeros; or it is refused, and nothing has changed.
pub(super) fn is_cut_and_extended_or_refuses(make: &dyn Fn() -> Boxed, resizes: bool) {
    let mut table = make();
    for rows in [3, ROWS + 2, ROWS] {
        let before = values_of::<f64>(&*table);
        let resized = table.resize(rows);
        if resizes {
            resized.unwrap();
            let kept = before.iter().copied().chain(std::iter::repeat(0.0)).take(rows * COLUMNS);
            assert_eq!(values_of::<f64>(&*table), kept.collect::<Vec<_>>());
        } else {
            assert_error!(resized, ErrorKind::ReadOnlyTable);
            assert_eq!(values_of::<f64>(&*table), before);
        }
    }
    let before = (table.shape(), values_of::<f64>(&*table));
    assert!(table.resize(usize::MAX).is_err());
    assert_eq!((table.shape(), values_of::<f64>(&*table)), before);
}

pub(super) fn describes_its_columns(make: &dyn Fn() -> Boxed) {
    let (mut table, other) = (make(), make());
    assert_ne!(table.id(), other.id());
    assert_eq!(table.dictionary().len(), COLUMNS);
    // Whether values may be missing is the table's to say.
    let named = table.dictionary().iter().enumerate().map(|(i, old)| {
        let feature = Feature::new(old.element_type).named(format!("n{i}"));
        if old.nullable { feature.nullable() } else { feature }
    });
    let named = named.collect::<DataDictionary>();
    table.set_dictionary(named.clone()).unwrap();
    assert_eq!((table.dictionary(), table.dictionary().index_of("n3")), (&named, Some(3)));
    let short = DataDictionary::uniform(Feature::new(ElementType::F32), COLUMNS - 1);
    assert_error!(table.set_dictionary(short), ErrorKind::DictionaryMismatch { .. });
    let wrong = DataDictionary::uniform(Feature::new(ElementType::U32), COLUMNS);
    assert_error!(table.set_dictionary(wrong), ErrorKind::DictionaryMismatch { .. });
    assert_eq!(*table.dictionary(), named);
    table.reset_dictionary().unwrap();
    assert_eq!(table.dictionary().index_of("n3"), None);
}
