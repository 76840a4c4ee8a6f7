//! What every kind of square matrix does alike that shows more cells than it stores: the promises of
//! [`super::conformance`] for tables on which not every write is possible.
//!
//! A kind is compared with a full matrix of numbers, on which the same is done cell by cell: a write to a cell is a
//! write to all cells that are stored as one ([`Half::Mirrored`]), or refused unless it is of zero ([`Half::Zero`]).

use numeric_table::prelude::*;
use numeric_table::table::spi::TableKind;
use numeric_table::{statistics::BasicStatistics, table::Triangle};
use test_support::tables::{MODES, assert_error, shape};
use test_support::{SmallNumber, for_each_element};

use super::Boxed;

/// The dimension of the matrix that the suite asks for. Its stored cells count 1, 2, 3 ... as they are packed.
pub(super) const SIDE: usize = 7;
const RANGES: [std::ops::Range<usize>; 7] = [0..SIDE, 0..1, 2..3, 3..SIDE, 1..5, 4..4, SIDE..SIDE];

/// What a kind of matrix shows where it stores nothing.
#[derive(Clone, Copy)]
pub(super) enum Half {
    Mirrored,
    /// The other half than this one is zero.
    Zero(Triangle),
}

/// A kind of matrix, and the number in each cell of the one that `make` makes, row by row.
pub(super) struct Case<'c> {
    pub(super) make: &'c dyn Fn() -> Boxed,
    pub(super) numbers: Vec<u8>,
    pub(super) half: Half,
}

impl Case<'_> {
    fn is_zero(&self, row: usize, column: usize) -> bool {
        match self.half {
            Half::Mirrored => false,
            Half::Zero(Triangle::Upper) => column < row,
            Half::Zero(_) => column > row,
        }
    }

    fn rows<U: SmallNumber>(&self, rows: std::ops::Range<usize>) -> Vec<U> {
        self.numbers[rows.start * SIDE..rows.end * SIDE].iter().map(|&number| U::small(number)).collect()
    }

    fn column<U: SmallNumber>(&self, column: usize, rows: std::ops::Range<usize>) -> Vec<U> {
        rows.map(|row| U::small(self.numbers[row * SIDE + column])).collect()
    }

    /// Returns new numbers for the cells of a region that the matrix can show, and the whole matrix with them.
    fn renumbered(
        &self,
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
        number: impl Fn(usize, usize) -> u8,
    ) -> (Vec<u8>, Vec<u8>) {
        let (mut new, mut all) = (Vec::new(), self.numbers.clone());
        for (row, column) in rows.flat_map(|row| columns.clone().map(move |column| (row, column))) {
            let number = match self.half {
                Half::Mirrored => number(row.min(column), row.max(column)),
                Half::Zero(_) if self.is_zero(row, column) => 0,
                Half::Zero(_) => number(row, column),
            };
            new.push(number);
            all[row * SIDE + column] = number;
            if matches!(self.half, Half::Mirrored) {
                all[column * SIDE + row] = number;
            }
        }
        (new, all)
    }
}

fn all_of<U: Element>(table: &dyn NumericTable) -> Vec<U> {
    table.rows::<U>(..).unwrap().to_vec()
}

fn small<U: SmallNumber>(numbers: &[u8]) -> Vec<U> {
    numbers.iter().map(|&number| U::small(number)).collect()
}

/// One test for each promise, of the kind of matrix of `$case`.
macro_rules! square_conformance {
    ($name:ident, $case:expr) => {
        mod $name {
            use super::*;
            use crate::kinds::square as suite;

            square_conformance!(@tests $case; is_read_in_every_way is_written_in_every_way
                is_walked_in_blocks_and_lends_none is_refused_what_it_cannot_show
                keeps_everything_when_a_value_is_refused refuses_what_is_out_of_range keeps_what_a_block_showed
                drops_what_is_not_released
                is_converted_saved_and_measured keeps_its_size describes_its_columns);
        }
    };
    (@tests $case:expr; $($test:ident)*) => {
        $(#[test]
        fn $test() {
            suite::$test(&$case);
        })*
    };
}
pub(super) use square_conformance;

pub(super) fn is_read_in_every_way(case: &Case<'_>) {
    fn check<U: SmallNumber>(case: &Case<'_>) {
        let mut table = (case.make)();
        let mut block = BlockDescriptor::<U>::new();
        for rows in RANGES {
            let expected = case.rows::<U>(rows.clone());
            let shown = table.rows::<U>(rows.clone()).unwrap();
            assert_eq!(shown[..], expected, "{rows:?}");
            assert_eq!((shown.row_count(), shown.column_count()), (rows.len(), SIDE));
            assert_eq!(table.rows_with::<U>(rows.clone(), ConversionPolicy::Exact).unwrap()[..], expected);
            assert_eq!(table.read_rows(rows.clone(), &mut block).unwrap(), expected);
            table.get_block_of_rows(rows.start, rows.len(), ReadWriteMode::ReadOnly, &mut block).unwrap();
            assert_eq!((block.row_range(), block.as_slice()), (rows.clone(), &expected[..]));
            table.release_block_of_rows(&mut block).unwrap();
            for column in 0..SIDE {
                let expected = case.column::<U>(column, rows.clone());
                assert_eq!(table.column::<U>(column, rows.clone()).unwrap()[..], expected, "{column}, {rows:?}");
                assert_eq!(table.read_column(column, rows.clone(), &mut block).unwrap(), expected);
            }
        }
        for (index, &number) in case.numbers.iter().enumerate() {
            assert!(table.value::<U>(index / SIDE, index % SIDE).unwrap() == U::small(number));
        }
    }
    let table = (case.make)();
    assert_eq!((table.shape(), table.row_count(), table.column_count()), (shape(SIDE, SIDE), SIDE, SIDE));
    for_each_element!(T => check::<T>(case));
}

pub(super) fn is_written_in_every_way(case: &Case<'_>) {
    fn check<U: SmallNumber>(case: &Case<'_>) {
        let mut descriptor = BlockDescriptor::<U>::new();
        for rows in RANGES {
            let (new, all) = case.renumbered(rows.clone(), 0..SIDE, |row, column| (50 + row * SIDE + column) as u8);
            let (new, all) = (small::<U>(&new), small::<U>(&all));
            let mut table = (case.make)();
            let mut block = table.rows_mut::<U>(rows.clone()).unwrap();
            assert_eq!(block[..], case.rows::<U>(rows.clone()));
            block.copy_from_slice(&new);
            block.release().unwrap();
            assert_eq!(all_of::<U>(&*table), all, "{rows:?}");

            let mut table = (case.make)();
            let edit = |block: &mut BlockMut<'_, U>| -> Result<(), Error> {
                block.copy_from_slice(&new);
                Ok(())
            };
            table.update_rows::<U, _>(rows.clone(), edit).unwrap();
            assert_eq!(all_of::<U>(&*table), all, "{rows:?}");

            for mode in MODES {
                let mut table = (case.make)();
                table.get_block_of_rows(rows.start, rows.len(), mode, &mut descriptor).unwrap();
                if mode != ReadWriteMode::ReadOnly {
                    descriptor.as_mut_slice().unwrap().copy_from_slice(&new);
                }
                table.release_block_of_rows(&mut descriptor).unwrap();
                let expected = if mode == ReadWriteMode::ReadOnly { case.rows(0..SIDE) } else { all.clone() };
                assert_eq!(all_of::<U>(&*table), expected, "{rows:?} {mode:?}");
            }

            for column in 0..SIDE {
                let (new, all) = case.renumbered(rows.clone(), column..column + 1, |row, at| (60 + row + at) as u8);
                let (new, all) = (small::<U>(&new), small::<U>(&all));
                let mut table = (case.make)();
                let mut block = table.column_mut::<U>(column, rows.clone()).unwrap();
                block.copy_from_slice(&new);
                block.release().unwrap();
                assert_eq!(all_of::<U>(&*table), all, "{column}, {rows:?}");
                let mut table = (case.make)();
                table
                    .get_block_of_column_values(
                        column,
                        rows.start,
                        rows.len(),
                        ReadWriteMode::WriteOnly,
                        &mut descriptor,
                    )
                    .unwrap();
                descriptor.as_mut_slice().unwrap().copy_from_slice(&new);
                table.release_block_of_column_values(&mut descriptor).unwrap();
                assert_eq!(all_of::<U>(&*table), all, "{column}, {rows:?}");
            }
        }
        for index in 0..SIDE * SIDE {
            let (row, column) = (index / SIDE, index % SIDE);
            let (new, all) = case.renumbered(row..row + 1, column..column + 1, |_, _| 99);
            let mut table = (case.make)();
            table.set_value(row, column, U::small(new[0])).unwrap();
            assert_eq!(all_of::<U>(&*table), small::<U>(&all));
        }
        let mut table = (case.make)();
        table.fill(U::small(0)).unwrap();
        assert!(all_of::<U>(&*table).iter().all(|&value| value == U::small(0)));
        if matches!(case.half, Half::Mirrored) {
            table.fill(U::small(5)).unwrap();
            assert!(all_of::<U>(&*table).iter().all(|&value| value == U::small(5)));
        }
    }
    for_each_element!(T => check::<T>(case));
}

pub(super) fn is_walked_in_blocks_and_lends_none(case: &Case<'_>) {
    fn check<U: SmallNumber>(case: &Case<'_>) {
        let mut table = (case.make)();
        let walked = table.row_blocks::<U>(3).unwrap().flat_map(|block| block.unwrap().to_vec()).collect::<Vec<_>>();
        assert_eq!(walked, case.rows::<U>(0..SIDE));
        // Disjoint blocks would have cells that are stored as one.
        assert_error!(table.row_blocks_mut::<U>(3).map(drop), ErrorKind::ReadOnlyTable);
        // One block after the other: a later one sees what an earlier one has written.
        table
            .update_row_blocks::<U>(2, |block| {
                block.iter_mut().for_each(|value| *value = if *value == U::small(0) { *value } else { U::small(9) });
                Ok(())
            })
            .unwrap();
        let nine = |(index, _): (usize, &u8)| u8::from(!case.is_zero(index / SIDE, index % SIDE)) * 9;
        let expected = case.numbers.iter().enumerate().map(nine).collect::<Vec<_>>();
        assert_eq!(all_of::<U>(&*table), small::<U>(&expected));
        #[cfg(feature = "rayon")]
        {
            use rayon::iter::ParallelIterator;
            let count = table.par_row_blocks::<U>(2).unwrap().map(|block| block.unwrap().row_count()).sum::<usize>();
            assert_eq!(count, SIDE);
            assert_error!(table.par_row_blocks_mut::<U>(2).map(drop), ErrorKind::ReadOnlyTable);
            table.par_update_row_blocks::<U>(2, |block| block.iter().try_for_each(|_| Ok(()))).unwrap();
            assert_eq!(all_of::<U>(&*table), small::<U>(&expected));
        }
    }
    for_each_element!(T => check::<T>(case));
}

/// Changes one cell of every pair, or one of the zeros, in a block of all rows.
pub(super) fn is_refused_what_it_cannot_show(case: &Case<'_>) {
    fn check<U: SmallNumber>(case: &Case<'_>, row: usize, column: usize) {
        let mut table = (case.make)();
        let old = case.numbers[row * SIDE + column];
        let (upper, lower) = (row.min(column), row.max(column));
        let is_named = |error: &Error| match (case.half, error.kind()) {
            (Half::Mirrored, ErrorKind::AsymmetricValue { row: above, column: right, value, mirror, mirrored }) => {
                let values = [U::small(99), U::small(old)].map(numeric_table::AnyValue::from);
                let [first, second] = if row < column { values } else { [values[1], values[0]] };
                (*above, *right, *mirror, *value, *mirrored) == (upper, lower, (lower, upper), first, second)
            }
            (Half::Zero(_), ErrorKind::NotStored { row: there, column: at, value: Some(value), .. }) => {
                (*there, *at, *value) == (row, column, U::small(99).into())
            }
            _ => false,
        };
        let refused = table.update_rows::<U, _>(.., |block| {
            block.row_mut(row)[column] = U::small(99);
            Ok(())
        });
        assert!(refused.as_ref().is_err_and(is_named), "{row}, {column}: {refused:?}");
        let mut block = table.rows_mut::<U>(..).unwrap();
        block.row_mut(row)[column] = U::small(99);
        let refused = block.release();
        assert!(refused.as_ref().is_err_and(is_named), "{row}, {column}: {refused:?}");
        let mut descriptor = BlockDescriptor::<U>::new();
        table.get_block_of_rows(0, SIDE, ReadWriteMode::ReadWrite, &mut descriptor).unwrap();
        descriptor.as_mut_slice().unwrap()[row * SIDE + column] = U::small(99);
        assert!(table.release_block_of_rows(&mut descriptor).as_ref().is_err_and(is_named));
        descriptor.discard();
        if matches!(case.half, Half::Zero(_)) {
            assert!(table.set_value(row, column, U::small(99)).as_ref().is_err_and(is_named));
            assert_error!(table.fill(U::small(1)), ErrorKind::NotStored { value: Some(_), .. });
        }
        assert_eq!(all_of::<U>(&*table), case.rows::<U>(0..SIDE));
    }
    for index in 0..SIDE * SIDE {
        let (row, column) = (index / SIDE, index % SIDE);
        let cannot = match case.half {
            Half::Mirrored => row != column,
            Half::Zero(_) => case.is_zero(row, column),
        };
        if cannot {
            for_each_element!(T => check::<T>(case, row, column));
        }
    }
}

/// In each cell in turn that is stored, a value that does not fit.
pub(super) fn keeps_everything_when_a_value_is_refused(case: &Case<'_>) {
    let before = case.rows::<f64>(0..SIDE);
    for index in 0..SIDE * SIDE {
        let (row, column) = (index / SIDE, index % SIDE);
        let mut table = (case.make)();
        if case.is_zero(row, column) || table.uniform_type() == Some(ElementType::F64) {
            continue;
        }
        let is_mirrored = matches!(case.half, Half::Mirrored);
        let first = if is_mirrored { (row.min(column), row.max(column)) } else { (row, column) };
        let refused = table.update_rows::<f64, _>(.., |block| {
            block.iter_mut().filter(|value| **value != 0.0).for_each(|value| *value = 7.0);
            block.row_mut(row)[column] = 1e300;
            if is_mirrored {
                block.row_mut(column)[row] = 1e300;
            }
            Ok(())
        });
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row, column, .. } if (*row, *column) == first);
        let refused = table.set_value(row, column, 1e300);
        let cell = (row, column);
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row, column, .. } if (*row, *column) == cell);
        assert_error!(table.fill(1e300), ErrorKind::ValueNotRepresentable { row: 0, .. });
        assert_eq!(all_of::<f64>(&*table), before);
    }
    // On reading: a value that the target does not have.
    let mut table = (case.make)();
    table.fill(0).unwrap();
    let place = if matches!(case.half, Half::Zero(Triangle::Lower)) { (5, 1) } else { (1, 5) };
    table.set_value(place.0, place.1, 100).unwrap();
    let double = |block: &mut BlockMut<'_, f64>| -> Result<(), Error> {
        block.iter_mut().for_each(|value| *value *= 1.25);
        Ok(())
    };
    table.update_rows::<f64, _>(.., double).unwrap();
    assert_eq!(table.value::<f64>(place.0, place.1).unwrap(), 125.0);
    table.set_value(place.0, place.1, 127).unwrap();
    if table.column_type(0).unwrap() != ElementType::I8 {
        table.set_value(place.0, place.1, 200).unwrap();
        let refused = table.rows_with::<i8>(.., ConversionPolicy::Exact);
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row, column, .. } if (*row, *column) == place);
        // The first in row-major order, of which the values are kept until all are known to fit.
        let mut old = vec![3_i8; SIDE * SIDE];
        let region = numeric_table::table::spi::Region { rows: 0..SIDE, columns: 0..SIDE };
        let target = numeric_table::array::AnySliceMut::new(&mut old);
        let target =
            numeric_table::table::spi::Target::new(target, shape(SIDE, SIDE), ConversionPolicy::Checked).unwrap();
        assert_error!(
            table.read_region(&region, target),
            ErrorKind::ValueNotRepresentable { row, .. } if *row == place.0
        );
        assert!(old.iter().all(|&value| value == 3));
    }
}

pub(super) fn refuses_what_is_out_of_range(case: &Case<'_>) {
    let mut table = (case.make)();
    assert_error!(table.rows::<f64>(0..SIDE + 1), ErrorKind::RowsOutOfRange { row_count: SIDE, .. });
    assert_error!(table.rows_mut::<f64>(SIDE + 1..SIDE + 1), ErrorKind::RowsOutOfRange { row_count: SIDE, .. });
    assert_error!(table.column::<f64>(SIDE, ..), ErrorKind::ColumnOutOfRange { column: SIDE, column_count: SIDE });
    assert_error!(table.column_mut::<f64>(usize::MAX, ..), ErrorKind::ColumnOutOfRange { column_count: SIDE, .. });
    assert_error!(table.value::<f64>(SIDE, 0), ErrorKind::RowsOutOfRange { row_count: SIDE, .. });
    assert_error!(table.set_value(0, SIDE, 1), ErrorKind::ColumnOutOfRange { column: SIDE, .. });
    let mut block = BlockDescriptor::<f64>::new();
    for mode in MODES {
        assert_error!(table.get_block_of_rows(SIDE + 1, 1, mode, &mut block), ErrorKind::RowsOutOfRange { .. });
        assert_error!(
            table.get_block_of_column_values(SIDE, 0, 1, mode, &mut block),
            ErrorKind::ColumnOutOfRange { .. }
        );
    }
    assert_error!(table.column_type(SIDE), ErrorKind::ColumnOutOfRange { .. });
    for position in [(SIDE, 0), (0, SIDE), (usize::MAX, usize::MAX)] {
        assert!(table.piece(position.0, position.1).unwrap().is_none());
    }
    assert_eq!(all_of::<f64>(&*table), case.rows::<f64>(0..SIDE));
}

pub(super) fn keeps_what_a_block_showed(case: &Case<'_>) {
    fn check<U: SmallNumber>(case: &Case<'_>) {
        let mut table = (case.make)();
        let mut blocks = Vec::new();
        for column in 0..SIDE {
            let (mut rows, mut values) = (BlockDescriptor::<U>::new(), BlockDescriptor::<U>::new());
            table.get_block_of_rows(column, SIDE, ReadWriteMode::ReadOnly, &mut rows).unwrap();
            table.get_block_of_column_values(column, 0, SIDE, ReadWriteMode::ReadOnly, &mut values).unwrap();
            blocks.push((rows, values));
        }
        table.fill(U::small(0)).unwrap();
        drop(table);
        for (column, (rows, values)) in blocks.iter().enumerate() {
            assert_eq!(rows.as_slice(), case.rows::<U>(column..SIDE));
            assert_eq!(values.as_slice(), case.column::<U>(column, 0..SIDE));
        }
    }
    for_each_element!(T => check::<T>(case));
}

pub(super) fn drops_what_is_not_released(case: &Case<'_>) {
    fn check<U: SmallNumber>(case: &Case<'_>) {
        let mut table = (case.make)();
        for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
            let mut block = BlockDescriptor::<U>::new();
            table.get_block_of_rows(1, 2, mode, &mut block).unwrap();
            block.as_mut_slice().unwrap().fill(U::small(77));
            assert_eq!(all_of::<U>(&*table), case.rows::<U>(0..SIDE)); // nothing is lent
            drop(block);
            assert_eq!(all_of::<U>(&*table), case.rows::<U>(0..SIDE));
        }
    }
    for_each_element!(T => check::<T>(case));
}

pub(super) fn is_converted_saved_and_measured(case: &Case<'_>) {
    let (mut table, expected) = ((case.make)(), case.rows::<f64>(0..SIDE));
    assert_eq!(table.convert::<f64>().unwrap().as_slice().unwrap(), expected);
    let statistics = BasicStatistics::compute(&*table).unwrap();
    for (index, column) in statistics.per_column().iter().enumerate() {
        let values = case.column::<f64>(index, 0..SIDE);
        assert_eq!(column.maximum(), values.iter().copied().fold(f64::MIN, f64::max));
        assert!((column.mean() - values.iter().sum::<f64>() / SIDE as f64).abs() < 1e-12);
    }
    assert!(table.to_string().starts_with(&format!("{} ", table.shape())), "{table}");
    let kind = match case.half {
        Half::Mirrored => TableKind::PACKED_SYMMETRIC,
        Half::Zero(_) => TableKind::PACKED_TRIANGULAR,
    };
    super::saving::check(&mut *table, &expected, kind, kind);
}

pub(super) fn keeps_its_size(case: &Case<'_>) {
    let mut table = (case.make)();
    for rows in [0, 3, SIDE + 1, usize::MAX] {
        assert_error!(table.resize(rows), ErrorKind::ReadOnlyTable);
    }
    assert_eq!(all_of::<f64>(&*table), case.rows::<f64>(0..SIDE));
}

pub(super) fn describes_its_columns(case: &Case<'_>) {
    let (mut table, other) = ((case.make)(), (case.make)());
    assert_ne!(table.id(), other.id());
    let element = table.uniform_type().unwrap();
    let named = (0..SIDE).map(|i| Feature::new(element).named(format!("n{i}"))).collect::<DataDictionary>();
    table.set_dictionary(named.clone()).unwrap();
    assert_eq!((table.dictionary(), table.dictionary().index_of("n3")), (&named, Some(3)));
    let short = DataDictionary::uniform(Feature::new(element), SIDE - 1);
    assert_error!(table.set_dictionary(short), ErrorKind::DictionaryMismatch { .. });
    let wrong = if element == ElementType::U32 { ElementType::F32 } else { ElementType::U32 };
    let wrong = DataDictionary::uniform(Feature::new(wrong), SIDE);
    assert_error!(table.set_dictionary(wrong), ErrorKind::DictionaryMismatch { .. });
    assert_eq!(*table.dictionary(), named);
    table.reset_dictionary().unwrap();
    assert_eq!(table.dictionary().index_of("n3"), None);
}
