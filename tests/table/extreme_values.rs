//! Values at the ends of the range of `f64`: what is finite in exact arithmetic is finite here.

use numeric_table::{
    Partial,
    prelude::*,
    statistics::{BasicStatistics, Covariance, GroupStatistics, QuantileMethod, QuantileSketch, Quantiles},
};
use test_support::bits::Random;
use test_support::tables::shape;

type Matrix = HomogenNumericTable<f64>;

const MAX: f64 = f64::MAX;
const EXTREMES: [f64; 12] =
    [MAX, -MAX, 1.7e308, -1.7e308, 1e308, -9e307, 1e300, -1e-300, 5e-324, 0.0, f64::MIN_POSITIVE, 1.0];

/// Near each other, relative to the largest number that a mean is made of.
fn near(found: f64, expected: f64, largest: f64) -> bool {
    found.is_finite() && (found / 2.0 - expected / 2.0).abs() <= 1e-13 * largest
}

fn of_extremes(random: &mut Random, rows: usize, columns: usize) -> Matrix {
    let values = (0..rows * columns).map(|_| EXTREMES[random.below(EXTREMES.len())]).collect::<Vec<_>>();
    Matrix::from_array(values, shape(rows, columns)).unwrap()
}

#[test]
fn statistics_of_extreme_values_are_those_of_the_same_values_scaled_down() {
    let mut random = Random::new(11);
    let down = f64::from_bits((1023 - 512) << 52);
    for (rows, columns) in [(2, 1), (5, 3), (260, 9), (2100, 2)] {
        let table = of_extremes(&mut random, rows, columns);
        let small =
            Matrix::from_fn(table.shape(), |row, column| table.as_slice().unwrap()[row * columns + column] * down);
        let small = BasicStatistics::compute(&small.unwrap()).unwrap();
        let large = BasicStatistics::compute(&table).unwrap();
        let means = Covariance::compute(&table).unwrap().means();
        let groups = GroupStatistics::compute(
            &Matrix::from_fn(shape(rows, columns + 1), |row, column| match column {
                0 => (row % 2) as f64,
                _ => table.as_slice().unwrap()[row * columns + column - 1],
            })
            .unwrap(),
            0,
            2,
        )
        .unwrap();
        for (index, (large, small)) in large.per_column().iter().zip(small.per_column()).enumerate() {
            assert!(near(large.mean(), small.mean() / down, MAX), "{rows} {index}");
            assert!(near(large.standard_deviation() * down, small.standard_deviation(), small.standard_deviation()));
            assert_eq!(large.coefficient_of_variation().is_finite(), small.coefficient_of_variation().is_finite());
            assert!(near(means[index], large.mean(), MAX), "{rows} {index} {:e} {:e}", means[index], large.mean());
        }
        for (category, index) in [(0, 0), (1, columns - 1)] {
            assert!(groups.means().unwrap().value::<f64>(category, index + 1).unwrap().is_finite());
        }
    }
}

#[test]
fn quantiles_of_extreme_values_lie_between_them() {
    let mut random = Random::new(13);
    let probabilities = [0.0, 0.1, 1.0 / 3.0, 0.5, 0.77, 1.0];
    for rows in [1, 2, 3, 10, 101] {
        let table = of_extremes(&mut random, rows, 1);
        let sketch = QuantileSketch::new(1).unwrap().compute_over(&table).unwrap();
        for method in [QuantileMethod::Linear, QuantileMethod::Midpoint, QuantileMethod::Nearest] {
            let found = Quantiles::compute(&table, &probabilities).unwrap().method(method);
            let found = (0..probabilities.len()).map(|at| found.value(0, at).unwrap()).collect::<Vec<_>>();
            assert!(found.iter().all(|value| value.is_finite()) && found.is_sorted(), "{found:?}");
        }
        assert!(probabilities.iter().all(|&probability| sketch.quantile(0, probability).unwrap().is_finite()));
    }
}
