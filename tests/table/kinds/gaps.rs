//! What every kind of table with nullable columns does alike: the suite of all kinds, where nothing is missing, and a
//! smaller one where values are, with each promise against optional values.

use numeric_table::array::Validity;
use numeric_table::table::FillMissing;
use test_support::for_each_element;
use test_support::tables::{MODES, assert_error};

use super::*;

/// The gaps of the table that the smaller suite asks for. Its other values are those of the suite of all kinds.
fn is_gap(row: usize, column: usize) -> bool {
    column != 1 && (row * 3 + column).is_multiple_of(4)
}

/// Rows of the table, of which the stored values under gaps are not those that the suite asks for.
fn soa(rows: std::ops::Range<usize>, columns: std::ops::Range<usize>, has_gaps: bool) -> SoaNumericTable {
    fn array<T: SmallNumber>(rows: &std::ops::Range<usize>, column: usize, has_gaps: bool) -> AnyArray {
        let value = |row: usize| match has_gaps && is_gap(row, column) {
            true => T::small(77),
            false => number::<T>(COLUMNS, row, column),
        };
        AnyArray::from(rows.clone().map(value).collect::<Vec<T>>())
    }
    let mut table = SoaNumericTable::new();
    for column in columns {
        let array = match column {
            0 => array::<f32>(&rows, column, has_gaps),
            1 => array::<u8>(&rows, column, has_gaps),
            2 => array::<f64>(&rows, column, has_gaps),
            3 => array::<i16>(&rows, column, has_gaps),
            _ => array::<f16>(&rows, column, has_gaps),
        };
        let validity = Validity::from_fn(rows.len(), |row| !(has_gaps && is_gap(rows.start + row, column)));
        let feature = Feature::new(array.element_type()).named(format!("c{column}"));
        let feature = if column == 1 { feature } else { feature.nullable() };
        table.push_nullable(feature, array, Some(validity.unwrap())).unwrap();
    }
    table
}

fn side_by_side(has_gaps: bool) -> Boxed {
    let [left, right] = [0..2, 2..COLUMNS].map(|columns| Box::new(soa(0..ROWS, columns, has_gaps)) as Boxed);
    Box::new(MergedNumericTable::new([left, right]).unwrap())
}

fn end_to_end(has_gaps: bool) -> Boxed {
    let parts = [0..3, 3..3, 3..ROWS].map(|rows| Box::new(soa(rows, 0..COLUMNS, has_gaps)) as Boxed);
    Box::new(RowMergedNumericTable::new(parts).unwrap())
}

conformance!(nullable_columns: unsaved, resizes: true, || Box::new(soa(0..ROWS, 0..COLUMNS, false)) as Boxed);
conformance!(nullable_columns_borrowed: unsaved, resizes: false, || {
    by_mut(kept(soa(0..ROWS, 0..COLUMNS, false))) //
});
conformance!(nullable_columns_side_by_side: unsaved, resizes: false, || side_by_side(false));
conformance!(nullable_columns_end_to_end: unsaved, resizes: false, || end_to_end(false));

macro_rules! with_gaps {
    ($($name:ident: $make:expr;)*) => {$(
        mod $name {
            use super::*;

            with_gaps!(@tests $make; is_read_as_optional_values keeps_its_gaps_when_nothing_is_changed
                is_written_over_gaps gets_gaps_from_nan keeps_everything_when_a_value_is_refused
                is_copied_with_its_gaps is_filled_and_freed_of_gaps marks_values_as_missing);
        }
    )*};
    (@tests $make:expr; $($test:ident)*) => {
        $(#[test]
        fn $test() {
            super::$test(&$make);
        })*
    };
}
with_gaps! {
    columns_with_gaps: || Box::new(soa(0..ROWS, 0..COLUMNS, true)) as Boxed;
    columns_with_gaps_borrowed: || by_mut(kept(soa(0..ROWS, 0..COLUMNS, true)));
    columns_with_gaps_side_by_side: || side_by_side(true);
    columns_with_gaps_end_to_end: || end_to_end(true);
}

/// The values of a column, which are numbers that an `f64` has.
fn optional(table: &dyn NumericTable, column: usize) -> Vec<Option<f64>> {
    let (values, validity) = (table.column::<f64>(column, ..).unwrap(), table.column_validity(column).unwrap());
    let is_present = |row| validity.as_ref().is_none_or(|validity| validity.is_present(row).unwrap());
    values.iter().enumerate().map(|(row, &value)| is_present(row).then_some(value)).collect()
}

/// What the suite asks for, row by row.
fn expected() -> Vec<Vec<Option<f64>>> {
    let cell = |row: usize, column: usize| (!is_gap(row, column)).then(|| number::<f64>(COLUMNS, row, column));
    (0..ROWS).map(|row| (0..COLUMNS).map(|column| cell(row, column)).collect()).collect()
}

/// Compares values bit for bit, except that all NaN are alike.
#[track_caller]
fn check(table: &dyn NumericTable, expected: &[Vec<Option<f64>>]) {
    let bits = |value: Option<f64>| value.map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() });
    assert_eq!(table.row_count(), expected.len());
    for column in 0..table.column_count() {
        let found = optional(table, column);
        let wanted = expected.iter().map(|row| row[column]).collect::<Vec<_>>();
        assert!(found.iter().copied().map(bits).eq(wanted.iter().copied().map(bits)), "{found:?} {wanted:?}");
    }
}

fn is_read_as_optional_values(make: &dyn Fn() -> Boxed) {
    fn of_type<U: SmallNumber>(table: &dyn NumericTable) {
        for column in 0..COLUMNS {
            for rows in [0..ROWS, 0..1, 1..3, 3..ROWS, 2..2] {
                let gap = rows.clone().find(|&row| is_gap(row, column));
                match table.column::<U>(column, rows.clone()).map_err(Error::into_kind) {
                    Ok(block) => {
                        for (row, &value) in rows.zip(block.iter()) {
                            match is_gap(row, column) {
                                true => assert!(value.ne(&value), "{row}, {column} is missing"),
                                false => assert!(value == number::<U>(COLUMNS, row, column)),
                            }
                        }
                        assert!(gap.is_none() || (U::TYPE.is_float() && !block.is_zero_copy()));
                    }
                    Err(ErrorKind::MissingValue { row, column: of }) => {
                        assert!(!U::TYPE.is_float());
                        assert_eq!((Some(row), of), (gap, column));
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
        let first =
            (0..ROWS * COLUMNS).map(|at| (at / COLUMNS, at % COLUMNS)).find(|&(row, column)| is_gap(row, column));
        match table.rows::<U>(..).map_err(Error::into_kind) {
            Ok(_) => assert!(U::TYPE.is_float()),
            Err(ErrorKind::MissingValue { row, column }) => assert_eq!(Some((row, column)), first),
            Err(other) => panic!("{other:?}"),
        }
    }
    let table = make();
    check(&*table, &expected());
    for_each_element!(T => of_type::<T>(&*table));
    assert_eq!(table.missing_count(1).unwrap(), 0);
    assert!(table.has_missing().unwrap() && table.is_missing(0, 0).unwrap() && !table.is_missing(0, 1).unwrap());
    assert!(table.to_string().contains("null"));
}

fn keeps_its_gaps_when_nothing_is_changed(make: &dyn Fn() -> Boxed) {
    fn of_type<U: SmallNumber>(make: &dyn Fn() -> Boxed) {
        if !U::TYPE.is_float() {
            return;
        }
        let mut table = make();
        table.update_rows::<U, _>(.., |_| Ok(())).unwrap();
        table.update_row_blocks::<U>(2, |_| Ok(())).unwrap();
        let mut block = BlockDescriptor::<U>::new();
        for mode in MODES.into_iter().filter(|mode| *mode != ReadWriteMode::WriteOnly) {
            table.get_block_of_rows(0, ROWS, mode, &mut block).unwrap();
            table.release_block_of_rows(&mut block).unwrap();
            table.get_block_of_column_values(2, 1, 4, mode, &mut block).unwrap();
            table.release_block_of_column_values(&mut block).unwrap();
        }
        let block = table.rows_mut::<U>(1..).unwrap();
        block.release().unwrap();
        check(&*table, &expected());
    }
    for_each_element!(T => of_type::<T>(make));
}

fn is_written_over_gaps(make: &dyn Fn() -> Boxed) {
    fn of_type<U: SmallNumber>(make: &dyn Fn() -> Boxed) {
        let (mut table, mut values) = (make(), expected());
        let mut block = BlockDescriptor::<U>::new();
        table.get_block_of_rows(1, 2, ReadWriteMode::WriteOnly, &mut block).unwrap();
        block.as_mut_slice().unwrap().fill(U::small(9));
        table.release_block_of_rows(&mut block).unwrap();
        values[1..3].iter_mut().for_each(|row| row.fill(Some(9.0)));
        table.get_block_of_column_values(3, 3, 4, ReadWriteMode::WriteOnly, &mut block).unwrap();
        block.as_mut_slice().unwrap().fill(U::small(8));
        table.release_block_of_column_values(&mut block).unwrap();
        values[3..].iter_mut().for_each(|row| row[3] = Some(8.0));
        table.set_value(0, 0, U::small(7)).unwrap();
        values[0][0] = Some(7.0);
        check(&*table, &values);
        table.fill(U::small(5)).unwrap();
        check(&*table, &vec![vec![Some(5.0); COLUMNS]; ROWS]);
        assert!(!table.has_missing().unwrap());
    }
    for_each_element!(T => of_type::<T>(make));
}

/// In columns of integers. In columns of floats, NaN is a value.
fn gets_gaps_from_nan(make: &dyn Fn() -> Boxed) {
    let (mut table, mut values) = (make(), expected());
    table
        .update_rows::<f64, _>(1..6, |block| {
            for (row, column) in (0..block.row_count()).flat_map(|row| [0, 2, 3, 4].map(|column| (row, column))) {
                block.row_mut(row)[column] = f64::NAN;
            }
            Ok(())
        })
        .unwrap();
    for row in &mut values[1..6] {
        row[3] = None;
        [0, 2, 4].into_iter().for_each(|column| row[column] = row[column].map(|_| f64::NAN));
    }
    check(&*table, &values);
    assert_error!(table.set_value(2, 1, f64::NAN), ErrorKind::ValueNotRepresentable { row: 2, column: 1, .. });
    check(&*table, &values);
}

fn keeps_everything_when_a_value_is_refused(make: &dyn Fn() -> Boxed) {
    let mut table = make();
    for (row, column, value) in [(ROWS - 1, 1, f64::NAN), (2, 3, 1e10), (5, 4, 1e9), (ROWS - 1, 0, 1e300)] {
        let refused = table.update_rows::<f64, _>(.., |block| {
            block.iter_mut().for_each(|value| *value = if value.is_nan() { 3.0 } else { *value });
            block.row_mut(0)[3] = f64::NAN;
            block.row_mut(row)[column] = value;
            Ok(())
        });
        let place = (row, column);
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row, column, .. } if (*row, *column) == place);
        check(&*table, &expected());
    }
    assert_error!(
        table.fill_missing(.., FillMissing::value(1e300)),
        ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. }
    );
    assert_error!(table.set_missing(0, COLUMNS), ErrorKind::ColumnOutOfRange { .. });
    assert_error!(table.set_missing(ROWS, 0), ErrorKind::RowsOutOfRange { .. });
    check(&*table, &expected());
}

fn is_copied_with_its_gaps(make: &dyn Fn() -> Boxed) {
    let (table, values) = (make(), expected());
    let rows = |rows: &[usize]| rows.iter().map(|&row| values[row].clone()).collect::<Vec<_>>();
    check(&table.to_columns().unwrap(), &values);
    check(&*table.to_table().unwrap(), &values);
    check(&*table.take_rows(&[6, 0, 3, 0]).unwrap(), &rows(&[6, 0, 3, 0]));
    let flags = [true, false, true, true, false, false, true];
    check(&*table.filter_rows(&flags).unwrap(), &rows(&[0, 2, 3, 6]));
    check(&*table.select_rows(2..5).unwrap(), &rows(&[2, 3, 4]));
    // Rows 0 and 4 have no value in column 0: they are the last ones.
    check(&*table.sort_by(0).unwrap(), &rows(&[1, 2, 3, 5, 6, 0, 4]));
    let both = table.vstack(&[&*table]).unwrap();
    check(&both, &[values.clone(), values.clone()].concat());
    let beside = table.hstack(&[&*table]).unwrap();
    check(&beside, &values.iter().map(|row| [&row[..], row].concat()).collect::<Vec<_>>());
}

fn is_filled_and_freed_of_gaps(make: &dyn Fn() -> Boxed) {
    let table = make();
    let present = |columns: std::ops::Range<usize>| {
        expected().into_iter().filter(|row| row[columns.clone()].iter().all(Option::is_some)).collect::<Vec<_>>()
    };
    check(&*table.drop_missing_rows(..).unwrap(), &present(0..COLUMNS));
    check(&*table.drop_missing_rows(0..2).unwrap(), &present(0..2));
    let (mut table, mut values) = (make(), expected());
    let gaps = values.iter().flatten().filter(|value| value.is_none()).count();
    assert_eq!(table.fill_missing(.., FillMissing::value(4)).unwrap(), gaps);
    values.iter_mut().flatten().for_each(|value| *value = value.or(Some(4.0)));
    check(&*table, &values);
    let (mut table, mut values) = (make(), expected());
    table.fill_missing(.., FillMissing::Previous).unwrap();
    for (row, column) in (1..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column))) {
        values[row][column] = values[row][column].or(values[row - 1][column]);
    }
    check(&*table, &values);
}

fn marks_values_as_missing(make: &dyn Fn() -> Boxed) {
    let (mut table, mut values) = (make(), expected());
    table.set_missing(5, 1).unwrap(); // the column was not nullable
    values[5][1] = None;
    let flags = [true, false, false, true, false, false, true];
    table.set_missing_where(2, &flags).unwrap();
    (0..ROWS).filter(|&row| flags[row]).for_each(|row| values[row][2] = None);
    check(&*table, &values);
    assert!(table.dictionary().iter().all(|feature| feature.nullable));
    assert_error!(table.set_missing_where(2, &[true]), ErrorKind::LengthMismatch { expected: ROWS, actual: 1 });
    table.reset_dictionary().unwrap();
    check(&*table, &values);
}
