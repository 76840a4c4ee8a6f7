//! Golden bytes of the partial results of statistics. `cargo test --test format golden_partials -- --ignored` makes
//! those that are not there.

use numeric_table::statistics::{
    BasicStatistics, Covariance, GramMatrix, GroupStatistics, Histogram, HistogramBins, QuantileSketch,
};
use numeric_table::{SoaNumericTable, bf16, prelude::*};
use test_support::golden::GoldenPartials;

const ROWS: i32 = 300;

/// A category, then numbers whose sums are rounded, large and small ones, and with `gaps` some missing values.
fn table(gaps: bool) -> SoaNumericTable {
    let numbers = || (0..ROWS).map(f64::from);
    let mut table = SoaNumericTable::new();
    let categories: Vec<u8> = (0..ROWS).map(|row| (row % 3) as u8).collect();
    table.push_feature(Feature::new(ElementType::U8).categorical(3), categories).unwrap();
    table.push_column("sevenths", numbers().map(|number| (number - 100.0) / 7.0).collect::<Vec<_>>()).unwrap();
    let thirds = numbers().map(|number| match number as i32 {
        17 => f32::NAN,
        100 => f32::INFINITY,
        number => 1e20 / (number as f32 * 3.0 - 100.0),
    });
    table.push_column("thirds", thirds.collect::<Vec<_>>()).unwrap();
    let whole = (0..i64::from(ROWS)).map(|row| (row * row * row) << 20 | row);
    if gaps {
        table.push_optional("whole", whole.map(|number| (number % 5 != 2).then_some(number))).unwrap();
    } else {
        table.push_column("whole", whole.collect::<Vec<_>>()).unwrap();
    }
    table.push_column("half", numbers().map(|number| bf16::from_f64(number / 11.0)).collect::<Vec<_>>()).unwrap();
    table
}

fn results() -> GoldenPartials {
    let (mut results, columns) = (GoldenPartials::default(), table(false).column_count());
    let all = &mut results;
    for (suffix, table) in [("", table(false)), ("-gaps", table(true))] {
        all.push(suffix, BasicStatistics::new(columns), &table);
        all.push(suffix, Covariance::new(columns), &table);
        let bins = HistogramBins::uniform(-10.0, 30.0, 7).unwrap();
        all.push(suffix, Histogram::new(columns, &bins), &table);
        all.push(suffix, QuantileSketch::with_capacity(columns, 32), &table);
        all.push(suffix, GroupStatistics::new(columns, 0, 3), &table);
        all.push(suffix, GramMatrix::new(columns), &table);
    }
    results
}

#[test]
#[ignore = "the files are there"]
fn make_the_golden_partials() {
    results().make_missing();
}

#[test]
fn golden_partial_results_have_the_same_bytes_on_every_machine() {
    results().check();
}
