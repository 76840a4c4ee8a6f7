//! Statistics of one column for each group: `groups["price"]`.

use std::sync::Arc;

use numeric_table::array::Validity;
use numeric_table::dictionary::TimeUnit;
use numeric_table::statistics::{ColumnStatistics, GroupStatistics};
use numeric_table::table::Rejected;
use numeric_table::{AnyArray, ElementType, Feature, FeatureType, NumericTable, SoaNumericTable, TableOutput};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableError, TableTypeError};
use crate::base::numbers;
use crate::results::columns::{COUNTS, NUMBERS, Named, of_one};
use crate::results::{tables, vector};
use crate::table::Table;
use crate::table::labels as features;
use crate::table::reading::listed;

/// Statistics of one column for each group, in NumPy arrays with one value per group. Returned by ``groups["price"]``.
///
/// >>> import numeric_table as nt
/// >>> groups = nt.Table({"year": [2024, 2023, 2024], "price": [10.0, 30.0, 20.0]}).groupby("year")
/// >>> groups["price"].labels, groups["price"].mean
/// (['2023', '2024'], array([30., 15.]))
/// >>> groups["price"]["2024"]["maximum"]
/// 20.0
///
/// A column of words has counts only.
#[pyclass(frozen, module = "numeric_table", name = "GroupColumn")]
pub(crate) struct GroupColumn {
    groups: Arc<GroupStatistics>,
    column: usize,
}

impl GroupColumn {
    pub(crate) fn new(groups: Arc<GroupStatistics>, column: usize) -> Self {
        Self { groups, column }
    }

    fn all(&self) -> PyResult<Vec<ColumnStatistics>> {
        let groups = 0..self.groups.category_count();
        groups.map(|group| self.groups.column(group, self.column).copied().or_raise()).collect()
    }

    fn each<'py>(&self, py: Python<'py>, value: fn(&ColumnStatistics) -> f64) -> PyResult<Bound<'py, PyAny>> {
        if has_words(&self.groups, self.column) {
            let name = &tables::labels(self.groups.dictionary(), self.groups.column_count())[self.column];
            let text = "which have counts only: table[mask].value_counts(name) counts each of them";
            return Err(TableTypeError::new_err(format!("column {name:?} has words, {text}")));
        }
        vector(py, self.all()?.iter().map(value))
    }

    /// The statistics besides counts.
    fn numbers(&self) -> &'static [Named<f64>] {
        if has_words(&self.groups, self.column) { &[] } else { &NUMBERS }
    }

    fn table(&self) -> PyResult<Box<dyn NumericTable>> {
        tables::of(&key(&self.groups), &self.labels()?, &self.all()?, self.numbers()).or_raise()
    }

    fn count_each<'py>(&self, py: Python<'py>, value: fn(&ColumnStatistics) -> u64) -> PyResult<Bound<'py, PyAny>> {
        vector(py, self.all()?.iter().map(value))
    }
}

/// Returns the labels of all groups.
pub(crate) fn labels(groups: &GroupStatistics) -> PyResult<Vec<String>> {
    let labels = listed(0..groups.category_count(), "groups")?.into_iter().map(|group| groups.label(group));
    labels.map(|label| Ok(label.or_raise()?.into_owned())).collect()
}

/// Returns the name of the column that has the groups.
pub(crate) fn key(groups: &GroupStatistics) -> String {
    let feature = groups.dictionary().and_then(|dictionary| dictionary.feature(groups.category_column()).ok());
    feature.and_then(|feature| feature.name.clone()).unwrap_or_else(|| groups.category_column().to_string())
}

/// Returns one statistic of all columns as a table, except the one that groups, and those of words unless it is a count.
pub(crate) fn table(groups: &GroupStatistics, statistic: &str) -> PyResult<Box<dyn NumericTable>> {
    let by = groups.category_column();
    let statistic = match statistic {
        "min" => "minimum",
        "max" => "maximum",
        "std" => "standard_deviation",
        "var" => "variance",
        other => other,
    };
    let is_point = matches!(statistic, "minimum" | "maximum" | "mean");
    let count = COUNTS.into_iter().find(|(name, _)| *name == statistic);
    let number = NUMBERS.into_iter().find(|(name, _)| *name == statistic);
    let values_of: &dyn Fn(&[ColumnStatistics]) -> AnyArray = if let Some((_, count)) = count {
        &move |own| AnyArray::from(own.iter().map(|own| count(own) as i64).collect::<Vec<_>>())
    } else if let Some((_, number)) = number {
        &move |own| AnyArray::from(own.iter().map(number).collect::<Vec<_>>())
    } else {
        let names = COUNTS.map(|(name, _)| name).into_iter().chain(NUMBERS.map(|(name, _)| name));
        let names = names.collect::<Vec<_>>().join(", ");
        return Err(TableError::new_err(format!("there is no statistic {statistic:?}: choose one of {names}")));
    };
    let push = |table: &mut SoaNumericTable, name: &str, column: AnyArray| {
        table.push_column(name, column).map_err(Rejected::into_error).or_raise()
    };
    let mut table = tables::of_words(&key(groups), &labels(groups)?).or_raise()?;
    let rows: Vec<i64> = groups.row_counts().iter().map(|&rows| rows as i64).collect();
    push(&mut table, "rows", rows.into())?;
    let names = tables::labels(groups.dictionary(), groups.column_count());
    for (column, name) in names.iter().enumerate().filter(|&(column, _)| column != by) {
        if number.is_some() && has_words(groups, column) {
            continue;
        }
        let own = (0..groups.category_count()).map(|group| groups.column(group, column).copied());
        let own = own.collect::<Result<Vec<_>, _>>().or_raise()?;
        match (unit_of_column(groups, column).filter(|_| is_point), number) {
            (Some(unit), Some((_, number))) => push_times(&mut table, name, unit, own.iter().map(number)).or_raise()?,
            _ => push(&mut table, name, values_of(&own))?,
        }
    }
    Ok(Box::new(table))
}

/// Returns whether a column has words, of whose codes only the counts mean something.
fn has_words(groups: &GroupStatistics, column: usize) -> bool {
    let feature = groups.dictionary().and_then(|dictionary| dictionary.feature(column).ok());
    feature.is_some_and(features::has_labels)
}

/// Returns the unit of the values of groups in a column of dates and times.
fn unit_of_column(groups: &GroupStatistics, column: usize) -> Option<TimeUnit> {
    features::unit_of(groups.dictionary()?.feature(column).ok()?)
}

/// Adds a column of points in time, rounded to their unit. Those of groups without values are missing.
fn push_times(
    table: &mut SoaNumericTable,
    name: &str,
    unit: TimeUnit,
    values: impl Iterator<Item = f64>,
) -> numeric_table::Result<()> {
    let values: Vec<f64> = values.collect();
    let counts: Vec<i64> = values.iter().map(|value| value.round_ties_even() as i64).collect(); // 0 for NaN
    let validity = Validity::from_fn(counts.len(), |row| values.get(row).is_some_and(|value| !value.is_nan()))?;
    let mut feature = Feature::new(ElementType::I64).named(name);
    feature.feature_type = FeatureType::Time(unit);
    table.push_nullable(feature, counts, Some(validity)).map_err(Rejected::into_error)
}

/// Returns the index of a group that is given by its label or its index.
pub(crate) fn group_of(groups: &GroupStatistics, group: &Bound<'_, PyAny>) -> PyResult<usize> {
    let Ok(label) = group.extract::<String>() else { return numbers::place(group) };
    let labels = labels(groups)?;
    let mut found = labels.iter().enumerate().filter(|(_, known)| **known == label).map(|(group, _)| group);
    match (found.next(), found.next()) {
        (Some(group), None) => Ok(group),
        (Some(one), Some(other)) => {
            let text = format!("groups {one} and {other}, the missing one, have the label {label:?}: pass the index");
            Err(TableError::new_err(text))
        }
        _ => Err(TableError::new_err(format!("there is no group {label:?}"))),
    }
}

#[methods]
impl GroupColumn {
    /// The labels of the groups: words, or the indices of categories without labels.
    #[getter]
    fn labels(&self) -> PyResult<Vec<String>> {
        labels(&self.groups)
    }

    /// The number of values that are neither missing nor NaN.
    #[getter]
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.count_each(py, ColumnStatistics::count)
    }

    /// The number of missing values. NaN is not one of them.
    #[getter]
    fn missing_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.count_each(py, ColumnStatistics::missing_count)
    }

    /// The number of NaN values.
    #[getter]
    fn nan_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.count_each(py, ColumnStatistics::nan_count)
    }

    /// The number of infinities.
    #[getter]
    fn infinity_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.count_each(py, ColumnStatistics::infinity_count)
    }

    /// The smallest value; NaN for a group without values.
    #[getter]
    fn minimum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::minimum)
    }

    /// The largest value; NaN for a group without values.
    #[getter]
    fn maximum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::maximum)
    }

    /// The sum.
    #[getter]
    fn sum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::sum)
    }

    /// The mean.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::mean)
    }

    /// The variance, with n - 1 in the denominator.
    #[getter]
    fn variance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::variance)
    }

    /// The variance, with n in the denominator.
    #[getter]
    fn population_variance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::population_variance)
    }

    /// The square root of the variance.
    #[getter]
    fn standard_deviation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.each(py, ColumnStatistics::standard_deviation)
    }

    /// Returns the statistics as a table with a row for each group: its label, under the name of the column that
    /// groups, and the statistics under the names of their properties.
    fn to_table(&self) -> PyResult<Table> {
        self.table().map(Table::new)
    }

    fn __len__(&self) -> usize {
        self.groups.category_count()
    }

    /// Returns the statistics of one group, given its label or index, as a dictionary of numbers.
    fn __getitem__<'py>(&self, py: Python<'py>, group: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        if group.is_instance_of::<pyo3::types::PySlice>() {
            return Err(PyTypeError::new_err("a group is given by its label or its index"));
        }
        of_one(py, self.groups.column(group_of(&self.groups, group)?, self.column).or_raise()?, self.numbers())
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(self.table()?.display().to_string())
    }
}
