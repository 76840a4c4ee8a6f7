//! Missing values of tables on devices: their bitmaps travel along, and the values under them are never seen.

use numeric_table::array::Validity;
use numeric_table::prelude::*;
use numeric_table::{MergedNumericTable, SoaNumericTable};
use numeric_table_execution::{DeviceTable, EmulatedDevice, HandleError, HostParallel, HostSerial, Kernels, ToDevice};
use test_support::tables::assert_error;

/// A column of integers and one of floats, with gaps over values that nobody may see.
fn sample(rows: usize) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    let validity = Validity::from_fn(rows, |row| row % 3 != 1).unwrap();
    let counts: Vec<i64> = (0..rows).map(|row| if row % 3 == 1 { i64::MAX } else { row as i64 }).collect();
    table.push_nullable(Feature::new(ElementType::I64).named("count"), counts, Some(validity)).unwrap();
    let validity = Validity::from_fn(rows, |row| row % 5 != 0).unwrap();
    let shares: Vec<f32> = (0..rows).map(|row| if row % 7 == 3 { f32::NAN } else { row as f32 }).collect();
    table.push_nullable(Feature::new(ElementType::F32).named("share"), shares, Some(validity)).unwrap();
    table
}

fn check<D: Kernels>(there: &DeviceTable<f64, D>, expected: &dyn NumericTable) {
    let back = there.to_columns().unwrap();
    assert_eq!(back.shape(), expected.shape());
    for column in 0..expected.column_count() {
        assert_eq!(back.column_validity(column).unwrap(), expected.column_validity(column).unwrap(), "{column}");
        let (found, wanted) = (back.column::<f64>(column, ..).unwrap(), expected.column::<f64>(column, ..).unwrap());
        assert!(found.iter().zip(wanted.iter()).all(|(a, b)| a == b || (a.is_nan() && b.is_nan())), "{column}");
    }
}

fn travels<D: Kernels>(device: &D) {
    for rows in [0, 1, 2, 100, 70_000] {
        let table = sample(rows);
        let there = table.to_device::<f64, _>(device).unwrap();
        check(&there, &table);
        if rows > 1 {
            assert!(there.dictionary().feature(0).unwrap().nullable);
            assert!(!there.to_table().unwrap().dictionary().has_nullable());
        }
        check(&there.clone().to_layout(DataLayout::RowMajor).unwrap(), &table);
        let chosen = there.select_columns(&[1, 0, 1]).unwrap();
        check(&chosen, &table.select_columns([1, 0, 1]).unwrap());
        let narrow = there.convert::<f32>(ConversionPolicy::Checked).unwrap();
        assert_eq!(narrow.validity(1), there.validity(1));
        let part = table.select_columns(0..1).unwrap(); // one type, of integers
        check(&part.to_device::<f64, _>(device).unwrap(), &part);
    }
}

#[test]
fn bitmaps_travel_with_a_table_to_every_device_and_back() {
    travels(&HostSerial);
    travels(&HostParallel);
    travels(&EmulatedDevice::new());
}

#[test]
fn integers_refuse_gaps_instead_of_making_zeros_of_them() {
    let (device, table) = (EmulatedDevice::new(), sample(10));
    let library = |error: HandleError| match error {
        HandleError::Library(error) => error,
        other => panic!("{other}"),
    };
    let missing = |result: Result<(), HandleError>| Err::<(), _>(library(result.unwrap_err()));
    assert_error!(missing(table.to_device::<i32, _>(&device).map(drop)), ErrorKind::MissingValue { row: 0, column: 1 });
    let there = table.to_device::<f64, _>(&device).unwrap();
    assert_error!(
        missing(there.convert::<i32>(ConversionPolicy::Saturate).map(drop)),
        ErrorKind::MissingValue { row: 0, column: 1 }
    );
    assert_error!(missing(there.download_rows::<i32>(1..3).map(drop)), ErrorKind::MissingValue { row: 1, column: 0 });
    assert_eq!(there.download_rows::<i32>(2..3).unwrap().as_slice().unwrap(), [2, 2]);
}

#[test]
fn a_value_that_the_device_replaces_is_present() {
    let mut there = sample(10).to_device::<f64, _>(&HostSerial).unwrap();
    there.view_mut().unwrap().iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = 1.0);
    assert!(!there.to_columns().unwrap().has_missing().unwrap());
}

#[test]
fn merged_tables_with_gaps_cross_too() {
    let plain = HomogenNumericTable::from_rows(&[[1_i64], [2], [3], [4]]).unwrap();
    let table = sample(4);
    let merged =
        MergedNumericTable::new([numeric_table::table::by_ref(&plain), numeric_table::table::by_ref(&table)]).unwrap();
    check(&merged.to_device::<f64, _>(&EmulatedDevice::new()).unwrap(), &merged);
}
