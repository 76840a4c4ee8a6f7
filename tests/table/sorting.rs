//! Rows sorted by columns, beside a stable sort by comparison.

use std::cmp::Ordering;

use numeric_table::prelude::*;
use numeric_table::{AnyArray, SoaNumericTable, dictionary::Categories, table::SortKey};
use test_support::bits::{Random, from_bits, is_nan, special_values};
use test_support::for_each_element;
use test_support::results::{kinds, with_any_threads};
use test_support::tables::{LAYOUTS, huge, shape};

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
    let mut outlier: Vec<i64> = (0..count).map(|_| random.below(huge(40)) as i64).collect();
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

/// The rows in the order of several columns of one type, by a stable sort.
fn expected_by<T: Element>(columns: &[&[T]], is_descending: &[bool]) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..columns[0].len() as u32).collect();
    rows.sort_by(|&one, &other| {
        columns.iter().zip(is_descending).fold(Ordering::Equal, |found, (column, &is_descending)| {
            let (one, other) = (column[one as usize], column[other as usize]);
            let own = match is_descending && !is_nan(one) && !is_nan(other) {
                true => compare(other, one),
                false => compare(one, other), // NaN last, also here
            };
            found.then(own)
        })
    });
    rows
}

#[test]
fn several_columns_in_both_directions_are_sorted_like_a_stable_sort() {
    fn of_type<T: Element>() {
        let (mut random, special) = (Random::new(21), special_values::<T>());
        for count in [0, 1, 2, 200, 3000] {
            let mut few = || -> Vec<T> { (0..count).map(|_| special[random.below(special.len())]).collect() };
            let (a, b, c) = (few(), few(), few());
            let places: Vec<u32> = (0..count as u32).collect();
            let columns = [
                ("a", AnyArray::from(a.clone())),
                ("b", b.clone().into()),
                ("c", c.clone().into()),
                ("place", places.into()),
            ];
            let table = SoaNumericTable::from_columns(columns).unwrap();
            for bits in 0..8 {
                let is_descending = [0, 1, 2].map(|bit| bits >> bit & 1 == 1);
                let keys = [0, 1, 2].map(|key| SortKey::new(["a", "b", "c"][key]).descending(is_descending[key]));
                for count in 1..=3 {
                    let sorted = with_any_threads(|| {
                        table.sort_by_keys(&keys[..count]).unwrap().column::<u32>(3, ..).unwrap().to_vec()
                    });
                    let expected = expected_by(&[&a[..], &b, &c][..count], &is_descending[..count]);
                    assert!(sorted == expected, "{count} keys {is_descending:?} of {}", T::TYPE);
                }
            }
        }
    }
    for_each_element!(of_type);
}

#[test]
fn missing_values_are_last_in_both_directions_and_equal_among_each_other() {
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [None, Some(i64::MIN), Some(i64::MAX), None, Some(i64::MIN)]).unwrap();
    table.push_optional("b", [Some(1.0), Some(f64::NAN), Some(2.0), None, Some(3.0)]).unwrap();
    table.push_column("place", vec![0_u8, 1, 2, 3, 4]).unwrap();
    let by =
        |keys: &[SortKey<&str>]| table.sort_by_keys(keys).unwrap().column_named::<u8>("place", ..).unwrap().to_vec();
    assert_eq!(by(&[SortKey::new("a")]), [1, 4, 2, 0, 3]);
    assert_eq!(by(&[SortKey::new("a").descending(true)]), [2, 1, 4, 0, 3]);
    assert_eq!(by(&[SortKey::new("b").descending(true)]), [4, 2, 0, 1, 3]); // NaN, then missing
    assert_eq!(by(&[SortKey::new("a"), SortKey::new("b")]), [4, 1, 2, 0, 3]);
    assert_eq!(by(&[SortKey::new("b").descending(true), SortKey::new("a")]), [4, 2, 0, 1, 3]);
    assert_eq!(by(&[]), [0, 1, 2, 3, 4]);
    assert!(table.sort_by_keys(&[SortKey::new("c")]).is_err());
}

#[test]
fn categories_are_sorted_by_their_labels_on_request() {
    let labels = Categories::from_labels(["b", "a", "c"]).unwrap();
    fn of_type<T: Element>(values: Vec<T>, labels: &Categories) {
        let feature = Feature::new(T::TYPE).named("word").categorical(labels.clone());
        let mut table = SoaNumericTable::new();
        let count = values.len() as u8;
        table.push_feature(feature, values).unwrap();
        table.push_column("place", (0..count).collect::<Vec<u8>>()).unwrap();
        let by =
            |key: SortKey<&str>| table.sort_by_keys(&[key]).unwrap().column_named::<u8>("place", ..).unwrap().to_vec();
        let key = SortKey::new("word");
        assert_eq!(by(key), [1, 3, 2, 0]);
        assert_eq!(by(key.by_label(true)), [2, 1, 3, 0]);
        assert_eq!(by(key.by_label(true).descending(true)), [0, 1, 3, 2]);
    }
    of_type(vec![2_u8, 0, 1, 0], &labels);
    of_type(vec![2_i64, 0, 1, 0], &labels);
    of_type(vec![2.0_f64, 0.0, 1.0, 0.0], &labels);
    // Values that are not categories come after these, and NaN is the last.
    let table = SoaNumericTable::from_columns([("word", vec![0.5, f64::NAN, 1.0, -1.0, 9.0])]).unwrap();
    let mut table = table;
    table
        .set_dictionary([Feature::new(ElementType::F64).named("word").categorical(labels)].into_iter().collect())
        .unwrap();
    let sorted = table.sort_by_keys(&[SortKey::new(0).by_label(true)]).unwrap();
    let sorted = sorted.column::<f64>(0, ..).unwrap();
    assert_eq!(sorted[..4], [1.0, 0.5, -1.0, 9.0]);
    assert!(sorted[4].is_nan());
}
