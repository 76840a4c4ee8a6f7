//! The distinct values of a column, beside a count in a map.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use numeric_table::dictionary::{Categories, TimeUnit};
use numeric_table::internal::distinct_values;
use numeric_table::prelude::*;
use numeric_table::{AnyArray, SoaNumericTable};
use test_support::bits::Random;
use test_support::results::{kinds, with_any_threads};

/// The values and their counts, the most frequent first.
fn expected(values: &[i64]) -> Vec<(i64, i64)> {
    let mut counts = BTreeMap::new();
    values.iter().for_each(|&value| *counts.entry(value).or_insert(0) += 1);
    let mut counts: Vec<(i64, i64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(value, count)| (Reverse(count), value));
    counts
}

fn found(table: &dyn NumericTable, column: usize) -> Vec<(i64, i64)> {
    let counts = table.value_counts(column).unwrap();
    assert_eq!(counts.column_count(), 2);
    let (values, counts) = (counts.column::<i64>(0, ..).unwrap(), counts.column::<i64>(1, ..).unwrap());
    values.iter().copied().zip(counts.iter().copied()).collect()
}

#[test]
fn values_are_counted_and_numbered() {
    let mut random = Random::new(31);
    for count in [0_usize, 1, 2, 100, 5000, 200_000] {
        for distinct in [1, 3, 1000, 8192, 100_000] {
            let near = (1 << 53) + 1; // beyond 2^53, where floats would merge them
            let values: Vec<i64> = (0..count).map(|_| near + random.below(distinct) as i64).collect();
            let table = SoaNumericTable::from_columns([("a", AnyArray::from(values.clone()))]).unwrap();
            let expected = expected(&values);
            assert!(with_any_threads(|| found(&table, 0)) == expected);
            let numbered = distinct_values(&table, "a").unwrap();
            assert_eq!(numbered.first_rows.len(), expected.len());
            assert!(numbered.first_rows.windows(2).all(|pair| values[pair[0]] < values[pair[1]]));
            for (row, &code) in numbered.codes.iter().enumerate() {
                let first = numbered.first_rows[code as usize];
                assert!(first <= row && values[first] == values[row]);
            }
        }
    }
}

/// The library hashes an integer by multiplying it with a constant. These integers all have the same hash.
#[test]
fn values_whose_hashes_collide_are_counted() {
    const INVERSE: u64 = 0xF1DE_83E1_9937_733D; // of 0x9E37_79B9_7F4A_7C15, modulo 2^64
    assert_eq!(INVERSE.wrapping_mul(0x9E37_79B9_7F4A_7C15), 1);
    let values: Vec<i64> = (0..50_000_u64).map(|row| (INVERSE.wrapping_mul(row % 5000) ^ 1 << 63) as i64).collect();
    let table = SoaNumericTable::from_columns([("a", AnyArray::from(values.clone()))]).unwrap();
    assert!(with_any_threads(|| found(&table, 0)) == expected(&values));
}

/// Gaps in a table that is counted in pieces, and whose values differ from piece to piece.
#[test]
fn missing_values_of_long_columns_are_counted() {
    let rows = 1_500_000;
    for distinct in [5, 20_000] {
        let value = |row: usize| (!row.is_multiple_of(3)).then_some((row / 100_000 + row % distinct) as i32);
        let mut table = SoaNumericTable::new();
        table.push_optional("a", (0..rows).map(value)).unwrap();
        let counts = with_any_threads(|| {
            let counts = table.value_counts_with_missing("a").unwrap();
            assert!(counts.is_missing(0, 0).unwrap());
            assert_eq!(counts.value::<i64>(0, 1).unwrap(), rows as i64 / 3);
            found(&table, 0)
        });
        let present: Vec<i64> = (0..rows).filter_map(value).map(i64::from).collect();
        assert!(counts == expected(&present));
        let numbered = distinct_values(&table, "a").unwrap();
        for (row, &code) in numbered.codes.iter().enumerate() {
            let first = usize::try_from(code).ok().map(|code| numbered.first_rows[code]);
            assert_eq!(first.and_then(value), value(row));
            assert!(first.is_none_or(|first| first <= row));
        }
    }
}

#[test]
fn every_kind_of_table_counts() {
    let table =
        HomogenNumericTable::from_fn(Shape { rows: 300, columns: 3 }, |row, column| ((row * row + column) % 7) as f64)
            .unwrap();
    for kind in kinds(&table) {
        for column in 0..3 {
            let values: Vec<i64> = table.column::<i64>(column, ..).unwrap().to_vec();
            assert_eq!(found(&*kind, column), expected(&values));
        }
    }
}

#[test]
fn missing_values_and_nan_are_left_out_or_counted_apart() {
    let mut table = SoaNumericTable::new();
    let (nan, negative) = (f64::NAN, f64::from_bits(0xFFF8_0000_0000_0001));
    table.push_optional("a", [Some(nan), None, Some(-0.0), Some(0.0), None, Some(negative), None, Some(1.0)]).unwrap();
    let counts = table.value_counts("a").unwrap();
    assert_eq!(counts.column::<f64>(0, ..).unwrap()[..], [0.0, 1.0]);
    assert_eq!(counts.column_named::<i64>("count", ..).unwrap()[..], [2, 1]);
    let all = table.value_counts_with_missing("a").unwrap();
    assert_eq!(all.column_named::<i64>("count", ..).unwrap()[..], [3, 2, 2, 1]);
    assert!(all.is_missing(0, 0).unwrap() && !all.is_missing(2, 0).unwrap());
    assert!(all.column::<f64>(0, 2..3).unwrap()[0].is_nan());
    let numbered = distinct_values(&table, 0).unwrap();
    assert_eq!((&numbered.codes[..], &numbered.first_rows[..]), (&[-1, -1, 0, 0, -1, -1, -1, 1][..], &[2, 7][..]));

    let mut empty = SoaNumericTable::new();
    empty.push_optional::<i32>("a", [None, None]).unwrap();
    assert_eq!(empty.value_counts("a").unwrap().row_count(), 0);
    assert_eq!(empty.value_counts_with_missing("a").unwrap().column::<i64>(1, ..).unwrap()[..], [2]);
}

#[test]
fn columns_keep_their_metadata_and_labels_are_in_their_order() {
    let city =
        Feature::new(ElementType::U8).named("city").categorical(Categories::from_labels(["b", "a", "c"]).unwrap());
    let day = Feature::new(ElementType::I32).named("count").time(TimeUnit::Days);
    let mut table = SoaNumericTable::new();
    table.push_feature(city.clone(), vec![0_u8, 1, 2, 2]).unwrap();
    table.push_feature(day.clone(), vec![7, 7, 8, 9]).unwrap();
    let cities = table.value_counts("city").unwrap();
    assert_eq!(cities.column::<u8>(0, ..).unwrap()[..], [2, 1, 0]); // c, then a and b
    assert_eq!(cities.dictionary().feature(0).unwrap(), &city);
    let days = table.value_counts("count").unwrap();
    assert_eq!(days.dictionary().feature(0).unwrap(), &day);
    assert!(days.dictionary().names().eq([Some("count"), Some("counts")]));
    assert!(table.value_counts("town").is_err());
    assert!(table.value_counts(2).is_err());
}
