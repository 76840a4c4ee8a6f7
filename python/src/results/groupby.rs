//! `table.groupby("city")`: the rows of a table by the values of a column, which may be any.

use numeric_table::array::Validity;
use numeric_table::dictionary::Categories;
use numeric_table::internal::{DistinctValues, distinct_values, with_values};
use numeric_table::statistics::{GroupStatistics as Groups, MissingCategories};
use numeric_table::table::Rejected;
use numeric_table::{
    Array, BlockAccess, ElementType, Feature, FeatureType, NumericTable, Partial as _, Result, SoaNumericTable,
    TableCombination, TableDescription, TableSelection,
};
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableError};
use crate::base::progress::{hear, watch};
use crate::results::Partial;
use crate::results::groups::GroupStatistics;
use crate::table::Table;
use crate::table::choose;
use crate::table::labels::name_of;

/// Parses the treatment of rows whose category is missing.
pub(crate) fn missing_of(name: &str) -> PyResult<MissingCategories> {
    match name {
        "refuse" => Ok(MissingCategories::Refuse),
        "skip" => Ok(MissingCategories::Skip),
        "group" => Ok(MissingCategories::Group),
        _ => Err(TableError::new_err(format!("missing must be \"refuse\", \"skip\" or \"group\", not {name:?}"))),
    }
}

fn grouped(table: &dyn NumericTable, by: usize, categories: usize, missing: MissingCategories) -> Result<Groups> {
    let groups = Groups::new(table.column_count(), by, categories).and_then(|groups| groups.missing(missing))?;
    groups.compute_over_with_progress(table, hear)
}

/// Groups by a column that has no categories, given its distinct values and their labels.
fn grouped_by_values(
    table: &dyn NumericTable,
    by: usize,
    values: DistinctValues,
    labels: &[String],
    missing: MissingCategories,
) -> Result<Groups> {
    let own = table.dictionary().feature(by)?;
    let feature = Feature { name: own.name.clone(), ..Feature::new(ElementType::I32) };
    let validity = Validity::from_fn(values.codes.len(), |row| values.codes[row] >= 0)?;
    let mut codes = SoaNumericTable::new();
    let feature = feature.categorical(Categories::from_labels(labels)?);
    codes.push_nullable(feature, Array::from(values.codes), Some(validity)).map_err(Rejected::into_error)?;
    let (before, after) = (table.select_columns(..by)?, table.select_columns(by + 1..)?);
    // In the column that groups, the values, and not their codes.
    let own = table.select_columns(by..by + 1)?;
    with_values(grouped(&before.hstack(&[&codes, &after, &own])?, by, labels.len(), missing)?)
}

/// Returns the labels of codes.
fn labels_of(codes: &dyn NumericTable, categories: &Categories) -> Result<Vec<String>> {
    let codes = codes.column::<i64>(0, ..)?;
    let label = |&code: &i64| usize::try_from(code).ok().and_then(|code| categories.label(code));
    Ok(codes.iter().map(|code| label(code).map_or_else(|| code.to_string(), str::to_owned)).collect())
}

/// Returns the values of a column as NumPy prints them. Refuses a fraction of a unit of time, which NumPy does not
/// have.
fn texts<'py>(py: Python<'py>, values: &Table, unit: Option<&str>) -> PyResult<Vec<String>> {
    let mut array = values.rows(py, 0, None, None, None, None)?.call_method1("reshape", (-1,))?;
    if array.getattr("dtype")?.getattr("kind")?.eq("f")? {
        array = array.add(0)?; // -0.0 and 0.0 are one group, 0.0
    }
    if let Some(unit) = unit {
        let name = values.read(py).dictionary().names().next().flatten().map(str::to_owned);
        let module = py.import("numeric_table._columns")?;
        array = module.call_method1("times_of", (name, array, py.None(), unit))?;
    }
    array.call_method1("astype", ("str",))?.call_method0("tolist")?.extract()
}

#[methods]
impl Table {
    /// Returns statistics of the rows of each value of a column, given its name or index: :class:`GroupStatistics` of
    /// all columns. Values are in ascending order, words in alphabetical order. Ordered categories, and categories
    /// without words, are in their own order, and have a group even without rows. As in pandas, rows without a value in
    /// this column are left out; ``missing="group"`` makes them the last group, ``"refuse"`` raises an error.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table({"year": [2024, 2023, 2024], "price": [10.0, 30.0, 20.0]})
    /// >>> groups = table.groupby("year")
    /// >>> groups.labels, groups["price"].mean, groups.row_counts
    /// (['2023', '2024'], array([30., 15.]), array([1, 2], dtype=uint64))
    /// >>> print(groups)
    ///       rows  price
    /// 2023     1   30.0
    /// 2024     2   15.0
    #[pyo3(signature = (by, *, missing = "skip"))]
    fn groupby(&self, py: Python<'_>, by: &Bound<'_, PyAny>, missing: &str) -> PyResult<Py<GroupStatistics>> {
        let (by, missing) = (choose::only_column(py, self, by, "groupby")?, missing_of(missing)?);
        let table = self.steady(py)?;
        let table = table.table();
        let feature = table.dictionary().feature(by).or_raise()?;
        let is_ordered = feature.feature_type == FeatureType::Ordinal;
        let words = feature.categories.as_ref().filter(|categories| categories.has_labels() && !is_ordered);
        let found = match feature.category_count().filter(|_| words.is_none()) {
            Some(categories) => watch(py, None, None, || grouped(table, by, categories, missing))?,
            None => {
                let unit = match feature.feature_type {
                    FeatureType::Time(unit) => name_of(unit),
                    _ => None,
                };
                let (values, distinct) = watch(py, None, None, || {
                    let values = distinct_values(table, by)?;
                    let distinct = table.select_columns(by..by + 1)?.take_rows(&values.first_rows)?;
                    Ok((values, distinct))
                })?;
                let labels = match words {
                    Some(words) => labels_of(&*distinct, words).or_raise()?,
                    None => texts(py, &Table::new(distinct), unit)?,
                };
                watch(py, None, None, || grouped_by_values(table, by, values, &labels, missing))?
            }
        };
        if missing == MissingCategories::Refuse && found.missing_rows() > 0 {
            let text = "rows have no value in this column: missing=\"skip\" leaves them out";
            return Err(TableError::new_err(format!("{} {text}", found.missing_rows())));
        }
        Py::new(py, Partial::new(found).of_class(GroupStatistics))
    }
}
