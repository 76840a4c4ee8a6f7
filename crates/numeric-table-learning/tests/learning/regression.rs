//! Linear regression by normal equations: against NIST's certified values, scikit-learn and exact functions.

use numeric_table::{Partial, prelude::*, statistics::Covariance};
use numeric_table_learning::{LinearRegression, RegressionModel, RegressionOptions};
use test_support::bits::Random;
use test_support::results::{bytes, check_promises, data, kinds, with_any_threads};
use test_support::tables::{LAYOUTS, assert_error, shape};
use test_support::{SmallNumber, for_each_element};

/// NIST's StRD data set Longley: six features, and the target.
const LONGLEY: [[f64; 7]; 16] = [
    [83.0, 234289.0, 2356.0, 1590.0, 107608.0, 1947.0, 60323.0],
    [88.5, 259426.0, 2325.0, 1456.0, 108632.0, 1948.0, 61122.0],
    [88.2, 258054.0, 3682.0, 1616.0, 109773.0, 1949.0, 60171.0],
    [89.5, 284599.0, 3351.0, 1650.0, 110929.0, 1950.0, 61187.0],
    [96.2, 328975.0, 2099.0, 3099.0, 112075.0, 1951.0, 63221.0],
    [98.1, 346999.0, 1932.0, 3594.0, 113270.0, 1952.0, 63639.0],
    [99.0, 365385.0, 1870.0, 3547.0, 115094.0, 1953.0, 64989.0],
    [100.0, 363112.0, 3578.0, 3350.0, 116219.0, 1954.0, 63761.0],
    [101.2, 397469.0, 2904.0, 3048.0, 117388.0, 1955.0, 66019.0],
    [104.6, 419180.0, 2822.0, 2857.0, 118734.0, 1956.0, 67857.0],
    [108.4, 442769.0, 2936.0, 2798.0, 120445.0, 1957.0, 68169.0],
    [110.8, 444546.0, 4681.0, 2637.0, 121950.0, 1958.0, 66513.0],
    [112.6, 482704.0, 3813.0, 2552.0, 123366.0, 1959.0, 68655.0],
    [114.2, 502601.0, 3931.0, 2514.0, 125368.0, 1960.0, 69564.0],
    [115.7, 518173.0, 4806.0, 2572.0, 127852.0, 1961.0, 69331.0],
    [116.9, 554894.0, 4007.0, 2827.0, 130081.0, 1962.0, 70551.0],
];

fn equations(table: &dyn NumericTable, targets: usize) -> LinearRegression {
    LinearRegression::new(table.column_count() - targets, targets).unwrap().compute_over(table).unwrap()
}

fn solve(table: &dyn NumericTable, targets: usize) -> RegressionModel {
    equations(table, targets).solve().unwrap()
}

/// Number of decimal digits that agree.
fn digits(found: f64, expected: f64) -> f64 {
    -((found - expected) / expected).abs().max(1e-17).log10()
}

fn table(rows: &[Vec<f64>]) -> HomogenNumericTable<f64> {
    HomogenNumericTable::from_row_iter(rows).unwrap()
}

#[test]
fn longley_has_eleven_of_the_digits_that_nist_certifies() {
    let model = solve(&HomogenNumericTable::from_rows(&LONGLEY).unwrap(), 1);
    let certified = [
        15.0618722713733,
        -0.0358191792925910,
        -2.02022980381683,
        -1.03322686717359,
        -0.0511041056535807,
        1829.15146461355,
    ];
    let coefficients = model.coefficients().unwrap();
    let found =
        coefficients.as_slice().unwrap().iter().zip(certified).chain([(&model.intercepts()[0], -3482258.63459582)]);
    for (&found, expected) in found {
        println!("{found} {expected}: {:.1} digits", digits(found, expected));
        assert!(digits(found, expected) > 11.0, "{found} {expected}");
    }
    assert!(digits(model.r_squared()[0], 0.995479004577296) > 14.0);
    assert!(digits(model.residual_standard_deviations()[0], 304.854073561965) > 12.0);
}

#[test]
fn wine_has_the_coefficients_of_scikit_learn() {
    let (wine, _) = data("wine.csv");
    let columns: Vec<usize> = (1..13).chain([0]).collect(); // alcohol, by the rest
    let wine = wine.select_columns(columns).unwrap().convert::<f64>().unwrap();
    let check = |model: &RegressionModel, intercept: f64, coefficients: [f64; 12]| {
        assert!(digits(model.intercepts()[0], intercept) > 11.0);
        for (&found, expected) in model.coefficients().unwrap().as_slice().unwrap().iter().zip(coefficients) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    };
    let expected = [
        0.13163622253781604,
        0.1378536117803861,
        -0.037787710140261846,
        4.179110539347028e-06,
        0.05208352434058198,
        0.009125145130767922,
        -0.20779570101602174,
        -0.15249719328819267,
        0.16303487062824476,
        0.21687974035838717,
        0.16079631859654844,
        0.0010158593520804531,
    ];
    let model = solve(&wine, 1);
    check(&model, 11.071849541591936, expected);
    assert!((model.r_squared()[0] - 0.5935573146395274).abs() < 1e-13);
    let expected = [
        0.11524844178717078,
        0.05908786325155927,
        -0.03443262973743836,
        0.00032988138736179305,
        0.04103853451767482,
        0.03595843207417888,
        -0.022404715440818162,
        -0.11459342431270679,
        0.14876893601395155,
        0.04643944116206418,
        0.12024787952054146,
        0.001089839746312423,
    ];
    let ridge = equations(&wine, 1).solve_ridge(10.0).unwrap(); // Ridge(10.0, solver="cholesky")
    check(&ridge, 11.328147068960206, expected);
    assert!(ridge.r_squared()[0] < model.r_squared()[0]);

    let expected = equations(&wine, 1);
    for kind in kinds(&wine) {
        assert_eq!(bytes(&equations(&*kind, 1)), bytes(&expected));
        check_promises(&expected.new_like().unwrap(), &*kind);
        let features = kind.drop_columns([12]).unwrap();
        assert_eq!(model.predict(&features).unwrap().shape(), shape(178, 1));
    }
}

#[test]
fn linear_functions_of_many_features_and_targets_are_found_and_predicted() {
    let mut random = Random::new(3);
    for (rows, features, targets) in [(1, 0, 1), (2, 1, 1), (30, 3, 2), (300, 20, 1), (1000, 9, 5)] {
        let mut number = || random.below(2001) as f64 / 100.0 - 10.0;
        let weights: Vec<Vec<f64>> = (0..targets).map(|_| (0..=features).map(|_| number()).collect()).collect();
        let line = |x: &[f64], w: &[f64]| w[features] + x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let row = |_| {
            let mut row: Vec<f64> = (0..features).map(|_| number() + 1000.0).collect();
            row.extend(weights.iter().map(|weights| line(&row[..features], weights)).collect::<Vec<_>>());
            row
        };
        let rows: Vec<Vec<f64>> = (0..rows).map(row).collect();
        let table = table(&rows);
        let model = solve(&table, targets);
        assert_eq!((model.feature_count(), model.target_count()), (features, targets));
        let coefficients = model.coefficients().unwrap();
        for (target, weights) in weights.iter().enumerate() {
            assert!((model.intercepts()[target] - weights[features]).abs() < 1e-6);
            for (feature, weight) in weights[..features].iter().enumerate() {
                let found = coefficients.value::<f64>(target, feature).unwrap();
                assert!((found - weight).abs() < 1e-9, "{found} {weight}");
            }
        }
        let asked = table.select_columns(..features).unwrap();
        let predicted = model.predict(&asked).unwrap();
        for (at, row) in rows.iter().enumerate() {
            for target in 0..targets {
                let found = predicted.value::<f64>(at, target).unwrap();
                assert!((found - row[features + target]).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn every_type_and_layout_gives_the_same_line() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            let values = [1, 9, 2, 11, 3, 13, 5, 17].map(T::small).to_vec();
            let table = HomogenNumericTable::from_array(values, shape(4, 2)).unwrap().to_layout(layout).unwrap();
            let model = solve(&table, 1);
            assert_eq!((model.intercepts(), model.r_squared()), (&[7.0][..], &[1.0][..]));
            let asked = HomogenNumericTable::from_array(vec![T::small(10)], shape(1, 1)).unwrap();
            assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap(), [27.0]);
        }
    }
    for_each_element!(check);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let value = |i: u32| (i.wrapping_mul(2_654_435_761) >> 10) as f32 / 1e3;
    let values: Vec<f32> = (0..4_800_000).map(value).collect();
    let table = HomogenNumericTable::from_array(values, shape(600_000, 8)).unwrap();
    let empty = LinearRegression::new(7, 1).unwrap();
    let found = with_any_threads(|| bytes(&empty.compute_over(&table).unwrap()));
    let model = LinearRegression::from_bytes(&found).unwrap().solve().unwrap();
    let some = table.slice_rows(..100_000).unwrap();
    let some = some.select_columns(..7).unwrap();
    let predicted = with_any_threads(|| model.predict(&some).unwrap().as_slice().unwrap().to_vec());
    assert_eq!(predicted.len(), 100_000);
}

#[test]
fn systems_without_one_solution_are_refused_and_say_which_column() {
    let mut random = Random::new(4);
    let row = |_| {
        let [a, b, c] = [random.below(1000) as f64 / 7.0, random.below(1000) as f64 / 3.0, random.below(10) as f64];
        vec![a, b, a / 3.0 - 2.0 * b + 5.0, c]
    };
    let rows: Vec<Vec<f64>> = (0..200).map(row).collect();
    let dependent = equations(&table(&rows), 1);
    assert_error!(dependent.solve(), ErrorKind::NotSolvable { column: Some(2), .. }, "linear combination");
    assert!(dependent.solve_ridge(1.0).is_ok());
    let constant: Vec<Vec<f64>> = rows.iter().map(|row| vec![row[0], 0.1, row[1], row[3]]).collect();
    assert_error!(
        equations(&table(&constant), 1).solve(),
        ErrorKind::NotSolvable { column: Some(1), .. },
        "linear combination"
    );
    let nan: Vec<Vec<f64>> =
        rows.iter().zip(0..).map(|(row, i)| vec![row[0], if i == 9 { f64::NAN } else { 1.0 }]).collect();
    assert_error!(equations(&table(&nan), 1).solve(), ErrorKind::NotSolvable { column: Some(1), .. }, "not finite");

    let few = equations(&table(&rows[..2]), 2);
    assert_error!(few.solve(), ErrorKind::TooFewRows { rows: 2, needed: 3 });
    assert!(few.solve_ridge(0.5).is_ok());
    assert_error!(few.solve_ridge(0.0), ErrorKind::TooFewRows { rows: 2, needed: 3 });
    let none = LinearRegression::new(1, 1).unwrap();
    assert_error!(none.solve(), ErrorKind::TooFewRows { rows: 0, needed: 2 });
    assert_error!(none.solve_ridge(1.0), ErrorKind::TooFewRows { rows: 0, needed: 1 });
    for lambda in [-1.0, f64::NAN, f64::INFINITY] {
        assert_error!(few.solve_ridge(lambda), ErrorKind::ParameterOutOfRange { name, .. } if name == "lambda");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_added() {
    assert_error!(
        LinearRegression::new(3, 0),
        ErrorKind::ParameterOutOfRange { name, .. } if name == "the number of targets"
    );
    assert_error!(LinearRegression::new(usize::MAX, 1), ErrorKind::OutOfMemory);
    assert_error!(LinearRegression::new(1 << (usize::BITS / 2 + 8), 1), ErrorKind::OutOfMemory);
    let rows = HomogenNumericTable::from_rows(&[[1.0, 2.0, 4.0], [3.0, 5.0, 6.0], [0.0, 1.0, 7.0]]).unwrap();
    let mut one = equations(&rows, 2);
    let before = bytes(&one);
    assert_error!(one.merge(&equations(&rows, 1)), ErrorKind::LengthMismatch { expected: 1, actual: 2 });
    assert_error!(
        one.merge(&LinearRegression::new(1, 1).unwrap()),
        ErrorKind::LengthMismatch { expected: 3, actual: 2 }
    );
    let wide = HomogenNumericTable::<f32>::zeros(shape(2, 4)).unwrap();
    assert_error!(one.update(&wide), ErrorKind::LengthMismatch { expected: 3, actual: 4 });
    assert_eq!(bytes(&one), before);
    let model = one.solve().unwrap();
    assert_error!(model.predict(&rows), ErrorKind::LengthMismatch { expected: 1, actual: 3 });
    let covariance = Covariance::compute(&rows).unwrap();
    assert_eq!(one.covariance().means(), covariance.means());
    let constant = solve(&HomogenNumericTable::from_rows(&[[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]).unwrap(), 1);
    assert!(constant.r_squared()[0].is_nan());
    assert_eq!((constant.intercepts(), constant.residual_standard_deviations()), (&[5.0][..], &[0.0][..]));
}

/// A linear data set of the NIST StRD: the degree of the polynomial (0: the columns are the features), whether there is
/// an intercept, the certified coefficients from the intercept on, residual standard deviation and share explained.
struct Certified {
    name: &'static str,
    data: &'static str,
    degree: i32,
    has_intercept: bool,
    coefficients: &'static [f64],
    deviation: f64,
    r_squared: f64,
}

macro_rules! certified {
    ($name:literal, $degree:literal, $has_intercept:literal, $coefficients:expr, $deviation:literal, $r_squared:literal) => {
        Certified {
            name: $name,
            data: include_str!(concat!("../../../../data/nist/", $name, ".txt")),
            degree: $degree,
            has_intercept: $has_intercept,
            coefficients: &$coefficients,
            deviation: $deviation,
            r_squared: $r_squared,
        }
    };
}

#[rustfmt::skip]
const NIST: [Certified; 11] = [
    certified!("norris", 1, true, [-0.262323073774029, 1.00211681802045], 0.884796396144373, 0.999993745883712),
    certified!("pontius", 2, true, [0.673565789473684E-03, 0.732059160401003E-06, -0.316081871345029E-14],
        0.205177424076185E-03, 0.999999900178537),
    certified!("noint1", 1, false, [0.0, 2.07438016528926], 3.56753034006338, 0.999365492298663),
    certified!("noint2", 1, false, [0.0, 0.727272727272727], 0.369274472937998, 0.993348115299335),
    certified!("filip", 10, true, [-1467.48961422980, -2772.17959193342, -2316.37108160893, -1127.97394098372,
        -354.478233703349, -75.1242017393757, -10.8753180355343, -1.06221498588947, -0.670191154593408E-01,
        -0.246781078275479E-02, -0.402962525080404E-04], 0.334801051324544E-02, 0.996727416185620),
    certified!("longley", 0, true, [-3482258.63459582, 15.0618722713733, -0.358191792925910E-01, -2.02022980381683,
        -1.03322686717359, -0.511041056535807E-01, 1829.15146461355], 304.854073561965, 0.995479004577296),
    certified!("wampler1", 5, true, [1.0; 6], 0.0, 1.0),
    certified!("wampler2", 5, true, [1.0, 0.1, 0.01, 0.001, 0.0001, 0.00001], 0.0, 1.0),
    certified!("wampler3", 5, true, [1.0; 6], 2360.14502379268, 0.999995559025820),
    certified!("wampler4", 5, true, [1.0; 6], 236014.502379268, 0.957478440825662),
    certified!("wampler5", 5, true, [1.0; 6], 23601450.2379268, 0.224668921574940E-02),
];

impl Certified {
    /// The features, and the target.
    fn table(&self) -> HomogenNumericTable<f64> {
        let rows = self.data.lines().map(|line| {
            let row: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            match self.degree {
                0 => row,
                degree => (1..=degree).map(|power| row[0].powi(power)).chain([row[1]]).collect(),
            }
        });
        HomogenNumericTable::from_row_iter(rows).unwrap()
    }

    fn options(&self) -> RegressionOptions {
        RegressionOptions::new().intercept(self.has_intercept)
    }

    /// The least number of digits of a coefficient that are those certified.
    fn digits_of(&self, model: &RegressionModel) -> f64 {
        let coefficients = model.coefficients().unwrap();
        let found = model.intercepts().iter().chain(coefficients.as_slice().unwrap());
        let pairs = found.zip(self.coefficients).skip(usize::from(!self.has_intercept));
        pairs.map(|(&found, &expected)| digits(found, expected)).fold(17.0, f64::min)
    }
}

fn extended(table: &dyn NumericTable, targets: usize) -> LinearRegression {
    LinearRegression::with_extended_precision(table.column_count() - targets, targets)
        .unwrap()
        .compute_over(table)
        .unwrap()
}

#[test]
fn extended_precision_has_seven_digits_of_all_linear_sets_of_nist() {
    for certified in &NIST {
        let model = extended(&certified.table(), 1).solve_with(certified.options()).unwrap();
        let found = certified.digits_of(&model);
        println!("{}: {found:.1} digits", certified.name);
        assert!(found > 7.0, "{}: {found}", certified.name);
        let (deviation, r_squared) = (model.residual_standard_deviations()[0], model.r_squared()[0]);
        // The powers of Filip's numbers are rounded to `f64`, which costs as many digits as the condition number has.
        let least = if certified.name == "filip" { 7.0 } else { 10.0 };
        assert!(digits(r_squared, certified.r_squared) > least, "{}: {r_squared}", certified.name);
        match certified.deviation {
            0.0 => assert!(deviation < 1e-8, "{}: {deviation}", certified.name),
            expected => assert!(digits(deviation, expected) > least, "{}: {deviation}", certified.name),
        }
    }
}

#[test]
fn sums_in_f64_have_six_digits_of_all_linear_sets_of_nist_but_the_one_that_is_refused() {
    for certified in &NIST {
        match equations(&certified.table(), 1).solve_with(certified.options()).map_err(Error::into_kind) {
            Ok(model) => {
                let found = certified.digits_of(&model);
                println!("{}: {found:.1} digits", certified.name);
                assert!(found > 6.0, "{}: {found}", certified.name);
                assert!(digits(model.r_squared()[0], certified.r_squared) > 6.0, "{}", certified.name);
            }
            // Sums in `f64` do not show whether the tenth power depends on the others or nearly does.
            Err(ErrorKind::NotSolvable { condition: Some(condition), .. }) => {
                assert_eq!(certified.name, "filip");
                assert!((1e6..1e16).contains(&condition), "{condition:e}");
            }
            Err(error) => panic!("{}: {error}", certified.name),
        }
    }
}

#[test]
fn polynomials_have_six_digits_in_f64_or_an_error_with_the_condition_number() {
    let lines = NIST[4].table();
    let lines: Vec<&[f64]> = lines.as_slice().unwrap().chunks(11).collect();
    let mut refused = 0;
    for degree in 1..=10 {
        for are_multiplied in [false, true] {
            let row = |row: &&[f64]| {
                let powers = (1..=degree).scan(1.0, |power, exponent| {
                    *power = if are_multiplied { *power * row[0] } else { row[0].powi(exponent) };
                    Some(*power)
                });
                powers.chain([row[10]]).collect::<Vec<f64>>()
            };
            let table = table(&lines.iter().map(row).collect::<Vec<_>>());
            let expected = extended(&table, 1).solve().unwrap().coefficients().unwrap();
            match equations(&table, 1).solve() {
                Ok(model) => {
                    let found = model.coefficients().unwrap();
                    let pairs = found.as_slice().unwrap().iter().zip(expected.as_slice().unwrap());
                    let least = pairs.map(|(&found, &expected)| digits(found, expected)).fold(17.0, f64::min);
                    println!("{degree}: {least:.1} digits");
                    assert!(least > 6.0, "{degree}: {least}");
                }
                Err(error) if matches!(error.kind(), ErrorKind::NotSolvable { column: None, .. }) => {
                    println!("{degree}: {error}");
                    let ErrorKind::NotSolvable { condition: Some(condition), .. } = *error.kind() else {
                        panic!("{error:?}")
                    };
                    assert!((1e4..1e11).contains(&condition), "{condition:e}");
                    let error = error.to_string();
                    assert!(error.starts_with("the features are nearly dependent: their condition number is "));
                    assert!(error.ends_with(": `with_extended_precision` holds more digits"), "{error}");
                    refused += 1;
                }
                Err(error) => {
                    let has_bound = matches!(
                        error.kind(),
                        ErrorKind::NotSolvable { condition: Some(condition), reason, .. }
                            if *condition > 1e6 && reason.contains("linear combination")
                    );
                    assert!(has_bound && degree > 6, "{degree}: {error}")
                }
            }
        }
    }
    assert!(refused > 1);
}

#[test]
fn a_line_through_the_origin_has_no_intercept_and_may_have_a_constant_feature() {
    let rows = [[1.0, 2.0, 3.0], [1.0, 5.0, 4.0], [1.0, 7.0, 9.0], [1.0, 8.0, 3.5]];
    let table = HomogenNumericTable::from_rows(&rows).unwrap();
    let with = solve(&table.select_columns([1, 2]).unwrap(), 1);
    for regression in [equations(&table, 1), extended(&table, 1)] {
        let without = regression.solve_with(RegressionOptions::new().intercept(false)).unwrap();
        assert_eq!(without.intercepts(), [0.0]);
        let found = without.coefficients().unwrap();
        let found = found.as_slice().unwrap();
        assert!(digits(found[0], with.intercepts()[0]) > 13.0);
        assert!(digits(found[1], with.coefficients().unwrap().as_slice().unwrap()[0]) > 13.0);
        let (deviation, expected) = (without.residual_standard_deviations()[0], with.residual_standard_deviations()[0]);
        assert!(digits(deviation, expected) > 12.0); // there are as many coefficients
        assert_error!(regression.solve(), ErrorKind::NotSolvable { column: Some(0), .. }, "linear combination");
        let ridge = regression.solve_with(RegressionOptions::new().intercept(false).ridge(1e-9)).unwrap();
        assert!(digits(ridge.coefficients().unwrap().as_slice().unwrap()[1], found[1]) > 7.0);
    }
    let few = equations(&table.slice_rows(..2).unwrap(), 1);
    assert!(few.solve_with(RegressionOptions::new().intercept(false)).is_ok());
    assert_error!(few.solve(), ErrorKind::TooFewRows { rows: 2, needed: 3 });
    assert_error!(
        LinearRegression::new(0, 1).unwrap().solve_with(RegressionOptions::new().intercept(false)),
        ErrorKind::TooFewRows { rows: 0, needed: 1 }
    );
}

#[test]
fn extended_sums_are_the_same_bits_in_every_layout_and_on_any_number_of_threads_and_merge() {
    let mut random = Random::new(23);
    let rows: Vec<Vec<f64>> =
        (0..70_000).map(|_| (0..9).map(|_| random.below(1 << 20) as f64 / 77.0).collect()).collect();
    let all = table(&rows);
    let expected = bytes(&extended(&all, 1));
    let columns = all.to_layout(DataLayout::ColumnMajor).unwrap();
    assert_eq!(bytes(&extended(&columns, 1)), expected);
    with_any_threads(|| assert_eq!(bytes(&extended(&all, 1)), expected));

    let read = LinearRegression::from_bytes(&expected).unwrap();
    assert_eq!(bytes(&read), expected);
    let mut parts = extended(&all.slice_rows(..100).unwrap(), 1);
    parts.merge(&extended(&all.slice_rows(100..).unwrap(), 1)).unwrap();
    let (once, merged) = (read.solve().unwrap(), parts.solve().unwrap());
    let pairs = once.coefficients().unwrap().as_slice().unwrap().to_vec().into_iter();
    assert!(pairs.zip(merged.coefficients().unwrap().as_slice().unwrap()).all(|(a, &b)| digits(a, b) > 14.0));
    let plain = solve(&all, 1);
    let pairs = once.coefficients().unwrap().as_slice().unwrap().to_vec().into_iter();
    assert!(pairs.zip(plain.coefficients().unwrap().as_slice().unwrap()).all(|(a, &b)| digits(a, b) > 8.0));
    assert!(digits(once.r_squared()[0], plain.r_squared()[0]) > 6.0);
    let ridge = (read.solve_ridge(1e9).unwrap(), equations(&all, 1).solve_ridge(1e9).unwrap());
    assert!(digits(ridge.0.intercepts()[0], ridge.1.intercepts()[0]) > 9.0);
    assert!(digits(ridge.0.residual_standard_deviations()[0], ridge.1.residual_standard_deviations()[0]) > 9.0);
}

#[test]
fn extended_and_plain_sums_are_not_mixed_and_older_bytes_are_refused_by_their_version() {
    let rows = table(&[vec![1.0, 2.0], vec![2.0, 3.0], vec![5.0, 5.5]]);
    let (mut plain, mut precise) = (equations(&rows, 1), extended(&rows, 1));
    let before = (bytes(&plain), bytes(&precise));
    assert_error!(plain.merge(&precise.new_like().unwrap()), ErrorKind::NotCombinable { .. }, "extended precision");
    assert_error!(precise.merge(&plain), ErrorKind::NotCombinable { .. }, "extended precision");
    assert!(precise.update(&table(&[vec![1.0; 3]])).is_err());
    assert_eq!((bytes(&plain), bytes(&precise)), before);
    check_promises(&precise.new_like().unwrap(), &rows);
    let mut old = bytes(&plain);
    old[12] = 1; // the version
    let end = old.len() - 4;
    let sum = crc32fast::hash(&old[..end]);
    old[end..].copy_from_slice(&sum.to_le_bytes());
    let error = LinearRegression::from_bytes(&old).unwrap_err().to_string();
    assert!(error.contains("\"linear-regression\" has version 1, but this program reads versions 2 to 3"), "{error}");

    let doubled = table(&(0..50).map(|x| [0.1, 0.3, 7.0].map(|by| f64::from(x) * by).to_vec()).collect::<Vec<_>>());
    assert_error!(extended(&doubled, 1).solve(), ErrorKind::NotSolvable { column: Some(1), .. }, "linear combination");
    let huge = table(&[vec![1e200, 1.0], vec![2e200, 2.0], vec![4e200, 3.0]]);
    assert_error!(extended(&huge, 1).solve(), ErrorKind::NotSolvable { column: Some(0), .. }, "not finite");
}
