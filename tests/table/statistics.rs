//! Statistics of columns: against NIST's certified values, against exact arithmetic, and whatever order the work is
//! done in.
//!
//! NIST's data sets are in `data/nist`, or computed here by their definitions.

use std::path::Path;

use numeric_table::{
    prelude::*,
    statistics::{BasicStatistics, ColumnStatistics},
};
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, assert_error, huge, numbered, shape};
use test_support::{SmallNumber, for_each_element};

type Table<T> = HomogenNumericTable<T>;

fn of<T: Element>(table: &Table<T>) -> BasicStatistics {
    BasicStatistics::compute(table).unwrap()
}

fn of_column(values: &[f64]) -> ColumnStatistics {
    *of(&Table::from_array(values.to_vec(), shape(values.len(), 1)).unwrap()).column(0).unwrap()
}

/// Decimal digits that agree; at most 15, as many as certified values have.
fn digits(found: f64, expected: f64) -> f64 {
    if found == expected { 15.0 } else { -((found - expected) / expected).abs().log10() }.min(15.0)
}

/// Mean and variance of a sample, computed with integers of 128 bits, which the values have to be small enough for.
fn exact(values: &[f64]) -> (f64, f64) {
    let is_whole = |scale: f64| values.iter().all(|value| (value * scale).fract() == 0.0);
    let scale = (0..100).map(|power| f64::from(power).exp2()).find(|&scale| is_whole(scale)).unwrap();
    let scaled: Vec<i128> = values.iter().map(|value| (value * scale) as i128).collect();
    let count = scaled.len() as i128;
    let (sum, first) = (scaled.iter().sum::<i128>(), scaled[0]);
    let (mut offsets, mut squares) = (0_i128, 0_i128);
    for value in &scaled {
        offsets += value - first;
        squares += (value - first) * (value - first);
    }
    let centered = (count * squares - offsets * offsets) as f64 / count as f64;
    (sum as f64 / count as f64 / scale, centered / (count - 1) as f64 / scale / scale)
}

// --- NIST ----------------------------------------------------------------------------------------------------------

fn from_file(name: &str) -> Vec<f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/nist").join(name);
    std::fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

/// A value, and then two others in turn.
fn alternating(first: f64, others: [f64; 2]) -> Vec<f64> {
    std::iter::once(first).chain(others.into_iter().cycle().take(1000)).collect()
}

/// Name, values, certified mean and standard deviation, and how many digits of the latter can be reached: where values
/// do not stand in `f64` as they are, their own rounding costs some.
fn nist() -> Vec<(&'static str, Vec<f64>, f64, f64, f64)> {
    vec![
        ("Lew", from_file("lew.txt"), -177.435, 277.332168044316, 14.5),
        ("Lottery", from_file("lottery.txt"), 518.958715596330, 291.699727470969, 14.5),
        ("Mavro", from_file("mavro.txt"), 2.001856, 0.000429123454003053, 13.0),
        ("Michelso", from_file("michelso.txt"), 299.8524, 0.0790105478190518, 13.0),
        ("NumAcc1", vec![10000001.0, 10000003.0, 10000002.0], 10000002.0, 1.0, 15.0),
        ("NumAcc2", alternating(1.2, [1.1, 1.3]), 1.2, 0.1, 15.0),
        ("NumAcc3", alternating(1000000.2, [1000000.1, 1000000.3]), 1000000.2, 0.1, 9.0),
        ("NumAcc4", alternating(10000000.2, [10000000.1, 10000000.3]), 10000000.2, 0.1, 8.0),
    ]
}

#[test]
fn certified_values_are_reached_in_every_layout_and_number_of_columns() {
    for (name, values, mean, deviation, reachable) in nist() {
        let (exact_mean, exact_variance) = exact(&values);
        for columns in [1, 3, 40] {
            let rows: Vec<f64> = values.iter().flat_map(|&value| vec![value; columns]).collect();
            let table = Table::from_array(rows, shape(values.len(), columns)).unwrap();
            for layout in LAYOUTS {
                for column in of(&table.to_layout(layout).unwrap()).per_column() {
                    let found = [column.mean(), column.standard_deviation()];
                    let agreeing = [digits(found[0], mean), digits(found[1], deviation)];
                    println!("{name}: mean {:.1} digits, standard deviation {:.1}", agreeing[0], agreeing[1]);
                    assert!(agreeing[0] >= 14.8 && agreeing[1] >= reachable, "{name}: {agreeing:?}");
                    // The values as they are in `f64`: nothing is lost but in rounding.
                    assert!(digits(found[0], exact_mean) >= 15.0, "{name}: {found:?}, not {exact_mean}");
                    assert!(digits(column.variance(), exact_variance) >= 14.5, "{name}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn certified_values_are_reached_however_rows_are_dealt_out() {
    for (name, values, mean, deviation, reachable) in nist() {
        let (exact_mean, exact_variance) = exact(&values);
        for rows in [1, 2, 7, 100, 4000] {
            let mut updated = BasicStatistics::new(1).unwrap();
            let mut merged = BasicStatistics::new(1).unwrap();
            for part in values.chunks(rows) {
                updated.update_values(part).unwrap();
                merged.merge(&of(&Table::from_array(part.to_vec(), shape(part.len(), 1)).unwrap())).unwrap();
            }
            for statistics in [updated, merged] {
                let column = statistics.column(0).unwrap();
                assert_eq!((column.count(), statistics.row_count()), (values.len() as u64, values.len() as u64));
                assert!(digits(column.mean(), mean) >= 14.8, "{name}");
                assert!(digits(column.standard_deviation(), deviation) >= reachable.min(14.0), "{name} by {rows}");
                assert!(digits(column.mean(), exact_mean) >= 15.0, "{name} by {rows}");
                assert!(digits(column.variance(), exact_variance) >= 14.0, "{name} by {rows}");
            }
        }
    }
}

// --- every number --------------------------------------------------------------------------------------------------

#[test]
fn every_number_of_a_small_column_is_right() {
    fn check<T: SmallNumber>() {
        let values = [1, 3, 5, 7, 9, 11].map(T::small).to_vec();
        for layout in LAYOUTS {
            let table = Table::from_array_with_layout(values.clone(), shape(3, 2), layout).unwrap();
            let expected = if layout == DataLayout::RowMajor {
                [[1.0, 5.0, 9.0], [3.0, 7.0, 11.0]]
            } else {
                [[1.0, 3.0, 5.0], [7.0, 9.0, 11.0]]
            };
            let statistics = of(&table);
            assert_eq!((statistics.row_count(), statistics.per_column().len()), (3, 2));
            for (column, [a, b, c]) in statistics.per_column().iter().zip(expected) {
                let squares = (b - a) * (b - a) + (c - b) * (c - b);
                assert_eq!((column.count(), column.nan_count(), column.infinity_count()), (3, 0, 0));
                assert_eq!((column.minimum(), column.maximum(), column.mean()), (a, c, b));
                assert_eq!((column.sum(), column.sum_squares()), (a + b + c, a * a + b * b + c * c));
                assert_eq!(column.second_order_raw_moment(), (a * a + b * b + c * c) / 3.0);
                assert_eq!(column.sum_squares_centered(), squares);
                assert_eq!((column.variance(), column.population_variance()), (squares / 2.0, squares / 3.0));
                assert_eq!(column.standard_deviation(), (squares / 2.0).sqrt());
                assert_eq!(column.population_standard_deviation(), (squares / 3.0).sqrt());
                assert_eq!(column.coefficient_of_variation(), (squares / 2.0).sqrt() / b);
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn random_columns_agree_with_exact_arithmetic() {
    let mut random = Random::new(11);
    for rows in [2, 9, 1023, 1024, 1025, 16_384, 40_000] {
        let columns = 1 + random.below(70);
        let offset = [0.0, 1e6, -3e9][random.below(3)];
        let mut value = || (random.below(1 << 20) as f64 - 5e5) / 1024.0 + offset;
        let values: Vec<f64> = (0..rows * columns).map(|_| value()).collect();
        let statistics = of(&Table::from_array(values.clone(), shape(rows, columns)).unwrap());
        for (column, found) in statistics.per_column().iter().enumerate() {
            let values: Vec<f64> = values[column..].iter().step_by(columns).copied().collect();
            let (mean, variance) = exact(&values);
            let sum = values.iter().map(|value| (value * 1024.0) as i64).sum::<i64>() as f64 / 1024.0;
            assert_eq!(found.sum(), sum, "column {column} of {rows} x {columns}");
            assert_eq!(found.minimum(), values.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(found.maximum(), values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            assert!((found.mean() - mean).abs() <= 1e-15 * mean.abs(), "{} is not {mean}", found.mean());
            assert!(
                digits(found.variance(), variance) >= 13.5,
                "{rows} x {columns}: {} is not {variance}",
                found.variance()
            );
        }
    }
}

#[test]
fn equal_values_have_no_deviation_and_their_own_mean() {
    for (value, rows) in [(0.1, 1000), (0.1, 1_000_000), (1e300, 3), (-7e-320, 99), (1.0 / 3.0, 12_345), (0.0, 5)] {
        for columns in [1, 3] {
            let column = *of(&Table::full(shape(rows, columns), value).unwrap()).column(columns - 1).unwrap();
            assert_eq!((column.mean(), column.variance(), column.sum_squares_centered()), (value, 0.0, 0.0));
            assert_eq!((column.minimum(), column.maximum()), (value, value));
        }
    }
}

// --- what is not ordinary ------------------------------------------------------------------------------------------

#[test]
fn nan_is_left_out_and_counted_and_infinities_are_values() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let column = of_column(&[3.0, nan, 5.0, nan, nan]);
    assert_eq!((column.count(), column.nan_count(), column.mean(), column.variance()), (2, 3, 4.0, 2.0));
    assert_eq!((column.minimum(), column.maximum(), column.sum_squares()), (3.0, 5.0, 34.0));

    let column = of_column(&[3.0, inf, nan, 5.0]);
    assert_eq!((column.count(), column.nan_count(), column.infinity_count()), (3, 1, 1));
    assert_eq!((column.minimum(), column.maximum(), column.sum(), column.mean()), (3.0, inf, inf, inf));
    assert_eq!((column.sum_squares(), column.second_order_raw_moment()), (inf, inf));
    assert!(column.variance().is_nan() && column.sum_squares_centered().is_nan());

    let column = of_column(&[-inf, 1.0]);
    assert_eq!((column.minimum(), column.maximum(), column.sum()), (-inf, 1.0, -inf));
    let column = of_column(&[-inf, inf]);
    assert_eq!((column.minimum(), column.maximum(), column.infinity_count()), (-inf, inf, 2));
    assert!(column.sum().is_nan() && column.mean().is_nan());
    assert_eq!(of_column(&[inf, inf]).minimum(), inf);
}

#[test]
fn one_value_that_is_not_finite_changes_nothing_for_the_others() {
    let mut random = Random::new(3);
    let rows = 5000;
    let mut values: Vec<f64> = (0..rows * 3).map(|_| random.below(1000) as f64).collect();
    let clean = of(&Table::from_array(values.clone(), shape(rows, 3)).unwrap());
    let mut others: Vec<f64> = values.iter().skip(1).step_by(3).copied().collect();
    values[3 * 2500 + 1] = f64::NAN;
    others.remove(2500);
    let found = of(&Table::from_array(values, shape(rows, 3)).unwrap());
    assert_eq!([found.per_column()[0], found.per_column()[2]], [clean.per_column()[0], clean.per_column()[2]]);
    let (mean, variance) = exact(&others);
    let middle = found.column(1).unwrap();
    assert_eq!((middle.count(), middle.nan_count(), middle.mean()), (4999, 1, mean));
    assert!(digits(middle.variance(), variance) > 14.0);
    let propagated = found.clone().propagate_nan(true);
    let column = propagated.column(1).unwrap();
    let numbers = [column.minimum(), column.maximum(), column.sum(), column.mean(), column.sum_squares()];
    assert!(numbers.iter().chain(&[column.variance(), column.sum_squares_centered()]).all(|number| number.is_nan()));
    assert_eq!(
        (column.count(), column.nan_count(), propagated.column(0).unwrap().mean()),
        (4999, 1, clean.per_column()[0].mean())
    );
    assert_eq!(propagated.propagate_nan(false).per_column(), found.per_column());
}

#[test]
fn what_no_value_defines_is_nan() {
    for values in [&[][..], &[f64::NAN], &[f64::NAN; 3000]] {
        let column = of_column(values);
        assert_eq!((column.count(), column.nan_count()), (0, values.len() as u64));
        assert_eq!((column.sum(), column.sum_squares(), column.sum_squares_centered()), (0.0, 0.0, 0.0));
        let numbers =
            [column.minimum(), column.maximum(), column.mean(), column.variance(), column.population_variance()];
        assert!(
            numbers
                .iter()
                .chain(&[column.coefficient_of_variation(), column.second_order_raw_moment()])
                .all(|number| number.is_nan())
        );
    }
    let one = of_column(&[7.5]);
    assert_eq!((one.mean(), one.population_variance(), one.minimum()), (7.5, 0.0, 7.5));
    assert!(one.variance().is_nan() && one.standard_deviation().is_nan());
}

#[test]
fn sums_that_leave_the_range_become_infinite_and_what_is_in_the_range_does_not() {
    let (max, inf) = (f64::MAX, f64::INFINITY);
    for rows in [2, 3, 1000, 50_000] {
        for value in [max, -max] {
            let column = of_column(&vec![value; rows]);
            assert_eq!((column.sum(), column.mean(), column.maximum()), (value * 2.0, value, value), "{rows} rows");
            assert_eq!((column.variance(), column.standard_deviation(), column.infinity_count()), (0.0, 0.0, 0));
            assert_eq!((column.sum_squares(), column.second_order_raw_moment()), (inf, inf));
        }
    }
    let column = of_column(&[1e308, 1.5e308, -1e308]);
    assert_eq!((column.sum(), column.mean(), column.minimum()), (1.5e308, 1.5e308 / 3.0, -1e308));
    assert_eq!((column.variance(), column.sum_squares_centered(), column.infinity_count()), (inf, inf, 0));
    assert!(digits(column.standard_deviation(), 1.322_875_655_532_295_4e308) > 14.5); // the root of 7 / 4
    // Squares that are too large, whose mean and whose root are not.
    let column = of_column(&[1e154, -1e154, 1e154, -1e154]);
    assert_eq!((column.sum_squares(), column.sum_squares_centered(), column.mean()), (inf, inf, 0.0));
    assert!(digits(column.second_order_raw_moment(), 1e308) > 14.5 && digits(column.variance(), 1e308 / 0.75) > 14.5);
    assert!(digits(column.population_variance(), 1e308) > 14.5);
    let column = of_column(&[1e200, -1e200]);
    assert_eq!((column.sum_squares(), column.variance(), column.population_variance()), (inf, inf, inf));
    assert_eq!((column.population_standard_deviation(), column.mean()), (1e200, 0.0));
    let column = of_column(&[2e200, 4e200]);
    assert!(digits(column.coefficient_of_variation(), 2.0_f64.sqrt() / 3.0) > 14.5);
    // The deviation of a sample is larger than any f64, that of the population is the largest.
    let column = of_column(&[max, -max]);
    assert_eq!((column.sum(), column.mean(), column.standard_deviation()), (0.0, 0.0, inf));
    assert_eq!(column.population_standard_deviation(), max);
}

#[test]
fn sums_that_leave_the_range_on_the_way_come_back_wherever_blocks_and_tables_begin() {
    let max = f64::MAX;
    for rows in [6, 3000, 60_000] {
        // A third of each: the sum of two thirds is far out of range.
        let values: Vec<f64> = [max, max, -max].iter().flat_map(|&value| vec![value; rows / 3]).collect();
        let column = of_column(&values);
        assert_eq!(column.mean(), max / 3.0, "{rows} rows");
        let turned: Vec<f64> = values.iter().rev().copied().collect();
        assert_eq!(of_column(&turned).mean(), max / 3.0);
        for cut in [1, rows / 3, rows / 2 + 1, rows - 1] {
            let mut merged = BasicStatistics::new(1).unwrap();
            merged.update_values(&values[..cut]).unwrap();
            merged.update_values(&values[cut..]).unwrap();
            let merged = merged.column(0).unwrap();
            assert_eq!((merged.mean(), merged.minimum(), merged.maximum()), (max / 3.0, -max, max));
            // Deviations are 2/3, 2/3 and -4/3 of the largest value; the mean of their squares is 8/9.
            let deviation = merged.population_standard_deviation();
            assert!(digits(deviation, (8.0_f64 / 9.0).sqrt() * max) > 13.5, "{deviation}");
        }
    }
    let mut pairs = BasicStatistics::new(1).unwrap();
    for value in [max, max, -max, -max, 3.0] {
        pairs.update_values(&[value]).unwrap();
    }
    assert_eq!((pairs.column(0).unwrap().sum(), pairs.column(0).unwrap().count()), (3.0, 5));
}

#[test]
fn rows_that_cannot_be_counted_are_refused_and_nothing_is_added() {
    let mut all = BasicStatistics::new(3).unwrap();
    all.update_values(&[1.0, f64::NAN, f64::INFINITY]).unwrap();
    for _ in 0..63 {
        let same = all.clone();
        all.merge(&same).unwrap();
    }
    let half = 1 << 63;
    let check = |all: &BasicStatistics| {
        assert_eq!(all.row_count(), half);
        let [numbers, nan, infinities] = [0, 1, 2].map(|column| *all.column(column).unwrap());
        assert_eq!((numbers.count(), numbers.mean(), numbers.sum()), (half, 1.0, half as f64));
        assert_eq!((nan.count(), nan.nan_count(), infinities.infinity_count()), (0, half, half));
    };
    check(&all);
    let same = all.clone();
    assert_error!(
        all.merge(&same),
        ErrorKind::LimitExceeded { what: "counted rows", actual: found, limit: u64::MAX } if *found == 2 * u128::from(half)
    );
    check(&all);
    let mut rest = all.clone();
    for rows in (0..63).rev() {
        let mut piece = BasicStatistics::new(3).unwrap();
        piece.update_values(&[1.0, f64::NAN, f64::INFINITY]).unwrap();
        for _ in 0..rows {
            let same = piece.clone();
            piece.merge(&same).unwrap();
        }
        rest.merge(&piece).unwrap();
    }
    assert_eq!(rest.row_count(), u64::MAX);
    let error = rest.update_values(&[1.0, 2.0, 3.0]).unwrap_err();
    let text = "18446744073709551616 counted rows exceed the limit of 18446744073709551615";
    assert_eq!(error.to_string(), text);
    assert_eq!((rest.row_count(), rest.column(0).unwrap().count()), (u64::MAX, u64::MAX));
}

#[test]
fn small_values_beside_a_sum_that_leaves_the_range_stay_the_smallest_and_largest() {
    for small in [1e-300, 5e-324] {
        let column = of_column(&[f64::MAX, f64::MAX, small]);
        assert_eq!((column.minimum(), column.maximum(), column.sum()), (small, f64::MAX, f64::INFINITY));
        let column = of_column(&[-f64::MAX, -f64::MAX, -small, f64::NAN]);
        assert_eq!((column.minimum(), column.maximum(), column.sum()), (-f64::MAX, -small, f64::NEG_INFINITY));
    }
}

#[test]
fn fewer_rows_than_lanes_are_summed_up_like_many() {
    for rows in 1..=20_usize {
        for columns in [1, 2, 33] {
            let values: Vec<f64> = (0..rows * columns).map(|i| (i * i) as f64 - 100.0).collect();
            let statistics = of(&Table::from_array(values.clone(), shape(rows, columns)).unwrap());
            for (column, found) in statistics.per_column().iter().enumerate() {
                let values: Vec<f64> = values[column..].iter().step_by(columns).copied().collect();
                let squares: f64 = values.iter().map(|value| value * value).sum();
                assert_eq!(found.sum(), values.iter().sum::<f64>(), "column {column} of {rows} x {columns}");
                assert_eq!((found.minimum(), found.maximum()), (values[0], values[rows - 1]));
                assert!(digits(found.sum_squares(), squares) > 14.5);
            }
        }
    }
}

#[test]
fn tables_without_rows_or_columns_are_ordinary() {
    for layout in LAYOUTS {
        let no_rows = of(&Table::full_with_layout(shape(0, 3), 1.0_f32, layout).unwrap());
        assert_eq!((no_rows.row_count(), no_rows.per_column().len(), no_rows.per_column()[2].count()), (0, 3, 0));
        let no_columns = of(&Table::full_with_layout(shape(3, 0), 1.0_f32, layout).unwrap());
        assert_eq!((no_columns.row_count(), no_columns.per_column().len()), (3, 0));
    }
    let many = Table::<u8>::full(shape(0, huge(60)), 0).unwrap();
    assert_error!(BasicStatistics::compute(&many), ErrorKind::OutOfMemory);
    assert_error!(BasicStatistics::new(usize::MAX), ErrorKind::OutOfMemory);
}

#[test]
fn errors_name_what_is_wrong() {
    let mut table = Table::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(BasicStatistics::compute(&table), ErrorKind::NotAllocated);
    table.allocate_data_memory().unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(BasicStatistics::compute(&table), ErrorKind::BlockOutstanding { rows } if *rows == (1..2));
    drop(block);
    let mut statistics = BasicStatistics::compute(&table).unwrap();
    assert_error!(statistics.update_values(&[1.0, 2.0, 3.0]), ErrorKind::NotWholeRows { values: 3, columns: 2 });
    assert_error!(
        statistics.merge(&BasicStatistics::new(3).unwrap()),
        ErrorKind::LengthMismatch { expected: 2, actual: 3 }
    );
    assert_error!(statistics.column(2), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
    assert_eq!(statistics.row_count(), 3);
    assert_error!(
        BasicStatistics::new(0).unwrap().update_values(&[1.0]),
        ErrorKind::NotWholeRows { values: 1, columns: 0 }
    );
}

// --- the order of the work -----------------------------------------------------------------------------------------

/// 35 columns, large enough for several tasks of several panels, with a value here and there that is not finite.
fn large() -> Table<f32> {
    let mut random = Random::new(5);
    let mut values: Vec<f32> = (0..70_000 * 35).map(|_| random.below(1 << 24) as f32 / 997.0).collect();
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let at = random.below(values.len());
        values[at] = value;
    }
    Table::from_array(values, shape(70_000, 35)).unwrap()
}

#[test]
fn results_are_the_same_bits_in_both_layouts_and_of_slices_and_other_types() {
    let table = large();
    let expected = of(&table);
    let wide = table.convert::<f64>().unwrap();
    for layout in LAYOUTS {
        assert_eq!(of(&table.to_layout(layout).unwrap()).per_column(), expected.per_column());
        assert_eq!(of(&wide.to_layout(layout).unwrap()).per_column(), expected.per_column());
        let slice = wide.to_layout(layout).unwrap().slice_rows(1000..50_001).unwrap();
        assert_eq!(of(&slice).per_column(), of(&table.slice_rows(1000..50_001).unwrap()).per_column());
    }
    let mut updated = BasicStatistics::new(35).unwrap();
    updated.update_values(table.as_slice().unwrap()).unwrap();
    assert_eq!(updated.per_column(), expected.per_column());
}

#[cfg(feature = "rayon")]
#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    let table = large();
    let of_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| of(&table))
    };
    let expected = of_threads(1);
    for threads in [2, 3, 8] {
        assert_eq!(of_threads(threads).per_column(), expected.per_column());
    }
}

#[test]
fn wide_tables_have_statistics_of_every_column() {
    for layout in LAYOUTS {
        let shape = shape(30, 3001);
        let values: Vec<u16> = match layout {
            DataLayout::RowMajor => (0..30 * 3001).map(|i| (i % 3001) as u16 + (i / 3001) as u16).collect(),
            _ => (0..30 * 3001).map(|i| (i / 30) as u16 + (i % 30) as u16).collect(),
        };
        let table = Table::from_array_with_layout(values, shape, layout).unwrap();
        for (index, column) in of(&table).per_column().iter().enumerate() {
            let first = index as f64;
            assert_eq!((column.minimum(), column.maximum(), column.mean()), (first, first + 29.0, first + 14.5));
            assert_eq!(column.sum_squares_centered(), 30.0 * 899.0 / 12.0);
        }
    }
}

// --- text ----------------------------------------------------------------------------------------------------------

#[test]
fn printed_statistics_are_a_table_with_the_names_of_the_columns() {
    let mut table = numbered::<i16>(3, 3, DataLayout::RowMajor);
    let feature = Feature::new(ElementType::I16);
    let features = [feature.clone().named("a"), feature.clone(), feature.named("long name")];
    table.set_dictionary(DataDictionary::from_features(features)).unwrap();
    let text = "
           count  NaN  inf  minimum  maximum  mean  standard deviation
a              3    0    0      1.0      7.0   4.0                 3.0
1              3    0    0      2.0      8.0   5.0                 3.0
long name      3    0    0      3.0      9.0   6.0                 3.0";
    let statistics = of(&table);
    assert_eq!(statistics.to_string(), text[1..]);
    let mut merged = BasicStatistics::new(3).unwrap();
    merged.merge(&statistics).unwrap();
    assert_eq!(merged.to_string(), text[1..]);
    assert!(format!("{statistics:.3}").ends_with("6.000               3.000"));

    let many = of(&Table::<u8>::full(shape(1, 100), 3).unwrap());
    let text = many.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 20 + 1 + 20);
    assert!(
        lines[20].starts_with("19 ") && lines[21].starts_with("...    ...") && lines[22].starts_with("80 "),
        "{text}"
    );
    assert_eq!(format!("{many:#}").lines().count(), 101);
}
