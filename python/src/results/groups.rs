//! Statistics of the rows of each category.

use numeric_table::statistics::ColumnStatistics;
use numeric_table::table::ColumnKey;
use numeric_table::{BlockAccess, DataDictionary, ElementType, Feature};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyString};

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableError};
use crate::base::numbers;
use crate::files::columns::described;
use crate::results::columns::{Key, of_each};
use crate::results::group_column::{self, GroupColumn};
use crate::results::groupby::missing_of;
use crate::results::{Partial, matrix, number, object, properties, state, tables, vector};
use crate::table::Table;

/// Statistics of the rows of each category, like pandas' ``groupby``.
///
/// ``GroupStatistics(columns, by, categories)`` takes the columns of the rows (their number, their names, or a table
/// that has them). The column ``by``, an index, or a name if ``columns`` has names, holds the category of each row, an
/// integer from 0 to ``categories - 1``. Results have a row for each category and the columns of the table, with the
/// column ``by``, whose stored numbers (codes of words) are equal in a group. ``missing`` states how to treat rows
/// whose category is NaN: ``"refuse"`` raises an error with the row, ``"skip"`` skips them, and ``"group"`` makes them
/// the last group.
///
/// >>> import numeric_table as nt
/// >>> groups = nt.GroupStatistics(2, 1, 2)
/// >>> groups.update([[20, 1], [40, 0], [60, 1]])
/// >>> groups.means, groups.row_counts
/// (array([[40.,  0.],
///        [40.,  1.]]), array([1, 2], dtype=uint64))
/// >>> groups.group(1).maximum
/// array([60.,  1.])
/// >>> groups.column(0)["maximum"]
/// array([40., 60.])
/// >>> print(groups)
///    rows     0
/// 0     1  40.0
/// 1     2  40.0
///
/// ``table.groupby("city")`` returns those of a table. ``groups["price"]`` has the statistics of a column by its name:
///
/// >>> groups = nt.Table({"year": [2024, 2023, 2024], "price": [10.0, 30.0, 20.0]}).groupby("year")
/// >>> groups.labels, groups["price"].mean
/// (['2023', '2024'], array([30., 15.]))
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "GroupStatistics")]
pub(crate) struct GroupStatistics;

type Groups = numeric_table::statistics::GroupStatistics;

impl GroupStatistics {
    fn each<'py>(
        py: Python<'py>,
        own: &Groups,
        value: impl Fn(&ColumnStatistics) -> f64 + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut table = own.to_table(value).or_raise()?;
        // The value of each group, which a category may stand for.
        let by = own.category_column();
        for category in 0..own.category_count() {
            let of_group = own.column(category, by).or_raise()?;
            if of_group.count() > 0 {
                table.set_value(category, by, of_group.minimum()).or_raise()?;
            }
        }
        matrix::<f64>(py, &table)
    }
}

#[methods]
impl GroupStatistics {
    #[new]
    #[pyo3(signature = (columns, by, categories, missing = "refuse"))]
    fn new(
        columns: &Bound<'_, PyAny>,
        by: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::count)] categories: usize,
        missing: &str,
    ) -> PyResult<PyClassInitializer<Self>> {
        let missing = missing_of(missing)?;
        let (_, dictionary) = described(columns, None)?;
        let by = match by.cast::<PyString>() {
            Ok(name) => dictionary.try_index_of(&name.to_string()).or_raise()?,
            Err(_) => numbers::place(by)?,
        };
        let groups = Groups::new(dictionary.len(), by, categories).and_then(|groups| groups.missing(missing));
        Ok(Partial::new(groups.or_raise()?).of_class(Self))
    }

    /// Returns the statistics of one column, given its index or name: arrays with a value for each category.
    fn column<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let own = state::<Groups>(slf)?;
        let key = Key::of(key)?;
        let found = (0..own.category_count()).map(|category| own.column(category, &key).copied());
        of_each(slf.py(), &found.collect::<Result<Vec<_>, _>>().or_raise()?)
    }

    /// A table of means: a line for each category, with its label if the table had labels.
    fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(state::<Groups>(slf)?.to_string())
    }

    /// The number of rows whose category is missing, which are left out. Rows whose category is NaN are not counted
    /// here.
    #[getter]
    fn missing_rows(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(state::<Groups>(slf)?.missing_rows())
    }

    /// The names of the columns, ``None`` for a column without a name.
    #[getter]
    fn names(slf: &Bound<'_, Self>) -> PyResult<Vec<Option<String>>> {
        let own = state::<Groups>(slf)?;
        tables::names(own.dictionary(), own.column_count())
    }

    /// The labels of the categories: words, or their indices.
    #[getter]
    fn labels(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        group_column::labels(&*state::<Groups>(slf)?)
    }

    /// Returns the statistics of one column, given its index or name: ``groups["price"].mean`` has one for each
    /// category. The column that has the groups is refused: ``labels`` are its values.
    fn __getitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<GroupColumn> {
        let own = state::<Groups>(slf)?;
        let key = Key::of(key)?;
        let column = match own.dictionary() {
            Some(dictionary) => key.column_in(dictionary),
            None => key.column_in(&DataDictionary::uniform(Feature::new(ElementType::F64), own.column_count())),
        };
        let column = column.or_raise()?;
        if column == own.category_column() {
            let name = group_column::key(&own);
            let text = format!("the column {name:?} has the groups: labels are its values, and row_counts their rows");
            return Err(TableError::new_err(text));
        }
        Ok(GroupColumn::new(own, column))
    }

    /// The number of groups.
    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(state::<Groups>(slf)?.category_count())
    }

    /// Returns an iterator over the groups, in pairs of a label and the :class:`Statistics` of its rows.
    ///
    /// >>> import numeric_table as nt
    /// >>> groups = nt.Table({"year": [2024, 2023, 2024], "price": [10.0, 30.0, 20.0]}).groupby("year")
    /// >>> [(label, group["price"]["mean"]) for label, group in groups]
    /// [('2023', 30.0), ('2024', 15.0)]
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        let own = state::<Groups>(slf)?;
        let labels = group_column::labels(&own)?;
        let group = |(place, label): (usize, String)| {
            let group = object(slf.py(), std::sync::Arc::new(own.group(place).or_raise()?))?;
            Ok((label, group))
        };
        let groups = labels.into_iter().enumerate().map(group).collect::<PyResult<Vec<_>>>()?;
        PyList::new(slf.py(), groups)?.try_iter()
    }

    /// Whether a column has this name.
    fn __contains__(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let own = state::<Groups>(slf)?;
        let Ok(name) = name.cast::<PyString>() else { return Ok(false) };
        Ok(own.dictionary().is_some_and(|dictionary| dictionary.index_of(&name.to_string_lossy()).is_some()))
    }

    /// Returns one statistic of all other columns as a table with a row for each category: its label, the number of its
    /// ``rows`` and the columns. ``statistic`` is the name of a property of ``groups["price"]``, or ``"min"``,
    /// ``"max"``, ``"std"`` or ``"var"`` as in pandas. The minimum and the maximum of dates are dates, and their mean
    /// is one, rounded to the unit of the column; other statistics of dates are of the stored numbers. Columns of words
    /// have counts only (``"count"``, ``"missing_count"``), and are left out of other tables.
    ///
    /// >>> import numeric_table as nt
    /// >>> groups = nt.Table({"year": [2024, 2023, 2024], "price": [10.0, 30.0, 20.0]}).groupby("year")
    /// >>> groups.to_table("maximum").names, groups.to_table("maximum")["price"]
    /// (['year', 'rows', 'price'], array([30., 20.]))
    #[pyo3(signature = (statistic = "mean"))]
    fn to_table(slf: &Bound<'_, Self>, statistic: &str) -> PyResult<Table> {
        let own = state::<Groups>(slf)?;
        group_column::table(&own, statistic).map(Table::new)
    }

    /// The number of rows of each category.
    #[getter]
    fn row_counts<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let own = state::<Groups>(slf)?;
        let counts = (0..own.category_count()).map(|category| own.row_count_of(category));
        vector(slf.py(), counts.collect::<Result<Vec<_>, _>>().or_raise()?)
    }

    /// Returns the statistics of the rows of one category, given its index or its label.
    fn group(slf: &Bound<'_, Self>, category: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let own = state::<Groups>(slf)?;
        let group = own.group(group_column::group_of(&own, category)?).or_raise()?;
        object(slf.py(), std::sync::Arc::new(group))
    }
}

properties! { GroupStatistics: |own: Groups, py|
    /// The number of skipped rows without a category.
    skipped_rows = number(py, own.skipped_rows());

    /// The number of categories.
    category_count = number(py, own.category_count());

    /// The sums.
    sums = Self::each(py, &own, ColumnStatistics::sum);

    /// The means; NaN for groups without values.
    means = Self::each(py, &own, ColumnStatistics::mean);

    /// The variances, with n - 1 in the denominator.
    variances = Self::each(py, &own, ColumnStatistics::variance);

    /// The smallest values; NaN for groups without values.
    minima = Self::each(py, &own, ColumnStatistics::minimum);

    /// The largest values; NaN for groups without values.
    maxima = Self::each(py, &own, ColumnStatistics::maximum);
}
