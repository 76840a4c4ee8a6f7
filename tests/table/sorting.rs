//! Rows sorted by a column, beside a stable sort by comparison.

use std::cmp::Ordering;

use numeric_table::prelude::*;
use numeric_table::{AnyArray, SoaNumericTable};
use test_support::bits::{Random, from_bits, is_nan, special_values};
use test_support::for_each_element;
use test_support::results::{kinds, with_any_threads};
use test_support::tables::{LAYOUTS, shape};

/// The order of values: NaN last, and -0.0 equals 0.0.
fn compare<T: Element>(one: T, other: T) -> Ordering {
    one.partial_cmp(&other).unwrap_or_else(|| is_nan(one).cmp(&is_nan(other)))
}

fn expected<T: Element>(column: &[T]) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..column.len() as u32).collect();
    rows.sort_by(|&one, &other| compare(column[one as usize], column[other as usize])); // stable
    rows
}

#[track_caller]
fn check<T: Element>(column: &[T], what: &str) {
    let places: Vec<u32> = (0..column.len() as u32).collect();
    let columns = [("key", AnyArray::from(column.to_vec())), ("place", places.into())];
    let table = SoaNumericTable::from_columns(columns).unwrap();
    let sorted = with_any_threads(|| table.sort_by("key").unwrap().column::<u32>(1, ..).unwrap().to_vec());
    assert!(sorted == expected(column), "{} {} of {}", column.len(), what, T::TYPE);
}

#[test]
fn columns_of_every_type_and_length_are_sorted_like_a_stable_sort() {
    fn of_type<T: Element>() {
        let (mut random, special) = (Random::new(11), special_values::<T>());
        for count in [0, 1, 2, 3, 191, 192, 193, 500, 5000] {
            check(&random.values::<T>(count), "random values");
            let few: Vec<T> = (0..count).map(|_| special[random.below(special.len())]).collect();
            check(&few, "special values");
            let near: Vec<T> = (0..count).map(|_| from_bits(random.next() % 5)).collect();
            check(&near, "near values");
        }
    }
    for_each_element!(of_type);
}

#[test]
fn many_rows_are_sorted_by_several_threads_however_their_values_are_distributed() {
    let (count, mut random) = (300_000, Random::new(12));
    check(&random.values::<f64>(count), "random bits");
    check(&random.values::<i64>(count), "random bits");
    check(&random.values::<f32>(count), "random bits");
    let uniform: Vec<f64> = (0..count).map(|_| (random.next() >> 11) as f64).collect();
    check(&uniform, "uniform numbers");
    // The leading bits are those of one value; all others are in one run of them.
    let mut outlier: Vec<i64> = (0..count).map(|_| random.below(1 << 40) as i64).collect();
    outlier[count / 2] = i64::MIN;
    check(&outlier, "numbers with an outlier");
    let clusters: Vec<u64> = (0..count).map(|_| ((random.next() % 3) << 62) | (random.next() % 1000)).collect();
    check(&clusters, "clusters");
    let low: Vec<u64> = (0..count).map(|_| ((random.next() & 1) << 63) | (random.next() & 1)).collect();
    check(&low, "first and last bits");
    let mut ascending: Vec<f32> = (0..count).map(|row| (row / 3) as f32).collect();
    check(&ascending, "ascending numbers");
    ascending.reverse();
    check(&ascending, "descending numbers");
    check(&vec![f64::NAN; count], "NaN");
    check(&vec![7_u8; count], "equal values");
}

#[test]
fn every_kind_of_table_is_sorted() {
    let mut random = Random::new(13);
    let values: Vec<f64> = (0..3000).map(|_| (random.next() % 40) as f64 - 20.0).collect();
    for layout in LAYOUTS {
        let table = HomogenNumericTable::from_array(values.clone(), shape(1000, 3)).unwrap().to_layout(layout).unwrap();
        for column in 0..3 {
            let order = expected(&table.column::<f64>(column, ..).unwrap());
            for kind in kinds(&table) {
                let sorted = kind.sort_by(column).unwrap();
                for (at, &row) in order.iter().enumerate().step_by(7) {
                    let row = row as usize;
                    assert_eq!(
                        sorted.rows::<f64>(at..at + 1).unwrap()[..],
                        table.rows::<f64>(row..row + 1).unwrap()[..]
                    );
                }
            }
        }
    }
}

#[test]
fn classes_are_split_by_all_bits_of_their_values() {
    // Two values that differ in the last bit, and one far away: items have not all of their bits.
    let column: Vec<u64> = (0..300_000_u64).map(|row| if row == 5 { 1 << 63 } else { row & 1 }).collect();
    let table = SoaNumericTable::from_columns([("class", column)]).unwrap();
    let (training, test) = table.split_rows_by("class", 0.5, 3).unwrap();
    for part in [training, test] {
        let classes = part.column::<u64>(0, ..).unwrap();
        let ones = classes.iter().filter(|&&class| class == 1).count();
        assert!((75_000 - 1..=75_000).contains(&ones), "{ones}");
    }
}
