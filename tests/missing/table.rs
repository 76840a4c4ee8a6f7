//! Selecting, sorting, stacking and copying tables with missing values.

use numeric_table::array::Validity;
use numeric_table::prelude::*;
use numeric_table::{AnyArray, SoaNumericTable};

use super::columns::optional;

const BIG: i64 = (1 << 53) + 1;

/// All columns are of one type, so a table without gaps would be homogeneous.
fn one_type() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_optional("x", [Some(1.5_f64), None, Some(f64::NAN), Some(-2.0)]).unwrap();
    table.push_optional("y", [None, Some(7.0_f64), Some(8.0), None]).unwrap();
    table
}

fn mixed() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_optional("count", [Some(BIG), None, Some(-7), None, Some(0)]).unwrap();
    table.push_column("id", vec![10_u8, 11, 12, 13, 14]).unwrap();
    table.push_optional("share", [None, Some(0.5_f32), Some(1.0), Some(-1.0), Some(2.0)]).unwrap();
    table
}

#[test]
fn taken_and_filtered_rows_keep_their_gaps() {
    let table = mixed();
    let taken = table.take_rows(&[4, 3, 0, 3]).unwrap();
    assert_eq!(optional::<i64>(&*taken, 0), [Some(0), None, Some(BIG), None]);
    assert_eq!(optional::<u8>(&*taken, 1), [14, 13, 10, 13].map(Some));
    assert_eq!(optional::<f32>(&*taken, 2), [Some(2.0), Some(-1.0), None, Some(-1.0)]);
    let kept = table.filter_rows(&[false, true, false, true, true]).unwrap();
    assert_eq!(optional::<i64>(&*kept, 0), [None, None, Some(0)]);
    assert_eq!(optional::<f32>(&*kept, 2), [Some(0.5), Some(-1.0), Some(2.0)]);
    let kept = table.filter_by_column("id", |id: u8| id != 11).unwrap();
    assert_eq!(optional::<i64>(&*kept, 0), [Some(BIG), Some(-7), None, Some(0)]);
}

#[test]
fn rows_of_columns_of_one_type_keep_their_gaps() {
    let table = one_type();
    assert_eq!(table.uniform_type(), Some(ElementType::F64));
    let taken = table.take_rows(&[1, 0]).unwrap();
    assert_eq!(optional::<f64>(&*taken, 0), [None, Some(1.5)]);
    assert_eq!(optional::<f64>(&*taken, 1), [Some(7.0), None]);
    let kept = table.filter_rows(&[true, true, true, false]).unwrap();
    assert!(optional::<f64>(&*kept, 0)[2].unwrap().is_nan() && kept.missing_count("x").unwrap() == 1);
    let owned = table.select_rows(1..).unwrap().to_table().unwrap();
    assert_eq!((owned.missing_count("x").unwrap(), owned.missing_count("y").unwrap()), (1, 1));
}

#[test]
fn a_nullable_column_without_gaps_stays_nullable() {
    let taken = one_type().take_rows(&[0]).unwrap();
    assert!(taken.dictionary().iter().all(|feature| feature.nullable));
    assert_eq!(taken.missing_count("x").unwrap(), 0);
    let none = mixed().take_rows(&[]).unwrap();
    assert_eq!((none.row_count(), none.has_missing().unwrap()), (0, false));
    assert!(none.dictionary().feature(0).unwrap().nullable && !none.dictionary().feature(1).unwrap().nullable);
    let mut again = mixed().filter_rows(&[true, false, false, false, false]).unwrap();
    again.set_value(0, 0, f64::NAN).unwrap(); // it may still have gaps
    assert!(again.is_missing(0, 0).unwrap());
}

#[test]
fn rows_that_do_not_exist_are_named() {
    let error = mixed().take_rows(&[0, 5, 9]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RowsOutOfRange { rows, row_count: 5 } if *rows == (5..6)), "{error}");
    assert!(mixed().filter_rows(&[true]).is_err());
}

#[test]
fn rows_of_views_and_merged_tables_keep_their_gaps() {
    let table = mixed();
    let part = table.select_columns(["share", "count"]).unwrap();
    let taken = part.select_rows(1..).unwrap().take_rows(&[2, 0]).unwrap();
    assert_eq!(optional::<i64>(&*taken, 1), [None, None]);
    assert_eq!(optional::<f32>(&*taken, 0), [Some(-1.0), Some(0.5)]);
    let plain = HomogenNumericTable::from_rows(&[[1_i64], [2]]).unwrap();
    let counts = table.select_columns(["count"]).unwrap();
    let stacked = plain.vstack(&[&counts, &plain]).unwrap();
    let taken = stacked.take_rows(&[6, 3, 0, 2]).unwrap();
    assert_eq!(optional::<i64>(&*taken, 0), [Some(0), None, Some(1), Some(BIG)]);
}

#[test]
fn a_copy_as_columns_shares_arrays_and_bitmaps() {
    let table = mixed();
    let copy = table.select_rows(0..5).unwrap().to_columns().unwrap();
    let (mine, other) = (table.nullable_column(0).unwrap(), copy.nullable_column(0).unwrap());
    let address = |array: &AnyArray| array.downcast_ref::<i64>().unwrap().as_ptr();
    assert_eq!(address(mine.0), address(other.0));
    let address = |validity: Option<&Validity>| validity.unwrap().bits().as_ptr();
    assert_eq!(address(mine.1), address(other.1));
    assert_eq!(mine.1, other.1);
    assert!(copy.column_slice::<u8>(1).unwrap().as_ptr() == table.column_slice::<u8>(1).unwrap().as_ptr());
}

/// Every length around a word of the bitmap, against a plain list.
#[test]
fn long_columns_are_gathered_bit_by_bit() {
    for rows in [0, 1, 63, 64, 65, 127, 128, 1000, 5000] {
        let values: Vec<Option<u16>> = (0..rows).map(|row| (row % 7 != 3 && row % 11 != 0).then_some(row)).collect();
        let mut table = SoaNumericTable::new();
        table.push_optional("a", values.iter().copied()).unwrap();
        let backwards: Vec<usize> = (0..usize::from(rows)).rev().step_by(3).collect();
        let expected: Vec<_> = backwards.iter().map(|&row| values[row]).collect();
        assert_eq!(optional::<u16>(&*table.take_rows(&backwards).unwrap(), 0), expected);
        let flags: Vec<bool> = (0..rows).map(|row| row % 5 != 2).collect();
        let expected: Vec<_> = values.iter().zip(&flags).filter(|(_, flag)| **flag).map(|(value, _)| *value).collect();
        assert_eq!(optional::<u16>(&*table.filter_rows(&flags).unwrap(), 0), expected);
    }
}
