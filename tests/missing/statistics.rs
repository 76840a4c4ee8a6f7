//! Statistics of tables with missing values: those of the present values alone, bit for bit, and counts of the others.

use numeric_table::array::Validity;
use numeric_table::prelude::*;
use numeric_table::statistics::{
    BasicStatistics, ColumnStatistics, Covariance, GramMatrix, Histogram, HistogramBins, QuantileSketch, Quantiles,
    StatisticsOptions,
};
use numeric_table::{AnyArray, MergedNumericTable, Partial, RowMergedNumericTable, SoaNumericTable};
use test_support::{SmallNumber, for_each_element};

/// Ways in which rows are missing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pattern {
    Tenth,
    Half,
    Runs,
    All,
    /// Only this row is present.
    OneOf(usize),
}

pub(crate) const PATTERNS: [Pattern; 5] =
    [Pattern::Tenth, Pattern::Half, Pattern::Runs, Pattern::All, Pattern::OneOf(37)];

impl Pattern {
    pub(crate) fn is_present(self, row: usize) -> bool {
        let noise = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        match self {
            Self::Tenth => !noise.is_multiple_of(10),
            Self::Half => noise.is_multiple_of(2),
            Self::Runs => row / 200 % 3 != 1,
            Self::All => false,
            Self::OneOf(only) => row == only,
        }
    }
}

/// A value of a column: small, of both signs if the type has them, and with fractions if it has these.
fn value<T: SmallNumber + Into<f64>>(row: usize) -> T {
    T::small((row * 7919 % 113) as u8)
}

/// Appends a column with gaps.
fn push<T: Element>(table: &mut SoaNumericTable, values: Vec<T>, pattern: Pattern) {
    let flags: Vec<bool> = (0..values.len()).map(|row| pattern.is_present(row)).collect();
    let name = format!("c{}", table.column_count());
    let feature = Feature::new(T::TYPE).named(name).nullable();
    table.push_nullable(feature, AnyArray::from(values), Some(Validity::from_flags(&flags).unwrap())).unwrap();
}

/// A table of the present values of one column.
fn present<T: Element>(values: &[T], pattern: Pattern) -> SoaNumericTable {
    let rows = (0..values.len()).filter(|&row| pattern.is_present(row));
    SoaNumericTable::from_columns([("c0", rows.map(|row| values[row]).collect::<Vec<T>>())]).unwrap()
}

/// The printed form, which distinguishes all numbers, with another count of missing values.
fn printed(found: &impl std::fmt::Debug, missing: u64) -> String {
    let text = format!("{found:?}");
    assert!(missing == 0 || text.contains("missing: 0"), "{text}");
    text.replace("missing: 0", &format!("missing: {missing}"))
}

/// Compares the results of a column with those of its present values.
fn check<T: Element>(values: &[T], pattern: Pattern) {
    let mut table = SoaNumericTable::new();
    push(&mut table, values.to_vec(), pattern);
    let alone = present(values, pattern);
    let missing = (values.len() - alone.row_count()) as u64;
    let context = || format!("{} rows of {}, {pattern:?}", values.len(), T::TYPE);

    let (found, expected) = (BasicStatistics::compute(&table).unwrap(), BasicStatistics::compute(&alone).unwrap());
    let (found, expected) = (found.column(0).unwrap(), expected.column(0).unwrap());
    assert_eq!(printed(found, 0), printed(expected, missing), "{}", context());
    assert_eq!((found.missing_count(), found.nan_count()), (missing, expected.nan_count()));

    let bins = HistogramBins::uniform(-3.0, 100.0, 7).unwrap();
    let (found, expected) = (Histogram::compute(&table, &bins).unwrap(), Histogram::compute(&alone, &bins).unwrap());
    let (found, expected) = (found.column(0).unwrap(), expected.column(0).unwrap());
    assert_eq!(printed(found, 0), printed(expected, missing), "{}", context());

    let probabilities = [0.0, 0.25, 0.5, 0.99];
    let of = |table: &dyn NumericTable| Quantiles::compute(table, &probabilities).unwrap();
    let (found, expected) = (of(&table), of(&alone));
    assert_eq!(
        format!("{:?}", found.column(0).unwrap()),
        format!("{:?}", expected.column(0).unwrap()),
        "{}",
        context()
    );
    assert_eq!(
        (found.count(0).unwrap(), found.nan_count(0).unwrap()),
        (expected.count(0).unwrap(), expected.nan_count(0).unwrap())
    );
    assert_eq!(found.missing_count(0).unwrap(), missing);

    let sketches = |table: &dyn NumericTable| {
        let mut all = QuantileSketch::with_capacity(1, 64).unwrap();
        all.update_values(&[1.5, 2.5, f64::NAN]).unwrap();
        all.update(table).unwrap(); // value by value, if they are few
        let mut of_groups = QuantileSketch::with_capacity(1, 64).unwrap();
        of_groups.update_with(table, StatisticsOptions::new()).unwrap();
        [all, of_groups]
    };
    for (found, expected) in sketches(&table).iter().zip(&sketches(&alone)) {
        let numbers = |sketch: &QuantileSketch| {
            let of = |result: numeric_table::Result<u64>| result.unwrap();
            let quantiles = sketch.quantiles(0, &probabilities).unwrap();
            (format!("{quantiles:?}"), of(sketch.count(0)), of(sketch.nan_count(0)), of(sketch.rank_error(0)))
        };
        assert_eq!(numbers(found), numbers(expected), "{}", context());
        assert_eq!(found.missing_count(0).unwrap(), missing);
        // The same levels; the numbers of rows differ.
        let levels = |sketch: &QuantileSketch| {
            let text = format!("{sketch:?}");
            text[..text.find("], rows:").unwrap()].to_owned()
        };
        let expected = levels(expected).replace("missing: 0", &format!("missing: {missing}"));
        assert_eq!(levels(found), expected, "{}", context());
    }
}

#[test]
fn results_are_those_of_the_present_values_of_every_element_type() {
    fn of_type<T: SmallNumber + Into<f64>>() {
        for rows in [1, 63, 64, 65, 1000, 1025, 5000] {
            let values: Vec<T> = (0..rows).map(value::<T>).collect();
            PATTERNS.into_iter().for_each(|pattern| check(&values, pattern));
        }
    }
    of_type::<f32>();
    of_type::<f64>();
    of_type::<i8>();
    of_type::<i16>();
    of_type::<i32>();
    of_type::<u8>();
    of_type::<u16>();
    of_type::<u32>();
    of_type::<numeric_table::f16>();
    of_type::<numeric_table::bf16>();
    for rows in [1, 64, 1025, 5000] {
        for pattern in PATTERNS {
            check(&(0..rows).map(|row| (1_i64 << 53) + 1 - row as i64 * 3).collect::<Vec<_>>(), pattern);
            check(&(0..rows).map(|row| u64::MAX - row as u64 * 7919).collect::<Vec<_>>(), pattern);
        }
    }
}

#[test]
fn results_of_many_rows_are_those_of_the_present_values() {
    let floats: Vec<f64> = (0..100_000).map(|row| ((row * 7919 % 10_007) as f64).sqrt() - 40.0).collect();
    let integers: Vec<i64> = (0..100_000).map(|row| row * 7919 % 10_007 - 5000).collect();
    for pattern in PATTERNS {
        check(&floats, pattern);
        check(&integers, pattern);
    }
}

#[test]
fn nan_and_infinities_beside_gaps_are_counted_as_without_gaps() {
    let wild = [f64::NAN, 1.5, f64::INFINITY, -0.0, f64::NEG_INFINITY, f64::MAX, 5e-324, -7.25, 0.0, 1e300];
    for rows in [1, 10, 64, 3000, 70_000] {
        let values: Vec<f64> = (0..rows).map(|row| wild[row * 7 % 97 % wild.len()]).collect();
        let small: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        for pattern in PATTERNS {
            check(&values, pattern);
            check(&small, pattern);
        }
    }
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(f64::NAN), None, Some(f64::INFINITY), Some(2.0), None, None]).unwrap();
    let column = *BasicStatistics::compute(&table).unwrap().column(0).unwrap();
    let counts = (column.count(), column.missing_count(), column.nan_count(), column.infinity_count());
    assert_eq!(counts, (2, 3, 1, 1));
    assert!(BasicStatistics::compute(&table).unwrap().propagate_nan(true).column(0).unwrap().mean().is_nan());
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1.0), None]).unwrap();
    let statistics = BasicStatistics::compute(&table).unwrap().propagate_nan(true);
    assert_eq!(statistics.column(0).unwrap().mean(), 1.0); // missing is not NaN
}

/// Columns of several types with and without gaps.
fn mixed(rows: usize) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    let noise = |row: usize, column: usize| ((row * 7919 + column * 104_729) % 10_007) as f64 - 5000.0;
    table.push_column("plain", (0..rows).map(|row| noise(row, 1) / 7.0).collect::<Vec<f64>>()).unwrap();
    push(&mut table, (0..rows).map(|row| noise(row, 2) / 3.0).collect::<Vec<f64>>(), Pattern::Tenth);
    push(&mut table, (0..rows).map(|row| noise(row, 3) as i64).collect::<Vec<_>>(), Pattern::Runs);
    table.push_column("floats", (0..rows).map(|row| noise(row, 4) as f32).collect::<Vec<f32>>()).unwrap();
    table.push_column("bytes", (0..rows).map(|row| row as u8).collect::<Vec<u8>>()).unwrap();
    push(&mut table, (0..rows).map(|row| noise(row, 5) as i16).collect::<Vec<_>>(), Pattern::All);
    push(&mut table, (0..rows).map(|row| noise(row, 6) as f32 / 9.0).collect::<Vec<f32>>(), Pattern::Half);
    table
}

/// Everything that is computed from a table, printed.
fn everything(table: &dyn NumericTable) -> [String; 6] {
    let columns = table.column_count();
    let bins = HistogramBins::uniform(-2000.0, 3000.0, 9).unwrap();
    let sketch = QuantileSketch::compute(table).unwrap();
    let quantiles = Quantiles::compute(table, &[0.1, 0.5]).unwrap();
    let quantiles =
        (0..columns).map(|column| (quantiles.column(column).unwrap(), quantiles.missing_count(column).unwrap()));
    [
        format!("{:?}", BasicStatistics::compute(table).unwrap().per_column()),
        format!("{:?}", Histogram::compute(table, &bins).unwrap().per_column()),
        format!(
            "{:?}",
            (0..columns)
                .map(|c| (sketch.quantiles(c, &[0.1, 0.7]).unwrap(), sketch.missing_count(c).unwrap()))
                .collect::<Vec<_>>()
        ),
        format!("{:?}", quantiles.collect::<Vec<_>>()),
        format!("{:?}", Covariance::compute(table).unwrap().cross_product().unwrap().packed::<f64>().unwrap()),
        format!("{:?}", GramMatrix::compute(table).unwrap().matrix().unwrap().packed::<f64>().unwrap()),
    ]
}

#[test]
fn every_number_of_threads_computes_the_same_bits() {
    let table = mixed(150_000); // beyond the limit below which one thread works
    let in_pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| everything(&table))
    };
    let expected = in_pool(1);
    for threads in [2, 3, 8] {
        assert_eq!(in_pool(threads), expected, "{threads} threads");
    }
    // The column by itself, and in a table with others.
    let all = BasicStatistics::compute(&table).unwrap();
    for column in 0..table.column_count() {
        let alone = BasicStatistics::compute(&table.select_columns([column]).unwrap()).unwrap();
        assert_eq!(alone.column(0).unwrap(), all.column(column).unwrap());
    }
}

#[test]
fn every_kind_of_table_shows_its_gaps() {
    let table = mixed(3000);
    let expected = everything(&table);
    let boxed: Box<dyn NumericTable> = Box::new(table.clone());
    assert_eq!(everything(&*boxed), expected);
    assert_eq!(everything(&*table.select_rows(..).unwrap()), expected);
    let halves = [table.select_rows(..1234).unwrap(), table.select_rows(1234..).unwrap()];
    assert_eq!(everything(&RowMergedNumericTable::new(halves).unwrap()), expected);
    let side = |columns| Box::new(table.select_columns(columns).unwrap()) as Box<dyn NumericTable>;
    assert_eq!(everything(&MergedNumericTable::new([side(0..3), side(3..7)]).unwrap()), expected);
}

#[test]
fn rows_with_a_missing_value_are_left_out_of_products_as_a_whole() {
    for (rows, columns) in [(1, 2), (10, 3), (300, 5), (5000, 16), (40_000, 4), (600, 130)] {
        let mut table = SoaNumericTable::new();
        for column in 0..columns {
            let values: Vec<f64> = (0..rows).map(|row| ((row * 31 + column * 17) % 1013) as f64 / 7.0).collect();
            match column {
                1 => push(&mut table, values, Pattern::Tenth),
                2 => push(&mut table, values, Pattern::Runs),
                _ => table.push_column(format!("{column}"), values).unwrap(),
            }
        }
        let complete = table.drop_missing_rows(..).unwrap();
        let missing = (rows - complete.shape().rows) as u64;
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();

        let (found, expected) = (Covariance::compute(&table).unwrap(), Covariance::compute(&*complete).unwrap());
        assert_eq!((found.row_count(), found.missing_rows()), (complete.shape().rows as u64, missing));
        assert_eq!(bits(&found.means()), bits(&expected.means()));
        let products = |covariance: &Covariance| covariance.cross_product().unwrap().packed::<f64>().unwrap().to_vec();
        assert_eq!(bits(&products(&found)), bits(&products(&expected)), "{rows} x {columns}");
        let (mut found, mut expected) = (Covariance::new(columns).unwrap(), Covariance::new(columns).unwrap());
        found.update(&table).unwrap();
        expected.update(&*complete).unwrap();
        assert_eq!(bits(&products(&found)), bits(&products(&expected)), "{rows} x {columns}");

        let (found, expected) = (GramMatrix::compute(&table).unwrap(), GramMatrix::compute(&*complete).unwrap());
        assert_eq!((found.row_count(), found.missing_rows()), (complete.shape().rows as u64, missing));
        assert_eq!(bits(&found.sums().unwrap()), bits(&expected.sums().unwrap()));
        let products = |gram: &GramMatrix| gram.matrix().unwrap().packed::<f64>().unwrap().to_vec();
        assert_eq!(bits(&products(&found)), bits(&products(&expected)), "{rows} x {columns}");
    }
}

#[test]
fn nan_in_a_complete_row_spreads_and_in_another_row_does_not() {
    let of = |last: Option<f64>| {
        let mut table = SoaNumericTable::new();
        table.push_optional("a", [Some(1.0), Some(2.0), Some(f64::NAN)]).unwrap();
        table.push_optional("b", [Some(4.0), Some(3.0), last]).unwrap();
        Covariance::compute(&table).unwrap()
    };
    assert_eq!((of(None).means(), of(None).missing_rows()), (vec![1.5, 3.5], 1));
    assert!(of(Some(1.0)).means()[0].is_nan() && of(Some(1.0)).missing_rows() == 0);
    let mut all = SoaNumericTable::new();
    all.push_optional("a", [None::<i32>, None]).unwrap();
    let covariance = Covariance::compute(&all).unwrap();
    assert!((covariance.row_count(), covariance.missing_rows()) == (0, 2) && covariance.means()[0].is_nan());
}

#[test]
fn progress_reaches_the_total_with_gaps() {
    use std::sync::{Arc, Mutex};
    let table = mixed(20_000);
    let check = |compute: &dyn Fn(StatisticsOptions)| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let tells = seen.clone();
        compute(StatisticsOptions::new().on_progress(move |progress| tells.lock().unwrap().push(progress)));
        let seen = seen.lock().unwrap();
        assert!(seen.windows(2).all(|pair| pair[0].done < pair[1].done));
        let last = seen.last().unwrap();
        assert_eq!(Some(last.done), last.total);
        assert_eq!(last.done, 20_000 * (8 + 8 + 8 + 4 + 1 + 2 + 4));
    };
    let bins = HistogramBins::uniform(0.0, 1.0, 1).unwrap();
    check(&|options| drop(BasicStatistics::compute_with(&table, options).unwrap()));
    check(&|options| drop(Histogram::compute_with(&table, &bins, options).unwrap()));
    check(&|options| drop(Quantiles::compute_with(&table, &[0.5; 9], options).unwrap()));
    check(&|options| drop(QuantileSketch::compute_with(&table, options).unwrap()));
    check(&|options| drop(Covariance::compute_with(&table, options).unwrap()));
}

#[test]
fn printed_statistics_show_missing_values_if_there_are_any() {
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1), None, Some(4)]).unwrap();
    table.push_column("b", vec![1.0, 2.0, 3.0]).unwrap();
    let text = BasicStatistics::compute(&table).unwrap().to_string();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..4], ["count", "missing", "NaN", "inf"]);
    assert_eq!((&lines[1][..5], &lines[2][..5]), (&["a", "2", "1", "0", "0"][..], &["b", "3", "0", "0", "0"][..]));
    table.fill_missing(.., numeric_table::table::FillMissing::value(0)).unwrap();
    assert!(!BasicStatistics::compute(&table).unwrap().to_string().contains("missing"));
}

#[test]
fn all_statistics_of_a_column_without_present_values_are_those_of_no_values() {
    fn of_type<T: Element>() {
        let mut table = SoaNumericTable::new();
        table.push_optional("a", vec![None::<T>; 100]).unwrap();
        let column = *BasicStatistics::compute(&table).unwrap().column(0).unwrap();
        assert_eq!((column.missing_count(), column.count(), column.sum(), column.nan_count()), (100, 0, 0.0, 0));
        assert!(column.mean().is_nan() && column.minimum().is_nan() && column.variance().is_nan());
        assert!(Quantiles::compute(&table, &[0.5]).unwrap().value(0, 0).unwrap().is_nan());
        let empty: &[ColumnStatistics] = &[];
        assert_eq!(BasicStatistics::new(0).unwrap().per_column(), empty);
    }
    for_each_element!(of_type);
}
