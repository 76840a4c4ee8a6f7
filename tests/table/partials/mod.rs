//! Statistics as partial results: as bytes, through serde, and computed in pieces.

mod round_trip;

use std::fmt::Debug;

use numeric_table::{BasicStatistics, Covariance, Partial, prelude::*};
use test_support::bits::Random;
use test_support::tables::shape;

/// What is checked of every type of partial result.
trait Check {
    /// `result` was computed of `table`.
    fn check<P: Partial + Clone + Debug>(&mut self, result: P, table: &dyn NumericTable);
}

/// Checks the results of a table, whose first column has categories below 4.
fn for_each_result(table: &dyn NumericTable, check: &mut impl Check) {
    check.check(BasicStatistics::of(table).unwrap(), table);
    check.check(BasicStatistics::of(table).unwrap().propagate_nan(true), table);
    check.check(Covariance::of(table).unwrap(), table);
}

/// A table of values of different magnitudes, some of which are no finite numbers, after a column of categories.
fn random_table(random: &mut Random, rows: usize, columns: usize) -> HomogenNumericTable<f64> {
    let mut value = |column: usize| match random.below(40) {
        _ if column == 0 => random.below(4) as f64,
        0 => f64::NAN,
        1 if column % 3 == 1 => [f64::INFINITY, f64::NEG_INFINITY][random.below(2)],
        2 => -0.0,
        3 if column % 3 == 2 => 1e300 * random.below(100) as f64,
        _ => 1e6 * column as f64 + random.below(1000) as f64 / 7.0,
    };
    let values = (0..rows * columns).map(|place| value(place % columns)).collect::<Vec<_>>();
    let names = (0..columns).map(|column| Feature::new(ElementType::F64).named(format!("column {column}")));
    let table = HomogenNumericTable::from_array(values, shape(rows, columns)).unwrap();
    table.described_by(names.collect()).unwrap()
}
