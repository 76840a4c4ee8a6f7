//! Names and types of columns: dictionaries with names that a caller supplies.

use numeric_table::{DataDictionary, ElementType, Feature};
use pyo3::prelude::*;

use crate::base::element;
use crate::table::reading::listed;

/// Returns the names of columns, `None` for a column without a name. Checks the allocation, since a file may state any
/// number of columns.
pub(crate) fn names(dictionary: &DataDictionary) -> PyResult<Vec<Option<String>>> {
    listed(dictionary.names().map(|name| name.map(str::to_owned)), "columns")
}

/// Returns the label of a column: its name, or its index if it has none.
pub(crate) fn label<'py>(py: Python<'py>, column: usize, name: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match name {
        Some(name) => name.into_pyobject(py)?.into_any(),
        None => column.into_pyobject(py)?.into_any(),
    })
}

/// Returns the labels of columns that have these names.
pub(crate) fn labels(py: Python<'_>, names: Vec<Option<String>>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    names.iter().enumerate().map(|(column, name)| label(py, column, name.as_deref())).collect()
}

/// Names a column, or removes its name.
pub(crate) fn set_name(
    dictionary: &mut DataDictionary,
    column: usize,
    name: Option<String>,
) -> numeric_table::Result<()> {
    let feature = Feature { name, ..dictionary.feature(column)?.clone() };
    dictionary.set_feature(column, feature)
}

/// Returns a dictionary in which the columns have other names, or none.
pub(crate) fn renamed(dictionary: &DataDictionary, names: &[Option<String>]) -> numeric_table::Result<DataDictionary> {
    let mut named = dictionary.with_names(names.iter().map(|name| name.clone().unwrap_or_default()))?;
    for column in (0..names.len()).filter(|&column| names[column].is_none()) {
        set_name(&mut named, column, None)?;
    }
    Ok(named)
}

/// Returns whether columns may have values that a type cannot represent.
pub(crate) fn may_lose(columns: &DataDictionary, element: ElementType) -> bool {
    !columns.iter().all(|feature| element::has_all(element, feature.element_type))
}
