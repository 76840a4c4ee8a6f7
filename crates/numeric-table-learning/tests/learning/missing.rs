//! Rows with missing values are left out and counted, and results are those of the other rows.

use numeric_table::statistics::GroupStatistics;
use numeric_table::{Element, Partial, SoaNumericTable, prelude::*};
use numeric_table_learning::{GaussianNaiveBayes, KMeansStep, LinearRegression, NaiveBayes};

/// Returns whether a value is missing: about every tenth.
fn is_missing(row: usize, column: usize) -> bool {
    (row as u64 * 31 + column as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 & 0xFF < 25
}

/// Three columns of small integers, the last of which is 0 or 1. Values are missing in two of them.
fn table<T: Element>(rows: usize, of: impl Fn(u8) -> T) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    let value = |row: usize, column: usize| of(((row * 7919 + column * 104_729) % 101) as u8);
    let gapped = |column| (0..rows).map(move |row| (!is_missing(row, column)).then(|| value(row, column)));
    table.push_optional("a", gapped(0)).unwrap();
    table.push_column("b", (0..rows).map(|row| value(row, 1)).collect::<Vec<T>>()).unwrap();
    let classes = (0..rows).map(|row| (!is_missing(row, 2)).then(|| of((row % 7 % 2) as u8)));
    table.push_optional("class", classes).unwrap();
    table
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn check<T: Element>(of: impl Fn(u8) -> T) {
    for rows in [1, 10, 65, 1000] {
        let table = table(rows, &of);
        let complete = table.drop_missing_rows(..).unwrap();
        let missing = (rows - complete.shape().rows) as u64;
        let first = HomogenNumericTable::from_rows(&[[0.0, 0.0, 0.0], [90.0, 50.0, 1.0]]).unwrap();
        let (found, expected) = (KMeansStep::new(&first).unwrap(), KMeansStep::new(&first).unwrap());
        let (found, expected) = (found.compute_over(&table).unwrap(), expected.compute_over(&*complete).unwrap());
        assert_eq!((found.missing_rows(), found.non_finite_rows(), found.row_count()), (missing, 0, rows as u64));
        assert_eq!(found.counts(), expected.counts());
        assert_eq!(found.sums().unwrap().as_slice().unwrap(), expected.sums().unwrap().as_slice().unwrap());
        let labels = found.assign(&table).unwrap();
        let is_none = |row: usize| is_missing(row, 0) || is_missing(row, 2);
        assert!((0..rows).all(|row| (labels.as_slice().unwrap()[row] == -1) == is_none(row)));

        let counts = NaiveBayes::compute(&table, "class", 2).unwrap();
        let expected = NaiveBayes::compute(&*complete, "class", 2).unwrap();
        assert_eq!((counts.missing_rows(), counts.class_rows()), (missing, expected.class_rows()));
        assert_eq!(counts.counts().unwrap().as_slice().unwrap(), expected.counts().unwrap().as_slice().unwrap());

        for equations in
            [LinearRegression::new(2, 1).unwrap(), LinearRegression::with_extended_precision(2, 1).unwrap()]
        {
            let (found, expected) =
                (equations.compute_over(&table).unwrap(), equations.compute_over(&*complete).unwrap());
            assert_eq!((found.missing_rows(), found.row_count()), (missing, expected.row_count()));
            assert_eq!(bits(&found.covariance().means()), bits(&expected.covariance().means()));
            if rows == 1000 {
                let (found, expected) = (found.solve().unwrap(), expected.solve().unwrap());
                assert_eq!(bits(found.intercepts()), bits(expected.intercepts()));
                let asked = table.select_columns(0..2).unwrap();
                let predicted = found.predict(&asked).unwrap();
                let predicted = predicted.as_slice().unwrap();
                assert!((0..rows).all(|row| predicted[row].is_nan() == is_missing(row, 0)));
            }
        }

        let found = GaussianNaiveBayes::compute(&table, "class", 2).unwrap();
        let groups = GroupStatistics::compute(&table, "class", 2).unwrap();
        let without_class = (0..rows).filter(|&row| is_missing(row, 2)).count() as u64;
        assert_eq!((found.missing_rows(), found.class_rows()), (without_class, groups.row_counts()));
    }
}

#[test]
fn results_are_those_of_the_complete_rows_of_floats_and_integers() {
    check(f64::from);
    check(f32::from);
    check(u8::from);
    check(i64::from);
}

#[test]
fn predictions_take_a_missing_value_for_nan() {
    let complete = table(100, f64::from).drop_missing_rows(..).unwrap();
    let mut asked = SoaNumericTable::new();
    asked.push_optional("a", [Some(3_i32), None]).unwrap();
    asked.push_optional("b", [Some(4), Some(5)]).unwrap();
    let nan = HomogenNumericTable::from_rows(&[[3.0, 4.0], [f64::NAN, 5.0]]).unwrap();
    let model = GaussianNaiveBayes::compute(&*complete, "class", 2).unwrap().model(1e-9).unwrap();
    assert_eq!(model.predict(&asked).unwrap().as_slice().unwrap(), model.predict(&nan).unwrap().as_slice().unwrap());
    let model = NaiveBayes::compute(&*complete, "class", 2).unwrap().model(1.0).unwrap();
    assert_eq!(model.predict(&asked).unwrap_err().to_string(), model.predict(&nan).unwrap_err().to_string());
}

#[test]
fn a_missing_value_and_nan_are_counted_apart() {
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1.0), None, Some(f64::NAN), None]).unwrap();
    table.push_optional("b", [Some(1.0), Some(f64::NAN), Some(2.0), Some(3.0)]).unwrap();
    let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0.0, 0.0]]).unwrap()).unwrap();
    let step = step.compute_over(&table).unwrap();
    assert_eq!((step.counts(), step.missing_rows(), step.non_finite_rows()), (&[1][..], 2, 1));
    // A class that is missing is left out; a class that is NaN stays an error.
    table.push_optional("class", [Some(0.0), Some(f64::NAN), None, Some(1.0)]).unwrap();
    let part = |rows| table.select_rows(rows).unwrap();
    assert!(NaiveBayes::compute(&*part(0..2), 2, 2).is_ok()); // its row has a missing value as well
    assert!(GaussianNaiveBayes::compute(&*part(0..2), 2, 2).is_err());
    assert_eq!(GaussianNaiveBayes::compute(&*part(2..4), 2, 2).unwrap().missing_rows(), 1);
}

/// Computes two parts, sends them as bytes, and merges them.
fn sent<P: Partial>(empty: &P, table: &dyn NumericTable, versions: [u32; 2]) -> P {
    let part = |rows| empty.compute_over(&*table.select_rows(rows).unwrap()).unwrap();
    let (mut all, rest) = (part(0..500), part(500..1000));
    let bytes = rest.to_bytes().unwrap();
    assert_eq!((empty.version(), rest.version()), (versions[0], versions[1]));
    assert_eq!(u32::from_le_bytes(bytes[12..16].try_into().unwrap()), versions[1]);
    let rest = P::from_bytes(&bytes).unwrap();
    assert_eq!(rest.to_bytes().unwrap(), bytes);
    for count in (0..bytes.len()).step_by(7) {
        assert!(P::from_bytes(&bytes[..count]).is_err());
    }
    let text = serde_json::to_string(&rest).unwrap();
    assert_eq!(serde_json::from_str::<P>(&text).unwrap().to_bytes().unwrap(), bytes);
    all.merge(&rest).unwrap();
    all
}

#[test]
fn partial_results_keep_their_counts_as_bytes_and_merged() {
    let table = table(1000, f32::from);
    let missing = (0..1000).filter(|&row| is_missing(row, 0) || is_missing(row, 2)).count() as u64;
    let first = HomogenNumericTable::from_rows(&[[0.0, 0.0, 0.0], [90.0, 50.0, 1.0]]).unwrap();
    assert_eq!(sent(&KMeansStep::new(&first).unwrap(), &table, [2, 3]).missing_rows(), missing);
    assert_eq!(sent(&NaiveBayes::new(3, 2, 2).unwrap(), &table, [2, 3]).missing_rows(), missing);
    assert_eq!(sent(&LinearRegression::new(2, 1).unwrap(), &table, [2, 3]).missing_rows(), missing);
    let without_class = (0..1000).filter(|&row| is_missing(row, 2)).count() as u64;
    assert_eq!(sent(&GaussianNaiveBayes::new(3, 2, 2).unwrap(), &table, [2, 3]).missing_rows(), without_class);
    // A class column without features.
    let classes = table.select_columns(["class"]).unwrap();
    assert_eq!(sent(&NaiveBayes::new(1, 0, 2).unwrap(), &classes, [2, 3]).missing_rows(), without_class);
}
