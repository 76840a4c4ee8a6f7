//! Statistics on every device are those of the program.

use numeric_table::prelude::*;
use numeric_table::statistics::{BasicStatistics, ColumnStatistics};
use numeric_table_execution::stream::{StreamOptions, StreamRows};
use numeric_table_execution::*;
use test_support::bits::special_values;
use test_support::for_each_element;
use test_support::tables::LAYOUTS;

fn on_device<T: Element, D: Kernels>(device: &D, table: &HomogenNumericTable<T>) -> BasicStatistics {
    let there = table.to_device::<T, D>(device).unwrap();
    let mut statistics = DeviceStatistics::new(device, table.column_count());
    statistics.update(there.view().unwrap(), there.shape(), there.data_layout()).unwrap();
    statistics.finish().unwrap()
}

/// Compares statistics of the same values that were added in another order.
fn check(found: &BasicStatistics, expected: &BasicStatistics, what: &str) {
    assert_eq!(
        (found.row_count(), found.per_column().len()),
        (expected.row_count(), expected.per_column().len()),
        "{what}"
    );
    for (column, (found, expected)) in found.per_column().iter().zip(expected.per_column()).enumerate() {
        let counts = |column: &ColumnStatistics| (column.count(), column.nan_count(), column.infinity_count());
        assert_eq!(counts(found), counts(expected), "{what}, column {column}");
        let is_same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
        assert!(is_same(found.minimum(), expected.minimum()), "{what}, column {column}: {found:?} {expected:?}");
        assert!(is_same(found.maximum(), expected.maximum()), "{what}, column {column}: {found:?} {expected:?}");
        let is_near = |a: f64, b: f64, digits: f64| is_same(a, b) || (a - b).abs() <= b.abs() * digits;
        let pairs = [
            (found.sum(), expected.sum(), 1e-15),
            (found.mean(), expected.mean(), 1e-15),
            (found.sum_squares_centered(), expected.sum_squares_centered(), 1e-13),
            (found.standard_deviation(), expected.standard_deviation(), 1e-13),
        ];
        for (found, expected, digits) in pairs {
            assert!(is_near(found, expected, digits), "{what}, column {column}: {found:e}, not {expected:e}");
        }
    }
}

pub(crate) fn statistics_of_every_type_are_those_of_the_program<D: Kernels>(device: &D) {
    for layout in LAYOUTS {
        for_each_element!(T => {
            let special = special_values::<T>();
            for (rows, columns) in [(1, 1), (2, 3), (7, 16), (300, 5), (5000, 17), (3, 200)] {
                let value = |row: usize, column: usize| special[(row * 31 + column * 7 + row / 100) % special.len()];
                let table = HomogenNumericTable::from_fn(Shape { rows, columns }, value).unwrap();
                let table = table.to_layout(layout).unwrap();
                let what = format!("{} {rows} x {columns} {layout}", T::TYPE);
                check(&on_device(device, &table), &BasicStatistics::compute(&table).unwrap(), &what);
            }
        });
    }
}

pub(crate) fn statistics_keep_their_digits<D: Kernels>(device: &D) {
    // Deviations of 1e-3 about 1e9; values whose squares, and whose sums, leave the range; very small ones; equal ones.
    let noise = |i: usize| (((i + 1).wrapping_mul(0x9E37_79B9) >> 3) % 1000) as f64 / 1e6;
    let columns: [&(dyn Fn(usize) -> f64 + Sync); 6] =
        [&|i| 1e9 + noise(i), &|i| 1e300 * (1.0 + noise(i)), &|_| f64::MAX, &|i| 1e-310 * noise(i), &|_| 0.1, &|i| {
            i as f64
        }];
    for rows in [1, 2, 255, 256, 257, 100_000] {
        let shape = Shape { rows, columns: columns.len() };
        let table = HomogenNumericTable::from_fn(shape, |row, column| columns[column](row)).unwrap();
        check(&on_device(device, &table), &BasicStatistics::compute(&table).unwrap(), &format!("{rows} rows"));
    }
}

pub(crate) fn statistics_of_a_stream_are_those_of_its_blocks<D: Kernels>(device: &D) {
    let shape = Shape { rows: 1003, columns: 4 };
    let table = HomogenNumericTable::from_fn(shape, |row, column| (row * 37 % 101 + column) as i16).unwrap();
    let all = BasicStatistics::compute(&table).unwrap();
    for rows in [1, 10, 64, 5000] {
        for layout in LAYOUTS {
            let options = StreamOptions { rows, layout, ..Default::default() };
            let mut statistics = DeviceStatistics::new(device, 4);
            let mut stream = table.stream_rows::<f64, D>(device, options).unwrap();
            while let Some(block) = stream.next().unwrap() {
                statistics.update_block(&block).unwrap();
            }
            check(&statistics.finish().unwrap(), &all, &format!("blocks of {rows}"));
        }
    }
    let mut statistics = DeviceStatistics::new(device, 3);
    let there = table.to_device::<i16, D>(device).unwrap();
    let refused = statistics.update(there.view().unwrap(), there.shape(), there.data_layout());
    assert!(matches!(refused, Err(HandleError::LengthMismatch { have: 4, want: 3 })));
    assert_eq!(statistics.finish().unwrap().row_count(), 0);
}
