//! A step of k-means, compared with the loop that scikit-learn calls for one, and Gram matrices, compared with `X.T @
//! X` in NumPy.

use std::hint::black_box;

use numeric_table::prelude::*;
use numeric_table::{Partial, statistics::GramMatrix};
use numeric_table_learning::KMeansStep;

use crate::measure::Bench;
use crate::statistics::value;

const COLUMNS: usize = 16;

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    for clusters in [8, 100] {
        k_means(bench, clusters)?;
    }
    for (rows, columns) in [(1 << 20, 16), (200_000, 128)] {
        gram(bench, rows, columns)?;
    }
    Ok(())
}

fn k_means(bench: &mut Bench, clusters: usize) -> Result<(), Error> {
    let job = format!("learning/k_means_step/f32/{COLUMNS}_columns/{clusters}_clusters");
    if !bench.wants(&job) && !bench.wants(&job.replace("step", "update")) {
        return Ok(());
    }
    let rows = if bench.is_small() { 1000 } else { 1 << 20 };
    let table =
        HomogenNumericTable::from_fn(Shape { rows, columns: COLUMNS }, |row, column| value(row, column) as f32)?;
    let step = KMeansStep::new(&table.slice_rows(..clusters)?)?;
    assert_eq!(step.compute_over(&table)?.counts(), plain_counts(&table, clusters)?, "{job}");
    let mut ours = || drop(black_box(step.compute_over(&table).and_then(|step| step.centroids())));
    if bench.wants(&job) {
        bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    }
    k_means_update(bench, &step, &table)
}

/// Times the same step by `update`, which adds the rows of a block: here of the entire table.
fn k_means_update(bench: &mut Bench, step: &KMeansStep, table: &HomogenNumericTable<f32>) -> Result<(), Error> {
    let job = format!("learning/k_means_update/f32/{COLUMNS}_columns/{}_clusters", step.cluster_count());
    if !bench.wants(&job) {
        return Ok(());
    }
    let update = || -> Result<KMeansStep, Error> {
        let mut all = step.new_like()?;
        all.update(table)?;
        Ok(all)
    };
    assert_eq!(update()?.counts(), step.compute_over(table)?.counts(), "{job}");
    let mut ours = || drop(black_box(update().and_then(|step| step.centroids())));
    bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    Ok(())
}

/// Counts the rows that are nearest to each of the first ones.
fn plain_counts(table: &HomogenNumericTable<f32>, clusters: usize) -> Result<Vec<u64>, Error> {
    let rows = table.as_slice()?.as_chunks::<COLUMNS>().0;
    let mut counts = vec![0; clusters];
    for row in rows {
        let distance = |cluster: usize| -> f64 {
            row.iter().zip(&rows[cluster]).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum()
        };
        let mut best = (distance(0), 0);
        for cluster in 1..clusters {
            let found = distance(cluster);
            if found < best.0 {
                best = (found, cluster);
            }
        }
        counts[best.1] += 1;
    }
    Ok(counts)
}

fn gram(bench: &mut Bench, rows: usize, columns: usize) -> Result<(), Error> {
    let job = format!("learning/gram_matrix/f64/{columns}_columns");
    if !bench.wants(&job) {
        return Ok(());
    }
    let rows = if bench.is_small() { 1000 } else { rows };
    let table = HomogenNumericTable::from_fn(Shape { rows, columns }, value)?;
    let found = GramMatrix::compute(&table)?.matrix()?;
    for (i, j) in [(0, 0), (1, 0), (columns - 1, columns / 2)] {
        let expected: f64 = (0..rows).map(|row| value(row, i) * value(row, j)).sum();
        assert!((found.value::<f64>(i, j)? / expected - 1.0).abs() < 1e-12, "{job}");
    }
    let mut ours = || drop(black_box(GramMatrix::compute(&table).and_then(|gram| gram.matrix())));
    bench.compare(&job, 1, &mut [("ours", &mut ours)]);
    Ok(())
}
