//! Damaged and invented bytes of partial results: reading them takes at most 4 times their size plus 1 MiB of memory.

use numeric_table::{
    prelude::*,
    statistics::{BasicStatistics, Covariance, GramMatrix, GroupStatistics, Histogram, HistogramBins, QuantileSketch},
};

use super::partial_bytes::check;
use super::scratch::alone;

#[test]
fn reading_a_partial_result_takes_at_most_four_times_its_bytes() {
    let _alone = alone();
    for columns in [1, 3, 30_000] {
        check(&BasicStatistics::new(columns).unwrap());
        check(&QuantileSketch::new(columns).unwrap());
        check(&Histogram::new(columns, &HistogramBins::uniform(0.0, 1.0, 1).unwrap()).unwrap());
        let bins = (0..columns).map(|_| HistogramBins::with_edges([0.0, 1.0]).unwrap());
        check(&Histogram::with_bins(bins).unwrap());
        check(&GroupStatistics::new(2, 0, columns).unwrap());
        check(&GroupStatistics::new(columns, 0, 1).unwrap());
    }
    for columns in [1, 9, 300, 1000] {
        check(&Covariance::new(columns).unwrap());
        check(&GramMatrix::new(columns).unwrap());
    }
    // One value on the last of many levels, in each of many columns.
    let mut sketch = QuantileSketch::with_capacity(3, 2).unwrap();
    sketch.update_values(&(0..3 << 12).map(f64::from).collect::<Vec<_>>()).unwrap();
    for _ in 0..40 {
        sketch.merge(&sketch.clone()).unwrap();
    }
    check(&sketch);
    let names = (0..2000).map(|column| Feature::new(ElementType::F64).named(format!("{column}"))).collect();
    let table = HomogenNumericTable::from_array(vec![1.0; 2000], Shape { rows: 1, columns: 2000 }).unwrap();
    check(&BasicStatistics::compute(&table.with_dictionary(names).unwrap()).unwrap());
}
