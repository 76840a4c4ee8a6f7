//! Standardizing on every device: by the rule for each value, of the moments that the device computed itself.

use numeric_table::convert::cast;
use numeric_table::prelude::*;
use numeric_table::statistics::BasicStatistics;
use numeric_table::trace::{CopyKind, copies_of};
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::*;
use test_support::bits::{bits, from_bits, special_values};
use test_support::tables::{LAYOUTS, assert_fault};

const NAN: f64 = f64::from_bits(0x7FF8 << 48);

fn is_shared<D: DeviceAdapter>() -> bool {
    <D::Memory as ExecutionMemory>::IS_SHARED
}

/// Calls a macro or a function with each type of floating-point numbers.
macro_rules! for_each_float {
    ($T:ident => $body:expr) => {{
        for_each_float!(@ $T, $body; f32 f64 numeric_table::f16 numeric_table::bf16);
    }};
    (@ $T:ident, $body:expr; $($native:ty)*) => {
        $({ type $T = $native; $body; })*
    };
}

/// What the rule says of a value.
fn standardized<T: Element>(value: T, [mean, deviation]: [f64; 2]) -> T {
    let number: f64 = cast(value);
    if number.is_nan() {
        return value;
    }
    let divisor = if deviation == 0.0 { 1.0 } else { deviation };
    let quotient = match number - mean {
        difference if difference.is_infinite() => (number / 2.0 - mean / 2.0) / divisor * 2.0,
        difference => difference / divisor,
    };
    cast(if quotient.is_nan() { NAN } else { quotient })
}

fn means_and_deviations(statistics: &BasicStatistics) -> Vec<[f64; 2]> {
    let columns = statistics.per_column().iter();
    columns.map(|column| [column.mean(), column.population_standard_deviation()]).collect()
}

fn statistics_of<T: Element, D: Kernels>(there: &DeviceTable<T, D>) -> BasicStatistics {
    let mut statistics = DeviceStatistics::new(there.device(), there.shape().columns);
    statistics.update(there.view().unwrap(), there.shape(), there.data_layout()).unwrap();
    statistics.finish().unwrap()
}

/// Columns with numbers, with NaN, with infinities, of equal numbers, and of all numbers.
fn table_of<T: Element>(rows: usize, columns: usize, layout: DataLayout) -> HomogenNumericTable<T> {
    let special = special_values::<T>();
    let value = |row: usize, column: usize| {
        let chosen = special[(row * 31 + column * 7 + row / 100) % special.len()];
        let number: f64 = cast(chosen);
        let plain: T = cast((row * 7919 % 1009) as f64 / 7.0 - 50.0 * column as f64);
        match column % 5 {
            0 => plain,
            1 if number.is_infinite() => plain,
            2 if !number.is_finite() => plain,
            3 => cast(0.1),
            _ => chosen,
        }
    };
    HomogenNumericTable::from_fn(Shape { rows, columns }, value).unwrap().to_layout(layout).unwrap()
}

pub(crate) fn every_value_is_standardized_by_the_rule<D: Kernels>(device: &D) {
    for layout in LAYOUTS {
        for_each_float!(T => {
            for (rows, columns) in [(1, 1), (2, 3), (7, 16), (300, 5), (1000, 17), (3, 300), (2001, 1), (1, 700)] {
                let table = table_of::<T>(rows, columns, layout);
                let mut there = table.to_device::<T, D>(device).unwrap();
                let pairs = means_and_deviations(&statistics_of(&there));
                there.standardize().unwrap();
                let found = there.to_table().unwrap();
                let (found, before) = (found.rows::<T>(..).unwrap(), table.rows::<T>(..).unwrap());
                for (place, (&found, &before)) in found.iter().zip(before.iter()).enumerate() {
                    let wanted = standardized(before, pairs[place % columns]);
                    let what = format!("{} {rows} x {columns} {layout} at {place}: {before}", T::TYPE);
                    assert_eq!(bits(found), bits(wanted), "{what}: {found}, not {wanted}");
                }
            }
        });
    }
}

pub(crate) fn means_and_deviations_are_those_of_the_program<D: Kernels>(device: &D) {
    let columns: [&(dyn Fn(usize) -> f64 + Sync); 8] = [
        &|i| 1e9 + (i % 13) as f64 * 1e-3,
        &|i| 1e300 * (1.0 + (i % 7) as f64),
        &|_| f64::MAX,
        &|i| f64::MAX * if i % 2 == 0 { 1.0 } else { -1.0 },
        &|i| 1e-310 * i as f64,
        &|i| if i == 0 { f64::INFINITY } else { 1.0 },
        &|_| f64::NAN,
        &|_| 0.1,
    ];
    for rows in [1, 2, 257, 3000] {
        let shape = Shape { rows, columns: columns.len() };
        let table = HomogenNumericTable::from_fn(shape, |row, column| columns[column](row)).unwrap();
        let there = table.to_device::<f64, D>(device).unwrap();
        let [mut plain, mut scaled] = [(); 2].map(|()| ArrayHandle::<u64, D>::empty(device));
        let mut found = ArrayHandle::<f64, D>::empty(device);
        let outputs = [plain.prepare_for_output(80).unwrap(), scaled.prepare_for_output(80).unwrap()];
        device.moments(there.view().unwrap(), shape, there.data_layout(), outputs).unwrap();
        let moments = [plain.prepare_for_input().unwrap(), scaled.prepare_for_input().unwrap()];
        device.means_and_deviations(moments.clone(), found.prepare_for_output(16).unwrap()).unwrap();
        let expected = means_and_deviations(&statistics_of(&there));
        for (found, expected) in found.read_portal().unwrap().iter().zip(expected.as_flattened()) {
            let expected = if expected.is_nan() { NAN } else { *expected };
            assert_eq!(found.to_bits(), expected.to_bits(), "{rows} rows: {found}, not {expected}");
        }
        for wrong in [0, 1, 15, 17, 18] {
            let output = found.prepare_for_output(wrong).unwrap();
            assert_fault!(device.means_and_deviations(moments.clone(), output), HandleError::LengthMismatch { .. });
        }
    }
}

pub(crate) fn a_table_is_standardized_in_place_and_nothing_crosses<D: Kernels>(device: &D) {
    for layout in LAYOUTS {
        for_each_float!(T => {
            let table = table_of::<T>(500, 6, layout);
            let mut there = table.to_device::<T, D>(device).unwrap();
            drop(table);
            let before = device.stats();
            let ((), copies) = copies_of(|| there.standardize().unwrap());
            let crossed = device.stats() - before;
            assert_eq!((crossed.uploads, crossed.downloads, crossed.duplicates), Default::default());
            assert!(copies.is_empty(), "{copies}");
            // Once more, of what became of it; then with the values shared.
            let twin = there.clone();
            let kept = twin.to_table().unwrap();
            let before = device.stats();
            let ((), copies) = copies_of(|| there.standardize().unwrap());
            let crossed = device.stats() - before;
            assert_eq!((crossed.uploads, crossed.downloads), Default::default());
            let (bytes, kind) = (3000 * size_of::<T>(), if is_shared::<D>() { CopyKind::Unshared } else { CopyKind::OnDevice });
            assert!(copies.of(kind).bytes == bytes as u64 && copies.total().bytes == bytes as u64, "{copies}");
            let all_bits = |table: &HomogenNumericTable<T>| -> Vec<u64> {
                table.as_slice().unwrap().iter().map(|&value| bits(value)).collect()
            };
            assert_eq!(all_bits(&twin.to_table().unwrap()), all_bits(&kept));
        });
    }
}

pub(crate) fn columns_without_deviation_become_zero<D: Kernels>(device: &D) {
    for_each_float!(T => {
        for value in [0.1, -3e4, 0.0, 6e-8] {
            let value: T = cast(value);
            for rows in [1, 1000] {
                let equal = HomogenNumericTable::from_fn(Shape { rows, columns: 3 }, |_, _| value).unwrap();
                let mut there = equal.to_device::<T, D>(device).unwrap();
                there.standardize().unwrap();
                assert!(there.to_table().unwrap().as_slice().unwrap().iter().all(|&value| value == T::default()));
            }
        }
        for (rows, columns) in [(0, 3), (3, 0), (0, 0)] {
            let empty = HomogenNumericTable::<T>::new(Shape { rows, columns }, AllocationFlag::DoAllocate).unwrap();
            let mut there = empty.to_device::<T, D>(device).unwrap();
            there.standardize().unwrap();
            there.standardize_with(&BasicStatistics::new(columns).unwrap()).unwrap();
            assert_eq!(there.shape(), Shape { rows, columns });
        }
    });
}

pub(crate) fn rows_are_standardized_by_the_statistics_of_others<D: Kernels>(device: &D) {
    let fitted = BasicStatistics::compute(&table_of::<f64>(100, 7, DataLayout::RowMajor)).unwrap();
    let pairs = means_and_deviations(&fitted);
    for layout in LAYOUTS {
        for_each_float!(T => {
            let table = table_of::<T>(41, 7, layout);
            let mut there = table.clone().to_device::<T, D>(device).unwrap();
            let before = device.stats();
            there.standardize_with(&fitted).unwrap();
            let crossed = device.stats() - before;
            assert_eq!((crossed.uploads.bytes, crossed.downloads.bytes), (if is_shared::<D>() { 0 } else { 7 * 16 }, 0));
            let found = there.to_table().unwrap();
            let (found, before) = (found.rows::<T>(..).unwrap(), table.rows::<T>(..).unwrap());
            for (place, (&found, &before)) in found.iter().zip(before.iter()).enumerate() {
                assert_eq!(bits(found), bits(standardized(before, pairs[place % 7])), "{} at {place}: {before}", T::TYPE);
            }
            for columns in [0, 6, 8] {
                let other = BasicStatistics::new(columns).unwrap();
                assert_fault!(there.standardize_with(&other), HandleError::LengthMismatch { want: 7, .. });
            }
        });
    }
}

pub(crate) fn integers_and_wrong_lengths_are_not_standardized<D: Kernels>(device: &D) {
    let table =
        HomogenNumericTable::from_fn(Shape { rows: 4, columns: 2 }, |row, column| (row + column) as i32).unwrap();
    let mut there = table.to_device::<i32, D>(device).unwrap();
    let wanted = "a standardized table has no element type i32: convert the table first";
    assert_eq!(there.standardize().unwrap_err().to_string(), wanted);
    let statistics = BasicStatistics::compute(&table).unwrap();
    assert_eq!(there.standardize_with(&statistics).unwrap_err().to_string(), wanted);
    let pairs = ArrayHandle::from_container(device, vec![1.0_f64; 4]);
    let (shape, layout) = (there.shape(), there.data_layout());
    let refused = device.standardize(there.view_mut().unwrap(), shape, layout, pairs.prepare_for_input().unwrap());
    assert_eq!(refused.unwrap_err().to_string(), wanted);
    assert_eq!(there.to_table().unwrap(), table);

    let mut floats = ArrayHandle::from_container(device, vec![from_bits::<f32>(1); 8]);
    for (rows, columns) in [(4, 3), (2, 2), (0, 0), (8, 1), (2, 4), (usize::MAX, 2)] {
        let (values, pairs) = (floats.prepare_in_place().unwrap(), pairs.prepare_for_input().unwrap());
        assert!(device.standardize(values, Shape { rows, columns }, layout, pairs).is_err(), "{rows} x {columns}");
    }
    assert!(floats.read_portal().unwrap().iter().all(|value| value.to_bits() == 1));
}
