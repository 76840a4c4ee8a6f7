//! Bytes that were changed on purpose, with a corrected checksum: an error, or a result that every call can use.

use numeric_table::{Partial, prelude::*};
use numeric_table_learning::{GaussianNaiveBayes, KMeansStep, LinearRegression, NaiveBayes};
use test_support::results::change;

#[test]
fn changed_bytes_of_a_k_means_step_are_refused_or_a_step() {
    let table = HomogenNumericTable::from_rows(&[[1.0, 2.0], [30.0, 4.0], [5.0, f64::NAN], [7.0, 8.0]]).unwrap();
    let step = KMeansStep::new(&table.slice_rows(..2).unwrap()).unwrap().compute_over(&table).unwrap();
    let read = change(&step, |mut read| {
        let _ = (read.row_count(), read.inertia(), read.shift(), read.non_finite_rows(), read.counts().len());
        read.sums().unwrap();
        let _ = KMeansStep::new(&read.centroids().unwrap());
        let _ = (read.update(&table), read.assign(&table), read.merge(&step), read.compute_over(&table));
        let _ = read.clone().merge(&read);
        KMeansStep::from_bytes(&read.to_bytes().unwrap()).unwrap();
    });
    assert!(read > 1000, "{read}");
}

#[test]
fn changed_bytes_of_counts_are_refused_or_counts() {
    let table = HomogenNumericTable::from_rows(&[[1.0, 2.0, 0.0], [30.0, 4.0, 1.0], [5.0, 0.5, 1.0]]).unwrap();
    let counts = NaiveBayes::compute(&table, 2, 2).unwrap();
    let read = change(&counts, |mut read| {
        let _ = (read.row_count(), read.feature_count(), read.class_count());
        read.counts().unwrap();
        if let Ok(model) = read.model(0.0) {
            let features = table.drop_columns([2]).unwrap();
            let _ = (model.predict(&features), model.predict_log_probabilities(&features));
        }
        let _ = (read.update(&table), read.merge(&counts), read.compute_over(&table));
        let _ = read.clone().merge(&read);
        NaiveBayes::from_bytes(&read.to_bytes().unwrap()).unwrap();
    });
    assert!(read > 1000, "{read}");
}

#[test]
fn changed_bytes_of_statistics_of_classes_are_refused_or_statistics() {
    let table = HomogenNumericTable::from_rows(&[[1.0, 2.0, 0.0], [30.0, 4.0, 1.0], [5.0, 0.5, 1.0]]).unwrap();
    let statistics = GaussianNaiveBayes::compute(&table, 2, 2).unwrap();
    let read = change(&statistics, |mut read| {
        let _ = (read.row_count(), read.feature_count(), read.class_count(), read.class_rows().len());
        let features = table.drop_columns([2]).unwrap();
        let priors = vec![1.0 / read.class_count() as f64; read.class_count()];
        for model in [read.model(0.1), read.model_with_priors(&priors, 0.0)].into_iter().flatten() {
            let _ = (model.means().unwrap(), model.variances().unwrap());
            let _ = (model.predict(&features), model.predict_log_probabilities(&features));
        }
        let _ = (read.update(&table), read.merge(&statistics), read.compute_over(&table));
        let _ = read.clone().merge(&read);
        GaussianNaiveBayes::from_bytes(&read.to_bytes().unwrap()).unwrap();
    });
    assert!(read > 1000, "{read}");
}

#[test]
fn changed_bytes_of_a_regression_are_refused_or_equations() {
    let table = HomogenNumericTable::from_rows(&[[1.0, 2.0, 0.0], [30.0, 4.0, 1.0], [5.0, 0.5, 1.0]]).unwrap();
    for empty in [LinearRegression::new(1, 2).unwrap(), LinearRegression::with_extended_precision(1, 2).unwrap()] {
        let equations = empty.compute_over(&table).unwrap();
        let read = change(&equations, |mut read| {
            let _ = (read.row_count(), read.feature_count(), read.target_count());
            for model in [read.solve(), read.solve_ridge(1.0)].into_iter().flatten() {
                model.coefficients().unwrap();
                let _ = model.predict(&table.select_columns(..model.feature_count()).unwrap()).unwrap();
            }
            let _ = (read.update(&table), read.merge(&equations), read.compute_over(&table));
            let _ = read.clone().merge(&read);
            LinearRegression::from_bytes(&read.to_bytes().unwrap()).unwrap();
        });
        assert!(read > 1000, "{read}");
    }
}
