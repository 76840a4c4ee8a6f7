//! Statistics as partial results: computed in pieces, merged, as bytes and through serde, of honest bytes and of
//! others.

mod computed;
mod hostile;
mod round_trip;

use std::fmt::Debug;

use numeric_table::{
    CsrNumericTable, Partial,
    prelude::*,
    statistics::{
        BasicStatistics, ColumnStatistics, Covariance, GroupStatistics, Histogram, HistogramBins, QuantileSketch,
    },
};
use test_support::bits::Random;
use test_support::tables::shape;

/// Number of categories in the first column of the tables here.
const CATEGORIES: usize = 4;

/// A type of partial result, as the tests see it.
trait Tested: Partial + Clone + Debug {
    /// The result without rows for a table of so many columns.
    fn prototype(columns: usize) -> Self;

    /// The result of a whole table, computed in the other way that there is.
    fn of_table(table: &dyn NumericTable) -> Self;

    fn rows(&self) -> u64;

    /// Checks that two results of the same table differ by no more than they may.
    fn assert_near(&self, other: &Self);

    /// Calls everything that returns something.
    fn call_everything(&self);
}

fn bytes_of<P: Partial>(result: &P) -> Vec<u8> {
    result.to_bytes().unwrap()
}

/// Calls a generic function for every type of result.
macro_rules! for_each_result {
    ($P:ident => $body:expr) => {{
        for_each_result!(@ $P, $body; BasicStatistics Covariance Histogram QuantileSketch GroupStatistics);
    }};
    (@ $P:ident, $body:expr; $($result:ty)*) => {
        $({
            type $P = $result;
            $body;
        })*
    };
}
use for_each_result;

/// A table of values of different magnitudes, some of which are no finite numbers, after a column of categories.
fn random_table(random: &mut Random, rows: usize, columns: usize) -> HomogenNumericTable<f64> {
    let mut value = |column: usize| match random.below(40) {
        _ if column == 0 => random.below(CATEGORIES) as f64,
        0 if column % 3 == 1 => f64::NAN,
        1 if column % 3 == 1 => [f64::INFINITY, f64::NEG_INFINITY][random.below(2)],
        2 => -0.0,
        3 if column % 3 == 2 => 1e300 * random.below(100) as f64,
        _ => 1e6 * column as f64 + random.below(1000) as f64 / 7.0,
    };
    let values = (0..rows * columns).map(|place| value(place % columns)).collect::<Vec<_>>();
    let names = (0..columns).map(|column| Feature::new(ElementType::F64).named(format!("column {column}")));
    let table = HomogenNumericTable::from_array(values, shape(rows, columns)).unwrap();
    table.with_dictionary(names.collect()).unwrap()
}

fn bins() -> Vec<HistogramBins> {
    vec![
        HistogramBins::uniform(0.0, 3.0, 3).unwrap(),
        HistogramBins::with_edges([f64::NEG_INFINITY, -0.5, 0.0, 2e6, 3e200]).unwrap(),
        HistogramBins::uniform(-1.0 / 3.0, 1e7, 1000).unwrap(),
    ]
}

fn near(found: f64, expected: f64, scale: f64) -> bool {
    found == expected || (found.is_nan() && expected.is_nan()) || (found - expected).abs() <= 1e-11 * scale
}

fn assert_columns_near(mine: &[ColumnStatistics], theirs: &[ColumnStatistics]) {
    assert_eq!(mine.len(), theirs.len());
    for (mine, theirs) in mine.iter().zip(theirs) {
        let counts = |column: &ColumnStatistics| (column.count(), column.nan_count(), column.infinity_count());
        assert_eq!(counts(mine), counts(theirs));
        assert!(near(mine.minimum(), theirs.minimum(), 0.0) && near(mine.maximum(), theirs.maximum(), 0.0));
        for number in [ColumnStatistics::mean, ColumnStatistics::variance, ColumnStatistics::sum_squares] {
            assert!(near(number(mine), number(theirs), number(theirs).abs()), "{mine:?} is not {theirs:?}");
        }
    }
}

fn call_all_of_columns(columns: &[ColumnStatistics]) {
    for column in columns {
        let numbers = [
            ColumnStatistics::minimum,
            ColumnStatistics::maximum,
            ColumnStatistics::sum,
            ColumnStatistics::sum_squares,
            ColumnStatistics::sum_squares_centered,
            ColumnStatistics::mean,
            ColumnStatistics::second_order_raw_moment,
            ColumnStatistics::variance,
            ColumnStatistics::population_variance,
            ColumnStatistics::standard_deviation,
            ColumnStatistics::population_standard_deviation,
            ColumnStatistics::coefficient_of_variation,
        ];
        let _ = numbers.map(|number| number(column));
        let _ = (column.count(), column.nan_count(), column.infinity_count());
    }
}

impl Tested for BasicStatistics {
    fn prototype(columns: usize) -> Self {
        Self::new(columns).unwrap().propagate_nan(columns.is_multiple_of(2))
    }

    fn of_table(table: &dyn NumericTable) -> Self {
        Self::compute(table).unwrap().propagate_nan(table.column_count().is_multiple_of(2))
    }

    fn rows(&self) -> u64 {
        self.row_count()
    }

    fn assert_near(&self, other: &Self) {
        assert_columns_near(self.per_column(), other.per_column());
    }

    fn call_everything(&self) {
        call_all_of_columns(self.per_column());
        let _ = (self.to_string(), format!("{self:#.3}"), self.column(0), self.clone().propagate_nan(true));
    }
}

impl Tested for Covariance {
    fn prototype(columns: usize) -> Self {
        Self::new(columns).unwrap()
    }

    fn of_table(table: &dyn NumericTable) -> Self {
        Self::compute(table).unwrap()
    }

    fn rows(&self) -> u64 {
        self.row_count()
    }

    fn assert_near(&self, other: &Self) {
        for (mine, theirs) in self.means().iter().zip(other.means()) {
            assert!(near(*mine, theirs, theirs.abs()));
        }
        let [mine, theirs] = [self, other].map(|result| result.covariance().unwrap());
        let [mine_all, theirs_all] = [&mine, &theirs].map(|matrix| matrix.rows::<f64>(..).unwrap());
        let deviation = |column: usize| theirs_all[column * (self.column_count() + 1)].sqrt();
        for (place, (mine, theirs)) in mine_all.iter().zip(theirs_all.iter()).enumerate() {
            let (row, column) = (place / self.column_count(), place % self.column_count());
            assert!(near(*mine, *theirs, deviation(row) * deviation(column)), "{row}, {column}: {mine}, not {theirs}");
        }
    }

    fn call_everything(&self) {
        let _ = (self.means(), self.cross_product().unwrap(), self.covariance().unwrap());
        let _ = (self.population_covariance().unwrap(), self.correlation().unwrap());
    }
}

impl Tested for Histogram {
    fn prototype(columns: usize) -> Self {
        match columns % 2 {
            0 => Self::new(columns, &bins()[2]).unwrap(),
            _ => Self::with_bins(bins().into_iter().cycle().take(columns)).unwrap(),
        }
    }

    fn of_table(table: &dyn NumericTable) -> Self {
        let mut all = Self::prototype(table.column_count());
        all.update_with(table, numeric_table::statistics::StatisticsOptions::new()).unwrap();
        all
    }

    fn rows(&self) -> u64 {
        self.row_count()
    }

    fn assert_near(&self, other: &Self) {
        assert_eq!(self, other);
    }

    fn call_everything(&self) {
        for column in self.per_column() {
            let _ = (column.counts(), column.below(), column.above(), column.nan_count());
            for edge in column.bins().edges() {
                let _ = (column.bins().bin_of(*edge), column.bins().bin_of(edge.next_up()));
            }
        }
        let _ = (self.column(0), *self == self.clone());
    }
}

impl Tested for QuantileSketch {
    fn prototype(columns: usize) -> Self {
        Self::with_capacity(columns, 64).unwrap()
    }

    fn of_table(table: &dyn NumericTable) -> Self {
        let mut all = Self::prototype(table.column_count());
        all.update_with(table, numeric_table::statistics::StatisticsOptions::new()).unwrap();
        all
    }

    fn rows(&self) -> u64 {
        self.row_count()
    }

    fn assert_near(&self, other: &Self) {
        for column in 0..self.column_count() {
            let counts = |sketch: &Self| (sketch.count(column).unwrap(), sketch.nan_count(column).unwrap());
            assert_eq!(counts(self), counts(other));
            assert_eq!(self.extremes(column).unwrap(), other.extremes(column).unwrap());
            let errors = self.rank_error(column).unwrap() + other.rank_error(column).unwrap();
            for quantile in [0.1, 0.5, 0.9] {
                let value = self.quantile(column, quantile).unwrap();
                let ranks = [self, other].map(|sketch| sketch.rank(column, value).unwrap());
                assert!(ranks[0].abs_diff(ranks[1]) <= errors, "{ranks:?} differ by more than {errors}");
            }
        }
    }

    fn call_everything(&self) {
        for column in 0..self.column_count() {
            self.quantiles(column, &[0.0, 1e-9, 0.5, 1.0 - 1e-9, 1.0]).unwrap();
            for value in [f64::NEG_INFINITY, -1.0, -0.0, 1e6, f64::INFINITY, f64::NAN] {
                self.rank(column, value).unwrap();
            }
            let _ = (self.rank_error(column), self.extremes(column), self.count(column), self.nan_count(column));
        }
    }
}

impl Tested for GroupStatistics {
    fn prototype(columns: usize) -> Self {
        Self::new(columns, 0, CATEGORIES).unwrap()
    }

    fn of_table(table: &dyn NumericTable) -> Self {
        Self::compute(table, 0, CATEGORIES).unwrap()
    }

    fn rows(&self) -> u64 {
        self.row_count()
    }

    fn assert_near(&self, other: &Self) {
        for category in 0..CATEGORIES {
            let [mine, theirs] = [self, other].map(|groups| groups.group(category).unwrap());
            assert_eq!(mine.row_count(), theirs.row_count());
            mine.assert_near(&theirs);
        }
    }

    fn call_everything(&self) {
        for category in 0..self.category_count() {
            self.group(category).unwrap().call_everything();
            let _ = (self.row_count_of(category), self.column(category, 0));
        }
        let _ = (self.means(), self.to_table(ColumnStatistics::variance));
    }
}
