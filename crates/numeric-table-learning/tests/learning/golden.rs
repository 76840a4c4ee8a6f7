//! Golden bytes of the results of this crate. `cargo test -p numeric-table-learning --test learning golden -- --ignored`
//! makes those that are not there.

use numeric_table::{SoaNumericTable, prelude::*};
use numeric_table_learning::{GaussianNaiveBayes, KMeansStep, LinearRegression, NaiveBayes};
use test_support::golden::GoldenPartials;

const ROWS: i32 = 300;

/// A class, a number whose sums are rounded, a root as `f32`, and a whole number; with `gaps`, some of these are missing.
fn table(gaps: bool) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    let classes: Vec<u8> = (0..ROWS).map(|row| (row % 3) as u8).collect();
    table.push_feature(Feature::new(ElementType::U8).categorical(3), classes).unwrap();
    table.push_column("sevenths", (0..ROWS).map(|row| f64::from(row - 100) / 7.0).collect::<Vec<_>>()).unwrap();
    table.push_column("roots", (0..ROWS).map(|row| (row as f32).sqrt()).collect::<Vec<_>>()).unwrap();
    let whole = (0..ROWS).map(|row| row * row % 1009);
    match gaps {
        true => table.push_optional("whole", whole.map(|number| (number % 5 != 2).then_some(number))).unwrap(),
        false => table.push_column("whole", whole.collect::<Vec<_>>()).unwrap(),
    };
    table
}

fn results() -> GoldenPartials {
    let mut results = GoldenPartials::default();
    let centroids =
        HomogenNumericTable::from_rows(&[[0.0, -10.0, 3.5, 100.0], [1.0, 0.1, 10.0, 0.0], [2.0, 20.0, 15.0, 900.0]])
            .unwrap();
    for (suffix, table) in [("", table(false)), ("-gaps", table(true))] {
        results.push(suffix, KMeansStep::new(&centroids), &table);
        results.push(suffix, GaussianNaiveBayes::new(4, 0, 3), &table);
        let counts = table.drop_columns(["sevenths"]).unwrap(); // some of these are negative
        results.push(suffix, NaiveBayes::new(3, 0, 3), &counts);
        let numbers = table.select_columns(1..).unwrap();
        results.push(suffix, LinearRegression::new(2, 1), &numbers);
        let suffix = format!("-extended{suffix}");
        results.push(&suffix, LinearRegression::with_extended_precision(2, 1), &numbers);
    }
    results
}

#[test]
#[ignore = "the files are there"]
fn make_the_golden_results() {
    results().make_missing();
}

#[test]
fn golden_results_have_the_same_bytes_on_every_machine() {
    results().check();
}
