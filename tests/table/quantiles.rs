//! Quantiles, exact and of sketches, beside sorted columns.

use numeric_table::{
    Partial,
    prelude::*,
    statistics::{BasicStatistics, QuantileMethod, QuantileSketch, Quantiles, StatisticsOptions},
};
use proptest::prelude::*;
use test_support::bits::Random;
use test_support::results::kinds;
use test_support::tables::{LAYOUTS, assert_error, huge, numbered, shape};
use test_support::{SmallNumber, for_each_element};

const METHODS: [QuantileMethod; 5] = [
    QuantileMethod::Linear,
    QuantileMethod::Lower,
    QuantileMethod::Higher,
    QuantileMethod::Nearest,
    QuantileMethod::Midpoint,
];

fn column_of(values: &[f64]) -> HomogenNumericTable<f64> {
    HomogenNumericTable::from_array(values.to_vec(), shape(values.len(), 1)).unwrap()
}

/// A quantile by its definition, of a sorted column without NaN.
fn by_definition(sorted: &[f64], quantile: f64, method: QuantileMethod) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let steps = quantile * last as f64;
    let (lower, higher) = (sorted[steps.floor() as usize], sorted[steps.ceil() as usize]);
    match method {
        QuantileMethod::Lower => lower,
        QuantileMethod::Higher => higher,
        QuantileMethod::Nearest => sorted[steps.round_ties_even() as usize],
        QuantileMethod::Midpoint if steps.fract() > 0.0 => (lower + higher) / 2.0,
        QuantileMethod::Midpoint => lower,
        _ => lower + (higher - lower) * steps.fract(),
    }
}

#[test]
fn quantiles_are_those_of_numpy() {
    // numpy.nanquantile([3, 1, nan, 4, 1, 5, 9, 2, 6], [0, .1, .25, .5, 0.9, 1], method=...)
    let table = column_of(&[3.0, 1.0, f64::NAN, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]);
    let quantiles = Quantiles::compute(&table, &[0.0, 0.1, 0.25, 0.5, 0.9, 1.0]).unwrap();
    let of = |method| quantiles.clone().method(method).column(0).unwrap();
    let linear = of(QuantileMethod::Linear);
    for (found, expected) in linear.iter().zip([1.0, 1.0, 1.75, 3.5, 6.9, 9.0]) {
        assert!((found - expected).abs() < 1e-14, "{linear:?}");
    }
    assert_eq!(of(QuantileMethod::Lower), [1.0, 1.0, 1.0, 3.0, 6.0, 9.0]);
    assert_eq!(of(QuantileMethod::Higher), [1.0, 1.0, 2.0, 4.0, 9.0, 9.0]);
    assert_eq!(of(QuantileMethod::Nearest), [1.0, 1.0, 2.0, 4.0, 6.0, 9.0]);
    assert_eq!(of(QuantileMethod::Midpoint), [1.0, 1.0, 1.5, 3.5, 7.5, 9.0]);
    assert_eq!((quantiles.count(0).unwrap(), quantiles.nan_count(0).unwrap()), (8, 1));
}

#[test]
fn columns_of_every_type_and_layout_have_quantiles() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            let quantiles = Quantiles::compute(&numbered::<T>(5, 11, layout), &[0.5, 0.0, 1.0]).unwrap();
            for column in 0..11 {
                let first = column as f64 + 1.0;
                assert_eq!(quantiles.column(column).unwrap(), [first + 22.0, first, first + 44.0]);
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn nan_is_left_out_and_infinities_and_zeros_are_in_order() {
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    let of = |values: &[f64], quantile: f64| {
        Quantiles::compute(&column_of(values), &[quantile]).unwrap().value(0, 0).unwrap()
    };
    assert!(of(&[nan, nan], 0.5).is_nan() && of(&[], 0.5).is_nan());
    assert_eq!(of(&[nan, -nan, 7.0], 0.3), 7.0);
    assert_eq!((of(&[infinity, 1.0, -infinity], 0.5), of(&[infinity, infinity], 0.5)), (1.0, infinity));
    assert!(of(&[-infinity, infinity], 0.5).is_nan()); // between them is nothing
    assert_eq!((of(&[1.0, infinity], 0.5), of(&[1.0, infinity], 0.0)), (infinity, 1.0));
    assert_eq!(of(&[f64::MAX, f64::MIN], 0.5), 0.0);
    assert_eq!(of(&[f64::MAX, f64::MAX], 0.3), f64::MAX);
    assert_eq!(of(&[0.0, -0.0], 0.0).to_bits(), (-0.0_f64).to_bits());
}

#[test]
fn many_quantiles_at_once_are_those_of_one_after_another_on_any_number_of_threads() {
    let mut random = Random::new(2);
    let values: Vec<f32> = (0..60_000 * 9).map(|_| random.below(50_000) as f32 - 25_000.0).collect();
    let table = HomogenNumericTable::from_array(values, shape(60_000, 9)).unwrap();
    let quantiles: Vec<f64> = (0..200).map(|at| f64::from(at * 37 % 200) / 199.0).collect();
    let at_once = Quantiles::compute(&table, &quantiles).unwrap();
    let by_columns = Quantiles::compute(&table.to_layout(DataLayout::ColumnMajor).unwrap(), &quantiles).unwrap();
    for column in 0..9 {
        let mut sorted: Vec<f64> = table.column::<f64>(column, ..).unwrap().to_vec();
        sorted.sort_by(f64::total_cmp);
        for method in METHODS {
            let found = at_once.clone().method(method).column(column).unwrap();
            assert_eq!(by_columns.clone().method(method).column(column).unwrap(), found);
            for (&quantile, found) in quantiles.iter().zip(found) {
                let expected = by_definition(&sorted, quantile, method);
                assert!((found - expected).abs() <= 1e-9, "{quantile} {method:?}: {found} {expected}");
            }
        }
    }
    let medians = at_once.to_table().unwrap();
    assert_eq!(medians.shape(), shape(200, 9));
    assert_eq!(medians.value::<f64>(17, 4).unwrap(), at_once.value(4, 17).unwrap());
}

#[test]
fn errors_of_quantiles_name_what_is_wrong() {
    let table = numbered::<u8>(4, 2, DataLayout::RowMajor);
    for quantile in [-0.1, 1.000001, f64::NAN, f64::INFINITY] {
        assert_error!(Quantiles::compute(&table, &[0.5, quantile]), ErrorKind::ParameterOutOfRange { .. }, "quantile");
        assert_error!(
            QuantileSketch::compute(&table).unwrap().quantile(0, quantile),
            ErrorKind::ParameterOutOfRange { .. },
            "quantile"
        );
    }
    let quantiles = Quantiles::compute(&table, &[0.5]).unwrap();
    assert_error!(quantiles.column(2), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
    assert_error!(quantiles.count(2), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
    assert_error!(quantiles.nan_count(9), ErrorKind::ColumnOutOfRange { column: 9, column_count: 2 });
    assert_error!(quantiles.value(2, 0), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
    assert_error!(
        quantiles.value(0, 1),
        ErrorKind::OutOfRange { what: "quantiles", range, count: 1, .. } if *range == (1..2)
    );
    let empty = HomogenNumericTable::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(Quantiles::compute(&empty, &[0.5]), ErrorKind::NotAllocated);
    assert_error!(QuantileSketch::compute(&empty), ErrorKind::NotAllocated);
    let many = HomogenNumericTable::<u8>::full(shape(0, huge(60)), 0).unwrap();
    assert_error!(Quantiles::compute(&many, &[0.5]), ErrorKind::OutOfMemory);
    assert_error!(QuantileSketch::compute(&many), ErrorKind::OutOfMemory);
    assert!(Quantiles::compute(&table, &[]).unwrap().column(1).unwrap().is_empty());
}

// --- sketches ------------------------------------------------------------------------------------------------------

/// Checks what a sketch promises of one column: how far quantiles and ranks are off.
#[track_caller]
fn check(sketch: &QuantileSketch, column: usize, values: &[f64]) {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let (count, error) = (sorted.len() as u64, sketch.rank_error(column).unwrap());
    assert_eq!(
        (sketch.count(column).unwrap(), sketch.nan_count(column).unwrap()),
        (count, values.len() as u64 - count)
    );
    if count == 0 {
        assert!(sketch.quantile(column, 0.5).unwrap().is_nan());
        assert_eq!(sketch.extremes(column).unwrap(), None);
        return;
    }
    let extremes = (sorted[0], sorted[sorted.len() - 1]);
    assert_eq!(sketch.extremes(column).unwrap(), Some(extremes));
    let not_above = |value: f64| sorted.partition_point(|other| other.total_cmp(&value).is_le()) as u64;
    let below = |value: f64| sorted.partition_point(|other| other.total_cmp(&value).is_lt()) as u64;
    let quantiles: Vec<f64> = (0..=100).map(|percent| f64::from(percent) / 100.0).collect();
    let found = sketch.quantiles(column, &quantiles).unwrap();
    assert_eq!((found[0], found[100]), extremes);
    for (&quantile, &value) in quantiles.iter().zip(&found) {
        let rank = ((quantile * count as f64).ceil() as u64).max(1);
        assert!(not_above(value) + error >= rank && below(value) < rank + error, "{quantile}: {value}, error {error}");
        let estimated = sketch.rank(column, value).unwrap();
        assert!(estimated.abs_diff(not_above(value)) <= error, "{value}: rank {estimated}, error {error}");
    }
    assert_eq!(sketch.rank(column, f64::NAN).unwrap(), count);
}

/// The error that is stated on the page, with what the beginning adds.
fn stated(count: usize, capacity: usize) -> f64 {
    let halvings = (count as f64 / capacity as f64).max(1.0).log2() + 2.0;
    count as f64 * halvings / (2 * capacity) as f64 + 1.0
}

#[test]
fn sketches_keep_what_they_promise_in_any_order_of_values() {
    let mut random = Random::new(9);
    for count in [1, 2, 100, 2047, 2048, 2049, 40_000, 150_000] {
        let shuffled: Vec<f64> = (0..count).map(|_| random.below(huge(40)) as f64).collect();
        let ascending: Vec<f64> = (0..count).map(|value| value as f64).collect();
        let descending: Vec<f64> = ascending.iter().rev().copied().collect();
        let saw: Vec<f64> = (0..count).map(|value| (value % 2048) as f64).collect();
        let zigzag: Vec<f64> =
            (0..count).map(|value| if value % 2 == 0 { value as f64 } else { -(value as f64) }).collect();
        for values in [shuffled, ascending, descending, saw, zigzag, vec![5.0; count]] {
            let whole = QuantileSketch::compute(&column_of(&values)).unwrap();
            let mut updated = QuantileSketch::new(1).unwrap();
            values.chunks(777).for_each(|rows| updated.update_values(rows).unwrap());
            for sketch in [whole, updated] {
                check(&sketch, 0, &values);
                let error = sketch.rank_error(0).unwrap();
                assert!(error as f64 <= stated(count, QuantileSketch::CAPACITY), "{count}: {error}");
                assert!(count >= 2048 || error == 0);
            }
        }
    }
}

proptest! {
    #[test]
    fn sketches_keep_what_they_promise_however_they_are_merged(
        capacity in 0_usize..40,
        parts in prop::collection::vec(prop::collection::vec((-50_i32..50, 0_u8..20), 0..200), 1..12),
    ) {
        let value = |&(value, kind): &(i32, u8)| match kind {
            0 => f64::NAN,
            1 => f64::NEG_INFINITY,
            2 => -0.0,
            _ => f64::from(value),
        };
        let all: Vec<f64> = parts.iter().flatten().map(value).collect();
        let mut sketches = Vec::new();
        for part in &parts {
            let mut sketch = QuantileSketch::with_capacity(1, capacity).unwrap();
            let values: Vec<f64> = part.iter().map(value).collect();
            sketch.update_values(&values).unwrap();
            check(&sketch, 0, &values);
            sketches.push(sketch);
        }
        while let Some(mut last) = sketches.pop() {
            match sketches.pop() {
                Some(other) => {
                    last.merge(&other).unwrap();
                    sketches.insert(0, last); // in pairs, not one after another
                }
                None => {
                    check(&last, 0, &all);
                    let least = capacity.max(2).next_multiple_of(2);
                    let error = last.rank_error(0).unwrap();
                    prop_assert!(error as f64 <= stated(all.len(), least), "{error} of {}", all.len());
                }
            }
        }
    }
}

#[test]
fn the_same_calls_make_the_same_sketch_on_any_number_of_threads() {
    let mut random = Random::new(4);
    let values: Vec<f32> = (0..70_000 * 10).map(|_| random.below(1 << 24) as f32).collect();
    let table = HomogenNumericTable::from_array(values, shape(70_000, 10)).unwrap();
    let state = |table: &dyn NumericTable| format!("{:?}", QuantileSketch::compute(table).unwrap());
    let expected = state(&table);
    for layout in LAYOUTS {
        assert!(state(&table.convert::<f64>().unwrap().to_layout(layout).unwrap()) == expected);
    }
    #[cfg(feature = "rayon")]
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| state(&table)) == expected);
    }
    let sketch = QuantileSketch::compute(&table).unwrap();
    for column in 0..10 {
        check(&sketch, column, &table.column::<f64>(column, ..).unwrap());
    }
    let mut updated = QuantileSketch::new(10).unwrap();
    updated.update_values(table.as_slice().unwrap()).unwrap();
    assert!(format!("{updated:?}") == expected);
}

#[test]
fn sketches_that_do_not_fit_are_refused_and_nothing_is_added() {
    let table = numbered::<u8>(4, 2, DataLayout::RowMajor);
    let mut sketch = QuantileSketch::compute(&table).unwrap();
    assert_error!(sketch.update_values(&[1.0]), ErrorKind::NotWholeRows { values: 1, .. });
    assert_error!(sketch.merge(&QuantileSketch::new(3).unwrap()), ErrorKind::LengthMismatch { expected: 2, actual: 3 });
    let finer = QuantileSketch::with_capacity(2, 5000).unwrap();
    assert_error!(sketch.merge(&finer), ErrorKind::NotCombinable { .. }, "sketch");
    let other = numbered::<u8>(4, 3, DataLayout::RowMajor);
    assert_error!(
        sketch.update_with(&other, StatisticsOptions::new()),
        ErrorKind::LengthMismatch { expected: 2, actual: 3 }
    );
    for found in [sketch.rank(2, 0.0), sketch.rank_error(2), sketch.count(2), sketch.nan_count(2)] {
        assert_error!(found, ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
    }
    assert_error!(sketch.extremes(2), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
    assert_eq!((sketch.row_count(), sketch.column_count(), sketch.quantile(1, 1.0).unwrap()), (4, 2, 8.0));
    assert_error!(QuantileSketch::new(usize::MAX), ErrorKind::OutOfMemory);
    // A capacity beyond all memory costs nothing before there are as many values.
    let mut exact = QuantileSketch::with_capacity(1, usize::MAX).unwrap();
    exact.update_values(&[3_u8, 1, 2]).unwrap();
    assert_eq!(exact.quantile(0, 0.5).unwrap(), 2.0);
}

#[test]
fn sketches_of_the_largest_capacity_are_merged() {
    let mut sketch = QuantileSketch::with_capacity(1, usize::MAX).unwrap();
    sketch.update_values(&[3.0, 1.0, 2.0]).unwrap();
    sketch.merge(&sketch.clone()).unwrap();
    assert_eq!((sketch.quantile(0, 0.5).unwrap(), sketch.rank_error(0).unwrap()), (2.0, 0));
}

#[test]
fn quantiles_and_statistics_are_found_by_the_names_of_columns() {
    let names = ["length", "width"].map(|name| Feature::new(ElementType::F64).named(name));
    let table = HomogenNumericTable::from_rows(&[[1.0, 10.0], [2.0, 30.0], [3.0, 20.0]]).unwrap();
    let table = table.with_dictionary(names.into_iter().collect()).unwrap();
    let exact = Quantiles::compute(&table, &[0.5, 1.0]).unwrap();
    assert_eq!((exact.column("width").unwrap(), exact.value("length", 0).unwrap()), (vec![20.0, 30.0], 2.0));
    assert_eq!((exact.count("width").unwrap(), exact.nan_count(1).unwrap()), (3, 0));
    assert_error!(exact.column("height"), ErrorKind::UnknownName { what: "column", .. });
    assert_error!(exact.column(2), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
    let mut sketch = QuantileSketch::new(2).unwrap();
    assert_error!(sketch.quantile("width", 0.5), ErrorKind::UnknownName { what: "column", .. });
    sketch.merge(&QuantileSketch::compute(&table).unwrap()).unwrap();
    let sketch = QuantileSketch::from_bytes(&sketch.to_bytes().unwrap()).unwrap();
    assert_eq!((sketch.quantile("width", 0.5).unwrap(), sketch.extremes("length").unwrap()), (20.0, Some((1.0, 3.0))));
    let computed = QuantileSketch::new(2).unwrap().compute_over(&table).unwrap();
    assert_eq!(computed.quantiles("length", &[0.0, 1.0]).unwrap(), [1.0, 3.0]);
    let statistics = BasicStatistics::compute(&table).unwrap();
    assert_eq!((statistics.column("width").unwrap().mean(), statistics.column(0).unwrap().mean()), (20.0, 2.0));
}

/// Compares quantiles of large columns with those of the sorted columns, bit for bit.
#[track_caller]
fn check_large(what: &str, columns: &[Vec<f64>], probabilities: &[f64]) {
    let (rows, width) = (columns[0].len(), columns.len());
    let table = HomogenNumericTable::from_fn(shape(rows, width), |row, column| columns[column][row]).unwrap();
    for layout in LAYOUTS {
        let table = table.to_layout(layout).unwrap();
        let of = || Quantiles::compute(&table, probabilities).unwrap();
        #[cfg(feature = "rayon")]
        let results = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(of)
        });
        #[cfg(not(feature = "rayon"))]
        let results = [of()];
        for found in results {
            for (column, values) in columns.iter().enumerate() {
                let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
                sorted.sort_by(f64::total_cmp);
                let counts = (found.count(column).unwrap(), found.nan_count(column).unwrap());
                assert_eq!(counts, (sorted.len() as u64, (rows - sorted.len()) as u64), "{what}");
                for method in [QuantileMethod::Lower, QuantileMethod::Higher] {
                    let found = found.clone().method(method).column(column).unwrap();
                    for (&found, &probability) in found.iter().zip(probabilities) {
                        let expected = by_definition(&sorted, probability, method);
                        assert!(
                            found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan()),
                            "{what}, {layout:?}, column {column}: {found} at {probability}, not {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn quantiles_of_many_rows_are_values_of_the_sorted_columns() {
    let (rows, mut random) = (70_001, Random::new(5));
    let mut column = |value: &mut dyn FnMut(usize, u64) -> f64| -> Vec<f64> {
        (0..rows).map(|row| value(row, random.next())).collect()
    };
    let columns = [
        column(&mut |_, bits| (bits >> 11) as f64),
        column(&mut |_, bits| f64::from_bits(bits)), // NaN of both signs and infinities, too
        column(&mut |row, _| row as f64),
        column(&mut |row, _| -(row as f64)),
        column(&mut |_, _| 2.5),
        column(&mut |_, bits| (bits & 1) as f64),
        column(&mut |_, bits| if bits & 1 == 0 { -0.0 } else { 0.0 }),
        column(&mut |row, _| (row * 7 % 251) as f64),
        column(&mut |row, bits| if row % 8 == 0 { bits as f64 } else { f64::NAN }),
        column(&mut |_, bits| if bits & 3 == 0 { -f64::NAN } else { (bits % 1000) as f64 }),
        column(&mut |_, bits| if bits & 1 == 0 { f64::NEG_INFINITY } else { f64::INFINITY }),
        vec![f64::NAN; rows],
        column(&mut |row, _| if row == 70_000 { 1.0 } else { f64::NAN }),
        // One block of rows is far from the others.
        column(&mut |row, bits| if row / 1024 == 30 { bits as f64 } else { (bits % 9) as f64 }),
    ];
    for probabilities in
        [&[0.25, 0.5, 0.75][..], &[0.0, 1.0], &[0.5], &[0.9, 0.1, 0.5, 0.5000001, 0.1, 0.999, 1e-9, 1.0]]
    {
        check_large("wide", &columns, probabilities);
    }
    check_large("one column", &columns[..1], &[0.25, 0.5, 0.75]);
    let many: Vec<Vec<f64>> =
        (0..35).map(|column| (0..rows).map(|row| (row * (column + 3) % 9973) as f64).collect()).collect();
    check_large("many columns", &many, &[0.3, 0.6]);
}

#[test]
fn quantiles_of_many_rows_of_every_type_are_the_same_in_every_kind() {
    fn check<T: Element>() {
        let (rows, mut random) = (66_000, Random::new(6));
        let values = random.values::<T>(2 * rows);
        let table = HomogenNumericTable::from_array(values, shape(rows, 2)).unwrap();
        let found = Quantiles::compute(&table, &[0.1, 0.5]).unwrap();
        for column in 0..2 {
            let mut sorted: Vec<f64> =
                table.column::<f64>(column, ..).unwrap().iter().copied().filter(|value| !value.is_nan()).collect();
            sorted.sort_by(f64::total_cmp);
            let lower = found.clone().method(QuantileMethod::Lower).column(column).unwrap();
            let expected = [0.1, 0.5].map(|probability| by_definition(&sorted, probability, QuantileMethod::Lower));
            assert_eq!(lower.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), expected.map(f64::to_bits));
        }
    }
    for_each_element!(check);
    let table =
        HomogenNumericTable::from_fn(shape(66_000, 3), |row, column| (row * (7 + column) % 1009) as f64).unwrap();
    let expected = Quantiles::compute(&table, &[0.25, 0.75]).unwrap().to_table().unwrap();
    for kind in kinds(&table) {
        assert_eq!(Quantiles::compute(&*kind, &[0.25, 0.75]).unwrap().to_table().unwrap(), expected);
    }
}
