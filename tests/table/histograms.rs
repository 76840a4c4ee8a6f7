//! Histograms: beside counting by the edges, value by value.

use numeric_table::{
    Partial,
    prelude::*,
    statistics::{Histogram, HistogramBins, StatisticsOptions},
};
use proptest::prelude::*;
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, assert_error, numbered, shape};
use test_support::{SmallNumber, for_each_element};

/// Counts by the definition: below, in each bin, above, NaN.
fn by_definition(values: impl Iterator<Item = f64>, edges: &[f64]) -> (u64, Vec<u64>, u64, u64) {
    let (mut below, mut counts, mut above, mut nan) = (0, vec![0; edges.len() - 1], 0, 0);
    let last = edges.len() - 2;
    for value in values {
        let is_in =
            |bin: &usize| edges[*bin] <= value && (value < edges[bin + 1] || (*bin == last && value == edges[bin + 1]));
        match (0..=last).find(is_in) {
            Some(bin) => counts[bin] += 1,
            None if value.is_nan() => nan += 1,
            None if value < edges[0] => below += 1,
            None => above += 1,
        }
    }
    (below, counts, above, nan)
}

fn found(histogram: &Histogram, column: usize) -> (u64, Vec<u64>, u64, u64) {
    let column = histogram.column(column).unwrap();
    (column.below(), column.counts().to_vec(), column.above(), column.nan_count())
}

#[test]
fn columns_of_every_type_and_layout_are_counted() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            // Columns are 1, 4, 7, 10, 13; 2, 5, 8 ...; 3, 6, 9 ...
            let bins = HistogramBins::uniform(4.0, 12.0, 2).unwrap();
            let histogram = Histogram::compute(&numbered::<T>(5, 3, layout), &bins).unwrap();
            assert_eq!(histogram.row_count(), 5);
            assert_eq!(found(&histogram, 0), (1, vec![2, 1], 1, 0));
            assert_eq!(found(&histogram, 1), (1, vec![1, 2], 1, 0));
            assert_eq!(found(&histogram, 2), (1, vec![1, 2], 1, 0)); // 12 is in the last bin
        }
    }
    for_each_element!(check);
}

#[test]
fn counts_are_those_of_numpy() {
    // numpy.histogram([0.1 * i for i in range(-3, 14)], bins=10, range=(0, 1))
    let values: Vec<f64> = (-3..14).map(|tenth| 0.1 * f64::from(tenth)).collect();
    let table = HomogenNumericTable::from_array(values, shape(17, 1)).unwrap();
    let histogram = Histogram::compute(&table, &HistogramBins::uniform(0.0, 1.0, 10).unwrap()).unwrap();
    assert_eq!(found(&histogram, 0), (3, vec![1, 1, 1, 1, 1, 1, 1, 1, 1, 2], 3, 0));
}

#[test]
fn bins_of_equal_width_reach_from_the_least_to_the_largest_number() {
    let max = f64::MAX;
    let bins = HistogramBins::uniform(-max, max, 3).unwrap();
    let third = max / 3.0;
    assert_eq!((bins.edges()[0], bins.edges()[3]), (-max, max));
    assert!((bins.edges()[1] / third + 1.0).abs() < 1e-15 && (bins.edges()[2] / third - 1.0).abs() < 1e-15);
    assert_eq!([-max, -1e307, 0.0, 1e308, max].map(|value| bins.bin_of(value)), [0, 1, 1, 2, 2].map(Some));
    for (lower, upper) in [(-max, max), (-max, 1.0), (-max, 1e292), (-1e308, 1e308), (-1e-300, max), (-3.0, 5e-324)] {
        for count in [1, 2, 7, 1000] {
            let bins = HistogramBins::uniform(lower, upper, count).unwrap();
            assert_eq!((bins.edges()[0], bins.edges()[count], bins.len()), (lower, upper, count));
            for (bin, edges) in bins.edges().windows(2).enumerate() {
                assert_eq!((bins.bin_of(edges[0]), bins.bin_of(edges[1].next_down())), (Some(bin), Some(bin)));
                let (width, mean) = (edges[1] / 2.0 - edges[0] / 2.0, (upper / 2.0 - lower / 2.0) / count as f64);
                assert!((width / mean - 1.0).abs() < 1e-11, "{lower:e} {upper:e} {count} {bin}");
            }
            let read: HistogramBins = serde_json::from_str(&serde_json::to_string(&bins).unwrap()).unwrap();
            assert_eq!(read, bins);
        }
    }
}

#[test]
fn bins_that_do_not_ascend_are_refused() {
    let nan = f64::NAN;
    assert_error!(HistogramBins::uniform(0.0, 1.0, 0), ErrorKind::ParameterOutOfRange { .. }, "number of bins");
    assert_error!(HistogramBins::uniform(0.0, 1.0, usize::MAX), ErrorKind::OutOfMemory);
    assert_error!(HistogramBins::uniform(0.0, 1.0, usize::MAX - 1), ErrorKind::OutOfMemory);
    for (lower, upper) in [(1.0, 1.0), (2.0, 1.0), (nan, 1.0), (0.0, nan), (0.0, f64::INFINITY)] {
        assert_error!(HistogramBins::uniform(lower, upper, 3), ErrorKind::ParameterOutOfRange { .. }, "the upper edge");
    }
    assert_error!(HistogramBins::uniform(1e16, 1e16 + 4.0, 100), ErrorKind::ParameterOutOfRange { .. }, "edge 1");
    assert_error!(HistogramBins::with_edges([]), ErrorKind::ParameterOutOfRange { .. }, "number of edges");
    assert_error!(HistogramBins::with_edges([1.0]), ErrorKind::ParameterOutOfRange { .. }, "number of edges");
    assert_error!(HistogramBins::with_edges([nan, 1.0]), ErrorKind::ParameterOutOfRange { .. }, "edge 0");
    assert_error!(HistogramBins::with_edges([0.0, nan, 1.0]), ErrorKind::ParameterOutOfRange { .. }, "edge 1");
    assert_error!(
        HistogramBins::with_edges([0.0, 2.0, 1.0]),
        ErrorKind::ParameterOutOfRange { value: 1.0, .. },
        "edge 2"
    );
    assert_error!(HistogramBins::with_edges([-0.0, 0.0]), ErrorKind::ParameterOutOfRange { .. }, "edge 1");
    let all = HistogramBins::with_edges([f64::NEG_INFINITY, 0.0, f64::INFINITY]).unwrap();
    assert_eq!(
        (all.bin_of(f64::NEG_INFINITY), all.bin_of(f64::INFINITY), all.bin_of(0.0)),
        (Some(0), Some(1), Some(1))
    );
}

proptest! {
    #[test]
    fn every_value_is_in_the_bin_that_the_edges_say(
        lower in -1e3..1e3_f64,
        width in 1e-6..1e6_f64,
        bins in 1_usize..300,
        places in prop::collection::vec((0_usize..301, -2_i64..3), 1..100),
        extra in prop::collection::vec(any::<f64>(), 0..20),
    ) {
        let uniform = HistogramBins::uniform(lower, lower + width, bins).unwrap();
        let same = HistogramBins::with_edges(uniform.edges()).unwrap();
        // Edges, and their nearest neighbours: where rounding matters.
        let edge = |&(place, steps): &(usize, i64)| {
            let edge = uniform.edges()[place % (bins + 1)];
            (0..steps.abs()).fold(edge, |edge, _| if steps < 0 { edge.next_down() } else { edge.next_up() })
        };
        let values: Vec<f64> = places.iter().map(edge).chain(extra).collect();
        let expected = by_definition(values.iter().copied(), uniform.edges());
        let table = HomogenNumericTable::from_array(values.clone(), shape(values.len(), 1)).unwrap();
        for bins in [uniform, same] {
            prop_assert_eq!(&found(&Histogram::compute(&table, &bins).unwrap(), 0), &expected);
        }
    }
}

#[test]
fn merged_and_updated_counts_are_those_of_all_rows_on_any_number_of_threads() {
    let mut random = Random::new(6);
    let values: Vec<f64> = (0..40_000 * 35).map(|_| random.below(1 << 20) as f64).collect();
    let table = HomogenNumericTable::from_array(values, shape(40_000, 35)).unwrap();
    let bins = || (1..=35).map(|bins| HistogramBins::uniform(1000.0, 1_000_000.0, bins).unwrap());
    let mut expected = Histogram::with_bins(bins()).unwrap();
    expected.update_with(&table.to_layout(DataLayout::ColumnMajor).unwrap(), StatisticsOptions::new()).unwrap();
    for column in [0, 17, 34] {
        let values = table.column::<f64>(column, ..).unwrap();
        let edges = expected.column(column).unwrap().bins().edges();
        assert_eq!(found(&expected, column), by_definition(values.iter().copied(), edges));
    }
    let mut merged = Histogram::with_bins(bins()).unwrap();
    for rows in [0..1, 1..20_000, 20_000..20_000, 20_000..40_000] {
        let mut part = Histogram::with_bins(bins()).unwrap();
        part.update_values(&table.rows::<f64>(rows).unwrap()).unwrap();
        merged.merge(&part).unwrap();
    }
    assert_eq!(merged, expected);
    #[cfg(feature = "rayon")]
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut found = Histogram::with_bins(bins()).unwrap();
        pool.install(|| found.update_with(&table, StatisticsOptions::new())).unwrap();
        assert_eq!(found, expected);
    }
}

#[test]
fn histograms_that_do_not_fit_are_refused_and_nothing_is_added() {
    let bins = HistogramBins::uniform(0.0, 10.0, 2).unwrap();
    let table = numbered::<u8>(4, 2, DataLayout::RowMajor);
    let mut histogram = Histogram::compute(&table, &bins).unwrap();
    let before = histogram.clone();
    assert_error!(histogram.update_values(&[1.0, 2.0, 3.0]), ErrorKind::NotWholeRows { values: 3, columns: 2 });
    assert_error!(
        histogram.merge(&Histogram::new(3, &bins).unwrap()),
        ErrorKind::LengthMismatch { expected: 2, actual: 3 }
    );
    let other = [bins.clone(), HistogramBins::uniform(0.0, 11.0, 2).unwrap()];
    assert_error!(histogram.merge(&Histogram::with_bins(other).unwrap()), ErrorKind::NotCombinable { .. }, "edges");
    let wider = numbered::<u8>(4, 3, DataLayout::RowMajor);
    assert_error!(
        histogram.update_with(&wider, StatisticsOptions::new()),
        ErrorKind::LengthMismatch { expected: 2, actual: 3 }
    );
    assert_error!(histogram.column(2), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
    let empty = HomogenNumericTable::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(histogram.update_with(&empty, StatisticsOptions::new()), ErrorKind::NotAllocated);
    assert_error!(Histogram::new(usize::MAX, &bins), ErrorKind::OutOfMemory);
    assert_eq!(histogram, before);
}

#[test]
fn names_come_with_the_first_table_that_has_them() {
    let bins = HistogramBins::uniform(0.0, 8.0, 2).unwrap();
    let mut named = numbered::<u8>(4, 2, DataLayout::RowMajor);
    let mut all = Histogram::compute(&named, &bins).unwrap();
    assert_eq!(all.dictionary(), None);
    assert_error!(all.column("a"), ErrorKind::UnknownName { .. });
    named.set_names(["a", "b"]).unwrap();
    for rows in [4, 20_000] {
        let mut table = HomogenNumericTable::from_fn(shape(rows, 2), |row, column| (row % 8 + column) as u8).unwrap();
        table.set_names(["a", "b"]).unwrap();
        let mut found = Histogram::new(2, &bins).unwrap();
        found.update(&table).unwrap();
        assert_eq!(found.column("b").unwrap(), found.column(1).unwrap());
        assert_eq!(Histogram::from_bytes(&found.to_bytes().unwrap()).unwrap(), found);
        assert_eq!(found.new_like().unwrap(), Histogram::new(2, &bins).unwrap());
    }
    all.merge(&Histogram::compute(&named, &bins).unwrap()).unwrap();
    assert_eq!(all.column("a").unwrap().counts(), all.column(0).unwrap().counts());
    let before = all.clone();
    named.set_names(["b", "a"]).unwrap();
    let other = Histogram::compute(&named, &bins).unwrap();
    assert_error!(all.merge(&other), ErrorKind::UnequalTables { .. });
    assert_error!(all.update(&named), ErrorKind::UnequalTables { .. });
    assert_error!(all.update_with(&named, StatisticsOptions::new()), ErrorKind::UnequalTables { .. });
    assert_eq!(all, before);
}
