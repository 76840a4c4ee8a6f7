//! Results that are computed in pieces: beside the pieces, beside the whole, on any number of threads.

use super::*;
use test_support::tables::{LAYOUTS, assert_error};
use test_support::{SmallNumber, for_each_element};

/// The division of the rows that the trait's page describes, written again.
fn pieces(rows: usize, columns: usize, values: usize) -> Vec<(usize, usize)> {
    let step = values.checked_div(columns).map_or(rows.max(1), |step| step.max(1).next_power_of_two());
    let starts = (0..rows.max(1)).step_by(step);
    starts.map(|start| (start, rows.min(start + step))).collect()
}

/// The result by a plain loop over the parts of the table and their blocks.
fn by_parts<P: Tested>(table: &dyn NumericTable) -> P {
    let Shape { rows, columns } = table.shape();
    let mut all = P::prototype(columns).new_like().unwrap();
    for (first, end) in pieces(rows, columns, 4 << 20) {
        let mut part = all.new_like().unwrap();
        for (start, end) in pieces(end - first, columns, (128 << 10).max(256 * columns).min(4 << 20)) {
            part.update(&*table.select_rows(first + start..first + end).unwrap()).unwrap();
        }
        Partial::merge(&mut all, &part).unwrap();
    }
    all
}

fn check<P: Tested>(table: &dyn NumericTable) {
    let expected = by_parts::<P>(table);
    assert_eq!(expected.rows(), table.row_count() as u64);
    expected.assert_near(&P::of_table(table));
    let compute = || bytes_of(&P::prototype(table.column_count()).compute_over(table).unwrap());
    assert!(compute() == bytes_of(&expected));
    #[cfg(feature = "rayon")]
    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(compute) == bytes_of(&expected));
    }
}

#[test]
fn a_result_is_that_of_its_parts_in_every_layout_and_element_type() {
    fn of_type<T: SmallNumber>() {
        let mut random = Random::new(5);
        for (rows, columns) in [(0, 2), (1, 1), (1, 5), (700, 3), (90, 40)] {
            let value = |place: usize| {
                T::small(random.below(if place.is_multiple_of(columns) { CATEGORIES } else { 100 }) as u8)
            };
            let values: Vec<T> = (0..rows * columns).map(value).collect();
            let table = HomogenNumericTable::from_array(values, shape(rows, columns)).unwrap();
            let bytes: Vec<_> = LAYOUTS
                .iter()
                .map(|&layout| {
                    let table = table.to_layout(layout).unwrap();
                    for_each_result!(P => check::<P>(&table));
                    let mut bytes = Vec::new();
                    for_each_result!(P => bytes.push(bytes_of(&P::prototype(columns).compute_over(&table).unwrap())));
                    bytes
                })
                .collect();
            assert!(bytes[0] == bytes[1]);
        }
    }
    for_each_element!(of_type);
}

#[test]
fn values_that_are_no_finite_numbers_are_in_a_result_of_parts() {
    let mut random = Random::new(6);
    for (rows, columns) in [(1, 9), (3000, 4), (2100, 65), (600, 140)] {
        let table = random_table(&mut random, rows, columns);
        for_each_result!(P => check::<P>(&table));
    }
}

#[test]
fn sparse_tables_are_what_they_show_and_moments_read_their_stored_values_only() {
    let mut random = Random::new(7);
    let mut table = random_table(&mut random, 2100, 65);
    for _ in 0..100_000 {
        table.set_value(random.below(2100), 1 + random.below(64), 0.0).unwrap();
    }
    let sparse = CsrNumericTable::from_dense::<f64>(&table).unwrap();
    for_each_result!(P => {
        let [dense, sparse]: [P; 2] =
            [&table as &dyn NumericTable, &sparse].map(|table| P::prototype(65).compute_over(table).unwrap());
        sparse.assert_near(&dense);
        assert_eq!(sparse.rows(), 2100);
    });
    let all = BasicStatistics::prototype(65).compute_over(&sparse).unwrap();
    assert_eq!(all.per_column(), BasicStatistics::compute(&sparse).unwrap().propagate_nan(false).per_column());
    // 2^34 cells, which nobody could wait for.
    let values = vec![1.5, -2.5];
    let large = CsrNumericTable::from_triplets(shape(1 << 20, 1 << 14), vec![5, 1 << 19], vec![0, 7], values).unwrap();
    let all = BasicStatistics::new(1 << 14).unwrap().compute_over(&large).unwrap();
    let column = all.column(7).unwrap();
    assert_eq!((column.count(), column.minimum(), column.maximum(), column.sum()), (1 << 20, -2.5, 0.0, -2.5));
}

#[cfg(feature = "rayon")]
#[test]
fn the_parts_of_a_large_table_are_computed_on_several_threads() {
    let rows = (512 << 10) + 5001;
    let value = |place: u64| (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62) as u8; // below 4
    let table = HomogenNumericTable::from_array((0..8 * rows as u64).map(value).collect::<Vec<_>>(), shape(rows, 8));
    let table = table.unwrap();
    for_each_result!(P => {
        let expected = by_parts::<P>(&table);
        let compute = || P::prototype(8).compute_over(&table).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        assert!(bytes_of(&pool.install(compute)) == bytes_of(&expected));
    });
}

#[test]
fn tables_without_columns_or_rows_have_their_rows_counted() {
    let none = HomogenNumericTable::<f32>::new(shape(0, 3), AllocationFlag::DoAllocate).unwrap();
    for_each_result!(P => {
        assert_eq!(P::prototype(3).compute_over(&none).unwrap().rows(), 0);
    });
    for rows in [0, 5, usize::MAX] {
        let table = HomogenNumericTable::<f32>::new(shape(rows, 0), AllocationFlag::DoAllocate).unwrap();
        let rows = rows as u64;
        assert_eq!(BasicStatistics::new(0).unwrap().compute_over(&table).unwrap().row_count(), rows);
        assert_eq!(Covariance::new(0).unwrap().compute_over(&table).unwrap().row_count(), rows);
        assert_eq!(Histogram::with_bins([]).unwrap().compute_over(&table).unwrap().row_count(), rows);
        assert_eq!(QuantileSketch::new(0).unwrap().compute_over(&table).unwrap().row_count(), rows);
    }
}

#[test]
fn other_numbers_of_columns_are_refused_and_change_nothing() {
    for_each_result!(P => {
        let mut result = P::of_table(&random_table(&mut Random::new(1), 20, 3));
        let before = bytes_of(&result);
        for (rows, columns) in [(0, 2), (7, 2), (0, 4), (7, 4), (0, 0)] {
            let refused = result.update(&random_table(&mut Random::new(2), rows, columns));
            assert_error!(refused, ErrorKind::LengthMismatch { expected: 3, actual: found } if *found == columns);
            assert_error!(
                result.compute_over(&random_table(&mut Random::new(2), rows, columns)),
                ErrorKind::LengthMismatch { expected: 3, .. }
            );
        }
        assert!(Partial::merge(&mut result, &P::prototype(4)).is_err());
        assert!(bytes_of(&result) == before);
    });
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn more_rows_than_can_be_counted_are_refused_and_change_nothing() {
    let all = HomogenNumericTable::<f32>::new(shape(usize::MAX, 0), AllocationFlag::DoAllocate).unwrap();
    let one = HomogenNumericTable::<f32>::new(shape(1, 0), AllocationFlag::DoAllocate).unwrap();
    let mut statistics = BasicStatistics::compute(&all).unwrap();
    assert_error!(statistics.update(&one), ErrorKind::LimitExceeded { what: "counted rows", .. });
    assert_eq!(statistics.row_count(), u64::MAX);
    let mut covariance = Covariance::compute(&all).unwrap();
    assert_error!(covariance.update(&one), ErrorKind::LimitExceeded { what: "counted rows", .. });
    assert_eq!(covariance.row_count(), u64::MAX);
}

#[test]
fn an_error_names_the_row_of_the_whole_table() {
    let mut values = vec![0_u8; 600_000];
    values[500_001] = 9;
    let table = HomogenNumericTable::from_array(values, shape(600_000, 1)).unwrap();
    let refused = GroupStatistics::new(1, 0, 3).unwrap().compute_over(&table);
    assert_error!(refused, ErrorKind::ValueNotAllowed { row: 500_001, column: 0, .. }, "categor");
}

#[test]
fn the_first_table_names_the_columns() {
    let named = random_table(&mut Random::new(1), 2, 2);
    let mut statistics = BasicStatistics::compute(&named).unwrap().new_like().unwrap();
    assert!(!statistics.to_string().contains("column 1"));
    statistics.update(&named).unwrap();
    statistics.update(&HomogenNumericTable::from_rows(&[[1.0, 2.0]]).unwrap()).unwrap();
    assert!(statistics.to_string().contains("column 1"));
    let mut groups = GroupStatistics::new(2, 0, CATEGORIES).unwrap();
    groups.update(&named).unwrap();
    assert_eq!(groups.means().unwrap().dictionary().index_of("column 1"), Some(1));
    let covariance = Covariance::new(2).unwrap().compute_over(&named).unwrap();
    assert_eq!(covariance.covariance().unwrap().dictionary().index_of("column 1"), Some(1));
}

/// Sketches and histograms keep names only: labels and units of later rows are not compared with what they do not know.
#[test]
fn labels_and_units_of_later_rows_are_no_difference_for_what_keeps_names_only() {
    use numeric_table::dictionary::{Categories, TimeUnit};
    use numeric_table::{SoaNumericTable, statistics::StatisticsOptions};
    let mut table = SoaNumericTable::new();
    let city =
        Feature::new(ElementType::U8).named("city").categorical(Categories::from_labels(["Oslo", "Lima"]).unwrap());
    table.push_feature(city, vec![0_u8, 1, 1]).unwrap();
    table.push_feature(Feature::new(ElementType::I32).named("day").time(TimeUnit::Days), vec![1_i32, 2, 3]).unwrap();
    let mut sketch = QuantileSketch::new(2).unwrap();
    let mut histogram = Histogram::new(2, &HistogramBins::uniform(0.0, 4.0, 4).unwrap()).unwrap();
    for options in [None, Some(StatisticsOptions::new())] {
        match options {
            None => {
                Partial::update(&mut sketch, &table).unwrap();
                Partial::update(&mut histogram, &table).unwrap();
            }
            Some(options) => {
                sketch.update_with(&table, options.clone()).unwrap();
                histogram.update_with(&table, options).unwrap();
            }
        }
    }
    assert_eq!(histogram.row_count(), 6);
    assert_eq!((sketch.row_count(), sketch.quantile(1, 1.0).unwrap()), (6, 3.0));
    let turned = table.select_columns(&[1, 0][..]).unwrap();
    assert_error!(sketch.update_with(&turned, StatisticsOptions::new()), ErrorKind::UnequalTables { .. });
    assert_error!(histogram.update_with(&turned, StatisticsOptions::new()), ErrorKind::UnequalTables { .. });
}
