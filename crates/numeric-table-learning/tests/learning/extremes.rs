//! Values at the ends of the range of `f64`: what is finite in exact arithmetic is finite here.

use numeric_table::{Partial, prelude::*, statistics::BasicStatistics};
use numeric_table_learning::{GaussianNaiveBayes, KMeansStep, NaiveBayes};
use test_support::bits::Random;
use test_support::tables::shape;

type Matrix = HomogenNumericTable<f64>;

const MAX: f64 = f64::MAX;
const EXTREMES: [f64; 12] =
    [MAX, -MAX, 1.7e308, -1.7e308, 1e308, -9e307, 1e300, -1e-300, 5e-324, 0.0, f64::MIN_POSITIVE, 1.0];

fn column(values: &[f64]) -> Matrix {
    Matrix::from_array(values.to_vec(), shape(values.len(), 1)).unwrap()
}

/// Near each other, relative to the largest number that a mean is made of.
fn near(found: f64, expected: f64, largest: f64) -> bool {
    found.is_finite() && (found / 2.0 - expected / 2.0).abs() <= 1e-13 * largest
}

fn of_extremes(random: &mut Random, rows: usize, columns: usize) -> Matrix {
    let values = (0..rows * columns).map(|_| EXTREMES[random.below(EXTREMES.len())]).collect::<Vec<_>>();
    Matrix::from_array(values, shape(rows, columns)).unwrap()
}

#[test]
fn the_centroid_of_values_whose_sum_overflows_is_their_mean() {
    let start = column(&[1.7e308]);
    let step = KMeansStep::new(&start).unwrap().compute_over(&column(&[1.7e308; 3])).unwrap();
    assert_eq!(step.centroids().unwrap().as_slice().unwrap(), [1.7e308]);
    assert_eq!(step.sums().unwrap().as_slice().unwrap(), [f64::INFINITY]);
    assert_eq!(step.shift(), 0.0);
    let read = KMeansStep::from_bytes(&step.to_bytes().unwrap()).unwrap();
    assert_eq!(read, step);

    // A sum that comes back, in one call and in several.
    let mut parts = KMeansStep::new(&start).unwrap();
    for part in [&[MAX, MAX][..], &[1e308], &[-MAX, -MAX]] {
        parts.merge(&KMeansStep::new(&start).unwrap().compute_over(&column(part)).unwrap()).unwrap();
    }
    let once = KMeansStep::new(&start).unwrap().compute_over(&column(&[MAX, MAX, 1e308, -MAX, -MAX])).unwrap();
    for step in [parts, once] {
        let mean = step.centroids().unwrap().as_slice().unwrap()[0];
        assert!(near(mean, 0.2e308, MAX), "{mean:e}");
    }
}

#[test]
fn centroids_of_extreme_values_are_the_means_of_their_rows() {
    let mut random = Random::new(7);
    for (rows, columns) in [(1, 1), (7, 3), (300, 9), (3000, 2)] {
        let table = of_extremes(&mut random, rows, columns);
        let start = Matrix::from_array(vec![0.0; columns], shape(1, columns)).unwrap();
        let step = KMeansStep::new(&start).unwrap().compute_over(&table).unwrap();
        let statistics = BasicStatistics::compute(&table).unwrap();
        for (found, column) in step.centroids().unwrap().as_slice().unwrap().iter().zip(statistics.per_column()) {
            assert!(near(*found, column.mean(), MAX), "{found:e} {:e}", column.mean());
        }
    }
}

#[test]
fn a_model_of_counts_whose_sum_overflows_has_their_shares() {
    let table = Matrix::from_rows(&[[1.7e308, 0.0, 0.0], [1.7e308, 0.85e308, 0.0], [1.0, 1.7e308, 1.0]]).unwrap();
    let counts = NaiveBayes::compute(&table, 2, 2).unwrap();
    let model = counts.model(1.0).unwrap();
    let logarithms = model.log_probabilities().unwrap();
    let [many, few, least, all] = *logarithms.as_slice().unwrap() else { panic!() };
    assert!((many - 0.8_f64.ln()).abs() < 1e-15 && (few - 0.2_f64.ln()).abs() < 1e-14 && all == 0.0);
    assert!((least - (2.0_f64.ln() - 1.7e308_f64.ln())).abs() < 1e-12, "{least}"); // too small a share for an `f64`
    let asked = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1e308, 1.0], [1.0, 1e308], [1.7e308, 1.7e308]]).unwrap();
    assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap(), [0, 1, 0, 1, 0]);
    let read = NaiveBayes::from_bytes(&counts.to_bytes().unwrap()).unwrap();
    assert_eq!((read.model(1.0).unwrap(), &read), (model, &counts));
    assert!(counts.model(1.7e308).unwrap().log_probabilities().unwrap().as_slice().unwrap().iter().all(|l| *l < 0.0));

    let mut random = Random::new(17);
    for _ in 0..200 {
        let rows = (0..6).map(|row| {
            let count = |random: &mut Random| EXTREMES[random.below(EXTREMES.len())].abs();
            [count(&mut random), count(&mut random), count(&mut random), f64::from(row % 2)]
        });
        let table = Matrix::from_row_iter(rows.collect::<Vec<_>>()).unwrap();
        let model = NaiveBayes::compute(&table, 3, 2).unwrap().model(1e-3).unwrap();
        let logarithms = model.log_probabilities().unwrap();
        for class in logarithms.as_slice().unwrap().chunks(3) {
            let sum: f64 = class.iter().map(|logarithm| logarithm.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-12 && class.iter().all(|logarithm| logarithm.is_finite()), "{class:?}");
        }
        let features = table.drop_columns([3]).unwrap();
        check_probabilities(&model.predict_log_probabilities(&features).unwrap(), &model.predict(&features).unwrap());
    }
}

/// The class that is predicted has the largest probability, and the probabilities of each row are 1 together.
fn check_probabilities(logarithms: &Matrix, classes: &HomogenNumericTable<i32>) {
    let columns = logarithms.shape().columns;
    for (row, class) in logarithms.as_slice().unwrap().chunks(columns).zip(classes.as_slice().unwrap()) {
        let sum: f64 = row.iter().map(|logarithm| logarithm.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{row:?}");
        assert!(row.iter().all(|logarithm| *logarithm <= row[*class as usize]), "{row:?} {class}");
    }
}

#[test]
fn a_row_too_far_from_every_class_belongs_to_the_nearest() {
    let table = Matrix::from_rows(&[[1.0, 0.0], [3.0, 0.0], [7.0, 1.0], [9.0, 1.0]]).unwrap();
    let model = GaussianNaiveBayes::compute(&table, 1, 3).unwrap().model(1e-9).unwrap();
    let asked = column(&[1e200, -1e200, MAX, -MAX, 2e154, 5.0]);
    let (classes, logarithms) = (model.predict(&asked).unwrap(), model.predict_log_probabilities(&asked).unwrap());
    check_probabilities(&logarithms, &classes);
    assert!(logarithms.as_slice().unwrap().chunks(3).all(|row| row[2] == f64::NEG_INFINITY));
    assert!(logarithms.as_slice().unwrap()[15..17].iter().all(|half| (half - 0.5_f64.ln()).abs() < 1e-15));

    // Of deviations that differ, the larger one wins far away, by more than an `f64` can say or by less.
    let table = Matrix::from_rows(&[[-1.0, 0.0], [1.0, 0.0], [-1e10, 1.0], [1e10, 1.0]]).unwrap();
    let model = GaussianNaiveBayes::compute(&table, 1, 2).unwrap().model(0.0).unwrap();
    let asked = column(&[1e200, -MAX, 2e164, 1e155, 0.0]);
    let (classes, logarithms) = (model.predict(&asked).unwrap(), model.predict_log_probabilities(&asked).unwrap());
    assert_eq!(classes.as_slice().unwrap(), [1, 1, 1, 1, 0]);
    check_probabilities(&logarithms, &classes);
    let near = [[1.0, 0.0], [3.0, 0.0], [1.0 + 1e-10, 1.0], [3.0 + 1e-10, 1.0]];
    let model = GaussianNaiveBayes::compute(&Matrix::from_rows(&near).unwrap(), 1, 2).unwrap().model(0.0).unwrap();
    let found = model.predict_log_probabilities(&column(&[1e155, -1e155])).unwrap();
    assert!(!found.as_slice().unwrap().iter().any(|logarithm| logarithm.is_nan()), "{found}");
}

#[test]
fn a_row_that_is_impossible_in_every_class_has_no_probabilities() {
    let table = Matrix::from_rows(&[[1.0, 0.0, 0.0], [2.0, 0.0, 1.0]]).unwrap();
    let model = NaiveBayes::compute(&table, 2, 2).unwrap().model(0.0).unwrap();
    let asked = Matrix::from_rows(&[[0.0, 1.0], [1e308, 1e308]]).unwrap();
    assert!(model.predict_log_probabilities(&asked).unwrap().as_slice().unwrap().iter().all(|value| value.is_nan()));
    assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap(), [0, 0]);
}

#[test]
fn a_tiny_count_of_an_impossible_feature_keeps_its_class_impossible() {
    // Class 0 never has feature 0. Feature 1 is rare in class 1, so that the logarithms of both classes overflow.
    let table = Matrix::from_rows(&[[0.0, 1.0, 9.0, 0.0], [9.0, 1.0, 9.0, 1.0]]).unwrap();
    let model = NaiveBayes::compute(&table, 3, 2).unwrap().model(0.0).unwrap();
    for tiny in [1e-200, f64::MIN_POSITIVE, 5e-324] {
        let asked = Matrix::from_rows(&[[tiny, 1.7e308, 0.0]]).unwrap();
        assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap(), [1]);
        let found = model.predict_log_probabilities(&asked).unwrap();
        assert_eq!(found.as_slice().unwrap(), [f64::NEG_INFINITY, 0.0]);
    }
}
