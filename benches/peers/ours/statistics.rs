//! Covariance matrices.

use std::hint::black_box;

use numeric_table::prelude::*;
use numeric_table::statistics::{Covariance, Quantiles};

use crate::measure::Bench;

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    for (rows, columns) in [(1 << 20, 16), (200_000, 128), (20_000, 1024)] {
        covariance(bench, rows, columns)?;
    }
    quantiles(bench)
}

/// Returns the value at a row and a column. Columns are neither equal nor independent.
pub(crate) fn value(row: usize, column: usize) -> f64 {
    ((row * 7 + row * column * 3 + column) % 251) as f64 * 0.99
}

fn covariance(bench: &mut Bench, rows: usize, columns: usize) -> Result<(), Error> {
    let job = format!("statistics/covariance/f64/{columns}_columns");
    if !bench.wants(&job) {
        return Ok(());
    }
    let rows = if bench.is_small() { 1000 } else { rows };
    let table = HomogenNumericTable::from_fn(Shape { rows, columns }, value)?;
    let found = Covariance::compute(&table)?.covariance()?;
    for (i, j) in [(0, 0), (1, 0), (columns - 1, columns / 2), (columns - 1, columns - 1)] {
        let (found, expected) = (found.value::<f64>(i, j)?, plain(rows, i, j));
        assert!((found - expected).abs() < 1e-6, "{job}: {found} at {i}, {j}, not {expected}");
    }
    let mut ours = || drop(black_box(Covariance::compute(&table).and_then(|sums| sums.covariance())));
    bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    Ok(())
}

/// The covariance of two columns, in two passes.
fn plain(rows: usize, i: usize, j: usize) -> f64 {
    let mean = |column: usize| (0..rows).map(|row| value(row, column)).sum::<f64>() / rows as f64;
    let means = (mean(i), mean(j));
    let product = |row: usize| (value(row, i) - means.0) * (value(row, j) - means.1);
    (0..rows).map(product).sum::<f64>() / (rows - 1) as f64
}

fn quantiles(bench: &mut Bench) -> Result<(), Error> {
    let job = "statistics/quartiles/f64/16_columns";
    if !bench.wants(job) {
        return Ok(());
    }
    let rows = if bench.is_small() { 1001 } else { (1 << 20) + 1 };
    let table = HomogenNumericTable::from_fn(Shape { rows, columns: 16 }, value)?;
    let mut column: Vec<f64> = (0..rows).map(|row| value(row, 3)).collect();
    column.sort_by(f64::total_cmp);
    assert_eq!(Quantiles::compute(&table, &[0.25, 0.5, 0.75])?.value(3, 1)?, column[rows / 2], "{job}");
    let mut ours = || drop(black_box(Quantiles::compute(&table, &[0.25, 0.5, 0.75])));
    bench.compare(job, 1, &mut [("ours", &mut ours)]);
    Ok(())
}
