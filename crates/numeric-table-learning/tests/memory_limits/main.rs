//! How much memory reading damaged bytes of results takes. A program apart: its allocator counts.

#[path = "../../../../tests/memory_limits/counting.rs"]
mod counting;
#[path = "../../../../tests/memory_limits/partial_bytes.rs"]
mod partial_bytes;

use numeric_table::prelude::*;
use numeric_table_learning::{GaussianNaiveBayes, KMeansStep, LinearRegression, NaiveBayes};

use crate::partial_bytes::check;

#[test]
fn reading_a_result_takes_at_most_four_times_its_bytes() {
    for columns in [1, 9, 300, 1000] {
        check(&LinearRegression::new(columns - 1, 1).unwrap());
    }
    for (columns, many) in [(2, 1), (2, 30_000), (3, 5), (30_000, 1), (300, 100)] {
        check(&NaiveBayes::new(columns, 1, many).unwrap());
        check(&GaussianNaiveBayes::new(columns, 1, many).unwrap());
        let centroids =
            HomogenNumericTable::from_array(vec![1.0; many * columns], Shape { rows: many, columns }).unwrap();
        check(&KMeansStep::new(&centroids).unwrap());
    }
}
