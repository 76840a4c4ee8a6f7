//! Selecting, sorting, stacking and copying tables with missing values.

use numeric_table::array::Validity;
use numeric_table::dictionary::Categories;
use numeric_table::prelude::*;
use numeric_table::{AnyArray, SoaNumericTable};
use test_support::bits::{Random, is_nan};
use test_support::for_each_element;
use test_support::tables::assert_error;

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

/// Stably, by a plain sort: numbers, NaN, missing ones.
fn sorted_rows<T: Element>(values: &[Option<T>]) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..values.len() as u32).collect();
    let rank = |row: &u32| match values[*row as usize] {
        Some(value) if is_nan(value) => 1,
        Some(_) => 0,
        None => 2,
    };
    rows.sort_by(|one, other| {
        let values = values[*one as usize].zip(values[*other as usize]);
        let order = values.and_then(|(one, other)| one.partial_cmp(&other));
        rank(one).cmp(&rank(other)).then(order.unwrap_or(std::cmp::Ordering::Equal))
    });
    rows
}

#[test]
fn missing_values_sort_last_and_stably_in_every_type() {
    fn of_type<T: Element>() {
        let mut random = Random::new(5);
        for rows in [0, 1, 2, 64, 65, 200, 4000] {
            for (share, few) in [(2, true), (10, false), (1, true), (1000, false)] {
                let pool = random.values::<T>(5);
                let values: Vec<T> = random.values::<T>(rows);
                let value = |row: usize| if few { pool[row % pool.len()] } else { values[row] };
                let column: Vec<Option<T>> =
                    (0..rows).map(|row| (random.below(share) > 0).then(|| value(row * 7 % rows))).collect();
                let mut table = SoaNumericTable::new();
                table.push_optional("key", column.iter().copied()).unwrap();
                table.push_column("row", (0..rows as u32).collect::<Vec<_>>()).unwrap();
                let sorted = table.sort_by("key").unwrap();
                let expected = sorted_rows(&column);
                assert!(sorted.column::<u32>(1, ..).unwrap()[..] == expected, "{rows} rows of {}", T::TYPE);
                let gaps = |row: &u32| column[*row as usize].is_none();
                let missing = sorted.column_validity("key").unwrap();
                let missing = missing.map_or(vec![false; rows], |validity| {
                    validity.to_flags().unwrap().into_iter().map(|is_present| !is_present).collect()
                });
                assert!(missing == expected.iter().map(gaps).collect::<Vec<_>>());
            }
        }
    }
    for_each_element!(of_type);
}

#[test]
fn the_largest_integers_and_nan_sort_before_missing_values() {
    let mut table = SoaNumericTable::new();
    table.push_optional("u", [None, Some(u64::MAX), Some(0), None, Some(u64::MAX)]).unwrap();
    table.push_optional("f", [Some(f64::NAN), None, Some(f64::INFINITY), None, Some(1.0)]).unwrap();
    table.push_column("row", vec![0_u8, 1, 2, 3, 4]).unwrap();
    assert_eq!(table.sort_by("u").unwrap().column::<u8>(2, ..).unwrap()[..], [2, 1, 4, 0, 3]);
    assert_eq!(table.sort_by("f").unwrap().column::<u8>(2, ..).unwrap()[..], [4, 2, 0, 1, 3]);
    let part = table.select_rows(1..).unwrap();
    assert_eq!(part.sort_by("u").unwrap().column::<u8>(2, ..).unwrap()[..], [2, 1, 4, 3]);
}

/// What is stored under gaps differs in all bits from the values.
#[test]
fn values_under_gaps_do_not_take_part_in_sorting() {
    let mut table = SoaNumericTable::new();
    let validity = Validity::from_flags(&[true, false, true, false]).unwrap();
    let feature = Feature::new(ElementType::U64).named("a");
    table.push_nullable(feature, vec![6_u64, 0, 5, u64::MAX], Some(validity)).unwrap();
    table.push_column("row", vec![0_u8, 1, 2, 3]).unwrap();
    assert_eq!(table.sort_by("a").unwrap().column::<u8>(1, ..).unwrap()[..], [2, 0, 1, 3]);
    table.set_missing_where("a", &[true; 4]).unwrap();
    assert_eq!(table.sort_by("a").unwrap().column::<u8>(1, ..).unwrap()[..], [0, 1, 2, 3]);
}

#[test]
fn random_rows_keep_their_gaps() {
    let rows = 400_u16;
    let mut table = SoaNumericTable::new();
    table.push_optional("a", (0..rows).map(|row| (row % 4 > 0).then_some(row))).unwrap();
    table.push_column("row", (0..rows).collect::<Vec<_>>()).unwrap();
    let check = |table: &dyn NumericTable| {
        let rows = table.column::<u16>(1, ..).unwrap();
        let expected: Vec<_> = rows.iter().map(|row| (row % 4 > 0).then_some(*row)).collect();
        assert_eq!(optional::<u16>(table, 0), expected);
    };
    check(&*table.sample_rows(50, 3).unwrap());
    check(&*table.shuffle_rows(4).unwrap());
    let (training, test) = table.split_rows(0.7, 5).unwrap();
    check(&*training);
    check(&*test);
    check(&*table.head(9).unwrap());
    check(&*table.tail(9).unwrap());
}

#[test]
fn missing_values_are_a_class_of_their_own_when_rows_are_split() {
    let classes = (0..60).map(|row| match row % 6 {
        0..3 => Some(1.0_f32),
        3 => Some(f32::NAN),
        _ => None,
    });
    let mut table = SoaNumericTable::new();
    table.push_optional("class", classes).unwrap();
    let (training, test) = table.split_rows_by("class", 0.5, 9).unwrap();
    for part in [training, test] {
        let values = optional::<f32>(&*part, 0);
        let count = |is: fn(&Option<f32>) -> bool| values.iter().filter(|value| is(value)).count();
        assert_eq!(count(|value| value.is_none()), 10);
        assert_eq!(count(|value| value.is_some_and(f32::is_nan)), 5);
        assert_eq!(count(|value| *value == Some(1.0)), 15);
    }
}

#[test]
fn a_nullable_column_stands_beside_a_table() {
    let table = mixed();
    let validity = Validity::from_flags(&[true, false, true, true, false]).unwrap();
    let feature = Feature::new(ElementType::F64).named("age");
    let wide = table.with_nullable(feature.clone(), vec![1_i16, 2, 3, 4, 5], Some(validity.clone())).unwrap();
    assert_eq!(optional::<i16>(&wide, 3), [Some(1), None, Some(3), Some(4), None]);
    assert_eq!(optional::<i64>(&wide, 0), [Some(BIG), None, Some(-7), None, Some(0)]);
    let owned = wide.to_table().unwrap();
    assert_eq!(optional::<i16>(&*owned, 3), [Some(1), None, Some(3), Some(4), None]);
    // One of the same name is replaced, gaps and all.
    let replaced = table.with_nullable(feature.named("share"), vec![0_u8; 5], Some(validity.clone())).unwrap();
    assert_eq!(optional::<u8>(&replaced, 2), [Some(0), None, Some(0), Some(0), None]);
    let plain = table.with_column("count", vec![1_u8; 5]).unwrap();
    assert!(!plain.dictionary().feature(0).unwrap().nullable && plain.missing_count(0).unwrap() == 0);
    let short = table.with_nullable(Feature::new(ElementType::U8), vec![1_u8; 4], Some(validity)).unwrap_err();
    assert_eq!(short.value.len(), 4);
    let validity = Validity::all_missing(4).unwrap();
    let short = table.with_nullable(Feature::new(ElementType::U8), vec![1_u8; 5], Some(validity)).unwrap_err();
    assert_error!(Err::<(), _>(short.error), ErrorKind::LengthMismatch { expected: 5, actual: 4 });
}

#[test]
fn tables_side_by_side_keep_their_gaps() {
    let (one, other) = (mixed(), mixed());
    let columns = other.select_columns(["share"]).unwrap();
    let both = one.hstack(&[&columns]).unwrap();
    assert_eq!(optional::<f32>(&both, 3), optional::<f32>(&one, 2));
    let owned = both.to_columns().unwrap();
    assert_eq!(optional::<f32>(&owned, 3), optional::<f32>(&one, 2));
    assert_eq!(optional::<i64>(&owned, 0), optional::<i64>(&one, 0));
}

fn words<T: Element>(labels: [&str; 2], values: &[Option<T>]) -> SoaNumericTable {
    let categories = Categories::from_labels(labels).unwrap();
    let feature = Feature::new(T::TYPE).named("word").categorical(categories);
    let validity = Validity::from_flags(&values.iter().map(Option::is_some).collect::<Vec<_>>()).unwrap();
    let stored: Vec<T> = values.iter().map(|value| value.unwrap_or_default()).collect();
    let mut table = SoaNumericTable::new();
    table.push_nullable(feature, AnyArray::from(stored), Some(validity)).unwrap();
    table
}

#[test]
fn a_missing_category_stays_missing_when_labels_are_unified() {
    let one = words(["red", "blue"], &[Some(0_u8), None, Some(1)]);
    let other = words(["green", "red"], &[None, Some(1_u8), Some(0)]);
    let all = one.vstack_unified(&[&other]).unwrap();
    assert_eq!(optional::<u8>(&all, 0), [Some(0), None, Some(1), None, Some(0), Some(2)]);
    // Floats: NaN is not missing.
    let floats = words(["green", "red"], &[Some(f32::NAN), None, Some(1.0)]);
    let all = one.vstack_unified(&[&floats]).unwrap();
    let found = optional::<f32>(&all, 0);
    assert_eq!(found[..3], [Some(0.0), None, Some(1.0)]);
    assert!(found[3].unwrap().is_nan());
    assert_eq!(found[4..], [None, Some(0.0)]);
    // A value that is no category is named by its row.
    let wrong = words(["green", "red"], &[None, Some(1_u8), Some(7)]);
    assert_error!(one.vstack_unified(&[&wrong]).map(drop), ErrorKind::ValueNotAllowed { row: 5, .. });
    // The value under a gap is not a category, and nobody minds.
    let mut under = SoaNumericTable::new();
    let categories = Categories::from_labels(["green", "red"]).unwrap();
    let feature = Feature::new(ElementType::U8).named("word").categorical(categories);
    let validity = Validity::from_flags(&[false, true]).unwrap();
    under.push_nullable(feature, vec![99_u8, 0], Some(validity)).unwrap();
    assert_eq!(optional::<u8>(&one.vstack_unified(&[&under]).unwrap(), 0)[3..], [None, Some(2)]);
}

#[test]
fn a_gap_is_printed_as_null_and_nan_as_nan() {
    let mut table = SoaNumericTable::new();
    table.push_optional("count", [Some(10_i64), None]).unwrap();
    table.push_optional("share", [None, Some(0.5_f32)]).unwrap();
    table.push_optional("x", [Some(f64::NAN), None]).unwrap();
    let word = Feature::new(ElementType::U8).named("word").categorical(Categories::from_labels(["red"]).unwrap());
    table.push_nullable(word, vec![0_u8, 0], Some(Validity::from_flags(&[true, false]).unwrap())).unwrap();
    let expected = "
2 x 4 mixed, column major
   count  share     x        word
                       1 category
0     10   null   NaN         red
1   null    0.5  null        null
";
    assert_eq!(table.to_string(), expected.trim_matches('\n'));
    let view = table.select_rows(1..).unwrap();
    assert!(view.to_string().ends_with("0   null    0.5  null        null"), "{view}");
    let empty = table.filter_rows(&[false, false]).unwrap();
    assert!(!empty.to_string().contains("null"));
}
