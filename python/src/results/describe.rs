//! Summaries of the columns of tables and files, as pandas' ``describe`` has them.

use numeric_table::array::Validity;
use numeric_table::statistics::{BasicStatistics, ColumnStatistics, QuantileSketch, Quantiles, StatisticsOptions};
use numeric_table::table::Rejected;
use numeric_table::{
    Array, DataDictionary, ElementType, Feature, FeatureType, NumericTable, Partial, Result, TableDescription,
    TableSelection,
};
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::error::OrRaise;
use crate::base::progress::{hear, watch};
use crate::files::reader::Reader;
use crate::results::columns::Named;
use crate::results::tables;
use crate::table::Table;
use crate::table::labels::has_labels;

const QUARTILES: [f64; 3] = [0.25, 0.5, 0.75];

/// Returns whether the values of a column are numbers to compute with: not words, and not points in time.
fn is_number(feature: &Feature) -> bool {
    !has_labels(feature) && !matches!(feature.feature_type, FeatureType::Time(_))
}

/// Creates the summary. `quartile` returns one of the quartiles of a column.
pub(crate) fn summary(
    dictionary: &DataDictionary,
    statistics: &[ColumnStatistics],
    quartile: impl Fn(usize, usize) -> Result<f64>,
) -> Result<Box<dyn NumericTable>> {
    let numbers: Vec<bool> = dictionary.iter().map(is_number).collect();
    let validity = Validity::from_flags(&numbers)?;
    let mut table = tables::of_words("column", &tables::labels(Some(dictionary), statistics.len()))?;
    let counts: [Named<u64>; 3] = [
        ("count", ColumnStatistics::count),
        ("missing", ColumnStatistics::missing_count),
        ("nan", ColumnStatistics::nan_count),
    ];
    for (name, count) in counts {
        let counts: Vec<i64> = statistics.iter().map(|column| count(column) as i64).collect();
        table.push_column(name, counts).map_err(Rejected::into_error)?;
    }
    let mut push = |name: &str, values: Vec<f64>| {
        let feature = Feature::new(ElementType::F64).named(name);
        table.push_nullable(feature, Array::from(values), Some(validity.clone())).map_err(Rejected::into_error)
    };
    let of_each = |number: fn(&ColumnStatistics) -> f64| statistics.iter().map(number).collect();
    push("mean", of_each(ColumnStatistics::mean))?;
    push("std", of_each(ColumnStatistics::standard_deviation))?;
    push("min", of_each(ColumnStatistics::minimum))?;
    for (place, name) in ["25%", "50%", "75%"].into_iter().enumerate() {
        let of_column = |column| if numbers[column] { quartile(column, place) } else { Ok(f64::NAN) };
        push(name, (0..statistics.len()).map(of_column).collect::<Result<_>>()?)?;
    }
    push("max", of_each(ColumnStatistics::maximum))?;
    Ok(Box::new(table))
}

/// Summarizes a table. The quartiles are exact.
fn of(table: &dyn NumericTable) -> Result<Box<dyn NumericTable>> {
    let options = || StatisticsOptions::new().on_progress(hear);
    let found = BasicStatistics::compute_with(table, options())?;
    let dictionary = table.dictionary();
    let numbers: Vec<usize> =
        (0..dictionary.len()).filter(|&column| dictionary.feature(column).is_ok_and(is_number)).collect();
    let quartiles = match numbers.len() == table.column_count() {
        true => Quantiles::compute_with(table, &QUARTILES, options())?,
        false => Quantiles::compute_with(&table.select_columns(&numbers[..])?, &QUARTILES, options())?,
    };
    summary(dictionary, found.per_column(), |column, place| {
        quartiles.value(numbers.binary_search(&column).unwrap_or(column), place)
    })
}

/// Returns the quartiles of a sketch.
pub(crate) fn sketched(sketch: &QuantileSketch) -> impl Fn(usize, usize) -> Result<f64> {
    |column, place| sketch.quantile(column, QUARTILES[place])
}

#[methods]
impl Table {
    /// Returns a summary of the columns, with a row for each of them: ``column``, its name, or its index if it has
    /// none; ``count``, the number of values that are neither missing nor NaN; ``missing`` and ``nan``, the numbers of
    /// missing values and of NaN; and ``mean``, ``std``, ``min``, ``25%``, ``50%``, ``75%`` and ``max`` of the counted
    /// values. These numbers are missing for columns of words and of points in time.
    ///
    /// As in pandas, ``std`` has n - 1 in the denominator, and a quartile between two values is interpolated linearly.
    /// Values are computed with as float64: integers beyond 2^53 are rounded.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table({"price": [1.5, 4.0, None, 2.0], "size": [3, 4, 5, 6]})
    /// >>> summary = table.describe()
    /// >>> summary[["count", "missing"]].rows().tolist()
    /// [[3, 1], [4, 0]]
    /// >>> float(summary["50%"][0]), float(summary["mean"][0])
    /// (2.0, 2.5)
    fn describe(&self, py: Python<'_>) -> PyResult<Self> {
        let table = self.steady(py)?;
        let table = table.table();
        watch(py, None, None, || of(table)).map(Self::new)
    }
}

#[methods]
impl Reader {
    /// Returns a summary of the columns, like :meth:`Table.describe`, in two passes over the file and little memory.
    /// The quartiles are those of a :class:`QuantileSketch`: values of the file, exact for few rows, and otherwise with
    /// an error of the rank of about one in a thousand.
    ///
    /// >>> import numeric_table as nt, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "table.ntb")
    /// >>> nt.save(nt.Table([[1.5, 2.0], [3.5, 4.0], [5.5, 6.0]], names=["a", "b"]), path)
    /// >>> nt.open(path).describe()["50%"]
    /// array([3.5, 4. ])
    fn describe(&self, py: Python<'_>) -> PyResult<Table> {
        let found = self.compute(py, BasicStatistics::compute_file)?;
        let empty = QuantileSketch::new(found.per_column().len());
        let sketch = self.compute(py, |reader| empty?.compute_over_file(reader))?;
        summary(self.dictionary(), found.per_column(), sketched(&sketch)).or_raise().map(Table::new)
    }
}
