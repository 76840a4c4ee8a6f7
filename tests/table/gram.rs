//! Gram matrices: sums of products from which nothing is subtracted.

use numeric_table::{
    Partial,
    prelude::*,
    statistics::{Covariance, GramMatrix},
};
use test_support::bits::Random;
use test_support::results::{bytes, change, check_promises, data, kinds, with_any_threads};
use test_support::tables::{LAYOUTS, assert_error, numbered, shape};
use test_support::{SmallNumber, for_each_element};

/// All numbers of a result, those of the lower half row by row, and then the sums of columns.
fn numbers(gram: &GramMatrix) -> Vec<f64> {
    [gram.matrix().unwrap().packed::<f64>().unwrap(), &gram.sums().unwrap()].concat()
}

/// The same of whole numbers, computed with integers of 128 bits.
fn exact(rows: &[Vec<i64>], columns: usize) -> Vec<f64> {
    let sum = |of: &dyn Fn(&Vec<i64>) -> i128| rows.iter().map(of).sum::<i128>() as f64;
    let places = (0..columns).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let products = places.map(|(i, j)| sum(&|row| i128::from(row[i]) * i128::from(row[j])));
    products.chain((0..columns).map(|i| sum(&|row| row[i].into()))).collect()
}

#[test]
fn whole_numbers_are_exact_however_rows_are_dealt_out() {
    let mut random = Random::new(12);
    for (rows, columns) in [(0, 0), (0, 3), (3, 0), (1, 1), (2, 9), (255, 8), (257, 17), (5000, 3), (300, 131)] {
        let rows: Vec<Vec<i64>> =
            (0..rows).map(|_| (0..columns).map(|_| 1_000_000 - random.below(1000) as i64).collect()).collect();
        let values: Vec<f64> = rows.iter().flatten().map(|&value| value as f64).collect();
        let table = HomogenNumericTable::from_array(values, shape(rows.len(), columns)).unwrap();
        let expected = exact(&rows, columns);
        for layout in LAYOUTS {
            assert_eq!(numbers(&GramMatrix::compute(&table.to_layout(layout).unwrap()).unwrap()), expected);
        }
        let (mut updated, mut merged) = (GramMatrix::new(columns).unwrap(), GramMatrix::new(columns).unwrap());
        if columns > 0 {
            for part in table.as_slice().unwrap().chunks(columns * 100) {
                updated.update_values(part).unwrap();
                let mut other = merged.new_like().unwrap();
                other.update_values(part).unwrap();
                merged.merge(&other).unwrap();
            }
            assert_eq!((numbers(&updated), numbers(&merged)), (expected.clone(), expected.clone()));
        }
        let computed = GramMatrix::new(columns).unwrap().compute_over(&table).unwrap();
        assert_eq!((numbers(&computed), computed.row_count()), (expected, rows.len() as u64));
    }
}

#[test]
fn every_type_and_kind_of_table_gives_the_same_bits() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            let gram = GramMatrix::compute(&numbered::<T>(3, 2, layout)).unwrap();
            assert_eq!(numbers(&gram), [35.0, 44.0, 56.0, 9.0, 12.0]);
            assert_eq!((gram.row_count(), gram.column_count()), (3, 2));
        }
    }
    for_each_element!(check);
    let (wine, _) = data("wine.csv");
    let expected = bytes(&GramMatrix::compute(&wine).unwrap());
    let empty = GramMatrix::new(13).unwrap();
    for kind in kinds(&wine) {
        assert_eq!(numbers(&empty.compute_over(&*kind).unwrap()), numbers(&GramMatrix::from_bytes(&expected).unwrap()));
        check_promises(&empty, &*kind);
    }
    // Beside the covariance: X'X = cross product + n * mean * mean'.
    let (gram, covariance) =
        (GramMatrix::compute(&wine).unwrap().matrix().unwrap(), Covariance::compute(&wine).unwrap());
    let (centred, means) = (covariance.cross_product().unwrap(), covariance.means());
    for (i, j) in [(0, 0), (5, 2), (12, 12), (12, 0)] {
        let expected = centred.value::<f64>(i, j).unwrap() + 178.0 * means[i] * means[j];
        assert!((gram.value::<f64>(i, j).unwrap() / expected - 1.0).abs() < 1e-14);
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let value = |i: u32| (i.wrapping_mul(2_654_435_761) >> 10) as f32 / 1e3;
    let values: Vec<f32> = (0..4_800_000).map(value).collect();
    let table = HomogenNumericTable::from_array(values, shape(600_000, 8)).unwrap();
    let empty = GramMatrix::new(8).unwrap();
    with_any_threads(|| bytes(&empty.compute_over(&table).unwrap()));
    let some = table.slice_rows(..100_000).unwrap();
    with_any_threads(|| bytes(&GramMatrix::compute(&some).unwrap()));
}

#[test]
fn values_that_are_not_finite_reach_their_own_products_only() {
    let rows = [[1.0, f64::NAN, 2.0, f64::INFINITY], [3.0, 1.0, -2.0, 1.0]];
    let gram = GramMatrix::compute(&HomogenNumericTable::from_rows(&rows).unwrap()).unwrap();
    let matrix = gram.matrix().unwrap();
    let at = |i, j| matrix.value::<f64>(i, j).unwrap();
    assert_eq!((at(0, 0), at(2, 0), at(2, 2), at(3, 0), at(3, 3)), (10.0, -4.0, 8.0, f64::INFINITY, f64::INFINITY));
    assert!((0..4).all(|column| at(1, column).is_nan()));
    let sums = gram.sums().unwrap();
    assert!(sums[1].is_nan() && sums[0] == 4.0 && sums[2] == 0.0 && !sums[3].is_finite());
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_added() {
    let mut gram = GramMatrix::compute(&HomogenNumericTable::from_rows(&[[1.0, 2.0]]).unwrap()).unwrap();
    let before = bytes(&gram);
    assert_error!(gram.update_values(&[1.0, 2.0, 3.0]), ErrorKind::NotWholeRows { values: 3, columns: 2 });
    assert_error!(gram.merge(&GramMatrix::new(3).unwrap()), ErrorKind::LengthMismatch { expected: 2, actual: 3 });
    let absent = HomogenNumericTable::<f64>::new(shape(4, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(gram.update(&absent), ErrorKind::NotAllocated);
    assert_error!(GramMatrix::compute(&absent), ErrorKind::NotAllocated);
    assert_error!(GramMatrix::new(usize::MAX), ErrorKind::OutOfMemory);
    assert_eq!(bytes(&gram), before);
    let table = HomogenNumericTable::from_rows(&[[1.0, 0.0], [-1.0, 0.0]]).unwrap(); // zero sums, but one product
    for found in [GramMatrix::compute(&table).unwrap(), gram.clone()] {
        let mut lie = serde_json::to_value(&found).unwrap();
        assert!(serde_json::from_value::<GramMatrix>(lie.clone()).is_ok());
        lie["rows"] = 0.into();
        let error = serde_json::from_value::<GramMatrix>(lie).unwrap_err().to_string();
        assert!(error.contains("there are no rows, but sums that are not zero"), "{error}");
    }
    let text = serde_json::to_string(&gram).unwrap();
    assert_eq!(bytes(&serde_json::from_str::<GramMatrix>(&text).unwrap()), before);
}

#[test]
fn changed_bytes_of_a_gram_matrix_are_refused_or_a_matrix() {
    let table = HomogenNumericTable::from_rows(&[[1.0, 2.0, 0.0], [30.0, 4.0, 1.0], [5.0, 0.5, 1.0]]).unwrap();
    let gram = GramMatrix::compute(&table).unwrap();
    let read = change(&gram, |mut read| {
        let _ = (read.row_count(), read.matrix().unwrap(), read.sums().unwrap());
        let _ = (read.update(&table), Partial::merge(&mut read, &gram), read.compute_over(&table));
        let _ = read.clone().merge(&read);
        GramMatrix::from_bytes(&read.to_bytes().unwrap()).unwrap();
    });
    assert!(read > 1000, "{read}");
}
