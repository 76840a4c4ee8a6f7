//! One step of k-means.

use numeric_table::{Partial, prelude::*};
use numeric_table_learning::KMeansStep;
use test_support::bits::Random;
use test_support::results::{bytes, check_promises, data, kinds, with_any_threads};
use test_support::tables::{LAYOUTS, assert_error, numbered, shape};
use test_support::{SmallNumber, for_each_element};

fn table(rows: usize, columns: usize, values: Vec<f64>) -> HomogenNumericTable<f64> {
    HomogenNumericTable::from_array(values, shape(rows, columns)).unwrap()
}

fn random(rows: usize, columns: usize, seed: u64) -> HomogenNumericTable<f64> {
    let mut random = Random::new(seed);
    table(rows, columns, (0..rows * columns).map(|_| random.below(2000) as f64 / 8.0 - 100.0).collect())
}

/// Labels, counts, sums and inertia by their definition; values are such that all of this is exact.
fn plain(rows: &[f64], centroids: &[f64], columns: usize) -> (Vec<i32>, Vec<u64>, Vec<f64>, f64) {
    let clusters = centroids.len() / columns;
    let (mut labels, mut counts, mut sums, mut inertia) =
        (Vec::new(), vec![0; clusters], vec![0.0; centroids.len()], 0.0);
    for row in rows.chunks(columns) {
        if row.iter().any(|value| !value.is_finite()) {
            labels.push(-1);
            continue;
        }
        let distance = |c: usize| -> f64 {
            row.iter().zip(&centroids[c * columns..]).map(|(value, centre)| (value - centre) * (value - centre)).sum()
        };
        let mut best = 0;
        for cluster in 1..clusters {
            if distance(cluster) < distance(best) {
                best = cluster;
            }
        }
        labels.push(best as i32);
        counts[best] += 1;
        inertia += distance(best);
        row.iter().enumerate().for_each(|(column, value)| sums[best * columns + column] += value);
    }
    (labels, counts, sums, inertia)
}

#[test]
fn a_step_is_what_a_plain_loop_computes() {
    for (rows, columns, clusters) in
        [(0, 3, 2), (1, 1, 1), (1, 9, 3), (7, 16, 8), (8, 8, 4), (100, 5, 1), (1025, 3, 7), (70, 40, 13), (20, 9000, 2)]
    {
        let mut values = random(rows, columns, 5).as_slice().unwrap().to_vec();
        if rows > 50 {
            (values[7 * columns], values[9 * columns + columns - 1]) = (f64::NAN, f64::NEG_INFINITY);
        }
        let rows_of = table(rows, columns, values);
        let centroids = random(clusters, columns, 6);
        let (labels, counts, sums, inertia) =
            plain(rows_of.as_slice().unwrap(), centroids.as_slice().unwrap(), columns);
        let step = KMeansStep::new(&centroids).unwrap();
        assert_eq!(step.assign(&rows_of).unwrap().as_slice().unwrap(), labels);
        let step = step.compute_over(&rows_of).unwrap();
        assert_eq!(step.counts(), counts);
        assert_eq!(step.sums().unwrap().as_slice().unwrap(), sums);
        assert_eq!(step.inertia(), inertia);
        assert_eq!(step.non_finite_rows(), labels.iter().filter(|label| **label == -1).count() as u64);
        assert_eq!(step.row_count(), rows as u64);
        let next = step.centroids().unwrap();
        for (place, &value) in next.as_slice().unwrap().iter().enumerate() {
            let expected = match counts[place / columns] {
                0 => centroids.as_slice().unwrap()[place],
                count => sums[place] / count as f64,
            };
            assert_eq!(value, expected);
        }
    }
}

#[test]
fn the_first_step_of_iris_and_its_end_are_those_of_scikit_learn() {
    let (iris, _) = data("iris.csv");
    let mut centroids = iris.take_rows(&[0, 50, 100]).unwrap().convert::<f64>().unwrap();
    let first = KMeansStep::new(&centroids).unwrap().compute_over(&iris).unwrap();
    assert_eq!(first.counts(), [53, 60, 37]);
    assert!((first.inertia() - 182.48).abs() < 1e-12);
    let expected = [5.005660377358491, 3.369811320754718, 1.560377358490566, 0.29056603773584894];
    for (found, expected) in first.centroids().unwrap().as_slice().unwrap().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-14);
    }
    let mut steps = 1;
    let last = loop {
        let step = KMeansStep::new(&centroids).unwrap().compute_over(&iris).unwrap();
        if step.shift() == 0.0 {
            break step;
        }
        (centroids, steps) = (step.centroids().unwrap(), steps + 1);
    };
    assert_eq!((steps, last.counts()), (4, &[50, 62, 38][..])); // KMeans(3, init=rows, tol=0).n_iter_
    assert!((last.inertia() - 78.851441426146).abs() < 1e-12);
    assert!((centroids.value::<f64>(2, 1).unwrap() - 3.0736842105263156).abs() < 1e-14);
}

#[test]
fn every_type_layout_and_kind_of_table_gives_the_same_bits() {
    fn check<T: SmallNumber>() {
        let centroids = HomogenNumericTable::from_rows(&[[1.0, 2.0, 3.5], [20.0, 21.0, 25.0]]).unwrap();
        let step = KMeansStep::new(&centroids).unwrap();
        let expected = step.compute_over(&numbered::<f64>(11, 3, DataLayout::RowMajor)).unwrap();
        for layout in LAYOUTS {
            let table = numbered::<T>(11, 3, layout);
            assert_eq!(step.compute_over(&table).unwrap(), expected);
            assert_eq!(step.assign(&table).unwrap().as_slice().unwrap(), [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
            assert_eq!(KMeansStep::new(&table).unwrap().centroids().unwrap().value::<f64>(10, 2).unwrap(), 33.0);
        }
    }
    for_each_element!(check);
    let (iris, _) = data("iris.csv");
    let step = KMeansStep::new(&iris.slice_rows(3..8).unwrap()).unwrap();
    let expected = step.compute_over(&iris).unwrap();
    for table in kinds(&iris) {
        assert_eq!(step.compute_over(&*table).unwrap(), expected);
        assert_eq!(step.assign(&*table).unwrap(), step.assign(&iris).unwrap());
        check_promises(&step, &*table);
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let value = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 1e3;
    let values: Vec<f32> = (0..4_800_000).map(value).collect();
    let table = HomogenNumericTable::from_array(values, shape(600_000, 8)).unwrap();
    let step = KMeansStep::new(&table.slice_rows(..3).unwrap()).unwrap();
    let found = with_any_threads(|| bytes(&step.compute_over(&table).unwrap()));
    assert_eq!(KMeansStep::from_bytes(&found).unwrap().row_count(), 600_000);
    let some = HomogenNumericTable::from_array((0..600_000).map(value).collect::<Vec<_>>(), shape(600_000, 1)).unwrap();
    let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[100.0], [9e3]]).unwrap()).unwrap();
    let labels = with_any_threads(|| step.assign(&some).unwrap().as_slice().unwrap().to_vec());
    let expected = some.as_slice().unwrap().iter().map(|&value| i32::from(value > 4550.0));
    assert!(labels.into_iter().eq(expected));
}

/// Blocks have 1024 rows of eight columns.
#[test]
fn a_large_table_is_added_on_any_number_of_threads_as_its_blocks_are_added_one_after_another() {
    let mut values: Vec<f64> =
        (0..1_600_000_u32).map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / 1e3).collect();
    values[8 * 70_000 + 3] = f64::NAN;
    values[..8 * 3].fill(1.5e308); // their sum is beyond the range
    let table = HomogenNumericTable::from_array(values, shape(200_000, 8)).unwrap();
    let step = KMeansStep::new(&table.slice_rows(10..15).unwrap()).unwrap();
    let mut expected = step.new_like().unwrap();
    for first in (0..200_000).step_by(1024) {
        let mut block = step.new_like().unwrap();
        block.update(&table.slice_rows(first..200_000.min(first + 1024)).unwrap()).unwrap();
        expected.merge(&block).unwrap();
    }
    assert_eq!((expected.row_count(), expected.non_finite_rows()), (200_000, 1));
    let found = with_any_threads(|| {
        let mut all = step.new_like().unwrap();
        all.update(&table).unwrap();
        bytes(&all)
    });
    assert_eq!(found, bytes(&expected));
}

#[test]
fn equal_distances_go_to_the_first_centroid_and_far_rows_to_the_nearest() {
    let centroids = HomogenNumericTable::from_rows(&[[5.0], [0.0], [5.0], [1e300], [-1e300]]).unwrap();
    let rows = HomogenNumericTable::from_rows(&[[2.5], [9.0], [4e299], [6e299], [-6e299], [f64::MAX]]).unwrap();
    let step = KMeansStep::new(&centroids).unwrap();
    assert_eq!(step.assign(&rows).unwrap().as_slice().unwrap(), [0, 0, 0, 3, 4, 3]);
    let step = step.compute_over(&rows).unwrap();
    assert_eq!((step.inertia(), step.non_finite_rows(), step.counts()), (f64::INFINITY, 0, &[3, 0, 0, 2, 1][..]));
    let small = HomogenNumericTable::from_rows(&[[1e16], [1e16 + 2.0]]).unwrap();
    let labels = KMeansStep::new(&small).unwrap().assign(&small).unwrap();
    assert_eq!(labels.as_slice().unwrap(), [0, 1]); // |x|² - 2xc + |c|² has no digit of this
}

#[test]
fn sums_of_many_rows_keep_what_rounding_takes() {
    let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0.0]]).unwrap()).unwrap();
    let rows = HomogenNumericTable::full(shape(1024, 1), 1.0).unwrap();
    let mut all = step.compute_over(&HomogenNumericTable::from_rows(&[[2.0_f64.powi(63)]]).unwrap()).unwrap();
    (0..3).for_each(|_| all.update(&rows).unwrap());
    all.update(&HomogenNumericTable::from_rows(&[[-(2.0_f64.powi(63))]]).unwrap()).unwrap();
    assert_eq!(all.sums().unwrap().as_slice().unwrap(), [3072.0]);
}

#[test]
fn what_cannot_be_a_step_is_refused() {
    let none = |rows, columns| KMeansStep::new(&table(rows, columns, Vec::new()));
    assert_error!(none(0, 3), ErrorKind::ParameterOutOfRange { name, .. } if name == "the number of centroids");
    assert_error!(
        none(2, 0),
        ErrorKind::ParameterOutOfRange { name, .. } if name == "the number of columns of centroids"
    );
    let infinite = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0, 3.0], [4.0, f32::INFINITY, 5.0]]).unwrap();
    assert_error!(
        KMeansStep::new(&infinite),
        ErrorKind::ValueNotAllowed { row: 1, column: 1, value: f64::INFINITY, .. },
        "not finite"
    );

    let mut step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[1.0, 2.0], [3.0, 4.0]]).unwrap()).unwrap();
    let before = bytes(&step);
    let wide = HomogenNumericTable::from_rows(&[[1.0, 2.0, 3.0]]).unwrap();
    assert_error!(step.update(&wide), ErrorKind::LengthMismatch { expected: 2, actual: 3 });
    assert_error!(step.assign(&wide), ErrorKind::LengthMismatch { expected: 2, actual: 3 });
    let moved = HomogenNumericTable::from_rows(&[[1.0, 2.0], [3.0, 5.0]]).unwrap();
    assert_error!(step.merge(&KMeansStep::new(&moved).unwrap()), ErrorKind::NotCombinable { .. }, "centroid");
    assert_error!(step.merge(&KMeansStep::new(&wide).unwrap()), ErrorKind::ShapeMismatch { .. });
    let absent = HomogenNumericTable::<f64>::new(shape(4, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(step.update(&absent), ErrorKind::NotAllocated);
    assert_error!(step.assign(&absent), ErrorKind::NotAllocated);
    assert_eq!(bytes(&step), before);
}
