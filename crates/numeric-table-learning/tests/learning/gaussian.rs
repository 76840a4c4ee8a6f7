//! Gaussian naive Bayes: statistics of classes, and models of them.

use numeric_table::{Partial, prelude::*, statistics::GroupStatistics};
use numeric_table_learning::{GaussianNaiveBayes, GaussianNaiveBayesModel};
use test_support::bits::Random;
use test_support::results::{bytes, check_promises, data, kinds, with_any_threads};
use test_support::tables::{LAYOUTS, assert_error, shape};
use test_support::{SmallNumber, for_each_element};

/// A data set with the number of its class, in the order in which classes appear, as the last column.
fn with_classes(name: &str) -> HomogenNumericTable<f64> {
    let (features, words) = data(name);
    let mut known: Vec<&str> = Vec::new();
    let mut class = |word| match known.iter().position(|one| *one == word) {
        Some(class) => class,
        None => {
            known.push(word);
            known.len() - 1
        }
    };
    let rows = features.as_slice().unwrap().chunks(features.column_count()).zip(&words);
    let rows = rows.map(|(row, word)| [row, &[class(word) as f64]].concat()).collect::<Vec<_>>();
    HomogenNumericTable::from_row_iter(rows).unwrap()
}

fn features_of(table: &HomogenNumericTable<f64>) -> HomogenNumericTable<f64> {
    let last = table.column_count() - 1;
    table.drop_columns([last]).unwrap().convert::<f64>().unwrap()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1e-2), "{found} is not {expected}");
    }
}

/// The rows whose predicted class is wrong.
fn wrong(model: &GaussianNaiveBayesModel, table: &HomogenNumericTable<f64>) -> Vec<usize> {
    let (classes, last) = (model.predict(&features_of(table)).unwrap(), table.column_count() - 1);
    let is_wrong = |row: &usize| classes.value::<f64>(*row, 0).unwrap() != table.value::<f64>(*row, last).unwrap();
    (0..table.row_count()).filter(is_wrong).collect()
}

#[test]
fn iris_and_wine_have_the_models_of_scikit_learn() {
    let iris = with_classes("iris.csv");
    let statistics = GaussianNaiveBayes::compute(&iris, 4, 3).unwrap();
    assert_eq!(statistics.class_rows(), [50, 50, 50]);
    let model = statistics.model(1e-9).unwrap(); // GaussianNB()
    let means = [5.006, 3.428, 1.462, 0.246, 5.936, 2.77, 4.26, 1.326, 6.588, 2.974, 5.552, 2.026];
    assert_near(model.means().unwrap().as_slice().unwrap(), &means);
    let variances = [
        0.12176400309550259,
        0.14081600309550263,
        0.029556003095502676,
        0.010884003095502673,
        0.2611040030955028,
        0.09650000309550268,
        0.21640000309550278,
        0.03832400309550265,
        0.39625600309550263,
        0.10192400309550273,
        0.2984960030955029,
        0.07392400309550265,
    ];
    assert_near(model.variances().unwrap().as_slice().unwrap(), &variances);
    assert_eq!(wrong(&model, &iris), [52, 70, 77, 106, 119, 133]);
    let row = |table: &HomogenNumericTable<f64>, row| features_of(table).slice_rows(row..row + 1).unwrap();
    let logarithms = model.predict_log_probabilities(&row(&iris, 70)).unwrap();
    assert_near(logarithms.as_slice().unwrap(), &[-298.3838105564625, -1.8675994685300958, -0.16782011474116398]);

    let model = statistics.model_with_priors(&[0.2, 0.3, 0.5], 0.01).unwrap();
    assert_eq!(wrong(&model, &iris), [52, 70, 77, 83, 106, 119, 133]);
    let logarithms = model.predict_log_probabilities(&row(&iris, 70)).unwrap();
    assert_near(logarithms.as_slice().unwrap(), &[-121.37379859697903, -1.3425099496352817, -0.3027135116019086]);

    let wine = with_classes("wine.csv");
    let model = GaussianNaiveBayes::compute(&wine, 13, 3).unwrap().model(1e-9).unwrap();
    assert_eq!(wrong(&model, &wine), [25, 83]);
    let logarithms = model.predict_log_probabilities(&row(&wine, 65)).unwrap();
    assert_near(logarithms.as_slice().unwrap(), &[-5.481810887480073, -0.004170470679156324, -36.04933570939769]);
    let found = model.variances().unwrap().rows::<f64>(1..2).unwrap()[..].to_vec();
    assert_near(&found[11..], &[0.2432108095612911, 24367.26413352332]);
}

/// What a model says of rows, by its definition: the logarithm of each class, less that of all.
fn plain(rows: &[Vec<f64>], classes: usize, smoothing: f64, asked: &[f64]) -> Vec<f64> {
    let variance = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64)
    };
    let column = |column: usize, class: Option<usize>| -> Vec<f64> {
        let rows = rows.iter().filter(|row| class.is_none_or(|class| row[0] == class as f64));
        rows.map(|row| row[column]).filter(|value| !value.is_nan()).collect()
    };
    let columns = 1..rows[0].len();
    let largest = columns.clone().map(|at| variance(&column(at, None)).1).fold(0.0, f64::max);
    let joint = |class: usize| {
        let prior = column(0, Some(class)).len() as f64 / rows.len() as f64;
        let density = |at: usize| {
            let (mean, variance) = variance(&column(at, Some(class)));
            let variance = variance + smoothing * largest;
            let density = (std::f64::consts::TAU * variance).sqrt().recip();
            density.ln() - (asked[at - 1] - mean).powi(2) / (2.0 * variance)
        };
        prior.ln() + columns.clone().filter(|&at| !asked[at - 1].is_nan()).map(density).sum::<f64>()
    };
    let all: Vec<f64> = (0..classes).map(joint).collect();
    let largest = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = largest + all.iter().map(|one| (one - largest).exp()).sum::<f64>().ln();
    all.iter().map(|one| one - total).collect()
}

#[test]
fn models_are_what_plain_loops_compute_and_missing_values_count_nothing() {
    let mut random = Random::new(21);
    for (count, features, classes) in [(2, 1, 1), (60, 3, 3), (300, 17, 4), (1200, 8, 5)] {
        let mut value = |class: usize| match random.below(12) {
            0 if count > 10 => f64::NAN,
            _ => class as f64 + random.below(1000) as f64 / 100.0,
        };
        let row = |row: usize| {
            let class = row % classes;
            [vec![class as f64], (0..features).map(|_| value(class)).collect()].concat()
        };
        let rows: Vec<Vec<f64>> = (0..count).map(row).collect();
        let table = HomogenNumericTable::from_row_iter(&rows).unwrap();
        let model = GaussianNaiveBayes::compute(&table, 0, classes).unwrap().model(0.01).unwrap();
        let asked = table.drop_columns([0]).unwrap();
        let (found, predicted) = (model.predict_log_probabilities(&asked).unwrap(), model.predict(&asked).unwrap());
        for (at, row) in rows.iter().enumerate().take(50) {
            let expected = plain(&rows, classes, 0.01, &row[1..]);
            let found = found.rows::<f64>(at..at + 1).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-10 * expected.abs().max(1.0), "{found} is not {expected}");
            }
            let best = expected.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(best - expected[predicted.value::<i32>(at, 0).unwrap() as usize] < 1e-10);
        }
    }
}

#[test]
fn every_type_layout_and_kind_of_table_gives_the_same_statistics() {
    fn check<T: SmallNumber>() {
        let numbers = [3, 0, 5, 1, 1, 0, 0, 1, 2, 2, 0, 7, 4, 1, 9].map(T::small);
        let rows = HomogenNumericTable::from_array(numbers.to_vec(), shape(5, 3)).unwrap();
        for layout in LAYOUTS {
            let statistics = GaussianNaiveBayes::compute(&rows.to_layout(layout).unwrap(), 1, 3).unwrap();
            assert_eq!(statistics.class_rows(), [2, 3, 0]);
            let model = statistics.model(0.0).unwrap();
            let means = model.means().unwrap();
            assert_eq!(means.as_slice().unwrap()[..3], [2.5, 6.0, 5.0 / 3.0]);
            assert!(means.as_slice().unwrap()[4..].iter().all(|mean| mean.is_nan()));
            assert_eq!((statistics.feature_count(), statistics.class_count(), statistics.row_count()), (2, 3, 5));
        }
    }
    for_each_element!(check);
    let iris = with_classes("iris.csv");
    let empty = GaussianNaiveBayes::new(5, 4, 3).unwrap();
    let expected = empty.compute_over(&iris).unwrap();
    let model = expected.model(1e-9).unwrap();
    let classes = model.predict(&features_of(&iris)).unwrap();
    for table in kinds(&iris) {
        assert_eq!(empty.compute_over(&*table).unwrap().model(1e-9).unwrap(), model);
        check_promises(&empty, &*table);
    }
    for features in kinds(&features_of(&iris)) {
        assert_eq!(model.predict(&*features).unwrap(), classes);
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let value = |i: u32| match i % 8 {
        1 => (i / 8 % 4) as f32,
        _ => (i.wrapping_mul(2_654_435_761) >> 10) as f32 / 1e3,
    };
    let values: Vec<f32> = (0..4_800_000).map(value).collect();
    let table = HomogenNumericTable::from_array(values, shape(600_000, 8)).unwrap();
    let empty = GaussianNaiveBayes::new(8, 1, 4).unwrap();
    let found = with_any_threads(|| bytes(&empty.compute_over(&table).unwrap()));
    let model = GaussianNaiveBayes::from_bytes(&found).unwrap().model(1e-9).unwrap();
    let some = table.slice_rows(..100_000).unwrap();
    let features = some.drop_columns([1]).unwrap();
    with_any_threads(|| model.predict_log_probabilities(&features).unwrap().as_slice().unwrap().to_vec());
}

#[test]
fn classes_without_rows_are_never_predicted_and_no_features_leave_the_priors() {
    let table = HomogenNumericTable::from_rows(&[[1.0, 0.0], [3.0, 0.0], [5.0, 3.0], [6.0, 3.0]]).unwrap();
    let statistics = GaussianNaiveBayes::compute(&table, 1, 4).unwrap();
    let asked = HomogenNumericTable::from_rows(&[[-1e6], [2.0], [1e6], [f64::NAN]]).unwrap();
    for model in [statistics.model(1e-9), statistics.model_with_priors(&[0.125, 0.75, 0.0, 0.125], 1e-9)] {
        let model = model.unwrap();
        assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap(), [0, 0, 0, 0]);
        let logarithms = model.predict_log_probabilities(&asked).unwrap();
        let missing = logarithms.rows::<f64>(3..4).unwrap();
        assert_eq!(missing[1..3], [f64::NEG_INFINITY; 2]);
        assert_near(&[missing[0], missing[3]], &[0.5_f64.ln(); 2]);
    }
    let only_classes = HomogenNumericTable::from_rows(&[[1_u8], [0], [1]]).unwrap();
    let model = GaussianNaiveBayes::compute(&only_classes, 0, 2).unwrap().model(0.0).unwrap();
    assert_eq!(model.means().unwrap().shape(), shape(2, 0));
    let asked = HomogenNumericTable::<f32>::zeros(shape(3, 0)).unwrap();
    assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap(), [1, 1, 1]);
}

#[test]
fn values_of_any_magnitude_have_a_density() {
    for scale in [1e-150, 1.0, 1e150] {
        let rows = [[1.0, 0.0], [3.0, 0.0], [6.0, 1.0], [8.0, 1.0]].map(|[value, class]| [value * scale, class]);
        let table = HomogenNumericTable::from_rows(&rows).unwrap();
        let model = GaussianNaiveBayes::compute(&table, 1, 2).unwrap().model(0.0).unwrap();
        let asked = HomogenNumericTable::from_rows(&[[2.5 * scale], [4.5 * scale], [7.0 * scale]]).unwrap();
        let found = model.predict_log_probabilities(&asked).unwrap();
        assert!((found.value::<f64>(1, 0).unwrap() - 0.5_f64.ln()).abs() < 1e-12);
        assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap()[2], 1);
    }
}

#[test]
fn what_has_no_density_and_what_is_no_class_is_refused_with_its_place() {
    let good = HomogenNumericTable::from_rows(&[[1.0, 0.0, 2.0], [2.0, 0.0, 4.0], [5.0, 1.0, 3.0]]).unwrap();
    let mut statistics = GaussianNaiveBayes::compute(&good, 1, 2).unwrap();
    let before = bytes(&statistics);
    for bad in [-1.0, 0.5, 2.0, f64::NAN] {
        let mut table = good.to_compact().unwrap();
        table.set_value(2, 1, bad).unwrap();
        assert_error!(
            statistics.update(&table),
            ErrorKind::ValueNotAllowed { row: 2, column: 1, .. },
            "expected an integer from 0 to 1"
        );
    }
    let other = |columns, by, classes| GaussianNaiveBayes::new(columns, by, classes).unwrap();
    assert_error!(
        statistics.merge(&other(3, 2, 2)),
        ErrorKind::NotCombinable { .. },
        "rows are grouped by column 2, not by column 1"
    );
    assert_error!(statistics.merge(&other(3, 1, 3)), ErrorKind::ShapeMismatch { .. });
    assert_eq!(bytes(&statistics), before);
    assert_error!(GaussianNaiveBayes::new(3, 3, 2), ErrorKind::ColumnOutOfRange { column: 3, column_count: 3 });
    assert_error!(
        GaussianNaiveBayes::new(3, 0, 0),
        ErrorKind::ParameterOutOfRange { name, .. } if name == "the number of classes"
    );
    assert_error!(
        GaussianNaiveBayes::compute(&good, 1, None),
        ErrorKind::NotSolvable { column: Some(1), .. },
        "number of categories"
    );
    let none = GroupStatistics::new(3, 1, 0).unwrap();
    assert!(serde_json::from_str::<GaussianNaiveBayes>(&serde_json::to_string(&none).unwrap()).is_err());
    assert_error!(GaussianNaiveBayes::try_from(none), ErrorKind::ParameterOutOfRange { .. });

    assert_error!(other(3, 1, 2).model(1e-9), ErrorKind::TooFewRows { rows: 0, needed: 1 });
    assert_error!(statistics.model(0.0), ErrorKind::NotSolvable { column: Some(0), .. }, "one value");
    for smoothing in [-1.0, f64::NAN, f64::INFINITY] {
        assert_error!(
            statistics.model(smoothing),
            ErrorKind::ParameterOutOfRange { name, .. } if name == "var_smoothing"
        );
    }
    assert_error!(statistics.model_with_priors(&[1.0], 0.1), ErrorKind::LengthMismatch { expected: 2, actual: 1 });
    for priors in [[0.5, 0.4], [1.5, -0.5], [f64::NAN, 1.0], [f64::INFINITY, 0.0]] {
        assert_error!(statistics.model_with_priors(&priors, 0.1), ErrorKind::ParameterOutOfRange { .. });
    }
    let first = GaussianNaiveBayes::compute(&good.slice_rows(..2).unwrap(), 1, 2).unwrap();
    assert_error!(first.model_with_priors(&[0.0, 1.0], 0.1), ErrorKind::TooFewRows { .. });
    for (bad, class) in [(f64::INFINITY, 0.0), (f64::NEG_INFINITY, 0.0), (1e300, 0.0), (f64::NAN, 1.0)] {
        let rows = [[1.0, 0.0, 2.0], [2.0, 0.0, -bad], [2.0, class, bad], [2.0, 0.0, 0.0]];
        let statistics = GaussianNaiveBayes::compute(&HomogenNumericTable::from_rows(&rows).unwrap(), 1, 2).unwrap();
        assert_error!(statistics.model(0.1), ErrorKind::NotSolvable { column: Some(2), .. }, "not finite");
    }
    let model = statistics.model(0.1).unwrap();
    assert_error!(model.predict(&good), ErrorKind::LengthMismatch { expected: 2, actual: 3 });
    let asked = HomogenNumericTable::from_rows(&[[1.0, 2.0], [f64::NAN, f64::INFINITY]]).unwrap();
    assert_error!(
        model.predict(&asked),
        ErrorKind::ValueNotAllowed { row: 1, column: 1, value: f64::INFINITY, .. },
        "not finite"
    );
    assert_error!(
        model.predict_log_probabilities(&asked),
        ErrorKind::ValueNotAllowed { row: 1, column: 1, .. },
        "not finite"
    );
}

#[test]
fn a_row_too_far_off_for_any_density_is_of_the_class_that_is_nearest_in_deviations() {
    // The first class has no rows; the values are at least 1e199 deviations off the others, of 0.5 and 1.
    let table = HomogenNumericTable::from_rows(&[[1.0, 1.0], [2.0, 1.0], [5.0, 2.0], [7.0, 2.0]]).unwrap();
    let model = GaussianNaiveBayes::compute(&table, 1, 3).unwrap().model(0.0).unwrap();
    let far = HomogenNumericTable::from_rows(&[[1e200], [-1e200], [1.4]]).unwrap();
    assert_eq!(model.predict(&far).unwrap().as_slice().unwrap(), [2, 2, 1]);
}
