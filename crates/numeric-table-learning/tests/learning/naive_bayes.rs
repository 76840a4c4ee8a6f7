//! Counts of naive Bayes, and models of them.

use numeric_table::{Partial, prelude::*};
use numeric_table_learning::{NaiveBayes, NaiveBayesModel};
use test_support::bits::Random;
use test_support::results::{bytes, check_promises, data, kinds, with_any_threads};
use test_support::tables::{LAYOUTS, assert_error, shape};
use test_support::{SmallNumber, for_each_element};

/// The digits, with the class as the last column.
fn digits() -> HomogenNumericTable<f64> {
    let (features, classes) = data("digits.csv");
    let rows = features.as_slice().unwrap().chunks(64).zip(&classes);
    let rows = rows.map(|(row, class)| row.iter().copied().chain([class.parse().unwrap()]).collect::<Vec<f64>>());
    HomogenNumericTable::from_row_iter(rows).unwrap()
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-13 * expected.abs().max(1.0)
}

#[test]
fn digits_have_the_counts_and_the_model_of_scikit_learn() {
    let table = digits();
    let counts = NaiveBayes::compute(&table, 64, 10).unwrap();
    assert_eq!(counts.class_rows(), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
    let third = counts.counts().unwrap().rows::<f64>(3..4).unwrap()[..12].to_vec();
    assert_eq!(third, [0.0, 118.0, 1535.0, 2593.0, 2603.0, 1369.0, 144.0, 1.0, 2.0, 770.0, 2316.0, 1645.0]);

    let model = counts.model(1.0).unwrap(); // MultinomialNB(alpha=1.0)
    assert!(near(model.log_priors()[3], -2.284387733942138));
    let expected = [-10.93693890418386, -6.15781541107233, -3.600001990476242, -3.0759825393074705];
    let found = model.log_probabilities().unwrap();
    for (column, expected) in expected.into_iter().enumerate() {
        assert!(near(found.value::<f64>(3, column).unwrap(), expected));
    }
    let features = table.drop_columns([64]).unwrap();
    let classes = model.predict(&features).unwrap();
    let right = classes
        .as_slice()
        .unwrap()
        .iter()
        .zip(0..)
        .filter(|&(&class, row)| f64::from(class) == table.value::<f64>(row, 64).unwrap());
    assert_eq!(right.count(), 1627);
    assert_eq!(classes.as_slice().unwrap()[..10], [0, 1, 1, 3, 4, 9, 6, 7, 8, 9]);
    let logarithms = model.predict_log_probabilities(&features).unwrap();
    let expected = [-154.83378181941907, -74.82377445764746, -111.61110323220487, -17.11158536719472];
    for (class, expected) in expected.into_iter().enumerate() {
        assert!(near(logarithms.value::<f64>(5, class).unwrap(), expected));
    }
    assert!((logarithms.value::<f64>(5, 9).unwrap() + 3.702825779328123e-08).abs() < 1e-13);
}

#[test]
fn every_type_layout_and_kind_of_table_gives_the_same_counts() {
    fn check<T: SmallNumber>() {
        let numbers = [3, 0, 5, 1, 1, 0, 0, 1, 2, 2, 0, 7, 4, 1, 9].map(T::small);
        let rows = HomogenNumericTable::from_array(numbers.to_vec(), shape(5, 3)).unwrap();
        for layout in LAYOUTS {
            let counts = NaiveBayes::compute(&rows.to_layout(layout).unwrap(), 1, 3).unwrap();
            assert_eq!(counts.class_rows(), [2, 3, 0]);
            assert_eq!(counts.counts().unwrap().as_slice().unwrap(), [5.0, 12.0, 5.0, 11.0, 0.0, 0.0]);
            assert_eq!((counts.feature_count(), counts.class_count(), counts.row_count()), (2, 3, 5));
        }
    }
    for_each_element!(check);
    let table = digits();
    let expected = NaiveBayes::compute(&table, 64, 10).unwrap();
    let model = expected.model(0.5).unwrap();
    let features = table.drop_columns([64]).unwrap().convert::<f64>().unwrap();
    let classes = model.predict(&features).unwrap();
    for table in kinds(&table) {
        assert_eq!(NaiveBayes::compute(&*table, 64, 10).unwrap(), expected);
        check_promises(&expected.new_like().unwrap(), &*table);
    }
    for features in kinds(&features) {
        assert_eq!(model.predict(&*features).unwrap(), classes);
    }
}

/// The model by its definition, for rows whose first value is the class.
fn plain(rows: &[Vec<f64>], classes: usize, alpha: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let of = |class: usize| rows.iter().filter(move |row| row[0] == class as f64);
    let priors = (0..classes).map(|class| (of(class).count() as f64 / rows.len() as f64).ln());
    let logarithms = (0..classes).map(|class| {
        let sums = (1..rows[0].len()).map(|column| of(class).map(|row| row[column]).sum::<f64>() + alpha);
        let total: f64 = sums.clone().sum();
        sums.map(|sum| (sum / total).ln()).collect()
    });
    (priors.collect(), logarithms.collect())
}

#[test]
fn models_and_predictions_are_what_plain_loops_compute() {
    let mut random = Random::new(11);
    for (count, features, classes) in [(1, 1, 1), (5, 3, 4), (200, 17, 3), (1100, 8, 5)] {
        let row = |_| {
            let values = (0..features).map(|_| random.below(40) as f64 / 4.0).collect::<Vec<_>>();
            [vec![random.below(classes) as f64], values].concat()
        };
        let rows: Vec<Vec<f64>> = (0..count).map(row).collect();
        let table = HomogenNumericTable::from_row_iter(&rows).unwrap();
        let model = NaiveBayes::compute(&table, 0, classes).unwrap().model(0.25).unwrap();
        let (priors, logarithms) = plain(&rows, classes, 0.25);
        assert_eq!(model.log_priors(), priors);
        let found = model.log_probabilities().unwrap();
        assert!(
            found.as_slice().unwrap().iter().zip(logarithms.concat()).all(|(found, expected)| near(*found, expected))
        );

        let features = table.drop_columns([0]).unwrap();
        let predicted = model.predict(&features).unwrap();
        let shares = model.predict_log_probabilities(&features).unwrap();
        for (at, row) in rows.iter().enumerate() {
            let joint = |class: usize| -> f64 {
                priors[class]
                    + row[1..].iter().zip(&logarithms[class]).map(|(value, weight)| value * weight).sum::<f64>()
            };
            let all: Vec<f64> = (0..classes).map(joint).collect();
            let best = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let class = predicted.value::<f64>(at, 0).unwrap() as usize;
            assert!(near(all[class], best));
            let total = best + all.iter().map(|logarithm| (logarithm - best).exp()).sum::<f64>().ln();
            for (class, logarithm) in all.iter().enumerate() {
                let found = shares.value::<f64>(at, class).unwrap();
                assert!(found == logarithm - total || (found - (logarithm - total)).abs() < 1e-11);
            }
        }
    }
}

#[test]
fn without_smoothing_what_no_row_has_is_impossible() {
    let rows = [[2.0, 0.0, 0.0], [0.0, 5.0, 1.0], [0.0, 0.0, 2.0]];
    let model = NaiveBayes::compute(&HomogenNumericTable::from_rows(&rows).unwrap(), 2, 4).unwrap().model(0.0).unwrap();
    let asked = HomogenNumericTable::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]]).unwrap();
    assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap(), [0, 1, 0, 0]);
    let logarithms = model.predict_log_probabilities(&asked).unwrap();
    let never = f64::NEG_INFINITY;
    assert_eq!(logarithms.as_slice().unwrap()[..8], [0.0, never, never, never, never, 0.0, never, never]);
    assert!(logarithms.as_slice().unwrap()[12..].iter().all(|logarithm| logarithm.is_nan()));
}

#[test]
fn whole_numbers_are_exact_and_the_number_of_threads_changes_no_bit() {
    let value = |i: u32| if i % 8 == 1 { (i / 8 % 4) as f32 } else { (i % 1021) as f32 };
    let values: Vec<f32> = (0..4_800_000).map(value).collect();
    let table = HomogenNumericTable::from_array(values, shape(600_000, 8)).unwrap();
    let counts = NaiveBayes::new(8, 1, 4).unwrap();
    let found = NaiveBayes::from_bytes(&with_any_threads(|| bytes(&counts.compute_over(&table).unwrap()))).unwrap();
    let mut expected = [[0_u64; 8]; 4];
    for row in table.as_slice().unwrap().as_chunks::<8>().0 {
        expected[row[1] as usize].iter_mut().zip(row).for_each(|(sum, &value)| *sum += value as u64);
    }
    let expected = expected.map(|[a, _, c, d, e, f, g, h]| [a, c, d, e, f, g, h].map(|sum| sum as f64));
    assert_eq!(found.counts().unwrap().as_slice().unwrap(), expected.as_flattened());
    let some = table.slice_rows(..100_000).unwrap();
    let features = some.drop_columns([1]).unwrap();
    let model = found.model(1.0).unwrap();
    with_any_threads(|| model.predict(&features).unwrap().as_slice().unwrap().to_vec());
}

#[test]
fn no_features_and_no_rows_are_a_table_too() {
    let only_classes = HomogenNumericTable::from_rows(&[[1_u8], [0], [1]]).unwrap();
    let counts = NaiveBayes::compute(&only_classes, 0, 2).unwrap();
    assert_eq!((counts.feature_count(), counts.class_rows()), (0, &[1, 2][..]));
    let model: NaiveBayesModel = counts.model(1.0).unwrap();
    assert_eq!(model.log_probabilities().unwrap().shape(), shape(2, 0));
    let asked = HomogenNumericTable::<f32>::zeros(shape(3, 0)).unwrap();
    assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap(), [1, 1, 1]);
    let none = HomogenNumericTable::<f32>::zeros(shape(0, 0)).unwrap();
    assert_eq!(model.predict_log_probabilities(&none).unwrap().shape(), shape(0, 2));
    assert_error!(NaiveBayes::new(1, 0, 2).unwrap().model(1.0), ErrorKind::TooFewRows { rows: 0, needed: 1 });
}

#[test]
fn what_is_no_count_and_no_class_is_refused_with_its_place_and_nothing_is_added() {
    let good = HomogenNumericTable::full(shape(2000, 3), 1.0).unwrap();
    let mut counts = NaiveBayes::compute(&good, 2, 2).unwrap();
    let before = bytes(&counts);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        for column in [0, 1] {
            let mut table = good.to_compact().unwrap();
            table.set_value(1999, column, bad).unwrap();
            assert_error!(
                counts.update(&table),
                ErrorKind::ValueNotAllowed { row: 1999, column: at, value, reason, .. }
                    if *at == column && value.to_bits() == bad.to_bits() && reason.contains("not a valid count")
            );
        }
    }
    for bad in [-1.0, 0.5, 2.0, f64::NAN, 1e300] {
        let mut table = good.to_compact().unwrap();
        table.set_value(1500, 2, bad).unwrap();
        assert_error!(
            counts.update(&table),
            ErrorKind::ValueNotAllowed { row: 1500, column: 2, .. },
            "expected an integer from 0 to 1"
        );
    }
    assert_error!(
        counts.merge(&NaiveBayes::new(3, 1, 2).unwrap()),
        ErrorKind::NotCombinable { .. },
        "rows are grouped by column 1, not by column 2"
    );
    assert_error!(counts.merge(&NaiveBayes::new(3, 2, 3).unwrap()), ErrorKind::ShapeMismatch { .. });
    assert_eq!(bytes(&counts), before);
    assert_error!(NaiveBayes::new(3, 3, 2), ErrorKind::ColumnOutOfRange { column: 3, column_count: 3 });
    assert_error!(
        NaiveBayes::new(3, 0, 0),
        ErrorKind::ParameterOutOfRange { name, .. } if name == "the number of classes"
    );
    assert_error!(
        NaiveBayes::compute(&good, 0, None),
        ErrorKind::NotSolvable { column: Some(0), .. },
        "number of categories"
    );
    assert_error!(NaiveBayes::compute(&good, "class", 2), ErrorKind::UnknownName { what: "column", .. });
    for alpha in [-1.0, f64::NAN, f64::INFINITY] {
        assert_error!(counts.model(alpha), ErrorKind::ParameterOutOfRange { name, .. } if name == "alpha");
    }
    let model = counts.model(1.0).unwrap();
    assert_error!(model.predict(&good), ErrorKind::LengthMismatch { expected: 2, actual: 3 });
    let bad = HomogenNumericTable::from_rows(&[[1.0, 2.0], [1.0, -2.0]]).unwrap();
    assert_error!(model.predict(&bad), ErrorKind::ValueNotAllowed { row: 1, column: 1, .. }, "not a valid count");
    assert_error!(
        model.predict_log_probabilities(&bad),
        ErrorKind::ValueNotAllowed { row: 1, column: 1, .. },
        "not a valid count"
    );
}
